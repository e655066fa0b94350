package dev.space.dao;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.space.domain.NewSurvey;
import dev.space.domain.Survey;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class SurveyDaoTest {

    private static final NewSurvey NEW = new NewSurvey("a", 2);

    private final FakeDatabase database = new FakeDatabase();
    private final SurveyDao dao = new SurveyDao(database.pool());

    @Test
    void aSlowInsertCommitsAndGivesItsConnectionBack() {
        assertEquals(new Survey(1, "a", 2, 3), dao.insertSlowly(NEW, 1).block());
        assertEquals(List.of("beginTransaction", SurveyDao.SQL_INSERT, SurveyDao.SQL_SLEEP, "commitTransaction", "close"),
                database.done());
    }

    @Test
    void aCancelledInsertIsRolledBackAndGivesItsConnectionBack() {
        database.result(SurveyDao.SQL_SLEEP, Mono.never());
        dao.insertSlowly(NEW, 1).subscribe().dispose();
        assertEquals(List.of("beginTransaction", SurveyDao.SQL_INSERT, SurveyDao.SQL_SLEEP, "rollbackTransaction", "close"),
                database.done());
    }

    @Test
    void aFailedInsertIsRolledBackAndGivesItsConnectionBack() {
        database.result(SurveyDao.SQL_INSERT, Mono.error(new IllegalStateException("no")));
        assertThrows(IllegalStateException.class, () -> dao.insertSlowly(NEW, 1).block());
        assertEquals(List.of("beginTransaction", SurveyDao.SQL_INSERT, "rollbackTransaction", "close"), database.done());
    }

    @Test
    void aFailedCommitIsAnErrorAndGivesItsConnectionBack() {
        database.failure("commitTransaction", new IllegalStateException("no"));
        assertThrows(RuntimeException.class, () -> dao.insertSlowly(NEW, 1).block());
        assertEquals("close", database.done().getLast());
    }

    @Test
    void aQueryGivesItsConnectionBackAfterItsLastRow() {
        assertEquals(new Survey(1, "a", 2, 3), dao.find(1).block());
        assertEquals(List.of(SurveyDao.SQL_FIND, "close"), database.done());
    }
}

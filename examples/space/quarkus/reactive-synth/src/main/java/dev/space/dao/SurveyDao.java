package dev.space.dao;

import dev.space.domain.NewSurvey;
import dev.space.domain.Survey;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Pool;
import io.vertx.mutiny.sqlclient.PreparedQuery;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import java.util.List;
import java.util.function.Function;

/** The table survey by the Vert.x client. Each call takes one connection of the pool and gives it back. */
public final class SurveyDao {

    static final String SQL_FIND = "select id, name, score, created_at from survey where id = $1";
    static final String SQL_LIST = "select id, name, score, created_at from survey order by id limit $1";
    static final String SQL_HISTORY = "select id, name, score, created_at from survey order by id desc limit $1";
    static final String SQL_INSERT =
            "insert into survey (name, score) values ($1, $2) returning id, name, score, created_at";
    static final String SQL_UPDATE =
            "update survey set name = $1, score = $2 where id = $3 returning id, name, score, created_at";
    static final String SQL_DELETE = "delete from survey where id = $1";
    static final String SQL_SLEEP = "select pg_sleep($1)";

    private final Pool pool;

    public SurveyDao(Pool pool) {
        this.pool = pool;
    }

    /** Null when there is no such survey. */
    public Uni<Survey> find(long id) {
        return onConnection(connection -> select(connection.preparedQuery(SQL_FIND),
                Tuple.of(id))
                .toUni());
    }

    /** The oldest {@code limit} surveys, oldest first. */
    public Uni<List<Survey>> list(int limit) {
        return onConnection(connection -> select(connection.preparedQuery(SQL_LIST),
                Tuple.of(limit))
                .collect().asList());
    }

    /** The newest {@code limit} surveys, newest first. */
    public Uni<List<Survey>> history(int limit) {
        return onConnection(connection -> select(connection.preparedQuery(SQL_HISTORY),
                Tuple.of(limit))
                .collect().asList());
    }

    public Uni<Survey> insert(NewSurvey survey) {
        return onConnection(connection -> insert(connection, survey)
                .toUni());
    }

    /** Null when there is no such survey. */
    public Uni<Survey> update(long id, NewSurvey survey) {
        return onConnection(connection -> select(connection.preparedQuery(SQL_UPDATE),
                Tuple.of(survey.name(), survey.score(), id))
                .toUni());
    }

    /** False when there is no such survey. */
    public Uni<Boolean> delete(long id) {
        return onConnection(connection -> execute(connection.preparedQuery(SQL_DELETE),
                Tuple.of(id)))
                .map(rows -> rows == 1);
    }

    /**
     * One transaction: insert, wait in the database for {@code delayMs} milliseconds, commit. It is rolled back on an
     * error.
     */
    public Uni<Survey> insertSlowly(NewSurvey survey, int delayMs) {
        return pool.withTransaction(connection -> insert(connection, survey)
                .toUni()
                .call(made -> sleep(connection, delayMs)));
    }

    private static Multi<Survey> insert(SqlConnection connection, NewSurvey survey) {
        return select(connection.preparedQuery(SQL_INSERT),
                Tuple.of(survey.name(), survey.score()));
    }

    private static Uni<Integer> sleep(SqlConnection connection, int delayMs) {
        return execute(connection.preparedQuery(SQL_SLEEP),
                Tuple.of(delayMs / 1000.0));
    }

    private static Multi<Survey> select(PreparedQuery<RowSet<Row>> query, Tuple values) {
        return query.execute(values)
                .onItem().transformToMulti(RowSet::toMulti)
                .map(SurveyDao::survey);
    }

    private static Uni<Integer> execute(PreparedQuery<RowSet<Row>> query, Tuple values) {
        return query.execute(values)
                .map(RowSet::rowCount);
    }

    private static Survey survey(Row row) {
        return new Survey(
                row.getLong("id"),
                row.getString("name"),
                row.getInteger("score"),
                row.getLong("created_at"));
    }

    private <T> Uni<T> onConnection(Function<SqlConnection, Uni<T>> work) {
        return pool.withConnection(work);
    }
}

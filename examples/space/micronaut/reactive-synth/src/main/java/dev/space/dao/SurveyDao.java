package dev.space.dao;

import dev.space.domain.NewSurvey;
import dev.space.domain.Survey;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import java.util.List;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The table survey by raw R2DBC. Each call takes one connection of the pool and gives it back. */
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

    private final ConnectionFactory pool;

    public SurveyDao(ConnectionFactory pool) {
        this.pool = pool;
    }

    public Mono<Survey> find(long id) {
        return onConnection(connection -> select(connection.createStatement(SQL_FIND)
                .bind("$1", id)))
                .singleOrEmpty();
    }

    /** The oldest {@code limit} surveys, oldest first. */
    public Mono<List<Survey>> list(int limit) {
        return onConnection(connection -> select(connection.createStatement(SQL_LIST)
                .bind("$1", limit)))
                .collectList();
    }

    /** The newest {@code limit} surveys, newest first. */
    public Mono<List<Survey>> history(int limit) {
        return onConnection(connection -> select(connection.createStatement(SQL_HISTORY)
                .bind("$1", limit)))
                .collectList();
    }

    public Mono<Survey> insert(NewSurvey survey) {
        return onConnection(connection -> insert(connection, survey))
                .single();
    }

    public Mono<Survey> update(long id, NewSurvey survey) {
        return onConnection(connection -> select(connection.createStatement(SQL_UPDATE)
                .bind("$1", survey.name())
                .bind("$2", survey.score())
                .bind("$3", id)))
                .singleOrEmpty();
    }

    /** False when there is no such survey. */
    public Mono<Boolean> delete(long id) {
        return onConnection(connection -> execute(connection.createStatement(SQL_DELETE)
                .bind("$1", id)))
                .single()
                .map(rows -> rows == 1);
    }

    /**
     * One transaction: insert, wait in the database for {@code delayMs} milliseconds, commit. It is rolled back on an
     * error and when the subscriber cancels.
     */
    public Mono<Survey> insertSlowly(NewSurvey survey, int delayMs) {
        return Mono.usingWhen(pool.create(),
                connection -> Mono.from(connection.beginTransaction())
                        .thenMany(insert(connection, survey))
                        .single()
                        .delayUntil(made -> sleep(connection, delayMs)),
                connection -> close(connection, connection.commitTransaction()),
                (connection, error) -> close(connection, connection.rollbackTransaction()),
                connection -> close(connection, connection.rollbackTransaction()));
    }

    private static Flux<Survey> insert(Connection connection, NewSurvey survey) {
        return select(connection.createStatement(SQL_INSERT)
                .bind("$1", survey.name())
                .bind("$2", survey.score()));
    }

    private static Flux<Long> sleep(Connection connection, int delayMs) {
        return execute(connection.createStatement(SQL_SLEEP)
                .bind("$1", delayMs / 1000.0));
    }

    private static Flux<Survey> select(Statement statement) {
        return Flux.from(statement.execute())
                .flatMap(result -> result.map(SurveyDao::survey));
    }

    private static Flux<Long> execute(Statement statement) {
        return Flux.from(statement.execute())
                .flatMap(Result::getRowsUpdated);
    }

    private static Survey survey(Readable row) {
        return new Survey(
                row.get("id", Long.class),
                row.get("name", String.class),
                row.get("score", Integer.class),
                row.get("created_at", Long.class));
    }

    private <T> Flux<T> onConnection(Function<Connection, Flux<T>> work) {
        return Flux.usingWhen(pool.create(), work, Connection::close);
    }

    /** Ends the transaction, then gives the connection back whether that worked or not. */
    private static Mono<Void> close(Connection connection, Publisher<Void> end) {
        return Flux.concatDelayError(end, connection.close()).then();
    }
}

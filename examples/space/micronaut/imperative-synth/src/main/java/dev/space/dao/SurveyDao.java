package dev.space.dao;

import dev.space.domain.NewSurvey;
import dev.space.domain.Survey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** The table survey by plain JDBC. Each call takes one connection of the pool and gives it back. */
public final class SurveyDao {

    static final String SQL_FIND = "select id, name, score, created_at from survey where id = ?";
    static final String SQL_LIST = "select id, name, score, created_at from survey order by id limit ?";
    static final String SQL_HISTORY = "select id, name, score, created_at from survey order by id desc limit ?";
    static final String SQL_INSERT =
            "insert into survey (name, score) values (?, ?) returning id, name, score, created_at";
    static final String SQL_UPDATE =
            "update survey set name = ?, score = ? where id = ? returning id, name, score, created_at";
    static final String SQL_DELETE = "delete from survey where id = ?";
    static final String SQL_SLEEP = "select pg_sleep(?)";

    private final DataSource pool;

    public SurveyDao(DataSource pool) {
        this.pool = pool;
    }

    public Optional<Survey> find(long id) {
        return first(onConnection(connection -> select(connection, SQL_FIND, statement -> {
            statement.setLong(1, id);
        })));
    }

    /** The oldest {@code limit} surveys, oldest first. */
    public List<Survey> list(int limit) {
        return onConnection(connection -> select(connection, SQL_LIST, statement -> {
            statement.setInt(1, limit);
        }));
    }

    /** The newest {@code limit} surveys, newest first. */
    public List<Survey> history(int limit) {
        return onConnection(connection -> select(connection, SQL_HISTORY, statement -> {
            statement.setInt(1, limit);
        }));
    }

    public Survey insert(NewSurvey survey) {
        return onConnection(connection -> insert(connection, survey));
    }

    public Optional<Survey> update(long id, NewSurvey survey) {
        return first(onConnection(connection -> select(connection, SQL_UPDATE, statement -> {
            statement.setString(1, survey.name());
            statement.setInt(2, survey.score());
            statement.setLong(3, id);
        })));
    }

    /** False when there is no such survey. */
    public boolean delete(long id) {
        return onConnection(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(SQL_DELETE)) {
                statement.setLong(1, id);
                return statement.executeUpdate() == 1;
            }
        });
    }

    /** One transaction: insert, wait in the database for {@code delayMs} milliseconds, commit. */
    public Survey insertSlowly(NewSurvey survey, int delayMs) {
        return onConnection(connection -> {
            connection.setAutoCommit(false); // the pool sets it back
            try {
                Survey made = insert(connection, survey);
                sleep(connection, delayMs);
                connection.commit();
                return made;
            } catch (SQLException | RuntimeException e) {
                connection.rollback();
                throw e;
            }
        });
    }

    private static Survey insert(Connection connection, NewSurvey survey) throws SQLException {
        return select(connection, SQL_INSERT, statement -> {
            statement.setString(1, survey.name());
            statement.setInt(2, survey.score());
        }).getFirst();
    }

    private static void sleep(Connection connection, int delayMs) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SQL_SLEEP)) {
            statement.setDouble(1, delayMs / 1000.0);
            statement.execute();
        }
    }

    private static List<Survey> select(Connection connection, String sql, Binding binding) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            binding.bind(statement);
            try (ResultSet rows = statement.executeQuery()) {
                List<Survey> surveys = new ArrayList<>();
                while (rows.next()) {
                    surveys.add(survey(rows));
                }
                return surveys;
            }
        }
    }

    private static Survey survey(ResultSet row) throws SQLException {
        return new Survey(
                row.getLong("id"),
                row.getString("name"),
                row.getInt("score"),
                row.getLong("created_at"));
    }

    private static Optional<Survey> first(List<Survey> surveys) {
        return surveys.stream().findFirst();
    }

    private <T> T onConnection(Work<T> work) {
        try (Connection connection = pool.getConnection()) {
            return work.on(connection);
        } catch (SQLException e) {
            throw new DaoException(e);
        }
    }

    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    private interface Binding {
        void bind(PreparedStatement statement) throws SQLException;
    }
}

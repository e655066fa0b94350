package dev.calendar.dao;

import dev.calendar.domain.NewUser;
import dev.calendar.domain.User;
import dev.calendar.domain.UserStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;

/** Users in Postgres. */
public final class UserDao implements UserStore {
    static final String SQL_FIND = "select id, name, email, opens, closes from users where id = ?";
    static final String SQL_INSERT =
            "insert into users (name, email, opens, closes) values (?, ?, ?, ?)"
            + " returning id, name, email, opens, closes";

    private final DataSource pool;

    public UserDao(DataSource pool) {
        this.pool = pool;
    }

    @Override
    public Optional<User> find(String id) {
        try (Connection connection = pool.getConnection();
             PreparedStatement statement = connection.prepareStatement(SQL_FIND)) {
            statement.setString(1, id);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? Optional.of(user(rows)) : Optional.empty();
            }
        } catch (SQLException e) {
            throw new IllegalStateException("cannot read user " + id, e);
        }
    }

    @Override
    public User insert(NewUser user) {
        try (Connection connection = pool.getConnection();
             PreparedStatement statement = connection.prepareStatement(SQL_INSERT)) {
            statement.setString(1, user.name());
            statement.setString(2, user.email());
            statement.setInt(3, user.opens());
            statement.setInt(4, user.closes());
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return user(rows);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("cannot write a user", e);
        }
    }

    private static User user(ResultSet rows) throws SQLException {
        return new User(rows.getString(1), rows.getString(2), rows.getString(3), rows.getInt(4), rows.getInt(5));
    }
}

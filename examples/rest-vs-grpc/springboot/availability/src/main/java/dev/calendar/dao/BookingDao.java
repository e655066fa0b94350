package dev.calendar.dao;

import dev.calendar.domain.Booking;
import dev.calendar.domain.BookingStore;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Bookings in Postgres. */
public final class BookingDao implements BookingStore {
    static final String SQL_DAY = "select begins, ends from booking where user_id = ? and day = ? order by begins, id";

    private final DataSource pool;

    public BookingDao(DataSource pool) {
        this.pool = pool;
    }

    @Override
    public List<Booking> of(String user, LocalDate day) {
        try (Connection connection = pool.getConnection();
             PreparedStatement statement = connection.prepareStatement(SQL_DAY)) {
            statement.setString(1, user);
            statement.setObject(2, day);
            List<Booking> bookings = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next())
                    bookings.add(new Booking(rows.getInt(1), rows.getInt(2)));
            }
            return bookings;
        } catch (SQLException e) {
            throw new IllegalStateException("cannot read the bookings of " + user, e);
        }
    }
}

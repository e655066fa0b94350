package dev.calendar.service;

import dev.calendar.domain.Booking;
import dev.calendar.domain.BookingStore;
import dev.calendar.domain.Hours;
import dev.calendar.domain.UserDirectory;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;

/** For tests: Ada, 10000, who works from 540 to 1020 and has one booking, on 2027-01-04. */
public final class StandIns {
    private StandIns() {}

    public static final class Bookings implements BookingStore {
        @Override
        public List<Booking> of(String user, LocalDate day) {
            return day.equals(LocalDate.of(2027, 1, 4)) ? List.of(new Booking(600, 660)) : List.of();
        }
    }

    public static final class Users implements UserDirectory {
        @Override
        public Optional<Hours> find(String user) {
            return user.equals("10000") ? Optional.of(new Hours("10000", "Ada", 540, 1020)) : Optional.empty();
        }
    }
}

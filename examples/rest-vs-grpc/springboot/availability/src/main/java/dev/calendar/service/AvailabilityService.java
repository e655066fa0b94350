package dev.calendar.service;

import dev.calendar.domain.Availability;
import dev.calendar.domain.BookingStore;
import dev.calendar.domain.Calendar;
import dev.calendar.domain.Hours;
import dev.calendar.domain.UserDirectory;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.Optional;

/** What the service offers, whatever carries it: one question to the users service, one to the database, some arithmetic. */
public final class AvailabilityService {
    private final BookingStore bookings;
    private final UserDirectory users;

    public AvailabilityService(BookingStore bookings, UserDirectory users) {
        this.bookings = bookings;
        this.users = users;
    }

    /** Empty when there is no such user. Throws IllegalArgumentException when `day` is not written as 2027-01-31. */
    public Optional<Availability> free(String user, String day) {
        LocalDate date = date(day);
        return users.find(user).map(hours -> of(hours, date));
    }

    private Availability of(Hours hours, LocalDate day) {
        return new Availability(hours.user(), hours.name(), day.toString(),
                Calendar.free(hours.opens(), hours.closes(), bookings.of(hours.user(), day)));
    }

    private static LocalDate date(String day) {
        try {
            return LocalDate.parse(day);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("'" + day + "' is no day", e);
        }
    }
}

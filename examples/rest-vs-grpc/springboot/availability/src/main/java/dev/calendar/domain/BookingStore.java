package dev.calendar.domain;

import java.time.LocalDate;
import java.util.List;

/** Where bookings are kept. */
public interface BookingStore {
    List<Booking> of(String user, LocalDate day);
}

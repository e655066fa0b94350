package dev.calendar.domain;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Arithmetic of a day. */
public final class Calendar {
    /** Minutes; what is shorter is no use to anybody. */
    public static final int SHORTEST = 15;

    private Calendar() {}

    /** The gaps of SHORTEST minutes or more that bookings leave in working hours. Bookings may overlap, and come in any order. */
    public static List<Slot> free(int opens, int closes, List<Booking> bookings) {
        List<Booking> taken = new ArrayList<>(bookings);
        taken.sort(Comparator.comparingInt(Booking::begins));
        List<Slot> free = new ArrayList<>();
        int from = opens;
        for (Booking booking : taken) {
            add(free, from, Math.min(booking.begins(), closes));
            from = Math.max(from, booking.ends());
        }
        add(free, from, closes);
        return free;
    }

    private static void add(List<Slot> free, int begins, int ends) {
        if (ends - begins >= SHORTEST)
            free.add(new Slot(begins, ends));
    }
}

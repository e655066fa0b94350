package dev.calendar.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class CalendarTest {
    private static List<Slot> free(Booking... bookings) {
        return Calendar.free(540, 1020, List.of(bookings));
    }

    @Test
    void a_day_without_bookings_is_free() {
        assertEquals(List.of(new Slot(540, 1020)), free());
    }

    @Test
    void a_booking_divides_it() {
        assertEquals(List.of(new Slot(540, 600), new Slot(660, 1020)), free(new Booking(600, 660)));
    }

    @Test
    void one_at_the_begin_leaves_the_rest() {
        assertEquals(List.of(new Slot(600, 1020)), free(new Booking(540, 600)));
    }

    @Test
    void one_at_the_end_leaves_the_rest() {
        assertEquals(List.of(new Slot(540, 960)), free(new Booking(960, 1020)));
    }

    @Test
    void the_whole_day_leaves_nothing() {
        assertEquals(List.of(), free(new Booking(540, 1020)));
    }

    @Test
    void order_does_not_matter() {
        assertEquals(free(new Booking(600, 660), new Booking(800, 860)),
                free(new Booking(800, 860), new Booking(600, 660)));
    }

    @Test
    void overlapping_bookings_count_once() {
        assertEquals(List.of(new Slot(540, 600), new Slot(720, 1020)),
                free(new Booking(600, 700), new Booking(650, 720)));
    }

    @Test
    void one_within_another_changes_nothing() {
        assertEquals(free(new Booking(600, 800)), free(new Booking(600, 800), new Booking(650, 700)));
    }

    @Test
    void neighbours_leave_no_gap() {
        assertEquals(List.of(new Slot(540, 600), new Slot(720, 1020)),
                free(new Booking(600, 660), new Booking(660, 720)));
    }

    @Test
    void a_gap_that_is_too_short_is_left_out() {
        assertEquals(List.of(new Slot(540, 600), new Slot(720, 1020)),
                free(new Booking(600, 660), new Booking(674, 720)));
    }

    @Test
    void the_shortest_gap_counts() {
        assertEquals(List.of(new Slot(540, 600), new Slot(660, 675), new Slot(720, 1020)),
                free(new Booking(600, 660), new Booking(675, 720)));
    }

    @Test
    void what_lies_outside_of_working_hours_does_not_count() {
        assertEquals(List.of(new Slot(540, 1020)), free(new Booking(0, 500), new Booking(1100, 1200)));
    }

    @Test
    void what_reaches_into_them_does() {
        assertEquals(List.of(new Slot(560, 1000)), free(new Booking(500, 560), new Booking(1000, 1100)));
    }
}

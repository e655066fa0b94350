package dev.calendar.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.calendar.domain.Availability;
import dev.calendar.domain.Slot;
import java.util.List;
import org.junit.jupiter.api.Test;

class AvailabilityServiceTest {
    private final AvailabilityService service =
            new AvailabilityService(new StandIns.Bookings(), new StandIns.Users());

    @Test
    void a_booked_day_has_gaps() {
        assertEquals(new Availability("10000", "Ada", "2027-01-04", List.of(new Slot(540, 600), new Slot(660, 1020))),
                service.free("10000", "2027-01-04").orElseThrow());
    }

    @Test
    void a_day_without_bookings_is_free() {
        assertEquals(List.of(new Slot(540, 1020)), service.free("10000", "2027-01-05").orElseThrow().free());
    }

    @Test
    void an_unknown_user_has_none() {
        assertTrue(service.free("99999", "2027-01-04").isEmpty());
    }

    @Test
    void a_wrong_day_is_refused() {
        for (String day : List.of("", "tomorrow", "2027-13-01", "04.01.2027")) {
            IllegalArgumentException e =
                    assertThrows(IllegalArgumentException.class, () -> service.free("10000", day));
            assertEquals("'" + day + "' is no day", e.getMessage());
        }
    }

    @Test
    void the_day_is_looked_at_before_the_user() {
        assertThrows(IllegalArgumentException.class, () -> service.free("99999", "tomorrow"));
    }
}

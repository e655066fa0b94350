package dev.calendar.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class NewUserTest {
    @Test
    void a_whole_user_has_no_problem() {
        assertEquals(List.of(), new NewUser("Ada", "ada@example.com", 540, 1020).problems());
    }

    @Test
    void hours_may_be_the_whole_day() {
        assertEquals(List.of(), new NewUser("Ada", "ada@example.com", 0, 1440).problems());
    }

    @Test
    void a_name_of_blanks_is_none() {
        assertEquals(List.of("a user has a name"), new NewUser("  ", "ada@example.com", 540, 1020).problems());
    }

    @Test
    void a_missing_name_is_told() {
        assertEquals(List.of("a user has a name"), new NewUser(null, "ada@example.com", 540, 1020).problems());
    }

    @Test
    void an_address_has_something_on_both_sides() {
        for (String email : List.of("ada", "@example.com", "ada@"))
            assertEquals(List.of("'" + email + "' is no address"), new NewUser("Ada", email, 540, 1020).problems());
    }

    @Test
    void hours_before_midnight_are_refused() {
        assertEquals(1, new NewUser("Ada", "ada@example.com", -1, 1020).problems().size());
    }

    @Test
    void hours_after_midnight_are_refused() {
        assertEquals(1, new NewUser("Ada", "ada@example.com", 540, 1441).problems().size());
    }

    @Test
    void hours_that_end_as_they_begin_are_refused() {
        assertEquals(List.of("working hours end after they begin"),
                new NewUser("Ada", "ada@example.com", 540, 540).problems());
    }

    @Test
    void all_problems_are_told_at_once() {
        assertEquals(4, new NewUser("", "", 2000, 1500).problems().size());
    }
}

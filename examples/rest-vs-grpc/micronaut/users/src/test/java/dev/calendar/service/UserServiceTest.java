package dev.calendar.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.calendar.domain.NewUser;
import dev.calendar.domain.User;
import org.junit.jupiter.api.Test;

class UserServiceTest {
    private final UserService users = new UserService(new StoreInMemory());

    @Test
    void a_user_is_found() {
        assertEquals("Ada", users.find("10000").orElseThrow().name());
    }

    @Test
    void an_unknown_user_is_not() {
        assertTrue(users.find("99999").isEmpty());
    }

    @Test
    void a_new_user_is_kept() {
        User made = users.create(new NewUser("Bob", "bob@example.com", 480, 960));
        assertEquals(made, users.find(made.id()).orElseThrow());
    }

    @Test
    void a_wrong_one_is_refused_with_all_reasons() {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
                () -> users.create(new NewUser("", "bob@example.com", 960, 480)));
        assertEquals("a user has a name; working hours end after they begin", e.getMessage());
    }

    @Test
    void a_wrong_one_is_not_kept() {
        assertThrows(IllegalArgumentException.class, () -> users.create(new NewUser("", "", 0, 1)));
        assertTrue(users.find("10001").isEmpty());
    }
}

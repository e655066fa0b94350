package dev.calendar.domain;

import java.util.Optional;

/** Where users are kept. */
public interface UserStore {
    Optional<User> find(String id);

    /** Gives the user an id. */
    User insert(NewUser user);
}

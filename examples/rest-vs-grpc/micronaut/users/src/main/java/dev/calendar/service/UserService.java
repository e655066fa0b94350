package dev.calendar.service;

import dev.calendar.domain.NewUser;
import dev.calendar.domain.User;
import dev.calendar.domain.UserStore;
import java.util.List;
import java.util.Optional;

/** What the service offers, whatever carries it. */
public final class UserService {
    private final UserStore store;

    public UserService(UserStore store) {
        this.store = store;
    }

    public Optional<User> find(String id) {
        return store.find(id);
    }

    /** Throws IllegalArgumentException, in words, when the user is not as it should be. */
    public User create(NewUser user) {
        List<String> problems = user.problems();
        if (!problems.isEmpty())
            throw new IllegalArgumentException(String.join("; ", problems));
        return store.insert(user);
    }
}

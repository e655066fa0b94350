package dev.calendar.service;

import dev.calendar.domain.NewUser;
import dev.calendar.domain.User;
import dev.calendar.domain.UserStore;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Users for tests; it knows Ada, 10000. */
public final class StoreInMemory implements UserStore {
    private final Map<String, User> users = new ConcurrentHashMap<>();

    public StoreInMemory() {
        insert(new NewUser("Ada", "ada@example.com", 540, 1020));
    }

    @Override
    public Optional<User> find(String id) {
        return Optional.ofNullable(users.get(id));
    }

    @Override
    public synchronized User insert(NewUser user) {
        String id = String.valueOf(10_000 + users.size());
        User made = new User(id, user.name(), user.email(), user.opens(), user.closes());
        users.put(id, made);
        return made;
    }
}

package dev.calendar.domain;

import java.util.Optional;

/** The users service, as this one sees it. */
public interface UserDirectory {
    Optional<Hours> find(String user);
}

package dev.space.domain;

import java.util.List;

/** The readings of a group of sources, in the group's order; {@code answered} of them had an answer. */
public record Group(String name, List<Reading> readings, int answered) {
}

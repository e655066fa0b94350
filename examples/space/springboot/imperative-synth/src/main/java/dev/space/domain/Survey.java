package dev.space.domain;

/** A survey as it is stored. {@code score} is 0 to 100, {@code createdAt} milliseconds since 1970. */
public record Survey(long id, String name, int score, long createdAt) {
}

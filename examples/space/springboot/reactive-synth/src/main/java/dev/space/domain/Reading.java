package dev.space.domain;

/** What one of the 28 sources says. {@code level} is 1 to 5, 0 when there was no answer; {@code confidence} 0 to 1. */
public record Reading(String source, long observed, double value, int level, double confidence) {

    public static Reading missing(String source) {
        return new Reading(source, 0, 0, 0, 0);
    }
}

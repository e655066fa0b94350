package dev.space.domain;

/** A survey that is to be stored. {@code score} is 0 to 100. */
public record NewSurvey(String name, int score) {
}

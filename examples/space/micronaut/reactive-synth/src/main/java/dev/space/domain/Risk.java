package dev.space.domain;

/** Risks of 0 to 100, of the {@code answered} sources that had an answer. */
public record Risk(int seismic, int spaceWeather, int crossDomain, int score, int answered) {
}

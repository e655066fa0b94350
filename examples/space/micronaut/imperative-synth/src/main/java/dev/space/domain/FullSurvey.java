package dev.space.domain;

/** The survey of all sources: what was found, and the row that was stored. */
public record FullSurvey(Survey survey, Risk risk) {
}

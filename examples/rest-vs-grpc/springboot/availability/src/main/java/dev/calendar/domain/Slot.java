package dev.calendar.domain;

/** Time that is free, in minutes of the day. */
public record Slot(int begins, int ends) {}

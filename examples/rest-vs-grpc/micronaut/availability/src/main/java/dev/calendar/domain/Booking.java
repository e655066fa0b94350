package dev.calendar.domain;

/** Time that is taken, in minutes of the day: from `begins` up to, and without, `ends`. */
public record Booking(int begins, int ends) {}

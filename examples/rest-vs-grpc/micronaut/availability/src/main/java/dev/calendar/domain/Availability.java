package dev.calendar.domain;

import java.util.List;

/** When somebody has time on a day. */
public record Availability(String user, String name, String day, List<Slot> free) {}

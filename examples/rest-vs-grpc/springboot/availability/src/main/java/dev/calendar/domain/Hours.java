package dev.calendar.domain;

/** What the users service says of somebody: working hours in minutes of the day. */
public record Hours(String user, String name, int opens, int closes) {}

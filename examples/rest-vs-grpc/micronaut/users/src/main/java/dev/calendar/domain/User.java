package dev.calendar.domain;

/** Somebody whose time can be booked. Working hours are minutes of the day. */
public record User(String id, String name, String email, int opens, int closes) {}

package dev.space.domain;

/** A place over the earth, in degrees. */
public record Position(double latitude, double longitude) {

    public static final Position MISSING = new Position(0, 0);
}

package dev.space.domain;

/** The near-earth objects of a day; {@code closestKm} is how near the nearest comes. */
public record NearEarth(int count, boolean hazardous, double closestKm) {

    public static final NearEarth MISSING = new NearEarth(0, false, 0);
}

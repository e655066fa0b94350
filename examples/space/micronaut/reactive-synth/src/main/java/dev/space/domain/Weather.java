package dev.space.domain;

/** The weather at a place: degrees Celsius, metres per second, per cent. {@code ok} is false when there was no answer. */
public record Weather(double latitude, double longitude, double temperature, double wind, int humidity, boolean ok) {

    public static Weather missing(Position place) {
        return new Weather(place.latitude(), place.longitude(), 0, 0, 0, false);
    }
}

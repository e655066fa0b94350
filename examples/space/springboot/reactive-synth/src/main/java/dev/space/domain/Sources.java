package dev.space.domain;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Where the upstream has what: paths of the 28 sources by group, and places to ask the weather for. */
public final class Sources {

    public static final List<String> SOLAR = List.of(
            "/solar/flares", "/solar/cme", "/solar/wind", "/solar/radiation", "/solar/sunspots",
            "/space/magnetosphere", "/space/gravitational-waves", "/space/cosmic-rays", "/space/neo", "/space/meteors");
    public static final List<String> ORBIT = List.of(
            "/orbit/iss", "/orbit/satellite-passes", "/orbit/debris-alerts", "/orbit/launches",
            "/orbit/ground-stations", "/orbit/conjunctions");
    public static final List<String> EARTH = List.of(
            "/earth/earthquakes", "/earth/volcanoes", "/earth/tsunamis", "/earth/wildfires", "/earth/storms",
            "/earth/tides", "/weather/current", "/weather/forecast", "/weather/air-quality", "/weather/lightning",
            "/weather/ocean", "/weather/ionosphere");
    public static final List<String> ALL = Stream.of(SOLAR, ORBIT, EARTH).flatMap(List::stream).toList();

    /** Where the dashboard's weather is. */
    public static final Position HOME = new Position(48.2, 16.4);
    /** 25 places, five by five. */
    public static final List<Position> GRID = grid();

    private static final Map<String, List<String>> GROUPS = Map.of("solar", SOLAR, "orbit", ORBIT, "earth", EARTH);

    private Sources() {
    }

    /** The paths of the group {@code name}: solar, orbit or earth. */
    public static List<String> group(String name) {
        List<String> paths = GROUPS.get(name);
        if (paths == null) {
            throw new IllegalArgumentException("no group '" + name + "'");
        }
        return paths;
    }

    /** The source of a path, as its readings name it: its last part. */
    public static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static List<Position> grid() {
        List<Position> places = new ArrayList<>();
        for (int latitude = -60; latitude <= 60; latitude += 30) {
            for (int longitude = -144; longitude <= 144; longitude += 72) {
                places.add(new Position(latitude, longitude));
            }
        }
        return List.copyOf(places);
    }
}

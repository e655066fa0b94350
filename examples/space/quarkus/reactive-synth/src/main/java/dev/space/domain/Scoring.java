package dev.space.domain;

import java.util.List;
import java.util.Set;

/** Scores of 0 to 100 from what the upstream said. Nothing here waits for anything. */
public final class Scoring {

    private static final int TOP_LEVEL = 5;
    private static final Set<String> SEISMIC = Set.of("earthquakes", "volcanoes", "tsunamis");
    private static final Set<String> SPACE_WEATHER = Set.of(
            "flares", "cme", "wind", "radiation", "magnetosphere", "cosmic-rays", "ionosphere");

    private Scoring() {
    }

    /** How many of the readings are answers. */
    public static int answered(List<Reading> readings) {
        return (int) readings.stream().filter(Scoring::isAnswer).count();
    }

    /** The risks that the readings tell of: 40 % seismic, 40 % space weather, 20 % both at the same time. */
    public static Risk risk(List<Reading> readings) {
        double seismic = mean(readings, SEISMIC);
        double spaceWeather = mean(readings, SPACE_WEATHER);
        double crossDomain = crossDomain(readings);
        double score = 0.4 * seismic + 0.4 * spaceWeather + 0.2 * crossDomain;
        return new Risk(percent(seismic), percent(spaceWeather), percent(crossDomain), percent(score),
                answered(readings));
    }

    /** How much there is to look at: objects near the earth, weather, people in space; less when answers are missing. */
    public static int score(Dashboard dashboard) {
        double objects = Math.min(dashboard.neo().count(), 25) / 25.0;
        double near = dashboard.neo().closestKm() > 0 ? Math.min(1, 400_000 / dashboard.neo().closestKm()) : 0;
        double wind = Math.min(dashboard.weather().wind(), 30) / 30.0;
        double people = Math.min(dashboard.people(), 14) / 14.0;
        double hazard = dashboard.neo().hazardous() ? 0.2 : 0;
        double sum = 0.3 * objects + 0.2 * near + 0.3 * wind + 0.2 * people + hazard;
        return percent(Math.min(1, sum) * dashboard.answered() / 4.0);
    }

    /** Mean over each pair of a seismic and a space weather reading of what both have in common, their geometric mean. */
    private static double crossDomain(List<Reading> readings) {
        double sum = 0;
        int pairs = 0;
        for (Reading one : readings) {
            for (Reading other : readings) {
                if (isAnswer(one) && isAnswer(other)
                        && SEISMIC.contains(one.source()) && SPACE_WEATHER.contains(other.source())) {
                    sum += Math.sqrt(strength(one) * strength(other));
                    pairs++;
                }
            }
        }
        return pairs == 0 ? 0 : sum / pairs;
    }

    /** Mean strength of the named sources, weighted by the confidence of each; 0 when none has an answer. */
    private static double mean(List<Reading> readings, Set<String> sources) {
        double sum = 0;
        double weights = 0;
        for (Reading reading : readings) {
            if (sources.contains(reading.source())) {
                sum += strength(reading) * reading.confidence();
                weights += reading.confidence();
            }
        }
        return weights == 0 ? 0 : sum / weights;
    }

    private static double strength(Reading reading) {
        return (double) reading.level() / TOP_LEVEL;
    }

    private static boolean isAnswer(Reading reading) {
        return reading.level() > 0;
    }

    private static int percent(double share) {
        return (int) Math.round(Math.clamp(share, 0.0, 1.0) * 100);
    }
}

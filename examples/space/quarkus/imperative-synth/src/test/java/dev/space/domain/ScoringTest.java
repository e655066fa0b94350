package dev.space.domain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScoringTest {

    private static final NearEarth ROCKS = new NearEarth(25, true, 400_000);
    private static final Weather STORM = new Weather(0, 0, 10, 30, 50, true);

    private static Reading reading(String source, int level, double confidence) {
        return new Reading(source, 1, 500, level, confidence);
    }

    @Test
    void noAnswersAreNoRisk() {
        List<Reading> readings = Sources.ALL.stream().map(path -> Reading.missing(Sources.name(path))).toList();
        assertEquals(new Risk(0, 0, 0, 0, 0), Scoring.risk(readings));
    }

    @Test
    void highestLevelsAreTheHighestRisk() {
        List<Reading> readings = Sources.ALL.stream().map(path -> reading(Sources.name(path), 5, 0.7)).toList();
        assertEquals(new Risk(100, 100, 100, 100, 28), Scoring.risk(readings));
    }

    @Test
    void readingsWeighWhatTheirConfidenceSays() {
        List<Reading> readings = List.of(reading("earthquakes", 5, 0.9), reading("volcanoes", 1, 0.1));
        assertEquals(new Risk(92, 0, 0, 37, 2), Scoring.risk(readings));
    }

    @Test
    void crossDomainIsThePairsGeometricMean() {
        List<Reading> readings = List.of(reading("earthquakes", 4, 0.5), reading("flares", 1, 0.5));
        assertEquals(new Risk(80, 20, 40, 48, 2), Scoring.risk(readings));
    }

    @Test
    void sourcesOfNeitherDomainChangeNothingButAnswered() {
        assertEquals(new Risk(0, 0, 0, 0, 1), Scoring.risk(List.of(reading("tides", 5, 0.9))));
    }

    @Test
    void dashboardIsScoredByItsAnswers() {
        Dashboard full = Dashboard.of(new Position(1, 2), ROCKS, STORM, 14);
        assertEquals(4, full.answered());
        assertEquals(100, Scoring.score(full));

        Dashboard windOnly = Dashboard.of(Position.MISSING, NearEarth.MISSING, STORM, Dashboard.NO_PEOPLE);
        assertEquals(1, windOnly.answered());
        assertEquals(8, Scoring.score(windOnly)); // 0.3 of wind, one of four answers
    }

    @Test
    void thereAre28SourcesOfOneNameEachAnd25Places() {
        assertEquals(28, Sources.ALL.size());
        assertEquals(28, new HashSet<>(Sources.ALL.stream().map(Sources::name).toList()).size());
        assertEquals(25, new HashSet<>(Sources.GRID).size());
        assertThrows(IllegalArgumentException.class, () -> Sources.group("lunar"));
    }
}

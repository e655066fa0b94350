package dev.space.survey;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.space.domain.Dashboard;
import dev.space.domain.Group;
import dev.space.domain.NearEarth;
import dev.space.domain.Position;
import dev.space.domain.Reading;
import dev.space.domain.Sources;
import dev.space.domain.Weather;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class SurveyServiceTest {

    private static final String ISS = "{\"message\":\"success\",\"iss_position\":{\"latitude\":\"-12.5\",\"longitude\":\"7\"}}";
    private static final String NEO = "{\"element_count\":2,\"near_earth_objects\":["
            + "{\"id\":\"1\",\"hazardous\":false,\"miss_distance_km\":900000},"
            + "{\"id\":\"2\",\"hazardous\":true,\"miss_distance_km\":500000}]}";
    private static final String WEATHER = "{\"current\":{\"temperature_2m\":-3.5,\"wind_speed_10m\":12.0,"
            + "\"relative_humidity_2m\":80}}";
    private static final String FLARES = "{\"source\":\"flares\",\"observed\":7,\"value\":12,\"level\":3,\"confidence\":0.5}";

    private static SurveyService service(String url) {
        return new SurveyService(null, new Upstream(url));
    }

    @Test
    void answersBecomeTheDomains() throws Exception {
        try (MockUpstream mock = new MockUpstream(0).answer(Answers.ISS, ISS).answer(Answers.NEO, NEO)
                .answer("/v1/forecast", WEATHER).answer(Answers.PEOPLE, "{\"number\":11}")) {
            Dashboard expected = new Dashboard(new Position(-12.5, 7), new NearEarth(2, true, 500000),
                    new Weather(Sources.HOME.latitude(), Sources.HOME.longitude(), -3.5, 12, 80, true), 11, 4);
            assertEquals(expected, service(mock.url()).dashboard());
        }
    }

    @Test
    void anErrorOrAnAnswerThatCannotBeReadIsMissing() throws Exception {
        try (MockUpstream mock = new MockUpstream(0).answer(Answers.ISS, "no JSON").answer(Answers.NEO, "{}")
                .answer(Answers.PEOPLE, "{\"number\":11}")) {
            Dashboard dashboard = service(mock.url()).dashboard();
            assertEquals(new Dashboard(Position.MISSING, NearEarth.MISSING, Weather.missing(Sources.HOME), 11, 1),
                    dashboard);
        }
    }

    @Test
    void anUpstreamThatIsNotThereIsMissing() throws Exception {
        String url;
        try (MockUpstream mock = new MockUpstream(0)) {
            url = mock.url();
        }
        SurveyService service = service(url);
        assertEquals(Position.MISSING, service.position());
        assertEquals(0, service.risk().answered());
    }

    @Test
    void aSlowAnswerIsMissingAfterTwoSeconds() throws Exception {
        try (MockUpstream mock = new MockUpstream(20_000).answer(Answers.NEO, NEO)) {
            assertEquals(NearEarth.MISSING, service(mock.url()).nearEarth());
        }
    }

    @Test
    void aGroupKeepsTheOrderOfItsSources() throws Exception {
        try (MockUpstream mock = new MockUpstream(0).answer("/solar/flares", FLARES)) {
            Group group = service(mock.url()).group("solar");
            assertEquals(1, group.answered());
            assertEquals(new Reading("flares", 7, 12, 3, 0.5), group.readings().getFirst());
            assertEquals(Sources.SOLAR.stream().map(Sources::name).toList(),
                    group.readings().stream().map(Reading::source).toList());
        }
    }

    @Test
    void theGridAsksForEightPlacesAtATime() throws Exception {
        try (MockUpstream mock = new MockUpstream(200).answer("/v1/forecast", WEATHER)) {
            List<Weather> grid = service(mock.url()).grid();
            assertTrue(grid.stream().allMatch(Weather::ok));
            assertEquals(new HashSet<>(Sources.GRID),
                    new HashSet<>(grid.stream().map(w -> new Position(w.latitude(), w.longitude())).toList()));
            assertEquals(8, mock.mostUnderWay());
        }
    }

    @Test
    void allSourcesAreAskedAtTheSameTime() throws Exception {
        try (MockUpstream mock = new MockUpstream(500)) {
            service(mock.url()).risk();
            assertEquals(28, mock.mostUnderWay());
        }
    }
}

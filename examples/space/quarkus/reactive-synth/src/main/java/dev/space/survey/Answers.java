package dev.space.survey;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.space.domain.NearEarth;
import dev.space.domain.Position;
import dev.space.domain.Weather;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** What is asked of the upstream, and what its answers look like before they are the domain's. */
final class Answers {

    static final Duration TIMEOUT = Duration.ofSeconds(2);
    static final String ISS = "/iss-now.json";
    static final String NEO = "/neo/rest/v1/feed";
    static final String PEOPLE = "/astros.json";

    private static final ObjectMapper JSON = new ObjectMapper()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    private Answers() {
    }

    record IssNow(@JsonProperty("iss_position") Position position) {
    }

    record Feed(@JsonProperty("element_count") int count, @JsonProperty("near_earth_objects") List<Rock> rocks) {

        NearEarth nearEarth() {
            return new NearEarth(count, rocks.stream().anyMatch(Rock::hazardous),
                    rocks.stream().mapToDouble(Rock::missDistanceKm).min().orElse(0));
        }
    }

    record Rock(boolean hazardous, @JsonProperty("miss_distance_km") double missDistanceKm) {
    }

    record Forecast(Current current) {

        Weather weather(Position place) {
            return new Weather(place.latitude(), place.longitude(), current.temperature(), current.wind(),
                    current.humidity(), true);
        }
    }

    record Current(@JsonProperty("temperature_2m") double temperature, @JsonProperty("wind_speed_10m") double wind,
            @JsonProperty("relative_humidity_2m") int humidity) {
    }

    record People(int number) {
    }

    static String forecast(Position place) {
        return String.format(Locale.ROOT, "/v1/forecast?latitude=%.2f&longitude=%.2f",
                place.latitude(), place.longitude());
    }

    static HttpRequest request(String url) {
        return HttpRequest.newBuilder(URI.create(url)).timeout(TIMEOUT).build();
    }

    static <T> T parse(HttpResponse<byte[]> response, Class<T> type) {
        if (response.statusCode() != 200) {
            throw new UpstreamException(response.uri() + ": status " + response.statusCode(), null);
        }
        try {
            return JSON.readValue(response.body(), type);
        } catch (IOException e) {
            throw new UpstreamException(response.uri() + ": " + e.getMessage(), e);
        }
    }
}

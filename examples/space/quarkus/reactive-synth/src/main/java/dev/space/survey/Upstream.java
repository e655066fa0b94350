package dev.space.survey;

import dev.space.domain.NearEarth;
import dev.space.domain.Position;
import dev.space.domain.Reading;
import dev.space.domain.Weather;
import io.smallrye.mutiny.Uni;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.Executors;

/**
 * The upstream APIs, by calls that don't block. Each ends with an error when there is no answer within 2 s, and ends its
 * exchange when the subscriber cancels.
 */
public final class Upstream {

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Answers.TIMEOUT)
            .executor(Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors(),
                    Thread.ofPlatform().name("upstream-", 0).daemon().factory()))
            .build();
    private final String baseUrl;

    public Upstream(String baseUrl) {
        this.baseUrl = baseUrl;
    }

    public Uni<Position> position() {
        return get(Answers.ISS, Answers.IssNow.class).map(Answers.IssNow::position);
    }

    public Uni<NearEarth> nearEarth() {
        return get(Answers.NEO, Answers.Feed.class).map(Answers.Feed::nearEarth);
    }

    public Uni<Weather> weather(Position place) {
        return get(Answers.forecast(place), Answers.Forecast.class).map(forecast -> forecast.weather(place));
    }

    public Uni<Integer> people() {
        return get(Answers.PEOPLE, Answers.People.class).map(Answers.People::number);
    }

    public Uni<Reading> reading(String path) {
        return get(path, Reading.class);
    }

    private <T> Uni<T> get(String path, Class<T> type) {
        return Uni.createFrom().completionStage(() -> client.sendAsync(Answers.request(baseUrl + path), BodyHandlers.ofByteArray()))
                .map(response -> Answers.parse(response, type));
    }
}

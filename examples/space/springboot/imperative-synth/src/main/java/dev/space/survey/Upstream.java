package dev.space.survey;

import dev.space.domain.NearEarth;
import dev.space.domain.Position;
import dev.space.domain.Reading;
import dev.space.domain.Weather;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.Executors;

/** The upstream APIs, by calls that block. Each throws an UpstreamException when there is no answer within 2 s. */
public final class Upstream {

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Answers.TIMEOUT)
            .executor(Executors.newVirtualThreadPerTaskExecutor())
            .build();
    private final String baseUrl;

    public Upstream(String baseUrl) {
        this.baseUrl = baseUrl;
    }

    public Position position() {
        return get(Answers.ISS, Answers.IssNow.class).position();
    }

    public NearEarth nearEarth() {
        return get(Answers.NEO, Answers.Feed.class).nearEarth();
    }

    public Weather weather(Position place) {
        return get(Answers.forecast(place), Answers.Forecast.class).weather(place);
    }

    public int people() {
        return get(Answers.PEOPLE, Answers.People.class).number();
    }

    public Reading reading(String path) {
        return get(path, Reading.class);
    }

    private <T> T get(String path, Class<T> type) {
        try {
            return Answers.parse(client.send(Answers.request(baseUrl + path), BodyHandlers.ofByteArray()), type);
        } catch (IOException e) {
            throw new UpstreamException(path + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UpstreamException(path + ": interrupted", e);
        }
    }
}

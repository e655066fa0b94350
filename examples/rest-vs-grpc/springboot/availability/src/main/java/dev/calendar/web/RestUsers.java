package dev.calendar.web;

import dev.calendar.domain.Hours;
import dev.calendar.domain.UserDirectory;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Optional;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;

/** The users service over REST. */
public final class RestUsers implements UserDirectory {
    private record User(String id, String name, int opens, int closes) {}

    private final RestClient http;

    public RestUsers(String url) {
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(client);
        requests.setReadTimeout(Duration.ofSeconds(2));
        http = RestClient.builder().baseUrl(url).requestFactory(requests).build();
    }

    @Override
    public Optional<Hours> find(String user) {
        try {
            User found = http.get().uri("/users/{id}", user).retrieve().body(User.class);
            return Optional.of(new Hours(found.id(), found.name(), found.opens(), found.closes()));
        } catch (HttpClientErrorException.NotFound e) {
            return Optional.empty();
        }
    }
}

/* SPDX-License-Identifier: MIT */
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The run that the ahead-of-time cache is made from, while the image is made: the application starts without its database
 * and upstream, is asked a little, and ends by SIGTERM, upon which its JVM writes the cache.
 */
public final class Train {
    private static final Path CACHE = Path.of("/tmp/app.aot");
    private static final String URL = "http://127.0.0.1:8080";
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final HttpClient client = HttpClient.newHttpClient();

    public static void main(String[] arguments) throws Exception {
        ProcessBuilder command = new ProcessBuilder("java", "-XX:AOTCacheOutput=" + CACHE, "-jar", "/app/app.jar").inheritIO();
        command.environment().putAll(Map.of("PORT", "8080", "DB_HOST", "127.0.0.1", "DB_PORT", "5432", "DB_NAME", "space",
                "DB_USER", "space", "UPSTREAM_URL", "http://127.0.0.1:9"));
        Process application = command.start();
        boolean answered = new Train().ask(application);
        application.destroy();
        boolean ended = application.waitFor(3, TimeUnit.MINUTES);
        if (answered && ended && Files.exists(CACHE) && Files.size(CACHE) > 0) {
            return;
        }
        System.err.println(!answered ? "the application did not answer " + URL + "/health"
                : ended ? "the JVM wrote no cache" : "the application did not end");
        application.destroyForcibly();
        System.exit(1);
    }

    private boolean ask(Process application) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
        while (status(request("/health")) != 200) {
            if (!application.isAlive() || System.nanoTime() > end) {
                return false;
            }
            Thread.sleep(100);
        }
        for (String path : new String[] {"/health", "/prometheus", "/iss/position", "/dashboard", "/solar"}) {
            status(request(path));
        }
        // Without a database these fail, after the code has run as far as it can: together, as each may wait for its pool.
        CompletableFuture<Integer> read = later(request("/surveys/1"));
        CompletableFuture<Integer> write = later(request("/surveys").header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"name\":\"survey\",\"score\":1}")));
        CompletableFuture.allOf(read, write).join();
        return true;
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(URL + path)).timeout(PATIENCE);
    }

    private CompletableFuture<Integer> later(HttpRequest.Builder request) {
        return client.sendAsync(request.build(), BodyHandlers.discarding()).handle((answer, e) -> e == null ? answer.statusCode() : 0);
    }

    /** The status of the answer, 0 without one. */
    private int status(HttpRequest.Builder request) throws InterruptedException {
        try {
            return client.send(request.build(), BodyHandlers.discarding()).statusCode();
        } catch (IOException e) {
            return 0;
        }
    }
}

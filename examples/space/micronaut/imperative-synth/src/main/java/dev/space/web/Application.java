package dev.space.web;

import io.micronaut.runtime.Micronaut;
import java.util.Set;

/** Starts the server. SPACE_THREADS chooses what a request runs on: see the application-*.properties of that name. */
public final class Application {

    private static final Set<String> THREADS = Set.of("platform", "virtual", "carrier");

    private Application() {
    }

    public static void main(String[] args) {
        String threads = System.getenv().getOrDefault("SPACE_THREADS", "platform");
        if (!THREADS.contains(threads)) {
            throw new IllegalArgumentException("SPACE_THREADS is none of " + THREADS + ": '" + threads + "'");
        }
        Micronaut.build(args)
                .mainClass(Application.class)
                .deduceEnvironment(false)
                .environments(threads)
                .banner(false)
                .start();
    }
}

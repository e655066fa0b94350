package dev.space.web;

import java.util.Set;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;

/** Starts the server. SPACE_THREADS chooses what a request runs on: see the application-*.properties of that name. */
@SpringBootApplication(proxyBeanMethods = false)
@EnableConfigurationProperties(Database.class)
class Application {

    private static final Set<String> THREADS = Set.of("platform", "virtual");

    public static void main(String[] args) {
        String threads = System.getenv().getOrDefault("SPACE_THREADS", "platform");
        if (!THREADS.contains(threads)) {
            throw new IllegalArgumentException("SPACE_THREADS is none of " + THREADS + ": '" + threads + "'");
        }
        SpringApplication application = new SpringApplication(Application.class);
        application.setAdditionalProfiles(threads);
        application.run(args);
    }
}

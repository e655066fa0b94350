package dev.space.web;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What is asked by who operates the service. Neither touches the database. */
@RestController
final class OperationsController {

    private final PrometheusMeterRegistry metrics;

    OperationsController(PrometheusMeterRegistry metrics) {
        this.metrics = metrics;
    }

    @GetMapping(path = "/health", produces = MediaType.TEXT_PLAIN_VALUE)
    String health() {
        return "ok";
    }

    @GetMapping(path = "/prometheus", produces = MediaType.TEXT_PLAIN_VALUE)
    String prometheus() {
        return metrics.scrape();
    }
}

package dev.space.web;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;

/** What is asked by who operates the service. Neither touches the database. */
@Controller
@Produces(MediaType.TEXT_PLAIN)
final class OperationsController {

    private final PrometheusMeterRegistry metrics;

    OperationsController(PrometheusMeterRegistry metrics) {
        this.metrics = metrics;
    }

    @Get("/health")
    String health() {
        return "ok";
    }

    @Get("/prometheus")
    String prometheus() {
        return metrics.scrape();
    }
}

package dev.space.web;

import io.smallrye.common.annotation.NonBlocking;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** What is asked by who operates the service; it does not touch the database. Metrics are Quarkus' own. */
@Path("/health")
@Produces(MediaType.TEXT_PLAIN)
public class HealthResource {

    @GET
    @NonBlocking
    public String health() {
        return "ok";
    }
}

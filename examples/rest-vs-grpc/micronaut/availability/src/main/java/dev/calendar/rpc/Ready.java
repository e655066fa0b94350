package dev.calendar.rpc;

import dev.calendar.v1.AvailabilityGrpc;
import dev.calendar.v1.FreeRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.micronaut.context.annotation.Value;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.util.concurrent.TimeUnit;

/** For those who ask over HTTP whether gRPC is answered: GET /ready/... makes a call of its own to this server. */
@Controller
public class Ready {
    private final int port;

    public Ready(@Value("${grpc.server.port}") int port) {
        this.port = port;
    }

    @Get("/ready/users/{id}/availability{?day}")
    @Produces("text/plain")
    @ExecuteOn(TaskExecutors.BLOCKING)
    public String ready(String id, String day) {
        ManagedChannel channel = ManagedChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
        try {
            return AvailabilityGrpc.newBlockingStub(channel).withDeadlineAfter(2, TimeUnit.SECONDS)
                    .free(FreeRequest.newBuilder().setUser(id).setDay(day).build()).getName();
        } finally {
            channel.shutdownNow();
        }
    }
}

package dev.calendar.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.calendar.domain.Hours;
import dev.calendar.v1.FindRequest;
import dev.calendar.v1.UserReply;
import dev.calendar.v1.UsersGrpc;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against a server that stands in for the users service. */
class GrpcUsersTest {
    private Server server;
    private ManagedChannel channel;
    private GrpcUsers users;

    @BeforeEach
    void serve() throws IOException {
        server = ServerBuilder.forPort(0).addService(new UsersGrpc.UsersImplBase() {
            @Override
            public void find(FindRequest request, StreamObserver<UserReply> answer) {
                if (!request.getId().equals("10000")) {
                    answer.onError((request.getId().equals("99999") ? Status.NOT_FOUND : Status.INTERNAL)
                            .asRuntimeException());
                    return;
                }
                answer.onNext(UserReply.newBuilder().setId("10000").setName("Ada").setOpens(540).setCloses(1020).build());
                answer.onCompleted();
            }
        }).build().start();
        channel = ManagedChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext().build();
        users = new GrpcUsers(channel);
    }

    @AfterEach
    void stop() {
        channel.shutdownNow();
        server.shutdownNow();
    }

    @Test
    void a_user_has_hours() {
        assertEquals(new Hours("10000", "Ada", 540, 1020), users.find("10000").orElseThrow());
    }

    @Test
    void an_unknown_one_is_empty() {
        assertTrue(users.find("99999").isEmpty());
    }

    @Test
    void a_broken_service_is_told() {
        assertThrows(StatusRuntimeException.class, () -> users.find("broken"));
    }
}

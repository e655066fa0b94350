package dev.calendar.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.calendar.domain.UserStore;
import dev.calendar.service.StoreInMemory;
import dev.calendar.v1.CreateRequest;
import dev.calendar.v1.FindRequest;
import dev.calendar.v1.UserReply;
import dev.calendar.v1.UsersGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.micronaut.context.annotation.Property;
import io.micronaut.grpc.annotation.GrpcChannel;
import io.micronaut.grpc.server.GrpcServerChannel;
import io.micronaut.test.annotation.MockBean;
import io.micronaut.test.extensions.junit5.annotation.MicronautTest;
import jakarta.inject.Inject;
import org.junit.jupiter.api.Test;

@MicronautTest
@Property(name = "grpc.server.port", value = "${random.port}")
@Property(name = "micronaut.server.port", value = "-1")
class UsersEndpointTest {
    @MockBean(UserStore.class)
    UserStore store() {
        return new StoreInMemory();
    }

    @Inject
    @GrpcChannel(GrpcServerChannel.NAME)
    ManagedChannel channel;

    private UsersGrpc.UsersBlockingStub users() {
        return UsersGrpc.newBlockingStub(channel);
    }

    private UserReply find(String id) {
        return users().find(FindRequest.newBuilder().setId(id).build());
    }

    private static CreateRequest bob() {
        return CreateRequest.newBuilder().setName("Bob").setEmail("bob@example.com").setOpens(480).setCloses(960)
                .build();
    }

    @Test
    void a_user_is_told_whole() {
        assertEquals(UserReply.newBuilder().setId("10000").setName("Ada").setEmail("ada@example.com").setOpens(540)
                .setCloses(1020).build(), find("10000"));
    }

    @Test
    void an_unknown_one_is_not_found() {
        StatusRuntimeException e = assertThrows(StatusRuntimeException.class, () -> find("99999"));
        assertEquals(Status.Code.NOT_FOUND, e.getStatus().getCode());
    }

    @Test
    void a_new_one_is_made() {
        UserReply made = users().create(bob());
        assertEquals(made, find(made.getId()));
    }

    @Test
    void a_wrong_one_is_refused_in_words() {
        StatusRuntimeException e = assertThrows(StatusRuntimeException.class,
                () -> users().create(bob().toBuilder().setName("").build()));
        assertEquals(Status.Code.INVALID_ARGUMENT, e.getStatus().getCode());
        assertEquals("a user has a name", e.getStatus().getDescription());
    }

    @Test
    void an_empty_request_is_refused() {
        assertThrows(StatusRuntimeException.class, () -> users().create(CreateRequest.getDefaultInstance()));
    }
}

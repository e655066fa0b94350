package dev.calendar.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.calendar.domain.BookingStore;
import dev.calendar.domain.UserDirectory;
import dev.calendar.service.StandIns;
import dev.calendar.v1.AvailabilityGrpc;
import dev.calendar.v1.FreeReply;
import dev.calendar.v1.FreeRequest;
import dev.calendar.v1.FreeSlot;
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
class AvailabilityEndpointTest {
    @MockBean(BookingStore.class)
    BookingStore store() {
        return new StandIns.Bookings();
    }

    @MockBean(UserDirectory.class)
    UserDirectory users() {
        return new StandIns.Users();
    }

    @Inject
    @GrpcChannel(GrpcServerChannel.NAME)
    ManagedChannel channel;

    private FreeReply free(String user, String day) {
        return AvailabilityGrpc.newBlockingStub(channel)
                .free(FreeRequest.newBuilder().setUser(user).setDay(day).build());
    }

    private Status refused(String user, String day) {
        return assertThrows(StatusRuntimeException.class, () -> free(user, day)).getStatus();
    }

    @Test
    void a_day_is_told_whole() {
        assertEquals(FreeReply.newBuilder().setUser("10000").setName("Ada").setDay("2027-01-04")
                .addFree(FreeSlot.newBuilder().setBegins(540).setEnds(600))
                .addFree(FreeSlot.newBuilder().setBegins(660).setEnds(1020)).build(), free("10000", "2027-01-04"));
    }

    @Test
    void an_unknown_user_is_not_found() {
        assertEquals(Status.Code.NOT_FOUND, refused("99999", "2027-01-04").getCode());
    }

    @Test
    void a_wrong_day_is_refused_in_words() {
        Status status = refused("10000", "tomorrow");
        assertEquals(Status.Code.INVALID_ARGUMENT, status.getCode());
        assertEquals("'tomorrow' is no day", status.getDescription());
    }

    @Test
    void a_day_must_be_given() {
        assertEquals(Status.Code.INVALID_ARGUMENT, refused("10000", "").getCode());
    }
}

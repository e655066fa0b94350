package dev.calendar.rpc;

import dev.calendar.domain.Availability;
import dev.calendar.domain.Slot;
import dev.calendar.service.AvailabilityService;
import dev.calendar.v1.AvailabilityGrpc;
import dev.calendar.v1.FreeReply;
import dev.calendar.v1.FreeRequest;
import dev.calendar.v1.FreeSlot;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.micronaut.grpc.annotation.GrpcService;
import java.util.Optional;

@GrpcService
public class AvailabilityEndpoint extends AvailabilityGrpc.AvailabilityImplBase {
    private final AvailabilityService availability;

    public AvailabilityEndpoint(AvailabilityService availability) {
        this.availability = availability;
    }

    @Override
    public void free(FreeRequest request, StreamObserver<FreeReply> answer) {
        try {
            Optional<Availability> found = availability.free(request.getUser(), request.getDay());
            if (found.isEmpty()) {
                answer.onError(Status.NOT_FOUND.asRuntimeException());
                return;
            }
            answer.onNext(reply(found.get()));
            answer.onCompleted();
        } catch (IllegalArgumentException e) {
            answer.onError(Status.INVALID_ARGUMENT.withDescription(e.getMessage()).asRuntimeException());
        }
    }

    private static FreeReply reply(Availability a) {
        FreeReply.Builder reply = FreeReply.newBuilder().setUser(a.user()).setName(a.name()).setDay(a.day());
        for (Slot slot : a.free())
            reply.addFree(FreeSlot.newBuilder().setBegins(slot.begins()).setEnds(slot.ends()));
        return reply.build();
    }
}

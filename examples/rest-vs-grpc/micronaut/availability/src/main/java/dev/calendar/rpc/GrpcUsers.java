package dev.calendar.rpc;

import dev.calendar.domain.Hours;
import dev.calendar.domain.UserDirectory;
import dev.calendar.v1.FindRequest;
import dev.calendar.v1.UserReply;
import dev.calendar.v1.UsersGrpc;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The users service over gRPC. */
public final class GrpcUsers implements UserDirectory {
    private final UsersGrpc.UsersBlockingStub users;

    public GrpcUsers(Channel channel) {
        users = UsersGrpc.newBlockingStub(channel);
    }

    @Override
    public Optional<Hours> find(String user) {
        try {
            UserReply found = users.withDeadlineAfter(2, TimeUnit.SECONDS)
                    .find(FindRequest.newBuilder().setId(user).build());
            return Optional.of(new Hours(found.getId(), found.getName(), found.getOpens(), found.getCloses()));
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() == Status.Code.NOT_FOUND)
                return Optional.empty();
            throw e;
        }
    }
}

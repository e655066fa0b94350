package dev.calendar.rpc;

import dev.calendar.domain.NewUser;
import dev.calendar.domain.User;
import dev.calendar.service.UserService;
import dev.calendar.v1.CreateRequest;
import dev.calendar.v1.FindRequest;
import dev.calendar.v1.UserReply;
import dev.calendar.v1.UsersGrpc;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.micronaut.grpc.annotation.GrpcService;
import java.util.Optional;

@GrpcService
public class UsersEndpoint extends UsersGrpc.UsersImplBase {
    private final UserService users;

    public UsersEndpoint(UserService users) {
        this.users = users;
    }

    @Override
    public void find(FindRequest request, StreamObserver<UserReply> answer) {
        Optional<User> user = users.find(request.getId());
        if (user.isEmpty()) {
            answer.onError(Status.NOT_FOUND.asRuntimeException());
            return;
        }
        answer.onNext(reply(user.get()));
        answer.onCompleted();
    }

    @Override
    public void create(CreateRequest request, StreamObserver<UserReply> answer) {
        NewUser user = new NewUser(request.getName(), request.getEmail(), request.getOpens(), request.getCloses());
        try {
            answer.onNext(reply(users.create(user)));
            answer.onCompleted();
        } catch (IllegalArgumentException e) {
            answer.onError(Status.INVALID_ARGUMENT.withDescription(e.getMessage()).asRuntimeException());
        }
    }

    private static UserReply reply(User user) {
        return UserReply.newBuilder().setId(user.id()).setName(user.name()).setEmail(user.email())
                .setOpens(user.opens()).setCloses(user.closes()).build();
    }
}

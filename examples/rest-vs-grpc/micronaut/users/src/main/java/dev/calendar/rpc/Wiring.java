package dev.calendar.rpc;

import dev.calendar.dao.UserDao;
import dev.calendar.domain.UserStore;
import dev.calendar.service.UserService;
import io.grpc.BindableService;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.micronaut.context.annotation.Factory;
import jakarta.inject.Singleton;
import javax.sql.DataSource;

@Factory
public class Wiring {
    @Singleton
    public UserStore store(DataSource pool) {
        return new UserDao(pool);
    }

    @Singleton
    public UserService users(UserStore store) {
        return new UserService(store);
    }

    /** So that a caller needs no .proto file. */
    @Singleton
    public BindableService reflection() {
        return ProtoReflectionServiceV1.newInstance();
    }
}

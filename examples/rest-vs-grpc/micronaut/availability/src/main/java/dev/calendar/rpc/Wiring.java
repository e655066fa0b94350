package dev.calendar.rpc;

import dev.calendar.dao.BookingDao;
import dev.calendar.domain.BookingStore;
import dev.calendar.domain.UserDirectory;
import dev.calendar.service.AvailabilityService;
import io.grpc.BindableService;
import io.grpc.ManagedChannel;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.micronaut.context.annotation.Factory;
import io.micronaut.grpc.annotation.GrpcChannel;
import jakarta.inject.Singleton;
import javax.sql.DataSource;

@Factory
public class Wiring {
    @Singleton
    public BookingStore store(DataSource pool) {
        return new BookingDao(pool);
    }

    @Singleton
    public UserDirectory users(@GrpcChannel("users") ManagedChannel channel) {
        return new GrpcUsers(channel);
    }

    @Singleton
    public AvailabilityService availability(BookingStore store, UserDirectory users) {
        return new AvailabilityService(store, users);
    }

    /** So that a caller needs no .proto file. */
    @Singleton
    public BindableService reflection() {
        return ProtoReflectionServiceV1.newInstance();
    }
}

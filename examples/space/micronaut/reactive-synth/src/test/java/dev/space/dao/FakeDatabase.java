package dev.space.dao;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** Connections that only note what is done on them; what a statement gives is the test's to say. */
final class FakeDatabase {

    private static final Map<String, Object> ROW = Map.of("id", 1L, "name", "a", "score", 2, "created_at", 3L);

    private final List<String> done = Collections.synchronizedList(new ArrayList<>());
    private final Map<String, Publisher<?>> results = new HashMap<>();

    /** What executing {@code sql} gives instead of one row. */
    FakeDatabase result(String sql, Publisher<?> result) {
        results.put(sql, result);
        return this;
    }

    /** What calling the connection's {@code method} ends with, instead of success. */
    FakeDatabase failure(String method, Throwable error) {
        results.put(method, Mono.error(error));
        return this;
    }

    /** What was done on connections, in order; statements by their SQL. */
    List<String> done() {
        return List.copyOf(done);
    }

    ConnectionFactory pool() {
        return proxy(ConnectionFactory.class, (self, method, arguments) -> Mono.just(connection()));
    }

    private Connection connection() {
        return proxy(Connection.class, (self, method, arguments) -> method.getName().equals("createStatement")
                ? statement((String) arguments[0])
                : step(method.getName(), Mono.empty()));
    }

    private Statement statement(String sql) {
        return proxy(Statement.class, (self, method, arguments) -> method.getName().equals("execute")
                ? step(sql, Mono.just(result()))
                : self);
    }

    private Publisher<?> step(String name, Publisher<?> otherwise) {
        return Mono.fromRunnable(() -> done.add(name)).thenMany(results.getOrDefault(name, otherwise));
    }

    @SuppressWarnings("unchecked")
    private static Result result() {
        Readable row = proxy(Readable.class, (self, method, arguments) -> ROW.get(arguments[0]));
        return proxy(Result.class, (self, method, arguments) -> method.getName().equals("map")
                ? Mono.just(((Function<Readable, Object>) arguments[0]).apply(row))
                : Mono.just(1L));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}

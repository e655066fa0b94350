package dev.space.web;

import io.quarkus.virtual.threads.VirtualThreads;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * What the blocking work of a request runs on: the worker pool (platform), or a virtual thread of its own (virtual).
 * Quarkus' annotations for it are read at build time, where one image could do only one of the two; this hands over
 * as they do, from the event loop to the executor.
 */
@ApplicationScoped
class RequestThreads {

    private static final Set<String> THREADS = Set.of("platform", "virtual");

    private final Executor executor;

    RequestThreads(@ConfigProperty(name = "space.threads") String threads, @VirtualThreads ExecutorService virtual) {
        if (!THREADS.contains(threads)) {
            throw new IllegalArgumentException("SPACE_THREADS is none of " + THREADS + ": '" + threads + "'");
        }
        executor = threads.equals("virtual") ? virtual : Infrastructure.getDefaultExecutor();
    }

    <T> Uni<T> run(Supplier<T> work) {
        return Uni.createFrom().item(work).runSubscriptionOn(executor);
    }
}

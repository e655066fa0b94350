package dev.space.web;

import dev.space.dao.SurveyDao;
import dev.space.survey.SurveyService;
import dev.space.survey.Upstream;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Value;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import jakarta.inject.Named;
import jakarta.inject.Singleton;

/** The beans that are not Micronaut's own. */
@Factory
final class Wiring {

    /** r2dbc-pool; it connects when the first connection is asked for. Micronaut's metrics find it by its name. */
    @Context
    @Named("default")
    @Bean(preDestroy = "close")
    ConnectionPool pool(Database database, @Value("${pool.size}") int size) {
        PostgresqlConnectionConfiguration config = PostgresqlConnectionConfiguration.builder()
                .host(database.host())
                .port(database.port())
                .database(database.name())
                .username(database.user())
                .password(database.password())
                .build();
        return new ConnectionPool(
                ConnectionPoolConfiguration.builder(new PostgresqlConnectionFactory(config))
                        .initialSize(size)
                        .maxSize(size)
                        .build());
    }

    @Singleton
    SurveyDao surveyDao(ConnectionFactory pool) {
        return new SurveyDao(pool);
    }

    @Singleton
    Upstream upstream(@Value("${upstream.url}") String url) {
        return new Upstream(url);
    }

    @Singleton
    SurveyService surveyService(SurveyDao dao, Upstream upstream) {
        return new SurveyService(dao, upstream);
    }
}

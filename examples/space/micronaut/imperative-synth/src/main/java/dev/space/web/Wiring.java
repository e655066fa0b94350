package dev.space.web;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.metrics.micrometer.MicrometerMetricsTrackerFactory;
import dev.space.dao.SurveyDao;
import dev.space.survey.SurveyService;
import dev.space.survey.Upstream;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Value;
import jakarta.inject.Singleton;
import javax.sql.DataSource;

/** The beans that are not Micronaut's own. */
@Factory
final class Wiring {

    /** HikariCP; it starts without its database as well. */
    @Context
    @Bean(preDestroy = "close")
    HikariDataSource pool(Database database, @Value("${pool.size}") int size, MeterRegistry metrics) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://%s:%d/%s".formatted(database.host(), database.port(), database.name()));
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(size);
        config.setInitializationFailTimeout(-1);
        config.setMetricsTrackerFactory(new MicrometerMetricsTrackerFactory(metrics));
        return new HikariDataSource(config);
    }

    @Singleton
    SurveyDao surveyDao(DataSource pool) {
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

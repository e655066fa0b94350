package dev.space.web;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.metrics.micrometer.MicrometerMetricsTrackerFactory;
import dev.space.dao.SurveyDao;
import dev.space.survey.SurveyService;
import dev.space.survey.Upstream;
import io.micrometer.core.instrument.MeterRegistry;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The beans that are not Spring's own. */
@Configuration(proxyBeanMethods = false)
class Wiring {

    /** HikariCP; it starts without its database as well. */
    @Bean(destroyMethod = "close")
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

    @Bean
    SurveyDao surveyDao(DataSource pool) {
        return new SurveyDao(pool);
    }

    @Bean
    Upstream upstream(@Value("${upstream.url}") String url) {
        return new Upstream(url);
    }

    @Bean
    SurveyService surveyService(SurveyDao dao, Upstream upstream) {
        return new SurveyService(dao, upstream);
    }
}

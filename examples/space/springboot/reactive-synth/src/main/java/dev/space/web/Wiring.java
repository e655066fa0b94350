package dev.space.web;

import dev.space.dao.SurveyDao;
import dev.space.survey.SurveyService;
import dev.space.survey.Upstream;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionConfiguration;
import io.r2dbc.postgresql.PostgresqlConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The beans that are not Spring's own. */
@Configuration(proxyBeanMethods = false)
class Wiring {

    /** r2dbc-pool; it connects when the first connection is asked for. Spring's metrics find it by its type. */
    @Bean(destroyMethod = "dispose")
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

    @Bean
    SurveyDao surveyDao(ConnectionFactory pool) {
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

package dev.space.web;

import dev.space.dao.SurveyDao;
import dev.space.survey.SurveyService;
import dev.space.survey.Upstream;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import javax.sql.DataSource;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** The beans that are not Quarkus' own. */
@ApplicationScoped
class Wiring {

    @Produces
    @Singleton
    SurveyDao surveyDao(DataSource pool) {
        return new SurveyDao(pool);
    }

    @Produces
    @Singleton
    Upstream upstream(@ConfigProperty(name = "upstream.url") String url) {
        return new Upstream(url);
    }

    @Produces
    @Singleton
    SurveyService surveyService(SurveyDao dao, Upstream upstream) {
        return new SurveyService(dao, upstream);
    }
}

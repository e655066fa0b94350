package dev.space.web;

import dev.space.dao.SurveyDao;
import dev.space.domain.Dashboard;
import dev.space.domain.FullSurvey;
import dev.space.domain.Group;
import dev.space.domain.NearEarth;
import dev.space.domain.Position;
import dev.space.domain.Risk;
import dev.space.domain.Survey;
import dev.space.domain.Weather;
import dev.space.survey.SurveyService;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.QueryValue;
import java.util.List;
import reactor.core.publisher.Mono;

/** What needs the upstream: four APIs (part 16) or all 28 sources (part 17). */
@Controller
final class SpaceController {

    private final SurveyService service;
    private final SurveyDao dao;

    SpaceController(SurveyService service, SurveyDao dao) {
        this.service = service;
        this.dao = dao;
    }

    @Get("/iss/position")
    Mono<Position> position() {
        return service.position();
    }

    @Get("/neo/today")
    Mono<NearEarth> nearEarth() {
        return service.nearEarth();
    }

    @Get("/dashboard")
    Mono<Dashboard> dashboard() {
        return service.dashboard();
    }

    @Get("/weather/grid")
    Mono<List<Weather>> grid() {
        return service.grid();
    }

    @Get("/history")
    Mono<List<Survey>> history(@QueryValue(defaultValue = "50") int limit) {
        return dao.history(limit);
    }

    @Post("/survey")
    Mono<Survey> survey() {
        return service.survey();
    }

    @Get("/solar")
    Mono<Group> solar() {
        return service.group("solar");
    }

    @Get("/orbit")
    Mono<Group> orbit() {
        return service.group("orbit");
    }

    @Get("/earth")
    Mono<Group> earth() {
        return service.group("earth");
    }

    @Get("/risk")
    Mono<Risk> risk() {
        return service.risk();
    }

    @Post("/survey/full")
    Mono<FullSurvey> fullSurvey() {
        return service.fullSurvey();
    }
}

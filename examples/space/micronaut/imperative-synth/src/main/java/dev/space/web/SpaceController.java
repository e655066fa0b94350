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
    Position position() {
        return service.position();
    }

    @Get("/neo/today")
    NearEarth nearEarth() {
        return service.nearEarth();
    }

    @Get("/dashboard")
    Dashboard dashboard() {
        return service.dashboard();
    }

    @Get("/weather/grid")
    List<Weather> grid() {
        return service.grid();
    }

    @Get("/history")
    List<Survey> history(@QueryValue(defaultValue = "50") int limit) {
        return dao.history(limit);
    }

    @Post("/survey")
    Survey survey() {
        return service.survey();
    }

    @Get("/solar")
    Group solar() {
        return service.group("solar");
    }

    @Get("/orbit")
    Group orbit() {
        return service.group("orbit");
    }

    @Get("/earth")
    Group earth() {
        return service.group("earth");
    }

    @Get("/risk")
    Risk risk() {
        return service.risk();
    }

    @Post("/survey/full")
    FullSurvey fullSurvey() {
        return service.fullSurvey();
    }
}

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
import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What needs the upstream: four APIs (part 16) or all 28 sources (part 17). */
@RestController
final class SpaceController {

    private final SurveyService service;
    private final SurveyDao dao;

    SpaceController(SurveyService service, SurveyDao dao) {
        this.service = service;
        this.dao = dao;
    }

    @GetMapping("/iss/position")
    Position position() {
        return service.position();
    }

    @GetMapping("/neo/today")
    NearEarth nearEarth() {
        return service.nearEarth();
    }

    @GetMapping("/dashboard")
    Dashboard dashboard() {
        return service.dashboard();
    }

    @GetMapping("/weather/grid")
    List<Weather> grid() {
        return service.grid();
    }

    @GetMapping("/history")
    List<Survey> history(@RequestParam(defaultValue = "50") int limit) {
        return dao.history(limit);
    }

    @PostMapping("/survey")
    Survey survey() {
        return service.survey();
    }

    @GetMapping("/solar")
    Group solar() {
        return service.group("solar");
    }

    @GetMapping("/orbit")
    Group orbit() {
        return service.group("orbit");
    }

    @GetMapping("/earth")
    Group earth() {
        return service.group("earth");
    }

    @GetMapping("/risk")
    Risk risk() {
        return service.risk();
    }

    @PostMapping("/survey/full")
    FullSurvey fullSurvey() {
        return service.fullSurvey();
    }
}

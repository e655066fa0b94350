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
import reactor.core.publisher.Mono;

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
    Mono<Position> position() {
        return service.position();
    }

    @GetMapping("/neo/today")
    Mono<NearEarth> nearEarth() {
        return service.nearEarth();
    }

    @GetMapping("/dashboard")
    Mono<Dashboard> dashboard() {
        return service.dashboard();
    }

    @GetMapping("/weather/grid")
    Mono<List<Weather>> grid() {
        return service.grid();
    }

    @GetMapping("/history")
    Mono<List<Survey>> history(@RequestParam(defaultValue = "50") int limit) {
        return dao.history(limit);
    }

    @PostMapping("/survey")
    Mono<Survey> survey() {
        return service.survey();
    }

    @GetMapping("/solar")
    Mono<Group> solar() {
        return service.group("solar");
    }

    @GetMapping("/orbit")
    Mono<Group> orbit() {
        return service.group("orbit");
    }

    @GetMapping("/earth")
    Mono<Group> earth() {
        return service.group("earth");
    }

    @GetMapping("/risk")
    Mono<Risk> risk() {
        return service.risk();
    }

    @PostMapping("/survey/full")
    Mono<FullSurvey> fullSurvey() {
        return service.fullSurvey();
    }
}

package dev.space.web;

import dev.space.dao.SurveyDao;
import dev.space.domain.NewSurvey;
import dev.space.domain.Survey;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Surveys in the database and nothing else. */
@RestController
@RequestMapping("/surveys")
final class SurveyController {

    private final SurveyDao dao;

    SurveyController(SurveyDao dao) {
        this.dao = dao;
    }

    @GetMapping("/{id}")
    Mono<ResponseEntity<Survey>> find(@PathVariable long id) {
        return orNotFound(dao.find(id));
    }

    @GetMapping
    Mono<List<Survey>> list(@RequestParam(defaultValue = "20") int limit) {
        return dao.list(limit);
    }

    @PostMapping
    @ResponseStatus(HttpStatus.CREATED)
    Mono<Survey> insert(@RequestBody NewSurvey survey) {
        return dao.insert(survey);
    }

    @PostMapping("/slow")
    @ResponseStatus(HttpStatus.CREATED)
    Mono<Survey> insertSlowly(@RequestParam("delay_ms") int delayMs, @RequestBody NewSurvey survey) {
        return dao.insertSlowly(survey, delayMs);
    }

    @PutMapping("/{id}")
    Mono<ResponseEntity<Survey>> update(@PathVariable long id, @RequestBody NewSurvey survey) {
        return orNotFound(dao.update(id, survey));
    }

    @DeleteMapping("/{id}")
    Mono<ResponseEntity<Void>> delete(@PathVariable long id) {
        return dao.delete(id).map(found -> found ? ResponseEntity.noContent().build() : ResponseEntity.notFound().build());
    }

    private static Mono<ResponseEntity<Survey>> orNotFound(Mono<Survey> survey) {
        return survey.map(ResponseEntity::ok).defaultIfEmpty(ResponseEntity.notFound().build());
    }
}

package dev.space.web;

import dev.space.dao.SurveyDao;
import dev.space.domain.NewSurvey;
import dev.space.domain.Survey;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Delete;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Put;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.http.annotation.Status;
import java.util.List;
import java.util.Optional;

/** Surveys in the database and nothing else. */
@Controller("/surveys")
final class SurveyController {

    private final SurveyDao dao;

    SurveyController(SurveyDao dao) {
        this.dao = dao;
    }

    @Get("/{id}")
    Optional<Survey> find(long id) {
        return dao.find(id);
    }

    @Get
    List<Survey> list(@QueryValue(defaultValue = "20") int limit) {
        return dao.list(limit);
    }

    @Post
    @Status(HttpStatus.CREATED)
    Survey insert(@Body NewSurvey survey) {
        return dao.insert(survey);
    }

    @Post("/slow")
    @Status(HttpStatus.CREATED)
    Survey insertSlowly(@QueryValue("delay_ms") int delayMs, @Body NewSurvey survey) {
        return dao.insertSlowly(survey, delayMs);
    }

    @Put("/{id}")
    Optional<Survey> update(long id, @Body NewSurvey survey) {
        return dao.update(id, survey);
    }

    @Delete("/{id}")
    HttpResponse<?> delete(long id) {
        return dao.delete(id) ? HttpResponse.noContent() : HttpResponse.notFound();
    }
}

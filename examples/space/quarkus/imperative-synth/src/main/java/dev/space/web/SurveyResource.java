package dev.space.web;

import dev.space.dao.SurveyDao;
import dev.space.domain.NewSurvey;
import dev.space.domain.Survey;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import java.util.List;
import java.util.Optional;
import org.jboss.resteasy.reactive.ResponseStatus;
import org.jboss.resteasy.reactive.RestPath;
import org.jboss.resteasy.reactive.RestQuery;
import org.jboss.resteasy.reactive.RestResponse;

/** Surveys in the database and nothing else. */
@Path("/surveys")
public class SurveyResource {

    private final SurveyDao dao;
    private final RequestThreads threads;

    SurveyResource(SurveyDao dao, RequestThreads threads) {
        this.dao = dao;
        this.threads = threads;
    }

    @GET
    @Path("/{id}")
    public Uni<RestResponse<Survey>> find(@RestPath long id) {
        return threads.run(() -> orNotFound(dao.find(id)));
    }

    @GET
    public Uni<List<Survey>> list(@RestQuery @DefaultValue("20") int limit) {
        return threads.run(() -> dao.list(limit));
    }

    @POST
    @ResponseStatus(201)
    public Uni<Survey> insert(NewSurvey survey) {
        return threads.run(() -> dao.insert(survey));
    }

    @POST
    @Path("/slow")
    @ResponseStatus(201)
    public Uni<Survey> insertSlowly(@RestQuery("delay_ms") int delayMs, NewSurvey survey) {
        return threads.run(() -> dao.insertSlowly(survey, delayMs));
    }

    @PUT
    @Path("/{id}")
    public Uni<RestResponse<Survey>> update(@RestPath long id, NewSurvey survey) {
        return threads.run(() -> orNotFound(dao.update(id, survey)));
    }

    @DELETE
    @Path("/{id}")
    public Uni<RestResponse<Void>> delete(@RestPath long id) {
        return threads.run(() -> dao.delete(id) ? RestResponse.noContent() : RestResponse.notFound());
    }

    private static RestResponse<Survey> orNotFound(Optional<Survey> survey) {
        return survey.map(RestResponse::ok).orElseGet(RestResponse::notFound);
    }
}

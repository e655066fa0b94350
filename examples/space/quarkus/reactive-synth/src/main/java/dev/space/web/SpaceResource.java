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
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import java.util.List;
import org.jboss.resteasy.reactive.RestQuery;

/** What needs the upstream: four APIs (part 16) or all 28 sources (part 17). */
@Path("/")
public class SpaceResource {

    private final SurveyService service;
    private final SurveyDao dao;

    SpaceResource(SurveyService service, SurveyDao dao) {
        this.service = service;
        this.dao = dao;
    }

    @GET
    @Path("/iss/position")
    public Uni<Position> position() {
        return service.position();
    }

    @GET
    @Path("/neo/today")
    public Uni<NearEarth> nearEarth() {
        return service.nearEarth();
    }

    @GET
    @Path("/dashboard")
    public Uni<Dashboard> dashboard() {
        return service.dashboard();
    }

    @GET
    @Path("/weather/grid")
    public Uni<List<Weather>> grid() {
        return service.grid();
    }

    @GET
    @Path("/history")
    public Uni<List<Survey>> history(@RestQuery @DefaultValue("50") int limit) {
        return dao.history(limit);
    }

    @POST
    @Path("/survey")
    public Uni<Survey> survey() {
        return service.survey();
    }

    @GET
    @Path("/solar")
    public Uni<Group> solar() {
        return service.group("solar");
    }

    @GET
    @Path("/orbit")
    public Uni<Group> orbit() {
        return service.group("orbit");
    }

    @GET
    @Path("/earth")
    public Uni<Group> earth() {
        return service.group("earth");
    }

    @GET
    @Path("/risk")
    public Uni<Risk> risk() {
        return service.risk();
    }

    @POST
    @Path("/survey/full")
    public Uni<FullSurvey> fullSurvey() {
        return service.fullSurvey();
    }
}

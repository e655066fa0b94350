package dev.space.survey;

import dev.space.dao.SurveyDao;
import dev.space.domain.Dashboard;
import dev.space.domain.FullSurvey;
import dev.space.domain.Group;
import dev.space.domain.NearEarth;
import dev.space.domain.NewSurvey;
import dev.space.domain.Position;
import dev.space.domain.Reading;
import dev.space.domain.Risk;
import dev.space.domain.Scoring;
import dev.space.domain.Sources;
import dev.space.domain.Survey;
import dev.space.domain.Weather;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import java.util.List;

/** Asks the upstream, scores what it says and stores the score; no thread waits for any of it. */
public final class SurveyService {

    /** Calls of one grid that are under way at the same time. */
    private static final int GRID_CALLS = 8;

    private final SurveyDao dao;
    private final Upstream upstream;

    public SurveyService(SurveyDao dao, Upstream upstream) {
        this.dao = dao;
        this.upstream = upstream;
    }

    public Uni<Position> position() {
        return call(upstream.position(), Position.MISSING);
    }

    public Uni<NearEarth> nearEarth() {
        return call(upstream.nearEarth(), NearEarth.MISSING);
    }

    public Uni<Dashboard> dashboard() {
        return Uni.combine().all().unis(
                call(upstream.position(), Position.MISSING),
                call(upstream.nearEarth(), NearEarth.MISSING),
                call(upstream.weather(Sources.HOME), Weather.missing(Sources.HOME)),
                call(upstream.people(), Dashboard.NO_PEOPLE))
                .asTuple()
                .map(all -> Dashboard.of(all.getItem1(), all.getItem2(), all.getItem3(), all.getItem4()));
    }

    /** The weather at 25 places, at most 8 calls at a time, in the order of the answers. */
    public Uni<List<Weather>> grid() {
        return Multi.createFrom().iterable(Sources.GRID)
                .onItem().transformToUni(place -> call(upstream.weather(place), Weather.missing(place))).merge(GRID_CALLS)
                .collect().asList();
    }

    /** Scores a dashboard and stores the score. */
    public Uni<Survey> survey() {
        return dashboard().flatMap(dashboard -> dao.insert(new NewSurvey("survey", Scoring.score(dashboard))));
    }

    public Uni<Group> group(String name) {
        return readings(Sources.group(name))
                .map(readings -> new Group(name, readings, Scoring.answered(readings)));
    }

    public Uni<Risk> risk() {
        return readings(Sources.ALL).map(Scoring::risk);
    }

    /** Asks all 28 sources at the same time, scores what they say and stores the score. */
    public Uni<FullSurvey> fullSurvey() {
        return risk().flatMap(risk -> dao.insert(new NewSurvey("full survey", risk.score()))
                .map(survey -> new FullSurvey(survey, risk)));
    }

    private Uni<List<Reading>> readings(List<String> paths) {
        List<Uni<Reading>> calls = paths.stream()
                .map(path -> call(upstream.reading(path), Reading.missing(Sources.name(path))))
                .toList();
        return Uni.combine().all().unis(calls)
                .with(readings -> readings.stream().map(Reading.class::cast).toList());
    }

    /** The call's result, or {@code missing} when it fails. */
    private static <T> Uni<T> call(Uni<T> call, T missing) {
        return call.onFailure().recoverWithItem(missing);
    }
}

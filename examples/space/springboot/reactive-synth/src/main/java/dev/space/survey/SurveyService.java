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
import java.util.List;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

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

    public Mono<Position> position() {
        return call(upstream.position(), Position.MISSING);
    }

    public Mono<NearEarth> nearEarth() {
        return call(upstream.nearEarth(), NearEarth.MISSING);
    }

    public Mono<Dashboard> dashboard() {
        return Mono.zip(
                call(upstream.position(), Position.MISSING),
                call(upstream.nearEarth(), NearEarth.MISSING),
                call(upstream.weather(Sources.HOME), Weather.missing(Sources.HOME)),
                call(upstream.people(), Dashboard.NO_PEOPLE))
                .map(all -> Dashboard.of(all.getT1(), all.getT2(), all.getT3(), all.getT4()));
    }

    /** The weather at 25 places, at most 8 calls at a time, in the order of the answers. */
    public Mono<List<Weather>> grid() {
        return Flux.fromIterable(Sources.GRID)
                .flatMap(place -> call(upstream.weather(place), Weather.missing(place)), GRID_CALLS)
                .collectList();
    }

    /** Scores a dashboard and stores the score. */
    public Mono<Survey> survey() {
        return dashboard().flatMap(dashboard -> dao.insert(new NewSurvey("survey", Scoring.score(dashboard))));
    }

    public Mono<Group> group(String name) {
        return readings(Sources.group(name))
                .map(readings -> new Group(name, readings, Scoring.answered(readings)));
    }

    public Mono<Risk> risk() {
        return readings(Sources.ALL).map(Scoring::risk);
    }

    /** Asks all 28 sources at the same time, scores what they say and stores the score. */
    public Mono<FullSurvey> fullSurvey() {
        return risk().flatMap(risk -> dao.insert(new NewSurvey("full survey", risk.score()))
                .map(survey -> new FullSurvey(survey, risk)));
    }

    private Mono<List<Reading>> readings(List<String> paths) {
        List<Mono<Reading>> calls = paths.stream()
                .map(path -> call(upstream.reading(path), Reading.missing(Sources.name(path))))
                .toList();
        return Mono.zip(calls, readings -> Stream.of(readings).map(Reading.class::cast).toList());
    }

    /** The call's result, or {@code missing} when it fails. */
    private static <T> Mono<T> call(Mono<T> call, T missing) {
        return call.onErrorReturn(missing);
    }
}

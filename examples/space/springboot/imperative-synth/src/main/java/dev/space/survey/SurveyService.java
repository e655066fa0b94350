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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/** Asks the upstream, one virtual thread for each call, scores what it says and stores the score. */
public final class SurveyService {

    /** Calls of one grid that are under way at the same time. */
    private static final int GRID_CALLS = 8;

    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private final SurveyDao dao;
    private final Upstream upstream;

    public SurveyService(SurveyDao dao, Upstream upstream) {
        this.dao = dao;
        this.upstream = upstream;
    }

    public Position position() {
        return call(upstream::position, Position.MISSING);
    }

    public NearEarth nearEarth() {
        return call(upstream::nearEarth, NearEarth.MISSING);
    }

    public Dashboard dashboard() {
        Future<Position> iss = submit(upstream::position, Position.MISSING);
        Future<NearEarth> neo = submit(upstream::nearEarth, NearEarth.MISSING);
        Future<Weather> weather = submit(() -> upstream.weather(Sources.HOME), Weather.missing(Sources.HOME));
        Future<Integer> people = submit(upstream::people, Dashboard.NO_PEOPLE);
        return Dashboard.of(get(iss), get(neo), get(weather), get(people));
    }

    /** The weather at 25 places, at most 8 calls at a time, in the order of the places. */
    public List<Weather> grid() {
        Semaphore semaphore = new Semaphore(GRID_CALLS);
        List<Future<Weather>> futures = new ArrayList<>();
        for (Position place : Sources.GRID) {
            futures.add(submit(() -> {
                semaphore.acquire();
                try {
                    return upstream.weather(place);
                } finally {
                    semaphore.release();
                }
            }, Weather.missing(place)));
        }
        return futures.stream().map(SurveyService::get).toList();
    }

    /** Scores a dashboard and stores the score. */
    public Survey survey() {
        return dao.insert(new NewSurvey("survey", Scoring.score(dashboard())));
    }

    public Group group(String name) {
        List<Reading> readings = readings(Sources.group(name));
        return new Group(name, readings, Scoring.answered(readings));
    }

    public Risk risk() {
        return Scoring.risk(readings(Sources.ALL));
    }

    /** Asks all 28 sources at the same time, scores what they say and stores the score. */
    public FullSurvey fullSurvey() {
        Risk risk = risk();
        return new FullSurvey(dao.insert(new NewSurvey("full survey", risk.score())), risk);
    }

    private List<Reading> readings(List<String> paths) {
        List<Future<Reading>> futures = new ArrayList<>();
        for (String path : paths) {
            futures.add(submit(() -> upstream.reading(path), Reading.missing(Sources.name(path))));
        }
        return futures.stream().map(SurveyService::get).toList();
    }

    private <T> Future<T> submit(Callable<T> task, T missing) {
        return executor.submit(() -> call(task, missing));
    }

    /** The task's result, or {@code missing} when it fails. */
    private static <T> T call(Callable<T> task, T missing) {
        try {
            return task.call();
        } catch (Exception e) {
            return missing;
        }
    }

    private static <T> T get(Future<T> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}

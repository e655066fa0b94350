package dev.space.domain;

/** Four upstream APIs in one answer. {@code people} are in space; {@code answered} of the four had an answer. */
public record Dashboard(Position iss, NearEarth neo, Weather weather, int people, int answered) {

    public static final int NO_PEOPLE = 0;

    public static Dashboard of(Position iss, NearEarth neo, Weather weather, int people) {
        int answered = count(!iss.equals(Position.MISSING)) + count(!neo.equals(NearEarth.MISSING))
                + count(weather.ok()) + count(people != NO_PEOPLE);
        return new Dashboard(iss, neo, weather, people, answered);
    }

    private static int count(boolean answer) {
        return answer ? 1 : 0;
    }
}

package dev.calendar.domain;

import java.util.ArrayList;
import java.util.List;

/** What is given to make a user. */
public record NewUser(String name, String email, int opens, int closes) {
    private static final int MINUTES_OF_DAY = 24 * 60;

    /** What is wrong with it, in words; empty when nothing is. */
    public List<String> problems() {
        List<String> problems = new ArrayList<>();
        if (name == null || name.isBlank())
            problems.add("a user has a name");
        if (email == null || email.indexOf('@') <= 0 || email.indexOf('@') == email.length() - 1)
            problems.add("'" + email + "' is no address");
        if (opens < 0 || closes > MINUTES_OF_DAY)
            problems.add("working hours lie within a day of " + MINUTES_OF_DAY + " minutes");
        if (closes <= opens)
            problems.add("working hours end after they begin");
        return problems;
    }
}

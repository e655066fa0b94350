/* SPDX-License-Identifier: MIT */
#include "benchctl/bundle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/units.h"
#include "cmd.h"

#define STATUS_MAX ((size_t)1 << 20)

struct status {
    struct sweep *sweep;
    struct json *live; /* status.json, or NULL */
    bool running;
    double age_s; /* since status.json was written */
};

static void status_release(struct status *s)
{
    json_free(s->live);
    sweep_free(s->sweep);
}

static int read_status(const char *dir, struct status *ret, struct error *err)
{
    CLEANUP_FREE char *path = path_join(dir, "status.json");
    struct error ignored = ERROR_INIT;
    struct stat st;

    if (!fs_is_dir(dir)) {
        (void)error_set(err, ERROR_USAGE, "'%s' is not a run directory", dir);
        return error_hint(err, "name the directory that `benchctl run` wrote");
    }
    ret->running = rundir_busy(dir);
    if (sweep_load(dir, &ret->sweep, err) < 0)
        return -1;
    if (stat(path, &st) == 0 && json_read_file(path, STATUS_MAX, &ret->live, &ignored) == 0)
        ret->age_s = (double)clock_wall_ns() / 1e9 - (double)st.st_mtim.tv_sec;
    return 0;
}

static const char *state_name(const struct status *s)
{
    return s->running ? "running" : s->sweep->complete ? "complete" : "interrupted";
}

/* Seconds that are left by now; NAN when unknown. */
static double eta_s(const struct status *s)
{
    double eta = json_get_number(s->live, "eta_s") - (s->age_s > 0 ? s->age_s : 0);

    return !s->running ? NAN : eta < 0 ? 0 : eta;
}

static void count_outcomes(const struct status *s, int64_t counts[OUTCOMES])
{
    memset(counts, 0, sizeof(*counts) * OUTCOMES);
    for (size_t i = 0; i < s->sweep->trial_count; i++)
        counts[s->sweep->trials[i].outcome]++;
}

/* How many there will be: by the plan, else by what the running sweep says. */
static double planned(const struct status *s)
{
    size_t order = json_len(json_get(s->sweep->plan, "order"));

    return order ? (double)order : json_get_number(s->live, "trials");
}

static struct json *as_json(const struct status *s, const char *dir)
{
    struct json *j = json_new_object(), *outcomes = json_new_object();
    const struct json *live = s->running ? s->live : NULL;
    int64_t counts[OUTCOMES];

    count_outcomes(s, counts);
    for (int o = 0; o < OUTCOMES; o++) {
        if (counts[o])
            json_set_int(outcomes, outcome_name((enum outcome)o), counts[o]);
    }
    json_set_text(j, "dir", dir);
    json_set_text(j, "name", json_get_text(s->sweep->info, "name"));
    json_set_text(j, "state", state_name(s));
    json_set_number(j, "trial", json_get_number(live, "trial"));
    json_set_number(j, "trials", planned(s));
    json_set_int(j, "sealed", (int64_t)s->sweep->trial_count);
    json_set_text(j, "scenario", json_get_text(live, "scenario"));
    json_set_text(j, "step", json_get_text(live, "step"));
    json_set_text(j, "started_at", json_get_text(s->live, "started_at"));
    json_set_number(j, "elapsed_s", live ? json_get_number(live, "elapsed_s") + s->age_s : NAN);
    json_set_number(j, "eta_s", eta_s(s));
    json_set(j, "outcomes", outcomes);
    return j;
}

static void add_text(struct strbuf *out, const char *label, const char *text)
{
    char shown[300];

    if (text)
        strbuf_addf(out, "%-10s %s\n", label, archive_printable(text, shown, sizeof(shown)));
}

static void add_seconds(struct strbuf *out, const char *label, double seconds)
{
    char text[64];

    if (!isnan(seconds) && seconds < 1e9)
        add_text(out, label, duration_human((int64_t)seconds * NS_PER_S, text));
}

static void as_text(const struct status *s, const char *dir, struct strbuf *out)
{
    const struct json *live = s->running ? s->live : NULL;
    int64_t counts[OUTCOMES];
    double trials = planned(s);

    add_text(out, "sweep", json_get_text(s->sweep->info, "name"));
    add_text(out, "state", state_name(s));
    strbuf_addf(out, "%-10s %zu", "sealed", s->sweep->trial_count);
    if (!isnan(trials))
        strbuf_addf(out, " of %.0f trials", trials);
    strbuf_addc(out, '\n');
    count_outcomes(s, counts);
    for (int o = 0, n = 0; o < OUTCOMES; o++) {
        if (counts[o])
            strbuf_addf(out, "%-10s %" PRId64 " %s\n", n++ ? "" : "outcomes", counts[o],
                        outcome_name((enum outcome)o));
    }
    if (live && !isnan(json_get_number(live, "trial")))
        strbuf_addf(out, "%-10s %.0f\n", "trial", json_get_number(live, "trial"));
    add_text(out, "scenario", json_get_text(live, "scenario"));
    add_text(out, "step", json_get_text(live, "step"));
    add_text(out, "started", json_get_text(live, "started_at"));
    add_seconds(out, "elapsed", live ? json_get_number(live, "elapsed_s") + s->age_s : NAN);
    add_seconds(out, "left", eta_s(s));
    if (!s->running && !s->sweep->complete)
        strbuf_addf(out, "%-10s benchctl resume %s\n", "go on with", dir);
}

static int cmd_status_main(int argc, char **argv)
{
    static const char *const formats[] = {"table", "json", NULL};
    CLEANUP_VALUE(status_release) struct status s = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct operands operands;
    const char *format = NULL;
    struct error err = ERROR_INIT;
    int code;
    const struct option options[] = {
        {"format", 0, OPTION_TEXT, &format, "FORMAT", "table or json"},
    };

    if (options_parse(&cmd_status, options, ARRAY_LEN(options), argc, argv, 1, 1, &operands, &code) < 0)
        return code;
    code = format_option(&cmd_status, format, formats);
    if (code < 0)
        return error_exit_code(ERROR_USAGE);
    if (read_status(operands.items[0], &s, &err) < 0)
        return report_error(&err);
    if (code == 1) {
        CLEANUP(json_free) struct json *j = as_json(&s, operands.items[0]);
        json_write(j, JSON_STYLE_INDENTED, &out);
        strbuf_trim_end(&out);
        strbuf_addc(&out, '\n');
    } else {
        as_text(&s, operands.items[0], &out);
    }
    return print_buffer(&out);
}

const struct command cmd_status = {
    "status",
    "status DIR [options]",
    "progress of a sweep, from another terminal",
    cmd_status_main,
};

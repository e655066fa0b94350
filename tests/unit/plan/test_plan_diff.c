/* SPDX-License-Identifier: MIT */
/* What an edit changed, as plan_diff() tells it. */
#include "written.h"

#define HEAD "benchctl: 1\nname: first\n"
#define APP "app: {image: \"lab/app:1\", memory: \"${memory}\", port: 8080, ready: {tcp: true}}\n"
#define LOAD "load: {adapter: idle, duration: 2s}\n"

static int note_difference(const struct plan_difference *d, void *data, struct error *err)
{
    struct strbuf *out = data;

    (void)err;
    strbuf_addf(out, "%c%s", "+-=~"[d->change], d -> id);
    if (d->change == PLAN_RENAMED)
        strbuf_addf(out, " was %s", d->old_id);
    for (size_t i = 0; i < d->setting_count; i++)
        strbuf_addf(out, " [%s: %s -> %s]", d->settings[i].path,
                    d->settings[i].before ? d->settings[i].before : "none",
                    d->settings[i].after ? d->settings[i].after : "none");
    strbuf_addc(out, '\n');
    return 0;
}

static void assert_diff(const char *before, const char *now, const char *expected, size_t same)
{
    CLEANUP_VALUE(written_release) struct written b = written_plan(before, "/lab/m.yaml");
    CLEANUP_VALUE(written_release) struct written n = written_plan(now, "/lab/m.yaml");
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;
    size_t unchanged = 99;

    if (plan_diff(n.p, b.p, note_difference, &out, &unchanged, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(strbuf_text(&out), expected);
    assert_int_equal(unchanged, same);
}

static void nothing_changed(void **state)
{
    (void)state;
    const char *m = HEAD "axes: {memory: [128m, 256m]}\n" APP LOAD;
    assert_diff(m, m, "", 2);
    assert_diff(m, HEAD "title: other words\naxes: {memory: [128m, 256m]}\n" APP LOAD "trials: 7\n", "", 2);
}

static void added_and_removed(void **state)
{
    (void)state;
    assert_diff(HEAD "axes: {memory: [128m, 256m]}\n" APP LOAD,
                HEAD "axes: {memory: [512m, 256m, 1g]}\n" APP LOAD, "+512m\n+1g\n-128m\n", 1);
}

static void changed_settings_name_their_paths(void **state)
{
    (void)state;
    assert_diff(HEAD "axes: {memory: [128m, 256m]}\n" APP LOAD,
                HEAD "axes: {memory: [128m, 256m]}\n" APP "load: {adapter: idle, duration: 3s}\n"
                     "overrides: [{when: {memory: 256m}, set: {app: {memory: 200m, env: {A: b}}}}]\n",
                "~128m [load.duration: 2s -> 3s]\n"
                "~256m [app.env.A: none -> b] [app.memory: 256m -> 200m] [load.duration: 2s -> 3s]\n",
                0);
}

static void secrets_are_not_shown(void **state)
{
    (void)state;
    CLEANUP_VALUE(written_release)
    struct written b =
        written_plan(HEAD "axes: {memory: [128m]}\n" LOAD
                          "app: {image: \"a:1\", port: 1, ready: {tcp: true}, env: {DB_PASSWORD: tulip}}\n",
                     "/lab/m.yaml");
    CLEANUP_VALUE(written_release)
    struct written n =
        written_plan(HEAD "axes: {memory: [128m]}\n" LOAD
                          "app: {image: \"a:2\", port: 1, ready: {tcp: true}, env: {DB_PASSWORD: daisy}}\n",
                     "/lab/m.yaml");
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;
    size_t same;
    assert_int_equal(plan_diff(n.p, b.p, note_difference, &out, &same, &err), 0);
    assert_string_equal(strbuf_text(&out), "~128m [app.image: a:1 -> a:2]\n");
}

/* A secret that a variable carries elsewhere affects the measurement: that it changed is said, not how. */
static void carried_secrets_are_hidden(void **state)
{
    (void)state;
    assert_diff(HEAD "axes: {memory: [128m]}\nvars: {my_secret: tulip}\n" LOAD
                     "app: {image: i, port: 1, ready: {tcp: true}, command: [a, '${my_secret}']}\n",
                HEAD "axes: {memory: [128m]}\nvars: {my_secret: daisy}\n" LOAD
                     "app: {image: i, port: 1, ready: {tcp: true}, command: [a, '-p${my_secret}'], env: {A: "
                     "'${my_secret}'}}\n",
                "~128m [app.env.A: none -> ***] [app.command: [\"a\",\"***\"] -> [\"a\",\"-p***\"]]\n", 0);
}

/* The same settings under another name are one scenario that was renamed; each old one is used once. */
static void renamed_scenarios(void **state)
{
    (void)state;
    const char *app = "app: {image: \"${image.tag}\", port: 1, ready: {tcp: true}}\n";
    CLEANUP_FREE char *before =
        xasprintf(HEAD "axes: {image: [{name: old, tag: \"a:1\"}, {name: b, tag: \"b:1\"}]}\n%s" LOAD, app);
    CLEANUP_FREE char *now = xasprintf(HEAD "axes: {image: [{name: new, tag: \"a:1\"}, {name: twin, tag: "
                                            "\"a:1\"}, {name: b, tag: \"b:1\"}]}\n%s" LOAD,
                                       app);
    assert_diff(before, now, "=new was old\n+twin\n", 1);
}

static void an_axis_more_renames_everything(void **state)
{
    (void)state;
    assert_diff(HEAD "axes: {memory: [128m, 256m]}\n" APP LOAD,
                HEAD "axes: {memory: [128m, 256m], note: [x, y]}\n" APP LOAD,
                "=128m/x was 128m\n+128m/y\n=256m/x was 256m\n+256m/y\n", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changed),
        cmocka_unit_test(added_and_removed),
        cmocka_unit_test(changed_settings_name_their_paths),
        cmocka_unit_test(secrets_are_not_shown),
        cmocka_unit_test(carried_secrets_are_hidden),
        cmocka_unit_test(renamed_scenarios),
        cmocka_unit_test(an_axis_more_renames_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Documents and data for other programs: nothing from a bundle becomes markup, script or formula. */
#include "fixed_sweep.h"

static const char *const axes[] = {"framework", "memory", NULL};

/* One trial whose every text is `evil`. */
static void make(struct maker *m, const char *evil)
{
    maker_begin(m, axes, NULL, NULL);
    json_set_text(m->sweep.info, "title", evil);
    struct trial *t = add_full(m, "x/y", OUTCOME_CRASHED, 1);
    t->scenario = t->reason = t->axes[0].value = t->axes[1].value = evil;
    t->started_at = t->load.generator = t->load.version = t->load.model = t->load.corrected = evil;
    t->steps[0].name = evil;
    fail_again_and_again(m, t, 3);
    t->reason = t->app.exits[0].cause = t->load.errors[0].kind = evil;
    add_verdict(m, t, evil, evil);
    t->validity[0].id = evil;
    add_check_of(m, t, evil, evil);
    t->checks[0].message = evil;
    t->notes = arena_array(m->sweep.arena, const char *, 1);
    t->notes[0] = evil;
    t->note_count = 1;
    t->services[0].role = evil;
    t->app.exits[0].evidence = t->app.effective.cpuset = t->app.effective.warnings = evil;
    t->app.effective.kernel.cpuset = arena_printf(m->sweep.arena, "%s!", evil);
    t->app.has_jvm = true;
    t->app.jvm = (struct jvm_facts){evil, evil, evil, 1e9, 2, evil};
    t->findings = arena_array(m->sweep.arena, struct finding, 1);
    t->findings[0] = (struct finding){evil, evil, 3000, 2, evil};
    t->finding_count = 1;
    t->validity[0].check = evil;
    add_metrics(m, t, 3);
    t->metrics[0].name = evil;
}

/* The head of a rerun names the bundle; that of any other sweep says nothing of one. */
static void test_the_original_of_a_rerun(void **state)
{
    static const char line[] = "run again: lab, started 2026-01-02T03:04:05Z, bundle lab.tar.zst, SHA-256 "
                               "0123456789abcdef";
    static const enum report_format formats[] = {REPORT_TABLE, REPORT_MARKDOWN, REPORT_HTML};
    CLEANUP_VALUE(maker_release) struct maker m;
    struct json *of = json_new_object();

    (void)state;
    make(&m, "x");
    CLEANUP_FREE char *before = rendered(&m, &(struct report_options){0}, REPORT_TABLE);
    assert_null(strstr(before, "run again"));
    json_set_text(of, "name", "lab");
    json_set_text(of, "started_at", "2026-01-02T03:04:05Z");
    json_set_text(of, "file", "lab.tar.zst");
    json_set_text(of, "sha256", "0123456789abcdef");
    json_set(m.sweep.info, "rerun_of", of);
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, formats[i]);
        assert_has(text, line);
    }
}

static void test_html(void **state)
{
    static const char evil[] = "<script>alert(1)</script>\"'&<img src=x onerror=y>\033\xe2\x80\xae";
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    make(&m, evil);
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "<img"));
    assert_null(strstr(html, "\xe2\x80\xae"));
    assert_null(strchr(html, '\033'));
    assert_has(html,
               "<title>&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;&lt;img src=x onerror=y&gt;?"
               "?</title>");
    assert_has(html, "content=\"default-src 'none'; style-src 'unsafe-inline'\"");
    assert_null(strstr(html, "http:"));
    assert_null(strstr(html, "src=\""));
    for (const char *at = strstr(html, "url("); at; at = strstr(at + 1, "url("))
        assert_int_equal(at[4], '#'); /* patterns of the page itself, nothing from elsewhere */
}

/* Tags are balanced: what is open is closed, in order. */
static void assert_balanced(const char *html)
{
    VEC(char *) open = {0};

    for (const char *at = strchr(html, '<'); at; at = strchr(at + 1, '<')) {
        size_t n = strspn(at + 1 + (at[1] == '/'), "abcdefghijklmnopqrstuvwxyz0123456789");
        CLEANUP_FREE char *name = xstrndup(at + 1 + (at[1] == '/'), n);
        if (at[1] == '!' || strcmp(name, "meta") == 0 || strchr(at, '>')[-1] == '/')
            continue;
        if (at[1] != '/') {
            vec_push(&open, TAKE(name));
            continue;
        }
        assert_true(open.len > 0);
        assert_string_equal(open.items[--open.len], name);
        free(open.items[open.len]);
    }
    assert_int_equal(open.len, 0);
    vec_release(&open);
}

static void test_html_is_well_formed(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;
    CLEANUP_VALUE(maker_release) struct maker hostile;

    (void)state;
    fixed_sweep(&m);
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_balanced(html);
    make(&hostile, "</td></tr></table></details>");
    CLEANUP_FREE char *other = rendered(&hostile, &(struct report_options){0}, REPORT_HTML);
    assert_balanced(other);
}

static void test_html_content(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    fixed_sweep(&m);
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    const char *findings = strstr(html, "<section class=\"alarm\">"),
               *results = strstr(html, "<h2>Results</h2>");
    assert_non_null(findings);
    assert_non_null(results);
    assert_true(findings < results);                      /* crashes come before speed */
    assert_has(html, "1500 ±2%<small>1480–1530</small>"); /* lowest and highest beside the spread */
    assert_has(html, "title=\"trial 2: 1530\"");          /* each start is a dot */
    assert_has(html, "<a href=\"#s1\">trials</a>");       /* and a finding leads to its trials */
    assert_has(html, "<details id=\"s1\"><summary>flask/blocking/80m: <span class=\"warn\">degraded</span>");
    assert_has(html, "app: 14 exits, up 45.0 % of the load");
    assert_has(html, "<td class=\"r\">0.40 s</td><td class=\"r\">137</td><td>oom</td>");
    assert_has(html, "<title>0.40 s: oom (exit code 137)</title>");
    assert_has(html, "3300 failed (3300 connect)");
    assert_has(html, "ready 961 ms · load 6.00 s · in all 13.5 s");
    assert_has(html, "abandoned writes: 17, not as expected (== 0)");
    assert_has(html, "WARN V9: the generator used 92 % of its CPU");
    assert_has(html, "not run</small>");
    assert_has(html, "at 0123456789abcdef0123456789abcdef01234567");
}

/* Thousands of trials: those that went wrong are told, the others are in the table. */
static void test_html_of_many(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    for (int i = 0; i < 400; i++)
        add_full(&m, arena_printf(m.sweep.arena, "f/%dm", i), i == 7 ? OUTCOME_CRASHED : OUTCOME_OK, 1);
    CLEANUP_FREE char *html = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_int_equal(occurrences(html, "<details id="), 1);
    assert_has(html, "<details id=\"s7\"><summary>f/7m");
    assert_has(html, "Of 400 trials only those that did not end well are here");
    assert_null(strstr(html, "<div class=\"chart\">")); /* 400 bars cannot be read */
    assert_has(html, "399m");
}

static void test_markdown(void **state)
{
    static const char evil[] = "a|b\n\n# c `d` *e* _f_ [g](h) <i> ~~j~~ $k$ &lt; \\";
    static const char safe[] =
        "a\\|b  \\# c \\`d\\` \\*e\\* \\_f\\_ \\[g\\](h) \\<i\\> \\~\\~j\\~\\~ \\$k\\$ \\&lt; \\\\";
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    make(&m, evil);
    CLEANUP_FREE char *md = rendered(&m, &(struct report_options){0}, REPORT_MARKDOWN);
    CLEANUP_FREE char *title = xasprintf("# %s\n", safe),
                      *row = xasprintf("| %s | %s | 1 | **crashed** |", safe, safe);
    assert_has(md, title);
    assert_has(md, row);
    /* every table's lines have as many cells as its head */
    for (const char *at = md; *at; at += strcspn(at, "\n") + 1) {
        if (*at != '|')
            continue;
        assert_true(text_starts(at, "| ") || text_starts(at, "|---"));
        assert_int_equal(at[strcspn(at, "\n") - 1], '|');
    }
    assert_null(strstr(md, "\n\n# c"));
}

/* Pasted into a pull request: long tables folded, results never, and nobody is called. */
static void test_markdown_to_paste(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    for (int i = 0; i < 30; i++) {
        struct trial *t = add_full(&m, arena_printf(m.sweep.arena, "f/%dm", i), OUTCOME_CRASHED, 1);
        fail_again_and_again(&m, t, 1);
        t->notes = arena_array(m.sweep.arena, const char *, 2);
        t->notes[0] = "- a note";
        t->notes[1] = "1. another";
        t->note_count = 2;
        if (i == 3)
            t->reason = "asked @somebody about #7, not a#b or c@ d";
    }
    CLEANUP_FREE char *md = rendered(&m, &(struct report_options){0}, REPORT_MARKDOWN);
    const char *failed =
                   strstr(md, "## What failed\n\n<details>\n<summary>30 rows</summary>\n\n| scenario |"),
               *end = failed ? strstr(failed, "\n\n</details>\n") : NULL;
    assert_non_null(end);
    assert_true(end < strstr(failed + 2, "\n## "));
    assert_has(md, "## Results\n\n| framework |");
    assert_int_equal(occurrences(md, "<details>"), occurrences(md, "</details>"));
    assert_has(md, "asked @<!-- -->somebody about \\#<!-- -->7, not a\\#b or c@ d");
    assert_has(md, "| \\#<!-- -->1 |");
    assert_has(md, "\n- \\- a note");
    assert_has(md, "\n- 1\\. another");
}

static void test_csv(void **state)
{
    static const struct {
        const char *evil, *field;
    } cases[] = {
        {"plain", "plain"},
        {"a,b", "\"a,b\""},
        {"say \"no\"", "\"say \"\"no\"\"\""},
        {"two\r\nlines", "\"two\r\nlines\""},
        {"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
        {"+1+2", "'+1+2"},
        {"@SUM(A1)", "'@SUM(A1)"},
        {"-2+3", "'-2+3"},
        {"\t=1", "'\t=1"},
        {"=1,2", "\"'=1,2\""},
        {"-5", "-5"}, /* a number is a number */
        {"+1.5", "+1.5"},
        {"-", "'-"},
        {"\x1b[2Jgone", "?[2Jgone"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_VALUE(maker_release) struct maker m;
        make(&m, cases[i].evil);
        CLEANUP_FREE char *csv = rendered(&m, &(struct report_options){0}, REPORT_CSV);
        CLEANUP_FREE char *begin = xasprintf("\r\n%s,%s,%s,1,1,crashed,crashed:1,%s,1000,1,1000,1000,,",
                                             cases[i].field, cases[i].field, cases[i].field, cases[i].field);
        if (!strstr(csv, begin))
            fail_msg("no '%s' in '%s'", begin, strstr(csv, "\r\n"));
    }
}

/* Every row has as many fields as the head, whatever the layout asked for. */
static void test_csv_shape(void **state)
{
    static const char *const rows[] = {"memory"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    fixed_sweep(&m);
    CLEANUP_FREE char *csv =
        rendered(&m, &(struct report_options){.rows = rows, .row_count = 1, .cols = "stack"}, REPORT_CSV);
    size_t fields = 0, lines = 0, n = 1;
    bool quoted = false;
    assert_true(text_starts(csv, "memory,framework,stack,scenario,trials,counted,outcome,outcomes,reason,"));
    assert_has(csv, ",metrics.gc_pauses.increase,");
    assert_has(csv, ",services.database.cpu_cores.avg,");
    assert_has(csv, ",checks.abandoned writes,");
    for (const char *at = csv; *at; at++) {
        quoted ^= *at == '"';
        n += *at == ',' && !quoted;
        if (*at != '\n' || quoted)
            continue;
        fields = fields ? fields : n;
        assert_int_equal(n, fields);
        lines++;
        n = 1;
    }
    assert_int_equal(lines, 1 + 7);
    assert_has(csv, "256m,express,blocking,express/blocking/256m,0,0,,,,"); /* not run: nothing is claimed */
    assert_has(csv, ",3,2,crashed,ok:2 crashed:1,");
}

/* Restarts are those of the worst trial, never a median: it would hide the crash. */
static void test_csv_findings(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    add(&m, "a/1", OUTCOME_OK, 1);
    add(&m, "a/1", OUTCOME_OK, 1);
    add(&m, "a/1", OUTCOME_CRASHED, 1)->app.restarts = 14;
    CLEANUP_FREE char *csv = rendered(&m, &(struct report_options){0}, REPORT_CSV);
    size_t column = 0;
    const char *head = csv, *row = strstr(csv, "\r\n") + 2;
    while (!text_starts(head, "app.restarts,")) {
        head += strcspn(head, ",") + 1;
        column++;
    }
    while (column--)
        row += strcspn(row, ",") + 1;
    assert_true(text_starts(row, "14,3,0,14,"));
}

static void test_json(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    fixed_sweep(&m);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_JSON);
    CLEANUP(json_free) struct json *j = parsed(text);
    assert_false(json_get_bool(j, "complete"));
    assert_int_equal(json_len(json_get(j, "scenarios")), 7);
    const struct json *mixed = json_pointer(j, "/scenarios/2"), *waiting = json_pointer(j, "/scenarios/4");
    assert_string_equal(json_get_text(mixed, "scenario"), "flask/async/256m");
    assert_string_equal(json_get_text(mixed, "outcome"), "crashed");
    assert_int_equal(json_get_int(mixed, "trials_counted"), 2);
    assert_int_equal(json_len(json_get(mixed, "trials")), 3);
    assert_int_equal(json_get_int(json_pointer(mixed, "/outcomes"), "crashed"), 1);
    assert_true(json_number(json_pointer(mixed, "/figures/load.goodput_rps/min")) == 3000);
    assert_true(json_number(json_pointer(mixed, "/figures/app.restarts/max")) == 5);
    assert_true(json_number(json_pointer(mixed, "/trials/2/app/restarts")) == 5);
    assert_true(isnan(json_number(json_pointer(mixed, "/figures/load.dropped/median"))));
    assert_null(json_get_text(waiting, "outcome"));
    assert_int_equal(json_len(json_get(waiting, "trials")), 0);
    assert_true(json_get_bool(json_pointer(j, "/scenarios/1"), "contaminated"));
}

static void test_formats(void **state)
{
    enum report_format f = REPORT_HTML;

    (void)state;
    assert_int_equal(report_format_parse("csv", &f), 0);
    assert_int_equal(f, REPORT_CSV);
    assert_int_equal(report_format_parse("pdf", &f), -1);
    assert_int_equal(f, REPORT_CSV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_original_of_a_rerun),
        cmocka_unit_test(test_html),
        cmocka_unit_test(test_html_is_well_formed),
        cmocka_unit_test(test_html_content),
        cmocka_unit_test(test_html_of_many),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_markdown_to_paste),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_csv_shape),
        cmocka_unit_test(test_csv_findings),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_formats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

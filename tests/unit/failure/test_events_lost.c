/* SPDX-License-Identifier: MIT */
/* Recorded events of a stream that broke and was opened again: what came before, what repeats the boundary,
 * and what is missing. */
#include "benchctl/base/fs.h"
#include "benchctl/base/json.h"
#include "ledger_fixture.h"

static void feed_event(struct ledger *l, const struct json *j)
{
    const struct json *attributes = json_get(json_get(j, "Actor"), "Attributes");
    const char *code = json_get_text(attributes, "exitCode");
    const struct engine_event ev = {.type = "container",
                                    .action = json_get_text(j, "Action"),
                                    .id = "c",
                                    .exit_code = code ? atoi(code) : -1,
                                    .wall_ns = json_get_int(j, "timeNano")};

    ledger_event(l, &ev);
}

/* Whole lines; a value that is cut is dropped. */
static void feed_file(struct ledger *l, const char *name)
{
    CLEANUP_FREE char *path = xasprintf("%s/cases/A10/%s", TESTS_DIR, name);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;

    assert_int_equal(fs_read(path, 1 << 20, &text, &err), 0);
    for (char *line = text.data; line && *line;) {
        CLEANUP(json_free) struct json *j = NULL;
        struct error cut = ERROR_INIT;
        size_t len = strcspn(line, "\n");
        if (json_parse(line, len, name, &j, &cut) == 0)
            feed_event(l, j);
        line += len + (line[len] == '\n');
    }
}

static void assert_restarted_once_after_exit_1(const struct ledger *l)
{
    assert_restarts(l, 1);
    assert_int_equal(l->start_events, 2);
    assert_int_equal(l->die_events, 2);
    assert_cause(l, 0, "exit 1");
    assert_cause(l, 1, "clean exit");
}

static void the_boundary_counts_once(void **state)
{
    LEDGER l = {0};

    (void)state;
    feed_file(&l, "part1.jsonl");
    ledger_gap(&l);
    feed_file(&l, "part2_after_reconnect.jsonl");
    assert_restarted_once_after_exit_1(&l);
    feed_file(&l, "part1.jsonl"); /* an engine may replay everything that it remembers */
    feed_file(&l, "part2_after_reconnect.jsonl");
    assert_restarted_once_after_exit_1(&l);
}

/* The second part is lost: inspect settles it, and a lost event cannot turn a failure into a pass. */
static void inspect_settles_what_was_lost(void **state)
{
    LEDGER l = {0}, nothing = {0};

    (void)state;
    feed_file(&l, "part1.jsonl");
    ledger_gap(&l);
    INSPECT(&l, "exited", INT64_C(1700000002999), INT64_C(1700000009000), 1, 0);
    assert_restarts(&l, 1);
    assert_true(l.terminal);
    assert_cause(&l, 0, "exit 1");
    assert_cause(&l, 1, "clean exit");
    ledger_gap(&nothing);
    INSPECT(&nothing, "exited", INT64_C(1700000002999), INT64_C(1700000009000), 1, 0);
    assert_restarts(&nothing, 1);
    assert_int_equal(ledger_deaths(&nothing), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_boundary_counts_once),
        cmocka_unit_test(inspect_settles_what_was_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

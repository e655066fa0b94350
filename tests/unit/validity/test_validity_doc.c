/* SPDX-License-Identifier: MIT */
/* docs/validity.md has the table of the rules as the code has it. With UPDATE_DOCS set it is written anew. */
#include <stdlib.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/strbuf.h"
#include "benchctl/validity.h"
#include "unit/check.h"

static const char page[] = SOURCE_DIR "/docs/validity.md";

/* By check number, in the table's order within one; those without a number at the end. */
static int number_of(const struct validity_rule *r)
{
    return r->check ? atoi(r->check + 1) : 1000;
}

static void add_rules(struct strbuf *out, enum validity_scope scope, const char *heading)
{
    strbuf_addf(out, "## %s\n\n| check | id | question | verdict | effect |\n|---|---|---|---|---|\n",
                heading);
    for (int n = 0; n <= 1000; n++)
        for (size_t i = 0; i < validity_rule_count; i++) {
            const struct validity_rule *r = &validity_rules[i];
            if (r->scope == scope && number_of(r) == n)
                strbuf_addf(out, "| %s | `%s` | %s | %s | %s |\n", r->check ? r->check : "", r->id,
                            r->question, r->rule, r->effect);
        }
}

static void the_table_is_the_page(void **state)
{
    static const char begin[] = "<!-- rules: begin -->\n", end[] = "<!-- rules: end -->\n";
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf made = STRBUF_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    if (fs_read(page, 1 << 20, &text, &err) < 0)
        fail_msg("%s", err.message);
    const char *from = strstr(strbuf_text(&text), begin), *to = strstr(strbuf_text(&text), end);
    assert_true(from && to && from < to);
    strbuf_add(&made, text.data, (size_t)(from - text.data) + strlen(begin));
    add_rules(&made, VALIDITY_OF_TRIAL, "Rules over one trial");
    strbuf_addc(&made, '\n');
    add_rules(&made, VALIDITY_OF_SWEEP, "Rules over a sweep");
    strbuf_addc(&made, '\n');
    add_rules(&made, VALIDITY_OF_TABLE, "Rules over published figures");
    strbuf_adds(&made, to);
    if (getenv("UPDATE_DOCS"))
        assert_int_equal(fs_write(page, made.data, made.len, &err), 0);
    else if (strcmp(made.data, text.data) != 0)
        fail_msg("docs/validity.md is not current: run this test with UPDATE_DOCS=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_table_is_the_page)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Every rule of plausibility: how many trials it found in order, doubtful, or not to be trusted, and of how
 * many it could not say. */
#include "report_internal.h"

#include <string.h>
#include "benchctl/validity.h"

enum { RULES_MAX = 200 }; /* rules that a made-up record may name */

struct rule_count {
    const char *check, *id, *question;
    size_t pass, warn, fail;
    bool once; /* about the whole sweep */
};

struct rules {
    struct report *r;
    struct name_index index;
    VEC(struct rule_count) items;
};

static struct rule_count *rule_of(struct rules *all, const char *id, const char *check)
{
    bool new;
    size_t at = *name_index_put(&all->index, id, all->items.len, &new);

    if (new &&at < RULES_MAX)
        vec_push(&all->items, (struct rule_count){.check = check, .id = id, .question = ""});
    return at < all->items.len ? &all->items.items[at] : NULL;
}

static size_t count_verdict(struct rules *all, const struct validity_result *v)
{
    struct rule_count *rule = v->id ? rule_of(all, v->id, v->check) : NULL;

    if (!rule)
        return 0;
    rule->pass += text_equal(v->verdict, "PASS");
    rule->warn += text_equal(v->verdict, "WARN");
    rule->fail += text_equal(v->verdict, "FAIL");
    return 1;
}

static struct field count_field(struct report *r, size_t n, enum tone tone)
{
    return (struct field){.text = n ? arena_printf(r->arena, "%zu", n) : "0", .tone = n ? tone : TONE_FAINT};
}

static void rule_row(struct report *r, struct table *t, const struct rule_count *rule)
{
    struct field *row = table_row(r, t);
    size_t judged = rule->pass + rule->warn + rule->fail, of = rule->once ? 1 : r->sweep->trial_count;

    row[0].text = rule->check ? rule->check : "";
    row[1].text = rule->once ? arena_printf(r->arena, "%s (sweep)", rule->id) : rule->id;
    row[6].text = rule->question;
    row[2] = count_field(r, rule->pass, TONE_GOOD);
    row[3] = count_field(r, rule->warn, TONE_WARN);
    row[4] = count_field(r, rule->fail, TONE_BAD);
    row[5] = count_field(r, of > judged ? of - judged : 0, TONE_PLAIN);
}

static void write_rules(struct rules *all)
{
    static const struct column columns[] = {
        {"check", "", false}, {"rule", "", false},      {"PASS", "", true},     {"WARN", "", true},
        {"FAIL", "", true},   {"not judged", "", true}, {"question", "", false}};
    struct report *r = all->r;
    struct section *s = section_new(r, "Rules of validity");

    s->detail = !r->rules;
    s->table = table_new(r, ARRAY_LEN(columns), 2);
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        s->table->columns[i] = columns[i];
    s->table->wide = true;
    vec_each (rule, &all->items)
        rule_row(r, s->table, rule);
    section_line(s, "Numbers of trials, or of sweeps: one. Not judged: what the rule looks at was not there, "
                    "or not measured.");
}

void list_rules(struct report *r)
{
    struct rules all = {.r = r};
    size_t judged = 0;

    for (size_t i = 0; i < validity_rule_count; i++) {
        const struct validity_rule *rule = &validity_rules[i];
        if (rule->scope == VALIDITY_OF_TABLE)
            continue; /* of figures that somebody published: no sweep is judged by it */
        struct rule_count *known = rule_of(&all, rule->id, rule->check);
        if (!known)
            continue;
        known->question = rule->question;
        known->once = rule->scope == VALIDITY_OF_SWEEP;
    }
    for (size_t i = 0; i < r->sweep->trial_count; i++) {
        const struct trial *t = &r->sweep->trials[i];
        for (size_t k = 0; k < t->validity_count; k++)
            judged += count_verdict(&all, &t->validity[k]);
    }
    for (size_t i = 0; i < r->verdict.len; i++)
        judged += count_verdict(&all, &r->verdict.results[i]);
    if (judged || r->rules)
        write_rules(&all);
    name_index_release(&all.index);
    vec_release(&all.items);
}

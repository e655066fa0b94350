/* SPDX-License-Identifier: MIT */
/* What published figures say about themselves: reading, the rules, and all of it together. */
#include "audit_internal.h"

#include <math.h>

enum { LINES_NAMED = 8 };

/* --- verdicts --- */

static const char *lines_text(struct audit_judge *j, const bool *marked)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const struct audit_table *t = j->t;
    size_t named = 0, all = 0;

    for (size_t i = 0; i < t->len;) {
        size_t end = i + 1;
        if (!marked[i]) {
            i++;
            continue;
        }
        while (end < t->len && marked[end])
            end++;
        all += end - i;
        if (named++ < LINES_NAMED)
            strbuf_addf(&text, end - i > 1 ? "%s%zu-%zu" : "%s%zu", text.len ? ", " : "", t->rows[i].line,
                        t->rows[end - 1].line);
        i = end;
    }
    if (!all || all == t->len)
        return NULL;
    return arena_printf(t->arena, "line%s %s%s", all > 1 ? "s" : "", strbuf_text(&text),
                        named > LINES_NAMED ? " and more" : "");
}

void audit_say(struct audit_judge *j, const char *id, const char *verdict, const bool *marked,
               const char *fmt, ...)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    va_list args;

    va_start(args, fmt);
    strbuf_vaddf(&text, fmt, args);
    va_end(args);
    sweep_say(&j->out, id, verdict, "%s", strbuf_text(&text));
    vec_push(&j->rows, marked ? lines_text(j, marked) : NULL);
}

const char *row_names(struct audit_judge *j, const bool *marked)
{
    struct names_list names = {0};

    for (size_t i = 0; i < j->t->len; i++)
        if (marked[i])
            names_add(&names, j->t->rows[i].name);
    return names_text(&names, j->t->arena);
}

/* --- figures of a row --- */

double row_rps(const struct audit_row *r)
{
    double ok = isnan(r->value[FIELD_OK]) ? r->value[FIELD_REQUESTS] : r->value[FIELD_OK];

    return isnan(r->value[FIELD_RPS]) ? ok / r->value[FIELD_DURATION] : r->value[FIELD_RPS];
}

double row_latency(const struct audit_row *r)
{
    return isnan(r->value[FIELD_MEAN]) ? r->value[FIELD_P50] : r->value[FIELD_MEAN];
}

double row_failed(const struct audit_row *r)
{
    if (!isnan(r->failed_pct))
        return r->failed_pct / 100;
    if (!isnan(r->ok_pct))
        return 1 - r->ok_pct / 100;
    if (!isnan(r->value[FIELD_FAILED]) && !isnan(r->value[FIELD_OK]))
        return r->value[FIELD_FAILED] / (r->value[FIELD_FAILED] + r->value[FIELD_OK]);
    return r->value[FIELD_REQUESTS] > 0 ? r->value[FIELD_FAILED] / r->value[FIELD_REQUESTS] : NAN;
}

bool row_open(const struct audit_row *r)
{
    return !isnan(r->value[FIELD_OFFERED]);
}

/* --- all of it --- */

static void in_order(struct audit_judge *j, struct audit *ret)
{
    size_t len = j->out.results.len;

    ret->results = arena_array(j->t->arena, struct audit_result, len + 1);
    for (size_t place = 0; place < validity_rule_count; place++)
        for (size_t i = 0; i < len; i++) {
            const struct validity_result *v = &j->out.results.items[i];
            if (!text_equal(v->id, validity_rules[place].id))
                continue;
            ret->results[ret->len++] =
                (struct audit_result){v->id, v->check, v->verdict, v->message, j->rows.items[i]};
            ret->failed += text_equal(v->verdict, "FAIL");
        }
    vec_release(&j->out.results);
    vec_release(&j->rows);
}

static const char *together(const struct audit_judge *j)
{
    if (!j->piled || (!j->floor && !j->idle))
        return NULL;
    return arena_printf(
        j->t->arena,
        "this workload could hardly tell these rows apart: they pile up at one throughput while "
        "%s%s%s; what was probably measured is what they share, not what they are",
        j->floor ? "most of the latency was there before" : "", j->floor && j->idle ? " and " : "",
        j->idle ? "the processors had nothing to do" : "");
}

int validity_audit(const char *bytes, size_t len, const char *name, const struct audit_options *o,
                   struct arena *a, struct audit *ret, struct error *err)
{
    struct audit_table t = {.arena = a, .name = name};
    struct audit_judge j = {.t = &t, .out = {.arena = a}};

    if (audit_read(bytes, len, o, &t, err) < 0)
        return -1;
    audit_load_rules(&j);
    audit_pile_rule(&j);
    audit_table_rules(&j);
    *ret = (struct audit){.rows = t.len, .columns = t.columns, .column_count = t.column_count};
    in_order(&j, ret);
    ret->words = together(&j);
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "audit_print.h"

#include <string.h>
#include "benchctl/base/json.h"
#include "benchctl/base/plain_text.h"

static const char *const scopes[] = {
    [VALIDITY_OF_TRIAL] = "trial",
    [VALIDITY_OF_SWEEP] = "sweep",
    [VALIDITY_OF_TABLE] = "published table",
};

/* A cell of Markdown: no pipe ends it. */
static void add_cell(struct strbuf *out, const char *text)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf plain = STRBUF_INIT;

    plain_add(&plain, text ? text : "", "");
    strbuf_adds(out, "| ");
    for (const char *p = strbuf_text(&plain); *p; p++) {
        if (*p == '|' || *p == '<' || *p == '`' || *p == '*')
            strbuf_addc(out, '\\');
        strbuf_addc(out, *p);
    }
    strbuf_addc(out, ' ');
}

static void add_json(const struct json *j, struct strbuf *out)
{
    json_write(j, JSON_STYLE_INDENTED, out);
    strbuf_addc(out, '\n');
}

/* --- results --- */

static bool has_result(const struct audit *r, const char *id)
{
    for (size_t i = 0; i < r->len; i++)
        if (strcmp(r->results[i].id, id) == 0)
            return true;
    return false;
}

/* "table-offered, table-floor": those that had nothing to judge. */
static void add_silent(const struct audit *r, struct strbuf *out)
{
    const char *between = "";

    for (size_t i = 0; i < validity_rule_count; i++) {
        const struct validity_rule *v = &validity_rules[i];
        if (v->scope != VALIDITY_OF_TABLE || has_result(r, v->id))
            continue;
        strbuf_addf(out, "%s%s", between, v->id);
        between = ", ";
    }
}

static void print_table(const struct audit *r, const char *file, struct strbuf *out)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT, silent = STRBUF_INIT;

    strbuf_addf(&text, "%s: %zu row%s\n", file, r->rows, r->rows == 1 ? "" : "s");
    for (size_t i = 0; i < r->column_count; i++)
        strbuf_addf(&text, "%s%s (%s)", i ? ", " : "columns: ", r->columns[i].name, r->columns[i].meaning);
    strbuf_adds(&text, "\n\n");
    for (size_t i = 0; i < r->len; i++) {
        const struct audit_result *v = &r->results[i];
        strbuf_addf(&text, "%s %s%s%s: %s%s%s%s\n", v->verdict, v->check ? v->check : "", v->check ? " " : "",
                    v->id, v->message, v->rows ? " (" : "", v->rows ? v->rows : "", v->rows ? ")" : "");
    }
    if (r->words)
        strbuf_addf(&text, "\ntaken together: %s\n", r->words);
    add_silent(r, &silent);
    if (silent.len)
        strbuf_addf(&text, "\nnothing to judge for %s\n", strbuf_text(&silent));
    plain_add(out, strbuf_text(&text), "\n");
}

static void print_markdown(const struct audit *r, struct strbuf *out)
{
    strbuf_adds(out, "| verdict | check | rule | rows | what was found |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < r->len; i++) {
        const struct audit_result *v = &r->results[i];
        add_cell(out, v->verdict);
        add_cell(out, v->check);
        add_cell(out, v->id);
        add_cell(out, v->rows ? v->rows : "all");
        add_cell(out, v->message);
        strbuf_adds(out, "|\n");
    }
    if (r->words) {
        strbuf_adds(out, "\nTaken together: ");
        plain_add(out, r->words, "");
        strbuf_adds(out, ".\n");
    }
}

static void print_json(const struct audit *r, const char *file, struct strbuf *out)
{
    CLEANUP(json_free) struct json *j = json_new_object();
    struct json *columns = json_new_array(), *results = json_new_array();

    for (size_t i = 0; i < r->column_count; i++) {
        struct json *c = json_new_object();
        json_set_text(c, "name", r->columns[i].name);
        json_set_text(c, "meaning", r->columns[i].meaning);
        json_append(columns, c);
    }
    for (size_t i = 0; i < r->len; i++) {
        struct json *v = json_new_object();
        json_set_text(v, "check", r->results[i].check);
        json_set_text(v, "id", r->results[i].id);
        json_set_text(v, "verdict", r->results[i].verdict);
        json_set_text(v, "rows", r->results[i].rows);
        json_set_text(v, "message", r->results[i].message);
        json_append(results, v);
    }
    json_set_text(j, "file", file);
    json_set_int(j, "rows", (int64_t)r->rows);
    json_set(j, "columns", columns);
    json_set(j, "results", results);
    json_set_text(j, "words", r->words);
    json_set_int(j, "failed", (int64_t)r->failed);
    add_json(j, out);
}

void audit_print(const struct audit *r, const char *file, enum audit_style style, struct strbuf *out)
{
    if (style == AUDIT_JSON)
        print_json(r, file, out);
    else if (style == AUDIT_MARKDOWN)
        print_markdown(r, out);
    else
        print_table(r, file, out);
}

/* --- the rules --- */

static void rules_json(struct strbuf *out)
{
    CLEANUP(json_free) struct json *all = json_new_array();

    for (size_t i = 0; i < validity_rule_count; i++) {
        const struct validity_rule *v = &validity_rules[i];
        struct json *j = json_new_object();
        json_set_text(j, "check", v->check);
        json_set_text(j, "id", v->id);
        json_set_text(j, "scope", scopes[v->scope]);
        json_set_text(j, "question", v->question);
        json_set_text(j, "rule", v->rule);
        json_set_text(j, "effect", v->effect);
        json_append(all, j);
    }
    add_json(all, out);
}

static void rules_markdown(struct strbuf *out)
{
    strbuf_adds(out, "| check | id | over a | question | rule | effect |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < validity_rule_count; i++) {
        const struct validity_rule *v = &validity_rules[i];
        add_cell(out, v->check);
        add_cell(out, v->id);
        add_cell(out, scopes[v->scope]);
        add_cell(out, v->question);
        add_cell(out, v->rule);
        add_cell(out, v->effect);
        strbuf_adds(out, "|\n");
    }
}

static void rules_text(struct strbuf *out)
{
    for (size_t i = 0; i < validity_rule_count; i++) {
        const struct validity_rule *v = &validity_rules[i];
        strbuf_addf(out, "%s%s%s (over a %s): %s\n    %s\n    %s\n", v->check ? v->check : "",
                    v->check ? " " : "", v->id, scopes[v->scope], v->question, v->rule, v->effect);
    }
}

void audit_print_rules(enum audit_style style, struct strbuf *out)
{
    if (style == AUDIT_JSON)
        rules_json(out);
    else if (style == AUDIT_MARKDOWN)
        rules_markdown(out);
    else
        rules_text(out);
}

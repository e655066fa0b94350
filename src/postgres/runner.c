/* SPDX-License-Identifier: MIT */
#include "runner.h"

#include <stdlib.h>
#include <string.h>
#include "script.h"

struct run {
    struct script script;
    struct statement statement;
    struct connection *c;
    struct strbuf sql; /* the statement, terminated */
    int data_line;     /* where the COPY data began; 0: none */
};

/* "COPY items, line 3, column id" in the context of an error: the third line of the data. */
static int failing_line(const struct run *run, const PGresult *r)
{
    const char *position = PQresultErrorField(r, PG_DIAG_STATEMENT_POSITION);
    const char *context = PQresultErrorField(r, PG_DIAG_CONTEXT);

    if (run->data_line && context && strncmp(context, "COPY ", 5) == 0) {
        const char *at = strstr(context, ", line ");
        int line = at ? (int)strtol(at + 7, NULL, 10) : 0;
        if (line > 0)
            return run->data_line + line - 1;
    }
    return statement_line(&run->statement, position ? (int)strtol(position, NULL, 10) : 0);
}

static int statement_failed(struct run *run, const PGresult *r, struct error *err)
{
    char snippet[SNIPPET_SIZE];
    int line = failing_line(run, r);

    (void)connection_fail(run->c, r, ERROR_INVALID, err);
    statement_snippet(&run->statement, snippet);
    size_t len = strlen(err->message);
    (void)snprintf(err->message + len, sizeof(err->message) - len, " in '%s'", snippet);
    (void)error_wrap(err, "%s:%d", run->script.name, line);
    if (strcmp(connection_sqlstate(run->c), "42704") != 0)
        return -1;
    if (strstr(snippet, "OWNER TO"))
        return error_hint(err, "the role is not on this server: dump with --no-owner --no-privileges");
    if (strncmp(snippet, "SET ", 4) == 0)
        return error_hint(err, "the dump was made for a newer server: leave the line out");
    return -1;
}

static int lost(struct run *run, struct error *err)
{
    char snippet[SNIPPET_SIZE];

    statement_snippet(&run->statement, snippet);
    return error_wrap(err, "%s:%d: '%s'", run->script.name, run->statement.line, snippet);
}

static int copy_in(struct run *run, struct error *err)
{
    const char *data;
    size_t len;

    if (script_data(&run->script, &data, &len, &run->data_line, err) < 0)
        return -1;
    if (connection_put(run->c, data, len, err) < 0 || connection_put_end(run->c, NULL, err) < 0)
        return lost(run, err);
    return 0;
}

static int copy_out(struct run *run, struct error *err)
{
    for (;;) {
        char *row = NULL;
        int len;
        if (connection_take(run->c, &row, &len, err) < 0)
            return lost(run, err);
        if (len < 0)
            return 0;
        PQfreemem(row);
    }
}

/* Rows come one by one and are dropped: a long SELECT in a script does not fill our memory. */
static int run_statement(struct run *run, struct error *err)
{
    bool failed = false;

    strbuf_clear(&run->sql);
    strbuf_add(&run->sql, run->statement.text, run->statement.len);
    run->data_line = 0;
    if (run->sql.overflow)
        return error_set(err, ERROR_INVALID, "%s:%d: statement is too long", run->script.name,
                         run->statement.line);
    if (connection_send(run->c, strbuf_text(&run->sql), err) < 0)
        return lost(run, err);
    (void)PQsetSingleRowMode(connection_pg(run->c));
    for (;;) {
        CLEANUP(PQclear) PGresult *r = NULL;
        if (connection_result(run->c, &r, err) < 0)
            return lost(run, err);
        if (!r)
            return failed ? -1 : 0;
        if (result_is_error(r) && !failed) {
            (void)statement_failed(run, r, err);
            failed = true;
        } else if (PQresultStatus(r) == PGRES_COPY_IN && copy_in(run, err) < 0)
            return -1;
        else if (PQresultStatus(r) == PGRES_COPY_OUT && copy_out(run, err) < 0)
            return -1;
    }
}

static int run_all(struct run *run, struct error *err)
{
    for (;;) {
        const char *standard = PQparameterStatus(connection_pg(run->c), "standard_conforming_strings");
        bool end;
        run->script.escapes = standard && strcmp(standard, "off") == 0;
        if (script_next(&run->script, &run->statement, &end, err) < 0)
            return -1;
        if (end)
            break;
        if (run_statement(run, err) < 0)
            return -1;
    }
    if (PQtransactionStatus(connection_pg(run->c)) == PQTRANS_IDLE)
        return 0;
    (void)error_set(err, ERROR_INVALID, "%s: the file ends inside a transaction", run->script.name);
    return error_hint(err, "a BEGIN has no COMMIT: nothing of it would be kept");
}

static int run_script(struct postgres *p, const char *database, const struct postgres_script *s,
                      struct error *err)
{
    struct run run = {0};
    CLEANUP(connection_free) struct connection *c = NULL;

    if (script_open(&run.script, s->name, s->sql, s->len, err) < 0 ||
        postgres_session(p, database, &c, err) < 0)
        return -1;
    run.c = c;
    int r = run_all(&run, err);
    strbuf_release(&run.sql);
    return r;
}

int run_scripts(struct postgres *p, const char *database, const struct postgres_script *scripts, size_t count,
                struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (run_script(p, database, &scripts[i], err) < 0)
            return -1;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "events.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "timeline.h"

#define EVENTS_MAX 200 /* kept of one trial: a page is for people, the file has all */
#define LINE_MAX_BYTES ((size_t)4096)

static bool starts_load(const struct json *j)
{
    return text_equal(json_get_text(j, "event"), "load begin");
}

/* The engine's own time of an event where it has one: it is nearer to what happened. */
static double moment_of(const struct json *j)
{
    double engine = json_get_number(j, "engine_at_ms");

    return isnan(engine) ? json_get_number(j, "at_ms") : engine;
}

static void add_event(struct report *r, struct trial_events *e, const struct json *j)
{
    const char *event = json_get_text(j, "event"), *role = json_get_text(j, "role");

    if (!event)
        return;
    if (e->len == EVENTS_MAX) {
        e->more++;
        return;
    }
    e->items[e->len++] = (struct trial_event){
        .at_ms = moment_of(j),
        .event = arena_strdup(r->arena, event),
        .role = arena_strdup(r->arena, role ? role : ""),
        .code = json_get_number(j, "code"),
        .signal = json_get_number(j, "signal"),
    };
}

/* Keeps each line that is JSON; others are passed over. When the load began; NAN: it never did. */
static double read_lines(struct report *r, const struct sweep_file *f, struct trial_events *e)
{
    double begin = NAN;

    for (const char *at = f->bytes, *end = at + f->len; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        CLEANUP(json_free) struct json *j = NULL;
        struct error ignored = ERROR_INIT;
        if (stop > at && (size_t)(stop - at) <= LINE_MAX_BYTES &&
            json_parse(at, (size_t)(stop - at), f->name, &j, &ignored) == 0) {
            if (starts_load(j) && isnan(begin))
                begin = json_get_number(j, "at_ms");
            add_event(r, e, j);
        }
        at = stop + 1;
    }
    return begin;
}

void events_add(struct report *r, const struct sweep_file *f)
{
    if (r->events_kept >= PAGE_TRIALS_MAX || !trial_failed(&r->sweep->trials[f->trial]))
        return;
    r->events_kept++;
    struct trial_events *e = arena_new_of(r->arena, struct trial_events);
    e->items = arena_array(r->arena, struct trial_event, EVENTS_MAX);
    double begin = read_lines(r, f, e);
    e->since_load = !isnan(begin);
    for (size_t i = 0; i < e->len && e->since_load; i++)
        e->items[i].at_ms -= begin;
    r->events[f->trial] = e;
}

void html_events(const struct report *r, const struct trial *t, struct strbuf *out)
{
    const struct trial_events *e = r->events ? r->events[t - r->sweep->trials] : NULL;
    char text[32];

    if (!e || !e->len)
        return;
    strbuf_addf(out,
                "<details><summary>events as they came in</summary><table><thead><tr><th class=\"r\">%s</th>"
                "<th>whose</th><th>event</th></tr></thead><tbody>\n",
                e->since_load ? "since the load began" : "since the trial began");
    for (size_t i = 0; i < e->len; i++) {
        strbuf_addf(out, "<tr><td class=\"r\">%s</td><td>", seconds_text(e->items[i].at_ms, text));
        html_text(out, e->items[i].role);
        strbuf_adds(out, "</td><td>");
        html_text(out, e->items[i].event);
        if (isfinite(e->items[i].code))
            strbuf_addf(out, ", exit code %.15g", e->items[i].code);
        if (isfinite(e->items[i].signal))
            strbuf_addf(out, ", signal %.15g", e->items[i].signal);
        strbuf_adds(out, "</td></tr>\n");
    }
    strbuf_adds(out, "</tbody></table>\n");
    if (e->more)
        strbuf_addf(out, "<p>and %zu more in events.ndjson</p>\n", e->more);
    strbuf_adds(out, "</details>\n");
}

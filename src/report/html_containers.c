/* SPDX-License-Identifier: MIT */
/* In a trial's record: each container's course, how it ended and by whose word, what it was given. */
#include "timeline.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/units.h"

#define EXITS_MAX 200 /* of one container */

/* --- how often, how long --- */

static void add_duration(const char *what, double ms, struct strbuf *out)
{
    char text[32];

    if (ms > 0)
        strbuf_addf(out, ", %s %s", what, seconds_text(ms, text));
}

static void summary_line(const struct trial *t, const struct container_result *c, struct strbuf *out)
{
    char text[32];

    strbuf_adds(out, "<p>");
    html_text(out, container_role(t, c));
    strbuf_addf(out, ": %zu exit%s", c->exit_count, plural(c->exit_count));
    if (isfinite(c->uptime_pct))
        strbuf_addf(out, ", up %.1f %% of the load", c->uptime_pct);
    add_duration("down for", c->down_ms, out);
    add_duration("unresponsive for", c->unresponsive_ms, out);
    if (isfinite(c->time_to_failure_ms))
        strbuf_addf(out, ", first failure %s after its start", seconds_text(c->time_to_failure_ms, text));
    strbuf_adds(out, "</p>\n");
}

static void add_witness(const char *what, double count, const char **between, struct strbuf *out)
{
    if (isnan(count))
        return;
    strbuf_addf(out, "%s%s %.15g", *between, what, count);
    *between = ", ";
}

static void witness_line(const struct container_result *c, struct strbuf *out)
{
    const struct witnesses *w = &c->witnesses;
    const char *const begin = "<p>witnesses: ", *between = begin;

    add_witness("start events", w->start_events, &between, out);
    add_witness("die events", w->die_events, &between, out);
    add_witness("oom events", w->oom_events, &between, out);
    add_witness("inspect's RestartCount", w->restart_count, &between, out);
    add_witness("starts that inspect showed", w->distinct_starts, &between, out);
    add_witness("inspect's OOMKilled", w->oom_flag, &between, out);
    add_witness("kernel's oom_kill", w->kernel_oom_kills, &between, out);
    if (between != begin)
        strbuf_adds(out, "</p>\n");
}

/* --- each end --- */

static void exit_row(const struct report *r, const struct death *d, struct strbuf *out)
{
    char text[32];

    strbuf_addf(out, "<tr><td class=\"r\">%s</td><td class=\"r\">%d</td><td>",
                seconds_text(d->exit->at_ms, text), d->exit->code);
    html_text(out, d->exit->cause ? d->exit->cause : "unknown");
    strbuf_addf(out, "</td><td class=\"r\">%s</td><td class=\"r\">", down_text(r, d));
    if (isfinite(d->requests))
        strbuf_addf(out, "%.15g", d->requests);
    else
        strbuf_adds(out, NOT_MEASURED);
    strbuf_adds(out, "</td><td class=\"wrap\">");
    html_text(out, d->exit->evidence ? d->exit->evidence : NOT_MEASURED);
    strbuf_adds(out, "</td></tr>\n");
}

static void exits(const struct report *r, const struct container_result *c, struct strbuf *out)
{
    const struct death *deaths = deaths_of(c, r->arena);

    if (!c->exit_count)
        return;
    strbuf_adds(out,
                "<div class=\"scroll\"><table><thead><tr><th class=\"r\">since the load began</th><th "
                "class=\"r\">exit code</th><th>cause</th><th class=\"r\">down for</th><th class=\"r\">served "
                "before</th><th>evidence</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < c->exit_count && i < EXITS_MAX; i++)
        exit_row(r, &deaths[i], out);
    strbuf_adds(out, "</tbody></table></div>\n");
    if (c->exit_count > EXITS_MAX)
        strbuf_addf(out, "<p>and %zu more</p>\n", c->exit_count - EXITS_MAX);
}

static void silences(const struct container_result *c, struct strbuf *out)
{
    char from[32], to[32];

    for (size_t i = 0; i < c->silence_count && i < EXITS_MAX; i++)
        strbuf_addf(out, "<p>unresponsive from %s to %s</p>\n", seconds_text(c->silences[i].from_ms, from),
                    isnan(c->silences[i].to_ms) ? "the end" : seconds_text(c->silences[i].to_ms, to));
    if (c->silence_count > EXITS_MAX)
        strbuf_addf(out, "<p>and %zu more silences</p>\n", c->silence_count - EXITS_MAX);
}

/* --- what a JVM chose --- */

static void jvm_line(const struct container_result *c, struct strbuf *out)
{
    const struct jvm_facts *j = &c->jvm;
    char size[32];

    if (!c->has_jvm)
        return;
    strbuf_adds(out, "<p>JVM ");
    html_text(out, j->version ? j->version : "of unknown version");
    strbuf_adds(out, j->collector ? ", " : "");
    html_text(out, j->collector ? j->collector : "");
    if (isfinite(j->heap_max_bytes))
        strbuf_addf(out, ", heap up to %s", size_human(j->heap_max_bytes, size));
    if (isfinite(j->cpus))
        strbuf_addf(out, ", %.3g CPUs", j->cpus);
    if (j->options && j->options[0]) {
        strbuf_adds(out, ", options ");
        html_text(out, j->options);
    }
    if (j->source) {
        strbuf_adds(out, " (by ");
        html_text(out, j->source);
        strbuf_addc(out, ')');
    }
    strbuf_adds(out, "</p>\n");
}

void html_containers(const struct report *r, const struct trial *t, struct strbuf *out)
{
    const struct container_result *c;

    for (size_t i = 0; (c = trial_container(t, i)); i++) {
        bool failed = container_failed(c) || c->exit_count;
        if (failed)
            summary_line(t, c, out);
        if (failed || (i == 0 && c->life_count))
            html_timeline(r, t, c, out);
        if (failed) {
            exits(r, c, out);
            silences(c, out);
            witness_line(c, out);
        }
        jvm_line(c, out);
    }
}

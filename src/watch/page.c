/* SPDX-License-Identifier: MIT */
/* status.html: one page that needs nothing else, for a browser that is left open. */
#include <stdio.h>
#include "benchctl/base/units.h"
#include "internal.h"

#define RELOAD_S "5" /* as often as a heartbeat */
/* A header as a server would send it: even a mistake in escaping could run and load nothing. */
#define POLICY "default-src 'none'; style-src 'unsafe-inline'"

static const char style[] =
    ":root{--back:#fff;--ink:#1d2330;--mute:#5d6676;--line:#e1e5ec;--good:#19753a;--warn:#8a5a00;--bad:#"
    "a61b1b;"
    "--bar:#3b6fb5}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#14171d;--ink:#dfe3ea;--mute:#9aa3b3;--line:#2d3440;"
    "--good:#6bd08e;--warn:#f0c060;--bad:#ff9b9b;--bar:#5b8fd6}}\n"
    "body{font:16px/1.45 system-ui,sans-serif;margin:1rem auto;max-width:44rem;padding:0 1rem;"
    "color:var(--ink);background:var(--back);overflow-wrap:anywhere}\n"
    "h1{font-size:1.35rem;margin:.2rem 0}p{margin:.2rem 0 .8rem;color:var(--mute)}\n"
    ".state{font-weight:600;font-size:1.1rem;color:var(--ink)}.good{color:var(--good)}.warn{color:var(--warn)"
    "}"
    ".bad{color:var(--bad)}\n"
    "progress{width:100%;height:1.1rem;accent-color:var(--bar)}\n"
    "dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.15rem 1rem;margin:.8rem 0;"
    "font-variant-numeric:tabular-nums}dt{color:var(--mute)}dd{margin:0}\n"
    "small{color:var(--mute)}\n";

static void add(struct strbuf *out, const char *text)
{
    for (const char *p = text; p && *p; p++) {
        switch (*p) {
        case '<':
            strbuf_adds(out, "&lt;");
            break;
        case '>':
            strbuf_adds(out, "&gt;");
            break;
        case '&':
            strbuf_adds(out, "&amp;");
            break;
        case '"':
            strbuf_adds(out, "&quot;");
            break;
        default:
            strbuf_addc(out, (unsigned char)*p < ' ' || *p == 127 ? ' ' : *p);
        }
    }
}

static void item(struct strbuf *out, const char *label, const char *text)
{
    if (!text || !text[0])
        return;
    strbuf_addf(out, "<dt>%s</dt><dd>", label);
    add(out, text);
    strbuf_adds(out, "</dd>\n");
}

static void item_seconds(struct strbuf *out, const char *label, double s)
{
    char text[32];

    if (s >= 0 && s < 1e9)
        item(out, label, duration_human((int64_t)s * NS_PER_S, text));
}

static const char *state_class(enum watch_state s)
{
    return s == WATCH_COMPLETE ? "good" : s == WATCH_FAILED ? "bad" : s == WATCH_RUNNING ? "" : "warn";
}

static const char *outcome_class(const char *outcome)
{
    enum outcome o;

    if (!outcome || outcome_parse(outcome, &o) < 0 || o == OUTCOME_SKIPPED)
        return "";
    return o == OUTCOME_OK ? "good" : o == OUTCOME_DEGRADED || o == OUTCOME_NOT_READY ? "warn" : "bad";
}

static void item_trial(struct strbuf *out, const char *label, const struct watch_trial *t)
{
    if (!t->scenario)
        return;
    strbuf_addf(out, "<dt>%s</dt><dd>", label);
    add(out, t->scenario);
    strbuf_addf(out, " #%d: <span class=\"%s\">", t->trial, outcome_class(t->outcome));
    add(out, t->outcome);
    strbuf_adds(out, "</span>");
    if (t->reason && t->reason[0]) {
        strbuf_adds(out, "<br><small>");
        add(out, t->reason);
        strbuf_adds(out, "</small>");
    }
    strbuf_adds(out, "</dd>\n");
}

static void outcomes(const struct watch_status *s, struct strbuf *out)
{
    const char *between = "";

    strbuf_adds(out, "<dt>outcomes</dt><dd>");
    for (int o = 0; o < OUTCOMES; o++) {
        const char *name = outcome_name((enum outcome)o);
        if (!(s->outcomes[o] > 0))
            continue;
        strbuf_addf(out, "%s<span class=\"%s\">%.0f %s</span>", between, outcome_class(name), s->outcomes[o],
                    name);
        between = ", ";
    }
    strbuf_addf(out, "%s</dd>\n", between[0] ? "" : "none yet");
}

static void head(const struct watch_status *s, struct strbuf *out)
{
    strbuf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY "\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    if (!watch_is_over(s->state))
        strbuf_adds(out, "<meta http-equiv=\"refresh\" content=\"" RELOAD_S "\">\n");
    strbuf_adds(out, "<title>");
    if (s->trials > 0)
        strbuf_addf(out, "%.0f/%.0f ", s->sealed > 0 ? s->sealed : 0, s->trials);
    add(out, s->name);
    strbuf_addf(out, ": %s</title>\n<style>\n%s</style></head><body>\n<h1>", watch_state_name(s->state),
                style);
    add(out, s->title && s->title[0] ? s->title : s->name);
    strbuf_addf(out, "</h1>\n<p><span class=\"state %s\">%s</span>", state_class(s->state),
                watch_state_name(s->state));
    if (s->reason) {
        strbuf_adds(out, ": ");
        add(out, s->reason);
    }
    strbuf_adds(out, "</p>\n");
}

static void how_far(const struct watch_status *s, struct strbuf *out)
{
    double sealed = s->sealed > 0 ? s->sealed : 0;

    if (s->trials > 0)
        strbuf_addf(out, "<progress max=\"%.0f\" value=\"%.0f\"></progress>\n<p>%.0f of %s%.0f trials</p>\n",
                    s->trials, sealed, sealed, s->at_most ? "at most " : "", s->trials);
}

void watch_status_page(const struct watch_status *s, struct strbuf *out)
{
    char text[64], size[32];

    head(s, out);
    how_far(s, out);
    strbuf_adds(out, "<dl>\n");
    item(out, "scenario", s->scenario);
    item(out, "step", s->step);
    item(out, "step since", s->step_since);
    outcomes(s, out);
    item_trial(out, "last trial", &s->last);
    item_trial(out, "first failure", &s->first_failure);
    item(out, "started", s->started_at);
    item_seconds(out, "elapsed", s->elapsed_s);
    item_seconds(out, "left, about", s->eta_s);
    item(out, "done at about", s->eta_at);
    item(out, "ended", s->ended_at);
    if (s->free_bytes >= 0)
        item(out, "free disk space", size_human(s->free_bytes, size));
    item(out, "host", s->host);
    if (s->pid > 0) {
        (void)snprintf(text, sizeof(text), "%lld", (long long)s->pid);
        item(out, "process", text);
    }
    item(out, "benchctl", s->version);
    item(out, "as of", s->heartbeat_at);
    strbuf_adds(out, "</dl>\n");
    if (!watch_is_over(s->state))
        strbuf_adds(out,
                    "<p><small>Reloads itself every " RELOAD_S " s. When &quot;as of&quot; stays behind, "
                    "the sweep hangs or has been killed: <code>benchctl status</code> tells "
                    "which.</small></p>\n");
    strbuf_adds(out, "</body></html>\n");
}

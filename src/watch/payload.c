/* SPDX-License-Identifier: MIT */
/* The body of a webhook: plain fields, and a sentence that chat services show. */
#include <stdio.h>
#include <string.h>
#include "benchctl/base/secrets.h"
#include "benchctl/base/units.h"
#include "internal.h"

#define TEXT_MAX 300 /* of any text in it: a name, a scenario, a reason */

static const char *const events[] = {
    [WATCH_EVENT_STARTED] = "started",
    [WATCH_EVENT_FAILED] = "failed",
    [WATCH_EVENT_STALLED] = "stalled",
    [WATCH_EVENT_FINISHED] = "finished",
};

const char *watch_event_name(enum watch_event e)
{
    return events[e];
}

int watch_event_parse(const char *text, enum watch_event *ret)
{
    for (int i = 0; i < WATCH_EVENTS; i++) {
        if (strcmp(text, events[i]) == 0) {
            *ret = (enum watch_event)i;
            return 0;
        }
    }
    return -1;
}

/* Not in the middle of a character. */
static size_t cut(const char *text, size_t max)
{
    size_t len = strlen(text);

    if (len <= max)
        return len;
    while (max && ((unsigned char)text[max] & 0xc0) == 0x80)
        max--;
    return max;
}

/* Chat services take `<!channel>`, `@everyone` and links out of a text: what comes from a log or a matrix
 * must call nobody. */
static void add_tame(struct strbuf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '<')
            strbuf_adds(out, "\u2039");
        else if (c == '>')
            strbuf_adds(out, "\u203a");
        else if (c == '@')
            strbuf_adds(out, "\uff20");
        else
            strbuf_addc(out, c < ' ' || c == 127 ? ' ' : (char)c);
    }
}

static void add_text(struct strbuf *out, const char *text)
{
    if (text)
        add_tame(out, text, cut(text, TEXT_MAX));
}

void payload_add_reason(struct strbuf *out, const char *reason)
{
    static const char *const quotes[] = {"its last lines:", "it said:", "\n"};
    size_t len = strlen(reason);

    for (size_t i = 0; i < sizeof(quotes) / sizeof(quotes[0]); i++) {
        const char *at = strstr(reason, quotes[i]);
        if (at && (size_t)(at - reason) < len)
            len = (size_t)(at - reason);
    }
    while (len && strchr("; ,:", reason[len - 1]))
        len--;
    add_tame(out, reason, len < TEXT_MAX ? len : cut(reason, TEXT_MAX));
}

static void set_text(struct json *j, const char *key, const char *text)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf tame = STRBUF_INIT;

    add_text(&tame, text);
    json_set_text(j, key, text ? strbuf_text(&tame) : NULL);
}

static void set_reason(struct json *j, const char *reason)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf tame = STRBUF_INIT;

    if (reason)
        payload_add_reason(&tame, reason);
    json_set_text(j, "reason", reason ? strbuf_text(&tame) : NULL);
}

static void add_outcomes(const struct watch_status *s, struct strbuf *out)
{
    for (int o = 0; o < OUTCOMES; o++)
        if (s->outcomes[o] > 0)
            strbuf_addf(out, ", %.0f %s", s->outcomes[o], outcome_name((enum outcome)o));
}

static void add_trials(const struct watch_status *s, struct strbuf *out)
{
    strbuf_addf(out, "%.0f", s->sealed > 0 ? s->sealed : 0);
    if (s->trials > 0)
        strbuf_addf(out, " of %s%.0f", s->at_most ? "at most " : "", s->trials);
    strbuf_adds(out, " trials");
}

static void add_finished(const struct payload *p, struct strbuf *out)
{
    const struct watch_status *s = p->status;
    char text[32];

    strbuf_addf(out, " %s: ",
                s->state == WATCH_COMPLETE      ? "is complete"
                : s->state == WATCH_INTERRUPTED ? "was stopped"
                                                : "has failed");
    if (s->state == WATCH_FAILED && s->reason) {
        payload_add_reason(out, s->reason);
        strbuf_adds(out, "; ");
    }
    add_trials(s, out);
    add_outcomes(s, out);
    if (s->elapsed_s >= 0 && s->elapsed_s < 1e9)
        strbuf_addf(out, ", in %s", duration_human((int64_t)s->elapsed_s * NS_PER_S, text));
    strbuf_addf(out, "; exit code %d", p->exit_code);
}

static void add_sentence(const struct payload *p, struct strbuf *out)
{
    const struct watch_status *s = p->status;
    char text[32];

    strbuf_adds(out, "benchctl: sweep '");
    add_text(out, s->name);
    strbuf_adds(out, "' on ");
    add_text(out, s->host ? s->host : "?");
    switch (p->event) {
    case WATCH_EVENT_STARTED:
        strbuf_addf(out, " has begun: %s%.0f trials", s->at_most ? "at most " : "",
                    s->trials > 0 ? s->trials : 0);
        if (s->eta_s >= 0 && s->eta_s < 1e9)
            strbuf_addf(out, ", about %s", duration_human((int64_t)s->eta_s * NS_PER_S, text));
        break;
    case WATCH_EVENT_FAILED:
        strbuf_adds(out, ": first failure: ");
        add_text(out, s->first_failure.scenario);
        strbuf_addf(out, " #%d: %s", s->first_failure.trial,
                    s->first_failure.outcome ? s->first_failure.outcome : "?");
        if (s->first_failure.reason) {
            strbuf_adds(out, ": ");
            payload_add_reason(out, s->first_failure.reason);
        }
        strbuf_adds(out, "; it goes on");
        break;
    case WATCH_EVENT_STALLED:
        strbuf_adds(out, " does not get on: ");
        payload_add_reason(out, s->reason ? s->reason : "?");
        break;
    case WATCH_EVENT_FINISHED:
    case WATCH_EVENTS:
        add_finished(p, out);
        break;
    }
}

static struct json *failure_json(const struct watch_trial *t)
{
    if (!t->scenario)
        return json_new_null();
    struct json *j = json_new_object();
    set_text(j, "scenario", t->scenario);
    json_set_int(j, "trial", t->trial);
    set_text(j, "outcome", t->outcome);
    set_reason(j, t->reason);
    return j;
}

void payload_write(const struct payload *p, struct strbuf *out)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf sentence = STRBUF_INIT;
    CLEANUP(json_free) struct json *j = json_new_object();
    const struct watch_status *s = p->status;

    add_sentence(p, &sentence);
    json_set_int(j, "schema", WATCH_SCHEMA);
    json_set_text(j, "event", watch_event_name(p->event));
    json_set_text(j, "text", strbuf_text(&sentence));
    json_set_text(j, "content", strbuf_text(&sentence));
    set_text(j, "sweep", s->name);
    set_text(j, "title", s->title);
    set_text(j, "host", s->host);
    json_set_text(j, "at", s->heartbeat_at);
    json_set_text(j, "state", watch_state_name(s->state));
    set_reason(j, s->reason);
    json_set_number(j, "trials", s->trials);
    json_set_bool(j, "at_most", s->at_most);
    json_set_number(j, "sealed", s->sealed);
    json_set(j, "outcomes", watch_outcomes_json(s));
    set_text(j, "scenario", s->scenario);
    set_text(j, "step", s->step);
    json_set_number(j, "elapsed_s", round(s->elapsed_s));
    json_set_number(j, "eta_s", round(s->eta_s));
    json_set_text(j, "eta_at", s->eta_at);
    json_set(j, "first_failure", failure_json(&s->first_failure));
    json_set(j, "exit_code", p->exit_code < 0 ? json_new_null() : json_new_int(p->exit_code));
    set_text(j, "directory", p->dir);
    set_text(j, "report", p->report);
    json_set_text(j, "version", s->version);
    secrets_mask_json(j);
    json_write(j, JSON_STYLE_COMPACT, out);
}

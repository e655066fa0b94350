/* SPDX-License-Identifier: MIT */
#include "sweep_watch.h"

#include <string.h>
#include "benchctl/base/interpolate.h"
#include "benchctl/base/secrets.h"

/* Only a view: losing one is no loss. */
static void write_view(const char *file, const void *bytes, size_t len, void *data)
{
    struct error ignored = ERROR_INIT;

    (void)!rundir_write(data, file, bytes, len, &ignored);
}

static void write_journal(const char *event, struct json *fields, void *data)
{
    struct error ignored = ERROR_INIT;

    (void)!rundir_journal(data, event, fields, false, &ignored);
}

static enum lookup_result secret_only(const char *name, struct strbuf *out, void *data, struct error *err)
{
    const char *variable = name + strlen("secret:");

    (void)data;
    if (!text_starts(name, "secret:"))
        return LOOKUP_UNKNOWN;
    if (!getenv(variable)) {
        (void)error_set(err, ERROR_ENVIRONMENT, "the secret '%s' is not in the environment", variable);
        (void)error_hint(err, "export %s=... before the run", variable);
        return LOOKUP_FAILED;
    }
    strbuf_adds(out, getenv(variable));
    return LOOKUP_FOUND;
}

static unsigned events_of(const struct notify_settings *n)
{
    unsigned events = 0;
    enum watch_event e;

    for (size_t i = 0; i < n->on.len; i++)
        if (watch_event_parse(n->on.items[i], &e) == 0)
            events |= 1u << e;
    return events;
}

int sweep_watch_open(struct loop *l, struct rundir *dir, const struct matrix *m, struct watch **ret,
                     struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf webhook = STRBUF_INIT;

    if (m->notify.webhook && interpolate(m->notify.webhook, secret_only, NULL, &webhook, err) < 0)
        return error_wrap(err, "notify.webhook");
    secrets_learn(strbuf_text(&webhook)); /* wherever it may turn up */
    secrets_learn_passwords(strbuf_text(&webhook));
    const struct watch_options o = {
        .dir = rundir_path(dir),
        .name = m->name,
        .title = m->title,
        .webhook = strbuf_text(&webhook),
        .events = events_of(&m->notify),
        .write = write_view,
        .journal = write_journal,
        .data = dir,
    };
    return watch_open(l, &o, ret, err);
}

void sweep_watch_progress(struct watch *w, const struct progress *p)
{
    const struct watch_progress wp = {
        .trial = p->trial,
        .trials = p->trials,
        .at_most = p->at_most,
        .scenario = p->scenario,
        .step = p->step,
        .eta_ns = p->eta_ns,
        .trial_limit_ns = p->trial_limit_ns,
    };

    watch_progress(w, &wp);
}

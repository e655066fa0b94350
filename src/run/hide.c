/* SPDX-License-Identifier: MIT */
/*
 * Secrets: what a trial's settings call so is learnt before anything of it is run, and masked in all that its
 * containers, its generator and we ourselves have written down, before that is quoted and before it is
 * sealed.
 */
#include "benchctl/base/secrets.h"
#include "generation.h"

static void tell_removed(const char *name, const char *why, void *data)
{
    trial_note(data, "%s: removed, for it may hold a secret: %s", name, why);
}

void trial_learn_secrets(const struct trial_run *t)
{
    static const char *const names[] = {"PGPASSWORD", NULL};
    static const char *const urls[] = {"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY",   "https_proxy",
                                       "http_proxy",  "all_proxy",  "DOCKER_HOST", NULL};

    secrets_learn_tree(t->resolved.tree);
    for (size_t i = 0; names[i]; i++)
        secrets_learn_of(getenv(names[i]), names[i]);
    for (size_t i = 0; urls[i]; i++)
        secrets_learn_passwords(getenv(urls[i]));
}

void generation_hide_secrets(struct generation *g)
{
    struct error err = ERROR_INIT;

    if (secrets_mask_files(g->dir, tell_removed, g->trial, &err) < 0)
        trial_note(g->trial, "%s", err.message);
}

void trial_hide_secrets(struct trial_run *t)
{
    struct error err = ERROR_INIT;

    if (secrets_mask_files(t->dir, tell_removed, t, &err) == 0)
        return;
    trial_note(t, "%s", err.message); /* whoever reads the bundle may find one: that is no result to keep */
    t->record.outcome = OUTCOME_ERROR;
    t->record.reason = arena_strdup(t->arena, err.message);
}

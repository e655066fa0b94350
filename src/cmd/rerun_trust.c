/* SPDX-License-Identifier: MIT */
/* What a bundle asks for, over all its scenarios. */
#include "rerun_open.h"

#include "benchctl/base/interpolate.h"
#include "benchctl/load.h"

/* The generator of our own is this very program, whatever file says so; others are programs on PATH. */
static bool is_ours(const struct load_adapter *a)
{
    const char *program = load_adapter_program(a);

    return !program || text_equal(load_adapter_name(a), "builtin");
}

static bool is_restored(const struct rerun *r, const char *file)
{
    CLEANUP_FREE char *real = realpath(file, NULL);
    size_t len = strlen(r->tree.root);

    return !real || (strncmp(real, r->tree.root, len) == 0 && real[len] == '/');
}

/* An adapter says which program is run, and how. *ret_here: not our own generator. */
static int look_at_adapter(struct rerun *r, const struct load_settings *l, bool *ret_here, struct error *err)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;

    *ret_here = true;
    if (strchr(l->adapter, '/'))
        return 0; /* rerun_ask() tells of it */
    if (load_adapter_read(l->adapter, r->matrix->dir, &a, err) < 0)
        return -1;
    if (is_restored(r, load_adapter_file(a))) {
        if (load_adapter_program(a))
            rerun_reason(&r->reasons, "its own load adapter '%s' runs the program '%s'%s", l->adapter,
                         load_adapter_program(a), l->image ? " in a container" : " on this machine");
        return 0;
    }
    *ret_here = !is_ours(a);
    return 0;
}

static int see_secret(const char *name, void *data, struct error *err)
{
    struct rerun *r = data;

    (void)err;
    if (!text_starts(name, "secret:"))
        return 0;
    name += strlen("secret:");
    rerun_reason(&r->reasons, "it reads the secret '%s' from the environment of this machine", name);
    if (!getenv(name))
        rerun_miss(r, "secret '%s': not in the environment; export it before the run", name);
    return 0;
}

static int look_at_scenario(struct rerun *r, size_t i, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct scenario s;
    struct resolved resolved;
    bool here = false;

    plan_scenario(r->plan, i, a, &s);
    if (plan_resolve(r->plan, i, a, &resolved, err) < 0 ||
        look_at_adapter(r, &resolved.settings.load, &here, err) < 0)
        return error_wrap(err, "scenario '%s'", s.id);
    const struct rerun_asked asked = {.scenario = s.id,
                                      .root = r->tree.root,
                                      .settings = &resolved.settings,
                                      .generator_here = here && !resolved.settings.load.image};
    rerun_ask(&asked, &r->reasons);
    return each_reference_below(resolved.tree, see_secret, r, err);
}

int rerun_look_for_reasons(struct rerun *r, struct error *err)
{
    for (size_t i = 0; i < r->inputs.secrets.len; i++)
        rerun_reason(&r->reasons,
                     "it reads the environment variable '%s' of this machine, which looks secret",
                     r->inputs.secrets.items[i]);
    vec_each (link, &r->tree.leaving)
        rerun_reason(&r->reasons, "a link in a build context leads out of it: %s", *link);
    if (r->matrix->notify.webhook && each_reference(r->matrix->notify.webhook, see_secret, r, err) < 0)
        return -1;
    for (size_t i = 0; i < plan_counts(r->plan)->scenarios; i++)
        if (look_at_scenario(r, i, err) < 0)
            return -1;
    return plan_counts(r->plan)->canaries ? look_at_scenario(r, PLAN_CANARY, err) : 0;
}

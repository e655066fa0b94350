/* SPDX-License-Identifier: MIT */
/* A sweep's results, from a run directory or a bundle. */
#include <errno.h>
#include "benchctl/base/log.h"
#include "internal.h"

/* A trial's record and its place in the order of execution. */
struct loaded {
    struct trial trial;
    size_t order;
};

struct loading {
    struct sweep *sweep;
    struct seals seals;
    size_t taken; /* of those that are sealed */
    VEC(struct loaded) trials;
};

static void loading_release(struct loading *l)
{
    seals_release(&l->seals);
    vec_release(&l->trials);
    sweep_free(l->sweep);
}

void sweep_free(struct sweep *s)
{
    if (!s)
        return;
    json_free(s->info);
    json_free(s->plan);
    free(s->trials);
    free(s->canaries);
    free(s->canary_after);
    free(s->controls);
    arena_free(s->arena);
    free(s);
}

/* --- what either source gives --- */

static int take_journal(struct loading *l, const struct strbuf *text, struct error *err)
{
    size_t good;

    /* what follows the intact part is a line that is being written, or damage that `resume` repairs */
    return journal_scan(strbuf_text(text), text->len, seals_apply, &l->seals, &good, err);
}

static bool counts(const struct seal *s)
{
    return s && !s->void_ && !s->conflict;
}

/* The text of a sealed trial.json whose hash has been checked, or that proves itself. */
static int take_trial(struct loading *l, const char *name, const struct strbuf *text, size_t order,
                      struct error *err)
{
    CLEANUP(json_free) struct json *record = NULL;
    struct loaded loaded = {.order = order};

    if (json_parse(strbuf_text(text), text->len, name, &record, err) < 0)
        return -1;
    if (trial_from_json(record, l->sweep->arena, &loaded.trial, err) < 0)
        return error_wrap(err, "'%s'", name);
    vec_push(&l->trials, loaded);
    return 0;
}

static int compare_order(const void *a, const void *b)
{
    size_t x = ((const struct loaded *)a)->order, y = ((const struct loaded *)b)->order;

    return (x > y) - (x < y);
}

/* --- which of the trials the plan asks for --- */

struct planned {
    const char *id, *digest;
};

static int compare_planned(const void *a, const void *b)
{
    return strcmp(((const struct planned *)a)->id, ((const struct planned *)b)->id);
}

/* Scenarios of plan.json by id; *ret_len 0 when there is no such list. The caller frees. */
static struct planned *planned_scenarios(const struct json *plan, size_t *ret_len)
{
    const struct json *list = json_get(plan, "scenarios");
    size_t len = 0;
    struct planned *p = xcalloc(json_len(list) + 1, sizeof(*p));

    for (size_t i = 0; i < json_len(list); i++) {
        const struct json *s = json_at(list, i);

        if (json_get_text(s, "id"))
            p[len++] = (struct planned){json_get_text(s, "id"), json_get_text(s, "digest")};
    }
    qsort(p, len, sizeof(*p), compare_planned);
    *ret_len = len;
    return p;
}

/* A changed matrix leaves results that are kept but belong to another experiment. */
static bool in_plan(const struct planned *plan, size_t len, const struct trial *t)
{
    const struct planned key = {t->scenario, NULL};
    const struct planned *found = bsearch(&key, plan, len, sizeof(key), compare_planned);

    return found && (!found->digest || !t->digest || strcmp(found->digest, t->digest) == 0);
}

/* The plan's canary, by what it does: one of an earlier form of the matrix is another. */
static bool is_canary(const struct json *plan, const struct trial *t)
{
    const char *digest = json_get_text(json_get(plan, "canary"), "digest");

    return t->canary && (!plan || (digest && t->digest && strcmp(digest, t->digest) == 0));
}

static void add_canary(struct sweep *s, const struct trial *t)
{
    s->canary_after[s->canary_count] = s->trial_count;
    s->canaries[s->canary_count++] = *t;
}

static void finish(struct loading *l)
{
    struct sweep *s = l->sweep;
    size_t len;
    CLEANUP_FREE struct planned *plan = planned_scenarios(s->plan, &len);

    s->complete = l->seals.complete;
    vec_each (seal, &l->seals.order)
        s->damaged_count += !(*seal)->void_;
    s->damaged_count -= l->taken;
    if (!s->info)
        s->info = json_new_object();
    s->trials = xcalloc(l->trials.len + 1, sizeof(*s->trials));
    s->canaries = xcalloc(l->trials.len + 1, sizeof(*s->canaries));
    s->controls = xcalloc(l->trials.len + 1, sizeof(*s->controls));
    s->canary_after = xcalloc(l->trials.len + 1, sizeof(*s->canary_after));
    if (l->trials.len)
        qsort(l->trials.items, l->trials.len, sizeof(struct loaded), compare_order);
    vec_each (loaded, &l->trials) {
        if (is_canary(s->plan, &loaded->trial))
            add_canary(s, &loaded->trial);
        else if (loaded->trial.control && (!len || in_plan(plan, len, &loaded->trial)))
            s->controls[s->control_count++] = loaded->trial;
        else if (loaded->trial.canary || (len && !in_plan(plan, len, &loaded->trial)))
            s->outside_count++;
        else
            s->trials[s->trial_count++] = loaded->trial;
    }
}

/* --- from a run directory --- */

static int read_optional(const char *dir, const char *name, size_t max, struct strbuf *out, struct error *err)
{
    CLEANUP_FREE char *path = path_join(dir, name);
    struct error e = ERROR_INIT;

    out->max = max + 1;
    if (fs_read(path, max, out, &e) == 0 || e.kind == ERROR_NOT_FOUND)
        return 0;
    *err = e;
    return -1;
}

static int read_json_optional(const char *dir, const char *name, struct json **ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *path = path_join(dir, name);

    if (read_optional(dir, name, INFO_FILE_MAX, &text, err) < 0)
        return -1;
    if (text.len == 0 || json_parse(text.data, text.len, path, ret, err) == 0)
        return 0;
    (void)error_wrap(err, "'%s' is damaged", name);
    return error_hint(err, "`benchctl resume %s` writes it anew; nothing that was measured is in it", dir);
}

/* A sealed trial that is not there or not the same is left out, and said. */
static int load_sealed(struct loading *l, const char *dir, const struct seal *s, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *name = xasprintf(TRIALS_DIR "/%s/%d/" TRIAL_FILE, s->scenario, s->trial);
    char sha256[SHA256_HEX_SIZE];

    if (!counts(s) || archive_name_check(name, err) < 0)
        return 0;
    if (read_optional(dir, name, TRIAL_FILE_MAX, &text, err) < 0)
        return -1;
    sha256_hex(strbuf_text(&text), text.len, sha256);
    if (strcmp(sha256, s->sha256) != 0) {
        warn("'%s' is not what was sealed: left out", name);
        return 0;
    }
    l->taken++;
    return take_trial(l, name, &text, s->order, err);
}

struct proving {
    struct loading *l;
    const char *trials; /* the directory */
};

/* Complete trials that the journal does not know, because it is gone or damaged. */
static int load_proven(const char *relative, bool is_dir, int64_t size, void *data, struct error *err)
{
    struct proving *p = data;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(json_free) struct json *record = NULL;
    CLEANUP_FREE char *scenario = NULL, *path = path_join(p->trials, relative), *dir = path_dirname(path);
    struct error ignored = ERROR_INIT;
    int trial;

    if (is_dir || size > (int64_t)TRIAL_FILE_MAX || !proof_parse_name(relative, &scenario, &trial))
        return 0;
    const struct seal *known = seals_find(&p->l->seals, scenario, trial);
    if (known && !known->begun_again)
        return 0;
    if (fs_read(path, TRIAL_FILE_MAX, &text, &ignored) < 0 ||
        json_parse(strbuf_text(&text), text.len, path, &record, &ignored) < 0 ||
        !proof_holds(dir, record, scenario, trial))
        return 0;
    return take_trial(p->l, path, &text, p->l->seals.count + p->l->trials.len + 1, err);
}

static int load_dir(struct loading *l, const char *dir, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf journal = STRBUF_INIT;
    CLEANUP_FREE char *trials = path_join(dir, TRIALS_DIR);
    struct proving p = {l, trials};

    if (!rundir_is(dir)) {
        (void)error_set(err, ERROR_USAGE, "'%s' is not a run directory", dir);
        return error_hint(err, "name the directory that `benchctl run` wrote, or a bundle");
    }
    /* the journal first: what it says is sealed is on disk by then */
    if (read_optional(dir, JOURNAL_FILE, JOURNAL_MAX, &journal, err) < 0 ||
        take_journal(l, &journal, err) < 0 ||
        read_json_optional(dir, "sweep.json", &l->sweep->info, err) < 0 ||
        read_json_optional(dir, BUNDLE_PLAN_FILE, &l->sweep->plan, err) < 0)
        return -1;
    for (size_t i = 0; i < l->seals.order.len; i++) {
        if (load_sealed(l, dir, l->seals.order.items[i], err) < 0)
            return -1;
    }
    return fs_is_dir(trials) ? fs_walk(trials, load_proven, &p, err) : 0;
}

/* --- from a bundle --- */

static int load_member(struct loading *l, struct bundle_reader *b, const struct manifest_member *m,
                       struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = INFO_FILE_MAX + 1};
    CLEANUP_FREE char *scenario = NULL;
    bool info = text_equal(m->name, "sweep.json"), plan = text_equal(m->name, BUNDLE_PLAN_FILE);
    int trial;

    if (info || plan) {
        if (bundle_reader_take(b, INFO_FILE_MAX, &text, err) < 0)
            return -1;
        return json_parse(strbuf_text(&text), text.len, m->name, info ? &l->sweep->info : &l->sweep->plan,
                          err);
    }
    if (text_equal(m->name, JOURNAL_FILE))
        return bundle_reader_take(b, JOURNAL_MAX, &text, err) < 0 ? -1 : take_journal(l, &text, err);
    if (!text_starts(m->name, TRIALS_DIR "/") ||
        !proof_parse_name(m->name + strlen(TRIALS_DIR "/"), &scenario, &trial))
        return 0;
    const struct seal *s =
        seals_find(&l->seals, scenario, trial); /* the journal came before: members are sorted */
    if (!counts(s))
        return 0;
    if (strcmp(s->sha256, m->sha256) != 0) {
        warn("'%s' is not what was sealed: left out", m->name);
        return 0;
    }
    if (bundle_reader_take(b, TRIAL_FILE_MAX, &text, err) < 0)
        return -1;
    l->taken++;
    return take_trial(l, m->name, &text, s->order, err);
}

static int load_bundle(struct loading *l, const char *path, struct error *err)
{
    CLEANUP(bundle_reader_free) struct bundle_reader *b = NULL;
    const struct manifest_member *m;
    int more;

    if (bundle_reader_open(path, &b, err) < 0) {
        if (err->kind == ERROR_NOT_FOUND)
            err->kind = ERROR_USAGE;
        return -1;
    }
    while ((more = bundle_reader_next(b, &m, err)) > 0) {
        if (load_member(l, b, m, err) < 0)
            return error_wrap(err, "'%s'", path);
    }
    return more < 0 ? error_wrap(err, "'%s'", path) : 0;
}

int sweep_load(const char *path, struct sweep **ret, struct error *err)
{
    CLEANUP_VALUE(loading_release) struct loading l = {.sweep = xcalloc(1, sizeof(struct sweep))};

    l.sweep->arena = arena_new();
    l.sweep->path = arena_strdup(l.sweep->arena, path);
    if ((fs_is_dir(path) ? load_dir : load_bundle)(&l, path, err) < 0)
        return -1;
    finish(&l);
    *ret = TAKE(l.sweep);
    return 0;
}

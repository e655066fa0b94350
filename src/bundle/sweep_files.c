/* SPDX-License-Identifier: MIT */
/* Files of a sweep's trials that their records do not hold: series, histograms. */
#include "benchctl/base/name_index.h"
#include "internal.h"

struct walking {
    const struct sweep *s;
    const char *const *names;
    size_t max;
    bool (*wanted)(size_t trial, const char *name, void *data);
    sweep_file_fn *visit;
    void *data;
};

static char *file_name(const struct trial *t, const char *name)
{
    return xasprintf(TRIALS_DIR "/%s/%d/%s", t->scenario, t->trial, name);
}

static int give(const struct walking *w, size_t trial, const char *name, const struct strbuf *text,
                struct error *err)
{
    const struct sweep_file f = {.trial = trial, .name = name, .bytes = strbuf_text(text), .len = text->len};

    return w->visit(&f, w->data, err);
}

static bool is_wanted(const struct walking *w, size_t trial, const char *name)
{
    return !w->wanted || w->wanted(trial, name, w->data);
}

/* --- of a run directory --- */

static int walk_dir(const struct walking *w, struct error *err)
{
    for (size_t t = 0; t < w->s->trial_count; t++) {
        for (size_t n = 0; w->names[n]; n++) {
            if (!is_wanted(w, t, w->names[n]))
                continue;
            CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = w->max + 1};
            CLEANUP_FREE char *name = file_name(&w->s->trials[t], w->names[n]);
            CLEANUP_FREE char *path = path_join(w->s->path, name);
            struct error ignored = ERROR_INIT;
            if (archive_name_check(name, &ignored) < 0 || fs_read(path, w->max, &text, &ignored) < 0)
                continue; /* not there, or too large */
            if (give(w, t, w->names[n], &text, err) < 0)
                return -1;
        }
    }
    return 0;
}

/* --- of a bundle --- */

/* Each wanted member's name: trial * names + name. */
static size_t index_names(const struct walking *w, struct name_index *x)
{
    size_t count = 0;
    bool fresh;

    while (w->names[count])
        count++;
    for (size_t t = 0; t < w->s->trial_count; t++) {
        for (size_t n = 0; n < count; n++) {
            CLEANUP_FREE char *name = file_name(&w->s->trials[t], w->names[n]);
            CLEANUP_VALUE(strbuf_release) struct strbuf member = STRBUF_INIT;
            member_name_from(name, &member);
            const char *kept = arena_strdup(w->s->arena, strbuf_text(&member));
            (void)name_index_put(x, kept, t * count + n, &fresh);
        }
    }
    return count;
}

static int walk_bundle(const struct walking *w, struct error *err)
{
    CLEANUP(bundle_reader_free) struct bundle_reader *b = NULL;
    CLEANUP_VALUE(name_index_release) struct name_index wanted = NAME_INDEX_INIT;
    size_t count = index_names(w, &wanted);
    const struct manifest_member *m;
    int more;

    if (bundle_reader_open(w->s->path, &b, err) < 0)
        return -1;
    while ((more = bundle_reader_next(b, &m, err)) > 0) {
        CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = w->max + 1};
        const size_t *which = name_index_get(&wanted, m->name);
        if (!which || m->size > (int64_t)w->max || !is_wanted(w, *which / count, w->names[*which % count]))
            continue;
        if (bundle_reader_take(b, w->max, &text, err) < 0 ||
            give(w, *which / count, w->names[*which % count], &text, err) < 0)
            return -1;
    }
    return more < 0 ? -1 : 0;
}

int sweep_each_file(const struct sweep *s, const struct sweep_files *files, sweep_file_fn *visit, void *data,
                    struct error *err)
{
    const struct walking w = {.s = s,
                              .names = files->names,
                              .max = files->max,
                              .wanted = files->wanted,
                              .visit = visit,
                              .data = data};

    if (!s->path || !s->trial_count || !fs_exists(s->path))
        return 0;
    return fs_is_dir(s->path) ? walk_dir(&w, err) : walk_bundle(&w, err);
}

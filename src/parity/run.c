/* SPDX-License-Identifier: MIT */
/* All checks of a section, and their result as JSON. */
#include <string.h>
#include "benchctl/base/fs.h"
#include "folder.h"

static const struct parity_member *settings_of(const struct parity_check *c, size_t i)
{
    return (const struct parity_member *)c->members.items + i;
}

static const char *repo_of(const struct parity_settings *s, const struct parity_member *m)
{
    return m->repo ? m->repo : s->repo;
}

/* The ref; with the path, then with the repository's name, as far as it takes to tell members apart. */
static const char *label_of(const struct parity_settings *s, const struct parity_check *c, size_t index,
                            struct arena *a)
{
    const struct parity_member *m = settings_of(c, index);
    bool with_path = false, with_repo = false;

    for (size_t i = 0; i < c->members.len; i++) {
        const struct parity_member *o = settings_of(c, i);
        if (i == index || strcmp(o->ref, m->ref) != 0)
            continue;
        with_path = with_path || strcmp(o->path, m->path) != 0;
        with_repo = with_repo || !text_equal(repo_of(s, o), repo_of(s, m));
    }
    const char *label = with_path ? arena_printf(a, "%s:%s", m->ref, m->path) : arena_strdup(a, m->ref);
    return with_repo && repo_of(s, m) ? arena_printf(a, "%s %s", path_basename(repo_of(s, m)), label) : label;
}

static void describe_member(const struct member *m, const char *repo, struct arena *a,
                            struct parity_member_result *ret)
{
    char hex[GIT_OID_HEXSZ + 1];

    *ret = (struct parity_member_result){.repo = arena_strdup(a, repo),
                                         .ref = arena_strdup(a, m->settings->ref),
                                         .path = arena_strdup(a, m->settings->path)};
    ret->folder = m->folder;
    ret->changed = m->changed;
    if (!m->revision.commit && !m->folder)
        return;
    ret->full_ref = m->folder ? arena_printf(a, "folder %s", m->settings->ref) : m->revision.full_ref;
    ret->commit = m->revision.commit;
    ret->tag = m->revision.tag;
    ret->shallow = m->repository->shallow;
    ret->files = m->len;
    if (m->len)
        ret->object = arena_strdup(a, git_oid_tostr(hex, sizeof(hex), &m->object));
}

static int find_commit(struct member *m, struct repositories *all, const char *repo, struct arena *a,
                       struct error *err)
{
    if (repository_get(all, repo, &m->repository, err) < 0)
        return -1;
    return revision_find(m->repository, m->settings->ref, a, &m->revision, err);
}

static int read_members(struct repositories *all, const struct parity_settings *s,
                        const struct parity_check *c, struct member *members, struct arena *a,
                        struct error *err)
{
    for (size_t i = 0; i < c->members.len; i++) {
        members[i].settings = settings_of(c, i);
        members[i].label = label_of(s, c, i, a);
    }
    for (size_t i = 0; i < c->members.len; i++) {
        const char *repo = repo_of(s, members[i].settings);
        if (!repo)
            return error_set(err, ERROR_INVALID, "no repository is given for '%s'", members[i].label);
        int rc = s->sources == PARITY_FOLDERS ? folder_read(&members[i], all, repo, a, err)
                                              : find_commit(&members[i], all, repo, a, err);
        if (rc < 0)
            return -1;
    }
    for (size_t i = 0; i < c->members.len; i++)
        if (member_read(&members[i], &c->ignore, a, err) < 0)
            return -1;
    return 0;
}

static void add_note(struct parity_check_result *r, struct arena *a, const char *text)
{
    r->note = r->note ? arena_printf(a, "%s; %s", r->note, text) : arena_strdup(a, text);
}

static void add_notes(const struct member *members, size_t count, const struct findings *f,
                      struct parity_check_result *r, struct arena *a)
{
    bool partial = f->without_content, foreign = false;

    for (size_t i = 0; i < count; i++) {
        partial = partial ||
                  (r->compare == COMPARE_BLOBS && members[i].repository && members[i].repository->partial);
        foreign = foreign || (members[i].repository && members[i].repository->foreign);
    }
    for (size_t i = 0; i < count; i++) {
        const struct member *m = &members[i];
        if (m->skipped)
            add_note(r, a,
                     arena_printf(a, "not read in %s, as git would ignore it: %s", m->label, m->skipped));
        if (m->outside)
            add_note(r, a,
                     arena_printf(a, "links of %s that lead elsewhere, compared by their target's name: %s",
                                  m->label, m->outside));
        if (m->changed)
            add_note(r, a, arena_printf(a, "%s with changes that are not committed", m->label));
    }
    if (partial)
        add_note(r, a, "compared without content (partial clone)");
    if (foreign)
        add_note(r, a, "read although the repository belongs to somebody else");
    if (f->left_out)
        add_note(r, a, arena_printf(a, "left out, not constant: %s", f->left_out));
}

static void run_check(struct repositories *all, const struct parity_settings *s, const struct parity_check *c,
                      struct arena *a, struct parity_check_result *r)
{
    size_t count = c->members.len;
    struct member *members = arena_array(a, struct member, count + 1);
    struct findings f = {.arena = a};
    struct error err = ERROR_INIT;

    *r = (struct parity_check_result){.name = arena_strdup(a, c->name),
                                      .compare = c->compare,
                                      .members = arena_array(a, struct parity_member_result, count + 1)};
    int rc = count < 2 ? error_set(&err, ERROR_INVALID, "a parity check needs at least two members")
                       : read_members(all, s, c, members, a, &err);
    if (rc == 0 && c->compare == COMPARE_BLOBS)
        compare_blobs(members, count, &f);
    else if (rc == 0)
        rc = c->compare == COMPARE_BINDINGS ? compare_bindings(members, count, &f, &err)
                                            : compare_constants(members, count, &f, &err);
    for (size_t i = 0; i < count; i++)
        describe_member(&members[i], repo_of(s, settings_of(c, i)), a, &r->members[i]);
    r->member_count = count;
    r->compared = f.compared;
    r->ok = rc == 0;
    for (size_t i = 0; i < f.list.len; i++)
        r->ok = r->ok && f.list.items[i].warning;
    if (rc < 0) {
        r->error =
            err.hint[0] ? arena_printf(a, "%s; %s", err.message, err.hint) : arena_strdup(a, err.message);
        r->unavailable = err.kind != ERROR_PARITY;
    }
    r->difference_count = f.list.len;
    r->differences = f.list.len ? arena_copy(a, f.list.items, f.list.len * sizeof(*f.list.items)) : NULL;
    add_notes(members, count, &f, r, a);
    vec_release(&f.list);
}

int parity_run(const struct parity_settings *s, const struct parity_options *options, struct arena *a,
               struct parity_result *ret, struct error *err)
{
    struct repositories all = {.any_owner = options && options->any_owner};
    const struct parity_check *checks = s->checks.items;
    struct parity_result r = {.ok = true, .check_count = s->checks.len};

    if (git_libgit2_init() < 0)
        return git_failure(err, ERROR_ENVIRONMENT, "libgit2 does not start");
    r.checks = arena_array(a, struct parity_check_result, s->checks.len + 1);
    for (size_t i = 0; i < s->checks.len; i++) {
        run_check(&all, s, &checks[i], a, &r.checks[i]);
        r.ok = r.ok && r.checks[i].ok;
        r.unavailable = r.unavailable || r.checks[i].unavailable;
        r.broken = r.broken || (!r.checks[i].ok && !r.checks[i].unavailable);
    }
    repositories_release(&all);
    (void)git_libgit2_shutdown();
    *ret = r;
    return 0;
}

/* ---- as JSON ---- */

static struct json *members_to_json(const struct parity_check_result *c)
{
    struct json *array = json_new_array();

    for (size_t i = 0; i < c->member_count; i++) {
        const struct parity_member_result *m = &c->members[i];
        struct json *j = json_new_object();
        json_set_text(j, "repo", m->repo);
        json_set_text(j, "ref", m->ref);
        json_set_text(j, "full_ref", m->full_ref);
        json_set_text(j, "commit", m->commit);
        json_set_text(j, "tag", m->tag);
        json_set_text(j, "path", m->path);
        json_set_text(j, "object", m->object);
        json_set_text(j, "folder", m->folder);
        if (m->folder)
            json_set_bool(j, "changed", m->changed);
        json_set_bool(j, "shallow", m->shallow);
        json_set_int(j, "files", (int64_t)m->files);
        json_append(array, j);
    }
    return array;
}

static struct json *differences_to_json(const struct parity_check_result *c)
{
    struct json *array = json_new_array();

    for (size_t i = 0; i < c->difference_count; i++) {
        struct json *j = json_new_object();
        json_set_text(j, "path", c->differences[i].path);
        json_set_text(j, "what", c->differences[i].what);
        json_set_bool(j, "warning", c->differences[i].warning);
        json_append(array, j);
    }
    return array;
}

static const char *const compare_names[] = {
    [COMPARE_BLOBS] = "blobs", [COMPARE_CONSTANTS] = "constants", [COMPARE_BINDINGS] = "bindings"};

struct json *parity_to_json(const struct parity_result *r)
{
    struct json *j = json_new_object(), *checks = json_new_array();

    json_set_bool(j, "ok", r->ok);
    for (size_t i = 0; i < r->check_count; i++) {
        const struct parity_check_result *c = &r->checks[i];
        struct json *one = json_new_object();
        json_set_text(one, "name", c->name);
        json_set_text(one, "compare", compare_names[c->compare]);
        json_set_bool(one, "ok", c->ok);
        json_set_text(one, "error", c->error);
        json_set_bool(one, "unavailable", c->unavailable);
        json_set_int(one, "compared", (int64_t)c->compared);
        json_set(one, "members", members_to_json(c));
        json_set(one, "differences", differences_to_json(c));
        json_set_text(one, "note", c->note);
        json_append(checks, one);
    }
    json_set(j, "checks", checks);
    return j;
}

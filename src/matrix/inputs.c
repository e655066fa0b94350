/* SPDX-License-Identifier: MIT */
/* The files that settings name. */
#include <errno.h>
#include <sys/stat.h>

#include "benchctl/base/fs.h"
#include "matrix_internal.h"

enum input_kind { INPUT_FILE, INPUT_DIRECTORY, INPUT_DOCKERFILE };

struct input {
    const char *path; /* absolute */
    const char *key;  /* what names it, for messages */
    enum input_kind kind;
    bool within; /* below an input that is a directory, and comes with it */
    struct position at;
};

typedef int input_fn(const struct input *in, void *data, struct error *err);

static int container_inputs(const struct container_settings *c, input_fn *fn, void *data, struct error *err)
{
    if (!c->build || !c->build->context)
        return 0;
    const struct input context = {
        .path = c->build->context, .key = "context", .kind = INPUT_DIRECTORY, .at = c->at};
    if (fn(&context, data, err) < 0)
        return -1;
    CLEANUP_FREE char *path = path_join(c->build->context, c->build->dockerfile);
    const struct input dockerfile = {.path = path,
                                     .key = "dockerfile",
                                     .kind = INPUT_DOCKERFILE,
                                     .within = c->build->dockerfile[0] != '/' &&
                                               !strstr(c->build->dockerfile, ".."),
                                     .at = c->at};
    return fn(&dockerfile, data, err);
}

static int database_inputs(const struct database_settings *d, input_fn *fn, void *data, struct error *err)
{
    for (size_t i = 0; i < d->schema.len; i++) {
        const struct input in = {
            .path = d->schema.items[i], .key = "schema", .kind = INPUT_FILE, .at = d->at};
        if (fn(&in, data, err) < 0)
            return -1;
    }
    return d->service ? container_inputs(d->service, fn, data, err) : 0;
}

static int one_file(const char *path, const char *key, struct position at, input_fn *fn, void *data,
                    struct error *err)
{
    const struct input in = {.path = path, .key = key, .kind = INPUT_FILE, .at = at};

    return path ? fn(&in, data, err) : 0;
}

static int workload_inputs(const struct workload *w, struct position at, input_fn *fn, void *data,
                           struct error *err)
{
    const struct workload_request *requests = w->requests.items;

    if (one_file(w->data, "data", at, fn, data, err) < 0 ||
        one_file(w->ca_file, "ca_file", at, fn, data, err) < 0)
        return -1;
    for (size_t i = 0; i < w->requests.len; i++)
        if (one_file(requests[i].body_file, "body_file", requests[i].at.line ? requests[i].at : at, fn, data,
                     err) < 0)
            return -1;
    return 0;
}

static int each_input(const struct settings *s, input_fn *fn, void *data, struct error *err)
{
    const struct container_settings *services = s->services.items;

    if (container_inputs(&s->app, fn, data, err) < 0)
        return -1;
    for (size_t i = 0; i < s->services.len; i++) {
        if (container_inputs(&services[i], fn, data, err) < 0)
            return -1;
    }
    if (s->database && database_inputs(s->database, fn, data, err) < 0)
        return -1;
    if (s->load.workload && workload_inputs(s->load.workload, s->load.at, fn, data, err) < 0)
        return -1;
    return one_file(s->load.script, "script", s->load.at, fn, data, err);
}

/* Where the path is written, if the tree still tells: the section otherwise. */
static int missing(const struct input *in, const char *what, struct error *err)
{
    char shown[SHOWN_SIZE];

    return position_error(err, in->at, "'%s': %s '%s'", in->key, what, text_shown(in->path, shown));
}

static int check_input(const struct input *in, void *data, struct error *err)
{
    struct stat st;

    (void)data;
    if (strstr(in->path, "${"))
        return 0; /* known only later */
    if (stat(in->path, &st) < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return position_error(err, in->at, "'%s': cannot look at '%s': %s", in->key, in->path,
                                  strerror(errno));
        (void)missing(in, in->kind == INPUT_DIRECTORY ? "no directory" : "no file", err);
        return error_hint(err, in->kind == INPUT_DOCKERFILE
                                   ? "it is looked for below the context"
                                   : "relative paths are relative to the matrix file");
    }
    bool is_dir = S_ISDIR(st.st_mode);
    if (is_dir != (in->kind == INPUT_DIRECTORY))
        return missing(in, is_dir ? "a directory, not a file:" : "not a directory:", err);
    if (!is_dir && !S_ISREG(st.st_mode))
        return missing(in, "not a regular file:", err);
    if (access(in->path, is_dir ? R_OK | X_OK : R_OK) < 0)
        return missing(in, "no permission to read", err);
    return 0;
}

int matrix_check_files(const struct matrix *m, const struct settings *s, struct error *err)
{
    (void)m;
    return each_input(s, check_input, NULL, err);
}

struct visiting {
    int (*visit)(const char *path, void *data, struct error *err);
    void *data;
};

static int visit_input(const struct input *in, void *data, struct error *err)
{
    const struct visiting *v = data;

    if (in->within || strstr(in->path, "${"))
        return 0;
    return v->visit(in->path, v->data, err);
}

int matrix_each_input(const struct matrix *m, const struct settings *s,
                      int (*visit)(const char *path, void *data, struct error *err), void *data,
                      struct error *err)
{
    struct visiting v = {.visit = visit, .data = data};

    (void)m;
    return each_input(s, visit_input, &v, err);
}

/* SPDX-License-Identifier: MIT */
/* The call of a generator: argv, environment, files, version. */
#include "command.h"

#include <string.h>
#include "benchctl/base/interpolate.h"

#define MAX_ARGUMENTS ((size_t)4096)
#define ANY_DURATION_NS (INT64_C(3600) * 1000000000) /* that every generator takes */

/* A growing list of texts in an arena. */
struct arguments {
    VEC(const char *) list;
};

static int push(struct arguments *out, const char *text, const struct template_scope *s, struct error *err)
{
    const char *filled;

    if (out->list.len >= MAX_ARGUMENTS)
        return error_set(err, ERROR_INVALID, "more than %zu arguments", MAX_ARGUMENTS);
    if (load_template_fill(text, s, &filled, err) < 0)
        return -1;
    vec_push(&out->list, filled);
    return 0;
}

static int push_all(struct arguments *out, const struct text_list *texts, const struct template_scope *s,
                    struct error *err)
{
    for (size_t i = 0; i < texts->len; i++)
        if (push(out, texts->items[i], s, err) < 0)
            return -1;
    return 0;
}

/* The texts once for each item of an option's value. */
static int push_each(struct arguments *out, const struct text_list *texts, const struct node *value,
                     const struct template_scope *s, struct error *err)
{
    struct template_scope inner = *s;

    if (value->kind == NODE_SCALAR) {
        inner.value = value->text;
        return push_all(out, texts, &inner, err);
    }
    for (size_t i = 0; i < value->len; i++) {
        inner.key = value->kind == NODE_MAP ? value->keys[i]->text : "";
        inner.value = value->items[i]->text;
        if (push_all(out, texts, &inner, err) < 0)
            return -1;
    }
    return 0;
}

/* The flags of every option that is given or has a default, in the adapter's order. */
static int push_options(struct arguments *out, const struct template_scope *s, struct error *err)
{
    form_each(struct adapter_option, o, &s->adapter->form.options)
    {
        const struct node *value = load_option_node(o, s->call->options, s->arena);
        if (!value || !o->flag.len || (o->type == OPTION_TYPE_BOOL && strcmp(value->text, "true") != 0))
            continue;
        if (push_each(out, &o->flag, value, s, err) < 0)
            return error_wrap(err, "option '%s'", o->name);
    }
    return 0;
}

static int push_argument(struct arguments *out, const struct adapter_argument *arg,
                         const struct template_scope *s, struct error *err)
{
    if (arg->text)
        return strcmp(arg->text, "${options}") == 0 ? push_options(out, s, err)
                                                    : push(out, arg->text, s, err);
    if (arg->when && !load_condition(s->adapter, arg->when, s->call, s->arena))
        return 0;
    if (arg->unless && load_condition(s->adapter, arg->unless, s->call, s->arena))
        return 0;
    if (!arg->each)
        return push_all(out, &arg->args, s, err);
    const struct node *value =
        load_option_node(load_option_find(s->adapter, arg->each), s->call->options, s->arena);
    return value ? push_each(out, &arg->args, value, s, err) : 0;
}

/* As a NULL-terminated list in the arena; the NULL is not counted. */
static struct text_list finished(struct arguments *out, struct arena *a)
{
    struct text_list list = {arena_array(a, const char *, out->list.len + 1), out->list.len};

    if (list.len)
        memcpy(list.items, out->list.items, sizeof(const char *) * list.len);
    return list;
}

/* benchctl is found in an image by its name. */
static const char *program_of(const struct template_scope *s)
{
    return s->adapter->own && s->call->in_image ? "benchctl" : s->adapter->form.program;
}

static int build_argv(const struct template_scope *s, struct text_list *ret, struct error *err)
{
    struct arguments out = {0};
    int rc = 0;

    if (s->adapter->form.program)
        vec_push(&out.list, program_of(s));
    form_each(struct adapter_argument, arg, &s->adapter->form.args)
    {
        rc = push_argument(&out, arg, s, err);
        if (rc < 0)
            break;
    }
    *ret = finished(&out, s->arena);
    vec_release(&out.list);
    return rc;
}

static int build_env(const struct template_scope *s, struct text_map *ret, struct error *err)
{
    const struct text_map *from = &s->adapter->form.env;

    *ret = (struct text_map){arena_array(s->arena, struct text_pair, from->len + 1), from->len};
    for (size_t i = 0; i < from->len; i++) {
        ret->items[i] = from->items[i];
        if (load_template_fill(from->items[i].value, s, &ret->items[i].value, err) < 0)
            return -1;
    }
    return 0;
}

/* A file that is one value and nothing else (a body) has it as it is. */
static enum value_place place_of(const struct adapter_file *f)
{
    if (text_ends(f->file, ".json"))
        return PLACE_JSON;
    return strncmp(f->content, "${", 2) == 0 && f->content[strcspn(f->content, "}")] &&
                   !f->content[strcspn(f->content, "}") + 1]
               ? PLACE_ANY
               : PLACE_LINE;
}

static int build_files(const struct template_scope *s, struct text_map *ret, struct error *err)
{
    size_t n = 0;

    *ret = (struct text_map){arena_array(s->arena, struct text_pair, s->adapter->form.files.len + 1),
                             s->adapter->form.files.len};
    form_each(struct adapter_file, f, &s->adapter->form.files)
    {
        if (f->when && !load_condition(s->adapter, f->when, s->call, s->arena))
            continue;
        struct template_scope in_file = *s;
        in_file.place = place_of(f);
        ret->items[n] = (struct text_pair){.key = f->file, .at = f->at};
        if (load_template_fill(f->content, &in_file, &ret->items[n].value, err) < 0)
            return -1;
        n++;
    }
    ret->len = n;
    return 0;
}

/* The second call; an empty argv when the adapter has none. */
static int build_finish(const struct template_scope *s, struct load_command *ret, struct error *err)
{
    const struct adapter_finish *f = &s->adapter->form.finish;
    struct arguments out = {0};
    int rc = 0;

    if (f->args.len) {
        vec_push(&out.list, program_of(s));
        rc = push_all(&out, &f->args, s, err);
    }
    ret->finish_argv = finished(&out, s->arena);
    vec_release(&out.list);
    ret->finish_stdout_name = f->into ? load_output_find(s->adapter, f->into)->file : NULL;
    return rc;
}

/* No URL holds them, and nothing good comes of them in an argument, a line or a script. */
static int check_path(const struct load_call *call, struct error *err)
{
    for (const char *p = call->path && !call->spec ? call->path : ""; *p; p++) {
        if ((unsigned char)*p >= ' ' && *p != 0x7f && *p != '"')
            continue;
        (void)error_set(err, ERROR_INVALID, "the load's path holds %s",
                        *p == '"' ? "a quotation mark" : "a control character");
        return error_hint(err, "a URL has it as %%%02X", (unsigned)(unsigned char)*p);
    }
    return 0;
}

int load_adapter_command(const struct load_adapter *a, const struct load_call *call, struct arena *arena,
                         struct load_command *ret, struct error *err)
{
    const struct template_scope s = {.adapter = a, .call = call, .arena = arena};
    struct load_command made = {.stdout_name = STDOUT_NAME, .stderr_name = STDERR_NAME};

    if (load_adapter_check_options(a, call->options, err) < 0 || load_rules_check(a, call, err) < 0 ||
        check_path(call, err) < 0)
        return -1;
    if (build_argv(&s, &made.argv, err) < 0 || build_env(&s, &made.env, err) < 0 ||
        build_files(&s, &made.files, err) < 0 || build_finish(&s, &made, err) < 0)
        return error_wrap(err, "load adapter '%s'", a->name);
    *ret = made;
    return 0;
}

static int try_once(const struct load_adapter *a, const struct load_trying *t, int64_t duration_ns,
                    struct error *err)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_command made;
    const struct load_call call = {
        .target = "http://127.0.0.1:80",
        .path = "/",
        .script = t->script,
        .duration_ns = duration_ns,
        .options = t->options,
        .output_dir = "/tmp",
    };

    return load_adapter_command(a, &call, arena, &made, err);
}

int load_adapter_try_at(const struct load_adapter *a, const struct load_trying *t, struct error *err)
{
    struct error ignored = ERROR_INIT;

    if (try_once(a, t, t->duration_ns, err) == 0)
        return 0;
    if (t->duration_at.line && try_once(a, t, ANY_DURATION_NS, &ignored) == 0)
        return error_wrap(err, "%s:%d:%d", t->duration_at.file, t->duration_at.line, t->duration_at.column);
    return -1; /* it is not the duration */
}

int load_adapter_try(const struct load_adapter *a, const struct node *options, const char *script,
                     int64_t duration_ns, struct error *err)
{
    const struct load_trying t = {.options = options, .script = script, .duration_ns = duration_ns};

    return load_adapter_try_at(a, &t, err);
}

int load_adapter_version_command(const struct load_adapter *a, struct arena *arena,
                                 struct text_list *ret_argv, struct error *err)
{
    const struct text_list *args = &a->form.version.args;

    (void)err;
    *ret_argv = (struct text_list){arena_array(arena, const char *, args->len + 2), 0};
    if (!a->form.program || !args->len)
        return 0;
    ret_argv->items[ret_argv->len++] = a->form.program;
    for (size_t i = 0; i < args->len; i++)
        ret_argv->items[ret_argv->len++] = args->items[i];
    return 0;
}

const char *load_adapter_read_version(const struct load_adapter *a, const char *output, struct arena *arena)
{
    size_t start, end;

    for (const char *p = output; a->version_match && *p;) {
        size_t n = strcspn(p, "\r\n");
        if (pattern_match(a->version_match, p, n, &start, &end))
            return arena_strndup(arena, p + start, end - start);
        p += n + (p[n] != '\0');
    }
    return NULL;
}

int load_adapter_check_version(const struct load_adapter *a, const char *output, struct error *err)
{
    for (const char *p = output; *p;) {
        size_t n = strcspn(p, "\r\n");
        for (size_t i = 0; i < a->form.version.refuse.len; i++)
            if (pattern_match(a->version_refuse[i], p, n, NULL, NULL))
                return error_set(err, ERROR_ENVIRONMENT, "'%s' is not what load adapter '%s' needs: %s",
                                 a->form.program, a->name, a->form.version.refuse.items[i].value);
        p += n + (p[n] != '\0');
    }
    return 0;
}

static bool holds_spec(const struct text_list *texts)
{
    for (size_t i = 0; i < texts->len; i++)
        if (strstr(texts->items[i], "${spec}"))
            return true;
    return false;
}

bool load_adapter_takes_spec(const struct load_adapter *a)
{
    form_each(struct adapter_file, f, &a->form.files)
    {
        if (strstr(f->content, "${spec}"))
            return true;
    }
    form_each(struct adapter_argument, arg, &a->form.args)
    {
        if ((arg->text && strstr(arg->text, "${spec}")) || holds_spec(&arg->args))
            return true;
    }
    for (size_t i = 0; i < a->form.env.len; i++)
        if (strstr(a->form.env.items[i].value, "${spec}"))
            return true;
    return false;
}

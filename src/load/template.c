/* SPDX-License-Identifier: MIT */
/* `${...}` in an adapter's templates. */
#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "benchctl/base/interpolate.h"
#include "benchctl/base/json.h"
#include "benchctl/base/units.h"

/* The target's parts: "http", "10.0.0.2", "8080" of "http://10.0.0.2:8080/x". */
struct target_parts {
    const char *scheme, *hostport, *host, *port;
};

static struct target_parts split_target(const char *target, struct arena *a)
{
    struct target_parts t = {.scheme = "", .port = ""};
    const char *rest = strstr(target, "://");

    if (rest) {
        t.scheme = arena_strndup(a, target, (size_t)(rest - target));
        rest += 3;
    } else {
        rest = target;
    }
    t.hostport = arena_strndup(a, rest, strcspn(rest, "/?#"));
    const char *colon = strrchr(t.hostport, ':'), *bracket = strrchr(t.hostport, ']');
    if (colon && (!bracket || colon > bracket)) {
        t.host = arena_strndup(a, t.hostport, (size_t)(colon - t.hostport));
        t.port = colon + 1;
    } else {
        t.host = t.hostport;
        t.port = strcmp(t.scheme, "https") == 0 ? "443" : "80";
    }
    return t;
}

static void add_url(const struct load_call *call, struct strbuf *out)
{
    const char *path = call->path ? call->path : "/";
    size_t n = strlen(call->target);

    while (n && call->target[n - 1] == '/')
        n--;
    strbuf_add(out, call->target, n);
    if (path[0] != '/')
        strbuf_addc(out, '/');
    strbuf_adds(out, path);
}

int load_duration_text(int64_t ns, const char *suffix, struct strbuf *out, struct error *err)
{
    char buf[64];

    if (strcmp(suffix, "s") == 0 || strcmp(suffix, "ms") == 0) {
        (void)snprintf(buf, sizeof(buf), "%.9g", (double)ns / (suffix[0] == 's' ? 1e9 : 1e6));
        strbuf_adds(out, buf);
    } else if (strcmp(suffix, "int_s") == 0) {
        if (ns % INT64_C(1000000000)) {
            (void)error_set(err, ERROR_INVALID, "'%s' is not a whole number of seconds",
                            duration_format(ns, buf));
            return error_hint(err, "this generator takes whole seconds only");
        }
        strbuf_addf(out, "%" PRId64, ns / INT64_C(1000000000));
    } else {
        strbuf_adds(out, duration_format(ns, buf));
    }
    return 0;
}

static bool duration_suffix(const char *suffix)
{
    return !*suffix || strcmp(suffix, "s") == 0 || strcmp(suffix, "ms") == 0 || strcmp(suffix, "int_s") == 0;
}

/* "NAME.s": the part behind the dot; "" when there is none. *ret_len is the name's length. */
static const char *suffix_of(const char *name, size_t *ret_len)
{
    *ret_len = strcspn(name, ".");
    return name[*ret_len] ? name + *ret_len + 1 : "";
}

static const struct adapter_option *option_with_suffix(const struct load_adapter *a, const char *name,
                                                       const char **ret_suffix)
{
    size_t n;
    *ret_suffix = suffix_of(name, &n);
    CLEANUP_FREE char *alone = xstrndup(name, n);
    return load_option_find(a, alone);
}

static const struct adapter_file *find_file(const struct load_adapter *a, const char *name)
{
    form_each(struct adapter_file, f, &a->form.files) if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

bool load_template_name_known(const struct load_adapter *a, const char *name, bool in_flag)
{
    static const char *const names[] = {"target", "path",     "url",    "scheme",     "host",
                                        "port",   "hostport", "script", "output_dir", "spec"};
    const char *suffix;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    if (in_flag && (strcmp(name, "value") == 0 || strcmp(name, "key") == 0))
        return true;
    if (in_flag && text_starts(name, "value."))
        return duration_suffix(name + strlen("value."));
    if (text_starts(name, "output."))
        return load_output_find(a, name + strlen("output.")) != NULL;
    if (text_starts(name, "file."))
        return find_file(a, name + strlen("file.")) != NULL;
    const struct adapter_option *o = option_with_suffix(a, name, &suffix);
    if (o)
        return o->type == OPTION_TYPE_DURATION ? duration_suffix(suffix)
                                               : !*suffix && o->type < OPTION_TYPE_LIST;
    return text_starts(name, "duration") &&
           (name[8] == '\0' || (name[8] == '.' && duration_suffix(name + 9)));
}

static enum lookup_result add_typed(int type, const char *text, const char *suffix, struct strbuf *out,
                                    struct error *err)
{
    int64_t whole;

    if (type == OPTION_TYPE_DURATION) {
        if (duration_parse(text, &whole, err) < 0 || load_duration_text(whole, suffix, out, err) < 0)
            return LOOKUP_FAILED;
    } else if (type == OPTION_TYPE_SIZE) {
        if (size_parse(text, &whole, err) < 0)
            return LOOKUP_FAILED;
        strbuf_addf(out, "%" PRId64, whole);
    } else {
        strbuf_adds(out, text);
    }
    return LOOKUP_FOUND;
}

static enum lookup_result add_option(const struct template_scope *s, const char *name, struct strbuf *out,
                                     struct error *err)
{
    const char *suffix;
    const struct adapter_option *o = option_with_suffix(s->adapter, name, &suffix);
    const struct node *n = o ? load_option_node(o, s->call->options, s->arena) : NULL;

    if (!o)
        return LOOKUP_UNKNOWN;
    if (!n || n->kind != NODE_SCALAR) {
        (void)error_set(err, ERROR_INVALID, "option '%s' is not given", o->name);
        return LOOKUP_FAILED;
    }
    enum lookup_result r = add_typed(o->type, n->text, suffix, out, err);
    if (r == LOOKUP_FAILED)
        (void)error_wrap(err, "option '%s'", o->name);
    return r;
}

static enum lookup_result add_path(const struct template_scope *s, const char *file, struct strbuf *out)
{
    strbuf_addf(out, "%s/%s", s->call->output_dir, file);
    return LOOKUP_FOUND;
}

static enum lookup_result add_builtin(const struct template_scope *s, const char *name, struct strbuf *out,
                                      struct error *err)
{
    const struct target_parts t = split_target(s->call->target, s->arena);
    const struct {
        const char *name, *text;
    } plain[] = {{"target", s->call->target},
                 {"path", s->call->path ? s->call->path : "/"},
                 {"scheme", t.scheme},
                 {"host", t.host},
                 {"port", t.port},
                 {"hostport", t.hostport},
                 {"script", s->call->script ? s->call->script : ""},
                 {"output_dir", s->call->output_dir},
                 {"spec", s->call->spec ? s->call->spec : "{}"}};

    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        if (strcmp(plain[i].name, name) == 0) {
            strbuf_adds(out, plain[i].text);
            return LOOKUP_FOUND;
        }
    }
    if (strcmp(name, "url") == 0) {
        add_url(s->call, out);
        return LOOKUP_FOUND;
    }
    if (!text_starts(name, "duration") || (name[8] && name[8] != '.'))
        return LOOKUP_UNKNOWN;
    return load_duration_text(s->call->duration_ns, name[8] ? name + 9 : "", out, err) < 0 ? LOOKUP_FAILED
                                                                                           : LOOKUP_FOUND;
}

static enum lookup_result look_up_plain(const char *name, struct strbuf *out, void *data, struct error *err)
{
    const struct template_scope *s = data;

    if (s->value && text_starts(name, "value") && (name[5] == '\0' || name[5] == '.')) {
        if (!name[5])
            strbuf_adds(out, s->value);
        return name[5] ? add_typed(OPTION_TYPE_DURATION, s->value, name + 6, out, err) : LOOKUP_FOUND;
    }
    if (s->key && strcmp(name, "key") == 0) {
        strbuf_adds(out, s->key);
        return LOOKUP_FOUND;
    }
    if (text_starts(name, "output."))
        return add_path(s, load_output_find(s->adapter, name + strlen("output."))->file, out);
    if (text_starts(name, "file."))
        return add_path(s, find_file(s->adapter, name + strlen("file."))->file, out);
    enum lookup_result r = add_builtin(s, name, out, err);
    return r == LOOKUP_UNKNOWN ? add_option(s, name, out, err) : r;
}

/* What the JSON writer makes of it, without the quotes around it. */
static void add_json_inside(const struct strbuf *value, struct strbuf *out)
{
    CLEANUP(json_free) struct json *j = json_new_text(strbuf_text(value));
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    json_write(j, JSON_STYLE_COMPACT, &text);
    if (text.len >= 2 && strbuf_text(&text)[0] == '"')
        strbuf_add(out, strbuf_text(&text) + 1, text.len - 2);
}

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

static enum lookup_result look_up(const char *name, struct strbuf *out, void *data, struct error *err)
{
    const struct template_scope *s = data;
    CLEANUP_VALUE(strbuf_release) struct strbuf value = STRBUF_INIT;

    if (s->place == PLACE_ANY || strcmp(name, "spec") == 0)
        return look_up_plain(name, out, data, err);
    enum lookup_result r = look_up_plain(name, &value, data, err);
    if (r != LOOKUP_FOUND)
        return r;
    if (s->place == PLACE_JSON) {
        add_json_inside(&value, out);
    } else if (has_control(strbuf_text(&value))) {
        (void)error_set(err, ERROR_INVALID, "'%s' holds a control character", name);
        (void)error_hint(err, "it would be a line of its own in a file of the generator");
        return LOOKUP_FAILED;
    } else {
        strbuf_add(out, strbuf_text(&value), value.len);
    }
    return r;
}

int load_template_fill(const char *text, const struct template_scope *scope, const char **ret,
                       struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct template_scope s = *scope;

    if (interpolate(text, look_up, &s, &out, err) < 0)
        return -1;
    *ret = arena_strndup(scope->arena, strbuf_text(&out), out.len);
    return 0;
}

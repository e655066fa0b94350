/* SPDX-License-Identifier: MIT */
/* Reading: a tree → the C struct that a table describes. */
#include "benchctl/base/schema.h"

#include <assert.h>
#include <math.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/units.h"
#include "schema_internal.h"

struct reading {
    struct arena *a;
    const struct schema_options *options;
    struct error first;
    size_t problems;
};

static int read_struct(struct reading *r, const struct schema *s, const struct node *n, const char *name,
                       void *slot, struct error *err);
static int read_value(struct reading *r, const struct schema_field *f, const struct node *n, void *slot,
                      struct error *err);

/* A problem was found: 0 goes on (somebody collects them), -1 stops. */
static int problem(struct reading *r, const struct error *err)
{
    if (!r->options->report)
        return -1;
    if (!r->problems++)
        r->first = *err;
    r->options->report(err, r->options->data);
    return 0;
}

static const char *kind_name(const struct node *n)
{
    static const char *const names[] = {
        [NODE_NULL] = "null", [NODE_SCALAR] = "text", [NODE_LIST] = "a list", [NODE_MAP] = "a map"};

    return names[n->kind];
}

static int no_value(const struct schema_field *f, const struct node *n, struct error *err)
{
    node_error(err, n, "'%s' has no value", f->key);
    return error_hint(err, "remove it or give it a value; \"\" is an empty text");
}

static int want_kind(const struct schema_field *f, const struct node *n, enum node_kind kind,
                     struct error *err)
{
    if (n->kind == kind)
        return 0;
    if (n->kind == NODE_NULL)
        return no_value(f, n, err);
    return node_error(err, n, "'%s' must be %s, not %s", f->key,
                      kind == NODE_SCALAR ? schema_type_text(f->type)
                      : kind == NODE_LIST ? "a list"
                                          : "a map",
                      kind_name(n));
}

/* Puts the position and the key before what a parser of units said; its hint stays. */
static int wrap_unit_error(const struct schema_field *f, const struct node *n, struct error *err)
{
    struct error inner = *err;

    node_error(err, n, "'%s': %s", f->key, inner.message);
    return inner.hint[0] ? error_hint(err, "%s", inner.hint) : -1;
}

static int check_range(const struct schema_field *f, const struct node *n, int64_t value, struct error *err)
{
    char least[32], most[32], shown[SHOWN_SIZE];
    int64_t min = f->type == SCHEMA_SIZE && f->min < 0 ? 0 : f->min;
    bool open_end = !f->max && (min > 0 || f->type == SCHEMA_SIZE);

    if (f->type == SCHEMA_SIZE && value == SIZE_UNLIMITED)
        return f->min < 0 ? 0 : node_error(err, n, "'%s' cannot be unlimited", f->key);
    if ((!f->min && !f->max) || (value >= min && (open_end || value <= f->max)))
        return 0;
    schema_bound_text(f, min, least);
    schema_bound_text(f, f->max, most);
    text_shown(n->text, shown);
    if (open_end)
        return node_error(err, n, "'%s' must be at least %s, not %s", f->key, least, shown);
    return node_error(err, n, "'%s' must be from %s to %s, not %s", f->key, least, most, shown);
}

static int read_integer(const struct schema_field *f, const struct node *n, int64_t *slot, struct error *err)
{
    int64_t value = 0;
    int result = f->type == SCHEMA_INT        ? integer_parse(n->text, &value, err)
                 : f->type == SCHEMA_DURATION ? duration_parse(n->text, &value, err)
                 : strcmp(n->text, "0") == 0  ? 0 /* nothing needs no unit */
                                              : size_parse(n->text, &value, err);

    if (result < 0)
        return wrap_unit_error(f, n, err);
    if (check_range(f, n, value, err) < 0)
        return -1;
    *slot = value;
    return 0;
}

static int read_bool(const struct schema_field *f, const struct node *n, bool *slot, struct error *err)
{
    char shown[SHOWN_SIZE];
    bool yes = strcmp(n->text, "true") == 0;

    if (!n->quoted && (yes || strcmp(n->text, "false") == 0)) {
        *slot = yes;
        return 0;
    }
    node_error(err, n, "'%s' must be true or false, not %s'%s'", f->key, n->quoted ? "the text " : "",
               text_shown(n->text, shown));
    return error_hint(err, "only true and false are booleans here, in lower case and without quotes");
}

static int read_choice(const struct schema_field *f, const struct node *n, int *slot, struct error *err)
{
    char shown[SHOWN_SIZE], list[512];
    int count = 0;

    for (; f->choices[count]; count++) {
        if (strcmp(n->text, f->choices[count]) == 0) {
            *slot = count;
            return 0;
        }
    }
    schema_choices_text(f->choices, list, sizeof(list));
    node_error(err, n, "'%s' must be %s, not '%s'", f->key, list, text_shown(n->text, shown));
    const char *near = nearest_name(n->text, f->choices, (size_t)count);
    return near ? error_hint(err, "did you mean '%s'?", near) : -1;
}

/* A path as written or, below the directory of the options, absolute. A reference in front is nobody's
 * directory. */
static const char *text_or_path(struct reading *r, const struct schema_field *f, const char *text)
{
    const char *dir = f->path ? r->options->dir : NULL;

    if (!dir || !*text || *text == '/' || *text == '$')
        return text;
    return arena_printf(r->a, "%s%s%s", dir, text_ends(dir, "/") ? "" : "/", text);
}

static int read_scalar(struct reading *r, const struct schema_field *f, const struct node *n, void *slot,
                       struct error *err)
{
    if (want_kind(f, n, NODE_SCALAR, err) < 0)
        return -1;
    switch (f->type) {
    case SCHEMA_TEXT:
        *(const char **)slot = text_or_path(r, f, n->text);
        return 0;
    case SCHEMA_BOOL:
        return read_bool(f, n, slot, err);
    case SCHEMA_CHOICE:
        return read_choice(f, n, slot, err);
    case SCHEMA_NUMBER:
        return number_parse(n->text, slot, err) < 0 ? wrap_unit_error(f, n, err) : 0;
    default:
        return read_integer(f, n, slot, err);
    }
}

static int read_texts(struct reading *r, const struct schema_field *f, const struct node *n,
                      struct text_list *slot, struct error *err)
{
    bool one = n->kind == NODE_SCALAR;

    if (!one && want_kind(f, n, NODE_LIST, err) < 0)
        return -1;
    slot->items = arena_array(r->a, const char *, one ? 1 : n->len);
    for (size_t i = 0; i < (one ? 1 : n->len); i++) {
        const struct node *item = one ? n : n->items[i];
        if (want_kind(f, item, NODE_SCALAR, err) < 0)
            return -1;
        slot->items[slot->len++] = text_or_path(r, f, item->text);
    }
    return 0;
}

static int read_text_map(struct reading *r, const struct schema_field *f, const struct node *n,
                         struct text_map *slot, struct error *err)
{
    if (want_kind(f, n, NODE_MAP, err) < 0)
        return -1;
    slot->items = arena_array(r->a, struct text_pair, n->len);
    for (size_t i = 0; i < n->len; i++) {
        const struct schema_field one = {.key = n->keys[i]->text, .type = SCHEMA_TEXT};
        if (want_kind(&one, n->items[i], NODE_SCALAR, err) < 0)
            return -1;
        slot->items[slot->len++] =
            (struct text_pair){.key = n->keys[i]->text, .value = n->items[i]->text, .at = n->items[i]->at};
    }
    return 0;
}

static bool is_free_key(const char *key)
{
    return key[0] == 'x' && key[1] == '-';
}

static int read_items(struct reading *r, const struct schema_field *f, const struct node *n,
                      struct schema_list *slot, struct error *err)
{
    bool named = f->type == SCHEMA_NAMED;

    if (want_kind(f, n, named ? NODE_MAP : NODE_LIST, err) < 0)
        return -1;
    char *items = arena_alloc(r->a, f->of->size * n->len);
    slot->items = items;
    for (size_t i = 0; i < n->len; i++) {
        const char *name = named ? n->keys[i]->text : NULL;
        if (name && f->of->free_keys && is_free_key(name))
            continue;
        if (read_struct(r, f->of, n->items[i], name, items + f->of->size * slot->len, err) < 0)
            return -1;
        slot->len++;
    }
    return 0;
}

static int read_value(struct reading *r, const struct schema_field *f, const struct node *n, void *slot,
                      struct error *err)
{
    void *made;

    switch (f->type) {
    case SCHEMA_STRUCT:
        return n->kind == NODE_NULL ? no_value(f, n, err) : read_struct(r, f->of, n, NULL, slot, err);
    case SCHEMA_OPTIONAL:
        if (n->kind == NODE_NULL)
            return no_value(f, n, err);
        made = arena_alloc(r->a, f->of->size);
        if (read_struct(r, f->of, n, NULL, made, err) < 0)
            return -1;
        *(const void **)slot = made;
        return 0;
    case SCHEMA_LIST:
    case SCHEMA_NAMED:
        return read_items(r, f, n, slot, err);
    case SCHEMA_TEXTS:
        return read_texts(r, f, n, slot, err);
    case SCHEMA_TEXT_MAP:
        return read_text_map(r, f, n, slot, err);
    case SCHEMA_NODE:
    case SCHEMA_REST:
        *(const struct node **)slot = n;
        return 0;
    default:
        return read_scalar(r, f, n, slot, err);
    }
}

/* What a field holds when its key is not there. */
static int set_absent(struct reading *r, const struct schema_field *f, void *slot, struct error *err)
{
    if (f->fallback) {
        const struct node n = {.kind = NODE_SCALAR, .text = f->fallback};
        int result = read_value(r, f, &n, slot, err);
        assert(result == 0);
        return result;
    }
    if (f->type == SCHEMA_STRUCT)
        return read_struct(r, f->of, NULL, NULL, slot, err);
    if (f->type == SCHEMA_INT || f->type == SCHEMA_SIZE || f->type == SCHEMA_DURATION)
        *(int64_t *)slot = SCHEMA_ABSENT;
    if (f->type == SCHEMA_NUMBER)
        *(double *)slot = NAN;
    return 0;
}

/* Keys mostly come in the table's order: the search begins behind the last one found. */
static const struct schema_field *find_field(const struct schema *s, const char *key, size_t *hint)
{
    for (size_t k = 0, i = *hint; k < s->field_count; k++, i++) {
        if (i >= s->field_count)
            i = 0;
        const struct schema_field *f = &s->fields[i];
        if (f->key[0] == key[0] && f->type != SCHEMA_REST && strcmp(f->key, key) == 0) {
            *hint = i + 1;
            return f;
        }
    }
    return NULL;
}

static const struct schema_field *rest_field(const struct schema *s)
{
    for (size_t i = 0; i < s->field_count; i++) {
        if (s->fields[i].type == SCHEMA_REST)
            return &s->fields[i];
    }
    return NULL;
}

/* The section of this one that the key would be known in; NULL when there is none. */
static const char *section_of(const struct schema *s, const char *key)
{
    size_t hint = 0;

    for (; s; s = s->also) {
        for (size_t i = 0; i < s->field_count; i++) {
            const struct schema_field *f = &s->fields[i];
            bool one = f->type == SCHEMA_STRUCT || f->type == SCHEMA_OPTIONAL;
            if (one && find_field(f->of, key, &hint))
                return f->key;
            hint = 0;
        }
    }
    return NULL;
}

static int unknown_key(const struct schema *s, const struct node *key, struct error *err)
{
    const char *names[128];
    char shown[SHOWN_SIZE], list[800];
    size_t count = 0;

    for (const struct schema *part = s; part; part = part->also) {
        for (size_t i = 0; i < part->field_count && count + 1 < ARRAY_LEN(names); i++)
            names[count++] = part->fields[i].key;
    }
    names[count] = NULL;
    node_error(err, key, "unknown key '%s' in %s", text_shown(key->text, shown), s->name);
    const char *near = schema_other_name(s, key->text), *section = section_of(s, key->text);
    if (!near)
        near = nearest_name(key->text, names, count);
    if (near)
        return error_hint(err, "did you mean '%s'?", near);
    if (section)
        return error_hint(err, "'%s' belongs into '%s'", key->text, section);
    schema_choices_text(names, list, sizeof(list));
    return error_hint(err, "known here: %s", list);
}

/* Nobody knows yet what it will be. */
static bool is_open(const struct reading *r, const struct node *n)
{
    return r->options->unfilled && n->kind == NODE_SCALAR && n->refers;
}

/* The keys that no field names, as a map of their own. */
static void read_rest(struct reading *r, const struct schema *s, const struct node *n, char *value)
{
    const struct schema_field *rest = rest_field(s);
    struct node *map = NULL;
    size_t hint = 0;

    for (size_t i = 0; rest && i < n->len; i++) {
        if (find_field(s, n->keys[i]->text, &hint) || (s->free_keys && is_free_key(n->keys[i]->text)))
            continue;
        if (!map) {
            map = node_new(r->a, NODE_MAP, n->at);
            map->keys = arena_array(r->a, const struct node *, n->len);
            map->items = arena_array(r->a, const struct node *, n->len);
        }
        map->keys[map->len] = n->keys[i];
        map->items[map->len++] = n->items[i];
        map->refers |= n->items[i]->refers || n->keys[i]->refers;
    }
    if (rest)
        *(const struct node **)(void *)(value + rest->offset) = map;
}

static int read_keys(struct reading *r, const struct schema *s, const struct node *n, uint64_t *seen,
                     char *value, struct error *err)
{
    size_t hint = 0, ignored = 0;
    bool rest = rest_field(s) != NULL;

    for (size_t i = 0; i < n->len; i++) {
        const char *key = n->keys[i]->text;
        const struct schema_field *f = find_field(s, key, &hint);
        int result = 0;
        if (f) {
            *seen |= UINT64_C(1) << (f - s->fields);
            result = is_open(r, n->items[i]) ? set_absent(r, f, value + f->offset, err)
                                             : read_value(r, f, n->items[i], value + f->offset, err);
        } else if (!rest && !(s->free_keys && is_free_key(key)) &&
                   !(s->also && find_field(s->also, key, &ignored))) {
            result = unknown_key(s, n->keys[i], err);
        }
        if (result < 0 && problem(r, err) < 0)
            return -1;
    }
    return 0;
}

static int fill_absent(struct reading *r, const struct schema *s, const struct node *n, uint64_t seen,
                       char *value, struct error *err)
{
    for (size_t i = 0; i < s->field_count; i++) {
        const struct schema_field *f = &s->fields[i];
        if (seen >> i & 1)
            continue;
        if (f->required && n && n->kind == NODE_MAP && !r->options->part) {
            node_error(err, n, "'%s' is missing in %s", f->key, s->name);
            if (problem(r, err) < 0)
                return -1;
        }
        if (set_absent(r, f, value + f->offset, err) < 0)
            return -1;
    }
    return 0;
}

static int read_struct(struct reading *r, const struct schema *s, const struct node *n, const char *name,
                       void *slot, struct error *err)
{
    size_t before = r->problems;
    uint64_t seen = 0;

    assert(s->field_count <= 64);
    memset(slot, 0, s->size);
    if (name)
        *(const char **)slot = name;
    if (n && s->position_offset && s->position_offset != SCHEMA_NO_POSITION)
        *(struct position *)(void *)((char *)slot + s->position_offset) = n->at;
    if (n && is_open(r, n))
        return 0;
    if (n && n->kind != NODE_MAP && !(n->kind == NODE_SCALAR && s->from_scalar)) {
        (void)node_error(err, n, "%s must be a map, not %s", s->name, kind_name(n));
        return schema_want_map(s, n, err);
    }
    if (n && n->kind == NODE_MAP) {
        if (read_keys(r, s, n, &seen, slot, err) < 0)
            return -1;
        read_rest(r, s, n, slot);
    }
    if (fill_absent(r, s, n, seen, slot, err) < 0)
        return -1;
    if (r->problems > before || r->options->part || (n && n->refers && r->options->unfilled))
        return 0;
    if (n && n->kind == NODE_SCALAR && s->from_scalar(n, r->a, slot, err) < 0)
        return -1;
    if (s->complete && s->complete(n, r->a, slot, err) < 0)
        return -1;
    return n && s->check ? s->check(n, slot, err) : 0;
}

int schema_read_with(const struct schema *s, const struct node *n, const struct schema_options *o,
                     struct arena *a, void *ret, struct error *err)
{
    struct reading r = {.a = a, .options = o};
    int result = read_struct(&r, s, n, NULL, ret, err);

    if (result < 0 && problem(&r, err) < 0)
        return -1;
    if (!r.problems)
        return 0;
    *err = r.first;
    return -1;
}

int schema_read(const struct schema *s, const struct node *n, struct arena *a, void *ret, struct error *err)
{
    static const struct schema_options plain = {0};

    return schema_read_with(s, n, &plain, a, ret, err);
}

const char *text_map_get(const struct text_map *m, const char *key)
{
    for (size_t i = 0; i < m->len; i++) {
        if (strcmp(m->items[i].key, key) == 0)
            return m->items[i].value;
    }
    return NULL;
}

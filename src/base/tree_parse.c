/* SPDX-License-Identifier: MIT */
/* libyaml's events → nodes. The only file that knows libyaml. */
#include "tree_internal.h"

#include <yaml.h>

#define TAG_PREFIX "tag:yaml.org,2002:"

/* A container whose end has not come yet. */
struct frame {
    enum node_kind kind;
    struct position at;
    size_t first;  /* its first child on the stack of children */
    size_t weight; /* nodes below, with aliases followed */
    int height;    /* levels below */
    size_t anchor; /* index, or NO_ANCHOR */
    const struct node *key;
    bool merge;
};
#define NO_ANCHOR SIZE_MAX

struct anchor {
    const struct node *node; /* NULL while its end has not come */
    size_t weight;
    int height;
};

struct reader {
    yaml_parser_t yaml;
    const char *file;
    struct arena *arena;
    struct source_text text;
    size_t next_odd; /* of text.odd */
    struct frame frames[TREE_MAX_DEPTH];
    int depth;
    VEC(struct child) children;
    VEC(struct anchor) anchors;
    struct name_index anchor_names;
    size_t total;
    const struct node *root;
};

static struct position position_of(const struct reader *r, yaml_mark_t m)
{
    return (struct position){.file = r->file, .line = (int)m.line + 1, .column = (int)m.column + 1};
}

static int odd_indent_error(const struct reader *r, const struct odd_indent *odd, struct error *err)
{
    struct position at = {.file = r->file, .line = odd->line, .column = odd->column};

    position_error(err, at, odd->tab ? "a tab in the indentation" : "a no-break space in the indentation");
    return error_hint(err, "indent with spaces");
}

/* Was indentation before or at this event made of what only looks like spaces? */
static int check_indents(struct reader *r, const yaml_event_t *e, struct error *err)
{
    int start = (int)e->start_mark.line + 1, end = (int)e->end_mark.line + 1;
    bool scalar = e->type == YAML_SCALAR_EVENT;
    yaml_scalar_style_t style = scalar ? e->data.scalar.style : YAML_ANY_SCALAR_STYLE;
    bool block = style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE;
    bool quoted = style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;

    if (block && e->end_mark.column == 0)
        end--; /* its end is where the next thing begins */
    for (; r->next_odd < r->text.odd.len; r->next_odd++) {
        const struct odd_indent *odd = &r->text.odd.items[r->next_odd];
        if (odd->line > start && (odd->line > end || !scalar))
            return 0;
        if (!odd->blank && (odd->line <= start || !(block || quoted)))
            return odd_indent_error(r, odd, err);
    }
    return 0;
}

static int count(struct reader *r, size_t nodes, yaml_mark_t where, struct error *err)
{
    r->total += nodes;
    if (r->total <= TREE_MAX_NODES)
        return 0;
    position_error(err, position_of(r, where), "more than %d nodes after following aliases", TREE_MAX_NODES);
    return error_hint(
        err, "anchors that hold aliases multiply; the limit keeps a small file from filling the memory");
}

static int check_depth(const struct reader *r, int height, yaml_mark_t where, struct error *err)
{
    if (r->depth + height <= TREE_MAX_DEPTH)
        return 0;
    return position_error(err, position_of(r, where), "nested deeper than %d levels", TREE_MAX_DEPTH);
}

/* Takes a value to where it belongs: the root, a list's next item, a map's next key or value. */
static int add(struct reader *r, const struct node *n, bool merge_key, yaml_mark_t where, struct error *err)
{
    struct frame *f = r->depth ? &r->frames[r->depth - 1] : NULL;

    if (!f) {
        r->root = n;
        return 0;
    }
    if (f->kind == NODE_LIST) {
        vec_push(&r->children, (struct child){.value = n});
        return 0;
    }
    if (f->key) {
        vec_push(&r->children, (struct child){.key = f->key, .value = n, .merge = f->merge});
        f->key = NULL;
        return 0;
    }
    if (n->kind != NODE_SCALAR)
        return position_error(err, position_of(r, where),
                              n->kind == NODE_NULL ? "a key is empty" : "a key must be text, not a %s",
                              n->kind == NODE_LIST ? "list" : "map");
    f->key = n;
    f->merge = merge_key;
    return 0;
}

static void weigh(struct reader *r, size_t weight, int height)
{
    if (!r->depth)
        return;
    struct frame *f = &r->frames[r->depth - 1];
    f->weight += weight;
    if (height + 1 > f->height)
        f->height = height + 1;
}

/* Opens an anchor's name: an alias to it is an error until anchor_close(). */
static size_t anchor_open(struct reader *r, const yaml_char_t *name)
{
    bool fresh;

    if (!name)
        return NO_ANCHOR;
    vec_push(&r->anchors, (struct anchor){0});
    const char *kept = arena_strdup(r->arena, (const char *)name);
    *name_index_put(&r->anchor_names, kept, 0, &fresh) = r->anchors.len - 1;
    return r->anchors.len - 1;
}

static void anchor_close(struct reader *r, size_t anchor, const struct node *n, size_t weight, int height)
{
    if (anchor != NO_ANCHOR)
        r->anchors.items[anchor] = (struct anchor){.node = n, .weight = weight, .height = height};
}

/* The types come from the schema; a tag may only repeat what the syntax says, or make text of a null. */
static int check_tag(const struct reader *r, const yaml_char_t *tag, const char *allowed, yaml_mark_t where,
                     struct error *err)
{
    const char *text = (const char *)tag;
    char shown[SHOWN_SIZE];
    size_t prefix = strlen(TAG_PREFIX);

    if (!text)
        return 0;
    bool known = strncmp(text, TAG_PREFIX, prefix) == 0;
    if (known && strcmp(text + prefix, allowed) == 0)
        return 0;
    position_error(err, position_of(r, where), "tag '%s%s' is not supported here", known ? "!!" : "",
                   text_shown(known ? text + prefix : text, shown));
    return error_hint(err, "leave tags away: values are text until the schema gives them a type");
}

static int on_scalar(struct reader *r, const yaml_event_t *e, struct error *err)
{
    char *text = (char *)e->data.scalar.value;
    size_t len = e->data.scalar.length;
    bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !e->data.scalar.tag;
    const struct frame *f = r->depth ? &r->frames[r->depth - 1] : NULL;
    bool is_key = f && f->kind == NODE_MAP && !f->key;

    if (check_tag(r, e->data.scalar.tag, "str", e->start_mark, err) < 0 ||
        count(r, 1, e->start_mark, err) < 0)
        return -1;
    if (r->text.marked)
        len = source_text_unmark(text, len);
    if (memchr(text, '\0', len))
        return position_error(err, position_of(r, e->start_mark),
                              "a NUL character cannot be part of a value");
    if (len > TREE_MAX_SCALAR)
        return position_error(err, position_of(r, e->start_mark), "a value of more than %zu KiB",
                              TREE_MAX_SCALAR >> 10);
    bool null = plain && (!len || (!is_key && (strcmp(text, "~") == 0 || strcmp(text, "null") == 0)));
    struct node *n = node_new(r->arena, null ? NODE_NULL : NODE_SCALAR, position_of(r, e->start_mark));
    n->quoted = !plain;
    n->end_line = (int)e->end_mark.line + 1;
    n->end_column = (int)e->end_mark.column + 1;
    if (!null)
        n->text = arena_strndup(r->arena, text, len);
    n->refers = strstr(n->text, "${") != NULL;
    anchor_close(r, anchor_open(r, e->data.scalar.anchor), n, 1, 0);
    weigh(r, 1, 0);
    return add(r, n, plain && strcmp(text, "<<") == 0, e->start_mark, err);
}

static int on_alias(struct reader *r, const yaml_event_t *e, struct error *err)
{
    const char *name = (const char *)e->data.alias.anchor;
    const size_t *at = name_index_get(&r->anchor_names, name);
    char shown[SHOWN_SIZE];

    if (!at)
        return position_error(err, position_of(r, e->start_mark), "no anchor '&%s' before this alias",
                              text_shown(name, shown));
    const struct anchor *x = &r->anchors.items[*at];
    if (!x->node)
        return position_error(err, position_of(r, e->start_mark), "anchor '&%s' contains itself",
                              text_shown(name, shown));
    if (count(r, x->weight, e->start_mark, err) < 0 || check_depth(r, x->height, e->start_mark, err) < 0)
        return -1;
    weigh(r, x->weight, x->height);
    return add(r, x->node, false, e->start_mark, err);
}

static int on_start(struct reader *r, const yaml_event_t *e, struct error *err)
{
    bool list = e->type == YAML_SEQUENCE_START_EVENT;
    const yaml_char_t *tag = list ? e->data.sequence_start.tag : e->data.mapping_start.tag;
    const yaml_char_t *anchor = list ? e->data.sequence_start.anchor : e->data.mapping_start.anchor;

    if (check_tag(r, tag, list ? "seq" : "map", e->start_mark, err) < 0 ||
        count(r, 1, e->start_mark, err) < 0 || check_depth(r, 1, e->start_mark, err) < 0)
        return -1;
    r->frames[r->depth++] = (struct frame){
        .kind = list ? NODE_LIST : NODE_MAP,
        .at = position_of(r, e->start_mark),
        .first = r->children.len,
        .weight = 1,
        .anchor = anchor_open(r, anchor),
    };
    return 0;
}

static int on_end(struct reader *r, const yaml_event_t *e, struct error *err)
{
    struct frame f = r->frames[--r->depth];
    const struct child *children = r->children.items ? r->children.items + f.first : NULL;
    size_t len = r->children.len - f.first;
    struct node *n = node_new(r->arena, f.kind, f.at);

    if (f.kind == NODE_MAP) {
        if (tree_build_map(r->arena, n, children, len, err) < 0)
            return -1;
    } else {
        n->items = arena_array(r->arena, const struct node *, len);
        n->len = len;
        for (size_t i = 0; children && i < len; i++)
            n->items[i] = children[i].value;
    }
    for (size_t i = 0; i < n->len; i++)
        n->refers |= n->items[i]->refers || (n->keys && n->keys[i]->refers);
    r->children.len = f.first;
    anchor_close(r, f.anchor, n, f.weight, f.height);
    weigh(r, f.weight, f.height);
    return add(r, n, false, e->start_mark, err);
}

static int on_event(struct reader *r, const yaml_event_t *e, struct error *err)
{
    if (check_indents(r, e, err) < 0)
        return -1;
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->root) {
            position_error(err, position_of(r, e->start_mark),
                           "a second document begins here; exactly one is expected");
            return error_hint(err, "remove the '---' line or put the rest into a file of its own");
        }
        return 0;
    case YAML_SCALAR_EVENT:
        return on_scalar(r, e, err);
    case YAML_ALIAS_EVENT:
        return on_alias(r, e, err);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return on_start(r, e, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(r, e, err);
    default:
        return 0;
    }
}

static int syntax_error(const struct reader *r, struct error *err)
{
    const yaml_parser_t *y = &r->yaml;
    struct position at = position_of(r, y->problem_mark);

    for (size_t i = r->next_odd; i < r->text.odd.len; i++) {
        if (r->text.odd.items[i].line == at.line)
            return odd_indent_error(r, &r->text.odd.items[i], err);
    }
    if (r->root && !r->depth)
        return position_error(err, at,
                              "text after the end of the document; exactly one document is expected");
    if (!y->problem)
        return position_error(err, at, "not valid YAML");
    if (!y->context || y->context_mark.line == y->problem_mark.line)
        return position_error(err, at, "%s", y->problem);
    return position_error(err, at, "%s (%s that began on line %d)", y->problem, y->context,
                          (int)y->context_mark.line + 1);
}

static int read_events(struct reader *r, struct error *err)
{
    for (bool done = false; !done;) {
        yaml_event_t e;
        if (!yaml_parser_parse(&r->yaml, &e))
            return syntax_error(r, err);
        int result = on_event(r, &e, err);
        done = e.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
        if (result < 0)
            return -1;
    }
    if (!r->root || r->root->kind == NODE_NULL) {
        position_error(err, (struct position){.file = r->file}, "the file is empty: no document here");
        return error_hint(err, "a file of comments alone says nothing");
    }
    return 0;
}

int tree_parse(const char *bytes, size_t len, const char *file, struct arena *a, const struct node **ret,
               struct error *err)
{
    struct reader *r = xcalloc(1, sizeof(*r));

    r->arena = a;
    r->file = arena_strdup(a, file);
    int result = source_text_read(&r->text, bytes, len, r->file, err);
    if (result == 0 && !yaml_parser_initialize(&r->yaml))
        abort(); /* out of memory */
    if (result == 0) {
        source_text_mark_references(&r->text);
        yaml_parser_set_input_string(&r->yaml, (const unsigned char *)r->text.bytes, r->text.len);
        result = read_events(r, err);
        yaml_parser_delete(&r->yaml);
    }
    if (result == 0)
        *ret = r->root;
    source_text_release(&r->text);
    name_index_release(&r->anchor_names);
    vec_release(&r->children);
    vec_release(&r->anchors);
    free(r);
    return result;
}

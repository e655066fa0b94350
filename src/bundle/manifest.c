/* SPDX-License-Identifier: MIT */
/* manifest.json and seal.json: what a bundle holds, first and last. */
#include <inttypes.h>
#include "internal.h"

#define MEMBERS_MAX 500000
#define VALUE_MAX ((size_t)65536) /* bytes of one value: bounds what a hostile manifest makes of memory */
#define SIZE_MAX_BYTES ((int64_t)1 << 50)

void manifest_init(struct manifest *m)
{
    *m = (struct manifest){.arena = arena_new(), .schema = BUNDLE_SCHEMA};
}

void manifest_release(struct manifest *m)
{
    vec_release(&m->members);
    arena_free(m->arena);
    m->arena = NULL;
}

static bool plain_char(char c)
{
    return c >= ' ' && c <= '~' && c != '\\';
}

bool member_name_ok(const char *name)
{
    struct error ignored = ERROR_INIT;

    for (const char *p = name; *p; p++) {
        if (!plain_char(*p))
            return false;
    }
    return archive_name_check(name, &ignored) == 0 && !text_equal(name, MANIFEST_FILE) &&
           !text_equal(name, SEAL_FILE);
}

int member_check_blob(const struct manifest_member *m, struct error *err)
{
    static const char prefix[] = BUNDLE_IMAGES_DIR "/blobs/sha256-";

    if (!text_starts(m->name, prefix) || strcmp(m->name + strlen(prefix), m->sha256) == 0)
        return 0;
    return error_set(err, ERROR_INVALID, "'%s' is not what its name says: its SHA-256 is %s", m->name,
                     m->sha256);
}

void member_name_from(const char *relative, struct strbuf *out)
{
    for (const char *p = relative; *p; p++) {
        if (plain_char(*p))
            strbuf_addc(out, *p);
        else
            strbuf_addf(out, "%%%02X", (unsigned char)*p);
    }
}

void manifest_format(const struct manifest *m, struct strbuf *out)
{
    strbuf_addf(
        out, "{\"kind\":\"benchctl bundle\",\"schema\":%d,\"count\":%zu,\"bytes\":%" PRId64 ",\"members\":[",
        m->schema, m->members.len, m->bytes);
    for (size_t i = 0; i < m->members.len; i++) {
        const struct manifest_member *member = &m->members.items[i];
        CLEANUP(json_free) struct json *j = json_new_object();

        json_set_text(j, "name", member->name);
        json_set_int(j, "size", member->size);
        json_set_text(j, "sha256", member->sha256);
        strbuf_adds(out, i ? ",\n" : "\n");
        json_write(j, JSON_STYLE_COMPACT, out);
        strbuf_trim_end(out);
    }
    strbuf_adds(out, "\n]}\n");
}

/* --- reading: value by value, so that only what is needed is ever in memory --- */

struct cursor {
    const char *at, *end;
};

static int damaged(const char *why, struct error *err)
{
    return error_set(err, ERROR_INVALID, MANIFEST_FILE " is not a bundle's manifest: %s", why);
}

static char peek(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
    return c->at < c->end ? *c->at : '\0';
}

static int expect(struct cursor *c, char wanted, struct error *err)
{
    if (peek(c) != wanted)
        return error_set(err, ERROR_INVALID, MANIFEST_FILE " is not a bundle's manifest: '%c' is missing",
                         wanted);
    c->at++;
    return 0;
}

/* Length of the text at p, quotes included; 0 when it has no end. */
static size_t text_length(const char *p, size_t left)
{
    size_t n = 1;

    while (n < left && p[n] != '"')
        n += p[n] == '\\' ? 2 : 1;
    return n < left ? n + 1 : 0;
}

/* Length of the value at p, by its brackets and quotes alone; 0 when it has no end. What is in it the parser
 * decides. */
static size_t value_length(const char *p, size_t left)
{
    size_t n = 0, depth = 0;

    if (left > VALUE_MAX)
        left = VALUE_MAX;
    while (n < left) {
        size_t step = 1;

        if (p[n] == '"') {
            step = text_length(p + n, left - n);
            if (!step)
                return 0;
        } else if (p[n] == '{' || p[n] == '[') {
            depth++;
        } else if (p[n] == '}' || p[n] == ']') {
            if (!depth)
                return n; /* of a word: its parent ends */
            depth--;
        } else if (!depth && strchr(" \t\r\n,:", p[n])) {
            return n;
        }
        n += step;
        if (!depth && strchr("\"}]", p[n - 1]))
            return n;
    }
    return 0;
}

/* Any one value, in an array of its own: *ret is [VALUE]. */
static int take_value(struct cursor *c, struct json **ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    size_t used = peek(c) ? value_length(c->at, (size_t)(c->end - c->at)) : 0;

    if (!used)
        return damaged("a value is missing, has no end or is too long", err);
    strbuf_addc(&text, '[');
    strbuf_add(&text, c->at, used);
    strbuf_addc(&text, ']');
    c->at += used;
    return json_parse(text.data, text.len, MANIFEST_FILE, ret, err);
}

static bool is_sha256(const char *text)
{
    return text && strlen(text) == SHA256_HEX_SIZE - 1 &&
           strspn(text, "0123456789abcdef") == SHA256_HEX_SIZE - 1;
}

static int add_member(struct manifest *m, const struct json *j, struct error *err)
{
    const char *name = json_get_text(j, "name"), *sha256 = json_get_text(j, "sha256");
    const struct manifest_member *last = m->members.len ? &m->members.items[m->members.len - 1] : NULL;
    struct manifest_member member = {.size = json_get_int(j, "size")};
    char shown[200];

    if (!name || !is_sha256(sha256) || !json_is_int(json_get(j, "size")))
        return damaged("a member lacks 'name', 'size' or 'sha256'", err);
    (void)archive_printable(name, shown, sizeof(shown));
    if (!member_name_ok(name))
        return error_set(err, ERROR_INVALID, MANIFEST_FILE " lists '%s', which no member can be called",
                         shown);
    if (last && strcmp(last->name, name) >= 0)
        return error_set(err, ERROR_INVALID, MANIFEST_FILE " lists '%s' %s", shown,
                         strcmp(last->name, name) == 0 ? "twice" : "out of order");
    if (member.size < 0 || member.size > SIZE_MAX_BYTES - m->bytes)
        return error_set(err, ERROR_INVALID, MANIFEST_FILE " lists '%s' with an impossible size", shown);
    if (m->members.len >= MEMBERS_MAX)
        return error_set(err, ERROR_INVALID, MANIFEST_FILE " lists more than %d members", MEMBERS_MAX);
    member.name = arena_strdup(m->arena, name);
    memcpy(member.sha256, sha256, sizeof(member.sha256));
    if (member_check_blob(&member, err) < 0)
        return -1;
    m->bytes += member.size;
    vec_push(&m->members, member);
    return 0;
}

static int take_members(struct cursor *c, struct manifest *m, struct error *err)
{
    if (m->members.len)
        return damaged("'members' is there twice", err);
    if (expect(c, '[', err) < 0)
        return -1;
    for (bool first = true; peek(c) != ']'; first = false) {
        CLEANUP(json_free) struct json *value = NULL;

        if (!first && expect(c, ',', err) < 0)
            return -1;
        if (take_value(c, &value, err) < 0 || add_member(m, json_at(value, 0), err) < 0)
            return -1;
    }
    return expect(c, ']', err);
}

/* `value` is [VALUE] of a key other than members. */
static int set_header(struct manifest *m, const char *key, const struct json *value, struct error *err)
{
    const struct json *v = json_at(value, 0);

    if (text_equal(key, "kind") && !text_equal(json_text(v), "benchctl bundle"))
        return damaged("'kind' is something else", err);
    if (!text_equal(key, "schema"))
        return 0;
    if (m->schema)
        return damaged("'schema' is there twice", err);
    CLEANUP(json_free) struct json *holder = json_new_object();
    json_set(holder, "v", json_clone(v));
    int64_t schema = json_is_int(v) ? json_get_int(holder, "v") : 0;
    if (schema < 1)
        return damaged("'schema' is no version", err);
    if (schema > BUNDLE_SCHEMA) {
        (void)error_set(err, ERROR_INVALID, "the bundle was written by a newer benchctl (schema %" PRId64 ")",
                        schema);
        return error_hint(err, "use that version; this one knows schema %d", BUNDLE_SCHEMA);
    }
    m->schema = (int)schema;
    return 0;
}

static int parse(struct cursor *c, struct manifest *m, struct error *err)
{
    bool has_members = false;

    if (expect(c, '{', err) < 0)
        return -1;
    for (bool first = true; peek(c) != '}'; first = false) {
        CLEANUP(json_free) struct json *key = NULL, *value = NULL;

        if ((!first && expect(c, ',', err) < 0) || take_value(c, &key, err) < 0 || expect(c, ':', err) < 0)
            return -1;
        const char *name = json_text(json_at(key, 0));
        if (!name)
            return damaged("a key is not text", err);
        if (text_equal(name, "members")) {
            if (has_members || take_members(c, m, err) < 0)
                return has_members ? damaged("'members' is there twice", err) : -1;
            has_members = true;
        } else if (take_value(c, &value, err) < 0 || set_header(m, name, value, err) < 0) {
            return -1;
        }
    }
    c->at++;
    if (peek(c) || c->at != c->end)
        return damaged("something follows it", err);
    if (!m->schema || !has_members)
        return damaged("'schema' or 'members' is missing", err);
    return 0;
}

int manifest_parse(const char *text, size_t len, struct manifest *ret, struct error *err)
{
    CLEANUP_VALUE(manifest_release) struct manifest m;
    struct cursor c = {text, text + len};

    manifest_init(&m);
    m.schema = 0;
    if (parse(&c, &m, err) < 0)
        return -1;
    *ret = m;
    m = (struct manifest){0};
    return 0;
}

/* --- the seal --- */

void seal_format(const struct manifest *m, const char *manifest_sha256, struct strbuf *out)
{
    strbuf_addf(
        out, "{\"kind\":\"benchctl seal\",\"manifest_sha256\":\"%s\",\"count\":%zu,\"bytes\":%" PRId64 "}\n",
        manifest_sha256, m->members.len, m->bytes);
}

int seal_check(const struct manifest *m, const char *manifest_sha256, const char *text, size_t len,
               struct error *err)
{
    CLEANUP(json_free) struct json *j = NULL;

    if (json_parse(text, len, SEAL_FILE, &j, err) < 0)
        return -1;
    if (!text_equal(json_get_text(j, "manifest_sha256"), manifest_sha256) ||
        json_get_int(j, "count") != (int64_t)m->members.len || json_get_int(j, "bytes") != m->bytes)
        return error_set(err, ERROR_INVALID, SEAL_FILE " does not fit " MANIFEST_FILE);
    return 0;
}

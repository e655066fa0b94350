/* SPDX-License-Identifier: MIT */
#include "benchctl/base/secrets.h"

#include <stdlib.h>
#include <string.h>
#include "benchctl/base/log.h"
#include "benchctl/base/strbuf.h"

/* Every form in which one is looked for. */
static VEC(char *) forms;
static size_t longest;

/* What is not masked, a line each, and the values that are not learnt for it. */
static struct strbuf spared[SECRET_PLACES];
static VEC(char *) refused;

/* Words that are set as passwords of throw-away servers, and stand in every log. */
static const char *const ordinary[] = {"postgres", "password", "secret", "benchctl", "localhost", "changeme"};

static bool is_ordinary(const char *value)
{
    if (strspn(value, "0123456789.") == strlen(value))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(ordinary); i++)
        if (strcasecmp(value, ordinary[i]) == 0)
            return true;
    return false;
}

static bool is_listed(char *const *list, size_t len, const char *value)
{
    for (size_t i = 0; i < len; i++)
        if (strcmp(list[i], value) == 0)
            return true;
    return false;
}

static void add_form(const char *text)
{
    size_t len = strlen(text);

    if (is_listed(forms.items, forms.len, text))
        return;
    vec_push(&forms, xstrdup(text));
    longest = len > longest ? len : longest;
}

static void add_json_form(const char *value)
{
    static const char letters[] = "\b\f\n\r\t\"\\", escapes[] = "bfnrt\"\\";
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    for (const char *p = value; *p; p++) {
        const char *special = strchr(letters, *p);
        if (special)
            strbuf_addf(&out, "\\%c", escapes[special - letters]);
        else if ((unsigned char)*p < ' ')
            strbuf_addf(&out, "\\u%04X", (unsigned)*p);
        else
            strbuf_addc(&out, *p);
    }
    add_form(strbuf_text(&out));
}

static void add_url_form(const char *value, const char *digits)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') ||
                     strchr("-._~", *p);
        if (plain)
            strbuf_addc(&out, (char)*p);
        else
            strbuf_addf(&out, "%%%c%c", digits[*p >> 4], digits[*p & 15]);
    }
    add_form(strbuf_text(&out));
}

/* --- what stays as it is --- */

void secrets_spare(enum secret_place where, const char *text)
{
    struct strbuf *all = &spared[where];

    if (!text || (where == SECRET_IN_IMAGE && all->len && strstr(all->data, text)))
        return; /* images come again with each trial */
    strbuf_adds(all, text);
    strbuf_addc(all, '\n');
}

static bool is_spared(const char *value, const char *source)
{
    static const char *const places[SECRET_PLACES] = {
        [SECRET_IN_SCENARIO] = "a scenario's name",
        [SECRET_IN_AXIS] = "a value of an axis",
        [SECRET_IN_IMAGE] = "an image's name",
        [SECRET_IN_SERVICE] = "a service's name",
        [SECRET_IN_PATH] = "a path",
    };

    if (is_listed(refused.items, refused.len, value))
        return true;
    for (size_t i = 0; i < SECRET_PLACES; i++) {
        if (!strstr(strbuf_text(&spared[i]), value))
            continue;
        vec_push(&refused, xstrdup(value));
        if (source)
            warn("the value of '%s' is also part of %s: it is not masked", source, places[i]);
        else
            warn("a password is also part of %s: it is not masked", places[i]);
        return true;
    }
    return false;
}

void secrets_learn(const char *value)
{
    secrets_learn_of(value, NULL);
}

void secrets_learn_of(const char *value, const char *source)
{
    size_t len = value ? strlen(value) : 0;

    if (len < SECRET_MIN_BYTES || len > SECRET_MAX_BYTES || is_ordinary(value) ||
        is_listed(forms.items, forms.len, value) || is_spared(value, source))
        return;
    add_form(value);
    add_json_form(value);
    add_url_form(value, "0123456789ABCDEF");
    add_url_form(value, "0123456789abcdef");
}

bool secrets_known(void)
{
    return forms.len > 0;
}

size_t secrets_longest(void)
{
    return longest;
}

void secrets_forget(void)
{
    vec_each (f, &forms)
        free(*f);
    vec_release(&forms);
    vec_each (r, &refused)
        free(*r);
    vec_release(&refused);
    for (size_t i = 0; i < SECRET_PLACES; i++)
        strbuf_release(&spared[i]);
    longest = 0;
}

/* --- masking --- */

bool secrets_mask(char *bytes, size_t len)
{
    bool any = false;

    vec_each (f, &forms) {
        size_t n = strlen(*f);
        for (char *p = bytes; (p = memmem(p, len - (size_t)(p - bytes), *f, n)); p += n) {
            memset(p, '*', n);
            any = true;
        }
    }
    return any;
}

void secrets_mask_text(char *text)
{
    if (text && secrets_known())
        (void)secrets_mask(text, strlen(text));
}

bool secrets_in(const char *text)
{
    vec_each (f, &forms)
        if (strstr(text, *f))
            return true;
    return false;
}

/* --- a stream --- */

struct secrets_stream {
    secrets_sink *sink;
    void *data;
    struct strbuf held;
};

struct secrets_stream *secrets_stream_new(secrets_sink *sink, void *data)
{
    struct secrets_stream *s = xcalloc(1, sizeof(*s));

    s->sink = sink;
    s->data = data;
    s->held = (struct strbuf)STRBUF_INIT;
    return s;
}

int secrets_stream_write(struct secrets_stream *s, const char *bytes, size_t len, struct error *err)
{
    if (!secrets_known() && !s->held.len)
        return s->sink(bytes, len, s->data, err);
    strbuf_add(&s->held, bytes, len);
    (void)secrets_mask(s->held.data, s->held.len);
    size_t kept = longest ? longest - 1 : 0;
    if (s->held.len <= kept)
        return 0;
    size_t ready = s->held.len - kept;
    if (s->sink(s->held.data, ready, s->data, err) < 0)
        return -1;
    strbuf_consume(&s->held, ready);
    return 0;
}

int secrets_stream_end(struct secrets_stream *s, struct error *err)
{
    size_t len = s->held.len;

    if (!len)
        return 0;
    int rc = s->sink(s->held.data, len, s->data, err);
    strbuf_consume(&s->held, len);
    return rc;
}

void secrets_stream_free(struct secrets_stream *s)
{
    if (!s)
        return;
    strbuf_release(&s->held);
    free(s);
}

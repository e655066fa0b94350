/* SPDX-License-Identifier: MIT */
#include "schema_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <strings.h>
#include "benchctl/base/strbuf.h"
#include "benchctl/base/units.h"

const char *schema_type_text(enum schema_type type)
{
    static const char *const names[] = {
        [SCHEMA_TEXT] = "text",
        [SCHEMA_INT] = "a whole number",
        [SCHEMA_NUMBER] = "a number",
        [SCHEMA_BOOL] = "true or false",
        [SCHEMA_SIZE] = "a size",
        [SCHEMA_DURATION] = "a duration",
        [SCHEMA_CHOICE] = "one of the choices",
        [SCHEMA_STRUCT] = "a map",
        [SCHEMA_OPTIONAL] = "a map",
        [SCHEMA_LIST] = "a list",
        [SCHEMA_NAMED] = "a map of names",
        [SCHEMA_TEXTS] = "text or a list of texts",
        [SCHEMA_TEXT_MAP] = "a map of texts",
        [SCHEMA_NODE] = "anything",
        [SCHEMA_REST] = "anything",
    };

    return names[type];
}

static const char *zero_text(char *buf)
{
    buf[0] = '0';
    buf[1] = '\0';
    return buf;
}

const char *schema_bound_text(const struct schema_field *f, int64_t bound, char *buf)
{
    if (f->type == SCHEMA_SIZE)
        return bound ? size_format(bound, buf) : zero_text(buf);
    if (f->type == SCHEMA_DURATION)
        return bound ? duration_format(bound, buf) : zero_text(buf);
    (void)snprintf(buf, 32, "%" PRId64, bound);
    return buf;
}

const char *schema_choices_text(const char *const *choices, char *buf, size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; choices[i]; i++) {
        const char *before = !i ? "" : choices[i + 1] ? ", " : " or ";
        size_t need = strlen(before) + strlen(choices[i]);
        if (used + need + sizeof(", ...") > size) {
            (void)snprintf(buf + used, size - used, ", ...");
            break;
        }
        used += (size_t)snprintf(buf + used, size - used, "%s%s", before, choices[i]);
    }
    return buf;
}

bool text_is_secret_key(const char *key)
{
    return strcasestr(key, "password") || strcasestr(key, "secret") || strcasestr(key, "token");
}

/* The password of "scheme://user:PASSWORD@": where it begins; *ret_len its length. `p` stands at "://". */
static const char *url_password(const char *p, size_t *ret_len)
{
    const char *user = p + 3;
    size_t authority = strcspn(user, "/ \t\n\"'?#,");
    const char *at = memrchr(user, '@', authority);
    const char *colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;

    if (!colon || at == colon + 1)
        return NULL;
    *ret_len = (size_t)(at - colon) - 1;
    return colon + 1;
}

/* Of "password=..." in a connection string or a query: quoted, or up to what separates. */
static size_t password_len(const char *p)
{
    if (*p != '\'')
        return strcspn(p, " \t\n&;\"'");
    size_t quoted = 1 + strcspn(p + 1, "'");
    return quoted + (p[quoted] == '\'');
}

const char *text_next_password(const char *text, size_t *ret_len)
{
    for (const char *p = text; *p; p++) {
        const char *found = NULL;
        if (strncmp(p, "://", 3) == 0) {
            found = url_password(p, ret_len);
        } else if (strncasecmp(p, "password=", 9) == 0) {
            found = p + 9;
            *ret_len = password_len(found);
        }
        if (found && *ret_len && strncmp(found, "${", 2) != 0)
            return found;
    }
    return NULL;
}

void text_add_masked(struct strbuf *out, const char *text)
{
    const char *found;
    size_t len;

    while ((found = text_next_password(text, &len))) {
        strbuf_add(out, text, (size_t)(found - text));
        strbuf_adds(out, "***");
        text = found + len;
    }
    strbuf_adds(out, text);
}

char *text_list_join(const struct text_list *l, const char *between)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    for (size_t i = 0; i < l->len; i++)
        strbuf_addf(&out, "%s%s", i ? between : "", l->items[i]);
    return xstrdup(strbuf_text(&out));
}

/* SPDX-License-Identifier: MIT */
#include "settings_rules.h"

#include <ctype.h>
#include <math.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/line_regex.h"

#define CPU_MAX 8191

const struct node *rule_at(const struct node *n, const char *key)
{
    const struct node *value = node_get(n, key);

    return value ? value : n;
}

int rule_name(const struct node *n, const char *what, const char *text, struct error *err)
{
    char shown[SHOWN_SIZE];
    bool good = isalnum((unsigned char)text[0]) && strlen(text) <= 63;

    for (const char *p = text; *p; p++)
        good = good && (isalnum((unsigned char)*p) || *p == '-' || *p == '_');
    if (good)
        return 0;
    node_error(err, n, "'%s' cannot be the name of %s", text_shown(text, shown), what);
    return error_hint(err, "letters, digits, - and _, beginning with a letter or digit, at most 63");
}

int rule_service_name(const struct node *n, const char *name, struct error *err)
{
    static const char *const reserved[] = {"app",  "database", "load",    "env",  "secret",
                                           "vars", "host",     "metrics", "build"};

    if (rule_name(n, "a service", name, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++) {
        if (strcmp(name, reserved[i]) == 0) {
            node_error(err, n, "a service cannot be called '%s'", name);
            return error_hint(err, "the name has another meaning in ${...}; call it something else");
        }
    }
    return 0;
}

/*
 * The last few good expressions. Scenarios share theirs, and compiling one takes longer than reading all
 * other settings of a scenario. Returns whether the text is one of them; `add` puts it there.
 */
static bool known_regex(const char *text, bool add)
{
    static char known[4][REGEX_TEXT_MAX + 1];
    static size_t next;

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (*text && strcmp(known[i], text) == 0)
            return true;
    }
    if (add)
        memcpy(known[next++ % ARRAY_LEN(known)], text, strlen(text) + 1);
    return false;
}

int rule_regex(const struct node *n, const char *key, const char *text, struct error *err)
{
    regex_t compiled;
    struct error e = ERROR_INIT;

    if (!*text)
        return node_error(err, n, "'%s' is empty and would match any line", key);
    if (known_regex(text, false))
        return 0;
    if (regex_compile(text, &compiled, &e) < 0) {
        (void)node_error(err, n, "'%s': %s", key, e.message);
        return error_hint(err, "%s", e.hint);
    }
    regfree(&compiled);
    (void)known_regex(text, true);
    return 0;
}

/* A number of the list; NULL when there is none. */
static const char *cpu_number(const char *p, long *ret)
{
    char *end;

    if (!isdigit((unsigned char)*p))
        return NULL;
    *ret = strtol(p, &end, 10);
    return *ret <= CPU_MAX && end - p <= 5 ? end : NULL;
}

int rule_cpuset(const struct node *n, const char *text, struct error *err)
{
    char shown[SHOWN_SIZE];
    const char *p = text;
    long first = 0, last = 0;

    for (;;) {
        p = cpu_number(p, &first);
        last = first;
        if (p && *p == '-')
            p = cpu_number(p + 1, &last);
        if (!p || last < first)
            break;
        if (!*p)
            return 0;
        if (*p++ != ',')
            break;
    }
    node_error(err, n, "'%s' is not a list of CPUs", text_shown(text, shown));
    return error_hint(err, "write numbers and ranges, for instance \"0\" or \"0,2-3\"");
}

int rule_http_path(const struct node *n, const char *key, const char *text, struct error *err)
{
    char shown[SHOWN_SIZE];
    bool good = text[0] == '/';

    for (const char *p = text; *p; p++)
        good = good && (unsigned char)*p > ' ' && *p != 0x7f;
    if (good)
        return 0;
    node_error(err, n, "'%s' must be a path that begins with '/' and has no blanks, not '%s'", key,
               text_shown(text, shown));
    return error_hint(err, "only the path: host and port are known, for instance /health");
}

int rule_memory(const struct node *n, int64_t bytes, struct error *err)
{
    char shown[SHOWN_SIZE];

    if (bytes < 0 || bytes >= MEMORY_MIN_BYTES)
        return 0;
    n = rule_at(n, "memory");
    node_error(err, n, "'memory': %s is below 6m, the least that an engine accepts",
               text_shown(n->text, shown));
    return error_hint(err, "\"unlimited\" leaves the limit away");
}

int rule_image(const struct node *n, const char *text, struct error *err)
{
    char shown[SHOWN_SIZE];
    bool good = isalnum((unsigned char)text[0]) || text[0] == '$';

    for (const char *p = text; *p; p++)
        good = good && (unsigned char)*p > ' ' && *p != 0x7f;
    if (good)
        return 0;
    return node_error(err, n, "'%s' is not the name of an image", text_shown(text, shown));
}

static bool is_bound(const char *text)
{
    struct error ignored = ERROR_INIT;
    size_t len = strlen(text);
    int64_t whole;
    double value;

    return (len && number_scan(text, len, &value) == len && isfinite(value)) ||
           size_parse(text, &whole, &ignored) == 0 || duration_parse(text, &whole, &ignored) == 0;
}

static size_t blanks(const char *p)
{
    return strspn(p, " \t");
}

/* No number of bytes that anybody would ask for: what is meant are MiB. */
#define BYTES_BELIEVED 4096

/* "app.memory_bytes.used_peak": a number of bytes, and the bound has no unit. */
static bool is_size_without_unit(const char *name, size_t name_len, const char *bound)
{
    static const char unit[] = "_bytes";
    const char *found = memmem(name, name_len, unit, sizeof(unit) - 1);
    size_t len = strlen(bound);
    double value;

    if (!found || !len || number_scan(bound, len, &value) != len)
        return false;
    const char *after = found + sizeof(unit) - 1;
    return (after == name + name_len || *after == '.') && value > 0 && value < BYTES_BELIEVED;
}

static int want_unit(const struct node *n, const char *text, const char *bound, struct error *err)
{
    char shown[SHOWN_SIZE];

    node_error(err, n, "'%s': %s would be so many bytes", text_shown(text, shown), bound);
    return error_hint(err, "write a size with a unit: %sm for MiB, %sb for bytes", bound, bound);
}

int rule_expectation(const struct node *n, const char *text, bool with_name, struct error *err)
{
    static const char *const operators[] = {"<=", ">=", "==", "!=", "<", ">"};
    char shown[SHOWN_SIZE], bound[64];
    const char *p = text + blanks(text), *op = NULL;
    size_t name_len = strcspn(p, "<>=! \t");
    bool named = name_len > 0;

    p += name_len;
    p += blanks(p);
    for (size_t i = 0; i < ARRAY_LEN(operators) && !op; i++) {
        if (strncmp(p, operators[i], strlen(operators[i])) == 0)
            op = operators[i];
    }
    if (op && named == with_name) {
        p += strlen(op);
        p += blanks(p);
        size_t len = strlen(p);
        while (len && blanks(p + len - 1))
            len--;
        (void)snprintf(bound, sizeof(bound), "%.*s", (int)(len < sizeof(bound) ? len : sizeof(bound) - 1), p);
        if (is_size_without_unit(text + blanks(text), name_len, bound))
            return want_unit(n, text, bound, err);
        if (strstr(p, "${") || is_bound(bound))
            return 0;
    }
    node_error(err, n, "'%s' is not an expectation", text_shown(text, shown));
    return error_hint(err, "write %sOPERATOR NUMBER, for instance \"%s\"; operators: < <= > >= == !=",
                      with_name ? "NAME " : "", with_name ? "load.error_rate <= 0.01" : "== 0");
}

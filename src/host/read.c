/* SPDX-License-Identifier: MIT */
/* Small files of /proc and /sys, below a root that tests can change; whatever is in them. */
#include "internal.h"

#include <ctype.h>
#include <math.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/plain_text.h"
#include "benchctl/base/units.h"

static const char *root = "";

void host_set_root(const char *path)
{
    root = path ? path : "";
}

int host_read(const char *path, struct strbuf *out)
{
    CLEANUP_FREE char *full = xasprintf("%s%s", root, path);
    struct error ignored = ERROR_INIT;

    return fs_read(full, 1 << 20, out, &ignored);
}

/* Of `text` up to the end of its line; NULL when nothing is there. */
static char *plain_line(const char *text)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT;

    text += strspn(text, " \t");
    size_t len = strcspn(text, "\n");
    CLEANUP_FREE char *cut = xstrndup(text, len < HOST_LINE_MAX ? len : HOST_LINE_MAX);
    for (char *c = cut; *c; c++)
        if (*c == '\t')
            *c = ' ';
    plain_add(&line, cut, "");
    strbuf_trim_end(&line);
    return line.len ? strbuf_detach(&line) : NULL;
}

char *host_line(const char *path)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    return host_read(path, &text) < 0 ? NULL : plain_line(strbuf_text(&text));
}

char *host_linef(const char *fmt, ...)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;
    va_list args;

    va_start(args, fmt);
    strbuf_vaddf(&path, fmt, args);
    va_end(args);
    return host_line(strbuf_text(&path));
}

double host_number(const char *path)
{
    CLEANUP_FREE char *line = host_line(path);
    double value;

    return line && number_scan(line, strlen(line), &value) ? value : NAN;
}

double host_numberf(const char *fmt, ...)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;
    va_list args;

    va_start(args, fmt);
    strbuf_vaddf(&path, fmt, args);
    va_end(args);
    return host_number(strbuf_text(&path));
}

char *host_value(const char *path, const char *key)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    size_t len = strlen(key);

    if (host_read(path, &text) < 0)
        return NULL;
    for (const char *p = strbuf_text(&text); *p;) {
        if (strncmp(p, key, len) == 0 && p[len + strspn(p + len, " \t")] == ':')
            return plain_line(p + len + strspn(p + len, " \t") + 1);
        p += strcspn(p, "\n");
        p += *p == '\n';
    }
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **host_names(const char *path, const char *prefix)
{
    CLEANUP_FREE char *full = xasprintf("%s%s", root, path);
    CLEANUP(closedir) DIR *d = opendir(full);
    VEC(char *) names = {0};

    if (!d)
        return NULL;
    for (struct dirent *e; names.len < HOST_NAMES_MAX && (e = readdir(d));)
        if (e->d_name[0] != '.' && text_starts(e->d_name, prefix))
            vec_push(&names, xstrdup(e->d_name));
    if (names.len)
        qsort(names.items, names.len, sizeof(*names.items), by_name);
    vec_push(&names, NULL);
    return names.items;
}

void host_names_free(char **names)
{
    for (size_t i = 0; names && names[i]; i++)
        free(names[i]);
    free(names);
}

long host_list_count(const char *list)
{
    long n = 0;

    for (const char *p = list; p && *p;) {
        char *end;
        if (!isdigit((unsigned char)*p))
            return -1;
        unsigned long from = strtoul(p, &end, 10), to = from;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            to = strtoul(end + 1, &end, 10);
        if (to < from || to > 1 << 20 || (*end && *end != ','))
            return -1;
        n += (long)(to - from) + 1;
        p = end + (*end == ',');
    }
    return n;
}

char *host_bracketed(const char *path)
{
    CLEANUP_FREE char *line = host_line(path);
    const char *open = line ? strchr(line, '[') : NULL, *close = open ? strchr(open, ']') : NULL;

    return close && close > open + 1 ? xstrndup(open + 1, (size_t)(close - open - 1)) : NULL;
}

/* SPDX-License-Identifier: MIT */
#include "failure.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* "...  FATAL:  57P03: the database system is starting up": severities are translated, the shape is not. */
static const char *find_sqlstate(const char *text)
{
    for (const char *at = strstr(text, ":  "); at; at = strstr(at + 1, ":  ")) {
        const char *code = at + 3;
        size_t n = 0;
        while (n < 5 && (isdigit((unsigned char)code[n]) || isupper((unsigned char)code[n])))
            n++;
        if (n == 5 && code[5] == ':' && code[6] == ' ')
            return code;
    }
    return NULL;
}

/* "LOCATION:  auth_failed, auth.c:326" in whatever language. */
static bool is_location(const char *line, size_t len)
{
    size_t digits = len;

    while (digits > 0 && isdigit((unsigned char)line[digits - 1]))
        digits--;
    return digits < len && digits > 3 && strncmp(line + digits - 3, ".c:", 3) == 0;
}

void one_line(const char *text, char *out, size_t size)
{
    size_t n = 0;

    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        if (*line != '\t' && !is_location(line, len)) {
            if (n > 0 && n + 1 < size && len > 0)
                out[n++] = ' ';
            for (size_t i = 0; i < len && n + 1 < size; i++)
                if (line[i] != '\r')
                    out[n++] = line[i] == '\t' ? ' ' : line[i];
        }
        line += len + (line[len] == '\n');
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}

/* Puts the SQLSTATE behind the message, where people are used to it. */
static void move_sqlstate(const char *text, struct connect_failure *ret)
{
    char line[sizeof(ret->text) - 16];

    one_line(text, line, sizeof(line));
    const char *code = find_sqlstate(line);
    if (!code)
        (void)snprintf(ret->text, sizeof(ret->text), "%s", line);
    else
        (void)snprintf(ret->text, sizeof(ret->text), "%.*s%s (%.5s)", (int)(code - line) - 1, line, code + 7,
                       code);
}

static bool contains_any(const char *text, const char *const *parts)
{
    for (; *parts; parts++)
        if (strstr(text, *parts))
            return true;
    return false;
}

static bool is_not_yet(const char *sqlstate, const char *text, bool connecting)
{
    static const char *const permanent[] = {"could not translate host name", "Name or service not known",
                                            "invalid port", "too long", NULL};
    static const char *const passing[] = {"closed the connection unexpectedly",
                                          "Connection refused",
                                          "Connection reset",
                                          "Broken pipe",
                                          "could not receive data",
                                          "could not send",
                                          "Temporary failure in name resolution",
                                          "No route to host",
                                          "timeout expired",
                                          NULL};

    if (*sqlstate) /* 57P01 shutting down, 57P02 crashed, 57P03 starting up; class 08: a pooler lost its
                      server */
        return strncmp(sqlstate, "57P0", 4) == 0 || strncmp(sqlstate, "08", 2) == 0;
    if (contains_any(text, passing))
        return true;
    return connecting && !contains_any(text, permanent);
}

void connect_failure_read(const char *libpq_text, bool connecting, struct connect_failure *ret)
{
    const char *code = find_sqlstate(libpq_text);

    *ret = (struct connect_failure){0};
    if (code)
        memcpy(ret->sqlstate, code, 5);
    move_sqlstate(libpq_text, ret);
    ret->not_yet = is_not_yet(ret->sqlstate, libpq_text, connecting);
}

enum error_kind sqlstate_kind(const char *sqlstate, enum error_kind otherwise)
{
    static const struct {
        const char *prefix;
        enum error_kind kind;
    } table[] = {
        {"57014", ERROR_TIMEOUT},  /* statement_timeout, or somebody cancelled it */
        {"55P03", ERROR_TIMEOUT},  /* lock_timeout */
        {"55006", ERROR_CONFLICT}, /* object in use */
        {"57", ERROR_ENVIRONMENT}, {"58", ERROR_ENVIRONMENT}, {"53", ERROR_ENVIRONMENT},
        {"08", ERROR_ENVIRONMENT}, {"28", ERROR_ENVIRONMENT}, {"3D000", ERROR_ENVIRONMENT},
        {"XX", ERROR_ENVIRONMENT},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strncmp(sqlstate, table[i].prefix, strlen(table[i].prefix)) == 0)
            return table[i].kind;
    return otherwise;
}

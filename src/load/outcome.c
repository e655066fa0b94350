/* SPDX-License-Identifier: MIT */
#include "outcome.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/process.h"

/* "3" or "100-110". */
static bool status_in(const char *text, int status)
{
    char *end;
    long from = strtol(text, &end, 10), to = from;

    if (*end == '-')
        to = strtol(end + 1, &end, 10);
    return *text && !*end && status >= from && status <= to;
}

static const char *meaning_of(const struct load_adapter *a, int status)
{
    const struct text_map *m = &a->form.exit.meaning;

    for (size_t i = 0; i < m->len; i++)
        if (status_in(m->items[i].key, status))
            return m->items[i].value;
    return NULL;
}

static bool status_accepted(const struct load_adapter *a, int status)
{
    for (size_t i = 0; i < a->form.exit.accept.len; i++)
        if (status_in(a->form.exit.accept.items[i], status))
            return true;
    return false;
}

/* The first words of a file, on one line and printable. */
static size_t first_words(const char *path, char *buf, size_t size)
{
    CLEANUP_CLOSE int fd = -1;
    struct error ignored = ERROR_INIT;
    unsigned char piece[4096];
    size_t n = 0;
    bool blank = true;

    ssize_t len = fs_open_regular(path, false, &fd, &ignored) == 0 ? read(fd, piece, sizeof(piece)) : 0;
    for (ssize_t i = 0; i < len && n + 3 < size; i++) {
        int c = piece[i];
        if (c == '\n' && !blank && n + 5 < size) {
            buf[n++] = ';';
            buf[n++] = ' ';
            blank = true;
        } else if (!isspace(c) || !blank) {
            buf[n++] = (char)(isprint(c) || c >= 0x80 ? c : isspace(c) ? ' ' : '?');
            blank = isspace(c) != 0;
        }
    }
    while (n && strchr("; ", buf[n - 1]))
        n--;
    buf[n] = '\0';
    return n;
}

int load_outcome_add_words(const char *dir, struct error *err)
{
    CLEANUP_FREE char *path = xasprintf("%s/%s", dir, STDERR_NAME);
    char words[400];
    size_t used = strlen(err->message);

    if (first_words(path, words, sizeof(words)) && used + sizeof(words) + 16 < sizeof(err->message))
        (void)snprintf(err->message + used, sizeof(err->message) - used, "; it said: %s", words);
    return -1;
}

int load_outcome_check(const struct load_adapter *a, const char *dir, const struct load_outcome *o,
                       struct arena *arena, struct load_result *r, struct error *err)
{
    char text[64];
    const char *program = a->own ? "benchctl" : a->form.program;

    if (!o->ran) {
        (void)error_set(err, ERROR_TRIAL, "'%s' did not end by itself", program);
        return load_outcome_add_words(dir, err);
    }
    if (WIFSIGNALED(o->wait_status)) {
        (void)error_set(err, ERROR_TRIAL, "'%s' was %s", program, process_status_text(o->wait_status, text));
        return load_outcome_add_words(dir, err);
    }
    int status = WEXITSTATUS(o->wait_status);
    const char *meaning = meaning_of(a, status);
    if (!status_accepted(a, status)) {
        (void)error_set(err, ERROR_TRIAL, "'%s' ended with %s%s%s", program,
                        process_status_text(o->wait_status, text), meaning ? ": " : "",
                        meaning ? meaning : "");
        return load_outcome_add_words(dir, err);
    }
    r->exit_status = status;
    r->exit_text = meaning ? arena_strdup(arena, meaning) : NULL;
    return 0;
}

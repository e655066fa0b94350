/* SPDX-License-Identifier: MIT */
/* What the lines of a container's log tell: counted by kind while the log is saved, one finding for each. */
#include "log_scan.h"

#include <stdio.h>
#include "benchctl/base/clock.h"

#define QUOTED_MAX ((size_t)300) /* bytes of a line that a finding quotes */
/* The engine reads what a process printed a moment after it has ended. */
#define HEAP_LINE_LATE_NS (50 * NS_PER_MS)

struct log_scan {
    struct trial_run *trial;
    struct unit *unit;
    double *count;      /* by kind */
    const char **first; /* the first line of each */
    int64_t *first_ns;  /* and when the engine had it, wall clock; 0: unknown */
    int64_t line_wall_ns;
};

struct log_scan *log_scan_begin(struct trial_run *t, struct unit *u)
{
    struct log_scan *s = arena_new_of(t->arena, struct log_scan);

    *s = (struct log_scan){
        .trial = t,
        .unit = u,
        .count = arena_array(t->arena, double, log_kind_count),
        .first = arena_array(t->arena, const char *, log_kind_count),
        .first_ns = arena_array(t->arena, int64_t, log_kind_count),
    };
    u->heap_lines.len = 0;
    return s;
}

int64_t *log_scan_clock(struct log_scan *s)
{
    return &s->line_wall_ns;
}

/* As somebody may read it in a terminal. */
static const char *quoted(struct arena *a, const char *line, size_t len)
{
    bool cut = len > QUOTED_MAX;
    size_t n = cut ? QUOTED_MAX : len;
    char *text = arena_array(a, char, n + sizeof("..."));

    for (size_t i = 0; i < n; i++)
        text[i] = (unsigned char)line[i] < ' ' || line[i] == 0x7f ? ' ' : line[i];
    if (cut) {
        while (n && ((unsigned char)line[n] & 0xc0) == 0x80) /* not inside of a character */
            n--;
        memcpy(text + n, "...", sizeof("..."));
    } else {
        text[n] = '\0';
    }
    return text;
}

/* Did it begin again in between? */
static bool is_of_another_life(const struct unit *u, int64_t before_ns, int64_t wall_ns)
{
    vec_each (start, &u->ledger.starts)
        if (start->wall_ns > before_ns && start->wall_ns <= wall_ns)
            return true;
    return false;
}

/* A JVM may tell of it thousands of times: the first of each life is enough. */
static void keep_heap_line(struct log_scan *s, const char *line, size_t len)
{
    struct unit *u = s->unit;
    size_t n = u->heap_lines.len;

    if (n && !is_of_another_life(u, u->heap_lines.items[n - 1].wall_ns, s->line_wall_ns))
        return;
    vec_push(&u->heap_lines,
             (struct heap_line){.wall_ns = s->line_wall_ns, .text = quoted(s->trial->arena, line, len)});
}

void log_scan_line(const char *line, size_t len, bool is_stderr, void *data)
{
    struct log_scan *s = data;
    const struct log_kind *k = log_line_kind(line, len);

    (void)is_stderr;
    if (!k)
        return;
    size_t i = (size_t)(k - log_kinds);
    if (s->count[i]++ == 0) {
        s->first[i] = quoted(s->trial->arena, line, len);
        s->first_ns[i] = s->line_wall_ns;
    }
    if (strcmp(k->id, "java-heap") == 0)
        keep_heap_line(s, line, len);
}

void log_scan_tell(struct log_scan *s)
{
    struct trial_run *t = s->trial;

    for (size_t i = 0; i < log_kind_count; i++) {
        const struct log_kind *k = &log_kinds[i];
        if (!s->count[i])
            continue;
        const struct trial_happening h = {.id = k->id,
                                          .role = arena_strdup(t->arena, s->unit->role),
                                          .at_ns =
                                              s->first_ns[i] > 0 ? s->first_ns[i] - t->wall_minus_mono_ns : 0,
                                          .count = s->count[i]};
        trial_finding(t, &h, "%s%s: %.0f line%s in the log of '%s', the first: %s", k->title,
                      k->application ? "" : ", not the framework's doing", s->count[i],
                      s->count[i] == 1 ? "" : "s", s->unit->role, s->first[i]);
    }
}

const char *unit_heap_line(const struct unit *u, int64_t before_wall_ns, int64_t end_wall_ns)
{
    int64_t from_ns = before_wall_ns ? before_wall_ns + HEAP_LINE_LATE_NS : 0,
            to_ns = end_wall_ns + HEAP_LINE_LATE_NS;

    vec_each (h, &u->heap_lines)
        if (!h->wall_ns || (h->wall_ns > from_ns && h->wall_ns <= to_ns))
            return h->text;
    return NULL;
}

/* Of the JVM alone: other programs end. */
bool add_exhaustion(const struct trial_run *t, char *story, size_t size)
{
    static const char *const kinds[] = {"java-heap", "java-metaspace", "java-direct-memory",
                                        "java-native-thread"};
    bool any = false;

    for (size_t i = 0; i < t->findings.len; i++) {
        const struct finding *f = &t->findings.items[i];
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            if (strcmp(f->id, kinds[k]) != 0 || !text_equal(f->role, "app"))
                continue;
            size_t title = strcspn(f->message, ":"), used = strlen(story);
            any = true;
            if (memmem(story, used, f->message, title))
                continue;
            (void)snprintf(story + used, size - used, "%s%.*s (%.0f line%s in its log)", used ? "; " : "",
                           (int)title, f->message, f->count, f->count == 1 ? "" : "s");
        }
    }
    return any;
}

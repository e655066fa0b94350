/* SPDX-License-Identifier: MIT */
/* The Prometheus text formats as a whole: comments, families, repeated series. One line is prom_sample.c. */
#include "prom_parser.h"

#include "benchctl/base/hash.h"

static struct prom_table table_new(struct arena *a, size_t items)
{
    size_t size = 16;

    while (size < items * 2)
        size *= 2;
    return (struct prom_table){.slots = arena_array(a, uint32_t, size), .mask = size - 1};
}

/* --- families --- */

/* The family called `name` (of `len` bytes), or NULL. *ret_slot is where it stands or would stand. */
static struct prom_family *find_family(const struct prom_parser *p, const char *name, size_t len,
                                       size_t *ret_slot)
{
    size_t slot = hash64(name, len, 0) & p->families.mask;

    for (; p->families.slots[slot]; slot = (slot + 1) & p->families.mask) {
        struct prom_family *f = &p->out->families[p->families.slots[slot] - 1];
        if (strncmp(f->name, name, len) == 0 && !f->name[len])
            return f;
    }
    *ret_slot = slot;
    return NULL;
}

static size_t family_index(struct prom_parser *p, const char *name)
{
    size_t slot;
    struct prom_family *f = find_family(p, name, strlen(name), &slot);

    if (f)
        return (size_t)(f - p->out->families);
    size_t index = p->out->family_count++;
    p->out->families[index] = (struct prom_family){.name = name, .type = "untyped"};
    p->families.slots[slot] = (uint32_t)p->out->family_count;
    return index;
}

/* The next word of a comment, ended in place; NULL when there is none. */
static char *next_word(char **at)
{
    char *word = prom_skip_blanks(*at);
    size_t len = strcspn(word, " \t");

    if (!len)
        return NULL;
    *at = word + len + (word[len] != '\0');
    word[len] = '\0';
    return word;
}

/* "# TYPE NAME TYPE", "# HELP NAME text", "# EOF"; anything else after # is a comment. The first TYPE wins.
 */
static void parse_comment(struct prom_parser *p, char *at)
{
    char *keyword = next_word(&at);

    if (!keyword)
        return;
    if (strcmp(keyword, "EOF") == 0 && p->out->openmetrics) {
        p->eof = true;
        return;
    }
    bool help = strcmp(keyword, "HELP") == 0;
    if (!help && strcmp(keyword, "TYPE") != 0)
        return;
    char *name = next_word(&at);
    if (!name)
        return;
    size_t family = family_index(p, name);
    bool *seen = help ? &p->has_help[family] : &p->has_type[family];
    char *type = help ? NULL : next_word(&at);
    if (*seen)
        p->out->repeated_meta++;
    else if (type)
        p->out->families[family].type = type;
    *seen = true;
}

/* OpenMetrics puts the time a counter began beside it; that is no figure of its own. */
static bool is_creation_time(const struct prom_parser *p, const char *name)
{
    static const char suffix[] = "_created";
    size_t slot, len = strlen(name), base = len - (sizeof(suffix) - 1);

    if (!p->out->openmetrics || !text_ends(name, suffix))
        return false;
    const struct prom_family *f = find_family(p, name, base, &slot);
    return f && (strcmp(f->type, "counter") == 0 || strcmp(f->type, "histogram") == 0 ||
                 strcmp(f->type, "summary") == 0);
}

/* --- samples --- */

static uint64_t hash_series(const struct prom_sample *s)
{
    uint64_t hash = hash64(s->name, strlen(s->name), 0);

    for (size_t i = 0; i < s->label_count; i++) {
        hash = hash64(s->labels[i].name, strlen(s->labels[i].name) + 1, hash);
        hash = hash64(s->labels[i].value, strlen(s->labels[i].value) + 1, hash);
    }
    return hash;
}

static bool same_series(const struct prom_sample *a, const struct prom_sample *b)
{
    if (a->label_count != b->label_count || strcmp(a->name, b->name) != 0)
        return false;
    for (size_t i = 0; i < a->label_count; i++)
        if (strcmp(a->labels[i].name, b->labels[i].name) != 0 ||
            strcmp(a->labels[i].value, b->labels[i].value) != 0)
            return false;
    return true;
}

static void keep_sample(struct prom_parser *p, struct prom_sample *s)
{
    struct prom_scrape *out = p->out;

    s->labels = p->labels;
    size_t slot = hash_series(s) & p->series.mask;
    for (; p->series.slots[slot]; slot = (slot + 1) & p->series.mask) {
        if (same_series(&out->samples[p->series.slots[slot] - 1], s)) {
            out->duplicate_series++;
            return;
        }
    }
    s->labels = s->label_count ? arena_copy(p->a, p->labels, s->label_count * sizeof(*s->labels)) : NULL;
    out->samples[out->sample_count++] = *s;
    p->series.slots[slot] = (uint32_t)out->sample_count;
}

/* --- lines --- */

static void parse_line(struct prom_parser *p, char *line, size_t len, int number)
{
    struct prom_sample s = {0};

    if (len && line[len - 1] == '\r')
        len--;
    line[len] = '\0';
    char *at = prom_skip_blanks(line);
    if (!*at && at == line + len)
        return;
    bool usable = len <= PROM_MAX_LINE && strlen(line) == len;
    if (usable && *at == '#') {
        parse_comment(p, at + 1);
        return;
    }
    p->unknown_escapes = 0;
    if (!usable || !prom_parse_sample(p, at, &s)) {
        if (!p->out->bad_lines++)
            p->out->first_bad_line = number;
        return;
    }
    p->out->unknown_escapes += p->unknown_escapes;
    if (!is_creation_time(p, s.name))
        keep_sample(p, &s);
}

/* How many lines there are that may be samples, and how many comments. */
static void count_lines(const char *text, size_t len, size_t *ret_samples, size_t *ret_comments)
{
    const char *end = text + len;

    for (const char *line = text; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));

        while (line < end && (*line == ' ' || *line == '\t'))
            line++;
        if (line < end && *line == '#')
            (*ret_comments)++;
        else if (line != newline)
            (*ret_samples)++;
        line = newline ? newline + 1 : end;
    }
}

static bool ends_in_eof(const char *bytes, size_t len)
{
    static const char mark[] = "# EOF";
    size_t mark_len = sizeof(mark) - 1;

    while (len && (bytes[len - 1] == '\n' || bytes[len - 1] == '\r'))
        len--;
    return len >= mark_len && memcmp(bytes + len - mark_len, mark, mark_len) == 0;
}

static struct prom_parser *parser_new(const char *bytes, size_t len, const char *content_type,
                                      struct arena *a, struct error *err)
{
    size_t samples = 0, comments = 0;

    count_lines(bytes, len, &samples, &comments);
    if (samples > PROM_MAX_SAMPLES || comments > PROM_MAX_SAMPLES) {
        (void)error_set(err, ERROR_INVALID, "more than %zu metric lines in one scrape", PROM_MAX_SAMPLES);
        return NULL;
    }
    struct prom_parser *p = xcalloc(1, sizeof(*p));
    p->a = a;
    p->out = arena_new_of(a, struct prom_scrape);
    p->out->openmetrics =
        content_type && *content_type ? strstr(content_type, "openmetrics") != NULL : ends_in_eof(bytes, len);
    p->out->samples = arena_array(a, struct prom_sample, samples);
    p->out->families = arena_array(a, struct prom_family, comments);
    p->has_help = arena_array(a, bool, comments);
    p->has_type = arena_array(a, bool, comments);
    p->series = table_new(a, samples);
    p->families = table_new(a, comments);
    return p;
}

int prom_parse(const char *bytes, size_t len, const char *content_type, struct arena *a,
               struct prom_scrape *ret, struct error *err)
{
    if (len > PROM_MAX_BYTES)
        return error_set(err, ERROR_INVALID, "a scrape of more than %zu MiB", PROM_MAX_BYTES >> 20);
    CLEANUP_FREE struct prom_parser *p = parser_new(bytes, len, content_type, a, err);
    if (!p)
        return -1;
    char *text = arena_alloc(a, len + 1), *end = text + len;
    if (len)
        memcpy(text, bytes, len);
    int number = 1;
    for (char *line = text; line < end && !p->eof; number++) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        char *line_end = newline ? newline : end;

        parse_line(p, line, (size_t)(line_end - line), number);
        line = line_end + 1;
    }
    p->out->complete = p->out->openmetrics ? p->eof : len && bytes[len - 1] == '\n';
    *ret = *p->out;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <math.h>
#include "benchctl/base/units.h"

#define PREFIX "# benchctl "

static const char *const kind_names[] = {[RECORD_SCRAPE] = "scrape",
                                         [RECORD_FAILED] = "failed",
                                         [RECORD_WINDOW] = "window",
                                         [RECORD_RESTARTED] = "restarted"};

/* The rest of a line: nothing that would end it. */
static void add_rest(struct strbuf *out, const char *key, const char *text)
{
    strbuf_addf(out, " %s=", key);
    for (; *text; text++)
        strbuf_addc(out, (unsigned char)*text < ' ' ? ' ' : *text);
}

void record_write(const struct record *r, struct strbuf *out)
{
    strbuf_addf(out, PREFIX "%s at_ms=%.1f", kind_names[r->kind], r->at_ms);
    if (!isnan(r->wall_ms))
        strbuf_addf(out, " wall_ms=%.0f", r->wall_ms);
    if (r->kind == RECORD_SCRAPE || r->kind == RECORD_FAILED)
        strbuf_addf(out, " status=%d", r->status);
    if (r->kind == RECORD_FAILED)
        add_rest(out, "reason", r->reason);
    if (r->kind != RECORD_SCRAPE) {
        strbuf_addc(out, '\n');
        return;
    }
    strbuf_addf(out, " bytes=%zu", r->len);
    add_rest(out, "type", r->type);
    strbuf_addc(out, '\n');
    strbuf_add(out, r->body, r->len);
    if (r->len && r->body[r->len - 1] != '\n')
        strbuf_addc(out, '\n');
}

/* What stands behind " KEY=" in a line. NULL: nothing. */
static const char *line_field(const char *line, const char *key)
{
    const char *found = strstr(line, key);

    return found ? found + strlen(key) : NULL;
}

static double line_number(const char *line, const char *key)
{
    const char *text = line_field(line, key);
    double value;

    return text && number_scan(text, strcspn(text, " "), &value) ? value : (double)NAN;
}

static bool parse_line(const char *line, struct record *ret)
{
    const char *kind = line + strlen(PREFIX);
    const char *type = line_field(line, " type="), *reason = line_field(line, " reason=");
    double status = line_number(line, " status="), bytes = line_number(line, " bytes=");

    for (size_t i = 0; i < ARRAY_LEN(kind_names); i++) {
        if (!text_starts(kind, kind_names[i]) || kind[strlen(kind_names[i])] != ' ')
            continue;
        *ret = (struct record){.kind = (enum record_kind)i,
                               .at_ms = line_number(line, " at_ms="),
                               .wall_ms = line_number(line, " wall_ms="),
                               .status = status >= 0 && status < 1000 ? (int)status : 0,
                               .len = bytes >= 0 && bytes < 0x1p40 ? (size_t)bytes : 0};
        (void)snprintf(ret->type, sizeof(ret->type), "%s", type ? type : "");
        (void)snprintf(ret->reason, sizeof(ret->reason), "%s", reason ? reason : "");
        return true;
    }
    return false;
}

/* The line at `start`, when it is one of ours, into `line` and ended by NUL; gives its length with the
 * newline. 0: not ours. */
static size_t our_line(const char *start, size_t left, char *line, size_t size)
{
    const char *newline = memchr(start, '\n', left);
    size_t len = newline ? (size_t)(newline - start) : left;

    if (len < strlen(PREFIX) || memcmp(start, PREFIX, strlen(PREFIX)) != 0 || len >= size)
        return 0;
    memcpy(line, start, len);
    line[len] = '\0';
    return len + (newline != NULL);
}

bool record_next(const char *text, size_t len, size_t *at, struct record *ret)
{
    char line[1024];

    while (*at < len) {
        size_t line_len = our_line(text + *at, len - *at, line, sizeof(line));
        if (!line_len) {
            *ret = (struct record){
                .kind = RECORD_SCRAPE, .at_ms = NAN, .wall_ms = NAN, .body = text + *at, .len = len - *at};
            *at = len;
            return true;
        }
        *at += line_len;
        if (!parse_line(line, ret))
            continue; /* of a later version: not for us */
        if (ret->len > len - *at)
            ret->len = len - *at;
        ret->body = text + *at;
        *at += ret->len;
        if (ret->len && text[*at - 1] != '\n' && *at < len && text[*at] == '\n')
            (*at)++;
        return true;
    }
    return false;
}

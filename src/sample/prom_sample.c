/* SPDX-License-Identifier: MIT */
/* The tokenizer of one line. */
#include "prom_parser.h"

#include <math.h>
#include "prom_number.h"

static bool is_name_char(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
           (!first && c >= '0' && c <= '9');
}

/* A quoted text at **at, decoded in place; NULL when it never ends. */
static char *parse_quoted(struct prom_parser *p, char **at)
{
    char *start = *at + 1, *to = start;

    for (char *from = start; *from; from++) {
        if (*from == '"') {
            *to = '\0';
            *at = from + 1;
            return start;
        }
        if (*from == '\\' && from[1]) {
            char c = *++from;
            if (c != '\\' && c != '"' && c != 'n') {
                p->unknown_escapes++;
                *to++ = '\\';
            }
            *to++ = c == 'n' ? '\n' : c;
        } else {
            *to++ = *from;
        }
    }
    return NULL;
}

/* Where a label's name ends. Some exporters put more into names than the letters allowed. */
static char *label_name_end(char *p)
{
    for (;; p++) {
        switch (*p) {
        case '=':
        case '"':
        case ',':
        case ' ':
        case '\t':
        case '{':
        case '}':
        case '\0':
            return p;
        default:
            break;
        }
    }
}

/* One NAME="VALUE" at **at, or the metric's name alone in quotes (then *ret_value is NULL). */
static bool parse_label(struct prom_parser *p, char **at, struct prom_label *ret)
{
    char *name_end = NULL;

    if (**at == '"') {
        ret->name = parse_quoted(p, at);
        if (!ret->name)
            return false;
        *at = prom_skip_blanks(*at);
    } else {
        ret->name = *at;
        name_end = label_name_end(*at);
        *at = prom_skip_blanks(name_end);
        if (name_end == ret->name || **at != '=')
            return false;
    }
    ret->value = NULL;
    if (**at != '=')
        return true;
    *at = prom_skip_blanks(*at + 1);
    if (name_end)
        *name_end = '\0';
    if (**at != '"')
        return false;
    ret->value = parse_quoted(p, at);
    return ret->value != NULL;
}

/* Puts a label into its place by name. False when the name is there already, or there are too many. */
static bool insert_label(struct prom_parser *p, size_t *count, struct prom_label label)
{
    size_t i = *count;

    if (i == PROM_MAX_LABELS)
        return false;
    for (; i > 0; i--) {
        int order = strcmp(p->labels[i - 1].name, label.name);
        if (order == 0)
            return false;
        if (order < 0)
            break;
        p->labels[i] = p->labels[i - 1];
    }
    p->labels[i] = label;
    (*count)++;
    return true;
}

/* What stands between braces; *at is behind the first one. May give the metric's name. */
static bool parse_labels(struct prom_parser *p, char **at, struct prom_sample *s)
{
    for (;;) {
        struct prom_label label;

        *at = prom_skip_blanks(*at);
        if (**at == '}') {
            (*at)++;
            return true;
        }
        if (!parse_label(p, at, &label))
            return false;
        if (!label.value && (s->name || s->label_count))
            return false;
        if (!label.value)
            s->name = label.name;
        else if (!insert_label(p, &s->label_count, label))
            return false;
        *at = prom_skip_blanks(*at);
        if (**at == ',')
            (*at)++;
        else if (**at != '}')
            return false;
    }
}

/* A number up to the next blank. */
static bool parse_number(char **at, double *ret)
{
    size_t len = 0;

    while ((*at)[len] && (*at)[len] != ' ' && (*at)[len] != '\t')
        len++;
    if (!prom_number(*at, len, ret))
        return false;
    *at = prom_skip_blanks(*at + len);
    return true;
}

bool prom_parse_sample(struct prom_parser *p, char *line, struct prom_sample *s)
{
    char *name_end = line;

    while (is_name_char(*name_end, name_end == line))
        name_end++;
    if (name_end > line)
        s->name = line;
    char *next = prom_skip_blanks(name_end);
    if (*next == '{') {
        next++;
        if (s->name)
            *name_end = '\0';
        if (!parse_labels(p, &next, s))
            return false;
    } else if (next == name_end) {
        return false;
    } else {
        *name_end = '\0';
    }
    next = prom_skip_blanks(next);
    if (!s->name || !parse_number(&next, &s->value))
        return false;
    s->timestamp_ms = NAN;
    if (*next && *next != '#') {
        if (!parse_number(&next, &s->timestamp_ms))
            return false;
        if (p->out->openmetrics)
            s->timestamp_ms *= 1e3;
    }
    return !*next || (*next == '#' && *prom_skip_blanks(next + 1) == '{');
}

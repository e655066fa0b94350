/* SPDX-License-Identifier: MIT */
/* Regular expressions on single lines, with a plain search for their longest literal part in front: most
 * lines are none. */
#include "adapter.h"

#include <ctype.h>
#include <string.h>
#include "benchctl/base/line_regex.h"
#include "benchctl/base/strbuf.h"

/* Ends the run of literals and keeps it if it is the longest. */
static void end_run(struct strbuf *run, struct strbuf *best)
{
    if (run->len > best->len) {
        strbuf_clear(best);
        strbuf_add(best, run->data, run->len);
    }
    strbuf_clear(run);
}

/* The longest literal text outside of groups that each match must hold; NULL when there is none worth a
 * search. */
static char *required_literal(const char *regex, struct arena *a)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf run = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf best = STRBUF_INIT;
    int depth = 0;

    for (const char *p = regex; *p;) {
        if (*p == '|' && depth == 0)
            return NULL;
        if (*p == '[') {
            end_run(&run, &best);
            p = regex_skip_bracket(p);
            continue;
        }
        bool escaped = *p == '\\' && ispunct((unsigned char)p[1]);
        if (*p == '\\' && !escaped) /* \b, \w, back references */
            return NULL;
        char c = escaped ? p[1] : *p;
        p += escaped ? 2 : 1;
        if (!escaped && strchr("(){}.^$*+?", c)) {
            if ((c == '*' || c == '?' || c == '{') && run.len)
                run.data[--run.len] = '\0';
            end_run(&run, &best);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == '{')
                p += strcspn(p, "}");
        } else if (depth == 0) {
            strbuf_addc(&run, c);
        }
    }
    end_run(&run, &best);
    return best.len > 1 ? arena_strdup(a, best.data) : NULL;
}

int pattern_new(struct load_adapter *a, const char *text, struct position at, struct pattern **ret,
                struct error *err)
{
    struct pattern *p = arena_new_of(a->arena, struct pattern);
    struct error e = ERROR_INIT;

    if (regex_compile(text, &p->regex, &e) < 0) {
        (void)node_error(err, node_new(a->arena, NODE_NULL, at), "%s", e.message);
        return error_hint(err, "%s", e.hint);
    }
    p->compiled = true;
    p->text = text;
    p->literal = required_literal(text, a->arena);
    vec_push(&a->patterns, p);
    *ret = p;
    return 0;
}

bool pattern_match(const struct pattern *p, const char *line, size_t len, size_t *ret_start, size_t *ret_end)
{
    size_t start, end;

    if (p->literal && !memmem(line, len, p->literal, strlen(p->literal)))
        return false;
    return regex_find(&p->regex, line, len, ret_start ? ret_start : &start, ret_end ? ret_end : &end);
}

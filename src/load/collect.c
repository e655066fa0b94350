/* SPDX-License-Identifier: MIT */
/* From output files to a result: which form they have, what stands there, whether it is to be believed. */
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/process.h"
#include "command.h"
#include "judge.h"
#include "json_filter.h"
#include "outcome.h"

#define MAX_DOCUMENTS ((size_t)16)
#define STALE_TOLERANCE_NS (50 * NS_PER_MS)

/* What a run or a command line offers: files, and for each either the output that it is, or NULL: to be found
 * out. */
struct candidate {
    const struct adapter_output *output;
    const char *path;
};

struct selection {
    const struct report *report;
    struct document documents[MAX_DOCUMENTS];
    size_t count;
    struct sentences sentences;
    struct arena *arena;
};

static void selection_release(struct selection *s)
{
    for (size_t i = 0; i < s->count; i++)
        document_release(&s->documents[i]);
    vec_release(&s->sentences.list);
    vec_release(&s->sentences.invalid);
}

static int load_document(const struct adapter_output *output, const char *path, struct document *ret,
                         struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;

    if (document_is_streamed(output))
        return document_read(ret, output, path, err);
    bytes.max = (size_t)output->limit_bytes + 1;
    int rc = output->skip.len && output_too_large(output, path)
                 ? json_without(path, &output->skip, (size_t)output->limit_bytes, &bytes, err)
                 : fs_read(path, (size_t)output->limit_bytes, &bytes, err);
    if (rc < 0)
        return -1;
    return document_init(ret, output, path, &bytes, err);
}

/* The keys of a JSON object, for the message that its shape is unknown. */
static void add_keys(const struct json *j, struct strbuf *out)
{
    size_t n = 0;

    strbuf_adds(out, json_type_of(j) == JSON_TYPE_OBJECT ? "; its keys: " : "; it is no object");
    for (void *it = json_iter(j); it && n < 12; it = json_iter_next(j, it))
        strbuf_addf(out, "%s%.40s", n++ ? ", " : "", json_iter_key(it));
}

/* The first line that says something, so that a person sees what the file is. */
static void add_beginning(const struct document *d, struct strbuf *out)
{
    struct line l = {0};

    while (line_next(d, &l)) {
        size_t lead = 0, n = 0;
        while (lead < l.len && l.text[lead] == ' ')
            lead++;
        if (lead == l.len)
            continue;
        strbuf_adds(out, "; it begins '");
        for (; lead + n < l.len && n < 80; n++)
            strbuf_addc(out, isprint((unsigned char)l.text[lead + n]) ? l.text[lead + n] : '?');
        strbuf_addc(out, '\'');
        return;
    }
    strbuf_adds(out, "; it is empty");
}

/* A line of the text, or the first record, is as the report says. */
static bool text_accepted(const struct report *r, const struct document *d)
{
    struct line l = {0};

    while (line_next(d, &l)) {
        for (size_t i = 0; i < r->form->accept.len; i++)
            if (pattern_match(r->accept_lines[i], l.text, l.len, NULL, NULL))
                return true;
        if (d->output->format != FORMAT_TEXT)
            break;
    }
    return false;
}

/* Has the document the form of this report? If not, `why` gets the reason. */
static bool accepted(const struct report *r, const struct document *d, struct strbuf *why)
{
    const struct text_list *accept = &r->form->accept;

    if (r->accept_lines) {
        if (text_accepted(r, d))
            return true;
        strbuf_addf(why, "%s has no line like '%s'", d->path, accept->items[0]);
        add_beginning(d, why);
        return false;
    }
    for (size_t i = 0; i < accept->len; i++) {
        if (d->output->format == FORMAT_JSON && load_json_find(d->json, accept->items[i]))
            return true;
        for (size_t c = 0; c < d->columns.len; c++)
            if (strcmp(d->columns.items[c], accept->items[i]) == 0)
                return true;
    }
    strbuf_addf(why, "%s has no '%s'", d->path, accept->items[0]);
    if (d->output->format == FORMAT_JSON)
        add_keys(d->json, why);
    return false;
}

/* Tries one file as the main document of one report. */
static bool try_candidate(const struct report *r, const struct candidate *c, struct selection *s,
                          struct strbuf *why)
{
    struct error err = ERROR_INIT;

    if (c->output && c->output != r->output)
        return false;
    strbuf_addf(why, "%sas %s: ", why->len ? "; " : "", r->form->name);
    if (load_document(r->output, c->path, &s->documents[0], &err) < 0) {
        strbuf_adds(why, err.message);
        return false;
    }
    s->count = 1;
    if (accepted(r, &s->documents[0], why)) {
        s->report = r;
        return true;
    }
    document_release(&s->documents[0]);
    s->count = 0;
    return false;
}

static bool selected_already(const struct selection *s, const struct adapter_output *output, const char *path)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->documents[i].output == output || strcmp(s->documents[i].path, path) == 0)
            return true;
    return false;
}

static void say_too_large(struct selection *s, const struct adapter_output *output)
{
    const char *text = arena_printf(s->arena, "not read: '%s' is larger than %" PRId64 " bytes", output->file,
                                    output->limit_bytes);
    size_t n = s->sentences.list.len;

    if (!n || strcmp(s->sentences.list.items[n - 1], text) != 0)
        vec_push(&s->sentences.list, text);
}

/* The other outputs that the report's values read from, where they are there and have the right format. One
 * that is too large is not measured; the report stands without it. */
static int add_others(struct selection *s, const struct candidate *files, size_t count, struct error *err)
{
    for (const struct value *v = s->report->values; v < s->report->values + s->report->value_count; v++) {
        for (const struct source *x = v->sources; x < v->sources + v->source_count; x++) {
            for (size_t i = 0;
                 x->output && x->output != s->report->output && i < count && s->count < MAX_DOCUMENTS; i++) {
                const char *base = path_basename(files[i].path);
                bool is = files[i].output ? files[i].output == x->output
                                          : count > 1 && (count == 2 || strcmp(base, x->output->file) == 0);
                if (!is || selected_already(s, x->output, files[i].path))
                    continue;
                if (output_too_large(x->output, files[i].path) && !x->output->skip.len) {
                    say_too_large(s, x->output);
                    continue;
                }
                if (load_document(x->output, files[i].path, &s->documents[s->count], err) < 0)
                    return -1;
                s->count++;
            }
        }
    }
    return 0;
}

/* Why a report was not looked at: in a run every output has its file. */
static void say_absent(const struct report *r, const struct candidate *files, size_t count,
                       struct strbuf *why)
{
    for (size_t i = 0; i < count; i++)
        if (!files[i].output || files[i].output == r->output || r->form->parse_only)
            return;
    strbuf_addf(why, "%sas %s: no file '%s'", why->len ? "; " : "", r->form->name, r->output->file);
}

static int select_report(const struct load_adapter *a, const struct candidate *files, size_t count,
                         struct selection *s, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf why = STRBUF_INIT;

    for (size_t r = 0; r < a->report_count; r++) {
        for (size_t i = 0; i < count; i++)
            if (!(files[i].output && a->reports[r].form->parse_only) &&
                try_candidate(&a->reports[r], &files[i], s, &why))
                return add_others(s, files, count, err);
        say_absent(&a->reports[r], files, count, &why);
    }
    return error_set(err, ERROR_INVALID, "no result of '%s': %s", a->name,
                     why.len ? strbuf_text(&why) : "there is no output");
}

static int check_complete(const struct selection *s, struct error *err)
{
    assert(s->report);
    const struct pattern *complete = s->report->complete;
    struct line l = {0};

    while (complete && line_next(&s->documents[0], &l))
        if (pattern_match(complete, l.text, l.len, NULL, NULL))
            return 0;
    if (!complete)
        return 0;
    return error_set(err, ERROR_INVALID, "%s: the output is cut short: no line like '%s'",
                     s->documents[0].path, complete->text);
}

static void fill_model(const struct load_adapter *a, const struct load_call *call, struct arena *arena,
                       struct load_result *r)
{
    static const char *const models[] = {NULL, "closed", "open"}, *const words[] = {NULL, "yes", "no"};

    r->generator = arena_strdup(arena, a->name);
    r->model = models[a->form.model];
    r->corrected = words[a->form.corrected];
    if (a->form.open_when)
        r->model = !call ? NULL : load_condition(a, a->form.open_when, call, arena) ? "open" : r->model;
    for (size_t i = 0; call && i < a->form.closed_when.len; i++)
        if (load_condition(a, a->form.closed_when.items[i], call, arena))
            r->model = "closed";
    if (a->form.corrected_when)
        r->corrected = !call                                                    ? NULL
                       : load_condition(a, a->form.corrected_when, call, arena) ? "yes"
                                                                                : r->corrected;
    if (a->form.uncorrected_when)
        r->corrected = !call                                                      ? NULL
                       : load_condition(a, a->form.uncorrected_when, call, arena) ? "no"
                                                                                  : r->corrected;
}

/* Reads what was selected. */
static int read_result(struct evaluation *e, struct load_result *r, struct sentences *out, struct error *err)
{
    size_t values = e->report->value_count;

    e->numbers = arena_array(e->arena, double, values + 1);
    e->states = arena_array(e->arena, enum value_state, values + 1);
    e->non_numbers = arena_array(e->arena, bool, values + 1);
    for (size_t i = 0; i < values; i++)
        e->numbers[i] = NAN;
    if (evaluation_fill(e, r, err) < 0 || load_judge(e, r, r->window_ms, out, err) < 0)
        return -1;
    double length_ms = isnan(r->duration_ms) ? r->window_ms : r->duration_ms;
    r->goodput_rps = length_ms > 0 ? r->ok / (length_ms / 1e3) : NAN;
    out->nothing_measured = load_judge_nothing(e, r);
    return 0;
}

static void give_doubts(const struct sentences *from, struct arena *arena, struct load_problems *to)
{
    struct load_doubt *list = arena_array(arena, struct load_doubt, from->invalid.len + 1);

    for (size_t i = 0; i < from->invalid.len; i++) {
        const struct load_doubt *d = &from->invalid.items[i];
        list[i] = (struct load_doubt){d->id ? arena_strdup(arena, d->id) : NULL, d->sentence};
    }
    to->invalid = list;
    to->invalid_len = from->invalid.len;
}

static void give_problems(struct sentences *from, struct arena *arena, struct load_problems *to)
{
    if (to) {
        to->len = from->list.len;
        to->items = arena_array(arena, const char *, to->len + 1);
        if (to->len)
            memcpy(to->items, from->list.items, sizeof(*to->items) * to->len);
        to->nothing_measured = from->nothing_measured;
        give_doubts(from, arena, to);
    }
    vec_release(&from->list);
    vec_release(&from->invalid);
}

static void add_problem(struct load_problems *p, struct arena *arena, const char *sentence)
{
    const char **items = arena_array(arena, const char *, p->len + 1);

    if (p->len)
        memcpy(items, p->items, sizeof(*items) * p->len);
    items[p->len++] = sentence;
    p->items = items;
}

static int collect_files(const struct load_adapter *a, const struct candidate *files, size_t count,
                         const struct load_call *call, struct arena *arena, struct load_result *r,
                         struct load_problems *problems, struct error *err)
{
    CLEANUP_VALUE(selection_release) struct selection s = {.arena = arena};

    if (select_report(a, files, count, &s, err) < 0)
        return -1;
    assert(s.report);
    if (check_complete(&s, err) < 0)
        return -1;
    for (size_t i = 0; i < s.count; i++)
        if (s.documents[i].stream)
            load_stream_doubts(&s.documents[i], arena, &s.sentences);
    if (s.report != a->reports && !s.report->form->whole)
        vec_push(&s.sentences.list, arena_printf(arena, "read from the %s, which says less than the %s",
                                                 s.report->form->name, a->reports[0].form->name));
    struct evaluation e = {.adapter = a,
                           .report = s.report,
                           .documents = s.documents,
                           .document_count = s.count,
                           .call = call,
                           .arena = arena};
    fill_model(a, call, arena, r);
    int rc = read_result(&e, r, &s.sentences, err);
    if (rc == 0 && s.sentences.nothing_measured && !problems)
        rc = error_set(err, ERROR_TRIAL, "%s", s.sentences.nothing_measured);
    give_problems(&s.sentences, arena, rc < 0 ? NULL : problems);
    return rc;
}

/* The files of the adapter's outputs that are there and of this run. */
static int find_outputs(const struct load_adapter *a, const char *dir, const struct load_outcome *o,
                        struct arena *arena, struct candidate *ret, size_t *ret_count, struct error *err)
{
    *ret_count = 0;
    form_each(struct adapter_output, output, &a->form.outputs)
    {
        struct stat st;
        const char *path = arena_printf(arena, "%s/%s", dir, output->file);
        if (stat(path, &st) < 0)
            continue;
        int64_t written_ns = (int64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
        if (o->started_wall_ns && written_ns < o->started_wall_ns - STALE_TOLERANCE_NS)
            return error_set(err, ERROR_INVALID, "stale output: '%s' is older than this run", path);
        ret[(*ret_count)++] = (struct candidate){output, path};
    }
    return 0;
}

int load_adapter_collect(const struct load_adapter *a, const char *dir, const struct load_outcome *o,
                         struct arena *arena, struct load_result *ret, struct load_problems *problems,
                         struct error *err)
{
    struct candidate *files = arena_array(arena, struct candidate, a->form.outputs.len + 1);
    struct load_problems found = {0};
    struct load_result r;
    size_t count;

    load_result_init(&r);
    r.window_ms = o->window_ms;
    if (problems)
        *problems = (struct load_problems){0};
    if (!a->form.program) {
        fill_model(a, o->call, arena, &r);
        *ret = r;
        return 0;
    }
    if (load_outcome_check(a, dir, o, arena, &r, err) < 0 ||
        find_outputs(a, dir, o, arena, files, &count, err) < 0)
        return -1;
    int rc = collect_files(a, files, count, o->call, arena, &r, &found, err);
    if (rc == 0 && found.nothing_measured)
        rc = error_set(err, ERROR_TRIAL, "%s", found.nothing_measured);
    if (rc < 0 && a->own && found.nothing_measured)
        return -1; /* it says the same, and less of it */
    if (rc < 0)
        return load_outcome_add_words(dir, err);
    if (r.exit_status > 0)
        add_problem(&found, arena,
                    arena_printf(arena, "'%s' ended with exit status %d%s%s", a->form.program, r.exit_status,
                                 r.exit_text ? ": " : "", r.exit_text ? r.exit_text : ""));
    if (problems)
        *problems = found;
    *ret = r;
    return 0;
}

int load_adapter_parse_files(const struct load_adapter *a, const char *const *files, size_t count,
                             const struct node *options, struct arena *arena, struct load_result *ret,
                             struct load_problems *problems, struct error *err)
{
    const struct load_call call = {.options = options};
    struct candidate *candidates = arena_array(arena, struct candidate, count + 1);
    struct load_result r;

    load_result_init(&r);
    r.exit_status = -1;
    if (problems)
        *problems = (struct load_problems){0};
    if (!a->form.program)
        return error_set(err, ERROR_INVALID, "load adapter '%s' runs nothing and has no output", a->name);
    for (size_t i = 0; i < count; i++)
        candidates[i].path = files[i];
    if (collect_files(a, candidates, count, options ? &call : NULL, arena, &r, problems, err) < 0)
        return -1;
    *ret = r;
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "report_internal.h"

#include <string.h>

int report_build(const struct sweep *s, const struct report_options *o, struct report **ret,
                 struct error *err)
{
    CLEANUP(report_free) struct report *r = xcalloc(1, sizeof(*r));
    const char *title = json_get_text(s->info, "title"), *name = json_get_text(s->info, "name");

    r->arena = arena_new();
    r->sweep = s;
    r->title = title ? title : name ? name : s->path ? s->path : "sweep";
    r->width = o->width;
    r->color = o->color;
    r->reads = o->reads;
    r->rules = o->validity;
    r->chosen = o->row_count || o->cols || o->figure_count;
    report_parts(r);
    if (report_axes(r, o, err) < 0 || report_figures(r, o, err) < 0)
        return -1;
    report_cells(r);
    report_summaries(r);
    report_models(r);
    if (report_merge(r, err) < 0 || report_sections(r, o, err) < 0)
        return -1;
    *ret = TAKE(r);
    return 0;
}

void report_free(struct report *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->sections.len; i++) {
        vec_release(&r->sections.items[i].lines);
        if (r->sections.items[i].table)
            vec_release(&r->sections.items[i].table->rows);
    }
    for (size_t i = 0; i < r->axis_count; i++)
        name_index_release(&r->axes[i].index);
    parts_release(r);
    vec_release(&r->sections);
    vec_release(&r->cells);
    vec_release(&r->figures);
    vec_release(&r->asked);
    comparison_free(r->contrasts);
    arena_free(r->arena);
    free(r);
}

static const struct {
    const char *name;
    void (*render)(const struct report *r, struct strbuf *out);
    enum report_reads reads;
} formats[] = {
    [REPORT_TABLE] = {"table", render_terminal, REPORT_READS_HISTOGRAMS},
    [REPORT_MARKDOWN] = {"md", render_markdown, REPORT_READS_HISTOGRAMS},
    [REPORT_CSV] = {"csv", render_csv, REPORT_READS_HISTOGRAMS},
    [REPORT_JSON] = {"json", render_json, REPORT_READS_HISTOGRAMS},
    [REPORT_HTML] = {"html", render_html, REPORT_READS_ALL},
    [REPORT_TIDY] = {"tidy", render_tidy, REPORT_READS_RECORDS},
    [REPORT_JUNIT] = {"junit", render_junit, REPORT_READS_RECORDS},
    [REPORT_OPENMETRICS] = {"openmetrics", render_openmetrics, REPORT_READS_RECORDS},
};

int report_format_parse(const char *text, enum report_format *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (strcmp(formats[i].name, text) == 0) {
            *ret = (enum report_format)i;
            return 0;
        }
    return -1;
}

enum report_reads report_format_reads(enum report_format f)
{
    return formats[f].reads;
}

void report_render(const struct report *r, enum report_format f, struct strbuf *out)
{
    formats[f].render(r, out);
}

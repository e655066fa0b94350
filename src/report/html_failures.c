/* SPDX-License-Identifier: MIT */
/* The strips of all that failed, beside the table that has the same in words, and what their patterns mean.
 */
#include "timeline.h"

#define STRIPS_MAX 40 /* more stand with their trials */

void html_timeline_defs(struct strbuf *out)
{
    strbuf_adds(
        out,
        "<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>"
        "<pattern id=\"p-starting\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect class=\"pb\" width=\"6\" height=\"6\"/>"
        "<rect class=\"pl-warn\" width=\"2.5\" height=\"6\"/></pattern>"
        "<pattern id=\"p-silent\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect "
        "class=\"pb\" width=\"6\" height=\"6\"/><circle class=\"pl-silent\" cx=\"3\" cy=\"3\" r=\"1.9\"/>"
        "</pattern>"
        "<pattern id=\"p-down\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(-45)\"><rect class=\"pb\" width=\"5\" height=\"5\"/><rect "
        "class=\"pl-bad\" width=\"3\" height=\"5\"/></pattern></defs></svg>\n");
}

static void legend(struct strbuf *out)
{
    strbuf_adds(out, "<p class=\"legend\">");
    for (int s = STATE_UP; s < STATES; s++) {
        strbuf_adds(out, "<svg width=\"30\" height=\"22\" viewBox=\"0 18 30 22\" aria-hidden=\"true\">");
        html_state((enum state)s, 0, 30, out);
        strbuf_addf(out, "</svg> %s ", state_names[s]);
    }
    strbuf_adds(out, "<svg width=\"6\" height=\"22\" viewBox=\"0 0 6 22\" aria-hidden=\"true\"><line "
                     "class=\"exit\" x1=\"3\" x2=\"3\" y1=\"0\" y2=\"22\"/></svg> an end, with its cause "
                     "<svg width=\"10\" height=\"22\" viewBox=\"0 0 10 22\" aria-hidden=\"true\"><path "
                     "class=\"again\" d=\"M5 7l5 8H0z\"/></svg> ready again. Numbers in a band: requests "
                     "served in that life.</p>\n");
}

/* --- one below the other --- */

static size_t strips_of(const struct report *r, const struct trial *t, struct strbuf *out)
{
    const struct container_result *c;
    size_t drawn = 0;

    for (size_t i = 0; (c = trial_container(t, i)); i++) {
        if (!container_failed(c))
            continue;
        strbuf_adds(out, "<p>");
        html_text(out, t->scenario);
        strbuf_addf(out, " #%d, ", t->trial);
        html_text(out, container_role(t, c));
        strbuf_addf(out, ": <span class=\"%s\">%s</span></p>\n", html_class(outcome_tone(t->outcome)),
                    outcome_name(t->outcome));
        html_timeline(r, t, c, out);
        drawn++;
    }
    return drawn;
}

void html_failures(const struct report *r, struct strbuf *out)
{
    size_t drawn = 0, more = 0;

    legend(out);
    strbuf_adds(out, "<div class=\"strips\">\n");
    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        for (size_t k = 0; k < c->trial_count; k++) {
            if (!trial_failed(c->trials[k]))
                continue;
            if (drawn < STRIPS_MAX)
                drawn += strips_of(r, c->trials[k], out);
            else
                more++;
        }
    }
    strbuf_adds(out, "</div>\n");
    if (more)
        strbuf_addf(out, "<p>%zu more trial%s with failures: see the records below.</p>\n", more,
                    plural(more));
}

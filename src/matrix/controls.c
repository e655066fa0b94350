/* SPDX-License-Identifier: MIT */
/* `controls`: what a sweep must not find, and what it must find, to be believed. */
#include "matrix_internal.h"

#include <math.h>
#include "benchctl/base/units.h"
#include "settings_rules.h"

static int complete_handicap(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct handicap_settings *h = value;
    struct error inner = ERROR_INIT;
    char shown[SHOWN_SIZE];

    (void)a;
    h->cpus = NAN;
    if (!h->cpus_text || strcmp(h->cpus_text, "half") == 0)
        return 0;
    if (number_parse(h->cpus_text, &h->cpus, &inner) == 0 && h->cpus > 0 && h->cpus <= CPU_COUNT_MAX)
        return 0;
    node_error(err, rule_at(n, "cpus"), "'cpus': '%s' is no number of CPUs", text_shown(h->cpus_text, shown));
    return error_hint(err, "half (of what app.cpus is), or a number such as 0.5");
}

static const struct schema_field handicap_fields[] = {
    FIELD("cpus", TEXT, handicap_settings, cpus_text, .required = true,
          .help = "CPUs of the application: `half` of what the scenario has, or a number."),
};
static const struct schema handicap_schema = {
    .name = "handicap",
    .help = "What the handicapped twin has less of.",
    .size = sizeof(struct handicap_settings),
    LIST_OF(handicap_fields),
    .free_keys = true,
    .complete = complete_handicap,
    .position_offset = offsetof(struct handicap_settings, at),
};

static int check_controls(const struct node *n, const void *value, struct error *err)
{
    const struct controls_settings *c = value;

    if (c->aa || c->handicap)
        return 0;
    node_error(err, n, "'controls' has neither 'aa' nor 'handicap'");
    return error_hint(err, "for instance controls: {aa: true, handicap: {cpus: half}}");
}

static const struct schema_field controls_fields[] = {
    FIELD("aa", BOOL, controls_settings, aa, .fallback = "false",
          .help = "A twin of the scenario, alike in everything: how far the two are apart is what the sweep "
                  "can resolve."),
    FIELD("handicap", OPTIONAL, controls_settings, handicap, .of = &handicap_schema,
          .help = "A twin that is slower on purpose: where that is not seen, the workload cannot tell "
                  "scenarios apart."),
    FIELD("scenario", TEXT, controls_settings, scenario,
          .help = "Id of the scenario that they repeat; by default the first one that filters leave."),
};
const struct schema controls_schema = {
    .name = "controls",
    .help = "Twins of one scenario, in every round of the sweep.",
    .size = sizeof(struct controls_settings),
    LIST_OF(controls_fields),
    .free_keys = true,
    .check = check_controls,
    .position_offset = offsetof(struct controls_settings, at),
};

/* SPDX-License-Identifier: MIT */
/* `canary`: the scenario that is repeated through the sweep. */
#include "matrix_internal.h"

#include <math.h>
#include "benchctl/trial.h"
#include "settings_rules.h"

#define DEFAULT_METRIC "load.goodput_rps"
#define BAND_MAX_PCT 100

/* "5%", as a share. */
static int read_band(const struct node *n, const char *text, double *ret, struct error *err)
{
    char shown[SHOWN_SIZE];
    double value;
    size_t len = number_scan(text, strlen(text), &value);
    const char *unit = text + len;

    while (len && *unit == ' ')
        unit++;
    if (len && strcmp(unit, "%") == 0 && value > 0 && value <= BAND_MAX_PCT) {
        *ret = value / 100;
        return 0;
    }
    node_error(err, rule_at(n, "band"), "'band': '%s' is no percentage", text_shown(text, shown));
    return error_hint(err, "how far from the median a canary may lie, for instance band: 5%%");
}

static int complete_canary(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct canary_settings *c = value;

    (void)a;
    c->band = NAN;
    return n && c->band_text ? read_band(n, c->band_text, &c->band, err) : 0;
}

static int check_canary(const struct node *n, const void *value, struct error *err)
{
    const struct canary_settings *c = value;
    char shown[SHOWN_SIZE];
    double none;

    if (trial_number(NULL, c->metric, &none) < 0) {
        node_error(err, rule_at(n, "metric"), "'metric': no trial records '%s'",
                   text_shown(c->metric, shown));
        return error_hint(err, "a number by its recorded name, for instance " DEFAULT_METRIC
                               " or load.latency_ms.p99");
    }
    return c->set ? rule_set(c->set, "the canary", err) : 0;
}

static const struct schema_field canary_fields[] = {
    FIELD("every", INT, canary_settings, every, .min = 1, .max = 1000000, .required = true,
          .help = "A canary before the first trial, after so many trials each time, and at the end."),
    FIELD("scenario", TEXT, canary_settings, scenario,
          .help = "Id of the scenario that it runs; by default the first one that no search decides about. "
                  "Filters do not take it away."),
    FIELD("band", TEXT, canary_settings, band_text,
          .help = "How far from the median of all canaries a value may lie, for instance `5%`; by default "
                  "as far as the canaries' own spread explains."),
    FIELD("metric", TEXT, canary_settings, metric, .fallback = DEFAULT_METRIC,
          .help = "Which number of its trials is looked at, by its recorded name."),
    FIELD("set", NODE, canary_settings, set, .shape = "{\"type\": \"object\"}",
          .help = "Merged deeply into the scenario's settings after all overrides, for instance a shorter "
                  "load."),
};
const struct schema canary_schema = {
    .name = "canary",
    .help = "One scenario repeated through the sweep: what changes in it is the host's doing.",
    .size = sizeof(struct canary_settings),
    LIST_OF(canary_fields),
    .free_keys = true,
    .complete = complete_canary,
    .check = check_canary,
    .position_offset = offsetof(struct canary_settings, at),
};

/* Everything but `set`, which is the scenario's matter. */
int builder_fill_canary(struct builder *b, const struct node *map, const struct node **ret, struct error *err)
{
    struct arena *a = b->m->arena;
    struct node *copy = arena_copy(a, map, sizeof(*map));

    *ret = map;
    if (map->kind != NODE_MAP || !map->refers)
        return 0;
    copy->items = arena_array(a, const struct node *, map->len);
    for (size_t i = 0; i < map->len; i++) {
        copy->items[i] = map->items[i];
        if (strcmp(map->keys[i]->text, "set") != 0 &&
            builder_fill_key(b, "canary", map->items[i], &copy->items[i], err) < 0)
            return -1;
    }
    *ret = copy;
    return 0;
}

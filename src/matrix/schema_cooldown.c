/* SPDX-License-Identifier: MIT */
/* The table of `cooldown`: a duration, or a map of what must have settled. */
#include "settings_rules.h"

#include <math.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/units.h"

#define DAY_NS (86400 * NS_PER_S)
#define DEGREES_MIN 1.0 /* of a limit: below, no sensor of a running machine reads */
#define DEGREES_MAX 150.0

static int cooldown_from_scalar(const struct node *n, struct arena *a, void *ret, struct error *err)
{
    struct cooldown_settings *c = ret;
    struct error inner = ERROR_INIT;

    (void)a;
    if (duration_parse(n->text, &c->time_ns, &inner) < 0) {
        node_error(err, n, "'cooldown': %s", inner.message);
        return error_hint(err, "%s",
                          inner.hint[0] ? inner.hint : "one duration, or {time: 5s, temperature: 60C}");
    }
    if (c->time_ns > DAY_NS)
        return node_error(err, n, "'cooldown' cannot be longer than a day");
    if (c->at_most_ns < c->time_ns)
        c->at_most_ns = c->time_ns;
    return 0;
}

/* "60C", "+3C": the second counts from the temperature at the sweep's begin. */
static int read_temperature(const struct node *n, struct cooldown_settings *c, struct error *err)
{
    const char *text = c->temperature;
    char shown[SHOWN_SIZE];

    c->relative = text[0] == '+';
    text += c->relative;
    size_t len = number_scan(text, strlen(text), &c->temperature_c);
    const char *unit = text + len + strspn(text + len, " ");
    bool known = strcmp(unit, "C") == 0 || strcmp(unit, "°C") == 0;
    if (len && known && c->temperature_c >= (c->relative ? 0 : DEGREES_MIN) &&
        c->temperature_c <= DEGREES_MAX)
        return 0;
    node_error(err, rule_at(n, "temperature"), "'temperature': '%s' is no temperature",
               text_shown(c->temperature, shown));
    return error_hint(err, "degrees Celsius, for instance 60C, or +3C above that at the sweep's begin");
}

static int complete_cooldown(const struct node *n, struct arena *a, void *value, struct error *err)
{
    struct cooldown_settings *c = value;

    (void)a;
    c->temperature_c = NAN;
    return c->temperature ? read_temperature(n, c, err) : 0;
}

static int check_cooldown(const struct node *n, const void *value, struct error *err)
{
    const struct cooldown_settings *c = value;

    if (!isnan(c->load) && !(c->load > 0))
        return node_error(err, rule_at(n, "load"), "'load' must be above 0: no machine comes down to it");
    if (c->at_most_ns >= c->time_ns)
        return 0;
    node_error(err, rule_at(n, "at_most"), "'at_most' is shorter than 'time'");
    return error_hint(err, "it bounds the whole cooldown");
}

static const struct schema_field cooldown_fields[] = {
    FIELD("time", DURATION, cooldown_settings, time_ns, .max = DAY_NS, .fallback = "0",
          .help = "So long in any case."),
    FIELD("temperature", TEXT, cooldown_settings, temperature,
          .help = "Then until the processor is no warmer: `60C`, or `+3C` above its temperature at the "
                  "sweep's begin. Where no sensor can be read it is not waited for."),
    FIELD("load", NUMBER, cooldown_settings, load,
          .help = "And until the load average of a minute is no higher."),
    FIELD("sockets", BOOL, cooldown_settings, sockets, .fallback = "false",
          .help = "And until the connections of the trial before have let go of their ports (TIME_WAIT)."),
    FIELD("at_most", DURATION, cooldown_settings, at_most_ns, .min = NS_PER_MS, .max = DAY_NS,
          .fallback = "10m", .help = "Then the next trial begins all the same, and is marked."),
};
const struct schema cooldown_schema = {
    .name = "cooldown",
    .help = "The pause between two trials.",
    .size = sizeof(struct cooldown_settings),
    LIST_OF(cooldown_fields),
    .free_keys = true,
    .from_scalar = cooldown_from_scalar,
    .scalar_help = "A duration alone stands for `{time: ...}`.",
    .complete = complete_cooldown,
    .check = check_cooldown,
};

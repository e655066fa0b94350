/* SPDX-License-Identifier: MIT */
/* The table of the matrix file's top level. */
#include "settings_rules.h"

#include "benchctl/host.h"
#include "matrix_internal.h"

#define SHAPE_TEXT "{\"type\": [\"string\", \"number\", \"boolean\"]}"
#define SHAPE_TEXTS "{\"anyOf\": [" SHAPE_TEXT ", {\"type\": \"array\", \"items\": " SHAPE_TEXT "}]}"
#define SHAPE_CONDITION                                                                                      \
    "{\"type\": \"object\", \"patternProperties\": {\"^x-\": {}}, \"additionalProperties\": " SHAPE_TEXTS "}"
#define SHAPE_VALUE                                                                                          \
    "{\"anyOf\": [" SHAPE_TEXT                                                                               \
    ", {\"type\": \"object\", \"required\": [\"name\"], \"properties\": {\"name\": " SHAPE_TEXT "}}]}"

#define SHAPE_SEARCH                                                                                         \
    "{\"type\": \"object\", \"required\": [\"search\"], \"patternProperties\": {\"^x-\": {}}, "              \
    "\"additionalProperties\": false, \"properties\": {\"search\": {\"type\": \"object\", "                  \
    "\"required\": [\"from\", \"to\"], \"patternProperties\": {\"^x-\": {}}, \"additionalProperties\": "     \
    "false, "                                                                                                \
    "\"properties\": {\"from\": {\"type\": \"string\"}, \"to\": {\"type\": \"string\"}, "                    \
    "\"step\": {\"type\": \"string\"}, \"until\": " SHAPE_TEXTS "}}}}"

static const char *const order_names[] = {
    [ORDER_LISTED] = "listed", [ORDER_INTERLEAVED] = "interleaved", [ORDER_RANDOM] = "random", NULL};
static const char *const problem_names[] = {[ON_PROBLEM_WARN] = "warn", [ON_PROBLEM_FAIL] = "fail", NULL};

static const struct schema_field order_fields[] = {
    FIELD("mode", CHOICE, order_settings, mode, .choices = order_names, .fallback = "interleaved",
          .help = "`listed`: scenario by scenario; `interleaved`: rounds in which every scenario runs once, "
                  "each round shuffled; "
                  "`random`: all trials shuffled."),
    FIELD("seed", INT, order_settings, seed, .max = INT64_MAX, .fallback = "1",
          .help = "Seed of the shuffle: the same seed, the same order."),
};
static const struct schema order_schema = {
    .name = "order",
    .help = "The order of trials.",
    .size = sizeof(struct order_settings),
    LIST_OF(order_fields),
    .free_keys = true,
};

static int check_conditions(const struct node *n, struct error *err)
{
    struct host_condition c;
    struct error e = ERROR_INIT;

    for (size_t i = 0; n->kind == NODE_LIST && i < n->len; i++)
        if (n->items[i]->kind == NODE_SCALAR && check_conditions(n->items[i], err) < 0)
            return -1;
    if (n->kind != NODE_SCALAR || host_condition_parse(n->text, &c, &e) == 0)
        return 0;
    node_error(err, n, "%s", e.message);
    return e.hint[0] ? error_hint(err, "%s", e.hint) : -1;
}

static int check_host(const struct node *n, const void *value, struct error *err)
{
    const struct host_settings *h = value;

    if (h->max_load < 0)
        return node_error(err, rule_at(n, "max_load"), "'max_load' cannot be negative");
    return check_conditions(rule_at(n, "require"), err);
}

static const struct schema_field host_fields[] = {
    FIELD("max_load", NUMBER, host_settings, max_load,
          .help = "Highest load average of the host before a trial begins."),
    FIELD("require", TEXTS, host_settings, require,
          .help =
              "Conditions on the host (docs/doctor.md has all), for instance `governor=performance`: looked "
              "at before anything is started and before each trial."),
    FIELD("on_violation", CHOICE, host_settings, on_violation, .choices = problem_names, .fallback = "warn",
          .help = "Go on with a warning and a mark at the trial, or stop."),
};
static const struct schema host_schema = {
    .name = "host",
    .help = "What the host must be like to measure on it.",
    .size = sizeof(struct host_settings),
    LIST_OF(host_fields),
    .free_keys = true,
    .check = check_host,
};

static int check_notify(const struct node *n, const void *value, struct error *err)
{
    static const char *const known[] = {"started", "failed", "stalled", "finished", NULL};
    const struct notify_settings *s = value;
    char shown[SHOWN_SIZE];

    for (size_t i = 0; i < s->on.len; i++) {
        size_t k = 0;
        while (known[k] && strcmp(known[k], s->on.items[i]) != 0)
            k++;
        if (known[k])
            continue;
        node_error(err, rule_at(n, "on"), "'on' does not know '%s'", text_shown(s->on.items[i], shown));
        return error_hint(err, "events are started, failed, stalled and finished");
    }
    if (!s->on.len || s->webhook)
        return 0;
    return node_error(err, n, "'webhook' is missing in notify");
}

static const struct schema_field notify_fields[] = {
    FIELD("webhook", TEXT, notify_settings, webhook, .secret = true,
          .help = "URL that gets a POST; better `${env:NAME}`."),
    FIELD("on", TEXTS, notify_settings, on, .help = "Events: `started`, `failed`, `stalled`, `finished`."),
};
static const struct schema notify_schema = {
    .name = "notify",
    .help = "Who is told how the sweep goes.",
    .size = sizeof(struct notify_settings),
    LIST_OF(notify_fields),
    .free_keys = true,
    .check = check_notify,
};

static int check_matrix(const struct node *n, const void *value, struct error *err)
{
    const struct matrix_file *f = value;
    char shown[SHOWN_SIZE];
    bool good = f->name && f->name[0] != '.' && f->name[0] != '-' && f->name[0] && strlen(f->name) <= 100;

    for (const char *p = f->name; p && *p; p++)
        good = good && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *p);
    if (good)
        return 0;
    node_error(err, rule_at(n, "name"), "'%s' cannot be the name of a matrix",
               text_shown(f->name ? f->name : "", shown));
    return error_hint(
        err, "it becomes a file name: letters, digits, dot, _ and -, at most 100; for people there is title");
}

static const struct schema_field matrix_fields[] = {
    FIELD("benchctl", INT, matrix_file, version, .min = 1, .max = 1, .required = true,
          .help = "Version of this language."),
    FIELD("name", TEXT, matrix_file, name, .required = true, .help = "Name of run directory and bundle."),
    FIELD("title", TEXT, matrix_file, title, .help = "Heading of reports."),
    FIELD("vars", NODE, matrix_file, vars,
          .shape = "{\"type\": \"object\", \"additionalProperties\": " SHAPE_TEXT "}",
          .help = "Constants for `${...}`; one may use others and `${env:NAME}`."),
    FIELD("axes", NODE, matrix_file, axes,
          .shape =
              "{\"type\": \"object\", \"patternProperties\": {\"^x-\": {}}, \"additionalProperties\": "
              "{\"anyOf\": [" SHAPE_TEXT ", {\"type\": \"array\", \"minItems\": 1, \"items\": " SHAPE_VALUE
              "}, " SHAPE_SEARCH "]}}",
          .help = "Names, each with a list of values; their combinations are the scenarios. The last axis "
                  "varies fastest. One may be `{search: {from: 64m, to: 1g, step: 16m, until: ok}}`."),
    FIELD("zip", NODE, matrix_file, zip,
          .shape = "{\"type\": \"array\", \"items\": {\"type\": \"array\", \"minItems\": 2, \"items\": "
                   "{\"type\": \"string\"}}}",
          .help = "Lists of axis names that advance together instead of multiplying."),
    FIELD("exclude", NODE, matrix_file, exclude,
          .shape = "{\"type\": \"array\", \"items\": " SHAPE_CONDITION "}",
          .help = "Every scenario that matches all keys of an item goes; a value may be a list, any of which "
                  "matches."),
    FIELD("include", NODE, matrix_file, include,
          .shape = "{\"type\": \"array\", \"items\": {\"type\": \"object\"}}",
          .help = "Whole scenarios that are added: every axis named, other keys become variables."),
    FIELD("overrides", NODE, matrix_file, overrides,
          .shape = "{\"type\": \"array\", \"items\": {\"type\": \"object\", \"required\": [\"set\"], "
                   "\"additionalProperties\": false, "
                   "\"properties\": {\"when\": " SHAPE_CONDITION ", \"set\": {\"type\": \"object\"}}}}",
          .help = "In order: where `when` matches, `set` is merged deeply into the scenario's settings; null "
                  "takes a key away."),
    FIELD("trials", INT, matrix_file, trials, .min = 1, .max = 100000, .fallback = "3",
          .help = "How often each scenario is executed."),
    FIELD("order", STRUCT, matrix_file, order, .of = &order_schema, .help = "The order of trials."),
    FIELD("canary", OPTIONAL, matrix_file, canary, .of = &canary_schema,
          .help = "A scenario that is repeated through the sweep and shows what the host does meanwhile."),
    FIELD("contrasts", NODE, matrix_file, contrasts,
          .shape = "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}",
          .help = "What the sweep is to answer, said before it runs: axes whose values are compared while "
                  "all others "
                  "are equal, such as `stack within framework, memory`."),
    FIELD("controls", OPTIONAL, matrix_file, controls, .of = &controls_schema,
          .help =
              "Twins of one scenario in every round: one alike, one handicapped. They say what the sweep can "
              "resolve."),
    FIELD("host", STRUCT, matrix_file, host, .of = &host_schema, .help = "What the host must be like."),
    FIELD("parity", OPTIONAL, matrix_file, parity, .of = &parity_schema,
          .help = "Sources that must be the same."),
    FIELD("notify", STRUCT, matrix_file, notify, .of = &notify_schema,
          .help = "Who is told how the sweep goes."),
};
/* As other programs, and people, call them. */
static const struct schema_alias matrix_aliases[] = {
    {"repeat", "trials"},  {"repeats", "trials"},    {"repetitions", "trials"},
    {"runs", "trials"},    {"rounds", "trials"},     {"count", "trials"},
    {"container", "app"},  {"application", "app"},   {"system", "app"},
    {"db", "database"},    {"postgres", "database"}, {"containers", "services"},
    {"matrix", "axes"},    {"dimensions", "axes"},   {"parameters", "axes"},
    {"variables", "vars"}, {"workload", "load"},     {"generator", "load"},
    {"loadgen", "load"},   {"asserts", "expect"},    {"assertions", "expect"},
    {"gates", "expect"},   {"thresholds", "expect"}, {"sampling", "sample"},
    {"shuffle", "order"},  {"version", "benchctl"},  {"description", "title"},
    {"retries", "retry"},  {"pause", "cooldown"},    {0},
};

const struct schema matrix_schema = {
    .name = "the matrix",
    .help = "The top level of the file. Keys that begin with `x-` are free, here and in every section: a "
            "place for anchors.",
    .size = sizeof(struct matrix_file),
    LIST_OF(matrix_fields),
    .free_keys = true,
    .also = &settings_schema,
    .check = check_matrix,
    .aliases = matrix_aliases,
};

static bool has_key(const struct schema *s, const char *key)
{
    for (size_t i = 0; i < s->field_count; i++) {
        if (strcmp(s->fields[i].key, key) == 0)
            return true;
    }
    return false;
}

bool is_settings_key(const char *key)
{
    return has_key(&settings_schema, key);
}

bool is_matrix_key(const char *key)
{
    return has_key(&matrix_schema, key);
}

/* SPDX-License-Identifier: MIT */
/* `benchctl schema`: the languages as JSON Schema for editors, or as the reference pages of docs/; and what
 * benchctl writes as JSON Schema, for those who read it. */
#include "benchctl/load.h"
#include "benchctl/matrix.h"
#include "benchctl/report.h"
#include "benchctl/sample.h"
#include "cmd.h"

#include <string.h>

/* Those that are written by hand have a table; the others are written by benchctl. */
static const char *const languages[] = {"matrix", "load", "metrics", "report", "trial", NULL};

static const struct schema *schema_of(int language)
{
    const struct schema *const schemas[] = {&matrix_schema, &load_adapter_schema, &metric_adapter_schema};

    return (size_t)language < ARRAY_LEN(schemas) ? schemas[language] : NULL;
}

/* An index into languages, or -1 with `err` filled. */
static int find_language(const char *name, struct error *err)
{
    for (int i = 0; languages[i]; i++) {
        if (strcmp(name, languages[i]) == 0)
            return i;
    }
    (void)error_set(err, ERROR_USAGE, "unknown language '%s'", name);
    return error_hint(err, "one of: matrix, load, metrics, report, trial");
}

static struct json *schema_of_trial(const char *id)
{
    struct json *j = trial_json_schema();

    json_set_text(j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_set_text(j, "$id", id);
    return j;
}

static int no_page(const char *language)
{
    struct error err = ERROR_INIT;

    (void)error_set(&err, ERROR_USAGE, "there is no reference page of '%s' to print", language);
    (void)error_hint(&err, "docs/report.md and docs/outcomes.md explain what is written");
    return report_error(&err);
}

static int run(int argc, char **argv)
{
    const char *of = languages[0];
    bool markdown = false;
    const struct option options[] = {
        {"of", 0, OPTION_TEXT, &of, "LANGUAGE",
         "matrix (default), load or metrics (adapter files), report or trial (what is written)"},
        {"markdown", 0, OPTION_FLAG, &markdown, NULL, "the reference page instead of the JSON Schema"},
    };
    struct operands operands;
    struct error err = ERROR_INIT;
    int exit_code = 0;

    if (options_parse(&cmd_schema, options, ARRAY_LEN(options), argc, argv, 0, 0, &operands, &exit_code) < 0)
        return exit_code;
    int language = find_language(of, &err);
    if (language < 0)
        return report_error(&err);
    if (markdown && !schema_of(language))
        return no_page(languages[language]);
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    if (markdown) {
        schema_to_markdown(schema_of(language), &out);
    } else {
        CLEANUP_FREE char *id = xasprintf("urn:benchctl:%s:1", languages[language]);
        CLEANUP(json_free)
        struct json *j = schema_of(language) ? schema_to_json_schema(schema_of(language), id)
                         : strcmp(languages[language], "report") == 0 ? report_json_schema(id)
                                                                      : schema_of_trial(id);
        json_write(j, JSON_STYLE_INDENTED, &out);
        strbuf_addc(&out, '\n');
    }
    return print_buffer(&out);
}

const struct command cmd_schema = {
    .name = "schema",
    .usage = "schema [options]",
    .help = "print the matrix language, or what is written, as a JSON Schema",
    .run = run,
};

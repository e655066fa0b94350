/* SPDX-License-Identifier: MIT */
/* The adapter language as tables: reading, checking and the reference page come from here. */
#include "adapter.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

const char *const option_type_names[] = {"text", "int",  "number", "bool", "duration",
                                         "size", "list", "map",    "any",  NULL};
static const char *const format_names[] = {"json", "text", "csv", "hdrlog", "ndjson", NULL};
static const char *const model_names[] = {"unknown", "closed", "open", NULL};
static const char *const corrected_names[] = {"unknown", "yes", "no", NULL};

#define AT(T, member) .offset = offsetof(struct T, member)

static const struct schema_field option_fields[] = {
    {.key = "type",
     .type = SCHEMA_CHOICE,
     AT(adapter_option, type),
     .choices = option_type_names,
     .fallback = "text",
     .help =
         "What a matrix may write: durations and sizes with a unit, a list of texts, a map of texts, or any "
         "nested value (only for `${spec}`)."},
    {.key = "default",
     .type = SCHEMA_TEXT,
     AT(adapter_option, fallback),
     .help = "Taken when the matrix does not say; written as in a matrix. Not for list, map and any."},
    {.key = "flag",
     .type = SCHEMA_TEXTS,
     AT(adapter_option, flag),
     .help = "Arguments that give the option to the program, with `${value}` (and `${key}` for a map); once "
             "per item of a list or map, and for a bool only when it is true. They stand where `args` says "
             "`${options}`."},
    {.key = "choices", .type = SCHEMA_TEXTS, AT(adapter_option, choices), .help = "The only values allowed."},
    {.key = "one_line",
     .type = SCHEMA_BOOL,
     AT(adapter_option, one_line),
     .fallback = "false",
     .help = "Its texts hold no line breaks, as headers and methods must not: what is sent would be another "
             "request."},
    {.key = "required",
     .type = SCHEMA_BOOL,
     AT(adapter_option, required),
     .fallback = "false",
     .help = "The matrix must give it."},
    {.key = "min",
     .type = SCHEMA_NUMBER,
     AT(adapter_option, min),
     .help = "Least value of an int or number."},
    {.key = "max",
     .type = SCHEMA_NUMBER,
     AT(adapter_option, max),
     .help = "Greatest value of an int or number."},
    {.key = "help", .type = SCHEMA_TEXT, AT(adapter_option, help), .help = "One sentence."},
};
static const struct schema option_schema = {
    .name = "option",
    .help = "Something that a matrix may say under `load` besides the keys that all generators share.",
    .size = sizeof(struct adapter_option),
    .fields = option_fields,
    .field_count = COUNT_OF(option_fields),
    .position_offset = offsetof(struct adapter_option, at),
};

static const struct schema_field rule_fields[] = {
    {.key = "when",
     .type = SCHEMA_TEXT,
     AT(adapter_rule, when),
     .help = "The rule counts only under this condition (as in args)."},
    {.key = "unless", .type = SCHEMA_TEXT, AT(adapter_rule, unless), .help = "The opposite of `when`."},
    {.key = "that",
     .type = SCHEMA_TEXT,
     AT(adapter_rule, that),
     .help =
         "What must then hold: an expression over `option.NAME` and `asked.duration` (ms). Without it the "
         "conditions alone are the mistake. What is not known yet is not checked."},
    {.key = "say",
     .type = SCHEMA_TEXT,
     AT(adapter_rule, say),
     .required = true,
     .help = "What is wrong; `${option.NAME}` and `${asked.duration}` are what was asked for."},
    {.key = "hint", .type = SCHEMA_TEXT, AT(adapter_rule, hint), .help = "What to do about it."},
};
static const struct schema rule_schema = {
    .name = "rules",
    .help = "What options must not contradict: found before anything runs.",
    .size = sizeof(struct adapter_rule),
    .fields = rule_fields,
    .field_count = COUNT_OF(rule_fields),
    .position_offset = offsetof(struct adapter_rule, at),
};

static int argument_from_scalar(const struct node *n, struct arena *a, void *ret, struct error *err)
{
    struct adapter_argument *argument = ret;

    (void)a;
    (void)err;
    argument->text = n->text;
    argument->at = n->at;
    return 0;
}

static const struct schema_field argument_fields[] = {
    {.key = "when",
     .type = SCHEMA_TEXT,
     AT(adapter_argument, when),
     .help =
         "Only if this option (or `script`, `warmup`) is given, and not false; `NAME=VALUE` compares. "
         "`version>=1.5` (also `<`, `<=`, `=`, `>`) compares the program's version; one that is not known, "
         "as in a container, fulfils none."},
    {.key = "unless", .type = SCHEMA_TEXT, AT(adapter_argument, unless), .help = "The opposite of `when`."},
    {.key = "each",
     .type = SCHEMA_TEXT,
     AT(adapter_argument, each),
     .help = "Once per item of this list or map option, as `${value}` (and `${key}`)."},
    {.key = "args",
     .type = SCHEMA_TEXTS,
     AT(adapter_argument, args),
     .required = true,
     .help = "The arguments."},
};
static const struct schema argument_schema = {
    .name = "args",
    .help = "One argument as text, or several under a condition. An argument that is `${options}` alone "
            "stands for the flags of every option given.",
    .size = sizeof(struct adapter_argument),
    .fields = argument_fields,
    .field_count = COUNT_OF(argument_fields),
    .from_scalar = argument_from_scalar,
    .position_offset = offsetof(struct adapter_argument, at),
};

static const struct schema_field version_fields[] = {
    {.key = "args",
     .type = SCHEMA_TEXTS,
     AT(adapter_version, args),
     .help = "Arguments that make the program tell its version, whatever its exit status then is."},
    {.key = "match",
     .type = SCHEMA_TEXT,
     AT(adapter_version, match),
     .help = "Regular expression on the lines of that output; its first group is the version."},
    {.key = "refuse",
     .type = SCHEMA_TEXT_MAP,
     AT(adapter_version, refuse),
     .help = "Regular expressions on the lines of that output that mean it is the wrong program, each with "
             "the reason."},
};
static const struct schema version_schema = {
    .name = "version",
    .help = "How the program tells its version.",
    .size = sizeof(struct adapter_version),
    .fields = version_fields,
    .field_count = COUNT_OF(version_fields),
    .position_offset = offsetof(struct adapter_version, at),
};

static const struct schema_field file_fields[] = {
    {.key = "file",
     .type = SCHEMA_TEXT,
     AT(adapter_file, file),
     .required = true,
     .help = "Its name in the output directory. `${file.NAME}` is its path."},
    {.key = "content",
     .type = SCHEMA_TEXT,
     AT(adapter_file, content),
     .required = true,
     .help = "What is in it; `${...}` is filled in."},
    {.key = "when",
     .type = SCHEMA_TEXT,
     AT(adapter_file, when),
     .help = "Only under this condition (as in args)."},
};
static const struct schema file_schema = {
    .name = "files",
    .help = "A file written before the program starts.",
    .size = sizeof(struct adapter_file),
    .fields = file_fields,
    .field_count = COUNT_OF(file_fields),
    .position_offset = offsetof(struct adapter_file, at),
};

static const struct schema_field finish_fields[] = {
    {.key = "args",
     .type = SCHEMA_TEXTS,
     AT(adapter_finish, args),
     .help =
         "Arguments of the same program, run once after the load has ended, outside the measured window."},
    {.key = "into",
     .type = SCHEMA_TEXT,
     AT(adapter_finish, into),
     .help = "The output that its standard output becomes."},
};
static const struct schema finish_schema = {
    .name = "finish",
    .help = "A second call that turns raw results into a report.",
    .size = sizeof(struct adapter_finish),
    .fields = finish_fields,
    .field_count = COUNT_OF(finish_fields),
    .position_offset = offsetof(struct adapter_finish, at),
};

static const struct schema_field output_fields[] = {
    {.key = "file",
     .type = SCHEMA_TEXT,
     AT(adapter_output, file),
     .required = true,
     .help = "Its name in the output directory; `stdout.txt` and `stderr.txt` are the program's standard "
             "output and error. `${output.NAME}` is its path."},
    {.key = "format",
     .type = SCHEMA_CHOICE,
     AT(adapter_output, format),
     .choices = format_names,
     .fallback = "text",
     .help =
         "json is exactly one value; csv has one record a line; hdrlog is an interval log of HdrHistogram; "
         "ndjson has one JSON object a line and is read as it is written. `limit` is not for the last two."},
    {.key = "delimiter",
     .type = SCHEMA_TEXT,
     AT(adapter_output, delimiter),
     .fallback = ",",
     .help = "Of csv: one character, or `tab`."},
    {.key = "header",
     .type = SCHEMA_BOOL,
     AT(adapter_output, header),
     .fallback = "true",
     .help = "Of csv: the first line names the columns."},
    {.key = "columns",
     .type = SCHEMA_TEXTS,
     AT(adapter_output, columns),
     .help = "Of csv without a header: the names of the columns."},
    {.key = "unit",
     .type = SCHEMA_CHOICE,
     AT(adapter_output, unit),
     .choices = unit_names,
     .fallback = "us",
     .help = "Of hdrlog: the unit of the values that were counted (ns, us, ms or s)."},
    {.key = "stream",
     .type = SCHEMA_OPTIONAL,
     AT(adapter_output, stream),
     .of = &stream_schema,
     .help = "Of ndjson: what the members of a line mean."},
    {.key = "skip",
     .type = SCHEMA_TEXTS,
     AT(adapter_output, skip),
     .help = "Of json: pointers to members that are passed over when the file is larger than the limit, such "
             "as one record per request. What is read from them is then not measured."},
    {.key = "redact",
     .type = SCHEMA_TEXTS,
     AT(adapter_output, redact),
     .help = "Of json: pointers to members that must not be kept, such as login tokens; their values are "
             "replaced in the file."},
    {.key = "limit",
     .type = SCHEMA_SIZE,
     AT(adapter_output, limit_bytes),
     .fallback = "64m",
     .help = "A larger file is an error."},
};
static const struct schema output_schema = {
    .name = "outputs",
    .help = "A file that the program leaves behind.",
    .size = sizeof(struct adapter_output),
    .fields = output_fields,
    .field_count = COUNT_OF(output_fields),
    .position_offset = offsetof(struct adapter_output, at),
};

static const struct schema_field exit_fields[] = {
    {.key = "accept",
     .type = SCHEMA_TEXTS,
     AT(exit_meaning, accept),
     .fallback = "0",
     .help = "Exit statuses after which the results count."},
    {.key = "meaning",
     .type = SCHEMA_TEXT_MAP,
     AT(exit_meaning, meaning),
     .help = "What a status means: STATUS or FROM-TO, and a sentence."},
};
static const struct schema exit_schema = {.name = "exit",
                                          .help = "Exit statuses.",
                                          .size = sizeof(struct exit_meaning),
                                          .fields = exit_fields,
                                          .field_count = COUNT_OF(exit_fields),
                                          .position_offset = offsetof(struct exit_meaning, at)};

static const struct schema_field adapter_fields[] = {
    {.key = "benchctl-adapter",
     .type = SCHEMA_INT,
     AT(adapter_form, format),
     .min = 1,
     .max = 1,
     .required = true,
     .help = "Version of this language: 1."},
    {.key = "help", .type = SCHEMA_TEXT, AT(adapter_form, help), .help = "One sentence about the generator."},
    {.key = "program",
     .type = SCHEMA_TEXT,
     AT(adapter_form, program),
     .help = "The program: a name on PATH or in the image; `${benchctl}` is benchctl itself (in an image the "
             "program of that name). Without it nothing is run and benchctl waits for the duration."},
    {.key = "package",
     .type = SCHEMA_TEXT,
     AT(adapter_form, package),
     .help = "What installs it, for the message when it is missing."},
    {.key = "url", .type = SCHEMA_TEXT, AT(adapter_form, url), .help = "Where it comes from."},
    {.key = "model",
     .type = SCHEMA_CHOICE,
     AT(adapter_form, model),
     .choices = model_names,
     .fallback = "unknown",
     .help = "closed: a request waits for the one before; open: requests come on schedule."},
    {.key = "corrected",
     .type = SCHEMA_CHOICE,
     AT(adapter_form, corrected),
     .choices = corrected_names,
     .fallback = "unknown",
     .help = "Is latency counted from the planned moment of sending (corrected for coordinated omission)?"},
    {.key = "open_when",
     .type = SCHEMA_TEXT,
     AT(adapter_form, open_when),
     .help = "The model is open if this option is given (as `when` in args), else what `model` says."},
    {.key = "closed_when",
     .type = SCHEMA_TEXTS,
     AT(adapter_form, closed_when),
     .help = "The model is closed if one of these conditions holds, else what `open_when` and `model` say."},
    {.key = "corrected_when",
     .type = SCHEMA_TEXT,
     AT(adapter_form, corrected_when),
     .help = "Latency is corrected if this option is given, else what `corrected` says."},
    {.key = "uncorrected_when",
     .type = SCHEMA_TEXT,
     AT(adapter_form, uncorrected_when),
     .help = "Latency is not corrected if this option is given, whatever else says so."},
    {.key = "version",
     .type = SCHEMA_STRUCT,
     AT(adapter_form, version),
     .of = &version_schema,
     .help = "How the program tells its version."},
    {.key = "options",
     .type = SCHEMA_NAMED,
     AT(adapter_form, options),
     .of = &option_schema,
     .help = "What a matrix may say under `load`, by name."},
    {.key = "rules",
     .type = SCHEMA_LIST,
     AT(adapter_form, rules),
     .of = &rule_schema,
     .help = "Options that contradict each other or the duration."},
    {.key = "args",
     .type = SCHEMA_LIST,
     AT(adapter_form, args),
     .of = &argument_schema,
     .help = "The arguments of the call. Never through a shell."},
    {.key = "env", .type = SCHEMA_TEXT_MAP, AT(adapter_form, env), .help = "Environment of the call."},
    {.key = "files",
     .type = SCHEMA_NAMED,
     AT(adapter_form, files),
     .of = &file_schema,
     .help = "Files written before it starts."},
    {.key = "finish",
     .type = SCHEMA_STRUCT,
     AT(adapter_form, finish),
     .of = &finish_schema,
     .help = "A second call that turns raw results into a report."},
    {.key = "outputs",
     .type = SCHEMA_NAMED,
     AT(adapter_form, outputs),
     .of = &output_schema,
     .help = "The files that it leaves behind."},
    {.key = "reports",
     .type = SCHEMA_LIST,
     AT(adapter_form, reports),
     .of = &report_schema,
     .help = "How results are read from them."},
    {.key = "exit",
     .type = SCHEMA_STRUCT,
     AT(adapter_form, exit),
     .of = &exit_schema,
     .help = "What its exit statuses mean."},
};
const struct schema load_adapter_schema = {
    .name = "the adapter",
    .help = "A load generator adapter (`adapters/load/NAME.yaml`).",
    .size = sizeof(struct adapter_form),
    .fields = adapter_fields,
    .field_count = COUNT_OF(adapter_fields),
    .free_keys = true,
    .position_offset = SCHEMA_NO_POSITION,
};

/* SPDX-License-Identifier: MIT */
#include "cmd.h"

#include <stdio.h>
#include <string.h>
#include "benchctl/base/schema.h"
#include "benchctl/base/units.h"

void option_list_release(struct option_list *l)
{
    vec_release(l);
}

static const char *argument_of(const struct option *o)
{
    return o->argument ? o->argument : "VALUE";
}

static void print_help(const struct command *c, const struct option *options, size_t count)
{
    printf("usage: benchctl %s\n\n%s.\n", c->usage, c->help);
    if (count)
        printf("\noptions:\n");
    for (size_t i = 0; i < count; i++) {
        char left[64], letter[8] = "    ";
        if (options[i].letter)
            (void)snprintf(letter, sizeof(letter), "-%c, ", options[i].letter);
        (void)snprintf(left, sizeof(left), "%s--%s%s%s", letter, options[i].name,
                       options[i].kind == OPTION_FLAG ? "" : " ",
                       options[i].kind == OPTION_FLAG ? "" : argument_of(&options[i]));
        printf("  %-28s %s%s\n", left, options[i].help,
               options[i].kind == OPTION_LIST ? " (repeatable)" : "");
    }
    printf("  %-28s %s\n", "-h, --help", "this text");
}

static int usage_error(const struct command *c, struct error *err)
{
    if (!err->hint[0])
        (void)error_hint(err, "see `benchctl %s --help`", c->name);
    return report_error(err);
}

static const struct option *find_option(const struct option *options, size_t count, const char *name,
                                        size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(options[i].name) == len && strncmp(options[i].name, name, len) == 0)
            return &options[i];
    return NULL;
}

static int unknown_option(const struct option *options, size_t count, const char *name, size_t len,
                          struct error *err)
{
    const char *names[64];
    size_t n = 0;
    CLEANUP_FREE char *text = xstrndup(name, len);

    for (; n < count && n < 64; n++)
        names[n] = options[n].name;
    const char *near = nearest_name(text, names, n);
    (void)error_set(err, ERROR_USAGE, "unknown option '--%s'", text);
    if (near)
        (void)error_hint(err, "did you mean '--%s'?", near);
    return -1;
}

static int store(const struct option *o, const char *text, struct error *err)
{
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)o->value = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)o->value = text;
        return 0;
    case OPTION_LIST:
        vec_push((struct option_list *)o->value, text);
        return 0;
    case OPTION_INT:
        if (integer_parse(text, o->value, err) == 0)
            return 0;
        break;
    case OPTION_DURATION:
        if (duration_parse(text, o->value, err) == 0)
            return 0;
        break;
    }
    err->kind = ERROR_USAGE;
    return error_wrap(err, "option '--%s'", o->name);
}

/* One option at argv[*i], long or short; takes its value from the same or the next word. */
static int take_option(const struct option *options, size_t count, char **argv, int argc, int *i,
                       struct error *err)
{
    const char *word = argv[*i], *value = NULL;
    const struct option *o = NULL;

    if (word[1] == '-') {
        const char *name = word + 2;
        size_t len = strcspn(name, "=");
        o = find_option(options, count, name, len);
        if (!o)
            return unknown_option(options, count, name, len, err);
        value = name[len] ? name + len + 1 : NULL;
    } else {
        for (size_t k = 0; k < count && !o; k++)
            o = options[k].letter == word[1] ? &options[k] : NULL;
        if (!o)
            return error_set(err, ERROR_USAGE, "unknown option '%s'", word);
        value = word[2] ? word + 2 : NULL;
    }
    if (o->kind == OPTION_FLAG && value)
        return error_set(err, ERROR_USAGE, "option '--%s' takes no value", o->name);
    if (o->kind != OPTION_FLAG && !value) {
        if (*i + 1 >= argc)
            return error_set(err, ERROR_USAGE, "option '--%s' needs a value: %s", o->name, argument_of(o));
        value = argv[++*i];
    }
    return store(o, value, err);
}

static int check_operands(const struct operands *o, size_t min, size_t max, struct error *err)
{
    if (o->len < min)
        return error_set(err, ERROR_USAGE, "something is missing on the command line");
    if (o->len > max)
        return error_set(err, ERROR_USAGE, "unexpected '%s' on the command line", o->items[max]);
    return 0;
}

int options_parse(const struct command *c, const struct option *options, size_t count, int argc, char **argv,
                  size_t min, size_t max, struct operands *ret, int *ret_exit)
{
    struct error err = ERROR_INIT;
    bool only_operands = false;

    *ret = (struct operands){0};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!only_operands && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            print_help(c, options, count);
            *ret_exit = fflush(stdout) == 0 ? 0 : 1;
            return -1;
        }
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && word[0] == '-' && word[1]) {
            if (take_option(options, count, argv, argc, &i, &err) < 0) {
                *ret_exit = usage_error(c, &err);
                return -1;
            }
        } else if (ret->len < ARRAY_LEN(ret->items)) {
            ret->items[ret->len++] = word;
        }
    }
    if (check_operands(ret, min, max, &err) < 0) {
        (void)error_hint(&err, "usage: benchctl %s", c->usage);
        *ret_exit = usage_error(c, &err);
        return -1;
    }
    return 0;
}

int format_option(const struct command *c, const char *text, const char *const *choices)
{
    struct error err = ERROR_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf all = STRBUF_INIT;

    for (int i = 0; choices[i]; i++) {
        if (text && strcmp(text, choices[i]) == 0)
            return i;
        strbuf_addf(&all, "%s%s", i ? ", " : "", choices[i]);
    }
    if (!text)
        return 0;
    (void)error_set(&err, ERROR_USAGE, "unknown format '%s'", text);
    (void)error_hint(&err, "one of: %s", strbuf_text(&all));
    (void)usage_error(c, &err);
    return -1;
}

/* SPDX-License-Identifier: MIT */
/* The command line: a verb, its file in cmd/, an exit code. */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "benchctl/base/tree.h"
#include "benchctl/base/version.h"
#include "cmd/cmd.h"

static const struct command *const commands[] = {
    &cmd_run,    &cmd_plan, &cmd_check,   &cmd_parity, &cmd_resume, &cmd_rerun, &cmd_report, &cmd_compare,
    &cmd_bundle, &cmd_load, &cmd_adapter, &cmd_schema, &cmd_doctor, &cmd_clean, &cmd_status, &cmd_audit,
};

static void print_usage(FILE *out)
{
    fprintf(out,
            "usage: benchctl COMMAND [arguments]\n\n"
            "Runs a matrix of benchmark scenarios in containers and says when not to believe a number.\n\n"
            "commands:\n");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->help);
    fprintf(out, "\n`benchctl COMMAND --help` explains one; `benchctl --version` tells which this is.\n");
}

static int unknown_command(const char *name)
{
    const char *names[ARRAY_LEN(commands)];
    struct error err = ERROR_INIT;

    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        names[i] = commands[i]->name;
    const char *near = nearest_name(name, names, ARRAY_LEN(commands));
    (void)error_set(&err, ERROR_USAGE, "unknown command '%s'", name);
    if (near)
        (void)error_hint(&err, "did you mean '%s'?", near);
    else
        (void)error_hint(&err, "`benchctl --help` lists the commands");
    return report_error(&err);
}

int main(int argc, char **argv)
{
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    notes_to_stderr();
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error that is reported */
    if (argc < 2) {
        print_usage(stderr);
        return error_exit_code(ERROR_USAGE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("benchctl %s\n", BENCHCTL_VERSION);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->run(argc - 1, argv + 1);
    return unknown_command(argv[1]);
}

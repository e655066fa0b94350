/* SPDX-License-Identifier: MIT */
#include "settings_rules.h"

static int check_member(const struct node *n, const void *value, struct error *err)
{
    const struct parity_member *m = value;

    if (!*m->ref)
        return node_error(err, rule_at(n, "ref"), "'ref' is empty");
    return 0;
}

static const struct schema_field member_fields[] = {
    FIELD("repo", TEXT, parity_member, repo, .path = true,
          .help = "Repository, when it is not the section's."),
    FIELD("ref", TEXT, parity_member, ref, .fallback = "HEAD",
          .help = "Branch, tag or commit, never fetched; with `sources: folders` a folder below `repo`."),
    FIELD("path", TEXT, parity_member, path, .required = true, .help = "Directory or file in its tree."),
    FIELD("match", TEXT, parity_member, match,
          .help = "`constants` and `bindings`: names to compare, a glob such as `SQL_*`."),
};
static const struct schema member_schema = {
    .name = "a parity member",
    .help = "One of the sources that must be the same.",
    .size = sizeof(struct parity_member),
    LIST_OF(member_fields),
    .free_keys = true,
    .check = check_member,
    .position_offset = offsetof(struct parity_member, at),
};

static int check_parity_check(const struct node *n, const void *value, struct error *err)
{
    const struct parity_check *c = value;
    const struct parity_member *members = c->members.items;

    if (c->members.len < 2) {
        node_error(err, rule_at(n, "members"), "a parity check needs at least two members");
        return error_hint(err, "one source alone is the same as itself");
    }
    for (size_t i = 0; i < c->members.len; i++) {
        if (members[i].match && c->compare == COMPARE_BLOBS) {
            position_error(err, members[i].at, "'match' means nothing for 'compare: blobs'");
            return error_hint(err, "it names constants; use compare: constants, or ignore for files");
        }
    }
    return 0;
}

static const char *const compare_names[] = {
    [COMPARE_BLOBS] = "blobs", [COMPARE_CONSTANTS] = "constants", [COMPARE_BINDINGS] = "bindings", NULL};
static const char *const problem_names[] = {[ON_PROBLEM_WARN] = "warn", [ON_PROBLEM_FAIL] = "fail", NULL};

static const struct schema_field check_fields[] = {
    FIELD("name", TEXT, parity_check, name, .required = true, .help = "What the result is called."),
    FIELD("compare", CHOICE, parity_check, compare, .choices = compare_names, .fallback = "blobs",
          .help = "Every file by content and mode; the string constants of the sources by name, value and "
                  "order; or the values bound to SQL statements by position."),
    FIELD("members", LIST, parity_check, members, .of = &member_schema, .required = true,
          .help = "The sources that must be the same."),
    FIELD("ignore", TEXTS, parity_check, ignore, .help = "Files left out, globs such as `**/README.md`."),
};
static const struct schema check_schema = {
    .name = "a parity check",
    .help = "A comparison of two or more sources.",
    .size = sizeof(struct parity_check),
    LIST_OF(check_fields),
    .free_keys = true,
    .check = check_parity_check,
    .position_offset = offsetof(struct parity_check, at),
};

static int check_parity(const struct node *n, const void *value, struct error *err)
{
    const struct parity_settings *p = value;
    const struct parity_check *checks = p->checks.items;
    char shown[SHOWN_SIZE];

    for (size_t i = 0; i < p->checks.len; i++) {
        const struct parity_member *members = checks[i].members.items;
        for (size_t k = 0; k < checks[i].members.len; k++) {
            if (!members[k].repo && !p->repo) {
                position_error(err, members[k].at, "no repository is given for this member");
                return error_hint(err, "write repo: here, or once for the whole parity section");
            }
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(checks[i].name, checks[k].name) == 0)
                return position_error(err, checks[i].at, "parity check '%s' is given twice, first on line %d",
                                      text_shown(checks[i].name, shown), checks[k].at.line);
        }
    }
    (void)n;
    return 0;
}

static const char *const sources_names[] = {[PARITY_REFS] = "refs", [PARITY_FOLDERS] = "folders", NULL};

static const struct schema_field parity_fields[] = {
    FIELD("repo", TEXT, parity_settings, repo, .path = true,
          .help =
              "Local repository, or directory of folders, that members belong to, relative to the matrix."),
    FIELD("sources", CHOICE, parity_settings, sources, .choices = sources_names, .fallback = "refs",
          .help = "Committed trees of refs; or working files as they are, of folders below `repo` that `ref` "
                  "names."),
    FIELD("on_mismatch", CHOICE, parity_settings, on_mismatch, .choices = problem_names, .fallback = "fail",
          .help = "Stop with exit code 4, or go on with a warning."),
    FIELD("checks", LIST, parity_settings, checks, .of = &check_schema, .required = true,
          .help = "The comparisons."),
};
const struct schema parity_schema = {
    .name = "the parity section",
    .help =
        "Sources that must be the same for the comparison to be fair; checked before anything is started.",
    .size = sizeof(struct parity_settings),
    LIST_OF(parity_fields),
    .free_keys = true,
    .check = check_parity,
};

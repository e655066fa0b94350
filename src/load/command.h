/* SPDX-License-Identifier: MIT */
/* Options of a matrix and the templates of an adapter: from both comes the call. */
#ifndef BENCHCTL_LOAD_COMMAND_H
#define BENCHCTL_LOAD_COMMAND_H

#include "adapter.h"
#include "benchctl/base/strbuf.h"

/* Is the name taken: by what every template may use, or by a key of the matrix' load section? */
bool load_name_reserved(const char *name);

/* Is the node a value of this option? Values that still hold a run-time reference pass. */
int load_option_check_value(const struct adapter_option *o, const struct node *n,
                            struct error *err) MUST_CHECK;

/* What the matrix gives, else the default as a node of its own in `arena`, else NULL. */
const struct node *load_option_node(const struct adapter_option *o, const struct node *options,
                                    struct arena *arena);

/* The option as a number (durations in ms); NAN when it is absent or no number. */
double load_option_number(const struct adapter_option *o, const struct node *options, struct arena *arena);

/* `option.NAME` or `asked.duration` (ms) of the call, which may be NULL; NAN: not asked for, or no number. */
double load_asked_number(const struct load_adapter *a, const struct load_call *call, const char *name,
                         struct arena *arena);

/* rules.c: makes the adapter's rules ready, and holds them against a call. */
int load_rules_prepare(struct load_adapter *a, struct error *err) MUST_CHECK;
int load_rules_check(const struct load_adapter *a, const struct load_call *call,
                     struct error *err) MUST_CHECK;

/* Does a condition of `when` hold for this call? */
bool load_condition(const struct load_adapter *a, const char *when, const struct load_call *call,
                    struct arena *arena);

/* "version>=1.5": is the condition one on the program's version, is it well-formed, and does it hold for this
 * version (NULL or without a number: none does)? */
bool load_is_version_condition(const char *when);
bool load_version_condition_valid(const char *when);
bool load_version_condition(const char *when, const char *version);

/* The condition's name is an option, script or warmup, or it is one on the version. */
int load_condition_check(const struct load_adapter *a, const char *when, struct position at,
                         struct error *err) MUST_CHECK;

/* Every `${...}` of the adapter's templates has a meaning. */
int load_templates_check(struct load_adapter *a, struct error *err) MUST_CHECK;

/* What a value becomes where it stands: in a JSON file the inside of a text, in a file of lines nothing that
 * would end one. The spec is JSON already. */
enum value_place { PLACE_ANY, PLACE_JSON, PLACE_LINE };

/* Fills a template in. `key` and `value` are those of a flag or of `each`, else NULL. */
struct template_scope {
    const struct load_adapter *adapter;
    const struct load_call *call;
    struct arena *arena;
    const char *key, *value;
    enum value_place place;
};
int load_template_fill(const char *text, const struct template_scope *scope, const char **ret,
                       struct error *err) MUST_CHECK;
bool load_template_name_known(const struct load_adapter *a, const char *name, bool in_flag);

/* A duration under a suffix: "" as text, "s" and "ms" as decimal numbers, "int_s" as whole seconds. */
int load_duration_text(int64_t ns, const char *suffix, struct strbuf *out, struct error *err) MUST_CHECK;

#endif

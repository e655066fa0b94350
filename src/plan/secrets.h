/* SPDX-License-Identifier: MIT */
/*
 * What a scenario's variables and settings hold under keys that look secret, to be hidden wherever it turns
 * up in what is written or shown: `vars: {my_secret: X}` and `command: ["${my_secret}"]`. Values of axes are
 * part of ids and no secrets. Digests are made of the settings before anything is hidden here.
 */
#ifndef BENCHCTL_PLAN_SECRETS_H
#define BENCHCTL_PLAN_SECRETS_H

#include "plan_internal.h"

#define SECRET_MIN 4 /* bytes; shorter ones are found in any text */

/* Texts are borrowed from the matrix and `tree`. */
struct secrets {
    VEC(const char *) texts;
};
void secrets_release(struct secrets *s);

/* Adds those of scenario `i`, whose resolved tree is `tree`; `a` holds what is looked up. */
void secrets_add(struct secrets *s, const struct plan *p, size_t i, const struct node *tree, struct arena *a);

/* Appends `text` with "***" for each of them. */
void secrets_hide(const struct secrets *s, const char *text, struct strbuf *out);

/* A copy of `j` with its texts treated so; keys stay. The caller frees. */
struct json *secrets_hide_json(const struct secrets *s, const struct json *j);

#endif

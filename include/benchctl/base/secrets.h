/* SPDX-License-Identifier: MIT */
/*
 * Values that nobody may read. What the matrix or the environment calls secret is learnt before anything is
 * run; whoever writes a file, a record or a message then has the values masked in it: a `*` for each byte, so
 * that lengths, and with them binary files and JSON, stay what they are. Process-wide, like the log's sink: a
 * value that is known once must not appear anywhere. The last line of defence; values that the matrix holds
 * are not written in the first place (schema_to_json(), tree_mask_secrets()).
 *
 * Masked are the value itself and as it stands in JSON and in a URL. Not: what somebody has encoded otherwise
 * (base64, compressed). Values under six bytes, plain numbers and a few words that are no secret (`postgres`,
 * `password`) are not learnt: they could be any part of a text. Nor is what is also a part of a name that has
 * to stay what it is (secrets_spare()).
 */
#ifndef BENCHCTL_BASE_SECRETS_H
#define BENCHCTL_BASE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>
#include "benchctl/base/error.h"
#include "benchctl/base/json.h"
#include "benchctl/base/tree.h"

#define SECRET_MIN_BYTES 6
#define SECRET_MAX_BYTES ((size_t)64 << 10)

/*
 * What names things: scenarios, axes' values, images, paths. With a part of it masked nothing would be found
 * again, so a value that occurs in it is not learnt, which is said once by warn(). Before anything is learnt.
 */
enum secret_place {
    SECRET_IN_SCENARIO,
    SECRET_IN_AXIS,
    SECRET_IN_IMAGE,
    SECRET_IN_SERVICE,
    SECRET_IN_PATH,
    SECRET_PLACES
};
void secrets_spare(enum secret_place where, const char *text); /* copied; NULL is fine */

/* Copied; NULL, and what is no secret by itself, is passed over. `source` names it to the user ("app.env.X");
 * NULL: nobody knows. */
void secrets_learn(const char *value);
void secrets_learn_of(const char *value, const char *source);
/* The passwords of the URLs and connection strings in a text. */
void secrets_learn_passwords(const char *text);
/*
 * All of a tree of settings: values under a key that looks secret (schema.h), what `${secret:NAME}` stands
 * for, passwords inside URLs and connection strings. A value that also stands openly, as the whole of another
 * scalar (user and password are both `bench`), is none. Its images and the names of its services are spared.
 */
void secrets_learn_tree(const struct node *n);
bool secrets_known(void);
size_t secrets_longest(void); /* of all forms, bytes; 0: none is known */
void secrets_forget(void);    /* for tests */

/* Masks in place; true when there was something. */
bool secrets_mask(char *bytes, size_t len);
void secrets_mask_text(char *text); /* NULL is fine */
/* All texts in it, but not the names of members, nor what is under one that names things (`scenario`, `axes`,
 * `outcome`, `digest`, ...). True when there was something. */
bool secrets_mask_json(struct json *j);

/* Does a text hold one? */
bool secrets_in(const char *text);

/* In a stream that comes in pieces: the last bytes of a piece are held back, for a value may begin there. */
struct secrets_stream;
typedef int secrets_sink(const char *bytes, size_t len, void *data, struct error *err);
struct secrets_stream *secrets_stream_new(secrets_sink *sink, void *data);
int secrets_stream_write(struct secrets_stream *s, const char *bytes, size_t len,
                         struct error *err) MUST_CHECK;
int secrets_stream_end(struct secrets_stream *s, struct error *err) MUST_CHECK; /* what was held back */
void secrets_stream_free(struct secrets_stream *s);
DEFINE_CLEANUP(struct secrets_stream *, secrets_stream_free);

/*
 * In every regular file below `dir`, in place; links are not followed. A file that cannot be masked is
 * removed, and `removed` is told its name and why (NULL: nobody is). ERROR_ENVIRONMENT when one could be
 * neither, or the directory not be read: then a secret may stand in it. Costs nothing while none is known.
 */
int secrets_mask_files(const char *dir, void (*removed)(const char *name, const char *why, void *data),
                       void *data, struct error *err) MUST_CHECK;

#endif

/* SPDX-License-Identifier: MIT */
/* Images by names that are the same on other machines. */
#include "run_internal.h"

char *run_image_key(const struct matrix *m, const struct container_settings *c)
{
    struct strbuf key = STRBUF_INIT;

    strbuf_adds(&key, c->image ? c->image : "");
    if (!c->build)
        return strbuf_detach(&key);
    CLEANUP_FREE char *context = path_relative(m->dir, c->build->context);
    strbuf_addf(&key, "\n%s\n%s", context, c->build->dockerfile ? c->build->dockerfile : "");
    for (size_t i = 0; i < c->build->args.len; i++) {
        const struct text_pair *arg = &c->build->args.items[i];
        strbuf_addf(&key, "\n%s=%s", arg->key, text_is_secret_key(arg->key) ? "***" : arg->value);
    }
    return strbuf_detach(&key);
}

const char *image_given(const struct sweep_run *s, const struct container_settings *c)
{
    const struct json *all = s->options->images;

    if (!all)
        return NULL;
    CLEANUP_FREE char *key = run_image_key(s->matrix, c);
    for (size_t i = 0; i < json_len(all); i++)
        if (text_equal(json_get_text(json_at(all, i), "key"), key))
            return json_get_text(json_at(all, i), "id");
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* What an adapter and the language say about themselves. */
#include "adapter.h"

void load_adapter_reference(struct strbuf *out)
{
    schema_to_markdown(&load_adapter_schema, out);
    strbuf_addc(out, '\n');
    schema_to_markdown(&value_schema, out);
}

struct json *load_adapter_to_json(const struct load_adapter *a)
{
    struct json *form = schema_to_json(&load_adapter_schema, &a->form, false);
    struct json *j = json_new_object();

    json_set_text(j, "name", a->name);
    json_set_text(j, "file", a->file);
    for (void *it = json_iter(form); it; it = json_iter_next(form, it))
        json_set(j, json_iter_key(it), json_clone(json_iter_value(it)));
    json_free(form);
    if (a->form.args.len) /* plain texts among them, which the table has no key for */
        json_set(j, "args", node_to_json(node_get(a->root, "args")));
    return j;
}

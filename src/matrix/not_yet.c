/* SPDX-License-Identifier: MIT */
#include "benchctl/matrix.h"

#include <string.h>

static const char *load_adapter_as_written(const struct matrix *m)
{
    const struct node *load = m->base ? node_get(m->base, "load") : NULL;
    const struct node *adapter = load && load->kind == NODE_MAP ? node_get(load, "adapter") : NULL;

    return adapter && adapter->kind == NODE_SCALAR ? adapter->text : NULL;
}

size_t matrix_not_yet(const struct matrix *m, const char *ret[MATRIX_NOT_YET_MAX])
{
    size_t n = 0;

    if (m->notify.webhook)
        ret[n++] = "'notify' is part of the language, but this version sends no webhooks";
    if (m->host.require.len)
        ret[n++] = "'host.require' is part of the language, but this version does not check it; `benchctl "
                   "doctor` shows the host";
    const char *adapter = load_adapter_as_written(m);
    if (adapter && strcmp(adapter, "builtin") == 0)
        ret[n++] = "'adapter: builtin' is part of the language, but this version has only adapters: `run` "
                   "will refuse it";
    return n;
}

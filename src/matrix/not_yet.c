/* SPDX-License-Identifier: MIT */
#include "benchctl/matrix.h"

#include <string.h>

size_t matrix_not_yet(const struct matrix *m, const char *ret[MATRIX_NOT_YET_MAX])
{
    size_t n = 0;

    if (m->notify.webhook)
        ret[n++] = "'notify' is part of the language, but this version sends no webhooks";
    if (m->host.require.len)
        ret[n++] = "'host.require' is part of the language, but this version does not check it; `benchctl "
                   "doctor` shows the host";
    return n;
}

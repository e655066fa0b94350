/* SPDX-License-Identifier: MIT */
/* Sources of any language, whole or torn, read for their string constants. The first byte picks the language.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include "benchctl/parity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void scan(const struct parity_source *source, const char *glob)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct source_constant *list = NULL;
    struct error err = ERROR_INIT;
    size_t n = 0;

    if (parity_scan_constants(source, 1, glob, a, &list, &n, &err) < 0)
        return;
    int last = 0;
    for (size_t i = 0; i < n; i++) {
        assert(list[i].name[0] && list[i].line >= last &&
               (list[i].value == NULL) == (list[i].problem != NULL));
        assert(!list[i].value || list[i].value[list[i].value_len] == '\0');
        last = list[i].line;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"A.java", "a.kt", "a.scala", "a.groovy",
                                        "a.cs",   "a.go", "a.ts",    "a.py"};

    if (!size)
        return 0;
    const struct parity_source source = {paths[data[0] % ARRAY_LEN(paths)], (const char *)data + 1, size - 1};
    scan(&source, NULL);
    scan(&source, "*");
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "language.h"

#include <string.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/mem.h"

static const struct language languages[] = {
    {.id = LANG_JAVA, .name = "Java", .extensions = ".java", .triple_double = true},
    {.id = LANG_KOTLIN,
     .name = "Kotlin",
     .extensions = ".kt .kts",
     .nested_comments = true,
     .newlines = true,
     .leading_dot = true,
     .triple_double = true,
     .triple_raw = true,
     .templates = true},
    {.id = LANG_SCALA,
     .name = "Scala",
     .extensions = ".scala .sc",
     .nested_comments = true,
     .newlines = true,
     .leading_dot = true,
     .triple_double = true,
     .triple_raw = true,
     .prefixes = true},
    {.id = LANG_GROOVY,
     .name = "Groovy",
     .extensions = ".groovy .gvy",
     .newlines = true,
     .leading_dot = true,
     .single_quotes = true,
     .triple_double = true,
     .triple_single = true,
     .templates = true},
    {.id = LANG_CSHARP,
     .name = "C#",
     .extensions = ".cs",
     .triple_double = true,
     .triple_raw = true,
     .prefixes = true},
    {.id = LANG_GO, .name = "Go", .extensions = ".go", .newlines = true, .backtick = true},
    {.id = LANG_SCRIPT,
     .name = "JavaScript",
     .extensions = ".js .mjs .cjs .jsx .ts .mts .cts .tsx",
     .newlines = true,
     .leading_plus = true,
     .leading_dot = true,
     .single_quotes = true,
     .backtick = true,
     .nested_templates = true},
    {.id = LANG_PYTHON,
     .name = "Python",
     .extensions = ".py .pyi",
     .hash_comments = true,
     .newlines = true,
     .single_quotes = true,
     .triple_double = true,
     .triple_single = true,
     .prefixes = true},
};

/* Is the word one of the list's, which are separated by blanks? */
static bool listed(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = strstr(list, word); p; p = strstr(p + 1, word))
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

const struct language *language_of(const char *path)
{
    const char *dot = strrchr(path_basename(path), '.');

    for (size_t i = 0; dot && i < ARRAY_LEN(languages); i++)
        if (listed(languages[i].extensions, dot))
            return &languages[i];
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* The words of a java launcher's argument file (@FILE): parted by blanks, quotes hold together, # begins a
 * comment. */
#include "jvm_internal.h"

#define FILE_WORDS_MAX 1024

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* After a backslash, within quotes. A line that ends in one goes on without what indents the next. */
static size_t add_escaped(const char *text, size_t at, size_t len, struct strbuf *word)
{
    static const char from[] = "nrtf", to[] = "\n\r\t\f";

    if (text[at] == '\n' || text[at] == '\r') {
        while (at < len && is_blank(text[at]))
            at++;
        return at;
    }
    const char *known = strchr(from, text[at]);
    strbuf_addc(word, known ? to[known - from] : text[at]);
    return at + 1;
}

/* One word from `at` on, which is no blank; returns where it ends. */
static size_t read_word(const char *text, size_t at, size_t len, struct strbuf *word)
{
    char quote = '\0';

    while (at < len && (quote || (!is_blank(text[at]) && text[at] != '#'))) {
        char c = text[at++];
        if (quote && c == '\\' && at < len)
            at = add_escaped(text, at, len, word);
        else if (c == quote)
            quote = '\0';
        else if (!quote && (c == '"' || c == '\''))
            quote = c;
        else
            strbuf_addc(word, c);
    }
    return at;
}

void jvm_argument_words(const char *text, size_t len, struct arena *a, struct text_list *ret)
{
    *ret = (struct text_list){.items = arena_array(a, const char *, FILE_WORDS_MAX)};
    len = strnlen(text, len);
    for (size_t at = 0; at < len && ret->len < FILE_WORDS_MAX;) {
        CLEANUP_VALUE(strbuf_release) struct strbuf word = STRBUF_INIT;
        if (is_blank(text[at])) {
            at++;
        } else if (text[at] == '#') {
            at += strcspn(text + at, "\r\n");
        } else {
            at = read_word(text, at, len, &word);
            ret->items[ret->len++] = arena_strdup(a, strbuf_text(&word));
        }
    }
}

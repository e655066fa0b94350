/* SPDX-License-Identifier: MIT */
/* A java command line: which of its words bear on what the JVM chooses, and which must not be repeated. */
#include "jvm_internal.h"

#include <math.h>
#include "benchctl/base/fs.h"

#define WORDS_MAX 1024

struct jvm_facts jvm_facts_none(void)
{
    return (struct jvm_facts){.heap_max_bytes = NAN, .cpus = NAN};
}

void jvm_facts_add(struct jvm_facts *ret, const struct jvm_facts *more)
{
    ret->version = ret->version ? ret->version : more->version;
    ret->collector = ret->collector ? ret->collector : more->collector;
    ret->options = ret->options ? ret->options : more->options;
    ret->heap_max_bytes = isnan(ret->heap_max_bytes) ? more->heap_max_bytes : ret->heap_max_bytes;
    ret->cpus = isnan(ret->cpus) ? more->cpus : ret->cpus;
    ret->source = ret->source ? ret->source : more->source;
}

const char *jvm_clean(struct arena *a, const char *text, size_t len)
{
    len = strnlen(text, len < JVM_TEXT_MAX ? len : JVM_TEXT_MAX);
    char *copy = arena_strndup(a, text, len);
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    return copy;
}

/* Options of the virtual machine: -X..., and its kind. -Dname=value is the program's, and may be secret. */
static bool is_recorded(const char *word)
{
    return text_starts(word, "-X") || text_equal(word, "-server") || text_equal(word, "-client") ||
           text_starts(word, "-javaagent:") || text_starts(word, "-agentlib:") ||
           text_starts(word, "-agentpath:");
}

/* An agent's own options stay out; so do commands. */
static size_t recorded_len(const char *word)
{
    bool agent = text_starts(word, "-javaagent:") || text_starts(word, "-agent");

    return agent || text_starts(word, "-XX:On") ? strcspn(word, "=") : strlen(word);
}

/* Would it write, listen, load or print something in the JVM that is asked, or end the asking? */
static bool is_repeated(const char *word)
{
    static const char *const left_out[] = {
        "-Xlog",
        "-Xloggc",
        "-Xrun",
        "-Xdebug",
        "-Xshare",
        "-XX:Start",
        "-XX:FlightRecorde",
        "-XX:OnError",
        "-XX:OnOutOfMemor",
        "-XX:SharedArchive",
        "-XX:Archive",
        "-XX:+AutoCreate",
        "-XX:AOT",
        "-XX:CRaC",
        "-XX:+Print",
        "-XX:LogFile",
        "-XX:+LogVM",
        "-XX:Dump",
        "-XX:VMOptionsFile",
        "-XX:Flags",
        "-XshowSettings",
        "-XX:+AlwaysPreTouch",
        "-XX:+CrashOnOutOfMemor",
    };

    if (!text_starts(word, "-X") && !text_equal(word, "-server") && !text_equal(word, "-client"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(left_out); i++)
        if (text_starts(word, left_out[i]))
            return false;
    return !text_equal(word, "-X");
}

/* Launcher options whose value is the next word. */
static bool takes_next(const char *word)
{
    static const char *const all[] = {"-cp",
                                      "-classpath",
                                      "--class-path",
                                      "-p",
                                      "--module-path",
                                      "--upgrade-module-path",
                                      "--add-modules",
                                      "--limit-modules",
                                      "--add-opens",
                                      "--add-exports",
                                      "--add-reads",
                                      "--patch-module",
                                      "--enable-native-access",
                                      "--source"};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (text_equal(word, all[i]))
            return true;
    return false;
}

static bool ends_options(const char *word)
{
    return word[0] != '-' || text_equal(word, "-jar") || text_equal(word, "-m") ||
           text_starts(word, "--module=") || text_equal(word, "--module");
}

static void add_recorded(struct strbuf *out, const char *word)
{
    if (!is_recorded(word) || out->len > JVM_TEXT_MAX)
        return;
    if (out->len)
        strbuf_addc(out, ' ');
    strbuf_add(out, word, recorded_len(word));
}

static const char *kept(struct strbuf *text, struct arena *a)
{
    return text->len ? jvm_clean(a, text->data, text->len) : NULL;
}

/* The words of a line that a blank parts; quotes are taken off. NULL-terminated. */
static const char **split(const char *line, struct arena *a, size_t *ret_len)
{
    const char **words = arena_array(a, const char *, WORDS_MAX + 1);
    size_t n = 0;

    while (n < WORDS_MAX) {
        line += strspn(line, " \t\r\n'\"");
        size_t len = strcspn(line, " \t\r\n'\"");
        if (!len)
            break;
        words[n++] = arena_strndup(a, line, len);
        line += len;
    }
    *ret_len = n;
    return words;
}

const char *jvm_options_text(const char *line, struct arena *a)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    size_t count;
    const char **words = split(line, a, &count);

    for (size_t i = 0; i < count; i++)
        add_recorded(&text, words[i]);
    return kept(&text, a);
}

void jvm_launch_read(const char *const *words, size_t count, struct arena *a, struct jvm_launch *ret)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct jvm_launch l = {.java = words[0], .options.items = arena_array(a, const char *, count + 1)};

    for (size_t i = 1; i < count; i++) {
        l.argument_files |= words[i][0] == '@' && words[i][1] != '@';
        if (words[i][0] == '@' || words[i][0] == '$') /* a shell's variable: not known here */
            continue;
        if (ends_options(words[i]))
            break;
        add_recorded(&text, words[i]);
        if (is_repeated(words[i]))
            l.options.items[l.options.len++] = words[i];
        i += takes_next(words[i]);
    }
    l.options_text = kept(&text, a);
    *ret = l;
}

bool jvm_is_java(const char *program)
{
    return text_equal(path_basename(program), "java");
}

bool jvm_launch_find(const char *const *words, size_t count, struct arena *a, struct jvm_launch *ret)
{
    for (size_t i = 0; i < count && i < WORDS_MAX; i++) {
        if (jvm_is_java(words[i])) {
            jvm_launch_read(words + i, count - i, a, ret);
            return true;
        }
        if (i && words[i - 1][0] == '-' && text_ends(words[i - 1], "c")) { /* -c, -ec, -lc */
            size_t len;
            const char **inner = split(words[i], a, &len);
            if (jvm_launch_find(inner, len, a, ret))
                return true;
        }
    }
    return false;
}

void jvm_question(const struct jvm_launch *l, enum jvm_dialect d, struct arena *a, struct text_list *ret)
{
    static const char *const words[][5] = {
        [JVM_DIALECT_9] = {"-Xlog:gc+init=info,os+container=trace", "-XX:+PrintFlagsFinal", "-version"},
        [JVM_DIALECT_8] = {"-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintContainerInfo",
                           "-XX:+PrintFlagsFinal", "-version"},
    };

    ret->items = arena_array(a, const char *, l->options.len + ARRAY_LEN(words[0]) + 1);
    ret->len = 0;
    for (size_t i = 0; i < l->options.len; i++)
        ret->items[ret->len++] = l->options.items[i];
    for (size_t i = 0; i < ARRAY_LEN(words[0]) && words[d][i]; i++)
        ret->items[ret->len++] = words[d][i];
}

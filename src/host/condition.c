/* SPDX-License-Identifier: MIT */
/* Conditions on the machine, as a matrix states them in host.require: one table. */
#include "internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include "benchctl/base/units.h"

/* --- what can be asked for --- */

#define READ_WORD(NAME, EXPRESSION)                                                                          \
    static void read_##NAME(const struct host_view *v, const char **word, double *number)                    \
    {                                                                                                        \
        (void)number;                                                                                        \
        *word = (EXPRESSION);                                                                                \
    }
#define READ_NUMBER(NAME, EXPRESSION)                                                                        \
    static void read_##NAME(const struct host_view *v, const char **word, double *number)                    \
    {                                                                                                        \
        (void)word;                                                                                          \
        *number = (EXPRESSION);                                                                              \
    }

static const char *smt_word(const char *smt)
{
    return !smt                     ? NULL
           : strcmp(smt, "on") == 0 ? "on"
                                    : "off"; /* forceoff, notsupported: one thread a core */
}

static const char *yes_no(double count)
{
    return isnan(count) ? NULL : count > 0 ? "yes" : "no";
}

READ_WORD(governor, v->governor)
READ_WORD(turbo, v->turbo)
READ_WORD(smt, smt_word(v->smt))
READ_WORD(swap, isnan(v->swap_bytes) ? NULL : v->swap_bytes > 0 ? "on" : "off")
READ_NUMBER(load, v->load1)
READ_NUMBER(psi_cpu, v->psi_cpu)
READ_NUMBER(psi_memory, v->psi_memory)
READ_NUMBER(psi_io, v->psi_io)
READ_NUMBER(temperature, v->temperature_c)
READ_WORD(throttled, yes_no(v->throttled))
READ_NUMBER(steal, v->steal_pct)
READ_NUMBER(disk, v->disk_bytes)
READ_NUMBER(memory, v->memory_available_bytes)
READ_NUMBER(cpus, v->cpus)
READ_WORD(clock, v->clock_synchronised < 0 ? NULL : v->clock_synchronised ? "synchronised" : "free")
READ_WORD(clocksource, v->clocksource)
READ_WORD(hypervisor, v->hypervisor ? "yes" : "no")
READ_WORD(thp, v->thp)
READ_WORD(aslr, isnan(v->aslr) ? NULL : v->aslr >= 2 ? "on" : "off")
READ_NUMBER(time_wait, v->time_wait)
READ_NUMBER(open_files, v->open_files)

static const char *const on_off[] = {"on", "off", NULL};
static const char *const yes_or_no[] = {"yes", "no", NULL};
static const char *const clock_words[] = {"synchronised", "free", NULL};
static const char *const thp_words[] = {"always", "madvise", "never", NULL};

const struct host_quality host_qualities[] = {
    {"governor", HOST_WORD, NULL, "", "the frequency governor of every processor",
     "`cpupower frequency-set -g performance`", "governor=performance", read_governor},
    {"turbo", HOST_WORD, on_off, "", "whether processors may run faster than their base frequency",
     "write 1 into /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 into cpufreq/boost there", "turbo=off",
     read_turbo},
    {"smt", HOST_WORD, on_off, "", "whether two threads share a core",
     "write off into /sys/devices/system/cpu/smt/control", "smt=off", read_smt},
    {"swap", HOST_WORD, on_off, "", "whether there is any swap, used or not", "`swapoff -a`", "swap=off",
     read_swap},
    {"load", HOST_NUMBER, NULL, "", "the load average of the last minute", "wait until the host is quiet",
     "load<=0.5", read_load},
    {"psi.cpu", HOST_NUMBER, NULL, "%", "how much of the last minute some task waited for a processor",
     "find out what runs: `top`", "psi.cpu<=5", read_psi_cpu},
    {"psi.memory", HOST_NUMBER, NULL, "%", "how much of the last minute some task waited for memory",
     "free some memory", "psi.memory<=1", read_psi_memory},
    {"psi.io", HOST_NUMBER, NULL, "%", "how much of the last minute some task waited for a disk",
     "find out what writes: `iotop`", "psi.io<=10", read_psi_io},
    {"temperature", HOST_NUMBER, NULL, "°C", "the hottest sensor of a processor", "let it cool down",
     "temperature<=70", read_temperature},
    {"throttled", HOST_WORD, yes_or_no, "",
     "whether heat slowed processors down since the look before: half a second at the begin, later since the "
     "last trial ended",
     "look after the cooling", "throttled=no", read_throttled},
    {"steal", HOST_NUMBER, NULL, "%",
     "CPU time that the hypervisor took away since the look before, as for throttled",
     "use a machine with processors of its own", "steal<=1", read_steal},
    {"disk", HOST_BYTES, NULL, "", "free space where the run directory is",
     "free some space or choose another --out", "disk>=5g", read_disk},
    {"memory", HOST_BYTES, NULL, "", "memory that can be had without swapping (MemAvailable)",
     "stop what is not needed", "memory>=2g", read_memory},
    {"cpus", HOST_NUMBER, NULL, "", "processors that are online", "use a larger machine", "cpus>=4",
     read_cpus},
    {"clock", HOST_WORD, clock_words, "", "whether a clock source disciplines the wall clock",
     "run an NTP client such as chrony", "clock=synchronised", read_clock},
    {"clocksource", HOST_WORD, NULL, "", "what the kernel reads the time from",
     "a slow one makes each look at the clock cost microseconds: see the kernel's log for why it was chosen",
     "clocksource=tsc", read_clocksource},
    {"hypervisor", HOST_WORD, yes_or_no, "", "whether this is a virtual machine",
     "measure on a machine of its own", "hypervisor=no", read_hypervisor},
    {"thp", HOST_WORD, thp_words, "", "transparent huge pages",
     "write the word into /sys/kernel/mm/transparent_hugepage/enabled", "thp=madvise", read_thp},
    {"aslr", HOST_WORD, on_off, "",
     "whether address spaces are laid out at random in full: otherwise every trial has the same layout, good "
     "or bad",
     "`sysctl kernel.randomize_va_space=2`", "aslr=on", read_aslr},
    {"time_wait", HOST_NUMBER, NULL, "", "closed TCP connections that still keep their ports",
     "they go within a minute", "time_wait<=1000", read_time_wait},
    {"open_files", HOST_NUMBER, NULL, "", "how many files and sockets benchctl's own processes may open",
     "`ulimit -n`", "open_files>=4096", read_open_files},
};
const size_t host_quality_count = ARRAY_LEN(host_qualities);

/* --- text to condition --- */

static const struct {
    const char *text, *words;
} orders[] = {
    [HOST_IS] = {"=", "is"},
    [HOST_IS_NOT] = {"!=", "is"},
    [HOST_AT_MOST] = {"<=", "at most"},
    [HOST_AT_LEAST] = {">=", "at least"},
    [HOST_BELOW] = {"<", "below"},
    [HOST_ABOVE] = {">", "above"},
};

static const struct host_quality *find_quality(const char *name)
{
    for (size_t i = 0; i < host_quality_count; i++)
        if (strcmp(host_qualities[i].name, name) == 0)
            return &host_qualities[i];
    return NULL;
}

static int no_such_name(const char *name, struct error *err)
{
    const char *names[ARRAY_LEN(host_qualities)];
    CLEANUP_VALUE(strbuf_release) struct strbuf all = STRBUF_INIT;
    char shown[SHOWN_SIZE];

    for (size_t i = 0; i < host_quality_count; i++) {
        names[i] = host_qualities[i].name;
        strbuf_addf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = nearest_name(name, names, host_quality_count);
    error_set(err, ERROR_INVALID, "'%s' is nothing that can be required of a host", text_shown(name, shown));
    return near ? error_hint(err, "did you mean '%s'?", near)
                : error_hint(err, "there are %s", strbuf_text(&all));
}

/* The longest operator first, so that "<=" is not "<". "==" is taken for "=". */
static size_t parse_order(const char *text, enum host_order *ret)
{
    static const enum host_order by_length[] = {HOST_IS_NOT, HOST_AT_MOST, HOST_AT_LEAST,
                                                HOST_IS,     HOST_BELOW,   HOST_ABOVE};

    if (text_starts(text, "==")) {
        *ret = HOST_IS;
        return 2;
    }
    for (size_t i = 0; i < ARRAY_LEN(by_length); i++) {
        *ret = by_length[i];
        if (text_starts(text, orders[*ret].text))
            return strlen(orders[*ret].text);
    }
    return 0;
}

static int parse_word(const char *text, struct host_condition *c, struct error *err)
{
    const struct host_quality *q = c->quality;
    CLEANUP_VALUE(strbuf_release) struct strbuf all = STRBUF_INIT;
    char shown[SHOWN_SIZE];
    size_t count = 0;

    c->word = text;
    if (c->order != HOST_IS && c->order != HOST_IS_NOT) {
        error_set(err, ERROR_INVALID, "'%s' is a word, and cannot be compared by '%s'", q->name,
                  orders[c->order].text);
        return error_hint(err, "= or !=, as in %s", q->example);
    }
    for (; q->words && q->words[count]; count++) {
        if (strcmp(q->words[count], text) == 0)
            return 0;
        strbuf_addf(&all, "%s%s", count ? ", " : "", q->words[count]);
    }
    if (!q->words && text[0] &&
        !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789_.-")])
        return 0;
    error_set(err, ERROR_INVALID, "'%s' cannot be '%s'", q->name, text_shown(text, shown));
    return q->words ? error_hint(err, "it is one of %s", strbuf_text(&all))
                    : error_hint(err, "a word, as in %s", q->example);
}

static int parse_value(const char *text, struct host_condition *c, struct error *err)
{
    int64_t bytes;

    if (c->quality->kind == HOST_WORD)
        return parse_word(text, c, err);
    if (c->order == HOST_IS || c->order == HOST_IS_NOT) {
        error_set(err, ERROR_INVALID, "'%s' is a measured number, and never exactly that", c->quality->name);
        return error_hint(err, "<=, >=, < or >, as in %s", c->quality->example);
    }
    if (c->quality->kind == HOST_NUMBER)
        return number_parse(text, &c->number, err) < 0 ? error_wrap(err, "'%s'", c->quality->name) : 0;
    if (size_parse(text, &bytes, err) < 0)
        return error_wrap(err, "'%s'", c->quality->name);
    if (bytes == SIZE_UNLIMITED)
        return error_set(err, ERROR_INVALID, "'%s' cannot be unlimited", c->quality->name);
    c->number = (double)bytes;
    return 0;
}

int host_condition_parse(const char *text, struct host_condition *ret, struct error *err)
{
    struct host_condition c = {.number = NAN};
    char shown[SHOWN_SIZE];
    size_t len = 0;

    text += strspn(text, " ");
    while (isalnum((unsigned char)text[len]) || (text[len] && strchr("._-", text[len])))
        len++;
    const char *rest = text + len + strspn(text + len, " ");
    size_t order_len = parse_order(rest, &c.order);
    CLEANUP_FREE char *name = xstrndup(text, len);
    if (len && !find_quality(name))
        return no_such_name(name, err);
    if (!len || !order_len) {
        error_set(err, ERROR_INVALID, "'%s' is no condition", text_shown(text, shown));
        return error_hint(err, "a name, a comparison and a value, as in %s",
                          len ? find_quality(name)->example : "governor=performance");
    }
    c.quality = find_quality(name);
    rest += order_len;
    rest += strspn(rest, " ");
    if (parse_value(rest, &c, err) < 0)
        return -1;
    *ret = c;
    return 0;
}

/* --- does it hold? --- */

#define UNSEEN " cannot be seen here"

static bool number_holds(enum host_order order, double is, double wanted)
{
    switch (order) {
    case HOST_AT_MOST:
        return is <= wanted;
    case HOST_AT_LEAST:
        return is >= wanted;
    case HOST_BELOW:
        return is < wanted;
    case HOST_ABOVE:
        return is > wanted;
    case HOST_IS:
    case HOST_IS_NOT:
        break;
    }
    return false;
}

static void add_number(const struct host_condition *c, double value, struct strbuf *out)
{
    const struct host_quality *q = c->quality;
    char size[32];

    if (q->kind == HOST_BYTES)
        strbuf_adds(out, size_human(value, size));
    else
        strbuf_addf(out, "%.4g%s%s", value, text_equal(q->unit, "%") || !q->unit[0] ? "" : " ", q->unit);
}

bool host_condition_holds(const struct host_condition *c, const struct host_view *v, struct strbuf *ret_why)
{
    const char *word = NULL;
    double number = NAN;

    c->quality->read(v, &word, &number);
    if (c->quality->kind == HOST_WORD ? !word : isnan(number)) {
        strbuf_addf(ret_why, "%s" UNSEEN, c->quality->name);
        return false;
    }
    if (c->quality->kind == HOST_WORD) {
        bool same = strcmp(word, c->word) == 0;
        if (same == (c->order == HOST_IS))
            return true;
        strbuf_addf(ret_why, "%s is %s%s%s", c->quality->name, word, same ? "" : ", not ",
                    same ? "" : c->word);
        return false;
    }
    if (number_holds(c->order, number, c->number))
        return true;
    strbuf_addf(ret_why, "%s is ", c->quality->name);
    add_number(c, number, ret_why);
    strbuf_addf(ret_why, ", not %s ", orders[c->order].words);
    add_number(c, c->number, ret_why);
    return false;
}

size_t host_violations(const struct text_list *conditions, const struct host_view *v, struct strbuf *ret_why,
                       struct strbuf *ret_hints)
{
    size_t n = 0;

    for (size_t i = 0; i < conditions->len; i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf why = STRBUF_INIT;
        struct host_condition c;
        struct error ignored = ERROR_INIT;
        if (host_condition_parse(conditions->items[i], &c, &ignored) < 0 || host_condition_holds(&c, v, &why))
            continue;
        strbuf_addf(ret_why, "%s%s", n ? "; " : "", strbuf_text(&why));
        strbuf_addf(ret_hints, "%s%s: %s", n ? "; " : "", c.quality->name,
                    text_ends(strbuf_text(&why), UNSEEN) ? "leave it away, or use a machine that shows it"
                                                         : c.quality->hint);
        n++;
    }
    return n;
}

bool host_conditions_count(const struct text_list *conditions)
{
    for (size_t i = 0; i < conditions->len; i++) {
        struct host_condition c;
        struct error ignored = ERROR_INIT;
        if (host_condition_parse(conditions->items[i], &c, &ignored) == 0 &&
            (c.quality->read == read_steal || c.quality->read == read_throttled))
            return true;
    }
    return false;
}

/* SPDX-License-Identifier: MIT */
/*
 * HotSpot's performance data: a prologue of 32 bytes, then entries of a name and a value each. Numbers are in
 * the byte order that the prologue names. The file belongs to a container and may change while it is read:
 * this works on a copy and believes no offset.
 */
#include "jvm_internal.h"

#include <math.h>
#include "benchctl/base/mem.h"

enum { PROLOGUE = 32, ENTRY = 20, ENTRIES_MAX = 100000, NAME_MAX_LEN = 200 };
enum { UNIT_STRING = 'B', UNIT_LONG = 'J' };

struct perf {
    const unsigned char *bytes;
    size_t len, first, count;
    bool little;
};

struct entry {
    const char *name;
    size_t name_len;
    int type;
    const unsigned char *data;
    size_t data_len;
};

static uint64_t number_at(const struct perf *p, const unsigned char *at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[p->little ? size - 1 - i : i];
    return value;
}

static size_t size_at(const struct perf *p, size_t offset)
{
    return (size_t)number_at(p, p->bytes + offset, 4); /* negative becomes too large */
}

static int open_perf(const void *bytes, size_t len, struct perf *ret, struct error *err)
{
    static const unsigned char magic[] = {0xca, 0xfe, 0xc0, 0xc0};
    enum { BYTE_ORDER_AT = 4, MAJOR_AT = 5, ACCESSIBLE_AT = 7, USED_AT = 8, FIRST_AT = 24, COUNT_AT = 28 };
    struct perf p = {.bytes = bytes, .len = len};

    if (len < PROLOGUE || memcmp(bytes, magic, sizeof(magic)) != 0)
        return error_set(err, ERROR_INVALID, "not performance data of a JVM");
    if (p.bytes[BYTE_ORDER_AT] > 1 || p.bytes[MAJOR_AT] != 2)
        return error_set(err, ERROR_INVALID, "performance data of version %d, which is not known",
                         p.bytes[MAJOR_AT]);
    if (!p.bytes[ACCESSIBLE_AT])
        return error_set(err, ERROR_INVALID, "performance data that is not complete yet");
    p.little = p.bytes[BYTE_ORDER_AT] == 1;
    size_t used = size_at(&p, USED_AT);
    p.len = used < len && used >= PROLOGUE ? used : len;
    p.first = size_at(&p, FIRST_AT);
    p.count = size_at(&p, COUNT_AT);
    if (p.first < PROLOGUE || p.first > p.len || p.count > ENTRIES_MAX)
        return error_set(err, ERROR_INVALID, "performance data with %zu entries at byte %zu of %zu", p.count,
                         p.first, p.len);
    *ret = p;
    return 0;
}

/* The entry at *at, which moves to the next one; false at the end and where it cannot be right. */
static bool next_entry(const struct perf *p, size_t *at, struct entry *ret)
{
    if (*at > p->len || p->len - *at < ENTRY)
        return false;
    const unsigned char *start = p->bytes + *at;
    size_t length = size_at(p, *at), name = size_at(p, *at + 4), vector = size_at(p, *at + 8),
           data = size_at(p, *at + 16);
    if (length < ENTRY || length > p->len - *at || name < ENTRY || name >= length || data < ENTRY ||
        data > length)
        return false;
    int type = start[12];
    size_t size = vector ? vector : type == UNIT_LONG ? 8 : 1;
    if (size > length - data)
        return false;
    *ret = (struct entry){.name = (const char *)start + name,
                          .name_len = strnlen((const char *)start + name, length - name),
                          .type = vector ? UNIT_STRING : type,
                          .data = start + data,
                          .data_len = size};
    *at += length;
    return ret->name_len < length - name && ret->name_len <= NAME_MAX_LEN;
}

static bool find(const struct perf *p, const char *name, int type, struct entry *ret)
{
    size_t at = p->first;

    for (size_t i = 0; i < p->count && next_entry(p, &at, ret); i++)
        if (ret->type == type && ret->name_len == strlen(name) && memcmp(ret->name, name, ret->name_len) == 0)
            return true;
    return false;
}

static const char *text_of(const struct perf *p, const char *name, struct arena *a)
{
    struct entry e;

    return find(p, name, UNIT_STRING, &e) ? jvm_clean(a, (const char *)e.data, e.data_len) : NULL;
}

static double bytes_of(const struct perf *p, const char *name)
{
    struct entry e;

    return find(p, name, UNIT_LONG, &e) ? (double)(int64_t)number_at(p, e.data, 8) : (double)NAN;
}

/* By the policy's name; collectors that have no policy are known by how their pauses are called. */
static const char *collector_of(const struct perf *p, struct arena *a)
{
    static const struct {
        const char *begins, *collector;
    } known[] = {
        {"Copy:", "Serial"},   {"ParScav:", "Parallel"},     {"GarbageFirst", "G1"}, {"ParNew:", "CMS"},
        {"Serial ", "Serial"}, {"Parallel ", "Parallel"},    {"G1 ", "G1"},          {"ZGC ", "Z"},
        {"Z concurrent", "Z"}, {"Shenandoah", "Shenandoah"},
    };
    const char *names[] = {text_of(p, "sun.gc.policy.name", a), text_of(p, "sun.gc.collector.0.name", a)};

    for (size_t n = 0; n < ARRAY_LEN(names); n++)
        for (size_t i = 0; names[n] && i < ARRAY_LEN(known); i++)
            if (text_starts(names[n], known[i].begins))
                return known[i].collector;
    return NULL;
}

/*
 * Serial, Parallel and CMS split the heap between two generations; in the others each may grow to all of it
 * (and G1 of some versions adds a word to each, so pages are counted).
 */
static double heap_of(const struct perf *p, const char *collector)
{
    double young = bytes_of(p, "sun.gc.generation.0.maxCapacity"),
           old = bytes_of(p, "sun.gc.generation.1.maxCapacity");
    bool split =
        text_equal(collector, "Serial") || text_equal(collector, "Parallel") || text_equal(collector, "CMS");
    double heap = split ? young + old : isnan(old) ? young : old;

    return heap > 0 && heap < 0x1p50 ? floor(heap / 4096) * 4096 : (double)NAN;
}

int jvm_read_perf(const void *bytes, size_t len, struct arena *a, struct jvm_facts *ret, struct error *err)
{
    struct perf p;
    struct jvm_facts f = jvm_facts_none();

    if (open_perf(bytes, len, &p, err) < 0)
        return -1;
    f.version = text_of(&p, "java.property.java.vm.version", a);
    const char *language = text_of(&p, "java.property.java.vm.specification.version", a);
    if (text_equal(language, "1.8")) /* whose virtual machine counts from 25 */
        f.version = text_of(&p, "java.property.java.version", a);
    f.collector = collector_of(&p, a);
    const char *arguments = text_of(&p, "java.rt.vmArgs", a);
    f.options = arguments ? jvm_options_text(arguments, a) : NULL;
    if (!f.collector && f.options && strstr(f.options, "+UseEpsilonGC"))
        f.collector = "Epsilon";
    f.heap_max_bytes = heap_of(&p, f.collector);
    if (!f.version)
        return error_set(err, ERROR_INVALID, "performance data without the JVM's version");
    *ret = f;
    return 0;
}

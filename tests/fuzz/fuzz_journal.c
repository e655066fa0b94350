/* SPDX-License-Identifier: MIT */
/*
 * Journals from anybody. The first byte picks what the rest is: a journal, or lines of JSON that get proper
 * numbers and checksums here. The intact part is always the same however often it is read, and what the
 * records say never makes a trial count twice.
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include "internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(const struct json *record, void *data)
{
    assert(json_get_text(record, "event"));
    ++*(size_t *)data;
}

static void scan(const char *bytes, size_t size)
{
    struct error err = ERROR_INIT;
    size_t records = 0, again = 0, good = 0, good_again = 0;

    if (journal_scan(bytes, size, count, &records, &good, &err) < 0) {
        assert(err.kind == ERROR_INVALID && err.hint[0] && records == 0);
        return;
    }
    assert(good <= size && (good == 0 || bytes[good - 1] == '\n'));
    if (journal_scan(bytes, good, count, &again, &good_again, &err) < 0)
        abort();
    assert(again == records && good_again == good);
}

static void apply(const char *bytes, size_t size)
{
    CLEANUP_VALUE(seals_release) struct seals seals = {0};
    struct error err = ERROR_INIT;
    size_t good;

    if (journal_scan(bytes, size, seals_apply, &seals, &good, &err) < 0)
        return;
    for (size_t i = 0; i < seals.order.len; i++) {
        const struct seal *s = seals.order.items[i];

        assert(seals_find(&seals, s->scenario, s->trial) == s);
        assert(s->trial >= 1 && s->order <= seals.count);
    }
}

/* Each line's object as a record, so that the mutations reach what records mean. */
static void number_lines(const char *bytes, size_t size, struct strbuf *out)
{
    CLEANUP(json_free) struct json *head = json_new_object();
    uint64_t seq = 1;

    json_set_int(head, "schema", BUNDLE_SCHEMA);
    journal_format(seq++, 0, JOURNAL_OPENED, head, out);
    while (size) {
        const char *newline = memchr(bytes, '\n', size);
        size_t len = newline ? (size_t)(newline - bytes) : size;
        CLEANUP(json_free) struct json *fields = NULL;
        struct error err = ERROR_INIT;

        if (json_parse(bytes, len, "line", &fields, &err) == 0) {
            const char *event = json_get_text(fields, "event");
            journal_format(seq++, 0, event ? event : "none", fields, out);
        }
        bytes += len + (newline != NULL);
        size -= len + (newline != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf journal = STRBUF_INIT;

    if (size < 1)
        return 0;
    if (data[0] % 2) {
        number_lines((const char *)data + 1, size - 1, &journal);
        scan(journal.data, journal.len);
        apply(journal.data, journal.len);
    } else {
        scan((const char *)data + 1, size - 1);
        apply((const char *)data + 1, size - 1);
    }
    return 0;
}

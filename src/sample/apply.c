/* SPDX-License-Identifier: MIT */
/* Recorded scrapes read again. */
#include "record.h"
#include "tracker.h"

static int apply_scrape(struct tracker *t, const struct record *r, struct arena *scratch, struct error *err)
{
    struct prom_scrape scrape;

    arena_reset(scratch);
    if (prom_parse(r->body, r->len, r->type, scratch, &scrape, err) < 0)
        return -1;
    tracker_add(t, &scrape, r->wall_ms);
    return 0;
}

static int apply_text(struct tracker *t, const char *text, struct arena *scratch, struct error *err)
{
    size_t len = strlen(text), at = 0;
    struct record r;

    while (record_next(text, len, &at, &r)) {
        switch (r.kind) {
        case RECORD_SCRAPE:
            if (apply_scrape(t, &r, scratch, err) < 0)
                return -1;
            break;
        case RECORD_FAILED:
            tracker_failed(t, r.reason);
            break;
        case RECORD_WINDOW:
            tracker_window(t);
            break;
        case RECORD_RESTARTED:
            tracker_restarted(t);
            break;
        }
    }
    return 0;
}

static int apply_all(struct tracker *t, const char *const *texts, size_t count, struct error *err)
{
    CLEANUP(arena_free) struct arena *scratch = arena_new();

    for (size_t i = 0; i < count; i++)
        if (apply_text(t, texts[i], scratch, err) < 0)
            return -1;
    return 0;
}

int metric_adapter_apply(const struct metric_adapter *ad, const char *const *texts, size_t count,
                         struct arena *a, struct metric_value **ret, size_t *ret_len, struct error *err)
{
    CLEANUP(tracker_free) struct tracker *t = tracker_new(ad);

    if (apply_all(t, texts, count, err) < 0)
        return -1;
    tracker_values(t, a, ret, ret_len);
    return 0;
}

int metric_adapter_notes(const struct metric_adapter *ad, const char *const *texts, size_t count,
                         struct arena *a, struct text_list *ret, struct error *err)
{
    CLEANUP(tracker_free) struct tracker *t = tracker_new(ad);

    if (apply_all(t, texts, count, err) < 0)
        return -1;
    tracker_notes(t, a, ret);
    return 0;
}

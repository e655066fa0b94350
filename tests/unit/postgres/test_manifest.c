/* SPDX-License-Identifier: MIT */
/* Two states of a database compared. */
#include "unit/check.h"

#include <inttypes.h>
#include <stdio.h>
#include "benchctl/base/mem.h"
#include "manifest.h"

#define MIB (INT64_C(1) << 20)
#define ITEMS 4

static const struct manifest_tolerance clone = {.clone = true, .size_share = 0.02, .size_bytes = 2 * MIB};
static const struct manifest_tolerance load = {.size_share = 0.25, .size_bytes = 8 * MIB};

static const struct manifest_item seeded[ITEMS] = {
    {.name = "public.big",
     .kind = ITEM_TABLE,
     .rows = 3000000,
     .estimate = 3000000,
     .bytes = 400 * MIB,
     .columns = 3},
    {.name = "public.items",
     .kind = ITEM_TABLE,
     .rows = 10,
     .estimate = 10,
     .bytes = 8192,
     .columns = 2,
     .indexes = 1},
    {.name = "public.items_id_seq", .kind = ITEM_SEQUENCE, .position = 10, .called = true},
    {.name = "public.totals", .kind = ITEM_VIEW, .rows = 2, .estimate = 2, .bytes = 8192, .columns = 2},
};

struct pair {
    struct manifest_item want[ITEMS], have[ITEMS];
    struct manifest w, h;
};

static struct pair *pair_new(void)
{
    struct pair *p = xcalloc(1, sizeof(*p));

    memcpy(p->want, seeded, sizeof(seeded));
    memcpy(p->have, seeded, sizeof(seeded));
    p->w = (struct manifest){.items = p->want, .len = ITEMS, .size_bytes = 410 * MIB};
    p->h = (struct manifest){.items = p->have, .len = ITEMS, .size_bytes = 410 * MIB};
    return p;
}

static void differs(struct pair *p, const struct manifest_tolerance *t, size_t count, const char *text)
{
    struct strbuf out = STRBUF_INIT;
    size_t n = manifest_compare(&p->w, &p->h, t, &out);

    if (n != count || strcmp(strbuf_text(&out), text) != 0)
        fail_msg("%zu: %s", n, strbuf_text(&out));
    strbuf_release(&out);
}

static void the_same_is_the_same(void **state)
{
    CLEANUP_FREE struct pair *p = pair_new();

    (void)state;
    differs(p, &clone, 0, "");
    p->have[0].rows = ROWS_UNCOUNTED; /* the proof of a clone does not count it */
    differs(p, &clone, 0, "");
    p->h.size_bytes += MIB;
    differs(p, &clone, 0, "");
    p->w.len = p->h.len = 0;
    differs(p, &clone, 0, "");
}

static void each_difference_is_told(void **state)
{
    CLEANUP_FREE struct pair *p = pair_new();

    (void)state;
    p->have[1].rows = 11;
    p->have[2].position = 12;
    differs(p, &clone, 2,
            "table public.items has 11 rows instead of 10; sequence public.items_id_seq stands at 12 instead "
            "of 10");
    p->have[1].rows = 10;
    p->have[2] = seeded[2];
    p->have[2].called = false;
    differs(p, &clone, 1, "sequence public.items_id_seq stands at 10 (unused) instead of 10");
    p->have[2].called = true;
    p->have[1].columns = 3;
    differs(p, &clone, 1,
            "table public.items was altered: 3 columns, 0 checks, 1 indexes instead of 2, 0, 1");
    p->have[1] = seeded[1];
    p->have[3].rows = 0;
    differs(p, &load, 1, "materialized view public.totals has 0 rows instead of 2");
    p->have[3] = seeded[3];
    p->have[3].kind = ITEM_TABLE;
    differs(p, &load, 1, "public.totals is a table instead of a materialized view");
    p->have[3] = seeded[3];
    p->h.large_objects = 4;
    differs(p, &load, 1, "there are 4 large objects instead of 0");
}

static void missing_and_extra_are_told(void **state)
{
    CLEANUP_FREE struct pair *p = pair_new();

    (void)state;
    p->have[1].name = "public.flyway";
    manifest_sort(&p->h);
    differs(p, &clone, 2, "table public.flyway is not in the seed; table public.items is missing");
    p->h.len = 0;
    differs(p, &clone, 4,
            "table public.big is missing; table public.items is missing; sequence public.items_id_seq is "
            "missing; "
            "materialized view public.totals is missing");
    p->h.len = ITEMS;
    p->w.len = 0;
    struct strbuf out = STRBUF_INIT;
    assert_int_equal(manifest_compare(&p->w, &p->h, &clone, &out), 4);
    assert_has(strbuf_text(&out), "public.flyway is not in the seed");
    strbuf_release(&out);
}

static void uncounted_tables_go_by_size_after_a_clone(void **state)
{
    CLEANUP_FREE struct pair *p = pair_new();

    (void)state;
    p->have[0].rows = ROWS_UNCOUNTED;
    p->have[0].bytes += 8192;
    differs(p, &clone, 1, "table public.big has 419438592 bytes instead of 419430400");
    differs(p, &load, 0, "");
    p->have[0].estimate = -1;
    differs(p, &clone, 1, "table public.big has about -1 rows instead of 3000000");
    differs(p, &load, 0, "");
}

static void sizes_have_a_tolerance(void **state)
{
    CLEANUP_FREE struct pair *p = pair_new();

    (void)state;
    p->h.size_bytes = 420 * MIB;
    differs(p, &clone, 1, "the database has 440401920 bytes instead of 429916160");
    differs(p, &load, 0, "");
    p->h.size_bytes = 200 * MIB;
    differs(p, &load, 1, "the database has 209715200 bytes instead of 429916160");
    p->w.size_bytes = 8 * MIB; /* a small one may double */
    p->h.size_bytes = 15 * MIB;
    differs(p, &load, 0, "");
}

static void many_differences_are_counted(void **state)
{
    struct manifest_item items[15];
    char names[15][16];
    struct manifest want = {.items = items, .len = 15}, have = {0};
    struct strbuf out = STRBUF_INIT;

    (void)state;
    for (size_t i = 0; i < 15; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "t%02zu", i);
        items[i] = (struct manifest_item){.name = names[i], .kind = ITEM_TABLE};
    }
    assert_int_equal(manifest_compare(&want, &have, &clone, &out), 15);
    assert_has(strbuf_text(&out), "table t09 is missing; and 5 more");
    assert_null(strstr(strbuf_text(&out), "t10"));
    strbuf_release(&out);
}

static void small_tables_are_counted_each_time(void **state)
{
    CLEANUP_FREE struct pair *p = pair_new();

    (void)state;
    manifest_choose_quick(&p->w);
    assert_false(p->want[0].quick);
    assert_true(p->want[1].quick);
    assert_false(p->want[2].quick); /* a sequence is always read */
    assert_true(p->want[3].quick);
    p->w.len = 0;
    manifest_choose_quick(&p->w);
    assert_null(manifest_find(&p->w, "public.items"));
    p->w.len = ITEMS;
    assert_ptr_equal(manifest_find(&p->w, "public.items"), &p->want[1]);
    assert_null(manifest_find(&p->w, "public.item"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_is_the_same),
        cmocka_unit_test(each_difference_is_told),
        cmocka_unit_test(missing_and_extra_are_told),
        cmocka_unit_test(uncounted_tables_go_by_size_after_a_clone),
        cmocka_unit_test(sizes_have_a_tolerance),
        cmocka_unit_test(many_differences_are_counted),
        cmocka_unit_test(small_tables_are_counted_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Random matrices against a planner that does everything the slow way: all digits, every rule asked by hand.
 */
#include "fixture.h"

#define ROUNDS 400

static struct condition random_condition(struct fixture *f, struct rng *r)
{
    struct condition c = {.at = fixture_line(f)};

    c.terms = arena_array(f->m.arena, struct condition_term, f->m.axis_count + 1);
    for (size_t a = 0; a < f->m.axis_count; a++) {
        if (rng_below(r, 2))
            continue;
        size_t values = f->axes[a].len;
        uint32_t *list = arena_array(f->m.arena, uint32_t, values);
        struct condition_term *term = &c.terms[c.len++];
        *term = (struct condition_term){.axis = a, .values = list};
        for (size_t i = values; i-- > 0;) /* descending: the planner must not rely on order */
            if (!term->len || rng_below(r, 2))
                list[term->len++] = (uint32_t)i;
    }
    return c;
}

static struct fixture *random_matrix(struct rng *r)
{
    struct fixture *f = fixture_new();
    size_t axes = 1 + rng_below(r, 5), equal = 1 + rng_below(r, 4);

    for (size_t a = 0; a < axes; a++)
        fixture_axis_of(f, arena_printf(f->m.arena, "a%zu", a),
                        rng_below(r, 2) ? equal : 1 + rng_below(r, 4));
    size_t *zipped = arena_array(f->m.arena, size_t, axes);
    struct zip_group group = {.axes = zipped};
    for (size_t a = 0; a < axes; a++)
        if (f->axes[a].len == equal && rng_below(r, 2))
            zipped[group.len++] = a;
    if (group.len > 1)
        f->zips[f->m.zip.len++] = group;
    for (size_t i = rng_below(r, 4); i > 0; i--)
        f->excludes[f->m.exclude_count++] = random_condition(f, r);
    for (size_t i = rng_below(r, 80); i > 0; i--)
        f->overrides[f->m.override_count++].when = random_condition(f, r);
    return f;
}

static bool slow_match(const struct condition *c, const uint32_t *digits)
{
    for (size_t t = 0; t < c->len; t++) {
        bool found = false;
        for (size_t i = 0; i < c->terms[t].len; i++)
            found |= c->terms[t].values[i] == digits[c->terms[t].axis];
        if (!found)
            return false;
    }
    return true;
}

static bool slow_zip(const struct fixture *f, const uint32_t *digits)
{
    for (size_t i = 1; f->m.zip.len && i < f->zips[0].len; i++)
        if (digits[f->zips[0].axes[i]] != digits[f->zips[0].axes[0]])
            return false;
    return true;
}

static bool step(const struct fixture *f, uint32_t *digits)
{
    for (size_t a = f->m.axis_count; a-- > 0;) {
        if (++digits[a] < f->axes[a].len)
            return true;
        digits[a] = 0;
    }
    return false;
}

struct slow_plan {
    struct strbuf ids, overrides;
    bool exclude_hit[8], override_hit[100];
    size_t scenarios;
};

static void slow_scenario(const struct fixture *f, const uint32_t *digits, struct slow_plan *s)
{
    for (size_t a = 0; a < f->m.axis_count; a++)
        strbuf_addf(&s->ids, "%sv%u", a ? "/" : "", digits[a]);
    strbuf_addc(&s->ids, ' ');
    for (size_t o = 0; o < f->m.override_count; o++) {
        bool hit = slow_match(&f->overrides[o].when, digits);
        s->override_hit[o] |= hit;
        strbuf_addc(&s->overrides, hit ? '1' : '0');
    }
    s->scenarios++;
}

static void slow_plan(const struct fixture *f, struct slow_plan *s)
{
    uint32_t digits[8] = {0};

    do {
        bool dropped = !slow_zip(f, digits);
        if (dropped)
            continue;
        for (size_t e = 0; e < f->m.exclude_count; e++) {
            bool hit = slow_match(&f->excludes[e], digits);
            s->exclude_hit[e] |= hit;
            dropped |= hit;
        }
        if (!dropped)
            slow_scenario(f, digits, s);
    } while (step(f, digits));
}

static bool all_true(const bool *flags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!flags[i])
            return false;
    return true;
}

static void compare(struct fixture *f, struct plan *p, const struct slow_plan *s)
{
    CLEANUP_FREE char *ids = fixture_ids(p);
    CLEANUP_VALUE(strbuf_release) struct strbuf flags = STRBUF_INIT;
    bool applies[100];

    assert_string_equal(ids, strbuf_text(&s->ids));
    for (size_t i = 0; i < plan_counts(p)->scenarios; i++) {
        plan_overrides(p, i, applies);
        for (size_t o = 0; o < f->m.override_count; o++)
            strbuf_addc(&flags, applies[o] ? '1' : '0');
    }
    assert_string_equal(strbuf_text(&flags), strbuf_text(&s->overrides));
}

static void fast_and_slow_agree(void **state)
{
    (void)state;
    size_t made = 0, refused = 0;
    struct rng r;
    rng_seed(&r, 20);
    for (int round = 0; round < ROUNDS; round++) {
        CLEANUP(fixture_free) struct fixture *f = random_matrix(&r);
        CLEANUP(plan_free) struct plan *p = NULL;
        struct slow_plan s = {0};
        struct error err = ERROR_INIT;
        slow_plan(f, &s);
        bool good = s.scenarios && all_true(s.exclude_hit, f->m.exclude_count) &&
                    all_true(s.override_hit, f->m.override_count);
        int result = plan_make(&f->m, NULL, &p, &err);
        if ((result == 0) != good)
            fail_msg("round %d: %s", round, result == 0 ? "planned what is wrong" : err.message);
        if (good)
            compare(f, p, &s);
        made += good;
        refused += !good;
        strbuf_release(&s.ids);
        strbuf_release(&s.overrides);
    }
    assert_true(made > ROUNDS / 10 && refused > ROUNDS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fast_and_slow_agree)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

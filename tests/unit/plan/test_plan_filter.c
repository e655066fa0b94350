/* SPDX-License-Identifier: MIT */
/* Filters: every operator, names, globs, ids, and everything that is wrong with one. */
#include "fixture.h"

static struct fixture *lab(void)
{
    struct fixture *f = fixture_new();

    fixture_axis(f, "framework", "micronaut,quarkus,springboot");
    fixture_axis(f, "memory", "128m,1g,unlimited,0.5g");
    fixture_exclude(f, "framework=quarkus;memory=128m");
    fixture_include(f, "micronaut/384m");
    return f;
}

struct filter_case {
    const char *filters[3];
    const char *ids;
};

static const struct filter_case cases[] = {
    {{"framework=quarkus"}, "quarkus/1g quarkus/unlimited quarkus/0.5g "},
    {{"framework=quarkus,springboot", "memory=1g"}, "quarkus/1g springboot/1g "},
    {{"framework!=quarkus,springboot"},
     "micronaut/128m micronaut/1g micronaut/unlimited micronaut/0.5g micronaut/384m "},
    {{"memory<=0.5g"},
     "micronaut/128m micronaut/0.5g quarkus/0.5g springboot/128m springboot/0.5g micronaut/384m "},
    {{"memory<512m"}, "micronaut/128m springboot/128m micronaut/384m "},
    {{"memory>1024m"}, "micronaut/unlimited quarkus/unlimited springboot/unlimited "},
    {{"memory>=unlimited", "framework=*boot"}, "springboot/unlimited "},
    {{"memory>128m", "memory<1g", "framework=m*"}, "micronaut/0.5g micronaut/384m "},
    {{"memory!=*m,unlimited", "framework=quarkus"}, "quarkus/1g quarkus/0.5g "},
    {{" framework = quarkus , springboot ", "memory <= 128m"}, "springboot/128m "},
    {{"quarkus/1g"}, "quarkus/1g "},
    {{"*/1g"}, "micronaut/1g quarkus/1g springboot/1g "},
    {{"**0.5g", "framework!=micronaut"}, "quarkus/0.5g springboot/0.5g "},
    {{"micronaut/[13]*"}, "micronaut/128m micronaut/1g micronaut/384m "},
};

static size_t filters_of(const struct filter_case *c)
{
    size_t count = 0;

    while (count < ARRAY_LEN(c->filters) && c->filters[count])
        count++;
    return count;
}

static void filters_choose(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = lab();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP(plan_free) struct plan *p = fixture_plan_filtered(f, filters_of(&cases[i]), cases[i].filters);
        assert_ids(p, cases[i].ids);
        assert_int_equal(plan_counts(p)->filtered + plan_counts(p)->scenarios, 12);
    }
}

static const struct filter_case mistakes[] = {
    {{"framwork=quarkus"}, "did you mean 'framework'?"},
    {{"framework=qarkus"}, "did you mean 'quarkus'?"},
    {{"framework=micronaut,qarkus"}, "axis 'framework' has no value 'qarkus'"},
    {{"framework!=x*"}, "axis 'framework' has no value 'x*'"},
    {{"framework="}, "a value is empty"},
    {{"framework=quarkus,,micronaut"}, "a value is empty"},
    {{"framework<quarkus"}, "the values of axis 'framework' cannot be compared: 'micronaut'"},
    {{"memory<256"}, "'256' is not a size"},
    {{"memory<128m,1g"}, "'128m,1g' is not a size"},
    {{"memory=<1g"}, "the operators are = != <= < >= >"},
    {{"memory==1g"}, "the operators are = != <= < >= >"},
    {{""}, "a filter is empty"},
    {{"=quarkus"}, "no axis is called ''"},
    {{"quarkus/128m"}, "filter 'quarkus/128m' leaves none of the 12 scenarios"},
    {{"memory<128m"}, "filter 'memory<128m' leaves none of the 12 scenarios"},
    {{"framework=quarkus", "memory=128m"},
     "filters 'framework=quarkus', 'memory=128m' leave none of the 12 scenarios"},
    {{"*"}, "* stops at '/'"},
};

static void mistakes_are_usage_errors(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = lab();
    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++)
        assert_plan_fails(f, filters_of(&mistakes[i]), mistakes[i].filters, ERROR_USAGE, mistakes[i].ids);
}

static void numbers_and_durations_compare(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    const char *filters[] = {"cpus>=1.5", "load<=10m", "users>50"};
    fixture_axis(f, "cpus", "0.5,2,1.5,unlimited");
    fixture_axis(f, "load", "1m30s,10m,1h");
    fixture_axis(f, "users", "9,100");
    CLEANUP(plan_free) struct plan *p = fixture_plan_filtered(f, 3, filters);
    assert_ids(p, "2/1m30s/100 2/10m/100 1.5/1m30s/100 1.5/10m/100 unlimited/1m30s/100 unlimited/10m/100 ");
}

/* 5m is a size and a duration: the operand decides, and the order is the same either way. */
static void minutes_are_no_sizes(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    const char *in_hours[] = {"t<1h"}, *in_minutes[] = {"t<10m"};
    fixture_axis(f, "t", "5m,10m,90m");
    CLEANUP(plan_free) struct plan *p = fixture_plan_filtered(f, 1, in_hours);
    assert_ids(p, "5m 10m ");
    CLEANUP(plan_free) struct plan *q = fixture_plan_filtered(f, 1, in_minutes);
    assert_ids(q, "5m ");
}

/* Versions are names: 3.1 and 3.10 are different values, however numbers look at them. */
static void values_are_matched_as_text(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    const char *filters[] = {"runtime=3.1"};
    fixture_axis(f, "runtime", "3.1,3.10,1e3");
    CLEANUP(plan_free) struct plan *p = fixture_plan_filtered(f, 1, filters);
    assert_ids(p, "3.1 ");
}

static void odd_values_can_be_named(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    const char *exact[] = {"image=a*"}, *slash[] = {"image=b*"}, *part[] = {"image=x%2Cy"},
               *by_id[] = {"b%2Fc:1"};
    fixture_axis(f, "image", "a*,ab,b/c:1");
    f->axes[0].values[1].text = "x,y";
    CLEANUP(plan_free) struct plan *p = fixture_plan_filtered(f, 1, exact);
    assert_ids(p, "a%2A ");
    CLEANUP(plan_free) struct plan *q = fixture_plan_filtered(f, 1, slash);
    assert_ids(q, "b%2Fc%3A1 ");
    CLEANUP(plan_free) struct plan *r = fixture_plan_filtered(f, 1, part);
    assert_ids(r, "x%2Cy ");
    assert_plan_fails(f, 1, by_id, ERROR_USAGE, "leaves none");
}

/* A filter that hides what a rule is about does not make the matrix wrong. */
static void filters_do_not_invalidate_rules(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = lab();
    const char *filters[] = {"framework=springboot"};
    fixture_override(f, "framework=quarkus");
    CLEANUP(plan_free) struct plan *p = fixture_plan_filtered(f, 1, filters);
    assert_int_equal(plan_counts(p)->scenarios, 4);
}

static void find_knows_what_is_filtered(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = lab();
    const char *filters[] = {"memory<1g"};
    size_t index = 99;
    CLEANUP(plan_free) struct plan *p = fixture_plan_filtered(f, 1, filters);
    assert_int_equal(plan_find(p, "springboot/0.5g", &index), 0);
    assert_int_equal(index, 4);
    assert_int_equal(plan_find(p, "micronaut/384m", &index), 0);
    assert_int_equal(index, 5);
    assert_int_equal(plan_find(p, "springboot/1g", &index), -1);
    assert_int_equal(plan_find(p, "quarkus/128m", &index), -1);
    assert_int_equal(plan_find(p, "springboot", &index), -1);
    assert_int_equal(plan_find(p, "springboot/", &index), -1);
    assert_int_equal(plan_find(p, "springboot/0.5g/", &index), -1);
    assert_int_equal(plan_find(p, "", &index), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_choose),
        cmocka_unit_test(mistakes_are_usage_errors),
        cmocka_unit_test(numbers_and_durations_compare),
        cmocka_unit_test(minutes_are_no_sizes),
        cmocka_unit_test(values_are_matched_as_text),
        cmocka_unit_test(odd_values_can_be_named),
        cmocka_unit_test(filters_do_not_invalidate_rules),
        cmocka_unit_test(find_knows_what_is_filtered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Who filled the database server. */
#include "database_slots.h"

#include <math.h>
#include "unit/check.h"

static void assert_story(const struct slots *s, const char *wanted)
{
    CLEANUP(arena_free) struct arena *a = arena_new();

    assert_string_equal(slots_story(s, a), wanted);
}

/* PostgreSQL's own default, of ten. */
static struct slots of_ten(double open, int64_t declared)
{
    return (struct slots){.max_connections = 10,
                          .reserved = 3,
                          .superuser_reserved = 3,
                          .own = 2,
                          .open = open,
                          .declared = declared,
                          .nobody_else = true};
}

static void the_application_took_them(void **state)
{
    struct slots s = of_ten(5, 0);

    (void)state;
    assert_int_equal(slots_room(&s), 5);
    assert_story(&s,
                 "max_connections is 10: 3 reserved for superusers, 2 of benchctl, 5 left for the "
                 "application, which had 5 open when the load ended; the application took them: its pools, "
                 "or sessions that it does not give back, are more than the server has room for");
    s.nobody_else = false; /* it held all of them all the same */
    assert_story(&s,
                 "max_connections is 10: 3 reserved for superusers, 2 of benchctl, 5 left for the "
                 "application, which had 5 open when the load ended; the application took them: its pools, "
                 "or sessions that it does not give back, are more than the server has room for");
    s = of_ten(5, 4);
    assert_story(&s,
                 "max_connections is 10: 3 reserved for superusers, 2 of benchctl, 5 left for the "
                 "application, which had 5 open when the load ended (declared: 4); the application opened "
                 "more than the 4 that it declares");
}

static void a_superuser_takes_more(void **state)
{
    struct slots s = of_ten(8, 0);

    (void)state;
    assert_story(&s,
                 "max_connections is 10: 3 reserved for superusers, 2 of benchctl, 5 left for the "
                 "application, which had 8 open when the load ended; the application took them (3 more "
                 "than are left: a superuser's sessions take reserved ones, and benchctl's while they are "
                 "free): its pools, or sessions that it does not give back, are more than the server has "
                 "room for");
    s.declared = 4;
    assert_story(&s,
                 "max_connections is 10: 3 reserved for superusers, 2 of benchctl, 5 left for the "
                 "application, which had 8 open when the load ended (declared: 4); the application opened "
                 "more than the 4 that it declares (3 more than are left: a superuser's sessions take "
                 "reserved ones, and benchctl's while they are free)");
}

static void too_much_was_declared(void **state)
{
    const struct slots s = of_ten(5, 10);

    (void)state;
    assert_story(&s, "max_connections is 10: 3 reserved for superusers, 2 of benchctl, 5 left for the "
                     "application, which had 5 open when the load ended (declared: 10); the pools that the "
                     "matrix declares (10) are larger than that, which is not the framework's doing");
}

static void others_are_there(void **state)
{
    struct slots s = of_ten(2, 4);

    (void)state;
    s.nobody_else = false;
    s.reserved = 5;
    assert_story(&s,
                 "max_connections is 10: 5 reserved (3 for superusers), 2 of benchctl, 3 left for the "
                 "application, which had 2 open when the load ended (declared: 4); the pools that the matrix "
                 "declares (4) are larger than that, which is not the framework's doing");
    s.declared = 3;
    s.open = NAN;
    assert_story(&s, "max_connections is 10: 5 reserved (3 for superusers), 2 of benchctl, 3 left for the "
                     "application, how many it had is not known (declared: 3); others share this server: who "
                     "held the rest when a connection was refused is not known");
    s.max_connections = 4;
    assert_int_equal(slots_room(&s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_application_took_them),
        cmocka_unit_test(a_superuser_takes_more),
        cmocka_unit_test(too_much_was_declared),
        cmocka_unit_test(others_are_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

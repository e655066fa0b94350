/* SPDX-License-Identifier: MIT */
/* When a machine has cooled down, and what is said while it has not. */
#include "cooldown.h"
#include "unit/check.h"

static void each_of_them_is_waited_for(void **state)
{
    const struct cooldown_goal goal = {.temperature_c = 60, .load1 = 0.5, .sockets = 280};
    static const struct {
        struct cooldown_view view;
        const char *words;
    } cases[] = {
        {{60, 0.5, 280}, ""},
        {{71.4, 0.5, 280}, "71 °C, waiting for 60 °C"},
        {{40, 2.31, 0}, "load 2.31, waiting for 0.5"},
        {{40, 0, 281}, "281 closed connections, waiting for 280"},
        {{61, 0.6, 9000},
         "61 °C, waiting for 60 °C; load 0.60, waiting for 0.5; 9000 closed connections, waiting for 280"},
        {{NAN, NAN, -1}, ""}, /* not readable: not waited for */
    };
    char text[160];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        cooldown_words(&cases[i].view, &goal, text, sizeof(text));
        assert_string_equal(text, cases[i].words);
        assert_int_equal(cooldown_reached(&cases[i].view, &goal), !*cases[i].words);
    }
}

static void what_is_not_asked_for_is_not_waited_for(void **state)
{
    const struct cooldown_goal nothing = {.temperature_c = NAN, .load1 = NAN, .sockets = -1};
    const struct cooldown_view hot = {.temperature_c = 99, .load1 = 50, .sockets = 30000};
    char text[160] = "x", tiny[12];

    (void)state;
    assert_true(cooldown_reached(&hot, &nothing));
    cooldown_words(&hot, &nothing, text, sizeof(text));
    assert_string_equal(text, "");
    cooldown_words(&hot, &(struct cooldown_goal){1, 1, 1}, tiny, sizeof(tiny));
    assert_true(strlen(tiny) < sizeof(tiny));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_them_is_waited_for),
        cmocka_unit_test(what_is_not_asked_for_is_not_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

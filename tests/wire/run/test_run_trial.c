/* SPDX-License-Identifier: MIT */
#include "stage.h"
#include <stdio.h>
static void x(void **state)
{
    struct stage *g = *state;
    stage_run(g, SMALL);
    puts(standin_calls(g->engine, ""));
    printf("rc %d %s\n", g->rc, g->err.message);
    assert_outcome(g, 0, "ok", "");
    assert_nothing_left(g);
}
int main(void)
{
    const struct CMUnitTest tests[] = {STAGE_TEST(x)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

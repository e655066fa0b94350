/* SPDX-License-Identifier: MIT */
/* Local ports: what /proc says of them. */
#include "benchctl/base/mem.h"
#include "ports.h"
#include "unit/check.h"

static void ports_are_read(void **state)
{
    static const char sockstat[] =
        "sockets: used 300\nTCP: inuse 9 orphan 0 tw 14200 alloc 14 mem 2\nUDP: inuse 1 mem 0\n";
    static const char *const bad[] = {"", "TCP: inuse 9", "TCP: inuse 9\nUDP: tw 3 \n", "TCP: tw x y\n",
                                      "TCP: inuse 1 tw -4 alloc\n"};
    struct port_use p;

    (void)state;
    assert_int_equal(ports_parse(sockstat, "32768\t60999\n", &p), 0);
    assert_true(p.waiting == 14200 && p.ports == 28232);
    assert_true(ports_scarce(&p));
    assert_int_equal(ports_parse(sockstat, "1024 65535", &p), 0);
    assert_false(ports_scarce(&p));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(ports_parse(bad[i], "1024 65535", &p), -1);
    assert_int_equal(ports_parse(sockstat, "60999", &p), -1);
    assert_int_equal(ports_parse(sockstat, "9 3", &p), -1);
}

static void ports_are_of_a_destination(void **state)
{
    static const char waits[] =
        "   7: 0100007F:9C40 020012AC:1F90 06 00000000:00000000 03:00001690 00000000     0        0 0 3 0";

    (void)state;
    assert_true(ports_line_waits(waits, 0x020012ACu, 8080));
    assert_false(ports_line_waits(waits, 0x030012ACu, 8080));
    assert_false(ports_line_waits(waits, 0x020012ACu, 80));
    assert_false(
        ports_line_waits("   7: 0100007F:9C40 020012AC:1F90 01 00000000:00000000", 0x020012ACu, 8080));
    assert_false(ports_line_waits("  sl  local_address rem_address   st tx_queue rx_queue", 0, 0));
    assert_false(ports_line_waits("", 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_are_read),
        cmocka_unit_test(ports_are_of_a_destination),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

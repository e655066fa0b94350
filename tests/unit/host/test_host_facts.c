/* SPDX-License-Identifier: MIT */
/* What machines of several kinds say of themselves, and files that hold something else. */
#include "tree.h"

#define CPU "/sys/devices/system/cpu"

/* Two cores of two kinds, Intel's driver, a coretemp sensor beside a disk's. */
static const struct tree_entry laptop[] = {
    {"/proc/sys/kernel/hostname", "lap\n"},
    {"/proc/sys/kernel/osrelease", "6.8.0-45-generic\n"},
    {"/proc/cmdline",
     "BOOT_IMAGE=/vmlinuz root=UUID=aa-bb quiet mitigations=off isolcpus=2,3 key=s3cret -- psi=1\n"},
    {"/proc/cpuinfo", "processor\t: 0\nmodel name\t: Core i7\nmicrocode\t: 0xf4\nflags\t\t: fpu vme\n"},
    {"/proc/meminfo", "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    8000000 kB\n"
                      "SwapTotal:       2097152 kB\nSwapFree:        1048576 kB\n"},
    {"/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/zram0 partition 2097152 1048576 100\n"},
    {"/proc/loadavg", "0.52 0.58 0.59 1/467 12345\n"},
    {"/proc/net/sockstat", "sockets: used 200\nTCP: inuse 10 orphan 0 tw 37 alloc 12 mem 3\n"},
    {"/proc/pressure/cpu",
     "some avg10=1.00 avg60=2.50 avg300=3.00 total=1\nfull avg10=0 avg60=0.00 total=0\n"},
    {"/proc/pressure/memory",
     "some avg10=0.00 avg60=0.10 avg300=0 total=1\nfull avg10=0 avg60=0.05 total=0\n"},
    {"/proc/stat", "cpu  100 0 100 800 0 0 0 50 0 0\ncpu0 1 2 3\n"},
    {"/proc/sys/kernel/randomize_va_space", "2\n"},
    {CPU "/online", "0-3\n"},
    {CPU "/cpu0/cpufreq/scaling_governor", "powersave\n"},
    {CPU "/cpu1/cpufreq/scaling_governor", "performance\n"},
    {CPU "/cpu2/cpufreq/scaling_governor", "powersave\n"},
    {CPU "/cpu0/cpufreq/scaling_driver", "intel_pstate\n"},
    {CPU "/cpu0/topology/physical_package_id", "0\n"},
    {CPU "/cpu0/topology/core_id", "0\n"},
    {CPU "/cpu1/topology/physical_package_id", "0\n"},
    {CPU "/cpu1/topology/core_id", "0\n"},
    {CPU "/cpu2/topology/physical_package_id", "0\n"},
    {CPU "/cpu2/topology/core_id", "1\n"},
    {CPU "/cpu0/thermal_throttle/core_throttle_count", "3\n"},
    {CPU "/cpu0/thermal_throttle/package_throttle_count", "7\n"},
    {CPU "/cpu1/thermal_throttle/core_throttle_count", "2\n"},
    {CPU "/cpu1/thermal_throttle/package_throttle_count", "7\n"},
    {CPU "/intel_pstate/no_turbo", "0\n"},
    {CPU "/smt/active", "1\n"},
    {CPU "/smt/control", "on\n"},
    {CPU "/vulnerabilities/l1tf", "Mitigation: PTE Inversion\n"},
    {CPU "/vulnerabilities/mds", "Vulnerable; SMT vulnerable\n"},
    {CPU "/vulnerabilities/srbds", "Not affected\n"},
    {"/sys/class/hwmon/hwmon0/name", "nvme\n"},
    {"/sys/class/hwmon/hwmon0/temp1_input", "88000\n"},
    {"/sys/class/hwmon/hwmon1/name", "coretemp\n"},
    {"/sys/class/hwmon/hwmon1/temp1_input", "61000\n"},
    {"/sys/class/hwmon/hwmon1/temp2_input", "63500\n"},
    {"/sys/class/hwmon/hwmon1/temp3_input", "255000\n"},
    {"/sys/class/hwmon/hwmon1/temp2_crit", "100000\n"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
    {"/sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n"},
    {"/etc/os-release", "NAME=X\nPRETTY_NAME=\"Some Linux 1\"\n"},
};

static void a_laptop(void **state)
{
    tree_plant(*state, laptop, ARRAY_LEN(laptop));
    CLEANUP(json_free) struct json *j = host_facts();
    CLEANUP(json_free) struct json *again = host_facts();

    assert_true(json_same(j, again));
    assert_string_equal(json_get_text(j, "kernel"), "6.8.0-45-generic");
    assert_string_equal(json_get_text(j, "os"), "Some Linux 1");
    assert_string_equal(json_get_text(j, "cpu"), "Core i7");
    assert_string_equal(json_get_text(j, "microcode"), "0xf4");
    assert_int_equal(json_get_int(j, "cpus"), 4);
    assert_int_equal(json_get_int(j, "sockets"), 1);
    assert_int_equal(json_get_int(j, "cores"), 2);
    assert_null(json_get(j, "hypervisor"));
    assert_string_equal(json_get_text(j, "governor"), "powersave (2), performance (1)");
    assert_string_equal(json_get_text(j, "turbo"), "on");
    assert_string_equal(json_get_text(j, "smt"), "on");
    assert_string_equal(json_get_text(j, "mitigations"), "1 mitigated, 1 open: mds");
    assert_string_equal(json_get_text(j, "thp"), "madvise");
    assert_int_equal(json_get_int(j, "cgroup_version"), 2);
    assert_true(json_get_number(j, "temperature_c") == 63.5);
}

/* Of the kernel's parameters only those of a list, and only what stands before "--". */
static void parameters_are_by_an_allow_list(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    tree_plant(*state, laptop, ARRAY_LEN(laptop));
    CLEANUP(json_free) struct json *j = host_facts();
    const struct json *boot = json_get(j, "boot");
    assert_int_equal(json_len(boot), 2);
    assert_string_equal(json_get_text(boot, "mitigations"), "off");
    assert_string_equal(json_get_text(boot, "isolcpus"), "2,3");
    json_write(j, JSON_STYLE_COMPACT, &text);
    assert_null(strstr(strbuf_text(&text), "s3cret"));
    assert_null(strstr(strbuf_text(&text), "UUID"));
}

static void a_look_at_a_laptop(void **state)
{
    CLEANUP_VALUE(host_view_release) struct host_view v = {0}, later = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf changes = STRBUF_INIT;

    tree_plant(*state, laptop, ARRAY_LEN(laptop));
    host_view_take(NULL, *state, &v);
    assert_true(v.load1 > 0.51 && v.load1 < 0.53 && v.psi_cpu == 2.5 && v.psi_memory_full == 0.05);
    assert_true(isnan(v.psi_io) && isnan(v.steal_pct) && isnan(v.throttled));
    assert_true(v.swap_bytes == 2147483648.0 && v.swap_used_bytes == 1073741824.0 && v.swap_compressed);
    assert_true(v.memory_available_bytes == 8000000.0 * 1024 && v.time_wait == 37);
    assert_true(v.throttle_events == 3 + 2 + 7); /* the package's once */
    assert_true(v.disk_bytes > 0);

    tree_text(*state, "/proc/stat", "cpu  150 0 100 830 0 0 0 70 0 0\n");
    tree_text(*state, CPU "/cpu0/thermal_throttle/core_throttle_count", "5\n");
    tree_text(*state, CPU "/intel_pstate/no_turbo", "1\n");
    tree_text(*state, CPU "/cpu1/cpufreq/scaling_governor", "powersave\n");
    host_view_take(&v, NULL, &later);
    assert_true(later.steal_pct == 20 && later.throttled == 2 && isnan(later.disk_bytes));
    assert_int_equal(host_changes(&v, &later, &changes), 2);
    assert_string_equal(strbuf_text(&changes),
                        "the governor went from powersave (2), performance (1) to powersave; "
                        "turbo went from on to off");
    strbuf_clear(&changes);
    assert_int_equal(host_changes(&v, &v, &changes), 0);
    /* of two looks only what both have seen */
    CLEANUP_VALUE(strbuf_release) struct strbuf seen = STRBUF_INIT;
    const struct host_view blind = {.cpus = 2};
    assert_int_equal(host_compared(&v, &blind, &seen), 1);
    assert_string_equal(strbuf_text(&seen), "processors");
    strbuf_clear(&seen);
    assert_true(host_compared(&v, &v, &seen) > 2);
    assert_has(strbuf_text(&seen), "governor, turbo, ");
    /* each package has its own events */
    tree_text(*state, CPU "/cpu0/topology/physical_package_id", "0\n");
    tree_text(*state, CPU "/cpu1/topology/physical_package_id", "1\n");
    tree_text(*state, CPU "/cpu1/thermal_throttle/package_throttle_count", "4\n");
    CLEANUP_VALUE(host_view_release) struct host_view two = {0};
    host_view_take(NULL, NULL, &two);
    assert_true(two.throttle_events == 5 + 2 + 7 + 4);
}

static void turbo_by_three_drivers(void **state)
{
    CLEANUP_VALUE(host_view_release) struct host_view v = {0};
    static const struct {
        const char *path, *text, *turbo;
    } cases[] = {
        {"/intel_pstate/no_turbo", "0\n", "on"}, {"/intel_pstate/no_turbo", "1\n", "off"},
        {"/cpufreq/boost", "1\n", "on"},         {"/cpufreq/boost", "0\n", "off"},
        {"/cpu0/cpufreq/boost", "0\n", "off"},   {"/cpu0/cpufreq/boost", "1\n", "on"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_FREE char *root = xasprintf("%s/%zu", (char *)*state, i);
        CLEANUP_FREE char *path = xasprintf(CPU "%s", cases[i].path);
        tree_text(root, path, cases[i].text);
        host_set_root(root);
        host_view_take(NULL, NULL, &v);
        assert_string_equal(v.turbo, cases[i].turbo);
        host_view_release(&v);
    }
}

/* A virtual machine has flags and a vendor, and nothing of frequencies or heat. */
static void a_virtual_machine(void **state)
{
    static const struct tree_entry entries[] = {
        {"/proc/cpuinfo", "model name\t: EPYC\nflags\t\t: fpu hypervisor sse\n"},
        {"/sys/class/dmi/id/sys_vendor", "QEMU\n"},
        {"/proc/meminfo", "MemTotal: 100 kB\nSwapTotal: 0 kB\n"},
        {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n"},
        {CPU "/smt/control", "notsupported\n"},
    };
    CLEANUP_VALUE(host_view_release) struct host_view v = {0};

    tree_plant(*state, entries, ARRAY_LEN(entries));
    host_view_take(NULL, NULL, &v);
    assert_string_equal(v.hypervisor, "qemu");
    assert_string_equal(v.smt, "notsupported");
    assert_null(v.governor);
    assert_null(v.turbo);
    assert_int_equal(v.cgroup_version, 1);
    assert_true(v.swap_bytes == 0 && isnan(v.temperature_c) && isnan(v.throttle_events));
}

/* Sensors of a small board are thermal zones; a case's or a battery's are none of a processor. */
static void zones_where_there_are_no_chips(void **state)
{
    static const struct tree_entry entries[] = {
        {"/sys/class/thermal/thermal_zone0/type", "battery\n"},
        {"/sys/class/thermal/thermal_zone0/temp", "90000\n"},
        {"/sys/class/thermal/thermal_zone1/type", "cpu-thermal\n"},
        {"/sys/class/thermal/thermal_zone1/temp", "47236\n"},
    };

    tree_plant(*state, entries, ARRAY_LEN(entries));
    assert_true(host_temperature_c() > 47.2 && host_temperature_c() < 47.3);
}

/* In a container without /sys, and where nothing can be read at all. */
static void nothing_is_there(void **state)
{
    CLEANUP_VALUE(host_view_release) struct host_view v = {0};

    host_set_root(*state);
    CLEANUP(json_free) struct json *j = host_facts();
    assert_true(isnan(host_load1()) && isnan(host_temperature_c()));
    assert_int_equal(host_time_wait(), -1);
    assert_true(json_get_int(j, "cpus") > 0);
    assert_non_null(json_get_text(j, "architecture"));
    assert_int_equal(json_len(json_get(j, "boot")), 0);
    assert_null(json_get(j, "governor"));
    host_view_take(NULL, NULL, &v);
    assert_true(isnan(v.load1) && isnan(v.memory_bytes) && isnan(v.swap_bytes));
    assert_int_equal(v.cgroup_version, 0);
}

/* Empty, binary, huge, a directory in a file's place: never more than "cannot be seen", or a short word. */
static void hostile_contents(void **state)
{
    const char *root = *state;
    static const char binary[] = "\x1b[31m\0\xff\xfe pow\x07r";
    size_t huge_len = (size_t)2 << 20;
    CLEANUP_FREE char *huge = xmalloc(huge_len), *dir = xasprintf("%s/proc/loadavg", root);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;

    memset(huge, 'x', huge_len);
    assert_int_equal(fs_mkdirs(dir, &err), 0);
    tree_file(root, CPU "/cpu0/cpufreq/scaling_governor", binary, sizeof(binary));
    tree_file(root, CPU "/cpu1/cpufreq/scaling_governor", huge, 100000);
    tree_file(root, CPU "/cpu2/cpufreq/scaling_governor", "", 0);
    tree_file(root, "/proc/meminfo", huge, huge_len); /* past the limit: not read */
    tree_file(root, "/proc/cmdline", huge, 1000000);
    tree_text(root, "/proc/stat", "cpu  1 2 x\n");
    tree_text(root, "/proc/net/sockstat", "TCP: inuse 1 tw -5\n");
    tree_text(root, "/proc/pressure/cpu", "some avg10=1\nfull avg60=9\n");
    tree_text(root, CPU "/online", "0-99999999999\n");
    tree_text(root, "/sys/class/hwmon/hwmon0/name", "k10temp");
    tree_text(root, "/sys/class/hwmon/hwmon0/temp1_input", "not a number");
    host_set_root(root);

    CLEANUP_VALUE(host_view_release) struct host_view v = {0};
    host_view_take(NULL, root, &v);
    assert_true(isnan(v.load1) && isnan(v.memory_bytes) && isnan(v.psi_cpu) && isnan(v.temperature_c));
    assert_true(isnan(v.ticks.all) && isnan(v.time_wait) && v.cpus > 0);
    assert_null(strchr(v.governor, '\x1b'));
    assert_true(strlen(v.governor) < 600);
    CLEANUP(json_free) struct json *j = host_facts();
    json_write(j, JSON_STYLE_COMPACT, &text);
    assert_true(text.len < 4096);
}

static void busy_processes(void **state)
{
    static const struct tree_entry before[] = {
        {"/proc/1/stat", "1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 10 5 0 0 20 0 1 0\n"},
        {"/proc/20/stat", "20 (a ) b) R 1 1 1 0 -1 0 1 2 3 4 100 50 0 0 20 0 1 0\n"},
        {"/proc/21/stat", "21 (gone\n"},
        {"/proc/self/stat", "20 (x) R 1 1 1 0 -1 0 1 2 3 4 9999 9999 0 0\n"},
    };
    struct host_processes then = {0}, now = {0};
    struct host_process top[2];

    tree_plant(*state, before, ARRAY_LEN(before));
    host_processes_take(&then);
    assert_int_equal(then.len, 2);
    tree_text(*state, "/proc/20/stat", "20 (a ) b) R 1 1 1 0 -1 0 1 2 3 4 130 60 0 0 20 0 1 0\n");
    tree_text(*state, "/proc/22/stat", "22 (new) R 1 1 1 0 -1 0 1 2 3 4 7 0 0 0 20 0 1 0\n");
    tree_text(*state, "/proc/23/stat", "23 (most) R 1 1 1 0 -1 0 1 2 3 4 90 0 0 0 20 0 1 0\n");
    host_processes_take(&now);
    assert_int_equal(host_processes_busiest(&then, &now, top, 2), 2);
    assert_string_equal(top[0].name, "most");
    assert_string_equal(top[1].name, "a ) b");
    assert_true(top[1].ticks == 40);
    host_processes_release(&then);
    host_processes_release(&now);
}

static void lists_of_processors(void **state)
{
    long one, other;

    host_set_root(*state);
    assert_int_equal(host_cpus_missing("0"), -1); /* nobody says what is online */
    tree_text(*state, CPU "/online", "0-2,4\n");
    tree_text(*state, CPU "/cpu0/topology/thread_siblings_list", "0,2\n");
    tree_text(*state, CPU "/cpu1/topology/thread_siblings_list", "1\n");
    tree_text(*state, CPU "/cpu4/topology/thread_siblings_list", "4,x\n");
    assert_int_equal(host_cpus_missing("0,2,4"), -1);
    assert_int_equal(host_cpus_missing("1-4"), 3);
    assert_int_equal(host_cpus_missing("9"), 9);
    assert_int_equal(host_cpus_missing(NULL), -1);
    assert_int_equal(host_cpus_missing("0-99999999"), -1); /* no list: others say so */
    assert_int_equal(host_cpus_missing("3-1"), -1);
    assert_true(host_cpus_share_core("0", "1-2", &one, &other));
    assert_int_equal(one, 0);
    assert_int_equal(other, 2);
    assert_false(host_cpus_share_core("0", "0", &one, &other)); /* the same: that is the matrix' own wish */
    assert_false(host_cpus_share_core("0", "1", &one, &other));
    assert_false(host_cpus_share_core("1,4", "0-4", &one, &other));
    assert_false(host_cpus_share_core(NULL, "0", &one, &other));
}

static void ports_and_connections(void **state)
{
    double count, max;

    host_set_root(*state);
    host_connections(&count, &max);
    assert_true(isnan(count) && isnan(max) && isnan(host_local_ports()));
    tree_text(*state, "/proc/sys/net/netfilter/nf_conntrack_count", "12\n");
    tree_text(*state, "/proc/sys/net/netfilter/nf_conntrack_max", "65536\n");
    tree_text(*state, "/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
    host_connections(&count, &max);
    assert_true(count == 12 && max == 65536 && host_local_ports() == 28232);
    tree_text(*state, "/proc/sys/net/ipv4/ip_local_port_range", "60999\n");
    assert_true(isnan(host_local_ports()));
    tree_text(*state, "/proc/sys/net/ipv4/ip_local_port_range", "9 1\n");
    assert_true(isnan(host_local_ports()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(a_laptop),
        TREE_TEST(parameters_are_by_an_allow_list),
        TREE_TEST(a_look_at_a_laptop),
        TREE_TEST(turbo_by_three_drivers),
        TREE_TEST(a_virtual_machine),
        TREE_TEST(zones_where_there_are_no_chips),
        TREE_TEST(nothing_is_there),
        TREE_TEST(hostile_contents),
        TREE_TEST(busy_processes),
        TREE_TEST(lists_of_processors),
        TREE_TEST(ports_and_connections),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

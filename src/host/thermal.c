/* SPDX-License-Identifier: MIT */
/* How warm the processors are, by the drivers of their own sensors. */
#include "internal.h"

#include <math.h>

/* What a sensor can mean; drivers show 0 kelvin or 255 °C for one that is not connected. */
#define COLDEST_C (-40.0)
#define HOTTEST_C 150.0
#define SENSORS_MAX 256 /* of one chip; sensors are numbered without large gaps */

/* Drivers of processors' own sensors. Boards' and disks' are left: they follow other things. */
static const char *const chips[] = {
    "coretemp",    "k10temp",     "zenpower",    "k8temp",       "via_cputemp",
    "cpu_thermal", "cpu-thermal", "soc_thermal", "scpi_sensors", "ibmpowernv",
};

static bool is_chip_of_processor(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(chips); i++)
        if (strcmp(name, chips[i]) == 0)
            return true;
    return false;
}

static bool is_zone_of_processor(const char *type)
{
    return type &&
           (strcmp(type, "x86_pkg_temp") == 0 || text_starts(type, "cpu") || text_starts(type, "soc") ||
            text_starts(type, "CPU") || text_starts(type, "bigcore") || text_starts(type, "littlecore"));
}

static void add(double *hottest, double millidegrees)
{
    double c = millidegrees / 1000;

    if (c > COLDEST_C && c < HOTTEST_C && !(*hottest >= c))
        *hottest = c;
}

static void add_chip(double *hottest, const char *chip)
{
    CLEANUP_FREE char *dir = xasprintf("/sys/class/hwmon/%s", chip);
    CLEANUP_FREE char *name = host_linef("%s/name", dir);
    CLEANUP(host_names_free) char **files = is_chip_of_processor(name) ? host_names(dir, "temp") : NULL;

    for (size_t i = 0; files && files[i] && i < 8 * SENSORS_MAX; i++)
        if (text_ends(files[i], "_input"))
            add(hottest, host_numberf("%s/%s", dir, files[i]));
}

double host_temperature_c(void)
{
    CLEANUP(host_names_free) char **all = host_names("/sys/class/hwmon", "hwmon");
    CLEANUP(host_names_free) char **zones = NULL;
    double hottest = NAN;

    for (size_t i = 0; all && all[i]; i++)
        add_chip(&hottest, all[i]);
    if (!isnan(hottest))
        return hottest;
    zones = host_names("/sys/class/thermal", "thermal_zone");
    for (size_t i = 0; zones && zones[i]; i++) {
        CLEANUP_FREE char *type = host_linef("/sys/class/thermal/%s/type", zones[i]);
        if (is_zone_of_processor(type))
            add(&hottest, host_numberf("/sys/class/thermal/%s/temp", zones[i]));
    }
    return hottest;
}

/* The counter of a package, which each of its processors repeats. */
struct package {
    double id, count; /* id: NAN where the kernel does not tell which it is */
};
#define PACKAGES_MAX 64

static void add_package(struct package *all, size_t *len, double id, double count)
{
    for (size_t i = 0; i < *len; i++) {
        if (all[i].id == id || (isnan(all[i].id) && isnan(id))) {
            all[i].count = fmax(all[i].count, count);
            return;
        }
    }
    if (*len < PACKAGES_MAX)
        all[(*len)++] = (struct package){id, count};
}

/* Every core's own events, and those of every package once. */
double host_throttle_events(void)
{
    static const char dir[] = "/sys/devices/system/cpu";
    CLEANUP(host_names_free) char **cpus = host_names(dir, "cpu");
    struct package packages[PACKAGES_MAX];
    size_t len = 0;
    double events = NAN;

    for (size_t i = 0; cpus && cpus[i]; i++) {
        double own = host_numberf("%s/%s/thermal_throttle/core_throttle_count", dir, cpus[i]);
        double shared = host_numberf("%s/%s/thermal_throttle/package_throttle_count", dir, cpus[i]);
        if (isnan(own))
            continue;
        events = isnan(events) ? own : events + own;
        if (!isnan(shared))
            add_package(packages, &len, host_numberf("%s/%s/topology/physical_package_id", dir, cpus[i]),
                        shared);
    }
    for (size_t i = 0; i < len; i++)
        events += packages[i].count;
    return events;
}

/* SPDX-License-Identifier: MIT */
/* Which API version to speak: the highest that both sides know. */
#include <ctype.h>
#include "engine_internal.h"

struct api_version {
    int major, minor;
};

static bool read_version(const char *text, struct api_version *ret)
{
    int used = 0;

    return text && isdigit((unsigned char)*text) &&
           sscanf(text, "%4d.%4d%n", &ret->major, &ret->minor, &used) == 2 && text[used] == '\0' &&
           ret->minor >= 0;
}

static int compare(struct api_version a, struct api_version b)
{
    return a.major != b.major ? (a.major > b.major) - (a.major < b.major)
                              : (a.minor > b.minor) - (a.minor < b.minor);
}

int engine_pick_version(const char *engine_min, const char *engine_max, char ret[16], struct error *err)
{
    struct api_version our_min = {0}, our_max = {0}, low = {0}, high = {0};

    (void)read_version(API_MIN, &our_min);
    (void)read_version(API_MAX, &our_max);
    if (!read_version(engine_max, &high))
        return error_set(err, ERROR_ENVIRONMENT, "the engine names no API version: '%s'",
                         engine_max ? engine_max : "");
    if (!read_version(engine_min, &low))
        low = (struct api_version){1, 0}; /* not said: no lower bound */
    if (compare(high, our_min) < 0 || compare(low, our_max) > 0) {
        (void)error_set(err, ERROR_ENVIRONMENT,
                        "the engine speaks API versions %d.%d to %d.%d, benchctl %s to %s", low.major,
                        low.minor, high.major, high.minor, API_MIN, API_MAX);
        return error_hint(err, "use %s", compare(high, our_min) < 0 ? "a newer engine" : "a newer benchctl");
    }
    if (compare(high, our_max) > 0)
        high = our_max;
    snprintf(ret, 16, "%d.%d", high.major, high.minor);
    return 0;
}

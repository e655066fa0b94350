/* SPDX-License-Identifier: MIT */
/* What a sealed trial's record says of its own time. */
#include "internal.h"

#include <math.h>

double rundir_trial_duration_ms(const struct rundir *r, const char *scenario, int trial)
{
    CLEANUP_FREE char *path =
        xasprintf("%s/" TRIALS_DIR "/%s/%d/" TRIAL_FILE, rundir_path(r), scenario, trial);
    CLEANUP(json_free) struct json *record = NULL;
    struct error ignored = ERROR_INIT;

    if (!rundir_trial_sealed(r, scenario, trial, NULL) ||
        json_read_file(path, TRIAL_FILE_MAX, &record, &ignored) < 0)
        return NAN;
    return json_get_number(record, "duration_ms");
}

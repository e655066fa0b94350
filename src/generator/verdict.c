/* SPDX-License-Identifier: MIT */
#include "verdict.h"

#include <inttypes.h>
#include <math.h>

static void because(struct strbuf *why)
{
    if (why->len)
        strbuf_adds(why, "; ");
}

bool verdict(const struct verdict_facts *f, struct strbuf *why)
{
    size_t before = why->len;
    double share = f->planned ? (double)f->dropped / (double)f->planned : 0;
    double limit =
        fmax(VERDICT_LAG_MS, isnan(f->response_p50_ms) ? 0 : VERDICT_LAG_SHARE * f->response_p50_ms);

    if (f->lost)
        strbuf_adds(why, f->lost);
    if (share > VERDICT_DROPPED_SHARE) {
        because(why);
        strbuf_addf(why,
                    "%" PRIu64 " of %" PRIu64 " planned iterations (%.3g %%) were dropped: no VU was free",
                    f->dropped, f->planned, share * 100);
    }
    if (f->sends >= VERDICT_SENDS_MIN && f->lag_p90_ms > limit) {
        because(why);
        strbuf_addf(why, "requests were sent late: p90 of the lag is %.2f ms, at most %.2f ms is accepted",
                    f->lag_p90_ms, limit);
    }
    if (f->cpu_share > VERDICT_CPU_SHARE) {
        because(why);
        strbuf_addf(why, "a generator process used %.0f %% of a core, more than %.0f %%", f->cpu_share * 100,
                    VERDICT_CPU_SHARE * 100);
    }
    if (f->stall_ms > VERDICT_STALL_MS) {
        because(why);
        strbuf_addf(why, "a generator process stood still for %.1f s: it was suspended, or got no CPU",
                    f->stall_ms / 1e3);
    } else if (f->stall_share > VERDICT_STALL_SHARE) {
        because(why);
        strbuf_addf(why,
                    "a generator process stood still for %.0f %% of a phase, at most %.0f %% is accepted",
                    f->stall_share * 100, VERDICT_STALL_SHARE * 100);
    }
    if (f->vus_late_ms > VERDICT_VUS_LATE_MS && f->vus_late_share > VERDICT_VUS_LATE_SHARE) {
        because(why);
        strbuf_addf(why, "virtual users began up to %.1f s late, for %.0f %% of their phase",
                    f->vus_late_ms / 1e3, f->vus_late_share * 100);
    }
    if (f->generator_errors) {
        because(why);
        strbuf_addf(why, "%" PRIu64 " requests could not be made on this machine%s%s", f->generator_errors,
                    f->generator_detail && f->generator_detail[0] ? ": " : "",
                    f->generator_detail ? f->generator_detail : "");
    }
    return why->len == before;
}

/* SPDX-License-Identifier: MIT */
/*
 * The table of rules: what each asks, what decides, and what follows. docs/validity.md shows the same. The
 * thresholds stand in the files of the rules, with their reasons; a test holds what is written here against
 * what the rules do.
 */
#include "trial_rules.h"

#define TRIAL VALIDITY_OF_TRIAL
#define SWEEP VALIDITY_OF_SWEEP
#define TABLE VALIDITY_OF_TABLE

/* The first FAIL becomes a trial's reason: causes stand before what follows from them. */
const struct validity_rule validity_rules[] = {
    {NULL, "load-complete", TRIAL, "Did the load come to its end?",
     "FAIL when the generator says that it did not", "invalid", NULL},
    {NULL, "load-unaccounted", TRIAL, "Do the generator's numbers add up?",
     "FAIL when requests are missing from what it says", "invalid", NULL},
    {NULL, "load-plausible", TRIAL, "Can the generator's numbers be true?",
     "FAIL when they contradict each other", "invalid", NULL},
    {"V9", "generator-kept-up", TRIAL, "Did the load generator keep up?",
     "FAIL when it says of itself that it did not, and why: sent late, out of CPU, out of virtual users, a "
     "lost process. WARN when p99 of how late requests were sent is above 1 ms and above 5 % of p50",
     "invalid", rule_generator_kept_up},
    {"V1", "load-delivered", TRIAL, "Was the load made that was asked for?",
     "open load: FAIL when less than 99 % of what the schedule asked for was made, the rest dropped or never "
     "begun",
     "invalid", rule_load_delivered},
    {"V2", "littles-law", TRIAL, "Do throughput, latency and concurrency fit together?",
     "closed load: FAIL when throughput x (mean latency + think time) leaves more than 5 % (and one "
     "request's share of the window) of the mean concurrency unexplained, WARN when that is at most 0.25 ms "
     "of each request (the generator's own work), or when more than 125 % are explained. Not of "
     "fewer than 30 requests, nor when some were left without an answer, nor for a corrected latency",
     "invalid", rule_littles_law},
    {"V3", "latency-floor", TRIAL, "Is the latency the application's, or one that was there before?",
     "WARN when the latency of one request at a time, without the application's own CPU time in it (ten "
     "times "
     "that on a full machine), is at least 70 % of p50 under load. Not below 1 ms",
     "mark", rule_latency_floor},
    {"V4", "nothing-stressed", TRIAL, "Was any resource near its limit?",
     "WARN when application, database and generator used less than 25 % of the processors they had and less "
     "than 0.8 cores (one busy thread), no pool had waiters, nothing was throttled and the machine was not "
     "full",
     "mark", rule_nothing_stressed},
    {"V9", "generator-busy", TRIAL, "Did the load generator have time?",
     "WARN when it used more than 80 % of the cores that it could (its cpuset, else all; of the built-in one "
     "a core for each process)",
     "mark", rule_generator_busy},
    {"V9", "load-generator-limit", TRIAL, "Did requests fail at the machine that makes the load?",
     "FAIL when more than 1 % of the requests failed for want of local ports or descriptors, WARN when fewer "
     "did",
     "invalid", rule_generator_limit},
    {"V9", "local-ports", TRIAL, "Were there local ports for the load?",
     "WARN when half of them were still kept by closed connections (TIME_WAIT) to the target when the load "
     "began, after a minute of waiting",
     "mark", NULL},
    {"V10", "coordinated-omission", TRIAL, "Did stalls keep requests from being sent?",
     "closed load with a histogram: WARN when p99 would be more than 1.5 times as high had requests not "
     "waited while the application stalled; both numbers are in the sentence",
     "mark", rule_coordinated_omission},
    {"V11", "steady-state", TRIAL, "Was there a steady state?",
     "WARN when the throughput per second warmed up, slowed down, or came to no segment of at least half of "
     "the window and 30 s",
     "mark", rule_steady_state},
    {"V14", "failures-in-latency", TRIAL, "Do failures change what the latency means?",
     "WARN when more than 0.1 % of the requests failed; names the percentiles that time-outs hide", "mark",
     rule_failures_in_latency},
    {"V15", "crash-contamination", TRIAL, "Was the application there all the time?",
     "WARN with restarts, OOM kills, silences or time down: the figures hold them; says the availability",
     "out of the comparison of speeds", rule_crash_contamination},
    {"V16", "limits-real", TRIAL, "Are the limits real?",
     "FAIL when engine or kernel apply another memory, CPU, process or cpuset limit than was asked for. WARN "
     "when swap is not off, when the engine warned, when a JVM's heap may grow beyond the memory limit, or "
     "heap and threads' stacks (1 MiB each) together",
     "invalid", rule_limits_real},
    {"V16", "restarts-agree", TRIAL, "Do the witnesses agree about restarts?",
     "WARN when engine events and inspect do not; the larger number is shown", "mark", rule_restarts_agree},
    {"V16", "address-kept", TRIAL, "Did every container keep its address?",
     "FAIL when one came back with another after a restart: the generator could not reach it", "invalid",
     rule_address_kept},
    {"V17", "throttled", TRIAL, "Did a CPU quota hold it back?",
     "WARN when application or database were throttled for more than 1 % of the window", "mark",
     rule_throttled},
    {"V18", "host-quiet", TRIAL, "Was the machine this sweep's own?",
     "WARN when others used more than 0.25 cores during the load, or when the load average was above "
     "host.max_load at the start",
     "mark", rule_host_quiet},
    {"V18", "host-saturated", TRIAL, "Had the machine anything left to give?",
     "WARN when more than 95 % of all processors were busy", "mark", rule_host_saturated},
    {"V18", "cpu-pressure", TRIAL, "Did tasks wait for a processor?",
     "WARN when some task waited for more than 20 % of the window (PSI), though not all were busy", "mark",
     rule_cpu_pressure},
    {"V18", "steal", TRIAL, "Did the hypervisor take processors away?",
     "WARN when more than 1 % of the CPU time was stolen", "mark", rule_steal},
    {"V18", "swapped", TRIAL, "Was memory swapped?",
     "WARN when the host swapped pages in or out during the load, or a container's memory was in swap",
     "mark", rule_swapped},
    {"V18", "thermal", TRIAL, "Were processors slowed down by heat?",
     "WARN when the host counted thermal throttling during the load", "mark", rule_thermal},
    {"V18", "kernel-messages", TRIAL, "Did the kernel complain?",
     "WARN when its log got lines about memory, machine checks, throttling or hung tasks", "mark",
     rule_kernel_messages},
    {"V18", "host-required", TRIAL, "Was the machine as the matrix requires?",
     "WARN when a condition of host.require did not hold when the trial began, or could not be seen; with "
     "host.on_violation: fail the trial is not made at all",
     "mark", NULL},
    {"V18", "host-steady", TRIAL, "Did the machine stay as it was?",
     "WARN when governor, allowed frequencies, turbo, SMT, the number of processors or the kernel's clock "
     "source changed between begin and end of the trial, or heat slowed processors down outside of the "
     "measured window",
     "mark", NULL},
    {"V18", "clock", TRIAL, "Did the clocks go on as they should?",
     "FAIL when the machine was suspended for more than 0.1 s within the measured window, WARN when it was "
     "before or after, or when the wall clock was stepped by more than 0.1 s. Durations are monotonic",
     "invalid", rule_clock},
    {"V20", "metric-exists", TRIAL, "Are the application's metrics there?",
     "WARN when more than 2 % of the scrapes failed or gave no value, or none of the adapter's names was "
     "there. Absent is not 0",
     "mark", rule_metric_exists},
    {"V21", "observer-cost", TRIAL, "Did measuring change what was measured?",
     "WARN when sampling and scrapes took more than 1 % of the application's CPU time and more than 0.02 "
     "cores, or p99 of a scrape was above 100 ms",
     "mark", rule_observer_cost},
    {"V22", "percentile-support", TRIAL, "Do enough requests lie beyond the percentiles?",
     "WARN when fewer than 100 lie beyond p99", "mark", rule_percentile_support},
    {"V23", "phase-purity", TRIAL, "Do the figures hold one kind of phase only?",
     "WARN when constant and ramping, or open and closed phases are in one figure; load.phases has each",
     "mark", rule_phase_purity},
    {"V24", "counts-agree", TRIAL, "Do generator, application and database count the same?",
     "WARN when the application's own counter of requests, or the commits that the matrix expects, differ by "
     "more than 0.5 % from the generator's requests",
     "mark", rule_counts_agree},
    {"V25", "degraded-successes", TRIAL, "Were successes real ones?",
     "WARN when more than 1 % of the good answers came from a fallback; stands beside the failure rate",
     "mark", rule_degraded_successes},
    {NULL, "cooled-down", TRIAL, "Had the machine settled before the trial?",
     "WARN when the cooldown ended at its `at_most`, with temperature, load or sockets above what the matrix "
     "asks for",
     "mark", NULL},
    /* --- over a sweep: sweep*.c --- */
    {"V1", "throughput-is-input", SWEEP, "Is the throughput a result, or what was put in?",
     "WARN when the load was open and every scenario's goodput is at least 99 % of what was offered, or "
     "closed and at least 70 % of each user's time was think time",
     "compare latency and CPU, not throughput", NULL},
    {"V3", "latency-floor-everywhere", SWEEP,
     "Is the latency one that the scenarios share, whatever they do?",
     "WARN when in at least 70 % of the scenarios one request at a time takes at least 70 % of p50 under "
     "load, less than 30 % of that is CPU time of the application or its database, and it is not below 1 ms",
     "no ranking", NULL},
    {"V4", "nothing-stressed-anywhere", SWEEP, "Was any scenario near a limit?",
     "WARN when in at least 70 % of the scenarios application, services and generator used less than 25 % of "
     "the processors they had, no pool had waiters, nothing was throttled, the machine was not full and the "
     "latency was not the application's own work",
     "no ranking", NULL},
    {"V5", "separable", SWEEP, "Do the scenarios differ by more than their own repetitions do?",
     "one-way random effects on logs, trials nested in scenarios: WARN when the 90 % confidence interval of "
     "the variance between scenarios includes 0",
     "no ranking", NULL},
    {"V6", "common-ceiling", SWEEP, "Do the scenarios pile up at one value?",
     "WARN when at least 70 % of them lie within 2 % of one throughput while CPU or memory differ by more "
     "than 10 % and most of them wait, or have a database at its limit; names the suspected ceiling",
     "no ranking", NULL},
    {"V7", "control-aa", SWEEP, "Do two scenarios that are alike come out alike?",
     "by the twin (`controls: {aa: true}`), pairs of one round, Student's t on logarithms: FAIL when the "
     "interval of the ratio of "
     "throughputs, "
     "or of p50, does not hold 1 (97.5 % each); what it reaches to is what the sweep can resolve",
     "differences as large are no result", NULL},
    {"V8", "control-handicap", SWEEP, "Is a deliberate handicap seen?",
     "by the handicapped twin (`controls: {handicap: ...}`), in the same way: FAIL when with three trials or "
     "more neither "
     "throughput nor p50 is worse by an interval of 95 % that does not hold 1, WARN when with two; that it "
     "fails is "
     "seen as well",
     "no ranking", NULL},
    {"V14", "failures-comparable", SWEEP, "Did as many requests fail everywhere?",
     "WARN when the shares of failed requests differ by more than 0.1 percentage points",
     "speeds are of different work", NULL},
    {"V15", "out-of-comparison", SWEEP, "Whose figures are those of restarts?",
     "WARN when a scenario crashed, restarted or was OOM-killed in some trial",
     "out of the comparison of speeds", NULL},
    {"V20", "metrics-everywhere", SWEEP, "Is every metric there in every scenario?",
     "WARN when a metric is recorded in some scenarios and not in others: absent is not 0", "mark", NULL},
    {"V23", "models-mixed", SWEEP, "Were all scenarios loaded in the same way?",
     "WARN when open and closed loads, or phases of both, stand in one table",
     "compare only those of one model", NULL},
    {"V26", "same-answers", SWEEP, "Did all scenarios answer the same, and write the same?",
     "FAIL when the status of the answer to one request differs between scenarios (WARN where some requests "
     "fail anyway); WARN when its shape, its size (by more than 1 %), or the rows written per request (by "
     "more than 1 %, chance, and what the window's ends leave open) differ",
     "they did not do the same work", NULL},
    {"V13", "host-drift", SWEEP, "Was the host the same all through the sweep?",
     "by the canary: WARN when one lies farther from the median of all than its band: that of the matrix, "
     "else "
     "3.5 times the standard deviation from one canary to the next (15 % of fewer than five), and at least "
     "5 %; the trials between the last good canary and the next good one are marked",
     "mark", NULL},
    {"V13", "host-trend", SWEEP, "Did the host become faster or slower?",
     "WARN when five or more canaries rise or fall (Mann and Kendall's score beyond 2.2) by at least 5 % "
     "over "
     "the sweep",
     "mark", NULL},
    {"V13", "canary-failed", SWEEP, "Did the canary live?",
     "WARN when one crashed, restarted, was not ready, or ended in `error` or `invalid`; the trials around "
     "it "
     "are marked, unless all failed",
     "mark", NULL},
    {"V13", "canary-band", SWEEP, "Can its band be kept at all?",
     "WARN when the matrix' band is narrower than twice the standard deviation from one canary to the next: "
     "the default is taken in its place",
     "mark", NULL},
    {NULL, "jvm-ergonomics", SWEEP, "Did the JVM choose the same for itself along an axis?",
     "WARN when its collector, its heap's share of the limit or its number of processors changes along an "
     "axis without having been asked to",
     "the axis compares these too", NULL},
    /* --- over published figures: audit*.c --- */
    {"V1", "table-offered", TABLE, "Is the throughput a result, or what was put in?",
     "WARN when every row with an offered rate delivered at least 99 % of it",
     "compare latency and CPU, not throughput", NULL},
    {"V2", "table-littles-law", TABLE, "Do throughput, latency and users fit together?",
     "closed load: FAIL when users are left over that requests/s x (mean latency + think time) does not "
     "explain, by more than 5 %; WARN when only p50 is known and p99 (or ten times the highest percentile "
     "there is) in its place would explain them, when more than 1 % of the requests failed or the service "
     "was "
     "restarted, or when more users are explained than there are",
     "a hidden delay, or a limit of the generator", NULL},
    {"V3", "table-floor", TABLE, "Is the latency one that was there before?",
     "WARN when floor is at least 70 % of p50 in at least 70 % of the rows", "no ranking", NULL},
    {"V4", "table-idle", TABLE, "Was anything near a limit?",
     "WARN when no row's CPU is above 25 % of what it could use", "no ranking", NULL},
    {"V6", "table-pile-up", TABLE, "Do the rows pile up at one value?",
     "WARN when at least 70 % of three or more rows of one load lie within 2 % of one throughput while their "
     "CPU or memory differ by more than 10 %, or are not in the table",
     "no ranking", NULL},
    {"V12", "table-replication", TABLE, "How often was each measured?",
     "WARN when a row rests on fewer than 3 starts, or the table does not say on how many; with several "
     "values, the ratio that so many starts can detect",
     "no word of comparison", NULL},
    {"V14", "table-failures", TABLE, "Did as many requests fail everywhere?",
     "WARN when the shares of failed requests beside a throughput differ by more than 0.1 percentage points",
     "speeds are of different work", NULL},
    {"V15", "table-restarts", TABLE, "Whose figures are those of restarts?",
     "WARN when a row with restarts or OOM kills has a throughput", "out of the comparison of speeds", NULL},
    {NULL, "table-busy-users", TABLE, "Do users wait for answers, or for their next turn?",
     "WARN when in a closed load users wait for an answer less than 30 % of their time",
     "the throughput is that of the pauses", NULL},
    {NULL, "table-implied-duration", TABLE, "Is the number of requests a result?",
     "requests x (latency + think time) / users: WARN when it is the same within 2 % for at least 70 % of "
     "the rows with think time; FAIL when rows without think time imply less than half of that",
     "the number of requests is that of the pauses", NULL},
    {NULL, "table-gc-pauses", TABLE, "How long did garbage collection stop the world in all?",
     "count x mean: WARN when it is more than 5 % of the duration, or the duration is not known",
     "look at the sum, not at count and mean", NULL},
    {NULL, "table-percentiles", TABLE, "Are percentiles in order?",
     "FAIL unless min <= p50 <= p75 <= p90 <= p95 <= p99 <= p99.9 <= max", "the row cannot be true", NULL},
    {NULL, "table-sums", TABLE, "Do the counts add up?",
     "FAIL when the shares of good and failed requests do not make 100 % within 0.1 points, good and failed "
     "requests not all of them, or requests / duration not the throughput within 5 %",
     "the row cannot be true", NULL},
};
const size_t validity_rule_count = sizeof(validity_rules) / sizeof(*validity_rules);

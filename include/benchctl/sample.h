/* SPDX-License-Identifier: MIT */
/*
 * What containers, host and application used while the load ran. Three sources on the loop: cgroup files
 * (local engine; open descriptors, pread), the engine's stats replies otherwise, and Prometheus text over
 * HTTP. Summaries go into trial.h structs; series go to samples.csv and raw scrapes to metrics/. Costs are
 * kept near zero: no allocation per sample.
 *
 * Order of calls in a trial: sampler_new(), sampler_add() per container, scraper_new() once the app listens,
 * both *_window_begin() when the warm-up is over, sampler_window_end() and scraper_finish() when the load has
 * ended and the containers still run, then the results.
 */
#ifndef BENCHCTL_SAMPLE_H
#define BENCHCTL_SAMPLE_H

#include "benchctl/base/loop.h"
#include "benchctl/base/schema.h"
#include "benchctl/http.h"
#include "benchctl/trial.h"

/* --- one container's cgroup --- */

struct cgroup_reader;

/* Where to look: NULL roots mean /sys/fs/cgroup, /proc, /sys and /dev/kmsg; tests pass fixture trees. The
 * texts stay the caller's. */
struct cgroup_roots {
    const char *cgroup, *proc, *sys, *kmsg;
};

/* Opens the files of the cgroup that process `pid` is in (by PROC/PID/cgroup). ERROR_NOT_FOUND when it is
 * gone or unreadable. */
int cgroup_open(const struct cgroup_roots *roots, int64_t pid, struct cgroup_reader **ret,
                struct error *err) MUST_CHECK;
void cgroup_close(struct cgroup_reader *c);
DEFINE_CLEANUP(struct cgroup_reader *, cgroup_close);
int cgroup_version(const struct cgroup_reader *c); /* 1 or 2: where its memory figures come from */

/* Every figure is NAN when it was not measured. */
struct resource_sample {
    int64_t at_ns;               /* monotonic */
    double usage_bytes;          /* everything charged, page cache included */
    double used_bytes;           /* usage - inactive file; what `docker stats` shows */
    double anon_bytes;           /* private memory of all processes */
    double file_bytes;           /* page cache; holds shmem too */
    double shmem_bytes;          /* shared memory and tmpfs: cannot be dropped, counts toward the kill */
    double peak_bytes;           /* the kernel's high-water mark of usage */
    double limit_bytes;          /* INFINITY: none */
    double cpu_ns, throttled_ns; /* totals since the container began */
    double nr_periods, nr_throttled;
    double pids;
    double rx_bytes, tx_bytes; /* totals; NAN on the host's network */
    double oom_kills;          /* the cgroup's own counter */
    double system_cpu_ns,
        cpus;          /* stats replies only: the host's CPU time, and how many CPUs it is spread over */
    double swap_bytes; /* what of it lies in swap */
    double tx_packets; /* a total, as tx_bytes */
};

/* ERROR_NOT_FOUND when the cgroup has gone (the container ended or was restarted: open again). */
int cgroup_read(struct cgroup_reader *c, struct resource_sample *ret, struct error *err) MUST_CHECK;

/* Begins the kernel's high-water mark anew: version 1 as root, version 2 from Linux 6.12. ERROR_ENVIRONMENT
 * where that cannot be. */
int cgroup_reset_peak(struct cgroup_reader *c, struct error *err) MUST_CHECK;

/* The limits that the cgroup's own files say: memory, swap, cpus, pids and cpuset (the reader's text, NULL
 * when unknown) are set, NAN where there is no such file; the other members are left alone. */
void cgroup_limits(struct cgroup_reader *c, struct effective *ret);

/* One stats reply of the engine; false when it is not a sample (stopped container, empty body). *ret_rule
 * names which field was subtracted. at_ns is the reply's own wall clock time, -1 when it has none. */
bool stats_parse(const struct json *stats, struct resource_sample *ret, const char **ret_rule);

/* --- a series over the measured window --- */

/* Accumulates samples of one container into a container_result: averages weighted by time, peaks, CPU from
 * own deltas (a counter that went back gives no value for that interval; the first sample has no CPU). The
 * CPU peak is the busiest second. */
struct resource_series;
struct resource_series *series_new(const char *role);
void series_free(struct resource_series *s);
DEFINE_CLEANUP(struct resource_series *, series_free);
void series_add(struct resource_series *s, const struct resource_sample *sample);
void series_restarted(struct resource_series *s); /* a new process: counters begin again */
/* The measured window begins: what was before is forgotten, except as the base of the first interval. */
void series_window(struct resource_series *s, int64_t begin_ns);
/* Sets what was sampled (memory_bytes, cpu_cores, cpu_throttled_ms, cpu_periods, cpu_throttled_periods,
 * pids_peak, rx_bytes, tx_bytes, samples, and over the whole life restarts and oom_kills); leaves the rest of
 * an initialised result alone. */
void series_summary(const struct resource_series *s, struct container_result *ret);
const struct resource_sample *series_last(const struct resource_series *s); /* NULL when there is none */
/* The highest usage in the half second before the last sample in which it ran as usual: no process had just
 * been killed, and not all were gone. None older than `since_ns`; NAN: none. */
double series_recent_usage(const struct resource_series *s, int64_t since_ns);

/* --- the sampler of a trial --- */

/*
 * One timer samples every container, another the host. Rows of samples.csv have empty fields for what was not
 * measured; throttled_ms, rx_bytes, tx_bytes, throttled_periods and oom_kills are totals as read; the roles
 * "(host)" and "(benchctl)" are the machine's busy cores, and this program's own cores and resident memory.
 */
struct sampler;
struct sampler_options {
    struct cgroup_roots roots;
    int64_t period_ns;      /* resource samples; 0: 100 ms */
    int64_t host_period_ns; /* 0: 1 s */
    int csv_fd;             /* samples.csv is appended here (header first); -1: none; stays the caller's */
    int64_t origin_ns;      /* zero of at_ms in the CSV */
};
int sampler_new(struct loop *l, const struct sampler_options *o, struct sampler **ret,
                struct error *err) MUST_CHECK;
void sampler_free(struct sampler *s);
DEFINE_CLEANUP(struct sampler *, sampler_free);

/* By cgroup files of `pid`; ERROR_NOT_FOUND when they cannot be read (then feed it by sampler_feed()). */
int sampler_add(struct sampler *s, const char *role, int64_t pid, struct error *err) MUST_CHECK;
/* A stats reply, for engines that are not local; the first one makes the role known. */
void sampler_feed(struct sampler *s, const char *role, const struct json *stats);
void sampler_restarted(struct sampler *s, const char *role, int64_t new_pid);
/*
 * A look out of turn, for when something has happened: the engine tells of an OOM kill some 25 ms before it
 * takes the cgroup away, and with it the kernel's counter and the peak. Looks again a few milliseconds later,
 * since the kernel tells before it has counted.
 */
void sampler_look(struct sampler *s, const char *role);

void sampler_window_begin(struct sampler *s); /* resets kernel peaks where possible */
void sampler_window_end(struct sampler *s);   /* one last sample of everything; then no more are taken */
/* Writes the buffered rows of the CSV; fails when any row could not be written. */
int sampler_flush(struct sampler *s, struct error *err) MUST_CHECK;

/* What series_summary() sets, and sample_source; -1: unknown role. */
int sampler_result(const struct sampler *s, const char *role, struct container_result *ret);
/* As cgroup_limits(), read when the container was added or restarted; the cpuset's text lives until the next
 * restart or sampler_free(). False: unknown role, or not by cgroup files. */
bool sampler_limits(const struct sampler *s, const char *role, struct effective *ret);
/* Over the window; oom_kills since the sampler began. psi_cpu_some and steal_pct are percent of the time.
 * foreign_cpu_cores is sampler_foreign_cores()'s. */
void sampler_host(const struct sampler *s, struct host_result *ret);
/*
 * Cores of this machine that were used by nobody of the sweep: processes outside the sampled containers, this
 * program, and what `more_cpu_ms` holds (a generator that is a process here; NAN gives NAN: it cannot be told
 * apart). The engine's daemons count as foreign, for nobody knows whom they work for; time in interrupts does
 * not, since the load's own packets cause it. Without `containers_here` no container is taken off. Never
 * below 0.
 */
double sampler_foreign_cores(const struct sampler *s, bool containers_here, double more_cpu_ms);
/* The cgroup's counter, summed over restarts; NAN unknown. */
double sampler_oom_kills(const struct sampler *s, const char *role);
/* The last sample; stays valid after the cgroup has gone, until the first of the next life. */
const struct resource_sample *sampler_last(const struct sampler *s, const char *role);
/* series_recent_usage() of a role. */
double sampler_recent_usage(const struct sampler *s, const char *role, int64_t since_ns);

/* --- the kernel's log --- */

/*
 * What a line (without its prefix) says about the machine: "out of memory", "machine check", "throttling",
 * "hung task", "link down", "network table full", "disk error", "clock", "slow interrupts"; NULL: nothing of
 * the kind. A container that reaches its own limit is no matter of the machine's.
 */
const char *kernel_line_kind(const char *line, size_t len);

/* What the kernel itself says from one moment on; nothing is read in between, and reading never waits. */
struct kernel_log;
struct kernel_log *kernel_log_open(const char *path); /* NULL: /dev/kmsg. NULL when it cannot be read */
void kernel_log_free(struct kernel_log *k);
DEFINE_CLEANUP(struct kernel_log *, kernel_log_free);
void kernel_log_skip(struct kernel_log *k); /* what is there already does not count; NULL is fine */
/* Only what was said from that moment of the monotonic clock on counts; what is there already does too. */
void kernel_log_from(struct kernel_log *k, int64_t monotonic_ns);
/* Calls `visit` for each line since the last look, without its prefix; what others than the kernel wrote
 * there is left out. False: it cannot be read. */
bool kernel_log_each(struct kernel_log *k, void (*visit)(const char *line, void *data), void *data);

/* How many processes the kernel of this machine has killed for want of memory since it started; NAN
 * unknown. */
double host_oom_kills(void);

/* --- Prometheus text --- */

#define PROM_MAX_BYTES ((size_t)16 << 20) /* of one scrape, unpacked */
#define PROM_MAX_LINE ((size_t)64 << 10)  /* a longer line is a bad line */
#define PROM_MAX_SAMPLES ((size_t)250000)
#define PROM_MAX_LABELS 128 /* of one sample */

struct prom_label {
    const char *name, *value;
};
struct prom_sample {
    const char *name;
    struct prom_label *labels; /* sorted by name */
    size_t label_count;
    double value;        /* NAN and infinities as written */
    double timestamp_ms; /* NAN: none */
};
struct prom_family {
    const char *name, *type; /* "untyped" when not declared */
};
struct prom_scrape {
    struct prom_sample *samples; /* of a repeated series only the first */
    size_t sample_count;
    struct prom_family *families;
    size_t family_count;
    size_t bad_lines, duplicate_series, repeated_meta, unknown_escapes;
    int first_bad_line; /* from 1; 0: none */
    bool openmetrics;   /* by content type, or when that is NULL by a final # EOF */
    bool complete; /* final newline, or # EOF in OpenMetrics: otherwise the last number may be cut short */
};

/*
 * Never fails on content: a bad line is skipped and counted, the rest is kept. Texts go into `a`. -1 only
 * past a size limit. Numbers are decimal as in the format's own definition (hexadecimal is a bad line);
 * exemplars are read and dropped in both formats; OpenMetrics' _created of a declared counter, histogram or
 * summary is dropped.
 */
int prom_parse(const char *bytes, size_t len, const char *content_type, struct arena *a,
               struct prom_scrape *ret, struct error *err) MUST_CHECK;

/* The reply's body made plain: unpacks gzip that was sent in spite of "identity" (at most PROM_MAX_BYTES),
 * refuses what is neither that nor metric text (markup, JSON, binary) and shows how it begins. *ret_warning
 * is NULL or a static text. */
int prom_plain_body(const char *bytes, size_t len, struct strbuf *out, const char **ret_warning,
                    struct error *err) MUST_CHECK;

/* --- metric adapters --- */

/* adapters/metrics/NAME.yaml: logical names, and the series that carry them under various libraries and
 * versions (docs/metrics.md). `dirs` as for load adapters: NULL-terminated, each with a metrics/ in it; the
 * first one wins. */
struct metric_adapter;
int metric_adapter_read(const char *name, char *const *dirs, struct metric_adapter **ret,
                        struct error *err) MUST_CHECK;
/*
 * Several as one: the files of `names` in order, each followed by those that it includes, each file once.
 * Of a metric that several of them give, the first one's value is taken, and the next one's where that had
 * none in the window.
 */
int metric_adapter_read_all(const struct text_list *names, char *const *dirs, struct metric_adapter **ret,
                            struct error *err) MUST_CHECK;
/* Of a text, which may not include others. `file` is for messages, and its last part the name. */
int metric_adapter_parse(const char *bytes, size_t len, const char *file, struct metric_adapter **ret,
                         struct error *err) MUST_CHECK;
void metric_adapter_free(struct metric_adapter *a);
DEFINE_CLEANUP(struct metric_adapter *, metric_adapter_free);

/* One of the files that make an adapter; the texts are the adapter's. */
struct metric_part {
    const char *name; /* the file's without .yaml */
    const char *file; /* where it was read from */
    const char *help; /* "" when there is none */
    struct text_list includes;
    bool included; /* by another part, not asked for */
};
size_t metric_adapter_parts(const struct metric_adapter *a); /* at least 1; the first is asked for */
const struct metric_part *metric_adapter_part(const struct metric_adapter *a, size_t i);
size_t metric_adapter_count(const struct metric_adapter *a); /* names of metrics that it has */
extern const struct schema metric_adapter_schema;

/*
 * What recorded scrapes give by an adapter's names (adapter parse). Each of `texts` is one scrape, or a
 * recorded scrapes.prom with many. Names of which no scrape had a value are not in the result: absent, never
 * 0. Strings and the array go into `a`.
 */
int metric_adapter_apply(const struct metric_adapter *ad, const char *const *texts, size_t count,
                         struct arena *a, struct metric_value **ret, size_t *ret_len,
                         struct error *err) MUST_CHECK;
/* The same reading as sentences about what is missing or doubtful: absent names with the series that look
 * closest, failed and cut scrapes, counters that began again, counters that never counted. */
int metric_adapter_notes(const struct metric_adapter *ad, const char *const *texts, size_t count,
                         struct arena *a, struct text_list *ret, struct error *err) MUST_CHECK;

/* --- the scraper of a trial --- */

/* Scrapes http://HOST:PORT/PATH every period; keeps the raw text in DIR/scrapes.prom.zst; sums up the
 * adapter's names. A scrape that fails is a gap and never a failure of the trial. */
struct scraper;
struct scraper_options {
    const char *url;
    const char *dir; /* exists; NULL: raw text is not kept */
    int64_t every_ns;
    const struct metric_adapter *adapter; /* NULL: raw text only; must outlive the scraper */
    int64_t origin_ns;                    /* zero of at_ms in the recorded text */
};
int scraper_new(struct http *h, struct loop *l, const struct scraper_options *o, struct scraper **ret,
                struct error *err) MUST_CHECK;
void scraper_free(struct scraper *s);
DEFINE_CLEANUP(struct scraper *, scraper_free);
/* Scrapes at once: counters increase from that scrape on. */
void scraper_window_begin(struct scraper *s);
/* The application is a new process: what its counters say counts from zero. */
void scraper_restarted(struct scraper *s);
/* One last scrape (waits for it, bounded), then the values and the end of the raw file. ERROR_INTERRUPTED, or
 * ERROR_ENVIRONMENT when the raw file could not be written. Not from a callback. */
int scraper_finish(struct scraper *s, struct arena *a, struct metric_value **ret, size_t *ret_len,
                   struct error *err) MUST_CHECK;
/* As metric_adapter_notes(), for the scrapes of the window. */
void scraper_notes(const struct scraper *s, struct arena *a, struct text_list *ret);

/* How the scrapes of the window went; times are NAN when there was none. */
struct scraper_counts {
    size_t scrapes, failed, incomplete, resets;
    double mean_ms, slowest_ms, mean_bytes;
    double p99_ms;
};
void scraper_counts(const struct scraper *s, struct scraper_counts *ret);

#endif

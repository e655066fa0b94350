/* SPDX-License-Identifier: MIT */
/*
 * What containers, host and application used while the load ran. Three sources on the loop: cgroup files
 * (local engine; open descriptors, pread), the engine's stats replies otherwise, and Prometheus text over
 * HTTP. Summaries go into trial.h structs; series go to samples.csv and raw scrapes to metrics/. Costs are
 * kept near zero: no allocation per sample.
 */
#ifndef BENCHCTL_SAMPLE_H
#define BENCHCTL_SAMPLE_H

#include "benchctl/base/loop.h"
#include "benchctl/http.h"
#include "benchctl/trial.h"

/* --- one container's cgroup -------------------------------------------------------------------------------
 */

struct cgroup_reader;

/* Where to look: NULL roots mean /sys/fs/cgroup and /proc; tests pass fixture trees. */
struct cgroup_roots {
    const char *cgroup, *proc;
};

/* Opens the files of the cgroup that process `pid` is in (by PROC/PID/cgroup). ERROR_NOT_FOUND when it is
 * gone or unreadable. */
int cgroup_open(const struct cgroup_roots *roots, int64_t pid, struct cgroup_reader **ret,
                struct error *err) MUST_CHECK;
void cgroup_close(struct cgroup_reader *c);
DEFINE_CLEANUP(struct cgroup_reader *, cgroup_close);
int cgroup_version(const struct cgroup_reader *c); /* 1 or 2 */

struct resource_sample {
    int64_t at_ns;
    double usage_bytes, used_bytes, anon_bytes, file_bytes, shmem_bytes,
        peak_bytes;              /* used = usage - inactive file, >= 0 */
    double limit_bytes;          /* INFINITY: none */
    double cpu_ns, throttled_ns; /* totals since the container began */
    double nr_periods, nr_throttled;
    double pids;
    double rx_bytes, tx_bytes; /* NAN on the host's network */
    double oom_kills;          /* the cgroup's own counter */
};
/* ERROR_NOT_FOUND when the cgroup has gone (the container ended or was restarted: open again). */
int cgroup_read(struct cgroup_reader *c, struct resource_sample *ret, struct error *err) MUST_CHECK;
int cgroup_reset_peak(struct cgroup_reader *c, struct error *err) MUST_CHECK; /* where the kernel allows it */
/* The effective limits by the cgroup's own files; NAN where there is none. */
void cgroup_limits(struct cgroup_reader *c, struct effective *ret);

/* One stats reply of the engine; false when it is not a sample (stopped container, empty body). `rule` names
 * which field was subtracted. */
bool stats_parse(const struct json *stats, struct resource_sample *ret, const char **ret_rule);

/* --- a series over the measured window
 * ----------------------------------------------------------------------- */

/* Accumulates samples of one container into a container_result: averages weighted by time, peaks, CPU from
 * own deltas (a counter that went back is a restart: no value for that interval). */
struct resource_series;
struct resource_series *series_new(const char *role);
void series_free(struct resource_series *s);
DEFINE_CLEANUP(struct resource_series *, series_free);
void series_add(struct resource_series *s, const struct resource_sample *sample);
void series_restarted(struct resource_series *s); /* a new process: counters begin again */
void series_window(struct resource_series *s,
                   int64_t begin_ns); /* the measured window begins: forget what was before */
void series_summary(const struct resource_series *s, struct container_result *ret);
const struct resource_sample *series_last(const struct resource_series *s); /* NULL when there is none */

/* --- the sampler of a trial
 * ------------------------------------------------------------------------------------ */

struct sampler;
struct sampler_options {
    struct cgroup_roots roots;
    int64_t period_ns; /* resource samples */
    int64_t host_period_ns;
    int csv_fd;        /* samples.csv is appended here (header first); -1: none */
    int64_t origin_ns; /* zero of at_ms in the CSV */
};
int sampler_new(struct loop *l, const struct sampler_options *o, struct sampler **ret,
                struct error *err) MUST_CHECK;
void sampler_free(struct sampler *s);
DEFINE_CLEANUP(struct sampler *, sampler_free);
/* By cgroup files of `pid`; ERROR_NOT_FOUND when they cannot be read (then feed it by sampler_feed()). */
int sampler_add(struct sampler *s, const char *role, int64_t pid, struct error *err) MUST_CHECK;
void sampler_feed(struct sampler *s, const char *role,
                  const struct json *stats); /* a stats reply, for engines that are not local */
void sampler_restarted(struct sampler *s, const char *role, int64_t new_pid);
void sampler_window_begin(struct sampler *s); /* resets kernel peaks where possible */
void sampler_window_end(struct sampler *s);   /* one last sample of everything */
int sampler_result(const struct sampler *s, const char *role,
                   struct container_result *ret); /* -1: unknown role */
void sampler_host(const struct sampler *s, struct host_result *ret);
double sampler_oom_kills(const struct sampler *s,
                         const char *role); /* cgroup counter, summed over restarts; NAN unknown */
const struct resource_sample *sampler_last(const struct sampler *s, const char *role);
const char *sampler_source(const struct sampler *s, const char *role);

/* --- Prometheus text
 * ---------------------------------------------------------------------------------------------- */

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
    struct prom_sample *samples;
    size_t sample_count;
    struct prom_family *families;
    size_t family_count;
    size_t bad_lines, duplicate_series, repeated_meta, unknown_escapes;
    int first_bad_line;
    bool openmetrics, complete; /* complete: final newline, or # EOF in OpenMetrics */
};
/* Never fails on content: bad lines are counted. Texts go into `a`. -1 only past a size limit. */
int prom_parse(const char *bytes, size_t len, const char *content_type, struct arena *a,
               struct prom_scrape *ret, struct error *err) MUST_CHECK;
/* The reply's body made plain: unpacks gzip that was sent in spite of "identity" (with a cap), refuses what
 * is neither. */
int prom_plain_body(const char *bytes, size_t len, struct strbuf *out, const char **ret_warning,
                    struct error *err) MUST_CHECK;

/* adapters/metrics/NAME.yaml: logical names and the aliases that various versions use. */
struct metric_adapter;
int metric_adapter_read(const char *name, char *const *dirs, struct metric_adapter **ret,
                        struct error *err) MUST_CHECK;
int metric_adapter_parse(const char *bytes, size_t len, const char *file, struct metric_adapter **ret,
                         struct error *err) MUST_CHECK;
void metric_adapter_free(struct metric_adapter *a);
DEFINE_CLEANUP(struct metric_adapter *, metric_adapter_free);
extern const struct schema metric_adapter_schema;

/* Scrapes http://HOST:PORT/PATH every period; keeps raw text compressed in `dir`; sums up the adapter's
 * names. */
struct scraper;
struct scraper_options {
    const char *url, *dir;
    int64_t every_ns;
    const struct metric_adapter *adapter;
};
int scraper_new(struct http *h, struct loop *l, const struct scraper_options *o, struct scraper **ret,
                struct error *err) MUST_CHECK;
void scraper_free(struct scraper *s);
DEFINE_CLEANUP(struct scraper *, scraper_free);
void scraper_window_begin(struct scraper *s);
int scraper_finish(struct scraper *s, struct arena *a, struct metric_value **ret, size_t *ret_len,
                   struct error *err) MUST_CHECK;

/* What recorded scrapes give by an adapter's names (adapter parse): each element of `texts` is one scrape. */
int metric_adapter_apply(const struct metric_adapter *ad, const char *const *texts, size_t count,
                         struct arena *a, struct metric_value **ret, size_t *ret_len,
                         struct error *err) MUST_CHECK;

#endif

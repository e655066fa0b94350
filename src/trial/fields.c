/* SPDX-License-Identifier: MIT */
/* The tables of fields.h. docs/outcomes.md explains each name; a test holds the two against each other. */
#include "fields.h"

#define AT(T, label, type, member)                                                                           \
    {                                                                                                        \
        .name = label, .kind = type, .offset = offsetof(T, member)                                           \
    }
#define NUMBER(T, member) AT(T, #member, FIELD_NUMBER, member)
#define LIMIT(T, member) AT(T, #member, FIELD_LIMIT, member)
#define TEXT(T, member) AT(T, #member, FIELD_TEXT, member)
#define OBJECT(T, label, member, record)                                                                     \
    {                                                                                                        \
        .name = label, .kind = FIELD_OBJECT, .offset = offsetof(T, member), .of = &(record)                  \
    }
/* A record that is an object in JSON only: its members lie in the struct around it. */
#define GROUP(label, record)                                                                                 \
    {                                                                                                        \
        .name = label, .kind = FIELD_OBJECT, .of = &(record)                                                 \
    }
#define OPTIONAL(T, label, member, flag, record)                                                             \
    {                                                                                                        \
        .name = label, .kind = FIELD_OPTIONAL, .offset = offsetof(T, member), .aux = offsetof(T, flag),      \
        .of = &(record)                                                                                      \
    }
#define LIST(T, label, member, length, record)                                                               \
    {                                                                                                        \
        .name = label, .kind = FIELD_LIST, .offset = offsetof(T, member), .aux = offsetof(T, length),        \
        .of = &(record)                                                                                      \
    }
#define KEYED(T, label, type, member, length, item_key, record)                                              \
    {                                                                                                        \
        .name = label, .kind = type, .offset = offsetof(T, member), .aux = offsetof(T, length),              \
        .key = item_key, .of = &(record)                                                                     \
    }
#define RECORD(name, T, table) const struct record name = {sizeof(T), table, ARRAY_LEN(table)}

static const struct field step_fields[] = {
    TEXT(struct step_time, name),
    NUMBER(struct step_time, start_ms),
    NUMBER(struct step_time, duration_ms),
};
static RECORD(step_record, struct step_time, step_fields);

static const struct field latency_fields[] = {
    NUMBER(struct latency, min),   NUMBER(struct latency, mean), NUMBER(struct latency, p50),
    NUMBER(struct latency, p75),   NUMBER(struct latency, p90),  NUMBER(struct latency, p95),
    NUMBER(struct latency, p99),   NUMBER(struct latency, p999), NUMBER(struct latency, max),
    NUMBER(struct latency, stdev),
};
static RECORD(latency_record, struct latency, latency_fields);

static const struct field error_fields[] = {NUMBER(struct error_count, count)};
static RECORD(error_record, struct error_count, error_fields);

static const struct field generator_fields[] = {
    AT(struct load_result, "name", FIELD_TEXT, generator),
    TEXT(struct load_result, version),
    AT(struct load_result, "exit", FIELD_INT, exit_status),
    TEXT(struct load_result, exit_text),
    NUMBER(struct load_result, cpu_ms),
};
static RECORD(generator_record, struct load_result, generator_fields);

static const struct field load_fields[] = {
    NUMBER(struct load_result, requests),
    NUMBER(struct load_result, ok),
    NUMBER(struct load_result, failed),
    NUMBER(struct load_result, error_rate),
    NUMBER(struct load_result, rps),
    NUMBER(struct load_result, goodput_rps),
    NUMBER(struct load_result, received_bytes),
    NUMBER(struct load_result, dropped),
    NUMBER(struct load_result, offered),
    NUMBER(struct load_result, connections),
    NUMBER(struct load_result, concurrency),
    NUMBER(struct load_result, think_ms),
    NUMBER(struct load_result, corrected_p99_ms),
    NUMBER(struct load_result, lag_p99_ms),
    NUMBER(struct load_result, fallbacks),
    TEXT(struct load_result, steady),
    NUMBER(struct load_result, steady_from_ms),
    OBJECT(struct load_result, "latency_ms", latency_ms, latency_record),
    OBJECT(struct load_result, "service_ms", service_ms, latency_record),
    KEYED(struct load_result, "errors", FIELD_PAIRS, errors, error_count, offsetof(struct error_count, kind),
          error_record),
    GROUP("generator", generator_record),
    TEXT(struct load_result, model),
    TEXT(struct load_result, corrected),
    NUMBER(struct load_result, window_ms),
    NUMBER(struct load_result, duration_ms),
    AT(struct load_result, "phases", FIELD_JSON, phases),
    AT(struct load_result, "by_request", FIELD_JSON, by_request),
};
RECORD(load_record, struct load_result, load_fields);

static const struct field memory_fields[] = {
    AT(struct container_result, "limit", FIELD_LIMIT, memory_bytes.limit),
    AT(struct container_result, "used_avg", FIELD_NUMBER, memory_bytes.used_avg),
    AT(struct container_result, "used_peak", FIELD_NUMBER, memory_bytes.used_peak),
    AT(struct container_result, "anon_avg", FIELD_NUMBER, memory_bytes.anon_avg),
    AT(struct container_result, "anon_peak", FIELD_NUMBER, memory_bytes.anon_peak),
    AT(struct container_result, "file_avg", FIELD_NUMBER, memory_bytes.file_avg),
    AT(struct container_result, "file_peak", FIELD_NUMBER, memory_bytes.file_peak),
    AT(struct container_result, "shmem_avg", FIELD_NUMBER, memory_bytes.shmem_avg),
    AT(struct container_result, "shmem_peak", FIELD_NUMBER, memory_bytes.shmem_peak),
    AT(struct container_result, "swap_peak", FIELD_NUMBER, memory_bytes.swap_peak),
    AT(struct container_result, "headroom", FIELD_NUMBER, memory_bytes.headroom),
    AT(struct container_result, "peak", FIELD_NUMBER, memory_bytes.peak),
    AT(struct container_result, "peak_source", FIELD_TEXT, memory_bytes.peak_source),
};
static RECORD(memory_record, struct container_result, memory_fields);

static const struct field cpu_fields[] = {
    AT(struct container_result, "avg", FIELD_NUMBER, cpu_cores.avg),
    AT(struct container_result, "peak", FIELD_NUMBER, cpu_cores.peak),
};
static RECORD(cpu_record, struct container_result, cpu_fields);

static const struct field network_fields[] = {
    NUMBER(struct container_result, rx_bytes),
    NUMBER(struct container_result, tx_bytes),
};
static RECORD(network_record, struct container_result, network_fields);

static const struct field exit_fields[] = {
    NUMBER(struct container_exit, at_ms),
    AT(struct container_exit, "code", FIELD_INT, code),
    AT(struct container_exit, "oom", FIELD_BOOL, oom),
    TEXT(struct container_exit, cause),
    TEXT(struct container_exit, evidence),
};
static RECORD(exit_record, struct container_exit, exit_fields);

static const struct field life_fields[] = {
    NUMBER(struct container_life, start_ms), NUMBER(struct container_life, ready_ms),
    NUMBER(struct container_life, end_ms),   NUMBER(struct container_life, down_before_ms),
    NUMBER(struct container_life, requests),
};
static RECORD(life_record, struct container_life, life_fields);

static const struct field silence_fields[] = {
    NUMBER(struct container_silence, from_ms),
    NUMBER(struct container_silence, to_ms),
};
static RECORD(silence_record, struct container_silence, silence_fields);

static const struct field witness_fields[] = {
    NUMBER(struct witnesses, start_events),     NUMBER(struct witnesses, die_events),
    NUMBER(struct witnesses, oom_events),       NUMBER(struct witnesses, restart_count),
    NUMBER(struct witnesses, distinct_starts),  NUMBER(struct witnesses, oom_flag),
    NUMBER(struct witnesses, kernel_oom_kills),
};
static RECORD(witness_record, struct witnesses, witness_fields);

static const struct field jvm_fields[] = {
    TEXT(struct jvm_facts, version),          TEXT(struct jvm_facts, collector),
    NUMBER(struct jvm_facts, heap_max_bytes), NUMBER(struct jvm_facts, cpus),
    TEXT(struct jvm_facts, options),          TEXT(struct jvm_facts, source),
};
static RECORD(jvm_record, struct jvm_facts, jvm_fields);

static const struct field kernel_fields[] = {
    LIMIT(struct kernel_limits, memory_bytes), LIMIT(struct kernel_limits, swap_bytes),
    LIMIT(struct kernel_limits, cpus),         LIMIT(struct kernel_limits, pids),
    TEXT(struct kernel_limits, cpuset),
};
static RECORD(kernel_record, struct kernel_limits, kernel_fields);

static const struct field effective_fields[] = {
    LIMIT(struct effective, memory_bytes), LIMIT(struct effective, swap_bytes),
    LIMIT(struct effective, cpus),         LIMIT(struct effective, pids),
    TEXT(struct effective, cpuset),        TEXT(struct effective, image_id),
    TEXT(struct effective, warnings),      OBJECT(struct effective, "kernel", kernel, kernel_record),
};
static RECORD(effective_record, struct effective, effective_fields);

static const struct field container_fields[] = {
    GROUP("memory_bytes", memory_record),
    GROUP("cpu_cores", cpu_record),
    AT(struct container_result, "cpu_total_ms", FIELD_NUMBER, cpu_cores.total_ms),
    NUMBER(struct container_result, cpu_throttled_ms),
    NUMBER(struct container_result, cpu_periods),
    NUMBER(struct container_result, cpu_throttled_periods),
    NUMBER(struct container_result, pids_peak),
    GROUP("network", network_record),
    NUMBER(struct container_result, restarts),
    NUMBER(struct container_result, oom_kills),
    LIST(struct container_result, "exits", exits, exit_count, exit_record),
    NUMBER(struct container_result, uptime_pct),
    NUMBER(struct container_result, time_to_failure_ms),
    NUMBER(struct container_result, down_ms),
    NUMBER(struct container_result, unresponsive_ms),
    LIST(struct container_result, "lives", lives, life_count, life_record),
    LIST(struct container_result, "unresponsive", silences, silence_count, silence_record),
    OBJECT(struct container_result, "witnesses", witnesses, witness_record),
    OPTIONAL(struct container_result, "jvm", jvm, has_jvm, jvm_record),
    NUMBER(struct container_result, samples),
    TEXT(struct container_result, sample_source),
    OBJECT(struct container_result, "effective", effective, effective_record),
    TEXT(struct container_result, address),
    TEXT(struct container_result, container_id),
};
RECORD(container_record, struct container_result, container_fields);

static const struct field metric_fields[] = {
    NUMBER(struct metric_value, avg),  NUMBER(struct metric_value, max),
    NUMBER(struct metric_value, last), NUMBER(struct metric_value, increase),
    NUMBER(struct metric_value, gaps),
};
static RECORD(metric_record, struct metric_value, metric_fields);

static const struct field database_fields[] = {
    NUMBER(struct database_result, reset_ms),
    NUMBER(struct database_result, commits),
    NUMBER(struct database_result, rollbacks),
    NUMBER(struct database_result, deadlocks),
    NUMBER(struct database_result, temp_bytes),
    NUMBER(struct database_result, size_bytes),
    NUMBER(struct database_result, checkpoints),
    NUMBER(struct database_result, autovacuum_runs),
    NUMBER(struct database_result, rows_inserted),
    NUMBER(struct database_result, rows_updated),
    NUMBER(struct database_result, rows_deleted),
    NUMBER(struct database_result, connections),
    NUMBER(struct database_result, idle_in_transaction),
    NUMBER(struct database_result, prepared_transactions),
    TEXT(struct database_result, strategy),
    TEXT(struct database_result, version),
};
static RECORD(database_record, struct database_result, database_fields);

static const struct field psi_fields[] = {AT(struct host_result, "cpu_some_pct", FIELD_NUMBER, psi_cpu_some)};
static RECORD(psi_record, struct host_result, psi_fields);

static const struct field host_fields[] = {
    NUMBER(struct host_result, cpu_busy),
    NUMBER(struct host_result, load1),
    GROUP("psi", psi_record),
    NUMBER(struct host_result, throttled),
    NUMBER(struct host_result, steal_pct),
    NUMBER(struct host_result, oom_kills),
    NUMBER(struct host_result, foreign_cpu_cores),
    NUMBER(struct host_result, swapped_pages),
    NUMBER(struct host_result, kernel_messages),
    NUMBER(struct host_result, benchctl_cpu_cores),
    NUMBER(struct host_result, benchctl_rss_bytes),
};
static RECORD(host_record, struct host_result, host_fields);

static const struct field check_fields[] = {
    TEXT(struct check_result, name),
    TEXT(struct check_result, value),
    TEXT(struct check_result, expect),
    AT(struct check_result, "gated", FIELD_BOOL, gated),
    AT(struct check_result, "passed", FIELD_BOOL, passed),
    TEXT(struct check_result, message),
};
static RECORD(check_record, struct check_result, check_fields);

static const struct field finding_fields[] = {
    TEXT(struct finding, id),      TEXT(struct finding, role),    NUMBER(struct finding, at_ms),
    NUMBER(struct finding, count), TEXT(struct finding, message),
};
static RECORD(finding_record, struct finding, finding_fields);

static const struct field floor_fields[] = {
    NUMBER(struct floor_result, requests),
    NUMBER(struct floor_result, p50_ms),
    NUMBER(struct floor_result, cpu_ms_per_request),
};
static RECORD(floor_record, struct floor_result, floor_fields);

static const struct field answer_fields[] = {
    TEXT(struct answer_sample, request), AT(struct answer_sample, "status", FIELD_INT, status),
    NUMBER(struct answer_sample, bytes), TEXT(struct answer_sample, sha256),
    TEXT(struct answer_sample, shape),
};
static RECORD(answer_record, struct answer_sample, answer_fields);

static const struct field build_count_fields[] = {NUMBER(struct build_count, value)};
static RECORD(build_count_record, struct build_count, build_count_fields);

static const struct field build_step_fields[] = {
    TEXT(struct build_step, name),
    NUMBER(struct build_step, duration_ms),
    NUMBER(struct build_step, exit_code),
    TEXT(struct build_step, message),
    KEYED(struct build_step, "counts", FIELD_PAIRS, counts, count_count, offsetof(struct build_count, name),
          build_count_record),
};
static RECORD(build_step_record, struct build_step, build_step_fields);

static const struct field build_fields[] = {
    TEXT(struct build_result, image),
    LIST(struct build_result, "steps", steps, step_count, build_step_record),
};
static RECORD(build_record, struct build_result, build_fields);

static const struct field scrape_fields[] = {
    NUMBER(struct scrape_result, count),      NUMBER(struct scrape_result, failed),
    NUMBER(struct scrape_result, mean_ms),    NUMBER(struct scrape_result, p99_ms),
    NUMBER(struct scrape_result, mean_bytes),
};
static RECORD(scrape_record, struct scrape_result, scrape_fields);

static const struct field validity_fields[] = {
    TEXT(struct validity_result, check),
    TEXT(struct validity_result, id),
    TEXT(struct validity_result, verdict),
    TEXT(struct validity_result, message),
};
static RECORD(validity_record, struct validity_result, validity_fields);

static const struct field axis_fields[] = {TEXT(struct axis_pair, value)};
static RECORD(axis_record, struct axis_pair, axis_fields);

static const struct field trial_fields[] = {
    TEXT(struct trial, scenario),
    KEYED(struct trial, "axes", FIELD_PAIRS, axes, axis_count, offsetof(struct axis_pair, axis), axis_record),
    AT(struct trial, "trial", FIELD_INT, trial),
    AT(struct trial, "attempt", FIELD_INT, attempt),
    TEXT(struct trial, digest),
    AT(struct trial, "outcome", FIELD_OUTCOME, outcome),
    TEXT(struct trial, reason),
    TEXT(struct trial, started_at),
    NUMBER(struct trial, duration_ms),
    NUMBER(struct trial, cooldown_ms),
    AT(struct trial, "canary", FIELD_BOOL, canary),
    TEXT(struct trial, control),
    NUMBER(struct trial, setup_ms),
    NUMBER(struct trial, overhead_ms),
    LIST(struct trial, "steps", steps, step_count, step_record),
    NUMBER(struct trial, startup_ms),
    NUMBER(struct trial, ready_ms),
    OPTIONAL(struct trial, "load", load, has_load, load_record),
    OBJECT(struct trial, "app", app, container_record),
    KEYED(struct trial, "services", FIELD_MAP, services, service_count,
          offsetof(struct container_result, role), container_record),
    KEYED(struct trial, "metrics", FIELD_MAP, metrics, metric_count, offsetof(struct metric_value, name),
          metric_record),
    OPTIONAL(struct trial, "database", database, has_database, database_record),
    OBJECT(struct trial, "host", host, host_record),
    LIST(struct trial, "checks", checks, check_count, check_record),
    LIST(struct trial, "findings", findings, finding_count, finding_record),
    OPTIONAL(struct trial, "floor", floor, has_floor, floor_record),
    LIST(struct trial, "answers", answers, answer_count, answer_record),
    OPTIONAL(struct trial, "build", build, has_build, build_record),
    OPTIONAL(struct trial, "scrapes", scrapes, has_scrapes, scrape_record),
    LIST(struct trial, "validity", validity, validity_count, validity_record),
    {.name = "notes",
     .kind = FIELD_TEXTS,
     .offset = offsetof(struct trial, notes),
     .aux = offsetof(struct trial, note_count)},
};
RECORD(trial_record, struct trial, trial_fields);

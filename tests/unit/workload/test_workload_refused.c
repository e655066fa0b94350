/* SPDX-License-Identifier: MIT */
/* What is refused in a workload, where, and with which hint; and how much of anything there may be. */
#include "fixture.h"

static const struct {
    const char *phase, *message, *hint;
} bad_phases[] = {
    {"{}", "w.yaml:3:5: 'executor' is missing in a phase", "constant-vus, ramping-vus"},
    {"{executor: constant-rate, rate: 4}", "w.yaml:3:16: 'executor' must be",
     "did you mean 'constant-arrival-rate'?"},
    {"{executor: ramping-rate}", "'executor' must be", "did you mean 'ramping-arrival-rate'?"},
    {"{executor: constant-vus, duration: 1s, exec: foo}", "w.yaml:3:44: unknown key 'exec' in a phase",
     "requests: [NAME"},
    {"{executor: constant-vus, duration: 1s, warmup: 3s}",
     "w.yaml:3:52: 'warmup' must be true or false, not '3s'", "duration: 3s, warmup: true"},
    {"{executor: ramping-vus, stages: [10s:5]}", "w.yaml:3:38: a stage must be a map",
     "{duration: 10s, target: 5}"},
    {"{executor: constant-vus, duration: 1s, warmup: true}", "w.yaml:3:3: all phases are warm-up",
     "without 'warmup: true'"},
    {"{executor: constant-vus, duration: 1s, stages: [{duration: 1s, target: 2}]}", "has no 'stages'",
     "'stages' belongs to ramping-vus, ramping-arrival-rate; keys of 'constant-vus' are vus, duration"},
    {"{executor: constant-vu, duration: 1s}", "w.yaml:3:16: 'executor' must be",
     "did you mean 'constant-vus'?"},
    {"{executor: externally-controlled}", "'executor' must be", ""},
    {"{executor: constant-vus}", "w.yaml:3:5: 'duration' is missing in a phase of executor 'constant-vus'",
     "duration: 30s"},
    {"{executor: constant-vus, duration: 1s, vus: 0}", "w.yaml:3:49: 'vus' must be from 1 to 1000000, not 0",
     ""},
    {"{executor: constant-vus, duration: 1s, vus: 1000001}", "'vus' must be from 1 to 1000000", ""},
    {"{executor: constant-vus, duration: 1s, vus: 1.5}", "'vus'", ""},
    {"{executor: constant-vus, duration: -1s}", "'duration'", ""},
    {"{executor: constant-vus, duration: 0}", "'duration' must be from 1ms to 720h", ""},
    {"{executor: constant-vus, duration: 31d}", "'duration' must be from 1ms to 720h", ""},
    {"{executor: constant-vus, duration: 10}", "'duration'", ""},
    {"{executor: constant-vus, duration: 1s, rate: 5}", "w.yaml:3:44: executor 'constant-vus' has no 'rate'",
     "'rate' belongs to constant-arrival-rate; keys of 'constant-vus' are vus, duration"},
    {"{executor: constant-vus, duration: 1s, maxVUs: 5}",
     "w.yaml:3:44: executor 'constant-vus' has no 'maxVUs'", ""},
    {"{executor: constant-vus, duration: 1s, gracefulStopp: 5s}", "unknown key 'gracefulStopp' in a phase",
     "did you mean 'gracefulStop'?"},
    {"{executor: constant-vus, duration: 1s, graceful_stp: 5s}", "unknown key 'graceful_stp'",
     "did you mean 'graceful_stop'?"},
    {"{executor: constant-vus, duration: 1s, gracefulStop: 5s, graceful_stop: 5s}",
     "w.yaml:3:44: 'gracefulStop' and 'graceful_stop' are the same key", "keep one"},
    {"{executor: constant-vus, duration: 1s, startTime: soon}", "w.yaml:3:55: 'startTime'", ""},
    {"{executor: constant-vus, duration: 1s, requests: []}", "'requests' of a phase is an empty list", ""},
    {"{executor: constant-vus, duration: 1s, requests: [\"GET /x\"]}",
     "w.yaml:3:55: no request is called 'GET /x'", "did you mean 'GET /'?"},
    {"{executor: constant-vus, duration: 1s, requests: nothing-like-it}", "no request is called",
     "the first request is called 'GET /'"},
    {"{executor: constant-vus, duration: 1s, requests: [GET /, GET /]}", "is named twice in a phase", ""},
    {"{executor: constant-vus, duration: 1s, name: \"\"}", "'name' is empty", ""},
    {"{executor: constant-arrival-rate, duration: 1s, pre_allocated_vus: 1}", "'rate' is missing",
     "rate: 100"},
    {"{executor: constant-arrival-rate, duration: 1s, rate: 1}", "'pre_allocated_vus' is missing", ""},
    {"{executor: constant-arrival-rate, duration: 1s, rate: 0, pre_allocated_vus: 1}",
     "w.yaml:3:59: 'rate' must be above 0, not 0", "per 'time_unit'"},
    {"{executor: constant-arrival-rate, duration: 1s, rate: -5, pre_allocated_vus: 1}", "'rate'", ""},
    {"{executor: constant-arrival-rate, duration: 1s, rate: 10000000.5, pre_allocated_vus: 1}",
     "'rate' is more than 10000000 per second", ""},
    {"{executor: constant-arrival-rate, duration: 1s, rate: 10001, time_unit: 1ms, pre_allocated_vus: 1}",
     "'rate' is more than 10000000 per second", "'time_unit' of 0.001 s"},
    {"{executor: constant-arrival-rate, duration: 1s, rate: 1, time_unit: 0, pre_allocated_vus: 1}",
     "'time_unit' must be from 1us", ""},
    {"{executor: constant-arrival-rate, duration: 1s, rate: 1, pre_allocated_vus: 5, max_vus: 4}",
     "w.yaml:3:93: 'max_vus' is below 'pre_allocated_vus'", "at least 5"},
    {"{executor: constant-arrival-rate, duration: 1s, rate: 1, pre_allocated_vus: 0}", "'pre_allocated_vus'",
     ""},
    {"{executor: constant-arrival-rate, duration: 1s, rate: 1, pre_allocated_vus: 1, arrivals: posson}",
     "'arrivals' must be constant or poisson", "did you mean 'poisson'?"},
    {"{executor: ramping-vus}", "'stages' is missing", "stages: [{"},
    {"{executor: ramping-vus, stages: []}", "the stages last no time", ""},
    {"{executor: ramping-vus, stages: [{duration: 0, target: 5}]}", "the stages last no time", ""},
    {"{executor: ramping-vus, stages: [{duration: 1s}]}", "'target' is missing in a stage", ""},
    {"{executor: ramping-vus, stages: [{target: 1}]}", "'duration' is missing in a stage", ""},
    {"{executor: ramping-vus, stages: [{duration: 1s, target: 1.5}]}",
     "w.yaml:3:61: 'target' must be a whole number of VUs", ""},
    {"{executor: ramping-vus, stages: [{duration: 1s, target: 1000001}]}", "'target' must be a whole number",
     ""},
    {"{executor: ramping-vus, stages: [{duration: 1s, target: -1}]}", "'target'", ""},
    {"{executor: ramping-vus, start_vus: 0.5, stages: [{duration: 1s, target: 1}]}",
     "'start_vus' must be a whole number", ""},
    {"{executor: ramping-vus, start_vus: 0, stages: [{duration: 1s, target: 0}, {duration: 0, target: 4}]}",
     "the phase would make no requests", ""},
    {"{executor: ramping-vus, stages: [{duration: 20d, target: 1}, {duration: 20d, target: 1}]}",
     "w.yaml:3:66: the stages last longer than 30d", ""},
    {"{executor: ramping-vus, duration: 1s, stages: [{duration: 1s, target: 1}]}", "has no 'duration'", ""},
    {"{executor: ramping-arrival-rate, pre_allocated_vus: 1, stages: [{duration: 1s, target: 10000001}]}",
     "'target' is more than 10000000 per second", ""},
    {"{executor: ramping-arrival-rate, pre_allocated_vus: 1, stages: [{duration: 1s, target: 0}]}",
     "the phase would make no requests", ""},
    {"{executor: ramping-arrival-rate, start_rate: 1e9, pre_allocated_vus: 1, stages: [{duration: 1s, "
     "target: 0}]}",
     "'start_rate'", ""},
    {"{executor: shared-iterations, vus: 10, iterations: 9}", "fewer 'iterations' than 'vus'", ""},
    {"{executor: shared-iterations, iterations: 0}", "'iterations' must be from 1", ""},
    {"{executor: per-vu-iterations, duration: 1s}", "has no 'duration'", "max_duration"},
    {"{executor: per-vu-iterations, iterations: 99999999999999999999}", "'iterations'", ""},
    {"[1]", "a phase must be a map, not a list", ""},
    {"text", "a phase must be a map, not text", ""},
};

static void wrong_phases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad_phases); i++) {
        CLEANUP_FREE char *text = xasprintf(TARGET "phases:\n  - %s\n", bad_phases[i].phase);
        refused(text, bad_phases[i].message, bad_phases[i].hint);
    }
}

static const struct {
    const char *request, *message, *hint;
} bad_requests[] = {
    {"{path: items}", "w.yaml:3:12: 'path' must begin with '/', not 'items'", "for instance"},
    {"{path: \"http://h/x\"}", "'path' must begin with '/'", "host and port are those of 'target'"},
    {"{path: \"\"}", "'path' must begin with '/'", ""},
    {"{path: \"/a b\"}", "a blank or control character", "%20"},
    {"{path: \"/a\\r\\nHost: x\"}", "a blank or control character", ""},
    {"{path: \"/a#b\"}", "'#'", "%23"},
    {"{path: \"/{{rando 1 2}}\"}", "w.yaml:3:12: 'path': unknown '{{rando 1 2}}'",
     "did you mean '{{random}}'?"},
    {"{path: \"/{{counter\"}", "'path': '{{' without '}}'", "{{{{"},
    {"{path: \"/{{row.a}}\"}", "uses {{row...}}, but the workload has no 'data'", "data: FILE.csv"},
    {"{method: get}", "w.yaml:3:14: 'get' is no HTTP method", "did you mean 'GET'?"},
    {"{method: \"GE T\"}", "is no HTTP method", ""},
    {"{method: \"\"}", "is no HTTP method", ""},
    {"{method: CONNECT}", "'CONNECT' cannot be used", ""},
    {"{weight: -1}", "'weight'", ""},
    {"{weight: 1000001}", "w.yaml:3:14: 'weight' must be from 0 to 1000000, not 1000001", ""},
    {"{weight: 0}", "w.yaml:3:14: all requests have weight 0", ""},
    {"{body: a, body_file: b}", "w.yaml:3:15: a request has 'body' or 'body_file', not both", ""},
    {"{body: \"{{nope}}\"}", "'body': unknown '{{nope}}'", "known are counter"},
    {"{body_file: \"\"}", "'body_file' is empty", ""},
    {"{headers: {\"X Y\": 1}}", "w.yaml:3:23: 'X Y' is no header name", ""},
    {"{headers: {\"X:\": 1}}", "is no header name", ""},
    {"{headers: {\"\": 1}}", "is no header name", ""},
    {"{headers: {A: \"x\\r\\nB: y\"}}", "header 'A' has a line break", "one line"},
    {"{headers: {A: \"x\\ny\"}}", "header 'A' has a line break", ""},
    {"{headers: {content-length: 5}}", "'content-length' is made by the generator itself", "the body"},
    {"{headers: {Connection: close}}", "'Connection' is made by", "keepalive: false"},
    {"{headers: {A: \"{{vus}}\"}}", "'A': unknown '{{vus}}'", "did you mean '{{vu}}'?"},
    {"{headers: {A: {b: c}}}", "'A' must be text, not a map", ""},
    {"{grpc: Greeter}", "'grpc' must be 'package.Service/Method'", ""},
    {"{grpc: /a.B/C}", "'grpc' must be", ""},
    {"{grpc: a.B/C, path: /x}", "'path' follows from 'grpc'", ""},
    {"{grpc: a.B/C, method: GET}", "a gRPC call is a POST", ""},
    {"{timeout: 0}", "'timeout' must be from 1ms to 24h", ""},
    {"{timeout: -1s}", "'timeout'", ""},
    {"{think: soon}", "w.yaml:3:13: 'think'", "{min: 1s, max: 3s}"},
    {"{think: {min: 2s, max: 1s}}", "'max' (1s) is below 'min' (2s)", ""},
    {"{think: 2d}", "'think' may last at most 1d", ""},
    {"{expect: 20}", "'status': '20' is no status", "2xx"},
    {"{expect: {status: 2x}}", "'status': '2x' is no status", ""},
    {"{expect: {status: 6xx}}", "is no status", ""},
    {"{expect: {status: 300-200}}", "is no status", ""},
    {"{expect: {status: [200, 099]}}", "'099' is no status", ""},
    {"{expect: {status: 2000}}", "is no status", ""},
    {"{expect: {status: []}}", "'status' is an empty list", ""},
    {"{expect: {body: \"(\"}}", "w.yaml:3:21: 'body'", ""},
    {"{expect: {body: \"(a+)+\"}}", "'body'", ""},
    {"{expect: {header: json}}", "'header' must be 'Name: REGEX'", "Content-Type"},
    {"{expect: {header: \"A: [\"}}", "'header'", ""},
    {"{expect: {grpc_status: 17}}", "'grpc_status' must be from 0 to 16", ""},
    {"{name: \"\"}", "'name' is empty", ""},
    {"{nme: a}", "unknown key 'nme' in a request", "did you mean 'name'?"},
    {"{name: a}\n  - {name: a}", "w.yaml:4:5: two requests are called 'a'", ""},
};

static void wrong_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad_requests); i++) {
        CLEANUP_FREE char *text = xasprintf(TARGET "requests:\n  - %s\n", bad_requests[i].request);
        refused(text, bad_requests[i].message, bad_requests[i].hint);
    }
}

static const struct {
    const char *text, *message, *hint;
} bad_workloads[] = {
    {"vus: 1\n", "'target' is missing in the workload", ""},
    {"target: localhost:80\n", "w.yaml:1:9: 'target' must be a URL of http or https",
     "did you mean 'http://localhost:80'?"},
    {"target: ftp://h\n", "'target' must be a URL", ""},
    {"target: http://\n", "no right host or port", ""},
    {"target: http://h:0\n", "no right host or port", ""},
    {"target: http://h:65536\n", "no right host or port", ""},
    {"target: \"http://h:\"\n", "no right host or port", ""},
    {"target: http://h:8x\n", "no right host or port", ""},
    {"target: \"http://[::1\"\n", "no right host or port", ""},
    {"target: \"http://[]:1\"\n", "no right host or port", ""},
    {"target: http://user:geheim@h/\n", "must not hold a user name or password", "Authorization"},
    {"target: http://h/a?b=c\n", "must end with the host or a path", ""},
    {"target: \"http://h/a b\"\n", "must end with the host or a path", ""},
    {"[]\n", "the workload must be a map, not a list", ""},
    {TARGET "requests: []\n", "'requests' must be a list with at least one item", ""},
    {TARGET "phases: []\n", "'phases' must be a list with at least one item", ""},
    {TARGET "requests: [{}]\npath: /x\n", "w.yaml:3:1: 'path' is for a workload without 'requests'",
     "inside 'requests'"},
    {TARGET "phases: [{executor: per-vu-iterations}]\nvus: 4\n", "'vus' is for a workload without 'phases'",
     ""},
    {TARGET "rate: 0\n", "w.yaml:2:7: 'rate' must be above 0", ""},
    {TARGET "rate: 10000001\n", "'rate' is more than 10000000 per second", ""},
    {TARGET "rate: 5\niterations: 5\n", "'rate' and 'iterations' exclude each other", ""},
    {TARGET "max_vus: 5\n", "'max_vus' is for a workload with 'rate'", ""},
    {TARGET "arrivals: poisson\n", "'arrivals' is for a workload with 'rate'", ""},
    {TARGET "rate: 5\nvus: 5\nmax_vus: 4\n", "w.yaml:4:10: 'max_vus' is below 'vus'", ""},
    {TARGET "iterations: 5\nvus: 6\n", "fewer 'iterations' than 'vus'", ""},
    {TARGET "vus: 0\n", "'vus' must be from 1", ""},
    {TARGET "path: x\n", "w.yaml:2:7: 'path' must begin with '/'", ""},
    {TARGET "body: x\nbody_file: y\n", "'body' or 'body_file', not both", ""},
    {TARGET "id_header: \"X Y\"\n", "'id_header' is no header name", ""},
    {TARGET "headers: {Transfer-Encoding: chunked}\n", "is made by the generator itself", ""},
    {TARGET "headers: {A: \"{{row.x}}\"}\n", "has no 'data'", ""},
    {TARGET "http: 3\n", "'http' must be 1.1, 2 or 2-prior-knowledge", ""},
    {TARGET "http: 1.1\nrequests: [{grpc: a.B/C}]\n", "gRPC needs HTTP/2", ""},
    {TARGET "transport: plain\nhttp: 2\n", "'plain' cannot carry HTTP/2", ""},
    {"target: https://h\ntransport: plain\n", "'plain' cannot carry TLS", "auto"},
    {TARGET "processes: 0\n", "'processes' must be from 1 to 256", ""},
    {TARGET "seed: -1\n", "'seed'", ""},
    {TARGET "timeout: 0s\n", "'timeout' must be", ""},
    {TARGET "keepalive: yes\n", "'keepalive' must be true or false", ""},
    {TARGET "scenarios: {a: {executor: constant-vus}}\n",
     "w.yaml:2:1: unknown key 'scenarios' in the workload", "phases: [{executor: constant-vus"},
    {TARGET "stages: [{duration: 1s, target: 3}]\n", "w.yaml:2:1: unknown key 'stages' in the workload",
     "stages belong into a phase"},
    {TARGET "targt: x\n", "unknown key 'targt' in the workload", "did you mean 'target'?"},
    {TARGET "phases: [{name: a, executor: per-vu-iterations}, {name: a, executor: per-vu-iterations}]\n",
     "two phases are called 'a'", ""},
    {TARGET "phases: [{executor: constant-vus, duration: 20d}, {executor: constant-vus, duration: 20d}]\n",
     "the whole load lasts longer than 30d", ""},
    {TARGET
     "phases: [{executor: constant-vus, duration: 1s, vus: 600000}, {executor: constant-vus, duration: 1s, "
     "vus: 600000, start_time: 0}]\n",
     "phases side by side have more than 1000000 VUs", ""},
};

static void wrong_workloads(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad_workloads); i++)
        refused(bad_workloads[i].text, bad_workloads[i].message, bad_workloads[i].hint);
}

/* A secret in the wrong place is not repeated. */
static void passwords_stay_hidden(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload w;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(try_workload("target: ftp://me:geheim@h/\n", a, &w, &err), -1);
    assert_null(strstr(err.message, "geheim"));
    assert_null(strstr(err.hint, "geheim"));
}

/* Too many of anything is an error soon, not a long wait. */
static void too_many(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    (void)state;
    strbuf_adds(&text, TARGET "requests:\n");
    for (int i = 0; i < 1001; i++)
        strbuf_addf(&text, "  - {path: /%d}\n", i);
    refused(strbuf_text(&text), "'requests' has more than 1000 items", "");
    strbuf_clear(&text);
    strbuf_adds(&text, TARGET "phases:\n  - executor: ramping-vus\n    stages:\n");
    for (int i = 0; i < 1001; i++)
        strbuf_adds(&text, "      - {duration: 1s, target: 1}\n");
    refused(strbuf_text(&text), "at most 1000 stages, not 1001", "");
    strbuf_clear(&text); /* all of the same name */
    strbuf_adds(&text, TARGET "requests:\n");
    for (int i = 0; i < 1000; i++)
        strbuf_adds(&text, "  - {}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload w = read_workload(strbuf_text(&text), a);
    assert_string_equal(request_at(&w, 999)->name, "GET / (1000)");
}

/* 190 phases that name 1000 requests each: 190,000 look-ups. */
static void many_names(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    strbuf_adds(&text, TARGET "requests:\n");
    for (int i = 0; i < 1000; i++)
        strbuf_addf(&text, "  - {path: /%d}\n", i);
    strbuf_adds(&text, "phases:\n");
    for (int p = 0; p < 190; p++) {
        strbuf_adds(&text, "  - {executor: per-vu-iterations, requests: [last");
        for (int i = 999; i >= 0; i--)
            strbuf_addf(&text, ", GET /%d", i);
        strbuf_adds(&text, "]}\n");
    }
    refused(strbuf_text(&text), "no request is called 'last'", "");
    for (char *last; (last = strstr(text.data, "[last, "));)
        memcpy(last, "[      ", 7);
    struct workload w = read_workload(strbuf_text(&text), a);
    assert_int_equal(phase_at(&w, 189)->requests.len, 1000);
    assert_string_equal(phase_at(&w, 189)->name, "per-vu-iterations-190");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_phases),    cmocka_unit_test(wrong_requests),
        cmocka_unit_test(wrong_workloads), cmocka_unit_test(passwords_stay_hidden),
        cmocka_unit_test(too_many),        cmocka_unit_test(many_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

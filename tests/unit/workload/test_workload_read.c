/* SPDX-License-Identifier: MIT */
/* What a workload may say, what follows from it, and what is refused where. */
#include "fixture.h"

#include <math.h>

static void the_least(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload w = read_workload(TARGET, a);

    (void)state;
    assert_string_equal(w.target, "http://localhost:8080");
    assert_int_equal(w.requests.len, 1);
    const struct workload_request *r = request_at(&w, 0);
    assert_string_equal(r->name, "GET /");
    assert_string_equal(r->method, "GET");
    assert_string_equal(r->path, "/");
    assert_true(r->weight == 1 && !r->think && !r->body && r->timeout_ns == SCHEMA_ABSENT);
    assert_int_equal(r->expect.status.len, 1);
    assert_string_equal(r->expect.status.items[0], "200-399");
    const struct workload_phase *p = phase_at(&w, 0);
    assert_int_equal(p->executor, EXECUTOR_CONSTANT_VUS);
    assert_int_equal(p->vus, 1);
    assert_string_equal(p->name, "constant-vus");
    assert_int_equal(p->duration_ns, 10 * NS_PER_S);
    assert_int_equal(p->graceful_stop_ns, 30 * NS_PER_S);
    assert_int_equal(w.timeout_ns, 10 * NS_PER_S);
    assert_int_equal(w.connect_timeout_ns, 5 * NS_PER_S);
    assert_true(w.keepalive && !w.insecure && w.http == HTTP_VERSION_1_1 && w.transport == TRANSPORT_AUTO);
    assert_int_equal(w.processes, 1);
    assert_int_equal(w.seed, 1);
    assert_int_equal(w.think.max_ns, 0);
}

static void one_request_and_one_phase(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload w = read_workload(
        TARGET "path: /items?x={{random 1 9}}\nbody_file: b.json\nrate: 250.5\nduration: 1m\nthink: 1s\n", a);

    (void)state;
    assert_string_equal(request_at(&w, 0)->method, "POST");
    assert_string_equal(request_at(&w, 0)->body_file, "/w/b.json");
    const struct workload_phase *p = phase_at(&w, 0);
    assert_int_equal(p->executor, EXECUTOR_CONSTANT_ARRIVAL_RATE);
    assert_int_equal(p->pre_allocated_vus, 251);
    assert_int_equal(p->max_vus, 251);
    assert_int_equal(phase_planned_arrivals(p), 15030);
    assert_true(w.think.min_ns == NS_PER_S && w.think.max_ns == NS_PER_S);

    w = read_workload(TARGET "iterations: 100\nvus: 7\n", a);
    p = phase_at(&w, 0);
    assert_int_equal(p->executor, EXECUTOR_SHARED_ITERATIONS);
    assert_int_equal(p->vus, 7);
    assert_int_equal(p->iterations, 100);
    assert_int_equal(workload_phase_duration_ns(p), 600 * NS_PER_S);
    w = read_workload(TARGET "rate: 1\nmax_vus: 4\narrivals: poisson\n", a);
    p = phase_at(&w, 0);
    assert_true(p->pre_allocated_vus == 4 && p->max_vus == 4 && p->arrivals == ARRIVALS_POISSON);
    w = read_workload(TARGET "rate: 1\nvus: 2\nmax_vus: 40\n", a);
    assert_true(phase_at(&w, 0)->pre_allocated_vus == 2 && phase_at(&w, 0)->max_vus == 40);
}

static void all_of_a_request(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload w = read_workload(
        "target: https://[::1]:8443/api\nhttp: 2-prior-knowledge\ndata: rows.csv\nid_header: X-Request-Id\n"
        "x-anchors: {a: 1}\nheaders: {Accept: \"*/*\"}\nthink: {min: 100ms, max: 2s}\nca_file: /etc/ca.pem\n"
        "requests:\n"
        "  - {name: one, path: \"/a/{{row.id}}\", weight: 3, timeout: 2s, headers: {X-Mark: \"{{uuid}}\"},\n"
        "     think: 0, expect: {status: [200, 3xx, 404-410], body: \"ok|fine\", header: \"content-type: "
        "json\"}}\n"
        "  - {method: PUT, body: \"{\\\"a\\\": {{counter}}}\", expect: 201}\n"
        "  - {method: PUT, body: \"{{ odd }\", raw: true, weight: 0}\n"
        "  - {grpc: hello.Greeter/SayHello, body_file: /m.bin, raw: true, expect: {grpc_status: 5}}\n",
        a);

    (void)state;
    const struct workload_request *r = request_at(&w, 0);
    assert_string_equal(w.data, "/w/rows.csv");
    assert_string_equal(w.ca_file, "/etc/ca.pem");
    assert_int_equal(w.http, HTTP_VERSION_2_PRIOR);
    assert_int_equal(w.think.max_ns, 2 * NS_PER_S);
    assert_true(r->think && r->think->max_ns == 0 && r->weight == 3 && r->timeout_ns == 2 * NS_PER_S);
    assert_int_equal(r->expect.status.len, 3);
    assert_string_equal(text_map_get(&r->headers, "X-Mark"), "{{uuid}}");
    assert_int_equal(r->at.line, 10);
    assert_string_equal(request_at(&w, 1)->name, "PUT /");
    assert_string_equal(request_at(&w, 1)->expect.status.items[0], "201");
    assert_string_equal(request_at(&w, 2)->name, "PUT / (2)");
    r = request_at(&w, 3);
    assert_string_equal(r->name, "hello.Greeter/SayHello");
    assert_string_equal(r->path, "/hello.Greeter/SayHello");
    assert_string_equal(r->method, "POST");
    assert_string_equal(r->body_file, "/m.bin");
    assert_int_equal(r->expect.grpc_status, 5);
}

static void numbered_names(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload w = read_workload(TARGET "requests: [{name: GET / (2)}, {}, {}, {name: last}]\n", a);

    (void)state;
    assert_string_equal(request_at(&w, 1)->name, "GET /");
    assert_string_equal(request_at(&w, 2)->name, "GET / (3)");
    assert_string_equal(request_at(&w, 3)->name, "last");
}

static void phases_and_names(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload w = read_workload(
        TARGET
        "requests: [{name: a}, {name: b, path: /b}]\n"
        "phases:\n"
        "  - {executor: constant-vus, duration: 1s, warmup: true, requests: b}\n"
        "  - {executor: constant-vus, duration: 1s, requests: [b, a], x-note: 1}\n"
        "  - {executor: ramping-arrival-rate, stages: [{duration: 1s, target: 5}], pre_allocated_vus: 3}\n"
        "  - {name: last, executor: per-vu-iterations}\n",
        a);

    (void)state;
    assert_string_equal(phase_at(&w, 0)->name, "constant-vus-1");
    assert_string_equal(phase_at(&w, 1)->name, "constant-vus-2");
    assert_string_equal(phase_at(&w, 2)->name, "ramping-arrival-rate");
    assert_string_equal(phase_at(&w, 3)->name, "last");
    assert_true(phase_at(&w, 0)->warmup && !phase_at(&w, 1)->warmup);
    assert_int_equal(phase_at(&w, 1)->requests.len, 2);
    assert_int_equal(phase_at(&w, 2)->max_vus, 3);
    assert_int_equal(phase_at(&w, 3)->iterations, 1);
    assert_int_equal(phase_at(&w, 3)->start_time_ns, SCHEMA_ABSENT);
    assert_int_equal(phase_at(&w, 3)->at.line, 7);
}

static void spelled_as_in_k6(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload_phase p =
        read_phase("{executor: ramping-arrival-rate, startTime: 3s, gracefulStop: 4s, preAllocatedVUs: 5, "
                   "maxVUs: 6, timeUnit: 1m, startRate: 7.5, stages: [{duration: 1s, target: 8}]}",
                   a);

    (void)state;
    assert_int_equal(p.start_time_ns, 3 * NS_PER_S);
    assert_int_equal(p.graceful_stop_ns, 4 * NS_PER_S);
    assert_true(p.pre_allocated_vus == 5 && p.max_vus == 6 && p.start_rate == 7.5);
    assert_int_equal(p.time_unit_ns, 60 * NS_PER_S);
    p = read_phase(
        "{executor: ramping-vus, startVUs: 9, gracefulRampDown: 0, stages: [{duration: 1s, target: 8}]}", a);
    assert_true(p.start_vus == 9 && p.graceful_ramp_down_ns == 0 && p.graceful_stop_ns == 30 * NS_PER_S);
    p = read_phase("{executor: shared-iterations, maxDuration: 1m, iterations: 3}", a);
    assert_int_equal(p.max_duration_ns, 60 * NS_PER_S);
}

static const struct {
    const char *phase, *message, *hint;
} bad_phases[] = {
    {"{}", "w.yaml:3:5: 'executor' is missing in a phase", ""},
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
     "its own keys are vus, duration"},
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
    {"{weight: 0}", "all requests of phase 'constant-vus' have weight 0", ""},
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

/* The parts by themselves, as a matrix reads them, and all problems at once. */
static void count(const struct error *err, void *data)
{
    assert_true(err->message[0]);
    ++*(int *)data;
}

static void parts(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct both {
        struct schema_list requests, phases;
    };
    static const struct schema_field fields[] = {
        FIELD("requests", LIST, both, requests, .of = &workload_request_schema),
        FIELD("phases", LIST, both, phases, .of = &workload_phase_schema),
    };
    static const struct schema schema = {.name = "both", .size = sizeof(struct both), LIST_OF(fields)};
    static const char text[] = "requests: [{path: /a}, {path: b}]\n"
                               "phases: [{executor: constant-vus, gracefulStop: 1s, duration: 1s}, {}]\n";
    const struct node *n;
    struct both both;
    struct error err = ERROR_INIT;
    int problems = 0;
    const struct schema_options o = {.report = count, .data = &problems};

    (void)state;
    assert_int_equal(tree_parse(text, strlen(text), "m.yaml", a, &n, &err), 0);
    assert_int_equal(schema_read_with(&schema, n, &o, a, &both, &err), -1);
    assert_int_equal(problems, 2);
    assert_has(err.message, "m.yaml:1:31: 'path' must begin");
}

static void statuses(void **state)
{
    int first, last;

    (void)state;
    assert_true(workload_status_range("200", &first, &last) && first == 200 && last == 200);
    assert_true(workload_status_range("5XX", &first, &last) && first == 500 && last == 599);
    assert_true(workload_status_range("200-204", &first, &last) && first == 200 && last == 204);
    static const char *const bad[] = {"",     "2",        "20",      "0xx", "xx2",   "200-",
                                      "-204", "200-2040", "204-200", "2 0", "２００"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(workload_status_range(bad[i], &first, &last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least),
        cmocka_unit_test(one_request_and_one_phase),
        cmocka_unit_test(all_of_a_request),
        cmocka_unit_test(numbered_names),
        cmocka_unit_test(phases_and_names),
        cmocka_unit_test(spelled_as_in_k6),
        cmocka_unit_test(wrong_phases),
        cmocka_unit_test(wrong_requests),
        cmocka_unit_test(wrong_workloads),
        cmocka_unit_test(passwords_stay_hidden),
        cmocka_unit_test(too_many),
        cmocka_unit_test(many_names),
        cmocka_unit_test(parts),
        cmocka_unit_test(statuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

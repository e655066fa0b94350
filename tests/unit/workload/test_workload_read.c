/* SPDX-License-Identifier: MIT */
/* What a workload may say, and what follows from it. */
#include "fixture.h"

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

/* Quadratic or worse would take seconds here. */
static void a_thousand_of_one_name(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    (void)state;
    strbuf_adds(&text, TARGET "requests: [{}, {name: GET / (500)}");
    for (int i = 2; i < 1000; i++)
        strbuf_adds(&text, ", {}");
    strbuf_adds(&text, "]\n");
    struct workload w = read_workload(strbuf_text(&text), a);
    assert_string_equal(request_at(&w, 2)->name, "GET / (2)");
    assert_string_equal(request_at(&w, 499)->name, "GET / (499)");
    assert_string_equal(request_at(&w, 500)->name, "GET / (501)");
    assert_string_equal(request_at(&w, 999)->name, "GET / (1000)");
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
        cmocka_unit_test(a_thousand_of_one_name),
        cmocka_unit_test(phases_and_names),
        cmocka_unit_test(spelled_as_in_k6),
        cmocka_unit_test(parts),
        cmocka_unit_test(statuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The rules of every section, on the settings of a matrix without axes. */
#include "fixture.h"

#include <math.h>
#include "benchctl/base/clock.h"

static void app_refused(const char *keys, const char *message, const char *hint)
{
    struct strbuf text = STRBUF_INIT;

    strbuf_addf(&text, HEAD LOAD "app: {%s}\n", keys);
    settings_refused(strbuf_text(&text), message, hint);
    strbuf_release(&text);
}

static void load_refused(const char *keys, const char *message, const char *hint)
{
    struct strbuf text = STRBUF_INIT;

    strbuf_addf(&text, HEAD APP "load: {%s}\n", keys);
    settings_refused(strbuf_text(&text), message, hint);
    strbuf_release(&text);
}

static void a_whole_container(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(
        HEAD LOAD "app:\n  image: i:1\n  build: {context: ctx, args: {A: 1}}\n  env: {PORT: "
                  "'${app.port}', no: yes}\n  command: [a, 'b c']\n"
                  "  entrypoint: sh\n  memory: 0.5g\n  swap: 64m\n  cpus: 1.5\n  cpuset: 0,2-3\n "
                  " pids: 64\n  shm: 1m\n  restart: on-failure:3\n"
                  "  port: 8080\n  ready: {http: /health, status: 204, timeout: 1m30s, "
                  "consecutive: 2, body: '^UP$'}\n  startup: {log: 'started in [0-9]+'}\n"
                  "  metrics: {path: /m, port: 9000, every: 5s, adapter: [jvm, hikari]}\n  binds: "
                  "[/a:/b:ro]\n  tmpfs: /tmp\n  user: '1000'\n"
                  "  stop_signal: SIGINT\n  init: false\n  liveness: {after: 2s, http: /live}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct container_settings c = resolve_ok(m, NULL, 0, a).app;

    (void)state;
    assert_string_equal(c.name, "app");
    assert_string_equal(c.image, "i:1");
    assert_string_equal(c.build->context, "/m/ctx");
    assert_string_equal(c.build->dockerfile, "Dockerfile");
    assert_string_equal(text_map_get(&c.build->args, "A"), "1");
    assert_string_equal(text_map_get(&c.env, "PORT"), "${app.port}");
    assert_string_equal(text_map_get(&c.env, "no"), "yes");
    assert_true(c.command.len == 2 && c.entrypoint.len == 1);
    assert_true(c.memory_bytes == 512 << 20 && c.swap_bytes == 64 << 20 && c.pids == 64 &&
                c.shm_bytes == 1 << 20);
    assert_true(c.cpus > 1.49 && c.cpus < 1.51);
    assert_string_equal(c.cpuset, "0,2-3");
    assert_true(c.restart == RESTART_MODE_ON_FAILURE && c.restart_max == 3);
    assert_string_equal(c.restart_text, "on-failure:3");
    assert_int_equal(c.port, 8080);
    assert_string_equal(c.ready->http, "/health");
    assert_true(c.ready->status == 204 && c.ready->timeout_ns == 90 * NS_PER_S && c.ready->consecutive == 2 &&
                !c.ready->tcp);
    assert_string_equal(c.ready->body, "^UP$");
    assert_true(c.liveness->after_ns == 2 * NS_PER_S &&
                c.liveness->give_up_ns == LIVENESS_GIVE_UP_S * NS_PER_S);
    assert_string_equal(c.liveness->http, "/live");
    assert_string_equal(c.startup->log, "started in [0-9]+");
    assert_true(c.metrics->port == 9000 && c.metrics->every_ns == 5 * NS_PER_S);
    assert_int_equal(c.metrics->adapters.len, 2);
    assert_string_equal(c.metrics->adapters.items[1], "hikari");
    assert_string_equal(c.tmpfs.items[0], "/tmp");
    assert_string_equal(c.user, "1000");
    assert_false(c.init);
    assert_int_equal(c.at.line, 5);
}

static void defaults(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(HEAD LOAD "app: {image: i}\nservices: {s: {image: j, port: 1}}\n"
                                             "database: {service: {image: p}}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct settings s = resolve_ok(m, NULL, 0, a);
    const struct container_settings *service = s.services.items;

    (void)state;
    assert_true(s.app.memory_bytes == SIZE_UNLIMITED && s.app.swap_bytes == 0 && isnan(s.app.cpus) &&
                s.app.pids == SCHEMA_ABSENT);
    assert_true(s.app.restart == RESTART_MODE_NO && s.app.init && !s.app.ready &&
                s.app.port == SCHEMA_ABSENT && !s.app.metrics);
    assert_string_equal(service->name, "s");
    assert_true(service->scope == SCOPE_TRIAL && service->ready->tcp &&
                service->ready->timeout_ns == 60 * NS_PER_S);
    assert_string_equal(s.database->service->name, "database");
    assert_true(!s.database->service->ready && s.database->reset == RESET_TEMPLATE);
    assert_string_equal(s.database->name, "bench");
    assert_string_equal(s.load.target, "${app.url}");
    assert_string_equal(s.load.path, "/");
    assert_true(!s.load.warmup && !s.load.options && s.load.timeout_ns == 30 * NS_PER_S &&
                s.load.max_error_rate < 0.0101);
    assert_true(s.network == NETWORK_BRIDGE && s.cooldown.time_ns == 0 && s.timeout_ns == 1800 * NS_PER_S &&
                s.retry == 1);
    assert_true(s.sample.engine_ns == SCHEMA_ABSENT && s.sample.host_ns == NS_PER_S);
}

static void container_rules(void **state)
{
    (void)state;
    app_refused("port: 80", "m.yaml:4:6: neither 'image' nor 'build' is given", "");
    app_refused("image: 'a b'", "'a b' is not the name of an image", "");
    app_refused("image: ''", "'' is not the name of an image", "");
    app_refused("image: i, memory: 256", "m.yaml:4:25: 'memory': size '256' has no unit",
                "other tools would take it as 256 bytes");
    app_refused("image: i, memory: 4m", "m.yaml:4:25: 'memory': 4m is below 6m", "unlimited");
    app_refused("image: i, memory: 0", "'memory': 0 is below 6m", "");
    app_refused("image: i, memory: -256m", "'memory'", "");
    app_refused("image: i, memory: 1e3m", "'memory'", "");
    app_refused("image: i, memory: 512 m", "'memory'", "");
    app_refused("image: i, swap: 64", "'swap': size '64' has no unit", "");
    app_refused("image: i, cpus: 0", "'cpus' must be from 0.01", "");
    app_refused("image: i, cpus: -1", "'cpus'", "");
    app_refused("image: i, cpus: two", "m.yaml:4:23: 'cpus'", "");
    app_refused("image: i, pids: 0", "'pids' must be from 1", "");
    app_refused("image: i, port: 0", "'port' must be from 1 to 65535, not 0", "");
    app_refused("image: i, port: 65536", "'port' must be from 1 to 65535, not 65536", "");
    app_refused("image: i, port: 08080", "'port'", "");
    app_refused("image: i, port: '80:80'", "'port'", "");
    app_refused("image: i, port: 80, ready: {tcp: true, body: UP}", "'body' is of an answer", "");
    app_refused("image: i, port: 80, ready: {http: /, body: '(a'}", "'body'", "");
    app_refused("image: i, port: 80, liveness: {after: 10}", "'after'", "");
    app_refused("image: i, port: 80, liveness: {after: 5s, give_up: 4s}", "'give_up' is shorter than 'after'",
                "0 never gives up");
    app_refused("image: i, liveness: {http: /live}", "'liveness' by http needs a 'port'", "");
    app_refused("image: i, port: 80, liveness: {http: live}", "'http'", "");
    app_refused("image: i, port: 80, liveness: {afer: 1s}", "unknown key 'afer'", "did you mean 'after'?");
    app_refused("image: i, memroy: 1g", "m.yaml:4:17: unknown key 'memroy' in app", "did you mean 'memory'?");
    app_refused("image: i, scope: trial", "unknown key 'scope' in app", "");
    app_refused("image: i, settings: {}", "unknown key 'settings' in app", "");
    app_refused("image: i, init: yes", "'init' must be true or false, not 'yes'", "");
    app_refused("image: i, env: {A: ~}", "'A' has no value", "\"\"");
    app_refused("image: i, env: {'A=B': x}", "'A=B' cannot be the name of a variable", "");
    app_refused("image: i, env: {'': x}", "'' cannot be the name of a variable", "");
    app_refused("image: i, command: run the app", "'command' is one word with blanks in it",
                "one item a word");
    app_refused("image: i, binds: ['./a:/b']", "'./a:/b' is not a bind mount", "/ABSOLUTE");
    app_refused("image: i, tmpfs: tmp", "'tmp' must be an absolute path", "");
    app_refused("build: {}", "'context' is missing in build", "");
    app_refused("build: {context: a, dokerfile: b}", "unknown key 'dokerfile' in build",
                "did you mean 'dockerfile'?");
    settings_accepted(HEAD LOAD "app: {image: i, memory: 6m}");
    settings_accepted(HEAD LOAD
                      "app: {image: 'r.example:5000/a/b@sha256:0123', memory: unlimited, swap: unlimited}");
}

static void restart_policies(void **state)
{
    static const struct {
        const char *text;
        enum restart_mode mode;
        int max;
    } good[] = {{"no", RESTART_MODE_NO, 0},
                {"on-failure", RESTART_MODE_ON_FAILURE, 0},
                {"\"on-failure:5\"", RESTART_MODE_ON_FAILURE, 5},
                {"always", RESTART_MODE_ALWAYS, 0},
                {"unless-stopped", RESTART_MODE_UNLESS_STOPPED, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        CLEANUP(arena_free) struct arena *a = arena_new();
        char text[200];
        (void)snprintf(text, sizeof(text), HEAD LOAD "app: {image: i, restart: %s}", good[i].text);
        CLEANUP(matrix_free) struct matrix *m = read_matrix(text);
        struct settings s = resolve_ok(m, NULL, 0, a);
        assert_true(s.app.restart == good[i].mode && s.app.restart_max == good[i].max);
    }
    app_refused("image: i, restart: never", "m.yaml:4:26: 'restart' must be no, on-failure, on-failure:N",
                "");
    app_refused("image: i, restart: onfailure", "'restart' must be", "did you mean 'on-failure'?");
    app_refused("image: i, restart: 'on-failure:'", "'restart' must be", "");
    app_refused("image: i, restart: 'on-failure:0'", "'restart' must be", "");
    app_refused("image: i, restart: 'on-failure:03'", "'restart' must be", "");
    app_refused("image: i, restart: 'on-failure:-1'", "'restart' must be", "");
    app_refused("image: i, restart: 'always:3'", "'restart' must be", "");
    app_refused("image: i, restart: ~", "'restart' has no value", "");
}

static void readiness(void **state)
{
    (void)state;
    app_refused("image: i, port: 80, ready: {http: health}",
                "m.yaml:4:41: 'http' must be a path that begins with '/'", "/health");
    app_refused("image: i, port: 80, ready: {http: 'http://x/'}", "'http' must be a path", "only the path");
    app_refused("image: i, port: 80, ready: {http: '/a b'}", "'http' must be a path", "");
    app_refused("image: i, port: 80, ready: {http: /, tcp: true}", "'ready' names 2 ways",
                "null takes a key away");
    app_refused("image: i, port: 80, ready: {tcp: false}", "'ready' says nothing of how to tell", "");
    app_refused("image: i, ready: {timeout: 5s}", "'ready' says nothing of how to tell", "");
    app_refused("image: i, ready: {http: /}", "'ready' by http needs a 'port'", "");
    app_refused("image: i, ready: {tcp: true}", "'ready' by tcp needs a 'port'", "");
    app_refused("image: i, port: 80, ready: {http: /, status: 99}", "'status' must be from 100 to 599", "");
    app_refused("image: i, port: 80, ready: {http: /, timeout: 30}", "'timeout': duration '30' has no unit",
                "30s");
    app_refused("image: i, ready: {log: 'a('}",
                "m.yaml:4:30: 'log': bad regular expression 'a(': ", "backslash");
    app_refused("image: i, ready: {log: ''}", "'log' is empty", "");
    app_refused("image: i, startup: {log: '['}", "'log': bad regular expression", "");
    app_refused("image: i, startup: {log: '(((a{1,255}){1,255}){1,255}){1,255}'}", "repeats too much", "");
    app_refused("image: i, ready: {log: '(a*)*\\1b'}", "m.yaml:4:30: 'log': regular expression '(a*)*\\1b' ",
                "no back references");
    app_refused("image: i, startup: {log: '(x)\\1'}",
                "'log': regular expression '(x)\\1' has a back reference", "");
    app_refused("image: i, startup: {}", "'log' is missing in startup", "");
    app_refused("image: i, metrics: {}", "'metrics' needs a 'port'", "");
    app_refused("image: i, port: 80, metrics: {path: metrics}", "'path' must be a path that begins with '/'",
                "");
    app_refused("image: i, port: 80, metrics: {adapter: ../x}",
                "'../x' cannot be the name of a metric adapter", "");
    app_refused("image: i, port: 80, metrics: {adapter: [jvm, ../x]}",
                "'../x' cannot be the name of a metric adapter", "");
    app_refused("image: i, port: 80, metrics: {every: 1ms}", "'every' must be from 100ms", "");
    settings_accepted(HEAD LOAD "app: {image: i, port: 80, ready: {timeout: 5s}}");
    settings_accepted(HEAD LOAD "app: {image: i, ready: {log: 'listening on .*'}}");
    settings_accepted(HEAD LOAD "app: {image: i, ready: {healthcheck: true}}");
}

static void cpu_lists(void **state)
{
    static const char *const bad[] = {"''",   "a",     "1-",    "-1",    "3-2", "'0,'",
                                      "',0'", "0-1-2", "99999", "'0 1'", "1.5", "'0,,1'"};
    static const char *const good[] = {"0", "0-3", "'0,2-3,5'", "8191"};
    char keys[100];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        (void)snprintf(keys, sizeof(keys), "image: i, cpuset: %s", bad[i]);
        app_refused(keys, "is not a list of CPUs", "0,2-3");
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        (void)snprintf(keys, sizeof(keys), HEAD LOAD "app: {image: i, cpuset: %s}", good[i]);
        settings_accepted(keys);
    }
}

static void services(void **state)
{
    static const char *const reserved[] = {"app", "database", "load", "env", "secret", "vars", "a.b", "-a"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++) {
        char text[200];
        (void)snprintf(text, sizeof(text), HEAD REST "services: {%s: {image: i}}", reserved[i]);
        settings_refused(text, i < 6 ? "a service cannot be called" : "cannot be the name of a service", "");
    }
    settings_refused(HEAD REST "services: {a: {port: 1}}", "m.yaml:5:15: neither 'image' nor 'build'", "");
    settings_refused(HEAD REST "services: {a: {image: i, scope: always}}", "'scope' must be trial or sweep",
                     "");
    settings_refused(HEAD REST "services: [a]", "'services' must be a map, not a list", "");
    matrix_refused(HEAD REST "services: {a: {image: i}, a: {image: j}}", "duplicate key 'a'", "");
    settings_accepted(HEAD REST
                      "services: {x-anchor: {anything: 1}, mock: {image: i, scope: sweep, port: 9090}}");
}

static void databases(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(HEAD REST "database: {url: 'postgresql://u@h/d', name: n, schema: [a.sql, "
                                             "/b.sql], reset: truncate, statement_timeout: 5m}");
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct database_settings *d = resolve_ok(m, NULL, 0, a).database;

    (void)state;
    assert_string_equal(d->schema.items[0], "/m/a.sql");
    assert_string_equal(d->schema.items[1], "/b.sql");
    assert_true(d->reset == RESET_TRUNCATE && d->statement_timeout_ns == 300 * NS_PER_S && !d->service);
    settings_refused(HEAD REST "database: {name: x}", "the database has neither 'service' nor 'url'",
                     "exactly one");
    settings_refused(HEAD REST "database: {url: 'postgres://h/', service: {image: p}}",
                     "the database has both 'service' and 'url'", "");
    settings_refused(HEAD REST "database: {url: 'mysql://h/'}", "'url' is not a Postgres URL", "");
    settings_refused(HEAD REST "database: {service: {image: p}, reset: tmplate}",
                     "'reset' must be template, truncate, recreate or none", "did you mean 'template'?");
    settings_refused(HEAD REST "database: {service: {image: p, settings: {fsync: [off]}}}",
                     "'fsync' must be text, not a list", "");
    settings_refused(HEAD REST "database: {service: {}}", "neither 'image' nor 'build' is given", "");
    settings_refused(HEAD REST "database: {service: {image: p}, name: ''}", "'name' is empty", "");
    settings_accepted(HEAD REST "database: {url: '${secret:DB}'}");
    settings_accepted(HEAD REST "database: {url: host=/tmp dbname=x}");
    settings_accepted(HEAD REST "database: {service: {image: p, settings: {fsync: off, work_mem: 4MB}}}");
}

static void loads(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m =
        read_matrix(HEAD APP "load: {adapter: k6, image: 'k:1', script: l.js, warmup: {duration: 5s}, "
                             "duration: 2m, vus: 50, x-y: 1, "
                             "tags: {a: b}, max_error_rate: 0.5, env: {A: b}, target: 'http://h', path: /p}");
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct load_settings l = resolve_ok(m, NULL, 0, a).load;

    (void)state;
    assert_string_equal(l.script, "/m/l.js");
    assert_int_equal(l.warmup->duration_ns, 5 * NS_PER_S);
    assert_int_equal(l.options->len, 2);
    assert_string_equal(node_get(l.options, "vus")->text, "50");
    assert_string_equal(l.target, "http://h");
    load_refused("duration: 5s", "'adapter' is missing in the load section", "");
    load_refused("adapter: wrk", "m.yaml:4:7: 'duration' is missing in the load section", "duration: 30s");
    load_refused("adapter: ../wrk, duration: 1s", "'../wrk' cannot be the name of a load adapter", "");
    load_refused("adapter: wrk, duration: 0", "'duration' must be from 1ms", "");
    load_refused("adapter: wrk, duration: 10", "'duration': duration '10' has no unit", "");
    load_refused("adapter: wrk, duration: 1s, max_error_rate: 1.5", "'max_error_rate' must be from 0 to 1",
                 "");
    load_refused("adapter: wrk, duration: 1s, max_error_rate: -0.1", "'max_error_rate'", "");
    load_refused("adapter: wrk, duration: 1s, warmup: 5s", "warmup must be a map, not text", "");
    load_refused("adapter: wrk, duration: 1s, warmup: {}", "'duration' is missing in warmup", "");
    load_refused("adapter: wrk, duration: 1s, path: x", "'path' must be a path that begins with '/'", "");
    load_refused("adapter: wrk, duration: 1s, cpuset: x", "'x' is not a list of CPUs", "");
    load_refused("adapter: wrk, duration: 1s, memory: 1m", "'memory': 1m is below 6m", "");
    load_refused("adapter: builtin, duration: 1s, phases: []",
                 "'phases' must be a list with at least one item", "");
    load_refused("adapter: builtin, duration: 1s, reqests: []", "unknown key 'reqests'",
                 "did you mean 'requests'?");
    load_refused("adapter: wrk, duration: 1s, requests: [{path: /}]",
                 "m.yaml:4:46: 'requests' is for the built-in generator", "with adapter: builtin");
    load_refused("adapter: bultin, duration: 1s, requests: [{path: /}]",
                 "m.yaml:4:17: unknown load adapter 'bultin'", "did you mean 'builtin'?");
    load_refused("adapter: builtin, duration: 1s, script: x.js", "'script' is not for the built-in generator",
                 "requests and phases");
    load_refused("adapter: builtin, vus: 2", "'duration' is missing in the load section", "duration: 30s");
    load_refused("adapter: builtin, duration: 1s, phases: [{executor: constant-vus, duration: 1s}]",
                 "m.yaml:4:26: 'duration' is for a workload without 'phases'", "inside 'phases'");
    load_refused("adapter: builtin, phases: [{executor: constant-vu, duration: 1s}]",
                 "m.yaml:4:46: 'executor' must be constant-vus", "did you mean 'constant-vus'?");
    load_refused("adapter: builtin, duration: 1s, requests: [{path: /, status: 200}]",
                 "m.yaml:4:61: unknown key 'status'", "");
    load_refused("adapter: builtin, duration: 1s, requests: [{path: '/{{cuonter}}'}]",
                 "m.yaml:4:58: ", "did you mean");
    load_refused("adapter: builtin, duration: 1s, timeout: 1s, request_timeout: 5", "'timeout': duration '5'",
                 "");
    load_refused("adapter: builtin, duration: 1s, target: 'ftp://${app.host}/'", "", "");
    settings_accepted(
        HEAD APP
        "load: {adapter: builtin, phases: [{executor: constant-vus, duration: 1s}], requests: [{path: /}]}");
    settings_accepted(HEAD APP
                      "load: {adapter: builtin, vus: 4, duration: 1s, request_timeout: 5s, timeout: 9s, "
                      "headers: {X-Key: '${secret:KEY}'}, target: 'https://${app.host}:8443'}");
    settings_accepted(HEAD APP "load: {adapter: builtin, iterations: 4}");
}

/* By the names that they have in a matrix, not in the file of `benchctl load`. */
static void keys_of_the_builtin_generator(void **state)
{
    (void)state;
    load_refused("adapter: builtin, duration: 1s, timeot: 5s",
                 "m.yaml:4:40: unknown key 'timeot' in the load section",
                 "did you mean 'request_timeout', of a request, or 'timeout'");
    load_refused("adapter: builtin, duration: 1s, request_timout: 5s", "unknown key 'request_timout'",
                 "'request_timeout'");
    load_refused("adapter: builtin, duration: 1s, conections: 5", "unknown key 'conections'",
                 "said by 'vus'");
    load_refused("adapter: builtin, duration: 1s, conect_timeout: 5s", "unknown key",
                 "did you mean 'connect_timeout'?");
    load_refused("adapter: builtin, duration: 1s, zzzzz: 5", "unknown key 'zzzzz'",
                 "known here: request_timeout, adapter");
    load_refused("adapter: builtin, duration: 1s, stages: []", "unknown key 'stages'",
                 "belongs into one of the 'phases'");
    load_refused("adapter: builtin, duration: 1s, scenarios: {}", "unknown key 'scenarios'", "phases: [");
    settings_accepted(HEAD APP "load: {adapter: builtin, duration: 1s, x-mine: 1}");
}

static void phases_that_are_a_warm_up(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(
        HEAD APP "load: {adapter: builtin, phases: [{executor: constant-vus, duration: 2s, warmup: true},\n"
                 "  {executor: shared-iterations, max_duration: 1s, warmup: true},\n"
                 "  {executor: constant-vus, duration: 4s, vus: 7}, {executor: constant-vus,\n"
                 "  start_time: 5s, duration: 3s}]}");
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct load_settings l = resolve_ok(m, NULL, 0, a).load;
    struct workload part;

    (void)state;
    assert_int_equal(l.duration_ns, 5 * NS_PER_S); /* of what is measured */
    matrix_workload_part(l.workload, true, a, &part);
    assert_int_equal(part.phases.len, 2);
    assert_int_equal(workload_duration_ns(&part), 3 * NS_PER_S);
    matrix_workload_part(l.workload, false, a, &part);
    const struct workload_phase *p = part.phases.items;
    assert_int_equal(part.phases.len, 2);
    assert_int_equal(p[0].vus, 7);
    assert_string_equal(p[0].name, "constant-vus-2"); /* as in the whole */
    assert_int_equal(p[0].start_time_ns, SCHEMA_ABSENT);
    assert_int_equal(p[1].start_time_ns, 2 * NS_PER_S);
    load_refused(
        "adapter: builtin, phases: [{executor: constant-vus, duration: 1s}, {executor: constant-vus, "
        "duration: 2s, name: late, warmup: true}]",
        "m.yaml:4:134: phase 'late' is a warm-up, but not at the beginning", "put them first");
    load_refused("adapter: builtin, phases: [{executor: constant-vus, duration: 1s, warmup: true}]",
                 "m.yaml:4:", "");
    load_refused(
        "adapter: builtin, warmup: {duration: 1s}, phases: [{executor: constant-vus, duration: 1s, warmup: "
        "true}, {executor: constant-vus, duration: 1s}]",
        "m.yaml:4:34: 'warmup' of the load and phases with 'warmup: true' exclude each other",
        "leave one of them away");
    load_refused(
        "adapter: builtin, phases: [{executor: constant-vus, duration: 2s, warmup: true}, {executor: "
        "constant-vus, name: early, duration: 1s, start_time: 1s}]",
        "phase 'early' begins while a warm-up phase goes on", "the warm-up takes 2s");
    settings_accepted(HEAD APP
                      "load: {adapter: builtin, warmup: {duration: 1s}, phases: [{executor: constant-vus, "
                      "duration: 1s, warmup: false}]}");
}

#define SERVED(more, settings)                                                                               \
    HEAD REST "database: {connections: " more ", service: {image: postgres, settings: {" settings "}}}\n"

/* Pools that the server cannot hold are told before anything runs, with all figures. */
static void connections_fit_the_server(void **state)
{
    (void)state;
    settings_accepted(SERVED("95", "max_connections: '100'"));
    settings_refused(SERVED("96", "max_connections: '100'"),
                     "96 connections of the application, 2 of benchctl and 3 reserved ones are more than "
                     "max_connections, 100",
                     "pools smaller");
    settings_accepted(SERVED("96", "max_connections: '100', superuser_reserved_connections: '2'"));
    settings_accepted(SERVED("5000", "fsync: 'off'")); /* the server is asked */
    settings_refused(SERVED("0", "fsync: 'off'"), "connections", "");
}

static void hostile_texts_are_shown_safely(void **state)
{
    (void)state;
    app_refused("image: \"a\\e[2J\\nb\"", "'a\\x1b[2J\\nb' is not the name of an image", "");
    app_refused("image: i, restart: \"\\u202Eno\"", "not '\\xe2\\x80\\xaeno'", "");
    app_refused("image: i, mem: 64m", "unknown key 'mem'", "did you mean 'memory'?");
    app_refused("image: i, environment: {A: 1}", "unknown key 'environment'", "did you mean 'env'?");
    app_refused("image: i, readiness: {tcp: true}", "unknown key 'readiness'", "did you mean 'ready'?");
    app_refused("image: i, healthcheck: true", "unknown key 'healthcheck'",
                "'healthcheck' belongs into 'ready'");
    load_refused("adapter: idle, duration: 1s, warmup: 5s", "warmup must be a map, not text",
                 "for instance warmup: {duration: 5s}");
    load_refused("adapter: idle, duration: 1s, warmup: x", "warmup must be a map, not text",
                 "for instance warmup: {duration: 30s}");
    app_refused("image: i, \"me\\tory\": 1", "unknown key 'me\\tory'", "did you mean");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_container),
        cmocka_unit_test(defaults),
        cmocka_unit_test(container_rules),
        cmocka_unit_test(restart_policies),
        cmocka_unit_test(readiness),
        cmocka_unit_test(cpu_lists),
        cmocka_unit_test(services),
        cmocka_unit_test(databases),
        cmocka_unit_test(loads),
        cmocka_unit_test(keys_of_the_builtin_generator),
        cmocka_unit_test(phases_that_are_a_warm_up),
        cmocka_unit_test(connections_fit_the_server),
        cmocka_unit_test(hostile_texts_are_shown_safely),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

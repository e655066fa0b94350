/* SPDX-License-Identifier: MIT */
/* What is said of a whole trial: checks, gates, artifacts, its time. */
#include "fixture.h"

static void checks_and_gates(void **state)
{
    static const char *const good[] = {"load.error_rate <= 0.01",      "load.rps>=1e3",
                                       " app.restarts  ==  0 ",        "startup_ms < 1.5s",
                                       "app.memory_bytes.peak < 200m", "load.ok != 5"};
    static const char *const bad[] = {
        "load.error_rate",      "<= 5", "load.ok = 5", "load.ok <= ", "load.ok <= many",
        "load.ok < 5 and more", ""};
    char text[300];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        (void)snprintf(text, sizeof(text), HEAD REST "expect: ['%s']", good[i]);
        settings_accepted(text);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        (void)snprintf(text, sizeof(text), HEAD REST "expect: ['load.ok > 0', '%s']", bad[i]);
        settings_refused(text, "m.yaml:5:25: '", "load.error_rate <= 0.01");
    }
    settings_refused(HEAD REST "expect: 'app.memory_bytes.used_peak < 200'",
                     "m.yaml:5:9: 'app.memory_bytes.used_peak < 200': 200 would be so many bytes",
                     "200m for MiB");
    settings_refused(HEAD REST "expect: 'app.memory_bytes<=0.5'", "0.5 would be so many bytes", "0.5m");
    settings_accepted(HEAD REST
                      "expect: ['app.memory_bytes.used_peak < 200m', 'app.memory_bytes.used_peak > 0', "
                      "'app.memory_bytes.used_peak < 4096', 'x.a_bytes < 200b', 'x.bytesome < 5', "
                      "'x.a_bytesome < 5']");
#define DB "database: {url: 'postgres://h/'}\n"
    settings_refused(HEAD REST DB "checks: [{name: a, sql: select 1, expect: 'x == 0'}]",
                     "'x == 0' is not an expectation", "== 0");
    settings_refused(HEAD REST DB "checks: [{name: a, sql: s}, {name: a, sql: t}]",
                     "check 'a' is given twice, first on line 6", "");
    settings_refused(HEAD REST DB "checks: [{name: a}]", "neither 'sql' nor 'value'", "exactly one");
    settings_refused(HEAD REST DB "checks: [{name: a, sql: s, value: '1'}]", "both 'sql' and 'value'", "");
    settings_refused(HEAD REST "checks: [{name: a, sql: s}]", "check 'a' is a query and needs a database",
                     "'value'");
    settings_accepted(HEAD REST
                      "checks: [{name: a, value: '${load.requests} - ${load.ok}', expect: '>= 0'}]");
    settings_accepted(HEAD REST DB
                      "checks: [{name: a, sql: 'select ${load.ok}', expect: '== 0'}, {name: b, sql: s}]");
    settings_refused(HEAD REST "artifacts: [{from: ap, path: /x}]", "m.yaml:5:20: there is no container 'ap'",
                     "");
    settings_refused(HEAD REST "artifacts: [{from: database, path: /x}]", "there is no container 'database'",
                     "");
    settings_refused(HEAD REST "artifacts: [{from: app, path: x}]", "'x' must be an absolute path", "");
    settings_accepted(HEAD REST "artifacts: [{from: app, path: /tmp/gc.log}]");
    settings_refused(HEAD REST "sample: {engine: 1ms}", "'engine' must be from 10ms", "");
    settings_refused(HEAD REST "network: none", "'network' must be bridge or host, not 'none'", "");
    settings_refused(HEAD REST "cooldown: 5", "'cooldown': duration '5' has no unit", "");
    settings_refused(HEAD REST "cooldown: {time: 5}", "duration '5' has no unit", "");
    settings_refused(HEAD REST "cooldown: {temperature: 60}", "'60' is no temperature", "+3C");
    settings_refused(HEAD REST "cooldown: {temperature: 900C}", "is no temperature", "");
    settings_refused(HEAD REST "cooldown: {load: 0}", "must be above 0", "");
    settings_refused(HEAD REST "cooldown: {time: 5m, at_most: 1m}", "'at_most' is shorter than 'time'", "");
    settings_accepted(HEAD REST "cooldown: {time: 5s, temperature: +3C, load: 0.5, sockets: true}");
    settings_accepted(HEAD REST "cooldown: 1h");
    settings_refused(HEAD REST "retry: -1", "'retry' must be from 0 to 100, not -1", "");
}

static void a_trial_has_time_for_its_load(void **state)
{
    (void)state;
#define APP_OF_IT "app: {image: i, port: 80}\n"
    settings_refused(
        HEAD APP_OF_IT "load: {adapter: idle, duration: 2s}\ntimeout: 1s\n",
        "m.yaml:5:10: 'timeout': 1s, the limit of a whole trial, is shorter than the load, which "
        "takes 2s",
        "give it time");
    settings_refused(HEAD APP_OF_IT
                     "load: {adapter: idle, duration: 2s, warmup: {duration: 1s}}\ntimeout: 3s\n",
                     "is no longer than the load, which takes 3s with its warm-up", "give it time");
    settings_refused(HEAD APP_OF_IT "load: {adapter: idle, duration: 30m}\n", "m.yaml:4:7: 'timeout': 30m",
                     "");
    settings_refused(HEAD APP_OF_IT
                     "load: {adapter: builtin, phases: [{executor: constant-vus, duration: 2s}, "
                     "{executor: constant-vus, duration: 1s}]}\ntimeout: 3s\n",
                     "takes 3s", "give it time");
    settings_accepted(HEAD APP_OF_IT "load: {adapter: idle, duration: 2s}\ntimeout: 2001ms\n");
    settings_accepted(HEAD APP_OF_IT "load: {adapter: idle, duration: 1h}\ntimeout: 2h\ncooldown: 3h\n");
    settings_accepted(HEAD APP_OF_IT "load: {adapter: builtin, iterations: 10}\ntimeout: 1s\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_and_gates),
        cmocka_unit_test(a_trial_has_time_for_its_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

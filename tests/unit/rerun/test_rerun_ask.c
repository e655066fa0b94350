/* SPDX-License-Identifier: MIT */
/* What a bundle may have, and what it only gets from those who trust it. */
#include "benchctl/rerun.h"
#include "support/scratch.h"
#include "unit/check.h"

#define ROOT "/usr" /* is there; nothing of it is read */

/* A small scenario that asks for nothing. */
static struct settings modest(void)
{
    return (struct settings){.app = {.name = "app", .image = "app:1"},
                             .load = {.adapter = "builtin", .target = "${app.url}"}};
}

struct given {
    struct settings s;
    bool generator_here;
    const char *root;
};

/* All reasons, a line each; the caller frees. */
static char *asked(const struct given *g)
{
    const struct rerun_asked a = {.scenario = "s",
                                  .root = g->root ? g->root : ROOT,
                                  .settings = &g->s,
                                  .generator_here = g->generator_here};
    CLEANUP_VALUE(rerun_reasons_release) struct rerun_reasons r = {0};
    struct strbuf all = STRBUF_INIT;

    rerun_ask(&a, &r);
    rerun_ask(&a, &r); /* said once */
    vec_each (i, &r.items)
        strbuf_addf(&all, "%s\n", *i);
    return strbuf_detach(&all);
}

static void expect(const struct given *g, const char *all)
{
    CLEANUP_FREE char *text = asked(g);

    assert_string_equal(text, all);
}

static void ordinary_things(void **state)
{
    struct text_pair env[] = {{.key = "A", .value = "b"}};
    struct build_settings build = {.context = ROOT "/app", .dockerfile = "docker/Dockerfile"};
    const char *schema[] = {ROOT "/bench/../db/a.sql"};
    struct container_settings database = {.name = "database", .image = "postgres:16", .env = {env, 1}};
    struct database_settings d = {.service = &database, .schema = {schema, 1}};
    struct given g = {.s = modest()};

    (void)state;
    g.s.app.build = &build;
    g.s.app.env = (struct text_map){env, 1};
    g.s.database = &d;
    g.s.load.script = ROOT "/bench/load.js";
    g.s.load.image = "grafana/k6"; /* in a container it may do as it likes, with an environment too */
    g.s.load.env = (struct text_map){env, 1};
    g.s.load.adapter = "k6";
    expect(&g, "");
}

static void parts_of_the_machine(void **state)
{
    const char *binds[] = {"/:/host", "/run/docker.sock:/s"}, *more[] = {"/dev:/dev"};
    struct container_settings service[] = {{.name = "mock", .image = "m", .binds = {more, 1}}};
    struct given g = {.s = modest()};

    (void)state;
    g.s.network = NETWORK_HOST;
    g.s.app.binds = (struct text_list){binds, 2};
    g.s.services = (struct schema_list){.items = service, .len = 1};
    expect(&g, "its containers share the network of this machine\n"
               "'app' mounts a part of this machine: '/:/host'\n"
               "'app' mounts a part of this machine: '/run/docker.sock:/s', the engine's socket\n"
               "'mock' mounts a part of this machine: '/dev:/dev'\n");
}

static void files_of_the_machine(void **state)
{
    struct build_settings build = {.context = ROOT "/../app", .dockerfile = "../../../etc/x"};
    const char *schema[] = {"/etc/passwd", ROOT "/a/../../b.sql", "/usrogue/a.sql",
                            ROOT "/${database.name}.sql"};
    struct database_settings d = {.url = "postgresql://u:hidden@somewhere/x", .schema = {schema, 4}};
    struct given g = {.s = modest()};

    (void)state;
    g.s.app.build = &build;
    g.s.database = &d;
    CLEANUP_FREE char *text = asked(&g);
    assert_has(text, "a build context is a file of this machine: '/usr/../app'");
    assert_has(text, "a Dockerfile is a file of this machine");
    assert_has(text, "a schema is a file of this machine: '/etc/passwd'");
    assert_has(text, "a schema is a file of this machine: '/usr/a/../../b.sql'");
    assert_has(text, "a schema is a file of this machine: '/usrogue/a.sql'");
    assert_has(text, "known only while it runs: '/usr/${database.name}.sql'");
    assert_has(text, "a database on a server of its choice: 'postgresql://u:***@somewhere/x'");
}

/* What a path says is not where it leads to: ctx/a/b/l is allowed, for it leads to the top of ctx. */
static void files_behind_links(void **state)
{
    const char *names[] = {
        "ctx/a/b/l/../../../etc/passwd", "ctx/a/b/l/../x", "ctx/out/passwd", "ctx/nowhere", "ctx/nowhere/x",
    };
    CLEANUP_FREE char *fine = path_join(*state, "ctx/a/b/l/more");

    put(*state, "ctx/a/b/x", "x");
    put(*state, "ctx/more/x", "x");
    assert_int_equal(
        shell("cd '%s/ctx' && ln -s ../.. a/b/l && ln -s /etc out && ln -s /nowhere/at/all nowhere",
              (char *)*state),
        0);
    for (size_t i = 0; i < ARRAY_LEN(names) + 1; i++) {
        CLEANUP_FREE char *path = i < ARRAY_LEN(names) ? path_join(*state, names[i]) : xstrdup(fine);
        struct build_settings build = {.context = path, .dockerfile = "Dockerfile"};
        struct workload w = {.path = "/", .body_file = path, .data = path, .ca_file = path};
        const char *schema[] = {path};
        struct database_settings d = {.schema = {schema, 1}};
        struct given g = {.s = modest(), .root = *state};
        g.s.app.build = &build;
        g.s.database = &d;
        g.s.load.workload = &w;
        g.s.load.script = path;
        if (i == ARRAY_LEN(names)) /* a directory */
            w.body_file = NULL;
        CLEANUP_FREE char *text = asked(&g);
        if (i == ARRAY_LEN(names)) {
            assert_string_equal(text, "");
            continue;
        }
        assert_has(text, "a build context is a file of this machine");
        assert_has(text, "a Dockerfile is a file of this machine");
        assert_has(text, "a schema is a file of this machine");
        assert_has(text, "a request's body is a file of this machine");
        assert_has(text, "the rows of the load is a file of this machine");
        assert_has(text, "a certificate is a file of this machine");
        assert_has(text, "a load script is a file of this machine");
    }
}

static void targets(void **state)
{
    static const char *const own[] = {
        "${app.url}",
        "${app.url}/x?y=http://z",
        "http://${app.host}:${app.port}/a",
        "http://${mock-2.host}:80",
        "https://${app.host}",
        "${app.host}:9090",
        "${app.host}:${app.port}",
    };
    static const char *const strange[] = {
        "http://example.org",
        "http://127.0.0.1:2375",
        "http://${app.host}.example.org",
        "http://${app.host}@example.org",
        "http://${app.host}:80@example.org/",
        "http://${app.host}:${app.port}@example.org/",
        "http://${app.host}:x@example.org",
        "${app.url}.example.org",
        "${app.url}@example.org",
        "http://${app.url}",
        "http://x${app.host}",
        "ftp://${app.host}",
        "${app.name}",
        "${env:X}",
        "${secret:url}",
        "${a.b.url}",
        "${app.url",
        "",
        "http://example.org/${app.url}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (!rerun_target_is_own(own[i]))
            fail_msg("refused: %s", own[i]);
    for (size_t i = 0; i < ARRAY_LEN(strange); i++)
        if (rerun_target_is_own(strange[i]))
            fail_msg("taken: %s", strange[i]);
}

static struct node *text_node(struct arena *a, const char *text)
{
    return node_new_text(a, text, (struct position){0});
}

static void programs_of_the_machine(void **state)
{
    struct text_pair env[] = {{.key = "LD_PRELOAD", .value = "x.so"}};
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct given g = {.s = modest(), .generator_here = true};

    (void)state;
    g.s.load.adapter = "wrk";
    g.s.load.options = text_node(a, "64");
    expect(&g, ""); /* numbers and nothing else */
    g.s.load.script = ROOT "/x.lua";
    g.s.load.options = text_node(a, "@/etc/passwd");
    g.s.load.env = (struct text_map){env, 1};
    expect(&g, "the load generator runs on this machine with 'LD_PRELOAD' in its environment\n"
               "the load generator 'wrk' runs a script of the bundle on this machine: 'x.lua'\n"
               "the load generator 'wrk' runs on this machine with options that may name its files\n");
    g = (struct given){.s = modest()}; /* of our own generator, too */
    g.s.load.env = (struct text_map){env, 1};
    g.s.load.adapter = "../../evil";
    expect(&g, "the load generator runs on this machine with 'LD_PRELOAD' in its environment\n"
               "its load adapter is a path: '../../evil'\n");
}

static const struct node *options_of(const char *yaml, struct arena *a)
{
    struct error err = ERROR_INIT;
    const struct node *n = NULL;

    if (tree_parse(yaml, strlen(yaml), "m.yaml", a, &n, &err) < 0)
        fail_msg("%s", err.message);
    return n;
}

/* Only what is known to do no harm; a redirect leads to whatever the app likes. */
static void options_of_a_program(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct given g = {.s = modest(), .generator_here = true};

    (void)state;
    g.s.load.adapter = "hey";
    g.s.load.options = options_of("{connections: 16, rate: 100, keepalive: false, redirects: false}", a);
    expect(&g, "");
    g.s.load.options = options_of("{redirects: true, script_env: {A: b}}", a);
    expect(&g, "the load generator 'hey' runs on this machine with the option 'redirects'\n"
               "the load generator 'hey' runs on this machine with the option 'script_env'\n");
    g.s.load.options = options_of("{redirects: 5}", a);
    expect(&g, "the load generator 'hey' runs on this machine with the option 'redirects'\n");
}

static void requests_that_carry_secrets(void **state)
{
    struct text_pair headers[] = {{.key = "X", .value = "{{ env.AWS_KEY }}"},
                                  {.key = "Y", .value = "{{row.env}}"}};
    struct workload_request requests[2] = {{.path = "/{{env.HOME}}"}, {.path = "/"}};
    CLEANUP_FREE char *body = path_join(*state, "body.txt");
    struct workload w = {.headers = {headers, 2}, .requests = {.items = requests, .len = 2}};
    struct given g = {.s = modest(), .root = *state};

    put(*state, "body.txt", "a {{env.TOKEN}} b");
    requests[1].body_file = body;
    w.data = "/etc/passwd";
    g.s.load.workload = &w;
    CLEANUP_FREE char *text = asked(&g);
    assert_string_equal(text, "the rows of the load is a file of this machine: '/etc/passwd'\n"
                              "its requests carry the environment variable 'AWS_KEY' of this machine\n"
                              "its requests carry the environment variable 'HOME' of this machine\n"
                              "its requests carry the environment variable 'TOKEN' of this machine\n");
}

/* As the compiler reads it: over line ends and NUL bytes; what cannot be read says nothing good. */
static void variables_that_hide(void **state)
{
    static const char hidden[] = "a\0{{\r\n env.AFTER_NUL}} {{\0env.IN_NUL}}";
    struct workload_request requests[] = {
        {.path = "/{{\n env.IN_PATH }}"}, {.path = "/"}, {.path = "/"}, {.path = "/"}};
    CLEANUP_FREE char *body = path_join(*state, "nul.bin"), *large = path_join(*state, "large.bin");
    struct workload w = {.requests = {.items = requests, .len = 4}};
    struct given g = {.s = modest(), .root = *state};
    struct error err = ERROR_INIT;

    if (fs_write_atomic(body, hidden, sizeof(hidden) - 1, &err) < 0)
        fail_msg("%s", err.message);
    put(*state, "large.bin", "");
    assert_int_equal(truncate(large, (off_t)17 << 20), 0);
    requests[1].body_file = body;
    requests[2].body_file = large;
    requests[3].body_file = body; /* sent as it is */
    requests[3].raw = true;
    g.s.load.workload = &w;
    CLEANUP_FREE char *text = asked(&g);
    assert_has(text, "the environment variable 'IN_PATH' of this machine");
    assert_has(text, "the environment variable 'AFTER_NUL' of this machine");
    assert_has(text, "the environment variable 'IN_NUL' of this machine");
    assert_has(text, "nobody can say what its requests carry: ");
    w.requests = (struct schema_list){.items = requests + 3, .len = 1};
    expect(&g, "");
}

static void reasons_without_end(void **state)
{
    CLEANUP_VALUE(rerun_reasons_release) struct rerun_reasons r = {0};

    (void)state;
    for (int i = 0; i < 5000; i++)
        rerun_reason(&r, "reason %d", i);
    assert_int_equal(r.items.len, 101);
    assert_string_equal(r.items.items[99], "reason 99");
    assert_string_equal(r.items.items[100], "and more that is not listed");
}

static void nothing_steers_a_terminal(void **state)
{
    const char *binds[] = {"/\x1b[2J:/x\n  fine"};
    struct given g = {.s = modest()};

    (void)state;
    g.s.app.binds = (struct text_list){binds, 1};
    CLEANUP_FREE char *text = asked(&g);
    assert_null(strchr(text, '\x1b'));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_things),
        cmocka_unit_test(parts_of_the_machine),
        cmocka_unit_test(files_of_the_machine),
        cmocka_unit_test_setup_teardown(files_behind_links, scratch_setup, scratch_teardown),
        cmocka_unit_test(targets),
        cmocka_unit_test(programs_of_the_machine),
        cmocka_unit_test(options_of_a_program),
        cmocka_unit_test_setup_teardown(requests_that_carry_secrets, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(variables_that_hide, scratch_setup, scratch_teardown),
        cmocka_unit_test(reasons_without_end),
        cmocka_unit_test(nothing_steers_a_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

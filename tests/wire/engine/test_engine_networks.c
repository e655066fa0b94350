/* SPDX-License-Identifier: MIT */
/* Networks, and which objects are ours. */
#include "scripted_engine.h"

static char *dead_owner(void)
{
    char owner[ENGINE_OWNER_SIZE];

    engine_owner_label(owner);
    return xasprintf("%.*s:1:7", (int)strcspn(owner, ":"), owner);
}

/* The case's list, with our labels and with owners: r1 lives, r2 is dead. */
static char *networks_list(void)
{
    char owner[ENGINE_OWNER_SIZE];
    CLEANUP_FREE char *dead = dead_owner(), *text = case_bytes("A09/networks_list.json", NULL);
    CLEANUP(json_free) struct json *list = NULL, *copy = NULL;
    struct strbuf out = STRBUF_INIT;

    must(json_parse(text, strlen(text), "list", &list, &why));
    copy = json_new_array();
    for (size_t i = 0; i < json_len(list); i++) {
        struct json *one = json_clone(json_at(list, i)), *labels = json_new_object();
        const char *run = json_get_text(json_get(one, "Labels"), "benchctl.run");

        if (run) {
            json_set_text(labels, LABEL_RUN, run);
            json_set_text(labels, LABEL_OWNER, text_equal(run, "r1") ? engine_owner_label(owner) : dead);
        } else {
            json_set_text(labels, "com.example.owner", "someone");
        }
        json_set(one, "Labels", labels);
        json_append(copy, one);
    }
    json_write(copy, JSON_STYLE_COMPACT, &out);
    return strbuf_detach(&out);
}

static void a_network_is_made_with_labels(void **state)
{
    (void)state;
    struct expect script[] = {
        OPENING,
        {"POST /networks/create",
         .has = {"\"Name\":\"bench-r1\"", "\"Driver\":\"bridge\"",
                 "\"Labels\":{\"org.benchctl.run\":\"r1\"}"},
         .reply = {.status = 201, .body = "{\"Id\": \"" ID_NET "\", \"Warning\": \"\"}"}},
        {"DELETE /networks/" ID_NET, .reply = {.status = 204}},
        {"DELETE /networks/" ID_NET,
         .reply = {.status = 404, .body = "{\"message\": \"network not found\"}"}},
        {"DELETE /networks/" ID_NET,
         .reply = {.status = 403, .body = "{\"message\": \"network bench-r1 id ccc has active endpoints\"}"}},
        {"DELETE /networks/" ID_NET, .reply = {.status = 204}},
        {"DELETE /networks/" ID_NET, .reply = {.status = 500, .body = "{\"message\": \"iptables failed\"}"}},
    };
    struct text_pair label = {.key = LABEL_RUN, .value = "r1"};
    struct text_map labels = {.items = &label, .len = 1};
    CLEANUP_FREE char *id = NULL;
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    must(engine_network_create(p.lab.engine, "bench-r1", &labels, &id, &why));
    assert_string_equal(id, ID_NET);
    must(engine_network_remove(p.lab.engine, ID_NET, &why));
    must(engine_network_remove(p.lab.engine, ID_NET, &why)); /* gone already */
    must(
        engine_network_remove(p.lab.engine, ID_NET, &why)); /* endpoints of a container just removed linger */
    assert_int_equal(engine_network_remove(p.lab.engine, ID_NET, &err), -1);
    assert_string_equal(err.message, "cannot remove network 'cccccccccccc': iptables failed");
    play_end(&p);
}

static void pools_used_up_by_our_own_dead(void **state)
{
    (void)state;
    CLEANUP_FREE char *used_up = case_bytes("A09/network_create_pools_used_up.http", NULL),
                      *list = networks_list();
    struct expect script[] = {
        OPENING,
        {"POST /networks/create", .reply = {.raw = used_up}},
        {"GET /networks?filters={\"label\":*\"org.benchctl.run\"*}", .reply = {.body = list}}};
    struct error err = ERROR_INIT;
    struct play p;
    char *id;

    play_script(&p, script);
    assert_int_equal(engine_network_create(p.lab.engine, "bench-r9", NULL, &id, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_string_equal(
        err.message,
        "cannot create network 'bench-r9': no free non-overlapping IPv4 pool left among the defaults");
    assert_string_equal(err.hint, "'benchctl clean' removes networks that dead sweeps left: bench-r2-net");
    play_end(&p);
}

static void pools_used_up_by_others(void **state)
{
    (void)state;
    static const char *const idle[] = {"[]", "[{\"Name\": \"blog_default\"}, {\"Name\": \"old\"}]"};
    static const char *const hints[] = {"by networks of others",
                                        "that nobody uses, of others (docker network rm): blog_default, old"};
    static const char *const words[] = {"could not find an available, non-overlapping IPv4 address pool "
                                        "among the defaults to assign to the network",
                                        "Pool overlaps with other one on this address space"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        CLEANUP_FREE char *body = xasprintf("{\"message\": \"%s\"}", words[i]);
        struct expect script[] = {OPENING,
                                  {"POST /networks/create", .reply = {.status = 500, .body = body}},
                                  {"GET /networks*", .reply = {.status = 500, .body = "{}"}},
                                  {"GET /networks?filters=*dangling*", .reply = {.body = idle[i]}}};
        struct error err = ERROR_INIT;
        struct play p;
        char *id;

        play_script(&p, script);
        assert_int_equal(engine_network_create(p.lab.engine, "n", NULL, &id, &err), -1);
        assert_has(err.message, words[i]);
        assert_has(err.hint, hints[i]);
        play_end(&p);
    }
}

/* An engine that ignores the filter must not make strangers look like ours. */
static void only_what_carries_our_label_is_ours(void **state)
{
    (void)state;
    CLEANUP_FREE char *networks = networks_list();
    static const char *const containers =
        "[{\"Id\": \"" ID_A "\", \"Names\": [\"/bench-r2-app\"], \"Image\": \"sha256:1\", \"State\": "
        "\"exited\", \"Created\": 1700000000,"
        " \"Labels\": {\"org.benchctl.run\": \"r2\", \"org.benchctl.role\": \"app\", \"org.benchctl.dir\": "
        "\"/runs/x\"}},"
        "{\"Id\": \"" ID_B "\", \"Names\": [\"/bench-lookalike\"], \"Labels\": {}},"
        "{\"Id\": \"x\", \"Labels\": null}, 5]";
    struct expect script[] = {OPENING,
                              {"GET /containers/json?all=1&filters=*", .reply = {.body = containers}},
                              {"GET /networks?filters=*", .reply = {.body = networks}},
                              {"GET /containers/json?all=1&filters={\"label\":*\"org.benchctl.run=r2\"*}",
                               .reply = {.body = containers}},
                              {"GET /networks?filters=*", .reply = {.body = networks}},
                              {"GET /containers/json*", .reply = {.body = "{}"}}};
    struct engine_objects list = {0};
    struct error err = ERROR_INIT;
    struct play p;

    play_script(&p, script);
    must(engine_list_ours(p.lab.engine, NULL, &list, &why));
    assert_int_equal(list.len, 3);
    assert_string_equal(list.items[0].name, "bench-r2-app");
    assert_string_equal(list.items[0].role, "app");
    assert_string_equal(list.items[0].dir, "/runs/x");
    assert_string_equal(list.items[0].owner, "");
    assert_true(engine_owner_alive(list.items[0].owner)); /* nobody is known: hands off */
    assert_int_equal(list.items[0].created_wall_s, 1700000000);
    assert_string_equal(list.items[1].name, "bench-r1-net");
    assert_true(engine_owner_alive(list.items[1].owner));
    assert_string_equal(list.items[2].name, "bench-r2-net");
    assert_false(engine_owner_alive(list.items[2].owner));
    engine_objects_release(&list);

    must(engine_list_ours(p.lab.engine, "r2", &list, &why));
    assert_int_equal(list.len, 2);
    engine_objects_release(&list);
    assert_int_equal(engine_list_ours(p.lab.engine, "r2", &list, &err), -1);
    assert_has(err.message, "not a list");
    play_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_is_made_with_labels),
        cmocka_unit_test(pools_used_up_by_our_own_dead),
        cmocka_unit_test(pools_used_up_by_others),
        cmocka_unit_test(only_what_carries_our_label_is_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

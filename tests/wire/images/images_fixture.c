/* SPDX-License-Identifier: MIT */
#include "images_fixture.h"

/* --- archives --- */

void tar_head(struct strbuf *tar, char type, const char *name, const char *link, size_t size)
{
    char header[512] = {0};
    unsigned sum = 0;

    (void)snprintf(header, 100, "%s", name);
    (void)snprintf(header + 100, 8, "0000644");
    (void)snprintf(header + 108, 8, "0000000");
    (void)snprintf(header + 116, 8, "0000000");
    (void)snprintf(header + 124, 12, "%011zo", size);
    (void)snprintf(header + 136, 12, "00000000000");
    header[156] = type;
    (void)snprintf(header + 157, 100, "%s", link);
    memcpy(header + 257, "ustar\00000", 8);
    memset(header + 148, ' ', 8);
    for (size_t i = 0; i < sizeof(header); i++)
        sum += (unsigned char)header[i];
    (void)snprintf(header + 148, 8, "%06o", sum);
    strbuf_add(tar, header, sizeof(header));
}

void tar_entry(struct strbuf *tar, char type, const char *name, const char *link_or_bytes, size_t len)
{
    static const char zeros[512];
    bool is_link = type == '1' || type == '2';

    tar_head(tar, type, name, is_link ? link_or_bytes : "", is_link ? 0 : len);
    if (is_link || !len)
        return;
    strbuf_add(tar, link_or_bytes, len);
    strbuf_add(tar, zeros, (512 - len % 512) % 512);
}

void tar_file(struct strbuf *tar, const char *name, const char *text)
{
    tar_entry(tar, '0', name, text, strlen(text));
}

void tar_end(struct strbuf *tar)
{
    static const char zeros[1024];

    strbuf_add(tar, zeros, sizeof(zeros));
}

void make_image(struct made_image *ret, const char *who, const char *const *layers)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf ids = STRBUF_INIT;
    size_t n = 0;

    for (; layers[n]; n++) {
        (void)snprintf(ret->layers[n], sizeof(ret->layers[n]), "%s", layers[n]);
        sha256_hex(layers[n], strlen(layers[n]), ret->layer_hex[n]);
        strbuf_addf(&ids, "%s\"sha256:%s\"", n ? "," : "", ret->layer_hex[n]);
    }
    ret->layer_count = n;
    ret->config = xasprintf("{\"architecture\":\"amd64\",\"config\":{\"Env\":[\"WHO=%s\"],\"Cmd\":[\"/go\"]},"
                            "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[%s]}}",
                            who, strbuf_text(&ids));
    sha256_hex(ret->config, strlen(ret->config), ret->config_hex);
    (void)snprintf(ret->id, sizeof(ret->id), "sha256:%s", ret->config_hex);
}

void made_image_release(struct made_image *m)
{
    free(m->config);
}

void export_old(struct strbuf *tar, const struct made_image *const *images, size_t count)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf manifest = STRBUF_INIT, seen = STRBUF_INIT;

    strbuf_addc(&manifest, '[');
    for (size_t i = 0; i < count; i++) {
        const struct made_image *m = images[i];
        CLEANUP_FREE char *config = xasprintf("%s.json", m->config_hex);

        strbuf_addf(&manifest, "%s{\"Config\":\"%s\",\"RepoTags\":null,\"Layers\":[", i ? "," : "", config);
        for (size_t k = 0; k < m->layer_count; k++) {
            CLEANUP_FREE char *folder = xasprintf("%zu%zu%.40s", i, k, m->layer_hex[k]),
                              *layer = xasprintf("%s/layer.tar", folder),
                              *version = xasprintf("%s/VERSION", folder);
            const char *before = strstr(strbuf_text(&seen), m->layer_hex[k]);

            tar_entry(tar, '5', folder, "", 0);
            tar_file(tar, version, "1.0");
            if (before) { /* "HEX FOLDER\n" */
                CLEANUP_FREE char *first = xstrndup(before + 65, strcspn(before + 65, "\n"));
                CLEANUP_FREE char *target = xasprintf("../%s/layer.tar", first);
                tar_entry(tar, '2', layer, target, 0);
            } else {
                tar_file(tar, layer, m->layers[k]);
                strbuf_addf(&seen, "%s %s\n", m->layer_hex[k], folder);
            }
            strbuf_addf(&manifest, "%s\"%s\"", k ? "," : "", layer);
        }
        strbuf_adds(&manifest, "]}");
        tar_file(tar, config, m->config);
    }
    strbuf_addc(&manifest, ']');
    tar_file(tar, "manifest.json", manifest.data);
    tar_file(tar, "repositories", "{}");
    tar_end(tar);
}

/* --- the engine --- */

static const struct made_image *find(const struct image_engine *e, const char *reference, const char **ret_id)
{
    for (size_t i = 0; i < e->has_count; i++) {
        const char *id = e->called[i] ? e->called[i] : e->has[i]->id;
        *ret_id = id;
        if (strcmp(reference, id) == 0 || text_equal(reference, e->tagged[i]))
            return e->has[i];
    }
    return NULL;
}

static void inspect(struct server *s, const struct seen *request, struct reply *ret, void *data)
{
    struct image_engine *e = data;
    const char *from = request->path + strlen("/images/"), *id = NULL;
    CLEANUP_FREE char *reference = xstrndup(from, strlen(from) - strlen("/json"));
    const struct made_image *m = find(e, reference, &id);
    CLEANUP_VALUE(strbuf_release) struct strbuf layers = STRBUF_INIT;

    if (!m) {
        ret->status = 404;
        ret->body = server_text(s, "{\"message\":\"No such image: %s\"}", reference);
        return;
    }
    for (size_t k = 0; k < m->layer_count; k++)
        strbuf_addf(&layers, "%s\"sha256:%s\"", k ? "," : "", m->layer_hex[k]);
    CLEANUP(json_free) struct json *config = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;
    if (json_parse(m->config, strlen(m->config), "config", &config, &err) == 0)
        json_write(json_get(config, "config"), JSON_STYLE_COMPACT, &text);
    ret->body = server_text(s,
                            "{\"Id\":\"%s\",\"Size\":%.0f,\"Config\":%s,\"RootFS\":{\"Type\":\"layers\","
                            "\"Layers\":[%s]}}",
                            id, e->size, strbuf_text(&text), strbuf_text(&layers));
}

static void export(struct server *s, const struct seen *request, struct reply *ret, void *data)
{
    struct image_engine *e = data;

    (void)s;
    (void)request;
    *ret = e->export_reply;
    ret->type = "application/x-tar";
    ret->chunked = true;
    if (!ret->body) {
        ret->body = e->exported.data;
        ret->body_len = e->exported.len;
    }
}

static void add(struct image_engine *e, const struct made_image *m, const char *id, const char *name)
{
    e->has[e->has_count] = m;
    e->called[e->has_count] = id;
    e->tagged[e->has_count++] = name;
}

static void load(struct server *s, const struct seen *request, struct reply *ret, void *data)
{
    struct image_engine *e = data;
    const char *id = e->loads_as ? e->loads_as : e->loads ? e->loads->id : "";

    (void)request;
    if (e->loads)
        add(e, e->loads, e->loads_as, NULL);
    ret->body =
        server_text(s, "{\"status\":\"Loading layer\"}\r\n{\"stream\":\"Loaded image ID: %s\\n\"}\r\n", id);
}

static void tag(struct server *s, const struct seen *request, struct reply *ret, void *data)
{
    struct image_engine *e = data;
    const char *from = request->path + strlen("/images/"), *id = NULL;
    CLEANUP_FREE char *reference = xstrndup(from, strcspn(from, "?") - strlen("/tag"));
    const struct made_image *m = find(e, reference, &id);
    const char *repo = strstr(request->path, "repo=") + strlen("repo="), *tag = strstr(request->path, "tag=");

    ret->status = m ? 201 : 404;
    if (m)
        add(e, m, server_text(s, "%s", id),
            server_text(s, "%.*s:%s", (int)strcspn(repo, "&"), repo, tag + strlen("tag=")));
}

int image_engine_setup(void **state)
{
    struct image_engine *e = xcalloc(1, sizeof(*e));
    void *dir = NULL;
    struct rule *rules = e->rules;
    const struct rule all[] = {
        {.request = "GET /_ping*", .reply = {.body = "OK", .headers = "Api-Version: 1.41\r\n"}},
        {.request = "GET /version*",
         .reply = {.body = "{\"Version\":\"20.10.24\",\"ApiVersion\":\"1.41\",\"MinAPIVersion\":\"1.12\"}"}},
        {.request = "GET /info*", .reply = {.body = "{\"ID\":\"one\",\"Driver\":\"overlay2\"}"}},
        {.request = "GET /images/get?*", .make = export, .data = e},
        {.request = "GET /images/*/json", .make = inspect, .data = e},
        {.request = "POST /images/load*", .make = load, .data = e},
        {.request = "POST /images/*/tag?*", .make = tag, .data = e},
    };

    memcpy(rules, all, sizeof(all));
    if (scratch_setup(&dir) < 0)
        return -1;
    e->dir = dir;
    e->size = 1000;
    e->server = server_start(&(struct server_options){.rules = rules, .rules_len = ARRAY_LEN(all)});
    lab_start(&e->lab);
    must(engine_open(e->lab.loop, e->lab.http, server_url(e->server), &e->lab.engine, &why));
    *state = e;
    return 0;
}

int image_engine_teardown(void **state)
{
    struct image_engine *e = *state;
    void *dir = e->dir;

    lab_end(&e->lab);
    server_finish(e->server);
    strbuf_release(&e->exported);
    free(e);
    return scratch_teardown(&dir);
}

void image_engine_has(struct image_engine *e, const struct made_image *m, const char *name)
{
    server_lock(e->server);
    add(e, m, NULL, name);
    server_unlock(e->server);
}

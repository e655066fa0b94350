/* SPDX-License-Identifier: MIT */
/* The container images of a sweep, out of the engine into its run directory. */
#include "sweep_command.h"

#include <signal.h>
#include "benchctl/images.h"

#define INFO_MAX ((size_t)256 << 20)

static void on_signal(int signo, void *data)
{
    if (signo != SIGHUP || isatty(STDERR_FILENO)) /* as during the sweep */
        loop_interrupt(data);
}

static bool all_there(const char *dir, const struct images_wanted *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!images_has(dir, wanted[i].id))
            return false;
    return true;
}

static int save_from_engine(const char *engine_url, const struct images_wanted *wanted, size_t count,
                            const char *dir, struct error *err)
{
    CLEANUP(loop_free) struct loop *loop = NULL;
    CLEANUP(http_free) struct http *h = NULL;
    CLEANUP(engine_close) struct engine *e = NULL;

    return loop_new(&loop, err) < 0 || loop_catch_signals(loop, on_signal, loop, err) < 0 ||
                   http_new(loop, &h, err) < 0 || engine_open(loop, h, engine_url, &e, err) < 0
               ? -1
               : images_save_named(e, wanted, count, dir, err);
}

int sweep_save_images(const char *dir, const char *engine_url, struct error *err)
{
    CLEANUP_FREE char *info_path = path_join(dir, "sweep.json"), *images = path_join(dir, BUNDLE_IMAGES_DIR);
    CLEANUP(json_free) struct json *info = NULL;
    CLEANUP_FREE struct images_wanted *wanted = NULL;

    if (json_read_file(info_path, INFO_MAX, &info, err) < 0)
        return error_wrap(err, "which images the sweep used");
    const struct json *used = json_get(info, "images");
    size_t count = json_len(used);
    wanted = xcalloc(count + 1, sizeof(*wanted));
    for (size_t i = 0; i < count; i++) {
        wanted[i].id = json_get_text(json_at(used, i), "id");
        wanted[i].name = json_get_text(json_at(used, i), "reference");
        if (!wanted[i].id)
            return error_set(err, ERROR_INVALID, "'%s' names an image without its id", info_path);
    }
    if (all_there(images, wanted, count)) { /* then it needs no engine, unless a file was damaged since */
        struct error e = ERROR_INIT;
        if (images_save_named(NULL, wanted, count, images, &e) == 0)
            return 0;
        if (e.kind != ERROR_NOT_FOUND) {
            *err = e;
            return -1;
        }
    }
    return save_from_engine(engine_url, wanted, count, images, err);
}

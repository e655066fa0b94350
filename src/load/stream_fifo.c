/* SPDX-License-Identifier: MIT */
/* A stream through a FIFO, in the loop. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "benchctl/load.h"

#define PIECE ((size_t)256 << 10)
#define PIPE_BYTES (1 << 20) /* what the kernel holds for us while we do something else */
#define PIECES_AT_ONCE 4     /* then others get their turn */

struct load_fifo {
    char *path;
    int fd;
    struct loop_fd *watch;
    struct load_stream *stream;
    struct load_fifo_options options;
    char *piece;
    bool made, failed;
    struct error error; /* the first */
};

static void keep_error(struct load_fifo *f, const struct error *err)
{
    if (!f->failed)
        f->error = *err;
    f->failed = true;
}

/* Reads one piece: how many bytes; 0 when there is none now. */
static size_t read_piece(struct load_fifo *f)
{
    struct error err = ERROR_INIT;
    ssize_t n;

    do
        n = read(f->fd, f->piece, PIECE);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN) {
        (void)error_errno(&err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", f->path);
        keep_error(f, &err);
    }
    if (n <= 0)
        return 0;
    if (f->options.raw && f->options.raw(f->piece, (size_t)n, f->options.data, &err) < 0) {
        keep_error(f, &err);
        f->options.raw = NULL;
    }
    if (load_stream_feed(f->stream, f->piece, (size_t)n, &err) < 0)
        keep_error(f, &err);
    return (size_t)n;
}

static void on_readable(int fd, unsigned events, void *data)
{
    struct load_fifo *f = data;

    (void)fd;
    for (int i = 0; i < PIECES_AT_ONCE && read_piece(f); i++)
        ;
    (void)events;
}

int load_fifo_open(struct loop *l, const char *path, struct load_stream *s, const struct load_fifo_options *o,
                   struct load_fifo **ret, struct error *err)
{
    CLEANUP(load_fifo_free) struct load_fifo *f = xcalloc(1, sizeof(*f));

    f->fd = -1;
    f->path = xstrdup(path);
    f->stream = s;
    f->options = o ? *o : (struct load_fifo_options){0};
    if (mkfifo(path, 0622) < 0 || chmod(path, 0622) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot make the FIFO '%s'", path);
    f->made = true;
    /* Also for writing, by us: so there is always a writer, and no end of file or hang-up before the real
     * one opens it, or between two of them. */
    f->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (f->fd < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot open the FIFO '%s'", path);
    (void)fcntl(f->fd, F_SETPIPE_SZ, PIPE_BYTES); /* smaller where the system says so */
    f->piece = xmalloc(PIECE);
    f->watch = loop_add_fd(l, f->fd, LOOP_READ, on_readable, f);
    *ret = TAKE(f);
    return 0;
}

int load_fifo_end(struct load_fifo *f, struct error *err)
{
    struct error last = ERROR_INIT;
    int left = 0;

    /* What is there now, and no more: somebody may have escaped and write for ever. */
    if (ioctl(f->fd, FIONREAD, &left) < 0)
        left = PIPE_BYTES;
    for (size_t n = 1; n && left > 0; left -= (int)n)
        n = read_piece(f);
    if (load_stream_end(f->stream, &last) < 0)
        keep_error(f, &last);
    loop_remove_fd(f->watch);
    f->watch = NULL;
    if (f->failed)
        *err = f->error;
    return f->failed ? -1 : 0;
}

void load_fifo_free(struct load_fifo *f)
{
    if (!f)
        return;
    loop_remove_fd(f->watch);
    if (f->fd >= 0)
        (void)close(f->fd);
    if (f->made)
        (void)unlink(f->path);
    free(f->piece);
    free(f->path);
    free(f);
}

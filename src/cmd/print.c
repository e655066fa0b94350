/* SPDX-License-Identifier: MIT */
#include "cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include "benchctl/base/log.h"
#include "benchctl/base/clock.h"
#include "benchctl/base/plain_text.h"
#include "benchctl/base/units.h"

/* The reader of our output has had enough (`| head`): end as other programs do, by the signal and without a
 * word. */
static void end_by_pipe(void)
{
    (void)signal(SIGPIPE, SIG_DFL);
    (void)raise(SIGPIPE);
}

void print_plain(FILE *out, const char *before, const char *text)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf plain = STRBUF_INIT;

    plain_add(&plain, text, "\n");
    fprintf(out, "%s%s\n", before, strbuf_text(&plain));
}

int report_error(const struct error *err)
{
    if (err->code == EPIPE && strstr(err->message, "standard output"))
        end_by_pipe();
    (void)fflush(stdout);
    print_plain(stderr, "benchctl: ", err->message);
    if (err->hint[0])
        print_plain(stderr, "hint: ", err->hint);
    return error_exit_code(err->kind);
}

static void print_note(enum log_level level, const char *line, void *data)
{
    (void)data;
    (void)fflush(stdout);
    print_plain(stderr, level == LOG_WARN ? "benchctl: warning: " : "benchctl: ", line);
}

void notes_to_stderr(void)
{
    log_set_sink(print_note, NULL);
}

int print_all(const char *text, size_t len, struct error *err)
{
    errno = 0;
    if (fwrite(text, 1, len, stdout) != len || fflush(stdout) != 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno ? errno : EIO, "cannot write to standard output");
    return 0;
}

int print_buffer(const struct strbuf *b)
{
    struct error err = ERROR_INIT;

    return print_all(strbuf_text(b), b->len, &err) < 0 ? report_error(&err) : 0;
}

const char *duration_about(int64_t ns, char *buf)
{
    int64_t s = (ns + NS_PER_S - 1) / NS_PER_S;

    if (s >= 60)
        return duration_human(s * NS_PER_S, buf);
    (void)snprintf(buf, 32, "%d s", (int)s);
    return buf;
}

bool stdout_color(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no_color && no_color[0]) && term && strcmp(term, "dumb") != 0;
}

int terminal_width(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 0;
}

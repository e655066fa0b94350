/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"
#include "benchctl/base/units.h"
#include "cmd.h"

static void erase(struct display *d)
{
    if (d->drawn)
        fprintf(stderr, "\033[%dA\r\033[J", d->drawn);
    d->drawn = 0;
}

static int columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/* One line of the block, cut to the terminal's width so that it stays one line. */
static void draw_line(struct display *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void draw_line(struct display *d, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    fprintf(stderr, "%.*s\n", columns() - 1, text);
    d->drawn++;
}

static void on_log(enum log_level level, const char *line, void *data)
{
    struct display *d = data;

    erase(d);
    print_plain(stderr, level == LOG_WARN ? "warning: " : "", line);
}

void display_say(struct display *d, const char *before, const char *text)
{
    erase(d);
    print_plain(stderr, before, text);
}

void display_open(struct display *d)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bool dumb = !term || strcmp(term, "dumb") == 0;

    *d = (struct display){.live = isatty(STDERR_FILENO) && !dumb};
    d->color = d->live && !(no_color && no_color[0]);
    log_set_sink(on_log, d);
}

void display_close(struct display *d)
{
    erase(d);
    notes_to_stderr();
}

static const char *outcome_color(const struct display *d, enum outcome o)
{
    if (!d->color)
        return "";
    return o == OUTCOME_OK                                   ? "\033[32m"
           : o == OUTCOME_DEGRADED || o == OUTCOME_NOT_READY ? "\033[33m"
                                                             : "\033[31m";
}

/* Between k and n: with a search n is only a bound. */
static const char *slash(const struct progress *p)
{
    return p->at_most ? " of at most " : "/";
}

/* "3/12"; of a canary, which stands between two trials, "canary 2/4". */
static const char *place(const struct progress *p, char buf[96])
{
    if (p->canary)
        (void)snprintf(buf, 96, "canary %llu%s%llu", (unsigned long long)p->canary, slash(p),
                       (unsigned long long)p->canaries);
    else
        (void)snprintf(buf, 96, "%llu%s%llu", (unsigned long long)p->trial, slash(p),
                       (unsigned long long)p->trials);
    return buf;
}

/* One lasting line per finished trial. */
static void tell_finished(struct display *d, const struct progress *p)
{
    const struct trial *t = p->finished;
    char rps[32] = "", p99[32] = "", memory[32] = "", size[32], at[96];

    if (t->has_load && !isnan(t->load.goodput_rps))
        (void)snprintf(rps, sizeof(rps), "  %.0f ok/s", t->load.goodput_rps);
    if (t->has_load && !isnan(t->load.latency_ms.p99))
        (void)snprintf(p99, sizeof(p99), t->load.latency_ms.p99 < 100 ? "  p99 %.3g ms" : "  p99 %.0f ms",
                       t->load.latency_ms.p99);
    if (!isnan(t->app.memory_bytes.used_peak))
        (void)snprintf(memory, sizeof(memory), "  peak %s", size_human(t->app.memory_bytes.used_peak, size));
    erase(d);
    fprintf(stderr, "[%s] %s #%d: %s%s%s%s%s%s\n", place(p, at), t->scenario, t->trial,
            outcome_color(d, t->outcome), outcome_name(t->outcome), d->color ? "\033[0m" : "", rps, p99,
            memory);
    if (t->outcome != OUTCOME_OK && t->reason)
        print_plain(stderr, "        ", t->reason);
}

static void draw_block(struct display *d, const struct progress *p)
{
    char elapsed[32], step[32], eta[32], memory[48] = "", size[32];

    erase(d);
    if (!isnan(p->memory_bytes))
        (void)snprintf(memory, sizeof(memory), ", app uses %s", size_human(p->memory_bytes, size));
    draw_line(d, "%s %llu of %s%llu  %s", p->canary ? "canary" : "trial",
              (unsigned long long)(p->canary ? p->canary : p->trial), p->at_most ? "at most " : "",
              (unsigned long long)(p->canary ? p->canaries : p->trials), p->scenario ? p->scenario : "");
    draw_line(d, "  %s for %s%s; %s in all, about %s left", p->step ? p->step : "",
              duration_human(p->step_elapsed_ns, step), memory, duration_human(p->elapsed_ns, elapsed),
              p->eta_ns < 0 ? "?" : duration_about(p->eta_ns, eta));
}

void display_progress(struct display *d, const struct progress *p)
{
    if (p->finished)
        tell_finished(d, p);
    else if (d->live)
        draw_block(d, p);
    else if ((p->trial != d->last_trial || p->canary != d->last_canary) && p->scenario) {
        char eta[32], at[96];
        d->last_trial = p->trial;
        d->last_canary = p->canary;
        fprintf(stderr, "[%s] %s: starting; about %s left\n", place(p, at), p->scenario,
                p->eta_ns < 0 ? "?" : duration_about(p->eta_ns, eta));
    }
}

/* SPDX-License-Identifier: MIT */
/* Who sits at the terminal of a sweep, and what signals mean to it. */
#include "sweep_watch.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include "benchctl/base/clock.h"

/* A key that repeats, or a nervous finger, is one Ctrl-C. */
#define INTERRUPTS_APART_NS (500 * NS_PER_MS)
/* The loop goes round once a second: a longer silence before SIGCONT was a stop. */
#define ROUND_NS (1200 * NS_PER_MS)

/* --- keys --- */

static const char help[] =
    "keys: s  skip this trial: cleaned up and recorded as skipped; resume does it again\n"
    "      q  stop after this trial; benchctl resume goes on\n"
    "      l  the last lines of the app's log; costs the engine one call\n"
    "      ?  this\n"
    "      Ctrl-C stops now and cleans up; benchctl resume goes on";

static void on_log_tail(const char *text, void *data)
{
    struct attendant *a = data;

    display_say(a->display, "", text[0] ? text : "(the app has logged nothing that can be read)");
}

static void on_key(char key, void *data)
{
    struct attendant *a = data;

    switch (key) {
    case 's':
        a->control.skip_trial = a->in_trial;
        display_say(a->display, "",
                    a->in_trial ? "skipping this trial" : "no trial is running: there is nothing to skip");
        break;
    case 'q':
        a->control.stop_after = true;
        display_say(a->display, "",
                    a->in_trial ? "stopping after this trial; go on with benchctl resume" : "stopping");
        break;
    case 'l':
        a->control.show_log = a->in_trial;
        if (!a->in_trial)
            display_say(a->display, "", "no trial is running: there is no log");
        break;
    case '?':
    case 'h':
        display_say(a->display, "", help);
        break;
    default:
        break;
    }
}

/* --- signals --- */

static void stop_now(struct attendant *a, const char *text)
{
    display_say(a->display, "benchctl: ", text);
    loop_interrupt(a->loop);
    if (a->watch)
        watch_stopping(a->watch);
}

/* What is left in the engine then is found by its labels. */
__attribute__((noreturn)) static void die(struct attendant *a)
{
    sigset_t set;

    keyboard_leave(a->keyboard);
    display_say(a->display, "benchctl: ",
                "ended at once: `benchctl resume` or `benchctl clean` removes what is left in the engine");
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)signal(SIGINT, SIG_DFL);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)raise(SIGINT);
    _exit(130);
}

static void on_interrupt(struct attendant *a)
{
    int64_t now = clock_now_ns();

    if (a->interrupts && now - a->interrupt_ns < INTERRUPTS_APART_NS)
        return;
    a->interrupt_ns = now;
    a->interrupts++;
    if (a->interrupts == 1)
        stop_now(a, "interrupted, cleaning up");
    else if (a->interrupts == 2)
        display_say(a->display, "benchctl: ",
                    "still cleaning up: containers and the network are being removed; once more ends "
                    "benchctl at once and leaves them");
    else
        die(a);
}

/* As the system would do it, were SIGTSTP not caught: in the terminal's own order, and not at all where
 * nobody could let us go on again. */
static void stand_still(struct attendant *a)
{
    int64_t begin_ns = clock_now_ns();
    sigset_t set;

    if (a->in_trial)
        display_say(a->display, "benchctl: ",
                    "stopped: containers and load go on meanwhile, so this trial will not count");
    keyboard_leave(a->keyboard);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTSTP);
    (void)raise(SIGTSTP);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL); /* here */
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    a->alive_ns = clock_now_ns();
    a->control.stood_still_ns += a->alive_ns - begin_ns;
    keyboard_look(a->keyboard);
}

/* The system lets a process go on first and tells it of SIGCONT then: the loop may have gone round between.
 */
static void note_alive(struct attendant *a)
{
    int64_t now = clock_now_ns();

    if (a->alive_ns && now - a->alive_ns > ROUND_NS) {
        a->gap_ns = now - a->alive_ns;
        a->gap_at_ns = now;
    }
    a->alive_ns = now;
}

static void on_continued(struct attendant *a)
{
    note_alive(a);
    if (a->alive_ns - a->gap_at_ns < NS_PER_S)
        a->control.stood_still_ns += a->gap_ns;
    a->gap_ns = 0;
    keyboard_look(a->keyboard);
}

static void on_signal(int signo, void *data)
{
    struct attendant *a = data;

    if (signo == SIGINT) {
        on_interrupt(a);
    } else if (signo == SIGTERM) {
        if (!a->interrupts++)
            stop_now(a, "terminated, cleaning up");
    } else if (signo == SIGTSTP) {
        stand_still(a);
    } else if (signo == SIGCONT) {
        on_continued(a);
    } else if (signo == SIGUSR1 && a->watch) {
        display_say(a->display, "benchctl: ", watch_line(a->watch));
    } else if (signo == SIGHUP && a->watch) {
        watch_write(a->watch); /* the terminal has gone, the sweep goes on; a service has nothing to reload */
    }
}

int attendant_catch(struct attendant *a, struct error *err)
{
    static const int also[] = {SIGUSR1, SIGTSTP, SIGCONT};

    if (loop_catch_signals(a->loop, on_signal, a, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(also); i++)
        if (loop_catch_also(a->loop, also[i], err) < 0)
            return -1;
    return 0;
}

/* --- all of it --- */

void attendant_sit_down(struct attendant *a)
{
    a->control.log_tail = on_log_tail;
    a->control.data = a;
    a->keyboard = keyboard_open(a->loop, on_key, a);
    if (a->keyboard)
        display_say(a->display, "", "? shows which keys there are");
}

void attendant_look(struct attendant *a, const struct progress *p)
{
    note_alive(a);
    a->in_trial = p->scenario && !p->finished;
    keyboard_look(a->keyboard);
}

void attendant_leave(struct attendant *a)
{
    keyboard_close(a->keyboard);
    a->keyboard = NULL;
}

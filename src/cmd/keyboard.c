/* SPDX-License-Identifier: MIT */
#include "keyboard.h"

#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>
#include "benchctl/base/mem.h"

struct keyboard {
    struct loop *loop;
    struct loop_fd *watch; /* NULL: the terminal is not ours now */
    keyboard_fn *fn;
    void *data;
};

/* For handlers of signals and of the end of the process: there is one terminal. */
static struct termios before;
static volatile sig_atomic_t changed;

static bool in_foreground(void)
{
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* A process that has just gone into the background would be stopped by it. */
static int set_modes(const struct termios *modes, int when)
{
    sigset_t set, old;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTTOU);
    (void)sigprocmask(SIG_BLOCK, &set, &old);
    int rc = tcsetattr(STDIN_FILENO, when, modes);
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
    return rc;
}

/* Async-signal-safe. In the background the terminal is another's, who has put it in order for himself. */
static void restore(void)
{
    if (changed && in_foreground())
        (void)set_modes(&before, TCSANOW);
    changed = 0;
}

static void on_fatal(int signo)
{
    restore();
    (void)raise(signo); /* its handler is the default again */
}

static void catch_fatal(void)
{
    static const int signals[] = {SIGQUIT, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    struct sigaction act = {.sa_handler = on_fatal, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};

    (void)atexit(restore);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        struct sigaction is;
        if (sigaction(signals[i], NULL, &is) == 0 && is.sa_handler == SIG_DFL)
            (void)sigaction(signals[i], &act, NULL);
    }
}

static void on_input(int fd, unsigned events, void *data)
{
    struct keyboard *k = data;
    char keys[64];

    if ((events & LOOP_HANGUP) || !in_foreground()) {
        keyboard_leave(k); /* the terminal has gone, or is another's */
        return;
    }
    ssize_t n = read(fd, keys, sizeof(keys));
    if (n <= 0 || keys[0] == '\033')
        return; /* an arrow key and the like: its letters mean nothing */
    for (ssize_t i = 0; i < n; i++)
        k->fn(keys[i], k->data);
}

void keyboard_look(struct keyboard *k)
{
    struct termios modes;

    if (!k)
        return;
    if (!in_foreground()) {
        loop_remove_fd(k->watch);
        k->watch = NULL;
        return;
    }
    if (tcgetattr(STDIN_FILENO, &modes) < 0)
        return;
    if (modes.c_lflag & (tcflag_t)(ICANON | ECHO)) {
        if (!changed)
            before = modes;
        modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        modes.c_cc[VMIN] = 0; /* a key that somebody else has read is not waited for */
        modes.c_cc[VTIME] = 0;
        changed = 1;
        if (set_modes(&modes, TCSAFLUSH) < 0) /* what was typed before was not meant for us */
            return;
    }
    if (!k->watch)
        k->watch = loop_try_add_fd(k->loop, STDIN_FILENO, LOOP_READ, on_input, k);
}

void keyboard_leave(struct keyboard *k)
{
    if (!k)
        return;
    loop_remove_fd(k->watch);
    k->watch = NULL;
    restore();
}

struct keyboard *keyboard_open(struct loop *l, keyboard_fn *fn, void *data)
{
    struct termios modes;

    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || tcgetattr(STDIN_FILENO, &modes) < 0)
        return NULL;
    struct keyboard *k = xcalloc(1, sizeof(*k));
    *k = (struct keyboard){.loop = l, .fn = fn, .data = data};
    catch_fatal();
    keyboard_look(k);
    return k;
}

void keyboard_close(struct keyboard *k)
{
    keyboard_leave(k);
    free(k);
}

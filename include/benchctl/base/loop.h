/* SPDX-License-Identifier: MIT */
/*
 * The one event loop (epoll). While a sweep runs, engine streams, samplers, the generator's pipes, database
 * sockets, child processes, timers and signals are all waited for here; there are no threads.
 *
 * How code uses it: straight-line code (the conductor's steps) calls functions such as engine_start() that
 * look blocking and inside call loop_wait_until(&done): that runs the loop, so that every other source goes
 * on being served. Callbacks, on the other hand, must be short, must not wait, and must not free the source
 * of another callback than by the functions here; loop_wait_until() asserts that it is not called from a
 * callback.
 *
 * Deadlines are CLOCK_MONOTONIC nanoseconds (clock.h); LOOP_FOREVER is none.
 */
#ifndef BENCHCTL_BASE_LOOP_H
#define BENCHCTL_BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "benchctl/base/error.h"
#include "benchctl/base/mem.h"

#define LOOP_FOREVER INT64_MAX

/* LOOP_PEER_CLOSED: of a socket, told only when it is watched for: the peer will send nothing more. What it
 * sent before may still have to be read. */
enum loop_event { LOOP_READ = 1, LOOP_WRITE = 2, LOOP_HANGUP = 4, LOOP_PEER_CLOSED = 8 };

struct loop;
struct loop_fd;
struct loop_timer;
struct loop_child;

int loop_new(struct loop **ret, struct error *err) MUST_CHECK;
void loop_free(struct loop *l); /* every source must have been removed before */
DEFINE_CLEANUP(struct loop *, loop_free);

/* Watches `fd` for `events` (LOOP_READ | LOOP_WRITE; hang-up always). The fd stays the caller's to close,
 * after removal. */
typedef void loop_fd_fn(int fd, unsigned events, void *data);
struct loop_fd *loop_add_fd(struct loop *l, int fd, unsigned events, loop_fd_fn *fn, void *data);
/* The same, but NULL with errno set when the machine has no room for one more (ENOSPC, ENOMEM). For those who
 * watch thousands. */
struct loop_fd *loop_try_add_fd(struct loop *l, int fd, unsigned events, loop_fd_fn *fn, void *data);
void loop_set_fd(struct loop_fd *w, unsigned events);                  /* 0 keeps only hang-up */
void loop_hand_over_fd(struct loop_fd *w, loop_fd_fn *fn, void *data); /* somebody else is told from now on */
void loop_remove_fd(struct loop_fd *w); /* NULL is fine; may be called from its own callback */

/* Calls fn once at `when_ns`, then every `every_ns` if that is > 0 (from the planned time, ticks missed are
 * skipped). */
typedef void loop_timer_fn(void *data);
struct loop_timer *loop_add_timer(struct loop *l, int64_t when_ns, int64_t every_ns, loop_timer_fn *fn,
                                  void *data);
void loop_set_timer(struct loop_timer *t, int64_t when_ns, int64_t every_ns); /* LOOP_FOREVER stops it */
void loop_remove_timer(struct loop_timer *t);                                 /* NULL is fine */

/* Calls fn once when the child has ended, with its wait status (waitpid form); the loop reaps it (by pidfd).
 */
typedef void loop_child_fn(pid_t pid, int wait_status, void *data);
struct loop_child *loop_add_child(struct loop *l, pid_t pid, loop_child_fn *fn, void *data);
void loop_remove_child(struct loop_child *c); /* stops watching; NULL is fine */

/* Delivers SIGINT, SIGTERM, SIGHUP through the loop (signalfd) from now on. At most one handler. */
typedef void loop_signal_fn(int signo, void *data);
int loop_catch_signals(struct loop *l, loop_signal_fn *fn, void *data, struct error *err) MUST_CHECK;
/* One more for the same handler (SIGUSR1, SIGTSTP, SIGCONT, ...), after loop_catch_signals(). */
int loop_catch_also(struct loop *l, int signo, struct error *err) MUST_CHECK;

/*
 * Runs the loop until *done, the deadline, or an interruption. 0 when *done; -1 with ERROR_TIMEOUT
 * ("timed out", the caller wraps) or ERROR_INTERRUPTED (loop_interrupt() was called and not shielded).
 */
int loop_wait_until(struct loop *l, const bool *done, int64_t deadline_ns, struct error *err) MUST_CHECK;

/* The same for two flags: returns when either is set. */
int loop_wait_either(struct loop *l, const bool *a, const bool *b, int64_t deadline_ns,
                     struct error *err) MUST_CHECK;

/* Sleeps while serving everything else; the same errors, except that the deadline is success. */
int loop_sleep_until(struct loop *l, int64_t deadline_ns, struct error *err) MUST_CHECK;

/*
 * Interruption: the signal handler calls loop_interrupt(); every wait then fails with ERROR_INTERRUPTED, so
 * the steps unwind. Clean-up runs between loop_shield(+1) and loop_shield(-1), where waits are not
 * interrupted.
 */
void loop_interrupt(struct loop *l);
bool loop_interrupted(const struct loop *l);
void loop_shield(struct loop *l, int delta);
/*
 * The same for one piece of the work: waits fail likewise, until whoever unwound that piece says that it is
 * over and goes on with the next. loop_piece_over() is true when there was nothing but that: false when no
 * such wish was there, or an interruption for good came as well, which stays.
 */
void loop_interrupt_piece(struct loop *l);
bool loop_piece_over(struct loop *l);

#endif

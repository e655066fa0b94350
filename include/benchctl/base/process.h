/* SPDX-License-Identifier: MIT */
/*
 * Child processes on the loop, each in a process group of its own, never through a shell.
 * Standard output and error go to files or to callbacks; standard input is /dev/null.
 * Stopping sends TERM to the group, after `grace` KILL, reaps, and is complete only when no member of the
 * group is left. Only group ids that this module created are ever signalled.
 */
#ifndef BENCHCTL_BASE_PROCESS_H
#define BENCHCTL_BASE_PROCESS_H

#include <sys/types.h>
#include "benchctl/base/loop.h"

struct process;

struct process_options {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up on PATH */
    const char *const
        *env; /* NULL-terminated "NAME=VALUE" added to (or replacing in) our environment; may be NULL */
    const char *cwd;    /* NULL: ours */
    const char *cpuset; /* NULL, or a CPU list "0,2-3" that the child is bound to */
    int stdout_fd,
        stderr_fd; /* descriptors that the child inherits as 1 and 2; stay the caller's; -1 is /dev/null */
};

/* How many processors a list such as "0,2-3" names, each once; 0: it is no list. */
int process_cpuset_size(const char *cpuset);

int process_start(struct loop *l, const struct process_options *options, struct process **ret,
                  struct error *err) MUST_CHECK;

/* Has it ended? Then the wait status is there. */
bool process_done(const struct process *p);
int process_status(const struct process *p);            /* wait status; only when done */
const bool *process_done_flag(const struct process *p); /* for loop_wait_until() */
pid_t process_pid(const struct process *p);
/* User + system CPU time of the child and its reaped children in ns, from wait4's rusage; only when done. */
int64_t process_cpu_ns(const struct process *p);

/* Ends the group as above and waits for it; fine when it has ended already. */
int process_stop(struct process *p, int64_t grace_ns, struct error *err) MUST_CHECK;
void process_free(struct process *p); /* kills the group (KILL) if it is still there */
DEFINE_CLEANUP(struct process *, process_free);

/* Runs argv to its end with a deadline and gives its output (at most 1 MiB each): versions and small helpers.
 */
struct process_output {
    int status; /* wait status */
    char *out, *err_text;
    size_t out_len;
};
int process_capture(struct loop *l, const struct process_options *options, int64_t deadline_ns,
                    struct process_output *ret, struct error *err) MUST_CHECK;
void process_output_release(struct process_output *o);

/* "exit status 3", "killed by signal 9 (KILL)": for messages. buf >= 64. */
const char *process_status_text(int wait_status, char *buf);

#endif

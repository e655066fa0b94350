/* SPDX-License-Identifier: MIT */
/* Why a container ended, in words that are always the same, and which witness said what. */
#include "benchctl/failure.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/strbuf.h"

/* A kill by somebody else explains a death with another code for so long: what it told to end took its time
 * (the engine itself waits 10 s before it kills). */
#define KILL_EXPLAINS_NS (15 * NS_PER_S)
/* What a child's end for want of memory brings about comes soon. */
#define CHILD_EXPLAINS_NS (5 * NS_PER_S)

#define PROGRAM_NOT_FOUND 127
#define PROGRAM_NOT_EXECUTED 126
#define START_FAILED 128

int exit_code_signal(int code)
{
    int signal = code > 128 ? code - 128 : 0;

    return signal && sigabbrev_np(signal) ? signal : 0;
}

static bool is_crash(int signal)
{
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};

    for (size_t i = 0; i < ARRAY_LEN(crashes); i++)
        if (signal == crashes[i])
            return true;
    return false;
}

/* An engine that kills with a signal is obeyed with its own code, with any other if the program had something
 * to say to it, and at last by SIGKILL. */
static bool killed_by_another(const struct ledger_exit *e)
{
    int signal = exit_code_signal(e->code);

    if (!e->foreign_signal)
        return false;
    if (signal == e->foreign_signal)
        return true;
    bool asked_to_end = e->foreign_signal == SIGTERM || e->foreign_signal == SIGINT ||
                        e->foreign_signal == SIGQUIT || e->foreign_signal == SIGHUP ||
                        e->foreign_signal == SIGKILL;
    return asked_to_end && !is_crash(signal) && e->wall_ns - e->foreign_ns < KILL_EXPLAINS_NS;
}

static bool child_explains(const struct ledger_exit *e)
{
    return e->code > 0 && !e->oom && e->ooms && e->wall_ns - e->last_oom_ns < CHILD_EXPLAINS_NS;
}

/* --- the cause --- */

static const struct death_facts nothing = {NAN, NAN, NAN, NULL, NULL, false};

static char *sigkill_unknown(const struct death_facts *f)
{
    if (isnan(f->memory_pct))
        return xstrdup("sigkill, cause unknown");
    return xasprintf("sigkill, cause unknown (memory was up to %.0f %% of the limit in the samples before)",
                     f->memory_pct);
}

static char *cause_of_signal(int signal)
{
    const char *name = sigabbrev_np(signal);

    if (is_crash(signal))
        return xasprintf("crashed (SIG%s)", name);
    if (signal == SIGTERM)
        return xstrdup("sigterm from elsewhere");
    return xasprintf("signal %d (%s)", signal, name);
}

static const char *cause_of_start(const struct death_facts *f, const char *state_error, int code)
{
    bool application;
    const char *text = f->start_line ? f->start_line : state_error;
    bool is_start =
        f->start_line || code == PROGRAM_NOT_FOUND || code == PROGRAM_NOT_EXECUTED || code == START_FAILED;
    const char *class = is_start && text && text[0] ? start_failure_class(code, text, &application) : NULL;

    if (!class)
        return NULL;
    return strcmp(class, "no such program") == 0      ? "command not found"
           : strcmp(class, "cannot be executed") == 0 ? class
                                                      : "start failed";
}

static bool is_oom(const struct ledger_exit *e, const struct death_facts *f)
{
    bool by_kernel = f->kernel_kills > 0 || f->in_kernel_log;

    return e->oom || (e->code == 128 + SIGKILL && by_kernel && !e->foreign_signal && !e->ooms);
}

static char *find_cause(const struct ledger_exit *e, const struct death_facts *f, const char *state_error)
{
    int signal = exit_code_signal(e->code);
    const char *start = cause_of_start(f, state_error, e->code);

    if (e->by_us)
        return xstrdup(signal == SIGKILL ? "killed by benchctl" : "stopped by benchctl");
    if (start)
        return xstrdup(start);
    if (is_oom(e, f))
        return xstrdup("oom");
    if (killed_by_another(e))
        return xasprintf("killed by somebody else (signal %d)", e->foreign_signal);
    if (signal == SIGKILL && f->host_kills > 0)
        return xstrdup("host out of memory");
    if (signal == SIGKILL)
        return sigkill_unknown(f);
    if (f->heap_line && e->code > 0 && (!signal || signal == SIGABRT)) /* the JVM ends or aborts itself */
        return xstrdup("java heap exhausted");
    if (signal)
        return cause_of_signal(signal);
    if (e->code < 0)
        return xstrdup("cause unknown");
    if (e->code == 0)
        return xstrdup("clean exit");
    return child_explains(e) ? xasprintf("exit %d after the oom kill of a child", e->code)
                             : xasprintf("exit %d", e->code);
}

char *ledger_cause(const struct ledger_exit *e, double memory_pct)
{
    struct death_facts f = nothing;

    f.memory_pct = memory_pct;
    return find_cause(e, &f, NULL);
}

/* --- the evidence --- */

static void add(struct strbuf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct strbuf *out, const char *fmt, ...)
{
    va_list args;

    if (out->len)
        strbuf_adds(out, "; ");
    va_start(args, fmt);
    strbuf_vaddf(out, fmt, args);
    va_end(args);
}

static double seconds_before(const struct ledger_exit *e, int64_t wall_ns)
{
    double s = (double)(e->wall_ns - wall_ns) / (double)NS_PER_S;

    return s > 0 ? s : 0; /* a kill is told of after the death, and before its event */
}

static void tell_code(struct strbuf *out, const struct ledger_exit *e)
{
    int signal = exit_code_signal(e->code);
    const char *name = signal ? sigabbrev_np(signal) : NULL;

    if (e->code < 0)
        add(out, "nobody has told of its end, but it was started again");
    else if (name)
        add(out, "exit code %d (SIG%s)", e->code, name);
    else
        add(out, "exit code %d", e->code);
    if (e->by_inspect)
        add(out, "by inspect, no die event");
}

/* What the three witnesses of an OOM kill say, each with its silence where that tells something. */
static void tell_oom(struct strbuf *out, const struct ledger_exit *e, const struct death_facts *f)
{
    bool concerned = e->code == 128 + SIGKILL || e->ooms || e->flag || f->kernel_kills > 0;

    if (!concerned)
        return;
    if (e->ooms)
        add(out, "%d oom event%s, the last %.2f s before", e->ooms, e->ooms == 1 ? "" : "s",
            seconds_before(e, e->last_oom_ns));
    else
        add(out, "no oom event");
    add(out, "OOMKilled %s", e->flag ? "true" : "not seen");
    if (f->kernel_kills > 0)
        add(out, "oom_kill of its cgroup rose by %.0f", f->kernel_kills);
    else if (!isnan(f->kernel_kills))
        add(out, "oom_kill of its cgroup had not risen at the last sample");
    if (f->in_kernel_log)
        add(out, "the kernel's log tells of the kill");
    if (f->host_kills > 0)
        add(out, "the kernel killed %.0f for want of memory on this machine, none by this container's limit",
            f->host_kills);
}

static void tell_memory(struct strbuf *out, const struct ledger_exit *e, const struct death_facts *f)
{
    if (!isnan(f->memory_pct) && (e->oom || e->code == 128 + SIGKILL))
        add(out, "memory was up to %.0f %% of the limit in the samples before", f->memory_pct);
}

void death_explain(const struct ledger *l, size_t exit, const struct death_facts *f, struct arena *a,
                   struct container_exit *ret)
{
    const struct ledger_exit *e = &l->exits.items[exit];
    const char *state_error = exit + 1 == l->starts.len && l->terminal ? l->state_error : NULL;
    CLEANUP_FREE char *cause = find_cause(e, f, state_error);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    tell_code(&text, e);
    if (e->by_us)
        add(&text, "benchctl had asked for it");
    tell_oom(&text, e, f);
    if (e->foreign_signal)
        add(&text, "kill event (signal %d) of somebody else %.2f s before", e->foreign_signal,
            seconds_before(e, e->foreign_ns));
    else if (e->code == 128 + SIGKILL && !e->by_us)
        add(&text, "no kill event");
    tell_memory(&text, e, f);
    if (f->heap_line && !e->oom)
        add(&text, "its log said '%s'", f->heap_line);
    if (f->start_line)
        add(&text, "its log said '%s'", f->start_line);
    else if (state_error && state_error[0])
        add(&text, "the engine said '%s'", state_error);
    ret->code = e->code;
    ret->oom = is_oom(e, f);
    ret->cause = arena_strdup(a, cause);
    ret->evidence = arena_strdup(a, strbuf_text(&text));
}

/* --- it never started --- */

static bool says(const char *text, const char *part)
{
    return strcasestr(text, part) != NULL;
}

const char *start_failure_class(int code, const char *text, bool *ret_application)
{
    *ret_application = false;
    if (!text || !text[0])
        return NULL;
    if (says(text, "port is already allocated") || says(text, "address already in use"))
        return "port taken";
    bool of_program = says(text, "exec ") || says(text, "exec:"); /* and not of a mount or a device */
    if (of_program && (says(text, "permission denied") || says(text, "exec format error") ||
                       says(text, "is a directory"))) {
        *ret_application = true;
        return "cannot be executed";
    }
    if (of_program && (says(text, "no such file") || says(text, "not found"))) {
        *ret_application = true;
        return "no such program";
    }
    return code >= PROGRAM_NOT_EXECUTED && code <= START_FAILED ? "start failed" : NULL;
}

static bool is_start_failure(const char *line)
{
    bool by_init = says(line, "tini") && says(line, " exec ") && says(line, " failed: ");

    return by_init || (says(line, "exec") && text_ends(line, ": exec format error"));
}

const char *start_failure_line(const char *log, struct arena *a)
{
    while (*log) {
        size_t len = strcspn(log, "\n");
        const char *line = arena_strndup(a, log, len);
        if (is_start_failure(line))
            return line;
        log += len + (log[len] == '\n');
    }
    return NULL;
}

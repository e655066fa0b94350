/* SPDX-License-Identifier: MIT */
/* For LD_PRELOAD: the wall clock jumps back by two hours when the program has run for 5 s. */
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

typedef int clock_fn(clockid_t id, struct timespec *t);

int clock_gettime(clockid_t id, struct timespec *t)
{
    static clock_fn *real;
    static time_t begin;
    struct timespec now;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    (void)real(CLOCK_MONOTONIC, &now);
    if (!begin)
        begin = now.tv_sec;
    int rc = real(id, t);
    if ((id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) && now.tv_sec - begin >= 5)
        t->tv_sec -= 7200;
    return rc;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec t;

    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    tv->tv_sec = t.tv_sec;
    tv->tv_usec = t.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *p)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_REALTIME, &t);
    if (p)
        *p = t.tv_sec;
    return t.tv_sec;
}

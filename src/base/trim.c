/* SPDX-License-Identifier: MIT */
#include "benchctl/base/mem.h"

#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>

/* "7f12...-7f13... r-xp 00000000 fe:00 1234 /usr/lib/...": code of a file. Never written, so nothing is lost;
 * read-only data is left alone, since the linker has written relocations into some of it. */
static int is_code_of_a_file(const char *line, uintptr_t *ret_begin, uintptr_t *ret_end)
{
    unsigned long begin, end, inode;
    char flags[8];

    if (sscanf(line, "%lx-%lx %7s %*x %*x:%*x %lu", &begin, &end, flags, &inode) != 4)
        return 0;
    *ret_begin = begin;
    *ret_end = end;
    return inode != 0 && flags[1] == '-' && flags[2] == 'x' && flags[3] == 'p';
}

void memory_trim(void)
{
    char line[512];
    uintptr_t begin, end;

    (void)malloc_trim(0);
#if !defined(__SANITIZE_ADDRESS__)
    CLEANUP(fclose) FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return;
    while (fgets(line, sizeof(line), maps))
        if (is_code_of_a_file(line, &begin, &end))
            (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
#else
    (void)line;
    (void)begin;
    (void)end;
    (void)is_code_of_a_file;
#endif
}

/* SPDX-License-Identifier: MIT */
/* A container's JVM among this machine's processes. */
#include "jvm_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "benchctl/base/fs.h"

#define COMMAND_MAX ((size_t)128 << 10)
#define MAPS_MAX ((size_t)1 << 20) /* the library is mapped early, at low addresses of the mapping area */
#define WORDS_MAX 1024
/* A container may be full of processes and files to keep us busy; a JVM is among the first of either. */
#define MAPS_LOOKS_MAX 100
#define FILES_MAX 10
#define FILE_MAX ((size_t)64 << 10)
#define NAMES_MAX 10000
#define USERS_MAX 100

struct search {
    const char *proc;
    struct arena *a;
    char space[64]; /* the container's pid namespace */
    int maps_looks;
};

static bool read_link(const struct search *s, int64_t pid, const char *name, char *buf, size_t size)
{
    CLEANUP_FREE char *path = xasprintf("%s/%lld/%s", s->proc, (long long)pid, name);
    ssize_t n = readlink(path, buf, size - 1);

    if (n <= 0)
        return false;
    buf[n] = '\0';
    return true;
}

/* A file of /proc, which says that it is empty: read until it ends, at most `max` bytes. */
static void read_proc(const struct search *s, int64_t pid, const char *name, size_t max, struct strbuf *out)
{
    CLEANUP_FREE char *path = xasprintf("%s/%lld/%s", s->proc, (long long)pid, name);
    CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char piece[4096];
    ssize_t n;

    while (fd >= 0 && out->len < max && (n = read(fd, piece, sizeof(piece))) > 0)
        strbuf_add(out, piece, (size_t)n);
    strbuf_addc(out, '\0');
}

/* Some launcher of its own that loads the virtual machine: the java beside that. NULL: no JVM. */
static const char *java_by_library(struct search *s, int64_t pid)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf maps = STRBUF_INIT;

    if (s->maps_looks++ >= MAPS_LOOKS_MAX)
        return NULL;
    read_proc(s, pid, "maps", MAPS_MAX, &maps);
    const char *found = strstr(maps.data, "/lib/server/libjvm.so");
    if (!found)
        return NULL;
    const char *start = found;
    while (start > maps.data && start[-1] != ' ' && start[-1] != '\n')
        start--;
    return arena_printf(s->a, "%.*s/bin/java", (int)(found - start), start);
}

/* Its number within the container. -1 unknown. */
static long long inner_pid(const struct search *s, int64_t pid)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf status = STRBUF_INIT;

    read_proc(s, pid, "status", 16384, &status);
    const char *line = strstr(status.data, "\nNSpid:");
    if (!line)
        return -1;
    line++;
    size_t end = strcspn(line, "\n");
    while (end > 0 && line[end - 1] >= '0' && line[end - 1] <= '9')
        end--;
    return strtoll(line + end, NULL, 10);
}

/* Below `dir`, which belongs to a container: no links, and nothing but a plain file or a directory is opened.
 */
static int open_plain(int dir, const char *name, mode_t type)
{
    struct stat st;
    char self[64];
    CLEANUP_CLOSE int found = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (found < 0 || fstat(found, &st) < 0 || (st.st_mode & S_IFMT) != type)
        return -1;
    (void)snprintf(self, sizeof(self), "/proc/self/fd/%d", found);
    return open(self, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (type == S_IFDIR ? O_DIRECTORY : 0));
}

static bool read_all(int fd, size_t max, struct strbuf *out)
{
    char piece[8192];
    ssize_t n;

    while (out->len < max && (n = read(fd, piece, sizeof(piece))) > 0)
        strbuf_add(out, piece, (size_t)n);
    return out->len > 0;
}

/* A plain file below the process' root or working directory, by a path that has no link in it. */
static int open_inside(const struct search *s, int64_t pid, const char *where, const char *path)
{
    CLEANUP_FREE char *start = xasprintf("%s/%lld/%s", s->proc, (long long)pid, where);
    int dir = open(start, O_PATH | O_DIRECTORY | O_CLOEXEC);

    while (dir >= 0) {
        path += strspn(path, "/");
        CLEANUP_FREE char *name = xasprintf("%.*s", (int)strcspn(path, "/"), path);
        path += strlen(name);
        bool last = !path[strspn(path, "/")];
        int next = text_equal(name, "..") ? -1 : open_plain(dir, name, last ? S_IFREG : S_IFDIR);
        (void)close(dir);
        if (last)
            return next;
        dir = next;
    }
    return -1;
}

struct words {
    const char **items;
    size_t len;
    int files;
};

/* What @FILE stands for, where the container's own file can be had; else the word itself. */
static void add_argument_file(const struct search *s, int64_t pid, const char *word, struct words *w)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_CLOSE int fd =
        w->files++ < FILES_MAX ? open_inside(s, pid, word[1] == '/' ? "root" : "cwd", word + 1) : -1;
    struct text_list inner = {0};

    if (fd < 0 || !read_all(fd, FILE_MAX, &text)) {
        w->items[w->len++] = word;
        return;
    }
    jvm_argument_words(text.data, text.len, s->a, &inner);
    for (size_t i = 0; i < inner.len && w->len < WORDS_MAX; i++)
        w->items[w->len++] = inner.items[i];
}

static void read_command(const struct search *s, int64_t pid, const char *java, struct jvm_launch *ret)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct words w = {.items = arena_array(s->a, const char *, WORDS_MAX + 1)};

    read_proc(s, pid, "cmdline", COMMAND_MAX, &text);
    w.items[w.len++] = java;
    for (size_t at = strlen(text.data) + 1; at < text.len && w.len < WORDS_MAX;
         at += strlen(text.data + at) + 1) {
        const char *word = arena_strdup(s->a, text.data + at);
        if (word[0] == '@' && word[1] && word[1] != '@')
            add_argument_file(s, pid, word, &w);
        else
            w.items[w.len++] = word;
    }
    jvm_launch_read(w.items, w.len, s->a, ret);
}

static bool read_data(int fd, struct arena *a, struct jvm_facts *ret)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;
    struct error ignored = ERROR_INIT;

    return read_all(fd, JVM_PERF_MAX, &bytes) && jvm_read_perf(bytes.data, bytes.len, a, ret, &ignored) == 0;
}

/* tmp/hsperfdata_USER/PID as the container sees it. */
static bool read_published(const struct search *s, int64_t pid, struct jvm_facts *ret)
{
    CLEANUP_FREE char *root_path = xasprintf("%s/%lld/root", s->proc, (long long)pid);
    char name[32];
    CLEANUP_CLOSE int root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    CLEANUP_CLOSE int tmp = root < 0 ? -1 : open_plain(root, "tmp", S_IFDIR);
    int listed = tmp < 0 ? -1 : fcntl(tmp, F_DUPFD_CLOEXEC, 0);
    CLEANUP(closedir) DIR *dir = listed < 0 ? NULL : fdopendir(listed);
    bool found = false;
    int names = 0, users = 0;

    if (!dir && listed >= 0)
        (void)close(listed);
    (void)snprintf(name, sizeof(name), "%lld", inner_pid(s, pid));
    for (struct dirent *e; dir && !found && names++ < NAMES_MAX && (e = readdir(dir));) {
        if (!text_starts(e->d_name, "hsperfdata_") || users++ >= USERS_MAX)
            continue;
        CLEANUP_CLOSE int user = open_plain(tmp, e->d_name, S_IFDIR);
        CLEANUP_CLOSE int file = user < 0 ? -1 : open_plain(user, name, S_IFREG);
        found = file >= 0 && read_data(file, s->a, ret);
    }
    return found;
}

/* Its java; NULL: not of this container, or no JVM. */
static const char *java_of(struct search *s, int64_t pid)
{
    char space[64], exe[1024];

    if (!read_link(s, pid, "ns/pid", space, sizeof(space)) || strcmp(space, s->space) != 0 ||
        !read_link(s, pid, "exe", exe, sizeof(exe)))
        return NULL;
    return jvm_is_java(exe) ? jvm_clean(s->a, exe, strlen(exe)) : java_by_library(s, pid);
}

static bool look_at(struct search *s, int64_t pid, struct jvm_launch *ret, struct jvm_facts *ret_facts)
{
    const char *java = java_of(s, pid);

    if (!java)
        return false;
    *ret_facts = jvm_facts_none();
    read_command(s, pid, java, ret);
    ret->running = 1;
    if (read_published(s, pid, ret_facts))
        ret_facts->source = "the running JVM's performance data";
    if (!ret_facts->options)
        ret_facts->options = ret->options_text;
    return true;
}

enum jvm_search jvm_process_find(const char *proc, int64_t pid, struct arena *a, struct jvm_launch *ret,
                                 struct jvm_facts *ret_facts)
{
    struct search s = {.proc = proc ? proc : "/proc", .a = a};
    char own[64], exe[1024];

    if (!read_link(&s, pid, "ns/pid", s.space, sizeof(s.space)) ||
        !read_link(&s, pid, "exe", exe, sizeof(exe)))
        return JVM_UNKNOWN;
    if (!read_link(&s, getpid(), "ns/pid", own, sizeof(own)) || strcmp(own, s.space) == 0)
        return look_at(&s, pid, ret, ret_facts)
                   ? JVM_FOUND
                   : JVM_NONE; /* it shares the host's: the others are not all its own */
    CLEANUP(closedir) DIR *dir = opendir(s.proc);
    bool found = false;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        int64_t one = strtoll(e->d_name, NULL, 10);
        if (one <= 0)
            continue;
        if (found)
            ret->running += java_of(&s, one) != NULL;
        else
            found = look_at(&s, one, ret, ret_facts);
    }
    return found ? JVM_FOUND : JVM_NONE;
}

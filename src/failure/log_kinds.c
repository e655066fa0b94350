/* SPDX-License-Identifier: MIT */
/* What the lines of a log say that nobody else does. Words are those of the run-time systems, drivers and
 * pools themselves. */
#include "benchctl/failure.h"

#include <string.h>

enum kind {
    JAVA_METASPACE,
    JAVA_DIRECT_MEMORY,
    JAVA_NATIVE_THREAD,
    JAVA_NATIVE_MEMORY,
    JAVA_HEAP,
    JVM_CRASH,
    NODE_HEAP,
    GO_MEMORY,
    GO_PANIC,
    PYTHON_MEMORY,
    DOTNET_MEMORY,
    ALLOCATION_FAILED,
    CONNECTION_LIMIT,
    STALE_SESSION,
    DEADLOCK,
    SERIALIZATION,
    STATEMENT_TIMEOUT,
    LOCK_TIMEOUT,
    STATEMENT_CANCELLED,
    DATABASE_GONE,
    DATABASE_MEMORY,
    POOL_EXHAUSTED,
    FILE_DESCRIPTORS,
    LOCAL_PORTS,
    ADDRESS_IN_USE,
    NAME_RESOLUTION,
    DISK_FULL,
    SHARED_MEMORY,
    KINDS
};

const struct log_kind log_kinds[] = {
    [JAVA_METASPACE] = {"java-metaspace", "java metaspace exhausted", true},
    [JAVA_DIRECT_MEMORY] = {"java-direct-memory", "java direct memory exhausted", true},
    [JAVA_NATIVE_THREAD] = {"java-native-thread", "no thread could be made", true},
    [JAVA_NATIVE_MEMORY] = {"java-native-memory", "the JVM got no memory from the system", true},
    [JAVA_HEAP] = {"java-heap", "java heap exhausted", true},
    [JVM_CRASH] = {"jvm-crash", "the JVM itself crashed", true},
    [NODE_HEAP] = {"node-heap", "JavaScript heap exhausted", true},
    [GO_MEMORY] = {"go-memory", "the Go runtime got no memory", true},
    [GO_PANIC] = {"go-panic", "the program panicked", true},
    [PYTHON_MEMORY] = {"python-memory", "Python got no memory", true},
    [DOTNET_MEMORY] = {"dotnet-memory", ".NET got no memory", true},
    [ALLOCATION_FAILED] = {"allocation-failed", "an allocation of memory failed", true},
    [CONNECTION_LIMIT] = {"connection-limit", "the database's connection slots used up (53300)", true},
    [STALE_SESSION] = {"stale-session", "sessions were stale: their statements or tables had gone", false},
    [DEADLOCK] = {"deadlock", "the database resolved deadlocks (40P01)", false},
    [SERIALIZATION] = {"serialization-failure", "transactions could not be serialized (40001)", false},
    [STATEMENT_TIMEOUT] = {"statement-timeout", "statements took longer than allowed (57014)", false},
    [LOCK_TIMEOUT] = {"lock-timeout", "locks were waited for longer than allowed (55P03)", false},
    [STATEMENT_CANCELLED] = {"statement-cancelled", "statements were cancelled (57014)", true},
    [DATABASE_GONE] = {"database-gone", "the database went away or was not up yet", false},
    [DATABASE_MEMORY] = {"database-memory", "the database got no memory (53200)", false},
    [POOL_EXHAUSTED] = {"pool-exhausted", "the connection pool had none to give", true},
    [FILE_DESCRIPTORS] = {"file-descriptors", "too many open files", true},
    [LOCAL_PORTS] = {"local-ports", "no local port was free", false},
    [ADDRESS_IN_USE] = {"address-in-use", "the port was taken", false},
    [NAME_RESOLUTION] = {"name-resolution", "host names could not be resolved", false},
    [DISK_FULL] = {"disk-full", "the disk was full", false},
    [SHARED_MEMORY] = {"shared-memory", "/dev/shm was too small", false},
};
const size_t log_kind_count = sizeof(log_kinds) / sizeof(*log_kinds);
_Static_assert(sizeof(log_kinds) / sizeof(*log_kinds) == KINDS, "each has its row");

/* A line is of the first kind whose words it has. */
struct sign {
    enum kind kind;
    const char *words; /* what is looked for: SHORTEST bytes or more */
    const char *also;  /* somewhere behind it; NULL: nothing more */
    bool code;         /* a SQLSTATE: by itself it could be any number */
    bool first;        /* the line begins with it */
};

#define SHORTEST 5 /* of all words: that of a SQLSTATE */

static const struct sign signs[] = {
    {.kind = JAVA_METASPACE, .words = "OutOfMemoryError: Metaspace"},
    {.kind = JAVA_METASPACE, .words = "OutOfMemoryError: Compressed class space"},
    {.kind = JAVA_DIRECT_MEMORY, .words = "OutOfMemoryError: Direct buffer memory"},
    {.kind = JAVA_DIRECT_MEMORY, .words = "OutOfMemoryError: Cannot reserve", .also = "direct buffer memory"},
    {.kind = JAVA_DIRECT_MEMORY, .words = "OutOfDirectMemoryError"},
    {.kind = JAVA_NATIVE_THREAD, .words = "unable to create native thread"},
    {.kind = JAVA_NATIVE_THREAD, .words = "unable to create new native thread"},
    {.kind = JAVA_NATIVE_MEMORY, .words = "There is insufficient memory for the Java Runtime Environment"},
    {.kind = JAVA_NATIVE_MEMORY, .words = "OutOfMemoryError: Map failed"},
    {.kind = JAVA_HEAP, .words = "OutOfMemoryError: Java heap space"},
    {.kind = JAVA_HEAP, .words = "OutOfMemoryError: GC overhead limit exceeded"},
    {.kind = JAVA_HEAP, .words = "OutOfMemoryError: Garbage-collected heap size exceeded"},
    {.kind = JAVA_HEAP,
     .words = "java.lang.OutOfMemoryError"}, /* without a reason: there was no room for it */
    {.kind = JVM_CRASH, .words = "A fatal error has been detected by the Java Runtime Environment"},
    {.kind = JVM_CRASH, .words = "SubstrateSegfaultHandler caught a segfault"},
    {.kind = NODE_HEAP, .words = "JavaScript heap out of memory"},
    {.kind = GO_MEMORY, .words = "fatal error: runtime: out of memory"},
    {.kind = GO_MEMORY, .words = "fatal error: runtime: cannot allocate memory"},
    {.kind = GO_PANIC, .words = "panic: ", .first = true},
    {.kind = GO_PANIC, .words = "http: panic serving"},
    {.kind = GO_PANIC, .words = "fatal error: all goroutines are asleep"},
    {.kind = GO_PANIC, .words = "fatal error: concurrent map"},
    {.kind = PYTHON_MEMORY, .words = "MemoryError", .first = true},
    {.kind = PYTHON_MEMORY, .words = "numpy", .also = "_ArrayMemoryError"},
    {.kind = DOTNET_MEMORY, .words = "System.OutOfMemoryException"},
    {.kind = DOTNET_MEMORY, .words = "Out of memory.", .first = true},
    {.kind = ALLOCATION_FAILED, .words = "std::bad_alloc"},
    {.kind = ALLOCATION_FAILED, .words = "memory allocation of ", .also = " bytes failed"},
    {.kind = CONNECTION_LIMIT, .words = "sorry, too many clients already"},
    {.kind = CONNECTION_LIMIT, .words = "remaining connection slots are reserved"},
    {.kind = CONNECTION_LIMIT, .words = "too many connections for database"},
    {.kind = CONNECTION_LIMIT, .words = "too many connections for role"},
    {.kind = CONNECTION_LIMIT, .words = "no more connections allowed"},
    {.kind = CONNECTION_LIMIT, .words = "Too many connections"},
    {.kind = CONNECTION_LIMIT, .words = "53300", .code = true},
    {.kind = STALE_SESSION, .words = "cached plan must not change result type"},
    {.kind = STALE_SESSION, .words = "prepared statement ", .also = " does not exist"},
    {.kind = STALE_SESSION, .words = "prepared statement ", .also = " already exists"},
    {.kind = STALE_SESSION, .words = "relation \"", .also = "\" does not exist"},
    {.kind = STALE_SESSION, .words = "26000", .code = true},
    {.kind = STALE_SESSION, .words = "42P01", .code = true},
    {.kind = STALE_SESSION, .words = "42P05", .code = true},
    {.kind = DEADLOCK, .words = "deadlock detected"},
    {.kind = DEADLOCK, .words = "Deadlock found when trying to get lock"},
    {.kind = DEADLOCK, .words = "40P01", .code = true},
    {.kind = SERIALIZATION, .words = "could not serialize access"},
    {.kind = SERIALIZATION, .words = "40001", .code = true},
    {.kind = STATEMENT_TIMEOUT, .words = "canceling statement due to statement timeout"},
    {.kind = LOCK_TIMEOUT, .words = "canceling statement due to lock timeout"},
    {.kind = LOCK_TIMEOUT, .words = "55P03", .code = true},
    {.kind = STATEMENT_CANCELLED, .words = "canceling statement due to user request"},
    {.kind = STATEMENT_CANCELLED, .words = "57014", .code = true},
    {.kind = DATABASE_GONE, .words = "terminating connection due to administrator command"},
    {.kind = DATABASE_GONE, .words = "terminating connection because of crash of another server process"},
    {.kind = DATABASE_GONE, .words = "the database system is shutting down"},
    {.kind = DATABASE_GONE, .words = "the database system is starting up"},
    {.kind = DATABASE_GONE, .words = "the database system is in recovery mode"},
    {.kind = DATABASE_GONE, .words = "server closed the connection unexpectedly"},
    {.kind = DATABASE_GONE, .words = "57P01", .code = true},
    {.kind = DATABASE_GONE, .words = "57P03", .code = true},
    {.kind = DATABASE_MEMORY, .words = "53200", .code = true},
    {.kind = POOL_EXHAUSTED, .words = "Connection is not available, request timed out"},
    {.kind = POOL_EXHAUSTED, .words = "PoolAcquireTimeoutException"},
    {.kind = POOL_EXHAUSTED, .words = "PoolAcquirePendingLimitException"},
    {.kind = POOL_EXHAUSTED, .words = "Acquisition timeout while waiting for new connection"},
    {.kind = POOL_EXHAUSTED, .words = "Sorry, acquisition timeout"},
    {.kind = POOL_EXHAUSTED, .words = "Connection acquisition timed out"},
    {.kind = POOL_EXHAUSTED, .words = "timeout exceeded when trying to connect"},
    {.kind = POOL_EXHAUSTED, .words = "Timeout acquiring a connection"},
    {.kind = POOL_EXHAUSTED, .words = "QueuePool limit of size"},
    {.kind = POOL_EXHAUSTED, .words = "couldn't get a connection after"},
    {.kind = POOL_EXHAUSTED, .words = "pool timed out while waiting for an open connection"},
    {.kind = POOL_EXHAUSTED, .words = "Timeout: Pool empty"},
    {.kind = POOL_EXHAUSTED, .words = "pool error Timeout waiting for idle object"},
    {.kind = FILE_DESCRIPTORS, .words = "Too many open files"},
    {.kind = FILE_DESCRIPTORS, .words = "too many open files"},
    {.kind = FILE_DESCRIPTORS, .words = "EMFILE"},
    {.kind = LOCAL_PORTS, .words = "Cannot assign requested address"},
    {.kind = LOCAL_PORTS, .words = "cannot assign requested address"},
    {.kind = LOCAL_PORTS, .words = "EADDRNOTAVAIL"},
    {.kind = ADDRESS_IN_USE, .words = "ddress already in use"},
    {.kind = ADDRESS_IN_USE, .words = "EADDRINUSE"},
    {.kind = NAME_RESOLUTION, .words = "emporary failure in name resolution"},
    {.kind = NAME_RESOLUTION, .words = "Name or service not known"},
    {.kind = NAME_RESOLUTION, .words = "Name does not resolve"},
    {.kind = NAME_RESOLUTION, .words = "could not translate host name"},
    {.kind = NAME_RESOLUTION, .words = "ould not resolve host"},
    {.kind = NAME_RESOLUTION, .words = "getaddrinfo ENOTFOUND"},
    {.kind = NAME_RESOLUTION, .words = "getaddrinfo EAI_AGAIN"},
    {.kind = NAME_RESOLUTION, .words = "java.net.UnknownHostException"},
    {.kind = NAME_RESOLUTION, .words = "Failed to resolve '"},
    {.kind = NAME_RESOLUTION, .words = "dial tcp: lookup "},
    {.kind = DISK_FULL, .words = "No space left on device"},
    {.kind = DISK_FULL, .words = "no space left on device"},
    {.kind = DISK_FULL, .words = "ENOSPC"},
    {.kind = SHARED_MEMORY, .words = "could not resize shared memory segment"},
};
#define SIGNS (sizeof(signs) / sizeof(*signs))
_Static_assert(SIGNS < 255, "their numbers are bytes");

static bool has(const char *line, size_t len, const char *words)
{
    return memmem(line, len, words, strlen(words)) != NULL;
}

static bool is_word_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '.' || c == '-';
}

/* Five digits may be anything: a word of their own, in a line that speaks of a state or an error. */
static bool is_code(const char *line, size_t len, size_t at)
{
    static const char *const contexts[] = {"SQLSTATE", "SQLState", "sqlState", "sqlstate",
                                           "code",     "Code",     "ERROR",    "FATAL"};

    if ((at && is_word_byte(line[at - 1])) || (at + SHORTEST < len && is_word_byte(line[at + SHORTEST])))
        return false;
    for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++)
        if (has(line, len, contexts[i]))
            return true;
    return false;
}

static bool stands_at(const struct sign *s, const char *line, size_t len, size_t at)
{
    if (line[at] != s->words[0])
        return false;
    size_t words = strlen(s->words);
    if (words > len - at || memcmp(line + at, s->words, words) != 0 || (s->first && at))
        return false;
    if (s->code && !is_code(line, len, at))
        return false;
    return !s->also || has(line + at + words, len - at - words, s->also);
}

/*
 * How far a search may jump (Wu and Manber): by two bytes, the last of the first five of what could stand
 * here. Most lines of a log are none of these, and only some of their bytes are looked at.
 */
struct jumps {
    bool made;
    unsigned char by[1 << 16];
    /* signs, their numbers plus 1, whose first five bytes end with this pair; 0 ends the list */
    unsigned char head[1 << 16], next[SIGNS + 1];
};

static size_t pair_at(const char *p)
{
    return (size_t)(unsigned char)p[0] << 8 | (unsigned char)p[1];
}

static const struct jumps *jumps_of(void)
{
    static struct jumps j;

    if (j.made)
        return &j;
    memset(j.by, SHORTEST - 1, sizeof(j.by));
    for (size_t i = SIGNS; i-- > 0;) {
        for (size_t k = 0; k + 1 < SHORTEST; k++) {
            unsigned char *by = &j.by[pair_at(signs[i].words + k)];
            if (SHORTEST - 2 - k < *by)
                *by = (unsigned char)(SHORTEST - 2 - k);
        }
        unsigned char *head = &j.head[pair_at(signs[i].words + SHORTEST - 2)];
        j.next[i + 1] = *head;
        *head = (unsigned char)(i + 1);
    }
    j.made = true;
    return &j;
}

const struct log_kind *log_line_kind(const char *line, size_t len)
{
    const struct jumps *j = jumps_of();
    size_t best = SIGNS;

    for (size_t at = 0; at + SHORTEST <= len;) {
        size_t pair = pair_at(line + at + SHORTEST - 2);
        for (size_t n = j->head[pair]; n && n - 1 < best; n = j->next[n])
            if (stands_at(&signs[n - 1], line, len, at))
                best = n - 1;
        at += j->by[pair] ? j->by[pair] : 1;
    }
    return best < SIGNS ? &log_kinds[signs[best].kind] : NULL;
}

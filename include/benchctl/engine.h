/* SPDX-License-Identifier: MIT */
/*
 * A Docker Engine, local or remote: the dozen verbs that a sweep needs, over its HTTP API. Not a general
 * client.
 *
 * An engine is a value: roles of a trial refer to one, later perhaps each to another. All calls look blocking
 * and run the loop inside (loop.h), each with a deadline; engine_start_async() and engine_remove_async() let
 * a step overlap with other work. Every object that is created carries labels; nothing is found or removed by
 * name or image, nothing is ever pruned. `struct json *` results are the caller's.
 */
#ifndef BENCHCTL_ENGINE_H
#define BENCHCTL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include "benchctl/base/json.h"
#include "benchctl/base/schema.h"
#include "benchctl/http.h"

/* Labels on everything we create. */
#define LABEL_RUN "org.benchctl.run"     /* the sweep's run id (a random hex id) */
#define LABEL_OWNER "org.benchctl.owner" /* who made it, see engine_owner_label() */
#define LABEL_ROLE "org.benchctl.role"   /* app, database, load, a service's name, network */
#define LABEL_SCENARIO "org.benchctl.scenario"
#define LABEL_TRIAL "org.benchctl.trial"
#define LABEL_DIR "org.benchctl.dir" /* the run directory */

struct engine;

/* From --engine or the environment: unix:///path, tcp://host:port (TLS when DOCKER_TLS_VERIFY is set, with
 * DOCKER_CERT_PATH), http:// and https:// alike; NULL url: DOCKER_HOST, else unix:///var/run/docker.sock.
 * Negotiates the API version without a prefix and refuses with both ranges when they do not meet.
 * ERROR_ENVIRONMENT with a hint when nobody answers. */
int engine_open(struct loop *l, struct http *h, const char *url, struct engine **ret,
                struct error *err) MUST_CHECK;
void engine_close(struct engine *e);
DEFINE_CLEANUP(struct engine *, engine_close);

/* Every call of this engine also ends at this instant (ERROR_TIMEOUT), for instance a trial's time limit.
 * LOOP_FOREVER, the default, is none: set that again before cleaning up. */
void engine_set_deadline(struct engine *e, int64_t deadline_ns);

/* Value of LABEL_OWNER for this process, HOST:PID:STARTTIME, to tell the dead from the living. Returns buf.
 */
#define ENGINE_OWNER_SIZE 192
const char *engine_owner_label(char buf[ENGINE_OWNER_SIZE]);
/* False only when the owner certainly is no more: its host is this one, and the process is gone or another
 * one has its number. Of another host, NULL or not readable: true, hands off. */
bool engine_owner_alive(const char *owner);

/* What is known since engine_open(); strings belong to the engine. */
struct engine_facts {
    const char *url, *name, *version, *api_version; /* name: "Docker Engine", "Podman", ... */
    const char *id;                                 /* /info ID, to notice another engine */
    const char *kernel, *storage_driver, *cgroup_driver, *os;
    int cgroup_version;            /* 1, 2, or 0 when unknown */
    bool local;                    /* a Unix socket: cgroup files of its containers may be readable */
    bool memory_limit, swap_limit; /* what /info says it can enforce */
    int64_t memory_bytes;
    int cpus;
    int64_t clock_offset_ns; /* the engine's wall clock minus ours, to a few milliseconds */
};
const struct engine_facts *engine_facts(const struct engine *e);
/* On a connection of its own, within two seconds. False also when the loop was interrupted. */
bool engine_answers(struct engine *e);
/* How many calls have failed for the engine's own sake so far: no answer in time, a connection that broke,
 * HTTP status 500 and above. */
uint64_t engine_faults(const struct engine *e);
int engine_info(struct engine *e, struct json **ret, struct error *err) MUST_CHECK; /* /info */

/* --- images --- */

struct engine_image {
    char *id;            /* sha256:... : containers are created from this, not from the tag */
    char **repo_digests; /* NULL-terminated */
    char *architecture, *os;
    int64_t size_bytes;
    struct json *inspect; /* the whole reply */
};
void engine_image_release(struct engine_image *i);

/* ERROR_NOT_FOUND when the engine does not have it. */
int engine_image_inspect(struct engine *e, const char *reference, struct engine_image *ret,
                         struct error *err) MUST_CHECK;

/* What two inspect replies prove about each other, also of different engines. Either may be NULL. */
enum image_likeness {
    IMAGES_UNLIKE,      /* nothing shows that they are the same */
    IMAGES_SAME_LAYERS, /* the same files; whether the same configuration is unknown */
    IMAGES_SAME_DIGEST, /* one registry digest */
    IMAGES_SAME_ID      /* one id, in the same kind of image store */
};
enum image_likeness engine_images_compare(const struct json *a, const struct json *b);

/* Progress lines of build, pull and load: one short text each. May be NULL. */
typedef void engine_progress_fn(const char *line, void *data);

struct engine_build {
    const char *context;    /* directory; sent as a tar stream (archive module), .dockerignore honoured */
    const char *dockerfile; /* relative to the context; NULL: Dockerfile */
    const char *tag;        /* NULL: none */
    /* May be NULL. Labels of an image are inherited by every container made from it, also by other people:
     * never give it LABEL_RUN or LABEL_OWNER. */
    const struct text_map *args, *labels;
    engine_progress_fn *progress;
    void *data;
    int64_t timeout_ns;
};
/* The image id, from the build's own stream. A failed step gives its output's tail. */
int engine_image_build(struct engine *e, const struct engine_build *b, char **ret_id,
                       struct error *err) MUST_CHECK;
/* Pull; credentials are the caller's JSON for X-Registry-Auth or NULL. An error inside the 200 stream is an
 * error, and so is an early end. Without a tag or digest the tag is "latest". */
int engine_image_pull(struct engine *e, const char *reference, const char *auth_json,
                      engine_progress_fn *progress, void *data, struct error *err) MUST_CHECK;
/* `docker load` of an archive file, and `docker import` of a root file system tar. */
int engine_image_load(struct engine *e, const char *path, engine_progress_fn *progress, void *data,
                      struct error *err) MUST_CHECK;
int engine_image_import(struct engine *e, const char *path, const char *reference,
                        const struct text_list *changes, char **ret_id, struct error *err) MUST_CHECK;

/* `docker save` of images (ids or references): a tar, read piece by piece as fast as it is taken. */
struct engine_export;
int engine_export_open(struct engine *e, const char *const *images, size_t count, struct engine_export **ret,
                       struct error *err) MUST_CHECK;
/* Waits for bytes: the count, 0 at the proper end, -1. ERROR_NOT_FOUND when the engine has no such image. */
ptrdiff_t engine_export_read(struct engine_export *x, void *buffer, size_t size,
                             struct error *err) MUST_CHECK;
void engine_export_close(struct engine_export *x); /* NULL is fine */
DEFINE_CLEANUP(struct engine_export *, engine_export_close);

/* `docker load` of a tar that is made while it is sent. *ret_id is the id of the last image that the engine
 * says it has loaded without a name, or NULL; the caller frees. */
struct engine_upload {
    http_read_fn *read;
    void *read_data;
    engine_progress_fn *progress; /* may be NULL */
    void *data;
};
int engine_image_upload(struct engine *e, const struct engine_upload *u, char **ret_id,
                        struct error *err) MUST_CHECK;
/* Names an image: name[:tag]. A name that another image had is taken from it: look first. */
int engine_image_tag(struct engine *e, const char *id, const char *reference, struct error *err) MUST_CHECK;

/* --- networks --- */

/* When the engine has no address pool left, the hint names the networks that dead sweeps of ours left. */
int engine_network_create(struct engine *e, const char *name, const struct text_map *labels, char **ret_id,
                          struct error *err) MUST_CHECK;
int engine_network_remove(struct engine *e, const char *id,
                          struct error *err) MUST_CHECK; /* gone already is fine */

/* --- containers --- */

enum restart_policy { RESTART_NO, RESTART_ON_FAILURE, RESTART_ALWAYS, RESTART_UNLESS_STOPPED };

struct engine_container {
    const char *name;                             /* carries the run id */
    const char *image;                            /* an id */
    const char *alias;                            /* on the network; NULL: none */
    const char *network;                          /* network id, "host" or "none" */
    const struct text_map *env;                   /* name, value; values may be secret */
    const struct text_list *entrypoint, *command; /* NULL or empty: the image's */
    const struct text_map *labels;
    const char *cpuset, *user, *working_dir;
    int64_t memory_bytes, swap_bytes; /* SIZE_UNLIMITED; swap is the extra beyond memory: 0 = off, sent as
                                         MemorySwap = memory */
    double cpus;                      /* NAN: no limit */
    int64_t pids;                     /* SIZE_UNLIMITED */
    int64_t shm_bytes;                /* SCHEMA_ABSENT: the engine's default */
    enum restart_policy restart;
    int64_t restart_max;           /* 0: no maximum */
    bool init;                     /* a reaping PID 1 */
    const struct text_list *binds; /* HOST:CONTAINER[:ro] */
    const struct text_list *tmpfs;
    const char *stop_signal; /* NULL: the image's */
    bool quiet_logs;         /* no log driver at all */
};
/* The new container's id; warnings of the reply (newline-separated, "" if none) go to ret_warnings. When the
 * name is taken: a holder that a dead benchctl left is removed; any other is named in the error
 * (ERROR_CONFLICT). When the answer got lost on its way, the container may exist all the same: it has its
 * labels. */
int engine_container_create(struct engine *e, const struct engine_container *c, char **ret_id,
                            char **ret_warnings, struct error *err) MUST_CHECK;

/* What inspect says, parsed; unknown numbers NAN or SCHEMA_ABSENT. */
struct engine_state {
    char *status; /* created, running, paused, restarting, removing, exited, dead */
    bool running, restarting, oom_killed, paused, dead;
    int exit_code;
    int64_t pid;
    char *error;                               /* State.Error */
    int64_t started_wall_ns, finished_wall_ns; /* -1 unset */
    char *started_at, *finished_at;
    int64_t restart_count;
    char *health;  /* NULL when there is no health check */
    char *address; /* on the network it was created with; NULL: none */
    char *image_id;
    bool tty;
    /* what the engine says it applied */
    int64_t memory_bytes, swap_bytes, pids; /* SIZE_UNLIMITED; swap: extra beyond memory */
    double cpus;
    char *cpuset;
    struct json *inspect; /* the whole reply */
};
void engine_state_release(struct engine_state *s);
int engine_state_parse(const struct json *inspect, struct engine_state *ret, struct error *err) MUST_CHECK;
int engine_container_inspect(struct engine *e, const char *id, struct engine_state *ret,
                             struct error *err) MUST_CHECK;

/* Running already is fine. When it fails, the container is still there in state `created`: remove it. The
 * hint then has State.Error where that says more. */
int engine_container_start(struct engine *e, const char *id, struct error *err) MUST_CHECK;
int engine_container_stop(struct engine *e, const char *id, int grace_s,
                          struct error *err) MUST_CHECK; /* stopped already is fine */
int engine_container_kill(struct engine *e, const char *id, const char *signal, struct error *err) MUST_CHECK;
int engine_container_wait(struct engine *e, const char *id, int *ret_code,
                          struct error *err) MUST_CHECK; /* not the end under a restart policy */
/* force, volumes; "not found" and "already in progress" are fine, then waits (bounded) until it is gone. What
 * is refused with a fault of the engine is asked for again, three times in all; what is paused is made to
 * run. */
int engine_container_remove(struct engine *e, const char *id, struct error *err) MUST_CHECK;

/* A file or folder out of a container (running or not), as a tar written to fd. ERROR_NOT_FOUND: no such
 * path. */
int engine_container_copy(struct engine *e, const char *id, const char *path, int fd,
                          struct error *err) MUST_CHECK;

/* A command in a container that runs, beside its main process. */
struct engine_exec {
    const struct text_list *command; /* at least one word */
    const char *working_dir;         /* NULL: the container's */
    int stdout_fd, stderr_fd;        /* as in struct engine_log_options, and so are the next three */
    int64_t max_bytes;
    void (*on_line)(const char *line, size_t len, bool is_stderr, void *data);
    void *data;
    int64_t timeout_ns; /* 0: none */
};
struct engine_exec_end {
    int code;
    int64_t duration_ns; /* from the call that starts it to the end of its output, by our clock */
};
/* Waits for its end. ERROR_TIMEOUT when it did not come in time: the command goes on in the container. What
 * cannot be executed ends with code 126 or 127. */
int engine_exec(struct engine *e, const char *id, const struct engine_exec *x, struct engine_exec_end *ret,
                struct error *err) MUST_CHECK;

/* A call under way. Owned by the caller; engine_call_wait() finishes it; engine_call_free() abandons it. */
struct engine_call;
int engine_start_async(struct engine *e, const char *id, struct engine_call **ret,
                       struct error *err) MUST_CHECK;
int engine_remove_async(struct engine *e, const char *id, struct engine_call **ret,
                        struct error *err) MUST_CHECK;
int engine_call_wait(struct engine_call *c, struct error *err) MUST_CHECK;
/* The same, but ERROR_TIMEOUT at the deadline: the engine may be at it for ever. */
int engine_call_wait_until(struct engine_call *c, int64_t deadline_ns, struct error *err) MUST_CHECK;
bool engine_call_done(const struct engine_call *c);
void engine_call_free(struct engine_call *c);
DEFINE_CLEANUP(struct engine_call *, engine_call_free);

/* Objects that carry LABEL_RUN (value `run`, or any when NULL): for clean and for leftovers. */
struct engine_object {
    bool is_network;
    char *id, *name, *image, *state, *run, *owner, *role, *dir;
    int64_t created_wall_s;
};
struct engine_objects {
    struct engine_object *items;
    size_t len;
};
int engine_list_ours(struct engine *e, const char *run, struct engine_objects *ret,
                     struct error *err) MUST_CHECK;
/* Every running container, whoever made it: `run` is "" for those that are not ours. */
int engine_list_running(struct engine *e, struct engine_objects *ret, struct error *err) MUST_CHECK;
void engine_objects_release(struct engine_objects *o);

/* --- streams --- */

struct engine_stream;
void engine_stream_close(struct engine_stream *s); /* NULL is fine */
DEFINE_CLEANUP(struct engine_stream *, engine_stream_close);

struct engine_event {
    const char *type, *action;   /* "container"; start, die, oom, kill, health_status: healthy, ... */
    const char *id;              /* the object's */
    const char *role, *scenario; /* from our labels; "" when absent */
    int exit_code;               /* die; -1 otherwise */
    int signal;                  /* kill; 0 otherwise */
    int64_t wall_ns;             /* timeNano */
    const struct json *raw;
};
/* `gap` is called when events may be missing, because the stream had ended and has just been opened again
 * (with since), or because a part of it was not readable. Inspect what matters then. May be NULL. Both are
 * callbacks of the loop. */
struct engine_event_handler {
    void (*event)(const struct engine_event *ev, void *data);
    void (*gap)(const char *why, void *data);
    void *data;
};
/* Subscribes to events of containers with LABEL_RUN=run; is connected when it returns. Reconnects by itself
 * until it is closed. Exact repeats are dropped. */
int engine_events_open(struct engine *e, const char *run, const struct engine_event_handler *h,
                       struct engine_stream **ret, struct error *err) MUST_CHECK;

/* A stream that is quiet may be one that is dead and stays open. Asks for what has happened since then (our
 * clock) until a second ago, and hands on what the stream has not told: *ret_missed is how many. If it is
 * any, the stream is opened anew. Asking costs the engine a call: after a load, not during one. `s` must come
 * from engine_events_open(). */
int engine_events_verify(struct engine_stream *s, int64_t since_wall_ns, int *ret_missed,
                         struct error *err) MUST_CHECK;
/* False while it is broken and not yet open again: nobody hears what happens. `s` must come from
 * engine_events_open(). */
bool engine_events_connected(const struct engine_stream *s);

/* Follows a container's log into two open files (the same fd twice is fine), demultiplexed; reopens by itself
 * when the restart policy starts the container again, without repeating lines. Open it after the start.
 * `on_line` (may be NULL) gets each line of both without its newline (at most 64 KiB of it at a time), for
 * readiness by log. */
struct engine_log_options {
    int stdout_fd, stderr_fd; /* stay the caller's; -1: not written */
    int64_t max_bytes;        /* per channel, 0: no limit; more is dropped and counted */
    void (*on_line)(const char *line, size_t len, bool is_stderr, void *data);
    void *data;
    int64_t since_wall_ns; /* engine_logs_save() only: lines from then on, by our clock; 0: all */
    /* engine_logs_save() only: set before each on_line to when the engine had the line, by its clock; 0: it
     * does not say. NULL: nobody asks. */
    int64_t *line_wall_ns;
    /* engine_logs_open() only: a stream without a byte for so long is closed and opened again from its last
     * line on, since it may be dead. 0: never. */
    int64_t idle_ns;
};
int engine_logs_open(struct engine *e, const char *id, const struct engine_log_options *o,
                     struct engine_stream **ret, struct error *err) MUST_CHECK;
/* Waits until the log of an ended container has been read to its end. An error too when the log was not
 * readable or the files not writable. `s` must come from engine_logs_open(). */
int engine_logs_finish(struct engine_stream *s, int64_t deadline_ns, struct error *err) MUST_CHECK;
/* The whole log so far into two open files (the same fd twice is fine; -1 drops a channel), at most max_bytes
 * per channel. */
int engine_logs_save(struct engine *e, const char *id, const struct engine_log_options *o,
                     struct error *err) MUST_CHECK;
struct engine_log_counts {
    int64_t stdout_bytes, stderr_bytes, dropped_bytes;
    int reopened; /* how often */
    bool cut;     /* a stream ended inside a frame: its last line is not whole */
    bool ended;   /* read to the end of a container that will not run again */
};
void engine_logs_counts(const struct engine_stream *s, struct engine_log_counts *ret);
/* The last `lines` lines at once, for error messages: control characters are replaced. The caller frees. */
int engine_logs_tail(struct engine *e, const char *id, int lines, char **ret_text,
                     struct error *err) MUST_CHECK;

/* Raw stats replies, one JSON body per second (stream=1); the sample module reads them. One that breaks, or
 * has said nothing for ten seconds, is opened again; it simply falls silent when the container is gone. */
int engine_stats_open(struct engine *e, const char *id,
                      void (*on_stats)(const struct json *stats, void *data), void *data,
                      struct engine_stream **ret, struct error *err) MUST_CHECK;

/* --- parts that tests and fuzzers feed directly --- */

/* The 8-byte-framed log stream, or raw bytes when tty. */
struct log_demux {
    bool tty;
    unsigned char header[8];
    size_t header_len, left;
    int channel;     /* 1 stdout, 2 stderr */
    bool bad;        /* a frame type that does not exist: the rest is not readable */
    uint64_t frames; /* headers read so far: a sink that sees it change is at the start of a payload */
};
/* 0, or -1 on a bad frame. `sink` gets payload pieces. */
int log_demux_feed(struct log_demux *d, const char *bytes, size_t len,
                   void (*sink)(int channel, const char *bytes, size_t len, void *data), void *data);
/* At the end: false when a frame was cut short. */
bool log_demux_complete(const struct log_demux *d);

/* "1.41" as major, minor; compares two; picks the version to speak. 0 or -1 with both ranges in the message.
 */
int engine_pick_version(const char *engine_min, const char *engine_max, char ret[16],
                        struct error *err) MUST_CHECK;

/* One value of a build/pull stream: progress text, or an error (kind ERROR_ENVIRONMENT) when it carries one.
 */
int engine_stream_message(const struct json *message, char **ret_progress, struct error *err) MUST_CHECK;

#endif

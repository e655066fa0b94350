/* SPDX-License-Identifier: MIT */
/*
 * What the application's JVM chose for itself. The running one is looked at before the window opens, by what
 * it publishes: that costs it nothing. After the window another JVM of the same image, environment and limits
 * is asked for what is missing, once in a sweep for the same question. Nothing here fails a trial.
 */
#include "run_internal.h"

#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/hash.h"
#include "benchctl/base/log.h"
#include "benchctl/jvm.h"

#define ASKING_NS (30 * NS_PER_S) /* a JVM under a hundredth of a core takes that long to start */
#define ANSWER_MAX ((size_t)1 << 20)

/* The application is a JVM, and this is how it is started and what is known of it. */
struct jvm_look {
    struct jvm_launch launch;
    struct jvm_facts facts;
    enum jvm_search seen;
    bool guessed; /* by its image's JAVA_HOME alone: with which options it is started is not known */
};

/* One question of a sweep and what came of it. */
struct jvm_asked {
    char key[SHA256_HEX_SIZE];
    struct arena *arena; /* holds the texts */
    bool answered;
    struct jvm_facts facts;
    const char *why_not;
};

void jvm_look(struct trial_run *t)
{
    struct jvm_look *look = arena_new_of(t->arena, struct jvm_look);

    *look = (struct jvm_look){.facts = jvm_facts_none(), .seen = JVM_UNKNOWN};
    if (engine_facts(t->sweep->engine)->local && t->app->pid > 0 && t->app->ledger.running)
        look->seen = jvm_process_find(NULL, t->app->pid, t->arena, &look->launch, &look->facts);
    t->jvm = look;
}

/* --- by the words of the container --- */

static void add_words(const struct json *list, struct arena *a, const char **words, size_t *len, size_t max)
{
    for (size_t i = 0; i < json_len(list) && *len < max; i++) {
        const char *word = json_text(json_at(list, i));
        if (word)
            words[(*len)++] = arena_strdup(a, word);
    }
}

static const char *java_home(const struct json *config, const struct container_settings *c, struct arena *a)
{
    const char *home = text_map_get(&c->env, "JAVA_HOME");
    const struct json *env = json_get(config, "Env");

    for (size_t i = 0; !home && i < json_len(env); i++) {
        const char *pair = json_text(json_at(env, i));
        if (pair && text_starts(pair, "JAVA_HOME="))
            home = pair + strlen("JAVA_HOME=");
    }
    return home && *home == '/' ? arena_printf(a, "%s/bin/java", home) : NULL;
}

/*
 * What the container is told to run: by its settings, else by its image. A start script of an image that has
 * a JAVA_HOME is taken for one that starts it; with which options is not known then.
 */
static bool launch_by_words(struct trial_run *t, struct jvm_launch *ret)
{
    enum { WORDS_MAX = 512 };
    const struct container_settings *c = &t->settings->app;
    const struct json *config = image_config(t->sweep, c);
    const char **words = arena_array(t->arena, const char *, WORDS_MAX + 1);
    size_t len = 0;

    for (size_t i = 0; i < c->entrypoint.len && len < WORDS_MAX; i++)
        words[len++] = c->entrypoint.items[i];
    if (!c->entrypoint.len)
        add_words(json_get(config, "Entrypoint"), t->arena, words, &len, WORDS_MAX);
    for (size_t i = 0; i < c->command.len && len < WORDS_MAX; i++)
        words[len++] = c->command.items[i];
    if (!c->command.len && !c->entrypoint.len)
        add_words(json_get(config, "Cmd"), t->arena, words, &len, WORDS_MAX);
    if (jvm_launch_find(words, len, t->arena, ret))
        return true;
    *ret = (struct jvm_launch){.java = java_home(config, c, t->arena)};
    return ret->java != NULL;
}

/* --- asking another one --- */

static int expand_list(struct trial_run *t, const struct text_list *from, const char *suffix,
                       struct text_list *ret, struct error *err)
{
    ret->items = arena_array(t->arena, const char *, from->len + 1);
    for (size_t i = 0; i < from->len; i++) {
        const char *text;
        if (run_expand(t, from->items[i], &text, err) < 0)
            return -1;
        ret->items[ret->len++] = arena_printf(t->arena, "%s%s", text, text_ends(text, suffix) ? "" : suffix);
    }
    return 0;
}

static int expand_env(struct trial_run *t, struct text_map *ret, struct error *err)
{
    const struct text_map *env = &t->settings->app.env;

    ret->items = arena_array(t->arena, struct text_pair, env->len + 1);
    for (size_t i = 0; i < env->len; i++) {
        struct text_pair pair = {.key = env->items[i].key};
        if (run_expand(t, env->items[i].value, &pair.value, err) < 0)
            return -1;
        ret->items[ret->len++] = pair;
    }
    return 0;
}

static struct text_map labels_of(struct trial_run *t)
{
    struct text_map m = {.items = arena_array(t->arena, struct text_pair, 5)};
    char owner[ENGINE_OWNER_SIZE];

    (void)engine_owner_label(owner);
    m.items[m.len++] = (struct text_pair){.key = LABEL_RUN, .value = t->sweep->options->run_id};
    m.items[m.len++] = (struct text_pair){.key = LABEL_OWNER, .value = arena_strdup(t->arena, owner)};
    m.items[m.len++] = (struct text_pair){.key = LABEL_ROLE, .value = "jvm"};
    m.items[m.len++] = (struct text_pair){.key = LABEL_DIR, .value = t->sweep->options->run_dir};
    m.items[m.len++] = (struct text_pair){.key = LABEL_SCENARIO, .value = t->scenario.id};
    return m;
}

/* The application's container with another program and no network. What it mounts it may only read. */
static int create(struct trial_run *t, const struct jvm_launch *l, const struct text_list *words,
                  char **ret_id, struct error *err)
{
    struct sweep_run *s = t->sweep;
    const struct container_settings *c = &t->settings->app;
    const char *java[] = {l->java};
    struct text_list entrypoint = {.items = java, .len = 1}, binds = {0};
    struct text_map env = {0}, labels = labels_of(t);
    CLEANUP_FREE char *warnings = NULL;

    if (expand_env(t, &env, err) < 0 || expand_list(t, &c->binds, ":ro", &binds, err) < 0)
        return -1;
    const struct engine_container e = {
        .name = arena_printf(t->arena, "benchctl-%.12s-%llu-jvm", s->options->run_id,
                             (unsigned long long)++s->container_number),
        .image = t->app->image_id,
        .network = "none",
        .env = &env,
        .entrypoint = &entrypoint,
        .command = words,
        .labels = &labels,
        .cpuset = c->cpuset,
        .user = c->user,
        .memory_bytes = c->memory_bytes == SCHEMA_ABSENT ? SIZE_UNLIMITED : c->memory_bytes,
        .swap_bytes = c->swap_bytes == SCHEMA_ABSENT ? 0 : c->swap_bytes,
        .cpus = c->cpus,
        .pids = c->pids == SCHEMA_ABSENT ? SIZE_UNLIMITED : c->pids,
        .shm_bytes = c->shm_bytes,
        .init = c->init,
        .binds = &binds,
        .tmpfs = &c->tmpfs,
    };
    return engine_container_create(s->engine, &e, ret_id, &warnings, err);
}

/* What it printed, both streams as they came. */
static int read_output(struct sweep_run *s, const char *id, struct strbuf *out, struct error *err)
{
    CLEANUP_CLOSE int fd = memfd_create("answer", MFD_CLOEXEC);
    const struct engine_log_options o = {.stdout_fd = fd, .stderr_fd = fd, .max_bytes = (int64_t)ANSWER_MAX};
    char piece[8192];
    ssize_t n;

    if (fd < 0)
        return error_set(err, ERROR_ENVIRONMENT, "no memory for a container's output");
    if (engine_logs_save(s->engine, id, &o, err) < 0)
        return -1;
    for (off_t at = 0; (n = pread(fd, piece, sizeof(piece), at)) > 0; at += n)
        strbuf_add(out, piece, (size_t)n);
    return 0;
}

static int run_to_end(struct sweep_run *s, const char *id, int *ret_code, struct error *err)
{
    engine_set_deadline(s->engine, clock_now_ns() + ASKING_NS);
    int rc = engine_container_start(s->engine, id, err) < 0
                 ? -1
                 : engine_container_wait(s->engine, id, ret_code, err);
    engine_set_deadline(s->engine, LOOP_FOREVER);
    return rc;
}

static int ask(struct trial_run *t, const struct jvm_launch *l, enum jvm_dialect d, struct jvm_asked *ret,
               struct error *err)
{
    struct sweep_run *s = t->sweep;
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    CLEANUP_FREE char *id = NULL;
    struct text_list words;
    int code = 0;

    jvm_question(l, d, t->arena, &words);
    loop_shield(s->loop, +1); /* its id must be known if it exists */
    int rc = create(t, l, &words, &id, err);
    loop_shield(s->loop, -1);
    if (rc < 0)
        return -1;
    rc = run_to_end(s, id, &code, err);
    if (rc == 0)
        rc = read_output(s, id, &out, err);
    removal_begin(s, id, "jvm");
    if (rc < 0)
        return -1;
    ret->answered = jvm_read_answer(strbuf_text(&out), out.len, ret->arena, &ret->facts);
    if (!ret->answered)
        return error_set(err, ERROR_TRIAL, "it gave no answer (exit code %d)", code);
    return 0;
}

static void ask_either_way(struct trial_run *t, const struct jvm_look *look, struct jvm_asked *ret)
{
    const char *version = look->facts.version;
    bool is_8 = version && text_starts(version, "1.8");
    struct error err = ERROR_INIT, second = ERROR_INIT;

    int rc = ask(t, &look->launch, is_8 ? JVM_DIALECT_8 : JVM_DIALECT_9, ret, &err);
    if (rc < 0 && err.kind == ERROR_TRIAL && !version) /* it may be one that does not know these words */
        rc = ask(t, &look->launch, JVM_DIALECT_8, ret, &second);
    if (rc < 0)
        ret->why_not = arena_strdup(ret->arena, err.message);
}

/* --- once for the same question --- */

static void add_list(struct strbuf *key, const struct text_list *l)
{
    for (size_t i = 0; i < l->len; i++)
        strbuf_addf(key, "%s\n", l->items[i]);
    strbuf_addc(key, '\n');
}

/* Values of the environment as they are written: what an address in them resolves to changes nothing. */
static void key_of(const struct trial_run *t, const struct jvm_launch *l, char ret[SHA256_HEX_SIZE])
{
    const struct container_settings *c = &t->settings->app;
    CLEANUP_VALUE(strbuf_release) struct strbuf key = STRBUF_INIT;

    strbuf_addf(&key, "%s\n%s\n%lld %lld %.17g %lld\n%s\n%s\n%d\n", t->app->image_id, l->java,
                (long long)c->memory_bytes, (long long)c->swap_bytes, c->cpus, (long long)c->pids,
                c->cpuset ? c->cpuset : "", c->user ? c->user : "", c->init);
    add_list(&key, &l->options);
    add_list(&key, &c->binds);
    for (size_t i = 0; i < c->env.len; i++)
        strbuf_addf(&key, "%s=%s\n", c->env.items[i].key, c->env.items[i].value);
    sha256_hex(key.data, key.len, ret);
}

static const struct jvm_asked *answer_for(struct trial_run *t, const struct jvm_look *look)
{
    struct sweep_run *s = t->sweep;
    struct jvm_asked *asked = xcalloc(1, sizeof(*asked));

    key_of(t, &look->launch, asked->key);
    vec_each (known, &s->jvm_asked) {
        if (strcmp((*known)->key, asked->key) == 0) {
            free(asked);
            return *known;
        }
    }
    asked->arena = arena_new();
    asked->facts = jvm_facts_none();
    ask_either_way(t, look, asked);
    vec_push(&s->jvm_asked, asked);
    return asked;
}

void jvm_forget(struct sweep_run *s)
{
    vec_each (asked, &s->jvm_asked) {
        arena_free((*asked)->arena);
        free(*asked);
    }
    vec_release(&s->jvm_asked);
}

/* --- for the record --- */

static void note_difference(struct trial_run *t, const struct jvm_facts *running,
                            const struct jvm_facts *asked)
{
    if (running->collector && asked->collector && !text_equal(running->collector, asked->collector))
        trial_note(t,
                   "the JVM that ran has the collector %s, another of the same image under the same limits "
                   "chose %s",
                   running->collector, asked->collector);
}

/* What argument files may ask for is not known, and what a JVM without it chooses is another's choice. */
static bool is_partly_known(const struct jvm_look *look)
{
    return look->launch.argument_files && !look->facts.source;
}

static struct jvm_facts facts_of(const struct jvm_look *look, const struct jvm_asked *asked)
{
    struct jvm_facts f = look->facts, more = asked->facts;

    if (is_partly_known(look)) {
        more.collector = NULL;
        more.heap_max_bytes = NAN;
    }
    jvm_facts_add(&f, &more);
    return f;
}

static const char *source_of(struct trial_run *t, const struct jvm_look *look)
{
    return arena_printf(t->arena, "%sanother JVM of the same image, asked under the same limits%s",
                        look->facts.source ? "the running JVM's performance data, and " : "",
                        look->guessed           ? ", without options: how the image starts it is not known"
                        : is_partly_known(look) ? ", without its argument files, which could not be read"
                                                : "");
}

/* It never was ready, or the JVM has been started later. */
static void look_once_more(struct trial_run *t)
{
    struct jvm_look *before = t->jvm;

    if (before && before->seen != JVM_NONE)
        return;
    jvm_look(t);
    if (before && t->jvm->seen != JVM_FOUND)
        t->jvm = before;
}

void tell_jvm(struct trial_run *t)
{
    if (!t->app || !t->app->id || !t->app->image_id)
        return;
    look_once_more(t);
    struct jvm_look *look = t->jvm;
    if (look->seen == JVM_UNKNOWN && launch_by_words(t, &look->launch)) {
        look->seen = JVM_FOUND;
        look->guessed = !look->launch.options.items;
        look->facts.options = look->launch.options_text;
    }
    if (look->seen != JVM_FOUND || loop_interrupted(t->sweep->loop))
        return;
    const struct jvm_asked *asked = answer_for(t, look);
    struct jvm_facts f = look->facts;
    if (asked->answered) {
        note_difference(t, &f, &asked->facts);
        f = facts_of(look, asked);
        f.source = source_of(t, look);
    } else {
        trial_note(t, "the JVM of the application's image could not be asked what it chooses: %s",
                   asked->why_not);
        if (!f.version && !f.options)
            return; /* some program with this name */
    }
    if (look->launch.running > 1)
        trial_note(t, "%d JVMs ran in the application's container: what one chose is said of the first",
                   look->launch.running);
    f.version = arena_strdup(t->arena, f.version);
    f.collector = arena_strdup(t->arena, f.collector);
    t->record.app.has_jvm = true;
    t->record.app.jvm = f;
}

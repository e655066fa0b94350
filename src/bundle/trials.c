/* SPDX-License-Identifier: MIT */
/* Trials of a run directory: begun, sealed, proven. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include "benchctl/base/log.h"
#include "benchctl/base/secrets.h"
#include "rundir.h"

#define ASIDE_MAX 999

static char *trial_dir(const struct rundir *r, const char *scenario, int trial)
{
    return xasprintf("%s/" TRIALS_DIR "/%s/%d", r->path, scenario, trial);
}

static int check_identity(const char *scenario, int trial, struct error *err)
{
    if (trial < 1)
        return error_set(err, ERROR_INVALID, "trial numbers begin with 1, not %d", trial);
    return archive_name_check(scenario, err) < 0 ? error_wrap(err, "scenario") : 0;
}

static int count_file(const char *relative, bool is_dir, int64_t size, void *data, struct error *err)
{
    size_t *files = data;

    (void)relative;
    (void)size;
    (void)err;
    *files += !is_dir;
    return 0;
}

/* What an earlier attempt left is evidence: it gets another name. Empty folders are none. */
static int move_leftover(const char *dir, struct error *err)
{
    size_t files = 0;

    if (!fs_exists(dir))
        return 0;
    CLEANUP_FREE char *unsealed = path_join(dir, TRIAL_FILE ".tmp");
    (void)unlink(unsealed);
    if (fs_walk(dir, count_file, &files, err) < 0)
        return -1;
    for (int k = 1; files && k <= ASIDE_MAX; k++) {
        CLEANUP_FREE char *aside = xasprintf("%s.attempt-%d", dir, k);

        if (fs_exists(aside))
            continue;
        if (secrets_mask_files(dir, NULL, NULL, err) < 0) /* nobody had the time to when it was ended */
            return -1;
        if (rename(dir, aside) < 0)
            return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot move '%s' aside", dir);
        return 0;
    }
    if (!files)
        return fs_remove_tree(dir, err);
    (void)error_set(err, ERROR_INVALID, "'%s' has %d earlier attempts beside it already", dir, ASIDE_MAX);
    return error_hint(err, "nothing is thrown away: look why they fail, and move the attempts elsewhere");
}

/* Said before anything is touched: from here on an earlier result of this trial does not count any more. */
static int journal_begun(struct rundir *r, const char *scenario, int trial, struct error *err)
{
    bool sync = seals_find(&r->seals, scenario, trial) != NULL;
    CLEANUP(json_free) struct json *fields = json_new_object();

    json_set_text(fields, "event", JOURNAL_TRIAL_BEGUN); /* for seals_apply(); the journal writes its own */
    json_set_text(fields, "scenario", scenario);
    json_set_int(fields, "trial", trial);
    if (journal_append(&r->journal, JOURNAL_TRIAL_BEGUN, fields, sync, err) < 0)
        return -1;
    seals_apply(fields, &r->seals);
    return 0;
}

int rundir_trial_begin(struct rundir *r, const char *scenario, int trial, char **ret_dir, struct error *err)
{
    static const char *const FOLDERS[] = {"metrics", "load", "logs", "artifacts"};
    CLEANUP_FREE char *dir = NULL;

    if (check_identity(scenario, trial, err) < 0 || journal_begun(r, scenario, trial, err) < 0)
        return -1;
    dir = trial_dir(r, scenario, trial);
    if (move_leftover(dir, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(FOLDERS); i++) {
        CLEANUP_FREE char *folder = path_join(dir, FOLDERS[i]);
        if (fs_mkdirs(folder, err) < 0)
            return -1;
    }
    *ret_dir = TAKE(dir);
    return 0;
}

static int journal_seal(struct rundir *r, const struct json *trial, const char *sha256, bool recovered,
                        struct error *err)
{
    CLEANUP(json_free) struct json *fields = json_new_object();

    json_set_text(fields, "event", JOURNAL_TRIAL_SEALED);
    json_set_text(fields, "scenario", json_get_text(trial, "scenario"));
    json_set_int(fields, "trial", json_get_int(trial, "trial"));
    json_set_text(fields, "digest", json_get_text(trial, "digest"));
    json_set_text(fields, "outcome", json_get_text(trial, "outcome"));
    json_set_text(fields, "sha256", sha256);
    if (recovered)
        json_set_bool(fields, "recovered", true);
    if (journal_append(&r->journal, JOURNAL_TRIAL_SEALED, fields, true, err) < 0)
        return -1;
    seals_apply(fields, &r->seals);
    return 0;
}

int rundir_trial_seal(struct rundir *r, const struct trial *t, struct error *err)
{
    CLEANUP(json_free) struct json *record = trial_to_json(t);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *dir = NULL, *path = NULL;
    struct json *files;
    char sha256[SHA256_HEX_SIZE];

    if (check_identity(t->scenario, t->trial, err) < 0)
        return -1;
    dir = trial_dir(r, t->scenario, t->trial);
    path = path_join(dir, TRIAL_FILE);
    if (proof_files(dir, true, &files, err) < 0)
        return error_wrap(err, "sealing trial %d of '%s'", t->trial, t->scenario);
    json_set(record, "files", files);
    secrets_mask_json(record);
    json_write(record, JSON_STYLE_INDENTED, &text);
    strbuf_trim_end(&text);
    strbuf_addc(&text, '\n');
    sha256_hex(text.data, text.len, sha256);
    if (fs_write_atomic(path, text.data, text.len, err) < 0 || rundir_sync_above(r, dir, err) < 0 ||
        journal_seal(r, record, sha256, false, err) < 0)
        return error_wrap(err, "sealing trial %d of '%s'", t->trial, t->scenario);
    return 0;
}

bool rundir_trial_sealed(const struct rundir *r, const char *scenario, int trial, const char *digest)
{
    const struct seal *s = seals_find(&r->seals, scenario, trial);

    return s && !s->void_ && !s->conflict && (!digest || text_equal(digest, s->digest));
}

size_t rundir_sealed_count(const struct rundir *r)
{
    size_t n = 0;

    vec_each (s, &r->seals.order)
        n += !(*s)->void_ && !(*s)->conflict;
    return n;
}

bool rundir_trial_outcome(const struct rundir *r, const char *scenario, int trial, enum outcome *ret)
{
    const struct seal *s = seals_find(&r->seals, scenario, trial);

    if (!s || !s->has_outcome)
        return false;
    *ret = s->outcome;
    return true;
}

/* --- on opening --- */

/* Is trial.json still what was sealed? */
static void prove_seal(struct rundir *r, struct seal *s)
{
    CLEANUP_FREE char *dir = NULL, *path = NULL;
    struct error why = ERROR_INIT;
    char sha256[SHA256_HEX_SIZE];
    int64_t size;

    if (s->void_)
        return;
    if (check_identity(s->scenario, s->trial, &why) < 0) {
        s->void_ = true;
        return;
    }
    if (s->conflict) {
        warn("trial %d of '%s' is sealed twice with different results: it will be run again", s->trial,
             s->scenario);
        return;
    }
    dir = trial_dir(r, s->scenario, s->trial);
    path = path_join(dir, TRIAL_FILE);
    if (hash_file(path, &size, sha256, false, &why) == 0 && strcmp(sha256, s->sha256) == 0)
        return;
    s->void_ = true;
    warn("trial %d of '%s' is not what was sealed (%s): it will be run again", s->trial, s->scenario,
         why.message[0] ? why.message : "'" TRIAL_FILE "' has changed");
}

/* A complete trial that the journal does not know: its line was lost. */
static int adopt(const char *relative, bool is_dir, int64_t size, void *data, struct error *err)
{
    struct rundir *r = data;
    CLEANUP(json_free) struct json *record = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *scenario = NULL, *path = NULL, *dir = NULL;
    struct error ignored = ERROR_INIT;
    char sha256[SHA256_HEX_SIZE];
    int trial;

    if (is_dir || size > (int64_t)TRIAL_FILE_MAX || !proof_parse_name(relative, &scenario, &trial))
        return 0;
    const struct seal *known = seals_find(&r->seals, scenario, trial);
    if (known && !known->begun_again)
        return 0; /* the journal has its say already */
    dir = trial_dir(r, scenario, trial);
    path = path_join(dir, TRIAL_FILE);
    if (fs_read(path, TRIAL_FILE_MAX, &text, &ignored) < 0 ||
        json_parse(strbuf_text(&text), text.len, path, &record, &ignored) < 0 ||
        !proof_holds(dir, record, scenario, trial))
        return 0;
    sha256_hex(text.data, text.len, sha256);
    note("trial %d of '%s' is complete though the journal does not say so: kept", trial, scenario);
    return journal_seal(r, record, sha256, true, err);
}

int rundir_prove(struct rundir *r, struct error *err)
{
    CLEANUP_FREE char *trials = path_join(r->path, TRIALS_DIR);

    for (size_t i = 0; i < r->seals.order.len; i++)
        prove_seal(r, r->seals.order.items[i]);
    return fs_is_dir(trials) ? fs_walk(trials, adopt, r, err) : 0;
}

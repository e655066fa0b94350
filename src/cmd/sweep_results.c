/* SPDX-License-Identifier: MIT */
/* What a finished sweep leaves: report files, the bundle, and the exit code. */
#include "sweep_command.h"

#include "benchctl/report.h"
#include "rerun_record.h"
#include "search_print.h"

static int write_report(const struct report *r, enum report_format f, const char *dir, const char *name,
                        struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *path = path_join(dir, name);

    report_render(r, f, &text);
    return fs_write_atomic(path, strbuf_text(&text), text.len, err);
}

static bool has_failed_gate(const struct trial *t)
{
    for (size_t i = 0; i < t->check_count; i++)
        if (t->checks[i].gated && !t->checks[i].passed)
            return true;
    return false;
}

/* The exit code, from all trials of the sweep: those kept from an earlier run count, too. That a gate does
 * not hold where a search found that a limit is too small is what it looked for. */
static int verdict(const struct sweep *sweep, const struct plan *p, bool strict)
{
    for (size_t i = 0; i < sweep->canary_count; i++) {
        enum outcome o = sweep->canaries[i].outcome;
        if (o == OUTCOME_ERROR || o == OUTCOME_INVALID || (strict && o != OUTCOME_OK))
            return 1;
    }
    for (size_t i = 0; i < sweep->control_count; i++) { /* a handicapped one may well end badly */
        enum outcome o = sweep->controls[i].outcome;
        if (o == OUTCOME_ERROR || o == OUTCOME_INVALID)
            return 1;
    }
    for (size_t i = 0; i < sweep->trial_count; i++) {
        const struct trial *t = &sweep->trials[i];
        if (t->outcome == OUTCOME_ERROR || t->outcome == OUTCOME_INVALID ||
            (has_failed_gate(t) && !search_expects_failure(p, t)) || (strict && t->outcome != OUTCOME_OK))
            return 1;
    }
    return 0;
}

/* All is measured and written, but what was asked for is not there. */
static int without_images(const char *dir, const struct error *why, struct error *err)
{
    *err = *why;
    if (err->kind != ERROR_INTERRUPTED)
        err->kind = ERROR_ENVIRONMENT;
    (void)error_wrap(err, "the bundle is complete but for the images");
    return error_hint(err, "once that is mended: benchctl bundle create %s --with-images", dir);
}

static int write_reports(const char *dir, const struct sweep *sweep, struct error *err)
{
    CLEANUP(report_free) struct report *report = NULL;
    const struct report_options o = {0};

    return report_build(sweep, &o, &report, err) < 0 ||
                   write_report(report, REPORT_HTML, dir, "report.html", err) < 0 ||
                   write_report(report, REPORT_MARKDOWN, dir, "report.md", err) < 0 ||
                   write_report(report, REPORT_CSV, dir, "summary.csv", err) < 0
               ? -1
               : 0;
}

int sweep_write_unfinished(const char *dir, struct error *err)
{
    CLEANUP(sweep_free) struct sweep *sweep = NULL;

    return sweep_load(dir, &sweep, err) < 0 ? -1 : write_reports(dir, sweep, err);
}

/* Report files and the bundle, from what is in the directory: the same that `report` would show. */
int sweep_write_results(const char *dir, const struct sweep_ending *e, int *ret_code, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf findings = STRBUF_INIT, compared = STRBUF_INIT;
    CLEANUP(sweep_free) struct sweep *sweep = NULL;
    CLEANUP_FREE char *bundle = xasprintf("%s.tar.zst", dir);

    if (sweep_load(dir, &sweep, err) < 0 || write_reports(dir, sweep, err) < 0 ||
        rerun_compare(dir, sweep, &compared, err) < 0)
        return -1;
    struct error images_err = ERROR_INIT;
    bool with_images = e->with_images && sweep_save_images(dir, e->engine_url, &images_err) == 0;
    if ((with_images ? bundle_write_with_images : bundle_write)(dir, bundle, err) < 0)
        return error_wrap(err, "writing the bundle");
    fprintf(stderr, "bundle: %s\n", bundle);
    search_findings(e->plan, sweep, &findings);
    strbuf_adds(&findings, strbuf_text(&compared));
    *ret_code = verdict(sweep, e->plan, e->strict);
    if (print_all(strbuf_text(&findings), findings.len, err) < 0)
        return -1;
    return e->with_images && !with_images ? without_images(dir, &images_err, err) : 0;
}

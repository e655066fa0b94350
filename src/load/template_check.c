/* SPDX-License-Identifier: MIT */
/* Checks an adapter's templates and conditions when it is read, so that a misspelt name is found before any
 * run. */
#include "command.h"

#include <string.h>
#include "benchctl/base/interpolate.h"

struct template_check {
    struct load_adapter *adapter;
    struct position at;
    bool in_flag;
};

static int check_name(const char *name, void *data, struct error *err)
{
    const struct template_check *c = data;

    if (load_template_name_known(c->adapter, name, c->in_flag))
        return 0;
    return node_error(err, node_new(c->adapter->arena, NODE_NULL, c->at), "unknown '${%s}' in a template",
                      name);
}

static int check_text(struct load_adapter *a, const char *text, struct position at, bool in_flag,
                      struct error *err)
{
    struct template_check c = {a, at, in_flag};
    const struct error before = *err;

    if (each_reference(text, check_name, &c, err) == 0)
        return 0;
    if (memcmp(&before, err, sizeof(before)) != 0 && at.file && !text_starts(err->message, at.file))
        return error_wrap(err, "%s:%d:%d", at.file, at.line, at.column);
    return -1;
}

static int check_texts(struct load_adapter *a, const struct text_list *texts, struct position at,
                       bool in_flag, struct error *err)
{
    for (size_t i = 0; i < texts->len; i++)
        if (check_text(a, texts->items[i], at, in_flag, err) < 0)
            return -1;
    return 0;
}

static int check_argument(struct load_adapter *a, const struct adapter_argument *arg, struct error *err)
{
    if (arg->text)
        return strcmp(arg->text, "${options}") == 0 ? 0 : check_text(a, arg->text, arg->at, false, err);
    if (arg->when && load_condition_check(a, arg->when, arg->at, err) < 0)
        return -1;
    if (arg->unless && load_condition_check(a, arg->unless, arg->at, err) < 0)
        return -1;
    if (arg->each && !load_option_find(a, arg->each))
        return node_error(err, node_new(a->arena, NODE_NULL, arg->at), "'%s' is not an option", arg->each);
    return check_texts(a, &arg->args, arg->at, arg->each != NULL, err);
}

static int check_rest(struct load_adapter *a, struct error *err)
{
    const struct adapter_form *f = &a->form;
    const struct position top = {a->file, 1, 1};

    for (size_t i = 0; i < f->env.len; i++)
        if (check_text(a, f->env.items[i].value, f->env.items[i].at, false, err) < 0)
            return -1;
    form_each(struct adapter_file, file, &f->files)
    {
        if (file->when && load_condition_check(a, file->when, file->at, err) < 0)
            return -1;
        if (check_text(a, file->content, file->at, false, err) < 0)
            return -1;
    }
    if (f->open_when && load_condition_check(a, f->open_when, top, err) < 0)
        return -1;
    for (size_t i = 0; i < f->closed_when.len; i++)
        if (load_condition_check(a, f->closed_when.items[i], top, err) < 0)
            return -1;
    if (f->corrected_when && load_condition_check(a, f->corrected_when, top, err) < 0)
        return -1;
    if (f->uncorrected_when && load_condition_check(a, f->uncorrected_when, top, err) < 0)
        return -1;
    if (f->finish.into && !load_output_find(a, f->finish.into))
        return node_error(err, node_new(a->arena, NODE_NULL, f->finish.at), "unknown output '%s'",
                          f->finish.into);
    return check_texts(a, &f->finish.args, f->finish.at, false, err);
}

int load_templates_check(struct load_adapter *a, struct error *err)
{
    form_each(struct adapter_option, o,
              &a->form.options) if (check_texts(a, &o->flag, o->at, true, err) < 0) return -1;
    form_each(struct adapter_argument, arg, &a->form.args) if (check_argument(a, arg, err) < 0) return -1;
    return check_rest(a, err);
}

/* SPDX-License-Identifier: MIT */
/* What the options of a call must not contradict, found before anything runs. */
#include <math.h>
#include <string.h>
#include "benchctl/base/interpolate.h"
#include "benchctl/base/units.h"
#include "command.h"

static int wrap_at(struct position at, struct error *err)
{
    return error_wrap(err, "%s:%d:%d", at.file, at.line, at.column);
}

static int check_name(const char *name, void *data, struct error *err)
{
    const struct load_adapter *a = data;

    if (strcmp(name, "asked.duration") == 0 ||
        (text_starts(name, "option.") && load_option_find(a, name + strlen("option."))))
        return 0;
    (void)error_set(err, ERROR_INVALID, "unknown name '%s' in a rule", name);
    return error_hint(err, "a rule knows option.NAME and asked.duration");
}

int load_rules_prepare(struct load_adapter *a, struct error *err)
{
    a->rules = arena_array(a->arena, struct rule, a->form.rules.len + 1);
    form_each(struct adapter_rule, form, &a->form.rules)
    {
        struct rule *r = &a->rules[a->rule_count++];
        r->form = form;
        if ((form->when && load_condition_check(a, form->when, form->at, err) < 0) ||
            (form->unless && load_condition_check(a, form->unless, form->at, err) < 0))
            return -1;
        if (!form->that && !form->when && !form->unless)
            return node_error(err, node_new(a->arena, NODE_NULL, form->at),
                              "a rule needs 'that', 'when' or 'unless'");
        if (form->that && (expr_compile(form->that, a->arena, &r->that, err) < 0 ||
                           expr_each_name(r->that, check_name, a, err) < 0))
            return wrap_at(form->at, err);
        if (each_reference(form->say, check_name, a, err) < 0)
            return wrap_at(form->at, err);
    }
    return 0;
}

/* A rule held against a call. */
struct trial_of_rule {
    const struct load_adapter *adapter;
    const struct load_call *call;
    struct arena *arena;
    const struct node *given; /* the first option of the rule that the matrix gives */
    bool unknown;             /* an option of it is known only at run time */
};

static void look_at(struct trial_of_rule *t, const char *option)
{
    const struct node *n = t->call->options ? node_get(t->call->options, option) : NULL;

    if (!n || n->kind == NODE_NULL)
        return;
    if (!t->given)
        t->given = n;
    t->unknown = t->unknown || (n->kind == NODE_SCALAR && has_reference(n->text));
}

static int look_at_name(const char *name, void *data, struct error *err)
{
    (void)err;
    if (text_starts(name, "option."))
        look_at(data, name + strlen("option."));
    return 0;
}

static void look_at_condition(struct trial_of_rule *t, const char *condition)
{
    if (!condition)
        return;
    const char *name = arena_strndup(t->arena, condition, strcspn(condition, "="));
    look_at(t, name);
    if (!t->call->target && (strcmp(name, "script") == 0 || strcmp(name, "warmup") == 0))
        t->unknown = true; /* these are options alone, without a call */
}

static double asked(const char *name, void *data)
{
    const struct trial_of_rule *t = data;

    return load_asked_number(t->adapter, t->call, name, t->arena);
}

/* In a sentence an option is what was written. */
static enum lookup_result asked_text(const char *name, struct strbuf *out, void *data, struct error *err)
{
    const struct trial_of_rule *t = data;
    char buf[64];

    (void)err;
    if (strcmp(name, "asked.duration") == 0) {
        strbuf_adds(out, duration_format(t->call->duration_ns, buf));
        return LOOKUP_FOUND;
    }
    const struct adapter_option *o = load_option_find(t->adapter, name + strlen("option."));
    const struct node *n = o ? load_option_node(o, t->call->options, t->arena) : NULL;
    strbuf_adds(out, n && n->kind == NODE_SCALAR ? n->text : "?");
    return LOOKUP_FOUND;
}

static bool rule_broken(const struct rule *r, struct trial_of_rule *t)
{
    const struct adapter_rule *f = r->form;

    if (f->when && !load_condition(t->adapter, f->when, t->call, t->arena))
        return false;
    if (f->unless && load_condition(t->adapter, f->unless, t->call, t->arena))
        return false;
    double holds = r->that ? expr_value(r->that, asked, t) : 0;
    return !isnan(holds) && holds == 0;
}

static int say_broken(const struct rule *r, struct trial_of_rule *t, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const struct node *at = t->given ? t->given : t->call->options;

    if (interpolate(r->form->say, asked_text, t, &text, err) < 0)
        return -1;
    if (at)
        (void)node_error(err, at, "%s", strbuf_text(&text));
    else
        (void)error_set(err, ERROR_INVALID, "%s", strbuf_text(&text));
    return r->form->hint ? error_hint(err, "%s", r->form->hint) : -1;
}

int load_rules_check(const struct load_adapter *a, const struct load_call *call, struct error *err)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();

    for (const struct rule *r = a->rules; r < a->rules + a->rule_count; r++) {
        struct trial_of_rule t = {.adapter = a, .call = call, .arena = arena};
        look_at_condition(&t, r->form->when);
        look_at_condition(&t, r->form->unless);
        if (r->that && expr_each_name(r->that, look_at_name, &t, err) < 0)
            return -1;
        if (!t.unknown && rule_broken(r, &t))
            return say_broken(r, &t, err);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "idle_axes.h"

#include <string.h>
#include "cmd.h"

static bool is_setting_of_app(const char *name)
{
    for (size_t i = 0; i < settings_schema.field_count; i++) {
        const struct schema_field *f = &settings_schema.fields[i];
        for (size_t k = 0; f->of && strcmp(f->key, "app") == 0 && k < f->of->field_count; k++)
            if (strcmp(f->of->fields[k].key, name) == 0)
                return true;
    }
    return false;
}

void idle_axes(const struct plan *p, void (*tell)(const struct error *warning, void *data), void *data)
{
    CLEANUP(arena_free) struct arena *a = arena_new();

    for (size_t x = 0; x < plan_matrix(p)->axis_count; x++) {
        struct error w = ERROR_INIT;
        struct plan_idle_axis idle;
        if (!plan_axis_is_idle(p, x, a, &idle))
            continue;
        (void)position_error(&w, idle.at, "axis '%s' changes nothing: '%s' and '%s' have the same settings",
                             idle.name, idle.one, idle.other);
        if (is_setting_of_app(idle.name))
            (void)error_hint(&w, "use ${%s} somewhere, for instance app: {%s: ${%s}}", idle.name, idle.name,
                             idle.name);
        else
            (void)error_hint(&w,
                             "use ${%s} somewhere in the settings, or name '%s' in the 'when' of an override",
                             idle.name, idle.name);
        tell(&w, data);
    }
}

void print_warning(const struct error *w, void *data)
{
    (void)data;
    print_plain(stderr, "benchctl: warning: ", w->message);
    print_plain(stderr, "hint: ", w->hint);
}

void warn_of_idle_axes(const struct plan *p)
{
    idle_axes(p, print_warning, NULL);
}

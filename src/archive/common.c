/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "internal.h"

locale_t archive_locale_enter(void)
{
    static const char *const NAMES[] = {"C.UTF-8", "C.utf8", "en_US.UTF-8"};
    static locale_t utf8;
    static bool looked;

    for (size_t i = 0; i < ARRAY_LEN(NAMES) && !looked && !utf8; i++)
        utf8 = newlocale(LC_CTYPE_MASK, NAMES[i], (locale_t)0);
    looked = true;
    return utf8 ? uselocale(utf8) : (locale_t)0;
}

void archive_locale_leave(locale_t *previous)
{
    if (*previous)
        (void)uselocale(*previous);
}

const char *archive_reason(struct archive *a, char *buf, size_t size)
{
    const char *reason = archive_error_string(a);

    return archive_printable(reason && *reason ? reason : "it is cut short or damaged", buf, size);
}

int archive_fail(struct archive *a, enum error_kind kind, const char *what, const char *path,
                 struct error *err)
{
    int code = archive_errno(a);
    char shown[512];

    if (code == ENOSPC || code == EDQUOT || code == EIO)
        return error_errno(err, ERROR_ENVIRONMENT, code, "%s '%s'", what, path);
    return error_set(err, kind, "%s '%s': %s", what, path, archive_reason(a, shown, sizeof(shown)));
}

void archive_entry_plain(struct archive_entry *e, const char *name, unsigned type_and_mode, int64_t size)
{
    (void)archive_entry_clear(e);
    archive_entry_set_pathname(e, name);
    archive_entry_set_mode(e, (__LA_MODE_T)type_and_mode);
    archive_entry_set_size(e, size);
    archive_entry_set_mtime(e, ARCHIVE_MTIME_S, 0);
    archive_entry_set_uid(e, 0);
    archive_entry_set_gid(e, 0);
}

/* SPDX-License-Identifier: MIT */
/*
 * Text from elsewhere (files, containers, servers) on its way to a terminal or a spreadsheet. For messages
 * about a document's own words there is text_shown() (tree.h).
 */
#ifndef BENCHCTL_BASE_PLAIN_TEXT_H
#define BENCHCTL_BASE_PLAIN_TEXT_H

#include "benchctl/base/strbuf.h"

/* Appends `text` with '?' for each control character that is not one of `kept` ("\r\n" counts as '\n'): it
 * cannot move the cursor, change colours or answer for the user. */
void plain_add(struct strbuf *out, const char *text, const char *kept);

/*
 * Appends one field of CSV (RFC 4180), quoted where it must be. Control characters other than tab and newline
 * become '?'; text that a spreadsheet would take for a formula (= + - @ in front, and no number) gets a
 * single quote in front.
 */
void csv_add(struct strbuf *out, const char *text);

#endif

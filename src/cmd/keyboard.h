/* SPDX-License-Identifier: MIT */
/*
 * Single keys while a sweep runs, where standard input and standard error are a terminal and we are in its
 * foreground. Ctrl-C and Ctrl-Z stay signals. The terminal is as it was before however the process ends,
 * short of SIGKILL.
 */
#ifndef BENCHCTL_CMD_KEYBOARD_H
#define BENCHCTL_CMD_KEYBOARD_H

#include "benchctl/base/loop.h"

struct keyboard;
typedef void keyboard_fn(char key, void *data);

struct keyboard *keyboard_open(struct loop *l, keyboard_fn *fn, void *data); /* NULL: there is no terminal */
/* Takes the terminal when we have come to its foreground, lets go of it when we have left. NULL is fine. */
void keyboard_look(struct keyboard *k);
void keyboard_leave(struct keyboard *k); /* the terminal is as it was, until keyboard_look() */
void keyboard_close(struct keyboard *k);
DEFINE_CLEANUP(struct keyboard *, keyboard_close);

#endif

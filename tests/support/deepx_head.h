/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Emulates the executor's own parser of DeepX on a line. */
#ifndef SUPPORT_DEEPX_HEAD_H
#define SUPPORT_DEEPX_HEAD_H

#include <xir/base.h>

/* Writes what that parser makes of a line, quirk by quirk, as text: the line after "IR ", then either "  ERROR " and
 * its message, or the name, the numbers of parameters, id, author, time and repetitions; each slot with its type, the
 * bits of it and its text; and the line as that parser prints it ("  canon "). Each of these ends with a line end.
 * Writes at most `room` bytes, always terminated, and returns the length of the whole text. */
size_t deepx_head_read(xir_str line, char *out, size_t room);

#endif

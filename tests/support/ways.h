/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The formats with a dialect, in the order of formats.def, and the passes that convert XIR's ops to theirs: a test that
 * goes through these lists includes every new format. */
#ifndef TESTS_WAYS_H
#define TESTS_WAYS_H

#define FORMAT(id, page, fuzz)
static const char *const dialect_formats[] = {
#define DIALECT(id, page, fuzz) #id,
#include "formats.def"
#undef DIALECT
};
static const char *const ways_back[] = {
#define DIALECT(id, page, fuzz) "xir-to-" #id,
#include "formats.def"
#undef DIALECT
};
#undef FORMAT
enum { WAYS = sizeof ways_back / sizeof *ways_back };
_Static_assert(sizeof dialect_formats == sizeof ways_back, "one way for each");

#endif

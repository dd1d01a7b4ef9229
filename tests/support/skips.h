/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A test that cannot run says why, and CTest shows it. A program of which every test was skipped exits with 77. Each
 * skip is a line of the file that XIR_SKIPS names; scripts/skips.sh compares those lines with the list of allowed
 * skips. */
#ifndef SUPPORT_SKIPS_H
#define SUPPORT_SKIPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "support/program.h"

/* Ends the test; the reason is a printf format with its arguments. Frees nothing. */
#define SKIP(...) skip_test(__func__, __VA_ARGS__)

__attribute__((format(printf, 2, 3))) void skip_test(const char *test, const char *format, ...);

/* The folder of real files, XIR_CORPUS; skips the test if it is not set. */
#define CORPUS_OR_SKIP() corpus_or_skip(__func__)
const char *corpus_or_skip(const char *test);

#endif

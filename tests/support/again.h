/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tests that run again, with a number of threads and a path of the executor in the environment (tests/CMakeLists.txt).
 * XIR_TEST_AGAIN=N is set for them: where a test has many cases of the same kind, such a run tries an N-th of them. The
 * choice is the same in every run, and a run that has chosen nothing fails. Without XIR_TEST_AGAIN, all cases run. */
#ifndef SUPPORT_AGAIN_H
#define SUPPORT_AGAIN_H

#include <stdbool.h>
#include <stddef.h>

/* The path that the environment names for such a test, if this processor lacks it; otherwise NULL. Programs that are
 * linked with the public library alone do not have these two functions. */
const char *missing_path(void) __attribute__((weak));
/* Returns true if again_takes has been called, but not one case was chosen; begins to count from 0. */
bool again_took_nothing(void) __attribute__((weak));

/* The number of random cases that this run tries, of `n`: all or the first n / N. */
size_t again_cases(size_t n);
/* Returns true if the next case of a table runs: always, or for about one of N calls, without a period. */
bool again_takes(void);

/* Sets the path and the number of threads of the runs that follow (XIR_EXEC_PATH, XIR_THREADS); NULL changes nothing,
 * "" is the default. way_reset restores what the environment had before. */
void way_set(const char *path, const char *threads);
void way_reset(void);

#endif

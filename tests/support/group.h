/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The fixtures of the tests of a group, made with public headers alone: a context, findings, random numbers that are
 * the same in every run, and an allocator that refuses. */
#ifndef SUPPORT_GROUP_H
#define SUPPORT_GROUP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <xir/xir.h>
#include "support/program.h"

/* The context and the findings of the group. Its allocator checks that every block is freed with the size that it
 * was allocated with. */
extern xir_context *ctx;
extern xir_diags   *why;
int group_begin(void **state);
int group_end(void **state);
#define RUN_GROUP(tests) cmocka_run_group_tests(tests, group_begin, group_end)

/* The group's context allocates n times more, then refuses until refuse_end, which returns whether it has refused. */
void refuse_after(size_t n);
bool refuse_end(void);

/* A random number below n, and one that is often small and often near a power of two; the sequence is the same in
 * every run. */
uint64_t chance(uint64_t n);
int64_t  some_number(void);
/* The random numbers from here on depend on `n` alone. */
void     chance_begin(uint64_t n);

/* Calls `work` with a context whose n-th allocation from then on fails, for n from 0 until `work` returns true.
 * Nothing may leak, and results of earlier calls must still hold. */
void check_memory(bool (*work)(xir_context *with));

#endif

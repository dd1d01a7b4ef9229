/* What a group of tests shares, through public headers alone: a context, findings, chance that is the same every
 * time, and an allocator that refuses. */
#ifndef SUPPORT_GROUP_H
#define SUPPORT_GROUP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <xir/xir.h>

/* The context and the findings of the group; its allocator checks that every size given back is the size
 * asked for. */
extern xir_context *ctx;
extern xir_diags   *why;
int group_begin(void **state);
int group_end(void **state);
#define RUN_GROUP(tests) cmocka_run_group_tests(tests, group_begin, group_end)

/* The group's context allocates n times more, then it refuses; until the end, which says whether it has. */
void refuse_after(size_t n);
bool refuse_end(void);

/* A number below n, and one that is often small, often at a power of two; the same sequence in every run. */
uint64_t chance(uint64_t n);
int64_t  some_number(void);

/* Calls `work` with a context whose n-th allocation from then on fails, for n from 0 until it succeeds.
 * `work` says whether it did; nothing may be lost, and what it did before must hold. */
void check_memory(bool (*work)(xir_context *with));

#endif

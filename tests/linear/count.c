/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See count.h. This file is not instrumented; the linker redirects calls of memcpy and similar functions to it
 * (--wrap). */
#include "linear/count.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

effort spent;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) { spent.blocks++; }

enum { AT_ONCE = 16 };   /* as many bytes cost as much as a basic block */

static void *count(void *user, void *block, size_t old_size, size_t size) {
    (void)user;
    if (size > old_size) spent.bytes += size - old_size;
    if (size) return realloc(block, size);
    free(block);
    return NULL;
}

const xir_allocator counting = { count, NULL };

#define WRAPPED(type, name, parameters, arguments, size)  \
    type __real_##name parameters;                        \
    type __wrap_##name parameters;                        \
    type __wrap_##name parameters {                       \
        spent.blocks += (size) / AT_ONCE;                 \
        return __real_##name arguments;                   \
    }

WRAPPED(void *, memcpy, (void *to, const void *from, size_t n), (to, from, n), n)
WRAPPED(void *, memmove, (void *to, const void *from, size_t n), (to, from, n), n)
WRAPPED(void *, memset, (void *to, int c, size_t n), (to, c, n), n)
WRAPPED(int, memcmp, (const void *a, const void *b, size_t n), (a, b, n), n)

size_t __real_strlen(const char *s);
size_t __wrap_strlen(const char *s);
size_t __wrap_strlen(const char *s) {
    size_t n = __real_strlen(s);
    spent.blocks += n / AT_ONCE;
    return n;
}

/* The cost up to the place where it is found, or to the end. */
void *__real_memchr(const void *s, int c, size_t n);
void *__wrap_memchr(const void *s, int c, size_t n);
void *__wrap_memchr(const void *s, int c, size_t n) {
    char *found = __real_memchr(s, c, n);
    spent.blocks += (found ? (size_t)(found - (const char *)s) : n) / AT_ONCE;
    return found;
}

/* ---- what calls cost -------------------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

timing start(void) { return (timing){ spent, now() }; }

void stop(costs *c, const char *call, timing from) {
    if (c->n == CALLS) abort();
    c->all[c->n++] = (cost){ call, { spent.blocks - from.spent.blocks, spent.bytes - from.spent.bytes },
                             now() - from.seconds };
}

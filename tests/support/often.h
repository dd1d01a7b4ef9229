/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The number of cases that random tests try. Under a sanitizer, where every access is checked and takes five times as
 * long, they try a fifth. */
#ifndef SUPPORT_OFTEN_H
#define SUPPORT_OFTEN_H

#include <stdint.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

#define OFTEN(n) (IS_SANITIZED ? (n) / 5 : (n))

/* The seeds of random graphs that passes run over, from the first to before the end: 1 and the next ones.
 * XIR_GRAPHS in the environment sets how many there are, XIR_GRAPHS_FROM the first. A graph depends on its seed alone,
 * so XIR_GRAPHS=1 XIR_GRAPHS_FROM=314 repeats what a long run has found. */
typedef struct graph_seeds { uint64_t first, end; } graph_seeds;
static inline graph_seeds often_seeds(long n) {
    const char *graphs = getenv("XIR_GRAPHS"), *from = getenv("XIR_GRAPHS_FROM");
    const uint64_t first = from ? strtoull(from, NULL, 10) : 1;
    return (graph_seeds){ first, first + (graphs ? strtoull(graphs, NULL, 10) : (uint64_t)OFTEN(n)) };
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The number of cases that random tests try. Under a sanitizer, where every access is checked and takes five times as
 * long, they try a fifth. */
#ifndef SUPPORT_OFTEN_H
#define SUPPORT_OFTEN_H

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

/* The same for random graphs that passes run over; XIR_GRAPHS in the environment sets the number. */
static inline long often_graphs(long n) {
    const char *graphs = getenv("XIR_GRAPHS");
    return graphs ? strtol(graphs, NULL, 10) : OFTEN(n);
}

#endif

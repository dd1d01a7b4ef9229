/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The limits of what the library computes, converts and holds in memory, from the command line: for constants, for a
 * run, for a conversion. */
#include <errno.h>
#include <stdlib.h>
#include "cli.h"

work_options work_args;

/* "2000000000", "2G": K, M, G and T are powers of 1000. */
static int number_of(const char *name, const char *word, uint64_t *out) {
    static const char suffixes[] = "KMGT";
    char *end;
    *out = 0;
    if (!word) return DONE;
    errno = 0;
    unsigned long long n = strtoull(word, &end, 10);
    bool good = end != word && *word >= '0' && *word <= '9' && !errno && n > 0;
    if (good && *end) {
        uint64_t factor = 1;
        const char *s = suffixes;
        do factor *= 1000;
        while (*s != *end && *++s);
        good = *s && !end[1] && n <= UINT64_MAX / factor;
        n *= factor;
    }
    *out = n;
    return good ? DONE : complain(MISUSED, "--%s takes a number above 0, as 2000000000 or 2G, not '%s'", name, word);
}

int max_work_of_line(uint64_t *out) { return number_of("max-work", work_args.max_work, out); }

int max_memory_of_line(uint64_t *out) { return number_of("max-memory", work_args.max_memory, out); }

int limit_constants(void) {
    xir_limits limits = XIR_INIT(xir_limits);
    int code = max_work_of_line(&limits.max_work);
    if (!code) code = number_of("max-op-work", work_args.max_op_work, &limits.max_op_work);
    if (!code) code = number_of("max-converted", work_args.max_converted, &limits.max_converted);
    return code ? code : exit_of(xir_context_set_limits(context, &limits, NULL));
}

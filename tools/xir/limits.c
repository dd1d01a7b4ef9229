/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Limits that the command line sets, which every command may have: they are the context's before anything is read. */
#include <errno.h>
#include <stdlib.h>
#include "cli.h"

limit_options limit_args;

/* A number from 1 on; false: another word. */
static bool read_number(const char *word, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(word, &end, 10);
    return word[0] >= '0' && word[0] <= '9' && !*end && !errno && *out;
}

static int set(const char *name, const char *word, uint64_t *to) {
    if (!word || read_number(word, to)) return DONE;
    return complain(MISUSED, "--%s takes a number from 1 on, not '%s'", name, word);
}

int set_limits(void) {
    xir_limits limits = XIR_INIT(xir_limits);
    int code = set("max-bytes", limit_args.max_bytes, &limits.max_bytes);
    if (!code) code = set("max-unpacked", limit_args.max_unpacked, &limits.max_unpacked);
    if (!code) code = set("max-values", limit_args.max_values, &limits.max_values);
    if (!code) code = set("max-read-memory", limit_args.max_read_memory, &limits.max_read_memory);
    if (!code) code = set("max-findings", limit_args.max_findings, &limits.max_findings);
    if (code) return code;
    limits.max_stream = limits.max_bytes;
    return exit_of(xir_context_set_limits(context, &limits, NULL));
}

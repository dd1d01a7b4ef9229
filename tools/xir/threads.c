/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The number of threads that compute a network, as the command line says: by default, as many as the program has
 * processors. */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include "cli.h"

const char *threads_word;

/* Those that the program may use, which are fewer than the machine has in a container, for example. */
static size_t count_processors(void) {
    cpu_set_t mine;
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) return (size_t)CPU_COUNT(&mine);
    return all > 0 ? (size_t)all : 1;
}

int threads_of_line(size_t *out) {
    char *end;
    if (!threads_word) {
        *out = getenv("XIR_THREADS") ? 0 : count_processors();   /* tests set it; the library reads it */
        return DONE;
    }
    const unsigned long n = strtoul(threads_word, &end, 10);
    *out = n < 4096 ? n : 4096;
    if (*threads_word >= '0' && *threads_word <= '9' && !*end && n) return DONE;
    return complain(MISUSED, "--threads takes a number from 1 on, not '%s'", threads_word);
}

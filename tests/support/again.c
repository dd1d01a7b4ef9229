/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tests that run again: the path that the processor lacks, the sample of cases, and the ways that tests set. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gemm_paths.h"
#include "support/again.h"

const char *missing_path(void) {
    const char *word = getenv("XIR_TEST_AGAIN") ? getenv("XIR_EXEC_PATH") : NULL;
    const gemm_path *path;
    for (size_t i = 0; word && (path = gemm_path_at(i)); i++)
        if (strcmp(path->name, word) == 0) return NULL;
    return word;
}

/* ---- the sample -------------------------------------------------------------------------------------------------- */

static size_t asked, taken;

static size_t share(void) {
    const char *word = getenv("XIR_TEST_AGAIN");
    const long n = word ? strtol(word, NULL, 10) : 1;
    if (n > 0) return (size_t)n;
    fprintf(stderr, "XIR_TEST_AGAIN is '%s', expected a number from 1 on\n", word);
    abort();
}

size_t again_cases(size_t n) {
    const size_t some = n / share();
    asked += n;
    taken += some;
    return some;
}

bool again_takes(void) {
    uint64_t z = ++asked * UINT64_C(0x9E3779B97F4A7C15);   /* the last step of splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    if ((z ^ z >> 31) % share()) return false;
    taken++;
    return true;
}

bool again_took_nothing(void) {
    const bool nothing = asked && !taken;
    asked = taken = 0;
    return nothing;
}

/* ---- ways -------------------------------------------------------------------------------------------------------- */

enum { WORDS = 2 };
static const char *const names[WORDS] = { "XIR_EXEC_PATH", "XIR_THREADS" };
static char *before[WORDS];
static bool  is_set;

static void put(const char *name, const char *word) {
    if (word ? setenv(name, word, 1) : unsetenv(name)) abort();
}

void way_set(const char *path, const char *threads) {
    const char *const words[WORDS] = { path, threads };
    for (size_t i = 0; i < WORDS; i++) {
        const char *now = is_set ? NULL : getenv(names[i]);
        if (now && !(before[i] = strdup(now))) abort();
        if (words[i]) put(names[i], words[i]);
    }
    is_set = true;
}

void way_reset(void) {
    for (size_t i = 0; is_set && i < WORDS; i++) {
        put(names[i], before[i]);
        free(before[i]);
        before[i] = NULL;
    }
    is_set = false;
}

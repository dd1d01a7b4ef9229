/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Every fuzz target includes this. It declares the entry that libFuzzer or replay.c calls, and must(), which crashes if
 * a promise is broken. */
#ifndef XIR_TESTS_FUZZ_H
#define XIR_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef XIR_FUZZ_ENTRY    /* one of several in the program replay */
#define LLVMFuzzerTestOneInput XIR_FUZZ_ENTRY
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(bool ok) {
    if (!ok) abort();
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random stories (story.h) of ops that `fold-products` follows: factors, addends, products, norms, padding, pools,
 * orders and moves. All values that lines share have one type, so that any of them can be the input of any line. */
#ifndef SUPPORT_RANDOM_TALE_H
#define SUPPORT_RANDOM_TALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct random_tale {
    char   text[6000];
    size_t size, made;
    size_t outputs;       /* one or two           */
    bool   odd[100];      /* values of other types */
} random_tale;

/* The same seed always gives the same story; `chance` goes on from there. */
void random_tale_make(random_tale *t, uint64_t seed);

#endif

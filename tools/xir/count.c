/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Counts ops by class. Classes are noted one after the other and counted at the end, so that a file with as many
 * classes as ops costs no more than another. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

void tally_add(tally *t, const xir_class *cls) {
    if (t->n == t->room) {
        t->room = t->room * 2 + 64;
        t->noted = resize((void *)t->noted, t->room * sizeof *t->noted);
    }
    t->noted[t->n++] = cls;
}

static int by_pointer(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)*(const xir_class *const *)a, y = (uintptr_t)*(const xir_class *const *)b;
    return (x > y) - (x < y);
}

static int by_count(const void *a, const void *b) {
    const class_count *x = a, *y = b;
    if (x->n != y->n) return x->n < y->n ? 1 : -1;
    xir_str k = xir_class_key(x->cls), l = xir_class_key(y->cls);
    size_t least = k.size < l.size ? k.size : l.size;
    int order = least ? memcmp(k.data, l.data, least) : 0;
    return order ? order : (k.size > l.size) - (k.size < l.size);
}

size_t tally_counts(tally *t, class_count **out) {
    class_count *counts = take(t->n, sizeof *counts);
    size_t n = 0;
    if (t->n) qsort((void *)t->noted, t->n, sizeof *t->noted, by_pointer);
    for (size_t i = 0; i < t->n; i++) {
        if (i == 0 || t->noted[i] != t->noted[i - 1]) counts[n++] = (class_count){ t->noted[i], 0 };
        counts[n - 1].n++;
    }
    if (n) qsort(counts, n, sizeof *counts, by_count);
    *out = counts;
    free((void *)t->noted);
    *t = (tally){ 0 };
    return n;
}

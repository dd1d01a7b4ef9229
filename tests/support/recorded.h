/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks with recorded inputs and outputs: a folder of the corpus with a table index.tsv, a line for each network,
 * and an archive of arrays for each (NumPy's .npz). Networks that are known to differ are listed
 * with the reason (support/listed.h); one that is listed but passes is an error too. */
#ifndef SUPPORT_RECORDED_H
#define SUPPORT_RECORDED_H

#include "support/net.h"

enum { RECORDED_NAME = 64, RECORDED_REASON = 400, RECORDED_FIELDS = 16 };

typedef struct recorded_array {
    char       name[RECORDED_NAME];   /* of the member, without .npy                    */
    xir_array *array;                 /* NULL: elements of a type that XIR does not have */
} recorded_array;

typedef struct recorded {
    recorded_array *arrays;
    size_t          n;
} recorded;

/* Reads an archive; a file that is absent or has another form fails the test. */
void recorded_read(recorded *set, const char *path);
void recorded_free(recorded *set);
/* ("in", 2): the array of in2.npy. NULL: the archive does not have it, or XIR does not have its elements. */
xir_array *recorded_at(const recorded *set, const char *kind, size_t i);
/* Returns how many members of a kind there are: the greatest number, and 1. */
size_t recorded_count(const recorded *set, const char *kind);

/* "what: the first error in `why`". */
void recorded_error(char reason[RECORDED_REASON], const char *what);

/* Returns true if the arrays have one shape; sets the reason if not. */
bool recorded_same_shape(const xir_array *found, const xir_array *expected, size_t output,
                         char reason[RECORDED_REASON]);

/* Calls `row` for each line of CORPUS/FOLDER/index.tsv (not for its heading), or for the one that the environment
 * variable `only` names. Names in the file `list` under tests/ (NULL: no names) must not pass, all others must. Skips
 * the test without a corpus. `fields` are at least `n_fields`, the first is the name. */
typedef enum recorded_verdict { RECORDED_PASSES, RECORDED_STAYS, RECORDED_DIFFERS } recorded_verdict;
typedef recorded_verdict recorded_row(const char *folder, char *const fields[], char reason[RECORDED_REASON]);

typedef struct recorded_run {
    const char   *test;               /* __func__ of the test */
    const char   *folder, *list, *only;
    size_t        n_fields;
    recorded_row *row;
} recorded_run;

typedef struct recorded_total { size_t rows, passed, stay; } recorded_total;

recorded_total recorded_run_all(const recorded_run *run);

#endif

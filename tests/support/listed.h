/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tests of another project that are known to fail, with reasons: a file of lines
 *
 *   op TYPE: reason      the tests of an op type
 *   test NAME: reason    one test; a star at the end of the name stands for any rest
 *
 * Blank lines and lines that begin with # are skipped. The test that uses a list marks the lines that it needs, so that
 * it can report a line whose test passes or does not exist. */
#ifndef SUPPORT_LISTED_H
#define SUPPORT_LISTED_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_LISTED = 512 };

typedef struct listed {
    bool   is_op;
    char   name[96];
    size_t seen;
} listed;

extern listed list[MOST_LISTED];
extern size_t n_listed;

/* Reads the file at this path under tests/; a line of another form fails the test. */
void read_list(const char *file);
/* The line for an op type or a test, or NULL. */
listed *find_listed(bool is_op, const char *name);

#endif

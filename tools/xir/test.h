/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir test: what its files share. */
#ifndef TEST_H
#define TEST_H

#include "cli.h"

/* The action of a case on its network. */
typedef enum test_kind { TEST_OPT, TEST_CHECK, TEST_INFER, TEST_CONVERT } test_kind;

/* A finding that a case expects: what its message contains, and where, from 1; column 0: anywhere. */
typedef struct test_finding { xir_str words; size_t line, column; bool warning; } test_finding;

/* A case of a file: its lines are from `line` on, counted from 1, up to `end`, which is the first byte after it. */
typedef struct test_case {
    test_kind     kind;
    xir_str       words;        /* of the first line, after "opt: "                                    */
    size_t        line;
    const char   *begin, *end;  /* `begin`: the first line                                            */
    const char   *split;        /* the line "// ----"; NULL: none                                      */
    size_t        split_line;
    xir_str       target, bind;
    bool          exact, none;  /* "// exact"; "// no findings"                                       */
    bool          stable;       /* "// stable": a second run of the passes changes nothing            */
    test_finding *findings;
    size_t        n_findings;
    text          why;          /* how it failed, for --junit; empty: it passed                        */
    text          now;          /* --update: what its expectation becomes; empty: it stays             */
} test_case;

typedef struct test_file {
    const char *path;
    char       *bytes;
    size_t      size;
    test_case  *cases;
    size_t      n, room;
    word_list   plugins;
    bool        stable;         /* all cases are */
    text        fault;          /* the file itself is wrong */
} test_file;

/* test_read.c: the cases of a file. False after a complaint. */
bool test_read(test_file *f, const char *path);
void test_free(test_file *f);
/* Writes the file again with the new expectations. False after a complaint. */
bool test_write(const test_file *f);

/* test_case.c: runs a case, prints why it fails. `update`: fills t->now if what it expects is not what is. */
void test_run(const test_file *f, test_case *t, bool update);

#endif

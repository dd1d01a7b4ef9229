/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A test file is a group of tests, and the groups of a folder are one program. CMake names a group after the place of
 * its file: core/graph/random.c is graph_random, of the program core_graph.
 *
 *     GROUP {
 *         const struct CMUnitTest tests[] = { cmocka_unit_test(a_test) };
 *         return RUN_GROUP(tests);
 *     }
 *
 * A group returns what main would: 0, 77 if every test was skipped, or 1. */
#ifndef SUPPORT_PROGRAM_H
#define SUPPORT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of the running group, as main has them; the first one is the group's name. */
extern int    group_argc;
extern char **group_argv;

/* The program prints the names of its tests instead of running them. */
extern bool group_is_listed;

/* The groups of a program, sorted by name. */
typedef struct program_group {
    const char *name;
    int       (*run)(void);
} program_group;

extern const program_group program_groups[];
extern const size_t        n_program_groups;

#ifdef __cplusplus
}
#endif

#define GROUP              GROUP_NAMED(XIR_GROUP)
#define GROUP_NAMED(name)  GROUP_IS(name)
#ifdef __cplusplus    /* without cmocka, which lists tests */
#define GROUP_IS(name)                                                                \
    static int run_group();                                                           \
    extern "C" int group_##name() { return group_is_listed ? 0 : run_group(); }       \
    static int run_group()
#else
#define GROUP_IS(name)     extern int group_##name(void); int group_##name(void)
#endif

/* Defines the groups of a program; `groups` is a list of names, each in the macro that it is given. */
#define PROGRAM(groups)                                                \
    groups(PROGRAM_DECLARES)                                           \
    const program_group program_groups[] = { groups(PROGRAM_HAS) };    \
    const size_t n_program_groups = sizeof program_groups / sizeof *program_groups;
#define PROGRAM_DECLARES(name) extern int group_##name(void);
#define PROGRAM_HAS(name)      { #name, group_##name },

#endif

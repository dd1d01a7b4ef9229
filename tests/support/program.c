/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The main function of a test program.
 *
 *     core_graph                          every group, each in a process of its own
 *     core_graph random [GLOB]            the group graph_random, or those of its tests whose names match
 *     core_graph -l                       the groups and their tests
 *
 * A group is named in full or by what follows an underscore, if that is one group. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "support/often.h"
#include "support/program.h"

enum { EXIT_SKIPPED = 77, EXIT_USAGE = 2 };

int    group_argc;
char **group_argv;
bool   group_is_listed;

static bool ends_in(const char *name, const char *part) {
    for (const char *at = strchr(name, '_'); at; at = strchr(at + 1, '_'))
        if (strcmp(at + 1, part) == 0) return true;
    return false;
}

/* The group with this name, or the only one whose name ends in it. Otherwise says why there is none. */
static const program_group *find_group(const char *name) {
    const program_group *found = NULL;
    size_t n = 0;
    for (size_t i = 0; i < n_program_groups; i++) {
        const program_group *g = &program_groups[i];
        if (strcmp(g->name, name) == 0) return g;
        if (ends_in(g->name, name)) found = g, n++;
    }
    if (n == 1) return found;
    if (n) fprintf(stderr, "%zu groups end in _%s:", n, name);
    else fprintf(stderr, "there is no group %s; there are:", name);
    for (size_t i = 0; i < n_program_groups; i++)
        if (!n || ends_in(program_groups[i].name, name)) fprintf(stderr, " %s", program_groups[i].name);
    fprintf(stderr, "\n");
    return NULL;
}

/* Runs this program for one group. Returns its exit code, or 1 if a signal ended it. */
static int run_apart(const char *self, const char *name) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", self, name, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return 1;
    }
    if (WIFSIGNALED(status)) fprintf(stderr, "%s: %s\n", name, strsignal(WTERMSIG(status)));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run_all(const char *self) {
    int failed = 0;
    for (size_t i = 0; i < n_program_groups; i++) {
        int code = run_apart(self, program_groups[i].name);
        if (code == 0 || code == EXIT_SKIPPED) continue;
        fprintf(stderr, "%s has failed\n", program_groups[i].name);
        failed = 1;
    }
    return failed;
}

/* Goes to the folder of the program: paths that its code has are relative to it. */
static bool enter_folder(void) {
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0) return false;
    path[size] = '\0';
    *strrchr(path, '/') = '\0';
    return chdir(path) == 0;
}

#if IS_SANITIZED
/* Undefined behaviour ends in an illegal instruction (cmake/XirBuild.cmake). Its stack is printed. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "handle_sigill=1"; }
#endif

int main(int argc, char **argv) {
    if (!enter_folder()) {
        perror("cannot change to the folder of this program");
        return 1;
    }
    if (argc < 2) return run_all(argv[0]);
    group_argc = 1;
    group_argv = argv;
    if (strcmp(argv[1], "-l") == 0) {
        group_is_listed = true;
        for (size_t i = 0; i < n_program_groups; i++) {
            printf("%s\n", program_groups[i].name);
            program_groups[i].run();
        }
        return 0;
    }
    if (argv[1][0] == '-') {
        fprintf(stderr, "usage: %s [-l | GROUP [GLOB]]\n", argv[0]);
        return EXIT_USAGE;
    }
    const program_group *g = find_group(argv[1]);
    if (!g) return EXIT_USAGE;
    group_argc = argc - 1;
    group_argv = argv + 1;
    return g->run();
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Starts a test, and notes the processor time that it takes.
 *
 *     seconds FILE NAME COMMAND…     appends a line to FILE when COMMAND ends, and ends as it does
 *
 * The line is "USER SYSTEM NAME LOOP START": the seconds of COMMAND and of the processes that it waited for, outside
 * and inside of the kernel; and what two things take that are the same everywhere, a loop, and the start of a process
 * that touches a megabyte. They show how fast processor and kernel are at this moment, with all that runs.
 * scripts/seconds.sh reads FILE. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 3 * 1000 * 1000, TOUCHED = 1 << 20 };

typedef struct seconds { double user, system; } seconds;

static seconds seconds_of(int who) {
    struct rusage u;
    getrusage(who, &u);
    return (seconds){ (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec / 1e6,
                      (double)u.ru_stime.tv_sec + (double)u.ru_stime.tv_usec / 1e6 };
}

/* Steps that depend on each other: a compiler cannot leave any out, and a processor cannot overlap them. */
static double time_a_loop(void) {
    const double before = seconds_of(RUSAGE_SELF).user;
    volatile uint64_t end;
    uint64_t z = 1;
    for (int i = 0; i < ROUNDS; i++) z = (z ^ z >> 27) * 0x3C79AC492BA7B653u + 1;
    end = z;
    (void)end;
    return seconds_of(RUSAGE_SELF).user - before;
}

/* Only this program's own child is counted: the test has been waited for, and its time is taken off. */
static double time_a_start(const char *self) {
    const seconds before = seconds_of(RUSAGE_CHILDREN);   /* the kernel splits small times badly: both together */
    const pid_t child = fork();
    if (child == 0) {
        execl(self, self, "touch", (char *)NULL);
        _exit(127);
    }
    if (child > 0) (void)waitpid(child, NULL, 0);
    const seconds after = seconds_of(RUSAGE_CHILDREN);
    return after.user + after.system - before.user - before.system;
}

static int touch(void) {
    volatile char *pages = malloc(TOUCHED);
    for (size_t i = 0; pages && i < TOUCHED; i += 4096) pages[i] = 1;
    return !pages;
}

/* One write, so that lines of tests that end together do not mix. */
static void note(const char *self, const char *file, const char *name) {
    char line[512];
    const seconds took = seconds_of(RUSAGE_CHILDREN);
    int n = snprintf(line, sizeof line, "%.3f %.3f %s %.6f %.6f\n", took.user, took.system, name, time_a_loop(),
                     time_a_start(self));
    int out = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (out < 0 || n < 0 || n >= (int)sizeof line || write(out, line, (size_t)n) != n)
        fprintf(stderr, "seconds: cannot write %s: %s\n", file, strerror(errno));
    if (out >= 0) close(out);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "touch") == 0) return touch();
    if (argc < 4) {
        fprintf(stderr, "usage: %s FILE NAME COMMAND…\n", argv[0]);
        return 2;
    }
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);    /* CTest kills this process when the time is over */
        execvp(argv[3], argv + 3);
        fprintf(stderr, "seconds: %s: %s\n", argv[3], strerror(errno));
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        fprintf(stderr, "seconds: %s\n", strerror(errno));
        return 127;
    }
    note(argv[0], argv[1], argv[2]);
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "seconds: %s: %s\n", argv[2], strsignal(WTERMSIG(status)));
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

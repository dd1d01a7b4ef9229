/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Starts a test, and notes the processor time that it takes.
 *
 *     seconds FILE NAME COMMAND…     appends "SECONDS NAME" to FILE when COMMAND ends, and ends as it does
 *     seconds                        prints the processor time of a loop that is the same everywhere
 *
 * The time is that of COMMAND and of the processes that it waited for. scripts/seconds.sh reads FILE. */
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

enum { ROUNDS = 150 * 1000 * 1000 };

static double seconds_of(int who) {
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Steps that depend on each other: a compiler cannot leave any out, and a processor cannot overlap them. */
static int time_a_loop(void) {
    uint64_t z = 1;
    for (int i = 0; i < ROUNDS; i++) z = (z ^ z >> 27) * 0x3C79AC492BA7B653u + 1;
    printf("%.3f\n", seconds_of(RUSAGE_SELF));
    return z == 0;
}

/* One write, so that lines of tests that end together do not mix. */
static void note(const char *file, const char *name) {
    char line[512];
    int n = snprintf(line, sizeof line, "%.3f %s\n", seconds_of(RUSAGE_CHILDREN), name);
    int out = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (out < 0 || n < 0 || n >= (int)sizeof line || write(out, line, (size_t)n) != n)
        fprintf(stderr, "seconds: cannot write %s: %s\n", file, strerror(errno));
    if (out >= 0) close(out);
}

int main(int argc, char **argv) {
    if (argc == 1) return time_a_loop();
    if (argc < 4) {
        fprintf(stderr, "usage: %s [FILE NAME COMMAND…]\n", argv[0]);
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
    note(argv[1], argv[2]);
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "seconds: %s: %s\n", argv[2], strsignal(WTERMSIG(status)));
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

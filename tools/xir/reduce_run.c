/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The commands of xir reduce. Each runs in a group of processes of its own, which is killed when its first process has
 * ended, or its time is over: so nothing that a command has started remains. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "reduce.h"

enum { MOST_SAID = 1 << 16 };

static char  *folder, *paths[MOST_JOBS], *folders[MOST_JOBS];
static size_t n_jobs;

/* ---- signals --------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t asked;              /* the signal that asks the program to end */
static volatile pid_t        running[MOST_JOBS]; /* 0: none                                  */

static void end_all(int number) {
    asked = number;
    for (size_t i = 0; i < MOST_JOBS; i++)
        if (running[i] > 0) kill(-running[i], SIGKILL);
}

static void wait_for_signals(void) {
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now, ends = { .sa_handler = end_all };
        sigfillset(&ends.sa_mask);
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaction(numbers[i], &ends, NULL);
    }
}

int bench_interrupted(void) { return asked; }

/* ---- folders --------------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at) {
    (void)s;
    (void)kind;
    (void)at;
    return remove(path) != 0 && errno != ENOENT;
}

static bool remove_all(const char *path) { return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0; }

static char *in_folder(const char *of, const char *name) {
    char *with_slash = join(of, "/"), *path = join(with_slash, name);
    free(with_slash);
    return path;
}

bool bench_clear(size_t job) {
    struct stat s;
    if (stat(folders[job], &s) == 0 && !remove_all(folders[job])) {
        complain_of(REFUSED, folders[job], "cannot be removed: %s", strerror(errno));
        return false;
    }
    if (mkdir(folders[job], 0700) == 0) return true;
    complain_of(REFUSED, folders[job], "cannot be made: %s", strerror(errno));
    return false;
}

bool bench_open(const char *name, size_t jobs) {
    const char *top = getenv("TMPDIR");
    folder = in_folder(top && *top ? top : "/tmp", "xir-reduce-XXXXXX");
    if (!mkdtemp(folder)) {
        complain_of(REFUSED, folder, "cannot be made: %s", strerror(errno));
        free(folder);
        folder = NULL;
        return false;
    }
    wait_for_signals();
    atexit(bench_close);   /* without memory the program ends where it is */
    for (n_jobs = 0; n_jobs < jobs; n_jobs++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", n_jobs);
        folders[n_jobs] = in_folder(folder, number);
        paths[n_jobs] = in_folder(folders[n_jobs], name);
    }
    return true;
}

void bench_close(void) {
    if (folder) (void)remove_all(folder);
    for (size_t i = 0; i < n_jobs; i++) {
        free(folders[i]);
        free(paths[i]);
    }
    free(folder);
    folder = NULL;
    n_jobs = 0;
}

const char *bench_path(size_t job) { return paths[job]; }

/* The output of a command is stored next to the folder of its candidate. */
static char *log_of(size_t job) { return join(folders[job], ".said"); }

/* ---- commands -------------------------------------------------------------------------------------------------- */

/* A word as a shell takes it. */
static void quote(text *t, const char *word) {
    text_put(t, "'");
    for (; *word; word++) {
        if (*word == '\'') text_put(t, "'\\''");
        else text_add(t, word, 1);
    }
    text_put(t, "'");
}

static char *line_for(const char *words, size_t job) {
    text t = { 0 };
    for (; *words; words++) {
        if (words[0] == '{' && words[1] == '}') {
            quote(&t, paths[job]);
            words++;
        } else {
            text_add(&t, words, 1);
        }
    }
    text_add(&t, "", 1);
    return t.data;
}

static void child(const char *line, const char *log) {
    const int in = open("/dev/null", O_RDONLY), out = open("/dev/null", O_WRONLY),
              err = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    sigset_t none;
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    if (in < 0 || out < 0 || err < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(125);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(125);
}

/* Signals wait until the process is known to the handler. */
static bool start(const char *words, size_t job) {
    char *line = line_for(words, job), *log = log_of(job);
    sigset_t all, before;
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0) child(line, log);
    if (pid > 0) {
        setpgid(pid, pid);   /* as the child does, which may not have run yet */
        running[job] = pid;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(line);
    free(log);
    if (pid < 0) complain(REFUSED, "no process can be made: %s", strerror(errno));
    return pid > 0;
}

static void end_one(size_t job) {
    if (running[job] > 0) kill(-running[job], SIGKILL);
}

/* Takes the ending of a job, if it has ended. */
static bool take_ending(size_t job, ending *e) {
    int status;
    const pid_t pid = running[job];
    if (pid <= 0 || waitpid(pid, &status, WNOHANG) != pid) return false;
    kill(-pid, SIGKILL);   /* what it has left in its group */
    running[job] = 0;
    e->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool any_runs(size_t n) {
    for (size_t i = 0; i < n; i++)
        if (running[i] > 0) return true;
    return false;
}

bool bench_run(const char *words, size_t n, double seconds, bool (*ends)(const ending *e), ending *out) {
    const double begun = now();
    bool fine = true;
    size_t needed = n;   /* jobs from here on are not needed any more */
    for (size_t i = 0; i < n; i++) {
        out[i] = (ending){ .code = -1, .job = (int)i };
        if (fine && !asked) fine = start(words, i);
    }
    while (any_runs(n)) {
        const bool late = seconds > 0 && now() - begun > seconds;
        for (size_t i = 0; i < n; i++) {
            ending e = out[i];
            if (i > needed || late || asked || !fine) end_one(i);
            e.timed_out = late && running[i] > 0;
            if (!take_ending(i, &e)) continue;
            if (i > needed) continue;
            out[i] = e;
            if (!e.timed_out && ends(&e)) needed = i;
        }
        nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
    }
    return fine && !asked;
}

/* ---- what was said --------------------------------------------------------------------------------------------- */

char *bench_said(size_t job) {
    char *path = log_of(job), *said = take(MOST_SAID + 1, 1);
    FILE *file = fopen(path, "rb");
    if (file) {
        const size_t size = fread(said, 1, MOST_SAID, file);
        for (size_t i = 0; i < size; i++)
            if (!said[i]) said[i] = ' ';
        fclose(file);
    }
    free(path);
    return said;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Copies a line without what depends on the candidate: quoted texts, its path, numbers; a list of numbers is one. */
static void put_plain(text *t, const char *line, size_t size, const char *path) {
    const size_t path_size = strlen(path);
    for (size_t i = 0; i < size;) {
        if (size - i >= path_size && memcmp(line + i, path, path_size) == 0) {
            i += path_size;
        } else if (line[i] == '\'') {
            const char *end = memchr(line + i + 1, '\'', size - i - 1);
            text_put(t, "''");
            i = end ? (size_t)(end - line) + 1 : size;
        } else if (is_digit(line[i])) {
            while (i < size && (is_digit(line[i]) || ((line[i] == '.' || line[i] == ',') && i + 1 < size &&
                                                      is_digit(line[i + 1])))) i++;
            text_put(t, "0");
        } else {
            text_add(t, line + i++, 1);
        }
    }
}

static bool says_less(const char *line, size_t size) {
    static const char *const words[] = { "warning: ", "note: " };
    for (size_t w = 0; w < 2; w++)
        for (size_t i = 0; i + strlen(words[w]) <= size; i++)
            if (memcmp(line + i, words[w], strlen(words[w])) == 0) return true;
    return false;
}

char *bench_finding(size_t job) {
    char *said = bench_said(job);
    text t = { 0 };
    for (const char *line = said; *line;) {
        const size_t size = strcspn(line, "\n");
        if (size && !says_less(line, size)) {
            put_plain(&t, line, size, paths[job]);
            break;
        }
        line += size + (line[size] == '\n');
    }
    text_add(&t, "", 1);
    free(said);
    return t.data;
}

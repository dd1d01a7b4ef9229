/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir check --plugin X.so, without a file: the plug-in is tried. Its code runs in another process, which sends what it
 * finds through a pipe and writes what it does into memory that both have. If it crashes or does not return, what it
 * did last is named, and another process goes on with the next class. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

/* A step, and loading, take a few milliseconds: more than so many seconds of processor time is a loop, and more than so
 * many seconds of any kind is something that waits for ever. */
enum { STEP_SECONDS = 4, WAIT_SECONDS = 60 };

/* The step that the process is at. */
typedef struct doing {
    size_t    begun;                    /* classes of this process                                  */
    char      cls[200], step[120], op[600];
    xir_trial done;
} doing;

/* The head of a finding in the pipe; the sentence follows. */
typedef struct sent { int severity, code; size_t size; } sent;

/* ---- the process that tries -------------------------------------------------------------------------------------- */

typedef struct teller {
    doing     *now;
    xir_diags *found;
    size_t     n_sent;
    int        pipe;
} teller;

static bool write_all(int to, const void *bytes, size_t size) {
    for (const char *p = bytes; size;) {
        const ssize_t n = write(to, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static void send_findings(teller *t) {
    for (; t->n_sent < xir_diags_count(t->found); t->n_sent++) {
        const xir_diag *d = xir_diags_at(t->found, t->n_sent);
        const sent head = { (int)d->severity, (int)d->code, d->message.size };
        if (!write_all(t->pipe, &head, sizeof head) || !write_all(t->pipe, d->message.data, d->message.size))
            _exit(REFUSED);
    }
}

static void copy_text(char *out, size_t room, xir_str s) {
    const size_t n = s.size < room - 1 ? s.size : room - 1;
    memcpy(out, s.data, n);
    out[n] = '\0';
}

/* The process ends by SIGPROF or SIGALRM unless the next step begins in time. */
static void begin_clocks(void) {
    const struct itimerval loops = { .it_value = { .tv_sec = STEP_SECONDS } };
    const struct itimerval waits = { .it_value = { .tv_sec = WAIT_SECONDS } };
    setitimer(ITIMER_PROF, &loops, NULL);
    setitimer(ITIMER_REAL, &waits, NULL);
}

static void note_step(void *user, xir_str cls, const char *step, xir_str op) {
    teller *t = user;
    char key[sizeof t->now->cls];
    send_findings(t);
    copy_text(key, sizeof key, cls);
    if (strcmp(key, t->now->cls) != 0) t->now->begun++;
    memcpy(t->now->cls, key, sizeof key);
    copy_text(t->now->step, sizeof t->now->step, xir_str_of(step));
    copy_text(t->now->op, sizeof t->now->op, op);
    begin_clocks();
}

/* A crash is one of the plug-in, which the other process names. */
static void crash_quietly(void) {
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF, SIGALRM };
    sigset_t none;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) signal(numbers[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void try_it(const char *path, size_t before, size_t skip, doing *now, int pipe) {
    teller t = { .now = now, .found = new_diags(), .pipe = pipe };
    crash_quietly();
    begin_clocks();
    const xir_trial_options how = { .size = sizeof how, .skip = skip, .before = plugins.items, .n_before = before,
                                    .doing = note_step, .user = &t };
    const xir_status status = xir_plugin_try(context, path, &how, &now->done, t.found);
    send_findings(&t);
    _exit(status == XIR_OK || status == XIR_E_INVALID ? DONE : code_of_plugin(status));
}

/* ---- the process that listens ------------------------------------------------------------------------------------ */

static bool read_all(int from, void *bytes, size_t size) {
    for (char *p = bytes; size;) {
        const ssize_t n = read(from, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static void add_finding(xir_diags *all, const char *path, xir_severity severity, xir_status code, xir_str sentence) {
    xir_diags_append(all, &(xir_diag){ .severity = severity, .code = code, .file = xir_str_of(path),
                                       .byte = XIR_NO_BYTE, .message = sentence });
}

static void listen_to(int from, const char *path, xir_diags *all) {
    sent head;
    while (read_all(from, &head, sizeof head)) {
        if (head.size > 1 << 20) return;   /* the process has crashed within a write */
        char *words = take(head.size + 1, 1);
        const bool whole = read_all(from, words, head.size);
        const xir_str sentence = { words, head.size };
        if (whole) add_finding(all, path, (xir_severity)head.severity, (xir_status)head.code, sentence);
        free(words);
        if (!whole) return;
    }
}

static void say_crash(const char *path, const doing *now, int number, xir_diags *all) {
    text t = { 0 };
    const bool waits = number == SIGALRM;
    const char *name = number == SIGPROF || waits ? NULL : strsignal(number);
    text_put(&t, *now->cls ? now->cls : "the plug-in");
    if (!*now->cls) text_put(&t, name ? ": it crashes while it is loaded" : ": it does not return while it is loaded");
    else if (name) text_printf(&t, ": %s crashes (%s) for %s", now->step, name, now->op);
    else text_printf(&t, ": %s: no answer within %d s%s for %s", now->step, waits ? WAIT_SECONDS : STEP_SECONDS,
                     waits ? "" : " of processor time", now->op);
    add_finding(all, path, XIR_ERROR, XIR_E_INVALID, text_of(&t));
    text_free(&t);
}

/* Tries the classes from `skip` on. *crashed is set if the process did not come to its end. */
static int run_once(const char *path, size_t number, size_t skip, doing *now, bool *crashed, xir_diags *all) {
    int ends[2], ending = 0;
    memset(now, 0, sizeof *now);
    now->done.size = sizeof now->done;
    if (pipe(ends) != 0) return complain(REFUSED, "no pipe can be made: %s", strerror(errno));
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        try_it(path, number, skip, now, ends[1]);
    }
    close(ends[1]);
    if (pid > 0) listen_to(ends[0], path, all);
    close(ends[0]);
    if (pid < 0) return complain(REFUSED, "no process can be made: %s", strerror(errno));
    while (waitpid(pid, &ending, 0) < 0 && errno == EINTR) {}
    *crashed = WIFSIGNALED(ending);
    if (*crashed) say_crash(path, now, WTERMSIG(ending), all);
    return *crashed ? DONE : WEXITSTATUS(ending);
}

static int try_plugin(size_t number, xir_trial *sum, xir_diags *all) {
    const char *path = plugins.items[number];
    doing *now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (now == MAP_FAILED) return no_memory();
    size_t skip = 0;
    bool crashed = true;
    int code = DONE;
    while (crashed && !code) {
        code = run_once(path, number, skip, now, &crashed, all);
        sum->classes += crashed ? now->begun : now->done.classes;
        sum->ops += now->done.ops;
        sum->runs += now->done.runs;
        skip += now->begun;
        if (!now->begun) break;
    }
    munmap(now, sizeof *now);
    return code;
}

static int report(size_t number, json_out *j) {
    const char *path = plugins.items[number];
    xir_trial sum = XIR_INIT(xir_trial);
    xir_diags *all = new_diags();
    size_t of[3];   /* ORDER SEVERITY */
    progress_begin("trying", path);
    int code = try_plugin(number, &sum, all);
    progress_end();
    for (int i = 0; i < 3; i++) of[i] = xir_diags_count_of(all, (xir_severity)i);
    say(all);
    xir_diags_free(all);
    if (!j) {
        if (!code) print_summary(path, true, of[XIR_ERROR], of[XIR_WARNING], of[XIR_NOTE]);
        return code ? code : of[XIR_ERROR] ? FAULTY : DONE;
    }
    code = code ? code : of[XIR_ERROR] ? FAULTY : DONE;
    json_open(j, NULL, '{');
    json_str(j, "plugin", xir_str_of(path));
    json_uint(j, "classes", sum.classes);
    json_uint(j, "ops", sum.ops);
    json_uint(j, "runs", sum.runs);
    json_uint(j, "errors", of[XIR_ERROR]);
    json_uint(j, "warnings", of[XIR_WARNING]);
    json_uint(j, "notes", of[XIR_NOTE]);
    code = json_findings(j, code);
    json_close(j, '}');
    return code;
}

int check_plugins(bool as_json) {
    int worst = DONE;
    json_out j = { 0 };
    if (as_json) json_files_begin(&j, (int)plugins.n);
    for (size_t i = 0; i < plugins.n; i++) {
        const int code = report(i, as_json ? &j : NULL);
        if (code > worst) worst = code;
    }
    if (as_json) json_files_end(&j, (int)plugins.n);
    return worst;
}

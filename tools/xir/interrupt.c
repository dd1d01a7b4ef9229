/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Signals. Ctrl-C, and other requests to end: the program ends at once. Files that it was writing have not replaced
 * anything yet, and are removed. Only if two files are just being replaced, they are unfinished, and loading them says
 * so. And crashes: the program names the op whose kernel was running, then the system does what it does at a crash.
 * What runs in a handler only reads and writes. */
#include <signal.h>
#include <unistd.h>
#include "cli.h"

static bool on_terminal;
static const char *volatile part;   /* a file that the program itself is writing; NULL: none */

void note_part(const char *path) { part = path; }

void abandon_part(void) {
    if (part) unlink(part);
}

static void put(const char *bytes, size_t size) {
    ssize_t n = write(STDERR_FILENO, bytes, size);
    (void)n;   /* there is no other place to report it */
}

static void put_words(const char *words) { put(words, xir_str_of(words).size); }

static void put_start_of_line(void) {
    if (on_terminal) put_words("\r\033[K");
}

void signal_put(xir_str s) {
    for (size_t i = 0; i < s.size; i++) {
        const unsigned char c = (unsigned char)s.data[i];
        const char escaped[] = { '\\', 'x', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15] };
        if (c < 0x20 || c >= 0x7F) put(escaped, sizeof escaped);
        else put(&s.data[i], 1);
    }
}

/* ---- requests to end ------------------------------------------------------------------------------- */

static void interrupted(int number) {
    const bool replacing = xir_abandon_saves();
    abandon_part();
    put_start_of_line();
    if (replacing) put_words("xir: interrupted while two files were being replaced: xir check --repair FILE finishes that\n");
    else put_words("xir: interrupted; files that were being written are unchanged\n");
    _exit(INTERRUPTED + number);
}

void end_on_signals(void) {
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    on_terminal = isatty(STDERR_FILENO);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now, ends = { .sa_handler = interrupted };
        sigfillset(&ends.sa_mask);
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaction(numbers[i], &ends, NULL);
    }
}

/* ---- crashes --------------------------------------------------------------------------------------- */

void end_crashed(int number) {
    const xir_op *op = xir_run_current_op();
    if (op) {
        put_start_of_line();
        put_words("xir: the kernel of ");
        signal_put(xir_class_key(xir_op_class(op)));
        put_words(" '");
        signal_put(xir_op_name(op));
        put_words("' crashed\n");
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* A sanitizer that reports crashes, or who started the program, may handle a signal: then that stays. */
void name_crashes(void) {
    static const int numbers[] = { SIGSEGV, SIGFPE, SIGILL, SIGABRT };   /* SIGBUS: see lost.c */
    static char room[1 << 16];
    stack_t old, other = { .ss_sp = room, .ss_size = sizeof room };      /* a stack may have overflown */
    if (sigaltstack(NULL, &old) == 0 && old.ss_flags & SS_DISABLE) sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now, crashes = { .sa_handler = end_crashed, .sa_flags = SA_ONSTACK };
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL) sigaction(numbers[i], &crashes, NULL);
    }
}

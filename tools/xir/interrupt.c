/* Ctrl-C, and other requests to end: the program ends at once. Files that it was writing have not replaced anything
 * yet, and are removed. Only if two files are just being replaced, they are unfinished, and loading them says so. */
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
    (void)n;
}

/* Calls only what a handler may call. */
static void interrupted(int number) {
    static const char clear[] = "\r\033[K",
                      unchanged[] = "xir: interrupted; files that were being written are unchanged\n",
                      unfinished[] = "xir: interrupted while two files were being replaced: xir check --repair FILE "
                                     "finishes that\n";
    const bool replacing = xir_abandon_saves();
    abandon_part();
    if (on_terminal) put(clear, sizeof clear - 1);
    if (replacing) put(unfinished, sizeof unfinished - 1);
    else put(unchanged, sizeof unchanged - 1);
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

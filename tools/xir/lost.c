/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A mapped file that another program shortens: its bytes are lost, and the program ends, but it can name the file. The
 * system knows what is mapped where. All this may run in a signal handler: it only reads and writes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"

enum { ROOM = 8192 };   /* of a line: a path has 4096 bytes at most, and a few of them are escaped */

/* A number in base 16; *p is moved past it. */
static uintptr_t number(const char **p) {
    uintptr_t n = 0;
    for (;; (*p)++) {
        const char c = **p;
        if (c >= '0' && c <= '9') n = n * 16 + (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f') n = n * 16 + (uintptr_t)(c - 'a' + 10);
        else return n;
    }
}

/* The path of a line "from-to mode offset device inode path" that has the address; NULL: another line, or no path. */
static const char *path_in(const char *line, uintptr_t at) {
    uintptr_t from = number(&line);
    if (*line++ != '-') return NULL;
    uintptr_t to = number(&line);
    return at >= from && at < to ? strchr(line, '/') : NULL;
}

/* Reads lines of /proc/self/maps until one has the address. */
static const char *find_path(uintptr_t at, char line[ROOM]) {
    const char *path = NULL;
    char block[512];
    size_t used = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (ssize_t n; !path && fd >= 0 && (n = read(fd, block, sizeof block)) > 0;) {
        for (ssize_t i = 0; i < n && !path; i++) {
            if (block[i] != '\n') {
                if (used < ROOM - 1) line[used++] = block[i];
                continue;
            }
            line[used] = '\0';
            used = 0;
            path = path_in(line, at);
        }
    }
    if (fd >= 0) close(fd);
    return path;
}


void say_lost(const void *address) {
    static const char sentence[] = ": a file was made shorter while it was mapped\n";
    static char line[ROOM];
    const char *path = find_path((uintptr_t)address, line);
    signal_put(xir_str_of(path ? path : "xir"));
    signal_put((xir_str){ sentence, sizeof sentence - 1 });
}

static void on_bus_error(int signal_number, siginfo_t *info, void *where) {
    (void)where;
    if (info->si_code != BUS_ADRERR) {
        end_crashed(signal_number);
        return;
    }
    say_lost(info->si_addr);
    abandon_part();
    _exit(REFUSED);
}

void watch_for_losses(void) {
    const struct sigaction on_loss = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    sigaction(SIGBUS, &on_loss, NULL);
}

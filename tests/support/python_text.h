/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The form of every module of PyTorch that XIR writes, whatever the network's names and parameters are: printable ASCII
 * alone; literals that end in their line; and the body of forward has one statement a line, each of which assigns to
 * identifiers of its own or is the last one, which returns. So no text of a file is a statement. */
#ifndef SUPPORT_PYTHON_TEXT_H
#define SUPPORT_PYTHON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns true if a line has no quote that it does not close, and outside of quotes nothing that ends a statement. */
static inline bool python_line_is_whole(const char *p, const char *end) {
    bool quoted = false;
    for (; p < end; p++) {
        if ((unsigned char)*p < ' ' || (unsigned char)*p > '~') return false;
        if (quoted && *p == '\\' && p + 1 < end) p++;
        else if (*p == '\'') quoted = !quoted;
        else if (!quoted && strchr(";#\\", *p)) return false;
    }
    return !quoted;
}

/* Returns the first line of a module that does not have this form; NULL: all have it. */
static inline const char *python_bad_line(const char *text, size_t size) {
    static const char method[] = "    def forward(self";
    const char *end = text + size, *next;
    bool forward = false;
    for (const char *p = text; p < end; p = next) {
        const char *feed = memchr(p, '\n', (size_t)(end - p));
        if (!feed || !python_line_is_whole(p, feed)) return p;
        next = feed + 1;
        const size_t n = (size_t)(feed - p);
        if (forward) {
            const bool assigns = n > 10 && !memcmp(p, "        ", 8) && (p[8] == 'v' || p[8] == 't') && p[9] == '_' &&
                                 memmem(p, n, " = ", 3);
            const bool returns = n > 15 && !memcmp(p, "        return ", 15);
            if (!assigns && !returns) return p;
            forward = !returns;
        }
        if (n > sizeof method && !memcmp(p, method, sizeof method - 1)) forward = true;
    }
    return NULL;
}

#endif

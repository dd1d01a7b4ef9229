/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Output for terminals: lines of its width, and colours. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "cli.h"

/* ---- width --------------------------------------------------------------------------------------- */

size_t terminal_width(void) {
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    char *end;
    const unsigned long given = columns && *columns >= '1' && *columns <= '9' ? strtoul(columns, &end, 10) : 0;
    if (given && !*end) return given;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) return size.ws_col;
    return SIZE_MAX;
}

/* Returns the number of bytes of the first characters of a line. */
static size_t bytes_of(const char *line, size_t size, size_t columns) {
    size_t i = 0;
    while (i < size && columns) {
        for (i++; i < size && ((unsigned char)line[i] & 0xC0) == 0x80; i++) {}
        columns--;
    }
    return i;
}

static void print_cut(const char *line, size_t size, size_t width) {
    static const char more[] = "...";
    enum { MORE = sizeof more - 1 };
    if (bytes_of(line, size, width) == size) {
        fwrite(line, 1, size, stdout);
    } else {
        fwrite(line, 1, bytes_of(line, size, width > 2 * MORE ? width - MORE : width), stdout);
        if (width > 2 * MORE) fputs(more, stdout);
    }
}

static FILE  *standard, *table;   /* stdout, and what stands for it in a table */
static char  *lines;
static size_t lines_size;

void table_begin(void) {
    if (table || terminal_width() == SIZE_MAX) return;
    table = open_memstream(&lines, &lines_size);
    if (!table) return;           /* without memory the lines are not cut */
    standard = stdout;
    stdout = table;
}

void table_end(void) {
    if (!table) return;
    const bool is_lost = fclose(table) != 0;
    stdout = standard;
    table = NULL;
    if (is_lost) exit(no_memory());
    const size_t width = terminal_width();
    for (size_t at = 0; at < lines_size;) {
        const char *line = lines + at, *end = memchr(line, '\n', lines_size - at);
        const size_t size = end ? (size_t)(end - line) : lines_size - at;
        print_cut(line, size, width);
        if (end) putchar('\n');
        at += size + 1;
    }
    free(lines);
    lines = NULL;
}

/* ---- colours ------------------------------------------------------------------------------------- */

const char *colour_word;

int check_colour(void) {
    static const char *const words[] = { "auto", "always", "never", NULL };
    for (size_t i = 0; words[i]; i++)
        if (!colour_word || strcmp(colour_word, words[i]) == 0) return DONE;
    const char *given = colour_word;
    colour_word = NULL;
    return complain(MISUSED, "--color takes auto, always or never, not '%s'", given);
}

bool in_colour(FILE *out) {
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (colour_word && strcmp(colour_word, "auto") != 0) return strcmp(colour_word, "always") == 0;
    return !(no && *no) && isatty(out == stderr ? STDERR_FILENO : STDOUT_FILENO) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

void paint(FILE *out, const char *code) {
    if (in_colour(out)) fprintf(out, "\033[%sm", code);
}

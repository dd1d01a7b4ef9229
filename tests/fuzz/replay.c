/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs a fuzz target without libFuzzer: once with the empty input and once with every given file, including the files
 * of folders. The input is in a block of exactly its size, so that a sanitizer detects a read past the end. If the
 * target crashes, the last file is named.
 *
 *     replay fuzz_json FILE…
 *     replay                     prints the targets, each with the formats of formats.def that it attacks
 *
 * A format whose target nobody has written does not link. */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "targets.h"    /* made by CMake: the list TARGETS(T) of T(name) */

typedef int target_fn(const uint8_t *data, size_t size);

#define DECLARED(name) target_fn name;
TARGETS(DECLARED)

#define ROW(name) { #name, name },
static const struct { const char *name; target_fn *run; } targets[] = { TARGETS(ROW) };
enum { N_TARGETS = sizeof targets / sizeof *targets };

#define DIALECT FORMAT
#define FORMAT(id, page, fuzz) { #id, fuzz_##fuzz },
static const struct { const char *name; target_fn *run; } formats[] = {
#include "formats.def"
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static target_fn  *target;
static const char *current = "(the empty input)";
static size_t      count;

/* Calls only what a signal handler may call. */
static void name_and_die(int signal_number)
{
    static const char text[] = "\nreplay: crashed on ";
    ssize_t           ignored;

    ignored = write(2, text, sizeof text - 1);
    ignored = write(2, current, strlen(current));
    ignored = write(2, "\n", 1);
    (void)ignored;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static int cannot(const char *what, const char *path)
{
    fprintf(stderr, "replay: cannot %s %s\n", what, path);
    return 1;
}

static int replay_file(const char *path, size_t size)
{
    FILE    *file = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);

    if (!file || !data || fread(data, 1, size, file) != size) {
        if (file)
            fclose(file);
        free(data);
        return cannot("read", path);
    }
    fclose(file);
    current = path;
    target(data, size);
    count++;
    free(data);
    return 0;
}

static int replay(const char *path)
{
    struct stat     st;
    struct dirent **entries;
    int             n, failed = 0;

    if (stat(path, &st) != 0)
        return cannot("find", path);
    if (!S_ISDIR(st.st_mode))
        return replay_file(path, (size_t)st.st_size);

    n = scandir(path, &entries, NULL, alphasort);
    if (n < 0)
        return cannot("list", path);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        size_t      room = strlen(path) + strlen(name) + 2;
        char       *below = malloc(room);

        if (!below)
            abort();
        snprintf(below, room, "%s/%s", path, name);
        if (name[0] != '.')
            failed |= replay(below);
        free(below);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

static void print_target(size_t i)
{
    printf("%s", targets[i].name);
    for (size_t k = 0; k < N_FORMATS; k++)
        if (formats[k].run == targets[i].run)
            printf(" %s", formats[k].name);
    putchar('\n');
}

int main(int argc, char **argv)
{
    static const int deadly[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    int              failed = 0;

    for (size_t i = 0; i < N_TARGETS; i++) {
        if (argc < 2)
            print_target(i);
        else if (strcmp(argv[1], targets[i].name) == 0)
            target = targets[i].run;
    }
    if (argc < 2)
        return 0;
    if (!target)
        return cannot("find the target", argv[1]);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], name_and_die);

    uint8_t *nothing = malloc(1);
    if (!nothing)
        abort();
    target(nothing, 0);
    free(nothing);

    for (int i = 2; i < argc; i++)
        failed |= replay(argv[i]);
    printf("%zu inputs and the empty one\n", count);
    return failed;
}

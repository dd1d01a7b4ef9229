/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading command lines: a table of options is all a command says. Options and operands come in any order; "--" ends
 * the options; "-" is an operand; an option's argument is the next word, or follows '='. */
#include <string.h>
#include "cli.h"

const option common_options[] = {
    { "plugin", "LIB", WORD_FILE, &plugins,
      "load operations, passes and formats from a plug-in (runs its code)", .many = true },
    { "max-bytes", "N", WORD_TEXT, &limit_args.max_bytes,
      "read at most N bytes of a file (2^40), or of a pipe or device (2^32)" },
    { "max-unpacked", "N", WORD_TEXT, &limit_args.max_unpacked,
      "inflate at most N bytes of an archive (2^26), and 16 times its size" },
    { "max-values", "N", WORD_TEXT, &limit_args.max_values,
      "read at most N values without a class (1000000), and one for every few bytes" },
    { "max-read-memory", "N", WORD_TEXT, &limit_args.max_read_memory,
      "reading holds at most N bytes (56 MiB), and 2 for each byte of the files, or 16 of a text" },
    { "max-findings", "N", WORD_TEXT, &limit_args.max_findings,
      "print at most N findings, and how many more there are (1000)" },
    { "help", NULL, WORD_NONE, NULL, "print what the command takes; also -h" },
    { 0 },
};
enum { COMMON = sizeof common_options / sizeof common_options[0] - 1 };

static const option *find_in(const option *o, const char *name, size_t size) {
    for (; o && o->name; o++) {
        if (strlen(o->name) == size && memcmp(o->name, name, size) == 0) return o;
    }
    return NULL;
}

static const option *find(const command *cmd, const char *name, size_t size) {
    const option *o = find_in(cmd->options, name, size);
    return o ? o : find_in(common_options, name, size);
}

/* Options that commands had, and what does now what they did. */
static const struct { const char *name, *instead; } removed[] = {
    { "as-upstream", "a DeepX text is read as it is written, and 'xir check' warns where the executor's parser reads "
                     "it otherwise" },
};

static int unknown(const command *cmd, const char *word) {
    const char *bare_word = word + strspn(word, "-");
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
        const size_t n = strlen(removed[i].name);
        if (strncmp(bare_word, removed[i].name, n) != 0 || (bare_word[n] && bare_word[n] != '=')) continue;
        complain(MISUSED, "--%s has been removed: %s", removed[i].name, removed[i].instead);
        return -1;
    }
    enum { MOST = 48 };
    const char *names[MOST + COMMON + 1];
    size_t n = 0;
    for (const option *o = cmd->options; o && o->name && n < MOST; o++) names[n++] = o->name;
    for (size_t i = 0; i < COMMON; i++) names[n++] = common_options[i].name;
    names[n] = NULL;
    text bare = { 0 };
    text_add(&bare, bare_word, strcspn(bare_word, "="));
    const char *meant = bare.size ? nearest(text_of(&bare).data, names) : NULL;
    if (meant) complain(MISUSED, "%s has no option '%s'; did you mean '--%s'?", cmd->name, word, meant);
    else complain(MISUSED, "%s has no option '%s'; xir %s --help lists them", cmd->name, word, cmd->name);
    text_free(&bare);
    return -1;
}

/* Stores an option's argument, which follows its '=' or is the next word. False without one. */
static bool take_argument(const option *o, const char *equals, int argc, char **argv, int *i) {
    if (!equals && *i + 1 >= argc) {
        complain(MISUSED, "--%s needs an argument: %s", o->name, o->argument);
        return false;
    }
    const char *argument = equals ? equals + 1 : argv[++*i];
    if (o->is == WORD_FOLDER && strcmp(argument, "-") == 0) {
        complain(MISUSED, "--%s takes a folder, which - is not: ./- is the folder of that name", o->name);
        return false;
    }
    if (o->many) words_add(o->to, argument);
    else *(const char **)o->to = argument;
    return true;
}

bool parse_leading(int *argc, char ***argv) {
    while (*argc > 0 && strncmp(**argv, "--", 2) == 0) {
        const char *name = **argv + 2, *equals = strchr(name, '=');
        const option *o = find_in(common_options, name, equals ? (size_t)(equals - name) : strlen(name));
        if (!o || !o->argument) return true;   /* the caller knows what it is */
        int i = 0;
        if (!take_argument(o, equals, *argc, *argv, &i)) return false;
        *argc -= i + 1;
        *argv += i + 1;
    }
    return true;
}

/* The formats that a line with --help names: their options are explained. */
static void note_format(const char *name, const char **to, int argc, char **argv) {
    const size_t n = strlen(name);
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], name, n) != 0) continue;
        if (argv[i][n] == '=') *to = argv[i] + n + 1;
        else if (!argv[i][n] && i + 1 < argc) *to = argv[i + 1];
    }
}

int parse_options(const command *cmd, int argc, char **argv, bool *help) {
    int n = 0;
    bool ended = false;
    for (int i = 0; i < argc && !ended; i++) {
        if (strcmp(argv[i], "--") == 0) ended = true;
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) *help = true;
        else if (strcmp(argv[i], "--json") == 0 && find(cmd, "json", 4)) note_findings();
    }
    if (*help) {
        note_format("--from", &load_args.from, argc, argv);
        note_format("--to", &save_args.to, argc, argv);
        return 0;
    }
    ended = false;
    for (int i = 0; i < argc; i++) {
        char *word = argv[i];
        if (ended || word[0] != '-' || !word[1]) {
            argv[n++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            ended = true;
            continue;
        }
        if (word[1] != '-') return unknown(cmd, word);
        const char *name = word + 2, *equals = strchr(name, '=');
        const option *o = find(cmd, name, equals ? (size_t)(equals - name) : strlen(name));
        if (!o) return unknown(cmd, word);
        if (!o->argument) {
            if (equals) {
                complain(MISUSED, "--%s takes no argument", o->name);
                return -1;
            }
            *(bool *)o->to = true;
            continue;
        }
        if (!take_argument(o, equals, argc, argv, &i)) return -1;
    }
    return n;
}

void near_add(near_names *near, const char *word, xir_str name) {
    size_t distance = SIZE_MAX;
    if (!name.size || !xir_str_is_nearer(xir_str_of(word), name, &distance)) return;
    if (near->n && distance > near->distance) return;
    if (!near->n || distance < near->distance) *near = (near_names){ .distance = distance };
    for (size_t i = 0; i < near->n; i++)
        if (xir_str_equal(near->names[i], name)) return;
    if (near->n < NEAR) near->names[near->n++] = name;
}

void near_put(text *t, const near_names *near) {
    for (size_t i = 0; i < near->n; i++) {
        text_printf(t, "%s'%.*s'", i == 0 ? "" : i + 1 < near->n ? ", " : " or ", (int)near->names[i].size,
                    near->names[i].data);
    }
}

const char *nearest(const char *word, const char *const *words) {
    const char *best = NULL;
    size_t distance = SIZE_MAX;
    for (; *words; words++) {
        if (xir_str_is_nearer(xir_str_of(word), xir_str_of(*words), &distance)) best = *words;
    }
    return best;
}

/* Reading command lines: a table of options is all a command says. Options and operands come in any order; "--" ends
 * the options; "-" is an operand; an option's argument is the next word or stands behind '='. */
#include <string.h>
#include "cli.h"

/* What every command takes. */
static const option common[] = {
    { "plugin", "LIB", &plugins, "load operations from a plug-in (runs its code); may be repeated", .many = true },
    { "max-bytes", "N", &limit_args.max_bytes, "read at most N bytes of a file (2^40) or of a pipe or device (2^32)" },
    { "max-values", "N", &limit_args.max_values, "read at most N values without a class (1000000), and one for every few bytes" },
    { "max-findings", "N", &limit_args.max_findings, "say at most N findings, and how many more there are (1000)" },
    { 0 },
};
enum { COMMON = sizeof common / sizeof common[0] - 1 };

static const option *find_in(const option *o, const char *name, size_t size) {
    for (; o && o->name; o++) {
        if (strlen(o->name) == size && memcmp(o->name, name, size) == 0) return o;
    }
    return NULL;
}

static const option *find(const command *cmd, const char *name, size_t size) {
    const option *o = find_in(cmd->options, name, size);
    return o ? o : find_in(common, name, size);
}

static int unknown(const command *cmd, const char *word) {
    enum { MOST = 48 };
    const char *names[MOST + COMMON + 2];
    size_t n = 0;
    for (const option *o = cmd->options; o && o->name && n < MOST; o++) names[n++] = o->name;
    for (size_t i = 0; i < COMMON; i++) names[n++] = common[i].name;
    names[n++] = "help";
    names[n] = NULL;
    text bare = { 0 };
    text_add(&bare, word + strspn(word, "-"), strcspn(word + strspn(word, "-"), "="));
    const char *meant = bare.size ? nearest(text_of(&bare).data, names) : NULL;
    if (meant) complain(MISUSED, "%s has no option '%s'; was --%s meant?", cmd->name, word, meant);
    else complain(MISUSED, "%s has no option '%s'; xir %s --help lists them", cmd->name, word, cmd->name);
    text_free(&bare);
    return -1;
}

/* Stores an option's argument, which stands behind its '=' or is the next word. False if there is none. */
static bool take_argument(const option *o, const char *equals, int argc, char **argv, int *i) {
    if (!equals && *i + 1 >= argc) {
        complain(MISUSED, "--%s needs an argument: %s", o->name, o->argument);
        return false;
    }
    const char *argument = equals ? equals + 1 : argv[++*i];
    if (o->many) words_add(o->to, argument);
    else *(const char **)o->to = argument;
    return true;
}

bool parse_leading(int *argc, char ***argv) {
    while (*argc > 0 && strncmp(**argv, "--", 2) == 0) {
        const char *name = **argv + 2, *equals = strchr(name, '=');
        const option *o = find_in(common, name, equals ? (size_t)(equals - name) : strlen(name));
        if (!o) return true;   /* what it is the caller knows */
        int i = 0;
        if (!take_argument(o, equals, *argc, *argv, &i)) return false;
        *argc -= i + 1;
        *argv += i + 1;
    }
    return true;
}

int parse_options(const command *cmd, int argc, char **argv, bool *help) {
    int n = 0;
    bool ended = false;
    for (int i = 0; i < argc && !ended; i++) {
        if (strcmp(argv[i], "--") == 0) ended = true;
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) *help = true;
    }
    if (*help) return 0;
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

static void print_options(const option *o, FILE *out) {
    for (; o && o->name; o++) {
        text spelled = { 0 };
        text_printf(&spelled, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
        fprintf(out, "  %-18s  %s\n", spelled.data, o->help);
        text_free(&spelled);
    }
}

void print_help(const command *cmd, FILE *out) {
    fprintf(out, "usage: xir %s [OPTION]... %s\n\n%s.\n", cmd->name, cmd->operands, cmd->summary);
    if (cmd->details) fprintf(out, "%s", cmd->details);
    fprintf(out, "\n");
    print_options(cmd->options, out);
    print_options(common, out);
    fprintf(out, "  %-18s  %s\n", "--help", "print this");
}

const char *nearest(const char *word, const char *const *words) {
    const char *best = NULL;
    size_t distance = SIZE_MAX;
    for (; *words; words++) {
        if (xir_str_is_nearer(xir_str_of(word), xir_str_of(*words), &distance)) best = *words;
    }
    return best;
}

/* The program: a table of subcommands, each in the file of its name. A new one is a file and a line here. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"

static const command *const commands[] = {
    &info_command, &show_command, &convert_command, &opt_command, &check_command, &diff_command, &ops_command,
    &passes_command, &run_command, &schema_command,
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

xir_context *context;

static void print_usage(FILE *out) {
    fprintf(out, "usage: xir COMMAND [OPTION]... FILE...\n\n");
    for (size_t i = 0; i < COMMANDS; i++) fprintf(out, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
    fprintf(out, "\n"
                 "  xir help COMMAND, xir COMMAND --help    what it takes\n"
                 "  xir --plugin LIB COMMAND ...            with the operations of a plug-in, whose code is run\n"
                 "  xir --version                           which version this is\n\n"
                 "The file - is standard input or output. Exit codes: 0 all is well, 1 the file is invalid or the files\n"
                 "differ, 2 the command line makes no sense, 3 something could not be read or written, 130 it was\n"
                 "interrupted (128 and the number of the signal).\n");
}

static const command *find(const char *name) {
    const char *names[COMMANDS + 2];
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
        names[i] = commands[i]->name;
    }
    names[COMMANDS] = "help";
    names[COMMANDS + 1] = NULL;
    const char *meant = nearest(name, names);
    if (meant) complain(MISUSED, "there is no command '%s'; was %s meant?", name, meant);
    else complain(MISUSED, "there is no command '%s'; xir --help lists them", name);
    return NULL;
}

static int help(int n, char **names) {
    if (n > 1) return complain(MISUSED, "help takes one command");
    if (n == 0) {
        print_usage(stdout);
        return DONE;
    }
    const command *cmd = find(names[0]);
    if (!cmd) return MISUSED;
    print_help(cmd, stdout);
    return DONE;
}

static int run(const command *cmd, int argc, char **argv) {
    bool wants_help = false;
    int n = parse_options(cmd, argc, argv, &wants_help);
    if (wants_help) {
        print_help(cmd, stdout);
        return DONE;
    }
    if (n < 0) return MISUSED;
    if (n < cmd->least || n > cmd->most) {
        return complain(MISUSED, "usage: xir %s %s; xir %s --help says more", cmd->name, cmd->operands, cmd->name);
    }
    context = xir_context_new(&noting_allocator);
    if (!context) return no_memory();
    int code = set_limits();
    if (!code) code = load_plugins();
    if (!code) code = cmd->run(n, argv);
    xir_context_free(context);
    return blame_memory(code);
}

/* The words behind the program's name. */
static int start(int argc, char **argv) {
    if (!parse_leading(&argc, &argv)) return MISUSED;
    if (argc < 1) {
        print_usage(stderr);
        return MISUSED;
    }
    const char *word = argv[0];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return help(0, NULL);
    if (strcmp(word, "help") == 0) return help(argc - 1, argv + 1);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("xir %s\n", xir_version());
        return DONE;
    }
    if (word[0] == '-') return complain(MISUSED, "a command was expected, '%s' was found; xir --help lists them", word);
    const command *cmd = find(word);
    return cmd ? run(cmd, argc - 1, argv + 1) : MISUSED;
}

/* A file that is opened must not become the standard output of someone who closed his: what takes the free numbers
 * can be neither read nor written. */
static void occupy_standard_files(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
}

int main(int argc, char **argv) {
    watch_for_losses();
    end_on_signals();
    occupy_standard_files();
    signal(SIGPIPE, SIG_IGN);   /* a reader who has gone is a failed write: exit 3 */
    int code = close_output(start(argc ? argc - 1 : 0, argv + (argc > 0)));
    free((void *)plugins.items);
    return code;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The program: a table of commands, each in the file of its name. A new one is a file and a line here. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"

const command *const commands[] = {
    &info_command, &show_command, &convert_command, &extract_command, &check_command, &diff_command, &compare_command,
    &reduce_command, &opt_command, &plan_command, &trace_command, &run_command, &calibrate_command, &mix_command,
    &test_command, &stats_command, &view_command, &ops_command, &passes_command, &schema_command, &help_command,
    &completion_command, NULL,
};
enum { COMMANDS = sizeof commands / sizeof commands[0] - 1 };

xir_context *context;

const command *find_command(const char *name) {
    const char *names[COMMANDS + 1];
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
        names[i] = commands[i]->name;
    }
    names[COMMANDS] = NULL;
    const char *meant = nearest(name, names);
    if (meant) complain(MISUSED, "there is no command '%s'; did you mean '%s'?", name, meant);
    else complain(MISUSED, "there is no command '%s'; xir --help lists them", name);
    return NULL;
}

/* A command whose line makes sense. */
static int run(const command *cmd, int n, char **operands) {
    if (n < cmd->least || n > cmd->most) {
        return complain(MISUSED, "usage: xir %s %s; xir %s --help says more", cmd->name, cmd->operands, cmd->name);
    }
    if (cmd->bare) return cmd->run(n, operands);
    context = xir_context_new(&noting_allocator);
    if (!context) return no_memory();
    int code = set_limits();
    if (!code && (n || !cmd->tries)) code = load_plugins();
    if (!code) code = cmd->run(n, operands);
    xir_context_free(context);
    return blame_memory(code);
}

static int parse_and_run(const command *cmd, int argc, char **argv) {
    bool wants_help = false;
    int n = parse_options(cmd, argc, argv, &wants_help);
    if (wants_help) {
        print_help(cmd, stdout);
        return DONE;
    }
    return json_failure(n < 0 ? MISUSED : run(cmd, n, argv));
}

/* The words after the program's name. */
static int start(int argc, char **argv) {
    if (!parse_leading(&argc, &argv)) return MISUSED;
    if (argc < 1) {
        print_usage(stderr);
        return MISUSED;
    }
    const char *word = argv[0];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_usage(stdout);
        return DONE;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        return print_version(argc - 1, argv + 1);
    }
    if (word[0] == '-') return complain(MISUSED, "expected a command, found '%s'; xir --help lists them", word);
    const command *cmd = find_command(word);
    return cmd ? parse_and_run(cmd, argc - 1, argv + 1) : MISUSED;
}

/* A file that is opened must not become a standard output that was closed: what takes the free numbers can be neither
 * read nor written. */
static void occupy_standard_files(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
}

int main(int argc, char **argv) {
    watch_for_losses();
    end_on_signals();
    name_crashes();
    occupy_standard_files();
    signal(SIGPIPE, SIG_IGN);   /* a closed pipe is a failed write: exit 3 */
    int code = close_output(start(argc ? argc - 1 : 0, argv + (argc > 0)));
    free((void *)plugins.items);
    return code;
}

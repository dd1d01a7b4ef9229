/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir help: the tables of commands and options for people, as the reference in docs/xir.md, and as the manual page. The
 * three say the same; a test compares docs/xir.md with what is printed. */
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static bool as_markdown, as_man;

const option program_options[] = {
    { "help", NULL, WORD_NONE, NULL, "print the commands; also -h" },
    { "version", NULL, WORD_NONE, NULL, "print the version; also -V" },
    { 0 },
};

/* What exit codes say; 1 is about the content, and more exactly what a command says of it. */
static const struct { const char *code, *meaning; } exits[] = {
    { "0", "success" },
    { "1", "the content is at fault: a file is invalid, or two networks differ" },
    { "2", "the command line is wrong, or asks for what this build cannot do, or names a plug-in that is not one" },
    { "3", "the system refused: a file (or plug-in) cannot be read, a write failed, there is no memory; or a format cannot hold what a network has" },
    { "130", "interrupted by Ctrl-C (129, 143: by SIGHUP, SIGTERM)" },
};
enum { EXITS = sizeof exits / sizeof exits[0] };

/* ---- sentences ----------------------------------------------------------------------------------- */

static void put_capital(text *t, const char *words) {
    const char first = words[0] >= 'a' && words[0] <= 'z' ? (char)(words[0] - 'a' + 'A') : words[0];
    text_add(t, &first, 1);
    text_put(t, words + 1);
}

/* "Runs passes. Formats are detected …" */
static void put_paragraph(text *t, const command *cmd) {
    put_capital(t, cmd->doc);
    text_printf(t, ". %s", cmd->details);
}

static void put_option_doc(text *t, const option *o) {
    text_put(t, o->doc);
    if (o->many) text_put(t, "; may be repeated");
}

static void put_synopsis(text *t, const command *cmd) {
    text_printf(t, "xir %s [OPTION]...%s%s", cmd->name, *cmd->operands ? " " : "", cmd->operands);
}

static void put_spelling(text *t, const option *o) {
    text_printf(t, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
}

enum { TERMINAL = 80, PAGE = 120 };   /* how wide lines are */

/* Words from column `at` on, in lines of at most `width` that begin in column `indent`. */
static void put_wrapped(text *t, size_t width, size_t at, size_t indent, const char *words) {
    bool first = true;
    while (*words) {
        const size_t n = strcspn(words, " ");
        if (!first && at + 1 + n > width) {
            text_printf(t, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            text_put(t, " ");
            at++;
        }
        text_add(t, words, n);
        at += n;
        first = false;
        words += n + strspn(words + n, " ");
    }
    text_put(t, "\n");
}

static void print(text *t, FILE *out) {
    write_to(out, t->data, t->size);
    text_free(t);
}

/* ---- for people ---------------------------------------------------------------------------------- */

enum { COLUMN = 26 };   /* where what options do begins */

/* "  name      words", the name on a line of its own if it is long. */
static void put_row(text *t, const char *name, size_t column, const char *words) {
    const size_t n = strlen(name) + 2;
    text_printf(t, "  %s", name);
    if (n + 2 > column) text_printf(t, "\n%*s", (int)column, "");
    else text_printf(t, "%*s", (int)(column - n), "");
    put_wrapped(t, TERMINAL, column, column, words);
}

static void put_options(text *t, const option *o) {
    for (; o && o->name; o++) {
        text spelled = { 0 }, doc = { 0 };
        put_spelling(&spelled, o);
        put_option_doc(&doc, o);
        put_row(t, spelled.data, COLUMN, doc.data);
        text_free(&spelled);
        text_free(&doc);
    }
}

/* Of a command, or with NULL of all. */
static void put_exits(text *t, const command *cmd) {
    text_put(t, "\nExit codes:\n");
    for (size_t i = 0; i < EXITS; i++) {
        const bool of_content = strcmp(exits[i].code, "1") == 0;
        if (of_content && cmd && !cmd->faulty) continue;
        put_row(t, exits[i].code, 8, of_content && cmd ? cmd->faulty : exits[i].meaning);
    }
}

void print_usage(FILE *out) {
    text t = { 0 };
    text_put(&t, "usage: xir COMMAND [OPTION]... FILE...\n\nCommands:\n");
    for (const command *const *cmd = commands; *cmd; cmd++) put_row(&t, (*cmd)->name, 14, (*cmd)->doc);
    text_put(&t, "\nxir COMMAND --help, xir help COMMAND and man xir say more. The file - is standard\n"
                 "input or output.\n\nOptions without a command:\n");
    put_options(&t, program_options);
    text_put(&t, "\nOptions of every command, before or after its name:\n");
    put_options(&t, common_options);
    put_exits(&t, NULL);
    print(&t, out);
}

void print_help(const command *cmd, FILE *out) {
    text t = { 0 }, paragraph = { 0 };
    text_put(&t, "usage: ");
    put_synopsis(&t, cmd);
    text_put(&t, "\n\n");
    put_paragraph(&paragraph, cmd);
    put_wrapped(&t, TERMINAL, 0, 0, paragraph.data);
    if (cmd->options) text_put(&t, "\nOptions:\n");
    put_options(&t, cmd->options);
    text_put(&t, "\nOptions of every command:\n");
    put_options(&t, common_options);
    put_exits(&t, cmd);
    text_free(&paragraph);
    print(&t, out);
}

/* ---- as Markdown --------------------------------------------------------------------------------- */

/* In a cell of a table: a bar would end it. */
static void put_cell(text *t, const char *words) {
    for (; *words; words++) {
        if (*words == '|' || (*words == '*' && words[1] == ' ')) text_put(t, "\\");
        text_add(t, words, 1);
    }
}

static void put_option_table(text *t, const option *o) {
    text_put(t, "| option | |\n|---|---|\n");
    for (; o && o->name; o++) {
        text spelled = { 0 }, doc = { 0 };
        put_spelling(&spelled, o);
        put_option_doc(&doc, o);
        text_put(t, "| `");
        put_cell(t, spelled.data);
        text_put(t, "` | ");
        put_cell(t, doc.data);
        text_put(t, " |\n");
        text_free(&spelled);
        text_free(&doc);
    }
}

static void print_markdown(void) {
    text t = { 0 };
    text_put(&t, "## Commands and options\n\n| command | |\n|---|---|\n");
    for (const command *const *cmd = commands; *cmd; cmd++) {
        text synopsis = { 0 };
        text_printf(&synopsis, "xir %s%s%s", (*cmd)->name, *(*cmd)->operands ? " " : "", (*cmd)->operands);
        text_put(&t, "| `");
        put_cell(&t, synopsis.data);
        text_printf(&t, "` | %s |\n", (*cmd)->doc);
        text_free(&synopsis);
    }
    for (const option *o = program_options; o->name; o++) text_printf(&t, "| `xir --%s` | %s |\n", o->name, o->doc);
    text_put(&t, "\nEvery command takes these options, before or after its name:\n\n");
    put_option_table(&t, common_options);
    text_put(&t, "\nExit codes:\n\n| code | |\n|---|---|\n");
    for (size_t i = 0; i < EXITS; i++) text_printf(&t, "| %s | %s |\n", exits[i].code, exits[i].meaning);
    for (const command *const *cmd = commands; *cmd; cmd++) {
        text_printf(&t, "\n### %s\n\n`", (*cmd)->name);
        put_synopsis(&t, *cmd);
        text_put(&t, "`\n\n");
        text paragraph = { 0 };
        put_paragraph(&paragraph, *cmd);
        put_wrapped(&t, PAGE, 0, 0, paragraph.data);
        text_free(&paragraph);
        if ((*cmd)->options) text_put(&t, "\n");
        if ((*cmd)->options) put_option_table(&t, (*cmd)->options);
        if ((*cmd)->faulty) text_printf(&t, "\nExit code 1: %s.\n", (*cmd)->faulty);
    }
    print(&t, stdout);
}

/* ---- as a manual page ---------------------------------------------------------------------------- */

/* Words that cannot be macros, with dashes that can be copied. */
static void put_roff(text *t, const char *words) {
    if (*words == '.' || *words == '\'') text_put(t, "\\&");
    for (; *words; words++) {
        if (*words == '-') text_put(t, "\\-");
        else if (*words == '\\') text_put(t, "\\e");
        else text_add(t, words, 1);
    }
}

static void put_roff_options(text *t, const option *o) {
    for (; o && o->name; o++) {
        text doc = { 0 };
        put_option_doc(&doc, o);
        text_put(t, ".TP\n\\fB\\-\\-");
        put_roff(t, o->name);
        text_put(t, "\\fR");
        if (o->argument) {
            text_put(t, " \\fI");
            put_roff(t, o->argument);
            text_put(t, "\\fR");
        }
        text_put(t, "\n");
        put_roff(t, doc.data);
        text_put(t, "\n");
        text_free(&doc);
    }
}

static void print_man(void) {
    text t = { 0 };
    text_printf(&t, ".TH XIR 1 \"\" \"xir %s\" \"User Commands\"\n"
                ".SH NAME\n"
                "xir \\- look at, check, compare, convert, optimise and run networks\n"
                ".SH SYNOPSIS\n", xir_version());
    for (const command *const *cmd = commands; *cmd; cmd++) {
        text_printf(&t, "%s.B xir %s\n[\\fIOPTION\\fR]...", cmd == commands ? "" : ".br\n", (*cmd)->name);
        if (*(*cmd)->operands) text_put(&t, " ");
        put_roff(&t, (*cmd)->operands);
        text_put(&t, "\n");
    }
    for (const option *o = program_options; o->name; o++) text_printf(&t, ".br\n.B xir \\-\\-%s\n", o->name);
    text_put(&t, ".SH DESCRIPTION\n"
                 "The file \\- is standard input or output. Findings go to standard error, one a line:\n"
                 ".PP\n.EX\n"
                 "file:line:column: /json/pointer: what\n"
                 "file@0xoffset: what\n"
                 ".EE\n.PP\n"
                 "in colour on a terminal. If work takes longer than 0.3 seconds, a line there says so until the end.\n"
                 ".SH COMMANDS\n");
    for (const command *const *cmd = commands; *cmd; cmd++) {
        text paragraph = { 0 };
        put_paragraph(&paragraph, *cmd);
        text_printf(&t, ".SS xir %s ", (*cmd)->name);
        put_roff(&t, (*cmd)->operands);
        text_put(&t, "\n");
        put_roff(&t, paragraph.data);
        text_put(&t, "\n");
        put_roff_options(&t, (*cmd)->options);
        if ((*cmd)->faulty) text_put(&t, ".PP\nExit code 1: ");
        if ((*cmd)->faulty) put_roff(&t, (*cmd)->faulty);
        if ((*cmd)->faulty) text_put(&t, ".\n");
        text_free(&paragraph);
    }
    text_put(&t, ".SH COMMON OPTIONS\nEvery command takes these, before or after its name.\n");
    put_roff_options(&t, common_options);
    text_put(&t, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < EXITS; i++) {
        text_printf(&t, ".TP\n.B %s\n", exits[i].code);
        put_roff(&t, exits[i].meaning);
        text_put(&t, "\n");
    }
    text_put(&t, ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf set and not empty, nothing is printed in colour.\n"
                 ".SH SEE ALSO\n"
                 "docs/xir.md in the documentation says more, and describes the JSON that commands print.\n");
    print(&t, stdout);
}

/* ---- the command --------------------------------------------------------------------------------- */

static int run(int n, char **operands) {
    if (n + as_markdown + as_man > 1) return complain(MISUSED, "help takes one of COMMAND, --markdown and --man");
    const command *cmd = n ? find_command(operands[0]) : NULL;
    if (n && !cmd) return MISUSED;
    if (as_markdown) print_markdown();
    else if (as_man) print_man();
    else if (cmd) print_help(cmd, stdout);
    else print_usage(stdout);
    return DONE;
}

static const option options[] = {
    { "markdown", NULL, WORD_NONE, &as_markdown, "print the reference of all commands, a part of docs/xir.md" },
    { "man", NULL, WORD_NONE, &as_man, "print the manual page" },
    { 0 },
};

const command help_command = {
    .name = "help", .operands = "[COMMAND]", .is = WORD_COMMAND,
    .doc = "prints what a command takes",
    .details = "Without COMMAND it lists the commands. xir COMMAND --help prints the same.",
    .options = options, .least = 0, .most = 1, .bare = true, .run = run,
};

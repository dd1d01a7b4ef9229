/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir help: the tables of commands and options for people, and as the reference in docs/xir.md; man.c prints them as
 * manual pages. All have the same content; a test compares docs/xir.md with what is printed. */
#include <stdlib.h>
#include <string.h>
#include "help.h"

static bool as_markdown, as_man;

const option program_options[] = {
    { "help", NULL, WORD_NONE, NULL, "print the commands; also -h" },
    { "version", NULL, WORD_NONE, NULL, "print the versions of XIR, its binary interface and its libraries, and the formats; --version --json: the "
      "same for programs; also -V" },
    { 0 },
};

/* 1 is about the content: a command has its own sentence about it. */
const exit_meaning exit_meanings[] = {
    { "0", "success" },
    { "1", "the content is at fault: a file is invalid or of an unknown version, or two networks differ" },
    { "2", "the command line is wrong, or asks for what this build cannot do, or names a plug-in that is not one" },
    { "3", "the system refused: a file (or plug-in) cannot be read, a write failed, there is no memory; or a format cannot hold what a network has" },
    { "130", "interrupted by Ctrl-C (129, 143: by SIGHUP, SIGTERM)" },
    { NULL, NULL },
};

const char *exit_meaning_of(const exit_meaning *e, const command *cmd) {
    return cmd && strcmp(e->code, "1") == 0 ? cmd->faulty : e->meaning;
}

const char *option_group_title(option_group group) {
    static const char *const titles[GROUPS] = {    /* ORDER GROUP */
        "Options", "Options of proofs", "Limits", "Options of files", "Options of a format",
    };
    return titles[group];
}

/* ---- sentences ----------------------------------------------------------------------------------- */

static void put_capital(text *t, const char *words) {
    const char first = words[0] >= 'a' && words[0] <= 'z' ? (char)(words[0] - 'a' + 'A') : words[0];
    text_add(t, &first, 1);
    text_put(t, words + 1);
}

/* "Runs passes. Formats are detected …" */
void put_paragraph(text *t, const command *cmd) {
    put_capital(t, cmd->doc);
    text_printf(t, ". %s", cmd->details);
}

void put_option_doc(text *t, const option *o) {
    text_put(t, o->doc);
    if (o->many) text_put(t, "; may be repeated");
}

static void put_synopsis(text *t, const command *cmd) {
    text_printf(t, "xir %s [OPTION]...%s%s", cmd->name, *cmd->operands ? " " : "", cmd->operands);
}

static void put_spelling(text *t, const option *o) {
    text_printf(t, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
}

enum { PAGE = 120, NARROWEST = 40, USUAL = 80, WIDEST = 100 };   /* how wide lines are */

/* The width of lines for people: that of the terminal, if it can be read. */
static size_t line_width(void) {
    const size_t width = terminal_width();
    return width == SIZE_MAX ? USUAL : width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
}

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

/* Returns the column at which the meaning of an option begins: early on narrow terminals. */
static size_t option_column(void) { return line_width() < 64 ? 8 : 26; }

/* "  name      words", the name on a line of its own if it is long. */
static void put_row(text *t, const char *name, size_t column, const char *words) {
    const size_t n = strlen(name) + 2;
    text_printf(t, "  %s", name);
    if (n + 2 > column) text_printf(t, "\n%*s", (int)column, "");
    else text_printf(t, "%*s", (int)(column - n), "");
    put_wrapped(t, line_width(), column, column, words);
}

static void put_option(text *t, const option *o) {
    text spelled = { 0 }, doc = { 0 };
    put_spelling(&spelled, o);
    put_option_doc(&doc, o);
    put_row(t, spelled.data, option_column(), doc.data);
    text_free(&spelled);
    text_free(&doc);
}

static void put_options(text *t, const option *o) {
    for (; o && o->name; o++) put_option(t, o);
}

/* Is the format of the line, if it has --to or --from? */
static bool is_of_line(const option *o) {
    return (load_args.from && strcmp(o->format, load_args.from) == 0) ||
           (save_args.to && strcmp(o->format, save_args.to) == 0);
}

/* "--align (fb), --external (onnx)": the options of other formats than those of the line. */
static void put_other_formats(text *t, const command *cmd) {
    text names = { 0 };
    for (const option *o = cmd->options; o && o->name; o++) {
        if (o->group != GROUP_FORMAT || is_of_line(o)) continue;
        text_printf(&names, "%s--%s (%s)", names.size ? ", " : "", o->name, o->format);
    }
    if (names.size) {
        text_printf(&names, ". To explain those of a format: xir %s --help --from FORMAT, or --to FORMAT", cmd->name);
        text_put(t, "\nOptions of other formats:\n  ");
        put_wrapped(t, line_width(), 2, 2, names.data);
    }
    text_free(&names);
}

/* Those of the line's formats come last; of other formats the names suffice. */
static void put_option_groups(text *t, const command *cmd) {
    for (option_group group = 0; group < GROUPS; group++) {
        bool is_titled = false;
        for (const option *o = cmd->options; o && o->name; o++) {
            if (o->group != group || (group == GROUP_FORMAT && !is_of_line(o))) continue;
            if (!is_titled) text_printf(t, "\n%s:\n", option_group_title(group));
            is_titled = true;
            put_option(t, o);
        }
    }
    put_other_formats(t, cmd);
}

static void put_exits(text *t, const command *cmd) {
    text_put(t, "\nExit codes:\n");
    for (const exit_meaning *e = exit_meanings; e->code; e++) {
        const char *meaning = exit_meaning_of(e, cmd);
        if (meaning) put_row(t, e->code, 8, meaning);
    }
}

static void put_examples(text *t, const example *e) {
    if (!e || !e->line) return;
    text_put(t, "\nExamples:\n");
    for (; e->line; e++) {    /* a line for a shell is not broken */
        text_printf(t, "  %s\n      ", e->line);
        put_wrapped(t, line_width(), 6, 6, e->doc);
    }
}

void print_usage(FILE *out) {
    text t = { 0 };
    text_put(&t, "usage: xir COMMAND [OPTION]... FILE...\n\nCommands:\n");
    for (const command *const *cmd = commands; *cmd; cmd++) put_row(&t, (*cmd)->name, 14, (*cmd)->doc);
    text_put(&t, "\n");
    put_wrapped(&t, line_width(), 0, 0, "xir COMMAND --help, xir help COMMAND and man xir-COMMAND explain a command. "
                "The file - is standard input or output.");
    text_put(&t, "\nOptions without a command:\n");
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
    put_wrapped(&t, line_width(), 0, 0, paragraph.data);
    put_option_groups(&t, cmd);
    text_put(&t, "\nOptions of every command:\n");
    put_options(&t, common_options);
    put_exits(&t, cmd);
    put_examples(&t, cmd->examples);
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

/* In a folder with the files of examples/models. */
static void put_example_block(text *t, const example *e) {
    if (!e || !e->line) return;
    text_put(t, "\n```sh\n");
    for (; e->line; e++) text_printf(t, "# %s\n%s\n", e->doc, e->line);
    text_put(t, "```\n");
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
    for (const exit_meaning *e = exit_meanings; e->code; e++) text_printf(&t, "| %s | %s |\n", e->code, e->meaning);
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
        put_example_block(&t, (*cmd)->examples);
    }
    print(&t, stdout);
}

/* ---- the command --------------------------------------------------------------------------------- */

static int run(int n, char **operands) {
    if (as_markdown && (n || as_man)) return complain(MISUSED, "help --markdown takes neither COMMAND nor --man");
    const command *cmd = n ? find_command(operands[0]) : NULL;
    if (n && !cmd) return MISUSED;
    if (as_markdown) print_markdown();
    else if (as_man) print_man(cmd);
    else if (cmd) print_help(cmd, stdout);
    else print_usage(stdout);
    return DONE;
}

static const option options[] = {
    { "markdown", NULL, WORD_NONE, &as_markdown, "print the reference of all commands, a part of docs/xir.md" },
    { "man", NULL, WORD_NONE, &as_man, "print the manual page of COMMAND, or of the program" },
    { 0 },
};

const command help_command = {
    .name = "help", .operands = "[COMMAND]", .is = WORD_COMMAND,
    .doc = "prints what a command takes",
    .details = "Without COMMAND it lists the commands. xir COMMAND --help prints the same.",
    .examples = (const example[]){
        { "xir help convert", "Print what a command takes." },
        { "xir help --man convert >xir-convert.1", "Write its manual page." },
        { NULL, NULL },
    },
    .related = "completion",
    .options = options, .least = 0, .most = 1, .bare = true, .run = run,
};

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir help --man: a manual page for the program and one for each command, from the tables of commands. Any text may be
 * in the tables: what formatters would read as a macro, an escape or a typographic quote is escaped. */
#include <string.h>
#include <commit.h>    /* made by tools/CMakeLists.txt */
#include "help.h"

/* The character of UTF-8 at `p`, which is well-formed in the tables, and its length. */
static unsigned long character(const char *p, size_t *size) {
    const unsigned char first = (unsigned char)*p;
    *size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    unsigned long c = *size == 1 ? first : first & (0x7Fu >> *size);
    for (size_t i = 1; i < *size; i++) c = c << 6 | ((unsigned char)p[i] & 0x3F);
    return c;
}

/* Words of one line, which show as they are and can be copied to a shell. */
static void put_roff(text *t, const char *words) {
    if (*words == '.') text_put(t, "\\&");
    while (*words) {
        size_t size;
        const unsigned long c = character(words, &size);
        switch (c) {
        case '-':  text_put(t, "\\-"); break;
        case '\\': text_put(t, "\\e"); break;
        case '\'': text_put(t, "\\(aq"); break;
        case '`':  text_put(t, "\\(ga"); break;
        case '^':  text_put(t, "\\(ha"); break;
        case '~':  text_put(t, "\\(ti"); break;
        default:
            if (size == 1) text_add(t, words, 1);
            else text_printf(t, "\\[u%04lX]", c);
        }
        words += size;
    }
}

static void put_line(text *t, const char *words) {
    put_roff(t, words);
    text_put(t, "\n");
}

static void put_title(text *t, const char *name, const char *suffix) {
    text_put(t, ".TH ");
    for (const char *c = name; *c; c++) text_printf(t, "%c", *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    for (const char *c = suffix; *c; c++) text_printf(t, "%c", *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    text_printf(t, " 1 \"%s\" \"xir %s\" \"User Commands\"\n.SH NAME\n", XIR_DATE, xir_version());
}

static void put_synopsis(text *t, const command *cmd) {
    text_printf(t, ".B xir %s\n[\\fIOPTION\\fR]...", cmd->name);
    if (*cmd->operands) text_put(t, " ");
    put_line(t, cmd->operands);
}

static void put_option(text *t, const option *o) {
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
    put_line(t, doc.data);
    text_free(&doc);
}

/* Options by group, the first one without a title. */
static void put_options(text *t, const option *options) {
    for (option_group group = 0; group < GROUPS; group++) {
        bool is_titled = group == GROUP_COMMAND;
        for (const option *o = options; o && o->name; o++) {
            if (o->group != group) continue;
            if (!is_titled) text_printf(t, ".SS %s\n", option_group_title(group));
            is_titled = true;
            put_option(t, o);
        }
    }
}

static void put_exits(text *t, const command *cmd) {
    text_put(t, ".SH EXIT STATUS\n");
    for (const exit_meaning *e = exit_meanings; e->code; e++) {
        const char *meaning = exit_meaning_of(e, cmd);
        if (!meaning) continue;
        text_printf(t, ".TP\n.B %s\n", e->code);
        put_line(t, meaning);
    }
}

static void put_examples(text *t, const example *e) {
    if (!e || !e->line) return;
    text_put(t, ".SH EXAMPLES\nThey are about the files of examples/models, which are installed with the "
                "documentation.\n");
    for (; e->line; e++) {
        text_put(t, ".PP\n");
        put_line(t, e->doc);
        text_put(t, ".PP\n.EX\n");
        put_line(t, e->line);
        text_put(t, ".EE\n");
    }
}

/* "opt check": references to their pages, after that of the program. */
static void put_related(text *t, const char *names) {
    text_put(t, ".SH SEE ALSO\n.BR xir (1)");
    while (names && *names) {
        const size_t n = strcspn(names, " ");
        text_printf(t, ",\n.BR xir\\-%.*s (1)", (int)n, names);
        names += n + strspn(names + n, " ");
    }
    text_put(t, "\n");
}

static void put_command(text *t, const command *cmd) {
    text paragraph = { 0 };
    put_paragraph(&paragraph, cmd);
    put_title(t, "xir-", cmd->name);
    text_printf(t, "xir\\-%s \\- ", cmd->name);
    put_line(t, cmd->doc);
    text_put(t, ".SH SYNOPSIS\n");
    put_synopsis(t, cmd);
    text_put(t, ".SH DESCRIPTION\n");
    put_line(t, paragraph.data);
    text_put(t, ".SH OPTIONS\n");
    if (!cmd->options) text_put(t, "The command has no options of its own.\n");
    put_options(t, cmd->options);
    text_printf(t, ".%s\n.BR xir (1)\nlists the options that every command takes.\n", cmd->options ? "PP" : "br");
    put_exits(t, cmd);
    put_examples(t, cmd->examples);
    put_related(t, cmd->related);
    text_free(&paragraph);
}

static void put_program(text *t) {
    put_title(t, "xir", "");
    text_put(t, "xir \\- look at, check, compare, convert, optimise and run networks\n.SH SYNOPSIS\n");
    text_put(t, ".B xir \\fICOMMAND\\fR\n[\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n");
    for (const option *o = program_options; o->name; o++) text_printf(t, ".br\n.B xir \\-\\-%s\n", o->name);
    text_put(t, ".SH DESCRIPTION\n"
                "The file \\- is standard input or output. Findings are printed on standard error, one a line:\n"
                ".PP\n.EX\n"
                "file:line:column: /json/pointer: what\n"
                "file@0xoffset: what\n"
                ".EE\n.PP\n"
                "in colour on a terminal. If work takes longer than 0.3 seconds, a line there shows it until the end.\n"
                ".SH COMMANDS\nEach command has a page of its own, xir\\-\\fICOMMAND\\fR(1).\n");
    for (const command *const *cmd = commands; *cmd; cmd++) {
        text_printf(t, ".TP\n.B %s\n", (*cmd)->name);
        put_line(t, (*cmd)->doc);
    }
    text_put(t, ".SH OPTIONS\nEvery command takes these, before or after its name.\n");
    put_options(t, common_options);
    put_exits(t, NULL);
    text_put(t, ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf set and not empty, nothing is printed in colour.\n"
                ".TP\n.B COLUMNS\nThe width of tables and help, instead of the terminal\\(aqs.\n");
    text names = { 0 };
    for (const command *const *cmd = commands; *cmd; cmd++) text_printf(&names, "%s ", (*cmd)->name);
    put_related(t, names.data);
    text_put(t, ".PP\ndocs/xir.md in the documentation describes the JSON that commands print.\n");
    text_free(&names);
}

void print_man(const command *cmd) {
    text t = { 0 };
    if (cmd) put_command(&t, cmd);
    else put_program(&t);
    write_to(stdout, t.data, t.size);
    text_free(&t);
}

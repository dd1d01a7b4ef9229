/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir completion: what a shell needs to complete a command line, from the tables of commands and options. The names of
 * formats, passes, operations and targets are in the script: those of this build, and of plug-ins that are loaded. */
#include <stdlib.h>
#include <string.h>
#include "ops.h"

/* ---- words --------------------------------------------------------------------------------------- */

/* The names of the kinds in scripts, by word_kind. */
static const char *const kind_names[WORD_KINDS] = {
    "none", "text", "file", "folder", "format", "pass", "pipeline", "class", "level", "command", "shell",
};

static void put_word(text *t, const char *word, size_t size) {
    if (t->size) text_put(t, " ");
    text_add(t, word, size);
}

static void put_passes(text *t) {
    const xir_pass_decl *pass;
    for (size_t i = 0; (pass = xir_pass_at(context, i)); i++) put_word(t, pass->name, strlen(pass->name));
}

/* Keys without what is before the last "::", and the names of targets. */
static void put_classes(text *t) {
    size_t n;
    const xir_class **ops = sorted_ops(&n);
    for (size_t i = 0; i < n; i++) {
        const xir_str key = short_key(ops[i]);
        put_word(t, key.data, key.size);
    }
    free((void *)ops);
    const xir_target_row *row;
    for (size_t i = 0; (row = xir_target_row_at(context, i)); i++) put_word(t, row->name, strlen(row->name));
}

/* The words of a kind with blanks between them; nothing for kinds that are not a list. */
static void put_words(text *t, word_kind kind) {
    text_put(t, "");
    switch (kind) {
    case WORD_FORMAT:   text_put(t, format_words()); break;
    case WORD_PASS:
    case WORD_PIPELINE: put_passes(t); break;
    case WORD_CLASS:    put_classes(t); break;
    case WORD_LEVEL:    text_put(t, "needed exact fast max"); break;
    case WORD_SHELL:    text_put(t, "bash zsh fish"); break;
    case WORD_COMMAND:
        for (const command *const *cmd = commands; *cmd; cmd++) put_word(t, (*cmd)->name, strlen((*cmd)->name));
        break;
    default: break;
    }
}

/* Kinds that have a list of words. */
static bool is_list(word_kind kind) { return kind >= WORD_FORMAT; }

/* In single quotes: what would end them, or has a meaning there, gets a backslash. */
static void put_quoted(text *t, const char *words, const char *special) {
    for (; *words; words++) {
        if (*words == '\'') text_put(t, "'\\''");
        else if (strchr(special, *words)) text_printf(t, "\\%c", *words);
        else text_add(t, words, 1);
    }
}

/* ---- bash ---------------------------------------------------------------------------------------- */

/* "--from | --to) is=format ;;" for the options that have an argument of a kind. */
static void put_bash_cases(text *t, const option *o, const char *indent) {
    for (word_kind kind = WORD_TEXT; kind < WORD_KINDS; kind++) {
        bool any = false;
        for (const option *p = o; p && p->name; p++) {
            if (!p->argument || p->is != kind) continue;
            text_printf(t, "%s--%s", any ? " | " : indent, p->name);
            any = true;
        }
        if (any) text_printf(t, ") options= is=%s ;;\n", kind_names[kind]);
    }
}

static void put_bash_options(text *t, const option *o) {
    for (; o && o->name; o++) text_printf(t, "--%s ", o->name);
}

static void print_bash(text *t) {
    text_put(t, "# Completion of xir for bash, printed by xir completion bash.\n"
                "_xir() {\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                "    local command= options= is= list= head= i\n"
                "    if [ \"$word\" = = ]; then       # --option=value are three words\n"
                "        word=\n"
                "    elif [ \"$before\" = = ]; then\n"
                "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
                "    fi\n"
                "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                "        case ${COMP_WORDS[i]} in\n        ");
    bool any = false;
    for (const option *o = common_options; o->name; o++) {
        if (o->argument) text_printf(t, "%s--%s", any ? " | " : "", o->name);
        any |= o->argument != NULL;
    }
    text_put(t, ")\n            [ \"${COMP_WORDS[i+1]}\" != = ] || i=$((i + 1))\n            i=$((i + 1)) ;;\n"
                "        -*) ;;\n"
                "        *) command=${COMP_WORDS[i]}; break ;;\n"
                "        esac\n"
                "    done\n"
                "    case $command in\n"
                "    '') is=command options='");
    put_bash_options(t, program_options + 1);   /* --help is common */
    put_bash_options(t, common_options);
    text_put(t, "' ;;\n");
    for (const command *const *cmd = commands; *cmd; cmd++) {
        text cases = { 0 };
        put_bash_cases(&cases, (*cmd)->options, "        ");
        text_printf(t, "    %s)\n        is=%s options='", (*cmd)->name, kind_names[(*cmd)->is]);
        put_bash_options(t, (*cmd)->options);
        put_bash_options(t, common_options);
        text_put(t, "'");
        if (cases.size) text_printf(t, "\n        case $before in\n%s        esac", cases.data);
        text_put(t, " ;;\n");
        text_free(&cases);
    }
    text_put(t, "    esac\n    case $before in\n");
    put_bash_cases(t, common_options, "    ");
    text_put(t, "    esac\n"
                "    case $word in -*) [ -z \"$options\" ] || is=options ;; esac\n"
                "    case $is in\n"
                "    file | folder)\n"
                "        compopt -o filenames 2>/dev/null\n"
                "        mapfile -t COMPREPLY < <(compgen -A ${is/folder/directory} -- \"$word\")\n"
                "        return ;;\n"
                "    options) list=$options ;;\n");
    for (word_kind kind = WORD_TEXT; kind < WORD_KINDS; kind++) {
        text words = { 0 };
        put_words(&words, kind);
        if (is_list(kind)) text_printf(t, "    %s) list='%s' ;;\n", kind_names[kind], words.data);
        text_free(&words);
    }
    text_put(t, "    esac\n"
                "    if [ \"$is\" = pipeline ]; then     # the last pass of it\n"
                "        head=${word%\"${word##*[,(]}\"}\n"
                "        compopt -o nospace 2>/dev/null\n"
                "    fi\n"
                "    mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$list\" -- \"${word#\"$head\"}\")\n"
                "}\n"
                "complete -F _xir xir\n");
}

/* ---- zsh ----------------------------------------------------------------------------------------- */

static const char zsh_special[] = "[]:\\";

static void put_zsh_action(text *t, word_kind kind) {
    if (kind == WORD_FILE) text_put(t, "_files");
    else if (kind == WORD_FOLDER) text_put(t, "_files -/");
    else if (is_list(kind)) text_printf(t, "_xir_%s", kind_names[kind]);
    else text_put(t, " ");
}

static void put_zsh_options(text *t, const option *o, const char *indent) {
    for (; o && o->name; o++) {
        text_printf(t, " \\\n%s'%s--%s%s[", indent, o->many ? "*" : "", o->name, o->argument ? "=" : "");
        put_quoted(t, o->doc, zsh_special);
        text_put(t, "]");
        if (o->argument) {
            text_put(t, ":");
            put_quoted(t, o->argument, zsh_special);
            text_put(t, ":");
            put_zsh_action(t, o->is);
        }
        text_put(t, "'");
    }
}

static void print_zsh(text *t) {
    text_put(t, "#compdef xir\n# Completion of xir for zsh, printed by xir completion zsh.\n");
    for (word_kind kind = WORD_TEXT; kind < WORD_KINDS; kind++) {
        text words = { 0 };
        put_words(&words, kind);
        if (kind == WORD_PIPELINE) text_put(t, "_xir_pipeline() { compset -P '*[,(]'; _xir_pass -S '' }\n");
        else if (is_list(kind)) text_printf(t, "_xir_%s() { compadd \"$@\" -- %s }\n", kind_names[kind], words.data);
        text_free(&words);
    }
    text_put(t, "_xir() {\n"
                "    local curcontext=$curcontext state state_descr line\n"
                "    typeset -A opt_args\n"
                "    _arguments -C");
    put_zsh_options(t, program_options, "        ");
    for (const option *o = common_options; o->name; o++) {
        const option one[] = { *o, { 0 } };
        if (o->argument) put_zsh_options(t, one, "        ");
    }
    text_put(t, " \\\n        '1:command:->command' '*::argument:->argument' && return\n"
                "    case $state in\n"
                "    command)\n        local -a commands=(");
    for (const command *const *cmd = commands; *cmd; cmd++) {
        text_printf(t, "\n            '%s:", (*cmd)->name);
        put_quoted(t, (*cmd)->doc, "\\");
        text_put(t, "'");
    }
    text_put(t, ")\n        _describe command commands ;;\n    argument)\n        case $words[1] in\n");
    for (const command *const *cmd = commands; *cmd; cmd++) {
        text_printf(t, "        %s) _arguments", (*cmd)->name);
        put_zsh_options(t, (*cmd)->options, "            ");
        put_zsh_options(t, common_options, "            ");
        if ((*cmd)->most) {
            text_put(t, " \\\n            '*:");
            put_quoted(t, (*cmd)->operands, zsh_special);
            text_put(t, ":");
            put_zsh_action(t, (*cmd)->is);
            text_put(t, "'");
        }
        text_put(t, " ;;\n");
    }
    text_put(t, "        esac ;;\n    esac\n}\n"
                "if [ \"$funcstack[1]\" = _xir ]; then _xir \"$@\"; else compdef _xir xir; fi\n");
}

/* ---- fish ---------------------------------------------------------------------------------------- */

static void put_fish_quoted(text *t, const char *words) {
    text_put(t, "'");
    for (; *words; words++) text_printf(t, *words == '\'' || *words == '\\' ? "\\%c" : "%c", *words);
    text_put(t, "'");
}

/* Prints the completion where a word of a kind is expected, if it is not a file. */
static void put_fish_words(text *t, word_kind kind) {
    text words = { 0 };
    put_words(&words, kind);
    if (is_list(kind)) text_put(t, " -a ");
    if (is_list(kind)) put_fish_quoted(t, words.data);
    text_free(&words);
}

/* `when`: the condition, NULL: always. */
static void put_fish_options(text *t, const option *o, const char *when) {
    for (; o && o->name; o++) {
        text_put(t, "complete -c xir");
        if (when) text_printf(t, " -n '%s'", when);
        text_printf(t, " -l %s", o->name);
        if (o->argument && (o->is == WORD_FILE || o->is == WORD_FOLDER)) text_put(t, " -r -F");
        else if (o->argument) text_put(t, " -x");
        if (o->argument) put_fish_words(t, o->is);
        text_put(t, " -d ");
        put_fish_quoted(t, o->doc);
        text_put(t, "\n");
    }
}

static void print_fish(text *t) {
    text_put(t, "# Completion of xir for fish, printed by xir completion fish.\n");
    for (const command *const *cmd = commands; *cmd; cmd++) {
        text_printf(t, "complete -c xir -n __fish_use_subcommand -f -a %s -d ", (*cmd)->name);
        put_fish_quoted(t, (*cmd)->doc);
        text_put(t, "\n");
    }
    put_fish_options(t, common_options, NULL);
    put_fish_options(t, program_options + 1, "__fish_use_subcommand");   /* --help is common */
    for (const command *const *cmd = commands; *cmd; cmd++) {
        text when = { 0 };
        text_printf(&when, "__fish_seen_subcommand_from %s", (*cmd)->name);
        if ((*cmd)->is != WORD_FILE) {
            text_printf(t, "complete -c xir -n '%s' -f", when.data);
            put_fish_words(t, (*cmd)->is);
            text_put(t, "\n");
        }
        put_fish_options(t, (*cmd)->options, when.data);
        text_free(&when);
    }
}

/* ---- the command --------------------------------------------------------------------------------- */

static int run(int n, char **operands) {
    (void)n;
    static const char *const shells[] = { "bash", "zsh", "fish" };
    static void (*const printers[])(text *t) = { print_bash, print_zsh, print_fish };
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(operands[0], shells[i]) != 0) continue;
        text t = { 0 };
        printers[i](&t);
        write_to(stdout, t.data, t.size);
        text_free(&t);
        return DONE;
    }
    return complain(MISUSED, "completion takes bash, zsh or fish, not '%s'", operands[0]);
}

const command completion_command = {
    .name = "completion", .operands = "SHELL", .is = WORD_SHELL,
    .doc = "prints the completion script of a shell",
    .details = "SHELL is bash, zsh or fish. Installing puts the scripts where these shells look for them. Without that: "
               "source <(xir completion bash).",
    .examples = (const example[]){
        { "xir completion bash >xir.bash", "Write the script that bash reads." },
        { NULL, NULL },
    },
    .related = "help",
    .least = 1, .most = 1, .run = run,
};

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir show: a network as JSON, byte for byte what the writer gives, so without a newline at the end; or as text; or
 * some of its ops, each as it is in the network. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static bool      compact, as_text;
static word_list op_words;

/* ---- some ops ------------------------------------------------------------------------------------ */

/* The ops of a network, each before its sub ops. */
typedef struct op_list {
    const xir_op **items;
    size_t         n, room;
} op_list;

static xir_walk_answer add_op(void *user, xir_op *op) {
    op_list *list = user;
    if (list->n == list->room) {
        list->room = list->room * 2 + 64;
        list->items = resize((void *)list->items, list->room * sizeof *list->items);
    }
    list->items[list->n++] = op;
    return XIR_WALK_ON;
}

bool read_op_id(const char *word, int64_t *id) {
    char *end;
    errno = 0;
    *id = word[0] == '#' ? strtoll(word + 1, &end, 10) : 0;
    return word[0] == '#' && end != word + 1 && !*end && !errno;
}

static int unknown(const loaded *l, const op_list *ops, const char *word) {
    near_names meant = { 0 };
    for (size_t i = 0; i < ops->n; i++) near_add(&meant, word, xir_op_name(ops->items[i]));
    return no_such_op(l->name, "--op takes", word, &meant);
}

static int print_op(const xir_op *op) {
    xir_text_buffer printed = { 0 };
    if (as_text) {
        xir_diags *why = new_diags();
        const int code = exit_of(xir_op_write(op, "text", write_to, stdout, why));
        say(why);
        xir_diags_free(why);
        return code;
    }
    xir_status status = xir_op_print(op, compact ? 0 : 4, &printed);
    if (!status && write_to(stdout, printed.data, printed.size)) write_to(stdout, "\n", 1);
    xir_text_free(&printed);
    return exit_of(status);
}

/* All ops of a name, which may be several; the word is an id only if no op has that name. */
static int print_ops(const loaded *l, const op_list *ops, const char *word) {
    size_t n = 0;
    int code = DONE;
    int64_t id;
    for (size_t i = 0; i < ops->n && !code; i++) {
        if (!xir_str_equal(xir_op_name(ops->items[i]), xir_str_of(word))) continue;
        code = print_op(ops->items[i]);
        n++;
    }
    for (size_t i = 0; i < ops->n && !n && read_op_id(word, &id); i++) {
        if (xir_op_id(ops->items[i]) != id) continue;
        code = print_op(ops->items[i]);
        n++;
    }
    return n || code ? code : unknown(l, ops, word);
}

static int show_ops(const loaded *l) {
    op_list ops = { 0 };
    int code = xir_network_walk(l->net, &XIR_INIT(xir_walker, .user = &ops, .op = add_op), NULL) ? no_memory() : DONE;
    for (size_t i = 0; i < op_words.n && !code; i++) code = print_ops(l, &ops, op_words.items[i]);
    free((void *)ops.items);
    return code;
}

/* ---- the command --------------------------------------------------------------------------------- */

static int run(int n, char **operands) {
    (void)n;
    loaded l = { 0 };
    if (as_text && compact) return complain(MISUSED, "--text and --compact contradict each other");
    xir_diags *why = new_diags();
    /* JSON is the same without parameter bytes, so they are only read if they are named. */
    int code = as_text ? load(&l, operands[0], load_args.lazy ? XIR_LOAD_LAZY : 0)
                       : load_structure(&l, operands[0], load_args.from, why);
    if (!code && load_args.params && load_args.no_params) {
        code = complain(MISUSED, "--params and --no-params contradict each other");
    }
    if (!code && load_args.params && !as_text) {
        bool found;
        code = load_params(&l, load_args.params, load_args.lazy ? XIR_LOAD_LAZY : 0, &found, why);
    }
    if (!code && op_words.n) {
        code = show_ops(&l);
    } else if (!code) {
        progress_writing("-");
        const xir_save_options how = XIR_INIT(xir_save_options, .format = "text", .unchecked = true);
        xir_status status = as_text ? xir_network_write(l.net, write_to, stdout, &how, why)
                                    : xir_json_write(l.net, compact ? 0 : 4, write_to, stdout, why);
        if (status) code = exit_of(status);
    }
    say(why);
    xir_diags_free(why);
    unload(&l);
    free((void *)op_words.items);
    return code;
}

static const option options[] = {
    { "op", "NAME", WORD_TEXT, &op_words, "print only the op of this name, or of this id, #17", .many = true },
    { "compact", NULL, WORD_NONE, &compact, "print it on one line, as files are written" },
    { "text", NULL, WORD_NONE, &as_text, "print it as text, a line for each op, as .xir files have it" },
    PARAMS_OPTION, NO_PARAMS_OPTION, LAZY_OPTION, FROM_OPTION, AS_CALLS_OPTION,
    { 0 },
};

const command show_command = {
    .name = "show", .operands = "FILE", .is = WORD_FILE,
    .doc = "prints a network as JSON or as text",
    .details = "Indented by four blanks, or compact: exactly the bytes that saving writes, without a newline at the "
               "end. With --op it prints ops, with their inputs and outputs, each followed by a newline. With --text, "
               "parameters of at most 16 KiB together are printed too.",
    .faulty = "the file is invalid",
    .examples = (const example[]){
        { "xir show digits.onnx --text", "Print a network as text, a line for each op." },
        { "xir show digits.onnx --op /c1/Conv", "Print one op as JSON." },
        { NULL, NULL },
    },
    .related = "info view convert",
    .options = options, .least = 1, .most = 1, .run = run,
};

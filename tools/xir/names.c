/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Names of inputs and of open dims that options give, as in --bind NAME=N. They are compared with the structure before
 * its parameters are read and before a pass runs: a name that the network does not have makes no sense of the command
 * line. A new option of this kind is a row. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"

word_list input_words;

/* ---- names that a network has ---------------------------------------------------------------------- */

/* They live as long as their network; `copy` is one that more names were found in. */
typedef struct names {
    xir_str     *items;
    size_t       n, inputs;    /* inputs: their number, for positions */
    xir_network *copy;
} names;

static void names_free(names *of) {
    free(of->items);
    xir_network_free(of->copy);
    *of = (names){ 0 };
}

static int dims_of(const xir_network *net, names *out) {
    const size_t n = xir_network_dim_names(net, NULL, 0);
    if (n == SIZE_MAX) return no_memory();
    out->items = take(n, sizeof *out->items);
    out->n = xir_network_dim_names(net, out->items, n);
    if (out->n == n) return DONE;
    out->n = 0;
    return no_memory();
}

/* Inputs, and Params that are the default of one. */
static int inputs_of(const xir_network *net, names *out) {
    const size_t n_params = xir_network_params(net, NULL, 0);
    out->inputs = xir_network_inputs(net, NULL, 0);
    xir_value **values = take(out->inputs + n_params, sizeof *values);
    xir_network_inputs(net, values, out->inputs);
    xir_network_params(net, values + out->inputs, n_params);
    out->items = take(out->inputs + n_params, sizeof *out->items);
    for (size_t i = 0; i < out->inputs + n_params; i++)
        if (i < out->inputs || xir_params_is_default(values[i])) out->items[out->n++] = xir_value_name(values[i]);
    free((void *)values);
    return DONE;
}

static bool has_name(const names *of, xir_str name) {
    for (size_t i = 0; i < of->n; i++)
        if (xir_str_equal(of->items[i], name)) return true;
    return false;
}

/* ---- words ----------------------------------------------------------------------------------------- */

static xir_str before_last_equals(const names *known, const char *word) {
    const char *equals = strrchr(word, '=');
    (void)known;
    return (xir_str){ word, equals ? (size_t)(equals - word) : strlen(word) };
}

/* Of NAME=FILE, the longest name of an input, since both may contain '='; otherwise the text before the first '='. A
 * file alone is for the only input: position 0. Without a name: the empty text. */
static xir_str before_file(const names *known, const char *word) {
    xir_str best = { word, 0 };
    const char *first = strchr(word, '=');
    for (size_t i = 0; i < known->n; i++) {
        const xir_str name = known->items[i];
        const bool fits = strlen(word) > name.size && word[name.size] == '=' &&
                          memcmp(word, name.data, name.size) == 0;
        if (name.size > best.size && fits) best.size = name.size;
    }
    if (best.size) return best;
    const bool alone = !first || access(word, F_OK) == 0;
    if (alone && known->inputs == 1) return XIR_STR("0");
    return (xir_str){ word, first ? (size_t)(first - word) : 0 };
}

bool read_position(xir_str word, size_t n, size_t *out) {
    *out = 0;
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] < '0' || word.data[i] > '9' || *out >= n) return false;
        *out = *out * 10 + (size_t)(word.data[i] - '0');
    }
    return word.size && *out < n;
}

xir_str input_name(const xir_network *net, const char *word, const char **file) {
    names known = { 0 };
    (void)inputs_of(net, &known);
    const xir_str name = before_file(&known, word);
    *file = name.data == word && word[name.size] == '=' ? word + name.size + 1 : word;
    names_free(&known);
    return name;
}

int check_inputs(void) {
    for (size_t i = 0; i < input_words.n; i++) {
        const char *word = input_words.items[i];
        if (*word == '=' || !*word || word[strlen(word) - 1] == '=')
            return complain(MISUSED, "--input takes NAME=FILE.npy, not '%s'", word);
    }
    return DONE;
}

/* ---- options --------------------------------------------------------------------------------------- */

typedef struct naming {
    const char      *option, *takes;
    const word_list *words;
    const char      *kind;                                          /* what has the names                */
    int            (*list)(const xir_network *net, names *out);
    xir_str        (*name)(const names *known, const char *word);   /* the name that a word begins with  */
    bool             positions;                                     /* a number may stand for a name     */
} naming;

static const naming rows[] = {
    { "bind",        "NAME=N",    &bind_words,  "open dim", dims_of,   before_last_equals, false },
    { "input-shape", "NAME=D,D",  &shape_words, "input",    inputs_of, before_last_equals, false },
    { "input",       "NAME=FILE", &input_words, "input",    inputs_of, before_file,        true  },
    { "const",       "NAME=N",    &const_words, "input",    inputs_of, before_file,        false },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

bool has_names(void) {
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].words->n) return true;
    return false;
}

/* The first word whose name is not known; NULL: all are. */
static const char *unknown_word(const naming *row, const names *known) {
    size_t position;
    for (size_t i = 0; i < row->words->n; i++) {
        const xir_str name = row->name(known, row->words->items[i]);
        if (name.size && has_name(known, name)) continue;
        if (!row->positions || !read_position(name, known->inputs, &position)) return row->words->items[i];
    }
    return NULL;
}

/* Writes the name that was perhaps meant, or the first names that there are. */
static void put_known(text *t, const naming *row, const names *known, xir_str name) {
    enum { MOST = 10 };
    xir_str near = { NULL, 0 };
    size_t distance = SIZE_MAX, n = 0;
    for (size_t i = 0; i < known->n && name.size; i++)
        if (known->items[i].size && xir_str_is_nearer(name, known->items[i], &distance)) near = known->items[i];
    if (near.size) {
        text_printf(t, "; did you mean '%.*s'?", (int)near.size, near.data);
        return;
    }
    if (!known->n) text_put(t, "; it has none");
    for (size_t i = 0; i < known->n && n < MOST; i++) {
        if (n++) text_put(t, ", ");
        else text_printf(t, "; the network's %ss are: ", row->kind);
        if (known->items[i].size) text_add(t, known->items[i].data, known->items[i].size);
        else text_put(t, "one without a name");
    }
    if (n < known->n) text_printf(t, " and %zu more", known->n - n);
}

static int refuse_name(const char *file, const naming *row, const names *known, const char *word) {
    const xir_str name = row->name(known, word);
    text t = { 0 };
    put_known(&t, row, known, name);
    const int code = name.size
        ? complain_of(MISUSED, file, "--%s %s: the network has no %s '%.*s'%s", row->option, word, row->kind,
                      (int)name.size, name.data, t.data)
        : complain_of(MISUSED, file, "--%s takes %s, not '%s'%s", row->option, row->takes, word, t.data);
    text_free(&t);
    return code;
}

/* Conversion may add inputs to a dialect network. */
static int find_later_inputs(const xir_network *net, names *known) {
    names_free(known);
    known->copy = xir_network_clone(net);
    if (!known->copy || xir_dialect_add_inputs(known->copy)) return no_memory();
    return inputs_of(known->copy, known);
}

static int check_row(const naming *row, const xir_network *net, const char *file) {
    names known = { 0 };
    int code = row->list(net, &known);
    const char *word = code ? NULL : unknown_word(row, &known);
    if (word && row->list == inputs_of && xir_network_is_dialect(net)) {
        code = find_later_inputs(net, &known);
        word = code ? NULL : unknown_word(row, &known);
    }
    if (word) code = refuse_name(file, row, &known, word);
    names_free(&known);
    return code;
}

int check_names(const xir_network *net, const char *file) {
    int code = DONE;
    for (size_t i = 0; i < ROWS && !code; i++)
        if (rows[i].words->n) code = check_row(&rows[i], net, file);
    return code;
}

/* ---- names of ops ---------------------------------------------------------------------------------- */

int no_such_op(const char *file, const char *takes, const char *word, const near_names *meant) {
    if (meant->n) {
        text list = { 0 };
        near_put(&list, meant);
        complain_of(MISUSED, file, "there is no op '%s'; did you mean %s?", word, list.data);
        text_free(&list);
        return MISUSED;
    }
    return complain_of(MISUSED, file, "there is no op '%s'; %s the name of an op, or its id as #17", word, takes);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir extract: the part of a network between some of its values, as a network of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

static word_list begin_words, end_words;

/* ---- values ---------------------------------------------------------------------------------------- */

/* The number in all of a word of digits; false: another word. */
static bool read_number(const char *word, int64_t *out) {
    char *end;
    errno = 0;
    *out = *word >= '0' && *word <= '9' ? strtoll(word, &end, 10) : 0;
    return *word >= '0' && *word <= '9' && !*end && !errno;
}

static int unknown(const loaded *l, const char *given, const char *word) {
    near_names meant = { 0 };
    for (const xir_op *op = xir_network_first(l->net); op; op = xir_op_next(op)) {
        near_add(&meant, word, xir_op_name(op));
        for (size_t i = 0; i < xir_op_output_count(op); i++)
            near_add(&meant, word, xir_value_name(xir_op_output(op, (int64_t)i)));
    }
    if (meant.n) {
        text names = { 0 };
        near_put(&names, &meant);
        complain_of(MISUSED, l->name, "there is no value '%s'; did you mean %s?", word, names.data);
        text_free(&names);
        return MISUSED;
    }
    return complain_of(MISUSED, l->name, "there is no value '%s'; --%s takes the name of a value or of an op, OP:n for "
                       "output n of an op, or #17 for the value of that id", word, given);
}

/* The meanings of a word; of several, the first one counts. */
typedef struct sought {
    xir_str    word, op;        /* the whole word; the name of the op in OP:n, empty in other words */
    int64_t    output, id;      /* -1: the word has none */
    xir_value *named, *first, *numbered, *of_id;
} sought;

static void look_at_value(sought *s, xir_value *v) {
    if (!s->named && xir_str_equal(xir_value_name(v), s->word)) s->named = v;
    if (!s->of_id && s->id >= 0 && xir_value_id(v) == s->id) s->of_id = v;
}

static void look_at_op(sought *s, const xir_op *op) {
    for (size_t i = 0; i < xir_op_output_count(op); i++) look_at_value(s, xir_op_output(op, (int64_t)i));
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        xir_value *v = xir_op_input(op, (int64_t)i);
        if (v && !xir_value_op(v)) look_at_value(s, v);
    }
    if (!s->first && xir_str_equal(xir_op_name(op), s->word)) s->first = xir_op_output(op, 0);
    if (!s->numbered && s->op.size && xir_str_equal(xir_op_name(op), s->op)) s->numbered = xir_op_output(op, s->output);
}

/* A name comes before an id, and that of a value before that of an op: "conv1" is the first output of the op, "split:1"
 * the second one. A walk needs no memory: without it, a value would seem to be missing. */
static xir_value *find_value(const loaded *l, const char *word) {
    sought s = { .word = xir_str_of(word), .output = -1, .id = -1 };
    const char *colon = strrchr(word, ':');
    if (!*word) return NULL;
    if (colon && read_number(colon + 1, &s.output)) s.op = (xir_str){ word, (size_t)(colon - word) };
    if (word[0] == '#' && !read_number(word + 1, &s.id)) s.id = -1;
    for (const xir_op *op = xir_network_first(l->net); op && !s.named; op = xir_op_next(op)) look_at_op(&s, op);
    return s.named ? s.named : s.first ? s.first : s.numbered ? s.numbered : s.of_id;
}

static int find_values(const loaded *l, const char *given, const word_list *words, xir_value **out) {
    for (size_t i = 0; i < words->n; i++) {
        out[i] = find_value(l, words->items[i]);
        if (!out[i]) return unknown(l, given, words->items[i]);
    }
    return DONE;
}

/* ---- types that a file does not say ---------------------------------------------------------------- */

static bool lacks_type(const xir_value *v) { return !xir_type_as_tensor(xir_value_type(v)); }

/* Gives those of the values that have one of the ids the type, in the order of axes of the file. */
static bool set_types(xir_network *net, xir_value *const *values, size_t n, const int64_t *ids, size_t n_ids,
                      const xir_type *type) {
    for (size_t i = 0; xir_type_as_tensor(type) && i < n; i++) {
        for (size_t k = 0; k < n_ids; k++) {
            if (!lacks_type(values[i]) || xir_value_id(values[i]) != ids[k]) continue;
            type = xir_type_with_layout(xir_network_context(net), type, NULL, NULL);
            if (!type || xir_value_set_type(values[i], type)) return false;
        }
    }
    return true;
}

/* The types of what is in a copy that was converted. */
static bool take_types(xir_network *net, xir_value *const *values, size_t n, const xir_provenance *p) {
    bool done = true;
    for (const xir_op *op = xir_network_first(xir_provenance_network(p)); op && done; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op) && done; i++) {
            const xir_value *v = xir_op_output(op, (int64_t)i);
            int64_t ids[8];
            size_t found = 0;
            done = !xir_provenance_values_of(p, v, ids, 8, &found) &&
                   set_types(net, values, n, ids, found < 8 ? found : 8, xir_value_type(v));
        }
    }
    return done;
}

/* A file of another framework need not have the types of its inner values. The pass to-xir infers them in a copy, where
 * a recorder knows which values stand for those of the file; what it does not convert has none. */
static int find_types(xir_network *net, xir_value *const *values, size_t n) {
    bool wanted = false;
    for (size_t i = 0; i < n; i++) wanted |= lacks_type(values[i]);
    if (!wanted || !xir_network_is_dialect(net)) return DONE;
    xir_network *copy = xir_network_clone(net);
    xir_provenance *p = copy ? xir_provenance_new(copy, NULL) : NULL;
    const bool done = p && xir_pass_run(copy, "to-xir", NULL, NULL, NULL) != XIR_E_MEMORY &&
                      take_types(net, values, n, p);
    xir_provenance_free(p);
    xir_network_free(copy);
    return done ? DONE : no_memory();
}

/* ---- the command ----------------------------------------------------------------------------------- */

/* Puts the part in the place of the network. */
static int cut(loaded *l) {
    xir_value **begin = take(begin_words.n + end_words.n + 1, sizeof *begin), **end = begin + begin_words.n;
    int code = find_values(l, "begin", &begin_words, begin);
    if (!code) code = find_values(l, "end", &end_words, end);
    if (!code) code = find_types(l->net, begin, begin_words.n + end_words.n);
    if (!code) {
        xir_diags *why = new_diags();
        xir_network *part = xir_extract(l->net, begin, begin_words.n, end, end_words.n, why);
        if (!part) {
            const xir_diag *d = xir_diags_at(why, 0);
            code = exit_of(d ? d->code : XIR_E_MEMORY);
            if (code == FAULTY) code = MISUSED;   /* the file is valid: the values make no sense */
        } else {
            xir_network_free(l->net);
            l->net = part;
        }
        say(why);
        xir_diags_free(why);
    }
    free(begin);
    return code;
}

static int run(int n, char **operands) {
    (void)n;
    const char *in = operands[0], *out = operands[1];
    if (!begin_words.n && !end_words.n) return complain(MISUSED, "extract needs --begin V or --end V, or both");
    const file_format *to = choose_output(out);
    xir_save_options o;
    int code = to ? check_save(to, out, &o) : MISUSED;
    if (code) return code;
    loaded l = { 0 };
    code = load(&l, in, 0);
    if (!code) code = cut(&l);
    if (!code) code = save(&l, out, to, &o);
    unload(&l);
    free((void *)begin_words.items);
    free((void *)end_words.items);
    return code;
}

static const option options[] = {
    { "begin", "V", WORD_TEXT, &begin_words, "a value that becomes an input: its name, #ID, OP or OP:n", .many = true },
    { "end", "V", WORD_TEXT, &end_words, "a value that becomes an output: its name, #ID, OP or OP:n", .many = true },
    PARAMS_OPTION, OUT_PARAMS_OPTION, NO_PARAMS_OPTION, LAZY_OPTION, INDENT_OPTION, ALIGN_OPTION, PLAIN_OPTION,
        INLINE_OPTION, NO_IDS_OPTION,
    NO_MD5_OPTION, EXTERNAL_OPTION, FROM_OPTION, AS_CALLS_OPTION,
    TO_OPTION,
    { 0 },
};

const command extract_command = {
    .name = "extract", .operands = "NET OUT", .is = WORD_FILE,
    .doc = "writes the part of a network between some of its values",
    .details = "The part has the ops that the --end values need, back to the --begin values, and the parameters that "
               "these ops use. Its inputs are the --begin values, then the inputs of the network that are needed too; "
               "its outputs are the --end values. Without --begin it begins at the inputs of the network; without "
               "--end it ends at the outputs that depend on a --begin value. Ids, names and tags are kept. A file of "
               "another framework is cut as it is, without being converted; types that it does not say are inferred.",
    .faulty = "NET is invalid",
    .examples = (const example[]){
        { "xir extract digits.onnx part.onnx --end /pool/MaxPool_output_0", "Keep what one value needs." },
        { "xir extract digits.onnx tail.onnx --begin /pool/MaxPool_output_0", "Keep what depends on it." },
        { NULL, NULL },
    },
    .related = "reduce view",
    .options = options, .least = 2, .most = 2, .run = run,
};

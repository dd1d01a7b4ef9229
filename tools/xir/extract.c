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

/* "conv1" is the first output of the op, "split:1" the second one. `room` is as long as the word. */
static xir_value *output_named(const xir_network *net, const char *word, char *room) {
    const xir_op *op = xir_network_op_by_name(net, xir_str_of(word));
    int64_t i = 0;
    const char *colon = strrchr(word, ':');
    if (op || !colon || !read_number(colon + 1, &i)) return xir_op_output(op, 0);
    memcpy(room, word, (size_t)(colon - word));
    room[colon - word] = '\0';
    return xir_op_output(xir_network_op_by_name(net, xir_str_of(room)), i);
}

static void nearer(const char *word, xir_str name, xir_str *meant, size_t *distance) {
    if (name.size && xir_str_is_nearer(xir_str_of(word), name, distance)) *meant = name;
}

static int unknown(const loaded *l, const char *given, const char *word) {
    xir_str meant = { 0 };
    size_t distance = SIZE_MAX;
    for (const xir_op *op = xir_network_first(l->net); op; op = xir_op_next(op)) {
        nearer(word, xir_op_name(op), &meant, &distance);
        for (size_t i = 0; i < xir_op_output_count(op); i++)
            nearer(word, xir_value_name(xir_op_output(op, (int64_t)i)), &meant, &distance);
    }
    if (meant.size) {
        return complain_of(MISUSED, l->name, "there is no value '%s'; did you mean '%.*s'?", word, (int)meant.size,
                           meant.data);
    }
    return complain_of(MISUSED, l->name, "there is no value '%s'; --%s takes the name of a value or of an op, OP:n for "
                       "output n of an op, or #17 for the value of that id", word, given);
}

/* A name comes before an id, and that of a value before that of an op. */
static xir_value *find_value(const loaded *l, const char *word) {
    int64_t id;
    xir_value *v = xir_network_value_by_name(l->net, xir_str_of(word));
    char *room = take(strlen(word) + 1, 1);
    if (!v) v = output_named(l->net, word, room);
    if (!v && word[0] == '#' && read_number(word + 1, &id)) v = xir_network_value_by_id(l->net, id);
    free(room);
    return v;
}

static int find_values(const loaded *l, const char *given, const word_list *words, xir_value **out) {
    for (size_t i = 0; i < words->n; i++) {
        out[i] = find_value(l, words->items[i]);
        if (!out[i]) return unknown(l, given, words->items[i]);
    }
    return DONE;
}

/* ---- the command ----------------------------------------------------------------------------------- */

/* Puts the part in the place of the network. */
static int cut(loaded *l) {
    xir_value **begin = take(begin_words.n + 1, sizeof *begin), **end = take(end_words.n + 1, sizeof *end);
    int code = find_values(l, "begin", &begin_words, begin);
    if (!code) code = find_values(l, "end", &end_words, end);
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
    free(end);
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
    NO_MD5_OPTION, EXTERNAL_OPTION, FROM_OPTION, AS_CALLS_OPTION,
    UPSTREAM_OPTION, TO_OPTION,
    { 0 },
};

const command extract_command = {
    .name = "extract", .operands = "NET OUT", .is = WORD_FILE,
    .doc = "writes the part of a network between some of its values",
    .details = "The part has the ops that the --end values need, back to the --begin values, and the parameters that "
               "these ops use. Its inputs are the --begin values, then the inputs of the network that are needed too; "
               "its outputs are the --end values. Without --begin it begins at the inputs of the network; without "
               "--end it ends at the outputs that depend on a --begin value. Ids, names and tags are kept. A file of "
               "another framework is cut as it is, without being converted.",
    .faulty = "NET is invalid",
    .options = options, .least = 2, .most = 2, .run = run,
};

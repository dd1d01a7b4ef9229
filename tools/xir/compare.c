/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir compare: two networks, or a network and the arrays that a device has dumped. The library compares
 * (xir/compare.h), compare_report.c prints. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "compare.h"
#include "run.h"

static const char *tolerance_word, *seed_word, *below_word, *sort_word;
static bool        as_json, alone;

/* ---- the line ------------------------------------------------------------------------------------------------- */

static int read_number(const char *which, const char *word, bool may_be_negative, double *out) {
    char *end;
    if (!word) return DONE;
    *out = strtod(word, &end);
    if (end != word && !*end && (may_be_negative ? *out == *out : *out >= 0)) return DONE;
    return complain(MISUSED, "--%s takes a number%s, not '%s'", which, may_be_negative ? "" : " that is not below 0",
                    word);
}

static int read_order(compare_order *out) {
    static const char *const words[] = { "order", "largest", "relative", "cosine", "sqnr", "saturated", NULL };
    *out = ORDER_RUN;
    for (size_t i = 0; sort_word && words[i]; i++) {
        if (strcmp(sort_word, words[i]) != 0) continue;
        *out = (compare_order)i;
        return DONE;
    }
    return sort_word ? complain(MISUSED, "--sort takes order, largest, relative, cosine, sqnr or saturated, not '%s'",
                                sort_word) : DONE;
}

static int read_line(xir_compare_options *how, compare_order *order, uint64_t *seed) {
    double given = 0;
    int code = read_number("tolerance", tolerance_word, false, &how->absolute);
    how->relative = how->absolute;
    how->by_snr = below_word != NULL;
    how->alone = alone;
    if (!code) code = read_number("fail-below", below_word, true, &how->least_snr);
    if (!code) code = read_number("seed", seed_word, false, &given);
    if (!code && (given >= 0x1p53 || given != (double)(uint64_t)given))
        code = complain(MISUSED, "--seed takes an integer below 2^53, not '%s'", seed_word);
    if (!code) *seed = (uint64_t)given;
    if (!code) code = read_order(order);
    if (!code && (check_binds() || check_inputs() || max_work_of_line(&how->max_work) ||
                  max_memory_of_line(&how->max_memory) || threads_of_line(&how->threads))) code = MISUSED;
    return code;
}

/* ---- the inputs ----------------------------------------------------------------------------------------------- */

static void take_inputs(ports *p, xir_network *net) {
    ports_make(p, xir_network_inputs(net, NULL, 0));
    xir_network_inputs(net, p->values, p->n);
}

/* Without --input, the inputs are those of the folder: what the device got. Others are random only if --seed says so:
 * then the device got these. */
static int take_dumped(const xir_compare *c, const char *folder, ports *in, xir_diags *why) {
    int code = DONE;
    for (size_t i = 0; folder && i < in->n && !code && !input_words.n; i++) {
        code = exit_of(xir_compare_array(c, in->values[i], &in->arrays[i], why));
        if (!code && in->arrays[i]) in->types[i] = xir_array_type(in->arrays[i]);
        const xir_str name = xir_value_name(in->values[i]);
        if (!code && !in->arrays[i] && !seed_word)
            code = complain_of(MISUSED, folder, "there is no array for the input '%.*s': --input names one, or --seed "
                               "gives random numbers", XIR_ARG(name));
    }
    return code;
}

/* ---- the networks --------------------------------------------------------------------------------------------- */

static int prepare(xir_network *net, xir_diags *why) {
    int code = bind_network(net, why);
    return code ? code : inputs_take_defaults(net);
}

/* Converts a network of foreign operations. If the other one has tags about its sources, a recorder knows what they
 * mean: it stays with the network until it is freed. */
static int convert(xir_network *net, const ports *in, const xir_network *other, xir_provenance **p, xir_diags *why) {
    *p = NULL;
    if (!xir_network_is_dialect(net)) return DONE;
    if (other && xir_provenance_has_tags(other)) {
        *p = xir_provenance_new(net, why);
        if (!*p) return no_memory();
    }
    return inputs_convert(net, in, why);
}

/* The inputs of the second network, with the types of the first one's at the same positions. */
static int convert_second(xir_network *net, const ports *first, const xir_network *other, xir_provenance **p,
                          xir_diags *why) {
    ports in = { 0 };
    take_inputs(&in, net);
    for (size_t i = 0; i < in.n; i++) in.types[i] = i < first->n ? first->types[i] : xir_value_type(in.values[i]);
    const int code = convert(net, &in, other, p, why);
    ports_free(&in);
    return code;
}

/* ---- a part of a network -------------------------------------------------------------------------------------- */

/* Finds the value of B for one of A: by its name; without one by its id. */
static xir_value *same_in(const xir_network *b, const xir_value *v) {
    const xir_str name = xir_value_name(v);
    return name.size ? xir_network_value_by_name(b, name) : xir_network_value_by_id(b, xir_value_id(v));
}

/* Lists the values of B that are called like these; false if one is missing, or listed twice. */
static bool list_same(const xir_network *b, xir_value *const *values, size_t n, xir_value **out) {
    for (size_t i = 0; i < n; i++) {
        out[i] = values[i] ? same_in(b, values[i]) : NULL;
        if (!out[i] || !xir_value_op(out[i])) return false;
        for (size_t k = 0; k < i; k++)
            if (out[k] == out[i]) return false;
    }
    return true;
}

/* If the inputs of A are values inside of B, A is a part of it, as xir extract and xir reduce make them: then B is cut
 * where A is. */
static void cut_second(const xir_network *a, loaded *b) {
    const size_t n_in = xir_network_inputs(a, NULL, 0), n_out = xir_network_outputs(a, NULL, 0);
    xir_value **values = take(2 * (n_in + n_out) + 1, sizeof *values), **begin = values + n_in + n_out,
              **end = begin + n_in;
    xir_network_inputs(a, values, n_in);
    xir_network_outputs(a, values + n_in, n_out);
    bool inside = false;
    const bool is_part = list_same(b->net, values, n_in, begin) && list_same(b->net, values + n_in, n_out, end);
    for (size_t i = 0; i < n_in && is_part; i++)
        inside = inside || xir_value_op(begin[i]) != xir_network_input_op(b->net);
    inside = inside || (is_part && n_in != xir_network_inputs(b->net, NULL, 0));
    xir_network *part = inside ? xir_extract(b->net, begin, n_in, end, n_out, NULL) : NULL;
    if (part) {
        xir_network_free(b->net);
        b->net = part;
    }
    free(values);
}

/* ---- running -------------------------------------------------------------------------------------------------- */

typedef struct sources { xir_provenance *a, *b; } sources;

static int run_samples(xir_compare *c, const ports *in, xir_diags *why) {
    const xir_array *const *arrays = (const xir_array *const *)in->arrays;
    if (!run_args.each) return exit_of_run(xir_compare_run(c, arrays, in->n, why));
    const size_t parts = count_parts(in->values, arrays, in->n);
    xir_array **part = take(in->n + 1, sizeof *part);
    int code = parts ? DONE : FAULTY;
    for (size_t i = 0; i < parts && !code; i++) {
        for (size_t k = 0; k < in->n && !code; k++) {
            part[k] = part_of(arrays[k], i, parts, why);
            if (!part[k]) code = code_of(why);
        }
        if (!code) code = exit_of_run(xir_compare_run(c, (const xir_array *const *)part, in->n, why));
        for (size_t k = 0; k < in->n; k++) {
            xir_array_free(part[k]);
            part[k] = NULL;
        }
    }
    free(part);
    return code;
}

static void note_files(const compared *what) {
    enum { MOST = 10 };
    text t = { 0 };
    const char *file;
    size_t n = 0;
    for (; (file = xir_compare_file_alone(what->c, n)); n++)
        if (n < MOST) text_printf(&t, n ? ", %s" : "%s", file);
    if (!n) return;
    text_add(&t, "", 1);
    xir_diags *why = new_diags();
    xir_diags_add(why, XIR_NOTE, XIR_OK, XIR_STR(""), "%zu file%s of %s %s for no value of the network: %s%s", n,
                  n == 1 ? "" : "s", what->name_b, n == 1 ? "is" : "are", t.data, n > MOST ? ", ..." : "");
    say(why);
    xir_diags_free(why);
    text_free(&t);
}

static int compare(loaded *a, loaded *b, compared *what, xir_compare_options *how, uint64_t seed, json_out *j,
                   xir_diags *why) {
    ports in = { 0 };
    sources from = { 0 };
    xir_run_options limits = XIR_INIT(xir_run_options, .max_work = how->max_work, .max_memory = how->max_memory);
    int code = prepare(a->net, why);
    if (!code && b->net) code = prepare(b->net, why);
    if (!code) take_inputs(&in, a->net);
    if (!code) code = inputs_read(a->net, &in, why);
    if (!code) code = inputs_type(&in, why);
    if (!code) code = convert(a->net, &in, b->net, &from.a, why);
    if (!code && b->net) code = convert_second(b->net, &in, a->net, &from.b, why);
    if (!code && b->net && !from.b) cut_second(a->net, b);
    if (!code) progress_begin("comparing", a->name);
    xir_compare *c = code ? NULL : xir_compare_new(a->net, b->net, how, why);
    if (!code && !c) code = code_of(why);
    if (!code) code = take_dumped(c, how->folder, &in, why);
    if (!code) code = inputs_draw(a->net, &in, seed, &limits, why);
    if (!code) code = run_samples(c, &in, why);
    progress_end();
    say(why);
    what->c = c;
    if (c && how->folder) note_files(what);
    if (!code) code = compare_report(what, j);
    xir_compare_free(c);
    xir_provenance_free(from.a);
    xir_provenance_free(from.b);
    ports_free(&in);
    return code;
}

static bool is_folder(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static int run(int n, char **operands) {
    (void)n;
    xir_compare_options how = XIR_INIT(xir_compare_options);
    compared what = { .name_a = shown_name(operands[0]), .name_b = shown_name(operands[1]) };
    uint64_t seed = 0;
    int code = read_line(&how, &what.order, &seed);
    if (code) return code;
    if (strcmp(operands[0], "-") == 0 && strcmp(operands[1], "-") == 0)
        return complain(MISUSED, "only one of the two can be standard input");
    what.each = run_args.each;
    if (is_folder(operands[1])) how.folder = operands[1];
    loaded a = { 0 }, b = { 0 };
    json_out j = { 0 };
    json_open(&j, NULL, '{');
    json_str(&j, "a", xir_str_of(what.name_a));
    json_str(&j, "b", xir_str_of(what.name_b));
    xir_diags *why = new_diags();
    code = load(&a, operands[0], LOAD_MAPPED);
    if (!code && !how.folder) code = load(&b, operands[1], LOAD_MAPPED);
    if (!code) code = compare(&a, &b, &what, &how, seed, as_json ? &j : NULL, why);
    say(why);
    xir_diags_free(why);
    if (as_json) {
        code = json_findings(&j, code);
        json_close(&j, '}');
        json_print(&j);
    }
    text_free(&j.t);
    unload(&a);
    unload(&b);
    free((void *)input_words.items);
    free((void *)bind_words.items);
    free((void *)const_words.items);
    return code;
}

static const option options[] = {
    { "input", "NAME=F.npy", WORD_FILE, &input_words,
      "the array of an input of A, by its name or position; just F.npy if there is one input", .many = true },
    BIND_OPTION,
    { "each", NULL, WORD_NONE, &run_args.each,
      "inputs hold many samples along their first dim: run each; the table has the worst and the mean" },
    { "seed", "N", WORD_TEXT, &seed_word, "without inputs: the seed of the random ones (0; with a folder, its arrays)" },
    { "alone", NULL, WORD_NONE, &alone,
      "after each pair B goes on with A's value, so a pair shows its own error; with a folder, A goes on with B's" },
    { "tolerance", "T", WORD_TEXT, &tolerance_word,
      "how far an element may be from the expected one: T + T * |expected| (1e-4)" },
    { "fail-below", "DB", WORD_TEXT, &below_word, "a pair is bad if its SNR is below so many dB, whatever its elements" },
    { "sort", "KEY", WORD_TEXT, &sort_word,
      "print the worst pairs first, by largest, relative, cosine, sqnr or saturated (order: as they are computed)" },
    { "max-work", "N", WORD_TEXT, &work_args.max_work, "stop before the op that would exceed N steps, in each network" },
    { "max-memory", "N", WORD_TEXT, &work_args.max_memory,
      "the most bytes that the values and kernels of each network may take at one moment (no limit)" },
    THREADS_OPTION("compute"),
    { "json", NULL, WORD_NONE, &as_json, "print a JSON object" },
    MAPPED_OPTIONS, FROM_OPTION, AS_CALLS_OPTION,
    { 0 },
};

const command compare_command = {
    .name = "compare", .operands = "A B", .is = WORD_FILE,
    .doc = "finds the first value of a network that differs from another's, or from a device's dump",
    .details = "Both networks are run on the same inputs, and each value that both have is compared: a line has its "
               "largest and relative error, the cosine, the signal-to-noise ratio, the share of saturated elements. A is "
               "expected, B is found. Of the first bad value the ops that make it are printed, their attributes side by "
               "side. Values are recognised by the tags of xir opt --provenance, by name, and by the ops around them; "
               "B may have its axes in another order or be quantised. B may be a folder with NAME.npy, ID.npy, NAME.bin "
               "or ID.bin for some values of A; / in a name is _. Without --input the inputs are those of the folder; "
               "of two networks they are random, as in xir run. A network of another framework's operations is converted first.",
    .faulty = "a value differs, or a network is invalid or cannot be computed",
    .examples = (const example[]){
        { "xir opt digits.onnx digits.fb --provenance", "Make a network to compare with." },
        { "xir compare digits.onnx digits.fb", "Run both, and compare each value that both have." },
        { NULL, NULL },
    },
    .related = "reduce diff run",
    .options = options, .least = 2, .most = 2, .run = run,
};

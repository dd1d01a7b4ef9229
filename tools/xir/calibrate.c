/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir calibrate: which numbers the values of a network take, measured on samples, as a file for the passes that
 * quantise. Samples may be counted in several runs, and their files merged. */
#include <stdlib.h>
#include <string.h>
#include "run.h"

static word_list   merge_words;
static bool        each, products, channels;

/* ---- samples ---------------------------------------------------------------------------------------------- */

typedef struct counting {
    xir_calibration   *c;
    const xir_network *net;
    size_t             n_in;
    xir_run_options    options;
} counting;

static xir_status count_part(void *user, size_t i, size_t parts, const xir_array *const *in, xir_diags *why) {
    const counting *s = user;
    (void)i;
    (void)parts;
    return xir_calibration_add(s->c, s->net, in, s->n_in, &s->options, why);
}

static int count_samples(loaded *l, counting *s, xir_diags *why) {
    ports in = { 0 };
    run_args.each = each;
    int code = bind_network(l->net, why);
    if (!code) code = inputs_take_defaults(l->net);
    if (code) return code;
    ports_make(&in, xir_network_inputs(l->net, NULL, 0));
    xir_network_inputs(l->net, in.values, in.n);
    code = inputs_read(l->net, &in, why);
    if (!code) code = inputs_type(&in, why);
    if (!code) code = inputs_convert(l->net, &in, why);
    if (!code) {
        const xir_array *const *arrays = (const xir_array *const *)in.arrays;
        s->net = l->net;
        s->n_in = in.n;
        progress_begin("calibrating", l->name);
        code = exit_of_run(each ? each_part(in.values, arrays, in.n, count_part, s, why)
                                : count_part(s, 0, 1, arrays, why));
        progress_end();
    }
    ports_free(&in);
    return code;
}

/* ---- files ------------------------------------------------------------------------------------------------ */

static int merge_files(xir_calibration *c, xir_diags *why) {
    for (size_t i = 0; i < merge_words.n; i++) {
        xir_calibration *other = xir_calibration_load(context, merge_words.items[i], why);
        if (!other) return code_of(why);
        const xir_status status = xir_calibration_merge(c, other, why);
        xir_calibration_free(other);
        if (status) return exit_of(status);
    }
    return DONE;
}

/* Names in the calibration that the network does not have: it is of another network, or of another state of it. */
static void report_strangers(const xir_calibration *c, const xir_network *net) {
    xir_calibrated is = XIR_INIT(xir_calibrated);
    size_t n = 0;
    xir_str first = { "", 0 };
    for (size_t i = 0; xir_calibration_at(c, i, &is); i++) {
        if (is.name.size && (is.name.data[0] == '#' || xir_network_value_by_name(net, is.name))) continue;
        if (!n++) first = is.name;
    }
    if (n) complain(DONE, "the calibration has %zu values that the network does not have, '" XIR_PRI "' first", n,
                    XIR_ARG(first));
}

static int calibrate_into(xir_calibration *c, loaded *l, counting *s, const char *out, xir_diags *why) {
    int code = merge_files(c, why);
    s->c = c;
    if (!code && input_words.n) code = count_samples(l, s, why);
    if (code) return code;
    report_strangers(c, l->net);
    code = exit_of(xir_calibration_save(c, out, why));
    if (!code) printf("%llu samples, %zu values\n", (unsigned long long)xir_calibration_samples(c),
                      xir_calibration_count(c));
    return code;
}

static int calibrate(int n, char **operands) {
    (void)n;
    counting s = { .options = XIR_INIT(xir_run_options) };
    if (check_binds() || check_inputs() || max_work_of_line(&s.options.max_work) ||
        max_memory_of_line(&s.options.max_memory) || threads_of_line(&s.options.threads)) return MISUSED;
    if (!input_words.n && !merge_words.n)
        return complain(MISUSED, "a calibration needs samples: --input NAME=F.npy, or --merge C.json");
    loaded l = { 0 };
    xir_diags *why = new_diags();
    int code = load(&l, operands[0], 0);
    const xir_calibration_options how = XIR_INIT(xir_calibration_options,
                                                 .scope = products ? XIR_CALIBRATE_PRODUCTS : XIR_CALIBRATE_ALL,
                                                 .channels = channels);
    xir_calibration *c = code ? NULL : xir_calibration_new(context, &how, why);
    if (!code) code = c ? calibrate_into(c, &l, &s, operands[1], why) : code_of(why);
    xir_calibration_free(c);
    say(why);
    xir_diags_free(why);
    unload(&l);
    free((void *)input_words.items);
    free((void *)bind_words.items);
    free((void *)const_words.items);
    free((void *)merge_words.items);
    return code;
}

static const option options[] = {
    { "input", "NAME=F.npy", WORD_FILE, &input_words,
      "the array of an input, by its name or position; just F.npy if there is one input", .many = true },
    BIND_OPTION,
    { "each", NULL, WORD_NONE, &each, "inputs hold many samples along their first dim" },
    { "merge", "C.json", WORD_FILE, &merge_words, "add the samples of another calibration", .many = true },
    { "products", NULL, WORD_NONE, &products, "count only the values that convolutions and matrix products read" },
    { "channels", NULL, WORD_NONE, &channels, "count the range of each channel, an element of the last dim, too" },
    { "max-work", "N", WORD_TEXT, &work_args.max_work, "stop before the op that would exceed N steps, for each sample" },
    { "max-memory", "N", WORD_TEXT, &work_args.max_memory,
      "the most bytes that inputs, values and kernels may take at one moment (no limit)" },
    THREADS_OPTION("compute"),
    PARAMS_OPTION, LAZY_OPTION, FROM_OPTION, AS_CALLS_OPTION,
    { 0 },
};

const command calibrate_command = {
    .name = "calibrate", .operands = "NET C.json", .is = WORD_FILE,
    .doc = "measures on samples which numbers the values of a network take",
    .details = "The network is run on the samples, and the numbers of each floating-point value are counted in bins. "
               "The file C.json is for the passes calibrate and quantize, which find values by their names: "
               "calibrate the network that they are given, after other passes. With --merge alone, files of several "
               "runs become one. A network of another framework's operations is converted first (to-xir). See "
               "docs/quantize.md.",
    .faulty = "the network is invalid or cannot be computed, a number is NaN or infinite, or a calibration is not sound",
    .examples = (const example[]){
        { "xir opt digits.onnx digits.fb", "Make the network that is quantised later." },
        { "xir calibrate digits.fb c.json --each --input image=digits_inputs.npy",
          "Count which numbers its values take." },
        { NULL, NULL },
    },
    .related = "opt run",
    .options = options, .least = 2, .most = 2, .run = calibrate,
};

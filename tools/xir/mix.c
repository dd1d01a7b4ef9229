/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir mix: which ops need more bits than the others, as a CSV for the pass quantize. The library chooses them
 * (xir/mix.h). */
#include <stdlib.h>
#include <string.h>
#include "run.h"

static bool        each;
static const char *quantize_word, *below_word, *budget_word, *least_word;

/* ---- the line --------------------------------------------------------------------------------------------- */

static int read_part(const char *which, const char *word, double most, double *out) {
    char *end;
    if (!word) return DONE;
    *out = strtod(word, &end);
    if (end != word && !*end && *out > 0 && *out <= most) return DONE;
    return most <= 1 ? complain(MISUSED, "--%s takes a number above 0, at most 1, not '%s'", which, word)
                     : complain(MISUSED, "--%s takes a positive number of dB, not '%s'", which, word);
}

static int read_line(xir_mix_options *how) {
    int code = read_part("below", below_word, 1, &how->below);
    if (!code) code = read_part("budget", budget_word, 1, &how->budget);
    if (!code) code = read_part("least", least_word, 1e6, &how->least_snr);
    how->quantize = quantize_word;
    if (!code && (check_binds() || check_inputs() || max_work_of_line(&how->max_work) ||
                  max_memory_of_line(&how->max_memory) || threads_of_line(&how->threads))) code = MISUSED;
    if (!code && !input_words.n) code = complain(MISUSED, "a choice needs samples: --input NAME=F.npy");
    return code;
}

/* ---- samples ---------------------------------------------------------------------------------------------- */

typedef struct mixing { xir_mix *m; size_t n_in; } mixing;

static xir_status add_part(void *user, size_t i, size_t parts, const xir_array *const *in, xir_diags *why) {
    const mixing *s = user;
    (void)i;
    (void)parts;
    return xir_mix_add(s->m, in, s->n_in, why);
}

static int read_inputs(loaded *l, ports *in, xir_diags *why) {
    run_args.each = each;
    int code = bind_network(l->net, why);
    if (!code) code = inputs_take_defaults(l->net);
    if (code) return code;
    ports_make(in, xir_network_inputs(l->net, NULL, 0));
    xir_network_inputs(l->net, in->values, in->n);
    code = inputs_read(l->net, in, why);
    if (!code) code = inputs_type(in, why);
    return code ? code : inputs_convert(l->net, in, why);
}

static int add_samples(xir_mix *m, const ports *in, xir_diags *why) {
    const xir_array *const *arrays = (const xir_array *const *)in->arrays;
    mixing s = { m, in->n };
    return exit_of_run(each ? each_part(in->values, arrays, in->n, add_part, &s, why)
                            : add_part(&s, 0, 1, arrays, why));
}

/* ---- what it chose ---------------------------------------------------------------------------------------- */

typedef struct filling { const xir_mix *m; xir_diags *why; } filling;

static bool put(void *user, const void *data, size_t size) { return fwrite(data, 1, size, user) == size; }

static int fill(const void *user, FILE *file) {
    const filling *f = user;
    return exit_of_writing(xir_mix_write(f->m, put, file, f->why));
}

static void print_ops(const xir_mix *m) {
    xir_mix_op item = XIR_INIT(xir_mix_op);
    for (size_t i = 0; i < xir_mix_count(m); i++) {
        if (!xir_mix_at(m, i, &item) || !item.chosen) continue;
        const xir_str name = xir_op_name(item.op);
        if (item.bits) printf("%2u bits ", item.bits);
        else printf("float   ");
        printf(" cosine %.6f  %3u values  ", item.cosine, item.values);
        if (name.size) printf("%.*s\n", (int)name.size, name.data);
        else printf("%lld\n", (long long)xir_op_id(item.op));
    }
}

static int report(const xir_mix *m, xir_diags *why) {
    xir_mix_state s = XIR_INIT(xir_mix_state);
    if (xir_mix_state_of(m, &s, why)) return code_of(why);
    print_ops(m);
    printf("%llu of %llu values have more bits or are floats: cosine %.6f, %.1f dB; without them %.6f, %.1f dB\n",
           (unsigned long long)s.raised, (unsigned long long)s.stored, s.cosine, s.snr, s.plain_cosine, s.plain_snr);
    return s.good ? DONE : complain(FAULTY, "the results are not good enough within the budget");
}

static int choose(loaded *l, const xir_mix_options *how, const char *out, xir_diags *why) {
    ports in = { 0 };
    int code = read_inputs(l, &in, why);
    progress_begin("mixing", l->name);
    xir_mix *m = code ? NULL : xir_mix_new(l->net, how, why);
    if (!code && !m) code = code_of(why);
    if (!code) code = add_samples(m, &in, why);
    if (!code) code = exit_of_run(xir_mix_choose(m, why));
    progress_end();
    if (!code) code = write_whole(out, fill, &(filling){ m, why });
    if (!code) code = report(m, why);
    xir_mix_free(m);
    ports_free(&in);
    return code;
}

static int mix(int n, char **operands) {
    (void)n;
    xir_mix_options how = XIR_INIT(xir_mix_options);
    if (read_line(&how)) return MISUSED;
    loaded l = { 0 };
    xir_diags *why = new_diags();
    int code = load(&l, operands[0], 0);
    if (!code) code = choose(&l, &how, operands[1], why);
    say(why);
    xir_diags_free(why);
    unload(&l);
    free((void *)input_words.items);
    free((void *)bind_words.items);
    free((void *)const_words.items);
    return code;
}

static const option options[] = {
    { "input", "NAME=F.npy", WORD_FILE, &input_words,
      "the array of an input, by its name or position; just F.npy if there is one input", .many = true },
    BIND_OPTION,
    { "each", NULL, WORD_NONE, &each, "inputs hold many samples along their first dim" },
    { "quantize", "OPTIONS", WORD_TEXT, &quantize_word,
      "options of the pass quantize, as a pipeline has them: scheme=buyi,calibration=c.json" },
    { "below", "X", WORD_TEXT, &below_word, "results are not good enough with a cosine below X (0.97)" },
    { "least", "DB", WORD_TEXT, &least_word, "nor with less than DB dB" },
    { "budget", "X", WORD_TEXT, &budget_word, "the part of the values that may have more bits, or be floats (0.25)" },
    { "max-work", "N", WORD_TEXT, &work_args.max_work, "stop before the op that would exceed N steps, for each run" },
    { "max-memory", "N", WORD_TEXT, &work_args.max_memory,
      "the most bytes that inputs, values and kernels of a run may take at one moment (no limit)" },
    THREADS_OPTION("compute"),
    PARAMS_OPTION, LAZY_OPTION, FROM_OPTION, AS_CALLS_OPTION,
    { 0 },
};

const command mix_command = {
    .name = "mix", .operands = "NET F.csv", .is = WORD_FILE,
    .doc = "chooses the ops that need more bits, for the pass quantize",
    .details = "The network is quantised with the fewest bits, and each op is measured by itself on the samples. The "
               "worst ops by cosine get 16 bits, then floats, until the results of the network are good enough. Prints "
               "what it chose, and writes a CSV for the option precision of the pass. Take other samples than those "
               "of the calibration. A network of another framework's operations is converted first (to-xir). See "
               "docs/quantize.md.",
    .faulty = "the network cannot be computed or quantised, or no choice is good enough: then the CSV has the best one",
    .examples = (const example[]){
        { "xir opt digits.onnx digits.fb", "Make the network that is quantised later." },
        { "xir calibrate digits.fb c.json --each --input image=digits_inputs.npy",
          "Count which numbers its values take." },
        { "xir mix digits.fb f.csv --each --input image=digits_inputs.npy --quantize scheme=zhuge,calibration=c.json "
          "--least 40", "Choose the ops whose results get more bits." },
        { NULL, NULL },
    },
    .related = "calibrate compare",
    .options = options, .least = 2, .most = 2, .run = mix,
};

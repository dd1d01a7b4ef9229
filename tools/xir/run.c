/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir run: computes what a network computes, over arrays in .npy files or random ones (run_inputs.c), and compares the
 * results with others (run_outputs.c). */
#include <stdlib.h>
#include "run.h"

run_options        run_args;
static const char *tolerance_word, *seed_word;
static bool        as_json, memory, arena;

void ports_make(ports *p, size_t n) {
    p->n = n;
    p->values = take(n + 1, sizeof *p->values);
    p->arrays = take(n + 1, sizeof *p->arrays);
    p->types = take(n + 1, sizeof *p->types);
}

void ports_free(ports *p) {
    for (size_t i = 0; i < p->n; i++) xir_array_free(p->arrays[i]);
    free(p->arrays);
    free((void *)p->types);
    free(p->values);
}

int exit_of_run(xir_status status) { return status == XIR_E_UNSUPPORTED ? FAULTY : exit_of(status); }

/* ---- memory ----------------------------------------------------------------------------------------- */

/* The op after which the most bytes existed; NULL if nothing was computed. */
typedef struct peak { uint64_t bytes, held; const xir_op *op; } peak;
static peak most;

static void note_memory(void *user, const xir_op *op, const xir_run_memory *now) {
    (void)user;
    if (now->held > most.held) most.held = now->held;
    if (now->bytes <= most.bytes && most.op) return;
    most.bytes = now->bytes;
    most.op = op;
}

static void report_memory(json_out *j) {
    const xir_str key = xir_class_key(xir_op_class(most.op)), name = xir_op_name(most.op);
    if (!j) {
        printf("memory: at most %llu bytes of values, at ", (unsigned long long)most.bytes);
        print_text(stdout, key);
        printf(" '");
        print_text(stdout, name);
        printf("'; %llu without what they share\n", (unsigned long long)most.held);
        return;
    }
    json_open(j, "memory", '{');
    json_uint(j, "bytes", most.bytes);
    json_uint(j, "held", most.held);
    json_str(j, "class", key);
    json_str(j, "name", name);
    json_close(j, '}');
}

/* ---- running ---------------------------------------------------------------------------------------- */

static int compute(loaded *l, ports *in, ports *out, uint64_t seed, xir_run_options *options, xir_diags *why) {
    int code = bind_network(l->net, why);
    if (!code) code = inputs_take_defaults(l->net);
    if (code) return code;
    ports_make(in, xir_network_inputs(l->net, NULL, 0));
    xir_network_inputs(l->net, in->values, in->n);
    code = inputs_read(l->net, in, why);
    if (!code) code = inputs_type(in, why);
    if (!code) code = inputs_convert(l->net, in, why);
    if (!code) code = inputs_draw(l->net, in, seed, options, why);
    if (code) return code;
    ports_make(out, xir_network_outputs(l->net, NULL, 0));
    xir_network_outputs(l->net, out->values, out->n);
    progress_begin("running", l->name);
    if (!run_args.each) options->cancel = progress_op;
    const xir_array *const *arrays = (const xir_array *const *)in->arrays;
    xir_status status = run_args.each
        ? run_each(l->net, in->values, arrays, in->n, out->arrays, out->n, options, why)
        : xir_network_run(l->net, arrays, in->n, out->arrays, out->n, options, why);
    progress_end();
    return exit_of_run(status);
}

/* A number of an option, all of it. */
static bool read_number(const char *which, const char *word, double *out) {
    char *end;
    if (!word) return true;
    *out = strtod(word, &end);
    if (end != word && !*end && *out >= 0) return true;
    complain(MISUSED, "--%s takes a number that is not below 0, not '%s'", which, word);
    return false;
}

/* Computes the outputs, writes and reports them. */
static int run_network(loaded *l, uint64_t seed, double tolerance, xir_run_options *options, json_out *j) {
    ports in = { 0 }, out = { 0 };
    xir_diags *why = new_diags();
    int code = compute(l, &in, &out, seed, options, why);
    if (code) most.op = NULL;
    if (!code) code = outputs_report(&out, tolerance, j, why);
    say(why);
    xir_diags_free(why);
    ports_free(&in);
    ports_free(&out);
    return code;
}

static int run(int n, char **operands) {
    (void)n;
    double tolerance = 1e-4, seed = 0;
    if (!read_number("tolerance", tolerance_word, &tolerance) || !read_number("seed", seed_word, &seed)) return MISUSED;
    if (seed >= 0x1p53 || seed != (double)(uint64_t)seed) {
        return complain(MISUSED, "--seed takes an integer below 2^53, not '%s'", seed_word);
    }
    xir_run_options options = XIR_INIT(xir_run_options);
    if (memory) options.memory = note_memory;
    options.arena = arena;
    if (check_binds() || check_inputs() || max_work_of_line(&options.max_work) ||
        max_memory_of_line(&options.max_memory) || threads_of_line(&options.threads)) return MISUSED;
    loaded l = { 0 };
    json_out j = { 0 };
    json_open(&j, NULL, '{');
    json_str(&j, "file", xir_str_of(shown_name(operands[0])));
    json_open(&j, "outputs", '[');
    int code = load(&l, operands[0], LOAD_MAPPED);
    if (!code) code = run_network(&l, (uint64_t)seed, tolerance, &options, as_json ? &j : NULL);
    json_close(&j, ']');
    if (most.op) report_memory(as_json ? &j : NULL);
    if (as_json) {
        code = json_findings(&j, code);
        json_close(&j, '}');
        json_print(&j);
    }
    text_free(&j.t);
    unload(&l);
    free((void *)input_words.items);
    free((void *)bind_words.items);
    free((void *)const_words.items);
    return code;
}

static const option options[] = {
    { "input", "NAME=F.npy", WORD_FILE, &input_words,
      "the array of an input, by its name or position, also a tensor F.t of TensorStack; just F.npy if there is one "
      "input; an input that the file gives a default may have one, too", .many = true },
    BIND_OPTION,
    { "each", NULL, WORD_NONE, &run_args.each, "inputs hold many along their first dim: run each, join the outputs" },
    { "seed", "N", WORD_TEXT, &seed_word, "without inputs: the seed of the random ones (0)" },
    { "output", "DIR", WORD_FOLDER, &run_args.out_dir, "write DIR/NAME.npy for each output" },
    { "compare", "DIR", WORD_FOLDER, &run_args.compare_dir, "compare each output with DIR/NAME.npy" },
    { "tolerance", "T", WORD_TEXT, &tolerance_word,
      "how far an element may be from the expected one: T + T * |expected| (1e-4)" },
    { "max-work", "N", WORD_TEXT, &work_args.max_work,
      "stop before the op that would exceed N steps: a step is a multiply-add, another element operation counts as "
      "ten, and so does a random number (no limit)" },
    { "max-memory", "N", WORD_TEXT, &work_args.max_memory,
      "the most bytes that inputs, values and kernels may take at one moment (no limit)" },
    THREADS_OPTION("compute"),
    { "arena", NULL, WORD_NONE, &arena,
      "compute in the memory that the network plans, in one block: a wrong plan gives wrong numbers" },
    { "memory", NULL, WORD_NONE, &memory, "print how many bytes the values take at most, and at which op" },
    { "json", NULL, WORD_NONE, &as_json, "print a JSON object" },
    PARAMS_OPTION, MAPPED_OPTIONS, FROM_OPTION, AS_CALLS_OPTION,
    { 0 },
};

const command run_command = {
    .name = "run", .operands = "NET", .is = WORD_FILE,
    .doc = "computes the outputs of a network",
    .details = "A line is printed for each output: its name, its type, with --compare the largest difference. In "
               "the name of a file / becomes _; an output without a name is output_N. Without --input the inputs "
               "are random: normal numbers, integers from 0 to 9, indices within their table, and dims that the "
               "network leaves open are 1, or what --bind says. A network of another framework's operations is "
               "converted first (to-xir). This is the reference executor: see docs/executor.md.",
    .faulty = "the network is invalid or cannot be computed, or an output differs",
    .examples = (const example[]){
        { "xir run digits.onnx --each --input image=digits_inputs.npy --output answers",
          "Run a network on many samples." },
        { "xir run digits.onnx --each --input image=digits_inputs.npy --compare answers",
          "Compare the outputs with those that were written." },
        { NULL, NULL },
    },
    .related = "compare calibrate",
    .options = options, .least = 1, .most = 1, .run = run,
};

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir opt --prove: the proof that the command line asks for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "opt.h"

prove_options prove_args;

static xir_proof_input *inputs;
static size_t           n_inputs;
static xir_proof_options options;
static text             spelled;   /* the options as a shell takes them, for a command that repeats a failure */

static void spell(const char *name, const char *argument) {
    text_printf(&spelled, " --%s '", name);
    for (; *argument; argument++) {
        if (*argument == '\'') text_put(&spelled, "'\\''");
        else text_add(&spelled, argument, 1);
    }
    text_put(&spelled, "'");
}

static int load_input(const xir_network *net, const char *word) {
    const char *file;
    const xir_str called = input_name(net, word, &file);
    xir_diags *why = new_diags();
    int code;
    xir_array *array = read_array(file, &code, why);
    if (array) {
        char *name = take(called.size + 1, 1);
        memcpy(name, called.data, called.size);
        inputs = resize(inputs, (n_inputs + 1) * sizeof *inputs);
        inputs[n_inputs++] = XIR_INIT(xir_proof_input, .name = name, .array = array);
        spell("input", word);
    }
    say(why);
    xir_diags_free(why);
    return code;
}

static int options_of_line(xir_proof_options *o) {
    char *end;
    o->each = prove_args.each;
    if (o->each) text_put(&spelled, " --each");
    if (prove_args.seed) {
        o->seed = strtoull(prove_args.seed, &end, 10);
        if (end == prove_args.seed || *end)
            return complain(MISUSED, "--seed takes a number, not '%s'", prove_args.seed);
        spell("seed", prove_args.seed);
    }
    if (prove_args.tolerance) {
        o->absolute = o->relative = strtod(prove_args.tolerance, &end);
        if (end == prove_args.tolerance || *end || !(o->absolute > 0) || isinf(o->absolute)) {
            return complain(MISUSED, "--tolerance takes a number above 0, not '%s'", prove_args.tolerance);
        }
        spell("tolerance", prove_args.tolerance);
    }
    return DONE;
}

/* A proof with the options of the line, and its watch. */
static int another_proof(xir_proof **out, xir_pass_watch *watch) {
    xir_diags *why = new_diags();
    *out = xir_proof_new(context, &options, why);
    int code = *out ? DONE : code_of(why);
    say(why);
    xir_diags_free(why);
    if (code) return code;
    *watch = XIR_INIT(xir_pass_watch);
    xir_proof_watch(*out, watch, NULL);
    watch->options = spelled.data;
    return DONE;
}

int proof_check_line(void) {
    options = XIR_INIT(xir_proof_options);
    if (!prove_args.prove) {
        if (!input_words.n && !prove_args.each && !prove_args.seed && !prove_args.tolerance && !work_args.max_memory)
            return DONE;
        return complain(MISUSED, "--input, --each, --seed, --tolerance and --max-memory need --prove");
    }
    text_put(&spelled, "--prove");
    int code = options_of_line(&options);
    if (!code) code = max_work_of_line(&options.max_work);
    if (!code) code = max_memory_of_line(&options.max_memory);
    if (!code) code = threads_of_line(&options.threads);
    return code ? code : check_inputs();
}

int proof_of_line(const xir_network *net, xir_proof **out, xir_pass_watch *watch) {
    int code = DONE;
    *out = NULL;
    if (!prove_args.prove) return DONE;
    for (size_t i = 0; !code && i < input_words.n; i++) code = load_input(net, input_words.items[i]);
    if (code) return code;
    options.inputs = inputs;
    options.n_inputs = n_inputs;
    return another_proof(out, watch);
}

int proof_filled(const xir_network *net, xir_network **copy, xir_proof **out, xir_pass_watch *watch) {
    *copy = NULL;
    *out = NULL;
    if (!prove_args.prove || !xir_network_weights_are_zero(net)) return DONE;
    xir_diags *why = new_diags();
    *copy = xir_network_clone(net);
    int code = *copy ? exit_of(xir_network_fill_weights(*copy, options.seed, why)) : no_memory();
    say(why);
    xir_diags_free(why);
    return code ? code : another_proof(out, watch);
}

int proof_end(const xir_proof *proof, bool filled, FILE *out) {
    xir_proof_state state = XIR_INIT(xir_proof_state);
    xir_proof_state_of(proof, &state, NULL);
    const xir_diags *obstacle = xir_proof_obstacle(proof);
    if (!state.networks) {
        complain(FAULTY, "nothing was proven: no network could be run%s", xir_diags_count(obstacle)
                 ? "; the last one:" : "");
        if (obstacle) say_and_keep(obstacle);
        return FAULTY;
    }
    if (!out) return DONE;
    if (filled) fprintf(out, "the weights are all zeros; with weights filled from seed %llu: ",
                        (unsigned long long)options.seed);
    if (state.outputs == 0) fprintf(out, "proven: no pass changed the network after it could be run");
    else fprintf(out, "proven: %zu networks compute the same, the largest difference of an output is %.3g",
                 state.networks, state.largest);
    const bool short_time = state.ns < 1000000000;
    for (size_t i = 0; i < state.n_dims; i++) {
        fprintf(out, "%s%.*s = %lld", i ? ", " : ", with ", (int)state.dims[i].name.size, state.dims[i].name.data,
                (long long)state.dims[i].least);
    }
    fprintf(out, " (%.*f %s: %zu ops computed, %zu reused)\n", short_time ? 1 : 2,
            (double)state.ns / (short_time ? 1e6 : 1e9), short_time ? "ms" : "s", state.computed, state.reused);
    return DONE;
}

static void put_state(json_out *j, const char *name, const xir_proof *proof, const xir_proof *filled) {
    xir_proof_state state = XIR_INIT(xir_proof_state);
    if (!proof || xir_proof_state_of(proof, &state, NULL)) {
        json_null(j, name);
        return;
    }
    json_open(j, name, '{');
    json_uint(j, "networks", state.networks);
    json_uint(j, "outputs", state.outputs);
    json_member(j, "largest");
    json_real(&j->t, state.largest);
    json_uint(j, "computed", state.computed);
    json_uint(j, "reused", state.reused);
    json_uint(j, "ns", state.ns);
    if (filled) put_state(j, "filled", filled, NULL);
    json_close(j, '}');
}

void put_proof(json_out *j, const xir_proof *proof, const xir_proof *filled) {
    put_state(j, "proof", proof, filled);
}

void proof_free(xir_proof *proof) {
    xir_proof_free(proof);
    for (size_t i = 0; i < n_inputs; i++) {
        free((void *)(uintptr_t)inputs[i].name);
        xir_array_free((xir_array *)(uintptr_t)inputs[i].array);
    }
    free(inputs);
    inputs = NULL;
    n_inputs = 0;
    text_free(&spelled);
    free((void *)input_words.items);
}

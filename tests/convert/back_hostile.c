/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks of random ops of XIR, with random inputs and attributes, as in a hostile file, go to each format that has a
 * way back, and come from it again: types of any elements, quantised and distributed ones, open dims, numbers of 64
 * bits. Whatever is converted leaves a valid network valid; what is written can be read, and becomes ops of XIR
 * again. */
#include <math.h>
#include <stdio.h>
#include <xir/pass.h>
#include <xir/prove.h>
#include <xir/region.h>
#include <xir/serialize.h>
#include "support/hostile.h"
#include "support/often.h"
#include "support/scratch.h"
#include "support/story.h"
#include "elements.h"

enum { TRIALS = OFTEN(2000), PROOFS = OFTEN(1000), OPS = 6, MOST_OPS = 400, MOST_INPUTS = 12 };

typedef struct way {
    const char *format, *there, *settings[6];
    bool        closed;         /* no dim is open, and results have dims: DeepX has no others */
    bool        tame_params;    /* where the same is computed, Params have small numbers, too */
    bool        half_tame;      /* each second network has inputs of small dims: NNB takes nearly none of the others */
} way;
static size_t n_added, n_valid, n_refused, n_whole, n_written, n_read, n_proven, n_wrong, n_extreme;

static bool is_one_of(const xir_class *cls, const char *const *keys, size_t n);

/* Operations that no format has: those whose computation is not public, those on stored integers, and calls, whose ops
 * must be back in the network first. */
static const char *const kept[] = { "icraft::xir::Region",       "icraft::xir::Reorg",     "icraft::xir::Route",
                                    "icraft::xir::Yolo",         "icraft::xir::MultiYolo", "icraft::xir::SSDOutput",
                                    "icraft::xir::InnerProduct", "xir::Quantize",          "xir::BitCast",
                                    "xir::Call" };

static size_t all_ops(const xir_class **out) {
    size_t n = 0;
    for (size_t i = 0; xir_context_class_at(ctx, i); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        if (!xir_class_is_op(cls) || xir_class_traits(cls) & (XIR_TRAIT_SOURCE | XIR_TRAIT_ABSTRACT) || cls->opaque)
            continue;
        if (is_one_of(cls, kept, COUNT(kept))) continue;
        assert_true(n < MOST_OPS);
        out[n++] = cls;
    }
    return n;
}

/* An op of random inputs; NULL if it is refused. */
static xir_op *add_op(pool *p, const xir_class *cls, xir_op **made, size_t n_made) {
    xir_value *inputs[MOST_INPUTS];
    bool sound = true;
    size_t n = cls->more->least_inputs;
    if (cls->many_inputs) n += chance(4);
    else if (cls->more->n_inputs > n) n += chance(cls->more->n_inputs - n + 1);
    for (size_t i = 0; i < n && i < MOST_INPUTS; i++) {
        do sound = true, inputs[i] = pool_value(p, &sound);
        while (!sound);
        if (n_made && once_in(2)) inputs[i] = xir_op_output(made[chance(n_made)], 0);
    }
    void *body = pool_body(p, cls, once_in(8));
    if (!p->body_sound) return NULL;
    const xir_op_desc d = XIR_INIT(xir_op_desc, .cls = cls, .attrs = body, .inputs = inputs,
                                   .n_inputs = n < MOST_INPUTS ? n : MOST_INPUTS, .id = XIR_NO_ID);
    xir_op *op = xir_network_add(p->net, &d);
    xir_network_clear_status(p->net);
    n_added += op != NULL;
    return op && xir_op_output_count(op) ? op : NULL;
}

static bool has(const xir_network *net, bool foreign) {
    const xir_op *op = xir_network_first(net);
    while (op && (xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class()) ||
                  xir_class_is_dialect(xir_op_class(op)) != foreign)) op = xir_op_next(op);
    return op;
}

static bool goes_on(void *user, const void *data, size_t size) {
    (void)user, (void)data, (void)size;
    return true;
}

/* Returns true if the network is only valid as long as nobody computes its constants: a conversion does. */
static bool is_wrong(xir_network *net) {
    const bool wrong = xir_pass_run(net, "fold", NULL, NULL, why) || xir_network_validate(net, why);
    xir_diags_clear(why);
    return wrong;
}

static void there_and_back(xir_network *net, const way *w) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = w->format, .unchecked = true);
    const char *settings = w->settings[chance(COUNT(w->settings))];
    xir_diags_clear(why);
    if (xir_network_validate(net, why)) return;   /* readers refuse it */
    n_valid++;
    xir_network *before = xir_network_clone(net);
    const xir_status made = xir_pass_run(net, w->there, settings, NULL, why);
    const bool whole = !has(net, false);
    assert_true(made ? xir_diags_count_of(why, XIR_ERROR) > 0 : whole || xir_diags_count(why) > 0);
    n_refused += made != XIR_OK;
    xir_diags_clear(why);
    if (!made && xir_network_validate(net, why) && !is_wrong(before)) {
        xir_network_validate(net, why);
        xir_diags_print(why, stderr);
        fail_msg("a network is not valid any more after %s{%s}", w->there, settings);
    }
    xir_network_free(before);
    if (made) return;
    n_whole += whole;
    xir_diags_clear(why);
    const xir_status status = xir_network_write(net, goes_on, NULL, &options, why);
    assert_true(!status || xir_diags_count(why) > 0);
    n_written += !status;
    xir_diags_clear(why);
    const xir_status again = xir_pass_run(net, "to-xir", NULL, NULL, why);
    assert_true(again == XIR_OK || xir_diags_count(why) > 0);
    xir_diags_clear(why);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static bool is_exact(const xir_type *element) {
    return xir_type_equal(element, xir_type_float(ctx, XIR_FLOAT_FP32)) ||
           xir_type_equal(element, xir_type_float(ctx, XIR_FLOAT_FP64));
}

/* Inputs of small dims, and, if wanted, Params of small numbers. Then other reals, which every op rounds more, are not
 * chosen. */
static void tame(pool *p, bool with_params) {
    enum { MOST = 4096 };
    static double  numbers[MOST];
    static uint8_t bytes[8 * MOST];
    const xir_type *types[] = { FP32("**", 2, 3),          FP32("**", 3, 3),          FP32("*", 3),
                                FP32("NHWC", 1, 4, 4, 2), FP32("NCHW", 1, 2, 4, 4), FP32("***", 2, 3, 4) };
    const xir_type *usual = types[chance(COUNT(types))];
    for (size_t k = 0; k < MOST; k++) numbers[k] = (double)chance(4001) / 1000 - 2;
    for (size_t k = 0; k < POOL_VALUES; k++) {
        const xir_type *type = once_in(2) ? usual : types[chance(COUNT(types))];
        assert_int_equal(xir_value_set_type(p->values[k], type), XIR_OK);
    }
    for (size_t k = 0; k < POOL_PARAMS; k++) {
        const xir_type *type = xir_value_type(p->params[k]), *element = xir_type_element(type);
        int64_t n;
        /* TF32 does not have the numbers that random bits are. */
        if (!with_params && !xir_type_equal(element, xir_type_float(ctx, XIR_FLOAT_TF32))) continue;
        if (xir_type_kind_of(element) != XIR_TYPE_FLOAT && !xir_type_is_quantized(element)) continue;
        if (!is_exact(element) || xir_type_elements(type, &n) || n > MOST)
            p->params[k] = xir_params_new(p->net, XIR_STR("p"), type = usual);
        element = xir_type_element(type);
        assert_int_equal(xir_type_elements(type, &n), XIR_OK);
        assert_true(elements_of_reals(element, numbers, (size_t)n, bytes));
        (void)xir_params_set_copy(p->params[k], bytes, (uint64_t)n * xir_type_storage_bits(element) / 8);
    }
}

static bool is_one_of(const xir_class *cls, const char *const *keys, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (xir_str_equal(xir_class_key(cls), xir_str_of(keys[i]))) return true;
    return false;
}

/* Returns true if a quotient depends on the sign of 0, which rounding does not keep in formats without it. */
static bool divides_by_rounded(const xir_network *net) {
    static const char *const rounding[] = { "xir::Round", "xir::Ceil", "xir::Floor", "icraft::xir::Div" };
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_value *by = is_one_of(xir_op_class(op), &rounding[3], 1) ? xir_op_input(op, 1) : NULL;
        const xir_op *from = by && !xir_value_is_params(by) ? xir_value_op(by) : NULL;
        if (from && is_one_of(xir_op_class(from), rounding, COUNT(rounding))) return true;
    }
    return false;
}

/* Returns true if inputs or results are quantised: a format may have the integers that they store. */
static bool has_quantised_ends(const xir_network *net) {
    const xir_op *in = xir_network_input_op(net), *out = xir_network_output_op(net);
    bool any = false;
    for (size_t i = 0; in && i < xir_op_output_count(in); i++)
        any |= xir_type_is_quantized(xir_type_element(xir_value_type(xir_op_output(in, (int64_t)i))));
    for (size_t i = 0; out && i < xir_op_input_count(out); i++)
        any |= xir_type_is_quantized(xir_type_element(xir_value_type(xir_op_input(out, (int64_t)i))));
    return any;
}

/* Inputs without types, as those of DeepX, get those of the network that was written. */
static void give_types(xir_network *read, const xir_network *net) {
    const xir_op *from = xir_network_input_op(net), *to = xir_network_input_op(read);
    for (size_t i = 0; from && to && i < xir_op_output_count(to); i++) {
        xir_value *v = xir_op_output(to, (int64_t)i);
        for (size_t k = 0; k < xir_op_output_count(from) && !xir_type_as_tensor(xir_value_type(v)); k++) {
            const xir_value *w = xir_op_output(from, (int64_t)k);
            if (xir_str_equal(xir_value_name(v), xir_value_name(w))) DOES(xir_value_set_type(v, xir_value_type(w)));
        }
    }
}

/* The network that a file of this one is read as; NULL: the format cannot hold it. */
static xir_network *from_a_file(xir_network *net, const char *format) {
    char path[PATH_MAX];
    unlink(scratch("n.bin"));   /* of another network; one whose weights have no bytes has none */
    snprintf(path, sizeof path, "%s", scratch(strcmp(format, "pnnx") == 0 ? "n.param" : "n.net"));
    const xir_save_options options = XIR_INIT(xir_save_options, .format = format, .unchecked = true);
    if (xir_network_save(net, path, &options, why)) {
        assert_true(xir_diags_count_of(why, XIR_ERROR) > 0);
        xir_diags_clear(why);
        return NULL;
    }
    const bool noted = xir_diags_count(why);
    xir_diags_clear(why);
    xir_network *read = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .format = format), why);
    if (!read) xir_diags_print(why, stderr);
    assert_non_null(read);
    xir_diags_clear(why);
    give_types(read, net);
    if (xir_network_inputs(read, NULL, 0) == xir_network_inputs(net, NULL, 0)) return read;
    assert_true(noted);   /* an input that nothing uses, of DeepX */
    xir_network_free(read);
    return NULL;
}

/* The same numbers for a network and for what it becomes. */
typedef struct sample {
    xir_array      *inputs[POOL_VALUES], *outputs[OPS * MOST_INPUTS];
    xir_proof_input given[POOL_VALUES];
    char            names[POOL_VALUES][8];
    size_t          n, n_outputs;
} sample;

static void sample_free(sample *s) {
    for (size_t i = 0; i < s->n; i++) xir_array_free(s->inputs[i]);
    for (size_t i = 0; i < s->n_outputs; i++) xir_array_free(s->outputs[i]);
}

/* Runs a network with random inputs; false if it cannot be run. */
static bool sample_run(sample *s, const xir_network *net, uint64_t seed) {
    const xir_run_options options = XIR_INIT(xir_run_options, .max_work = 1 << 24);
    xir_numbers range[POOL_VALUES];
    xir_value *v[POOL_VALUES];
    s->n = xir_network_inputs(net, v, POOL_VALUES);
    s->n_outputs = 0;
    for (size_t i = 0; i < s->n; i++) range[i] = XIR_INIT(xir_numbers);
    DOES(xir_network_input_numbers(net, range, s->n, why));
    for (size_t i = 0; i < s->n; i++) {
        s->inputs[i] = xir_array_random_in(ctx, xir_value_type(v[i]), seed + i, &range[i], why);
        assert_non_null(s->inputs[i]);
        snprintf(s->names[i], sizeof s->names[i], "%u", (unsigned)i);
        s->given[i] = XIR_INIT(xir_proof_input, .name = s->names[i], .array = s->inputs[i]);
    }
    const size_t n_outputs = xir_network_outputs(net, NULL, 0);
    assert_true(n_outputs <= COUNT(s->outputs));
    if (xir_network_run(net, (const xir_array *const *)s->inputs, s->n, s->outputs, n_outputs, &options, why))
        return false;
    s->n_outputs = n_outputs;
    return true;
}

static bool has_usual_numbers(const xir_array *array) {
    for (size_t k = 0; k < xir_array_count(array); k++) {
        const double v = fabs(xir_array_real(array, k));
        if (!(v == 0 || (v > 1e-15 && v < 1e15))) return false;
    }
    return true;
}

/* Returns true if no number is infinite, NaN, or so large or small that its square is out of the range of a float. */
static bool is_usual(const sample *s, const xir_network *net) {
    bool usual = true;
    for (size_t i = 0; i < s->n_outputs && usual; i++) usual = has_usual_numbers(s->outputs[i]);
    xir_value *constants[POOL_PARAMS];
    const size_t n = xir_network_params(net, constants, POOL_PARAMS);
    for (size_t i = 0; i < n && usual; i++) {
        xir_array *array = xir_array_from_params(constants[i], why);
        usual = array && has_usual_numbers(array);
        xir_array_free(array);
    }
    xir_diags_clear(why);
    return usual;
}

/* A network that is converted whole computes the same, and so does its file. (Of others, the types are half those of a
 * file.) */
static void keeps_its_numbers(xir_network *net, const way *w, const char *settings, size_t trial) {
    sample s;
    xir_diags_clear(why);
    if (xir_network_validate(net, why)) return;
    const bool runs = sample_run(&s, net, trial), usual = runs && is_usual(&s, net);
    const xir_proof_options options = XIR_INIT(xir_proof_options, .inputs = s.given, .n_inputs = s.n);
    xir_proof *proof = xir_proof_new(ctx, &options, why);
    if (runs && !xir_proof_check(proof, net, why)) {
        char *before = story_text(net);
        const bool extreme = divides_by_rounded(net) || has_quantised_ends(net);
        const bool made = !xir_pass_run(net, w->there, settings, NULL, why);   /* an integer may have too many bits */
        if (!made && xir_diags_count_of(why, XIR_ERROR) != 1) {
            xir_diags_print(why, stderr);
            fail_msg("%zu: %s", trial, before);
        }
        const bool whole = made && !has(net, false);
        xir_diags_clear(why);
        xir_network *read = whole ? from_a_file(net, w->format) : NULL;
        if (whole && !extreme && (xir_proof_check(proof, net, why) || (read && xir_proof_check(proof, read, why)))) {
            if (usual || getenv("XIR_TEST_TALK")) {
                fprintf(stderr, "%zu: %s\n", trial, before);
                xir_diags_print(why, stderr);
            }
            *(usual ? &n_wrong : &n_extreme) += 1;
        }
        n_proven++;
        n_whole += whole;
        n_read += read != NULL;
        xir_network_free(read);
        free(before);
    }
    xir_proof_free(proof);
    sample_free(&s);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* A network of at most OPS ops, often of few, so that some are converted whole; NULL: it is refused. */
static xir_network *random_network(pool *p, const xir_class *const *classes, size_t n, bool closed) {
    xir_op *made[OPS];
    xir_value *results[OPS];
    const size_t most = 1 + chance(OPS);
    size_t n_made = 0;
    for (size_t k = 0; k < 4 * OPS && n_made < most; k++) {
        xir_op *op = add_op(p, classes[chance(n)], made, n_made);
        if (op) results[n_made] = xir_op_output(op, 0), made[n_made++] = op;
    }
    xir_diags_clear(why);
    for (size_t k = 0; k < n_made && closed; k++)
        if (!xir_type_rank(xir_value_type(results[k])))
            results[k] = xir_build_reshape(xir_at_end(p->net), results[k], "*", (int64_t[]){ 1 }, 1, NULL);
    const xir_op *end = xir_output(xir_at_end(p->net), (xir_values){ results, n_made });
    xir_network_clear_status(p->net);
    return end ? p->net : NULL;
}

static void go(const way *w) {
    const xir_class *classes[MOST_OPS];
    const size_t n = all_ops(classes);
    const xir_type *plain = FP32("**", 2, 3);
    n_added = n_valid = n_refused = n_whole = n_written = 0;
    for (size_t i = 0; i < TRIALS; i++) {
        pool p;
        pool_begin(&p);
        for (size_t k = 0; k < POOL_VALUES; k++)
            if (!p.sound[k] || (w->closed && xir_type_has_unknown_dim(xir_value_type(p.values[k]))))
                (void)xir_value_set_type(p.values[k], plain);
        if (w->half_tame && i % 2) tame(&p, false);
        if (random_network(&p, classes, n, w->closed)) there_and_back(p.net, w);
        pool_end(&p);
    }
    printf("%s: %d networks of %zu ops, %zu of them valid, %zu refused; %zu are converted whole, %zu are written\n",
           w->format, (int)TRIALS, n_added, n_valid, n_refused, n_whole, n_written);
    assert_true(n_valid > TRIALS / 20 && n_whole > 0);
}

static void to_pnnx(void **state) {
    (void)state;
    go(&(way){ "pnnx", "xir-to-pnnx", { "", "", "", "" } });
}

static const way nnb = {
    "nnb", "xir-to-nnb",
    { "", "runtime=false", "runtime=false,weights=FIXED8", "api=1,version=2,weights=SIGN" }, .half_tame = true,
};

static void to_nnb(void **state) {
    (void)state;
    go(&nnb);
}

static void to_tsm(void **state) {
    (void)state;
    go(&(way){ "tsm", "xir-to-tsm", { "", "", "", "" } });
}

static const way deepx = {
    "deepx", "xir-to-deepx", { "windows=false", "delete=true", "", "author=cublas" }, .closed = true,
    .tame_params = true,
};

static void to_deepx(void **state) {
    (void)state;
    go(&deepx);
}

static const way onnx = {
    "onnx", "xir-to-onnx", { "", "opset=21", "opset=11", "opset=17", "custom", "opset=21,custom" }, .tame_params = true,
};

static void to_onnx(void **state) {
    (void)state;
    go(&onnx);
}

/* Networks of moderate numbers, without the classes of these keys, whose extremes differ in the format. */
static void compute_the_same(const way *w, const char *const *extremes, size_t n_extremes) {
    const xir_class *all[MOST_OPS], *classes[MOST_OPS];
    const size_t n_all = all_ops(all);
    size_t n = 0;
    for (size_t i = 0; i < n_all; i++)
        if (!is_one_of(all[i], extremes, n_extremes)) classes[n++] = all[i];
    assert_int_equal(n, n_all - n_extremes);
    const char *count = getenv("XIR_NETWORKS"), *only = getenv("XIR_NETWORK");   /* how many, and one for debugging */
    const size_t proofs = count ? strtoul(count, NULL, 10) : PROOFS;
    n_proven = n_wrong = n_extreme = n_whole = n_read = 0;
    for (size_t i = only ? strtoul(only, NULL, 10) : 0; i < proofs; i++) {
        pool p;
        chance_begin(i);
        pool_begin(&p);
        tame(&p, w->tame_params);
        xir_network *whole = random_network(&p, classes, n, w->closed);
        xir_network *net = whole ? xir_extract(whole, NULL, 0, NULL, 0, why) : NULL;   /* all of its inputs are used */
        const char *settings = net ? w->settings[once_in(2) ? 0 : 1] : NULL;
        if (net) keeps_its_numbers(net, w, settings, i);
        xir_network_free(net);
        pool_end(&p);
        if (only) return;
    }
    printf("%s: %zu networks, %zu of them run, %zu converted whole, %zu read from files; %zu with infinite, very large or "
           "very small numbers differ\n", w->format, proofs, n_proven, n_whole, n_read, n_extreme);
    assert_true(n_proven > proofs / 3 && n_whole > n_proven / 10 && n_read > n_whole / 2);
    /* About one network in ten thousand compares or rounds numbers that differ in their last bits. */
    assert_true(n_wrong <= proofs / 5000);
}

static void pnnx_computes_the_same(void **state) {
    (void)state;
    compute_the_same(&(way){ "pnnx", "xir-to-pnnx", { "", "", "", "" } }, NULL, 0);
}

/* Extremes: Sqrt of -infinity, 1 / -0 after Round, Softshrink of NaN, infinite powers, which comparisons do not
 * take. */
static void nnb_computes_the_same(void **state) {
    (void)state;
    static const char *const extremes[] = { "icraft::xir::Sqrt", "xir::Reciprocal", "icraft::xir::Softshrink",
                                            "icraft::xir::Pow" };
    compute_the_same(&(way){ "nnb", "xir-to-nnb", { "", "runtime=false" } }, extremes, COUNT(extremes));
}

static void tsm_computes_the_same(void **state) {
    (void)state;
    static const char *const extremes[] = { "icraft::xir::Softshrink" };   /* of NaN */
    compute_the_same(&(way){ "tsm", "xir-to-tsm", { "", "", "", "" } }, extremes, COUNT(extremes));
}

static void deepx_computes_the_same(void **state) {
    (void)state;
    static const char *const extremes[] = {
        "icraft::xir::DivideScalar", "xir::Reciprocal",   /* the sign of 0, and what is rounded next */
        "xir::CumSum",                                    /* 0 times infinity                        */
        "icraft::xir::Normalize",                         /* powers of very small numbers            */
        "icraft::xir::Tanhshrink",                        /* x - tanh(x) near 0                      */
        "icraft::xir::Softshrink",                        /* of NaN                                  */
        "icraft::xir::ATanh",                             /* next to a pole                          */
        "icraft::xir::LogSigmoid",                        /* its parts in 16 bits                    */
        "icraft::xir::Sin", "icraft::xir::Cos", "icraft::xir::Tan",   /* of very large numbers       */
    };
    compute_the_same(&(way){ "deepx", "xir-to-deepx", { "windows=false", "delete=true" }, .closed = true,
                             .tame_params = true }, extremes, COUNT(extremes));
}

static void onnx_computes_the_same(void **state) {
    (void)state;
    static const char *const extremes[] = {
        "icraft::xir::Normalize",                     /* powers of very small numbers           */
        "icraft::xir::Softplus",                      /* products with very large numbers       */
        "icraft::xir::Tanhshrink",                    /* x - tanh(x) near 0                     */
        "icraft::xir::ATanh",                         /* next to a pole                         */
        "icraft::xir::Unfold",                        /* padding that is a Pad of its own there */
    };
    compute_the_same(&onnx, extremes, COUNT(extremes));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_pnnx),
        cmocka_unit_test(pnnx_computes_the_same),
        cmocka_unit_test(to_nnb),
        cmocka_unit_test(nnb_computes_the_same),
        cmocka_unit_test(to_tsm),
        cmocka_unit_test(tsm_computes_the_same),
        cmocka_unit_test(to_deepx),
        cmocka_unit_test(deepx_computes_the_same),
        cmocka_unit_test(to_onnx),
        cmocka_unit_test(onnx_computes_the_same),
    };
    scratch_make();
    return RUN_GROUP(tests);
}

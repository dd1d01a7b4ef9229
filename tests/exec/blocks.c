/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tensors of several blocks against definitions: every element of a function of numbers is what the op gives for that
 * element alone, in a tensor of one; sums, norms, pools and moves are those of plain loops, bit by bit. Each is
 * computed with 1, 2 and 7 threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include "support/again.h"
#include "support/net.h"
#include "support/story.h"

enum { MOST_INPUTS = 3, MOST_RANK = 5 };

/* ---- tensors ---------------------------------------------------------------------------------------------------- */

/* Numbers that are often special: zeros of both signs, infinities, NaN, and numbers that are nearly zero. */
static xir_array *some_array(const xir_type *type, bool special) {
    xir_array *array = xir_array_random(ctx, type, chance(1 << 20), why);
    assert_non_null(array);
    size_t size = 0;
    unsigned char *bytes = xir_array_edit(array);
    (void)xir_array_data(array, &size);
    const size_t n = xir_array_count(array), width = n ? size / n : 0;
    const bool real = xir_kernel_is_real(type), bits = xir_type_kind_of(xir_type_element(type)) != XIR_TYPE_BOOL;
    for (size_t i = 0; special && width && i < n; i++) {
        unsigned char *at = bytes + i * width;
        if (real && chance(8) == 0) {
            const unsigned char top = width == 8 ? 0xF0 : width == 4 ? 0x80 : 0x7C;
            memset(at, 0, width);
            switch (chance(5)) {
            case 0: break;
            case 1: at[width - 1] = 0x7F, at[width - 2] = top; break;                        /* infinity in most */
            case 2: at[width - 1] = 0x7F, at[width - 2] = 0xFC; break;                       /* NaN              */
            case 3: at[0] = (unsigned char)chance(256); break;                               /* nearly zero      */
            case 4: at[0] = 1, at[width - 1] = 0x55; break;                                  /* large            */
            }
            if (at[width - 2] != 0xFC && chance(2)) at[width - 1] |= 0x80;
        } else if (!real && bits && chance(4) == 0) {
            for (size_t k = 0; k < width; k++) at[k] = (unsigned char)chance(256);
        }
    }
    return array;
}

/* A network of one op, "x: fp32 2 3; y: fp32 3; z = Add x y; out z". */
static xir_array *run_net(const xir_network *net, xir_array *const *in, size_t n, size_t threads, xir_status *status) {
    xir_array *out = NULL;
    const xir_run_options how = XIR_INIT(xir_run_options, .threads = threads);
    xir_diags_clear(why);
    *status = xir_network_run(net, (const xir_array *const *)in, n, &out, 1, &how, why);
    return out;
}

/* The same with 1, 2 and 7 threads, which must agree. */
static xir_array *run_threads(const xir_network *net, xir_array *const *in, size_t n, const char *story,
                              xir_status *status) {
    static const size_t widths[] = { 2, 7, 0 };
    xir_array *out = run_net(net, in, n, 1, status);
    for (size_t w = 0; w < COUNT(widths); w++) {
        way_set(NULL, "7");   /* for the last one: short loops too */
        xir_status again;
        xir_array *other = run_net(net, in, n, widths[w], &again);
        way_reset();
        if (again != *status || !out != !other) fail_msg("%s: %zu threads: status", story, widths[w]);
        size_t size = 0;
        const void *bytes = out ? xir_array_data(out, &size) : NULL;
        if (size && memcmp(bytes, xir_array_data(other, NULL), size))
            fail_msg("%s: the result differs with %zu threads", story, widths[w]);
        xir_array_free(other);
    }
    return out;
}

static size_t print_dims(char *out, size_t size, const size_t *dims, size_t rank) {
    size_t n = 0;
    for (size_t k = 0; k < rank; k++) n += (size_t)snprintf(out + n, size - n, " %zu", dims[k]);
    return n;
}

static size_t count_of(const size_t *dims, size_t rank) {
    size_t n = 1;
    for (size_t k = 0; k < rank; k++) n *= dims[k];
    return n;
}

/* ---- functions of numbers --------------------------------------------------------------------------------------- */

typedef struct shape { size_t rank, dims[MOST_RANK]; } shape;

/* The element of an input that belongs to element o of the output. */
static size_t place(const shape *in, const shape *out, size_t o) {
    size_t at = 0, stride = 1;
    for (size_t k = 0; k < out->rank; k++) {
        const size_t dim = out->dims[out->rank - 1 - k], own = k < in->rank ? in->dims[in->rank - 1 - k] : 1;
        if (own != 1) at += o % dim * stride;
        stride *= own;
        o /= dim;
    }
    return at;
}

static xir_array *one_of(const xir_array *array, size_t i) {
    const xir_type *type = xir_array_type(array);
    size_t size;
    const char *bytes = xir_array_data(array, &size);
    const size_t width = size / xir_array_count(array);
    const int64_t one = 1;
    return xir_array_copy(ctx, xir_type_tensor(ctx, xir_type_element(type), NULL, &one, 1), bytes + i * width, width,
                          why);
}

static bool both_nan(const xir_array *a, size_t i, const xir_array *b, size_t j) {
    return xir_kernel_is_real(xir_array_type(a)) && isnan(xir_array_real(a, i)) && isnan(xir_array_real(b, j));
}

/* Compares some elements of an op over tensors with the op over single elements. `call`: "Add x y". */
static void check_elements(const char *call, const char *const *types, const shape *in, size_t n, const shape *out) {
    if (!again_takes()) return;
    static const char *const names[] = { "x", "y", "w" };
    char text[400], alone[400];
    size_t k = 0, j = 0;
    for (size_t i = 0; i < n; i++) {
        k += (size_t)snprintf(text + k, sizeof text - k, "%s: %s", names[i], types[i]);
        k += print_dims(text + k, sizeof text - k, in[i].dims, in[i].rank);
        k += (size_t)snprintf(text + k, sizeof text - k, "; ");
        j += (size_t)snprintf(alone + j, sizeof alone - j, "%s: %s 1; ", names[i], types[i]);
    }
    snprintf(text + k, sizeof text - k, "z = %s; out z", call);
    snprintf(alone + j, sizeof alone - j, "z = %s; out z", call);
    xir_network *net = story_net(text), *single = story_net(alone);
    xir_array *given[MOST_INPUTS] = { NULL };
    xir_value *values[MOST_INPUTS];
    xir_network_inputs(net, values, MOST_INPUTS);
    for (size_t i = 0; i < n; i++) given[i] = some_array(xir_value_type(values[i]), true);
    /* If one uint64 is 2^63 or more, a function of one number computes all of them as reals. */
    uint64_t *words = n == 1 && strcmp(types[0], "uint64") == 0 ? xir_array_edit(given[0]) : NULL;
    for (size_t i = 0; words && i < xir_array_count(given[0]); i++) words[i] &= INT64_MAX;
    xir_status status;
    xir_array *all = run_threads(net, given, n, text, &status);
    const size_t count = count_of(out->dims, out->rank);
    if (status == XIR_E_INVALID) assert_non_null(strstr(xir_diags_at(why, 0)->message.data, "divided by 0"));
    else DOES(status);
    for (size_t o = 0; all && o < count; o += o % 1024 < 10 || o % 1024 > 1013 || o + 10 > count ? 1 : 1 + chance(20)) {
        xir_array *ones[MOST_INPUTS] = { NULL };
        for (size_t i = 0; i < n; i++) ones[i] = one_of(given[i], place(&in[i], out, o));
        xir_array *one = run_net(single, ones, n, 1, &status);
        DOES(status);
        size_t width;
        const void *expected = xir_array_data(one, &width);
        if (memcmp(expected, (const char *)xir_array_data(all, NULL) + o * width, width) && !both_nan(all, o, one, 0))
            fail_msg("%s: element %zu is %.17g, alone %.17g", text, o, xir_array_real(all, o), xir_array_real(one, 0));
        xir_array_free(one);
        for (size_t i = 0; i < n; i++) xir_array_free(ones[i]);
    }
    xir_array_free(all);
    for (size_t i = 0; i < n; i++) xir_array_free(given[i]);
    xir_network_free(net);
    xir_network_free(single);
}

static const char *const float_types[] = { "fp32", "fp64", "fp16", "bf16" };
static const char *const all_types[] = { "fp32", "fp64", "fp16", "sint8", "uint8", "sint16", "sint32", "uint32",
                                         "sint64", "uint64" };

static void functions_of_a_number(void **state) {
    (void)state;
    static const char *const of_reals[] = {
        "ACos x", "ACosh x", "ASin x", "ASinh x", "ATan x", "ATanh x", "Cos x", "Cosh x", "ELU x", "Erf x", "Exp x",
        "GELU x", "Hardshrink x", "Hardsigmoid x", "Hardswish x", "Log x", "LogSigmoid x", "Mish x", "Reciprocal x",
        "Sigmoid x", "ReLU x [alpha=0.5 threshold=1]", "ReLU x [alpha=0.5 max_value=1]", "DivideScalar x [divisor=0.3]",
        "SiLU x", "Sin x", "Sinh x", "Softplus x", "Softshrink x", "Softsign x", "Sqrt x", "Tan x",
        "Tanh x", "Tanhshrink x",
    };
    static const char *const of_numbers[] = {
        "Abs x", "Ceil x", "ClampScalar x [min=-1 max=3]", "Floor x", "Hardtanh x", "Neg x", "ReLU x",
        "Round x", "Sign x", "DivideScalar x [divisor=3 rounding_mode=FLOOR]",
        "DivideScalar x [divisor=-7 rounding_mode=TRUNC]", "Not x",
    };
    static const shape long_one = { 2, { 2, 1300 } };
    for (size_t i = 0; i < COUNT(of_reals); i++) {
        for (size_t t = 0; t < COUNT(float_types); t++)
            check_elements(of_reals[i], &float_types[t], &long_one, 1, &long_one);
    }
    for (size_t i = 0; i < COUNT(of_numbers); i++) {
        for (size_t t = 0; t < COUNT(all_types); t++) {
            if (of_numbers[i][0] == 'N' && all_types[t][0] == 'u') continue;   /* Neg refuses them */
            check_elements(of_numbers[i], &all_types[t], &long_one, 1, &long_one);
        }
    }
}

/* Both inputs and the output. */
static const shape pairs[][3] = {
    { { 2, { 3, 700 } },      { 2, { 3, 700 } },       { 2, { 3, 700 } }       },   /* the same         */
    { { 2, { 3, 700 } },      { 0, { 0 } },            { 2, { 3, 700 } }       },   /* a scalar         */
    { { 1, { 1 } },           { 2, { 5, 500 } },       { 2, { 5, 500 } }       },
    { { 3, { 2, 40, 30 } },   { 1, { 30 } },           { 3, { 2, 40, 30 } }    },   /* the last dim     */
    { { 3, { 2, 40, 30 } },   { 2, { 40, 1 } },        { 3, { 2, 40, 30 } }    },   /* channels         */
    { { 2, { 3, 1 } },        { 2, { 1, 900 } },       { 2, { 3, 900 } }       },
    { { 4, { 3, 4, 1, 9 } },  { 4, { 3, 1, 9, 9 } },   { 4, { 3, 4, 9, 9 } }   },
    { { 4, { 7, 1, 11, 1 } }, { 4, { 1, 13, 1, 3 } },  { 4, { 7, 13, 11, 3 } } },   /* rows of 3        */
    { { 5, { 2, 1, 3, 1, 5 } }, { 3, { 3, 70, 1 } },   { 5, { 2, 1, 3, 70, 5 } } },
    { { 2, { 1, 1 } },        { 2, { 1, 1 } },         { 2, { 1, 1 } }         },
    { { 2, { 0, 5 } },        { 2, { 1, 5 } },         { 2, { 0, 5 } }         },   /* no elements      */
    { { 2, { 1, 1 } },        { 2, { 4, 0 } },         { 2, { 4, 0 } }         },
};

/* ReLU of fp32 needs no doubles; with doubles it has the same bits. 0.1 is rounded in fp32. */
static void relu_of_singles_is_that_of_doubles(void **state) {
    (void)state;
    static const char *const attrs[] = {
        "threshold=0", "max_value=6", "threshold=1.5", "max_value=0.5 threshold=-0.5", "max_value=-1 threshold=1",
        "max_value=0.1", "threshold=0.1", "alpha=0.25",
    };
    char story[300];
    for (size_t i = 0; i < COUNT(attrs); i++) {
        for (size_t size = 1; size < 4000; size += size < 20 ? 1 : 997) {
            snprintf(story, sizeof story, "x: fp32 %zu; s = ReLU x [%s]; d = Cast x [target_dtype=fp64,%zu]; "
                     "e = ReLU d [%s]; f = Cast e [target_dtype=fp32,%zu]; out s f", size, attrs[i], size, attrs[i], size);
            xir_network *net = story_net(story);
            xir_value *value;
            assert_int_equal(xir_network_inputs(net, &value, 1), 1);
            xir_array *x = some_array(xir_value_type(value), true), *out[2];
            const xir_array *in[] = { x };
            if (xir_network_run(net, in, 1, out, 2, NULL, why) != XIR_OK) fail_msg("%s does not run", story);
            size_t bytes;
            const void *found = xir_array_data(out[0], &bytes);
            assert_int_equal(bytes, size * sizeof(float));
            if (memcmp(found, xir_array_data(out[1], NULL), bytes)) fail_msg("%s: the outputs differ", story);
            for (size_t o = 0; o < 2; o++) xir_array_free(out[o]);
            xir_array_free(x);
            xir_network_free(net);
        }
    }
}

static void functions_of_two_numbers(void **state) {
    (void)state;
    static const char *const calls[] = {
        "Add x y", "Add x y [beta=-1]", "Add x y [alpha=0.5 beta=3]", "Multiply x y",
        "Div x y [rounding_mode=TRUNC]", "Div x y [rounding_mode=FLOOR]", "Maximum x y", "Minimum x y",
        "Mod x y [fmod=true]", "Pow x y", "Equal x y", "NotEqual x y",
        "Greater x y", "GreaterEqual x y", "Less x y", "LessEqual x y",
    };
    for (size_t i = 0; i < COUNT(calls); i++) {
        for (size_t p = 0; p < COUNT(pairs); p++) {
            const char *const type = all_types[(i + p) % 3 ? (i * 7 + p) % COUNT(all_types) : 0];
            check_elements(calls[i], (const char *const[]){ type, type }, pairs[p], 2, &pairs[p][2]);
        }
    }
    for (size_t p = 0; p < COUNT(pairs); p++) {
        static const char *const logic[] = { "And x y", "Or x y", "Xor x y" };
        for (size_t i = 0; i < COUNT(logic); i++)
            check_elements(logic[i], (const char *const[]){ "bool", "bool" }, pairs[p], 2, &pairs[p][2]);
        const shape three[] = { pairs[p][0], pairs[p][1], pairs[p][2] };
        for (size_t t = 0; t < 4; t++) {
            const char *const type = all_types[t * 3];
            check_elements("Where x y w", (const char *const[]){ type, type, "bool" }, three, 3, &pairs[p][2]);
        }
    }
}

static void check_number(const xir_array *found, size_t i, double expected, const char *story) {
    const double v = xir_array_real(found, i);
    if (xir_type_storage_bits(xir_array_type(found)) == 32) expected = (double)(float)expected;
    if (isnan(v) && isnan(expected)) return;
    if (memcmp(&v, &expected, sizeof v)) fail_msg("%s: element %zu is %.17g, not %.17g", story, i, v, expected);
}

static void squares_are_those_of_pow(void **state) {
    (void)state;
    volatile double two = 2;   /* else the compiler multiplies */
    for (size_t t = 0; t < 2; t++) {
        char text[200];
        const char *type = float_types[t];
        snprintf(text, sizeof text, "x: %s 3000; y: params %s 1 = 2; z = Pow x y; out z", type, type);
        xir_network *net = story_net(text);
        xir_value *value;
        xir_network_inputs(net, &value, 1);
        xir_array *x = some_array(xir_value_type(value), true);
        xir_status status;
        xir_array *found = run_threads(net, &x, 1, text, &status);
        DOES(status);
        for (size_t i = 0; i < 3000; i++) check_number(found, i, pow(xir_array_real(x, i), two), text);
        xir_array_free(found);
        xir_array_free(x);
        xir_network_free(net);
    }
}

/* ---- lines: norms and sums -------------------------------------------------------------------------------------- */

/* A function of the n numbers of a group, in place; or only the first one is its result. */
typedef void line_fn(double *x, size_t n);

static void softmax(double *x, size_t n) {
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, x[i]);
    for (size_t i = 0; i < n; i++) sum += exp(x[i] - most);
    for (size_t i = 0; i < n; i++) x[i] = exp(x[i] - most) / sum;
}
static void log_softmax(double *x, size_t n) {
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, x[i]);
    for (size_t i = 0; i < n; i++) sum += exp(x[i] - most);
    for (size_t i = 0; i < n; i++) x[i] = x[i] - most - log(sum);
}
static void layer_norm(double *x, size_t n) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    const double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
    const double scale = 1 / sqrt(squares / (double)n + 0.25);
    for (size_t i = 0; i < n; i++) x[i] = (x[i] - mean) * scale * 1 + 0;
}
static void rms_norm(double *x, size_t n) {
    double squares = 0;
    for (size_t i = 0; i < n; i++) squares += x[i] * x[i];
    const double root = sqrt(squares / (double)n + 0.25);
    for (size_t i = 0; i < n; i++) x[i] = x[i] / root * 1;
}
static void normalize_1(double *x, size_t n) {
    double norm = 0;
    for (size_t i = 0; i < n; i++) norm += fabs(x[i]);
    if (norm < 0.25) norm = 0.25;
    for (size_t i = 0; i < n; i++) x[i] = x[i] / norm;
}
static void normalize_2(double *x, size_t n) {
    double squares = 0;
    for (size_t i = 0; i < n; i++) squares += x[i] * x[i];
    double norm = sqrt(squares);
    if (norm < 0.25) norm = 0.25;
    for (size_t i = 0; i < n; i++) x[i] = x[i] / norm;
}
static void cum_sum(double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) x[i] = sum += x[i];
}
static void sum_of(double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    *x = sum;
}
static void mean_of(double *x, size_t n) {
    sum_of(x, n);
    *x /= (double)n;
}
static void product_of(double *x, size_t n) {
    double product = 1;
    for (size_t i = 0; i < n; i++) product *= x[i];
    *x = product;
}
static void greatest_of(double *x, size_t n) {
    for (size_t i = 1; i < n; i++) if (!isnan(*x) && (isnan(x[i]) || x[i] > *x)) *x = x[i];
}
static void least_of(double *x, size_t n) {
    for (size_t i = 1; i < n; i++) if (!isnan(*x) && (isnan(x[i]) || x[i] < *x)) *x = x[i];
}

/* The greatest or least numbers along a dim, which no story can name. */
static xir_network *extreme_net(const char *type, const shape *s, bool least, size_t dim) {
    int64_t dims[MOST_RANK];
    for (size_t k = 0; k < s->rank; k++) dims[k] = (int64_t)s->dims[k];
    xir_network *net = new_net();
    const xir_type *element = xir_type_float(ctx, strcmp(type, "fp64") ? XIR_FLOAT_FP32 : XIR_FLOAT_FP64);
    const xir_int_imm *along = (const xir_int_imm *)xir_scalar_int(ctx, (int64_t)dim);
    xir_value *x = xir_input(xir_at_end(net), "x", xir_type_tensor(ctx, element, NULL, dims, s->rank));
    x = least ? XIR_OP(xir_at_end(net), min, .input = x, .attrs = XIR_ATTRS(min, (dim, along)))
        : XIR_OP(xir_at_end(net), max, .input = x, .attrs = XIR_ATTRS(max, (dim, along)));
    xir_output(xir_at_end(net), XIR_VALUES(x));
    return net;
}

/* Groups along the dims of `along` (a bit each). */
static void check_lines(const char *call, line_fn *fn, const char *type, const shape *s, unsigned along, bool reduces) {
    if (!again_takes()) return;
    char text[300];
    size_t k = (size_t)snprintf(text, sizeof text, "x: %s", type);
    k += print_dims(text + k, sizeof text - k, s->dims, s->rank);
    snprintf(text + k, sizeof text - k, "; z = %s; out z", call);
    const bool extreme = call[0] == 'M' && call[1] != 'e';
    xir_network *net = extreme ? extreme_net(type, s, call[1] == 'i', (size_t)__builtin_ctz(along)) : story_net(text);
    xir_value *value;
    xir_network_inputs(net, &value, 1);
    xir_array *x = some_array(xir_value_type(value), chance(3) == 0);
    xir_status status;
    xir_array *found = run_threads(net, &x, 1, text, &status);
    DOES(status);
    const size_t count = count_of(s->dims, s->rank);
    size_t *members = malloc((count + 1) * sizeof *members), results = 0;
    double *line = malloc((count + 1) * sizeof *line);
    for (size_t first = 0; first < count; first++) {
        /* The group of an element that is the first along all its dims. */
        size_t stride = 1, n = 1;
        bool begins = true;
        members[0] = first;
        for (size_t d = s->rank; d-- > 0; stride *= s->dims[d])
            begins = begins && !(along >> d & 1 && first / stride % s->dims[d]);
        if (!begins) continue;
        stride = 1;
        for (size_t d = s->rank; d-- > 0; stride *= s->dims[d]) {
            if (!(along >> d & 1)) continue;
            for (size_t i = 1; i < s->dims[d]; i++)
                for (size_t m = 0; m < n; m++) members[i * n + m] = members[m] + i * stride;
            n *= s->dims[d];
        }
        for (size_t m = 0; m < n; m++) line[m] = xir_array_real(x, members[m]);
        fn(line, n);
        if (reduces) check_number(found, results++, line[0], text);
        for (size_t m = 0; !reduces && m < n; m++) check_number(found, members[m], line[m], text);
    }
    free(members);
    free(line);
    xir_array_free(found);
    xir_array_free(x);
    xir_network_free(net);
}

static const shape grouped[] = {
    { 2, { 70, 5 } },  { 2, { 5, 300 } },     { 3, { 3, 40, 20 } }, { 3, { 2, 9, 130 } },   { 1, { 3000 } },
    { 2, { 1, 1 } },   { 4, { 2, 3, 5, 70 } }, { 3, { 9, 1, 33 } }, { 3, { 1, 600, 3 } },  { 2, { 2, 9000 } },
};

static void norms_along_an_axis(void **state) {
    (void)state;
    static const struct { const char *call; line_fn *fn; } norms[] = {
        { "Softmax x [axis=%zu]", softmax },
        { "LogSoftmax x [axis=%zu]", log_softmax },
        { "LayerNorm x [axis=%zu eps=0.25]", layer_norm },
        { "RMSNorm x [axis=%zu eps=0.25]", rms_norm },
        { "Normalize x [axis=%zu p=1 eps=0.25]", normalize_1 },
        { "Normalize x [axis=%zu p=2 eps=0.25]", normalize_2 },
        { "CumSum x [axis=%zu]", cum_sum },
    };
    for (size_t i = 0; i < COUNT(norms); i++) {
        for (size_t s = 0; s < COUNT(grouped); s++) {
            for (size_t axis = 0; axis < grouped[s].rank; axis++) {
                char call[100];
                snprintf(call, sizeof call, norms[i].call, axis);
                check_lines(call, norms[i].fn, float_types[(i + s) % 2], &grouped[s], 1u << axis, false);
            }
        }
    }
}

static void norms_along_many_axes(void **state) {
    (void)state;
    static const shape s = { 4, { 5, 7, 3, 11 } };
    check_lines("LayerNorm x [axis=1,2,3 eps=0.25]", layer_norm, "fp32", &s, 14, false);
    check_lines("LayerNorm x [axis=2,3 eps=0.25]", layer_norm, "fp32", &s, 12, false);
    check_lines("LayerNorm x [axis=0,3 eps=0.25]", layer_norm, "fp64", &s, 9, false);
    check_lines("RMSNorm x [axis=0,2 eps=0.25]", rms_norm, "fp32", &s, 5, false);
}

static void reductions(void **state) {
    (void)state;
    static const struct { const char *name; line_fn *fn; } many[] = {
        { "Sum", sum_of }, { "Mean", mean_of }, { "Prod", product_of }, { "Max", greatest_of }, { "Min", least_of },
    };
    for (size_t s = 0; s < COUNT(grouped); s++) {
        for (unsigned along = 1; along < 1u << grouped[s].rank; along++) {
            char dims[40] = "", call[100];
            size_t k = 0, n = 0;
            for (size_t d = 0; d < grouped[s].rank; d++) {
                if (!(along >> d & 1)) continue;
                k += (size_t)snprintf(dims + k, sizeof dims - k, "%s%zu", n++ ? "," : "", d);
            }
            for (size_t i = 0; i < COUNT(many) - (n > 1 ? 2 : 0); i++) {
                snprintf(call, sizeof call, "%s x [dim=%s]", many[i].name, dims);
                check_lines(call, many[i].fn, float_types[(i + s) % 2], &grouped[s], along, true);
            }
        }
    }
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

typedef struct pooling { size_t h, w, c, size, stride, pad; bool counts; } pooling;

/* Returns the position of a cell in the map, for the layouts NHWC, NCHW and NWCH. */
static size_t cell_at(const pooling *p, char order, size_t n, size_t y, size_t x, size_t c, size_t h, size_t w) {
    if (order == 'H') return ((n * h + y) * w + x) * p->c + c;
    if (order == 'C') return ((n * p->c + c) * h + y) * w + x;
    return ((n * w + x) * p->c + c) * h + y;
}

static void check_pool(const pooling *p, const char *layout, const char *type, bool mean) {
    if (!again_takes()) return;
    const char order = layout[1];
    char text[300];
    size_t k = (size_t)snprintf(text, sizeof text, "x: %s %s", type, layout), dims[4] = { 2 };
    for (size_t i = 1; i < 4; i++) dims[i] = layout[i] == 'H' ? p->h : layout[i] == 'W' ? p->w : p->c;
    k += print_dims(text + k, sizeof text - k, dims, 4);
    snprintf(text + k, sizeof text - k,
             "; z = %s x [pool_width=%zu pool_height=%zu stride_width=%zu stride_height=%zu pad_left=%zu pad_right=%zu "
             "pad_top=%zu pad_bottom=%zu%s]; out z", mean ? "AvgPool2d" : "MaxPool2d", p->size, p->size, p->stride,
             p->stride, p->pad, p->pad, p->pad, p->pad, mean && p->counts ? " count_include_pad=true" : "");
    xir_network *net = story_net(text);
    xir_value *value;
    xir_network_inputs(net, &value, 1);
    xir_array *x = some_array(xir_value_type(value), chance(2) == 0);
    xir_status status;
    xir_array *found = run_threads(net, &x, 1, text, &status);
    DOES(status);
    const size_t oh = (p->h + 2 * p->pad - p->size) / p->stride + 1, ow = (p->w + 2 * p->pad - p->size) / p->stride + 1;
    for (size_t o = 0; o < 2 * p->c * oh * ow; o++) {
        const size_t j = o % ow, i = o / ow % oh, c = o / ow / oh % p->c, n = o / ow / oh / p->c;
        double sum = 0, most = -INFINITY;
        size_t inside = 0;
        for (size_t cell = 0; cell < p->size * p->size; cell++) {
            const size_t row = i * p->stride + cell / p->size - p->pad;
            const size_t column = j * p->stride + cell % p->size - p->pad;
            if (row >= p->h || column >= p->w) continue;
            const double v = xir_array_real(x, cell_at(p, order, n, row, column, c, p->h, p->w));
            sum += v;
            if (!isnan(most) && !(v <= most)) most = v;
            inside++;
        }
        const size_t divisor = p->counts ? p->size * p->size : inside ? inside : 1;
        check_number(found, cell_at(p, order, n, i, j, c, oh, ow), mean ? sum / (double)divisor : most, text);
    }
    xir_array_free(found);
    xir_array_free(x);
    xir_network_free(net);
}

static void pools(void **state) {
    (void)state;
    static const pooling some[] = {
        { 12, 15, 7, 3, 2, 1, false }, { 9, 9, 3, 3, 1, 1, false }, { 8, 40, 5, 2, 2, 0, false },
        { 7, 7, 40, 7, 1, 0, false },  { 5, 1200, 2, 5, 3, 2, true }, { 4, 4, 1, 1, 1, 0, false },
        { 6, 6, 70, 3, 5, 1, true },
    };
    static const char *const layouts[] = { "NHWC", "NCHW", "NWCH" };
    for (size_t i = 0; i < COUNT(some); i++) {
        for (size_t l = 0; l < COUNT(layouts); l++) {
            check_pool(&some[i], layouts[l], float_types[i % 2], false);
            check_pool(&some[i], layouts[l], float_types[i % 2], true);
        }
    }
}

/* ---- transpositions --------------------------------------------------------------------------------------------- */

static void transpositions(void **state) {
    (void)state;
    static const shape shapes[] = {
        { 4, { 3, 17, 5, 70 } }, { 4, { 1, 65, 33, 4 } }, { 4, { 2, 3, 4, 130 } }, { 4, { 20, 1, 1, 100 } },
        { 4, { 1, 1, 1, 1 } },   { 4, { 3, 0, 2, 5 } },
    };
    static const char *const types[] = { "fp32", "sint8", "fp16", "sint64", "sint4" };
    for (size_t s = 0; s < COUNT(shapes); s++) {
        for (size_t order = 0; order < 24; order++) {
            if (!again_takes()) continue;
            size_t left[4] = { 0, 1, 2, 3 }, to[4], code = order, n = 4;
            for (size_t k = 0; k < 4; k++, n--) {
                const size_t pick = code % n;
                code /= n;
                to[k] = left[pick];
                memmove(left + pick, left + pick + 1, (n - pick - 1) * sizeof *left);
            }
            char text[300];
            const char *type = types[(s + order) % COUNT(types)];
            size_t k = (size_t)snprintf(text, sizeof text, "x: %s", type);
            k += print_dims(text + k, sizeof text - k, shapes[s].dims, 4);
            snprintf(text + k, sizeof text - k, "; z = Transpose x [dims=%zu,%zu,%zu,%zu layout=@layout(****)]; out z",
                     to[0], to[1], to[2], to[3]);
            xir_network *net = story_net(text);
            xir_value *value;
            xir_network_inputs(net, &value, 1);
            xir_array *x = some_array(xir_value_type(value), false);
            xir_status status;
            xir_array *found = run_threads(net, &x, 1, text, &status);
            DOES(status);
            const size_t count = count_of(shapes[s].dims, 4);
            for (size_t o = 0; o < count; o++) {
                size_t rest = o, index[4], from = 0;
                for (size_t d = 4; d-- > 0; rest /= shapes[s].dims[to[d]]) index[to[d]] = rest % shapes[s].dims[to[d]];
                for (size_t d = 0; d < 4; d++) from = from * shapes[s].dims[d] + index[d];
                if (xir_array_real(found, o) != xir_array_real(x, from)) fail_msg("%s: element %zu", text, o);
            }
            xir_array_free(found);
            xir_array_free(x);
            xir_network_free(net);
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_a_number),
        cmocka_unit_test(relu_of_singles_is_that_of_doubles),
        cmocka_unit_test(functions_of_two_numbers),
        cmocka_unit_test(squares_are_those_of_pow),
        cmocka_unit_test(norms_along_an_axis),
        cmocka_unit_test(norms_along_many_axes),
        cmocka_unit_test(reductions),
        cmocka_unit_test(pools),
        cmocka_unit_test(transpositions),
    };
    return RUN_GROUP(tests);
}

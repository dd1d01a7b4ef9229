/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Products and convolutions of floats have the same bits on every path of the processor and for any number of threads:
 * those of sums that are written down here, one product after the other. NaN, infinities, signed zeros and the smallest
 * numbers are among them, and sizes of 0, of 1, of edges, and beyond every block. A NaN may have other bits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include "gemm_paths.h"
#include "support/again.h"
#include "support/net.h"
#include "support/often.h"

enum { CASES = OFTEN(40), MOST_RANK = 5, PORTS = 3 };
static const char *const threads[] = { "1", "2", "7" };

static int64_t from_to(int64_t low, int64_t high) { return low + (int64_t)chance((uint64_t)(high - low + 1)); }

/* Numbers of very different size, so that each order of a sum gives other bits. */
static double number(bool special) {
    static const double odd[] = { 0.0, -0.0, 1e-40, -1e-45, 3e38, (double)INFINITY, -(double)INFINITY, (double)NAN };
    if (special && chance(40) == 0) return odd[chance(COUNT(odd))];
    const double v = (double)from_to(-(1 << 20), 1 << 20) / (1 << 20);
    return ldexp(v, (int)from_to(-12, 12));
}

typedef struct problem {
    const xir_class_decl *cls;
    const void           *attrs;
    const xir_type       *types[PORTS];
    size_t                n;
    bool                  unrounded;     /* the output is fp64          */
    xir_array            *in[PORTS], *out;
    double               *numbers[PORTS], *found;   /* of the arrays    */
} problem;

/* The ways in which elements are stored. BYTES have a scale for each index of the last dim, NIBBLES one and a zero
 * point. */
typedef enum kind { SINGLE, DOUBLE, HALF, BRAIN, NARROW, TENSOR32, BYTES, NIBBLES, KINDS } kind;

static const xir_type *stored_as(kind of, const char *layout, const int64_t *dims, size_t n) {
    static const xir_float_format formats[] = { XIR_FLOAT_FP32, XIR_FLOAT_FP64, XIR_FLOAT_FP16, XIR_FLOAT_BF16,
                                                XIR_FLOAT_FPE7M8, XIR_FLOAT_TF32 };
    if (of < BYTES) return xir_type_tensor_text(ctx, xir_type_float(ctx, formats[of]), layout, dims, n);
    double scale[1024];
    const int64_t last = dims[n - 1] < 1024 ? dims[n - 1] : 1, zero = 5;
    for (int64_t i = 0; i < last; i++) scale[i] = (double)from_to(1, 1 << 20) / (1 << 20);
    const bool each = of == BYTES && last > 1;
    const xir_type *element = xir_type_quantized(ctx, xir_scales_from(ctx, scale, each ? (size_t)last : 1, -1), &zero,
                                                 of == NIBBLES, of == NIBBLES ? xir_type_uint(ctx, 4)
                                                 : xir_type_sint(ctx, 8), NULL);
    return xir_type_tensor_text(ctx, element, layout, dims, n);
}

/* A float of 16 bits; a special one may be any. */
static uint16_t half(kind of, bool special) {
    const unsigned bits = of == HALF ? 5 : of == BRAIN ? 8 : 7, mantissa = 15 - bits;
    if (special && chance(40) == 0) return (uint16_t)chance(1 << 16);
    const uint64_t exponent = (UINT64_C(1) << (bits - 1)) - 7 + chance(12);
    return (uint16_t)(chance(2) << 15 | exponent << mantissa | chance(UINT64_C(1) << mantissa));
}

/* Its elements as numbers. One by one, each would be a call that finds out how elements are stored. */
static double *numbers_of(const xir_array *array) {
    const size_t n = xir_array_count(array);
    double *out = malloc((n + 1) * sizeof *out);
    assert_non_null(out);
    assert_int_equal(xir_array_reals(array, 0, n, out), XIR_OK);
    return out;
}

static void fill(problem *p, bool special) {
    for (size_t i = 0; i < p->n; i++) {
        assert_non_null(p->in[i] = xir_array_new(ctx, p->types[i], why));
        const xir_float_type *real = xir_float_type_of(xir_type_object(xir_type_element(p->types[i])));
        const xir_float_format format = real ? real->format : XIR_FLOAT_FP32;
        void *out = xir_array_edit(p->in[i]);
        size_t count = xir_array_count(p->in[i]), size;
        xir_array_data(p->in[i], &size);
        for (size_t k = 0; k < size && !real; k++) ((uint8_t *)out)[k] = (uint8_t)chance(256);
        for (size_t k = 0; k < count && real; k++) {
            if (format == XIR_FLOAT_FP64) ((double *)out)[k] = number(special) / 3;
            else if (format == XIR_FLOAT_FP32 || format == XIR_FLOAT_TF32) ((float *)out)[k] = (float)number(special);
            else if (format == XIR_FLOAT_FP16) ((uint16_t *)out)[k] = half(HALF, special);
            else ((uint16_t *)out)[k] = half(format == XIR_FLOAT_BF16 ? BRAIN : NARROW, special);
        }
        p->numbers[i] = numbers_of(p->in[i]);
    }
}

static double at(const problem *p, size_t i, int64_t k) { return p->numbers[i][k]; }

static xir_array *run(const xir_network *net, const problem *p) {
    xir_array *out = NULL;
    if (xir_network_run(net, (const xir_array *const *)p->in, p->n, &out, 1, NULL, why)) xir_diags_print(why, stderr);
    assert_non_null(out);
    return out;
}

static bool same_bits(const xir_array *a, const xir_array *b, size_t *where) {
    size_t size, other;
    const void *first = xir_array_data(a, &size), *second = xir_array_data(b, &other);
    assert_int_equal(xir_array_count(a), xir_array_count(b));
    if (size == other && (!size || memcmp(first, second, size) == 0)) return true;
    for (*where = 0; *where < xir_array_count(a); ++*where) {
        const double x = xir_array_real(a, *where), y = xir_array_real(b, *where);
        if (!(isnan(x) && isnan(y)) && memcmp(&x, &y, sizeof x) != 0) return false;
    }
    return true;
}

static xir_op *add_op(xir_network *net, const problem *p, const xir_type *const *in, const xir_type *const *out,
                      size_t n_out) {
    xir_op *input = xir_inputs(XIR_AT(net), "in", in, p->n);
    xir_value *values[PORTS];
    for (size_t i = 0; i < p->n; i++) values[i] = xir_op_output(input, (int64_t)i);
    xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, p->cls),
                                                .attrs = p->attrs, .inputs = values, .n_inputs = p->n, .types = out,
                                                .n_types = n_out, .id = XIR_NO_ID));
    if (!op) xir_diags_print(xir_network_diags(net), stderr);
    assert_non_null(op);
    return op;
}

/* The types of the outputs for inputs of fp32. If sums are looked at before they are rounded, the first one has
 * fp64. */
static size_t find_types(const problem *p, const xir_type *out[PORTS]) {
    xir_network *net = new_net();
    const xir_type *in[PORTS];
    for (size_t i = 0; i < p->n; i++) {
        const xir_i64s dims = xir_type_as_tensor(p->types[i])->shape;
        in[i] = xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), xir_type_layout(p->types[i]), dims.data,
                                dims.size);
    }
    const xir_op *op = add_op(net, p, in, NULL, 0);
    const size_t n = xir_op_output_count(op);
    assert_true(n <= PORTS);
    for (size_t i = 0; i < n; i++) {
        const xir_type *y = xir_value_type(xir_op_output(op, (int64_t)i));
        const xir_i64s dims = xir_type_as_tensor(y)->shape;
        const xir_float_format format = p->unrounded && i == 0 ? XIR_FLOAT_FP64 : XIR_FLOAT_FP32;
        out[i] = xir_type_tensor(ctx, xir_type_float(ctx, format), xir_type_layout(y), dims.data, dims.size);
    }
    xir_network_free(net);
    return n;
}

/* Runs a problem on each path with each number of threads, which must agree. */
static void run_everywhere(problem *p, const char *what, int number_of) {
    const xir_type *types[PORTS];
    const size_t n = p->unrounded ? find_types(p, types) : 0;
    xir_network *net = new_net();
    xir_op *op = add_op(net, p, p->types, n ? types : NULL, n);
    xir_output(XIR_AT(net), XIR_VALUES(xir_op_output(op, 0)));
    const gemm_path *path;
    for (size_t i = 0; (path = gemm_path_at(i)); i++) {
        for (size_t t = 0; t < COUNT(threads); t++) {
            if (IS_SANITIZED && i + t && t + 1 < COUNT(threads)) continue;   /* each path with 7 threads is enough */
            way_set(path->name, threads[t]);
            xir_array *now = run(net, p);
            size_t where;
            if (!p->out) {
                p->out = now;
                continue;
            }
            if (!same_bits(p->out, now, &where)) {
                fail_msg("%s %d: element %zu is %a, on the path %s with %s threads %a", what, number_of, where,
                         xir_array_real(p->out, where), path->name, threads[t], xir_array_real(now, where));
            }
            xir_array_free(now);
        }
    }
    way_reset();
    xir_network_free(net);
    p->found = numbers_of(p->out);
}

static void check(const problem *p, size_t i, double expected, bool wide, const char *what, int number_of) {
    const double found = p->found[i];
    if (!wide) expected = (double)(float)expected;
    if (memcmp(&found, &expected, sizeof found) != 0 && !(isnan(found) && isnan(expected)))
        fail_msg("%s %d: element %zu is %a, expected %a", what, number_of, i, found, expected);
}

static void done(problem *p) {
    for (size_t i = 0; i < p->n; i++) {
        xir_array_free(p->in[i]);
        free(p->numbers[i]);
    }
    xir_array_free(p->out);
    free(p->found);
}

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

static void multiply(int i, int64_t a, int64_t b, int64_t rows, int64_t depth, int64_t columns, kind of, bool bias,
                     bool special) {
    const int64_t x[] = { a, rows, depth }, k[] = { b, depth, columns }, c[] = { columns };
    problem p = { .cls = xir_matmul_class(), .n = bias ? 3 : 2,
                  .unrounded = i % 2 == 0 || of > DOUBLE };
    p.types[0] = stored_as(of, "***", x, 3);
    p.types[1] = stored_as(of, b ? "***" : "**", b ? k : k + 1, b ? 3 : 2);
    p.types[2] = stored_as(of, "*", c, 1);
    fill(&p, special);
    run_everywhere(&p, "matrix", i);
    const int64_t apart = a * rows * columns * depth > 1 << 22 ? 211 : 1;     // of elements that are checked
    for (int64_t e = 0; e < a * rows * columns; e += apart) {
        const int64_t row = e / columns, column = e % columns, batch = row / rows;
        double sum = 0;
        for (int64_t t = 0; t < depth; t++) {
            const double product = at(&p, 0, row * depth + t) *
                                   at(&p, 1, (b > 1 ? batch : 0) * depth * columns + t * columns + column);
            sum += product;
        }
        check(&p, (size_t)e, bias ? sum + at(&p, 2, column) : sum, of == DOUBLE || p.unrounded, "matrix", i);
    }
    done(&p);
}

static void matrices(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const int64_t a = from_to(1, 3), b = i % 4 == 0 ? 0 : i % 4 == 1 ? 1 : a;
        const int64_t most = i % 5 ? 30 : 250;
        multiply(i, a, b, from_to(1, most), from_to(0, i % 3 ? 40 : 600), from_to(1, 60), i % 2 ? DOUBLE : SINGLE,
                 i % 7 < 3, i % 3 == 0);
    }
}

/* Sizes at which blocks, panels, chunks and areas end. */
static void edges(void **state) {
    (void)state;
    static const struct { int64_t a, b, rows, depth, columns; } rows[] = {
        { 1, 0, 1, 1, 1 },      { 1, 0, 1, 0, 1 },     { 0, 0, 3, 2, 4 },    { 1, 0, 0, 3, 4 },    { 1, 0, 3, 4, 0 },
        { 1, 0, 8, 256, 24 },   { 1, 0, 9, 257, 25 },  { 1, 0, 192, 3, 24 }, { 1, 0, 193, 3, 25 }, { 1, 0, 400, 9, 1 },
        { 1, 0, 385, 300, 490 }, { 1, 0, 1, 8193, 30 }, { 1, 0, 200, 8200, 5 }, { 40, 40, 3, 5, 7 },
        { 2, 2, 300, 20, 20 },
        { 3, 3, 20, 8200, 3 },  { 30, 0, 10, 20, 30 }, { 1, 0, 2, 300, 1000 }, { 1, 0, 390, 8200, 5 },
        { 2, 2, 7, 513, 23 },   { 2, 2, 200, 513, 47 }, { 1, 0, 195, 20, 2050 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int wide = 0; wide < 2; wide++) {
            for (int bias = 0; bias < 2; bias++) {
                multiply((int)i, rows[i].a, rows[i].b, rows[i].rows, rows[i].depth, rows[i].columns,
                         wide ? DOUBLE : SINGLE, bias, false);
            }
        }
    }
    multiply(1, 1, 0, 385, 8200, 345, SINGLE, false, false);    // four areas
}

/* ---- convolutions ------------------------------------------------------------------------------------------------ */

typedef struct shape { bool first; int64_t n, h, w, in, groups, out, size, stride, pad, dilation; } shape;

static int64_t cells(const shape *s, int64_t over) {
    return (over + 2 * s->pad - s->dilation * (s->size - 1) - 1) / s->stride + 1;
}

static int64_t place(const shape *s, int64_t n, int64_t y, int64_t x, int64_t c, int64_t h, int64_t w, int64_t all) {
    return s->first ? ((n * all + c) * h + y) * w + x : ((n * h + y) * w + x) * all + c;
}

static double window(const problem *p, const shape *s, int64_t n, int64_t y, int64_t x, int64_t o) {
    const int64_t group = o / s->out, outs = s->groups * s->out;
    double sum = p->n > 2 ? 0 + at(p, 2, o) : 0, part = 0;
    for (int64_t ky = 0; ky < s->size; ky++) {
        for (int64_t kx = 0; kx < s->size; kx++) {
            const int64_t iy = y * s->stride - s->pad + ky * s->dilation,
                          ix = x * s->stride - s->pad + kx * s->dilation;
            const bool inside = iy >= 0 && iy < s->h && ix >= 0 && ix < s->w;
            for (int64_t i = 0; i < s->in; i++) {
                const double v = inside ? at(p, 0, place(s, n, iy, ix, group * s->in + i, s->h, s->w,
                                                         s->groups * s->in)) : 0;
                const int64_t k = s->first ? ((o * s->in + i) * s->size + ky) * s->size + kx
                    : ((ky * s->size + kx) * s->in + i) * outs + o;
                part += v * at(p, 1, k);
            }
        }
    }
    return sum + part;
}

static void convolve(int number_of, shape s, kind of, bool bias, bool special) {
    const int64_t all_in = s.in * s.groups, all_out = s.out * s.groups, oh = cells(&s, s.h), ow = cells(&s, s.w);
    const int64_t x[] = { s.n, s.first ? all_in : s.h, s.first ? s.h : s.w, s.first ? s.w : all_in };
    const int64_t k[] = { s.first ? all_out : s.size, s.first ? s.in : s.size, s.first ? s.size : s.in,
                          s.first ? s.size : all_out };
    xir_conv2d_attrs attrs = xir_conv2d_attrs_square(s.stride, s.pad, s.dilation, s.groups);
    problem p = { .cls = xir_conv2d_class(), .attrs = &attrs, .n = bias ? 3 : 2,
                  .unrounded = number_of % 2 == 0 || of > DOUBLE };
    p.types[0] = stored_as(of, s.first ? "NCHW" : "NHWC", x, 4);
    p.types[1] = stored_as(of, s.first ? "OIHW" : "HWIO", k, 4);
    p.types[2] = stored_as(of, "O", &all_out, 1);
    fill(&p, special);
    run_everywhere(&p, "convolution", number_of);
    assert_int_equal(xir_array_count(p.out), s.n * oh * ow * all_out);
    for (int64_t n = 0; n < s.n; n++) {
        for (int64_t e = 0; e < oh * ow * all_out; e++) {
            const int64_t o = e % all_out, column = e / all_out % ow, row = e / all_out / ow;
            check(&p, (size_t)place(&s, n, row, column, o, oh, ow, all_out), window(&p, &s, n, row, column, o),
                  of == DOUBLE || p.unrounded, "convolution", number_of);
        }
    }
    done(&p);
}

static void convolutions(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        shape s = { .first = i / 2 % 2, .n = from_to(1, 2), .h = from_to(3, 14), .w = from_to(3, 40),
                    .in = from_to(1, 20),
                    .groups = i % 3 ? 1 : from_to(1, 4), .out = from_to(1, 30), .size = from_to(1, 3),
                    .stride = from_to(1, 2), .pad = from_to(0, 2), .dilation = 1 };
        convolve(i, s, i % 5 ? SINGLE : DOUBLE, i % 3 < 2, i % 7 < 2);
    }
}

/* Each channel alone. */
static void depthwise(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        shape s = { .first = i / 2 % 2, .n = from_to(1, 2), .h = from_to(5, 9),
                    .w = i % 9 ? from_to(5, 40) : 600, .in = 1, .groups = i % 11 ? from_to(2, 40) : 530,
                    .out = 1, .size = from_to(1, 3), .stride = from_to(1, 3),
                    .pad = from_to(0, 2), .dilation = from_to(1, 2) };
        convolve(i, s, i % 7 ? SINGLE : DOUBLE, i % 3 < 2, i % 5 < 2);
    }
}

/* Each window is a pixel, so that images are matrices; but not if it has a border or a stride. */
static void pointwise(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        shape s = { .first = i / 2 % 2, .n = from_to(1, 3), .h = from_to(1, 9), .w = from_to(1, 30),
                    .in = from_to(1, 40), .groups = i % 3 ? 1 : from_to(1, 4), .out = from_to(1, 30), .size = 1,
                    .stride = i % 6 == 5 ? 2 : 1, .pad = i % 6 == 4, .dilation = from_to(1, 2) };
        convolve(i, s, i % 7 ? (i % 5 ? SINGLE : DOUBLE) : (kind)(i % KINDS), i % 3 < 2 && i % 7, i % 4 < 2);
    }
}

/* Elements that become doubles while panels are copied. */
static void element_types(void **state) {
    (void)state;
    for (int i = 0; i < 4 * CASES; i++) {
        const kind of = (kind)(i % KINDS);
        const bool bias = i % 3 == 0 && of < BYTES, special = i % 4 == 0;
        const int64_t a = from_to(1, 3);
        shape s = { .first = i / 2 % 2, .n = from_to(1, 2), .h = from_to(3, 9), .w = from_to(3, 30),
                    .in = i % 11 ? from_to(1, 20) : 300, .groups = i % 2 ? 1 : from_to(1, 3),
                    .out = from_to(1, i % 11 ? 30 : 3), .size = from_to(1, 3),
                    .stride = from_to(1, 2), .pad = from_to(0, 2), .dilation = 1 };
        if (i % 3 == 1) s.in = s.out = 1, s.groups = i % 7 ? from_to(2, 40) : 530;
        if (i % 3 == 2) multiply(i, a, i % 2 * a, from_to(1, 30), from_to(0, 300), from_to(1, 60), of, bias, special);
        else convolve(i, s, of, bias, special);
    }
}

/* There is no sum written down for these: they are compared with the plain path on one thread. */
static void transposed(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const bool first = i % 2;
        const int64_t groups = from_to(1, 3), in = from_to(1, 20) * groups, out = from_to(1, 9), h = from_to(1, 9),
                      size = from_to(1, 3), all = out * groups;
        const int64_t x[] = { 2, first ? in : h, h, first ? h : in }, k[] = { size, size, out, in };
        const xir_conv_transpose2d_attrs *attrs =
            XIR_ATTRS(conv_transpose2d, (stride_width, 2), (dilation_height, 2), (groups, groups));
        const kind of = (kind)(i % KINDS);
        problem p = { .cls = xir_conv_transpose2d_class(), .attrs = attrs, .n = of < BYTES ? 3 : 2,
                      .unrounded = i % 5 == 0 || of > DOUBLE };
        p.types[0] = stored_as(of, first ? "NCHW" : "NHWC", x, 4);
        p.types[1] = stored_as(of, "HWOI", k, 4);
        p.types[2] = stored_as(of, "O", &all, 1);
        fill(&p, i % 4 == 0);
        run_everywhere(&p, "transposed", i);
        done(&p);
    }
}

/* ---- attention, recurrent networks, equations -------------------------------------------------------------------- */

static const xir_type *shaped(kind of, const char *layout, int64_t a, int64_t b, int64_t c, int64_t d) {
    const int64_t dims[] = { a, b, c, d };
    return stored_as(of, layout, dims, strlen(layout));
}

static void attention(void **state) {
    (void)state;
    for (int i = 0; i < CASES / 2; i++) {
        const kind of = (kind)(i % KINDS);
        const int64_t batch = from_to(1, 3), kv = from_to(1, 3), heads = kv * from_to(1, 2), queries = from_to(1, 40),
                      keys = from_to(1, 60), size = from_to(1, 40), values = from_to(1, 40);
        problem p = { .cls = xir_attention_class(), .n = 3, .unrounded = i % 3 == 0 || of > DOUBLE, .attrs = NULL };
        p.types[0] = shaped(of, "****", batch, heads, queries, size);
        p.types[1] = shaped(of, "****", batch, kv, keys, size);
        p.types[2] = shaped(of, "****", batch, kv, keys, values);
        fill(&p, i % 5 == 0);
        run_everywhere(&p, "attention", i);
        double score[60];
        for (int64_t e = 0; e < batch * heads * queries * values; e++) {
            const int64_t v = e % values, query = e / values, head = query / queries % heads,
                          b = query / queries / heads, from = (b * kv + head / (heads / kv)) * keys;
            double most = -(double)INFINITY, sum = 0, mean = 0;
            for (int64_t k = 0; k < keys; k++) {
                score[k] = 0;
                for (int64_t t = 0; t < size; t++) {
                    const double product = at(&p, 0, query * size + t) * at(&p, 1, (from + k) * size + t);
                    score[k] += product;
                }
                score[k] *= 1 / sqrt((double)size);
                if (score[k] > most || isnan(score[k])) most = score[k];
            }
            const bool sees = most != -(double)INFINITY;     /* else all weights are 0 */
            for (int64_t k = 0; k < keys; k++) sum += score[k] = sees ? exp(score[k] - most) : 0;
            if (!sees) sum = 1;
            for (int64_t k = 0; k < keys; k++) {
                const double product = score[k] * at(&p, 2, (from + k) * values + v);
                mean += product;
            }
            check(&p, (size_t)e, mean / sum, of == DOUBLE || p.unrounded, "attention", i);
        }
        done(&p);
    }
}

static void recurrent(void **state) {
    (void)state;
    for (int i = 0; i < CASES / 2; i++) {
        const kind of = (kind)(i % KINDS);
        const int64_t length = from_to(1, 6), batch = from_to(1, 9), in = from_to(1, 30), hidden = from_to(1, 40);
        const int64_t gates = i % 4 == 0 ? 4 : i % 4 == 1 ? 3 : 1;
        const xir_lstm_attrs *four = XIR_ATTRS(lstm, (hidden_size, hidden));
        const xir_gru_attrs *three = XIR_ATTRS(gru, (hidden_size, hidden));
        const xir_rnn_attrs *one = XIR_ATTRS(rnn, (hidden_size, hidden));
        problem p = { .n = 3, .unrounded = i % 3 == 0 || of > DOUBLE, .cls = gates == 4 ? xir_lstm_class() : gates == 3
                      ? xir_gru_class() : xir_rnn_class(),
                      .attrs = gates == 4 ? (const void *)four : gates == 3 ? (const void *)three : one };
        p.types[0] = shaped(of, "***", length, batch, in, 0);
        p.types[1] = shaped(of, "***", 1, gates * hidden, in, 0);
        p.types[2] = shaped(of, "***", 1, gates * hidden, hidden, 0);
        fill(&p, i % 5 == 0);
        run_everywhere(&p, "recurrent", i);
        double *h = calloc((size_t)(2 * batch * hidden), sizeof *h), *next = h + batch * hidden;
        assert_non_null(h);
        for (int64_t t = 0; t < length && gates == 1; t++) {
            for (int64_t e = 0; e < batch * hidden; e++) {
                const int64_t b = e / hidden, k = e % hidden;
                double sum = 0, carried = 0;
                for (int64_t j = 0; j < in; j++) {
                    const double product = at(&p, 0, (t * batch + b) * in + j) * at(&p, 1, k * in + j);
                    sum += product;
                }
                for (int64_t j = 0; j < hidden; j++) {
                    const double product = h[b * hidden + j] * at(&p, 2, k * hidden + j);
                    carried += product;
                }
                next[e] = tanh(sum + carried);
                check(&p, (size_t)(t * batch * hidden + e), next[e], of == DOUBLE || p.unrounded, "recurrent", i);
            }
            memcpy(h, next, (size_t)(batch * hidden) * sizeof *h);
        }
        free(h);
        done(&p);
    }
}

/* The sum over the letters that the output lacks, as products of matrices and, where that is not one, by definition. */
static void equations(void **state) {
    (void)state;
    static const char *const texts[] = { "aij,ajk->aik", "aij,akj->iak", "aij,ajk->ki", "iaj,kja->ki", "iaa,jak->ikj" };
    for (int i = 0; i < CASES; i++) {
        const kind type = (kind)(i % KINDS);
        int64_t of[26] = { 0 };
        for (size_t k = 0; k < 26; k++) of[k] = from_to(1, 20);
        const char *t = texts[(size_t)i % COUNT(texts)];
        problem p = { .cls = xir_einsum_class(), .n = 2, .unrounded = i % 3 == 0 || type > DOUBLE,
                      .attrs = XIR_ATTRS(einsum, (equation, xir_str_of(t))) };
        p.types[0] = shaped(type, "***", of[t[0] - 'a'], of[t[1] - 'a'], of[t[2] - 'a'], 0);
        p.types[1] = shaped(type, "***", of[t[4] - 'a'], of[t[5] - 'a'], of[t[6] - 'a'], 0);
        fill(&p, i % 5 == 0);
        run_everywhere(&p, t, i);
        const char *out = t + 9;
        char summed[4] = "";
        for (const char *s = "aijk"; *s; s++)
            if (!strchr(out, *s)) summed[strlen(summed)] = *s;
        int64_t index[26] = { 0 };
        for (size_t e = 0; e < xir_array_count(p.out); e++) {
            size_t rest = e;
            for (size_t k = strlen(out); k-- > 0; rest /= (size_t)of[out[k] - 'a'])
                index[out[k] - 'a'] = (int64_t)(rest % (size_t)of[out[k] - 'a']);
            double sum = 0;
            int64_t n = 1;
            for (const char *s = summed; *s; s++) n *= of[*s - 'a'];
            for (int64_t m = 0; m < n; m++) {
                int64_t left = m, a = 0, b = 0;
                for (size_t k = strlen(summed); k-- > 0; left /= of[summed[k] - 'a'])
                    index[summed[k] - 'a'] = left % of[summed[k] - 'a'];
                for (int k = 0; k < 3; k++) {
                    a = a * of[t[k] - 'a'] + index[t[k] - 'a'];
                    b = b * of[t[4 + k] - 'a'] + index[t[4 + k] - 'a'];
                }
                const double product = at(&p, 0, a) * at(&p, 1, b);
                sum += product;
            }
            check(&p, e, sum, type == DOUBLE || p.unrounded, t, i);
        }
        done(&p);
    }
}

/* ---- the environment --------------------------------------------------------------------------------------------- */

static void a_path_that_is_missing_falls_back(void **state) {
    (void)state;
    way_set("", NULL);
    const gemm_path *best = gemm_path_now();
    for (size_t i = 0; gemm_path_at(i); i++) {
        way_set(gemm_path_at(i)->name, NULL);
        assert_ptr_equal(gemm_path_now(), gemm_path_at(i));
    }
    way_set("none", NULL);
    assert_ptr_equal(gemm_path_now(), best);
    way_reset();
    print_message("paths of this processor: up to %s\n", best->name);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices),
        cmocka_unit_test(edges),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(depthwise),
        cmocka_unit_test(pointwise),
        cmocka_unit_test(element_types),
        cmocka_unit_test(transposed),
        cmocka_unit_test(attention),
        cmocka_unit_test(recurrent),
        cmocka_unit_test(equations),
        cmocka_unit_test(a_path_that_is_missing_falls_back),
    };
    return RUN_GROUP(tests);
}

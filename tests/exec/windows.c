/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random convolutions, transposed ones, pools and im2col compared with their formulas, written as loops over every
 * index: one to three axes, strides, dilations, pads of both signs, groups, padding modes, biases, reals and
 * integers, axes in any order. Numbers are small integers, so that results are exact. */
#include <stdio.h>
#include "support/again.h"
#include "support/exec_case.h"
#include "support/often.h"

enum { CASES = OFTEN(10000), AXES = 3, MOST_CELLS = 4096, TEXT = 1 << 18 };
enum { N, D, H, W, C, RANK };   /* axes of a map; a kernel has I and O, or O and I, instead of N and C */

typedef enum op_kind { CONV, TRANSPOSED, MAX_POOL, AVG_POOL, UNFOLD, KINDS } op_kind;

typedef struct axis { int64_t size, stride, dilation, before, after, extra; } axis;

/* Elements by axis; missing spatial axes have size 1. */
typedef struct tensor {
    int64_t dim[RANK];
    int64_t v[MOST_CELLS];
} tensor;

static int64_t *cell(tensor *t, int64_t n, const int64_t p[AXES], int64_t c) {
    return &t->v[(((n * t->dim[D] + p[0]) * t->dim[H] + p[1]) * t->dim[W] + p[2]) * t->dim[C] + c];
}

static int64_t count(const tensor *t) {
    int64_t n = 1;
    for (int k = 0; k < RANK; k++) n *= t->dim[k];
    return n;
}

static int64_t from_to(int64_t low, int64_t high) { return low + (int64_t)chance((uint64_t)(high - low + 1)); }
static bool one_in(uint64_t n) { return chance(n) == 0; }

static void fill(tensor *t) {
    for (int64_t i = 0; i < count(t); i++) t->v[i] = from_to(-9, 9);
}

static bool next(int64_t p[AXES], const int64_t *dim) {
    for (int k = AXES; k-- > 0;) {
        if (++p[k] < dim[k]) return true;
        p[k] = 0;
    }
    return false;
}

/* ---- a case as text --------------------------------------------------------------------------------------------- */

static char   text[TEXT];
static size_t size;

static void put(const char *format, ...) XIR_PRINTF(1, 2);
static void put(const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text + size, TEXT - size, format, list);
    va_end(list);
    assert_in_range(n, 0, TEXT - size - 1);
    size += (size_t)n;
}

/* Axes by their letters; '.' is a missing axis. */
static const char *const maps[AXES + 1] = { "", "N..LC", "N.HWC", "NDHWC" };
static const char *const kernels[AXES + 1] = { "", "I..LO", "I.HWO", "IDHWO" };

/* A permutation of RANK axes. */
static void shuffle(int order[RANK]) {
    for (int i = 0; i < RANK; i++) order[i] = i;
    for (int i = RANK; i > 1; i--) {
        int j = (int)chance((uint64_t)i), other = order[i - 1];
        order[i - 1] = order[j];
        order[j] = other;
    }
}

/* A tensor with its axes in this order. LEAST is the lowest number of its type. */
#define LEAST INT64_MIN
static void put_tensor(const char *element, const char *letters, const int order[RANK], tensor *t) {
    int64_t at[RANK] = { 0 }, n = 1;
    const char *sep = "";
    put("%s ", element);
    for (int i = 0; i < RANK; i++) {
        if (letters[order[i]] != '.') put("%c", letters[order[i]]);
    }
    put(" ");
    for (int i = 0; i < RANK; i++) {
        if (letters[order[i]] == '.') continue;
        put("%s%lld", sep, (long long)t->dim[order[i]]);
        n *= t->dim[order[i]];
        sep = "x";
    }
    put(" =");
    for (int64_t e = 0; e < n; e++) {
        int64_t rest = e;
        for (int i = RANK; i-- > 0;) {
            if (letters[order[i]] == '.') continue;
            at[order[i]] = rest % t->dim[order[i]];
            rest /= t->dim[order[i]];
        }
        int64_t v = *cell(t, at[N], at + 1, at[C]);
        if (v == LEAST) put(strcmp(element, "i32") == 0 ? " -2147483648" : " -inf");
        else put(" %lld", (long long)v);
    }
}

/* ---- by definition ---------------------------------------------------------------------------------------------- */

typedef struct a_case {
    op_kind     kind;
    int         n;
    axis        along[AXES];
    int64_t     groups, in, out;       /* I and O of the kernel */
    xir_padding mode;
    bool        padding_counts, integers;
    int64_t     divisor;
    tensor      x, k, y;               /* the kernel as [in, D, H, W, out] */
    int64_t     bias[64];
    bool        has_bias;
} a_case;

/* The input cell that padding copies for a position outside; -1: 0. */
static int64_t inside(int64_t i, int64_t n, xir_padding mode) {
    while (i < 0 || i >= n) {
        if (mode == XIR_PADDING_ZEROS) return -1;
        if (mode == XIR_PADDING_REFLECT) i = i < 0 ? -i : 2 * (n - 1) - i;
        if (mode == XIR_PADDING_REPLICATE) i += i < 0 ? 1 : -1;
        if (mode == XIR_PADDING_CIRCULAR) i += i < 0 ? n : -n;
    }
    return i;
}

/* The position in `over` of cell k of the window at p; false if it is outside. */
static bool meets(const a_case *c, const int64_t *over, const int64_t *p, const int64_t *k, int64_t *out) {
    for (int a = 0; a < AXES; a++) {
        const axis *s = &c->along[a];
        out[a] = inside(s->stride * p[a] - s->before + s->dilation * k[a], over[a], c->mode);
        if (out[a] < 0) return false;
    }
    return true;
}

static void sizes(const a_case *c, int64_t *out) {
    for (int a = 0; a < AXES; a++) out[a] = c->along[a].size;
}

/* One output cell: the sum over its channels and taps. */
static int64_t gathered(a_case *c, int64_t n, const int64_t *p, int64_t o) {
    int64_t sum = c->has_bias ? c->bias[o] : 0, most = LEAST, cells = 0, all = 1, k[AXES] = { 0 }, q[AXES], size_[AXES];
    sizes(c, size_);
    do {
        all = size_[0] * size_[1] * size_[2];
        if (!meets(c, c->x.dim + D, p, k, q)) continue;
        cells++;
        if (c->kind == CONV) {
            int64_t first = o / (c->out / c->groups) * c->in;
            for (int64_t i = 0; i < c->in; i++) sum += *cell(&c->x, n, q, first + i) * *cell(&c->k, i, k, o);
        } else {
            int64_t v = *cell(&c->x, n, q, o);
            sum += v;
            if (v > most) most = v;
        }
    } while (next(k, size_));
    if (c->kind == MAX_POOL) return most;
    if (c->kind == AVG_POOL) return sum / (c->divisor ? c->divisor : c->padding_counts ? all : cells ? cells : 1);
    return sum;
}

static void compute(a_case *c) {
    int64_t p[AXES] = { 0 }, k[AXES], q[AXES], size_[AXES];
    sizes(c, size_);
    memset(c->y.v, 0, sizeof c->y.v);
    if (c->kind == UNFOLD) {   // y is [N, ., ., L, C * cells]
        int64_t places[AXES] = { 1, 0, 0 };
        for (int a = 1; a < AXES; a++) {
            const axis *s = &c->along[a];
            places[a] = (c->x.dim[D + a] + s->before + s->after - s->dilation * (s->size - 1) - 1) / s->stride + 1;
        }
        for (int64_t n = 0; n < c->x.dim[N]; n++) {
            int64_t l[AXES] = { 0 };
            do {
                memset(k, 0, sizeof k);
                int64_t t = 0;
                do {
                    for (int64_t i = 0; i < c->x.dim[C]; i++) {
                        if (!meets(c, c->x.dim + D, p, k, q)) continue;
                        *cell(&c->y, n, l, i * size_[1] * size_[2] + t) = *cell(&c->x, n, q, i);
                    }
                    t++;
                } while (next(k, size_));
                l[2]++;
            } while (next(p, places));
        }
        return;
    }
    const tensor *placed = c->kind == TRANSPOSED ? &c->x : &c->y;
    for (int64_t n = 0; n < c->y.dim[N]; n++) {
        for (int64_t o = 0; c->kind == TRANSPOSED && o < c->y.dim[C]; o++) {
            int64_t all[AXES] = { 0 };
            do *cell(&c->y, n, all, o) = c->has_bias ? c->bias[o] : 0;
            while (next(all, c->y.dim + D));
        }
        do {
            if (c->kind != TRANSPOSED) {
                for (int64_t o = 0; o < c->y.dim[C]; o++) *cell(&c->y, n, p, o) = gathered(c, n, p, o);
                continue;
            }
            memset(k, 0, sizeof k);
            do {
                if (!meets(c, c->y.dim + D, p, k, q)) continue;
                for (int64_t i = 0; i < c->in; i++) {
                    int64_t g = i / (c->in / c->groups);
                    for (int64_t o = 0; o < c->out; o++) {
                        *cell(&c->y, n, q, g * c->out + o) += *cell(&c->x, n, p, i) * *cell(&c->k, i, k, o);
                    }
                }
            } while (next(k, size_));
        } while (next(p, placed->dim + D));
    }
}

/* ---- random cases ----------------------------------------------------------------------------------------------- */

/* False if it has no output, or one that is too large. */
static bool make_case(a_case *c, op_kind kind) {
    *c = (a_case){ .kind = kind, .n = kind == UNFOLD ? 2 : (int)from_to(1, AXES), .groups = one_in(2) ? 1
                   : from_to(1, 3),
                   .integers = one_in(3), .has_bias = (kind == CONV || kind == TRANSPOSED) && one_in(2) };
    int64_t left = from_to(1, 3), right = from_to(1, 3);
    if (kind == CONV && one_in(2)) c->mode = (xir_padding)chance(4);
    if (kind != CONV && kind != TRANSPOSED) c->groups = 1;
    c->x.dim[N] = from_to(1, 2);
    c->x.dim[C] = left * c->groups;
    c->in = kind == TRANSPOSED ? c->x.dim[C] : left;
    c->out = kind == TRANSPOSED ? right : right * c->groups;
    c->padding_counts = one_in(2);
    c->divisor = one_in(3) ? from_to(1, 5) : 0;
    c->y.dim[N] = c->x.dim[N];
    c->y.dim[C] = kind == CONV ? c->out : kind == TRANSPOSED ? c->out * c->groups : c->x.dim[C];
    for (int a = 0; a < AXES; a++) {
        axis *s = &c->along[a];
        int64_t *x = &c->x.dim[D + a], *y = &c->y.dim[D + a];
        *s = (axis){ .size = 1, .stride = 1, .dilation = 1 };
        *x = *y = 1;
        if (a < AXES - c->n) continue;
        *x = from_to(1, 6);
        *s = (axis){ from_to(1, 3), from_to(1, 3), kind == AVG_POOL ? 1 : from_to(1, 2), from_to(-1, 2),
                     from_to(-1, 2), 0 };
        if (c->mode != XIR_PADDING_ZEROS) {   // no negative pads, and mirrored cells must exist
            int64_t most = c->mode == XIR_PADDING_REFLECT ? *x - 1 : c->mode == XIR_PADDING_CIRCULAR ? *x : 2;
            if (s->before < 0 || s->before > most) s->before = 0;
            if (s->after < 0 || s->after > most) s->after = 0;
        }
        if (kind == TRANSPOSED && one_in(2))
            s->extra = from_to(0, (s->stride > s->dilation ? s->stride : s->dilation) - 1);
        int64_t reach = s->dilation * (s->size - 1) + 1;
        if (kind == TRANSPOSED) *y = (*x - 1) * s->stride - s->before - s->after + reach + s->extra;
        else if (*x + s->before + s->after < reach) return false;
        else *y = (*x + s->before + s->after - reach) / s->stride + 1;
        if (*y < 1) return false;
    }
    if (kind == UNFOLD) {
        c->y.dim[W] *= c->y.dim[H];
        c->y.dim[H] = 1;
        c->y.dim[C] *= c->along[1].size * c->along[2].size;
    }
    c->k.dim[N] = c->in;
    c->k.dim[C] = c->out;
    for (int a = 0; a < AXES; a++) c->k.dim[D + a] = c->along[a].size;
    if (count(&c->x) > MOST_CELLS || count(&c->y) > MOST_CELLS || count(&c->k) > MOST_CELLS) return false;
    fill(&c->x);
    fill(&c->k);
    for (int64_t o = 0; o < c->y.dim[C] && o < 64; o++) c->bias[o] = from_to(-9, 9);
    return true;
}

/* Averages of reals are not integers: with a divisor of 1 they are sums. */
static void put_case(a_case *c) {
    static const char *const names[KINDS] = { "Conv", "ConvTranspose", "MaxPool", "AvgPool", "Unfold" };
    static const char *const axis_names[AXES] = { "depth", "height", "width" };
    static const char *const pads[AXES][2] = {
        { "pad_front", "pad_back" }, { "pad_top", "pad_bottom" }, { "pad_left", "pad_right" },
    };
    static const int as_named[RANK] = { N, D, H, W, C };
    int order[RANK], kernel_order[RANK];
    const char *element = c->integers ? "i32" : one_in(2) ? "fp32" : "fp64";
    if (c->kind == AVG_POOL && !c->integers) c->divisor = 1;
    if (c->kind == MAX_POOL) c->mode = XIR_PADDING_ZEROS;
    compute(c);
    size = 0;
    if (c->kind == UNFOLD) put("Unfold(");
    else put("%s%dd(", names[c->kind], c->n);
    shuffle(order);
    shuffle(kernel_order);
    put_tensor(element, maps[c->n], c->kind == UNFOLD ? as_named : order, &c->x);
    if (c->kind == CONV || c->kind == TRANSPOSED) {
        put(", ");
        put_tensor(element, kernels[c->n], kernel_order, &c->k);
    }
    if (c->has_bias) {
        put(", %s O %lld =", element, (long long)c->y.dim[C]);
        for (int64_t o = 0; o < c->y.dim[C]; o++) put(" %lld", (long long)c->bias[o]);
    }
    put(")");
    for (int a = AXES - c->n; a < AXES; a++) {
        const axis *s = &c->along[a];
        put(" stride_%s=%lld %s=%lld %s=%lld", axis_names[a], (long long)s->stride, pads[a][0],
            (long long)s->before, pads[a][1], (long long)s->after);
        if (c->kind != AVG_POOL) put(" dilation_%s=%lld", axis_names[a], (long long)s->dilation);
        if (c->kind == MAX_POOL || c->kind == AVG_POOL) put(" pool_%s=%lld", axis_names[a], (long long)s->size);
        if (c->kind == UNFOLD) put(" kernel_%s=%lld", axis_names[a], (long long)s->size);
        if (c->kind == TRANSPOSED) put(" output_pad_%s=%lld", axis_names[a], (long long)s->extra);
    }
    if (c->kind == CONV || c->kind == TRANSPOSED) put(" groups=%lld", (long long)c->groups);
    if (c->kind == CONV) put(" padding_mode=%d", (int)c->mode);
    if (c->kind == AVG_POOL) put(" divisor_override=%lld", (long long)c->divisor);
    if (c->kind == AVG_POOL) put(" count_include_pad=%s", c->padding_counts ? "true" : "false");
    put(" -> ");
    if (c->kind == UNFOLD) put_tensor(element, maps[1], as_named, &c->y);
    else put_tensor(element, maps[c->n], order, &c->y);
}

static void windows_are_as_defined(void **state) {
    (void)state;
    static a_case c;
    op_counts counts = { .out = stderr };
    const int cases = (int)again_cases(CASES);
    for (int i = 0; i < cases && counts.failed < 5; i++) {
        if (!make_case(&c, (op_kind)(i % KINDS))) continue;
        put_case(&c);
        exec_case_run(text, "case", i, &counts);
    }
    printf("%zu cases\n", counts.good);
    assert_int_equal(counts.failed, 0);
    assert_true(counts.good > (size_t)cases / 2);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(windows_are_as_defined) };
    return RUN_GROUP(tests);
}

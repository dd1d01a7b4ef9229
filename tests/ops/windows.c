/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random convolutions, transposed ones, pools and im2col compared with a second implementation that is slow and
 * obvious: it walks a window over the padded input, or marks the cells that a kernel writes to. Attributes are set
 * by name and dims placed by letter, in any order. Then some dims become unknown, and exactly the dims that depend
 * on them must become unknown. */
#include <stdio.h>
#include "support/forms.h"
#include "graph.h"
#include "support/often.h"
#include <xir/xir.h>
#include <xir/icraft.h>

enum { CASES = OFTEN(100000), CASES_A_NETWORK = 2000, MOST = 3, MOST_RANK = MOST + 2, MARKS = 256 };

/* ---- a case ----------------------------------------------------------------------------------------------------- */

typedef enum op_kind { CONV, TRANSPOSED, MAX_POOL, AVG_POOL, UNFOLD } op_kind;

typedef struct axis {
    int64_t input, size, stride, dilation, before, after, extra;
} axis;

typedef struct a_case {
    op_kind     kind;
    size_t      n;              /* spatial axes: D, H, W; H, W; W */
    axis        along[MOST];
    int64_t     batch, channels, in, out, groups, bias;   /* I and O of the kernel; bias below 0: none */
    xir_padding mode;
} a_case;

static const char *const axis_names[MOST] = { "depth", "height", "width" };
static const char *const pad_names[MOST][2] = {
    { "pad_front", "pad_back" }, { "pad_top", "pad_bottom" }, { "pad_left", "pad_right" },
};

/* The name of axis k. */
static size_t named(const a_case *c, size_t k) { return MOST - c->n + k; }

static const xir_class_decl *class_of_case(const a_case *c) {
    const xir_class_decl *const classes[][MOST] = {
        [CONV]       = { xir_conv1d_class(), xir_conv2d_class(), xir_conv3d_class() },
        [TRANSPOSED] = { xir_conv_transpose1d_class(), xir_conv_transpose2d_class(), xir_conv_transpose3d_class() },
        [MAX_POOL]   = { xir_max_pool1d_class(), xir_max_pool2d_class(), xir_max_pool3d_class() },
        [AVG_POOL]   = { xir_avg_pool1d_class(), xir_avg_pool2d_class(), xir_avg_pool3d_class() },
        [UNFOLD]     = { NULL, xir_unfold_class(), NULL },
    };
    return classes[c->kind][c->n - 1];
}

static void print_case(const a_case *c) {
    print_error("kind %d, %zu axes, batch %lld, channels %lld, I %lld, O %lld, groups %lld, bias %lld, mode %d\n",
                (int)c->kind, c->n, (long long)c->batch, (long long)c->channels, (long long)c->in, (long long)c->out,
                (long long)c->groups, (long long)c->bias, (int)c->mode);
    for (size_t k = 0; k < c->n; k++) {
        const axis *a = &c->along[k];
        print_error("  %s: input %lld, size %lld, stride %lld, dilation %lld, pads %lld and %lld, extra %lld\n",
                    axis_names[named(c, k)], (long long)a->input, (long long)a->size, (long long)a->stride,
                    (long long)a->dilation, (long long)a->before, (long long)a->after, (long long)a->extra);
    }
}

static int64_t from_to(int64_t low, int64_t high) { return low + (int64_t)chance((uint64_t)(high - low + 1)); }
static bool one_in(uint64_t n) { return chance(n) == 0; }

static a_case random_case(op_kind kind) {
    a_case c = { .kind = kind, .n = kind == UNFOLD ? 2 : 1 + chance(MOST), .batch = from_to(0, 4), .groups = 1,
                 .bias = -1 };
    for (size_t k = 0; k < c.n; k++) {
        axis *a = &c.along[k];
        *a = (axis){ .input = from_to(one_in(9) ? 0 : 1, 14), .size = from_to(1, 5), .stride = from_to(1, 4),
                     .dilation = from_to(1, 3) };
        if (kind == AVG_POOL) a->dilation = 1;
        if (!one_in(3)) a->before = from_to(one_in(5) ? -4 : 0, 4);
        if (!one_in(3)) a->after = from_to(one_in(5) ? -4 : 0, 4);
        if (kind == TRANSPOSED && one_in(2)) a->extra = from_to(one_in(9) ? -1 : 0, 4);
    }
    if (!one_in(3)) c.groups = from_to(1, 4);
    int64_t left = from_to(1, 4), right = from_to(1, 4);
    c.channels = left * c.groups;
    c.in = kind == TRANSPOSED ? c.channels : left;
    c.out = kind == TRANSPOSED ? right : right * c.groups;
    if (kind == CONV && one_in(2)) c.mode = (xir_padding)chance(4);
    if (kind == CONV || kind == TRANSPOSED) {
        if (one_in(2)) c.bias = kind == TRANSPOSED ? right * c.groups : c.out;
        if (one_in(12)) c.in = from_to(1, 8);
        if (one_in(12)) c.out = from_to(1, 8);
        if (one_in(12)) c.bias = from_to(1, 16);
    }
    return c;
}

/* ---- the slow implementation ------------------------------------------------------------------------------------ */

/* Returns true if the input has the cell that padding copies. */
static bool padding_is_there(const a_case *c, const axis *a) {
    const int64_t pads[2] = { a->before, a->after };
    for (size_t side = 0; side < 2; side++) {
        if (c->mode != XIR_PADDING_ZEROS && pads[side] < 0) return false;
        for (int64_t p = 1; p <= pads[side]; p++) {   /* the p-th cell outside is a copy of the cell */
            int64_t cell = c->mode == XIR_PADDING_REFLECT ? p : c->mode == XIR_PADDING_CIRCULAR ? a->input - p : 0;
            if (c->mode != XIR_PADDING_ZEROS && (cell < 0 || cell >= a->input)) return false;
        }
    }
    return true;
}

/* Walks the window over the padded input, cell by cell, and counts the positions that are entirely inside. */
static int64_t walk(const axis *a) {
    int64_t places = 0;
    for (int64_t start = -a->before, step = 0; start < a->input + a->after; start++, step++) {
        bool inside = true;
        for (int64_t tap = 0; tap < a->size; tap++) inside &= start + tap * a->dilation < a->input + a->after;
        places += inside && step % a->stride == 0;
    }
    return places;
}

/* Marks the cells that the kernel writes to from each input cell; counts those between the pads, plus `extra`. */
static int64_t mark(const axis *a) {
    bool marked[MARKS] = { false };
    int64_t length = 0;
    for (int64_t cell = 0; cell < a->input; cell++) {
        for (int64_t tap = 0; tap < a->size; tap++) marked[cell * a->stride + tap * a->dilation] = true;
    }
    for (int64_t i = 0; i < MARKS; i++) {
        if (marked[i]) length = i + 1;
    }
    return length - a->before - a->after + a->extra;
}

/* The output's batch, spatial dims and channels; false if there is no output. */
static bool expected(const a_case *c, int64_t out[MOST_RANK]) {
    bool kernel = c->kind == CONV || c->kind == TRANSPOSED;
    out[0] = c->batch;
    for (size_t k = 0; k < c->n; k++) {
        const axis *a = &c->along[k];
        bool too_much = a->extra < 0 || (a->extra >= a->stride && a->extra >= a->dilation);
        if (c->kind == TRANSPOSED && (a->input == 0 || too_much)) return false;
        if (!padding_is_there(c, a)) return false;
        out[1 + k] = c->kind == TRANSPOSED ? mark(a) : walk(a);
        if (out[1 + k] < 1) return false;
    }
    out[1 + c->n] = c->kind == TRANSPOSED ? c->out * c->groups : kernel ? c->out : c->channels;
    if (c->kind == UNFOLD) {
        out[3] *= c->along[0].size * c->along[1].size;
        out[1] *= out[2];
    }
    if (!kernel) return true;
    if (c->kind == CONV && (c->in * c->groups != c->channels || c->out % c->groups)) return false;
    if (c->kind == TRANSPOSED && (c->in != c->channels || c->channels % c->groups)) return false;
    return c->bias < 0 || c->bias == out[1 + c->n];
}

/* ---- the library ------------------------------------------------------------------------------------------------ */

static void set_attr(const xir_class *cls, void *body, const char *name, int64_t value) {
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        if (strcmp(cls->fields[i].name.data, name) == 0) {
            if (cls->fields[i].kind == XIR_KIND_ENUM) *(int *)((char *)body + cls->fields[i].offset) = (int)value;
            else memcpy((char *)body + cls->fields[i].offset, &value, sizeof value);
            return;
        }
    }
    fail_msg("%.*s has no attribute %s", (int)cls->key.size, cls->key.data, name);
}

static void set_of_axis(const xir_class *cls, void *body, const char *what, const char *name, int64_t value) {
    char attribute[40];
    snprintf(attribute, sizeof attribute, "%s_%s", what, name);
    set_attr(cls, body, attribute, value);
}

static void fill_body(const a_case *c, const xir_class *cls, void *body) {
    static const char *const sizes[] = { [MAX_POOL] = "pool", [AVG_POOL] = "pool", [UNFOLD] = "kernel" };
    memcpy(body, cls->defaults, cls->body_size);
    for (size_t k = 0; k < c->n; k++) {
        const axis *a = &c->along[k];
        const char *name = axis_names[named(c, k)];
        set_of_axis(cls, body, "stride", name, a->stride);
        if (c->kind != AVG_POOL) set_of_axis(cls, body, "dilation", name, a->dilation);
        if (c->kind == TRANSPOSED) set_of_axis(cls, body, "output_pad", name, a->extra);
        if (c->kind != CONV && c->kind != TRANSPOSED) set_of_axis(cls, body, sizes[c->kind], name, a->size);
        set_attr(cls, body, pad_names[named(c, k)][0], a->before);
        set_attr(cls, body, pad_names[named(c, k)][1], a->after);
    }
    if (c->kind == CONV) set_attr(cls, body, "padding_mode", c->mode);
    if (c->kind == CONV || c->kind == TRANSPOSED) set_attr(cls, body, "groups", c->groups);
}

/* A type with dims in any order; `at` gives the position of each. Without letters the order is as given. */
typedef struct placed {
    const xir_type *type;
    size_t          rank, at[MOST_RANK];
} placed;

static placed place(const char *letters, const int64_t *dims) {
    placed p = { .rank = strlen(letters) };
    bool plain = one_in(8);
    char axes[MOST_RANK + 1] = { 0 };
    int64_t shape[MOST_RANK];
    for (size_t k = 0; k < p.rank; k++) p.at[k] = k;
    for (size_t k = p.rank; k-- > 1 && !plain;) {
        size_t other = chance(k + 1), kept = p.at[k];
        p.at[k] = p.at[other];
        p.at[other] = kept;
    }
    for (size_t k = 0; k < p.rank; k++) {
        axes[p.at[k]] = plain ? '*' : letters[k];
        shape[p.at[k]] = dims[k];
    }
    p.type = xir_type_tensor_text(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), axes, shape, p.rank);
    assert_non_null(p.type);
    return p;
}

static placed with_unknown(const placed *p, const bool *unknown) {
    placed now = *p;
    int64_t shape[MOST_RANK];
    for (size_t k = 0; k < p->rank; k++)
        shape[p->at[k]] = unknown[k] ? -1 : xir_type_dim(p->type, (int64_t)p->at[k], false);
    now.type = xir_type_tensor(ctx, xir_type_element(p->type), xir_type_layout(p->type), shape, p->rank);
    assert_non_null(now.type);
    return now;
}

/* A network with three values whose types the inputs get. */
static struct { xir_network *net; xir_value *values[3]; size_t cases; } desk;

static void new_desk(void) {
    const xir_type *any = xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, NULL, 0),
                    *types[] = { any, any, any };
    if (desk.net) xir_network_free(desk.net);
    desk.net = xir_network_new(ctx, "net", XIR_FRAMEWORK_PYTORCH, "v1.9");
    assert_non_null(desk.net);
    xir_op *input = xir_inputs(XIR_AT(desk.net), "in", types, 3);
    assert_non_null(input);
    for (int64_t i = 0; i < 3; i++) desk.values[i] = xir_op_output(input, i);
    desk.cases = 0;
}

/* The output's type, NULL if the op is refused. */
static const xir_type *infer(const void *body, const xir_class *cls, const placed *inputs, size_t n) {
    for (size_t i = 0; i < n; i++) assert_int_equal(xir_value_set_type(desk.values[i], inputs[i].type), XIR_OK);
    xir_infer at;
    infer_start(&at, desk.net, cls, body, NULL, desk.values, n, XIR_STR(""), NULL);
    xir_status status = infer_run(&at);
    const xir_type *type = status ? NULL : at.out[0];
    assert_int_equal(at.n_out, status ? 0 : 1);
    infer_end(&at);
    return type;
}

/* ---- comparison ------------------------------------------------------------------------------------------------- */

static const char *map_of(const a_case *c) {
    static const char *const letters[] = { "NLC", "NHWC", "NDHWC" };
    return letters[c->n - 1];
}

static const char *kernel_of(const a_case *c) {
    static const char *const letters[2][MOST] = { { "LIO", "HWIO", "DHWIO" }, { "LOI", "HWOI", "DHWOI" } };
    return letters[c->kind == TRANSPOSED][c->n - 1];
}

/* Returns true if the output's dims, by letter, are these. */
static bool dims_are(const a_case *c, const xir_type *type, const placed *input, const int64_t *out) {
    size_t at[MOST_RANK];
    size_t rank = c->kind == UNFOLD ? 3 : c->n + 2;
    memcpy(at, input->at, sizeof at);
    if (c->kind == UNFOLD) {   /* N, the first of H and W, and C, as they stand */
        const size_t was[3] = { at[0], at[1] < at[2] ? at[1] : at[2], at[3] };
        for (size_t k = 0; k < 3; k++) at[k] = (was[0] < was[k]) + (was[1] < was[k]) + (was[2] < was[k]);
    } else if (xir_type_layout(type) != xir_type_layout(input->type)) {
        /* of different pools: their texts are the same */
        xir_str a = xir_layout_text(xir_type_layout(type)), b = xir_layout_text(xir_type_layout(input->type));
        if (a.size != b.size || memcmp(a.data, b.data, a.size) != 0) return false;
    }
    if (xir_type_rank(type) != rank) return false;
    for (size_t k = 0; k < rank; k++) {
        int64_t dim = out[c->kind == UNFOLD && k == 2 ? 3 : k];
        if (xir_type_dim(type, (int64_t)at[k], false) != dim) return false;
    }
    return true;
}

static void check(const a_case *c, const xir_type *type, const placed *input, const int64_t *out, const char *what) {
    if (type && dims_are(c, type, input, out)) return;
    print_case(c);
    print_error("%s: expected", what);
    for (size_t k = 0; k < c->n + 2; k++) print_error(" %lld", (long long)out[k]);
    print_error(", found");
    for (size_t k = 0; k < xir_type_rank(type); k++)
        print_error(" %lld", (long long)xir_type_dim(type, (int64_t)k, false));
    fail_msg("%s", type ? "" : "nothing");
}

/* Some dims of all inputs become unknown: checks the output's dims. */
static void check_unknown(const a_case *c, const void *body, const xir_class *cls, const placed *inputs, size_t n,
                          const int64_t *out) {
    bool unknown[3][MOST_RANK] = { { false } };
    placed now[3];
    int64_t then[MOST_RANK];
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < inputs[i].rank; k++) unknown[i][k] = one_in(4);
        now[i] = with_unknown(&inputs[i], unknown[i]);
    }
    size_t filters = c->kind == TRANSPOSED ? c->n : c->n + 1;
    bool kernel = n > 1;
    memcpy(then, out, sizeof then);
    if (unknown[0][0]) then[0] = -1;
    for (size_t k = 0; k < c->n; k++) {
        if (unknown[0][1 + k] || (kernel && unknown[1][k])) then[1 + k] = -1;
    }
    if (kernel ? unknown[1][filters] : unknown[0][1 + c->n]) then[1 + c->n] = -1;
    if (c->kind == UNFOLD && (unknown[0][1] || unknown[0][2])) then[1] = -1;
    check(c, infer(body, cls, now, n), &now[0], then, "with unknown dims");
}

static void run(op_kind kind, size_t cases) {
    size_t good = 0;
    for (size_t i = 0; i < cases; i++) {
        if (!desk.net || desk.cases++ == CASES_A_NETWORK) new_desk();
        a_case c = random_case(kind);
        const xir_class *cls = xir_class_find_decl(ctx, class_of_case(&c));
        uint64_t body[64];
        assert_true(cls->body_size <= sizeof body);
        fill_body(&c, cls, body);

        int64_t map[MOST_RANK] = { c.batch }, weights[MOST_RANK], out[MOST_RANK] = { 0 };
        for (size_t k = 0; k < c.n; k++) {
            map[1 + k] = c.along[k].input;
            weights[k] = c.along[k].size;
        }
        map[1 + c.n] = c.channels;
        weights[c.n + (kind == TRANSPOSED)] = c.in;
        weights[c.n + (kind != TRANSPOSED)] = c.out;
        placed inputs[3] = { place(map_of(&c), map) };
        size_t n = 1;
        if (kind == CONV || kind == TRANSPOSED) inputs[n++] = place(kernel_of(&c), weights);
        if (n > 1 && c.bias >= 0) inputs[n++] = place("O", &c.bias);

        bool right = expected(&c, out);
        const xir_type *type = infer(body, cls, inputs, n);
        if (right) {
            check(&c, type, &inputs[0], out, "all known");
            check_unknown(&c, body, cls, inputs, n, out);
            good++;
        } else if (type) {
            print_case(&c);
            fail_msg("this is to be refused");
        }
    }
    /* Neither side of the comparison is rare. */
    assert_in_range(good, cases / 5, cases - cases / 20);
    xir_network_free(desk.net);
    desk.net = NULL;
}

static void convolutions(void **state)            { (void)state; run(CONV, CASES); }
static void transposed_convolutions(void **state) { (void)state; run(TRANSPOSED, CASES); }
static void greatest_of_windows(void **state)     { (void)state; run(MAX_POOL, CASES); }
static void means_of_windows(void **state)        { (void)state; run(AVG_POOL, CASES); }
static void windows_as_columns(void **state)      { (void)state; run(UNFOLD, CASES / 4); }

/* ---- out of memory ---------------------------------------------------------------------------------------------- */

/* The type with every other of the first eight elements of some dims invalid: more runs than fit without allocation. */
static const xir_type *with_holes(xir_context *with, const xir_type *type, const int64_t *axes, size_t n) {
    if (type) type = xir_type_add_distr(with, type, axes, n, NULL);
    for (int64_t i = 1; i < 8 && type; i += 2) type = xir_type_mark_distr(with, type, axes, n, i, i + 1, false, NULL);
    return type;
}

/* A tiled convolution whose kernel has gaps and another unit, a pool over its output, and im2col of channels with
 * gaps. */
static bool infer_with_holes(xir_context *with) {
    static const int64_t map[] = { 1, 2, 8, 8, 4 }, kernel[] = { 3, 2, 3, 3, 8, 4 }, image[] = { 9, 8, 8, 2 };
    static const int64_t filters[] = { 0, 4 }, channels[] = { 0 }, batch[] = { 3 };
    xir_network *net = xir_network_new(with, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    if (!net) return false;
    const xir_type *i8 = xir_type_sint(with, 8), *out = NULL;
    const xir_type *types[3] = { i8 ? xir_type_tensor_text(with, i8, "NCHWc4", map, 5) : NULL };
    if (types[0]) types[1] = with_holes(with, xir_type_tensor_text(with, i8, "OIHWo8i4", kernel, 6), filters, 2);
    if (types[1]) types[2] = with_holes(with, xir_type_tensor_text(with, i8, "CHWN", image, 4), channels, 1);
    if (types[2]) types[2] = xir_type_add_distr(with, types[2], batch, 1, NULL);
    xir_at at = XIR_AT(net);
    const xir_target *buyi = types[2] ? xir_target_of_kind(with, XIR_TARGET_BUYI, NULL) : NULL;
    xir_op *in = buyi ? xir_inputs(at, "in", types, 3) : NULL, *conv = NULL, *pool = NULL, *unfold = NULL;
    xir_max_pool2d_attrs p = xir_max_pool2d_attrs_square(2, 1, 0, 1);
    xir_unfold_attrs u = xir_unfold_init();
    u.kernel_width = 3;
    at.target = buyi;
    if (in) {
        conv = xir_add_conv2d(at, (xir_conv2d_in){ .input = xir_op_output(in, 0), .weights = xir_op_output(in, 1) },
                              NULL);
    }
    if (conv) pool = xir_add_max_pool2d(at, (xir_max_pool2d_in){ .input = xir_op_output(conv, 0) }, &p);
    if (pool) unfold = xir_add_unfold(at, (xir_unfold_in){ .input = xir_op_output(in, 2) }, &u);
    if (in && !unfold) assert_int_equal(xir_network_status(net), XIR_E_MEMORY);
    if (unfold) {
        static const char holes[] =
            "v:[0, 1), u:[1, 2), v:[2, 3), u:[3, 4), v:[4, 5), u:[5, 6), v:[6, 7), u:[7, 8), v:[8, 24)";
        char text[200];
        out = xir_value_type(xir_op_output(pool, 0));
        snprintf(text, sizeof text, "@merged_distr([1, 4]^ZERO:{%s})", holes);
        assert_string_equal(spelled(xir_type_as_tensor(out)->merged_distrs.data[0]), text);
        assert_true(xir_type_dim(out, 1, false) == 3 && xir_type_dim(out, 4, false) == 8 &&
                    xir_type_dim(out, 2, false) == 5);
        out = xir_value_type(xir_op_output(unfold, 0));
        assert_int_equal(xir_type_as_tensor(out)->merged_distrs.size, 2);
        assert_true(xir_type_dim(out, 0, false) == 27 && xir_type_dim(out, 1, false) == 48);
    }
    xir_network_free(net);
    return unfold;
}

static void failing_allocations_lose_nothing(void **state) {
    (void)state;
    check_memory(infer_with_holes);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions), cmocka_unit_test(transposed_convolutions),
        cmocka_unit_test(greatest_of_windows), cmocka_unit_test(means_of_windows), cmocka_unit_test(windows_as_columns),
        cmocka_unit_test(failing_allocations_lose_nothing),
    };
    return RUN_GROUP(tests);
}

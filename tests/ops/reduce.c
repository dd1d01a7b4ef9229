/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reductions compared with a slow second implementation: for random tensors, dims and attributes it finds the type
 * of the result by walking lists, and the valid elements by walking elements. tests/ops/reduce.txt has readable
 * cases. */
#include <stdio.h>
#include <xir/icraft.h>
#include "support/op_case.h"
#include "support/often.h"

/* ---- a case ------------------------------------------------------------------------------------------------------ */

enum { CASES = OFTEN(120000), MOST_RANK = 8, MOST_ELEMENTS = 300, MOST_GROUPS = 3 };

typedef enum kind { MAX, MIN, ARGMAX, ARGMIN, MEAN, SUM, PROD, KINDS } kind;

/* The dims that a distribution merges, in order, and which of their elements are valid. */
typedef struct group {
    size_t n;
    int64_t axes[MOST_RANK];
    int64_t total;
    bool    valid[MOST_ELEMENTS];
    bool    zero;
} group;

typedef struct tensor {
    size_t  rank;
    int64_t dims[MOST_RANK];
    char    letters[MOST_RANK + 2];   /* a lower-case one is a unit as long as its dim */
    bool    tiled;
    size_t  tiles, unit;              /* the dims of the tiled axis */
    size_t  n_groups;
    group   groups[MOST_GROUPS];
} tensor;

typedef struct trial {
    kind           kind;
    bool           zhuge;           /* the target, otherwise the host */
    const xir_type *element;
    tensor         in;
    bool           all;             /* no dim is named */
    size_t         n_named;
    int64_t        named[MOST_RANK + 3];
    bool           keepdim;
} trial;

static bool is_one(kind k) { return k <= ARGMIN; }

/* ---- random cases ----------------------------------------------------------------------------------------------- */

static bool one_in(uint64_t n) { return chance(n) == 0; }

static void some_dims(tensor *t) {
    int64_t elements = 1;
    t->rank = chance(MOST_RANK + 1);
    for (size_t k = 0; k < t->rank; k++) {
        int64_t dim = one_in(9) ? -1 : one_in(20) ? 0 : (int64_t)chance(5) + 1;
        if (dim > 0 && elements * dim > MOST_ELEMENTS) dim = 1;
        if (dim > 0) elements *= dim;
        t->dims[k] = dim;
    }
}

/* Unique letters with `*` between them; sometimes a duplicate, or too many or too few. */
static void some_letters(tensor *t) {
    char letters[] = "NLHWDCIO";
    size_t n = t->rank;
    if (one_in(15)) n = n && one_in(2) ? n - 1 : n + 1;
    for (size_t i = 8; i-- > 1;) {
        size_t j = chance(i + 1);
        char c = letters[i];
        letters[i] = letters[j];
        letters[j] = c;
    }
    if (one_in(3)) memset(letters, '*', 8);
    for (size_t i = 0; i < n; i++) t->letters[i] = i == 8 || one_in(4) ? '*' : letters[i];
    if (n > 1 && one_in(12)) t->letters[chance(n)] = t->letters[chance(n)];
    t->letters[n] = '\0';
}

/* Turns two dims into a tiled axis. */
static void some_tiles(tensor *t) {
    if (t->rank < 2 || strlen(t->letters) != t->rank || one_in(2)) return;
    size_t k = chance(t->rank), j = chance(t->rank);
    if (k == j || t->letters[k] == '*' || t->dims[j] < 1 || strchr(t->letters, t->letters[k]) != t->letters + k) return;
    t->tiled = true;
    t->tiles = k;
    t->unit = j;
    t->letters[j] = (char)(t->letters[k] | 0x20);
}

/* Distributions over known dims; each dim is in one at most. */
static void some_groups(tensor *t) {
    bool free_dim[MOST_RANK];
    for (size_t k = 0; k < t->rank; k++) free_dim[k] = t->dims[k] > 0;
    t->n_groups = 0;
    if (t->rank == 0 || one_in(3)) return;
    for (size_t turn = chance(MOST_GROUPS) + 1; turn-- > 0;) {
        group *g = &t->groups[t->n_groups];
        g->n = 0;
        g->total = 1;
        for (size_t more = chance(3) + 1; more-- > 0;) {
            size_t k = chance(t->rank);
            if (!free_dim[k]) continue;
            free_dim[k] = false;
            g->axes[g->n++] = (int64_t)k;
            g->total *= t->dims[k];
        }
        if (g->n == 0) continue;
        g->zero = chance(2);
        uint64_t share = chance(4);   /* none, few, half or all of them are padding */
        for (int64_t i = 0; i < g->total; i++) g->valid[i] = share == 0 || (share < 3 && chance(5 - share * 2));
        t->n_groups++;
    }
}

static trial some_trial(void) {
    trial c = { .kind = (kind)chance(KINDS), .keepdim = chance(2) };
    c.element = one_in(12) ? xir_type_bool(ctx) : one_in(4) ? xir_type_sint(ctx, 32)
        : xir_type_float(ctx, XIR_FLOAT_FP32);
    some_dims(&c.in);
    some_letters(&c.in);
    some_tiles(&c.in);
    c.zhuge = c.in.tiled ? !one_in(4) : one_in(4);
    some_groups(&c.in);
    int64_t rank = (int64_t)c.in.rank;
    c.n_named = is_one(c.kind) ? !one_in(4) : chance(c.in.rank + 2);
    c.all = c.n_named == 0;
    /* Usually different dims inside the rank, so that many cases are valid. */
    bool seen[MOST_RANK] = { false };
    for (size_t i = 0; i < c.n_named; i++) {
        int64_t axis = rank ? (int64_t)chance((uint64_t)rank) : 0;
        for (int64_t k = 0; k < rank && seen[axis] && !one_in(30); k++) axis = (axis + 1) % rank;
        if (rank) seen[axis] = true;
        if (chance(2)) axis -= rank;
        if (one_in(60)) axis = some_number();
        c.named[i] = axis;
    }
    /* Usually both dims of a tiled axis, or neither. */
    const tensor *t = &c.in;
    if (t->tiled && !is_one(c.kind) && seen[t->tiles] != seen[t->unit] && !one_in(4)) {
        c.named[c.n_named++] = (int64_t)(seen[t->tiles] ? t->unit : t->tiles);
    }
    return c;
}

/* ---- the second implementation ---------------------------------------------------------------------------------- */

static int64_t counted(int64_t axis, size_t rank) {
    int64_t n = (int64_t)rank;
    return axis >= 0 && axis < n ? axis : axis < 0 && axis >= -n ? axis + n : -1;
}

static bool all_valid(const group *g) {
    for (int64_t i = 0; i < g->total; i++) {
        if (!g->valid[i]) return false;
    }
    return true;
}

static bool none_valid(const group *g) {
    for (int64_t i = 0; i < g->total; i++) {
        if (g->valid[i]) return false;
    }
    return true;
}

/* Returns true if the letters, except `*`, are unique. */
static bool once(const char *letters) {
    for (size_t i = 0; letters[i]; i++) {
        if (letters[i] != '*' && strchr(letters + i + 1, letters[i])) return false;
    }
    return true;
}

static xir_status expect(const trial *c, tensor *out) {
    const tensor *in = &c->in;
    bool reduced[MOST_RANK] = { false }, nothing = false;
    int64_t new_axis[MOST_RANK] = { 0 };

    bool takes_tiles = c->zhuge && c->kind >= ARGMAX && c->kind <= SUM;
    if (in->tiled && !takes_tiles) return XIR_E_UNSUPPORTED;
    if (c->kind != MAX && c->kind != MIN && c->element == xir_type_bool(ctx)) return XIR_E_TYPE;
    for (size_t i = 0; i < c->n_named; i++) {
        int64_t axis = counted(c->named[i], in->rank);
        if (axis < 0) return XIR_E_BOUNDS;
        if (reduced[axis]) return XIR_E_INVALID;
        reduced[axis] = true;
    }
    for (size_t k = 0; c->all && k < in->rank; k++) reduced[k] = true;
    if (in->tiled && reduced[in->tiles] != reduced[in->unit]) return XIR_E_INVALID;

    memset(out, 0, sizeof *out);
    size_t n_letters = strlen(in->letters);
    for (size_t k = 0; k < in->rank; k++) {
        if (reduced[k] && in->dims[k] == 0) nothing = true;
        if (reduced[k] && !c->keepdim) continue;
        out->dims[out->rank] = reduced[k] ? 1 : in->dims[k];
        new_axis[k] = (int64_t)out->rank;
        out->letters[out->rank++] = n_letters == in->rank ? in->letters[k] : '*';
    }
    if (n_letters != in->rank || ((in->tiled || !c->keepdim) && !once(out->letters)))
        memset(out->letters, '*', out->rank);

    bool unclear = false;
    for (size_t i = 0; i < in->n_groups; i++) {
        const group *g = &in->groups[i];
        size_t gone = 0;
        for (size_t k = 0; k < g->n; k++) gone += reduced[g->axes[k]];
        if (gone == g->n && none_valid(g)) nothing = true;
        if (gone && gone < g->n && !all_valid(g)) unclear = true;
        if (gone) continue;
        group *to = &out->groups[out->n_groups++];
        *to = *g;
        for (size_t k = 0; k < g->n; k++) to->axes[k] = new_axis[g->axes[k]];
    }
    bool has_nan = c->element == xir_type_float(ctx, XIR_FLOAT_FP32);
    bool may_be_nothing = c->kind != ARGMAX && c->kind != ARGMIN && (c->kind != MEAN || has_nan);
    if (nothing && !may_be_nothing) return XIR_E_INVALID;
    return unclear ? XIR_E_UNSUPPORTED : XIR_OK;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static const xir_object *distr_object(const group *g) {
    xir_distr_builder *b = xir_distr_new(ctx, g->axes, g->n, g->total);
    for (int64_t i = 0; i < g->total; i++) {
        if (!g->valid[i]) DOES(xir_distr_set_invalid(b, i, i + 1));
    }
    xir_distr_set_zero(b, g->zero);
    const xir_distr *distr = xir_distr_build(b, why);
    xir_distr_free(b);
    assert_non_null(distr);
    return (const xir_object *)distr;
}

static const xir_type *type_of(const tensor *t, const xir_type *element) {
    const xir_object *distrs[MOST_GROUPS];
    for (size_t i = 0; i < t->n_groups; i++) distrs[i] = distr_object(&t->groups[i]);
    char text[MOST_RANK * 3 + 4];
    size_t size = 0;
    for (size_t k = 0; t->letters[k]; k++) {
        text[size++] = t->letters[k];
        if (t->letters[k] >= 'a') size += (size_t)snprintf(text + size, sizeof text - size, "%d", (int)t->dims[k]);
    }
    const xir_layout *layout = xir_layout_parse(ctx, (xir_str){ text, size }, why);
    assert_non_null(layout);
    return type_tensor(context_pool(ctx), element, layout, (xir_i64s){ t->dims, t->rank },
                       (xir_refs){ distrs, t->n_groups });
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

static bool is_valid(const xir_type *type, const int64_t *at) {
    const xir_tensor_type *tensor_type = xir_type_as_tensor(type);
    for (size_t i = 0; i < tensor_type->merged_distrs.size; i++) {
        const xir_distr *distr = xir_distr_of(tensor_type->merged_distrs.data[i]);
        int64_t merged = 0;
        for (size_t k = 0; k < distr->merged_axis.size; k++) {
            int64_t axis = distr->merged_axis.data[k];
            merged = merged * tensor_type->shape.data[axis] + at[axis];
        }
        if (!xir_distr_is_valid(distr, merged)) return false;
    }
    return true;
}

/* Advances to the next element, last dim first; an unknown dim counts as 1. False after the last element. */
static bool step(const xir_type *type, int64_t *at) {
    xir_i64s shape = xir_type_as_tensor(type)->shape;
    for (size_t k = shape.size; k-- > 0;) {
        if (++at[k] < (shape.data[k] < 0 ? 1 : shape.data[k])) return true;
        at[k] = 0;
    }
    return false;
}

static size_t position(const xir_type *type, const int64_t *at) {
    xir_i64s shape = xir_type_as_tensor(type)->shape;
    size_t p = 0;
    for (size_t k = 0; k < shape.size; k++) p = p * (size_t)(shape.data[k] < 0 ? 1 : shape.data[k]) + (size_t)at[k];
    return p;
}

/* An element of the result is valid if a valid one was reduced into it. False if a dim has no elements, or if only
 * padding is reduced, whose sum is valid. */
static bool check_elements(const trial *c, const xir_type *in, const xir_type *out) {
    bool from_valid[MOST_ELEMENTS] = { false };
    int64_t at[MOST_RANK] = { 0 }, to[MOST_RANK] = { 0 };
    for (size_t k = 0; k < c->in.rank; k++) {
        if (c->in.dims[k] == 0) return false;
    }
    for (size_t i = 0; i < c->in.n_groups; i++) {
        if (none_valid(&c->in.groups[i])) return false;
    }
    bool reduced[MOST_RANK];
    for (size_t k = 0; k < c->in.rank; k++) reduced[k] = c->all;
    for (size_t i = 0; i < c->n_named; i++) reduced[counted(c->named[i], c->in.rank)] = true;
    do {
        size_t n = 0;
        for (size_t k = 0; k < c->in.rank; k++) {
            if (!reduced[k]) to[n++] = at[k];
            else if (c->keepdim) to[n++] = 0;
        }
        if (is_valid(in, at)) from_valid[position(out, to)] = true;
    } while (step(in, at));
    memset(to, 0, sizeof to);
    do {
        if (is_valid(out, to) != from_valid[position(out, to)]) {
            fail_msg("%s of %s: which elements are valid is wrong", op_type_words(out), op_type_words(in));
        }
    } while (step(out, to));
    return true;
}

/* ---- the comparison ---------------------------------------------------------------------------------------------- */

typedef union bodies {
    xir_max_attrs one;    /* Min, Argmax, Argmin alike */
    xir_sum_attrs list;   /* Mean, Prod alike          */
} bodies;

static const xir_class *class_of_kind(kind k) {
    const xir_class_decl *decls[] = { xir_max_class(), xir_min_class(), xir_argmax_class(), xir_argmin_class(),
                                      xir_mean_class(), xir_sum_class(), xir_prod_class() };
    return xir_class_find_decl(ctx, decls[k]);
}

static xir_op *add(xir_network *net, xir_value *input, const trial *c) {
    bodies body = { .one = xir_max_init() };
    if (is_one(c->kind)) {
        body.one.keepdim = c->keepdim;
        body.one.dim = c->all ? NULL : xir_int_imm_of((const xir_object *)xir_scalar_int(ctx, c->named[0]));
    } else {
        body.list = xir_sum_init();
        body.list.keepdim = c->keepdim;
        body.list.dim = (xir_i64s){ c->named, c->n_named };
    }
    return xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = class_of_kind(c->kind), .attrs = &body, .inputs = &input,
                                                .n_inputs = 1, .id = XIR_NO_ID,
                                                .target = c->zhuge ? xir_target_of_kind(ctx, XIR_TARGET_ZHUGE,
                                                                                        "330") : NULL));
}

static void describe(const trial *c, const xir_type *in, char *out, size_t size) {
    xir_str key = xir_class_key(class_of_kind(c->kind));
    int n = snprintf(out, size, "%.*s%s(%s)", (int)key.size, key.data, c->zhuge ? "@zhuge" : "", op_type_words(in));
    for (size_t i = 0; i < c->n_named; i++) {
        n += snprintf(out + n, size - (size_t)n, "%s%lld", i ? "," : " dim=", (long long)c->named[i]);
    }
    snprintf(out + n, size - (size_t)n, "%s", c->keepdim ? " keepdim" : "");
}

static void reductions_are_as_walked(void **state) {
    (void)state;
    size_t seen[XIR_STATUS_COUNT] = { 0 }, walked = 0, with_distrs = 0, tiled = 0;
    xir_network *net = NULL;
    xir_value *input = NULL;
    char words[4096];
    for (int i = 0; i < CASES; i++) {
        if (i % 500 == 0) {   /* erased ops stay in the arena until the network is freed */
            xir_network_free(net);
            net = new_net();
            input = xir_input(XIR_AT(net), "x", FP32("*", 1));
        }
        trial c = some_trial();
        tensor expected;
        xir_status status = expect(&c, &expected);
        const xir_type *in = type_of(&c.in, c.element);
        DOES(xir_value_set_type(input, in));
        xir_op *op = add(net, input, &c);
        xir_status found = op ? XIR_OK : xir_network_status(net);
        if (found != status) {
            describe(&c, in, words, sizeof words);
            fail_msg("%s: %s was expected, found %s: %s", words, xir_status_name(status), xir_status_name(found),
                     op_case_findings(xir_network_diags(net)));
        }
        seen[status]++;
        xir_network_clear_status(net);
        if (!op) continue;
        bool index = c.kind == ARGMAX || c.kind == ARGMIN;
        const xir_type *out = xir_value_type(xir_op_output(op, 0));
        const xir_type *indices = c.zhuge ? xir_type_float(ctx, XIR_FLOAT_TF32) : xir_type_sint(ctx, 64);
        const xir_type *wanted = type_of(&expected, index ? indices : c.element);
        if (!xir_type_equal(out, wanted)) {
            describe(&c, in, words, sizeof words);
            fail_msg("%s: %s was expected, found %s", words, op_type_words(wanted), op_type_words(out));
        }
        walked += check_elements(&c, in, out);
        tiled += c.in.tiled;
        with_distrs += xir_type_as_tensor(out)->merged_distrs.size > 0;
        DOES(xir_op_erase(op));
    }
    xir_network_free(net);
    printf(
        "%zu good, %zu walked, %zu with distributions, %zu tiled; type %zu, bounds %zu, invalid %zu, unsupported %zu\n",
        seen[XIR_OK],
           walked, with_distrs, tiled, seen[XIR_E_TYPE], seen[XIR_E_BOUNDS], seen[XIR_E_INVALID],
           seen[XIR_E_UNSUPPORTED]);
    /* All cases have occurred. */
    assert_true(seen[XIR_OK] > CASES / 2 && walked > CASES / 4 && with_distrs > CASES / 20 && tiled > CASES / 60);
    assert_true(seen[XIR_E_TYPE] > CASES / 240 && seen[XIR_E_BOUNDS] > CASES / 240);
    assert_true(seen[XIR_E_INVALID] > CASES / 240 && seen[XIR_E_UNSUPPORTED] > CASES / 240);
}

/* ---- rare cases ------------------------------------------------------------------------------------------------- */

static const xir_type *sum_of(const xir_type *type, const int64_t *dims, size_t n, bool keepdim) {
    xir_network *net = new_net();
    xir_value *x = xir_input(XIR_AT(net), "x", type);
    xir_sum_attrs a = xir_sum_init();
    a.dim = (xir_i64s){ dims, n };
    a.keepdim = keepdim;
    xir_op *op = xir_add_sum(XIR_AT(net), (xir_sum_in){ .input = x }, &a);
    if (!op) fail_msg("%s", op_case_findings(xir_network_diags(net)));
    /* The network's types are freed with it. */
    const xir_object *out = pool_intern(context_pool(ctx), (const xir_object *)xir_value_type(xir_op_output(op, 0)));
    xir_network_free(net);
    return (const xir_type *)out;
}

static void ranks_above_the_room_for_few(void **state) {
    (void)state;
    int64_t dims[300], gone[150];
    for (int64_t i = 0; i < 300; i++) dims[i] = i + 1;
    for (int64_t i = 0; i < 150; i++) gone[i] = i % 2 ? 2 * i : 2 * i - 300;   /* every second dim, from both ends */
    const xir_type *type = xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, dims, 300);
    const xir_type *out = sum_of(type, gone, 150, false);
    assert_int_equal(xir_type_rank(out), 150);
    for (int64_t i = 0; i < 150; i++) assert_int_equal(xir_type_dim(out, i, false), 2 * i + 2);
    assert_int_equal(xir_layout_rank(xir_type_layout(out)), 150);
    out = sum_of(type, gone, 150, true);
    assert_int_equal(xir_type_rank(out), 300);
    for (int64_t i = 0; i < 300; i++) assert_int_equal(xir_type_dim(out, i, false), i % 2 ? i + 1 : 1);
}

/* An invalid type is reported where it was created; here it does no harm and does not affect the result. */
static void distributions_that_do_not_fit(void **state) {
    (void)state;
    static const char *const bad[] = { "@merged_distr([4]^ZERO:{v:[0, 2), u:[2, 4)})",
                                       "@merged_distr([-9]^ZERO:{v:[0, 2), u:[2, 4)})",
                                       "@merged_distr([1, 4611686018427387904]^ZERO:{u:[0, 4)})",
                                       "@merged_distr([]^ZERO:{u:[0, 1)})" };
    const int64_t dims[] = { 2, 3, 4, 5 }, dim = 1;
    const xir_layout *layout = xir_layout_parse(ctx, XIR_STR("NHWC"), why);
    for (size_t i = 0; i < COUNT(bad); i++) {
        const xir_object *distr = read_text(bad[i]);
        const xir_type *type = type_tensor(context_pool(ctx), xir_type_float(ctx, XIR_FLOAT_FP32), layout,
                                           (xir_i64s){ dims, 4 }, (xir_refs){ &distr, 1 });
        assert_string_equal(op_type_words(sum_of(type, &dim, 1, false)), "fp32 NWC 2x4x5");
    }
    /* more than fit without an allocation */
    const xir_object *many[9];
    for (size_t i = 0; i < COUNT(many); i++) {
        many[i] = read_text(i % 2 ? "@merged_distr([1]^ZERO:{v:[0, 3)})" : "@merged_distr([3]^ZERO:{v:[0, 5)})");
    }
    const xir_type *type = type_tensor(context_pool(ctx), xir_type_float(ctx, XIR_FLOAT_FP32), layout,
                                       (xir_i64s){ dims, 4 }, (xir_refs){ many, COUNT(many) });
    assert_int_equal(xir_type_as_tensor(sum_of(type, &dim, 1, false))->merged_distrs.size, 5);
}

/* ---- out of memory ---------------------------------------------------------------------------------------------- */

static bool work(xir_context *with) {
    int64_t dims[10] = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }, gone[] = { 1, 3, -1 };
    const xir_type *fp32 = xir_type_float(with, XIR_FLOAT_FP32);
    const xir_layout *layout = xir_layout_parse(with, XIR_STR("NHWC******"), NULL);
    const xir_type *type = fp32 && layout ? xir_type_tensor(with, fp32, layout, dims, 10) : NULL;
    for (int64_t i = 4; i < 9 && type; i++) {
        type = xir_type_add_distr(with, type, &i, 1, NULL);
        if (type) type = xir_type_mark_distr(with, type, &i, 1, 3, 5, false, NULL);
    }
    xir_network *net = type ? xir_network_new(with, "net", XIR_FRAMEWORK_PYTORCH, "v1.9") : NULL;
    if (!net) return false;
    xir_value *x = xir_input(XIR_AT(net), "x", type);
    xir_sum_attrs a = xir_sum_init();
    a.dim = (xir_i64s){ gone, COUNT(gone) };
    xir_op *sum = x ? xir_add_sum(XIR_AT(net), (xir_sum_in){ .input = x }, &a) : NULL;
    xir_op *most = sum ? xir_add_max(XIR_AT(net), (xir_max_in){ .input = x }, NULL) : NULL;
    bool done = most && xir_type_as_tensor(xir_value_type(xir_op_output(sum, 0)))->merged_distrs.size == 5 &&
                xir_type_rank(xir_value_type(xir_op_output(most, 0))) == 0;
    if (!done) assert_int_equal(xir_network_status(net), XIR_E_MEMORY);
    xir_network_free(net);
    return done;
}

static void without_memory(void **state) {
    (void)state;
    check_memory(work);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_are_as_walked),
        cmocka_unit_test(ranks_above_the_room_for_few),
        cmocka_unit_test(distributions_that_do_not_fit),
        cmocka_unit_test(without_memory),
    };
    return RUN_GROUP(tests);
}

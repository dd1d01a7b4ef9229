/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Moves compared with a second implementation that is slow and obvious: it computes for every element of the output
 * which element of which input it contains. Shapes must be equal, dims unknown exactly where they depend on unknown
 * ones, and the properties of elements (scale, ratio, zero point, validity) must be those of the same elements
 * afterwards. */
#include <stdio.h>
#include <string.h>
#include "support/moves.h"
#include "support/often.h"
#include <xir/xir.h>
#include <xir/icraft.h>

enum { CASES = OFTEN(20000), CHUNK = 2000 };

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

static const xir_type *plain(const shape *s) {
    return xir_type_tensor(moves.ctx, xir_type_float(moves.ctx, XIR_FLOAT_FP32), NULL, s->dim, s->rank);
}

static bool has_shape(const xir_type *type, const shape *s) {
    if (xir_type_rank(type) != s->rank || xir_layout_rank(xir_type_layout(type)) != s->rank) return false;
    for (size_t k = 0; k < s->rank; k++) if (xir_type_dim(type, (int64_t)k, false) != s->dim[k]) return false;
    return true;
}

static void shapes_are_right(void **state) {
    const move_kind kind = (move_kind)(uintptr_t)*state;
    size_t good = 0;
    for (size_t n = 0; n < CASES; n++) {
        if (n % CHUNK == 0) moves_begin();
        move_case c = move_by_chance(kind);
        const xir_type *types[MOST_INPUTS];
        shape out[MOST_OUTPUTS];
        size_t n_out;
        xir_infer at;
        for (size_t i = 0; i < c.n_inputs; i++) types[i] = plain(&c.in[i]);
        bool expected = move_shapes(&c, c.in, out, &n_out), right;
        xir_status status = move_run(&c, types, &at);
        right = expected == (status == XIR_OK) && (!expected || at.n_out == n_out);
        for (size_t i = 0; right && expected && i < n_out; i++) right = has_shape(at.out[i], &out[i]);
        if (!right) {
            move_describe(&c);
            for (size_t i = 0; !status && i < at.n_out; i++) move_describe_type("output", at.out[i]);
            fail_msg("case %zu: %s, %s was expected", n, xir_status_name(status), expected ? "shapes" : "refusal");
        }
        good += expected;
        infer_end(&at);
        if (n % CHUNK == CHUNK - 1) moves_end();
    }
    assert_in_range(good, CASES / 4, CASES);   // refusals alone would not be a test
}

/* ---- unknown dims ----------------------------------------------------------------------------------------------- */

/* Larger than any position counted from an end, and than the multiples in the cases. */
enum { MOST_DIM = 16 };

/* Tries every number for the unknown dims: a result on which all agree is known. */
typedef struct agreement {
    bool   any;
    size_t n_out;
    bool   same_count, same_rank;
    shape  out[64];
} agreement;

static void agree(const move_case *c, const shape *in, agreement *a) {
    shape out[MOST_OUTPUTS];
    size_t n_out;
    if (!move_shapes(c, in, out, &n_out)) return;
    if (!a->any) {
        *a = (agreement){ true, n_out, true, true, { { 0 } } };
        memcpy(a->out, out, n_out * sizeof *out);
        return;
    }
    a->same_count &= n_out == a->n_out;
    for (size_t i = 0; i < n_out && i < a->n_out; i++) {
        a->same_rank &= out[i].rank == a->out[i].rank;
        for (size_t k = 0; a->same_rank && k < out[i].rank; k++) {
            if (out[i].dim[k] != a->out[i].dim[k]) a->out[i].dim[k] = -1;
        }
    }
}

static void unknown_dims_stay_unknown(void **state) {
    const move_kind kind = (move_kind)(uintptr_t)*state;
    size_t good = 0;
    for (size_t n = 0; n < CASES; n++) {
        if (n % CHUNK == 0) moves_begin();
        move_case c = move_by_chance(kind);
        shape given[MOST_INPUTS], tried[MOST_INPUTS];
        int64_t *holes[2];
        size_t n_holes = 0;
        memcpy(given, c.in, sizeof given);
        memcpy(tried, c.in, sizeof tried);
        for (size_t i = 0; i < c.n_inputs; i++) {
            for (size_t k = 0; k < c.in[i].rank && n_holes < 2; k++) {
                if (chance(3)) continue;
                given[i].dim[k] = XIR_UNKNOWN_DIM;
                holes[n_holes++] = &tried[i].dim[k];
            }
        }
        if (n_holes) {
            agreement a = { .any = false };
            for (int64_t x = 0; x <= MOST_DIM; x++) {
                for (int64_t y = 0; y <= (n_holes == 2 ? MOST_DIM : 0); y++) {
                    *holes[0] = x;
                    if (n_holes == 2) *holes[1] = y;
                    agree(&c, tried, &a);
                }
            }
            const xir_type *types[MOST_INPUTS];
            xir_infer at;
            for (size_t i = 0; i < c.n_inputs; i++) types[i] = plain(&given[i]);
            xir_status status = move_run(&c, types, &at);
            bool countable = a.any && a.same_count && a.same_rank, right = true;
            if (countable) right = status == XIR_OK && at.n_out == a.n_out;
            else if (a.any) right = status == XIR_E_UNSUPPORTED;   // the number of outputs, or the rank, is unknown
            for (size_t i = 0; right && countable && i < a.n_out; i++) right = has_shape(at.out[i], &a.out[i]);
            if (!right) {
                move_describe(&c);
                for (size_t i = 0; !status && i < at.n_out; i++) move_describe_type("output", at.out[i]);
                fail_msg("case %zu: %s", n, xir_status_name(status));
            }
            good += countable;
            infer_end(&at);
        }
        if (n % CHUNK == CHUNK - 1) moves_end();
    }
    if (kind != UNSTACK) assert_in_range(good, CASES / 8, CASES);
}

/* ---- properties of elements -------------------------------------------------------------------------------------- */

/* A type with random arrays and distributions, each along its own dim. */
static const xir_type *some_element(const shape *s, const xir_type *like) {
    const xir_type *sint = xir_type_sint(moves.ctx, 8);
    double numbers[2][MOST_DIM + 2] = { { 0 } };
    int64_t zeros[MOST_DIM + 2], axes[2] = { -1, -1 }, m[MOST_DIM + 2], exp[MOST_DIM + 2];
    size_t sizes[2] = { 1, 1 };
    bool levels = chance(2);
    if (!chance(3) && !like) return xir_type_float(moves.ctx, XIR_FLOAT_FP32);
    for (size_t i = 0; i < 2; i++) {
        int64_t axis = s->rank ? between(0, (int64_t)s->rank - 1) : 0;
        bool single = s->rank == 0 || chance(4) == 0 || s->dim[axis] == 0;
        bool both = moves.unit_at && ((size_t)axis == moves.tiles_at || (size_t)axis == moves.unit_at);
        single |= both && s->dim[moves.tiles_at] * s->dim[moves.unit_at] == 0;
        sizes[i] = single ? 1 : (size_t)(both ? s->dim[moves.tiles_at] * s->dim[moves.unit_at] : s->dim[axis]);
        axes[i] = s->rank && chance(2) ? axis : s->rank ? axis - (int64_t)s->rank : -1;
        for (size_t k = 0; k < sizes[i]; k++) numbers[i][k] = levels ? 1 + (double)chance(3) : 2;
    }
    for (size_t k = 0; k < sizes[0]; k++) zeros[k] = levels ? between(-2, 2) : 3;
    for (size_t k = 0; k < sizes[0]; k++) m[k] = (int64_t)numbers[0][k], exp[k] = 1;
    bool exponents = chance(2), normal = chance(2), centred = chance(2);
    if (like) {   // quantised in the same way
        exponents = xir_scales_is_exp(xir_type_scale(like));
        normal = xir_type_norm_ratios(like) != NULL;
    }
    const xir_scales *scales = exponents ? xir_exp_scales_from(moves.ctx, m, exp, numbers[0], sizes[0], axes[0])
                                         : xir_scales_from(moves.ctx, numbers[0], sizes[0], axes[0]);
    size_t n_zeros = centred ? 0 : sizes[0];
    if (!normal) return xir_type_quantized(moves.ctx, scales, zeros, n_zeros, sint, NULL);
    const xir_norm_ratios *ratios = xir_norm_ratios_from(moves.ctx, numbers[1], sizes[1], axes[1]);
    return xir_type_normalized_quantized(moves.ctx, xir_type_normalized(moves.ctx, ratios, sint, NULL), scales,
                                         zeros, n_zeros);
}

/* `*`, or a tiled axis. */
static const xir_layout *some_layout(const shape *s) {
    xir_layout_steps steps = xir_layout_start();
    if (!moves.unit_at) return NULL;
    for (size_t k = 0; k < s->rank; k++) {
        if (k == moves.unit_at) xir_layout_put(&steps, 'c', s->dim[k]);
        else xir_layout_put(&steps, k == moves.tiles_at ? 'C' : '*', 1);
    }
    return xir_layout_finish(moves.ctx, &steps, NULL);
}

static const xir_type *some_type(const shape *s, const xir_type *like) {
    const xir_type *element = like ? xir_type_element(like) : some_element(s, NULL);
    if (like && xir_type_is_quantized(element)) element = some_element(s, element);
    const xir_type *type = xir_type_tensor(moves.ctx, element, some_layout(s), s->dim, s->rank);
    size_t first = 0;
    for (size_t i = 0; i < 2 && s->rank && !chance(2); i++) {
        /* The first distribution is over some of the dims, the second over one of the others. */
        list order;
        move_shuffled(&order, s->rank - first);
        size_t n = i == 0 && s->rank > 1 && chance(2) ? 2 : 1;
        if (order.size < n || (i && first == 0)) break;
        int64_t axes[2], total = 1;
        for (size_t k = 0; k < n; k++) {
            axes[k] = order.data[k] + (int64_t)first;
            if (n == 2 && moves.unit_at && chance(4)) axes[k] = (int64_t)(k ? moves.unit_at : moves.tiles_at);
            total *= s->dim[axes[k]];
        }
        if (n == 2 && axes[0] == axes[1]) break;
        if (i == 0) {
            size_t most = 0;
            for (size_t k = 0; k < n; k++) if ((size_t)axes[k] + 1 > most) most = (size_t)axes[k] + 1;
            first = most;
        }
        xir_distr_builder *b = xir_distr_new(moves.ctx, axes, n, total);
        if (chance(3)) {
            for (int64_t k = 0; k < total; k++)
                if (!chance(3)) assert_int_equal(xir_distr_set_invalid(b, k, k + 1), XIR_OK);
        }
        const xir_distr *distr = xir_distr_build(b, NULL);
        xir_distr_free(b);
        type = xir_type_add_distr(moves.ctx, type, axes, n, NULL);
        if (type) type = xir_type_set_distr(moves.ctx, type, distr, NULL);
        assert_non_null(type);
    }
    return type;
}

/* The properties of the element at an index. */
typedef struct said { double scale, ratio; int64_t zero; bool valid; } said;

static size_t item(const xir_type *type, int64_t axis, size_t count, const shape *s, const int64_t *index) {
    const xir_layout *layout = xir_type_layout(type);
    if (count <= 1) return 0;
    if (axis < 0) axis += (int64_t)s->rank;
    assert_in_range(axis, 0, s->rank - 1);
    if (!xir_type_is_layouted(type) || xir_layout_axis(layout, (size_t)axis) == '*') {
        assert_int_equal(count, s->dim[axis]);   // one for each element of its dim
        return (size_t)index[axis];
    }
    int64_t tiles = xir_layout_index(layout, 'C'), unit = xir_layout_index(layout, 'c');
    assert_int_equal(count, s->dim[tiles] * s->dim[unit]);
    return (size_t)(index[tiles] * s->dim[unit] + index[unit]);
}

/* Returns true if an element is valid; a new one is valid if the dims that are not padded there are. */
static bool is_valid(const xir_type *type, const shape *s, const int64_t *index) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    bool valid = true;
    for (size_t i = 0; i < tensor->merged_distrs.size; i++) {
        const xir_distr *distr = (const xir_distr *)tensor->merged_distrs.data[i];
        int64_t number = 0, total = 1;
        bool fresh = false;
        for (size_t k = 0; k < distr->merged_axis.size; k++) {
            int64_t axis = distr->merged_axis.data[k];
            assert_true(move_axis(&axis, s->rank));
            number = number * s->dim[axis] + index[axis];
            total *= s->dim[axis];
            fresh |= index[axis] < 0;
        }
        assert_int_equal(total, xir_distr_total(distr));
        valid &= fresh || xir_distr_is_valid(distr, number);
    }
    return valid;
}

static said said_of(const xir_type *type, const shape *s, const int64_t *index) {
    const xir_scales *scales = xir_type_scale(type);
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    xir_i64s zeros = xir_type_zero_points(type);
    said what = { .valid = is_valid(type, s, index) };
    if (scales)
        what.scale = xir_scales_at(scales, item(type, xir_scales_axis(scales), xir_scales_count(scales), s, index));
    if (ratios) what.ratio =
        xir_norm_ratios_at(ratios, item(type, xir_norm_ratios_axis(ratios), xir_norm_ratios_count(ratios), s, index));
    if (zeros.size) what.zero = zeros.data[item(type, xir_scales_axis(scales), zeros.size, s, index)];
    return what;
}

/* Returns true if any property differs between elements: only then may the output be unable to express it. */
static bool says_different_things(const move_case *c, const xir_type *const *types) {
    said first = { 0 };
    bool any = false;
    for (size_t i = 0; i < c->n_inputs; i++) {
        for (int64_t n = 0, total = shape_elements(&c->in[i]); n < total; n++) {
            int64_t index[MOST_RANK];
            shape_index(&c->in[i], n, index);
            said what = said_of(types[i], &c->in[i], index);
            if (!what.valid) return true;
            if (any && (what.scale != first.scale || what.ratio != first.ratio || what.zero != first.zero)) return true;
            first = what;
            any = true;
        }
        /* Arrays can differ where there are no elements. */
        if (shape_elements(&c->in[i]) == 0) return true;
    }
    return false;
}

static bool refuses_some(move_kind kind) {
    return kind == RESHAPE || kind == PIXEL || kind == ROLL || kind == SQUEEZE || kind == UNSTACK || kind == CONCAT ||
           kind == STACK;
}

static void no_fault(void *user, const char *where, const char *sentence) {
    print_error("%s%s: %s\n", (const char *)user, where, sentence);
}

/* Returns true if each element of an output has the properties of its source, and the type is valid. */
static bool says_the_same(const move_case *c, const xir_type *const *types, const xir_type *type, const shape *out,
                          size_t part) {
    char output[] = "output: ";
    fault_sink sink = { no_fault, output, 0 };
    tensor_faults(xir_type_as_tensor(type), &sink);
    if (sink.count) return false;
    for (int64_t i = 0, total = shape_elements(out); i < total; i++) {
        int64_t index[MOST_RANK] = { 0 }, from[MOST_RANK] = { 0 };
        size_t input;
        shape_index(out, i, index);
        said found = said_of(type, out, index);
        if (!move_source(c, out, part, index, &input, from)) {
            if (found.valid != is_valid(types[0], &c->in[0], from)) return false;
            continue;
        }
        said expected = said_of(types[input], &c->in[input], from);
        if (found.scale != expected.scale || found.ratio != expected.ratio || found.zero != expected.zero ||
            found.valid != expected.valid) return false;
    }
    return true;
}

/* Types for the inputs; those of one shape are sometimes equal. */
static void some_types(const move_case *c, const xir_type **types) {
    for (size_t i = 0; i < c->n_inputs; i++) {
        bool same = i && chance(2) && c->in[i].rank == c->in->rank && memcmp(&c->in[i], c->in, sizeof(shape)) == 0;
        types[i] = same ? types[0] : some_type(&c->in[i], i ? types[0] : NULL);
        assert_non_null(types[i]);
    }
}

/* Runs a case that has outputs. The caller checks refusals with `may_refuse`. Returns whether the op was accepted. */
typedef bool refusal_fn(const move_case *c, const xir_type *const *types);
static bool try_case(const move_case *c, const shape *out, size_t n_out, size_t number, refusal_fn *may_refuse) {
    const xir_type *types[MOST_INPUTS];
    xir_infer at;
    some_types(c, types);
    xir_status status = move_run(c, types, &at);
    bool right = status == XIR_OK ? at.n_out == n_out : status == XIR_E_UNSUPPORTED && may_refuse(c, types);
    for (size_t part = 0; right && !status && part < n_out; part++) {
        right = has_shape(at.out[part], &out[part]) && says_the_same(c, types, at.out[part], &out[part], part);
    }
    if (!right) {
        move_describe(c);
        for (size_t i = 0; !status && i < at.n_out; i++) move_describe_type("output", at.out[i]);
        fail_msg("case %zu: %s", number, xir_status_name(status));
    }
    infer_end(&at);
    return status == XIR_OK;
}

static bool may_refuse(const move_case *c, const xir_type *const *types) {
    return refuses_some(c->kind) && says_different_things(c, types);
}

static void elements_keep_their_properties(void **state) {
    const move_kind kind = (move_kind)(uintptr_t)*state;
    size_t good = 0;
    for (size_t n = 0; n < CASES; n++) {
        if (n % CHUNK == 0) moves_begin();
        move_case c = move_by_chance(kind);
        shape out[MOST_OUTPUTS];
        size_t n_out;
        if (move_shapes(&c, c.in, out, &n_out)) good += try_case(&c, out, n_out, n, may_refuse);
        if (n % CHUNK == CHUNK - 1) moves_end();
    }
    assert_in_range(good, CASES / 8, CASES);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------ */

static bool is_whole(const move_case *c, size_t k) {
    int64_t room[64];
    size_t n = move_picked(c->a.data[k], c->b.data[k], c->c.data[k], c->in->dim[k], room);
    return (int64_t)n == c->in->dim[k] && (n < 2 || room[1] == room[0] + 1);
}

/* A tiled axis is never sliced inside its tiles or reordered; padded tiles and different types cannot be joined. */
static bool may_refuse_tiles(const move_case *c, const xir_type *const *types) {
    int64_t axis = c->number;
    switch (c->kind) {
    case SLICE: return !is_whole(c, moves.unit_at) || c->c.data[moves.unit_at] != 1;
    case SPLIT:
    case SWAP:  return move_axis(&axis, c->in->rank) &&
        ((size_t)axis == moves.unit_at || (size_t)axis == moves.tiles_at);
    case ROLL:
        for (size_t i = 0; i < c->b.size; i++) {
            axis = c->b.data[i];
            if (move_axis(&axis, c->in->rank) && ((size_t)axis == moves.unit_at || (size_t)axis == moves.tiles_at))
                return true;
        }
        return c->b.size == 0;
    case PAD:
        for (size_t i = 0; i < 2; i++)
            if (c->a.data[2 * moves.unit_at + i] || c->a.data[2 * moves.tiles_at + i]) return true;
        return false;
    case CONCAT: return says_different_things(c, types);
    default:    return false;
    }
}

static void tiles_move_too(void **state) {
    const move_kind kind = (move_kind)(uintptr_t)*state;
    size_t good = 0;
    for (size_t n = 0; n < CASES; n++) {
        if (n % CHUNK == 0) {
            moves_begin();
            moves.target = target_make(context_pool(moves.ctx), XIR_TARGET_BUYI, XIR_STR(""));
        }
        move_case c = move_by_chance(kind);
        shape out[MOST_OUTPUTS];
        size_t n_out, rank = c.in->rank;
        bool fits = rank > 1 && !(kind == CONCAT && (c.number == -1 || c.number == (int64_t)rank - 1));
        moves.unit_at = fits ? rank - 1 : 0;
        moves.tiles_at = fits ? chance(rank - 1) : 0;
        for (size_t i = 0; i < c.n_inputs && fits; i++) {
            fits = c.in[i].rank == rank && c.in->dim[moves.unit_at] > 0;
            c.in[i].dim[moves.unit_at] = c.in->dim[moves.unit_at];
        }
        if (fits && move_shapes(&c, c.in, out, &n_out)) good += try_case(&c, out, n_out, n, may_refuse_tiles);
        if (n % CHUNK == CHUNK - 1) moves_end();
    }
    assert_in_range(good, CASES / 50, CASES);
}

/* ---- random cases ------------------------------------------------------------------------------------------------ */

/* Senseless attributes: they are refused or accepted in bounded time, and a result is a tensor with a layout that
 * fits. */
static const xir_type *any_type(void) {
    static const char *const layouts[] = { "*", "NHWC", "NCHWc32", "Cc2", "c3", "*C*c1", "C*c4", "***C", "CNc3n2",
                                           "HHWW", "" };
    int64_t dims[6], axes[3];
    double numbers[6];
    size_t rank = chance(7), count = chance(7);
    for (size_t k = 0; k < 6; k++) dims[k] = chance(8) ? between(-2, 4) : some_number(), numbers[k] = (double)chance(3);
    const xir_layout *layout = chance(2) ? xir_layout_parse(moves.ctx, xir_str_of(layouts[chance(11)]), NULL)
                                         : xir_layout_default(moves.ctx, rank);
    int64_t axis = chance(9) ? between(-7, 6) : some_number();
    const xir_type *sint = xir_type_sint(moves.ctx, 8), *element = sint;
    const xir_scales *scales = xir_scales_from(moves.ctx, numbers, count, axis);
    if (chance(2)) element = xir_type_quantized(moves.ctx, scales, dims, chance(7), sint, NULL);
    if (!chance(4))
        element = xir_type_normalized(moves.ctx, xir_norm_ratios_from(moves.ctx, numbers, count, axis), sint, NULL);
    const xir_object *distrs[3];
    size_t n = chance(2) ? chance(4) : 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 3; k++) axes[k] = chance(9) ? between(-6, 6) : some_number();
        int64_t total = between(0, 30);
        xir_distr_builder *b = xir_distr_new(moves.ctx, axes, chance(4), total);
        for (int64_t k = 0; k < total; k++) if (chance(2)) xir_distr_set_invalid(b, k, k + 1);
        distrs[i] = (const xir_object *)xir_distr_build(b, NULL);
        xir_distr_free(b);
    }
    return type_tensor(context_pool(moves.ctx), element, layout, (xir_i64s){ dims, rank }, (xir_refs){ distrs, n });
}

static void any_list(list *l, size_t rank) {
    l->size = chance(3) ? rank * (1 + !chance(3)) : chance(9);
    for (size_t i = 0; i < l->size; i++) l->data[i] = chance(6) ? between(-3, 5) : some_number();
}

static void anything_is_survived(void **state) {
    const move_kind kind = (move_kind)(uintptr_t)*state;
    for (size_t n = 0; n < CASES; n++) {
        if (n % CHUNK == 0) moves_begin();
        moves.target = n % 2 ? NULL : target_make(context_pool(moves.ctx), XIR_TARGET_ZHUGE, XIR_STR("330"));
        const xir_type *types[MOST_INPUTS];
        move_case c = { .kind = kind, .n_inputs = 1 + (kind == CONCAT || kind == STACK ? chance(3) : 0),
                        .null_list = chance(4) == 0 };
        xir_infer at;
        for (size_t i = 0; i < c.n_inputs; i++) types[i] = i && chance(3) ? types[0] : any_type();
        size_t rank = xir_type_rank(types[0]);
        any_list(&c.a, rank);
        any_list(&c.b, rank);
        any_list(&c.c, rank);
        c.number = chance(9) ? between(-4, 5) : some_number();
        if (kind == PAD) c.number = (int64_t)chance(5);
        xir_status status = move_run(&c, types, &at);
        for (size_t i = 0; !status && i < at.n_out; i++) {
            assert_non_null(xir_type_as_tensor(at.out[i]));
            assert_int_equal(xir_layout_rank(xir_type_layout(at.out[i])), xir_type_rank(at.out[i]));
        }
        infer_end(&at);
        if (n % CHUNK == CHUNK - 1) moves_end();
    }
}

/* ---- out of memory ----------------------------------------------------------------------------------------------- */

#define LIST XIR_I64S
#define STEP(id, in_, ...)                                                                                        \
    do {                                                                                                          \
        if (x) x = XIR_OP(at, id, in_, .attrs = XIR_ATTRS(id, __VA_ARGS__));                                      \
    } while (0)
#define MOVE(id, ...) STEP(id, .input = x, __VA_ARGS__)

/* Every move over a type of ten dims, which need a separate allocation. */
static bool move_all(xir_context *with) {
    enum { N = 12 };
    double scale[N];
    int64_t zero[N];
    for (int64_t i = 0; i < N; i++) scale[i] = 1 + (double)(i % 5), zero[i] = i % 7;
    const int64_t dims[] = { 1, 1, 1, 1, 1, 1, 1, 1, 2, N };
    xir_network *made = xir_network_new(with, "n", XIR_FRAMEWORK_PYTORCH, "v1.9");
    if (!made) return false;
    xir_at at = XIR_AT(made);
    const xir_scales *scales = xir_scales_from(with, scale, N, -1);
    const xir_type *sint = xir_type_sint(with, 8),
                    *element = scales && sint ? xir_type_quantized(with, scales, zero, N, sint, NULL) : NULL;
    const xir_type *type = element ? xir_type_tensor(with, element, NULL, dims, 10) : NULL;
    type = type ? xir_type_add_distr(with, type, (const int64_t[]){ 8, 9 }, 2, NULL) : NULL;
    for (int64_t i = 1; i < 2 * N; i += 3) {
        type = type ? xir_type_mark_distr(with, type, (const int64_t[]){ 8, 9 }, 2, i, i + 1, false, NULL) : NULL;
    }
    xir_value *x = type ? xir_input(at, "x", type) : NULL;
    bool began = x != NULL;
    const xir_layout *stars = xir_layout_default(with, 10);
    if (stars) MOVE(transpose, (dims, LIST(9, 8, 7, 6, 5, 4, 3, 2, 1, 0)), (layout, stars));
    else x = NULL;
    MOVE(slice, (begin, LIST(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), (end, LIST(11, 2, 1, 1, 1, 1, 1, 1, 1, 1)),
         (stride, LIST(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)));
    MOVE(roll, (shifts, LIST(3, 1)), (dims, LIST(0, 1)));
    MOVE(swap_order, (order, LIST(10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5)), (axis, 0));
    MOVE(pad, (padding, LIST(2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), (mode, XIR_PAD_REFLECTION),
         (value, xir_scalar_int(with, 0)));
    MOVE(split, (sections, LIST(12, 4)), (axis, 0));
    MOVE(channel_shuffle, (groups, 1));
    if (x) {
        xir_value *const both[] = { x, x };
        x = XIR_OP(at, concat, .inputs = { both, 2 }, .attrs = XIR_ATTRS(concat, (axis, 0)));
    }
    MOVE(tile, (dims, LIST(2, 1, 1, 1, 1, 1, 1, 1, 1, 1)));
    MOVE(expand, (sizes, LIST(3, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1)));
    if (x) {
        xir_value *const both[] = { x, x };
        x = XIR_OP(at, stack, .inputs = { both, 2 }, .attrs = XIR_ATTRS(stack, (dim, 0)));
    }
    MOVE(unstack, (dim, 0));
    MOVE(unstack, (dim, 0));
    const xir_layout *layout = xir_layout_default(with, 9);
    if (layout) MOVE(reshape, (shape, LIST(48, 2, 1, 1, 1, 1, 1, 1, 1)), (layout, layout));
    else x = NULL;
    MOVE(squeeze, (axis, LIST(2, 3, 4, 5, 6, 7, 8)));
    bool done = x != NULL;
    if (done) {
        assert_int_equal(xir_type_rank(xir_value_type(x)), 2);
        assert_int_equal(xir_scales_count(xir_type_scale(xir_value_type(x))), 48);
        assert_int_equal(xir_type_zero_points(xir_value_type(x)).size, 48);
    } else if (began && layout && xir_network_status(made)) {
        assert_int_equal(xir_network_status(made), XIR_E_MEMORY);
    }
    xir_network_free(made);
    return done;
}

static void failing_allocations_lose_nothing(void **state) {
    (void)state;
    check_memory(move_all);
}

GROUP {
    static const struct { const char *what; CMUnitTestFunction run; bool tiles; } all[] = {
        { "shapes are right",                   shapes_are_right,                   false },
        { "unknown dims stay unknown",          unknown_dims_stay_unknown,          false },
        { "elements keep their properties", elements_keep_their_properties, false },
        { "tiles move too",                     tiles_move_too,                     true  },
        { "anything is survived",               anything_is_survived,               false },
    };
    static const bool tiled[KINDS] = { [SLICE] = true, [SPLIT] = true, [ROLL] = true, [SWAP] = true, [PAD] = true,
                                       [CONCAT] = true,
                                       [TRANSPOSE] = true };
    static struct CMUnitTest tests[5 * KINDS + 1];
    static char titles[5 * KINDS][64];
    size_t n = 0;
    for (size_t i = 0; i < 5 * KINDS; i++) {
        size_t k = i % KINDS, what = i / KINDS;
        if (all[what].tiles && !tiled[k]) continue;
        snprintf(titles[n], sizeof titles[n], "%s: %s", move_names[k], all[what].what);
        tests[n] = (struct CMUnitTest){ titles[n], all[what].run, NULL, NULL, (void *)(uintptr_t)k };
        n++;
    }
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(failing_allocations_lose_nothing);
    return _cmocka_run_group_tests("ops_moves", tests, n, group_begin, group_end);
}

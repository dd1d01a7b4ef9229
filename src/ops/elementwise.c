/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Element-wise ops. Operands may be tiled if they have the same layout, because their elements then correspond. */
#include <inttypes.h>
#include <stdio.h>
#include "elementwise.h"
#include "graph.h"
#include "types.h"

xir_status function_infer(xir_infer *at) {
    const xir_type *element;
    xir_status status = computed_element(at, 0, &element);
    return status ? status : same_infer(at);
}

int64_t channels_of(const xir_type *like, const int64_t *dims, size_t rank) {
    const xir_layout *layout = xir_type_layout(like);
    if (rank == 0) return 1;
    for (const char *letter = "COI"; *letter && layout; letter++) {
        int64_t i = xir_layout_index(layout, *letter);
        if (i >= 0 && (size_t)i < rank) return dims[i];
    }
    return dims[rank - 1];
}

/* ---- tiled pairs ---------------------------------------------------------------------------------------------- */

/* A tiled channel dim. */
typedef struct tiled_dim {
    int64_t axes[2];         /* indices of the dim of tiles and the dim of units      */
    int64_t tiles, unit;
    int64_t valid, padded;   /* channels without and with padding; -1: unknown         */
} tiled_dim;

static bool read_tiled(const xir_type *type, tiled_dim *t) {
    const xir_layout *layout = xir_type_layout(type);
    for (const char *letter = "COI"; *letter && layout; letter++) {
        t->axes[0] = xir_layout_index(layout, *letter);
        t->axes[1] = xir_layout_index(layout, (char)(*letter | 0x20));
        if (t->axes[0] < 0 || t->axes[1] < 0) continue;
        t->tiles = type_dim(type, t->axes[0]);
        t->unit = type_dim(type, t->axes[1]);
        if (t->tiles < 0 || t->unit < 0 || !mul_i64(t->tiles, t->unit, &t->padded)) t->padded = UNKNOWN_DIM;
        const xir_distr *distr = xir_type_distr(type, t->axes, 2);
        t->valid = distr ? xir_distr_total_valid(distr) : t->padded;
        return true;
    }
    return false;
}

/* Returns true if an untiled tensor holds a single number, or one number for each of these channels. */
static bool is_factor(const xir_type *type, const tiled_dim *t) {
    int64_t n;
    size_t rank = xir_type_rank(type);
    if (xir_type_elements(type, &n) != XIR_OK) return false;
    if (n == 1) return true;
    return (n == t->valid || n == t->padded) && channels_of(type, xir_type_as_tensor(type)->shape.data, rank) == n;
}

/* Returns true if a tiled tensor has only the channel dim, in the same tiles. */
static bool is_tiled_factor(const xir_type *type, const tiled_dim *t) {
    tiled_dim own;
    return xir_type_rank(type) == 2 && read_tiled(type, &own) && own.tiles == t->tiles && own.unit == t->unit;
}

/* Returns true if two tensors have the same layout and tiles, so that their other dims may broadcast. */
static bool same_tiles(const xir_type *lhs, const xir_type *rhs) {
    const xir_layout *layout = xir_type_layout(lhs);
    const xir_tensor_type *l = xir_type_as_tensor(lhs), *r = xir_type_as_tensor(rhs);
    if (!xir_object_equal((const xir_object *)layout, (const xir_object *)xir_type_layout(rhs))) return false;
    if (l->shape.size != r->shape.size || l->shape.size != xir_layout_rank(layout)) return false;
    for (size_t k = 0; k < l->shape.size; k++) {
        char letter = xir_layout_axis(layout, k);
        bool tiled = letter != '*' && xir_layout_has(layout, (char)(letter | 0x20));
        if (tiled && (l->shape.data[k] < 0 || l->shape.data[k] != r->shape.data[k])) return false;
    }
    return true;
}

/* Checks a tiled pair by the rules of a back end. Without a rule, anything passes. */
static xir_status check_tiled_pair(xir_infer *at) {
    const xir_target *target = xir_infer_target(at);
    const xir_type *lhs = xir_infer_input(at, 0), *rhs = xir_infer_input(at, 1);
    dim_list dims;
    if (!target || !xir_class_infers_on(xir_infer_class(at), (int)xir_target_kind_of(target))) return XIR_OK;
    xir_status status = same_elements(at, 0, 1);
    if (status || !same_tiles(lhs, rhs)) return status;
    status = broadcast(at, lhs, rhs, &dims);
    if (!status) dims_free(&dims);
    return status;
}

/* ---- pairs --------------------------------------------------------------------------------------------------- */

/* Returns true if a type is that of one element, which broadcasts to any dims. */
static bool is_one_element(const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    return tensor && !tensor->shape.size && !tensor->merged_distrs.size;
}

xir_status check_pair(xir_infer *at) {
    dim_list dims;
    if (!inputs_known(at, 2) || xir_infer_input(at, 0) == xir_infer_input(at, 1)) return XIR_OK;
    if (inputs_tiled(at, 2)) return check_tiled_pair(at);
    xir_status status = same_elements(at, 0, 1);
    if (status || is_one_element(xir_infer_input(at, 1))) return status;
    status = broadcast(at, xir_infer_input(at, 0), xir_infer_input(at, 1), &dims);
    if (status) return status;
    dims_free(&dims);
    return XIR_OK;
}

xir_status give_pair(xir_infer *at, const xir_type *element) {
    const xir_type *lhs = xir_infer_input(at, 0), *rhs = xir_infer_input(at, 1);
    const xir_tensor_type *like = xir_type_as_tensor(lhs);
    if (like && xir_type_as_tensor(rhs) && xir_type_is_layouted(lhs) && same_placement(lhs, rhs)) {
        const xir_type *type = type_tensor(at->pool, element, like->layout, like->shape, like->merged_distrs);
        return type ? xir_infer_result(at, type) : infer_no_memory(at);
    }
    const bool plain = like && !like->merged_distrs.size && xir_layout_rank(like->layout) == like->shape.size;
    if (plain && (const xir_type *)like->element_dtype == element && is_one_element(rhs))
        return xir_infer_result(at, lhs);
    dim_list dims;
    xir_status status = need_inputs(at, 2);
    if (!status) status = broadcast(at, lhs, rhs, &dims);
    if (status) return status;
    status = give_joined(at, 2, element, &dims);
    dims_free(&dims);
    return status;
}

xir_status pair_check(xir_infer *at) {
    xir_status status = need_numbers(at, 0);
    if (!status) status = need_numbers(at, 1);
    return status ? status : check_pair(at);
}

/* The results are computed from both operands. */
xir_status pair_infer(xir_infer *at) {
    const xir_type *lhs = xir_infer_input(at, 0), *element;
    xir_status status = computed_element(at, 0, &element);
    if (!status) status = computed_element(at, 1, &element);
    if (status) return status;
    if (inputs_known(at, 2) && xir_type_equal(lhs, xir_infer_input(at, 1))) return xir_infer_result(at, lhs);
    return give_pair(at, xir_type_element(lhs));
}

/* Each result is an element of one of the operands. */
xir_status either_infer(xir_infer *at) {
    const xir_type *lhs = xir_infer_input(at, 0), *rhs = xir_infer_input(at, 1), *element;
    dim_list dims;
    if (inputs_known(at, 2) && xir_type_equal(lhs, rhs)) return xir_infer_result(at, lhs);
    xir_status status = need_inputs(at, 2);
    if (!status) status = broadcast(at, lhs, rhs, &dims);
    if (status) return status;
    status = either_element(at, &dims, &element);
    if (!status) status = give_joined(at, 2, element, &dims);
    dims_free(&dims);
    return status;
}

xir_status tiled_pair_infer(xir_infer *at) {
    const xir_type *types[] = { xir_infer_input(at, 0), xir_infer_input(at, 1) }, *element;
    if (!inputs_known(at, 2) || !inputs_tiled(at, 2) || same_placement(types[0], types[1])) return pair_infer(at);
    xir_status status = computed_element(at, 0, &element);
    if (!status) status = computed_element(at, 1, &element);
    if (!status) status = same_elements(at, 0, 1);
    if (status) return status;
    tiled_dim t;
    for (size_t i = 0; i < 2; i++) {
        const xir_type *other = types[1 - i];
        if (!read_tiled(types[i], &t)) continue;
        bool fits = xir_type_is_layouted(other) ? is_tiled_factor(other, &t) : is_factor(other, &t);
        if (fits && xir_type_rank(other) < xir_type_rank(types[i])) return xir_infer_result(at, types[i]);
    }
    if (!same_tiles(types[0], types[1])) return need_inputs(at, 2);
    dim_list dims;
    status = broadcast(at, types[0], types[1], &dims);
    if (status) return status;
    status = give_joined(at, 2, element, &dims);
    dims_free(&dims);
    return status;
}

/* ---- sums ---------------------------------------------------------------------------------------------------- */

static xir_status check_factors(xir_infer *at, const char *attribute, xir_refs factors, int64_t channels) {
    if (factors.size <= 1 || channels < 0 || (uint64_t)channels == factors.size) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, attribute,
                          "%zu factors are given: expected 1, or 1 for each of %" PRId64 " channels", factors.size,
                          channels);
}

xir_status add_check(xir_infer *at) {
    const xir_add_attrs *a = xir_infer_attrs(at);
    dim_list dims;
    xir_status status = pair_check(at);
    if (status || !inputs_known(at, 2) || inputs_tiled(at, 2)) return status;
    /* One factor fits any number of channels. */
    if (a->alpha.size <= 1 && a->beta.size <= 1) return XIR_OK;
    status = broadcast(at, xir_infer_input(at, 0), xir_infer_input(at, 1), &dims);
    if (status) return status;
    int64_t channels = channels_of(xir_infer_input(at, leading_input(at, 2)), dims.data, dims.size);
    status = check_factors(at, "alpha", a->alpha, channels);
    if (!status) status = check_factors(at, "beta", a->beta, channels);
    dims_free(&dims);
    return status;
}

/* ---- quotients ----------------------------------------------------------------------------------------------- */

/* An integer type cannot hold a true quotient. */
static xir_status check_rounding(xir_infer *at, size_t i, xir_rounding mode) {
    const xir_type *type = xir_infer_input(at, i);
    if (mode != XIR_ROUNDING_NONE || !holds_integers(type)) return XIR_OK;
    char room[40];
    return xir_infer_fail(at, XIR_E_TYPE, "rounding_mode",
                          "NONE divides exactly, which %s of %s cannot hold: expected TRUNC or FLOOR",
                          element_word(element_of(type), room, sizeof room), input_name(at, i));
}

xir_status div_check(xir_infer *at) {
    const xir_div_attrs *a = xir_infer_attrs(at);
    xir_status status = pair_check(at);
    return status ? status : check_rounding(at, 0, a->rounding_mode);
}

xir_status divide_scalar_check(xir_infer *at) {
    const xir_divide_scalar_attrs *a = xir_infer_attrs(at);
    xir_status status = need_numbers(at, 0);
    if (!status) status = check_rounding(at, 0, a->rounding_mode);
    if (status || (float)a->divisor != 0 || !holds_integers(xir_infer_input(at, 0))) return status;
    return xir_infer_fail(at, XIR_E_INVALID, "divisor",
                          "divisor is 0, and the elements are integers: expected another number");
}

/* As in ONNX, the remainder with the sign of rhs is for integers only. */
xir_status mod_check(xir_infer *at) {
    const xir_mod_attrs *a = xir_infer_attrs(at);
    const xir_type *lhs = xir_infer_input(at, 0);
    xir_status status = pair_check(at);
    if (status || a->fmod || !holds_reals(lhs)) return status;
    char room[40];
    return xir_infer_fail(at, XIR_E_TYPE, "fmod",
                          "the elements of lhs are %s: expected integers, because fmod is not set",
                          element_word(element_of(lhs), room, sizeof room));
}

/* ---- cast ---------------------------------------------------------------------------------------------------- */

/* Counts the elements that are not padding. False if the count is unknown: a dim is unknown, distributions overlap or
 * do not fit their dims, or the type is tiled and does not declare its padding. */
static bool valid_elements(const xir_type *type, int64_t *out) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    size_t rank = tensor->shape.size;
    if (rank > 64 || (xir_type_is_layouted(type) && tensor->merged_distrs.size == 0)) return false;
    uint64_t merged = 0;
    *out = 1;
    for (size_t i = 0; i < tensor->merged_distrs.size; i++) {
        const xir_distr *distr = (const xir_distr *)tensor->merged_distrs.data[i];
        int64_t total = 1;
        for (size_t k = 0; k < distr->merged_axis.size; k++) {
            int64_t axis = from_start(distr->merged_axis.data[k], rank);
            if (axis < 0 || merged >> axis & 1 || tensor->shape.data[axis] < 0) return false;
            if (!mul_i64(total, tensor->shape.data[axis], &total)) return false;
            merged |= UINT64_C(1) << axis;
        }
        if (total != xir_distr_total(distr) || !mul_i64(*out, xir_distr_total_valid(distr), out)) return false;
    }
    for (size_t i = 0; i < rank; i++) {
        if (merged >> i & 1) continue;
        if (tensor->shape.data[i] < 0 || !mul_i64(*out, tensor->shape.data[i], out)) return false;
    }
    return true;
}

/* A cast may change rank, layout and padding, but not the number of valid elements. */
xir_status cast_check(xir_infer *at) {
    const xir_cast_attrs *a = xir_infer_attrs(at);
    if (!a->target_dtype || !inputs_known(at, 1)) return XIR_OK;   // the rows report that it is missing
    int64_t from, to;
    if (!valid_elements(xir_infer_input(at, 0), &from) || !valid_elements((const xir_type *)a->target_dtype, &to))
        return XIR_OK;
    if (from == to) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "target_dtype",
                          "the target has %" PRId64 " valid elements: expected %" PRId64 ", as in the input", to, from);
}

/* Returns true if unknown dims of the target are those of the input: it has the same axes, and neither has padding. */
static bool keeps_dims(const xir_tensor_type *from, const xir_tensor_type *to) {
    return xir_type_has_unknown_dim((const xir_type *)to) && from->shape.size == to->shape.size &&
           !from->merged_distrs.size && !to->merged_distrs.size && !xir_type_is_layouted((const xir_type *)to) &&
           xir_str_equal(xir_layout_text(from->layout), xir_layout_text(to->layout));
}

xir_status cast_infer(xir_infer *at) {
    const xir_cast_attrs *a = xir_infer_attrs(at);
    if (!a->target_dtype) return xir_infer_fail(at, XIR_E_MISSING, "target_dtype", "the target type is missing");
    const xir_tensor_type *to = a->target_dtype, *from = xir_type_as_tensor(xir_infer_input(at, 0));
    if (!from || !keeps_dims(from, to)) return xir_infer_result(at, (const xir_type *)to);
    dim_list dims;
    if (!dims_copy(at, &dims, (const xir_type *)to)) return XIR_E_MEMORY;
    for (size_t i = 0; i < dims.size; i++) {
        if (dims.data[i] == UNKNOWN_DIM) dims.data[i] = from->shape.data[i];
    }
    xir_status status = give_tensor(at, (const xir_type *)to, to->element_dtype, &dims, (xir_refs){ NULL, 0 });
    dims_free(&dims);
    return status;
}

/* ---- stored numbers -------------------------------------------------------------------------------------------- */

/* The dims of the target are those of the input, as far as both are known. */
static xir_status same_dims(xir_infer *at, const xir_tensor_type *to) {
    const xir_tensor_type *from = xir_type_as_tensor(xir_infer_input(at, 0));
    if (!from) return XIR_OK;
    bool same = from->shape.size == to->shape.size;
    for (size_t i = 0; same && i < to->shape.size; i++) {
        int64_t a = from->shape.data[i], b = to->shape.data[i];
        same = a < 0 || b < 0 || a == b;
    }
    if (same) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "target_dtype", "the target has other dims than the input");
}

xir_status quantize_check(xir_infer *at) {
    const xir_quantize_attrs *a = xir_infer_attrs(at);
    if (!a->target_dtype || !inputs_known(at, 1)) return XIR_OK;   // the rows report that it is missing
    const xir_type *to = a->target_dtype->element_dtype, *from = xir_type_element(xir_infer_input(at, 0));
    const xir_integer_type *stored = xir_integer_type_of(xir_type_object(xir_type_storage(to)));
    if (xir_type_kind_of(to) != XIR_TYPE_QUANTIZED || !stored || stored->ibits > 32) {
        return xir_infer_fail(at, XIR_E_TYPE, "target_dtype",
                              "the target has other elements: expected a QuantizedType of integers of up to 32 bits");
    }
    const xir_type_kind kind = xir_type_kind_of(from);
    if (kind != XIR_TYPE_FLOAT && kind != XIR_TYPE_QUANTIZED) {
        return xir_infer_fail(at, XIR_E_TYPE, "inputs/0", "the input has other elements: expected floating-point numbers "
                              "or a QuantizedType");
    }
    return same_dims(at, a->target_dtype);
}

xir_status bit_cast_check(xir_infer *at) {
    const xir_bit_cast_attrs *a = xir_infer_attrs(at);
    if (!a->target_dtype || !inputs_known(at, 1)) return XIR_OK;
    const uint64_t from = xir_type_storage_bits(xir_infer_input(at, 0)),
                   to = xir_type_storage_bits((const xir_type *)a->target_dtype);
    if (from != to) {
        return xir_infer_fail(at, XIR_E_TYPE, "target_dtype", "the target has elements of %" PRIu64 " bits: expected %"
                              PRIu64 ", as in the input", to, from);
    }
    return same_dims(at, a->target_dtype);
}

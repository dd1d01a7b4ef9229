/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators of ONNX Runtime (com.microsoft) with weights of few bits, packed into bytes: each block of elements has a
 * scale and a zero point. */
#include "onnx/rows.h"
#include "formula/parts.h"

/* ---- what is packed --------------------------------------------------------------------------------------------- */

/* The numbers in the bytes of the last dim, the lowest bits first: [rows, bytes] becomes [rows, numbers]. */
static xir_value *unpacked(xir_node *at, xir_value *x, int64_t rows, int64_t bytes, int64_t bits) {
    const int64_t each = 8 / bits;
    const xir_type *wide = xir_type_sint(at->c->ctx, 32);
    const xir_ints dims = { (int64_t[]){ each }, 1 };
    double steps[8];
    x = xir_node_cast(at, make_shaped(at, x, (int64_t[]){ rows, bytes, 1 }, 3), wide);
    if (each == 1 || !x) return make_shaped(at, x, (int64_t[]){ rows, bytes }, 2);
    for (int64_t i = 0; i < each; i++) steps[i] = (double)(1 << i * bits);
    xir_value *shifted = xir_node_make(at, "Div", INS(x, xir_node_constant(at, wide, &dims, steps, (size_t)each)),
                                       SETS(WORD("rounding_mode", XIR_STR("TRUNC"))));
    x = xir_node_make(at, "Mod", INS(shifted, xir_node_scalar(at, wide, (double)(1 << bits))), NO_SETS);
    return make_shaped(at, x, (int64_t[]){ rows, bytes * each }, 2);
}

/* An input of N rows with `n` elements each, in any dims. */
static bool has_rows(xir_node *at, size_t i, const xir_value *v, int64_t rows, int64_t n) {
    const input_place here = place_of_input(i);
    if (!xir_node_need_dims(at, v, 0, SIZE_MAX)) return false;
    const xir_ints dims = xir_node_dims(at, v);
    const int64_t found = xir_node_failed(at) ? -1 : product_of(&dims, 0, dims.n);
    if (xir_node_failed(at) || found == rows * n) return !xir_node_failed(at);
    return xir_node_invalid(at, XIR_E_INVALID, here.text,
                            "input %zu: expected %lld elements, %lld for each of %lld columns, "
                            "found %lld", i, (long long)(rows * n), (long long)n, (long long)rows, (long long)found);
}

static bool is_block(xir_node *at, int64_t block) {
    enum { MOST = 1 << 24 };
    if (block >= 16 && block <= MOST && !(block & (block - 1))) return true;
    return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/block_size",
                            "block_size: expected a power of 2 from 16 on, found %lld", (long long)block);
}

static bool has_bits(xir_node *at, int64_t bits) {
    if (bits == 2 || bits == 4 || bits == 8) return true;
    return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/bits", "bits: expected 2, 4 or 8, found %lld",
                            (long long)bits);
}

/* ---- MatMulNBits ------------------------------------------------------------------------------------------------ */

/* The zero points of blocks, [columns, blocks, 1]: packed like the weights, or one element each. */
static xir_value *block_points(xir_node *at, const xir_type *real, int64_t columns, int64_t blocks, int64_t bits) {
    xir_value *zero = xir_node_optional_input(at, 3);
    const int64_t bytes = (blocks * bits + 7) / 8;
    if (xir_node_failed(at)) return NULL;
    if (!zero) return xir_node_scalar(at, real, (double)(1 << (bits - 1)));
    const bool packed = v_is_integer(zero);
    if (!has_rows(at, 3, zero, columns, packed ? bytes : blocks)) return NULL;
    if (packed) zero = make_part(at, unpacked(at, zero, columns, bytes, bits), 1, 0, blocks, 1);
    return xir_node_cast(at, make_shaped(at, zero, (int64_t[]){ columns, blocks, 1 }, 3), real);
}

/* Weights [columns, rows] minus a zero point, times a scale, both of the group of their row: input 4 has the groups. */
static xir_value *in_groups(xir_node *at, xir_value *w, xir_value *scale, xir_value *point) {
    xir_value *group = xir_node_input(at, 4);
    if (xir_node_failed(at) || !w || !scale || !point) return NULL;
    const int64_t rows = v_dim(w, 1);
    if (v_rank(group) != 1 || (v_dim(group, 0) >= 0 && v_dim(group, 0) < rows)) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/4", "input 4: expected 1 dim of at least %lld elements, a "
                                "group for each row", (long long)rows), NULL;
    }
    group = make_part(at, group, 0, 0, rows, 1);
    scale = xir_node_make(at, "Gather", INS(scale, group), SETS(INT("axis", 1)));
    if (v_rank(point)) {
        point = make_shaped(at, point, (int64_t[]){ v_dim(point, 0), v_dim(point, 1) }, 2);
        point = xir_node_make(at, "Gather", INS(point, group), SETS(INT("axis", 1)));
    }
    w = scale ? xir_node_sum(at, xir_node_cast(at, w, v_element(scale)), point, 1, -1) : NULL;
    return xir_node_product(at, w, scale);
}

/* a times the transpose of B, whose rows are blocks of numbers of a few bits with a scale each. */
bool onnx_ms_matmul_nbits(xir_node *at) {
    enum { MOST = 1 << 24 };
    xir_value *a = xir_node_input(at, 0), *b = xir_node_input(at, 1), *scale = xir_node_input(at, 2),
              *bias = xir_node_optional_input(at, 5);
    const int64_t k = xir_node_int(at, "K", 0), n = xir_node_int(at, "N", 0), bits = xir_node_int(at, "bits", 4),
                  block = xir_node_int(at, "block_size", 0);
    if (xir_node_failed(at)) return false;
    if (xir_node_int(at, "weight_prepacked", 0))
        return xir_node_unsupported(at, "weights in the order of one processor (weight_prepacked)");
    if (k < 1 || n < 1 || k > MOST || n > MOST) {
        const bool first = k < 1 || k > MOST;
        return xir_node_invalid(at, XIR_E_BOUNDS, first ? "attribute/K" : "attribute/N",
                                "%c: expected 1 to %d, found %lld", first ? 'K' : 'N', MOST,
                                    (long long)(first ? k : n));
    }
    if (!has_bits(at, bits) || !is_block(at, block)) return false;
    if (xir_node_has(at, 4) && xir_node_has(at, 3) && v_is_integer(xir_node_input(at, 3)))
        return xir_node_unsupported(at, "packed zero points of groups in an order of their own, which ONNX Runtime "
                                    "does not use");
    const int64_t blocks = (k + block - 1) / block, bytes = blocks * block * bits / 8;
    if (!has_rows(at, 1, b, n, bytes) || !has_rows(at, 2, scale, n, blocks)) return false;
    const xir_type *real = v_element(scale);
    xir_value *w = unpacked(at, b, n, bytes, bits), *point = block_points(at, real, n, blocks, bits);
    if (xir_node_has(at, 4)) {
        w = in_groups(at, make_part(at, w, 1, 0, k, 1), make_shaped(at, scale, (int64_t[]){ n, blocks }, 2), point);
    } else {
        w = make_shaped(at, w, (int64_t[]){ n, blocks, block }, 3);
        w = xir_node_sum(at, xir_node_cast(at, w, real), point, 1, -1);
        w = xir_node_product(at, w, make_shaped(at, scale, (int64_t[]){ n, blocks, 1 }, 3));
        w = make_shaped(at, w, (int64_t[]){ n, blocks * block }, 2);
        if (blocks * block != k) w = make_part(at, w, 1, 0, k, 1);
    }
    w = make_swapped(at, xir_node_cast(at, w, v_element(a)));
    return xir_node_result(at, 0, onnx_product(at, a, w, bias));
}

/* ---- GatherBlockQuantized --------------------------------------------------------------------------------------- */

/* Bytes hold several numbers of the last dim, the lowest bits first. */
static xir_value *widened(xir_node *at, xir_value *x, int64_t bits, const int64_t *last) {
    const size_t rank = v_rank(x);
    xir_ints dims = xir_node_dims(at, x);
    if (xir_node_failed(at)) return NULL;
    const int64_t rows = product_of(&dims, 0, rank - 1), bytes = dims.v[rank - 1];
    xir_value *y = unpacked(at, x, rows, bytes, bits);
    if (y && last && *last < bytes * (8 / bits)) y = make_part(at, y, 1, 0, *last, 1);
    dims.v[rank - 1] = last ? *last : bytes * (8 / bits);
    return make_shaped(at, y, dims.v, rank);
}

static bool same_dims(xir_node *at, size_t i, const xir_value *v, const int64_t *dims, size_t n) {
    const input_place here = place_of_input(i);
    if (type_has_dims(xir_value_type(v), dims, n)) return true;
    return xir_node_invalid(at, XIR_E_INVALID, here.text, "input %zu: its dims are not those of the blocks of input 0",
                            i);
}

/* Inputs: the data, the places of rows, a scale and perhaps a zero point for each block along an axis. The rows are
 * gathered before they become reals. */
bool onnx_ms_gather_block_quantized(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *places = xir_node_input(at, 1), *scale = xir_node_input(at, 2),
              *point = xir_node_optional_input(at, 3);
    const int64_t block = xir_node_int(at, "block_size", 128), bits = xir_node_int(at, "bits", 4);
    int64_t gathered, axis;
    if (xir_node_failed(at) || !has_bits(at, bits) || !is_block(at, block)) return false;
    const size_t rank = v_rank(x);
    if (!node_axis(at, "gather_axis", 0, rank, &gathered) ||
        !node_axis(at, "quantize_axis", 1, rank, &axis) ||
        !xir_node_need_dims(at, x, 0, rank) || !xir_node_need_dims(at, scale, 0, SIZE_MAX)) return false;
    const bool packed = xir_type_equal(v_element(x), xir_type_uint(at->c->ctx, 8));
    if (gathered == axis) return xir_node_unsupported(at, "a scale that depends on the place");
    if (packed && (gathered != 0 || axis != (int64_t)rank - 1))
        return xir_node_unsupported(at, "bytes whose blocks are not along the last dim");
    const bool small = xir_type_equal(v_element(x), xir_type_uint(at->c->ctx, 4)) ||
                       xir_type_equal(v_element(x), xir_type_sint(at->c->ctx, 4));
    if (!packed && (bits != 4 || !small)) return xir_node_unsupported(at, "other elements than bytes, or 4 bits");
    if (!node_at_most(at, v_dim(x, (size_t)axis), MOST_LISTED, "dim %lld of input 0", (long long)axis)) return false;
    if (packed) x = widened(at, x, bits, NULL);
    xir_ints dims = xir_node_dims(at, x);
    if (xir_node_failed(at)) return false;
    const int64_t size = dims.v[axis], blocks = size / block + (size % block != 0);
    dims.v[axis] = blocks;
    if (!same_dims(at, 2, scale, dims.v, rank)) return false;
    if (point && packed && bits < 8) {
        dims.v[axis] = (blocks * bits + 7) / 8;
        if (!xir_node_need_dims(at, point, 0, SIZE_MAX) || !same_dims(at, 3, point, dims.v, rank)) return false;
        point = widened(at, point, bits, &blocks);
    } else if (point && (!xir_node_need_dims(at, point, 0, SIZE_MAX) || !same_dims(at, 3, point, dims.v, rank))) {
        return false;
    }
    const xir_type *wide = xir_type_sint(at->c->ctx, 32);
    const xir_set along[] = { INT("axis", gathered) };
    x = xir_node_cast(at, xir_node_make(at, "Gather", INS(xir_node_cast(at, x, wide), places), (xir_sets){ along, 1 }),
                      v_element(scale));
    if (point) {
        point = xir_node_cast(at, xir_node_make(at, "Gather", INS(xir_node_cast(at, point, wide), places),
                                                (xir_sets){ along, 1 }), v_element(scale));
    }
    scale = xir_node_make(at, "Gather", INS(scale, places), (xir_sets){ along, 1 });
    if (xir_node_failed(at) || !x || !scale) return false;
    const size_t at_axis = (size_t)axis + (axis > gathered ? v_rank(places) - 1 : 0);
    xir_ints of = xir_node_make_ints(at, (size_t)size, 0);
    for (int64_t i = 0; of.v && i < size; i++) of.v[i] = i / block;
    scale = make_taken(at, scale, at_axis, &of);
    if (point) x = xir_node_sum(at, x, make_taken(at, point, at_axis, &of), 1, -1);
    else if (packed) x = xir_node_sum(at, x, xir_node_scalar(at, v_element(scale), (double)(1 << (bits - 1))), 1, -1);
    return xir_node_result(at, 0, xir_node_product(at, x, scale));
}

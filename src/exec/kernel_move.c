/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The elements of one input in other places. Inference has computed the shape of the output; kernels map the
 * elements. */
#include <xir/distr.h>
#include "elements.h"
#include "pick.h"

/* The non-negative remainder. */
static int64_t wrapped(int64_t i, int64_t n) {
    int64_t r = n ? i % n : 0;
    return r < 0 ? r + n : r;
}

/* ---- the same elements in the same order ------------------------------------------------------------------------- */

static xir_status same(xir_kernel *at) { return xir_kernel_forward(at, 0, 0); }

/* ---- permuted axes ---------------------------------------------------------------------------------------------- */

static xir_status transpose(xir_kernel *at) {
    const xir_transpose_attrs *a = xir_kernel_attrs(at);
    pick p;
    if (!pick_open(&p, at, 0)) return XIR_E_MEMORY;
    for (size_t k = 0; k < p.rank; k++) pick_along(&p, k, axis_of(xir_kernel_input_type(at, 0), a->dims.data[k]), 0, 1);
    return pick_run(&p, at, 0);
}

/* Dim k of the output repeats that of the input until it is full. Leading dims that the input lacks have no stride. */
static xir_status repeat(xir_kernel *at) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    size_t own = xir_type_rank(type);
    pick p;
    if (!pick_open(&p, at, 0)) return XIR_E_MEMORY;
    for (size_t k = p.rank - own; k < p.rank; k++) {
        size_t j = k - (p.rank - own), n = dim_of(type, j);
        for (size_t i = 0; i < p.dims[k] && n; i++) p.from[k][i] = (int64_t)(i % n * p.strides[j]);
    }
    return pick_run(&p, at, 0);
}

/* The numbers of a list that is computed (input 1), or those of the attribute; NULL after a failure. */
static const int64_t *list_of(xir_kernel *at, const int64_t *attribute) {
    return xir_kernel_input_count(at) > 1 ? xir_kernel_i64s(at, 1) : attribute;
}

/* Inference does not need the computed size of a dim that the input knows. */
static xir_status expand(xir_kernel *at) {
    const int64_t *sizes = list_of(at, NULL);
    const xir_type *to = xir_kernel_output_type(at, 0);
    if (xir_kernel_input_count(at) > 1 && !sizes) return XIR_E_MEMORY;
    for (size_t k = 0; sizes && k < xir_type_rank(to); k++) {
        if (sizes[k] == -1 || sizes[k] == 1 || sizes[k] == (int64_t)dim_of(to, k)) continue;
        return xir_kernel_fail(at, XIR_E_INVALID, "inputs/1", "size %zu is %lld: expected %zu, 1 or -1", k,
                               (long long)sizes[k], dim_of(to, k));
    }
    return repeat(at);
}

/* Opens a table that maps each dim to itself; callers then change some dims. */
static bool open_same(pick *p, xir_kernel *at) {
    if (!pick_open(p, at, 0)) return false;
    for (size_t k = 0; k < p->rank; k++) pick_along(p, k, k, 0, 1);
    return true;
}

static xir_status channel_shuffle(xir_kernel *at) {
    const xir_channel_shuffle_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_input_type(at, 0);
    size_t c = channel_axis(type, "C"), groups = (size_t)a->groups, each = dim_of(type, c) / groups;
    pick p;
    if (!open_same(&p, at)) return XIR_E_MEMORY;
    for (size_t i = 0; i < p.dims[c]; i++) p.from[c][i] = (int64_t)((i % groups * each + i / groups) * p.strides[c]);
    return pick_run(&p, at, 0);
}

static xir_status pixel_shuffle(xir_kernel *at) {
    const xir_pixel_shuffle_attrs *a = xir_kernel_attrs(at);
    const xir_layout *layout = xir_type_layout(xir_kernel_input_type(at, 0));
    size_t axes[4], r = (size_t)a->upscale_factor, next = 0;
    pick p;
    if (!open_same(&p, at)) return XIR_E_MEMORY;
    for (size_t i = 0; i < 4
         ; i++) {   // missing letters are the unnamed axes, in order
        int64_t k = xir_layout_index(layout, "NHWC"[i]);
        while (k < 0 && next < 4 && xir_layout_axis(layout, next) != '*') next++;
        axes[i] = k < 0 ? next++ : (size_t)k;
        if (axes[i] >= p.rank)
            return xir_kernel_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "the layout does not name the dims");
    }
    size_t h = axes[1], w = axes[2], c = axes[3], sc = p.strides[c];
    for (size_t i = 0; i < p.dims[h]; i++) p.from[h][i] = (int64_t)(i / r * p.strides[h] + i % r * r * sc);
    for (size_t i = 0; i < p.dims[w]; i++) p.from[w][i] = (int64_t)(i / r * p.strides[w] + i % r * sc);
    for (size_t i = 0; i < p.dims[c]; i++) p.from[c][i] = (int64_t)(i * r * r * sc);
    return pick_run(&p, at, 0);
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* The first index of NumPy's input[begin:…:stride] in a dim of n. */
static int64_t first_of(int64_t begin, int64_t stride, int64_t n) {
    int64_t least = stride < 0 ? -1 : 0, most = stride < 0 ? n - 1 : n;
    if (begin < 0) begin += n;
    return begin < least ? least : begin > most ? most : begin;
}

static xir_status slice(xir_kernel *at) {
    const xir_slice_attrs *a = xir_kernel_attrs(at);
    const int64_t *begin = list_of(at, a->begin.data);
    pick p;
    if ((!begin && a->begin.size) || !pick_open(&p, at, 0)) return XIR_E_MEMORY;
    for (size_t k = 0; k < p.rank; k++) {
        int64_t n = (int64_t)dim_of(xir_kernel_input_type(at, 0), k), stride = a->stride.data[k];
        /* If one element is picked, its stride is arbitrary. */
        pick_along(&p, k, k, first_of(begin[k], stride, n), p.dims[k] > 1 ? stride : 0);
    }
    return pick_run(&p, at, 0);
}

static xir_status split(xir_kernel *at) {
    const xir_split_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_input_type(at, 0);
    size_t axis = axis_of(type, a->axis);
    int64_t from = 0;
    for (size_t i = 0; i < xir_kernel_output_count(at); i++) {
        pick p;
        if (!pick_open(&p, at, i)) return XIR_E_MEMORY;
        for (size_t k = 0; k < p.rank; k++) pick_along(&p, k, k, k == axis ? from : 0, 1);
        xir_status status = pick_run(&p, at, i);
        if (status) return status;
        from += (int64_t)p.dims[axis];
    }
    return XIR_OK;
}

static xir_status unstack(xir_kernel *at) {
    const xir_unstack_attrs *a = xir_kernel_attrs(at);
    size_t axis = axis_of(xir_kernel_input_type(at, 0), a->dim);
    for (size_t i = 0; i < xir_kernel_output_count(at); i++) {
        pick p;
        if (!pick_open(&p, at, i)) return XIR_E_MEMORY;
        for (size_t k = 0; k < p.rank; k++) pick_along(&p, k, k < axis ? k : k + 1, 0, 1);
        p.base = (int64_t)(i * p.strides[axis]);
        xir_status status = pick_run(&p, at, i);
        if (status) return status;
    }
    return XIR_OK;
}

/* Keeps the valid elements of each pruned distribution; of merged dims these are the first ones of each, which need no
 * table. */
static xir_status prune_axis(xir_kernel *at) {
    const xir_prune_axis_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_input_type(at, 0);
    xir_refs distrs = xir_type_as_tensor(type)->merged_distrs;
    pick p;
    if (!open_same(&p, at)) return XIR_E_MEMORY;
    for (size_t i = 0; i < a->index.size; i++) {
        const xir_distr *distr =
            (const xir_distr *)distrs.data[a->index.data[i] + (a->index.data[i] < 0 ? (int64_t)distrs.size : 0)];
        if (distr->merged_axis.size != 1) continue;
        size_t k = axis_of(type, distr->merged_axis.data[0]), n = 0;
        for (int64_t from = 0; n < p.dims[k] && from < xir_distr_total(distr); from++) {
            if (xir_distr_is_valid(distr, from)) p.from[k][n++] = from * (int64_t)p.strides[k];
        }
    }
    return pick_run(&p, at, 0);
}

/* ---- rotation --------------------------------------------------------------------------------------------------- */

typedef struct rotation {
    carrier m;
    int64_t n, shift;   /* of all elements, in [0, n) */
} rotation;

static void roll_block(size_t from, size_t n, void *user) {
    const rotation *r = user;
    const int64_t first = (int64_t)from, end = first + (int64_t)n;
    const int64_t wraps = end < r->shift ? end : first > r->shift ? first : r->shift;
    if (wraps > first) carry(&r->m, first, first - r->shift + r->n, wraps - first);
    if (wraps < end)   carry(&r->m, wraps, wraps - r->shift, end - wraps);
}

static xir_status roll_flat(xir_kernel *at, int64_t shift) {
    rotation r;
    if (!carry_begin(at, &r.m, 0, 0) || xir_type_elements(xir_kernel_output_type(at, 0), &r.n)) return XIR_E_MEMORY;
    r.shift = wrapped(shift, r.n);
    return r.m.as_bytes ? spread_blocks_of(at, (size_t)r.n, STEPS_A_COPY, roll_block, &r)
                        : spread_blocks(at, (size_t)r.n, roll_block, &r);
}

static xir_status roll(xir_kernel *at) {
    const xir_roll_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_input_type(at, 0);
    pick p;
    if (a->dims.size == 0) return roll_flat(at, a->shifts.data[0]);
    if (!open_same(&p, at)) return XIR_E_MEMORY;
    int64_t *shifts = xir_kernel_alloc(at, p.rank, sizeof *shifts);
    if (!shifts) return XIR_E_MEMORY;
    for (size_t i = 0; i < a->dims.size; i++) {
        size_t k = axis_of(type, a->dims.data[i]);
        int64_t n = (int64_t)p.dims[k];
        shifts[k] = wrapped(shifts[k] + wrapped(a->shifts.data[i], n), n);
    }
    for (size_t k = 0; k < p.rank; k++) {
        int64_t n = (int64_t)p.dims[k];
        for (int64_t i = 0; i < n; i++) p.from[k][i] = wrapped(i - shifts[k], n) * (int64_t)p.strides[k];
    }
    return pick_run(&p, at, 0);
}

static xir_status swap_order(xir_kernel *at) {
    const xir_swap_order_attrs *a = xir_kernel_attrs(at);
    size_t k = axis_of(xir_kernel_input_type(at, 0), a->axis);
    pick p;
    if (!open_same(&p, at)) return XIR_E_MEMORY;
    for (size_t i = 0; i < p.dims[k]; i++) p.from[k][i] = a->order.data[i] * (int64_t)p.strides[k];
    return pick_run(&p, at, 0);
}

/* ---- with new elements ------------------------------------------------------------------------------------------ */

static xir_status align_axis(xir_kernel *at) {
    const xir_type *type = xir_kernel_input_type(at, 0);
    pick p;
    if (!open_same(&p, at)) return XIR_E_MEMORY;
    for (size_t k = 0; k < p.rank; k++) {
        for (size_t i = dim_of(type, k); i < p.dims[k]; i++) p.from[k][i] = NEW;
    }
    return pick_run(&p, at, 0);
}

/* The input index for position j of a dim of n, which may be outside. Negative padding has removed elements: [low,
 * high) remain, and mirroring happens at their ends. */
static int64_t mirrored(xir_pad_mode mode, int64_t j, int64_t low, int64_t high) {
    if (j >= low && j < high) return j;
    if (mode == XIR_PAD_CONSTANT) return NEW;
    if (mode == XIR_PAD_REPLICATION) return j < low ? low : high - 1;
    if (mode == XIR_PAD_REFLECTION) return j < low ? 2 * low - j : 2 * (high - 1) - j;
    return j < low ? 2 * low - 1 - j : 2 * high - 1 - j;
}

/* Returns true if the padding consists of zero bytes. The stored number of a quantised padding may depend on the
 * element. */
static bool is_zeros(const xir_type *type, const xir_scalar *value) {
    bool is_real = xir_kernel_is_real(type);
    xir_i64s zeros = xir_type_zero_points(type);
    for (size_t i = 0; i < zeros.size; i++) {
        if (zeros.data[i] != 0) return false;
    }
    return !value || (is_real ? xir_scalar_as_real(value) == 0 : xir_scalar_as_int(value) == 0);
}

/* The bytes of the new elements, in the carrier's form. */
static xir_status fill_of(xir_kernel *at, const xir_scalar *value, const carrier *m, void *out) {
    const xir_type *type = xir_kernel_output_type(at, 0);
    double real = value ? xir_scalar_as_real(value) : 0;
    int64_t whole = value ? xir_scalar_as_int(value) : 0;
    bool is_real = xir_kernel_is_real(type);
    if (m->as_bytes && is_zeros(type, value)) return XIR_OK;
    if (!m->as_bytes) {
        if (m->real) memcpy(out, &real, sizeof real);
        else         memcpy(out, &whole, sizeof whole);
        return XIR_OK;
    }
    tensor_elements e;
    xir_status status = elements_open(&e, NULL, type, NULL);   // needs no memory if nothing is quantised
    if (status) return xir_kernel_fail(at, status, "value", "the elements are not numbers");
    if (is_real) elements_write_reals(&e, out, 0, 1, &real);
    else elements_write_i64s(&e, out, 0, 1, &whole);
    elements_close(&e);
    return XIR_OK;
}

static xir_status pad(xir_kernel *at) {
    const xir_pad_attrs *a = xir_kernel_attrs(at);
    const xir_type *type = xir_kernel_input_type(at, 0);
    const int64_t *padding = list_of(at, a->padding.data);
    pick p;
    carrier m;
    const xir_type *to = xir_kernel_output_type(at, 0);
    bool fills = a->mode == XIR_PAD_CONSTANT;
    bool as_reals = fills && xir_type_is_quantized(xir_type_element(to)) && !is_zeros(to, a->value);
    if (!padding && a->padding.size) return XIR_E_MEMORY;
    if (!pick_open(&p, at, 0) ||
        !(as_reals ? carry_begin_numbers(at, &m, 0, 0, true) : carry_begin(at, &m, 0, 0)))
        return XIR_E_MEMORY;
    void *fill = xir_kernel_alloc(at, 1, m.size);
    if (!fill) return XIR_E_MEMORY;
    for (size_t k = 0; k < p.rank; k++) {
        int64_t before = padding[2 * k], after = padding[2 * k + 1], n = (int64_t)dim_of(type, k);
        int64_t low = before < 0 ? -before : 0, high = after < 0 ? n + after : n;
        for (int64_t i = 0; i < (int64_t)p.dims[k]; i++) {
            int64_t from = mirrored(a->mode, i - before, low, high);
            p.from[k][i] = from == NEW ? NEW : from * (int64_t)p.strides[k];
        }
    }
    xir_status status = fills ? fill_of(at, a->value, &m, fill) : XIR_OK;
    return status ? status : pick_carry(&p, at, &m, fill);
}

kernel_table kernels_move = {
    { xir_align_axis_class,      align_axis      },
    { xir_channel_shuffle_class, channel_shuffle },
    { xir_copy_class,            same            },
    { xir_expand_class,          expand          },
    { xir_pad_class,             pad             },
    { xir_pixel_shuffle_class,   pixel_shuffle   },
    { xir_prune_axis_class,      prune_axis      },
    { xir_reshape_class,         same            },
    { xir_roll_class,            roll            },
    { xir_slice_class,           slice           },
    { xir_split_class,           split           },
    { xir_squeeze_class,         same            },
    { xir_swap_order_class,      swap_order      },
    { xir_tile_class,            repeat          },
    { xir_transpose_class,       transpose       },
    { xir_unstack_class,         unstack         },
    { NULL,                      NULL            },
};

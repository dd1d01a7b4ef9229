/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators that take tensors apart, join them, or move their elements along axes. */
#include <string.h>
#include "pnnx/pnnx.h"
#include "spec/borders.h"
#include "spec/moving.h"
#include "spec/one_axis.h"

/* ---- splits ----------------------------------------------------------------------------------------------------- */

static bool split_into(xir_node *at, const one_axis *a, const xir_ints *sections) {
    if (sections->n < at->n_out) {
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "expected at most %zu outputs, found %zu", sections->n,
                                at->n_out);
    }
    return node_gives(at, xir_node_make_op(at, "Split", INS(a->x), SETS(LIST("sections", sections), AXIS("axis", *a))));
}

static bool split_axis(xir_node *at, one_axis *a) {
    enum { MOST_PARTS = 1 << 20 };
    *a = known_axis_of(at, "attribute/dim", 0);
    return a->x && node_at_most(at, a->n, MOST_PARTS, "dim %zu", a->axis);
}

bool pnnx_chunk(xir_node *at) {
    one_axis a;
    const int64_t chunks = xir_node_int(at, "chunks", 1);
    if (!split_axis(at, &a)) return false;
    if (chunks < 1) return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/chunks", "chunks: expected at least 1");
    const int64_t size = a.n / chunks + (a.n % chunks != 0);
    const xir_ints parts = sizes_of_parts(at, a.n, size ? size : 1);
    return split_into(at, &a, &parts);
}

bool pnnx_split(xir_node *at) {
    one_axis a;
    xir_ints parts;
    if (!split_axis(at, &a) || !pnnx_list(at, "split_size_or_sections", 0, &parts)) return false;
    if (xir_node_attr(at, "split_size_or_sections")->kind == XIR_ANY_INT) {
        if (parts.v[0] < 1) return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "a size: expected at least 1");
        parts = sizes_of_parts(at, a.n, parts.v[0]);
    }
    return split_into(at, &a, &parts);
}

/* By positions, or into a number of parts whose first n mod c are one longer. */
bool pnnx_tensor_split(xir_node *at) {
    one_axis a;
    int64_t from = 0;
    xir_ints at_each, parts;
    if (!split_axis(at, &a)) return false;
    if (pnnx_list(at, "indices", 0, &at_each)) {
        parts = xir_node_make_ints(at, at_each.n + 1, 0);
        for (size_t i = 0; i < parts.n; i++) {
            int64_t to = i < at_each.n ? at_each.v[i] : a.n;
            to = to < 0 ? to + a.n : to;
            to = to < from ? from : to > a.n ? a.n : to;
            parts.v[i] = to - from;
            from = to;
        }
    } else {
        const int64_t c = xir_node_int(at, "sections", 1);
        if (c < 1 || c > 1 << 20)
            return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/sections", "sections: expected at least 1");
        parts = xir_node_make_ints(at, (size_t)c, a.n / c);
        for (size_t i = 0; i < parts.n; i++) parts.v[i] += (int64_t)i < a.n % c;
    }
    return split_into(at, &a, &parts);
}

bool pnnx_unbind(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", 0);
    return node_gives(at, xir_node_make_op(at, "Unstack", INS(a.x), SETS(AXIS("dim", a))));
}

/* ---- joins ------------------------------------------------------------------------------------------------------ */

bool pnnx_cat(xir_node *at)   { return op_of_joining(at, "Concat", "dim", 0); }
bool pnnx_stack(xir_node *at) { return op_of_joining(at, "Stack", "dim", 0); }

/* ---- orders ----------------------------------------------------------------------------------------------------- */

/* Each dim has its shift. Without dims the flattened tensor is rolled. */
bool pnnx_roll(xir_node *at) {
    xir_ints shifts, dims;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_list(at, "shifts", 0, &shifts)) return false;
    (void)pnnx_list(at, "dims", 0, &dims);
    const size_t n = dims.n ? dims.n : 1;
    if (shifts.n != n)
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/shifts", "shifts: expected %zu item%s, found %zu", n,
                                n > 1 ? "s" : "", shifts.n);
    const xir_set sets[] = { LIST("shifts", &shifts), LIST("dims", &dims) };
    return xir_node_becomes(at, "Roll", INS(x), (xir_sets){ sets, dims.n ? 2 : 1 });
}

bool pnnx_flip(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_list(at, "dims", 0, &dims)) return false;
    if (!axes_from_start(at, "attribute/dims", v_rank(x), &dims)) return false;
    for (size_t i = 0; i < dims.n; i++) x = make_part(at, x, (size_t)dims.v[i], INT64_MAX, INT64_MIN, -1);
    return xir_node_result(at, 0, x);
}

/* Each axis continues with its own elements, once. */
static bool wrapped(xir_node *at, xir_value *x, const xir_ints *cells) {
    for (size_t i = 0; i < cells->n; i++) {
        const int64_t n = v_dim(x, i / 2);
        if (cells->v[i] < 0) return xir_node_unsupported(at, "removed elements");
        if (cells->v[i] && n >= 0 && cells->v[i] > n)
            return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "padding that wraps around more than once");
    }
    return xir_node_result(at, 0, make_wrapped(at, x, cells));
}

/* Pairs from the last dim on. */
bool pnnx_pad(xir_node *at) {
    const int64_t variant = xir_node_variant(at);
    const bool module = variant;
    xir_ints pads;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !pnnx_list(at, module ? "padding" : "pad", 0, &pads)) return false;
    const size_t rank = v_rank(x), spatial = module ? (size_t)variant % 4 : pads.n / 2;
    if (module && pads.n == 1) pads = xir_node_make_ints(at, 2 * spatial, pads.v[0]);
    if (pads.n % 2 || pads.n > 2 * rank)
        return xir_node_invalid(at, XIR_E_BOUNDS, module ? "attribute/padding" : "attribute/pad",
                                "expected an even number of at most %zu items, found %zu", 2 * rank, pads.n);
    borders b = { .cells = xir_node_make_ints(at, 2 * rank, 0), .filled = true };
    b.value = xir_node_real(at, "value", 0);
    for (size_t i = 0; i < pads.n && b.cells.v; i++) b.cells.v[2 * (rank - 1 - i / 2) + i % 2] = pads.v[i];
    const xir_str mode = xir_node_text(at, "mode", "constant");
    const bool reflect = module ? variant / 4 == PNNX_PAD_REFLECT : xir_str_equal(mode, XIR_STR("reflect"));
    const bool edge = module ? variant / 4 == PNNX_PAD_REPEAT : xir_str_equal(mode, XIR_STR("replicate"));
    const bool circular = !module && xir_str_equal(mode, XIR_STR("circular"));
    if (circular) return wrapped(at, x, &b.cells);
    b.mode = reflect ? XIR_PAD_REFLECTION : edge ? XIR_PAD_REPLICATION : XIR_PAD_CONSTANT;
    return xir_node_result(at, 0, op_of_borders(at, x, &b));
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Conversions of the element type; the target's layout may also permute the axes. From a real to an integer the
 * fraction is dropped, numbers outside the range become its nearest end, and NaN becomes 0. A narrower integer keeps
 * the lower bits. To bool, everything except 0 is true. */
#include "pick.h"

/* Returns true if each axis of a layout has its own letter, and none is `*`. */
static bool says_all(const xir_layout *layout, size_t rank) {
    if (xir_layout_rank(layout) != rank) return false;
    for (size_t k = 0; k < rank; k++) {
        char letter = xir_layout_axis(layout, k);
        if (letter == '*' || xir_layout_index(layout, letter) != (int64_t)k) return false;
    }
    return true;
}

/* Returns true if both layouts have the same unique letters, which then match the axes. Otherwise the axes keep their
 * order. */
static bool has_same_letters(const xir_type *in, const xir_type *out) {
    const xir_layout *from = xir_type_layout(in), *to = xir_type_layout(out);
    size_t rank = xir_type_rank(out);
    bool same = says_all(from, rank) && says_all(to, rank);
    for (size_t k = 0; same && k < rank; k++) same = xir_layout_has(from, xir_layout_axis(to, k));
    return same;
}

/* The input axis that becomes axis k of the output. */
static size_t source_axis(const xir_type *in, const xir_type *out, bool by_letter, size_t k) {
    return by_letter ? (size_t)xir_layout_index(xir_type_layout(in), xir_layout_axis(xir_type_layout(out), k)) : k;
}

static xir_status cast(xir_kernel *at) {
    const xir_type *in = xir_kernel_input_type(at, 0), *out = xir_kernel_output_type(at, 0);
    size_t rank = xir_type_rank(in);
    if (xir_type_rank(out) != rank || xir_type_as_tensor(in)->merged_distrs.size ||
        xir_type_as_tensor(out)->merged_distrs.size) {
        return xir_kernel_fail(at, XIR_E_UNSUPPORTED, "target_dtype",
                               "unsupported cast: the executor needs types of the same rank without padding");
    }
    bool by_letter = has_same_letters(in, out);
    int64_t *dims = xir_kernel_alloc(at, rank + 1, sizeof *dims);
    if (!dims) return XIR_E_MEMORY;
    for (size_t k = 0; k < rank; k++) dims[k] = (int64_t)dim_of(in, source_axis(in, out, by_letter, k));
    xir_status status = xir_kernel_result(at, 0, dims, rank);
    if (status) return status;
    out = xir_kernel_output_type(at, 0);
    bool same_order = true;
    for (size_t k = 0; k < rank; k++) same_order = same_order && source_axis(in, out, by_letter, k) == k;
    if (same_order && xir_type_equal(xir_type_element(in), xir_type_element(out))) return xir_kernel_forward(at, 0, 0);
    bool real = xir_kernel_is_real(in) || (is_u64(in) && xir_kernel_is_real(out));
    carrier m;
    pick p;
    int64_t n;
    if (!carry_begin_numbers(at, &m, 0, 0, real)) return XIR_E_MEMORY;
    if (same_order) return xir_type_elements(out, &n) ? XIR_E_MEMORY : carry_all(at, &m, n);
    if (!pick_open(&p, at, 0)) return XIR_E_MEMORY;
    for (size_t k = 0; k < rank; k++) pick_along(&p, k, source_axis(in, out, by_letter, k), 0, 1);
    return pick_carry(&p, at, &m, NULL);
}

kernel_table kernels_cast = {
    { xir_cast_class, cast },
    { NULL,           NULL },
};

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of elements by positions in several dims, and of constants that are computed. */
#include <math.h>
#include "pnnx/pnnx.h"
#include "formula/simpler.h"

/* ScatterND: positions in the dims that are indexed, as one dim. */
bool pnnx_back_index_put(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *indices = xir_node_input(at, 1), *values = xir_node_input(at, 2);
    const bool add = xir_node_is(at, "reduction", "ADD");
    if (!add && !xir_node_is(at, "reduction", "NONE"))
        return xir_node_unsupported(at, "updates that are neither put nor added");
    const size_t rank = v_rank(indices);
    const int64_t n = rank ? v_dim(indices, rank - 1) : -1;
    const xir_ints dims = xir_node_dims(at, x), places_of = xir_node_dims(at, indices);
    const int64_t count = rank ? product_of(&places_of, 0, rank - 1) : -1;
    if (n < 1 || (size_t)n > dims.n || count < 0) return xir_node_unsupported(at, "an open number of positions");
    if (!xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const xir_ints line = { (int64_t[]){ count }, 1 };
    xir_ints rows = xir_node_make_ints(at, dims.n - (size_t)n + 1, count);
    if (!rows.v) return false;
    for (size_t i = (size_t)n; i < dims.n; i++) rows.v[i - (size_t)n + 1] = dims.v[i];
    xir_value *places = make_positions(at, x, indices, 0, (size_t)n), *flat = make_flat(at, x, (size_t)n);
    places = places ? make_reshaped(at, places, &line) : NULL;
    values = flat ? make_reshaped(at, values, &rows) : NULL;
    const xir_ints all = xir_node_dims(at, flat);
    xir_value *list = foreign_tensor(at, "pnnx::pnnx.Expression", INS(places), SETS(WORD("expr", XIR_STR("[@0]"))),
                           xir_type_sint(xir_node_context(at), 64), &line);
    xir_value *y = foreign_tensor(at, at->to->row->name, INS(flat, list, values), SETS(XIR_SETB("accumulate", add)),
                        v_element(x), &all);
    return xir_node_result(at, 0, y && n > 1 ? make_reshaped(at, y, &dims) : y);
}

/* NonZero: the numbers of the elements that a mask selects, taken apart into positions in each dim. */
bool pnnx_back_non_zero(xir_node *at) {
    enum { MOST_DIMS = 8 };
    xir_context *ctx = xir_node_context(at);
    xir_value *x = xir_node_input(at, 0), *rows[MOST_DIMS];
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    const xir_ints dims = xir_node_dims(at, x);
    const int64_t count = product_of(&dims, 0, dims.n);
    if (dims.n < 1 || dims.n > MOST_DIMS) return xir_node_unsupported(at, "%zu dims", dims.n);
    if (count < 1 || count > INT32_MAX) return xir_node_unsupported(at, "no elements, or very many");
    const xir_ints line = { (int64_t[]){ count }, 1 }, open = { (int64_t[]){ XIR_UNKNOWN_DIM }, 1 };
    x = make_reshaped(at, make_truth(at, x), &line);
    const xir_type *whole = xir_type_sint(ctx, 64);
    xir_value *numbers = foreign_tensor(at, "pnnx::torch.arange", INS(NULL),
                              SETS(INT("start", 0), INT("end", count), INT("step", 1),
                                   WORD("dtype", XIR_STR("torch.long"))), whole, &line);
    xir_value *found = foreign_tensor(at, at->to->row->name, INS(numbers, x), NO_SETS, whole, &open);
    int64_t below = count;
    for (size_t i = 0; i < dims.n && found; i++) {
        below /= dims.v[i];
        rows[i] = found;
        if (below > 1)
            rows[i] = xir_node_make(at, "Div", INS(rows[i], xir_node_scalar(at, whole, (double)below)),
                                    SETS(WORD("rounding_mode", XIR_STR("FLOOR"))));
        if (i && rows[i])
            rows[i] = xir_node_make(at, "Mod", INS(rows[i], xir_node_scalar(at, whole, (double)dims.v[i])), NO_SETS);
    }
    if (xir_node_failed(at)) return false;
    return xir_node_result(at, 0, xir_node_make(at, "Stack", (xir_values){ rows, dims.n }, SETS(INT("dim", 0))));
}

/* A number as a parameter; false: a parameter does not hold it exactly. */
static bool number_set(xir_node *at, const char *name, double v, const xir_type *element, xir_set *out) {
    const bool real = xir_type_kind_of(element) == XIR_TYPE_FLOAT;
    if (real ? !isfinite(v) || (double)(float)v != v : v != trunc(v) || fabs(v) >= PNNX_END)
        return xir_node_unsupported(at, "%s is %g, which it cannot hold", name, v);
    *out = real ? (xir_set)REAL(name, v) : (xir_set)INT(name, (int64_t)v);
    return true;
}

bool pnnx_back_arange(xir_node *at) {
    static const char *const names[] = { "start", "end", "step" };
    xir_set sets[4];
    xir_value *in[3] = { NULL };
    size_t n = 0;
    const xir_type *element = v_element(xir_op_output(at->op, 0));
    const char *word = pnnx_element_word(at, element);
    if (!word) return xir_node_unsupported(at, "elements that PyTorch does not have");
    for (size_t i = 0; i < COUNT(names); i++) {
        const double *v;
        size_t count;
        xir_value *x = xir_node_input(at, i);
        if (!x) return false;
        if (!xir_node_is_constant(at, i)) {
            xir_value *first = xir_node_scalar(at, xir_type_sint(xir_node_context(at), 64), 0);
            if (v_rank(x) > 1) return xir_node_unsupported(at, "a number of %zu dims", v_rank(x));
            in[i] = v_rank(x) ? xir_node_make(at, "Gather", INS(x, first), SETS(INT("axis", 0))) : x;
        } else if (!xir_node_reals(at, i, &v, &count) || count != 1 || !number_set(at, names[i], *v, element,
                                                                                   &sets[n])) {
            return xir_node_unsupported(at, "%s is not a number", names[i]);
        } else {
            n++;
        }
    }
    sets[n++] = (xir_set)WORD("dtype", xir_str_of(word));
    return xir_node_becomes_foreign(at, INS(in[0], in[1], in[2]), (xir_sets){ sets, n });
}

/* ConstantOfShape. */
bool pnnx_back_full(xir_node *at) {
    xir_ints size;
    const xir_type *element = v_element(xir_op_output(at->op, 0));
    const char *word = pnnx_element_word(at, element);
    if (!word) return xir_node_unsupported(at, "elements that PyTorch does not have");
    const double v = xir_node_real(at, "value", 0);
    xir_set sets[3] = { WORD("dtype", xir_str_of(word)) };
    if (xir_type_kind_of(element) == XIR_TYPE_BOOL) sets[1] = (xir_set)XIR_SETB("fill_value", v != 0);
    else if (!number_set(at, "fill_value", v, element, &sets[1])) return false;
    if (!xir_node_is_constant(at, 0))
        return xir_node_becomes_foreign(at, INS(pnnx_listed(at, xir_node_input(at, 0))), (xir_sets){ sets, 2 });
    if (!xir_node_ints(at, 0, &size) || !size.n) return xir_node_unsupported(at, "a number");
    sets[2] = (xir_set)LIST("size", &size);
    return xir_node_becomes_foreign(at, INS(NULL), (xir_sets){ sets, 3 });
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Fixed-point values of a file that XIR's ops became. Their Casts to and from floats were made Identity. What these are
 * between takes the fixed-point types itself, unless the C runtime does not compute it so: then they stay. The same
 * holds for fixed-point parameters. */
#include <math.h>
#include <string.h>
#include "nnb/nnb.h"

/* ---- functions and their types ---------------------------------------------------------------------------------- */

static xir_str name_of(const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    return key.size > 5 && memcmp(key.data, "nnb::", 5) == 0 ? (xir_str){ key.data + 5, key.size - 5 }
                                                            : (xir_str){ NULL, 0 };
}

static bool is_function(const xir_op *op, const char *name) { return xir_str_equal(name_of(op), xir_str_of(name)); }

static bool is_any_of(const xir_op *op, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) if (is_function(op, names[i])) return true;
    return false;
}

static int fraction_of(const xir_value *v) {
    return v && xir_type_as_tensor(xir_value_type(v)) ? nnb_fraction_of(v_element(v)) : -1;
}

/* An Identity from a fixed-point type to floats, or from floats to one. */
static bool is_cast(const xir_op *op, bool to_fixed) {
    if (!is_function(op, "Identity") || xir_op_input_count(op) != 1 || xir_op_output_count(op) != 1) return false;
    const xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
    return (fraction_of(x) >= 0) != to_fixed && (fraction_of(y) >= 0) == to_fixed;
}

/* ---- casts ------------------------------------------------------------------------------------------------------- */

/* The functions that use the result of a cast from fixed point use what it is a cast of. */
static bool fold_into_users(xir_op *op) {
    xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
    for (const xir_use *use = xir_value_uses(y), *next; use; use = next) {
        next = xir_use_next(use);
        xir_op *user = xir_use_op(use);
        if (name_of(user).size && xir_op_set_input(user, xir_use_index(use), x)) return false;
    }
    return xir_value_uses(y) || !xir_op_erase(op);
}

/* A function whose only user is a cast to fixed point makes that itself. After a failure the cast is still one. */
static bool fold_into_maker(xir_op *op) {
    xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
    const xir_type *real = xir_value_type(x);
    const xir_op *maker = xir_value_op(x);
    const xir_use *use = xir_value_uses(x);
    if (!maker || !name_of(maker).size || !use || xir_use_next(use)) return true;
    const xir_str name = xir_value_name(y);
    if ((name.size && xir_value_set_name(x, name)) || xir_value_set_type(x, xir_value_type(y))) return false;
    if (xir_value_replace(y, x)) {
        (void)xir_value_set_type(x, real);
        return false;
    }
    return !xir_op_erase(op);
}

/* ---- what the C runtime computes --------------------------------------------------------------------------------- */

/* The bits of all tensors of a function; 0: they are different, or floats. */
static int bits_of(const xir_op *op) {
    int bits = 0;
    for (size_t i = 0, n = op_values(op); i < n; i++) {
        const xir_value *v = op_value(op, i);
        const int own = fraction_of(v) < 0 ? 0 : (int)xir_type_storage_bits(v_element(v));
        if (!own || (bits && own != bits)) return 0;
        bits = own;
    }
    return bits;
}

static bool has_fixed(const xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) if (fraction_of(xir_op_input(op, (int64_t)i)) >= 0) return true;
    for (size_t i = 0; i < xir_op_output_count(op); i++)
        if (fraction_of(xir_op_output(op, (int64_t)i)) >= 0) return true;
    return false;
}

static double number_of(const xir_op *op, const char *name) {
    const xir_any *any = xir_map_find(xir_op_extra(op), xir_str_of(name));
    return !any ? 0 : any->kind == XIR_ANY_REAL ? any->as.real : any->kind == XIR_ANY_INT ? (double)any->as.integer : 0;
}

/* Sums of products are shifted by the fraction bits that the result does not have, which may not be negative; a bias
 * has those of the result or more. */
static bool sums_fit(const xir_op *op, bool needs_bias) {
    const int x = fraction_of(xir_op_input(op, 0)), w = fraction_of(xir_op_input(op, 1)),
              y = fraction_of(xir_op_output(op, 0));
    const bool biased = xir_op_input_count(op) > 2;
    return x + w >= y && (biased ? fraction_of(xir_op_input(op, 2)) >= y : !needs_bias);
}

/* Returns true if the C runtime computes a function with the types that it has. Most functions read and write each
 * number as a float, whatever its type is. Convolutions are of one type only, and read a bias even if there is none;
 * where all types are the same, sums and products of integers have their own limits (docs/nnb.md). */
static bool is_computed(const xir_op *op) {
    static const char *const pools[] = { "MaxPooling", "AveragePooling", "SumPooling" },
                            *const convolutions[] = { "Convolution", "DepthwiseConvolution", "BinaryConnectConvolution",
                                                      "BinaryWeightConvolution" };
    if (!has_fixed(op)) return true;
    const int bits = bits_of(op);
    const bool windows = is_any_of(op, convolutions, COUNT(convolutions));
    if (!bits) return !windows;
    const int x = fraction_of(xir_op_input(op, 0)), y = fraction_of(xir_op_output(op, 0)),
              other = xir_op_input_count(op) > 1 ? fraction_of(xir_op_input(op, 1)) : 0;
    if (windows) return is_function(op, "Convolution") && sums_fit(op, true);
    if (is_function(op, "Affine")) return sums_fit(op, false);
    if (is_function(op, "Add2") || is_function(op, "Sub2")) return x == other;
    if (is_function(op, "Mul2")) return x + other >= y;
    if (is_function(op, "Div2")) return other + y >= x;
    if (is_function(op, "MulScalar")) {
        const double room = bits - 1 - log2(1 + fabs(number_of(op, "val")));
        return x + (int)round(room > 0 ? room : 0) >= y;
    }
    return !is_any_of(op, pools, COUNT(pools)) || x == y;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

xir_status nnb_fix_functions(xir_pass *pass) {
    xir_network *net = xir_pass_network(pass);
    bool folds = false, changed = false, done = true;
    for (xir_op *op = xir_network_first(net), *next; op && done; op = next) {
        next = xir_op_next(op);
        if (!is_cast(op, false)) continue;
        folds = true;
        done = fold_into_users(op);
    }
    for (xir_op *op = xir_network_first(net), *next; op && done; op = next) {
        next = xir_op_next(op);
        if (!is_cast(op, true)) continue;
        folds = true;
        done = fold_into_maker(op);
    }
    const xir_status status = done ? nnb_functions_apart(net, is_computed, &changed) : XIR_E_MEMORY;
    if (folds || changed) xir_pass_changed(pass, 1);
    return status ? xir_pass_fail(pass, status, NULL, "out of memory") : XIR_OK;
}


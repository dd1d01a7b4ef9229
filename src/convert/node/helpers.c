/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Building blocks for the hooks of any dialect: queries about values, findings that several op types share, and common
 * sequences of ops. */
#include <math.h>
#include <stdio.h>
#include "node/helpers.h"

/* ---- queries ---------------------------------------------------------------------------------------------------- */

int64_t product_of(const xir_ints *list, size_t from, size_t to) {
    int64_t n = 1;
    bool open = false;
    if (to > list->n) return -1;   /* memory was too short for them */
    for (size_t i = from; i < to; i++) if (list->v[i] == 0) return 0;
    for (size_t i = from; i < to; i++) open |= list->v[i] < 0 || __builtin_mul_overflow(n, list->v[i], &n);
    return open ? -1 : n;
}

/* ---- lengths ---------------------------------------------------------------------------------------------------- */

bool node_at_most(xir_node *at, int64_t found, int64_t most, const char *what, ...) {
    char name[120];
    va_list list;
    if (xir_node_failed(at)) return false;
    if (found <= most) return true;
    va_start(list, what);
    text_vprint(name, sizeof name, what, list);
    va_end(list);
    return xir_node_unsupported(at, "%s is %lld: a conversion takes at most %lld", name, (long long)found,
                                (long long)most);
}

bool node_elements_at_most(xir_node *at, const xir_ints *dims, int64_t most, const char *what) {
    char text[160] = "";
    const int64_t count = product_of(dims, 0, dims->n);
    if (xir_node_failed(at)) return false;
    if (count >= 0 && count <= most) return true;
    for (size_t i = 0, n = 0; i < dims->n && n < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", i ? "*" : "", (long long)dims->v[i]);
    return xir_node_unsupported(at, "%s has %s elements: a conversion takes at most %lld", what, text,
                                (long long)most);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

bool xir_node_need_dims(xir_node *at, const xir_value *v, size_t from, size_t to) {
    if (xir_node_failed(at)) return false;
    for (size_t i = from; i < v_rank(v) && i < to; i++) {
        if (v_dim(v, i) < 0) return xir_node_unsupported(at, "dim %zu is unknown", i);
    }
    return true;
}

bool node_axis(xir_node *at, const char *name, int64_t otherwise, size_t rank, int64_t *out) {
    char where[60];
    const int64_t axis = xir_node_int(at, name, otherwise), n = (int64_t)rank;
    *out = 0;
    if (xir_node_failed(at)) return false;
    if (axis >= -n && axis < n) return *out = axis < 0 ? axis + n : axis, true;
    snprintf(where, sizeof where, "attribute/%s", name);
    return xir_node_axis(at, where, axis, rank, out);
}

xir_ints node_line(xir_node *at, size_t rank, size_t axis, int64_t n) {
    xir_ints dims = xir_node_make_ints(at, rank, 1);
    if (axis < dims.n) dims.v[axis] = n;
    return dims;
}

xir_value *make_widened(xir_node *at, xir_value *x, size_t rank, size_t from) {
    xir_ints dims = xir_node_make_ints(at, rank, 1);
    for (size_t i = 0; i < v_rank(x) && from + i < dims.n; i++) dims.v[from + i] = v_dim(x, i);
    return make_reshaped(at, x, &dims);
}

xir_value *make_swapped(xir_node *at, xir_value *x) {
    const size_t rank = v_rank(x);
    xir_ints order = xir_node_series(at, 0, rank);
    if (xir_node_failed(at) || rank < 2) return x;
    order.v[rank - 2] = (int64_t)rank - 1, order.v[rank - 1] = (int64_t)rank - 2;
    return xir_node_transposed(at, x, order.v, rank, NULL);
}

bool type_has_dims(const xir_type *type, const int64_t *dims, size_t n) {
    bool same = xir_type_rank(type) == n;
    for (size_t i = 0; same && i < n; i++) same = xir_type_dim(type, (int64_t)i, false) == dims[i];
    return same;
}

bool type_same_dims(const xir_type *a, const xir_type *b) {
    bool same = xir_type_rank(a) == xir_type_rank(b);
    for (size_t i = 0; same && i < xir_type_rank(a); i++)
        same = xir_type_dim(a, (int64_t)i, false) == xir_type_dim(b, (int64_t)i, false);
    return same;
}

bool node_has_rank(xir_node *at, size_t i, const xir_value *v, size_t rank) {
    const input_place here = place_of_input(i);
    if (xir_node_failed(at) || v_rank(v) == rank) return !xir_node_failed(at);
    return xir_node_invalid(at, XIR_E_BOUNDS, here.text, "input %zu: expected %zu dims, found %zu", i, rank, v_rank(v));
}

bool xir_node_one_of(xir_node *at, const char *name, const char *otherwise, const char *words) {
    xir_str text = xir_node_text(at, name, otherwise);
    char where[48];
    if (xir_node_failed(at)) return false;
    const xir_any *found = xir_node_attr(at, name);
    if (found && found->kind != XIR_ANY_TEXT) text = XIR_STR("bytes that are not UTF-8");
    for (const char *p = words; *p;) {
        size_t n = strcspn(p, "|");
        if (xir_str_equal(text, (xir_str){ p, n })) return true;
        p += n + (p[n] == '|');
    }
    snprintf(where, sizeof where, "attribute/%s", name);
    return xir_node_invalid(at, XIR_E_UNKNOWN, where, "%s: expected one of %s, found '%.*s'", name, words,
                            CLIP_TO(text, 60));
}

static const char *dims_text(const xir_value *v, char out[120]) {
    size_t n = 0, rank = v_rank(v);
    for (size_t i = 0; i < rank && n < 90; i++) {
        int64_t dim = v_dim(v, i);
        n += (size_t)(dim < 0 ? snprintf(out + n, 120 - n, "%s?", i
                                         ? ", " : "")
                                         : snprintf(out + n, 120 - n, "%s%lld", i ? ", " : "", (long long)dim));
    }
    out[n] = '\0';
    return out;
}

const char *element_words(const xir_value *v, char out[40]) {
    const xir_type *element = v_element(v);
    const xir_float_type *real = xir_float_type_of(xir_type_object(element));
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(element));
    static const char *const formats[] = { [XIR_FLOAT_FP16] = "float16", [XIR_FLOAT_BF16] = "bfloat16",
                                           [XIR_FLOAT_FP32] = "float", [XIR_FLOAT_FP64] = "double" };
    int bits = (int)xir_type_storage_bits(element);
    if (integer) snprintf(out, 40, "%sint%d", integer->sign ? "" : "u", bits);
    else if (real && (size_t)real->format < COUNT(formats) &&
             formats[real->format]) snprintf(out, 40, "%s", formats[real->format]);
    else snprintf(out, 40, "%s", xir_type_kind_of(element) == XIR_TYPE_BOOL ? "bool" : "another type");
    return out;
}

bool xir_node_same_elements(xir_node *at, size_t i, const xir_value *a, size_t j, const xir_value *b) {
    char where[32], first[40], second[40], left[80], right[80];
    if (xir_node_failed(at) || !a || !b) return false;
    if (xir_type_equal(v_element(a), v_element(b))) return true;
    snprintf(where, sizeof where, "input/%zu", j);
    return xir_node_invalid(at, XIR_E_TYPE, where, "%s: expected %s, like %s, found %s", node_input_words(at, j, right),
                            element_words(a, first), node_input_words(at, i, left), element_words(b, second));
}

bool xir_node_broadcasts(xir_node *at, size_t i, const xir_value *a, size_t j, const xir_value *b) {
    char where[32], first[120], second[120], left[80], right[80];
    if (xir_node_failed(at) || !a || !b) return false;
    size_t ra = v_rank(a), rb = v_rank(b);
    for (size_t k = 1; k <= ra && k <= rb; k++) {
        int64_t x = v_dim(a, ra - k), y = v_dim(b, rb - k);
        if (x == y || x == 1 || y == 1 || x < 0 || y < 0) continue;
        snprintf(where, sizeof where, "input/%zu", j);
        return xir_node_invalid(at, XIR_E_INVALID, where,
                                "%s has the dims [%s], which do not broadcast with the [%s] of %s: expected %lld or 1, "
                                "found %lld", node_input_words(at, j, right), dims_text(b, second),
                                dims_text(a, first), node_input_words(at, i, left), (long long)x, (long long)y);
    }
    return true;
}

/* ---- operations ------------------------------------------------------------------------------------------------- */

xir_value *xir_node_scalar(xir_node *at, const xir_type *element, double value) {
    const xir_ints none = { NULL, 0 };
    return xir_node_filled(at, element, &none, value);
}

xir_value *xir_node_sum(xir_node *at, xir_value *lhs, xir_value *rhs, double alpha, double beta) {
    return xir_node_make(at, "Add", INS(lhs, rhs), SETS(REAL("alpha", alpha), REAL("beta", beta)));
}

xir_value *xir_node_product(xir_node *at, xir_value *lhs, xir_value *rhs) {
    return xir_node_make(at, "Multiply", INS(lhs, rhs), NO_SETS);
}

xir_value *xir_node_scaled(xir_node *at, xir_value *x, double factor) {
    if (!x) return NULL;
    if (!element_has(v_element(x), factor))
        return xir_node_unsupported(at, "a factor that is not one of the integers"), NULL;
    return xir_node_product(at, x, xir_node_scalar(at, v_element(x), factor));
}

xir_value *xir_node_quotient(xir_node *at, xir_value *lhs, xir_value *rhs) {
    return xir_node_make(at, "Div", INS(lhs, rhs), NO_SETS);
}

xir_value *xir_node_unary(xir_node *at, const char *cls, xir_value *x) {
    return xir_node_make(at, cls, INS(x), NO_SETS);
}

/* Gives Params other dims; their bytes stay shared. */
static xir_value *reshaped_params(xir_node *at, const xir_value *x, const xir_ints *dims, const xir_layout *layout) {
    int64_t n, known = 1, rest = -1;
    xir_ints full = xir_node_make_ints(at, dims->n, 0);
    if (!full.v || xir_type_elements(xir_value_type(x), &n) != XIR_OK || xir_type_is_quantized(v_element(x)))
        return NULL;
    for (size_t i = 0; i < dims->n; i++) {
        full.v[i] = dims->v[i];
        if (dims->v[i] < 0) rest = (int64_t)i;
        else if (__builtin_mul_overflow(known, dims->v[i], &known)) return NULL;
    }
    if (rest >= 0 && known > 0 && n % known == 0) full.v[rest] = n / known, known = n;
    if (known != n || (rest >= 0 && full.v[rest] < 0)) return NULL;   /* Reshape reports the mistake */
    xir_value *made = node_alias(at, x);
    const xir_type *type = made ? xir_type_tensor(at->c->ctx, v_element(x), layout, full.v, full.n) : NULL;
    if (!type || xir_value_set_type(made, type)) return node_no_memory(at), NULL;
    return node_keep_name(at, made, x) ? made : NULL;
}

static xir_value *reshaped(xir_node *at, xir_value *x, const xir_ints *dims, const xir_layout *layout) {
    if (xir_node_failed(at) || !x) return NULL;
    size_t unknown = 0;
    if (!layout) return node_no_memory(at), NULL;
    for (size_t i = 0; i < dims->n; i++) unknown += dims->v[i] < 0;
    if (unknown > 1) return xir_node_unsupported(at, "it needs unknown dims"), NULL;
    xir_value *made = xir_value_is_params(x) ? reshaped_params(at, x, dims, layout) : NULL;
    if (made || xir_node_failed(at)) return made;
    return xir_node_make(at, "Reshape", INS(x), SETS(LIST("shape", dims), OBJ("layout", layout)));
}

/* The layout that a hook spells; NULL after a failure. */
static const xir_layout *spelled_layout(xir_node *at, const char *letters) {
    xir_diags *why = xir_diags_new(at->c->ctx);
    const xir_layout *layout = why ? xir_layout_parse(at->c->ctx, xir_str_of(letters), why) : NULL;
    const xir_diag *d = why ? xir_diags_at(why, 0) : NULL;
    if (!layout && d && d->code != XIR_E_MEMORY)
        xir_node_unsupported(at, "the conversion is invalid: '%.40s' are not the letters of axes", letters);
    else if (!layout) node_no_memory(at);
    xir_diags_free(why);
    return layout;
}

xir_value *xir_node_reshaped(xir_node *at, xir_value *x, const xir_ints *dims, const char *letters) {
    if (xir_node_failed(at)) return NULL;
    return reshaped(at, x, dims, letters ? spelled_layout(at, letters) : xir_layout_default(at->c->ctx, dims->n));
}

/* ---- feature maps ----------------------------------------------------------------------------------------------- */

xir_value *xir_node_channels_last(xir_node *at, xir_value *x) {
    static const int64_t orders[3][5] = { { 0, 2, 1 }, { 0, 2, 3, 1 }, { 0, 2, 3, 4, 1 } };
    size_t rank = x ? v_rank(x) : 3;
    return xir_node_transposed(at, x, orders[rank - 3], rank, BY_RANK(rank - 2, "NLC", "NHWC", "NDHWC"));
}

xir_value *xir_node_channels_second(xir_node *at, xir_value *x) {
    static const int64_t orders[3][5] = { { 0, 2, 1 }, { 0, 3, 1, 2 }, { 0, 4, 1, 2, 3 } };
    size_t rank = x ? v_rank(x) : 3;
    return xir_node_transposed(at, x, orders[rank - 3], rank, NULL);
}

/* ---- reductions ------------------------------------------------------------------------------------------------- */

xir_value *xir_node_reduced(xir_node *at, const char *cls, xir_value *x, const xir_ints *axes, bool keep) {
    const xir_class *c = xir_node_failed(at) ? NULL : find_class(at->c->ctx, cls);
    const xir_field *f = c ? xir_class_field(c, XIR_STR("dim")) : NULL;
    if (!f || !x) return NULL;
    if (axes->n == 0) return v_rank(x) ? xir_node_unary(at, "Copy", x) : x;
    if (f->kind == XIR_KIND_I64S) return xir_node_make(at, cls, INS(x), SETS(LIST("dim", axes), INT("keepdim", keep)));
    size_t rank = v_rank(x);
    xir_ints gone = xir_node_make_ints(at, rank, 0);
    for (size_t i = 0; i < axes->n && gone.v; i++) {
        int64_t axis;
        if (!xir_node_axis(at, NULL, axes->v[i], rank, &axis)) return NULL;
        gone.v[axis] = 1;
    }
    for (size_t i = gone.n; i-- > 0;) {
        if (gone.v[i]) x = xir_node_make(at, cls, INS(x), SETS(INT("dim", (int64_t)i), INT("keepdim", keep)));
    }
    return x;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

bool xir_convert_copy(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    return xir_node_result(at, 0, x && xir_value_is_params(x) ? x : xir_node_unary(at, "Copy", x));
}

/* The coordinate along `axis` of every element of a tensor with these known dims. */
static xir_value *make_coordinates(xir_node *at, const xir_ints *dims, size_t axis) {
    const int64_t n = product_of(dims, 0, dims->n), after = product_of(dims, axis + 1, dims->n);
    double *v = node_take(at, ((size_t)n + 1) * sizeof *v);
    if (!v) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < n; i++) v[i] = (double)(i / after % dims->v[axis]);
    return xir_node_constant(at, xir_type_sint(at->c->ctx, 64), dims, v, (size_t)n);
}

xir_value *make_scattered(xir_node *at, xir_value *data, xir_value *indices, xir_value *updates, size_t axis,
                          xir_str reduction) {
    enum { MOST_PLACES = 1 << 22 };
    if (xir_node_failed(at) || !data || !indices || !updates) return NULL;
    const size_t rank = v_rank(data);
    if (v_rank(indices) != rank) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "expected %zu dims, like input 0, found %zu",
                                rank, v_rank(indices)), NULL;
    }
    const xir_ints dims = xir_node_dims(at, indices);
    if (xir_node_failed(at) || !xir_node_need_dims(at, indices, 0, SIZE_MAX)) return NULL;
    if (!node_elements_at_most(at, &dims, MOST_PLACES, "the tensor of indices")) return NULL;
    xir_value **parts = node_take(at, (rank + 1) * sizeof *parts);
    if (!parts) return node_no_memory(at), NULL;
    for (size_t k = 0; k < rank; k++) {
        parts[k] = k == axis ? xir_node_cast(at, indices, xir_type_sint(at->c->ctx, 64))
            : make_coordinates(at, &dims, k);
    }
    if (xir_node_failed(at)) return NULL;
    xir_value *places = xir_node_make(at, "Stack", (xir_values){ parts, rank }, SETS(INT("dim", (int64_t)rank)));
    return xir_node_make(at, "ScatterND", INS(data, places, updates), SETS(WORD("reduction", reduction)));
}

bool xir_convert_unsupported(xir_node *at) { return xir_node_unsupported(at, "XIR has no operation for it"); }

/* ---- operands --------------------------------------------------------------------------------------------------- */

bool node_factors(xir_node *at, double *alpha, double *beta) {
    const double *a, *b;
    size_t n, m;
    const bool found = xir_node_real_items(at, "alpha", &a, &n) && xir_node_real_items(at, "beta", &b, &m);
    if (!found || n != 1 || m != 1) return xir_node_unsupported(at, "a factor for each channel");
    *alpha = a[0];
    *beta = b[0];
    return true;
}

bool node_is_number(xir_node *at, size_t i, double *out) {
    const double *v;
    size_t n;
    int64_t count = 0;
    const xir_value *own = xir_node_optional_input(at, i), *other = xir_node_optional_input(at, 1 - i);
    if (xir_node_failed(at) || !own || !other || !xir_value_is_params(own) || v_rank(own) > v_rank(other)) return false;
    if (xir_type_elements(xir_value_type(own), &count) || count != 1 || !xir_node_is_constant(at, i)) return false;
    if (!xir_node_reals(at, i, &v, &n) || n != 1) return false;
    *out = v[0];
    return true;
}

double *node_reals(xir_node *at, int64_t n) {
    double *v = node_take(at, ((size_t)n + 1) * sizeof *v);
    if (!v) (void)node_no_memory(at);
    return v;
}

double node_least_real(const xir_type *element) {
    const element_format f = element_format_of(element);
    return element_is_float(f) ? ldexp(1, 2 - (1 << (f.exponent - 1)) - f.mantissa) : 0;
}

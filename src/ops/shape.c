/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Sums and products are checked for overflow, because a file may contain any numbers. */
#include <inttypes.h>
#include <stdio.h>
#include "graph.h"
#include "shape.h"
#include "types.h"

xir_status infer_no_memory(xir_infer *at) { return xir_infer_fail(at, XIR_E_MEMORY, NULL, "out of memory"); }

int64_t from_start(int64_t axis, size_t rank) {
    int64_t n = (int64_t)rank;
    if (axis < -n || axis >= n) return -1;
    return axis < 0 ? axis + n : axis;
}

/* ---- inputs ------------------------------------------------------------------------------------------------- */

const char *input_name(xir_infer *at, size_t i) {
    const xir_class *cls = xir_infer_class(at);
    size_t n = xir_class_input_count(cls);
    const xir_port *port = n ? xir_class_input_at(cls, i < n ? i : n - 1) : NULL;
    return port ? port->name.data : "input";   // texts of rows end in NUL
}

input_path path_of_input(size_t i) {
    input_path path;
    snprintf(path.text, sizeof path.text, "inputs/%zu", i);
    return path;
}

bool inputs_known(xir_infer *at, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!xir_type_as_tensor(xir_infer_input(at, i))) return false;
    }
    return true;
}

bool inputs_tiled(xir_infer *at, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (xir_type_is_layouted(xir_infer_input(at, i))) return true;
    }
    return false;
}

xir_status need_tensors(xir_infer *at, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const xir_type *type = xir_infer_input(at, i);
        if (!type) {
            return xir_infer_fail(at, XIR_E_MISSING, path_of_input(i).text, "%s is absent or has no type",
                                  input_name(at, i));
        }
        if (!xir_type_as_tensor(type)) {
            return xir_infer_fail(at, XIR_E_TYPE, path_of_input(i).text, "%s is not a tensor", input_name(at, i));
        }
    }
    return XIR_OK;
}

xir_status need_inputs(xir_infer *at, size_t n) { return xir_infer_need_tensors(at, n); }

/* The index of a letter, -1 if it is missing. For a few bytes this is faster than a library call. */
static int64_t find_letter(const char *axes, size_t rank, char letter) {
    for (size_t i = 0; i < rank; i++) {
        if (axes[i] == letter) return (int64_t)i;
    }
    return -1;
}

/* L and W both name the only axis of 1-D maps. */
static int64_t axis_index(const char *axes, size_t rank, char letter) {
    int64_t found = find_letter(axes, rank, letter);
    if (found < 0 && letter == 'L') found = find_letter(axes, rank, 'W');
    if (found < 0 && letter == 'W') found = find_letter(axes, rank, 'L');
    return found;
}

/* If the layout tiles axis k, fills in unit, unit_at and the combined dim. */
static void read_tile(const xir_type *type, const xir_layout *layout, char letter, named_dims *out, size_t k) {
    int64_t unit_at = xir_layout_index(layout, (char)(letter | 0x20));
    if (unit_at < 0) return;
    const int64_t axes[2] = { (int64_t)out->at[k], unit_at };
    int64_t tiles = out->dim[k];
    out->unit_at[k] = (size_t)unit_at;
    out->unit[k] = xir_layout_unit(layout, (size_t)unit_at);   // the dim of units has this size or is unknown
    const xir_distr *distr = xir_type_distr(type, axes, 2);
    if (distr) out->dim[k] = xir_distr_total_valid(distr);
    else if (tiles < 0 || !mul_i64(tiles, out->unit[k], &out->dim[k])) out->dim[k] = UNKNOWN_DIM;
}

static inline void take_dim(named_dims *out, size_t k, const xir_tensor_type *tensor, size_t i) {
    out->dim[k] = tensor->shape.data[i];
    out->at[k] = i;
    out->unit[k] = 0;
    out->unit_at[k] = 0;
}

/* Fast path of read_dims for layouts that have a letter or `*` for each requested dim, which is the usual case. False
 * for other layouts. */
static bool read_plain(const xir_type *type, const char *letters, named_dims *out) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    if (!tensor || !tensor->layout || tensor->shape.size != tensor->layout->axes.size) return false;
    const char *axes = tensor->layout->axes.data;
    const size_t n = tensor->shape.size;
    size_t k = 0, star = 0;
    for (; k < n && letters[k] && letters[k] == axes[k]; k++) take_dim(out, k, tensor, k);
    out->n = n;
    if (k == n && !letters[k]) return true;   /* no letter is out of order */
    if (strlen(letters) != n) return false;
    for (k = 0; k < n; k++) {
        char letter = letters[k], other = letter == 'L' ? 'W' : letter == 'W' ? 'L' : letter;
        size_t i = 0;
        while (i < n && axes[i] != letter && axes[i] != other) i++;
        if (i == n) {
            while (star < n && axes[star] != '*') star++;
            if (star == n) return false;
            i = star++;
        }
        take_dim(out, k, tensor, i);
    }
    return true;
}

/* The same for any layout, which may be malformed. */
static xir_status read_any(xir_infer *at, size_t i, const char *letters, named_dims *out) {
    const xir_type *type = xir_infer_input(at, i);
    const xir_layout *layout = xir_type_layout(type);
    xir_str text = layout ? xir_layout_text(layout) : XIR_STR("");
    const char *port = input_name(at, i);
    char axes[2 * MOST_NAMED];
    xir_i64s shape = xir_type_as_tensor(type) ? xir_type_as_tensor(type)->shape : (xir_i64s){ NULL, 0 };
    size_t n = strlen(letters), rank = shape.size, named = layout_letters(layout, axes, sizeof axes), tiles = 0;
    if (layout && named != rank) {
        return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text,
                              "the layout %.*s has %zu axes, but %s has %zu dims", (int)text.size, text.data, named,
                              port, rank);
    }
    if (named > sizeof axes) named = sizeof axes;   /* more than any op expects */
    for (size_t k = 0; k < named; k++) tiles += axes[k] >= 'a' && axes[k] <= 'z';
    if (rank != n + tiles) {
        return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text, "%s has %zu dims: expected %zu (%s)", port,
                              rank, n + tiles, letters);
    }
    *out = (named_dims){ .n = n };
    for (size_t k = 0, star = 0; k < n; k++) {
        int64_t found = layout ? axis_index(axes, rank, letters[k]) : (int64_t)k;
        if (found < 0) {
            while (star < rank && axes[star] != '*') star++;
            if (star == rank) {
                return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text,
                                      "the layout %.*s of %s has no axis %c: expected the axes %s in some order",
                                      (int)text.size, text.data, port, letters[k], letters);
            }
            found = (int64_t)star++;
        }
        out->at[k] = (size_t)found;
        out->dim[k] = shape.data[found];
        if (tiles) read_tile(type, layout, letters[k], out, k);
        if (out->dim[k] < 0 && tiles) out->dim[k] = UNKNOWN_DIM;   // rules for tiles know numbers only
    }
    return XIR_OK;
}

xir_status read_dims(xir_infer *at, size_t i, const char *letters, named_dims *out) {
    return read_plain(xir_infer_input(at, i), letters, out) ? XIR_OK : read_any(at, i, letters, out);
}

const char *element_word(const xir_type *element, char *room, size_t size) {
    const xir_integer_type *integer = xir_integer_type_of((const xir_object *)element);
    const xir_float_type *real = xir_float_type_of((const xir_object *)element);
    if (integer) {
        snprintf(room, size, "%s(%" PRId64 ")", integer->sign ? "sint" : "uint", integer->ibits);
        return room;
    }
    if (real && (size_t)real->format < xir_float_format_enum()->size)
        return xir_float_format_enum()->names[real->format];
    if (xir_type_kind_of(element) == XIR_TYPE_BOOL) return "bool";
    return element ? "another type" : "nothing";
}

xir_status same_elements(xir_infer *at, size_t i, size_t j) {
    const xir_type *a = xir_type_element(xir_infer_input(at, i)), *b = xir_type_element(xir_infer_input(at, j));
    if (a == b || xir_type_equal(a, b) || xir_type_is_quantized(a) || xir_type_is_quantized(b)) return XIR_OK;
    char room[2][40];
    return xir_infer_fail(at, XIR_E_TYPE, path_of_input(j).text,
                          "the elements of %s are %s, those of %s are %s: expected the same", input_name(at, i),
                          element_word(a, room[0], sizeof room[0]), input_name(at, j),
                          element_word(b, room[1], sizeof room[1]));
}

/* ---- windows ------------------------------------------------------------------------------------------------ */

static xir_status too_small(xir_infer *at, const window *w, const char *of, int64_t found) {
    char attribute[64];
    snprintf(attribute, sizeof attribute, "%s_%s", of, w->axis);
    return xir_infer_fail(at, XIR_E_BOUNDS, attribute, "%s is %" PRId64 ": expected at least 1", attribute, found);
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

/* The same formula for an input whose size is an expression. Where the window does not fit, the op is refused once the
 * symbols have values. */
static int64_t symbolic_windows(object_pool *pool, const window *w) {
    expr padded = expr_add(pool, expr_add(pool, w->input, w->before), w->after);
    expr reach = expr_add(pool, expr_mul(pool, w->dilation, w->size - 1), 1);
    return dim_of_expr(expr_add(pool, expr_floor_div(pool, expr_sub(pool, padded, reach), w->stride), 1));
}

xir_status count_windows(xir_infer *at, const window *w, int64_t *out) {
    /* The rows of the class check this too, but attributes from an unchecked file reach this point. */
    if (w->stride < 1) return too_small(at, w, "stride", w->stride);
    if (w->dilation < 1) return too_small(at, w, "dilation", w->dilation);
    if (w->size == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, w->where,
                              "the %s has no %ss: expected at least 1", w->what, w->things);
    }
    *out = UNKNOWN_DIM;
    if (w->size >= 0 && dim_is_symbolic(w->input)) *out = symbolic_windows(at->pool, w);
    if (w->input < 0 || w->size < 0) return XIR_OK;

    int64_t padding, padded, reach, room;
    if (!add_i64(w->before, w->after, &padding) || !add_i64(w->input, padding, &padded) ||
        !mul_i64(w->dilation, w->size - 1, &reach) || !sub_i64(padded, reach, &room) || !sub_i64(room, 1, &room)) {
        return xir_infer_fail(at, XIR_E_LIMIT, w->where, "the span of a %s over %" PRId64 " %s%s with padding "
                              "%" PRId64 " and %" PRId64 " exceeds 64 bits", w->what, w->input, w->things,
                              plural(w->input), w->before, w->after);
    }
    if (room < 0) {
        return xir_infer_fail(at, XIR_E_INVALID, w->where, "a %s of %" PRId64 " %s%s with dilation %" PRId64 " does "
                              "not fit into %" PRId64 " %s%s with padding of %" PRId64, w->what, w->size, w->things,
                              plural(w->size), w->dilation, w->input, w->things, plural(w->input), padding);
    }
    *out = room / w->stride + 1;   // no overflow: room is below INT64_MAX
    return XIR_OK;
}

/* ---- dims --------------------------------------------------------------------------------------------------- */

bool dims_init(xir_infer *at, dim_list *dims, size_t size) {
    dims->alloc = context_alloc(xir_infer_context(at));
    dims->data = dims->few;
    dims->size = size;
    if (size <= sizeof dims->few / sizeof dims->few[0]) return true;
    dims->data = size <= SIZE_MAX / sizeof *dims->data ? mem_new(dims->alloc, size * sizeof *dims->data) : NULL;
    if (!dims->data) infer_no_memory(at);
    return dims->data;
}

void dims_free(dim_list *dims) {
    if (dims->data != dims->few) mem_free(dims->alloc, dims->data, dims->size * sizeof *dims->data);
}

bool dims_copy(xir_infer *at, dim_list *dims, const xir_type *type) {
    xir_i64s shape = xir_type_as_tensor(type) ? xir_type_as_tensor(type)->shape : (xir_i64s){ NULL, 0 };
    if (!dims_init(at, dims, shape.size)) return false;
    if (shape.size) memcpy(dims->data, shape.data, shape.size * sizeof *shape.data);
    return true;
}

dim_word dim_words(const xir_infer *at, int64_t dim) { return word_of_dim(at->pool, dim); }

int64_t times_dim(xir_infer *at, int64_t dim, int64_t by) {
    return dim_of_expr(expr_mul(at->pool, expr_of_dim(dim), expr_of_dim(by)));
}

bool dims_differ(xir_infer *at, int64_t a, int64_t b) {
    if (a >= 0 && b >= 0) return a != b;
    bool symbolic = dim_is_symbolic(a) || dim_is_symbolic(b);
    return symbolic && a != b && expr_never_equal(at->pool, expr_of_dim(a), expr_of_dim(b));
}

bool dim_exceeds(xir_infer *at, int64_t dim, int64_t most) {
    if (dim >= 0 && most >= 0) return dim > most;
    return expr_at_least(at->pool, expr_of_dim(dim), expr_add(at->pool, expr_of_dim(most), 1));
}

xir_status need_dim(xir_infer *at, size_t input, size_t k, int64_t expected) {
    const int64_t dim = type_dim(xir_infer_input(at, input), (int64_t)k);
    if (!dims_differ(at, dim, expected)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, path_of_input(input).text, "dim %zu of %s is %s: expected %s", k,
                          input_name(at, input), dim_words(at, dim).text, dim_words(at, expected).text);
}

bool same_dim(xir_infer *at, int64_t a, int64_t b, int64_t *out) {
    *out = a >= 0 || (b < 0 && dim_is_symbolic(a)) ? a : b;
    return !dims_differ(at, a, b);
}

/* Returns true if the broadcast of a and b is a wherever there is one: b is never greater, and never 0 where a is 1. */
static bool is_greater(xir_infer *at, int64_t a, int64_t b) {
    expr x = expr_of_dim(a), y = expr_of_dim(b);
    return expr_at_least(at->pool, x, y) && expr_at_least(at->pool, y, expr_min(at->pool, x, 1));
}

/* The broadcast of dims that are not both numbers, nor equal. */
static bool join_open(xir_infer *at, int64_t a, int64_t b, int64_t *out) {
    bool not_one[2] = { dims_differ(at, a, 1), dims_differ(at, b, 1) };
    *out = not_one[0] ? a : not_one[1] ? b : is_greater(at, a, b) ? a : is_greater(at, b, a) ? b : UNKNOWN_DIM;
    if (not_one[0] && not_one[1]) return same_dim(at, a, b, out);
    return true;
}

bool join_dim(xir_infer *at, int64_t a, int64_t b, int64_t *out) {
    *out = a == 1 ? b : a;
    if (a == b || a == 1 || b == 1) return true;
    return (a < 0 || b < 0) && join_open(at, a, b, out);
}

/* Returns true if a and b broadcast only where they are equal, because b is less only where it is greater than 1. */
static bool must_be_equal(xir_infer *at, int64_t a, int64_t b) {
    expr x = expr_of_dim(a), y = expr_of_dim(b);
    return a != b && expr_at_least(at->pool, x, y) && expr_at_least(at->pool, y, expr_min(at->pool, x, 2));
}

static int64_t dim_from_right(xir_i64s dims, size_t k) { return k <= dims.size ? dims.data[dims.size - k] : 1; }

/* Joins two dims again, where it is known that `less` is not less than `more`. */
static int64_t join_given(xir_infer *at, int64_t a, int64_t b, int64_t more, int64_t less) {
    int64_t out;
    a = dim_of_expr(expr_given(at->pool, expr_of_dim(a), less, more));
    b = dim_of_expr(expr_given(at->pool, expr_of_dim(b), less, more));
    return join_dim(at, a, b, &out) ? out : UNKNOWN_DIM;
}

/* Dims that fit only if they are equal say something about the others: where length + past is at most 32, so is
 * past. */
static void join_rest(xir_infer *at, xir_i64s a, xir_i64s b, dim_list *out) {
    for (size_t k = 1; k <= out->size; k++) {
        int64_t more = dim_from_right(a, k), less = dim_from_right(b, k);
        if (!must_be_equal(at, more, less)) {
            if (!must_be_equal(at, less, more)) continue;
            int64_t swapped = more;
            more = less;
            less = swapped;
        }
        for (size_t i = 1; i <= out->size; i++) {
            int64_t *dim = &out->data[out->size - i];
            if (*dim == UNKNOWN_DIM) *dim = join_given(at, dim_from_right(a, i), dim_from_right(b, i), more, less);
        }
        return;
    }
}

size_t join_dims(xir_infer *at, xir_i64s a, xir_i64s b, dim_list *out) {
    bool unknown = false;
    for (size_t k = 1; k <= out->size; k++) {
        int64_t *dim = &out->data[out->size - k];
        if (!join_dim(at, dim_from_right(a, k), dim_from_right(b, k), dim)) return k;
        unknown |= *dim == UNKNOWN_DIM;
    }
    if (unknown && dims_symbolic(a) && dims_symbolic(b)) join_rest(at, a, b, out);
    return 0;
}

xir_status broadcast(xir_infer *at, const xir_type *lhs, const xir_type *rhs, dim_list *out) {
    const xir_tensor_type *l = xir_type_as_tensor(lhs), *r = xir_type_as_tensor(rhs);
    xir_i64s x = l ? l->shape : (xir_i64s){ NULL, 0 }, y = r ? r->shape : (xir_i64s){ NULL, 0 };
    size_t rank = x.size > y.size ? x.size : y.size;
    if (!dims_init(at, out, rank)) return XIR_E_MEMORY;
    size_t k = join_dims(at, x, y, out);
    if (!k) return XIR_OK;
    dims_free(out);
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "dim -%zu of %s is %s, that of %s is %s: expected the same "
                          "or 1", k, input_name(at, 0), dim_words(at, dim_from_right(x, k)).text, input_name(at, 1),
                          dim_words(at, dim_from_right(y, k)).text);
}

xir_status give_tensor(xir_infer *at, const xir_type *like, const xir_type *element, const dim_list *dims,
                       xir_refs distrs) {
    const xir_type *type = type_tensor(at->pool, element, xir_type_layout(like),
                                       (xir_i64s){ dims->data, dims->size }, distrs);
    return type ? xir_infer_result(at, type) : infer_no_memory(at);
}

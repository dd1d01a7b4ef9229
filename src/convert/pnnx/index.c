/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Elements by index, constants, and what PNNX itself makes of them. */
#include "node/lists.h"
#include "pnnx/pnnx.h"
#include "spec/borders.h"
#include "spec/one_axis.h"

/* The one weight of the operator. A scalar is stored with one dim. */
bool pnnx_attribute(xir_node *at) {
    const xir_map *extra = xir_op_extra(xir_node_op(at));
    for (size_t i = 0; extra && i < extra->size; i++) {
        if (extra->entries[i].value.kind != XIR_ANY_PARAMS) continue;
        xir_value *v = extra->entries[i].value.as.params;
        if (!xir_type_as_tensor(xir_value_type(v))) return xir_node_unsupported(at, "elements that XIR does not have");
        return xir_node_result(at, 0, v);
    }
    return xir_node_invalid(at, XIR_E_MISSING, NULL, "the tensor @data is missing");
}

bool pnnx_embedding(xir_node *at) {
    if (!pnnx_is_index(at, 0, xir_node_input(at, 0))) return false;
    return xir_node_becomes(at, "Gather", INS(xir_node_input(at, 1), xir_node_input(at, 0)), SETS(INT("axis", 0)));
}

bool pnnx_index_select(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", 0);
    xir_value *index = xir_node_input(at, 1);
    return pnnx_is_index(at, 1, index) && xir_node_becomes(at, "Gather", INS(a.x, index), SETS(AXIS("axis", a)));
}

/* Dims of x beyond the index's are cut off. */
bool pnnx_gather(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/dim", 0);
    xir_value *index = xir_node_input(at, 1);
    xir_value *x = pnnx_is_index(at, 1, index) ? a.x : NULL;
    for (size_t i = 0; x && i < v_rank(x) && i < v_rank(index); i++) {
        const int64_t n = v_dim(index, i);
        if (i != a.axis && n >= 0 && n != v_dim(x, i)) x = make_part(at, x, i, 0, n, 1);
    }
    return x && xir_node_becomes(at, "GatherElements", INS(x, index), SETS(AXIS("axis", a)));
}

/* ---- Tensor.index ----------------------------------------------------------------------------------------------- */

/* An index list in a text: "[[2,1],[0,1]]": for each dim None, integers or bools. */
typedef struct index_list {
    xir_ints places[8];     /* v NULL: the dim is whole */
    size_t   n;
} index_list;

static bool is_word_at(const char *p, const char *end, const char *word) {
    const size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

/* "[2,1]" or "[True,False]": integers, or the positions of True. */
static const char *read_places(xir_node *at, const char *p, const char *end, xir_ints *out) {
    size_t n = 0, k = 0;
    for (const char *q = p; q < end && *q != ']'; q++) n += *q == ',';
    *out = xir_node_make_ints(at, n + 1, 0);
    if (!out->v) return NULL;
    out->n = 0;
    for (p++; p < end && *p != ']'; k++) {
        if (is_word_at(p, end, "True")) out->v[out->n++] = (int64_t)k, p += 4;
        else if (is_word_at(p, end, "False")) p += 5;
        else {
            const bool negative = *p == '-';
            int64_t v = 0;
            const char *first = p += negative;
            while (p < end && *p >= '0' && *p <= '9' && v < PNNX_END) v = 10 * v + (*p++ - '0');
            if (p == first) return NULL;
            out->v[out->n++] = negative ? -v : v;
        }
        if (p < end && *p == ',') p++;
        else if (p >= end || *p != ']') return NULL;
    }
    return p < end ? p + 1 : NULL;
}

static bool read_index(xir_node *at, xir_str text, index_list *out) {
    const char *p = text.data, *end = p + text.size;
    out->n = 0;
    if (text.size < 2 || *p != '[') return false;
    for (p++; p < end && *p != ']' && out->n < COUNT(out->places);) {
        xir_ints *places = &out->places[out->n++];
        *places = (xir_ints){ NULL, 0 };
        if (is_word_at(p, end, "None")) p += 4;
        else if (*p != '[' || !(p = read_places(at, p, end, places))) return false;
        if (p < end && *p == ',') p++;
    }
    return p + 1 == end && *p == ']';
}

/* Several lists broadcast; they index together. */
static bool gathered(xir_node *at, xir_value *x, const index_list *list) {
    size_t first = list->n, last = 0, n = 1;
    bool adjacent = true;
    for (size_t i = 0; i < list->n; i++) {
        if (!list->places[i].v) continue;
        if (first == list->n) first = i;
        adjacent = adjacent && (first == i || last + 1 == i);
        last = i;
        if (list->places[i].n > n) n = list->places[i].n;
    }
    if (first == list->n) return xir_node_result(at, 0, x);
    if (first == last) return xir_node_result(at, 0, make_taken(at, x, first, &list->places[first]));
    if (!adjacent || first != 0) return xir_node_unsupported(at, "lists for several dims after others");
    xir_ints all = xir_node_make_ints(at, n * list->n, 0);
    const size_t m = last - first + 1;
    for (size_t k = 0; all.v && k < n; k++) {
        for (size_t i = 0; i < m; i++) {
            const xir_ints *places = &list->places[i];
            if (places->n != n && places->n != 1)
                return xir_node_invalid(at, XIR_E_INVALID, NULL, "lists of %zu and %zu items", n, places->n);
            const int64_t v = places->v[places->n == 1 ? 0 : k];
            if (v < 0 && !xir_node_need_dims(at, x, i, i + 1)) return false;
            all.v[k * m + i] = v < 0 ? v + v_dim(x, i) : v;
        }
    }
    if (xir_node_failed(at)) return false;
    all.n = n * m;
    xir_value *index = make_shaped(at, xir_node_integers(at, &all), (int64_t[]){ (int64_t)n, (int64_t)m }, 2);
    return xir_node_becomes(at, "GatherND", INS(x, index), NO_SETS);
}

/* A parameter that looks like a list of numbers: the only dim that is indexed is the first. */
bool pnnx_index(xir_node *at) {
    index_list list = { .n = 1 };
    xir_value *x = xir_node_input(at, 0);
    if (xir_node_has(at, 1)) {
        xir_value *index = xir_node_input(at, 1);
        if (!index) return false;
        if (xir_type_kind_of(v_element(index)) == XIR_TYPE_BOOL)
            return xir_node_unsupported(at, "a mask that is computed");
        return xir_node_becomes(at, "Gather", INS(x, index), SETS(INT("axis", 0)));
    }
    if (!read_index(at, xir_node_text(at, "expr", ""), &list)) return xir_node_unsupported(at, "this index");
    if (list.n > v_rank(x)) return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "an index of %zu dims", list.n);
    return gathered(at, x, &list);
}

/* Writes rows of x; `indices` is one list of positions along dim 0. */
bool pnnx_index_put(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *index = xir_node_input(at, 1);
    if (xir_node_failed(at)) return false;
    const bool add = xir_node_bool(at, "accumulate", false);
    if (xir_type_kind_of(v_element(index)) == XIR_TYPE_BOOL) {
        if (xir_node_has(at, 2) || add || v_rank(index) > v_rank(x)) return xir_node_unsupported(at, "a mask");
        xir_value *v = xir_node_scalar(at, v_element(x), xir_node_real(at, "values", 0));
        return xir_node_becomes(at, "Where", INS(v, x, make_widened(at, index, v_rank(x), 0)), NO_SETS);
    }
    if (v_rank(index) == 0 || v_rank(index) > 2 || !xir_node_need_dims(at, x, 0, SIZE_MAX) ||
        !xir_node_need_dims(at, index, 0, SIZE_MAX))
        return xir_node_unsupported(at, "an index of %zu dims", v_rank(index));
    const size_t rank = v_rank(x), m = v_rank(index) == 2 ? (size_t)v_dim(index, 1) : 1;   /* dims that are indexed */
    if (m < 1 || m > rank) return xir_node_invalid(at, XIR_E_BOUNDS, "input/1", "an index of %zu dims", m);
    const xir_ints last = { (int64_t[]){ -1 }, 1 };
    xir_ints dims = xir_node_make_ints(at, rank - m + 1, v_dim(index, 0));
    for (size_t i = m; i < rank && dims.v; i++) dims.v[i - m + 1] = v_dim(x, i);
    xir_value *values = xir_node_has(at, 2) ? xir_node_input(at, 2)
                                            : xir_node_scalar(at, v_element(x), xir_node_real(at, "values", 0));
    values = values && dims.v ? xir_node_make(at, "Expand", INS(values), SETS(LIST("sizes", &dims))) : NULL;
    if (values && v_rank(index) == 1) index = xir_node_unsqueezed(at, index, &last, NULL);
    return values && xir_node_becomes(at, "ScatterND", INS(x, index, values),
                                      SETS(WORD("reduction", xir_str_of(add ? "add" : "none"))));
}

/* The source is a tensor or a number. Its elements beyond the index's dims do not count. */
bool pnnx_scatter(xir_node *at) {
    int64_t axis;
    xir_value *x = xir_node_input(at, 0), *index = xir_node_input(at, 1), *src = xir_node_optional_input(at, 2);
    const bool adds = xir_str_equal(xir_node_type(at), XIR_STR("torch.scatter_add"));
    const xir_str word = xir_node_text(at, "reduce", adds ? "add" : "none");
    if (!x || !pnnx_is_index(at, 1, index)) return false;
    if (src && !xir_node_same_elements(at, 0, x, 2, src)) return false;
    if (!node_axis(at, "dim", 0, v_rank(x), &axis)) return false;
    const bool multiplies = xir_str_equal(word, XIR_STR("multiply"));
    if (!multiplies && !xir_str_equal(word, XIR_STR("add")) && !xir_str_equal(word, XIR_STR("none")))
        return xir_node_unsupported(at, "the reduction %.*s", CLIP(word));
    if (!src) {
        const xir_ints dims = xir_node_dims(at, index);
        if (!xir_node_need_dims(at, index, 0, SIZE_MAX)) return false;
        src = xir_node_filled(at, v_element(x), &dims, xir_node_real(at, "value", 0));
    }
    for (size_t i = 0; src && i < v_rank(src) && i < v_rank(index); i++) {
        const int64_t n = v_dim(index, i);
        if (n >= 0 && n != v_dim(src, i)) src = make_part(at, src, i, 0, n, 1);
    }
    return xir_node_result(at, 0, make_scattered(at, x, index, src, (size_t)axis, multiplies ? XIR_STR("mul") : word));
}

/* The elements at the positions where the mask holds. */
bool pnnx_masked_select(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *mask = xir_node_input(at, 1);
    if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    xir_ints dims = xir_node_dims(at, x);
    if (v_rank(mask) > dims.n || !dims.n) return xir_node_unsupported(at, "a mask of more dims");
    mask = dims.v ? xir_node_make(at, "Expand", INS(mask), SETS(LIST("sizes", &dims))) : NULL;
    xir_value *places = mask ? xir_node_unary(at, "NonZero", mask) : NULL;
    places = places ? make_swapped(at, places) : NULL;
    return places && xir_node_becomes(at, "GatherND", INS(x, places), NO_SETS);
}

/* The bounds of a Tensor.slice: numbers and inputs. */
bool pnnx_slice_indexes(xir_node *at) {
    const xir_any *a = xir_node_attr(at, "indexes");
    xir_ints numbers;
    if (a->kind == XIR_ANY_LIST && a->as.list.size && a->as.list.items[0].kind == XIR_ANY_INT &&
        xir_node_items(at, "indexes", &numbers)) return xir_node_result(at, 0, xir_node_integers(at, &numbers));
    xir_str text = xir_node_text(at, "indexes", "");
    const bool list = a->kind == XIR_ANY_LIST;
    list_items items = make_items(at, 64, 0);
    if (xir_node_failed(at)) return false;
    items.n = 0;
    for (size_t i = 0; items.n < 64; i++) {
        xir_str word = { NULL, 0 };
        if (list ? i >= a->as.list.size : !pnnx_next_word(&text, &word)) break;
        if (list && a->as.list.items[i].kind == XIR_ANY_TEXT) word = a->as.list.items[i].as.text;
        const bool input = word.size && word.data[0] == '@';
        int64_t v;
        if (!word.size || !pnnx_word_integer((xir_str){ word.data + input, word.size - input }, &v) || (input && v < 0))
            return xir_node_unsupported(at, "these indexes");
        items.v[items.n] = item_number(v >= PNNX_END && !input ? INT64_MAX : v);
        if (input) {
            list_items one;
            if (!read_items_of(at, NULL, (size_t)v, &one) || one.n != 1)
                return xir_node_unsupported(at, "these indexes");
            items.v[items.n] = one.v[0];
        }
        items.n++;
    }
    return xir_node_result(at, 0, make_list(at, &items));
}

/* ---- repeats and diagonals -------------------------------------------------------------------------------------- */

bool pnnx_repeat_interleave(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints counts = { NULL, 0 };
    int64_t axis = 0, total = 0;
    if (pnnx_is_none(at, "dim")) x = make_shaped(at, x, (int64_t[]){ -1 }, 1);
    else if (!node_axis(at, "dim", 0, v_rank(x), &axis)) return false;
    if (!x || !xir_node_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
    const size_t n = (size_t)v_dim(x, (size_t)axis);
    if (xir_node_has(at, 1)) {
        if (!xir_node_ints(at, 1, &counts)) return false;
    } else {
        counts = xir_node_make_ints(at, 1, xir_node_int(at, "repeats", 1));
    }
    if (counts.n != 1 && counts.n != n)
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "expected %zu repeats, found %zu", n, counts.n);
    if (!node_at_most(at, (int64_t)n, PNNX_MOST_LISTED, "dim %lld", (long long)axis)) return false;
    for (size_t i = 0; i < n; i++) {
        const int64_t c = counts.v[counts.n == 1 ? 0 : i];
        if (c < 0) return xir_node_unsupported(at, "%lld repeats", (long long)c);
        if (!node_at_most(at, c, PNNX_MOST_LISTED, "the number of repeats") ||
            !node_at_most(at, total += c, PNNX_MOST_LISTED, "the number of all repeats")) return false;
    }
    xir_ints places = xir_node_make_ints(at, (size_t)total, 0);
    if (!places.v) return false;
    places.n = 0;
    for (size_t i = 0; i < n; i++)
        for (int64_t k = counts.v[counts.n == 1 ? 0 : i]; k > 0; k--) places.v[places.n++] = (int64_t)i;
    return xir_node_result(at, 0, make_taken(at, x, (size_t)axis, &places));
}

/* The diagonal of a matrix, or a matrix with this diagonal. */
bool pnnx_diag(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const int64_t k = xir_node_int(at, "diagonal", 0);
    if (!x || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (v_rank(x) > 2 || v_rank(x) == 0 || k < -(1 << 16) || k > 1 << 16 || v_dim(x, 0) > 1 << 16)
        return xir_node_unsupported(at, "this diagonal");
    const int64_t off = k < 0 ? -k : k;
    const int64_t rows = v_dim(x, 0), columns = v_rank(x) == 2 ? v_dim(x, 1) : 0;
    if (v_rank(x) == 1) {   /* position rows of the vector with a 0 at its end is that 0 */
        const int64_t n = rows + off;
        if (!node_at_most(at, n * n, PNNX_MOST_LISTED, "the number of elements of the matrix")) return false;
        const xir_ints pads = { (int64_t[]){ 0, 1 }, 2 };
        xir_ints places = xir_node_make_ints(at, (size_t)(n * n), rows);
        for (int64_t i = 0; i < rows && places.v; i++)
            places.v[(i + (k < 0 ? off : 0)) * n + i + (k > 0 ? off : 0)] = i;
        xir_value *longer = zeros_around(at, x, &pads);
        return xir_node_result(at, 0, make_shaped(at, make_taken(at, longer, 0, &places), (int64_t[]){ n, n }, 2));
    }
    const int64_t r0 = k < 0 ? off : 0, c0 = k > 0 ? off : 0;
    int64_t n = rows - r0 < columns - c0 ? rows - r0 : columns - c0;
    if (n < 0) n = 0;
    xir_ints places = xir_node_make_ints(at, (size_t)n, 0);
    for (size_t i = 0; i < places.n; i++) places.v[i] = (r0 + (int64_t)i) * columns + c0 + (int64_t)i;
    return xir_node_result(at, 0, make_taken(at, make_shaped(at, x, (int64_t[]){ -1 }, 1), 0, &places));
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

bool pnnx_full(xir_node *at) {
    const xir_str type = xir_node_type(at);
    list_items size;
    if (!read_items_of(at, "size", 0, &size)) return xir_node_unsupported(at, "no size");
    const bool ones = xir_str_equal(type, XIR_STR("torch.ones")), zeros = xir_str_equal(type, XIR_STR("torch.zeros"));
    const xir_any *fill = xir_node_attr(at, "fill_value");
    xir_context *ctx = xir_node_context(at);
    const xir_type *element = fill && fill->kind == XIR_ANY_INT ? xir_type_sint(ctx, 64)
        : fill && fill->kind == XIR_ANY_BOOL ? xir_type_bool(ctx) : xir_type_float(ctx, XIR_FLOAT_FP32);
    if (!pnnx_is_none(at, "dtype")) element = pnnx_element(ctx, xir_node_text(at, "dtype", ""));
    if (!element) return xir_node_unsupported(at, "elements that XIR does not have");
    const double v = ones ? 1 : zeros ? 0 : xir_node_real(at, "fill_value", 0);
    const bool real = xir_type_kind_of(element) == XIR_TYPE_FLOAT;
    if (!real && !(v >= -0x1p63 && v < 0x1p63)) return xir_node_unsupported(at, "an integer of %g", v);
    const xir_set value = real ? (xir_set)REAL("value", v) : (xir_set)INT("value", (int64_t)v);
    return xir_node_becomes(at, "ConstantOfShape", INS(make_list(at, &size)),
                            SETS(value, OBJ("element_dtype", element)));
}

bool pnnx_arange(xir_node *at) {
    static const char *const names[] = { "start", "end", "step" };
    static const double defaults[] = { 0, 0, 1 };
    xir_context *ctx = xir_node_context(at);
    bool real = false;
    xir_value *v[3] = { NULL };
    /* with one input it is the end */
    const size_t only = at->n_in == 1 && pnnx_is_none(at, "end") && xir_node_input_named(at, "end") == SIZE_MAX ? 1 : 0;
    for (size_t i = 0; i < 3; i++) {
        const xir_any *a = xir_node_attr(at, names[i]);
        if (only ? i == 1 : xir_node_has(at, i)) v[i] = xir_node_input(at, only ? 0 : i);
        real |= v[i] ? xir_type_kind_of(v_element(v[i])) == XIR_TYPE_FLOAT : a && a->kind == XIR_ANY_REAL;
    }
    const xir_type *element = pnnx_is_none(at, "dtype")
                                  ? real ? xir_type_float(ctx, XIR_FLOAT_FP32) : xir_type_sint(ctx, 64)
                                  : pnnx_element(ctx, xir_node_text(at, "dtype", ""));
    if (!element) return xir_node_unsupported(at, "elements that XIR does not have");
    for (size_t i = 0; i < 3; i++) {
        v[i] = v[i] ? xir_node_cast(at, v[i], element)
                    : xir_node_scalar(at, element, xir_node_real(at, names[i], defaults[i]));
        if (xir_node_failed(at)) return false;
    }
    return xir_node_becomes(at, "Range", INS(v[0], v[1], v[2]), NO_SETS);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts of tensors as Python's subscripts: slices, selections and lists of positions. */
#include <stdio.h>
#include "python/python.h"

enum { MOST_DIMS = 64 };   /* of a tensor of PyTorch */

static buffer *out_of(python_op *c) { return &c->w->forward; }
static void put(python_op *c, const char *text) { buffer_str(out_of(c), text); }

static void put_integer(python_op *c, int64_t v) {
    char digits[NUMBER_ROOM];
    buffer_put(out_of(c), digits, number_put_i64(digits, v));
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

/* Item `k` of the list `many`, or the number `one` (NULL: none), as parameter or input. */
typedef struct bound {
    bool    has, is_input, is_item;
    size_t  input;
    int64_t number;
} bound;

static bool read_bound(python_op *c, const char *many, const char *one, size_t k, size_t n, bound *out) {
    const size_t listed = python_input(c, many), single = one ? python_input(c, one) : SIZE_MAX;
    const xir_any *v = python_param(c, many);
    *out = (bound){ .has = true, .is_input = true, .is_item = listed != SIZE_MAX,
                    .input = listed != SIZE_MAX ? listed : single };
    if (out->input != SIZE_MAX) return true;
    if (v && (v->kind != XIR_ANY_LIST || v->as.list.size != n))
        return python_refuse(c, XIR_E_INVALID, "'%s' are not %zu integers", many, n);
    const xir_any *item = v ? &v->as.list.items[k] : one ? python_param(c, one) : NULL;
    *out = (bound){ .has = item };
    if (item && item->kind != XIR_ANY_INT)
        return python_refuse(c, XIR_E_INVALID, "'%s' are not integers", v ? many : one);
    if (item) out->number = item->as.integer;
    return true;
}

/* Writes a bound unless it is a number that means nothing. */
static void put_bound(python_op *c, const bound *b, size_t k, int64_t usual) {
    if (!b->has || (!b->is_input && b->number == usual)) return;
    if (!b->is_input) {
        put_integer(c, b->number);
        return;
    }
    python_put_input(c, b->input, false);
    if (!b->is_item) return;
    put(c, "[");
    put_integer(c, (int64_t)k);
    put(c, "]");
}

static bool put_slice(python_op *c, size_t k, size_t n) {
    bound start, end, step, select;
    if (!read_bound(c, "starts", "start", k, n, &start) || !read_bound(c, "ends", "end", k, n, &end) ||
        !read_bound(c, "steps", "step", k, n, &step) || !read_bound(c, "selects", NULL, k, n, &select)) return false;
    if (select.is_input) return python_refuse(c, XIR_E_UNSUPPORTED, "a selection is computed");
    if (select.has && select.number != INT32_MAX) {
        put_integer(c, select.number);
        return true;
    }
    put_bound(c, &start, k, 0);
    put(c, ":");
    put_bound(c, &end, k, INT32_MAX);
    if (step.has && (step.is_input || step.number != 1)) put(c, ":");
    put_bound(c, &step, k, 1);
    return true;
}

/* "[:, 1:5, ..., ::2]": dims from the first on, then those that count from the end. */
static bool put_subscript(python_op *c) {
    size_t at[2 * MOST_DIMS] = { 0 }, n = 1;   /* 1 + which of the lists' items is of dim i - MOST_DIMS */
    const xir_any *dims = python_param(c, "dims"), *dim = python_param(c, "dim");
    const bool listed = dims && dims->kind == XIR_ANY_LIST;
    if (listed) n = dims->as.list.size;
    int64_t most = -1, least = 0;
    for (size_t k = 0; k < n; k++) {
        const xir_any *v = listed ? &dims->as.list.items[k] : dims ? dims : dim;
        const int64_t axis = v && v->kind == XIR_ANY_INT ? v->as.integer : v ? INT64_MAX : 0;
        if (axis >= MOST_DIMS || axis < -MOST_DIMS || at[axis + MOST_DIMS])
            return python_refuse(c, XIR_E_BOUNDS, "its dims are not different ones of a tensor");
        at[axis + MOST_DIMS] = k + 1;
        if (axis > most) most = axis;
        if (axis < least) least = axis;
    }
    put(c, "[");
    for (int64_t i = 0; i <= most; i++) {
        if (i) put(c, ", ");
        if (!at[i + MOST_DIMS]) put(c, ":");
        else if (!put_slice(c, at[i + MOST_DIMS] - 1, n)) return false;
    }
    if (least < 0) put(c, most < 0 ? "..." : ", ...");
    for (int64_t i = least; i < 0; i++) {
        put(c, ", ");
        if (!at[i + MOST_DIMS]) put(c, ":");
        else if (!put_slice(c, at[i + MOST_DIMS] - 1, n)) return false;
    }
    put(c, most < 0 && least == 0 ? "...]" : "]");
    return true;
}

bool python_slice(python_op *c) {
    const size_t x = python_input(c, "input");
    if (x == SIZE_MAX) return python_refuse(c, XIR_E_MISSING, "'input' is missing");
    if (!python_put_targets(c, PYTHON_ONE, PYTHON_TENSOR)) return false;
    python_put_input(c, x, true);
    if (!put_subscript(c)) return false;
    put(c, "\n");
    return true;
}

/* A copy; a part of it is assigned. */
bool python_slice_copy(python_op *c) {
    const size_t x = python_input(c, *c->row->args == 's' ? "self" : "input"), src = python_input(c, "src");
    if (x == SIZE_MAX || src == SIZE_MAX) return python_refuse(c, XIR_E_MISSING, "an input is missing");
    if (!python_put_targets(c, PYTHON_ONE, PYTHON_TENSOR)) return false;
    python_put_input(c, x, true);
    put(c, ".clone()\n        ");
    const xir_str name = python_value_of(c->w, &op_outputs(c->op)[0])->name;
    buffer_put(out_of(c), name.data, name.size);
    if (!put_subscript(c)) return false;
    put(c, " = ");
    python_put_input(c, src, false);
    put(c, "\n");
    return true;
}

/* ---- lists of positions ------------------------------------------------------------------------------------------ */

typedef struct cursor { const char *p, *end; } cursor;

static bool takes(cursor *at, const char *word) {
    const size_t n = strlen(word);
    if ((size_t)(at->end - at->p) < n || memcmp(at->p, word, n) != 0) return false;
    at->p += n;
    return true;
}

/* Integers, truths, or lists of them. */
static bool put_positions(python_op *c, cursor *at, int depth) {
    enum { MOST_DEPTH = 16 };
    bool first = true;
    if (depth > MOST_DEPTH || !takes(at, "[")) return false;
    put(c, "[");
    for (; !takes(at, "]"); first = false) {
        int32_t v;
        if (!first && !takes(at, ",")) return false;
        if (!first) put(c, ", ");
        const xir_str rest = { at->p, (size_t)(at->end - at->p) };
        if (takes(at, "True")) put(c, "True");
        else if (takes(at, "False")) put(c, "False");
        else if (rest.size && *rest.data == '[') {
            if (!put_positions(c, at, depth + 1)) return false;
        } else {
            const size_t n = pnnx_scalar_kind(rest) != XIR_PNNX_STRING ? pnnx_take_int(rest, &v) : 0;
            if (!n) return false;
            put_integer(c, v);
            at->p += n;
        }
    }
    put(c, "]");
    return true;
}

/* "[None,[1,0]]": a dim each; None takes a whole one. */
static bool put_places(python_op *c, xir_str text) {
    cursor at = { text.data, text.data + text.size };
    bool first = true;
    if (!text.size || !takes(&at, "[")) return false;
    for (; !takes(&at, "]"); first = false) {
        if (!first && !takes(&at, ",")) return false;
        if (!first) put(c, ", ");
        if (takes(&at, "None")) {
            put(c, ":");
            continue;
        }
        put(c, "torch.tensor(");
        if (!put_positions(c, &at, 0)) return false;
        put(c, ")");
    }
    return !first && at.p == at.end;
}

/* Several tensors are a tuple. */
static void put_indices(python_op *c, size_t i, bool always_tuple) {
    const bool several = python_value_of(c->w, op_inputs(c->op)[i].value)->kind == PYTHON_LIST;
    if (several) put(c, "tuple(");
    else if (always_tuple) put(c, "(");
    python_put_input(c, i, false);
    if (several) put(c, ")");
    else if (always_tuple) put(c, ",)");
}

bool python_index(python_op *c) {
    const size_t x = python_input(c, "input"), indices = python_input(c, "indices");
    const xir_any *expr = python_param(c, "expr");
    if (x == SIZE_MAX) return python_refuse(c, XIR_E_MISSING, "'input' is missing");
    if (!python_put_targets(c, PYTHON_ONE, PYTHON_TENSOR)) return false;
    python_put_input(c, x, true);
    put(c, "[");
    if (indices != SIZE_MAX) put_indices(c, indices, false);
    else if (!expr || expr->kind != XIR_ANY_TEXT || !put_places(c, expr->as.text))
        return python_refuse(c, XIR_E_SYNTAX, "its index is not a list of lists of integers or truths");
    put(c, "]\n");
    return true;
}

/* A number gets the elements of the tensor. */
static bool put_values(python_op *c, size_t x, size_t values) {
    const xir_any *param = python_param(c, "values");
    const bool is_tensor = values != SIZE_MAX &&
                           python_value_of(c->w, op_inputs(c->op)[values].value)->kind == PYTHON_TENSOR;
    if (values == SIZE_MAX && !param) return python_refuse(c, XIR_E_MISSING, "'values' are missing");
    if (!is_tensor) put(c, "torch.tensor(");
    if (values != SIZE_MAX) python_put_input(c, values, false);
    else if (!python_put_any(c, out_of(c), XIR_STR("values"), param)) return false;
    if (is_tensor) return true;
    put(c, ", dtype=");
    python_put_input(c, x, true);
    put(c, ".dtype)");
    return true;
}

bool python_index_put(python_op *c) {
    const size_t x = python_input(c, "input"), indices = python_input(c, "indices"), values = python_input(c, "values");
    if (x == SIZE_MAX || indices == SIZE_MAX) return python_refuse(c, XIR_E_MISSING, "an input is missing");
    const xir_any *accumulate = python_param(c, "accumulate");
    if (!python_put_targets(c, PYTHON_ONE, PYTHON_TENSOR)) return false;
    python_put_input(c, x, true);
    put(c, ".index_put(");
    put_indices(c, indices, true);
    put(c, ", ");
    if (!put_values(c, x, values)) return false;
    if (accumulate) {
        put(c, ", accumulate=");
        if (!python_put_any(c, out_of(c), XIR_STR("accumulate"), accumulate)) return false;
    }
    put(c, ")\n");
    return true;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks that hold for any op whose case is good: its inputs get unknown dims, and its inputs and attributes get the
 * values that a hostile file may have. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "support/op_case.h"
#include "graph.h"

/* ---- unknown dims ----------------------------------------------------------------------------------------------- */

/* The type with one dim changed; nothing is checked. */
static const xir_type *with_dim(const xir_type *type, size_t k, int64_t dim) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    int64_t dims[64];
    if (tensor->shape.size > COUNT(dims)) return type;
    memcpy(dims, tensor->shape.data, tensor->shape.size * sizeof *dims);
    dims[k] = dim;
    return type_tensor(context_pool(ctx), tensor->element_dtype, tensor->layout, (xir_i64s){ dims, tensor->shape.size },
                       tensor->merged_distrs);
}

/* Like `known`, except that dims may be unknown. */
static bool less_known(const xir_type *known, const xir_type *found) {
    const xir_tensor_type *a = xir_type_as_tensor(known), *b = xir_type_as_tensor(found);
    if (!a || !b) return xir_type_equal(known, found);
    if (a->shape.size != b->shape.size || a->layout != b->layout ||
        !xir_type_equal(a->element_dtype, b->element_dtype)) {
        return false;
    }
    for (size_t i = 0; i < a->shape.size; i++) {
        if (b->shape.data[i] != -1 && b->shape.data[i] != a->shape.data[i]) return false;
    }
    return true;
}

static void with_unknown_dim(op_case *c, xir_op *op, size_t input, size_t k) {
    xir_value *v = xir_op_input(op, (int64_t)input);
    const xir_type *type = xir_value_type(v), *found[MOST_OUTPUTS], *known[MOST_OUTPUTS];
    char what[100];
    snprintf(what, sizeof what, "rank and known dims stay with dim %zu of input %zu unknown", k, input);
    size_t m = op_case_types(op, known);
    DOES(xir_value_set_type(v, with_dim(type, k, -1)));
    xir_network_clear_status(c->net);
    xir_status status = xir_op_infer(op, true);
    if (status && status != XIR_E_UNSUPPORTED) {   /* some ops cannot infer their output then, and report that */
        op_case_fail(c, what, "%s", op_case_findings(xir_network_diags(c->net)));
    } else if (!status) {
        size_t n = op_case_types(op, found);
        bool right = n == m;
        for (size_t i = 0; right && i < n; i++) right = less_known(known[i], found[i]);
        if (!right) op_case_fail(c, what, "%s", n ? op_type_words(found[0]) : "no outputs");
        xir_diags_clear(why);
        if (xir_op_validate(op, why)) op_case_fail(c, what, "%s", op_case_findings(why));
    }
    DOES(xir_value_set_type(v, type));
    xir_op_infer(op, true);
}

void op_case_with_unknown_dims(op_case *c, xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op) && !c->failed; i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        const xir_tensor_type *type = v ? xir_type_as_tensor(xir_value_type(v)) : NULL;
        /* The dims of a constant are known, and distributions and arrays of scales make claims about dims. */
        if (!type || xir_value_is_params(v) || type->merged_distrs.size || xir_type_is_quantized(type->element_dtype))
            continue;
        for (size_t k = 0; k < type->shape.size && !c->failed; k++) {
            if (type->shape.data[k] >= 0) with_unknown_dim(c, op, i, k);
        }
    }
}

/* ---- harm ------------------------------------------------------------------------------------------------------- */

/* Infers and validates. Sanitizers detect any harm. Types that are inferred from sound types are sound. */
static void infer_and_validate(op_case *c, xir_op *op, const char *what) {
    static const char path[] = "/outputs";
    xir_network_clear_status(c->net);
    xir_diags_clear(why);
    bool inferred = !xir_op_infer(op, true), sound = !xir_op_validate(xir_network_first(c->net), NULL);
    xir_op_validate(op, why);
    xir_work work = XIR_INIT(xir_work);
    (void)xir_op_work(op, &work, NULL);
    for (size_t i = 0; inferred && sound && i < xir_diags_count(why); i++) {
        xir_str at = xir_diags_at(why, i)->path;
        if (at.size < strlen(path) || memcmp(at.data, path, strlen(path)) != 0) continue;
        op_case_fail(c, "outputs that are valid", "%s, with %s", op_case_findings(why), what);
        return;
    }
}

static void with_harmful_input(op_case *c, xir_op *op, size_t input) {
    static const int64_t dims[] = { -1, 0, 1, INT64_MAX, 3 };
    xir_value *v = xir_op_input(op, (int64_t)input);
    const xir_type *type = xir_value_type(v);
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    const xir_type *others[] = { NULL, xir_type_float(ctx, XIR_FLOAT_FP32),
                                 xir_type_tensor(ctx, xir_type_sint(ctx, 64), NULL, NULL, 0),
                                 FP32("NHWC", 1, 2), FP32("NCHWc32", 1, 2, 3, 4, 32), FP32("*********", 1, 2, 3, 4, 5, 6, 7, 8, 9),
                                 FP32("**", INT64_MAX, INT64_MAX), FP32("****", 0, 0, 0, 0),
                                 XIR_TENSOR(ctx, xir_type_bool(ctx), "CHWN", 2, 2, 2, 2) };
    for (size_t i = 0; i < COUNT(others); i++) {
        DOES(xir_value_set_type(v, others[i]));
        infer_and_validate(c, op, "an input of another type");
    }
    for (size_t k = 0; tensor && k < tensor->shape.size; k++) {
        for (size_t i = 0; i < COUNT(dims); i++) {
            DOES(xir_value_set_type(v, with_dim(type, k, dims[i])));
            infer_and_validate(c, op, "another dim of an input");
        }
    }
    DOES(xir_value_set_type(v, type));
}

bool op_case_harmful_attr(const xir_field *f, void *body, size_t i, int64_t room[16]) {
    static const int64_t numbers[] = { INT64_MIN, INT64_MAX, 0, -1, 1, 2, INT64_C(1) << 40 };
    static const double reals[] = { 0, -1, 1e38, -INFINITY, INFINITY, NAN };
    static const size_t sizes[] = { 0, 1, 2, 5, 9 };
    void *at = (char *)body + f->offset;
    switch (f->kind) {
    case XIR_KIND_I64:
    case XIR_KIND_U64:
        if (i < COUNT(numbers)) memcpy(at, &numbers[i], sizeof numbers[i]);
        return i < COUNT(numbers);
    case XIR_KIND_REAL:
        if (i < COUNT(reals)) memcpy(at, &reals[i], sizeof reals[i]);
        return i < COUNT(reals);
    case XIR_KIND_BOOL:
        *(bool *)at = i;
        return i < 2;
    case XIR_KIND_ENUM:
        *(int *)at = (int)i - 1;
        return i < f->members->size + 2;
    case XIR_KIND_I64S: {
        size_t n = sizes[i / COUNT(numbers) % COUNT(sizes)];
        for (size_t k = 0; k < n; k++) room[k] = numbers[i % COUNT(numbers)];
        *(xir_i64s *)at = (xir_i64s){ room, n };
        return i < COUNT(numbers) * COUNT(sizes);
    }
    case XIR_KIND_REF:
    case XIR_KIND_PARAMS:
        *(const void **)at = NULL;
        return i < 1;
    case XIR_KIND_BOOLS:
    case XIR_KIND_REALS:
    case XIR_KIND_TEXTS:
    case XIR_KIND_REFS:
    case XIR_KIND_PARAMSS:
        *(xir_reals *)at = (xir_reals){ NULL, 0 };   /* every list is a pointer and a size */
        return i < 1;
    default:
        return false;
    }
}

static void with_body(op_case *c, void *body, const char *what) {
    xir_op *op = op_case_bring_in(c, body);
    infer_and_validate(c, op, what);
    if (xir_op_erase(op)) op_case_fail(c, "an op without users", "%s", op_case_findings(xir_network_diags(c->net)));
}

void op_case_with_harm(op_case *c, xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op) && !c->failed; i++) {
        if (xir_op_input(op, (int64_t)i)) with_harmful_input(c, op, i);
    }
    xir_op_infer(op, true);
    void *body = op_text_keep(&c->t, c->cls->body_size);
    for (uint32_t k = 0; k < c->cls->n_fields && !c->failed; k++) {
        const xir_field *f = &c->cls->fields[k];
        int64_t room[16];
        for (size_t i = 0; !c->failed; i++) {
            memcpy(body, c->body, c->cls->body_size);
            if (!op_case_harmful_attr(f, body, i, room)) break;
            with_body(c, body, f->name.data);
        }
    }
    /* Inputs that are absent, one input more, no input. */
    size_t n = c->n_inputs;
    for (size_t i = 0; i < n && !c->failed; i++) {
        xir_value *v = c->inputs[i];
        c->inputs[i] = NULL;
        with_body(c, c->body, "an absent input");
        c->inputs[i] = v;
    }
    if (n < MOST_INPUTS && n && !c->failed) {
        c->inputs[c->n_inputs++] = c->inputs[0];
        with_body(c, c->body, "one input more");
        c->n_inputs = n;
    }
    c->n_inputs = 0;
    with_body(c, c->body, "no inputs");
    c->n_inputs = n;
    const char *broken = broken_invariant(c->net, ASK_ALL);
    if (broken) op_case_fail(c, "a sound network", "%s", broken);
}

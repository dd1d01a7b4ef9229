/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Compares declared types with those that inference gives. Each op is inferred from the declared types of its inputs,
 * so that one wrong type is one finding and not one for each op after it. A wrong type is remembered with the one that
 * inference gives: an op that is correct with the latter has no finding. */
#include <stdlib.h>
#include <string.h>
#include "check.h"

/* An output of the copy whose declared type is wrong, and what inference gave. */
typedef struct wrong_type {
    const xir_value *value;
    const xir_type  *inferred;
    uint32_t         next;       /* of the same op: index + 1; 0: the last */
} wrong_type;

typedef enum agreement {
    SAME,       /* as far as either knows: unknown dims agree with any           */
    LOOSELY,    /* elements and dims are the same, layouts or distributions not   */
    DIFFERENT
} agreement;

/* The quantiser decides what is quantised, and how: inference passes types on that a file requantises. */
static bool elements_agree(const xir_type *declared, const xir_type *inferred) {
    return xir_type_is_quantized(declared) || xir_type_is_quantized(inferred) || xir_type_equal(declared, inferred);
}

static agreement compare(const xir_type *declared, const xir_type *inferred) {
    if (!declared || !inferred || xir_type_equal(declared, inferred)) return SAME;
    const xir_tensor_type *d = xir_type_as_tensor(declared), *t = xir_type_as_tensor(inferred);
    if (!d || !t || d->shape.size != t->shape.size || !elements_agree(d->element_dtype, t->element_dtype))
        return DIFFERENT;
    bool open = false;
    for (size_t i = 0; i < d->shape.size; i++) {
        int64_t a = d->shape.data[i], b = t->shape.data[i];
        if (a >= 0 && b >= 0 && a != b) return DIFFERENT;
        open |= a < 0 || b < 0;
    }
    if (!xir_object_equal((const xir_object *)d->layout, (const xir_object *)t->layout)) return LOOSELY;
    bool alike = d->merged_distrs.size == t->merged_distrs.size;
    for (size_t i = 0; alike && i < d->merged_distrs.size; i++) {
        alike = xir_object_equal(d->merged_distrs.data[i], t->merged_distrs.data[i]);
    }
    return open || alike ? SAME : LOOSELY;
}

static void differ(checking *c, const char *path, const xir_type *declared, const xir_type *inferred, agreement how) {
    text d = { 0 }, t = { 0 };
    type_words(&d, declared);
    type_words(&t, inferred);
    if (d.size == t.size && memcmp(d.data, t.data, d.size) == 0) {
        d.size = t.size = 0;
        json_object(&d, xir_type_object(declared));
        json_object(&t, xir_type_object(inferred));
    }
    xir_diags_add(c->why, how == LOOSELY ? XIR_WARNING : XIR_ERROR, XIR_E_INVALID, xir_str_of(path),
                  "the declared type is %s, inference gives %s", d.data, t.data);
    text_free(&d);
    text_free(&t);
}

/* The findings of inference on a copy are about the op at `path`. */
static void take_over(checking *c, const char *path) {
    xir_diags *said = xir_network_diags(c->copy);
    for (size_t i = 0; i < xir_diags_count(said); i++) {
        xir_diag diag = *xir_diags_at(said, i);
        text where = { 0 };
        text_put(&where, path);
        text_add(&where, diag.path.data, diag.path.size);
        diag.path = text_of(&where);
        xir_diags_append(c->why, &diag);
        text_free(&where);
    }
    xir_network_clear_status(c->copy);
}

/* ---- types that were found wrong ----------------------------------------------------------------- */

static void remember(checking *c, xir_value *value, const xir_type *inferred) {
    if (c->n_wrong == c->wrong_room) {
        c->wrong_room = c->wrong_room * 2 + 16;
        c->wrong = resize(c->wrong, c->wrong_room * sizeof *c->wrong);
    }
    uint32_t *first = &c->wrong_of[xir_op_slot(xir_value_op(value))];
    c->wrong[c->n_wrong] = (wrong_type){ value, inferred, *first };
    *first = (uint32_t)++c->n_wrong;
}

/* Returns the inferred type for a value of the copy whose declared type is wrong; NULL for the others. */
static const xir_type *found_for(const checking *c, const xir_value *value) {
    const xir_op *maker = value ? xir_value_op(value) : NULL;
    if (!maker) return NULL;
    for (uint32_t i = c->wrong_of[xir_op_slot(maker)]; i; i = c->wrong[i - 1].next) {
        if (c->wrong[i - 1].value == value) return c->wrong[i - 1].inferred;
    }
    return NULL;
}

/* Gives wrong inputs the types that they should have, or takes these back. Returns how many there are. */
static size_t correct_inputs(const checking *c, const xir_op *op, xir_op *copy, bool correct) {
    size_t wrong = 0;
    for (size_t i = 0; i < xir_op_input_count(copy) && i < xir_op_input_count(op); i++) {
        xir_value *input = xir_op_input(copy, (int64_t)i);
        const xir_value *declared = xir_op_input(op, (int64_t)i);
        const xir_type *found = found_for(c, input);
        if (!found || !declared) continue;
        if (!xir_value_set_type(input, correct ? found : xir_value_type(declared))) wrong++;
    }
    return wrong;
}

/* ---- an op --------------------------------------------------------------------------------------- */

static bool outputs_agree(const xir_op *op, const xir_op *copy) {
    size_t n = xir_op_output_count(op);
    if (xir_op_output_count(copy) != n) return false;
    for (size_t i = 0; i < n; i++) {
        if (compare(xir_value_type(xir_op_output(op, (int64_t)i)), xir_value_type(xir_op_output(copy, (int64_t)i))) !=
            SAME) return false;
    }
    return true;
}

static void restore_outputs(checking *c, const xir_op *op, xir_op *copy) {
    for (size_t i = 0; i < xir_op_output_count(op) && i < xir_op_output_count(copy); i++) {
        const xir_type *declared = xir_value_type(xir_op_output(op, (int64_t)i));
        xir_value *output = xir_op_output(copy, (int64_t)i);
        if (declared && xir_value_type(output) != declared) (void)xir_value_set_type(output, declared);
    }
    xir_network_clear_status(c->copy);
}

static void report(checking *c, const xir_op *op, xir_op *copy, const char *path) {
    size_t n = xir_op_output_count(op), m = xir_op_output_count(copy);
    if (n != m) {
        xir_diags_add(c->why, XIR_ERROR, XIR_E_INVALID, xir_str_of(path),
                      "%zu outputs are declared, inference gives %zu", n, m);
    }
    for (size_t i = 0; i < n && i < m; i++) {
        const xir_type *declared = xir_value_type(xir_op_output(op, (int64_t)i));
        xir_value *output = xir_op_output(copy, (int64_t)i);
        const xir_type *inferred = xir_value_type(output);
        agreement how = compare(declared, inferred);
        if (how == SAME) continue;
        text where = { 0 };
        text_printf(&where, "%s/outputs/%zu/dtype", path, i);
        differ(c, where.data, declared, inferred, how);
        if (how == DIFFERENT) remember(c, output, inferred);
        text_free(&where);
    }
}

static void put_place(text *out, const op_place *place) {
    if (place->outer) put_place(out, place->outer);
    text_printf(out, "/%.*s/%zu", place->outer ? (int)place->field.size : 3, place->outer ? place->field.data : "ops",
                place->index);
}

/* Infers an op of the copy. Returns true if it has the very types that it had: nearly all ops do. */
static bool keeps_types(xir_op *copy, xir_status *status) {
    const xir_type *before[8];
    const size_t n = xir_op_output_count(copy), room = sizeof before / sizeof *before;
    for (size_t i = 0; i < n && i < room; i++) before[i] = xir_value_type(xir_op_output(copy, (int64_t)i));
    *status = xir_op_infer(copy, true);
    bool same = !*status && n <= room && xir_op_output_count(copy) == n;
    for (size_t i = 0; i < n && same; i++) same = before[i] == xir_value_type(xir_op_output(copy, (int64_t)i));
    return same;
}

/* An op is correct if inference agrees, from the declared types of its inputs, or else from the types that they should
 * have: then the fault is in the inputs and has been reported. */
void inference_check(checking *c, const xir_op *op, xir_op *copy, const op_place *place) {
    xir_status status;
    if (keeps_types(copy, &status)) return;
    if (status == XIR_E_UNSUPPORTED) {
        tally_add(&c->open, xir_op_class(op));
        restore_outputs(c, op, copy);
        return;
    }
    if (status == XIR_E_UNKNOWN) {
        if (!(xir_class_traits(xir_op_class(op)) & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK)))
            tally_add(&c->uninferred, xir_op_class(op));
        xir_network_clear_status(c->copy);
        return;
    }
    if (!status && outputs_agree(op, copy)) {
        if (xir_op_output_count(op)) restore_outputs(c, op, copy);
        return;
    }
    if (c->n_wrong && correct_inputs(c, op, copy, true)) {
        restore_outputs(c, op, copy);
        bool fine = !xir_op_infer(copy, true) && outputs_agree(op, copy);
        correct_inputs(c, op, copy, false);
        restore_outputs(c, op, copy);
        if (fine) return;
        status = xir_op_infer(copy, true);   /* the findings are about the file */
    }
    text path = { 0 };
    put_place(&path, place);
    if (status) take_over(c, path.data);
    else report(c, op, copy, path.data);
    text_free(&path);
    restore_outputs(c, op, copy);
}

void inference_begin(checking *c) {
    c->wrong_of = take(xir_network_slot_count(c->copy) + (size_t)1, sizeof *c->wrong_of);
}

void inference_end(checking *c) {
    free(c->wrong);
    free(c->wrong_of);
}

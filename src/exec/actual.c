/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "actual.h"
#include <stdio.h>
#include "number.h"
#include "types.h"

const char *port_path(char out[PORT_PATH], const char *list, size_t i) {
    char *at = out;
    while (*list) *at++ = *list++;
    *at++ = '/';
    at[number_put_u64(at, i)] = '\0';
    return out;
}

xir_status op_fail(const xir_op *op, xir_status code, xir_diags *why, const char *where, const char *text) {
    xir_kernel at = { .op = op, .ctx = op->net->ctx, .why = why };
    return xir_kernel_fail(&at, code, where, "%s", text);
}

/* "@fp(32) [1,3,?]". The layout is omitted, because it is not compared. */
static void print_type(const xir_type *type, char *out, size_t room) {
    buffer b;
    buffer_init(&b, &memory_default);
    const xir_object *element = xir_type_object(xir_type_element(type));
    if (element && element->cls->more->form) element->cls->more->form->print(element, &b);
    else if (element) buffer_put(&b, element->cls->key.data, element->cls->key.size);
    int n = snprintf(out, room, "%.*s [", b.failed ? 0 : (int)b.size, b.data ? b.data : "");
    for (size_t k = 0; k < xir_type_rank(type) && n > 0 && (size_t)n < room; k++) {
        char dim[80];
        xir_type_dim_text(type, (int64_t)k, dim, sizeof dim);
        n += snprintf(out + n, room - (size_t)n, "%s%s", k ? "," : "", dim);
    }
    if (n > 0 && (size_t)n < room) snprintf(out + n, room - (size_t)n, "]");
    buffer_free(&b);
}

xir_status agree(xir_context *ctx, const xir_type *declared, const xir_type *actual, const xir_type **out,
                 sentence *why) {
    *out = actual;
    if (!xir_type_as_tensor(declared)) return XIR_OK;
    bool same_element = xir_type_equal(xir_type_element(declared), xir_type_element(actual));
    bool fits = xir_type_rank(declared) == xir_type_rank(actual);
    for (size_t k = 0; fits && k < xir_type_rank(declared); k++) {
        int64_t dim = xir_type_dim(declared, (int64_t)k, false);
        fits = dim < 0 || dim == xir_type_dim(actual, (int64_t)k, false);
    }
    if (!same_element || !fits) {
        char expected[200], found[200];
        print_type(declared, expected, sizeof expected);
        print_type(actual, found, sizeof found);
        snprintf(why->text, sizeof why->text, "expected %s, found an array of %s", expected, found);
        return same_element ? XIR_E_BOUNDS : XIR_E_TYPE;
    }
    *out = declared;
    if (!xir_type_has_unknown_dim(declared)) return XIR_OK;
    xir_i64s dims = xir_type_as_tensor(actual)->shape;
    *out = xir_type_tensor(ctx, xir_type_element(declared), xir_type_layout(declared), dims.data, dims.size);
    if (*out) return XIR_OK;
    snprintf(why->text, sizeof why->text, "out of memory for a type");
    return XIR_E_MEMORY;
}

/* ---- inference over actual types -------------------------------------------------------------------------------- */

/* A value that stands for one input of the run. */
typedef struct stand_in {
    xir_value  value, *it;     /* `it` is NULL for an absent input */
    value_more more;
    params     params;
} stand_in;

/* Flags of what inference sees in addition to the types. SEEN_BYTES: the bytes of arrays, for outputs that depend on
 * them. SEEN_AS_REALS: quantised elements as floating-point numbers, for ops that cannot infer a quantised type. The
 * network decides which inputs are constants, whatever the run provides. */
enum { SEEN_BYTES = 1, SEEN_AS_REALS = 2 };

static xir_status stand_ins(xir_kernel *at, int seen, stand_in *in, xir_value **values) {
    for (size_t i = 0; i < at->n_inputs; i++) {
        const kernel_input *input = &at->inputs[i];
        values[i] = NULL;
        if (!input->array) continue;
        in[i] = (stand_in){ .value = { .type = input->type }, .more = { .net = at->op->net } };
        in[i].value.from = value_from(&in[i].more);
        if (seen & SEEN_AS_REALS && xir_type_is_quantized(xir_type_element(input->type))) {
            in[i].value.type = xir_type_tensor(at->ctx, xir_type_expressed(input->type), xir_type_layout(input->type),
                                               xir_type_as_tensor(input->type)->shape.data, xir_type_rank(input->type));
            if (!in[i].value.type) return XIR_E_MEMORY;
        } else if (seen & SEEN_BYTES) {
            in[i].params.data = input->array->data;
            in[i].more.params = &in[i].params;
        }
        values[i] = &in[i].value;
    }
    return XIR_OK;
}

/* An inference of the op, with stand-ins for its inputs. */
enum { FEW_INPUTS = 4 };
typedef struct question {
    xir_infer  infer;
    stand_in   in[FEW_INPUTS];
    xir_value *values[FEW_INPUTS];
} question;

static xir_status ask(xir_kernel *at, int seen, question *q, xir_diags *why) {
    stand_in *in = q->in;
    xir_value **values = q->values;
    if (at->n_inputs > FEW_INPUTS) {
        in = xir_kernel_alloc(at, at->n_inputs, sizeof *in);
        values = xir_kernel_alloc(at, at->n_inputs, sizeof *values);
        if (!in || !values) return XIR_E_MEMORY;
    }
    xir_status status = stand_ins(at, seen, in, values);
    if (status) return status;
    infer_start(&q->infer, at->op->net, at->op->cls, at->op->attrs, op_target(at->op), values, at->n_inputs,
                name_text(op_label(at->op)), why);
    q->infer.pool = context_pool(at->ctx);
    q->infer.run = at->op;
    return XIR_OK;
}

/* Infers the types of the kernel's outputs. XIR_E_UNKNOWN: the class has no inference. */
static xir_status infer_outputs(xir_kernel *at, int seen, xir_diags *why) {
    question q;
    xir_status status = ask(at, seen, &q, why);
    if (status) return status;
    xir_infer *infer = &q.infer;
    char path[100] = "";
    if (why && op_is_in(at->op)) {
        op_path(at->op, path, sizeof path);
        infer->path = xir_str_of(path);
    }
    status = infer_run(infer);
    if (!status && infer->n_out != at->n_outputs) {
        status = op_fail(at->op, XIR_E_INVALID, why, "outputs",
                         "the op does not have as many outputs as inference gives");
    }
    for (size_t i = 0; !status && i < at->n_outputs; i++) at->outputs[i].type = infer->out[i];
    infer_end(infer);
    return status;
}

static bool has_unknown_output(const xir_kernel *at) {
    for (size_t i = 0; i < at->n_outputs; i++) {
        if (!at->outputs[i].type || xir_type_has_unknown_dim(at->outputs[i].type)) return true;
    }
    return false;
}

static xir_status infer_actual(xir_kernel *at, bool *inferred) {
    int seen = 0;
    *inferred = true;
    xir_status status = infer_outputs(at, seen, NULL);
    if (status == XIR_E_UNSUPPORTED) status = infer_outputs(at, seen = SEEN_AS_REALS, NULL);
    if (!status && has_unknown_output(at)) status = infer_outputs(at, seen |= SEEN_BYTES, NULL);
    if (status == XIR_E_UNKNOWN) {
        *inferred = false;
        return XIR_OK;
    }
    if (!status) return XIR_OK;
    if (status == XIR_E_MEMORY) return diag_memory(at->why);
    status = infer_outputs(at, seen, at->why);   // again, for the finding
    return status ? status : XIR_E_INVALID;
}

/* Combines an inferred type with the declared one: the dims must not contradict each other; the declared elements
 * win. */
static xir_status set_type(xir_kernel *at, size_t i, bool inferred) {
    kernel_output *out = &at->outputs[i];
    const xir_type *declared = op_outputs(at->op)[i].type;
    if (!inferred) out->type = declared;
    out->followed = inferred;
    if (!xir_type_as_tensor(declared) || !xir_type_as_tensor(out->type) || xir_type_equal(out->type, declared))
        return XIR_OK;
    size_t rank = xir_type_rank(out->type);
    bool fits = rank == xir_type_rank(declared);
    for (size_t k = 0; fits && k < rank; k++) {
        int64_t a = xir_type_dim(out->type, (int64_t)k, false), b = xir_type_dim(declared, (int64_t)k, false);
        fits = a < 0 || b < 0 || a == b;
    }
    if (!fits) {
        char expected[200], found[200], where[PORT_PATH];
        print_type(declared, expected, sizeof expected);
        print_type(out->type, found, sizeof found);
        return xir_kernel_fail(at, XIR_E_INVALID, port_path(where, "outputs", i),
                               "the network declares %s, inference gives %s", expected, found);
    }
    out->followed = xir_type_equal(xir_type_element(declared), xir_type_element(out->type));
    if (out->followed) return XIR_OK;
    xir_i64s dims = xir_type_as_tensor(out->type)->shape;
    out->type = xir_type_tensor(at->ctx, xir_type_element(declared), xir_type_layout(out->type), dims.data, dims.size);
    return out->type ? XIR_OK : diag_memory(at->why);
}

xir_status actual_types(xir_kernel *at) {
    bool inferred;
    xir_status status = infer_actual(at, &inferred);
    for (size_t i = 0; !status && i < at->n_outputs; i++) status = set_type(at, i, inferred);
    return status;
}

xir_status actual_work(xir_kernel *at, xir_work *out) {
    question q;
    xir_status status = ask(at, SEEN_BYTES, &q, NULL);
    if (status) return status;
    for (size_t i = 0; i < at->n_outputs && !status; i++) status = infer_see_output(&q.infer, at->outputs[i].type);
    if (!status) status = infer_work(&q.infer, out);
    infer_end(&q.infer);
    return status;
}

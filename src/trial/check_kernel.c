/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The kernel of a composed class against the parts: the op is copied into a network of its own, which runs as it is,
 * and again after the pass to-parts. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "sized.h"
#include "trying.h"

/* The two networks, their inputs and what they compute. */
typedef struct comparing {
    xir_network      *own, *parts;
    size_t            n_in, n_out;
    const xir_array **in;          /* of the networks                          */
    xir_array       **by_kernel, **by_parts;
} comparing;

static void *room(const xir_op *op, size_t n) {
    const xir_allocator *a = xir_context_allocator(xir_network_context(xir_op_network(op)));
    void *p = a->resize(a->user, NULL, 0, (n + 1) * sizeof(void *));
    return p ? memset(p, 0, (n + 1) * sizeof(void *)) : NULL;
}

static void give_back(const xir_op *op, void *p, size_t n) {
    const xir_allocator *a = xir_context_allocator(xir_network_context(xir_op_network(op)));
    if (p) a->resize(a->user, p, (n + 1) * sizeof(void *), 0);
}

/* The inputs of an outlined network are the values that enter it, each once, in the order of the op's inputs. */
static void gather_inputs(const xir_op *op, const xir_array *const *inputs, size_t n, comparing *j) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        bool seen = !v || xir_value_is_params(v);
        for (size_t k = 0; k < i && !seen; k++) seen = xir_op_input(op, (int64_t)k) == v;
        if (!seen) j->in[j->n_in++] = i < n ? inputs[i] : NULL;
    }
}

/* Findings of a network become those of the caller. */
static xir_status refused(xir_network *net, xir_diags *why) {
    const xir_status status = xir_network_status(net);
    if (status == XIR_E_MEMORY || !status) return no_memory(why);
    const xir_diag *d = xir_diags_at(xir_network_diags(net), 0);
    if (d) xir_diags_append(why, d);
    return status;
}

static xir_status begin(const xir_op *op, const xir_array *const *inputs, size_t n, comparing *j, xir_diags *why) {
    xir_op *self = (xir_op *)(uintptr_t)op;
    j->in = room(op, xir_op_input_count(op));
    j->n_out = xir_op_output_count(op);
    j->by_kernel = room(op, j->n_out);
    j->by_parts = room(op, j->n_out);
    if (!j->in || !j->by_kernel || !j->by_parts) return no_memory(why);
    xir_network *net = xir_op_network(op);
    j->own = xir_outline_network(net, &self, 1);
    if (!j->own) return refused(net, why);
    gather_inputs(op, inputs, n, j);
    j->parts = xir_network_clone(j->own);
    return j->parts ? XIR_OK : no_memory(why);
}

static void end(const xir_op *op, comparing *j) {
    for (size_t i = 0; i < j->n_out && j->by_kernel; i++) xir_array_free(j->by_kernel[i]);
    for (size_t i = 0; i < j->n_out && j->by_parts; i++) xir_array_free(j->by_parts[i]);
    xir_network_free(j->own);
    xir_network_free(j->parts);
    give_back(op, (void *)j->in, xir_op_input_count(op));
    give_back(op, (void *)j->by_kernel, j->n_out);
    give_back(op, (void *)j->by_parts, j->n_out);
}

/* Puts the parts into the place of the op. */
static xir_status write_out(const xir_op *op, comparing *j, xir_diags *why) {
    size_t changes = 0;
    const xir_status status = xir_pass_run(j->parts, "to-parts", NULL, &changes, why);
    if (status || changes) return status;
    return xir_diags_add(why, XIR_ERROR, XIR_E_TYPE, XIR_STR(""), XIR_PRI ": its results do not have the types of "
                         "those of its parts", XIR_ARG(xir_class_key(xir_op_class(op))));
}

static xir_status compare_output(const xir_op *op, const comparing *j, size_t i, xir_kernel_check *out,
                                 xir_diags *why) {
    xir_difference d;
    const xir_str key = xir_class_key(xir_op_class(op));
    const xir_status status = xir_array_compare(j->by_kernel[i], j->by_parts[i], out->within, out->within, &d);
    if (status) return xir_diags_add(why, XIR_ERROR, status, XIR_STR(""), "the results cannot be compared");
    if (!d.same_shape)
        return xir_diags_add(why, XIR_ERROR, XIR_E_TYPE, XIR_STR(""), XIR_PRI ": output %zu has other dims than that "
                             "of its parts", XIR_ARG(key), i);
    out->elements += xir_array_count(j->by_kernel[i]);
    out->differ += d.count;
    if (d.largest > out->largest) out->largest = d.largest;
    if (!d.count) return XIR_OK;
    return xir_diags_add(why, XIR_ERROR, XIR_E_INVALID, XIR_STR(""), XIR_PRI ": element %zu of output %zu is %.9g, "
                         "expected %.9g as its parts compute it, within %g: %zu of %zu elements differ", XIR_ARG(key),
                         d.first, i, d.a, d.b, out->within, d.count, xir_array_count(j->by_kernel[i]));
}

static xir_status run_both(const xir_op *op, comparing *j, xir_kernel_check *out, xir_diags *why) {
    xir_status status = write_out(op, j, why);
    if (!status) status = xir_network_run(j->own, j->in, j->n_in, j->by_kernel, j->n_out, NULL, why);
    if (!status) status = xir_network_run(j->parts, j->in, j->n_in, j->by_parts, j->n_out, NULL, why);
    if (status) return status;
    for (size_t i = 0; i < j->n_out; i++) {
        const xir_status one = compare_output(op, j, i, out, why);
        if (!status) status = one;
    }
    return status;
}

#define RESULT SIZED(xir_kernel_check, largest)

xir_status xir_op_check_kernel(const xir_op *op, const xir_array *const *inputs, size_t n_inputs,
                               xir_kernel_check *out, xir_diags *why) {
    xir_kernel_check own = XIR_INIT(xir_kernel_check);
    if (!op || (!inputs && n_inputs))
        return xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, XIR_STR(""), "%s is NULL", op ? "inputs" : "op");
    if (out && sized_check(RESULT, out, why)) return XIR_E_ABI;
    if (!xir_class_is_composed(xir_op_class(op), &own.within))
        return xir_diags_add(why, XIR_ERROR, XIR_E_UNSUPPORTED, XIR_STR(""), XIR_PRI " is not composed",
                             XIR_ARG(xir_class_key(xir_op_class(op))));
    comparing j = { 0 };
    xir_status status = begin(op, inputs, n_inputs, &j, why);
    if (!status) status = run_both(op, &j, &own, why);
    end(op, &j);
    if (out) (void)sized_fill(RESULT, out, &own, why);   // its size has been checked
    return status;
}

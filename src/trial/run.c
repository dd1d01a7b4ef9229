/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Kernels: a legal op is computed, and again, and compared with the parts that it is composed of. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "trying.h"

enum { MOST_ELEMENTS = 4096 };

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* The ranges of the inputs of the network are in the order in which the op has them. */
static void find_ranges(const made *m, arrays *a) {
    xir_numbers ranges[MOST_INPUTS];
    size_t k = 0;
    for (size_t i = 0; i < MOST_INPUTS; i++) a->range[i] = ranges[i] = xir_numbers_any();
    if (xir_network_input_numbers(m->net, ranges, MOST_INPUTS, NULL)) return;
    for (size_t i = 0; i < a->n_in; i++) {
        const xir_value *v = xir_op_input(m->op, (int64_t)i);
        if (v && !xir_value_is_params(v)) a->range[i] = ranges[k++];
    }
}

static bool is_small(const xir_type *type) {
    int64_t n;
    return xir_type_elements(type, &n) == XIR_OK && n <= MOST_ELEMENTS;
}

bool trial_inputs(trying *t, const made *m, uint64_t seed, arrays *a) {
    *a = (arrays){ .n_in = xir_op_input_count(m->op), .n_out = xir_op_output_count(m->op) };
    bool good = a->n_in <= MOST_INPUTS && a->n_out <= MOST_OUTPUTS;
    if (good) find_ranges(m, a);
    for (size_t i = 0; i < a->n_out && good; i++) good = is_small(xir_value_type(xir_op_output(m->op, (int64_t)i)));
    for (size_t i = 0; i < a->n_in && good; i++) {
        const xir_value *v = xir_op_input(m->op, (int64_t)i);
        if (!v || xir_value_is_params(v)) continue;
        a->in[i] = is_small(xir_value_type(v))
                       ? xir_array_random_in(t->ctx, xir_value_type(v), seed + i, &a->range[i], NULL) : NULL;
        good = a->in[i];
    }
    return good;
}

xir_status trial_run(const made *m, arrays *a, xir_diags *why) {
    return xir_op_run(m->op, (const xir_array *const *)a->in, a->n_in, a->out, a->n_out, NULL, why);
}

void trial_free_outputs(arrays *a) {
    for (size_t i = 0; i < a->n_out && i < MOST_OUTPUTS; i++) {
        xir_array_free(a->out[i]);
        a->out[i] = NULL;
    }
}

void trial_free(arrays *a) {
    trial_free_outputs(a);
    for (size_t i = 0; i < MOST_INPUTS; i++) xir_array_free(a->in[i]);
}

bool trial_same_array(const xir_array *a, const xir_array *b) {
    size_t n, m;
    const void *x = xir_array_data(a, &n), *y = xir_array_data(b, &m);
    return n == m && (n == 0 || memcmp(x, y, n) == 0);
}

static xir_type_kind kind_of(const xir_array *a) { return xir_type_kind_of(xir_type_element(xir_array_type(a))); }

bool trial_can_set(const xir_array *a) {
    const uint64_t bits = xir_type_storage_bits(xir_type_element(xir_array_type(a)));
    if (kind_of(a) == XIR_TYPE_FLOAT) return bits == 64 || bits == 32;
    return (kind_of(a) == XIR_TYPE_INTEGER || kind_of(a) == XIR_TYPE_BOOL) && bits % 8 == 0 && bits <= 64;
}

void trial_set(xir_array *a, size_t i, double v) {
    const size_t bytes = (size_t)xir_type_storage_bits(xir_type_element(xir_array_type(a))) / 8;
    char *at = (char *)xir_array_edit(a) + i * bytes;
    const float single = (float)v;
    const int64_t whole = (int64_t)v;
    if (kind_of(a) != XIR_TYPE_FLOAT) memcpy(at, &whole, bytes);
    else if (bytes == sizeof v) memcpy(at, &v, sizeof v);
    else memcpy(at, &single, sizeof single);
}

/* ---- once, and again --------------------------------------------------------------------------------------------- */

/* Copies of the inputs, to see whether a kernel changes them. */
static bool keep_inputs(trying *t, const arrays *a, xir_array **kept) {
    for (size_t i = 0; i < a->n_in; i++) {
        size_t size;
        if (!a->in[i]) continue;
        const void *bytes = xir_array_data(a->in[i], &size);
        if (!(kept[i] = xir_array_copy(t->ctx, xir_array_type(a->in[i]), bytes, size, NULL))) return false;
    }
    return true;
}

static void compare_inputs(trying *t, const arrays *a, xir_array *const *kept) {
    for (size_t i = 0; i < a->n_in; i++)
        if (kept[i] && !trial_same_array(a->in[i], kept[i]))
            trial_fault(t, FAULT_KERNEL_CHANGES, "its kernel changes input %zu of %s: it only reads", i, t->line);
}

/* TAKES rows are about variable inputs: a constant may be one that the kernel refuses. */
static bool has_constants(const made *m) {
    for (size_t i = 0; i < xir_op_input_count(m->op); i++) {
        const xir_value *v = xir_op_input(m->op, (int64_t)i);
        if (v && xir_value_is_params(v)) return true;
    }
    return false;
}

static void say_failure(trying *t, const made *m, xir_status status, const xir_diags *found) {
    const xir_diag *d = trial_first(found);
    char ranges[200] = "all numbers";
    xir_numbers range[MOST_INPUTS];
    for (size_t i = 0; i < MOST_INPUTS; i++) range[i] = xir_numbers_any();
    (void)xir_network_input_numbers(m->net, range, MOST_INPUTS, NULL);
    for (size_t i = 0; i < MOST_INPUTS; i++)
        if (range[i].low > -INFINITY || range[i].high < INFINITY)
            snprintf(ranges, sizeof ranges, "numbers from %g to %g for input %zu of the network", range[i].low,
                     range[i].high, i);
    trial_fault(t, FAULT_KERNEL_FAILS, "its kernel fails (%s) for %s, although the op is legal and TAKES allows %s: "
                "%.*s", xir_status_name(status), t->line, ranges, d ? xir_str_shown_(d->message.size) : 0,
                d ? d->message.data : "");
}

/* An element that differs, to be shown. */
static void say_difference(trying *t, const xir_array *a, const xir_array *b, size_t output) {
    for (size_t i = 0; i < xir_array_count(a) && i < xir_array_count(b); i++) {
        const double x = xir_array_real(a, i), y = xir_array_real(b, i);
        if (x == y || (x != x && y != y)) continue;
        trial_fault(t, FAULT_KERNEL_PURE, "its kernel is not pure: element %zu of output %zu of %s is %g, and %g when it "
                    "is computed again: it keeps a state, or does not write all elements", i, output, t->line, x, y);
        return;
    }
}

static void run_again(trying *t, const made *m, const arrays *first) {
    arrays again = *first;
    memset((void *)again.out, 0, sizeof again.out);
    for (int k = 0; k < 2; k++) {
        t->memory.fill = k ? 0x11 : 0xee;
        if (trial_run(m, &again, NULL) == XIR_OK)
            for (size_t i = 0; i < again.n_out; i++)
                if (!trial_same_array(first->out[i], again.out[i]))
                    say_difference(t, first->out[i], again.out[i], i);
        trial_free_outputs(&again);
    }
}

/* ---- the parts --------------------------------------------------------------------------------------------------- */

/* Numbers of fewer bits are rounded between the parts. */
static bool is_exact_enough(const arrays *a) {
    for (size_t i = 0; i < a->n_out; i++)
        if (kind_of(a->out[i]) == XIR_TYPE_FLOAT && !trial_can_set(a->out[i])) return false;
    for (size_t i = 0; i < a->n_in; i++)
        if (a->in[i] && kind_of(a->in[i]) == XIR_TYPE_FLOAT && !trial_can_set(a->in[i])) return false;
    return true;
}

static void compare_parts(trying *t, const made *m, const arrays *a) {
    xir_diags *found = xir_diags_new(t->ctx);
    const xir_status status = xir_op_check_kernel(m->op, (const xir_array *const *)a->in, a->n_in, NULL, found);
    const xir_diag *d = trial_first(found);
    if (status == XIR_E_TYPE)
        trial_fault(t, FAULT_PARTS, "INFER differs from the parts for %s: %.*s", t->line,
                    d ? xir_str_shown_(d->message.size) : 0, d ? d->message.data : "");
    else if (status == XIR_E_INVALID)
        trial_fault(t, FAULT_DIFFERS, "its kernel differs from the parts for %s: %.*s", t->line,
                    d ? xir_str_shown_(d->message.size) : 0, d ? d->message.data : "");
    else if (status && status != XIR_E_MEMORY)
        trial_fault(t, FAULT_PARTS, "%s is legal, but its parts are refused (%s): %.*s", t->line,
                    xir_status_name(status), d ? xir_str_shown_(d->message.size) : 0, d ? d->message.data : "");
    xir_diags_free(found);
}

void trial_kernel(trying *t, const drawn *d, const made *m) {
    xir_array *kept[MOST_INPUTS] = { NULL };
    xir_diags *found = xir_diags_new(t->ctx);
    arrays a;
    trial_step(t, "its kernel");
    (void)trial_memory_is_spoiled(&t->memory);
    if (xir_op_can_run(m->op) && trial_inputs(t, m, d->seed, &a) && keep_inputs(t, &a, kept)) {
        const xir_status status = trial_run(m, &a, found);
        if (!status) {
            t->done.runs++;
            compare_inputs(t, &a, kept);
            run_again(t, m, &a);
            if (xir_class_is_composed(t->cls, NULL) && is_exact_enough(&a)) compare_parts(t, m, &a);
        } else if (status != XIR_E_UNSUPPORTED && status != XIR_E_MEMORY && !has_constants(m)) {
            say_failure(t, m, status, found);
        }
    }
    if (xir_op_can_run(m->op)) trial_free(&a);
    for (size_t i = 0; i < MOST_INPUTS; i++) xir_array_free(kept[i]);
    if (trial_memory_is_spoiled(&t->memory))
        trial_fault(t, FAULT_KERNEL_BEYOND, "its kernel writes past the end of its memory for %s", t->line);
    xir_diags_free(found);
}

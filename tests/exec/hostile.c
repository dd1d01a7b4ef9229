/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Every op that has a kernel, with random inputs, attributes and output types, as in a hostile file, and random bits
 * as elements. A run must do no harm, need little time and memory, and either return arrays of the declared types or
 * report what is wrong. */
#include <stdio.h>
#include "support/again.h"
#include "support/bounded.h"
#include "support/hostile.h"
#include "support/op_case.h"
#include "support/often.h"

enum { TRIALS = OFTEN(300000), A_POOL = 400, MOST_OPS = 400, MOST_HERE = 16, MOST_ELEMENTS = 4096,
       MOST_CALLS = 1000, MOST_ASKED = 256 << 20 };

/* ---- arrays ----------------------------------------------------------------------------------------------------- */

/* Random bits for a type; small numbers are often a valid index or dim. */
static void fill(uint8_t *bytes, size_t size) {
    bool small = once_in(2);
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(small ? (i % 4 ? 0 : chance(4)) : chance(256));
}

/* An array for a value, of a similar type; NULL if the value has no type or is too large. */
static xir_array *some_array(const xir_value *value) {
    const xir_tensor_type *tensor = xir_type_as_tensor(xir_value_type(value));
    int64_t dims[16], n = 0;
    size_t size = 0;
    if (!tensor || tensor->shape.size > COUNT(dims)) return NULL;
    for (size_t k = 0; k < tensor->shape.size; k++)
        dims[k] = tensor->shape.data[k] < 0 ? (int64_t)chance(4) : tensor->shape.data[k];
    const xir_type *type = tensor->element_dtype
        ? xir_type_tensor(ctx, tensor->element_dtype, NULL, dims, tensor->shape.size) : NULL;
    if (!type || xir_type_elements(type, &n) || n > MOST_ELEMENTS) return NULL;
    xir_array *array = xir_array_new(ctx, type, NULL);
    if (array && xir_array_data(array, &size)) fill(xir_array_edit(array), size);
    return array;
}

/* Most Params of the pool get bytes. */
static void fill_params(pool *p) {
    for (size_t i = 0; i < POOL_PARAMS; i++) {
        uint8_t bytes[1 << 12];
        uint64_t size = 0;
        const xir_type *type = xir_value_type(p->params[i]);
        if (!xir_type_as_tensor(type) || xir_type_bytes(type, &size) || size > sizeof bytes || once_in(8)) continue;
        fill(bytes, (size_t)size);
        (void)xir_params_set_copy(p->params[i], bytes, (size_t)size);
    }
}

/* ---- a trial ---------------------------------------------------------------------------------------------------- */

static size_t n_run, n_refused;

/* An op as a reader creates it, unchecked. */
static xir_op *bring_in(pool *p, const xir_class *cls, void *body, xir_value **inputs, size_t n_inputs) {
    const xir_type *types[MOST_HERE] = { NULL };
    size_t n = cls->many_outputs ? chance(MOST_HERE) : cls->more->n_outputs;
    body_fill_presets(cls, body);
    const void *attrs = net_attrs(p->net, cls, body);
    xir_op *op = attrs ? op_make(p->net, cls, attrs, n_inputs) : NULL;
    bool wild = once_in(3);
    for (size_t i = 0; i < n && wild; i++) types[i] = xir_value_type(p->values[chance(POOL_VALUES)]);
    if (!op || !op_make_outputs(op, types, n)) abort();
    op_set_label(op, net_name(p->net, XIR_STR("op")));
    for (size_t i = 0; i < n_inputs; i++) use_link(&op_inputs(op)[i], op, inputs[i]);
    if (!wild && once_in(2)) (void)xir_op_infer(op, true);
    xir_network_clear_status(p->net);
    return op;
}

static void check_run(const xir_op *op, xir_status status, xir_array *const *out) {
    const char *key = op->cls->key.data;
    if (bounded.calls > MOST_CALLS) fail_msg("%s asked for memory %zu times", key, bounded.calls);
    if (bounded.bytes > MOST_ASKED) fail_msg("%s asked for %zu bytes in all", key, bounded.bytes);
    if (status && !xir_diags_count(why)) fail_msg("%s: %s without a finding", key, xir_status_name(status));
    for (size_t i = 0; i < op->n_outputs; i++) {
        if ((out[i] == NULL) != (status != XIR_OK))
            fail_msg("%s: %s, and output %zu is %s", key, xir_status_name(status), i, out[i] ? "there" : "not there");
        if (!out[i]) continue;
        uint64_t bytes = 0;
        size_t size;
        (void)xir_array_data(out[i], &size);
        if (xir_type_bytes(xir_array_type(out[i]), &bytes) || bytes != size)
            fail_msg("%s: an output of %zu bytes", key, size);
    }
    if (status == XIR_OK) n_run++;
    else n_refused++;
}

static void try_op(pool *p, const xir_class *cls) {
    bool wild = once_in(3), sound = true;
    void *body = pool_body(p, cls, wild);
    xir_value *inputs[MOST_HERE];
    const xir_array *arrays[MOST_HERE];
    xir_array *out[MOST_HERE] = { NULL };
    size_t n = cls->many_inputs ? chance(4) : cls->more->n_inputs;
    if (wild && once_in(4)) n = chance(6);
    bool all = true;
    for (size_t i = 0; i < n; i++) {
        inputs[i] = pool_value(p, &sound);
        arrays[i] = inputs[i] ? some_array(inputs[i]) : NULL;
        all = all && (arrays[i] || !inputs[i]);
    }
    xir_op *op = all ? bring_in(p, cls, body, inputs, n) : NULL;
    if (op && op->n_outputs <= MOST_HERE) {
        xir_diags_clear(why);
        bounded_start();
        xir_status status = xir_op_run(op, arrays, n, out, op->n_outputs, NULL, why);
        check_run(op, status, out);
        for (size_t i = 0; i < op->n_outputs; i++) xir_array_free(out[i]);
    }
    if (op) op_forget(op);
    for (size_t i = 0; i < n; i++) xir_array_free((xir_array *)(uintptr_t)arrays[i]);
}

static void nothing_does_harm(void **state) {
    (void)state;
    const xir_class *classes[MOST_OPS], *cls;
    size_t n = 0;
    for (size_t i = 0; (cls = xir_context_class_at(ctx, i)); i++) {
        if (xir_class_is_op(cls) && class_kernel(cls) && n < MOST_OPS) classes[n++] = cls;
    }
    pool p;
    size_t ran[MOST_OPS] = { 0 }, never = 0;
    const char *times = getenv("XIR_OPS_TRIALS"), *course = getenv("XIR_OPS_COURSE");   /* for debugging */
    size_t trials = times ? (size_t)atol(times) : again_cases(TRIALS);
    for (long i = course ? atol(course) : 0; i > 0; i--) chance(2);
    for (size_t trial = 0; trial < trials; trial++) {
        if (trial % A_POOL == 0) {
            if (trial) pool_end(&p);
            pool_begin(&p);
            fill_params(&p);
        }
        size_t which = chance(n), before = n_run;
        for (int more = trial % 2 ? 3 : 0; more > 0; more--) {   /* ops that are rarely valid are tried more often */
            size_t other = chance(n);
            if (ran[other] < ran[which]) which = other;
        }
        try_op(&p, classes[which]);
        ran[which] += n_run - before;
    }
    pool_end(&p);
    printf("%zu ops run, %zu refused\n", n_run, n_refused);
    for (size_t i = 0; i < n; i++) {
        if (!ran[i]) printf("never run: %s\n", classes[i]->key.data), never++;
    }
    if (!times && never > n / 5) fail_msg("%zu of %zu ops never ran", never, n);
}

/* ---- changed cases ---------------------------------------------------------------------------------------------- */

/* The input arrays of a case, one of them with another shape. */
static bool case_arrays(op_case *c, size_t other, xir_array **out) {
    for (size_t i = 0, k = 0; i < c->n_inputs; i++) {
        if (!c->is_arg[i]) continue;
        const xir_value *given = c->given[k++];
        if (i != other) {
            out[i] = given ? xir_array_from_params(given, NULL) : NULL;
            if (!out[i]) return false;
            continue;
        }
        const xir_tensor_type *type = xir_type_as_tensor(xir_value_type(c->inputs[i]));
        int64_t dims[16];
        size_t rank = type->shape.size, size;
        if (rank == 0 || rank > COUNT(dims)) return false;
        memcpy(dims, type->shape.data, rank * sizeof *dims);
        dims[chance(rank)] = (int64_t)chance(5);
        const xir_type *changed = xir_type_tensor(ctx, type->element_dtype, once_in(2) ? type->layout : NULL,
                                                  dims, rank);
        DOES(xir_value_set_type(c->inputs[i], changed));
        out[i] = xir_array_new(ctx, changed, NULL);
        if (!out[i]) return false;
        if (xir_array_data(out[i], &size)) fill(xir_array_edit(out[i]), size);
    }
    return true;
}

static void run_changed(op_case *c, void *body, size_t other) {
    xir_array *arrays[MOST_INPUTS] = { NULL }, *out[MOST_OUTPUTS] = { NULL };
    const xir_type *before = xir_value_type(c->inputs[other]);
    if (case_arrays(c, other, arrays)) {
        xir_op *op = op_case_bring_in(c, body);
        for (size_t i = 0; i < op->n_outputs; i++) DOES(xir_value_set_type(&op_outputs(op)[i], NULL));
        xir_diags_clear(why);
        bounded_start();
        xir_status status = xir_op_run(op, (const xir_array *const *)arrays, op->n_inputs, out, op->n_outputs, NULL,
                                       why);
        check_run(op, status, out);
        for (size_t i = 0; i < op->n_outputs; i++) xir_array_free(out[i]);
        DOES(xir_op_erase(op));
    }
    DOES(xir_value_set_type(c->inputs[other], before));
    for (size_t i = 0; i < c->n_inputs; i++) xir_array_free(arrays[i]);
}

static void change_case(const char *text, const char *file, int line, op_counts *counts) {
    op_case c;
    if (!again_takes()) return;
    if (!op_case_begin(&c, text, file, line, counts)) fail_msg("%s:%d: %s", file, line, c.t.fault);
    for (size_t i = 0; i < c.n_inputs && !c.bad; i++) {
        for (int n = 0; n < OFTEN(40) && c.is_arg[i]; n++) run_changed(&c, c.body, i);
    }
    op_case_end(&c);
}

/* The cases of the tables, with an input of another shape. */
static void shapes_do_none(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    char **names = op_tables("exec");
    n_run = n_refused = 0;
    for (char **name = names; *name; name++) {
        op_cases_each(op_table_path("exec", *name), change_case, &counts);
        free(*name);
    }
    free(names);
    printf("%zu changed ops run, %zu refused\n", n_run, n_refused);
    assert_true(n_run > 1000 && n_refused > 1000);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_does_harm), cmocka_unit_test(shapes_do_none) };
    return _cmocka_run_group_tests("exec_hostile", tests, COUNT(tests), bounded_begin, bounded_end);
}

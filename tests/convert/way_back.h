/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way to a format and back, for each case of the executor's tables (tests/exec) and of a table of the format: the
 * op of the case is a network of XIR. A test converts it, and compares; here is what such tests share. */
#ifndef TEST_CONVERT_WAY_BACK_H
#define TEST_CONVERT_WAY_BACK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/exec.h>
#include <xir/serialize.h>
#include "support/exec_case.h"
#include "support/kept.h"

enum { WAY_CLASSES = 256, WAY_REASON = 300 };

/* ---- findings --------------------------------------------------------------------------------------------------- */

static inline const char *way_first_message(void) {
    static char text[WAY_REASON];
    const xir_diag *d = xir_diags_at(why, 0);
    snprintf(text, sizeof text, "%.*s", d ? (int)(d->message.size < 280 ? d->message.size : 280) : 0, d
             ? d->message.data : "");
    return text;
}

/* Returns true if all ops are the format's, or (`foreign` false) XIR's. */
static inline bool way_is_whole(const xir_network *net, bool foreign) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const bool ends = xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class());
        if (!ends && xir_class_is_opaque(xir_op_class(op)) != foreign) return false;
    }
    return true;
}

/* ---- classes ---------------------------------------------------------------------------------------------------- */

/* The counts of a test for a class, in two columns of its own meaning, and the first message or case for each. */
typedef struct way_class {
    char   name[64];
    size_t count[2];
    char   reason[2][WAY_REASON];
} way_class;

static way_class way_classes[WAY_CLASSES];
static size_t    way_n_classes;

static inline way_class *way_class_of(const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    size_t from = key.size, i = 0;
    while (from > 0 && key.data[from - 1] != ':') from--;
    const xir_str name = { key.data + from, key.size - from };
    while (i < way_n_classes && !xir_str_equal(name, xir_str_of(way_classes[i].name))) i++;
    if (i == way_n_classes) {
        assert_true(way_n_classes < WAY_CLASSES && name.size < sizeof way_classes->name);
        memcpy(way_classes[way_n_classes++].name, name.data, name.size);
    }
    return &way_classes[i];
}

static inline void way_reason(way_class *t, size_t column, const char *text) {
    if (!*t->reason[column]) snprintf(t->reason[column], sizeof t->reason[column], "%.220s", text);
}

/* Prints a line for each class if the environment variable is set; counts the classes that a column has. */
static inline void way_summary(const char *variable, size_t totals[2]) {
    totals[0] = totals[1] = 0;
    for (const way_class *t = way_classes; t < way_classes + way_n_classes; t++) {
        totals[0] += t->count[0] > 0;
        totals[1] += t->count[1] > 0;
        if (getenv(variable))
            printf("%-20s %3zu %3zu  %s | %s\n", t->name, t->count[0], t->count[1], t->reason[0], t->reason[1]);
    }
}

static inline int way_by_name(const void *a, const void *b) {
    return strcmp(((const way_class *)a)->name, ((const way_class *)b)->name);
}

static inline void way_sort(void) { qsort(way_classes, way_n_classes, sizeof *way_classes, way_by_name); }

/* Prints the names of those that a test takes. */
static inline void way_list(FILE *out, bool (*takes)(const way_class *t)) {
    size_t n = 0;
    for (const way_class *t = way_classes; t < way_classes + way_n_classes; t++)
        if (takes(t)) fprintf(out, "%s%s", n++ ? ", " : "", t->name);
}

/* ---- cases ------------------------------------------------------------------------------------------------------ */

typedef struct way_case {
    op_case     c;
    xir_array  *in[MOST_INPUTS];
    xir_op     *op;          /* NULL: the case has no network */
    const char *how;         /* for messages                  */
} way_case;

/* `constants`: all inputs but the first are Params. */
static inline void way_case_begin(way_case *w, const char *text, const char *file, int line, op_counts *counts,
                                  bool constants) {
    op_case *c = &w->c;
    xir_value *outputs[MOST_OUTPUTS];
    memset((void *)w->in, 0, sizeof w->in);
    w->how = constants ? ", with constants" : "";
    assert_true(op_case_begin(c, text, file, line, counts));
    for (size_t i = 0, n = 0; i < c->n_inputs && !c->bad; i++) {
        if (!c->is_arg[i]) continue;
        w->in[n] = xir_array_from_params(c->given[n], why);
        if (constants && i) c->inputs[i] = c->given[n];
        n++;
    }
    w->op = c->bad ? NULL : op_case_add(c);
    xir_network_clear_status(c->net);
    for (size_t i = 0; w->op && i < c->n_outputs; i++) outputs[i] = xir_op_output(w->op, (int64_t)i);
    if (w->op) assert_non_null(xir_output(xir_at_end(c->net), (xir_values){ outputs, c->n_outputs }));
}

static inline void way_case_end(way_case *w) {
    for (size_t i = 0; i < w->c.n_args; i++) xir_array_free(w->in[i]);
    op_case_end(&w->c);
}

/* Converts an input or a result to the numbers that a format has; NULL: as they are. */
typedef xir_array *way_input(const xir_array *a, const xir_value *input);
typedef xir_array *way_result(const xir_array *a);

/* Quantised arrays as the integers that they store, for formats whose networks have these at their ends. */
static inline xir_array *way_stored(const xir_array *a) {
    size_t size;
    const xir_type *type = xir_array_type(a);
    if (xir_type_kind_of(xir_type_element(type)) != XIR_TYPE_QUANTIZED)
        return xir_array_retain((xir_array *)(uintptr_t)a);
    const void *data = xir_array_data(a, &size);
    const xir_type *stored = xir_type_with_element(ctx, type, xir_type_storage(type), why);
    assert_non_null(stored);
    return xir_array_copy(ctx, stored, data, size, why);
}
static inline xir_array *way_input_stored(const xir_array *a, const xir_value *input) {
    const bool same = xir_type_equal(xir_type_element(xir_array_type(a)), xir_type_element(xir_value_type(input)));
    return same ? xir_array_retain((xir_array *)(uintptr_t)a) : way_stored(a);
}

/* Returns the position of the input with this name, SIZE_MAX if no input has it. */
static inline size_t way_input_named(const xir_network *net, xir_str name) {
    const xir_op *inputs = xir_network_input_op(net);
    for (size_t i = 0; i < xir_op_output_count(inputs); i++)
        if (xir_str_equal(xir_value_name(xir_op_output(inputs, (int64_t)i)), name)) return i;
    return SIZE_MAX;
}

/* The network of the case and this one compute the same, within 1e-5. With `from`, inputs are those of the same name
 * there; a format may lack some that nothing uses. */
static inline void way_compute(op_case *c, const xir_network *from, const xir_network *net, xir_array **in,
                               way_input *as_input, way_result *as_result, const char *how) {
    xir_array *out[MOST_OUTPUTS] = { NULL }, *expected[MOST_OUTPUTS] = { NULL }, *args[MOST_INPUTS] = { NULL };
    xir_difference d;
    xir_diags_clear(why);
    const xir_array *const *own = (const xir_array *const *)in;
    assert_int_equal(xir_network_run(c->net, own, c->n_args, expected, c->n_outputs, NULL, why), XIR_OK);
    const xir_op *inputs = xir_network_input_op(net);
    const size_t n = from ? xir_op_output_count(inputs) : c->n_args;
    for (size_t i = 0; i < n; i++) {
        const xir_value *v = xir_op_output(inputs, (int64_t)i);
        const size_t k = from ? way_input_named(from, xir_value_name(v)) : i;
        assert_true(k < c->n_args);
        args[i] = as_input ? as_input(in[k], v) : in[k];
    }
    const xir_status status = xir_network_run(net, (const xir_array *const *)args, n, out, c->n_outputs, NULL, why);
    if (status) op_case_fail(c, "results", "%s%s", way_first_message(), how);
    for (size_t i = 0; i < c->n_outputs; i++) {
        xir_array *there = as_result ? as_result(expected[i]) : expected[i];
        const bool near = status || (xir_array_compare(out[i], there, 1e-5, 1e-5, &d) == XIR_OK && d.same_shape &&
                                     !d.count);
        if (!near) op_case_fail(c, "the same results", "element %zu: %g, not %g%s", d.first, d.a, d.b, how);
        if (as_result) xir_array_free(there);
        xir_array_free(expected[i]);
        xir_array_free(out[i]);
    }
    for (size_t i = 0; i < n && as_input; i++) xir_array_free(args[i]);
}

/* The network as a file of this format has it, in which `check`, unless it is NULL, finds no fault; NULL if it does. */
static inline xir_network *way_through_file(xir_network *net, const char *format,
                                            xir_status (*check)(const xir_network *, xir_diags *)) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = format);
    buffer file;
    xir_network *again = NULL;
    buffer_init(&file, &memory_default);
    if (!xir_network_write(net, keep, &file, &options, why))
        again = xir_network_read(ctx, file.data, file.size, xir_str_of(format),
                                 &XIR_INIT(xir_load_options, .format = format), why);
    buffer_free(&file);
    if (again && (!check || !check(again, why))) return again;
    xir_network_free(again);
    return NULL;
}

/* Calls `each` for every case of the executor's tables, and of the table at this path under tests/. */
static inline void way_each(const char *own, void (*each)(const char *, const char *, int, op_counts *),
                            op_counts *counts) {
    char **names = op_tables("exec"), path[300];
    for (char **name = names; *name; name++) {
        op_cases_each(op_table_path("exec", *name), each, counts);
        free(*name);
    }
    free(names);
    snprintf(path, sizeof path, XIR_TEST_DATA "/%s", own);
    op_cases_each(path, each, counts);
}

#endif

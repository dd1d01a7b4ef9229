/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/op_list.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "context.h"

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* MaxPool2d for "icraft::xir::MaxPool2d". */
static void put_class(FILE *out, xir_str key) {
    static const char *const own[] = { "icraft::xir::", "xir::" };
    for (size_t i = 0; i < COUNT(own); i++) {
        size_t n = strlen(own[i]);
        if (key.size <= n || memcmp(key.data, own[i], n) != 0) continue;
        key = (xir_str){ key.data + n, key.size - n };
        break;
    }
    fprintf(out, "%.*s", (int)key.size, key.data);
}

static void put_value(FILE *out, const xir_value *v) {
    if (!v) {
        fputc('-', out);
        return;
    }
    xir_str text = xir_value_name(v);
    if (text.size) fprintf(out, "%.*s", (int)text.size, text.data);
    else fprintf(out, "%c%" PRId64, xir_value_is_params(v) ? '#' : '%', xir_value_id(v));
}

static void put_type(FILE *out, const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    if (!tensor) {
        fprintf(out, ":%s", type ? spelled(type) : "?");
        return;
    }
    const bool has_form = !xir_type_is_quantized(tensor->element_dtype);
    const char *element = has_form ? spelled(tensor->element_dtype) : "quantised";
    fputc(':', out);
    for (const char *c = element; *c; c++) {   /* fp32 for "@fp(32)" */
        if (!strchr("@()", *c)) fputc(*c, out);
    }
    fputc('[', out);
    for (size_t i = 0; i < tensor->shape.size; i++) {
        if (tensor->shape.data[i] < 0) fputs(i ? ",?" : "?", out);
        else fprintf(out, i ? ",%" PRId64 : "%" PRId64, tensor->shape.data[i]);
    }
    xir_str layout = xir_layout_text(tensor->layout);
    fprintf(out, "]%.*s", (int)layout.size, layout.size ? layout.data : "");
}

static char *list(const xir_network *net, bool typed) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            if (i) fputs(", ", out);
            put_value(out, xir_op_output(op, (int64_t)i));
            if (typed) put_type(out, xir_value_type(xir_op_output(op, (int64_t)i)));
        }
        if (xir_op_output_count(op)) fputs(" = ", out);
        put_class(out, xir_class_key(xir_op_class(op)));
        fputc('(', out);
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            if (i) fputs(", ", out);
            put_value(out, xir_op_input(op, (int64_t)i));
        }
        fputs(")\n", out);
    }
    fclose(out);
    return text;
}

char *op_list(const xir_network *net) { return list(net, false); }
char *op_list_typed(const xir_network *net) { return list(net, true); }

void check_op_list(const xir_network *net, bool typed, const char *const *lines, size_t n, const char *file, int line) {
    char *found = list(net, typed), *expected = NULL;
    size_t size;
    FILE *out = open_memstream(&expected, &size);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++) fprintf(out, "%s\n", lines[i]);
    fclose(out);
    if (strcmp(found, expected) != 0) print_error("expected\n%sfound\n%s", expected, found);
    _assert_true(strcmp(found, expected) == 0, "the list of ops", file, line);
    free(found);
    free(expected);
}

/* ---- passes ------------------------------------------------------------------------------------------------------ */

static void run_once(xir_network *net, const char *pass, const char *options, size_t *changes,
                     const char *file, int line) {
    xir_diags_clear(why);
    xir_status status = xir_pass_run(net, pass, options, changes, why);
    if (status) xir_diags_print(why, stderr);
    _assert_int_equal(status, XIR_OK, file, line);
    check_sound(net, file, line);
    xir_diags_clear(why);
    bool was_valid = xir_network_validate(net, why) == XIR_OK;
    if (!was_valid) xir_diags_print(why, stderr);
    _assert_true(was_valid, "the network is valid", file, line);
}

size_t run_pass(xir_network *net, const char *pass, const char *options, const char *file, int line) {
    size_t changes = 0, again = 0;
    bool valid = xir_network_validate(net, NULL) == XIR_OK;
    _assert_true(valid, "the network is valid before the pass", file, line);
    char *before = picture(net);
    run_once(net, pass, options, &changes, file, line);
    char *after = picture(net);
    if (!changes) _assert_string_equal(before, after, file, line);
    run_once(net, pass, options, &again, file, line);
    _assert_int_equal(again, 0, file, line);
    char *twice = picture(net);
    _assert_string_equal(after, twice, file, line);
    free(before);
    free(after);
    free(twice);
    return changes;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

xir_value *named(xir_value *value, const char *name) {
    assert_non_null(value);
    assert_int_equal(xir_value_set_name(value, xir_str_of(name)), XIR_OK);
    return value;
}

xir_value *constant(xir_network *net, const char *name, const xir_type *type, const void *data, size_t size) {
    xir_value *v = xir_params_copy(net, xir_str_of(name), type, data, size);
    assert_non_null(v);
    return v;
}

xir_value *foreign(xir_network *net, const char *key, const xir_type *type, xir_values inputs) {
    const xir_class *cls = class_opaque(xir_network_context(net), xir_str_of(key), true);
    assert_non_null(cls);
    xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = cls, .id = XIR_NO_ID, .inputs = inputs.data,
                                                .n_inputs = inputs.size, TYPES(type)));
    assert_non_null(op);
    return xir_op_output(op, 0);
}

xir_value *argument(xir_network *net, const char *name, const xir_type *type) {
    return named(xir_input(xir_at_end(net), "in", type), name);
}

void results(xir_network *net, xir_values values) { assert_non_null(xir_output(xir_at_end(net), values)); }

xir_value *output_of(xir_op *op, const char *name) {
    assert_non_null(op);
    return named(xir_op_output(op, 0), name);
}

static xir_value *last_made(xir_network *net, xir_op *op, const char *name) {
    if (!op) xir_diags_print(xir_network_diags(net), stderr);
    return output_of(op, name);
}

#define MAKE(id, attrs, ...) last_made(net, xir_add_##id(xir_at_end(net), (xir_##id##_in){ __VA_ARGS__ }, attrs), name)

xir_value *relu(xir_network *net, xir_value *x, const char *name) { return MAKE(relu, NULL, x); }
xir_value *sigmoid(xir_network *net, xir_value *x, const char *name) { return MAKE(sigmoid, NULL, x); }
xir_value *copy(xir_network *net, xir_value *x, const char *name) { return MAKE(copy, NULL, x); }
xir_value *add(xir_network *net, xir_value *x, xir_value *y, const char *name) { return MAKE(add, NULL, x, y); }
xir_value *multiply(xir_network *net, xir_value *x, xir_value *y, const char *name) {
    return MAKE(multiply, NULL, x, y);
}

static const xir_layout *letters(xir_network *net, const char *text) {
    const xir_layout *layout = xir_layout_parse(xir_network_context(net), xir_str_of(text), NULL);
    assert_non_null(layout);
    return layout;
}

xir_value *reshape(xir_network *net, xir_value *x, const char *layout, xir_i64s shape, const char *name) {
    xir_reshape_attrs a = xir_reshape_init();
    a.shape = shape;
    a.layout = letters(net, layout);
    return MAKE(reshape, &a, x);
}

xir_value *squeeze(xir_network *net, xir_value *x, xir_i64s axis, const char *name) {
    xir_squeeze_attrs a = xir_squeeze_init();
    a.axis = axis;
    return MAKE(squeeze, &a, x);
}

xir_value *transpose(xir_network *net, xir_value *x, const char *layout, xir_i64s dims, const char *name) {
    xir_transpose_attrs a = xir_transpose_init();
    a.dims = dims;
    a.layout = letters(net, layout);
    return MAKE(transpose, &a, x);
}

xir_value *slice(xir_network *net, xir_value *x, xir_i64s begin, xir_i64s end, xir_i64s stride, const char *name) {
    xir_slice_attrs a = xir_slice_init();
    a.begin = begin;
    a.end = end;
    a.stride = stride;
    return MAKE(slice, &a, x);
}

xir_value *concat(xir_network *net, xir_values parts, int64_t axis, const char *name) {
    xir_concat_attrs a = xir_concat_init();
    a.axis = axis;
    return MAKE(concat, &a, parts);
}

xir_value *cast(xir_network *net, xir_value *x, const xir_type *type, const char *name) {
    xir_cast_attrs a = xir_cast_init();
    a.target_dtype = xir_type_as_tensor(type);
    return MAKE(cast, &a, x);
}

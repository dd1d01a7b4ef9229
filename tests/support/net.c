/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/net.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xir/icraft.h>

/* ---- networks --------------------------------------------------------------------------------------------------- */

xir_network *new_net(void) {
    xir_network *net = xir_network_new(ctx, "net", XIR_FRAMEWORK_PYTORCH, "v1.9");
    assert_non_null(net);
    return net;
}

xir_network *small_net_in(xir_context *with) {
    xir_network *net = xir_network_new(with, "small", XIR_FRAMEWORK_PYTORCH, "v1.9");
    if (!net) return NULL;
    const xir_type *fp32 = xir_type_float(with, XIR_FLOAT_FP32);
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "in", XIR_TENSOR(with, fp32, "NHWC", 1, 8, 8, 3));
    xir_value *w = xir_params_new(net, XIR_STR("w"), XIR_TENSOR(with, fp32, "HWIO", 3, 3, 3, 4));
    x = XIR_CONV2D(at, .input = x, .weights = w, .pad = 1, .name = "conv");
    x = xir_build_relu(at, x, "relu");
    x = XIR_MAX_POOL2D(at, .input = x, .k = 2, .stride = 2, .name = "pool");
    x = xir_build_add(at, x, x, 1, 1, "add");
    at.name = XIR_STR("out");
    xir_output(at, XIR_VALUES(x));
    return net;
}

xir_network *small_net(void) {
    xir_network *net = small_net_in(ctx);
    assert_non_null(net);
    if (xir_network_status(net)) xir_diags_print(xir_network_diags(net), stderr);
    assert_int_equal(xir_network_status(net), XIR_OK);
    return net;
}

xir_op *op_of(const xir_network *net, int64_t id) {
    xir_op *op = xir_network_op_by_id(net, id);
    if (!op) fail_msg("op %" PRId64 " is missing", id);
    return op;
}

xir_value *value_of(const xir_network *net, int64_t id) {
    xir_value *value = xir_network_value_by_id(net, id);
    if (!value) fail_msg("value %" PRId64 " is missing", id);
    return value;
}

/* ---- pictures --------------------------------------------------------------------------------------------------- */

static void put_object(FILE *out, const xir_object *object);
static void put_op(FILE *out, const xir_op *op, int depth);

static void put_text(FILE *out, xir_str text) { fprintf(out, "'%.*s'", (int)text.size, text.size ? text.data : ""); }

static void put_any(FILE *out, const xir_any *any) {
    switch (any->kind) {
    case XIR_ANY_NULL:   fputs("null", out); break;
    case XIR_ANY_BOOL:   fputs(any->as.boolean ? "true" : "false", out); break;
    case XIR_ANY_INT:    fprintf(out, "%" PRId64, any->as.integer); break;
    case XIR_ANY_UINT:   fprintf(out, "%" PRIu64, any->as.uinteger); break;
    case XIR_ANY_REAL:   fprintf(out, "%a", any->as.real); break;
    case XIR_ANY_TEXT:   put_text(out, any->as.text); break;
    case XIR_ANY_PARAMS: fprintf(out, "params %" PRId64, xir_value_id(any->as.params)); break;
    case XIR_ANY_LIST:
        fputc('[', out);
        for (size_t i = 0; i < any->as.list.size; i++) put_any(out, &any->as.list.items[i]), fputc(' ', out);
        fputc(']', out);
        break;
    case XIR_ANY_MAP:
        fputc('{', out);
        for (size_t i = 0; i < any->as.map.size; i++) {
            put_text(out, any->as.map.entries[i].key);
            fputc(':', out);
            put_any(out, &any->as.map.entries[i].value);
            fputc(' ', out);
        }
        fputc('}', out);
        break;
    }
}

static void put_map(FILE *out, const char *what, const xir_map *map) {
    if (!map || map->size == 0) return;
    const xir_any any = { .kind = XIR_ANY_MAP, .as.map = *map };
    fprintf(out, " %s=", what);
    put_any(out, &any);
}

static void put_params(FILE *out, const xir_value *v) {
    fprintf(out, v ? "params %" PRId64 : "null", v ? xir_value_id(v) : 0);
}

static void put_attr(FILE *out, const xir_attr *a, int depth) {
    const xir_any map = { .kind = XIR_ANY_MAP, .as.map = a->kind == XIR_KIND_MAP ? a->as.map : (xir_map){ NULL, 0 } };
    switch (a->kind) {
    case XIR_KIND_BOOL:   fprintf(out, "%d", a->as.boolean); break;
    case XIR_KIND_I64:    fprintf(out, "%" PRId64, a->as.i64); break;
    case XIR_KIND_U64:    fprintf(out, "%" PRIu64, a->as.u64); break;
    case XIR_KIND_REAL:   fprintf(out, "%a", a->as.real); break;
    case XIR_KIND_TEXT:   put_text(out, a->as.text); break;
    case XIR_KIND_ENUM:   fprintf(out, "#%d", a->as.enumerator); break;
    case XIR_KIND_REF:    put_object(out, a->as.ref); break;
    case XIR_KIND_PARAMS: put_params(out, a->as.params); break;
    case XIR_KIND_MAP:    put_any(out, &map); break;
    case XIR_KIND_BOOLS:  for (size_t i = 0; i < a->as.bools.size; i++) fprintf(out, "%d ", a->as.bools.data[i]); break;
    case XIR_KIND_I64S:
        for (size_t i = 0; i < a->as.i64s.size; i++) fprintf(out, "%" PRId64 " ", a->as.i64s.data[i]);
        break;
    case XIR_KIND_REALS:  for (size_t i = 0; i < a->as.reals.size; i++) fprintf(out, "%a ", a->as.reals.data[i]); break;
    case XIR_KIND_TEXTS:  for (size_t i = 0; i < a->as.texts.size; i++) put_text(out, a->as.texts.data[i]); break;
    case XIR_KIND_REFS:
        for (size_t i = 0; i < a->as.refs.size; i++) put_object(out, a->as.refs.data[i]), fputc(' ', out);
        break;
    case XIR_KIND_RUNS:
        for (size_t i = 0; i < a->as.runs.size; i++) {
            const xir_run *r = &a->as.runs.data[i];
            fprintf(out, "<%" PRId64 " %" PRId64 " %" PRId64 " %a>", r->end, r->m, r->exp, (double)r->value);
        }
        break;
    case XIR_KIND_PARAMSS:
        for (size_t i = 0; i < a->as.values.size; i++) put_params(out, a->as.values.data[i]), fputc(' ', out);
        break;
    case XIR_KIND_OPS:     for (size_t i = 0; i < a->as.ops.size; i++) put_op(out, a->as.ops.data[i], depth + 1); break;
    case XIR_KIND_COUNT:   break;
    }
}

static void put_object(FILE *out, const xir_object *object) {
    if (!object) {
        fputs("null", out);
        return;
    }
    const xir_class *cls = xir_object_class(object);
    if (cls->more->form) {
        fputs(spelled(object), out);
        return;
    }
    xir_str key = xir_class_key(cls);
    fprintf(out, "%.*s{", (int)key.size, key.data);
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        xir_attr a;
        DOES(xir_object_get(object, f->name, &a));
        fprintf(out, "%s=", f->name.data);
        put_attr(out, &a, 0);
        fputc(';', out);
    }
    put_map(out, "extra", object->extra);
    fputc('}', out);
}

static uint64_t sum_of(const void *data, uint64_t size) {
    uint64_t sum = 14695981039346656037u;
    for (uint64_t i = 0; i < size; i++) sum = (sum ^ ((const uint8_t *)data)[i]) * 1099511628211u;
    return sum;
}

static void put_value(FILE *out, const xir_value *v) {
    if (!v) {
        fputs(" -", out);
        return;
    }
    /* The numbers of values that are not placed yet count down and carry no meaning. */
    if (xir_value_id(v) < 0) fputs(" new", out);
    else fprintf(out, " %" PRId64, xir_value_id(v));
    put_text(out, xir_value_name(v));
    put_map(out, "tags", xir_value_tags(v));
    fprintf(out, "*%zu ", xir_value_use_count(v));
    put_object(out, (const xir_object *)xir_value_type(v));
    put_object(out, (const xir_object *)xir_value_mtype(v));
    if (xir_value_is_params(v)) {
        uint64_t size;
        const void *data = xir_params_data(v, &size);
        fprintf(out, "[%s%" PRIu64 ":%" PRIx64 "]", xir_params_allow_no_data(v) ? "may have none " : "", size,
                sum_of(data, size));
    }
}

static void put_op(FILE *out, const xir_op *op, int depth) {
    const xir_class *cls = xir_op_class(op);
    xir_str key = xir_class_key(cls);
    fprintf(out, "\n%*s", depth * 2, "");
    if (xir_op_id(op) < 0) fputs("new", out);
    else fprintf(out, "%" PRId64, xir_op_id(op));
    fprintf(out, " %.*s ", (int)key.size, key.data);
    put_text(out, xir_op_name(op));
    put_object(out, (const xir_object *)xir_op_target(op));
    put_map(out, "tags", xir_op_tags(op));
    put_map(out, "extra", xir_op_extra(op));
    fputs(" in:", out);
    for (size_t i = 0; i < xir_op_input_count(op); i++) put_value(out, xir_op_input(op, (int64_t)i));
    fputs(" out:", out);
    for (size_t i = 0; i < xir_op_output_count(op); i++) put_value(out, xir_op_output(op, (int64_t)i));
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        xir_attr a;
        DOES(xir_op_get(op, f->name, &a));
        fprintf(out, " %s=", f->name.data);
        put_attr(out, &a, depth);
    }
}

char *picture(const xir_network *net) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (int i = 0; i < XIR_TEXT_COUNT; i++) put_text(out, xir_network_text_of(net, (xir_network_text)i));
    put_object(out, (const xir_object *)xir_network_ai_target(net));
    put_map(out, "tags", xir_network_tags(net));
    put_map(out, "extra", xir_network_extra(net));
    fprintf(out, " %" PRIu64 " bytes, %zu ops, next %" PRId64 " %" PRId64, xir_network_params_bytes(net),
            xir_network_op_count(net), xir_network_next_op_id(net), xir_network_next_value_id(net));
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) put_op(out, op, 0);
    fputc('\n', out);
    fclose(out);
    return text;
}

char *picture_of_object(const xir_object *object) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    put_object(out, object);
    fclose(out);
    return text;
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

static void same_words(char *found, const char *expected, const char *what, const char *file, int line) {
    size_t n = strlen(found);
    if (n && found[n - 1] == ' ') found[n - 1] = '\0';
    bool same = strcmp(found, expected) == 0;
    if (!same) print_error("%s:%d: %s: expected '%s', found '%s'\n", file, line, what, expected, found);
    free(found);
    if (!same) _fail(file, line);
}

void check_inputs(const xir_op *op, const char *expected, const char *file, int line) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        if (v) fprintf(out, "%" PRId64 " ", xir_value_id(v));
        else fputs("- ", out);
    }
    fclose(out);
    same_words(text, expected, "the inputs", file, line);
}

static int by_place(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

void check_uses(const xir_value *value, const char *expected, const char *file, int line) {
    size_t n = xir_value_use_count(value), i = 0;
    int64_t (*places)[2] = malloc((n + 1) * sizeof *places);
    assert_non_null(places);
    for (const xir_use *u = xir_value_uses(value); u; u = xir_use_next(u), i++) {
        places[i][0] = xir_op_id(xir_use_op(u));
        places[i][1] = (int64_t)xir_use_index(u);
    }
    qsort(places, n, sizeof *places, by_place);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (i = 0; i < n; i++) fprintf(out, "%" PRId64 ":%" PRId64 " ", places[i][0], places[i][1]);
    fclose(out);
    free(places);
    same_words(text, expected, "the uses", file, line);
}

void check_order(const xir_network *net, const char *expected, const char *file, int line) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        fprintf(out, "%" PRId64 " ", xir_op_id(op));
    fclose(out);
    same_words(text, expected, "the ops", file, line);
}

void check_str(xir_str text, const char *expected, const char *file, int line) {
    if (xir_str_equal(text, xir_str_of(expected))) return;
    print_error("%s:%d: expected '%s', found '%.*s'\n", file, line, expected, (int)text.size,
                text.size ? text.data : "");
    _fail(file, line);
}

/* ---- refusals --------------------------------------------------------------------------------------------------- */

void check_sound(xir_network *net, const char *file, int line) {
    const char *broken = broken_invariant(net, ASK_ALL);
    if (!broken) return;
    print_error("%s:%d: %s\n", file, line, broken);
    _fail(file, line);
}

refusal refusal_begin(xir_network *net, const char *file, int line) {
    xir_network_clear_status(net);
    return (refusal){ net, picture(net), file, line };
}

void refusal_end(refusal *r, xir_status found, xir_status code, const char *part) {
    const xir_diags *diags = xir_network_diags(r->net);
    bool found_it = false;
    for (size_t i = 0; i < xir_diags_count(diags); i++) {
        const xir_diag *d = xir_diags_at(diags, i);
        found_it |= d->code == code && memmem(d->message.data, d->message.size, part, strlen(part));
    }
    char *after = picture(r->net);
    bool same = strcmp(r->before, after) == 0;
    if (found != code || xir_network_status(r->net) != code || !found_it || !same) {
        print_error("%s:%d: expected %s with '%s', found %s, and the network's status is %s\n", r->file, r->line,
                    xir_status_name(code), part, xir_status_name(found), xir_status_name(xir_network_status(r->net)));
        xir_diags_print(diags, stderr);
        if (!same) print_error("before: %s\nafter: %s\n", r->before, after);
        _fail(r->file, r->line);
    }
    free(r->before);
    free(after);
    check_sound(r->net, r->file, r->line);
    xir_network_clear_status(r->net);
}

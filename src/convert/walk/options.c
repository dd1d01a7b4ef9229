/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The options of to-xir that complete types before the conversion: `input-shape` gives dims, and elements, to inputs
 * that the file leaves open; `bind` gives numbers to dims that have only a name in the file. */
#include <stdio.h>
#include "walk/options.h"
#include "source_tags.h"
#include "support/bindings.h"
#include "symbol.h"

/* ---- texts ------------------------------------------------------------------------------------------------------ */

/* Takes the next part of "a=1,2;b=3", up to `separator`: a name, which may contain '=', and a value. */
static bool next_part(xir_str *rest, char separator, xir_str *name, xir_str *value) {
    if (!rest->size) return false;
    size_t n = 0, eq;
    while (n < rest->size && rest->data[n] != separator) n++;
    for (eq = n; eq > 0 && rest->data[eq - 1] != '=';) eq--;   /* where the value begins */
    *name = (xir_str){ rest->data, eq ? eq - 1 : n };
    *value = eq ? (xir_str){ rest->data + eq, n - eq } : (xir_str){ rest->data + n, 0 };
    size_t used = n < rest->size ? n + 1 : n;
    *rest = (xir_str){ rest->data + used, rest->size - used };
    return true;
}

/* Takes a dim off the text, and a comma after it; false if it is not a number from 0 on. */
static bool next_dim(xir_str *text, int64_t *out) {
    size_t n = 0;
    *out = 0;
    for (; n < text->size && text->data[n] >= '0' && text->data[n] <= '9'; n++) {
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, text->data[n] - '0', out))
            return false;
    }
    bool good = n > 0 && (n == text->size || (text->data[n] == ',' && n + 1 < text->size));
    if (n < text->size) n++;
    *text = (xir_str){ text->data + n, text->size - n };
    return good;
}

#define TEXT(s) (int)((s).size < 100 ? (s).size : 100), (s).size ? (s).data : ""

/* The element type of a word; NULL if the word is unknown, or memory is out. */
static const xir_type *element_named(xir_context *ctx, xir_str word) {
    static const struct { const char *word; xir_float_format format; } floats[] = {
        { "fp16", XIR_FLOAT_FP16 }, { "fp32", XIR_FLOAT_FP32 }, { "fp64", XIR_FLOAT_FP64 }, { "bf16", XIR_FLOAT_BF16 },
        { "tf32", XIR_FLOAT_TF32 },
    };
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        if (xir_str_equal(word, xir_str_of(floats[i].word))) return xir_type_float(ctx, floats[i].format);
    }
    if (xir_str_equal(word, XIR_STR("bool"))) return xir_type_bool(ctx);
    bool sign = word.size && word.data[0] == 'i';
    int64_t bits = 0;
    xir_str digits = { word.data + 1, word.size ? word.size - 1 : 0 };
    if (!word.size || (!sign && word.data[0] != 'u') || memchr(word.data, ',', word.size)) return NULL;
    if (!next_dim(&digits, &bits) || bits < 1 || bits > 64) return NULL;
    return sign ? xir_type_sint(ctx, (int)bits) : xir_type_uint(ctx, (int)bits);
}

/* ---- dims that the file leaves open ----------------------------------------------------------------------------- */

/* Gives a value a type. */
static xir_status give_type(xir_pass *at, xir_value *v, const xir_type *type) {
    if (!type) return XIR_E_MEMORY;
    if (xir_type_equal(type, xir_value_type(v))) return XIR_OK;
    xir_pass_changed(at, 1);
    xir_status status = xir_value_set_type(v, type);
    return status || xir_type_has_unknown_dim(type) ? status : source_tag_set(v, SOURCE_DIMS, NULL);
}

static xir_status give_dims(xir_pass *at, xir_value *v, const int64_t *dims, size_t rank) {
    const xir_type *was = xir_value_type(v);
    return give_type(at, v, xir_type_tensor(at->net->ctx, xir_type_element(was), xir_type_layout(was), dims, rank));
}

/* One entry of input-shape. */
typedef struct input_shape {
    xir_str         name, text;
    int64_t         dims[32];
    size_t          rank;
    const xir_type *element;   /* NULL: not given */
} input_shape;

static xir_status read_shape(xir_pass *at, input_shape *s) {
    xir_str rest = s->text;
    size_t n = 0;
    while (n < rest.size && rest.data[n] != ':') n++;
    const bool has_element = n < rest.size;
    const xir_str word = { rest.data + (has_element ? n + 1 : n), has_element ? rest.size - n - 1 : 0 };
    rest.size = n;
    for (; rest.size && s->rank < 32; s->rank++) {
        if (next_dim(&rest, &s->dims[s->rank])) continue;
        return xir_pass_fail(at, XIR_E_SYNTAX, NULL,
                             "input-shape: expected dims like 1,3,224,224, found '%.*s'", TEXT(s->text));
    }
    if (rest.size)
        return xir_pass_fail(at, XIR_E_LIMIT, NULL, "input-shape: '%.*s' has more than 32 dims", TEXT(s->name));
    if (!has_element) return XIR_OK;
    s->element = element_named(at->net->ctx, word);
    if (s->element) return XIR_OK;
    return xir_pass_fail(at, XIR_E_SYNTAX, NULL,
                         "input-shape: expected one of " CONVERT_ELEMENT_WORDS ", found '%.*s'", TEXT(word));
}

/* A dim that is a symbol gets its number in all types of the network. */
static xir_status bind_symbols(xir_pass *at, const xir_value *v, const input_shape *s) {
    const object_pool *pool = &at->net->pool;
    xir_status status = XIR_OK;
    for (size_t k = 0; k < s->rank && !status; k++) {
        const int64_t dim = xir_type_as_tensor(xir_value_type(v))->shape.data[k];
        const symbol *found = dim_is_symbolic(dim) ? symbol_at(pool, symbol_of(pool, dim)) : NULL;
        if (!found) continue;
        const xir_symbol to = { found->name, s->dims[k], s->dims[k] };
        status = bindings_bind(at, "input-shape", &to, 1);
    }
    return status;
}

/* Fills the unknown dims of a type; elements and known dims must agree. */
static xir_status complete_type(xir_pass *at, xir_value *v, const input_shape *s) {
    const xir_type *type = xir_value_type(v);
    if (xir_type_rank(type) != s->rank) {
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL,
                             "input-shape: expected %zu dims for the input '%.*s', found %zu", xir_type_rank(type),
                             TEXT(s->name), s->rank);
    }
    if (s->element && !xir_type_equal(s->element, xir_type_element(type))) {
        return xir_pass_fail(at, XIR_E_TYPE, NULL,
                             "input-shape: the elements for the input '%.*s' are not those of the file",
                             TEXT(s->name));
    }
    const xir_status status = bind_symbols(at, v, s);
    if (status) return status;
    type = xir_value_type(v);
    for (size_t k = 0; k < s->rank; k++) {
        int64_t dim = xir_type_dim(type, (int64_t)k, false);
        if (dim < 0 || dim == s->dims[k]) continue;
        return xir_pass_fail(at, XIR_E_BOUNDS, NULL,
                             "input-shape: dim %zu of the input '%.*s': expected %lld, found %lld",
                             k, TEXT(s->name), (long long)dim, (long long)s->dims[k]);
    }
    return give_dims(at, v, s->dims, s->rank);
}

static xir_status shape_value(xir_pass *at, xir_value *v, const input_shape *s) {
    if (xir_type_as_tensor(xir_value_type(v))) return complete_type(at, v, s);
    if (s->element) return give_type(at, v, xir_type_tensor(at->net->ctx, s->element, NULL, s->dims, s->rank));
    return xir_pass_fail(at, XIR_E_MISSING, NULL,
                         "input-shape: the input '%.*s' has no type: expected its elements, too, as in "
                         "%.*s=%.*s:fp32", TEXT(s->name), TEXT(s->name), TEXT(s->text));
}

static xir_status shape_input(xir_pass *at, xir_str name, xir_str text) {
    xir_op *op = xir_network_input_op(at->net);
    input_shape shape = { .name = name, .text = text };
    xir_status status = read_shape(at, &shape);
    if (status) return status;
    for (size_t i = 0; op && i < xir_op_output_count(op); i++) {
        xir_value *v = xir_op_output(op, (int64_t)i);
        if (xir_str_equal(xir_value_name(v), name)) return shape_value(at, v, &shape);
    }
    char others[240] = "";
    for (size_t i = 0, size = 0; op && i < xir_op_output_count(op) && size < sizeof others; i++) {
        xir_str other = xir_value_name(xir_op_output(op, (int64_t)i));
        int n = snprintf(others + size, sizeof others - size, "%s'%.*s'", i ? ", " : "", TEXT(other));
        size += n > 0 ? (size_t)n : 0;
    }
    return xir_pass_fail(at, XIR_E_UNKNOWN, NULL, "input-shape: there is no input '%.*s'%s%s", TEXT(name),
                         *others ? ", but " : "", others);
}

xir_status convert_fix_inputs(xir_pass *at, bool *fixed) {
    xir_str shapes = xir_pass_text(at, "input-shape"), name, value;
    xir_status status = bindings_apply(at, "bind", ',', fixed);
    *fixed |= shapes.size > 0;
    while (!status && next_part(&shapes, ';', &name, &value)) status = shape_input(at, name, value);
    return status;
}

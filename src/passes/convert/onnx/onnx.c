/* onnx-to-xir: an ONNX network (docs/onnx.md) becomes one of ours, node by node. Each node is converted as it stands:
 * feature maps are transposed to channels last and back around what needs it, which the pass layout then moves and
 * cancels. What has no counterpart stays.
 *
 *     onnx::Conv x, w [8, 3, 3, 3]    =>    Transpose x -> NHWC; Conv2d with w as HWIO [3, 3, 3, 8]; Transpose -> NCHW */
#include <stdio.h>
#include <stdlib.h>
#include "convert/onnx/onnx.h"
#include "convert/convert.h"
#include "manager/pass.h"
#include "source_tags.h"

enum { NEWEST_OPSET = 21 };

static int64_t version(const xir_network *net, xir_str domain) {
    const xir_map *tags = xir_network_tags(net);
    const xir_any *opset = tags ? xir_map_get(tags, XIR_STR("onnx.opset")) : NULL;
    const xir_any *of = opset && opset->kind == XIR_ANY_MAP ? xir_map_get(&opset->as.map, domain) : NULL;
    if (!of && opset && opset->kind == XIR_ANY_MAP && !domain.size) of = xir_map_get(&opset->as.map, XIR_STR("ai.onnx"));
    return of && of->kind == XIR_ANY_INT ? of->as.integer : domain.size ? 1 : NEWEST_OPSET;
}

const convert_dialect convert_onnx = { .prefix = "onnx::", .name = "ONNX", .rows = onnx_rows, .n_rows = &onnx_row_count,
                                       .version = version };

/* ---- dims that the file leaves open ------------------------------------------------------------------------------- */

/* The next of "a=1,2;b=3": name and value, up to `separator`. */
static bool next_part(xir_str *rest, char separator, xir_str *name, xir_str *value) {
    if (!rest->size) return false;
    size_t n = 0, eq = 0;
    while (n < rest->size && rest->data[n] != separator) n++;
    while (eq < n && rest->data[eq] != '=') eq++;
    *name = (xir_str){ rest->data, eq };
    *value = eq < n ? (xir_str){ rest->data + eq + 1, n - eq - 1 } : (xir_str){ rest->data + n, 0 };
    size_t used = n < rest->size ? n + 1 : n;
    *rest = (xir_str){ rest->data + used, rest->size - used };
    return true;
}

/* A dim; false if the text is no number from 0 on. Takes it and a comma behind it off. */
static bool next_dim(xir_str *text, int64_t *out) {
    size_t n = 0;
    *out = 0;
    for (; n < text->size && text->data[n] >= '0' && text->data[n] <= '9'; n++) {
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, text->data[n] - '0', out)) return false;
    }
    bool good = n > 0 && (n == text->size || (text->data[n] == ',' && n + 1 < text->size));
    if (n < text->size) n++;
    *text = (xir_str){ text->data + n, text->size - n };
    return good;
}

#define TEXT(s) (int)((s).size < 100 ? (s).size : 100), (s).size ? (s).data : ""

/* Gives a value dims: those that are open take what is given. */
static xir_status give_dims(xir_pass *at, xir_value *v, const int64_t *dims, size_t rank) {
    const xir_type *was = xir_value_type(v);
    const xir_type *type = xir_tensor(at->net->ctx, xir_type_element(was), xir_type_layout(was), dims, rank);
    if (!type) return XIR_E_MEMORY;
    if (xir_type_equal(type, was)) return XIR_OK;
    xir_pass_changed(at, 1);
    xir_status status = xir_value_set_type(v, type);
    return status || xir_type_has_unknown_dim(type) ? status : source_tag_set(v, SOURCE_DIMS, NULL);
}

static xir_status shape_input(xir_pass *at, xir_str name, xir_str value) {
    xir_op *op = xir_network_input_op(at->net);
    int64_t dims[32];
    size_t rank = 0;
    xir_str rest = value;
    for (; rest.size && rank < 32; rank++) {
        if (!next_dim(&rest, &dims[rank])) {
            return xir_pass_fail(at, XIR_E_SYNTAX, NULL,
                                 "input-shape: '%.*s' are no dims, a list like 1,3,224,224 is expected", TEXT(value));
        }
    }
    for (size_t i = 0; op && i < xir_op_output_count(op); i++) {
        xir_value *v = xir_op_output(op, (int64_t)i);
        if (!xir_str_equal(xir_value_name(v), name)) continue;
        const xir_type *type = xir_value_type(v);
        if (!xir_type_tensor(type) || xir_type_rank(type) != rank) {
            return xir_pass_fail(at, XIR_E_BOUNDS, NULL,
                                 "input-shape: %zu dims are given for the input '%.*s', which has %zu", rank, TEXT(name),
                                 xir_type_rank(type));
        }
        for (size_t k = 0; k < rank; k++) {
            int64_t dim = xir_type_dim(type, (int64_t)k, false);
            if (dim < 0 || dim == dims[k]) continue;
            return xir_pass_fail(at, XIR_E_BOUNDS, NULL, "input-shape: dim %zu of the input '%.*s' is %lld, %lld was given",
                                 k, TEXT(name),
                                 (long long)dim, (long long)dims[k]);
        }
        return give_dims(at, v, dims, rank);
    }
    char others[240] = "";
    for (size_t i = 0, size = 0; op && i < xir_op_output_count(op) && size < sizeof others; i++) {
        int n = snprintf(others + size, sizeof others - size, "%s'%.*s'", i ? ", " : "", TEXT(xir_value_name(xir_op_output(op, (int64_t)i))));
        size += n > 0 ? (size_t)n : 0;
    }
    return xir_pass_fail(at, XIR_E_UNKNOWN, NULL, "input-shape: there is no input '%.*s'%s%s", TEXT(name), *others ? ", but " : "", others);
}

/* Dims of one name become a number, wherever the file has the name. */
static xir_status bind_value(xir_pass *at, xir_value *v, xir_str name, int64_t dim, bool *found) {
    const xir_map *tags = xir_value_tags(v);
    const xir_any *names = source_tag_find(tags, SOURCE_DIMS);
    const xir_type *type = xir_value_type(v);
    size_t rank = xir_type_rank(type);
    int64_t dims[32];
    bool changed = false;
    if (!names || names->kind != XIR_ANY_LIST || rank > 32) return XIR_OK;
    for (size_t i = 0; i < rank; i++) {
        dims[i] = xir_type_dim(type, (int64_t)i, false);
        const xir_any *symbol = i < names->as.list.size ? &names->as.list.items[i] : NULL;
        bool bound = dims[i] < 0 && symbol && symbol->kind == XIR_ANY_TEXT && xir_str_equal(symbol->as.text, name);
        if (bound) dims[i] = dim;
        changed |= bound;
    }
    *found |= changed;
    return changed ? give_dims(at, v, dims, rank) : XIR_OK;
}

static xir_status bind(xir_pass *at, xir_str name, xir_str value) {
    int64_t dim;
    bool found = false;
    xir_str rest = value;
    if (!next_dim(&rest, &dim) || rest.size) {
        return xir_pass_fail(at, XIR_E_SYNTAX, NULL, "bind: '%.*s=%.*s' is no name and a number", TEXT(name), TEXT(value));
    }
    for (xir_op *op = xir_network_first(at->net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            xir_status status = bind_value(at, xir_op_output(op, (int64_t)i), name, dim, &found);
            if (status) return status;
        }
    }
    return found ? XIR_OK : xir_pass_fail(at, XIR_E_UNKNOWN, NULL, "bind: no open dim has the name '%.*s'", TEXT(name));
}

static xir_status fix_dims(xir_pass *at, bool *fixed) {
    xir_str shapes = xir_pass_text(at, "input-shape"), symbols = xir_pass_text(at, "bind"), name, value;
    xir_status status = XIR_OK;
    *fixed = shapes.size || symbols.size;
    while (!status && next_part(&symbols, ',', &name, &value)) status = bind(at, name, value);
    while (!status && next_part(&shapes, ';', &name, &value)) status = shape_input(at, name, value);
    return status;
}

/* ---- the pass ----------------------------------------------------------------------------------------------------- */

static xir_status run(xir_pass *at) {
    conversion c;
    bool fixed;
    xir_status status = fix_dims(at, &fixed);
    if (status) return status == XIR_E_MEMORY ? diag_memory(at->why) : status;
    conversion_begin(&c, at->net, at->why);
    c.strict = xir_pass_bool(at, "strict");
    c.reshaped = fixed;
    c.prefix = "onnx-to-xir: ";
    status = conversion_run(&c);
    xir_pass_changed(at, c.changed + fixed);
    conversion_end(&c);
    return status;
}

static const xir_pass_option options[] = {
    { "strict",      XIR_PASS_BOOL, "false", "what has no counterpart of ours is an error"                                },
    { "input-shape", XIR_PASS_TEXT, "",      "dims of inputs that the file leaves open: \"image=1,3,224,224;mask=1,10\""  },
    { "bind",        XIR_PASS_TEXT, "",      "numbers for the names of open dims: \"batch=1,length=128\""                 },
};

const xir_pass_decl pass_onnx_to_xir = {
    XIR_PASS_HEAD("onnx-to-xir", "converts ONNX's ops to ours, each as it stands"),
    .level = XIR_LEVEL_NEEDED, .options = options, .n_options = sizeof options / sizeof *options, .run = run,
};

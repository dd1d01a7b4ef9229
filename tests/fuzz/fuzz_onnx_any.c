/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Any network, written as ONNX, read and compared: one of a file in any format that the library detects, or one made of
 * the bytes (bytes_net.h).
 *
 * A network that ONNX cannot hold is refused with one finding, before the first byte. What is written is read again: it
 * has the same nodes, attributes, constants and ends, it is written as the same bytes, and it is equal after these are
 * read. So is a network of XIR's operations when xir-to-onnx has converted it, without and with nodes of the domain
 * icraft.xir; when each op is such a node, to-xir makes the same ops of what was read. */
#include <stdio.h>
#include "bytes_net.h"
#include "network.h"
#include "support/onnx_nodes.h"

enum { MOST_BYTES = 1 << 16, MOST_OPS = 4000 };

/* Says what is broken; a debugger or the input tells the rest. */
#define PROMISE(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
            xir_diags_print(why, stderr); \
            abort(); \
        } \
    } while (0)

/* ---- the network ------------------------------------------------------------------------------------------------ */

static bool fill(void *user, xir_value *v) {
    static uint8_t some[MOST_BYTES];
    uint64_t *left = user, size;
    if (xir_params_has_data(v) || xir_type_bytes(xir_value_type(v), &size) || size > *left) return true;
    memset(some, (int)(xir_value_id(v) & 1), (size_t)size);
    must(xir_params_set_copy(v, some, (size_t)size) == XIR_OK);
    *left -= size;
    return true;
}

/* JSON has the bytes of constants in another file: small ones get some here. */
static xir_network *read_any(xir_context *ctx, const uint8_t *data, size_t size, xir_diags *why) {
    const bool text = size && data[0] == '{';
    uint64_t left = MOST_BYTES;
    const xir_load_options how = XIR_INIT(xir_load_options, .no_params = text);
    xir_network *net = xir_network_read(ctx, data, size, XIR_STR("fuzz"), &how, why);
    PROMISE(net || xir_diags_count(why));
    xir_diags_clear(why);
    if (net && text) must(net_walk_params(net, fill, &left));
    return net;
}

/* ---- the same nodes --------------------------------------------------------------------------------------------- */

static bool is_end(const xir_op *op) {
    return xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class());
}

/* The next op that is a node. */
static const xir_op *node_from(const xir_op *op) {
    while (op && is_end(op)) op = xir_op_next(op);
    return op;
}

/* A file does not have absent inputs at the end of a node. */
static size_t inputs_of(const xir_op *op) {
    size_t n = xir_op_input_count(op);
    while (n && !xir_op_input(op, (int64_t)n - 1)) n--;
    return n;
}

/* The position of the op that makes a value, among the nodes; -1 if no op makes it, -2 for an input. */
static int64_t maker_of(const xir_value *v) {
    const xir_op *op = xir_value_op(v);
    if (!op || !xir_op_is_placed(op)) return -1;
    const xir_network *net = xir_op_network(op);
    const xir_op *in = xir_network_input_op(net), *out = xir_network_output_op(net);
    return op == in ? -2 : xir_network_index_of(net, op) - (in && xir_op_before(in, op)) -
                           (out && xir_op_before(out, op));
}

/* Returns true if a type says the same elements and dims, as far as a file of ONNX says them. */
static bool same_shape(const xir_type *a, const xir_type *b) {
    if (!xir_type_as_tensor(a) || !xir_type_as_tensor(b)) return true;
    if (!xir_type_equal(xir_type_element(a), xir_type_element(b)) || xir_type_rank(a) != xir_type_rank(b)) return false;
    for (size_t i = 0; i < xir_type_rank(a); i++)
        if (xir_type_dim(a, (int64_t)i, false) != xir_type_dim(b, (int64_t)i, false)) return false;
    return true;
}

static void same_attributes(const xir_op *a, const xir_op *b, xir_diags *why) {
    const xir_map *was = xir_op_extra(a), *is = xir_op_extra(b);
    PROMISE((was ? was->size : 0) == (is ? is->size : 0));
    for (size_t i = 0; was && i < was->size; i++) {
        const xir_entry *e = &was->entries[i];
        const xir_any *now = xir_map_find(is, e->key);
        const bool bytes = now && e->value.kind == XIR_ANY_TEXT && now->kind == XIR_ANY_PARAMS;   /* not UTF-8 */
        const bool exact = e->value.kind == XIR_ANY_INT || e->value.kind == XIR_ANY_TEXT;
        if (now && exact && !bytes) PROMISE(xir_any_equal(&e->value, now));
        if (now && e->value.kind == XIR_ANY_PARAMS && now->kind == XIR_ANY_PARAMS)
            PROMISE(xir_params_equal(e->value.as.params, now->as.params));
    }
}

static void same_node(const xir_op *a, const xir_op *b, xir_diags *why) {
    const size_t n = inputs_of(a);
    PROMISE(b != NULL && n == inputs_of(b) && xir_op_output_count(a) == xir_op_output_count(b));
    PROMISE(xir_str_equal(xir_op_name(a), xir_op_name(b)));
    for (size_t i = 0; i < n; i++) {
        const xir_value *x = xir_op_input(a, (int64_t)i), *y = xir_op_input(b, (int64_t)i);
        PROMISE(!x == !y);
        if (!x) continue;
        PROMISE(xir_value_is_params(x) == xir_value_is_params(y));
        PROMISE(!xir_value_is_params(x) || xir_params_equal(x, y));
        PROMISE(maker_of(x) == maker_of(y) && xir_value_index(x) == xir_value_index(y));
    }
    same_attributes(a, b, why);
}

static void same_ends(const xir_op *a, const xir_op *b, xir_diags *why) {
    for (size_t i = 0; a && b && i < xir_op_output_count(a); i++)
        PROMISE(same_shape(xir_value_type(xir_op_output(a, (int64_t)i)), xir_value_type(xir_op_output(b, (int64_t)i))));
    for (size_t i = 0; a && b && i < xir_op_input_count(a); i++) {
        const xir_value *x = xir_op_input(a, (int64_t)i), *y = xir_op_input(b, (int64_t)i);
        if (x && y) PROMISE(same_shape(xir_value_type(x), xir_value_type(y)));
    }
}

static void same_network(const xir_network *a, const xir_network *b, xir_diags *why) {
    const xir_op *x = node_from(xir_network_first(a)), *y = node_from(xir_network_first(b));
    for (; x; x = node_from(xir_op_next(x)), y = node_from(xir_op_next(y))) same_node(x, y, why);
    PROMISE(!y);
    same_ends(xir_network_input_op(a), xir_network_input_op(b), why);
    same_ends(xir_network_output_op(a), xir_network_output_op(b), why);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* Returns the network that is read from its file, whose bytes it uses; NULL if ONNX cannot hold it. */
static xir_network *through_file(xir_network *net, buffer *file, xir_diags *why) {
    buffer twice;
    const xir_status status = write_to(net, &format_onnx, false, file, why);
    PROMISE(xir_diags_count(why) == (status ? 1u : 0u));
    PROMISE(status != XIR_E_MEMORY && status != XIR_E_IO && (!status || !file->size));
    xir_diags_clear(why);
    xir_network *once = status ? NULL : read_from(net->ctx, &format_onnx, file->data, file->size, why);
    PROMISE(status || once);
    if (once) {
        same_network(net, once, why);
        PROMISE(write_to(once, &format_onnx, false, &twice, why) == XIR_OK);
        PROMISE(twice.size == file->size && (!file->size || memcmp(twice.data, file->data, file->size) == 0));
        xir_network *again = read_from(net->ctx, &format_onnx, twice.data, twice.size, why);
        PROMISE(again && xir_network_equal(once, again, true));
        xir_network_free(again);
        buffer_free(&twice);
    }
    return once;
}

static void check_file(xir_network *net, xir_diags *why) {
    buffer file;
    xir_network_free(through_file(net, &file, why));
    buffer_free(&file);
}

/* ---- the way back ----------------------------------------------------------------------------------------------- */

static bool same_text(const xir_op *a, const xir_op *b, xir_str name) {
    xir_text_buffer x = { 0 }, y = { 0 };
    must(xir_op_attr_print(a, name, 0, &x) == XIR_OK && xir_op_attr_print(b, name, 0, &y) == XIR_OK);
    const bool same = x.size == y.size && (!x.size || memcmp(x.data, y.data, x.size) == 0);
    xir_text_free(&x);
    xir_text_free(&y);
    return same;
}

/* Attributes that are constants are compared by their bytes: their ids and places are not the same. */
static bool same_attribute(const xir_op *a, const xir_op *b, const xir_field *f) {
    xir_attr p, q;
    must(xir_op_get(a, f->name, &p) == XIR_OK && xir_op_get(b, f->name, &q) == XIR_OK);
    if (p.is_null || q.is_null) return p.is_null == q.is_null;
    if (f->kind == XIR_KIND_PARAMS) return xir_params_equal(p.as.params, q.as.params);
    if (f->kind != XIR_KIND_PARAMSS) return same_text(a, b, f->name);
    bool same = p.as.values.size == q.as.values.size;
    for (size_t i = 0; same && i < p.as.values.size; i++)
        same = xir_params_equal(p.as.values.data[i], q.as.values.data[i]);
    return same;
}

static bool same_op(const xir_op *a, const xir_op *b) {
    const xir_class *cls = xir_op_class(a);
    bool same = cls == xir_op_class(b) && xir_op_output_count(a) == xir_op_output_count(b) &&
                inputs_of(a) == inputs_of(b);
    for (size_t i = 0; same && i < xir_class_field_count(cls); i++)
        same = same_attribute(a, b, xir_class_field_at(cls, i));
    for (size_t i = 0; same && i < xir_op_output_count(a); i++)
        same = xir_type_equal(xir_value_type(xir_op_output(a, (int64_t)i)),
                              xir_value_type(xir_op_output(b, (int64_t)i)));
    for (size_t i = 0; same && i < inputs_of(a); i++) {
        const xir_value *x = xir_op_input(a, (int64_t)i), *y = xir_op_input(b, (int64_t)i);
        same = !x == !y && (!x || (xir_type_equal(xir_value_type(x), xir_value_type(y)) &&
                                   xir_value_is_params(x) == xir_value_is_params(y)));
        if (same && x && xir_value_is_params(x)) same = xir_params_equal(x, y);
    }
    return same;
}

/* Each op comes back in its order. Transposes, BitCasts and copies stand between them where a file of ONNX says less of
 * a value than XIR does. */
static void same_ops(const xir_network *a, const xir_network *b, xir_diags *why) {
    const xir_op *y = node_from(xir_network_first(b));
    for (const xir_op *x = node_from(xir_network_first(a)); x; x = node_from(xir_op_next(x))) {
        while (y && !same_op(x, y)) {
            const bool added = xir_op_is(y, xir_transpose_class()) || xir_op_is(y, xir_bit_cast_class()) ||
                               xir_op_is(y, xir_copy_class());
            if (!added) fprintf(stderr, "op %lld does not come back\n", (long long)xir_op_id(x));
            PROMISE(added);
            y = node_from(xir_op_next(y));
        }
        if (!y) fprintf(stderr, "op %lld does not come back\n", (long long)xir_op_id(x));
        PROMISE(y != NULL);
        y = node_from(xir_op_next(y));
    }
}

/* Returns true if a file says all of the value's type: no tiles and no padding; open dims get names there. */
static bool is_plain(const xir_value *v) {
    const xir_tensor_type *type = xir_type_as_tensor(xir_value_type(v));
    return type && !type->merged_distrs.size && !xir_type_has_unknown_dim(xir_value_type(v)) &&
           !xir_type_is_layouted(xir_value_type(v));
}

/* Returns true if the library knows the classes of all ops. */
static bool all_are_known(const xir_network *net) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        if (xir_class_is_opaque(xir_op_class(op))) return false;
    return true;
}

static bool all_are_nodes(const xir_network *net) {
    for (const xir_op *op = node_from(xir_network_first(net)); op; op = node_from(xir_op_next(op)))
        if (!xir_class_is_dialect(xir_op_class(op))) return false;
    return true;
}

static bool inputs_are_plain(const xir_network *net) {
    const xir_op *in = xir_network_input_op(net);
    for (size_t i = 0; in && i < xir_op_output_count(in); i++)
        if (!is_plain(xir_op_output(in, (int64_t)i))) return false;
    return in != NULL;
}

/* Converts a copy, and writes and reads that. `exact`: each op is a node, and comes back as it was. */
static void convert(const xir_network *net, const char *pass, const char *options, bool exact, xir_diags *why) {
    xir_network *made = xir_network_clone(net);
    must(made != NULL);
    const bool valid = xir_network_validate(net, NULL) == XIR_OK;
    const bool done = xir_pass_run(made, pass, options, NULL, why) == XIR_OK;
    PROMISE(done || xir_diags_count_of(why, XIR_ERROR));
    xir_diags_clear(why);
    /* Other conversions may compute constants, and only then validation sees what they are. */
    if (done && valid && exact) PROMISE(xir_network_validate(made, why) == XIR_OK);
    buffer file;
    buffer_init(&file, context_alloc(net->ctx));
    xir_network *read = done ? through_file(made, &file, why) : NULL;
    if (read) {
        const bool whole = exact && valid && all_are_nodes(made);
        const xir_status status = xir_pass_run(read, "to-xir", NULL, NULL, why);
        PROMISE(!whole || (status == XIR_OK && !xir_network_is_dialect(read)));
        if (whole) same_ops(net, read, why);
        PROMISE(!whole || xir_network_validate(read, why) == XIR_OK);
    }
    xir_diags_clear(why);
    xir_network_free(read);
    buffer_free(&file);
    xir_network_free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char version[24];
    xir_context *ctx = fuzz_context();
    xir_diags *why = xir_diags_new(ctx);
    bytes_net choices;
    must(ctx != NULL && why != NULL);
    if (!xir_pass_find(ctx, XIR_STR(ONNX_NODES))) must(xir_pass_register(ctx, onnx_nodes_pass(), why) == XIR_OK);
    xir_network *net = read_any(ctx, data, size, why);
    const bool made = !net;
    if (made) net = bytes_make(&choices, ctx, data, size);
    snprintf(version, sizeof version, "opset=%d", (int)(11 + size % 11));
    if (xir_network_op_count(net) <= MOST_OPS) {
        check_file(net, why);
        convert(net, "xir-to-onnx", "custom", false, why);
        convert(net, "xir-to-onnx", version, false, why);
        convert(net, ONNX_NODES, NULL, made && all_are_known(net) && inputs_are_plain(net), why);
    }
    xir_network_free(net);
    xir_diags_free(why);
    return 0;
}

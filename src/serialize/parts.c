/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts of networks in any format. */
#include "codec/given.h"
#include "formats.h"

static bool find(xir_context *ctx, const char *format_name, format *out, xir_diags *why) {
    if (!format_named(ctx, format_name, out, why)) return false;
    if (out->read_part && out->write_part) return true;
    diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "format %s has whole networks only, no parts", out->name);
    return false;
}

static xir_status write_part(const format_part *part, const char *format_name, xir_write_fn *write, void *user,
                             xir_diags *why) {
    format f;
    if (!find(part->ctx, format_name, &f, why)) return XIR_E_UNSUPPORTED;
    given_writer g = given_begin(write, user, why);
    const format_writing how = { .format = &f, .path = "", .align = 1, .write = given_write, .user = &g, .why = why };
    return given_end(&g, f.write_part(part, &how));
}

xir_status xir_object_write(xir_context *ctx, const xir_object *object, const char *format_name,
                            xir_write_fn *write, void *user, xir_diags *why) {
    return write_part(&(format_part){ PART_OBJECT, ctx, NULL, object }, format_name, write, user, why);
}

xir_status xir_op_write(const xir_op *op, const char *format_name, xir_write_fn *write, void *user, xir_diags *why) {
    if (!op) return diag_null(why, "op");
    return write_part(&(format_part){ PART_OP, op->net->ctx, op->net, op }, format_name, write, user, why);
}

xir_status xir_value_write(const xir_value *value, const char *format_name, xir_write_fn *write, void *user,
                           xir_diags *why) {
    if (!value) return diag_null(why, "value");
    xir_network *net = value_net(value);
    return write_part(&(format_part){ PART_VALUE, net->ctx, net, value }, format_name, write, user, why);
}

static const void *read_part(format_part part, const void *data, size_t size, const char *format_name, xir_diags *why) {
    format f;
    return find(part.ctx, format_name, &f, why) && f.read_part(&part, data, size, why) ? part.it : NULL;
}

const xir_object *xir_object_read(xir_context *ctx, const void *data, size_t size, const char *format_name,
                                  xir_diags *why) {
    return read_part((format_part){ PART_OBJECT, ctx, NULL, NULL }, data, size, format_name, why);
}

xir_op *xir_op_read(xir_network *net, const void *data, size_t size, const char *format_name, xir_diags *why) {
    if (!net) {
        diag_null(why, "network");
        return NULL;
    }
    return (xir_op *)(uintptr_t)read_part((format_part){ PART_OP, net->ctx, net, NULL }, data, size, format_name, why);
}

xir_value *xir_value_read(xir_network *net, const void *data, size_t size, const char *format_name, xir_diags *why) {
    if (!net) {
        diag_null(why, "network");
        return NULL;
    }
    const format_part part = { PART_VALUE, net->ctx, net, NULL };
    return (xir_value *)(uintptr_t)read_part(part, data, size, format_name, why);
}

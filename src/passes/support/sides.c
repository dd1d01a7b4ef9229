/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The sides of a map that convolutions and pools pad: see sides.h. */
#include <string.h>
#include "support/sides.h"

const side sides[SIDES] = {
    { 'W', "pad_left",  "pad_right"  },
    { 'H', "pad_top",   "pad_bottom" },
    { 'D', "pad_front", "pad_back"   },
    { 'L', "pad_left",  "pad_right"  },
};

int64_t side_number(const xir_op *op, const char *name, int64_t otherwise) {
    int64_t n;
    return xir_op_get_i64(op, name, &n) == XIR_OK ? n : otherwise;
}

static void *field_at(const xir_op *op, void *body, const char *name) {
    const xir_field *f = xir_class_field(op->cls, xir_str_of(name));
    return f ? body_at(body, f) : NULL;
}

xir_status sides_add(xir_op *op, const amounts *a, bool zeros) {
    const size_t size = op->cls->body_size;
    void *body = mem_new(&op->net->alloc, size);
    if (!body) return net_no_memory(op->net);
    memcpy(body, op->attrs, size);
    int *mode = field_at(op, body, "padding_mode");
    bool *counts = field_at(op, body, "count_include_pad");
    if (mode && zeros) *mode = XIR_PADDING_ZEROS;
    if (counts && zeros) *counts = true;
    for (size_t i = 0; i < SIDES; i++) {
        if (!a[i].before && !a[i].after) continue;
        *(int64_t *)field_at(op, body, sides[i].before) += a[i].before;
        *(int64_t *)field_at(op, body, sides[i].after) += a[i].after;
    }
    const xir_status status = xir_op_set_body(op, op->cls->decl, body);
    mem_free(&op->net->alloc, body, size);
    return status;
}

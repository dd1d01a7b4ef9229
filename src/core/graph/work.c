/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Asks a class how much an op computes. The WORK function sees what inference sees, plus the types of the outputs. */
#include <xir/work.h>
#include "graph.h"
#include "sized.h"
#include "types.h"

/* ---- what a WORK function asks for ------------------------------------------------------------------------------ */

/* Notes that the result depends on something unknown; `n` stands for it. */
static uint64_t unknown(xir_infer *at, uint64_t n) {
    at->work.open = true;
    return n;
}

uint64_t xir_work_elements(xir_infer *at, const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    uint64_t n = 1;
    bool open = false;
    if (!tensor) return unknown(at, 0);
    for (size_t i = 0; i < tensor->shape.size; i++) {
        int64_t dim = tensor->shape.data[i];
        if (dim == 0) return 0;
        if (dim < 0) open = true;
        else n = xir_work_times(n, (uint64_t)dim);
    }
    return open ? unknown(at, 1) : n;
}

uint64_t xir_work_dim(xir_infer *at, const xir_type *type, int64_t axis) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    if (!tensor) return unknown(at, 0);
    const int64_t rank = (int64_t)tensor->shape.size, k = axis < 0 ? axis + rank : axis;
    if (k < 0 || k >= rank) return 1;
    return tensor->shape.data[k] < 0 ? unknown(at, 1) : (uint64_t)tensor->shape.data[k];
}

uint64_t xir_work_outputs(xir_infer *at) {
    uint64_t n = 0;
    for (size_t i = 0; i < at->n_out; i++) n = xir_work_add(n, xir_work_elements(at, at->out[i]));
    return n;
}

xir_status xir_work_result(xir_infer *at, uint64_t multiply_adds, uint64_t element_ops) {
    at->work.said = true;
    if (at->work.open) return XIR_E_BOUNDS;
    at->work.multiply_adds = multiply_adds;
    at->work.element_ops = element_ops;
    return XIR_OK;
}

xir_status xir_work_elementwise(xir_infer *at, uint64_t element_ops) {
    at->work.no_products = true;
    return xir_work_result(at, 0, element_ops);
}

xir_status xir_work_unknown(xir_infer *at) {
    at->work.unsaid = true;
    return XIR_E_UNSUPPORTED;
}

/* The bytes of so many elements; UINT64_MAX if they are not known. */
static uint64_t bytes_of(const xir_type *element, uint64_t n) {
    const uint64_t bits = element ? xir_type_storage_bits(element) : 0;
    if (n == UINT64_MAX || (!bits && n)) return UINT64_MAX;
    return xir_work_add(xir_work_times(n / 8, bits), (n % 8 * bits + 7) / 8);
}

void xir_work_reads(xir_infer *at, size_t i, uint64_t elements) {
    const xir_type *type = xir_infer_input(at, i);
    int64_t all;
    if (i >= 64) return;
    const bool known = type && xir_type_elements(type, &all) == XIR_OK;
    const bool more = known && !at->work.open && elements > (uint64_t)all;
    if (more || at->work.parts >> i & 1) at->work.wrong = (uint32_t)i + 1;
    at->work.parts |= (uint64_t)1 << i;
    if (at->work.open) at->work.part_open = true;
    else at->work.part_bytes = xir_work_add(at->work.part_bytes, bytes_of(xir_type_element(type), elements));
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

xir_status infer_work(xir_infer *at, xir_work *out) {
    xir_infer_fn *work = at->cls->more->work;
    at->work = (infer_work_seen){ 0 };
    xir_status status = work ? work(at) : XIR_OK;
    if (!work) at->work.unsaid = true;
    if (at->work.unsaid && !at->work.said) status = xir_work_result(at, 0, xir_work_outputs(at));
    if (!status && at->work.open) status = XIR_E_BOUNDS;   // a function that does not ask xir_work_result
    *out = XIR_INIT(xir_work);
    if (status) return status;
    out->multiply_adds = at->work.multiply_adds;
    out->element_ops = at->work.element_ops;
    return XIR_OK;
}

static xir_status not_known(const xir_op *op, xir_status status, xir_diags *why) {
    char path[40] = "";
    xir_str key = op->cls->key;
    if (!why) return status;
    if (op->flags & OP_DRAFT) return diag_fail(why, status, XIR_STR(""), "the op is a draft: complete it first");
    if (op_is_in(op)) snprintf(path, sizeof path, "/ops/%lld", (long long)xir_network_index_of(op->net, op));
    return diag_fail(why, status, xir_str_of(path), "%.*s: how much it computes depends on dims that are not known",
                     CLIP_TO(key, 200));
}

xir_status xir_op_work(const xir_op *op, xir_work *out, xir_diags *why) {
    xir_infer at;
    xir_work work = XIR_INIT(xir_work);
    if (!op) {
        xir_status empty = sized_fill(SIZED(xir_work, element_ops), out, &work, why);
        return empty ? empty : diag_null(why, "op");
    }
    object_pool pool;
    pool_init_reader(&pool, &op->net->pool);
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, op->n_inputs, name_text(op_label(op)), NULL);
    at.pool = &pool;
    at.op = op;
    xir_status status = XIR_OK;
    if (op->flags & OP_DRAFT) status = XIR_E_MISSING;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = infer_see_output(&at, op_outputs(op)[i].type);
    if (!status) status = infer_work(&at, &work);
    infer_end(&at);
    pool_free(&pool);
    xir_status filled = sized_fill(SIZED(xir_work, element_ops), out, &work, why);
    if (filled) return filled;
    if (status == XIR_E_MEMORY) return diag_memory(why);
    return status ? not_known(op, status, why) : XIR_OK;
}

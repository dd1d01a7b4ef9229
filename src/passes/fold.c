/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* fold: computes the ops that depend on constants alone.
 *
 *     x:fp32[1,3,8,8] = input()                 x:fp32[1,3,8,8] = input()
 *     s = shape(x)                              y = expand(x) …
 *     n = gather(s, 1)                 ->       z:fp32[3] = params
 *     m = multiply(n, 2)
 *     z = constant_of_shape(m)
 *
 * Shapes come first. Where the type of a value gives a dim, the dim is a constant, even if the value is not. So is what
 * Gather and Slice pick from a shape, if the dims that they pick are known. The constant list of a Reshape, Slice, …
 * becomes its attribute. The executor (ctx->run_op) computes all
 * other ops that are pure, run on the host, have no quantised elements, and read only Params with bytes. A result
 * becomes Params of the same name and type. An op that reads it is inferred again, because a constant operand can say
 * more about the type; so are the ops after it whose types change. All this takes one walk.
 *
 * The file must not grow much. An op is left as it is if its results have more than `limit` elements, or more than 64K
 * elements and over 64 times as many as its inputs. All results of a run together may take `memory` bytes plus twice
 * the bytes of the network's Params; a result that has no reader left does not count. Reshapes and copies of constants
 * share their bytes and have no limit. An op that takes more work than the run has left for constants (context.h) is
 * also left as it is, with a note. So is an operand of a product of constants, which a Matmul would not take as
 * Params. */
#include <xir/exec.h>
#include <xir/ops.h>
#include "support/listed.h"
#include "support/numbers.h"
#include "support/spent.h"
#include "support/upkeep.h"

enum { SMALL = 65536, GROWTH = 64, MOST_RANK = 64, FEW = 64 };

typedef struct folder {
    xir_pass    *at;
    xir_network *net;
    uint8_t     *stale;        /* by slot: an input became constant or changed its type      */
    uint32_t     own;         /* Params from this number on are results of this walk        */
    uint64_t     limit;       /* in elements                                                */
    xir_diags   *why;         /* findings of the op that is being computed                  */
    const xir_class_decl *shape, *gather, *slice, *shares[3];
} folder;

/* ---- what is constant -------------------------------------------------------------------------------------------- */

static bool is_constant(const xir_value *v) {
    return value_is_constant(v) && !(value_more_of(v)->mtype) && xir_type_as_tensor(v->type) && xir_params_has_data(v);
}

static bool are_constant(const xir_op *op) {
    size_t n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v) continue;
        if (!is_constant(v) || xir_type_is_quantized(xir_type_element(v->type))) return false;
        n++;
    }
    return n > 0;
}

/* The number of elements of a type: 0 if a dim is unknown, UINT64_MAX on overflow. */
static uint64_t count_of(const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    uint64_t n = 1;
    for (size_t i = 0; tensor && i < tensor->shape.size; i++) {
        if (tensor->shape.data[i] < 0) return 0;
        if (!mul_u64(n, (uint64_t)tensor->shape.data[i], &n)) n = UINT64_MAX;
    }
    return n;
}

/* Returns true if the result has exactly the bytes of the input. */
static bool is_move(const folder *f, const xir_op *op) {
    for (size_t i = 0; i < sizeof f->shares / sizeof *f->shares; i++) {
        if (op->cls->decl == f->shares[i]) return true;
    }
    return false;
}

/* Notes if the op has few elements. */
static bool is_worth_it(const folder *f, const xir_op *op) {
    uint64_t in = 0, out = 0;
    if (is_move(f, op)) return true;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op_inputs(op)[i].value && !add_u64(in, count_of(op_inputs(op)[i].value->type), &in)) in = UINT64_MAX;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (!add_u64(out, count_of(op_outputs(op)[i].type), &out)) out = UINT64_MAX;
    }
    f->at->within->alone = in <= FEW && out && out <= FEW;   /* 0: the types do not say how many */
    return out <= f->limit && (out <= SMALL || out / GROWTH <= in);
}

static bool may_fold(const folder *f, const xir_op *op) {
    if (!op->n_outputs || op_target(op) != f->net->host || xir_op_extra(op)) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const xir_value *v = &op_outputs(op)[i];
        if (value_more_of(v) && value_more_of(v)->mtype) return false;
        if (v->type && xir_type_is_quantized(xir_type_element(v->type))) return false;
    }
    return op_is_pure(op);
}

/* ---- the budget of bytes ----------------------------------------------------------------------------------------- */

/* All results of a run together may have `free` bytes plus twice those of the Params. */
static uint64_t bytes_left(const folder *f) {
    const budget *b = f->at->within;
    uint64_t most;
    if (!mul_u64(b->params, 2, &most) || !add_u64(most, b->free, &most)) most = UINT64_MAX;
    return most > b->kept ? most - b->kept : 0;
}

static bool spend_bytes(folder *f, xir_op *op, uint64_t bytes) {
    char words[200];
    if (spent_bytes(op, f->at->within, bytes, bytes_left(f), "for results", words)) {
        f->at->within->kept += bytes;
        return true;
    }
    if (*words) {
        xir_pass_diag(f->at, XIR_NOTE, op, "its inputs are constants, but it is not computed: %s", words);
    }
    return false;
}

/* Returns true if the budget has enough bytes for the output types. */
static bool may_afford(folder *f, xir_op *op) {
    uint64_t all = 0, bytes, left = bytes_left(f);
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (xir_type_as_tensor(op_outputs(op)[i].type) && !xir_type_bytes(op_outputs(op)[i].type, &bytes))
            add_u64(all, bytes, &all);
    }
    if (is_move(f, op) || all <= left) return true;
    return spend_bytes(f, op, all);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void mark_users(folder *f, const xir_value *v) {
    for (const xir_use *u = v->uses; u; u = u->next) f->stale[u->user->slot] = 1;
}

/* The result replaces the output and keeps its name. */
static xir_status replace_output(folder *f, xir_op *op, uint32_t i, const xir_array *array) {
    xir_value *old = &op_outputs(op)[i];
    size_t moved = 0;
    if (!old->uses) return XIR_OK;
    xir_value *now = xir_params_from_array(f->net, xir_value_name(old), array);
    if (!now) return XIR_E_MEMORY;
    if (old->type && xir_type_equal(old->type, now->type)) now->type = old->type;
    mark_users(f, old);
    return value_replace(now, old, true, &moved);
}

/* Removes a result of this walk that has no reader left. If nothing else shares its bytes, they return to the
 * budget. */
static void release_result(const folder *f, xir_value *v) {
    if (!v || !value_is_params(v) || value_params(v)->number < f->own || v->uses) return;
    const blob *data = value_params(v)->data;
    uint64_t *kept = &f->at->within->kept;
    if (data && blob_is_mine(data)) *kept -= data->size < *kept ? data->size : *kept;
    xir_params_clear(v);
}

/* Takes the bytes of the results from the budget; false, with a note, if too few are left. */
static bool afford(folder *f, xir_op *op, xir_array *const *results) {
    uint64_t bytes = 0;
    if (is_move(f, op)) return true;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        size_t size;
        (void)xir_array_data(results[i], &size);
        bytes += size;
    }
    return spend_bytes(f, op, bytes);
}

static xir_status replace(folder *f, xir_op *op, xir_array **results) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = replace_output(f, op, i, results[i]);
    if (status) return status;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_value *v = op_inputs(op)[i].value;
        use_unlink(&op_inputs(op)[i]);
        release_result(f, v);
    }
    op_drop(op);
    xir_pass_changed(f->at, 1);
    return XIR_OK;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* The dims that a Shape gives: a slice of its input's dims. False if they are unknown. */
static bool shape_dims(const xir_op *op, xir_i64s *out) {
    const xir_i64s *dims = op->n_inputs == 1 ? value_dims(op_inputs(op)[0].value) : NULL;
    const xir_i64s *given = value_dims(&op_outputs(op)[0]);
    const xir_shape_attrs *a = op->attrs;
    if (!dims || !given || given->size != 1 || op->n_outputs != 1) return false;
    int64_t n = (int64_t)dims->size, start = from_end(a->start, n);
    if (start < 0) start = 0;
    if (given->data[0] < 0 || start > n || given->data[0] > n - start) return false;
    *out = (xir_i64s){ start ? dims->data + start : dims->data, (size_t)given->data[0] };
    return true;
}

static bool are_known(const int64_t *dims, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (dims[i] < 0) return false;
    }
    return true;
}

static xir_status replace_by(folder *f, xir_op *op, const int64_t *numbers, size_t n) {
    xir_array *array = xir_array_copy(f->net->ctx, op_outputs(op)[0].type, numbers, n * sizeof *numbers, NULL);
    if (!array) return XIR_E_MEMORY;
    f->at->within->kept += n * sizeof *numbers;
    xir_status status = replace(f, op, &array);
    xir_array_free(array);
    return status;
}

/* Returns true if the type is `n` elements of sint(64), as for Shape and everything picked from it. */
static bool is_of_ints(const xir_value *v, size_t n) {
    element_format form = element_format_of(v->type);
    return form.kind == ELEMENT_SIGNED && form.bits == 64 && !xir_type_has_unknown_dim(v->type) &&
           count_of(v->type) == n;
}

/* The dims that a Gather with constant indices or a Slice picks from a Shape; false if `op` is neither, or if they are
 * unknown. */
static bool picked_dims(const folder *f, const xir_op *op, int64_t *out, size_t *n) {
    bool gather = op->cls->decl == f->gather, slice = op->cls->decl == f->slice;
    const xir_value *data = (gather || slice) && op->n_inputs && op->n_outputs == 1 ? op_inputs(op)[0].value : NULL;
    const xir_op *maker = data ? value_op(data) : NULL;
    xir_i64s dims;
    if (!maker || maker->cls->decl != f->shape || !shape_dims(maker, &dims) || dims.size > MOST_RANK) return false;
    if (slice) {
        if (op_is_listed(op)) return false;
        const xir_slice_attrs *a = op->attrs;
        const xir_i64s *given = value_dims(&op_outputs(op)[0]);
        if (a->begin.size != 1 || a->stride.size != 1 || !given || given->size != 1 || given->data[0] < 0) return false;
        int64_t m = (int64_t)dims.size, stride = a->stride.data[0], i = from_end(a->begin.data[0], m);
        if (i < 0 && stride > 0) i = 0;
        if (i > m - 1 && stride < 0) i = m - 1;
        *n = (size_t)given->data[0];
        for (size_t k = 0; k < *n; k++, i += stride) {
            if (i < 0 || i >= m || k == MOST_RANK) return false;
            out[k] = dims.data[i];
        }
        return are_known(out, *n);
    }
    const xir_value *indices = op->n_inputs == 2 ? op_inputs(op)[1].value : NULL;
    if (!indices || !is_constant(indices) || (*n = (size_t)count_of(indices->type)) > MOST_RANK) return false;
    if (!is_of_ints(indices, *n) || xir_params_read(indices, 0, out, *n * sizeof *out)) return false;
    for (size_t k = 0; k < *n; k++) {
        int64_t i = from_end(out[k], (int64_t)dims.size);
        if (i < 0 || i >= (int64_t)dims.size) return false;
        out[k] = dims.data[i];
    }
    return are_known(out, *n);
}

static xir_status fold_shape(folder *f, xir_op *op, bool *done) {
    int64_t picked[MOST_RANK];
    xir_i64s dims;
    size_t n;
    *done = false;
    if (op->cls->decl == f->shape && shape_dims(op, &dims) && are_known(dims.data, dims.size) &&
        is_of_ints(&op_outputs(op)[0], dims.size)) {
        *done = true;
        return replace_by(f, op, dims.data, dims.size);
    }
    if (picked_dims(f, op, picked, &n) && is_of_ints(&op_outputs(op)[0], n)) {
        *done = true;
        return replace_by(f, op, picked, n);
    }
    return XIR_OK;
}

/* ---- ops of constants -------------------------------------------------------------------------------------------- */

/* An op of constants that fails would fail in every run: the user should know, but the pass itself succeeds. */
static void say_failed(folder *f, const xir_op *op) {
    const xir_diag *d = xir_diags_at(f->why, 0);
    if (!d) return;
    xir_pass_diag(f->at, XIR_WARNING, op, "its inputs are constants, but it can't be computed: %.*s",
                  (int)d->message.size, d->message.data);
}

static xir_status fold_constants(folder *f, xir_op *op) {
    enum { RESULTS = 8 };
    xir_array *few[RESULTS], **results = few;
    if (!are_constant(op) || is_product_operand(op)) return XIR_OK;
    if (!class_kernel(op->cls) || !is_worth_it(f, op) || !may_afford(f, op)) return XIR_OK;
    if (op->n_outputs > RESULTS) results = mem_new(&f->net->alloc, op->n_outputs * sizeof *results);
    if (!results) return XIR_E_MEMORY;
    xir_diags_clear(f->why);
    char words[200];
    f->at->within->elements = is_move(f, op) ? UINT64_MAX : f->limit;
    xir_status status = f->net->ctx->run_op(op, results, op->n_outputs, f->at->within, f->why);
    if (!status) {
        uint64_t count = 0;   /* the types may not have given it */
        for (uint32_t i = 0; i < op->n_outputs; i++) count += xir_array_count(results[i]);
        if (is_move(f, op) || (count <= f->limit && afford(f, op, results))) status = replace(f, op, results);
        for (uint32_t i = 0; i < op->n_outputs; i++) xir_array_free(results[i]);
    } else if (status == XIR_E_CANCELLED) {
        xir_pass_fail(f->at, status, op, "the run was cancelled while it was computed");
    } else if (status != XIR_E_MEMORY) {
        if (spent_on(op, f->at->within, words)) {
            xir_pass_diag(f->at, XIR_NOTE, op, "its inputs are constants, but it is not computed: %s", words);
        } else if (status != XIR_E_UNSUPPORTED && status != XIR_E_MISSING && !f->at->within->refused) {
            say_failed(f, op);
        }
        status = XIR_OK;
    }
    if (results != few) mem_free(&f->net->alloc, (void *)results, op->n_outputs * sizeof *results);
    return status;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

/* Infers an op that has a changed input. The pass infer reports what is wrong with the op; only a refusal by the
 * network is an error here: more outputs than the op has, or fewer than are used. */
static xir_status reinfer(folder *f, xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op_inputs(op)[i].value && !op_inputs(op)[i].value->type) return XIR_OK;
    }
    if (!xir_op_can_infer(op)) return XIR_OK;
    uint64_t epoch = f->net->epoch;
    xir_status before = f->net->status, status = op_infer(op, INFER_CONVERSIONS_STAY, 0, NULL);
    if (status == XIR_E_MEMORY) return status;
    if (status && f->net->status != before) {
        return xir_pass_fail(f->at, status, op, "its number of outputs does not fit its inputs");
    }
    if (f->net->epoch == epoch) return XIR_OK;
    xir_pass_changed(f->at, 1);
    for (uint32_t i = 0; i < op->n_outputs; i++) mark_users(f, &op_outputs(op)[i]);
    return XIR_OK;
}

static xir_status walk(folder *f) {
    xir_status status = XIR_OK;
    for (xir_op *op = f->net->first, *next; op && !status; op = next) {
        next = op->next;
        bool done = false;
        if (f->stale[op->slot]) status = reinfer(f, op);
        if (!status) status = op_settle_list(op, &done);
        if (!status && done) xir_pass_changed(f->at, 1);
        if (status || !may_fold(f, op)) continue;
        status = fold_shape(f, op, &done);
        if (!status && !done && f->net->ctx->run_op) status = fold_constants(f, op);
    }
    return status;
}

static xir_status run(xir_pass *at) {
    xir_network *net = at->net;
    int64_t limit = xir_pass_int(at, "limit");
    size_t slots = (size_t)net->n_slots + 1;
    folder f = { .at = at, .net = net, .own = net->n_params, .limit = limit < 0 ? 0 : (uint64_t)limit,
                 .shape = xir_shape_class(), .gather = xir_gather_class(), .slice = xir_slice_class(),
                 .shares = { xir_reshape_class(), xir_squeeze_class(), xir_copy_class() } };
    if (!net->ctx->run_op) xir_pass_diag(at, XIR_NOTE, NULL, "there is no executor: only shapes are computed");
    f.stale = mem_new(&net->alloc, slots);
    f.why = xir_diags_new(net->ctx);
    const int64_t memory = xir_pass_int(at, "memory");
    spent_begin(at->within, net);
    at->within->free = memory < 0 ? 0 : (uint64_t)memory;
    xir_status status = XIR_E_MEMORY;
    if (f.stale && f.why) {
        memset(f.stale, 0, slots);
        status = walk(&f);
        at->within->alone = false;
    }
    mem_free(&net->alloc, f.stale, slots);
    xir_diags_free(f.why);
    return status == XIR_E_MEMORY ? pass_no_memory(at) : status;
}

static const xir_pass_option options[] = {
    { "limit",  XIR_PASS_INT, "1M",       "the maximum number of elements of a result" },
    { "memory", XIR_PASS_INT, "67108864", "the maximum total bytes of results, beyond twice those of the parameters" },
};

const xir_pass_decl pass_fold = {
    XIR_PASS_HEAD("fold", "computes ops that depend on constants alone"),
    .level = XIR_LEVEL_EXACT,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};

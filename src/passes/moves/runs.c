/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Makes one op of a run of reshapes, transpositions, slices or concatenations.
 *
 *     a = reshape(x)           b = reshape(x)           a = transpose(x)  1 2 0          b = transpose(x)  2 0 1
 *     b = reshape(a)    ->                              b = transpose(a)  1 2 0    ->
 *
 *     a = slice(x)  2:10       b = slice(x)  3:10:2     a = concat(x, y)  axis 1         b = concat(x, y, z)  axis 1
 *     b = slice(a)  1:8:2  ->                           b = concat(a, z)  axis 1   ->
 *
 * The last op of a run stays and reads the input of the first; the ops between are removed if nothing else uses them.
 * A concatenation is merged into another one only if nothing else uses it: otherwise its parts would be copied twice.
 * An op is changed only if inference still gives it the same type. If distributions or scales would change, or an op
 * between converts its elements, the run stays.
 *
 * A forward walk merges reshapes, transpositions and slices: the input of an op is merged when the walk reaches the op.
 * A backward walk merges concatenations: the last one of a run gathers the parts of all. */
#include "moves/moves.h"
#include "provenance.h"
#include "support/listed.h"
#include "support/upkeep.h"

enum { MOST_RANK = 32 };

typedef struct merger {
    xir_pass    *at;
    xir_network *net;
    const xir_class_decl *reshape, *squeeze, *transpose, *slice, *concat;
    xir_value  **parts;       /* of a run of concatenations    */
    xir_op     **inner;       /* the ops of the run but the last*/
    struct frame { xir_op *op; uint32_t next; } *stack;
    bool         marked;      /* some op is marked              */
    size_t       n_parts, parts_room, n_inner, inner_room, depth, stack_room;
} merger;

static bool has_extra(const xir_op *op) { return xir_op_extra(op); }

/* Returns true if `op` may read past `inner`: both have exactly the operands and attributes of their classes, the same
 * target and the same memory. */
static bool may_skip(const xir_op *op, const xir_op *inner) {
    if (!inner || inner->n_outputs != 1 || !inner->n_inputs || !op_inputs(inner)[0].value) return false;
    if (has_extra(op) || has_extra(inner)) return false;
    const xir_value *x = op_inputs(inner)[0].value, *m = &op_outputs(inner)[0];
    const xir_mtype *of_x = xir_value_mtype(x), *of_m = xir_value_mtype(m);
    if (of_x != of_m && !xir_object_equal((const xir_object *)of_x, (const xir_object *)of_m)) return false;
    return xir_object_equal((const xir_object *)op_target(op), (const xir_object *)op_target(inner));
}

/* Returns true if an op moves its elements without changing them. A type that the program sets by hand can make it
 * convert; a reader of the result must then not read the elements from before the conversion. */
static xir_status keeps_elements(const merger *g, const xir_op *op, bool *keeps) {
    const xir_type *to = xir_type_element(op_outputs(op)[0].type);
    const xir_allocator *alloc = &g->net->alloc;
    *keeps = true;
    for (uint32_t i = 0; i < op->n_inputs && *keeps; i++) {
        *keeps = op_inputs(op)[i].value && xir_type_equal(xir_type_element(op_inputs(op)[i].value->type), to);
    }
    if (*keeps || !to || !xir_type_is_quantized(to)) return XIR_OK;
    /* scales may have moved with the elements */
    xir_value **inputs = mem_new(alloc, op->n_inputs * sizeof *inputs);
    if (!inputs) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < op->n_inputs; i++) inputs[i] = op_inputs(op)[i].value;
    xir_status status = infers_same(op, op->attrs, inputs, op->n_inputs, keeps);
    mem_free(alloc, (void *)inputs, op->n_inputs * sizeof *inputs);
    return status;
}

/* Makes the op read what `inner` reads, with other attributes, or with its own, if its type stays the same; *done
 * says whether. */
static xir_status skip(merger *g, xir_op *op, xir_op *inner, const void *attrs, bool *done) {
    xir_value *x = op_inputs(inner)[0].value;
    xir_status status = infers_same(op, attrs, &x, 1, done);
    if (!status && *done) status = keeps_elements(g, inner, done);
    if (status || !*done) return status;
    if (attrs != op->attrs) status = xir_op_set_body(op, op->cls->decl, attrs);
    if (!status) status = xir_op_set_input(op, 0, x);
    if (status) return status;
    provenance_absorbed(op, inner);
    xir_pass_changed(g->at, 1);
    if (op_is_unused(inner)) op_drop(inner);
    return XIR_OK;
}

/* ---- reshapes ---------------------------------------------------------------------------------------------------- */

/* The dim for a -1 may be unknown for the first input: then the known dims of the output replace it. */
static xir_status merge_reshape(merger *g, xir_op *op, xir_op *inner, bool *done) {
    xir_status status = skip(g, op, inner, op->attrs, done);
    if (status || *done) return status;
    const xir_i64s *dims = value_dims(&op_outputs(op)[0]);
    xir_reshape_attrs a = *(const xir_reshape_attrs *)op->attrs;
    if (!dims) return XIR_OK;
    for (size_t i = 0; i < dims->size; i++) {
        if (dims->data[i] < 0) return XIR_OK;
    }
    a.shape = *dims;
    return skip(g, op, inner, &a, done);
}

/* ---- transpositions ---------------------------------------------------------------------------------------------- */

/* An op that moves nothing, but gives letters to what others read too, stays: it would move what `inner` moves. */
static xir_status merge_transpose(merger *g, xir_op *op, xir_op *inner, bool *done) {
    const xir_transpose_attrs *first = inner->attrs;
    xir_transpose_attrs a = *(const xir_transpose_attrs *)op->attrs;
    int64_t dims[MOST_RANK], n = (int64_t)a.dims.size;
    bool moves = false;
    if (n > MOST_RANK || a.dims.size != first->dims.size) return XIR_OK;
    for (int64_t i = 0; i < n; i++) {
        int64_t axis = from_end(a.dims.data[i], n);
        if (axis < 0 || axis >= n) return XIR_OK;
        dims[i] = from_end(first->dims.data[axis], n);
        moves |= axis != i;
    }
    if (!moves && op_outputs(inner)->uses->next) return XIR_OK;
    a.dims = (xir_i64s){ dims, (size_t)n };
    return skip(g, op, inner, &a, done);
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

/* `count` positions of a dim: begin, begin + stride, … */
typedef struct picked { int64_t begin, stride, count; } picked;

/* Finds the elements that a slice picks from a known dim, as in NumPy; false if the numbers are invalid. */
static bool pick(int64_t begin, int64_t end, int64_t stride, int64_t dim, picked *out) {
    int64_t least = stride < 0 ? -1 : 0, most = stride < 0 ? dim - 1 : dim;
    if (!stride || stride == INT64_MIN) return false;
    if (begin < 0 && (begin += dim) < least) begin = least;
    if (end < 0 && (end += dim) < least) end = least;
    if (begin > most) begin = most;
    if (end > most) end = most;
    int64_t far = stride < 0 ? begin - end : end - begin, step = stride < 0 ? -stride : stride;
    *out = (picked){ begin, stride, far <= 0 ? 0 : (far - 1) / step + 1 };
    return true;
}

typedef struct bounds { int64_t begin[MOST_RANK], end[MOST_RANK], stride[MOST_RANK]; } bounds;

static bool is_whole(const xir_slice_attrs *a, size_t i) {
    return a->begin.data[i] == 0 && a->stride.data[i] == 1 && a->end.data[i] >= INT32_MAX;
}

/* Composes two slices in one dim. The dim is known, or one slice takes all of it. */
static bool compose(const xir_slice_attrs *first, const xir_slice_attrs *second, size_t i, int64_t dim, bounds *out) {
    const xir_slice_attrs *only = is_whole(first, i) ? second : is_whole(second, i) ? first : NULL;
    if (only) {
        out->begin[i] = only->begin.data[i];
        out->end[i] = only->end.data[i];
        out->stride[i] = only->stride.data[i];
        return true;
    }
    picked a, b;
    if (dim < 0 || !pick(first->begin.data[i], first->end.data[i], first->stride.data[i], dim, &a) ||
        !pick(second->begin.data[i], second->end.data[i], second->stride.data[i], a.count, &b)) return false;
    if (!b.count) {
        out->begin[i] = out->end[i] = 0;
        out->stride[i] = 1;
        return true;
    }
    /* A stride that is used lies inside its dim. */
    int64_t stride = b.count > 1 ? a.stride * b.stride : 1;
    out->begin[i] = a.begin + (b.count > 1 || b.begin ? b.begin * a.stride : 0);
    out->end[i] = out->begin[i] + (b.count - 1) * stride + (stride < 0 ? -1 : 1);
    if (out->end[i] < 0) out->end[i] = -dim - 1;   /* before the first element, which -1 does not mean */
    out->stride[i] = stride;
    return true;
}

static bool has_rank(const xir_slice_attrs *a, size_t n) {
    return a->begin.size == n && a->end.size == n && a->stride.size == n;
}

static xir_status merge_slice(merger *g, xir_op *op, xir_op *inner, bool *done) {
    const xir_slice_attrs *first = inner->attrs, *second = op->attrs;
    const xir_i64s *dims = value_dims(op_inputs(inner)[0].value);
    size_t n = dims ? dims->size : 0;
    if (!dims || n > MOST_RANK || !has_rank(first, n) || !has_rank(second, n)) return XIR_OK;
    bounds c;
    for (size_t i = 0; i < n; i++) {
        if (!compose(first, second, i, dims->data[i], &c)) return XIR_OK;
    }
    xir_slice_attrs a = *second;
    a.begin = (xir_i64s){ c.begin, n };
    a.end = (xir_i64s){ c.end, n };
    a.stride = (xir_i64s){ c.stride, n };
    return skip(g, op, inner, &a, done);
}

/* ---- one walk ---------------------------------------------------------------------------------------------------- */

static xir_status merge_once(merger *g, xir_op *op, bool *done) {
    const xir_class_decl *decl = op->cls->decl;
    *done = false;
    if (decl != g->reshape && decl != g->transpose && decl != g->slice) return XIR_OK;
    if (op->n_inputs != 1 || op->n_outputs != 1) return XIR_OK;
    xir_op *inner = op_inputs(op)[0].value ? value_op(op_inputs(op)[0].value) : NULL;
    if (inner == op || !may_skip(op, inner) || !(inner->flags & OP_PLACED)) return XIR_OK;
    const xir_class_decl *of = inner->cls->decl;
    if (decl == g->reshape && (of == g->reshape || of == g->squeeze)) return merge_reshape(g, op, inner, done);
    if (decl == g->transpose && of == decl) return merge_transpose(g, op, inner, done);
    if (decl == g->slice && of == decl && !op_is_listed(inner)) return merge_slice(g, op, inner, done);
    return XIR_OK;
}

static xir_status merge_moves(merger *g) {
    for (xir_op *op = g->net->first; op; op = op->next) {
        bool done = true;
        /* Each step skips an op; the bound ends the loop in a cycle. */
        for (size_t n = 0; done && n < g->net->n_ops; n++) {
            xir_status status = merge_once(g, op, &done);
            if (status) return status;
        }
    }
    return XIR_OK;
}

/* ---- concatenations ---------------------------------------------------------------------------------------------- */

static bool is_concat(const merger *g, const xir_op *op) {
    return op && op->cls->decl == g->concat && op->n_outputs == 1 && op->n_inputs && !has_extra(op) &&
           op->flags & OP_PLACED;
}

static int64_t concat_axis(const xir_op *op) {
    const xir_i64s *dims = value_dims(&op_outputs(op)[0]);
    return dims ? from_end(((const xir_concat_attrs *)op->attrs)->axis, (int64_t)dims->size) : -1;
}

/* The concatenation that makes a part, if it has the same axis and no other reader. */
static xir_op *inner_concat(const merger *g, const xir_op *op, const xir_value *part) {
    xir_op *inner = part ? value_op(part) : NULL;
    if (!is_concat(g, inner) || !part->uses || part->uses->next || inner->flags & OP_MARKED) return NULL;
    return concat_axis(inner) == concat_axis(op) && may_skip(op, inner) ? inner : NULL;
}

static bool push(merger *g, xir_op *op) {
    if (!mem_reserve(&g->net->alloc, (void **)&g->stack, &g->stack_room, g->depth + 1, sizeof *g->stack)) return false;
    g->stack[g->depth++] = (struct frame){ op, 0 };
    return true;
}

/* Gathers all parts of a run in order, and all its ops but the last. */
static bool gather(merger *g, xir_op *op) {
    const xir_allocator *alloc = &g->net->alloc;
    g->n_parts = g->n_inner = g->depth = 0;
    if (!push(g, op)) return false;
    while (g->depth) {
        struct frame *f = &g->stack[g->depth - 1];
        if (f->next == f->op->n_inputs) {
            g->depth--;
            continue;
        }
        xir_value *part = op_inputs(f->op)[f->next++].value;
        xir_op *inner = inner_concat(g, op, part);
        if (inner && inner != op) {
            bool room = mem_reserve(alloc, (void **)&g->inner, &g->inner_room, g->n_inner + 1, sizeof *g->inner);
            if (!room || !push(g, inner)) return false;
            g->inner[g->n_inner++] = inner;
            continue;
        }
        if (!mem_reserve(alloc, (void **)&g->parts, &g->parts_room, g->n_parts + 1, sizeof *g->parts)) return false;
        g->parts[g->n_parts++] = part;
    }
    return true;
}

/* The ops of a run that can't be merged are marked, so that none of them starts to gather again. */
static xir_status merge_concat(merger *g, xir_op *op) {
    if (!gather(g, op)) return XIR_E_MEMORY;
    if (!g->n_inner) return XIR_OK;
    bool same;
    xir_status status = infers_same(op, op->attrs, g->parts, g->n_parts, &same);
    for (size_t i = 0; i < g->n_inner && !status && same; i++) status = keeps_elements(g, g->inner[i], &same);
    if (!status && same) status = xir_op_set_inputs(op, g->parts, g->n_parts);
    if (!same) g->marked = true;
    for (size_t i = 0; i < g->n_inner && !status; i++) {
        if (same) {
            provenance_absorbed(op, g->inner[i]);
            op_drop(g->inner[i]);
        } else {
            g->inner[i]->flags |= OP_MARKED;
        }
    }
    if (!status && same) xir_pass_changed(g->at, g->n_inner);
    return status;
}

static xir_status merge_concats(merger *g) {
    xir_status status = XIR_OK;
    for (xir_op *op = g->net->last, *before; op && !status; op = before) {
        if (is_concat(g, op) && !(op->flags & OP_MARKED)) status = merge_concat(g, op);
        before = op->prev;
    }
    for (xir_op *op = g->net->first; op && g->marked; op = op->next) op->flags &= ~(uint32_t)OP_MARKED;
    return status;
}

xir_status moves_merge(xir_pass *at) {
    const xir_allocator *alloc = &at->net->alloc;
    merger g = { .at = at, .net = at->net, .reshape = xir_reshape_class(), .squeeze = xir_squeeze_class(),
                 .transpose = xir_transpose_class(), .slice = xir_slice_class(), .concat = xir_concat_class() };
    xir_status status = merge_moves(&g);
    if (!status) status = merge_concats(&g);
    mem_free(alloc, (void *)g.parts, g.parts_room * sizeof *g.parts);
    mem_free(alloc, (void *)g.inner, g.inner_room * sizeof *g.inner);
    mem_free(alloc, g.stack, g.stack_room * sizeof *g.stack);
    return status == XIR_E_MEMORY ? pass_no_memory(at) : status;
}

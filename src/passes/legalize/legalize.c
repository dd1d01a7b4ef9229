/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* legalize: replaces ops that a target does not run by others that it runs and that compute the same.
 *
 *     y = max_pool(x, 3 x 3, stride 2, pad_right 1)   ->   y = max_pool(x, 3 x 3, stride 2)      strides that divide
 *     y = mean(x, dims H and W)                       ->   y = avg_pool(x, 7 x 7)
 *     y = transpose(x, 0 2 3 1)                       ->   t = transpose(x, 0 2 1 3), y = transpose(t, 0 1 3 2)
 *
 * What is legal is asked of the target's rules (legal.h). A rewrite stays only if everything that it makes is legal in
 * the end; otherwise the op stays what it was, and is the host's. */
#include <xir/legal.h>
#include <xir/mapping.h>
#include "legal.h"
#include "legalize/legalize.h"
#include "support/target_option.h"

enum { DEPTH = 8, MOST_OUTPUTS = 4096, MOST_INPUTS = 16 };

static const rewrite *const families[] = { legalize_windows, legalize_pairs, legalize_axes, legalize_moves };

/* ---- one op ----------------------------------------------------------------------------------------------------- */

static bool is_plain(const xir_value *v) {
    const xir_tensor_type *t = v ? xir_type_as_tensor(v->type) : NULL;
    return !v || (t && !xir_type_is_layouted(v->type) && !t->merged_distrs.size);
}

static bool is_float(const xir_value *v) { return !v || xir_type_kind_of(xir_type_element(v->type)) == XIR_TYPE_FLOAT; }

/* Returns true if a rewrite takes the types of an op. */
static bool takes_types(const xir_op *op, const rewrite *r) {
    bool plain = true, floats = true;
    for (uint32_t i = 0; i < op->n_inputs && plain; i++) {
        plain = is_plain(op_inputs(op)[i].value);
        floats &= !plain || is_float(op_inputs(op)[i].value);
    }
    for (uint32_t i = 0; i < op->n_outputs && plain; i++) {
        plain = is_plain(&op_outputs(op)[i]);
        floats &= !plain || is_float(&op_outputs(op)[i]);
    }
    return plain && (floats || r->moves);
}

/* Removes the ops between `before` (NULL: the beginning) and `op`, last ones first. */
static void remove_steps(const xir_op *before, xir_op *op) {
    while (op->prev != before && op->prev != NULL) {
        if (!op_is_unused(op->prev)) return;   /* not a step */
        op_drop(op->prev);
    }
}

static bool are_like(const xir_op *op, xir_value *const *out) {
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (!out[i] || !same_kind(out[i], &op_outputs(op)[i])) return false;
    }
    return true;
}

static xir_status legalize_op(const legalizer *l, xir_op *op, int depth, bool *done);

/* Makes the steps legal, too. */
static xir_status legalize_steps(const legalizer *l, xir_op *first, const xir_op *end, int depth, bool *legal) {
    xir_status status = XIR_OK;
    *legal = true;
    for (xir_op *step = first, *next; step != end && *legal && !status; step = next) {
        next = step->next;
        status = xir_op_try(step, l->target, NULL);
        if (!status || status == XIR_E_MEMORY) continue;
        status = XIR_OK;
        *legal = false;
        if (depth < DEPTH) status = legalize_op(l, step, depth + 1, legal);
    }
    return status;
}

/* Moves the uses of the outputs to what the holder holds. */
static xir_status replace_outputs(xir_op *op, const xir_op *holder) {
    size_t moved = 0;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const xir_status status = value_replace(op_inputs(holder)[i].value, &op_outputs(op)[i], true, &moved);
        if (status) return status;
    }
    op_drop(op);
    return XIR_OK;
}

/* While its steps are rewritten in turn, an op that is not placed holds the results. */
static xir_status settle(const legalizer *l, xir_op *op, xir_op *before, xir_value *const *out, int depth, bool *done) {
    xir_op *holder = xir_op_create(l->net, XIR_STR("icraft::xir::Unsupport"));
    xir_status status = holder ? xir_op_set_inputs(holder, out, op->n_outputs) : XIR_E_MEMORY;
    if (!status) status = legalize_steps(l, before ? before->next : l->net->first, op, depth, done);
    if (!status && *done) status = replace_outputs(op, holder);
    if (holder) {
        xir_op_clear_inputs(holder);
        (void)xir_op_erase(holder);
    }
    return status;
}

static xir_status try_rewrite(const legalizer *l, xir_op *op, const rewrite *r, int depth, bool *done) {
    const xir_allocator *alloc = &l->net->alloc;
    const size_t n = op->n_outputs;
    xir_op *before = op->prev;
    xir_value **out = mem_new(alloc, (n + 1) * sizeof *out);
    if (!out) return XIR_E_MEMORY;
    memset((void *)out, 0, (n + 1) * sizeof *out);
    const bool made = r->run(l, op, out);
    xir_status status = xir_network_status(l->net);   /* a building call has failed */
    if (!status && made && are_like(op, out)) status = settle(l, op, before, out, depth, done);
    if (!status && !*done) remove_steps(before, op);
    mem_free(alloc, (void *)out, (n + 1) * sizeof *out);
    return status;
}

static bool has_rewrite(const xir_op *op) {
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        for (const rewrite *r = families[f]; r->cls; r++) {
            if (r->cls() == op->cls->decl && takes_types(op, r)) return true;
        }
    }
    return false;
}

/* Tries the rewrites of the op's class in turn. */
static xir_status legalize_op(const legalizer *l, xir_op *op, int depth, bool *done) {
    xir_status status = XIR_OK;
    *done = false;
    if (op->n_outputs > MOST_OUTPUTS || !op->prev) return XIR_OK;
    for (size_t f = 0; f < sizeof families / sizeof *families && !*done && !status; f++) {
        for (const rewrite *r = families[f]; r->cls && !*done && !status; r++) {
            if (r->cls() == op->cls->decl && takes_types(op, r)) status = try_rewrite(l, op, r, depth, done);
        }
    }
    return status;
}

/* ---- a trial ---------------------------------------------------------------------------------------------------- */

/* A network of one op, a copy of `op`: a rewrite that leads nowhere leaves no traces in the real one. NULL without
 * memory. */
static xir_network *network_of(const legalizer *l, xir_op *op, xir_op **copy) {
    const xir_type *types[MOST_INPUTS];
    xir_value *values[MOST_INPUTS];
    size_t n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_value *v = op_inputs(op)[i].value;
        size_t known = 0;
        while (known < n && values[known] != v) known++;
        if (!v || value_is_params(v) || known < n) continue;
        types[n] = v->type;
        values[n++] = v;
    }
    xir_network *net = xir_network_new(l->net->ctx, "trial", XIR_FRAMEWORK_ONNX, "");
    xir_op *in = net ? xir_inputs(xir_at_end(net), NULL, types, n) : NULL;
    xir_mapping *map = in ? xir_mapping_new(l->net, net) : NULL;
    bool made = map;
    for (size_t i = 0; i < n && made; i++) made = xir_mapping_set(map, values[i], &op_outputs(in)[i]) == XIR_OK;
    *copy = made ? xir_mapping_clone(map, op, NULL) : NULL;
    xir_mapping_free(map);
    xir_op *end = NULL;
    if (*copy) {
        xir_value *out = &op_outputs(*copy)[0];
        end = xir_output(xir_at_end(net), (xir_values){ &out, (*copy)->n_outputs != 0 });
    }
    if (end) return net;
    xir_network_free(net);
    return NULL;
}

/* Replaces an op for which it is known that this makes it legal. */
static xir_status legalize_known(const legalizer *l, xir_op *op, bool *done) {
    xir_op *copy;
    *done = false;
    if (op->n_inputs > MOST_INPUTS || !op->n_outputs || !has_rewrite(op)) return XIR_OK;
    xir_network *net = network_of(l, op, &copy);
    if (!net) return XIR_E_MEMORY;
    const legalizer tried = { .at = l->at, .net = net, .target = l->target };
    xir_status status = legalize_op(&tried, copy, 0, done);
    xir_network_free(net);
    return status || !*done ? status : legalize_op(l, op, 0, done);
}

/* ---- the pass --------------------------------------------------------------------------------------------------- */

typedef struct refused_ops {
    const legalizer *l;
    xir_op         **ops, *first_stored;   /* the first that stays because its numbers are quantised */
    size_t           n, n_stored;
} refused_ops;

/* Counts an op for whose class there are rewrites, but none for quantised numbers. */
static void count_stored(refused_ops *in, xir_op *op) {
    bool any = false;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const rewrite *r = families[f]; r->cls; r++) any |= r->cls() == op->cls->decl && !r->moves;
    if (any && op_is_quantised(op) && !in->n_stored++) in->first_stored = op;
}

static bool is_free(void *user, const xir_op *op) {
    const refused_ops *in = user;
    const xir_target_kind kind = xir_target_kind_of(op_target(op));
    return kind == XIR_TARGET_HOST || kind == xir_target_kind_of(in->l->target);
}

static void note_refused(void *user, const xir_op *op, xir_status status) {
    refused_ops *in = user;
    if (status) in->ops[in->n++] = (xir_op *)(uintptr_t)op;
}

static xir_status run(xir_pass *at) {
    legalizer l = { .at = at, .net = at->net };
    const size_t room = at->net->n_ops + 1;
    xir_status status = pass_target(at, &l.target);
    if (status) return status;
    refused_ops refused = { .l = &l, .ops = mem_new(&at->net->alloc, room * sizeof *refused.ops) };
    if (!refused.ops) return pass_no_memory(at);
    status = xir_network_try(at->net, l.target, &XIR_INIT(xir_try_options, .all = true, .asks = is_free,
                             .answer = note_refused, .user = &refused), NULL, NULL);
    if (status != XIR_E_MEMORY) status = XIR_OK;
    for (size_t i = 0; i < refused.n && !status; i++) {
        bool done = false;
        status = legalize_known(&l, refused.ops[i], &done);
        if (done) xir_pass_changed(at, 1);
        else count_stored(&refused, refused.ops[i]);
    }
    if (refused.n_stored && !status)
        xir_pass_diag(at, XIR_NOTE, refused.first_stored, "%zu op%s on quantised numbers stay%s as before, this one "
                      "first: only ops on floats are replaced, so the pass comes before quantize", refused.n_stored,
                      refused.n_stored == 1 ? "" : "s", refused.n_stored == 1 ? "s" : "");
    mem_free(&at->net->alloc, (void *)refused.ops, room * sizeof *refused.ops);
    return status == XIR_E_MEMORY ? pass_no_memory(at) : status;
}

static const char *const needs[] = { "infer", NULL };
static const xir_pass_option options[] = { TARGET_OPTION };

const xir_pass_decl pass_legalize = {
    XIR_PASS_HEAD("legalize", "replaces ops that a target does not run by equal ones that it runs"),
    .level = XIR_LEVEL_FAST,
    .needs = needs,
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = run,
};

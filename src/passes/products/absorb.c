/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "products/absorb.h"
#include <math.h>
#include "fuse/fuse.h"
#include "products/products.h"
#include "provenance.h"
#include "support/numbers.h"
#include "types.h"

/* ---- lines ------------------------------------------------------------------------------------------------------ */

bool absorb_lines(absorption *c, size_t n, size_t *at) {
    *at = c->n_lines;
    if (n > ABSORB_LINES - c->n_lines) return false;
    if (!mem_reserve(&c->net->alloc, (void **)&c->lines, &c->room, c->n_lines + n, sizeof *c->lines)) {
        c->no_memory = true;
        return false;
    }
    c->n_lines += n;
    return true;
}

channel_line *absorb_begin(absorption *c, xir_value *value, int64_t dim, size_t n) {
    c->net = value_net(value);
    c->lines = NULL;
    c->n_lines = c->room = c->n_uses = c->n = c->n_changes = 0;
    c->before = c->after = 0;
    c->no_memory = false;
    size_t at;
    if (!absorb_lines(c, n, &at)) return NULL;
    c->steps[c->n++] = (carried){ value, n == 1 ? -1 : dim, n, at };
    return c->lines;
}

void absorb_end(absorption *c) { mem_free(&c->net->alloc, c->lines, c->room * sizeof *c->lines); }

bool lines_add_nothing(const absorption *c, const carried *v) {
    size_t i = 0;
    while (i < v->n && lines_of(c, v)[i].addend == 0) i++;
    return i == v->n;
}

bool lines_scale_nothing(const absorption *c, const carried *v) {
    size_t i = 0;
    while (i < v->n && lines_of(c, v)[i].factor == 1) i++;
    return i == v->n;
}

static bool lines_are_finite(const absorption *c, const carried *v) {
    const channel_line *lines = lines_of(c, v);
    size_t i = 0;
    while (i < v->n && isfinite(lines[i].factor) && isfinite(lines[i].addend)) i++;
    return i == v->n;
}

/* ---- the plan --------------------------------------------------------------------------------------------------- */

bool absorb_new(absorption *c, xir_value *out, int64_t dim, size_t n, size_t at) {
    if (!out || c->n == ABSORB_STEPS || !fuse_is_plain(out->type) ||
        !xir_type_equal(xir_type_element(out->type), xir_type_element(c->steps[0].value->type))) return false;
    if (n == 1) dim = -1;
    else if (dim < 0 || dim >= (int64_t)xir_type_rank(out->type) || xir_type_dim(out->type, dim, false) != (int64_t)n)
        return false;
    c->steps[c->n++] = (carried){ out, dim, n, at };
    return true;
}

bool absorb_on(absorption *c, const carried *in, xir_value *out, int64_t dim) {
    return absorb_new(c, out, dim, in->n, in->at);
}

static bool has_one_use(const xir_value *v) { return v->uses && !v->uses->next; }

static uint64_t bytes_of(const xir_value *v) {
    uint64_t bytes = 0;
    return v && xir_type_bytes(v->type, &bytes) == XIR_OK ? bytes : 0;
}

/* Constants that others use too stay, and the changed ones are further ones. */
static void count_bytes(absorption *c, const xir_value *old, uint64_t now) {
    const uint64_t bytes = bytes_of(old);
    c->before += bytes;
    c->after += now + (old && !has_one_use(old) ? bytes : 0);
}

void absorb_frees(absorption *c, const xir_value *constant) {
    if (constant && has_one_use(constant)) c->before += bytes_of(constant);
}

/* At most half as many bytes again, and at most 64 KiB. */
static bool grows_little(const absorption *c) {
    return c->after <= c->before || (c->after - c->before <= 65536 && c->after - c->before <= c->before / 2);
}

/* Computes the dims of a constant that takes up the lines of a value: its own, but where the dim of the lines is 1 or
 * missing, the number of lines. Dims are aligned on the right. Returns false if they do not fit. */
static bool widened(const xir_value *constant, const carried *from, int64_t *dims, size_t *rank) {
    enum { MOST = 16 };
    const xir_i64s is = xir_type_as_tensor(constant->type)->shape;
    const size_t full = xir_type_rank(from->value->type), at = from->dim < 0 ? 0 : full - (size_t)from->dim;
    if (is.size > MOST || full > MOST || is.size > full) return false;
    *rank = at > is.size ? at : is.size;
    for (size_t i = 0; i < *rank; i++) dims[i] = i < *rank - is.size ? 1 : is.data[i - (*rank - is.size)];
    if (at) dims[*rank - at] = (int64_t)from->n;
    return true;
}

static uint64_t elements_of(const int64_t *dims, size_t rank) {
    uint64_t n = 1;
    for (size_t i = 0; i < rank; i++) n *= (uint64_t)dims[i];
    return n;
}

static bool may_change(const absorption *c, const xir_op *op, const carried *from) {
    if (c->n_changes == ABSORB_STEPS || !lines_are_finite(c, from)) return false;
    for (size_t i = 0; i < c->n_changes; i++) {
        if (c->changes[i].op == op) return false;
    }
    return true;
}

bool absorb_change_constant(absorption *c, xir_op *op, uint32_t operand, carried from) {
    int64_t dims[16], n;
    size_t rank;
    const xir_value *constant = xir_op_input(op, operand);
    if (!may_change(c, op, &from) || !constant_is_plain(constant, &n) || n < 1 ||
        !widened(constant, &from, dims, &rank)) return false;
    count_bytes(c, constant, bytes_of(constant) / (uint64_t)n * elements_of(dims, rank));
    c->changes[c->n_changes++] = (absorb_change){ .kind = CHANGE_CONSTANT, .op = op, .operand = operand, .from = from };
    return true;
}

bool absorb_change_weights(absorption *c, const linear *l, carried from) {
    if (!may_change(c, l->op, &from)) return false;
    const uint64_t bytes = bytes_of(l->weights);
    count_bytes(c, l->weights, bytes);
    if (!lines_add_nothing(c, &from)) count_bytes(c, l->bias, (uint64_t)l->out_channels * (bytes / (uint64_t)l->count));
    c->changes[c->n_changes++] = (absorb_change){ .kind = CHANGE_WEIGHTS, .op = l->op, .operand = 1, .from = from,
                                                  .of = *l };
    return true;
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

/* Writes the elements of a changed constant to `out` (NULL: does not write). Returns false if one of them would be
 * infinite, or would lose precision because it is too small. */
static bool write_constant(const absorption *c, const absorb_change *change, const int64_t *dims, size_t rank,
                           void *out) {
    const xir_value *constant = xir_op_input(change->op, change->operand);
    const xir_i64s is = xir_type_as_tensor(constant->type)->shape;
    const element_format form = element_format_of(constant->type);
    const void *read = xir_params_data(constant, NULL);
    const channel_line *lines = lines_of(c, &change->from);
    const size_t from_end_ = change->from.dim < 0 ? 0
                           : xir_type_rank(change->from.value->type) - (size_t)change->from.dim;
    int64_t at[16] = { 0 };
    double least, greatest;
    number_range(form, &least, &greatest);
    for (uint64_t k = 0, n = elements_of(dims, rank); k < n; k++) {
        size_t old = 0;
        for (size_t i = 0; i < is.size; i++)
            old = old * (size_t)is.data[i] + (is.data[i] == 1 ? 0 : (size_t)at[rank - is.size + i]);
        const channel_line *line = &lines[from_end_ ? at[rank - from_end_] : 0];
        const double product = element_real(form, read, old) * line->factor;
        const double y = line->addend == 0 ? product : product + line->addend;    /* -0 stays */
        if (!(fabs(y) <= greatest) || (y != 0 && fabs(y) < least)) return false;
        if (out) element_put_real(form, out, k, y);
        for (size_t i = rank; i-- > 0 && ++at[i] == dims[i];) at[i] = 0;
    }
    return true;
}

static xir_status make_constant(const absorption *c, const absorb_change *change, operand_change *made) {
    xir_network *net = c->net;
    const xir_value *constant = xir_op_input(change->op, change->operand);
    int64_t dims[16];
    size_t rank;
    xir_value *now;
    if (!widened(constant, &change->from, dims, &rank)) return net_fail(net, XIR_E_INVALID, "a constant that changed");
    const xir_i64s is = xir_type_as_tensor(constant->type)->shape;
    bool same = is.size == rank;
    for (size_t i = 0; i < rank && same; i++) same = is.data[i] == dims[i];
    if (same) {
        now = constant_copy(constant, change->op);
    } else {
        const xir_type *type = type_tensor(&net->pool, xir_type_element(constant->type), NULL, (xir_i64s){ dims, rank },
                                           (xir_refs){ 0 });
        uint64_t bytes = 0;
        void *zeros = type && xir_type_bytes(type, &bytes) == XIR_OK ? mem_new(&net->alloc, bytes) : NULL;
        if (zeros) memset(zeros, 0, bytes);
        now = zeros ? xir_params_copy(net, xir_value_name(constant), type, zeros, bytes) : NULL;
        mem_free(&net->alloc, zeros, bytes);
    }
    void *out = now ? xir_params_edit(now) : NULL;
    if (!out) return net_no_memory(net);
    write_constant(c, change, dims, rank, out);
    *made = (operand_change){ .op = change->op, .at = change->operand, .now = { now } };
    return XIR_OK;
}

/* ---- weights ---------------------------------------------------------------------------------------------------- */

/* One line for each input channel; NULL without memory. */
static channel_line *spread(const absorption *c, const carried *from, int64_t n) {
    channel_line *lines = mem_new(&c->net->alloc, (size_t)n * sizeof *lines);
    for (size_t i = 0; lines && i < (size_t)n; i++) lines[i] = lines_of(c, from)[from->n == 1 ? 0 : i];
    return lines;
}

static bool is_moderate(const absorption *c, const carried *from) {
    for (size_t i = 0; i < from->n; i++) {
        const double f = fabs(lines_of(c, from)[i].factor);
        if (f != 0 && (f < 0x1p-20 || f > 0x1p20)) return false;
    }
    return true;
}

/* Returns true if weights keep their precision. Formats with few exponents and extreme factors are tested. */
static bool weights_hold(absorption *c, const absorb_change *change) {
    const linear *l = &change->of;
    bool holds = true;
    if (l->form.exponent >= 8 && is_moderate(c, &change->from)) return true;
    channel_line *lines = spread(c, &change->from, l->in_channels);
    c->no_memory = !lines || linear_holds(l, lines, &holds) != XIR_OK;
    mem_free(&c->net->alloc, lines, (size_t)l->in_channels * sizeof *lines);
    return holds && !c->no_memory;
}

static xir_status make_weights(const absorption *c, const absorb_change *change, operand_change *made) {
    const linear *l = &change->of;
    channel_line *lines = spread(c, &change->from, l->in_channels);
    if (!lines) return net_no_memory(c->net);
    linear_made constants;
    const xir_status status = linear_make(l, lines, false, &constants);
    mem_free(&c->net->alloc, lines, (size_t)l->in_channels * sizeof *lines);
    if (!status) *made = linear_change(l->op, &constants, NULL);
    return status;
}

static bool takes_up(absorption *c, const absorb_change *change) {
    int64_t dims[16];
    size_t rank;
    if (change->kind == CHANGE_WEIGHTS) return weights_hold(c, change);
    return widened(xir_op_input(change->op, change->operand), &change->from, dims, &rank) &&
           write_constant(c, change, dims, rank, NULL);
}

/* ---- plan and change -------------------------------------------------------------------------------------------- */

static bool is_movable(const xir_op *op) {
    return op->flags & OP_PLACED && !(op->flags & OP_CHILD) && target_is_host(op_target(op)) && !xir_op_extra(op);
}

bool absorb_plan(absorption *c) {
    if (!lines_are_finite(c, &c->steps[0])) return false;
    for (size_t i = 0; i < c->n; i++) {
        const carried in = c->steps[i];
        for (const xir_use *u = in.value->uses; u; u = u->next) {
            if (++c->n_uses > ABSORB_STEPS || !is_movable(u->user)) return false;
            if (!absorb_through(c, &in, u->user, (uint32_t)xir_use_index(u))) return false;
        }
    }
    if (!c->n_changes || !grows_little(c)) return false;
    for (size_t i = 0; i < c->n_changes; i++) {
        if (!takes_up(c, &c->changes[i])) return false;
    }
    return true;
}

xir_status absorb_make(absorption *c) {
    xir_status status = XIR_OK;
    for (size_t i = 0; i < c->n_changes && !status; i++) {
        const absorb_change *change = &c->changes[i];
        operand_change *made = &c->operands[i];
        status = change->kind == CHANGE_WEIGHTS ? make_weights(c, change, made) : make_constant(c, change, made);
    }
    return status;
}

static void restore_names(const absorption *c, size_t n) {
    for (size_t i = 0; i < n; i++) products_restore(c->steps[i].value, c->names[i]);
}

/* A network in which only some ops have their new constants would compute something else. */
xir_status absorb_take(absorption *c) {
    xir_status status = XIR_OK;
    size_t n = 0;
    while (n < c->n && !status) status = products_rename(c->steps[n].value, &c->names[n]), n++;
    if (!status) status = operands_change(c->operands, c->n_changes);
    if (status) restore_names(c, n);
    return status;
}

void absorb_give_back(const absorption *c) {
    operands_restore(c->operands, c->n_changes);
    restore_names(c, c->n);
}

void absorb_done(const absorption *c, xir_rewriter *at) {
    for (size_t i = 0; i < c->n; i++) provenance_changed(c->steps[i].value);
    for (size_t i = 0; i < c->n_changes; i++) xir_rewriter_touch(at, c->changes[i].op);
}

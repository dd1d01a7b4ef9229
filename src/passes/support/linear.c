/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/linear.h"
#include <math.h>
#include <xir/ops.h>
#include "element_loops.h"
#include "params_room.h"
#include "support/affine.h"
#include "support/numbers.h"
#include "types.h"

/* ---- ops with weights ------------------------------------------------------------------------------------------- */

/* Tiled layouts and padded channels belong to a back end. */
static bool is_plain(const xir_type *type) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    return tensor && !tensor->merged_distrs.size && !xir_type_is_layouted(type);
}

bool constant_is_plain(const xir_value *v, int64_t *count) {
    uint64_t size, need;
    if (!value_is_constant(v) || !is_plain(v->type)) return false;
    return xir_type_elements(v->type, count) == XIR_OK && xir_type_bytes(v->type, &need) == XIR_OK &&
           xir_params_data(v, &size) && size == need;
}

static int64_t step_of(const xir_type *type, int64_t dim) {
    int64_t step = 1;
    for (int64_t i = (int64_t)xir_type_rank(type) - 1; i > dim; i--) step *= xir_type_dim(type, i, false);
    return step;
}

/* A bias has one number per output channel. The bias of Matmul may also be one number for all channels, because it
 * broadcasts. */
static bool read_bias(linear *l) {
    int64_t n, rank = l->bias ? (int64_t)xir_type_rank(l->bias->type) : 0;
    if (!l->bias) return true;
    l->bias_form = element_format_of(l->bias->type);
    if (!constant_is_plain(l->bias, &n) || !element_is_float(l->bias_form)) return false;
    if (l->matmul && n == 1) return true;
    return n == l->out_channels && (!l->matmul || xir_type_dim(l->bias->type, rank - 1, false) == n);
}

static bool is_requantised(const xir_op *op) {
    const class_normalised *row = op->cls->more->normalised;
    const xir_scales *cut = row && row->cut ? *(const xir_scales *const *)body_at(op->attrs, row->cut) : NULL;
    return cut && cut->items.size;
}

bool linear_of(xir_op *op, linear *l) {
    xir_attr groups = { .as.i64 = 1 };
    *l = (linear){ .op = op, .weights = xir_op_input(op, 1), .bias = xir_op_input(op, 2),
                   .matmul = xir_op_is(op, xir_matmul_class()) };
    if (op->n_outputs != 1 || !is_plain(op_outputs(op)[0].type) || is_requantised(op) ||
        !target_is_host(op_target(op))) return false;
    if (!constant_is_plain(l->weights, &l->count) || l->count == 0) return false;
    const xir_type *type = l->weights->type;
    if (!element_is_float(l->form = element_format_of(type))) return false;
    int64_t rank = (int64_t)xir_type_rank(type), in = rank - 2, out = rank - 1;
    if (!l->matmul) {
        in = xir_layout_index(xir_type_layout(type), 'I');
        out = xir_layout_index(xir_type_layout(type), 'O');
        if (xir_op_get(op, XIR_STR("groups"), &groups) != XIR_OK || groups.as.i64 < 1) return false;
        l->transposed = xir_class_field(op->cls, XIR_STR("padding_mode")) == NULL;
    }
    if (in < 0 || out < 0 || in >= rank || out >= rank) return false;
    l->groups = groups.as.i64;
    l->in_dim = xir_type_dim(type, in, false);
    l->in_step = step_of(type, in);
    l->out_dim = xir_type_dim(type, out, false);
    l->out_step = step_of(type, out);
    l->in_channels = l->transposed ? l->in_dim : l->in_dim * l->groups;
    l->out_channels = l->transposed ? l->out_dim * l->groups : l->out_dim;
    return (l->transposed ? l->in_dim : l->out_dim) % l->groups == 0 && read_bias(l);
}

/* The bias of each output channel; 0 where there is none. */
static void read_biases(const linear *l, double *out) {
    const size_t channels = (size_t)l->out_channels;
    const void *bytes = l->bias ? xir_params_data(l->bias, NULL) : NULL;
    int64_t n = 0;
    if (l->bias) xir_type_elements(l->bias->type, &n);
    for (size_t c = 0; c < channels; c++) out[c] = bytes ? element_real(l->bias_form, bytes, n == 1 ? 0 : c) : 0;
}

int64_t linear_dim(const linear *l, const xir_type *data) {
    return l->matmul ? (int64_t)xir_type_rank(data) - 1 : channel_dim(data);
}

bool linear_reads_all(const linear *l) {
    xir_attr a;
    if (l->matmul) return xir_type_rank(l->weights->type) == 2;
    if (l->transposed) return false;
    if (xir_op_get(l->op, XIR_STR("padding_mode"), &a) == XIR_OK && a.as.enumerator != XIR_PADDING_ZEROS) return true;
    for (uint32_t i = 0; i < l->op->cls->n_fields; i++) {
        const xir_field *f = &l->op->cls->fields[i];
        if (f->kind != XIR_KIND_I64 || f->name.size < 4 || memcmp(f->name.data, "pad_", 4) != 0) continue;
        if (*(const int64_t *)body_at(l->op->attrs, f) > 0) return false;
    }
    return true;
}

/* ---- new constants ---------------------------------------------------------------------------------------------- */

/* A constant like another one, with room for its bytes: all are to be written. */
static xir_value *constant_like(const xir_value *from, const xir_op *op, void **bytes) {
    uint64_t size;
    (void)xir_params_data(from, &size);
    xir_str name = xir_value_name(from), by = xir_op_name(op);
    char both[200];
    if (from->uses && from->uses->next && name.size && by.size && name.size + by.size + 1 < sizeof both) {
        memcpy(both, name.data, name.size);
        both[name.size] = '/';
        memcpy(both + name.size + 1, by.data, by.size);
        name = (xir_str){ both, name.size + by.size + 1 };
    }
    return params_with_room(op->net, name, from->type, size, bytes);
}

xir_value *constant_copy(const xir_value *from, const xir_op *op) {
    uint64_t size;
    void *bytes;
    const void *read = xir_params_data(from, &size);
    xir_value *copy = constant_like(from, op, &bytes);
    if (copy && size) memcpy(bytes, read, size);
    return copy;
}

/* A bias with room for one number per output channel, like the existing one if that has as many. */
static xir_value *make_bias(const linear *l, void **bytes) {
    int64_t n = 0;
    if (l->bias) xir_type_elements(l->bias->type, &n);
    if (l->bias && n == l->out_channels) return constant_like(l->bias, l->op, bytes);
    xir_network *net = l->op->net;
    xir_str by = xir_op_name(l->op);
    char name[200] = "";
    if (by.size && by.size + 6 < sizeof name) {
        memcpy(name, by.data, by.size);
        memcpy(name + by.size, ".bias", 6);
    }
    const xir_type *element = xir_type_element(l->bias ? l->bias->type : l->weights->type);
    const xir_type *type = type_tensor(&net->pool, element, NULL, (xir_i64s){ &l->out_channels, 1 }, (xir_refs){ 0 });
    uint64_t size;
    return type && !xir_type_bytes(type, &size) ? params_with_room(net, xir_str_of(name), type, size, bytes) : NULL;
}

/* A position along one dim of a row-major tensor, moved one element at a time. */
typedef struct counter { int64_t at, dim, left, step; } counter;

static inline void count_on(counter *c) {
    if (--c->left) return;
    c->left = c->step;
    if (++c->at == c->dim) c->at = 0;
}

/* Positions of a weight: its input channel and its output channel. */
typedef struct place {
    counter i, o;
    int64_t group_size;
} place;

static place first_place(const linear *l) {
    return (place){ { 0, l->in_dim, l->in_step, l->in_step }, { 0, l->out_dim, l->out_step, l->out_step },
                    (l->transposed ? l->in_dim : l->out_dim) / l->groups };
}

static inline void channels_at(const linear *l, const place *p, int64_t *in, int64_t *out) {
    const int64_t group = l->groups == 1 ? 0 : (l->transposed ? p->i.at : p->o.at) / p->group_size;
    *in = l->transposed ? p->i.at : group * l->in_dim + p->i.at;
    *out = l->transposed ? group * l->out_dim + p->o.at : p->o.at;
}

/* Returns true if weights are fp32, and those of one input channel and all output channels follow each other. */
static bool has_plain_rows(const linear *l) {
    const bool is_fp32 = l->form.bits == 32 && l->form.exponent == 8 && l->form.mantissa == 23;
    return is_fp32 && l->groups == 1 && l->out_step == 1 && l->in_step == l->out_dim;
}

/* scale_weights for plain rows: the same numbers. `factors` are those of the output channels; NULL: lines are those of
 * the input channels. */
static void scale_rows(const linear *l, uint8_t *w, const double *factors, const channel_line *lines, double *sums) {
    enum { FEW = 1024 };   /* weights for which the search for the best loops would take longer than they save */
    const element_loops *loops = l->count < FEW ? element_loops_at(0) : element_loops_now();
    const uint8_t *read = xir_params_data(l->weights, NULL);
    const size_t n = (size_t)l->out_dim, rows = (size_t)l->count / n;
    for (size_t k = 0, in = 0; k < rows; k++, in = in + 1 == (size_t)l->in_dim ? 0 : in + 1) {
        const size_t at = k * n * sizeof(float);
        if (w && factors) loops->scale_each(read + at, n, factors, w + at);
        else if (w) loops->scale(read + at, n, lines[in].factor, w + at);
        if (!factors && lines[in].addend != 0) loops->add_scaled(read + at, n, lines[in].addend, sums);
    }
}

/* Writes each weight, multiplied by the factor of its output or input channel, to `w` (NULL: does not write). Adds to
 * sums[out] the contribution of the addends. */
static void scale_weights(const linear *l, void *w, bool after, const channel_line *lines, double *sums) {
    const void *read = xir_params_data(l->weights, NULL);
    place p = first_place(l);
    int64_t in, out;
    for (int64_t k = 0; k < l->count; k++, count_on(&p.i), count_on(&p.o)) {
        channels_at(l, &p, &in, &out);
        const double x = element_real(l->form, read, (size_t)k);
        if (w) element_put_real(l->form, w, (size_t)k, x * lines[after ? out : in].factor);
        if (!after) sums[out] += x * lines[in].addend;
    }
}

xir_status linear_holds(const linear *l, const channel_line *lines, bool *holds) {
    double least, greatest;
    number_range(l->form, &least, &greatest);
    const size_t n = (size_t)l->in_channels, size = n * sizeof(double);
    double *most = mem_new(&l->op->net->alloc, size);
    const void *read = xir_params_data(l->weights, NULL);
    place p = first_place(l);
    int64_t in, out;
    if (!most) return net_no_memory(l->op->net);
    memset(most, 0, size);
    *holds = true;
    for (int64_t k = 0; k < l->count && *holds; k++, count_on(&p.i), count_on(&p.o)) {
        channels_at(l, &p, &in, &out);
        const double x = fabs(element_real(l->form, read, (size_t)k)), y = fabs(lines[in].factor) * x;
        *holds = y <= greatest || !(x <= greatest);
        if (y > most[in]) most[in] = y;
    }
    for (size_t c = 0; c < n && *holds; c++) *holds = most[c] == 0 || most[c] >= least;
    mem_free(&l->op->net->alloc, most, size);
    return XIR_OK;
}

static bool has_factors(const channel_line *lines, size_t n) {
    size_t i = 0;
    while (i < n && lines[i].factor == 1) i++;
    return i < n;
}

static bool has_addends(const channel_line *lines, size_t n) {
    size_t i = 0;
    while (i < n && lines[i].addend == 0) i++;
    return i < n;
}

xir_status linear_make(const linear *l, const channel_line *lines, bool after, linear_made *out) {
    xir_network *net = l->op->net;
    const size_t n = (size_t)(after ? l->out_channels : l->in_channels), n_out = (size_t)l->out_channels;
    const bool adds = has_addends(lines, n), scales = has_factors(lines, n), needs_bias = adds || (after && l->bias);
    *out = (linear_made){ NULL, NULL };
    if (!adds && !scales) return XIR_OK;
    void *w = NULL, *b = NULL;
    double few[2 * FEW_CHANNELS], *sums = n_out <= FEW_CHANNELS ? few : mem_new(&net->alloc, 2 * n_out * sizeof *sums);
    xir_value *weights = scales && sums ? constant_like(l->weights, l->op, &w) : NULL;
    xir_value *bias = (weights || !scales) && sums && needs_bias ? make_bias(l, &b) : NULL;
    if ((scales && !weights) || (needs_bias && !bias) || !sums) {
        if (sums != few) mem_free(&net->alloc, sums, 2 * n_out * sizeof *sums);
        return net_no_memory(net);
    }
    double *factors = sums + n_out;
    read_biases(l, sums);
    for (size_t c = 0; c < n_out && after; c++) {
        sums[c] = sums[c] * lines[c].factor + lines[c].addend;
        factors[c] = lines[c].factor;
    }
    if (has_plain_rows(l)) scale_rows(l, w, after ? factors : NULL, lines, sums);
    else scale_weights(l, w, after, lines, sums);
    const element_format form = element_format_of(needs_bias ? bias->type : NULL);
    for (size_t c = 0; c < n_out && needs_bias; c++) element_put_real(form, b, c, sums[c]);
    if (sums != few) mem_free(&net->alloc, sums, 2 * n_out * sizeof *sums);
    *out = (linear_made){ weights, bias };
    return XIR_OK;
}

xir_status linear_reorder(const linear *l, const int64_t *order, linear_made *out) {
    xir_value *weights = constant_copy(l->weights, l->op);
    const void *read = xir_params_data(l->weights, NULL);
    void *w = weights ? xir_params_edit(weights) : NULL;
    if (!w) return net_no_memory(l->op->net);
    counter i = { 0, l->in_dim, l->in_step, l->in_step };
    for (int64_t k = 0; k < l->count; k++, count_on(&i)) {
        const int64_t to = k + (order[i.at] - i.at) * l->in_step;
        element_put_real(l->form, w, (size_t)to, element_real(l->form, read, (size_t)k));
    }
    *out = (linear_made){ weights, NULL };
    return XIR_OK;
}

operand_change linear_change(xir_op *op, const linear_made *made, xir_value *input) {
    return (operand_change){ .op = op, .now = { input, made->weights, made->bias } };
}

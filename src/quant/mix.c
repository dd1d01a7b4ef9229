/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Makes a mix: quantises a copy of the network with the fewest bits, and finds out which ops decide about the bits of
 * which values. Ops of the copy have the ids that they have in the network; new ones are those of the pass. */
#include "mix.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "calibration.h"
#include "sized.h"

static const xir_str nowhere = { "", 0 };

/* ---- shared ------------------------------------------------------------------------------------------------------ */

xir_status mix_memory(xir_diags *why) { return no_memory(why); }

xir_status mix_fail(xir_diags *why, xir_status code, const char *sentence) {
    return xir_diags_add(why, XIR_ERROR, code, nowhere, "%s", sentence);
}

void *mix_new(const xir_allocator *alloc, size_t n, size_t size) {
    if (n >= SIZE_MAX / size) return NULL;
    void *items = alloc->resize(alloc->user, NULL, 0, (n + 1) * size);
    if (items) memset(items, 0, (n + 1) * size);
    return items;
}

void mix_drop(const xir_allocator *alloc, void *items, size_t n, size_t size) {
    if (items) alloc->resize(alloc->user, items, (n + 1) * size, 0);
}

double mix_cosine(const mix_sums *s) {
    const double c = s->expected > 0 && s->found > 0 ? s->both / sqrt(s->expected) / sqrt(s->found)
                                                     : (s->expected > 0) == (s->found > 0);
    return c > 1 ? 1 : c >= 0 ? c : 0;
}

/* ---- values of a quantised copy ---------------------------------------------------------------------------------- */

const xir_op *mix_partner(const xir_mix *m, const xir_op *op) {
    const xir_op *partner = xir_network_op_by_id(m->net, xir_op_id(op));
    return partner && xir_op_class(partner) == xir_op_class(op) ? partner : NULL;
}

uint32_t mix_number(const xir_mix *m, const xir_value *value) {
    const xir_op *op = value ? xir_value_op(value) : NULL;
    if (!op || !xir_op_is_placed(op) || xir_op_parent(op)) return NO_INDEX;
    const uint32_t first = m->first[xir_op_slot(op)];
    return first == NO_INDEX ? NO_INDEX : first + (uint32_t)xir_value_index(value);
}

uint32_t mix_source(const xir_mix *m, const xir_value *value) {
    for (int steps = 0; value && steps < 4; steps++) {
        const xir_op *op = xir_value_op(value), *partner = op ? mix_partner(m, op) : NULL;
        if (partner) return mix_number(m, xir_op_output(partner, (int64_t)xir_value_index(value)));
        value = op ? xir_op_input(op, 0) : NULL;
    }
    return NO_INDEX;
}

bool mix_is_stored(const xir_value *value) {
    const xir_type *element = value ? xir_type_element(xir_value_type(value)) : NULL;
    const xir_type_kind kind = element ? xir_type_kind_of(element) : XIR_TYPE_OTHER;
    return kind >= XIR_TYPE_NORMALIZED && kind <= XIR_TYPE_NORMALIZED_QUANTIZED;
}

/* Calls `see` with each stored value of a copy that stands for one of the network, and its number. */
typedef void see_fn(xir_mix *m, const xir_op *op, const xir_value *stored, uint32_t number, void *user);
static void each_stored(const xir_mix *m, const xir_network *net, see_fn *see, void *user) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t k = 0; k < xir_op_output_count(op); k++) {
            const xir_value *w = xir_op_output(op, (int64_t)k);
            const uint32_t i = mix_is_stored(w) ? mix_source(m, w) : NO_INDEX;
            if (i != NO_INDEX) see((xir_mix *)(uintptr_t)m, op, w, i, user);
        }
    }
}

/* Notes the bits of a value, and clears its mark if it does not have more than in the plain copy. */
static void unmark(xir_mix *m, const xir_op *op, const xir_value *stored, uint32_t i, void *user) {
    bool *raised = user;
    (void)op;
    if (xir_type_storage_bits(xir_value_type(stored)) <= m->values[i].bits) raised[i] = false;
}

size_t mix_raised(const xir_mix *m, const xir_network *net) {
    bool *raised = mix_new(m->alloc, m->n_values, sizeof *raised);
    size_t n = 0;
    if (!raised) return SIZE_MAX;
    for (size_t i = 0; i < m->n_values; i++) raised[i] = m->values[i].bits != 0;
    each_stored(m, net, unmark, raised);
    for (size_t i = 0; i < m->n_values; i++) n += raised[i];
    mix_drop(m->alloc, raised, m->n_values, sizeof *raised);
    return n;
}

/* ---- which ops decide -------------------------------------------------------------------------------------------- */

static bool is_product(const xir_op *op) {
    return xir_op_is(op, xir_conv1d_class()) || xir_op_is(op, xir_conv2d_class()) ||
           xir_op_is(op, xir_conv3d_class()) || xir_op_is(op, xir_conv_transpose1d_class()) ||
           xir_op_is(op, xir_conv_transpose2d_class()) || xir_op_is(op, xir_conv_transpose3d_class()) ||
           xir_op_is(op, xir_matmul_class());
}

/* Another copy of the network for inference, whose types are the same afterwards; failed: without memory. */
typedef struct noting { xir_network *scratch; bool failed; } noting;

/* Returns true if inference gives an op the stored type that its result has, because its input has it: it moves
 * elements. */
static bool carries(noting *n, const xir_op *op, const xir_value *stored) {
    xir_op *same = xir_network_op_by_id(n->scratch, xir_op_id(op));
    const xir_value *out = same ? xir_op_output(same, (int64_t)xir_value_index(stored)) : NULL;
    if (!out) return false;
    const xir_status status = xir_op_infer(same, true);
    const bool kept = !status && xir_type_equal(xir_value_type(out), xir_value_type(stored));
    n->failed |= status == XIR_E_MEMORY;
    xir_network_clear_status(n->scratch);
    for (size_t k = 0; k < xir_op_output_count(op) && k < xir_op_output_count(same); k++)
        (void)xir_value_set_type(xir_op_output(same, (int64_t)k), xir_value_type(xir_op_output(op, (int64_t)k)));
    return kept;
}

/* Of a value that is stored in several forms, the first is the one that its op decides about. */
static void note_stored(xir_mix *m, const xir_op *op, const xir_value *stored, uint32_t i, void *user) {
    const xir_value *in = xir_op_input(op, 0);
    mix_value *v = &m->values[i];
    if (v->bits) return;
    v->bits = (uint32_t)xir_type_storage_bits(xir_value_type(stored));
    v->root = i;
    m->n_stored++;
    if (!mix_partner(m, op) || is_product(op) || !mix_is_stored(in)) return;
    if (!carries(user, op, stored)) return;
    const uint32_t from = mix_source(m, in);
    if (from != NO_INDEX && m->values[from].bits) v->root = m->values[from].root;
}

static bool reads_stored(const xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op); i++)
        if (mix_is_stored(xir_op_input(op, (int64_t)i))) return true;
    return false;
}

/* The group of the ops that read what an op makes, if there is one for all; otherwise NO_INDEX. */
static uint32_t group_of_readers(const xir_mix *m, const xir_op *op) {
    uint32_t group = NO_INDEX;
    for (size_t k = 0; k < xir_op_output_count(op); k++) {
        for (const xir_use *u = xir_value_uses(xir_op_output(op, (int64_t)k)); u; u = xir_use_next(u)) {
            const xir_op *reader = xir_use_op(u);
            const uint32_t g = xir_op_is_placed(reader) && !xir_op_parent(reader) ? m->group_of[xir_op_slot(reader)]
                                                                                  : NO_INDEX;
            if (g == NO_INDEX || (group != NO_INDEX && g != group)) return NO_INDEX;
            group = g;
        }
    }
    return group;
}

static bool makes_stored(const xir_mix *m, const xir_op *op) {
    for (size_t k = 0; k < xir_op_output_count(op); k++)
        if (m->values[m->first[xir_op_slot(op)] + k].bits) return true;
    return false;
}

/* A group for each op that makes stored values of its own. Ops that move these are of the group, and so are ops before
 * it that read stored numbers and give floats to it alone: a product before a clip. */
static void make_groups(xir_mix *m) {
    for (size_t i = 0; i < m->n_values; i++) {
        if (!m->values[i].bits || m->values[i].root != i) continue;
        const xir_op *op = xir_value_op(m->values[i].value);
        uint32_t *group = &m->group_of[xir_op_slot(op)];
        if (!mix_has_name(m->net, op)) continue;
        if (*group == NO_INDEX) *group = (uint32_t)m->n_groups++;
        m->groups[*group].bits = m->groups[*group].plain = m->values[i].bits;
    }
    for (size_t i = 0; i < m->n_values; i++) {
        if (!m->values[i].bits) continue;
        const xir_op *op = xir_value_op(m->values[m->values[i].root].value);
        const uint32_t group = m->group_of[xir_op_slot(op)];
        if (group == NO_INDEX) continue;
        m->groups[group].values++;
        uint32_t *own = &m->group_of[xir_op_slot(xir_value_op(m->values[i].value))];
        if (*own == NO_INDEX && mix_has_name(m->net, xir_value_op(m->values[i].value))) *own = group;
    }
    for (const xir_op *op = xir_network_last(m->plain); op; op = xir_op_prev(op)) {
        const xir_op *own = mix_partner(m, op);
        if (!own || makes_stored(m, own) || !reads_stored(op) || !mix_has_name(m->net, own)) continue;
        if (xir_op_output_count(own)) m->group_of[xir_op_slot(own)] = group_of_readers(m, own);
    }
}

static void list_items(xir_mix *m) {
    uint32_t position = 0;
    for (const xir_op *op = xir_network_first(m->net); op; op = xir_op_next(op), position++) {
        const uint32_t group = m->group_of[xir_op_slot(op)];
        if (group == NO_INDEX) continue;
        m->items[m->n_items++] = (mix_item){ .op = op, .cosine = 1, .group = group, .position = position };
    }
    for (size_t g = 0; g < m->n_groups; g++) m->groups[g].cosine = 1;
}

static int by_cosine(const void *x, const void *y) {
    const mix_item *a = x, *b = y;
    if (a->cosine != b->cosine) return a->cosine < b->cosine ? -1 : 1;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

/* The cosine of a group is the least of its values. */
static void rank_items(xir_mix *m) {
    for (size_t g = 0; g < m->n_groups; g++) m->groups[g].cosine = 1;
    for (size_t i = 0; i < m->n_values; i++) {
        const mix_value *v = &m->values[i];
        if (!v->bits) continue;
        const uint32_t group = m->group_of[xir_op_slot(xir_value_op(m->values[v->root].value))];
        const double cosine = mix_cosine(&v->sums);
        if (group != NO_INDEX && cosine < m->groups[group].cosine) m->groups[group].cosine = cosine;
    }
    for (size_t i = 0; i < m->n_items; i++) m->items[i].cosine = m->groups[m->items[i].group].cosine;
    qsort(m->items, m->n_items, sizeof *m->items, by_cosine);
}

/* ---- quantising -------------------------------------------------------------------------------------------------- */

/* A text between quotation marks of a pipeline. */
static void append_quoted(mix_text *out, const char *text) {
    for (const char *at = text; *at; at++) {
        if (*at == '"' || *at == '\\') mix_append(out, XIR_STR("\\"));
        mix_append(out, (xir_str){ at, 1 });
    }
}

xir_network *mix_quantise(const xir_mix *m, const char *csv, xir_status *status, xir_diags *why) {
    mix_text text = { .alloc = m->alloc };
    xir_network *net = xir_network_clone(m->net);
    mix_append(&text, xir_str_of(m->options));
    if (csv) {
        mix_append(&text, *m->options ? XIR_STR(",precision=\"") : XIR_STR("precision=\""));
        append_quoted(&text, csv);
        mix_append(&text, XIR_STR("\""));
    }
    mix_append(&text, (xir_str){ "", 1 });
    if (!net || text.failed) *status = mix_memory(why);
    else *status = xir_pass_run(net, "quantize", text.data, NULL, why);
    mix_text_free(&text);
    if (!*status) return net;
    xir_network_free(net);
    return NULL;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static bool number_values(xir_mix *m) {
    m->n_slots = xir_network_slot_count(m->net);
    for (const xir_op *op = xir_network_first(m->net); op; op = xir_op_next(op)) m->n_values += xir_op_output_count(op);
    m->first = mix_new(m->alloc, m->n_slots, sizeof *m->first);
    m->group_of = mix_new(m->alloc, m->n_slots, sizeof *m->group_of);
    m->values = mix_new(m->alloc, m->n_values, sizeof *m->values);
    m->groups = mix_new(m->alloc, m->n_values, sizeof *m->groups);
    m->items = mix_new(m->alloc, m->n_slots, sizeof *m->items);
    if (!m->first || !m->group_of || !m->values || !m->groups || !m->items) return false;
    for (size_t i = 0; i < m->n_slots; i++) m->first[i] = m->group_of[i] = NO_INDEX;
    uint32_t n = 0;
    for (const xir_op *op = xir_network_first(m->net); op; op = xir_op_next(op)) {
        m->first[xir_op_slot(op)] = n;
        for (size_t k = 0; k < xir_op_output_count(op); k++)
            m->values[n++].value = xir_op_output(op, (int64_t)k);
    }
    return true;
}

/* An op that is not found by its id or its name, which it has, says that there is no memory for the table: later calls
 * find the table. */
static xir_status check_network(const xir_mix *m, xir_diags *why) {
    for (size_t i = 0; i < m->n_values; i++) {
        const xir_op *op = xir_value_op(m->values[i].value), *found = xir_network_op_by_id(m->net, xir_op_id(op));
        const xir_str name = xir_op_name(op);
        if (mix_is_stored(m->values[i].value)) return mix_fail(why, XIR_E_INVALID, "the network is quantised already");
        if (!found || (name.size && !xir_network_op_by_name(m->net, name))) return mix_memory(why);
        if (found != op) return mix_fail(why, XIR_E_INVALID, "two ops of the network have one id");
    }
    return XIR_OK;
}

/* A copy of the plain network whose ops are found by their ids without memory. NULL without memory. */
static xir_network *copy_of(const xir_network *net) {
    xir_network *copy = xir_network_clone(net);
    if (copy && xir_network_op_by_id(copy, xir_op_id(xir_network_first(net)))) return copy;
    xir_network_free(copy);
    return NULL;
}

static xir_status open_mix(xir_mix *m, xir_diags *why) {
    if (!number_values(m)) return mix_memory(why);
    xir_status status = check_network(m, why);
    if (status) return status;
    xir_diags *found = xir_diags_new(m->ctx);
    if (!found) return mix_memory(why);
    m->plain = mix_quantise(m, NULL, &status, found);
    for (size_t i = 0; i < xir_diags_count(found); i++)
        if (xir_diags_at(found, i)->severity != XIR_NOTE) xir_diags_append(why, xir_diags_at(found, i));
    xir_diags_free(found);
    if (status) return status;
    noting n = { .scratch = copy_of(m->plain) };
    if (!n.scratch) return mix_memory(why);
    each_stored(m, m->plain, note_stored, &n);
    xir_network_free(n.scratch);
    if (n.failed) return mix_memory(why);
    make_groups(m);
    list_items(m);
    return m->n_groups ? XIR_OK : mix_fail(why, XIR_E_MISSING, "the scheme stores no value of the network");
}

static xir_status check_options(const xir_mix_options *how, xir_diags *why) {
    if (!(how->below >= 0 && how->below <= 1) || !(how->budget >= 0 && how->budget <= 1))
        return mix_fail(why, XIR_E_INVALID, "below and budget are from 0 to 1");
    if (!(how->least_snr >= 0)) return mix_fail(why, XIR_E_INVALID, "least_snr is a number of dB that is not negative");
    return XIR_OK;
}

xir_mix *xir_mix_new(const xir_network *net, const xir_mix_options *options, xir_diags *why) {
    xir_mix_options how = XIR_INIT(xir_mix_options);
    if (!net) {
        mix_fail(why, XIR_E_MISSING, "expected a network, found NULL");
        return NULL;
    }
    if (sized_take(SIZED(xir_mix_options, threads), &how, options, why) || check_options(&how, why)) return NULL;
    const xir_allocator *alloc = xir_context_allocator(xir_network_context(net));
    const char *text = how.quantize ? how.quantize : "";
    xir_mix *m = alloc->resize(alloc->user, NULL, 0, sizeof *m);
    if (!m) {
        mix_memory(why);
        return NULL;
    }
    *m = (xir_mix){
        .ctx = xir_network_context(net), .alloc = alloc, .net = net, .least_snr = how.least_snr,
        .below = how.below > 0 ? how.below : 0.97, .budget = how.budget > 0 ? how.budget : 0.25,
        .run = XIR_INIT(xir_run_options, .cancel = how.cancel, .user = how.user, .max_work = how.max_work,
                        .max_memory = how.max_memory, .threads = how.threads),
        .n_in = xir_network_inputs(net, NULL, 0), .n_out = xir_network_outputs(net, NULL, 0),
        .options = mix_new(alloc, strlen(text), 1), .state = XIR_INIT(xir_mix_state),
    };
    xir_status status = m->options ? XIR_OK : mix_memory(why);
    if (!status) memcpy(m->options, text, strlen(text));
    if (!status) status = open_mix(m, why);
    if (!status) return m;
    xir_mix_free(m);
    return NULL;
}

void xir_mix_free(xir_mix *m) {
    if (!m) return;
    const xir_allocator *alloc = m->alloc;
    for (size_t i = 0; i < m->n_samples * m->n_in; i++) xir_array_free(m->samples[i]);
    for (size_t i = 0; i < m->n_samples * m->n_out; i++) xir_array_free(m->results[i]);
    mix_drop(alloc, m->samples, m->sample_room * m->n_in, sizeof *m->samples);
    mix_drop(alloc, m->results, m->sample_room * m->n_out, sizeof *m->results);
    mix_drop(alloc, m->first, m->n_slots, sizeof *m->first);
    mix_drop(alloc, m->group_of, m->n_slots, sizeof *m->group_of);
    mix_drop(alloc, m->values, m->n_values, sizeof *m->values);
    mix_drop(alloc, m->groups, m->n_values, sizeof *m->groups);
    mix_drop(alloc, m->items, m->n_slots, sizeof *m->items);
    if (m->options) mix_drop(alloc, m->options, strlen(m->options), 1);
    xir_network_free(m->plain);
    alloc->resize(alloc->user, m, sizeof *m, 0);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* Makes room for one more sample, in both lists. */
static bool make_room(xir_mix *m) {
    if (m->n_samples < m->sample_room) return true;
    const size_t was = m->sample_room, room = was ? was * 2 : 8;
    xir_array **samples = mix_new(m->alloc, room * m->n_in, sizeof *samples);
    xir_array **results = mix_new(m->alloc, room * m->n_out, sizeof *results);
    if (!samples || !results) {
        mix_drop(m->alloc, samples, room * m->n_in, sizeof *samples);
        mix_drop(m->alloc, results, room * m->n_out, sizeof *results);
        return false;
    }
    if (was) {
        memcpy(samples, m->samples, was * m->n_in * sizeof *samples);
        memcpy(results, m->results, was * m->n_out * sizeof *results);
    }
    mix_drop(m->alloc, m->samples, was * m->n_in, sizeof *samples);
    mix_drop(m->alloc, m->results, was * m->n_out, sizeof *results);
    m->samples = samples;
    m->results = results;
    m->sample_room = room;
    return true;
}

xir_status xir_mix_add(xir_mix *m, const xir_array *const *inputs, size_t n_inputs, xir_diags *why) {
    if (!m || (!inputs && n_inputs))
        return mix_fail(why, XIR_E_MISSING, "expected a mix and the inputs of a sample, found NULL");
    if (m->failed) return mix_fail(why, XIR_E_INVALID, "a sample of the mix has failed; begin again");
    if (n_inputs != m->n_in)
        return xir_diags_add(why, XIR_ERROR, XIR_E_BOUNDS, nowhere, "expected %zu inputs, found %zu", m->n_in,
                             n_inputs);
    for (size_t i = 0; i < n_inputs; i++)
        if (!inputs[i]) return mix_fail(why, XIR_E_MISSING, "an input of the sample is NULL");
    if (!make_room(m)) return mix_memory(why);
    for (size_t i = 0; i < n_inputs; i++)
        m->samples[m->n_samples * m->n_in + i] = xir_array_retain((xir_array *)(uintptr_t)inputs[i]);
    m->n_samples++;
    const xir_status status = mix_measure(m, why);
    m->failed = status != XIR_OK;
    if (!status) rank_items(m);
    m->state.samples += !status;
    return status;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

size_t xir_mix_count(const xir_mix *m) { return m ? m->n_items : 0; }

bool xir_mix_at(const xir_mix *m, size_t i, xir_mix_op *out) {
    if (!m || i >= m->n_items) return false;
    const mix_item *item = &m->items[i];
    const mix_group *g = &m->groups[item->group];
    const xir_mix_op made = { .bits = g->bits, .op = item->op, .cosine = item->cosine, .values = g->values,
                              .chosen = g->chosen };
    return out && !sized_fill(SIZED(xir_mix_op, chosen), out, &made, NULL);
}

xir_status xir_mix_state_of(const xir_mix *m, xir_mix_state *out, xir_diags *why) {
    xir_mix_state made = { 0 };
    if (!out) return mix_fail(why, XIR_E_ABI, "expected a state to fill, found NULL");
    if (m) made = m->state;
    made.stored = m ? m->n_stored : 0;
    return sized_fill(SIZED(xir_mix_state, plain_snr), out, &made, why);
}

xir_status xir_mix_write(const xir_mix *m, xir_write_fn *write, void *user, xir_diags *why) {
    if (!m || !write) return mix_fail(why, XIR_E_MISSING, "expected a mix and a writer, found NULL");
    mix_text text = { .alloc = m->alloc };
    mix_print_rows(m, &text);
    xir_status status = text.failed ? mix_memory(why) : XIR_OK;
    if (!status && !write(user, text.data, text.size)) status = mix_fail(why, XIR_E_IO, "the CSV cannot be written");
    mix_text_free(&text);
    return status;
}

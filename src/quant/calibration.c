/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Makes calibrations, counts samples in them, merges them, and answers what was counted. */
#include "calibration.h"
#include "channels.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xir/ops.h>
#include "sized.h"

enum { BLOCK = 1024 };

static const xir_str nowhere = { "", 0 };

/* ---- shared ------------------------------------------------------------------------------------------------ */

xir_status calibration_check(const xir_calibration *c, xir_diags *why) {
    if (!c) return xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, nowhere, "expected a calibration, found NULL");
    if (!c->failed) return XIR_OK;
    return xir_diags_add(why, XIR_ERROR, XIR_E_INVALID, nowhere,
                         "the calibration has part of a sample that failed; begin again");
}

static void *resize(const xir_calibration *c, void *block, size_t old_size, size_t size) {
    return c->alloc->resize(c->alloc->user, block, old_size, size);
}

/* ---- making ------------------------------------------------------------------------------------------------ */

xir_calibration *xir_calibration_new(xir_context *ctx, const xir_calibration_options *options, xir_diags *why) {
    xir_calibration_options how = XIR_INIT(xir_calibration_options);
    if (!ctx) {
        xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, nowhere, "expected a context, found NULL");
        return NULL;
    }
    if (sized_take(SIZED(xir_calibration_options, scope), &how, options, why)) return NULL;
    if ((unsigned)how.scope > XIR_CALIBRATE_PRODUCTS) {
        xir_diags_add(why, XIR_ERROR, XIR_E_INVALID, nowhere, "%d does not stand for a scope", (int)how.scope);
        return NULL;
    }
    const xir_allocator *alloc = xir_context_allocator(ctx);
    xir_calibration *c = alloc->resize(alloc->user, NULL, 0, sizeof *c);
    if (!c) {
        no_memory(why);
        return NULL;
    }
    *c = (xir_calibration){ .ctx = ctx, .alloc = alloc, .scope = how.scope, .channels = how.channels };
    return c;
}

void xir_calibration_free(xir_calibration *c) {
    if (!c) return;
    for (size_t i = 0; i < c->n; i++) {
        bins_free(&c->records[i].bins, c->alloc);
        channels_free(&c->records[i], c->alloc);
        resize(c, c->records[i].name, c->records[i].name_size + 1, 0);
    }
    if (c->records) resize(c, c->records, c->room * sizeof *c->records, 0);
    if (c->table) resize(c, c->table, c->table_size * sizeof *c->table, 0);
    resize(c, c, sizeof *c, 0);
}

/* ---- names ------------------------------------------------------------------------------------------------- */

/* FNV-1a. */
static uint64_t hash_of(xir_str name) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < name.size; i++) h = (h ^ (unsigned char)name.data[i]) * 1099511628211u;
    return h ^ h >> 32;
}

/* The place of a name in the table: that of its record, or an empty one. */
static size_t place_of(const xir_calibration *c, xir_str name) {
    size_t at = (size_t)hash_of(name) & (c->table_size - 1);
    for (; c->table[at]; at = (at + 1) & (c->table_size - 1)) {
        const record *r = &c->records[c->table[at] - 1];
        if (xir_str_equal((xir_str){ r->name, r->name_size }, name)) break;
    }
    return at;
}

/* At most half of the table is full. */
static bool grow_table(xir_calibration *c) {
    if (c->n * 2 < c->table_size) return true;
    const size_t was = c->table_size, size = was ? was * 2 : 64;
    size_t *table = resize(c, NULL, 0, size * sizeof *table);
    if (!table) return false;
    memset(table, 0, size * sizeof *table);
    if (c->table) resize(c, c->table, was * sizeof *c->table, 0);
    c->table = table;
    c->table_size = size;
    for (size_t i = 0; i < c->n; i++)
        c->table[place_of(c, (xir_str){ c->records[i].name, c->records[i].name_size })] = i + 1;
    return true;
}

record *calibration_record(xir_calibration *c, xir_str name) {
    if (!grow_table(c)) return NULL;
    const size_t at = place_of(c, name);
    if (c->table[at]) return &c->records[c->table[at] - 1];
    if (c->n == c->room) {
        const size_t room = c->room ? c->room * 2 : 32;
        record *records = resize(c, c->records, c->room * sizeof *records, room * sizeof *records);
        if (!records) return NULL;
        c->records = records;
        c->room = room;
    }
    char *copy = resize(c, NULL, 0, name.size + 1);
    if (!copy) return NULL;
    if (name.size) memcpy(copy, name.data, name.size);
    copy[name.size] = '\0';
    c->records[c->n] = (record){ .name = copy, .name_size = name.size };
    c->table[at] = ++c->n;
    return &c->records[c->n - 1];
}

/* The name of a value here. `room` is for a value without a name of its own. Without memory for the network's table of
 * names, the value has its name. */
enum { ID_ROOM = 24 };
static xir_str name_of(const xir_value *value, char room[ID_ROOM]) {
    const xir_str name = xir_value_name(value);
    const xir_value *holder = name.size ? xir_network_value_by_name(xir_value_network(value), name) : NULL;
    if (name.size && (!holder || holder == value)) return name;
    const int n = snprintf(room, ID_ROOM, "#%lld", (long long)xir_value_id(value));
    return (xir_str){ room, (size_t)n };
}

/* ---- counting ---------------------------------------------------------------------------------------------- */

static bool is_product(const xir_op *op) {
    return xir_op_is(op, xir_conv1d_class()) || xir_op_is(op, xir_conv2d_class()) ||
           xir_op_is(op, xir_conv3d_class()) || xir_op_is(op, xir_conv_transpose1d_class()) ||
           xir_op_is(op, xir_conv_transpose2d_class()) || xir_op_is(op, xir_conv_transpose3d_class()) ||
           xir_op_is(op, xir_matmul_class());
}

static bool is_in_scope(const xir_calibration *c, const xir_value *value) {
    const xir_type *element = xir_type_element(xir_value_type(value));
    if (!element || xir_type_kind_of(element) != XIR_TYPE_FLOAT) return false;
    if (c->scope == XIR_CALIBRATE_ALL) return true;
    for (const xir_use *u = xir_value_uses(value); u; u = xir_use_next(u)) {
        if (is_product(xir_use_op(u))) return true;
    }
    return false;
}

typedef struct sample {
    xir_calibration *c;
    xir_diags       *why;
    xir_status       status;
} sample;

static xir_status refuse_number(const sample *s, const xir_value *value, size_t i, double x) {
    const xir_op *op = xir_value_op(value);
    const xir_str name = xir_value_name(value), of = op ? xir_op_name(op) : nowhere;
    return xir_diags_add(s->why, XIR_ERROR, XIR_E_INVALID, nowhere,
                         "sample %llu: value '" XIR_PRI "' of op '" XIR_PRI "' is %s at element %zu",
                         (unsigned long long)s->c->samples, XIR_ARG(name), XIR_ARG(of),
                         isnan(x) ? "NaN" : "infinite", i);
}

/* The extremes of a block, and of all numbers so far. Returns the position of a number that is not finite; n: none. */
static size_t look(const double *x, size_t n, double *low, double *high, double *most) {
    double lo = x[0], hi = x[0];
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        lo = x[i] < lo ? x[i] : lo;
        hi = x[i] > hi ? x[i] : hi;
        finite &= fabs(x[i]) <= DBL_MAX;
    }
    *most = fabs(lo) > fabs(hi) ? fabs(lo) : fabs(hi);
    *low = lo < *low ? lo : *low;
    *high = hi > *high ? hi : *high;
    for (size_t i = 0; i < n && !finite; i++)
        if (!(fabs(x[i]) <= DBL_MAX)) return i;
    return n;
}

static void note_extremes(record *r, double low, double high) {
    r->min = r->bins.count && r->min < low ? r->min : low;
    r->max = r->bins.count && r->max > high ? r->max : high;
}

static xir_status too_many(xir_str name, xir_diags *why) {
    return xir_diags_add(why, XIR_ERROR, XIR_E_LIMIT, nowhere, "value '" XIR_PRI "' has more than 2^62 numbers",
                         XIR_ARG(name));
}

static xir_status count_array(const sample *s, const xir_value *value, const xir_array *array) {
    char room[ID_ROOM];
    const xir_str own = xir_value_name(value), name = name_of(value, room);
    const size_t n = xir_array_count(array);
    if (own.size && !xir_network_value_by_name(xir_value_network(value), own)) return no_memory(s->why);
    record *r = calibration_record(s->c, name);
    if (!r || !bins_reserve(&r->bins, s->c->alloc, n)) return no_memory(s->why);
    if (n > (UINT64_C(1) << COUNT_BITS) - r->bins.count) return too_many(name, s->why);
    const xir_type *type = xir_array_type(array);
    const size_t rank = xir_type_rank(type);
    const int64_t channels = rank ? xir_type_dim(type, (int64_t)rank - 1, false) : 0;
    if (s->c->channels && n && !channels_open(r, s->c->alloc, channels > 0 ? (size_t)channels : 0))
        return no_memory(s->why);
    double low = INFINITY, high = -INFINITY, x[BLOCK], most;
    const uint64_t before = r->bins.count;
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t size = n - at < BLOCK ? n - at : BLOCK;
        xir_status status = xir_array_reals(array, at, size, x);
        if (status) return xir_diags_add(s->why, XIR_ERROR, status, nowhere, "value '" XIR_PRI "' has no numbers",
                                         XIR_ARG(name));
        const size_t bad = look(x, size, &low, &high, &most);
        if (bad < size) return refuse_number(s, value, at + bad, x[bad]);
        bins_add(&r->bins, x, size, most);
        channels_add(r, x, at, size);
    }
    r->samples++;
    if (!n) return XIR_OK;
    low += 0.0;    /* not -0, which equals 0: the result does not depend on which came first */
    high += 0.0;
    r->min = before && r->min < low ? r->min : low;
    r->max = before && r->max > high ? r->max : high;
    r->sums[0] += low;
    r->sums[1] += high;
    r->sums[2] += fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    return XIR_OK;
}

static bool watch(void *user, const xir_value *value, const xir_array *array) {
    sample *s = user;
    if (!array || xir_value_network(value) == NULL || !is_in_scope(s->c, value)) return true;
    s->status = count_array(s, value, array);
    return s->status == XIR_OK;
}

/* The inputs of the network, which the executor's watch does not show; it says so if there are too few or too many. */
static xir_status count_inputs(sample *s, const xir_network *net, const xir_array *const *inputs, size_t n) {
    const xir_op *in = xir_network_input_op(net);
    for (size_t i = 0; in && i < n && n == xir_op_output_count(in); i++) {
        const xir_value *value = xir_op_output(in, (int64_t)i);
        if (!inputs[i] || !is_in_scope(s->c, value)) continue;
        const xir_status status = count_array(s, value, inputs[i]);
        if (status) return status;
    }
    return XIR_OK;
}

static void free_outputs(const xir_calibration *c, xir_array **outputs, size_t n) {
    for (size_t i = 0; i < n; i++) xir_array_free(outputs[i]);
    resize(c, outputs, (n + 1) * sizeof *outputs, 0);
}

/* A watch that ends the run has said why; that the run was stopped is left out. */
static xir_status run(const sample *s, const xir_network *net, const xir_array *const *inputs, size_t n_inputs,
                      xir_array **outputs, size_t n, const xir_run_options *how) {
    xir_diags *found = xir_diags_new(s->c->ctx);
    if (!found) return no_memory(s->why);
    const xir_status status = xir_network_run(net, inputs, n_inputs, outputs, n, how, found);
    for (size_t i = 0; i < xir_diags_count(found) && !s->status; i++)
        xir_diags_append(s->why, xir_diags_at(found, i));
    xir_diags_free(found);
    return s->status ? s->status : status;
}

xir_status xir_calibration_add(xir_calibration *c, const xir_network *net, const xir_array *const *inputs,
                               size_t n_inputs, const xir_run_options *options, xir_diags *why) {
    xir_status status = calibration_check(c, why);
    if (status) return status;
    if (!net || (!inputs && n_inputs))
        return xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, nowhere, "expected a network and its inputs, found NULL");
    xir_run_options how = XIR_INIT(xir_run_options);
    status = sized_take(SIZED(xir_run_options, user), &how, options, why);
    if (status) return status;
    how.size = sizeof how;
    if (how.watch || how.user)
        return xir_diags_add(why, XIR_ERROR, XIR_E_INVALID, nowhere,
                             "watch and user of the options are the calibration's: expected NULL");
    const size_t n = xir_network_outputs(net, NULL, 0);
    xir_array **outputs = resize(c, NULL, 0, (n + 1) * sizeof *outputs);
    if (!outputs) return no_memory(why);
    memset(outputs, 0, (n + 1) * sizeof *outputs);
    sample s = { .c = c, .why = why };
    how.watch = watch;
    how.user = &s;
    status = count_inputs(&s, net, inputs, n_inputs);
    if (!status) status = run(&s, net, inputs, n_inputs, outputs, n, &how);
    free_outputs(c, outputs, n);
    c->failed = status != XIR_OK;
    c->samples += !status;
    return status;
}

/* ---- merging ------------------------------------------------------------------------------------------------ */

static xir_status merge_record(xir_calibration *c, const record *from, xir_diags *why) {
    const xir_str name = { from->name, from->name_size };
    record *r = calibration_record(c, name);
    if (!r) return no_memory(why);
    if (from->bins.count > (UINT64_C(1) << COUNT_BITS) - r->bins.count) return too_many(name, why);
    r->samples += from->samples;
    for (int k = 0; k < 3; k++) r->sums[k] += from->sums[k];
    if (!from->bins.count) return XIR_OK;
    if (!bins_reserve(&r->bins, c->alloc, from->bins.count)) return no_memory(why);
    if (!channels_merge(r, from, c->alloc)) return no_memory(why);
    note_extremes(r, from->min, from->max);
    bins_merge(&r->bins, &from->bins);
    return XIR_OK;
}

xir_status xir_calibration_merge(xir_calibration *c, const xir_calibration *other, xir_diags *why) {
    xir_status status = calibration_check(c, why);
    if (!status) status = calibration_check(other, why);
    if (status) return status;
    if (c == other)
        return xir_diags_add(why, XIR_ERROR, XIR_E_INVALID, nowhere, "a calibration is not merged into itself");
    for (size_t i = 0; i < other->n && !status; i++) status = merge_record(c, &other->records[i], why);
    c->samples += other->samples;
    c->failed = status != XIR_OK;
    return status;
}

/* ---- asking ------------------------------------------------------------------------------------------------- */

uint64_t xir_calibration_samples(const xir_calibration *c) { return c ? c->samples : 0; }
size_t   xir_calibration_count(const xir_calibration *c) { return c ? c->n : 0; }

bool xir_calibration_at(const xir_calibration *c, size_t i, xir_calibrated *out) {
    if (!c || !out || i >= c->n) return false;
    const record *r = &c->records[i];
    const double n = r->samples ? (double)r->samples : 1;
    const xir_calibrated made = { 0, { r->name, r->name_size }, r->samples, r->bins.count, r->min, r->max,
                                  r->sums[0] / n, r->sums[1] / n, r->sums[2] / n };
    return !sized_fill(SIZED(xir_calibrated, mean_abs), out, &made, NULL);
}

size_t xir_calibration_find_name(const xir_calibration *c, xir_str name) {
    if (!c || !c->table_size) return SIZE_MAX;
    const size_t at = place_of(c, name);
    return c->table[at] ? c->table[at] - 1 : SIZE_MAX;
}

size_t xir_calibration_find(const xir_calibration *c, const xir_value *value) {
    char room[ID_ROOM];
    if (!value || !xir_value_network(value)) return SIZE_MAX;
    return xir_calibration_find_name(c, name_of(value, room));
}

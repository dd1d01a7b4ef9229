/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The walk over two networks, and the queries of its records. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "diff.h"
#include "object.h"
#include "sized.h"

void *diff_take(xir_diff *d, size_t n, size_t size) {
    n += !n;
    void *items = n <= SIZE_MAX / size ? mem_new(d->alloc, n * size) : NULL;
    if (items) memset(items, 0, n * size);
    else d->failed = true;
    return items;
}

void diff_give(xir_diff *d, void *items, size_t n, size_t size) { mem_free(d->alloc, items, (n + !n) * size); }

/* ---- records -------------------------------------------------------------------------------------------------- */

static void note_first(xir_diff *d, diff_side *side, const xir_op *op) {
    if (op && !side->first[op->slot]) side->first[op->slot] = d->n;
}

/* A new record about the current ops. */
static xir_diff_item *diff_record(xir_diff *d, xir_diff_kind kind) {
    d->failed = d->failed || !mem_reserve(d->alloc, (void **)&d->records, &d->room, d->n + 1, sizeof *d->records);
    if (d->failed) return &d->spare;
    xir_diff_item *made = &d->records[d->n++];
    *made = (xir_diff_item){ .kind = kind, .a = d->at_a, .b = d->at_b, .attr = d->attr };
    note_first(d, &d->a, d->at_a);
    note_first(d, &d->b, d->at_b);
    return made;
}

void diff_changed(xir_diff *d, xir_diff_side a, xir_diff_side b) {
    xir_diff_item *made = diff_record(d, XIR_DIFF_CHANGED);
    char *field = d->field.failed ? NULL : arena_take(&d->memory, d->field.size + 1);
    if (field) {
        if (d->field.size) memcpy(field, d->field.data, d->field.size);
        field[d->field.size] = '\0';
    } else {
        d->failed = true;
    }
    made->field = (xir_str){ field, field ? d->field.size : 0 };
    made->in_a = a;
    made->in_b = b;
}

size_t diff_into(xir_diff *d, xir_str part) {
    size_t size = d->field.size;
    if (size) buffer_char(&d->field, '/');
    buffer_put(&d->field, part.data, part.size);
    return size;
}

size_t diff_into_index(xir_diff *d, size_t i) {
    char text[24];
    int n = snprintf(text, sizeof text, "%zu", i);
    return diff_into(d, (xir_str){ text, (size_t)n });
}

size_t diff_into_part(xir_diff *d, const char *part) { return part ? diff_into(d, xir_str_of(part)) : d->field.size; }

void diff_leave(xir_diff *d, size_t size) {
    if (d->field.failed) d->failed = true;
    else d->field.size = size;
}

/* ---- inputs and outputs ---------------------------------------------------------------------------------------- */

enum { MOST_ASKED = 64 };   /* inputs of an op among which a name is looked for */

/* Returns true if one of an op's Params has this name. */
static bool has_params_named(const xir_op *op, xir_str name) {
    for (uint32_t i = 0; i < op->n_inputs && i < MOST_ASKED; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (v && value_is_params(v) && xir_str_equal(xir_value_name(v), name)) return true;
    }
    return false;
}

/* Returns true if Params at two positions of matching ops are the same ones: by their names, if both ops have one of
 * them; by their elements, if one op has more inputs than the other. */
static bool same_params(const xir_op *p, const xir_value *a, const xir_op *q, const xir_value *b) {
    const xir_str x = xir_value_name(a), y = xir_value_name(b);
    if (x.size && xir_str_equal(x, y)) return true;
    if ((x.size && has_params_named(q, x)) || (y.size && has_params_named(p, y))) return false;
    return p->n_inputs == q->n_inputs || xir_params_equal(a, b);
}

/* Returns true if inputs of two ops are made by matching ops, or neither is made by an op. */
static bool same_source(const xir_diff *d, const xir_op *of_a, const xir_value *a, const xir_op *of_b,
                        const xir_value *b) {
    if (!a || !b) return a == b;
    if (value_is_params(a) && value_is_params(b)) return same_params(of_a, a, of_b, b);
    if (value_is_params(a) || value_is_params(b)) return false;
    const xir_op *p = xir_value_op(a), *q = xir_value_op(b);
    if (p && q) return diff_match_of(&d->a, p) == q && xir_value_index(a) == xir_value_index(b);
    return p == q;
}

static void diff_input(xir_diff *d, size_t i, const xir_value *a, const xir_value *b) {
    size_t whole = diff_into(d, XIR_STR("inputs"));
    diff_into_index(d, i);
    if (value_is_params(a)) diff_params(d, a, b);
    else diff_values(d, a, b);
    diff_leave(d, whole);
}

static void other_input(xir_diff *d, size_t i, xir_diff_side a, xir_diff_side b) {
    size_t whole = diff_into(d, XIR_STR("inputs"));
    diff_into_index(d, i);
    diff_changed(d, a, b);
    diff_leave(d, whole);
}

static const xir_value *input(const xir_op *op, size_t i) { return op_inputs(op)[i].value; }

/* Equal inputs at the beginning and at the end are skipped, so that one more input is one difference. */
static void diff_inputs(xir_diff *d, const xir_op *a, const xir_op *b) {
    size_t n = a->n_inputs, m = b->n_inputs, most = n > m ? n : m, head = 0, tail = 0;
    while (head < n && head < m && same_source(d, a, input(a, head), b, input(b, head))) head++;
    while (head + tail < n && head + tail < m &&
           same_source(d, a, input(a, n - tail - 1), b, input(b, m - tail - 1))) tail++;
    for (size_t i = 0; i < most; i++) {
        bool in_tail = i >= most - tail;
        size_t at_a = in_tail ? i - (most - n) : i, at_b = in_tail ? i - (most - m) : i;
        bool has_a = in_tail || i < n - tail, has_b = in_tail || i < m - tail;
        const xir_value *x = has_a ? input(a, at_a) : NULL, *y = has_b ? input(b, at_b) : NULL;
        if (!has_a && !has_b) continue;
        if (has_a != has_b || !same_source(d, a, x, b, y)) {
            other_input(d, has_a ? at_a : at_b, has_a ? diff_side_value(XIR_DIFF_INPUT, x) : diff_nothing(),
                        has_b ? diff_side_value(XIR_DIFF_INPUT, y) : diff_nothing());
        } else if (x && !xir_value_op(x)) {
            diff_input(d, at_a, x, y);
        }
    }
}

static void diff_outputs(xir_diff *d, const xir_op *a, const xir_op *b) {
    for (size_t i = 0; i < a->n_outputs || i < b->n_outputs; i++) {
        size_t whole = diff_into(d, XIR_STR("outputs"));
        diff_into_index(d, i);
        if (i < a->n_outputs && i < b->n_outputs) {
            diff_values(d, &op_outputs(a)[i], &op_outputs(b)[i]);
        } else {
            diff_one_sided(d, XIR_DIFF_VALUE, i < a->n_outputs ? &op_outputs(a)[i] : NULL,
                           i < b->n_outputs ? &op_outputs(b)[i] : NULL);
        }
        diff_leave(d, whole);
    }
}

/* ---- ops ------------------------------------------------------------------------------------------------------- */

/* Calls `work` with the sub ops of two matching ops, attribute by attribute. */
typedef void list_fn(xir_diff *d, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b);

static void each_children(xir_diff *d, const xir_op *a, const xir_op *b, list_fn *work) {
    if (!diff_same_class(a->cls, b->cls)) return;
    for (size_t i = 0; i < xir_class_field_count(a->cls); i++) {
        const xir_field *f = xir_class_field_at(a->cls, i);
        xir_attr x, y;
        if (f->kind != XIR_KIND_OPS || xir_op_get(a, f->name, &x) || xir_op_get(b, f->name, &y)) continue;
        if (x.as.ops.size || y.as.ops.size) work(d, x.as.ops.data, x.as.ops.size, y.as.ops.data, y.as.ops.size);
    }
}

static void match_lists(xir_diff *d, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b) {
    diff_match(d, a, n_a, b, n_b);
    for (size_t i = 0; i < n_a && !d->failed; i++) {
        const xir_op *match = diff_match_of(&d->a, a[i]);
        if (match) each_children(d, a[i], match, match_lists);
    }
}

static void diff_matched(xir_diff *d, xir_op *a, xir_op *b) {
    d->at_a = a;
    d->at_b = b;
    size_t before = d->n;
    if (!(d->how.ignore & XIR_DIFF_IGNORE_NAMES)) diff_texts(d, "name", xir_op_name(a), xir_op_name(b));
    d->counts.renumbered += a->id != b->id;
    if (d->how.ids) diff_numbers(d, "op_id", a->id, b->id);
    diff_attrs(d);
    diff_objects(d, "compile_target", (const xir_object *)xir_op_target(a), (const xir_object *)xir_op_target(b));
    diff_inputs(d, a, b);
    diff_outputs(d, a, b);
    diff_maps(d, "tags", xir_op_tags(a), xir_op_tags(b));
    d->counts.changed += d->n != before;
}

/* Records a whole op and the ops before it in the two lists. */
static void whole_op(xir_diff *d, xir_diff_kind kind, xir_op *a, xir_op *b, xir_op *after_a, xir_op *after_b) {
    d->at_a = a;
    d->at_b = b;
    xir_diff_item *made = diff_record(d, kind);
    made->after_a = after_a;
    made->after_b = after_b;
}

static xir_op *before_in(xir_op *const *list, size_t i) { return i ? list[i - 1] : NULL; }

/* Records all differences of two lists of matched ops: the removed ops in the order of the first list, then the rest in
 * the order of the second. */
static void diff_lists(xir_diff *d, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b) {
    bool *moved = diff_take(d, n_a, sizeof *moved);
    size_t *from = diff_take(d, n_b, sizeof *from);
    bool ordered = !(d->how.ignore & XIR_DIFF_IGNORE_ORDER);
    if (moved && from && ordered) diff_find_moved(d, a, n_a, b, n_b, moved);
    for (size_t i = 0; i < n_a && !d->failed; i++) {
        const xir_op *match = diff_match_of(&d->a, a[i]);
        if (match) {
            from[d->b.index[match->slot]] = i;
            continue;
        }
        d->counts.removed++;
        whole_op(d, XIR_DIFF_REMOVED, a[i], NULL, before_in(a, i), NULL);
    }
    for (size_t j = 0; j < n_b && !d->failed; j++) {
        if (!diff_match_of(&d->b, b[j])) {
            d->counts.added++;
            whole_op(d, XIR_DIFF_ADDED, NULL, b[j], NULL, before_in(b, j));
            continue;
        }
        size_t i = from[j];
        if (moved[i]) {
            d->counts.moved++;
            whole_op(d, XIR_DIFF_MOVED, a[i], b[j], before_in(a, i), before_in(b, j));
        }
        diff_matched(d, a[i], b[j]);
        each_children(d, a[i], b[j], diff_lists);
    }
    diff_give(d, moved, n_a, sizeof *moved);
    diff_give(d, from, n_b, sizeof *from);
}

/* ---- networks -------------------------------------------------------------------------------------------------- */

/* Returns true if a network states the digest of its raw file. A new network does not, nor does one from a format
 * without a digest. */
static bool says_digest(const xir_network *net) {
    xir_str md5 = xir_network_text_of(net, XIR_TEXT_PARAMS_MD5);
    bool of_nothing = md5.size == 0 || xir_str_equal(md5, XIR_STR("d41d8cd98f00b204e9800998ecf8427e"));
    return xir_network_params_bytes(net) || !of_nothing;
}

static const xir_object *target_of(const xir_network *net) { return (const xir_object *)xir_network_ai_target(net); }

static void diff_networks(xir_diff *d, const xir_network *a, const xir_network *b) {
    static const struct { const char *key; xir_network_text which; } texts[] = {
        { "name",              XIR_TEXT_NAME },
        { "framework_kind",    XIR_TEXT_FRAMEWORK },
        { "framework_version", XIR_TEXT_FRAMEWORK_VERSION },
        { "icraft_version",    XIR_TEXT_ICRAFT_VERSION },
        { "icraft_xir_version", XIR_TEXT_XIR_VERSION },
        { "params_md5",        XIR_TEXT_PARAMS_MD5 },
    };
    /* With parameters, the values themselves are compared. */
    bool digests = !d->how.params && says_digest(a) && says_digest(b);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].which == XIR_TEXT_PARAMS_MD5 && !digests) continue;
        if (texts[i].which == XIR_TEXT_NAME && (d->how.ignore & XIR_DIFF_IGNORE_NAMES)) continue;
        diff_texts(d, texts[i].key, xir_network_text_of(a, texts[i].which), xir_network_text_of(b, texts[i].which));
    }
    int64_t bytes_a = (int64_t)xir_network_params_bytes(a), bytes_b = (int64_t)xir_network_params_bytes(b);
    if (digests) diff_numbers(d, "params_bytes", bytes_a, bytes_b);
    diff_objects(d, "ai_target", target_of(a), target_of(b));
    diff_maps(d, "tags", xir_network_tags(a), xir_network_tags(b));
    diff_maps(d, NULL, xir_network_extra(a), xir_network_extra(b));
    diff_symbols(d, a, b);
    d->of_network = d->n;
    d->counts.network = d->n > 0;
}

/* ---- making ---------------------------------------------------------------------------------------------------- */

static void side_init(xir_diff *d, diff_side *side, const xir_network *net) {
    side->net = net;
    side->slots = xir_network_slot_count(net);
    side->matches = diff_take(d, side->slots, sizeof *side->matches);
    side->index = diff_take(d, side->slots, sizeof *side->index);
    side->first = diff_take(d, side->slots, sizeof *side->first);
}

static void side_free(xir_diff *d, diff_side *side) {
    diff_give(d, (void *)side->matches, side->slots, sizeof *side->matches);
    diff_give(d, side->index, side->slots, sizeof *side->index);
    diff_give(d, side->first, side->slots, sizeof *side->first);
}

static xir_op **ops_of(xir_diff *d, const xir_network *net) {
    xir_op **ops = diff_take(d, net->n_ops, sizeof *ops);
    size_t n = 0;
    for (xir_op *op = net->first; ops && op; op = op->next) ops[n++] = op;
    return ops;
}

static void compare(xir_diff *d, const xir_network *a, const xir_network *b) {
    xir_op **ops_a = ops_of(d, a), **ops_b = ops_of(d, b);
    if (!d->failed) match_lists(d, ops_a, a->n_ops, ops_b, b->n_ops);
    if (!d->failed && !d->how.match_only) diff_networks(d, a, b);
    if (!d->failed && !d->how.match_only) diff_lists(d, ops_a, a->n_ops, ops_b, b->n_ops);
    diff_give(d, (void *)ops_a, a->n_ops, sizeof *ops_a);
    diff_give(d, (void *)ops_b, b->n_ops, sizeof *ops_b);
    diff_give(d, d->seen, d->seen_room, sizeof *d->seen);
    buffer_free(&d->field);
}

static xir_diff *fail(xir_diags *why, xir_status code, const char *message) {
    diag_fail(why, code, XIR_STR(""), "%s", message);
    return NULL;
}

xir_diff *xir_diff_new(const xir_network *a, const xir_network *b, const xir_diff_options *options, xir_diags *why) {
    xir_diff_options how;
    if (sized_take(SIZED(xir_diff_options, tolerance), &how, options, why)) return NULL;
    if (!a || !b) return fail(why, XIR_E_MISSING, "expected two networks");
    if (a->ctx != b->ctx) return fail(why, XIR_E_INVALID, "the networks belong to different contexts");
    if (!(how.tolerance >= 0)) return fail(why, XIR_E_INVALID, "expected a tolerance of at least 0");
    const xir_allocator *alloc = context_alloc(a->ctx);
    xir_diff *d = mem_new(alloc, sizeof *d);
    if (!d) return fail(why, XIR_E_MEMORY, "out of memory");
    *d = (xir_diff){ .alloc = alloc, .how = how };
    d->counts.size = sizeof d->counts;
    arena_init(&d->memory, alloc);
    buffer_init(&d->field, alloc);
    side_init(d, &d->a, a);
    side_init(d, &d->b, b);
    if (!d->failed) compare(d, a, b);
    if (!d->failed) return d;
    xir_diff_free(d);
    return fail(why, XIR_E_MEMORY, "out of memory");
}

void xir_diff_free(xir_diff *d) {
    if (!d) return;
    side_free(d, &d->a);
    side_free(d, &d->b);
    mem_free(d->alloc, d->records, d->room * sizeof *d->records);
    arena_free(&d->memory);
    mem_free(d->alloc, d, sizeof *d);
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

static bool is_in_side(const diff_side *side, const xir_op *op) {
    return op->net == side->net && op->slot < side->slots;
}

static xir_op *match_of(const diff_side *side, const xir_op *op) {
    return op && is_in_side(side, op) ? diff_match_of(side, op) : NULL;
}

const xir_network *xir_diff_a(const xir_diff *d) { return d ? d->a.net : NULL; }
const xir_network *xir_diff_b(const xir_diff *d) { return d ? d->b.net : NULL; }

xir_op *xir_diff_in_b(const xir_diff *d, const xir_op *op) { return d ? match_of(&d->a, op) : NULL; }
xir_op *xir_diff_in_a(const xir_diff *d, const xir_op *op) { return d ? match_of(&d->b, op) : NULL; }

size_t xir_diff_count(const xir_diff *d) { return d ? d->n : 0; }

const xir_diff_item *xir_diff_at(const xir_diff *d, size_t i) { return d && i < d->n ? &d->records[i] : NULL; }

const xir_diff_item *xir_diff_of(const xir_diff *d, const xir_op *op, size_t *n) {
    *n = 0;
    if (!d) return NULL;
    if (!op) return (*n = d->of_network) ? d->records : NULL;
    size_t first = is_in_side(&d->a, op) ? d->a.first[op->slot] : 0;
    if (!first && is_in_side(&d->b, op)) first = d->b.first[op->slot];
    if (!first) return NULL;
    const xir_diff_item *found = &d->records[first - 1];
    size_t most = d->n - (first - 1);
    while (*n < most && found[*n].a == found->a && found[*n].b == found->b) ++*n;
    return found;
}

unsigned xir_diff_kinds(const xir_diff *d, const xir_op *op) {
    size_t n;
    unsigned kinds = 0;
    const xir_diff_item *found = xir_diff_of(d, op, &n);
    for (size_t i = 0; i < n; i++) kinds |= (unsigned)found[i].kind;
    return kinds;
}

xir_status xir_diff_summary(const xir_diff *d, xir_diff_counts *out) {
    const xir_diff_counts none = XIR_INIT(xir_diff_counts);
    return sized_fill(SIZED(xir_diff_counts, renumbered), out, d ? &d->counts : &none, NULL);
}

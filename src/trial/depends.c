/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* On which elements of an input an element of an output depends, by brute force: an element of an input is changed, the
 * op is computed again, and what differs depends on it. NEEDS, SHARES (OVER) and LAYOUT (EACH) rows promise something
 * about that. A dependence that is found exists; one that is not found in all bases may still exist, so the changes
 * are large and small, and the bases are of several kinds. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "trying.h"

enum { MOST = 128, BASES = 4, PROBES = 3, BOXES = 10 };

/* depends[output][input][element of the input]: a bit for each element of the output. */
typedef struct relation {
    const xir_op *op;
    size_t        n_in, n_out, in_count[MOST_INPUTS], out_count[MOST_OUTPUTS];
    uint64_t    (*depends)[MOST_INPUTS][MOST][MOST / 64];
    xir_box       in_whole[MOST_INPUTS], out_whole[MOST_OUTPUTS];
} relation;

static size_t relation_bytes(const relation *r) { return r->n_out * sizeof *r->depends; }

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static bool is_real(const xir_array *a) {
    return xir_type_kind_of(xir_type_element(xir_array_type(a))) == XIR_TYPE_FLOAT;
}
static bool is_bool(const xir_array *a) {
    return xir_type_kind_of(xir_type_element(xir_array_type(a))) == XIR_TYPE_BOOL;
}

/* A number within the range, as near to v as there is. */
static double within(const xir_numbers *range, double v) {
    if (v < range->low) v = range->low;
    if (v > range->high) v = range->high;
    if (range->gap > 0 && fabs(v) < range->gap) v = range->high >= range->gap ? range->gap : -range->gap;
    return range->whole ? floor(v) : v;
}

/* Numbers of a kind: positive, of both signs, all the same, near to each other. */
static double base_number(trying *t, const xir_array *a, int kind) {
    if (is_bool(a)) return kind == 2 || (kind != 3 && trial_once_in(t, 2));
    if (!is_real(a)) return (double)trial_below(t, 4);
    const double random = (double)trial_below(t, 1000) / 1000;
    return kind == 0 ? 0.25 + random : kind == 1 ? 4 * random - 2 : kind == 2 ? 1 : 0.75 + random / 8;
}

static double probe_number(trying *t, const xir_array *a, int probe, double now) {
    static const double reals[PROBES] = { 1000, -1000, 0.3 };
    if (is_bool(a)) return now == 0;
    return is_real(a) ? reals[probe] : now + 1 + (double)trial_below(t, 3);
}

/* ---- the relation ------------------------------------------------------------------------------------------------ */

static void note_changes(relation *r, size_t input, size_t element, const arrays *before, const arrays *now) {
    for (size_t o = 0; o < r->n_out; o++) {
        size_t n, m;
        const char *a = xir_array_data(before->out[o], &n), *b = xir_array_data(now->out[o], &m);
        const size_t bytes = r->out_count[o] ? n / r->out_count[o] : 0;
        for (size_t e = 0; e < r->out_count[o]; e++)
            if (n != m || memcmp(a + e * bytes, b + e * bytes, bytes) != 0)
                r->depends[o][input][element][e / 64] |= UINT64_C(1) << (e % 64);
    }
}

/* Computes the op with another number in one place. */
static void change_one(trying *t, const made *m, relation *r, const arrays *base, size_t i, size_t e, int probe) {
    arrays now = *base;
    size_t size;
    memset((void *)now.out, 0, sizeof now.out);
    const void *bytes = xir_array_data(base->in[i], &size);
    now.in[i] = xir_array_copy(t->ctx, xir_array_type(base->in[i]), bytes, size, NULL);
    if (!now.in[i]) return;
    trial_set(now.in[i], e, within(&base->range[i], probe_number(t, now.in[i], probe, xir_array_real(base->in[i], e))));
    if (trial_run(m, &now, NULL) == XIR_OK) note_changes(r, i, e, base, &now);
    trial_free_outputs(&now);
    xir_array_free(now.in[i]);
}

static void try_base(trying *t, const made *m, relation *r, int kind) {
    arrays base;
    if (trial_inputs(t, m, (uint64_t)kind + 1, &base)) {
        for (size_t i = 0; i < r->n_in; i++)
            for (size_t e = 0; base.in[i] && e < r->in_count[i]; e++)
                trial_set(base.in[i], e, within(&base.range[i], base_number(t, base.in[i], kind)));
        if (trial_run(m, &base, NULL) == XIR_OK)
            for (size_t i = 0; i < r->n_in; i++)
                for (size_t e = 0; base.in[i] && e < r->in_count[i]; e++)
                    for (int probe = 0; probe < PROBES; probe++) change_one(t, m, r, &base, i, e, probe);
    }
    trial_free(&base);
}

static bool is_few(const xir_type *type, xir_box *whole, size_t *n) {
    *whole = XIR_INIT(xir_box);
    if (xir_box_whole(type, whole, NULL) != XIR_OK) return false;
    *n = (size_t)xir_box_elements(whole);
    return *n <= MOST;
}

/* False if the op is too large, or has elements of a kind that cannot be set. */
static bool find_relation(trying *t, const made *m, relation *r) {
    arrays a;
    *r = (relation){ .op = m->op, .n_in = xir_op_input_count(m->op), .n_out = xir_op_output_count(m->op) };
    bool good = xir_op_can_run(m->op) && r->n_out && r->n_in <= MOST_INPUTS && r->n_out <= MOST_OUTPUTS;
    for (size_t i = 0; i < r->n_in && good; i++) {
        const xir_value *v = xir_op_input(m->op, (int64_t)i);
        good = !v || is_few(xir_value_type(v), &r->in_whole[i], &r->in_count[i]);
    }
    for (size_t o = 0; o < r->n_out && good; o++)
        good = is_few(xir_value_type(xir_op_output(m->op, (int64_t)o)), &r->out_whole[o], &r->out_count[o]);
    if (!good) return false;
    good = trial_inputs(t, m, 1, &a);
    for (size_t i = 0; i < r->n_in && good; i++) good = !a.in[i] || trial_can_set(a.in[i]);
    good = good && trial_run(m, &a, NULL) == XIR_OK;
    trial_free(&a);
    if (!good) return false;
    r->depends = trial_resize(&t->memory, NULL, 0, relation_bytes(r));
    if (!r->depends) return false;
    memset(r->depends, 0, relation_bytes(r));
    for (int kind = 0; kind < BASES; kind++) try_base(t, m, r, kind);
    return true;
}

static bool has(const relation *r, size_t o, size_t i, size_t from, size_t e) {
    return r->depends[o][i][from][e / 64] >> (e % 64) & 1;
}

static bool is_variable(const relation *r, size_t i) {
    const xir_value *v = xir_op_input(r->op, (int64_t)i);
    return v && !xir_value_is_params(v);
}

/* ---- NEEDS ------------------------------------------------------------------------------------------------------- */

static void place_of(const xir_box *whole, size_t e, int64_t at[XIR_BOX_DIMS]) {
    for (size_t k = whole->rank; k-- > 0; e /= (size_t)whole->end[k]) at[k] = (int64_t)(e % (size_t)whole->end[k]);
}

static bool is_in(const xir_box *box, const int64_t at[XIR_BOX_DIMS]) {
    for (size_t k = 0; k < box->rank; k++)
        if (at[k] < box->begin[k] || at[k] >= box->end[k]) return false;
    return !box->none;
}

/* The smallest box around the elements of an input on which the part depends. */
static xir_box found_box(const relation *r, size_t o, size_t i, const xir_box *part) {
    xir_box box = XIR_INIT(xir_box, .rank = r->in_whole[i].rank, .none = 1);
    int64_t at[XIR_BOX_DIMS];
    for (size_t from = 0; from < r->in_count[i]; from++) {
        bool needed = false;
        for (size_t e = 0; e < r->out_count[o] && !needed; e++) {
            place_of(&r->out_whole[o], e, at);
            needed = has(r, o, i, from, e) && is_in(part, at);
        }
        if (!needed) continue;
        place_of(&r->in_whole[i], from, at);
        for (size_t k = 0; k < box.rank; k++) {
            if (box.none || at[k] < box.begin[k]) box.begin[k] = at[k];
            if (box.none || at[k] + 1 > box.end[k]) box.end[k] = at[k] + 1;
        }
        box.none = 0;
    }
    return box;
}

static void box_text(const xir_box *b, char *out, size_t room) {
    size_t size = 0;
    snprintf(out, room, "%s", b->none ? "nothing" : b->rank ? "" : "all");
    for (size_t k = 0; k < b->rank && !b->none && size + 50 < room; k++)
        size += (size_t)snprintf(out + size, room - size, "%s%lld to %lld", k ? ", " : "", (long long)b->begin[k],
                                 (long long)b->end[k] - 1);
}

static bool contains(const xir_box *a, const xir_box *b) {
    if (b->none || a->none) return b->none;
    for (size_t k = 0; k < a->rank; k++)
        if (b->begin[k] < a->begin[k] || b->end[k] > a->end[k]) return false;
    return true;
}

/* Returns true if the row declares more than was found. */
static bool compare_boxes(trying *t, const relation *r, size_t o, const xir_box *part, size_t i, const xir_box *said) {
    const xir_box found = found_box(r, o, i, part);
    char of[200], a[200], b[200];
    box_text(part, of, sizeof of);
    box_text(said, a, sizeof a);
    box_text(&found, b, sizeof b);
    if (!contains(said, &found))
        trial_fault(t, FAULT_NEEDS_LITTLE, "NEEDS names too little of input %zu of %s: for the indices %s of output %zu "
                    "it names %s, but they depend on %s", i, t->line, of, o, a, b);
    if (!said->exact || found.none || contains(&found, said)) return false;
    /* A dependence may be one that the changes do not show: what is seen again and again is a mistake. */
    if (t->much >= 2 && 2 * t->much > t->exact)
        trial_fault(t, FAULT_NEEDS_MUCH, "NEEDS names too much of input %zu of %s: for the indices %s of output %zu it "
                    "names %s and says that this is exact, but no change outside of %s changes them: call "
                    "xir_needs_wide, or use NEEDS_WITHIN", i, t->line, of, o, a, b);
    return true;
}

static bool ask_needs(trying *t, const relation *r, size_t o, const xir_box *part) {
    bool much = false;
    xir_box needed[MOST_INPUTS];
    xir_diags *found = xir_diags_new(t->ctx);
    for (size_t i = 0; i < MOST_INPUTS; i++) needed[i] = XIR_INIT(xir_box);
    const xir_status status = xir_op_needed(r->op, o, part, needed, MOST_INPUTS, found);
    const xir_diag *d = trial_first(found);
    if (status && status != XIR_E_MEMORY)
        trial_fault(t, FAULT_NEEDS_FAILS, "NEEDS fails for %s: %.*s", t->line, d ? xir_str_shown_(d->message.size) : 0,
                    d ? d->message.data : "");
    for (size_t i = 0; i < r->n_in && !status; i++)
        if (is_variable(r, i)) much = compare_boxes(t, r, o, part, i, &needed[i]) || much;
    xir_diags_free(found);
    return much;
}

/* Returns true if the op shows much: several real numbers depend on several. Integers and truths hide dependences. */
static bool shows_much(const relation *r) {
    bool several = false;
    for (size_t i = 0; i < r->n_in; i++) {
        const xir_value *v = xir_op_input(r->op, (int64_t)i);
        if (v && xir_type_kind_of(xir_type_element(xir_value_type(v))) != XIR_TYPE_FLOAT) return false;
        several = several || (is_variable(r, i) && r->in_count[i] > 1);
    }
    return several && r->out_count[0] > 1;
}

static void try_needs(trying *t, const relation *r) {
    bool much = false;
    for (size_t o = 0; o < r->n_out; o++)
        for (int k = 0; k < BOXES && r->out_count[o]; k++) {
            xir_box part = r->out_whole[o];
            for (size_t dim = 0; dim < part.rank && k; dim++) {
                const uint64_t n = (uint64_t)part.end[dim];
                part.begin[dim] = (int64_t)trial_below(t, n);
                part.end[dim] = part.begin[dim] + 1 + (int64_t)trial_below(t, n - (uint64_t)part.begin[dim]);
            }
            much = ask_needs(t, r, o, &part) || much;
        }
    if (!shows_much(r)) return;
    t->exact++;
    t->much += much;
}

/* ---- SHARES (OVER) ----------------------------------------------------------------------------------------------- */

/* Returns true if the row's kind is first, and the name is among the words after it. */
static bool names(xir_str row, const char *kind, xir_str name) {
    const size_t n = strlen(kind);
    if (row.size < n || memcmp(row.data, kind, n) != 0) return false;
    for (size_t i = n; i + name.size <= row.size; i++) {
        const bool begins = row.data[i - 1] == ' ' || row.data[i - 1] == ',';
        const bool ends = i + name.size == row.size || row.data[i + name.size] == ',' || row.data[i + name.size] == ' ';
        if (begins && ends && memcmp(row.data + i, name.data, name.size) == 0) return true;
    }
    return false;
}

static xir_str name_of_input(const trying *t, size_t i) {
    const size_t n = xir_class_input_count(t->cls);
    return n ? xir_class_input_at(t->cls, i < n ? i : n - 1)->name : XIR_STR("");
}

static bool have_same_places(const relation *r, size_t i) {
    const xir_box *a = &r->in_whole[i], *b = &r->out_whole[0];
    const xir_type *in = xir_value_type(xir_op_input(r->op, (int64_t)i));
    const xir_type *out = xir_value_type(xir_op_output(r->op, 0));
    if (xir_type_storage_bits(xir_type_element(in)) != xir_type_storage_bits(xir_type_element(out))) return false;
    if (a->rank != b->rank) return false;
    for (size_t k = 0; k < a->rank; k++)
        if (a->end[k] != b->end[k]) return false;
    return true;
}

static void try_over(trying *t, const relation *r) {
    const xir_str row = xir_class_note(t->cls, XIR_DECL_SHARES, 0);
    for (size_t i = 0; i < r->n_in; i++) {
        const xir_str name = name_of_input(t, i);
        if (!is_variable(r, i) || !names(row, "OVER", name) || !have_same_places(r, i)) continue;
        for (size_t from = 0; from < r->in_count[i]; from++)
            for (size_t e = 0; e < r->out_count[0]; e++)
                if (from != e && has(r, 0, i, from, e))
                    trial_fault(t, FAULT_OVER, "SHARES (OVER, %.*s) is wrong: element %zu of the output of %s depends on "
                                "element %zu of that input, which may be written over before", xir_str_shown_(name.size),
                                name.data, e, t->line, from);
    }
}

/* ---- LAYOUT (EACH) ---------------------------------------------------------------------------------------------- */

/* Each element depends on the one in its place, counted from the last dim; a dim of 1 is every place. */
static bool is_in_place(const relation *r, size_t i, size_t from, size_t e) {
    int64_t a[XIR_BOX_DIMS], b[XIR_BOX_DIMS];
    place_of(&r->in_whole[i], from, a);
    place_of(&r->out_whole[0], e, b);
    const size_t n = r->in_whole[i].rank, m = r->out_whole[0].rank;
    for (size_t k = 0; k < n && k < m; k++)
        if (r->in_whole[i].end[n - 1 - k] != 1 && a[n - 1 - k] != b[m - 1 - k]) return false;
    return true;
}

static void try_each(trying *t, const relation *r) {
    const xir_str row = xir_class_note(t->cls, XIR_DECL_LAYOUT, 0);
    if (row.size < 4 || memcmp(row.data, "EACH", 4) != 0) return;
    for (size_t i = 0; i < r->n_in; i++)
        for (size_t from = 0; is_variable(r, i) && from < r->in_count[i]; from++)
            for (size_t e = 0; e < r->out_count[0]; e++)
                if (has(r, 0, i, from, e) && !is_in_place(r, i, from, e))
                    trial_fault(t, FAULT_LAYOUT, "LAYOUT (EACH) is wrong: element %zu of the output of %s depends on "
                                "element %zu of input %zu, which is in another place", e, t->line, from, i);
}

bool trial_depends(trying *t, const made *m) {
    relation r;
    const bool needs = xir_class_needs(t->cls) != XIR_NEEDS_ALL;
    if (!needs && !xir_class_note(t->cls, XIR_DECL_SHARES, 0).size && !xir_class_note(t->cls, XIR_DECL_LAYOUT, 0).size)
        return false;
    trial_step(t, "its kernel");
    if (!find_relation(t, m, &r)) return false;
    trial_step(t, "NEEDS");
    if (needs) try_needs(t, &r);
    try_over(t, &r);
    try_each(t, &r);
    trial_resize(&t->memory, r.depends, relation_bytes(&r), 0);
    return shows_much(&r);
}

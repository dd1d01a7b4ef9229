/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading objects whose tables are not their rows: layouts, distributions, arrays, floats. */
#include "flat/read.h"
#include "types.h"

static int64_t i64_slot(const flat_view *t, const flat_table *as, int slot) {
    const uint8_t *field = flat_slot_at(t, as, slot);
    return field ? flat_i64(field) : 0;
}

/* The items of a vector; none if it is absent. */
static const uint8_t *vector_slot(const flat_view *t, const flat_table *as, int slot, size_t *n) {
    const uint8_t *field = flat_slot_at(t, as, slot), *vector = field ? flat_follow(field) : NULL;
    *n = vector ? little_u32(vector) : 0;
    return vector ? vector + 4 : NULL;
}

/* One letter; an upper-case one has no unit. */
static bool put_axis(flat_reader *r, const uint8_t *table, const flat_table *as, buffer *out) {
    flat_view t = flat_view_of(table);
    bool unit = as->shape == FLAT_AXIS_UNIT;
    const uint8_t *name = flat_slot_at(&t, as, unit ? AXIS_UNIT_SLOT_NAME : AXIS_NAME_SLOT_NAME);
    xir_str letter = name ? flat_text_at(name) : XIR_STR("");
    bool lower = letter.size == 1 && letter.data[0] >= 'a' && letter.data[0] <= 'z';
    bool upper = letter.size == 1 && ((letter.data[0] >= 'A' && letter.data[0] <= 'Z') || letter.data[0] == '*');
    if (unit ? !lower : !upper) {
        return FLAT_FAIL(r, table, XIR_E_SYNTAX, "an axis is named \"%.*s\", expected one %s letter", CLIP(letter),
                         unit ? "lower-case" : "upper-case");
    }
    buffer_char(out, letter.data[0]);
    const uint8_t *count = unit ? flat_slot_at(&t, as, AXIS_UNIT_SLOT_UNIT) : NULL;
    if (unit) form_put_u64(out, count ? little_u64(count) : 0);
    return true;
}

static bool read_layout(flat_reader *r, const flat_view *t, const flat_table *as, const xir_object **out) {
    size_t n;
    const flat_slot *slot = &as->slots[LAYOUT_SLOT_AXES];
    const uint8_t *field = flat_field_at(t, slot->slot + 1u), *from = field ? flat_follow(field) + 4 : NULL;
    n = field ? little_u32(from - 4) : 0;
    if (!flat_spend(r, t->at, n)) return false;
    buffer axes;
    buffer_init(&axes, context_alloc(r->d.ctx));
    frame list = { .up = r->d.trace.top, .key = slot->name, .index = SIZE_MAX }, f = { .up = &list, .index = 0 };
    r->d.trace.top = &f;
    for (; f.index < n; f.index++) {
        const flat_table *member;
        const uint8_t *axis = flat_list_item(r, t, slot, from + 4 * f.index, f.index, &member);
        if (!axis || !put_axis(r, axis, member, &axes)) break;
    }
    r->d.trace.top = list.up;
    bool ok = f.index == n && (!axes.failed || trace_memory(&r->d.trace));
    form_error e = { 0 };
    *out = ok ? (const xir_object *)layout_make(r->d.pool, (xir_str){ axes.data, axes.size }, 0, &e) : NULL;
    if (ok && !*out) {
        if (!e.status || e.status == XIR_E_MEMORY) trace_memory(&r->d.trace);
        else FLAT_FAIL(r, t->at, e.status, "layout '%.*s': %s, at character %zu",
                       CLIP(((xir_str){ axes.data, axes.size })), e.message, e.at + 1);
    }
    buffer_free(&axes);
    return *out != NULL;
}

static bool read_float(flat_reader *r, const flat_view *t, const flat_table *as, const xir_object **out) {
    int64_t numbers[4];
    for (int i = 0; i < 4; i++) numbers[i] = i64_slot(t, as, FLOAT_SLOT_EMAX + i);
    int which = flat_float_format(numbers);
    if (which < 0) {
        return FLAT_FAIL(r, t->at, XIR_E_UNKNOWN,
                         "no float format has emax %" PRId64 ", emin %" PRId64 ", precision %" PRIu64 " and %" PRIu64
                         " bits",
                         numbers[0], numbers[1], (uint64_t)numbers[2], (uint64_t)numbers[3]);
    }
    *out = (const xir_object *)type_float(r->d.pool, (xir_float_format)which);
    return *out || trace_memory(&r->d.trace);
}

static bool runs_full(flat_reader *r, run_list *runs) {
    run_list_free(runs);
    return trace_memory(&r->d.trace);
}

static bool read_distr(flat_reader *r, const flat_view *t, const flat_table *as, const xir_object **out) {
    const uint8_t *axes = flat_slot_at(t, as, DISTR_SLOT_AXIS), *word = flat_slot_at(t, as, DISTR_SLOT_UVALUE);
    xir_i64s merged = { 0 };
    int uvalue = XIR_UVALUE_ZERO;
    if (axes && !flat_read_i64s(r, axes, &merged)) return false;
    if (word && !flat_read_enum(r, word, xir_uvalue_enum(), &uvalue)) return false;
    size_t n;
    const uint8_t *mask = vector_slot(t, as, DISTR_SLOT_MASK, &n);
    if (!flat_spend(r, t->at, n)) return false;
    run_list runs;
    run_list_init(&runs, context_alloc(r->d.ctx));
    for (size_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n && !mask[i + same] == !mask[i]; same++) {}
        if (run_list_add(&runs, (int64_t)same, mask[i] != 0, 0, 0)) return runs_full(r, &runs);
    }
    *out = (const xir_object *)distr_make(r->d.pool, merged, run_list_runs(&runs), (xir_uvalue)uvalue, !word);
    run_list_free(&runs);
    return *out || trace_memory(&r->d.trace);
}

/* Arrays of n items along an axis; m and exp may be NULL. */
static bool read_array(flat_reader *r, const flat_view *t, class_number which, const uint8_t *m, const uint8_t *exp,
                       const uint8_t *value, size_t n, int64_t axis, const xir_object **out) {
    if (!flat_spend(r, t->at, 4 * n)) return false;
    run_list runs;
    run_list_init(&runs, context_alloc(r->d.ctx));
    for (size_t i = 0; i < n; i++) {
        int64_t mi = m ? flat_i64(m + 8 * i) : 0, ei = exp ? flat_i64(exp + 8 * i) : 0;
        if (run_list_add(&runs, 1, mi, ei, flat_real_at(value + 4 * i))) return runs_full(r, &runs);
    }
    object_pool *pool = r->d.pool;
    if (which == CLASS_norm_ratios) *out = (const xir_object *)norm_ratios_make(pool, run_list_runs(&runs), axis);
    else *out = (const xir_object *)scales_make(pool, which == CLASS_exp_scales, run_list_runs(&runs), axis);
    run_list_free(&runs);
    return *out || trace_memory(&r->d.trace);
}

static bool read_scales(flat_reader *r, const flat_view *t, const flat_table *as, const xir_object **out) {
    size_t n;
    bool ratios = as->shape == FLAT_NORM_RATIOS;
    const uint8_t *value = vector_slot(t, as, ratios ? RATIOS_SLOT_DATA : SCALES_SLOT_SCALE, &n);
    int64_t axis = i64_slot(t, as, ratios ? RATIOS_SLOT_AXIS : SCALES_SLOT_AXIS);
    return read_array(r, t, ratios ? CLASS_norm_ratios : CLASS_scales, NULL, NULL, value, n, axis, out);
}

static bool read_exp_scales(flat_reader *r, const flat_view *t, const flat_table *as, const xir_object **out) {
    size_t n, n_m, n_exp;
    const uint8_t *value = vector_slot(t, as, EXP_SCALES_SLOT_SCALE, &n),
                   *m = vector_slot(t, as, EXP_SCALES_SLOT_M, &n_m);
    const uint8_t *exp = vector_slot(t, as, EXP_SCALES_SLOT_EXP, &n_exp);
    if (n != n_m || n != n_exp) {
        return FLAT_FAIL(r, t->at, XIR_E_CORRUPT, "expected as many m as exp and origin_scale, found %zu, %zu and %zu",
                         n_m, n_exp, n);
    }
    return read_array(r, t, CLASS_exp_scales, m, exp, value, n, i64_slot(t, as, EXP_SCALES_SLOT_AXIS), out);
}

bool flat_read_shape(flat_reader *r, const flat_view *t, const flat_table *as, const xir_object **out) {
    switch (as->shape) {
    case FLAT_LAYOUT:      return read_layout(r, t, as, out);
    case FLAT_DISTR:       return read_distr(r, t, as, out);
    case FLAT_FLOAT:       return read_float(r, t, as, out);
    case FLAT_SCALES:
    case FLAT_NORM_RATIOS: return read_scales(r, t, as, out);
    case FLAT_EXP_SCALES:  return read_exp_scales(r, t, as, out);
    default: break;
    }
    return FLAT_FAIL(r, t->at, XIR_E_TYPE, "%s is a family of classes: expected one of its members", as->name);
}

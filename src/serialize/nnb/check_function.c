/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks of functions: whether the number is known and what the file's api level has, whether the ends are as many as
 * the table says, whether all arguments are there and in their ranges, and whether the fixed-point types are ones that
 * the runtime can compute with. */
#include "nnb/check.h"

typedef struct function {
    nnb_checking        *c;
    const nnb_record    *f;
    const nnb_signature *sig;
    const xir_map       *extra;
    size_t               number;
} function;

/* "/functions/3" and what follows. */
typedef struct place { char text[120]; } place;
static place place_of(const function *f, const char *what) {
    place p;
    snprintf(p.text, sizeof p.text, "/functions/%zu%s%.80s", f->number, *what ? "/" : "", what);
    return p;
}
static place argument_place(const function *f, const nnb_argument *a) {
    char what[80];
    snprintf(what, sizeof what, "argument/%.*s", CLIP(a->name));
    return place_of(f, what);
}

#define SAY(f, severity, code, what, ...) \
    nnb_say((f)->c, severity, code, place_of(f, what).text, "%s: " __VA_ARGS__)

/* ---- numbers --------------------------------------------------------------------------------------------------- */

static void check_number(const function *f) {
    const nnb_model *m = f->c->m;
    const uint32_t level = m->api > NNB_REVISION ? 1 : m->api;
    const xir_nnb_function *row = f->sig->function;
    const int32_t impl = f->f->impl;
    if (!f->sig->storable || !row->api_level)
        SAY(f, XIR_WARNING, XIR_E_UNSUPPORTED, "", "no exporter writes number %u: its arguments are kept as bytes",
            row->name, (unsigned)row->id);
    else if (m->has_api && row->api_level > level)
        SAY(f, XIR_WARNING, XIR_E_BOUNDS, "", "number %u is of api level %u, but the file is of level %" PRIu32,
            row->name, (unsigned)row->id, (unsigned)row->api_level, level);
    if (impl > 100)
        SAY(f, XIR_WARNING, XIR_E_BOUNDS, "", "implementation %d is reserved: expected 0 to 100", row->name, (int)impl);
    if (row->id == 6 && f->extra)
        SAY(f, XIR_NOTE, XIR_OK, "", "the last argument is read as %s: number 6 has two meanings", row->name,
            nnb_find(f->extra, XIR_STR("including_pad")) ? "including_pad, as before api levels" : "channel_last");
}

/* ---- ends ------------------------------------------------------------------------------------------------------ */

/* "x weight* bias*?": how many are needed and allowed. */
static void count_names(const char *names, size_t *least, size_t *most) {
    *least = *most = 0;
    while (*names) {
        const size_t n = strcspn(names, " ");
        const bool many = n > 3 && memcmp(names + n - 3, "...", 3) == 0;
        if (many) *most = SIZE_MAX;
        else if (*most != SIZE_MAX) ++*most;
        if (names[n - 1] != '?') ++*least;
        names += n;
        while (*names == ' ') names++;
    }
}

/* A normalisation by the statistics of its input may return these too, which the table does not say. */
static bool returns_statistics(const function *f) {
    static const char end[] = "BatchNormalization";
    const xir_str name = f->sig->name;
    const size_t n = sizeof end - 1;
    return name.size >= n && memcmp(name.data + name.size - n, end, n) == 0;
}

static void check_count(const function *f, const char *names, size_t found, const char *what) {
    size_t least, most;
    count_names(names, &least, &most);
    if (*what == 'o' && most != SIZE_MAX && returns_statistics(f)) most += 2;
    const char *name = f->sig->function->name;
    if (found >= least && found <= most) return;
    if (most == SIZE_MAX)
        SAY(f, XIR_ERROR, XIR_E_BOUNDS, "", "expected at least %zu %s%s, found %zu", name, least, what,
            least == 1 ? "" : "s", found);
    else if (least == most)
        SAY(f, XIR_ERROR, XIR_E_BOUNDS, "", "expected %zu %s%s, found %zu", name, least, what, least == 1 ? "" : "s",
            found);
    else
        SAY(f, XIR_ERROR, XIR_E_BOUNDS, "", "expected %zu to %zu %ss, found %zu", name, least, most, what, found);
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

static bool is_named(const nnb_argument *a, const char *name) { return xir_str_equal(a->name, xir_str_of(name)); }

/* The least that an item may be; false: anything. */
static bool least_of(const nnb_argument *a, int64_t *least) {
    static const struct { const char *name; int least; } rows[] = {
        { "kernel", 1 }, { "stride", 1 }, { "dilation", 1 }, { "pad", 0 }, { "group", 1 }, { "multiplier", 1 },
        { "divisor", 1 }, { "deformable_group", 1 }, { "output_padding", 0 }, { "pad_width", 0 }, { "num_groups", 1 },
        { "num_layers", 1 }, { "num_bits", 1 }, { "signal_ndim", 1 }, { "window_size", 1 }, { "fft_size", 1 },
        { "patch", 1 }, { "patch_step", 1 }, { "shift", 0 }, { "shift_step", 1 }, { "padding", 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!is_named(a, rows[i].name)) continue;
        *least = rows[i].least;
        return true;
    }
    return false;
}

static uint32_t rank_of(const function *f, uint32_t input) {
    return input < f->f->in.n
        ? nnb_variable_at(f->c->m, (size_t)nnb_int_at(f->c->m, f->f->in.first + input))->rank : 0;
}

/* An axis counts from either end; an axis of a Stack is one of the result. */
static void check_axis(const function *f, const nnb_argument *a, int64_t axis) {
    const int64_t rank = rank_of(f, 0), most = rank + xir_str_equal(f->sig->name, XIR_STR("Stack"));
    const bool base = is_named(a, "base_axis");
    if (!f->f->in.n || (axis >= -most && axis < most + base)) return;
    nnb_say(f->c, XIR_ERROR, XIR_E_BOUNDS, argument_place(f, a).text, "%s: %.*s is out of range: "
            "expected %" PRId64 " to %" PRId64 ", found %" PRId64, f->sig->function->name, CLIP(a->name), -most,
            most - !base, axis);
}

static bool is_axis(const nnb_argument *a) {
    static const char *const names[] = { "axis", "axes", "base_axis", "batch_axis", "channel_axis", "dim" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(a, names[i])) return true;
    return false;
}

static void check_item(const function *f, const nnb_argument *a, int64_t v) {
    int64_t least;
    if (least_of(a, &least) && v < least)
        nnb_say(f->c, XIR_ERROR, XIR_E_BOUNDS, argument_place(f, a).text, "%s: %.*s: expected %" PRId64 " or more, "
                "found %" PRId64, f->sig->function->name, CLIP(a->name), least, v);
    if (is_axis(a)) check_axis(f, a, v);
}

static void check_argument(const function *f, const nnb_argument *a, const xir_any *v) {
    const char *name = f->sig->function->name;
    if (a->words.size && v->kind == XIR_ANY_INT)
        nnb_say(f->c, XIR_ERROR, XIR_E_BOUNDS, argument_place(f, a).text,
                "%s: %.*s: expected the number of one of %.*s, found %" PRId64, name, CLIP(a->name),
                CLIP_TO(a->words, 100), v->as.integer);
    else if (a->kind == NNB_BYTE && v->kind == XIR_ANY_INT)
        nnb_say(f->c, XIR_ERROR, XIR_E_BOUNDS, argument_place(f, a).text,
                "%s: %.*s: expected 0 or 1, found %" PRId64, name,
                CLIP(a->name), v->as.integer);
    else if (a->kind == NNB_INT && v->kind == XIR_ANY_INT) check_item(f, a, v->as.integer);
    for (size_t i = 0; v->kind == XIR_ANY_LIST && i < v->as.list.size; i++)
        if (v->as.list.items[i].kind == XIR_ANY_INT) check_item(f, a, v->as.list.items[i].as.integer);
}

/* Lists about windows have an item for each spatial dim; an empty stride is the kernel. */
static void check_windows(const function *f) {
    const nnb_argument *first = NULL;
    size_t size = 0;
    for (size_t i = 0; i < f->sig->n; i++) {
        const nnb_argument *a = &f->sig->arguments[i];
        const xir_any *v = nnb_argument_at(f->sig, i, f->extra);
        const bool window = is_named(a, "kernel") || is_named(a, "pad") || is_named(a, "stride") ||
            is_named(a, "dilation");
        if (!window || !v || v->kind != XIR_ANY_LIST || !v->as.list.size) continue;
        if (!first) {
            first = a;
            size = v->as.list.size;
        } else if (v->as.list.size != size) {
            nnb_say(f->c, XIR_ERROR, XIR_E_BOUNDS, argument_place(f, a).text,
                    "%s: %.*s: expected %zu items, as %.*s has, found "
                    "%zu", f->sig->function->name, CLIP(a->name), size, CLIP(first->name), v->as.list.size);
        }
    }
}

/* Dropout 336 has its last argument in the table alone. */
static void check_arguments(const function *f) {
    for (size_t i = 0; i < f->sig->n; i++) {
        const nnb_argument *a = &f->sig->arguments[i];
        const xir_any *v = nnb_argument_at(f->sig, i, f->extra);
        if (v) check_argument(f, a, v);
        else if (f->sig->function->id != 336 || i + 1 < f->sig->n)
            nnb_say(f->c, XIR_ERROR, XIR_E_MISSING, argument_place(f, a).text, "%s: the record ends before %.*s",
                    f->sig->function->name, CLIP(a->name));
    }
    check_windows(f);
}

/* ---- fixed point ----------------------------------------------------------------------------------------------- */

static const nnb_variable *end_of(const function *f, nnb_list list, uint32_t i) {
    return i < list.n ? nnb_variable_at(f->c->m, (size_t)nnb_int_at(f->c->m, list.first + i)) : NULL;
}

static bool is_fixed(const nnb_variable *v) { return v && (v->type == NNB_INT16 || v->type == NNB_INT8); }

/* The runtime divides sums by 2^(x + weight - y), and a bias by 2^(bias - y): neither exponent may be negative. */
static void check_fixed(const function *f) {
    const nnb_variable *x = end_of(f, f->f->in, 0), *w = end_of(f, f->f->in, 1), *b = end_of(f, f->f->in, 2);
    const nnb_variable *y = end_of(f, f->f->out, 0);
    const uint16_t id = f->f->id;
    const bool sums = id == 0 || id == 1 || id == 265 || id == 2;
    const char *name = f->sig->function->name;
    if (!sums || !is_fixed(x) || !is_fixed(w) || !is_fixed(y) || x->type != y->type || w->type != y->type) return;
    if (x->fp_pos + w->fp_pos < y->fp_pos)
        SAY(f, XIR_ERROR, XIR_E_BOUNDS, "output/0", "too many fraction bits: "
            "expected at most those of input and weight, %d, found %d", name, x->fp_pos + w->fp_pos, y->fp_pos);
    if (is_fixed(b) && b->type == y->type && b->fp_pos < y->fp_pos)
        SAY(f, XIR_ERROR, XIR_E_BOUNDS, "input/2", "the bias has too few fraction bits: "
            "expected at least those of the output, %d, found %d", name, y->fp_pos, b->fp_pos);
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

void nnb_check_functions(nnb_checking *c) {
    nnb_model *m = c->m;
    for (size_t i = 0; i < m->records.size && m->status != XIR_E_MEMORY; i++) {
        bool memory = false;
        function f = { .c = c, .f = nnb_record_at(m, i), .number = i };
        f.extra = xir_op_extra(f.f->op);
        f.sig = nnb_signature_of(&m->signatures, f.f->id, &memory);
        if (memory) nnb_model_memory(m);
        if (memory) return;
        if (!f.sig) {
            nnb_say(c, XIR_ERROR, XIR_E_UNKNOWN, place_of(&f, "").text, "number %u is not in the table of functions",
                    (unsigned)f.f->id);
            continue;
        }
        check_number(&f);
        check_count(&f, f.sig->function->inputs, f.f->in.n, "input");
        check_count(&f, f.sig->function->outputs, f.f->out.n, "output");
        if (f.sig->storable) check_arguments(&f);
        check_fixed(&f);
    }
}

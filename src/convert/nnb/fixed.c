/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Fixed point (docs/nnb.md): functions compute with the numbers that stored ones stand for. So before the conversion,
 * each fixed-point value gets a Cast to reals in front of the functions that use it, each fixed-point result is the
 * Cast of a real one, and parameters become real constants; signs are +1 and -1. Functions that only move elements of
 * one type keep it. On the way back, XIR's ops are set apart from their fixed-point values in the same way; and of the
 * functions that were made, those that the C runtime does not compute with these types, by Identity. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "nnb/nnb.h"
#include "support/numbers.h"

static bool is_function(const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    return key.size > 5 && memcmp(key.data, "nnb::", 5) == 0;
}

static bool is_sign(const xir_value *v) {
    const xir_integer_type *i = xir_integer_type_of(xir_type_object(v_element(v)));
    return i && xir_value_is_params(v) && xir_type_storage_bits(v_element(v)) == 1;
}

static bool is_fixed(const xir_value *v) {
    if (!v || !xir_type_as_tensor(xir_value_type(v))) return false;
    return xir_type_is_quantized(v_element(v)) || is_sign(v);
}

int nnb_fraction_of(const xir_type *element) {
    const xir_scales *scales = xir_type_scale(element);
    const xir_i64s zeros = xir_type_zero_points(element);
    const int bits = (int)xir_type_storage_bits(element);
    int exponent = 0;
    if (xir_type_kind_of(element) != XIR_TYPE_QUANTIZED || (bits != 8 && bits != 16)) return -1;
    const xir_integer_type *whole = xir_integer_type_of(xir_type_object(xir_type_storage(element)));
    if (!whole || !whole->sign || !scales || xir_scales_count(scales) != 1) return -1;
    for (size_t i = 0; i < zeros.size; i++) if (zeros.data[i]) return -1;
    if (frexp(xir_scales_at(scales, 0), &exponent) != 0.5 || exponent > 1 || exponent <= 1 - bits) return -1;
    return 1 - exponent;
}

/* Returns true if a function picks elements without moving axes, and all of its tensors have one fixed-point type.
 * (Where axes move, a scale, even of all elements, moves with the axis that its type names, which then is another
 * type.) */
static bool keeps_elements(const xir_op *op) {
    static const char *const moves[] = { "Concatenate", "Flip", "Identity", "ReLU", "Slice", "Unlink" };
    const xir_str key = xir_class_key(xir_op_class(op)), name = { key.data + 5, key.size - 5 };
    size_t i = 0;
    while (i < COUNT(moves) && !xir_str_equal(name, xir_str_of(moves[i]))) i++;
    if (i == COUNT(moves) || !xir_op_output_count(op)) return false;
    const xir_value *first = xir_op_output(op, 0);
    for (size_t k = 0; k < xir_op_output_count(op); k++) {
        const xir_value *v = xir_op_output(op, (int64_t)k);
        if (!is_fixed(v) || !xir_type_equal(v_element(v), v_element(first))) return false;
    }
    for (size_t k = 0; k < xir_op_input_count(op); k++) {
        const xir_value *v = xir_op_input(op, (int64_t)k);
        if (!is_fixed(v) || xir_value_is_params(v) || !xir_type_equal(v_element(v), v_element(first))) return false;
    }
    return true;
}

/* Whose values are set apart: functions of a file, ops of XIR, or one function that was made. */
typedef enum fixing_of { OF_FILE, OF_XIR, OF_FUNCTION } fixing_of;

typedef struct fixing {
    fixing_of      of;
    xir_network   *net;
    xir_context   *ctx;
    pointer_table  real_of;    /* fixed-point value -> index in `reals` */
    xir_value    **reals;
    size_t         n, room;
    uint64_t       left;       /* bytes for real parameters             */
    bool           changed;
    bool           no_memory;
} fixing;

static xir_value *failed(fixing *f) {
    f->no_memory = true;
    return NULL;
}

static const xir_type *real_type(fixing *f, const xir_value *v) {
    const xir_type *type = xir_value_type(v);
    return xir_type_with_element(f->ctx, type, xir_type_float(f->ctx, XIR_FLOAT_FP32), NULL);
}

/* A Cast of v, or an Identity, before an op; NULL: at the end. */
static xir_value *cast_before(fixing *f, xir_value *v, const xir_type *type, xir_op *op) {
    xir_cast_attrs attrs = xir_cast_init();
    attrs.target_dtype = type ? xir_type_as_tensor(type) : NULL;
    const bool file = f->of == OF_FUNCTION;
    const xir_class *cls = file ? xir_class_opaque(f->ctx, XIR_STR("nnb::Identity")) : find_class(f->ctx, "Cast");
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = cls, .attrs = file ? NULL : &attrs, .inputs = &v,
                                      .n_inputs = 1, .types = file ? &type : NULL, .n_types = file, .id = XIR_NO_ID,
                                      .before = op);
    const xir_status before = xir_network_status(f->net);
    xir_op *made = type && cls ? xir_network_add(f->net, &desc) : NULL;
    if (!made && !before) xir_network_clear_status(f->net);
    return made ? xir_op_output(made, 0) : failed(f);
}

/* ---- parameters ------------------------------------------------------------------------------------------------- */

static bool write_reals(fixing *f, const xir_value *v, const void *bytes, size_t n, float *out) {
    enum { PIECE = 512 };
    double room[PIECE];
    tensor_elements e;
    const bool sign = is_sign(v);
    const xir_status status = elements_open(&e, context_alloc(f->ctx), xir_value_type(v), NULL);
    if (status == XIR_E_MEMORY) f->no_memory = true;
    if (status) return false;
    for (size_t from = 0; from < n; from += PIECE) {
        const size_t count = n - from < PIECE ? n - from : PIECE;
        elements_read_reals(&e, bytes, from, count, room);
        for (size_t i = 0; i < count; i++) out[from + i] = (float)(sign ? 2 * room[i] - 1 : room[i]);
    }
    elements_close(&e);
    return true;
}

/* The numbers of a parameter; NULL if it has none that can be read, or too many. */
static xir_value *real_params(fixing *f, xir_value *v) {
    const xir_type *type = real_type(f, v);
    const void *bytes = whole_params(v);
    int64_t n = 0;
    uint64_t size = 0;
    if (type && bytes && (xir_type_bytes(type, &size) || size > f->left)) return NULL;
    f->left -= size;
    xir_value *made = type ? xir_params_new(f->net, xir_value_name(v), type) : NULL;
    if (!made) return failed(f);
    value_params(made)->allow_no_data = value_params(v)->allow_no_data;
    if (!bytes) return made;
    if (xir_type_elements(type, &n)) return NULL;
    blob *b = blob_new(&f->net->alloc, size);
    if (!b) return failed(f);
    value_params(made)->data = b;
    return write_reals(f, v, bytes, (size_t)n, (float *)(uintptr_t)b->bytes) ? made : NULL;
}

/* ---- functions -------------------------------------------------------------------------------------------------- */

/* The Cast of v to reals that a conversion made before memory ran out. */
static xir_value *made_before(const xir_value *v, const xir_type *type) {
    for (const xir_use *use = xir_value_uses(v); use; use = xir_use_next(use)) {
        const xir_op *op = xir_use_op(use);
        if (!xir_op_is(op, xir_cast_class()) || xir_op_output_count(op) != 1) continue;
        xir_value *out = xir_op_output(op, 0);
        if (xir_type_equal(xir_value_type(out), type)) return out;
    }
    return NULL;
}

/* The value as reals, for an op, once for each; NULL: it stays as it is, or memory is out. */
static xir_value *real_of(fixing *f, xir_value *v, xir_op *user) {
    const uint32_t *known = pointer_table_find(&f->real_of, v);
    if (known) return f->reals[*known];
    xir_op *producer = xir_value_op(v);
    const xir_type *type = real_type(f, v);
    if (!producer && !xir_value_is_params(v)) return NULL;   /* nothing makes it */
    if (!type || !pointer_table_reserve(&f->real_of, f->n + 1) ||
        !mem_reserve(context_alloc(f->ctx), (void **)&f->reals, &f->room, f->n + 1, sizeof *f->reals))
        return failed(f);
    const bool stored = !producer && f->of != OF_FUNCTION;
    xir_value *made = stored ? real_params(f, v) : f->of == OF_FILE ? made_before(v, type) : NULL;
    if (!made && !stored) made = cast_before(f, v, type, producer ? xir_op_next(producer) : user);
    if (!made || !pointer_table_add(&f->real_of, v, (uint32_t)f->n)) return NULL;
    return f->reals[f->n++] = made;
}

/* Moves the name to the Cast; the function's own output is "v1.real". */
static bool name_both(xir_value *v, xir_value *cast) {
    char name[80];
    const xir_str own = xir_value_name(v);
    const bool fits = own.size && own.size < sizeof name - 8;
    if (xir_value_set_name(cast, own)) return false;
    snprintf(name, sizeof name, "%.*s.real", fits ? (int)own.size : 0, fits ? own.data : "");
    return !xir_value_set_name(v, xir_str_of(fits ? name : ""));
}

/* The function makes reals, and a Cast the fixed-point value. Everything that needs memory comes first. */
static bool real_output(fixing *f, xir_op *op, xir_value *v) {
    const xir_type *fixed = xir_value_type(v), *real = real_type(f, v);
    xir_value *cast = real ? cast_before(f, v, fixed, xir_op_next(op)) : failed(f);
    if (!cast) return false;
    if (xir_value_set_type(v, real) || !name_both(v, cast)) {
        f->no_memory = true;
        (void)xir_value_set_type(v, fixed);
        (void)xir_op_erase(xir_value_op(cast));
        return false;
    }
    f->no_memory = xir_value_replace(v, cast) || xir_op_set_input(xir_value_op(cast), 0, v);
    return !f->no_memory;
}

/* Returns true if a value is to be set apart. */
static bool is_apart(const fixing *f, const xir_value *v) {
    if (f->of == OF_FILE) return is_fixed(v);
    return v && xir_type_as_tensor(xir_value_type(v)) && nnb_fraction_of(v_element(v)) >= 0;
}

static void fix_function(fixing *f, xir_op *op) {
    for (size_t i = 0; i < xir_op_output_count(op) && !f->no_memory; i++) {
        xir_value *v = xir_op_output(op, (int64_t)i);
        if (is_apart(f, v)) f->changed |= real_output(f, op, v);
    }
    for (size_t i = 0; i < xir_op_input_count(op) && !f->no_memory; i++) {
        xir_value *v = xir_op_input(op, (int64_t)i), *real = is_apart(f, v) ? real_of(f, v, op) : NULL;
        if (!real) continue;
        if (xir_op_set_input(op, i, real)) f->no_memory = true;
        f->changed = true;
    }
}

static void begin(fixing *f, fixing_of of, xir_network *net) {
    *f = (fixing){ .of = of, .net = net, .ctx = xir_network_context(net), .left = net_converted_most(net) };
    pointer_table_init(&f->real_of, context_alloc(f->ctx));
}

static xir_status end(fixing *f, bool *changed) {
    pointer_table_free(&f->real_of);
    mem_free(context_alloc(f->ctx), (void *)f->reals, f->room * sizeof *f->reals);
    *changed = f->changed;
    return f->no_memory ? XIR_E_MEMORY : XIR_OK;
}

xir_status nnb_to_reals(xir_network *net, bool *changed) {
    fixing f;
    begin(&f, OF_FILE, net);
    for (xir_op *op = xir_network_first(net), *next; op && !f.no_memory; op = next) {
        next = xir_op_next(op);
        if (is_function(op) && !keeps_elements(op)) fix_function(&f, op);
    }
    return end(&f, changed);
}

xir_status nnb_ops_to_reals(xir_network *net, bool *changed) {
    fixing f;
    begin(&f, OF_XIR, net);
    for (xir_op *op = xir_network_first(net), *next; op && !f.no_memory; op = next) {
        next = xir_op_next(op);
        const bool stays = xir_op_is(op, xir_input_class()) || xir_op_is(op, xir_output_class()) ||
                           xir_op_is(op, xir_cast_class()) || xir_class_is_opaque(xir_op_class(op));
        if (!stays) fix_function(&f, op);
    }
    return end(&f, changed);
}

xir_status nnb_functions_apart(xir_network *net, bool (*is_computed)(const xir_op *op), bool *changed) {
    fixing f;
    begin(&f, OF_FUNCTION, net);
    for (xir_op *op = xir_network_first(net), *next; op && !f.no_memory; op = next) {
        next = xir_op_next(op);
        if (is_function(op) && !is_computed(op)) fix_function(&f, op);
    }
    return end(&f, changed);
}

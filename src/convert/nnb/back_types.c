/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The types of a file that XIR's ops became. Where XIR has bools and integers, NNabla has floats. The option `weights`
 * chooses the type of parameters, each with the fraction bits that NNabla's exporter gives it. */
#include <math.h>
#include <string.h>
#include "nnb/nnb.h"
#include "manager/pass.h"
#include "support/numbers.h"

static const char *const weight_words[NNB_WEIGHTS] = { "FLOAT32", "FIXED16", "FIXED8", "SIGN" };
enum { FLOAT32, FIXED16, FIXED8, SIGN };

size_t nnb_weights(const xir_pass *pass) {
    const xir_str word = xir_pass_text(pass, "weights");
    size_t i = 0;
    while (i < COUNT(weight_words) && !xir_str_equal(word, xir_str_of(weight_words[i]))) i++;
    return i;
}

/* Params that share their bytes and have one type become the same Params. */
typedef struct typed_params { const xir_type *type; xir_value *made; uint32_t next; /* index + 1 */ } typed_params;

typedef struct typing {
    xir_pass     *pass;
    xir_network  *net;
    xir_context  *ctx;
    size_t        weights;
    pointer_table params_of;    /* the bytes of Params, or Params without bytes -> index in `made`, of the newest */
    typed_params *made;
    size_t        n, room;
    uint64_t      left;         /* bytes for Params */
    xir_status    status;
} typing;

static bool fail(typing *t, xir_status status, const char *what, const xir_value *v) {
    const xir_str name = xir_value_name(v);
    if (t->status) return false;
    if (status == XIR_E_MEMORY) t->status = xir_pass_fail(t->pass, status, NULL, "out of memory");
    else t->status = xir_pass_fail(t->pass, status, NULL, "the parameter '%.*s' %s", CLIP_TO(name, 80), what);
    return false;
}

static bool is_whole_number(const xir_type *element) {
    return xir_type_kind_of(element) == XIR_TYPE_INTEGER || xir_type_kind_of(element) == XIR_TYPE_BOOL;
}

/* The elements of Params as reals, as a new array of n doubles, owned by the caller; NULL if there are none. */
static double *elements_of(typing *t, const xir_value *v, size_t n) {
    const xir_allocator *alloc = context_alloc(t->ctx);
    const void *bytes = whole_params(v);
    tensor_elements e;
    double *out = bytes ? mem_new(alloc, (n + 1) * sizeof *out) : NULL;
    if (!bytes) return NULL;
    if (!out || elements_open(&e, alloc, xir_value_type(v), NULL)) {
        fail(t, XIR_E_MEMORY, "", v);
        mem_free(alloc, out, (n + 1) * sizeof *out);
        return NULL;
    }
    elements_read_reals(&e, bytes, 0, n, out);
    elements_close(&e);
    return out;
}

/* The exporter's rule: the bits before the point are 1 for numbers below 1, else those of the greatest; one more if it
 * is a positive power of two, which would not fit. Negative: the numbers do not fit. */
static int fraction_bits(const double *v, size_t n, int bits) {
    double most = 0, positive = 0;
    int exponent = 0, whole = 1;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) return -1;
        if (fabs(v[i]) > most) most = fabs(v[i]);
        if (v[i] > positive) positive = v[i];
    }
    if (most >= 1) {
        const bool power = frexp(most, &exponent) == 0.5;
        whole = power ? exponent : exponent + 1;
        if (power && positive == most) whole++;
    }
    return bits - whole;
}

static bool has_signs(const double *v, size_t n) {
    for (size_t i = 0; i < n; i++) if (v[i] != 1 && v[i] != -1) return false;
    return n && n % 8 == 0;
}

/* The element type that a parameter gets; NULL after a failure. *fraction is for fixed point. */
static const xir_type *element_for(typing *t, const xir_value *v, const double *e, size_t n, int *fraction) {
    const xir_type *real = xir_type_float(t->ctx, XIR_FLOAT_FP32);
    const int bits = t->weights == FIXED16 ? 16 : 8;
    *fraction = -1;
    if (!e || t->weights == FLOAT32) return real;
    if (t->weights == SIGN) return has_signs(e, n) ? xir_type_uint(t->ctx, 1) : real;
    *fraction = fraction_bits(e, n, bits);
    if (*fraction < 0) {
        const xir_str name = xir_value_name(v);
        xir_pass_diag(t->pass, XIR_NOTE, NULL, "the parameter '%.*s' stays FLOAT32: its numbers need more than %d bits "
                      "before the point", CLIP_TO(name, 80), bits);
        return real;
    }
    const double step = ldexp(1, -*fraction);
    const int64_t zero = 0;
    const xir_scales *scale = xir_scales_from(t->ctx, &step, 1, -1);
    const xir_type *storage = xir_type_sint(t->ctx, bits);
    return scale && storage ? xir_type_quantized(t->ctx, scale, &zero, 1, storage, NULL) : NULL;
}

static bool put_elements(typing *t, const xir_value *v, uint8_t *out, size_t size, const double *e, size_t n,
                         const xir_type *element, int fraction) {
    const bool bits = xir_type_storage_bits(element) == 1;
    memset(out, 0, size);
    for (size_t i = 0; i < n; i++) {
        if (bits) {
            out[i / 8] |= (uint8_t)((e[i] > 0) << i % 8);
        } else if (fraction < 0) {
            const float f = (float)e[i];
            if (is_whole_number(v_element(v)) && (double)f != e[i])
                return fail(t, XIR_E_BOUNDS, "contains an integer that float32 cannot represent", v);
            memcpy(out + 4 * i, &f, 4);
        } else {
            const int64_t most = ((int64_t)1 << (xir_type_storage_bits(element) - 1)) - 1;
            int64_t q = llrint(ldexp(e[i], fraction));
            q = q > most ? most : q < -most - 1 ? -most - 1 : q;
            const uint16_t raw = (uint16_t)q;
            if (most > 127) memcpy(out + 2 * i, &raw, 2);
            else out[i] = (uint8_t)raw;
        }
    }
    return true;
}

static xir_value *made_params(typing *t, xir_value *v) {
    int64_t count;
    int fraction;
    uint64_t size = 0;
    if (xir_type_elements(xir_value_type(v), &count)) return fail(t, XIR_E_UNSUPPORTED, "has open dims", v), NULL;
    const size_t n = (size_t)count;
    double *e = elements_of(t, v, n);
    const xir_type *element = t->status ? NULL : element_for(t, v, e, n, &fraction), *type = NULL;
    xir_value *made = NULL;
    if (element && xir_type_equal(element, v_element(v))) {
        made = v;
    } else if (element) {
        type = xir_type_with_element(t->ctx, xir_value_type(v), element, NULL);
        const bool has_size = type && !xir_type_bytes(type, &size);
        if (has_size && e && size > t->left) fail(t, XIR_E_LIMIT, "takes more bytes than max_converted leaves", v);
        else if (e) t->left -= size;
        made = has_size && !t->status ? xir_params_new(t->net, xir_value_name(v), type) : NULL;
        blob *b = made && e ? blob_new(&t->net->alloc, size) : NULL;
        if (!made || (e && !b)) fail(t, XIR_E_MEMORY, "", v);
        else if (b) {
            value_params(made)->data = b;
            if (!put_elements(t, v, (uint8_t *)(uintptr_t)b->bytes, (size_t)size, e, n, element, fraction)) made = NULL;
        } else {
            value_params(made)->allow_no_data = value_params(v)->allow_no_data;
        }
    } else {
        fail(t, XIR_E_MEMORY, "", v);
    }
    mem_free(context_alloc(t->ctx), e, (n + 1) * sizeof *e);
    return t->status ? NULL : made;
}

static xir_value *params_for(typing *t, xir_value *v) {
    const blob *data = value_params(v)->data;
    const void *key = data && data->size ? data->bytes : (const void *)v;
    uint32_t *newest = pointer_table_find(&t->params_of, key);
    for (uint32_t i = newest ? *newest : 0; i; i = t->made[i - 1].next)
        if (xir_type_equal(t->made[i - 1].type, xir_value_type(v))) return t->made[i - 1].made;
    if (t->weights == FLOAT32 && !is_whole_number(v_element(v))) return v;
    const xir_type *type = xir_value_type(v);
    xir_value *made = made_params(t, v);
    if (!made) return NULL;
    if (!mem_reserve(context_alloc(t->ctx), (void **)&t->made, &t->room, t->n + 1, sizeof *t->made) ||
        !(newest = pointer_table_add(&t->params_of, key, 0))) return fail(t, XIR_E_MEMORY, "", v), NULL;
    t->made[t->n++] = (typed_params){ type, made, *newest };
    *newest = (uint32_t)t->n;
    return made;
}

static void type_op(typing *t, xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op) && !t->status; i++) {
        xir_value *v = xir_op_input(op, (int64_t)i);
        if (!v || !xir_value_is_params(v) || !xir_type_as_tensor(xir_value_type(v))) continue;
        xir_value *now = params_for(t, v);
        if (!now || now == v) continue;
        if (xir_op_set_input(op, i, now)) fail(t, XIR_E_MEMORY, "", v);
        xir_pass_changed(t->pass, 1);
    }
    for (size_t i = 0; i < xir_op_output_count(op) && !t->status; i++) {
        xir_value *v = xir_op_output(op, (int64_t)i);
        if (!v || !xir_type_as_tensor(xir_value_type(v)) || !is_whole_number(v_element(v))) continue;
        const xir_type *type = xir_type_with_element(t->ctx, xir_value_type(v), xir_type_float(t->ctx, XIR_FLOAT_FP32),
                                                     NULL);
        if (!type || xir_value_set_type(v, type)) fail(t, XIR_E_MEMORY, "", v);
        xir_pass_changed(t->pass, 1);
    }
}

xir_status nnb_type_functions(xir_pass *pass) {
    typing t = { .pass = pass, .net = xir_pass_network(pass), .ctx = xir_pass_context(pass),
                 .weights = nnb_weights(pass) };
    t.left = pass->within->convertible - pass->within->converted;
    pointer_table_init(&t.params_of, context_alloc(t.ctx));
    for (xir_op *op = xir_network_first(t.net); op && !t.status; op = xir_op_next(op)) type_op(&t, op);
    pointer_table_free(&t.params_of);
    mem_free(context_alloc(t.ctx), (void *)t.made, t.room * sizeof *t.made);
    return t.status ? t.status : nnb_fix_functions(pass);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types of a case from text and back, and Params with elements. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <xir/icraft.h>
#include "support/op_case.h"
#include "elements.h"

/* ---- element types ---------------------------------------------------------------------------------------------- */

static const struct { const char *word; xir_float_format format; } floats[] = {
    { "fp16", XIR_FLOAT_FP16 }, { "fp32", XIR_FLOAT_FP32 }, { "fp64", XIR_FLOAT_FP64 },
    { "bf16", XIR_FLOAT_BF16 }, { "tf32", XIR_FLOAT_TF32 },
};

/* i8, u16, q8, qu8, n8, nu8: letters, then a width. */
static bool letters_and_width(const char *word, size_t size, char *kind, bool *sign, int64_t *width) {
    size_t i = 1;
    *kind = word[0];
    *sign = word[0] != 'u';
    if ((word[0] == 'q' || word[0] == 'n') && size > 1 && word[1] == 'u') *sign = false, i = 2;
    else if (!strchr("iuqn", word[0])) return false;
    if (i == size || size - i > 5 || word[i] == '0') return false;
    for (*width = 0; i < size; i++) {
        if (word[i] < '0' || word[i] > '9') return false;
        *width = *width * 10 + (word[i] - '0');
    }
    return true;
}

static const xir_type *quantised(op_text *t, char kind, const xir_type *storage) {
    const xir_scales *scales = NULL;
    const xir_norm_ratios *ratios = NULL;
    xir_i64s zeros = { NULL, 0 };
    if (!op_text_expect(t, '{')) return NULL;
    while (!op_text_skip(t, '}')) {
        if (op_text_next(t) == '[') {
            if (!op_text_i64s(t, &zeros)) return NULL;
            continue;
        }
        const xir_object *part = op_text_object(t);
        if (!part) return NULL;
        if (xir_object_body(part, xir_scales_class())) scales = (const xir_scales *)part;
        else if (xir_norm_ratios_of(part)) ratios = xir_norm_ratios_of(part);
        else {
            op_text_fail(t, "scales or norm ratios were expected in a quantised type");
            return NULL;
        }
    }
    const xir_type *type = NULL;
    xir_diags_clear(why);
    if (kind == 'q' && scales && !ratios) type = xir_type_quantized(ctx, scales, zeros.data, zeros.size, storage, NULL);
    if (kind == 'n' && ratios) type = xir_type_normalized(ctx, ratios, storage, NULL);
    if (kind == 'n' && ratios && scales)
        type = xir_type_normalized_quantized(ctx, type, scales, zeros.data, zeros.size);
    if (!type) op_text_fail(t, "no quantised type has these parts");
    return type;
}

static const xir_type *element(op_text *t) {
    if (op_text_next(t) == '@') {
        const xir_object *object = op_text_object(t);
        if (!object) return NULL;
        if (xir_object_body(object, xir_type_class())) return (const xir_type *)object;
        op_text_fail(t, "an element type was expected");
        return NULL;
    }
    if (op_text_word(t, "bool")) return xir_type_bool(ctx);
    for (size_t i = 0; i < COUNT(floats); i++) {
        if (op_text_word(t, floats[i].word)) return xir_type_float(ctx, floats[i].format);
    }
    op_text_next(t);
    size_t size = strspn(t->at, "abcdefghijklmnopqrstuvwxyz0123456789");
    char kind;
    bool sign;
    int64_t width;
    if (size && letters_and_width(t->at, size, &kind, &sign, &width)) {
        t->at += size;
        const xir_type *integer = sign ? xir_type_sint(ctx, width) : xir_type_uint(ctx, width);
        if (integer) return kind == 'i' || kind == 'u' ? integer : quantised(t, kind, integer);
    }
    op_text_fail(t, "an element type was expected");
    return NULL;
}

/* ---- tensors ---------------------------------------------------------------------------------------------------- */

enum { MOST_DIMS = 64, MOST_DISTRS = 8 };

static bool dims(op_text *t, int64_t *out, size_t *rank) {
    *rank = 0;
    if (op_text_skip(t, '-')) return true;
    op_text_next(t);
    do {
        if (*rank == MOST_DIMS) return op_text_fail(t, "more than %d dims", MOST_DIMS);
        char c = *t->at;
        if (c == '?') {
            out[(*rank)++] = -1;
            t->at++;
        } else if (c < '0' || c > '9' || !op_text_i64(t, &out[(*rank)++])) {
            return op_text_fail(t, "a dim was expected");
        }
    } while (*t->at == 'x' && t->at++);
    return true;
}

/* The name of the layout; empty for the default. */
static bool layout(op_text *t, xir_str *name) {
    op_text_next(t);
    if (op_text_skip(t, '-')) {
        *name = XIR_STR("");
        return true;
    }
    size_t size = strspn(t->at, "NHWDCIOLnhwdciol*0123456789");
    *name = (xir_str){ t->at, size };
    t->at += size;
    return size || op_text_fail(t, "a layout was expected");
}

static const xir_type *tensor(op_text *t, const xir_type *of) {
    int64_t shape[MOST_DIMS];
    size_t rank, n = 0;
    const xir_object *distrs[MOST_DISTRS];
    xir_str name;
    if (!layout(t, &name) || !dims(t, shape, &rank)) return NULL;
    while (op_text_next(t) == '@') {
        if (n == MOST_DISTRS || !(distrs[n] = op_text_object(t)) || !xir_distr_of(distrs[n])) {
            op_text_fail(t, "a distribution was expected");
            return NULL;
        }
        n++;
    }
    xir_diags_clear(why);
    const xir_layout *axes = name.size ? xir_layout_parse(ctx, name, why) : xir_layout_default(ctx, rank);
    if (!axes) {
        op_text_fail(t, "'%.*s' is not a layout", (int)name.size, name.data);
        return NULL;
    }
    /* Nothing is checked here: a case may contain what the library has to refuse. */
    return type_tensor(context_pool(ctx), of, axes, (xir_i64s){ shape, rank }, (xir_refs){ distrs, n });
}

const xir_type *op_text_type(op_text *t) {
    const xir_type *of = element(t);
    return of ? tensor(t, of) : NULL;
}

const xir_type *op_text_any_type(op_text *t) {
    if (!op_text_expect(t, '(')) return NULL;
    const xir_type *type = element(t);
    if (type && op_text_next(t) != ')') type = tensor(t, type);
    return type && op_text_expect(t, ')') ? type : NULL;
}

/* ---- as text ---------------------------------------------------------------------------------------------------- */

static void put_element(FILE *out, const xir_type *type) {
    const xir_type *storage = xir_type_storage(type);
    xir_type_kind kind = xir_type_kind_of(type);
    const xir_float_type *real = xir_float_type_of((const xir_object *)type);
    const xir_integer_type *integer = xir_integer_type_of((const xir_object *)storage);
    for (size_t i = 0; real && i < COUNT(floats); i++) {
        if (floats[i].format == real->format) {
            fputs(floats[i].word, out);
            return;
        }
    }
    if (kind == XIR_TYPE_BOOL) {
        fputs("bool", out);
    } else if (kind == XIR_TYPE_INTEGER) {
        fprintf(out, "%c%" PRId64, integer->sign ? 'i' : 'u', integer->ibits);
    } else if (integer && xir_type_is_quantized(type) && kind != XIR_TYPE_CALIBRATED) {
        const xir_scales *scales = xir_type_scale(type);
        const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
        xir_i64s zeros = xir_type_zero_points(type);
        fprintf(out, "%c%s%" PRId64 "{", kind == XIR_TYPE_QUANTIZED ? 'q' : 'n', integer->sign ? "" : "u",
                integer->ibits);
        if (ratios) fprintf(out, "%s%s", spelled(ratios), scales ? " " : "");
        if (scales) fputs(spelled(scales), out);
        for (size_t i = 0; i < zeros.size; i++) fprintf(out, "%s%" PRId64, i ? ", " : " [", zeros.data[i]);
        fputs(zeros.size ? "]}" : "}", out);
    } else {
        char *text = picture_of_object((const xir_object *)type);
        fputs(text, out);
        free(text);
    }
}

const char *op_type_words(const xir_type *type) {
    static char *texts[4];
    static unsigned turn;
    char **text = &texts[turn++ % COUNT(texts)];
    size_t size = 0;
    free(*text);
    FILE *out = open_memstream(text, &size);
    if (!out) abort();
    const xir_tensor_type *tensor_type = xir_type_as_tensor(type);
    if (!type) fputs("no type", out);
    else if (!tensor_type) put_element(out, type);
    else {
        xir_str axes = xir_layout_text(tensor_type->layout);
        bool plain = axes.size == tensor_type->shape.size;
        for (size_t i = 0; plain && i < axes.size; i++) plain = axes.data[i] == '*';
        put_element(out, tensor_type->element_dtype);
        fprintf(out, " %.*s ", plain ? 1 : (int)axes.size, plain ? "-" : axes.data);
        for (size_t i = 0; i < tensor_type->shape.size; i++) {
            int64_t dim = tensor_type->shape.data[i];
            if (i) fputc('x', out);
            if (dim == -1) fputc('?', out);
            else fprintf(out, "%" PRId64, dim);
        }
        if (!tensor_type->shape.size) fputc('-', out);
        xir_refs distrs = tensor_type->merged_distrs;
        for (size_t i = 0; i < distrs.size; i++) fprintf(out, " %s", spelled(distrs.data[i]));
    }
    fclose(out);
    return *text;
}

/* ---- Params ----------------------------------------------------------------------------------------------------- */

/* Reads one element, from the text of a number. */
static bool put_number(op_text *t, const xir_type *of, const char *text, char **end, void *out) {
    const xir_float_type *real = xir_float_type_of((const xir_object *)of);
    const xir_integer_type *integer = xir_integer_type_of((const xir_object *)of);
    if (real && real->format == XIR_FLOAT_FP32) {
        *(float *)out = strtof(text, end);
    } else if (real && real->format == XIR_FLOAT_FP64) {
        *(double *)out = strtod(text, end);
    } else if (integer && integer->sign) {
        int64_t v = strtoll(text, end, 10);
        if (integer->ibits < 64 &&
            (v >= INT64_C(1) << (integer->ibits - 1) || v < -(INT64_C(1) << (integer->ibits - 1)))) {
            return op_text_fail(t, "%" PRId64 " has no room in %" PRId64 " bits", v, integer->ibits);
        }
        memcpy(out, &v, (size_t)integer->ibits / 8);   /* little-endian, as in files */
    } else if (integer) {
        uint64_t v = *text == '-' ? UINT64_MAX : strtoull(text, end, 10);
        if (integer->ibits < 64 && v >> integer->ibits) {
            return op_text_fail(t, "a number has no room in %" PRId64 " bits", integer->ibits);
        }
        memcpy(out, &v, (size_t)integer->ibits / 8);
    } else {
        long v = strtol(text, end, 10);
        if (v < 0 || v > 1) return op_text_fail(t, "0 or 1 was expected");
        *(uint8_t *)out = (uint8_t)v;
    }
    return true;
}

/* An element of a type that C does not have: converted by elements.h, which tests/core/type/elements.c tests. */
static void put_coded(const tensor_elements *e, const char *text, char **end, uint8_t *bytes, size_t i) {
    if (e->format.kind == ELEMENT_FLOAT) elements_write_reals(e, bytes, i, 1, &(double){ strtod(text, end) });
    else elements_write_i64s(e, bytes, i, 1, &(int64_t){ strtoll(text, end, 10) });
}

/* For quantised types the text gives the stored numbers. */
static xir_value *with_bytes(op_text *t, const xir_type *type) {
    const xir_type *of = xir_type_storage(type), *stored = xir_type_with_element(ctx, type, of, NULL);
    const xir_float_type *real = xir_float_type_of((const xir_object *)of);
    uint64_t bits = xir_type_storage_bits(type), size = 0;
    int64_t n = 0;
    tensor_elements e;
    if (!stored || xir_type_elements(type, &n) || n > 1 << 16 || xir_type_bytes(type, &size) ||
        elements_open(&e, &memory_default, stored, NULL)) {
        op_text_fail(t, "elements of %s can't be written here", op_type_words(type));
        return NULL;
    }
    bool coded = bits % 8 || (real && real->format != XIR_FLOAT_FP32 && real->format != XIR_FLOAT_FP64);
    uint8_t *bytes = op_text_keep(t, (size_t)size + 1);
    for (int64_t i = 0; i < n; i++) {
        op_text_next(t);
        char *end = (char *)(uintptr_t)t->at;
        uint64_t room = 0;
        if (coded) put_coded(&e, t->at, &end, bytes, (size_t)i);
        else if (!put_number(t, of, t->at, &end, &room)) return NULL;
        if (end == t->at) {
            op_text_fail(t, "%" PRId64 " elements were expected, %" PRId64 " found", n, i);
            return NULL;
        }
        if (!coded) memcpy(bytes + (uint64_t)i * bits / 8, &room, bits / 8);
        t->at = end;
    }
    return xir_params_copy(t->net, XIR_STR(""), type, bytes, (size_t)size);
}

bool op_text_elements(op_text *t, const xir_type *type, xir_value **out) {
    *out = NULL;
    return !op_text_skip(t, '=') || (*out = with_bytes(t, type));
}

xir_value *op_text_params(op_text *t) {
    const xir_type *type = op_text_type(t);
    xir_value *params;
    if (!type || !op_text_elements(t, type, &params)) return NULL;
    return params ? params : xir_params_new(t->net, XIR_STR(""), type);
}

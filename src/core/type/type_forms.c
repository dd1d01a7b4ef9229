/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The spellings of scalar types: @bool, @sint(8), @uint(12), @fp(16), @fp(32), @fp(64), @bf(16), @tf(32),
 * @fpe7m8, @fpe6m9. */
#include "forms.h"
#include "types.h"

static const xir_object *type_made(const xir_type *type, form_error *e) {
    return type ? (const xir_object *)type : form_fail(e, XIR_E_MEMORY, 0, "out of memory");
}

static bool begins(xir_str text, const char *start) {
    size_t n = strlen(start);
    return text.size >= n && memcmp(text.data, start, n) == 0;
}

/* ---- integers ---------------------------------------------------------------------------------------------- */

static void print_integer(const xir_object *object, buffer *out) {
    const xir_integer_type *type = (const xir_integer_type *)object;
    buffer_str(out, type->sign ? "@sint(" : "@uint(");
    form_put_i64(out, type->ibits);
    buffer_char(out, ')');
}

static const xir_object *parse_integer(object_pool *pool, const xir_class *cls, xir_str text, form_error *e) {
    form_text t;
    int64_t bits;
    bool sign = !begins(text, "@u");
    (void)cls;
    if (!form_open(&t, text, sign ? "sint" : "uint", e)) return NULL;
    size_t at = t.at;
    if (!form_i64(&t, "a width in bits", &bits)) return NULL;
    if (bits < 1 || bits > TYPE_BITS_MOST) {
        return form_fail(e, XIR_E_BOUNDS, at, "expected a width from 1 to %d bits, found %lld",
                         TYPE_BITS_MOST, (long long)bits);
    }
    return form_close(&t) ? type_made(type_integer(pool, sign, bits), e) : NULL;
}

/* ---- floats ------------------------------------------------------------------------------------------------ */

/* ORDER FLOAT. A name that takes no argument has no bits here. */
static const struct { const char *name; int bits; } floats[] = {
    [XIR_FLOAT_FP16]   = { "fp",     16 },
    [XIR_FLOAT_FP32]   = { "fp",     32 },
    [XIR_FLOAT_FP64]   = { "fp",     64 },
    [XIR_FLOAT_BF16]   = { "bf",     16 },
    [XIR_FLOAT_TF32]   = { "tf",     32 },
    [XIR_FLOAT_FPE7M8] = { "fpe7m8", 0  },
    [XIR_FLOAT_FPE6M9] = { "fpe6m9", 0  },
};
enum { FLOATS = sizeof floats / sizeof floats[0] };

static void print_float(const xir_object *object, buffer *out) {
    unsigned format = ((const xir_float_type *)object)->format;
    if (format >= FLOATS) format = XIR_FLOAT_FP32;   /* no reader and no checked body gives another value */
    buffer_char(out, '@');
    buffer_str(out, floats[format].name);
    if (!floats[format].bits) return;
    buffer_char(out, '(');
    form_put_i64(out, floats[format].bits);
    buffer_char(out, ')');
}

/* "@fpe7m8": nothing may follow. */
static const xir_object *parse_word(object_pool *pool, xir_str text, int format, form_error *e) {
    form_text t;
    form_begin(&t, text, e);
    if (!form_literal(&t, "@") || !form_literal(&t, floats[format].name)) return NULL;
    if (t.at < t.size) return form_expected(&t, XIR_E_SYNTAX, t.at, "the end"), NULL;
    return type_made(type_float(pool, (xir_float_format)format), e);
}

static const xir_object *parse_float(object_pool *pool, const xir_class *cls, xir_str text, form_error *e) {
    (void)cls;
    if (begins(text, "@fpe7")) return parse_word(pool, text, XIR_FLOAT_FPE7M8, e);
    if (begins(text, "@fpe")) return parse_word(pool, text, XIR_FLOAT_FPE6M9, e);
    const char *name = begins(text, "@b") ? "bf" : begins(text, "@t") ? "tf" : "fp";
    form_text t;
    int64_t bits;
    if (!form_open(&t, text, name, e)) return NULL;
    size_t at = t.at;
    if (!form_i64(&t, "a width in bits", &bits)) return NULL;
    for (int format = 0; format < FLOATS; format++) {
        if (floats[format].bits != bits || strcmp(floats[format].name, name) != 0) continue;
        return form_close(&t) ? type_made(type_float(pool, (xir_float_format)format), e) : NULL;
    }
    const char *widths = *name == 'b' ? "16" : *name == 't' ? "32" : "16, 32 or 64";
    return form_fail(e, XIR_E_BOUNDS, at, "expected %s bits, found %lld", widths, (long long)bits);
}

const xir_form xir_bool_type_form    = { "bool",                  form_word_print, form_word_parse };
const xir_form xir_integer_type_form = { "sint|uint",             print_integer,   parse_integer   };
const xir_form xir_float_type_form   = { "fp|bf|tf|fpe7m8|fpe6m9", print_float,    parse_float     };

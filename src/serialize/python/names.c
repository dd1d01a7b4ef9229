/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Names and values of a network as Python's tokens. An identifier begins with a prefix, so none is a keyword, a name of
 * Python or PyTorch, or a member of nn.Module. A literal is ASCII, so it can't end early, hide characters or change the
 * direction of a line. */
#include <math.h>
#include <stdio.h>
#include "python/python.h"
#include "number.h"
#include "utf8.h"

/* ---- identifiers ------------------------------------------------------------------------------------------------- */

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

static bool is_inside(char c) { return ((unsigned char)c & 0xC0) == 0x80; }   /* a character of UTF-8 */

xir_str python_identifier(python_writer *w, char prefix, xir_str name) {
    const xir_str none = { NULL, 0 };
    char *text = arena_take(&w->scratch, name.size + 3 + NUMBER_ROOM);
    size_t size = 2;
    if (!text) return none;
    text[0] = prefix;
    text[1] = '_';
    for (size_t i = 0; i < name.size; i++)
        if (!is_inside(name.data[i])) text[size++] = is_plain(name.data[i]) ? name.data[i] : '_';
    xir_str made = { text, size };
    if (!name.size || text_table_find(&w->taken, made)) {
        if (name.size) text[size++] = '_';
        made = text_table_unused(&w->taken, text, size, &w->next);
    }
    return text_table_add(&w->taken, made, 0) ? made : none;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* The character at p, which has `n` bytes. */
static unsigned long code_of(const char *p, size_t n) {
    unsigned long code = (unsigned char)*p & (n == 2 ? 0x1Fu : n == 3 ? 0x0Fu : 0x07u);
    for (size_t i = 1; i < n; i++) code = code << 6 | ((unsigned char)p[i] & 0x3Fu);
    return code;
}

static void put_char(buffer *out, char c) {
    char escaped[8];
    const unsigned char byte = (unsigned char)c;
    if (c == '\'' || c == '\\') buffer_char(out, '\\');
    if (byte >= 0x20 && byte < 0x7F) {
        buffer_char(out, c);
        return;
    }
    snprintf(escaped, sizeof escaped, "\\x%02x", byte);
    buffer_str(out, escaped);
}

bool python_put_text(buffer *out, xir_str text) {
    char escaped[16];
    const char *p = text.data, *end = text.size ? p + text.size : p;
    if (!utf8_is_text(text.data, text.size)) return false;
    buffer_char(out, '\'');
    while (p < end) {
        const size_t n = (unsigned char)*p < 0x80 ? 1 : utf8_length(p, end);
        if (n == 1) put_char(out, *p);
        else snprintf(escaped, sizeof escaped, n < 4 ? "\\u%04lx" : "\\U%08lx", code_of(p, n));
        if (n > 1) buffer_str(out, escaped);
        p += n;
    }
    buffer_char(out, '\'');
    return true;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* Words of PyTorch. */
static const char *const words[] = {
    "torch.float",     "torch.float32",  "torch.double",  "torch.float64", "torch.half",       "torch.float16",
    "torch.bfloat16",  "torch.int",      "torch.int32",   "torch.long",    "torch.int64",      "torch.short",
    "torch.int16",     "torch.int8",     "torch.uint8",   "torch.bool",    "torch.complex32",  "torch.complex64",
    "torch.complex128", "torch.cfloat",  "torch.cdouble",
    "torch.contiguous_format", "torch.preserve_format", "torch.channels_last", "torch.channels_last_3d",
};

static bool put_word(buffer *out, xir_str text) {
    static const struct { const char *text, *name; } reals[] = {
        { "inf", "inf" }, { "-inf", "-inf" }, { "nan", "nan" }, { "nan.0", "nan" }, { "-nan.0", "nan" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!xir_str_equal(text, xir_str_of(words[i]))) continue;
        buffer_put(out, text.data, text.size);
        return true;
    }
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        if (!xir_str_equal(text, xir_str_of(reals[i].text))) continue;
        buffer_str(out, "float('");
        buffer_str(out, reals[i].name);
        buffer_str(out, "')");
        return true;
    }
    return false;
}

static void put_real(buffer *out, double v) {
    char digits[PNNX_FLOAT_ROOM];
    if (isfinite(v) && !number_beyond_f32(v)) buffer_put(out, digits, pnnx_put_float(digits, (float)number_to_f32(v)));
    else if (isfinite(v)) buffer_put(out, digits, number_put_real(digits, v));
    else buffer_str(out, isnan(v) ? "float('nan')" : v > 0 ? "float('inf')" : "float('-inf')");
}

/* Parameters that are texts. */
static bool takes_text(xir_str key) {
    static const char *const keys[] = { "approximate", "indexing", "mode", "nonlinearity", "norm", "p", "pad_mode",
                                        "padding", "padding_mode", "reduce" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (xir_str_equal(key, xir_str_of(keys[i]))) return true;
    return false;
}

static bool put_list(python_op *c, buffer *out, xir_str key, const xir_list *list) {
    buffer_char(out, '(');
    for (size_t i = 0; i < list->size; i++) {
        if (list->items[i].kind == XIR_ANY_LIST)
            return python_refuse(c, XIR_E_UNSUPPORTED, "the parameter '%.*s' is a list of lists", CLIP(key));
        if (i) buffer_str(out, ", ");
        if (!python_put_any(c, out, key, &list->items[i])) return false;
    }
    buffer_str(out, list->size == 1 ? ",)" : ")");
    return true;
}

bool python_put_any(python_op *c, buffer *out, xir_str key, const xir_any *v) {
    char digits[NUMBER_ROOM];
    switch (v->kind) {
    case XIR_ANY_NULL: buffer_str(out, "None"); return true;
    case XIR_ANY_BOOL: buffer_str(out, v->as.boolean ? "True" : "False"); return true;
    case XIR_ANY_INT:  buffer_put(out, digits, number_put_i64(digits, v->as.integer)); return true;
    case XIR_ANY_REAL: put_real(out, v->as.real); return true;
    case XIR_ANY_LIST: return put_list(c, out, key, &v->as.list);
    case XIR_ANY_TEXT:
        if (put_word(out, v->as.text)) return true;
        if (!takes_text(key))
            return python_refuse(c, XIR_E_UNSUPPORTED, "the parameter '%.*s' is a text, '%.*s'", CLIP(key),
                                 CLIP(v->as.text));
        return python_put_text(out, v->as.text) ||
               python_refuse(c, XIR_E_INVALID, "the parameter '%.*s' is not UTF-8", CLIP(key));
    default:
        return python_refuse(c, XIR_E_UNSUPPORTED, "the parameter '%.*s' is neither a number, a text nor a list of them",
                             CLIP(key));
    }
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* "torch.float32" for "f32"; NULL for null. */
static const char *element_of(xir_str name) {
    static const struct { const char *name, *element; } elements[] = {
        { "f32", "torch.float32" }, { "f64", "torch.float64" },     { "f16", "torch.float16" },
        { "i64", "torch.int64" },   { "i32", "torch.int32" },       { "i16", "torch.int16" },
        { "i8",  "torch.int8" },    { "u8",  "torch.uint8" },       { "bool", "torch.bool" },
        { "bf16", "torch.bfloat16" }, { "c64", "torch.complex64" }, { "c128", "torch.complex128" },
        { "c32", "torch.complex32" },
    };
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (xir_str_equal(name, xir_str_of(elements[i].name))) return elements[i].element;
    return NULL;
}

/* "(1, None)" for "1,?". */
static void put_dims(buffer *out, xir_str list) {
    char digits[NUMBER_ROOM];
    pnnx_items dims = pnnx_items_of(list);
    xir_str dim;
    size_t n = 0;
    buffer_char(out, '(');
    for (; list.size && pnnx_next_item(&dims, &dim); n++) {
        int32_t v;
        if (n) buffer_str(out, ", ");
        if (xir_str_equal(dim, XIR_STR("?"))) buffer_str(out, "None");
        else buffer_put(out, digits, number_put_i64(digits, pnnx_take_int(dim, &v) ? v : 0));
    }
    buffer_str(out, n == 1 ? ",)" : ")");
}

/* From "(1,?)f32", as PNNX has it; for a scalar it is ")f32". */
bool python_put_type(python_writer *w, buffer *out, const xir_value *v) {
    pnnx_printer *p = &w->types;
    p->out.size = 0;
    p->status = XIR_OK;
    const bool typed = v->type || pnnx_has_shape(v);
    if (!typed || !pnnx_print_type(p, v)) return false;
    if (p->out.failed) return python_no_memory(w);
    const char *text = p->out.data, *end = text + p->out.size, *close = memrchr(text, ')', p->out.size);
    const char *element = close ? element_of((xir_str){ close + 1, (size_t)(end - close) - 1 }) : NULL;
    if (!element) return false;
    put_dims(out, close == text ? (xir_str){ NULL, 0 } : (xir_str){ text + 1, (size_t)(close - text) - 1 });
    buffer_str(out, ", ");
    buffer_str(out, element);
    return true;
}

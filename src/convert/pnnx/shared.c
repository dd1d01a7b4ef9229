/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Helpers shared by the hooks of PNNX's rows. */
#include <stdio.h>
#include "pnnx/pnnx.h"

const xir_type *pnnx_element(xir_context *ctx, xir_str word) {
    static const struct { const char *word; int bits; } integers[] = {
        { "torch.int", 32 }, { "torch.int32", 32 }, { "torch.long", 64 }, { "torch.int64", 64 }, { "torch.short", 16 },
        { "torch.int16", 16 }, { "torch.int8", 8 },
    };
    static const struct { const char *word; xir_float_format format; } floats[] = {
        { "torch.float", XIR_FLOAT_FP32 }, { "torch.float32", XIR_FLOAT_FP32 }, { "torch.double", XIR_FLOAT_FP64 },
        { "torch.float64", XIR_FLOAT_FP64 }, { "torch.half", XIR_FLOAT_FP16 }, { "torch.float16", XIR_FLOAT_FP16 },
        { "torch.bfloat16", XIR_FLOAT_BF16 },
    };
    for (size_t i = 0; i < COUNT(integers); i++)
        if (xir_str_equal(word, xir_str_of(integers[i].word))) return xir_type_sint(ctx, integers[i].bits);
    for (size_t i = 0; i < COUNT(floats); i++)
        if (xir_str_equal(word, xir_str_of(floats[i].word))) return xir_type_float(ctx, floats[i].format);
    if (xir_str_equal(word, XIR_STR("torch.bool"))) return xir_type_bool(ctx);
    return xir_str_equal(word, XIR_STR("torch.uint8")) ? xir_type_uint(ctx, 8) : NULL;
}

const char *pnnx_element_word(xir_node *at, const xir_type *element) {
    static const char *const words[] = { "torch.float", "torch.long", "torch.int", "torch.bool", "torch.half",
                                         "torch.double",
                                         "torch.bfloat16", "torch.uint8", "torch.int8", "torch.short" };
    for (size_t i = 0; i < COUNT(words); i++) {
        const xir_type *type = pnnx_element(xir_node_context(at), xir_str_of(words[i]));
        if (!type) return node_no_memory(at), NULL;
        if (xir_type_equal(type, element)) return words[i];
    }
    return NULL;
}

/* ---- parameters ------------------------------------------------------------------------------------------------- */

bool pnnx_is_none(const xir_node *at, const char *name) {
    const xir_any *a = xir_node_attr(at, name);
    return !a || a->kind == XIR_ANY_NULL;
}

bool pnnx_list(xir_node *at, const char *name, size_t n, xir_ints *out) {
    const xir_any *a = xir_node_attr(at, name);
    char where[48];
    *out = (xir_ints){ NULL, 0 };
    if (xir_node_failed(at) || pnnx_is_none(at, name)) return false;
    if (n && a->kind == XIR_ANY_LIST && !a->as.list.size) return false;   /* PyTorch's default */
    if (a->kind == XIR_ANY_TEXT) {
        return xir_node_unsupported(at, "%s is %.*s", name, CLIP_TO(a->as.text, 60));
    }
    if (a->kind == XIR_ANY_LIST) (void)xir_node_items(at, name, out);
    else *out = xir_node_make_ints(at, 1, xir_node_int(at, name, 0));
    if (xir_node_failed(at)) return false;
    if (n && out->n == 1 && n > 1) *out = xir_node_make_ints(at, n, out->v[0]);
    snprintf(where, sizeof where, "attribute/%s", name);
    if (n && out->n != n)
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s: expected %zu items, found %zu", name, n, out->n);
    return !xir_node_failed(at);
}

bool pnnx_next_word(xir_str *list, xir_str *word) {
    static const char open[] = "([", close[] = ")]";
    size_t depth = 0, n = 0;
    if (list->size < 2 || memchr(close, list->data[0], 2) || memchr(close, list->data[1], 2)) return false;
    const char *text = list->data + 1;   /* after a bracket or a comma */
    for (; n + 1 < list->size && (depth || !memchr(",)]", text[n], 3)); n++) {
        depth += memchr(open, text[n], 2) != NULL;
        depth -= memchr(close, text[n], 2) != NULL;
    }
    *word = (xir_str){ text, n };
    *list = (xir_str){ text + n, list->size - 1 - n };
    return true;
}

bool pnnx_word_integer(xir_str word, int64_t *out) {
    const bool negative = word.size && word.data[0] == '-';
    int64_t v = 0;
    for (size_t k = negative; k < word.size; k++) {
        if (word.data[k] < '0' || word.data[k] > '9' || v > PNNX_END) return false;
        v = 10 * v + (word.data[k] - '0');
    }
    *out = negative ? -v : v;
    return word.size > negative;
}

bool pnnx_is_index(xir_node *at, size_t i, const xir_value *v) {
    char where[32], words[80], found[40];
    if (xir_node_failed(at) || !v) return false;
    if (xir_type_kind_of(v_element(v)) == XIR_TYPE_INTEGER) return true;
    snprintf(where, sizeof where, "input/%zu", i);
    return xir_node_invalid(at, XIR_E_TYPE, where, "%s: expected integers, found %s", node_input_words(at, i, words),
                            element_words(v, found));
}

/* ---- operations ------------------------------------------------------------------------------------------------- */

xir_value *pnnx_times(xir_node *at, xir_value *x, xir_value *weight, xir_value *bias) {
    if (xir_node_failed(at) || !x || !weight) return NULL;
    if (v_rank(weight) != 2) return xir_node_unsupported(at, "weights of %zu dims", v_rank(weight)), NULL;
    if (!xir_type_equal(v_element(x), v_element(weight))) return xir_node_unsupported(at, "mixed elements"), NULL;
    return xir_node_make(at, "Matmul", INS(x, make_swapped(at, weight), bias), NO_SETS);
}

xir_value *pnnx_with_batch(xir_node *at, xir_value *x, size_t rank, int64_t axis, bool *added) {
    const xir_ints axes = { &axis, 1 };
    *added = x && v_rank(x) + 1 == rank;
    return *added ? xir_node_unsqueezed(at, x, &axes, NULL) : x;
}

xir_value *pnnx_without_batch(xir_node *at, xir_value *y, int64_t axis, bool added) {
    const xir_ints axes = { &axis, 1 };
    return added && y ? xir_node_make(at, "Squeeze", INS(y), SETS(LIST("axis", &axes))) : y;
}

xir_value *pnnx_softmax(xir_node *at, const char *cls, xir_value *x, int64_t axis) {
    return x ? xir_node_make(at, cls, INS(x), SETS(INT("axis", axis))) : NULL;
}

/* ---- element types ---------------------------------------------------------------------------------------------- */

xir_value *pnnx_cast_first(xir_node *at, xir_value *x) {
    if (xir_node_failed(at) || !x || pnnx_is_none(at, "dtype")) return x;
    const xir_type *to = pnnx_element(xir_node_context(at), xir_node_text(at, "dtype", ""));
    return to ? xir_node_cast(at, x, to) : (xir_node_unsupported(at, "elements that XIR does not have"), NULL);
}

/* 0 bool, 1 integer, 2 real: PyTorch's categories. */
static int category(const xir_type *t) {
    const int kind = (int)xir_type_kind_of(t);
    return kind == XIR_TYPE_BOOL ? 0 : kind == XIR_TYPE_INTEGER ? 1 : 2;
}

/* A tensor of rank 0 takes part only if its category is higher. */
static const xir_type *promoted(xir_context *ctx, const xir_value *a, const xir_value *b) {
    const xir_type *s = v_element(a), *t = v_element(b);
    const int cs = category(s), ct = category(t);
    if (xir_type_equal(s, t)) return s;
    if (cs != ct && (v_rank(a) == 0) == (v_rank(b) == 0)) return cs > ct ? s : t;
    if (cs == ct && (v_rank(a) == 0) != (v_rank(b) == 0)) return v_rank(a) ? s : t;
    if (cs != ct) {
        const bool wide_wins = cs > ct ? v_rank(a) != 0 : v_rank(b) != 0;
        const xir_type *higher = cs > ct ? s : t;
        if (wide_wins || category(higher) < 2) return higher;
        return xir_type_float(ctx, XIR_FLOAT_FP32);   /* a number and a tensor of integers */
    }
    const uint64_t bits_s = xir_type_storage_bits(s), bits_t = xir_type_storage_bits(t);
    if (bits_s != bits_t) return bits_s > bits_t ? s : t;
    return cs == 2 ? xir_type_float(ctx, XIR_FLOAT_FP32) : xir_type_sint(ctx, bits_s < 64 ? (int)bits_s * 2 : 64);
}

bool pnnx_promote(xir_node *at, xir_value **a, xir_value **b) {
    if (xir_node_failed(at) || !*a || !*b) return false;
    const xir_type *to = promoted(xir_node_context(at), *a, *b);
    *a = xir_node_cast(at, *a, to);
    *b = xir_node_cast(at, *b, to);
    return *a && *b;
}

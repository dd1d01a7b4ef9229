/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads a SHARES row: "OVER, lhs, rhs". A kind, then the names of inputs, then those of the attributes that the kind
 * needs. */
#include "class_shares.h"
#include "context.h"
#include "row_words.h"

#define REFUSE(...) row_refuse(cls, "SHARES", why, __VA_ARGS__)

/* ORDER SHARES: whether a kind takes one input only, and the attributes that it takes. */
static const struct { const char *name; bool one; unsigned attrs; xir_kind kind; } rules[SHARES_KINDS] = {
    [SHARES_NOTHING] = { "",        false, 0, 0             },
    [SHARES_VIEW]    = { "VIEW",    true,  0, 0             },
    [SHARES_OVER]    = { "OVER",    false, 0, 0             },
    [SHARES_DIVIDES] = { "DIVIDES", true,  1, XIR_KIND_I64  },
    [SHARES_PICKS]   = { "PICKS",   true,  2, XIR_KIND_I64S },
    [SHARES_JOINS]   = { "JOINS",   true,  1, XIR_KIND_I64  },
};

static xir_status read_inputs(xir_class *cls, xir_str *text, class_shares *read, xir_diags *why) {
    uint32_t n = 0;
    const xir_str all = *text;
    for (xir_str word; (word = row_word(text)).size; n++) {
        if (n && rules[read->kind].attrs) {   /* attributes follow */
            text->data = word.data;
            text->size = (size_t)(all.data + all.size - word.data);
            break;
        }
        const uint32_t i = row_input(cls, word);
        if (i == cls->more->n_inputs) return REFUSE("the class has no input '%.*s'", SHOWN(word));
        if (i >= 64) return REFUSE("'%.*s' is not among the first 64 inputs", SHOWN(word));
        read->inputs |= UINT64_C(1) << i;
    }
    if (n && (n == 1 || !rules[read->kind].one)) return XIR_OK;
    return REFUSE("%s needs %s, found %u", rules[read->kind].name,
                  rules[read->kind].one ? "the name of one input" : "names of inputs", n);
}

static xir_status read_attrs(xir_class *cls, xir_str *text, class_shares *read, xir_diags *why) {
    const unsigned most = rules[read->kind].attrs;
    unsigned n = 0;
    for (xir_str word; (word = row_word(text)).size; n++) {
        const xir_field *f = xir_class_field(cls, word);
        if (!f) return REFUSE("the class has no attribute '%.*s'", SHOWN(word));
        if (f->kind != rules[read->kind].kind) {
            return REFUSE("attribute '%.*s' is of kind %s, expected %s", SHOWN(word), xir_kind_name(f->kind),
                          xir_kind_name(rules[read->kind].kind));
        }
        if (n == 0) read->along = f;
        if (n == 1) read->by = f;
    }
    if (n == most) return XIR_OK;
    return REFUSE("%s needs %u attribute%s, found %u", rules[read->kind].name, most, most == 1 ? "" : "s", n);
}

xir_status class_read_shares(xir_class *cls, const xir_row *row, xir_diags *why) {
    xir_str text = xir_str_of(row->doc), word = row_word(&text);
    class_shares read = { .kind = SHARES_VIEW };
    while (read.kind < SHARES_KINDS && !xir_str_equal(word, xir_str_of(rules[read.kind].name))) read.kind++;
    if (read.kind == SHARES_KINDS) return REFUSE("expected a kind such as VIEW, found '%.*s'", SHOWN(word));
    if (!cls->is_op) return REFUSE("the class is not an operation");
    if (cls->more->shares.kind) return REFUSE("the class has two of these rows");
    if (!cls->more->n_outputs) return REFUSE("the class has no output");
    xir_status status = read_inputs(cls, &text, &read, why);
    if (!status && rules[read.kind].attrs) status = read_attrs(cls, &text, &read, why);
    if (!status) cls->more->shares = read;
    return status;
}

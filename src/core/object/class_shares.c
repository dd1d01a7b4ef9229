/* Reads a SHARES row: "OVER, lhs, rhs". A kind, then the names of inputs. */
#include "class_shares.h"
#include "context.h"
#include "row_words.h"

#define REFUSE(...) row_refuse(cls, "SHARES", why, __VA_ARGS__)

static const char *const kind_names[SHARES_KINDS] = { "", "VIEW", "OVER" };   /* ORDER SHARES */

xir_status class_read_shares(xir_class *cls, const xir_row *row, xir_diags *why) {
    xir_str text = xir_str_of(row->doc), word = row_word(&text);
    class_shares read = { .kind = SHARES_VIEW };
    uint32_t n = 0;
    while (read.kind < SHARES_KINDS && !xir_str_equal(word, xir_str_of(kind_names[read.kind]))) read.kind++;
    if (read.kind == SHARES_KINDS) return REFUSE("expected a kind such as VIEW, found '%.*s'", SHOWN(word));
    if (!cls->is_op) return REFUSE("the class is not an operation");
    if (cls->more->shares.kind) return REFUSE("the class has two of these rows");
    if (!cls->more->n_outputs) return REFUSE("the class has no output");
    for (; (word = row_word(&text)).size; n++) {
        uint32_t i = row_input(cls, word);
        if (i == cls->more->n_inputs) return REFUSE("the class has no input '%.*s'", SHOWN(word));
        if (i >= 64) return REFUSE("'%.*s' is not among the first 64 inputs", SHOWN(word));
        read.inputs |= UINT64_C(1) << i;
    }
    if (!n || (read.kind == SHARES_VIEW && n != 1)) {
        return REFUSE("%s needs %s, found %u", kind_names[read.kind],
                      read.kind == SHARES_VIEW ? "the name of one input" : "names of inputs", n);
    }
    cls->more->shares = read;
    return XIR_OK;
}

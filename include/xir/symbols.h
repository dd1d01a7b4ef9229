/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Symbols: dims that are not numbers yet but have names, and expressions over them. A symbol belongs to a network and
 * has an interval. Expressions are sums and products of symbols and integers with floor(p/c), ceil(p/c), p//c, max(p,
 * q) and min(p, q): "batch", "2*length + 1", "floor((length + 1)/2)". They are kept in a canonical form, so that equal
 * ones compare equal. A form that would be too large is unknown. Two symbols are never assumed to be equal.
 *
 * Files have -1 in `shape`, the texts in the undeclared key `xir.dims` of a value and the symbols with their
 * intervals in `xir.symbols` of the network. */
#ifndef XIR_SYMBOLS_H
#define XIR_SYMBOLS_H

#include <xir/network.h>

XIR_BEGIN

/* The greatest value of a symbol whose interval was not given; the least is 0. */
#define XIR_SYMBOL_MOST INT64_C(2147483647)

/* A symbol and its values: `least` to `most`. */
typedef struct xir_symbol {
    xir_str name;
    int64_t least, most;
} xir_symbol;

/* Declares a symbol, or narrows the interval of the one that has the name. The name is UTF-8 of 1 to 255 bytes without
 * control characters. XIR_E_SYNTAX for another name, XIR_E_BOUNDS for an interval that is empty or not within
 * [0, 2^62), XIR_E_EXISTS if no value is left, XIR_E_MEMORY. */
XIR_API xir_status xir_network_declare_symbol(xir_network *net, xir_str name, int64_t least, int64_t most,
                                              xir_diags *why);
/* The symbols that occur in the types of the network's values, in the order of their declaration. Puts the first `room`
 * into `out` and returns how many there are; SIZE_MAX if memory runs out. The names live as long as the network. */
XIR_API size_t xir_network_symbols(const xir_network *net, xir_symbol *out, size_t room);
/* The names that the pass `bind` accepts, each once: all declared symbols, then names that a file gives to open dims of
 * the outputs of ops (the tag source.dims). Puts the first `room` into `out` and returns how many there are; SIZE_MAX
 * if memory runs out. The names live as long as the network and its tags. */
XIR_API size_t xir_network_dim_names(const xir_network *net, xir_str *out, size_t room);

/* Returns the tensor type with these dims: each text is a number, an expression or "?" (unknown). Symbols that the
 * network does not have are declared. The type lives in the network. NULL with a finding if `type` is not a tensor, a
 * text is not an expression (XIR_E_SYNTAX, XIR_E_LIMIT, XIR_E_BOUNDS), or the layout does not fit. */
XIR_API const xir_type *xir_network_type_with_dims(xir_network *net, const xir_type *type, const xir_str *dims,
                                                   size_t rank, xir_diags *why);

/* Gives symbols fewer values: one, or an interval. All types of the network follow; an expression whose symbols all
 * have one value becomes a number. XIR_E_UNKNOWN for a name that the network does not have, XIR_E_BOUNDS for
 * values outside the symbol's interval or with which a dim would be negative, XIR_E_EXISTS for a name that appears
 * twice. On failure the network is unchanged, except on XIR_E_MEMORY. */
XIR_API xir_status xir_network_bind(xir_network *net, const xir_symbol *bindings, size_t n, xir_diags *why);

/* Returns the type with a number for every dim, for a call that needs one, such as a random array: a symbol is `each`,
 * or the value of its interval that is nearest to it, expressions follow, and a dim about which nothing is known is
 * `each`. The result belongs to the context. NULL with a finding if a dim would be negative (XIR_E_BOUNDS) or `type` is
 * not a tensor. */
XIR_API const xir_type *xir_type_with_known_dims(xir_context *ctx, const xir_type *type, int64_t each, xir_diags *why);

XIR_END

#endif

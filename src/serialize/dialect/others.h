/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops that a foreign format does not have. */
#ifndef SERIALIZE_DIALECT_OTHERS_H
#define SERIALIZE_DIALECT_OTHERS_H

#include "graph.h"

/* Returns true if an op is of the dialect with this prefix, or Input or Output, which are in every network. */
bool dialect_is_known(const xir_op *op, xir_str prefix);

/* Returns true if all ops between Input and Output are opaque, with keys that have a prefix, "pnnx::". Otherwise `out`
 * is a sentence that names the classes of the others: "FORMAT has no NOUN for 2 ops: icraft::xir::Tanh; ADVICE". These
 * are short texts. */
enum { DIALECT_OTHERS = 512 };
bool dialect_has_all(const xir_network *net, xir_str prefix, const char *format, const char *noun, const char *advice,
                     char out[DIALECT_OTHERS]);

#endif

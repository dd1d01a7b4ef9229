/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir ops: what the classes of this build say of themselves, for people (ops.c), as JSON (ops_json.c), as the
 * reference of operations (ops_markdown.c). All of it comes from the library at run time: a new class or
 * attribute is shown without a change here. */
#ifndef OPS_H
#define OPS_H

#include "cli.h"

/* "Conv2d" of "icraft::xir::Conv2d". */
xir_str short_key(const xir_class *cls);

/* All operations by their short keys, in any case of letters; the caller's to free. */
const xir_class **sorted_ops(size_t *n);

/* The words for an attribute's type, its default and a bound as JSON; null: it has none. */
void put_type(text *t, const xir_field *f);
void put_default(text *t, const xir_field *f);
void put_bound(text *t, const xir_field *f, bool has, xir_number v);

/* The row of a class that is a target, NULL of others. */
const xir_target_row *target_of(const xir_class *cls);

/* The C names that a class's declaration has; empty if it does not have an id. */
typedef struct c_names {
    text constructor, attributes, declaration;   /* XIR_OP(at, conv2d, …), xir_conv2d_attrs, xir_conv2d_class */
} c_names;
c_names c_names_of(const xir_class *cls);
void    c_names_free(c_names *names);

/* Returns true if a class infers on any target; "host, buyi" of those that it has functions of its own for. */
bool put_targets(text *t, const xir_class *cls);

/* Returns the word for the parts of inputs that a part of an output needs: "exact parts", "parts" (at least what is
 * needed) or "all". */
const char *needs_word(const xir_class *cls);

/* Both print one class, or with NULL all operations. */
void print_ops_json(const xir_class *one);
void print_ops_markdown(const xir_class *one);

/* Prints what the rules of targets say of a class; and all rules as Markdown. */
void print_rules_of(const xir_class *cls);
void print_rules_markdown(void);

#endif

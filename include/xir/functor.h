/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A functor chooses a function by the class of an op: what to emit, what to count, how to lower. It is a table by
 * class, with a fallback by base class, by trait, and one for the rest. Classes of plug-ins take part like any other.
 *
 *     typedef void emit_fn(writer *out, const xir_op *op);
 *     XIR_FUNCTOR(emit, emit_fn)
 *
 *     xir_functor *f = xir_functor_new(ctx);
 *     emit_set(f, xir_conv2d_class(), emit_conv2d);
 *     emit_set_trait(f, XIR_TRAIT_ACTIVATION, emit_activation);
 *     emit_set_rest(f, emit_call);
 *     for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) emit_of(f, op)(out, op);
 */
#ifndef XIR_FUNCTOR_H
#define XIR_FUNCTOR_H

#include <xir/op.h>

XIR_BEGIN

typedef struct xir_functor xir_functor;

/* Any function. Cast it to its own type before it is called, as the functions of XIR_FUNCTOR do. */
typedef void xir_any_fn(void);

/* Returns a functor without functions, NULL if memory runs out. It must be freed before its context; xir_functor_free
 * accepts NULL. One thread at a time may set functions; while none does, any number may find them. */
XIR_API xir_functor *xir_functor_new(xir_context *ctx);
XIR_API void         xir_functor_free(xir_functor *f);

/* Sets the function of a class (and of classes derived from it that have none), of a trait (xir_class_has_trait; of
 * several bits, all are needed), or of the rest. It replaces an earlier one; NULL removes it. On failure nothing
 * changes: XIR_E_UNKNOWN if the class is not registered in the context, XIR_E_INVALID for no trait, XIR_E_MISSING for
 * no functor, XIR_E_MEMORY. */
XIR_API xir_status xir_functor_set(xir_functor *f, const xir_class_decl *decl, xir_any_fn *fn);
XIR_API xir_status xir_functor_set_class(xir_functor *f, const xir_class *cls, xir_any_fn *fn);
XIR_API xir_status xir_functor_set_trait(xir_functor *f, xir_trait trait, xir_any_fn *fn);
XIR_API xir_status xir_functor_set_rest(xir_functor *f, xir_any_fn *fn);

/* Returns the function of a class. A class without a function of its own has that of its nearest base with one. If no
 * base has one, its traits count, and the one whose function was set first wins. Otherwise the function of the rest is
 * returned, which is NULL if none was set. Returns NULL for a NULL class and for one of another context. Takes constant
 * time, except for classes that were registered, and after traits that were given, since a function was last set. */
XIR_API xir_any_fn *xir_functor_find(const xir_functor *f, const xir_class *cls);

/* Defines functions with the type of the caller's functions: name_set, name_set_trait and name_set_rest as above;
 * name_of, which finds the function of an op. */
#define XIR_FUNCTOR(name, type)                                                                          \
    XIR_MAYBE_UNUSED_ static inline xir_status name##_set(xir_functor *f, const xir_class_decl *decl, type *fn) { \
        return xir_functor_set(f, decl, (xir_any_fn *)fn);                                               \
    }                                                                                                    \
    XIR_MAYBE_UNUSED_ static inline xir_status name##_set_trait(xir_functor *f, xir_trait trait, type *fn) { \
        return xir_functor_set_trait(f, trait, (xir_any_fn *)fn);                                        \
    }                                                                                                    \
    XIR_MAYBE_UNUSED_ static inline xir_status name##_set_rest(xir_functor *f, type *fn) {               \
        return xir_functor_set_rest(f, (xir_any_fn *)fn);                                                \
    }                                                                                                    \
    XIR_MAYBE_UNUSED_ static inline type *name##_of(const xir_functor *f, const xir_op *op) {            \
        return (type *)xir_functor_find(f, xir_op_class(op));                                            \
    }

#if defined(__GNUC__)
#define XIR_MAYBE_UNUSED_ __attribute__((unused))
#else
#define XIR_MAYBE_UNUSED_
#endif

XIR_END

#endif

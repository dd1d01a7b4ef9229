/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the three files that make classes: class_find.c finds keys, class_seal.c turns a declaration into a class,
 * class.c registers classes. All calls except class_make_defaults require the context's lock. */
#ifndef CORE_CLASS_SEAL_H
#define CORE_CLASS_SEAL_H

#include "context.h"

/* Makes room for so many more keys; false without memory. After that, keys can be put. A real class keeps its key; an
 * opaque class gives it up. The last returns NULL if no class has the key. */
bool             class_reserve_keys(xir_context *ctx, size_t more);
void             class_put_key(xir_context *ctx, xir_str key, const xir_class *cls);
const xir_class *class_get_key(xir_context *ctx, xir_str key);
/* The real class with a key or alias: one on the stage, or a registered one. */
const xir_class *stage_find(const class_stage *stage, xir_str key);

/* Makes the class in the context's arena; NULL with status and finding. */
xir_class *class_seal(const class_stage *stage, const xir_class_decl *decl, xir_status *status, xir_diags *why);
/* Makes the default body. Defaults may be objects; making those takes the lock. */
xir_status class_make_defaults(xir_context *ctx, xir_class *cls, const xir_class_decl *decl, xir_diags *why);
/* The number of old keys in the rows. */
size_t     class_alias_count(const xir_class_decl *decl);

/* The number of keys that every op has; an object has only the first. */
enum { BASE_KEYS = 7 };
/* The part that opaque classes of ops, or of objects, share. Nobody writes it. */
class_more *class_more_of_opaque(bool is_op);

#endif

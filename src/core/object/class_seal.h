/* Between the three files that make classes: class_find.c knows keys, class_seal.c makes a class of a declaration,
 * class.c registers classes. All of it is called with the context's lock, but for class_make_defaults. */
#ifndef CORE_CLASS_SEAL_H
#define CORE_CLASS_SEAL_H

#include "context.h"

/* Room for so many more keys; false without memory. Then they can be put: a key that a real class has stays with it,
 * an opaque class gives way. NULL: no class has the key. */
bool             class_reserve_keys(xir_context *ctx, size_t more);
void             class_put_key(xir_context *ctx, xir_str key, const xir_class *cls);
const xir_class *class_get_key(xir_context *ctx, xir_str key);
/* The real class of a key or alias: one of the stage, or a registered one. */
const xir_class *stage_find(const class_stage *stage, xir_str key);

/* Makes the class in the context's arena; NULL with status and finding. */
xir_class *class_seal(const class_stage *stage, const xir_class_decl *decl, xir_status *status, xir_diags *why);
/* Makes the default body. Defaults may be objects, which take the lock themselves. */
xir_status class_make_defaults(xir_context *ctx, xir_class *cls, const xir_class_decl *decl, xir_diags *why);
/* How many old keys the rows name. */
size_t     class_alias_count(const xir_class_decl *decl);

/* The keys that every op has; an object has the first alone. `*n` is how many there are. */
enum { BASE_KEYS = 7 };
const class_key *class_base_keys(bool is_op, uint32_t *n);

#endif

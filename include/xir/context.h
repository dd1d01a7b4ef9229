/* A context is what networks share: the allocator, the classes, and the types made through it.
 * Different networks may be built, read and written at the same time on one context; everything declared
 * here may be called from any thread. */
#ifndef XIR_CONTEXT_H
#define XIR_CONTEXT_H

#include <xir/diag.h>

XIR_BEGIN

typedef struct xir_class      xir_class;      /* see class.h */
typedef struct xir_class_decl xir_class_decl; /* see class.h */

/* Limits that every reader and every list of findings keeps; and those of what is computed without being asked for:
 * constants, while a network is converted, checked or folded. Work is counted in steps (xir_work_steps): a
 * multiply-add is one, any other element operation ten. */
typedef struct xir_limits {
    uint32_t size;         /* XIR_INIT(xir_limits)                                                             */
    uint32_t max_depth;    /* of nested values; default 128                                                    */
    uint64_t max_bytes;    /* of one structure file; default 1 TiB                                             */
    uint64_t max_stream;   /* of what has no size, a pipe or a device, if that is less than max_bytes; default 4 GiB */
    uint64_t max_values;   /* without a class (tags, undeclared attributes) in one file; beside them one is allowed for every
                              8 bytes of a binary file, 3 of a text. A key counts as two more; default 1000000 */
    uint64_t max_findings; /* that a list which is made from now on keeps, see xir_diags_new; default 1000     */
    uint64_t max_op_work;  /* steps for the constant that one op gives; default 2 * 10^9                       */
    uint64_t max_work;     /* steps for all constants of one run of a pipeline, or of one check; default 2 * 10^9 */
} xir_limits;

/* Returns a context with all built-in classes, or NULL without memory. `allocator` may be NULL (malloc) and
 * is copied. Networks keep their context alive: it is freed when the last of them and the caller's own
 * reference are gone. xir_context_free accepts NULL. */
XIR_API xir_context *xir_context_new(const xir_allocator *allocator);
XIR_API void         xir_context_free(xir_context *ctx);

/* Fills `out` with the limits in force. XIR_E_ABI. */
XIR_API xir_status xir_context_limits(const xir_context *ctx, xir_limits *out, xir_diags *why);
/* Sets the limits; one that is zero stays as it is. XIR_E_ABI, XIR_E_UNSUPPORTED: nothing is changed. Not while other
 * threads use the context. */
XIR_API xir_status xir_context_set_limits(xir_context *ctx, const xir_limits *limits, xir_diags *why);

/* Registers a class. The declaration must stay as it is until the context is freed. Registering the same
 * declaration again is no error; another declaration under a taken key or old key is XIR_E_EXISTS, rows that
 * contradict themselves (a default outside its bounds, two rows of one name) are XIR_E_INVALID, rows that refer
 * to a class that is not registered yet (other than itself) XIR_E_UNKNOWN, and a declaration of another ABI is
 * XIR_E_ABI. On failure the context is as before. */
XIR_API xir_status xir_class_register(xir_context *ctx, const xir_class_decl *decl, xir_diags *why);

/* Returns the class of this key or of this old key (alias), NULL if none is registered. */
XIR_API const xir_class *xir_class_find(xir_context *ctx, xir_str key);

/* Returns the class made from a declaration, NULL if it is not registered here. */
XIR_API const xir_class *xir_class_find_decl(xir_context *ctx, const xir_class_decl *decl);

/* All registered classes in the order of their registration; opaque classes, which readers make for keys
 * that nobody registered, are not among them. Returns NULL past the end. */
XIR_API const xir_class *xir_context_class_at(xir_context *ctx, size_t i);

XIR_END

#endif

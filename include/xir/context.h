/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A context holds what networks share: the allocator, the classes, and the types made through it. Different networks
 * may be built, read and written at the same time on one context. Everything declared here may be called from any
 * thread, except where noted. */
#ifndef XIR_CONTEXT_H
#define XIR_CONTEXT_H

#include <xir/diag.h>

XIR_BEGIN

typedef struct xir_class      xir_class;      /* see class.h */
typedef struct xir_class_decl xir_class_decl; /* see class.h */

/* Limits of every reader and of every list of findings, and limits of implicit computation: of constants, while a
 * network is converted, checked or folded. Work is counted in steps (xir_work_steps): a multiply-add is one step, any
 * other element operation ten. */
typedef struct xir_limits {
    uint32_t size;         /* XIR_INIT(xir_limits)                                                             */
    uint32_t max_depth;    /* of nested values; default 128                                                    */
    uint64_t max_bytes;    /* of one structure file; default 1 TiB                                             */
    uint64_t max_stream;   /* of a pipe or device, whose size is unknown, if less than max_bytes; default 4 GiB */
    uint64_t max_values;   /* values without a class (tags, undeclared attributes) in one file, in addition to one for
                              every 8 bytes of a binary file or 3 of a text. A key counts as two more; default 10^6 */
    uint64_t max_findings; /* kept by a list that is made from now on, see xir_diags_new; default 1000         */
    uint64_t max_op_work;  /* steps for the constant that one op computes; default 2 * 10^9                    */
    uint64_t max_work;     /* steps for all constants of one pipeline run, or of one check; default 2 * 10^9   */
    /* Of an expression for a dim: more is an unknown dim, never an error. A text is refused past its limits. */
    uint32_t max_expr_terms;   /* terms of a polynomial; default and greatest 16                               */
    uint32_t max_expr_degree;  /* factors of a term; default and greatest 8                                    */
    uint32_t max_expr_depth;   /* floor, max and min inside each other; default 8, greatest 32                 */
    uint32_t max_expr_weight;  /* terms and atoms in all, inner ones too; default 192, greatest 4096           */
    uint32_t max_expr_text;    /* bytes of a text that is read; default 262144                                 */
    uint32_t max_symbols;      /* of one network; default 10^6                                                 */
    uint64_t max_ops;          /* of one file, including those inside others; default 10^9                     */
    uint64_t max_elements;     /* of one parameter of a file; default 2^63 - 1, that of types                  */
    /* Of a foreign format's control flow, which a conversion copies into the network; beyond them an op stays. */
    uint64_t max_rounds;       /* of one loop that is unrolled; default 64                                     */
    uint64_t max_unrolled;     /* ops that all unrolled loops of a conversion give; default 10 000             */
    uint64_t max_inlined;      /* ops that branches, functions and loops give; default 10^5                    */
    uint64_t max_unpacked;     /* bytes of an archive's deflated members when they are inflated, in addition to 16
                                  times the archive's; default 64 MiB                                      */
    uint64_t max_read_memory;  /* bytes that reading may hold, in addition to 2 for each byte of the files, or 16 if it
                                  is a text; default 56 MiB. 16 for each byte are always allowed               */
    uint64_t max_converted;    /* bytes that a conversion makes, in addition to 16 times those of the network's Params
                                  and texts, and on the way to another format of its ops; default 64 MiB       */
} xir_limits;

/* Returns a context with all built-in classes, or NULL if memory runs out. `allocator` is copied and may be NULL, which
 * means malloc. Networks keep their context alive: it is freed when the caller has freed it and the last network is
 * gone. xir_context_free accepts NULL. */
XIR_API xir_context *xir_context_new(const xir_allocator *allocator);
XIR_API void         xir_context_free(xir_context *ctx);

/* A component of the library that a context may lack. The functions below return them: constants, always the same. */
typedef struct xir_component xir_component;

/* Returns a context with these components alone, in any order. Everything that is not listed below is in every context:
 * all classes, their inference, checks and validation. A program that makes its contexts by this function, and that is
 * linked with libxir.a and the linker's option --gc-sections, contains no other components. What a context lacks is a
 * finding like others: a format is unknown, an op has no kernel, no pass has the name; to register a pass, a dialect,
 * a conversion or a scheme without the component for it is XIR_E_UNSUPPORTED. NULL if memory runs out, or if
 * `components` is NULL and `n` is not 0. NULL among the components is passed over. */
XIR_API xir_context *xir_context_new_with(const xir_allocator *allocator, const xir_component *const *components,
                                          size_t n);
#ifndef __cplusplus
/* The last two arguments, in C: XIR_COMPONENTS(xir_component_flat(), xir_component_kernels()). */
#define XIR_COMPONENTS(...)                       \
    (const xir_component *const[]){ __VA_ARGS__ }, \
    sizeof((const xir_component *const[]){ __VA_ARGS__ }) / sizeof(xir_component *)
#endif

XIR_API const xir_component *xir_component_kernels(void);   /* the executor's kernels: running ops, also constants    */
XIR_API const xir_component *xir_component_passes(void);    /* all passes of the library; schemes of quantisation     */
XIR_API const xir_component *xir_component_dialects(void);  /* operators of other formats, to XIR's ops and back. The
                                                               passes come with it. xir_optimise needs it by default  */
XIR_API const xir_component *xir_component_targets(void);   /* the rules of Buyi and Zhuge                            */
/* Reading and writing the files of a format. Those with operators of their own need no dialects for this. */
XIR_API const xir_component *xir_component_json(void);      /* "json", with raw files of parameters                   */
XIR_API const xir_component *xir_component_msgpack(void);   /* "imodel"                                               */
XIR_API const xir_component *xir_component_flat(void);      /* "fb"                                                   */
XIR_API const xir_component *xir_component_onnx(void);      /* "onnx"                                                 */
XIR_API const xir_component *xir_component_pnnx(void);      /* "pnnx"                                                 */
XIR_API const xir_component *xir_component_python(void);    /* "py"                                                   */
XIR_API const xir_component *xir_component_nnb(void);       /* "nnb"                                                  */
XIR_API const xir_component *xir_component_c(void);         /* "c"                                                    */
XIR_API const xir_component *xir_component_tsm(void);       /* "tsm"                                                  */
XIR_API const xir_component *xir_component_deepx(void);     /* "deepx"                                                */
XIR_API const xir_component *xir_component_text(void);      /* "text"                                                 */

/* Returns the allocator that the context was made with, for code that wants its own memory to come from the same place.
 * It lives as long as the context. NULL for NULL. */
XIR_API const xir_allocator *xir_context_allocator(const xir_context *ctx);

/* Fills `out` with the current limits. XIR_E_ABI. */
XIR_API xir_status xir_context_limits(const xir_context *ctx, xir_limits *out, xir_diags *why);
/* Sets the limits. A limit of zero is left unchanged. XIR_E_BOUNDS if one is above its greatest value. On any failure
 * nothing changes. Must not run while other threads use the context. */
XIR_API xir_status xir_context_set_limits(xir_context *ctx, const xir_limits *limits, xir_diags *why);

/* Registers a class. The declaration must remain unchanged until the context is freed. Registering the same declaration
 * again is XIR_OK. On failure the context is unchanged:
 *   XIR_E_EXISTS   another declaration has the key or old key
 *   XIR_E_INVALID  rows contradict themselves (a default outside its bounds, two rows of one name)
 *   XIR_E_UNKNOWN  a row refers to a class, other than itself, that is not registered yet
 *   XIR_E_ABI      the declaration is of another ABI
 *   XIR_E_SYNTAX   its COMPOSED row cannot be read; a fault in it may also be XIR_E_TYPE, XIR_E_BOUNDS, XIR_E_MISSING,
 *                  or one of the above. The finding has the line and the column
 *   XIR_E_LIMIT    it is composed of too many parts
 *   XIR_E_MEMORY */
XIR_API xir_status xir_class_register(xir_context *ctx, const xir_class_decl *decl, xir_diags *why);

/* Returns the class with this key or old key (alias), NULL if none is registered. */
XIR_API const xir_class *xir_class_find(xir_context *ctx, xir_str key);

/* Returns the class that was made from a declaration, NULL if it is not registered here. */
XIR_API const xir_class *xir_class_find_decl(xir_context *ctx, const xir_class_decl *decl);

/* Returns the i-th registered class, in the order of registration; NULL past the end. Opaque classes, which readers
 * make for unregistered keys, are not among them. */
XIR_API const xir_class *xir_context_class_at(xir_context *ctx, size_t i);

XIR_END

#endif

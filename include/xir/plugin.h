/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Plug-ins: shared objects that add classes of operations, targets, inference, passes, kernels, conversions, dialects,
 * formats and schemes of quantisation to a context at run time. A plug-in is written with the public headers alone,
 * like a program with classes of its own. It is linked with nothing and uses the library of the program that loads it.
 * It exports one function, xir_plugin_entry. docs/writing-an-op.md shows how to write one, docs/writing-a-pass.md one
 * with a pass, docs/writing-a-target.md one with targets.
 *
 * A program that contains libxir.a must export it to plug-ins: link it whole and with -rdynamic. If libxir.so was
 * opened with RTLD_LOCAL, as Python does, its symbols become global when the first plug-in needs them.
 *
 * Loading a plug-in runs its code with all rights of the program, and it cannot be unloaded before its context is
 * freed. So only an explicit call loads one: no file, environment variable or search path ever does. */
#ifndef XIR_PLUGIN_H
#define XIR_PLUGIN_H

#include <xir/convert.h>
#include <xir/format.h>
#include <xir/infer.h>
#include <xir/pass.h>
#include <xir/scheme.h>

XIR_BEGIN

/* ---- how a plug-in describes itself --------------------------------------------------------------------------- */

/* Inference of a class on a target: an xir_target_kind of the library, or the key of any target. Class and target
 * may be the plug-in's own or already registered. */
typedef struct xir_plugin_infer {
    xir_class_fn *cls;
    int           target;
    xir_infer_fn *infer;
    const char   *target_key;   /* "acme::NpuTarget"; NULL: see `target` */
} xir_plugin_infer;

/* A kernel, which computes a class in the executor (see exec.h). The class may be the plug-in's own or the
 * library's. */
typedef struct xir_plugin_kernel {
    xir_class_fn  *cls;
    xir_kernel_fn *run;
} xir_plugin_kernel;

/* A trait, by name, for a class that is the plug-in's own or already registered; see xir_class_add_trait. For its own,
 * TRAIT rows are shorter. The trait is registered if it is new. */
typedef struct xir_plugin_trait {
    xir_class_fn *cls;
    const char   *trait;        /* "acme::Fusable" */
} xir_plugin_trait;

/* The description of a plug-in. It must be constant and live as long as the plug-in. It may grow at its end. Unused
 * members are zero. */
typedef struct xir_plugin {
    uint32_t                abi;        /* XIR_ABI                                                         */
    uint32_t                size;       /* sizeof(xir_plugin)                                              */
    uint32_t                infer_size, kernel_size; /* of the items of infers and kernels, so that they can grow */
    const char           *(*library)(void); /* xir_version: shows that plug-in and program use one library */
    const char             *name;       /* for messages, "whatever"                                        */
    xir_class_fn *const    *classes;    /* a class may refer only to those before it                       */
    size_t                  n_classes;
    const xir_plugin_infer *infers;
    size_t                  n_infers;
    const xir_pass_decl *const *passes;         /* a pass follows those that it needs      */
    size_t                      n_passes;
    const xir_plugin_kernel    *kernels;
    size_t                      n_kernels;
    const xir_convert_row *const *conversions;  /* for dialects already registered; a new dialect has its own         */
    size_t                      n_conversions;
    const xir_format_decl *const *formats;
    size_t                      n_formats;
    const xir_target_row *const *targets;       /* registered before the classes, whose INFER_FOR may name them */
    size_t                      n_targets;
    const xir_dialect_decl *const *dialects;
    size_t                      n_dialects;
    const xir_plugin_trait     *traits;
    size_t                      n_traits;
    const xir_scheme_decl *const *schemes;      /* of quantisation */
    size_t                      n_schemes;
} xir_plugin;

/* Sets the members that every plug-in needs: = { XIR_PLUGIN_HEAD("whatever"), .classes = … }. */
#define XIR_PLUGIN_HEAD(name_)                                                                                       \
    .abi = XIR_ABI, .size = sizeof(xir_plugin), .infer_size = sizeof(xir_plugin_infer),                              \
    .kernel_size = sizeof(xir_plugin_kernel), .library = xir_version, .name = (name_)

/* Every plug-in defines this function; the library does not. It is called once each time the plug-in is loaded. It must
 * not call the library. */
XIR_API const xir_plugin *xir_plugin_entry(void);

/* ---- loading ------------------------------------------------------------------------------------------------- */

/* Loads a plug-in into a context and registers its parts there, as if by xir_class_register, xir_infer_register,
 * xir_pass_register, xir_kernel_register, xir_convert_register, xir_dialect_register, xir_format_register,
 * xir_target_register and xir_scheme_register. Its passes run only if a pipeline names them. A path without '/' is a
 * file of the working directory, as for open(2); nothing is searched. On failure the context is unchanged.
 *
 *   XIR_E_IO           the file cannot be opened, or is not a regular file
 *   XIR_E_UNSUPPORTED  the system's loader refuses it (not a shared object, of another machine, a missing symbol: the
 *                      finding quotes the loader); or it sets members that this library does not know
 *   XIR_E_CORRUPT      the file is shorter than its headers say
 *   XIR_E_MISSING      it does not have xir_plugin_entry, so it is not a plug-in
 *   XIR_E_ABI          it was built for another XIR_ABI, or with another copy of the library than this one
 *   XIR_E_INVALID      its description lacks something required, or has an invalid target; or a class, a pass, a
 *                      conversion, a dialect, a format, a target or a scheme contradicts itself
 *   XIR_E_BOUNDS       a number of a scheme is outside of its bounds
 *   XIR_E_SYNTAX       a class is composed by a text that cannot be read; what else is wrong with such a text has the
 *                      status of the fault
 *   XIR_E_EXISTS       a duplicate class; a key or old key that another class has; inference for a class and target
 *                      that a program or another plug-in has already registered (the library's own is replaced); two
 *                      kernels for a class; a pass, a conversion, a dialect, a format, a target or a scheme whose
 *                      name is taken
 *   XIR_E_UNKNOWN      a class refers to a class or target that is not registered; or inference, a kernel or a trait
 *                      is for a class or target that is neither its own nor registered
 *   XIR_E_LIMIT        more targets or traits than a context can have; a composed class of too many parts
 *
 * Loading a plug-in that is already loaded, even under another file name, is XIR_OK and does nothing. Each context
 * loads the plug-ins it needs. The shared object stays open until the context and its last network are gone. Other
 * threads may use this context and load other plug-ins at the same time; an operation in progress uses the old parts
 * or the new ones. But a plug-in with conversions must not be loaded while other threads convert. */
XIR_API xir_status xir_plugin_load(xir_context *ctx, const char *path, xir_diags *why);

/* Registers a description that is linked into the program instead of a file; it must stay valid as long as the
 * context. Descriptions are refused as above. Findings have the name of the description in place of a file's, and so
 * does the path of xir_context_plugin_at. Returns XIR_E_INVALID for NULL. Adding a description again is XIR_OK and
 * does nothing. */
XIR_API xir_status xir_plugin_add(xir_context *ctx, const xir_plugin *said, xir_diags *why);

/* The i-th loaded plug-in, in the order of loading: its name, and its path as given. Texts live as long as the context.
 * Returns false past the end. */
XIR_API bool xir_context_plugin_at(xir_context *ctx, size_t i, xir_str *name, xir_str *path);

XIR_END

#endif

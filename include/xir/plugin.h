/* Plug-ins: shared objects that bring classes of operations, targets, inference, passes, kernels, conversions, dialects
 * and formats to a context while a program runs. A plug-in is written with the public headers alone, like any program
 * that has classes of its own, and linked with nothing: it meets the library of the program that loads it. It exports
 * one function, xir_plugin_entry. docs/writing-an-op.md is a walk through one, docs/writing-a-pass.md through one with
 * a pass, docs/writing-a-target.md through one with targets.
 *
 * A program that has libxir.a inside must show it to plug-ins: linked whole and with -rdynamic. Where libxir.so was
 * opened with RTLD_LOCAL, as Python does, its names become global when the first plug-in needs them.
 *
 * Loading a plug-in runs its code, with all rights of the program, and it cannot be unloaded before its context is
 * freed. So only an explicit call loads one: no file, no environment variable and no search path ever does. */
#ifndef XIR_PLUGIN_H
#define XIR_PLUGIN_H

#include <xir/convert.h>
#include <xir/format.h>
#include <xir/infer.h>
#include <xir/pass.h>

XIR_BEGIN

/* ---- what a plug-in says of itself --------------------------------------------------------------------------- */

/* What define.h makes of a class: xir_flatten_class, xir_conv2d_class. */
typedef const xir_class_decl *xir_class_fn(void);

/* Inference of a class on a target: an xir_target_kind of the library, or the key of any target, which is the plug-in's
 * own or registered. The class is the plug-in's own or registered, too. */
typedef struct xir_plugin_infer {
    xir_class_fn *cls;
    int           target;
    xir_infer_fn *infer;
    const char   *target_key;   /* "acme::NpuTarget"; NULL: see `target` */
} xir_plugin_infer;

/* How the executor computes a class (see exec.h), the plug-in's own or the library's. */
typedef struct xir_plugin_kernel {
    xir_class_fn  *cls;
    xir_kernel_fn *run;
} xir_plugin_kernel;

/* Constant, and there as long as the plug-in is. Grows at its end; what a plug-in has no use for is zero. */
typedef struct xir_plugin {
    uint32_t                abi;        /* XIR_ABI                                                         */
    uint32_t                size;       /* sizeof(xir_plugin)                                              */
    uint32_t                infer_size, kernel_size; /* of the items of infers and kernels, so that they can grow */
    const char           *(*library)(void); /* xir_version: tells that plug-in and program have one library */
    const char             *name;       /* for people, "whatever"                                          */
    xir_class_fn *const    *classes;    /* in an order in which rows refer to what stands before           */
    size_t                  n_classes;
    const xir_plugin_infer *infers;
    size_t                  n_infers;
    const xir_pass_decl *const *passes;         /* needed ones before those that need them */
    size_t                      n_passes;
    const xir_plugin_kernel    *kernels;
    size_t                      n_kernels;
    const xir_convert_row *const *conversions;  /* of dialects that are registered already; a dialect brings its own  */
    size_t                      n_conversions;
    const xir_format_decl *const *formats;
    size_t                      n_formats;
    const xir_target_row *const *targets;       /* known before the classes, whose INFER_FOR may name them */
    size_t                      n_targets;
    const xir_dialect_decl *const *dialects;
    size_t                      n_dialects;
} xir_plugin;

/* The members that are the same everywhere: = { XIR_PLUGIN_HEAD("whatever"), .classes = … }. */
#define XIR_PLUGIN_HEAD(name_)                                                                                       \
    .abi = XIR_ABI, .size = sizeof(xir_plugin), .infer_size = sizeof(xir_plugin_infer),                              \
    .kernel_size = sizeof(xir_plugin_kernel), .library = xir_version, .name = (name_)

/* What every plug-in defines, and the library does not. Called once each time the plug-in is loaded; it may call
 * nothing of the library. */
XIR_API const xir_plugin *xir_plugin_entry(void);

/* ---- loading ------------------------------------------------------------------------------------------------- */

/* Loads a plug-in into a context: its classes are then registered there as if by xir_class_register, its inference as
 * if by xir_infer_register, its passes as if by xir_pass_register, its kernels as if by xir_kernel_register, its
 * conversions as if by xir_convert_register, its dialects as if by xir_dialect_register, its formats as if by
 * xir_format_register, its targets as if by xir_target_register. No pass of it runs unless a pipeline names it. A path
 * without '/' is a file of the working directory, as open(2) would take it; nothing is searched. All or nothing: after
 * a failure the context has what it had before.
 *
 *   XIR_E_IO           the file cannot be opened, or is no ordinary one
 *   XIR_E_UNSUPPORTED  the system's loader refuses it (no shared object, another machine's, a missing symbol: its words are in
 *                      the finding); or it asks for what only a newer library has
 *   XIR_E_CORRUPT      the file is shorter than its headers say
 *   XIR_E_MISSING      it has no xir_plugin_entry: it is no plug-in
 *   XIR_E_ABI          it was built for another XIR_ABI, or with another copy of the library than this one
 *   XIR_E_INVALID      what it says of itself is NULL where something must be, or no target; or a class, a pass, a
 *                      conversion, a dialect, a format or a target contradicts itself
 *   XIR_E_EXISTS       a class twice; a key or old key that another class has; inference for a class and target that a
 *                      program or another plug-in has registered already (the library's own is replaced); two kernels
 *                      for a class; a pass, a conversion, a dialect, a format or a target of a name that is taken
 *   XIR_E_UNKNOWN      a class refers to a class or target that is not registered; inference or a kernel of a class, or
 *                      inference on a target, that is neither its own nor registered
 *   XIR_E_LIMIT        more targets than a context can have
 *
 * Loading what is loaded already, be it under another name of the file, is XIR_OK and does nothing. Each context
 * that is to have a plug-in loads it for itself. The shared object stays open until the context is gone, and with it
 * the last network. Other threads may use this context meanwhile, and load other plug-ins: what they have begun goes
 * on with what was there or with what has come. But a plug-in that brings conversions is not loaded while others
 * convert. */
XIR_API xir_status xir_plugin_load(xir_context *ctx, const char *path, xir_diags *why);

/* What is loaded, in the order of loading: name and path as given. Texts live as long as the context. False past the
 * end. */
XIR_API bool xir_context_plugin_at(xir_context *ctx, size_t i, xir_str *name, xir_str *path);

XIR_END

#endif

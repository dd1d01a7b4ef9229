/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A plug-in with one fault, which XIR_BAD in the environment names. tests/library/plugins.c has the names. */
#include <stdlib.h>
#include <string.h>
#include <xir/xir.h>

#define XIR_DEFS "bad.def"
#include <xir/declare.h>
#define XIR_DEFS "bad.def"
#include <xir/define.h>

xir_status bad_same(xir_infer *at) { return xir_infer_result(at, xir_infer_input(at, 0)); }

static const char *other_library(void) { return "0.0.1"; }
static const xir_class_decl *no_class(void) { return NULL; }

static const xir_class_decl *of_another_abi(void) {
    static xir_class_decl decl;
    decl = *xir_bad_second_class();
    decl.abi = 7;
    return &decl;
}

static const xir_class_decl *of_a_later_word(void) {
    static const xir_row rows[] = {
        { .decl = XIR_DECL_OP, .name = "bad::Word", .doc = "it has a word that nobody knows", .offset = 8 },
        { .decl = (xir_decl_kind)1000, .name = "later" },
        { .decl = XIR_DECL_END },
    };
    static const xir_class_decl decl = { XIR_ABI, sizeof(xir_class_decl), sizeof(xir_row), rows };
    return &decl;
}

#define CLASSES(...) \
    .classes = (xir_class_fn *const[]){ __VA_ARGS__ }, .n_classes = \
        sizeof((xir_class_fn *const[]){ __VA_ARGS__ }) / sizeof(xir_class_fn *)
#define INFERS(...)                                            \
    .infers = (const xir_plugin_infer[]){ __VA_ARGS__ }, \
    .n_infers = sizeof((const xir_plugin_infer[]){ __VA_ARGS__ }) / sizeof(xir_plugin_infer)
#define FINE xir_bad_first_class, xir_bad_second_class
#define PASSES(...) \
    .passes = (const xir_pass_decl *const[]){ __VA_ARGS__ }, \
    .n_passes = sizeof((const xir_pass_decl *const[]){ __VA_ARGS__ }) / sizeof(const xir_pass_decl *)
#define KERNELS(...)                                            \
    .kernels = (const xir_plugin_kernel[]){ __VA_ARGS__ }, \
    .n_kernels = sizeof((const xir_plugin_kernel[]){ __VA_ARGS__ }) / sizeof(xir_plugin_kernel)
#define CONVERSIONS(...)                                                    \
    .conversions = (const xir_convert_row *const[]){ __VA_ARGS__ }, \
    .n_conversions = sizeof((const xir_convert_row *const[]){ __VA_ARGS__ }) / sizeof(const xir_convert_row *)

#define SCHEMES(...) \
    .schemes = (const xir_scheme_decl *const[]){ __VA_ARGS__ }, \
    .n_schemes = sizeof((const xir_scheme_decl *const[]){ __VA_ARGS__ }) / sizeof(const xir_scheme_decl *)
#define FORMATS(...) \
    .formats = (const xir_format_decl *const[]){ __VA_ARGS__ }, \
    .n_formats = sizeof((const xir_format_decl *const[]){ __VA_ARGS__ }) / sizeof(const xir_format_decl *)

static xir_status bad_run(xir_pass *at) {
    (void)at;
    return XIR_OK;
}

/* A kernel for any class: it rounds down. */
static xir_status bad_kernel(xir_kernel *at) {
    size_t n = 1;
    const xir_type *type = xir_kernel_output_type(at, 0);
    const double *x = xir_kernel_reals(at, 0);
    double *y = xir_kernel_real_out(at, 0);
    if (!x || !y) return XIR_E_MEMORY;
    for (size_t i = 0; i < xir_type_rank(type); i++) n *= (size_t)xir_type_dim(type, (int64_t)i, false);
    for (size_t i = 0; i < n; i++) y[i] = (double)(int64_t)x[i];
    return XIR_OK;
}

#define PASS_OF(name_, ...) \
    { XIR_PASS_HEAD(name_, "of a plug-in"), .level = XIR_LEVEL_MAX, .run = bad_run, __VA_ARGS__ }
static const char *const after_first[] = { "bad-first", "dce", NULL };
static const char *const after_nobody[] = { "bad-nobody", NULL };
static const xir_pass_decl first_pass = PASS_OF("bad-first", .n_options = 0),
                           second_pass = PASS_OF("bad-second", .needs = after_first),
                           lost_pass = PASS_OF("bad-lost", .needs = after_nobody), dce_again =
                               PASS_OF("dce", .n_options = 0),
                           unnamed_pass = PASS_OF("Bad", .n_options = 0);
static const xir_convert_row swish = { XIR_CONVERT_HEAD, .name = "onnx::com.example::BadSwish", .inputs = "1",
                                       .outputs = "1", .attributes = "", .cls = "SiLU" },
                             conv_again = { XIR_CONVERT_HEAD, .name = "onnx::Conv", .inputs = "1", .outputs = "1",
                                            .attributes = "", .cls = "SiLU" },
                             no_dialect = { XIR_CONVERT_HEAD, .name = "nobody::Swish", .inputs = "1", .outputs = "1",
                                            .attributes = "", .cls = "SiLU" };

/* A format that is only detected. */
static xir_probe_grade bad_probe(const xir_probe *file, void *user) {
    (void)user;
    return *(const char *)file->head == 'B' ? XIR_PROBE_YES : XIR_PROBE_NO;
}
static const xir_format_decl sight = { XIR_FORMAT_HEAD("bad", "a bad format"), .suffixes = "bad", .probe = bad_probe },
                             json_again = { XIR_FORMAT_HEAD("json", "JSON"), .suffixes = "json" },
                             unnamed_format = { XIR_FORMAT_HEAD("B", "unnamed"), .suffixes = "b" };

static const xir_scheme_decl ints = { XIR_SCHEME_HEAD("bad", "a bad scheme"), .map_bits = 8, .bias_bits = 32 },
                             onnx_scheme = { XIR_SCHEME_HEAD("onnx", "ONNX"), .map_bits = 8, .bias_bits = 32 },
                             no_bits = { XIR_SCHEME_HEAD("none", "without bits"), .bias_bits = 32 };

#define DIALECTS(...)                                                 \
    .dialects = (const xir_dialect_decl *const[]){ __VA_ARGS__ }, \
    .n_dialects = sizeof((const xir_dialect_decl *const[]){ __VA_ARGS__ }) / sizeof(const xir_dialect_decl *)
static const xir_convert_row dialect_rows[] = {
    { XIR_CONVERT_HEAD, .name = "worse::Relu", .inputs = "1", .outputs = "1", .attributes = "", .cls = "ReLU" },
    { XIR_CONVERT_HEAD, .name = "worse::Exp", .inputs = "1", .outputs = "1", .attributes = "", .cls = "Exp" },
};
static const xir_dialect_decl worse = { XIR_DIALECT_HEAD("worse::", "Worse"), .pass = "worse-to-xir",
                                        .rows = dialect_rows, .n_rows = 2 },
                              onnx_again = { XIR_DIALECT_HEAD("onnx::", "Again") },
                              unnamed_dialect = { XIR_DIALECT_HEAD("Worse", "Worse") },
                              dce_dialect = { XIR_DIALECT_HEAD("dce::", "DCE"), .pass = "dce" },
                              first_dialect = { XIR_DIALECT_HEAD("first::", "First"), .pass = "bad-first" },
                              foreign_rows = { XIR_DIALECT_HEAD("foreign::", "Foreign"), .rows = dialect_rows,
                                               .n_rows = 2 },
                              many_rows = { XIR_DIALECT_HEAD("many::", "Many"), .rows = dialect_rows,
                                            .n_rows = SIZE_MAX },
                              old_dialect = { .abi = 1, .size = 8 };

typedef struct way { const char *name; xir_plugin plugin; } way;

static const way ways[] = {
    { "fine",       { XIR_PLUGIN_HEAD("fine"), CLASSES(FINE), INFERS({ xir_relu_class, XIR_TARGET_WOLONG, bad_same },
                                                                     { xir_relu_class, XIR_TARGET_HOST, bad_same },
                                                                     { xir_bad_first_class, XIR_TARGET_HOST, bad_same }) } },
    { "lists",      { XIR_PLUGIN_HEAD("lists"), CLASSES(FINE), PASSES(&first_pass, &second_pass), CONVERSIONS(&swish),
                      FORMATS(&sight), DIALECTS(&worse),
                      KERNELS({ xir_relu_class, bad_kernel }, { xir_bad_first_class, bad_kernel }) } },
    { "fine again", { XIR_PLUGIN_HEAD("fine again"), INFERS({ xir_relu_class, XIR_TARGET_BUYI, bad_same }) } },
    { "abi",        { .abi = XIR_ABI + 1, .size = sizeof(xir_plugin), .library = xir_version, .name = "x" } },
    { "abi 0",      { .name = "x" } },
    { "abi 1",      { .abi = 1, .size = sizeof(xir_plugin), .library = xir_version, .name = "x" } },
    { "infer size", { .abi = XIR_ABI, .size = sizeof(xir_plugin), .library = xir_version, .name = "x", CLASSES(FINE),
                      INFERS({ xir_relu_class, XIR_TARGET_HOST, bad_same }) } },
    { "kernel size",
      { .abi = XIR_ABI, .size = sizeof(xir_plugin), .infer_size = sizeof(xir_plugin_infer), .library = xir_version,
        .name = "x", CLASSES(FINE), KERNELS({ xir_relu_class, bad_kernel }) } },
    { "size",       { .abi = XIR_ABI, .size = offsetof(xir_plugin, n_infers), .library = xir_version, .name = "x" } },
    { "size 0",     { .abi = XIR_ABI } },
    { "no library", { .abi = XIR_ABI, .size = sizeof(xir_plugin), .name = "x" } },
    { "library",    { .abi = XIR_ABI, .size = sizeof(xir_plugin), .library = other_library, .name = "x" } },
    { "no name",    { XIR_PLUGIN_HEAD(NULL) } },
    { "empty name", { XIR_PLUGIN_HEAD("") } },
    { "classes",    { XIR_PLUGIN_HEAD("x"), .n_classes = 2 } },
    { "class",      { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, NULL) } },
    { "no class",   { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, no_class) } },
    { "infers",     { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), .n_infers = 1 } },
    { "infer",      { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), INFERS({ xir_relu_class, XIR_TARGET_HOST, NULL }) } },
    { "infer of",   { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), INFERS({ NULL, XIR_TARGET_HOST, bad_same }) } },
    { "target",     { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), INFERS({ xir_relu_class, XIR_TARGET_COUNT, bad_same }) } },
    { "stranger",   { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), INFERS({ xir_relu_class, XIR_TARGET_WOLONG, bad_same },
                                                                  { xir_bad_ref_class, XIR_TARGET_HOST, bad_same }) } },
    { "object",     { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), INFERS({ xir_aligned_unit_class, XIR_TARGET_HOST, bad_same }) } },
    { "infer twice", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), INFERS({ xir_relu_class, XIR_TARGET_WOLONG, bad_same },
                                                                   { xir_relu_class, XIR_TARGET_WOLONG, bad_same }) } },
    { "twice",      { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, xir_bad_first_class) } },
    { "key",        { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, xir_bad_key_class) } },
    { "old key",    { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, xir_bad_old_class) } },
    { "alias",      { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, xir_bad_alias_class) } },
    { "own key",    { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, xir_bad_again_class) } },
    { "own old key", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, xir_bad_erst_class) } },
    { "own alias",  { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, xir_bad_erster_class) } },
    { "builtin",    { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, xir_conv2d_class) } },
    { "bounds",     { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, xir_bad_bounds_class) } },
    { "order",      { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, xir_bad_ref_class, xir_bad_thing_class) } },
    { "passes",     { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), .n_passes = 1 } },
    { "pass",       { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), PASSES(&first_pass, NULL) } },
    { "pass name",  { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), PASSES(&first_pass, &unnamed_pass) } },
    { "pass order", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), PASSES(&second_pass, &first_pass) } },
    { "lost pass",  { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), PASSES(&first_pass, &lost_pass) } },
    { "pass twice", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), PASSES(&first_pass, &first_pass) } },
    { "old pass",   { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), PASSES(&first_pass, &dce_again) } },
    { "kernels",    { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), .n_kernels = 1 } },
    { "kernel",     { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), KERNELS({ xir_relu_class, NULL }) } },
    { "kernel of",  { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), KERNELS({ xir_relu_class, bad_kernel }, { xir_bad_ref_class, bad_kernel }) } },
    { "kernel twice", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), KERNELS({ xir_relu_class, bad_kernel }, { xir_relu_class, bad_kernel }) } },
    { "conversions", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), .n_conversions = 1 } },
    { "conversion", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), PASSES(&first_pass), CONVERSIONS(&swish, NULL) } },
    { "old conversion", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), PASSES(&first_pass), CONVERSIONS(&swish, &conv_again) } },
    { "conversion twice", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), PASSES(&first_pass), CONVERSIONS(&swish, &swish) } },
    { "no dialect", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), PASSES(&first_pass), CONVERSIONS(&no_dialect) } },
    { "formats",    { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), .n_formats = 1 } },
    { "format",     { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), FORMATS(&sight, NULL) } },
    { "format name", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), FORMATS(&sight, &unnamed_format) } },
    { "old format", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), FORMATS(&sight, &json_again) } },
    { "format twice", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), CONVERSIONS(&swish), FORMATS(&sight, &sight) } },
    { "schemes",    { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), .n_schemes = 1 } },
    { "scheme",     { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), SCHEMES(&ints, NULL) } },
    { "scheme bits", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), SCHEMES(&ints, &no_bits) } },
    { "old scheme", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), FORMATS(&sight), SCHEMES(&ints, &onnx_scheme) } },
    { "scheme twice", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), SCHEMES(&ints, &ints) } },
    { "dialects",   { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), .n_dialects = 1 } },
    { "dialect",    { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), DIALECTS(&worse, NULL) } },
    { "dialect name", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), DIALECTS(&worse, &unnamed_dialect) } },
    { "dialect abi", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), DIALECTS(&worse, &old_dialect) } },
    { "dialect rows", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), DIALECTS(&foreign_rows) } },
    { "many rows",  { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), DIALECTS(&many_rows) } },
    { "old dialect", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), DIALECTS(&worse, &onnx_again) } },
    { "dialect twice", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), DIALECTS(&worse, &worse) } },
    { "dialect pass", { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), DIALECTS(&dce_dialect) } },
    { "own pass",   { XIR_PLUGIN_HEAD("x"), CLASSES(FINE), PASSES(&first_pass), DIALECTS(&first_dialect) } },
    { "class abi",  { XIR_PLUGIN_HEAD("x"), CLASSES(xir_bad_first_class, of_another_abi) } },
    { "word",       { XIR_PLUGIN_HEAD("x"), CLASSES(FINE, of_a_later_word) } },
};

/* Rows and items of a newer header, which are larger. */
#define SPREAD(name, type) typedef struct name { type it; uint64_t more; } name
SPREAD(large_row, xir_row);
SPREAD(large_infer, xir_plugin_infer);
SPREAD(large_kernel, xir_plugin_kernel);
SPREAD(large_option, xir_pass_option);

static large_row large_rows[] = {
    { { .decl = XIR_DECL_OP, .name = "bad::Large", .doc = "its rows are large", .offset = 8, .min = { .i = sizeof(void *) } }, 0 },
    { { .decl = XIR_DECL_IN, .name = "input", .doc = "x" }, 0 },
    { { .decl = XIR_DECL_OUT, .name = "output", .doc = "y" }, 0 },
    { { .decl = XIR_DECL_INFER, .fn = bad_same }, 0 },
    { { .decl = XIR_DECL_END }, 0 },
};
static const xir_class_decl *large_class(void) {
    static const xir_class_decl decl = { XIR_ABI, sizeof(xir_class_decl), sizeof(large_row), &large_rows[0].it };
    return &decl;
}

static large_infer  large_infers[] = { { { large_class, XIR_TARGET_BUYI, bad_same }, 0 },
                                       { { large_class, XIR_TARGET_ZHUGE, bad_same }, 0 } };
static large_kernel large_kernels[] = { { { xir_relu_class, bad_kernel }, 0 }, { { large_class, bad_kernel }, 0 } };
static large_option large_options[] = { { { "first", XIR_PASS_INT, "1", "a number" }, 0 },
                                        { { "last", XIR_PASS_INT, "2", "another" }, 0 } };
static const xir_pass_decl large_pass = {
    .abi = XIR_ABI, .size = sizeof(xir_pass_decl), .option_size = sizeof(large_option), .name = "bad-large",
    .doc = "its options are large",
    .level = XIR_LEVEL_MAX, .options = &large_options[0].it, .n_options = 2, .run = bad_run,
};
static const xir_plugin large = {
    .abi = XIR_ABI, .size = sizeof(xir_plugin), .infer_size = sizeof(large_infer), .kernel_size = sizeof(large_kernel),
    .library = xir_version, .name = "large", CLASSES(large_class), PASSES(&large_pass),
    .infers = &large_infers[0].it, .n_infers = 2, .kernels = &large_kernels[0].it, .n_kernels = 2,
};

/* One of them sets a member that the library does not know. */
static const xir_plugin *ask_for_more(const char *which) {
    large_rows[2].more = strcmp(which, "row") == 0;
    large_infers[1].more = strcmp(which, "infer") == 0;
    large_kernels[1].more = strcmp(which, "kernel") == 0;
    large_options[1].more = strcmp(which, "option") == 0;
    return &large;
}

/* A description of a newer header, which is longer. */
static struct { xir_plugin plugin; uint64_t more[2]; } later = {
    { .abi = XIR_ABI, .size = sizeof later, .library = xir_version, .name = "later", CLASSES(FINE) }, { 0, 0 },
};

const xir_plugin *xir_plugin_entry(void) {
    const char *name = getenv("XIR_BAD");
    if (!name) return NULL;
    if (strncmp(name, "later", 5) == 0) {
        later.more[1] = strcmp(name, "later") != 0;
        return &later.plugin;
    }
    if (strncmp(name, "large ", 6) == 0) return ask_for_more(name + 6);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(ways[i].name, name) == 0) return &ways[i].plugin;
    }
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Turns a .def list into its class functions. Include it in ONE .c or .cpp file of the program or plug-in, after
 * declare.h, with XIR_DEFS defined as the same list. The functions that rows name have C linkage. */
#include <math.h>
#include <xir/class.h>

#ifdef __cplusplus   /* before C++20 designated initialisers are an extension, in the order of the members */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wc++20-extensions"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wc99-extensions"
#endif
#endif
XIR_BEGIN

/* The functions that CHECK, INFER, WORK, TAKES, NEEDS and FORM rows name. */
#include <xir/decl_blank.h>
#undef CHECK
#undef INFER
#undef INFER_ON
#undef INFER_ALONE
#undef INFER_ALONE_ON
#undef INFER_FOR
#undef INFER_TILED
#undef INFER_ALONE_TILED
#undef FORM
#undef WORK
#undef TAKES
#undef NEEDS
#undef NEEDS_WITHIN
#define CHECK(fn)                  XIR_HIDDEN xir_status fn(xir_infer *at);
#define INFER(fn)                  XIR_HIDDEN xir_status fn(xir_infer *at);
#define INFER_ON(target, fn)       XIR_HIDDEN xir_status fn(xir_infer *at);
#define INFER_ALONE(fn)            XIR_HIDDEN xir_status fn(xir_infer *at);
#define INFER_ALONE_ON(target, fn) XIR_HIDDEN xir_status fn(xir_infer *at);
#define INFER_FOR(key, fn)         XIR_HIDDEN xir_status fn(xir_infer *at);
#define INFER_TILED(fn)            XIR_HIDDEN xir_status fn(xir_infer *at);
#define INFER_ALONE_TILED(fn)      XIR_HIDDEN xir_status fn(xir_infer *at);
#define WORK(fn)                   XIR_HIDDEN xir_status fn(xir_infer *at);
#define TAKES(fn)                  XIR_HIDDEN xir_status fn(xir_infer *at);
#define NEEDS(fn)                  XIR_HIDDEN xir_status fn(xir_infer *at);
#define NEEDS_WITHIN(fn)           XIR_HIDDEN xir_status fn(xir_infer *at);
#define FORM(form)                 extern const xir_form form;
#include XIR_DEFS
#include <xir/decl_off.h>

/* All defaults as a constant struct, so that _init is a copy. Reals are float32, as everywhere. */
#define NO_LOW  (-(double)INFINITY)
#define NO_HIGH ((double)INFINITY)
#define ENUM_OF(id, prefix)
#define MEMBER(prefix, name)
#define END_ENUM(id)
#define OP(id, tag, key, traits, doc)   static const xir_##id##_attrs xir_##id##_defaults = {
#define OBJ(id, key, base, traits, doc) static const xir_##id xir_##id##_defaults = { .head = { .hash = XIR_MADE_ },
#define END(id)                         .xir_made_ = XIR_MADE_ };
#define END_OBJ(id)                     };
#include <xir/decl_none.h>
#undef BOOL
#undef I64
#undef U64
#undef REAL
#undef TEXT
#undef ENUM
#define BOOL(n, default_, d)         .n = default_,
#define I64(n, default_, lo, hi, d)  .n = default_,
#define U64(n, default_, lo, hi, d)  .n = default_,
#define REAL(n, default_, lo, hi, d) .n = (double)(float)(default_),
#define TEXT(n, default_, d)         .n = { default_, sizeof(default_) - 1 },
#define ENUM(n, type, default_, d)   .n = default_,
#include XIR_DEFS
#include <xir/decl_off.h>

/* A class function contains its constant rows; `self` and `ports` are the structs that their offsets refer to. */
#define NO_MIN  INT64_MIN
#define NO_MAX  INT64_MAX
#define NO_LOW  (-(double)INFINITY)
#define NO_HIGH ((double)INFINITY)

#define XIR_FIELD_(k, n, d, ...) { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_##k, .name = #n, .doc = d,      \
                                   .offset = offsetof(self, n), __VA_ARGS__ },
#define XIR_IN_(w, n, d)         { .decl = XIR_DECL_##w, .name = #n, .doc = d, .offset = offsetof(ports, n) },
#define XIR_NOTE_(w, n, ...)     { .decl = XIR_DECL_##w, .name = n, __VA_ARGS__ },
#define XIR_CLOSE_                                                                                          \
        { .decl = XIR_DECL_END } };                                                                         \
        static const xir_class_decl decl = { XIR_ABI, sizeof(xir_class_decl), sizeof(xir_row), rows };      \
        return &decl;                                                                                       \
    }

#define ENUM_OF(id, prefix)                                                                                 \
    const xir_enum *xir_##id##_enum(void) {                                                                 \
        static const char name[] = #id;                                                                     \
        static const char *const names[] = {
#define MEMBER(prefix, name) #name,
#define END_ENUM(id)                                                                                        \
        };                                                                                                  \
        static const xir_enum members = { name, names, sizeof names / sizeof names[0] };                    \
        return &members;                                                                                    \
    }

#define OP(id, number, key, traits, meaning)                                                                \
    const xir_class_decl *xir_##id##_class(void) {                                                          \
        typedef xir_##id##_attrs self;                                                                      \
        typedef xir_##id##_in    ports;                                                                     \
        static const xir_row rows[] = {                                                                     \
            { .decl = XIR_DECL_OP, .name = #key, .doc = meaning, .offset = sizeof(self),                    \
              .flags = traits, .default_value = { .i = number }, .min = { .i = sizeof(ports) },             \
              .max = { .i = offsetof(self, xir_made_) }, .default_text = #id },
#define END(id)                                                                                             \
    XIR_CLOSE_                                                                                              \
    xir_##id##_attrs xir_##id##_init(void) { return xir_##id##_defaults; }                                  \
    xir_op *xir_add_##id(xir_at at, xir_##id##_in in, const xir_##id##_attrs *attrs) {                      \
        return xir_op_build(at, xir_##id##_class(), &in, attrs);                                            \
    }                                                                                                       \
    xir_value *xir_make_##id(xir_at at, const xir_##id##_call *call) {                                      \
        return xir_op_build_value(at, xir_##id##_class(), call, call->attrs, call->name);                   \
    }                                                                                                       \
    const xir_##id##_attrs *xir_##id##_of(const xir_op *op) {                                               \
        return (const xir_##id##_attrs *)xir_op_body(op, xir_##id##_class());                               \
    }                                                                                                       \
    xir_status xir_##id##_set(xir_op *op, const xir_##id##_attrs *attrs) {                                  \
        return xir_op_set_body(op, xir_##id##_class(), attrs);                                              \
    }

#define OBJ(id, key, base, traits, meaning)                                                                 \
    const xir_class_decl *xir_##id##_class(void) {                                                          \
        typedef xir_##id self;                                                                              \
        static const xir_row rows[] = {                                                                     \
            { .decl = XIR_DECL_OBJ, .name = #key, .doc = meaning, .offset = sizeof(self),                   \
              .flags = traits, .max = { .i = offsetof(self, head.hash) }, .default_text = #id, .of = base },
#define END_OBJ(id)                                                                                         \
    XIR_CLOSE_                                                                                              \
    xir_##id xir_##id##_init(void) { return xir_##id##_defaults; }                                          \
    const xir_##id *xir_##id##_make(xir_context *ctx, const xir_##id *body, xir_diags *why) {               \
        return (const xir_##id *)xir_object_make(ctx, xir_##id##_class(), body, why);                       \
    }                                                                                                       \
    const xir_##id *xir_##id##_of(const xir_object *object) {                                               \
        return (const xir_##id *)xir_object_body(object, xir_##id##_class());                               \
    }

#define BOOL(n, default_, d)           XIR_FIELD_(BOOL, n, d, .default_value = { .i = default_ })
#define I64(n, default_, lo, hi, d) \
    XIR_FIELD_(I64,  n, d, .default_value = { .i = default_ }, .min = { .i = lo }, .max = { .i = hi })
#define U64(n, default_, lo, hi, d) \
    XIR_FIELD_(U64,  n, d, .default_value = { .i = default_ }, .min = { .i = lo }, .max = { .i = hi })
#define REAL(n, default_, lo, hi, d) \
    XIR_FIELD_(REAL, n, d, .default_value = { .r = default_ }, .min = { .r = lo }, .max = { .r = hi })
#define TEXT(n, default_, d)           XIR_FIELD_(TEXT, n, d, .default_text = default_)
#define ENUM(n, type, default_, d) \
    XIR_FIELD_(ENUM, n, d, .default_value = { .i = default_ }, .members = type##_enum)
#define REF(n, type, d)                XIR_FIELD_(REF,  n, d, .flags = XIR_FIELD_REQUIRED, .of = type##_class)
#define OPT_REF(n, type, d)            XIR_FIELD_(REF,  n, d, .flags = XIR_FIELD_OPTIONAL, .of = type##_class)
#define REFS(n, type, d)               XIR_FIELD_(REFS, n, d, .of = type##_class)
#define DEFAULT_REF(n, type, text, d)  XIR_FIELD_(REF,  n, d, .default_text = text, .of = type##_class)
#define DEFAULT_REFS(n, type, text, d) XIR_FIELD_(REFS, n, d, .default_text = text, .of = type##_class)
#define MAP(n, d)                      XIR_FIELD_(MAP,     n, d, .flags = 0)
#define PARAMS(n, d)                   XIR_FIELD_(PARAMS,  n, d, .flags = XIR_FIELD_REQUIRED)
#define OPT_PARAMS(n, d)               XIR_FIELD_(PARAMS,  n, d, .flags = XIR_FIELD_OPTIONAL)
#define PARAMSS(n, d)                  XIR_FIELD_(PARAMSS, n, d, .flags = 0)
#define SINGLE_PARAMSS(n, d)           XIR_FIELD_(PARAMSS, n, d, .flags = XIR_FIELD_SINGLE)
#define OPS(n, d)                      XIR_FIELD_(OPS,     n, d, .flags = 0)
#define BOOLS(n, d)                    XIR_FIELD_(BOOLS,   n, d, .flags = 0)
#define I64S(n, d)                     XIR_FIELD_(I64S,    n, d, .flags = 0)
#define REALS(n, d)                    XIR_FIELD_(REALS,   n, d, .flags = 0)
#define TEXTS(n, d)                    XIR_FIELD_(TEXTS,   n, d, .flags = 0)
#define RUNS(n, d)                     XIR_FIELD_(RUNS,    n, d, .flags = 0)
#define NEED_I64(n, lo, hi, d) \
    XIR_FIELD_(I64,  n, d, .flags = XIR_FIELD_REQUIRED, .min = { .i = lo }, .max = { .i = hi })
#define NEED_REAL(n, lo, hi, d) \
    XIR_FIELD_(REAL, n, d, .flags = XIR_FIELD_REQUIRED, .min = { .r = lo }, .max = { .r = hi })
#define NEED_TEXT(n, d)                XIR_FIELD_(TEXT, n, d, .flags = XIR_FIELD_REQUIRED)
#define NEED_I64S(n, d)                XIR_FIELD_(I64S, n, d, .flags = XIR_FIELD_REQUIRED)
#define OPT_I64S(n, d)                 XIR_FIELD_(I64S, n, d, .flags = XIR_FIELD_OPTIONAL)
#define IN(n, d)                       XIR_IN_(IN,  n, d)
#define OPT(n, d)                      XIR_IN_(OPT, n, d)
#define VAR(n, d)                      XIR_IN_(VAR, n, d)
#define OUT(n, d)                      XIR_NOTE_(OUT,   #n, .doc = d)
#define OUTS(n, d)                     XIR_NOTE_(OUTS,  #n, .doc = d)
#define ALIAS(key)                     XIR_NOTE_(ALIAS, #key, .doc = NULL)
#define WAS(n, old)                    XIR_NOTE_(WAS,   #n, .doc = #old)
#define CHECK(f)                       XIR_NOTE_(CHECK, NULL, .fn = f)
#define INFER(f)                       XIR_NOTE_(INFER, NULL, .fn = f)
#define INFER_ON(kind_, f)             XIR_NOTE_(INFER, NULL, .fn = f, .target = kind_)
#define INFER_ALONE(f)                 XIR_NOTE_(INFER, NULL, .flags = XIR_INFER_ALONE, .fn = f)
#define INFER_ALONE_ON(kind_, f)       XIR_NOTE_(INFER, NULL, .flags = XIR_INFER_ALONE, .fn = f, .target = kind_)
#define INFER_FOR(key, f)              XIR_NOTE_(INFER, #key, .fn = f)
#define INFER_TILED(f)                 XIR_NOTE_(INFER, NULL, .flags = XIR_INFER_TILED, .fn = f)
#define INFER_ALONE_TILED(f)           XIR_NOTE_(INFER, NULL, .flags = XIR_INFER_TILED | XIR_INFER_ALONE, .fn = f)
#define FORMULA(text)                  XIR_NOTE_(FORMULA, NULL, .doc = text)
#define GIVES(text)                    XIR_NOTE_(GIVES,   NULL, .doc = text)
#define UNLIKE(text)                   XIR_NOTE_(UNLIKE,  NULL, .doc = text)
#define LAYOUT(...)                    XIR_NOTE_(LAYOUT,  NULL, .doc = #__VA_ARGS__)
#define NORMALISED(...)                XIR_NOTE_(NORMALISED, NULL, .doc = #__VA_ARGS__)
#define SHARES(...)                    XIR_NOTE_(SHARES,  NULL, .doc = #__VA_ARGS__)
#define COMPOSED(text)                 XIR_NOTE_(COMPOSED, NULL, .doc = text)
#define COMPOSED_WITHIN(within, text)  XIR_NOTE_(COMPOSED, NULL, .doc = text, .default_value = { .r = within })
#define WORK(f)                        XIR_NOTE_(WORK,    NULL, .fn = f)
#define TAKES(f)                       XIR_NOTE_(TAKES,   NULL, .fn = f)
#define NEEDS(f)                       XIR_NOTE_(NEEDS,   NULL, .fn = f)
#define NEEDS_WITHIN(f)                XIR_NOTE_(NEEDS,   NULL, .flags = XIR_NEEDS_WIDE, .fn = f)
#define TRAIT(key)                     XIR_NOTE_(TRAIT,   #key, .doc = NULL)
#define FORM(form_)                    XIR_NOTE_(FORM,  NULL, .form = &form_)
#include XIR_DEFS
#include <xir/decl_off.h>

XIR_END
#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#undef XIR_FIELD_
#undef XIR_IN_
#undef XIR_NOTE_
#undef XIR_CLOSE_
#undef XIR_DEFS

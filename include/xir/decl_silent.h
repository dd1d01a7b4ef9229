/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Defines as empty the words of the .def language that declare nothing in C: old names, functions, notes. No guard: it
 * is included once per pass, after decl_off.h. */
#define ALIAS(key)
#define WAS(name, old)
#define CHECK(fn)
#define INFER(fn)
#define INFER_ON(target, fn)
#define INFER_ALONE(fn)
#define INFER_ALONE_ON(target, fn)
#define INFER_FOR(key, fn)
#define INFER_TILED(fn)
#define INFER_ALONE_TILED(fn)
#define FORM(form)
#define FORMULA(text)
#define GIVES(text)
#define UNLIKE(text)
#define LAYOUT(...)
#define NORMALISED(...)
#define WORK(fn)
#define TAKES(fn)
#define NEEDS(fn)
#define NEEDS_WITHIN(fn)
#define TRAIT(key)
#define SHARES(...)
#define COMPOSED(text)
#define COMPOSED_WITHIN(tolerance, text)

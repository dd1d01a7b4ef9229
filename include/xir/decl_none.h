/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Defines every attribute word of the .def language as empty, for passes over a list that need only its other words. No
 * guard: it is included once per pass, after decl_off.h. */
#include <xir/decl_silent.h>
#define BOOL(name, ...)
#define I64(name, ...)
#define U64(name, ...)
#define REAL(name, ...)
#define TEXT(name, ...)
#define ENUM(name, type, ...)
#define REF(name, ...)
#define OPT_REF(name, ...)
#define REFS(name, ...)
#define DEFAULT_REF(name, ...)
#define DEFAULT_REFS(name, ...)
#define MAP(name, ...)
#define PARAMS(name, ...)
#define OPT_PARAMS(name, ...)
#define PARAMSS(name, ...)
#define SINGLE_PARAMSS(name, ...)
#define OPS(name, ...)
#define BOOLS(name, ...)
#define I64S(name, ...)
#define REALS(name, ...)
#define TEXTS(name, ...)
#define RUNS(name, ...)
#define NEED_I64(name, ...)
#define NEED_REAL(name, ...)
#define NEED_TEXT(name, ...)
#define NEED_I64S(name, ...)
#define OPT_I64S(name, ...)
#ifndef IN
#define IN(name, doc)
#define OPT(name, doc)
#define VAR(name, doc)
#endif
#ifndef OUT
#define OUT(name, doc)
#define OUTS(name, doc)
#endif

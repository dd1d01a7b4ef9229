/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Makes, of each `OP (id, …)` of the list that XIR_DEFS names, a type `id` that xir::builder and xir::op take as a
 * template argument. Include it in a namespace of the program's own, after <xir/xir.hpp> and after declare.h has
 * declared the list. No guard: it may be included again for another list. */
#include <xir/decl_off.h>

#define ENUM_OF(id, prefix)
#define MEMBER(prefix, name)
#define END_ENUM(id)
#define OBJ(id, key, base, traits, doc)
#define END_OBJ(id)
#define OP(id, tag, key, traits, doc) using id = ::xir::operation<xir_##id##_attrs, xir_##id##_class, xir_##id##_init>;
#define END(id)
#include <xir/decl_none.h>
#include XIR_DEFS
#include <xir/decl_off.h>
#undef XIR_DEFS

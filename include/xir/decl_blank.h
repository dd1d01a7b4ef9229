/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Defines every word of the .def language as empty. A list that is read for only a few words undefines those after this
 * and defines them again. No guard: it is included once per pass; decl_off.h ends the pass. */
#include <xir/decl_off.h>
#define ENUM_OF(id, prefix)
#define MEMBER(prefix, name)
#define END_ENUM(id)
#define OP(id, tag, key, traits, doc)
#define OBJ(id, key, base, traits, doc)
#define END(id)
#define END_OBJ(id)
#include <xir/decl_none.h>

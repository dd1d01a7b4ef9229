/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes by name, for each kind that op.h has no call for: what they are and what xir_attr calls them is a row, the
 * calls are made of it. */
#include <xir/icraft.h>

/* KIND: the end of the calls' names, the kind, the type of C, the member of xir_attr. */
#define SINGLES(KIND)                                 \
    KIND(u64,    U64,    uint64_t,           u64)     \
    KIND(ref,    REF,    const xir_object *, ref)     \
    KIND(map,    MAP,    xir_map,            map)

#define LISTS(KIND)                                                       \
    KIND(bools,  BOOLS,   const bool *,              xir_bools,  bools)   \
    KIND(reals,  REALS,   const double *,            xir_reals,  reals)   \
    KIND(texts,  TEXTS,   const xir_str *,           xir_texts,  texts)   \
    KIND(refs,   REFS,    const xir_object *const *, xir_refs,   refs)    \
    KIND(runs,   RUNS,    const xir_run *,           xir_runs,   runs)    \
    KIND(values, PARAMSS, xir_value *const *,        xir_values, values)  \
    KIND(ops,    OPS,     xir_op *const *,           xir_ops,    ops)

static xir_status set(xir_op *op, const char *name, xir_attr value) { return xir_op_set(op, xir_str_of(name), &value); }

#define SET(id, K, type, member)                                                  \
    xir_status xir_op_set_##id(xir_op *op, const char *name, type v) {            \
        return set(op, name, (xir_attr){ .kind = XIR_KIND_##K, .as.member = v }); \
    }
#define SET_LIST(id, K, items, type, member)                                                   \
    xir_status xir_op_set_##id(xir_op *op, const char *name, items v, size_t n) {              \
        return set(op, name, (xir_attr){ .kind = XIR_KIND_##K, .as.member = (type){ v, n } }); \
    }
SINGLES(SET)
LISTS(SET_LIST)

/* The attribute, if it is of this kind. */
static xir_status get(const xir_op *op, const char *name, xir_kind kind, xir_attr *out) {
    const xir_status status = xir_op_get(op, xir_str_of(name), out);
    if (status) return status;
    return out->kind != kind ? XIR_E_TYPE : out->is_null ? XIR_E_MISSING : XIR_OK;
}

#define GET(id, K, type, member)                                                   \
    xir_status xir_op_get_##id(const xir_op *op, const char *name, type *out) {    \
        xir_attr value;                                                            \
        const xir_status status = get(op, name, XIR_KIND_##K, &value);             \
        if (!status) *out = value.as.member;                                       \
        return status;                                                             \
    }
#define GET_LIST(id, K, items, type, member) GET(id, K, type, member)
SINGLES(GET)
LISTS(GET_LIST)

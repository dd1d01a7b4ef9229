/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A list of a program's own, declared, defined and used in one file: without a warning in C11 and C++17, also when
 * the list has grown since the calls were written. */
#include <xir/xir.h>

#define XIR_DEFS "list.def"
#include <xir/declare.h>
#define XIR_DEFS "list.def"
#include <xir/define.h>

xir_status tree_op_check(xir_infer *at) { return at ? XIR_OK : XIR_E_MISSING; }
xir_status tree_op_infer(xir_infer *at) { return xir_infer_result(at, xir_infer_input(at, 0)); }

extern xir_value *use(xir_at at, xir_value *x);
xir_value *use(xir_at at, xir_value *x)
{
    xir_tree_op_attrs attrs = xir_tree_op_init();
    attrs.count = 2;
    x = XIR_OP(at, tree_op, .input = x, .attrs = &attrs, .name = "first");
    return XIR_OP(at, tree_op, .input = x, .attrs = XIR_ATTRS(tree_op, (count, 2), (list, XIR_I64S(1, 2)), (slope, 1)));
}

#ifndef __cplusplus
extern xir_op *add(xir_at at, xir_value *x);
xir_op *add(xir_at at, xir_value *x) { return xir_add_tree_op(at, (xir_tree_op_in){ .input = x }, NULL); }
#endif

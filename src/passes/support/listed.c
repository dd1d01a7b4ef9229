/* See listed.h. */
#include "support/listed.h"
#include <xir/ops.h>

bool op_is_listed(const xir_op *op) {
    const xir_class_decl *decl = op->cls->decl;
    if (op->n_inputs < 2 || !op->inputs[1].value || !decl) return false;
    return decl == xir_reshape_class() || decl == xir_expand_class() || decl == xir_tile_class() ||
           decl == xir_slice_class() || decl == xir_pad_class() || decl == xir_resize_class();
}

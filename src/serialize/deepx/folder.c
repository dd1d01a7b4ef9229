/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* See folder.h. */
#include "deepx/folder.h"

const char *const deepx_shape_keys[DEEPX_SHAPE_KEYS] = { "dtype", "dim", "shape", "stride", "size" };

xir_str deepx_file_name(xir_str path) {
    path = deepx_unquoted(path);
    const char *end = path.data + path.size, *start = end;
    while (start > path.data && start[-1] != '/') start--;
    const xir_str name = { start, (size_t)(end - start) };
    const bool dots = xir_str_equal(name, XIR_STR(".")) || xir_str_equal(name, XIR_STR(".."));
    return dots ? (xir_str){ start, 0 } : name;
}

bool deepx_reads_files(const xir_op *op, xir_str *path) {
    const xir_str key = op->cls->key;
    const bool reads = xir_str_equal(key, XIR_STR("deepx::load")) ||
                       xir_str_equal(key, XIR_STR("deepx::loadtensordata"));
    const xir_any *text = xir_map_find(reads ? xir_op_extra(op) : NULL, XIR_STR("arg0"));
    if (!text || text->kind != XIR_ANY_TEXT) return false;
    *path = text->as.text;
    return true;
}

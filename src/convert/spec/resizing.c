/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Images in another size: see resizing.h. */
#include "spec/resizing.h"
#include "spec/maps.h"

static const char *const words[2][3] = {
    { "INTER_NEAREST", "INTER_LINEAR", "" }, { "NEAREST", "BILINEAR", "BICUBIC" },
};

xir_value *op_of_resizing(xir_node *at, xir_value *x, const resizing *r) {
    if (xir_node_failed(at) || !x || !r->size.v) return NULL;
    const xir_str word = xir_str_of(words[r->up][r->way]);
    if (!r->last) x = xir_node_channels_last(at, x);
    const bool known = items_known(&r->size);
    xir_ints size = xir_node_make_ints(at, r->size.n, -1);
    for (size_t k = 0; k < size.n && known; k++) size.v[k] = r->size.v[k].v;
    xir_value *list = known || xir_node_failed(at) ? NULL : make_list(at, &r->size);
    if (xir_node_failed(at)) return NULL;
    x = r->up ? xir_node_make(at, "Upsample", INS(x), SETS(INT("height", size.v[0]), INT("width", size.v[1]),
                                                           WORD("interpolation", word),
                                                           INT("align_corners", r->corners)))
              : xir_node_make(at, "Resize", INS(x, list), SETS(LIST("dsize", &size), WORD("interpolation", word)));
    return x && !r->last ? xir_node_channels_second(at, x) : x;
}

list_items size_of(xir_node *at, const xir_ints *list, size_t first) {
    list_items size = make_items(at, list->n - first, 0);
    for (size_t k = 0; k < size.n; k++) size.v[k] = item_number(list->v[first + k]);
    return size;
}

bool resizing_form_of_op(xir_node *at, resizing *r) {
    const bool up = xir_op_is(at->op, xir_upsample_class());
    *r = (resizing){ .up = up, .corners = up && xir_node_bool(at, "align_corners", false) };
    while (r->way < CELL_CUBIC && !xir_node_is(at, "interpolation", words[up][r->way])) r->way++;
    r->given = up ? NULL : xir_node_optional_input(at, 1);
    r->computed = r->given && !xir_node_is_constant(at, 1);
    return !xir_node_failed(at);
}

bool resizing_of_op(xir_node *at, resizing *r) {
    xir_ints dims;
    if (!resizing_form_of_op(at, r) || !map_result_dims(at, &dims)) return false;
    r->size = size_of(at, &dims, 2);
    return r->size.v;
}

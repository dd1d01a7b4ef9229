/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The public call: it checks the options, makes the picture and calls the writer of the format. */
#include "picture.h"
#include "sized.h"

#define OPTIONS SIZED(xir_draw_options, n_data)

static xir_status check(const xir_network *net, xir_draw_format format, const xir_draw_options *how,
                        xir_write_fn *write, xir_diags *why) {
    const xir_str whole = XIR_STR("");
    if (!net) return xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, whole, "expected a network, found NULL");
    if (!write) return xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, whole, "expected a writer, found NULL");
    if ((unsigned)format > XIR_DRAW_HTML)
        return xir_diags_add(why, XIR_ERROR, XIR_E_INVALID, whole, "%d does not stand for a format", (int)format);
    if ((unsigned)how->group > XIR_DRAW_NONE)
        return xir_diags_add(why, XIR_ERROR, XIR_E_INVALID, whole, "%d does not stand for groups", (int)how->group);
    if (how->group == XIR_DRAW_TAG && !how->tag.size)
        return xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, whole, "groups by tag need the key of the tag");
    if (how->diff && xir_diff_a(how->diff) != net)
        return xir_diags_add(why, XIR_ERROR, XIR_E_INVALID, whole, "the first network of the diff is another one");
    if (how->select && (xir_op_is_erased(how->select) || xir_op_parent(how->select) ||
                        !xir_op_is_placed(how->select) ||
                        (xir_op_network(how->select) != net &&
                         (!how->diff || xir_op_network(how->select) != xir_diff_b(how->diff)))))
        return xir_diags_add(why, XIR_ERROR, XIR_E_INVALID, whole,
                             "the selected op is not in the execution order of the network");
    return XIR_OK;
}

xir_status xir_draw(const xir_network *net, xir_draw_format format, const xir_draw_options *options,
                    xir_write_fn *write, void *user, xir_diags *why) {
    xir_draw_options how;
    xir_status status = sized_take(OPTIONS, &how, options, why);
    if (!status) status = check(net, format, &how, write, why);
    picture p;
    if (!status) status = picture_make(&p, net, &how, why);
    if (status) return status;
    if (format == XIR_DRAW_DOT) status = draw_dot(&p, write, user, why);
    else if (format == XIR_DRAW_SVG) status = draw_svg(&p, write, user, why);
    else status = draw_html(&p, write, user, why);
    picture_free(&p);
    return status;
}

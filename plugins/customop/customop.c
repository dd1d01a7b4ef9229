/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A plug-in whose ops have only attributes. Only the hardware knows what they compute, so their output types are
 * set, not inferred, as for HardOp. */
#include <xir/plugin.h>

#define XIR_DEFS "customop.def"
#include <xir/declare.h>
#define XIR_DEFS "customop.def"
#include <xir/define.h>

const xir_plugin *xir_plugin_entry(void) {
    static xir_class_fn *const classes[] = { xir_image_make_class, xir_det_post_class, xir_det_post_zg_class };
    static const xir_plugin plugin = {
        XIR_PLUGIN_HEAD("customop"),
        .classes = classes, .n_classes = sizeof classes / sizeof classes[0],
    };
    return &plugin;
}

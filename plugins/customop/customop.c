/* A plug-in of attributes alone: what these ops do and give is known to the hardware, so their output types are
 * given, never inferred, as those of HardOp are. */
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

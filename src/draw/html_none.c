/* Stands for the page, which is not in this build. */
#include "picture.h"

xir_status draw_html(const picture *p, xir_write_fn *write, void *user, xir_diags *why) {
    (void)p, (void)write, (void)user;
    return xir_diags_add(why, XIR_ERROR, XIR_E_UNSUPPORTED, XIR_STR(""),
                         "html is not built in; dot and svg are");
}

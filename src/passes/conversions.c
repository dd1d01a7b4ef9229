/* Conversions of plug-ins, until there are some. */
#include "pass.h"

xir_status conversion_check(xir_context *ctx, const xir_convert_row *row, const char **name, xir_diags *why) {
    (void)ctx, (void)row, (void)name;
    return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "this library knows no conversions");
}

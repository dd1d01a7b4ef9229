/* Until there is a writer. */
#include "flat/flat.h"

xir_status flat_write(xir_network *net, const format_writing *how) {
    (void)net;
    return diag_fail(how->why, XIR_E_UNSUPPORTED, XIR_STR(""), "FlatBuffers cannot be written");
}

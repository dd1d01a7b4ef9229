#include "dims.h"
#include "map.h"
#include "pieces.h"

/* Whether some uint64 exceeds int64: then all are computed as reals, which are close. */
static bool has_large(xir_kernel *at, int64_t n) {
    const int64_t *x = xir_kernel_i64s(at, 0);
    for (int64_t i = 0; x && i < n; i++) {
        if (x[i] < 0) return true;
    }
    return false;
}

xir_status map_elements(xir_kernel *at, real_map *of_real, i64_map *of_integer) {
    const void *attrs = xir_kernel_attrs(at);
    const xir_type *in_type = xir_kernel_input_type(at, 0), *out_type = xir_kernel_output_type(at, 0);
    int64_t n;
    if (xir_type_elements(out_type, &n))
        return xir_kernel_fail(at, XIR_E_UNSUPPORTED, "outputs/0", "the dims are unknown");
    if (of_integer && !xir_kernel_is_real(in_type) && !xir_kernel_is_real(out_type) &&
        !(is_u64(in_type) && has_large(at, n))) {
        const int64_t *x = xir_kernel_i64s(at, 0);
        int64_t *y = xir_kernel_i64_out(at, 0);
        if (!x || !y) return XIR_E_MEMORY;
        for (int64_t i = 0, end; (end = next_piece(at, i, n)) > i;) {
            for (; i < end; i++) y[i] = of_integer(x[i], attrs);
        }
        return XIR_OK;
    }
    const double *x = xir_kernel_reals(at, 0);
    double *y = xir_kernel_real_out(at, 0);
    if (!x || !y) return XIR_E_MEMORY;
    for (int64_t i = 0, end; (end = next_piece(at, i, n)) > i;) {
        for (; i < end; i++) y[i] = of_real(x[i], attrs);
    }
    return XIR_OK;
}

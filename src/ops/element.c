#include "element.h"

xir_status computed_element(xir_infer *at, size_t i, const xir_type **out) {
    *out = xir_type_element(xir_infer_input(at, i));
    if (!xir_type_is_quantized(*out)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                          "%s is quantised, and the quantised type of what is computed from it does not follow: give the types "
                          "of the outputs", input_name(at, i));
}

xir_status moved_element(xir_infer *at, size_t i, const int64_t *to, const dim_list *dims, const xir_type **out) {
    (void)to;
    (void)dims;
    return computed_element(at, i, out);
}

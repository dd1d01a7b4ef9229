/* The formats that hold any network: for (size_t i = 0; written_format_at(i, &f); i++). PNNX and NNB are written too,
 * but hold only operators of their own. */
#ifndef SUPPORT_FORMATS_H
#define SUPPORT_FORMATS_H

#include <string.h>
#include <xir/serialize.h>

static inline bool written_format_at(size_t i, xir_format_info *out) {
    *out = XIR_INIT(xir_format_info);
    for (size_t j = 0; xir_format_at(j, out, NULL) == XIR_OK; j++) {
        const bool any = strcmp(out->name, "pnnx") != 0 && strcmp(out->name, "nnb") != 0 && strcmp(out->name, "c") != 0;
        if (out->writes && any && i-- == 0) return true;
    }
    return false;
}

#endif

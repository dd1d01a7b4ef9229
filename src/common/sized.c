/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Structs that begin with their size: see sized.h. */
#include <string.h>
#include "sized.h"

/* No struct is that large: a larger size is uninitialised memory. */
enum { MOST_SIZE = 1 << 16 };

size_t sized_beyond(const void *given, size_t known, size_t size) {
    size_t i = known;
    while (i < size && !((const char *)given)[i]) i++;
    return i < size ? i : size;
}

xir_status sized_check(sized s, const void *out, xir_diags *why) {
    const uint32_t size = *(const uint32_t *)out;
    if (size == 0) {
        return xir_diags_add(why, XIR_ERROR, XIR_E_ABI, XIR_STR(""), "%s has no size: make it with XIR_INIT(%s)",
                             s.name, s.name);
    }
    if (size >= s.least && size <= MOST_SIZE) return XIR_OK;
    return xir_diags_add(why, XIR_ERROR, XIR_E_ABI, XIR_STR(""),
                         "%s has a size of %u bytes, at least %u were expected: make it with "
                         "XIR_INIT(%s)", s.name, size, s.least, s.name);
}

xir_status sized_take(sized s, void *out, const void *given, xir_diags *why) {
    memset(out, 0, s.known);
    if (!given) return XIR_OK;
    const uint32_t size = *(const uint32_t *)given;
    xir_status status = sized_check(s, given, why);
    if (status) return status;
    size_t strange = sized_beyond(given, s.known, size);
    if (strange < size) {
        return xir_diags_add(why, XIR_ERROR, XIR_E_UNSUPPORTED, XIR_STR(""),
                             "%s sets a member that this version does not know: byte %zu is set, its size "
                             "here is %u", s.name, strange, s.known);
    }
    memcpy(out, given, size < s.known ? size : s.known);
    return XIR_OK;
}

xir_status sized_fill(sized s, void *out, const void *made, xir_diags *why) {
    const uint32_t size = *(const uint32_t *)out;
    xir_status status = sized_check(s, out, why);
    if (status) return status;
    memset(out, 0, size);
    memcpy(out, made, size < s.known ? size : s.known);
    *(uint32_t *)out = size;
    return XIR_OK;
}

xir_status sized_take_at(sized s, void *out, const void *items, size_t i, xir_diags *why) {
    const uint32_t first = *(const uint32_t *)items, size = *(const uint32_t *)sized_at(items, i);
    if (size == first || !first) return sized_take(s, out, sized_at(items, i), why);
    memset(out, 0, s.known);
    return xir_diags_add(why, XIR_ERROR, XIR_E_ABI, XIR_STR(""),
                         "item %zu of an array of %s has a size of %u bytes, the first has %u: "
                         "make each with XIR_INIT(%s)", i, s.name, size, first, s.name);
}

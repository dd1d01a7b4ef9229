/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The functions of base.h. */
#include <string.h>
#include <xir/base.h>

#define TEXT_OF(number) #number
#define DOTTED(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *xir_version(void) { return DOTTED(XIR_VERSION_MAJOR, XIR_VERSION_MINOR, XIR_VERSION_PATCH); }

xir_str xir_str_of(const char *terminated) {
    return terminated ? (xir_str){ terminated, strlen(terminated) } : (xir_str){ NULL, 0 };
}

bool xir_str_equal(xir_str a, xir_str b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static const char *const status_names[] = {
    [XIR_OK]            = "ok",
    [XIR_E_MEMORY]      = "memory",
    [XIR_E_IO]          = "io",
    [XIR_E_SYNTAX]      = "syntax",
    [XIR_E_TYPE]        = "type",
    [XIR_E_BOUNDS]      = "bounds",
    [XIR_E_MISSING]     = "missing",
    [XIR_E_EXISTS]      = "exists",
    [XIR_E_UNKNOWN]     = "unknown",
    [XIR_E_IN_USE]      = "in use",
    [XIR_E_CORRUPT]     = "corrupt",
    [XIR_E_INVALID]     = "invalid",
    [XIR_E_STALE]       = "stale",
    [XIR_E_LIMIT]       = "limit",
    [XIR_E_ABI]         = "abi",
    [XIR_E_UNSUPPORTED] = "unsupported",
    [XIR_E_CANCELLED] = "cancelled",
};
_Static_assert(sizeof status_names / sizeof status_names[0] == XIR_STATUS_COUNT, "every status has a name");

const char *xir_status_name(xir_status status) {
    return (unsigned)status < XIR_STATUS_COUNT ? status_names[status] : "?";
}

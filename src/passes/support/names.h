/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Names of values that passes make. */
#ifndef XIR_SUPPORT_NAMES_H
#define XIR_SUPPORT_NAMES_H

#include <string.h>
#include <xir/class.h>
#include "number.h"

/* Returns true if `name` was derived from `from`: a conversion calls an op that it adds around "c" "c.Conv2d". */
static inline bool name_is_made_from(xir_str name, xir_str from) {
    return from.size && name.size > from.size + 1 && name.data[from.size] == '.' &&
           memcmp(name.data, from.data, from.size) == 0;
}

/* Returns true if a conversion has made the name, for an op of the class that it added: "c.Conv2d", "c.Conv2d.2". */
static inline bool name_is_made_for(xir_str name, const xir_class *cls) {
    const xir_str key = xir_class_key(cls);
    size_t from = key.size, end = name.size;
    while (from > 0 && key.data[from - 1] != ':') from--;
    while (end > 0 && is_digit(name.data[end - 1])) end--;
    if (end == name.size || end == 0 || name.data[end - 1] != '.') end = name.size;
    else end--;
    const size_t size = key.size - from;
    return end > size && name.data[end - size - 1] == '.' && memcmp(name.data + end - size, key.data + from, size) == 0;
}

#endif

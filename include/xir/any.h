/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values without a class: tags, undeclared attributes, and the contents of objects of unknown classes. Values are
 * immutable. Integers and reals are distinct kinds. A map's entries are sorted by the bytes of their keys. */
#ifndef XIR_ANY_H
#define XIR_ANY_H

#include <xir/context.h>

XIR_BEGIN

typedef struct xir_value  xir_value;
typedef struct xir_any    xir_any;
typedef struct xir_entry  xir_entry;

typedef enum xir_any_kind {
    XIR_ANY_NULL,
    XIR_ANY_BOOL,
    XIR_ANY_INT,    /* fits int64_t                                                   */
    XIR_ANY_UINT,   /* above INT64_MAX, fits uint64_t                                 */
    XIR_ANY_REAL,
    XIR_ANY_TEXT,
    XIR_ANY_LIST,
    XIR_ANY_MAP,
    XIR_ANY_PARAMS  /* a constant tensor of the network, which owns its bytes         */
} xir_any_kind;

typedef struct xir_list {
    const xir_any *items;
    size_t         size;
} xir_list;

typedef struct xir_map {
    const xir_entry *entries;
    size_t           size;
} xir_map;

struct xir_any {
    xir_any_kind kind;
    union {
        bool       boolean;
        int64_t    integer;
        uint64_t   uinteger;
        double     real;
        xir_str    text;
        xir_list   list;
        xir_map    map;
        xir_value *params;
    } as;
};

struct xir_entry {
    xir_str key;
    xir_any value;
};

/* Make values of each kind. They borrow their arguments. */
XIR_API xir_any xir_any_null(void);
XIR_API xir_any xir_any_bool(bool v);
XIR_API xir_any xir_any_int(int64_t v);
XIR_API xir_any xir_any_real(double v);
XIR_API xir_any xir_any_text(xir_str v);
XIR_API xir_any xir_any_list(const xir_any *items, size_t size);
/* `entries` must be sorted by the bytes of their keys, without duplicate keys. */
XIR_API xir_any xir_any_map(const xir_entry *entries, size_t size);

/* Returns the value of a key, NULL if the map does not have it. Logarithmic. */
XIR_API const xir_any *xir_map_find(const xir_map *map, xir_str key);

/* Returns true if two values are equal. Reals compare by their bits, so NaN equals itself and 0 is not -0. Params
 * compare by identity. */
XIR_API bool xir_any_equal(const xir_any *a, const xir_any *b);
XIR_API bool xir_map_equal(const xir_map *a, const xir_map *b);

XIR_END

#endif

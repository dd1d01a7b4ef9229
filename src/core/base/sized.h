/* Structs that begin with their size, `uint32_t size`, which their maker sets (XIR_INIT). A library takes them from
 * callers that were built with an older or a newer header: what the caller does not know is zero, the default; what
 * the library does not know must be zero. Plug-ins' declarations, which begin with XIR_ABI, and rows of arrays
 * follow the same rule. */
#ifndef CORE_SIZED_H
#define CORE_SIZED_H

#include <xir/diag.h>

/* A struct: its name for findings, its size here, and the size that it had when XIR_ABI got its value. */
typedef struct sized { const char *name; uint32_t known, least; } sized;

/* `last` is the last member that the struct had then. It stays when members are added after it. Structs end without
 * padding, so that a new member is always beyond the size that older callers give. */
#define SIZE_TO(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))
#define SIZED(type, last)   ((sized){ #type, sizeof(type), SIZE_TO(type, last) })

/* Copies what a caller hands over; NULL is the struct that is all zero. XIR_E_ABI if it has no size, or less than
 * every caller has; XIR_E_UNSUPPORTED if it asks for what only a newer library has. `out` then is all zero. */
xir_status sized_take(sized s, void *out, const void *given, xir_diags *why);

/* Fills what a caller hands over to be filled, up to the size that the caller gave and that it keeps. What this
 * library does not know becomes zero. XIR_E_ABI as above: nothing is written then. */
xir_status sized_fill(sized s, void *out, const void *made, xir_diags *why);

/* Item `i` of an array of such structs, which lie as far apart as the first one is large. */
static inline const void *sized_at(const void *items, size_t i) {
    return (const char *)items + i * *(const uint32_t *)items;
}

/* Copies item `i` of an array. XIR_E_ABI also if it has another size than the first. */
xir_status sized_take_at(sized s, void *out, const void *items, size_t i, xir_diags *why);

/* Where the first byte lies that is not zero, from `known` on and below `size`; `size` if there is none. */
size_t sized_beyond(const void *given, size_t known, size_t size);

#endif

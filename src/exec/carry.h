/* Elements that are copied from one input to one output: as bytes if both have the same element type with whole bytes,
 * otherwise as numbers. */
#ifndef EXEC_CARRY_H
#define EXEC_CARRY_H

#include <string.h>
#include "kernel.h"
#include "kernels.h"

typedef enum carried { CARRIED_BYTES, CARRIED_REALS, CARRIED_I64S } carried;

typedef struct carrier {
    const char *from;
    char       *to;
    size_t      size;   /* bytes of an element */
    carried     as;
} carrier;

/* The elements of another input of the same type, in the form that `m` uses. NULL on out of memory. */
static inline const char *carried_input(xir_kernel *at, const carrier *m, size_t input) {
    if (m->as == CARRIED_BYTES) return xir_kernel_bytes(at, input);
    return m->as == CARRIED_REALS ? (const char *)xir_kernel_reals(at, input)
           : (const char *)xir_kernel_i64s(at, input);
}

/* Copies as numbers, for any element type. The kernel writes all elements. False on out of memory. */
static inline bool carry_reals(xir_kernel *at, carrier *m, size_t output, size_t input) {
    *m = (carrier){ .as = CARRIED_REALS, .size = sizeof(double) };
    m->from = carried_input(at, m, input);
    m->to = (char *)kernel_all_reals(at, output);
    return m->from && m->to;
}

/* As bytes if they mean the same, else as numbers. The kernel writes all elements. False on out of memory. */
static inline bool carry_begin(xir_kernel *at, carrier *m, size_t output, size_t input) {
    const xir_type *in = xir_kernel_input_type(at, input), *out = xir_kernel_output_type(at, output);
    size_t bytes = xir_kernel_same_elements(at, output, input) ? xir_kernel_element_bytes(in) : 0;
    m->as = bytes ? CARRIED_BYTES : xir_kernel_is_real(in) || xir_kernel_is_real(out) ? CARRIED_REALS : CARRIED_I64S;
    m->size = bytes ? bytes : 8;
    m->from = carried_input(at, m, input);
    m->to = m->as == CARRIED_BYTES ? kernel_all_bytes(at, output)
          : m->as == CARRIED_REALS ? (char *)kernel_all_reals(at, output) : (char *)kernel_all_i64s(at, output);
    return m->from && m->to;
}

/* The same for a kernel that also sets elements to zero: as numbers where the integer 0 stands for another one. */
static inline bool carry_begin_zeros(xir_kernel *at, carrier *m, size_t output, size_t input) {
    const xir_i64s zeros = xir_type_zero_points(xir_kernel_output_type(at, output));
    for (size_t i = 0; i < zeros.size; i++)
        if (zeros.data[i]) return carry_reals(at, m, output, input);
    return carry_begin(at, m, output, input);
}

/* Sets elements [to, to + n) of the output to zero. */
static inline void carry_zeros(const carrier *m, int64_t to, int64_t n) {
    memset(m->to + (size_t)to * m->size, 0, (size_t)n * m->size);
}

/* Copies n consecutive elements. */
static inline void carry(const carrier *m, int64_t to, int64_t from, int64_t n) {
    memcpy(m->to + (size_t)to * m->size, m->from + (size_t)from * m->size, (size_t)n * m->size);
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "map.h"
#include "dims.h"
#include "spread.h"

/* Returns true if some uint64 exceeds int64: then all are computed as reals, which are close. */
static bool has_large(const reader *r, size_t count) {
    int64_t room[BLOCK], any = 0;
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = count - i < BLOCK ? count - i : BLOCK;
        const int64_t *x = read_i64s(r, i, n, room);
        for (size_t k = 0; k < n; k++) any |= x[k];
    }
    return any < 0;
}

typedef struct mapping {
    reader      x;
    writer      y;
    real_map   *of_reals;
    i64_map    *of_integers;
    const void *attrs;
} mapping;

static void map_reals(size_t from, size_t n, void *user) {
    const mapping *m = user;
    double room[BLOCK], out[BLOCK];
    m->of_reals(read_reals(&m->x, from, n, room), out, n, m->attrs);
    write_reals(&m->y, from, n, out);
}

static void map_i64s(size_t from, size_t n, void *user) {
    const mapping *m = user;
    int64_t room[BLOCK], out[BLOCK];
    m->of_integers(read_i64s(&m->x, from, n, room), out, n, m->attrs);
    write_i64s(&m->y, from, n, out);
}

xir_status map_elements(xir_kernel *at, real_map *of_reals, i64_map *of_integers) {
    const xir_type *in_type = xir_kernel_input_type(at, 0), *out_type = xir_kernel_output_type(at, 0);
    mapping m = { .of_reals = of_reals, .of_integers = of_integers, .attrs = xir_kernel_attrs(at) };
    int64_t n;
    if (xir_type_elements(out_type, &n))
        return xir_kernel_fail(at, XIR_E_UNSUPPORTED, "outputs/0", "the dims are unknown");
    if (!reader_open(&m.x, at, 0) || !writer_open(&m.y, at, 0)) return XIR_E_MEMORY;
    const bool integers = of_integers && !xir_kernel_is_real(in_type) && !xir_kernel_is_real(out_type) &&
        !(is_u64(in_type) && has_large(&m.x, (size_t)n));
    return spread_blocks(at, (size_t)n, integers ? map_i64s : map_reals, &m);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "carry.h"

bool carry_from(xir_kernel *at, carrier *m, size_t input) {
    if (m->as_bytes) return (m->from = xir_kernel_bytes(at, input)) != NULL;
    return reader_open(&m->x, at, input);
}

bool carry_begin_numbers(xir_kernel *at, carrier *m, size_t output, size_t input, bool real) {
    *m = (carrier){ .real = real, .size = sizeof(number) };
    return carry_from(at, m, input) && writer_open(&m->y, at, output);
}

static bool begin_bytes(xir_kernel *at, carrier *m, size_t output, size_t input, size_t size) {
    *m = (carrier){ .as_bytes = true, .size = size };
    return carry_from(at, m, input) && (m->to = kernel_all_bytes(at, output));
}

bool carry_begin(xir_kernel *at, carrier *m, size_t output, size_t input) {
    const xir_type *in = xir_kernel_input_type(at, input), *out = xir_kernel_output_type(at, output);
    const size_t size = xir_kernel_same_elements(at, output, input) ? xir_kernel_element_bytes(in) : 0;
    if (size) return begin_bytes(at, m, output, input, size);
    return carry_begin_numbers(at, m, output, input, xir_kernel_is_real(in) || xir_kernel_is_real(out));
}

bool carry_begin_zeros(xir_kernel *at, carrier *m, size_t output, size_t input) {
    const xir_i64s zeros = xir_type_zero_points(xir_kernel_output_type(at, output));
    for (size_t i = 0; i < zeros.size; i++)
        if (zeros.data[i]) return carry_begin_numbers(at, m, output, input, true);
    return carry_begin(at, m, output, input);
}

bool carry_begin_all(xir_kernel *at, carrier *m, size_t output) {
    const xir_type *out = xir_kernel_output_type(at, output);
    bool same = true, real = xir_kernel_is_real(out);
    for (size_t i = 0; i < xir_kernel_input_count(at); i++) {
        same = same && xir_kernel_same_elements(at, output, i);
        real = real || xir_kernel_is_real(xir_kernel_input_type(at, i));
    }
    const size_t size = same ? xir_kernel_element_bytes(out) : 0;
    return size ? begin_bytes(at, m, output, 0, size) : carry_begin_numbers(at, m, output, 0, real);
}

/* ---- as numbers ------------------------------------------------------------------------------------------------- */

static int64_t at_most(int64_t n, int64_t most) { return n < most ? n : most; }

void carry_numbers(const carrier *m, int64_t to, int64_t from, int64_t n) {
    number room[BLOCK];
    for (int64_t i = 0, some; i < n; i += some) {
        some = at_most(n - i, BLOCK);
        copy_numbers(&m->x, m->real, (size_t)(from + i), (size_t)some, room);
        write_numbers(&m->y, m->real, (size_t)(to + i), (size_t)some, room);
    }
}

void carry_zeros(const carrier *m, int64_t to, int64_t n) {
    number room[BLOCK];
    if (m->as_bytes) {
        memset(m->to + (size_t)to * m->size, 0, (size_t)n * m->size);
        return;
    }
    for (int64_t i = 0, some; i < n; i += some) {
        some = at_most(n - i, BLOCK);
        memset(room, 0, (size_t)some * sizeof *room);
        write_numbers(&m->y, m->real, (size_t)(to + i), (size_t)some, room);
    }
}

static void numbers_at(const carrier *m, size_t to, int64_t base, const int64_t *places, size_t n, number new_element) {
    number room[BLOCK];
    read_numbers_at(&m->x, m->real, base, places, n, room);
    for (size_t i = 0; i < n; i++) if (places[i] < 0) room[i] = new_element;
    write_numbers(&m->y, m->real, to, n, room);
}

void carry_at(const carrier *m, int64_t to, int64_t base, const int64_t *places, int64_t n, const void *new_element) {
    if (!m->as_bytes) {
        number one = { .integer = 0 };
        if (new_element) memcpy(&one, new_element, sizeof one);
        for (int64_t i = 0; i < n; i += BLOCK)
            numbers_at(m, (size_t)(to + i), base, places + i, (size_t)at_most(n - i, BLOCK), one);
        return;
    }
    char *restrict out = m->to + (size_t)to * m->size;
    const char *restrict in = m->from;
    EACH_SIZE (m->size, for (int64_t i = 0; i < n; i++)
               memcpy(out + (size_t)i * SIZE, places[i] < 0 ? (const char *)new_element
                      : in + (base + places[i]) * (int64_t)SIZE, SIZE))
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static void carry_block(size_t from, size_t n, void *user) { carry(user, (int64_t)from, (int64_t)from, (int64_t)n); }

xir_status carry_all(xir_kernel *at, const carrier *m, int64_t n) {
    carrier own = *m;
    return spread_blocks(at, (size_t)n, carry_block, &own);
}

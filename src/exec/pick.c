/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "pick.h"
#include "pool.h"

bool pick_open(pick *p, xir_kernel *at, size_t output) {
    const xir_type *to = xir_kernel_output_type(at, output), *from = xir_kernel_input_type(at, 0);
    size_t own = xir_type_rank(from), total = 0;
    *p = (pick){ .rank = xir_type_rank(to) };
    p->dims = xir_kernel_alloc(at, p->rank + 1, sizeof *p->dims);
    p->from = xir_kernel_alloc(at, p->rank + 1, sizeof *p->from);
    p->strides = xir_kernel_alloc(at, own + 1, sizeof *p->strides);
    if (!p->dims || !p->from || !p->strides) return false;
    for (size_t k = 0; k < p->rank; k++) total += p->dims[k] = dim_of(to, k);
    int64_t *room = xir_kernel_alloc(at, total + 1, sizeof *room);
    if (!room) return false;
    for (size_t k = 0; k < p->rank; k++) {
        p->from[k] = room;
        room += p->dims[k];
    }
    size_t stride = 1;
    for (size_t k = own; k-- > 0;) {
        p->strides[k] = stride;
        stride *= dim_of(from, k);
    }
    return true;
}

void pick_along(pick *p, size_t k, size_t j, int64_t first, int64_t step) {
    int64_t stride = (int64_t)p->strides[j];
    for (size_t i = 0; i < p->dims[k]; i++) p->from[k][i] = (first + (int64_t)i * step) * stride;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* A pick whose tables are complete. */
typedef struct picking {
    const pick    *p;
    const carrier *m;
    const int64_t *last;        /* the table of the last dim                             */
    size_t         outer, row;  /* the other dims, and elements of a row                 */
    bool           neighbours;  /* a row is consecutive in the input                     */
    const char    *new_element;
    size_t         across;      /* an outer dim along which the input is consecutive     */
    size_t         apart;       /* elements of the output from one of its indices to the next */
    size_t         tall, broad; /* tiles along it, and along the last dim                */
} picking;

static void put_copies(char *restrict to, size_t size, size_t n, const char *restrict element) {
    EACH_SIZE (size, for (size_t i = 0; i < n; i++) memcpy(to + i * SIZE, element, SIZE))
}

/* Copies row `to`, whose elements are at `at` + table in the input. */
static void put_row(const picking *k, size_t to, int64_t at) {
    if (k->neighbours) carry(k->m, (int64_t)to, at + k->last[0], (int64_t)k->row);
    else carry_at(k->m, (int64_t)to, at, k->last, (int64_t)k->row, k->new_element);
}

/* Returns the position of place r of the first `dims` dims in the input; NEW if it is not in it. */
static int64_t place_at(const picking *k, size_t dims, size_t r) {
    int64_t at = k->p->base;
    for (size_t d = dims; d-- > 0; r /= k->p->dims[d]) {
        const int64_t add = k->p->from[d][r % k->p->dims[d]];
        if (add == NEW) return NEW;
        at += add;
    }
    return at;
}

/* Short rows are counted together. An element that is picked by itself, and the place of a row along a dim, take as
 * long as some elements that are copied in order. */
enum { FEW_STEPS = 96, STEPS_PICKED = 3, STEPS_PLACED = 8 };

static void put_rows(pool_share *share, size_t from, size_t to, void *user) {
    static const int64_t one[] = { 0 };
    const picking *k = user;
    const size_t few = k->outer ? k->outer - 1 : 0, n = k->outer ? k->p->dims[few] : 1;
    const int64_t *table = k->outer ? k->p->from[few] : one;
    int64_t base = 0;
    size_t steps = 0, i = from % n;
    for (size_t r = from; r < to; r++) {
        if (r == from || i == 0) base = place_at(k, few, r / n);
        const int64_t at = base == NEW || table[i] == NEW ? NEW : base + table[i];
        i = i + 1 == n ? 0 : i + 1;
        if (at == NEW) put_copies(k->m->to + r * k->row * k->m->size, k->m->size, k->row, k->new_element);
        else           put_row(k, r * k->row, at);
        steps += k->row;
        if (steps < FEW_STEPS || r + 1 == to) continue;
        if (pool_stops(share, steps)) return;
        steps = 0;
    }
}

/* ---- tiles ------------------------------------------------------------------------------------------------------ */

/* If a row takes elements that are far apart in the input, but the rows of another dim take their neighbours, tiles of
 * both dims are copied, so that every cache line is read once. */
enum { TALL = 16, BROAD = 32 };

/* The tile is put together by itself: if rows of the output are a power of two apart, few of them fit into the cache at
 * a time, and each has to be written at once. */
static void put_tile(const picking *k, size_t to, int64_t at, size_t rows, size_t i, size_t end) {
    char tile[TALL * BROAD * sizeof(uint64_t)];
    const size_t size = k->m->size, row = end - i;
    const bool apart = size > sizeof(uint64_t);
    char *out = apart ? k->m->to + (to + i) * size : tile;
    const size_t step = apart ? k->apart : BROAD;
    const char *restrict in = k->m->from;
    const int64_t *table = k->last + i;
    EACH_SIZE (size,
               for (size_t c = 0; c < row; c++) {
                   const char *restrict element = in + (at + table[c]) * (int64_t)SIZE;
                   for (size_t j = 0; j < rows; j++) memcpy(out + (j * step + c) * SIZE, element + j * SIZE, SIZE);
               })
    for (size_t j = 0; j < rows && !apart; j++)
        memcpy(k->m->to + (to + j * k->apart + i) * size, tile + j * BROAD * size, row * size);
}

static size_t parts(size_t n, size_t each) { return n / each + (n % each != 0); }
static size_t at_most(size_t n, size_t most) { return n < most ? n : most; }

/* A tile: its place along the last dim, along the dim across, and in the other dims. */
static void put_tiles(pool_share *share, size_t from, size_t to, void *user) {
    const picking *k = user;
    const pick *p = k->p;
    for (size_t tile = from; tile < to; tile++) {
        size_t rest = tile, out = 0, stride = k->row;
        const size_t i = rest % k->broad * BROAD, j = rest / k->broad % k->tall * TALL;
        const size_t rows = at_most(p->dims[k->across] - j, TALL), end = i + at_most(k->row - i, BROAD);
        int64_t at = p->base + p->from[k->across][j];
        bool is_new = false;
        rest = rest / k->broad / k->tall;
        for (size_t d = k->outer; d-- > 0; stride *= p->dims[d]) {
            if (d == k->across) {
                out += j * stride;
                continue;
            }
            const size_t index = rest % p->dims[d];
            rest /= p->dims[d];
            out += index * stride;
            is_new = is_new || p->from[d][index] == NEW;
            at += p->from[d][index];
        }
        if (!is_new) {
            put_tile(k, out, at, rows, i, end);
        } else {
            for (size_t r = 0; r < rows; r++)
                put_copies(k->m->to + (out + r * k->apart + i) * k->m->size, k->m->size, end - i, k->new_element);
        }
        if (tile + 1 < to && pool_stops(share, rows * (end - i))) return;
    }
}

static bool is_consecutive(const int64_t *table, size_t n) {
    bool all = n > 0 && table[0] != NEW;
    for (size_t i = 1; all && i < n; i++) all = table[i] == table[0] + (int64_t)i;
    return all;
}

/* Returns true if tiles are worth it; sets the dim across. */
static bool has_tiles(picking *k) {
    const pick *p = k->p;
    for (size_t i = 0; i < k->row; i++) if (k->last[i] == NEW) return false;
    k->apart = k->row;
    for (size_t d = k->outer; d-- > 0; k->apart *= p->dims[d]) {
        if (p->dims[d] < 4 || !is_consecutive(p->from[d], p->dims[d])) continue;
        k->across = d;
        k->tall = parts(p->dims[d], TALL);
        k->broad = parts(k->row, BROAD);
        return true;
    }
    return false;
}

/* ---- as numbers ------------------------------------------------------------------------------------------------- */

/* A block of the output, which may begin and end within rows. */
static void put_block(size_t from, size_t n, void *user) {
    const picking *k = user;
    int64_t places[BLOCK];
    for (size_t i = 0, some; i < n; i += some) {
        const size_t r = (from + i) / k->row, first = (from + i) % k->row;
        const int64_t at = place_at(k, k->outer, r);
        some = at_most(k->row - first, n - i);
        for (size_t j = 0; j < some; j++)
            places[i + j] = at == NEW || k->last[first + j] == NEW ? NEW : at + k->last[first + j];
    }
    carry_at(k->m, (int64_t)from, 0, places, (int64_t)n, k->new_element);
}

xir_status pick_carry(pick *p, xir_kernel *at, const carrier *m, const void *fill) {
    static const int64_t zero = 0;
    const size_t outer = p->rank ? p->rank - 1 : 0;
    picking k = { .p = p, .m = m, .last = p->rank ? p->from[outer] : &zero, .outer = outer,
                  .row = p->rank ? p->dims[outer] : 1 };
    k.new_element = fill ? fill : xir_kernel_alloc(at, 1, m->size);
    if (!k.new_element) return XIR_E_MEMORY;
    size_t rows = k.row ? 1 : 0;
    for (size_t d = 0; d < outer; d++) rows *= p->dims[d];
    if (rows == 0) return XIR_OK;
    k.neighbours = is_consecutive(k.last, k.row);
    if (!m->as_bytes) return spread_blocks(at, rows * k.row, put_block, &k);
    bool done;
    if (!k.neighbours && k.row >= 4 && has_tiles(&k)) {
        const size_t tiles = rows / p->dims[k.across] * k.tall * k.broad;
        done = pool_for(at, tiles, STEPS_PICKED * TALL * BROAD, put_tiles, &k);
    } else {
        const size_t steps = (k.neighbours ? STEPS_A_COPY : STEPS_PICKED) * k.row;
        done = pool_for(at, rows, steps + STEPS_PLACED * p->rank, put_rows, &k);
    }
    return done ? XIR_OK : XIR_E_CANCELLED;
}

xir_status pick_run(pick *p, xir_kernel *at, size_t output) {
    carrier m;
    if (!carry_begin(at, &m, output, 0)) return XIR_E_MEMORY;
    return pick_carry(p, at, &m, NULL);
}

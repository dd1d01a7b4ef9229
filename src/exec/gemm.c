/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The blocks of a product. A processor's second cache holds a block of left panels, its first one a right panel, and
 * its registers a tile of sums. With few rows, threads take columns, and each copies its right panels once. With many,
 * all right panels of some columns are copied first, and threads take blocks of rows.
 *
 * Depth is cut into chunks. Between two chunks sums wait: in the result, if sums are the result; otherwise in memory,
 * and then the product is cut into areas whose sums fit the caches. */
#include "gemm.h"
#include "pool.h"

enum {
    ROWS    = 192,           /* of a block of left panels                                                        */
    DEPTH   = GEMM_DEPTH,    /* of a panel                                                                       */
    CHUNK   = 8192,          /* of all panels that exist at a time, unless the sums are the result               */
    SHARED  = 1 << 20,       /* doubles of right panels that are copied first                                    */
    WIDE    = 480,           /* columns of right panels that are copied first: a multiple of all widths of panels  */
    WIDEST  = 2040,          /* the same if the sums are the result: there is no other room for them             */
    GROUP   = 4,             /* right panels that one thread copies together                                     */
    TAKEN   = 48,            /* rows of a right panel whose sums are handed over together                        */
    AREA    = 1 << 17,       /* sums that wait                                                                   */
    AREA_ROWS = 384,
    ALIGNED = 64,
    STEPS_A_STOP = 4096,     /* between two questions whether to stop                                            */
};

typedef struct range { size_t first, n; } range;

typedef struct run {
    const gemm *g;
    size_t      batch;
    size_t      tall, broad;       /* of panels                                                                   */
    size_t      chunk;             /* most depths of one                                                          */
    size_t      k, depth;          /* the chunk                                                                   */
    range       rows, columns;     /* the area                                                                    */
    range       ready;             /* columns whose right panels are in `shared`                                  */
    size_t      most;              /* of them                                                                     */
    size_t      block;             /* rows of a block                                                             */
    double     *shared;            /* panels of one side of the chunk                                             */
    double     *sums;              /* of the area; NULL if there is one chunk                                     */
    size_t      step;              /* between its rows                                                            */
    double     *own;               /* of each thread: left panels, right panels, sums                             */
    size_t      own_left, own_right, own_all;
} run;

static size_t least(size_t a, size_t b)       { return a < b ? a : b; }
static size_t padded(size_t n, size_t unit)   { return (n + unit - 1) / unit * unit; }
static size_t parts(size_t n, size_t most)    { return n ? (n + most - 1) / most : 1; }
static range part_of(size_t first, size_t n, size_t most) { return (range){ first, least(n - first, most) }; }

/* Returns the room in which the sums of [row, column] wait; NULL if they do not. */
static double *place_of(const run *r, size_t row, size_t column) {
    return r->sums ? r->sums + (row - r->rows.first) * r->step + (column - r->columns.first) : NULL;
}

/* Panels of one side for some items and a part of the chunk, one after the other. */
static void copy_panels(const run *r, bool left, range items, size_t k, size_t depth, double *out) {
    const size_t unit = left ? r->tall : r->broad;
    if (!depth) return;
    for (size_t i = 0; i < items.n; i += unit, out += unit * depth) {
        const gemm_panel p = { r->batch, items.first + i, least(unit, items.n - i), k, depth, unit, out };
        if (p.n < unit) memset(out, 0, unit * depth * sizeof *out);   // what a tile computes besides its rows
        if (left) r->g->left(r->g->left_of, &p);
        else r->g->right(r->g->right_of, &p);
    }
}

/* A tile beyond whose edges lie the sums of others: it is computed elsewhere. */
static void multiply_edge(gemm_tile *tile, const double *left, const double *right, size_t depth, size_t rows,
                          size_t columns, double *at, size_t step, bool begin) {
    double room[GEMM_MOST_TALL * GEMM_MOST_BROAD] = { 0 };
    for (size_t i = 0; i < rows && !begin; i++)
        memcpy(room + i * GEMM_MOST_BROAD, at + i * step, columns * sizeof *at);
    tile(left, right, depth, room, GEMM_MOST_BROAD, begin);
    for (size_t i = 0; i < rows; i++) memcpy(at + i * step, room + i * GEMM_MOST_BROAD, columns * sizeof *at);
}

/* Multiplies left panels of some rows by right panels of some columns, both of `depth`. `sums` is the place of the
 * first one; the last part of the depth hands them over. False if the run is cancelled. */
static bool multiply(const run *r, pool_share *share, const double *left, const double *right, range rows,
                     range columns, size_t k, size_t depth, double *sums, size_t step) {
    const gemm *g = r->g;
    const size_t lanes = g->path->lanes;
    const bool last = !g->sums && k + depth == g->depth;
    uint64_t steps = 0;
    for (size_t j = 0; j < columns.n; j += r->broad, right += r->broad * depth) {
        const size_t n = least(r->broad, columns.n - j);
        for (size_t i = 0, taken = 0; i < rows.n; i += r->tall) {
            const size_t m = least(r->tall, rows.n - i);
            double *at = sums + i * step + j;
            gemm_tile *tile = gemm_tile_for(g->path, g->exact, m, n);
            if (g->sums && (m < r->tall || n % lanes)) {
                multiply_edge(tile, left + i * depth, right, depth, m, n, at, step, k == 0);
            } else {
                tile(left + i * depth, right, depth, at, step, k == 0);
            }
            if (last && (i + m == rows.n || i + m - taken >= TAKEN)) {
                const gemm_sums done = { r->batch, rows.first + taken, i + m - taken, columns.first + j, n, step,
                                         sums + taken * step + j };
                g->take(g->out, &done);
                taken = i + m;
            }
            steps += r->tall * r->broad * (depth + 1);
            if (steps >= STEPS_A_STOP && pool_stops(share, steps)) return false;
            if (steps >= STEPS_A_STOP) steps = 0;
        }
    }
    return true;
}

/* ---- few rows: threads take columns ------------------------------------------------------------------------------ */

/* Groups [from, to) of right panels. The left panels of the chunk are in `shared`, or, for a batch of its own, are
 * copied here. */
static bool multiply_groups(const run *r, pool_share *share, range rows, size_t from, size_t to, bool shared) {
    double *own = r->own + pool_thread(share) * r->own_all, *right = own + r->own_left, *sums = right + r->own_right;
    const size_t wide = GROUP * r->broad, tall = padded(rows.n, r->tall);
    for (size_t j = from * wide; j < least(to * wide, r->columns.n); j += wide) {
        const range columns = { r->columns.first + j, least(wide, r->columns.n - j) };
        double *waiting = place_of(r, rows.first, columns.first);
        size_t k = 0;
        do {
            const size_t depth = least(DEPTH, r->depth - k);
            const double *left = shared ? r->shared + k * tall : own;
            if (!shared) copy_panels(r, true, rows, r->k + k, depth, own);
            copy_panels(r, false, columns, r->k + k, depth, right);
            if (!multiply(r, share, left, right, rows, columns, r->k + k, depth, waiting ? waiting : sums,
                          waiting ? r->step : wide)) return false;
            k += depth;
        } while (k < r->depth);
    }
    return true;
}

static void take_groups(pool_share *share, size_t from, size_t to, void *user) {
    const run *r = user;
    multiply_groups(r, share, r->rows, from, to, true);
}

static size_t groups_of(const run *r) {
    const size_t wide = GROUP * r->broad;
    return (r->columns.n + wide - 1) / wide;
}

/* Left panels of the chunk, DEPTH at a time. */
static void copy_lefts(pool_share *share, size_t from, size_t to, void *user) {
    const run *r = user;
    const size_t tall = padded(r->rows.n, r->tall);
    (void)share;
    for (size_t k = from * DEPTH; k < least(to * DEPTH, r->depth); k += DEPTH) {
        copy_panels(r, true, r->rows, r->k + k, least(DEPTH, r->depth - k), r->shared + k * tall);
    }
}

static bool run_columns(xir_kernel *at, run *r) {
    const size_t wide = GROUP * r->broad;
    if (!pool_for(at, (r->depth + DEPTH - 1) / DEPTH, 4 * r->rows.n * DEPTH, copy_lefts, r)) return false;
    return pool_for(at, groups_of(r), (r->rows.n + 8) * wide * (r->depth + 1) / 2, take_groups, r);
}

/* ---- many rows: threads take them -------------------------------------------------------------------------------- */

static void copy_rights(pool_share *share, size_t from, size_t to, void *user) {
    const run *r = user;
    (void)share;
    for (size_t j = from; j < to; j++) {
        const range columns = part_of(j * r->broad, r->ready.n, r->broad);
        for (size_t k = 0; k < r->depth; k += DEPTH) {
            const size_t depth = least(DEPTH, r->depth - k);
            copy_panels(r, false, (range){ r->ready.first + columns.first, columns.n }, r->k + k, depth,
                        r->shared + k * padded(r->ready.n, r->broad) + columns.first * depth);
        }
    }
}

static void take_blocks(pool_share *share, size_t from, size_t to, void *user) {
    const run *r = user;
    double *own = r->own + pool_thread(share) * r->own_all, *sums = own + r->own_left;
    const size_t wide = padded(r->ready.n, r->broad);
    for (size_t i = from * r->block; i < least(to * r->block, r->rows.n); i += r->block) {
        const range rows = { r->rows.first + i, least(r->block, r->rows.n - i) };
        double *waiting = place_of(r, rows.first, r->ready.first);
        size_t k = 0;
        do {
            const size_t depth = least(DEPTH, r->depth - k);
            copy_panels(r, true, rows, r->k + k, depth, own);
            if (!multiply(r, share, own, r->shared + k * wide, rows, r->ready, r->k + k, depth,
                          waiting ? waiting : sums, waiting ? r->step : wide)) return;
            k += depth;
        } while (k < r->depth);
    }
}

static bool run_rows(xir_kernel *at, run *r) {
    for (size_t j = 0; j < r->columns.n; j += r->ready.n) {
        r->ready = (range){ r->columns.first + j, least(r->most, r->columns.n - j) };
        if (!pool_for(at, (r->ready.n + r->broad - 1) / r->broad, 2 * r->broad * (r->depth + 1), copy_rights, r))
            return false;
        if (!pool_for(at, (r->rows.n + r->block - 1) / r->block, r->block * r->ready.n * (r->depth + 1) / 2,
                      take_blocks, r)) return false;
    }
    return true;
}

/* ---- many products: threads take whole ones ---------------------------------------------------------------------- */

static void begin_batch(run *r, size_t batch) {
    r->batch = batch;
    if (r->g->sums) r->sums = r->g->sums + batch * r->g->sums_batch;
}

static void take_batches(pool_share *share, size_t from, size_t to, void *user) {
    run r = *(const run *)user;
    for (size_t batch = from; batch < to; batch++) {
        begin_batch(&r, batch);
        for (size_t i = 0; i < r.g->rows; i += r.block) {
            if (!multiply_groups(&r, share, part_of(i, r.g->rows, r.block), 0, groups_of(&r), false)) return;
        }
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static size_t rounded_block(size_t rows, size_t threads, size_t tall) {
    size_t blocks = (rows + ROWS - 1) / ROWS;
    if (blocks > 1 || rows > ROWS) blocks = padded(blocks, threads);
    return padded((rows + blocks - 1) / blocks, tall);
}

typedef struct memory { void *block; size_t size; } memory;

/* Aligned room for doubles, not cleared; NULL without memory. */
static double *room_for(xir_kernel *at, memory *m, size_t n, size_t times) {
    size_t bytes;
    if (__builtin_mul_overflow(n, times, &bytes) || bytes > (SIZE_MAX - ALIGNED) / sizeof(double)) return NULL;
    m->size = bytes * sizeof(double) + ALIGNED;
    m->block = rooms_take(at->rooms, &at->ctx->alloc, m->size);
    if (!m->block) return NULL;
    return (double *)(((uintptr_t)m->block + ALIGNED - 1) / ALIGNED * ALIGNED);
}

static void give_back(xir_kernel *at, const memory *m) {
    if (m->block) rooms_give(at->rooms, &at->ctx->alloc, m->block, m->size);
}

/* The way in which threads divide work: by columns, or by whole products. */
typedef struct way { bool few, each; } way;

static way way_of(const gemm *g, size_t threads) {
    const bool each = g->batches > 1 && g->rows <= 2 * ROWS &&
                      (g->batches >= 2 * threads || g->depth * g->columns * g->rows < 1 << 20);
    return (way){ .few = g->rows <= ROWS, .each = each };
}

/* Chunk after chunk of the area. */
static bool run_area(xir_kernel *at, run *r, way w) {
    r->k = 0;
    do {
        r->depth = least(r->chunk, r->g->depth - r->k);
        if (!(w.few ? run_columns(at, r) : run_rows(at, r))) return false;
        r->k += r->depth;
    } while (r->k < r->g->depth);
    return true;
}

static xir_status run_all(xir_kernel *at, run *r, way w, size_t rows, size_t columns) {
    const gemm *g = r->g;
    r->rows = (range){ 0, g->rows };
    r->columns = (range){ 0, g->columns };
    if (w.each) {
        r->depth = g->depth;
        const uint64_t steps = (uint64_t)(g->rows + 8) * (g->columns + 8) * (g->depth + 8) / 2;
        return pool_for(at, g->batches, steps, take_batches, r) ? XIR_OK : XIR_E_CANCELLED;
    }
    for (size_t batch = 0; batch < g->batches; batch++) {
        begin_batch(r, batch);
        for (size_t j = 0; j < g->columns; j += columns) {
            for (size_t i = 0; i < g->rows; i += rows) {
                r->rows = part_of(i, g->rows, rows);
                r->columns = part_of(j, g->columns, columns);
                if (!run_area(at, r, w)) return XIR_E_CANCELLED;
            }
        }
    }
    return XIR_OK;
}

xir_status gemm_run(xir_kernel *at, const gemm *g) {
    if (!g->batches || !g->rows || !g->columns) return XIR_OK;
    run r = { .g = g, .tall = g->path->tall, .broad = g->path->broad, .step = g->sums_step };
    const size_t threads = pool_width(at);
    const way w = way_of(g, threads);
    const bool waits = !g->sums && !w.each && g->depth > CHUNK;
    size_t rows = g->rows, columns = g->columns;
    if (waits) {
        rows = least(rows, AREA_ROWS);
        columns = least(columns, AREA / padded(rows, r.tall) / (GROUP * r.broad) * GROUP * r.broad);
        r.step = padded(columns, r.broad);
    }
    /* Chunks are as deep as a panel, and equal, if sums need no room. So are the parts of the columns. */
    const size_t chunks = parts(g->depth, DEPTH);
    r.chunk = g->sums && !w.few && !w.each ? (g->depth + chunks - 1) / chunks : CHUNK;
    const size_t deep = least(r.chunk, g->depth), part = least(DEPTH, deep), tall = padded(rows, r.tall),
                 wide = padded(columns, r.broad), widest = g->sums ? WIDEST : WIDE;
    r.most = padded(least(least(wide, widest), SHARED / (deep + 1)), r.broad);
    r.most = padded((wide + parts(wide, r.most) - 1) / parts(wide, r.most), r.broad);
    r.block = w.few || w.each ? least(padded(g->rows, r.tall), ROWS) : rounded_block(rows, threads, r.tall);
    r.own_left = w.few && !w.each ? 0 : r.block * part;
    r.own_right = w.few || w.each ? GROUP * r.broad * part : 0;
    const size_t own_sums = g->sums || waits ? 0 : r.block * (w.few || w.each ? GROUP * r.broad : r.most);
    r.own_all = padded(r.own_left + r.own_right + own_sums + 1, ALIGNED);
    memory own = { 0 }, shared = { 0 }, sums = { 0 };
    r.own = room_for(at, &own, r.own_all, threads);
    r.shared = w.each ? r.own : room_for(at, &shared, deep + 1, w.few ? tall : r.most);
    r.sums = waits ? room_for(at, &sums, tall, r.step) : NULL;
    xir_status status = XIR_E_MEMORY;
    if (r.own && r.shared && (r.sums || !waits)) status = run_all(at, &r, w, rows, columns);
    give_back(at, &own);
    give_back(at, &shared);
    give_back(at, &sums);
    return status;
}

/* The blocks of a product. A processor's second cache holds a block of left panels, its first one a right panel, and
 * its registers a tile of sums. With few rows, threads take columns, and each copies its right panels once. With many,
 * all right panels of some columns are copied first, and threads take blocks of rows. */
#include "gemm.h"
#include "pool.h"

enum {
    ROWS    = 192,           /* of a block of left panels                                                        */
    DEPTH   = GEMM_DEPTH,    /* of a panel                                                                       */
    CHUNK   = 8192,          /* of all panels that exist at a time; sums of more depth wait for the next chunk   */
    SHARED  = 1 << 20,       /* doubles of right panels that are copied first                                    */
    WIDE    = 480,           /* columns of right panels that are copied first: a multiple of all widths of panels  */
    GROUP   = 4,             /* right panels that one thread copies together                                     */
    ALIGNED = 64,
    STEPS_A_QUESTION = 4096,
};

typedef struct run {
    const gemm *g;
    size_t      batch;
    size_t      tall, broad;       /* of panels                                                                   */
    size_t      k, depth;          /* the chunk                                                                   */
    size_t      column, columns;   /* whose right panels are in `shared`                                          */
    size_t      block;             /* rows of a block                                                             */
    size_t      room;              /* columns of `sums`                                                           */
    double     *shared;            /* panels of one side of the chunk                                             */
    double     *sums;              /* of all rows and columns; NULL if there is one chunk                         */
    double     *own;               /* of each thread: left panels, right panels, sums                             */
    size_t      own_left, own_right, own_all;
} run;

static size_t least(size_t a, size_t b)       { return a < b ? a : b; }
static size_t padded(size_t n, size_t unit)   { return (n + unit - 1) / unit * unit; }

/* Panels of one side for items [first, first + n) and a part of the chunk, one after the other. */
static void copy_panels(const run *r, bool left, size_t first, size_t n, size_t k, size_t depth, double *out) {
    const size_t unit = left ? r->tall : r->broad;
    if (!depth) return;
    for (size_t i = 0; i < n; i += unit, out += unit * depth) {
        const gemm_panel p = { r->batch, first + i, least(unit, n - i), k, depth, unit, out };
        if (p.n < unit) memset(out, 0, unit * depth * sizeof *out);   // what a tile computes besides its rows
        if (left) r->g->left(r->g->left_of, &p);
        else r->g->right(r->g->right_of, &p);
    }
}

/* Multiplies left panels of `rows` rows by right panels of `columns` columns, both of `depth`. `sums` is the place of
 * [row, column]; the last part of the depth hands them over. False if the run is cancelled. */
static bool multiply(const run *r, pool_share *share, const double *left, const double *right, size_t row, size_t rows,
                     size_t column, size_t columns, size_t k, size_t depth, double *sums, size_t step) {
    const gemm *g = r->g;
    uint64_t steps = 0;
    for (size_t j = 0; j < columns; j += r->broad, right += r->broad * depth) {
        const size_t n = least(r->broad, columns - j);
        for (size_t i = 0; i < rows; i += r->tall) {
            const size_t m = least(r->tall, rows - i);
            double *at = sums + i * step + j;
            gemm_tile_for(g->path, g->exact, m, n)(left + i * depth, right, depth, at, step, k == 0);
            if (k + depth == g->depth) {
                const gemm_sums done = { r->batch, row + i, m, column + j, n, step, at };
                g->take(g->out, &done);
            }
            steps += r->tall * r->broad * (depth + 1);
            if (steps >= STEPS_A_QUESTION && pool_stops(share, steps)) return false;
            if (steps >= STEPS_A_QUESTION) steps = 0;
        }
    }
    return true;
}

/* ---- few rows: threads take columns ------------------------------------------------------------------------------ */

/* Groups [from, to) of right panels. The left panels of the chunk are in `shared`, or, for a batch of its own, are
 * copied here. */
static bool multiply_groups(const run *r, pool_share *share, size_t row, size_t rows, size_t from, size_t to,
                            bool shared) {
    double *own = r->own + pool_thread(share) * r->own_all, *right = own + r->own_left, *sums = right + r->own_right;
    const size_t wide = GROUP * r->broad, tall = padded(rows, r->tall);
    for (size_t j = from * wide; j < least(to * wide, r->g->columns); j += wide) {
        const size_t columns = least(wide, r->g->columns - j);
        double *at = r->sums ? r->sums + row * r->room + j : sums;
        size_t k = 0;
        do {
            const size_t depth = least(DEPTH, r->depth - k);
            const double *left = shared ? r->shared + k * tall : own;
            if (!shared) copy_panels(r, true, row, rows, r->k + k, depth, own);
            copy_panels(r, false, j, columns, r->k + k, depth, right);
            if (!multiply(r, share, left, right, row, rows, j, columns, r->k + k, depth, at, r->sums ? r->room : wide))
                return false;
            k += depth;
        } while (k < r->depth);
    }
    return true;
}

static void take_groups(pool_share *share, size_t from, size_t to, void *user) {
    const run *r = user;
    multiply_groups(r, share, 0, r->g->rows, from, to, true);
}

static size_t groups_of(const run *r) {
    const size_t wide = GROUP * r->broad;
    return (r->g->columns + wide - 1) / wide;
}

/* Left panels of the chunk, DEPTH at a time. */
static void copy_lefts(pool_share *share, size_t from, size_t to, void *user) {
    const run *r = user;
    const size_t tall = padded(r->g->rows, r->tall);
    (void)share;
    for (size_t k = from * DEPTH; k < least(to * DEPTH, r->depth); k += DEPTH) {
        copy_panels(r, true, 0, r->g->rows, r->k + k, least(DEPTH, r->depth - k), r->shared + k * tall);
    }
}

static bool run_columns(xir_kernel *at, run *r) {
    const size_t wide = GROUP * r->broad;
    if (!pool_for(at, (r->depth + DEPTH - 1) / DEPTH, 4 * r->g->rows * DEPTH, copy_lefts, r)) return false;
    return pool_for(at, groups_of(r), (r->g->rows + 8) * wide * (r->depth + 1) / 2, take_groups, r);
}

/* ---- many rows: threads take them -------------------------------------------------------------------------------- */

static void copy_rights(pool_share *share, size_t from, size_t to, void *user) {
    const run *r = user;
    (void)share;
    for (size_t j = from; j < to; j++) {
        const size_t first = j * r->broad, n = least(r->broad, r->columns - first);
        for (size_t k = 0; k < r->depth; k += DEPTH) {
            const size_t depth = least(DEPTH, r->depth - k);
            copy_panels(r, false, r->column + first, n, r->k + k, depth,
                        r->shared + k * padded(r->columns, r->broad) + first * depth);
        }
    }
}

static void take_blocks(pool_share *share, size_t from, size_t to, void *user) {
    const run *r = user;
    double *own = r->own + pool_thread(share) * r->own_all, *sums = own + r->own_left;
    const size_t wide = padded(r->columns, r->broad);
    for (size_t i = from * r->block; i < least(to * r->block, r->g->rows); i += r->block) {
        const size_t rows = least(r->block, r->g->rows - i);
        double *at = r->sums ? r->sums + i * r->room + r->column : sums;
        size_t k = 0;
        do {
            const size_t depth = least(DEPTH, r->depth - k);
            copy_panels(r, true, i, rows, r->k + k, depth, own);
            if (!multiply(r, share, own, r->shared + k * wide, i, rows, r->column, r->columns, r->k + k, depth, at,
                          r->sums ? r->room : wide)) return;
            k += depth;
        } while (k < r->depth);
    }
}

static bool run_rows(xir_kernel *at, run *r, size_t most) {
    for (r->column = 0; r->column < r->g->columns; r->column += most) {
        r->columns = least(most, r->g->columns - r->column);
        if (!pool_for(at, (r->columns + r->broad - 1) / r->broad, 2 * r->broad * (r->depth + 1), copy_rights, r))
            return false;
        if (!pool_for(at, (r->g->rows + r->block - 1) / r->block, r->block * r->columns * (r->depth + 1) / 2,
                      take_blocks, r)) return false;
    }
    return true;
}

/* ---- many products: threads take whole ones ---------------------------------------------------------------------- */

static void take_batches(pool_share *share, size_t from, size_t to, void *user) {
    run r = *(const run *)user;
    for (r.batch = from; r.batch < to; r.batch++) {
        for (size_t i = 0; i < r.g->rows; i += r.block) {
            if (!multiply_groups(&r, share, i, least(r.block, r.g->rows - i), 0, groups_of(&r), false)) return;
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

static xir_status run_all(xir_kernel *at, run *r, bool each, bool few, size_t most) {
    const gemm *g = r->g;
    if (each) {
        r->depth = g->depth;
        const uint64_t steps = (uint64_t)(g->rows + 8) * (g->columns + 8) * (g->depth + 8) / 2;
        return pool_for(at, g->batches, steps, take_batches, r) ? XIR_OK : XIR_E_CANCELLED;
    }
    for (r->batch = 0; r->batch < g->batches; r->batch++) {
        r->k = 0;
        do {
            r->depth = least(CHUNK, g->depth - r->k);
            if (!(few ? run_columns(at, r) : run_rows(at, r, most))) return XIR_E_CANCELLED;
            r->k += r->depth;
        } while (r->k < g->depth);
    }
    return XIR_OK;
}

xir_status gemm_run(xir_kernel *at, const gemm *g) {
    if (!g->batches || !g->rows || !g->columns) return XIR_OK;
    run r = { .g = g, .tall = g->path->tall, .broad = g->path->broad };
    const size_t threads = pool_width(at), deep = least(CHUNK, g->depth), part = least(DEPTH, deep);
    const bool few = g->rows <= ROWS;
    const bool each = g->batches > 1 && g->rows <= 2 * ROWS &&
                      (g->batches >= 2 * threads || g->depth * g->columns * g->rows < 1 << 20);
    const size_t tall = padded(g->rows, r.tall), wide = padded(g->columns, r.broad);
    size_t most = padded(least(least(wide, WIDE), SHARED / (deep + 1)), r.broad);
    most = padded((wide + (wide - 1) / most) / ((wide - 1) / most + 1), r.broad);    // equal parts
    r.block = few || each ? least(tall, ROWS) : rounded_block(g->rows, threads, r.tall);
    r.own_left = few && !each ? 0 : r.block * part;
    r.own_right = few || each ? GROUP * r.broad * part : 0;
    r.own_all = padded(r.own_left + r.own_right + r.block * (few || each ? GROUP * r.broad : most) + 1, ALIGNED);
    r.room = wide;
    memory own = { 0 }, shared = { 0 }, sums = { 0 };
    const bool waits = g->depth > CHUNK && !each;
    r.own = room_for(at, &own, r.own_all, threads);
    r.shared = each ? r.own : room_for(at, &shared, deep + 1, few ? tall : most);
    r.sums = waits ? room_for(at, &sums, tall, wide) : NULL;
    xir_status status = XIR_E_MEMORY;
    if (r.own && r.shared && (r.sums || !waits)) status = run_all(at, &r, each, few, most);
    give_back(at, &own);
    give_back(at, &shared);
    give_back(at, &sums);
    return status;
}

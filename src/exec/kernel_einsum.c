/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Einsum: each element of the output is a sum of products over all letters that the output does not have. Every
 * letter, and every dim of "...", is an index with a stride in each operand; the indices of the output come first. The
 * class has already checked the equation.
 *
 * Of two operands of reals or narrow integers that share all summed letters it is a product of matrices: letters of the
 * output are rows if only the first operand has them, columns if only the second one does, and batches otherwise. Else
 * it is computed by the definition. The sums are the same. */
#include "blocks.h"
#include "dims.h"
#include "gemm.h"
#include "pool.h"

enum { LETTERS = 52 };

typedef struct einsum {
    size_t          n;          /* number of operands                                                              */
    size_t          indices;    /* indices of the output, including dims of "...", then the summed ones            */
    size_t          outer;      /* how many indices the output has                                                 */
    int64_t        *dim;        /* the size of each index                                                          */
    int64_t        *step;       /* [index][operand]                                                                */
    int64_t        *index;
    int64_t        *offset;     /* the current element of each operand                                             */
} einsum;

static int letter_index(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    return -1;
}

/* A token of a term: a letter, or DOTS; END at its end. */
enum { END = -1, DOTS = -2 };
static int next_symbol(xir_str text, size_t *pos) {
    while (*pos < text.size && text.data[*pos] == ' ') ++*pos;
    if (*pos >= text.size || text.data[*pos] == ',' || text.data[*pos] == '-') return END;
    if (text.data[*pos] == '.') {
        *pos += 3;
        return DOTS;
    }
    return letter_index(text.data[(*pos)++]);
}

/* The index of each letter, and where the dims of "..." start; -1: not assigned yet. The dims of "..." come after the
 * letters. Operands have at most `wide` of them, right-aligned. */
typedef struct names {
    int    of[LETTERS];
    int    dots;
    size_t wide;
} names;

static int name_letter(einsum *e, names *known, int letter) {
    if (known->of[letter] < 0) known->of[letter] = (int)e->indices++;
    return known->of[letter];
}

static int name_dots(einsum *e, names *known) {
    if (known->dots < 0) {
        known->dots = (int)e->indices;
        e->indices += known->wide;
    }
    return known->dots;
}

/* Counts the letters of a term. `pos` ends at its comma, arrow or end. */
static size_t count_letters(xir_str text, size_t *pos, bool *dots) {
    size_t n = 0;
    *dots = false;
    for (int s; (s = next_symbol(text, pos)) != END;) {
        if (s == DOTS) *dots = true;
        else n++;
    }
    return n;
}

/* Finds the term of the output and counts each letter before it; SIZE_MAX if the output is implicit. */
static size_t find_output(xir_str text, size_t seen[LETTERS]) {
    for (size_t i = 0; i < LETTERS; i++) seen[i] = 0;
    for (size_t i = 0; i < text.size; i++) {
        int letter = letter_index(text.data[i]);
        if (letter >= 0) seen[letter]++;
        if (text.data[i] == '-') return i + 2;
    }
    return SIZE_MAX;
}

/* Assigns the indices of the output, in its order. */
static void name_output(einsum *e, names *known, xir_str text) {
    size_t seen[LETTERS], pos = find_output(text, seen);
    if (pos == SIZE_MAX) {
        if (known->wide) name_dots(e, known);
        for (int i = 0; i < LETTERS; i++) {
            if (seen[i] == 1) name_letter(e, known, i);
        }
    } else {
        for (int s; (s = next_symbol(text, &pos)) != END;) {
            if (s == DOTS) name_dots(e, known);
            else name_letter(e, known, s);
        }
    }
    e->outer = e->indices;
}

/* Adds dim `dim` of operand i, with stride `step`, to an index. */
static void join(einsum *e, int index, size_t i, int64_t dim, int64_t step) {
    if (dim == 1) return;
    e->dim[index] = dim;
    e->step[(size_t)index * e->n + i] += step;   // += because a repeated letter means the diagonal
}

static void read_terms(xir_kernel *at, einsum *e, names *known, xir_str text) {
    size_t pos = 0;
    for (size_t i = 0; i < e->n; i++, pos++) {
        const xir_type *type = xir_kernel_input_type(at, i);
        size_t rank = xir_type_rank(type), ahead = pos, axis = 0;
        bool dots;
        size_t letters = count_letters(text, &ahead, &dots);
        for (int s; (s = next_symbol(text, &pos)) != END;) {
            size_t run = s == DOTS ? rank - letters : 1;
            int first = s == DOTS ? name_dots(e, known) + (int)(known->wide - run) : name_letter(e, known, s);
            for (size_t k = 0; k < run; k++, axis++) {
                join(e, first + (int)k, i, xir_type_dim(type, (int64_t)axis, false),
                     elements_between(type, axis + 1, rank));
            }
        }
    }
}

/* False on out of memory. */
static bool einsum_make(xir_kernel *at, einsum *e) {
    const xir_einsum_attrs *a = xir_kernel_attrs(at);
    names known = { .dots = -1, .wide = 0 };
    size_t pos = 0;
    bool dots;
    e->n = xir_kernel_input_count(at);
    for (size_t i = 0; i < LETTERS; i++) known.of[i] = -1;
    for (size_t i = 0; i < e->n; i++, pos++) {
        size_t rank = xir_type_rank(xir_kernel_input_type(at, i)), letters = count_letters(a->equation, &pos, &dots);
        if (dots && rank > letters && rank - letters > known.wide) known.wide = rank - letters;
    }
    e->dim = xir_kernel_alloc(at, LETTERS + known.wide, sizeof *e->dim);
    e->index = xir_kernel_alloc(at, LETTERS + known.wide, sizeof *e->index);
    e->step = xir_kernel_alloc(at, LETTERS + known.wide + 1, (e->n + 1) * sizeof *e->step);
    e->offset = xir_kernel_alloc(at, e->n + 1, sizeof *e->offset);
    if (!e->dim || !e->index || !e->step || !e->offset) return false;
    for (size_t i = 0; i < LETTERS + known.wide; i++) e->dim[i] = 1;
    name_output(e, &known, a->equation);
    read_terms(at, e, &known, a->equation);
    return true;
}

/* Advances the indices [from, to) and the offsets of all operands. After the last one it returns false and starts
 * over. */
static bool next_index(const einsum *e, size_t from, size_t to) {
    for (size_t k = to; k-- > from;) {
        const int64_t *step = e->step + k * e->n;
        bool more = ++e->index[k] < e->dim[k];
        for (size_t i = 0; i < e->n; i++) e->offset[i] += more ? step[i] : -(e->dim[k] - 1) * step[i];
        if (more) return true;
        e->index[k] = 0;
    }
    return false;
}

static bool is_empty(const einsum *e, size_t from, size_t to) {
    for (size_t k = from; k < to; k++) {
        if (e->dim[k] == 0) return true;
    }
    return false;
}

/* The innermost loop, over the last summed letter. Without one it runs once. */
typedef struct innermost {
    size_t         end;      /* end of the other summed letters */
    int64_t        length;
    const int64_t *step;     /* stride of each operand                    */
} innermost;

static innermost innermost_of(const einsum *e) {
    const bool any = e->indices > e->outer;
    const size_t end = any ? e->indices - 1 : e->indices;   // after all letters there is an entry of strides 0
    return (innermost){ end, any ? e->dim[end] : 1, e->step + end * e->n };
}

/* ---- as products of matrices ------------------------------------------------------------------------------------- */

/* Offsets of all combinations of some indices, row-major. */
typedef struct offsets {
    size_t   n;
    int64_t *at[3];       /* in the operands and the output                           */
    int64_t  step[3];     /* the distance of neighbours; 0 if it varies, or is 0       */
} offsets;

typedef struct matrices {
    const gemm_path *path;
    gemm_input       in[2];
    gemm_output      out;
    offsets          batches, rows, columns, depths;
} matrices;

/* The operands that have an index: 0 in both operands, 1 in the first alone, 2 in the second alone, 3 in neither. */
static unsigned operands_of(const einsum *e, size_t k) {
    return (e->step[k * 2] == 0) * 2u + (e->step[k * 2 + 1] == 0);
}

/* Returns true if it is a product of matrices that is worth copying panels for. */
static bool is_product(const einsum *e) {
    double rows = 1, columns = 1, depth = 1;
    if (e->n != 2) return false;
    for (size_t k = 0; k < e->indices; k++) {
        const unsigned of = operands_of(e, k);
        if (k >= e->outer && of != 0 && e->dim[k] != 1) return false;
        if (k >= e->outer) depth *= (double)e->dim[k];
        else if (of == 1) rows *= (double)e->dim[k];
        else if (of == 2) columns *= (double)e->dim[k];
    }
    return rows * columns >= 4 && rows * columns * depth >= 256;
}

/* Returns how many products a sum has; at most 2^63. */
static uint64_t depth_of(const einsum *e) {
    uint64_t depth = 1;
    for (size_t k = e->outer; k < e->indices; k++)
        if (__builtin_mul_overflow(depth, (uint64_t)e->dim[k], &depth)) return UINT64_C(1) << 63;
    return depth;
}

/* Lists the combinations of the indices in [from, to) with these operands. `step` of the output: NULL for summed ones.
 * False on out of memory. */
static bool list_offsets(xir_kernel *at, const einsum *e, size_t from, size_t to, unsigned first, unsigned second,
                         const int64_t *out_step, offsets *o) {
    o->n = 1;
    for (size_t k = from; k < to; k++) {
        const unsigned of = operands_of(e, k);
        if (of == first || of == second) o->n *= (size_t)e->dim[k];
    }
    for (size_t i = 0; i < 3; i++) {
        if (!(o->at[i] = xir_kernel_alloc(at, o->n + 1, sizeof *o->at[i]))) return false;
    }
    if (!o->n) return true;
    size_t done = 1;     /* the list grows index by index: each entry becomes `dim` entries */
    for (size_t k = from; k < to; k++) {
        const unsigned of = operands_of(e, k);
        if (of != first && of != second) continue;
        const size_t dim = (size_t)e->dim[k];
        for (size_t i = 0; i < 3; i++) {
            const int64_t step = i < 2 ? e->step[k * 2 + i] : out_step ? out_step[k] : 0;
            for (size_t t = done * dim; t-- > 0;) o->at[i][t] = o->at[i][t / dim] + (int64_t)(t % dim) * step;
        }
        done *= dim;
    }
    for (size_t i = 0; i < 3; i++) {
        o->step[i] = o->n > 1 ? o->at[i][1] - o->at[i][0] : 1;
        for (size_t t = 1; t < o->n; t++) if (o->at[i][t] - o->at[i][t - 1] != o->step[i]) o->step[i] = 0;
    }
    return true;
}

static void pack_operand(const matrices *p, size_t i, const offsets *items, const gemm_panel *panel) {
    const int64_t *at = items->at[i], *deep = p->depths.at[i], begin = p->batches.at[i][panel->batch];
    if (items->step[i] && p->depths.step[i]) {
        gemm_pack_matrix(p->path, &p->in[i], begin + at[0] + deep[0], items->step[i], p->depths.step[i], panel);
        return;
    }
    double *out = panel->out;
    for (size_t k = panel->k; k < panel->k + panel->depth; k++, out += panel->unit) {
        for (size_t t = 0; t < panel->n; t++)
            out[t] = gemm_element(&p->in[i], begin + at[panel->first + t] + deep[k]);
    }
}

static void pack_rows(const void *of, const gemm_panel *panel) {
    const matrices *p = of;
    pack_operand(p, 0, &p->rows, panel);
}
static void pack_columns(const void *of, const gemm_panel *panel) {
    const matrices *p = of;
    pack_operand(p, 1, &p->columns, panel);
}

static void take_sums(void *out, const gemm_sums *s) {
    const matrices *p = out;
    for (size_t i = 0; i < s->rows; i++) {
        const int64_t to = p->batches.at[2][s->batch] + p->rows.at[2][s->row + i];
        const double *sum = s->sum + i * s->step;
        if (p->columns.step[2] == 1) {
            gemm_put(p->path, &p->out, to + p->columns.at[2][s->column], sum, NULL, s->columns);
        } else {
            for (size_t j = 0; j < s->columns; j++) gemm_put_one(&p->out, to + p->columns.at[2][s->column + j], sum[j]);
        }
    }
}

/* `whole`: of integers whose sums are exact. */
static xir_status multiply(xir_kernel *at, const einsum *e, bool whole) {
    matrices p = { .path = gemm_path_now() };
    int64_t *out_step = xir_kernel_alloc(at, e->indices + 1, sizeof *out_step);
    if (!out_step) return XIR_E_MEMORY;
    for (size_t k = e->outer, step = 1; k-- > 0; step *= (size_t)e->dim[k]) out_step[k] = (int64_t)step;
    if (!list_offsets(at, e, 0, e->outer, 0, 3, out_step, &p.batches) ||
        !list_offsets(at, e, 0, e->outer, 1, 1, out_step, &p.rows) ||
        !list_offsets(at, e, 0, e->outer, 2, 2, out_step, &p.columns) ||
        !list_offsets(at, e, e->outer, e->indices, 0, 3, NULL, &p.depths)) return XIR_E_MEMORY;
    if (!gemm_read(at, 0, &p.in[0]) || !gemm_read(at, 1, &p.in[1]) || !gemm_write(at, 0, whole, &p.out))
        return XIR_E_MEMORY;
    const gemm g = {
        .path = p.path, .exact = gemm_is_exact(&p.in[0], &p.in[1]), .batches = p.batches.n, .rows = p.rows.n,
        .columns = p.columns.n, .depth = p.depths.n, .left = pack_rows, .left_of = &p, .right = pack_columns,
        .right_of = &p, .take = take_sums, .out = &p,
    };
    return gemm_run(at, &g);
}

/* ---- by definition ---------------------------------------------------------------------------------------------- */

typedef struct summing {
    const einsum   *e;
    const number  **x;
    number         *y;
    int64_t        *room;      /* of each thread: an index and an offset of its own */
    innermost       in;
    bool            nothing;   /* there is nothing to add                           */
} summing;

/* The indices and offsets of element `o` of the output, in memory of the thread. */
static einsum begin_at(const summing *s, size_t thread, size_t o) {
    einsum e = *s->e;
    e.index = s->room + thread * (e.indices + e.n);
    e.offset = e.index + e.indices;
    memset(e.index, 0, (e.indices + e.n) * sizeof *e.index);
    for (size_t k = e.outer; k-- > 0; o /= (size_t)e.dim[k]) {
        e.index[k] = (int64_t)(o % (size_t)e.dim[k]);
        for (size_t i = 0; i < e.n; i++) e.offset[i] += e.index[k] * e.step[k * e.n + i];
    }
    return e;
}

static double sum_of_reals(const einsum *e, const innermost *in, const number **x, double sum) {
    if (e->n == 2) {
        const number *a = x[0] + e->offset[0], *b = x[1] + e->offset[1];
        for (int64_t k = 0; k < in->length; k++) sum += a[k * in->step[0]].real * b[k * in->step[1]].real;
    } else for (int64_t k = 0; k < in->length; k++) {
        double product = 1;
        for (size_t i = 0; i < e->n; i++) product *= x[i][e->offset[i] + k * in->step[i]].real;
        sum += product;
    }
    return sum;
}

/* Integers wrap. */
static int64_t sum_of_integers(const einsum *e, const innermost *in, const number **x, int64_t former) {
    uint64_t sum = (uint64_t)former;
    for (int64_t k = 0; k < in->length; k++) {
        uint64_t product = 1;
        for (size_t i = 0; i < e->n; i++) product *= (uint64_t)x[i][e->offset[i] + k * in->step[i]].integer;
        sum += product;
    }
    return (int64_t)sum;
}

static void sum_some(bool real, pool_share *share, size_t from, size_t to, const summing *s) {
    const einsum e = begin_at(s, pool_thread(share), from);
    for (size_t o = from; o < to; o++, next_index(&e, 0, e.outer)) {
        number sum = { .integer = 0 };   // the bits of 0.0
        if (pool_stops(share, 1)) return;
        if (!s->nothing) do {
            if (pool_stops(share, (uint64_t)s->in.length * e.n)) return;
            if (real) sum.real = sum_of_reals(&e, &s->in, s->x, sum.real);
            else      sum.integer = sum_of_integers(&e, &s->in, s->x, sum.integer);
        } while (next_index(&e, e.outer, s->in.end));
        s->y[o] = sum;
    }
}

static void sum_reals(pool_share *share, size_t from, size_t to, void *user) { sum_some(true, share, from, to, user); }
static void sum_i64s(pool_share *share, size_t from, size_t to, void *user) { sum_some(false, share, from, to, user); }

/* Threads share the elements of the output. */
static xir_status by_definition(xir_kernel *at, const einsum *e, bool real) {
    summing s = { .e = e, .in = innermost_of(e), .nothing = is_empty(e, e->outer, e->indices) };
    int64_t count;
    s.x = xir_kernel_alloc(at, e->n + 1, sizeof *s.x);
    s.room = kernel_room(at, pool_width(at), (e->indices + e->n + 1) * sizeof *s.room);
    s.y = real ? (number *)(void *)kernel_all_reals(at, 0) : (number *)(void *)kernel_all_i64s(at, 0);
    if (!s.x || !s.room || !s.y || xir_type_elements(xir_kernel_output_type(at, 0), &count)) return XIR_E_MEMORY;
    for (size_t i = 0; i < e->n; i++) {
        s.x[i] = real ? (const number *)(const void *)xir_kernel_reals(at, i)
                      : (const number *)(const void *)xir_kernel_i64s(at, i);
        if (!s.x[i]) return XIR_E_MEMORY;
    }
    const uint64_t depth = depth_of(e);
    const uint64_t steps = depth < UINT64_MAX / 4 / (e->n + 1) ? 2 * (depth * e->n + 1) : UINT64_MAX;
    return pool_for(at, (size_t)count, steps, real ? sum_reals : sum_i64s, &s) ? XIR_OK : XIR_E_CANCELLED;
}

static xir_status run_einsum(xir_kernel *at) {
    einsum e = { 0 };
    if (!einsum_make(at, &e)) return XIR_E_MEMORY;
    const bool real = xir_kernel_is_real(xir_kernel_input_type(at, 0));
    if (is_product(&e) && (real || gemm_is_narrow(at, 0, 1, 2, depth_of(&e)))) return multiply(at, &e, !real);
    return by_definition(at, &e, real);
}

kernel_table kernels_einsum = {
    { xir_einsum_class, run_einsum },
    { NULL,             NULL       },
};

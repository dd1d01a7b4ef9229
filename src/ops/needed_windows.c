/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NEEDS functions of windows: convolutions, pools, Unfold, and resized images. Along each axis, a cell of
 * the input and a cell of the output belong together through a tap of the window, by the formula of the class. */
#include <math.h>
#include "list.h"
#include "needed.h"
#include "spatial.h"

enum { MOST_TAPS = 65536 };

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
static int64_t ceil_div(int64_t a, int64_t b)  { return -floor_div(-a, b); }

/* Numbers of files may be anything: windows that do not fit are left to the whole input. */
static bool is_sane(const steps *m) {
    const int64_t most = (int64_t)1 << 30;
    return m->size >= 1 && m->size < most && m->stride >= 1 && m->stride < most && m->dilation >= 1 &&
           m->dilation < most && m->before > -most && m->before < most && m->after > -most && m->after < most;
}

/* ---- one axis --------------------------------------------------------------------------------------------------- */

/* The cells of padding that is not zero: the cell of the input that stands for position i of a dim of n. */
static int64_t padded_cell(xir_padding mode, int64_t i, int64_t n) {
    if (i >= 0 && i < n) return i;
    switch (mode) {
    case XIR_PADDING_REFLECT:   return i < 0 ? -i : 2 * (n - 1) - i;
    case XIR_PADDING_REPLICATE: return i < 0 ? 0 : n - 1;
    case XIR_PADDING_CIRCULAR:  return i < 0 ? i + n : i - n;
    default:                    return -1;
    }
}

/* The cells of input [0, n) that taps of the window at positions `over` read. False if it is not exact. */
static bool window_span(const steps *m, xir_padding mode, span over, int64_t n, span *out) {
    const int64_t reach = m->dilation * (m->size - 1);
    /* windows that are outside, before or after the input, read nothing */
    const int64_t first = mode == XIR_PADDING_ZEROS ? ceil_div(m->before - reach, m->stride) : INT64_MIN;
    const int64_t last = mode == XIR_PADDING_ZEROS ? floor_div(n - 1 + m->before, m->stride) : INT64_MAX;
    if (first > over.begin) over.begin = first;
    if (last < over.end - 1) over.end = last + 1;
    *out = (span){ 0, 0 };
    if (over.begin >= over.end) return true;
    const int64_t begin = m->stride * over.begin - m->before;
    const int64_t end = m->stride * (over.end - 1) - m->before + reach + 1;
    *out = (span){ begin < 0 ? 0 : begin, end > n ? n : end };
    if (begin >= 0 && end <= n) return true;
    if (mode == XIR_PADDING_ZEROS && m->dilation == 1) return true;   /* each window has a cell of the input */
    if (m->size > MOST_TAPS / (over.end - over.begin)) {
        if (mode != XIR_PADDING_ZEROS) *out = (span){ 0, n };
        return false;
    }
    *out = (span){ INT64_MAX, 0 };
    for (int64_t p = over.begin; p < over.end; p++)
        for (int64_t k = 0; k < m->size; k++) {
            const int64_t i = padded_cell(mode, m->stride * p - m->before + m->dilation * k, n);
            if (i < 0 || i >= n) continue;
            if (i < out->begin) out->begin = i;
            if (i >= out->end) out->end = i + 1;
        }
    if (!out->end) *out = (span){ 0, 0 };
    return true;
}

/* The taps that read a cell of [0, n) at one of the positions. Convolved weights of other taps meet only zeros. */
static bool tap_span(const steps *m, span over, int64_t n, span *out) {
    *out = (span){ 0, m->size };
    if (m->size > MOST_TAPS) return false;
    span found = { INT64_MAX, 0 };
    for (int64_t k = 0; k < m->size; k++) {
        const int64_t shift = m->before - m->dilation * k;   /* stride * p - shift is in [0, n) */
        int64_t first = ceil_div(shift, m->stride), last = floor_div(shift + n - 1, m->stride);
        if (first < over.begin) first = over.begin;
        if (last > over.end - 1) last = over.end - 1;
        if (first > last) continue;
        if (k < found.begin) found.begin = k;
        found.end = k + 1;
    }
    *out = found.end ? found : (span){ 0, 0 };
    return true;
}

/* For a transposed convolution, whose input cell q adds to output cells stride * q - before + dilation * k: the cells
 * that reach `over`, of n. */
static bool spread_reaches(const steps *m, span over, int64_t q) {
    const int64_t from = over.begin + m->before - m->stride * q, to = over.end - 1 + m->before - m->stride * q;
    int64_t first = ceil_div(from, m->dilation), last = floor_div(to, m->dilation);
    if (first < 0) first = 0;
    if (last > m->size - 1) last = m->size - 1;
    return first <= last;
}

static bool spread_span(const steps *m, span over, int64_t n, span *out) {
    int64_t first = ceil_div(over.begin + m->before - m->dilation * (m->size - 1), m->stride);
    int64_t last = floor_div(over.end - 1 + m->before, m->stride), steps_left = MOST_TAPS;
    if (first < 0) first = 0;
    if (last > n - 1) last = n - 1;
    while (first <= last && !spread_reaches(m, over, first) && steps_left-- > 0) first++;
    while (first <= last && !spread_reaches(m, over, last) && steps_left-- > 0) last--;
    *out = first <= last ? (span){ first, last + 1 } : (span){ 0, 0 };
    return steps_left > 0;
}

/* The taps k with a cell q of [0, n) such that stride * q - before + dilation * k is in `over`. */
static bool spread_taps(const steps *m, span over, int64_t n, span *out) {
    *out = (span){ 0, m->size };
    if (m->size > MOST_TAPS) return false;
    span found = { INT64_MAX, 0 };
    for (int64_t k = 0; k < m->size; k++) {
        const int64_t shift = m->before - m->dilation * k;
        int64_t first = ceil_div(over.begin + shift, m->stride), last = floor_div(over.end - 1 + shift, m->stride);
        if (first < 0) first = 0;
        if (last > n - 1) last = n - 1;
        if (first > last) continue;
        if (k < found.begin) found.begin = k;
        found.end = k + 1;
    }
    *out = found.end ? found : (span){ 0, 0 };
    return true;
}

/* ---- the op of a tile ------------------------------------------------------------------------------------------- */

/* The padding that windows at `over` have when their input is cut to *in: what is outside of the whole input remains
 * padding. False if there is no such op. */
static bool cut_windows(xir_infer *at, size_t n, size_t k, const steps *m, xir_padding mode, span over, int64_t dim,
                        span *in) {
    const axis_words *words = words_of_axis(n, k);
    const int64_t begin = m->stride * over.begin - m->before;
    const int64_t end = m->stride * (over.end - 1) - m->before + m->dilation * (m->size - 1) + 1;
    *in = (span){ begin < 0 ? 0 : begin, end > dim ? dim : end };
    if (in->begin >= in->end) return false;
    const int64_t before = in->begin - begin, after = end - in->end;
    if (mode == XIR_PADDING_CIRCULAR && (before || after)) return false;
    if (mode == XIR_PADDING_REFLECT &&   /* the cells that are mirrored are in the cut */
        ((before && in->end <= before) || (after && in->begin > dim - 1 - after))) return false;
    xir_tile_i64(at, words->before, before);
    xir_tile_i64(at, words->after, after);
    return true;
}

/* The same for a transposed convolution: what its input adds outside of `over` is removed. */
static bool cut_spread(xir_infer *at, size_t n, size_t k, const steps *m, span over, span in) {
    const axis_words *words = words_of_axis(n, k);
    if (in.begin >= in.end) return false;
    const int64_t before = over.begin + m->before - m->stride * in.begin;
    const int64_t length = (in.end - in.begin - 1) * m->stride + m->dilation * (m->size - 1) + 1;
    const int64_t after = length - before - (over.end - over.begin);
    xir_tile_i64(at, words->before, before);
    xir_tile_i64(at, words->after, after < 0 ? 0 : after);
    xir_tile_i64(at, words->extra, after < 0 ? -after : 0);
    return true;
}

/* ---- convolutions ----------------------------------------------------------------------------------------------- */

/* Channels of the part, and of the input for them: whole groups. */
static bool need_channels(xir_infer *at, const window_attrs *c, const named_dims *x, const named_dims *w, bool *all) {
    const size_t own = c->n + 1, in_at = c->n + c->transposed, out_at = c->n + !c->transposed;
    const int64_t outs = dim_of_output(at, x->at[own]), ins = x->dim[own];
    const span part = part_along(at, x->at[own]);
    if (c->groups < 1 || outs < c->groups || ins < c->groups || outs % c->groups || ins % c->groups) return false;
    const int64_t of_group = outs / c->groups, in_group = ins / c->groups;
    const int64_t first = part.begin / of_group, last = (part.end - 1) / of_group;
    xir_needs_along(at, 0, x->at[own], first * in_group, (last + 1) * in_group);
    if (!c->transposed) xir_needs_along(at, 1, w->at[out_at], part.begin, part.end);
    else xir_needs_along(at, 1, w->at[in_at], first * in_group, (last + 1) * in_group);
    if (c->transposed && first == last)
        xir_needs_along(at, 1, w->at[out_at], part.begin - first * of_group, part.end - first * of_group);
    if (xir_infer_input(at, 2)) xir_needs_along(at, 2, 0, part.begin, part.end);
    *all = part_is_whole(at, x->at[own]);
    const bool aligned = part.begin % of_group == 0 && part.end % of_group == 0;
    if (!*all && (aligned || first == last)) xir_tile_i64(at, "groups", last - first + 1);
    return *all || aligned || first == last || !xir_tile_asked(at);
}

xir_status conv_needs(xir_infer *at) {
    static const char *const kernels[2][MOST_SPATIAL + 1] = {
        { "", "LIO", "HWIO", "DHWIO" }, { "", "LOI", "HWOI", "DHWOI" },
    };
    window_attrs c = window_attrs_of(at->cls->decl, at->attrs);
    named_dims x, w;
    bool exact = true, possible = true, all_channels = true;
    xir_status status = c.n ? read_dims(at, 0, map_letters(c.n), &x) : XIR_E_INVALID;
    if (!status) status = read_dims(at, 1, kernels[c.transposed][c.n], &w);
    if (status) return status;
    const xir_type *bias = xir_infer_input(at, 2);
    if (bias && xir_type_rank(bias) != 1) return XIR_E_UNSUPPORTED;   /* its numbers count, whatever its dims are */
    for (size_t k = 0; k < c.n; k++) {
        steps *m = &c.along[k];
        const span over = part_along(at, x.at[1 + k]);
        const int64_t n = x.dim[1 + k];
        span in, taps = { 0, w.dim[k] };
        m->size = w.dim[k];
        if (!is_sane(m)) return XIR_E_UNSUPPORTED;
        if (c.transposed) {
            exact &= spread_span(m, over, n, &in);
            if (xir_tile_asked(at)) possible &= cut_spread(at, c.n, k, m, over, in);
            else exact &= spread_taps(m, over, n, &taps);
        } else if (xir_tile_asked(at)) {
            possible &= cut_windows(at, c.n, k, m, c.mode, over, n, &in);
        } else {
            exact &= window_span(m, c.mode, over, n, &in);
            if (c.mode == XIR_PADDING_ZEROS) exact &= tap_span(m, over, n, &taps);
        }
        xir_needs_along(at, 0, x.at[1 + k], in.begin, in.end);
        xir_needs_along(at, 1, w.at[k], taps.begin, taps.end);
    }
    need_same(at, 0, x.at[0], x.at[0]);
    possible &= need_channels(at, &c, &x, &w, &all_channels);
    if (!possible && xir_tile_asked(at)) return XIR_E_UNSUPPORTED;
    if (!exact) xir_needs_wide(at, 0), xir_needs_wide(at, 1);
    return XIR_OK;
}

/* ---- pools ------------------------------------------------------------------------------------------------------ */

xir_status pool_needs(xir_infer *at) {
    const window_attrs p = window_attrs_of(at->cls->decl, at->attrs);
    named_dims x;
    bool exact = true;
    xir_status status = p.n ? read_dims(at, 0, map_letters(p.n), &x) : XIR_E_INVALID;
    if (status) return status;
    for (size_t k = 0; k < p.n; k++) {
        const span over = part_along(at, x.at[1 + k]);
        span in;
        if (!is_sane(&p.along[k])) return XIR_E_UNSUPPORTED;
        if (!xir_tile_asked(at)) exact &= window_span(&p.along[k], XIR_PADDING_ZEROS, over, x.dim[1 + k], &in);
        else if (!cut_windows(at, p.n, k, &p.along[k], XIR_PADDING_ZEROS, over, x.dim[1 + k], &in))
            return XIR_E_UNSUPPORTED;
        xir_needs_along(at, 0, x.at[1 + k], in.begin, in.end);
    }
    need_same(at, 0, x.at[0], x.at[0]);
    need_same(at, 0, x.at[p.n + 1], x.at[p.n + 1]);
    if (!exact) xir_needs_wide(at, 0);
    return XIR_OK;
}

/* Windows are along L, row by row; a part that has several rows has all columns of some. */
xir_status unfold_needs(xir_infer *at) {
    const xir_unfold_attrs *a = xir_infer_attrs(at);
    const window_attrs u = unfold_windows(a);
    const xir_layout *layout = xir_type_layout(xir_infer_output(at, 0));
    named_dims x;
    xir_status status = read_dims(at, 0, map_letters(2), &x);
    if (status) return status;
    const steps *h = &u.along[0], *w = &u.along[1];
    if (!is_sane(h) || !is_sane(w)) return XIR_E_UNSUPPORTED;
    const int64_t n_at = xir_layout_index(layout, 'N'), l_at = xir_layout_index(layout, 'L');
    const int64_t columns = (x.dim[2] + w->before + w->after - w->dilation * (w->size - 1) - 1) / w->stride + 1;
    if (l_at < 0 || columns < 1) return XIR_E_UNSUPPORTED;
    const span part = part_along(at, (size_t)l_at);
    const int64_t top = part.begin / columns, bottom = (part.end - 1) / columns;
    span rows, all = { 0, columns };
    if (top == bottom) all = (span){ part.begin % columns, (part.end - 1) % columns + 1 };
    (void)window_span(h, XIR_PADDING_ZEROS, (span){ top, bottom + 1 }, x.dim[1], &rows);
    xir_needs_along(at, 0, x.at[1], rows.begin, rows.end);
    (void)window_span(w, XIR_PADDING_ZEROS, all, x.dim[2], &rows);
    xir_needs_along(at, 0, x.at[2], rows.begin, rows.end);
    if (n_at >= 0) need_same(at, 0, x.at[0], (size_t)n_at);
    return XIR_OK;
}

/* ---- resized images --------------------------------------------------------------------------------------------- */

typedef enum scale_kind { SCALE_NEAREST, SCALE_LINEAR, SCALE_CUBIC } scale_kind;
typedef struct scale_axis { scale_kind kind; bool corners; int64_t in, out; } scale_axis;

static int64_t clamped(int64_t i, int64_t n) { return i < 0 ? 0 : i < n ? i : n - 1; }

/* The first and the last cell with a weight at position p. */
static span scale_cells(const scale_axis *s, int64_t p) {
    if (s->in == s->out) return (span){ p, p + 1 };
    double x = ((double)p + 0.5) * (double)s->in / (double)s->out - 0.5;
    if (s->corners) x = s->out == 1 ? 0 : (double)p * (double)(s->in - 1) / (double)(s->out - 1);
    const double low = floor(x);
    const int64_t at = (int64_t)low;
    if (s->kind == SCALE_NEAREST) {
        const int64_t i = clamped((int64_t)floor(x + 0.5), s->in);
        return (span){ i, i + 1 };
    }
    if (x == low) return (span){ clamped(at, s->in), clamped(at, s->in) + 1 };
    const int64_t wide = s->kind == SCALE_CUBIC;
    return (span){ clamped(at - wide, s->in), clamped(at + 1 + wide, s->in) + 1 };
}

/* Cells grow with positions, apart from the neighbours that a position between two cells has. */
static void scale_span(const scale_axis *s, span over, span *out) {
    const int64_t per_cell = s->out / s->in + 2;
    *out = scale_cells(s, over.begin);
    for (int64_t p = over.begin + 1, left = 256; p < over.end && p <= over.begin + per_cell && left > 0; p++, left--) {
        const span cells = scale_cells(s, p);
        if (cells.begin < out->begin) out->begin = cells.begin;
        if (cells.end > out->end) out->end = cells.end;
    }
    for (int64_t p = over.end - 1, left = 256; p > over.begin && p >= over.end - per_cell && left > 0; p--, left--) {
        const span cells = scale_cells(s, p);
        if (cells.end > out->end) out->end = cells.end;
    }
}

/* Cuts an axis that is a power of two larger than the input. Positions are then exact, and lie between cells. Those of
 * the part read the same cells in the cut, which has all of these; what else the op makes is not used. */
static void cut_scaled(xir_infer *at, const scale_axis *s, size_t dim, span over, span *in, int64_t *size) {
    const int64_t by = s->out / s->in;
    *in = (span){ 0, s->in };
    *size = s->out;
    if (over.begin == 0 && over.end == s->out) return;
    if (s->corners || s->out % s->in || (by & (by - 1)) || s->in > (int64_t)1 << 24) {
        xir_tile_makes(at, dim, 0, s->out);
        return;
    }
    scale_span(s, over, in);
    if (in->begin > over.begin / by) in->begin = over.begin / by;
    if (in->end < (over.end - 1) / by + 1) in->end = (over.end - 1) / by + 1;
    *size = (in->end - in->begin) * by;
    xir_tile_makes(at, dim, in->begin * by, in->end * by);
}

/* A map with n spatial axes; `sizes` gets those of the op of a tile, in the order of the axes D, H, W. */
static xir_status scale_needs(xir_infer *at, size_t n, scale_kind kind, bool corners, size_t places[MOST_SPATIAL],
                              int64_t sizes[MOST_SPATIAL]) {
    named_dims x;
    xir_status status = n >= 1 && n <= MOST_SPATIAL ? read_dims(at, 0, map_letters(n), &x) : XIR_E_INVALID;
    for (size_t k = 0; k < n && !status; k++) {
        const size_t dim = places[k] = x.at[1 + k];
        const scale_axis s = { kind, corners, x.dim[1 + k], dim_of_output(at, dim) };
        const span over = part_along(at, dim);
        span in;
        if (s.in < 1 || s.out < 1) return XIR_E_UNSUPPORTED;
        if (!xir_tile_asked(at)) scale_span(&s, over, &in);
        else cut_scaled(at, &s, dim, over, &in, &sizes[k]);
        xir_needs_along(at, 0, dim, in.begin, in.end);
    }
    if (status) return status;
    need_same(at, 0, x.at[0], x.at[0]);
    need_same(at, 0, x.at[n + 1], x.at[n + 1]);
    return XIR_OK;
}

xir_status resize_needs(xir_infer *at) {
    const xir_resize_attrs *a = xir_infer_attrs(at);
    const size_t n = rank_of_input(at, 0) - 2;
    int64_t sizes[MOST_SPATIAL], in_order[MOST_SPATIAL];
    size_t places[MOST_SPATIAL];
    const bool nearest = a->interpolation == XIR_RESIZE_INTER_NEAREST;
    xir_status status = scale_needs(at, n, nearest ? SCALE_NEAREST : SCALE_LINEAR, false, places, sizes);
    if (status || !xir_tile_asked(at)) return status;
    if (has_list(at)) return XIR_E_UNSUPPORTED;
    for (size_t k = 0; k < n; k++) {
        size_t place = 0;
        for (size_t other = 0; other < n; other++) place += places[other] < places[k];
        in_order[place] = sizes[k];
    }
    xir_tile_i64s(at, "dsize", in_order, n);
    return XIR_OK;
}

xir_status upsample_needs(xir_infer *at) {
    static const scale_kind kinds[] = {
        [XIR_UPSAMPLE_NEAREST] = SCALE_NEAREST, [XIR_UPSAMPLE_BILINEAR] = SCALE_LINEAR,
        [XIR_UPSAMPLE_BICUBIC] = SCALE_CUBIC
    };
    const xir_upsample_attrs *a = xir_infer_attrs(at);
    int64_t sizes[MOST_SPATIAL];
    size_t places[MOST_SPATIAL];
    if ((size_t)a->interpolation > XIR_UPSAMPLE_BICUBIC) return XIR_E_INVALID;
    xir_status status = scale_needs(at, 2, kinds[a->interpolation], a->align_corners, places, sizes);
    if (status || !xir_tile_asked(at)) return status;
    xir_tile_i64(at, "height", sizes[0]);
    xir_tile_i64(at, "width", sizes[1]);
    return XIR_OK;
}

/* The image at positions that the grid gives: whole, for the samples of the part. */
xir_status grid_sample_needs(xir_infer *at) {
    const size_t rank = rank_of_input(at, 0), n = rank - 2;
    named_dims x, grid;
    xir_status status = rank == 4 || rank == 5 ? read_dims(at, 0, map_letters(n), &x) : XIR_E_INVALID;
    if (!status) status = read_dims(at, 1, map_letters(n), &grid);
    if (status) return status;
    need_same(at, 0, x.at[0], x.at[0]);
    need_same(at, 0, x.at[n + 1], x.at[n + 1]);
    for (size_t k = 0; k <= n; k++) need_same(at, 1, grid.at[k], x.at[k]);
    return XIR_OK;
}

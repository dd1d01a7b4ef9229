/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The choice of tiles. Each axis is walked alone, and products bound the bytes of all tiles (tile_models.c). Sizes are
 * those that divide an axis into 1, 2, 3 … parts, a logarithm of them. Of the sizes that fit, those that compute the
 * fewest bytes are taken, and then those near them, with larger tiles at the ends. Then all places of these tiles are
 * walked: what is reported is exact, or a bound along axes that an op mixes. */
#include <inttypes.h>
#include <stdio.h>
#include "tile_models.h"

enum { MOST_SIZES = 64, MOST_CUTS = 3, TRIES = 6 };

/* Of two choices, the one with fewer bytes that are made; eight that are read count as one. */
static double score(double made, double read) { return made + read / 8; }

/* Sizes of tiles, and what they cost together. */
typedef struct choice {
    bool     found;
    tile_size size[TILE_AXES];
    int64_t  piece[XIR_BOX_DIMS];
    double   score;
    uint64_t peak;
} choice;

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

/* Adds a size unless there is no room. */
static size_t add_size(tile_size *sizes, size_t found, size_t most, int64_t size, int64_t count) {
    if (found < most) sizes[found++] = (tile_size){ size, size, count };
    return found;
}

/* Sizes that divide n into 1, 2, 3, … parts, the largest first; later numbers of parts are a quarter apart. An odd size
 * has an even neighbour, which suits strides and scales. */
static size_t sizes_of(int64_t n, tile_size sizes[MOST_SIZES], size_t most) {
    size_t found = 0;
    int64_t last = n + 1;
    for (int64_t parts = 1; found < most && parts <= n; parts += parts / 4 > 1 ? parts / 4 : 1) {
        const int64_t size = (n - 1) / parts + 1;
        if (size >= last) continue;
        if (size % 2 && size > 5 && size + 1 < last && found && found + 1 < most)
            found = add_size(sizes, found, most, size + 1, (n - 1) / (size + 1) + 1);
        found = add_size(sizes, found, most, size, (n - 1) / size + 1);
        last = size;
    }
    if (found && sizes[found - 1].size != 1) sizes[found < most ? found++ : found - 1] = tile_size_of(n, 1);
    return found;
}

/* ---- tiles without a stage -------------------------------------------------------------------------------------- */

/* The second half is always as the first; compilers see by it that there are no more axes. */
static bool is_last_axis(const xir_tiles *t, size_t axis) { return axis + 1 >= t->n_axes || axis + 1 >= TILE_AXES; }

/* Notes a choice that is better than `c`; `fits` is false if the tiles are too large. */
typedef xir_status fit_fn(searching *s, const tile_list *list, const axis_model *models, choice *c, bool *fits);

/* Along the last axis, the largest size that fits is taken. It is looked for from `place` on, which gets its place: for
 * the next, smaller size of another axis it is the same, or a larger one. */
static xir_status fit_last(searching *s, const tile_list *list, const tile_size *sizes, size_t n, size_t *place,
                           axis_model models[TILE_AXES], fit_fn *fit, choice *best) {
    const size_t axis = s->t->n_axes - 1;
    bool fits = false;
    xir_status status = XIR_OK;
    for (size_t i = *place; i < n && !fits && !status; i++) {
        if (!tile_model(s, list, (uint32_t)axis, sizes[i], false, &models[axis], &status)) break;
        status = fit(s, list, models, best, &fits);
        if (fits && i > *place) return *place = i, status;
    }
    while (fits && *place > 0 && !status) {
        if (!tile_model(s, list, (uint32_t)axis, sizes[*place - 1], false, &models[axis], &status)) break;
        status = fit(s, list, models, best, &fits);
        if (fits) --*place;
    }
    return status;
}

/* Walks the sizes of the axes, but for the last one. */
static xir_status each_size(searching *s, const tile_list *list, size_t axis, size_t *place,
                            axis_model models[TILE_AXES], fit_fn *fit, choice *best) {
    const xir_tiles *t = s->t;
    tile_size sizes[MOST_SIZES];
    const size_t n = sizes_of(t->axes[axis].n, sizes, t->n_axes > 2 ? 12 : MOST_SIZES);
    xir_status status = XIR_OK;
    if (is_last_axis(t, axis)) return fit_last(s, list, sizes, n, place, models, fit, best);
    for (size_t i = 0; i < n && !status; i++) {
        if (!tile_model(s, list, (uint32_t)axis, sizes[i], false, &models[axis], &status)) break;
        if (best->found) {   /* even with the other axes whole, smaller sizes make more */
            double read;
            const double made = tile_combine(s, list, models, axis + 1, &read);
            if (score(made, read) > 1.1 * best->score) break;
        }
        status = each_size(s, list, axis + 1, place, models, fit, best);
    }
    return status;
}

static xir_status search_sizes(searching *s, const tile_list *list, fit_fn *fit, choice *best) {
    axis_model models[TILE_AXES];
    size_t place = 0;
    *best = (choice){ .found = false };
    return each_size(s, list, 0, &place, models, fit, best);
}

static xir_status fit_plain(searching *s, const tile_list *list, const axis_model *models, choice *best, bool *fits) {
    double read;
    uint32_t at = 0;
    const double made = tile_combine(s, list, models, s->t->n_axes, &read);
    const uint64_t peak = tile_peak(list, &s->w, 0, &at);
    *fits = peak <= s->limit;
    if (!*fits || (best->found && score(made, read) >= best->score)) return XIR_OK;
    *best = (choice){ .found = true, .score = score(made, read), .peak = peak };
    for (size_t a = 0; a < s->t->n_axes; a++) best->size[a] = models[a].size;
    return XIR_OK;
}

static void use_sizes(xir_tiles *t, const choice *c) {
    memcpy(t->size, c->size, sizeof t->size);
}

/* Walks all places of the tiles. `fits` is false if they take more than the limit after all. */
static xir_status weigh_plain(searching *s, const choice *c, uint64_t room, bool *fits) {
    xir_tiles *t = s->t;
    axis_model models[TILE_AXES], once[TILE_AXES];
    xir_status status = XIR_OK;
    double read, made, read_once, made_once;
    uint32_t at = 0;
    for (size_t a = 0; a < t->n_axes && !status; a++) {
        if (tile_model(s, &t->all, (uint32_t)a, tile_size_of(t->axes[a].n, t->axes[a].n), false, &once[a], &status))
            (void)tile_model(s, &t->all, (uint32_t)a, c->size[a], true, &models[a], &status);
    }
    if (status) return status;
    made_once = tile_combine(s, &t->all, once, t->n_axes, &read_once);
    made = tile_combine(s, &t->all, models, t->n_axes, &read);
    const uint64_t peak = tile_peak(&t->all, &s->w, 0, &at);
    *fits = peak <= room;
    use_sizes(t, c);
    t->cost = (xir_tiles_cost){ .size = sizeof t->cost, .peak = peak, .op = t->steps[t->all.steps[at]].op,
                                .read = (uint64_t)(read + 0.5), .read_once = (uint64_t)(read_once + 0.5),
                                .made = (uint64_t)(made + 0.5), .made_once = (uint64_t)(made_once + 0.5) };
    return XIR_OK;
}

/* Sizes like one that has been found, of at most NEAR more or fewer elements; the first and the last tile, which need
 * less of what is around them, may be larger than the others. If the first is odd and the others are even, all begin at
 * odd elements, next to which a scale of two makes one element less. */
enum { NEAR = 2, MOST_NEAR = 3 * (2 * NEAR + 1) + 1 };

static size_t sizes_near(int64_t n, tile_size found, tile_size sizes[MOST_NEAR]) {
    size_t count = 0;
    sizes[count++] = found;
    for (int64_t size = found.size + NEAR; found.count > 1 && size >= found.size - NEAR; size--)
        for (int64_t more = 1; more <= 3 && size > 0; more += 1) {
            const int64_t first = size + more, inside = n - first - (size + 3);   /* between the first and the last */
            const int64_t tiles = inside > 0 ? (inside - 1) / size + 3 : 2;
            if (first + (tiles - 2) * size < n) sizes[count++] = (tile_size){ first, size, tiles };
        }
    return count;
}

static xir_status each_near(searching *s, const choice *found, size_t axis, axis_model models[TILE_AXES],
                            choice *best) {
    const xir_tiles *t = s->t;
    tile_size sizes[MOST_NEAR];
    const size_t n = sizes_near(t->axes[axis].n, found->size[axis], sizes);
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) {
        bool fits;
        double read;
        if (!tile_model(s, &t->all, (uint32_t)axis, sizes[i], false, &models[axis], &status)) break;
        const double made = tile_combine(s, &t->all, models, axis + 1, &read);
        if (score(made, read) >= best->score) continue;   /* even with the other axes whole */
        if (!is_last_axis(t, axis)) status = each_near(s, found, axis + 1, models, best);
        else status = fit_plain(s, &t->all, models, best, &fits);
    }
    return status;
}

/* ---- stages ----------------------------------------------------------------------------------------------------- */

/* Marks the steps that lead to a value. False if anything else that they make is used elsewhere. */
static bool mark_stage(const xir_tiles *t, uint32_t v, uint8_t *marks, uint8_t *wanted) {
    memset(marks, 0, t->n_steps);
    memset(wanted, 0, t->n_values);
    wanted[v] = 1;
    for (uint32_t i = t->values[v].step + 1; i-- > 0;) {
        const tile_step *s = &t->steps[i];
        for (uint32_t o = 0; o < s->n_out; o++) marks[i] |= wanted[s->first_out + o];
        for (uint32_t k = 0; k < s->n_in && marks[i]; k++)
            if (s->in[k] != NO_VALUE && t->values[s->in[k]].made) wanted[s->in[k]] = 1;
    }
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const tile_step *s = &t->steps[i];
        for (uint32_t o = 0; o < s->n_out && marks[i]; o++)
            if (t->values[s->first_out + o].output) return false;
        for (uint32_t k = 0; k < s->n_in && !marks[i]; k++) {
            const uint32_t used = s->in[k];
            if (used != NO_VALUE && used != v && t->values[used].made && marks[t->values[used].step]) return false;
        }
    }
    return true;
}

/* Returns true if an op writes its output over a value: a stage may as well make that output. */
static bool is_written_over(const xir_tiles *t, uint32_t v) {
    const tile_step *user = &t->steps[t->all.steps[t->all.last[v]]];
    return user->n_out == 1 && t->all.over[user->first_out] == v && !t->values[user->first_out].output;
}

/* The values for which a stage is tried: the largest that can have one, of equal ones the last. */
static uint32_t find_cuts(const xir_tiles *t, uint8_t *marks, uint8_t *wanted, uint32_t cuts[MOST_CUTS]) {
    uint32_t n = 0, looked = 0;
    uint64_t sizes[MOST_CUTS];
    for (uint32_t v = t->n_values; v-- > 0 && looked < 64;) {
        const tile_value *value = &t->values[v];
        if (!value->made || value->output || t->steps[value->step].n_out != 1 || is_written_over(t, v)) continue;
        looked++;
        const uint64_t size = xir_box_elements(&value->whole) * value->bits;
        if ((n == MOST_CUTS && size <= sizes[n - 1]) || !mark_stage(t, v, marks, wanted)) continue;
        uint32_t at = n < MOST_CUTS ? n++ : n - 1;
        for (; at > 0 && sizes[at - 1] < size; at--) {
            sizes[at] = sizes[at - 1];
            cuts[at] = cuts[at - 1];
        }
        sizes[at] = size;
        cuts[at] = v;
    }
    return n;
}

static bool open_stage(searching *s, uint32_t cut, uint8_t *marks, uint8_t *wanted) {
    xir_tiles *t = s->t;
    (void)mark_stage(t, cut, marks, wanted);
    if (!tile_list_make(t, marks, &cut, 1, &t->stage)) return false;
    for (uint32_t i = 0; i < t->n_steps; i++) marks[i] = !marks[i];
    if (!tile_list_make(t, marks, t->outputs, t->n_outputs, &t->rest)) return false;
    t->rest.first[cut] = 0;   /* it is made before the rest begins */
    for (uint32_t k = 0; k < t->values[cut].whole.rank; k++)
        s->of_cut[k] = (tile_axis){ .n = t->values[cut].whole.end[k], .dim = { k } };
    tile_models_forget(s);
    return true;
}

/* The peak of a stage whose pieces have these sizes, and the score of all pieces of the whole value. */
static xir_status weigh_pieces(searching *s, const int64_t *piece, uint64_t held, uint64_t *peak, double *all) {
    const xir_tiles *t = s->t;
    const uint32_t rank = t->values[t->stage.targets[0]].whole.rank;
    axis_model models[XIR_BOX_DIMS];
    xir_status status = XIR_OK;
    uint32_t at;
    double read;
    size_t n = 0;
    for (uint32_t k = 0; k < rank && !status; k++) {
        const tile_size size = tile_size_of(s->of_cut[k].n, piece[k]);
        if (size.count > 1) n += tile_model(s, &t->stage, k, size, false, &models[n], &status);
    }
    if (status) return status;
    const double made = tile_combine(s, &t->stage, models, n, &read);
    *peak = tile_peak(&t->stage, &s->w, held, &at);
    *all = score(made, read);
    return XIR_OK;
}

static int64_t next_smaller(int64_t n, int64_t size) {
    const int64_t parts = (n - 1) / size + 1;
    const int64_t next = (n - 1) / (parts + (parts > 3 ? parts / 2 : 1)) + 1;
    return next < size ? next : size - 1;
}

/* Pieces that fit: cut from the whole part on, each time along the dim that leaves the best score, and of equal ones
 * the lowest peak. *all gets the score, and the search ends when that reaches `most`: smaller pieces make more. */
static xir_status find_pieces(searching *s, const int64_t *whole, uint64_t held, double most, int64_t *piece,
                              double *all, bool *found) {
    const uint32_t rank = s->t->values[s->t->stage.targets[0]].whole.rank;
    uint64_t peak = 0;
    memcpy(piece, whole, rank * sizeof *piece);
    *found = false;
    if (held > s->limit) return XIR_OK;
    xir_status status = weigh_pieces(s, piece, held, &peak, all);
    for (int step = 0; step < 40 && peak > s->limit && *all < most && !status; step++) {
        uint32_t best = rank;
        uint64_t best_peak = peak;
        double best_all = 0;
        for (uint32_t k = 0; k < rank && !status; k++) {
            const int64_t old = piece[k];
            uint64_t lower = 0;
            double now = 0;
            if (old == 1) continue;
            piece[k] = next_smaller(whole[k], old);
            status = weigh_pieces(s, piece, held, &lower, &now);
            const bool less = best == rank || now < best_all * 0.99;
            const bool same = best < rank && now <= best_all * 1.01 && lower < best_peak;
            if (!status && lower < peak && (less || same)) {
                best = k;
                best_peak = lower;
                best_all = now;
            }
            piece[k] = old;
        }
        if (best == rank || status) return status;
        piece[best] = next_smaller(whole[best], piece[best]);
        status = weigh_pieces(s, piece, held, &peak, all);
    }
    *found = !status && peak <= s->limit && *all < most;
    return status;
}

static xir_status fit_staged(searching *s, const tile_list *list, const axis_model *models, choice *best, bool *fits) {
    const xir_tiles *t = s->t;
    const uint32_t cut = t->stage.targets[0], rank = t->values[cut].whole.rank;
    int64_t whole[XIR_BOX_DIMS], piece[XIR_BOX_DIMS];
    double read, of_stage = 0, share = 1;
    uint32_t at = 0;
    bool found = false;
    const double made = tile_combine(s, list, models, t->n_axes, &read), rest = score(made, read);
    const uint64_t held = s->w.bytes[cut], peak = tile_peak(list, &s->w, 0, &at);
    if (peak > s->limit) return XIR_OK;
    const double most = best->found ? best->score : s->most;
    if (rest >= most) return *fits = true, XIR_OK;   /* smaller ones make more */
    for (uint32_t k = 0; k < rank; k++) {
        whole[k] = t->values[cut].whole.end[k];
        for (size_t a = 0; a < t->n_axes; a++)
            if (models[a].extent[cut][k] < whole[k]) whole[k] = models[a].extent[cut][k];
        if (whole[k] < 1) return XIR_OK;
    }
    for (size_t a = 0; a < t->n_axes; a++) share *= models[a].share[cut];   /* how often the value is made */
    xir_status status = find_pieces(s, whole, held, (most - rest) / share, piece, &of_stage, &found);
    const double sum = rest + of_stage * share;
    *fits = found || sum >= most;
    if (status || !found || sum >= most) return status;
    *best = (choice){ .found = true, .score = sum };
    for (size_t a = 0; a < t->n_axes; a++) best->size[a] = models[a].size;
    memcpy(best->piece, piece, rank * sizeof *piece);
    return XIR_OK;
}

static double bytes_made(const xir_tiles *t, const tile_list *list, const tile_walk *w, double *read) {
    double made = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const tile_step *step = &t->steps[list->steps[i]];
        for (uint32_t o = 0; o < step->n_out; o++) made += (double)w->bytes[step->first_out + o];
    }
    for (uint32_t v = 0; v < t->n_values; v++)
        if (!t->values[v].made && list->first[v] <= list->last[v]) *read += (double)w->bytes[v];
    return made;
}

/* Walks all pieces of all tiles. */
static xir_status weigh_staged(searching *s, const choice *c, uint64_t room, bool *fits) {
    xir_tiles *t = s->t;
    const uint32_t cut = t->stage.targets[0];
    double made = 0, read = 0;
    size_t walks = 0;
    uint32_t at = 0;
    xir_status status = XIR_OK;
    t->cost.peak = 0;
    t->cost.staged = true;
    use_sizes(t, c);
    memcpy(t->piece, c->piece, sizeof t->piece);
    for (size_t i = 0; i < tile_count(t) && !status; i++) {
        if (++walks > MOST_WALKS) return *fits = false, XIR_OK;
        tile_targets(t, &t->rest, i, &s->w);
        status = tile_walk_run(t, &t->rest, &s->w, s->why);
        tile_walk_bytes(t, &s->w);
        if (status) break;
        made += bytes_made(t, &t->rest, &s->w, &read);
        const uint64_t held = s->w.bytes[cut], peak = tile_peak(&t->rest, &s->w, 0, &at);
        if (peak > t->cost.peak) {
            t->cost.peak = peak;
            t->cost.op = t->steps[t->rest.steps[at]].op;
        }
        const xir_box whole = s->w.parts[cut];
        xir_box piece;
        int64_t counts[XIR_BOX_DIMS];
        for (size_t k = 0; !whole.none && tile_piece(t, &whole, k, &piece, counts) && !status; k++) {
            if (++walks > MOST_WALKS) return *fits = false, XIR_OK;
            tile_walk_begin(t, &s->w);
            s->w.parts[cut] = piece;
            status = tile_walk_run(t, &t->stage, &s->w, s->why);
            tile_walk_bytes(t, &s->w);
            made += bytes_made(t, &t->stage, &s->w, &read);
            const uint64_t more = tile_peak(&t->stage, &s->w, held, &at);
            if (more <= t->cost.peak) continue;
            t->cost.peak = more;
            t->cost.op = t->steps[t->stage.steps[at]].op;
        }
    }
    t->cost.made = (uint64_t)made;
    t->cost.read = (uint64_t)read;
    *fits = t->cost.peak <= room;
    return status;
}

/* ---- the search ------------------------------------------------------------------------------------------------- */

/* Looks for tiles until those that are chosen fit at all places. */
static xir_status search_plain(searching *s, uint64_t room, bool *found, choice *best) {
    axis_model models[TILE_AXES];
    xir_status status = XIR_OK;
    *found = false;
    s->limit = room;
    for (int i = 0; i < TRIES && !*found && !status; i++) {
        status = search_sizes(s, &s->t->all, fit_plain, best);
        if (status || !best->found) break;
        const choice like = *best;
        if (s->t->n_axes <= 2) status = each_near(s, &like, 0, models, best);
        if (!status) status = weigh_plain(s, best, room, found);
        s->limit = best->peak - 1;
    }
    return status;
}

/* Looks for a stage with a score below `most`. */
static xir_status search_staged(searching *s, uint64_t room, double most, bool *found) {
    xir_tiles *t = s->t;
    uint8_t *marks = arena_take(&s->memory, t->n_steps + (size_t)1);
    uint8_t *wanted = arena_take(&s->memory, t->n_values + (size_t)1);
    uint32_t cuts[MOST_CUTS];
    const xir_tiles_cost plain = t->cost;
    const choice sizes = { .size = { t->size[0], t->size[1], t->size[2] } };
    const bool had_plain = *found;
    choice best[MOST_CUTS];
    xir_status status = XIR_OK;
    if (!marks || !wanted) return diag_memory(s->why);
    const uint32_t n = find_cuts(t, marks, wanted, cuts);
    bool fits = false;
    for (uint32_t i = 0; i < n && !status; i++) {
        best[i] = (choice){ .found = false };
        s->limit = room;
        s->most = most;
        if (!open_stage(s, cuts[i], marks, wanted)) return diag_memory(s->why);
        if (t->rest.n && t->stage.n) status = search_sizes(s, &t->rest, fit_staged, &best[i]);
    }
    for (uint32_t tries = 0; tries < n && !fits && !status; tries++) {
        uint32_t least = n;
        for (uint32_t i = 0; i < n; i++)
            if (best[i].found && (least == n || best[i].score < best[least].score)) least = i;
        if (least == n || best[least].score >= most) break;
        if (!open_stage(s, cuts[least], marks, wanted)) return diag_memory(s->why);
        status = weigh_staged(s, &best[least], room, &fits);
        best[least].found = false;
    }
    if (!status && fits && score((double)t->cost.made, (double)t->cost.read) < most) {
        t->staged = *found = true;
        return XIR_OK;
    }
    t->cost = plain;
    if (had_plain) use_sizes(t, &sizes);
    return status;
}

/* Nothing fits: names the op while which the most bytes of the smallest tile are alive. */
static xir_status too_small(searching *s, const xir_tiles_options *how) {
    const xir_tiles *t = s->t;
    axis_model models[TILE_AXES];
    xir_status status = XIR_OK;
    uint32_t at = 0;
    double read;
    char path[40];
    for (size_t a = 0; a < t->n_axes && !status; a++)
        (void)tile_model(s, &t->all, (uint32_t)a, tile_size_of(t->axes[a].n, 1), false, &models[a], &status);
    if (status) return status;
    (void)tile_combine(s, &t->all, models, t->n_axes, &read);
    const uint64_t peak = tile_peak(&t->all, &s->w, 0, &at);
    const xir_op *op = t->steps[t->all.steps[at]].op;
    const xir_str name = xir_op_name(op);
    snprintf(path, sizeof path, "/ops/%" PRId64, xir_network_index_of(t->net, op));
    return diag_fail(s->why, XIR_E_LIMIT, xir_str_of(path), "%.*s%s%.*s%s: %" PRIu64 " bytes are alive while it runs, "
                     "in tiles of one element along %s: the budget is %" PRIu64 " bytes", CLIP_TO(op->cls->key, 200),
                     name.size ? " '" : "", CLIP_TO(name, 80), name.size ? "'" : "", peak, how->letters, how->budget);
}

xir_status tiles_search(xir_tiles *t, const xir_tiles_options *how, xir_diags *why) {
    searching s = { .t = t, .why = why };
    choice best = { .found = false };
    bool found = false;
    arena_init(&s.memory, t->alloc);
    xir_status status = tile_walk_open(t, &s.memory, &s.w, why);
    if (!status) status = search_plain(&s, how->budget, &found, &best);
    /* a stage is worth its pieces if it saves a tenth, of tiles that compute half of the bytes twice */
    const double once = (double)t->cost.made_once, made = (double)t->cost.made;
    if (!status && !how->whole && (!found || made > 1.5 * once)) {
        if (!found) {   /* made_once is known from one tile of everything */
            bool fits;
            choice one = { .found = false };
            for (size_t a = 0; a < t->n_axes; a++) one.size[a] = tile_size_of(t->axes[a].n, t->axes[a].n);
            status = weigh_plain(&s, &one, how->budget, &fits);
        }
        const double most = found ? 0.9 * score(made, (double)t->cost.read) : 1e300;
        if (!status) status = search_staged(&s, how->budget, most, &found);
    }
    if (!status && !found) status = too_small(&s, how);
    tile_walk_close(t, &s.w);
    mem_free(t->alloc, s.models, s.model_room * sizeof *s.models);
    arena_free(&s.memory);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A region as steps over numbered values, and the parts of these that a tile needs. The ops are walked from the last to
 * the first; when an op is asked, all that use its output have been. */
#include <inttypes.h>
#include <stdio.h>
#include "class_shares.h"
#include "needs_walk.h"
#include "shares.h"
#include "sized.h"
#include "tiles.h"
#include "view.h"

#define TILES_OPTIONS SIZED(xir_tiles_options, whole)
#define TILES_COST    SIZED(xir_tiles_cost, made_once)

/* ---- walks ------------------------------------------------------------------------------------------------------ */

xir_status tile_walk_open(const xir_tiles *t, arena *memory, tile_walk *w, xir_diags *why) {
    xir_status status = XIR_OK;
    w->n_askers = 0;
    w->parts = arena_take(memory, (t->n_values + (size_t)1) * sizeof *w->parts);
    w->asked = arena_take(memory, (t->n_steps + (size_t)1) * sizeof *w->asked);
    w->in = arena_take(memory, (t->most_in + (size_t)1) * sizeof *w->in);
    w->bytes = arena_take(memory, (t->n_values + (size_t)1) * sizeof *w->bytes);
    w->alive = arena_take(memory, (t->n_steps + (size_t)2) * sizeof *w->alive);
    w->askers = arena_take(memory, (t->n_steps + (size_t)1) * sizeof *w->askers);
    if (!w->parts || !w->asked || !w->in || !w->bytes || !w->alive || !w->askers) return diag_memory(why);
    for (; w->n_askers < t->n_steps; w->n_askers++) {
        const tile_step *s = &t->steps[w->n_askers];
        xir_box *inputs = arena_take(memory, (s->n_in + (size_t)1) * sizeof *inputs);
        if (!inputs) return diag_memory(why);
        if (s->n_out == 1) status = needs_asker_open(&w->askers[w->n_askers], s->op, inputs, why);
        if (status) return status;
    }
    return XIR_OK;
}

void tile_walk_close(const xir_tiles *t, tile_walk *w) {
    for (uint32_t i = 0; i < w->n_askers; i++)
        if (t->steps[i].n_out == 1) needs_asker_close(&w->askers[i]);
}

void tile_walk_begin(const xir_tiles *t, tile_walk *w) {
    for (uint32_t i = 0; i < t->n_values; i++) {
        w->parts[i].rank = t->values[i].whole.rank;
        w->parts[i].none = 1;
    }
}

xir_status tile_step_ask(uint32_t step, tile_walk *w, infer_needs_seen *seen, xir_diags *why) {
    seen->output = 0;
    seen->part = w->asked[step];
    seen->in = w->in;
    seen->tile = true;
    return needs_asker_ask(&w->askers[step], seen, why);
}

/* Everything that an op makes and reads. */
static void ask_whole(const xir_tiles *t, const tile_step *s, tile_walk *w) {
    for (uint32_t o = 0; o < s->n_out; o++) w->parts[s->first_out + o] = t->values[s->first_out + o].whole;
    for (uint32_t i = 0; i < s->n_in; i++)
        if (s->in[i] != NO_VALUE) w->parts[s->in[i]] = t->values[s->in[i]].whole;
}

static xir_status ask_step(const xir_tiles *t, uint32_t step, tile_walk *w, xir_diags *why) {
    const tile_step *s = &t->steps[step];
    infer_needs_seen seen;
    w->asked[step].none = 1;
    if (s->n_out != 1) {
        bool any = false;
        for (uint32_t o = 0; o < s->n_out; o++) any |= !w->parts[s->first_out + o].none;
        if (any) ask_whole(t, s, w);
        return XIR_OK;
    }
    xir_box *part = &w->parts[s->first_out];
    if (part->none) return XIR_OK;
    w->asked[step] = *part;
    xir_status status = tile_step_ask(step, w, &seen, why);
    if (status) return status;
    if (!seen.possible) {
        w->asked[step].none = 1;
        ask_whole(t, s, w);
        return XIR_OK;
    }
    *part = seen.makes;
    for (uint32_t i = 0; i < s->n_in; i++)
        if (s->in[i] != NO_VALUE) box_join(&w->parts[s->in[i]], &seen.in[i]);
    return XIR_OK;
}

xir_status tile_walk_run(const xir_tiles *t, const tile_list *list, tile_walk *w, xir_diags *why) {
    xir_status status = XIR_OK;
    for (uint32_t i = list->n; i-- > 0 && !status;) status = ask_step(t, list->steps[i], w, why);
    return status;
}

void tile_walk_bytes(const xir_tiles *t, tile_walk *w) {
    for (uint32_t i = 0; i < t->n_values; i++) {
        const tile_value *v = &t->values[i];
        w->bytes[i] = v->params ? 0 : (xir_box_elements(&w->parts[i]) * v->bits + 7) / 8;
    }
}

uint64_t tile_peak(const tile_list *list, const tile_walk *w, uint64_t held, uint32_t *at) {
    int64_t *alive = w->alive, now = 0, most = -1;
    memset(alive, 0, (list->n + (size_t)2) * sizeof *alive);
    for (uint32_t m = 0; m < list->n_maps; m++) {
        const uint32_t i = list->maps[m], first = list->first[i], last = list->last[i], over = list->over[i];
        if (!w->bytes[i]) continue;
        const bool shares = over != NO_VALUE && w->bytes[over] == w->bytes[i];
        alive[first + shares] += (int64_t)w->bytes[i];
        alive[last + 1] -= (int64_t)w->bytes[i];
    }
    for (uint32_t i = 0; i < list->n; i++) {
        now += alive[i];
        if (now <= most) continue;
        most = now;
        *at = i;
    }
    return held + (most < 0 ? 0 : (uint64_t)most);
}

void tile_cut(const xir_tiles *t, const tile_list *list, size_t i, const tile_axis *axis, int64_t begin, int64_t end,
              xir_box *part) {
    const uint32_t dim = axis->dim[i];
    const int64_t own = t->values[list->targets[i]].whole.end[dim];
    if (part->none) return;
    part->begin[dim] = own == axis->n ? begin : (int64_t)((double)begin / (double)axis->n * (double)own);
    part->end[dim] = own == axis->n ? end : (int64_t)((double)end / (double)axis->n * (double)own);
    if (end == axis->n) part->end[dim] = own;
    if (part->begin[dim] >= part->end[dim]) part->none = 1;
}

size_t tile_count(const xir_tiles *t) {
    size_t n = 1;
    for (size_t a = 0; a < t->n_axes; a++) n *= (size_t)t->size[a].count;
    return n;
}

/* The part of target `i` of a list that a tile has. */
static xir_box part_of_tile(const xir_tiles *t, const tile_list *list, size_t i, size_t tile) {
    xir_box part = t->values[list->targets[i]].whole;
    for (size_t a = t->n_axes; a-- > 0;) {
        const tile_size size = t->size[a];
        const int64_t place = (int64_t)(tile % (size_t)size.count);
        tile_cut(t, list, i, &t->axes[a], tile_begin(size, place), tile_end(size, t->axes[a].n, place), &part);
        tile /= (size_t)size.count;
    }
    return part;
}

void tile_targets(const xir_tiles *t, const tile_list *list, size_t tile, tile_walk *w) {
    tile_walk_begin(t, w);
    for (size_t i = 0; i < list->n_targets; i++) w->parts[list->targets[i]] = part_of_tile(t, list, i, tile);
}

bool tile_piece(const xir_tiles *t, const xir_box *part, size_t i, xir_box *piece, int64_t counts[XIR_BOX_DIMS]) {
    *piece = *part;
    for (size_t k = part->rank; k-- > 0;) {
        const int64_t length = part->end[k] - part->begin[k], size = t->piece[k] < length ? t->piece[k] : length;
        counts[k] = (length - 1) / size + 1;
        piece->begin[k] = part->begin[k] + (int64_t)(i % (size_t)counts[k]) * size;
        piece->end[k] = piece->begin[k] + size < part->end[k] ? piece->begin[k] + size : part->end[k];
        i /= (size_t)counts[k];
    }
    return i == 0;
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* The input whose bytes an op may write its output over; all that the op reads of it is in the same place. */
static uint32_t find_over(const xir_tiles *t, const tile_list *list, uint32_t at, const tile_step *s) {
    const class_shares *row = &s->op->cls->more->shares;
    if (s->n_out != 1 || (row->kind != SHARES_OVER && row->kind != SHARES_VIEW)) return NO_VALUE;
    const tile_value *out = &t->values[s->first_out];
    for (uint32_t i = 0; i < s->n_in; i++) {
        const uint32_t v = s->in[i];
        if (v == NO_VALUE || t->values[v].params || list->last[v] != at || !shares_names_input(s->op, i)) continue;
        bool fits = t->values[v].bits == out->bits;
        for (uint32_t k = 0; k < list->n_targets; k++) fits &= list->targets[k] != v;
        for (uint32_t k = 0; k < s->n_in; k++) fits &= s->in[k] != v || shares_names_input(s->op, k);
        if (fits) return v;
    }
    return NO_VALUE;
}

bool tile_list_make(xir_tiles *t, const uint8_t *marks, const uint32_t *targets, uint32_t n_targets, tile_list *out) {
    const size_t bytes = (t->n_values + (size_t)1) * sizeof(uint32_t);
    *out = (tile_list){ .n_targets = n_targets };
    out->steps = arena_take(&t->memory, (t->n_steps + (size_t)1) * sizeof *out->steps);
    out->targets = arena_copy(&t->memory, targets, n_targets * sizeof *targets);
    out->first = arena_take(&t->memory, bytes);
    out->last = arena_take(&t->memory, bytes);
    out->over = arena_take(&t->memory, bytes);
    out->maps = arena_take(&t->memory, bytes);
    if (!out->steps || !out->targets || !out->first || !out->last || !out->over || !out->maps) return false;
    for (uint32_t i = 0; i < t->n_values; i++) {
        out->first[i] = out->over[i] = NO_VALUE;
        out->last[i] = 0;
    }
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (marks[i]) out->steps[out->n++] = i;
    for (uint32_t at = 0; at < out->n; at++) {
        const tile_step *s = &t->steps[out->steps[at]];
        for (uint32_t i = 0; i < s->n_in; i++) {
            if (s->in[i] == NO_VALUE) continue;
            if (out->first[s->in[i]] == NO_VALUE) out->first[s->in[i]] = at;
            out->last[s->in[i]] = at;
        }
        for (uint32_t o = 0; o < s->n_out; o++) out->first[s->first_out + o] = out->last[s->first_out + o] = at;
    }
    for (uint32_t i = 0; i < n_targets; i++)
        if (out->n) out->last[targets[i]] = out->n - 1;
    for (uint32_t at = 0; at < out->n; at++) {
        const tile_step *s = &t->steps[out->steps[at]];
        if (s->n_out) out->over[s->first_out] = find_over(t, out, at, s);
    }
    for (uint32_t i = 0; i < t->n_values; i++)
        if (out->first[i] <= out->last[i] && !t->values[i].params) out->maps[out->n_maps++] = i;
    return true;
}

/* ---- opening a region ------------------------------------------------------------------------------------------- */

typedef struct opening {
    xir_tiles     *t;
    const xir_op **ops;
    size_t         n;
    pointer_table  places;     /* of values, and of ops by their address */
    size_t         value_room;
    xir_diags     *why;
} opening;

static xir_status fail_at(const opening *o, const xir_op *op, xir_status code, const char *sentence) {
    char path[40];
    snprintf(path, sizeof path, "/ops/%" PRId64, xir_network_index_of(o->t->net, op));
    return diag_fail(o->why, code, xir_str_of(path), "%.*s: %s", CLIP_TO(op->cls->key, 200), sentence);
}

/* Numbers a value. */
static xir_status add_value(opening *o, const xir_op *op, const xir_value *v, bool made, uint32_t step, uint32_t *out) {
    xir_tiles *t = o->t;
    xir_box whole = XIR_INIT(xir_box);
    xir_status status = xir_box_whole(v->type, &whole, NULL);
    if (status == XIR_E_TYPE) return fail_at(o, op, status, "a value is not a tensor");
    if (status == XIR_E_BOUNDS) return fail_at(o, op, status, "a value has a dim that is not known: bind it first");
    if (status) return fail_at(o, op, status, "a value has too many dims");
    if (whole.none) return fail_at(o, op, XIR_E_INVALID, "a value has no elements");
    const uint32_t *place = pointer_table_add(&o->places, v, t->n_values);
    if (!place) return diag_memory(o->why);
    *out = *place;
    if (*place != t->n_values) return XIR_OK;
    if (!mem_reserve(t->alloc, (void **)&t->values, &o->value_room, t->n_values + (size_t)1, sizeof *t->values))
        return diag_memory(o->why);
    const uint64_t bits = xir_type_storage_bits(v->type);
    t->values[t->n_values++] = (tile_value){ .value = v, .whole = whole, .bits = bits,
                                             .bytes = (double)xir_box_elements(&whole) * (double)bits / 8,
                                             .params = value_is_params(v), .made = made, .step = step };
    return XIR_OK;
}

static bool is_inside(const opening *o, const xir_op *op) {
    return op && pointer_table_find(&o->places, op);
}

static bool is_used_outside(const opening *o, const xir_value *v, bool *used) {
    bool outside = false;
    for (const xir_use *u = v->uses; u; u = u->next) {
        const xir_op *user = placed_user(u);
        if (!user) continue;
        *used = true;
        outside |= !is_inside(o, user);
    }
    return outside;
}

static xir_status add_step(opening *o, uint32_t step) {
    xir_tiles *t = o->t;
    const xir_op *op = o->ops[step];
    xir_status status = XIR_OK;
    if (op->cls->traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK))
        return fail_at(o, op, XIR_E_INVALID, "an end of the network is not part of a region");
    if (op_has_children(op) && xir_class_needs(op->cls) == XIR_NEEDS_ALL)
        return fail_at(o, op, XIR_E_INVALID, "ops with sub ops are not computed in tiles");
    uint32_t *in = arena_take(&t->memory, (op->n_inputs + (size_t)1) * sizeof *in);
    if (!in) return diag_memory(o->why);
    for (uint32_t i = 0; i < op->n_inputs && !status; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        in[i] = NO_VALUE;
        if (v) status = add_value(o, op, v, false, step, &in[i]);
    }
    t->steps[step] = (tile_step){ .op = op, .in = in, .n_in = op->n_inputs, .n_out = op->n_outputs };
    if (op->n_inputs > t->most_in) t->most_in = op->n_inputs;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) {
        uint32_t place;
        status = add_value(o, op, &op_outputs(op)[i], true, step, &place);
        if (status) break;
        if (i == 0) t->steps[step].first_out = place;
        if (!t->values[place].made || place != t->steps[step].first_out + i)
            return fail_at(o, op, XIR_E_INVALID, "what it makes is used before");
    }
    return status;
}

/* Values that leave the region, and those of ops without users. */
static xir_status find_outputs(opening *o) {
    xir_tiles *t = o->t;
    t->outputs = arena_take(&t->memory, (t->n_values + (size_t)1) * sizeof *t->outputs);
    if (!t->outputs) return diag_memory(o->why);
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const tile_step *s = &t->steps[i];
        bool used = false;
        for (uint32_t k = 0; k < s->n_out; k++)
            t->values[s->first_out + k].output = is_used_outside(o, t->values[s->first_out + k].value, &used);
        if (!used && s->n_out) t->values[s->first_out].output = true;
        for (uint32_t k = 0; k < s->n_out; k++)
            if (t->values[s->first_out + k].output) t->outputs[t->n_outputs++] = s->first_out + k;
    }
    if (!t->n_outputs) return diag_fail(o->why, XIR_E_INVALID, XIR_STR(""), "the region has no outputs");
    if (t->n_outputs > MOST_TARGETS)
        return diag_fail(o->why, XIR_E_LIMIT, XIR_STR(""), "the region has %" PRIu32 " outputs: expected at most %d",
                         t->n_outputs, MOST_TARGETS);
    return XIR_OK;
}

/* The axes of a letter in all outputs; the longest one is cut evenly. */
static xir_status find_axis(opening *o, char letter, tile_axis *axis) {
    xir_tiles *t = o->t;
    axis->n = 0;
    for (uint32_t i = 0; i < t->n_outputs; i++) {
        const tile_value *v = &t->values[t->outputs[i]];
        const xir_layout *layout = xir_type_layout(v->value->type);
        const int64_t dim = xir_layout_rank(layout) == v->whole.rank ? xir_layout_index(layout, letter) : -1;
        char sentence[120];
        snprintf(sentence, sizeof sentence, "an output of the region has no axis %c in its layout, %.*s",
                 letter > ' ' && letter < 127 ? letter : '?', CLIP_TO(xir_layout_text(layout), 40));
        if (dim < 0) return fail_at(o, t->steps[v->step].op, XIR_E_INVALID, sentence);
        axis->dim[i] = (uint32_t)dim;
        if (v->whole.end[dim] > axis->n) axis->n = v->whole.end[dim];
    }
    return XIR_OK;
}

/* Numbers whose sums fit, whatever is added up below. */
static xir_status check_sizes(const opening *o) {
    const xir_tiles *t = o->t;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->n_values; i++) {
        const uint64_t n = xir_box_elements(&t->values[i].whole);
        uint64_t bits;
        if (!mul_u64(n, t->values[i].bits, &bits) || !add_u64(sum, bits, &sum) || sum > (uint64_t)1 << 56)
            return diag_fail(o->why, XIR_E_LIMIT, XIR_STR(""), "the values of the region exceed 2^53 bytes");
    }
    return XIR_OK;
}

static xir_status open_region(opening *o, const xir_tiles_options *how) {
    xir_tiles *t = o->t;
    xir_status status = XIR_OK;
    const size_t n_letters = strlen(how->letters);
    if (n_letters > TILE_AXES)
        return diag_fail(o->why, XIR_E_INVALID, XIR_STR("letters"), "%zu letters are given: expected at most %d",
                         n_letters, TILE_AXES);
    for (size_t i = 1; i < n_letters; i++)
        if (memchr(how->letters, how->letters[i], i))
            return diag_fail(o->why, XIR_E_INVALID, XIR_STR("letters"), "letter %zu is given twice", i);
    t->n_steps = (uint32_t)o->n;
    t->steps = arena_take(&t->memory, (o->n + 1) * sizeof *t->steps);
    if (!t->steps) return diag_memory(o->why);
    for (size_t i = 0; i < o->n; i++)
        if (!pointer_table_add(&o->places, o->ops[i], 0)) return diag_memory(o->why);
    for (uint32_t i = 0; i < t->n_steps && !status; i++) status = add_step(o, i);
    if (!status) status = check_sizes(o);
    if (!status) status = find_outputs(o);
    t->n_axes = n_letters;
    for (size_t a = 0; a < n_letters && !status; a++) status = find_axis(o, how->letters[a], &t->axes[a]);
    if (status) return status;
    uint8_t *marks = arena_take(&t->memory, o->n + 1);
    if (!marks) return diag_memory(o->why);
    memset(marks, 1, o->n + 1);
    return tile_list_make(t, marks, t->outputs, t->n_outputs, &t->all) ? XIR_OK : diag_memory(o->why);
}

xir_tiles *xir_region_tiles(const xir_network *net, xir_op *const *ops, size_t n, const xir_tiles_options *options,
                            xir_diags *why) {
    xir_tiles_options how;
    const char *null = !net ? "net" : !ops || !n ? "ops" : !options ? "options" : NULL;
    opening o = { .n = n, .why = why };
    if (null) return diag_null(why, null), NULL;
    xir_status status = sized_take(TILES_OPTIONS, &how, options, why);
    if (!status && (!how.letters || !*how.letters)) status = diag_null(why, "letters");
    if (!status && n > UINT32_MAX / 2) status = diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "too many ops");
    if (!status) status = xir_region_check(net, ops, n, why);
    if (!status) status = region_sort(net, ops, n, &o.ops, why);
    if (status) return NULL;
    const xir_allocator *alloc = &net->alloc;
    xir_tiles *t = o.t = mem_new(alloc, sizeof *t);
    if (t) {
        *t = (xir_tiles){ .net = net, .alloc = alloc };
        arena_init(&t->memory, alloc);
        pointer_table_init(&o.places, alloc);
        status = open_region(&o, &how);
        pointer_table_free(&o.places);
        tile_value *values = t->values;
        t->values = status ? NULL : arena_copy(&t->memory, values, t->n_values * sizeof *values);
        if (!status && !t->values) status = diag_memory(why);
        mem_free(alloc, values, o.value_room * sizeof *values);
        if (!status) status = tiles_search(t, &how, why);
    } else {
        status = diag_memory(why);
    }
    mem_free(alloc, (void *)o.ops, (n + 1) * sizeof *o.ops);
    if (!status) return t;
    xir_tiles_free(t);
    return NULL;
}

void xir_tiles_free(xir_tiles *tiles) {
    if (!tiles) return;
    const xir_allocator *alloc = tiles->alloc;
    arena_free(&tiles->memory);
    mem_free(alloc, tiles, sizeof *tiles);
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

size_t xir_tiles_count(const xir_tiles *tiles) { return tiles ? tile_count(tiles) : 0; }

bool xir_tiles_part(const xir_tiles *tiles, size_t i, const xir_value *output, xir_box *out) {
    if (!tiles || !out || i >= tile_count(tiles)) return false;
    for (uint32_t k = 0; k < tiles->n_outputs; k++) {
        if (tiles->values[tiles->outputs[k]].value != output) continue;
        const xir_box part = part_of_tile(tiles, &tiles->all, k, i);
        return sized_fill(BOX_STRUCT, out, &part, NULL) == XIR_OK;
    }
    return false;
}

xir_status xir_tiles_cost_of(const xir_tiles *tiles, xir_tiles_cost *out, xir_diags *why) {
    if (!tiles || !out) return diag_null(why, tiles ? "out" : "tiles");
    return sized_fill(TILES_COST, out, &tiles->cost, why);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks of tiles. Ops are copied with the attributes that their NEEDS functions give; a part of a value that an op
 * needs is a Slice of what was computed. The types of all copies are inferred, and must be those of their parts. */
#include <inttypes.h>
#include <stdio.h>
#include <xir/mapping.h>
#include "tiles.h"

typedef struct building {
    const xir_tiles *t;
    xir_network     *to;
    xir_mapping     *map;
    arena            memory;
    tile_walk        w;
    xir_value      **now;      /* of each value, what stands for its part: NULL: not made yet      */
    xir_box         *parts;    /* the part                                                         */
    xir_diags       *why;
    xir_status       status;
} building;

/* The finding is in the network. */
static bool failed(building *b) {
    if (b->status) return false;
    const xir_diags *found = xir_network_diags(b->to);
    const size_t n = xir_diags_count(found);
    b->status = xir_network_status(b->to);
    if (!b->status) b->status = n ? xir_diags_at(found, n - 1)->code : XIR_E_MEMORY;
    if (b->status == XIR_E_MEMORY) (void)diag_memory(b->why);
    else diags_append(b->why, xir_network_diags(b->to));
    return false;
}

/* ---- ops between the copies ------------------------------------------------------------------------------------- */

static xir_op *add_op(building *b, const char *key, xir_value *const *inputs, size_t n) {
    xir_op *op = xir_op_create(b->to, xir_str_of(key));
    for (size_t i = 0; i < n && op; i++)
        if (xir_op_add_input(op, inputs[i])) op = NULL;
    if (!op) (void)failed(b);
    return op;
}

static xir_value *place(building *b, xir_op *op) {
    if (op && !xir_op_place(op, NULL)) return xir_op_output(op, 0);
    (void)failed(b);
    return NULL;
}

/* The part `want` of what has the part `have`. */
static xir_value *cut(building *b, xir_value *v, const xir_box *have, const xir_box *want) {
    int64_t begin[XIR_BOX_DIMS], end[XIR_BOX_DIMS], step[XIR_BOX_DIMS];
    bool same = true;
    for (uint32_t k = 0; k < want->rank; k++) {
        begin[k] = want->begin[k] - have->begin[k];
        end[k] = want->end[k] - have->begin[k];
        step[k] = 1;
        same &= want->begin[k] == have->begin[k] && want->end[k] == have->end[k];
    }
    if (same || !v) return v;
    xir_op *op = add_op(b, "icraft::xir::Slice", &v, 1);
    if (op && (xir_op_set_i64s(op, "begin", begin, want->rank) || xir_op_set_i64s(op, "end", end, want->rank) ||
               xir_op_set_i64s(op, "stride", step, want->rank))) op = NULL;
    return place(b, op);
}

/* Joins parts that lie in a grid, row-major by `counts` of the dims: along the last dim first. Uses up the list. */
static xir_value *join(building *b, xir_value **parts, const int64_t *counts, const uint32_t *dims, size_t n_dims) {
    size_t n = 1;
    for (size_t k = 0; k < n_dims; k++) n *= (size_t)counts[k];
    for (size_t k = n_dims; k-- > 0 && !b->status;) {
        const size_t each = (size_t)counts[k];
        n /= each;
        for (size_t i = 0; i < n && each > 1 && !b->status; i++) {
            size_t found = 0;
            for (size_t j = 0; j < each; j++)
                if (parts[i * each + j]) parts[i * each + found++] = parts[i * each + j];
            xir_op *op = found > 1 ? add_op(b, "icraft::xir::Concat", &parts[i * each], found) : NULL;
            if (op && xir_op_set_i64(op, "axis", dims[k])) op = NULL;
            parts[i] = found > 1 ? place(b, op) : found ? parts[i * each] : NULL;
        }
    }
    return b->status ? NULL : parts[0];
}

/* ---- copies ----------------------------------------------------------------------------------------------------- */

/* The value that stands for a part of another: constants are copied when they are first met, inputs of the region are
 * cut once for all that read them. */
static xir_value *part_of(building *b, uint32_t v, const xir_box *want) {
    const xir_tiles *t = b->t;
    const tile_value *value = &t->values[v];
    if (!b->now[v] && !value->made) {
        xir_value *all = xir_mapping_value(b->map, value->value);
        if (!all && value->params) {
            all = xir_value_clone(value->value, b->to);
            if (all && xir_mapping_set(b->map, value->value, all)) all = NULL;
        }
        if (!all) return failed(b), NULL;
        b->now[v] = value->params ? all : cut(b, all, &value->whole, &b->w.parts[v]);
        b->parts[v] = value->params ? value->whole : b->w.parts[v];
    }
    if (!b->now[v]) {
        if (!b->status) b->status = diag_fail(b->why, XIR_E_INVALID, XIR_STR(""), "a part is used before it is made");
        return NULL;
    }
    return cut(b, b->now[v], &b->parts[v], want);
}

static bool set_attr(building *b, xir_op *op, const tile_attr *a, const xir_type *type) {
    xir_attr attr = { .kind = XIR_KIND_REF, .as.ref = xir_type_object(type) };
    xir_status status = a->kind == TILE_I64  ? xir_op_set_i64(op, a->name, a->numbers[0])
                      : a->kind == TILE_I64S ? xir_op_set_i64s(op, a->name, a->numbers, a->n)
                      : xir_op_set(op, xir_str_of(a->name), &attr);
    return !status || failed(b);
}

/* The op of a part must give the part. */
static bool check_type(building *b, const xir_op *op, const xir_box *part) {
    const xir_type *type = xir_value_type(xir_op_output(op, 0));
    bool same = xir_type_rank(type) == part->rank;
    for (uint32_t k = 0; k < part->rank && same; k++)
        same = xir_type_dim(type, k, false) == part->end[k] - part->begin[k];
    if (!same)
        b->status = diag_fail(b->why, XIR_E_INVALID, XIR_STR(""), "%.*s: the op of a part has other dims than its "
                              "part: its NEEDS row is wrong", CLIP_TO(op->cls->key, 200));
    return same;
}

/* Types of quantised results do not follow from the inputs: they are those of the whole, in the dims of the part. */
static bool infer_part(building *b, xir_op *op, const tile_value *value, const xir_box *part, const xir_type *type) {
    if (xir_op_set_outputs(op, &type, 1)) return failed(b);
    const xir_status status = xir_op_infer(op, true);
    if (status == XIR_E_UNSUPPORTED || status == XIR_E_UNKNOWN) {
        xir_network_clear_status(b->to);
        return true;
    }
    if (status) return failed(b);
    if (!xir_type_equal(xir_type_element(xir_value_type(xir_op_output(op, 0))), xir_type_element(value->value->type)) &&
        xir_op_set_outputs(op, &type, 1)) return failed(b);
    return check_type(b, op, part);
}

static bool copy_step(building *b, uint32_t step) {
    const xir_tiles *t = b->t;
    const tile_step *s = &t->steps[step];
    infer_needs_seen seen = { .in = b->w.in };
    const bool part = !b->w.asked[step].none;
    bool any = false;
    for (uint32_t o = 0; o < s->n_out; o++) any |= !b->w.parts[s->first_out + o].none;
    if (!any) return true;
    if (part && (b->status = tile_step_ask(step, &b->w, &seen, b->why))) return false;
    xir_value **in = arena_take(&b->memory, (s->n_in + (size_t)1) * sizeof *in);
    xir_value **before = arena_take(&b->memory, (s->n_in + (size_t)1) * sizeof *before);
    if (!in || !before) return b->status = diag_memory(b->why), false;
    for (uint32_t i = 0; i < s->n_in; i++) {
        in[i] = before[i] = NULL;
        if (s->in[i] == NO_VALUE) continue;
        const tile_value *v = &t->values[s->in[i]];
        in[i] = part_of(b, s->in[i], part ? &seen.in[i] : &v->whole);
        if (!in[i]) return false;
        before[i] = xir_mapping_value(b->map, v->value);
        if (xir_mapping_set(b->map, v->value, in[i])) return failed(b);
    }
    xir_op *op = xir_mapping_clone(b->map, s->op, NULL);
    for (uint32_t i = s->n_in; i-- > 0;)   /* inputs of the region and constants are whole for the next op */
        if (s->in[i] != NO_VALUE && !t->values[s->in[i]].made &&
            xir_mapping_set(b->map, t->values[s->in[i]].value, before[i])) return failed(b);
    if (!op) return failed(b);
    for (uint32_t i = 0; i < s->n_in; i++)
        if (in[i] && xir_op_input(op, i) != in[i] && xir_op_set_input(op, i, in[i])) return failed(b);
    for (uint32_t o = 0; o < s->n_out; o++) {
        b->now[s->first_out + o] = xir_op_output(op, o);
        b->parts[s->first_out + o] = b->w.parts[s->first_out + o];
    }
    if (!part) return true;
    const xir_box *makes = &b->w.parts[s->first_out];
    int64_t dims[XIR_BOX_DIMS];
    for (uint32_t k = 0; k < makes->rank; k++) dims[k] = makes->end[k] - makes->begin[k];
    const tile_value *value = &t->values[s->first_out];
    const xir_type *type = xir_type_with_shape(t->net->ctx, value->value->type, dims, makes->rank, b->why);
    if (!type) return b->status = b->status ? b->status : XIR_E_INVALID, false;
    for (size_t i = 0; i < seen.n_attrs; i++)
        if (!set_attr(b, op, &seen.attrs[i], type)) return false;
    return infer_part(b, op, value, makes, type);
}

static void copy_list(building *b, const tile_list *list) {
    for (uint32_t i = 0; i < list->n && !b->status; i++) (void)copy_step(b, list->steps[i]);
}

/* Nothing is made of what the steps of a list make and read, but constants. */
static void forget(building *b, const tile_list *list) {
    for (uint32_t i = 0; i < list->n; i++) {
        const tile_step *s = &b->t->steps[list->steps[i]];
        for (uint32_t k = 0; k < s->n_in; k++)
            if (s->in[k] != NO_VALUE && !b->t->values[s->in[k]].params) b->now[s->in[k]] = NULL;
        for (uint32_t k = 0; k < s->n_out; k++) b->now[s->first_out + k] = NULL;
    }
}

/* ---- tiles ------------------------------------------------------------------------------------------------------ */

/* The target of the stage, joined of its pieces. */
static xir_value *make_stage(building *b, const xir_box *whole) {
    const xir_tiles *t = b->t;
    const uint32_t target = t->stage.targets[0];
    static const uint32_t dims[XIR_BOX_DIMS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    int64_t counts[XIR_BOX_DIMS];
    xir_box piece;
    size_t n = 1;
    (void)tile_piece(t, whole, 0, &piece, counts);
    for (uint32_t k = 0; k < whole->rank; k++) n *= (size_t)counts[k];
    xir_value **pieces = arena_take(&b->memory, n * sizeof *pieces);
    if (!pieces) return b->status = diag_memory(b->why), NULL;
    for (size_t i = 0; i < n && !b->status; i++) {
        (void)tile_piece(t, whole, i, &piece, counts);
        forget(b, &t->stage);
        tile_walk_begin(t, &b->w);
        b->w.parts[target] = piece;
        b->status = tile_walk_run(t, &t->stage, &b->w, b->why);
        copy_list(b, &t->stage);
        pieces[i] = b->status ? NULL : cut(b, b->now[target], &b->parts[target], &piece);
    }
    forget(b, &t->stage);
    return b->status ? NULL : join(b, pieces, counts, dims, whole->rank);
}

/* Copies the ops of a tile; out[i] is the part of output i, NULL if the tile has none. */
static bool make_tile(building *b, size_t tile, xir_value **out) {
    const xir_tiles *t = b->t;
    const tile_list *list = t->staged ? &t->rest : &t->all;
    xir_value *staged = NULL;
    xir_box part;
    forget(b, &t->all);
    tile_targets(t, list, tile, &b->w);
    b->status = tile_walk_run(t, list, &b->w, b->why);
    if (t->staged && !b->status) {
        const uint32_t target = t->stage.targets[0];
        part = b->w.parts[target];
        if (!part.none) staged = make_stage(b, &part);
        if (b->status) return false;
        tile_targets(t, list, tile, &b->w);   /* the walks of the pieces took its place */
        b->status = tile_walk_run(t, list, &b->w, b->why);
        b->now[target] = staged;
        b->parts[target] = part;
    }
    if (!b->status) copy_list(b, list);
    for (uint32_t i = 0; i < t->n_outputs && !b->status; i++) {
        const uint32_t v = t->outputs[i];
        xir_box own = XIR_INIT(xir_box);
        out[i] = NULL;
        (void)xir_tiles_part(t, tile, t->values[v].value, &own);
        if (!own.none) out[i] = cut(b, b->now[v], &b->parts[v], &own);
    }
    return !b->status;
}

/* The Input has the inputs of the region, in the order of their first use. */
static bool make_input(building *b) {
    const xir_tiles *t = b->t;
    const xir_type **types = arena_take(&b->memory, (t->n_values + (size_t)1) * sizeof *types);
    uint32_t *of = arena_take(&b->memory, (t->n_values + (size_t)1) * sizeof *of), n = 0;
    if (!types || !of) return b->status = diag_memory(b->why), false;
    for (uint32_t i = 0; i < t->n_values; i++) {
        if (t->values[i].made || t->values[i].params) continue;
        of[n] = i;
        types[n++] = t->values[i].value->type;
    }
    xir_op *input = xir_network_add(b->to, &XIR_INIT(xir_op_desc, .cls = t->net->ctx->input_class, .types = types,
                                                     .n_types = n, .id = XIR_NO_ID));
    if (!input) return failed(b);
    for (uint32_t i = 0; i < n; i++) {
        const xir_value *v = t->values[of[i]].value;
        if (xir_mapping_set(b->map, v, xir_op_output(input, i)) ||
            xir_value_set_name(xir_op_output(input, i), xir_value_name(v))) return failed(b);
    }
    return true;
}

static bool make_output(building *b, xir_value *const *out, size_t n) {
    xir_op *op = xir_op_create(b->to, XIR_STR("icraft::xir::Output"));
    for (size_t i = 0; i < n && op; i++)
        if (out[i] && xir_op_add_input(op, out[i])) op = NULL;
    if (!op || xir_op_place(op, NULL)) return failed(b);
    return true;
}

/* Joins what all tiles made of an output. */
static xir_value *join_output(building *b, xir_value **of_tiles, uint32_t output) {
    const xir_tiles *t = b->t;
    uint32_t dims[TILE_AXES] = { 0 };
    int64_t counts[TILE_AXES] = { 0 };
    for (size_t a = 0; a < t->n_axes; a++) {
        dims[a] = t->axes[a].dim[output];
        counts[a] = t->size[a].count;
    }
    return join(b, of_tiles, counts, dims, t->n_axes);
}

static bool make_tiles(building *b) {
    const xir_tiles *t = b->t;
    const size_t n = tile_count(t);
    xir_value **parts = arena_take(&b->memory, n * t->n_outputs * sizeof *parts), *out[MOST_TARGETS] = { NULL };
    if (!parts) return b->status = diag_memory(b->why), false;
    for (size_t i = 0; i < n; i++) {
        if (!make_tile(b, i, out)) return false;
        for (uint32_t k = 0; k < t->n_outputs; k++) parts[k * n + i] = out[k];
    }
    for (uint32_t k = 0; k < t->n_outputs; k++)
        if (!(out[k] = join_output(b, parts + k * n, k))) return false;
    return make_output(b, out, t->n_outputs);
}

static xir_network *build(const xir_tiles *t, size_t tile, bool all, xir_diags *why) {
    building b = { .t = t, .why = why };
    xir_value *out[MOST_TARGETS] = { NULL };
    arena_init(&b.memory, t->alloc);
    b.to = network_new(t->net->ctx);
    b.map = b.to ? xir_mapping_new((xir_network *)(uintptr_t)t->net, b.to) : NULL;
    b.now = arena_take(&b.memory, (t->n_values + (size_t)1) * sizeof *b.now);
    b.parts = arena_take(&b.memory, (t->n_values + (size_t)1) * sizeof *b.parts);
    b.status = b.map && b.now && b.parts ? tile_walk_open(t, &b.memory, &b.w, why) : diag_memory(why);
    if (!b.status) {
        memset((void *)b.now, 0, (t->n_values + (size_t)1) * sizeof *b.now);
        if (make_input(&b)) {
            if (all) (void)make_tiles(&b);
            else if (make_tile(&b, tile, out)) (void)make_output(&b, out, t->n_outputs);
        }
    }
    xir_mapping_free(b.map);
    tile_walk_close(t, &b.w);
    arena_free(&b.memory);
    if (!b.status) return b.to;
    xir_network_free(b.to);
    return NULL;
}

xir_network *xir_region_tile(const xir_tiles *tiles, size_t i, xir_diags *why) {
    if (!tiles) return diag_null(why, "tiles"), NULL;
    if (i < tile_count(tiles)) return build(tiles, i, false, why);
    diag_fail(why, XIR_E_BOUNDS, XIR_STR("tile"), "tile %zu: there are %zu", i, tile_count(tiles));
    return NULL;
}

xir_network *xir_tiles_network(const xir_tiles *tiles, xir_diags *why) {
    if (!tiles) return diag_null(why, "tiles"), NULL;
    return build(tiles, 0, true, why);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The needs of a part along one axis do not depend on the others, or only less than the whole: so each axis is walked
 * alone, for some sizes of tiles, and the largest extents of every value are kept (a model). Their products bound the
 * bytes of all tiles. Models are found again by list, axis and size. */
#include "tile_models.h"

enum { MOST_PLACES = 5 };

static const tile_axis *axis_of(const searching *s, const tile_list *list, uint32_t axis) {
    return list == &s->t->stage ? &s->of_cut[axis] : &s->t->axes[axis];
}

static xir_status model_place(searching *s, axis_model *m, int64_t place, double weight) {
    const xir_tiles *t = s->t;
    const tile_axis *axis = axis_of(s, m->list, m->axis);
    const int64_t begin = tile_begin(m->size, place), end = tile_end(m->size, axis->n, place);
    tile_walk_begin(t, &s->w);
    for (uint32_t i = 0; i < m->list->n_targets; i++) {
        xir_box part = t->values[m->list->targets[i]].whole;
        tile_cut(t, m->list, i, axis, begin, end, &part);
        s->w.parts[m->list->targets[i]] = part;
    }
    xir_status status = tile_walk_run(t, m->list, &s->w, s->why);
    for (uint32_t i = 0; i < m->list->n_maps && !status; i++) {
        const uint32_t v = m->list->maps[i];
        const xir_box *part = &s->w.parts[v];
        double share = !part->none;
        for (uint32_t k = 0; k < part->rank && !part->none; k++) {
            const int64_t extent = part->end[k] - part->begin[k];
            share *= (double)extent / (double)t->values[v].whole.end[k];
            if (extent > m->extent[v][k]) m->extent[v][k] = extent;
        }
        if (!part->rank && !part->none) m->extent[v][0] = 1;
        m->share[v] += weight * share;
    }
    return status;
}

/* The number of places of tiles that are walked: those at the ends, and some between. A stage is only estimated, since
 * all places of the stage that is chosen are walked. */
static int64_t places_of(const searching *s, const tile_list *list) { return list == &s->t->all ? MOST_PLACES : 3; }

static xir_status model_fill(searching *s, axis_model *m) {
    const int64_t n = m->size.count;
    int64_t some[MOST_PLACES] = { 0, n - 1, n / 2, 1, n - 2 };
    const int64_t places = places_of(s, m->list);
    xir_status status = XIR_OK;
    if (m->all) {
        for (int64_t i = 0; i < n && !status; i++) status = model_place(s, m, i, 1);
        return status;
    }
    for (int64_t i = 0; i < places && !status; i++)
        status = model_place(s, m, some[i], i < 2 ? 1 : (double)(n - 2) / (double)(places - 2));
    return status;
}

static uint32_t bucket_of(const tile_list *list, uint32_t axis, tile_size size) {
    return (uint32_t)hash_mix((uint64_t)(uintptr_t)list + axis, (uint64_t)size.size * 2 + 1) % MODEL_BUCKETS;
}

/* The model of a size; NULL with a status. */
static const axis_model *model_of(searching *s, const tile_list *list, uint32_t axis, tile_size size, bool all,
                                  xir_status *status) {
    const xir_tiles *t = s->t;
    const uint32_t bucket = bucket_of(list, axis, size);
    for (uint32_t i = s->buckets[bucket]; i; i = s->models[i - 1].next) {
        const axis_model *m = &s->models[i - 1];
        const bool same = m->size.first == size.first && m->size.size == size.size && m->size.count == size.count;
        if (m->list != list || m->axis != axis || !same) continue;
        if (m->all || !all || size.count > MOST_WALKS) return m;
    }
    axis_model m = { .list = list, .axis = axis, .size = size };
    m.all = size.count <= places_of(s, list) || (all && size.count <= MOST_WALKS);
    m.extent = arena_take(&s->memory, (t->n_values + (size_t)1) * sizeof *m.extent);
    m.share = arena_take(&s->memory, (t->n_values + (size_t)1) * sizeof *m.share);
    if (!m.extent || !m.share ||
        !mem_reserve(t->alloc, (void **)&s->models, &s->model_room, s->n_models + 1, sizeof *s->models)) {
        *status = diag_memory(s->why);
        return NULL;
    }
    memset(m.extent, 0, (t->n_values + (size_t)1) * sizeof *m.extent);
    memset(m.share, 0, (t->n_values + (size_t)1) * sizeof *m.share);
    *status = model_fill(s, &m);
    if (*status) return NULL;
    m.next = s->buckets[bucket];
    s->models[s->n_models] = m;
    s->buckets[bucket] = (uint32_t)s->n_models + 1;
    return &s->models[s->n_models++];
}

void tile_models_forget(searching *s) {
    size_t kept = 0;
    memset(s->buckets, 0, sizeof s->buckets);
    for (size_t i = 0; i < s->n_models; i++) {
        axis_model *m = &s->models[kept];
        if (s->models[i].list != &s->t->all) continue;
        *m = s->models[i];
        const uint32_t bucket = bucket_of(m->list, m->axis, m->size);
        m->next = s->buckets[bucket];
        s->buckets[bucket] = (uint32_t)++kept;
    }
    s->n_models = kept;
}

bool tile_model(searching *s, const tile_list *list, uint32_t axis, tile_size size, bool all, axis_model *out,
                xir_status *status) {
    const axis_model *m = model_of(s, list, axis, size, all, status);
    if (m) *out = *m;
    return m != NULL;
}

double tile_combine(searching *s, const tile_list *list, const axis_model *models, size_t n, double *read) {
    const xir_tiles *t = s->t;
    double made = 0;
    *read = 0;
    for (uint32_t i = 0; i < list->n_maps; i++) {
        const uint32_t v = list->maps[i], rank = t->values[v].whole.rank;
        const tile_value *value = &t->values[v];
        double bytes = value->bytes;
        uint64_t elements = 1;
        for (uint32_t k = 0; k < rank; k++) {
            int64_t least = value->whole.end[k];
            for (size_t a = 0; a < n; a++)
                if (models[a].extent[v][k] < least) least = models[a].extent[v][k];
            elements *= (uint64_t)least;
        }
        for (size_t a = 0; a < n; a++) bytes *= models[a].share[v];
        for (size_t a = 0; a < n && !rank; a++) elements *= (uint64_t)models[a].extent[v][0];
        s->w.bytes[v] = (elements * value->bits + 7) / 8;
        if (!value->made) *read += bytes;
        else if (list->steps[list->first[v]] == value->step) made += bytes;   /* or else it is the target of a stage */
    }
    return made;
}

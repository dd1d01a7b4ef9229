/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rows that one network uses, taken apart once; and the number of an op that does not say its own. */
#include "nnb/nnb.h"

nnb_signature *nnb_signature_of(nnb_signatures *s, uint32_t id, bool *memory) {
    if (id >= NNB_IDS) return NULL;
    if (s->by_id[id]) return s->by_id[id];
    const xir_nnb_function *f = xir_nnb_function_find(id);
    nnb_signature *made = f ? arena_take(s->scratch, sizeof *made) : NULL;
    if (f && !made) *memory = true;
    if (!made) return NULL;
    nnb_signature_make(made, f);
    return s->by_id[id] = made;
}

/* A key that every op has in files has the prefix (dialect/node.c). */
const xir_any *nnb_find(const xir_map *extra, xir_str name) {
    char key[64];
    const xir_any *found = xir_map_find(extra, name);
    if (found || !extra || name.size > sizeof key - 4) return found;
    memcpy(key, "nnb.", 4);
    memcpy(key + 4, name.data, name.size);
    return xir_map_find(extra, (xir_str){ key, name.size + 4 });
}

/* The last argument of AveragePooling 6 has two names (trap 7 of docs/nnb.md). */
const xir_any *nnb_argument_at(const nnb_signature *s, size_t i, const xir_map *extra) {
    const xir_any *found = nnb_find(extra, s->arguments[i].name);
    const bool either = !found && s->function->id == 6 && i + 1 == s->n;
    return either ? nnb_find(extra, XIR_STR("including_pad")) : found;
}

static bool is_kind(const nnb_argument *a, const xir_any *v) {
    if (a->kind == NNB_INT) return v->kind == XIR_ANY_INT || v->kind == XIR_ANY_TEXT || v->kind == XIR_ANY_BOOL;
    if (a->kind == NNB_FLOAT) return v->kind == XIR_ANY_REAL || v->kind == XIR_ANY_INT || v->kind == XIR_ANY_PARAMS;
    return true;
}

/* Two numbers of one function may differ in the kinds of their arguments alone. */
static bool fits(const nnb_signature *s, const xir_map *extra) {
    for (size_t i = 0; i < s->n; i++) {
        const xir_any *v = nnb_argument_at(s, i, extra);
        if (!v || !is_kind(&s->arguments[i], v)) return false;
    }
    return s->storable;
}

nnb_family *nnb_family_of(nnb_signatures *s, xir_str name) {
    nnb_family *f = arena_take(s->scratch, sizeof *f);
    bool memory = f == NULL;
    if (f) f->n = 0;
    for (size_t i = 0; !memory; i++) {
        const xir_nnb_function *row = xir_nnb_function_at(i);
        if (!row) break;
        if (f->n == NNB_FAMILY || !xir_str_equal(xir_str_of(row->name), name)) continue;
        f->members[f->n++] = nnb_signature_of(s, row->id, &memory);
    }
    return memory ? NULL : f;
}

const nnb_signature *nnb_pick(const nnb_family *f, const xir_map *extra, uint32_t level, char why[NNB_WHY]) {
    const size_t size = extra ? extra->size : 0;
    const nnb_signature *best = NULL, *newer = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const nnb_signature *s = f->members[i];
        if (!fits(s, extra)) continue;
        if (s->function->api_level > level) {
            if (s->n == size) newer = s;
        } else if (s->n == size) {
            return s;
        } else if (!best || s->n > best->n) {
            best = s;
        }
    }
    if (newer && best) return best;
    if (!f->n) snprintf(why, NNB_WHY, "NNabla has no such function");
    else if (newer) snprintf(why, NNB_WHY, "it needs api level %u, the network has %" PRIu32,
                             (unsigned)newer->function->api_level, level);
    else snprintf(why, NNB_WHY, "no number of the function has exactly these arguments");
    return NULL;
}

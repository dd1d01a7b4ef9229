/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values without a class. They are trees of plain structs: the makers borrow, any_copy copies into an arena. */
#include "hash.h"
#include "object.h"

xir_any xir_any_null(void)          { return (xir_any){ .kind = XIR_ANY_NULL }; }
xir_any xir_any_bool(bool v)        { return (xir_any){ .kind = XIR_ANY_BOOL, .as.boolean = v }; }
xir_any xir_any_int(int64_t v)      { return (xir_any){ .kind = XIR_ANY_INT,  .as.integer = v }; }
xir_any xir_any_real(double v)      { return (xir_any){ .kind = XIR_ANY_REAL, .as.real = v }; }
xir_any xir_any_text(xir_str v)     { return (xir_any){ .kind = XIR_ANY_TEXT, .as.text = v }; }

xir_any xir_any_list(const xir_any *items, size_t size) {
    return (xir_any){ .kind = XIR_ANY_LIST, .as.list = { items, size } };
}

xir_any xir_any_map(const xir_entry *entries, size_t size) {
    return (xir_any){ .kind = XIR_ANY_MAP, .as.map = { entries, size } };
}

/* ---- maps -------------------------------------------------------------------------------------------------- */

/* The first entry whose key is not less than `key`. */
static size_t lower_bound(const xir_map *map, xir_str key) {
    size_t low = 0, high = map ? map->size : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_order(map->entries[middle].key, key) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool holds(const xir_map *map, size_t at, xir_str key) {
    return map && at < map->size && xir_str_equal(map->entries[at].key, key);
}

/* Among few keys most have another size, which takes no call to find out. */
const xir_any *xir_map_find(const xir_map *map, xir_str key) {
    enum { FEW = 8 };
    if (!map) return NULL;
    size_t at = 0;
    if (map->size > FEW) at = lower_bound(map, key);
    else while (at < map->size && (map->entries[at].key.size != key.size || !holds(map, at, key))) at++;
    return at < map->size && (map->size <= FEW || holds(map, at, key)) ? &map->entries[at].value : NULL;
}

static void insert_sorted(xir_entry *entries, size_t n) {
    for (size_t i = 1; i < n; i++) {
        xir_entry entry = entries[i];
        size_t at = i;
        for (; at > 0 && str_order(entries[at - 1].key, entry.key) > 0; at--) entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

/* A stable sort: few entries by insertion; many, which are usually in order, by merging. Sorts of the C library may
 * allocate or recurse. */
bool entries_sort(arena *scratch, xir_entry *entries, size_t n) {
    enum { FEW = 16 };
    bool sorted = n <= FEW;
    if (sorted) insert_sorted(entries, n);
    for (size_t i = 1; !sorted && i < n && str_order(entries[i - 1].key, entries[i].key) <= 0; i++) sorted = i + 1 == n;
    if (sorted) return true;
    xir_entry *from = entries, *to = arena_take(scratch, n * sizeof *to);
    if (!to) return false;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t middle = low + width < n ? low + width : n, high = middle + width < n ? middle + width : n;
            for (size_t i = low, j = middle, k = low; k < high; k++) {
                bool first = i < middle && (j == high || str_order(from[i].key, from[j].key) <= 0);
                to[k] = first ? from[i++] : from[j++];
            }
        }
        xir_entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != entries) memcpy(entries, from, n * sizeof *entries);
    return true;
}

/* ---- equality and hash --------------------------------------------------------------------------------------- */

/* An unsigned number that fits int64_t equals the signed one. */
static xir_any canonical(const xir_any *a) {
    bool fits = a->kind == XIR_ANY_UINT && a->as.uinteger <= INT64_MAX;
    return fits ? xir_any_int((int64_t)a->as.uinteger) : *a;
}

bool xir_any_equal(const xir_any *one, const xir_any *other) {
    if (one == other) return true;
    xir_any a = canonical(one), b = canonical(other);
    if (a.kind != b.kind) return false;
    switch (a.kind) {
    case XIR_ANY_NULL:   return true;
    case XIR_ANY_BOOL:   return a.as.boolean == b.as.boolean;
    case XIR_ANY_INT:    return a.as.integer == b.as.integer;
    case XIR_ANY_UINT:   return a.as.uinteger == b.as.uinteger;
    case XIR_ANY_REAL:   return memcmp(&a.as.real, &b.as.real, sizeof a.as.real) == 0;
    case XIR_ANY_TEXT:   return xir_str_equal(a.as.text, b.as.text);
    case XIR_ANY_PARAMS: return a.as.params == b.as.params;
    case XIR_ANY_MAP:    return xir_map_equal(&a.as.map, &b.as.map);
    case XIR_ANY_LIST:
        if (a.as.list.size != b.as.list.size) return false;
        for (size_t i = 0; i < a.as.list.size; i++) {
            if (!xir_any_equal(&a.as.list.items[i], &b.as.list.items[i])) return false;
        }
        return true;
    }
    return false;
}

/* A missing map and an empty one are equal. */
bool xir_map_equal(const xir_map *a, const xir_map *b) {
    size_t n = a ? a->size : 0;
    if (a == b) return true;
    if (n != (b ? b->size : 0)) return false;
    for (size_t i = 0; i < n; i++) {
        if (!xir_str_equal(a->entries[i].key, b->entries[i].key)) return false;
        if (!xir_any_equal(&a->entries[i].value, &b->entries[i].value)) return false;
    }
    return true;
}

static uint64_t any_hash(uint64_t seed, const xir_any *any) {
    xir_any a = canonical(any);
    uint64_t hash = hash_bytes(seed, &(uint8_t){ (uint8_t)a.kind }, 1);
    switch (a.kind) {
    case XIR_ANY_NULL:   return hash;
    case XIR_ANY_BOOL:   return hash_bytes(hash, &(uint8_t){ a.as.boolean }, 1);
    case XIR_ANY_INT:    return hash_bytes(hash, &a.as.integer, sizeof a.as.integer);
    case XIR_ANY_UINT:   return hash_bytes(hash, &a.as.uinteger, sizeof a.as.uinteger);
    case XIR_ANY_REAL:   return hash_bytes(hash, &a.as.real, sizeof a.as.real);
    case XIR_ANY_TEXT:   return hash_bytes(hash, a.as.text.data, a.as.text.size);
    case XIR_ANY_PARAMS: return hash_bytes(hash, &a.as.params, sizeof a.as.params);
    case XIR_ANY_MAP:    return map_hash(hash, &a.as.map);
    case XIR_ANY_LIST:
        for (size_t i = 0; i < a.as.list.size; i++) hash = any_hash(hash, &a.as.list.items[i]);
        return hash_bytes(hash, &a.as.list.size, sizeof a.as.list.size);
    }
    return hash;
}

uint64_t map_hash(uint64_t seed, const xir_map *map) {
    size_t n = map ? map->size : 0;
    uint64_t hash = hash_bytes(seed, &n, sizeof n);
    for (size_t i = 0; i < n; i++) {
        hash = hash_bytes(hash, map->entries[i].key.data, map->entries[i].key.size);
        hash = any_hash(hash, &map->entries[i].value);
    }
    return hash;
}

/* ---- copying ------------------------------------------------------------------------------------------------- */

static bool copy_list(arena *to, const xir_list *from, xir_list *out) {
    *out = (xir_list){ NULL, from->size };
    if (from->size == 0) return true;
    xir_any *items = from->size <= SIZE_MAX / sizeof *items ? arena_take(to, from->size * sizeof *items) : NULL;
    if (!items) return false;
    for (size_t i = 0; i < from->size; i++) {
        if (!any_copy(to, &from->items[i], &items[i])) return false;
    }
    out->items = items;
    return true;
}

static bool copy_map(arena *to, const xir_map *from, xir_map *out) {
    *out = (xir_map){ NULL, from->size };
    if (from->size == 0) return true;
    xir_entry *entries = from->size <= SIZE_MAX / sizeof *entries ? arena_take(to, from->size * sizeof *entries) : NULL;
    if (!entries) return false;
    for (size_t i = 0; i < from->size; i++) {
        if (!arena_text(to, from->entries[i].key, &entries[i].key)) return false;
        if (!any_copy(to, &from->entries[i].value, &entries[i].value)) return false;
    }
    out->entries = entries;
    return true;
}

bool any_copy(arena *to, const xir_any *from, xir_any *out) {
    xir_any copy = canonical(from);
    bool copied = true;
    switch (copy.kind) {
    case XIR_ANY_TEXT: copied = arena_text(to, from->as.text, &copy.as.text); break;
    case XIR_ANY_LIST: copied = copy_list(to, &from->as.list, &copy.as.list); break;
    case XIR_ANY_MAP:  copied = copy_map(to, &from->as.map, &copy.as.map); break;
    default: break;
    }
    if (copied) *out = copy;
    return copied;
}

static bool map_set(arena *to, const xir_map *map, xir_str key, const xir_any *value, bool shares,
                    const xir_map **out) {
    size_t n = map ? map->size : 0, at = lower_bound(map, key);
    bool had = holds(map, at, key);
    if (had ? value && xir_any_equal(&map->entries[at].value, value) : !value) {
        *out = n ? map : NULL;
        return true;
    }
    size_t now = n - had + (value != NULL);
    if (now == 0) {
        *out = NULL;
        return true;
    }
    xir_map *copy = arena_take(to, sizeof *copy);
    xir_entry *entries = arena_take(to, now * sizeof *entries);
    if (!copy || !entries) return false;
    if (at) memcpy(entries, map->entries, at * sizeof *entries);
    size_t rest = at + had, gap = at + (value != NULL);
    if (n > rest) memcpy(entries + gap, map->entries + rest, (n - rest) * sizeof *entries);
    if (value) {
        if (had) entries[at].key = map->entries[at].key;
        else if (!arena_text(to, key, &entries[at].key)) return false;
        if (shares) entries[at].value = *value;
        else if (!any_copy(to, value, &entries[at].value)) return false;
    }
    *copy = (xir_map){ entries, now };
    *out = copy;
    return true;
}

/* The remaining entries are shared with `map`, which must live as long as the arena. */
bool map_with(arena *to, const xir_map *map, xir_str key, const xir_any *value, const xir_map **out) {
    return map_set(to, map, key, value, false, out);
}

bool map_sharing(arena *to, const xir_map *map, xir_str key, const xir_any *value, const xir_map **out) {
    return map_set(to, map, key, value, true, out);
}

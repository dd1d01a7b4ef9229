/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Nothing in a raw file is trusted before it is checked: the ids must be exactly the network's, each once; the payloads
 * must tile the rest of the file without gap or overlap. The file cannot make this allocate much memory, and no Params
 * is touched. */
#include "little.h"
#include "raw/list.h"

/* Sorts the ids, to be searched. */
static xir_status sort_ids(raw_listing *l) {
    raw_rank *ids = l->ranks;
    for (size_t i = 0; i < l->n; i++)
        ids[i] = (raw_rank){ (uint64_t)l->items[i].value->id ^ (uint64_t)1 << 63, (uint32_t)i };
    rank_sort(ids, l->ranks + l->n, l->n);
    for (size_t i = 1; i < l->n; i++)
        if (ids[i - 1].key == ids[i].key)
            return raw_fail(l, XIR_E_EXISTS, XIR_NO_BYTE, "two Params of the network have v_id %lld",
                            (long long)l->items[ids[i].index].value->id);
    return XIR_OK;
}

/* The item of an id, or NULL. `*at` is the first guess: files that XIR writes have ids in order. The next
 * guess assumes evenly spread ids, which is usually right; after that it bisects, so no file can make it slow. */
static raw_item *find_id(const raw_listing *l, int64_t id, size_t *at) {
    const raw_rank *ids = l->ranks;
    uint64_t key = (uint64_t)id ^ (uint64_t)1 << 63;
    if (*at >= l->n || ids[*at].key != key) {
        size_t low = 0, high = l->n, guess = high;
        if (high && key >= ids[0].key && key <= ids[high - 1].key)
            guess =
                (size_t)((double)(key - ids[0].key) / ((double)(ids[high - 1].key - ids[0].key) + 1) * (double)high);
        if (guess >= high) guess = high / 2;
        while (low < high) {
            if (ids[guess].key == key) low = high = guess;
            else if (ids[guess].key < key) low = guess + 1;
            else high = guess;
            guess = low + (high - low) / 2;
        }
        *at = low;
    }
    return *at < l->n && ids[*at].key == key ? &l->items[ids[(*at)++].index] : NULL;
}

xir_status raw_check_magic(raw_listing *l, const uint8_t *head, size_t got) {
    for (size_t i = 0; i < got && i < sizeof raw_magic; i++)
        if (head[i] != raw_magic[i])
            return raw_fail(l, XIR_E_CORRUPT, i, "not a raw file: found byte 0x%02X, expected 0x%02X%s",
                            head[i], raw_magic[i],
                            i == 0 ? " (raw files of the IR before XIR have no magic)" : "");
    if (got < RAW_HEADER)
        return raw_fail(l, XIR_E_CORRUPT, got, "the file ends within its header, which takes 16 bytes");
    return XIR_OK;
}

bool raw_may_begin(const uint8_t *head, size_t size) {
    return size >= sizeof raw_magic && memcmp(head, raw_magic, sizeof raw_magic) == 0;
}

static uint64_t entries_of(const uint8_t *head) { return little_u32(head + RAW_N_AT); }

uint64_t raw_entries_to_read(const raw_listing *l, uint64_t n) { return n < l->n + 1 ? n : l->n + 1; }

static xir_status check_entry(raw_listing *l, const uint8_t *at, int64_t i, uint64_t n, uint64_t size, size_t *hint) {
    int64_t id = (int32_t)(uint32_t)little_u32(at);
    uint64_t offset = little_u64(at + 4), byte = raw_table_end((uint64_t)i);
    raw_item *it = find_id(l, id, hint);
    if (!it)
        return raw_fail(l, XIR_E_CORRUPT, byte, "entry %lld has v_id %lld, but the network has no Params with this id",
                        (long long)i, (long long)id);
    if (it->entry != RAW_NONE)
        return raw_fail(l, XIR_E_EXISTS, byte, "entry %lld has %s, which entry %lld already has", (long long)i,
                        raw_name_of(it->value).text, (long long)it->entry);
    byte += 4;
    if (offset < raw_table_end(n))
        return raw_fail(l, XIR_E_CORRUPT, byte,
                        "the payload of %s begins at byte %llu, inside the table, which ends at %llu",
                        raw_name_of(it->value).text, (unsigned long long)offset, (unsigned long long)raw_table_end(n));
    if (offset > size)
        return raw_fail(l, XIR_E_CORRUPT, byte,
                        "the payload of %s begins at byte %llu, after the end of the file at %llu",
                        raw_name_of(it->value).text, (unsigned long long)offset, (unsigned long long)size);
    if (it->size > size - offset)
        return raw_fail(l, XIR_E_CORRUPT, byte,
                        "the payload of %s takes %llu bytes from %llu on, but the file ends at %llu",
                        raw_name_of(it->value).text, (unsigned long long)it->size, (unsigned long long)offset,
                        (unsigned long long)size);
    it->entry = i;
    it->offset = offset;
    return XIR_OK;
}

static xir_status check_missing(raw_listing *l) {
    const raw_item *first = NULL;
    size_t more = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->items[i].entry != RAW_NONE || value_params(l->items[i].value)->allow_no_data) continue;
        if (!first) first = &l->items[i];
        else more++;
    }
    if (!first) return XIR_OK;
    if (more)
        return raw_fail(l, XIR_E_MISSING, RAW_N_AT, "%s and %zu more Params of the network have no entry",
                        raw_name_of(first->value).text, more);
    return raw_fail(l, XIR_E_MISSING, RAW_N_AT, "%s of the network has no entry", raw_name_of(first->value).text);
}

xir_status raw_check_empty(raw_listing *l) {
    for (size_t i = 0; i < l->n; i++)
        if (!value_params(l->items[i].value)->allow_no_data)
            return raw_fail(l, XIR_E_CORRUPT, 0, "the file is empty, but the network has %zu Params", l->n);
    return XIR_OK;
}

/* Sorts the payloads by place into ranks[0 … n - 1]; each must begin where the one before ends. */
static xir_status check_tiles(raw_listing *l, uint64_t n, uint64_t size) {
    raw_rank *order = l->ranks, *by_entry = l->ranks + l->n;
    for (size_t i = 0; i < l->n; i++) {
        const raw_item *it = &l->items[i];
        /* A payload without bytes comes before the payload that has the byte there. */
        bool has_bytes = it->size > 0 || it->open;
        if (it->entry != RAW_NONE) by_entry[it->entry] = (raw_rank){ it->offset * 2 + has_bytes, (uint32_t)i };
    }
    memcpy(order, by_entry, (size_t)n * sizeof *order);   /* equal offsets: in table order */
    rank_sort(order, l->ranks + l->n, (size_t)n);
    uint64_t at = raw_table_end(n);
    for (size_t i = 0; i < n; i++) {
        raw_item *it = &l->items[order[i].index];
        const raw_item *last = i > 0 ? &l->items[order[i - 1].index] : NULL;
        if (it->open) it->size = (i + 1 < n ? l->items[order[i + 1].index].offset : size) - it->offset;
        raw_name before = { "the table" };
        if (it->offset != at && last) before = raw_name_of(last->value);
        if (it->offset > at)
            return raw_fail(l, XIR_E_CORRUPT, at,
                            "%llu bytes from here on belong to no payload: %s ends here, %s begins at byte %llu",
                            (unsigned long long)(it->offset - at), before.text, raw_name_of(it->value).text,
                            (unsigned long long)it->offset);
        if (it->offset < at && last)   /* never inside the table: see check_entry */
            return raw_fail(l, XIR_E_CORRUPT, it->offset,
                            "the payload of %s begins here, but that of %s (%llu bytes) reaches to %llu",
                            raw_name_of(it->value).text, before.text, (unsigned long long)last->size,
                            (unsigned long long)at);
        at += it->size;   /* at most the size of the file: see check_entry */
    }
    if (at < size)
        return raw_fail(l, XIR_E_CORRUPT, at, "%llu bytes from here to the end of the file belong to no payload",
                        (unsigned long long)(size - at));
    return XIR_OK;
}

xir_status raw_check_count(raw_listing *l, const uint8_t *head, uint64_t size, uint64_t *n) {
    *n = entries_of(head);
    if (*n > (size - RAW_HEADER) / RAW_ENTRY)
        return raw_fail(l, XIR_E_CORRUPT, RAW_N_AT,
                        "a table of %llu entries reaches to byte %llu, but the file ends at %llu",
                        (unsigned long long)*n, (unsigned long long)raw_table_end(*n), (unsigned long long)size);
    return XIR_OK;
}

xir_status raw_check_table(raw_listing *l, const uint8_t *head, uint64_t n, uint64_t size) {
    if (sort_ids(l) != XIR_OK) return l->status;
    for (size_t i = 0; i < l->n; i++) {
        if (l->items[i].open) l->items[i].size = 0;   /* until the place of the next one is known */
    }
    size_t hint = 0;
    for (uint64_t i = 0; i < raw_entries_to_read(l, n); i++)
        if (check_entry(l, head + raw_table_end(i), (int64_t)i, n, size, &hint) != XIR_OK) return l->status;
    if (check_missing(l) != XIR_OK) return l->status;
    return check_tiles(l, n, size);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The list of a network's Params in the order of a walk, with the size of each; orders of the list; and findings about
 * raw files. */
#include "raw/list.h"

const uint8_t raw_magic[RAW_N_AT] = { 0xA5, 'I', 'C', 'R', 'A', 'F', 'T', '_', 'R', 'A', 'W', 0xA5 };
const char    raw_origin_mark = 'o';

xir_status raw_fail(raw_listing *l, xir_status code, uint64_t byte, const char *format, ...) {
    va_list args;
    va_start(args, format);
    l->status = file_failv(l->why, code, l->path, byte, format, args);
    va_end(args);
    return code;
}

xir_status raw_no_memory(raw_listing *l) { return l->status = diag_memory(l->why); }

raw_name raw_name_of(const xir_value *value) {
    raw_name w;
    xir_str called = xir_value_name(value);
    int n = text_clip(called, 100);
    if (n) snprintf(w.text, sizeof w.text, "v_id %lld '%.*s'", (long long)value->id, n, called.data);
    else snprintf(w.text, sizeof w.text, "v_id %lld", (long long)value->id);
    return w;
}

static bool list_one(void *user, xir_value *value) {
    raw_listing *l = user;
    uint64_t size;
    xir_status status = params_size(value, &size);
    if (!value->type) {
        l->items[l->n++] = (raw_item){ .value = value, .size = size, .entry = RAW_NONE, .open = true };
        l->total = UINT64_MAX;
        return true;
    }
    if (status != XIR_OK) {
        static const char *const what[XIR_STATUS_COUNT] = {
            [XIR_E_UNKNOWN] = "has elements of unknown storage",
            [XIR_E_BOUNDS] = "has an unknown dim",
        };
        raw_fail(l, status, XIR_NO_BYTE, "%s %s: its size in a raw file is unknown",
                 raw_name_of(value).text, what[status] ? what[status] : "takes more bytes than a file can have");
        return false;
    }
    l->items[l->n++] = (raw_item){ .value = value, .size = size, .entry = RAW_NONE };
    if (!add_u64(l->total, size, &l->total)) l->total = UINT64_MAX;
    return true;
}

void raw_list_free(raw_listing *l) {
    const xir_allocator *alloc = &l->net->alloc;
    mem_free(alloc, l->items, l->room * sizeof *l->items);
    mem_free(alloc, l->ranks, l->n_ranks * sizeof *l->ranks);
}

xir_status raw_list_params(raw_listing *l, xir_network *net, const char *path, xir_diags *why) {
    *l = (raw_listing){ .net = net, .why = why, .path = path, .wide_ids = l->wide_ids,
                        .room = (size_t)net->n_params + 1 };
    if (!(l->items = mem_new(&net->alloc, l->room * sizeof *l->items))) return raw_no_memory(l);
    if (!net_walk_params(net, list_one, l) && l->status == XIR_OK) raw_no_memory(l);
    if (l->status != XIR_OK) return l->status;
    if (!add_u64(l->total, RAW_HEADER + RAW_ENTRY * (uint64_t)l->n, &l->total)) l->total = UINT64_MAX;
    l->n_ranks = 3 * l->n + 1;   /* even without Params the orders need an address */
    l->ranks = mem_new(&net->alloc, l->n_ranks * sizeof *l->ranks);
    return l->ranks ? XIR_OK : raw_no_memory(l);
}

/* Sorts by key, stably: byte by byte, lowest first, unless everything is in order, which is the usual case. Bytes that
 * are equal in all keys are skipped. */
void rank_sort(raw_rank *a, raw_rank *spare, size_t n) {
    uint64_t differ = 0;
    bool sorted = true;
    for (size_t i = 1; i < n; i++) {
        sorted &= a[i - 1].key <= a[i].key;
        differ |= a[i].key ^ a[0].key;
    }
    if (sorted) return;
    raw_rank *from = a, *to = spare;
    for (int shift = 0; shift < 64; shift += 8) {
        if ((differ >> shift & 0xFF) == 0) continue;
        size_t begin[256] = { 0 }, at = 0;
        for (size_t i = 0; i < n; i++) begin[from[i].key >> shift & 0xFF]++;
        for (int digit = 0; digit < 256; digit++) {
            size_t count = begin[digit];
            begin[digit] = at;
            at += count;
        }
        for (size_t i = 0; i < n; i++) to[begin[from[i].key >> shift & 0xFF]++] = from[i];
        raw_rank *swap = from;
        from = to;
        to = swap;
    }
    if (from != a) memcpy(a, from, n * sizeof *a);
}

static void say(raw_listing *l, xir_severity severity, const char *format, va_list args) {
    diag_failv(l->why, &(xir_diag){ .severity = severity, .file = xir_str_of(l->path), .byte = XIR_NO_BYTE }, format,
               args);
}

void raw_warn(raw_listing *l, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(l, XIR_WARNING, format, args);
    va_end(args);
}

static void note(raw_listing *l, const char *format, ...) XIR_PRINTF(2, 3);
static void note(raw_listing *l, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(l, XIR_NOTE, format, args);
    va_end(args);
}

void raw_note_no_digest(raw_listing *l) { note(l, "the network has no params_md5: the parameters are not checked"); }

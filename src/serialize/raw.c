/* The raw file: the bytes of a network's Params.
 *
 *     0          12 bytes   A5 "ICRAFT_RAW" A5
 *     12         u32        N
 *     16         N times    i32 v_id, u64 offset of the payload in the file
 *     16 + 12 N  payloads, one behind the other, to the end of the file
 *
 * Numbers are little-endian; nothing is aligned. Sizes are not in the file: the network's types say them. Entries and payloads
 * may be in any order, each its own, and both are kept, so that what is loaded and not changed is saved byte for byte; new
 * Params come behind. A Params of no bytes has an entry and may share its offset. Params that may stay without data and have
 * none have no entry. A network without Params has a file of N = 0; an empty file is taken for that too, since the structure
 * file says of such a network that its parameters take 0 bytes.
 *
 * A file is believed only as far as it has been checked: ids, each once and exactly the network's; payloads that tile the rest
 * of the file without gap or overlap. All this happens before any memory is taken that the file could make large, and before
 * any Params is touched. The table is read, never mapped, so that only payloads depend on the file staying as it is. */
#include <stdarg.h>
#include "file.h"
#include "raw.h"
#include <xir/serialize.h>

enum { HEADER = 16, ENTRY = 12, N_AT = 12, NONE = -1 };

static const uint8_t magic[N_AT] = { 0xA5, 'I', 'C', 'R', 'A', 'F', 'T', '_', 'R', 'A', 'W', 0xA5 };

static uint64_t read_le(const uint8_t *at, int bytes) {
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)at[i] << (8 * i);
    return v;
}

static void write_le(uint8_t *at, int bytes, uint64_t v) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(v >> (8 * i));
}

/* ---- the network's side: a list of its Params --------------------------------------------------------------- */

typedef struct item {
    xir_value *value;
    uint64_t   size;      /* of the payload               */
    uint64_t   offset;    /* in the file                  */
    int64_t    entry;     /* in its table; NONE           */
} item;

/* What an order is made of. */
typedef struct rank {
    uint64_t key;
    uint32_t index;   /* into the items */
} rank;

typedef struct listing {
    xir_network *net;
    xir_diags   *why;
    const char  *path;     /* in findings */
    xir_status   status;
    item        *items;    /* in the order of net_walk_params */
    size_t       n, room;
    rank        *ranks;    /* room for two orders and a spare one */
    size_t       n_ranks;
    uint64_t     total;    /* size of the file with all of them; UINT64_MAX if it is more */
} listing;

static xir_status fail(listing *l, xir_status code, uint64_t byte, const char *format, ...) XIR_PRINTF(4, 5);

static xir_status fail(listing *l, xir_status code, uint64_t byte, const char *format, ...) {
    char text[800];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0) text[0] = '\0';
    return l->status = file_fail(l->why, code, l->path, byte, "%s", text);
}

static xir_status no_memory(listing *l) { return l->status = diag_memory(l->why); }

/* "v_id 7 'conv1.weights'", for sentences. */
typedef struct who { char text[160]; } who;
static who who_is(const xir_value *value) {
    who w;
    xir_str called = xir_value_name(value);
    int n = called.size < 100 ? (int)called.size : 100;
    if (n) snprintf(w.text, sizeof w.text, "v_id %lld '%.*s'", (long long)value->id, n, called.data);
    else snprintf(w.text, sizeof w.text, "v_id %lld", (long long)value->id);
    return w;
}

static bool list_one(void *user, xir_value *value) {
    listing *l = user;
    uint64_t size;
    xir_status status = params_size(value, &size);
    if (status != XIR_OK) {
        static const char *const what[XIR_STATUS_COUNT] = {
            [XIR_E_TYPE] = "has no type",
            [XIR_E_UNKNOWN] = "has a type whose elements are stored nobody knows how",
            [XIR_E_BOUNDS] = "has an unknown dim",
        };
        fail(l, status, XIR_NO_BYTE, "%s %s: how many bytes it has in a raw file cannot be said", who_is(value).text,
             what[status] ? what[status] : "takes more bytes than a file can have");
        return false;
    }
    l->items[l->n++] = (item){ .value = value, .size = size, .entry = NONE };
    if (!add_u64(l->total, size, &l->total)) l->total = UINT64_MAX;
    return true;
}

static void list_free(listing *l) {
    const xir_allocator *alloc = &l->net->alloc;
    mem_free(alloc, l->items, l->room * sizeof *l->items);
    mem_free(alloc, l->ranks, l->n_ranks * sizeof *l->ranks);
}

static xir_status list_params(listing *l, xir_network *net, const char *path, xir_diags *why) {
    *l = (listing){ .net = net, .why = why, .path = path, .room = (size_t)net->n_params + 1 };
    if (!(l->items = mem_new(&net->alloc, l->room * sizeof *l->items))) return no_memory(l);
    if (!net_walk_params(net, list_one, l) && l->status == XIR_OK) no_memory(l);
    if (l->status != XIR_OK) return l->status;
    if (!add_u64(l->total, HEADER + ENTRY * (uint64_t)l->n, &l->total)) l->total = UINT64_MAX;
    l->n_ranks = 3 * l->n + 1;   /* there even for no Params: the orders have an address then */
    l->ranks = mem_new(&net->alloc, l->n_ranks * sizeof *l->ranks);
    return l->ranks ? XIR_OK : no_memory(l);
}

/* Sorts by key, equal keys as they stand: by one byte after the other, the lowest first, unless all is in order, which is the
 * usual case. Bytes that all keys have alike are passed over. */
static void sort(rank *a, rank *spare, size_t n) {
    uint64_t differ = 0;
    bool sorted = true;
    for (size_t i = 1; i < n; i++) {
        sorted &= a[i - 1].key <= a[i].key;
        differ |= a[i].key ^ a[0].key;
    }
    if (sorted) return;
    rank *from = a, *to = spare;
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
        rank *swap = from;
        from = to;
        to = swap;
    }
    if (from != a) memcpy(a, from, n * sizeof *a);
}

/* ---- checking a file ---------------------------------------------------------------------------------------- */

/* The ids in ascending order, to be searched. */
static xir_status sort_ids(listing *l) {
    rank *ids = l->ranks;
    for (size_t i = 0; i < l->n; i++)
        ids[i] = (rank){ (uint64_t)l->items[i].value->id ^ (uint64_t)1 << 63, (uint32_t)i };
    sort(ids, l->ranks + l->n, l->n);
    for (size_t i = 1; i < l->n; i++)
        if (ids[i - 1].key == ids[i].key)
            return fail(l, XIR_E_EXISTS, XIR_NO_BYTE, "two Params of the network have v_id %lld",
                        (long long)l->items[ids[i].index].value->id);
    return XIR_OK;
}

/* The item of an id, NULL if there is none. `*at` is where to look first: our own files have ids in order. The next guess
 * takes ids for evenly spread, which they mostly are; from then on it is bisection, which asks no favours of a file. */
static item *find_id(const listing *l, int64_t id, size_t *at) {
    const rank *ids = l->ranks;
    uint64_t key = (uint64_t)id ^ (uint64_t)1 << 63;
    if (*at >= l->n || ids[*at].key != key) {
        size_t low = 0, high = l->n, guess = high;
        if (high && key >= ids[0].key && key <= ids[high - 1].key)
            guess = (size_t)((double)(key - ids[0].key) / ((double)(ids[high - 1].key - ids[0].key) + 1) * (double)high);
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

/* The fixed beginning, of which `got` bytes are there. */
static xir_status check_magic(listing *l, const uint8_t *head, size_t got) {
    for (size_t i = 0; i < got && i < sizeof magic; i++)
        if (head[i] != magic[i])
            return fail(l, XIR_E_CORRUPT, i, "not a raw file: byte 0x%02X stands where the magic has 0x%02X%s", head[i], magic[i],
                        i == 0 ? " (raw files of the IR before XIR have none)" : "");
    if (got < HEADER)
        return fail(l, XIR_E_CORRUPT, got, "the file ends within its header, which takes 16 bytes");
    return XIR_OK;
}

static uint64_t entries_of(const uint8_t *head) { return read_le(head + N_AT, 4); }
static uint64_t table_end(uint64_t n) { return HEADER + ENTRY * n; }

/* How much of the table decides: among one entry more than the network has Params, one is surplus or there twice. */
static uint64_t entries_to_read(const listing *l, uint64_t n) { return n < l->n + 1 ? n : l->n + 1; }

static xir_status check_entry(listing *l, const uint8_t *at, int64_t i, uint64_t n, uint64_t size, size_t *hint) {
    int64_t id = (int32_t)(uint32_t)read_le(at, 4);
    uint64_t offset = read_le(at + 4, 8), byte = table_end((uint64_t)i);
    item *it = find_id(l, id, hint);
    if (!it)
        return fail(l, XIR_E_CORRUPT, byte, "entry %lld is of v_id %lld, which is no Params of the network", (long long)i,
                    (long long)id);
    if (it->entry != NONE)
        return fail(l, XIR_E_EXISTS, byte, "entry %lld is of %s, which entry %lld was already", (long long)i,
                    who_is(it->value).text, (long long)it->entry);
    byte += 4;
    if (offset < table_end(n))
        return fail(l, XIR_E_CORRUPT, byte, "the payload of %s begins at byte %llu, inside the table, which ends at %llu",
                    who_is(it->value).text, (unsigned long long)offset, (unsigned long long)table_end(n));
    if (offset > size)
        return fail(l, XIR_E_CORRUPT, byte, "the payload of %s begins at byte %llu, behind the end of the file at %llu",
                    who_is(it->value).text, (unsigned long long)offset, (unsigned long long)size);
    if (it->size > size - offset)
        return fail(l, XIR_E_CORRUPT, byte, "the payload of %s takes %llu bytes from %llu on, but the file ends at %llu",
                    who_is(it->value).text, (unsigned long long)it->size, (unsigned long long)offset,
                    (unsigned long long)size);
    it->entry = i;
    it->offset = offset;
    return XIR_OK;
}

static xir_status check_missing(listing *l) {
    const item *first = NULL;
    size_t more = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (l->items[i].entry != NONE || value_params(l->items[i].value)->allow_no_data) continue;
        if (!first) first = &l->items[i];
        else more++;
    }
    if (!first) return XIR_OK;
    if (more)
        return fail(l, XIR_E_MISSING, N_AT, "%s and %zu more Params of the network have no entry", who_is(first->value).text, more);
    return fail(l, XIR_E_MISSING, N_AT, "%s of the network has no entry", who_is(first->value).text);
}

static xir_status check_empty(listing *l) {
    for (size_t i = 0; i < l->n; i++)
        if (!value_params(l->items[i].value)->allow_no_data)
            return fail(l, XIR_E_CORRUPT, 0, "the file is empty, the network has %zu Params", l->n);
    return XIR_OK;
}

/* Payloads in the order of their bytes, which is left in ranks[0 … n - 1], must be where the one before ends. */
static xir_status check_tiles(listing *l, uint64_t n, uint64_t size) {
    rank *order = l->ranks, *by_entry = l->ranks + l->n;
    for (size_t i = 0; i < l->n; i++) {
        const item *it = &l->items[i];
        /* One without bytes comes before the one that has the byte. */
        if (it->entry != NONE) by_entry[it->entry] = (rank){ it->offset * 2 + (it->size > 0), (uint32_t)i };
    }
    memcpy(order, by_entry, (size_t)n * sizeof *order);   /* equal offsets: as in the table */
    sort(order, l->ranks + l->n, (size_t)n);
    uint64_t at = table_end(n);
    for (size_t i = 0; i < n; i++) {
        const item *it = &l->items[order[i].index], *last = i > 0 ? &l->items[order[i - 1].index] : NULL;
        who before = { "the table" };
        if (it->offset != at && last) before = who_is(last->value);
        if (it->offset > at)
            return fail(l, XIR_E_CORRUPT, at, "%llu bytes from here on belong to nothing: %s ends here, %s begins at byte %llu",
                        (unsigned long long)(it->offset - at), before.text, who_is(it->value).text,
                        (unsigned long long)it->offset);
        if (it->offset < at && last)   /* none begins inside the table: check_entry */
            return fail(l, XIR_E_CORRUPT, it->offset, "the payload of %s begins here, but that of %s (%llu bytes) reaches to %llu",
                        who_is(it->value).text, before.text, (unsigned long long)last->size, (unsigned long long)at);
        at += it->size;   /* at most the size of the file: check_entry */
    }
    if (at < size)
        return fail(l, XIR_E_CORRUPT, at, "%llu bytes from here to the end of the file belong to nothing",
                    (unsigned long long)(size - at));
    return XIR_OK;
}

/* Whether the table's size fits the file; on success *n is the number of entries. */
static xir_status check_count(listing *l, const uint8_t *head, uint64_t size, uint64_t *n) {
    *n = entries_of(head);
    if (*n > (size - HEADER) / ENTRY)
        return fail(l, XIR_E_CORRUPT, N_AT, "a table of %llu entries reaches to byte %llu, but the file ends at %llu",
                    (unsigned long long)*n, (unsigned long long)table_end(*n), (unsigned long long)size);
    return XIR_OK;
}

/* The whole check, of a table in memory that has entries_to_read entries, of a file of `size` bytes. */
static xir_status check_table(listing *l, const uint8_t *head, uint64_t n, uint64_t size) {
    if (sort_ids(l) != XIR_OK) return l->status;
    size_t hint = 0;
    for (uint64_t i = 0; i < entries_to_read(l, n); i++)
        if (check_entry(l, head + table_end(i), (int64_t)i, n, size, &hint) != XIR_OK) return l->status;
    if (check_missing(l) != XIR_OK) return l->status;
    return check_tiles(l, n, size);
}

/* ---- loading ------------------------------------------------------------------------------------------------ */

/* Where Params came from together: stands before their blobs, which lie in the bytes of one blob that has this mark. */
typedef struct origin {
    char     md5[MD5_DIGITS + 1];   /* of the file; empty: not known                */
    bool     read;                  /* computed from the bytes, not only claimed    */
    uint64_t size;
    size_t   n;
} origin;
typedef struct origin_entry { int64_t id; uint32_t entry; } origin_entry;   /* as items were, in the order of payloads */
static const char origin_mark = 'o';

static blob         *origin_parts(const blob *b) { return (blob *)(uintptr_t)(b->bytes + sizeof(origin)); }
static origin_entry *origin_entries(const blob *b, size_t n) { return (origin_entry *)(uintptr_t)(origin_parts(b) + n); }

static bool same_hex(xir_str a, const char *b) {
    if (a.size != MD5_DIGITS) return false;
    for (size_t i = 0; i < MD5_DIGITS; i++) {
        char c = a.data[i];
        if ((c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) != b[i]) return false;
    }
    return true;
}

static bool is_hex(xir_str a) {
    for (size_t i = 0; i < a.size; i++)
        if (!strchr("0123456789abcdef", a.data[i]) || !a.data[i]) return false;
    return a.size == MD5_DIGITS;
}

static void warn(listing *l, const char *format, ...) XIR_PRINTF(2, 3);

static void warn(listing *l, const char *format, ...) {
    if (!l->why) return;
    char text[400];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0) return;
    xir_diags_put(l->why, &(xir_diag){
        .severity = XIR_WARNING, .message = xir_str_of(text), .file = xir_str_of(l->path), .byte = XIR_NO_BYTE });
}

/* Compares the bytes with what the network says of them, and fills the origin's MD5. */
static xir_status check_digest(listing *l, const blob *whole, uint64_t n, bool compare, bool lazy, origin *from) {
    const xir_network *net = l->net;
    xir_str said = net->text[XIR_TEXT_PARAMS_MD5];
    /* New networks have that of nothing, and so has a file that was written without one. */
    bool silent = said.size == 0 || same_hex(said, MD5_OF_NOTHING);
    if (net->params_bytes && net->params_bytes != whole->size)
        warn(l, "params_bytes is %llu, the file has %llu", (unsigned long long)net->params_bytes,
             (unsigned long long)whole->size);
    if (!compare) {
        /* Of a mapped file the claim is kept: to know better would be to read all of it. */
        if (lazy && is_hex(said) && !silent) memcpy(from->md5, said.data, MD5_DIGITS);
        return XIR_OK;
    }
    if (silent) {
        if (n > 0) warn(l, "the network has no params_md5: the bytes are taken unchecked");
        return XIR_OK;
    }
    md5 m;
    l->status = md5_begin(&m, l->why);
    if (l->status != XIR_OK) return l->status;
    md5_add(&m, whole->bytes, (size_t)whole->size);
    l->status = md5_end(&m, from->md5, l->why);
    if (l->status != XIR_OK) return l->status;
    from->read = true;
    if (same_hex(said, from->md5)) return XIR_OK;
    return fail(l, XIR_E_CORRUPT, XIR_NO_BYTE, "the MD5 of the file is %s, params_md5 of the network is %.*s", from->md5,
                (int)(said.size < 64 ? said.size : 64), said.data);
}

/* Gives every item its part of the whole. What can fail comes first. */
static xir_status attach(listing *l, blob *whole, uint64_t n, origin *from) {
    size_t heads, room;
    if (__builtin_mul_overflow((size_t)n, sizeof(blob) + sizeof(origin_entry), &heads) ||
        __builtin_add_overflow(heads, sizeof(origin), &room)) return no_memory(l);
    blob *keeper = blob_new(&l->net->alloc, room);
    if (!keeper) return no_memory(l);
    from->size = whole->size;
    from->n = (size_t)n;
    memcpy((void *)(uintptr_t)keeper->bytes, from, sizeof *from);
    keeper->user = (void *)(uintptr_t)&origin_mark;
    keeper->parent = whole;
    blob_retain(whole);
    blob_retain_many(keeper, from->n);
    blob *parts = origin_parts(keeper);
    origin_entry *entries = origin_entries(keeper, from->n);
    for (size_t i = 0; i < from->n; i++) {
        item *it = &l->items[l->ranks[i].index];
        params *p = value_params(it->value);
        blob_part_in(&parts[i], keeper, whole, it->offset, it->size);
        entries[i] = (origin_entry){ it->value->id, (uint32_t)it->entry };
        blob *old = p->data;
        p->data = &parts[i];
        p->raw_index = (uint32_t)i;
        p->table_index = (uint32_t)it->entry;
        blob_release(old);
    }
    blob_release(keeper);
    return XIR_OK;
}

/* `whole` has been checked; compares, attaches, and lets it go. */
static xir_status take(listing *l, blob *whole, uint64_t n, unsigned flags) {
    bool lazy = flags & XIR_LOAD_LAZY;
    bool compare = lazy ? flags & XIR_LOAD_MD5 : !(flags & XIR_LOAD_NO_MD5);
    origin from = { .read = false };
    if (check_digest(l, whole, n, compare, lazy, &from) == XIR_OK) (void)attach(l, whole, n, &from);
    blob_release(whole);
    return l->status;
}

/* A file that is in memory as a whole. */
static xir_status check_whole(listing *l, const blob *whole, uint64_t *n) {
    *n = 0;
    if (whole->size == 0) return check_empty(l);
    size_t got = whole->size < HEADER ? (size_t)whole->size : HEADER;
    if (check_magic(l, whole->bytes, got) != XIR_OK) return l->status;
    if (check_count(l, whole->bytes, whole->size, n) != XIR_OK) return l->status;
    return check_table(l, whole->bytes, *n, whole->size);
}

/* A file whose size is known: the beginning decides whether the rest is wanted. */
static xir_status load_regular(listing *l, file_reader *r, unsigned flags) {
    const xir_allocator *alloc = &l->net->alloc;
    uint8_t first[HEADER], *head = NULL;
    uint64_t n = 0;
    size_t got = r->size < HEADER ? (size_t)r->size : HEADER, room = 0;
    if ((l->status = file_reader_at(r, 0, first, got)) != XIR_OK) return l->status;
    if (check_magic(l, first, got) != XIR_OK || check_count(l, first, r->size, &n) != XIR_OK) return l->status;
    room = (size_t)table_end(entries_to_read(l, n));
    if (!(head = mem_new(alloc, room))) return no_memory(l);
    if ((l->status = file_reader_at(r, 0, head, room)) == XIR_OK && memcmp(head, first, HEADER) != 0)
        fail(l, XIR_E_IO, 0, "the file was changed while it was read");
    if (l->status == XIR_OK && check_table(l, head, n, r->size) == XIR_OK) {
        bool lazy = flags & XIR_LOAD_LAZY;
        blob *whole = lazy ? file_reader_map(r) : file_reader_all(r, UINT64_MAX);
        if (!whole) {
            l->status = r->status;
        } else if (!lazy && memcmp(whole->bytes, head, room) != 0) {   /* what was checked must be what was read */
            fail(l, XIR_E_IO, 0, "the file was changed while it was read");
            blob_release(whole);
        } else {
            take(l, whole, n, flags);
        }
    }
    mem_free(alloc, head, room);
    return l->status;
}

/* A pipe, a device or an empty file. It may be endless: what is behind the largest file that could be right is not read. */
static xir_status load_stream(listing *l, file_reader *r, unsigned flags) {
    enum { MORE = 64 << 10 };
    uint64_t n, most = l->total < UINT64_MAX - MORE ? l->total + MORE : UINT64_MAX;
    blob *whole = flags & XIR_LOAD_LAZY ? file_reader_map(r) : file_reader_all(r, most);
    if (!whole) return l->status = r->status;
    if (check_whole(l, whole, &n) == XIR_OK) return take(l, whole, n, flags);
    blob_release(whole);
    return l->status;
}

xir_status xir_raw_load(xir_network *net, const char *path, unsigned flags, xir_diags *why) {
    listing l;
    file_reader r;
    if (list_params(&l, net, path, why) == XIR_OK && (l.status = file_reader_open(&r, net->ctx, path, why)) == XIR_OK) {
        if (r.regular) load_regular(&l, &r, flags);
        else load_stream(&l, &r, flags);
        file_reader_close(&r);
    }
    list_free(&l);
    return l.status;
}

xir_status xir_raw_read(xir_network *net, const void *data, size_t size, unsigned flags, xir_diags *why) {
    listing l;
    if (list_params(&l, net, "", why) == XIR_OK) {
        const xir_allocator *alloc = &net->alloc;
        blob given = { .bytes = data, .size = size };
        uint64_t n;
        if (check_whole(&l, &given, &n) == XIR_OK) {
            bool lazy = flags & XIR_LOAD_LAZY;
            blob *whole = lazy ? blob_borrow(alloc, data, size, true, NULL, NULL) : blob_new(alloc, size);
            if (whole && !lazy && size) memcpy((void *)(uintptr_t)whole->bytes, data, size);
            if (whole) take(&l, whole, n, flags);
            else no_memory(&l);
        }
    }
    list_free(&l);
    return l.status;
}

/* ---- saving ------------------------------------------------------------------------------------------------- */

/* Where the bytes go. */
typedef struct sink {
    xir_write_fn *write;   /* NULL: nowhere */
    void         *user;
    md5           sum;
    uint64_t      written;
    bool          stopped;
} sink;

static bool put(sink *s, const void *data, uint64_t size) {
    md5_add(&s->sum, data, (size_t)size);
    s->stopped = s->write && size && !s->write(s->user, data, (size_t)size);
    if (!s->stopped) s->written += size;
    return !s->stopped;
}

/* Params that have an entry move to the front of the list; all others may do without. */
static xir_status plan_items(listing *l) {
    size_t n = 0, missing = 0;
    const xir_value *first = NULL;
    l->total = 0;
    for (size_t i = 0; i < l->n; i++) {
        const item *it = &l->items[i];
        const params *p = value_params(it->value);
        if (!p->data && p->allow_no_data) continue;
        if (!p->data && it->size > 0) {
            if (!first) first = it->value;
            missing++;
            continue;
        }
        if (p->data && p->data->size != it->size)
            return fail(l, XIR_E_INVALID, XIR_NO_BYTE, "%s has %llu bytes, its type takes %llu", who_is(it->value).text,
                        (unsigned long long)p->data->size, (unsigned long long)it->size);
        if (it->value->id < INT32_MIN || it->value->id > INT32_MAX)
            return fail(l, XIR_E_BOUNDS, XIR_NO_BYTE, "%s: a raw file has ids of 32 bits", who_is(it->value).text);
        if (!add_u64(l->total, it->size, &l->total))
            return fail(l, XIR_E_LIMIT, XIR_NO_BYTE, "the Params take more bytes than a file can have");
        l->items[n++] = *it;
    }
    if (missing > 1)
        return fail(l, XIR_E_MISSING, XIR_NO_BYTE, "%s and %zu more Params have no bytes", who_is(first).text, missing - 1);
    if (missing)
        return fail(l, XIR_E_MISSING, XIR_NO_BYTE, "%s has no bytes", who_is(first).text);
    l->n = n;
    if (l->total > INT64_MAX - table_end(n))
        return fail(l, XIR_E_LIMIT, XIR_NO_BYTE, "the Params take more bytes than a file can have");
    l->total += table_end(n);
    return XIR_OK;
}

/* Both orders: ranks[0 … n - 1] that of the payloads, whose offsets are set, ranks[n … 2n - 1] that of the table. */
static void plan_orders(listing *l) {
    rank *payloads = l->ranks, *table = l->ranks + l->n, *spare = table + l->n;
    for (uint32_t i = 0; i < l->n; i++) {
        const params *p = value_params(l->items[i].value);
        payloads[i] = (rank){ p->raw_index, i };
        table[i] = (rank){ p->raw_index == UINT32_MAX ? UINT32_MAX : p->table_index, i };
    }
    sort(payloads, spare, l->n);
    sort(table, spare, l->n);
    uint64_t at = table_end(l->n);
    for (size_t i = 0; i < l->n; i++) {
        item *it = &l->items[payloads[i].index];
        it->offset = at;
        at += it->size;
    }
    for (size_t i = 0; i < l->n; i++) l->items[table[i].index].entry = (int64_t)i;
}

static xir_status plan(listing *l, xir_network *net, const char *path, xir_diags *why) {
    if (list_params(l, net, path, why) != XIR_OK || plan_items(l) != XIR_OK) return l->status;
    plan_orders(l);
    return XIR_OK;
}

/* The origin if the file that is planned is, byte for byte, the one that all Params came from; NULL otherwise. */
static const origin *plan_origin(const listing *l) {
    const blob *keeper = NULL;
    const origin *from = NULL;
    for (size_t i = 0; i < l->n; i++) {
        const item *it = &l->items[l->ranks[i].index];
        const blob *b = value_params(it->value)->data;
        if (!b || !b->inside) return NULL;
        if (!keeper) {
            keeper = b->parent;
            if (keeper->user != (const void *)&origin_mark) return NULL;
            from = (const origin *)(const void *)keeper->bytes;
            if (from->n != l->n) return NULL;
        }
        if (b != origin_parts(keeper) + i) return NULL;
        const origin_entry *was = &origin_entries(keeper, from->n)[i];
        if (was->id != it->value->id || was->entry != it->entry) return NULL;
    }
    return from;
}

static bool put_all(const listing *l, sink *s) {
    uint8_t piece[ENTRY * 512];
    const rank *payloads = l->ranks, *table = l->ranks + l->n;
    memcpy(piece, magic, sizeof magic);
    write_le(piece + N_AT, 4, l->n);
    if (!put(s, piece, HEADER)) return false;
    for (size_t i = 0, used = 0; i < l->n; i++) {
        const item *it = &l->items[table[i].index];
        write_le(piece + used, 4, (uint32_t)it->value->id);
        write_le(piece + used + 4, 8, it->offset);
        used += ENTRY;
        if (used < sizeof piece && i + 1 < l->n) continue;
        if (!put(s, piece, used)) return false;
        used = 0;
    }
    for (size_t i = 0; i < l->n; i++) {
        const item *it = &l->items[payloads[i].index];
        const blob *b = value_params(it->value)->data;
        if (b && !put(s, b->bytes, b->size)) return false;
    }
    return true;
}

/* Writes the planned file; `hex` gets its MD5. A stop by the writer is XIR_E_IO without a finding: the writer has it. */
static xir_status emit(listing *l, sink *s, char hex[MD5_DIGITS + 1]) {
    l->status = md5_begin(&s->sum, l->why);
    if (l->status != XIR_OK) return l->status;
    bool done = put_all(l, s);
    l->status = md5_end(&s->sum, done ? hex : NULL, l->why);
    if (!done) return l->status = XIR_E_IO;
    if (l->status != XIR_OK) return l->status;
    const origin *from = l->n ? plan_origin(l) : NULL;
    if (from && from->md5[0] && strcmp(from->md5, hex) != 0)
        warn(l, "the MD5 of the Params as they were mapped is %s, not %s as the network said when they were loaded", hex, from->md5);
    return XIR_OK;
}

/* What the network says of its raw. Room for the text is taken before anything is written, so that this cannot fail. */
static void say(xir_network *net, char *room, uint64_t bytes, const char *hex) {
    memcpy(room, hex, MD5_DIGITS);
    net->params_bytes = bytes;
    net->text[XIR_TEXT_PARAMS_MD5] = (xir_str){ room, MD5_DIGITS };
}

/* The same of a file that was planned; one without entries counts as nothing. */
static void say_plan(const listing *l, char *room, const char *hex) {
    say(l->net, room, l->n ? l->total : 0, l->n ? hex : MD5_OF_NOTHING);
}

static char *say_room(listing *l) {
    char *room = arena_take(&l->net->arena, MD5_DIGITS);
    if (!room) no_memory(l);
    return room;
}

xir_status raw_digest(xir_network *net, uint64_t *bytes, char hex[MD5_DIGITS + 1], xir_diags *why) {
    if (net->raw_known) {
        *bytes = net->params_bytes;
        memcpy(hex, net->text[XIR_TEXT_PARAMS_MD5].data, MD5_DIGITS);
        hex[MD5_DIGITS] = '\0';
        return XIR_OK;
    }
    listing l;
    if (plan(&l, net, "", why) == XIR_OK) {
        const origin *from = l.n ? plan_origin(&l) : NULL;
        sink nowhere = { .write = NULL };
        *bytes = l.n ? l.total : 0;
        if (l.n == 0) memcpy(hex, MD5_OF_NOTHING, MD5_DIGITS + 1);
        else if (from && from->md5[0]) memcpy(hex, from->md5, MD5_DIGITS + 1);
        else emit(&l, &nowhere, hex);
    } else if (l.status != XIR_E_MEMORY) {
        l.status = XIR_E_MISSING;
    }
    list_free(&l);
    return l.status;
}

xir_status xir_raw_write(xir_network *net, xir_write_fn *write, void *user, xir_diags *why) {
    listing l;
    char hex[MD5_DIGITS + 1], *room;
    sink s = { .write = write, .user = user };
    if (plan(&l, net, "", why) == XIR_OK && (room = say_room(&l))) {
        if (emit(&l, &s, hex) == XIR_OK) say_plan(&l, room, hex);
        else if (s.stopped) fail(&l, XIR_E_IO, s.written, "the writer took no more bytes");
    }
    list_free(&l);
    return l.status;
}

xir_status xir_raw_save(xir_network *net, const char *path, xir_diags *why) {
    listing l;
    file_writer w;
    char hex[MD5_DIGITS + 1], *room;
    sink s = { .write = file_write, .user = &w };
    if (plan(&l, net, path, why) == XIR_OK && (room = say_room(&l)) &&
        (l.status = file_open(&w, net->ctx, path, why)) == XIR_OK) {
        if (emit(&l, &s, hex) != XIR_OK) file_abort(&w);
        else if ((l.status = file_commit(&w)) == XIR_OK) say_plan(&l, room, hex);
    }
    list_free(&l);
    return l.status;
}

/* ---- the pair ----------------------------------------------------------------------------------------------- */

/* Both files are complete and flushed under temporary names before either takes its own: what is left to fail between them is
 * one rename. */
static xir_status save_pair(listing *l, file_writer *raw, file_writer *json, const char *json_path, unsigned flags) {
    xir_network *net = l->net;
    char hex[MD5_DIGITS + 1], *room = say_room(l);
    sink s = { .write = file_write, .user = raw };
    if (!room) return l->status;
    if ((l->status = file_open(json, net->ctx, json_path, l->why)) != XIR_OK) return l->status;
    if (raw->exists && json->exists && strcmp(raw->target, json->target) == 0)
        return fail(l, XIR_E_EXISTS, XIR_NO_BYTE, "structure and parameters cannot be saved to one file");
    if (emit(l, &s, hex) != XIR_OK) return l->status;

    uint64_t old_bytes = net->params_bytes;
    xir_str old_md5 = net->text[XIR_TEXT_PARAMS_MD5];
    say_plan(l, room, hex);
    net->raw_known = true;
    l->status = xir_json_write(net, flags & XIR_SAVE_INDENT ? 4 : 0, file_write, json, l->why);
    net->raw_known = false;
    if (l->status == XIR_OK) l->status = file_ready(raw);
    if (l->status == XIR_OK) l->status = file_ready(json);
    if (l->status == XIR_OK) l->status = file_place(raw);
    if (l->status == XIR_OK) l->status = file_place(json);
    if (l->status == XIR_OK) {   /* both are new, whatever flushing the folders says */
        l->status = file_commit(raw);
        xir_status status = file_commit(json);
        return l->status != XIR_OK ? l->status : (l->status = status);
    }
    net->params_bytes = old_bytes;
    net->text[XIR_TEXT_PARAMS_MD5] = old_md5;
    return l->status;
}

/* `X.json` gives `X.raw`, another name has ".raw" put behind it. */
static char *raw_name(const xir_allocator *alloc, const char *json_path, size_t *room) {
    size_t n = strlen(json_path);
    *room = n + sizeof ".raw";
    char *path = mem_new(alloc, *room);
    if (!path) return NULL;
    memcpy(path, json_path, n);
    if (n > 5 && memcmp(path + n - 5, ".json", 5) == 0 && path[n - 6] != '/') n -= 5;
    memcpy(path + n, ".raw", sizeof ".raw");
    return path;
}

xir_status xir_json_raw_save(xir_network *net, const char *json_path, const char *raw_path, unsigned flags, xir_diags *why) {
    const xir_allocator *alloc = &net->ctx->alloc;
    size_t room = 0;
    char *beside = NULL;
    if (!(flags & XIR_SAVE_UNCHECKED)) {
        xir_status status = xir_network_validate(net, why);
        if (status != XIR_OK) return status;
    }
    if (!raw_path && !(raw_path = beside = raw_name(alloc, json_path, &room))) return diag_memory(why);
    listing l;
    file_writer raw, json = { .ctx = net->ctx, .fd = -1 };
    if (plan(&l, net, raw_path, why) == XIR_OK && (l.status = file_open(&raw, net->ctx, raw_path, why)) == XIR_OK) {
        save_pair(&l, &raw, &json, json_path, flags);
        file_abort(&raw);   /* nothing is left to abort after success */
        file_abort(&json);
    }
    list_free(&l);
    mem_free(alloc, beside, room);
    return l.status;
}

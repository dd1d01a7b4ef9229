/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Calibrations as JSON:
 *
 *     {"xir.calibration":1,"samples":32,"values":{
 *     "conv1":{"bins":{"exponent":3,"negative":"…","positive":"…"},"count":2048,"max":5.5,
 *         "min":-4.5,"samples":32,"sums":[-120,144.5,151]},
 *     …}}
 *
 * A value is a line; `sums` are over samples, of the least, of the greatest number and of the greatest |x|. The bins
 * are packed (packed.h); the other numbers can be edited. With channels there is "channels":{"max":[…],"min":[…]}.
 * All numbers of a file are checked before they are used, and the file's memory is a multiple of its size. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "calibration.h"
#include "packed.h"

#define KEY "xir.calibration"
enum { VERSION = 1 };

static const xir_str nowhere = { "", 0 };

/* ---- writing -------------------------------------------------------------------------------------------------- */

typedef struct writer {
    const xir_calibration *c;
    xir_write_fn *write;
    void         *user;
    char         *letters;   /* room for the bins of both signs */
} writer;

static bool put(const writer *w, const char *text) { return w->write(w->user, text, strlen(text)); }

static xir_status put_any(const writer *w, const xir_any *any, xir_diags *why) {
    xir_text_buffer text = { 0 };
    xir_status status = xir_any_print(w->c->ctx, any, 0, &text);
    if (status) xir_diags_add(why, XIR_ERROR, status, nowhere, "a value cannot be printed");
    else if (!w->write(w->user, text.data, text.size))
        status = xir_diags_add(why, XIR_ERROR, XIR_E_IO, nowhere, "the calibration cannot be written");
    xir_text_free(&text);
    return status;
}

static xir_str pack(const record *r, size_t from, char *letters) {
    const bins *b = &r->bins;
    if (b->packed) return (xir_str){ b->packed + (from ? b->positive : 0), from ? b->negative : b->positive };
    uint64_t counts[2 * BINS];
    bins_counts(b, counts);
    return (xir_str){ letters, packed_write(counts + from, BINS, letters) };
}

/* Makes lists of the ranges of channels in new memory, of *size bytes; NULL without memory. */
static xir_any *lists_of(const writer *w, const record *r, size_t *size) {
    *size = (2 * r->channels + 1) * sizeof(xir_any);
    xir_any *items = w->c->alloc->resize(w->c->alloc->user, NULL, 0, *size);
    for (size_t i = 0; i < r->channels && items; i++) {
        items[i] = xir_any_real(r->high[i]);
        items[r->channels + i] = xir_any_real(r->low[i]);
    }
    return items;
}

static xir_status put_record(const writer *w, const record *r, xir_diags *why) {
    size_t size;
    xir_any *items = lists_of(w, r, &size);
    if (!items) return no_memory(why);
    const xir_entry ranges[] = {
        { XIR_STR("max"), xir_any_list(items, r->channels) },
        { XIR_STR("min"), xir_any_list(items + r->channels, r->channels) },
    };
    const xir_entry counted[] = {
        { XIR_STR("exponent"), xir_any_int(r->bins.count ? r->bins.exponent : 0) },
        { XIR_STR("negative"), xir_any_text(pack(r, BINS, w->letters)) },
        { XIR_STR("positive"), xir_any_text(pack(r, 0, w->letters + PACKED_ROOM)) },
    };
    const xir_any sums[] = { xir_any_real(r->sums[0]), xir_any_real(r->sums[1]), xir_any_real(r->sums[2]) };
    const xir_entry members[] = {
        { XIR_STR("bins"),     xir_any_map(counted, 3) },
        { XIR_STR("channels"), xir_any_map(ranges, 2) },
        { XIR_STR("count"),    xir_any_int((int64_t)r->bins.count) },
        { XIR_STR("max"),      xir_any_real(r->max) },
        { XIR_STR("min"),      xir_any_real(r->min) },
        { XIR_STR("samples"),  xir_any_int((int64_t)r->samples) },
        { XIR_STR("sums"),     xir_any_list(sums, 3) },
    };
    xir_entry all[7];
    size_t n = 0;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (i != 1 || r->channels) all[n++] = members[i];   /* without channels there is no such member */
    const xir_any name = xir_any_text((xir_str){ r->name, r->name_size }), value = xir_any_map(all, n);
    xir_status status = put_any(w, &name, why);
    if (!status && !put(w, ":"))
        status = xir_diags_add(why, XIR_ERROR, XIR_E_IO, nowhere, "the calibration cannot be written");
    if (!status) status = put_any(w, &value, why);
    w->c->alloc->resize(w->c->alloc->user, items, size, 0);
    return status;
}

static int by_name(const void *a, const void *b) {
    const record *x = *(const record *const *)a, *y = *(const record *const *)b;
    const size_t least = x->name_size < y->name_size ? x->name_size : y->name_size;
    const int order = memcmp(x->name, y->name, least);
    return order ? order : (x->name_size > y->name_size) - (x->name_size < y->name_size);
}

static xir_status put_records(const writer *w, const record **sorted, xir_diags *why) {
    const xir_calibration *c = w->c;
    char head[96];
    for (size_t i = 0; i < c->n; i++) sorted[i] = &c->records[i];
    if (c->n) qsort(sorted, c->n, sizeof *sorted, by_name);
    snprintf(head, sizeof head, "{\"" KEY "\":%d,\"samples\":%llu,\"values\":{", VERSION,
             (unsigned long long)c->samples);
    bool written = put(w, head);
    xir_status status = XIR_OK;
    for (size_t i = 0; i < c->n && written && !status; i++) {
        written = put(w, i ? ",\n" : "\n");
        if (written) status = put_record(w, sorted[i], why);
    }
    written = written && !status && put(w, "\n}}\n");
    return written || status ? status
                             : xir_diags_add(why, XIR_ERROR, XIR_E_IO, nowhere, "the calibration cannot be written");
}

xir_status xir_calibration_write(const xir_calibration *c, xir_write_fn *write, void *user, xir_diags *why) {
    xir_status status = calibration_check(c, why);
    if (status) return status;
    if (!write) return xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, nowhere, "expected a writer, found NULL");
    const xir_allocator *alloc = c->alloc;
    const size_t size = 2 * PACKED_ROOM + (c->n + 1) * sizeof(record *);
    void *memory = alloc->resize(alloc->user, NULL, 0, size);
    if (!memory) return no_memory(why);
    const record **sorted = memory;
    const writer w = { c, write, user, (char *)memory + (c->n + 1) * sizeof(record *) };
    status = put_records(&w, sorted, why);
    alloc->resize(alloc->user, memory, size, 0);
    return status;
}

static bool write_to_file(void *user, const void *data, size_t size) { return fwrite(data, 1, size, user) == size; }

static xir_status refused(const char *path, const char *what, xir_diags *why) {
    char sentence[200];
    const char *reason = strerror(errno);
    snprintf(sentence, sizeof sentence, "%s: %.120s", what, reason);
    return xir_diags_append(why, &(xir_diag){ .severity = XIR_ERROR, .code = XIR_E_IO, .file = xir_str_of(path),
                                              .byte = XIR_NO_BYTE, .message = xir_str_of(sentence) });
}

static xir_status save_as(const xir_calibration *c, const char *path, const char *part, xir_diags *why) {
    FILE *file = fopen(part, "wb");
    if (!file) return refused(path, "cannot be written", why);
    xir_status status = xir_calibration_write(c, write_to_file, file, why);
    const bool flushed = status || (fflush(file) == 0 && fsync(fileno(file)) == 0);
    const bool closed = fclose(file) == 0;
    if (!status && (!flushed || !closed || rename(part, path) != 0)) status = refused(path, "cannot be replaced", why);
    if (status) (void)remove(part);
    return status;
}

xir_status xir_calibration_save(const xir_calibration *c, const char *path, xir_diags *why) {
    xir_status status = calibration_check(c, why);
    if (status) return status;
    if (!path) return xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, nowhere, "expected a path, found NULL");
    const size_t room = strlen(path) + sizeof ".part";
    char *part = c->alloc->resize(c->alloc->user, NULL, 0, room);
    if (!part) return no_memory(why);
    snprintf(part, room, "%s.part", path);
    status = save_as(c, path, part, why);
    c->alloc->resize(c->alloc->user, part, room, 0);
    return status;
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

typedef struct reader {
    xir_calibration *c;
    xir_str          file, value;   /* value: the name of the one that is read; empty: none */
    xir_diags       *why;
} reader;

/* A finding about a member. Returns false. */
static bool fail(const reader *r, xir_status code, const char *member, const char *sentence) {
    char path[300];
    const int shown = r->value.size < 200 ? (int)r->value.size : 200;
    if (r->value.size) snprintf(path, sizeof path, "/values/%.*s/%s", shown, r->value.data, member);
    else snprintf(path, sizeof path, "/%s", member);
    xir_diags_append(r->why, &(xir_diag){ .severity = XIR_ERROR, .code = code, .file = r->file, .byte = XIR_NO_BYTE,
                                          .path = xir_str_of(path), .message = xir_str_of(sentence) });
    return false;
}

static const xir_any *member_of(const reader *r, const xir_map *map, const char *key, xir_any_kind kind) {
    const xir_any *any = xir_map_find(map, xir_str_of(key));
    if (!any) fail(r, XIR_E_MISSING, key, "the member is missing");
    else if (any->kind == kind) return any;
    else fail(r, XIR_E_TYPE, key, kind == XIR_ANY_MAP ? "expected an object" : kind == XIR_ANY_TEXT ? "expected a text"
              : kind == XIR_ANY_LIST ? "expected a list" : "expected an integer");
    return NULL;
}

static bool integer_of(const reader *r, const xir_map *map, const char *key, int64_t least, int64_t most,
                       int64_t *out) {
    const xir_any *any = member_of(r, map, key, XIR_ANY_INT);
    if (!any) return false;
    *out = any->as.integer;
    return (*out >= least && *out <= most) || fail(r, XIR_E_BOUNDS, key, "the integer is outside of its bounds");
}

static bool real_of(const reader *r, const xir_any *any, const char *key, double *out) {
    if (!any) return fail(r, XIR_E_MISSING, key, "the member is missing");
    if (any->kind == XIR_ANY_INT) *out = (double)any->as.integer;
    else if (any->kind == XIR_ANY_UINT) *out = (double)any->as.uinteger;
    else if (any->kind == XIR_ANY_REAL) *out = any->as.real;
    else return fail(r, XIR_E_TYPE, key, "expected a number");
    return isfinite(*out) || fail(r, XIR_E_BOUNDS, key, "expected a finite number");
}

static const int64_t most_count = INT64_C(1) << COUNT_BITS;

/* The bins, which must have `count` numbers. */
static bool bins_of(reader *r, const xir_map *value, int64_t count, bins *out) {
    uint64_t total = 0;
    xir_str texts[2];
    int64_t exponent;
    const xir_any *any = member_of(r, value, "bins", XIR_ANY_MAP);
    if (!any || !integer_of(r, &any->as.map, "exponent", BINS_LEAST, BINS_MOST, &exponent)) return false;
    for (int half = 0; half < 2; half++) {
        const char *key = half ? "negative" : "positive";
        const xir_any *text = member_of(r, &any->as.map, key, XIR_ANY_TEXT);
        if (!text) return false;
        uint64_t sum;
        texts[half] = text->as.text;
        if (!packed_read(texts[half], NULL, BINS, &sum))
            return fail(r, XIR_E_CORRUPT, key, "the text is not one of packed counts");
        if (sum > (uint64_t)count - total) return fail(r, XIR_E_CORRUPT, "bins", "the counts exceed the sum");
        total += sum;
    }
    if (total != (uint64_t)count) return fail(r, XIR_E_CORRUPT, "bins", "the counts do not add up to the sum");
    if (!count || bins_keep(out, r->c->alloc, (int)exponent, total, texts[0], texts[1])) return true;
    no_memory(r->why);
    return false;
}

/* A list of n numbers. */
static bool numbers_of(const reader *r, const xir_map *map, const char *key, size_t n, double *out) {
    const xir_any *list = member_of(r, map, key, XIR_ANY_LIST);
    if (!list) return false;
    if (list->as.list.size != n) return fail(r, XIR_E_BOUNDS, key, "the lists of a value have different lengths");
    for (size_t i = 0; i < n; i++)
        if (!real_of(r, &list->as.list.items[i], key, &out[i])) return false;
    return true;
}

/* The ranges of channels, which a file need not have. */
static bool channels_of(const reader *r, const xir_map *value, record *made) {
    const xir_any *any = xir_map_find(value, XIR_STR("channels"));
    if (!any) return true;
    if (any->kind != XIR_ANY_MAP) return fail(r, XIR_E_TYPE, "channels", "expected an object");
    const xir_any *list = member_of(r, &any->as.map, "max", XIR_ANY_LIST);
    if (!list) return false;
    const size_t n = list->as.list.size;
    if (n && !channels_make(made, r->c->alloc, n)) {
        no_memory(r->why);
        return false;
    }
    r->c->channels = true;   /* samples that are added to a calibration with channels count them, too */
    if (!numbers_of(r, &any->as.map, "max", n, made->high) || !numbers_of(r, &any->as.map, "min", n, made->low))
        return false;
    for (size_t i = 0; i < n; i++)
        if (made->low[i] > made->high[i]) return fail(r, XIR_E_BOUNDS, "min", "the least number exceeds the greatest");
    return true;
}

static bool read_value(reader *r, const xir_map *value) {
    int64_t samples, count;
    double min, max, sums[3];
    if (!integer_of(r, value, "samples", 0, most_count, &samples) ||
        !integer_of(r, value, "count", 0, most_count, &count) ||
        !real_of(r, xir_map_find(value, XIR_STR("min")), "min", &min) ||
        !real_of(r, xir_map_find(value, XIR_STR("max")), "max", &max)) return false;
    const xir_any *list = member_of(r, value, "sums", XIR_ANY_LIST);
    if (!list) return false;
    if (list->as.list.size != 3) return fail(r, XIR_E_BOUNDS, "sums", "expected three numbers");
    for (int k = 0; k < 3; k++)
        if (!real_of(r, &list->as.list.items[k], "sums", &sums[k])) return false;
    if (min > max) return fail(r, XIR_E_BOUNDS, "min", "the least number exceeds the greatest");
    record *made = calibration_record(r->c, r->value);
    if (!made) {
        no_memory(r->why);
        return false;
    }
    if (made->bins.count || made->samples) return fail(r, XIR_E_EXISTS, "", "another value has the name");
    made->samples = (uint64_t)samples;
    made->min = min;
    made->max = max;
    for (int k = 0; k < 3; k++) made->sums[k] = sums[k];
    return bins_of(r, value, count, &made->bins) && channels_of(r, value, made);
}

static bool read_all(reader *r, const xir_any *root) {
    int64_t version, samples;
    if (root->kind != XIR_ANY_MAP) return fail(r, XIR_E_TYPE, "", "expected an object");
    const xir_map *map = &root->as.map;
    if (!integer_of(r, map, KEY, 0, INT64_MAX, &version)) return false;
    if (version != VERSION)
        return fail(r, XIR_E_UNSUPPORTED, KEY, "the calibration is of another version; this one reads version 1");
    if (!integer_of(r, map, "samples", 0, most_count, &samples)) return false;
    const xir_any *values = member_of(r, map, "values", XIR_ANY_MAP);
    if (!values) return false;
    r->c->samples = (uint64_t)samples;
    for (size_t i = 0; i < values->as.map.size; i++) {
        const xir_entry *e = &values->as.map.entries[i];
        r->value = e->key;
        if (e->value.kind != XIR_ANY_MAP) return fail(r, XIR_E_TYPE, "", "expected an object");
        if (!read_value(r, &e->value.as.map)) return false;
    }
    return true;
}

/* The JSON, in a network that owns it. Findings get the name of the file. */
static const xir_any *parse(xir_network *net, xir_str json, xir_str file, xir_diags *why) {
    xir_diags *found = xir_diags_new(xir_network_context(net));
    const xir_any *any = found ? xir_any_parse(net, json, found) : NULL;
    if (!found) no_memory(why);
    for (size_t i = 0; i < xir_diags_count(found); i++) {
        xir_diag d = *xir_diags_at(found, i);
        d.file = file;
        xir_diags_append(why, &d);
    }
    xir_diags_free(found);
    return any;
}

xir_calibration *xir_calibration_read(xir_context *ctx, xir_str json, xir_str name, xir_diags *why) {
    xir_calibration *c = xir_calibration_new(ctx, NULL, why);
    if (!c) return NULL;
    reader r = { .c = c, .file = name, .why = why };
    xir_network *net = xir_network_new(ctx, "", XIR_FRAMEWORK_ONNX, "");
    if (!net) no_memory(why);
    const xir_any *root = net ? parse(net, json, name, why) : NULL;
    const bool sound = root && read_all(&r, root);
    xir_network_free(net);
    if (sound) return c;
    xir_calibration_free(c);
    return NULL;
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

static const size_t most_bytes = (size_t)1 << 31;

/* All bytes of a file, in a block of `room` bytes; NULL with a finding. */
static char *read_file(const xir_allocator *alloc, const char *path, size_t *size, size_t *room, xir_diags *why) {
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    *size = *room = 0;
    if (!file) {
        refused(path, "cannot be read", why);
        return NULL;
    }
    bool sound = true;
    for (size_t got = 1; got && sound;) {
        if (*size == *room) {
            const size_t more = *room ? *room * 2 : 65536;
            char *now = more <= most_bytes ? alloc->resize(alloc->user, data, *room, more) : NULL;
            sound = now != NULL;
            if (!now && more <= most_bytes) no_memory(why);
            if (!now && more > most_bytes)
                xir_diags_append(why, &(xir_diag){ .severity = XIR_ERROR, .code = XIR_E_LIMIT, .byte = XIR_NO_BYTE,
                                                   .file = xir_str_of(path),
                                                   .message = XIR_STR("the file has more than 2 GiB") });
            if (!now) break;
            data = now;
            *room = more;
        }
        got = fread(data + *size, 1, *room - *size, file);
        *size += got;
    }
    if (sound && ferror(file)) {
        refused(path, "cannot be read", why);
        sound = false;
    }
    fclose(file);
    if (sound) return data;
    if (data) alloc->resize(alloc->user, data, *room, 0);
    return NULL;
}

xir_calibration *xir_calibration_load(xir_context *ctx, const char *path, xir_diags *why) {
    size_t size, room;
    if (!ctx || !path) {
        xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, nowhere, "expected a context and a path, found NULL");
        return NULL;
    }
    const xir_allocator *alloc = xir_context_allocator(ctx);
    char *data = read_file(alloc, path, &size, &room, why);
    if (!data) return NULL;
    xir_calibration *c = xir_calibration_read(ctx, (xir_str){ data, size }, xir_str_of(path), why);
    alloc->resize(alloc->user, data, room, 0);
    return c;
}

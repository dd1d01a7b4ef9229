/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random values, ops and whole networks, and the raw files of their Params. */
#include <stdio.h>
#include <stdlib.h>
#include "raw/list.h"
#include "support/random_parts.h"

/* Marks for texts that depend on which ops are kept: bytes that do not occur in any text. */
enum { MARK_OPS = 1, MARK_BYTES = 2, MARK_MD5 = 3 };

struct random_net {
    uint64_t seed;
    sheet    frame;     /* the network with marks in it */
    sheet   *ops;
    size_t   n_ops;
    bool     loose, payloads, refusable, ambiguous, shuffled, wide;
};

/* ---- ids ---------------------------------------------------------------------------------------------------- */

enum { ID_DENSE, ID_SPARSE, ID_WIDE };

/* A sequence of distinct random numbers of 31 bits, or 62. They are distinct because the factor is odd. */
static int64_t id_of(const rnd *r, uint64_t count) {
    switch (r->id_mode) {
    case ID_DENSE:  return (int64_t)count;
    case ID_SPARSE: return (int64_t)(count * 0x9E3779B1u & 0x7FFFFFFF);
    default:        return (int64_t)(count * 0x9E3779B97F4A7C15u & 0x3FFFFFFFFFFFFFFF);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------- */

/* A type of known size, of a few bytes. */
static void put_sized_type(rnd *r) {
    static const char *const elements[] = { "\"@fp(32)\"", "\"@fp(16)\"", "\"@bf(16)\"", "\"@tf(32)\"", "\"@fpe7m8\"",
                                            "\"@bool\"", "\"@fp(64)\"" };
    bool tensor = !rnd_once_in(r, 10);
    if (tensor) sheet_str(r->out, "{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":");
    if (rnd_once_in(r, 4)) {
        sheet_str(r->out, "{\"_type_key\":\"icraft::xir::QuantizedType\",\"expressed_dtype\":\"@fp(32)\",\"scale\":\"@scales([axis=-1]0.5)\","
                          "\"storage_dtype\":\"@sint(8)\",\"zero_points\":[]}");
    } else if (rnd_once_in(r, 3)) {
        sheet_print(r->out, "\"@uint(%d)\"", 1 + (int)rnd_below(r, 40));
    } else {
        sheet_str(r->out, elements[rnd_below(r, sizeof elements / sizeof *elements)]);
    }
    if (!tensor) return;
    sheet_str(r->out, ",\"layout\":\"@layout(*)\",\"merged_distrs\":[],\"shape\":[");
    for (uint64_t n = rnd_below(r, 4), i = 0; i < n; i++)
        sheet_print(r->out, "%s%d", i ? "," : "", rnd_once_in(r, 12) ? 0 : 1 + (int)rnd_below(r, 4));
    sheet_str(r->out, "]}");
}

static void put_type(rnd *r, bool constant) {
    const xir_class *tensor = r->ctx->types[CLASS_tensor_type];
    if (constant && r->payloads) {
        put_sized_type(r);
    } else if (rnd_once_in(r, 10)) {
        sheet_str(r->out, "null");
        r->counts->no_type++;
    } else {
        int depth = r->depth;
        r->depth = 2;
        rnd_object(r, rnd_once_in(r, 4) ? r->ctx->types[CLASS_type] : tensor);
        r->depth = depth;
    }
}

/* Another key of the map. */
static bool extra_key(rnd *r, rnd_map *m, const char *const *taken, size_t n) {
    char key[64];
    size_t size = rnd_free_key(r, key, sizeof key);
    for (size_t i = 0; i < n; i++) {
        if (strlen(taken[i]) == size && memcmp(taken[i], key, size) == 0) return false;
    }
    return rnd_map_key(r, m, key, size);
}

static void put_tags(rnd *r, rnd_map *m) {
    if (r->loose && rnd_once_in(r, 4)) return;   /* they are written nevertheless */
    rnd_map_word(r, m, "tags");
    if (!rnd_once_in(r, 8)) {
        sheet_str(r->out, "{}");
        return;
    }
    rnd_any_map(r, 3, false);
    r->counts->tags++;
}

static void put_name(rnd *r, rnd_map *m) {
    if (r->loose && rnd_once_in(r, 4)) return;
    rnd_map_word(r, m, "name");
    if (rnd_once_in(r, 2)) sheet_str(r->out, "\"\"");
    else rnd_text(r);
}

static made_value *new_value(rnd *r, bool constant) {
    sheet text = { 0 }, *out = r->out;
    rnd_map m;
    r->out = &text;
    rnd_map_open(r, &m);
    if (constant && !(r->loose && rnd_once_in(r, 3))) {
        bool may_lack = rnd_once_in(r, 6);
        rnd_map_word(r, &m, "_allow_no_data");
        sheet_str(r->out, may_lack ? "true" : "false");
        if (may_lack) r->counts->may_lack++;
    }
    rnd_map_word(r, &m, "_type_key");
    sheet_print(r->out, "\"icraft::xir::%s\"", constant ? "Params" : "Value");
    rnd_map_word(r, &m, "dtype");
    put_type(r, constant);
    if (!(r->loose && rnd_once_in(r, 4))) {
        rnd_map_word(r, &m, "mtype");
        if (rnd_once_in(r, 2)) sheet_str(r->out, "\"@hostm\"");
        else rnd_object(r, r->ctx->types[CLASS_mtype]);
    }
    put_name(r, &m);
    put_tags(r, &m);
    static const char *const taken[] = { "_allow_no_data", "_type_key", "dtype", "mtype", "name", "tags", "v_id" };
    if (rnd_once_in(r, 16) && extra_key(r, &m, taken, 7)) {
        rnd_any(r, 2, false);
        r->counts->value_extra++;
    }
    rnd_map_word(r, &m, "v_id");
    rnd_put_i64(r, id_of(r, r->next_value++));
    rnd_map_close(r, &m);
    r->out = out;
    if (r->n_values == r->value_room) {
        r->value_room = r->value_room ? r->value_room * 2 : 64;
        r->values = realloc(r->values, r->value_room * sizeof *r->values);
        if (!r->values) abort();
    }
    r->values[r->n_values] = (made_value){ text.data, text.size, constant, false };
    constant ? r->counts->params++ : r->counts->values++;
    return &r->values[r->n_values++];
}

static void put_use(rnd *r, const made_value *v) { sheet_put(r->out, v->text, v->size); }

void rnd_params(rnd *r) {
    for (int i = 0; i < 3 && r->n_values && !rnd_once_in(r, 4); i++) {
        const made_value *v = &r->values[rnd_below(r, r->n_values)];
        if (!v->params) continue;
        r->counts->repeated++;
        put_use(r, v);
        return;
    }
    put_use(r, new_value(r, true));
}

static void put_input(rnd *r) {
    if (rnd_once_in(r, 4)) {
        rnd_params(r);
    } else if (r->n_values && !rnd_once_in(r, 8)) {
        const made_value *v = &r->values[r->n_values - 1 - rnd_below(r, r->n_values < 6 ? r->n_values : 6)];
        put_use(r, v);
    } else {
        put_use(r, new_value(r, false));   /* a later op may make it, or no op */
        r->counts->orphans++;
    }
}

static void put_output(rnd *r) {
    made_value *v = NULL;
    for (size_t i = 0; i < r->n_values && rnd_once_in(r, 2); i++) {   /* one that was used before */
        made_value *one = &r->values[rnd_below(r, r->n_values)];
        if (!one->params && !one->defined) v = one;
    }
    if (!v) v = new_value(r, false);
    v->defined = true;
    put_use(r, v);
}

/* ---- ops ---------------------------------------------------------------------------------------------------- */

static const char *const op_keys[] = { "_type_key", "compile_target", "inputs", "name", "op_id", "outputs", "tags" };

static void put_inputs(rnd *r, rnd_map *m) {
    uint64_t n = rnd_below(r, rnd_once_in(r, 30) ? 40 : 4);
    if (!n && r->loose) return;
    rnd_map_word(r, m, "inputs");
    sheet_put(r->out, "[", 1);
    for (uint64_t i = 0; i < n; i++) {
        if (i) sheet_put(r->out, ",", 1);
        if ((i + 1 < n || r->loose) && rnd_once_in(r, 10)) {
            sheet_str(r->out, "null");
            r->counts->null_inputs++;
        } else {
            put_input(r);
        }
    }
    sheet_put(r->out, "]", 1);
}

static void put_outputs(rnd *r, rnd_map *m) {
    rnd_map_word(r, m, "outputs");
    sheet_put(r->out, "[", 1);
    for (uint64_t n = rnd_below(r, rnd_once_in(r, 20) ? 12 : 3), i = 0; i < n; i++) {
        if (i) sheet_put(r->out, ",", 1);
        put_output(r);
    }
    sheet_put(r->out, "]", 1);
}

static void put_op_rows(rnd *r, rnd_map *m, const xir_class *cls) {
    enum { TRACKED = 64 };
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        if (i < TRACKED && rnd_once_in(r, 8)) {
            r->counts->absent[cls->fields[i].kind]++;
            continue;
        }
        rnd_row_key(r, m, cls, i);
        rnd_row(r, &cls->fields[i], true);
    }
}

static void put_op_extra(rnd *r, rnd_map *m, const xir_class *cls) {
    for (uint64_t n = cls ? rnd_once_in(r, 6) : rnd_below(r, 5); n > 0; n--) {
        char key[64];
        size_t size = rnd_free_key(r, key, sizeof key);
        bool taken = cls && class_find_key(cls, (xir_str){ key, size }, 0);
        for (size_t i = 0; i < sizeof op_keys / sizeof *op_keys; i++)
            taken |= strlen(op_keys[i]) == size && !memcmp(op_keys[i], key, size);
        if (taken || !rnd_map_key(r, m, key, size)) continue;
        rnd_any(r, 3, true);
        r->counts->op_extra++;
    }
}

/* A class of ops; NULL: an unknown class. */
static const xir_class *op_class(rnd *r) {
    if (rnd_once_in(r, 12)) return NULL;
    for (;;) {
        const xir_class *cls = r->classes[rnd_below(r, r->n_classes)];
        if (!cls->is_op) continue;
        if (cls->n_fields <= 64 || rnd_once_in(r, 8)) return cls;
    }
}

void rnd_op(rnd *r, bool sub) {
    const xir_class *cls = op_class(r);
    int depth = r->depth;
    r->depth -= 2;
    rnd_map m;
    rnd_map_open(r, &m);
    rnd_map_word(r, &m, "_type_key");
    if (cls) rnd_class_key(r, cls);
    else sheet_print(r->out, "\"someone::Op%d\"", (int)rnd_below(r, 4));
    if (!(r->loose && rnd_once_in(r, 4))) {
        rnd_map_word(r, &m, "compile_target");
        if (rnd_once_in(r, 2)) sheet_str(r->out, "\"@hostt\"");
        else rnd_object(r, r->ctx->types[CLASS_target]);
    }
    put_inputs(r, &m);
    put_name(r, &m);
    rnd_map_word(r, &m, "op_id");
    rnd_put_i64(r, id_of(r, r->next_op++));
    put_outputs(r, &m);
    put_tags(r, &m);
    if (cls) put_op_rows(r, &m, cls);
    put_op_extra(r, &m, cls);
    rnd_map_close(r, &m);
    r->depth = depth;
    if (cls) r->counts->ops[rnd_class_index(r, cls)]++;
    else r->counts->unknown_ops++;
    if (sub) r->counts->sub_ops++;
    if (sub && depth < 4) r->counts->deep_ops++;
}

/* ---- networks ----------------------------------------------------------------------------------------------- */

/* Sets what depends on the version. */
static void put_version(rnd *r, rnd_map *m) {
    static const char *const odd[] = { "", "3", "v3.6.1", "2.9.9.9", "0.0", "4.0.0.0", "10.2", "3.30",
                                       "3.300.1.0", "newest" };
    static const uint8_t major[] = { 0, 3, 3, 2, 0, 4, 10, 3, 3, 0 };
    static const uint16_t minor[] = { 0, 0, 6, 9, 0, 0, 2, 30, 300, 0 };
    uint32_t v[4] = { 3, 33, 1, 0 };
    if (rnd_once_in(r, 20)) {
        r->counts->no_version++;
    } else if (rnd_once_in(r, 10)) {
        uint64_t i = rnd_below(r, sizeof major);
        rnd_map_word(r, m, "icraft_xir_version");
        sheet_print(r->out, "\"%s\"", odd[i]);
        v[0] = major[i], v[1] = minor[i];
        r->counts->odd_versions++;
    } else {
        if (rnd_once_in(r, 2)) v[1] = (uint32_t)rnd_below(r, RANDOM_MINORS);
        rnd_map_word(r, m, "icraft_xir_version");
        sheet_print(r->out, "\"3.%" PRIu32 ".%d.%d\"", v[1], (int)rnd_below(r, 3), (int)rnd_below(r, 90));
        r->counts->minors[v[1]]++;
    }
    r->old = v[0] < 3 || (v[0] == 3 && v[1] < 30);
    r->single = v[0] < 3 || (v[0] == 3 && v[1] < 31);
}

static bool has_key(rnd *r) {
    if (!rnd_once_in(r, 8)) return true;
    r->counts->absent_network_keys++;
    return false;
}

static void put_network_extra(rnd *r, rnd_map *m) {
    static const char *const taken[] = { "_type_key", "ai_target", "framework_kind", "framework_version",
                                         "icraft_version", "icraft_xir_version",
                                         "name", "ops", "params_bytes", "params_md5", "tags", "params", "params_table" };
    for (uint64_t n = rnd_once_in(r, 4) ? 1 + rnd_below(r, 3) : 0; n > 0; n--) {
        /* Names that formats use for their own parts must not disturb them. */
        bool own = rnd_once_in(r, 20);
        if (own ? !rnd_map_word(r, m, rnd_once_in(r, 2) ? "params" : "params_table")
                : !extra_key(r, m, taken, sizeof taken / sizeof *taken)) continue;
        rnd_any(r, 3, false);
        r->counts->network_extra++;
        r->counts->own_keys += own;
        r->refusable |= own;
    }
}

/* Writes the digest if some op has Params. If not, the file's statement about their bytes is unchanged. */
static void put_digest(rnd *r, rnd_map *m) {
    bool kept = false;   /* Params that need bytes are in every network except one without ops */
    for (size_t i = 0; i < r->n_values; i++) {
        kept |= r->values[i].params && memmem(r->values[i].text, r->values[i].size, "\"_allow_no_data\":false", 22);
    }
    if (r->payloads) {
        rnd_map_word(r, m, "params_bytes");
        sheet_put(r->out, (const char[]){ MARK_BYTES }, 1);
        rnd_map_word(r, m, "params_md5");
        sheet_put(r->out, (const char[]){ MARK_MD5 }, 1);
        return;
    }
    if (!kept) {   /* as if it had been computed */
        if (!has_key(r)) return;
        rnd_map_word(r, m, "params_bytes");
        sheet_str(r->out, "0");
        rnd_map_word(r, m, "params_md5");
        sheet_str(r->out, "\"d41d8cd98f00b204e9800998ecf8427e\"");
        return;
    }
    if (has_key(r)) {
        rnd_map_word(r, m, "params_bytes");
        rnd_put_u64(r, rnd_u64(r));
    }
    if (has_key(r)) {
        rnd_map_word(r, m, "params_md5");
        rnd_text(r);
    }
}

static void put_network(rnd *r, random_net *net) {
    static const char *const kinds[] = { "PYTORCH", "ONNX", "NNABLA", "", "SOMEONE" };
    rnd_map m;
    rnd_map_open(r, &m);
    rnd_map_word(r, &m, "_type_key");
    sheet_str(r->out, "\"icraft::xir::Network\"");
    put_version(r, &m);
    if (r->single ? rnd_once_in(r, 3) : has_key(r)) {
        rnd_map_word(r, &m, "ai_target");
        if (rnd_once_in(r, 5)) sheet_str(r->out, "null");
        else rnd_object(r, r->ctx->types[CLASS_target]);
    }
    if (has_key(r)) rnd_map_word(r, &m, "framework_kind"), sheet_print(r->out, "\"%s\"", kinds[rnd_below(r, 5)]);
    if (has_key(r)) rnd_map_word(r, &m, "framework_version"), rnd_text(r);
    if (has_key(r)) rnd_map_word(r, &m, "icraft_version"), rnd_text(r);
    if (has_key(r)) rnd_map_word(r, &m, "name"), rnd_text(r);
    for (size_t i = 0; i < net->n_ops; i++) {
        sheet *out = r->out;
        r->out = &net->ops[i];
        rnd_op(r, false);
        r->out = out;
    }
    rnd_map_word(r, &m, "ops");
    sheet_put(r->out, (const char[]){ '[', MARK_OPS, ']' }, 3);
    put_digest(r, &m);
    put_tags(r, &m);
    put_network_extra(r, &m);
    rnd_map_close(r, &m);
}

static void list_classes(rnd *r) {
    r->classes = malloc(RANDOM_MOST_CLASSES * sizeof *r->classes);
    if (!r->classes) abort();
    for (const xir_class *cls; (cls = xir_context_class_at(r->ctx, r->n_classes)) != NULL;) {
        if (r->n_classes == RANDOM_MOST_CLASSES) abort();
        r->classes[r->n_classes++] = cls;
    }
}

random_net *random_net_make(xir_context *ctx, uint64_t seed, random_counts *counts) {
    random_counts ignored;
    if (!counts) memset(&ignored, 0, sizeof ignored);
    rnd r = { .state = seed, .ctx = ctx, .counts = counts ? counts : &ignored, .depth = 6 };
    random_net *net = calloc(1, sizeof *net);
    if (!net) abort();
    r.state = rnd_bits(&r);   /* adjacent seeds have nothing in common */
    list_classes(&r);
    r.loose = net->loose = rnd_once_in(&r, 8);
    r.payloads = net->payloads = rnd_once_in(&r, 2);
    r.id_mode = rnd_once_in(&r, 3) ? ID_SPARSE : ID_DENSE;
    if (rnd_once_in(&r, r.payloads ? 16 : 6)) r.id_mode = ID_WIDE;
    net->wide = r.id_mode == ID_WIDE;
    net->seed = seed;
    net->shuffled = rnd_once_in(&r, 2);
    net->n_ops = rnd_below(&r, rnd_once_in(&r, 10) ? 30 : 6);
    net->ops = calloc(net->n_ops + 1, sizeof *net->ops);
    if (!net->ops) abort();
    r.out = &net->frame;
    put_network(&r, net);
    net->refusable = r.refusable;
    net->ambiguous = r.ambiguous;
    r.counts->networks++;
    r.counts->loose += r.loose;
    r.counts->payloads += r.payloads;
    r.counts->empty += net->n_ops == 0;
    r.counts->wide_ids += r.id_mode == ID_WIDE;
    r.counts->shuffled += net->shuffled;
    for (size_t i = 0; i < r.n_values; i++) free(r.values[i].text);
    free(r.values);
    free((void *)r.classes);
    return net;
}

void random_net_free(random_net *r) {
    if (!r) return;
    for (size_t i = 0; i < r->n_ops; i++) free(r->ops[i].data);
    free(r->ops);
    free(r->frame.data);
    free(r);
}

bool   random_net_is_loose(const random_net *r)      { return r->loose; }
bool   random_net_has_payloads(const random_net *r)  { return r->payloads; }
bool   random_net_may_be_refused(const random_net *r)       { return r->refusable; }
bool   random_net_has_wide_ids(const random_net *r)  { return r->wide; }
bool   random_net_is_ambiguous(const random_net *r)  { return r->ambiguous; }
size_t random_net_op_count(const random_net *r)      { return r->n_ops; }

char *random_net_text(const random_net *r, const bool *dropped, uint64_t params_bytes, const char *params_md5,
                      size_t *size) {
    sheet s = { 0 };
    for (size_t i = 0; i < r->frame.size; i++) {
        char c = r->frame.data[i];
        if (c == MARK_BYTES) {
            sheet_print(&s, "%" PRIu64, params_bytes);
        } else if (c == MARK_MD5) {
            sheet_print(&s, "\"%s\"", params_md5);
        } else if (c == MARK_OPS) {
            bool first = true;
            for (size_t j = 0; j < r->n_ops; j++) {
                if (dropped && dropped[j]) continue;
                if (!first) sheet_put(&s, ",", 1);
                sheet_put(&s, r->ops[j].data, r->ops[j].size);
                first = false;
            }
        } else {
            sheet_put(&s, &c, 1);
        }
    }
    *size = s.size;
    return s.data;
}

/* ---- raw files ---------------------------------------------------------------------------------------------- */

static void shuffle(rnd *r, uint32_t *order, size_t n) {
    for (size_t i = n; i > 1; i--) {
        size_t j = rnd_below(r, i);
        uint32_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}

static void put_le(uint8_t *at, int bytes, uint64_t v) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(v >> (8 * i));
}

typedef struct entry { xir_value *value; uint64_t size, offset; } entry;
typedef struct entries { entry *data; size_t n, room; rnd *chance; random_counts *counts; } entries;

static bool add_entry(void *user, xir_value *v) {
    entries *e = user;
    uint64_t size;
    if (xir_params_allow_no_data(v) && rnd_once_in(e->chance, 2)) return true;
    if (xir_type_bytes(xir_value_type(v), &size) != XIR_OK) abort();
    if (e->n == e->room) {
        e->room = e->room ? e->room * 2 : 64;
        e->data = realloc(e->data, e->room * sizeof *e->data);
        if (!e->data) abort();
    }
    e->data[e->n++] = (entry){ v, size, 0 };
    return true;
}

uint8_t *random_net_raw(const random_net *r, xir_network *net, size_t *size) {
    rnd chance = { .state = r->seed ^ 0x5DEECE66Du };
    chance.state = rnd_bits(&chance);
    entries e = { .chance = &chance };
    if (!net_walk_params(net, add_entry, &e)) abort();
    uint32_t *table = malloc((2 * e.n + 1) * sizeof *table), *payloads = table + e.n;
    if (!table) abort();
    for (uint32_t i = 0; i < e.n; i++) table[i] = payloads[i] = i;
    if (r->shuffled) shuffle(&chance, payloads, e.n);
    if (r->shuffled && rnd_once_in(&chance, 2)) shuffle(&chance, table, e.n);
    else memcpy(table, payloads, e.n * sizeof *table);
    uint64_t end = RAW_HEADER + RAW_ENTRY * e.n;
    for (size_t i = 0; i < e.n; i++) {
        e.data[payloads[i]].offset = end;
        end += e.data[payloads[i]].size;
    }
    uint8_t *file = malloc(end);
    if (!file) abort();
    memcpy(file, raw_magic, RAW_N_AT);
    put_le(file + RAW_N_AT, 4, e.n);
    for (size_t i = 0; i < e.n; i++) {
        put_le(file + RAW_HEADER + RAW_ENTRY * i, 4, (uint64_t)xir_value_id(e.data[table[i]].value));
        put_le(file + RAW_HEADER + RAW_ENTRY * i + 4, 8, e.data[table[i]].offset);
    }
    for (uint64_t at = RAW_HEADER + RAW_ENTRY * e.n; at < end; at++) file[at] = (uint8_t)rnd_bits(&chance);
    *size = end;
    free(table);
    free(e.data);
    return file;
}

static bool fill_one(void *user, xir_value *v) {
    rnd *chance = user;
    uint8_t some[1024];
    uint64_t size;
    if (xir_params_allow_no_data(v) && rnd_once_in(chance, 2)) return true;
    if (xir_type_bytes(xir_value_type(v), &size) != XIR_OK || size > sizeof some) abort();
    for (uint64_t i = 0; i < size; i++) some[i] = (uint8_t)rnd_bits(chance);
    if (xir_params_set_copy(v, some, size) != XIR_OK) abort();
    return true;
}

void random_net_fill(const random_net *r, xir_network *net) {
    rnd chance = { .state = r->seed ^ 0x5DEECE66Du };
    if (!net_walk_params(net, fill_one, &chance)) abort();
}

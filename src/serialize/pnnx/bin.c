/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The archive of weights next to a text: a member OP.KEY for each weight. */
#include "file.h"
#include "pnnx/pnnx.h"
#include "task.h"
#include "zip/zip.h"

/* ---- reading --------------------------------------------------------------------------------------------------- */

typedef struct loading {
    xir_network          *net;
    const format_reading *how;
    zip_archive           zip;
    blob                **contents;   /* of the Params, in the order of the walk */
    const xir_type      **types;      /* the new types of those whose type was assumed; NULL: as it is */
    size_t                n, used;
} loading;

/* The bytes of a type that XIR does not have, "(2,3)c64"; false if it has no known size. */
static bool size_of_text(xir_str text, uint64_t *out) {
    const char *close = memrchr(text.data, ')', text.size);
    const xir_str name = close ? (xir_str){ close + 1, (size_t)(text.data + text.size - close) - 1 } : text;
    xir_str item;
    uint64_t elements = 1, bits = 0;
    for (size_t i = 0; i < element_codes_pnnx.n; i++)
        if (xir_str_equal(name, xir_str_of(element_codes_pnnx.rows[i].name))) bits = element_codes_pnnx.rows[i].bits;
    if (!bits || !close || close - text.data < 2) return false;
    for (pnnx_items walk = pnnx_items_of((xir_str){ text.data + 1, (size_t)(close - text.data) - 1 });
         pnnx_next_item(&walk, &item);) {
        int32_t dim = 0;
        if (pnnx_scalar_kind(item) != XIR_PNNX_INT || !pnnx_take_int(item, &dim) || dim < 0) return false;
        if (!mul_u64(elements, (uint64_t)dim, &elements)) return false;
    }
    return mul_u64(elements, bits / 8, out);
}

static bool has_tag(const xir_value *v, const char *key) {
    return value_more_of(v)->tags && xir_map_find(value_more_of(v)->tags, xir_str_of(key));
}

/* The type of a weight to which the file gives none, from the bytes of its elements; `*out` stays NULL if they do not
 * tell. False without memory. */
static bool type_of_size(loading *l, const xir_value *v, uint64_t size, const xir_type **out) {
    const xir_tensor_type *t = xir_type_as_tensor(v->type);
    uint64_t n = 0, bytes = 0;
    if (!t || dialect_size(t->shape.data, t->shape.size, 8, &n, &bytes) || !n || size % n) return true;
    const uint64_t width = size / n;
    const xir_float_format as = width == 2 ? XIR_FLOAT_FP16 : XIR_FLOAT_FP64;
    if (width != 2 && width != 8) return true;
    const xir_type *element = xir_type_float(l->net->ctx, as), *type = NULL;
    if (element) type = xir_type_tensor(l->net->ctx, element, t->layout, t->shape.data, t->shape.size);
    if (type) *out = net_type(l->net, type);
    return *out || zip_no_memory(&l->zip);
}

static bool check_size(loading *l, const xir_value *v, const zip_member *m, const xir_type **type) {
    const xir_any *text = xir_map_find(value_more_of(v)->tags, XIR_STR(PNNX_TAG_TYPE));
    uint64_t size = m->size;
    bool known = v->type ? params_size(v, &size) == XIR_OK
                         : text && text->kind == XIR_ANY_TEXT && size_of_text(text->as.text, &size);
    if (!known || size == m->size) return true;
    if (has_tag(v, PNNX_TAG_ASSUMED) && !type_of_size(l, v, m->size, type)) return false;
    return *type || zip_fail(&l->zip, XIR_E_CORRUPT, m->header, "the member '%.*s' has %" PRIu64 " bytes, but its type "
                             "takes %" PRIu64, CLIP(m->name), m->size, size);
}

static bool take_one(void *user, xir_value *v) {
    loading *l = user;
    const size_t i = l->n++;
    const xir_str name = xir_value_name(v);
    const zip_member *m = zip_find(&l->zip, name);
    l->contents[i] = NULL;
    l->types[i] = NULL;
    if (!m) {
        return xir_params_allow_no_data(v) ||
               zip_fail(&l->zip, XIR_E_MISSING, XIR_NO_BYTE, "the archive has no member '%.*s'", CLIP(name));
    }
    l->used++;
    return check_size(l, v, m, &l->types[i]) &&
           (l->contents[i] = zip_take(&l->zip, m, l->how->compare));
}

static bool give_one(void *user, xir_value *v) {
    loading *l = user;
    const size_t i = l->n++;
    if (l->types[i]) v->type = l->types[i];
    blob_release(value_params(v)->data);
    value_params(v)->data = l->contents[i];
    return true;
}

static void warn(loading *l, const char *sentence, ...) XIR_PRINTF(2, 3);
static void warn(loading *l, const char *sentence, ...) {
    va_list args;
    va_start(args, sentence);
    diag_failv(l->how->why, &(xir_diag){ .severity = XIR_WARNING, .file = l->how->name, .byte = XIR_NO_BYTE }, sentence,
               args);
    va_end(args);
}

/* The network remembers the form of its archive. */
static bool note_form(loading *l) {
    xir_any form = xir_any_text(XIR_STR("zip32"));
    const xir_any *known = xir_map_find(l->net->tags, XIR_STR(PNNX_TAG_ZIP));
    if (l->zip.walked || !l->zip.zip64 == (known != NULL)) return true;
    if (l->zip.zip64) form = xir_any_text(XIR_STR("zip64"));
    return map_with(&l->net->arena, l->net->tags, XIR_STR(PNNX_TAG_ZIP), &form, &l->net->tags) ||
           zip_no_memory(&l->zip);
}

static bool give_all(loading *l) {
    const size_t n = l->n;
    if (!note_form(l)) return false;
    if (l->zip.walked) warn(l, "the archive has no directory: its members were found one after the other");
    if (l->used < l->zip.n && !l->how->silent)
        warn(l, "%zu of %zu members of the archive belong to no weight", l->zip.n - l->used, l->zip.n);
    l->n = 0;
    return net_walk_params(l->net, give_one, l) && l->n == n;
}

static xir_status load(xir_network *net, const format_reading *how, blob *whole) {
    const xir_allocator *alloc = &net->ctx->alloc;
    loading l = { .net = net, .how = how };
    const size_t room = net->n_params + 1;
    l.contents = mem_new(alloc, room * sizeof *l.contents);
    l.types = mem_new(alloc, room * sizeof *l.types);
    xir_status status = zip_open(&l.zip, alloc, whole, how->name, net->ctx->limits.max_unpacked, how->why);
    if (!status && (!l.contents || !l.types)) zip_no_memory(&l.zip);
    else if (!status && !(net_walk_params(net, take_one, &l) && give_all(&l))) {
        zip_no_memory(&l.zip);   /* unless another failure is recorded */
        for (size_t i = 0; i < l.n; i++) blob_release(l.contents[i]);
    }
    status = l.zip.status;
    zip_close(&l.zip);
    mem_free(alloc, l.contents, room * sizeof *l.contents);
    mem_free(alloc, l.types, room * sizeof *l.types);
    return status;
}

xir_status pnnx_load_params(xir_network *net, const format_reading *how) {
    file_reader r;
    xir_status status = file_reader_open(&r, net->ctx, how->path, how->why);
    if (status) return status;
    const bool map = how->lazy && r.regular;
    blob *whole = !map ? file_reader_all(&r, net->ctx->limits.max_bytes)
                : how->watch ? file_reader_map_watched(&r) : file_reader_map(&r);
    status = r.status;
    file_reader_close(&r);
    if (!whole) return status;
    status = load(net, how, whole);
    blob_release(whole);
    return status;
}

xir_status pnnx_read_params(xir_network *net, const format_reading *how, const void *data, size_t size) {
    const xir_allocator *alloc = &net->ctx->alloc;
    blob *whole = how->lazy ? blob_borrow(alloc, data, size, true, NULL, NULL) : blob_new(alloc, size);
    if (!whole) return diag_memory(how->why);
    xir_status status = XIR_OK;
    if (!how->lazy && !task_copy((void *)(uintptr_t)whole->bytes, data, size)) status = diag_memory(how->why);
    if (!status) status = load(net, how, whole);
    blob_release(whole);
    return status;
}

bool pnnx_params_may_begin(const uint8_t *head, size_t size) {
    if (size < 4) return true;
    const uint32_t sign = little_u32(head);
    return sign == ZIP_LOCAL || sign == ZIP_END || sign == ZIP_END64;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

typedef struct member { xir_str name; const xir_value *params; } member;

typedef struct saving {
    xir_network          *net;
    const format_writing *how;
    arena                 scratch;
    member               *members;
    size_t                n, room;
    uint64_t              names, contents;    /* bytes */
    xir_status            status;
} saving;

static bool fail(saving *s, xir_status code, const char *sentence, ...) XIR_PRINTF(3, 4);
static bool fail(saving *s, xir_status code, const char *sentence, ...) {
    va_list args;
    va_start(args, sentence);
    s->status = file_failv(s->how->why, code, s->how->path, XIR_NO_BYTE, sentence, args);
    va_end(args);
    return false;
}

static bool add_member(saving *s, const xir_op *op, const xir_entry *e) {
    const xir_value *v = e->value.as.params;
    const xir_str op_name = xir_op_name(op);
    const size_t size = op_name.size + e->key.size;   /* the sign before the key becomes the dot */
    const blob *data = value_params(v)->data;
    uint64_t bytes = 0;
    char *name = arena_take(&s->scratch, size);
    if (!name || !mem_reserve(&s->net->ctx->alloc, (void **)&s->members, &s->room, s->n + 1, sizeof *s->members))
        return diag_no_memory(&s->status, s->how->why);
    memcpy(name, op_name.data, op_name.size);
    memcpy(name + op_name.size, e->key.data, e->key.size);
    name[op_name.size] = '.';
    const xir_str text = { name, size };
    if (!op_name.size) return fail(s, XIR_E_MISSING, "op %" PRId64 " has weights, but no name", op->id);
    if (size > UINT16_MAX) return fail(s, XIR_E_LIMIT, "the name '%.*s' has more than 65535 bytes", CLIP(text));
    bool sized = v->type && params_size(v, &bytes) == XIR_OK;
    if (!data && !xir_params_allow_no_data(v) && (!sized || bytes))
        return fail(s, XIR_E_MISSING, "the weight '%.*s' has no bytes", CLIP(text));
    if (data && sized && data->size != bytes)
        return fail(s, XIR_E_INVALID, "the weight '%.*s' has %" PRIu64 " bytes, but its type takes %" PRIu64,
                    CLIP(text), data->size, bytes);
    s->names += size;
    if (!add_u64(s->contents, data ? data->size : 0, &s->contents))
        return fail(s, XIR_E_LIMIT, "the weights take more bytes than a file can have");
    s->members[s->n++] = (member){ text, v };
    return true;
}

static bool list_members(saving *s) {
    text_table names;
    bool ok = true;
    for (const xir_op *op = s->net->first; op && ok; op = op->next) {
        const xir_map *extra = op_more_of(op) && pnnx_type_of(op).size ? op_more_of(op)->extra : NULL;
        for (size_t i = 0; extra && i < extra->size && ok; i++) {
            const xir_entry *e = &extra->entries[i];
            if (pnnx_is_weight(e) && e->value.kind == XIR_ANY_PARAMS) ok = add_member(s, op, e);
        }
    }
    text_table_init(&names, &s->net->ctx->alloc);
    for (size_t i = 0; i < s->n && ok; i++) {
        const uint32_t *first = text_table_add(&names, s->members[i].name, (uint32_t)i);
        ok = first ? *first == i || fail(s, XIR_E_EXISTS, "two weights would be the member '%.*s' of the archive",
                                         CLIP(s->members[i].name))
                   : diag_no_memory(&s->status, s->how->why);
    }
    text_table_free(&names);
    return ok;
}

static void write_members(saving *s) {
    const xir_any *form = xir_map_find(s->net->tags, XIR_STR(PNNX_TAG_ZIP));
    bool narrow = form && form->kind == XIR_ANY_TEXT && xir_str_equal(form->as.text, XIR_STR("zip32"));
    zip_writer z;
    zip_begin(&z, &s->net->ctx->alloc, !(narrow && zip_fits(false, s->n, s->names, s->contents)), s->how->write,
              s->how->user);
    for (size_t i = 0; i < s->n && !z.status; i++) {
        const blob *data = value_params(s->members[i].params)->data;
        xir_status status = data ? params_check(s->members[i].params, s->how->why) : XIR_OK;
        if (status) z.status = s->status = status;
        else zip_add(&z, s->members[i].name, data ? data->bytes : NULL, data ? data->size : 0);
    }
    const xir_status status = zip_end(&z);
    if (s->status) return;
    if (status == XIR_E_LIMIT) fail(s, status, "the weights do not fit into an archive");
    else s->status = status == XIR_E_MEMORY ? diag_memory(s->how->why) : status;
}

xir_status pnnx_write_params(xir_network *net, const format_writing *how) {
    saving s = { .net = net, .how = how };
    arena_init(&s.scratch, &net->ctx->alloc);
    if (list_members(&s)) write_members(&s);
    mem_free(&net->ctx->alloc, s.members, s.room * sizeof *s.members);
    arena_free(&s.scratch);
    return s.status;
}

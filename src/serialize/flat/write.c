/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A network as a FlatBuffers file: the structure, built in memory, followed by the payloads, written from where they
 * are.
 *
 *     offset of the root | Network … ops … values … types | zeros | size | payload | zeros | size | payload …
 *
 * The size of the structure, and so the place of the payloads, is known only at its end. Until then payloads have
 * places relative to the first one; the offsets to them are filled in last. A file gets its MD5 at the end, since that
 * is computed while the payloads are written; what cannot be changed once it is written gets it from the beginning. */
#include <assert.h>
#include "file.h"
#include "flat/write.h"

#define INSTEAD "which a FlatBuffers file cannot hold: save as JSON with a raw file next to it (.json)"

/* ---- payloads ---------------------------------------------------------------------------------------------- */

/* Places of payloads, in bytes from the size field of the first one. */
typedef struct payload_places {
    uint32_t align, small;   /* of payloads, and of those below FORMAT_SMALL bytes */
    uint64_t at, end;        /* of the last one */
} payload_places;

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) & ~(to - 1); }

static uint32_t at_least_4(uint32_t align) { return align < 4 ? 4 : align; }

static payload_places places_begin(const flat_writer *w) {
    const format_writing *how = w->how;
    return (payload_places){ .align = at_least_4(how->align),
                             .small = at_least_4(how->small_align ? how->small_align : how->align) };
}

static uint32_t align_of(const payload_places *p, uint64_t size) {
    return !size ? 4 : size < FORMAT_SMALL ? p->small : p->align;
}

/* The place of the next payload; its size stands in the 4 bytes before it. An empty payload takes only those 4
 * bytes. */
static bool places_next(payload_places *p, uint64_t size) {
    if (size > FLAT_MOST_BYTES) return false;
    p->at = round_up(p->end, align_of(p, size)) + 4;
    p->end = p->at + size;
    return p->end <= FLAT_MOST_BYTES;
}

/* The end of the last payload, and the alignment of the first one, which all others rely on; false, with a finding, if
 * no file can be so long. */
static bool measure(flat_writer *w, uint64_t *end) {
    uint64_t bytes = 0;
    payload_places p = places_begin(w);
    bool fits = true;
    w->first_align = 4;
    for (size_t i = 0; i < w->plan.n; i++) {
        uint64_t size = payload_at(&w->plan, i)->size;
        if (align_of(&p, size) > w->first_align) w->first_align = align_of(&p, size);
        if (!add_u64(bytes, size, &bytes)) bytes = UINT64_MAX;
        fits = fits && places_next(&p, size);
    }
    *end = p.end;
    if (fits) return true;
    w->b.status = file_fail(w->how->why, XIR_E_LIMIT, w->how->path, XIR_NO_BYTE,
                            "the parameters take %llu bytes, " INSTEAD, (unsigned long long)bytes);
    return false;
}

/* The place of the first payload's size field. */
static uint64_t payloads_at(const flat_writer *w) { return round_up(w->b.size + 4, w->first_align) - 4; }

static void fill_in_offsets(flat_writer *w) {
    payload_places p = places_begin(w);
    uint64_t first = payloads_at(w);
    uint32_t slot = w->s.params->slots[PARAMS_SLOT_DATA].slot;
    for (size_t i = 0; i < w->plan.n; i++) {
        const raw_item *it = payload_at(&w->plan, i);
        uint32_t table = w->params[value_params(it->value)->number].at;
        assert(table && "all Params of the walk are written");
        places_next(&p, it->size);
        uint32_t field = flat_table_slot(&w->b, table, slot);
        little_put32(flat_at(&w->b, field), (uint32_t)(first + p.at - 4 - (w->b.size - field)));
    }
}

static bool write_zeros(const format_writing *how, uint64_t n) {
    static const uint8_t zeros[4096];
    for (; n > sizeof zeros; n -= sizeof zeros) {
        if (!how->write(how->user, zeros, sizeof zeros)) return false;
    }
    return n == 0 || how->write(how->user, zeros, (size_t)n);
}

static bool write_payloads(flat_writer *w) {
    const format_writing *how = w->how;
    payload_places p = places_begin(w);
    uint64_t first = payloads_at(w), written = w->b.size;
    for (size_t i = 0; i < w->plan.n; i++) {
        const raw_item *it = payload_at(&w->plan, i);
        places_next(&p, it->size);
        uint8_t size[4];
        little_put32(size, (uint32_t)it->size);
        if (!write_zeros(how, first + p.at - 4 - written) || !how->write(how->user, size, sizeof size)) return false;
        if (!payload_put(&w->plan, how, it)) return false;
        written = first + p.end;
    }
    return true;
}

/* Replaces the zeros in the structure by the MD5. */
static bool write_md5(const flat_writer *w) {
    const format_writing *how = w->how;
    return !w->plan.later || !w->md5_at || how->patch(how->user, w->b.size - w->md5_at + 4, w->plan.hex, MD5_DIGITS);
}

/* ---- the structure ----------------------------------------------------------------------------------------- */

static bool has_key(const flat_writer *w, network_key key) {
    return codec_has_key(w->net, key, w->plan.params_bytes, w->plan.params_md5);
}

static void put_network_texts(flat_writer *w, flat_fields *f, const flat_slot *slots) {
    static const struct { int slot; network_key key; } texts[] = {
        { NET_SLOT_NAME, NETWORK_NAME }, { NET_SLOT_FRAMEWORK, NETWORK_FRAMEWORK },
        { NET_SLOT_FRAMEWORK_VERSION, NETWORK_FRAMEWORK_VERSION }, { NET_SLOT_XIR_VERSION, NETWORK_XIR_VERSION },
        { NET_SLOT_ICRAFT_VERSION, NETWORK_ICRAFT_VERSION },
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        xir_str text = w->net->text[network_key_text(texts[i].key)];
        if (has_key(w, texts[i].key)) flat_set_at(f, slots[texts[i].slot].slot, flat_text(w, text));
    }
    if (has_key(w, NETWORK_PARAMS_MD5)) {    /* never shared with an equal text */
        const xir_str sum = w->plan.params_md5;
        w->md5_at = sum.size ? flat_string(&w->b, sum.data, sum.size) : w->no_text;
        flat_set_at(f, slots[NET_SLOT_PARAMS_MD5].slot, w->md5_at);
    }
    flat_set64(f, slots[NET_SLOT_PARAMS_BYTES].slot, w->plan.params_bytes);
    flat_set_at(f, slots[NET_SLOT_TAGS].slot, flat_plain_map(w, f, w->net->tags));
}

/* Ops are built last to first, so that the file has them in order. */
static void put_ops(flat_writer *w, flat_fields *f, const flat_slot *slot) {
    size_t from = w->n_list;
    for (const xir_op *op = w->net->last; op && !flat_failed(w); op = op->prev) {
        uint8_t tag;
        uint32_t height, at = flat_op(w, op, &tag, &height);
        flat_over(f, height + 1);
        flat_push(w, at, tag);
    }
    for (size_t i = from, j = w->n_list; !flat_failed(w) && i + 1 < j;) {
        flat_tagged last = w->list[--j];
        w->list[j] = w->list[i];
        w->list[i++] = last;
    }
    flat_set_pair(f, slot->slot, flat_pop_pair(w, from));
}

static void put_network_extra(flat_writer *w, flat_fields *f, const flat_table *t) {
    const flat_slot *target = &t->slots[NET_SLOT_AI_TARGET];
    const xir_object *object = (const xir_object *)w->net->ai_target;
    bool has_target = has_key(w, NETWORK_AI_TARGET);
    if (has_target && (!object || !flat_object(w, f, target, object)))
        flat_item(w, (extra_item){ target->name, EXTRA_OBJECT, .as.object = object });
    if (!has_key(w, NETWORK_PARAMS_BYTES))
        flat_item(w, (extra_item){ t->slots[NET_SLOT_PARAMS_BYTES].name, EXTRA_ABSENT, .as.object = NULL });
    w->e.plain = true;
    flat_set_at(f, t->slots[t->extra].slot, flat_extra(w, f, w->net->extra));
    w->e.plain = false;
}

/* The order of the raw file's table, if it is not the order of the payloads, or if a program that rewrites the file
 * could not guess it: usually payloads are in the order of the table. */
static void put_params_table(flat_writer *w, flat_fields *f, const flat_slot *slot) {
    uint32_t at;
    bool needed = w->plan.table_differs || !w->plan.as_walked;
    uint8_t *p = needed ? flat_vector(&w->b, w->plan.n, 8, &at) : NULL;
    for (size_t i = 0; p && i < w->plan.n; i++)
        little_put64(p + 8 * i, (uint64_t)payload_in_table(&w->plan, i)->value->id);
    if (p) flat_set_at(f, slot->slot, at);
}

/* Items that any table may refer to. */
static void begin(flat_writer *w) {
    w->tag_params = flat_tag(w->s.values, w->s.params);
    w->tag_value = flat_tag(w->s.values, w->s.value);
    w->no_text = flat_string(&w->b, NULL, 0);
    w->no_map = flat_text(w, XIR_STR("{}"));
    flat_vector(&w->b, 0, 8, &w->no_list);
}

static void put_root(flat_writer *w, const flat_table *t, const flat_fields *f) {
    if (f->height + 1 > w->deepest) flat_fail(w, XIR_E_LIMIT);
    uint32_t root = flat_put(w, t, f);
    uint8_t *p = flat_take(&w->b, 4, 8, 0);
    if (p) little_put32(p, flat_here(&w->b) - root);
}

static void build(flat_writer *w) {
    const flat_table *t = w->s.network;
    flat_fields f;
    flat_fields_init(&f);
    for (size_t i = 0; i < w->plan.n; i++)
        w->params[value_params(payload_at(&w->plan, i)->value)->number].has_bytes = true;
    begin(w);
    flat_deeper(w);   /* into the network */
    put_ops(w, &f, &t->slots[NET_SLOT_OPS]);
    put_network_texts(w, &f, t->slots);
    put_network_extra(w, &f, t);
    put_params_table(w, &f, &t->slots[NET_SLOT_PARAMS_TABLE]);
    put_root(w, t, &f);
}

/* ---- the file ---------------------------------------------------------------------------------------------- */

/* Reports why the structure could not be built. */
static void explain(flat_writer *w) {
    xir_diags *why = w->how->why;
    if (w->b.status == XIR_E_MEMORY) diag_memory(why);
    else if (w->b.status == XIR_E_INVALID) codec_malformed(why, w->how->path, w->json.sink.malformed);
    else if (w->b.status == XIR_E_UNSUPPORTED)
        file_fail(why, w->b.status, w->how->path, XIR_NO_BYTE, "%s", codec_plain_only);
    else if (w->too_deep)
        file_fail(why, w->b.status, w->how->path, XIR_NO_BYTE, "tables or values are nested deeper than %u",
                  w->deepest);
    else
        file_fail(why, w->b.status, w->how->path, XIR_NO_BYTE, "the structure takes more than %llu bytes, " INSTEAD,
                  (unsigned long long)FLAT_MOST_BYTES);
}

static bool take_memory(flat_writer *w) {
    const xir_allocator *alloc = context_alloc(w->ctx);
    w->n_outputs = (w->net ? w->net->n_slots : 0) + (size_t)1;
    w->n_params = (w->net ? w->net->n_params : 0) + (size_t)1;
    w->outputs = mem_new(alloc, w->n_outputs * sizeof *w->outputs);
    w->params = mem_new(alloc, w->n_params * sizeof *w->params);
    bool made = flat_schema_init(&w->s, w->ctx);
    w->n_rows = w->s.n_tables + 1;   /* tables are numbered from 1 */
    w->rows = mem_new(alloc, w->n_rows * sizeof *w->rows);
    if (!w->outputs || !w->params || !w->rows || !made) return false;
    for (size_t i = 0; i < w->n_rows; i++) w->rows[i].attrs = NULL;
    memset(w->outputs, 0, w->n_outputs * sizeof *w->outputs);
    memset(w->params, 0, w->n_params * sizeof *w->params);
    return true;
}

static void start(flat_writer *w, xir_context *ctx, xir_network *net, const format_writing *how) {
    memset((void *)w, 0, sizeof *w);
    w->ctx = ctx;
    w->net = net;
    w->how = how;
    w->plan.list.net = net;
    w->deepest = ctx->limits.max_depth < CODEC_DEEPEST ? ctx->limits.max_depth : CODEC_DEEPEST;
    flat_builder_init(&w->b, context_alloc(w->ctx));
    pointer_table_init(&w->ref_of, context_alloc(w->ctx));
    json_sink_init(&w->json, w->ctx, 0, NULL, NULL);
    encoder_init(&w->e, w->ctx, net, &w->json.sink);
}

static void end(flat_writer *w) {
    const xir_allocator *alloc = context_alloc(w->ctx);
    encoder_free(&w->e);
    json_sink_free(&w->json);
    flat_schema_free(&w->s);
    pointer_table_free(&w->ref_of);
    mem_free(alloc, w->refs, w->ref_room * sizeof *w->refs);
    mem_free(alloc, w->outputs, w->n_outputs * sizeof *w->outputs);
    mem_free(alloc, w->many, w->many_room * sizeof *w->many);
    mem_free(alloc, w->params, w->n_params * sizeof *w->params);
    mem_free(alloc, w->rows, w->n_rows * sizeof *w->rows);
    mem_free(alloc, w->list, w->list_room * sizeof *w->list);
    mem_free(alloc, w->items, w->item_room * sizeof *w->items);
    if (w->net) payload_plan_free(&w->plan);
    flat_builder_free(&w->b);
}

/* Everything that can fail except writing. */
static xir_status prepare(flat_writer *w) {
    uint64_t end;
    const format_writing *how = w->how;
    xir_status status = how->no_params ? payload_plan_none(&w->plan, w->net, how->why)
                                       : payload_plan_list(&w->plan, w->net, how->path, how->why);
    if (status) return status;
    if (!measure(w, &end)) return w->b.status;    /* before any parameter is read for the digest */
    if (!how->no_params && (status = payload_plan_digest(&w->plan, how->patch)) != XIR_OK) return status;
    if (!take_memory(w)) return diag_memory(w->how->why);
    build(w);
    if (flat_failed(w)) {
        explain(w);
        return w->b.status;
    }
    uint64_t size = w->plan.n ? payloads_at(w) + end : w->b.size;
    if (size > FLAT_MOST_BYTES)
        return file_fail(w->how->why, XIR_E_LIMIT, w->how->path, XIR_NO_BYTE,
                         "structure and parameters take %llu bytes, " INSTEAD, (unsigned long long)size);
    fill_in_offsets(w);
    return XIR_OK;
}

xir_status flat_write(xir_network *net, const format_writing *how) {
    flat_writer *w = mem_new(context_alloc(net->ctx), sizeof *w);
    if (!w) return diag_memory(how->why);
    start(w, net->ctx, net, how);
    xir_status status = prepare(w);
    if (!status) status = payload_begin(&w->plan);
    if (!status && !(flat_builder_write(&w->b, how->write, how->user) && write_payloads(w))) status = XIR_E_IO;
    const xir_status read = payload_end(&w->plan, !status);
    if (read) status = read;
    if (!status && !write_md5(w)) status = XIR_E_IO;
    end(w);
    mem_free(context_alloc(net->ctx), w, sizeof *w);
    return status;
}

/* ---- parts ------------------------------------------------------------------------------------------------- */

static void build_part(flat_writer *w, const format_part *part) {
    const flat_table *t = w->s.part, *as = NULL;
    const flat_slot *slot = &t->slots[PART_SLOT_OBJECT];
    flat_fields f;
    flat_fields_init(&f);
    begin(w);
    uint32_t at = 0, height = 0;
    uint8_t tag;
    switch (part->kind) {
    case PART_OBJECT:
        if (!flat_object(w, &f, slot, part->it))
            flat_item(w, (extra_item){ slot->name, EXTRA_OBJECT, .as.object = part->it });
        flat_set_at(&f, t->slots[PART_SLOT_EXTRA].slot, flat_extra(w, &f, NULL));
        break;
    case PART_OP:
        at = flat_op(w, part->it, &tag, &height);
        as = flat_failed(w) ? NULL : w->s.ops->members[tag];
        break;
    case PART_VALUE:
        as = value_is_params(part->it) ? w->s.params : w->s.value;
        at = value_is_params(part->it) ? flat_params(w, part->it) : flat_value(w, part->it);
        height = w->value_height;
        break;
    }
    if (as) {
        flat_over(&f, height);
        flat_set8(&f, slot->slot, flat_tag(slot->family, as));
        flat_set_at(&f, slot->slot + 1u, at);
    }
    put_root(w, t, &f);
}

xir_status flat_write_part(const format_part *part, const format_writing *how) {
    const xir_allocator *alloc = context_alloc(part->ctx);
    flat_writer *w = mem_new(alloc, sizeof *w);
    if (!w) return diag_memory(how->why);
    start(w, part->ctx, part->net, how);
    if (take_memory(w)) build_part(w, part);
    else flat_fail(w, XIR_E_MEMORY);
    if (flat_failed(w)) explain(w);
    xir_status status = w->b.status;
    if (!status && !flat_builder_write(&w->b, how->write, how->user)) status = XIR_E_IO;
    end(w);
    mem_free(alloc, w, sizeof *w);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory types: one small object each, usually without attributes. */
#include "forms.h"
#include "types.h"

const xir_mtype *mtype_make(object_pool *pool, xir_mtype_kind kind, uint64_t addr, uint64_t offset) {
    const xir_class *const *types = pool->ctx->types;
    union {
        xir_object       head;
        xir_onchip_mem   onchip;
        xir_external_mem external;
        xir_chunk_mem    chunk;
    } mem;
    memset(&mem, 0, sizeof mem);
    switch (kind) {
    case XIR_MTYPE_HOST:
        mem.head.cls = types[CLASS_host_mem];
        break;
    case XIR_MTYPE_ONCHIP:
        mem.onchip = (xir_onchip_mem){ { .cls = types[CLASS_onchip_mem] }, addr };
        break;
    case XIR_MTYPE_EXTERNAL:
        mem.external = (xir_external_mem){ { .cls = types[CLASS_external_mem] }, addr };
        break;
    case XIR_MTYPE_CHUNK:
        mem.chunk = (xir_chunk_mem){ { .cls = types[CLASS_chunk_mem] }, addr, offset };
        break;
    }
    return (const xir_mtype *)pool_intern(pool, &mem.head);
}

const xir_mtype *xir_mtype_host(xir_context *ctx) { return ctx->host_mem; }
const xir_mtype *xir_mtype_onchip(xir_context *ctx, uint64_t addr) {
    return mtype_make(context_pool(ctx), XIR_MTYPE_ONCHIP, addr, 0);
}
const xir_mtype *xir_mtype_external(xir_context *ctx, uint64_t addr) {
    return mtype_make(context_pool(ctx), XIR_MTYPE_EXTERNAL, addr, 0);
}
const xir_mtype *xir_mtype_chunk(xir_context *ctx, uint64_t chunk_id, uint64_t offset) {
    return mtype_make(context_pool(ctx), XIR_MTYPE_CHUNK, chunk_id, offset);
}

/* A memory type of a class that the library does not know answers like the host's. */
xir_mtype_kind xir_mtype_kind_of(const xir_mtype *mtype) {
    int what = object_what(mtype);
    return what ? (xir_mtype_kind)(what - 1) : XIR_MTYPE_HOST;
}

uint64_t xir_mtype_addr(const xir_mtype *mtype) {
    switch (xir_mtype_kind_of(mtype)) {
    case XIR_MTYPE_ONCHIP:   return ((const xir_onchip_mem *)mtype)->addr;
    case XIR_MTYPE_EXTERNAL: return ((const xir_external_mem *)mtype)->addr;
    case XIR_MTYPE_CHUNK:    return ((const xir_chunk_mem *)mtype)->chunk_id;
    default:                 return 0;
    }
}

uint64_t xir_mtype_offset(const xir_mtype *mtype) {
    return xir_mtype_kind_of(mtype) == XIR_MTYPE_CHUNK ? ((const xir_chunk_mem *)mtype)->offset : 0;
}

/* "@ocm(1234)", "@etm(1234)", "@chunk(1234@100)" */
static void print_mem(const xir_object *object, buffer *out) {
    const xir_mtype *mtype = (const xir_mtype *)object;
    buffer_char(out, '@');
    buffer_str(out, object->cls->more->form->name);
    buffer_char(out, '(');
    form_put_u64(out, xir_mtype_addr(mtype));
    if (xir_mtype_kind_of(mtype) == XIR_MTYPE_CHUNK) {
        buffer_char(out, '@');
        form_put_u64(out, xir_mtype_offset(mtype));
    }
    buffer_char(out, ')');
}

static const xir_object *parse_mem(object_pool *pool, const xir_class *cls, xir_str text, form_error *e) {
    form_text t;
    bool chunk = cls->what == 1 + XIR_MTYPE_CHUNK;
    uint64_t addr, offset = 0;
    if (!form_open(&t, text, cls->more->form->name, e)) return NULL;
    if (!form_u64(&t, chunk ? "the number of a chunk" : "an address", &addr)) return NULL;
    if (chunk && (!form_literal(&t, "@") || !form_u64(&t, "an offset", &offset))) return NULL;
    if (!form_close(&t)) return NULL;
    const xir_mtype *mtype = mtype_make(pool, (xir_mtype_kind)(cls->what - 1), addr, offset);
    return mtype ? (const xir_object *)mtype : form_fail(e, XIR_E_MEMORY, 0, "out of memory");
}

const xir_form xir_host_mem_form     = { "hostm", form_word_print, form_word_parse };
const xir_form xir_onchip_mem_form   = { "ocm",   print_mem, parse_mem };
const xir_form xir_external_mem_form = { "etm",   print_mem, parse_mem };
const xir_form xir_chunk_mem_form    = { "chunk", print_mem, parse_mem };

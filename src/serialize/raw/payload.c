/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Payloads in a file that also has the structure: which there are, in which orders, and the size and digest of the raw
 * file that they would make. */
#include "format.h"
#include "raw/check_meanwhile.h"
#include "raw/payload.h"
#include "codec/codec.h"

/* ---- digest -------------------------------------------------------------------------------------------------- */

static bool found(void *user, xir_value *v) {
    (void)v;
    *(bool *)user = true;
    return false;
}

/* A network that was read without these two fields, and has no Params, stays without them. */
static bool has_no_digest(const xir_network *net) {
    uint32_t both = UINT32_C(1) << NETWORK_PARAMS_BYTES | UINT32_C(1) << NETWORK_PARAMS_MD5;
    return (net->absent & both) == both && !net->params_bytes && !net->text[XIR_TEXT_PARAMS_MD5].size;
}

/* `later` not NULL: as of raw_digest_later. */
static xir_status digest(xir_network *net, uint64_t *bytes, xir_str *sum, char hex[MD5_DIGITS + 1], bool *later,
                         xir_diags *why) {
    *bytes = 0;
    *sum = (xir_str){ NULL, 0 };
    hex[0] = '\0';
    if (has_no_digest(net)) return XIR_OK;
    xir_status status = later ? raw_digest_later(net, bytes, hex, later) : raw_digest(net, bytes, hex, NULL);
    bool missing = status == XIR_E_MISSING;
    /* If all Params may stay without bytes, there is no file either. */
    if (status == XIR_OK && *bytes == 0 && net->params_bytes) net_walk_params(net, found, &missing);
    if (missing) {
        *bytes = net->params_bytes;
        *sum = net->text[XIR_TEXT_PARAMS_MD5];
        return XIR_OK;
    }
    *sum = (xir_str){ hex, strlen(hex) };
    if (status == XIR_E_MEMORY) return diag_memory(why);
    return status && why ? raw_digest(net, bytes, hex, why) : status;   /* again, for the finding */
}

xir_status payload_digest(xir_network *net, uint64_t *bytes, xir_str *sum, char hex[MD5_DIGITS + 1], xir_diags *why) {
    return digest(net, bytes, sum, hex, NULL, why);
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

static bool has_bytes(void *user, xir_value *v) {
    if (!value_params(v)->data) return true;
    *(bool *)user = true;
    return false;
}

/* Returns true if any Params has bytes, even one that nothing uses: this saves the walk for most networks without
 * bytes. */
static bool some_have_bytes(const xir_network *net) {
    const xir_value *v = net->all_params;
    while (v && !value_params(v)->data) v = value_params(v)->next;
    return v;
}

xir_status payload_plan_list(payload_plan *p, xir_network *net, const char *path, xir_diags *why) {
    *p = (payload_plan){ .list = { .net = net, .why = why, .path = path, .wide_ids = true } };
    bool any = false;
    if (some_have_bytes(net) && !net_walk_params(net, has_bytes, &any) && !any)
        return p->list.status = diag_memory(why);
    if (any && (raw_plan(&p->list, net, path, why) != XIR_OK || raw_check_readable(&p->list) != XIR_OK))
        return p->list.status;
    p->n = any ? p->list.n : 0;
    for (size_t i = 0; i < p->n && !p->table_differs; i++)
        p->table_differs = payload_at(p, i) != payload_in_table(p, i);
    p->as_walked = true;
    for (size_t i = 0; i < p->n && p->as_walked; i++) p->as_walked = p->list.ranks[i].index == i;
    p->silent = has_no_digest(net);
    return XIR_OK;
}

xir_status payload_plan_digest(payload_plan *p, bool later) {
    bool *asks = later && p->n ? &p->later : NULL;
    return p->list.status = digest(p->list.net, &p->params_bytes, &p->params_md5, p->hex, asks, p->list.why);
}

/* ---- writing the bytes ------------------------------------------------------------------------------------------ */

static bool hash_table(void *user, const void *data, size_t size) {
    meanwhile_begin_with(user, data, size);
    return true;
}

xir_status payload_begin(payload_plan *p) {
    if (!p->later) return XIR_OK;
    p->list.status = meanwhile_begin(&p->sum, &p->list.net->alloc, p->params_bytes, p->list.why);
    p->hashes = !p->list.status;
    if (p->hashes) (void)raw_put_table(&p->list, hash_table, &p->sum);
    return p->list.status;
}

bool payload_put(payload_plan *p, const format_writing *how, const raw_item *it) {
    const blob *b = value_params(it->value)->data;
    md5_meanwhile *sum = p->hashes ? &p->sum : NULL;
    if (!b) return true;
    return how ? raw_put_bytes(sum, how->write, how->write_lasting, how->user, b)
               : raw_put_bytes(sum, NULL, NULL, NULL, b);
}

xir_status payload_end(payload_plan *p, bool complete) {
    if (!p->hashes) return p->list.status;
    p->hashes = false;
    const xir_status status = meanwhile_end(&p->sum, complete ? p->hex : NULL, p->list.why);
    if (!p->list.status) p->list.status = status;
    return p->list.status;
}

xir_status payload_plan_none(payload_plan *p, xir_network *net, xir_diags *why) {
    *p = (payload_plan){ .list = { .net = net, .why = why, .path = "", .wide_ids = true } };
    p->silent = has_no_digest(net);
    return p->list.status = payload_digest(net, &p->params_bytes, &p->params_md5, p->hex, why);
}

void payload_plan_free(payload_plan *p) {
    (void)payload_end(p, false);
    raw_list_free(&p->list);
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

/* Notes what the list has for each Params; *index gets room for the places of all Params among the items. */
static xir_status match(raw_listing *l, const payload *list, size_t n, uint32_t *index, size_t room) {
    memset(index, 0xFF, room * sizeof *index);
    for (size_t i = 0; i < l->n; i++) index[value_params(l->items[i].value)->number] = (uint32_t)i;
    for (size_t i = 0; i < n; i++) {
        uint32_t at = index[value_params(list[i].value)->number];
        if (at == UINT32_MAX)
            return raw_fail(l, XIR_E_CORRUPT, list[i].offset, "%s has bytes but is not part of the network",
                            raw_name_of(list[i].value).text);
        raw_item *it = &l->items[at];
        if (it->entry != RAW_NONE)
            return raw_fail(l, XIR_E_CORRUPT, list[i].offset, "%s has bytes twice", raw_name_of(it->value).text);
        if (it->open) it->size = list[i].size;
        if (it->size != list[i].size)
            return raw_fail(l, XIR_E_CORRUPT, list[i].offset, "%s has %llu bytes, but its type takes %llu",
                            raw_name_of(it->value).text, (unsigned long long)list[i].size,
                            (unsigned long long)it->size);
        it->offset = list[i].offset;
        it->entry = list[i].entry;
        l->ranks[i] = (raw_rank){ i, at };
    }
    for (size_t i = 0; i < l->n; i++) {
        const raw_item *it = &l->items[i];
        if (it->entry == RAW_NONE && (it->size || it->open) && !value_params(it->value)->allow_no_data)
            return raw_fail(l, XIR_E_CORRUPT, XIR_NO_BYTE, "%s has no bytes in the file, but other Params have",
                            raw_name_of(it->value).text);
    }
    return XIR_OK;
}

/* Computes the digest of the attached bytes and compares it. */
static xir_status compare_digest(raw_listing *l, raw_origin *from) {
    xir_str said = l->net->text[XIR_TEXT_PARAMS_MD5];
    if (said.size == 0 && l->net->params_bytes) raw_note_no_digest(l);
    if (raw_digest_is_none(said)) return XIR_OK;
    for (size_t i = 0; i < l->n; i++) {   /* no raw file can hold such ids, so nobody has computed its digest */
        if (l->items[i].value->id > INT32_MAX) return XIR_OK;
    }
    uint64_t bytes;
    char hex[MD5_DIGITS + 1];
    l->status = raw_digest(l->net, &bytes, hex, l->why);
    if (l->status) return l->status;
    if (!raw_digest_is(said, hex))
        return raw_fail(l, XIR_E_CORRUPT, XIR_NO_BYTE,
                        "the MD5 of the parameters is %s, but params_md5 of the network is %.*s", hex,
                        CLIP_TO(said, 64));
    memcpy(from->md5, hex, MD5_DIGITS);
    from->read = true;
    return XIR_OK;
}

/* Otherwise it is compared at once. */
static bool is_checked_meanwhile(const xir_network *net, const blob *whole) {
    const xir_str said = net->text[XIR_TEXT_PARAMS_MD5];
    return check_meanwhile_can(whole) && raw_digest_is_hex(said) && !raw_digest_is_none(said);
}

xir_status payload_attach(xir_network *net, blob *whole, const payload *list, size_t n, payload_compare when,
                          xir_str file, xir_diags *why) {
    if (n == 0) return XIR_OK;
    const bool meanwhile = when == PAYLOAD_MEANWHILE && is_checked_meanwhile(net, whole);
    const bool compare = when != PAYLOAD_TRUSTED && !meanwhile;
    raw_listing l = { .wide_ids = true };
    char path[512];
    size_t size = file.size < sizeof path - 1 ? file.size : sizeof path - 1;
    if (size) memcpy(path, file.data, size);
    path[size] = '\0';
    size_t room = net->n_params;
    uint32_t *index = NULL;
    if (raw_list_params(&l, net, path, why) == XIR_OK) {
        if (n > room)
            raw_fail(&l, XIR_E_CORRUPT, XIR_NO_BYTE, "the file has bytes for %zu Params, but the network has %zu", n,
                     room);
        else if (!(index = mem_new(&net->alloc, room * sizeof *index))) raw_no_memory(&l);
        else if (match(&l, list, n, index, room) == XIR_OK) {
            raw_origin from = { .read = false };
            xir_str said = net->text[XIR_TEXT_PARAMS_MD5];
            if (!compare && raw_digest_is_hex(said) && !raw_digest_is_none(said))
                memcpy(from.md5, said.data, MD5_DIGITS);
            if (raw_attach(&l, whole, n, &from) == XIR_OK) {
                blob *keeper = value_params(list[0].value)->data->parent;
                if (meanwhile) l.status = check_meanwhile_parts(net, whole, keeper, why);
                else if (compare) compare_digest(&l, (raw_origin *)(void *)(uintptr_t)keeper->bytes);
            }
        }
    }
    mem_free(&net->alloc, index, room * sizeof *index);
    raw_list_free(&l);
    return l.status;
}

xir_status payload_compare_size(xir_network *net, const format_reading *how) {
    if (!net->params_bytes) return XIR_OK;
    raw_listing raw = { .wide_ids = true };
    xir_status status = raw_plan(&raw, net, "", NULL);
    if (status == XIR_OK && raw.n && raw.total != net->params_bytes) {
        char text[120];
        snprintf(text, sizeof text, "params_bytes is %llu, but the parameters make a raw file of %llu",
                 (unsigned long long)net->params_bytes, (unsigned long long)raw.total);
        xir_diags_append(how->why, &(xir_diag){
            .severity = XIR_WARNING, .message = xir_str_of(text), .file = how->name, .byte = XIR_NO_BYTE });
    }
    raw_list_free(&raw);
    return status == XIR_E_MEMORY ? diag_memory(how->why) : XIR_OK;
}

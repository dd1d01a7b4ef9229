/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The public functions for JSON. Each connects a sink or a source to the codec. */
#include "codec/given.h"
#include "format.h"
#include "json/json.h"
#include "raw/payload.h"
#include "spelled.h"
#include "utf8.h"

/* ---- printing ---------------------------------------------------------------------------------------------- */

void xir_text_free(xir_text_buffer *text) {
    if (!text || !text->ctx) return;
    mem_free(context_alloc(text->ctx), text->data, text->room);
    *text = (xir_text_buffer){ 0 };
}

/* Moves the sink's text to the caller. */
static xir_status give_text(json_sink *j, xir_text_buffer *out) {
    xir_status status = json_sink_end(j);
    *out = (xir_text_buffer){ 0 };
    if (status) return status;
    *out = (xir_text_buffer){ .data = j->out.data, .size = j->out.size, .room = j->out.room, .ctx = j->ctx };
    buffer_init(&j->out, context_alloc(j->ctx));
    return XIR_OK;
}

/* Prints `any` unless it is NULL, then the row of the op that is the part unless it is NULL, otherwise the part. */
static xir_status print_part(const format_part *part, const xir_any *any, const xir_field *row, int indent,
                             xir_text_buffer *out) {
    json_sink j;
    encoder e;
    json_sink_init(&j, part->ctx, indent, NULL, NULL);
    encoder_init(&e, part->ctx, part->net, &j.sink);
    if (any) encode_any(&e, any);
    else if (row) encode_field(&e, row, body_at(((const xir_op *)part->it)->attrs, row));
    else encode_part(&e, part);
    xir_status status = give_text(&j, out);
    encoder_free(&e);
    json_sink_free(&j);
    return status;
}

xir_status xir_object_print(xir_context *ctx, const xir_object *object, int indent, xir_text_buffer *out) {
    return print_part(&(format_part){ PART_OBJECT, ctx, NULL, object }, NULL, NULL, indent, out);
}

xir_status xir_op_print(const xir_op *op, int indent, xir_text_buffer *out) {
    if (!op) return XIR_E_MISSING;
    return print_part(&(format_part){ PART_OP, op->net->ctx, op->net, op }, NULL, NULL, indent, out);
}

xir_status xir_op_attr_print(const xir_op *op, xir_str name, int indent, xir_text_buffer *out) {
    if (!op) return XIR_E_MISSING;
    const xir_field *row = xir_class_field(op->cls, name);
    const xir_any *any = row || !op_more_of(op) ? NULL : xir_map_find(op_more_of(op)->extra, name);
    if (!row && !any) return XIR_E_UNKNOWN;
    return print_part(&(format_part){ PART_OP, op->net->ctx, op->net, op }, any, row, indent, out);
}

xir_status xir_value_print(const xir_value *value, int indent, xir_text_buffer *out) {
    if (!value) return XIR_E_MISSING;
    xir_network *net = value_net(value);
    return print_part(&(format_part){ PART_VALUE, net->ctx, net, value }, NULL, NULL, indent, out);
}

xir_status xir_any_print(xir_context *ctx, const xir_any *any, int indent, xir_text_buffer *out) {
    return print_part(&(format_part){ .ctx = ctx }, any, NULL, indent, out);
}

static xir_status write_network(xir_network *net, json_sink *j, xir_diags *why) {
    uint64_t bytes = 0;
    xir_str sum = { NULL, 0 };
    char hex[MD5_DIGITS + 1];
    xir_status status = payload_digest(net, &bytes, &sum, hex, why);
    if (status) return status;
    encoder e;
    encoder_init(&e, net->ctx, net, &j->sink);
    encode_network(&e, bytes, sum);
    encoder_free(&e);
    return j->sink.status;
}

static xir_status explain_failure(const json_sink *j, xir_status status, xir_diags *why) {
    switch (status) {
    case XIR_E_INVALID: return codec_malformed(why, "", j->sink.malformed);
    case XIR_E_MEMORY: return diag_memory(why);
    case XIR_E_LIMIT:  return diag_fail(why, status, XIR_STR(""), "values are nested deeper than %u",
                                        j->ctx->limits.max_depth);
    case XIR_E_UNSUPPORTED: return diag_fail(why, status, XIR_STR(""), "%s", codec_plain_only);
    default:           return status;   /* XIR_E_IO: the callback's failure has a finding */
    }
}

static xir_status write_json(xir_network *net, int indent, xir_write_fn *write, void *user, xir_diags *why) {
    json_sink j;
    spelling dims;   /* for programs that print; a save has added the keys already */
    xir_status status = spelling_begin(&dims, net, why);
    if (!status) {
        json_sink_init(&j, net->ctx, indent, write, user);
        status = write_network(net, &j, why);
        if (!status) status = json_sink_end(&j);
        if (j.sink.status) explain_failure(&j, status, why);
        json_sink_free(&j);
    }
    spelling_end(&dims);
    return status;
}

xir_status xir_json_write(xir_network *net, int indent, xir_write_fn *write, void *user, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    given_writer g = given_begin(write, user, why);
    return given_end(&g, write_json(net, indent, given_write, &g, why));
}

xir_status xir_json_print(xir_network *net, int indent, xir_text_buffer *out) {
    if (!net) return XIR_E_MISSING;
    json_sink j;
    json_sink_init(&j, net->ctx, indent, NULL, NULL);
    xir_status status = write_network(net, &j, NULL);
    if (status) *out = (xir_text_buffer){ 0 };
    else status = give_text(&j, out);
    json_sink_free(&j);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

static void begin(decoder *d, source *s, xir_context *ctx, xir_network *net, xir_str json, xir_str name,
                  xir_diags *why) {
    static const char nothing[1];
    if (!json.data) json.data = nothing;
    decoder_init(d, ctx, net, &json_source, name, json, why);
    decoder_source(d, s, &json_source, json.data, json.size);
    json_begin(s);
}

static const void *parse_part(format_part part, xir_str json, xir_diags *why) {
    decoder d;
    source s;
    begin(&d, &s, part.ctx, part.net, json, XIR_STR(""), why);
    bool ok = decode_part(&d, &s, &part, json_at_end);
    decoder_free(&d);
    return ok ? part.it : NULL;
}

const xir_object *xir_object_parse(xir_context *ctx, xir_str json, xir_diags *why) {
    return parse_part((format_part){ PART_OBJECT, ctx, NULL, NULL }, json, why);
}

xir_op *xir_op_parse(xir_network *net, xir_str json, xir_diags *why) {
    if (!net) {
        diag_null(why, "network");
        return NULL;
    }
    return (xir_op *)(uintptr_t)parse_part((format_part){ PART_OP, net->ctx, net, NULL }, json, why);
}

xir_status json_read_any(xir_context *ctx, arena *to, xir_str json, xir_any *out, xir_diags *why) {
    decoder d;
    source s;
    begin(&d, &s, ctx, NULL, json, XIR_STR(""), why);
    xir_any any;
    if (decode_any(&d, &s, &any) && json_at_end(&s) && !any_copy(to, &any, out)) trace_memory(&d.trace);
    xir_status status = d.trace.status;
    decoder_free(&d);
    return status;
}

const xir_any *xir_any_parse(xir_network *net, xir_str json, xir_diags *why) {
    if (!net) {
        diag_null(why, "network");
        return NULL;
    }
    xir_any any, *made = arena_take(&net->arena, sizeof *made);
    if (!made) {
        diag_memory(why);
        return NULL;
    }
    if (json_read_any(net->ctx, &net->arena, json, &any, why)) return NULL;
    *made = any;
    return made;
}

xir_network *xir_json_read(xir_context *ctx, xir_str json, xir_str name, xir_diags *why) {
    if (json.size > ctx->limits.max_bytes) {
        diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "%zu bytes are more than the limit of %llu", json.size,
                  (unsigned long long)ctx->limits.max_bytes);
        return NULL;
    }
    xir_network *net = network_new(ctx);
    if (!net) {
        diag_memory(why);
        return NULL;
    }
    memcpy(net->version, (const uint32_t[4]){ 3, 33, 1, 0 }, sizeof net->version);   /* if the file has none */
    decoder d;
    source s;
    begin(&d, &s, ctx, net, json, name, why);
    bool ok = decode_network(&d, &s) && json_at_end(&s);
    decoder_free(&d);
    if (ok) return net;
    xir_network_free(net);
    return NULL;
}

/* ---- the format ---------------------------------------------------------------------------------------------- */

/* Returns true if a key may be declared for networks. */
static bool is_network_key(xir_str key) {
    for (int i = 0; i < NETWORK_KEYS; i++)
        if (xir_str_equal(key, xir_str_of(network_keys[i]))) return true;
    return false;
}

static const char *skip_blanks(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) p++;
    return p;
}

/* A list may be JSON; a map whose first key is a text is JSON; a map whose first key is one of a network's is a
 * network. A byte order mark is accepted here: the reader refuses it with a clear finding. */
static xir_probe_grade probe(const xir_probe *file, void *user) {
    const char *p = file->head, *end = p + file->head_size;
    (void)user;
    p += utf8_mark(p, file->head_size);
    p = skip_blanks(p, end);
    if (p == end || (*p != '{' && *p != '[')) return XIR_PROBE_NO;
    if (*p++ == '[' || (p = skip_blanks(p, end)) == end) return XIR_PROBE_MAYBE;
    if (*p == '}') return XIR_PROBE_LIKELY;
    const char *quote = *p == '"' ? memchr(p + 1, '"', (size_t)(end - p - 1)) : NULL;
    if (!quote) return XIR_PROBE_MAYBE;
    const char *colon = skip_blanks(quote + 1, end);
    if (colon == end || *colon != ':') return XIR_PROBE_MAYBE;
    return is_network_key((xir_str){ p + 1, (size_t)(quote - p) - 1 }) ? XIR_PROBE_YES : XIR_PROBE_LIKELY;
}

/* A network is a map; its first key, if any, is a text. */
static bool may_begin(const uint8_t *head, size_t size) {
    const char *p = (const char *)head, *end = p + size;
    p += utf8_mark(p, size);
    p = skip_blanks(p, end);
    if (p == end) return true;
    if (*p++ != '{') return false;
    p = skip_blanks(p, end);
    return p == end || *p == '"' || *p == '}';
}

static xir_network *read_format(const format_reading *how, blob *whole) {
    return xir_json_read(how->ctx, (xir_str){ (const char *)whole->bytes, (size_t)whole->size }, how->name, how->why);
}

static xir_status write_format(xir_network *net, const format_writing *how) {
    net->raw_known = how->digest_set;
    xir_status status = write_json(net, how->flags & XIR_SAVE_INDENT ? 4 : 0, how->write, how->user, how->why);
    net->raw_known = false;
    return status;
}

static bool read_part(format_part *part, const void *data, size_t size, xir_diags *why) {
    part->it = parse_part(*part, (xir_str){ data, size }, why);
    return part->it != NULL;
}

static xir_status write_part(const format_part *part, const format_writing *how) {
    json_sink j;
    encoder e;
    json_sink_init(&j, part->ctx, 0, how->write, how->user);
    encoder_init(&e, part->ctx, part->net, &j.sink);
    encode_part(&e, part);
    xir_status status = json_sink_end(&j);
    if (status) explain_failure(&j, status, how->why);
    encoder_free(&e);
    json_sink_free(&j);
    return status;
}

const format format_json = {
    .name = "json", .meaning = "JSON structure with a raw parameter file", .suffixes = "json",
    .traits = XIR_FORMAT_TEXT | XIR_FORMAT_INDENTS, .probe = probe, .may_begin = may_begin,
    .read = read_format, .write = write_format,
    .params_found = RAW_FOUND, .params_written = RAW_WRITTEN, .load_params = raw_load_params,
    .read_params = raw_read_params, .params_may_begin = raw_may_begin,
    .write_params = raw_write_params, .find_places = json_find_places, .read_part = read_part, .write_part = write_part,
};

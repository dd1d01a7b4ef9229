/* What a model says of tensors in other files, and the parts of those files that the tensors are. */
#include "named_files.h"
#include "onnx/external.h"

/* ---- files ----------------------------------------------------------------------------------------------------- */

struct proto_external {
    named_files  files;
    proto_parts *parts;    /* of each file */
    size_t       room;
};

static proto_external *open_external(proto_reader *r) {
    if (r->external) return r->external;
    proto_external *e = mem_new(r->alloc, sizeof *e);
    if (!e) {
        trace_memory(&r->trace);
        return NULL;
    }
    *e = (proto_external){ .files = { .ctx = r->ctx, .alloc = r->alloc, .path = r->how->path, .lazy = r->how->lazy,
                                      .watch = r->how->watch, .most = r->ctx->limits.max_bytes, .why = r->how->why } };
    named_files_begin(&e->files);
    return r->external = e;
}

void proto_external_free(proto_external *e) {
    if (!e) return;
    const xir_allocator *alloc = e->files.alloc;
    for (size_t i = 0; i < e->files.n; i++) proto_parts_free(&e->parts[i]);
    mem_free(alloc, e->parts, e->room * sizeof *e->parts);
    named_files_end(&e->files);
    mem_free(alloc, e, sizeof *e);
}

/* ---- what the model says --------------------------------------------------------------------------------------- */

typedef struct place {
    wire_bytes     location, offset, length, checksum;
    const uint8_t *at;
} place;

static bool refuse(proto_reader *r, const place *p, const proto_tensor *t, const named_fault *fault) {
    if (fault->status == XIR_E_MEMORY) return trace_memory(&r->trace);
    if (fault->folder) return trace_fail(&r->trace, fault->status, XIR_NO_BYTE, "%s", fault->what);
    if (fault->what[0]) {
        return PROTO_FAIL(r, p->at, fault->status, "the external data of tensor '%.*s' in \"%.*s\": %s",
                          CLIP(proto_str(t->name)), CLIP(proto_str(p->location)), fault->what);
    }
    r->trace.status = fault->status;   /* the finding is there */
    return false;
}

static proto_parts *find_file(proto_reader *r, const place *p, const proto_tensor *t) {
    proto_external *e = open_external(r);
    if (!e) return NULL;
    size_t n = e->files.n;
    if (!mem_reserve(r->alloc, (void **)&e->parts, &e->room, n + 1, sizeof *e->parts)) {
        trace_memory(&r->trace);
        return NULL;
    }
    named_fault fault;
    int64_t i = named_files_find(&e->files, proto_str(p->location), &fault);
    if (i < 0) {
        refuse(r, p, t, &fault);
        return NULL;
    }
    if ((size_t)i == n) e->parts[i] = (proto_parts){ .whole = e->files.files[i].whole };
    return &e->parts[i];
}

static bool read_entry(proto_reader *r, wire_bytes message, place *p) {
    wire_bytes key = { 0 }, value = { 0 };
    wire_field f;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.number == 1) ok = PROTO_TEXT(r, &f, &key, "key");
        else if (f.number == 2) ok = PROTO_TEXT(r, &f, &value, "value");
    }
    if (!ok || !proto_end(r, &w)) return false;
    const struct { const char *key; wire_bytes *out; } known[] = {
        { "location", &p->location }, { "offset", &p->offset }, { "length", &p->length }, { "checksum", &p->checksum } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!xir_str_equal(proto_str(key), xir_str_of(known[i].key))) continue;
        if (known[i].out->at) return PROTO_FAIL(r, message.at, XIR_E_EXISTS, "%s is there twice", known[i].key);
        *known[i].out = value.at ? value : (wire_bytes){ message.at, 0 };
        return true;
    }
    return PROTO_FAIL(r, message.at, XIR_E_UNKNOWN,
                      "external data has no key \"%.*s\", but location, offset, length, checksum",
                     CLIP(proto_str(key)));
}

static bool read_place(proto_reader *r, const proto_tensor *t, place *p) {
    enum { EXTERNAL_DATA = 13 };
    *p = (place){ .at = t->whole.at };
    frame list = proto_enter(r, XIR_STR("external_data")), item = { .up = &list, .index = 0 };
    wire_field f;
    bool ok = true;
    for (wire w = wire_of(t->whole); ok && wire_next(&w, &f);) {
        if (f.number != EXTERNAL_DATA) continue;
        if (!PROTO_WANT(r, &f, WIRE_BYTES, "external_data")) return false;
        if (!item.index) p->at = f.at;
        r->trace.top = &item;
        ok = read_entry(r, f.bytes, p);
        r->trace.top = list.up;
        item.index++;
    }
    return ok && (p->location.at || PROTO_FAIL(r, p->at, XIR_E_MISSING, "the external data of tensor '%.*s' has no location",
                                              CLIP(proto_str(t->name))));
}

/* Digits and nothing else. */
static bool read_number(proto_reader *r, wire_bytes text, const char *what, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t digit = (uint8_t)(text.at[i] - '0');
        if (digit > 9) {
            return PROTO_FAIL(r, text.at, text.at[0] == '-' ? XIR_E_BOUNDS : XIR_E_SYNTAX,
                              "the %s \"%.*s\" is no number from 0 on", what,
                             CLIP(proto_str(text)));
        }
        if (!mul_u64(*out, 10, out) || !add_u64(*out, digit, out)) {
            return PROTO_FAIL(r, text.at, XIR_E_BOUNDS, "the %s \"%.*s\" is more than 2^64", what, CLIP(proto_str(text)));
        }
    }
    return text.size || PROTO_FAIL(r, text.at, XIR_E_SYNTAX, "the %s is empty", what);
}

static bool read_data(proto_reader *r, const proto_tensor *t, const place *p, const uint64_t *bytes, blob **out) {
    uint64_t offset = 0, length = 0;
    if (p->offset.at && !read_number(r, p->offset, "offset", &offset)) return false;
    if (p->length.at && !read_number(r, p->length, "length", &length)) return false;
    if (p->length.at && bytes && length != *bytes) {
        return PROTO_FAIL(r, p->length.at, XIR_E_CORRUPT,
                          "tensor '%.*s' has %" PRIu64 " bytes in \"%.*s\", its type takes %" PRIu64,
                         CLIP(proto_str(t->name)), length, CLIP(proto_str(p->location)), *bytes);
    }
    proto_parts *parts = find_file(r, p, t);
    if (!parts) return false;
    uint64_t size = parts->whole->size;
    if (!p->length.at) length = bytes ? *bytes : offset < size ? size - offset : 0;
    if (offset > size || length > size - offset) {
        return PROTO_FAIL(r, p->at, XIR_E_CORRUPT, "tensor '%.*s' takes %" PRIu64 " bytes of \"%.*s\" from %" PRIu64
                         " on, but the file ends at %" PRIu64, CLIP(proto_str(t->name)), length,
                         CLIP(proto_str(p->location)), offset, size);
    }
    return !length || (*out = proto_part(r, parts, offset, length)) != NULL;
}

bool proto_external_data(proto_reader *r, const proto_tensor *t, const uint64_t *bytes, blob **out) {
    place p;
    if (!read_place(r, t, &p)) return false;
    PROTO_ENTER(r, at, "external_data");
    bool ok = false;
    if (t->has_raw || t->data) {
        PROTO_FAIL(r, p.at, XIR_E_EXISTS, "tensor '%.*s' has elements here and in another file", CLIP(proto_str(t->name)));
    } else if (t->element == 8) {
        PROTO_FAIL(r, p.at, XIR_E_TYPE, "tensor '%.*s' is of texts, which cannot be in another file",
                   CLIP(proto_str(t->name)));
    } else if (!r->how->path) {
        PROTO_FAIL(r, p.at, XIR_E_MISSING,
                   "tensor '%.*s' is in \"%.*s\", but there is no folder to look in: the model did not "
                  "come from a file", CLIP(proto_str(t->name)), CLIP(proto_str(p.location)));
    } else {
        ok = read_data(r, t, &p, bytes, out);
    }
    PROTO_LEAVE(r, at);
    return ok;
}

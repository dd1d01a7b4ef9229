/* Which values a subgraph takes from outside. A name is its own if its graph, or one around it within the attribute, has
 * it as an input, an initializer or a node's output, wherever; all others are captured. Names in force are a list with a
 * hash over it; those of a graph are taken off its end when it has been walked, so nested graphs cost what is in them. */
#include "onnx/read.h"

typedef struct scope_name { wire_bytes text; uint32_t next; /* in the bucket, its number + 1 */ uint32_t bucket; } scope_name;

typedef struct scope {
    proto_reader *r;
    proto_list    names;       /* scope_name */
    uint32_t    *buckets;     /* of the last name + 1; 0: none */
    size_t       room;        /* a power of two                */
    uint32_t     depth, deepest;
} scope;

static uint64_t hash_of(const scope *s, wire_bytes text) {
    return name_hash(s->r->names.seed, (const char *)text.at, text.size);
}

static bool has(const scope *s, wire_bytes text) {
    if (!s->room) return false;
    const scope_name *names = s->names.data;
    uint64_t hash = hash_of(s, text);
    for (uint32_t i = s->buckets[(hash ^ hash >> 32) & (s->room - 1)]; i; i = names[i - 1].next) {
        if (names[i - 1].text.size == text.size && memcmp(names[i - 1].text.at, text.at, text.size) == 0) return true;
    }
    return false;
}

static void link_name(scope *s, uint32_t i) {
    scope_name *name = (scope_name *)s->names.data + i;
    uint64_t hash = hash_of(s, name->text);
    name->bucket = (uint32_t)((hash ^ hash >> 32) & (s->room - 1));
    name->next = s->buckets[name->bucket];
    s->buckets[name->bucket] = i + 1;
}

static bool grow(scope *s) {
    size_t room = s->room ? 2 * s->room : 64;
    uint32_t *buckets = mem_new(s->r->alloc, room * sizeof *buckets);
    if (!buckets) return trace_memory(&s->r->trace);
    memset(buckets, 0, room * sizeof *buckets);
    mem_free(s->r->alloc, s->buckets, s->room * sizeof *buckets);
    s->buckets = buckets;
    s->room = room;
    for (uint32_t i = 0; i < s->names.size; i++) link_name(s, i);
    return true;
}

static bool add(scope *s, wire_bytes text) {
    if (!text.size || has(s, text)) return true;
    if (s->names.size >= s->room && !grow(s)) return false;
    scope_name *name = s->names.size < UINT32_MAX - 1 ? proto_list_add(s->r, &s->names, sizeof *name) : NULL;
    if (!name) return trace_memory(&s->r->trace);
    *name = (scope_name){ .text = text };
    link_name(s, (uint32_t)s->names.size - 1);
    return true;
}

/* Takes the names off that came behind the first n: the last ones of their buckets. */
static void leave(scope *s, size_t n) {
    const scope_name *names = s->names.data;
    for (; s->names.size > n; s->names.size--) s->buckets[names[s->names.size - 1].bucket] = names[s->names.size - 1].next;
}

static bool capture(scope *s, wire_bytes text) {
    proto_reader *r = s->r;
    if (!text.size || has(s, text)) return true;
    xir_str *out = proto_list_add(r, &r->captures, sizeof *out);
    if (!out) return false;
    *out = proto_str(text);
    return true;
}

/* ---- walking --------------------------------------------------------------------------------------------------- */

/* The texts of a field in a message. */
typedef bool text_fn(scope *s, wire_bytes text);
static bool each_text(scope *s, wire_bytes message, uint32_t field, text_fn *visit) {
    wire_field f;
    wire w = wire_of(message);
    while (wire_next(&w, &f)) {
        wire_bytes text;
        if (f.number != field) continue;
        if (!PROTO_TEXT(s->r, &f, &text, "name") || !visit(s, text)) return false;
    }
    return proto_end(s->r, &w);
}

enum { GRAPH_NODE = 1, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_SPARSE = 15,
       NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_ATTRIBUTE = 5, ATTRIBUTE_G = 6, ATTRIBUTE_GRAPHS = 11, INFO_NAME = 1,
       TENSOR_NAME = 8, SPARSE_VALUES = 1 };

static bool define_sparse(scope *s, wire_bytes sparse) {
    wire_field f;
    wire w = wire_of(sparse);
    while (wire_next(&w, &f)) {
        if (f.number == SPARSE_VALUES && f.kind == WIRE_BYTES && !each_text(s, f.bytes, TENSOR_NAME, add)) return false;
    }
    return proto_end(s->r, &w);
}

static bool define_all(scope *s, wire_bytes graph) {
    wire_field f;
    wire w = wire_of(graph);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.kind != WIRE_BYTES) continue;
        switch (f.number) {
        case GRAPH_NODE:        ok = each_text(s, f.bytes, NODE_OUTPUT, add); break;
        case GRAPH_INITIALIZER: ok = each_text(s, f.bytes, TENSOR_NAME, add); break;
        case GRAPH_INPUT:       ok = each_text(s, f.bytes, INFO_NAME, add); break;
        case GRAPH_SPARSE:      ok = define_sparse(s, f.bytes); break;
        default:                break;
        }
    }
    return ok && proto_end(s->r, &w);
}

static bool walk_graph(scope *s, wire_bytes graph);

static bool walk_node(scope *s, wire_bytes node) {
    wire_field f, inner;
    if (!each_text(s, node, NODE_INPUT, capture)) return false;
    for (wire w = wire_of(node); wire_next(&w, &f);) {
        if (f.number != NODE_ATTRIBUTE || f.kind != WIRE_BYTES) continue;
        wire a = wire_of(f.bytes);
        while (wire_next(&a, &inner)) {
            bool is_graph = (inner.number == ATTRIBUTE_G || inner.number == ATTRIBUTE_GRAPHS) && inner.kind == WIRE_BYTES;
            if (is_graph && !walk_graph(s, inner.bytes)) return false;
        }
        if (!proto_end(s->r, &a)) return false;
    }
    return true;
}

/* Nodes, and results that come straight from outside. */
static bool walk_graph(scope *s, wire_bytes graph) {
    if (s->depth >= s->deepest) {
        return PROTO_FAIL(s->r, graph.at, XIR_E_LIMIT, "graphs are nested deeper than %" PRIu32, s->deepest);
    }
    size_t outside = s->names.size;
    s->depth++;
    bool ok = define_all(s, graph);
    wire_field f;
    for (wire w = wire_of(graph); ok && wire_next(&w, &f);) {
        if (f.kind != WIRE_BYTES) continue;
        if (f.number == GRAPH_NODE) ok = walk_node(s, f.bytes);
        else if (f.number == GRAPH_OUTPUT) ok = each_text(s, f.bytes, INFO_NAME, capture);
    }
    s->depth--;
    leave(s, outside);
    return ok;
}

static scope scope_of(proto_reader *r) {
    uint32_t deepest = r->ctx->limits.max_depth < CODEC_DEEPEST ? r->ctx->limits.max_depth : CODEC_DEEPEST;
    return (scope){ .r = r, .deepest = deepest };
}

static void scope_free(scope *s) {
    mem_free(s->r->alloc, s->names.data, s->names.room * sizeof(scope_name));
    mem_free(s->r->alloc, s->buckets, s->room * sizeof *s->buckets);
}

bool proto_find_captures(proto_reader *r, wire_bytes graph) {
    scope s = scope_of(r);
    bool ok = walk_graph(&s, graph);
    scope_free(&s);
    return ok;
}

bool proto_unite_captures(proto_reader *r) {
    if (r->captures.size < 2) return true;
    scope s = scope_of(r);
    xir_str *all = r->captures.data;
    size_t n = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < r->captures.size; i++) {
        wire_bytes text = { (const uint8_t *)all[i].data, all[i].size };
        if (has(&s, text)) continue;
        all[n++] = all[i];
        ok = add(&s, text);
    }
    r->captures.size = n;
    scope_free(&s);
    return ok;
}

/* Nodes. A node is one op of an opaque class: what it is called, what it reads and makes, and its attributes as they are. */
#include "onnx/read.h"
#include "source_tags.h"

typedef struct node {
    wire_bytes name, op_type, domain, doc, overload;
    wire_bytes attributes;    /* all their bytes, if nothing stands between them */
    bool       apart;
} node;

/* ---- operators ------------------------------------------------------------------------------------------------- */

static bool same_bytes(wire_bytes a, wire_bytes b) {
    return a.size == b.size && (!a.size || memcmp(a.at, b.at, a.size) == 0);
}

static uint32_t operator_hash(const proto_reader *r, wire_bytes type, wire_bytes domain) {
    uint64_t hash = name_hash(r->names.seed, (const char *)type.at, type.size);
    if (domain.size) hash = name_hash(hash, (const char *)domain.at, domain.size);
    return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t *operator_slot(const proto_reader *r, wire_bytes type, wire_bytes domain) {
    size_t at = operator_hash(r, type, domain) & (r->operator_slot_room - 1);
    for (; r->operator_slots[at]; at = (at + 1) & (r->operator_slot_room - 1)) {
        const proto_operator *o = &r->operators[r->operator_slots[at] - 1];
        if (same_bytes(o->type, type) && same_bytes(o->domain, domain)) break;
    }
    return &r->operator_slots[at];
}

static bool grow_operators(proto_reader *r) {
    size_t room = r->operator_slot_room ? 2 * r->operator_slot_room : 64;
    uint32_t *slots = mem_new(r->alloc, room * sizeof *slots);
    if (!slots) return false;
    memset(slots, 0, room * sizeof *slots);
    mem_free(r->alloc, r->operator_slots, r->operator_slot_room * sizeof *slots);
    r->operator_slots = slots;
    r->operator_slot_room = room;
    for (size_t i = 0; i < r->n_operators; i++) {
        *operator_slot(r, r->operators[i].type, r->operators[i].domain) = (uint32_t)i + 1;
    }
    return true;
}

static const xir_class *class_of(proto_reader *r, wire_bytes type, wire_bytes domain) {
    buffer key;
    buffer_init(&key, r->alloc);
    buffer_str(&key, "onnx::");
    buffer_put(&key, domain.at, domain.size);
    if (domain.size) buffer_char(&key, '.');
    buffer_put(&key, type.at, type.size);
    const xir_class *cls = key.failed ? NULL : class_opaque(r->ctx, (xir_str){ key.data, key.size }, true);
    buffer_free(&key);
    return cls;
}

static proto_operator *find_operator(proto_reader *r, wire_bytes type, wire_bytes domain) {
    if (xir_str_equal(proto_str(domain), XIR_STR("ai.onnx"))) domain = (wire_bytes){ NULL, 0 };
    if (2 * (r->n_operators + 1) > r->operator_slot_room && !grow_operators(r)) goto memory;
    uint32_t *slot = operator_slot(r, type, domain);
    if (*slot) return &r->operators[*slot - 1];
    proto_operator made = { .type = type, .domain = domain, .cls = class_of(r, type, domain) };
    if (!made.cls) goto memory;
    made.attrs = net_attrs(r->net, made.cls, made.cls->defaults);
    if (!made.attrs) goto memory;
    if (!mem_reserve(r->alloc, (void **)&r->operators, &r->operator_room, r->n_operators + 1, sizeof made)) goto memory;
    r->operators[r->n_operators++] = made;
    *slot = (uint32_t)r->n_operators;
    return &r->operators[r->n_operators - 1];
memory:
    trace_memory(&r->trace);
    return NULL;
}

/* ---- the message ----------------------------------------------------------------------------------------------- */

static bool add_name(proto_reader *r, proto_list *list, wire_bytes text) {
    proto_name *out = proto_list_add(r, list, sizeof *out);
    if (!out) return false;
    *out = (proto_name){ text, name_hash(r->names.seed, (const char *)text.at, text.size) };
    name_prefetch(&r->names, out->hash);
    return true;
}

static bool add_attribute(proto_reader *r, const wire_field *f, const uint8_t *end, node *n) {
    if (!PROTO_WANT(r, f, WIRE_BYTES, "attribute")) return false;
    if (!n->attributes.at) n->attributes.at = f->at;
    else if (n->attributes.at + n->attributes.size != f->at) n->apart = true;
    n->attributes.size = (size_t)(end - n->attributes.at);
    wire_bytes *out = proto_list_add(r, &r->attributes, sizeof *out);
    if (out) *out = f->bytes;
    return out != NULL;
}

static bool scan_node(proto_reader *r, wire_bytes message, node *n) {
    *n = (node){ 0 };
    r->inputs.size = r->outputs.size = r->attributes.size = r->entries.size = 0;
    wire_field f;
    wire_bytes text;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        switch (f.number) {
        case 1: ok = PROTO_TEXT(r, &f, &text, "input") && add_name(r, &r->inputs, text); break;
        case 2: ok = PROTO_TEXT(r, &f, &text, "output") && add_name(r, &r->outputs, text); break;
        case 3: ok = PROTO_TEXT(r, &f, &n->name, "name"); break;
        case 4: ok = PROTO_TEXT(r, &f, &n->op_type, "op_type"); break;
        case 5: ok = add_attribute(r, &f, w.at, n); break;
        case 6: ok = PROTO_TEXT(r, &f, &n->doc, "doc_string"); break;
        case 7: ok = PROTO_TEXT(r, &f, &n->domain, "domain"); break;
        case 8: ok = PROTO_TEXT(r, &f, &n->overload, "overload"); break;
        case 9: ok = proto_add_entry(r, &f, &r->entries, XIR_STR("metadata_props")); break;
        default: break;
        }
    }
    if (!ok || !proto_end(r, &w)) return false;
    return n->op_type.size || PROTO_FAIL(r, message.at, XIR_E_MISSING, "the node has no op_type");
}

/* ---- attributes ------------------------------------------------------------------------------------------------ */

static bool refuse_again(proto_reader *r, xir_str key) {
    PROTO_ENTER(r, at, "attribute");
    PROTO_FAIL(r, (const uint8_t *)key.data, XIR_E_EXISTS, "the attribute \"%.*s\" is there twice", CLIP(key));
    PROTO_LEAVE(r, at);
    return false;
}

static bool read_attributes(proto_reader *r, const xir_class *cls, const xir_map **extra, const xir_map **tags) {
    const wire_bytes *attributes = r->attributes.data;
    size_t n = r->attributes.size;
    xir_entry *entries = arena_take(&r->net->arena, n * sizeof *entries);
    xir_map *map = arena_take(&r->net->arena, sizeof *map);
    if (!entries || !map) return trace_memory(&r->trace);
    r->docs.size = 0;
    for (size_t i = 0; i < n; i++) {
        PROTO_ENTER_AT(r, at, "attribute", i);
        if (!proto_read_attribute(r, attributes[i], cls, &entries[i])) return false;
        PROTO_LEAVE_AT(r, at);
    }
    if (!entries_sort(&r->scratch, entries, n)) return trace_memory(&r->trace);
    for (size_t i = 1; i < n; i++) {
        if (xir_str_equal(entries[i - 1].key, entries[i].key)) return refuse_again(r, entries[i].key);
    }
    *map = (xir_map){ entries, n };
    *extra = map;
    return proto_unite_captures(r) && proto_tag_entries(r, tags, "onnx.attribute_docs", &r->docs);
}

/* The attributes that the operator's node before had serve again where they are the same bytes and have nothing of their
 * own. */
static bool take_attributes(proto_reader *r, proto_operator *o, const node *n, const xir_map **extra, const xir_map **tags) {
    *extra = NULL;
    if (!r->attributes.size) return true;
    if (!n->apart && o->last.size && same_bytes(o->last, n->attributes)) {
        *extra = o->extra;
        return true;
    }
    uint32_t n_params = r->net->n_params;
    const xir_map *before = *tags;
    if (!read_attributes(r, o->cls, extra, tags)) return false;
    if (!n->apart && r->net->n_params == n_params && *tags == before && !r->captures.size) {
        o->last = n->attributes;
        o->extra = *extra;
    }
    return true;
}

/* ---- the op ---------------------------------------------------------------------------------------------------- */

/* What the op reads: its inputs, and behind them what its graphs take from outside. */
static bool add_value(proto_reader *r, xir_str name, uint64_t hash) {
    xir_value **out = proto_list_add(r, &r->values, sizeof *out);
    if (!out) return false;
    *out = name.size ? proto_use(r, name, hash) : NULL;
    return !name.size || *out;
}

static bool find_values(proto_reader *r) {
    const proto_name *inputs = r->inputs.data;
    const xir_str *captures = r->captures.data;
    size_t n = r->inputs.size;
    while (n && !inputs[n - 1].text.size && !r->captures.size) n--;   /* absent ones at the end are left out */
    r->values.size = 0;
    for (size_t i = 0; i < n; i++) {
        if (!add_value(r, proto_str(inputs[i].text), inputs[i].hash)) return false;
    }
    for (size_t i = 0; i < r->captures.size; i++) {
        if (!add_value(r, captures[i], name_hash(r->names.seed, captures[i].data, captures[i].size))) return false;
    }
    return true;
}

static bool make_outputs(proto_reader *r, xir_op *op) {
    enum { FEW = 8 };
    static const xir_type *const none[FEW] = { NULL };
    const proto_name *outputs = r->outputs.data;
    size_t n = r->outputs.size;
    const xir_type *const *types = none;
    if (n > FEW) {
        const xir_type **many = arena_take(&r->scratch, n * sizeof *many);
        for (size_t i = 0; many && i < n; i++) many[i] = NULL;
        types = many;
    }
    if (!types || !op_make_outputs(op, types, n)) return trace_memory(&r->trace);
    for (size_t i = 0; i < n; i++) {
        xir_value *v = &op->outputs[i];
        if (!outputs[i].text.size) v->id = r->net->next_value_id++;
        else if (!proto_name_value(r, v, proto_str(outputs[i].text)) || !proto_define(r, v, outputs[i].hash)) return false;
    }
    return true;
}

static bool tag_node(proto_reader *r, const node *n, const xir_map **tags) {
    if (n->doc.size && !proto_tag_text(r, tags, "onnx.doc_string", n->doc)) return false;
    if (n->overload.size && !proto_tag_text(r, tags, "onnx.overload", n->overload)) return false;
    return proto_tag_entries(r, tags, "onnx.metadata", &r->entries);
}

static bool tag_captures(proto_reader *r, const xir_map **tags) {
    const xir_str *names = r->captures.data;
    size_t n = r->captures.size;
    if (!n) return true;
    xir_any *list = arena_take(&r->scratch, n * sizeof *list);
    if (!list) return trace_memory(&r->trace);
    for (size_t i = 0; i < n; i++) list[i] = xir_any_text(names[i]);
    return proto_tag(r, tags, source_tag_key(SOURCE_CAPTURES).data, xir_any_list(list, n));
}

bool proto_read_node(proto_reader *r, wire_bytes message, int64_t id) {
    node n;
    const xir_map *extra, *tags = NULL;
    if (!scan_node(r, message, &n) || !tag_node(r, &n, &tags)) return false;
    proto_operator *o = find_operator(r, n.op_type, n.domain);
    r->captures.size = 0;
    if (!o || !take_attributes(r, o, &n, &extra, &tags) || !tag_captures(r, &tags) || !find_values(r)) return false;
    xir_op *op = op_make(r->net, o->cls, o->attrs, r->values.size);
    if (!op) return trace_memory(&r->trace);
    op->name = net_name(r->net, proto_str(n.name));
    if (!op->name) return trace_memory(&r->trace);
    xir_value *const *values = r->values.data;
    for (size_t i = 0; i < r->values.size; i++) use_link(&op->inputs[i], op, values[i]);
    if (extra || tags) {
        op_more *more = op_need_more(op);
        if (!more) return trace_memory(&r->trace);
        more->extra = extra;
        more->tags = tags;
    }
    if (!make_outputs(r, op)) return false;
    op->id = id;   /* the network has no tables of ids yet: nobody need be told */
    op_link(op, NULL);
    return true;
}

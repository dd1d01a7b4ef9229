/* GraphProto: its fields are found first, in whatever order the file has them, and initializers read. The others are
 * read in the order in which they are needed: inputs, nodes in file order, outputs, declared types. Values are told
 * apart by names. A name that is used before something has it is a value without a maker, which the maker replaces when
 * it comes, or stays one. */
#include "codec/read.h"
#include "onnx/read.h"
#include "source_tags.h"

enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_DOC = 10, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12,
       GRAPH_VALUE = 13, GRAPH_ANNOTATION = 14, GRAPH_SPARSE = 15, GRAPH_METADATA = 16 };

/* ---- values ---------------------------------------------------------------------------------------------------- */

static bool is_open(const xir_value *v) { return !v->producer && !value_is_params(v); }

static uint64_t hash_of(const proto_reader *r, xir_str name) { return name_hash(r->names.seed, name.data, name.size); }

static xir_value *find_named(proto_reader *r, wire_bytes text) {
    return text.size ? name_find(&r->names, proto_str(text), hash_of(r, proto_str(text))) : NULL;
}

static bool mark_again(proto_reader *r, xir_value *v) {
    const xir_map *tags = NULL;
    return proto_tag(r, &tags, source_tag_key(SOURCE_DUPLICATE).data, xir_any_bool(true)) && proto_value_tags(r, v, tags);
}

xir_value *proto_use(proto_reader *r, xir_str name, uint64_t hash) {
    xir_value *v = name_find(&r->names, name, hash);
    if (!v) {
        v = value_make_orphan(r->net, NULL);
        if (!v || !proto_name_value(r, v, name) || !name_add(&r->names, v, hash)) {
            trace_memory(&r->trace);
            return NULL;
        }
    }
    if (v->id < 0) v->id = r->net->next_value_id++;   /* constants get theirs where they are first used */
    return v;
}

bool proto_define(proto_reader *r, xir_value *v, uint64_t hash) {
    xir_value *known = name_find(&r->names, name_text(v->more->name), hash);
    if (known && is_open(known)) {
        v->id = known->id;
        name_replace(&r->names, known, v, hash);
        value_adopt(known, v);
        return true;
    }
    if (v->id < 0 && v->producer) v->id = r->net->next_value_id++;
    if (!known) return name_add(&r->names, v, hash) || trace_memory(&r->trace);
    return mark_again(r, v->producer ? v : known);   /* of two constants the first is used */
}

static bool define_named(proto_reader *r, xir_value *v) {
    if (v->more && v->more->name->size) return proto_define(r, v, hash_of(r, name_text(v->more->name)));
    if (v->producer) v->id = r->net->next_value_id++;
    return true;
}

/* ---- constants ------------------------------------------------------------------------------------------------- */

static bool read_initializer(proto_reader *r, wire_bytes message) {
    proto_tensor t;
    if (!proto_scan_tensor(r, message, &t)) return false;
    uint64_t hash = hash_of(r, proto_str(t.name));
    name_prefetch(&r->names, hash);
    xir_value *v = proto_make_tensor(r, &t);
    return v && (!t.name.size || proto_define(r, v, hash));
}

static bool read_sparse_initializer(proto_reader *r, wire_bytes message) {
    wire_bytes name;
    xir_value *v = proto_read_sparse(r, message, &name);
    return v && define_named(r, v);
}

/* Constants are read as soon as they are met: each may lie on a page of its own, which is touched once that way. */
static bool read_constant(proto_reader *r, const wire_field *f, xir_str name) {
    bool sparse = f->number == GRAPH_SPARSE;
    frame at[2] = { proto_enter(r, name), { .up = &at[0], .index = sparse ? r->n_sparse++ : r->n_initializers++ } };
    r->trace.top = &at[1];
    bool room = r->names.n || name_table_reserve(&r->names, r->n_nodes + 16) || trace_memory(&r->trace);
    bool ok = room && (sparse ? read_sparse_initializer(r, f->bytes) : read_initializer(r, f->bytes));
    r->trace.top = at[0].up;
    return ok;
}

/* Constants that nothing uses are no part of the network: only their names are kept. */
static bool drop_unused(proto_reader *r, uint32_t end) {
    xir_value **link = &r->net->all_params;
    proto_list unused = { 0 };
    uint32_t n_unused = 0;
    bool ok = true;
    while (*link) {
        xir_value *v = *link;
        params *p = value_params(v);
        if (v->uses || p->number >= end) {
            link = &p->next;
            continue;
        }
        *link = p->next;
        n_unused++;
        blob_release(p->data);
        p->data = NULL;
        xir_any *name = ok ? proto_list_add(r, &unused, sizeof *name) : NULL;
        if (name) *name = xir_any_text(xir_value_name(v));
        else ok = false;
    }
    r->net->n_params -= n_unused;
    uint32_t place = r->net->n_params;
    for (xir_value *v = r->net->all_params; n_unused && v; v = value_params(v)->next) value_params(v)->number = --place;
    xir_any *names = unused.data;   /* newest first so far */
    for (size_t i = 0, j = unused.size; i + 1 < j; i++) {
        xir_any swap = names[i];
        names[i] = names[--j];
        names[j] = swap;
    }
    if (ok && unused.size) {
        ok = proto_tag(r, &r->net->tags, "onnx.unused_initializers", xir_any_list(names, unused.size));
    }
    mem_free(r->alloc, unused.data, unused.room * sizeof(xir_any));
    return ok;
}

/* ---- finding fields -------------------------------------------------------------------------------------------- */

static bool note_field(proto_reader *r, const wire_field *f, const uint8_t *end) {
    proto_run *last = r->runs.size ? (proto_run *)r->runs.data + r->runs.size - 1 : NULL;
    if (last && last->field == f->number && last->fields.at + last->fields.size == f->at) {
        last->fields.size = (size_t)(end - last->fields.at);
        return true;
    }
    proto_run *run = proto_list_add(r, &r->runs, sizeof *run);
    if (run) *run = (proto_run){ f->number, { f->at, (size_t)(end - f->at) } };
    return run != NULL;
}

static bool set_name(proto_reader *r, const wire_field *f) {
    wire_bytes name;
    if (!PROTO_TEXT(r, f, &name, "name")) return false;
    return xir_network_set_text(r->net, XIR_TEXT_NAME, proto_str(name)) == XIR_OK || trace_memory(&r->trace);
}

static bool set_doc(proto_reader *r, const wire_field *f) {
    wire_bytes doc;
    return PROTO_TEXT(r, f, &doc, "doc_string") && proto_tag_text(r, &r->net->tags, "onnx.graph_doc_string", doc);
}

static xir_str repeated_name(uint32_t field) {
    switch (field) {
    case GRAPH_NODE:        return XIR_STR("node");
    case GRAPH_INITIALIZER: return XIR_STR("initializer");
    case GRAPH_INPUT:       return XIR_STR("input");
    case GRAPH_OUTPUT:      return XIR_STR("output");
    case GRAPH_VALUE:       return XIR_STR("value_info");
    case GRAPH_ANNOTATION:  return XIR_STR("quantization_annotation");
    case GRAPH_SPARSE:      return XIR_STR("sparse_initializer");
    case GRAPH_METADATA:    return XIR_STR("metadata_props");
    default:                return XIR_STR("");
    }
}

bool proto_scan_graph(proto_reader *r, wire_bytes graph) {
    wire_field f;
    wire w = wire_of(graph);
    while (wire_next(&w, &f)) {
        if (f.number == GRAPH_NAME || f.number == GRAPH_DOC) {
            if (!(f.number == GRAPH_NAME ? set_name(r, &f) : set_doc(r, &f))) return false;
            continue;
        }
        xir_str name = repeated_name(f.number);
        if (!name.size) continue;
        if (f.kind != WIRE_BYTES) return proto_kind_fail(r, &f, WIRE_BYTES, name);
        r->n_nodes += f.number == GRAPH_NODE;
        bool constant = f.number == GRAPH_INITIALIZER || f.number == GRAPH_SPARSE;
        if (!(constant ? read_constant(r, &f, name) : note_field(r, &f, w.at))) return false;
    }
    return proto_end(r, &w);
}

/* All fields of one number, each with its place. False from visit ends it. */
typedef bool visit_fn(proto_reader *r, const wire_field *f, size_t i);
static bool each(proto_reader *r, uint32_t field, visit_fn *visit) {
    frame list = proto_enter(r, repeated_name(field)), item = { .up = &list, .index = 0 };
    r->trace.top = &item;
    bool ok = true;
    for (size_t i = 0; ok && i < r->runs.size; i++) {
        const proto_run *run = (const proto_run *)r->runs.data + i;
        if (run->field != field) continue;
        wire_field f;
        for (wire w = wire_of(run->fields); ok && wire_next(&w, &f); item.index++) ok = visit(r, &f, item.index);
    }
    r->trace.top = list.up;
    return ok;
}

/* ---- ValueInfoProto -------------------------------------------------------------------------------------------- */

typedef struct value_info { wire_bytes name; proto_declared declared; } value_info;

static bool read_value_info(proto_reader *r, const wire_field *f, value_info *out) {
    wire_bytes type = { 0 }, doc = { 0 };
    wire_field field;
    *out = (value_info){ 0 };
    wire w = wire_of(f->bytes);
    bool ok = true;
    r->entries.size = 0;
    while (ok && wire_next(&w, &field)) {
        switch (field.number) {
        case 1: ok = PROTO_TEXT(r, &field, &out->name, "name"); break;
        case 2: ok = PROTO_ONCE(r, &field, &type, "type"); break;
        case 3: ok = PROTO_TEXT(r, &field, &doc, "doc_string"); break;
        case 4: ok = proto_add_entry(r, &field, &r->entries, XIR_STR("metadata_props")); break;
        default: break;
        }
    }
    if (!ok || !proto_end(r, &w)) return false;
    if (type.at) {
        PROTO_ENTER(r, at, "type");
        ok = proto_read_type(r, type, &out->declared);
        PROTO_LEAVE(r, at);
    }
    return ok && proto_tag_text(r, &out->declared.tags, "onnx.doc_string", doc) &&
           proto_tag_entries(r, &out->declared.tags, "onnx.metadata", &r->entries);
}

/* ---- ends ------------------------------------------------------------------------------------------------------ */

static xir_op *make_end(proto_reader *r, const char *key, size_t n_inputs) {
    const xir_class *cls = xir_class_find(r->ctx, xir_str_of(key));
    const void *attrs = cls ? net_attrs(r->net, cls, cls->defaults) : NULL;
    xir_op *op = attrs ? op_make(r->net, cls, attrs, n_inputs) : NULL;
    if (!op) trace_memory(&r->trace);
    return op;
}

/* Inputs that are declared for initializers (as all were before IR version 4) are no inputs of the network. */
static bool is_constant_input(proto_reader *r, const value_info *info, size_t i) {
    xir_value *known = find_named(r, info->name);
    const xir_map *tags = NULL;
    if (!known || !value_is_params(known)) return false;
    if (proto_tag(r, &tags, "onnx.input", xir_any_int((int64_t)i))) proto_value_tags(r, known, tags);
    return true;
}

static bool read_input(proto_reader *r, const wire_field *f, size_t i) {
    value_info info;
    if (!read_value_info(r, f, &info)) return false;
    if (is_constant_input(r, &info, i)) return !r->trace.status;
    value_info *out = proto_list_add(r, &r->values, sizeof *out);
    if (out) *out = info;
    return out != NULL;
}

static bool make_input(proto_reader *r, const value_info *infos, size_t n) {
    const xir_type **types = arena_take(&r->scratch, n * sizeof *types);
    xir_op *op = types ? make_end(r, "icraft::xir::Input", 0) : NULL;
    for (size_t i = 0; op && i < n; i++) types[i] = infos[i].declared.type;
    if (!op || !op_make_outputs(op, types, n)) return trace_memory(&r->trace);
    op_link(op, NULL);
    op_set_id(op, 0);
    for (size_t i = 0; i < n; i++) {
        xir_value *v = &op->outputs[i];
        if (!proto_name_value(r, v, proto_str(infos[i].name)) || !proto_value_tags(r, v, infos[i].declared.tags) ||
            !define_named(r, v)) return false;
    }
    return true;
}

static bool read_inputs(proto_reader *r) {
    /* The list has items of another size for so long. */
    proto_list values = r->values;
    r->values = (proto_list){ 0 };
    bool ok = each(r, GRAPH_INPUT, read_input) && make_input(r, r->values.data, r->values.size);
    mem_free(r->alloc, r->values.data, r->values.room * sizeof(value_info));
    r->values = values;
    return ok;
}

/* What is declared of a value counts where nothing else says its type. */
static bool declare(proto_reader *r, xir_value *v, const proto_declared *declared) {
    bool typed = v->type || value_is_params(v) || (v->more && xir_map_get(v->more->tags, XIR_STR("onnx.type")));
    if (typed) return true;
    v->type = declared->type;
    return proto_value_tags(r, v, declared->tags);
}

static bool read_output(proto_reader *r, const wire_field *f, size_t i) {
    (void)i;
    value_info info;
    xir_value **out = read_value_info(r, f, &info) ? proto_list_add(r, &r->values, sizeof *out) : NULL;
    if (!out) return false;
    if (!info.name.size) {
        *out = NULL;
        return true;
    }
    *out = proto_use(r, proto_str(info.name), hash_of(r, proto_str(info.name)));
    return *out && declare(r, *out, &info.declared);
}

static bool read_outputs(proto_reader *r) {
    r->values.size = 0;
    if (!each(r, GRAPH_OUTPUT, read_output)) return false;
    xir_value **values = r->values.data;
    size_t n = r->values.size;
    while (n && !values[n - 1]) n--;
    xir_op *op = make_end(r, "icraft::xir::Output", n);
    if (!op || !op_make_outputs(op, NULL, 0)) return trace_memory(&r->trace);
    for (size_t i = 0; i < n; i++) use_link(&op->inputs[i], op, values[i]);
    op_link(op, NULL);
    op_set_id(op, (int64_t)r->n_nodes + 1);   /* the highest, from which new ones count on */
    return true;
}

/* ---- the rest -------------------------------------------------------------------------------------------------- */

static bool read_node(proto_reader *r, const wire_field *f, size_t i) { return proto_read_node(r, f->bytes, (int64_t)i + 1); }

static bool read_declaration(proto_reader *r, const wire_field *f, size_t i) {
    (void)i;
    value_info info;
    if (!read_value_info(r, f, &info)) return false;
    xir_value *known = find_named(r, info.name);
    return !known || declare(r, known, &info.declared);
}

/* TensorAnnotation: which tensors have the scale and zero point of this one. */
static bool read_annotation(proto_reader *r, const wire_field *f, size_t i) {
    (void)i;
    wire_bytes name = { 0 };
    const xir_map *tags = NULL;
    wire_field field;
    wire w = wire_of(f->bytes);
    r->entries.size = 0;
    bool ok = true;
    while (ok && wire_next(&w, &field)) {
        if (field.number == 1) ok = PROTO_TEXT(r, &field, &name, "tensor_name");
        else if (field.number == 2) ok = proto_add_entry(r, &field, &r->entries, XIR_STR("quant_parameter_tensor_names"));
    }
    if (!ok || !proto_end(r, &w) || !proto_tag_entries(r, &tags, "onnx.quantization", &r->entries)) return false;
    xir_value *known = find_named(r, name);
    return !known || proto_value_tags(r, known, tags);
}

static bool read_metadata(proto_reader *r, const wire_field *f, size_t i) {
    (void)i;
    return proto_add_entry(r, f, &r->entries, XIR_STR(""));
}

bool proto_read_graph(proto_reader *r) {
    if (!name_table_reserve(&r->names, r->names.n + r->n_nodes + 16)) return trace_memory(&r->trace);
    uint32_t n_constants = r->net->n_params;
    if (!read_inputs(r) || !each(r, GRAPH_NODE, read_node) || !read_outputs(r) || !each(r, GRAPH_VALUE, read_declaration) ||
        !each(r, GRAPH_ANNOTATION, read_annotation) || !drop_unused(r, n_constants)) return false;
    r->entries.size = 0;
    return each(r, GRAPH_METADATA, read_metadata) &&
           proto_tag_entries(r, &r->net->tags, "onnx.graph_metadata", &r->entries);
}

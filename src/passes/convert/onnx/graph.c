/* Op types that are never converted. Those with subgraphs, whose ops are kept as bytes (docs/onnx.md): only the
 * declared types of the subgraphs' outputs are read here, so that the ops after an If have types. And those for
 * which XIR has no operation. */
#include "convert/onnx/rows.h"
#include "source_tags.h"

/* ---- the part of protobuf needed here --------------------------------------------------------------------------- */

typedef struct wire { const uint8_t *p, *end; } wire;
typedef struct field { uint32_t number; uint64_t value; wire bytes; } field;

static bool varint(wire *w, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 64 && w->p < w->end; shift += 7) {
        uint8_t byte = *w->p++;
        *out |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return true;
    }
    return false;
}

/* Reads the next field; false at the end, or if the bytes end inside a field. */
static bool next_field(wire *w, field *f) {
    uint64_t key, size;
    if (w->p == w->end || !varint(w, &key)) return false;
    *f = (field){ .number = (uint32_t)(key >> 3), .bytes = { w->p, w->p } };
    switch (key & 7) {
    case 0: return varint(w, &f->value);
    case 1: size = 8; break;
    case 5: size = 4; break;
    case 2: if (!varint(w, &size)) return false; break;
    default: return false;
    }
    if (size > (uint64_t)(w->end - w->p)) return false;
    f->bytes = (wire){ w->p, w->p + size };
    w->p += size;
    return true;
}

static bool find(wire w, uint32_t number, field *out) {
    while (next_field(&w, out)) if (out->number == number) return true;
    return false;
}

/* ---- types of a graph's outputs --------------------------------------------------------------------------------- */

/* ValueInfoProto has the field type (2), with tensor_type (1), with elem_type (1) and shape (2), with dims (1), with
 * dim_value (1). NULL if a part is missing. */
static const xir_type *declared_type(xir_node *at, wire value) {
    field type, tensor, element, shape, dim, n;
    if (!find(value, 2, &type) || !find(type.bytes, 1, &tensor) || !find(tensor.bytes, 1, &element) ||
        !find(tensor.bytes, 2, &shape)) return NULL;
    const xir_type *of = element.value <= 64 ? onnx_element(at->c->ctx, (int64_t)element.value) : NULL;
    size_t rank = 0;
    for (wire w = shape.bytes; next_field(&w, &dim);) rank += dim.number == 1;
    xir_ints dims = xir_node_make_ints(at, rank, -1);
    if (!of || !dims.v || rank > 32) return NULL;
    rank = 0;
    for (wire w = shape.bytes; next_field(&w, &dim);) {
        if (dim.number != 1) continue;
        if (find(dim.bytes, 1, &n) && n.value <= INT64_MAX) dims.v[rank] = (int64_t)n.value;
        rank++;
    }
    return xir_type_tensor(at->c->ctx, of, NULL, dims.v, dims.n);
}

static const xir_type *output_type(xir_node *at, const char *graph, size_t i) {
    const xir_any *map = xir_node_attr(at, graph);
    const xir_any *bytes = map && map->kind == XIR_ANY_MAP ? xir_map_find(&map->as.map, XIR_STR("onnx.graph")) : NULL;
    uint64_t size;
    field f;
    if (!bytes || bytes->kind != XIR_ANY_PARAMS || !xir_params_has_data(bytes->as.params)) return NULL;
    const uint8_t *p = xir_params_data(bytes->as.params, &size);
    for (wire w = { p, p ? p + size : p }; next_field(&w, &f);) {
        if (f.number == 12 && i-- == 0) return declared_type(at, f.bytes);   /* GraphProto.output */
    }
    return NULL;
}

/* The facts on which both types agree; NULL if there are none. */
static const xir_type *common(xir_node *at, const xir_type *a, const xir_type *b) {
    if (!a || !b || xir_type_rank(a) != xir_type_rank(b) ||
        !xir_type_equal(xir_type_element(a), xir_type_element(b))) return NULL;
    xir_ints dims = xir_node_make_ints(at, xir_type_rank(a), -1);
    for (size_t i = 0; i < dims.n; i++) {
        int64_t d = xir_type_dim(a, (int64_t)i, false);
        if (d == xir_type_dim(b, (int64_t)i, false)) dims.v[i] = d;
    }
    return dims.v ? xir_type_tensor(at->c->ctx, xir_type_element(a), NULL, dims.v, dims.n) : NULL;
}

bool onnx_if_(xir_node *at) {
    for (size_t i = 0; i < at->n_out; i++) {
        xir_node_type_output(at, i, common(at, output_type(at, "then_branch", i), output_type(at, "else_branch", i)));
    }
    return xir_node_unsupported(at, "the branch depends on data");
}

/* The body returns a condition, the carried values, then one slice of each scanned value. */
bool onnx_loop(xir_node *at) {
    size_t carried = at->n_in > 2 ? at->n_in - 2 : 0;
    const xir_any *captures = source_tag_find(xir_op_tags(at->op), SOURCE_CAPTURES);
    if (captures && captures->kind == XIR_ANY_LIST) carried -= captures->as.list.size < carried
        ? captures->as.list.size : carried;
    for (size_t i = 0; i < at->n_out; i++) {
        const xir_type *type = output_type(at, "body", i + 1);
        if (i < carried) {   /* may have other dims after each iteration */
            xir_value *first = xir_op_input(at->op, (int64_t)i + 2);
            type = common(at, type, first ? xir_value_type(first) : NULL);
        } else if (type) {
            xir_ints dims = xir_node_make_ints(at, xir_type_rank(type) + 1, -1);
            for (size_t k = 1; k < dims.n; k++) dims.v[k] = xir_type_dim(type, (int64_t)k - 1, false);
            type = dims.v ? xir_type_tensor(at->c->ctx, xir_type_element(type), NULL, dims.v, dims.n) : NULL;
        }
        xir_node_type_output(at, i, type);
    }
    return xir_node_unsupported(at, "the number of iterations depends on data");
}

/* ---- others that stay ------------------------------------------------------------------------------------------- */

bool onnx_like_first(xir_node *at) {
    xir_value *x = xir_op_input(at->op, 0);
    if (x && at->n_out) xir_node_type_output(at, 0, xir_value_type(x));
    return xir_convert_unsupported(at);
}

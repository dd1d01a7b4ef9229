/* Nodes of the library's own domain become ops of XIR again. The file may be anybody's: every attribute is checked
 * against what the class declares. The declared types count as long as the inputs have the dims that they had, and must
 * agree with what follows from the inputs; else types are inferred. */
#include <math.h>
#include <xir/place.h>
#include <xir/serialize.h>
#include <xir/symbols.h>
#include "convert/helpers.h"
#include "convert/onnx/back.h"
#include "convert/onnx/custom.h"
#include "number.h"

/* What is read of a node. */
typedef struct reading {
    xir_node         *at;
    const xir_class  *cls;
    const xir_map    *given;       /* the node's attributes */
    xir_named_attr   *named;
    size_t            n_named;
    xir_value       **in;
    size_t            n_in, n_out;
    const xir_type  **out;         /* declared types; NULL: none     */
    const xir_target *target;
    bool              moved;       /* some input has other dims now */
} reading;

static const xir_any *find(const reading *r, const char *name) { return xir_map_find(r->given, xir_str_of(name)); }

/* A finding about an attribute. */
static bool wrong(reading *r, xir_status code, xir_str name, const char *what) {
    char where[120];
    snprintf(where, sizeof where, "attribute/%.*s", (int)(name.size < 100 ? name.size : 100), name.data);
    return xir_node_invalid(r->at, code, where, "%.*s: %s", (int)(name.size < 100 ? name.size : 100), name.data, what);
}

/* ---- objects ---------------------------------------------------------------------------------------------------- */

/* An object of a text of JSON. Another text is a finding with the place and the parser's words. */
static const xir_object *parse(reading *r, xir_str name, xir_str json) {
    xir_context *ctx = r->at->c->ctx;
    xir_diags *why = xir_diags_new(ctx);
    const xir_object *object = why ? xir_object_parse(ctx, json, why) : NULL;
    const xir_diag *d = why ? xir_diags_at(why, 0) : NULL;
    if (!object && (!d || d->code == XIR_E_MEMORY)) node_no_memory(r->at);
    else if (!object) {
        char text[200];
        snprintf(text, sizeof text, "%.*s", (int)(d->message.size < 190 ? d->message.size : 190), d->message.data);
        wrong(r, d->code, name, text);
    }
    xir_diags_free(why);
    return object;
}

/* A type; an empty text says nothing. */
static bool parse_type(reading *r, xir_str name, const xir_any *any, const xir_type **out) {
    *out = NULL;
    if (any->kind != XIR_ANY_TEXT) return wrong(r, XIR_E_TYPE, name, "expected the text of a type");
    if (!any->as.text.size) return true;
    const xir_object *object = parse(r, name, any->as.text);
    if (!object) return false;
    if (!xir_object_body(object, xir_tensor_type_class())) return wrong(r, XIR_E_TYPE, name, "expected a tensor type");
    *out = (const xir_type *)object;
    return true;
}

/* The map of a text. The parser knows objects, so it gets one of a class that nobody has. */
static bool parse_map(reading *r, xir_str name, xir_str json, xir_map *out) {
    static const char before[] = "{\"_type_key\":\"xir::OnnxMap\",\"map\":", after[] = "}";
    const size_t n = sizeof before - 1 + json.size + sizeof after - 1;
    char *text = arena_take(&r->at->c->scratch, n);
    if (!text) return node_no_memory(r->at);
    memcpy(text, before, sizeof before - 1);
    if (json.size) memcpy(text + sizeof before - 1, json.data, json.size);
    memcpy(text + sizeof before - 1 + json.size, after, sizeof after - 1);
    const xir_object *object = parse(r, name, (xir_str){ text, n });
    const xir_any *map = object && object->extra ? xir_map_find(object->extra, XIR_STR("map")) : NULL;
    if (!object) return false;
    if (!map || map->kind != XIR_ANY_MAP || object->extra->size != 1)
        return wrong(r, XIR_E_TYPE, name, "expected a map");
    *out = map->as.map;
    return true;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static bool whole_of(const xir_any *any, int64_t *out) {
    if (any->kind != XIR_ANY_INT && any->kind != XIR_ANY_BOOL) return false;
    *out = any->kind == XIR_ANY_INT ? any->as.integer : any->as.boolean;
    return true;
}

static bool text_number(xir_str text, number *out) {
    return text.size && number_parse(text.data, text.size, out) == text.size;
}

static bool real_of(const xir_any *any, double *out) {
    number n;
    if (any->kind == XIR_ANY_REAL || any->kind == XIR_ANY_INT || any->kind == XIR_ANY_PARAMS) {
        const double v = node_any_real(any, NAN), other = node_any_real(any, 0);
        *out = v;
        return any->kind != XIR_ANY_PARAMS || v == other || isnan(other);
    }
    if (any->kind != XIR_ANY_TEXT) return false;
    if (xir_str_equal(any->as.text, XIR_STR("nan"))) return *out = NAN, true;
    if (xir_str_equal(any->as.text, XIR_STR("inf"))) return *out = INFINITY, true;
    if (xir_str_equal(any->as.text, XIR_STR("-inf"))) return *out = -INFINITY, true;
    if (!text_number(any->as.text, &n) || n.kind == NUMBER_OVERFLOW) return false;
    *out = n.kind == NUMBER_I64 ? (double)n.i64 : n.kind == NUMBER_U64 ? (double)n.u64 : n.real;
    return true;
}

static bool u64_of(const xir_any *any, uint64_t *out) {
    number n;
    if (any->kind == XIR_ANY_INT && any->as.integer >= 0) return *out = (uint64_t)any->as.integer, true;
    if (any->kind != XIR_ANY_TEXT || !text_number(any->as.text, &n) || n.kind != NUMBER_U64) return false;
    *out = n.u64;
    return true;
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

static bool same_dims(const xir_type *a, const xir_type *b) {
    bool same = xir_type_rank(a) == xir_type_rank(b);
    for (size_t i = 0; same && i < xir_type_rank(a); i++) {
        const int64_t x = xir_type_dim(a, (int64_t)i, false), y = xir_type_dim(b, (int64_t)i, false);
        same = x == y || (x < 0 && y < 0);
    }
    return same;
}

static bool has_size_of(const xir_value *v, const xir_type *type) {
    uint64_t has, needs;
    return xir_type_bytes(type, &needs) == XIR_OK && xir_type_bytes(xir_value_type(v), &has) == XIR_OK && has == needs;
}

/* Whether two element types store the same: they are one type, or one is quantised and the other has its integers. */
static bool store_the_same(const xir_type *a, const xir_type *b) {
    return xir_type_equal(xir_type_storage(a), xir_type_storage(b));
}

/* Whether a type is one that no tensor of a file has, so that a tensor has its bytes. */
static bool is_raw(xir_node *at, const xir_value *v, const xir_type *type) {
    const xir_integer_type *byte = xir_integer_type_of(xir_type_object(v_element(v)));
    const bool bytes = byte && !byte->sign && byte->ibits == 8 && v_rank(v) == 1;
    return bytes && (xir_type_is_layouted(type) || xir_type_as_tensor(type)->merged_distrs.size ||
                     onnx_code_of(at, xir_type_element(type)) < 0);
}

/* Params with this type; NULL: as they are. */
static bool as_typed(reading *r, xir_str name, xir_value **v, const xir_type *type) {
    if (!type || xir_type_equal(type, xir_value_type(*v))) return true;
    if (!has_size_of(*v, type)) return wrong(r, XIR_E_CORRUPT, name, "its type has another number of bytes");
    const bool fits = store_the_same(xir_type_element(type), v_element(*v)) && same_dims(type, xir_value_type(*v));
    if (!fits && !is_raw(r->at, *v, type)) return wrong(r, XIR_E_TYPE, name, "the tensor has other elements or dims");
    xir_value *made = params_alias(r->at->c->net, *v);
    if (!made || xir_value_set_type(made, type) || xir_value_set_name(made, xir_value_name(*v)))
        return node_no_memory(r->at);
    *v = made;
    return true;
}

/* The declared type of Params in an attribute, the i-th of a list. */
static bool params_of(reading *r, const xir_field *f, const xir_any *any, size_t i, bool list, xir_value **out) {
    char room[160];
    const int most = (int)(f->name.size < 140 ? f->name.size : 140);
    const int n = snprintf(room, sizeof room, "%.*s.type", most, f->name.data);
    const xir_str name = { room, (size_t)n };
    const xir_any *said = xir_map_find(r->given, name);
    const xir_type *type = NULL;
    if (any->kind != XIR_ANY_PARAMS) return wrong(r, XIR_E_TYPE, f->name, "expected a tensor");
    if (said && list) said = said->kind == XIR_ANY_LIST && i < said->as.list.size ? &said->as.list.items[i] : NULL;
    if (said && !parse_type(r, name, said, &type)) return false;
    *out = any->as.params;
    if (!xir_value_type(*out) || !xir_type_as_tensor(xir_value_type(*out)))
        return wrong(r, XIR_E_TYPE, f->name, "expected a tensor of numbers");
    return as_typed(r, name, out, type);
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static bool reference_of(reading *r, const xir_field *f, const xir_any *any, const xir_object **out) {
    if (any->kind != XIR_ANY_TEXT) return wrong(r, XIR_E_TYPE, f->name, "expected the text of an object");
    *out = parse(r, f->name, any->as.text);
    if (!*out) return false;
    return !f->of || xir_class_is_a(xir_object_class(*out), f->of) ||
           wrong(r, XIR_E_TYPE, f->name, "expected an object of another class");
}

static bool word_of(const xir_field *f, const xir_any *any, int *out) {
    for (size_t i = 0; any->kind == XIR_ANY_TEXT && i < f->members->size; i++)
        if (xir_str_equal(any->as.text, xir_str_of(f->members->names[i]))) return *out = (int)i, true;
    return false;
}

/* Reads item i of a list into an array of the kind's C type. */
static bool item_of(reading *r, const xir_field *f, const xir_any *any, size_t i, void *to) {
    int64_t whole;
    switch (f->kind) {
    case XIR_KIND_BOOLS:
        if (!whole_of(any, &whole) || (whole != 0 && whole != 1)) break;
        return ((bool *)to)[i] = whole != 0, true;
    case XIR_KIND_I64S:
        if (!whole_of(any, &((int64_t *)to)[i])) break;
        return true;
    case XIR_KIND_REALS:
        if (!real_of(any, &((double *)to)[i])) break;
        return true;
    case XIR_KIND_TEXTS:
        if (any->kind != XIR_ANY_TEXT) break;
        return ((xir_str *)to)[i] = any->as.text, true;
    case XIR_KIND_REFS:    return reference_of(r, f, any, &((const xir_object **)to)[i]);
    case XIR_KIND_PARAMSS: return params_of(r, f, any, i, true, &((xir_value **)to)[i]);
    default: break;
    }
    return wrong(r, XIR_E_TYPE, f->name, "an item of the list is of another kind");
}

static bool read_list(reading *r, const xir_field *f, const xir_any *any, xir_attr *out) {
    enum { LARGEST = sizeof(xir_str) };
    const size_t n = any->kind == XIR_ANY_LIST ? any->as.list.size : 0;
    if (any->kind != XIR_ANY_LIST) return wrong(r, XIR_E_TYPE, f->name, "expected a list");
    void *items = n < SIZE_MAX / LARGEST ? arena_take(&r->at->c->scratch, (n + 1) * LARGEST) : NULL;
    if (!items) return node_no_memory(r->at);
    for (size_t i = 0; i < n; i++) if (!item_of(r, f, &any->as.list.items[i], i, items)) return false;
    switch (f->kind) {
    case XIR_KIND_BOOLS: out->as.bools = (xir_bools){ items, n }; break;
    case XIR_KIND_I64S:  out->as.i64s = (xir_i64s){ items, n }; break;
    case XIR_KIND_REALS: out->as.reals = (xir_reals){ items, n }; break;
    case XIR_KIND_TEXTS: out->as.texts = (xir_texts){ items, n }; break;
    case XIR_KIND_REFS:  out->as.refs = (xir_refs){ items, n }; break;
    default:             out->as.values = (xir_values){ items, n }; break;
    }
    return true;
}

static bool read_attribute(reading *r, const xir_field *f, const xir_any *any, xir_attr *out) {
    int64_t whole;
    *out = (xir_attr){ .kind = f->kind };
    switch (f->kind) {
    case XIR_KIND_BOOL:
        if (!whole_of(any, &whole) || (whole != 0 && whole != 1))
            return wrong(r, XIR_E_TYPE, f->name, "expected 0 or 1");
        return out->as.boolean = whole != 0, true;
    case XIR_KIND_I64:
        return whole_of(any, &out->as.i64) || wrong(r, XIR_E_TYPE, f->name, "expected an integer");
    case XIR_KIND_U64:
        return u64_of(any, &out->as.u64) || wrong(r, XIR_E_TYPE, f->name, "expected an integer that is not below 0");
    case XIR_KIND_REAL:
        return real_of(any, &out->as.real) || wrong(r, XIR_E_TYPE, f->name, "expected a real");
    case XIR_KIND_TEXT:
        if (any->kind != XIR_ANY_TEXT) return wrong(r, XIR_E_TYPE, f->name, "expected a text");
        return out->as.text = any->as.text, true;
    case XIR_KIND_ENUM:
        return word_of(f, any, &out->as.enumerator) ||
               wrong(r, XIR_E_TYPE, f->name, "expected one of the words of the class");
    case XIR_KIND_REF:    return reference_of(r, f, any, &out->as.ref);
    case XIR_KIND_PARAMS: return params_of(r, f, any, 0, false, &out->as.params);
    case XIR_KIND_MAP:
        if (any->kind != XIR_ANY_TEXT) return wrong(r, XIR_E_TYPE, f->name, "expected the text of a map");
        return parse_map(r, f->name, any->as.text, &out->as.map);
    case XIR_KIND_RUNS: case XIR_KIND_OPS: case XIR_KIND_COUNT:
        return wrong(r, XIR_E_TYPE, f->name, "no node has an attribute of this kind");
    default: return read_list(r, f, any, out);
    }
}

static bool is_absent(const reading *r, xir_str name) {
    const xir_any *list = find(r, CUSTOM_ABSENT);
    for (size_t i = 0; list && list->kind == XIR_ANY_LIST && i < list->as.list.size; i++) {
        const xir_any *item = &list->as.list.items[i];
        if (item->kind == XIR_ANY_TEXT && xir_str_equal(item->as.text, name)) return true;
    }
    return false;
}

static bool read_attributes(reading *r) {
    const xir_class *cls = r->cls;
    r->named = arena_take(&r->at->c->scratch, (cls->n_fields + 1) * sizeof *r->named);
    if (!r->named) return node_no_memory(r->at);
    for (size_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        const xir_any *any = xir_map_find(r->given, f->name);
        xir_named_attr *to = &r->named[r->n_named];
        to->name = f->name;
        if (!any && is_absent(r, f->name)) {
            if (!(f->flags & XIR_FIELD_OPTIONAL)) return wrong(r, XIR_E_INVALID, f->name, "it cannot be absent");
            to->value = (xir_attr){ .kind = f->kind, .is_null = true };
        } else if (!any) {
            if (f->flags & XIR_FIELD_REQUIRED) return wrong(r, XIR_E_MISSING, f->name, "it is missing");
            continue;
        } else if (!read_attribute(r, f, any, &to->value)) {
            return false;
        }
        r->n_named++;
    }
    return true;
}

/* Attributes that neither the class nor such nodes have. */
static bool are_known(reading *r) {
    static const char *const own[] = { CUSTOM_CLASS, CUSTOM_INPUTS, CUSTOM_OUTPUTS, CUSTOM_DIMS, CUSTOM_ABSENT,
                                       CUSTOM_TARGET, CUSTOM_EXTRA };
    for (size_t i = 0; i < r->given->size; i++) {
        const xir_str name = r->given->entries[i].key;
        bool known = xir_class_field(r->cls, name) != NULL;
        for (size_t k = 0; k < COUNT(own) && !known; k++) known = xir_str_equal(name, xir_str_of(own[k]));
        for (size_t k = 0; k < r->cls->n_fields && !known; k++) {   /* "NAME.type" */
            const xir_str f = r->cls->fields[k].name;
            known = name.size == f.size + 5 && memcmp(name.data, f.data, f.size) == 0 &&
                    memcmp(name.data + f.size, ".type", 5) == 0;
        }
        if (!known) return wrong(r, XIR_E_UNKNOWN, name, "the class has no such attribute");
    }
    return true;
}

/* ---- inputs and outputs ----------------------------------------------------------------------------------------- */

static bool same_letters(const xir_type *a, const xir_type *b) {
    const xir_layout *x = xir_type_layout(a), *y = xir_type_layout(b);
    return x && y && xir_str_equal(xir_layout_text(x), xir_layout_text(y));
}

/* v with other elements that store the same. */
static xir_value *with_bits(reading *r, xir_value *v, const xir_type *element) {
    const xir_ints dims = xir_node_dims(r->at, v);
    const xir_type *type = xir_node_failed(r->at) ? NULL
                         : xir_type_tensor(r->at->c->ctx, element, xir_type_layout(xir_value_type(v)), dims.v, dims.n);
    if (!type) return (void)node_no_memory(r->at), NULL;
    r->at->c->quantised++;
    return xir_node_make(r->at, "BitCast", INS(v), SETS(OBJ("target_dtype", type)));
}

/* The letters that axes had. */
static xir_value *with_letters(reading *r, xir_value *v, const xir_type *type) {
    const xir_str letters = xir_layout_text(xir_type_layout(type));
    char text[32] = "";
    if (xir_type_is_layouted(type) || letters.size >= sizeof text || letters.size != v_rank(v)) return v;
    memcpy(text, letters.data, letters.size);
    if (strspn(text, "*") == letters.size) return v;
    const xir_ints same = xir_node_series(r->at, 0, letters.size);
    return same.v || !letters.size ? xir_node_transposed(r->at, v, same.v, same.n, text) : NULL;
}

/* An input as the op had it. */
static bool read_input(reading *r, size_t i, const xir_any *said) {
    const xir_type *type = NULL;
    xir_value *v = xir_op_input(r->at->op, (int64_t)i);
    const xir_str name = XIR_STR(CUSTOM_INPUTS);
    r->in[i] = NULL;
    if (said && !parse_type(r, name, said, &type)) return false;
    if (!v) return true;
    v = xir_node_input(r->at, i);
    if (!v) return false;
    r->in[i] = v;
    if (!type || xir_type_equal(type, xir_value_type(v))) return true;
    if (xir_value_is_params(v)) return as_typed(r, name, &r->in[i], type);
    r->moved |= !same_dims(type, xir_value_type(v));
    const xir_type *element = xir_type_element(type);
    if (!xir_type_equal(element, v_element(v))) {
        if (!store_the_same(element, v_element(v)))
            return xir_node_unsupported(r->at, "input %zu has other elements than the op had", i);
        v = with_bits(r, v, element);
    }
    if (v && !same_letters(type, xir_value_type(v))) v = with_letters(r, v, type);
    r->in[i] = v;
    return v;
}

static const xir_list *list_of(reading *r, const char *name, size_t most, bool *ok) {
    const xir_any *any = find(r, name);
    *ok = true;
    if (!any) return NULL;
    *ok = any->kind == XIR_ANY_LIST && any->as.list.size <= most;
    if (!*ok)
        wrong(r, XIR_E_TYPE, xir_str_of(name), "expected a list of texts, one for each input or output of the node");
    return *ok ? &any->as.list : NULL;
}

static bool read_inputs(reading *r) {
    bool ok;
    size_t n = xir_op_input_count(r->at->op);
    const xir_any *any = find(r, CUSTOM_INPUTS);   /* a file does not have absent inputs at the end */
    const size_t said = any && any->kind == XIR_ANY_LIST ? any->as.list.size : 0;
    if (said > n && said <= 1 << 20) n = said;
    const xir_list *types = list_of(r, CUSTOM_INPUTS, n, &ok);
    r->in = ok ? arena_take(&r->at->c->scratch, (n + 1) * sizeof *r->in) : NULL;
    if (!r->in) return ok ? node_no_memory(r->at) : false;
    r->n_in = n;
    for (size_t i = 0; i < n; i++)
        if (!read_input(r, i, types && i < types->size ? &types->items[i] : NULL)) return false;
    return true;
}

/* A type with the dims of a text, "batch;2*length;8". */
static bool with_dims(reading *r, const xir_any *any, const xir_type **type) {
    enum { MOST = 64 };
    xir_str dims[MOST];
    size_t n = 0;
    const xir_str text = any && any->kind == XIR_ANY_TEXT ? any->as.text : XIR_STR("");
    if (!text.size) return true;
    for (size_t i = 0, from = 0; i <= text.size; i++) {
        if (i < text.size && text.data[i] != ';') continue;
        if (n == MOST) return wrong(r, XIR_E_LIMIT, XIR_STR(CUSTOM_DIMS), "too many dims");
        dims[n++] = (xir_str){ text.data + from, i - from };
        from = i + 1;
    }
    if (n != xir_type_rank(*type))
        return wrong(r, XIR_E_BOUNDS, XIR_STR(CUSTOM_DIMS), "the type has another number of dims");
    xir_diags *why = xir_diags_new(r->at->c->ctx);
    const xir_type *made = why ? xir_network_type_with_dims(r->at->c->net, *type, dims, n, why) : NULL;
    const xir_diag *d = why ? xir_diags_at(why, 0) : NULL;
    const bool no_memory = !made && (!d || d->code == XIR_E_MEMORY);
    const xir_status code = d ? d->code : XIR_E_MEMORY;
    xir_diags_free(why);
    if (no_memory) return node_no_memory(r->at);
    if (!made) return wrong(r, code, XIR_STR(CUSTOM_DIMS), "it is not a list of the dims");
    for (size_t i = 0; i < n; i++) {
        const int64_t known = xir_type_dim(*type, (int64_t)i, false);
        if (known >= 0 && known != xir_type_dim(made, (int64_t)i, false))
            return wrong(r, XIR_E_INVALID, XIR_STR(CUSTOM_DIMS), "a dim that the type knows is another one");
    }
    *type = made;
    return true;
}

static bool read_outputs(reading *r) {
    bool ok, also;
    const size_t n = xir_op_output_count(r->at->op);
    const xir_list *types = list_of(r, CUSTOM_OUTPUTS, n, &ok), *dims = ok ? list_of(r, CUSTOM_DIMS, n, &also) : NULL;
    if (!ok || !also) return false;
    r->n_out = n;
    if (!types && n) return true;
    if (types && types->size != n)
        return wrong(r, XIR_E_BOUNDS, XIR_STR(CUSTOM_OUTPUTS), "it has another number of outputs");
    r->out = arena_take(&r->at->c->scratch, (n + 1) * sizeof *r->out);
    if (!r->out) return node_no_memory(r->at);
    for (size_t i = 0; i < n; i++) {
        if (!parse_type(r, XIR_STR(CUSTOM_OUTPUTS), &types->items[i], &r->out[i])) return false;
        if (!r->out[i]) { r->out = NULL; return true; }
        if (dims && i < dims->size && !with_dims(r, &dims->items[i], &r->out[i])) return false;
    }
    return true;
}

/* ---- the op ----------------------------------------------------------------------------------------------------- */

static bool find_class_of(reading *r) {
    const xir_any *any = find(r, CUSTOM_CLASS);
    if (!any) return wrong(r, XIR_E_MISSING, XIR_STR(CUSTOM_CLASS), "it is missing");
    if (any->kind != XIR_ANY_TEXT) return wrong(r, XIR_E_TYPE, XIR_STR(CUSTOM_CLASS), "expected a text");
    const xir_str key = any->as.text;
    r->cls = key.size ? xir_class_find(r->at->c->ctx, key) : NULL;
    const int n = (int)(key.size < 100 ? key.size : 100);
    if (!r->cls) {
        return xir_node_unsupported(r->at, "no class has the key '%.*s': its plug-in may not be loaded", n,
                                    n ? key.data : "");
    }
    const bool ends = r->cls->traits & (XIR_TRAIT_ABSTRACT | XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
    if (xir_class_is_opaque(r->cls) || !xir_class_is_op(r->cls) || ends)
        return wrong(r, XIR_E_TYPE, XIR_STR(CUSTOM_CLASS), "expected the key of a class of operations");
    return true;
}

static bool read_target(reading *r) {
    const xir_any *any = find(r, CUSTOM_TARGET);
    r->target = xir_op_target(r->at->op);
    if (!any) return true;
    if (any->kind != XIR_ANY_TEXT) return wrong(r, XIR_E_TYPE, XIR_STR(CUSTOM_TARGET), "expected a text");
    const xir_object *object = parse(r, XIR_STR(CUSTOM_TARGET), any->as.text);
    if (!object) return false;
    if (!xir_object_body(object, xir_target_class()))
        return wrong(r, XIR_E_TYPE, XIR_STR(CUSTOM_TARGET), "expected a target");
    r->target = (const xir_target *)object;
    return true;
}

static bool set_extra(reading *r, xir_op *op) {
    const xir_any *any = find(r, CUSTOM_EXTRA);
    xir_map map;
    if (!any) return true;
    if (any->kind != XIR_ANY_TEXT) return wrong(r, XIR_E_TYPE, XIR_STR(CUSTOM_EXTRA), "expected the text of a map");
    if (!parse_map(r, XIR_STR(CUSTOM_EXTRA), any->as.text, &map)) return false;
    for (size_t i = 0; i < map.size; i++) {
        const xir_status status = xir_op_set_extra(op, map.entries[i].key, &map.entries[i].value);
        if (status == XIR_E_MEMORY) return node_no_memory(r->at);
        if (status) return wrong(r, status, XIR_STR(CUSTOM_EXTRA), "the op cannot have these attributes");
    }
    return true;
}

/* Checks the op as the library checks one of a file. */
static bool is_valid(reading *r, const xir_op *op) {
    xir_diags *why = xir_diags_new(r->at->c->ctx);
    const xir_status status = why ? xir_op_validate(op, why) : XIR_E_MEMORY;
    const xir_diag *d = why ? xir_diags_at(why, 0) : NULL;
    const int n = d ? (int)(d->message.size < 250 ? d->message.size : 250) : 0;
    if (status == XIR_E_MEMORY) node_no_memory(r->at);
    else if (status) xir_node_unsupported(r->at, "%.*s", n, n ? d->message.data : "");
    xir_diags_free(why);
    return !status;
}

static xir_op *make(reading *r, bool declared) {
    conversion *c = r->at->c;
    size_t n = r->n_in;
    while (n && !r->in[n - 1]) n--;
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = r->cls, .inputs = r->in, .n_inputs = n,
        .types = declared ? r->out : NULL, .n_types = declared ? r->n_out : 0, .target = r->target,
        .name = xir_op_name(r->at->op), .id = XIR_NO_ID, .before = r->at->op, .named = r->named, .n_named = r->n_named);
    const xir_status status = xir_network_status(c->net);
    const size_t before = xir_diags_count(xir_network_diags(c->net));
    xir_op *op = xir_network_add(c->net, &desc);
    if (op) return op;
    node_report_refusal(r->at, before);
    if (!status) xir_network_clear_status(c->net);
    return NULL;
}

/* ---- what is declared, and what follows ------------------------------------------------------------------------- */

/* Whether elements may be declared instead of those that follow: quantising and dequantising are conversions that
 * inference does not know. */
static bool may_be(const xir_type *declared, const xir_type *inferred) {
    return xir_type_equal(declared, inferred) || xir_type_is_quantized(declared) || xir_type_is_quantized(inferred);
}

/* The declared type with the dims that only inference knows. */
static bool fill_dims(reading *r, xir_value *y, const xir_type *inferred) {
    enum { MOST = 64 };
    char room[MOST][24];
    xir_str dims[MOST];
    const xir_type *own = xir_value_type(y);
    const size_t rank = xir_type_rank(own);
    bool more = false;
    for (size_t i = 0; i < rank && i < MOST; i++) {
        const int64_t known = xir_type_dim(inferred, (int64_t)i, false);
        more |= known >= 0 && xir_type_dim(own, (int64_t)i, false) < 0;
    }
    if (!more || rank > MOST) return true;
    for (size_t i = 0; i < rank; i++) {
        const int64_t known = xir_type_dim(inferred, (int64_t)i, false);
        const size_t size = xir_type_dim_text(own, (int64_t)i, NULL, 0) + 1;
        char *text = known < 0 ? arena_take(&r->at->c->scratch, size) : room[i];
        if (!text) return node_no_memory(r->at);
        dims[i] = (xir_str){ text, known < 0 ? xir_type_dim_text(own, (int64_t)i, text, size)
                                             : (size_t)snprintf(text, sizeof room[i], "%lld", (long long)known) };
    }
    const xir_type *type = xir_network_type_with_dims(r->at->c->net, own, dims, rank, NULL);
    return (type && !xir_value_set_type(y, type)) || node_no_memory(r->at);
}

/* Whether the declared types agree with those that follow from the inputs, as far as any do. */
static bool agree_with_inferred(reading *r, const xir_op *op) {
    const xir_str name = XIR_STR(CUSTOM_OUTPUTS);
    const xir_type **types;
    const xir_status status = onnx_inferred(r->at, op, &types);
    if (status == XIR_E_BOUNDS) return wrong(r, XIR_E_BOUNDS, name, "the op has another number of outputs");
    if (status) return status != XIR_E_MEMORY;   /* nothing follows; the check of the op finds faults */
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        xir_value *y = xir_op_output(op, (int64_t)i);
        const xir_type *own = xir_value_type(y), *other = types[i];
        if (!xir_type_as_tensor(own) || !xir_type_as_tensor(other)) continue;
        bool same = xir_type_rank(own) == xir_type_rank(other);
        for (size_t k = 0; same && k < xir_type_rank(own); k++) {
            const int64_t a = xir_type_dim(own, (int64_t)k, false), b = xir_type_dim(other, (int64_t)k, false);
            same = a < 0 || b < 0 || a == b;
        }
        if (!same) return wrong(r, XIR_E_INVALID, name, "it has other dims than follow from the inputs");
        if (!may_be(xir_type_element(own), xir_type_element(other)))
            return wrong(r, XIR_E_TYPE, name, "it has other elements than follow from the inputs");
        if (!fill_dims(r, y, other)) return false;
    }
    return true;
}

/* An output as the node's declared type has it: integers that are the stored numbers of a quantised type. */
static xir_value *as_declared(reading *r, xir_value *y, const xir_value *old) {
    const xir_type *had = xir_value_type(old);
    const xir_type *own = xir_type_as_tensor(xir_value_type(y)) ? v_element(y) : NULL;
    if (!own || !xir_type_as_tensor(had) || !xir_type_is_quantized(own)) return y;
    return xir_type_equal(xir_type_storage(own), xir_type_element(had)) ? with_bits(r, y, xir_type_element(had)) : y;
}

bool onnx_custom(xir_node *at) {
    static const xir_map nothing;
    const xir_map *given = xir_op_extra(at->op);
    reading r = { .at = at, .given = given ? given : &nothing };
    if (xir_node_failed(at) || !find_class_of(&r) || !are_known(&r)) return false;
    if (!read_attributes(&r) || !read_target(&r)) return false;
    if (!read_inputs(&r) || !read_outputs(&r)) return false;
    const bool declared = r.out && !r.moved;
    xir_op *op = make(&r, declared);
    if (!op || (declared && !agree_with_inferred(&r, op)) || !set_extra(&r, op) || !is_valid(&r, op)) return false;
    if (xir_op_output_count(op) < at->n_out)
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "the op has %zu outputs, the node has %zu",
                                xir_op_output_count(op), at->n_out);
    at->main = op;
    for (size_t i = 0; i < at->n_out; i++) {
        xir_value *y = as_declared(&r, xir_op_output(op, (int64_t)i), xir_op_output(at->op, (int64_t)i));
        if (!y || !xir_node_result(at, i, y)) return false;
    }
    return !xir_node_failed(at);
}

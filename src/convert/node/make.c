/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ops and constants that hooks make. An op whose inputs are all constants of few elements is computed at once, if
 * there is an executor. Its result is then Params, and becomes an attribute where XIR's op has one. */
#include <math.h>
#include <xir/ops.h>
#include "node/helpers.h"
#include "support/spent.h"
#include "types.h"

const xir_class *find_class(xir_context *ctx, const char *name) {
    static const size_t starts[] = { 0, sizeof "icraft::" - 1, sizeof "icraft::xir::" - 1 };   /* of the three keys */
    char key[160] = "icraft::xir::";
    const size_t size = strlen(name), n = starts[2] + size;
    const xir_class *cls = NULL;
    if (n >= sizeof key) return xir_class_find(ctx, (xir_str){ name, size });
    memcpy(key + starts[2], name, size);
    for (size_t i = 0; i < 3 && !cls; i++) cls = xir_class_find(ctx, (xir_str){ key + starts[i], n - starts[i] });
    return cls;
}

/* The same with a cache: the context would take its lock. NULL: there is no such class. */
static made_class *class_named(conversion *c, const char *name) {
    size_t size = 0, h = 0;
    for (; name[size]; size++) h = h * 31 + (unsigned char)name[size];
    made_class *made = &c->made[(h ^ h >> 6) % COUNT(c->made)];
    if (made->cls && strcmp(made->name, name) == 0) return made;
    *made = (made_class){ .cls = find_class(c->ctx, name) };
    if (size < sizeof made->name) memcpy(made->name, name, size + 1);
    return made->cls ? made : NULL;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

static void put(void *body, const xir_field *field, const void *value, size_t size) {
    memcpy((char *)body + field->offset, value, size);
}

/* Turns the attribute of a file into a set of the kind that XIR's field takes. */
static bool set_of_any(xir_node *at, const xir_field *f, const xir_any *any, xir_set *s) {
    switch (any->kind) {
    case XIR_ANY_INT:  *s = (xir_set)XIR_SETI(s->name, any->as.integer); return true;
    case XIR_ANY_BOOL: *s = (xir_set)XIR_SETI(s->name, any->as.boolean); return true;
    case XIR_ANY_REAL: *s = (xir_set)XIR_SETR(s->name, any->as.real);    return true;
    case XIR_ANY_TEXT:     /* a word for a real, or an enumerator */
        if (f->kind == XIR_KIND_REAL) *s = (xir_set)XIR_SETR(s->name, node_any_real(any, 0));
        else *s = (xir_set)XIR_SETE(s->name, any->as.text);
        return true;
    case XIR_ANY_PARAMS:   /* an object if XIR's field is one, else a number */
        if (f->kind == XIR_KIND_PARAMS) *s = (xir_set)XIR_SETO(s->name, any->as.params);
        else *s = (xir_set)XIR_SETR(s->name, node_any_real(any, 0));
        return true;
    case XIR_ANY_LIST:
        if (f->kind == XIR_KIND_I64S) {
            xir_ints *list = node_take(at, sizeof *list);
            if (!list) return node_no_memory(at);
            *list = xir_node_make_ints(at, any->as.list.size, 0);
            for (size_t i = 0; i < list->n; i++) {
                const xir_any *item = &any->as.list.items[i];
                if (item->kind != XIR_ANY_INT && item->kind != XIR_ANY_BOOL) return false;
                list->v[i] = item->kind == XIR_ANY_INT ? item->as.integer : item->as.boolean;
            }
            *s = (xir_set)XIR_SETL(s->name, list);
            return list->v;
        }
        return false;
    default: return false;
    }
}

/* Lists of reals and of texts; only attributes of files have them. */
static bool put_list(xir_node *at, const xir_field *f, void *body, const xir_any *any) {
    size_t n = any->kind == XIR_ANY_LIST ? any->as.list.size : 0;
    if (any->kind != XIR_ANY_LIST || (f->kind != XIR_KIND_REALS && f->kind != XIR_KIND_TEXTS)) return false;
    if (f->kind == XIR_KIND_REALS) {
        double *v = node_take(at, (n + 1) * sizeof *v);
        if (!v) return node_no_memory(at);
        for (size_t i = 0; i < n; i++) v[i] = node_any_real(&any->as.list.items[i], 0);
        put(body, f, &(xir_reals){ v, n }, sizeof(xir_reals));
    } else {
        xir_str *v = node_take(at, (n + 1) * sizeof *v);
        if (!v) return node_no_memory(at);
        for (size_t i = 0; i < n; i++) {
            const xir_any *item = &any->as.list.items[i];
            if (item->kind != XIR_ANY_TEXT) return false;
            v[i] = item->as.text;
        }
        put(body, f, &(xir_texts){ v, n }, sizeof(xir_texts));
    }
    return true;
}

bool same_word(xir_str a, xir_str b) {
    size_t i = 0;
    for (; i < a.size && i < b.size; i++) {
        const char x = a.data[i] >= 'a' && a.data[i] <= 'z' ? (char)(a.data[i] - 32) : a.data[i];
        const char y = b.data[i] >= 'a' && b.data[i] <= 'z' ? (char)(b.data[i] - 32) : b.data[i];
        if (x != y) return false;
    }
    return i == a.size && i == b.size;
}

/* The integer in a set. A real must be a whole number in the range of int64_t. */
static bool whole_of(const xir_set *s, int64_t *out) {
    if (s->kind == XIR_SET_INT || s->kind == XIR_SET_BOOL) *out = s->i;
    else if (s->kind != XIR_SET_REAL || !(s->r >= -0x1p63 && s->r < 0x1p63) || s->r != trunc(s->r)) return false;
    else *out = (int64_t)s->r;
    return true;
}

/* Writes one attribute into a body; lists are not copied. False: the kinds do not fit. */
static bool set_field(xir_node *at, const xir_field *f, void *body, const xir_set *from) {
    xir_set s = *from;
    if (s.kind == XIR_SET_ANY) {
        if (put_list(at, f, body, s.p)) return true;
        if (!set_of_any(at, f, s.p, &s)) return false;
    }
    const xir_ints *list = s.p;
    bool number = s.kind == XIR_SET_INT || s.kind == XIR_SET_REAL || s.kind == XIR_SET_BOOL;
    double real = s.kind == XIR_SET_REAL ? s.r : (double)s.i;
    int64_t whole;
    switch (f->kind) {
    case XIR_KIND_I64:
        if (!whole_of(&s, &whole)) return false;
        put(body, f, &whole, sizeof whole);
        return true;
    case XIR_KIND_BOOL: if (number) put(body, f, &(bool){ real != 0 }, sizeof(bool)); return number;
    case XIR_KIND_REAL: if (number) put(body, f, &real, sizeof real); return number;
    case XIR_KIND_I64S:
        if (s.kind != XIR_SET_INTS) return false;
        put(body, f, &(xir_i64s){ list->v, list->n }, sizeof(xir_i64s));
        return true;
    case XIR_KIND_TEXT:
        if (s.kind == XIR_SET_ENUM) put(body, f, &s.text, sizeof s.text);
        return s.kind == XIR_SET_ENUM;
    case XIR_KIND_ENUM:
        for (size_t word = 0; s.kind == XIR_SET_ENUM && word < f->members->size; word++) {
            if (!same_word(s.text, xir_str_of(f->members->names[word]))) continue;
            put(body, f, &(int){ (int)word }, sizeof(int));
            return true;
        }
        if (s.kind != XIR_SET_ENUM) return false;
        return xir_node_unsupported(at, "%s has no word for '%.*s'", f->name.data, CLIP_TO(s.text, 60));
    case XIR_KIND_REF: {
        const void *made = s.p;
        if (s.kind == XIR_SET_INT) made = xir_scalar_int(at->c->ctx, s.i);
        else if (number) made = xir_scalar_real(at->c->ctx, s.r);
        else if (s.kind != XIR_SET_OBJECT) return false;
        put(body, f, &made, sizeof made);
        return made || node_no_memory(at);
    }
    case XIR_KIND_PARAMS:
        if (s.kind == XIR_SET_OBJECT) put(body, f, &s.p, sizeof s.p);
        return s.kind == XIR_SET_OBJECT;
    case XIR_KIND_REFS: {   /* a list of one object */
        const xir_object **one = node_take(at, sizeof *one);
        if (!one) return node_no_memory(at);
        *one = number ? (const xir_object *)xir_scalar_real(at->c->ctx, real) : s.p;
        put(body, f, &(xir_refs){ one, 1 }, sizeof(xir_refs));
        return *one || node_no_memory(at);
    }
    default: return false;
    }
}

/* The field of the i-th set: usually that of the i-th set of the latest op of the class. NULL: the class has none. */
static const xir_field *field_of_set(made_class *made, size_t i, const char *name) {
    const xir_field *f = i < COUNT(made->fields) ? made->fields[i] : NULL;
    if (f && strcmp(f->name.data, name) == 0) return f;
    f = xir_class_field(made->cls, xir_str_of(name));
    if (i < COUNT(made->fields)) made->fields[i] = f;
    return f;
}

static bool set_fields(xir_node *at, made_class *made, void *body, xir_sets sets) {
    const xir_class *cls = made->cls;
    for (size_t i = 0; i < sets.n; i++) {
        const xir_field *f = field_of_set(made, i, sets.data[i].name);
        if (f && set_field(at, f, body, &sets.data[i])) continue;
        return xir_node_unsupported(at, "the conversion is invalid: %.*s %s attribute %s", (int)xir_class_key(cls).size,
                                    xir_class_key(cls).data,
                                    f ? "takes another kind for its" : "has no", sets.data[i].name);
    }
    return true;
}

/* The attributes that the program gives if it sets none. NULL: out of memory. */
static const void *blank_of(conversion *c, made_class *made) {
    void *blank = made->blank ? NULL : arena_take(&c->scratch, made->cls->body_size);
    if (blank) {
        xir_body_init(made->cls->decl, blank);
        made->blank = blank;
    }
    return made->blank;
}

/* ---- ops -------------------------------------------------------------------------------------------------------- */

void node_report_refusal(xir_node *at, size_t before) {
    const xir_diag *d = xir_diags_at(xir_network_diags(at->c->net), before);
    xir_status code = d ? d->code : XIR_E_MEMORY;
    bool fault = code == XIR_E_INVALID || code == XIR_E_BOUNDS || code == XIR_E_MISSING;
    int n = d && d->message.size < 250 ? (int)d->message.size : 250;
    if (code == XIR_E_MEMORY) node_no_memory(at);
    else if (fault) xir_node_invalid(at, code, NULL, "%.*s", n, d->message.data);
    else xir_node_unsupported(at, "%.*s", n, d->message.data);
}

/* A Matmul does not take two constants: a copy stands for the first one. NULL after a failure. */
static xir_value *factor_of(xir_node *at, const xir_class *cls, xir_values inputs) {
    xir_value *x = inputs.size > 1 ? inputs.data[0] : NULL, *k = x ? inputs.data[1] : NULL;
    if (!k || cls->decl != xir_matmul_class() || !xir_value_is_params(x) || !xir_value_is_params(k)) return x;
    xir_op *copy = xir_node_make_op(at, "Copy", XIR_VALUES(x), XIR_NO_SETS);
    return copy ? xir_op_output(copy, 0) : NULL;
}

xir_op *xir_node_make_op(xir_node *at, const char *name, xir_values inputs, xir_sets sets) {
    _Alignas(16) unsigned char body[2048];
    conversion *c = at->c;
    if (xir_node_failed(at)) return NULL;
    made_class *made = class_named(c, name);
    const xir_class *cls = made ? made->cls : NULL;
    if (!cls || cls->body_size > sizeof body) {
        return xir_node_unsupported(at, "the conversion is invalid: there is no class %s", name), NULL;
    }
    const void *blank = blank_of(c, made);
    if (!blank) return node_no_memory(at), NULL;
    memcpy(body, blank, cls->body_size);
    if (!set_fields(at, made, body, sets)) return NULL;
    size_t n = inputs.size;
    while (n && !inputs.data[n - 1]) n--;
    xir_value *first = factor_of(at, cls, inputs), *both[3];
    if (n > 1 && first != inputs.data[0]) {
        if (!first) return NULL;
        for (size_t i = 0; i < n && i < 3; i++) both[i] = i ? inputs.data[i] : first;
        inputs.data = both;
    }
    if (!node_affords(at, sizeof(xir_op) + n * sizeof(xir_use))) return NULL;
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = cls, .attrs = body, .inputs = inputs.data, .n_inputs = n,
                                      .name = xir_op_name(at->op),
                               .target = xir_op_target(at->op), .id = XIR_NO_ID, .before = at->op);
    xir_status status = xir_network_status(c->net);
    size_t before = xir_diags_count(xir_network_diags(c->net));
    xir_op *op = xir_network_add(c->net, &desc);
    if (op) return op;
    node_report_refusal(at, before);
    if (!status) xir_network_clear_status(c->net);
    return NULL;
}

static bool is_small_constant(const xir_value *v) {
    int64_t n;
    return v && xir_value_is_params(v) && xir_params_has_data(v) &&
           xir_type_elements(xir_value_type(v), &n) == XIR_OK &&
           n <= MOST_COMPUTED;
}

xir_value *conversion_computed(xir_node *at, xir_op *op) {
    conversion *c = at->c;
    char words[200];
    xir_array *array = NULL;
    int64_t n;
    if (!c->ctx->run_op || xir_op_output_count(op) != 1 || xir_op_input_count(op) == 0) return NULL;
    if (xir_class_traits(xir_op_class(op)) & XIR_TRAIT_IMPURE) return NULL;
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        if (v && !is_small_constant(v)) return NULL;
        if (v && xir_type_is_quantized(xir_type_element(xir_value_type(v)))) return NULL;   /* stays as it is stored */
    }
    xir_status known = xir_type_elements(xir_value_type(xir_op_output(op, 0)), &n);
    if (known != XIR_OK && known != XIR_E_BOUNDS) return NULL;   /* dims that depend on data are known afterwards */
    if (known == XIR_OK && n > MOST_COMPUTED) return NULL;
    c->within->elements = MOST_COMPUTED;
    xir_status status = c->ctx->run_op(op, &array, 1, c->within, NULL);
    c->within->elements = UINT64_MAX;
    if (status == XIR_E_MEMORY) node_no_memory(at);
    if (status == XIR_E_CANCELLED) at->c->cancelled = true;
    if (spent_on(op, c->within, words)) {
        node_say(at, XIR_NOTE, XIR_OK, NULL, "its inputs are constants, but it is not computed: %s", words);
    }
    if (status) return NULL;
    size_t bytes;
    (void)xir_array_data(array, &bytes);
    const bool kept = spent_bytes(op, c->within, bytes, converted_left(c), "of max_converted", words);
    if (kept) c->bytes.constants += bytes;
    if (!kept && *words) {
        node_say(at, XIR_NOTE, XIR_OK, NULL, "its inputs are constants, but it is not computed: %s", words);
    }
    xir_value *made = kept ? xir_params_from_array(c->net, XIR_STR(""), array) : NULL;
    xir_array_free(array);
    if (kept && !made) node_no_memory(at);
    const bool moves = made && only_moves(op) && xir_op_input(op, 0);
    return !moves || node_keep_name(at, made, xir_op_input(op, 0)) ? made : NULL;
}

xir_value *xir_node_make(xir_node *at, const char *cls, xir_values inputs, xir_sets sets) {
    xir_op *op = xir_node_make_op(at, cls, inputs, sets);
    if (!op) return NULL;
    if (xir_op_output_count(op) == 0)
        return xir_node_unsupported(at, "the conversion is invalid: %s has no output", cls), NULL;
    bool learned = conversion_learn(at->c, op);
    xir_value *known = learned ? conversion_known_params(at->c, op) : conversion_computed(at, op);
    if (at->c->no_memory || (learned && !known)) node_no_memory(at);
    if (xir_node_failed(at)) return NULL;
    if (!known) return xir_op_output(op, 0);
    conversion_forget(at->c, op);
    (void)xir_op_erase(op);
    return known;
}

xir_ints node_dims_of(xir_node *at, const xir_type *type) {
    xir_ints dims = xir_node_make_ints(at, xir_type_rank(type), 0);
    for (size_t i = 0; i < dims.n; i++) dims.v[i] = xir_type_dim(type, (int64_t)i, false);
    return dims;
}

xir_ints xir_node_dims(xir_node *at, const xir_value *v) { return node_dims_of(at, xir_value_type(v)); }

/* Element types are the author's of a hook, who may take that of a value for one. */
static bool is_element(xir_node *at, const xir_type *element) {
    return !xir_type_as_tensor(element) ||
           xir_node_unsupported(at, "the conversion is invalid: expected the type of an element, found that of a tensor");
}

xir_value *xir_node_cast(xir_node *at, xir_value *x, const xir_type *element) {
    if (xir_node_failed(at) || !is_element(at, element)) return NULL;
    if (element && xir_type_equal(v_element(x), element)) return x;
    xir_ints dims = xir_node_dims(at, x);
    const xir_layout *layout = xir_type_layout(xir_value_type(x));
    const xir_type *type = NULL;
    if (element && !xir_node_failed(at)) type = xir_type_tensor(at->c->ctx, element, layout, dims.v, dims.n);
    if (!type) return node_no_memory(at), NULL;
    return xir_node_make(at, "Cast", INS(x), SETS(OBJ("target_dtype", type)));
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

/* Makes Params with uninitialised bytes for the caller to write; NULL on failure. */
static xir_value *fresh(xir_node *at, const xir_type *element, const xir_ints *dims, void **bytes, size_t *n) {
    conversion *c = at->c;
    uint64_t size;
    int64_t count;
    if (xir_node_failed(at) || !is_element(at, element)) return NULL;
    const xir_type *type = xir_type_tensor(c->ctx, element, NULL, dims->v, dims->n);
    if (!type) return node_no_memory(at), NULL;
    bool has_size = xir_type_elements(type, &count) == XIR_OK && xir_type_bytes(type, &size) == XIR_OK;
    if (!has_size || !element_readable(element))
        return xir_node_unsupported(at, "a constant would have an unknown size"), NULL;
    if (!node_affords(at, size)) return NULL;
    c->bytes.constants += size;
    xir_value *v = xir_params_new(c->net, XIR_STR(""), type);
    blob *b = v ? blob_new(&c->net->alloc, size) : NULL;
    if (!b) return node_no_memory(at), NULL;
    value_params(v)->data = b;
    *bytes = (void *)(uintptr_t)b->bytes;
    *n = (size_t)count;
    return v;
}

xir_value *xir_node_constant(xir_node *at, const xir_type *element, const xir_ints *dims, const double *v, size_t n) {
    void *bytes;
    size_t count;
    int64_t length = (int64_t)n;
    const xir_ints line = { &length, 1 };
    xir_value *made = fresh(at, element, dims ? dims : &line, &bytes, &count);
    if (!made) return NULL;
    if (count != n)
        return xir_node_unsupported(at, "the conversion is invalid: %zu numbers for %zu elements", n, count), NULL;
    elements_of_reals(element, v, n, bytes);
    return made;
}

xir_value *xir_node_integers(xir_node *at, const xir_ints *v) {
    void *bytes;
    size_t count;
    int64_t length = (int64_t)v->n;
    const xir_type *element = xir_type_sint(at->c->ctx, 64);
    xir_value *made = fresh(at, element, &(xir_ints){ &length, 1 }, &bytes, &count);
    if (made) elements_of_ints(element, v->v, count, bytes);
    return made;
}

xir_value *xir_node_filled(xir_node *at, const xir_type *element, const xir_ints *dims, double value) {
    void *bytes;
    size_t n;
    xir_value *made = fresh(at, element, dims, &bytes, &n);
    if (made) elements_fill(element, value, n, bytes);
    return made;
}

xir_value *params_alias(xir_network *net, const xir_value *v) {
    xir_value *made = xir_params_new(net, XIR_STR(""), xir_value_type(v));
    if (!made) return NULL;
    value_params(made)->data = value_params(v)->data;
    if (value_params(made)->data) blob_retain(value_params(made)->data);
    value_params(made)->allow_no_data = value_params(v)->allow_no_data;
    return made;
}

xir_value *node_alias(xir_node *at, const xir_value *v) {
    const blob *data = value_params(v)->data;
    if (data && !node_affords(at, data->size)) return NULL;
    if (data) at->c->bytes.constants += data->size;
    xir_value *made = params_alias(at->c->net, v);
    if (!made) (void)node_no_memory(at);
    return made;
}

bool only_moves(const xir_op *op) {
    return xir_op_is(op, xir_transpose_class()) || xir_op_is(op, xir_reshape_class()) ||
           xir_op_is(op, xir_cast_class()) || xir_op_is(op, xir_copy_class());
}

bool node_keep_name(xir_node *at, xir_value *made, const xir_value *of) {
    const xir_str name = at->c->back.to && xir_value_is_params(of) ? xir_value_name(of) : XIR_STR("");
    if (!name.size || xir_value_name(made).size) return true;
    return !xir_value_set_name(made, name) || node_no_memory(at);
}

/* ---- outputs ---------------------------------------------------------------------------------------------------- */

bool xir_node_result(xir_node *at, size_t i, xir_value *v) {
    if (xir_node_failed(at)) return false;
    if (!v) return xir_node_unsupported(at, "the conversion is invalid: output %zu is missing", i);
    if (i < xir_op_output_count(at->op)) at->given[i] = v;
    return true;
}

bool node_gives(xir_node *at, xir_op *op) {
    for (size_t i = 0; op && i < at->n_out; i++) xir_node_result(at, i, xir_op_output(op, (int64_t)i));
    return !xir_node_failed(at);
}

bool xir_node_becomes(xir_node *at, const char *cls, xir_values inputs, xir_sets sets) {
    return xir_node_result(at, 0, xir_node_make(at, cls, inputs, sets));
}

xir_ints node_own_dims(xir_node *at, const xir_value *v) {
    const xir_type *type = xir_value_type(v);
    xir_ints dims = xir_node_make_ints(at, xir_type_rank(type), XIR_UNKNOWN_DIM);
    for (size_t i = 0; i < dims.n; i++) dims.v[i] = type_dim(type, (int64_t)i);
    return dims;
}

const xir_type *node_type(xir_node *at, const xir_type *element, const xir_layout *layout, const xir_ints *dims) {
    object_pool *pool = &at->c->net->pool;
    if (!layout) layout = layout_default(pool, dims->n);
    return layout ? type_tensor(pool, element, layout, (xir_i64s){ dims->v, dims->n }, (xir_refs){ NULL, 0 }) : NULL;
}

/* A declared type whose unknown dims are those of another type; `declared` itself if nothing is known better. */
static const xir_type *completed(xir_node *at, const xir_type *declared, const xir_type *type) {
    const size_t rank = xir_type_rank(type);
    const bool alike = xir_type_as_tensor(declared) && xir_type_rank(declared) == rank &&
                       xir_type_equal(xir_type_element(declared), xir_type_element(type));
    if (!alike || !xir_type_has_unknown_dim(declared)) return declared;
    xir_ints dims = { node_take(at, (rank + 1) * sizeof *dims.v), rank };
    if (!dims.v) return node_no_memory(at), declared;
    bool better = false;
    for (size_t i = 0; i < rank; i++) {
        const int64_t known = type_dim(type, (int64_t)i);
        dims.v[i] = type_dim(declared, (int64_t)i);
        const bool is_better = dims.v[i] < 0 && (known >= 0 || (dims.v[i] == XIR_UNKNOWN_DIM && known < dims.v[i]));
        if (is_better) dims.v[i] = known, better = true;
    }
    if (!better) return declared;
    type = node_type(at, xir_type_element(declared), xir_type_layout(declared), &dims);
    if (!type) node_no_memory(at);
    return type ? type : declared;
}

void xir_node_type_output(xir_node *at, size_t i, const xir_type *type) {
    xir_value *v = xir_op_output(at->op, (int64_t)i);
    if (!v || !type) return;
    const xir_type *declared = xir_value_type(v);
    if (!node_agrees(at, i, declared, type)) return;
    type = declared ? completed(at, declared, type) : type;
    if (type == declared) return;
    if (xir_value_set_type(v, type)) node_no_memory(at);
    else at->c->changed++;
}

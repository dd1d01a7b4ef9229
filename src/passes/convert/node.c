/* A node as a hook sees it: inputs, constants among them, and attributes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "convert/convert.h"
#include "convert/helpers.h"
#include "convert/opened.h"
#include "source_tags.h"
#include "support/numbers.h"

const xir_op *xir_node_op(const xir_node *at) { return at->op; }
xir_network  *xir_node_network(const xir_node *at) { return at->c->net; }
xir_context  *xir_node_context(const xir_node *at) { return at->c->ctx; }
int64_t       xir_node_version(const xir_node *at) { return at->to ? at->to->version : at->cls->version; }
xir_str       xir_node_type(const xir_node *at) { return at->cls->type; }
bool          xir_node_failed(const xir_node *at) { return at->fate != NODE_GOES; }
size_t        xir_node_input_count(const xir_node *at) { return at->n_in; }
size_t        xir_node_output_count(const xir_node *at) { return at->n_out; }

/* ---- failing ---------------------------------------------------------------------------------------------------- */

/* Hooks write "input/1" for a position of the row; finds its place in the file. */
static void place_in_file(const xir_node *at, const char *where, char out[200]) {
    char *end = NULL;
    const bool input = at->in && strncmp(where, "input/", 6) == 0;
    const unsigned long i = input ? strtoul(where + 6, &end, 10) : 0;
    snprintf(out, 200, "%s", where);
    if (!input || i >= at->n_in || !at->in[i].value) return;
    if (at->in[i].from != FROM_ATTRIBUTE) {
        snprintf(out, 200, "input/%u%s", at->in[i].from, end);
        return;
    }
    const xir_str name = at->cls->slots[i].name;
    snprintf(out, 200, "attribute/%.*s%s", CLIP_TO(name, 100), end);
}

bool node_is_silent(const xir_node *at, xir_severity severity, xir_status code) {
    conversion *c = at->c;
    if (c->mute || c->in.trials) return true;
    if (severity == XIR_ERROR && !c->status) c->status = code;
    return diag_is_counted(c->why, severity, code);
}

static XIR_PRINTF(5, 0) xir_status say(const xir_node *at, xir_severity severity, xir_status code, const char *where,
                                       const char *format, va_list list) {
    char sentence[SENTENCE_ROOM], path[600], place[200] = "";
    const xir_dialect_decl *dialect = at->cls->dialect;
    int64_t number;
    if (node_is_silent(at, severity, code)) return code;
    const body_frame *in = origin_of(at->c, at->op, &number);
    const char *nodes = in ? in->place : convert_nodes(dialect);
    text_vprint(sentence, sizeof sentence, format, list);
    if (where) place_in_file(at, where, place);
    snprintf(path, sizeof path, "%.300s%lld%s%s", nodes, (long long)number, where ? "/" : "", place);
    xir_str name = xir_op_name(at->op), type = at->cls->type;
    return xir_diags_add(at->c->why, severity, code, xir_str_of(path), "%s%.*s '%.*s' (%s %lld%s): %s", at->c->prefix,
                         CLIP_TO(type, 60), CLIP_TO(name, 200), convert_node(dialect), (long long)number,
                         in ? " of a body" : "", sentence);
}

xir_status node_say(const xir_node *at, xir_severity severity, xir_status code, const char *where,
                    const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(at, severity, code, where, format, list);
    va_end(list);
    return code;
}

xir_status node_contradicts(const xir_node *at, xir_status code, const char *where, const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(at, at->c->checking ? XIR_ERROR : XIR_WARNING, code, where, format, list);
    va_end(list);
    return code;
}

bool xir_node_unsupported(xir_node *at, const char *format, ...) {
    va_list list;
    if (xir_node_failed(at)) return false;   /* the first reason counts */
    va_start(list, format);
    text_vprint(at->reason, sizeof at->reason, format, list);
    va_end(list);
    at->fate = NODE_STAYS;
    return false;
}

bool xir_node_invalid(xir_node *at, xir_status code, const char *where, const char *format, ...) {
    va_list list;
    if (xir_node_failed(at)) return false;
    va_start(list, format);
    /* on the way back it is a row that is wrong, not the network */
    if (at->c->back.to) text_vprint(at->reason, sizeof at->reason, format, list);
    else say(at, XIR_ERROR, code, where, format, list);
    va_end(list);
    at->fate = at->c->back.to ? NODE_STAYS : NODE_WRONG;
    return false;
}

bool node_no_memory(xir_node *at) {
    if (!xir_node_failed(at)) at->fate = NODE_NO_MEMORY;
    return false;
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* A list may be as long as a dim, and a type may have dims that no memory holds. */
enum { MOST_NUMBERS = 1 << 24 };

xir_ints xir_node_make_ints(xir_node *at, size_t n, int64_t fill) {
    xir_ints list = { NULL, 0 };
    if (xir_node_failed(at)) return list;
    if (n > MOST_NUMBERS) return xir_node_unsupported(at, "it takes a list of more than 2^24 numbers"), list;
    list.v = node_take(at, (n + 1) * sizeof *list.v);
    if (!list.v) return node_no_memory(at), list;
    list.n = n;
    for (size_t i = 0; i < n; i++) list.v[i] = fill;
    return list;
}

xir_ints xir_node_series(xir_node *at, int64_t first, size_t n) {
    xir_ints list = xir_node_make_ints(at, n, first);
    for (size_t i = 0; i < list.n; i++) list.v[i] += (int64_t)i;
    return list;
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

xir_value *node_input_at(const xir_node *at, size_t i) {
    if (i >= at->n_in) return NULL;
    return at->in ? at->in[i].value : xir_op_input(at->op, (int64_t)i);
}

const char *node_input_words(const xir_node *at, size_t i, char room[80]) {
    xir_str name = i < at->cls->n_slots ? at->cls->slots[i].name : (xir_str){ NULL, 0 };
    if (name.size) snprintf(room, 80, "input %zu (%.*s)", i, CLIP_TO(name, 50));
    else snprintf(room, 80, "input %zu", i);
    return room;
}

/* The names that the file gives to the inputs; NULL if it gives none. */
static const xir_list *names_in_file(const xir_node *at) {
    const xir_any *names = source_tag_find(xir_op_tags(at->op), SOURCE_INPUTS);
    return names && names->kind == XIR_ANY_LIST ? &names->as.list : NULL;
}

/* An input may stand for an attribute, as the weight of several operators does: "weight" for "@weight". */
static size_t position_named(const xir_node *at, xir_str name) {
    for (size_t i = 0; i < at->cls->n_slots; i++) {
        const row_input *slot = &at->cls->slots[i];
        if (xir_str_equal(slot->name, name)) return i;
        if (slot->is_attribute && xir_str_equal((xir_str){ slot->name.data + 1, slot->name.size - 1 }, name)) return i;
    }
    return SIZE_MAX;
}

static xir_str name_in_file(const xir_list *names, size_t i) {
    const xir_any *name = names && i < names->size ? &names->items[i] : NULL;
    return name && name->kind == XIR_ANY_TEXT ? name->as.text : (xir_str){ NULL, 0 };
}

/* Puts named inputs at the positions of their names. A second input with the same name counts as unnamed. */
static bool put_named(xir_node *at, node_input *in, bool *placed, const xir_list *names) {
    char where[32];
    for (size_t k = 0; k < at->n_in; k++) {
        xir_str name = name_in_file(names, k);
        const size_t i = name.size ? position_named(at, name) : SIZE_MAX;
        if (name.size && i == SIZE_MAX) {
            snprintf(where, sizeof where, "input/%zu", k);
            return xir_node_invalid(at, XIR_E_UNKNOWN, where, "there is no input '%.*s'", CLIP_TO(name, 80));
        }
        if (i == SIZE_MAX || in[i].value) continue;
        in[i] = (node_input){ xir_op_input(at->op, (int64_t)k), (uint32_t)k };
        placed[k] = true;
    }
    return true;
}

bool node_find_inputs(xir_node *at) {
    const size_t room = at->cls->n_slots + at->n_in;
    node_input *in = node_take(at, (room + 1) * sizeof *in);
    bool *placed = node_take(at, at->n_in + 1);
    if (!in || !placed) return node_no_memory(at);
    memset((void *)in, 0, (room + 1) * sizeof *in);
    memset(placed, 0, at->n_in + 1);
    const xir_list *names = names_in_file(at);
    if (names && !put_named(at, in, placed, names)) return false;
    for (size_t k = 0, i = 0; k < at->n_in; k++) {   /* the unnamed ones, in order, absent ones included */
        if (placed[k]) continue;
        while (in[i].value || (i < at->cls->n_slots && at->cls->slots[i].is_attribute)) i++;
        in[i++] = (node_input){ xir_op_input(at->op, (int64_t)k), (uint32_t)k };
    }
    for (size_t i = 0; i < at->cls->n_slots; i++) {
        const xir_map *extra = xir_op_extra(at->op);
        const xir_any *a = in[i].value || !extra ? NULL : xir_map_find(extra, at->cls->slots[i].name);
        if (a && a->kind == XIR_ANY_PARAMS) in[i] = (node_input){ a->as.params, FROM_ATTRIBUTE };
    }
    at->n_in = room;
    while (at->n_in && !in[at->n_in - 1].value) at->n_in--;
    at->in = in;
    return true;
}

size_t xir_node_input_named(const xir_node *at, const char *name) {
    if (at->c->back.to) {   /* a port of the class */
        const xir_port *port;
        for (size_t k = 0; (port = xir_class_input_at(xir_op_class(at->op), k)); k++)
            if (xir_str_equal(port->name, xir_str_of(name))) return node_input_at(at, k) ? k : SIZE_MAX;
        return SIZE_MAX;
    }
    const size_t i = position_named(at, xir_str_of(name));
    const xir_list *names = at->in ? NULL : names_in_file(at);
    if (i != SIZE_MAX) return node_input_at(at, i) ? i : SIZE_MAX;
    for (size_t k = 0; names && k < names->size; k++)
        if (xir_str_equal(name_in_file(names, k), xir_str_of(name))) return k;
    return SIZE_MAX;
}

bool xir_node_has(const xir_node *at, size_t i) { return node_input_at(at, i) != NULL; }

/* Weights may be stored with half of the bits of the maps that they meet. */
static xir_value *as_wide_as_first(xir_node *at, size_t i, xir_value *v) {
    const xir_value *x = node_input_at(at, 0);
    const bool stored = at->in && i && i < at->cls->n_slots && at->cls->slots[i].is_attribute &&
                        at->in[i].from == FROM_ATTRIBUTE;
    if (!stored || !x || !xir_type_as_tensor(xir_value_type(x))) return v;
    const xir_type *half = v_element(v), *full = v_element(x);
    const bool widens = xir_type_kind_of(half) == XIR_TYPE_FLOAT && xir_type_kind_of(full) == XIR_TYPE_FLOAT &&
                        xir_type_storage_bits(half) == 16 && xir_type_storage_bits(full) == 32;
    return widens ? at->in[i].value = xir_node_cast(at, v, full) : v;
}

xir_value *xir_node_input(xir_node *at, size_t i) {
    char words[80];
    if (xir_node_failed(at)) return NULL;
    xir_value *v = node_input_at(at, i);
    if (v && xir_type_as_tensor(xir_value_type(v))) return as_wide_as_first(at, i, v);
    if (!v) {
        char where[32];
        snprintf(where, sizeof where, "input/%zu", i);
        return xir_node_invalid(at, XIR_E_MISSING, where, "%s is missing",
                                node_input_words(at, i, words)), NULL;
    }
    xir_str name = xir_value_name(v);
    at->waits_for = v;
    return xir_node_unsupported(at, "input %zu '%.*s' has no tensor type", i, CLIP_TO(name, 100)), NULL;
}

xir_value *xir_node_optional_input(xir_node *at, size_t i) {
    return xir_node_has(at, i) ? xir_node_input(at, i) : NULL;
}

/* The elements of Params whose bytes are present; false otherwise. */
static bool bytes_of(const xir_value *v, const xir_type **element, const void **bytes, size_t *n) {
    int64_t count;
    if (!v || !xir_value_is_params(v) || !xir_params_has_data(v)) return false;
    *element = xir_type_element(xir_value_type(v));
    if (!element_readable(*element) || xir_type_elements(xir_value_type(v), &count) != XIR_OK) return false;
    *n = (size_t)count;
    *bytes = whole_params(v);
    return *bytes || !*n;
}

bool xir_node_is_constant(xir_node *at, size_t i) {
    const xir_type *element;
    const void *bytes;
    size_t n;
    return !xir_node_failed(at) && xir_node_has(at, i) && bytes_of(node_input_at(at, i), &element, &bytes, &n);
}

static bool constant_of(xir_node *at, size_t i, const xir_type **element, const void **bytes, size_t *n) {
    xir_value *v = xir_node_input(at, i);
    if (!v) return false;
    if (bytes_of(v, element, bytes, n)) return true;
    char words[80];
    at->waits_for = v;
    return xir_node_unsupported(at, "%s is not constant", node_input_words(at, i, words));
}

bool xir_node_ints(xir_node *at, size_t i, xir_ints *out) {
    const xir_type *element = NULL;
    const void *bytes = NULL;
    size_t n = 0;
    *out = (xir_ints){ NULL, 0 };
    if (!constant_of(at, i, &element, &bytes, &n)) return false;
    *out = xir_node_make_ints(at, n, 0);
    if (out->v) elements_to_ints(element, bytes, 0, n, out->v);
    return out->v;
}

bool xir_node_reals(xir_node *at, size_t i, const double **out, size_t *n) {
    const xir_type *element = NULL;
    const void *bytes = NULL;
    if (!constant_of(at, i, &element, &bytes, n)) return false;
    double *v = *n < SIZE_MAX / sizeof *v ? node_take(at, (*n + 1) * sizeof *v) : NULL;
    if (!v) return node_no_memory(at);
    elements_to_reals(element, bytes, 0, *n, v);
    *out = v;
    return true;
}

xir_value *xir_node_params(xir_node *at, size_t i) {
    xir_value *v = xir_node_input(at, i);
    if (!v || xir_value_is_params(v)) return v;
    char words[80];
    return xir_node_unsupported(at, "%s is not constant", node_input_words(at, i, words)), NULL;
}

/* ---- attributes ------------------------------------------------------------------------------------------------- */

const xir_any *xir_node_attr(const xir_node *at, const char *name) {
    if (at->c->back.to) return own_attr(at, xir_str_of(name));
    const xir_map *extra = xir_op_extra(at->op);
    return extra ? xir_map_find(extra, xir_str_of(name)) : NULL;
}

/* One number, of any kind, in Params. */
static bool one_element(const xir_any *a, const xir_type **element, const void **bytes) {
    size_t n;
    return a && a->kind == XIR_ANY_PARAMS && bytes_of(a->as.params, element, bytes, &n) && n == 1;
}

int64_t xir_node_int(const xir_node *at, const char *name, int64_t otherwise) {
    const xir_any *a = xir_node_attr(at, name);
    const xir_type *element;
    const void *bytes;
    if (a && a->kind == XIR_ANY_INT) return a->as.integer;
    if (a && a->kind == XIR_ANY_BOOL) return a->as.boolean;
    if (one_element(a, &element, &bytes)) elements_to_ints(element, bytes, 0, 1, &otherwise);
    return otherwise;
}

bool xir_node_bool(const xir_node *at, const char *name, bool otherwise) {
    return xir_node_int(at, name, otherwise) != 0;
}

bool node_real_word(xir_str text, double *out) {
    static const struct { const char *word; double value; } words[] = {
        { "inf", INFINITY }, { "-inf", -INFINITY }, { "nan", NAN }, { "-nan", NAN }, { "nan.0", NAN }, { "-nan.0", NAN },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (xir_str_equal(text, xir_str_of(words[i].word))) return *out = words[i].value, true;
    return false;
}

/* Reals that JSON can't represent are kept as Params, or are words. */
double node_any_real(const xir_any *a, double otherwise) {
    const xir_type *element;
    const void *bytes;
    if (a && a->kind == XIR_ANY_REAL) return a->as.real;
    if (a && a->kind == XIR_ANY_INT) return (double)a->as.integer;
    if (a && a->kind == XIR_ANY_BOOL) return a->as.boolean;
    if (a && a->kind == XIR_ANY_TEXT) node_real_word(a->as.text, &otherwise);
    else if (one_element(a, &element, &bytes)) elements_to_reals(element, bytes, 0, 1, &otherwise);
    return otherwise;
}

double xir_node_real(const xir_node *at, const char *name, double otherwise) {
    return node_any_real(xir_node_attr(at, name), otherwise);
}

xir_str xir_node_text(const xir_node *at, const char *name, const char *otherwise) {
    const xir_any *a = xir_node_attr(at, name);
    return a && a->kind == XIR_ANY_TEXT ? a->as.text : xir_str_of(otherwise);
}

bool xir_node_is(const xir_node *at, const char *name, const char *text) {
    return xir_str_equal(xir_node_text(at, name, ""), xir_str_of(text));
}

bool xir_node_items(xir_node *at, const char *name, xir_ints *out) {
    const xir_any *a = xir_node_attr(at, name);
    const xir_type *element;
    const void *bytes;
    size_t n;
    *out = (xir_ints){ NULL, 0 };
    if (xir_node_failed(at) || !a) return false;
    if (a->kind == XIR_ANY_PARAMS && bytes_of(a->as.params, &element, &bytes, &n)) {
        *out = xir_node_make_ints(at, n, 0);
        if (out->v) elements_to_ints(element, bytes, 0, n, out->v);
        return out->v;
    }
    if (a->kind != XIR_ANY_LIST) return false;
    *out = xir_node_make_ints(at, a->as.list.size, 0);
    for (size_t i = 0; i < out->n; i++) {
        const xir_any *item = &a->as.list.items[i];
        out->v[i] = item->kind == XIR_ANY_INT ? item->as.integer : item->kind == XIR_ANY_BOOL && item->as.boolean;
    }
    return out->v;
}

bool xir_node_real_items(xir_node *at, const char *name, const double **out, size_t *n) {
    const xir_any *a = xir_node_attr(at, name);
    const xir_type *element;
    const void *bytes = NULL;
    *out = NULL;
    *n = 0;
    if (xir_node_failed(at) || !a) return false;
    const bool tensor = a->kind == XIR_ANY_PARAMS && bytes_of(a->as.params, &element, &bytes, n);
    if (!tensor && a->kind != XIR_ANY_LIST) return false;
    if (!tensor) *n = a->as.list.size;
    double *v = *n < SIZE_MAX / sizeof *v ? node_take(at, (*n + 1) * sizeof *v) : NULL;
    if (!v) return node_no_memory(at);
    if (tensor) elements_to_reals(element, bytes, 0, *n, v);
    for (size_t i = 0; !tensor && i < *n; i++) v[i] = node_any_real(&a->as.list.items[i], 0);
    *out = v;
    return true;
}

xir_value *xir_node_attr_params(xir_node *at, const char *name) {
    const xir_any *a = xir_node_attr(at, name);
    if (xir_node_failed(at) || !a) return NULL;
    if (a->kind != XIR_ANY_PARAMS)
        return xir_node_unsupported(at, "the attribute %s is not a tensor of numbers", name), NULL;
    if (!xir_type_as_tensor(xir_value_type(a->as.params))) {
        return xir_node_unsupported(at, "the attribute %s is not a tensor of numbers", name), NULL;
    }
    return a->as.params;
}

bool xir_node_list(xir_node *at, const char *name, size_t input, xir_ints *out) {
    if (xir_node_items(at, name, out)) return true;
    return xir_node_has(at, input) && xir_node_ints(at, input, out);
}

bool xir_node_number(xir_node *at, const char *name, size_t input, double otherwise, double *out) {
    const double *v;
    size_t n;
    char where[32];
    *out = xir_node_real(at, name, otherwise);
    if (xir_node_failed(at)) return false;
    if (!xir_node_has(at, input)) return true;
    if (!xir_node_reals(at, input, &v, &n)) return false;
    snprintf(where, sizeof where, "input/%zu", input);
    if (n != 1) return xir_node_invalid(at, XIR_E_BOUNDS, where, "%s: expected one number, found %zu", name, n);
    *out = v[0];
    return true;
}

bool xir_node_axis(xir_node *at, const char *where, int64_t axis, size_t rank, int64_t *out) {
    int64_t r = (int64_t)rank;
    *out = axis < 0 ? axis + r : axis;
    if (xir_node_failed(at)) return false;
    if (*out >= 0 && *out < r) return true;
    return xir_node_invalid(at, XIR_E_BOUNDS, where,
                            "expected an axis from %lld to %lld of a tensor with %zu dims, found %lld",
                            (long long)-r, (long long)r - 1, rank, (long long)axis);
}

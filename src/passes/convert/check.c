/* Checks of nodes: whether a node has the form that its row describes, and whether its declared types are right. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "convert/convert.h"
#include "name_dims.h"
#include "source_tags.h"

/* ---- attributes ------------------------------------------------------------------------------------------------- */

/* The letters of rows (xir/convert.h), and the words for them in findings. */
static const struct { char letter; const char *one, *many; } kinds[] = {
    { 'n', "none",       NULL                },
    { 'b', "a bool",     "a list of bools"   },
    { 'i', "an integer", "a list of integers" },
    { 'f', "a real",     "a list of reals"   },
    { 's', "a text",     "a list of texts"   },
    { 't', "a tensor",   "a list of tensors" },
    { 'o', "an object",  "a list of objects" },
    { 'g', "a graph",    "a list of graphs"  },
    { 'y', "a type",     "a list of types"   },
    { 'a', "anything",   "a list"            },
};

static const char *letter_words(char letter) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].letter == letter) return kinds[i].one;
        if (kinds[i].letter - 32 == letter) return kinds[i].many;
    }
    return "something else";
}

/* "an integer or a list of integers" */
static const char *kinds_words(xir_str letters, char room[200]) {
    size_t n = 0;
    *room = '\0';
    for (size_t i = 0; i < letters.size && n < 160; i++) {
        n += (size_t)snprintf(room + n, 200 - n, "%s%s", i == 0 ? "" : i + 1 < letters.size ? ", " : " or ",
                              letter_words(letters.data[i]));
    }
    return room;
}

static const char *found_word(const xir_any *any) {
    switch (any->kind) {
    case XIR_ANY_NULL:   return "none";
    case XIR_ANY_BOOL:   return "a bool";
    case XIR_ANY_INT:    return "an integer";
    case XIR_ANY_UINT:   return "an integer above 2^63";
    case XIR_ANY_REAL:   return "a real";
    case XIR_ANY_TEXT:   return "a text";
    case XIR_ANY_PARAMS: return "a tensor";
    case XIR_ANY_MAP:    return "a graph or another structure";
    case XIR_ANY_LIST:
        if (any->as.list.size == 0) return "an empty list";
        switch (any->as.list.items[0].kind) {
        case XIR_ANY_BOOL: return "a list of bools";
        case XIR_ANY_INT:  return "a list of integers";
        case XIR_ANY_REAL: return "a list of reals";
        case XIR_ANY_TEXT: return "a list of texts";
        default:           return "a list";
        }
    }
    return "nothing";
}

static bool is_kind(const xir_any *any, char kind) {
    switch (kind) {
    case 'n': return any->kind == XIR_ANY_NULL;
    case 'b': return any->kind == XIR_ANY_BOOL;
    case 'i': return any->kind == XIR_ANY_INT;
    case 'f': return any->kind == XIR_ANY_REAL || any->kind == XIR_ANY_PARAMS;   /* inf and nan are Params */
    /* a text that is not UTF-8 is kept as bytes */
    case 's': return any->kind == XIR_ANY_TEXT || any->kind == XIR_ANY_PARAMS;
    case 't': return any->kind == XIR_ANY_PARAMS || any->kind == XIR_ANY_MAP;    /* sparse */
    case 'o':
    case 'g':
    case 'y': return any->kind == XIR_ANY_MAP;
    case 'a': return true;
    default:
        if (kind == 'F' && any->kind == XIR_ANY_PARAMS) return true;
        if (any->kind != XIR_ANY_LIST) return false;
        for (size_t i = 0; i < any->as.list.size; i++)
            if (!is_kind(&any->as.list.items[i], (char)(kind + 32))) return false;
        return true;
    }
}

static bool is_any_kind(const xir_any *any, xir_str letters) {
    for (size_t i = 0; i < letters.size; i++) if (is_kind(any, letters.data[i])) return true;
    return false;
}

static bool find_attribute(const xir_convert_row *row, xir_str name, row_attribute *out, xir_str *near) {
    const char *text = row->attributes;
    size_t distance = SIZE_MAX;
    *near = (xir_str){ NULL, 0 };
    while (row_next_attribute(&text, out)) if (xir_str_equal(out->name, name)) return true;
    for (text = row->attributes; row_next_attribute(&text, out);)
        if (xir_str_equal(out->name, XIR_STR("*"))) return true;
    for (text = row->attributes; row_next_attribute(&text, out);) {
        if (xir_str_is_nearer(name, out->name, &distance)) *near = out->name;
    }
    return false;
}

/* What no row knows, in a network of a version beyond those that rows know: the node is kept. Returns false. */
static bool XIR_PRINTF(3, 4) keep_newer(xir_node *at, const char *where, const char *format, ...) {
    char what[140];
    va_list list;
    va_start(list, format);
    text_vprint(what, sizeof what, format, list);
    va_end(list);
    const char *operators = convert_operators(at->cls->dialect);
    const long long known = (long long)convert_newest(at->cls->dialect), found = (long long)at->cls->version;
    if (at->c->checking)
        node_say(at, XIR_NOTE, XIR_OK, where, "%s: versions of the %s are known up to %lld, this graph has %lld", what,
                 operators, known, found);
    return xir_node_unsupported(at, "%s: versions of the %s are known up to %lld", what, operators, known);
}

static bool attribute_is_sound(xir_node *at, const xir_entry *e) {
    row_attribute known;
    xir_str near;
    char where[120], words[200];
    int n = (int)(e->key.size < 80 ? e->key.size : 80);
    long long version = (long long)at->cls->version;
    snprintf(where, sizeof where, "attribute/%.*s", n, e->key.data);
    bool strict = at->c->checking;
    for (size_t i = 0; at->in && i < at->cls->n_slots && i < at->n_in; i++) {
        if (at->in[i].value && at->in[i].from == FROM_ATTRIBUTE && xir_str_equal(at->cls->slots[i].name, e->key))
            return true;
    }
    if (!find_attribute(at->cls->row, e->key, &known, &near)) {
        if (at->cls->newer) return keep_newer(at, where, "unknown attribute '%.*s'", n, e->key.data);
        const char *list = at->cls->row->attributes;
        node_say(at, strict ? XIR_ERROR : XIR_WARNING, XIR_E_UNKNOWN, where,
                 "unknown attribute '%.*s'%s%.*s%s%s", n, e->key.data,
                 near.size ? "; did you mean '" : "", (int)near.size, near.size ? near.data : "", near.size ? "'?" : "",
                 near.size ? "" : list && *list ? "" : "; expected none");
        return !strict;
    }
    if (!is_any_kind(&e->value, known.kinds)) {
        node_say(at, XIR_ERROR, XIR_E_TYPE, where, "%.*s: expected %s, found %s", n, e->key.data,
                 kinds_words(known.kinds, words), found_word(&e->value));
        return false;
    }
    if (strict && (version < known.from || version >= known.until)) {
        bool late = version >= known.until;
        node_say(at, XIR_ERROR, XIR_E_UNKNOWN, where, "the attribute %.*s exists %s version %lld of the %s; this graph has "
                 "version %lld", n, e->key.data, late ? "until" : "from",
                 (long long)(late ? known.until - 1 : known.from), convert_operators(at->cls->dialect), version);
    }
    return true;
}

static bool attributes_are_sound(xir_node *at) {
    const xir_map *extra = xir_op_extra(at->op);
    const char *text = at->cls->row->attributes;
    row_attribute known;
    bool sound = true;
    for (size_t i = 0; extra && i < extra->size; i++) sound &= attribute_is_sound(at, &extra->entries[i]);
    while (at->cls->needs && row_next_attribute(&text, &known)) {
        if (!known.needed || at->cls->version < known.from || at->cls->version >= known.until) continue;
        if (extra && xir_map_find(extra, known.name)) continue;
        char where[120], words[200];
        snprintf(where, sizeof where, "attribute/%.*s", (int)known.name.size, known.name.data);
        node_say(at, XIR_ERROR, XIR_E_MISSING, where, "the attribute %.*s is missing: expected %s",
                 (int)known.name.size, known.name.data, kinds_words(known.kinds, words));
        sound = false;
    }
    return sound;
}

/* ---- the op itself ---------------------------------------------------------------------------------------------- */

/* Whether the version of the operator set that the network uses has the op. */
static bool version_is_sound(xir_node *at) {
    const convert_class *cls = at->cls;
    const char *operators = convert_operators(cls->dialect);
    if (!at->c->checking || (cls->version >= cls->from && cls->version < cls->until)) return true;
    const bool young = cls->version < cls->from;
    node_say(at, young ? XIR_ERROR : XIR_WARNING, young ? XIR_E_UNKNOWN : XIR_OK, NULL,
             "the %s has %.*s %s version %lld; this graph has version %lld", operators, (int)cls->type.size,
             cls->type.data, young ? "from" : "until", (long long)(young ? cls->from : cls->until - 1),
             (long long)cls->version);
    return true;
}

/* ---- inputs and outputs ----------------------------------------------------------------------------------------- */

static bool count_is_sound(xir_node *at, const char *what, size_t least, size_t most, size_t found) {
    if (found >= least && found <= most) return true;
    if (at->cls->newer && found > most) return keep_newer(at, NULL, "%zu %ss", found, what);
    if (most == SIZE_MAX)
        node_say(at, XIR_ERROR, XIR_E_BOUNDS, NULL, "expected at least %zu %s%s, found %zu", least, what,
                 least == 1 ? "" : "s", found);
    else if (least == most)
        node_say(at, XIR_ERROR, XIR_E_BOUNDS, NULL, "expected %zu %s%s, found %zu", least, what,
                 least == 1 ? "" : "s", found);
    else
        node_say(at, XIR_ERROR, XIR_E_BOUNDS, NULL, "expected %zu to %zu %ss, found %zu", least, most, what, found);
    return false;
}

/* The number of inputs without the values that graphs in attributes capture, which follow the inputs. */
static size_t own_inputs(const xir_node *at) {
    const xir_any *captures = source_tag_find(xir_op_tags(at->op), SOURCE_CAPTURES);
    size_t n = captures && captures->kind == XIR_ANY_LIST ? captures->as.list.size : 0;
    for (size_t i = 0; i < at->cls->n_slots; i++) if (at->cls->slots[i].is_attribute) return xir_op_input_count(at->op);
    return n > at->n_in ? 0 : at->n_in - n;
}

static bool inputs_are_sound(xir_node *at) {
    bool sound = true;
    for (size_t i = 0; i < at->n_in; i++) {
        const xir_value *v = node_input_at(at, i);
        if (v && !xir_value_op(v) && !xir_value_is_params(v)) sound = false;   /* conversion_check_values reports it */
    }
    for (size_t i = 0; i < at->cls->n_slots; i++) {
        const row_input *slot = &at->cls->slots[i];
        if (!slot->is_attribute || slot->optional || node_input_at(at, i)) continue;
        node_say(at, XIR_ERROR, XIR_E_MISSING, NULL, "the attribute %.*s is missing: expected a tensor",
                 (int)slot->name.size, slot->name.data);
        sound = false;
    }
    return sound;
}

bool node_is_sound(xir_node *at) {
    bool inputs = count_is_sound(at, "input", at->cls->least_in, at->cls->most_in, own_inputs(at));
    bool outputs = count_is_sound(at, "output", at->cls->least_out, at->cls->most_out, at->n_out);
    bool attributes = attributes_are_sound(at), version = version_is_sound(at);
    return inputs_are_sound(at) && inputs && outputs && attributes && version;
}

/* ---- types ------------------------------------------------------------------------------------------------------ */

static size_t element_text(const xir_type *element, char *out, size_t room) {
    const xir_object *object = xir_type_object(element);
    buffer b;
    buffer_init(&b, &memory_default);
    const xir_class *cls = xir_object_class(object);
    if (cls && cls->more->form && cls->more->form->print) cls->more->form->print(object, &b);
    size_t n = (size_t)snprintf(out, room, "%.*s", (int)(b.size < 60 ? b.size : 60), b.size ? b.data : "");
    buffer_free(&b);
    return n;
}

/* The name that the file has for an unknown dim of a value; empty if there is none. */
static xir_str declared_name(const xir_value *v, size_t i) {
    const xir_any *names = v ? source_tag_find(xir_value_tags(v), SOURCE_DIMS) : NULL;
    const bool listed = names && names->kind == XIR_ANY_LIST && i < names->as.list.size;
    const xir_any *name = listed ? &names->as.list.items[i] : NULL;
    return name && name->kind == XIR_ANY_TEXT ? name->as.text : (xir_str){ NULL, 0 };
}

/* `v` has the names of unknown dims; it may be NULL. */
static void type_text(const xir_type *type, const xir_value *v, char *out, size_t room) {
    enum { DIM_ROOM = 50 };
    size_t n = element_text(xir_type_element(type), out, room);
    n += (size_t)snprintf(out + n, room - n, " [");
    for (size_t i = 0; i < xir_type_rank(type) && n < room - DIM_ROOM - 3; i++) {
        char dim[DIM_ROOM];
        xir_str name = declared_name(v, i);
        if (xir_type_as_tensor(type)->shape.data[i] != XIR_UNKNOWN_DIM) name.size = 0;
        if (name.size) snprintf(dim, sizeof dim, "%.*s", (int)(name.size < DIM_ROOM ? name.size : DIM_ROOM), name.data);
        else xir_type_dim_text(type, (int64_t)i, dim, sizeof dim);
        n += (size_t)snprintf(out + n, room - n, "%s%s", i ? ", " : "", dim);
    }
    snprintf(out + n, room - n, "]");
}

/* Whether the dims i may be the same for some values of the symbols: a name that the inputs do not have, or an unknown
 * dim, may be any number. */
static bool dim_agrees(xir_node *at, const xir_value *v, const xir_type *declared, const xir_type *inferred, size_t i) {
    object_pool *pool = &at->c->net->pool;
    const int64_t dim = xir_type_as_tensor(declared)->shape.data[i];
    const xir_str name = declared_name(v, i);
    expr e = expr_of_dim(dim);
    if (dim == XIR_UNKNOWN_DIM && name.size && !expr_of_name(pool, name, &e)) return node_no_memory(at);
    return !expr_never_equal(pool, e, expr_of_dim(xir_type_as_tensor(inferred)->shape.data[i]));
}

/* A file may declare the elements of a value and nothing else. */
static bool element_agrees(xir_node *at, size_t output, const xir_type *inferred) {
    char expected[160], found[160], where[32];
    const xir_value *v = xir_op_output(at->op, (int64_t)output);
    const xir_type *declared = convert_element(at->cls->dialect, v);
    xir_str name = xir_value_name(v);
    if (!declared || xir_type_equal(declared, xir_type_element(inferred))) return true;
    element_text(xir_type_element(inferred), expected, sizeof expected);
    element_text(declared, found, sizeof found);
    snprintf(where, sizeof where, "output/%zu", output);
    node_contradicts(at, XIR_E_INVALID, where, "output %zu '%.*s' has wrong declared elements: expected %s, found %s",
                     output, (int)(name.size < 100 ? name.size : 100), name.size ? name.data : "", expected, found);
    return true;
}

/* "[1, ?, 3]" */
static void dims_text(const xir_list *dims, char *out, size_t room) {
    size_t n = (size_t)snprintf(out, room, "[");
    for (size_t i = 0; i < dims->size && n < room - 30; i++) {
        const xir_any *dim = &dims->items[i];
        const bool known = dim->kind == XIR_ANY_INT && dim->as.integer >= 0;
        n += (size_t)snprintf(out + n, room - n, known ? "%s%lld" : "%s?", i ? ", " : "",
                              known ? (long long)dim->as.integer : 0);
    }
    snprintf(out + n, room - n, "]");
}

/* Or its dims. */
static void check_dims(xir_node *at, size_t output, const xir_type *inferred) {
    char expected[160], found[160], where[32];
    const xir_value *v = xir_op_output(at->op, (int64_t)output);
    const xir_any *declared = convert_dims(at->cls->dialect, v);
    const xir_str name = xir_value_name(v);
    if (!declared || declared->kind != XIR_ANY_LIST) return;
    const xir_list *dims = &declared->as.list;
    bool same = dims->size == xir_type_rank(inferred);
    for (size_t i = 0; same && i < dims->size; i++) {
        const int64_t own = xir_type_dim(inferred, (int64_t)i, false);
        same = dims->items[i].kind != XIR_ANY_INT || dims->items[i].as.integer < 0 || own < 0 ||
               dims->items[i].as.integer == own;
    }
    if (same || (at->c->reshaped && !at->c->checking)) return;
    type_text(inferred, NULL, expected, sizeof expected);
    dims_text(dims, found, sizeof found);
    snprintf(where, sizeof where, "output/%zu", output);
    node_contradicts(at, XIR_E_INVALID, where, "output %zu '%.*s' has wrong declared dims: expected %s, found %s",
                     output, (int)(name.size < 100 ? name.size : 100), name.size ? name.data : "",
                     strchr(expected, '['), found);
}

bool node_agrees(xir_node *at, size_t output, const xir_type *declared, const xir_type *inferred) {
    if (!xir_type_as_tensor(inferred)) return true;
    if (!declared) {
        check_dims(at, output, inferred);
        return element_agrees(at, output, inferred);
    }
    if (!xir_type_as_tensor(declared)) return true;
    bool same = xir_type_rank(declared) == xir_type_rank(inferred) &&
                xir_type_equal(xir_type_element(declared), xir_type_element(inferred));
    const xir_value *v = xir_op_output(at->op, (int64_t)output);
    for (size_t i = 0; same && i < xir_type_rank(declared); i++) same = dim_agrees(at, v, declared, inferred, i);
    if (at->fate == NODE_NO_MEMORY) return false;
    if (same || (at->c->reshaped && !at->c->checking)) return true;
    char expected[160], found[160], where[32];
    xir_str name = xir_value_name(v);
    type_text(inferred, NULL, expected, sizeof expected);
    type_text(declared, v, found, sizeof found);
    snprintf(where, sizeof where, "output/%zu", output);
    node_contradicts(at, XIR_E_INVALID, where, "output %zu '%.*s' has a wrong declared type: expected %s, found %s",
                     output, (int)(name.size < 100 ? name.size : 100), name.size ? name.data : "", expected, found);
    return true;
}

xir_status node_contradicts(const xir_node *at, xir_status code, const char *where, const char *format, ...) {
    char sentence[SENTENCE_ROOM];
    va_list list;
    va_start(list, format);
    text_vprint(sentence, sizeof sentence, format, list);
    va_end(list);
    return node_say(at, at->c->checking ? XIR_ERROR : XIR_WARNING, code, where, "%s", sentence);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static bool is_duplicate(const xir_value *v) {
    return source_tag_find(xir_value_tags(v), SOURCE_DUPLICATE) != NULL;
}

#define NAME(s) (int)((s).size < 200 ? (s).size : 200), (s).size ? (s).data : ""

static void check_inputs(xir_node *at, bool sorted) {
    char where[32];
    for (size_t i = 0; i < at->op->n_inputs; i++) {
        const xir_value *v = op_inputs(at->op)[i].value;
        if (!v || value_is_params(v)) continue;
        snprintf(where, sizeof where, "input/%zu", i);
        if (!value_op(v)) {
            node_say(at, XIR_ERROR, XIR_E_MISSING, where,
                     "input %zu '%.*s' is undefined: expected %s output, %s", i, NAME(xir_value_name(v)),
                     convert_node(at->cls->dialect), convert_sources(at->cls->dialect));
        } else if (!sorted && at->op->id < value_op(v)->id) {
            node_say(at, XIR_ERROR, XIR_E_INVALID, where,
                     "input %zu '%.*s' is used before it is made: expected '%.*s' (%s %lld) earlier",
                     i, NAME(xir_value_name(v)), NAME(xir_op_name(value_op(v))), convert_node(at->cls->dialect),
                     (long long)convert_number(at->cls->dialect, value_op(v)));
        }
    }
}

#define APPEARS_TWICE "%.*s appears twice, and readers differ in which one counts: expected it once"

/* Item i of the names that appear again; false past the end. Names that are not texts are empty. */
static bool repeated_at(const xir_map *tags, size_t i, xir_str *out) {
    const xir_any *names = source_tag_find(tags, SOURCE_REPEATED);
    if (!names || names->kind != XIR_ANY_LIST || i >= names->as.list.size) return false;
    const xir_any *name = &names->as.list.items[i];
    *out = name->kind == XIR_ANY_TEXT ? name->as.text : XIR_STR("");
    return true;
}

/* `whose`: "input 1 'w': "; empty: the node's own. */
static void check_repeated(xir_node *at, const xir_map *tags, const char *where, const char *whose) {
    xir_str name;
    for (size_t i = 0; repeated_at(tags, i, &name); i++)
        node_say(at, XIR_ERROR, XIR_E_EXISTS, where, "%s" APPEARS_TWICE, whose, NAME(name));
}

/* The same of Params that no node uses: results of the network, and what nothing uses. */
static bool check_repeated_params(void *user, xir_value *v) {
    conversion *c = user;
    const xir_use *use = xir_value_uses(v);
    xir_str name;
    if (use && xir_class_is_dialect(xir_op_class(xir_use_op(use)))) return true;
    for (size_t i = 0; repeated_at(xir_value_tags(v), i, &name); i++) {
        if (!c->status) c->status = XIR_E_EXISTS;
        xir_diags_add(c->why, XIR_ERROR, XIR_E_EXISTS, XIR_STR("/"), "the constant '%.*s': " APPEARS_TWICE,
                      NAME(xir_value_name(v)), NAME(name));
    }
    return true;
}

/* Attributes of a node that appear twice; those of Params are said where they are used first, those of the network's
 * inputs at the first node. */
static void check_attributes(xir_node *at) {
    char where[32], whose[250];
    const xir_op *first = at->op->prev;
    check_repeated(at, xir_op_tags(at->op), "attributes", "");
    for (size_t i = 0; i < at->op->n_inputs; i++) {
        const xir_value *v = op_inputs(at->op)[i].value;
        if (!v || !value_is_params(v) || xir_use_op(xir_value_uses(v)) != at->op) continue;
        snprintf(where, sizeof where, "input/%zu", i);
        snprintf(whose, sizeof whose, "input %zu '%.*s': ", i, NAME(xir_value_name(v)));
        check_repeated(at, xir_value_tags(v), where, whose);
    }
    for (size_t i = 0; first && xir_op_is(first, xir_input_class()) && i < first->n_outputs; i++) {
        const xir_value *v = &op_outputs(first)[i];
        snprintf(whose, sizeof whose, "the network's input '%.*s': ", NAME(xir_value_name(v)));
        check_repeated(at, xir_value_tags(v), NULL, whose);
    }
}

/* Two nodes of one name: findings and tools name a node by it, and a reader that finds nodes by name finds one. */
static void check_name(xir_node *at, text_table *names) {
    xir_str name = xir_op_name(at->op);
    if (!name.size) return;
    const uint32_t number = (uint32_t)convert_number(at->cls->dialect, at->op), *first = text_table_find(names, name);
    if (first) {
        node_say(at, XIR_WARNING, XIR_E_EXISTS, "name", "duplicate name; expected a unique one, found that of %s %u",
                 convert_node(at->cls->dialect), *first);
    } else if (!text_table_add(names, name, number)) {
        at->c->no_memory = true;
    }
}

xir_status conversion_check_values(conversion *c, bool sorted) {
    text_table names;
    char where[80];
    text_table_init(&names, context_alloc(c->ctx));
    const xir_op *last = xir_network_output_op(c->net);
    for (size_t i = 0; last && i < last->n_inputs; i++) {
        const xir_value *v = op_inputs(last)[i].value;
        if (!v || value_op(v) || value_is_params(v)) continue;
        snprintf(where, sizeof where, "%.50s%zu", convert_results(c->dialect), i);
        if (!c->status) c->status = XIR_E_MISSING;
        xir_diags_add(c->why, XIR_ERROR, XIR_E_MISSING, xir_str_of(where),
                      "output '%.*s' is undefined: expected %s output, %s", NAME(xir_value_name(v)),
                      convert_node(c->dialect), convert_sources(c->dialect));
    }
    for (xir_op *op = xir_network_first(c->net); op; op = xir_op_next(op)) {
        if (!xir_class_is_opaque(op->cls)) continue;
        const convert_class *cls = conversion_class(c, op->cls);
        if (!cls) c->no_memory = true;
        if (c->no_memory) break;
        if (!cls->dialect) continue;
        xir_node at = { .c = c, .op = op, .cls = cls };
        check_name(&at, &names);
        check_inputs(&at, sorted);
        check_attributes(&at);
        for (size_t i = 0; i < op->n_outputs; i++) {
            if (!is_duplicate(&op_outputs(op)[i])) continue;
            snprintf(where, sizeof where, "output/%zu", i);
            node_say(&at, XIR_ERROR, XIR_E_EXISTS, where,
                     "output %zu: duplicate name '%.*s'; expected a unique name", i,
                     NAME(xir_value_name(&op_outputs(op)[i])));
        }
    }
    text_table_free(&names);
    net_walk_params(c->net, check_repeated_params, c);
    return c->no_memory ? XIR_E_MEMORY : XIR_OK;
}

/* ---- public functions ------------------------------------------------------------------------------------------- */

bool xir_class_is_dialect(const xir_class *cls) {
    return dialect_of_class(cls) != NULL;
}

bool xir_network_is_dialect(const xir_network *net) {
    if (!net) return false;
    const xir_op *op = xir_network_first(net);
    while (op && !xir_class_is_dialect(op->cls)) op = xir_op_next(op);
    return op;
}

/* The number after the path of nodes, "/functions/3/input/0"; false if the path is another. */
static bool number_in(const xir_dialect_decl *dialect, xir_str path, size_t *out) {
    const char *nodes = convert_nodes(dialect);
    size_t i = strlen(nodes);
    if (path.size <= i || memcmp(path.data, nodes, i) != 0) return false;
    *out = 0;
    for (; i < path.size && path.data[i] >= '0' && path.data[i] <= '9' && *out < SIZE_MAX / 16; i++)
        *out = *out * 10 + (size_t)(path.data[i] - '0');
    return i == path.size || path.data[i] == '/';
}

/* The format's own check: adds its findings, and marks the ops with errors. */
static xir_status check_file(conversion *c, const xir_network *net) {
    if (!convert_checks_file(c->dialect)) return XIR_OK;
    xir_diags *found = xir_diags_new(c->ctx);
    c->n_faulty = xir_network_op_count(net);
    c->faulty = arena_take(&c->scratch, c->n_faulty + 1);
    if (!found || !c->faulty) {
        xir_diags_free(found);
        return diag_memory(c->why);
    }
    memset(c->faulty, 0, c->n_faulty + 1);
    xir_diags_set_max(found, SIZE_MAX);
    const xir_status status = convert_check_file(c->dialect, net, found);
    for (size_t i = 0; i < xir_diags_count(found); i++) {
        const xir_diag *diag = xir_diags_at(found, i);
        size_t number;
        if (diag->severity == XIR_ERROR && number_in(c->dialect, diag->path, &number) && number < c->n_faulty)
            c->faulty[number] = true;
        xir_diags_append(c->why, diag);
    }
    xir_diags_free(found);
    c->status = status;
    return status == XIR_E_MEMORY ? status : XIR_OK;
}

xir_status xir_dialect_check(const xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    if (!xir_network_is_dialect(net)) return XIR_OK;
    xir_network *copy = xir_network_clone(net);
    if (!copy) return diag_memory(why);
    conversion c;
    conversion_begin(&c, copy, why);
    c.checking = true;
    budget within = budget_of(&c.ctx->limits);
    c.within = &within;
    xir_status status = check_file(&c, net);
    if (!status) status = conversion_run(&c);
    conversion_end(&c);
    xir_network_free(copy);
    return status;
}

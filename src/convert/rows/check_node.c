/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks that a node has the form that its row describes: the attributes, the numbers of inputs and outputs, and a
 * version of the operators, that of the network, which has the op. What no row knows is refused when checking, except
 * in a network of a version beyond those that rows know: there the node is kept. */
#include <stdarg.h>
#include <stdio.h>
#include "rows/row.h"
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
    /* inf and nan are Params or words */
    case 'f': return any->kind == XIR_ANY_REAL || any->kind == XIR_ANY_PARAMS ||
                     (any->kind == XIR_ANY_TEXT && node_real_word(any->as.text, &(double){ 0 }));
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

/* Returns the row's attribute of this name; NULL: it has none, and *near is the closest name. */
static const row_attribute *find_attribute(const convert_class *cls, xir_str name, xir_str *near) {
    size_t distance = SIZE_MAX;
    *near = (xir_str){ NULL, 0 };
    const row_attribute *found = row_attribute_named(cls, name);
    if (!found) found = row_attribute_named(cls, XIR_STR("*"));
    for (size_t i = 0; !found && i < cls->n_attributes; i++)
        if (xir_str_is_nearer(name, cls->attributes[i].name, &distance)) *near = cls->attributes[i].name;
    return found;
}

/* The place of an attribute, for a finding. */
typedef struct attribute_place { char text[120]; } attribute_place;
static attribute_place place_of(xir_str name) {
    attribute_place where;
    snprintf(where.text, sizeof where.text, "attribute/%.*s", CLIP_TO(name, 80));
    return where;
}

/* Keeps a node that no row knows, in a network of a version beyond those that rows know. Returns false. */
static bool XIR_PRINTF(3, 4) keep_newer(xir_node *at, const char *where, const char *format, ...) {
    char what[140];
    va_list list;
    va_start(list, format);
    text_vprint(what, sizeof what, format, list);
    va_end(list);
    const char *operators = convert_operators(at->cls->dialect);
    const long long known = (long long)DECLARED(at->cls->dialect, newest), found = (long long)at->cls->version;
    if (at->c->checking)
        node_say(at, XIR_NOTE, XIR_OK, where, "%s: versions of the %s are known up to %lld, this graph has %lld", what,
                 operators, known, found);
    return xir_node_unsupported(at, "%s: versions of the %s are known up to %lld", what, operators, known);
}

static bool attribute_is_sound(xir_node *at, const xir_entry *e) {
    xir_str near;
    char words[200];
    const int n = text_clip(e->key, 80);
    const long long version = (long long)at->cls->version;
    const bool strict = at->c->checking;
    for (size_t i = 0; at->in && i < at->cls->n_slots && i < at->n_in; i++) {
        if (at->in[i].value && at->in[i].from == FROM_ATTRIBUTE && xir_str_equal(at->cls->slots[i].name, e->key))
            return true;
    }
    const row_attribute *known = find_attribute(at->cls, e->key, &near);
    if (!known) {
        if (at->cls->newer) return keep_newer(at, place_of(e->key).text, "unknown attribute '%.*s'", n, e->key.data);
        const char *list = at->cls->row->attributes;
        /* operators of other domains have no versions, nor do those of some formats: it may be newer than the row */
        const bool foreign = strict && at->cls->foreign, grows = foreign || DECLARED(at->cls->dialect, grows);
        node_say(at, foreign ? XIR_NOTE : strict && !grows ? XIR_ERROR : XIR_WARNING,
                 foreign ? XIR_OK : XIR_E_UNKNOWN, place_of(e->key).text,
                 "unknown attribute '%.*s'%s%.*s%s%s", n, e->key.data,
                 near.size ? "; did you mean '" : "", (int)near.size, near.size ? near.data : "", near.size ? "'?" : "",
                 near.size ? "" : list && *list ? "" : "; expected none");
        return !strict || grows;
    }
    if (!is_any_kind(&e->value, known->kinds)) {
        node_say(at, XIR_ERROR, XIR_E_TYPE, place_of(e->key).text, "%.*s: expected %s, found %s", n, e->key.data,
                 kinds_words(known->kinds, words), found_word(&e->value));
        return false;
    }
    if (strict && (version < known->from || version >= known->until)) {
        const bool late = version >= known->until;
        node_say(at, XIR_ERROR, XIR_E_UNKNOWN, place_of(e->key).text,
                 "the attribute %.*s exists %s version %lld of the %s; this graph has version %lld", n, e->key.data,
                 late ? "until" : "from", (long long)(late ? known->until - 1 : known->from),
                 convert_operators(at->cls->dialect), version);
    }
    return true;
}

/* Nodes that are alike share one map of attributes. If its check had no finding, the same check has none again. */
static bool have_passed(const xir_node *at, const xir_map *extra) {
    const foreign_likes *l = at->cls->likes;
    for (size_t i = 0; extra && l && !at->in && i < LIKES; i++) {
        const passed_attributes *p = &l->passed[i];
        if (p->extra == extra && p->version == at->cls->version && p->strict == at->c->checking) return true;
    }
    return false;
}

static void note_passed(const xir_node *at, const xir_map *extra) {
    foreign_likes *l = at->cls->likes;
    if (!l || at->in || at->c->mute) return;
    l->passed[l->next_passed++ % LIKES] = (passed_attributes){ extra, at->cls->version, at->c->checking };
}

static bool attributes_are_sound(xir_node *at) {
    const xir_map *extra = xir_op_extra(at->op);
    const size_t said = xir_diags_count(at->c->why);
    bool sound = true;
    if (have_passed(at, extra)) return true;
    for (size_t i = 0; extra && i < extra->size; i++) sound &= attribute_is_sound(at, &extra->entries[i]);
    for (size_t i = 0; at->cls->needs && i < at->cls->n_attributes; i++) {
        const row_attribute *known = &at->cls->attributes[i];
        if (!known->needed || at->cls->version < known->from || at->cls->version >= known->until) continue;
        if (extra && xir_map_find(extra, known->name)) continue;
        char words[200];
        node_say(at, XIR_ERROR, XIR_E_MISSING, place_of(known->name).text, "the attribute %.*s is missing: expected %s",
                 (int)known->name.size, known->name.data, kinds_words(known->kinds, words));
        sound = false;
    }
    if (sound && xir_diags_count(at->c->why) == said) note_passed(at, extra);
    return sound;
}

/* ---- the version ------------------------------------------------------------------------------------------------ */

/* Returns true if the version of the operator set that the network uses has the op. */
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

/* The number of inputs without those that stand for attributes, and without the values that graphs in attributes
 * capture, which follow the inputs. */
static size_t own_inputs(const xir_node *at) {
    const xir_any *captures = source_tag_find(xir_op_tags(at->op), SOURCE_CAPTURES);
    size_t n = captures && captures->kind == XIR_ANY_LIST ? captures->as.list.size : 0;
    size_t attributes = 0, stand = 0;
    for (size_t i = 0; i < at->cls->n_slots; i++) {
        if (!at->cls->slots[i].is_attribute) continue;
        attributes++;
        stand += at->in && i < at->n_in && at->in[i].value && at->in[i].from != FROM_ATTRIBUTE;
    }
    if (attributes) return xir_op_input_count(at->op) - stand;
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

bool node_ints_are_short(xir_node *at) {
    const xir_map *extra = xir_op_extra(at->op);
    for (size_t i = 0; extra && i < extra->size; i++) {
        const xir_str key = extra->entries[i].key;
        const xir_any *any = &extra->entries[i].value;
        const xir_any *each = any->kind == XIR_ANY_LIST ? any->as.list.items : any;
        const size_t n = any->kind == XIR_ANY_LIST ? any->as.list.size : 1;
        for (size_t k = 0; k < n; k++)
            if (each[k].kind == XIR_ANY_INT && each[k].as.integer != (int32_t)each[k].as.integer)
                return xir_node_invalid(at, XIR_E_BOUNDS, NULL, "%.*s does not fit into 32 bits", CLIP_TO(key, 60));
    }
    return true;
}

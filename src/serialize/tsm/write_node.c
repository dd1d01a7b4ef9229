/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One node of a module that is written: its parameters, sorted by name, with types as the usual writer chooses them,
 * and the numbers of its inputs. Tags say where the file of an unchanged network was different. */
#include <stdlib.h>
#include "tsm/write.h"

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static const xir_any *tag_of(const xir_value *v, const char *key, xir_any_kind kind) {
    const xir_any *found = xir_map_find(xir_value_tags(v), xir_str_of(key));
    return found && found->kind == kind ? found : NULL;
}

/* Type and dims of Params: of their type, or of the tag if XIR has none for them. */
static bool head_of(tsm_writer *w, const xir_value *v, uint8_t *dtype, xir_i64s *dims) {
    const xir_any *tag = v->type ? NULL : tag_of(v, TSM_TAG_TYPE, XIR_ANY_LIST);
    const xir_list *list = tag && tag->as.list.size ? &tag->as.list : NULL;
    const bool tensor = xir_type_as_tensor(v->type) && tsm_code_of(xir_type_element(v->type), dtype);
    if (tensor) *dims = xir_type_as_tensor(v->type)->shape;
    bool ok = tensor || (list && list->items[0].kind == XIR_ANY_INT);
    if (ok && !tensor) {
        int64_t *items = arena_take(&w->scratch, list->size * sizeof *items);
        if (!items) return tsm_no_memory(w);
        const int64_t code = list->items[0].as.integer;
        *dtype = (uint8_t)code;
        ok = code == *dtype && code != TSM_PTR && element_code_at(&element_codes_tsm, *dtype);
        for (size_t i = 1; ok && i < list->size; i++) {
            ok = list->items[i].kind == XIR_ANY_INT;
            items[i - 1] = ok ? list->items[i].as.integer : 0;
        }
        *dims = (xir_i64s){ items, list->size - 1 };
    }
    return ok || tsm_refuse(w, XIR_E_UNSUPPORTED, "TSM does not have the element type of '%.*s'",
                            CLIP(xir_value_name(v)));
}

/* Checked when the network is walked for the first time: then nothing is written. */
static bool put_params(tsm_writer *w, const xir_value *v, bool dry) {
    xir_i64s dims = { NULL, 0 };
    uint8_t dtype = 0;
    uint64_t elements, bytes;
    const blob *data = value_params(v)->data;
    if (!head_of(w, v, &dtype, &dims)) return false;
    if (!dry) {
        tsm_put_head(&w->out, dtype, dims.data, dims.size);
        if (data) tsm_put_data(w, data->bytes, (size_t)data->size);
        return true;
    }
    for (size_t i = 0; i < dims.size; i++)
        if (dims.data[i] > INT32_MAX)
            return tsm_refuse(w, XIR_E_LIMIT, "dim %zu of '%.*s' is %" PRId64 ": TSM has dims of 32 bits", i,
                              CLIP(xir_value_name(v)), dims.data[i]);
    const element_code *e = element_code_at(&element_codes_tsm, dtype);
    const xir_status status = dialect_size(dims.data, dims.size, e->bits, &elements, &bytes);
    if (status) return tsm_refuse(w, status, "'%.*s' has too many elements", CLIP(xir_value_name(v)));
    if (bytes && !data)
        return tsm_refuse(w, XIR_E_MISSING, "the parameter '%.*s' has no bytes, and TSM has its parameters inside",
                          CLIP(xir_value_name(v)));
    if (data && data->size != bytes)
        return tsm_refuse(w, XIR_E_CORRUPT, "the parameter '%.*s' has %" PRIu64 " bytes: expected %" PRIu64,
                          CLIP(xir_value_name(v)), data->size, bytes);
    return !data || (w->status = params_check(v, w->how->why)) == XIR_OK || (w->reported = true, false);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* One parameter: a value, a text, Params, or one that a tag has in full. */
typedef struct item {
    xir_str        name;
    xir_any        value;
    const xir_any *described;    /* {"data", "type"}, or a list of them */
} item;

enum { ITEMS_FEW = 32 };
typedef struct items { item *v; size_t n, room; item few[ITEMS_FEW]; } items;

static bool add_item(tsm_writer *w, items *to, xir_str name, xir_any value) {
    if (to->n == to->room) {
        item *more = arena_take(&w->scratch, 2 * to->room * sizeof *more);
        if (!more) return tsm_no_memory(w);
        memcpy(more, to->v, to->n * sizeof *more);
        to->v = more;
        to->room *= 2;
    }
    to->v[to->n++] = (item){ name, value, NULL };
    return true;
}

/* A key that ops have already has the format's prefix. */
static xir_str name_of_key(xir_str key) {
    const bool prefixed = key.size > 4 && memcmp(key.data, "tsm.", 4) == 0;
    return prefixed ? (xir_str){ key.data + 4, key.size - 4 } : key;
}

static bool add_attributes(tsm_writer *w, const tsm_out_node *n, items *to) {
    const xir_map *extra = xir_op_extra(n->op);
    for (size_t i = 0; extra && i < extra->size; i++)
        if (!add_item(w, to, name_of_key(extra->entries[i].key), extra->entries[i].value)) return false;
    return true;
}

static bool is_described(const xir_any *v) {
    return v->kind == XIR_ANY_MAP || (v->kind == XIR_ANY_LIST && v->as.list.size &&
                                      v->as.list.items[0].kind == XIR_ANY_MAP);
}

/* An input that had no type when it was read may have got one since. */
static bool is_declared(const tsm_out_node *n, xir_str name) {
    return n->value->type && !xir_value_is_params(n->value) && (tsm_is(name, "#shape") || tsm_is(name, "#dtype"));
}

static bool add_more(tsm_writer *w, const tsm_out_node *n, items *to) {
    const xir_any *more = tsm_kept(n, "more", XIR_ANY_MAP);
    for (size_t i = 0; more && i < more->as.map.size; i++) {
        const xir_entry *e = &more->as.map.entries[i];
        if (is_declared(n, e->key)) continue;
        if (!add_item(w, to, e->key, e->value)) return false;
        if (is_described(&e->value)) to->v[to->n - 1].described = &e->value;
    }
    return true;
}

static bool add_declared(tsm_writer *w, const xir_value *v, items *to) {
    uint8_t dtype;
    if (!v->type) return true;
    if (!xir_type_as_tensor(v->type) || !tsm_code_of(xir_type_element(v->type), &dtype))
        return tsm_refuse(w, XIR_E_UNSUPPORTED, "TSM does not have the type of the input '%.*s'",
                          CLIP(xir_value_name(v)));
    const xir_i64s open = xir_type_as_tensor(v->type)->shape;
    xir_any *dims = arena_take(&w->scratch, (open.size + 1) * sizeof *dims);
    if (!dims) return tsm_no_memory(w);
    for (size_t i = 0; i < open.size; i++) {
        dims[i] = xir_any_int(open.data[i] < 0 ? -1 : open.data[i]);
        if (open.data[i] > INT32_MAX)
            return tsm_refuse(w, XIR_E_LIMIT, "dim %zu of the input '%.*s' does not fit into 32 bits", i,
                              CLIP(xir_value_name(v)));
    }
    return add_item(w, to, XIR_STR("#dtype"), xir_any_int(dtype)) &&
           add_item(w, to, XIR_STR("#shape"), xir_any_list(dims, open.size));
}

static int item_order(const void *a, const void *b) {
    return str_order(((const item *)a)->name, ((const item *)b)->name);
}

/* Most lists are sorted but for a few at the front: the keys of attributes are. */
static void sort_items(items *of) {
    bool sorted = true;
    for (size_t i = 1; i < of->n; i++) sorted &= item_order(&of->v[i - 1], &of->v[i]) <= 0;
    if (sorted) return;
    if (of->n > ITEMS_FEW) {
        qsort(of->v, of->n, sizeof *of->v, item_order);
        return;
    }
    for (size_t i = 1; i < of->n; i++) {
        const item moved = of->v[i];
        size_t k = i;
        for (; k && item_order(&of->v[k - 1], &moved) > 0; k--) of->v[k] = of->v[k - 1];
        of->v[k] = moved;
    }
}

static item *find_item(const items *of, xir_str name) {
    size_t low = 0, high = of->n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (str_order(of->v[middle].name, name) < 0) low = middle + 1;
        else high = middle;
    }
    return low < of->n && xir_str_equal(of->v[low].name, name) ? &of->v[low] : NULL;
}

/* Parameters named by the tag come first, then the others. A name in its list `again` is of a parameter that was not
 * read. */
static bool reorder(tsm_writer *w, const tsm_out_node *n, items *of) {
    const xir_any *order = tsm_kept(n, "order", XIR_ANY_LIST), *again = tsm_kept(n, "again", XIR_ANY_LIST);
    const size_t n_again = again ? again->as.list.size : 0;
    size_t k = 0, repeats = 0;
    if (!order) return true;
    item *out = arena_take(&w->scratch, (of->n + n_again) * sizeof *out);
    bool *taken = arena_take(&w->scratch, of->n * sizeof *taken);
    if (!out || !taken) return tsm_no_memory(w);
    memset(taken, 0, of->n * sizeof *taken);
    for (size_t i = 0; i < order->as.list.size; i++) {
        const xir_any *name = &order->as.list.items[i];
        const item *found = name->kind == XIR_ANY_TEXT ? find_item(of, name->as.text) : NULL;
        if (found && !taken[found - of->v]) {
            taken[found - of->v] = true;
            out[k++] = *found;
        } else if (found && repeats < n_again) {
            const xir_any *v = &again->as.list.items[repeats++];
            out[k++] = (item){ found->name, *v, v };
        }
    }
    for (size_t i = 0; i < of->n; i++)
        if (!taken[i]) out[k++] = of->v[i];
    of->v = out;
    of->n = k;
    return true;
}

static bool gather(tsm_writer *w, size_t place, items *to) {
    const tsm_out_node *n = &w->nodes[place];
    const bool constant = !n->op && value_is_params(n->value);
    const xir_str op = n->op ? tsm_operator_of(n->op) : constant ? XIR_STR("<const>") : XIR_STR("<param>");
    const xir_any *device = constant ? tag_of(n->value, TSM_TAG_DEVICE, XIR_ANY_TEXT) : NULL;
    to->v = to->few;
    to->room = ITEMS_FEW;
    to->n = 0;
    bool ok = add_item(w, to, XIR_STR("#name"), xir_any_text(tsm_name_of(w, place))) &&
              add_item(w, to, XIR_STR("#op"), xir_any_text(op));
    if (n->op) ok = ok && add_attributes(w, n, to);
    else ok = ok && add_more(w, n, to);
    if (!n->op && !constant) ok = ok && add_declared(w, n->value, to);
    if (device) ok = ok && add_item(w, to, XIR_STR("device"), *device);
    if (constant)
        ok = ok && add_item(w, to, XIR_STR("value"), (xir_any){ .kind = XIR_ANY_PARAMS,
                                                               .as.params = (xir_value *)(uintptr_t)n->value });
    if (!ok) return false;
    sort_items(to);
    for (size_t i = 1; i < to->n; i++)
        if (xir_str_equal(to->v[i - 1].name, to->v[i].name))
            return tsm_refuse(w, XIR_E_EXISTS, "'%.*s' has the parameter '%.*s' twice", CLIP(tsm_name_of(w, place)),
                              CLIP(to->v[i].name));
    return reorder(w, n, to);
}

static bool put_described(tsm_writer *w, const xir_any *v) {
    const xir_any *data = v->kind == XIR_ANY_MAP ? xir_map_find(&v->as.map, XIR_STR("data")) : NULL;
    const xir_any *type = data ? xir_map_find(&v->as.map, XIR_STR("type")) : NULL;
    int64_t *dims;
    uint64_t elements, bytes;
    bool ok = data && data->kind == XIR_ANY_TEXT && type && type->kind == XIR_ANY_LIST && type->as.list.size;
    const size_t rank = ok ? type->as.list.size - 1 : 0;
    if (!(dims = arena_take(&w->scratch, (rank + 1) * sizeof *dims))) return tsm_no_memory(w);
    for (size_t i = 0; ok && i <= rank; i++) {
        const xir_any *it = &type->as.list.items[i];
        ok = it->kind == XIR_ANY_INT && it->as.integer <= INT32_MAX;
        if (ok && i) dims[i - 1] = it->as.integer;
    }
    const uint64_t dtype = ok ? (uint64_t)type->as.list.items[0].as.integer : UINT64_MAX;
    const element_code *e = element_code_at(&element_codes_tsm, dtype);
    ok = e && dtype != TSM_PTR && dialect_size(dims, rank, e->bits, &elements, &bytes) == XIR_OK &&
         data->as.text.size % 2 == 0 && data->as.text.size / 2 == bytes;
    if (ok) tsm_put_head(&w->out, (uint8_t)dtype, dims, rank);
    ok = ok && tsm_take_digits(data->as.text, &w->out);
    return ok || tsm_refuse(w, XIR_E_INVALID, "the tag " TSM_TAG_PARAMS " has a malformed tensor");
}

static bool is_packed(const xir_any *v) {
    if (v->kind != XIR_ANY_LIST || !v->as.list.size) return false;
    for (size_t i = 0; i < v->as.list.size; i++)
        if (v->as.list.items[i].kind != XIR_ANY_PARAMS) return false;
    return true;
}

static bool can_be_put(tsm_writer *w, size_t place, const item *it) {
    const xir_any *v = &it->value;
    if (it->name.size > TSM_DIM_MOST || !tsm_can_count(v, TSM_DIM_MOST))
        return tsm_refuse(w, XIR_E_LIMIT, "a parameter of '%.*s' has a name or value of 2^31 bytes or items or more",
                          CLIP(tsm_name_of(w, place)));
    if (!tsm_is_utf8(it->name) || (v->kind == XIR_ANY_TEXT && !it->described && !tsm_is_utf8(v->as.text)))
        return tsm_refuse(w, XIR_E_INVALID, "'%.*s' has a parameter '%.*s' that is not UTF-8",
                          CLIP(tsm_name_of(w, place)), CLIP(it->name));
    return true;
}

static bool put_value(tsm_writer *w, size_t place, const item *it, const xir_any *type, bool dry) {
    const xir_any *v = &it->value;
    const xir_list *list = &v->as.list;
    const bool described = it->described && v->kind == XIR_ANY_LIST, packed = !it->described && is_packed(v);
    if (dry && !can_be_put(w, place, it)) return false;
    tsm_put_text(&w->out, it->name);
    tsm_put_word(&w->out, v->kind == XIR_ANY_NULL ? 0 : described || packed ? (uint32_t)list->size : 1);
    if (v->kind == XIR_ANY_NULL) return true;
    if (it->described && !described) return put_described(w, v);
    for (size_t i = 0; (described || packed) && i < list->size; i++)
        if (!(packed ? put_params(w, list->items[i].as.params, dry) : put_described(w, &list->items[i]))) return false;
    if (described || packed) return true;
    if (v->kind == XIR_ANY_PARAMS) return put_params(w, v->as.params, dry);
    return tsm_put_plain(&w->out, it->name, v, type) ||
           tsm_refuse(w, XIR_E_UNSUPPORTED, "TSM cannot hold the parameter '%.*s' of '%.*s': expected a number, a text, "
                      "a list of numbers or Params", CLIP(it->name), CLIP(tsm_name_of(w, place)));
}

static bool find_inputs(tsm_writer *w, const xir_op *op) {
    if (!mem_reserve(w->alloc, (void **)&w->inputs, &w->input_room, w->n_inputs + op->n_inputs, sizeof *w->inputs))
        return tsm_no_memory(w);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const uint32_t *place = pointer_table_find(&w->numbers, op_inputs(op)[i].value);
        if (!place)
            return tsm_refuse(w, XIR_E_MISSING, "op %" PRId64 " '%.*s': nothing makes input %" PRIu32 " '%.*s'", op->id,
                              CLIP(xir_op_name(op)), i, CLIP(xir_value_name(op_inputs(op)[i].value)));
        w->inputs[w->n_inputs++] = w->number_of[*place];
    }
    return true;
}

bool tsm_put_inputs(tsm_writer *w, const xir_op *op, bool dry) {
    const uint32_t n = op ? op->n_inputs : 0;
    tsm_put_word(&w->out, n);
    if (dry) return !n || find_inputs(w, op);
    for (uint32_t i = 0; i < n; i++) tsm_put_word(&w->out, w->inputs[w->next_input++]);
    return true;
}

bool tsm_put_node(tsm_writer *w, size_t place, bool dry) {
    const tsm_out_node *n = &w->nodes[place];
    const xir_any *types = tsm_kept(n, "types", XIR_ANY_MAP);
    items all;
    if (!gather(w, place, &all)) return false;
    tsm_put_word(&w->out, (uint32_t)all.n);
    for (size_t i = 0; i < all.n; i++) {
        const xir_any *type = types ? xir_map_find(&types->as.map, all.v[i].name) : NULL;
        if (!put_value(w, place, &all.v[i], type, dry)) return false;
    }
    return tsm_put_inputs(w, n->op, dry);
}

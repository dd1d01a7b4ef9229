/* Writing a module: nodes in the order of execution with the constants that each is the first to use, parameters sorted
 * by name, types as the usual writer chooses them. Tags say where the file of an unchanged network was different. */
#include <stdarg.h>
#include <stdlib.h>
#include "dialect/others.h"
#include "tsm/tsm.h"

enum { FLUSH = 64 << 10, NONE = -1 };

/* A node of the file: an op, or a value that is Params or an input. */
typedef struct out_node {
    const xir_op    *op;       /* NULL: a value */
    const xir_value *value;
} out_node;

/* Where bytes go: to the caller, perhaps scrambled; or they are counted. */
typedef struct tsm_sink {
    bool     counts, sums, scrambles;
    uint64_t size, sum;         /* of what was counted                        */
    uint64_t left;              /* scrambled: bytes in whole blocks that are still to come */
    uint64_t at;
} tsm_sink;

typedef struct tsm_writer {
    xir_network          *net;
    const format_writing *how;
    const xir_allocator  *alloc;
    arena                 scratch;
    out_node             *nodes;     /* in the usual order                         */
    size_t                n, room;
    pointer_table         numbers;   /* of values: places in `nodes`                 */
    text_table            names;     /* that are taken                              */
    uint32_t             *number_of, *node_at;   /* of a place: its number in the file; and back */
    xir_str              *made;      /* of a place: a name that was made; size 0: its own */
    const xir_op         *input, *output;
    buffer                out;
    xir_status            status;
    char                  fault[400];   /* empty: out of memory */
    bool                  stopped, told;   /* told: there is a finding */
    tsm_sink              sink;
} tsm_writer;

static bool refuse(tsm_writer *w, xir_status status, const char *sentence, ...) XIR_PRINTF(3, 4);
static bool refuse(tsm_writer *w, xir_status status, const char *sentence, ...) {
    va_list args;
    if (w->status) return false;
    w->status = status;
    va_start(args, sentence);
    text_vprint(w->fault, sizeof w->fault, sentence, args);
    va_end(args);
    return false;
}

static bool no_memory(tsm_writer *w) {
    if (!w->status) w->status = XIR_E_MEMORY;
    return false;
}

/* ---- the nodes --------------------------------------------------------------------------------------------------- */

/* The operator that an op is, without "tsm::"; empty for another class. */
static xir_str operator_of(const xir_op *op) {
    const xir_str key = op->cls->key;
    const bool own = key.size > 5 && memcmp(key.data, "tsm::", 5) == 0;
    return own ? (xir_str){ key.data + 5, key.size - 5 } : (xir_str){ NULL, 0 };
}

static bool is_input(const xir_op *op)  { return tsm_is(op->cls->key, "icraft::xir::Input"); }
static bool is_output(const xir_op *op) { return tsm_is(op->cls->key, "icraft::xir::Output"); }

static bool check_classes(tsm_writer *w) {
    char sentence[DIALECT_OTHERS];
    return dialect_has_all(w->net, XIR_STR("tsm::"), "operators of TensorStack", "convert the network to them first",
                           sentence) || refuse(w, XIR_E_UNSUPPORTED, "%s", sentence);
}

static bool add_node(tsm_writer *w, const xir_op *op, const xir_value *v) {
    const uint32_t *known = pointer_table_find(&w->numbers, v);
    if (known) return true;
    if (w->n >= INT32_MAX) return refuse(w, XIR_E_LIMIT, "the network has 2^31 nodes or more");
    if (!mem_reserve(w->alloc, (void **)&w->nodes, &w->room, w->n + 1, sizeof *w->nodes) ||
        !pointer_table_add(&w->numbers, v, (uint32_t)w->n)) return no_memory(w);
    w->nodes[w->n++] = (out_node){ op, v };
    return true;
}

static bool add_constants(tsm_writer *w, const xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op->inputs[i].value;
        if (!v)
            return refuse(w, XIR_E_UNSUPPORTED, "op %" PRId64 " '%.*s': input %" PRIu32 " is absent, which TSM cannot "
                          "say", op->id, CLIP(xir_op_name(op)), i);
        if (value_is_params(v) && !add_node(w, NULL, v)) return false;
    }
    return true;
}

static bool add_unused(tsm_writer *w) {
    const xir_map *extra = w->input && w->input->more ? w->input->more->extra : NULL;
    const xir_any *list = xir_map_find(extra, XIR_STR(TSM_ATTR_UNUSED));
    for (size_t i = 0; list && list->kind == XIR_ANY_LIST && i < list->as.list.size; i++)
        if (list->as.list.items[i].kind == XIR_ANY_PARAMS && !add_node(w, NULL, list->as.list.items[i].as.params))
            return false;
    return true;
}

static bool find_ends(tsm_writer *w) {
    for (const xir_op *op = w->net->first; op; op = op->next) {
        const xir_op **end = is_input(op) ? &w->input : is_output(op) ? &w->output : NULL;
        if (end && *end) return refuse(w, XIR_E_UNSUPPORTED, "there are two ops of class %.*s", CLIP(op->cls->key));
        if (end) *end = op;
        if (!end && op->n_outputs != 1)
            return refuse(w, XIR_E_UNSUPPORTED, "op %" PRId64 " '%.*s' has %" PRIu32 " outputs: a node of TSM has one",
                          op->id, CLIP(xir_op_name(op)), op->n_outputs);
    }
    return true;
}

static bool list_nodes(tsm_writer *w) {
    if (!check_classes(w) || !find_ends(w)) return false;
    for (uint32_t i = 0; w->input && i < w->input->n_outputs; i++)
        if (!add_node(w, NULL, &w->input->outputs[i])) return false;
    if (!add_unused(w)) return false;
    for (const xir_op *op = w->net->first; op; op = op->next) {
        if (op == w->input || op == w->output) continue;
        if (!add_constants(w, op) || !add_node(w, op, &op->outputs[0])) return false;
    }
    return !w->output || add_constants(w, w->output);
}

/* The numbers in the file: as the tag says, if it is a permutation of the nodes. */
static bool number_nodes(tsm_writer *w) {
    const xir_any *tag = xir_map_find(w->net->tags, XIR_STR(TSM_TAG_NODES));
    const xir_list *list = tag && tag->kind == XIR_ANY_LIST && tag->as.list.size == w->n ? &tag->as.list : NULL;
    w->number_of = arena_take(&w->scratch, (w->n + 1) * sizeof *w->number_of);
    w->node_at = arena_take(&w->scratch, (w->n + 1) * sizeof *w->node_at);
    w->made = arena_take(&w->scratch, (w->n + 1) * sizeof *w->made);
    if (!w->number_of || !w->node_at || !w->made) return no_memory(w);
    for (size_t i = 0; i < w->n; i++) w->number_of[i] = UINT32_MAX;
    for (size_t i = 0; i < w->n; i++) w->made[i] = (xir_str){ NULL, 0 };
    for (size_t i = 0; list && i < w->n; i++) {
        const xir_any *place = &list->items[i];
        const bool fits = place->kind == XIR_ANY_INT && place->as.integer >= 0 && (uint64_t)place->as.integer < w->n &&
                          w->number_of[place->as.integer] == UINT32_MAX;
        if (fits) w->number_of[place->as.integer] = (uint32_t)i;
        else list = NULL;
    }
    for (size_t i = 0; i < w->n; i++) {
        if (!list) w->number_of[i] = (uint32_t)i;
        w->node_at[w->number_of[i]] = (uint32_t)i;
    }
    return true;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static const xir_map *tags_of(const out_node *n) {
    return n->op ? xir_op_tags(n->op) : xir_value_tags(n->value);
}

static const xir_any *kept(const out_node *n, const char *key, xir_any_kind kind) {
    const xir_any *tag = xir_map_find(tags_of(n), XIR_STR(TSM_TAG_PARAMS));
    const xir_any *found = tag && tag->kind == XIR_ANY_MAP ? xir_map_find(&tag->as.map, xir_str_of(key)) : NULL;
    return found && found->kind == kind ? found : NULL;
}

static xir_str own_name(const out_node *n) {
    const xir_str name = n->op ? xir_op_name(n->op) : (xir_str){ NULL, 0 };
    return name.size ? name : xir_value_name(n->value);
}

/* A name that the file had although another node has it too, or although it is empty. */
static bool keeps_name(const out_node *n) {
    const xir_any *name = kept(n, "name", XIR_ANY_TEXT);
    return name && xir_str_equal(name->as.text, own_name(n));
}

static bool make_name(tsm_writer *w, size_t place, xir_str stem) {
    const size_t room = stem.size + 24;
    char *text = arena_take(&w->scratch, room);
    if (!text) return no_memory(w);
    for (size_t k = place;; k++) {
        if (stem.size) memcpy(text, stem.data, stem.size);
        text[stem.size] = '_';
        const xir_str name = { text, stem.size + 1 + number_put_u64(text + stem.size + 1, k) };
        const uint32_t *known = text_table_add(&w->names, name, (uint32_t)place);
        if (!known) return no_memory(w);
        w->made[place] = name;
        if (*known == place) return true;
    }
}

/* Names are unique, unless a file said otherwise. */
static bool name_nodes(tsm_writer *w) {
    for (size_t i = 0; i < w->n; i++) {
        const xir_str name = own_name(&w->nodes[i]);
        if (!name.size || keeps_name(&w->nodes[i])) continue;
        const uint32_t *known = text_table_add(&w->names, name, (uint32_t)i);
        if (!known) return no_memory(w);
    }
    for (size_t i = 0; i < w->n; i++) {
        const out_node *n = &w->nodes[i];
        const xir_str name = own_name(n);
        if (keeps_name(n)) continue;
        const uint32_t *first = name.size ? text_table_find(&w->names, name) : NULL;
        const xir_str stem = name.size ? name : n->op ? operator_of(n->op) : XIR_STR("value");
        if ((!first || *first != i) && !make_name(w, i, stem)) return false;
    }
    return true;
}

static xir_str name_of(const tsm_writer *w, size_t place) {
    return w->made[place].size ? w->made[place] : own_name(&w->nodes[place]);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

/* Bytes of whole blocks are combined with the key, at their place in the container. */
static bool put_scrambled(tsm_writer *w, const uint8_t *data, size_t size) {
    enum { ROOM = 4096, BLOCK = 16 };
    uint8_t room[ROOM + BLOCK];
    tsm_sink *s = &w->sink;
    while (size) {
        const size_t before = (size_t)(s->at % BLOCK);
        size_t n = size < ROOM - BLOCK ? size : ROOM - BLOCK;
        if (s->left && n > s->left) n = (size_t)s->left;
        const size_t whole = (before + n + BLOCK - 1) / BLOCK * BLOCK;
        memcpy(room + before, data, n);
        memset(room + before + n, 0, whole - before - n);
        if (s->left) tsm_scramble(room, whole);
        if (!w->how->write(w->how->user, room + before, n)) return false;
        s->at += n;
        s->left -= s->left ? n : 0;
        data += n;
        size -= n;
    }
    return true;
}

static void put_out(tsm_writer *w, const void *data, size_t size) {
    tsm_sink *s = &w->sink;
    if (w->stopped || !size) return;
    if (s->counts) {
        s->size += size;
        if (s->sums) s->sum = tsm_sum(s->sum, data, size);
    } else {
        w->stopped = !(s->scrambles ? put_scrambled(w, data, size) : w->how->write(w->how->user, data, size));
    }
}

static void flush(tsm_writer *w, size_t least) {
    if (w->out.size < least) return;
    put_out(w, w->out.data, w->out.size);
    w->out.size = 0;
}

/* Large elements are passed on where they lie. */
static void put_data(tsm_writer *w, const void *data, size_t size) {
    if (size < FLUSH) {
        buffer_put(&w->out, data, size);
        return;
    }
    flush(w, 1);
    put_out(w, data, size);
}

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
        if (!items) return no_memory(w);
        *dtype = (uint8_t)list->items[0].as.integer;
        ok = *dtype != TSM_PTR && element_code_at(&element_codes_tsm, *dtype);
        for (size_t i = 1; ok && i < list->size; i++) {
            ok = list->items[i].kind == XIR_ANY_INT;
            items[i - 1] = ok ? list->items[i].as.integer : 0;
        }
        *dims = (xir_i64s){ items, list->size - 1 };
    }
    return ok || refuse(w, XIR_E_UNSUPPORTED, "TSM does not have the element type of '%.*s'", CLIP(xir_value_name(v)));
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
        if (data) put_data(w, data->bytes, (size_t)data->size);
        return true;
    }
    for (size_t i = 0; i < dims.size; i++)
        if (dims.data[i] > INT32_MAX)
            return refuse(w, XIR_E_LIMIT, "dim %zu of '%.*s' is %" PRId64 ": TSM has dims of 32 bits", i,
                          CLIP(xir_value_name(v)), dims.data[i]);
    const element_code *e = element_code_at(&element_codes_tsm, dtype);
    const xir_status status = dialect_size(dims.data, dims.size, e->bits, &elements, &bytes);
    if (status) return refuse(w, status, "'%.*s' has too many elements", CLIP(xir_value_name(v)));
    if (bytes && !data)
        return refuse(w, XIR_E_MISSING, "the parameter '%.*s' has no bytes, and TSM has its parameters inside",
                      CLIP(xir_value_name(v)));
    if (data && data->size != bytes)
        return refuse(w, XIR_E_CORRUPT, "the parameter '%.*s' has %" PRIu64 " bytes: expected %" PRIu64,
                      CLIP(xir_value_name(v)), data->size, bytes);
    return !data || (w->status = params_check(v, w->how->why)) == XIR_OK || (w->told = true, false);
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
        if (!more) return no_memory(w);
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

static bool add_attributes(tsm_writer *w, const out_node *n, items *to) {
    const xir_map *extra = n->op->more ? n->op->more->extra : NULL;
    for (size_t i = 0; extra && i < extra->size; i++)
        if (!add_item(w, to, name_of_key(extra->entries[i].key), extra->entries[i].value)) return false;
    return true;
}

static bool is_described(const xir_any *v) {
    return v->kind == XIR_ANY_MAP || (v->kind == XIR_ANY_LIST && v->as.list.size &&
                                      v->as.list.items[0].kind == XIR_ANY_MAP);
}

static bool add_more(tsm_writer *w, const out_node *n, items *to) {
    const xir_any *more = kept(n, "more", XIR_ANY_MAP);
    for (size_t i = 0; more && i < more->as.map.size; i++) {
        const xir_entry *e = &more->as.map.entries[i];
        if (!add_item(w, to, e->key, e->value)) return false;
        if (is_described(&e->value)) to->v[to->n - 1].described = &e->value;
    }
    return true;
}

static bool add_declared(tsm_writer *w, const xir_value *v, items *to) {
    uint8_t dtype;
    if (!v->type) return true;
    if (!xir_type_as_tensor(v->type) || !tsm_code_of(xir_type_element(v->type), &dtype))
        return refuse(w, XIR_E_UNSUPPORTED, "TSM does not have the type of the input '%.*s'", CLIP(xir_value_name(v)));
    const xir_i64s open = xir_type_as_tensor(v->type)->shape;
    xir_any *dims = arena_take(&w->scratch, (open.size + 1) * sizeof *dims);
    if (!dims) return no_memory(w);
    for (size_t i = 0; i < open.size; i++) {
        dims[i] = xir_any_int(open.data[i] < 0 ? -1 : open.data[i]);
        if (open.data[i] > INT32_MAX)
            return refuse(w, XIR_E_LIMIT, "dim %zu of the input '%.*s' does not fit into 32 bits", i,
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

/* As the tag says; what it does not name follows. */
static bool reorder(tsm_writer *w, const out_node *n, items *of) {
    const xir_any *order = kept(n, "order", XIR_ANY_LIST);
    size_t k = 0;
    if (!order) return true;
    item *out = arena_take(&w->scratch, of->n * sizeof *out);
    bool *taken = arena_take(&w->scratch, of->n * sizeof *taken);
    if (!out || !taken) return no_memory(w);
    memset(taken, 0, of->n * sizeof *taken);
    for (size_t i = 0; i < order->as.list.size; i++) {
        const xir_any *name = &order->as.list.items[i];
        const item *found = name->kind == XIR_ANY_TEXT ? find_item(of, name->as.text) : NULL;
        if (!found || taken[found - of->v]) continue;
        taken[found - of->v] = true;
        out[k++] = *found;
    }
    for (size_t i = 0; i < of->n; i++)
        if (!taken[i]) out[k++] = of->v[i];
    of->v = out;
    return true;
}

static bool gather(tsm_writer *w, size_t place, items *to) {
    const out_node *n = &w->nodes[place];
    const bool constant = !n->op && value_is_params(n->value);
    const xir_str op = n->op ? operator_of(n->op) : constant ? XIR_STR("<const>") : XIR_STR("<param>");
    const xir_any *device = constant ? tag_of(n->value, TSM_TAG_DEVICE, XIR_ANY_TEXT) : NULL;
    to->v = to->few;
    to->room = ITEMS_FEW;
    to->n = 0;
    bool ok = add_item(w, to, XIR_STR("#name"), xir_any_text(name_of(w, place))) &&
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
            return refuse(w, XIR_E_EXISTS, "'%.*s' has the parameter '%.*s' twice", CLIP(name_of(w, place)),
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
    if (!(dims = arena_take(&w->scratch, (rank + 1) * sizeof *dims))) return no_memory(w);
    for (size_t i = 0; ok && i <= rank; i++) {
        ok = type->as.list.items[i].kind == XIR_ANY_INT;
        if (ok && i) dims[i - 1] = type->as.list.items[i].as.integer;
    }
    const uint64_t dtype = ok ? (uint64_t)type->as.list.items[0].as.integer : UINT64_MAX;
    const element_code *e = element_code_at(&element_codes_tsm, dtype);
    ok = e && dialect_size(dims, rank, e->bits, &elements, &bytes) == XIR_OK && data->as.text.size == 2 * bytes;
    if (ok) tsm_put_head(&w->out, (uint8_t)dtype, dims, rank);
    ok = ok && tsm_take_digits(data->as.text, &w->out);
    return ok || refuse(w, XIR_E_INVALID, "the tag " TSM_TAG_PARAMS " has a malformed tensor");
}

static bool is_packed(const xir_any *v) {
    if (v->kind != XIR_ANY_LIST || !v->as.list.size) return false;
    for (size_t i = 0; i < v->as.list.size; i++)
        if (v->as.list.items[i].kind != XIR_ANY_PARAMS) return false;
    return true;
}

static bool put_value(tsm_writer *w, size_t place, const item *it, const xir_any *type, bool dry) {
    const xir_any *v = &it->value;
    const xir_list *list = &v->as.list;
    const bool described = it->described && v->kind == XIR_ANY_LIST, packed = !it->described && is_packed(v);
    tsm_put_word(&w->out, v->kind == XIR_ANY_NULL ? 0 : described || packed ? (uint32_t)list->size : 1);
    if (v->kind == XIR_ANY_NULL) return true;
    if (it->described && !described) return put_described(w, v);
    for (size_t i = 0; (described || packed) && i < list->size; i++)
        if (!(packed ? put_params(w, list->items[i].as.params, dry) : put_described(w, &list->items[i]))) return false;
    if (described || packed) return true;
    if (v->kind == XIR_ANY_PARAMS) return put_params(w, v->as.params, dry);
    return tsm_put_plain(&w->out, it->name, v, type) ||
           refuse(w, XIR_E_UNSUPPORTED, "TSM cannot hold the parameter '%.*s' of '%.*s': expected a number, a text, a "
                  "list of numbers or Params", CLIP(it->name), CLIP(name_of(w, place)));
}

static bool put_inputs(tsm_writer *w, const xir_op *op) {
    const uint32_t n = op ? op->n_inputs : 0;
    tsm_put_word(&w->out, n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *place = pointer_table_find(&w->numbers, op->inputs[i].value);
        if (!place)
            return refuse(w, XIR_E_MISSING, "op %" PRId64 " '%.*s': nothing makes input %" PRIu32 " '%.*s'", op->id,
                          CLIP(xir_op_name(op)), i, CLIP(xir_value_name(op->inputs[i].value)));
        tsm_put_word(&w->out, w->number_of[*place]);
    }
    return true;
}

static bool put_node(tsm_writer *w, size_t place, bool dry) {
    const out_node *n = &w->nodes[place];
    const xir_any *types = kept(n, "types", XIR_ANY_MAP);
    items all;
    if (!gather(w, place, &all)) return false;
    tsm_put_word(&w->out, (uint32_t)all.n);
    for (size_t i = 0; i < all.n; i++) {
        const xir_any *type = types ? xir_map_find(&types->as.map, all.v[i].name) : NULL;
        tsm_put_text(&w->out, all.v[i].name);
        if (!put_value(w, place, &all.v[i], type, dry)) return false;
    }
    return put_inputs(w, n->op);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void put_header(tsm_writer *w) {
    const xir_any *tag = xir_map_find(w->net->tags, XIR_STR(TSM_TAG_HEADER));
    const xir_map *map = tag && tag->kind == XIR_ANY_MAP ? &tag->as.map : NULL;
    const xir_any *fake = xir_map_find(map, XIR_STR("fake")), *data = xir_map_find(map, XIR_STR("data"));
    tsm_put_word(&w->out, fake && fake->kind == XIR_ANY_INT ? (uint32_t)fake->as.integer : 0);
    tsm_put_word(&w->out, TSM_CODE);
    const size_t at = w->out.size;
    bool ok = data && data->kind == XIR_ANY_TEXT && data->as.text.size == 2 * (size_t)TSM_USER &&
              tsm_take_digits(data->as.text, &w->out);
    if (ok || w->out.failed) return;
    w->out.size = at;
    for (int i = 0; i < TSM_USER; i++) buffer_char(&w->out, 0);
}

static bool put_ends(tsm_writer *w) {
    const uint32_t n = w->input ? w->input->n_outputs : 0;
    tsm_put_word(&w->out, n);
    for (uint32_t i = 0; i < n; i++)
        tsm_put_word(&w->out, w->number_of[*pointer_table_find(&w->numbers, &w->input->outputs[i])]);
    return put_inputs(w, w->output);
}

/* Once dry, for what is refused, then in the order of the file. */
static bool put_module(tsm_writer *w, bool dry) {
    put_header(w);
    if (!put_ends(w)) return false;
    tsm_put_word(&w->out, (uint32_t)w->n);
    for (size_t i = 0; i < w->n && !w->stopped; i++) {
        if (!put_node(w, w->node_at[i], dry)) return false;
        if (w->out.failed) return no_memory(w);
        if (dry) w->out.size = 0;
        else flush(w, FLUSH);
    }
    if (!dry) flush(w, 1);
    w->out.size = 0;
    return !w->out.failed || no_memory(w);
}

static xir_status report(const tsm_writer *w) {
    if (w->told) return w->status;
    if (w->status == XIR_E_MEMORY) return diag_memory(w->how->why);
    return file_fail(w->how->why, w->status, w->how->path, XIR_NO_BYTE, "%s", w->fault);
}

/* ---- the container ----------------------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *suffix) {
    const size_t n = strlen(path), k = strlen(suffix);
    return n >= k && strcmp(path + n - k, suffix) == 0;
}

/* A file "X.tsm" is a module, "X.csta" a container; other outputs are what the network was read from. */
static bool wants_container(const tsm_writer *w, const xir_any *tag) {
    return ends_in(w->how->path, ".csta") || (tag && !ends_in(w->how->path, ".tsm"));
}

static const xir_any *tag_item(const xir_any *tag, const char *name, xir_any_kind kind) {
    const xir_any *found = tag ? xir_map_find(&tag->as.map, xir_str_of(name)) : NULL;
    return found && found->kind == kind ? found : NULL;
}

/* What precedes the module and what follows it; the module may be in the file that the container names. */
static bool put_container(tsm_writer *w, const xir_any *tag) {
    const xir_any *tree = tag ? xir_map_find(&tag->as.map, XIR_STR("tree")) : NULL;
    const xir_any *file = tag_item(tag, "file", XIR_ANY_TEXT), *sum = tag_item(tag, "sum", XIR_ANY_INT);
    const xir_any *scrambled = tag_item(tag, "scrambled", XIR_ANY_BOOL);
    tsm_tree t = { .module_at = 0 };
    buffer_init(&t.out, w->alloc);
    w->sink = (tsm_sink){ .counts = true, .sums = file && sum };
    bool ok = put_module(w, false);
    const bool inside = !(w->sink.sums && (int64_t)(w->sink.sum >> 2) == sum->as.integer);
    const uint64_t size = w->sink.size;
    if (ok && inside && size > UINT32_MAX)
        ok = refuse(w, XIR_E_LIMIT, "the module has %" PRIu64 " bytes: a container holds less than 2^32", size);
    if (ok && !tsm_tree_make(&t, tree))
        ok = t.out.failed ? no_memory(w) : refuse(w, XIR_E_INVALID, "the tag " TSM_TAG_CSTA " is not a container");
    const size_t before = t.module_at, after = t.out.size;
    if (ok) tsm_tree_module(&t.out, inside, size, inside ? XIR_STR("") : file->as.text);
    if (ok && t.out.failed) ok = no_memory(w);
    const uint64_t all = t.out.size + (inside ? size : 0);
    w->sink = (tsm_sink){ .scrambles = scrambled && scrambled->as.boolean && !w->how->plain && all >= 16,
                          .left = all - all % 16 };
    if (ok && w->sink.scrambles) w->stopped = !w->how->write(w->how->user, "fast", 4);
    if (ok) {
        put_out(w, t.out.data, before);
        put_out(w, t.out.data + after, t.out.size - after);
        ok = !inside || put_module(w, false);
        put_out(w, t.out.data + before, after - before);
    }
    buffer_free(&t.out);
    return ok;
}

static bool put_file(tsm_writer *w) {
    const xir_any *tag = xir_map_find(w->net->tags, XIR_STR(TSM_TAG_CSTA));
    if (tag && tag->kind != XIR_ANY_MAP) tag = NULL;
    if (!put_module(w, true)) return false;
    return wants_container(w, tag) ? put_container(w, tag) : put_module(w, false);
}

xir_status tsm_write(xir_network *net, const format_writing *how) {
    tsm_writer w = { .net = net, .how = how, .alloc = &net->ctx->alloc };
    arena_init(&w.scratch, w.alloc);
    pointer_table_init(&w.numbers, w.alloc);
    text_table_init(&w.names, w.alloc);
    buffer_init(&w.out, w.alloc);
    bool ok = list_nodes(&w) && number_nodes(&w) && name_nodes(&w) && put_file(&w);
    const xir_status status = !ok ? report(&w) : w.stopped ? XIR_E_IO : XIR_OK;
    mem_free(w.alloc, w.nodes, w.room * sizeof *w.nodes);
    buffer_free(&w.out);
    text_table_free(&w.names);
    pointer_table_free(&w.numbers);
    arena_free(&w.scratch);
    return status;
}

/* Ops: asking one, and changing one. A change either happens or leaves the op as it was, with a finding in its network. */
#include <inttypes.h>
#include <stdlib.h>
#include "graph.h"

static xir_status no_memory(xir_network *net) { return net_fail(net, XIR_E_MEMORY, "out of memory"); }

/* ---- asking ------------------------------------------------------------------------------------------------ */

xir_network      *xir_op_network(const xir_op *op) { return op->net; }
const xir_class  *xir_op_class(const xir_op *op)   { return op->cls; }
bool              xir_op_is(const xir_op *op, const xir_class_decl *decl) { return xir_op_body(op, decl) != NULL; }
bool              xir_op_is_activation(const xir_op *op) { return op->cls->traits & XIR_TRAIT_ACTIVATION; }
int64_t           xir_op_id(const xir_op *op)      { return op->id; }
xir_str           xir_op_name(const xir_op *op)    { return name_text(op->name); }
const xir_target *xir_op_target(const xir_op *op)  { return op->target; }
xir_op           *xir_op_parent(const xir_op *op)  { return op->flags & OP_CHILD ? op->more->parent : NULL; }
bool              xir_op_is_placed(const xir_op *op) { return op->flags & OP_PLACED; }
uint32_t          xir_op_slot(const xir_op *op)    { return op->slot; }
xir_op           *xir_op_next(const xir_op *op)    { return op->next; }
xir_op           *xir_op_prev(const xir_op *op)    { return op->prev; }
bool              xir_op_before(const xir_op *a, const xir_op *b) { return a->position < b->position; }

static bool resolve(int64_t i, uint32_t n, uint32_t *out) {
    if (i < 0) i += n;
    if (i < 0 || i >= (int64_t)n) return false;
    *out = (uint32_t)i;
    return true;
}

size_t xir_op_input_count(const xir_op *op) { return op->n_inputs; }

xir_value *xir_op_input(const xir_op *op, int64_t i) {
    uint32_t at;
    return resolve(i, op->n_inputs, &at) ? op->inputs[at].value : NULL;
}

xir_value *xir_op_input_named(const xir_op *op, xir_str port) {
    for (uint32_t i = 0; i < op->cls->n_inputs && i < op->n_inputs; i++) {
        if (xir_str_equal(op->cls->inputs[i].name, port)) return op->inputs[i].value;
    }
    return NULL;
}

size_t xir_op_input_index(const xir_op *op, const xir_value *value, size_t *out, size_t room) {
    size_t n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i].value != value) continue;
        if (n < room) out[n] = i;
        n++;
    }
    return n;
}

size_t xir_op_output_count(const xir_op *op) { return op->n_outputs; }

xir_value *xir_op_output(const xir_op *op, int64_t i) {
    uint32_t at;
    return op && resolve(i, op->n_outputs, &at) ? &op->outputs[at] : NULL;
}

/* Adds an op to a list that has each once. Neighbours are few: the list itself is searched while it is short, and the op's
 * earlier edges when it is not, so that a wide op costs its edges and not their square. */
typedef struct neighbours { xir_op **out; size_t room, n; } neighbours;

static void add_neighbour(neighbours *list, xir_op *op) {
    if (list->n < list->room) list->out[list->n] = op;
    list->n++;
}

static int by_position(const void *a, const void *b) {
    uint32_t x = (*(xir_op *const *)a)->position, y = (*(xir_op *const *)b)->position;
    return (x > y) - (x < y);
}

static size_t finish(neighbours *list, bool sorted) {
    if (sorted && list->n <= list->room) qsort(list->out, list->n, sizeof *list->out, by_position);
    return list->n;
}

static bool listed_before(const xir_op *op, uint32_t end, const xir_op *producer) {
    for (uint32_t i = 0; i < end; i++) {
        const xir_value *v = op->inputs[i].value;
        if (v && v->producer == producer) return true;
    }
    return false;
}

size_t xir_op_producers(const xir_op *op, bool sorted, xir_op **out, size_t room) {
    neighbours list = { out, room, 0 };
    uint8_t *seen = NULL;
    size_t bytes = (size_t)op->net->n_slots / 8 + 1;
    if (op->n_inputs > 16) seen = mem_new(&op->net->alloc, bytes);
    if (seen) memset(seen, 0, bytes);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op->inputs[i].value;
        xir_op *p = v ? v->producer : NULL;
        if (!p) continue;
        if (seen) {
            if (seen[p->slot / 8] >> (p->slot % 8) & 1) continue;
            seen[p->slot / 8] |= (uint8_t)(1u << (p->slot % 8));
        } else if (listed_before(op, i, p)) {
            continue;
        }
        add_neighbour(&list, p);
    }
    if (seen) mem_free(&op->net->alloc, seen, bytes);
    return finish(&list, sorted);
}

/* A use is the first of its user if no earlier position of the user has one of these outputs. */
static bool first_use(const xir_op *op, const xir_use *use) {
    const xir_op *user = use->user;
    for (const xir_use *u = user->inputs; u < use; u++) {
        if (u->value && u->value->producer == op) return false;
    }
    return true;
}

size_t xir_op_consumers(const xir_op *op, bool sorted, xir_op **out, size_t room) {
    neighbours list = { out, room, 0 };
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *u = op->outputs[i].uses; u; u = u->next) {
            if (first_use(op, u)) add_neighbour(&list, u->user);
        }
    }
    return finish(&list, sorted);
}

size_t xir_op_params_inputs(const xir_op *op, xir_value **out, size_t room) {
    size_t n = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_value *v = op->inputs[i].value;
        if (!v || !value_is_params(v)) continue;
        if (n < room) out[n] = v;
        n++;
    }
    return n;
}

typedef struct gathering { xir_value **out; size_t room, n; } gathering;

static bool gather(void *user, xir_value *v) {
    gathering *g = user;
    if (g->n < g->room) g->out[g->n] = v;
    g->n++;
    return true;
}

size_t xir_op_params_attrs(const xir_op *op, xir_value **out, size_t room) {
    gathering g = { out, room, 0 };
    op_walk_attr_params(op, gather, &g);
    return g.n;
}

/* ---- name, id, target, tags -------------------------------------------------------------------------------- */

xir_status xir_op_set_name(xir_op *op, xir_str text) {
    const label *n = net_name(op->net, text);
    if (!n) return no_memory(op->net);
    op->name = n;
    op->net->epoch++;
    return XIR_OK;
}

xir_status xir_op_set_id(xir_op *op, int64_t id) {
    xir_network *net = op->net;
    if (id < 0) return net_fail(net, XIR_E_BOUNDS, "op id %" PRId64 " is below 0", id);
    if (id < net->next_op_id && !net_build_ids(net)) return no_memory(net);
    const xir_op *other = id < net->next_op_id ? net_find_op(net, id) : NULL;
    if (other && other != op) return net_fail(net, XIR_E_EXISTS, "op id %" PRId64 " is taken", id);
    if (!op_is_in(op)) {
        op->id = id;   /* entered into the table when it is placed */
        if (id >= net->next_op_id && id < INT64_MAX) net->next_op_id = id + 1;
        return XIR_OK;
    }
    if (!op_set_id(op, id)) return no_memory(net);
    net->epoch++;
    return XIR_OK;
}

xir_status xir_op_set_target(xir_op *op, const xir_target *target) {
    xir_network *net = op->net;
    const xir_target *own = target ? (const xir_target *)net_intern(net, (const xir_object *)target) : net->host;
    if (!own) return no_memory(net);
    op->target = own;
    net->epoch++;
    return XIR_OK;
}

const xir_map *xir_op_tags(const xir_op *op)  { return op->more ? op->more->tags : NULL; }
const xir_map *xir_op_extra(const xir_op *op) { return op->more ? op->more->extra : NULL; }

xir_status xir_op_set_tag(xir_op *op, xir_str key, const xir_any *value) {
    const xir_map *tags = NULL;
    op_more *more = op_need_more(op);
    if (!more || !map_with(&op->net->arena, more->tags, key, value, &tags)) return no_memory(op->net);
    more->tags = tags;
    op->net->epoch++;
    return XIR_OK;
}

/* ---- attributes -------------------------------------------------------------------------------------------- */

const void *xir_op_body(const xir_op *op, const xir_class_decl *decl) {
    return op && op->cls->decl == decl ? op->attrs : NULL;
}

static xir_status check_child(const xir_op *op, xir_op *child) {
    bool good = child && child->net == op->net && !(child->flags & (OP_PLACED | OP_ERASED)) &&
                (!(child->flags & OP_CHILD) || xir_op_parent(child) == op);
    for (const xir_op *up = op; good && up; up = xir_op_parent(up)) good = up != child;   /* nor the op itself */
    if (!good) return net_fail(op->net, XIR_E_INVALID, "a sub op must be an unplaced op of the same network");
    return op_need_more(child) ? XIR_OK : no_memory(op->net);
}

xir_status op_adopt_children(xir_op *op, const void *attrs) {
    for (int adopt = 0; adopt < 2; adopt++) {   /* first all are looked at */
        for (uint32_t i = 0; i < op->cls->n_fields; i++) {
            const xir_field *f = &op->cls->fields[i];
            if (f->kind != XIR_KIND_OPS) continue;
            const xir_ops *children = body_at(attrs, f);
            for (size_t j = 0; j < children->size; j++) {
                xir_op *child = children->data[j];
                xir_status status = adopt ? XIR_OK : check_child(op, child);
                if (status) return status;
                if (!adopt) continue;
                child->more->parent = op;
                child->flags |= OP_CHILD;
            }
        }
    }
    return XIR_OK;
}

static void flag_children(const xir_op *op, const void *attrs, bool child, bool forget_strangers) {
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(attrs, f);
        for (size_t j = 0; j < children->size; j++) {
            xir_op *c = children->data[j];
            if (forget_strangers && !(c->flags & OP_CHILD)) {
                ids_forget_op(c);
                op_drop_uses(c);
                op_forget(c);
            } else if (!forget_strangers) {
                c->flags = child ? c->flags | OP_CHILD : c->flags & ~(uint32_t)OP_CHILD;
            }
        }
    }
}

/* Sub ops of the old attributes that the new ones do not have are erased. */
static void forget_old_children(const xir_op *op, const void *old, const void *now) {
    if (op->cls->plain || old == now) return;
    flag_children(op, old, false, false);
    flag_children(op, now, true, false);
    flag_children(op, old, false, true);
}

static xir_status set_body(xir_op *op, const void *attrs, bool round) {
    xir_network *net = op->net;
    size_t before = xir_diags_count(net->diags);
    const void *own = net_checked_attrs(net, op->cls, attrs, round, name_text(op->name));
    if (!own) {
        const xir_diag *d = xir_diags_at(net->diags, before);
        return d ? d->code : XIR_E_MEMORY;
    }
    xir_status status = op_adopt_children(op, own);
    if (status) return status;
    const void *old = op->attrs;
    op->attrs = own;
    if (op_is_in(op)) {
        if ((status = op_reserve_ids(op))) {
            op->attrs = old;
            flag_children(op, own, false, false);
            flag_children(op, old, true, false);
            return status;
        }
        op_number_attrs(op);
    }
    if (op->more) op->more->absent = 0;
    forget_old_children(op, old, own);
    net->epoch++;
    return XIR_OK;
}

xir_status xir_op_set_body(xir_op *op, const xir_class_decl *decl, const void *attrs) {
    if (op->cls->decl == decl) return set_body(op, attrs, true);
    return net_fail(op->net, XIR_E_TYPE, "attributes of %s were given for a %.*s", decl->rows->name, (int)op->cls->key.size,
                    op->cls->key.data);
}

xir_status xir_op_get(const xir_op *op, xir_str attr, xir_attr *out) {
    const xir_field *f = xir_class_field(op->cls, attr);
    if (!f) return XIR_E_UNKNOWN;
    body_get(f, op->attrs, out);
    return XIR_OK;
}

bool xir_op_has(const xir_op *op, xir_str attr) {
    return xir_class_field(op->cls, attr) || (op->more && xir_map_get(op->more->extra, attr));
}

xir_status xir_op_set(xir_op *op, xir_str attr, const xir_attr *value) {
    xir_network *net = op->net;
    const xir_field *f = xir_class_field(op->cls, attr);
    if (!f) {
        xir_str near = class_suggest(op->cls, attr);
        return net_fail(net, XIR_E_UNKNOWN, "%.*s has no attribute '%.*s'%s%.*s%s", (int)op->cls->key.size, op->cls->key.data,
                        (int)attr.size, attr.data, near.size ? "; did you mean '" : "", (int)near.size,
                        near.size ? near.data : "", near.size ? "'?" : "");
    }
    _Alignas(16) char space[512];
    char *body = op->cls->body_size <= sizeof space ? space : mem_new(&net->alloc, op->cls->body_size);
    if (!body) return no_memory(net);
    memcpy(body, op->attrs, op->cls->body_size);
    xir_status status = body_set(op->cls, f, body, value, net->diags);
    if (status && !net->status) net->status = status;
    if (!status && !field_round(&net->arena, f, body)) status = no_memory(net);
    uint64_t absent = op->more ? op->more->absent : 0;
    /* The other reals stay as they are: a network of an older version holds doubles. */
    if (!status) status = set_body(op, body, false);
    /* Only the attribute that was set is now written for certain. */
    size_t i = (size_t)(f - op->cls->fields);
    if (!status && op->more && i < 64) op->more->absent = absent & ~((uint64_t)1 << i);
    if (body != space) mem_free(&net->alloc, body, op->cls->body_size);
    return status;
}

xir_status xir_op_set_i64(xir_op *op, const char *attr, int64_t v) {
    return xir_op_set(op, xir_str_of(attr), &(xir_attr){ .kind = XIR_KIND_I64, .as.i64 = v });
}
xir_status xir_op_set_bool(xir_op *op, const char *attr, bool v) {
    return xir_op_set(op, xir_str_of(attr), &(xir_attr){ .kind = XIR_KIND_BOOL, .as.boolean = v });
}
xir_status xir_op_set_real(xir_op *op, const char *attr, double v) {
    return xir_op_set(op, xir_str_of(attr), &(xir_attr){ .kind = XIR_KIND_REAL, .as.real = v });
}
xir_status xir_op_set_text(xir_op *op, const char *attr, const char *v) {
    return xir_op_set(op, xir_str_of(attr), &(xir_attr){ .kind = XIR_KIND_TEXT, .as.text = xir_str_of(v) });
}
xir_status xir_op_set_i64s(xir_op *op, const char *attr, const int64_t *v, size_t n) {
    return xir_op_set(op, xir_str_of(attr), &(xir_attr){ .kind = XIR_KIND_I64S, .as.i64s = { v, n } });
}

xir_status xir_op_set_extra(xir_op *op, xir_str attr, const xir_any *value) {
    xir_network *net = op->net;
    if (class_find_key(op->cls, attr, UINT32_MAX)) {
        return net_fail(net, XIR_E_EXISTS, "%.*s declares '%.*s': set it as an attribute", (int)op->cls->key.size,
                        op->cls->key.data, (int)attr.size, attr.data);
    }
    xir_status status = value ? any_check_params(net, value) : XIR_OK;
    if (status) return status;
    const xir_map *extra = NULL;
    op_more *more = op_need_more(op);
    if (!more || !map_with(&net->arena, more->extra, attr, value, &extra)) return no_memory(net);
    const xir_map *old = more->extra;
    more->extra = extra;
    if (op_is_in(op)) {
        if ((status = op_reserve_ids(op))) {
            more->extra = old;
            return status;
        }
        op_number_attrs(op);
    }
    net->epoch++;
    return XIR_OK;
}

/* ---- inputs ------------------------------------------------------------------------------------------------ */

static xir_status check_value(xir_op *op, const xir_value *v) {
    if (!v || value_net(v) == op->net) return XIR_OK;
    return net_fail(op->net, XIR_E_INVALID, "the value belongs to another network");
}

static xir_status past_end(xir_op *op, size_t i) {
    return net_fail(op->net, XIR_E_BOUNDS, "input %zu of an op that has %" PRIu32, i, op->n_inputs);
}

/* A Params that a placed op starts to use gets its id. */
static xir_status number_input(xir_op *op, xir_value *v) {
    if (!v || v->id >= 0 || !value_is_params(v) || !op_is_in(op)) return XIR_OK;
    return value_number(v);
}

/* Makes room for `n` inputs; uses that move keep their place in the lists of their values. */
static bool reserve_inputs(xir_op *op, size_t n) {
    if (n <= op->input_room) return true;
    if (n > UINT32_MAX / sizeof(xir_use)) return false;
    size_t room = op->input_room < 4 ? 4 : (size_t)op->input_room * 2;
    if (room < n) room = n;
    xir_use *uses = arena_take(&op->net->arena, room * sizeof *uses);
    if (!uses) return false;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        uses[i] = op->inputs[i];
        if (!uses[i].value) continue;
        *uses[i].link = &uses[i];
        if (uses[i].next) uses[i].next->link = &uses[i].next;
    }
    op->inputs = uses;
    op->input_room = (uint32_t)room;
    return true;
}

/* Moves a use within the op, links and all. */
static void move_use(xir_use *to, xir_use *from) {
    *to = *from;
    if (!to->value) return;
    *to->link = to;
    if (to->next) to->next->link = &to->next;
}

xir_status xir_op_set_input(xir_op *op, size_t i, xir_value *v) {
    if (i >= op->n_inputs) return past_end(op, i);
    xir_status status = check_value(op, v);
    if (!status) status = number_input(op, v);
    if (status) return status;
    use_unlink(&op->inputs[i]);
    use_link(&op->inputs[i], op, v);
    op->net->epoch++;
    return XIR_OK;
}

xir_status xir_op_insert_input(xir_op *op, size_t i, xir_value *v) {
    if (i > op->n_inputs) return past_end(op, i);
    xir_status status = check_value(op, v);
    if (!status && !reserve_inputs(op, (size_t)op->n_inputs + 1)) status = no_memory(op->net);
    if (!status) status = number_input(op, v);
    if (status) return status;
    for (size_t j = op->n_inputs; j > i; j--) move_use(&op->inputs[j], &op->inputs[j - 1]);
    op->n_inputs++;
    use_link(&op->inputs[i], op, v);
    op->net->epoch++;
    return XIR_OK;
}

xir_status xir_op_add_input(xir_op *op, xir_value *v) { return xir_op_insert_input(op, op->n_inputs, v); }

xir_status xir_op_set_inputs(xir_op *op, xir_value *const *values, size_t n) {
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) status = check_value(op, values[i]);
    if (status) return status;
    if (!reserve_inputs(op, n) || !net_reserve_ids(op->net, 0, n)) return no_memory(op->net);
    for (size_t i = 0; i < n && !status; i++) status = number_input(op, values[i]);
    if (status) return status;
    xir_op_clear_inputs(op);
    op->n_inputs = (uint32_t)n;
    for (size_t i = 0; i < n; i++) use_link(&op->inputs[i], op, values[i]);
    return XIR_OK;
}

xir_status xir_op_replace_input(xir_op *op, xir_value *old, xir_value *now) {
    xir_status status = check_value(op, now);
    if (!status) status = number_input(op, now);
    if (status) return status;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        if (op->inputs[i].value != old) continue;
        use_unlink(&op->inputs[i]);
        use_link(&op->inputs[i], op, now);
    }
    op->net->epoch++;
    return XIR_OK;
}

/* Takes out the inputs that `id` names, or position `at`; the later ones move up, each once. */
static void take_out(xir_op *op, size_t at, bool by_id, int64_t id) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_use *u = &op->inputs[i];
        bool out = by_id ? u->value && u->value->id == id : i == at;
        if (out) use_unlink(u);
        else {
            if (kept != i) move_use(&op->inputs[kept], u);
            kept++;
        }
    }
    op->n_inputs = kept;
    op->net->epoch++;
}

xir_status xir_op_remove_input(xir_op *op, size_t i) {
    if (i >= op->n_inputs) return past_end(op, i);
    take_out(op, i, false, 0);
    return XIR_OK;
}

xir_status xir_op_remove_input_id(xir_op *op, int64_t v_id) {
    uint32_t before = op->n_inputs;
    take_out(op, 0, true, v_id);
    if (op->n_inputs < before) return XIR_OK;
    return net_fail(op->net, XIR_E_MISSING, "value %" PRId64 " is no input of op %" PRId64, v_id, op->id);
}

void xir_op_clear_inputs(xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) use_unlink(&op->inputs[i]);
    op->n_inputs = 0;
    op->net->epoch++;
}

/* ---- outputs and inference --------------------------------------------------------------------------------- */

xir_status xir_op_set_outputs(xir_op *op, const xir_type *const *types, size_t n) {
    xir_network *net = op->net;
    for (size_t i = n; i < op->n_outputs; i++) {
        if (!op->outputs[i].uses) continue;
        return net_fail(net, XIR_E_IN_USE, "output %zu of op %" PRId64 " is used by op %" PRId64, i, op->id,
                        op->outputs[i].uses->user->id);
    }
    if (n > UINT32_MAX / sizeof(xir_value)) return net_fail(net, XIR_E_LIMIT, "%zu outputs are too many", n);
    if ((int64_t)n > INT64_MAX - net->next_value_id) return net_fail(net, XIR_E_LIMIT, "there are no ids left");
    const xir_type **own = mem_new(&net->alloc, (n + 1) * sizeof *own);
    if (!own) return no_memory(net);
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) {
        own[i] = net_type(net, types[i]);
        if (types[i] && !own[i]) status = no_memory(net);
    }
    xir_value *values = op->outputs;
    if (!status && n > op->n_outputs) {
        values = arena_take(&net->arena, n * sizeof *values);
        if (!values || !net_reserve_ids(net, 0, n)) status = no_memory(net);
    }
    if (!status) {
        bool in = op_is_in(op);
        if (in) ids_forget_op(op);
        uint32_t kept = op->n_outputs < n ? op->n_outputs : (uint32_t)n;
        for (uint32_t i = 0; values != op->outputs && i < kept; i++) {
            /* The value moves: its uses must say so. */
            values[i] = op->outputs[i];
            if (values[i].uses) values[i].uses->link = &values[i].uses;
            for (xir_use *u = values[i].uses; u; u = u->next) u->value = &values[i];
        }
        for (size_t i = kept; i < n; i++) values[i] = (xir_value){ .id = net->next_temp_id--, .producer = op };
        for (size_t i = 0; i < n; i++) values[i].type = own[i];
        op->outputs = values;
        op->n_outputs = (uint32_t)n;
        if (in) {
            op_set_id(op, op->id);
            for (size_t i = 0; i < n; i++) value_set_id(&values[i], values[i].id < 0 ? net->next_value_id : values[i].id);
        }
        net->epoch++;
    }
    mem_free(&net->alloc, (void *)own, (n + 1) * sizeof *own);
    return status;
}

xir_status op_infer(xir_op *op, bool override, xir_str path, xir_diags *why) {
    xir_infer at;
    infer_start(&at, op->net, op->cls, op->attrs, op->target, NULL, op->n_inputs, name_text(op->name), why);
    at.op = op;
    at.path = path;
    infer_memo memo = { .cls = op->cls, .attrs = op->attrs, .target = op->target };
    for (uint32_t i = 0; i < op->n_inputs && i < INFER_INPUTS; i++) memo.in[i] = xir_infer_input(&at, i);
    bool known = op->n_inputs <= INFER_INPUTS && infer_recall(op->net, &memo);
    xir_status status = XIR_OK;
    if (known) {
        at.out[0] = memo.out;
        at.n_out = 1;
    } else {
        status = infer_run(&at);
        if (!status) infer_remember(&at, op->net, &memo);
    }
    if (!status) {
        bool same = op->n_outputs == at.n_out;
        if (!override && op->n_outputs) {
            for (uint32_t i = 0; i < op->n_outputs && i < at.n_out; i++) at.out[i] = op->outputs[i].type;
            if (op->n_outputs > at.n_out) at.n_out = op->n_outputs;
        }
        for (uint32_t i = 0; same && i < op->n_outputs; i++) same = xir_type_equal(op->outputs[i].type, at.out[i]);
        if (!same && (override || at.n_out > op->n_outputs)) status = xir_op_set_outputs(op, at.out, at.n_out);
    }
    infer_end(&at);
    return status;
}

bool xir_op_can_infer(const xir_op *op) {
    return op->cls->infer[XIR_TARGET_HOST] || op->cls->infer[xir_target_kind_of(op->target)];
}

xir_status xir_op_infer(xir_op *op, bool override) {
    xir_network *net = op->net;
    if (!op->cls->infer[XIR_TARGET_HOST] && !op->cls->infer[xir_target_kind_of(op->target)]) {
        return net_fail(net, XIR_E_UNKNOWN, "%.*s has no type inference", (int)op->cls->key.size, op->cls->key.data);
    }
    xir_status status = op_infer(op, override, XIR_STR(""), net->diags);
    if (status && !net->status) net->status = status;
    return status;
}

/* ---- erasing ----------------------------------------------------------------------------------------------- */

/* An op that leaves takes its sub ops along: what they read may leave too. */
void op_forget(xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) use_unlink(&op->inputs[i]);
    op->flags |= OP_ERASED;
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(op->attrs, f);
        for (size_t j = 0; j < children->size; j++) {
            ids_forget_op(children->data[j]);
            op_forget(children->data[j]);
        }
    }
}

/* A use of the op's outputs, or of its sub ops', by an op that stays. */
typedef struct obstacle { const xir_op *leaving; const xir_use *use; } obstacle;

static bool no_obstacle(void *user, xir_op *op) {
    obstacle *o = user;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        for (const xir_use *u = op->outputs[i].uses; u; u = u->next) {
            const xir_op *up = u->user;
            while (up && up != o->leaving) up = xir_op_parent(up);
            if (up) continue;
            o->use = u;
            return false;
        }
    }
    return op_each_child(op, no_obstacle, o);
}

xir_status xir_op_erase(xir_op *op) {
    xir_network *net = op->net;
    obstacle o = { op, NULL };
    if (!no_obstacle(&o, op)) {
        const xir_value *v = o.use->value;
        const xir_op *user = o.use->user;
        return net_fail(net, XIR_E_IN_USE, "output %zu of op %" PRId64 " is used by op %" PRId64 " '%.*s'", xir_value_index(v),
                        v->producer->id, user->id, (int)user->name->size, user->name->bytes);
    }
    if (op->flags & OP_CHILD) return net_fail(net, XIR_E_IN_USE, "op %" PRId64 " is a sub op: change its parent", op->id);
    if (op->flags & OP_PLACED) {
        ids_forget_op(op);
        op_unlink(op);
    }
    op_forget(op);
    net->epoch++;
    return XIR_OK;
}

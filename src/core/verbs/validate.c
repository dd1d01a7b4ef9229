/* The whole check. It only reads, adds every finding, and checks shared things (attributes, types) once: two small
 * memos remember what is valid. The place of a finding ("/ops/17") is only made if there is a finding. */
#include <inttypes.h>
#include <stdio.h>
#include "graph.h"
#include "legal.h"

enum { FEW = 256, MANY = 1024 };   /* sizes of a memo: for a small network and for a large one */

/* The ids met so far: one bit each if ids are dense, as they are in files; otherwise the tables are used. */
typedef struct id_set {
    uint64_t *bits;
    uint64_t  room;    /* ids below this have a bit */
    int64_t   highest;
} id_set;

typedef struct checker {
    const xir_network *net;
    object_pool        pool;            /* what rules make: a validated network may be read by others  */
    size_t             memo;            /* items of the next two, a power of two                       */
    const void       **good;            /* attributes, types and their parts without faults of their own */
    /* questions to which a class's own rule has answered XIR_OK; NULL: not remembered */
    infer_memo        *ruled;
    id_set             op_ids, value_ids;
} checker;

static bool is_good(const checker *c, const void *p) {
    uintptr_t bits = (uintptr_t)p >> 3;
    return c->good[(bits ^ (bits >> 9)) & (c->memo - 1)] == p;
}

static void note_good(checker *c, const void *p) {
    uintptr_t bits = (uintptr_t)p >> 3;
    c->good[(bits ^ (bits >> 9)) & (c->memo - 1)] = p;
}

/* A place under a path: "path/inputs/1". */
typedef struct place { char text[160]; } place;
static xir_str under(place *p, xir_str path, const char *format, size_t i) {
    int n = snprintf(p->text, sizeof p->text, "%.*s", (int)path.size, path.data ? path.data : "");
    if (n >= 0 && (size_t)n < sizeof p->text) n += snprintf(p->text + n, sizeof p->text - (size_t)n, format, i);
    return (xir_str){ p->text, n < 0 ? 0 : (size_t)n < sizeof p->text ? (size_t)n : sizeof p->text - 1 };
}

static xir_str under_field(place *p, xir_str path, xir_str field) {
    int n = snprintf(p->text, sizeof p->text, "%.*s/%.*s", (int)path.size, path.data ? path.data : "", (int)field.size,
                     field.data);
    return (xir_str){ p->text, n < 0 ? 0 : (size_t)n < sizeof p->text ? (size_t)n : sizeof p->text - 1 };
}

static void keep_first(xir_status *first, xir_status status) {
    if (!*first) *first = status;
}

/* ---- types ------------------------------------------------------------------------------------------------- */

static xir_status check_object(checker *c, const xir_object *object, xir_str path, xir_diags *why);

/* Checks a part of an object: many objects share element types and layouts. */
static xir_status check_part(checker *c, const xir_object *part, xir_str path, xir_diags *why) {
    if (!part || is_good(c, part)) return XIR_OK;
    xir_status status = check_object(c, part, path, why);
    if (!status) note_good(c, part);
    return status;
}

/* Checks bounds, references and the class's rule, for an object and everything it refers to. Readers limit how deep
 * objects nest. */
static xir_status check_object(checker *c, const xir_object *object, xir_str path, xir_diags *why) {
    if (object->cls->opaque) return XIR_OK;
    xir_status first = body_check(object->cls, object, XIR_STR(""), path, why);
    xir_infer at = { .ctx = c->net->ctx, .cls = object->cls, .attrs = object, .why = why, .path = path };
    if (!first) keep_first(&first, rule_check(&at));
    for (uint32_t i = 0; i < object->cls->n_fields; i++) {
        const xir_field *f = &object->cls->fields[i];
        if (f->kind == XIR_KIND_REF) {
            keep_first(&first, check_part(c, *(const xir_object *const *)body_at(object, f), path, why));
        } else if (f->kind == XIR_KIND_REFS) {
            const xir_refs *parts = body_at(object, f);
            for (size_t j = 0; j < parts->size; j++) keep_first(&first, check_part(c, parts->data[j], path, why));
        }
    }
    return first;
}

static bool is_integer(const xir_type *type) { return xir_type_kind_of(type) == XIR_TYPE_INTEGER; }

/* Arrays of ratios have one item per element of their axis if the storage is integer (since 3.8 of the original). */
static xir_status check_ratios(const xir_type *type, xir_str path, xir_diags *why) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    if (!ratios || !is_integer(xir_type_storage(type))) return XIR_OK;
    size_t rank = xir_type_rank(type), n = xir_norm_ratios_count(ratios);
    int64_t axis = xir_norm_ratios_axis(ratios);
    if (rank == 0 && n == 1) return XIR_OK;   /* one element, one ratio */
    if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
        return diag_fail(why, XIR_E_BOUNDS, path, "the norm ratios are along axis %" PRId64 ", the rank is %zu",
                         axis, rank);
    }
    int64_t dim = xir_type_dim(type, axis, true);
    if (dim < 0 || (uint64_t)dim == n) return XIR_OK;
    return diag_fail(why, XIR_E_INVALID, path, "axis %" PRId64 " has %" PRId64 " elements and %zu norm ratios",
                     axis, dim, n);
}

static xir_status check_type_itself(checker *c, const xir_type *type, xir_str path, xir_diags *why) {
    xir_status first = check_object(c, (const xir_object *)type, path, why);
    if (!first && xir_type_kind_of(type) == XIR_TYPE_TENSOR) first = check_ratios(type, path, why);
    if (!first) note_good(c, type);
    return first;
}

static inline xir_status check_type(checker *c, const xir_type *type, xir_str path, xir_diags *why) {
    return is_good(c, type) ? XIR_OK : check_type_itself(c, type, path, why);
}

/* ---- ops --------------------------------------------------------------------------------------------------- */

/* Returns true for an op of a dialect: it is unknown how many inputs it needs, and which of them. */
static bool is_foreign(const xir_class *cls) {
    static const char own[] = "icraft::";
    return cls->opaque && (cls->key.size < sizeof own - 1 || memcmp(cls->key.data, own, sizeof own - 1) != 0);
}

/* A value, for a sentence: its id, and its name if it has one. */
typedef struct value_words { char text[120]; } value_words;
static value_words value_called(const xir_value *v) {
    value_words w;
    xir_str called = xir_value_name(v);
    int n = text_clip(called, 80);
    if (n) snprintf(w.text, sizeof w.text, "value %" PRId64 " '%.*s'", v->id, n, called.data);
    else snprintf(w.text, sizeof w.text, "value %" PRId64, v->id);
    return w;
}

static xir_status check_inputs(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    const xir_class *cls = op->cls;
    xir_status first = XIR_OK;
    place p;
    if (op->n_inputs < cls->more->least_inputs) {
        keep_first(&first, diag_fail(why, XIR_E_MISSING, under(&p, path, "/inputs", 0),
                                     "%.*s needs %" PRIu32 " inputs, found %" PRIu32, (int)cls->key.size, cls->key.data,
                                     cls->more->least_inputs, op->n_inputs));
    }
    if (!cls->many_inputs && op->n_inputs > cls->more->n_inputs) {
        keep_first(&first, diag_fail(why, XIR_E_INVALID, under(&p, path, "/inputs", 0),
                                     "%.*s takes at most %" PRIu32 " inputs, found %" PRIu32, (int)cls->key.size,
                                     cls->key.data, cls->more->n_inputs, op->n_inputs));
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        bool optional = i < cls->more->n_inputs && cls->more->inputs[i].decl == XIR_DECL_OPT;
        if (!v) {
            if (optional || is_foreign(cls)) continue;
            keep_first(&first, diag_fail(why, XIR_E_MISSING, under(&p, path, "/inputs/%zu", i), "the input is absent"));
            continue;
        }
        if (value_op(v)) continue;   /* checked with the op that makes it */
        if (!value_is_params(v)) {
            keep_first(&first, diag_fail(why, XIR_E_MISSING, under(&p, path, "/inputs/%zu", i),
                                         "no op makes %s", value_called(v).text));
        }
        if (v->type)
            keep_first(&first, check_type(c, v->type, why ? under(&p, path, "/inputs/%zu/dtype", i) : path, why));
    }
    return first;
}

static xir_status check_any(checker *c, const xir_any *any, xir_str path, xir_diags *why) {
    xir_status first = XIR_OK;
    if (any->kind == XIR_ANY_PARAMS)
        return any->as.params->type ? check_type(c, any->as.params->type, path, why) : XIR_OK;
    for (size_t i = 0; any->kind == XIR_ANY_LIST && i < any->as.list.size; i++) {
        keep_first(&first, check_any(c, &any->as.list.items[i], path, why));
    }
    for (size_t i = 0; any->kind == XIR_ANY_MAP && i < any->as.map.size; i++) {
        keep_first(&first, check_any(c, &any->as.map.entries[i].value, path, why));
    }
    return first;
}

/* Checks the types of Params in attributes. */
static xir_status check_attr_params(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    xir_status first = XIR_OK;
    place p, q;
    for (uint32_t i = 0; i < op->cls->n_fields && !op->cls->plain; i++) {
        const xir_field *f = &op->cls->fields[i];
        const void *at = body_at(op->attrs, f);
        xir_values list = { NULL, 0 };
        if (f->kind == XIR_KIND_PARAMS) list = (xir_values){ at, 1 };
        else if (f->kind == XIR_KIND_PARAMSS) list = *(const xir_values *)at;
        else if (f->kind == XIR_KIND_MAP) {
            const xir_any map = { .kind = XIR_ANY_MAP, .as.map = *(const xir_map *)at };
            keep_first(&first, check_any(c, &map, why ? under_field(&p, path, f->name) : path, why));
        }
        for (size_t j = 0; j < list.size; j++) {
            const xir_value *v = list.data[j];
            if (!v || !v->type) continue;
            xir_str field = why ? under_field(&q, path, f->name) : path;
            if (why) field = under(&p, field, f->kind == XIR_KIND_PARAMS ? "/dtype" : "/%zu/dtype", j);
            keep_first(&first, check_type(c, v->type, field, why));
        }
    }
    const xir_map *extra = xir_op_extra(op);
    for (size_t i = 0; extra && i < extra->size; i++) {
        keep_first(&first, check_any(c, &extra->entries[i].value, why ? under_field(&p, path, extra->entries[i].key)
                                     : path, why));
    }
    return first;
}

/* Refuses an op of one accelerator in a network for another. */
static xir_status check_target(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    const xir_target *ai = c->net->ai_target;
    if (!ai || op_target(op) == c->net->host) return XIR_OK;   // most ops
    if (!xir_target_row_of(op_target(op))->accelerator) return XIR_OK;
    const xir_object *own = (const xir_object *)op_target(op), *other = (const xir_object *)ai;
    if (xir_object_equal(own, other)) return XIR_OK;
    place p;
    const xir_str at = under(&p, path, "/compile_target", 0);
    if (!xir_network_has_ai_target(c->net))
        return diag_fail(why, XIR_E_INVALID, at,
                         "the op is for %.*s: expected it as the network's ai_target too, which is not set",
                         WHOLE(own->cls->key));
    return diag_fail(why, XIR_E_INVALID, at, "the op is for %.*s, its network for %.*s", WHOLE(own->cls->key),
                     WHOLE(other->cls->key));
}

static xir_status check_op(checker *c, const xir_op *op, xir_str path, xir_diags *why);

static xir_status check_children(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    xir_status first = XIR_OK;
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(op->attrs, f);
        for (size_t j = 0; j < children->size; j++) {
            place p, q;
            xir_str at = why ? under(&p, under_field(&q, path, f->name), "/%zu", j) : path;
            keep_first(&first, check_op(c, children->data[j], at, why));
        }
    }
    return first;
}

/* A rule sees class, attributes, target and input types: if these are the same as in a valid op, the op is valid. */
static xir_status check_rule(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    infer_memo key = { .cls = op->cls, .attrs = op->attrs, .target = op_target(op) };
    uint64_t hash = (uintptr_t)op->attrs * (uint64_t)3;
    for (uint32_t i = 0; i < op->n_inputs && i < INFER_INPUTS; i++) {
        key.in[i] = infer_key_of(op_inputs(op)[i].value);
        hash += key.in[i] * (uint64_t)(2 * i + 5);
    }
    size_t slot = (size_t)(hash ^ (hash >> 7) ^ (hash >> 17)) & (c->memo - 1);
    infer_memo *memo = op->n_inputs <= INFER_INPUTS && c->ruled ? &c->ruled[slot] : NULL;
    if (memo && memcmp(memo, &key, sizeof key) == 0) return XIR_OK;
    xir_infer at;
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, op->n_inputs, name_text(op_label(op)), why);
    at.pool = &c->pool;
    at.op = op;
    at.path = path;
    xir_status status = infer_check(&at);
    infer_end(&at);
    if (!status && !at.read_values && memo) *memo = key;
    return status;
}

/* The rules of the op's target, with the declared types of the outputs. */
static xir_status check_legal(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    xir_infer at;
    infer_start(&at, op->net, op->cls, op->attrs, op_target(op), NULL, op->n_inputs, name_text(op_label(op)), why);
    at.pool = &c->pool;
    at.op = op;
    at.path = path;
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < op->n_outputs && !status; i++) status = infer_see_output(&at, op_outputs(op)[i].type);
    if (!status) status = rules_check(&at);
    infer_end(&at);
    return status;
}

/* Checks the objects among the attributes, and what they refer to. */
static xir_status check_attr_objects(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    xir_status first = XIR_OK;
    for (uint32_t i = 0; i < op->cls->n_fields; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_REF && f->kind != XIR_KIND_REFS) continue;
        const void *at = body_at(op->attrs, f);
        const xir_refs list = f->kind == XIR_KIND_REF ? (xir_refs){ at, 1 } : *(const xir_refs *)at;
        place p, q;
        xir_str field = why ? under_field(&p, path, f->name) : path;
        for (size_t j = 0; j < list.size; j++) {
            xir_str item = why && f->kind == XIR_KIND_REFS ? under(&q, field, "/%zu", j) : field;
            keep_first(&first, check_part(c, list.data[j], item, why));
        }
    }
    return first;
}

static xir_status check_op(checker *c, const xir_op *op, xir_str path, xir_diags *why) {
    const xir_class *cls = op->cls;
    xir_status first = op->flags & OP_DRAFT ? draft_check(op, path, why) : XIR_OK;
    if (!first && !is_good(c, op->attrs)) {
        keep_first(&first, body_check(cls, op->attrs, name_text(op_label(op)), path, why));
        keep_first(&first, check_attr_objects(c, op, path, why));
        if (!first && cls->plain) note_good(c, op->attrs);
    }
    keep_first(&first, check_inputs(c, op, path, why));
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const xir_type *type = op_outputs(op)[i].type;
        place p;
        if (type) keep_first(&first, check_type(c, type, why ? under(&p, path, "/outputs/%zu/dtype", i) : path, why));
    }
    const bool inferred = op->flags & OP_DRAFT && !op->n_outputs;   // when it is completed
    if (!cls->many_outputs && op->n_outputs != cls->more->n_outputs && !inferred) {
        place p;
        keep_first(&first, diag_fail(why, XIR_E_INVALID, under(&p, path, "/outputs", 0),
                                     "%.*s has %" PRIu32 " outputs, found %" PRIu32, (int)cls->key.size, cls->key.data,
                                     cls->more->n_outputs, op->n_outputs));
    }
    if (!cls->plain || op_more_of(op)) keep_first(&first, check_attr_params(c, op, path, why));
    keep_first(&first, check_target(c, op, path, why));
    /* The class's own rule relies on the checks before it. */
    if (!first && (cls->more->check || c->net->ctx->choosy_targets)) keep_first(&first, check_rule(c, op, path, why));
    if (!first && !cls->opaque && has_rules(op_target(op)) && !is_call(cls))
        keep_first(&first, check_legal(c, op, path, why));
    if (!cls->plain) keep_first(&first, check_children(c, op, path, why));
    return first;
}

/* Faults are rare: only then everything is done again, to make the sentences. */
xir_status xir_op_validate(const xir_op *op, xir_diags *why) {
    if (!op) return diag_null(why, "op");
    enum { PARTS = 16 };
    const void *good[PARTS] = { NULL };
    checker c = { .net = op->net, .memo = PARTS, .good = good };
    xir_status status = XIR_OK;
    pool_init_reader(&c.pool, &op->net->pool);
    for (int said = 0; said < (why ? 2 : 1) && (!said || status); said++)
        status = check_op(&c, op, XIR_STR(""), said ? why : NULL);
    pool_free(&c.pool);
    return status;
}

/* ---- ids ---------------------------------------------------------------------------------------------------- */

static void start_ids(id_set *set, const xir_allocator *alloc, int64_t next, uint64_t expected) {
    *set = (id_set){ .highest = -1 };
    if (next < 0 || (uint64_t)next > expected * 64 + 4096) return;
    size_t bytes = ((size_t)next / 64 + 1) * sizeof *set->bits;
    set->bits = mem_new(alloc, bytes);
    if (!set->bits) return;   /* slower, but not wrong */
    memset(set->bits, 0, bytes);
    set->room = ((uint64_t)next / 64 + 1) * 64;
}

static void end_ids(id_set *set, const xir_allocator *alloc) {
    mem_free(alloc, set->bits, (size_t)(set->room / 8));
}

/* Returns true if this id is met for the first time; *known says whether that can be decided. */
static bool first_met(id_set *set, int64_t id, bool *known) {
    *known = true;
    if (id > set->highest) {
        set->highest = id;
        if ((uint64_t)id < set->room) set->bits[id / 64] |= (uint64_t)1 << (id % 64);
        return true;
    }
    if (id < 0 || (uint64_t)id >= set->room) {
        *known = false;
        return false;
    }
    bool met = set->bits[id / 64] >> (id % 64) & 1;
    set->bits[id / 64] |= (uint64_t)1 << (id % 64);
    return !met;
}

/* The position of an op, made into a path only for a finding. */
typedef struct trail { const struct trail *up; const char *field; size_t index; } trail;

static xir_str trail_path(place *p, const trail *at) {
    xir_str path = at->up ? trail_path(p, at->up) : XIR_STR("");
    int n = snprintf(p->text + path.size, sizeof p->text - path.size, "/%s/%zu", at->field, at->index);
    size_t size = n < 0 ? path.size : path.size + (size_t)n;
    return (xir_str){ p->text, size < sizeof p->text ? size : sizeof p->text - 1 };
}

/* Checks the ids of the op and its sub ops. */
static xir_status check_ids(checker *c, const xir_op *op, const trail *at, xir_diags *why) {
    const xir_network *net = c->net;
    xir_status first = XIR_OK;
    bool known;
    place p, q;
    if (op->id < 0) {
        keep_first(&first, diag_fail(why, XIR_E_BOUNDS, under(&p, trail_path(&q, at), "/op_id", 0),
                                     "op id %" PRId64 " is below 0", op->id));
    }
    bool alone = first_met(&c->op_ids, op->id, &known);
    if (!known) alone = net_find_op(net, op->id) == op;
    if (!alone) {
        keep_first(&first, diag_fail(why, XIR_E_EXISTS, under(&p, trail_path(&q, at), "/op_id", 0),
                                     "op id %" PRId64 " is taken by another op", op->id));
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const xir_value *v = &op_outputs(op)[i];
        alone = first_met(&c->value_ids, v->id, &known);
        if (!known) alone = net_find_value(net, v->id) == v;
        if (alone) continue;
        keep_first(&first, diag_fail(why, XIR_E_EXISTS, under(&p, trail_path(&q, at), "/outputs/%zu/v_id", i),
                                     "value id %" PRId64 " is taken by another value", v->id));
    }
    for (uint32_t i = 0; i < op->cls->n_fields && !op->cls->plain; i++) {
        const xir_field *f = &op->cls->fields[i];
        if (f->kind != XIR_KIND_OPS) continue;
        const xir_ops *children = body_at(op->attrs, f);
        for (size_t j = 0; j < children->size; j++) {
            keep_first(&first, check_ids(c, children->data[j], &(trail){ at, f->name.data, j }, why));
        }
    }
    return first;
}

/* Whether an op is the Output of a network that returns nothing: a file of definitions, or a foreign program that only
 * prints. What XIR's own ops compute is returned. */
static bool returns_nothing(const xir_op *op) {
    const xir_op *before = op->prev;
    return op->cls->traits & XIR_TRAIT_SINK &&
           (!before || before->cls->traits & XIR_TRAIT_SOURCE || is_foreign(before->cls));
}

/* Checks that depend on the op's position. */
static xir_status check_standing(checker *c, xir_op *op, xir_str path, xir_diags *why) {
    const xir_network *net = c->net;
    xir_status first = XIR_OK;
    place p;
    uint32_t traits = op->cls->traits;
    if (traits & XIR_TRAIT_SOURCE && op != net->first) {
        keep_first(&first, diag_fail(why, XIR_E_INVALID, path, "an Input must be the first op"));
    }
    const bool may_have_none = traits & (XIR_TRAIT_SOURCE | XIR_TRAIT_FREE) || is_foreign(op->cls) ||
                               returns_nothing(op);
    if (!op->n_inputs && !may_have_none) {
        keep_first(&first, diag_fail(why, XIR_E_MISSING, under(&p, path, "/inputs", 0), "the op has no inputs"));
    }
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        const xir_op *maker = v ? value_op(v) : NULL;
        if (!maker || (maker->flags & OP_PLACED && maker->position < op->position)) continue;
        if (maker->flags & OP_CHILD) continue;
        keep_first(&first, diag_fail(why, XIR_E_INVALID, under(&p, path, "/inputs/%zu", i),
                                     "%s is used before op %" PRId64 " makes it", value_called(v).text, maker->id));
    }
    return first;
}

/* A network of XIR's own ops has an Input at its head and an Output at its end; one of a dialect need not. */
static xir_status check_ends(const xir_network *net, xir_diags *why) {
    xir_status first = XIR_OK;
    if (!net->first)
        return diag_fail(why, XIR_E_MISSING, XIR_STR("/ops"),
                         "the network is empty: expected an Input and an Output");
    if (net->first->cls->opaque) return XIR_OK;
    if (!(net->first->cls->traits & XIR_TRAIT_SOURCE)) {
        keep_first(&first,
                   diag_fail(why, XIR_E_INVALID, XIR_STR("/ops/0"), "the first op must be an Input, found a %.*s",
                             (int)net->first->cls->key.size, net->first->cls->key.data));
    }
    const xir_op *last = net->last;
    if (!(last->cls->traits & XIR_TRAIT_SINK) && !last->cls->opaque) {
        place p;
        keep_first(&first, diag_fail(why, XIR_E_INVALID, under(&p, XIR_STR("/ops"), "/%zu", net->n_ops - 1),
                                     "the last op must be an Output, found a %.*s", (int)last->cls->key.size,
                                     last->cls->key.data));
    }
    return first;
}

static xir_status validate(checker *c, xir_diags *why) {
    const xir_network *net = c->net;
    /* Params have ids too. They come first, so that an output with the same id is the one that is reported. */
    xir_status first = XIR_OK;
    c->value_ids.highest = c->value_ids.room ? (int64_t)c->value_ids.room - 1 : INT64_MAX;   /* they are not in order */
    for (const xir_value *v = net->all_params; v; v = value_params(v)->next) {
        bool known, alone = v->id < 0 || first_met(&c->value_ids, v->id, &known);
        if (!alone && !known) alone = net_find_value(net, v->id) == v;
        if (alone) continue;
        keep_first(&first, diag_fail(why, XIR_E_EXISTS, XIR_STR("/ops"),
                                     "value id %" PRId64 " is taken by another value", v->id));
    }
    keep_first(&first, check_ends(net, why));
    size_t i = 0;
    for (xir_op *op = net->first; op; op = op->next, i++) {
        xir_status status = check_op(c, op, XIR_STR(""), NULL);
        keep_first(&status, check_standing(c, op, XIR_STR(""), NULL));
        if (status) {
            /* Once more, to make the sentences. */
            place p;
            xir_str path = under(&p, XIR_STR("/ops"), "/%zu", i);
            status = check_op(c, op, path, why);
            keep_first(&status, check_standing(c, op, path, why));
        }
        keep_first(&status, check_ids(c, op, &(trail){ NULL, "ops", i }, why));
        keep_first(&first, status);
    }
    return first;
}

/* Allocates the memos, by the size of the network. */
static void start_memo(checker *c, const xir_allocator *alloc, size_t n_ops) {
    c->memo = n_ops < FEW ? FEW : MANY;
    c->good = mem_new(alloc, c->memo * sizeof *c->good);
    c->ruled = mem_new(alloc, c->memo * sizeof *c->ruled);
    if (c->good) memset((void *)c->good, 0, c->memo * sizeof *c->good);
    if (c->ruled) memset((void *)c->ruled, 0, c->memo * sizeof *c->ruled);
}

static void end_memo(checker *c, const xir_allocator *alloc) {
    mem_free(alloc, (void *)c->good, c->memo * sizeof *c->good);
    mem_free(alloc, c->ruled, c->memo * sizeof *c->ruled);
}

xir_status xir_network_validate(const xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    checker c = { .net = net };
    pool_init_reader(&c.pool, &net->pool);
    start_memo(&c, &net->alloc, net->n_ops);
    start_ids(&c.op_ids, &net->alloc, net->next_op_id, net->n_ops);
    start_ids(&c.value_ids, &net->alloc, net->next_value_id, net->n_ops + net->n_params);
    bool tables = c.op_ids.room && c.value_ids.room, memory = c.good && c.ruled;
    if (memory && !tables) memory = net_build_ids(net);
    xir_status first = memory ? validate(&c, why) : diag_memory(why);
    end_ids(&c.op_ids, &net->alloc);
    end_ids(&c.value_ids, &net->alloc);
    end_memo(&c, &net->alloc);
    pool_free(&c.pool);
    return first;
}

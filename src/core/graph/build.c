/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Adding ops. Everything that can fail (checks, inference, memory) comes first; then only stores. This refuses what the
 * original's `addOp` refuses; the network is then unchanged except for a finding. */
#include <stdio.h>
#include <inttypes.h>
#include "graph.h"
#include "sized.h"

xir_status net_fail(xir_network *net, xir_status code, const char *format, ...) {
    va_list list;
    if (!net->status) net->status = code;
    va_start(list, format);
    diag_failv(net->diags, &(xir_diag){ .severity = XIR_ERROR, .code = code, .byte = XIR_NO_BYTE }, format, list);
    va_end(list);
    return code;
}

xir_status net_no_memory(xir_network *net) { return net_fail(net, XIR_E_MEMORY, "out of memory"); }

xir_status net_null(xir_network *net, const char *what) {
    return net->status ? net->status : net_fail(net, XIR_E_MISSING, "expected a %s, found NULL", what);
}

/* "icraft::xir::Conv2d 'conv1'" for sentences. */
static const char *op_words(const xir_class *cls, xir_str op_name, char *out, size_t size) {
    if (op_name.size) snprintf(out, size, "%.*s '%.*s'", WHOLE(cls->key), WHOLE(op_name));
    else snprintf(out, size, "%.*s", WHOLE(cls->key));
    return out;
}

/* ---- refusals ---------------------------------------------------------------------------------------------- */

/* The port of an input position. NULL past the end of a class with a fixed number of inputs, or if the class has no
 * ports. */
static const xir_port *port_of(const xir_class *cls, size_t i) {
    const class_more *more = cls->more;
    if (i < more->n_inputs) return &more->inputs[i];
    return cls->many_inputs && more->n_inputs ? &more->inputs[more->n_inputs - 1] : NULL;
}

/* The number of inputs without absent ones at the end. */
static size_t without_absent(xir_value *const *inputs, size_t n) {
    while (n && !inputs[n - 1]) n--;
    return n;
}

static xir_status check_inputs(xir_network *net, const xir_op_desc *d) {
    const xir_class *cls = d->cls;
    char words[200];
    for (size_t i = 0; i < d->n_inputs; i++) {
        const xir_value *v = d->inputs[i];
        if (v && value_net(v) != net) {
            return net_fail(net, XIR_E_INVALID, "input %zu of %s belongs to another network", i,
                            op_words(cls, d->name, words, sizeof words));
        }
        if (v && value_is_spent(v)) {
            return net_fail(net, XIR_E_INVALID, "input %zu of %s has become an output: use that", i,
                            op_words(cls, d->name, words, sizeof words));
        }
        const xir_port *port = v ? NULL : port_of(cls, i);
        if (port && port->decl == XIR_DECL_IN) {
            return net_fail(net, XIR_E_MISSING, "input '%.*s' of %s is absent", WHOLE(port->name),
                            op_words(cls, d->name, words, sizeof words));
        }
        if (port && port->decl == XIR_DECL_VAR) {
            return net_fail(net, XIR_E_MISSING, "input %zu of %s is absent", i,
                            op_words(cls, d->name, words, sizeof words));
        }
    }
    if (d->n_inputs < cls->more->least_inputs) {
        return net_fail(net, XIR_E_MISSING, "%s needs %" PRIu32 " inputs, %zu were given",
                        op_words(cls, d->name, words, sizeof words), cls->more->least_inputs, d->n_inputs);
    }
    if (!cls->many_inputs && d->n_inputs > cls->more->n_inputs) {
        return net_fail(net, XIR_E_INVALID, "%s takes at most %" PRIu32 " inputs, %zu were given",
                        op_words(cls, d->name, words, sizeof words), cls->more->n_inputs, d->n_inputs);
    }
    return XIR_OK;
}

/* Attributes that a program hands over. */
static xir_status check_attrs(xir_network *net, const xir_class *cls, const void *attrs) {
    if (body_is_made(cls, attrs)) return XIR_OK;
    xir_status status = body_refuse(cls, net->diags);
    if (!net->status) net->status = status;
    return status;
}

static bool is_dialect(const xir_class *cls) { return cls->opaque; }

/* Checks that depend on the place of the op. */
static xir_status check_any_place(xir_network *net, const xir_class *cls, size_t n_inputs, int64_t id,
                                  const xir_op *before, xir_str op_name) {
    char words[200];
    bool source = cls->traits & XIR_TRAIT_SOURCE;
    if (source && net->n_ops && !is_dialect(net->first->cls)) {
        return net_fail(net, XIR_E_INVALID, "%s was added to a network that has %zu ops: it must be the first",
                        op_words(cls, op_name, words, sizeof words), net->n_ops);
    }
    if (!source && !net->n_ops && !is_dialect(cls)) {
        return net_fail(net, XIR_E_INVALID, "%s was added to an empty network: the first op must be an Input",
                        op_words(cls, op_name, words, sizeof words));
    }
    if (!source && !n_inputs && !(cls->traits & XIR_TRAIT_FREE)) {
        return net_fail(net, XIR_E_MISSING, "%s has no inputs", op_words(cls, op_name, words, sizeof words));
    }
    if (before && (before->net != net || !(before->flags & OP_PLACED))) {
        return net_fail(net, XIR_E_INVALID, "the op to insert %s before is not in this network's order",
                        op_words(cls, op_name, words, sizeof words));
    }
    if (id == XIR_NO_ID) {
        if (net->next_op_id < INT64_MAX) return XIR_OK;
        return net_fail(net, XIR_E_LIMIT, "there is no op id left");
    }
    if (id < 0) return net_fail(net, XIR_E_BOUNDS, "op id %" PRId64 " is below 0", id);
    /* In most programs ids grow: then nothing needs to be looked up. */
    if (id < net->next_op_id && !net_build_ids(net)) return net_no_memory(net);
    if (id < net->next_op_id && net_find_op(net, id)) {
        return net_fail(net, XIR_E_EXISTS, "op id %" PRId64 " of %s is taken", id,
                        op_words(cls, op_name, words, sizeof words));
    }
    return XIR_OK;
}

/* The case of nearly every op comes first: it has inputs, is appended, and gets the next id. */
static inline xir_status check_place(xir_network *net, const xir_class *cls, size_t n_inputs, int64_t id,
                                     const xir_op *before, xir_str op_name) {
    if (net->n_ops && n_inputs && !before && id == XIR_NO_ID && !(cls->traits & XIR_TRAIT_SOURCE) &&
        net->next_op_id < INT64_MAX) return XIR_OK;
    return check_any_place(net, cls, n_inputs, id, before, op_name);
}

/* ---- making ------------------------------------------------------------------------------------------------ */

/* Puts the output types into `at`, as given or as inferred. */
static xir_status find_types(xir_network *net, const xir_op_desc *d, xir_infer *at, infer_memo *memo) {
    if (d->types) {
        for (size_t i = 0; i < d->n_types; i++) {
            if (xir_infer_result(at, d->types[i])) return net_no_memory(net);
        }
        return XIR_OK;
    }
    char words[200];
    composed_question question;
    if (composed_recall(at, net, &question)) return XIR_OK;
    xir_status status = infer_run(at);
    if (status == XIR_E_UNKNOWN && !at->status) {
        return net_fail(net, XIR_E_UNKNOWN, "%s has no type inference: its output types must be given",
                        op_words(d->cls, d->name, words, sizeof words));
    }
    if (status && !net->status) net->status = status;
    if (!status) infer_remember(at, net, memo);
    if (!status) composed_remember(at, net, &question);
    return status;
}

/* Makes the record and does everything that can fail before the first link. NULL without memory. */
static xir_op *record(xir_network *net, const xir_op_desc *d, const void *attrs, const xir_target *target,
                      size_t n_inputs, const xir_type *const *types, size_t n_types) {
    xir_op *op = op_make(net, d->cls, attrs, n_inputs);
    const bool made = op && op_make_outputs(op, types, n_types) && op_set_own_target(op, target);
    const label *op_name = made ? net_name(net, d->name) : NULL;
    if (!op_name) {
        net_no_memory(net);
        return NULL;
    }
    op_set_label(op, op_name);
    if (!d->cls->plain && op_adopt_children(op, attrs)) return NULL;
    for (size_t i = 0; i < n_inputs; i++) use_link(&op_inputs(op)[i], op, d->inputs[i]);
    return op;
}

static xir_op *make_plain(xir_network *net, const xir_op_desc *d) {
    const void *attrs = net_checked_attrs(net, d->cls, d->attrs, true, d->name);
    if (!attrs) return NULL;
    size_t n_inputs = without_absent(d->inputs, d->n_inputs);
    const xir_target *target = net->host;
    if (d->target && d->target != net->host) {
        target = (const xir_target *)net_intern(net, (const xir_object *)d->target);
        if (!target) {
            net_no_memory(net);
            return NULL;
        }
    }
    infer_memo memo = { .cls = d->cls, .attrs = attrs, .target = target };
    for (size_t i = 0; i < n_inputs && i < INFER_INPUTS; i++) memo.in[i] = infer_key_of(d->inputs[i]);
    if (!d->types && n_inputs <= INFER_INPUTS && infer_recall(net, &memo)) {
        op_note_repeat(net, d, n_inputs, &memo);
        return record(net, d, attrs, target, n_inputs, &memo.out, 1);
    }
    xir_infer at;
    infer_start(&at, net, d->cls, attrs, target, d->inputs, n_inputs, d->name, net->diags);
    xir_op *op = find_types(net, d, &at, &memo) ? NULL : record(net, d, attrs, target, n_inputs, at.out, at.n_out);
    infer_end(&at);
    return op;
}

/* Clears the attribute's bit in *unset. */
static xir_status set_named(xir_network *net, const xir_class *cls, void *body, const xir_named_attr *named,
                            uint64_t *unset) {
    const xir_field *f = xir_class_field(cls, named->name);
    if (!f) return net_no_attr(net, cls, named->name);
    const size_t i = (size_t)(f - cls->fields);
    if (i < 64) *unset &= ~(UINT64_C(1) << i);
    xir_status status = body_set(cls, f, body, &named->value, net->diags);
    if (status && !net->status) net->status = status;
    return status;
}

/* Makes an op with an attribute struct that is built here. */
static xir_op *make_named(xir_network *net, const xir_op_desc *d) {
    _Alignas(16) char space[512];
    size_t size = d->cls->body_size;
    char *body = size <= sizeof space ? space : mem_new(&net->alloc, size);
    if (!body) return net_no_memory(net), NULL;
    if (size) memcpy(body, d->attrs ? d->attrs : d->cls->defaults, size);
    xir_op_desc plain = *d;
    plain.attrs = body;
    xir_status status = XIR_OK;
    uint64_t unset = d->attrs ? 0 : d->cls->more->required;
    for (size_t i = 0; i < d->n_named && !status; i++) status = set_named(net, d->cls, body, &d->named[i], &unset);
    if (!status) status = net_check_set(net, d->cls, unset, d->name);
    xir_op *op = status ? NULL : make_plain(net, &plain);
    if (body != space) mem_free(&net->alloc, body, size);
    return op;
}

static xir_op *make(xir_network *net, const xir_op_desc *d) {
    return d->n_named ? make_named(net, d) : make_plain(net, d);
}

static xir_status check_class(xir_network *net, const xir_class *cls) {
    if (cls && cls->is_op && !(cls->traits & XIR_TRAIT_ABSTRACT)) return XIR_OK;
    return net_fail(net, XIR_E_TYPE, "expected a class of operations%s%.*s", cls ? ", found " : "",
                    cls ? (int)cls->key.size : 0, cls ? cls->key.data : "");
}

xir_status desc_check_class(xir_network *net, const xir_op_desc *d)  { return check_class(net, d->cls); }
xir_status desc_check_inputs(xir_network *net, const xir_op_desc *d) { return check_inputs(net, d); }

/* The description from a caller that may be built with another header, as this library knows it. NULL with a
 * finding. */
static const xir_op_desc *known_desc(xir_network *net, const xir_op_desc *d, xir_op_desc *room) {
    if (d->size == sizeof *d) return d;
    xir_status status = sized_take(SIZED(xir_op_desc, n_named), room, d, net->diags);
    if (status && !net->status) net->status = status;
    return status ? NULL : room;
}

xir_op *xir_op_new(xir_network *net, const xir_op_desc *desc) {
    if (!net) return NULL;
    xir_op_desc room;
    const xir_op_desc *d = known_desc(net, desc, &room);
    if (!d || check_class(net, d->cls) || check_attrs(net, d->cls, d->attrs)) return NULL;
    return !check_inputs(net, d) ? make(net, d) : NULL;
}

/* ---- placing ----------------------------------------------------------------------------------------------- */

/* Numbers nearly every op: all its ids are new, and the tables have not been needed so far. False if the case is not
 * that simple. */
static bool number_simple(xir_op *op) {
    xir_network *net = op->net;
    int64_t most = (int64_t)op->n_inputs + op->n_outputs + 1;
    if (!(op->cls->plain || op->cls->valued) || op_more_of(op) || op->id >= 0 ||
        atomic_load_explicit(&net->has_ids, memory_order_relaxed) || net->next_op_id > INT64_MAX - most ||
        net->next_value_id > INT64_MAX - most) return false;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (op_outputs(op)[i].id >= 0) return false;
    }
    op->id = net->next_op_id++;
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        xir_value *v = op_inputs(op)[i].value;
        if (v && v->id < 0 && value_is_params(v)) v->id = net->next_value_id++;
    }
    for (uint32_t i = 0; i < op->n_outputs; i++) op_outputs(op)[i].id = net->next_value_id++;
    return true;
}

xir_status place_before(xir_op *op, xir_op *before) {
    xir_status status = number_simple(op) ? XIR_OK : op_number(op);
    if (!status) op_link(op, before);
    return status;
}

xir_status op_check_place(const xir_op *op, const xir_op *before) {
    if (op->flags & (OP_PLACED | OP_CHILD | OP_ERASED)) {
        return net_fail(op->net, XIR_E_EXISTS, "op %" PRId64 " %s", op->id,
                        op->flags & OP_ERASED ? "has been erased" : "is in a network already");
    }
    return check_place(op->net, op->cls, op->n_inputs, XIR_NO_ID, before, name_text(op_label(op)));
}

xir_status xir_op_place(xir_op *op, xir_op *before) {
    if (!op) return XIR_E_MISSING;
    xir_status status = op_check_place(op, before);
    if (!status) status = op_complete(op);
    return status ? status : place_before(op, before);
}

static bool disown(void *user, xir_op *child) {
    (void)user;
    child->flags &= ~(uint32_t)OP_CHILD;
    return true;
}

static xir_op *add(xir_network *net, const xir_op_desc *d) {
    xir_op *op = op_repeat(net, d);
    if (op) return op;
    size_t n_inputs = without_absent(d->inputs, d->n_inputs);
    if (check_class(net, d->cls) || check_place(net, d->cls, n_inputs, d->id, d->before, d->name)) return NULL;
    op = !check_attrs(net, d->cls, d->attrs) && !check_inputs(net, d) ? make(net, d) : NULL;
    if (!op) return NULL;
    if (d->id != XIR_NO_ID) op->id = d->id;
    if (!place_before(op, d->before)) return op;
    /* The caller's arguments are unchanged. */
    op_each_child(op, disown, NULL);
    op->attrs = op->cls->defaults;
    op_forget(op);
    return NULL;
}

xir_op *xir_network_add(xir_network *net, const xir_op_desc *desc) {
    if (!net) return NULL;
    xir_op_desc room;
    const xir_op_desc *d = known_desc(net, desc, &room);
    return d ? add(net, d) : NULL;
}

/* ---- from the structs of inputs that declare.h makes --------------------------------------------------------- */

bool net_scoped_name(xir_at at, xir_str *name) {
    if (!at.scope.size || !name->size) return true;   /* a scope alone names nothing */
    char *text = arena_take(&at.net->arena, at.scope.size + name->size);
    if (!text) return false;
    memcpy(text, at.scope.data, at.scope.size);
    memcpy(text + at.scope.size, name->data, name->size);
    *name = (xir_str){ text, at.scope.size + name->size };
    return true;
}

/* A place of the memo has room for two classes: places follow from addresses, which the linker chooses, and a program
 * that adds ops of two classes in turn must find both wherever they are. */
static const xir_class *class_of(xir_network *net, const xir_class_decl *decl) {
    uintptr_t bits = (uintptr_t)decl >> 4;
    const xir_class **memo = net->classes[(bits ^ (bits >> 5)) % CLASS_MEMO];
    for (int i = 0; i < 2; i++) {
        if (memo[i] && memo[i]->decl == decl) return memo[i];
    }
    const xir_class *cls = xir_class_find_decl(net->ctx, decl);
    if (!cls) return NULL;
    memo[1] = memo[0];
    return memo[0] = cls;
}

/* Makes a list of all inputs, in `few` if they fit. NULL if there is nothing to add: without memory, or if an earlier
 * failure left a value NULL, for which there is a finding already. */
static xir_value *const *gather(xir_network *net, const class_more *more, const void *in, xir_value **few, size_t room,
                                size_t *out) {
    xir_value **inputs = few;
    size_t n = 0;
    for (uint32_t i = 0; i < more->n_inputs; i++) {
        const void *at_port = (const char *)in + more->input_offsets[i];
        bool many = more->inputs[i].decl == XIR_DECL_VAR;
        xir_values list = many ? *(const xir_values *)at_port : (xir_values){ (xir_value *const *)at_port, 1 };
        if (n + list.size > room) {
            xir_value **bigger = arena_take(&net->arena, (n + list.size + more->n_inputs) * sizeof *bigger);
            if (!bigger) return net_no_memory(net), NULL;
            memcpy(bigger, inputs, n * sizeof *bigger);
            inputs = bigger;
            room = n + list.size + more->n_inputs;
        }
        for (size_t j = 0; j < list.size; j++) {
            if (!list.data[j] && more->inputs[i].decl != XIR_DECL_OPT && net->status) return NULL;
            inputs[n++] = list.data[j];
        }
    }
    *out = n;
    return inputs;
}

static xir_op *build(xir_at at, const xir_class_decl *decl, const void *in, const void *attrs) {
    xir_network *net = at.net;
    const xir_class *cls = class_of(net, decl);
    if (!cls) return net_fail(net, XIR_E_UNKNOWN, "class %s is not registered", decl->rows->name), NULL;
    xir_value *few[8], *const *inputs = in;
    size_t n = cls->more->n_inputs;
    if (!cls->more->inputs_are_list || net->status)
        inputs = gather(net, cls->more, in, few, sizeof few / sizeof *few, &n);
    if (!inputs) return NULL;
    if (!net_scoped_name(at, &at.name)) return net_no_memory(net), NULL;
    return add(net, &XIR_INIT(xir_op_desc, .cls = cls, .attrs = attrs, .inputs = inputs, .n_inputs = n,
                              .types = at.types, .n_types = at.n_types, .target = at.target, .name = at.name,
                              .id = XIR_NO_ID, .before = at.before));
}

xir_op *xir_op_build(xir_at at, const xir_class_decl *decl, const void *in, const void *attrs) {
    if (!at.net) return NULL;
    size_t before = xir_diags_count(at.net->diags);
    xir_op *op = build(at, decl, in, attrs);
    if (!op && at.file) diags_add_place(at.net->diags, before, at.file, at.line);   /* the program's source line */
    return op;
}

xir_value *xir_op_build_value(xir_at at, const xir_class_decl *decl, const void *in, const void *attrs,
                              const char *name) {
    if (name) at.name = xir_str_of(name);
    /* Taken first, since an op that is in the network cannot leave it without a trace: its ids are used up. */
    value_more *more = name && *name && at.net ? arena_take(&at.net->arena, sizeof *more) : NULL;
    if (name && *name && at.net && !more) return net_no_memory(at.net), NULL;
    xir_op *op = xir_op_build(at, decl, in, attrs);
    if (!op || !op->n_outputs) return NULL;
    /* The op has copied the name, scope and all: the value shares that text. */
    if (more && op->n_outputs == 1) {
        xir_value *v = op_outputs(op);
        if (!value_more_of(v)) {
            *more = (value_more){ .net = op->net };
            value_set_more(v, more);
        }
        value_more_of(v)->name = op_label(op);
        value_named(v);
    }
    return &op_outputs(op)[0];
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Transactions: a copy of a network, which shares the bytes of its parameters, takes the place of the network if
 * something fails. Objects of Python that pointed into the network then point to the same ops and values of the copy;
 * those of what was made since are stale.
 *
 * Copy and network have the same ops and Params in the same order, that of a walk. So a transaction notes the
 * identities of the records in this order, and finds the records of the copy by it. Values that ops make follow their
 * ops. */
#include <string.h>
#include <xir/provenance.h>
#include <xir/walk.h>
#include "xirpy.h"

/* ---- tables by address ------------------------------------------------------------------------------------------ */

typedef struct identity_row {
    const void *record;      /* NULL: a free row */
    identity    id;
} identity_row;

static size_t place_of(const void *record, uint64_t birth, size_t room) {
    const uint64_t x = ((uint64_t)(uintptr_t)record >> 4) * UINT64_C(0x9E3779B97F4A7C15) + birth;
    return (size_t)(x ^ x >> 29) & (room - 1);
}

identity identity_find(const net_object *owner, const void *record) {
    const identities *t = &owner->known;
    for (size_t i = place_of(record, 0, t->room); t->rows[i].record; i = (i + 1) & (t->room - 1)) {
        if (t->rows[i].record == record) return t->rows[i].id;
    }
    return (identity){ record, owner->births };
}

/* Room for twice as many rows. */
static bool table_new(size_t n, identities *out) {
    size_t room = 16;
    while (room < 2 * n + 2) room *= 2;
    *out = (identities){ PyMem_Calloc(room, sizeof(identity_row)), room };
    if (!out->rows) return PyErr_NoMemory(), false;
    return true;
}

static void add_row(identities *t, size_t at, const void *record, identity id) {
    while (t->rows[at].record) at = (at + 1) & (t->room - 1);
    t->rows[at] = (identity_row){ record, id };
}

/* ---- what a network has, in the order of a walk ----------------------------------------------------------------- */

typedef struct records {
    void  **items;
    size_t  n, room;
    bool    no_memory;
} records;

static xir_walk_answer note(records *r, void *record) {
    if (r->n == r->room) {
        const size_t room = 2 * r->room + 64;
        void **more = PyMem_Realloc(r->items, room * sizeof *more);
        if (!more) return r->no_memory = true, XIR_WALK_STOP;
        r->items = more;
        r->room = room;
    }
    r->items[r->n++] = record;
    return XIR_WALK_ON;
}

static xir_walk_answer note_op(void *user, xir_op *op) { return note(user, op); }
static xir_walk_answer note_params(void *user, xir_value *params) { return note(user, params); }
static xir_walk_answer note_value(void *user, xir_value *value) {
    return xir_value_op(value) ? XIR_WALK_ON : note(user, value);
}

static bool records_of(const xir_network *net, records *out) {
    const xir_walker how = XIR_INIT(xir_walker, .user = out, .op = note_op, .value = note_value, .params = note_params);
    *out = (records){ 0 };
    if (!xir_network_walk(net, &how, NULL) && !out->no_memory) return true;
    PyMem_Free(out->items);
    *out = (records){ 0 };
    PyErr_NoMemory();
    return false;
}

/* ---- transactions ----------------------------------------------------------------------------------------------- */

typedef struct transaction {
    xir_network    *copy;
    xir_provenance *recorder;     /* of the copy; NULL: the network had none */
    identity       *ids;          /* of the network's records */
    size_t          n;
} transaction;

#define CAPSULE "xir.transaction"

static void drop(PyObject *capsule) {
    transaction *t = PyCapsule_GetPointer(capsule, CAPSULE);
    xir_provenance_free(t->recorder);
    xir_network_free(t->copy);
    PyMem_Free(t->ids);
    PyMem_Free(t);
}

/* A copy of the network, and of its recorder. False with an exception. */
static bool copy_network(xir_network *net, transaction *t) {
    xir_diags *why = why_new();
    if (!why) return false;
    xir_provenance *recorder = xir_provenance_of(net);
    t->copy = xir_network_clone(net);
    if (t->copy && recorder) t->recorder = xir_provenance_clone(recorder, t->copy, why);
    if (!t->copy) return xir_diags_free(why), raise_net(net, XIR_OK) != NULL;
    if (recorder && !t->recorder) return raise_diags(XIR_OK, why) != NULL;
    xir_diags_free(why);
    return true;
}

/* _begin(): a capsule that can put the network back. */
PyObject *transaction_begin(PyObject *self, PyObject *none) {
    net_object *o = (net_object *)self;
    records r;
    (void)none;
    if (!net_write(o)) return NULL;
    if (o->writing || !o->owned) return raise_busy();
    transaction *t = PyMem_Calloc(1, sizeof *t);
    PyObject *capsule = t ? PyCapsule_New(t, CAPSULE, drop) : NULL;
    if (!capsule) return PyMem_Free(t), PyErr_NoMemory();
    bool fine = copy_network(o->net, t) && records_of(o->net, &r);
    if (fine) {
        t->ids = PyMem_Calloc(r.n + 1, sizeof *t->ids);
        t->n = r.n;
        if (!t->ids) fine = PyErr_NoMemory() != NULL;
        for (size_t i = 0; fine && i < r.n; i++) t->ids[i] = identity_of(o, r.items[i]);
        PyMem_Free(r.items);
    }
    if (!fine) Py_CLEAR(capsule);
    return capsule;
}

/* ---- putting back ----------------------------------------------------------------------------------------------- */

typedef struct retired {
    xir_network    *net;
    struct retired *next;
} retired;

void transactions_forget(net_object *o) {
    while (o->retired) {
        retired *r = o->retired;
        o->retired = r->next;
        xir_network_free(r->net);
        PyMem_Free(r);
    }
    PyMem_Free(o->known.rows);
    o->known = (identities){ 0 };
}

/* The record that has an identity now; NULL: none. */
static void *now_of(const identities *by_id, identity id) {
    for (size_t i = place_of(id.place, id.birth, by_id->room); by_id->rows[i].record; i = (i + 1) & (by_id->room - 1)) {
        const identity_row *row = &by_id->rows[i];
        if (row->id.place == id.place && row->id.birth == id.birth) return (void *)(uintptr_t)row->record;
    }
    return NULL;
}

#define OBJECT_OF(type, at) ((type *)(void *)((char *)(at) - offsetof(type, link)))

/* Makes all objects point into the copy. */
static void point_again(net_object *o, const identities *by_id) {
    for (tracked *at = o->objects[TRACKED_OP]; at; at = at->next) {
        op_object *op = OBJECT_OF(op_object, at);
        op->op = op->op ? now_of(by_id, op->id) : NULL;
    }
    for (tracked *at = o->objects[TRACKED_VALUE]; at; at = at->next) {
        value_object *v = OBJECT_OF(value_object, at);
        void *now = v->op || v->value ? now_of(by_id, v->id) : NULL;
        v->value = v->op ? NULL : now;
        v->op = v->op ? now : NULL;
    }
    for (tracked *at = o->objects[TRACKED_OPS]; at; at = at->next) {
        ops_object *ops = OBJECT_OF(ops_object, at);
        size_t n = ops->at;
        for (size_t i = ops->at; i < ops->n; i++) {
            void *now = now_of(by_id, identity_of(o, ops->ops[i]));
            if (now) ops->ops[n++] = now;
        }
        ops->n = n;
    }
    if (o->before) {
        o->before = now_of(by_id, identity_of(o, o->before));
        o->astray = !o->before;
    }
}

/* Types of the network, such as those with expressions for dims, keep it alive. */
static bool retire(net_object *o, retired *place) {
    if (o->objects[TRACKED_TYPE]) {
        *place = (retired){ o->net, o->retired };
        o->retired = place;
        return true;
    }
    while (o->retired) {
        retired *r = o->retired;
        o->retired = r->next;
        xir_network_free(r->net);
        PyMem_Free(r);
    }
    xir_network_free(o->net);
    return false;
}

/* _undo(capsule): puts the network back. It cannot be used again. */
PyObject *transaction_undo(PyObject *self, PyObject *capsule) {
    net_object *o = (net_object *)self;
    transaction *t = PyCapsule_GetPointer(capsule, CAPSULE);
    records r = { 0 };
    identities by_id = { 0 }, by_record = { 0 };
    if (!t || !net_write(o)) return NULL;
    if (o->writing || !o->owned) return raise_busy();
    if (!t->copy) return raise_status(XIR_E_INVALID, "the transaction has been put back already");
    retired *place = PyMem_Malloc(sizeof *place);
    if (!place || !records_of(t->copy, &r) || !table_new(r.n, &by_id) || !table_new(r.n, &by_record)) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        PyMem_Free(place);
        PyMem_Free(r.items);
        PyMem_Free(by_id.rows);
        PyMem_Free(by_record.rows);
        return NULL;
    }
    for (size_t i = 0; i < r.n && i < t->n; i++) {
        add_row(&by_id, place_of(t->ids[i].place, t->ids[i].birth, by_id.room), r.items[i], t->ids[i]);
        add_row(&by_record, place_of(r.items[i], 0, by_record.room), r.items[i], t->ids[i]);
    }
    point_again(o, &by_id);
    xir_provenance_free(xir_provenance_of(o->net));
    if (!retire(o, place)) PyMem_Free(place);
    o->net = t->copy;
    o->births++;
    PyMem_Free(o->known.rows);
    o->known = by_record;
    t->copy = NULL;
    t->recorder = NULL;
    PyMem_Free(by_id.rows);
    PyMem_Free(r.items);
    return Py_NewRef(Py_None);
}

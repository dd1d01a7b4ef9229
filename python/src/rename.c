/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* New names for all ops and values of a network, by a dict or by a function. All new names are known before the first
 * one is set, so an exception of the function leaves the names unchanged. */
#include <xir/walk.h>
#include "xirpy.h"

typedef struct named {
    void *thing;      /* an op or a value */
    bool  is_op;
} named;

typedef struct renaming {
    PyObject *names;      /* a dict from old to new names, or a function                */
    PyObject *found;      /* a set of the keys that have been met; NULL for a function  */
    PyObject *made;       /* the new name of each thing, a list                         */
    named    *things;
    size_t    n, room;
} renaming;

/* The new name for an old one, a new reference. None: it keeps the old one. */
static PyObject *ask(const renaming *r, PyObject *old) {
    if (!r->found) return PyObject_CallFunctionObjArgs(r->names, old, NULL);
    PyObject *now = PyDict_GetItemWithError(r->names, old);
    if (!now) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    return PySet_Add(r->found, old) ? NULL : Py_NewRef(now);
}

static bool make_room(renaming *r) {
    if (r->n < r->room) return true;
    const size_t room = 2 * r->room + 64;
    named *grown = PyMem_Realloc(r->things, room * sizeof *grown);
    if (!grown) return PyErr_NoMemory(), false;
    r->things = grown;
    r->room = room;
    return true;
}

static xir_walk_answer meet(renaming *r, xir_str name, void *thing, bool is_op) {
    xir_str text;
    if (!name.size) return XIR_WALK_ON;
    PyObject *old = text_out(name), *now = old ? ask(r, old) : NULL;
    Py_XDECREF(old);
    if (now == Py_None) return Py_DECREF(now), XIR_WALK_ON;
    if (!now || !text_in(now, &text) || !make_room(r)) return Py_XDECREF(now), XIR_WALK_STOP;
    if (!list_add(r->made, now)) return XIR_WALK_STOP;
    r->things[r->n++] = (named){ thing, is_op };
    return XIR_WALK_ON;
}

static xir_walk_answer meet_op(void *user, xir_op *op) { return meet(user, xir_op_name(op), op, true); }
static xir_walk_answer meet_value(void *user, xir_value *v) { return meet(user, xir_value_name(v), v, false); }

/* Every key of a dict must be the name of something, an empty one apart. */
static bool all_found(net_object *o, const renaming *r) {
    Py_ssize_t at = 0;
    PyObject *key, *value;
    xir_str name;
    if (!r->found || PySet_Size(r->found) == PyDict_Size(r->names)) return true;
    while (PyDict_Next(r->names, &at, &key, &value)) {
        const int has = PySet_Contains(r->found, key);
        if (has > 0) continue;
        if (!has && text_in(key, &name)) {
            if (!name.size) continue;
            const xir_str op = near_op(o->net, name);
            raise_unknown("nothing in the network is named", name, op.size ? op : near_value(o->net, name));
        }
        return false;
    }
    return true;
}

/* Asks for all new names. Code of the caller runs, and must not change the network. False with an exception. */
static bool gather(net_object *o, renaming *r, bool ops, bool values) {
    xir_diags *why = why_new();
    if (!why || !net_begin_read(o)) return xir_diags_free(why), false;
    const xir_walker how = XIR_INIT(xir_walker, .user = r, .op = ops ? meet_op : NULL,
                                    .value = values ? meet_value : NULL, .params = values ? meet_value : NULL);
    const xir_status status = xir_network_walk(o->net, &how, why);
    const bool done = !PyErr_Occurred() && !status && all_found(o, r);
    net_end_read(o);
    if (!PyErr_Occurred() && status) raise_diags(status, why);
    else xir_diags_free(why);
    return done;
}

static bool rename_all(net_object *o, const renaming *r) {
    xir_status status = XIR_OK;
    xir_network *net = net_write(o);
    for (size_t i = 0; net && !status && i < r->n; i++) {
        xir_str text;
        if (!text_in(PyList_GetItem(r->made, (Py_ssize_t)i), &text)) return false;
        status = r->things[i].is_op ? xir_op_set_name(r->things[i].thing, text)
                                    : xir_value_set_name(r->things[i].thing, text);
    }
    if (status) raise_net(net, status);
    return net && !status;
}

PyObject *net_rename(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *words[] = { "names", "ops", "values", NULL };
    net_object *o = (net_object *)self;
    PyObject *names;
    int ops = true, values = true;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$pp:rename", words, &names, &ops, &values)) return NULL;
    const bool is_function = PyCallable_Check(names);
    if (!is_function && !PyObject_HasAttrString(names, "keys"))
        return PyErr_Format(PyExc_TypeError, "rename takes a dict or a function, not %R", names);
    renaming r = { .names = is_function ? Py_NewRef(names) : PyDict_New() };
    if (r.names && !is_function && !PyDict_Update(r.names, names)) r.found = PySet_New(NULL);
    r.made = is_function || r.found ? PyList_New(0) : NULL;
    const bool done = r.made && gather(o, &r, ops, values) && rename_all(o, &r);
    PyObject *count = done ? PyLong_FromSize_t(r.n) : NULL;
    PyMem_Free(r.things);
    Py_XDECREF(r.made);
    Py_XDECREF(r.found);
    Py_XDECREF(r.names);
    return count;
}

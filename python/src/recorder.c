/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Provenance: the recorder of a network, which ops and values of an earlier state its ops and values stand for. The
 * recorder belongs to the network, and ends with it. */
#include <xir/provenance.h>
#include "xirpy.h"

/* The recorder of a network that may be read; NULL with an exception. */
static xir_provenance *recorder_of(PyObject *arg) {
    if (!PyObject_TypeCheck(arg, Network_type)) return PyErr_Format(PyExc_TypeError, "expected a network"), NULL;
    xir_network *net = net_read((net_object *)arg);
    xir_provenance *p = net ? xir_provenance_of(net) : NULL;
    return p || !net ? p : raise_status(XIR_E_MISSING, "the network has no recorder: net.record() begins one");
}

/* record(net, from_tags): attaches a recorder. */
static PyObject *record(PyObject *module, PyObject *args) {
    PyObject *self;
    int from_tags;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!p:record", Network_type, &self, &from_tags)) return NULL;
    net_object *o = (net_object *)self;
    xir_network *net = net_write(o);
    if (net && (!o->owned || o->writing)) return raise_busy();
    xir_diags *why = net ? why_new() : NULL;
    if (!why) return NULL;
    const xir_provenance *p = from_tags ? xir_provenance_from_tags(net, why) : xir_provenance_new(net, why);
    if (!p) return raise_diags(XIR_OK, why);
    return warn_diags(why) ? Py_NewRef(Py_None) : NULL;
}

/* record_end(net): detaches it; nothing happens if there is none. */
static PyObject *record_end(PyObject *module, PyObject *arg) {
    (void)module;
    if (!PyObject_TypeCheck(arg, Network_type)) return PyErr_Format(PyExc_TypeError, "expected a network");
    xir_network *net = net_write((net_object *)arg);
    if (!net) return NULL;
    xir_provenance_free(xir_provenance_of(net));
    return Py_NewRef(Py_None);
}

/* is_recorded(net): whether it has a recorder. */
static PyObject *is_recorded(PyObject *module, PyObject *arg) {
    (void)module;
    if (!PyObject_TypeCheck(arg, Network_type)) return PyErr_Format(PyExc_TypeError, "expected a network");
    const xir_network *net = net_read((net_object *)arg);
    return net ? PyBool_FromLong(xir_provenance_of(net) != NULL) : NULL;
}

static PyObject *key_out(const xir_class *cls) {
    return cls ? text_out(xir_class_key(cls)) : Py_NewRef(Py_None);
}

/* record_sources(net): a list of (id, name, key or None). */
static PyObject *record_sources(PyObject *module, PyObject *arg) {
    (void)module;
    const xir_provenance *p = recorder_of(arg);
    const xir_provenance_source *source;
    PyObject *list = p ? PyList_New(0) : NULL;
    for (size_t i = 0; list && (source = xir_provenance_source_at(p, i)); i++) {
        PyObject *row = Py_BuildValue("(LNN)", (long long)source->id, text_out(source->name), key_out(source->cls));
        if (!list_add(list, row)) Py_CLEAR(list);
    }
    return list;
}

/* record_steps(net): the names of the steps. */
static PyObject *record_steps(PyObject *module, PyObject *arg) {
    (void)module;
    const xir_provenance *p = recorder_of(arg);
    PyObject *list = p ? PyList_New(0) : NULL;
    for (size_t i = 0; list && i < xir_provenance_step_count(p); i++) {
        if (!list_add(list, text_out(xir_provenance_step_name(p, i)))) Py_CLEAR(list);
    }
    return list;
}

/* record_step(net, name): what happens from here on belongs to a new step. */
static PyObject *record_step(PyObject *module, PyObject *args) {
    PyObject *self, *word;
    xir_str name;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!U:step", Network_type, &self, &word) || !text_in(word, &name)) return NULL;
    if (!net_write((net_object *)self)) return NULL;
    xir_provenance *p = recorder_of(self);
    const xir_status status = p ? xir_provenance_step(p, name) : XIR_OK;
    if (!p) return NULL;
    return status ? raise_status(status, "the recorder is incomplete") : Py_NewRef(Py_None);
}

/* ---- questions -------------------------------------------------------------------------------------------------- */

typedef xir_status ids_fn(const xir_provenance *p, const void *of, int64_t *ids, size_t room, size_t *n);

static xir_status ids_of_op(const xir_provenance *p, const void *of, int64_t *ids, size_t room, size_t *n) {
    return xir_provenance_of_op(p, of, ids, room, n);
}
static xir_status ids_of_value(const xir_provenance *p, const void *of, int64_t *ids, size_t room, size_t *n) {
    return xir_provenance_of_value(p, of, ids, room, n);
}
static xir_status values_of_value(const xir_provenance *p, const void *of, int64_t *ids, size_t room, size_t *n) {
    return xir_provenance_values_of(p, of, ids, room, n);
}

static PyObject *ids_out(const xir_provenance *p, const void *of, ids_fn *ask) {
    scratch s = { 0 };
    size_t n = 0;
    xir_status status = ask(p, of, NULL, 0, &n);
    int64_t *ids = status ? NULL : scratch_take(&s, n + 1, sizeof *ids);
    if (ids) status = ask(p, of, ids, n, &n);
    PyObject *list = ids && !status ? PyList_New(0) : NULL;
    for (size_t i = 0; list && i < n; i++) {
        if (!list_add(list, PyLong_FromLongLong(ids[i]))) Py_CLEAR(list);
    }
    scratch_free(&s);
    return status ? raise_status(status, "the recorder cannot answer: %s", xir_status_name(status)) : list;
}

/* record_of(op or value): the ids of its sources. record_values(value): the ids of the values that it stands for. */
static PyObject *record_of(PyObject *module, PyObject *arg) {
    (void)module;
    if (PyObject_TypeCheck(arg, Op_type)) {
        op_object *o = (op_object *)arg;
        const xir_op *op = op_read(o);
        const xir_provenance *p = op ? recorder_of((PyObject *)o->owner) : NULL;
        return p ? ids_out(p, op, ids_of_op) : NULL;
    }
    xir_value *value;
    if (!value_of(arg, NULL, false, &value)) return NULL;
    const xir_provenance *p = recorder_of((PyObject *)((value_object *)arg)->owner);
    return p ? ids_out(p, value, ids_of_value) : NULL;
}

static PyObject *record_values(PyObject *module, PyObject *arg) {
    (void)module;
    if (!PyObject_TypeCheck(arg, Value_type)) return PyErr_Format(PyExc_TypeError, "expected a value");
    xir_value *value = value_read((value_object *)arg);
    const xir_provenance *p = value ? recorder_of((PyObject *)((value_object *)arg)->owner) : NULL;
    return p ? ids_out(p, value, values_of_value) : NULL;
}

/* record_became(net, id): the ops and the Params that stand for a source now. */
static PyObject *record_became(PyObject *module, PyObject *args) {
    PyObject *self;
    long long id;
    scratch s = { 0 };
    size_t n = 0, m = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!L:became", Network_type, &self, &id)) return NULL;
    net_object *o = (net_object *)self;
    const xir_provenance *p = recorder_of(self);
    if (!p) return NULL;
    xir_status status = xir_provenance_became(p, id, NULL, 0, &n);
    if (!status) status = xir_provenance_became_params(p, id, NULL, 0, &m);
    xir_op **ops = status ? NULL : scratch_take(&s, n + 1, sizeof *ops);
    xir_value **params = ops ? scratch_take(&s, m + 1, sizeof *params) : NULL;
    if (params) status = xir_provenance_became(p, id, ops, n, &n);
    if (params && !status) status = xir_provenance_became_params(p, id, params, m, &m);
    PyObject *list = params && !status ? PyList_New(0) : NULL;
    for (size_t i = 0; list && i < n; i++)
        if (!list_add(list, op_wrap(o, ops[i]))) Py_CLEAR(list);
    for (size_t i = 0; list && i < m; i++)
        if (!list_add(list, value_wrap(o, params[i]))) Py_CLEAR(list);
    scratch_free(&s);
    return status ? raise_status(status, "the recorder cannot answer: %s", xir_status_name(status)) : list;
}

/* record_history(op): a list of (step, is Params, id, name, key or None), the last step first. */
static PyObject *record_history(PyObject *module, PyObject *arg) {
    scratch s = { 0 };
    size_t n = 0;
    (void)module;
    if (!PyObject_TypeCheck(arg, Op_type)) return PyErr_Format(PyExc_TypeError, "expected an op");
    op_object *o = (op_object *)arg;
    const xir_op *op = op_read(o);
    const xir_provenance *p = op ? recorder_of((PyObject *)o->owner) : NULL;
    if (!p) return NULL;
    xir_status status = xir_provenance_history(p, op, NULL, 0, &n);
    xir_provenance_item *items = status ? NULL : scratch_take(&s, n + 1, sizeof *items);
    if (items) status = xir_provenance_history(p, op, items, n, &n);
    PyObject *list = items && !status ? PyList_New(0) : NULL;
    for (size_t i = 0; list && i < n; i++) {
        const xir_provenance_item *item = &items[i];
        PyObject *row = Py_BuildValue("(NNLNN)", text_out(xir_provenance_step_name(p, item->step)),
                                      PyBool_FromLong(item->params), (long long)item->id, text_out(item->name),
                                      key_out(item->cls));
        if (!list_add(list, row)) Py_CLEAR(list);
    }
    scratch_free(&s);
    return status ? raise_status(status, "the recorder cannot answer: %s", xir_status_name(status)) : list;
}

/* record_tags(net, write): writes the tags that say the same in a file, or removes them. */
static PyObject *record_tags(PyObject *module, PyObject *args) {
    PyObject *self;
    int write;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!p:tags", Network_type, &self, &write)) return NULL;
    xir_network *net = net_write((net_object *)self);
    const xir_provenance *p = net && write ? recorder_of(self) : NULL;
    if (!net || (write && !p)) return NULL;
    const xir_status status = write ? xir_provenance_write_tags(p) : xir_provenance_remove_tags(net);
    return status ? raise_status(status, "the recorder is incomplete") : Py_NewRef(Py_None);
}

PyMethodDef recorder_functions[] = {
    { "record",         record,         METH_VARARGS, NULL },
    { "record_end",     record_end,     METH_O,       NULL },
    { "is_recorded",    is_recorded,    METH_O,       NULL },
    { "record_sources", record_sources, METH_O,       NULL },
    { "record_steps",   record_steps,   METH_O,       NULL },
    { "record_step",    record_step,    METH_VARARGS, NULL },
    { "record_of",      record_of,      METH_O,       NULL },
    { "record_values",  record_values,  METH_O,       NULL },
    { "record_became",  record_became,  METH_VARARGS, NULL },
    { "record_history", record_history, METH_O,       NULL },
    { "record_tags",    record_tags,    METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

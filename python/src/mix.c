/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The choice of ops that get more bits, in one call: it keeps all samples, and the network must not change. */
#include <xir/mix.h>
#include "xirpy.h"

/* A text that grows while the GIL is not held. */
typedef struct written { char *data; size_t size, room; } written;

static bool keep(void *user, const void *data, size_t size) {
    written *w = user;
    if (size > w->room - w->size) {
        const size_t room = (w->size + size) * 2;
        char *now = realloc(w->data, room);
        if (!now) return false;
        w->data = now;
        w->room = room;
    }
    memcpy(w->data + w->size, data, size);
    w->size += size;
    return true;
}

static bool add_samples(xir_mix *m, PyObject *samples) {
    const Py_ssize_t n = PyTuple_Size(samples);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GetItem(samples, i);
        scratch s = { 0 };
        xir_status status = XIR_OK;
        const xir_array **inputs = PyTuple_Check(item) ? arrays_in(item, &s) : NULL;
        if (!inputs && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a sample is a tuple of arrays");
        xir_diags *why = inputs ? why_new() : NULL;
        if (why) WITHOUT_GIL(status = xir_mix_add(m, inputs, (size_t)PyTuple_Size(item), why));
        scratch_free(&s);
        if (status) return raise_diags(status, why), false;
        xir_diags_free(why);
        if (!why || PyErr_CheckSignals()) return false;
    }
    return true;
}

/* (Op, bits or None, cosine, chosen) of each op. */
static PyObject *list_ops(net_object *o, const xir_mix *m) {
    PyObject *list = PyList_New(0);
    xir_mix_op item = XIR_INIT(xir_mix_op);
    for (size_t i = 0; list && i < xir_mix_count(m); i++) {
        if (!xir_mix_at(m, i, &item)) break;
        PyObject *op = op_wrap(o, (xir_op *)(uintptr_t)item.op);
        PyObject *bits = item.bits ? PyLong_FromUnsignedLong(item.bits) : Py_NewRef(Py_None);
        PyObject *row = op && bits ? Py_BuildValue("(OOdi)", op, bits, item.cosine, (int)item.chosen) : NULL;
        Py_XDECREF(op);
        Py_XDECREF(bits);
        if (!list_add(list, row)) Py_CLEAR(list);
    }
    return list;
}

/* (CSV, good, cosine, dB, plain cosine, plain dB, raised, stored, ops). */
static PyObject *report(net_object *o, const xir_mix *m) {
    written csv = { 0 };
    xir_mix_state s = XIR_INIT(xir_mix_state);
    xir_diags *why = why_new();
    if (!why) return NULL;
    xir_status status = xir_mix_write(m, keep, &csv, why);
    if (!status) status = xir_mix_state_of(m, &s, why);
    PyObject *made = NULL, *ops = status ? NULL : list_ops(o, m);
    if (status) {
        raise_diags(status, why);
    } else {
        xir_diags_free(why);
        if (ops) made = Py_BuildValue("(s#iddddKKO)", csv.data, (Py_ssize_t)csv.size, (int)s.good, s.cosine, s.snr,
                                      s.plain_cosine, s.plain_snr, (unsigned long long)s.raised,
                                      (unsigned long long)s.stored, ops);
    }
    Py_XDECREF(ops);
    free(csv.data);
    return made;
}

static PyObject *choose(net_object *o, xir_mix *m, PyObject *samples) {
    xir_status status = XIR_OK;
    if (!add_samples(m, samples)) return NULL;
    xir_diags *why = why_new();
    if (!why) return NULL;
    WITHOUT_GIL(status = xir_mix_choose(m, why));
    if (status) return raise_diags(status, why);
    xir_diags_free(why);
    return PyErr_CheckSignals() ? NULL : report(o, m);
}

/* mix(net, samples, options of the pass, below, least, budget, threads): what `report` returns. */
static PyObject *mix(PyObject *module, PyObject *args) {
    PyObject *self, *samples;
    const char *options;
    double below, least, budget;
    Py_ssize_t threads;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!sdddn:mix", Network_type, &self, &PyTuple_Type, &samples, &options, &below,
                          &least, &budget, &threads)) return NULL;
    if (threads < 0) return raise_status(XIR_E_BOUNDS, "a number of threads is not negative");
    struct timespec last = { 0 };
    const xir_mix_options how = XIR_INIT(xir_mix_options, .quantize = options, .below = below, .least_snr = least,
                                         .budget = budget, .cancel = is_interrupted, .user = &last,
                                         .threads = (size_t)threads);
    net_object *o = (net_object *)self;
    if (!net_read(o)) return NULL;
    xir_diags *why = why_new();
    if (!why) return NULL;
    if (!net_begin_read(o)) return xir_diags_free(why), NULL;
    xir_mix *m;
    PyObject *made = NULL;
    WITHOUT_GIL(m = xir_mix_new(o->net, &how, why));
    if (!m) raise_diags(XIR_OK, why);
    else if (warn_diags(why)) made = choose(o, m, samples);
    xir_mix_free(m);
    net_end_read(o);
    return made;
}

PyMethodDef mix_functions[] = {
    { "mix", mix, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

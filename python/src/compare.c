/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Comparing networks value by value, and reducing one to the smallest that still shows a fault. */
#include <time.h>
#include <xir/compare.h>
#include <xir/reduce.h>
#include "xirpy.h"

/* ---- comparing -------------------------------------------------------------------------------------------------- */

static PyObject *figures_out(const xir_compare_figures *f) {
    return Py_BuildValue("(ddddd)", f->largest, f->relative, f->cosine, f->snr, f->saturated);
}

static PyObject *pair_out(net_object *a, net_object *b, const xir_compare_pair *p) {
    static const char *const by[] = { "source", "name", "match", "file", "position" };   /* ORDER: xir_compare_by */
    PyObject *second = p->b && b ? value_wrap(b, (xir_value *)(uintptr_t)p->b) : Py_NewRef(Py_None);
    return Py_BuildValue("(NNsNNnNNKKKdd)", value_wrap(a, (xir_value *)(uintptr_t)p->a), second, by[p->by],
                         PyBool_FromLong(p->bad), PyBool_FromLong(p->same_shape), (Py_ssize_t)p->samples,
                         figures_out(&p->worst), figures_out(&p->mean), (unsigned long long)p->differ,
                         (unsigned long long)p->of, (unsigned long long)p->at, p->expected, p->found);
}

static PyObject *suspects_out(net_object *o, const xir_compare *c, const xir_compare_pair *bad, bool of_b) {
    PyObject *list = PyList_New(0);
    scratch s = { 0 };
    const size_t n = bad && o ? xir_compare_ops(c, bad, of_b, NULL, 0) : 0;
    const xir_op **ops = n == SIZE_MAX ? NULL : scratch_take(&s, n + 1, sizeof *ops);
    if (n == SIZE_MAX) PyErr_NoMemory();
    if (!ops) Py_CLEAR(list);
    if (ops && n) xir_compare_ops(c, bad, of_b, ops, n);
    for (size_t i = 0; list && i < n; i++) {
        if (!list_add(list, op_wrap(o, (xir_op *)(uintptr_t)ops[i]))) Py_CLEAR(list);
    }
    scratch_free(&s);
    return list;
}

static PyObject *comparison_out(net_object *a, net_object *b, const xir_compare *c) {
    const xir_compare_pair *first = xir_compare_first_bad(c);
    xir_compare_state state = XIR_INIT(xir_compare_state);
    (void)!xir_compare_state_of(c, &state, NULL);
    PyObject *pairs = PyList_New(0), *of_a, *of_b;
    size_t bad = 0;
    for (size_t i = 0; pairs && i < xir_compare_count(c); i++) {
        const xir_compare_pair *p = xir_compare_at(c, i);
        if (first && p == first) bad = i + 1;
        if (!list_add(pairs, pair_out(a, b, p))) Py_CLEAR(pairs);
    }
    of_a = pairs ? suspects_out(a, c, first, false) : NULL;
    of_b = of_a ? suspects_out(b, c, first, true) : NULL;
    if (of_b) {
        return Py_BuildValue("(NnNNnnnn)", pairs, (Py_ssize_t)bad, of_a, of_b, (Py_ssize_t)state.samples,
                             (Py_ssize_t)state.bad, (Py_ssize_t)state.alone_a, (Py_ssize_t)state.alone_b);
    }
    Py_XDECREF(pairs);
    Py_XDECREF(of_a);
    return NULL;
}

/* Runs all samples, each a tuple of Arrays that an iterator gives. False with an exception. */
static bool run_samples(xir_compare *c, PyObject *samples) {
    PyObject *item;
    while ((item = PyIter_Next(samples))) {
        scratch s = { 0 };
        xir_status status = XIR_OK;
        const xir_array **inputs = PyTuple_Check(item) ? arrays_in(item, &s) : NULL;
        if (!inputs && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a sample is a tuple of arrays");
        xir_diags *why = inputs ? why_new() : NULL;
        if (why) WITHOUT_GIL(status = xir_compare_run(c, inputs, (size_t)PyTuple_Size(item), why));
        scratch_free(&s);
        Py_DECREF(item);
        if (status) return raise_diags(status, why), false;
        xir_diags_free(why);
        if (!why || PyErr_CheckSignals()) return false;
    }
    return !PyErr_Occurred();
}

/* compare(a, b or None, folder or None, samples, absolute, relative, snr or None, alone, threads, max_work,
 * max_memory): (pairs, 1 + the first bad one, ops of a and of b that made it, samples, bad, alone in a, alone in b). */
static PyObject *compare(PyObject *module, PyObject *args) {
    PyObject *first, *second, *folder, *samples, *snr, *path = NULL, *made = NULL;
    int alone;
    Py_ssize_t threads;
    unsigned long long max_work, max_memory;
    struct timespec last = { 0 };
    xir_compare_options how = XIR_INIT(xir_compare_options, .cancel = is_interrupted, .user = &last);
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OOOddOpnKK:compare", Network_type, &first, &second, &folder, &samples, &how.absolute,
                          &how.relative, &snr, &alone, &threads, &max_work, &max_memory)) return NULL;
    if (second != Py_None && !PyObject_TypeCheck(second, Network_type))
        return PyErr_Format(PyExc_TypeError, "compare takes two networks, or a network and a folder");
    if (threads < 0) return raise_status(XIR_E_BOUNDS, "a number of threads is not negative");
    how.alone = alone;
    how.threads = (size_t)threads;
    how.max_work = max_work;
    how.max_memory = max_memory;
    how.by_snr = snr != Py_None;
    if (how.by_snr) how.least_snr = PyFloat_AsDouble(snr);
    if (PyErr_Occurred() || (folder != Py_None && !PyUnicode_FSConverter(folder, &path))) return NULL;
    if (path) how.folder = PyBytes_AsString(path);
    net_object *a = (net_object *)first, *b = second == Py_None ? NULL : (net_object *)second;
    xir_diags *why = why_new();
    const bool begun = why && net_begin_read(a), both = begun && (!b || net_begin_read(b));
    xir_compare *c = both ? xir_compare_new(a->net, b ? b->net : NULL, &how, why) : NULL;
    if (c && run_samples(c, samples)) made = comparison_out(a, b, c);
    xir_compare_free(c);
    if (both && b) net_end_read(b);
    if (begun) net_end_read(a);
    Py_XDECREF(path);
    if (both && !c) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    return made;
}

/* ---- reducing --------------------------------------------------------------------------------------------------- */

typedef struct asking {
    PyObject *ask;
    PyObject *error[3];      /* what a call has raised */
    bool      raised;
} asking;

/* The answer of a function of Python about a network, which has a wrapper for the call only and is not changed. */
static xir_reduce_answer answer_of(asking *a, xir_network *net) {
    if (PyErr_CheckSignals()) goto raised;
    PyObject *object = net_wrap(net, false);
    net_object *o = (net_object *)object;
    if (!o) goto raised;
    o->readers++;
    PyObject *result = PyObject_CallFunctionObjArgs(a->ask, object, NULL);
    const int truth = result ? PyObject_IsTrue(result) : -1;
    const bool unknown = result == Py_None;
    o->net = NULL;
    o->readers = 0;
    Py_DECREF(object);
    Py_XDECREF(result);
    if (truth >= 0) return unknown ? XIR_REDUCE_UNKNOWN : truth ? XIR_REDUCE_YES : XIR_REDUCE_NO;
raised:
    PyErr_Fetch(&a->error[0], &a->error[1], &a->error[2]);
    a->raised = true;
    return XIR_REDUCE_STOP;
}

static void ask(void *user, xir_network *const *candidates, size_t n, xir_reduce_answer *answers) {
    asking *a = user;
    for (size_t i = 0; i < n; i++) answers[i] = a->raised ? XIR_REDUCE_STOP : answer_of(a, candidates[i]);
}

/* reduce(net, ask, max_runs, parts): (network, runs, kept, stopped). Holds the GIL: `ask` is Python's. */
static PyObject *reduce(PyObject *module, PyObject *args) {
    PyObject *self, *call;
    Py_ssize_t max_runs;
    int parts;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!Onp:reduce", Network_type, &self, &call, &max_runs, &parts)) return NULL;
    if (max_runs < 0) return raise_status(XIR_E_BOUNDS, "a number of runs is not negative");
    asking a = { .ask = call };
    xir_reduce_options how = XIR_INIT(xir_reduce_options, .ask = ask, .user = &a, .max_runs = (size_t)max_runs,
                                      .parts = parts);
    xir_reduce_state state = XIR_INIT(xir_reduce_state);
    net_object *o = (net_object *)self;
    xir_diags *why = why_new();
    if (!why || !net_begin_read(o)) {
        xir_diags_free(why);
        return NULL;
    }
    xir_network *made = xir_reduce(o->net, &how, &state, why);
    net_end_read(o);
    if (a.raised) {
        xir_network_free(made);
        xir_diags_free(why);
        PyErr_Restore(a.error[0], a.error[1], a.error[2]);
        return NULL;
    }
    if (!made) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    return Py_BuildValue("(NnnN)", net_wrap(made, true), (Py_ssize_t)state.runs, (Py_ssize_t)state.kept,
                         PyBool_FromLong(state.stopped));
}

PyMethodDef compare_functions[] = {
    { "compare", compare, METH_VARARGS, NULL },
    { "reduce",  reduce,  METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

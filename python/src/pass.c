/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Passes in Python. A pass is a function of a network and its options that returns the number of changes. Its
 * declaration lives as long as the context, which is as long as the process. */
#include <string.h>
#include "xirpy.h"

/* A declaration and what its pointers point to. */
typedef struct python_pass {
    xir_pass_decl       decl;
    PyObject           *call;
    PyObject           *kept;       /* a tuple of the texts */
    struct python_pass *before;     /* the one that was registered before */
} python_pass;

/* The newest. One that another has replaced stays: pipelines may still have it. */
static python_pass *all_passes;

/* ---- the networks that calls work on --------------------------------------------------------------------------- */

static working *all_working;

void working_begin(working *w, net_object *owner) {
    *w = (working){ owner, NULL, PyThread_get_thread_ident(), all_working };
    all_working = w;
}

void working_end(working *w) {
    working **at = &all_working;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
}

working *working_find(const xir_network *net) {
    unsigned long thread = PyThread_get_thread_ident();
    for (working *w = all_working; w; w = w->next) {
        if (w->owner->net == net && w->thread == thread) return w;
    }
    return NULL;
}

void working_keep(working *w) {
    PyObject *type, *value, *trace, *old = w->cause;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace) PyException_SetTraceback(value, trace);
    w->cause = value;
    Py_XDECREF(old);
    Py_XDECREF(type);
    Py_XDECREF(trace);
}

void *working_raise(working *w) {
    PyErr_SetObject((PyObject *)Py_TYPE(w->cause), w->cause);
    Py_CLEAR(w->cause);
    return NULL;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static PyObject *option_out(const xir_pass *at, const xir_pass_option *option) {
    switch (option->kind) {
    case XIR_PASS_INT:  return PyLong_FromLongLong(xir_pass_int(at, option->name));
    case XIR_PASS_REAL: return PyFloat_FromDouble(xir_pass_real(at, option->name));
    case XIR_PASS_BOOL: return PyBool_FromLong(xir_pass_bool(at, option->name));
    default:            return text_out(xir_pass_text(at, option->name));
    }
}

static PyObject *options_out(const xir_pass *at, const xir_pass_decl *decl) {
    PyObject *dict = PyDict_New();
    xir_pass_option option;
    for (size_t i = 0; dict && xir_pass_option_at(decl, i, &option); i++) {
        PyObject *value = option_out(at, &option);
        if (!value || PyDict_SetItemString(dict, option.name, value)) Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

/* An exception of the pass becomes a finding, and the cause of what the run raises. One that is meant to end the
 * program stays raised. */
static xir_status failed(xir_pass *at, working *w) {
    char text[1000];
    working none = { 0 };
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return XIR_E_CANCELLED;
    if (!w) w = &none;
    working_keep(w);
    xir_status status = xir_pass_fail(at, XIR_E_INVALID, NULL, "%s", exception_text(w->cause, text, sizeof text));
    Py_XDECREF(none.cause);
    return status;
}

/* A network that no wrapper has, such as the copy that another pass works on, has one during the call. */
static PyObject *network_of(xir_network *net, const working *w) {
    if (w) return Py_NewRef((PyObject *)w->owner);
    PyObject *made = net_wrap(net, false);
    if (made) ((net_object *)made)->writer = PyThread_get_thread_ident(), ((net_object *)made)->writing = 1;
    return made;
}

/* A network that had a wrapper for the call only: what still holds that finds no network. */
static void forget_network(PyObject *net, const working *w) {
    if (!net || w) return;
    ((net_object *)net)->net = NULL;
    ((net_object *)net)->writing = ((net_object *)net)->readers = 0;
}

static xir_status call_pass(xir_pass *at) {
    const python_pass *p = xir_pass_user(at);
    PyGILState_STATE state = PyGILState_Ensure();
    working *w = working_find(xir_pass_network(at));
    PyObject *net = network_of(xir_pass_network(at), w), *options = net ? options_out(at, &p->decl) : NULL;
    PyObject *result = options ? PyObject_CallFunctionObjArgs(p->call, net, options, NULL) : NULL;
    long long n = result && result != Py_None ? PyLong_AsLongLong(result) : 0;
    if (result && !PyErr_Occurred() && n < 0) PyErr_SetString(PyExc_ValueError, "a number of changes is not negative");
    xir_status status = PyErr_Occurred() ? failed(at, w) : XIR_OK;
    if (!status) xir_pass_changed(at, (size_t)n);
    forget_network(net, w);
    Py_XDECREF(net);
    Py_XDECREF(options);
    Py_XDECREF(result);
    PyGILState_Release(state);
    return status;
}

/* ---- watching --------------------------------------------------------------------------------------------------- */

/* Calls a watch with (pass, step, network, run, changes). The network cannot be changed meanwhile. An exception ends
 * the run, as one of a pass does. */
static xir_status call_watch(PyObject *call, const xir_pass_event *event) {
    char text[1000];
    if (!call || call == Py_None) return XIR_OK;
    PyGILState_STATE state = PyGILState_Ensure();
    working *w = working_find(event->net);
    PyObject *net = network_of((xir_network *)(uintptr_t)event->net, w), *result = NULL;
    if (net) {
        ((net_object *)net)->readers++;
        result = PyObject_CallFunction(call, "sNOnn", event->pass->name, text_out(event->text), net,
                                       (Py_ssize_t)event->run, (Py_ssize_t)event->changes);
        ((net_object *)net)->readers--;
    }
    xir_status status = XIR_OK;
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) {
        status = XIR_E_CANCELLED;
    } else if (PyErr_Occurred()) {
        working none = { 0 }, *keeper = w ? w : &none;
        working_keep(keeper);
        xir_diags_add(event->why, XIR_ERROR, XIR_E_INVALID, XIR_STR(""), "a watch on '%s': %s", event->pass->name,
                      exception_text(keeper->cause, text, sizeof text));
        Py_XDECREF(none.cause);
        status = XIR_E_INVALID;
    }
    forget_network(net, w);
    Py_XDECREF(net);
    Py_XDECREF(result);
    PyGILState_Release(state);
    return status;
}

static xir_status watch_before(void *user, const xir_pass_event *event) {
    return call_watch(PyTuple_GetItem(user, 0), event);
}

static xir_status watch_after(void *user, const xir_pass_event *event) {
    return call_watch(PyTuple_GetItem(user, 1), event);
}

bool watch_in(PyObject *pair, xir_pass_watch *out) {
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
        PyErr_SetString(PyExc_TypeError, "a watch is a tuple (before, after)");
        return false;
    }
    *out = XIR_INIT(xir_pass_watch, .before = watch_before, .after = watch_after, .user = pair);
    return true;
}

/* ---- registering ------------------------------------------------------------------------------------------------ */

static bool option_in(PyObject *row, xir_pass_option *out) {
    int kind;
    if (!PyTuple_Check(row)) return PyErr_SetString(PyExc_TypeError, "an option is a tuple"), false;
    if (!PyArg_ParseTuple(row, "siss", &out->name, &kind, &out->default_text, &out->doc)) return false;
    out->kind = (xir_pass_kind)kind;
    return true;
}

/* register_pass(name, doc, level, options, call, again): options are (name, kind, default, doc). `again`: it takes the
 * place of a pass of Python that has the name. */
PyObject *register_pass(PyObject *module, PyObject *args) {
    const char *name, *doc;
    int level, again;
    PyObject *options, *call;
    (void)module;
    if (!PyArg_ParseTuple(args, "ssiO!Op:register_pass", &name, &doc, &level, &PyTuple_Type, &options, &call, &again)) {
        return NULL;
    }
    size_t n = (size_t)PyTuple_Size(options);
    python_pass *p = calloc(1, sizeof *p);
    xir_pass_option *rows = calloc(n + 1, sizeof *rows);
    bool fine = p && rows;
    for (size_t i = 0; fine && i < n; i++) fine = option_in(PyTuple_GetItem(options, (Py_ssize_t)i), &rows[i]);
    if (!p || !rows) PyErr_NoMemory();
    xir_diags *why = fine ? why_new() : NULL;
    xir_status status = XIR_OK;
    if (why) {
        p->decl = (xir_pass_decl){ XIR_PASS_HEAD(name, doc), .level = level, .options = rows, .n_options = n,
                                   .run = call_pass, .user = p, .flags = again ? XIR_PASS_OVERRIDES : 0 };
        p->call = Py_NewRef(call);
        p->kept = Py_NewRef(args);
        status = xir_pass_register(the_context, &p->decl, why);
    }
    if (why && !status) {
        p->before = all_passes;
        all_passes = p;
        xir_diags_free(why);
        return Py_NewRef(Py_None);
    }
    if (why) {
        Py_DECREF(p->call);
        Py_DECREF(p->kept);
        raise_diags(status, why);
    }
    free(rows);
    free(p);
    return NULL;
}

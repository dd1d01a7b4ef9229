/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Runs of the reference executor. A run may keep the arrays of values: they are retained, not copied. */
#include <time.h>
#include "xirpy.h"

/* ---- arrays ---------------------------------------------------------------------------------------------------- */

const xir_array **arrays_in(PyObject *list, scratch *s) {
    const size_t n = (size_t)PyTuple_Size(list);
    const xir_array **arrays = scratch_take(s, n + 1, sizeof *arrays);
    for (size_t i = 0; arrays && i < n; i++) {
        PyObject *item = PyTuple_GetItem(list, (Py_ssize_t)i);
        if (!PyObject_TypeCheck(item, Array_type)) return PyErr_Format(PyExc_TypeError, "an input is an Array"), NULL;
        arrays[i] = ((array_object *)item)->array;
    }
    return arrays;
}

PyObject *arrays_out(xir_array **arrays, size_t n) {
    PyObject *made = PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; i < n; i++) {
        PyObject *item = made ? array_wrap(arrays[i], false) : (xir_array_free(arrays[i]), NULL);
        if (made && (!item || PyTuple_SetItem(made, (Py_ssize_t)i, item))) Py_CLEAR(made);
    }
    return made;
}

/* ---- values that a run keeps ------------------------------------------------------------------------------------ */

typedef struct kept {
    const xir_value *value;
    xir_array       *array;
} kept;

typedef struct keeping {
    const xir_value **wanted;    /* ascending addresses; NULL: all values */
    size_t            n_wanted;
    kept             *items;
    size_t            n, room;
    bool              no_memory;
} keeping;

static int compare_addresses(const void *a, const void *b) {
    const uintptr_t x = (uintptr_t)*(const xir_value *const *)a, y = (uintptr_t)*(const xir_value *const *)b;
    return (x > y) - (x < y);
}

static bool is_wanted(const keeping *k, const xir_value *value) {
    return !k->wanted || bsearch(&value, k->wanted, k->n_wanted, sizeof value, compare_addresses);
}

/* A watch of a run; without the GIL. */
static bool keep(void *user, const xir_value *value, const xir_array *array) {
    keeping *k = user;
    if (!is_wanted(k, value)) return true;
    if (k->n == k->room) {
        const size_t room = 2 * k->room + 16;
        kept *more = realloc(k->items, room * sizeof *more);
        if (!more) return !(k->no_memory = true);
        k->items = more;
        k->room = room;
    }
    k->items[k->n++] = (kept){ value, xir_array_retain((xir_array *)(uintptr_t)array) };
    return true;
}

static void keeping_free(keeping *k) {
    for (size_t i = 0; i < k->n; i++) xir_array_free(k->items[i].array);
    free(k->items);
}

/* None: nothing is kept; True: all values; or a tuple of values of the network. */
static bool keeping_in(net_object *o, PyObject *arg, keeping *k, scratch *s) {
    *k = (keeping){ 0 };
    if (!PyTuple_Check(arg)) return true;
    k->n_wanted = (size_t)PyTuple_Size(arg);
    k->wanted = scratch_take(s, k->n_wanted + 1, sizeof *k->wanted);
    for (size_t i = 0; k->wanted && i < k->n_wanted; i++) {
        xir_value *value;
        if (!value_of(PyTuple_GetItem(arg, (Py_ssize_t)i), o, false, &value)) return false;
        k->wanted[i] = value;
    }
    if (k->wanted) qsort((void *)k->wanted, k->n_wanted, sizeof *k->wanted, compare_addresses);
    return k->wanted != NULL;
}

/* A list of (value, Array), which takes the references. */
static PyObject *kept_out(net_object *o, keeping *k) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < k->n; i++) {
        PyObject *array = array_wrap(xir_array_retain(k->items[i].array), false);
        PyObject *value = array ? value_wrap(o, (xir_value *)(uintptr_t)k->items[i].value) : NULL;
        PyObject *pair = value ? PyTuple_Pack(2, value, array) : NULL;
        if (!pair || PyList_Append(list, pair)) Py_CLEAR(list);
        Py_XDECREF(pair);
        Py_XDECREF(value);
        Py_XDECREF(array);
    }
    return list;
}

/* ---- whole runs ------------------------------------------------------------------------------------------------- */

static bool options_in(Py_ssize_t threads, unsigned long long max_work, unsigned long long max_memory,
                       xir_run_options *out) {
    *out = XIR_INIT(xir_run_options, .threads = (size_t)threads, .max_work = max_work, .max_memory = max_memory,
                    .cancel = is_interrupted);
    return threads >= 0 || raise_status(XIR_E_BOUNDS, "a number of threads is not negative");
}

/* The library calls its functions with one `user`. */
typedef struct running {
    keeping  keeps;
    watched  by;
    uint64_t done, ops;
} running;

static bool watch(void *user, const xir_value *value, const xir_array *array) {
    return keep(&((running *)user)->keeps, value, array);
}

static bool ends(void *user) { return watched_ends(&((running *)user)->by); }

/* Called after each op. */
static void count_op(void *user, const xir_op *op, const xir_run_memory *now) {
    running *r = user;
    (void)op, (void)now;
    watched_tell(&r->by, ++r->done, r->ops);
}

/* run(net, (Array, ...), threads, max_work, max_memory, arena, values, progress): a tuple of Arrays, and a list of the
 * values that were kept with their Arrays. */
static PyObject *run(PyObject *module, PyObject *args) {
    PyObject *self, *list, *wanted, *made = NULL;
    Py_ssize_t threads;
    unsigned long long max_work, max_memory;
    int arena;
    scratch s = { 0 };
    running r = { 0 };
    xir_run_options how;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!nKKpO|O:run", Network_type, &self, &PyTuple_Type, &list, &threads, &max_work,
                          &max_memory, &arena, &wanted, &r.by.call) ||
        !options_in(threads, max_work, max_memory, &how)) return NULL;
    net_object *o = (net_object *)self;
    if (!net_read(o)) return NULL;
    how.arena = arena != 0;
    how.cancel = ends;
    how.user = &r;
    if (wanted != Py_None) how.watch = watch;
    if (r.by.call && r.by.call != Py_None) how.memory = count_op;
    r.ops = xir_network_op_count(o->net);
    const size_t n = (size_t)PyTuple_Size(list), m = xir_network_outputs(o->net, NULL, 0);
    const xir_array **inputs = arrays_in(list, &s);
    xir_array **outputs = inputs ? scratch_take(&s, m + 1, sizeof *outputs) : NULL;
    xir_diags *why = outputs && keeping_in(o, wanted, &r.keeps, &s) ? why_new() : NULL;
    xir_status status = XIR_OK;
    const bool begun = why && net_begin_read(o);
    if (begun) {
        WITHOUT_GIL(status = xir_network_run(o->net, inputs, n, outputs, m, &how, why));
        net_end_read(o);
        const bool raised = PyErr_Occurred() || (!status && PyErr_CheckSignals());
        for (size_t i = 0; raised && i < m; i++) xir_array_free(outputs[i]);    /* NULL after a failure */
        PyObject *results = status || raised ? NULL : arrays_out(outputs, m);
        PyObject *values = results ? kept_out(o, &r.keeps) : NULL;
        if (values) made = PyTuple_Pack(2, results, values);
        Py_XDECREF(results);
        Py_XDECREF(values);
    }
    keeping_free(&r.keeps);
    scratch_free(&s);
    if (r.keeps.no_memory) PyErr_NoMemory();
    if (status) return raise_diags(status, why);
    xir_diags_free(why);
    return made;
}

/* ---- stepped runs ----------------------------------------------------------------------------------------------- */

/* A run that Python steps. While it exists, its network is read. */
typedef struct run_object {
    PyObject_HEAD
    net_object     *owner;
    xir_run_state  *run;       /* NULL: closed */
    bool            busy;      /* a thread steps it */
    struct timespec last;
} run_object;

static PyTypeObject *Run_type;

static void run_close(run_object *o) {
    if (!o->run) return;
    xir_run_free(o->run);
    o->run = NULL;
    net_end_read(o->owner);
}

static void run_dealloc(run_object *o) {
    PyTypeObject *type = Py_TYPE((PyObject *)o);
    run_close(o);
    Py_DECREF((PyObject *)o->owner);
    PyObject_Free(o);
    Py_DECREF(type);
}

/* run_begin(net, (Array, ...), threads, max_work, max_memory): a Run. */
static PyObject *run_begin(PyObject *module, PyObject *args) {
    PyObject *self, *list;
    Py_ssize_t threads;
    unsigned long long max_work, max_memory;
    scratch s = { 0 };
    xir_run_options how;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!nKK:run_begin", Network_type, &self, &PyTuple_Type, &list, &threads, &max_work,
                          &max_memory) || !options_in(threads, max_work, max_memory, &how)) return NULL;
    net_object *owner = (net_object *)self;
    const xir_array **inputs = net_read(owner) ? arrays_in(list, &s) : NULL;
    xir_diags *why = inputs ? why_new() : NULL;
    run_object *o = why ? PyObject_New(run_object, Run_type) : NULL;
    if (o) {
        o->owner = (net_object *)Py_NewRef(self);
        o->run = NULL;
        o->busy = false;
        o->last = (struct timespec){ 0 };
        how.user = &o->last;
        if (net_begin_read(owner)) {
            o->run = xir_run_new(owner->net, inputs, (size_t)PyTuple_Size(list), &how, why);
            if (!o->run) net_end_read(owner);
        }
    }
    scratch_free(&s);
    if (o && o->run) {
        xir_diags_free(why);
        return (PyObject *)o;
    }
    Py_XDECREF((PyObject *)o);
    return why ? raise_diags(XIR_OK, why) : NULL;
}

static xir_run_state *run_read(run_object *o) {
    if (!o->run) return raise_status(XIR_E_STALE, "the run has been closed");
    return o->busy ? raise_busy() : o->run;
}

/* step(): the op that was computed, None after the last one. */
static PyObject *run_step(PyObject *self, PyObject *none) {
    run_object *o = (run_object *)self;
    const xir_op *op = NULL;
    (void)none;
    xir_diags *why = run_read(o) ? why_new() : NULL;
    if (!why) return NULL;
    xir_status status;
    o->busy = true;
    WITHOUT_GIL(status = xir_run_step(o->run, &op, why));
    o->busy = false;
    if (status) return raise_diags(status, why);
    xir_diags_free(why);
    if (PyErr_CheckSignals()) return NULL;
    return op_wrap(o->owner, (xir_op *)(uintptr_t)op);
}

/* value(value): its Array. */
static PyObject *run_value(PyObject *self, PyObject *arg) {
    run_object *o = (run_object *)self;
    xir_value *value;
    if (!run_read(o) || !value_of(arg, o->owner, false, &value)) return NULL;
    xir_diags *why = why_new();
    xir_array *array = why ? xir_run_value(o->run, value, why) : NULL;
    if (!why) return NULL;
    if (!array) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    return array_wrap(array, false);
}

/* set(value, array): puts another Array in its place. */
static PyObject *run_set(PyObject *self, PyObject *args) {
    run_object *o = (run_object *)self;
    PyObject *arg, *array;
    xir_value *value;
    if (!PyArg_ParseTuple(args, "OO!:set", &arg, Array_type, &array) || !run_read(o) ||
        !value_of(arg, o->owner, false, &value)) return NULL;
    xir_diags *why = why_new();
    if (!why) return NULL;
    const xir_status status = xir_run_set(o->run, value, ((array_object *)array)->array, why);
    if (status) return raise_diags(status, why);
    xir_diags_free(why);
    return Py_NewRef(Py_None);
}

static PyObject *run_close_(PyObject *self, PyObject *none) {
    run_object *o = (run_object *)self;
    (void)none;
    if (o->busy) return raise_busy();
    run_close(o);
    return Py_NewRef(Py_None);
}

static PyMethodDef run_methods[] = {
    { "step", run_step, METH_NOARGS,
      DOC("step($self, /)", "Computes the next op and returns it; None after the last one.") },
    { "value", run_value, METH_O, DOC("value($self, value, /)", "Its Array.") },
    { "set", run_set, METH_VARARGS,
      DOC("set($self, value, array, /)", "Puts another Array in the place of a value.") },
    { "close", run_close_, METH_NOARGS,
      DOC("close($self, /)", "Ends the run; the network may be changed again.") },
    { NULL, NULL, 0, NULL },
};
static PyType_Slot run_slots[] = {
    { Py_tp_doc,     "A run that is stepped, op by op." },
    { Py_tp_dealloc, run_dealloc },
    { Py_tp_methods, run_methods },
    { 0, NULL },
};
static PyType_Spec run_spec = {
    "xir._xir.Run", sizeof(run_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, run_slots,
};

bool run_init(PyObject *module) { return (Run_type = add_type(module, &run_spec, "Run")); }

PyMethodDef run_functions[] = {
    { "run",       run,       METH_VARARGS, NULL },
    { "run_begin", run_begin, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

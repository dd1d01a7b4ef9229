/* Passes in Python. A pass is a function of a network and its options that returns the number of changes. Its
 * declaration lives as long as the context, which is as long as the process. */
#include <string.h>
#include "xirpy.h"

/* A declaration and what its pointers point to. */
typedef struct python_pass {
    xir_pass_decl decl;
    PyObject     *call;
    PyObject     *kept;       /* a tuple of the texts */
} python_pass;

/* ---- the networks that pipelines work on ---------------------------------------------------------------------- */

static working *all_working;

void working_begin(working *w, net_object *owner) {
    *w = (working){ owner, NULL, all_working };
    all_working = w;
}

void working_end(working *w) {
    working **at = &all_working;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
}

static working *find_working(const xir_network *net) {
    for (working *w = all_working; w; w = w->next) {
        if (w->owner->net == net) return w;
    }
    return NULL;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

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
    PyObject *type, *value, *trace;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return XIR_E_CANCELLED;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace) PyException_SetTraceback(value, trace);
    PyObject *name = PyType_GetName((PyTypeObject *)type), *text = PyObject_Str(value);
    const char *a = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const char *b = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    xir_status status = xir_pass_fail(at, XIR_E_INVALID, NULL, "%s: %s", a ? a : "an exception", b ? b : "");
    PyErr_Clear();
    Py_XDECREF(name);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    PyObject *old = w ? w->cause : value;
    if (w) w->cause = value;
    Py_XDECREF(old);
    return status;
}

/* A network that no wrapper has, such as the copy that another pass works on, has one during the call. */
static PyObject *network_of(xir_network *net, const working *w) {
    if (w) return Py_NewRef((PyObject *)w->owner);
    PyObject *made = net_wrap(net, false);
    if (made) ((net_object *)made)->writer = PyThread_get_thread_ident(), ((net_object *)made)->writing = 1;
    return made;
}

static xir_status call_pass(xir_pass *at) {
    const python_pass *p = xir_pass_user(at);
    PyGILState_STATE state = PyGILState_Ensure();
    working *w = find_working(xir_pass_network(at));
    PyObject *net = network_of(xir_pass_network(at), w), *options = net ? options_out(at, &p->decl) : NULL;
    PyObject *result = options ? PyObject_CallFunctionObjArgs(p->call, net, options, NULL) : NULL;
    long long n = result && result != Py_None ? PyLong_AsLongLong(result) : 0;
    if (result && !PyErr_Occurred() && n < 0) PyErr_SetString(PyExc_ValueError, "a number of changes is not negative");
    xir_status status = PyErr_Occurred() ? failed(at, w) : XIR_OK;
    if (!status) xir_pass_changed(at, (size_t)n);
    if (net && !w) {      /* its wrappers may outlive it */
        ((net_object *)net)->net = NULL;
        ((net_object *)net)->writing = 0;
    }
    Py_XDECREF(net);
    Py_XDECREF(options);
    Py_XDECREF(result);
    PyGILState_Release(state);
    return status;
}

/* ---- registering ------------------------------------------------------------------------------------------------- */

static bool option_in(PyObject *row, xir_pass_option *out) {
    int kind;
    if (!PyTuple_Check(row)) return PyErr_SetString(PyExc_TypeError, "an option is a tuple"), false;
    if (!PyArg_ParseTuple(row, "siss", &out->name, &kind, &out->default_text, &out->doc)) return false;
    out->kind = (xir_pass_kind)kind;
    return true;
}

/* register_pass(name, doc, level, options, call): options are (name, kind, default, doc). */
PyObject *register_pass(PyObject *module, PyObject *args) {
    const char *name, *doc;
    int level;
    PyObject *options, *call;
    (void)module;
    if (!PyArg_ParseTuple(args, "ssiO!O:register_pass", &name, &doc, &level, &PyTuple_Type, &options, &call)) {
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
                                   .run = call_pass, .user = p };
        p->call = Py_NewRef(call);
        p->kept = Py_NewRef(args);
        status = xir_pass_register(the_context, &p->decl, why);
    }
    if (why && !status) {
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

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Patterns, and rewriting by functions of Python. xir/patterns.py says what a part is; here its rows become a pattern
 * of the library. Matching and rewriting hold the GIL, since they call Python for every match. */
#include <string.h>
#include "xirpy.h"

static PyTypeObject *Pattern_type;
static PyObject     *make_match;      /* xir.patterns.Match */

/* The functions that the predicates of a row call; NULL: none. Borrowed from `kept`. */
typedef struct row_calls {
    PyObject *where, *where_value;
} row_calls;

typedef struct pattern_object {
    PyObject_HEAD
    xir_pattern *pattern;
    row_calls   *calls;       /* a row each                                           */
    PyObject    *names;       /* a tuple with the name of each row, or None           */
    PyObject    *kept;        /* what the constructor got                             */
} pattern_object;

/* ---- predicates ------------------------------------------------------------------------------------------------ */

/* Calls a predicate, whose argument it releases. After one has raised, all are false, and the caller of the library
 * raises the exception. The network cannot be changed meanwhile. */
static bool ask(PyObject *call, PyObject *arg, working *w) {
    w->owner->readers++;
    PyObject *result = arg ? PyObject_CallFunctionObjArgs(call, arg, NULL) : NULL;
    int truth = result ? PyObject_IsTrue(result) : -1;
    w->owner->readers--;
    if (truth < 0) working_keep(w);
    Py_XDECREF(result);
    Py_XDECREF(arg);
    return truth > 0;
}

static bool where(const xir_op *op, void *user) {
    const row_calls *calls = user;
    working *w = working_find(xir_op_network(op));
    return w && !w->cause && ask(calls->where, op_wrap(w->owner, (xir_op *)(uintptr_t)op), w);
}

static bool where_value(const xir_value *value, void *user) {
    const row_calls *calls = user;
    working *w = working_find(xir_value_network(value));
    return w && !w->cause && ask(calls->where_value, value_wrap(w->owner, (xir_value *)(uintptr_t)value), w);
}

/* ---- making ---------------------------------------------------------------------------------------------------- */

static bool test_in(PyObject *item, xir_pattern_attr *out) {
    PyObject *value;
    xir_any any;
    scratch none = { 0 };
    if (!PyTuple_Check(item) || !PyArg_ParseTuple(item, "sO:attribute", &out->name, &value)) return false;
    if (value == Py_Ellipsis) return true;      /* XIR_TEST_PRESENT */
    if (!(PyBool_Check(value) || PyLong_Check(value) || PyFloat_Check(value) || PyUnicode_Check(value))) {
        raise_status(XIR_E_TYPE, "the attribute '%s' is compared with a bool, a number, a text or ...", out->name);
        return false;
    }
    if (!any_in(NULL, value, &any, &none)) return false;
    switch (any.kind) {
    case XIR_ANY_BOOL: out->test = XIR_TEST_BOOL; out->i64 = any.as.boolean; break;
    case XIR_ANY_INT:  out->test = XIR_TEST_I64; out->i64 = any.as.integer; break;
    case XIR_ANY_REAL: out->test = XIR_TEST_REAL; out->real = any.as.real; break;
    case XIR_ANY_TEXT: out->test = XIR_TEST_TEXT; out->text = word_in(value); return out->text != NULL;
    default: raise_status(XIR_E_BOUNDS, "the integer does not fit into 64 bits with a sign"); return false;
    }
    return true;
}

static bool numbers_in(PyObject *list, uint8_t *out, size_t room, size_t *n) {
    *n = (size_t)PyTuple_Size(list);
    if (*n > room) {
        raise_status(XIR_E_LIMIT, "a part has at most %zu inputs", room);
        return false;
    }
    for (size_t i = 0; i < *n; i++) out[i] = (uint8_t)PyLong_AsLong(PyTuple_GetItem(list, (Py_ssize_t)i));
    return !PyErr_Occurred();
}

/* A row is (kind, keys, inputs, attributes, where, where_value, commutes, output, optional, uses, element, number,
 * within). Its texts live as long as the tuple. */
static bool row_in(PyObject *item, xir_pattern_row *row, row_calls *calls) {
    PyObject *inputs, *attrs;
    int kind, commutes, optional;
    Py_ssize_t uses;
    if (!PyTuple_Check(item)) return PyErr_SetString(PyExc_TypeError, "a row is a tuple"), false;
    if (!PyArg_ParseTuple(item, "izO!O!OOpbpnzdd:row", &kind, &row->keys, &PyTuple_Type, &inputs, &PyTuple_Type, &attrs,
                          &calls->where, &calls->where_value, &commutes, &row->output, &optional, &uses, &row->element,
                          &row->number, &row->within)) {
        return false;
    }
    row->kind = (xir_pattern_kind)kind;
    row->commutes = commutes;
    row->optional = optional;
    if (uses < 0) return raise_status(XIR_E_BOUNDS, "a value has no less than 0 uses"), false;
    row->uses = (size_t)uses;
    row->user = calls;
    if (calls->where != Py_None) row->where = where;
    if (calls->where_value != Py_None) row->where_value = where_value;
    if (PyTuple_Size(attrs) > XIR_ROW_MAX_ATTRS) {
        return raise_status(XIR_E_LIMIT, "a part tests at most %d attributes", XIR_ROW_MAX_ATTRS), false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(attrs); i++) {
        if (!test_in(PyTuple_GetItem(attrs, i), &row->attrs[i])) return false;
    }
    return numbers_in(inputs, row->inputs, XIR_ROW_MAX_INPUTS, &row->n_inputs);
}

/* Pattern(name, rows, names, closed). */
static PyObject *pattern_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    const char *name;
    PyObject *list, *names;
    int closed;
    scratch s = { 0 };
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "sO!O!p:Pattern", &name, &PyTuple_Type, &list, &PyTuple_Type, &names, &closed)) {
        return NULL;
    }
    size_t n = (size_t)PyTuple_Size(list);
    if (PyTuple_Size(names) != (Py_ssize_t)n) return PyErr_Format(PyExc_TypeError, "each row has a name or None");
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    pattern_object *p = (pattern_object *)alloc(type, 0);
    xir_pattern_row *rows = p ? scratch_take(&s, n, sizeof *rows) : NULL;
    bool fine = rows && (p->calls = PyMem_Calloc(n + 1, sizeof *p->calls));
    if (rows) memset(rows, 0, n * sizeof *rows);
    if (rows && !fine) PyErr_NoMemory();
    for (size_t i = 0; fine && i < n; i++) fine = row_in(PyTuple_GetItem(list, (Py_ssize_t)i), &rows[i], &p->calls[i]);
    xir_diags *why = fine ? why_new() : NULL;
    if (why) {
        p->names = Py_NewRef(names);
        p->kept = Py_NewRef(args);
        const xir_pattern_decl decl = { XIR_PATTERN_HEAD_OF(name), .rows = rows, .n_rows = n, .closed = closed };
        p->pattern = xir_pattern_new(the_context, &decl, why);
        if (p->pattern) xir_diags_free(why);
        else raise_diags(XIR_OK, why);
    }
    scratch_free(&s);
    if (p && !p->pattern) Py_CLEAR(p);
    return (PyObject *)p;
}

static void pattern_dealloc(pattern_object *p) {
    PyTypeObject *type = Py_TYPE((PyObject *)p);
    xir_pattern_free(p->pattern);
    PyMem_Free(p->calls);
    Py_XDECREF(p->names);
    Py_XDECREF(p->kept);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(p);
    Py_DECREF(type);
}

/* ---- matching --------------------------------------------------------------------------------------------------- */

static bool put(PyObject *dict, PyObject *name, PyObject *item) {
    bool fine = item && !PyDict_SetItem(dict, name, item);
    Py_XDECREF(item);
    return fine;
}

/* Match(root, values, ops), whose dicts have the named rows. */
static PyObject *match_out(const pattern_object *p, net_object *owner, const xir_match *m) {
    PyObject *values = PyDict_New(), *ops = PyDict_New(), *root = op_wrap(owner, m->root), *made = NULL;
    bool fine = values && ops && root;
    for (Py_ssize_t i = 0; fine && i < PyTuple_Size(p->names); i++) {
        PyObject *name = PyTuple_GetItem(p->names, i);
        if (name == Py_None) continue;
        fine = put(values, name, value_wrap(owner, xir_match_value(m, (unsigned)i))) &&
               put(ops, name, op_wrap(owner, xir_match_op(m, (unsigned)i)));
    }
    if (fine) made = PyObject_CallFunctionObjArgs(make_match, root, values, ops, NULL);
    Py_XDECREF(values);
    Py_XDECREF(ops);
    Py_XDECREF(root);
    return made;
}

/* match(op): the match with this op as its root, or None. */
static PyObject *pattern_match(PyObject *self, PyObject *arg) {
    pattern_object *p = (pattern_object *)self;
    xir_match m = { 0 };
    working w;
    if (!PyObject_TypeCheck(arg, Op_type)) return PyErr_Format(PyExc_TypeError, "match takes an op");
    op_object *o = (op_object *)arg;
    xir_op *op = op_read(o);
    if (!op) return NULL;
    if (!xir_op_is_placed(op)) return Py_NewRef(Py_None);
    net_object *owner = o->owner;
    if (!net_begin_read(owner)) return NULL;
    Py_INCREF(self);
    Py_INCREF((PyObject *)owner);
    working_begin(&w, owner);
    bool found = xir_pattern_match(p->pattern, op, &m);
    working_end(&w);
    net_end_read(owner);
    PyObject *made = w.cause ? working_raise(&w) : found ? match_out(p, owner, &m) : Py_NewRef(Py_None);
    Py_DECREF((PyObject *)owner);
    Py_DECREF(self);
    return made;
}

/* ---- rewriting -------------------------------------------------------------------------------------------------- */

typedef struct rewriting {
    working         w;
    pattern_object *pattern;
    PyObject       *call;
    int64_t         next_id;      /* the least id of an op that the function makes */
} rewriting;

static bool is_whole(const xir_match *m, Py_ssize_t rows) {
    for (Py_ssize_t i = 0; i < rows; i++) {
        if (m->ops[i] && xir_op_is_erased(m->ops[i])) return false;
    }
    return !xir_op_is_erased(m->root);
}

/* A value for each output of the root. */
static xir_verdict replace_all(net_object *owner, const xir_match *m, PyObject *list) {
    size_t n = (size_t)PyTuple_Size(list), outputs = xir_op_output_count(m->root);
    scratch s = { 0 };
    if (n != outputs) {
        raise_status(XIR_E_BOUNDS, "the root has %zu outputs, the function returned %zu values", outputs, n);
        return XIR_REWRITE_FAILED;
    }
    xir_replacement *all = scratch_take(&s, n, sizeof *all);
    bool fine = all != NULL;
    for (size_t i = 0; fine && i < n; i++) {
        all[i].old = xir_op_output(m->root, (int64_t)i);
        fine = value_of(PyTuple_GetItem(list, (Py_ssize_t)i), owner, false, &all[i].now);
    }
    xir_verdict verdict = fine ? xir_match_replace_outputs(m, all, n) : XIR_REWRITE_FAILED;
    scratch_free(&s);
    return verdict;
}

/* Interprets the result of the function: a value replaces that of the root, a tuple all its outputs; True: the
 * function has changed the network itself; None: it leaves the match alone. */
static xir_verdict verdict_of(const rewriting *r, const xir_match *m, PyObject *result) {
    net_object *owner = r->w.owner;
    xir_value *now;
    if (!result) return XIR_REWRITE_FAILED;
    if (result == Py_None || result == Py_False) return XIR_REWRITE_LEFT;
    if (result == Py_True) return XIR_REWRITE_DONE;
    if (!is_whole(m, PyTuple_Size(r->pattern->names))) {
        raise_status(XIR_E_STALE, "the function erased an op of the match and returned a value: return True");
        return XIR_REWRITE_FAILED;
    }
    if (PyTuple_Check(result)) return replace_all(owner, m, result);
    if (!value_of(result, owner, false, &now)) return XIR_REWRITE_FAILED;
    const xir_str name = xir_op_name(m->root);      /* which lives as long as the network */
    xir_verdict verdict = xir_match_replace(m, now);
    xir_op *made = verdict == XIR_REWRITE_DONE ? xir_value_op(now) : NULL;
    bool is_new = made && xir_op_id(made) >= r->next_id;
    if (is_new && !xir_op_name(made).size && xir_op_set_name(made, name)) verdict = XIR_REWRITE_FAILED;
    return verdict;
}

static xir_verdict rewrite_one(xir_rewriter *at, const xir_match *m, const void *user) {
    rewriting *r = (rewriting *)(uintptr_t)user;
    net_object *owner = r->w.owner;
    (void)at;
    if (r->w.cause) return XIR_REWRITE_FAILED;
    r->next_id = xir_network_next_op_id(owner->net);
    xir_op *before = owner->before;
    const xir_target *target = owner->target;
    PyObject *match = match_out(r->pattern, owner, m), *result = NULL;
    if (match) {
        owner->before = m->root;      /* functions of F put their ops before the root, for its target */
        owner->target = xir_op_target(m->root);
        result = PyObject_CallFunctionObjArgs(r->call, match, NULL);
        owner->before = before;
        owner->target = target;
    }
    xir_verdict verdict = verdict_of(r, m, result);
    Py_XDECREF(match);
    Py_XDECREF(result);
    if (PyErr_Occurred()) working_keep(&r->w);
    return r->w.cause ? XIR_REWRITE_FAILED : verdict;
}

/* rewrite(net, pattern, function, limit): the number of rewrites. */
static PyObject *rewrite(PyObject *module, PyObject *args) {
    PyObject *self, *pattern, *call;
    Py_ssize_t limit;
    size_t n = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!On:rewrite", Network_type, &self, Pattern_type, &pattern, &call, &limit)) {
        return NULL;
    }
    if (limit < 0) return raise_status(XIR_E_BOUNDS, "a limit is not negative");
    net_object *o = (net_object *)self;
    rewriting r = { .pattern = (pattern_object *)pattern, .call = call };
    xir_diags *why = why_new();
    if (!why || !net_begin_write(o)) {
        xir_diags_free(why);
        return NULL;
    }
    const xir_rule rule = { r.pattern->pattern, rewrite_one, &r };
    working_begin(&r.w, o);
    xir_status status = xir_network_rewrite(o->net, &rule, 1, sizeof rule, (size_t)limit, &n, why);
    working_end(&r.w);
    net_end_write(o);
    if (r.w.cause) {
        xir_diags_free(why);
        xir_network_clear_status(o->net);
        return working_raise(&r.w);
    }
    if (status) {
        xir_network_clear_status(o->net);
        return raise_diags(status, why);
    }
    return warn_diags_and_notes(why) ? PyLong_FromSize_t(n) : NULL;
}

/* ---- the type --------------------------------------------------------------------------------------------------- */

/* set_match(type): what matches are made of, once xir.patterns exists. */
static PyObject *set_match(PyObject *module, PyObject *type) {
    (void)module;
    PyObject *old = make_match;
    make_match = Py_NewRef(type);
    Py_XDECREF(old);
    return Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    { "rewrite",   rewrite,   METH_VARARGS, NULL },
    { "set_match", set_match, METH_O,       NULL },
    { NULL, NULL, 0, NULL },
};

static PyMethodDef pattern_methods[] = {
    { "match", pattern_match, METH_O,
      DOC("match($self, op, /)", "The match with this op as its root, or None.") },
    { NULL, NULL, 0, NULL },
};
static PyType_Slot pattern_slots[] = {
    { Py_tp_new,     pattern_new },
    { Py_tp_dealloc, pattern_dealloc },
    { Py_tp_methods, pattern_methods },
    { 0, NULL },
};
static PyType_Spec pattern_spec = {
    "xir._xir.Pattern", sizeof(pattern_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, pattern_slots,
};

bool pattern_init(PyObject *module) {
    return (Pattern_type = add_type(module, &pattern_spec, "Pattern")) && !PyModule_AddFunctions(module, functions);
}

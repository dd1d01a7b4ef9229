/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks: access from several threads, what a network is asked, how it is edited, saved and cloned. */
#include <string.h>
#include <xir/convert.h>
#include <xir/provenance.h>
#include "xirpy.h"

PyTypeObject *Network_type;
static PyTypeObject *Ops_type;

/* ---- access ----------------------------------------------------------------------------------------------------- */

static bool is_mine(const net_object *o) { return o->writing && o->writer == PyThread_get_thread_ident(); }

static calling *all_calling;
static uint64_t births;

void calling_begin(calling *c, bool strict) {
    *c = (calling){ PyThread_get_thread_ident(), births, strict, all_calling };
    all_calling = c;
}

void calling_end(calling *c) {
    calling **at = &all_calling;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
}

/* Returns true if a function of a class that runs in this thread is kept from the network. */
static bool is_kept(const net_object *o, bool write) {
    const calling *c = all_calling;
    for (; c; c = c->next) {
        bool refused = write || c->strict || o->writing;
        if (refused && o->born < c->born && c->thread == PyThread_get_thread_ident()) break;
    }
    return c != NULL;
}

xir_network *net_read(net_object *o) {
    if (!o->net) return raise_status(XIR_E_STALE, "the network no longer exists");
    if ((o->writing && !is_mine(o)) || is_kept(o, false)) return raise_busy();
    return o->net;
}

xir_network *net_write(net_object *o) {
    if (!o->net) return raise_status(XIR_E_STALE, "the network no longer exists");
    if (o->readers || (o->writing && !is_mine(o)) || is_kept(o, true)) return raise_busy();
    o->edits++;
    return o->net;
}

bool net_begin_write(net_object *o) {
    if (!net_write(o)) return false;
    o->writer = PyThread_get_thread_ident();
    o->writing++;
    return true;
}

void net_end_write(net_object *o) { o->writing--; }

bool net_begin_read(net_object *o) {
    if (!net_read(o)) return false;
    o->readers++;
    return true;
}

void net_end_read(net_object *o) { o->readers--; }

/* ---- life ------------------------------------------------------------------------------------------------------- */

PyObject *net_wrap(xir_network *net, bool owned) {
    net_object *o = PyObject_New(net_object, Network_type);
    if (!o) {
        if (owned) xir_network_free(net);
        return NULL;
    }
    o->net = net;
    o->owned = owned;
    o->born = births++;
    o->writing = o->readers = 0;
    o->scope = NULL;
    o->before = NULL;
    o->target = NULL;
    o->edits = 0;
    o->kept = NULL;
    memset(o->objects, 0, sizeof o->objects);
    o->births = 0;
    o->known = (identities){ 0 };
    o->retired = NULL;
    o->astray = false;
    return (PyObject *)o;
}

static void net_dealloc(net_object *o) {
    PyTypeObject *type = Py_TYPE((PyObject *)o);
    Py_XDECREF(o->scope);
    Py_XDECREF(o->kept);
    transactions_forget(o);
    if (o->owned) {
        xir_provenance_free(xir_provenance_of(o->net));
        xir_network_free(o->net);
    }
    PyObject_Free(o);
    Py_DECREF(type);
}

static PyObject *net_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = { "name", NULL };
    PyObject *name = NULL;
    const char *text = "";
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Network", names, &name)) return NULL;
    if (name && !(text = word_in(name))) return NULL;
    xir_network *net = xir_network_new(the_context, text, XIR_FRAMEWORK_PYTORCH, "");
    return net ? net_wrap(net, true) : PyErr_NoMemory();
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

static PyObject *get_text(PyObject *self, void *which) {
    xir_network *net = net_read((net_object *)self);
    return net ? text_out(xir_network_text_of(net, (xir_network_text)(intptr_t)which)) : NULL;
}

static int set_text(PyObject *self, PyObject *value, void *which) {
    xir_str text;
    xir_network *net = net_write((net_object *)self);
    if (!net) return -1;
    if (!value) return PyErr_SetString(PyExc_AttributeError, "a network always has this"), -1;
    if (!text_in(value, &text)) return -1;
    xir_status status = xir_network_set_text(net, (xir_network_text)(intptr_t)which, text);
    return status ? (raise_net(net, status), -1) : 0;
}

/* ---- lists of ops --------------------------------------------------------------------------------------------- */

/* The ops that a loop asks for: all ops; those of a class; those whose key is a word, or ends with it. */
typedef struct asked {
    const xir_class *cls;
    xir_str          word;
} asked;

/* Returns true if a key is a word or ends with it after "::" or '.': "Conv" of "onnx::Conv". */
static bool key_is(xir_str key, xir_str word) {
    if (key.size < word.size || memcmp(key.data + key.size - word.size, word.data, word.size) != 0) return false;
    const size_t before = key.size - word.size;
    return !before || key.data[before - 1] == '.' || key.data[before - 1] == ':';
}

static bool is_asked(const asked *a, const xir_class *cls) {
    if (!a->cls && !a->word.size) return true;
    if (a->cls && xir_class_is_a(cls, a->cls)) return true;
    return a->word.size && xir_class_is_opaque(cls) && key_is(xir_class_key(cls), a->word);
}

static PyObject *ops_of(net_object *owner, const asked *a) {
    xir_network *net = net_read(owner);
    if (!net) return NULL;
    size_t room = xir_network_op_count(net);
    xir_op **ops = PyMem_Malloc((room + 1) * sizeof *ops);
    ops_object *o = ops ? PyObject_New(ops_object, Ops_type) : NULL;
    if (!o) {
        PyMem_Free(ops);
        return PyErr_NoMemory();
    }
    o->owner = (net_object *)Py_NewRef((PyObject *)owner);
    o->ops = ops;
    o->n = o->at = 0;
    track(owner, TRACKED_OPS, &o->link);
    for (xir_op *op = xir_network_first(net); op && o->n < room; op = xir_op_next(op)) {
        if (is_asked(a, xir_op_class(op))) ops[o->n++] = op;
    }
    return (PyObject *)o;
}

static void ops_dealloc(ops_object *o) {
    PyTypeObject *type = Py_TYPE((PyObject *)o);
    untrack(&o->link);
    PyMem_Free(o->ops);
    Py_DECREF((PyObject *)o->owner);
    PyObject_Free(o);
    Py_DECREF(type);
}

static PyObject *ops_next(ops_object *o) {
    if (!net_read(o->owner)) return NULL;
    while (o->at < o->n && xir_op_is_erased(o->ops[o->at])) o->at++;
    return o->at < o->n ? op_wrap(o->owner, o->ops[o->at++]) : NULL;
}

static PyObject *net_iter(PyObject *self) { return ops_of((net_object *)self, &(asked){ 0 }); }

/* The nearest of the names that classes have: their keys, and what these end with. */
static void near_key(xir_str word, xir_str key, xir_str *meant, size_t *distance) {
    size_t last = key.size;
    while (last && key.data[last - 1] != ':') last--;
    const xir_str end = { key.data + last, key.size - last };
    const bool whole = memchr(word.data, ':', word.size) != NULL;
    if (xir_str_is_nearer(word, whole ? key : end, distance)) *meant = whole ? key : end;
}

/* Returns true if a word names classes that a network may have: those of formats have rows, and the network's own may
 * be of an operator set that nobody has registered. Otherwise `meant` gets the name that is nearest. */
static bool is_known(const xir_network *net, xir_str word, xir_str *meant) {
    const xir_convert_row *row;
    const xir_class *cls;
    size_t distance = SIZE_MAX;
    for (size_t i = 0; (row = xir_convert_at(the_context, i)); i++) {
        if (key_is(xir_str_of(row->name), word)) return true;
    }
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_str key = xir_class_key(xir_op_class(op));
        if (key_is(key, word)) return true;
        near_key(word, key, meant, &distance);
    }
    for (size_t i = 0; (cls = xir_context_class_at(the_context, i)); i++) {
        if (xir_class_is_op(cls)) near_key(word, xir_class_key(cls), meant, &distance);
    }
    for (size_t i = 0; (row = xir_convert_at(the_context, i)); i++)
        near_key(word, xir_str_of(row->name), meant, &distance);
    return false;
}

/* ops(cls=None): a class, its key with or without "icraft::xir::", or what the key of another format ends with. */
static PyObject *net_ops(PyObject *self, PyObject *args) {
    PyObject *arg = Py_None;
    asked a = { 0 };
    xir_str meant = { 0 };
    net_object *o = (net_object *)self;
    if (!PyArg_ParseTuple(args, "|O:ops", &arg)) return NULL;
    if (arg == Py_None) return net_iter(self);
    if (PyType_Check(arg)) {      /* a class of operations written in Python */
        PyObject *cls = PyObject_GetAttrString(arg, "_class");
        if (cls && PyObject_TypeCheck(cls, Class_type)) a.cls = ((class_object *)cls)->cls;
        Py_XDECREF(cls);
        if (a.cls) return ops_of(o, &a);
        if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
        return PyErr_Format(PyExc_TypeError, "%R is not a class of operations", arg);
    }
    if (PyObject_TypeCheck(arg, Class_type)) {
        a.cls = ((class_object *)arg)->cls;
        return ops_of(o, &a);
    }
    if (!text_in(arg, &a.word)) return NULL;
    if (!a.word.size) return raise_status(XIR_E_UNKNOWN, "a class has a key that is not empty");
    xir_network *net = net_read(o);
    if (!net) return NULL;
    a.cls = find_class(a.word);
    if (!a.cls && !is_known(net, a.word, &meant)) return raise_unknown("there is no class", a.word, meant);
    return ops_of(o, &a);
}

static Py_ssize_t net_length(PyObject *self) {
    xir_network *net = net_read((net_object *)self);
    return net ? (Py_ssize_t)xir_network_op_count(net) : -1;
}

xir_str near_op(const xir_network *net, xir_str name) {
    xir_str meant = { 0 };
    size_t distance = SIZE_MAX;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_str other = xir_op_name(op);
        if (other.size && xir_str_is_nearer(name, other, &distance)) meant = other;
    }
    return meant;
}

static PyObject *net_slice(net_object *o, PyObject *key) {
    Py_ssize_t from, to, step;
    if (PySlice_Unpack(key, &from, &to, &step)) return NULL;
    xir_network *net = net_read(o);      /* asked last: numbers of the slice run code of the caller */
    if (!net) return NULL;
    const Py_ssize_t n = PySlice_AdjustIndices((Py_ssize_t)xir_network_op_count(net), &from, &to, step);
    PyObject *list = PyList_New(n);
    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyObject *item = op_wrap(o, xir_network_op_at(net, from + i * step));
        if (!item || PyList_SetItem(list, i, item)) Py_CLEAR(list);
    }
    return list;
}

/* net[key]: by position, from the end if negative; several by a slice; or by name. */
static PyObject *net_item(PyObject *self, PyObject *key) {
    net_object *o = (net_object *)self;
    xir_str name;
    if (PySlice_Check(key)) return net_slice(o, key);
    if (PyIndex_Check(key)) {
        const Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
        xir_network *net = i == -1 && PyErr_Occurred() ? NULL : net_read(o);
        if (!net) return NULL;
        xir_op *op = xir_network_op_at(net, i);
        return op ? op_wrap(o, op)
                  : raise_status(XIR_E_BOUNDS, "the network has %zu ops, none at position %zd: net.op(id) finds ids",
                                 xir_network_op_count(net), i);
    }
    xir_network *net = net_read(o);
    if (!net || !text_in(key, &name)) return NULL;
    xir_op *op = xir_network_op_by_name(net, name);
    return op ? op_wrap(o, op) : raise_unknown("the network has no op named", name, near_op(net, name));
}

static int net_contains(PyObject *self, PyObject *key) {
    xir_str name;
    xir_network *net = net_read((net_object *)self);
    if (!net) return -1;
    if (PyObject_TypeCheck(key, Op_type)) {
        op_object *o = (op_object *)key;
        return o->owner == (net_object *)self && o->op && !xir_op_is_erased(o->op) && xir_op_is_placed(o->op);
    }
    return text_in(key, &name) ? xir_network_op_by_name(net, name) != NULL : -1;
}

static PyObject *net_op(PyObject *self, PyObject *id) {
    long long number = PyLong_AsLongLong(id);      /* first: it may run code of the caller */
    xir_network *net = number == -1 && PyErr_Occurred() ? NULL : net_read((net_object *)self);
    if (!net) return NULL;
    xir_op *op = xir_network_op_by_id(net, number);
    return op ? op_wrap((net_object *)self, op) : raise_status(XIR_E_UNKNOWN, "the network has no op %lld", number);
}

xir_str near_value(const xir_network *net, xir_str name) {
    xir_str meant = { 0 };
    size_t distance = SIZE_MAX;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op) + xir_op_input_count(op); i++) {
            const size_t outputs = xir_op_output_count(op);
            const xir_value *v = i < outputs ? xir_op_output(op, (int64_t)i) : xir_op_input(op, (int64_t)(i - outputs));
            const xir_str other = v ? xir_value_name(v) : (xir_str){ 0 };
            if (other.size && xir_str_is_nearer(name, other, &distance)) meant = other;
        }
    }
    return meant;
}

/* value(x): by id or by name. */
static PyObject *net_value(PyObject *self, PyObject *key) {
    xir_str name;
    xir_network *net = net_read((net_object *)self);
    if (!net) return NULL;
    xir_value *value;
    if (PyLong_Check(key)) {
        long long id = PyLong_AsLongLong(key);
        if (id == -1 && PyErr_Occurred()) return NULL;
        value = xir_network_value_by_id(net, id);
        if (!value) return raise_status(XIR_E_UNKNOWN, "the network has no value %lld", id);
    } else {
        if (!text_in(key, &name)) return NULL;
        value = xir_network_value_by_name(net, name);
        if (!value) return raise_unknown("the network has no value named", name, near_value(net, name));
    }
    return value_wrap((net_object *)self, value);
}

typedef size_t list_fn(const xir_network *net, xir_value **out, size_t room);

static PyObject *values_of(PyObject *self, list_fn *list) {
    xir_network *net = net_read((net_object *)self);
    size_t n = net ? list(net, NULL, 0) : 0;
    xir_value **values = net ? PyMem_Malloc((n + 1) * sizeof *values) : NULL;
    if (!values) return net ? PyErr_NoMemory() : NULL;
    n = list(net, values, n);
    PyObject *made = PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; made && i < n; i++) {
        PyObject *item = value_wrap((net_object *)self, values[i]);
        if (!item || PyTuple_SetItem(made, (Py_ssize_t)i, item)) Py_CLEAR(made);
    }
    PyMem_Free(values);
    return made;
}

static PyObject *net_inputs(PyObject *self, void *none) { return (void)none, values_of(self, xir_network_inputs); }
static PyObject *net_outputs(PyObject *self, void *none) { return (void)none, values_of(self, xir_network_outputs); }
static PyObject *net_params(PyObject *self, void *none) { return (void)none, values_of(self, xir_network_params); }

/* ---- notes ---------------------------------------------------------------------------------------------------- */

typedef const xir_map *map_fn(const xir_network *net);
typedef xir_status set_fn(xir_network *net, xir_str key, const xir_any *value);

static PyObject *get_map(PyObject *self, map_fn *get) {
    xir_network *net = net_read((net_object *)self);
    return net ? map_out((net_object *)self, get(net)) : NULL;
}

/* (key, value) sets, (key) removes. */
static PyObject *set_map(PyObject *self, PyObject *args, set_fn *set) {
    PyObject *key, *value = NULL;
    xir_any any;
    xir_str name;
    scratch s = { 0 };
    xir_network *net = net_write((net_object *)self);
    if (!net || !PyArg_ParseTuple(args, "O|O", &key, &value) || !text_in(key, &name)) return NULL;
    PyObject *done = NULL;
    /* Conversions run code of the caller, so that the network is asked again. */
    if ((!value || any_in((net_object *)self, value, &any, &s)) && net_write((net_object *)self)) {
        xir_status status = set(net, name, value ? &any : NULL);
        done = status ? raise_net(net, status) : Py_NewRef(Py_None);
    }
    scratch_free(&s);
    return done;
}

static PyObject *net_get_tags(PyObject *self, PyObject *none) { return (void)none, get_map(self, xir_network_tags); }
static PyObject *net_set_tag(PyObject *self, PyObject *args) { return set_map(self, args, xir_network_set_tag); }
static PyObject *net_get_extra(PyObject *self, PyObject *none) { return (void)none, get_map(self, xir_network_extra); }
static PyObject *net_set_extra(PyObject *self, PyObject *args) { return set_map(self, args, xir_network_set_extra); }

/* ---- editing -------------------------------------------------------------------------------------------------- */

/* remove(op): even if it has users, whose inputs become absent. */
static PyObject *net_remove(PyObject *self, PyObject *arg) {
    xir_network *net = net_write((net_object *)self);
    if (!net) return NULL;
    if (!PyObject_TypeCheck(arg, Op_type)) return PyErr_Format(PyExc_TypeError, "remove takes an op");
    xir_op *op = op_write((op_object *)arg);
    xir_status status = op ? xir_network_remove(net, op) : XIR_E_STALE;
    if (!op) return NULL;
    return status ? raise_net(net, status) : Py_NewRef(Py_None);
}

/* bypass(op): removes it and connects its users to what its inputs come from. */
static PyObject *net_bypass(PyObject *self, PyObject *arg) {
    xir_network *net = net_write((net_object *)self);
    if (!net) return NULL;
    if (!PyObject_TypeCheck(arg, Op_type)) return PyErr_Format(PyExc_TypeError, "bypass takes an op");
    xir_op *op = op_write((op_object *)arg);
    if (!op) return NULL;
    xir_status status = xir_network_bypass(net, &op, 1);
    return status ? raise_net(net, status) : Py_NewRef(Py_None);
}

/* resolve(): the ops of classes that have been registered since become ops of them. */
static PyObject *net_resolve(PyObject *self, PyObject *none) {
    (void)none;
    xir_network *net = net_write((net_object *)self);
    xir_diags *why = net ? why_new() : NULL;
    if (!why) return NULL;
    xir_status status = xir_network_resolve(net, why);
    if (status) return raise_diags(status, why);
    return warn_diags(why) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *net_clone(PyObject *self, PyObject *none) {
    (void)none;
    xir_network *net = net_read((net_object *)self), *made = net ? xir_network_clone(net) : NULL;
    if (!net) return NULL;
    return made ? net_wrap(made, true) : raise_net(net, XIR_OK);
}

static PyObject *net_equal(PyObject *self, PyObject *args) {
    PyObject *other;
    int params = 1;
    if (!PyArg_ParseTuple(args, "O!|p:equal", Network_type, &other, &params)) return NULL;
    xir_network *a = net_read((net_object *)self), *b = a ? net_read((net_object *)other) : NULL;
    return b ? PyBool_FromLong(xir_network_equal(a, b, params)) : NULL;
}

/* input(name, type): the value of a new input. */
static PyObject *net_input(PyObject *self, PyObject *args) {
    PyObject *name, *text, *hold = NULL;
    const char *word;
    if (!PyArg_ParseTuple(args, "OO:input", &name, &text) || !(word = word_in(name))) return NULL;
    const xir_type *type = type_in((net_object *)self, text, &hold);
    xir_network *net = type ? net_write((net_object *)self) : NULL;
    xir_op *op = net ? xir_network_input_op(net) : NULL;
    xir_value *value = NULL;
    if (net && !op) value = xir_input(xir_at_end(net), word, type);
    if (op) {
        size_t n = xir_op_output_count(op);
        const xir_type **types = PyMem_Malloc((n + 1) * sizeof *types);
        for (size_t i = 0; types && i < n; i++) types[i] = xir_value_type(xir_op_output(op, (int64_t)i));
        if (types) types[n] = type;
        if (types && !xir_op_set_outputs(op, types, n + 1)) value = xir_op_output(op, (int64_t)n);
        if (value && xir_value_set_name(value, xir_str_of(word))) value = NULL;
        if (!types) PyErr_NoMemory();
        PyMem_Free(types);
    }
    Py_XDECREF(hold);
    if (!net) return NULL;
    return value ? value_wrap((net_object *)self, value) : raise_net(net, XIR_OK);
}

/* Adds values to what the network returns: the Output comes last again, and has them too. */
static bool append_outputs(xir_network *net, xir_op *output, xir_value *const *values, size_t n) {
    const size_t had = xir_op_input_count(output);
    xir_value **all = PyMem_Calloc(had + n + 1, sizeof *all);
    if (!all) return PyErr_NoMemory(), false;
    for (size_t i = 0; i < had + n; i++) all[i] = i < had ? xir_op_input(output, (int64_t)i) : values[i - had];
    const bool done = (!xir_op_next(output) || xir_op_move(output, NULL) == XIR_OK) &&
                      xir_op_set_inputs(output, all, had + n) == XIR_OK;
    PyMem_Free(all);
    return done || raise_net(net, XIR_OK);
}

/* output(*values): ends the network, or adds to what it returns; returns its Output op. */
static PyObject *net_output(PyObject *self, PyObject *args) {
    scratch s = { 0 };
    size_t n = (size_t)PyTuple_Size(args);
    xir_network *net = net_write((net_object *)self);
    xir_value **values = net ? scratch_take(&s, n, sizeof *values) : NULL;
    bool fine = values != NULL;
    for (size_t i = 0; fine && i < n; i++) {
        fine = value_of(PyTuple_GetItem(args, (Py_ssize_t)i), (net_object *)self, false, &values[i]);
    }
    xir_op *op = fine ? xir_network_output_op(net) : NULL;
    if (op) fine = append_outputs(net, op, values, n);
    else if (fine) op = xir_output(xir_at_end(net), (xir_values){ values, n });
    scratch_free(&s);
    if (!fine) return NULL;
    return op ? op_wrap((net_object *)self, op) : raise_net(net, XIR_OK);
}

/* ---- the cursor: what net.at and net.scope set ---------------------------------------------------------------- */

static PyObject *get_cursor(PyObject *self, void *none) {
    (void)none;
    net_object *o = (net_object *)self;
    PyObject *before = op_wrap(o, o->before);      /* which may be erased: using the cursor then raises StaleError */
    PyObject *made = before ? PyTuple_Pack(2, o->scope ? o->scope : Py_None, before) : NULL;
    Py_XDECREF(before);
    return made;
}

static int set_cursor(PyObject *self, PyObject *value, void *none) {
    net_object *o = (net_object *)self;
    PyObject *scope, *before;
    (void)none;
    if (!value || !PyTuple_Check(value) || !PyArg_ParseTuple(value, "OO", &scope, &before)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a cursor is (scope, before)");
        return -1;
    }
    if ((scope != Py_None && !PyUnicode_Check(scope)) ||
        (before != Py_None && (!PyObject_TypeCheck(before, Op_type) || ((op_object *)before)->owner != o))) {
        PyErr_SetString(PyExc_TypeError, "a cursor is a str and an op of the network");
        return -1;
    }
    PyObject *old = o->scope;
    o->scope = scope == Py_None ? NULL : Py_NewRef(scope);
    o->before = before == Py_None ? NULL : ((op_object *)before)->op;
    o->astray = before != Py_None && !o->before;
    Py_XDECREF(old);
    return 0;
}

/* ---- what Python keeps ------------------------------------------------------------------------------------------ */

static PyObject *get_edits(PyObject *self, void *none) {
    return (void)none, PyLong_FromUnsignedLongLong(((net_object *)self)->edits);
}

static PyObject *get_kept(PyObject *self, void *none) {
    net_object *o = (net_object *)self;
    return (void)none, Py_NewRef(o->kept ? o->kept : Py_None);
}

static int set_kept(PyObject *self, PyObject *value, void *none) {
    net_object *o = (net_object *)self;
    PyObject *old = o->kept;
    (void)none;
    o->kept = value ? Py_NewRef(value) : NULL;
    Py_XDECREF(old);
    return 0;
}

/* ---- the type ------------------------------------------------------------------------------------------------- */

static PyMethodDef net_methods[] = {
    { "ops", net_ops, METH_VARARGS,
      DOC("ops($self, cls=None, /)",
          "The ops, or those of a class, in execution order. A class is also named by what its key ends with.") },
    { "op", net_op, METH_O, DOC("op($self, id, /)", "The op with this id.") },
    { "value", net_value, METH_O, DOC("value($self, x, /)", "The value with this id or name.") },
    { "remove", net_remove, METH_O,
      DOC("remove($self, op, /)",
          "Removes the op even if it has users: those get an absent input in that position, which net.check() "
          "reports.") },
    { "bypass", net_bypass, METH_O,
      DOC("bypass($self, op, /)",
          "Removes the op and connects its neighbours: a use of output i of the op becomes a use of the op's "
          "non-Params input i, or of its only one. InvalidError if there is no such input.") },
    { "resolve", net_resolve, METH_NOARGS,
      DOC("resolve($self, /)",
          "Turns every op (and sub op) of an unknown class into a real one, in place, if its class has been "
          "registered since, by a class of Python or a plug-in.") },
    { "clone", net_clone, METH_NOARGS,
      DOC("clone($self, /)",
          "Returns a network of the same content: ids, names, order, versions. Parameter bytes are shared until "
          "written.") },
    { "equal", net_equal, METH_VARARGS,
      DOC("equal($self, other, params=True, /)",
          "Returns true if two networks are equal, with or without their parameter bytes.") },
    { "input", net_input, METH_VARARGS,
      DOC("input($self, name, type, /)", "Adds an input, and returns its value.") },
    { "output", net_output, METH_VARARGS,
      DOC("output($self, /, *values)",
          "Ends the network with these outputs, or adds them to those it has. Returns the Output op.") },
    { "rename", (PyCFunction)(void (*)(void))net_rename, METH_VARARGS | METH_KEYWORDS,
      DOC("rename($self, /, names, *, ops=True, values=True)",
          "Renames ops, and values with Params: `names` is a dict from old to new names, or a function that returns "
          "the new name for an old one, None to keep it. What has no name is left out. Returns how many have been "
          "renamed. All new names are made first: an exception, or a key that nothing has, changes nothing. If memory "
          "ends while they are set, the first things keep their new names; net.transaction() takes these back too.") },
    { "_tags",      net_get_tags,  METH_NOARGS,  NULL },
    { "_set_tag",   net_set_tag,   METH_VARARGS, NULL },
    { "_extra",     net_get_extra, METH_NOARGS,  NULL },
    { "_set_extra", net_set_extra, METH_VARARGS, NULL },
    { "_begin",     transaction_begin, METH_NOARGS, NULL },
    { "_undo",      transaction_undo,  METH_O,      NULL },
    { NULL, NULL, 0, NULL },
};

#define TEXT(name, WHICH, doc) { name, get_text, set_text, doc, (void *)(intptr_t)XIR_TEXT_##WHICH }

static PyGetSetDef net_getset[] = {
    TEXT("name",              NAME,              "The name."),
    TEXT("framework",         FRAMEWORK,         "The framework that it comes from, \"ONNX\"."),
    TEXT("framework_version", FRAMEWORK_VERSION, "The version of the framework."),
    TEXT("xir_version",       XIR_VERSION,       "The version that decides how files are spelled."),
    { "inputs",  net_inputs,  NULL, "The inputs, a tuple of values.", NULL },
    { "outputs", net_outputs, NULL, "The outputs, a tuple of values.", NULL },
    { "params",  net_params,  NULL,
      "All Params: inputs of ops in execution order, then attributes, each once. A tuple.", NULL },
    { "_cursor", get_cursor,  set_cursor, NULL, NULL },
    { "_edits",  get_edits,   NULL, NULL, NULL },
    { "_kept",   get_kept,    set_kept, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot net_slots[] = {
    { Py_tp_doc,          "Network(name=\"\"): operations in execution order, connected by values." },
    { Py_tp_new,          net_new },
    { Py_tp_dealloc,      net_dealloc },
    { Py_tp_iter,         net_iter },
    { Py_tp_methods,      net_methods },
    { Py_tp_getset,       net_getset },
    { Py_mp_length,       net_length },
    { Py_mp_subscript,    net_item },
    { Py_sq_contains,     net_contains },
    { 0, NULL },
};
static PyType_Spec net_spec = { "xir.Network", sizeof(net_object), 0, Py_TPFLAGS_DEFAULT, net_slots };

static PyType_Slot ops_slots[] = {
    { Py_tp_dealloc,  ops_dealloc },
    { Py_tp_iter,     PyObject_SelfIter },
    { Py_tp_iternext, ops_next },
    { 0, NULL },
};
static PyType_Spec ops_spec = {
    "xir.Ops", sizeof(ops_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, ops_slots,
};

bool network_init(PyObject *module) {
    return (Network_type = add_type(module, &net_spec, "Network")) && (Ops_type = add_type(module, &ops_spec, "Ops"));
}

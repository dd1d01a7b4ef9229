/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values: outputs of ops, and Params, which have bytes. */
#include <string.h>
#include "xirpy.h"

PyTypeObject *Value_type;

/* ---- access --------------------------------------------------------------------------------------------------- */

xir_value *value_read(value_object *o) {
    if (!net_read(o->owner)) return NULL;
    if (!o->op && !o->value) return raise_status(XIR_E_STALE, "the op of the value has been erased");
    if (!o->op) return o->value;
    if (xir_op_is_erased(o->op)) return raise_status(XIR_E_STALE, "the op of the value has been erased");
    if (o->index < xir_op_output_count(o->op)) return xir_op_output(o->op, (int64_t)o->index);
    return raise_status(XIR_E_STALE, "the op no longer has an output %zu", o->index);
}

xir_value *value_write(value_object *o) { return net_write(o->owner) ? value_read(o) : NULL; }

PyObject *value_wrap(net_object *owner, xir_value *value) {
    if (!value) return Py_NewRef(Py_None);
    value_object *o = PyObject_New(value_object, Value_type);
    if (!o) return NULL;
    o->owner = (net_object *)Py_NewRef((PyObject *)owner);
    o->op = xir_value_op(value);
    o->index = xir_value_index(value);
    o->value = o->op ? NULL : value;
    o->id = identity_of(owner, o->op ? (const void *)o->op : value);
    track(owner, TRACKED_VALUE, &o->link);
    return (PyObject *)o;
}

bool value_of(PyObject *arg, net_object *owner, bool absent, xir_value **out) {
    *out = NULL;
    if (arg == Py_None && absent) return true;
    net_object *of;
    if (PyObject_TypeCheck(arg, Value_type)) {
        of = ((value_object *)arg)->owner;
        *out = value_read((value_object *)arg);
    } else if (PyObject_TypeCheck(arg, Op_type)) {
        of = ((op_object *)arg)->owner;
        xir_op *op = op_read((op_object *)arg);
        if (!op) return false;
        if (xir_op_output_count(op) != 1) {
            raise_status(XIR_E_TYPE, "an op with %zu outputs is not a value: name one of them",
                xir_op_output_count(op));
            return false;
        }
        *out = xir_op_output(op, 0);
    } else {
        PyObject *name = PyType_GetName(Py_TYPE(arg));
        PyErr_Format(PyExc_TypeError, "expected a value of a network, got %S", name ? name : Py_None);
        Py_XDECREF(name);
        return false;
    }
    if (!*out) return false;
    if (owner && of != owner) raise_status(XIR_E_INVALID, "the value is of another network");
    return !owner || of == owner;
}

static void value_dealloc(value_object *o) {
    PyTypeObject *type = Py_TYPE((PyObject *)o);
    untrack(&o->link);
    Py_DECREF((PyObject *)o->owner);
    PyObject_Free(o);
    Py_DECREF(type);
}

static PyObject *value_compare(PyObject *a, PyObject *b, int how) {
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(a, Value_type) || !PyObject_TypeCheck(b, Value_type)) {
        return Py_NewRef(Py_NotImplemented);
    }
    const value_object *x = (value_object *)a, *y = (value_object *)b;
    const bool equal = x->id.place == y->id.place && x->id.birth == y->id.birth && x->index == y->index &&
                       x->owner == y->owner;
    return PyBool_FromLong(equal == (how == Py_EQ));
}

static Py_hash_t value_hash(PyObject *self) {
    const value_object *o = (value_object *)self;
    return identity_hash(o->id) + 1 + (Py_hash_t)o->index;
}

static PyObject *done_or_raise(value_object *o, xir_status status) {
    return status ? raise_net(o->owner->net, status) : Py_NewRef(Py_None);
}

/* ---- properties ----------------------------------------------------------------------------------------------- */

static PyObject *get_name(PyObject *self, void *none) {
    (void)none;
    xir_value *v = value_read((value_object *)self);
    return v ? text_out(xir_value_name(v)) : NULL;
}

static int set_name(PyObject *self, PyObject *arg, void *none) {
    xir_str text;
    (void)none;
    xir_value *v = value_write((value_object *)self);
    if (v && !arg) PyErr_SetString(PyExc_AttributeError, "a value always has a name");
    if (!v || !arg || !text_in(arg, &text)) return -1;
    PyObject *done = done_or_raise((value_object *)self, xir_value_set_name(v, text));
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static PyObject *get_type(PyObject *self, void *none) {
    (void)none;
    xir_value *v = value_read((value_object *)self);
    return v ? type_wrap(((value_object *)self)->owner, xir_type_object(xir_value_type(v))) : NULL;
}

static int set_type(PyObject *self, PyObject *arg, void *none) {
    (void)none;
    PyObject *hold = NULL;
    if (!arg) return PyErr_SetString(PyExc_AttributeError, "the type of a value cannot be deleted"), -1;
    const xir_type *type = type_in(((value_object *)self)->owner, arg, &hold);
    xir_value *v = type ? value_write((value_object *)self) : NULL;
    PyObject *done = v ? done_or_raise((value_object *)self, xir_value_set_type(v, type)) : NULL;
    Py_XDECREF(hold);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static PyObject *get_memory(PyObject *self, void *none) {
    (void)none;
    xir_value *v = value_read((value_object *)self);
    return v ? mtype_out(xir_value_mtype(v)) : NULL;
}

static int set_memory(PyObject *self, PyObject *arg, void *none) {
    (void)none;
    if (!arg) return PyErr_SetString(PyExc_AttributeError, "the memory of a value cannot be deleted"), -1;
    const xir_mtype *mtype = mtype_in(arg);
    xir_value *v = mtype ? value_write((value_object *)self) : NULL;
    PyObject *done = v ? done_or_raise((value_object *)self, xir_value_set_mtype(v, mtype)) : NULL;
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static PyObject *get_id(PyObject *self, void *none) {
    (void)none;
    xir_value *v = value_read((value_object *)self);
    return v ? PyLong_FromLongLong(xir_value_id(v)) : NULL;
}

static PyObject *get_op(PyObject *self, void *none) {
    (void)none;
    xir_value *v = value_read((value_object *)self);
    return v ? op_wrap(((value_object *)self)->owner, xir_value_op(v)) : NULL;
}

static PyObject *get_index(PyObject *self, void *none) {
    (void)none;
    return PyLong_FromSize_t(((value_object *)self)->index);
}

static PyObject *get_network(PyObject *self, void *none) {
    return (void)none, Py_NewRef((PyObject *)((value_object *)self)->owner);
}

static PyObject *get_is_params(PyObject *self, void *none) {
    (void)none;
    xir_value *v = value_read((value_object *)self);
    return v ? PyBool_FromLong(xir_value_is_params(v)) : NULL;
}

static PyObject *get_has_data(PyObject *self, void *none) {
    (void)none;
    xir_value *v = value_read((value_object *)self);
    return v ? PyBool_FromLong(xir_value_is_params(v) && xir_params_has_data(v)) : NULL;
}

/* The uses are copied first: making a list may run code of the caller, by a garbage collection. */
static PyObject *get_users(PyObject *self, void *none) {
    (void)none;
    value_object *o = (value_object *)self;
    scratch s = { 0 };
    xir_value *v = value_read(o);
    size_t n = v ? xir_value_users(v, NULL, 0) : 0;
    xir_user *users = v ? scratch_take(&s, n, sizeof *users) : NULL;
    if (users) xir_value_users(v, users, n);
    PyObject *list = users ? PyList_New(0) : NULL;
    for (size_t i = 0; list && i < n; i++) {
        PyObject *op = op_wrap(o->owner, users[i].op);
        PyObject *pair = op ? Py_BuildValue("(Nn)", op, (Py_ssize_t)users[i].index) : NULL;
        if (!pair || PyList_Append(list, pair)) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    scratch_free(&s);
    return list;
}

static PyObject *get_tags(PyObject *self, PyObject *none) {
    (void)none;
    xir_value *v = value_read((value_object *)self);
    return v ? map_out(((value_object *)self)->owner, xir_value_tags(v)) : NULL;
}

static PyObject *set_tag(PyObject *self, PyObject *args) {
    value_object *o = (value_object *)self;
    PyObject *key, *value = NULL;
    xir_any any;
    xir_str name;
    scratch s = { 0 };
    xir_value *v = value_write(o);
    if (!v || !PyArg_ParseTuple(args, "O|O", &key, &value) || !text_in(key, &name)) return NULL;
    bool fine = (!value || any_in(o->owner, value, &any, &s)) && (v = value_write(o));
    xir_status status = fine ? xir_value_set_tag(v, name, value ? &any : NULL) : XIR_OK;
    scratch_free(&s);
    return fine ? done_or_raise(o, status) : NULL;
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

/* replace(now): turns every use of the value into a use of another one. */
static PyObject *replace(PyObject *self, PyObject *arg) {
    value_object *o = (value_object *)self;
    xir_value *now, *v = value_write(o);
    if (!v || !value_of(arg, o->owner, false, &now)) return NULL;
    return done_or_raise(o, xir_value_replace(v, now));
}

/* connect(users): makes it the input of these (op, position). */
static PyObject *connect(PyObject *self, PyObject *arg) {
    value_object *o = (value_object *)self;
    scratch s = { 0 };
    PyObject *items = PySequence_Tuple(arg), *op;
    xir_value *v = items ? value_write(o) : NULL;      /* asked last: a sequence may run code of the caller */
    size_t n = items ? (size_t)PyTuple_Size(items) : 0;
    xir_user *users = v ? scratch_take(&s, n, sizeof *users) : NULL;
    bool fine = users != NULL;
    for (size_t i = 0; fine && i < n; i++) {
        Py_ssize_t at;
        PyObject *pair = PyTuple_GetItem(items, (Py_ssize_t)i);
        fine = false;
        if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "O!n", Op_type, &op, &at)) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a user is (op, position)");
        } else if (((op_object *)op)->owner != o->owner) {
            raise_status(XIR_E_INVALID, "the op is of another network");
        } else if (at < 0) {
            raise_status(XIR_E_BOUNDS, "the position of a user is negative");
        } else {
            users[i] = (xir_user){ op_read((op_object *)op), (size_t)at };
            fine = users[i].op != NULL;
        }
    }
    xir_status status = fine ? xir_value_connect(v, users, n) : XIR_OK;
    scratch_free(&s);
    Py_XDECREF(items);
    return fine ? done_or_raise(o, status) : NULL;
}

/* array(copy=False): the bytes of Params, shared, or a copy that may be written. */
static PyObject *get_array(PyObject *self, PyObject *args) {
    int copy = 0;
    if (!PyArg_ParseTuple(args, "|p:array", &copy)) return NULL;
    xir_value *v = value_read((value_object *)self);
    xir_diags *why = v ? why_new() : NULL;
    if (!why) return NULL;
    xir_array *array = NULL;
    if (!xir_value_is_params(v)) {
        xir_diags_free(why);
        return raise_status(XIR_E_TYPE, "the value is not Params: it has no bytes");
    }
    if (!(array = xir_array_from_params(v, why))) return raise_diags(XIR_OK, why);
    if (copy) {
        size_t size;
        const void *data = xir_array_data(array, &size);
        xir_array *made = xir_array_copy(the_context, xir_array_type(array), data, size, why);
        xir_array_free(array);
        if (!(array = made)) return raise_diags(XIR_OK, why);
    }
    xir_diags_free(why);
    return array_wrap(array, copy);
}

static void release_array(void *user, const void *data) {
    (void)data;
    xir_array_free(user);
}

/* _set_array(array): gives Params the bytes of an Array, which is read-only from then on. */
static PyObject *set_array(PyObject *self, PyObject *arg) {
    value_object *o = (value_object *)self;
    size_t size;
    xir_value *v = value_write(o);
    if (!v) return NULL;
    if (!PyObject_TypeCheck(arg, Array_type)) return PyErr_Format(PyExc_TypeError, "set_array takes an Array");
    xir_array *array = ((array_object *)arg)->array;
    const void *data = xir_array_data(array, &size);
    if (((array_object *)arg)->writable) {      /* a view of it may still be written */
        return done_or_raise(o, xir_params_set_copy(v, data, size));
    }
    xir_status status = xir_params_set_borrow(v, data, size, release_array, xir_array_retain(array));
    if (status) xir_array_free(array);
    return done_or_raise(o, status);
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    PyObject *none = PyTuple_New(0), *array = none ? get_array(self, none) : NULL;
    Py_XDECREF(none);
    view->obj = NULL;
    if (!array) {
        if (!PyErr_ExceptionMatches(PyExc_OSError)) {      /* the protocol wants a BufferError */
            PyObject *type, *value, *trace;
            PyErr_Fetch(&type, &value, &trace);
            PyErr_NormalizeException(&type, &value, &trace);
            PyErr_Format(PyExc_BufferError, "%S", value ? value : Py_None);
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(trace);
        }
        return -1;
    }
    int failed = PyObject_GetBuffer(array, view, flags);
    Py_DECREF(array);
    return failed;
}

/* ---- inputs with a default -------------------------------------------------------------------------------------- */

static PyObject *get_is_default(PyObject *self, void *none) {
    (void)none;
    const xir_value *v = value_read((value_object *)self);
    return v ? PyBool_FromLong(xir_value_is_params(v) && xir_params_is_default(v)) : NULL;
}

static PyObject *fix_default(PyObject *self, PyObject *none) {
    (void)none;
    xir_value *v = value_write((value_object *)self);
    return v ? done_or_raise((value_object *)self, xir_params_fix_default(v)) : NULL;
}

static PyObject *make_input(PyObject *self, PyObject *none) {
    (void)none;
    value_object *o = (value_object *)self;
    xir_value *v = value_write(o), *input = v ? xir_params_make_input(v) : NULL;
    if (!v) return NULL;
    return input ? value_wrap(o->owner, input) : raise_net(o->owner->net, xir_network_status(o->owner->net));
}

static PyObject *value_repr(PyObject *self) {
    value_object *o = (value_object *)self;
    const bool gone = o->op ? xir_op_is_erased(o->op) || o->index >= xir_op_output_count(o->op) : !o->value;
    if (!o->owner->net || gone) {
        return PyUnicode_FromString("<xir.Value, erased>");
    }
    xir_value *v = value_read(o);
    if (!v) return NULL;
    PyObject *name = text_out(xir_value_name(v)), *type = type_wrap(o->owner, xir_type_object(xir_value_type(v)));
    PyObject *made = name && type ? PyUnicode_FromFormat("<xir.Value %lld %R: %S>", (long long)xir_value_id(v), name,
        type)
                                  : NULL;
    Py_XDECREF(name);
    Py_XDECREF(type);
    return made;
}

/* ---- the type ------------------------------------------------------------------------------------------------- */

static PyMethodDef value_methods[] = {
    { "replace", replace, METH_O,
      DOC("replace($self, now, /)",
          "Turns every use of the value into a use of another one, in time linear in the uses. Both must be of one "
          "network.") },
    { "connect", connect, METH_O,
      DOC("connect($self, users, /)",
          "Makes the value the input of all these users, whatever their inputs are now, or changes nothing: "
          "InvalidError if the value's op or a user is erased, or a user is of another network; BoundsError for a "
          "position past the inputs of a user; MissingError for a user without an op; MemoryError. A user is an "
          "(op, position).") },
    { "array", get_array, METH_VARARGS,
      DOC("array($self, copy=False, /)", "The bytes of Params, shared; or a copy to be written.") },
    { "_set_array", set_array, METH_O,      NULL },
    { "_set_same",  params_set_same, METH_O, NULL },
    { "fix_default", fix_default, METH_NOARGS,
      DOC("fix_default($self, /)",
          "Makes the Params a constant like all others: MemoryError is the only failure.") },
    { "make_input", make_input, METH_NOARGS,
      DOC("make_input($self, /)",
          "Makes an input of the network of Params that are its default: a new output of the Input op takes their "
          "place, the last one. Returns the input.") },
    { "_tags",     get_tags,  METH_NOARGS,  NULL },
    { "_set_tag",  set_tag,   METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef value_getset[] = {
    { "name",      get_name,      set_name, "The name.", NULL },
    { "type",      get_type,      set_type, "The type; None if a foreign file does not give one.", NULL },
    { "id",        get_id,        NULL,     "The id; negative: the value is not in the network yet.", NULL },
    { "op",        get_op,        NULL,     "The op whose output it is; None for Params.", NULL },
    { "memory",    get_memory,    set_memory, "The memory type, as files have it: \"@hostm\", \"@etm(4096)\".", NULL },
    { "index",     get_index,     NULL,     "The position among the outputs of its op.", NULL },
    { "network",   get_network,   NULL,     "The network.", NULL },
    { "users",     get_users,     NULL,     "The uses: a list of (op, position), in no particular order.", NULL },
    { "is_params", get_is_params, NULL,     "True for Params, constants of the network.", NULL },
    { "has_data",  get_has_data,  NULL,     "True if the Params have bytes (always true if the type needs none).", NULL },
    { "is_default", get_is_default, NULL,   "True for Params that are only the default of an input.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot value_slots[] = {
    { Py_tp_doc,         "A value of a network: an output of an op, or Params." },
    { Py_tp_dealloc,     value_dealloc },
    { Py_tp_richcompare, value_compare },
    { Py_tp_hash,        value_hash },
    { Py_tp_repr,        value_repr },
    { Py_tp_methods,     value_methods },
    { Py_tp_getset,      value_getset },
    { Py_bf_getbuffer,   get_buffer },
    { 0, NULL },
};
static PyType_Spec value_spec = {
    "xir.Value", sizeof(value_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, value_slots,
};

bool value_init(PyObject *module) { return (Value_type = add_type(module, &value_spec, "Value")); }

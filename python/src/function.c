/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions that add ops: F.Conv2d(x, weights, stride=2). Python's part, xir/functions.py, makes one for each class,
 * with its signature, its docstring, its shorthands and the layouts of its constants. A class of another format,
 * F["onnx::Conv"], declares nothing: keywords are attributes that the op carries, and `outputs` is their number. */
#include <stdio.h>
#include <string.h>
#include <xir/convert.h>
#include "xirpy.h"

PyTypeObject *Function_type;

typedef struct function_object {
    PyObject_HEAD
    const xir_class *cls;
    PyObject        *shorthands;    /* a dict from str to a tuple of attributes                     */
    PyObject        *layouts;       /* a tuple, for each input a str for its constants, or None     */
    PyObject        *required;      /* a tuple of the attributes that must be given                 */
} function_object;

/* A call in progress. */
typedef struct call {
    const xir_class *cls;
    function_object *function;
    net_object      *owner;         /* NULL until an argument or `net` says it */
    PyObject       **inputs;        /* borrowed; NULL: not given               */
    size_t           n_inputs, room;
    xir_named_attr  *named;
    size_t           n_named;
    xir_entry       *carried;       /* attributes of an op whose class declares nothing */
    size_t           n_carried, n_outputs;
    const char      *name;
    scratch          memory;
} call;

static bool add_input(call *c, size_t at, PyObject *arg) {
    if (at >= c->room) {
        raise_status(XIR_E_BOUNDS, "the op takes fewer inputs");
        return false;
    }
    while (c->n_inputs <= at) c->inputs[c->n_inputs++] = NULL;
    c->inputs[at] = arg;
    return true;
}

/* The network of the first argument that is of one. */
static void find_owner(call *c, PyObject *arg) {
    if (c->owner) return;
    if (PyObject_TypeCheck(arg, Value_type)) c->owner = ((value_object *)arg)->owner;
    else if (PyObject_TypeCheck(arg, Op_type)) c->owner = ((op_object *)arg)->owner;
}

static bool positional(call *c, PyObject *args) {
    size_t ports = xir_class_input_count(c->cls);
    bool any = ports && xir_class_input_at(c->cls, ports - 1)->decl == XIR_DECL_VAR;
    for (Py_ssize_t i = 0; i < PyTuple_Size(args); i++) {
        PyObject *arg = PyTuple_GetItem(args, i);
        if (!any && !xir_class_is_opaque(c->cls) && (size_t)i >= ports) {
            PyErr_Format(PyExc_TypeError, "the op takes %zu inputs, got %zd", ports, PyTuple_Size(args));
            return false;
        }
        find_owner(c, arg);
        if (!add_input(c, (size_t)i, arg)) return false;
    }
    return true;
}

/* Returns true if no shorthand of the function is nearer to a word than the attributes of the class, whose errors the
 * library has. */
static bool is_left_to_library(const call *c, xir_str word) {
    PyObject *key, *fields;
    xir_str meant = { 0 }, name;
    size_t distance = SIZE_MAX;
    const xir_field *field;
    for (size_t i = 0; (field = xir_class_field_at(c->cls, i)); i++) {
        (void)xir_str_is_nearer(word, field->name, &distance);
    }
    for (Py_ssize_t at = 0; PyDict_Next(c->function->shorthands, &at, &key, &fields);) {
        if (text_in(key, &name) && xir_str_is_nearer(word, name, &distance)) meant = name;
    }
    if (!meant.size) return true;
    char sentence[300];
    const xir_str cls = xir_class_key(c->cls);
    snprintf(sentence, sizeof sentence, "%.*s has no attribute", (int)(cls.size < 200 ? cls.size : 200), cls.data);
    return raise_unknown(sentence, word, meant) != NULL;
}

static bool add_attr(call *c, PyObject *key, PyObject *value) {
    xir_named_attr *named = &c->named[c->n_named];
    if (!text_in(key, &named->name)) return false;
    const xir_field *field = xir_class_field(c->cls, named->name);
    if (!field && !is_left_to_library(c, named->name)) return false;
    if (!attr_in(c->owner, value, field, &named->value, &c->memory)) return false;
    c->n_named++;
    return true;
}

static bool carry(call *c, xir_str name, PyObject *value) {
    if (xir_str_equal(name, XIR_STR("outputs"))) {
        const Py_ssize_t n = PyNumber_AsSsize_t(value, PyExc_OverflowError);
        if (n == -1 && PyErr_Occurred()) return false;
        if (n < 0 || n > 1 << 16) return raise_status(XIR_E_BOUNDS, "a number of outputs is from 0 to 65536") != NULL;
        c->n_outputs = (size_t)n;
        return true;
    }
    c->carried[c->n_carried].key = name;
    return any_in(c->owner, value, &c->carried[c->n_carried++].value, &c->memory);
}

/* Returns the input port of the name, -1 if there is none. */
static long port_of(const xir_class *cls, xir_str name) {
    for (size_t i = 0; i < xir_class_input_count(cls); i++) {
        if (xir_str_equal(xir_class_input_at(cls, i)->name, name)) return (long)i;
    }
    return -1;
}

/* First the inputs among the keywords, then, when the network is known, attributes. */
static bool keyword(call *c, PyObject *key, PyObject *value, bool attrs) {
    xir_str name;
    if (!text_in(key, &name)) return false;
    if (xir_str_equal(name, XIR_STR("name"))) return attrs || value == Py_None || (c->name = word_in(value));
    if (xir_str_equal(name, XIR_STR("net"))) return true;
    long port = port_of(c->cls, name);
    if (port >= 0) {
        if (attrs) return true;
        if ((size_t)port < c->n_inputs && c->inputs[port]) {
            PyErr_Format(PyExc_TypeError, "the input %R is given twice", key);
            return false;
        }
        find_owner(c, value);
        return add_input(c, (size_t)port, value);
    }
    if (!attrs) return true;
    if (xir_class_is_opaque(c->cls)) return carry(c, name, value);
    PyObject *fields = c->function->shorthands ? PyDict_GetItemWithError(c->function->shorthands, key) : NULL;
    if (!fields) return !PyErr_Occurred() && add_attr(c, key, value);
    if (value == Py_None) return true;      /* the default of a shorthand */
    for (Py_ssize_t i = 0; i < PyTuple_Size(fields); i++) {
        if (!add_attr(c, PyTuple_GetItem(fields, i), value)) return false;
    }
    return true;
}

static bool keywords(call *c, PyObject *kwargs, bool attrs) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
        if (!keyword(c, key, value, attrs)) return false;
    }
    return true;
}

/* Returns true if the attributes without a default are given. */
static bool is_complete(const call *c) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(c->function->required); i++) {
        xir_str name;
        size_t at = 0;
        if (!text_in(PyTuple_GetItem(c->function->required, i), &name)) return false;
        while (at < c->n_named && !xir_str_equal(c->named[at].name, name)) at++;
        if (at < c->n_named) continue;
        raise_status(XIR_E_MISSING, "the attribute '%s' has no default: it must be given", name.data);
        return false;
    }
    return true;
}

/* Params of numbers. What is not a buffer in the machine's order is made one by NumPy. */
static xir_value *constant_of(net_object *owner, PyObject *arg, const char *layout) {
    static PyObject *make;      /* xir.network.constant */
    PyObject *type, *value, *trace;
    xir_value *made = params_of(owner, arg, "", layout, true);
    if (made || !(PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
                  PyErr_ExceptionMatches(PyExc_BufferError))) return made;
    PyErr_Fetch(&type, &value, &trace);
    if (!make) {
        PyObject *module = PyImport_ImportModule("xir.network");
        make = module ? PyObject_GetAttrString(module, "constant") : NULL;
        Py_XDECREF(module);
    }
    PyObject *array = make ? PyObject_CallFunctionObjArgs(make, arg, NULL) : NULL;
    if (array == Py_None) {
        Py_DECREF(array);
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    if (array) made = params_of(owner, array, "", layout, true);
    Py_XDECREF(array);
    return made;
}

/* The values of the inputs; numbers become Params. */
static bool input_values(call *c, xir_value **out) {
    for (size_t i = 0; i < c->n_inputs; i++) {
        PyObject *arg = c->inputs[i];
        out[i] = NULL;
        if (!arg || arg == Py_None) continue;
        if (PyObject_TypeCheck(arg, Value_type) || PyObject_TypeCheck(arg, Op_type)) {
            if (!value_of(arg, c->owner, false, &out[i])) return false;
            continue;
        }
        PyObject *layouts = c->function->layouts;
        PyObject *axes = layouts && (Py_ssize_t)i < PyTuple_Size(layouts) ? PyTuple_GetItem(layouts, (Py_ssize_t)i)
            : NULL;
        const char *layout = axes && axes != Py_None ? word_in(axes) : NULL;
        if (!(out[i] = constant_of(c->owner, arg, layout))) return false;
    }
    return true;
}

/* The name with the scope before it, in memory of the call. */
static bool full_name(call *c, xir_str *out) {
    xir_str scope = { "", 0 }, name = xir_str_of(c->name);
    if (c->owner->scope && !text_in(c->owner->scope, &scope)) return false;
    char *text = scratch_take(&c->memory, scope.size + name.size, 1);
    if (!text) return false;
    memcpy(text, scope.data, scope.size);
    if (name.size) memcpy(text + scope.size, name.data, name.size);
    *out = (xir_str){ text, name.size ? scope.size + name.size : 0 };
    return true;
}

/* One output, a tuple of several, or the op. */
static PyObject *result_of(net_object *owner, xir_op *op) {
    size_t n = xir_op_output_count(op);
    if (n == 1) return value_wrap(owner, xir_op_output(op, 0));
    PyObject *of = op_wrap(owner, op), *outputs = of && n ? PyObject_GetAttrString(of, "outputs") : NULL;
    if (!n) return of;
    Py_XDECREF(of);
    return outputs;
}

static PyObject *add_op(call *c) {
    xir_value **values = scratch_take(&c->memory, c->n_inputs, sizeof *values);
    xir_str name;
    if (!values || !input_values(c, values) || !full_name(c, &name)) return NULL;
    xir_network *net = net_write(c->owner);      /* asked again: arguments run code of the caller */
    if (!net) return NULL;
    if (c->owner->astray || xir_op_is_erased(c->owner->before))
        return raise_status(XIR_E_STALE, "the op to insert before has been erased");
    for (size_t i = 0; i < c->n_inputs; i++) {      /* and so may have erased an input */
        PyObject *arg = c->inputs[i];
        bool of_net = arg && arg != Py_None && (PyObject_TypeCheck(arg, Value_type) || PyObject_TypeCheck(arg,
            Op_type));
        if (of_net && !value_of(arg, c->owner, false, &values[i])) return NULL;
    }
    const xir_type *const *types = NULL;
    if (xir_class_is_opaque(c->cls)) {
        const xir_type **none = scratch_take(&c->memory, c->n_outputs + 1, sizeof *none);
        if (!none) return NULL;
        for (size_t i = 0; i < c->n_outputs; i++) none[i] = NULL;
        types = none;
    }
    net_begin_write(c->owner);      /* inference may run code of the caller, which then finds the network in use */
    xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = c->cls, .id = XIR_NO_ID, .inputs = values,
        .n_inputs = c->n_inputs, .name = name, .before = c->owner->before, .target = c->owner->target,
        .named = c->named, .n_named = c->n_named, .types = types, .n_types = types ? c->n_outputs : 0));
    net_end_write(c->owner);
    if (!op) return raise_net(net, XIR_OK);
    for (size_t i = 0; i < c->n_carried; i++) {
        const xir_status status = xir_op_set_extra(op, c->carried[i].key, &c->carried[i].value);
        if (!status) continue;
        raise_net(net, status);
        xir_op_erase(op);
        return NULL;
    }
    if (name.size && xir_op_output_count(op) == 1 && xir_value_set_name(xir_op_output(op, 0), name)) {
        return raise_net(net, XIR_OK);
    }
    return result_of(c->owner, op);
}

static PyObject *function_call(PyObject *self, PyObject *args, PyObject *kwargs) {
    function_object *f = (function_object *)self;
    call c = { .cls = f->cls, .function = f, .n_outputs = 1,
               .room = (size_t)PyTuple_Size(args) + xir_class_input_count(f->cls) };
    size_t n = kwargs ? (size_t)PyDict_Size(kwargs) : 0;
    PyObject *made = NULL, *net = kwargs ? PyDict_GetItemString(kwargs, "net") : NULL;
    if (net && net != Py_None && !PyObject_TypeCheck(net, Network_type)) {
        return PyErr_Format(PyExc_TypeError, "net is a network");
    }
    if (net && net != Py_None) c.owner = (net_object *)net;
    c.inputs = scratch_take(&c.memory, c.room + 1, sizeof *c.inputs);
    c.named = scratch_take(&c.memory, 8 * n + 1, sizeof *c.named);
    c.carried = scratch_take(&c.memory, n + 1, sizeof *c.carried);
    if (c.inputs && c.named && c.carried && positional(&c, args) && keywords(&c, kwargs, false)) {
        if (!c.owner) PyErr_SetString(PyExc_TypeError, "no argument is of a network: give one, or net=");
        else if (net_write(c.owner) && keywords(&c, kwargs, true) && is_complete(&c)) {
            Py_INCREF((PyObject *)c.owner);
            made = add_op(&c);
            Py_DECREF((PyObject *)c.owner);
        }
    }
    scratch_free(&c.memory);
    return made;
}

/* Function(cls, shorthands, layouts, required). */
static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *cls, *shorthands, *layouts, *required;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!O!O!O!:Function", Class_type, &cls, &PyDict_Type, &shorthands, &PyTuple_Type,
                          &layouts, &PyTuple_Type, &required)) {
        return NULL;
    }
    PyObject *key, *fields;
    for (Py_ssize_t at = 0; PyDict_Next(shorthands, &at, &key, &fields);) {
        if (!PyTuple_Check(fields) || PyTuple_Size(fields) > 8) {
            return PyErr_Format(PyExc_TypeError, "a shorthand is a tuple of up to 8 attributes");
        }
    }
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    function_object *f = (function_object *)alloc(type, 0);
    if (!f) return NULL;
    f->cls = ((class_object *)cls)->cls;
    f->shorthands = PyDict_Copy(shorthands);
    f->layouts = Py_NewRef(layouts);
    f->required = Py_NewRef(required);
    return (PyObject *)f;
}

static void function_dealloc(function_object *f) {
    PyTypeObject *type = Py_TYPE((PyObject *)f);
    Py_XDECREF(f->shorthands);
    Py_XDECREF(f->layouts);
    Py_XDECREF(f->required);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(f);
    Py_DECREF(type);
}

static PyObject *get_cls(PyObject *self, void *none) {
    return (void)none, class_wrap(((function_object *)self)->cls);
}

static PyGetSetDef function_getset[] = {
    { "cls", get_cls, NULL, "The class of the ops that it adds.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};
static PyType_Slot function_slots[] = {
    { Py_tp_new,     function_new },
    { Py_tp_dealloc, function_dealloc },
    { Py_tp_call,    function_call },
    { Py_tp_getset,  function_getset },
    { 0, NULL },
};
static PyType_Spec function_spec = {
    "xir.Function", sizeof(function_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, function_slots,
};

/* dialect_class(key): the class of a key of another format's operators, "onnx::Conv"; None if there is no such format,
 * or XIR knows the class itself. */
static PyObject *dialect_class(PyObject *module, PyObject *arg) {
    xir_str key;
    (void)module;
    if (!text_in(arg, &key)) return NULL;
    if (!xir_dialect_find(the_context, key)) return Py_NewRef(Py_None);
    const xir_class *cls = xir_class_opaque(the_context, key);
    return cls ? class_wrap(cls) : PyErr_NoMemory();
}

PyMethodDef function_functions[] = {
    { "dialect_class", dialect_class, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};

bool function_init(PyObject *module) { return (Function_type = add_type(module, &function_spec, "Function")); }

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Classes: what a kind of operation consists of, as reflection shows it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "xirpy.h"

PyTypeObject *Class_type;

PyObject *class_wrap(const xir_class *cls) {
    if (!cls) return Py_NewRef(Py_None);
    class_object *o = PyObject_New(class_object, Class_type);
    if (o) o->cls = cls;
    return (PyObject *)o;
}

static void class_dealloc(class_object *o) {
    PyTypeObject *type = Py_TYPE((PyObject *)o);
    PyObject_Free(o);
    Py_DECREF(type);
}

const xir_class *find_class(xir_str key) {
    char whole[256];
    const xir_class *cls = xir_class_find(the_context, key);
    if (cls || key.size > 200) return cls;
    int n = snprintf(whole, sizeof whole, "icraft::xir::%.*s", (int)key.size, key.data);
    return xir_class_find(the_context, (xir_str){ whole, (size_t)n });
}

static PyObject *class_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = { "key", NULL };
    PyObject *key;
    xir_str text;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Class", names, &key) || !text_in(key, &text)) return NULL;
    const xir_class *cls = find_class(text);
    if (cls) return class_wrap(cls);
    xir_str meant = { 0 };
    size_t distance = SIZE_MAX;
    const bool whole = memchr(text.data, ':', text.size) != NULL;
    for (size_t i = 0; (cls = xir_context_class_at(the_context, i)); i++) {
        xir_str other = xir_class_key(cls);
        if (!whole) {
            size_t last = other.size;
            while (last && other.data[last - 1] != ':') last--;
            other = (xir_str){ other.data + last, other.size - last };
        }
        if (xir_str_is_nearer(text, other, &distance)) meant = other;
    }
    return raise_unknown("there is no class", text, meant);
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

static PyObject  *no_names;
static PyObject **names_of;      /* by the number of the class; NULL: not made yet */
static size_t     n_names_of;

static bool add_name(PyObject *names, xir_str name, long at) {
    PyObject *key = text_out(name), *value = NULL, *own = key ? PyObject_GetAttr((PyObject *)Op_type, key) : NULL;
    bool fine = key != NULL;
    if (key && !own) {      /* what every op has keeps its meaning: op["name"] is the attribute */
        PyErr_Clear();
        PyUnicode_InternInPlace(&key);
        value = PyLong_FromLong(at);
        fine = value && !PyDict_SetItem(names, key, value);
    }
    Py_XDECREF(own);
    Py_XDECREF(value);
    Py_XDECREF(key);
    return fine;
}

static PyObject *make_names(const xir_class *cls) {
    PyObject *names = PyDict_New();
    bool fine = names != NULL;
    const size_t fields = xir_class_field_count(cls);
    for (size_t i = 0; fine && i < xir_class_output_count(cls); i++) {      /* others hide them */
        fine = add_name(names, xir_class_output_at(cls, i)->name, (long)(fields + i));
    }
    for (size_t i = 0; fine && i < xir_class_input_count(cls); i++) {
        fine = add_name(names, xir_class_input_at(cls, i)->name, -1 - (long)i);
    }
    for (size_t i = 0; fine && i < xir_class_field_count(cls); i++) {
        fine = add_name(names, xir_class_field_at(cls, i)->name, (long)i);
    }
    if (!fine) Py_CLEAR(names);
    return names;
}

PyObject *class_names(const xir_class *cls) {
    uint32_t number = xir_class_number(cls);
    if (number == UINT32_MAX) return no_names ? no_names : (no_names = PyDict_New());
    if (number >= n_names_of) {
        size_t n = number + 256;
        PyObject **grown = PyMem_Realloc(names_of, n * sizeof *grown);
        if (!grown) return PyErr_NoMemory();
        memset(grown + n_names_of, 0, (n - n_names_of) * sizeof *grown);
        names_of = grown;
        n_names_of = n;
    }
    return names_of[number] ? names_of[number] : (names_of[number] = make_names(cls));
}

/* ---- tuples of ports -------------------------------------------------------------------------------------------- */

static PyObject **ports_of[2];      /* by the number of the class: the types of inputs and of outputs; NULL: not made */
static size_t     n_ports_of;
static PyObject  *plain_ports;
static PyObject  *make_ports;       /* xir.ports.make */

static PyObject *port_names(const xir_class *cls, bool outputs) {
    PyObject *names = PyDict_New();
    const size_t n = outputs ? xir_class_output_count(cls) : xir_class_input_count(cls);
    for (size_t i = 0; names && i < n; i++) {
        const xir_port *port = outputs ? xir_class_output_at(cls, i) : xir_class_input_at(cls, i);
        const bool many = port->decl == XIR_DECL_VAR || port->decl == XIR_DECL_OUTS;
        PyObject *name = text_out(port->name), *at = name ? PyLong_FromLong(many ? -1 - (long)i : (long)i) : NULL;
        if (!at || PyDict_SetItem(names, name, at)) Py_CLEAR(names);
        Py_XDECREF(name);
        Py_XDECREF(at);
    }
    return names;
}

static PyObject *make_ports_type(const xir_class *cls, bool outputs) {
    if (!make_ports) {
        PyObject *module = PyImport_ImportModule("xir.ports");
        make_ports = module ? PyObject_GetAttrString(module, "make") : NULL;
        Py_XDECREF(module);
    }
    PyObject *names = make_ports ? port_names(cls, outputs) : NULL;
    PyObject *made = names ? PyObject_CallFunctionObjArgs(make_ports, names, outputs ? Py_True : Py_False, NULL) : NULL;
    Py_XDECREF(names);
    return made;
}

/* Borrowed; NULL with an exception. */
static PyObject *ports_type(const xir_class *cls, bool outputs) {
    const uint32_t number = xir_class_number(cls);
    if (number == UINT32_MAX) return plain_ports ? plain_ports : (plain_ports = make_ports_type(cls, outputs));
    if (number >= n_ports_of) {
        const size_t n = number + 256;
        for (int i = 0; i < 2; i++) {
            PyObject **grown = PyMem_Realloc(ports_of[i], n * sizeof *grown);
            if (!grown) return PyErr_NoMemory();
            memset(grown + n_ports_of, 0, (n - n_ports_of) * sizeof *grown);
            ports_of[i] = grown;
        }
        n_ports_of = n;
    }
    PyObject **made = &ports_of[outputs][number];
    return *made ? *made : (*made = make_ports_type(cls, outputs));
}

PyObject *ports_wrap(const xir_class *cls, bool outputs, PyObject *tuple) {
    PyObject *type = ports_type(cls, outputs), *made = type ? PyObject_CallFunctionObjArgs(type, tuple, NULL) : NULL;
    Py_DECREF(tuple);
    return made;
}

/* ---- reflection ----------------------------------------------------------------------------------------------- */

static PyObject *default_of(const xir_field *f) {
    if (!f->has_default) return Py_NewRef(Py_None);
    switch (f->kind) {
    case XIR_KIND_BOOL: return PyBool_FromLong(f->default_value.i != 0);
    case XIR_KIND_I64:  return PyLong_FromLongLong(f->default_value.i);
    case XIR_KIND_U64:  return PyLong_FromUnsignedLongLong((uint64_t)f->default_value.i);
    case XIR_KIND_REAL: return PyFloat_FromDouble(f->default_value.r);
    case XIR_KIND_ENUM: return PyUnicode_FromString(f->members->names[f->default_value.i]);
    default:            return text_out(f->default_text);
    }
}

static PyObject *bound_of(const xir_field *f, bool has, xir_number n) {
    if (!has) return Py_NewRef(Py_None);
    return f->kind == XIR_KIND_REAL ? PyFloat_FromDouble(n.r) : PyLong_FromLongLong(n.i);
}

/* A field as a dict. */
static PyObject *field_out(const xir_field *f) {
    char type[256];
    xir_field_type_text(f, type, sizeof type);
    return Py_BuildValue("{s:N,s:N,s:s,s:O,s:O,s:N,s:N,s:N}", "name", text_out(f->name), "doc", text_out(f->doc),
        "type",
                         type, "required", f->flags & XIR_FIELD_REQUIRED ? Py_True : Py_False, "has_default",
                         f->has_default ? Py_True : Py_False, "default", default_of(f), "least",
                         bound_of(f, f->has_min, f->min), "greatest", bound_of(f, f->has_max, f->max));
}

static PyObject *get_fields(PyObject *self, void *none) {
    (void)none;
    const xir_class *cls = ((class_object *)self)->cls;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < xir_class_field_count(cls); i++) {
        PyObject *one = field_out(xir_class_field_at(cls, i));
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *ports(const xir_class *cls, size_t n, const xir_port *(*at)(const xir_class *, size_t)) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < n; i++) {
        const xir_port *port = at(cls, i);
        const char *kind = port->decl == XIR_DECL_OPT ? "optional"
                         : port->decl == XIR_DECL_VAR || port->decl == XIR_DECL_OUTS ? "any" : "one";
        PyObject *one = Py_BuildValue("{s:N,s:N,s:s}", "name", text_out(port->name), "doc", text_out(port->doc),
            "kind", kind);
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *get_inputs(PyObject *self, void *none) {
    const xir_class *cls = ((class_object *)self)->cls;
    return (void)none, ports(cls, xir_class_input_count(cls), xir_class_input_at);
}

static PyObject *get_outputs(PyObject *self, void *none) {
    const xir_class *cls = ((class_object *)self)->cls;
    return (void)none, ports(cls, xir_class_output_count(cls), xir_class_output_at);
}

static PyObject *get_key(PyObject *self, void *none) {
    return (void)none, text_out(xir_class_key(((class_object *)self)->cls));
}

static PyObject *get_doc(PyObject *self, void *none) {
    return (void)none, text_out(xir_class_doc(((class_object *)self)->cls));
}

static PyObject *get_base(PyObject *self, void *none) {
    return (void)none, class_wrap(xir_class_base(((class_object *)self)->cls));
}

static PyObject *get_is_op(PyObject *self, void *none) {
    return (void)none, PyBool_FromLong(xir_class_is_op(((class_object *)self)->cls));
}

static PyObject *get_is_abstract(PyObject *self, void *none) {
    return (void)none, PyBool_FromLong((xir_class_traits(((class_object *)self)->cls) & XIR_TRAIT_ABSTRACT) != 0);
}

/* The texts of one kind of row; `which` is its xir_decl_kind. */
static PyObject *get_notes(PyObject *self, void *which) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list; i++) {
        xir_str note = xir_class_note(((class_object *)self)->cls, (xir_decl_kind)(intptr_t)which, i);
        if (!note.size) break;
        PyObject *one = text_out(note);
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *class_compare(PyObject *a, PyObject *b, int how) {
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(a, Class_type) || !PyObject_TypeCheck(b, Class_type)) {
        return Py_NewRef(Py_NotImplemented);
    }
    return PyBool_FromLong((((class_object *)a)->cls == ((class_object *)b)->cls) == (how == Py_EQ));
}

static Py_hash_t class_hash(PyObject *self) { return (Py_hash_t)((uintptr_t)((class_object *)self)->cls >> 4); }

static PyObject *class_repr(PyObject *self) {
    PyObject *key = get_key(self, NULL), *made = key ? PyUnicode_FromFormat("xir.Class(%R)", key) : NULL;
    Py_XDECREF(key);
    return made;
}

static PyObject *class_text(PyObject *self) { return get_key(self, NULL); }

#define NOTES(name, WORD, doc) { name, get_notes, NULL, doc, (void *)(intptr_t)XIR_DECL_##WORD }

static PyGetSetDef class_getset[] = {
    { "key",         get_key,         NULL, "The key, \"icraft::xir::Conv2d\".",                NULL },
    { "doc",         get_doc,         NULL, "A description in one line.",                       NULL },
    { "base",        get_base,        NULL, "The class that it is derived from, or None.",      NULL },
    { "is_op",       get_is_op,       NULL, "True for a class of operations.",                  NULL },
    { "is_abstract", get_is_abstract, NULL, "True for a class without instances.",              NULL },
    { "fields",      get_fields,      NULL, "The attributes, a list of dicts.",                 NULL },
    { "inputs",      get_inputs,      NULL, "The inputs, a list of dicts.",                     NULL },
    { "outputs",     get_outputs,     NULL, "The outputs, a list of dicts.",                    NULL },
    NOTES("aliases", ALIAS,   "Old keys."),
    NOTES("formula", FORMULA, "What it computes."),
    NOTES("gives",   GIVES,   "How the type of the output follows."),
    NOTES("unlike",  UNLIKE,  "Where it differs from PyTorch or ONNX."),
    { NULL, NULL, NULL, NULL, NULL },
};
static PyType_Slot class_slots[] = {
    { Py_tp_doc,         "Class(key): what a kind of operation or object consists of." },
    { Py_tp_new,         class_new },
    { Py_tp_dealloc,     class_dealloc },
    { Py_tp_richcompare, class_compare },
    { Py_tp_hash,        class_hash },
    { Py_tp_repr,        class_repr },
    { Py_tp_str,         class_text },
    { Py_tp_getset,      class_getset },
    { 0, NULL },
};
static PyType_Spec class_spec = { "xir.Class", sizeof(class_object), 0, Py_TPFLAGS_DEFAULT, class_slots };

bool class_init(PyObject *module) { return (Class_type = add_type(module, &class_spec, "Class")); }

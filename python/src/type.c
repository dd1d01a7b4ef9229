/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types and other immutable objects. xir/types.py takes the words of NumPy in their texts. */
#include <stdlib.h>
#include <string.h>
#include "xirpy.h"

PyTypeObject *Type_type;

PyObject *type_wrap(net_object *owner, const xir_object *object) {
    if (!object) return Py_NewRef(Py_None);
    type_object *o = PyObject_New(type_object, Type_type);
    if (!o) return NULL;
    o->owner = (net_object *)Py_XNewRef((PyObject *)owner);
    o->net = owner ? owner->net : NULL;
    o->object = object;
    if (owner) track(owner, TRACKED_TYPE, &o->link);
    return (PyObject *)o;
}

static void type_dealloc(type_object *o) {
    PyTypeObject *type = Py_TYPE((PyObject *)o);
    if (o->owner) untrack(&o->link);
    Py_XDECREF((PyObject *)o->owner);
    PyObject_Free(o);
    Py_DECREF(type);
}

static PyObject *parse_type;      /* xir.types.parse */

/* Type(text, shape, layout): "fp32 NHWC [1,416,416,3]", the text that files have, "@fp(32)", or an element type, which
 * may be NumPy's, with its dims. */
static PyObject *type_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = { "type", "shape", "layout", NULL };
    PyObject *text, *shape = Py_None, *layout = Py_None;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:Type", names, &text, &shape, &layout)) return NULL;
    if (PyObject_TypeCheck(text, Type_type) && shape == Py_None) return Py_NewRef(text);
    if (!parse_type) {
        PyObject *module = PyImport_ImportModule("xir.types");
        if (module) parse_type = PyObject_GetAttrString(module, "parse");
        Py_XDECREF(module);
    }
    return parse_type ? PyObject_CallFunctionObjArgs(parse_type, text, shape, layout, NULL) : NULL;
}

static const xir_type *as_type(const type_object *o) {
    static const xir_class *base;
    if (!base) base = xir_class_find_decl(the_context, xir_type_class());
    if (!xir_class_is_a(xir_object_class(o->object), base)) return NULL;
    return (const xir_type *)(const void *)o->object;
}

static const xir_object *make_again(const xir_object *object) {
    xir_text_buffer text = { 0 };
    xir_diags *why = why_new();
    if (!why) return NULL;
    xir_status status = xir_object_print(the_context, object, 0, &text);
    const xir_object *made = status ? NULL : xir_object_parse(the_context, (xir_str){ text.data, text.size }, why);
    xir_text_free(&text);
    if (!made) return raise_diags(status, why);
    xir_diags_free(why);
    return made;
}

const xir_object *object_for(net_object *owner, PyObject *type) {
    const type_object *o = (type_object *)type;
    return !o->owner || (owner && o->net == owner->net) ? o->object : make_again(o->object);
}

PyObject *type_copy(const xir_object *object) {
    const xir_object *made = make_again(object);
    return made ? type_wrap(NULL, made) : NULL;
}

const xir_type *type_in(net_object *owner, PyObject *arg, PyObject **hold) {
    *hold = PyObject_CallFunctionObjArgs((PyObject *)Type_type, arg, NULL);
    if (!*hold) return NULL;
    const xir_type *type = PyObject_TypeCheck(*hold, Type_type) ? as_type((type_object *)*hold) : NULL;
    if (!type) return raise_status(XIR_E_TYPE, "the object is not a type");
    const xir_object *object = object_for(owner, *hold);
    return (const xir_type *)(const void *)object;
}

/* parse_object(json): an object from its JSON text. */
static PyObject *parse_object(PyObject *module, PyObject *arg) {
    xir_str text;
    (void)module;
    xir_diags *why = text_in(arg, &text) ? why_new() : NULL;
    if (!why) return NULL;
    const xir_object *object = xir_object_parse(the_context, text, why);
    if (!object) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    return type_wrap(NULL, object);
}

/* tensor(element, layout or None, dims): a tensor type. */
static PyObject *tensor(PyObject *module, PyObject *args) {
    PyObject *of, *layout, *list, *hold = NULL;
    const char *word = NULL;
    int64_t dims[64];
    (void)module;
    if (!PyArg_ParseTuple(args, "OOO!:tensor", &of, &layout, &PyTuple_Type, &list)) return NULL;
    if (layout != Py_None && !(word = word_in(layout))) return NULL;
    size_t rank = (size_t)PyTuple_Size(list);
    if (rank > sizeof dims / sizeof *dims) return raise_status(XIR_E_LIMIT, "a type has at most 64 dims here");
    for (size_t i = 0; i < rank; i++) {
        dims[i] = PyLong_AsLongLong(PyTuple_GetItem(list, (Py_ssize_t)i));
        if (dims[i] == -1 && PyErr_Occurred()) return NULL;
        if (dims[i] < XIR_UNKNOWN_DIM) return raise_status(XIR_E_BOUNDS, "a dim is negative");
    }
    const xir_type *element = type_in(NULL, of, &hold), *made = NULL;
    xir_diags *why = element ? why_new() : NULL;
    const xir_layout *axes = why && word ? xir_layout_parse(the_context, xir_str_of(word), why) : NULL;
    if (why && word && !axes) {
        Py_XDECREF(hold);
        return raise_diags(XIR_OK, why);
    }
    if (axes && xir_layout_rank(axes) != rank) {
        Py_XDECREF(hold);
        xir_diags_free(why);
        return raise_status(XIR_E_BOUNDS, "the layout '%s' is for another number of dims than %zu", word, rank);
    }
    if (why) made = xir_type_tensor(the_context, element, axes, dims, rank);
    xir_diags_free(why);
    Py_XDECREF(hold);
    if (!why) return NULL;
    return made ? type_wrap(NULL, xir_type_object(made)) : raise_status(XIR_E_TYPE, "there is no such tensor type");
}

/* write_object(type): the text of an object, as .xir files have it; dims that are symbols are "?". */
static PyObject *write_object(PyObject *module, PyObject *arg) {
    growing out = { 0 };
    (void)module;
    if (!PyObject_TypeCheck(arg, Type_type)) return PyErr_Format(PyExc_TypeError, "expected a type");
    xir_diags *why = why_new();
    if (!why) return NULL;
    const xir_status status = xir_object_write(the_context, ((type_object *)arg)->object, "text", grow, &out, why);
    PyObject *made = status ? raise_diags(status, why) : text_out((xir_str){ out.data, out.size });
    if (!status) xir_diags_free(why);
    free(out.data);
    return made;
}

/* read_object(text): an object from its text, as .xir files have it. */
static PyObject *read_object(PyObject *module, PyObject *arg) {
    xir_str text;
    (void)module;
    xir_diags *why = text_in(arg, &text) ? why_new() : NULL;
    if (!why) return NULL;
    const xir_object *object = xir_object_read(the_context, text.data, text.size, "text", why);
    if (!object) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    const xir_type *type = xir_class_is_a(xir_object_class(object), xir_class_find_decl(the_context, xir_type_class()))
        ? (const xir_type *)(const void *)object : NULL;
    const xir_layout *axes = xir_type_layout(type);
    if (axes && xir_layout_rank(axes) != xir_type_rank(type)) {
        const xir_str layout = xir_layout_text(axes);
        return raise_status(XIR_E_BOUNDS, "the layout '%.*s' is for another number of dims than %zu", (int)layout.size,
            layout.data, xir_type_rank(type));
    }
    return type_wrap(NULL, object);
}

PyMethodDef type_functions[] = {
    { "write_object", write_object, METH_O,
      DOC("write_object($module, object, /)", "The text of an object, as .xir files have it.") },
    { "read_object", read_object, METH_O,
      DOC("read_object($module, text, /)", "An object from its text, as .xir files have it.") },
    { "parse_object", parse_object, METH_O,
      DOC("parse_object($module, json, /)", "An object from its JSON text.") },
    { "tensor", tensor, METH_VARARGS,
      DOC("tensor($module, element, layout, dims, /)", "A tensor type.") },
    { NULL, NULL, 0, NULL },
};

static PyObject *get_cls(PyObject *self, void *none) {
    return (void)none, class_wrap(xir_object_class(((type_object *)self)->object));
}

static PyObject *get_shape(PyObject *self, void *none) {
    (void)none;
    const xir_type *type = as_type((type_object *)self);
    if (!xir_type_as_tensor(type)) return Py_NewRef(Py_None);
    size_t rank = xir_type_rank(type);
    PyObject *tuple = PyTuple_New((Py_ssize_t)rank);
    for (size_t i = 0; tuple && i < rank; i++) {
        char text[512];
        int64_t dim = xir_type_dim(type, (int64_t)i, false);
        if (dim < 0) xir_type_dim_text(type, (int64_t)i, text, sizeof text);
        PyObject *item = dim < 0 ? PyUnicode_FromString(text) : PyLong_FromLongLong(dim);
        if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item)) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_element(PyObject *self, void *none) {
    (void)none;
    const xir_type *type = as_type((type_object *)self);
    return xir_type_as_tensor(type) ? type_wrap(((type_object *)self)->owner, xir_type_object(xir_type_element(type)))
                                    : Py_NewRef(Py_None);
}

static PyObject *get_layout(PyObject *self, void *none) {
    (void)none;
    const xir_type *type = as_type((type_object *)self);
    const xir_layout *layout = xir_type_layout(type);
    return layout ? text_out(xir_layout_text(layout)) : Py_NewRef(Py_None);
}

static PyObject *json(PyObject *self, PyObject *none) {
    (void)none;
    xir_text_buffer text = { 0 };
    xir_status status = xir_object_print(the_context, ((type_object *)self)->object, 0, &text);
    PyObject *made = status ? raise_status(status, "the object cannot be printed") : text_out((xir_str){ text.data,
        text.size });
    xir_text_free(&text);
    return made;
}

/* get(name): an attribute of the object. */
static PyObject *get(PyObject *self, PyObject *arg) {
    type_object *o = (type_object *)self;
    xir_str name;
    xir_attr attr;
    if (!text_in(arg, &name)) return NULL;
    if (xir_object_get(o->object, name, &attr)) {
        return raise_unknown("the object has no attribute", name, (xir_str){ 0 });
    }
    if (!o->owner && (attr.kind == XIR_KIND_PARAMS || attr.kind == XIR_KIND_PARAMSS || attr.kind == XIR_KIND_OPS ||
                      attr.kind == XIR_KIND_MAP)) {
        return raise_status(XIR_E_UNSUPPORTED, "the attribute is of a network, and the object is not");
    }
    return attr_out(o->owner, &attr, xir_class_field(xir_object_class(o->object), name));
}

static PyObject *type_compare(PyObject *a, PyObject *b, int how) {
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(a, Type_type) || !PyObject_TypeCheck(b, Type_type)) {
        return Py_NewRef(Py_NotImplemented);
    }
    bool equal = xir_object_equal(((type_object *)a)->object, ((type_object *)b)->object);
    return PyBool_FromLong(equal == (how == Py_EQ));
}

static Py_hash_t type_hash(PyObject *self) { return (Py_hash_t)xir_object_hash(((type_object *)self)->object); }

static PyMethodDef type_methods[] = {
    { "json", json, METH_NOARGS, DOC("json($self, /)", "The object as a JSON file has it.") },
    { "get", get, METH_O, DOC("get($self, name, /)", "An attribute of the object.") },
    { NULL, NULL, 0, NULL },
};
static PyGetSetDef type_getset[] = {
    { "cls",     get_cls,     NULL, "The class.", NULL },
    { "shape",   get_shape,   NULL, "The dims: a tuple of ints, and of texts for unknown ones; None for a scalar.",
        NULL },
    { "element", get_element, NULL, "The type of an element; None for a scalar.", NULL },
    { "layout",  get_layout,  NULL, "The meaning of the dims, \"NHWC\"; None for a scalar.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};
static PyType_Slot type_slots[] = {
    { Py_tp_doc,         "Type(text, shape=None, layout=None): a type, \"fp32 NHWC [1,416,416,3]\", or another immutable object." },
    { Py_tp_new,         type_new },
    { Py_tp_dealloc,     type_dealloc },
    { Py_tp_richcompare, type_compare },
    { Py_tp_hash,        type_hash },
    { Py_tp_methods,     type_methods },
    { Py_tp_getset,      type_getset },
    { 0, NULL },
};
static PyType_Spec type_spec = { "xir.Type", sizeof(type_object), 0, Py_TPFLAGS_DEFAULT, type_slots };

bool type_init(PyObject *module) { return (Type_type = add_type(module, &type_spec, "Type")); }

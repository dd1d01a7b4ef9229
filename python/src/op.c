/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operations: their properties, inputs and outputs, and their attributes, which are found by name. */
#include <string.h>
#include "xirpy.h"

PyTypeObject *Op_type;

/* ---- access --------------------------------------------------------------------------------------------------- */

/* Erased, or made after what its network was put back to. */
static bool is_gone(const op_object *o) { return !o->op || xir_op_is_erased(o->op); }

static xir_op *op_of(const op_object *o) {
    return is_gone(o) ? raise_status(XIR_E_STALE, "the op has been erased") : o->op;
}

xir_op *op_read(op_object *o) { return net_read(o->owner) ? op_of(o) : NULL; }
xir_op *op_write(op_object *o) { return net_write(o->owner) ? op_of(o) : NULL; }

/* Objects that were freed last, for the next ones: a loop over ops needs one or two. Their memory has no references. */
enum { SPARES = 4 };
static op_object *spares[SPARES];
static size_t     n_spares;

static op_object *op_take(void) {
    if (!n_spares) return PyObject_New(op_object, Op_type);
    return (op_object *)PyObject_Init((PyObject *)spares[--n_spares], Op_type);
}

PyObject *op_wrap(net_object *owner, xir_op *op) {
    if (!op) return Py_NewRef(Py_None);
    op_object *o = op_take();
    if (!o) return NULL;
    o->owner = (net_object *)Py_NewRef((PyObject *)owner);
    o->op = op;
    o->id = identity_of(owner, op);
    track(owner, TRACKED_OP, &o->link);
    return (PyObject *)o;
}

static void op_dealloc(op_object *o) {
    PyTypeObject *type = Py_TYPE((PyObject *)o);
    untrack(&o->link);
    Py_DECREF((PyObject *)o->owner);
    if (n_spares < SPARES) spares[n_spares++] = o;
    else PyObject_Free(o);
    Py_DECREF(type);
}

static PyObject *op_compare(PyObject *a, PyObject *b, int how) {
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(a, Op_type) || !PyObject_TypeCheck(b, Op_type)) {
        return Py_NewRef(Py_NotImplemented);
    }
    const op_object *x = (op_object *)a, *y = (op_object *)b;
    const bool equal = x->owner == y->owner && x->id.place == y->id.place && x->id.birth == y->id.birth;
    return PyBool_FromLong(equal == (how == Py_EQ));
}

static Py_hash_t op_hash(PyObject *self) { return identity_hash(((op_object *)self)->id); }

static PyObject *done_or_raise(op_object *o, xir_status status) {
    return status ? raise_net(o->owner->net, status) : Py_NewRef(Py_None);
}

/* ---- attributes ----------------------------------------------------------------------------------------------- */

static PyObject *input_out(op_object *o, const xir_op *op, size_t i) {
    const xir_port *port = xir_class_input_at(xir_op_class(op), i);
    if (port->decl != XIR_DECL_VAR) return value_wrap(o->owner, xir_op_input(op, (int64_t)i));
    size_t n = xir_op_input_count(op);
    PyObject *tuple = PyTuple_New(n > i ? (Py_ssize_t)(n - i) : 0);
    for (size_t at = i; tuple && at < n; at++) {
        PyObject *item = value_wrap(o->owner, xir_op_input(op, (int64_t)at));
        if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)(at - i), item)) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *field_out(op_object *o, const xir_op *op, const xir_field *field) {
    xir_attr attr;
    xir_status status = xir_op_get(op, field->name, &attr);
    return status ? raise_net(o->owner->net, status) : attr_out(o->owner, &attr, field);
}

/* `field`: of the name, or NULL. */
static bool set_attr(op_object *o, xir_op *op, const xir_field *field, xir_str name, PyObject *value) {
    xir_attr attr;
    scratch s = { 0 };
    bool fine = attr_in(o->owner, value, field, &attr, &s) && op_write(o);   /* conversions run code of the caller */
    xir_status status = XIR_OK;
    if (fine && net_begin_write(o->owner)) {      /* so does the check of a class */
        status = xir_op_set(op, name, &attr);
        net_end_write(o->owner);
    }
    scratch_free(&s);
    if (status) raise_net(o->owner->net, status);
    return fine && !status;
}

static PyObject *output_out(op_object *o, const xir_op *op, size_t i) {
    if (xir_class_output_at(xir_op_class(op), i)->decl != XIR_DECL_OUTS)
        return value_wrap(o->owner, xir_op_output(op, (int64_t)i));
    const size_t n = xir_op_output_count(op);
    PyObject *tuple = PyTuple_New(n > i ? (Py_ssize_t)(n - i) : 0);
    for (size_t at = i; tuple && at < n; at++) {
        PyObject *item = value_wrap(o->owner, xir_op_output(op, (int64_t)at));
        if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)(at - i), item)) Py_CLEAR(tuple);
    }
    return tuple;
}

/* The kinds of names in class_names. */
static PyObject *named_out(op_object *o, const xir_op *op, long i) {
    const xir_class *cls = xir_op_class(op);
    if (i < 0) return input_out(o, op, (size_t)(-1 - i));
    const size_t fields = xir_class_field_count(cls);
    return (size_t)i < fields ? field_out(o, op, xir_class_field_at(cls, (size_t)i))
                              : output_out(o, op, (size_t)i - fields);
}

xir_str near_attribute(const xir_op *op, xir_str word) {
    const xir_class *cls = xir_op_class(op);
    const xir_map *extra = xir_op_extra(op);
    const size_t fields = xir_class_field_count(cls), inputs = xir_class_input_count(cls);
    xir_str meant = { 0 };
    size_t distance = SIZE_MAX;
    for (size_t i = 0; i < fields + inputs + (extra ? extra->size : 0); i++) {
        const xir_str name = i < fields ? xir_class_field_at(cls, i)->name
                           : i < fields + inputs ? xir_class_input_at(cls, i - fields)->name
                                                 : extra->entries[i - fields - inputs].key;
        if (xir_str_is_nearer(word, name, &distance)) meant = name;
    }
    return meant;
}

/* Names are read and set more often than anything else, and no class has an attribute or a port of this name that
 * op.NAME finds (class_names): they need no look-up. */
static PyObject *name_word;

static PyObject *op_get_name(PyObject *self, void *none) {
    (void)none;
    xir_op *op = op_read((op_object *)self);
    return op ? text_out(xir_op_name(op)) : NULL;
}

static int op_set_name(PyObject *self, PyObject *value, void *none) {
    xir_str text;
    (void)none;
    xir_op *op = op_write((op_object *)self);
    if (op && !value) PyErr_SetString(PyExc_AttributeError, "an op always has a name");
    if (!op || !value || !text_in(value, &text)) return -1;
    xir_status status = xir_op_set_name(op, text);
    return status ? (raise_net(((op_object *)self)->owner->net, status), -1) : 0;
}

/* op.NAME: an attribute or a port of the class, then what every op has. An erased op still has what its type has. */
static PyObject *op_getattr(PyObject *self, PyObject *name) {
    op_object *o = (op_object *)self;
    xir_str word;
    if (name == name_word) return op_get_name(self, NULL);
    if (o->owner->net && !net_read(o->owner)) return NULL;
    if (o->owner->net && !is_gone(o)) {
        PyObject *names = class_names(xir_op_class(o->op)), *at = names ? PyDict_GetItemWithError(names, name) : NULL;
        if (at) return named_out(o, o->op, PyLong_AsLong(at));
    }
    if (PyErr_Occurred()) return NULL;
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    if (!o->owner->net || is_gone(o)) {
        PyErr_Clear();
        op_read(o);
        return NULL;
    }
    if (!text_in(name, &word) || (word.size && *word.data == '_')) return NULL;      /* which protocols ask for */
    PyErr_Clear();
    return raise_unknown("the op has no attribute", word, near_attribute(o->op, word));
}

static int set_input_port(op_object *o, xir_op *op, size_t i, PyObject *value) {
    xir_value *v;
    if (!value_of(value, o->owner, true, &v)) return -1;
    xir_status status = i < xir_op_input_count(op) ? xir_op_set_input(op, i, v) : xir_op_insert_input(op, i, v);
    return status ? (raise_net(o->owner->net, status), -1) : 0;
}

static int op_setattr(PyObject *self, PyObject *name, PyObject *value) {
    op_object *o = (op_object *)self;
    xir_str text;
    if (name == name_word) return op_set_name(self, value, NULL);
    if (!value) return PyErr_SetString(PyExc_AttributeError, "an attribute of an op cannot be deleted"), -1;
    xir_op *op = op_write(o);
    PyObject *names = op ? class_names(xir_op_class(op)) : NULL;
    PyObject *at = names ? PyDict_GetItemWithError(names, name) : NULL;
    if (!op || PyErr_Occurred() || !text_in(name, &text)) return -1;
    if (at) {
        const long i = PyLong_AsLong(at);
        if (i >= (long)xir_class_field_count(xir_op_class(op)))
            return PyErr_SetString(PyExc_AttributeError, "an output of an op cannot be set"), -1;
        if (i < 0) return set_input_port(o, op, (size_t)(-1 - i), value);
        return set_attr(o, op, xir_class_field_at(xir_op_class(op), (size_t)i), text, value) ? 0 : -1;
    }
    PyObject *own = PyObject_GetAttr((PyObject *)Op_type, name);
    if (own) {
        Py_DECREF(own);
        return PyObject_GenericSetAttr(self, name, value);
    }
    PyErr_Clear();
    return set_attr(o, op, NULL, text, value) ? 0 : -1;      /* refused with a suggestion */
}

/* op["name"]: an attribute, declared or not. */
static PyObject *op_item(PyObject *self, PyObject *key) {
    op_object *o = (op_object *)self;
    xir_str name;
    xir_op *op = op_read(o);
    if (!op || !text_in(key, &name)) return NULL;
    const xir_field *field = xir_class_field(xir_op_class(op), name);
    if (field) return field_out(o, op, field);
    const xir_map *extra = xir_op_extra(op);
    const xir_any *any = extra ? xir_map_find(extra, name) : NULL;
    if (any) return any_out(o->owner, any);
    return raise_unknown("the op has no attribute", name, near_attribute(op, name));
}

/* A name that the class does not declare becomes an undeclared attribute. */
static int op_set_item(PyObject *self, PyObject *key, PyObject *value) {
    op_object *o = (op_object *)self;
    xir_str name;
    xir_any any;
    scratch s = { 0 };
    xir_op *op = op_write(o);
    if (!op || !text_in(key, &name)) return -1;
    const xir_field *field = xir_class_field(xir_op_class(op), name);
    if (field) {
        if (value) return set_attr(o, op, field, name, value) ? 0 : -1;
        raise_status(XIR_E_INVALID, "an attribute that the class declares cannot be deleted");
        return -1;
    }
    if (!value && !(xir_op_extra(op) && xir_map_find(xir_op_extra(op), name))) {
        raise_unknown("the op has no attribute", name, near_attribute(op, name));
        return -1;
    }
    bool fine = (!value || any_in(o->owner, value, &any, &s)) && op_write(o);
    xir_status status = fine ? xir_op_set_extra(op, name, value ? &any : NULL) : XIR_OK;
    scratch_free(&s);
    if (status) raise_net(o->owner->net, status);
    return fine && !status ? 0 : -1;
}

static int op_contains(PyObject *self, PyObject *key) {
    xir_str name;
    xir_op *op = op_read((op_object *)self);
    return op && text_in(key, &name) ? xir_op_has(op, name) : -1;
}

/* get(name, default=None): the fastest way to read an attribute that may not exist. */
static PyObject *op_get(PyObject *self, PyObject *args) {
    PyObject *name, *otherwise = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:get", &name, &otherwise)) return NULL;
    int has = op_contains(self, name);
    return has < 0 ? NULL : has ? op_item(self, name) : Py_NewRef(otherwise);
}

/* ---- notes ---------------------------------------------------------------------------------------------------- */

static PyObject *op_get_tags(PyObject *self, PyObject *none) {
    (void)none;
    xir_op *op = op_read((op_object *)self);
    return op ? map_out(((op_object *)self)->owner, xir_op_tags(op)) : NULL;
}

static PyObject *op_get_extra(PyObject *self, PyObject *none) {
    (void)none;
    xir_op *op = op_read((op_object *)self);
    return op ? map_out(((op_object *)self)->owner, xir_op_extra(op)) : NULL;
}

/* (key, value) sets, (key) removes. */
static PyObject *set_note(PyObject *self, PyObject *args, xir_status (*set)(xir_op *, xir_str, const xir_any *)) {
    op_object *o = (op_object *)self;
    PyObject *key, *value = NULL;
    xir_any any;
    xir_str name;
    scratch s = { 0 };
    xir_op *op = op_write(o);
    if (!op || !PyArg_ParseTuple(args, "O|O", &key, &value) || !text_in(key, &name)) return NULL;
    bool fine = (!value || any_in(o->owner, value, &any, &s)) && op_write(o);
    xir_status status = fine ? set(op, name, value ? &any : NULL) : XIR_OK;
    scratch_free(&s);
    return fine ? done_or_raise(o, status) : NULL;
}

static PyObject *op_set_tag_(PyObject *self, PyObject *args) { return set_note(self, args, xir_op_set_tag); }
static PyObject *op_set_extra_(PyObject *self, PyObject *args) { return set_note(self, args, xir_op_set_extra); }

/* ---- properties ----------------------------------------------------------------------------------------------- */

/* "host", "buyi", "zhuge:330": what xir_target_parse reads. */
static PyObject *op_get_target(PyObject *self, void *none) {
    (void)none;
    xir_op *op = op_read((op_object *)self);
    if (!op) return NULL;
    const xir_target_row *row = xir_target_row_of(xir_op_target(op));
    const xir_str core = xir_target_core(xir_op_target(op));
    PyObject *name = PyUnicode_FromString(row->name), *word = name && core.size ? text_out(core) : NULL;
    if (!name || !core.size) return name;
    PyObject *both = word ? PyUnicode_FromFormat("%U:%U", name, word) : NULL;
    Py_DECREF(name);
    Py_XDECREF(word);
    return both;
}

static int op_set_target_(PyObject *self, PyObject *value, void *none) {
    xir_str text;
    (void)none;
    xir_op *op = op_write((op_object *)self);
    if (op && !value) PyErr_SetString(PyExc_AttributeError, "an op always has a target");
    if (!op || !value || !text_in(value, &text)) return -1;
    xir_diags *why = why_new();
    const xir_target *target = why ? xir_target_parse(the_context, text, why) : NULL;
    if (why && !target) return (raise_diags(xir_diags_at(why, 0)->code, why), -1);
    xir_diags_free(why);
    if (!target) return -1;
    xir_status status = xir_op_set_target(op, target);
    return status ? (raise_net(((op_object *)self)->owner->net, status), -1) : 0;
}

static PyObject *op_get_id(PyObject *self, void *none) {
    (void)none;
    xir_op *op = op_read((op_object *)self);
    return op ? PyLong_FromLongLong(xir_op_id(op)) : NULL;
}

static int op_set_id_(PyObject *self, PyObject *value, void *none) {
    (void)none;
    if (!value) return PyErr_SetString(PyExc_AttributeError, "an op always has an id"), -1;
    long long id = PyLong_AsLongLong(value);      /* first: it may run code of the caller */
    xir_op *op = id == -1 && PyErr_Occurred() ? NULL : op_write((op_object *)self);
    if (!op) return -1;
    xir_status status = xir_op_set_id(op, id);
    return status ? (raise_net(((op_object *)self)->owner->net, status), -1) : 0;
}

static PyObject *op_get_cls(PyObject *self, void *none) {
    (void)none;
    xir_op *op = op_read((op_object *)self);
    return op ? class_wrap(xir_op_class(op)) : NULL;
}

static PyObject *op_get_network(PyObject *self, void *none) {
    return (void)none, Py_NewRef((PyObject *)((op_object *)self)->owner);
}

static PyObject *op_get_erased(PyObject *self, void *none) {
    op_object *o = (op_object *)self;
    (void)none;
    if (o->owner->net && !net_read(o->owner)) return NULL;
    return PyBool_FromLong(!o->owner->net || is_gone(o));
}

static PyObject *ports_out(PyObject *self, bool outputs) {
    size_t (*const count)(const xir_op *) = outputs ? xir_op_output_count : xir_op_input_count;
    xir_value *(*const at)(const xir_op *, int64_t) = outputs ? xir_op_output : xir_op_input;
    op_object *o = (op_object *)self;
    xir_op *op = op_read(o);
    size_t n = op ? count(op) : 0;
    PyObject *tuple = op ? PyTuple_New((Py_ssize_t)n) : NULL;
    for (size_t i = 0; tuple && i < n; i++) {
        PyObject *item = value_wrap(o->owner, at(op, (int64_t)i));
        if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item)) Py_CLEAR(tuple);
    }
    return tuple ? ports_wrap(xir_op_class(op), outputs, tuple) : NULL;
}

static PyObject *op_get_inputs(PyObject *self, void *none) {
    return (void)none, ports_out(self, false);
}

static PyObject *op_get_outputs(PyObject *self, void *none) {
    return (void)none, ports_out(self, true);
}

static int op_set_inputs_(PyObject *self, PyObject *value, void *none) {
    op_object *o = (op_object *)self;
    scratch s = { 0 };
    (void)none;
    if (!value) return PyErr_SetString(PyExc_AttributeError, "the inputs of an op cannot be deleted"), -1;
    PyObject *items = PySequence_Tuple(value);
    xir_op *op = items ? op_write(o) : NULL;
    size_t n = items ? (size_t)PyTuple_Size(items) : 0;
    xir_value **values = op ? scratch_take(&s, n, sizeof *values) : NULL;
    bool fine = values != NULL;
    for (size_t i = 0; fine && i < n; i++) {
        fine = value_of(PyTuple_GetItem(items, (Py_ssize_t)i), o->owner, true, &values[i]);
    }
    xir_status status = fine ? xir_op_set_inputs(op, values, n) : XIR_OK;
    scratch_free(&s);
    Py_XDECREF(items);
    if (status) raise_net(o->owner->net, status);
    return fine && !status ? 0 : -1;
}

/* The only output; an op with more has `outputs`. */
static PyObject *op_get_output(PyObject *self, void *none) {
    (void)none;
    op_object *o = (op_object *)self;
    xir_op *op = op_read(o);
    if (!op) return NULL;
    size_t n = xir_op_output_count(op);
    if (n != 1) return raise_status(XIR_E_INVALID, "the op has %zu outputs: use outputs", n);
    return value_wrap(o->owner, xir_op_output(op, 0));
}

static PyObject *op_get_next(PyObject *self, void *none) {
    (void)none;
    xir_op *op = op_read((op_object *)self);
    return op ? op_wrap(((op_object *)self)->owner, xir_op_next(op)) : NULL;
}

static PyObject *op_get_prev(PyObject *self, void *none) {
    (void)none;
    xir_op *op = op_read((op_object *)self);
    return op ? op_wrap(((op_object *)self)->owner, xir_op_prev(op)) : NULL;
}

static PyObject *op_get_parent(PyObject *self, void *none) {
    (void)none;
    xir_op *op = op_read((op_object *)self);
    return op ? op_wrap(((op_object *)self)->owner, xir_op_parent(op)) : NULL;
}

/* ---- methods -------------------------------------------------------------------------------------------------- */

static PyObject *op_erase_(PyObject *self, PyObject *none) {
    (void)none;
    xir_op *op = op_write((op_object *)self);
    return op ? done_or_raise((op_object *)self, xir_op_erase(op)) : NULL;
}

static PyObject *op_infer_(PyObject *self, PyObject *none) {
    (void)none;
    op_object *o = (op_object *)self;
    xir_op *op = op_write(o);
    if (!op || !net_begin_write(o->owner)) return NULL;
    xir_status status = xir_op_infer(op, true);
    net_end_write(o->owner);
    return done_or_raise(o, status);
}

static PyObject *op_check(PyObject *self, PyObject *none) {
    (void)none;
    op_object *o = (op_object *)self;
    xir_op *op = op_read(o);
    xir_diags *why = op ? why_new() : NULL;
    if (!why) return NULL;
    o->owner->readers++;
    xir_op_validate(op, why);
    o->owner->readers--;
    PyObject *list = findings_of(why);
    xir_diags_free(why);
    return list;
}

/* set_input(i, value): None makes the input absent. */
static PyObject *op_set_input_(PyObject *self, PyObject *args) {
    Py_ssize_t i;
    PyObject *arg;
    xir_value *value;
    op_object *o = (op_object *)self;
    if (!PyArg_ParseTuple(args, "nO:set_input", &i, &arg)) return NULL;
    xir_op *op = op_write(o);
    if (!op || !value_of(arg, o->owner, true, &value)) return NULL;
    Py_ssize_t n = (Py_ssize_t)xir_op_input_count(op);
    if (i < 0) i = i + n < 0 ? PY_SSIZE_T_MAX : i + n;
    return done_or_raise(o, xir_op_set_input(op, (size_t)i, value));
}

/* move(before): None moves it to the end. */
static PyObject *op_move_(PyObject *self, PyObject *arg) {
    op_object *o = (op_object *)self;
    xir_op *op = op_write(o), *before = NULL;
    if (!op) return NULL;
    if (arg != Py_None) {
        if (!PyObject_TypeCheck(arg, Op_type)) return PyErr_Format(PyExc_TypeError, "move takes an op or None");
        if (((op_object *)arg)->owner != o->owner) return raise_status(XIR_E_INVALID, "the op is of another network");
        if (!(before = op_read((op_object *)arg))) return NULL;
    }
    return done_or_raise(o, xir_op_move(op, before));
}

/* json(): as files print it. */
static PyObject *op_json(PyObject *self, PyObject *none) {
    (void)none;
    op_object *o = (op_object *)self;
    xir_text_buffer text = { 0 };
    xir_op *op = op_read(o);
    xir_status status = op ? xir_op_print(op, 0, &text) : XIR_OK;
    PyObject *made = !op ? NULL : status ? raise_net(o->owner->net, status) : text_out((xir_str){ text.data,
        text.size });
    xir_text_free(&text);
    return made;
}

/* str(op): its line of the text form. */
static PyObject *op_text(PyObject *self) {
    op_object *o = (op_object *)self;
    if (!o->owner->net || is_gone(o)) return PyUnicode_FromString("<xir.Op, erased>");
    xir_op *op = op_read(o);
    const size_t size = op ? xir_op_line(op, NULL, 0) : 0;
    char *line = op ? PyMem_Malloc(size + 1) : NULL;
    if (!line) return op ? PyErr_NoMemory() : NULL;
    xir_op_line(op, line, size + 1);
    PyObject *made = text_out((xir_str){ line, size });
    PyMem_Free(line);
    return made;
}

static PyObject *op_repr(PyObject *self) {
    op_object *o = (op_object *)self;
    if (o->owner->net && !net_read(o->owner)) {
        PyErr_Clear();
        return PyUnicode_FromString("<xir.Op, in use>");
    }
    if (!o->owner->net || is_gone(o)) return PyUnicode_FromString("<xir.Op, erased>");
    xir_op *op = op_read(o);
    if (!op) return NULL;
    PyObject *key = text_out(xir_class_key(xir_op_class(op))), *name = text_out(xir_op_name(op)), *made = NULL;
    if (key && name) made = PyUnicode_FromFormat("<xir.Op %lld %S %R>", (long long)xir_op_id(op), key, name);
    Py_XDECREF(key);
    Py_XDECREF(name);
    return made;
}

/* ---- the type ------------------------------------------------------------------------------------------------- */

static PyMethodDef op_methods[] = {
    { "get", op_get, METH_VARARGS,
      DOC("get($self, name, default=None, /)",
          "An attribute, declared or not; the default if the op does not have it.") },
    { "erase", op_erase_, METH_NOARGS,
      DOC("erase($self, /)", "Removes the op and forgets it. InUseError, naming a user, if an output is used.") },
    { "infer", op_infer_, METH_NOARGS, DOC("infer($self, /)", "Infers the types of the outputs. Types that differ are replaced.") },
    { "check", op_check, METH_NOARGS,
      DOC("check($self, /)",
          "Checks the op: rows, ports, then the class's own rule. Returns a list of findings.") },
    { "set_input", op_set_input_, METH_VARARGS,
      DOC("set_input($self, i, value, /)",
          "Connects another value, or an op with one output; None makes the input absent.") },
    { "move", op_move_, METH_O,
      DOC("move($self, before, /)", "Moves the op before another one; None: to the end.") },
    { "json", op_json, METH_NOARGS, DOC("json($self, /)", "The op as a JSON file has it.") },
    { "_tags",      op_get_tags,   METH_NOARGS,  NULL },
    { "_set_tag",   op_set_tag_,   METH_VARARGS, NULL },
    { "_extra",     op_get_extra,  METH_NOARGS,  NULL },
    { "_set_extra", op_set_extra_, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyGetSetDef op_getset[] = {
    { "name",    op_get_name,    op_set_name,    "The name.",                                           NULL },
    { "id",      op_get_id,      op_set_id_,     "The id; negative: the op is not in the order.",       NULL },
    { "target",  op_get_target,  op_set_target_, "The target, for which it is compiled: \"host\", \"zhuge:330\".", NULL },
    { "cls",     op_get_cls,     NULL,           "The class.",                                          NULL },
    { "network", op_get_network, NULL,           "The network.",                                        NULL },
    { "erased",  op_get_erased,  NULL,
      "True if the op has been erased: by op.erase(), with its parent, or because a failed call undid it.", NULL },
    { "inputs",  op_get_inputs,  op_set_inputs_, "The inputs, a tuple, also by the names of ports; None: absent.", NULL },
    { "outputs", op_get_outputs, NULL,           "The outputs, a tuple of values, also by name.",       NULL },
    { "output",  op_get_output,  NULL,           "The only output.",                                    NULL },
    { "next",    op_get_next,    NULL,           "The next op of the execution order, or None.",        NULL },
    { "prev",    op_get_prev,    NULL,           "The op before it, or None.",                          NULL },
    { "parent",  op_get_parent,  NULL,
      "The op that has this one among its sub ops; None for other ops.", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot op_slots[] = {
    { Py_tp_doc,           "An operation of a network." },
    { Py_tp_dealloc,       op_dealloc },
    { Py_tp_richcompare,   op_compare },
    { Py_tp_hash,          op_hash },
    { Py_tp_repr,          op_repr },
    { Py_tp_str,           op_text },
    { Py_tp_getattro,      op_getattr },
    { Py_tp_setattro,      op_setattr },
    { Py_tp_methods,       op_methods },
    { Py_tp_getset,        op_getset },
    { Py_mp_subscript,     op_item },
    { Py_mp_ass_subscript, op_set_item },
    { Py_sq_contains,      op_contains },
    { 0, NULL },
};
static PyType_Spec op_spec = {
    "xir.Op", sizeof(op_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_BASETYPE,
    op_slots,
};

bool op_init(PyObject *module) {
    return (name_word = PyUnicode_InternFromString("name")) && (Op_type = add_type(module, &op_spec, "Op"));
}

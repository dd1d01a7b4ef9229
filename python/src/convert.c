/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Conversions between Python's values and the library's: texts, values without a class, attributes. */
#include <string.h>
#include <xir/layout.h>
#include "xirpy.h"

/* ---- memory of one call ----------------------------------------------------------------------------------------- */

typedef struct block { struct block *next; PyObject *kept; } block;

void *scratch_take(scratch *s, size_t n, size_t size) {
    if (n > (PY_SSIZE_T_MAX - sizeof(block)) / (size ? size : 1)) return PyErr_NoMemory();
    block *b = PyMem_Malloc(n * size + sizeof *b);
    if (!b) return PyErr_NoMemory();
    *b = (block){ s->last, NULL };
    s->last = b;
    return b + 1;
}

bool scratch_keep(scratch *s, PyObject *object) {
    if (!object) return false;
    if (!scratch_take(s, 0, 1)) {
        Py_DECREF(object);
        return false;
    }
    ((block *)s->last)->kept = object;
    return true;
}

void scratch_free(scratch *s) {
    while (s->last) {
        block *b = s->last;
        s->last = b->next;
        Py_XDECREF(b->kept);
        PyMem_Free(b);
    }
}

bool list_add(PyObject *list, PyObject *item) {
    const bool added = list && item && !PyList_Append(list, item);
    Py_XDECREF(item);
    return added;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

PyObject *text_out(xir_str text) {
    return PyUnicode_DecodeUTF8(text.size ? text.data : "", (Py_ssize_t)text.size, "replace");
}

bool text_in(PyObject *arg, xir_str *out) {
    Py_ssize_t size;
    if (!PyUnicode_Check(arg)) {
        PyObject *name = PyType_GetName(Py_TYPE(arg));
        PyErr_Format(PyExc_TypeError, "expected a str, got %S", name ? name : Py_None);
        Py_XDECREF(name);
        return false;
    }
    out->data = PyUnicode_AsUTF8AndSize(arg, &size);
    out->size = out->data ? (size_t)size : 0;
    return out->data != NULL;
}

const char *word_in(PyObject *arg) {
    xir_str text;
    if (!text_in(arg, &text)) return NULL;
    if (strlen(text.data) != text.size) return raise_status(XIR_E_SYNTAX, "the text has a zero byte");
    return text.data;
}

/* ---- values without a class ----------------------------------------------------------------------------------- */

PyObject *map_out(net_object *owner, const xir_map *map) {
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && map && i < map->size; i++) {
        PyObject *key = text_out(map->entries[i].key);
        PyObject *value = key ? any_out(owner, &map->entries[i].value) : NULL;
        if (!value || PyDict_SetItem(dict, key, value)) Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *list_out(net_object *owner, const xir_list *list) {
    PyObject *made = PyList_New((Py_ssize_t)list->size);
    for (size_t i = 0; made && i < list->size; i++) {
        PyObject *item = any_out(owner, &list->items[i]);
        if (!item || PyList_SetItem(made, (Py_ssize_t)i, item)) Py_CLEAR(made);
    }
    return made;
}

PyObject *any_out(net_object *owner, const xir_any *any) {
    switch (any->kind) {
    case XIR_ANY_NULL:   return Py_NewRef(Py_None);
    case XIR_ANY_BOOL:   return PyBool_FromLong(any->as.boolean);
    case XIR_ANY_INT:    return PyLong_FromLongLong(any->as.integer);
    case XIR_ANY_UINT:   return PyLong_FromUnsignedLongLong(any->as.uinteger);
    case XIR_ANY_REAL:   return PyFloat_FromDouble(any->as.real);
    case XIR_ANY_TEXT:   return text_out(any->as.text);
    case XIR_ANY_LIST:   return list_out(owner, &any->as.list);
    case XIR_ANY_MAP:    return map_out(owner, &any->as.map);
    case XIR_ANY_PARAMS: return value_wrap(owner, any->as.params);
    }
    return raise_status(XIR_E_TYPE, "a value of an unknown kind");
}

static int compare_keys(const void *a, const void *b) {
    const xir_str x = ((const xir_entry *)a)->key, y = ((const xir_entry *)b)->key;
    int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return order ? order : (x.size > y.size) - (x.size < y.size);
}

static bool dict_in(net_object *owner, PyObject *arg, xir_any *out, scratch *s) {
    Py_ssize_t at = 0;
    PyObject *key, *value, *copy = PyDict_Copy(arg);
    if (!scratch_keep(s, copy)) return false;
    size_t n = 0, room = (size_t)PyDict_Size(copy);
    xir_entry *entries = scratch_take(s, room, sizeof *entries);
    while (entries && n < room && PyDict_Next(copy, &at, &key, &value)) {
        if (!text_in(key, &entries[n].key) || !any_in(owner, value, &entries[n].value, s)) return false;
        n++;
    }
    if (!entries) return false;
    qsort(entries, n, sizeof *entries, compare_keys);
    *out = xir_any_map(entries, n);
    return true;
}

/* The items of a list or tuple, into a tuple: other code may change a list meanwhile. */
static bool sequence_in(net_object *owner, PyObject *arg, xir_any *out, scratch *s) {
    PyObject *items = PySequence_Tuple(arg);
    if (!scratch_keep(s, items)) return false;
    Py_ssize_t n = PyTuple_Size(items);
    xir_any *list = scratch_take(s, (size_t)n, sizeof *list);
    bool fine = list != NULL;
    for (Py_ssize_t i = 0; fine && i < n; i++) fine = any_in(owner, PyTuple_GetItem(items, i), &list[i], s);
    if (fine) *out = xir_any_list(list, (size_t)n);
    return fine;
}

static bool integer_in(PyObject *arg, xir_any *out) {
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(arg, &overflow);
    if (v == -1 && PyErr_Occurred()) return false;
    *out = xir_any_int(v);
    if (overflow > 0) {
        out->kind = XIR_ANY_UINT;
        out->as.uinteger = PyLong_AsUnsignedLongLong(arg);
        if (!PyErr_Occurred()) return true;
        PyErr_Clear();
    }
    if (overflow) raise_status(XIR_E_BOUNDS, "the integer does not fit into 64 bits");
    return !overflow;
}

/* A number that is neither Python's own nor an array of numbers, nor an integer. */
static bool is_real(PyObject *arg) {
    return PyNumber_Check(arg) && !PySequence_Check(arg) && !PyIndex_Check(arg) && !PyComplex_Check(arg);
}

/* The list, or the number, of an array of NumPy; the tuple of a range and the like. NULL for anything else, perhaps
 * with an exception. */
static PyObject *listed(PyObject *arg) {
    if (PyUnicode_Check(arg) || PyBytes_Check(arg) || PyByteArray_Check(arg)) return NULL;
    PyObject *method = PyObject_GetAttrString(arg, "tolist");
    PyObject *made = method ? PyObject_CallNoArgs(method) : NULL;
    Py_XDECREF(method);
    if (method) return made;
    PyErr_Clear();
    return PySequence_Check(arg) && !PyDict_Check(arg) ? PySequence_Tuple(arg) : NULL;
}

bool any_in(net_object *owner, PyObject *arg, xir_any *out, scratch *s) {
    xir_str text;
    if (arg == Py_None) *out = xir_any_null();
    else if (PyBool_Check(arg)) *out = xir_any_bool(arg == Py_True);
    else if (PyLong_Check(arg)) return integer_in(arg, out);
    else if (PyFloat_Check(arg)) *out = xir_any_real(PyFloat_AsDouble(arg));
    else if (PyUnicode_Check(arg)) {
        if (!text_in(arg, &text)) return false;
        *out = xir_any_text(text);
    } else if (PyObject_TypeCheck(arg, Value_type)) {
        *out = xir_any_null();
        out->kind = XIR_ANY_PARAMS;
        return value_of(arg, owner, false, &out->as.params);
    } else if (PyDict_Check(arg) || PyList_Check(arg) || PyTuple_Check(arg)) {
        if (Py_EnterRecursiveCall(" in a value of a network")) return false;
        bool fine = PyDict_Check(arg) ? dict_in(owner, arg, out, s) : sequence_in(owner, arg, out, s);
        Py_LeaveRecursiveCall();
        return fine;
    } else {
        PyObject *list = listed(arg);
        if (PyErr_Occurred()) return false;
        if (list) {
            if (!scratch_keep(s, list) || Py_EnterRecursiveCall(" in a value of a network")) return false;
            const bool fine = any_in(owner, list, out, s);
            Py_LeaveRecursiveCall();
            return fine;
        }
        if (PyIndex_Check(arg)) {      /* integers of NumPy */
            PyObject *index = PyNumber_Index(arg);
            bool fine = index && integer_in(index, out);
            Py_XDECREF(index);
            return fine;
        }
        if (is_real(arg)) {      /* float32 of NumPy */
            const double real = PyFloat_AsDouble(arg);
            *out = xir_any_real(real);
            return !(real == -1 && PyErr_Occurred());
        }
        PyObject *name = PyType_GetName(Py_TYPE(arg));
        PyErr_Format(PyExc_TypeError, "a network cannot hold a value of the type %S", name ? name : Py_None);
        Py_XDECREF(name);
        return false;
    }
    return true;
}

/* ---- attributes, to Python ------------------------------------------------------------------------------------ */

static PyObject *run_out(const xir_run *run) {
    return Py_BuildValue("(LLLd)", (long long)run->end, (long long)run->m, (long long)run->exp, (double)run->value);
}

/* The number of a scalar, the text of a layout; other objects are themselves. */
static PyObject *ref_out(net_object *owner, const xir_object *object) {
    const xir_object *scalar = object ? xir_object_body(object, xir_scalar_class()) : NULL;
    if (object && xir_object_body(object, xir_layout_class()))
        return text_out(xir_layout_text((const xir_layout *)(const void *)object));
    if (!scalar) return type_wrap(owner, object);
    const xir_scalar *number = (const xir_scalar *)(const void *)scalar;
    if (xir_object_body(object, xir_bool_imm_class())) return PyBool_FromLong(xir_scalar_as_int(number) != 0);
    if (xir_object_body(object, xir_int_imm_class())) return PyLong_FromLongLong(xir_scalar_as_int(number));
    return PyFloat_FromDouble(xir_scalar_as_real(number));
}

static PyObject *item_out(net_object *owner, const xir_attr *attr, size_t i) {
    switch (attr->kind) {
    case XIR_KIND_BOOLS:   return PyBool_FromLong(attr->as.bools.data[i]);
    case XIR_KIND_I64S:    return PyLong_FromLongLong(attr->as.i64s.data[i]);
    case XIR_KIND_REALS:   return PyFloat_FromDouble(attr->as.reals.data[i]);
    case XIR_KIND_TEXTS:   return text_out(attr->as.texts.data[i]);
    case XIR_KIND_REFS:    return ref_out(owner, attr->as.refs.data[i]);
    case XIR_KIND_RUNS:    return run_out(&attr->as.runs.data[i]);
    case XIR_KIND_PARAMSS: return value_wrap(owner, attr->as.values.data[i]);
    default:               return op_wrap(owner, attr->as.ops.data[i]);
    }
}

static size_t items_of(const xir_attr *attr) {
    switch (attr->kind) {
    case XIR_KIND_BOOLS:   return attr->as.bools.size;
    case XIR_KIND_I64S:    return attr->as.i64s.size;
    case XIR_KIND_REALS:   return attr->as.reals.size;
    case XIR_KIND_TEXTS:   return attr->as.texts.size;
    case XIR_KIND_REFS:    return attr->as.refs.size;
    case XIR_KIND_RUNS:    return attr->as.runs.size;
    case XIR_KIND_PARAMSS: return attr->as.values.size;
    default:               return attr->as.ops.size;
    }
}

PyObject *attr_out(net_object *owner, const xir_attr *attr, const xir_field *field) {
    if (attr->is_null) return Py_NewRef(Py_None);
    switch (attr->kind) {
    case XIR_KIND_BOOL:   return PyBool_FromLong(attr->as.boolean);
    case XIR_KIND_I64:    return PyLong_FromLongLong(attr->as.i64);
    case XIR_KIND_U64:    return PyLong_FromUnsignedLongLong(attr->as.u64);
    case XIR_KIND_REAL:   return PyFloat_FromDouble(attr->as.real);
    case XIR_KIND_TEXT:   return text_out(attr->as.text);
    case XIR_KIND_REF:    return ref_out(owner, attr->as.ref);
    case XIR_KIND_PARAMS: return value_wrap(owner, attr->as.params);
    case XIR_KIND_MAP:    return map_out(owner, &attr->as.map);
    case XIR_KIND_ENUM:
        if (field && field->members && (size_t)attr->as.enumerator < field->members->size) {
            return PyUnicode_FromString(field->members->names[attr->as.enumerator]);
        }
        return PyLong_FromLong(attr->as.enumerator);
    default: break;
    }
    size_t n = items_of(attr);
    PyObject *tuple = PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; tuple && i < n; i++) {
        PyObject *item = item_out(owner, attr, i);
        if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item)) Py_CLEAR(tuple);
    }
    return tuple;
}

/* ---- attributes, from Python ---------------------------------------------------------------------------------- */

static bool wrong_item(const char *expected) {
    raise_status(XIR_E_TYPE, "expected a list of %s", expected);
    return false;
}

static bool real_in(PyObject *arg, double *out) {
    if (PyBool_Check(arg) || !(PyFloat_Check(arg) || PyLong_Check(arg) || PyIndex_Check(arg) || is_real(arg))) {
        return wrong_item("numbers");
    }
    *out = PyFloat_AsDouble(arg);
    return !(*out == -1 && PyErr_Occurred());
}

static bool i64_in(PyObject *arg, int64_t *out) {
    xir_any any;
    if (PyBool_Check(arg) || !PyIndex_Check(arg)) return wrong_item("integers");
    PyObject *index = PyNumber_Index(arg);
    bool fine = index && integer_in(index, &any);
    Py_XDECREF(index);
    if (!fine) return false;
    if (any.kind == XIR_ANY_UINT) raise_status(XIR_E_BOUNDS, "the integer does not fit into 64 bits with a sign");
    *out = any.as.integer;
    return any.kind == XIR_ANY_INT;
}

/* Returns true if objects of a class may be what an attribute refers to. */
static bool takes(const xir_field *field, const xir_class_decl *decl) {
    const xir_class *cls = xir_class_find_decl(the_context, decl);
    return field && field->of && (xir_class_is_a(cls, field->of) || xir_class_is_a(field->of, cls));
}

/* The scalar of a bool, an int or a float; NULL with an exception. */
static const xir_object *scalar_in(PyObject *arg, const xir_field *field) {
    const xir_class *of = field->of;
    const bool integer = !PyBool_Check(arg) && PyIndex_Check(arg);
    const xir_scalar *made = NULL;
    xir_any any;
    if (PyBool_Check(arg)) made = xir_scalar_bool(the_context, arg == Py_True);
    else if (integer && of != xir_class_find_decl(the_context, xir_float_imm_class())) {
        PyObject *index = PyNumber_Index(arg);
        const bool fine = index && integer_in(index, &any);
        Py_XDECREF(index);
        if (!fine) return NULL;
        if (any.kind == XIR_ANY_UINT) return raise_status(XIR_E_BOUNDS, "the integer does not fit into 64 bits with a "
                                                          "sign");
        made = xir_scalar_int(the_context, any.as.integer);
    } else {
        const double real = PyFloat_AsDouble(arg);
        if (real == -1 && PyErr_Occurred()) return NULL;
        made = xir_scalar_real(the_context, real);
    }
    if (!made) PyErr_NoMemory();
    return (const xir_object *)(const void *)made;
}

static bool is_number(PyObject *arg) {
    return PyFloat_Check(arg) || PyLong_Check(arg) || PyIndex_Check(arg) || is_real(arg);
}

static bool ref_in(net_object *owner, PyObject *arg, const xir_field *field, const xir_object **out) {
    *out = NULL;
    if (PyObject_TypeCheck(arg, Type_type)) *out = object_for(owner, arg);
    else if (is_number(arg) && takes(field, xir_scalar_class())) *out = scalar_in(arg, field);
    else wrong_item("types");
    return *out != NULL;
}

static bool op_item_in(net_object *owner, PyObject *arg, xir_op **out) {
    if (!PyObject_TypeCheck(arg, Op_type)) return wrong_item("ops");
    if (!(*out = op_read((op_object *)arg))) return false;
    if (owner == ((op_object *)arg)->owner) return true;
    raise_status(XIR_E_INVALID, "the op is of another network");
    return false;
}

static bool run_in(PyObject *arg, xir_run *out) {
    long long end, m, exp;
    double value;
    if (!PyTuple_Check(arg)) return wrong_item("runs (end, m, exp, value)");
    if (!PyArg_ParseTuple(arg, "LLLd", &end, &m, &exp, &value)) return false;
    *out = (xir_run){ .end = end, .m = m, .exp = exp, .value = (float)value };
    return true;
}

#define EACH(member, call) do {                                                 \
        void *items_ = scratch_take(s, n, sizeof *out->as.member.data);         \
        if (!items_) return false;                                              \
        for (size_t i = 0; i < n; i++) {                                        \
            PyObject *item = PyTuple_GetItem(items, (Py_ssize_t)i);             \
            if (!(call)) return false;                                          \
        }                                                                       \
        out->as.member.size = n;                                                \
        out->as.member.data = items_;                                           \
    } while (0)

/* A list for an attribute of the kind; `items` is a tuple that outlives the call that uses the result. */
static bool items_in(net_object *owner, PyObject *items, const xir_field *field, xir_attr *out, scratch *s) {
    xir_kind kind = field ? field->kind : XIR_KIND_COUNT;
    size_t n = (size_t)PyTuple_Size(items);
    switch (kind) {
    case XIR_KIND_BOOLS:
        EACH(bools, PyBool_Check(item) ? (((bool *)items_)[i] = item == Py_True, true) : wrong_item("bools"));
        break;
    case XIR_KIND_REALS:   EACH(reals, real_in(item, &((double *)items_)[i])); break;
    case XIR_KIND_TEXTS:   EACH(texts, text_in(item, &((xir_str *)items_)[i])); break;
    case XIR_KIND_REFS:    EACH(refs, ref_in(owner, item, field, &((const xir_object **)items_)[i])); break;
    case XIR_KIND_RUNS:    EACH(runs, run_in(item, &((xir_run *)items_)[i])); break;
    case XIR_KIND_PARAMSS: EACH(values, value_of(item, owner, false, &((xir_value **)items_)[i])); break;
    case XIR_KIND_OPS:     EACH(ops, op_item_in(owner, item, &((xir_op **)items_)[i])); break;
    default:               EACH(i64s, i64_in(item, &((int64_t *)items_)[i])); kind = XIR_KIND_I64S; break;
    }
    out->kind = kind;
    return true;
}

/* Returns true for what Python and NumPy call elements by: float, numpy.float16, numpy.dtype("f2"). */
static bool is_element(PyObject *arg) {
    return PyType_Check(arg) || PyObject_HasAttrString(arg, "byteorder");
}

static const xir_object *element_in(net_object *owner, PyObject *arg, scratch *s) {
    PyObject *hold;
    const xir_type *type = type_in(owner, arg, &hold);
    return hold && scratch_keep(s, hold) && type ? xir_type_object(type) : NULL;
}

/* An object from a text: of a layout, "NHWC"; of a type, "fp32"; or as files have it, "@layout(NHWC)". */
static bool object_in(net_object *owner, PyObject *arg, const xir_field *field, xir_attr *out, scratch *s) {
    xir_str text;
    if (!text_in(arg, &text)) return false;
    const bool as_file = text.size && (*text.data == '@' || *text.data == '{');
    out->kind = XIR_KIND_REF;
    if (!as_file && takes(field, xir_type_class())) {
        return (out->as.ref = element_in(owner, arg, s)) != NULL;
    }
    char *json = scratch_take(s, text.size + 2, 1);
    xir_diags *why = json ? why_new() : NULL;
    if (!why) return false;
    json[0] = json[text.size + 1] = '"';
    memcpy(json + 1, text.data, text.size);
    if (!as_file && takes(field, xir_layout_class())) {
        out->as.ref = (const xir_object *)(const void *)xir_layout_parse(the_context, text, why);
    } else {
        out->as.ref = xir_object_parse(the_context, (xir_str){ json, text.size + 2 }, why);
    }
    if (!out->as.ref) return raise_diags(XIR_OK, why) != NULL;
    xir_diags_free(why);
    return true;
}

/* The kind of the result is the one that Python's value has, so that the library refuses a wrong one in its words. Only
 * lists, words of enums and texts of objects take the kind of the attribute. */
bool attr_in(net_object *owner, PyObject *arg, const xir_field *field, xir_attr *out, scratch *s) {
    xir_kind kind = field ? field->kind : XIR_KIND_COUNT;
    xir_any any;
    memset(out, 0, sizeof *out);
    out->kind = field ? kind : XIR_KIND_I64;
    if (arg == Py_None) {
        out->is_null = true;
        return true;
    }
    if (kind == XIR_KIND_REF && PyUnicode_Check(arg)) return object_in(owner, arg, field, out, s);
    if (kind == XIR_KIND_REF && takes(field, xir_type_class()) && is_element(arg)) {
        out->as.ref = element_in(owner, arg, s);
        return out->as.ref != NULL;
    }
    if (PyObject_TypeCheck(arg, Type_type) ||
        (kind == XIR_KIND_REF && is_number(arg) && takes(field, xir_scalar_class()))) {
        out->kind = XIR_KIND_REF;
        return ref_in(owner, arg, field, &out->as.ref);
    }
    if (PyObject_TypeCheck(arg, Value_type)) {
        out->kind = XIR_KIND_PARAMS;
        return value_of(arg, owner, false, &out->as.params);
    }
    const bool own = PyList_Check(arg) || PyTuple_Check(arg) || PyLong_Check(arg) || PyFloat_Check(arg);
    PyObject *list = own ? Py_NewRef(arg) : listed(arg);
    if (PyErr_Occurred() || (list && !scratch_keep(s, list))) return false;
    if (list) arg = list;
    if (PyTuple_Check(arg)) return items_in(owner, arg, field, out, s);
    if (PyList_Check(arg)) {
        PyObject *items = PyList_AsTuple(arg);
        return scratch_keep(s, items) && items_in(owner, items, field, out, s);
    }
    if (!any_in(owner, arg, &any, s)) return false;
    switch (any.kind) {
    case XIR_ANY_BOOL: out->kind = XIR_KIND_BOOL; out->as.boolean = any.as.boolean; break;
    case XIR_ANY_INT:
        out->kind = kind == XIR_KIND_U64 && any.as.integer >= 0 ? XIR_KIND_U64 : XIR_KIND_I64;
        out->as.i64 = any.as.integer;
        break;
    case XIR_ANY_UINT: out->kind = XIR_KIND_U64; out->as.u64 = any.as.uinteger; break;
    case XIR_ANY_REAL: out->kind = XIR_KIND_REAL; out->as.real = any.as.real; break;
    case XIR_ANY_TEXT: out->kind = XIR_KIND_TEXT; out->as.text = any.as.text; break;
    default:           out->kind = XIR_KIND_MAP; out->as.map = any.as.map; break;
    }
    return true;
}

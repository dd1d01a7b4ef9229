/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Classes of operations written in Python. A class is registered with rows, as one of a plug-in; its inference, check
 * and kernel are shared by all such classes and find their functions by the class. What these get are copies: types and
 * numbers that they may keep. While they run, the networks that existed before are not theirs to change. */
#include <math.h>
#include <string.h>
#include "xirpy.h"

/* A declaration and what its pointers point to. It lives as long as the context, which is as long as the process. */
typedef struct op_class {
    xir_class_decl decl;
    PyObject      *kept;                  /* the arguments, whose texts the rows have      */
    PyObject      *infer, *check, *run;   /* None: the class has none                      */
    const char    *composed;              /* the text of its parts, NULL: it is not composed */
    double         within;
} op_class;

static op_class **all;      /* by the number of the class */
static size_t     n_all;

static const op_class *find(const xir_class *cls) {
    uint32_t number = xir_class_number(cls);
    return number < n_all ? all[number] : NULL;
}

/* ---- what a function gets --------------------------------------------------------------------------------------- */

static PyObject *field_of(const xir_field *f, const void *body) {
    const void *at = (const char *)body + f->offset;
    xir_attr attr = { .kind = f->kind };
    switch (f->kind) {
    case XIR_KIND_BOOL:  attr.as.boolean = *(const bool *)at; break;
    case XIR_KIND_I64:   attr.as.i64 = *(const int64_t *)at; break;
    case XIR_KIND_REAL:  attr.as.real = *(const double *)at; break;
    case XIR_KIND_TEXT:  attr.as.text = *(const xir_str *)at; break;
    case XIR_KIND_BOOLS: attr.as.bools = *(const xir_bools *)at; break;
    case XIR_KIND_I64S:  attr.as.i64s = *(const xir_i64s *)at; break;
    case XIR_KIND_REALS: attr.as.reals = *(const xir_reals *)at; break;
    default:             attr.as.texts = *(const xir_texts *)at; break;      /* rows have no other kinds */
    }
    return attr_out(NULL, &attr, f);
}

static PyObject *attrs_of(const xir_class *cls, const void *body) {
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        PyObject *name = text_out(f->name), *value = name ? field_of(f, body) : NULL;
        if (!value || PyDict_SetItem(dict, name, value)) Py_CLEAR(dict);
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    return dict;
}

/* A tuple of `n` items, each made by a function. */
typedef PyObject *item_fn(const void *at, size_t i);

static PyObject *tuple_of(size_t n, item_fn *make, const void *at) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; tuple && i < n; i++) {
        PyObject *item = make(at, i);
        if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item)) Py_CLEAR(tuple);
    }
    return tuple;
}

/* Takes the exception that is raised, and writes what it says. One that ends the program is raised again as soon as
 * signals are looked at. */
static const char *take_exception(char *out, size_t size) {
    working w = { 0 };
    bool ends = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
    working_keep(&w);
    exception_text(w.cause, out, size);
    Py_XDECREF(w.cause);
    if (ends) PyErr_SetInterrupt();
    return out;
}

/* ---- inference and checks --------------------------------------------------------------------------------------- */

static PyObject *type_item(const void *at, size_t i) {
    const xir_type *type = xir_infer_input(at, i);
    return type ? type_copy(xir_type_object(type)) : Py_NewRef(Py_None);
}

/* Calls function(attributes, types). NULL with an exception. */
static PyObject *call_rule(xir_infer *at, PyObject *function) {
    PyObject *attrs = attrs_of(xir_infer_class(at), xir_infer_attrs(at));
    PyObject *types = attrs ? tuple_of(xir_infer_input_count(at), type_item, at) : NULL;
    PyObject *result = types ? PyObject_CallFunctionObjArgs(function, attrs, types, NULL) : NULL;
    Py_XDECREF(attrs);
    Py_XDECREF(types);
    return result;
}

/* The result of an inference: a tuple of types, and of numbers of inputs, whose types are taken as they are. */
static xir_status set_results(xir_infer *at, PyObject *result) {
    xir_status status = XIR_OK;
    for (Py_ssize_t i = 0; i < PyTuple_Size(result) && !status; i++) {
        PyObject *item = PyTuple_GetItem(result, i), *hold = NULL;
        const xir_type *type;
        if (PyLong_Check(item)) type = xir_infer_input(at, (size_t)PyLong_AsLong(item));
        else type = type_in(NULL, item, &hold);
        if (PyErr_Occurred()) return XIR_E_TYPE;
        if (type) status = xir_infer_result(at, type);      /* of the context, so that `hold` need not be kept */
        else status = xir_infer_fail(at, XIR_E_INVALID, NULL, "an input has no type");
        Py_XDECREF(hold);
    }
    return status;
}

static xir_status call_of_rule(xir_infer *at, bool check) {
    char text[1000];
    calling c;
    const op_class *of = find(xir_infer_class(at));
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);      /* what was raised before remains */
    calling_begin(&c, true);
    PyObject *result = call_rule(at, check ? of->check : of->infer);
    xir_status status = !result ? XIR_E_INVALID : check ? XIR_OK : set_results(at, result);
    calling_end(&c);
    if (PyErr_Occurred()) {
        status = xir_infer_fail(at, XIR_E_INVALID, NULL, "%s", take_exception(text, sizeof text));
    }
    Py_XDECREF(result);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
    return status;
}

static xir_status infer_any(xir_infer *at) { return call_of_rule(at, false); }
static xir_status check_any(xir_infer *at) { return call_of_rule(at, true); }

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* The dims, or None if one is unknown. */
static PyObject *dims_of(const xir_type *type) {
    size_t rank = xir_type_rank(type);
    PyObject *tuple = PyTuple_New((Py_ssize_t)rank);
    for (size_t i = 0; tuple && i < rank; i++) {
        int64_t dim = xir_type_dim(type, (int64_t)i, false);
        if (dim < 0) {
            Py_DECREF(tuple);
            return Py_NewRef(Py_None);
        }
        if (PyTuple_SetItem(tuple, (Py_ssize_t)i, PyLong_FromLongLong(dim))) Py_CLEAR(tuple);
    }
    return tuple;
}

/* The number of elements; dims are known. */
static size_t count_of(const xir_type *type) {
    size_t n = 1;
    for (size_t i = 0; i < xir_type_rank(type); i++) n *= (size_t)xir_type_dim(type, (int64_t)i, false);
    return n;
}

/* (dims, whether the numbers are real, their bytes: doubles or int64), or None. */
static PyObject *input_item(const void *kernel, size_t i) {
    xir_kernel *at = (xir_kernel *)(uintptr_t)kernel;
    const xir_type *type = xir_kernel_input_type(at, i);
    if (!type) return Py_NewRef(Py_None);
    bool real = xir_kernel_is_real(type);
    const void *numbers = real ? (const void *)xir_kernel_reals(at, i) : xir_kernel_i64s(at, i);
    if (!numbers) return PyErr_NoMemory();
    return Py_BuildValue("(NOy#)", dims_of(type), real ? Py_True : Py_False, (const char *)numbers,
                         (Py_ssize_t)(8 * count_of(type)));
}

static PyObject *output_item(const void *at, size_t i) {
    const xir_type *type = xir_kernel_output_type(at, i);
    return Py_BuildValue("(NO)", dims_of(type), xir_kernel_is_real(type) ? Py_True : Py_False);
}

/* An output: (dims, bytes). */
static xir_status set_output(xir_kernel *at, size_t i, PyObject *item) {
    PyObject *dims;
    Py_buffer view;
    int64_t shape[PyBUF_MAX_NDIM];
    if (!PyArg_ParseTuple(item, "O!y*", &PyTuple_Type, &dims, &view)) return XIR_E_TYPE;
    size_t rank = (size_t)PyTuple_Size(dims);
    xir_status status = rank > PyBUF_MAX_NDIM ? xir_kernel_fail(at, XIR_E_LIMIT, NULL, "too many dims") : XIR_OK;
    for (size_t k = 0; k < rank && !status; k++) shape[k] = PyLong_AsLongLong(PyTuple_GetItem(dims, (Py_ssize_t)k));
    bool unknown = false;
    for (size_t k = 0; k < xir_type_rank(xir_kernel_output_type(at, i)); k++) {
        unknown |= xir_type_dim(xir_kernel_output_type(at, i), (int64_t)k, false) < 0;
    }
    if (!status && unknown) status = xir_kernel_result(at, i, shape, rank);
    const xir_type *type = xir_kernel_output_type(at, i);
    if (!status && (size_t)view.len != 8 * count_of(type)) {
        status = xir_kernel_fail(at, XIR_E_BOUNDS, NULL, "run gave %zd numbers for output %zu, expected %zu",
                                 view.len / 8, i, count_of(type));
    }
    if (!status) {
        void *out = xir_kernel_is_real(type) ? (void *)xir_kernel_real_out(at, i) : xir_kernel_i64_out(at, i);
        if (!out) status = XIR_E_MEMORY;
        else if (view.len) memcpy(out, view.buf, (size_t)view.len);
    }
    PyBuffer_Release(&view);
    return status;
}

static xir_status run_any(xir_kernel *at) {
    char text[1000];
    calling c;
    const xir_class *cls = xir_op_class(xir_kernel_op(at));
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    calling_begin(&c, false);
    PyObject *attrs = attrs_of(cls, xir_kernel_attrs(at));
    PyObject *inputs = attrs ? tuple_of(xir_kernel_input_count(at), input_item, at) : NULL;
    size_t n = xir_kernel_output_count(at);
    PyObject *outputs = inputs ? tuple_of(n, output_item, at) : NULL;
    PyObject *result = outputs ? PyObject_CallFunctionObjArgs(find(cls)->run, attrs, inputs, outputs, NULL) : NULL;
    xir_status status = XIR_OK;
    for (size_t i = 0; result && i < n && !status; i++) {
        status = set_output(at, i, PyTuple_GetItem(result, (Py_ssize_t)i));
    }
    calling_end(&c);
    if (PyErr_Occurred()) status = xir_kernel_fail(at, XIR_E_INVALID, NULL, "%s", take_exception(text, sizeof text));
    Py_XDECREF(attrs);
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    Py_XDECREF(result);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(state);
    return status;
}

/* ---- registering ------------------------------------------------------------------------------------------------ */

/* (name, doc, kind, required, default or None, least or None, greatest or None). */
static bool field_in(PyObject *item, xir_row *row) {
    PyObject *begins, *least, *greatest;
    int kind, required;
    if (!PyArg_ParseTuple(item, "ssipOOO:row", &row->name, &row->doc, &kind, &required, &begins, &least, &greatest)) {
        return false;
    }
    row->decl = XIR_DECL_FIELD;
    row->kind = (xir_kind)kind;
    row->flags = required ? XIR_FIELD_REQUIRED : 0;
    bool is_real = row->kind == XIR_KIND_REAL, is_number = is_real || row->kind == XIR_KIND_I64;
    if (is_real) {
        row->min.r = -(double)INFINITY, row->max.r = (double)INFINITY;
    } else if (row->kind == XIR_KIND_I64) {
        row->min.i = INT64_MIN, row->max.i = INT64_MAX;
    }
    if (row->kind == XIR_KIND_TEXT) return begins == Py_None || (row->default_text = word_in(begins));
    PyObject *const given[] = { begins, is_number ? least : Py_None, is_number ? greatest : Py_None };
    xir_number *const places[] = { &row->default_value, &row->min, &row->max };
    for (size_t i = 0; i < 3; i++) {
        if (given[i] == Py_None) continue;
        if (is_real) places[i]->r = PyFloat_AsDouble(given[i]);
        else places[i]->i = PyLong_AsLongLong(given[i]);
    }
    return !PyErr_Occurred();
}

/* (name, kind): the kinds of ports, "one", "optional", "any". */
static bool port_in(PyObject *item, xir_row *row, bool input) {
    const char *kind;
    if (!PyArg_ParseTuple(item, "ss:port", &row->name, &kind)) return false;
    bool any = !strcmp(kind, "any");
    row->decl = !input ? any ? XIR_DECL_OUTS : XIR_DECL_OUT
              : any ? XIR_DECL_VAR : !strcmp(kind, "optional") ? XIR_DECL_OPT : XIR_DECL_IN;
    row->doc = "";
    return true;
}

/* The rows: the class, attributes, inputs, outputs, its functions, the end. */
static bool rows_in(const op_class *of, xir_row *rows, PyObject *fields, PyObject *inputs, PyObject *outputs) {
    xir_row *row = rows + 1;
    size_t body = 0, ports = 0;
    for (Py_ssize_t i = 0; i < PyTuple_Size(fields); i++, row++, body += 16) {      /* room for every kind */
        row->offset = (uint32_t)body;
        if (!field_in(PyTuple_GetItem(fields, i), row)) return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(inputs); i++, row++) {
        row->offset = (uint32_t)ports;
        if (!port_in(PyTuple_GetItem(inputs, i), row, true)) return false;
        ports += row->decl == XIR_DECL_VAR ? sizeof(xir_values) : sizeof(xir_value *);
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(outputs); i++, row++) {
        if (!port_in(PyTuple_GetItem(outputs, i), row, false)) return false;
    }
    if (of->check != Py_None) *row++ = (xir_row){ .decl = XIR_DECL_CHECK, .fn = check_any };
    if (of->infer != Py_None) *row++ = (xir_row){ .decl = XIR_DECL_INFER, .fn = infer_any, .target = XIR_TARGET_HOST };
    if (of->composed)
        *row++ = (xir_row){ .decl = XIR_DECL_COMPOSED, .doc = of->composed, .default_value = { .r = of->within } };
    row->decl = XIR_DECL_END;
    rows->offset = (uint32_t)body + 8;      /* with XIR_MADE_ */
    rows->max.i = (int64_t)body;
    rows->min.i = (int64_t)ports;
    return true;
}

static bool make_room(size_t number) {
    if (number < n_all) return true;
    size_t n = number + 64;
    op_class **grown = PyMem_Realloc(all, n * sizeof *grown);
    if (!grown) return PyErr_NoMemory() != NULL;
    memset(grown + n_all, 0, (n - n_all) * sizeof *grown);
    all = grown;
    n_all = n;
    return true;
}

/* register_class(key, doc, pure, fields, inputs, outputs, infer, check, run, composed, within): the Class. */
PyObject *register_class(PyObject *module, PyObject *args) {
    const char *key, *doc, *composed;
    double within;
    PyObject *fields, *inputs, *outputs, *infer, *check, *run;
    int pure;
    (void)module;
    if (!PyArg_ParseTuple(args, "sspO!O!O!OOOzd:register_class", &key, &doc, &pure, &PyTuple_Type, &fields,
                          &PyTuple_Type, &inputs, &PyTuple_Type, &outputs, &infer, &check, &run, &composed, &within)) {
        return NULL;
    }
    size_t n = 5 + (size_t)(PyTuple_Size(fields) + PyTuple_Size(inputs) + PyTuple_Size(outputs));
    op_class *of = calloc(1, sizeof *of);
    xir_row *rows = calloc(n, sizeof *rows);
    xir_diags *why = of && rows ? why_new() : NULL;
    if (!of || !rows) PyErr_NoMemory();
    if (why) {
        rows->decl = XIR_DECL_OP, rows->name = key, rows->doc = doc;
        rows->flags = pure ? XIR_TRAIT_NONE : XIR_TRAIT_IMPURE;
        *of = (op_class){ { XIR_ABI, sizeof(xir_class_decl), sizeof(xir_row), rows }, args, infer, check, run, composed,
                         within };
    }
    /* The next number is the class's: there is room before it can be used. */
    size_t next = 0;
    while (why && xir_context_class_at(the_context, next)) next++;
    bool fine = why && rows_in(of, rows, fields, inputs, outputs) && make_room(next);
    xir_status status = fine ? xir_class_register(the_context, &of->decl, why) : XIR_OK;
    const xir_class *cls = fine && !status ? xir_class_find_decl(the_context, &of->decl) : NULL;
    if (!cls) {
        free(of);
        free(rows);
        if (fine) return raise_diags(status, why);
        xir_diags_free(why);
        return NULL;
    }
    xir_diags_free(why);
    Py_INCREF(args);
    if (!make_room(xir_class_number(cls))) return NULL;
    all[xir_class_number(cls)] = of;
    if (run != Py_None) xir_kernel_register(the_context, &of->decl, run_any);
    return class_wrap(cls);
}

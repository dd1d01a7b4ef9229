/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Methods of arrays that put their elements in other places, or convert them. */
#include "xirpy.h"

enum { MOST = 64 };

/* Integers from a sequence; false with an exception. */
static bool integers_in(PyObject *given, int64_t *out, size_t *n) {
    PyObject *list = PySequence_Tuple(given);
    if (!list) return false;
    *n = (size_t)PyTuple_Size(list);
    if (*n > MOST) PyErr_Format(PyExc_ValueError, "expected at most %d axes", MOST);
    for (size_t i = 0; i < *n && !PyErr_Occurred(); i++)
        out[i] = PyLong_AsLongLong(PyTuple_GetItem(list, (Py_ssize_t)i));
    Py_DECREF(list);
    return !PyErr_Occurred();
}

static PyObject *made(xir_array *array, xir_diags *why) {
    if (!array) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    return array_wrap(array, false);
}

PyObject *array_permute(PyObject *self, PyObject *order) {
    int64_t axes[MOST];
    size_t n;
    if (!integers_in(order, axes, &n)) return NULL;
    xir_diags *why = why_new();
    return why ? made(xir_array_permute(((array_object *)self)->array, axes, n, why), why) : NULL;
}

PyObject *array_pad(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = { "before", "after", "number", NULL };
    PyObject *first, *last;
    int64_t before[MOST], after[MOST];
    size_t n, m;
    double number = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|d:pad", names, &first, &last, &number) ||
        !integers_in(first, before, &n) || !integers_in(last, after, &m)) return NULL;
    if (n != m) return PyErr_Format(PyExc_ValueError, "expected as many numbers before as after");
    xir_diags *why = why_new();
    return why ? made(xir_array_pad(((array_object *)self)->array, before, after, n, number, why), why) : NULL;
}

PyObject *array_tile(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = { "layout", "axes", NULL };
    const char *to, *from = "";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|s:tile", names, &to, &from)) return NULL;
    xir_diags *why = why_new();
    return why ? made(xir_array_tile(((array_object *)self)->array, xir_str_of(from), xir_str_of(to), why), why) : NULL;
}

PyObject *array_untile(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = { "axes", "shape", "layout", NULL };
    const char *to, *from = "";
    PyObject *shape = Py_None;
    int64_t dims[MOST];
    size_t n = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|Os:untile", names, &to, &shape, &from)) return NULL;
    const bool given = shape != Py_None;
    if (given && !integers_in(shape, dims, &n)) return NULL;
    xir_diags *why = why_new();
    return why ? made(xir_array_untile(((array_object *)self)->array, xir_str_of(from), xir_str_of(to),
                                       given ? dims : NULL, n, why), why) : NULL;
}

PyObject *array_cast(PyObject *self, PyObject *element) {
    PyObject *hold = NULL;
    const xir_type *type = type_in(NULL, element, &hold);
    if (type && xir_type_as_tensor(type)) type = xir_type_element(type);
    xir_diags *why = type ? why_new() : NULL;
    xir_array *array = NULL;
    if (why) WITHOUT_GIL(array = xir_array_cast(((array_object *)self)->array, type, why));
    Py_XDECREF(hold);
    return why ? made(array, why) : NULL;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Calibrations: a capsule that counts one sample after the other, without the GIL. quantise.py has the rest. */
#include <xir/calibrate.h>
#include "xirpy.h"

#define CAPSULE "xir.calibration"

/* The library has no `user` for this call. */
static bool ends(void *none) {
    static _Thread_local struct timespec last;
    (void)none;
    return is_interrupted(&last);
}

static void drop(PyObject *capsule) { xir_calibration_free(PyCapsule_GetPointer(capsule, CAPSULE)); }

/* calibration(products, channels): a capsule. */
static PyObject *calibration(PyObject *module, PyObject *args) {
    int products, channels;
    (void)module;
    if (!PyArg_ParseTuple(args, "pp:calibration", &products, &channels)) return NULL;
    const xir_calibration_options how = XIR_INIT(xir_calibration_options,
                                                 .scope = products ? XIR_CALIBRATE_PRODUCTS : XIR_CALIBRATE_ALL,
                                                 .channels = channels != 0);
    xir_diags *why = why_new();
    if (!why) return NULL;
    xir_calibration *c = xir_calibration_new(the_context, &how, why);
    if (!c) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    PyObject *capsule = PyCapsule_New(c, CAPSULE, drop);
    if (!capsule) xir_calibration_free(c);
    return capsule;
}

/* calibration_add(capsule, net, (Array, ...), threads): counts one sample. */
static PyObject *add(PyObject *module, PyObject *args) {
    PyObject *capsule, *self, *list;
    Py_ssize_t threads;
    scratch s = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!O!n:calibration_add", &capsule, Network_type, &self, &PyTuple_Type, &list,
                          &threads)) return NULL;
    xir_calibration *c = PyCapsule_GetPointer(capsule, CAPSULE);
    if (!c) return NULL;
    if (threads < 0) return raise_status(XIR_E_BOUNDS, "a number of threads is not negative");
    const xir_run_options how = XIR_INIT(xir_run_options, .threads = (size_t)threads, .cancel = ends);
    net_object *o = (net_object *)self;
    if (!net_read(o)) return NULL;
    const size_t n = (size_t)PyTuple_Size(list);
    const xir_array **inputs = scratch_take(&s, n + 1, sizeof *inputs);
    xir_diags *why = inputs ? why_new() : NULL;
    bool fine = why != NULL;
    for (size_t i = 0; fine && i < n; i++) {
        PyObject *item = PyTuple_GetItem(list, (Py_ssize_t)i);
        fine = PyObject_TypeCheck(item, Array_type);
        if (fine) inputs[i] = ((array_object *)item)->array;
        else PyErr_SetString(PyExc_TypeError, "an input of a sample is an Array");
    }
    fine = fine && net_begin_read(o);
    xir_status status = XIR_OK;
    if (fine) {
        WITHOUT_GIL(status = xir_calibration_add(c, o->net, inputs, n, &how, why));
        net_end_read(o);
    }
    scratch_free(&s);
    if (status) return raise_diags(status, why);
    xir_diags_free(why);
    return fine && !PyErr_Occurred() ? Py_NewRef(Py_None) : NULL;
}

/* calibration_save(capsule, path): how many samples there are. */
static PyObject *save(PyObject *module, PyObject *args) {
    PyObject *capsule, *arg, *path = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO:calibration_save", &capsule, &arg)) return NULL;
    xir_calibration *c = PyCapsule_GetPointer(capsule, CAPSULE);
    if (!c || !PyUnicode_FSConverter(arg, &path)) return NULL;
    xir_diags *why = why_new();
    const xir_status status = why ? xir_calibration_save(c, PyBytes_AsString(path), why) : XIR_OK;
    Py_DECREF(path);
    if (!why) return NULL;
    if (status) return raise_diags(status, why);
    xir_diags_free(why);
    return PyLong_FromUnsignedLongLong(xir_calibration_samples(c));
}

PyMethodDef calibrate_functions[] = {
    { "calibration",      calibration, METH_VARARGS, NULL },
    { "calibration_add",  add,         METH_VARARGS, NULL },
    { "calibration_save", save,        METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

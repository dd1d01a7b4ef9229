/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The module xir._xir: its types and functions. What users import is the package xir, which adds what is easier to say
 * in Python. The types and the context are those of the process, so one interpreter has the module, and the same one
 * however often it is imported. */
#include "xirpy.h"

xir_context *the_context;

static PyObject *version(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    return PyUnicode_FromString(xir_version());
}

static PyMethodDef functions[] = {
    { "version", version, METH_NOARGS, DOC("version($module, /)", "Returns the version of the library.") },
    { NULL, NULL, 0, NULL },
};

PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name) {
    PyObject *type = PyType_FromSpec(spec);
    if (type && PyModule_AddObjectRef(module, name, type)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "xir._xir", .m_doc = "The library XIR.", .m_size = 0, .m_methods = functions,
};

/* ---- one interpreter ------------------------------------------------------------------------------------------- */

static bool is_taken;

static void give_up(PyObject *capsule) {
    (void)capsule;
    is_taken = false;
}

/* The module of this interpreter, a new reference, or NULL; with an exception if another interpreter has it. */
static PyObject *find_module(PyObject *kept) {
    PyObject *module = kept ? PyDict_GetItemString(kept, "xir._xir") : NULL;
    if (!module && is_taken)
        PyErr_SetString(PyExc_ImportError, "xir is imported by another interpreter of this process: only one can");
    return module ? Py_NewRef(module) : NULL;
}

/* Keeps the module as long as the interpreter. */
static bool keep_module(PyObject *kept, PyObject *module) {
    PyObject *end = kept ? PyCapsule_New(&is_taken, NULL, give_up) : NULL;
    is_taken = end != NULL;
    const bool done = end && !PyDict_SetItemString(kept, "xir._xir.end", end) &&
                      !PyDict_SetItemString(kept, "xir._xir", module);
    Py_XDECREF(end);
    return done;
}

/* ---- importing -------------------------------------------------------------------------------------------------- */

static PyObject *make_module(void) {
    static bool (*const parts[])(PyObject *) = {
        network_init, op_init, value_init, class_init, type_init, array_init, function_init,
        pattern_init, run_init,
    };
    PyMethodDef *const lists[] = {
        work_functions, type_functions, memory_functions, calibrate_functions, run_functions, list_functions,
        function_functions, figure_functions, region_functions, recorder_functions, compare_functions, mix_functions,
    };
    PyObject *module = PyModule_Create(&definition);
    if (!module || !errors_init()) goto failed;
    if (!the_context && !(the_context = xir_context_new(NULL))) {
        PyErr_NoMemory();
        goto failed;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i](module)) goto failed;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (PyModule_AddFunctions(module, lists[i])) goto failed;
    }
    return module;
failed:
    Py_XDECREF(module);
    return NULL;
}

PyMODINIT_FUNC PyInit__xir(void);
PyMODINIT_FUNC PyInit__xir(void) {
    PyObject *kept = PyInterpreterState_GetDict(PyInterpreterState_Get()), *module = find_module(kept);
    if (module || PyErr_Occurred()) return module;
    module = make_module();
    if (module && !keep_module(kept, module)) Py_CLEAR(module);
    return module;
}

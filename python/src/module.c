/* The module xir._xir: its types and functions. What users import is the package xir, which adds what is easier to say
 * in Python. */
#include "xirpy.h"

xir_context *the_context;

static PyObject *version(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    return PyUnicode_FromString(xir_version());
}

static PyMethodDef functions[] = {
    { "version", version, METH_NOARGS, "Returns the version of the library." },
    { NULL, NULL, 0, NULL },
};

PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name) {
    PyObject *type = PyType_FromSpec(spec);
    if (type && PyModule_AddObjectRef(module, name, type)) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "xir._xir", .m_doc = "The library XIR.", .m_size = -1, .m_methods = functions,
};

PyMODINIT_FUNC PyInit__xir(void);
PyMODINIT_FUNC PyInit__xir(void) {
    static bool (*const parts[])(PyObject *) = {
        network_init, op_init, value_init, class_init, type_init, array_init, function_init,
        pattern_init,
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
    if (PyModule_AddFunctions(module, work_functions) || PyModule_AddFunctions(module, type_functions)) goto failed;
    return module;
failed:
    Py_XDECREF(module);
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Long calls of the library that Ctrl-C ends, and that a function of Python watches. The library asks without the GIL,
 * and often: signals are seen twenty times a second, and the function is called for each half percent. Its exception
 * ends the call, which then raises it. */
#include "xirpy.h"

bool watched_ends(void *user) {
    watched *w = user;
    return w->raised || is_interrupted(&w->last);
}

void watched_tell(void *user, uint64_t done, uint64_t total) {
    enum { PARTS = 200, UNKNOWN = 1 << 20 };
    watched *w = user;
    if (!w->call || w->call == Py_None || w->raised) return;
    const uint64_t part = 1 + (total ? (uint64_t)((double)done / (double)total * PARTS) : done / UNKNOWN);
    if (part == w->told && done != total) return;
    w->told = part;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *result = PyErr_Occurred() ? NULL : PyObject_CallFunction(w->call, "KK", (unsigned long long)done,
                                                                       (unsigned long long)total);
    w->raised = !result;
    Py_XDECREF(result);
    PyGILState_Release(state);
}

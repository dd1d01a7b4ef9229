/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Statuses and findings of the library as Python's exceptions. The classes are Python's, in xir/errors.py. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "xirpy.h"

static PyObject *make_error, *make_finding, *warn_of, *busy_error;

bool errors_init(void) {
    PyObject *module = PyImport_ImportModule("xir.errors");
    if (!module) return false;
    make_error = PyObject_GetAttrString(module, "make");
    make_finding = PyObject_GetAttrString(module, "Finding");
    warn_of = PyObject_GetAttrString(module, "warn");
    busy_error = PyObject_GetAttrString(module, "BusyError");
    Py_DECREF(module);
    return make_error && make_finding && warn_of && busy_error;
}

xir_diags *why_new(void) {
    xir_diags *why = xir_diags_new(the_context);
    if (!why) PyErr_NoMemory();
    return why;
}

static PyObject *text_or_none(xir_str text) { return text.size ? text_out(text) : Py_NewRef(Py_None); }

/* The attributes of a finding that only rules of targets set. */
static PyObject *parts_of(const xir_diag_rule *rule) {
    if (!rule) return Py_BuildValue("(OOOOO)", Py_None, Py_None, Py_None, Py_None, Py_None);
    return Py_BuildValue("(NNNNN)", text_or_none(rule->target), text_or_none(rule->name), text_or_none(rule->found),
                         text_or_none(rule->needed), text_or_none(rule->mend));
}

/* The finding has both tuples as its members. */
static PyObject *join_parts(PyObject *place, PyObject *parts) {
    PyObject *all = place && parts ? PySequence_Concat(place, parts) : NULL;
    PyObject *made = all ? PyObject_CallObject(make_finding, all) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(place);
    Py_XDECREF(parts);
    return made;
}

static PyObject *finding_of(const xir_diag *d) {
    static const char *const severities[] = { "error", "warning", "note" };   /* ORDER SEVERITY */
    PyObject *message = text_out(d->message), *file = text_out(d->file), *path = text_out(d->path);
    PyObject *byte = NULL, *made = NULL;
    if (message && file && path) {
        byte = d->byte == XIR_NO_BYTE ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(d->byte);
    }
    if (byte) {
        PyObject *place = Py_BuildValue("(ssOOkkOO)", severities[d->severity], xir_status_name(d->code), message, file,
                                        (unsigned long)d->line, (unsigned long)d->column, byte, path);
        made = join_parts(place, place ? parts_of(d->rule) : NULL);
    }
    Py_XDECREF(message);
    Py_XDECREF(file);
    Py_XDECREF(path);
    Py_XDECREF(byte);
    return made;
}

PyObject *findings_of(const xir_diags *why) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < xir_diags_count(why); i++) {
        PyObject *one = finding_of(xir_diags_at(why, i));
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* Raises the exception of a status with these findings, or with `message` if there are none of them. A message may be
 * cut inside a character. */
static void raise_with(xir_status status, PyObject *findings, const char *message, size_t more) {
    if (!findings) return;
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    PyObject *error = text ? PyObject_CallFunction(make_error, "sOOn", xir_status_name(status), findings, text,
                                                   (Py_ssize_t)more) : NULL;
    Py_XDECREF(text);
    if (error) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
}

static void raise_list(xir_status status, const xir_diags *why) {
    if (PyErr_Occurred()) return;      /* what a callback raised says more */
    for (size_t i = 0; !status && i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        if (d->severity == XIR_ERROR) status = d->code;
    }
    PyObject *findings = findings_of(why);
    raise_with(status, findings, xir_status_name(status), xir_diags_more(why));
    Py_XDECREF(findings);
}

void *raise_diags(xir_status status, xir_diags *why) {
    raise_list(status, why);
    xir_diags_free(why);
    return NULL;
}

void *raise_net(xir_network *net, xir_status status) {
    raise_list(status ? status : xir_network_status(net), xir_network_diags(net));
    xir_network_clear_status(net);
    return NULL;
}

void *raise_status(xir_status status, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    PyObject *findings = PyList_New(0);
    raise_with(status, findings, text, 0);
    Py_XDECREF(findings);
    return NULL;
}

void *raise_unknown(const char *sentence, xir_str word, xir_str meant) {
    const int n = word.size > 120 ? 120 : (int)word.size;
    if (!meant.size || meant.size > 120) return raise_status(XIR_E_UNKNOWN, "%s '%.*s'", sentence, n, word.data);
    return raise_status(XIR_E_UNKNOWN, "%s '%.*s'; did you mean '%.*s'?", sentence, n, word.data, (int)meant.size,
                        meant.data);
}

void *raise_busy(void) {
    PyErr_SetString(busy_error, "the network is in use by another thread, or by a call that has not returned yet");
    return NULL;
}

static bool warn_of_these(xir_diags *why, bool notes) {
    PyObject *done = Py_None;
    if (xir_diags_count_of(why, XIR_WARNING) || (notes && xir_diags_count_of(why, XIR_NOTE))) {
        PyObject *findings = findings_of(why);
        done = findings ? PyObject_CallFunctionObjArgs(warn_of, findings, notes ? Py_True : Py_False, NULL) : NULL;
        Py_XDECREF(findings);
        Py_XDECREF(done);
    }
    xir_diags_free(why);
    return done != NULL;
}

bool warn_diags(xir_diags *why) { return warn_of_these(why, false); }
bool warn_diags_and_notes(xir_diags *why) { return warn_of_these(why, true); }

const char *exception_text(PyObject *value, char *out, size_t size) {
    PyObject *name = PyType_GetName(Py_TYPE(value)), *text = PyObject_Str(value);
    const char *a = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const char *b = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    snprintf(out, size, "%s: %s", a ? a : "an exception", b ? b : "");
    PyErr_Clear();
    Py_XDECREF(name);
    Py_XDECREF(text);
    return out;
}

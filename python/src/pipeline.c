/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Pipelines: passes with watches and a proof. They run without the GIL; functions of the program that they call take it
 * again. */
#include <time.h>
#include "xirpy.h"

/* A row of the report as a tuple. */
static PyObject *row_out(const xir_pass_row *row) {
    static const char *const fates[] = { "ran", "disabled", "above the level" };   /* ORDER FATE */
    return Py_BuildValue("(NIOsnnKnn)", text_out(row->text), (unsigned)row->depth, row->added ? Py_True : Py_False,
                         fates[row->fate], (Py_ssize_t)row->runs, (Py_ssize_t)row->changes, (unsigned long long)row->ns,
                         (Py_ssize_t)row->ops_before, (Py_ssize_t)row->ops_after);
}

static PyObject *report_out(const xir_pass_report *report) {
    const xir_pass_row *row;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && (row = xir_pass_report_at(report, i)); i++) {
        PyObject *one = row_out(row);
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* The library asks often, and taking the GIL may take milliseconds. `user` is the time at which it was taken last. */
bool is_interrupted(void *user) {
    struct timespec now, *last = user;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double passed = (double)(now.tv_sec - last->tv_sec) + (double)(now.tv_nsec - last->tv_nsec) * 1e-9;
    if (passed < 0.05) return false;
    *last = now;
    PyGILState_STATE state = PyGILState_Ensure();
    bool ends = PyErr_Occurred() || PyErr_CheckSignals();
    PyGILState_Release(state);
    return ends;
}

/* Makes `cause`, whose reference it takes, the cause of the exception that is raised. */
static void set_cause(PyObject *cause) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyException_SetCause(value, cause);
    PyErr_Restore(type, value, trace);
}

/* The watches of a run: that of a proof, if there is one, then the caller's. NULL with an exception. */
static xir_pass_watch *watches_in(PyObject *list, xir_proof *proof, xir_pass_settings *how, scratch *s) {
    size_t n = (size_t)PyTuple_Size(list), first = proof != NULL;
    xir_pass_watch *watches = scratch_take(s, n + 1, sizeof *watches);
    if (!watches) return NULL;
    watches[0] = XIR_INIT(xir_pass_watch);
    if (proof) xir_proof_watch(proof, watches, NULL);
    for (size_t i = 0; i < n; i++) {
        if (!watch_in(PyTuple_GetItem(list, (Py_ssize_t)i), &watches[first + i])) return NULL;
    }
    how->watches = watches;
    how->n_watches = first + n;
    return watches;
}

/* The options of a proof: (inputs, each, seed, absolute, relative, max_work, max_memory), whose inputs are
 * (name, Array). What they point to lives as long as the scratch and the tuple. */
static bool proof_in(PyObject *item, xir_proof_options *out, scratch *s) {
    PyObject *list;
    int each;
    unsigned long long seed, max_work, max_memory;
    if (!PyTuple_Check(item)) return PyErr_SetString(PyExc_TypeError, "options of a proof are a tuple"), false;
    if (!PyArg_ParseTuple(item, "O!pKddKK:proof", &PyTuple_Type, &list, &each, &seed, &out->absolute, &out->relative,
                          &max_work, &max_memory)) {
        return false;
    }
    size_t n = (size_t)PyTuple_Size(list);
    xir_proof_input *inputs = scratch_take(s, n, sizeof *inputs);
    for (size_t i = 0; inputs && i < n; i++) {
        PyObject *array;
        inputs[i] = XIR_INIT(xir_proof_input);
        if (!PyArg_ParseTuple(PyTuple_GetItem(list, (Py_ssize_t)i), "sO!:input", &inputs[i].name, Array_type, &array)) {
            return false;
        }
        inputs[i].array = ((array_object *)array)->array;
    }
    out->inputs = inputs;
    out->n_inputs = n;
    out->each = each;
    out->seed = seed;
    out->max_work = max_work;
    out->max_memory = max_memory;
    return inputs != NULL;
}

/* (networks, outputs, largest, computed, reused, ns). */
static PyObject *proof_out(const xir_proof *proof) {
    xir_proof_state state = XIR_INIT(xir_proof_state);
    if (!proof) return Py_NewRef(Py_None);
    xir_proof_state_of(proof, &state, NULL);
    return Py_BuildValue("(nndnnK)", (Py_ssize_t)state.networks, (Py_ssize_t)state.outputs, state.largest,
                         (Py_ssize_t)state.computed, (Py_ssize_t)state.reused, (unsigned long long)state.ns);
}

/* pipeline(text, net, verify, proof, level, watches): the steps, a list of tuples, the state of the proof,
 * and the findings. */
PyObject *pipeline_run(PyObject *module, PyObject *args) {
    PyObject *text_arg, *self, *list, *proves, *made = NULL;
    xir_str text;
    int verify, level;
    scratch s = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!pOiO!:pipeline", &text_arg, Network_type, &self, &verify, &proves, &level,
                          &PyTuple_Type, &list)) {
        return NULL;
    }
    net_object *o = (net_object *)self;
    if (!text_in(text_arg, &text)) return NULL;
    xir_diags *why = why_new();
    if (!why) return NULL;
    working w = { 0 };
    struct timespec last = { 0 };
    xir_pass_settings how = XIR_INIT(xir_pass_settings, .level = level, .verify = verify != 0,
        .cancel = is_interrupted, .cancel_user = &last);
    xir_pipeline *steps = xir_pipeline_parse(the_context, text, why);
    xir_proof_options options = XIR_INIT(xir_proof_options, .cancel = is_interrupted, .user = &last);
    bool prove = proves != Py_None, fine = steps && (!prove || proof_in(proves, &options, &s));
    xir_proof *proof = fine && prove ? xir_proof_new(the_context, &options, why) : NULL;
    xir_pass_report *report = xir_pass_report_new(the_context);
    xir_status status = XIR_OK;
    bool ready = fine && report && (proof || !prove) && watches_in(list, proof, &how, &s);
    bool begun = ready && net_begin_write(o), raised = false;
    if (begun) {
        working_begin(&w, o);
        WITHOUT_GIL(status = xir_pipeline_run(steps, o->net, &how, report, why));
        working_end(&w);
        net_end_write(o);
        raised = PyErr_Occurred() || (!status && PyErr_CheckSignals());
        if (!status && !raised) made = Py_BuildValue("(NNN)", report_out(report), proof_out(proof), findings_of(why));
    } else if (!ready && !xir_diags_count(why) && !PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    scratch_free(&s);
    xir_pass_report_free(report);
    xir_proof_free(proof);
    xir_pipeline_free(steps);
    if (begun && !status) {
        Py_XDECREF(w.cause);
        if (raised) xir_diags_free(why);      /* a signal that came too late to end the run is not lost */
        else if (!warn_diags(why)) Py_CLEAR(made);
        return made;
    }
    raise_diags(status, why);
    if (w.cause) set_cause(w.cause);
    return NULL;
}

PyObject *pipeline_default(PyObject *module, PyObject *none) {
    return (void)module, (void)none, PyUnicode_FromString(xir_default_pipeline());
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory: where values are, plans of buffers, and lives of values. xir/memory.py says it in Python's words. */
#include <string.h>
#include <xir/memory.h>
#include <xir/needed.h>
#include "xirpy.h"

/* ---- memory types --------------------------------------------------------------------------------------------- */

/* The text that files have, without its quotes: "@etm(4096)". */
PyObject *mtype_out(const xir_mtype *mtype) {
    const xir_mtype *its = mtype ? mtype : xir_mtype_host(the_context);
    xir_text_buffer text = { 0 };
    const xir_object *object = (const xir_object *)(const void *)its;
    xir_status status = object ? xir_object_print(the_context, object, 0, &text) : XIR_E_MEMORY;
    const bool quoted = !status && text.size >= 2 && text.data[0] == '"';
    PyObject *made = status ? raise_status(status, "the memory type cannot be printed")
                            : text_out((xir_str){ text.data + quoted, text.size - 2 * (size_t)quoted });
    xir_text_free(&text);
    return made;
}

const xir_mtype *mtype_in(PyObject *arg) {
    PyObject *quoted = PyUnicode_Check(arg) ? PyUnicode_FromFormat("\"%U\"", arg) : NULL;
    xir_str text;
    if (!quoted) {
        if (!PyErr_Occurred()) raise_status(XIR_E_TYPE, "a memory type is a text such as \"@etm(4096)\"");
        return NULL;
    }
    xir_diags *why = text_in(quoted, &text) ? why_new() : NULL;
    const xir_object *object = why ? xir_object_parse(the_context, text, why) : NULL;
    Py_DECREF(quoted);
    if (!why) return NULL;
    if (!object) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    const xir_class *base = xir_class_find_decl(the_context, xir_mtype_class());
    if (xir_class_is_a(xir_object_class(object), base)) return (const xir_mtype *)(const void *)object;
    return raise_status(XIR_E_TYPE, "the text is not a memory type, such as \"@etm(4096)\"");
}

/* ---- plans ---------------------------------------------------------------------------------------------------- */

typedef struct rows { const int64_t *data; size_t n, columns; } rows;

/* from, to, size, and perhaps alignment and a fixed offset, which is negative where there is none. */
static xir_buffer *buffers_of(const rows *r, scratch *s) {
    xir_buffer *buffers = scratch_take(s, r->n + 1, sizeof *buffers);
    for (size_t i = 0; buffers && i < r->n; i++) {
        const int64_t *row = r->data + i * r->columns, offset = r->columns > 4 ? row[4] : -1;
        if (row[2] < 0 || (r->columns > 3 && row[3] < 0))
            return raise_status(XIR_E_BOUNDS, "buffer %zu: a size or an alignment is negative", i);
        buffers[i] = (xir_buffer){ .from = row[0], .to = row[1], .size = (uint64_t)row[2],
                                   .align = r->columns > 3 ? (uint64_t)row[3] : 0, .fixed = offset >= 0,
                                   .offset = offset >= 0 ? (uint64_t)offset : 0 };
    }
    return buffers;
}

static PyObject *plan_out(const xir_memory_plan *plan) {
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    (void)!xir_memory_plan_peak(plan, &peak, NULL);
    const size_t n = xir_memory_plan_count(plan);
    return Py_BuildValue("(y#KKOLK)", (const char *)xir_memory_plan_offsets(plan), (Py_ssize_t)(n * sizeof(uint64_t)),
                         (unsigned long long)peak.bytes, (unsigned long long)peak.bound,
                         peak.least ? Py_True : Py_False, (long long)peak.moment, (unsigned long long)peak.steps);
}

/* plan_buffers(int64s, columns, effort, limit, steps): (offsets, bytes, bound, least, moment, steps); the offsets are
 * the bytes of uint64s. */
static PyObject *plan_buffers(PyObject *module, PyObject *args) {
    Py_buffer view;
    Py_ssize_t columns;
    int effort;
    unsigned long long limit, steps;
    scratch s = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "y*niKK:plan_buffers", &view, &columns, &effort, &limit, &steps)) return NULL;
    const rows r = { view.buf, (size_t)view.len / sizeof(int64_t) / (size_t)columns, (size_t)columns };
    struct timespec last = { 0 };
    const xir_memory_options how = XIR_INIT(xir_memory_options, .effort = (xir_effort)(XIR_EFFORT_SWEEP + effort),
                                            .limit = limit, .steps = steps, .cancel = is_interrupted, .user = &last);
    const xir_buffer *buffers = buffers_of(&r, &s);
    xir_diags *why = buffers ? why_new() : NULL;
    xir_memory_plan *plan = NULL;
    if (why) WITHOUT_GIL(plan = xir_memory_plan_new(the_context, buffers, r.n, &how, why));
    scratch_free(&s);
    PyBuffer_Release(&view);
    if (!why) return NULL;
    if (!plan) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    PyObject *made = plan_out(plan);
    xir_memory_plan_free(plan);
    return made;
}

/* ---- lives ---------------------------------------------------------------------------------------------------- */

static PyObject *life_out(net_object *o, const xir_liveness *l, xir_value *v) {
    xir_life life = XIR_INIT(xir_life);
    if (!xir_liveness_of(l, v, &life)) return Py_NewRef(Py_None);
    PyObject *bytes = life.known ? PyLong_FromUnsignedLongLong(life.bytes) : Py_NewRef(Py_None);
    return Py_BuildValue("(NLLNNLLK)", value_wrap(o, v), (long long)life.first, (long long)life.last, bytes,
                         value_wrap(o, (xir_value *)(uintptr_t)life.in), (long long)life.begin, (long long)life.end,
                         (unsigned long long)life.offset);
}

static PyObject *lives_out(net_object *o, const xir_liveness *l) {
    xir_live_peak peak = XIR_INIT(xir_live_peak);
    (void)!xir_liveness_peak(l, &peak, NULL);
    PyObject *bytes = PyList_New(0), *lives = PyList_New(0);
    bool fine = bytes && lives;
    for (size_t at = 0; fine && at < xir_liveness_op_count(l); at++) {
        const xir_op *op = xir_liveness_op_at(l, (int64_t)at);
        fine = list_add(bytes, PyLong_FromUnsignedLongLong(xir_liveness_bytes_at(l, (int64_t)at)));
        for (size_t i = 0; fine && i < xir_op_output_count(op); i++)
            fine = list_add(lives, life_out(o, l, xir_op_output(op, (int64_t)i)));
    }
    if (fine) {
        return Py_BuildValue("(KNONN)", (unsigned long long)peak.bytes, op_wrap(o, (xir_op *)(uintptr_t)peak.op),
                             peak.exact ? Py_True : Py_False, bytes, lives);
    }
    Py_XDECREF(bytes);
    Py_XDECREF(lives);
    return NULL;
}

/* liveness(net, views, in_place, parts): (peak, op, exact, bytes by op, lives). No other thread changes the network
 * while the lives refer to its values. */
static PyObject *liveness(PyObject *module, PyObject *args) {
    PyObject *self;
    int views, in_place, parts;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!ppp:liveness", Network_type, &self, &views, &in_place, &parts)) return NULL;
    net_object *o = (net_object *)self;
    const xir_liveness_options how = XIR_INIT(xir_liveness_options, .views = views != 0, .in_place = in_place != 0,
                                              .parts = parts != 0);
    xir_diags *why = why_new();
    xir_liveness *l = NULL;
    if (!why || !net_begin_read(o)) {
        xir_diags_free(why);
        return NULL;
    }
    WITHOUT_GIL(l = xir_liveness_new(o->net, &how, why));
    PyObject *made = l ? lives_out(o, l) : NULL;
    xir_liveness_free(l);
    net_end_read(o);
    if (!l) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    return made;
}

/* ---- parts ---------------------------------------------------------------------------------------------------- */

/* A box of a list of pairs, begin and end of each dim. */
static bool box_in(PyObject *list, xir_box *box) {
    const Py_ssize_t n = PyList_Size(list);
    *box = XIR_INIT(xir_box);
    if (n < 0) return false;
    if (n > XIR_BOX_DIMS) return PyErr_SetString(PyExc_ValueError, "too many dims"), false;
    box->rank = (uint32_t)n;
    for (Py_ssize_t k = 0; k < n; k++) {
        long long begin, end;
        if (!PyArg_ParseTuple(PyList_GetItem(list, k), "LL", &begin, &end)) return false;
        box->begin[k] = begin;
        box->end[k] = end;
    }
    return true;
}

/* (exact, pairs); None for a box without elements. */
static PyObject *box_out(const xir_box *box) {
    if (box->none) return Py_NewRef(Py_None);
    PyObject *pairs = PyList_New(0);
    bool fine = pairs != NULL;
    for (uint32_t k = 0; k < box->rank && fine; k++)
        fine = list_add(pairs, Py_BuildValue("(LL)", (long long)box->begin[k], (long long)box->end[k]));
    if (fine) return Py_BuildValue("(ON)", box->exact ? Py_True : Py_False, pairs);
    Py_XDECREF(pairs);
    return NULL;
}

/* needed(op, output, part): a box for each input. */
static PyObject *needed(PyObject *module, PyObject *args) {
    PyObject *self, *list, *made;
    Py_ssize_t output;
    xir_box part;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!nO!:needed", Op_type, &self, &output, &PyList_Type, &list)) return NULL;
    const xir_op *op = op_read((op_object *)self);
    if (!op || !box_in(list, &part)) return NULL;
    const size_t n = xir_op_input_count(op);
    xir_box *in = PyMem_Malloc((n + 1) * sizeof *in);
    xir_diags *why = why_new();
    if (!in || !why) {
        PyMem_Free(in);
        xir_diags_free(why);
        return PyErr_NoMemory();
    }
    for (size_t i = 0; i <= n; i++) in[i] = XIR_INIT(xir_box);
    if (xir_op_needed(op, (size_t)output, &part, in, n, why)) {
        PyMem_Free(in);
        return raise_diags(XIR_OK, why);
    }
    xir_diags_free(why);
    made = PyList_New(0);
    for (size_t i = 0; i < n && made; i++)
        if (!list_add(made, box_out(&in[i]))) Py_CLEAR(made);
    PyMem_Free(in);
    return made;
}

PyMethodDef memory_functions[] = {
    { "plan_buffers", plan_buffers, METH_VARARGS, NULL },
    { "liveness",     liveness,     METH_VARARGS, NULL },
    { "needed",       needed,       METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

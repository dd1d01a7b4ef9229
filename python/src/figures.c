/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Questions to a network that change nothing: costs, symbols, whether a target runs an op, and everything in it. */
#include <xir/cost.h>
#include <xir/legal.h>
#include <xir/symbols.h>
#include <xir/walk.h>
#include "xirpy.h"

/* ---- costs ------------------------------------------------------------------------------------------------------ */

static PyObject *figure_out(uint64_t n) {
    return n == XIR_COST_UNKNOWN ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(n);
}

/* The six figures in the order of xir_cost; None: not known. */
static PyObject *cost_out(const xir_cost *c) {
    return Py_BuildValue("(NNNNNN)", figure_out(c->multiply_adds), figure_out(c->element_ops),
                         figure_out(c->bytes_read), figure_out(c->bytes_written), figure_out(c->parameters),
                         figure_out(c->parameter_bytes));
}

/* op_cost(op): the six figures. */
static PyObject *op_cost(PyObject *module, PyObject *arg) {
    (void)module;
    if (!PyObject_TypeCheck(arg, Op_type)) return PyErr_Format(PyExc_TypeError, "expected an op");
    op_object *o = (op_object *)arg;
    xir_op *op = op_read(o);
    xir_diags *why = op ? why_new() : NULL;
    if (!why) return NULL;
    xir_cost cost = XIR_INIT(xir_cost);
    o->owner->readers++;      /* a class of Python may be asked */
    const xir_status status = xir_op_cost(op, &cost, why);
    o->owner->readers--;
    if (status) return raise_diags(status, why);
    xir_diags_free(why);
    return cost_out(&cost);
}

typedef struct costing {
    net_object *owner;
    PyObject   *list;
} costing;

static bool add_cost(void *user, const xir_op *op, const xir_cost *cost) {
    costing *c = user;
    return list_add(c->list, Py_BuildValue("(NN)", op_wrap(c->owner, (xir_op *)(uintptr_t)op), cost_out(cost)));
}

/* costs(net): a list of (op, its six figures); Params of several ops count in the first one. Holds the GIL. */
static PyObject *costs(PyObject *module, PyObject *arg) {
    (void)module;
    if (!PyObject_TypeCheck(arg, Network_type)) return PyErr_Format(PyExc_TypeError, "expected a network");
    net_object *o = (net_object *)arg;
    costing c = { o, PyList_New(0) };
    xir_diags *why = c.list ? why_new() : NULL;
    if (!why || !net_begin_read(o)) {
        xir_diags_free(why);
        Py_XDECREF(c.list);
        return NULL;
    }
    const xir_status status = xir_network_costs(o->net, add_cost, &c, why);
    net_end_read(o);
    if (status || PyErr_Occurred()) {
        Py_DECREF(c.list);
        return raise_diags(status, why);
    }
    xir_diags_free(why);
    return c.list;
}

/* ---- symbols ---------------------------------------------------------------------------------------------------- */

/* symbols(net): a list of (name, least, most). */
static PyObject *symbols(PyObject *module, PyObject *arg) {
    scratch s = { 0 };
    (void)module;
    if (!PyObject_TypeCheck(arg, Network_type)) return PyErr_Format(PyExc_TypeError, "expected a network");
    xir_network *net = net_read((net_object *)arg);
    const size_t n = net ? xir_network_symbols(net, NULL, 0) : 0;
    if (n == SIZE_MAX) return PyErr_NoMemory();
    xir_symbol *all = net ? scratch_take(&s, n + 1, sizeof *all) : NULL;
    PyObject *list = all ? PyList_New(0) : NULL;
    if (list && xir_network_symbols(net, all, n) != n) {
        Py_CLEAR(list);
        PyErr_NoMemory();
    }
    for (size_t i = 0; list && i < n; i++) {
        PyObject *row = Py_BuildValue("(NLL)", text_out(all[i].name), (long long)all[i].least, (long long)all[i].most);
        if (!list_add(list, row)) Py_CLEAR(list);
    }
    scratch_free(&s);
    return list;
}

/* dim_names(net): the names that bind accepts. */
static PyObject *dim_names(PyObject *module, PyObject *arg) {
    scratch s = { 0 };
    (void)module;
    if (!PyObject_TypeCheck(arg, Network_type)) return PyErr_Format(PyExc_TypeError, "expected a network");
    xir_network *net = net_read((net_object *)arg);
    const size_t n = net ? xir_network_dim_names(net, NULL, 0) : 0;
    if (n == SIZE_MAX) return PyErr_NoMemory();
    xir_str *all = net ? scratch_take(&s, n + 1, sizeof *all) : NULL;
    PyObject *list = all ? PyList_New(0) : NULL;
    if (list && xir_network_dim_names(net, all, n) != n) {
        Py_CLEAR(list);
        PyErr_NoMemory();
    }
    for (size_t i = 0; list && i < n; i++) {
        if (!list_add(list, text_out(all[i]))) Py_CLEAR(list);
    }
    scratch_free(&s);
    return list;
}

/* declare(net, name, least, most): declares a symbol, or narrows its interval. */
static PyObject *declare(PyObject *module, PyObject *args) {
    PyObject *self, *word;
    long long least, most;
    xir_str name;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!ULL:declare", Network_type, &self, &word, &least, &most) || !text_in(word, &name))
        return NULL;
    xir_network *net = net_write((net_object *)self);
    xir_diags *why = net ? why_new() : NULL;
    if (!why) return NULL;
    const xir_status status = xir_network_declare_symbol(net, name, least, most, why);
    if (status) return raise_diags(status, why);
    xir_diags_free(why);
    return Py_NewRef(Py_None);
}

/* type_with_dims(net, type, (text, ...)): a tensor type whose dims are numbers, expressions, or "?". */
static PyObject *type_with_dims(PyObject *module, PyObject *args) {
    PyObject *self, *arg, *list, *hold = NULL;
    scratch s = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OO!:type", Network_type, &self, &arg, &PyTuple_Type, &list)) return NULL;
    net_object *o = (net_object *)self;
    const size_t n = (size_t)PyTuple_Size(list);
    xir_str *dims = scratch_take(&s, n + 1, sizeof *dims);
    bool fine = dims != NULL;
    for (size_t i = 0; fine && i < n; i++) fine = text_in(PyTuple_GetItem(list, (Py_ssize_t)i), &dims[i]);
    const xir_type *plain = fine ? type_in(o, arg, &hold) : NULL;
    xir_network *net = plain ? net_write(o) : NULL;
    xir_diags *why = net ? why_new() : NULL;
    const xir_type *made = why ? xir_network_type_with_dims(net, plain, dims, n, why) : NULL;
    scratch_free(&s);
    Py_XDECREF(hold);
    if (!why) return NULL;
    if (!made) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    return type_wrap(o, xir_type_object(made));
}

/* ---- targets ---------------------------------------------------------------------------------------------------- */

/* try_op(op, target): whether the target runs it, and the findings. */
static PyObject *try_op(PyObject *module, PyObject *args) {
    PyObject *self, *word;
    xir_str name;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!U:try_op", Op_type, &self, &word) || !text_in(word, &name)) return NULL;
    op_object *o = (op_object *)self;
    xir_op *op = op_read(o);
    xir_diags *why = op ? why_new() : NULL;
    const xir_target *target = why ? xir_target_parse(the_context, name, why) : NULL;
    if (!why) return NULL;
    if (!target) return raise_diags(xir_diags_at(why, 0)->code, why);
    o->owner->readers++;
    const xir_status status = xir_op_try(op, target, why);
    o->owner->readers--;
    PyObject *list = findings_of(why);
    xir_diags_free(why);
    return list ? Py_BuildValue("(NN)", PyBool_FromLong(status == XIR_OK), list) : NULL;
}

/* ---- everything in a network ------------------------------------------------------------------------------------ */

static xir_walk_answer walk_op(void *user, xir_op *op) {
    costing *c = user;
    return list_add(c->list, op_wrap(c->owner, op)) ? XIR_WALK_ON : XIR_WALK_STOP;
}

static xir_walk_answer walk_value(void *user, xir_value *value) {
    costing *c = user;
    return list_add(c->list, value_wrap(c->owner, value)) ? XIR_WALK_ON : XIR_WALK_STOP;
}

/* walk(net, ops, values, params): a list of what it has, in the order of a walk. */
static PyObject *walk(PyObject *module, PyObject *args) {
    PyObject *self;
    int ops, values, params;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!ppp:walk", Network_type, &self, &ops, &values, &params)) return NULL;
    net_object *o = (net_object *)self;
    xir_network *net = net_read(o);
    costing c = { o, net ? PyList_New(0) : NULL };
    xir_diags *why = c.list ? why_new() : NULL;
    if (!why) return Py_XDECREF(c.list), NULL;
    const xir_walker how = XIR_INIT(xir_walker, .user = &c, .op = ops ? walk_op : NULL,
                                    .value = values ? walk_value : NULL, .params = params ? walk_value : NULL);
    const xir_status status = xir_network_walk(net, &how, why);
    if (status || PyErr_Occurred()) return Py_DECREF(c.list), raise_diags(status, why);
    xir_diags_free(why);
    return c.list;
}

PyMethodDef figure_functions[] = {
    { "op_cost",        op_cost,        METH_O,       NULL },
    { "costs",          costs,          METH_O,       NULL },
    { "symbols",        symbols,        METH_O,       NULL },
    { "dim_names",      dim_names,      METH_O,       NULL },
    { "declare",        declare,        METH_VARARGS, NULL },
    { "type_with_dims", type_with_dims, METH_VARARGS, NULL },
    { "try_op",         try_op,         METH_VARARGS, NULL },
    { "walk",           walk,           METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

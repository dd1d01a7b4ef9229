/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Regions: convex sets of ops, groups, calls of ops, parts of networks, tiles. */
#include <xir/division.h>
#include <xir/region.h>
#include <xir/tiles.h>
#include "xirpy.h"

static PyObject *ops_out(net_object *o, xir_op *const *ops, size_t n) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < n; i++) {
        if (!list_add(list, op_wrap(o, ops[i]))) Py_CLEAR(list);
    }
    return list;
}

/* The ops of a tuple, which are all of the network; NULL with an exception. */
static xir_op **ops_in(net_object *o, PyObject *list, scratch *s) {
    const size_t n = (size_t)PyTuple_Size(list);
    xir_op **ops = scratch_take(s, n + 1, sizeof *ops);
    for (size_t i = 0; ops && i < n; i++) {
        PyObject *item = PyTuple_GetItem(list, (Py_ssize_t)i);
        if (!PyObject_TypeCheck(item, Op_type)) return PyErr_Format(PyExc_TypeError, "a region consists of ops"), NULL;
        if (((op_object *)item)->owner != o) return raise_status(XIR_E_INVALID, "an op is of another network");
        if (!(ops[i] = op_read((op_object *)item))) return NULL;
    }
    return ops;
}

static xir_value **values_in(net_object *o, PyObject *list, scratch *s) {
    const size_t n = (size_t)PyTuple_Size(list);
    xir_value **values = scratch_take(s, n + 1, sizeof *values);
    for (size_t i = 0; values && i < n; i++) {
        if (!value_of(PyTuple_GetItem(list, (Py_ssize_t)i), o, false, &values[i])) return NULL;
    }
    return values;
}

/* region_path(net, ops): the ops of a shortest path out of the set and back; empty: it is convex. */
static PyObject *region_path(PyObject *module, PyObject *args) {
    PyObject *self, *list, *made = NULL;
    scratch s = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!:region_path", Network_type, &self, &PyTuple_Type, &list)) return NULL;
    net_object *o = (net_object *)self;
    const size_t n = (size_t)PyTuple_Size(list);
    xir_network *net = net_read(o);
    xir_op **ops = net ? ops_in(o, list, &s) : NULL;
    xir_diags *why = ops ? why_new() : NULL;
    if (why) {
        const xir_status status = xir_region_check(net, ops, n, why);
        const size_t length = status ? xir_region_path(net, ops, n, NULL, 0) : 0;
        xir_op **path = scratch_take(&s, length + 1, sizeof *path);
        if (status && !length) raise_diags(status, why), why = NULL;
        else if (path && xir_region_path(net, ops, n, path, length) == length) made = ops_out(o, path, length);
        else if (path) PyErr_NoMemory();
        xir_diags_free(why);
    }
    scratch_free(&s);
    return made;
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

typedef struct asking {
    net_object *owner;
    PyObject   *call;
} asking;

/* An exception is raised once the groups exist; after it no op is in a group. */
static int kind_of(const xir_op *op, void *user) {
    const asking *a = user;
    if (PyErr_Occurred()) return -1;
    PyObject *arg = op_wrap(a->owner, (xir_op *)(uintptr_t)op);
    PyObject *result = arg ? PyObject_CallFunctionObjArgs(a->call, arg, NULL) : NULL;
    const long kind = !result ? -1 : result == Py_None ? -1 : PyBool_Check(result) ? (result == Py_True) - 1
                                                            : PyLong_AsLong(result);
    Py_XDECREF(arg);
    Py_XDECREF(result);
    return kind < 0 ? -1 : kind > INT32_MAX ? INT32_MAX : (int)kind;
}

/* groups(net, kind): a list of lists of ops. */
static PyObject *groups(PyObject *module, PyObject *args) {
    PyObject *self, *call, *made = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O:groups", Network_type, &self, &call)) return NULL;
    net_object *o = (net_object *)self;
    asking a = { o, call };
    xir_diags *why = why_new();
    if (!why || !net_begin_read(o)) {
        xir_diags_free(why);
        return NULL;
    }
    xir_groups *g = xir_groups_new(o->net, kind_of, &a, why);
    net_end_read(o);
    if (g && !PyErr_Occurred()) made = PyList_New(0);
    for (size_t i = 0; made && i < xir_groups_count(g); i++) {
        const xir_ops of = xir_groups_at(g, i);
        if (!list_add(made, ops_out(o, of.data, of.size))) Py_CLEAR(made);
    }
    if (!g) raise_diags(XIR_OK, why);
    else xir_diags_free(why);
    xir_groups_free(g);
    return made;
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/* outline(net, ops, name, target or None): the call. */
static PyObject *outline(PyObject *module, PyObject *args) {
    PyObject *self, *list, *name, *word;
    scratch s = { 0 };
    xir_str text, target_text;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!UO:outline", Network_type, &self, &PyTuple_Type, &list, &name, &word) ||
        !text_in(name, &text)) return NULL;
    xir_outline_options how = XIR_INIT(xir_outline_options, .name = text);
    if (word != Py_None) {
        xir_diags *why = text_in(word, &target_text) ? why_new() : NULL;
        if (!why) return NULL;
        if (!(how.target = xir_target_parse(the_context, target_text, why)))
            return raise_diags(xir_diags_at(why, 0)->code, why);
        xir_diags_free(why);
    }
    net_object *o = (net_object *)self;
    xir_op **ops = ops_in(o, list, &s);
    xir_network *net = ops ? net_write(o) : NULL;
    xir_op *call = net ? xir_outline(net, ops, (size_t)PyTuple_Size(list), &how) : NULL;
    scratch_free(&s);
    if (!net) return NULL;
    return call ? op_wrap(o, call) : raise_net(net, XIR_OK);
}

/* inline(call): puts the ops of its body in its place. */
static PyObject *inline_(PyObject *module, PyObject *arg) {
    (void)module;
    if (!PyObject_TypeCheck(arg, Op_type)) return PyErr_Format(PyExc_TypeError, "inline takes an op");
    op_object *o = (op_object *)arg;
    xir_op *op = op_write(o);
    if (!op || !net_begin_write(o->owner)) return NULL;
    const xir_status status = xir_op_inline(op);
    net_end_write(o->owner);
    return status ? raise_net(o->owner->net, status) : Py_NewRef(Py_None);
}

/* ---- parts of networks ------------------------------------------------------------------------------------------ */

/* extract(net, begin, end): the part between values, a network of its own. */
static PyObject *extract(PyObject *module, PyObject *args) {
    PyObject *self, *begin, *end;
    scratch s = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!:extract", Network_type, &self, &PyTuple_Type, &begin, &PyTuple_Type, &end))
        return NULL;
    net_object *o = (net_object *)self;
    xir_network *net = net_read(o), *made = NULL;
    xir_value **from = net ? values_in(o, begin, &s) : NULL, **to = from ? values_in(o, end, &s) : NULL;
    xir_diags *why = to ? why_new() : NULL;
    if (why) made = xir_extract(net, from, (size_t)PyTuple_Size(begin), to, (size_t)PyTuple_Size(end), why);
    scratch_free(&s);
    if (!why) return NULL;
    if (!made) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    return net_wrap(made, true);
}

/* extract_ops(net, ops): a convex set of ops as a network of its own. */
static PyObject *extract_ops(PyObject *module, PyObject *args) {
    PyObject *self, *list;
    scratch s = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!:extract", Network_type, &self, &PyTuple_Type, &list)) return NULL;
    net_object *o = (net_object *)self;
    xir_op **ops = ops_in(o, list, &s);
    xir_network *net = ops ? net_write(o) : NULL;
    xir_network *made = net ? xir_outline_network(net, ops, (size_t)PyTuple_Size(list)) : NULL;
    scratch_free(&s);
    if (!net) return NULL;
    return made ? net_wrap(made, true) : raise_net(net, XIR_OK);
}

static PyObject *part_out(const xir_division_part *part) {
    xir_network *copy = xir_network_clone(part->net);      /* the part lives as long as the division */
    if (!copy) return PyErr_NoMemory();
    const xir_target_row *row = xir_target_row_of(part->target);
    return Py_BuildValue("(NsNn)", net_wrap(copy, true), part->target ? row->name : "host",
                         part->group < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(part->group),
                         (Py_ssize_t)part->ops);
}

/* divide(net): a list of (network, target, group or None, number of ops), in the order in which they run. */
static PyObject *divide(PyObject *module, PyObject *arg) {
    (void)module;
    if (!PyObject_TypeCheck(arg, Network_type)) return PyErr_Format(PyExc_TypeError, "expected a network");
    net_object *o = (net_object *)arg;
    xir_division *d = NULL;
    xir_diags *why = why_new();
    if (!why || !net_begin_read(o)) {
        xir_diags_free(why);
        return NULL;
    }
    WITHOUT_GIL(d = xir_division_new(o->net, why));
    net_end_read(o);
    if (!d) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < xir_division_count(d); i++) {
        xir_division_part part = XIR_INIT(xir_division_part);
        (void)!xir_division_at(d, i, &part);
        if (!list_add(list, part_out(&part))) Py_CLEAR(list);
    }
    xir_division_free(d);
    return list;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------ */

static PyObject *pairs_out(const xir_box *box) {
    PyObject *pairs = PyList_New(0);
    for (uint32_t k = 0; k < box->rank && pairs; k++)
        if (!list_add(pairs, Py_BuildValue("(LL)", (long long)box->begin[k], (long long)box->end[k]))) Py_CLEAR(pairs);
    return pairs;
}

/* The parts of one tile: a list of (value, pairs). */
static PyObject *parts_out(net_object *o, const xir_tiles *tiles, size_t i, xir_op *const *ops, size_t n) {
    PyObject *list = PyList_New(0);
    for (size_t k = 0; k < n && list; k++)
        for (size_t out = 0; out < xir_op_output_count(ops[k]) && list; out++) {
            xir_value *v = xir_op_output(ops[k], (int64_t)out);
            xir_box box = XIR_INIT(xir_box);
            if (!xir_tiles_part(tiles, i, v, &box) || box.none) continue;
            if (!list_add(list, Py_BuildValue("(NN)", value_wrap(o, v), pairs_out(&box)))) Py_CLEAR(list);
        }
    return list;
}

static PyObject *tiles_out(net_object *o, const xir_tiles *tiles, xir_op *const *ops, size_t n, bool networks,
                           xir_diags *why) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < xir_tiles_count(tiles) && list; i++) {
        xir_network *net = networks ? xir_region_tile(tiles, i, why) : NULL;
        PyObject *made = net ? net_wrap(net, true) : networks ? NULL : Py_NewRef(Py_None);
        PyObject *parts = made ? parts_out(o, tiles, i, ops, n) : NULL;
        if (!parts) {
            Py_XDECREF(made);
            Py_CLEAR(list);
        } else if (!list_add(list, Py_BuildValue("(NN)", parts, made))) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* tiles(net, ops, budget, letters, whole, networks): (staged, peak, op, read, read once, made, made once, a list of
 * (parts, network or None), the network of all or None). */
static PyObject *tiles(PyObject *module, PyObject *args) {
    PyObject *self, *list, *made = NULL, *all = NULL, *joined = NULL;
    const char *letters;
    unsigned long long budget;
    int whole, networks;
    scratch s = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!Kspp:tiles", Network_type, &self, &PyTuple_Type, &list, &budget, &letters, &whole,
                          &networks)) return NULL;
    net_object *o = (net_object *)self;
    const size_t n = (size_t)PyTuple_Size(list);
    xir_op **ops = ops_in(o, list, &s);
    xir_diags *why = ops ? why_new() : NULL;
    if (!why || !net_begin_read(o)) {
        scratch_free(&s);
        xir_diags_free(why);
        return NULL;
    }
    const xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = budget, .letters = letters,
                                           .whole = whole != 0);
    xir_tiles *t = NULL;
    WITHOUT_GIL(t = xir_region_tiles(o->net, ops, n, &how, why));
    if (t) all = tiles_out(o, t, ops, n, networks, why);
    xir_network *join = all && networks ? xir_tiles_network(t, why) : NULL;
    net_end_read(o);
    if (all) joined = join ? net_wrap(join, true) : networks ? NULL : Py_NewRef(Py_None);
    xir_tiles_cost cost = XIR_INIT(xir_tiles_cost);
    if (joined && xir_tiles_cost_of(t, &cost, why) == XIR_OK) {
        made = Py_BuildValue("(OKNKKKKNN)", cost.staged ? Py_True : Py_False, (unsigned long long)cost.peak,
                             op_wrap(o, (xir_op *)(uintptr_t)cost.op), (unsigned long long)cost.read,
                             (unsigned long long)cost.read_once, (unsigned long long)cost.made,
                             (unsigned long long)cost.made_once, all, joined);
    } else {
        Py_XDECREF(all);
        Py_XDECREF(joined);
    }
    xir_tiles_free(t);
    scratch_free(&s);
    if (!made && !PyErr_Occurred()) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    return made;
}

PyMethodDef region_functions[] = {
    { "region_path", region_path, METH_VARARGS, NULL },
    { "groups",      groups,      METH_VARARGS, NULL },
    { "outline",     outline,     METH_VARARGS, NULL },
    { "inline",      inline_,     METH_O,       NULL },
    { "extract",     extract,     METH_VARARGS, NULL },
    { "extract_ops", extract_ops, METH_VARARGS, NULL },
    { "divide",      divide,      METH_O,       NULL },
    { "tiles",       tiles,       METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

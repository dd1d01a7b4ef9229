/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lists of the context: formats, dialects, passes, targets; and the known names that a misspelled one is near. The
 * texts are the library's; xir/library.py makes named tuples of the rows. */
#include <xir/convert.h>
#include "xirpy.h"

/* ---- formats and dialects --------------------------------------------------------------------------------------- */

static PyObject *format_out(const xir_format_info *f) {
    return Py_BuildValue("(sssNNNNzNNNNN)", f->name, f->meaning, f->suffixes, PyBool_FromLong(f->reads),
                         PyBool_FromLong(f->writes), PyBool_FromLong(f->pair), PyBool_FromLong(f->text), f->operators,
                         PyBool_FromLong(f->dialect), PyBool_FromLong(f->indents), PyBool_FromLong(f->aligns),
                         PyBool_FromLong(f->plains), PyBool_FromLong(f->splits));
}

/* formats(): rows (name, meaning, suffixes, reads, writes, pair, text, operators, dialect, indents, aligns, plains,
 * splits). */
static PyObject *formats(PyObject *module, PyObject *none) {
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list; i++) {
        xir_format_info f = XIR_INIT(xir_format_info);
        if (xir_context_format_at(the_context, i, &f, NULL)) break;
        if (!list_add(list, format_out(&f))) Py_CLEAR(list);
    }
    return list;
}

/* detect(name): the word of the format that the suffix of a file's name says, or None. */
static PyObject *detect(PyObject *module, PyObject *arg) {
    xir_str name;
    (void)module;
    if (!text_in(arg, &name)) return NULL;
    const char *word = xir_format_detect(the_context, NULL, 0, 0, name);
    return word ? PyUnicode_FromString(word) : Py_NewRef(Py_None);
}

/* dialects(): rows (prefix, name, pass or None, way back or None, passes before it or None). */
static PyObject *dialects(PyObject *module, PyObject *none) {
    const xir_dialect_decl *d;
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && (d = xir_dialect_at(the_context, i)); i++) {
        PyObject *row = Py_BuildValue("(sszzz)", d->prefix, d->name, d->pass, d->back ? d->back->name : NULL,
                                      d->before_back);
        if (!list_add(list, row)) Py_CLEAR(list);
    }
    return list;
}

/* dialects_of(net): the prefixes of the dialects whose ops the network has, each once. */
static PyObject *dialects_of(PyObject *module, PyObject *arg) {
    const xir_dialect_decl *last = NULL;
    (void)module;
    if (!PyObject_TypeCheck(arg, Network_type)) return PyErr_Format(PyExc_TypeError, "expected a network");
    xir_network *net = net_read((net_object *)arg);
    PyObject *set = net ? PySet_New(NULL) : NULL;
    if (!set || !xir_network_is_dialect(net)) return set;
    for (xir_op *op = xir_network_first(net); set && op; op = xir_op_next(op)) {
        const xir_class *cls = xir_op_class(op);
        if (!xir_class_is_dialect(cls)) continue;
        const xir_dialect_decl *d = xir_dialect_find(the_context, xir_class_key(cls));
        if (!d || d == last) continue;
        last = d;
        PyObject *prefix = PyUnicode_FromString(d->prefix);
        if (!prefix || PySet_Add(set, prefix)) Py_CLEAR(set);
        Py_XDECREF(prefix);
    }
    return set;
}

/* ---- passes and targets ----------------------------------------------------------------------------------------- */

static PyObject *pass_options(const xir_pass_decl *decl) {
    static const char *const kinds[] = { "int", "real", "bool", "text" };   /* ORDER: xir_pass_kind */
    PyObject *list = PyList_New(0);
    xir_pass_option o;
    for (size_t i = 0; list && xir_pass_option_at(decl, i, &o); i++) {
        if (!list_add(list, Py_BuildValue("(ssss)", o.name, kinds[o.kind], o.default_text ? o.default_text : "",
                                     o.doc ? o.doc : ""))) Py_CLEAR(list);
    }
    return list;
}

static PyObject *pass_needs(const xir_pass_decl *decl) {
    PyObject *list = PyList_New(0);
    for (const char *const *need = decl->needs; list && need && *need; need++) {
        if (!list_add(list, PyUnicode_FromString(*need))) Py_CLEAR(list);
    }
    return list;
}

/* passes(): rows (name, doc, level, needs, options), in the order of registration. */
static PyObject *passes(PyObject *module, PyObject *none) {
    static const char *const levels[] = { "needed", "needed", "exact", "fast", "max" };
    const xir_pass_decl *decl;
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && (decl = xir_pass_at(the_context, i)); i++) {
        const char *level = decl->level >= 0 && decl->level <= XIR_LEVEL_MAX ? levels[decl->level] : "max";
        PyObject *needs = pass_needs(decl), *options = needs ? pass_options(decl) : NULL;
        PyObject *row = options ? Py_BuildValue("(sssNN)", decl->name, decl->doc, level, needs, options)
                                : (Py_XDECREF(needs), NULL);
        if (!list_add(list, row)) Py_CLEAR(list);
    }
    return list;
}

/* The class that a rule is about: its key, or None for classes with a trait. */
static PyObject *rule_class(const xir_target_rule *r) {
    const xir_class *cls = r->cls ? xir_class_find_decl(the_context, r->cls()) : NULL;
    if (cls) return text_out(xir_class_key(cls));
    return r->key ? PyUnicode_FromString(r->key) : Py_NewRef(Py_None);
}

static PyObject *rules_out(const xir_target_row *row) {
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < row->n_rules; i++) {
        xir_target_rule r = { 0 };
        const size_t size = row->rule_size < sizeof r ? row->rule_size : sizeof r;
        memcpy(&r, (const char *)row->rules + i * row->rule_size, size);
        PyObject *one = Py_BuildValue("(Nzzzzs)", rule_class(&r), r.name, r.needs, r.mend, r.source,
                                      r.flags & XIR_RULE_NOTE ? "note" : r.flags & XIR_RULE_EXCLUDES ? "excludes"
                                      : r.flags & XIR_RULE_COMPILED ? "compiled" : "rule");
        if (!list_add(list, one)) Py_CLEAR(list);
    }
    return list;
}

/* targets(): rows (name, key, doc, accelerator, cores, rules). */
static PyObject *targets(PyObject *module, PyObject *none) {
    const xir_target_row *row;
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && (row = xir_target_row_at(the_context, i)); i++) {
        PyObject *one = Py_BuildValue("(sssNsN)", row->name, row->key, row->doc ? row->doc : "",
                                      PyBool_FromLong(row->accelerator), row->cores ? row->cores : "", rules_out(row));
        if (!list_add(list, one)) Py_CLEAR(list);
    }
    return list;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* nearest(word, names): the one of an iterable of texts that was probably meant, or None. */
static PyObject *nearest(PyObject *module, PyObject *args) {
    PyObject *word, *names, *item, *best = NULL;
    xir_str of, name;
    size_t distance = SIZE_MAX;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO:nearest", &word, &names) || !text_in(word, &of)) return NULL;
    PyObject *each = PyObject_GetIter(names);
    while (each && (item = PyIter_Next(each))) {
        const bool fine = text_in(item, &name);
        if (fine && name.size && xir_str_is_nearer(of, name, &distance)) {
            Py_XDECREF(best);
            best = Py_NewRef(item);
        }
        Py_DECREF(item);
        if (!fine) break;
    }
    Py_XDECREF(each);
    if (PyErr_Occurred()) return Py_XDECREF(best), NULL;
    return best ? best : Py_NewRef(Py_None);
}

PyMethodDef list_functions[] = {
    { "formats",     formats,     METH_NOARGS,  NULL },
    { "detect",      detect,      METH_O,       NULL },
    { "dialects",    dialects,    METH_NOARGS,  NULL },
    { "dialects_of", dialects_of, METH_O,       NULL },
    { "passes",      passes,      METH_NOARGS,  NULL },
    { "targets",     targets,     METH_NOARGS,  NULL },
    { "nearest",     nearest,     METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

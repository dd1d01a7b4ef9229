/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Calls that take time, without the GIL: loading, saving, inference, checks, differences. run.c and pipeline.c have the
 * rest. */
#include <string.h>
#include <xir/convert.h>
#include <xir/memory.h>
#include "xirpy.h"

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* The bytes of a path: str, bytes or os.PathLike. A new reference. */
static PyObject *path_in(PyObject *arg) {
    PyObject *bytes = NULL;
    return PyUnicode_FSConverter(arg, &bytes) ? bytes : NULL;
}

/* A network that was read, or an exception: of a function that watched, or of the findings. */
static PyObject *loaded(xir_network *net, xir_diags *why) {
    if (PyErr_Occurred()) {    /* the function may have raised it in its last call */
        xir_network_free(net);
        net = NULL;
    }
    if (!net) return raise_diags(XIR_OK, why);
    PyObject *made = net_wrap(net, true);
    if (!warn_diags(why)) Py_CLEAR(made);
    return made;
}

/* A save changes its network for a while, and calls Python meanwhile, which may only read the network then. */
static bool begin_save(net_object *o) {
    const bool begun = net_begin_write(o);
    if (begun) o->readers++;
    return begun;
}

static void end_save(net_object *o) {
    o->readers--;
    net_end_write(o);
}

/* None, with an exception if the call has failed or a function has raised one. */
static PyObject *saved(xir_status status, xir_diags *why) {
    if (status || PyErr_Occurred()) return raise_diags(status, why);
    return warn_diags(why) ? Py_NewRef(Py_None) : NULL;
}

/* load(path, lazy, params, format, verify, progress): a network. */
static PyObject *load(PyObject *module, PyObject *args) {
    watched w = { 0 };
    PyObject *arg, *params;
    const char *format;
    int lazy, verify;
    (void)module;
    if (!PyArg_ParseTuple(args, "OpOzi|O:load", &arg, &lazy, &params, &format, &verify, &w.call)) return NULL;
    PyObject *path = path_in(arg), *raw = path && params != Py_None && !PyBool_Check(params) ? path_in(params) : NULL;
    xir_load_options how = XIR_INIT(xir_load_options, .lazy = lazy != 0, .format = format,
        .no_params = params == Py_False, .verify = (xir_verify)verify, WATCHED(&w));
    xir_diags *why = PyErr_Occurred() ? NULL : why_new();
    xir_network *net = NULL;
    if (why) {
        const char *name = PyBytes_AsString(path);
        if (raw) how.params = PyBytes_AsString(raw);
        WITHOUT_GIL(net = xir_network_load(the_context, name, &how, why));
    }
    Py_XDECREF(path);
    Py_XDECREF(raw);
    return why ? loaded(net, why) : NULL;
}

/* read(buffer, name, format, progress): a network from bytes, which are copied. */
static PyObject *read_(PyObject *module, PyObject *args) {
    watched w = { 0 };
    Py_buffer view;
    const char *name, *format;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*sz|O:read", &view, &name, &format, &w.call)) return NULL;
    xir_load_options how = XIR_INIT(xir_load_options, .format = format, WATCHED(&w));
    xir_diags *why = why_new();
    xir_network *net = NULL;
    if (why) WITHOUT_GIL(net = xir_network_read(the_context, view.buf, (size_t)view.len, xir_str_of(name), &how, why));
    PyBuffer_Release(&view);
    return why ? loaded(net, why) : NULL;
}

/* The parameters of a file: a path, False for none, None for those of the format. `*hold` keeps the path. */
static bool params_in(PyObject *arg, xir_save_options *how, PyObject **hold) {
    *hold = NULL;
    if (arg == Py_None) return true;
    if (PyBool_Check(arg)) return how->no_params = true;
    if (!(*hold = path_in(arg))) return false;
    how->params = PyBytes_AsString(*hold);
    return true;
}

/* save(net, path, format, check, indent, plain, align, params, flags, progress). */
static PyObject *save(PyObject *module, PyObject *args) {
    watched w = { 0 };
    PyObject *self, *arg, *params, *hold = NULL;
    const char *format;
    int indent, checked, plain;
    unsigned int align;
    unsigned long long flags;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OzpppIOK|O:save", Network_type, &self, &arg, &format, &checked, &indent, &plain,
                          &align, &params, &flags, &w.call)) return NULL;
    net_object *o = (net_object *)self;
    PyObject *path = path_in(arg);
    xir_save_options how = XIR_INIT(xir_save_options, .format = format, .indent = indent != 0, .unchecked = !checked,
                                    .plain = plain != 0, .align = align, .flags = flags, WATCHED(&w));
    xir_diags *why = path && params_in(params, &how, &hold) ? why_new() : NULL;
    xir_status status = XIR_OK;
    if (!why || !begin_save(o)) {
        xir_diags_free(why);
        Py_XDECREF(hold);
        Py_XDECREF(path);
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    WITHOUT_GIL(status = xir_network_save(o->net, name, &how, why));
    end_save(o);
    Py_DECREF(path);
    Py_XDECREF(hold);
    return saved(status, why);
}

/* finish_save(path, params): whether there was something to do. */
static PyObject *finish_save(PyObject *module, PyObject *args) {
    PyObject *arg, *params;
    bool finished = false;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO:finish_save", &arg, &params)) return NULL;
    PyObject *path = path_in(arg), *other = path && params != Py_None ? path_in(params) : NULL;
    xir_diags *why = PyErr_Occurred() ? NULL : why_new();
    xir_status status = XIR_OK;
    if (why) {
        const char *name = PyBytes_AsString(path), *params_name = other ? PyBytes_AsString(other) : NULL;
        WITHOUT_GIL(status = xir_save_finish(the_context, name, params_name, &finished, why));
    }
    Py_XDECREF(path);
    Py_XDECREF(other);
    if (!why) return NULL;
    if (status) return raise_diags(status, why);
    return warn_diags(why) ? PyBool_FromLong(finished) : NULL;
}

bool grow(void *user, const void *data, size_t size) {
    growing *g = user;
    if (g->room - g->size < size) {
        size_t room = 2 * g->room + size;
        char *more = realloc(g->data, room);
        if (!more) return false;
        g->data = more;
        g->room = room;
    }
    if (size) memcpy(g->data + g->size, data, size);
    g->size += size;
    return true;
}

/* write(net, format, check, params, indent, plain, align, flags, progress): the bytes of a file. */
static PyObject *write_(PyObject *module, PyObject *args) {
    watched w = { 0 };
    PyObject *self;
    const char *format;
    int checked, params, indent, plain;
    unsigned int align;
    unsigned long long flags;
    growing out = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "O!sppppIK|O:write", Network_type, &self, &format, &checked, &params, &indent, &plain,
                          &align, &flags, &w.call)) return NULL;
    net_object *o = (net_object *)self;
    xir_save_options how = XIR_INIT(xir_save_options, .format = format, .unchecked = !checked, .no_params = !params,
                                    .indent = indent != 0, .plain = plain != 0, .align = align, .flags = flags,
                                    WATCHED(&w));
    xir_diags *why = why_new();
    xir_status status;
    if (!why || !begin_save(o)) {
        xir_diags_free(why);
        return NULL;
    }
    WITHOUT_GIL(status = xir_network_write(o->net, grow, &out, &how, why));
    end_save(o);
    PyObject *none = saved(status, why);
    PyObject *made = none ? PyBytes_FromStringAndSize(out.data, (Py_ssize_t)out.size) : NULL;
    Py_XDECREF(none);
    free(out.data);
    return made;
}

/* draw(net, format, depth, left_to_right): the bytes of a picture. */
static PyObject *draw(PyObject *module, PyObject *args) {
    PyObject *self;
    int format, left_to_right;
    unsigned int depth;
    growing out = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "O!iIp:draw", Network_type, &self, &format, &depth, &left_to_right)) return NULL;
    net_object *o = (net_object *)self;
    const xir_draw_options how = XIR_INIT(xir_draw_options, .depth = depth, .left_to_right = left_to_right != 0,
                                          .no_values = true);
    xir_diags *why = why_new();
    xir_status status;
    if (!why || !net_begin_read(o)) {
        xir_diags_free(why);
        return NULL;
    }
    WITHOUT_GIL(status = xir_draw(o->net, (xir_draw_format)format, &how, grow, &out, why));
    net_end_read(o);
    PyObject *made = status ? raise_diags(status, why) : PyBytes_FromStringAndSize(out.data, (Py_ssize_t)out.size);
    if (!status) xir_diags_free(why);
    free(out.data);
    return made;
}

/* ---- checks --------------------------------------------------------------------------------------------------- */

static PyObject *infer(PyObject *module, PyObject *self) {
    (void)module;
    if (!PyObject_TypeCheck(self, Network_type)) return PyErr_Format(PyExc_TypeError, "infer takes a network");
    net_object *o = (net_object *)self;
    xir_diags *why = why_new();
    xir_status status;
    if (!why || !net_begin_write(o)) {
        xir_diags_free(why);
        return NULL;
    }
    WITHOUT_GIL(status = xir_network_infer(o->net, why));
    net_end_write(o);
    if (status) return raise_diags(status, why);
    return warn_diags(why) ? Py_NewRef(Py_None) : NULL;
}

/* check(net, target, typed): target is a text or None. */
static PyObject *check(PyObject *module, PyObject *args) {
    PyObject *self, *word;
    int typed;
    xir_str name = { NULL, 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "O!Op:check", Network_type, &self, &word, &typed)) return NULL;
    if (word != Py_None && !text_in(word, &name)) return NULL;
    net_object *o = (net_object *)self;
    xir_diags *why = why_new();
    const xir_target *target = why && word != Py_None ? xir_target_parse(the_context, name, why) : NULL;
    if (why && word != Py_None && !target) return raise_diags(xir_diags_at(why, 0)->code, why);
    if (!why || !net_begin_read(o)) {
        xir_diags_free(why);
        return NULL;
    }
    const xir_try_options how = XIR_INIT(xir_try_options, .typed = typed);
    WITHOUT_GIL(if (!xir_network_validate(o->net, why)) (void)!xir_memory_check(o->net, NULL, why);
                (void)!xir_dialect_check(o->net, why));
    if (target) WITHOUT_GIL(xir_network_try(o->net, target, &how, NULL, why));
    net_end_read(o);
    PyObject *list = findings_of(why);
    xir_diags_free(why);
    return list;
}

/* bind(net, ((name, least, most), ...)). */
static PyObject *bind(PyObject *module, PyObject *args) {
    PyObject *self, *list;
    scratch s = { 0 };
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!:bind", Network_type, &self, &PyTuple_Type, &list)) return NULL;
    net_object *o = (net_object *)self;
    size_t n = (size_t)PyTuple_Size(list);
    xir_symbol *symbols = scratch_take(&s, n, sizeof *symbols);
    xir_diags *why = symbols ? why_new() : NULL;
    bool fine = why != NULL;
    for (size_t i = 0; fine && i < n; i++) {
        PyObject *name;
        long long least, most;
        PyObject *item = PyTuple_GetItem(list, (Py_ssize_t)i);
        fine = PyTuple_Check(item) && PyArg_ParseTuple(item, "OLL", &name, &least, &most) && text_in(name,
            &symbols[i].name);
        if (fine) symbols[i].least = least, symbols[i].most = most;
    }
    if (why && !fine && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a binding is (name, least, most)");
    xir_network *net = fine ? net_write(o) : NULL;
    xir_status status = net ? xir_network_bind(net, symbols, n, why) : XIR_OK;
    scratch_free(&s);
    if (status) return raise_diags(status, why);
    xir_diags_free(why);
    return net ? Py_NewRef(Py_None) : NULL;
}

/* The input of the name; NULL: there is none. */
static const xir_value *input_named(const xir_network *net, xir_str name) {
    const xir_op *input = xir_network_input_op(net);
    for (size_t i = 0; input && i < xir_op_output_count(input); i++) {
        const xir_value *v = xir_op_output(input, (int64_t)i);
        if (xir_str_equal(xir_value_name(v), name)) return v;
    }
    return NULL;
}

/* An array for an input, each of whose elements is a number; dims that are open are 1. */
static xir_array *filled(const xir_network *net, xir_str name, double number, xir_diags *why) {
    const xir_value *v = input_named(net, name);
    const xir_type *type = v ? xir_type_with_known_dims(the_context, xir_value_type(v), 1, why) : NULL;
    if (!v) xir_diags_add(why, XIR_ERROR, XIR_E_UNKNOWN, XIR_STR(""), "the network has no input of this name");
    return type ? xir_array_filled(the_context, type, number, why) : NULL;
}

/* fix(net, name, Array or number). */
static PyObject *fix(PyObject *module, PyObject *args) {
    PyObject *self, *word, *given;
    xir_str name;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!UO:fix", Network_type, &self, &word, &given) || !text_in(word, &name)) return NULL;
    const bool is_array = PyObject_TypeCheck(given, Array_type);
    const double number = is_array ? 0 : PyFloat_AsDouble(given);
    if (PyErr_Occurred()) return NULL;
    xir_network *net = net_write((net_object *)self);
    xir_diags *why = net ? why_new() : NULL;
    if (!why) return NULL;
    xir_array *array = is_array ? xir_array_retain(((array_object *)given)->array) : filled(net, name, number, why);
    const xir_status status = array ? xir_network_fix_input(net, name, array, why) : XIR_E_INVALID;
    xir_array_free(array);
    if (status) return raise_diags(array ? status : XIR_OK, why);
    xir_diags_free(why);
    return Py_NewRef(Py_None);
}

/* ---- differences ---------------------------------------------------------------------------------------------- */

static PyObject *difference_out(net_object *a, net_object *b, const xir_diff_item *item) {
    const char *kind = item->kind == XIR_DIFF_REMOVED ? "removed" : item->kind == XIR_DIFF_ADDED ? "added"
                     : item->kind == XIR_DIFF_MOVED ? "moved" : "changed";
    PyObject *field = text_out(item->field), *elements = Py_NewRef(Py_None);
    if (item->elements) {
        Py_DECREF(elements);
        const xir_elements_diff *e = item->elements;
        const double largest = e->integers ? (double)e->largest_int : e->largest;
        elements = Py_BuildValue("(KKds)", (unsigned long long)e->differ, (unsigned long long)e->of, largest,
                                 e->not_compared ? "" : e->by_bytes ? "bytes" : "elements");
    }
    return Py_BuildValue("(sNNNN)", kind, op_wrap(a, item->a), op_wrap(b, item->b), field, elements);
}

/* diff(a, b, params): a list of (kind, op of a, op of b, field, elements). */
static PyObject *diff(PyObject *module, PyObject *args) {
    PyObject *first, *second, *list = NULL;
    int params;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!p:diff", Network_type, &first, Network_type, &second, &params)) return NULL;
    net_object *a = (net_object *)first, *b = (net_object *)second;
    xir_diags *why = why_new();
    if (!why || !net_begin_read(a)) {
        xir_diags_free(why);
        return NULL;
    }
    xir_diff *d = NULL;
    bool begun = net_begin_read(b);
    if (begun) {
        WITHOUT_GIL(d = xir_diff_new(a->net, b->net, &XIR_INIT(xir_diff_options, .params = params != 0), why));
        if (d) list = PyList_New(0);
        for (size_t i = 0; list && i < xir_diff_count(d); i++) {
            PyObject *one = difference_out(a, b, xir_diff_at(d, i));
            if (!one || PyList_Append(list, one)) Py_CLEAR(list);
            Py_XDECREF(one);
        }
        net_end_read(b);
    }
    net_end_read(a);
    xir_diff_free(d);
    if (begun && !d) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    return list;
}

/* ---- what the context has ------------------------------------------------------------------------------------- */

static PyObject *classes(PyObject *module, PyObject *none) {
    const xir_class *cls;
    (void)module, (void)none;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && (cls = xir_context_class_at(the_context, i)); i++) {
        PyObject *one = class_wrap(cls);
        if (!one || PyList_Append(list, one)) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *load_plugin(PyObject *module, PyObject *arg) {
    (void)module;
    PyObject *path = path_in(arg);
    xir_diags *why = path ? why_new() : NULL;
    xir_status status = why ? xir_plugin_load(the_context, PyBytes_AsString(path), why) : XIR_OK;
    Py_XDECREF(path);
    if (!why) return NULL;
    if (status) return raise_diags(status, why);
    return warn_diags(why) ? Py_NewRef(Py_None) : NULL;
}

/* make_params(net, buffer, name, layout): a value. */
static PyObject *make_params(PyObject *module, PyObject *args) {
    PyObject *self, *arg;
    const char *name, *layout;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!Osz:params", Network_type, &self, &arg, &name, &layout)) return NULL;
    xir_value *made = params_of((net_object *)self, arg, name, layout, false);
    return made ? value_wrap((net_object *)self, made) : NULL;
}

PyMethodDef work_functions[] = {
    { "load",             load,             METH_VARARGS, NULL },
    { "read",             read_,            METH_VARARGS, NULL },
    { "save",             save,             METH_VARARGS, NULL },
    { "finish_save",      finish_save,      METH_VARARGS, NULL },
    { "write",            write_,           METH_VARARGS, NULL },
    { "draw",             draw,             METH_VARARGS, NULL },
    { "infer",            infer,            METH_O,       NULL },
    { "check",            check,            METH_VARARGS, NULL },
    { "bind",             bind,             METH_VARARGS, NULL },
    { "fix",              fix,              METH_VARARGS, NULL },
    { "pipeline",         pipeline_run,     METH_VARARGS, NULL },
    { "default_pipeline", pipeline_default, METH_NOARGS,
      DOC("default_pipeline($module, /)",
          "The pipeline that `xir opt` runs by default: from an ONNX dialect network, or one of XIR, to an "
          "optimised one.") },
    { "register_pass",    register_pass,    METH_VARARGS, NULL },
    { "register_class",   register_class,   METH_VARARGS, NULL },
    { "diff",             diff,             METH_VARARGS, NULL },
    { "classes", classes, METH_NOARGS,
      DOC("classes($module, /)", "The classes of operations and objects, a list.") },
    { "load_plugin", load_plugin, METH_O,
      DOC("load_plugin($module, path, /)",
          "Loads a plug-in into the process and registers its parts there. Its passes run only if a pipeline names "
          "them.") },
    { "make_params",      make_params,      METH_VARARGS, NULL },
    { "set_bytes",        params_set_bytes, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

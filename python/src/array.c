/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Arrays of numbers outside of networks, the buffers that Python reads them through, and Params made from buffers. */
#include <string.h>
#include "xirpy.h"

PyTypeObject *Array_type;

PyObject *array_wrap(xir_array *array, bool writable) {
    array_object *o = PyObject_New(array_object, Array_type);
    if (!o) {
        xir_array_free(array);
        return NULL;
    }
    o->array = array;
    o->writable = writable;
    o->plain = false;
    return (PyObject *)o;
}

static void array_dealloc(array_object *o) {
    PyTypeObject *type = Py_TYPE((PyObject *)o);
    xir_array_free(o->array);
    PyObject_Free(o);
    Py_DECREF(type);
}

/* ---- element types -------------------------------------------------------------------------------------------- */

static const struct element { char letter; xir_type_kind kind; bool sign; uint64_t bits; } elements[] = {
    { '?', XIR_TYPE_BOOL,    false, 8  },
    { 'b', XIR_TYPE_INTEGER, true,  8  }, { 'B', XIR_TYPE_INTEGER, false, 8  },
    { 'h', XIR_TYPE_INTEGER, true,  16 }, { 'H', XIR_TYPE_INTEGER, false, 16 },
    { 'i', XIR_TYPE_INTEGER, true,  32 }, { 'I', XIR_TYPE_INTEGER, false, 32 },
    { 'q', XIR_TYPE_INTEGER, true,  64 }, { 'Q', XIR_TYPE_INTEGER, false, 64 },
    { 'l', XIR_TYPE_INTEGER, true,  64 }, { 'L', XIR_TYPE_INTEGER, false, 64 },
    { 'e', XIR_TYPE_FLOAT,   true,  16 }, { 'f', XIR_TYPE_FLOAT,   true,  32 }, { 'd', XIR_TYPE_FLOAT, true, 64 },
};

/* The letter of module struct for an element type; NULL if it has none. */
static const char *letter_of(const xir_type *element) {
    xir_attr attr;
    xir_type_kind kind = xir_type_kind_of(element);
    bool sign = kind == XIR_TYPE_FLOAT;
    if (kind == XIR_TYPE_INTEGER && !xir_object_get(xir_type_object(element), XIR_STR("sign"),
        &attr)) sign = attr.as.boolean;
    if (kind == XIR_TYPE_FLOAT) {
        if (xir_object_get(xir_type_object(element), XIR_STR("format"), &attr)) return NULL;
        if (attr.as.enumerator > XIR_FLOAT_FP64) return NULL;     /* bf16 and the like are not Python's */
    }
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        const struct element *e = &elements[i];
        if (e->kind == kind && e->sign == sign && e->bits == xir_type_storage_bits(element)) return &e->letter;
    }
    return NULL;
}

static const xir_type *type_of_letter(char letter, Py_ssize_t size) {
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        const struct element *e = &elements[i];
        bool is_long = letter == 'l' || letter == 'L';      /* 4 bytes in formats with a byte order */
        if (e->letter != letter || (!is_long && e->bits != 8 * (uint64_t)size)) continue;
        int64_t bits = 8 * (int64_t)size;
        if (e->kind == XIR_TYPE_BOOL) return xir_type_bool(the_context);
        if (e->kind == XIR_TYPE_INTEGER) {
            return e->sign ? xir_type_sint(the_context, bits) : xir_type_uint(the_context, bits);
        }
        return xir_type_float(the_context, size == 2 ? XIR_FLOAT_FP16 : size == 4 ? XIR_FLOAT_FP32 : XIR_FLOAT_FP64);
    }
    return NULL;
}

/* ---- buffers out ---------------------------------------------------------------------------------------------- */

/* The memory to which a view points. */
typedef struct shape_of_view {
    char       letter[2];
    Py_ssize_t numbers[];      /* dims, then strides */
} shape_of_view;

/* Returns true if a request takes nothing but Fortran's order. */
static bool asks_for_columns(int flags) {
    return (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS &&
           (flags & PyBUF_ANY_CONTIGUOUS) != PyBUF_ANY_CONTIGUOUS &&
           (flags & PyBUF_C_CONTIGUOUS) != PyBUF_C_CONTIGUOUS;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
    array_object *o = (array_object *)self;
    const xir_type *type = xir_array_type(o->array);
    const char *letter = letter_of(xir_type_element(type));
    size_t size, rank = o->plain ? 1 : xir_type_rank(type);
    view->obj = NULL;
    if (o->plain) letter = "B";
    if (!letter) {
        return PyErr_SetString(PyExc_BufferError, "the elements have no format of Python: use raw or numpy"), -1;
    }
    if ((flags & PyBUF_WRITABLE) && !o->writable) {
        return PyErr_SetString(PyExc_BufferError, "the array is read-only"), -1;
    }
    shape_of_view *shape = PyMem_Malloc(sizeof *shape + (2 * rank + 1) * sizeof *shape->numbers);
    if (!shape) return PyErr_NoMemory(), -1;
    shape->letter[0] = *letter;
    shape->letter[1] = '\0';
    const void *data = xir_array_data(o->array, &size);
    size_t long_dims = 0;
    for (size_t i = 0; !o->plain && i < rank; i++) long_dims += xir_type_dim(type, (int64_t)i, false) > 1;
    if (asks_for_columns(flags) && size && long_dims > 1) {
        PyMem_Free(shape);
        return PyErr_SetString(PyExc_BufferError, "the array is C-contiguous"), -1;
    }
    Py_ssize_t step = o->plain ? 1 : (Py_ssize_t)(xir_type_storage_bits(type) / 8);
    *view = (Py_buffer){
        .obj = Py_NewRef(self), .len = (Py_ssize_t)size, .itemsize = step, .readonly = !o->writable, .ndim = (int)rank,
        .format = flags & PyBUF_FORMAT ? shape->letter : NULL,
        .shape = flags & PyBUF_ND ? shape->numbers : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shape->numbers + rank : NULL,
        .internal = shape,
    };
    memcpy(&view->buf, &data, sizeof data);
    for (size_t i = rank; i-- > 0;) {
        shape->numbers[i] = o->plain ? (Py_ssize_t)size : (Py_ssize_t)xir_type_dim(type, (int64_t)i, false);
        shape->numbers[rank + i] = step;
        step *= shape->numbers[i];
    }
    return 0;
}

static void release_buffer(PyObject *self, Py_buffer *view) {
    (void)self;
    PyMem_Free(view->internal);
    view->internal = NULL;
}

/* ---- buffers in ----------------------------------------------------------------------------------------------- */

/* The tensor type of a buffer; NULL with an exception. */
static const xir_type *type_of_view(const Py_buffer *view, const char *layout) {
    const char *format = view->format ? view->format : "B";
    char order = strchr("@=<>!", *format) && *format ? *format++ : '@';
    const xir_type *element = format[0] && !format[1] ? type_of_letter(*format, view->itemsize) : NULL;
    if (!element) return raise_status(XIR_E_TYPE, "elements of the format '%s' are not numbers of a network",
        view->format);
    if ((order == '>' || order == '!') && view->itemsize > 1) {
        return raise_status(XIR_E_TYPE, "the elements have the other byte order");
    }
    int64_t dims[PyBUF_MAX_NDIM];
    for (int i = 0; i < view->ndim; i++) dims[i] = view->shape[i];
    size_t rank = (size_t)view->ndim;
    xir_diags *why = why_new();
    if (!why) return NULL;
    const xir_layout *axes = layout ? xir_layout_parse(the_context, xir_str_of(layout), why) : NULL;
    if (layout && !axes) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    if (axes && xir_layout_rank(axes) != rank) {
        return raise_status(XIR_E_BOUNDS, "the layout '%s' is for another number of dims than %zu", layout, rank);
    }
    const xir_type *type = xir_type_tensor(the_context, element, axes, dims, rank);
    if (!type) PyErr_NoMemory();
    return type;
}

static bool view_in(PyObject *arg, Py_buffer *view) {
    if (PyObject_GetBuffer(arg, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0) {
        if (view->ndim <= PyBUF_MAX_NDIM && view->ndim >= 0) return true;
        PyBuffer_Release(view);
        raise_status(XIR_E_LIMIT, "the buffer has too many dims");
    }
    return false;
}

/* A borrowed buffer is released by any thread. Once the interpreter ends, what it is of is left alone. */
static void release_view(void *user, const void *data) {
    (void)data;
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        PyBuffer_Release(user);
        PyGILState_Release(state);
    }
    free(user);
}

static xir_value *params_of_number(net_object *owner, PyObject *arg, const char *name) {
    float real = (float)PyFloat_AsDouble(arg);      /* first: it may run code of the caller */
    xir_network *net = real == -1 && PyErr_Occurred() ? NULL : net_write(owner);
    if (!net) return NULL;
    const xir_type *element = xir_type_float(the_context, XIR_FLOAT_FP32);
    const xir_type *type = element ? xir_type_tensor(the_context, element, NULL, (const int64_t[]){ 1 }, 1) : NULL;
    xir_value *made = type ? xir_params_copy(net, xir_str_of(name), type, &real, sizeof real) : NULL;
    return made ? made : raise_net(net, XIR_OK);
}

xir_value *params_of(net_object *owner, PyObject *arg, const char *name, const char *layout, bool copies) {
    if (PyFloat_Check(arg) || PyLong_Check(arg)) return params_of_number(owner, arg, name);
    Py_buffer *view = malloc(sizeof *view);
    if (!view) return PyErr_NoMemory(), NULL;
    if (!view_in(arg, view)) {
        free(view);
        return NULL;
    }
    const xir_type *type = type_of_view(view, layout);
    xir_network *net = type ? net_write(owner) : NULL;      /* asked last: getting the buffer runs code of the caller */
    copies = copies && !view->readonly;
    const xir_str word = xir_str_of(name);
    xir_value *made = !net ? NULL : copies ? xir_params_copy(net, word, type, view->buf, (size_t)view->len)
                    : xir_params_borrow(net, word, type, view->buf, (size_t)view->len, release_view, view);
    if (!made || copies) {
        PyBuffer_Release(view);
        free(view);
    }
    return made || !net ? made : raise_net(net, XIR_OK);
}

/* set_bytes(value, buffer): gives Params the bytes of a buffer, which it borrows. */
PyObject *params_set_bytes(PyObject *module, PyObject *args) {
    PyObject *value, *arg;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O:set_bytes", Value_type, &value, &arg)) return NULL;
    Py_buffer *view = malloc(sizeof *view);
    if (!view) return PyErr_NoMemory();
    if (PyObject_GetBuffer(arg, view, PyBUF_SIMPLE)) {
        free(view);
        return NULL;
    }
    value_object *o = (value_object *)value;
    xir_value *v = value_write(o);
    xir_status status = v ? xir_params_set_borrow(v, view->buf, (size_t)view->len, release_view, view) : XIR_OK;
    if (v && !status) return Py_NewRef(Py_None);
    PyBuffer_Release(view);
    free(view);
    return v ? raise_net(o->owner->net, status) : NULL;
}

/* Returns true if a buffer has the elements and the dims of a type. */
static bool is_of_type(const Py_buffer *view, const xir_type *type) {
    const char *format = view->format ? view->format : "B";
    const xir_type *element = format[0] && !format[1] ? type_of_letter(*format, view->itemsize) : NULL;
    if (!element || !xir_type_equal(element, xir_type_element(type))) return false;
    if ((size_t)view->ndim != xir_type_rank(type)) return false;
    for (int i = 0; i < view->ndim; i++)
        if (view->shape[i] != xir_type_dim(type, i, false)) return false;
    return true;
}

/* _set_same(given): if `given` is a buffer of the elements and the dims of these Params, copies it and returns true.
 * An Array is not copied, and the elements of bytes have no type. */
PyObject *params_set_same(PyObject *self, PyObject *given) {
    value_object *o = (value_object *)self;
    Py_buffer view;
    if (PyBytes_Check(given) || PyObject_TypeCheck(given, Array_type) ||
        PyObject_GetBuffer(given, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) {
        PyErr_Clear();
        Py_RETURN_FALSE;
    }
    xir_value *v = value_write(o);    /* asked last: getting the buffer runs code of the caller */
    xir_status status = XIR_OK;
    const bool same = v && xir_value_is_params(v) && view.ndim <= PyBUF_MAX_NDIM &&
                      is_of_type(&view, xir_value_type(v));
    if (same) status = xir_params_set_copy(v, view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    if (status) return raise_net(o->owner->net, status);
    return v ? PyBool_FromLong(same) : NULL;
}

/* Array(buffer, layout=None): a copy of numbers. */
static PyObject *array_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = { "buffer", "layout", NULL };
    PyObject *arg, *layout = Py_None;
    const char *word = NULL;
    Py_buffer view;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:Array", names, &arg, &layout)) return NULL;
    if (layout != Py_None && !(word = word_in(layout))) return NULL;
    if (!view_in(arg, &view)) return NULL;
    const xir_type *of = type_of_view(&view, word);
    xir_diags *why = of ? why_new() : NULL;
    xir_array *array = why ? xir_array_copy(the_context, of, view.buf, (size_t)view.len, why) : NULL;
    PyBuffer_Release(&view);
    if (!why) return NULL;
    if (!array) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    return array_wrap(array, false);
}

/* ---- asking --------------------------------------------------------------------------------------------------- */

static PyObject *get_type(PyObject *self, void *none) {
    (void)none;
    return type_wrap(NULL, xir_type_object(xir_array_type(((array_object *)self)->array)));
}

static PyObject *get_shape(PyObject *self, void *none) {
    (void)none;
    const xir_type *type = xir_array_type(((array_object *)self)->array);
    size_t rank = xir_type_rank(type);
    PyObject *tuple = PyTuple_New((Py_ssize_t)rank);
    for (size_t i = 0; tuple && i < rank; i++) {
        PyObject *dim = PyLong_FromLongLong(xir_type_dim(type, (int64_t)i, false));
        if (!dim || PyTuple_SetItem(tuple, (Py_ssize_t)i, dim)) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *raw(PyObject *self, PyObject *none) {
    (void)none;
    size_t size;
    const void *data = xir_array_data(((array_object *)self)->array, &size);
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

/* floats(): the elements as the bytes of float32, for types that Python does not have. */
static PyObject *floats(PyObject *self, PyObject *none) {
    (void)none;
    const xir_array *array = ((array_object *)self)->array;
    size_t n = xir_array_count(array);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof(float)));
    char *out = bytes ? PyBytes_AsString(bytes) : NULL;
    double some[256];
    for (size_t i = 0, k; out && i < n; i += k) {
        k = n - i < 256 ? n - i : 256;
        if (xir_array_reals(array, i, k, some)) {
            Py_DECREF(bytes);
            return raise_status(XIR_E_TYPE, "the elements are not numbers: raw() has their bytes");
        }
        for (size_t j = 0; j < k; j++) {
            float f = (float)some[j];
            memcpy(out + (i + j) * sizeof f, &f, sizeof f);
        }
    }
    return bytes;
}

/* _integers(): the elements as the bytes of int64. */
static PyObject *integers(PyObject *self, PyObject *none) {
    (void)none;
    const xir_array *array = ((array_object *)self)->array;
    size_t n = xir_array_count(array);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * sizeof(int64_t)));
    if (bytes && n && xir_array_i64s(array, 0, n, (int64_t *)(void *)PyBytes_AsString(bytes))) {
        Py_DECREF(bytes);
        return raise_status(XIR_E_TYPE, "the elements are not numbers: raw() has their bytes");
    }
    return bytes;
}

static PyObject *has_format(PyObject *self, void *none) {
    (void)none;
    return PyBool_FromLong(letter_of(xir_type_element(xir_array_type(((array_object *)self)->array))) != NULL);
}

static PyObject *get_bytes(PyObject *self, void *none) {
    (void)none;
    const array_object *o = (array_object *)self;
    array_object *plain = (array_object *)array_wrap(xir_array_retain(o->array), o->writable);
    if (!plain) return NULL;
    plain->plain = true;
    PyObject *made = PyMemoryView_FromObject((PyObject *)plain);
    Py_DECREF((PyObject *)plain);
    return made;
}

static PyMethodDef array_methods[] = {
    { "raw", raw, METH_NOARGS, DOC("raw($self, /)", "The bytes, as files have them.") },
    { "_floats", floats, METH_NOARGS, NULL },
    { "_integers", integers, METH_NOARGS, NULL },
    { "permute", array_permute, METH_VARARGS,
      DOC("permute($self, /, *axes)",
          "Axis i of the result is the axis axes[i] of the array, from the end if negative, as numpy.transpose has "
          "it; the letters of an untiled layout move along. Returns a copy.") },
    { "pad", (PyCFunction)(void (*)(void))array_pad, METH_VARARGS | METH_KEYWORDS,
      DOC("pad($self, before, after, number=0)",
          "Adds a number of elements before and after along each axis; a negative number removes elements. New elements "
          "are `number`. Returns a copy.") },
    { "tile", (PyCFunction)(void (*)(void))array_tile, METH_VARARGS | METH_KEYWORDS,
      DOC("tile($self, layout, axes='')",
          "Puts an array whose axes are the letters `axes` (empty: those of its layout) into the layout `layout`, "
          "such as \"NCHWc32\" or \"OIHWi4o16\"; a unit may also stand before its letter, \"OIHW16o\". Returns a "
          "copy.") },
    { "untile", (PyCFunction)(void (*)(void))array_untile, METH_VARARGS | METH_KEYWORDS,
      DOC("untile($self, axes, shape=None, layout='')",
          "The way back: an array in the layout `layout` (empty: its own) becomes one whose axes are the letters "
          "`axes`, with the dims `shape`, which cut the filling off. Returns a copy.") },
    { "cast", array_cast, METH_O,
      DOC("cast($self, element, /)",
          "Converts the elements as the operation Cast does (docs/ops.md): to the nearest number of the type, for "
          "integers towards 0. Returns a copy.") },
    { "__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
      DOC("__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)",
          "The array for other libraries.") },
    { "__dlpack_device__", array_dlpack_device, METH_NOARGS,
      DOC("__dlpack_device__($self, /)", "The memory of the host.") },
    { NULL, NULL, 0, NULL },
};
static PyGetSetDef array_getset[] = {
    { "type",        get_type,   NULL, "The type.", NULL },
    { "bytes",       get_bytes,  NULL, "The bytes as a memoryview, which is not a copy.", NULL },
    { "shape",       get_shape,  NULL, "The dims, a tuple.", NULL },
    { "_has_format", has_format, NULL, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};
static PyType_Slot array_slots[] = {
    { Py_tp_doc,           "Array(buffer, layout=None): numbers outside of networks; read-only." },
    { Py_tp_new,           array_new },
    { Py_tp_dealloc,       array_dealloc },
    { Py_tp_methods,       array_methods },
    { Py_tp_getset,        array_getset },
    { Py_bf_getbuffer,     get_buffer },
    { Py_bf_releasebuffer, release_buffer },
    { 0, NULL },
};
static PyType_Spec array_spec = { "xir.Array", sizeof(array_object), 0, Py_TPFLAGS_DEFAULT, array_slots };

bool array_init(PyObject *module) { return (Array_type = add_type(module, &array_spec, "Array")); }

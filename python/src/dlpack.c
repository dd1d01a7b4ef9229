/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* DLPack (dmlc/dlpack, versions 0 and 1): arrays for other libraries of tensors. A capsule shares the bytes of an array
 * and holds it. Bytes that nobody may write need version 1, which has a flag for that; an array whose bytes are not
 * aligned to its elements is copied. */
#include <string.h>
#include "xirpy.h"

/* The structs of the protocol, in its words and its order of members. */
typedef struct { int32_t device_type, device_id; } dl_device;
typedef struct { uint8_t code, bits; uint16_t lanes; } dl_data_type;
typedef struct {
    void        *data;
    dl_device    device;
    int32_t      ndim;
    dl_data_type dtype;
    int64_t     *shape, *strides;      /* strides count elements */
    uint64_t     byte_offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void     *manager;
    void    (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_versioned {
    struct { uint32_t major, minor; } version;
    void     *manager;
    void    (*deleter)(struct dl_versioned *self);
    uint64_t  flags;
    dl_tensor tensor;
} dl_versioned;

enum { DL_CPU = 1 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_BOOL = 6 };
enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2 };

/* The content of a capsule. The consumer frees it in any thread, with or without the GIL. */
typedef struct shared {
    union { dl_managed old; dl_versioned now; } as;
    xir_array *array;
    int64_t    numbers[];      /* dims, then strides */
} shared;

static void free_shared(void *manager) {
    shared *s = manager;
    xir_array_free(s->array);
    free(s);
}

static void delete_old(dl_managed *self) { free_shared(self->manager); }
static void delete_now(dl_versioned *self) { free_shared(self->manager); }

/* Of a capsule that nobody has taken. */
static void drop_capsule(PyObject *capsule) {
    static const char *const names[] = { "dltensor", "dltensor_versioned" };
    for (size_t i = 0; i < 2; i++) {
        if (!PyCapsule_IsValid(capsule, names[i])) continue;
        if (i) delete_now(PyCapsule_GetPointer(capsule, names[i]));
        else delete_old(PyCapsule_GetPointer(capsule, names[i]));
    }
}

/* The type of elements; false if DLPack does not have it. */
static bool dtype_of(const xir_type *element, dl_data_type *out) {
    xir_attr attr;
    xir_type_kind kind = xir_type_kind_of(element);
    uint64_t bits = xir_type_storage_bits(element);
    *out = (dl_data_type){ DL_FLOAT, (uint8_t)bits, 1 };
    if (bits % 8 || bits > 64) return false;
    switch (kind) {
    case XIR_TYPE_BOOL: out->code = DL_BOOL; return bits == 8;
    case XIR_TYPE_INTEGER:
        if (xir_object_get(xir_type_object(element), XIR_STR("sign"), &attr)) return false;
        out->code = attr.as.boolean ? DL_INT : DL_UINT;
        return (bits & (bits - 1)) == 0;
    case XIR_TYPE_FLOAT:
        if (xir_object_get(xir_type_object(element), XIR_STR("format"), &attr)) return false;
        if (attr.as.enumerator == XIR_FLOAT_BF16) out->code = DL_BFLOAT;
        return attr.as.enumerator == XIR_FLOAT_BF16 || attr.as.enumerator <= XIR_FLOAT_FP64;
    default: return false;
    }
}

static void *refuse(const char *why) { return PyErr_SetString(PyExc_BufferError, why), NULL; }

static PyObject *capsule_of(xir_array *array, dl_data_type dtype, bool versioned, uint64_t flags) {
    const xir_type *type = xir_array_type(array);
    size_t size, rank = xir_type_rank(type);
    shared *s = calloc(1, sizeof *s + 2 * rank * sizeof *s->numbers);
    if (!s) return PyErr_NoMemory();
    const void *data = xir_array_data(array, &size);
    dl_tensor tensor = { .device = { DL_CPU, 0 }, .ndim = (int32_t)rank, .dtype = dtype, .shape = s->numbers,
                         .strides = s->numbers + rank };
    memcpy(&tensor.data, &data, sizeof data);
    int64_t step = 1;
    for (size_t i = rank; i-- > 0;) {
        s->numbers[i] = xir_type_dim(type, (int64_t)i, false);
        s->numbers[rank + i] = step;
        step *= s->numbers[i];
    }
    s->array = xir_array_retain(array);
    if (versioned) s->as.now = (dl_versioned){ { 1, 0 }, s, delete_now, flags, tensor };
    else s->as.old = (dl_managed){ tensor, s, delete_old };
    PyObject *made = PyCapsule_New(s, versioned ? "dltensor_versioned" : "dltensor", drop_capsule);
    if (!made) free_shared(s);
    return made;
}

static bool is_aligned(const xir_array *array, dl_data_type dtype) {
    size_t size;
    const void *data = xir_array_data(array, &size);
    return !size || (uintptr_t)data % (dtype.bits / 8u) == 0;
}

/* Two integers, or None, which changes nothing. */
static bool pair_in(PyObject *arg, const char *name, int *a, int *b) {
    if (arg == Py_None) return true;
    if (PyTuple_Check(arg)) return PyArg_ParseTuple(arg, "ii", a, b);
    PyErr_Format(PyExc_TypeError, "%s is a tuple of two integers", name);
    return false;
}

/* __dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None). */
PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = { "stream", "max_version", "dl_device", "copy", NULL };
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &version, &device, &copy)) {
        return NULL;
    }
    int major = 0, minor = 0, kind = DL_CPU, id = 0;
    if (!pair_in(version, "max_version", &major, &minor) || !pair_in(device, "dl_device", &kind, &id)) return NULL;
    if (stream != Py_None) return refuse("an array in memory has no stream");
    if (kind != DL_CPU || id) return refuse("the array is in the memory of the host");
    array_object *o = (array_object *)self;
    dl_data_type dtype;
    if (!dtype_of(xir_type_element(xir_array_type(o->array)), &dtype)) {
        return refuse("DLPack does not have elements of this type: use raw or numpy");
    }
    bool copied = copy == Py_True || !is_aligned(o->array, dtype);
    if (copied && copy == Py_False) return refuse("the bytes are not aligned: they must be copied");
    if (!copied && !o->writable && major < 1) {
        return refuse("the array is read-only: the consumer must support version 1 of DLPack, or ask for a copy");
    }
    if (!copied) return capsule_of(o->array, dtype, major >= 1, o->writable ? 0 : DL_READ_ONLY);
    size_t size;
    const void *data = xir_array_data(o->array, &size);
    xir_diags *why = why_new();
    xir_array *made = why ? xir_array_copy(the_context, xir_array_type(o->array), data, size, why) : NULL;
    if (!why) return NULL;
    if (!made) return raise_diags(XIR_OK, why);
    xir_diags_free(why);
    PyObject *capsule = capsule_of(made, dtype, major >= 1, DL_IS_COPIED);
    xir_array_free(made);
    return capsule;
}

PyObject *array_dlpack_device(PyObject *self, PyObject *none) {
    return (void)self, (void)none, Py_BuildValue("(ii)", DL_CPU, 0);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* What the files of the extension share. Every wrapper is a small object with a pointer into a network. It holds the
 * network's wrapper, so that the pointer stays valid: records of a network keep their addresses until the network is
 * freed. A function that starts from a wrapper asks net_read or net_write, op_read, value_read and the like for the
 * pointer; they raise StaleError or BusyError and return NULL if it may not be used.
 *
 * The module is for one interpreter: its state is static. */
#ifndef XIRPY_H
#define XIRPY_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdlib.h>
#include <xir/xir.h>

/* ---- objects ------------------------------------------------------------------------------------------------- */

/* A network. A thread that works on it without the GIL is its writer, or one of its readers. */
typedef struct net_object {
    PyObject_HEAD
    xir_network  *net;       /* NULL: it no longer exists                                             */
    unsigned long writer;    /* the thread that changes it; meaningful while `writing` is not 0        */
    size_t        writing;   /* how often that thread has begun to                                     */
    size_t        readers;   /* calls that read it without the GIL                                     */
    uint64_t      born;      /* how many networks there were before it                                 */
    bool          owned;     /* freed with the wrapper; false: it belongs to a call that is in progress */
    PyObject     *scope;     /* a str that is put before the names of new ops, or NULL                  */
    xir_op       *before;    /* the op that new ops are put before, or NULL: the end                    */
    const xir_target *target;    /* of new ops, or NULL: the host                                      */
} net_object;

typedef struct op_object {
    PyObject_HEAD
    net_object *owner;
    xir_op     *op;
} op_object;

/* A value. Outputs move in memory when an op gets more of them, so that an output is an op and a position. */
typedef struct value_object {
    PyObject_HEAD
    net_object *owner;
    xir_op     *op;        /* NULL: `value` is Params, or no op makes it */
    size_t      index;
    xir_value  *value;
} value_object;

typedef struct class_object {
    PyObject_HEAD
    const xir_class *cls;
} class_object;

/* A type or another immutable object of the context or of a network. */
typedef struct type_object {
    PyObject_HEAD
    net_object       *owner;    /* NULL: it belongs to the context */
    const xir_object *object;
} type_object;

typedef struct array_object {
    PyObject_HEAD
    xir_array *array;
    bool       writable;
    bool       plain;       /* as a buffer it is its bytes, whatever its elements are */
} array_object;

extern PyTypeObject *Network_type, *Op_type, *Value_type, *Class_type, *Type_type, *Array_type, *Function_type;
extern xir_context  *the_context;

/* Each creates one type and adds it to the module; false with an exception. */
bool network_init(PyObject *module);
bool op_init(PyObject *module);
bool value_init(PyObject *module);
bool class_init(PyObject *module);
bool type_init(PyObject *module);
bool array_init(PyObject *module);
bool function_init(PyObject *module);
bool pattern_init(PyObject *module);
bool errors_init(void);
PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name);

/* The functions of the module, each list ended by a row of NULLs. */
extern PyMethodDef work_functions[], type_functions[], memory_functions[], calibrate_functions[];

/* ---- wrappers: new references; NULL with an exception --------------------------------------------------------- */

PyObject *net_wrap(xir_network *net, bool owned);      /* frees an owned one if it fails      */
PyObject *op_wrap(net_object *owner, xir_op *op);      /* None for NULL, and so do those below */
PyObject *value_wrap(net_object *owner, xir_value *value);
PyObject *class_wrap(const xir_class *cls);
PyObject *type_wrap(net_object *owner, const xir_object *object);
PyObject *type_copy(const xir_object *object);         /* of the context, whatever the object is of   */
PyObject *array_wrap(xir_array *array, bool writable); /* takes the reference                  */

PyObject *mtype_out(const xir_mtype *mtype);           /* a text, "@hostm" for NULL            */
const xir_mtype *mtype_in(PyObject *arg);              /* of such a text                       */

/* ---- access -------------------------------------------------------------------------------------------------- */

xir_network *net_read(net_object *o);
xir_network *net_write(net_object *o);
xir_op      *op_read(op_object *o);
xir_op      *op_write(op_object *o);
xir_value   *value_read(value_object *o);
xir_value   *value_write(value_object *o);

/* Runs statements without the GIL. They keep what they make in local variables, so that exceptions are raised after
 * them. */
#define WITHOUT_GIL(...) do {                           \
        PyThreadState *state_ = PyEval_SaveThread();    \
        __VA_ARGS__;                                    \
        PyEval_RestoreThread(state_);                   \
    } while (0)

/* Marks the network as changed, or read, by this thread, which may then release the GIL. False with an exception. */
bool net_begin_write(net_object *o);
void net_end_write(net_object *o);
bool net_begin_read(net_object *o);
void net_end_read(net_object *o);

/* A function of a class of operations that runs in this thread, inside of the library. Networks that existed before are
 * in any state: it may not change them, and only read those that no call changes; if it is `strict`, not even those. */
typedef struct calling {
    unsigned long   thread;
    uint64_t        born;
    bool            strict;
    struct calling *next;
} calling;
void calling_begin(calling *c, bool strict);
void calling_end(calling *c);

/* Converters of arguments: the value of a Value, or of an Op with one output. False with an exception, also if it is of
 * another network than `owner`, unless that is NULL. None gives NULL if `absent` is true. */
bool value_of(PyObject *arg, net_object *owner, bool absent, xir_value **out);
/* Makes Params of numbers: a buffer, or a bool, an int or a float. `layout` may be NULL. */
xir_value *params_of(net_object *owner, PyObject *arg, const char *name, const char *layout);

PyObject *params_set_bytes(PyObject *module, PyObject *args);

/* Methods of arrays. */
PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *array_dlpack_device(PyObject *self, PyObject *none);
PyObject *array_permute(PyObject *self, PyObject *order);
PyObject *array_pad(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *array_tile(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *array_untile(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *array_cast(PyObject *self, PyObject *element);

/* A network that a call of this thread works on, for the code of Python that the call runs. */
typedef struct working {
    net_object     *owner;
    PyObject       *cause;     /* what that code has raised; release it */
    unsigned long   thread;
    struct working *next;
} working;
void     working_begin(working *w, net_object *owner);
void     working_end(working *w);
working *working_find(const xir_network *net);      /* the innermost one; NULL: none */
void     working_keep(working *w);                  /* takes the exception that is raised as its cause */
void    *working_raise(working *w);                 /* raises its cause again                          */
PyObject *register_class(PyObject *module, PyObject *args);
PyObject *register_pass(PyObject *module, PyObject *args);
/* A watch from a tuple of two functions or None, which it borrows. False with an exception. */
bool watch_in(PyObject *pair, xir_pass_watch *out);
PyObject *pipeline_run(PyObject *module, PyObject *args);
PyObject *pipeline_default(PyObject *module, PyObject *none);

/* ---- errors: each returns NULL, so that a caller can return it ------------------------------------------------- */

/* Raises what is in `why`; `status` decides the class, XIR_OK takes that of the first error. Frees `why`. */
void *raise_diags(xir_status status, xir_diags *why);
/* Raises what a failed call left in a network, and removes it there. */
void *raise_net(xir_network *net, xir_status status);
void *raise_status(xir_status status, const char *format, ...) XIR_PRINTF(2, 3);
void *raise_busy(void);
/* Sends the warnings of `why` to Python's module `warnings`. False with an exception. Frees `why`. */
bool  warn_diags(xir_diags *why);
/* The same with notes. */
bool  warn_diags_and_notes(xir_diags *why);
/* Writes "ValueError: what it says" for an exception. No exception is raised afterwards. */
const char *exception_text(PyObject *value, char *out, size_t size);
/* A list of findings as xir.Finding. */
PyObject *findings_of(const xir_diags *why);
/* A new list of findings; NULL with an exception. */
xir_diags *why_new(void);

/* ---- conversions ----------------------------------------------------------------------------------------------- */

/* Memory, and Python's objects, that live until scratch_free. */
typedef struct scratch { void *last; } scratch;
void *scratch_take(scratch *s, size_t n, size_t size);   /* NULL with MemoryError                             */
bool  scratch_keep(scratch *s, PyObject *object);        /* takes the reference; false with an exception, or for NULL */
void  scratch_free(scratch *s);

PyObject *text_out(xir_str text);
bool      text_in(PyObject *arg, xir_str *out);          /* borrows from `arg` */
/* A text that may not hold a zero byte. */
const char *word_in(PyObject *arg);

PyObject *any_out(net_object *owner, const xir_any *any);
PyObject *map_out(net_object *owner, const xir_map *map);
bool      any_in(net_object *owner, PyObject *arg, xir_any *out, scratch *s);

PyObject *attr_out(net_object *owner, const xir_attr *attr, const xir_field *field);
bool      attr_in(net_object *owner, PyObject *arg, const xir_field *field, xir_attr *out, scratch *s);

/* The object of a Type, for a network, or for the context if that is NULL. One of another network, which may be freed
 * earlier, is made again in the context: expressions for dims become unknown ones. NULL with an exception. */
const xir_object *object_for(net_object *owner, PyObject *type);
/* The same for a type, which may be given as a text. `*hold` keeps it; release it afterwards. */
const xir_type *type_in(net_object *owner, PyObject *arg, PyObject **hold);

/* Returns the class of a key, an old key or a key without "icraft::xir::"; NULL, without an exception, if there is
 * none. */
const xir_class *find_class(xir_str key);

/* The attributes and ports of a class by name: a dict from str to int, for attributes that op.NAME finds. Attributes
 * have their number, input i has -1 - i. Borrowed; NULL with an exception. */
PyObject *class_names(const xir_class *cls);

#endif

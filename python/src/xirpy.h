/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declarations for the files of the extension. Every wrapper is a small object with a pointer into a network. It holds
 * the network's wrapper, so that the pointer stays valid: records of a network keep their addresses until the network
 * is freed. A function that starts from a wrapper asks net_read or net_write, op_read, value_read and the like for the
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

/* The identity of a record of a network: its first address, and how often the network had been put back before. It
 * stays when a transaction puts the network back, so that objects of Python keep their hashes. */
typedef struct identity {
    const void *place;
    uint64_t    birth;
} identity;

typedef enum tracked_kind { TRACKED_OP, TRACKED_VALUE, TRACKED_OPS, TRACKED_TYPE, TRACKED_KINDS } tracked_kind;

/* A link of the list of all objects that point into a network. */
typedef struct tracked {
    struct tracked *next, **from;
} tracked;

typedef struct identities {     /* an open table by address; see transaction.c */
    struct identity_row *rows;
    size_t               room;
} identities;

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
    uint64_t      edits;     /* grows with every call that may change the network                       */
    PyObject     *kept;      /* what Python keeps for it, such as its converted copy; NULL: nothing     */
    tracked      *objects[TRACKED_KINDS];    /* the objects that point into it, by kind                 */
    uint64_t      births;    /* how often it has been put back                                          */
    identities    known;     /* of records that are older than the last time; empty: it never was       */
    struct retired *retired; /* networks from before, which types still point into                      */
    bool          astray;    /* `before` did not exist when it was put back                             */
} net_object;

typedef struct op_object {
    PyObject_HEAD
    net_object *owner;
    xir_op     *op;        /* NULL: it did not exist when its network was put back */
    identity    id;
    tracked     link;
} op_object;

/* A value. Outputs move in memory when an op gets more of them, so that an output is an op and a position. */
typedef struct value_object {
    PyObject_HEAD
    net_object *owner;
    xir_op     *op;        /* NULL: `value` is Params, or no op makes it */
    size_t      index;
    xir_value  *value;     /* NULL too: it did not exist when its network was put back */
    identity    id;
    tracked     link;
} value_object;

typedef struct class_object {
    PyObject_HEAD
    const xir_class *cls;
} class_object;

/* A type or another immutable object of the context or of a network. */
typedef struct type_object {
    PyObject_HEAD
    net_object        *owner;    /* NULL: it belongs to the context */
    const xir_network *net;      /* that it belongs to, which may be one from before its owner was put back */
    const xir_object  *object;
    tracked            link;
} type_object;

/* The ops that a loop visits: those of its beginning, without those that are erased before it reaches them. */
typedef struct ops_object {
    PyObject_HEAD
    net_object *owner;
    xir_op    **ops;
    size_t      n, at;
    tracked     link;
} ops_object;

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
bool run_init(PyObject *module);
bool errors_init(void);
PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name);

/* The functions of the module, each list ended by a row of NULLs. */
extern PyMethodDef work_functions[], type_functions[], memory_functions[], calibrate_functions[], run_functions[],
                   list_functions[], function_functions[], figure_functions[], region_functions[],
                   recorder_functions[], compare_functions[], mix_functions[];

/* ---- wrappers: new references; NULL with an exception --------------------------------------------------------- */

PyObject *net_wrap(xir_network *net, bool owned);      /* frees an owned one if it fails      */
PyObject *op_wrap(net_object *owner, xir_op *op);      /* None for NULL, and so do those below */
PyObject *value_wrap(net_object *owner, xir_value *value);
PyObject *class_wrap(const xir_class *cls);
PyObject *type_wrap(net_object *owner, const xir_object *object);
PyObject *type_copy(const xir_object *object);         /* of the context, whatever the object is of   */
PyObject *array_wrap(xir_array *array, bool writable); /* takes the reference                  */

/* Add an object to the list of its network, and remove it. */
static inline void track(net_object *owner, tracked_kind kind, tracked *link) {
    *link = (tracked){ owner->objects[kind], &owner->objects[kind] };
    if (link->next) link->next->from = &link->next;
    owner->objects[kind] = link;
}
static inline void untrack(tracked *link) {
    *link->from = link->next;
    if (link->next) link->next->from = link->from;
}
identity identity_find(const net_object *owner, const void *record);
/* The identity of a record, for its objects. */
static inline identity identity_of(const net_object *owner, const void *record) {
    return owner->known.room ? identity_find(owner, record) : (identity){ record, 0 };
}
static inline Py_hash_t identity_hash(identity id) { return (Py_hash_t)((uintptr_t)id.place >> 4); }
/* Frees what transactions have left. */
void transactions_forget(net_object *o);
PyObject *transaction_begin(PyObject *self, PyObject *none);
PyObject *net_rename(PyObject *self, PyObject *args, PyObject *kwargs);
/* The nearest name of an op, or of a value; empty: none is near. */
xir_str near_op(const xir_network *net, xir_str name);
xir_str near_value(const xir_network *net, xir_str name);
PyObject *transaction_undo(PyObject *self, PyObject *capsule);

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

/* Tells a call of the library that Ctrl-C, or an exception of a callback, ends it; a `cancel` member. Signals are seen
 * twenty times a second. `user` is a struct timespec, zero at first. */
bool is_interrupted(void *user);

/* A long call that also tells a function of Python, `call(done, total)`, how far it is; `call` may be NULL or None. The
 * members `cancel` and `progress` of a call's options, whose `user` is a struct watched. */
typedef struct watched {
    struct timespec last;
    PyObject       *call;
    uint64_t        told;      /* the part of the whole that the function knows, from 1 */
    bool            raised;    /* the function has raised an exception                  */
} watched;
bool watched_ends(void *user);
void watched_tell(void *user, uint64_t done, uint64_t total);
#define WATCHED(w) .cancel = watched_ends, .progress = watched_tell, .user = (w)

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
/* Makes Params of numbers: a buffer, or a bool, an int or a float. `layout` may be NULL. The buffer is borrowed; with
 * `copies` only if it cannot be written. */
xir_value *params_of(net_object *owner, PyObject *arg, const char *name, const char *layout, bool copies);

PyObject *params_set_bytes(PyObject *module, PyObject *args);
PyObject *params_set_same(PyObject *self, PyObject *given);

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
/* Raises UnknownError: "the network has no op named 'x'; did you mean 'y'?". An empty `meant`: no name is near. */
void *raise_unknown(const char *sentence, xir_str word, xir_str meant);
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

/* The docstring of a function: its signature, as inspect shows it, and a text. */
#define DOC(signature, text) signature "\n--\n\n" text

/* Bytes that a function of the library writes; free `data` with free. `grow` is an xir_write_fn. */
typedef struct growing { char *data; size_t size, room; } growing;
bool grow(void *user, const void *data, size_t size);

/* Appends an item to a list and takes its reference; false with an exception, or for NULL. */
bool list_add(PyObject *list, PyObject *item);
/* The arrays of a tuple of Array, in memory of the scratch; NULL with an exception. */
const xir_array **arrays_in(PyObject *list, scratch *s);
/* A tuple of Arrays, which takes the references; NULL with an exception. */
PyObject *arrays_out(xir_array **arrays, size_t n);

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
 * have their number, input i has -1 - i, and output i the number of attributes + i. Borrowed; NULL with an
 * exception. */
PyObject *class_names(const xir_class *cls);
/* Makes what op.inputs and op.outputs are of a tuple, whose reference it takes: a tuple that is also found in by the
 * names of ports. NULL with an exception. */
PyObject *ports_wrap(const xir_class *cls, bool outputs, PyObject *tuple);
/* The name of an attribute, a port or an attribute that the op carries that is nearest to a word; empty: none is. */
xir_str near_attribute(const xir_op *op, xir_str word);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Classes describe what an operation, a data type or any other object consists of, as rows that a program can read. An
 * author writes the rows as a .def list (declare.h, define.h). Registering seals them into an xir_class. It answers
 * questions, and every verb (validate, equal, hash, copy, print, encode, decode) works from it. No verb knows anything
 * about a particular class. */
#ifndef XIR_CLASS_H
#define XIR_CLASS_H

#include <xir/any.h>

XIR_BEGIN

typedef struct xir_op     xir_op;
typedef struct xir_infer  xir_infer;  /* see infer.h  */
typedef struct xir_type   xir_type;   /* see type.h   */
typedef struct xir_target xir_target; /* see place.h  */

/* ---- bodies ------------------------------------------------------------------------------------------ */

/* The functions xir_X_init leave this in a body, in its member xir_made_ or in the head of an object. A body without
 * it comes from an initialiser, where a member that is left out is zero instead of its default: it is refused. */
#define XIR_MADE_ UINT32_C(0x1d1e5a77)

/* Every object except an op begins with this head. Objects are immutable and live as long as the context or network
 * that made them. Two equal objects are usually, but not always, the same pointer: compare them with xir_object_equal,
 * which compares the pointers first. The members are for the library; programs use the functions. */
typedef struct xir_object {
    const xir_class *cls;
    const xir_map   *extra;   /* undeclared attributes; NULL: none                              */
    uint32_t         hash;
    uint32_t         absent;  /* bit i: the file did not have row i, see docs/formats.md            */
} xir_object;

/* Lists in bodies. They borrow: making an object or op copies them. */
typedef struct xir_bools  { const bool    *data; size_t size; } xir_bools;
typedef struct xir_i64s   { const int64_t *data; size_t size; } xir_i64s;
typedef struct xir_reals  { const double  *data; size_t size; } xir_reals;
typedef struct xir_texts  { const xir_str *data; size_t size; } xir_texts;
typedef struct xir_refs   { const xir_object *const *data; size_t size; } xir_refs;
typedef struct xir_values { xir_value *const *data; size_t size; } xir_values;
typedef struct xir_ops    { xir_op    *const *data; size_t size; } xir_ops;

/* A run of equal items [previous end, end), for arrays that repeat (scales, ratios). */
typedef struct xir_run {
    int64_t end;
    int64_t m, exp;   /* of exponent scales, otherwise 0 */
    float   value;
} xir_run;
typedef struct xir_runs { const xir_run *data; size_t size; } xir_runs;

/* The kinds of values of rows, with their C types. */
typedef enum xir_kind {
    XIR_KIND_BOOL,    /* bool                                                         */
    XIR_KIND_I64,     /* int64_t                                                      */
    XIR_KIND_U64,     /* uint64_t                                                     */
    XIR_KIND_REAL,    /* double; float32 in newer files                               */
    XIR_KIND_TEXT,    /* xir_str                                                      */
    XIR_KIND_ENUM,    /* a C enum that starts at 0; files have its upper-case word    */
    XIR_KIND_REF,     /* const xir_object *, of the row's class or a subclass         */
    XIR_KIND_PARAMS,  /* xir_value *, a constant tensor                               */
    XIR_KIND_MAP,     /* xir_map                                                      */
    XIR_KIND_BOOLS,   /* xir_bools                                                    */
    XIR_KIND_I64S,    /* xir_i64s                                                     */
    XIR_KIND_REALS,   /* xir_reals                                                    */
    XIR_KIND_TEXTS,   /* xir_texts                                                    */
    XIR_KIND_REFS,    /* xir_refs                                                     */
    XIR_KIND_RUNS,    /* xir_runs                                                     */
    XIR_KIND_PARAMSS, /* xir_values, all constant tensors                             */
    XIR_KIND_OPS,     /* xir_ops, children of the op                                  */
    XIR_KIND_COUNT
} xir_kind;

/* Returns the name of a kind as reflection prints it: "int64", "bool", "list<int64>", "params". Static. */
XIR_API const char *xir_kind_name(xir_kind kind);

/* The names of an enum's values, as files spell them. */
typedef struct xir_enum {
    const char        *name;
    const char *const *names;
    size_t             size;
} xir_enum;

/* ---- what an author declares (made by define.h) ------------------------------------------------------ */

/* The class function that define.h makes: xir_flatten_class, xir_conv2d_class. */
typedef const xir_class_decl *xir_class_fn(void);

/* Returns XIR_OK or fails through xir_infer_fail. A pure function: it depends on `at` only. */
typedef xir_status xir_infer_fn(xir_infer *at);

/* Computes an op's outputs from its inputs, see exec.h. */
typedef struct xir_kernel xir_kernel;
typedef xir_status xir_kernel_fn(xir_kernel *at);

/* Converts between an object of the class and its one-string spelling: the text between "@name" and its end, or the
 * whole "@…" text (see the FORM word in declare.h). For classes that files write as one string. */
typedef struct xir_form xir_form;

typedef enum xir_decl_kind {
    XIR_DECL_END,
    XIR_DECL_OP,      /* the class is of operations                                   */
    XIR_DECL_OBJ,     /* the class is of objects                                      */
    XIR_DECL_FIELD,   /* an attribute                                                */
    XIR_DECL_IN,      /* an input that is required                                   */
    XIR_DECL_OPT,     /* an input that may be absent                                 */
    XIR_DECL_VAR,     /* any number of inputs; only as the last one                  */
    XIR_DECL_OUT,     /* an output                                                   */
    XIR_DECL_OUTS,    /* any number of outputs                                       */
    XIR_DECL_ALIAS,   /* an old key of the class, read but never written             */
    XIR_DECL_WAS,     /* an old name of an attribute, read but never written         */
    XIR_DECL_CHECK,   /* the class's own rule, checked after the rows                */
    XIR_DECL_INFER,   /* type inference for one target                               */
    XIR_DECL_FORM,    /* a one-string spelling                                       */
    XIR_DECL_FORMULA, /* for the reference: what it computes,                        */
    XIR_DECL_GIVES,   /* how the output type follows,                                */
    XIR_DECL_UNLIKE,  /* where it differs from PyTorch or ONNX                       */
    XIR_DECL_LAYOUT,  /* what it does if its inputs come in another order of axes    */
    XIR_DECL_NORMALISED, /* what it computes if maps are in normalised numbers       */
    XIR_DECL_WORK,    /* how much it computes, see work.h                            */
    XIR_DECL_TAKES,   /* which numbers its inputs take, see takes.h                  */
    XIR_DECL_TRAIT,   /* a trait of a program or plug-in                             */
    XIR_DECL_SHARES,  /* whose bytes its outputs may have, see liveness.h             */
    XIR_DECL_COMPOSED, /* the small network that it means: `doc`; `default_value.r` is the tolerance */
    XIR_DECL_NEEDS,   /* which part of an input a part of an output needs, see needed.h */
    XIR_DECL_COUNT
} xir_decl_kind;

enum {
    /* No default: the maker must give a value. What is missing is XIR_E_MISSING: an attribute that a description
     * without a struct does not name (xir_op_desc), one that a draft lacks when it is placed (xir_op_create), and one
     * that a file lacks when the op is validated. A struct always has a value: what xir_X_init leaves is refused where
     * it is null or out of bounds, as references, Params and most numbers are. An empty list, an empty text and a 0
     * within the bounds are values: nobody can see whether they were chosen. */
    XIR_FIELD_REQUIRED = 1,
    XIR_FIELD_OPTIONAL = 2, /* a reference, Params or list of integers that may be null              */
    XIR_FIELD_SINGLE   = 4  /* a list that old files wrote as its only item                          */
};

/* Flags of an INFER row. */
enum {
    XIR_INFER_ALONE = 1,    /* the function itself refuses all that CHECK refuses; CHECK is not run before it        */
    XIR_INFER_TILED = 2     /* for every target that accepts tiled layouts and has no other function in this class   */
};

/* A flag of a NEEDS row. */
enum {
    XIR_NEEDS_WIDE = 1      /* what the function says may be more than the op needs                                  */
};

typedef union xir_number {
    int64_t i;
    double  r;
} xir_number;

typedef struct xir_row {
    xir_decl_kind            decl;
    xir_kind                 kind;
    const char              *name;                     /* INFER: the key of the target; NULL: see `target` */
    const char              *doc;
    uint32_t                 offset;
    uint32_t                 flags;
    xir_number               default_value, min, max;  /* min INT64_MIN or -inf: no bound            */
    const char              *default_text;
    const xir_enum        *(*members)(void);
    const xir_class_decl  *(*of)(void);                /* REF, REFS: the class; NULL: any            */
    xir_infer_fn            *fn;                       /* CHECK, INFER, WORK, TAKES, NEEDS           */
    int                      target;                   /* INFER: an xir_target_kind of the library   */
    const xir_form          *form;                     /* FORM                                       */
} xir_row;

enum {
    XIR_TRAIT_NONE       = 0,
    XIR_TRAIT_ACTIVATION = 1,   /* the original's IsActivate                                      */
    XIR_TRAIT_SOURCE     = 2,   /* may have no inputs, at the head                                */
    XIR_TRAIT_SINK       = 4,   /* may have no outputs, at the end                                */
    XIR_TRAIT_FREE       = 8,   /* may have no inputs anywhere (HardOp)                           */
    XIR_TRAIT_IMPURE     = 16,  /* equal ops must not be merged, and an unused op must be kept    */
    XIR_TRAIT_ABSTRACT   = 32   /* a base class without instances                                 */
};

/* The first row describes the class itself: `name` is its key, `flags` its traits, `default_value.i` its number in
 * FlatBuffers unions, `default_text` the id in its C names, `offset` the size of the body, `min.i` the size of the
 * struct of inputs, `max.i` the offset of XIR_MADE_ in a body (0: bodies are not checked for it), `of` its base.
 * `kind` is unused. */
struct xir_class_decl {
    uint32_t       abi;        /* XIR_ABI                                                         */
    uint32_t       size;       /* sizeof(xir_class_decl), so that it can grow                     */
    uint32_t       row_size;   /* sizeof(xir_row), so that rows can grow                          */
    const xir_row *rows;       /* one XIR_DECL_OP or _OBJ, the other rows, one XIR_DECL_END       */
};

/* ---- asking a class ---------------------------------------------------------------------------------- */

/* An attribute as reflection shows it. Texts live as long as the class. */
typedef struct xir_field {
    xir_str          name;
    xir_str          doc;
    xir_kind         kind;
    uint32_t         flags;
    bool             has_default, has_min, has_max;
    xir_number       default_value, min, max;  /* defaults of BOOL and ENUM are in default_value.i */
    xir_str          default_text;             /* TEXT; REF and REFS as files spell them      */
    const xir_enum  *members;                  /* ENUM                                       */
    const xir_class *of;                       /* REF, REFS; NULL: any                       */
    uint32_t         offset;
} xir_field;

typedef struct xir_port {
    xir_str       name;
    xir_str       doc;
    xir_decl_kind decl;     /* XIR_DECL_IN, _OPT, _VAR, _OUT, _OUTS */
} xir_port;

/* Ask a class. None of these fails. Texts and pointers live as long as the context. */
XIR_API xir_str          xir_class_key(const xir_class *cls);
XIR_API xir_str          xir_class_doc(const xir_class *cls);
/* The id in its C names: "conv2d" in xir_conv2d_class (see declare.h). Empty for a class of an unknown key or if the
 * declaration does not give it. */
XIR_API xir_str          xir_class_id(const xir_class *cls);
XIR_API const xir_class *xir_class_base(const xir_class *cls);
XIR_API uint32_t         xir_class_traits(const xir_class *cls);   /* the library's; see xir_class_has_trait */
XIR_API uint32_t         xir_class_tag(const xir_class *cls);
XIR_API bool             xir_class_is_op(const xir_class *cls);
/* Returns true if the class stands for an unregistered key. All attributes of its objects are undeclared. */
XIR_API bool             xir_class_is_opaque(const xir_class *cls);
/* Returns the class of operations with an unregistered key, for readers of foreign formats. It is made on first use and
 * has any number of inputs and outputs; attributes of its ops are set with xir_op_set_extra. If operations of the key
 * are registered, it returns their class. NULL if memory runs out or the key is empty. */
XIR_API const xir_class *xir_class_opaque(xir_context *ctx, xir_str key);
/* Returns true if `cls` is `base` or derived from it. */
XIR_API bool             xir_class_is_a(const xir_class *cls, const xir_class *base);

/* The position of a registered class in the order of registration: an index for tables of a program, which functor.h
 * makes. It does not change. UINT32_MAX for an opaque class. */
XIR_API uint32_t         xir_class_number(const xir_class *cls);

/* The attributes in declaration order, the inputs, the outputs. NULL past the end. */
XIR_API size_t           xir_class_field_count(const xir_class *cls);
XIR_API const xir_field *xir_class_field_at(const xir_class *cls, size_t i);
XIR_API const xir_field *xir_class_field(const xir_class *cls, xir_str name);
XIR_API size_t           xir_class_input_count(const xir_class *cls);
XIR_API const xir_port  *xir_class_input_at(const xir_class *cls, size_t i);
XIR_API size_t           xir_class_output_count(const xir_class *cls);
XIR_API const xir_port  *xir_class_output_at(const xir_class *cls, size_t i);

/* The texts of the other rows, by their kind: old keys of the class (XIR_DECL_ALIAS), notes (XIR_DECL_FORMULA, _GIVES,
 * _UNLIKE), how it works in other orders of axes (XIR_DECL_LAYOUT: "SAME, AXIS, axis", see declare.h), what it
 * computes from normalised numbers (XIR_DECL_NORMALISED: "PRODUCT, weights, bias, cut_scale"), which inputs its
 * outputs may share bytes with (XIR_DECL_SHARES: "OVER, lhs, rhs"), the network that it means (XIR_DECL_COMPOSED).
 * Empty past the last one. */
XIR_API xir_str          xir_class_note(const xir_class *cls, xir_decl_kind word, size_t i);
/* Returns true if the class means a small network of other ops (COMPOSED in declare.h). *within, unless NULL, gets the
 * relative tolerance that its row names: how far a kernel of its own may be from the network; 0: it names none. */
XIR_API bool             xir_class_is_composed(const xir_class *cls, double *within);
/* Returns true if the class has its own inference function for a target (an xir_target_kind), not only the host's. */
XIR_API bool             xir_class_infers_on(const xir_class *cls, int target);

/* Prints the type of an attribute as the reference does: "int64", "enum ZEROS|REFLECT", "ref<Layout>?".
 * Writes at most `size` bytes, always terminated, and returns the length of the whole text. */
XIR_API size_t xir_field_type_text(const xir_field *field, char *out, size_t size);

/* Sets the inference function of a class on a target (an xir_target_kind, see xir_target_find), replacing an earlier
 * one. Until this is called, a target that accepts tiled layouts uses the class's rule for them, and any other target
 * uses the host's. XIR_E_UNKNOWN if the class is not registered, XIR_E_BOUNDS if the context has no such target. Other
 * threads may infer at the same time: they use either the old or the new function for each op. */
XIR_API xir_status xir_infer_register(xir_context *ctx, const xir_class_decl *decl, int target,
                                      xir_infer_fn *fn);

/* ---- traits of programs and plug-ins ----------------------------------------------------------------------- */

/* A trait is a property of classes: one bit. The library's are the constants XIR_TRAIT_…, the low half; a context has
 * room for 32 others, which have names. A class has those of its rows (TRAIT in declare.h) and those that it is given
 * later; it does not inherit any from its base. */
typedef uint64_t xir_trait;

/* Returns the trait of this name, "acme::Fusable", and registers it if it is new; so does a TRAIT row. The name is
 * copied. "activation" and so on are the library's. 0 with a finding: XIR_E_INVALID for an empty name, XIR_E_LIMIT if
 * the context has no bit left, XIR_E_MEMORY. */
XIR_API xir_trait  xir_trait_register(xir_context *ctx, xir_str name, xir_diags *why);
/* Returns the name of a trait, or an empty one if the trait has none. It lives as long as the context. */
XIR_API xir_str    xir_trait_name(xir_context *ctx, xir_trait trait);
/* Gives a class a trait that is not the library's. It cannot be taken away. XIR_E_UNKNOWN if the class is not
 * registered, XIR_E_INVALID if the trait is not one of the context's. Other threads may ask at the same time. */
XIR_API xir_status xir_class_add_trait(xir_context *ctx, const xir_class_decl *decl, xir_trait trait);
/* Returns true if the class has the trait; of several bits, if it has all. Takes constant time and no lock. */
XIR_API bool       xir_class_has_trait(const xir_class *cls, xir_trait trait);
/* The name of the class's i-th trait, the library's first; empty past the last one. */
XIR_API xir_str    xir_class_trait_at(const xir_class *cls, size_t i);

/* ---- objects ----------------------------------------------------------------------------------------- */

/* The value of an attribute outside its body, as get and set by name use it. It borrows. */
typedef struct xir_attr {
    xir_kind kind;
    bool     is_null;   /* an optional attribute that is absent; set refuses it for others, XIR_E_TYPE */
    union {
        bool              boolean;
        int64_t           i64;
        uint64_t          u64;
        double            real;
        xir_str           text;
        int               enumerator;
        const xir_object *ref;
        xir_value        *params;
        xir_map           map;
        xir_bools         bools;
        xir_i64s          i64s;
        xir_reals         reals;
        xir_texts         texts;
        xir_refs          refs;
        xir_runs          runs;
        xir_values        values;
        xir_ops           ops;
    } as;
} xir_attr;

/* Returns true if two objects are equal in class, attributes and undeclared attributes. NULL equals only NULL. */
XIR_API bool xir_object_equal(const xir_object *a, const xir_object *b);

/* Returns a hash that is equal for equal objects. Stable within a run of the program. */
XIR_API uint32_t xir_object_hash(const xir_object *object);

/* Returns the class of an object. */
XIR_API const xir_class *xir_object_class(const xir_object *object);

/* Returns the object if it is of that class or a subclass, otherwise NULL. NULL gives NULL. */
XIR_API const xir_object *xir_object_body(const xir_object *object, const xir_class_decl *decl);

/* Reads an attribute by name. XIR_E_UNKNOWN if the class does not declare it. */
XIR_API xir_status xir_object_get(const xir_object *object, xir_str name, xir_attr *out);

/* Makes an object of any class from a body that is laid out as its declaration says; the call fills in the head. The
 * body comes from xir_X_init or xir_body_init, or is a copy of an object's; any other is XIR_E_INVALID. Copies
 * everything that the body points to. Checks bounds, enum members, required references and the class's rule first.
 * The result belongs to the context. */
XIR_API const xir_object *xir_object_make(xir_context *ctx, const xir_class_decl *decl, const void *body,
                                          xir_diags *why);

/* Fills a body with the defaults of its class. */
XIR_API void xir_body_init(const xir_class_decl *decl, void *body);

XIR_END

#endif

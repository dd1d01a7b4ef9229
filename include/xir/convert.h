/* Conversion of dialects: what an op of a foreign format is in XIR. A dialect says how a format's ops are called,
 * counted and versioned; its rows say op by op and attribute by attribute what becomes of them; where a row cannot,
 * its hook makes the ops. The pass "to-xir" converts the ops of every dialect that is registered, and
 * xir_dialect_check checks them without changing the network. Plug-ins and programs add rows for foreign ops that
 * have no row, and whole dialects. */
#ifndef XIR_CONVERT_H
#define XIR_CONVERT_H

#include <xir/sugar.h>

XIR_BEGIN

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* A foreign op while it is converted: what its hook asks, and where it puts what it makes. */
typedef struct xir_node xir_node;

/* Makes ops that compute the same, and gives the node's outputs. False after a failure, which has been said
 * (xir_node_unsupported or xir_node_invalid, by the hook or by a call of it): everything that it made is then taken
 * back and the node stays. */
typedef bool xir_convert_fn(xir_node *at);

/* Constant, and there as long as the context. */
typedef struct xir_convert_row {
    uint32_t        abi, size;    /* XIR_ABI, sizeof(xir_convert_row): grows at its end             */
    const char     *name;         /* the foreign class key: "onnx::Elu", "onnx::com.example.Swish"  */
    const char     *inputs;       /* how many: "1", "1-3", "1-" (any number from 1 on); and what they are called, for formats
                                     that name them or keep weights as attributes: "2-3 input weight bias" (see below)  */
    const char     *outputs;
    /* All attributes that the foreign op may have, with what they hold: "alpha:f axis:i! mode:s<11 pad:Is *:t". The
     * name * stands for any other. One letter, or several for one of several kinds (the kinds of xir_any):
     *
     *   n  none     i  integer   s  text                            o  object (a map)                g  a graph in a map
     *   b  bool     f  real      t  tensor: Params, or a map that   a  anything                      y  a type in a map
     *                               stands for them (sparse)
     *
     * and capitals are lists of them, A any list. A real may be Params of one element, since JSON has no inf and
     * nan; a list of reals may be Params of one dim; a text that is not UTF-8 is Params. "!": must be there. "<11":
     * until version 10; ">=11": from 11. */
    const char     *attributes;
    /* Without a hook: one op of this class with the same inputs and outputs. With one: the classes that it makes, for
     * people. */
    const char     *cls;
    /* Our attributes: "alpha=alpha:0.01 axis=axis beta=0.5": ours = theirs, with its default; or ours and a number.
     * NULL: none. */
    const char     *sets;
    xir_convert_fn *hook;
} xir_convert_row;

/* Inputs by name. Where a row names its inputs, a hook knows them by their positions in the row, however the file
 * has them: an input that the file names (the tag "source.inputs" of the op, a list of texts and nulls by position)
 * is at the position of its name, others take the positions that are left, in order; and where there is no input, a
 * tensor among the attributes of that name is the input. So one hook serves a convolution whose weight is an input
 * and one whose weight is an attribute. */

#define XIR_CONVERT_HEAD .abi = XIR_ABI, .size = sizeof(xir_convert_row)

/* Adds rows, all or none; the next row stands `rows->size` bytes after each. XIR_E_EXISTS if an op has a row
 * already, XIR_E_INVALID if one contradicts itself (no name, a text that is not of the form above), XIR_E_ABI if one
 * is of another binary interface or another size than the first, XIR_E_UNSUPPORTED if one has members set that only
 * a newer library has. Not while other threads convert with this context. */
XIR_API xir_status xir_convert_register(xir_context *ctx, const xir_convert_row *rows, size_t n, xir_diags *why);
/* The row of a foreign class key, in constant time; by position, the built-in ones first. NULL: there is none. */
XIR_API const xir_convert_row *xir_convert_find(xir_context *ctx, xir_str name);
XIR_API const xir_convert_row *xir_convert_at(xir_context *ctx, size_t i);

/* ---- dialects --------------------------------------------------------------------------------------------------- */

/* What the ops of a foreign format have in common. A network of the format has them between an Input and an Output
 * op of XIR: their class keys are the prefix and the format's own name of the op type, "onnx::Conv", and their
 * attributes stand in their extra map (xir_op_extra). Constant, and there as long as the context. Grows at its end;
 * NULL is as said. */
typedef struct xir_dialect_decl {
    uint32_t               abi, size;   /* XIR_ABI, sizeof(xir_dialect_decl)                                          */
    /* "onnx::": lower case letters, digits and _, then "::"; not of XIR's classes */
    const char            *prefix;
    const char            *name;        /* for people: "ONNX"                                                         */
    const char            *pass;        /* another name of the pass to-xir: "onnx-to-xir"; NULL: it has none          */
    const xir_convert_row *rows;        /* each rows->size bytes after the one before                                 */
    size_t                 n_rows;
    /* Words and places of findings: "/graph/node/17/input/1: Conv 'c' (node 17): ...". */
    const char            *node;        /* what the format calls an op: "node"; NULL: "op"                            */
    const char            *nodes;       /* the place of an op, up to its number: "/graph/node/"; NULL: "/ops/"        */
    const char            *results;     /* the place of a result of the network: "/graph/output/"; NULL: "/outputs/"  */
    const char            *sources;     /* what values come from but from ops: "graph input or initializer"; NULL:
                                           "input or constant"                                                        */
    const char            *operators;   /* what versions are of, and what unknown ops are not in: "operator set";
                                           NULL: "set of operations"                                                  */
    /* The number of an op in its file, for words and places. NULL: its id less one, since the Input op has the id 0. */
    int64_t              (*number)(const xir_op *op);
    /* Splits what follows the prefix, "com.example.Swish", into a domain and a type. An op of an empty domain is of the
     * format's own set: one without a row is an error when it is checked. NULL: all of it is the type. */
    void                 (*split)(xir_str key, xir_str *domain, xir_str *type);
    /* The version of a domain's set of ops that the network is written in, for xir_node_version and the ranges of
     * attributes. NULL: there are no versions; xir_node_version is 0, and rows have no ranges. */
    int64_t              (*version)(const xir_network *net, xir_str domain);
    /* Returns true if all that an op does is to make its outputs from its inputs and attributes, the same every
     * time: an unused one may be removed, and two equal ones made one. NULL: no op is known to be so. */
    bool                 (*is_pure)(const xir_op *op);
} xir_dialect_decl;

#define XIR_DIALECT_HEAD(prefix_, name_) \
    .abi = XIR_ABI, .size = sizeof(xir_dialect_decl), .prefix = (prefix_), .name = (name_)

/* Adds a dialect, its rows and its name of the pass to-xir, all or none. XIR_E_EXISTS if the prefix, a row or the
 * name of the pass is taken; XIR_E_INVALID if it or a row contradicts itself; XIR_E_ABI and XIR_E_UNSUPPORTED as
 * xir_convert_register. Not while other threads convert with this context, or run pipelines. */
XIR_API xir_status xir_dialect_register(xir_context *ctx, const xir_dialect_decl *dialect, xir_diags *why);
/* The dialect that a class key is of, "onnx::Conv"; in the order of registration. NULL: there is none. */
XIR_API const xir_dialect_decl *xir_dialect_find(xir_context *ctx, xir_str key);
XIR_API const xir_dialect_decl *xir_dialect_at(xir_context *ctx, size_t i);

/* ---- checking --------------------------------------------------------------------------------------------------- */

/* Returns true if ops of a class are a dialect's: nobody registered the class, and its key has a dialect's prefix. The
 * second: if a network has any. */
XIR_API bool xir_class_is_dialect(const xir_class *cls);
XIR_API bool xir_network_is_dialect(const xir_network *net);

/* Checks a dialect network: names and types of attributes, numbers of inputs and outputs, values that nobody makes
 * or several nodes do, cycles, and what the nodes compute: declared types against inferred ones. Adds all findings,
 * each with the node's place as the dialect has it ("/graph/node/17/attribute/pads", "/graph/node/17/input/1"); an
 * op that nobody knows is an error if it is of the format's own set, else a note. A faulty node's outputs count with
 * the types that they are declared to have, so that one fault is one finding. Returns the first error's status.
 * Networks without dialect ops are XIR_OK. */
XIR_API xir_status xir_dialect_check(const xir_network *net, xir_diags *why);

/* ---- for hooks: the node -------------------------------------------------------------------------------------------
 * After a failure all calls do nothing and give NULL, 0 or false: a hook may go straight on and return what the last one
 * returns. */

/* The op of the foreign dialect that is being converted, the network that it is in, and that network's context. */
XIR_API const xir_op *xir_node_op(const xir_node *at);
XIR_API xir_network  *xir_node_network(const xir_node *at);
XIR_API xir_context  *xir_node_context(const xir_node *at);
/* The version of the operator set that the node is of; "Conv" of "onnx::Conv"; whether a call has failed. */
XIR_API int64_t       xir_node_version(const xir_node *at);
XIR_API xir_str       xir_node_type(const xir_node *at);
XIR_API bool          xir_node_failed(const xir_node *at);
/* How many there are; absent ones at the end do not count. */
XIR_API size_t        xir_node_input_count(const xir_node *at);
XIR_API size_t        xir_node_output_count(const xir_node *at);

/* Our ops cannot say what this node says: it stays as it is. */
XIR_API bool xir_node_unsupported(xir_node *at, const char *format, ...) XIR_PRINTF(2, 3);
/* The node is wrong: a finding at `where` ("attribute/pads", "input/1"; NULL: the node). The sentence has what was
 * expected and what was found. */
XIR_API bool xir_node_invalid(xir_node *at, xir_status code, const char *where, const char *format,
                              ...) XIR_PRINTF(4, 5);

/* Integers in memory of the conversion. */
typedef struct xir_ints {
    int64_t *v;
    size_t   n;
} xir_ints;

/* Room for `n` integers that are `fill`; the integers from `first` on. */
XIR_API xir_ints xir_node_make_ints(xir_node *at, size_t n, int64_t fill);
XIR_API xir_ints xir_node_series(xir_node *at, int64_t first, size_t n);

/* The position of an input by the name that the row or the file gives it; SIZE_MAX: there is no such input. */
XIR_API size_t     xir_node_input_named(const xir_node *at, const char *name);
/* Inputs: whether one is there; one that must be there; one that may be absent (NULL). What has no tensor type lets the
 * node stay. */
XIR_API bool       xir_node_has(const xir_node *at, size_t i);
XIR_API xir_value *xir_node_input(xir_node *at, size_t i);
XIR_API xir_value *xir_node_optional_input(xir_node *at, size_t i);
/* The elements of a constant as integers (reals are cut) or reals; without them the node stays. `_knows` only asks. */
XIR_API bool       xir_node_is_constant(xir_node *at, size_t i);
XIR_API bool       xir_node_ints(xir_node *at, size_t i, xir_ints *out);
XIR_API bool       xir_node_reals(xir_node *at, size_t i, const double **out, size_t *n);
/* The input, which must be Params. */
XIR_API xir_value *xir_node_params(xir_node *at, size_t i);

/* Attributes, or what they are if they are not there, or none. A bool is the integer 0 or 1, an integer a real;
 * Params of one element are a number. */
XIR_API const xir_any *xir_node_attr(const xir_node *at, const char *name);
XIR_API int64_t        xir_node_int(const xir_node *at, const char *name, int64_t otherwise);
XIR_API double         xir_node_real(const xir_node *at, const char *name, double otherwise);
XIR_API bool           xir_node_bool(const xir_node *at, const char *name, bool otherwise);
XIR_API xir_str        xir_node_text(const xir_node *at, const char *name, const char *otherwise);
XIR_API bool           xir_node_is(const xir_node *at, const char *name, const char *text);
/* A list of integers; false if it is not there. The second: of an attribute, or of an input in later versions. The
 * third: of reals, or integers. */
XIR_API bool           xir_node_items(xir_node *at, const char *name, xir_ints *out);
XIR_API bool           xir_node_list(xir_node *at, const char *name, size_t input, xir_ints *out);
XIR_API bool           xir_node_real_items(xir_node *at, const char *name, const double **out, size_t *n);
/* Params among the attributes, as a value. NULL if there are none, or after a failure: what is there but is not a
 * tensor of numbers lets the node stay. */
XIR_API xir_value     *xir_node_attr_params(xir_node *at, const char *name);
/* A text that must be one of several, "A|B"; false after a finding. `otherwise`: what it is if it is not there. */
XIR_API bool           xir_node_one_of(xir_node *at, const char *name, const char *otherwise, const char *words);
/* A number, of an attribute or of an input. False after a failure: the input is no constant. */
XIR_API bool           xir_node_number(xir_node *at, const char *name, size_t input, double otherwise, double *out);
/* An axis that counts from the start, from one that may count from the end. `where` is for the finding. */
XIR_API bool           xir_node_axis(xir_node *at, const char *where, int64_t axis, size_t rank, int64_t *out);

/* ---- for hooks: questions about values -------------------------------------------------------------------------- */

/* The dims of a value, in memory of the conversion; negative ones are not known. No dims of NULL. */
XIR_API xir_ints xir_node_dims(xir_node *at, const xir_value *v);
/* Returns true if dims [from, to) are known; `to` may be past the end. Otherwise the node stays: what a foreign
 * format leaves to the time of running may be an attribute in XIR. */
XIR_API bool     xir_node_need_dims(xir_node *at, const xir_value *v, size_t from, size_t to);
/* Inputs i and j, as given: a finding at input j unless they have the same element type; unless they broadcast,
 * aligned at their last dims. False after a finding, and for NULL. */
XIR_API bool     xir_node_same_elements(xir_node *at, size_t i, const xir_value *a, size_t j, const xir_value *b);
XIR_API bool     xir_node_broadcasts(xir_node *at, size_t i, const xir_value *a, size_t j, const xir_value *b);

/* ---- for hooks: making ops -------------------------------------------------------------------------------------- */

/* An attribute of ours; what is made of it depends on what the class declares. */
typedef enum xir_set_kind {
    XIR_SET_INT,      /* also a bool, a real, a scalar  */
    XIR_SET_REAL,     /* a real, a scalar               */
    XIR_SET_ENUM,     /* a text, an enum's word         */
    XIR_SET_INTS,     /* a list                         */
    XIR_SET_OBJECT,   /* an object, Params; or a list of one object */
    XIR_SET_ANY       /* as the file has it             */
} xir_set_kind;

typedef struct xir_set {
    const char    *name;
    xir_set_kind   kind;
    int64_t        i;
    double         r;
    xir_str        text;
    const void    *p;
} xir_set;
#define XIR_SETI(name_, v) { .name = (name_), .kind = XIR_SET_INT, .i = (v) }
#define XIR_SETR(name_, v) { .name = (name_), .kind = XIR_SET_REAL, .r = (v) }
#define XIR_SETE(name_, v) { .name = (name_), .kind = XIR_SET_ENUM, .text = (v) }
#define XIR_SETL(name_, v) { .name = (name_), .kind = XIR_SET_INTS, .p = (v) }
#define XIR_SETO(name_, v) { .name = (name_), .kind = XIR_SET_OBJECT, .p = (v) }
typedef struct xir_sets {
    const xir_set *data;
    size_t         n;
} xir_sets;
#define XIR_SETS(...) \
    ((xir_sets){ (const xir_set[]){ __VA_ARGS__ }, sizeof((const xir_set[]){ __VA_ARGS__ }) / sizeof(xir_set) })
#define XIR_NO_SETS   ((xir_sets){ NULL, 0 })

/* Makes an op of the class whose key ends in `cls` ("Conv2d") before the node and gives its first output; absent inputs
 * are NULL. If all inputs are constants of few elements, they are computed and the result is Params. If our class finds
 * that numbers contradict each other, that is the node's fault: a finding; what else it refuses lets the node stay. The
 * second gives the op, for several outputs; nothing is computed then. */
XIR_API xir_value *xir_node_make(xir_node *at, const char *cls, xir_values inputs, xir_sets sets);
XIR_API xir_op    *xir_node_make_op(xir_node *at, const char *cls, xir_values inputs, xir_sets sets);

/* Params of our own: elements that are all one number; integers in one dim, of 64 bits; reals (dims NULL: one dim). */
XIR_API xir_value *xir_node_filled(xir_node *at, const xir_type *element, const xir_ints *dims, double value);
XIR_API xir_value *xir_node_integers(xir_node *at, const xir_ints *v);
XIR_API xir_value *xir_node_constant(xir_node *at, const xir_type *element, const xir_ints *dims,
                                     const double *v, size_t n);
/* The value with its axes in another order: axis i of the result is axis order[i] of the value. Params are permuted at
 * once, each only once for an order, and keep their name. The layout's letters may be NULL: none. */
XIR_API xir_value *xir_node_transposed(xir_node *at, xir_value *v, const int64_t *order, size_t rank,
                                       const char *letters);

/* Operations that foreign ones are often made of, each by xir_node_make; NULL after a failure or for an operand
 * NULL. */

/* A constant of rank 0. */
XIR_API xir_value *xir_node_scalar(xir_node *at, const xir_type *element, double value);
/* alpha * lhs + beta * rhs; lhs * rhs; lhs / rhs; x times a number; an operation of one input without attributes. */
XIR_API xir_value *xir_node_sum(xir_node *at, xir_value *lhs, xir_value *rhs, double alpha, double beta);
XIR_API xir_value *xir_node_product(xir_node *at, xir_value *lhs, xir_value *rhs);
XIR_API xir_value *xir_node_quotient(xir_node *at, xir_value *lhs, xir_value *rhs);
XIR_API xir_value *xir_node_scaled(xir_node *at, xir_value *x, double factor);
XIR_API xir_value *xir_node_unary(xir_node *at, const char *cls, xir_value *x);
/* The same elements in other dims, of which one may be -1: the one that is left; Params keep their bytes. The layout's
 * letters may be NULL: none. The node stays if more dims are not known. */
XIR_API xir_value *xir_node_reshaped(xir_node *at, xir_value *x, const xir_ints *dims, const char *letters);
/* Dims of 1 at some axes of the result; `where` is for the finding about an axis that is out of bounds or appears
 * twice. */
XIR_API xir_value *xir_node_unsqueezed(xir_node *at, xir_value *x, const xir_ints *axes, const char *where);
/* The value in another element type; the value itself if it has it. */
XIR_API xir_value *xir_node_cast(xir_node *at, xir_value *x, const xir_type *element);
/* Feature maps of 3 to 5 dims: from channels after the batch, as most formats have them, to channels after all other
 * dims, as XIR's operations have them; and back. */
XIR_API xir_value *xir_node_channels_last(xir_node *at, xir_value *x);
XIR_API xir_value *xir_node_channels_second(xir_node *at, xir_value *x);
/* A reduction ("Sum", "Mean", "Max") over axes that count from the start or the end; a class that reduces one dim is
 * made for each. Over no axes it is the value. */
XIR_API xir_value *xir_node_reduced(xir_node *at, const char *cls, xir_value *x, const xir_ints *axes, bool keep);

/* Says what output `i` of the node is; the second, that the first output is the first output of such an op. */
XIR_API bool xir_node_result(xir_node *at, size_t i, xir_value *v);
XIR_API bool xir_node_becomes(xir_node *at, const char *cls, xir_values inputs, xir_sets sets);
/* Gives an output of a node that stays a type, if it has none. */
XIR_API void xir_node_type_output(xir_node *at, size_t i, const xir_type *type);

/* Hooks for rows: of an op that only gives its first input (a constant under another name is a constant); of one
 * that no operation of XIR computes, whose outputs stay without types. */
XIR_API bool xir_convert_copy(xir_node *at);
XIR_API bool xir_convert_unsupported(xir_node *at);

XIR_END

#endif

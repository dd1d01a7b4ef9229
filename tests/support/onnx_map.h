/* An ONNX graph as operations of ours, node by node: each node becomes an op, or the few ops that say the same, as a row of
 * onnx_rows.c has it. Types are inferred as the network grows. Beside it the small constant part of the graph (shapes, axes,
 * lengths) is computed, since our ops have as attributes what ONNX has as inputs. */
#ifndef SUPPORT_ONNX_MAP_H
#define SUPPORT_ONNX_MAP_H

#include <xir/xir.h>
#include "support/onnx_wire.h"

enum { MOST_PORTS = 32, MOST_ITEMS = 64, MOST_VALUES = 128, MOST_ROWS = 256 };

/* ---- for who has a graph ------------------------------------------------------------------------------------------- */

typedef enum onnx_fate {
    ONNX_MAPPED,
    ONNX_NO_ROW,      /* an op type has no counterpart                                                       */
    ONNX_NO_FORM,     /* it has one, which cannot say what this node says; or the graph is no chain of ops    */
    ONNX_REFUSED      /* our op was made and refused, or a row does not fit our classes                       */
} onnx_fate;

typedef struct onnx_outcome {
    onnx_fate       fate;
    char            op_type[48];             /* of the last node, which a sentence is about               */
    char            sentence[480];
    size_t          n_outputs;
    xir_value      *values[MOST_PORTS];      /* the outputs of the graph, and their types                 */
    const xir_type *outputs[MOST_PORTS];
    uint64_t        declared[MOST_PORTS];    /* the element types that the graph says they have           */
    uint32_t        by_data[MOST_PORTS];     /* bit i: dim i of the output depends on what is in inputs   */
    uint32_t        by_bounds[MOST_PORTS];   /* bit i: it depends on dims, but not everywhere             */
    size_t          n_nodes, n_ops;
    bool            changed;                 /* some dim of an input is not as recorded                   */
    bool            rows[MOST_ROWS];         /* which were used, by the index of onnx_row_type             */
} onnx_outcome;

/* What is made of the dims of graph inputs that have a bit in `which`: they stay, are not known, or are three times as
 * large. Inputs that are constants with us stay as they are. */
typedef enum onnx_dims { ONNX_AS_RECORDED, ONNX_UNKNOWN, ONNX_TRIPLED } onnx_dims;

/* Builds the graph in an empty network. `inputs` are TensorProtos, one a graph input; `data` NULL is one that is no
 * tensor. */
void onnx_map(xir_network *net, pb_bytes model, const pb_bytes *inputs, size_t n_inputs, onnx_dims how, uint32_t which,
              onnx_outcome *out);

/* The op types that have a row; NULL past the last. */
const char *onnx_row_type(size_t i);

/* The element type of a TensorProto.DataType in our words; NULL for strings, complex numbers and what is unknown. */
const xir_type *onnx_element_type(xir_context *ctx, uint64_t element);

/* ---- for rows: the node at hand ------------------------------------------------------------------------------------ */

typedef struct mapped_value {
    pb_bytes           name;
    xir_value         *value;     /* NULL: no tensor of ours (a string, a sequence)                       */
    bool               constant;  /* `tensor` has its elements, though the value need not be Params       */
    onnx_tensor        tensor;
    const onnx_number *known;     /* elements that have been read or computed; NULL: none                 */
    size_t             n_known;
    uint32_t           by_data, by_bounds;
} mapped_value;

typedef struct onnx_at {
    xir_context  *ctx;
    xir_network  *net;
    onnx_outcome *out;
    onnx_dims     how;
    uint32_t      which;
    int64_t       opset;
    mapped_value  values[MOST_VALUES];
    size_t        n_values;
    onnx_number   pool[2048];
    size_t        n_pool;

    onnx_node     node;
    pb_bytes      in[MOST_PORTS], outs[MOST_PORTS];
    size_t        n_in, n_out;     /* absent ones at the end do not count */
} onnx_at;

typedef bool onnx_hook(onnx_at *at);   /* false after a failure, which has been said */

/* A list of integers, by value. */
typedef struct items {
    size_t  n;
    int64_t v[MOST_ITEMS];
} items;

/* Says that our ops cannot express this node, and why; the second that something else is wrong. Both give false. */
bool map_no_form(onnx_at *at, const char *format, ...) XIR_PRINTF(2, 3);
bool map_refused(onnx_at *at, const char *format, ...) XIR_PRINTF(2, 3);
bool map_failed(const onnx_at *at);

/* Inputs: one that must be there, one that may be absent (NULL). One that is no tensor of ours is a failure. */
bool        map_has_in(const onnx_at *at, size_t i);
xir_value  *map_in(onnx_at *at, size_t i);
xir_value  *map_opt(onnx_at *at, size_t i);
/* The elements, if they are known; the second fails if not. Reals are cut towards zero. */
bool        map_in_known(onnx_at *at, size_t i, const onnx_number **out, size_t *n);
bool        map_in_items(onnx_at *at, size_t i, items *out);
/* The input as Params with its elements: a failure if they are not known. */
xir_value  *map_in_params(onnx_at *at, size_t i);

/* Attributes of the node. */
bool        map_has_attr(const onnx_at *at, const char *name);
int64_t     map_attr_int(const onnx_at *at, const char *name, int64_t otherwise);
double      map_attr_real(const onnx_at *at, const char *name, double otherwise);
bool        map_attr_is(const onnx_at *at, const char *name, const char *text);
bool        map_attr_items(onnx_at *at, const char *name, items *out);      /* false: there is none */
/* A single number that is an attribute or, in later versions, an input: fails if that is not constant. */
bool        map_number(onnx_at *at, size_t input, const char *name, double otherwise, double *out);
/* The list of an attribute, or of an input in later versions. False: neither is there, or a failure. */
bool        map_list(onnx_at *at, const char *name, size_t input, items *out);
/* The text of an attribute in upper case, as our enums have theirs. */
const char *map_upper(char room[48], const onnx_at *at, const char *name, const char *otherwise);

/* Types. */
const xir_type *map_fp32(const onnx_at *at);
const xir_type *map_int64(const onnx_at *at);
size_t          map_rank_of(const xir_value *v);
int64_t         map_dim_of(const xir_value *v, size_t i);                   /* negative: unknown */
items           map_dims_of(const xir_value *v);
const xir_type *map_element_of(const xir_value *v);
bool            map_is_integer(const xir_value *v);
/* Fails unless dims [from, to) are known: what ONNX leaves to the time of running may be an attribute with us. */
bool            map_need_dims(onnx_at *at, const xir_value *v, size_t from, size_t to);
/* An axis counted from the start; fails if there is none. */
bool            map_to_axis(onnx_at *at, int64_t axis, size_t rank, int64_t *out);

/* ---- for rows: making ops ------------------------------------------------------------------------------------------ */

typedef struct ins {
    xir_value *const *data;
    size_t            n;
} ins;
#define INS(...) \
    ((ins){ (xir_value *const[]){ __VA_ARGS__ }, sizeof((xir_value *const[]){ __VA_ARGS__ }) / sizeof(xir_value *) })

/* Attributes to set; the kind of the class's own row decides what is made of the number. */
typedef enum set_as { SET_INT, SET_REAL, SET_WORD, SET_ITEMS, SET_OBJECT, SET_PARAMS } set_as;
typedef struct set {
    const char *name;
    set_as      as;
    int64_t     i;
    double      r;
    const void *p;
} set;
#define INT(name, v)    { (name), SET_INT, (v), 0, NULL }
#define REALN(name, v)  { (name), SET_REAL, 0, (v), NULL }
#define WORD(name, v)   { (name), SET_WORD, 0, 0, (v) }
#define ITEMS(name, v)  { (name), SET_ITEMS, 0, 0, (v) }
#define OBJECT(name, v) { (name), SET_OBJECT, 0, 0, (v) }
#define PARAM(name, v)  { (name), SET_PARAMS, 0, 0, (v) }
typedef struct sets {
    const set *data;
    size_t     n;
} sets;
#define SETS(...) ((sets){ (const set[]){ __VA_ARGS__ }, sizeof((const set[]){ __VA_ARGS__ }) / sizeof(set) })
#define NO_SETS   ((sets){ NULL, 0 })

/* An op of the class whose key ends in `name`; NULL after a failure, of this call or one before. The second gives its first
 * output. */
xir_op    *map_make(onnx_at *at, const char *name, ins inputs, sets attrs);
xir_value *map_make1(onnx_at *at, const char *name, ins inputs, sets attrs);
/* Whether there is a class, and whether it has an attribute, of this name. */
const xir_class *map_class_named(onnx_at *at, const char *name);
const xir_field *map_field_named(onnx_at *at, const char *name, const char *attr);

/* Constants of our own: elements all one number, or these integers. */
xir_value *map_filled(onnx_at *at, const xir_type *element, const items *dims, double value);
xir_value *map_integers(onnx_at *at, const items *v);
xir_value *map_constant(onnx_at *at, const xir_type *element, const items *dims, const onnx_number *numbers);
/* The same tensor under letters, "NCHW". */
xir_value *map_lettered(onnx_at *at, xir_value *v, const char *letters);
/* The same elements in other dims, of which one may be -1. */
xir_value *map_reshaped(onnx_at *at, xir_value *v, const items *dims);
xir_value *map_cast_to(onnx_at *at, xir_value *v, const xir_type *element);

/* Says what output i of the node is. */
bool map_give(onnx_at *at, size_t i, xir_value *v);
/* That the first one is the first output of such an op. */
bool map_gives(onnx_at *at, const char *name, ins inputs, sets attrs);
/* The same of the tensor that a Constant has, whose elements are then known. */
bool map_give_constant(onnx_at *at, size_t i, const onnx_tensor *tensor);
const xir_type *map_output_type(const onnx_at *at, size_t i);   /* NULL: not given */
/* The elements of output i, where they are known: computed as the node says. */
void map_give_known(onnx_at *at, size_t i, const onnx_number *known, size_t n);
/* Dim d of output i depends on elements of inputs; on dims of inputs, but only beyond some bound. */
void map_by_data(onnx_at *at, size_t i, size_t d);
void map_by_bounds(onnx_at *at, size_t i, size_t d);
onnx_number *map_pool_take(onnx_at *at, size_t n);   /* NULL: too many */

/* ---- the table ----------------------------------------------------------------------------------------------------- */

/* An op type of ONNX and what it is with us. Without a hook: one op of the class, inputs and outputs in the same order, and
 * attributes as in "alpha=alpha:0.01 beta=0.5": ours, theirs with its default, or ours and a number. */
typedef struct onnx_row {
    const char *op_type;
    const char *cls;
    const char *attrs;
    onnx_hook  *hook;
} onnx_row;
extern const onnx_row seed_onnx_rows[];
extern const size_t   seed_onnx_row_count;

/* Computes the outputs of a node whose inputs are known, for the op types that shapes are computed with. */
void onnx_fold(onnx_at *at);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A conversion and its nodes, as hooks of any dialect see them. One walk over the network in execution order: each
 * foreign op is a node. Its row or hook makes XIR's ops before it; then the uses of its outputs move to their outputs,
 * and the node is erased. What is known about values is stored in arrays by op slot, so the walk is linear. row.h has
 * the rows, walk.h the walk. */
#ifndef CONVERT_NODE_H
#define CONVERT_NODE_H

#include <xir/convert.h>
#include <xir/ops.h>
#include <xir/pass.h>
#include "elements.h"
#include "graph.h"
#include "hash.h"
#include "items.h"
#include "sized.h"
#include "support/dialect.h"

/* ---- dialects --------------------------------------------------------------------------------------------------- */

/* dialect.c: the parts of keys, and the words and places of findings. Without a dialect (NULL) the defaults are
 * used. */
void        convert_split_key(const xir_dialect_decl *dialect, xir_str key, xir_str *domain, xir_str *type);
/* The last part of a class's key. */
xir_str     convert_short_name(const xir_class *cls);
int64_t     convert_number(const xir_dialect_decl *dialect, const xir_op *op);
const char *convert_node(const xir_dialect_decl *dialect);
const char *convert_nodes(const xir_dialect_decl *dialect);
const char *convert_results(const xir_dialect_decl *dialect);
const char *convert_sources(const xir_dialect_decl *dialect);
const char *convert_operators(const xir_dialect_decl *dialect);
const char *convert_value(const xir_dialect_decl *dialect);
/* A member of a declaration, which may be shorter than this library's; 0 if it has none, or is NULL itself. */
#define DECLARED(d, member) ((d) && (d)->size >= SIZE_TO(xir_dialect_decl, member) ? (d)->member : 0)

/* ---- a conversion ----------------------------------------------------------------------------------------------- */

/* An input of a row: its name, with the @ of an attribute; the letters of its axes. */
typedef struct row_input {
    xir_str name, order;
    bool    is_attribute, optional;
} row_input;

/* The facts about a foreign class. */
typedef struct convert_class {
    const xir_class       *cls;
    const xir_convert_row *row;       /* NULL: none                  */
    const xir_dialect_decl *dialect;  /* NULL: not in a dialect       */
    bool                   foreign;   /* not in the format's own operator set */
    int64_t                version;
    xir_str                type;      /* "Conv"                      */
    int64_t                variant;   /* of the row                  */
    size_t                 least_in, most_in, least_out, most_out;
    const row_input       *slots;     /* the named inputs, by position */
    size_t                 n_slots;
    /* the attributes and sets of the row (rows/row.h) */
    const struct row_attribute *attributes;
    const struct row_set  *sets;
    size_t                 n_attributes, n_sets;
    bool                   needs;     /* some attribute is required */
    int64_t                from, until;   /* versions that have the op */
    bool                   newer;     /* the version is beyond those that rows know */
    bool                   built_in;  /* the dialect is one of the library          */
    const void           **facts;     /* what the dialect has found out about it; NULL at first */
    struct foreign_likes  *likes;     /* the latest ops of it (rows/row.h)                      */
} convert_class;

/* Permuted Params, one list for each source. */
typedef struct permuted {
    xir_value *result;
    uint32_t   next;        /* index + 1; 0: the last */
    uint8_t    rank;
    uint8_t    order[7];
} permuted;

/* A node that is not converted, in the order of the walk. */
typedef struct stayed {
    xir_op     *op;
    uint32_t    cause;      /* the index of the node that it waits for; its own: it is a cause */
    size_t      keeps;      /* of a cause: how many nodes are not converted, with itself        */
    const char *reason;
    bool        gone;       /* it was removed, with a round that could not be finished          */
} stayed;
typedef struct stayed_list {
    stayed       *rows;
    size_t        n, room;
    pointer_table of;       /* nodes, and values without a type that no node makes -> index     */
} stayed_list;

/* The way back, to a dialect (back.c). */
typedef struct back_row {
    const xir_convert_row *row;
    const convert_class   *to;      /* NULL: no op has tried it yet */
    uint32_t               next;    /* of the class: index + 1      */
} back_row;
typedef struct back_turn { xir_value *from, *to; uint32_t rank; uint8_t order[8]; } back_turn;
typedef struct back_state {
    const xir_dialect_decl *to;      /* NULL: the conversion is to XIR                        */
    const xir_pass   *pass;          /* its options                                           */
    pointer_table     rows_of;       /* our class -> index + 1 in rows, of its first candidate */
    back_row         *rows;
    size_t            n_rows, row_room;
    pointer_table     results;       /* values that are results of the network                */
    pointer_table     replaced;      /* outputs of products -> index in `by`                  */
    xir_value       **by;
    size_t            n_by, by_room;
    pointer_table     constant_of;   /* Params -> index in `constants`                        */
    xir_value       **constants;
    size_t            n_constants, constant_room;
    pointer_table     turn_of;       /* permuted values -> index in `turns`                   */
    back_turn        *turns;
    size_t            n_turns, turn_room;
    xir_op           *front;         /* the last op that makes a constant; at first, Input    */
    struct lost      *lost;          /* what the network had before                           */
} back_state;

/* Nodes with bodies, and lists (opened.h). */
typedef struct inlining {
    struct opened_node *open;            /* the innermost; NULL: none                                        */
    struct body_origin *origins;         /* of the ops that were copied, by id                               */
    size_t              n_origins, origin_room;
    struct value_list  *lists;
    size_t              n_lists, list_room;
    pointer_table       list_of;         /* value -> index in `lists`                                        */
    struct kept_list   *kept;            /* ops that make lists, in order                                    */
    size_t              n_kept, kept_room;
    uint64_t            unrolled, inlined;   /* ops so far                                                   */
    bool                back;            /* the walk goes back                                               */
    unsigned            trials;          /* open nodes whose bodies may be given up: nothing is said in them  */
    struct body_function *functions;     /* of the model, once they have been read                           */
    size_t              n_functions;
    text_table          function_of;     /* by the class key and the overload                                */
    bool                has_functions;
    bool                keeps_functions;     /* their nodes become calls (called.h)                          */
    struct called      *calls;               /* in the order in which their nodes are done                   */
    size_t              n_calls, call_room;
    struct called_op   *called_ops;          /* the ops of them                                              */
    size_t              n_called_ops, called_op_room;
    pointer_table       called_op_of;        /* op -> index in `called_ops`                                  */
} inlining;

/* The bytes that a conversion makes (bytes.c). Arenas count their own. */
typedef struct converted_bytes {
    uint64_t most;               /* that it may make                                                     */
    uint64_t begun, more;        /* that the run had made before; of `most`, not taken from the run      */
    uint64_t before;             /* in arenas when it began                                              */
    uint64_t constants;          /* of Params and of texts, also of those that share their bytes         */
    uint64_t bodies;             /* of networks of bodies that are in memory                             */
    uint64_t passed;             /* of what is not in memory any more, as far as it counts               */
    uint64_t replaced;           /* that do not count, since they have taken the places of nodes         */
    uint64_t windows;            /* of constants that say where the cells of windows are                 */
    uint64_t turn, places;       /* in arenas when this round began; of nodes replaced in it             */
    uint64_t soon;               /* up to here in the network's arena, little things need no question         */
    bool     stays;              /* a node of this round is not converted                                */
    bool     said;               /* a check has said that a node takes too many                          */
} converted_bytes;

/* The axes of an order ("NCHW") in values with a layout, both as texts of at most eight letters. */
typedef struct known_axes {
    uint64_t has, wants;        /* wants 0: nothing is known */
    uint8_t  axes[8];
    bool     found, same;       /* same: the axes are in this order */
} known_axes;

/* A type, and the type with its axes in an order. */
typedef struct ordered_type { const xir_type *type; uint64_t letters; const xir_type *made; } ordered_type;

/* A class of XIR that ops are made of; the fields that the sets of the latest op named, by their position. */
typedef struct made_class {
    char             name[40];
    const xir_class *cls;
    const void      *blank;         /* attributes as xir_X_init makes them; NULL: not made yet */
    const xir_field *fields[16];
} made_class;

typedef struct conversion {
    xir_context      *ctx;
    xir_network      *net;
    xir_diags        *why;
    bool              checking, strict;
    budget           *within;        /* for computing constants                               */
    bool              cancelled;
    bool              no_memory;     /* recording a list failed                               */
    bool              cyclic;        /* some ops use results of later ops                     */
    bool              reshaped;      /* options changed dims of inputs                        */
    bool              one_more;      /* the file declares a window more than a pool has: check_types.c */
    bool              arithmetic;    /* quantised numbers are computed by ops on integers and reals */
    size_t            quantised;     /* values of quantised types that hooks have made: quantised.c */
    /* Of a check, if the format checks files itself: the ops, by number, about which it has found errors. `mute`: what
     * is found now, it has found. */
    bool             *faulty;
    size_t            n_faulty;
    bool              mute;
    const char       *prefix;        /* of findings: "to-xir: ", or "" when checking           */
    const xir_dialect_decl *dialect; /* of the first op that has one; NULL: none does         */
    arena             scratch;       /* until the end of the conversion                       */
    arena             brief;         /* until no node is being converted                      */
    converted_bytes   bytes;
    convert_class   **classes;
    size_t            n_classes, class_room;
    pointer_table     class_of;      /* foreign class -> index in `classes`                   */
    text_table        class_named;   /* its key -> the same                                   */
    made_class        made[64];      /* XIR's classes, by a hash of their names               */
    struct { uint64_t letters; const xir_layout *layout; } layouts[16];   /* late ones (transposed.c)      */
    const xir_layout *plain[9];      /* by rank: without letters                              */
    known_axes        axes[16];      /* letters.c                                             */
    ordered_type      ordered[16];   /* row_back.c                                            */
    const convert_class *latest[32]; /* classes.c: by an address of their keys                */
    pointer_table     permuted_of;   /* Params -> index + 1 in `permuted`                      */
    permuted         *permuted;
    size_t            n_permuted, permuted_room;
    item_list       **known;          /* by slot of the op that makes the list                 */
    size_t            known_room;
    size_t            changed, nodes;     /* nodes that the walk has met                      */
    stayed_list       stayed;
    back_state        back;
    inlining          in;
    xir_value       **defaults;      /* Params that are defaults of inputs (defaults.c)       */
    size_t            n_defaults;
    xir_status        status;        /* of the first error                                    */
} conversion;

typedef enum node_fate { NODE_GOES, NODE_STAYS, NODE_WRONG, NODE_NO_MEMORY, NODE_OPENED } node_fate;

/* The input at a position of the row: the op's input `from`, or the attribute of its name. */
#define FROM_ATTRIBUTE UINT32_MAX
typedef struct node_input { xir_value *value; uint32_t from; } node_input;

struct xir_node {
    conversion            *c;
    xir_op                *op;
    const convert_class   *cls;
    size_t                 n_in, n_out;
    node_input            *in;          /* by position of a row that names its inputs; NULL: the op's inputs */
    xir_op                *mark;        /* the op before those made for the node; NULL: they come first */
    xir_value            **given;       /* the replacement of each output                     */
    node_fate              fate;
    char                   reason[300]; /* why it stays                                     */
    const xir_value       *waits_for;   /* the input that keeps it, if one does             */
    /* On the way back: the class of the row that is tried; the op that it has made; `mark` is the last constant; how
     * many nodes this one is a product of. */
    const convert_class   *to;
    xir_op                *main;
    xir_ints               turn;        /* the order of a Transpose                          */
    struct opened_node    *opened;      /* the walk has come back to it                      */
    xir_convert_fn        *function;    /* converts it, in place of its row                  */
    bool                   makes_lists; /* some of its outputs are lists                     */
    xir_str                order;       /* letters of feature maps in its outputs: of input 0 of the row */
    size_t                 asked;       /* of a node that is kept: the output whose type is asked for */
    bool                   at_front;
    unsigned               depth;
};

bool node_no_memory(xir_node *at);
/* Keeps the node without a reason, since another row converts its op. Returns false. */
bool node_declines(xir_node *at);

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

/* bytes.c: all that the conversions of a run make may have max_converted bytes, and 16 times those that the Params and
 * texts of the network have when the first one begins. */
void     converted_begin(conversion *c);
/* Takes what the conversion has made up to here from what comes after it in the same run. */
void     converted_end(conversion *c);
/* The bytes that are left for a constant. */
uint64_t converted_left(const conversion *c);
/* Settles the turns since it was called last, and frees what nodes needed for themselves, unless one is open. */
void     converted_round(conversion *c);
/* Counts a network that is in memory for a node, and one that is freed. */
void     converted_body(conversion *c, const xir_network *body);
void     converted_body_gone(conversion *c, const xir_network *body);
/* Counts the Params that the network has got since `until` was the newest. */
void     converted_params(conversion *c, const xir_value *until);

/* The end of an op's turn. */
static inline void converted_turn(conversion *c) {
    enum { BRIEF = 16 << 10 };
    if (c->bytes.stays || c->brief.taken > BRIEF || c->net->arena.taken >= c->bytes.soon) converted_round(c);
}

/* About the bytes of an op's record. As many bytes that take its place do not count. */
static inline uint64_t converted_place(const xir_op *op) {
    return sizeof *op + sizeof(op_more) + op->room * sizeof(xir_use) +
           op->n_outputs * (sizeof(xir_value) + sizeof(value_more));
}
static inline void converted_replaced(conversion *c, const xir_op *op) { c->bytes.places += converted_place(op); }

/* Returns true if so many bytes are left for the node, or if the node has as many itself. Otherwise it stays. */
bool     node_affords_slow(xir_node *at, uint64_t bytes);
enum { NODE_LITTLE = 1 << 12 };   /* needs no question while the node has made little */
static inline bool node_affords(xir_node *at, uint64_t bytes) {
    const bool little = bytes <= NODE_LITTLE && at->c->net->arena.taken + bytes < at->c->bytes.soon;
    return (little && at->fate == NODE_GOES) || node_affords_slow(at, bytes);
}
/* Returns memory of the node, which lives until no node is being converted; NULL after a failure. */
static inline void *node_take(xir_node *at, size_t size) {
    void *made = size <= NODE_LITTLE || node_affords_slow(at, size) ? arena_take(&at->c->brief, size) : NULL;
    if (!made) (void)node_no_memory(at);
    return made;
}

/* ---- a node ----------------------------------------------------------------------------------------------------- */

/* Returns true if a finding about a node is only counted, or not even that: its sentence need not be made then. */
bool node_is_silent(const xir_node *at, xir_severity severity, xir_status code);
/* Adds a finding about a node, with its place and name. */
xir_status node_say(const xir_node *at, xir_severity severity, xir_status code, const char *where,
                    const char *format, ...)
    XIR_PRINTF(5, 6);
/* Adds a finding about a part of a node that contradicts another one: an error when checking; a conversion goes on,
 * with a warning. */
xir_status node_contradicts(const xir_node *at, xir_status code, const char *where, const char *format, ...)
    XIR_PRINTF(4, 5);
/* The input at a position of the row, or NULL; and its name in findings, "input 1" or "input 1 (weight)". */
xir_value  *node_input_at(const xir_node *at, size_t i);
const char *node_input_words(const xir_node *at, size_t i, char room[80]);
/* Finds the inputs of a row that names them. False: out of memory, or, after a finding, if the file has names that the
 * row does not have. */
bool        node_find_inputs(xir_node *at);
/* attrs.c: the elements of Params whose bytes are present; false otherwise. */
bool        params_elements(const xir_value *v, const xir_type **element, const void **bytes, size_t *n);
/* The number in a file's attribute, or `otherwise`. */
double      node_any_real(const xir_any *any, double otherwise);
/* Reads a word with which texts write a real that is not finite: inf, nan, nan.0, with a sign or without. */
bool        node_real_word(xir_str text, double *out);

/* check_types.c: whether a declared type agrees with the inferred one. A mismatch is a finding. False: no
 * memory. */
bool node_agrees(xir_node *at, size_t output, const xir_type *declared, const xir_type *inferred);

/* known.c: the list of a value, of Params, or of a value that was made before the conversion; false if unknown.
 * conversion_learn computes it for the first output of a new op, and returns whether all items are known; if memory is
 * out, it sets c->no_memory. */
bool              conversion_items(conversion *c, const xir_value *v, item_list *out);
/* The same as integers; items that are not numbers are OPEN_ITEM. False: it is unknown, or memory is out. */
#define OPEN_ITEM INT64_MIN
bool              conversion_ints(conversion *c, const xir_value *v, xir_ints *out);
bool              conversion_learn(conversion *c, const xir_op *op);
void              conversion_forget(conversion *c, const xir_op *op);
/* deciders.c: writes what a value that is not known depends on, for the end of a sentence: "the dims batch and
 * sequence, which can be bound", "the input 'rate', which can be fixed", "data". Returns the text. */
enum { DECIDERS_ROOM = 220 };
const char       *conversion_deciders(conversion *c, const xir_value *v, char *text, size_t room);
/* Makes Params of the list learned for an op; NULL: out of memory. */
xir_value        *conversion_known_params(conversion *c, const xir_op *op);

/* make.c */
/* All inputs of the node, which must be present. Without values after a failure. */
xir_values node_inputs(xir_node *at);
/* Gives the node the outputs of an op, the first as its first. False after a failure; NULL is one. */
bool       node_gives(xir_node *at, xir_op *op);
/* The most elements of constants that are computed at once, and of the results. The pass fold computes larger ones. */
enum { MOST_COMPUTED = 1 << 12 };
/* The Params that an op computes from small constants; NULL if it is not computed. */
xir_value *conversion_computed(xir_node *at, xir_op *op);
/* The values that an op takes, and then those that it gives. */
static inline size_t op_values(const xir_op *op) { return xir_op_input_count(op) + xir_op_output_count(op); }
static inline xir_value *op_value(const xir_op *op, size_t i) {
    const size_t n = xir_op_input_count(op);
    return i < n ? xir_op_input(op, (int64_t)i) : xir_op_output(op, (int64_t)(i - n));
}
/* Returns true if two words are the same in capitals. */
bool same_word(xir_str a, xir_str b);
/* Returns true if an op only moves or casts elements. Such an op does not get the name of its node. */
bool only_moves(const xir_op *op);
/* The dims of a value as its type has them, with expressions; and a type with such dims. NULL: out of memory. */
xir_ints        node_own_dims(xir_node *at, const xir_value *v);
/* As xir_node_dims, of a type. */
xir_ints        node_dims_of(xir_node *at, const xir_type *type);
const xir_type *node_type(xir_node *at, const xir_type *element, const xir_layout *layout, const xir_ints *dims);
/* The same bytes under another name; NULL: out of memory. */
xir_value *params_alias(xir_network *net, const xir_value *params);
/* The same for a node. The bytes count again, since a file may have them twice. NULL after a failure. */
xir_value *node_alias(xir_node *at, const xir_value *v);
/* On the way back, Params that are others in other dims, in another order or with other elements get their name. False:
 * out of memory. */
bool       node_keep_name(xir_node *at, xir_value *made, const xir_value *of);
/* Reports why the network refused an op: its finding number `before`. Inconsistent numbers are errors of the node;
 * elements that XIR's op does not take only mean that the node is not converted. */
void node_report_refusal(xir_node *at, size_t before);
const xir_class *find_class(xir_context *ctx, const char *name);      /* by the last part of its key */

/* ---- the turn of a node ----------------------------------------------------------------------------------------- */

/* begin.c: what both directions do with a node. */
void    node_begin(conversion *c, xir_op *op, const convert_class *cls, xir_node *at);
/* Removes the ops made for a node. */
void    node_discard(xir_node *at);
/* Returns true if a value was made for this node and does not stand for another output yet. */
bool    node_made(const xir_node *at, const xir_value *v);
/* The op before those made for the node. */
xir_op *node_mark(const xir_node *at);

/* transposed.c: the layout of a text, as xir_layout_parse gives it without findings; late ones are remembered. */
const xir_layout *conversion_layout(conversion *c, xir_str letters);
/* letters.c: a value in an order of letters ("NCHW", "OIHW"); NULL if absent or after a failure. */
xir_value *node_in_order(xir_node *at, xir_value *v, xir_str letters);
/* For each letter of an order the axis of v; *same: they are in this order. False: the node is kept. */
bool       node_axes_in(xir_node *at, const xir_value *v, xir_str order, int64_t axes[8], bool *same);
/* Returns true if a Cast of x to the type of y changes elements in their places. Otherwise it also moves them, as the
 * letters say, or pads them: the candidate has not made anything. */
bool       node_casts_in_place(xir_node *at, const xir_value *x, const xir_value *y);
/* Sets axes[k] to the axis of x that becomes axis k of y, which the letters say if each axis of both has its own.
 * Returns false for other ranks. */
bool       node_cast_axes(const xir_value *x, const xir_value *y, int64_t axes[8]);

/* turns.c. Notes that a product's output has been replaced; false: out of memory. */
bool       back_replace(conversion *c, xir_value *old, xir_value *now);
bool       back_is_result(const conversion *c, const xir_value *v);
/* Returns the value that stands in the place of another one now. */
xir_value *back_latest(const conversion *c, xir_value *v);
/* The value that v is when permuted back: axis i of it is axis order[i] of v. NULL: v is not permuted so. */
xir_value *back_unturned(conversion *c, const xir_value *v, const int64_t *order, size_t rank);
/* Notes that `to` is `from` permuted: axis i of it is axis order[i] of `from`. False: out of memory. */
bool       back_add_turn(conversion *c, xir_value *from, xir_value *to, const xir_ints *order);

/* own.c: an attribute of an op of XIR as a file would have it, by its name or its field; NULL if the class has none of
 * this name, or it is absent. Whether all attributes but the marked ones (bits by position) have their defaults;
 * otherwise *other is one. */
const xir_any *own_attr(const xir_node *at, xir_str name);
const xir_any *own_field(const xir_node *at, const xir_field *f);
/* The list of integers that it has; NULL if the class has no such list of this name, or it is absent. */
const xir_i64s *own_ints(const xir_node *at, xir_str name);
bool           own_is_default(const xir_op *op, uint64_t except, xir_str *other);

#endif

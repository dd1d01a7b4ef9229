/* The machinery of conversions, for any dialect. One walk over the network in execution order: each foreign op is a
 * node, whose row or hook makes ops of ours before it; then the uses of its outputs become uses of theirs and it is
 * erased. What is remembered of values lies in arrays by op slot, so that the walk is linear.
 *
 * Judging is the same walk over a copy: what a hook or our inference finds wrong becomes a finding about the node. */
#ifndef PASSES_CONVERT_H
#define PASSES_CONVERT_H

#include <xir/convert.h>
#include <xir/ops.h>
#include <xir/pass.h>
#include "elements.h"
#include "graph.h"
#include "support/dialect.h"

/* ---- dialects --------------------------------------------------------------------------------------------------- */

/* dialect.c: parts of keys, and words and places of findings; of no dialect (NULL) what a dialect has that says
 * nothing. */
void        convert_split_key(const xir_dialect_decl *dialect, xir_str key, xir_str *domain, xir_str *type);
int64_t     convert_number(const xir_dialect_decl *dialect, const xir_op *op);
const char *convert_node(const xir_dialect_decl *dialect);
const char *convert_nodes(const xir_dialect_decl *dialect);
const char *convert_results(const xir_dialect_decl *dialect);
const char *convert_sources(const xir_dialect_decl *dialect);
const char *convert_operators(const xir_dialect_decl *dialect);

/* A row of a table; all rows of one are as long as the first. */
static inline const xir_convert_row *convert_row_at(const xir_convert_row *rows, size_t i) {
    return (const xir_convert_row *)(const void *)((const char *)rows + i * rows->size);
}
/* With a finding: whether a declaration, and a row of a table and a dialect (NULL: of none), may be registered. */
xir_status convert_check_size(const void *decl, size_t known, const char *what, xir_diags *why);
xir_status convert_check_row(const xir_dialect_decl *dialect, const xir_convert_row *first, const xir_convert_row *row,
                             xir_diags *why);

extern const registry_rules dialect_rules;
/* Registers a dialect of the library itself, unchecked: every context does. */
xir_status dialect_register_own(xir_context *ctx, const xir_dialect_decl *dialect);

/* to_xir.c */
extern const xir_pass_decl pass_to_xir;

/* ---- a conversion ----------------------------------------------------------------------------------------------- */

/* Pointers to numbers: open addressing, a power of two. */
typedef struct pointer_map {
    const void **keys;
    uint32_t    *values;
    size_t       room, count;
} pointer_map;

/* What is known of a foreign class. */
typedef struct convert_class {
    const xir_convert_row *row;       /* NULL: none                  */
    const xir_dialect_decl *dialect;  /* NULL: it is no dialect's    */
    bool                   foreign;   /* it is not of the format's own operator set */
    int64_t                version;
    xir_str                type;      /* "Conv"                      */
    size_t                 least_in, most_in, least_out, most_out;
    const xir_str         *names;     /* of inputs, by position      */
    size_t                 n_names;
    bool                   needs;     /* some attribute must be there */
} convert_class;

/* Params that have been permuted, as a list from each source. */
typedef struct permuted {
    xir_value *result;
    uint32_t   next;        /* index + 1, 0: the last */
    uint8_t    rank;
    uint8_t    order[7];
} permuted;

/* A short list of integers that is computed while the network is converted: dims, axes. Some may be unknown. */
typedef struct known_ints {
    size_t            n;
    bool             *open;   /* NULL: none is unknown */
    const xir_value **of;     /* of one that is not known: the value whose dim v[i] it is; NULL: any number */
    int64_t           v[];
} known_ints;

typedef struct conversion {
    xir_context      *ctx;
    xir_network      *net;
    xir_diags        *why;
    bool              judging, strict;
    budget           *within;        /* for constants                                         */
    bool              cancelled;
    bool              no_memory;     /* what was learnt of a value found none                 */
    bool              cyclic;        /* some ops use what later ones make                     */
    bool              reshaped;      /* inputs were given other dims than the file declares   */
    const char       *prefix;        /* of sentences: "to-xir: "; "" for judging              */
    const xir_dialect_decl *dialect; /* of the first op that has one; NULL: none has           */
    arena             scratch;
    convert_class    *classes;
    size_t            n_classes, class_room;
    pointer_map       class_of;      /* foreign class -> index of classes                     */
    struct { char name[40]; const xir_class *cls; } made[64];   /* classes of ours, by a hash of their names */
    pointer_map       permuted_of;   /* Params -> index + 1 of permuted                       */
    permuted         *permuted;
    size_t            n_permuted, permuted_room;
    const known_ints **known;        /* by slot of the op whose first output it is            */
    size_t            known_room;
    size_t            changed, stayed;
    xir_status        status;        /* of the first error                                    */
} conversion;

typedef enum node_fate { NODE_GOES, NODE_STAYS, NODE_WRONG, NODE_NO_MEMORY } node_fate;

/* An input at a position of the row: the op's input `from`, or the attribute of its name. */
#define FROM_ATTRIBUTE UINT32_MAX
typedef struct node_input { xir_value *value; uint32_t from; } node_input;

struct xir_node {
    conversion            *c;
    xir_op                *op;
    convert_class         *cls;
    size_t                 n_in, n_out;
    const node_input      *in;          /* of a row that names its inputs, by its positions; NULL: they are the op's */
    xir_op                *mark;        /* what stands before what is made for the node; NULL: nothing */
    xir_value            **given;       /* by output                                        */
    node_fate              fate;
    char                   reason[300]; /* why it stays                                     */
};

void       conversion_begin(conversion *c, xir_network *net, xir_diags *why);
/* The walk. Errors are in c->why; the first one's status is returned. */
xir_status conversion_run(conversion *c);
void       conversion_end(conversion *c);

/* ---- between the files of this folder --------------------------------------------------------------------------- */

bool     pointer_map_put(const xir_allocator *alloc, pointer_map *m, const void *key, uint32_t value);
uint32_t pointer_map_get(const pointer_map *m, const void *key);   /* UINT32_MAX: not there */
void     pointer_map_free(const xir_allocator *alloc, pointer_map *m);

/* The class of an op; NULL without memory. */
convert_class *conversion_class(conversion *c, const xir_class *cls);

/* Adds a finding about a node, with its place and name. */
xir_status node_say(const xir_node *at, xir_severity severity, xir_status code, const char *where,
                    const char *format, ...)
    XIR_PRINTF(5, 6);
bool node_no_memory(xir_node *at);
/* The input at a position of the row, or NULL; how sentences call it, "input 1" or "input 1 (weight)". */
xir_value  *node_input_at(const xir_node *at, size_t i);
const char *node_input_words(const xir_node *at, size_t i, char room[80]);
/* Finds the inputs of a row that names them. False without memory, or after a finding: the file has names that the
 * row has not. */
bool        node_find_inputs(xir_node *at);
/* A number that a file has, or `otherwise`. */
double      node_any_real(const xir_any *any, double otherwise);

/* row.c: the texts of rows. An attribute of the list: false at its end, or if it is no good (then *text is not at its
 * end). */
typedef struct row_attribute {
    xir_str name;          /* "*": any other                                        */
    xir_str kinds;         /* letters: it is of one of them                         */
    bool    needed;
    int64_t from, until;   /* versions that have it: from <= version < until */
} row_attribute;
bool row_next_attribute(const char **text, row_attribute *out);
/* "1-3": false if it is no good; `most` SIZE_MAX: any number. */
bool row_range(const char *text, size_t *least, size_t *most);
/* The names in "2-3 input weight bias", and the next of them; false at the end, or if it is no good (then *text is
 * not at its end). */
const char *row_input_names(const char *inputs);
bool row_next_input(const char **text, xir_str *name);
typedef struct row_set {
    xir_str ours, theirs;   /* theirs empty: a number */
    bool    has_number;
    double  number;
} row_set;
bool row_next_set(const char **text, row_set *out);
/* Makes the op of a row without a hook. */
bool row_run(xir_node *at);

/* check.c: whether counts and attributes are what the row says; adds findings. */
bool node_is_sound(xir_node *at);
/* Whether a declared type goes with an inferred one; otherwise a finding. */
bool node_agrees(xir_node *at, size_t output, const xir_type *declared, const xir_type *inferred);
/* check.c: values that nobody makes, names that several have; order.c: cycles, and a sorted order if there is one. */
xir_status conversion_judge_values(conversion *c, bool sorted);
xir_status conversion_order(conversion *c, bool *sorted);   /* whether the file was */
/* The row of a dialect whose name is nearest to a key, for an unknown op; NULL: none is near. */
const xir_convert_row *row_like(xir_context *ctx, const xir_dialect_decl *dialect, xir_str key);

/* known.c: the short list that a value is, NULL if it is not known to be one. Computes it for the first output of an op
 * that has been made; true if all of it is known; c->no_memory says that there was none to remember it. */
const known_ints *conversion_known(conversion *c, const xir_value *v);
bool              conversion_learn(conversion *c, const xir_op *op);
void              conversion_forget(conversion *c, const xir_op *op);
/* Params of the list that was learned of an op; NULL without memory. */
xir_value        *conversion_known_params(conversion *c, const xir_op *op);

/* make.c */
/* the same bytes under another name; NULL without memory */
xir_value *params_alias(xir_network *net, const xir_value *params);
const xir_class *find_class(xir_context *ctx, const char *name);      /* by the end of its key */

/* Says which rows may be registered in the context. */
void convert_rules_define(xir_context *ctx);

#endif

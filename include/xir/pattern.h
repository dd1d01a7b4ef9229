/* Patterns: what a part of a network looks like, written as a table, and how it is rewritten. docs/patterns.md is a
 * walk through one.
 *
 * A row of the table stands for a value and says what makes it; a row that others name as their input is the same value
 * for all of them, so the table is a graph. Rows name rows before them; the last row is the root, and the root's
 * inputs, theirs, and so on are the pattern. x * sigmoid(x) is
 *
 *     enum { X, GATE, OUT };
 *     static const xir_pattern_row silu_rows[] = {
 *         [X]    = { XIR_ROW_ANY },
 *         [GATE] = { XIR_ROW_OP(xir_sigmoid_class),  XIR_ROW_INPUTS(X) },
 *         [OUT]  = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(X, GATE), .commutes = true },
 *     };
 *     static const xir_pattern_decl silu = { XIR_PATTERN_HEAD("silu", silu_rows), .closed = true };
 *
 *     static xir_verdict to_silu(xir_rewriter *at, const xir_match *m, void *user) {
 *         xir_op *now = xir_add_silu(xir_match_at(m), (xir_silu_in){ .input = xir_match_value(m, X) }, NULL);
 *         return xir_match_replace(m, xir_op_output(now, 0));
 *     }
 *
 * The macros of rows are C's; C++ fills the same structs member by member. */
#ifndef XIR_PATTERN_H
#define XIR_PATTERN_H

#include <xir/network.h>

XIR_BEGIN

/* ---- what an author writes ------------------------------------------------------------------------------------ */

/* Most rows that a pattern has, and most inputs and alternatives of all its rows together; most of what one row has. */
enum { XIR_PATTERN_ROWS = 64, XIR_PATTERN_EDGES = 192 };
enum { XIR_ROW_MAX_INPUTS = 16, XIR_ROW_MAX_CLASSES = 12, XIR_ROW_MAX_ATTRS = 4 };

typedef enum xir_pattern_kind {
    XIR_PATTERN_NONE,    /* a row that was forgotten: refused                                     */
    XIR_PATTERN_ANY,     /* any value: an op's output, Params, or what nothing makes              */
    XIR_PATTERN_PARAMS,  /* Params                                                                */
    XIR_PATTERN_NUMBER,  /* Params of one element that is `number`                                */
    XIR_PATTERN_OP,      /* output `output` of an op of one of the classes                        */
    XIR_PATTERN_OUTPUT,  /* output `output` of the op of another row, inputs[0]                   */
    XIR_PATTERN_EITHER,  /* what one of the rows of `inputs` stands for; the first that fits      */
    XIR_PATTERN_REST     /* as the last input only: all inputs from there on, or none            */
} xir_pattern_kind;

/* How an attribute is tested. */
typedef enum xir_pattern_test {
    XIR_TEST_PRESENT,    /* the op declares or carries it, and it is not null                     */
    XIR_TEST_BOOL,       /* it is `i64` != 0                                                      */
    XIR_TEST_I64,        /* it is `i64`                                                           */
    XIR_TEST_REAL,       /* it is `real`, up to a relative 1e-6                                   */
    XIR_TEST_TEXT,       /* it is `text`, or the word of an enum                                  */
    XIR_TEST_WHERE       /* `where` says so                                                       */
} xir_pattern_test;

/* An attribute by name (NULL: none): declared, or carried undeclared by an op of a dialect. Undeclared lists can
 * only be asked for by presence here, and otherwise by the row's `where`. */
typedef struct xir_pattern_attr {
    const char      *name;
    xir_pattern_test test;
    int64_t          i64;
    double           real;
    const char      *text;
    bool           (*where)(const xir_attr *attr, void *user);
} xir_pattern_attr;

/* What define.h makes of a class: xir_conv2d_class. */
typedef const xir_class_decl *xir_pattern_class(void);

/* A row. What is zero is not asked for. */
typedef struct xir_pattern_row {
    xir_pattern_kind   kind;
    /* OP. Classes by declaration, NULL behind the last, and by key ("onnx::Relu|onnx::Clip"); neither: an op of any
     * class. */
    xir_pattern_class *classes[XIR_ROW_MAX_CLASSES];
    const char        *keys;
    uint32_t           traits;         /* XIR_TRAIT_…: those that the class must have         */
    uint32_t           targets;        /* bits: 1u << XIR_TARGET_HOST                         */
    xir_pattern_attr   attrs[XIR_ROW_MAX_ATTRS];
    bool             (*where)(const xir_op *op, void *user);
    /* OP: the rows of its inputs by position; none: whatever they are. Positions that the op has beyond them must be
     * absent inputs, those that it lacks are absent. OUTPUT: the row of the op. EITHER: the alternatives. */
    uint8_t            inputs[XIR_ROW_MAX_INPUTS];
    size_t             n_inputs;
    bool               commutes;       /* the first two inputs may lie the other way round    */
    uint8_t            output;         /* of OP and OUTPUT                                    */
    /* OP: if it does not fit, the row stands for what its first input does: the op is not there. ANY, PARAMS,
     * NUMBER: the input may be absent. Not of the root. */
    bool               optional;
    /* Of the value. */
    size_t             uses;           /* exactly so many uses; 0: any number                 */
    const char        *element;        /* type of its elements as files spell it, "@fp(32)"   */
    double             number;         /* of NUMBER, up to a relative `within` (of 0: absolute) */
    double             within;         /* 0: 1e-6                                             */
    bool             (*where_value)(const xir_value *value, void *user);
} xir_pattern_row;

#define XIR_ROW_ANY                .kind = XIR_PATTERN_ANY
#define XIR_ROW_PARAMS             .kind = XIR_PATTERN_PARAMS
#define XIR_ROW_NUMBER(x)          .kind = XIR_PATTERN_NUMBER, .number = (x)
#define XIR_ROW_REST               .kind = XIR_PATTERN_REST
#define XIR_ROW_ANY_OP             .kind = XIR_PATTERN_OP
#define XIR_ROW_OP(...)            .kind = XIR_PATTERN_OP, .classes = { __VA_ARGS__ }
#define XIR_ROW_INPUTS(...)        .inputs = { __VA_ARGS__ }, .n_inputs = sizeof((const uint8_t[]){ __VA_ARGS__ })
#define XIR_ROW_EITHER(...)        .kind = XIR_PATTERN_EITHER, XIR_ROW_INPUTS(__VA_ARGS__)
#define XIR_ROW_OUTPUT(of, which)  .kind = XIR_PATTERN_OUTPUT, XIR_ROW_INPUTS(of), .output = (which)
#define XIR_ROW_ATTRS(...)         .attrs = { __VA_ARGS__ }
#define XIR_ATTR_HAS(name_)          { .name = (name_), .test = XIR_TEST_PRESENT }
#define XIR_ATTR_BOOL(name_, x)      { .name = (name_), .test = XIR_TEST_BOOL, .i64 = (x) }
#define XIR_ATTR_I64(name_, x)       { .name = (name_), .test = XIR_TEST_I64, .i64 = (x) }
#define XIR_ATTR_REAL(name_, x)      { .name = (name_), .test = XIR_TEST_REAL, .real = (x) }
#define XIR_ATTR_TEXT(name_, x)      { .name = (name_), .test = XIR_TEST_TEXT, .text = (x) }
#define XIR_ATTR_WHERE(name_, fn)    { .name = (name_), .test = XIR_TEST_WHERE, .where = (fn) }

typedef struct xir_match xir_match;

/* A pattern. All that it and its rows point to is copied. */
typedef struct xir_pattern_decl {
    uint32_t               abi, size, row_size; /* XIR_ABI, sizeof of this and of a row            */
    const char            *name;       /* for findings: "silu"                                    */
    const xir_pattern_row *rows;
    size_t                 n_rows;
    /* Outputs of the ops of the pattern, but for those of the root, are used by ops of the pattern only: who
     * rewrites it leaves nothing behind. Outputs of the network count as used by its Output. */
    bool                   closed;
    /* The last word about a match; if it says no, other ways to match this op are tried. */
    bool                 (*check)(const xir_match *match, void *user);
    void                  *user;       /* what all predicates of the pattern get                  */
} xir_pattern_decl;

#define XIR_PATTERN_HEAD(name_, rows_)                                                                              \
    .abi = XIR_ABI, .size = sizeof(xir_pattern_decl), .row_size = sizeof(xir_pattern_row), .name = (name_),         \
    .rows = (rows_), .n_rows = sizeof(rows_) / sizeof *(rows_)

/* ---- patterns -------------------------------------------------------------------------------------------------- */

/* A pattern for the networks of a context: made once, immutable, and usable by many threads at a time. It keeps the
 * context alive. NULL with a finding that names the pattern and the row:
 *   XIR_E_UNKNOWN  a class that is not registered (a key may be any), an element type that nobody can read
 *   XIR_E_INVALID  a row that names itself or a later one, that nothing leads to from the root, or that is forgotten; a
 *                  root that is no op and no alternative of ops, or that is optional; REST anywhere but last; an optional
 *                  op without inputs
 *   XIR_E_LIMIT    more rows, edges or inputs of a row than there may be
 *   XIR_E_MEMORY, XIR_E_ABI */
typedef struct xir_pattern xir_pattern;
XIR_API xir_pattern *xir_pattern_new(xir_context *ctx, const xir_pattern_decl *decl, xir_diags *why);
XIR_API void         xir_pattern_free(xir_pattern *pattern);   /* NULL is accepted */
XIR_API const char  *xir_pattern_name(const xir_pattern *pattern);

/* ---- matching: none of these fails or allocates ---------------------------------------------------------------- */

/* What the rows of a pattern stand for in a network. Made zero by its owner; read by the functions. Valid until one of
 * its ops is erased. */
struct xir_match {
    const xir_pattern *pattern;
    xir_op            *root;
    xir_op            *ops[XIR_PATTERN_ROWS];
    xir_value         *values[XIR_PATTERN_ROWS];
};

/* The op of an OP row, and the op that makes the value of any other row; NULL: the op is optional and not there, the
 * value is Params, or the row belongs to an alternative that was not taken. The value of any row; NULL: an absent
 * input, such an alternative, an op that has no such output, or a REST. */
static inline xir_op    *xir_match_op(const xir_match *m, unsigned row)    { return m->ops[row]; }
static inline xir_value *xir_match_value(const xir_match *m, unsigned row) { return m->values[row]; }
/* Whether an op is one that an OP row stands for. */
XIR_API bool xir_match_has(const xir_match *m, const xir_op *op);

/* Whether the pattern fits with this op as its root. If there are several ways, the first: alternatives in their
 * order, commuting inputs as they lie before they are exchanged, an optional op before its absence. All ways are
 * tried before the answer is no: what that costs depends on the pattern alone, but for the uses of closed patterns
 * and `uses`. Ops are placed ones. */
XIR_API bool xir_pattern_match(const xir_pattern *pattern, xir_op *root, xir_match *out);

/* The next match in execution order of roots, behind the one that is in `m`; the first if `m` is zero. Matches may
 * overlap; each op is the root of one at most. False at the end, with `m` zero again.
 *
 *     xir_match m = { 0 };
 *     while (xir_pattern_next(pattern, net, &m)) … */
XIR_API bool xir_pattern_next(const xir_pattern *pattern, xir_network *net, xir_match *m);

/* ---- rewriting -------------------------------------------------------------------------------------------------- */

typedef struct xir_rewriter xir_rewriter;

/* What a callback says. */
typedef enum xir_verdict {
    XIR_REWRITE_LEFT,    /* nothing was changed; the next rule is tried                           */
    XIR_REWRITE_DONE,    /* the network was changed                                               */
    XIR_REWRITE_FAILED   /* a call failed: the network has its finding                            */
} xir_verdict;

/* Changes the network as it likes. Ops of the match, their neighbours, what is placed before or after them and what
 * uses them is seen by the rewriter; changes elsewhere are told by xir_rewriter_touch. */
typedef xir_verdict xir_rewrite_fn(xir_rewriter *at, const xir_match *match, void *user);

typedef struct xir_rule {
    const xir_pattern *pattern;
    xir_rewrite_fn    *rewrite;
    void              *user;
} xir_rule;

enum { XIR_RULES = 64 };   /* most rules of one rewriting */

/* For callbacks: the network; "look at this op and its users again"; "no more after this one". */
XIR_API xir_network *xir_rewriter_network(const xir_rewriter *at);
XIR_API void         xir_rewriter_touch(xir_rewriter *at, xir_op *op);
XIR_API void         xir_rewriter_stop(xir_rewriter *at);

/* A cursor for the op that takes the root's place: before the root, with its name and target. */
XIR_API xir_at xir_match_at(const xir_match *m);
/* Lets `now` stand for the value of the root: its uses move; unless `now` is Params or a value that is an input of
 * the match, it takes the root's name, and its tags if it has none. Then the ops of the match that nothing uses any
 * more are erased, but for the one that makes `now`. Says DONE; FAILED without memory, or if `now` is NULL, as it is
 * if making it failed; LEFT if `now` is of another type than the value: then the op that makes it is erased, if
 * nothing uses it and it is not of the match. */
XIR_API xir_verdict xir_match_replace(const xir_match *m, xir_value *now);

/* Rewrites until no rule fits any op. `rule_size` is sizeof(xir_rule), so that rules can grow. First all ops are
 * looked at in execution order, rules in their order; then only what the rewrites touched: ops that were made, ops
 * of a match that stayed, users of those and of what a match read, as far down as the deepest pattern reaches. So it
 * costs the ops of the network plus what rewrites touch, whatever the number of rules. `limit` is how often one rule
 * may rewrite, 0: ten times for each op that the network had, and 1000.
 *   XIR_E_LIMIT    a rule reached the limit: the finding names its pattern
 *   XIR_E_MEMORY   or what else a callback failed with: the network may be half rewritten, and is sound
 *   XIR_E_INVALID  more than XIR_RULES rules
 *   XIR_E_ABI      rules of no or too small a size; XIR_E_UNSUPPORTED: they ask for what only a newer library has
 * `rewrites` (may be NULL) says how many there were in any case. */
XIR_API xir_status xir_network_rewrite(xir_network *net, const xir_rule *rules, size_t n, size_t rule_size,
                                       size_t limit,
                                       size_t *rewrites, xir_diags *why);

XIR_END

#endif

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Patterns: tables that describe a part of a network, and how to rewrite it. docs/patterns.md shows how to write one.
 *
 * A row of the table stands for a value and says what makes it. If several rows name the same row as their input, they
 * share that value, so the table describes a graph. Rows name only rows before them. The last row is the root; the
 * pattern consists of the root and everything that its inputs lead to. x * sigmoid(x) is
 *
 *     enum { X, GATE, OUT };
 *     static const xir_pattern_row silu_rows[] = {
 *         [X]    = { XIR_ROW_ANY },
 *         [GATE] = { XIR_ROW_OP(xir_sigmoid_class),  XIR_ROW_INPUTS(X) },
 *         [OUT]  = { XIR_ROW_OP(xir_multiply_class), XIR_ROW_INPUTS(X, GATE), .commutes = true },
 *     };
 *     static const xir_pattern_decl silu = { XIR_PATTERN_HEAD("silu", silu_rows), .closed = true };
 *
 *     static xir_verdict to_silu(xir_rewriter *at, const xir_match *m, const void *user) {
 *         return xir_match_replace(m, XIR_OP(xir_match_at(m), silu, .input = xir_match_value(m, X)));
 *     }
 *
 * The macros of rows are for C; C++ fills the same structs member by member. pattern_build.h composes patterns from
 * parts at run time. */
#ifndef XIR_PATTERN_H
#define XIR_PATTERN_H

#include <xir/view.h>

XIR_BEGIN

/* ---- what an author writes ------------------------------------------------------------------------------------ */

/* Limits of a pattern: rows; inputs and alternatives of all rows together. Then limits of one row. */
enum { XIR_PATTERN_ROWS = 64, XIR_PATTERN_EDGES = 192 };
enum { XIR_ROW_MAX_INPUTS = 16, XIR_ROW_MAX_CLASSES = 12, XIR_ROW_MAX_ATTRS = 4 };

typedef enum xir_pattern_kind {
    XIR_PATTERN_NONE,    /* an empty row: refused                                                 */
    XIR_PATTERN_ANY,     /* any value: an op's output, Params, or a value that no op makes        */
    XIR_PATTERN_PARAMS,  /* Params                                                                */
    XIR_PATTERN_NUMBER,  /* Params of one element that equals `number`                            */
    XIR_PATTERN_OP,      /* output `output` of an op of one of the classes                        */
    XIR_PATTERN_OUTPUT,  /* output `output` of the op of another row, inputs[0]                   */
    XIR_PATTERN_EITHER,  /* the value of one of the rows in `inputs`; the first that fits         */
    XIR_PATTERN_REST     /* only as the last input: all further inputs, or none                   */
} xir_pattern_kind;

/* The tests of an attribute. */
typedef enum xir_pattern_test {
    XIR_TEST_PRESENT,    /* the op declares or carries it, and it is not null                     */
    XIR_TEST_BOOL,       /* it equals `i64` != 0                                                  */
    XIR_TEST_I64,        /* it equals `i64`                                                       */
    XIR_TEST_REAL,       /* it equals `real`, up to a relative 1e-6                               */
    XIR_TEST_TEXT,       /* it equals `text`; of an enum, its word does                           */
    XIR_TEST_WHERE,      /* `where` returns true                                                  */
    XIR_TEST_DEFAULT     /* the op declares it, and it has the default of its declaration         */
} xir_pattern_test;

/* An attribute by name (NULL: no test): declared, or undeclared in an op of a dialect. Undeclared lists can only be
 * tested for presence here; test their contents in the row's `where`. */
typedef struct xir_pattern_attr {
    const char      *name;
    xir_pattern_test test;
    int64_t          i64;
    double           real;
    const char      *text;
    bool           (*where)(const xir_attr *attr, void *user);
} xir_pattern_attr;

/* The class function that define.h makes: xir_conv2d_class. */
typedef const xir_class_decl *xir_pattern_class(void);

/* A row. Members that are zero are not tested. */
typedef struct xir_pattern_row {
    xir_pattern_kind   kind;
    /* OP. Classes by declaration, with NULL after the last, and by key ("onnx::Relu|onnx::Clip"); with neither, an
     * op of any class. */
    xir_pattern_class *classes[XIR_ROW_MAX_CLASSES];
    const char        *keys;
    uint64_t           traits;         /* XIR_TRAIT_… and xir_trait: the class must have all */
    uint32_t           targets;        /* bits: 1u << XIR_TARGET_HOST                         */
    xir_pattern_attr   attrs[XIR_ROW_MAX_ATTRS];
    bool             (*where)(const xir_op *op, void *user);
    /* OP: the rows of its inputs by position; none: any inputs. Further inputs of the op must be absent, and positions
     * that it does not have count as absent. OUTPUT: the row of the op. EITHER: the alternatives. */
    uint8_t            inputs[XIR_ROW_MAX_INPUTS];
    size_t             n_inputs;
    bool               commutes;       /* the first two inputs may be swapped                 */
    uint8_t            output;         /* of OP and OUTPUT                                    */
    /* OP: if the op does not fit, the row stands for the value of its first input, as if the op did not exist. ANY,
     * PARAMS, NUMBER: the input may be absent. Not for the root. */
    bool               optional;
    /* For the value. */
    size_t             uses;           /* exactly this many uses; 0: any number               */
    const char        *element;        /* its element type as files spell it, "@fp(32)"       */
    double             number;         /* of NUMBER, up to a relative `within` (for 0: absolute) */
    double             within;         /* 0: 1e-6                                             */
    bool             (*where_value)(const xir_value *value, void *user);
    const xir_type    *type;           /* its whole type                                      */
    void              *user;           /* for the predicates of this row; NULL: the pattern's */
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
#define XIR_ATTR_DEFAULT(name_)      { .name = (name_), .test = XIR_TEST_DEFAULT }

typedef struct xir_match xir_match;

/* A pattern. Everything that it and its rows point to is copied. */
typedef struct xir_pattern_decl {
    uint32_t               abi, size, row_size; /* XIR_ABI, sizeof of this and of a row            */
    const char            *name;       /* in findings: "silu"                                     */
    const xir_pattern_row *rows;
    size_t                 n_rows;
    /* If true, outputs of the pattern's ops, except the root's, must be used only by ops of the pattern, so that a
     * rewrite leaves no user without its input. Outputs of the network count as used by its Output op. */
    bool                   closed;
    /* The final test of a match. If it returns false, other ways to match this op are tried. */
    bool                 (*check)(const xir_match *match, void *user);
    void                  *user;       /* passed to `check` and to predicates of rows without `user` */
} xir_pattern_decl;

#define XIR_PATTERN_HEAD(name_, rows_)                                                                              \
    .abi = XIR_ABI, .size = sizeof(xir_pattern_decl), .row_size = sizeof(xir_pattern_row), .name = (name_),         \
    .rows = (rows_), .n_rows = sizeof(rows_) / sizeof *(rows_)

/* ---- patterns -------------------------------------------------------------------------------------------------- */

/* Makes a pattern for the networks of a context. It is immutable, several threads may use it at once, and it keeps the
 * context alive. NULL with a finding that names the pattern and the row:
 *   XIR_E_UNKNOWN  a class that is not registered (keys need not be), an element type that cannot be parsed
 *   XIR_E_INVALID  a row that names itself or a later one, is not reachable from the root, or is empty; a root that is
 *                  neither an op nor an alternative of ops, or is optional; REST anywhere but last; an optional op
 *                  without inputs
 *   XIR_E_LIMIT    too many rows, edges, or inputs of a row
 *   XIR_E_MEMORY, XIR_E_ABI */
typedef struct xir_pattern xir_pattern;
XIR_API xir_pattern *xir_pattern_new(xir_context *ctx, const xir_pattern_decl *decl, xir_diags *why);
XIR_API void         xir_pattern_free(xir_pattern *pattern);   /* accepts NULL */
XIR_API const char  *xir_pattern_name(const xir_pattern *pattern);

/* ---- matching: none of these fails or allocates ---------------------------------------------------------------- */

/* A match: the parts of a network that the rows of a pattern matched. The caller zeroes it; the functions below read
 * it. Valid until one of its ops is erased. */
struct xir_match {
    const xir_pattern *pattern;
    xir_op            *root;
    xir_op            *ops[XIR_PATTERN_ROWS];
    xir_value         *values[XIR_PATTERN_ROWS];
};

/* xir_match_op gives the op of an OP row, or the op that makes the value of any other row. NULL: the op is optional
 * and missing, the value is Params, or the row belongs to an alternative that was not taken. xir_match_value gives
 * the value of any row. NULL: an absent input, such an alternative, an op without that output, or a REST. */
static inline xir_op    *xir_match_op(const xir_match *m, unsigned row)    { return m->ops[row]; }
static inline xir_value *xir_match_value(const xir_match *m, unsigned row) { return m->values[row]; }
/* Returns true if the op is matched by an OP row. */
XIR_API bool xir_match_has(const xir_match *m, const xir_op *op);
/* Writes the users of a value that the match does not have, up to `room`; returns how many there are. */
XIR_API size_t xir_match_outside_users(const xir_match *m, const xir_value *value, xir_user *out, size_t room);

/* Returns true if the pattern matches with this op as its root. If there are several ways, the first is taken:
 * alternatives in their order, commuting inputs unswapped before swapped, an optional op present before absent. All
 * ways are tried before the answer is false. The cost depends only on the pattern, plus the uses that `closed` and
 * `uses` look at. The root must be placed. */
XIR_API bool xir_pattern_match(const xir_pattern *pattern, xir_op *root, xir_match *out);

/* Finds the next match after the one in `m`, in execution order of the roots; the first if `m` is zero. Matches may
 * overlap, but each op is the root of at most one. At the end it returns false and zeroes `m`.
 *
 *     xir_match m = { 0 };
 *     while (xir_pattern_next(pattern, net, &m)) … */
XIR_API bool xir_pattern_next(const xir_pattern *pattern, xir_network *net, xir_match *m);

/* The same in a view: all ops of the match are in the view. Values that the pattern reads may come from outside, and
 * `closed` counts uses outside. An optional op outside of the view counts as absent. A view that is stale has no
 * match. */
XIR_API bool xir_pattern_match_in(const xir_pattern *pattern, const xir_view *view, xir_op *root, xir_match *out);
XIR_API bool xir_pattern_next_in(const xir_pattern *pattern, const xir_view *view, xir_match *m);

/* ---- rewriting -------------------------------------------------------------------------------------------------- */

typedef struct xir_rewriter xir_rewriter;

/* The result of a callback. */
typedef enum xir_verdict {
    XIR_REWRITE_LEFT,    /* nothing was changed; the next rule is tried                           */
    XIR_REWRITE_DONE,    /* the network was changed                                               */
    XIR_REWRITE_FAILED   /* a call failed: the network has the finding                            */
} xir_verdict;

/* May change the network freely. The rewriter sees changes to ops of the match, to their neighbours, to ops placed next
 * to them, and to their users. Changes elsewhere must be reported with xir_rewriter_touch. */
typedef xir_verdict xir_rewrite_fn(xir_rewriter *at, const xir_match *match, const void *user);

typedef struct xir_rule {
    const xir_pattern *pattern;
    xir_rewrite_fn    *rewrite;
    const void        *user;       /* what `rewrite` gets */
} xir_rule;

enum { XIR_RULES = 64 };   /* the most rules of one call */

/* For callbacks: the network; visit this op and its users again; stop after this rewrite. */
XIR_API xir_network *xir_rewriter_network(const xir_rewriter *at);
XIR_API void         xir_rewriter_touch(xir_rewriter *at, xir_op *op);
XIR_API void         xir_rewriter_stop(xir_rewriter *at);

/* A cursor for the op that replaces the root: before the root, with its name and target. */
XIR_API xir_at xir_match_at(const xir_match *m);
/* Replaces the value of the root by `now`: its uses move. `now` takes the root's name, and its tags if it has none
 * of its own, unless it is Params or an input of the match. Then the ops of the match that nothing uses any more are
 * erased, except the one that makes `now`. Returns DONE. Returns FAILED if memory runs out or `now` is NULL, as
 * after a failed call. Returns LEFT if `now` has another type than the value; then the op that makes it is erased,
 * unless it is used or belongs to the match, and xir_network_rewrite adds a note with both types, once per rule. */
XIR_API xir_verdict xir_match_replace(const xir_match *m, xir_value *now);

/* An output of an op of a match, and what stands for it from now on. */
typedef struct xir_replacement { xir_value *old, *now; } xir_replacement;

/* Replaces several outputs of a match, by the outputs of one op with several or by any values: the uses of each `old`
 * that the match does not have move to its `now`, which takes its name and tags as above. Uses inside the match stay.
 * Then the ops of the match that nothing uses any more are erased, except those that make a `now`. Users that run
 * before the new ops are moved after them, with what depends on them. Linear in the match, the moved uses and the moved
 * ops, which are sorted.
 *   DONE    all are replaced
 *   LEFT    none is: a type differs, or a `now` would depend on itself, because an op outside of the match that it
 *           depends on uses an `old`. The ops that make a `now` are erased, unless they are used or belong to the
 *           match, and xir_network_rewrite adds a note, once per rule
 *   FAILED  memory runs out; or the list is wrong, and the network has the finding: XIR_E_MISSING for an empty list or
 *           a NULL, XIR_E_INVALID for an `old` that no op of the match makes or that is listed twice, and for a `now`
 *           that is an `old`, of another network or of an erased op */
XIR_API xir_verdict xir_match_replace_outputs(const xir_match *m, const xir_replacement *list, size_t n);

/* Rewrites until no rule matches any op. `rule_size` is sizeof(xir_rule), so that rules can grow. First it visits all
 * ops in execution order and tries the rules in their order. Then it visits only what the rewrites touched: new ops,
 * remaining ops of a match, and users of those and of what a match read, as far down as the deepest pattern reaches. So
 * it costs the ops of the network plus what rewrites touch, whatever the number of rules. One rule may rewrite at most
 * `limit` times; 0 means ten times the number of ops at the start, plus 1000.
 *   XIR_E_LIMIT    a rule reached the limit: the finding names its pattern
 *   XIR_E_MEMORY   or the status of a failed callback: the network may be partly rewritten, but is sound
 *   XIR_E_INVALID  more than XIR_RULES rules
 *   XIR_E_ABI      rules without their size; XIR_E_UNSUPPORTED: they set members that this library does not know
 * `rewrites` (may be NULL) receives the number of rewrites in every case. */
XIR_API xir_status xir_network_rewrite(xir_network *net, const xir_rule *rules, size_t n, size_t rule_size,
                                       size_t limit,
                                       size_t *rewrites, xir_diags *why);

/* The same in a view: matches are those of xir_pattern_match_in. Ops that callbacks make are in the view from then on,
 * so that rules can match them; uses of a replaced value outside of the view move too. On return, also after a failure,
 * the view is renewed and has these ops. While it runs the view is stale, and callbacks must not free it. `limit` 0
 * means ten times the ops of the view, plus 1000. Linear in the network, and in what is rewritten. Also:
 *   XIR_E_STALE    the view is stale
 *   XIR_E_IN_USE   xir_view_rewrite or xir_pipeline_run_view runs on this view
 *   XIR_E_MEMORY   the view may remain stale */
XIR_API xir_status xir_view_rewrite(xir_view *view, const xir_rule *rules, size_t n, size_t rule_size, size_t limit,
                                    size_t *rewrites, xir_diags *why);

XIR_END

#endif

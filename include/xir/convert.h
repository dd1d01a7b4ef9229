/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Conversion of dialects: what an op of a foreign format becomes in XIR. A dialect describes how a format names,
 * numbers and versions its ops. Its rows describe, op by op and attribute by attribute, what becomes of them; where
 * a row is not enough, its hook makes the ops. The pass "to-xir" converts the ops of every registered dialect, and
 * xir_dialect_check checks them without changing the network. Plug-ins and programs add rows for foreign ops that
 * have none, and whole dialects. */
#ifndef XIR_CONVERT_H
#define XIR_CONVERT_H

#include <xir/pass.h>
#include <xir/sugar.h>

XIR_BEGIN

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* A foreign op during its conversion: hooks query it and give it its results. */
typedef struct xir_node xir_node;

/* Makes ops that compute the same and sets the node's outputs. Returns false after a failure, which the hook or one
 * of its calls has reported (xir_node_unsupported or xir_node_invalid): then everything it made is removed, and the
 * node is kept. */
typedef bool xir_convert_fn(xir_node *at);

/* Must be constant and live as long as the context. */
typedef struct xir_convert_row {
    uint32_t        abi, size;    /* XIR_ABI, sizeof(xir_convert_row): may grow at its end          */
    const char     *name;         /* the foreign class key: "onnx::Elu", "onnx::com.example.Swish"  */
    const char     *inputs;       /* how many: "1", "1-3", "1-" (at least 1); and their names, for formats that name
                                     them or keep weights as attributes: "1 x:NCHW @weight:OIHW @bias?" (see below)  */
    const char     *outputs;
    /* All attributes that the foreign op may have, with their types: "alpha:f axis:i! mode:s<11 pad:Is *:t". The name
     * `*` stands for any other. A type is one letter, or several for alternatives (the kinds of xir_any):
     *
     *   n  none     i  integer   s  text                              o  object (a map)   g  a graph in a map
     *   b  bool     f  real      t  tensor: Params, or a map that     a  anything         y  a type in a map
     *                               stands for them (sparse)
     *
     * A capital letter is a list of them, A any list. A real may be Params of one element, since JSON has no inf and
     * nan; a list of reals may be Params of one dim; a text that is not UTF-8 is Params. "!": required. "<11": up to
     * version 10; ">=11": from 11; before the first attribute, ">=12 alpha:f", the versions that have the op itself. */
    const char     *attributes;
    /* Without a hook: the node becomes one op of this class with the same inputs and outputs. With one: the classes
     * that it makes, for readers. */
    const char     *cls;
    /* XIR's attributes: "alpha=alpha:0.01 axis=axis beta=0.5": XIR's name = the foreign one, with its default; or XIR's
     * name and a number, or a word of XIR: "mode='MEAN'". The foreign one may be an item of a list, "top=pad[0]" (a
     * number counts as a list of equal items), an inverted bool, "exclude_pad=!include", or a word, number or bool with
     * XIR's words for it, "mode=type{0:MAX,1:AVG}"; a value without a word keeps the node. None counts as missing.
     * NULL: none. */
    const char     *sets;
    xir_convert_fn *hook;
    /* The way back, from XIR's op to the foreign one. Without a hook a row is read backward by itself: the op of class
     * `cls` becomes the foreign op if every set with a number or a word holds and all attributes that no set names have
     * their defaults; each attribute of the file in a set is set. The first row of the table that holds is taken. A row
     * with a hook names the classes that it stands for, "Conv2d" or "Add Multiply"; it is read backward by its sets, or
     * by `back`, which gives the node its results (xir_node_make_foreign), as `hook` does in the other direction. NULL:
     * the classes of a row without a hook; for one with a hook, none. */
    const char     *from;
    xir_convert_fn *back;
    /* A number for the hooks, which tells rows with one hook apart: xir_node_variant. */
    int64_t         variant;
} xir_convert_row;

/* Inputs by name. If a row names its inputs, a hook addresses them by their positions in the row, however the file
 * has them. An input that the file names (in the op's tag "source.inputs", a list of texts and nulls by position)
 * gets the position of its name. The others take the remaining positions, in order. If an input is missing and a
 * tensor among the attributes has its name, that tensor is the input. So one hook serves a convolution whose weight
 * is an input and one whose weight is an attribute.
 *
 * "@weight" is an input that is always an attribute, with this name; it does not count as an input of the file, and
 * must be present unless it ends in "?". Letters give the order of axes that the file has: "x:NCHW" of feature maps,
 * which become NHWC for the op of a row without a hook, and its outputs NCHW again; "weight:OIHW" or "weight:IOHW" of a
 * kernel, which becomes HWIO or HWOI. */

/* A plug-in's op in both directions. The first row needs no hook: ReLU with a greatest value of 6 is Cut6. The second
 * says which attributes correspond. The third makes x * by, and becomes of a product with a constant:
 *
 *     static bool scale(xir_node *at) {
 *         xir_value *x = xir_node_input(at, 0);
 *         return xir_node_result(at, 0, xir_node_scaled(at, x, xir_node_real(at, "by", 1)));
 *     }
 *     static bool scale_back(xir_node *at) {
 *         const double *by;
 *         size_t n;
 *         if (!xir_node_reals(at, 1, &by, &n) || n != 1) return xir_node_unsupported(at, "the factor is not a number");
 *         const xir_set sets[] = { XIR_SETR("by", *by) };
 *         return xir_node_becomes_foreign(at, XIR_VALUES(xir_node_input(at, 0)), (xir_sets){ sets, 1 });
 *     }
 *     static const xir_convert_row rows[] = {
 *         { XIR_CONVERT_HEAD, "acme::Cut6",  "1", "1", "",        "ReLU",     "max_value=6" },
 *         { XIR_CONVERT_HEAD, "acme::Leak",  "1", "1", "slope:f", "ReLU",     "alpha=slope:0.01" },
 *         { XIR_CONVERT_HEAD, "acme::Scale", "1", "1", "by:f!",   "Multiply", NULL, scale, "Multiply", scale_back },
 *     };
 */
#define XIR_CONVERT_HEAD .abi = XIR_ABI, .size = sizeof(xir_convert_row)

/* Adds rows, all or none. Each row starts `rows->size` bytes after the one before. XIR_E_EXISTS if an op already has a
 * row, XIR_E_INVALID if a row contradicts itself (no name, a malformed text), XIR_E_ABI if a row has another XIR_ABI or
 * another size than the first, XIR_E_UNSUPPORTED if a row sets members that this library does not know. Must not run
 * while other threads convert with this context. */
XIR_API xir_status xir_convert_register(xir_context *ctx, const xir_convert_row *rows, size_t n, xir_diags *why);
/* Returns the row of a foreign class key, or the i-th row with the built-in ones first; NULL past the end and for a key
 * without a row. A key is found in constant time. */
XIR_API const xir_convert_row *xir_convert_find(xir_context *ctx, xir_str name);
XIR_API const xir_convert_row *xir_convert_at(xir_context *ctx, size_t i);

/* ---- dialects --------------------------------------------------------------------------------------------------- */

/* A dialect: the ops of a foreign format. In a network of the format they are between an Input and an Output op of
 * XIR. Their class keys are the prefix and the format's own name of the op type, "onnx::Conv", and their attributes
 * are in their extra map (xir_op_extra). A declaration must be constant and live as long as the context. It may grow
 * at its end. Any member that has a default may be NULL. */
typedef struct xir_dialect_decl {
    uint32_t               abi, size;   /* XIR_ABI, sizeof(xir_dialect_decl)                                          */
    /* "onnx::": lower case letters, digits and _, then "::"; not a prefix of XIR's classes. */
    const char            *prefix;
    const char            *name;        /* for messages: "ONNX"                                                       */
    const char            *pass;        /* another name of the pass to-xir: "onnx-to-xir"; NULL: none                 */
    const xir_convert_row *rows;        /* each rows->size bytes after the one before                                 */
    size_t                 n_rows;
    /* Words and places in findings: "/graph/node/17/input/1: Conv 'c' (node 17): ...". */
    const char            *node;        /* what the format calls an op: "node"; NULL: "op"                            */
    const char            *nodes;       /* the path of an op, up to its number: "/graph/node/"; NULL: "/ops/"         */
    const char            *results;     /* the path of a result of the network: "/graph/output/"; NULL: "/outputs/"   */
    const char            *sources;     /* where values that no op makes come from: "graph input or initializer"; NULL:
                                           "input or constant"                                                        */
    const char            *operators;   /* what has versions and what an unknown op is missing from: "operator set";
                                           NULL: "set of operations"                                                  */
    /* The number of an op in its file, for messages and paths. NULL: its id minus one, since the Input op has id 0. */
    int64_t              (*number)(const xir_op *op);
    /* Splits what follows the prefix, "com.example.Swish", into a domain and a type. An op with an empty domain belongs
     * to the format's own set: if it has no row, checking reports an error. NULL: all of it is the type. */
    void                 (*split)(xir_str key, xir_str *domain, xir_str *type);
    /* The version of a domain's operator set that the network uses, for xir_node_version and the ranges of attributes.
     * NULL: the dialect has no versions; xir_node_version is 0, and rows have no ranges. */
    int64_t              (*version)(const xir_network *net, xir_str domain);
    /* Returns true if an op only computes its outputs from its inputs and attributes, always in the same way: then an
     * unused one may be removed, and two equal ones merged. NULL: no op is known to be pure. */
    bool                 (*is_pure)(const xir_op *op);
    /* Checks what rows cannot say, before the node's hook runs: returns false after xir_node_invalid. NULL: nothing. */
    bool                 (*check)(xir_node *at);
    /* Types the outputs of a node that is kept (xir_node_type_output), by the format's own rules, so that what follows
     * is converted. NULL: they have the types that the file declares. */
    void                 (*types)(xir_node *at);
    /* The element type that the file declares for a value without a type, or NULL. NULL here: files declare none. */
    const xir_type      *(*element)(const xir_value *v);
    /* Changes the structure of a network before its ops are converted one by one: tuples become several values. Sets
     * *changed if it did. Returns XIR_OK or XIR_E_MEMORY. NULL: nothing. */
    xir_status           (*prepare)(xir_network *net, bool *changed);
    /* The type whose row converts ops of a type without a row: another spelling, of older files. Writes up to `room`
     * bytes and returns their number; 0: none. NULL: types have one spelling. */
    size_t               (*spelled)(xir_str type, char *out, size_t room);
    /* The way back: the pass that converts XIR's ops to the format's (XIR_DIALECT_PASS); NULL: none. And the passes
     * that `xir opt` runs before it when it writes the format, "layout{to=nchw}"; NULL: none. */
    const xir_pass_decl   *back;
    const char            *before_back;
    /* For formats whose ops take no Params as inputs: makes an op of the format that returns the Params, or returns
     * NULL after a failure. It is called once for each. NULL: ops take Params. */
    xir_value           *(*constant)(xir_node *at, xir_value *params);
    /* Changes the structure of a network after its ops have been converted: several become one. Like `prepare`. */
    xir_status           (*finish)(xir_network *net, bool *changed);
    /* The format's own check of a whole network. xir_dialect_check runs it first and adds its findings. Rows then only
     * check arguments and types, of ops about which it has found no error, so that one fault gives one finding: the
     * numbers of inputs and outputs, kinds of attributes, versions, and values that nothing makes are its own. Its
     * paths begin with `nodes` and the number of an op. NULL: rows check everything. */
    xir_status           (*check_file)(const xir_network *net, xir_diags *why);
    /* The way back with options (xir_pass_int and others; xir_node_pass in hooks and `check`): one checks the options,
     * and notes in the network's tags what rows depend on, before ops are converted; the other changes the network as
     * they ask, after `finish`, if every op is the format's. They report what they refuse. NULL: nothing. */
    xir_status           (*begin_back)(xir_pass *pass);
    xir_status           (*end_back)(xir_pass *pass);
    /* The dims that the file declares for a value without a type: a list of integers, of which negative ones are open.
     * NULL: the file declares none. */
    const xir_any       *(*dims)(const xir_value *v);
    /* The newest version of the format's own set that the rows know. In a network of a later version, an op without a
     * row, an attribute that its row does not have, or more inputs or outputs are notes when checking, and such nodes
     * are kept. 0: rows know all versions. */
    int64_t                newest;
    /* Returns the conversion of a node that calls a function of its own network, asked about nodes outside the
     * format's own set and those without a row; NULL if it calls none. NULL here: files have no functions. */
    xir_convert_fn      *(*function)(xir_node *at);
    /* On the way back, the i-th way to convert an op that no row and no formula converts, tried in order; NULL: there
     * are no more, and the op stays. NULL here: there are none. */
    xir_convert_fn      *(*rest)(xir_node *at, size_t i);
    /* On the way back, how an op is converted in place of all rows and formulas; NULL: these are tried. NULL here: they
     * always are. */
    xir_convert_fn      *(*instead)(xir_node *at);
    /* Operators get new attributes without a new version: one that a row does not have is a warning when checking. */
    bool                   grows;
    /* Files of the format number values and ops instead of naming them, in the order in which ops refer to values, and
     * in that of the ops. A reader calls a value by this and its number ("v12"), and an op by its type and its number
     * ("Affine_3"). NULL: files have names. */
    const char            *numbered;
    /* The format's word for a value ("variable"), for the list that the option `names` writes. NULL is "value". */
    const char            *value;
    /* Bits for everything that files of the format cannot represent: XIR_LACKS_... */
    uint32_t               lacks;
    /* The way back of calls (xir::Call), after `begin_back` and before any op is converted: makes functions of the file
     * of their bodies, and ops of the format of the calls; it inlines the others (xir_op_inline).
     * xir_dialect_convert_body converts a body. If it is NULL, all calls are inlined, with a note that
     * counts them. */
    xir_status           (*calls)(xir_pass *pass);
} xir_dialect_decl;

enum {
    XIR_LACKS_OP_NAMES      = 1,   /* an op is known by the name of its first output */
    XIR_LACKS_UNUSED_INPUTS = 2,   /* inputs of the network that nothing uses        */
    XIR_LACKS_INPUT_TYPES   = 4,   /* the types of the network's inputs              */
    XIR_LACKS_TENSOR_NAMES  = 8    /* of tensors in attributes; other formats name that in attribute k of op o "o.k" */
};

#define XIR_DIALECT_HEAD(prefix_, name_) \
    .abi = XIR_ABI, .size = sizeof(xir_dialect_decl), .prefix = (prefix_), .name = (name_)

/* The declaration of a dialect's way back: a pass "xir-to-NAME" for ops of XIR. The first has the option `strict` only.
 * The second declares the options of an array, whose first row must be XIR_DIALECT_STRICT.
 *
 * A network that becomes the format's as a whole may lose names, and its inputs and outputs other element types. Then
 * a note counts the names of values, and those of ops other than these, that the file does not have, and names inputs
 * and outputs whose elements have changed. Names that an earlier conversion made for ops that it added, "c.Conv2d",
 * do not count. If the pass declares the option XIR_DIALECT_NAMES, the note refers to it. */
#define XIR_DIALECT_STRICT \
    { "strict", XIR_PASS_BOOL, "false", "an op that the format has no operation for is an error" }
/* The option `names`: a file to write, which says for each value and op of the format's file what its name was. A line
 * has what it is ("variable", "attribute", or the type of the op), its number or name in the format's file, and the
 * name in the network, separated by tabs. In a name, \t, \n and \\ stand for a tab, a line end and a backslash. First
 * come the values and ops in the order of the ops, then further names of values: those of values that these have
 * replaced. For a format whose files have names, only values and ops that had a name have a line. */
#define XIR_DIALECT_NAMES \
    { "names", XIR_PASS_TEXT, "", "a file to write: the names of what is in the format's file under other names" }
#define XIR_DIALECT_PASS(name_, doc_, dialect_)                                                                      \
    { XIR_PASS_HEAD(name_, doc_), .level = XIR_LEVEL_NEEDED, .options = xir_dialect_pass_options, .n_options = 1,      \
      .run = xir_dialect_pass_run, .user = (void *)(uintptr_t)(dialect_) }
#define XIR_DIALECT_PASS_WITH(name_, doc_, dialect_, options_)                                                       \
    { XIR_PASS_HEAD(name_, doc_), .level = XIR_LEVEL_NEEDED, .options = (options_),                                    \
      .n_options = sizeof(options_) / sizeof *(options_), .run = xir_dialect_pass_run,                                 \
      .user = (void *)(uintptr_t)(dialect_) }
XIR_API extern const xir_pass_option xir_dialect_pass_options[1];
XIR_API xir_status xir_dialect_pass_run(xir_pass *at);

/* Converts a network of its own, the body of a call, as the running pass converts its network, with the same options
 * except `strict` and `names`; notes are dropped. `before_back` is run first. Sets *whole to true if all ops are of the
 * format then. XIR_OK also if that is not so; XIR_E_MISSING if an argument is NULL, XIR_E_MEMORY, XIR_E_CANCELLED. For
 * `calls` of xir_dialect_decl. */
XIR_API xir_status xir_dialect_convert_body(xir_pass *at, xir_network *body, bool *whole);

/* Adds a dialect, its rows and its name of the pass to-xir, all or none. XIR_E_EXISTS if the prefix, a row or the
 * name of the pass is taken; XIR_E_INVALID if the dialect or a row contradicts itself; XIR_E_ABI and
 * XIR_E_UNSUPPORTED as in xir_convert_register. Must not run while other threads convert with this context or run
 * pipelines. */
XIR_API xir_status xir_dialect_register(xir_context *ctx, const xir_dialect_decl *dialect, xir_diags *why);
/* Returns the dialect of a class key such as "onnx::Conv", or the i-th dialect in the order of registration; NULL past
 * the end and for a key of no dialect. */
XIR_API const xir_dialect_decl *xir_dialect_find(xir_context *ctx, xir_str key);
XIR_API const xir_dialect_decl *xir_dialect_at(xir_context *ctx, size_t i);
/* Writes the pipeline that `xir opt` runs by default before it writes a format: xir_default_pipeline, and, if the
 * operators of the format "pnnx" have a dialect "pnnx::" with a way back, the passes of that. Writes at most `size`
 * bytes, always terminated, and returns the length of the whole text. */
XIR_API size_t xir_pipeline_to(xir_context *ctx, const char *format, char *out, size_t size);

/* ---- checking --------------------------------------------------------------------------------------------------- */

/* Returns true if the class belongs to a dialect: it is not registered, and its key has a dialect's prefix. The second
 * returns true if a network has ops of such classes. */
XIR_API bool xir_class_is_dialect(const xir_class *cls);
XIR_API bool xir_network_is_dialect(const xir_network *net);

/* Checks a dialect network: names and types of attributes, numbers of inputs and outputs, values that no node makes
 * or that several do, cycles, and the declared types against the inferred ones. Adds all findings, each with the
 * node's path as the dialect has it ("/graph/node/17/attribute/pads", "/graph/node/17/input/1"). An unknown op is an
 * error if it belongs to the format's own set, otherwise a note. The outputs of a faulty node count with their
 * declared types, so that one fault gives one finding. Returns the status of the first error. Networks without
 * dialect ops are XIR_OK. */
XIR_API xir_status xir_dialect_check(const xir_network *net, xir_diags *why);

/* Gives a dialect network, which should be a copy, all inputs that its conversion may give it: those that are loaded
 * from files, and those whose numbers the format draws. Without dialect ops the network is unchanged. XIR_OK or
 * XIR_E_MEMORY, after which the network may be partly changed. */
XIR_API xir_status xir_dialect_add_inputs(xir_network *net);

/* ---- for hooks: the node -------------------------------------------------------------------------------------------
 * After a failure all calls do nothing and return NULL, 0 or false. So a hook may go on and return what the last call
 * returns. */

/* The op that is being converted, of the foreign dialect or, on the way back, of XIR; its network, and that network's
 * context. */
XIR_API const xir_op *xir_node_op(const xir_node *at);
XIR_API xir_network  *xir_node_network(const xir_node *at);
XIR_API xir_context  *xir_node_context(const xir_node *at);
/* The version of the operator set of the node; its type, "Conv" of "onnx::Conv"; whether a call has failed. */
XIR_API int64_t       xir_node_version(const xir_node *at);
XIR_API xir_str       xir_node_type(const xir_node *at);
XIR_API bool          xir_node_failed(const xir_node *at);
/* The variant of the node's row or, on the way back, of the row that is tried; 0 without a row. */
XIR_API int64_t       xir_node_variant(const xir_node *at);
/* The pass that converts to a dialect, with its options; NULL in other conversions. */
XIR_API const xir_pass *xir_node_pass(const xir_node *at);
/* Returns how many there are, without absent ones at the end. */
XIR_API size_t        xir_node_input_count(const xir_node *at);
XIR_API size_t        xir_node_output_count(const xir_node *at);

/* Reports that XIR has no ops for what this node does: the node is kept. Returns false. */
XIR_API bool xir_node_unsupported(xir_node *at, const char *format, ...) XIR_PRINTF(2, 3);
/* Reports that the node is wrong, with a finding at `where` ("attribute/pads", "input/1"; NULL: the node). The sentence
 * states what was expected and what was found. Returns false. */
XIR_API bool xir_node_invalid(xir_node *at, xir_status code, const char *where, const char *format,
                              ...) XIR_PRINTF(4, 5);

/* Integers in memory that lives as long as the conversion. */
typedef struct xir_ints {
    int64_t *v;
    size_t   n;
} xir_ints;

/* Returns `n` integers that are all `fill`, or that count up from `first`. With more than 2^24 of them the op stays, as
 * a type may have dims that no memory holds, and the list is empty. */
XIR_API xir_ints xir_node_make_ints(xir_node *at, size_t n, int64_t fill);
XIR_API xir_ints xir_node_series(xir_node *at, int64_t first, size_t n);

/* The position of an input by the name that the row or the file gives it; SIZE_MAX if there is no such input. */
XIR_API size_t     xir_node_input_named(const xir_node *at, const char *name);
/* Inputs: whether one is present; a required one; an optional one (NULL if absent). If an input has no tensor type, the
 * node is kept. */
XIR_API bool       xir_node_has(const xir_node *at, size_t i);
XIR_API xir_value *xir_node_input(xir_node *at, size_t i);
XIR_API xir_value *xir_node_optional_input(xir_node *at, size_t i);
/* The elements of a constant as integers (reals are truncated) or as reals; if the input is not a constant, the node is
 * kept. xir_node_is_constant only asks. */
XIR_API bool       xir_node_is_constant(xir_node *at, size_t i);
XIR_API bool       xir_node_ints(xir_node *at, size_t i, xir_ints *out);
XIR_API bool       xir_node_reals(xir_node *at, size_t i, const double **out, size_t *n);
/* An input that must be Params. */
XIR_API xir_value *xir_node_params(xir_node *at, size_t i);

/* Attributes, of a foreign op or of XIR's: NULL or `otherwise` if the node does not have them. A bool counts as the
 * integer 0 or 1, an integer as a real, Params of one element as a number. Words of XIR are texts in capitals. */
XIR_API const xir_any *xir_node_attr(const xir_node *at, const char *name);
XIR_API int64_t        xir_node_int(const xir_node *at, const char *name, int64_t otherwise);
XIR_API double         xir_node_real(const xir_node *at, const char *name, double otherwise);
XIR_API bool           xir_node_bool(const xir_node *at, const char *name, bool otherwise);
XIR_API xir_str        xir_node_text(const xir_node *at, const char *name, const char *otherwise);
XIR_API bool           xir_node_is(const xir_node *at, const char *name, const char *text);
/* A list of integers; false if it is missing. The second takes it from an attribute, or in later versions from an
 * input. The third gives a list of reals or integers as reals. */
XIR_API bool           xir_node_items(xir_node *at, const char *name, xir_ints *out);
XIR_API bool           xir_node_list(xir_node *at, const char *name, size_t input, xir_ints *out);
XIR_API bool           xir_node_real_items(xir_node *at, const char *name, const double **out, size_t *n);
/* Returns the value of an attribute that holds a tensor of numbers. Returns NULL if the node does not have the
 * attribute, or after a failure: if the attribute holds something else, the node is kept. */
XIR_API xir_value     *xir_node_attr_params(xir_node *at, const char *name);
/* Checks a text that must be one of several, "A|B"; false after a finding. If it is missing, it counts as
 * `otherwise`. */
XIR_API bool           xir_node_one_of(xir_node *at, const char *name, const char *otherwise, const char *words);
/* A number, from an attribute or from an input. False after a failure: the input is not a constant. */
XIR_API bool           xir_node_number(xir_node *at, const char *name, size_t input, double otherwise, double *out);
/* Converts an axis that may count from the end to one that counts from the start. `where` is for the finding. */
XIR_API bool           xir_node_axis(xir_node *at, const char *where, int64_t axis, size_t rank, int64_t *out);

/* ---- for hooks: questions about values -------------------------------------------------------------------------- */

/* The dims of a value, in memory of the conversion; unknown ones are negative. NULL has no dims. */
XIR_API xir_ints xir_node_dims(xir_node *at, const xir_value *v);
/* Returns true if dims [from, to) are known; `to` may be past the end. Otherwise the node is kept: what a foreign
 * format decides at run time may be an attribute in XIR. */
XIR_API bool     xir_node_need_dims(xir_node *at, const xir_value *v, size_t from, size_t to);
/* Check inputs i and j (`a` and `b`): that they have the same element type; that they broadcast, aligned at their last
 * dims. If not, they add a finding at input j and return false. They also return false for NULL. */
XIR_API bool     xir_node_same_elements(xir_node *at, size_t i, const xir_value *a, size_t j, const xir_value *b);
XIR_API bool     xir_node_broadcasts(xir_node *at, size_t i, const xir_value *a, size_t j, const xir_value *b);

/* ---- for hooks: making ops -------------------------------------------------------------------------------------- */

/* An attribute of an XIR op. How the value is converted depends on what the class declares. */
typedef enum xir_set_kind {
    XIR_SET_INT,      /* also for a bool, a real, a scalar  */
    XIR_SET_REAL,     /* a real, a scalar                   */
    XIR_SET_ENUM,     /* a text, the word of an enum member */
    XIR_SET_INTS,     /* a list                             */
    XIR_SET_OBJECT,   /* an object, Params, or a list of one object */
    XIR_SET_ANY,      /* as in the file                     */
    XIR_SET_BOOL
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
#define XIR_SETB(name_, v) { .name = (name_), .kind = XIR_SET_BOOL, .i = (v) }
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

/* Makes an op of the class whose key ends in `cls` ("Conv2d") before the node and returns its first output. Absent
 * inputs are NULL. If all inputs are constants of few elements, the op is computed and the result is Params. If the
 * class finds numbers that contradict each other, the node is at fault and gets a finding; for anything else it
 * refuses, the node is kept. The second returns the op, for several outputs, and computes nothing. */
XIR_API xir_value *xir_node_make(xir_node *at, const char *cls, xir_values inputs, xir_sets sets);
XIR_API xir_op    *xir_node_make_op(xir_node *at, const char *cls, xir_values inputs, xir_sets sets);

/* Makes an op of a foreign class, by its key, before the node. If the class has a row that names inputs, `inputs` has
 * their positions: those that are attributes become attributes, absent ones are left out. The op is checked by this
 * row: if it does not fit, the node is kept. Outputs get the given types; without types (n 0), those of the node's
 * outputs. The second makes the op with the key of the node's own row, and makes its outputs those of the node. */
XIR_API xir_op *xir_node_make_foreign(xir_node *at, const char *key, xir_values inputs, xir_sets sets,
                                      const xir_type *const *types, size_t n);
XIR_API bool    xir_node_becomes_foreign(xir_node *at, xir_values inputs, xir_sets sets);

/* New Params: all elements equal to one number; 64-bit integers in one dim; reals (dims NULL: one dim). */
XIR_API xir_value *xir_node_filled(xir_node *at, const xir_type *element, const xir_ints *dims, double value);
XIR_API xir_value *xir_node_integers(xir_node *at, const xir_ints *v);
XIR_API xir_value *xir_node_constant(xir_node *at, const xir_type *element, const xir_ints *dims,
                                     const double *v, size_t n);
/* The value with its axes permuted: axis i of the result is axis order[i] of the value. Params are permuted at once,
 * only once per order, and keep their name. `letters` is the layout of the result; NULL: none. */
XIR_API xir_value *xir_node_transposed(xir_node *at, xir_value *v, const int64_t *order, size_t rank,
                                       const char *letters);

/* Operations that foreign ones often consist of, made by xir_node_make. They return NULL after a failure or for a NULL
 * operand. */

/* A constant of rank 0. */
XIR_API xir_value *xir_node_scalar(xir_node *at, const xir_type *element, double value);
/* alpha * lhs + beta * rhs; lhs * rhs; lhs / rhs; x * factor; an operation of one input without attributes. */
XIR_API xir_value *xir_node_sum(xir_node *at, xir_value *lhs, xir_value *rhs, double alpha, double beta);
XIR_API xir_value *xir_node_product(xir_node *at, xir_value *lhs, xir_value *rhs);
XIR_API xir_value *xir_node_quotient(xir_node *at, xir_value *lhs, xir_value *rhs);
XIR_API xir_value *xir_node_scaled(xir_node *at, xir_value *x, double factor);
XIR_API xir_value *xir_node_unary(xir_node *at, const char *cls, xir_value *x);
/* The same elements in other dims. One of them may be -1 and takes the rest. Params keep their bytes. `letters` is the
 * layout of the result; NULL: none. If more dims are unknown, the node is kept. */
XIR_API xir_value *xir_node_reshaped(xir_node *at, xir_value *x, const xir_ints *dims, const char *letters);
/* Inserts dims of 1 at some axes of the result. `where` is for the finding about an axis that is out of bounds or
 * duplicate. */
XIR_API xir_value *xir_node_unsqueezed(xir_node *at, xir_value *x, const xir_ints *axes, const char *where);
/* The value converted to an element type; the value itself if it already has it. */
XIR_API xir_value *xir_node_cast(xir_node *at, xir_value *x, const xir_type *element);
/* Feature maps of 3 to 5 dims: from channels second (after the batch), as in most formats, to channels last, as in XIR;
 * and back. */
XIR_API xir_value *xir_node_channels_last(xir_node *at, xir_value *x);
XIR_API xir_value *xir_node_channels_second(xir_node *at, xir_value *x);
/* A reduction ("Sum", "Mean", "Max") over axes that count from the start or the end. If the class reduces one dim,
 * one op is made for each axis. Without axes, it is the value itself. */
XIR_API xir_value *xir_node_reduced(xir_node *at, const char *cls, xir_value *x, const xir_ints *axes, bool keep);

/* Sets output `i` of the node. The second makes the first output the first output of a new op. */
XIR_API bool xir_node_result(xir_node *at, size_t i, xir_value *v);
XIR_API bool xir_node_becomes(xir_node *at, const char *cls, xir_values inputs, xir_sets sets);
/* Sets the type of an output of a kept node, or completes the unknown dims of the type that the file declares. */
XIR_API void xir_node_type_output(xir_node *at, size_t i, const xir_type *type);

/* Ready-made hooks: for an op that only returns its first input (a renamed constant remains a constant); for an op that
 * no operation of XIR computes, whose outputs remain without types. */
XIR_API bool xir_convert_copy(xir_node *at);
XIR_API bool xir_convert_unsupported(xir_node *at);

XIR_END

#endif

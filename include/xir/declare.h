/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Turns a .def list into C declarations. Define XIR_DEFS as the list, then include this file. It may be included again
 * for another list, so it has no guard. For `OP (conv2d, …)` it declares
 *
 *     typedef struct xir_conv2d_attrs { int64_t stride_width; … } xir_conv2d_attrs;
 *     typedef struct xir_conv2d_in { xir_value *input, *weights, *bias; } xir_conv2d_in;
 *     typedef struct xir_conv2d_call { …; const xir_conv2d_attrs *attrs; const char *name; } xir_conv2d_call;
 *     const xir_class_decl   *xir_conv2d_class(void);
 *     xir_conv2d_attrs        xir_conv2d_init(void);                      all defaults
 *     xir_value              *xir_make_conv2d(xir_at at, const xir_conv2d_call *call);     called by XIR_OP (sugar.h)
 *     xir_op                 *xir_add_conv2d(xir_at at, xir_conv2d_in in, const xir_conv2d_attrs *attrs);  gives the op
 *     const xir_conv2d_attrs *xir_conv2d_of(const xir_op *op);            NULL if of another class
 *     xir_status              xir_conv2d_set(xir_op *op, const xir_conv2d_attrs *attrs);
 *
 * and for `OBJ (aligned_unit, …)` the struct (with its head first), class, init, make and a checked cast.
 *
 * Attributes come from xir_conv2d_init, from XIR_ATTRS (sugar.h) or from another op; NULL is all defaults, and is
 * refused with XIR_E_MISSING if an attribute has none. A struct from an initialiser is refused with XIR_E_INVALID: a
 * member that it leaves out is zero instead of its default.
 *
 * The words of a list, with their columns in order; min and max may be NO_MIN, NO_MAX (for reals NO_LOW, NO_HIGH):
 *     ENUM_OF(id, PREFIX) MEMBER(PREFIX, WORD) END_ENUM(id)   before what it is an attribute of
 *     OP  (id, tag, key, traits, doc) … END(id)        OBJ (id, key, base, traits, doc) … END_OBJ(id)
 *     IN OPT VAR OUT OUTS (name, doc)
 *     BOOL(name, default, doc)   I64 U64 (name, default, min, max, doc)
 *     REAL(name, default, min, max, doc)         TEXT(name, default, doc)
 *     ENUM(name, type, default, doc)   REF OPT_REF REFS (name, type, doc)   MAP(name, doc)
 *     DEFAULT_REF DEFAULT_REFS (name, type, default, doc)   the default as in files, "@scales([axis=-1])", "1.0"
 *     PARAMS OPT_PARAMS PARAMSS OPS BOOLS I64S REALS TEXTS RUNS (name, doc)
 *     NEED_I64(name, min, max, doc)   NEED_REAL(…)   NEED_I64S NEED_TEXT (name, doc)
 *     OPT_I64S(name, doc)   a list that may be null: then its `data` is NULL, while an empty list has data
 *     SINGLE_PARAMSS(name, doc)   a list that old files write as its only item
 *     ALIAS(key)  WAS(name, old name)  CHECK(function)  INFER(function)  INFER_ON(target, function)
 *     INFER_FOR(key, function)   for a target of a program or plug-in, which must be registered before the class
 *     INFER_TILED(function)   for every target that accepts tiled layouts and has no INFER_ON or INFER_FOR
 *     INFER_ALONE(function)  INFER_ALONE_ON(target, function)  INFER_ALONE_TILED(function)   inference that itself
 *         refuses all that CHECK refuses: CHECK is not run before it
 *     WORK(function)   how much an op computes, see work.h; without it, nobody knows what the op costs (cost.h), and
 *         limits count one element operation for each element of its outputs
 *     TAKES(function)   which numbers its inputs take, see takes.h; without it, all numbers
 *     NEEDS(function)   which part of each input a part of an output needs, see needed.h: exactly that part
 *     NEEDS_WITHIN(function)   the same, but it may be more than what is needed; without either, the whole inputs
 *     TRAIT(key)   a trait of a program or plug-in, acme::Fusable, see class.h; any number of them
 *     FORM(form)
 *     FORMULA(text) GIVES(text) UNLIKE(text)   for the reference: what it computes, how the output type follows, where
 *         it differs from PyTorch or ONNX; any number of each, one sentence per row
 *     LAYOUT(kind, flags…, form, attributes…)   what the op does if its inputs come with their axes in another order,
 *         for the pass `layout`; at most one. Without it, the op works in its own order only. The kind says how the
 *         orders of inputs and outputs are related:
 *             ANCHOR    works in its own order, channels last, and so should its neighbours; finds axes by letters
 *             FIXED     works in its own order, and finds axes by their letters
 *             EACH      element by element: all inputs broadcast to the outputs, in one order
 *             SAME      the first input and the outputs are in one order; other inputs are left alone
 *             JOIN      all inputs, of one rank, and the outputs are in one order
 *             LOSE      the output lacks the named axes; a bool may follow the form's attribute: if it is true, they
 *                       remain as dims of 1
 *             GAIN      the inputs have one rank, the output has one axis more; its name counts as in the output
 *             GATHER    the named axis of the first input becomes the axes of the second
 *             RESHAPE   the same elements in row-major order, in other dims
 *             SHAPE     gives the dims of the input
 *             MATMUL    [..., m] times [m, p] (+ [p]): rows and columns of a constant follow axes merged into the last
 *         The form says how attributes refer to axes; they are rewritten with the order:
 *             AXIS      an I64, from the end if negative     AXIS_REF  an integer, or null for all axes (xir_int_imm)
 *             AXES      an I64S; empty: all axes             TYPE      the tensor type of the output
 *             ITEMS     one to three I64S with one item per axis, the last item for the last axis; missing items are 1
 *             PAIRS     an I64S with two items per axis
 *             FACTORS   one to three lists or Params; several numbers lie along the channels, as with CHANNELS
 *             DIMS      of RESHAPE: the dims (I64S) and the layout of the output
 *             RANGE     of SHAPE: the first dim (I64) and the one after the last (an integer or null)
 *         The flags restrict when the op can work in another order:
 *             CHANNELS  works along the axis C, otherwise the last one, which must then be last
 *             BATCH     the same for the axis N, otherwise the first one; together with CHANNELS
 *             IN_TURN   the named axes must keep their relative order
 *             NAMED     only if an axis is named: all axes means something else
 *             ONES      without named axes, all dims of 1 count as named
 *     NORMALISED(kind, names…)   what the op computes if a map (an input or output) is in normalised numbers,
 *         x / ratio; see docs/executor.md. At most one. Without it, such an op is not computed. The names are inputs
 *         and attributes whose constants the row covers; other numeric attributes must have their defaults. The kinds:
 *             REAL      computes from what the maps stand for; the named constants are real numbers too
 *             EVEN      the same if no named constant is present; otherwise the ratios of all maps must be equal
 *             SCALED    each map is multiplied by a constant, and constants are added: the constants contain the ratios
 *             PRODUCT   the first input times the second: a constant operand, and what is added, contain the ratios;
 *                       for two maps the named scales do (an attribute of xir_scales)
 *
 *     SHARES(kind, names…)   whose bytes the outputs may have, for liveness.h; at most one. Without it, every output
 *         has bytes of its own. The names are inputs, one of them may be the last, of any number; then attributes. The
 *         first two kinds are about the first output:
 *             VIEW      the output is the bytes of the one named input, in other dims or another layout
 *             OVER      the output may be written over the bytes of a named input that nobody reads any more: an
 *                       element of the output depends on the element of this input in the same place, and on no other
 *                       element of this input
 *             DIVIDES   the outputs are parts of the named input, one after the other along an axis, a named attribute
 *             PICKS     the output is a part of the named input: two named attributes are lists with the start and the
 *                       step of each dim
 *             JOINS     inputs of the named port are parts of the output, one after the other along an axis, a named
 *                       attribute, which counts the dims of the output
 *
 *     COMPOSED(text)   the small network of other ops that it means; at most one. Inference, checks, work, the numbers
 *         that inputs take, needed parts, the row SHARES and the kernel follow from it, as far as the class does not
 *         have its own rows CHECK, INFER, WORK, TAKES, NEEDS and SHARES and a kernel. The parts run in the order of
 *         the text:
 *             "%c = Conv2d(%input, %weights, %bias){*}; %s = Add(%c, %residual)?; %output = ReLU(%s){max_value=high}"
 *         In the words of the grammar, `{ x }` is x any number of times, `[ x ]` at most once, quotes are literal:
 *             text    = part { ";" part }
 *             part    = result { "," result } "=" CLASS "(" [ operand { "," operand } ] ")" [ "?" ]
 *                       [ "{" [ set { "," set } ] "}" ]
 *             result  = "%" NAME
 *             operand = "%" NAME | PARAMS | term | "_"
 *             set     = "*" | NAME "=" value
 *             value   = term | "[" [ term { "," term } ] "]" | NAME | WORD | "@" FORM | TEXT | LAYOUT
 *                     | ( "layout" | "type" | "element" ) "(" "%" NAME ")"
 *             term    = sums, differences, products and quotients of numbers, attributes of the class, and dims of
 *                       values, "%input[-1]" or "%input.C"; parentheses
 *         - A value is an input of the class, or the result of a part before. A part makes each output of the class,
 *           under the name of the output. An input that takes any number of values can be the last operand of a part
 *           that does.
 *         - CLASS is a key of a class that is registered before; without "::", of icraft::xir or xir.
 *         - PARAMS is an attribute of the class that is Params. A term as an operand is a constant with one element, of
 *           the element type of the first value that the part reads; fp32 if those are not plain numbers. "_" is an
 *           input that is absent.
 *         - "*" passes on all attributes that class and part have under one name, a NAME one of the class. WORD is a
 *           member of an enum, true, false or null; FORM and LAYOUT are spelled as in files.
 *         - A quotient of integers must be whole. A dim that is not known becomes -1 in a list, and is refused
 *           elsewhere.
 *         - A part with "?" is left out if an operand that it needs is absent: then it stands for its first operand.
 *     COMPOSED_WITHIN(tolerance, text)   the same; a kernel of the class's own may differ from the parts by this
 *         relative tolerance
 *
 * The functions are hidden outside of the program or shared object that contains the list. So two plug-ins may use the
 * same id for an op, or the id of a library op. A shared library that exports its classes first defines XIR_DECLARED as
 * XIR_API.
 */
#include <xir/op.h>

#ifndef XIR_DECLARED
#define XIR_DECLARED XIR_HIDDEN
#endif

#include <xir/decl_off.h>

XIR_BEGIN

/* Enums, and attribute structs, whose last member is XIR_MADE_ if xir_X_init made them. */
#define ENUM_OF(id, prefix)             typedef enum xir_##id {
#define MEMBER(prefix, name)            XIR_##prefix##_##name,
#define END_ENUM(id)                    } xir_##id; XIR_DECLARED const xir_enum *xir_##id##_enum(void);
#define OP(id, tag, key, traits, doc)   typedef struct xir_##id##_attrs {
#define OBJ(id, key, base, traits, doc) typedef struct xir_##id { xir_object head;
#define END(id)                         uint32_t xir_made_; } xir_##id##_attrs;
#define END_OBJ(id)                     } xir_##id;
#define BOOL(name, ...)                 bool name;
#define I64(name, ...)                  int64_t name;
#define U64(name, ...)                  uint64_t name;
#define REAL(name, ...)                 double name;
#define TEXT(name, ...)                 xir_str name;
#define ENUM(name, type, ...)           type name;
#define REF(name, type, ...)            const type *name;
#define OPT_REF(name, type, ...)        const type *name;
#define REFS(name, ...)                 xir_refs name;
#define DEFAULT_REF(name, type, ...)    const type *name;
#define DEFAULT_REFS(name, ...)         xir_refs name;
#define MAP(name, ...)                  xir_map name;
#define PARAMS(name, ...)               xir_value *name;
#define OPT_PARAMS(name, ...)           xir_value *name;
#define PARAMSS(name, ...)              xir_values name;
#define SINGLE_PARAMSS(name, ...)       xir_values name;
#define OPS(name, ...)                  xir_ops name;
#define BOOLS(name, ...)                xir_bools name;
#define I64S(name, ...)                 xir_i64s name;
#define REALS(name, ...)                xir_reals name;
#define TEXTS(name, ...)                xir_texts name;
#define RUNS(name, ...)                 xir_runs name;
#define NEED_I64(name, ...)             int64_t name;
#define NEED_REAL(name, ...)            double name;
#define NEED_TEXT(name, ...)            xir_str name;
#define NEED_I64S(name, ...)            xir_i64s name;
#define OPT_I64S(name, ...)             xir_i64s name;
#define IN(name, doc)
#define OPT(name, doc)
#define VAR(name, doc)
#define OUT(name, doc)
#define OUTS(name, doc)
#include <xir/decl_silent.h>
#include XIR_DEFS
#include <xir/decl_off.h>

/* The arguments of XIR_OP: the inputs, laid out as in the struct of inputs, and the rest. */
#define ENUM_OF(id, prefix)
#define MEMBER(prefix, name)
#define END_ENUM(id)
#define OP(id, tag, key, traits, doc) typedef struct xir_##id##_call {
#define IN(name, doc)                 xir_value *name XIR_ZERO_;
#define OPT(name, doc)                xir_value *name XIR_ZERO_;
#define VAR(name, doc)                xir_values name XIR_ZERO_;
#define END(id)                       const xir_##id##_attrs *attrs XIR_ZERO_;                   \
                                      const char *name XIR_ZERO_; } xir_##id##_call;
#define OBJ(id, key, base, traits, doc)
#define END_OBJ(id)
#define OUT(name, doc)
#define OUTS(name, doc)
#include <xir/decl_none.h>
#include XIR_DEFS
#include <xir/decl_off.h>

/* Input structs and functions. */
#define ENUM_OF(id, prefix)
#define MEMBER(prefix, name)
#define END_ENUM(id)
#define OP(id, tag, key, traits, doc) typedef struct xir_##id##_in {
#define IN(name, doc)                 xir_value *name;
#define OPT(name, doc)                xir_value *name;
#define VAR(name, doc)                xir_values name;
#define END(id)                                                                                  \
    char xir_end_; } xir_##id##_in;                                                              \
    XIR_DECLARED const xir_class_decl *xir_##id##_class(void);                                   \
    XIR_DECLARED xir_##id##_attrs xir_##id##_init(void);                                         \
    XIR_DECLARED xir_op *xir_add_##id(xir_at at, xir_##id##_in in, const xir_##id##_attrs *attrs); \
    XIR_DECLARED xir_value *xir_make_##id(xir_at at, const xir_##id##_call *call);               \
    XIR_DECLARED const xir_##id##_attrs *xir_##id##_of(const xir_op *op);                        \
    XIR_DECLARED xir_status xir_##id##_set(xir_op *op, const xir_##id##_attrs *attrs);
#define OBJ(id, key, base, traits, doc)                                                          \
    XIR_DECLARED const xir_class_decl *xir_##id##_class(void);                                   \
    XIR_DECLARED xir_##id        xir_##id##_init(void);                                          \
    XIR_DECLARED const xir_##id *xir_##id##_make(xir_context *ctx, const xir_##id *body, xir_diags *why); \
    XIR_DECLARED const xir_##id *xir_##id##_of(const xir_object *object);
#define END_OBJ(id)
#define OUT(name, doc)
#define OUTS(name, doc)
#include <xir/decl_none.h>
#include XIR_DEFS
#include <xir/decl_off.h>

XIR_END

#undef XIR_DECLARED
#undef XIR_DEFS

/* Turns a .def list into C declarations. Include it with XIR_DEFS naming the list; may be included again for
 * another list, so it has no guard. For `OP (conv2d, …)` it declares
 *
 *     typedef struct xir_conv2d_attrs { int64_t stride_width; … } xir_conv2d_attrs;
 *     typedef struct xir_conv2d_in { xir_value *input, *weights, *bias; } xir_conv2d_in;
 *     const xir_class_decl   *xir_conv2d_class(void);
 *     xir_conv2d_attrs        xir_conv2d_init(void);                      every default
 *     xir_op                 *xir_add_conv2d(xir_at at, xir_conv2d_in in, const xir_conv2d_attrs *attrs);
 *     const xir_conv2d_attrs *xir_conv2d_of(const xir_op *op);            NULL: another class
 *     xir_status              xir_conv2d_set(xir_op *op, const xir_conv2d_attrs *attrs);
 *
 * and for `OBJ (aligned_unit, …)` the struct (its head first), class, init, make and a checked cast.
 *
 * The words of a list, columns in order; min and max may be NO_MIN, NO_MAX (reals: NO_LOW, NO_HIGH):
 *     ENUM_OF(id, PREFIX) MEMBER(PREFIX, WORD) END_ENUM(id)
 *     OP  (id, tag, key, traits, doc) … END(id)        OBJ (id, key, base, traits, doc) … END_OBJ(id)
 *     IN OPT VAR OUT OUTS (name, doc)
 *     BOOL(name, default, doc)   I64 U64 (name, default, min, max, doc)
 *     REAL(name, default, min, max, doc)         TEXT(name, default, doc)
 *     ENUM(name, type, default, doc)   REF OPT_REF REFS (name, type, doc)   MAP(name, doc)
 *     DEFAULT_REF DEFAULT_REFS (name, type, default, doc)   the default as files spell it, "@scales([axis=-1])", "1.0"
 *     PARAMS OPT_PARAMS PARAMSS OPS BOOLS I64S REALS TEXTS RUNS (name, doc)
 *     NEED_I64(name, min, max, doc)   NEED_REAL(…)   NEED_I64S NEED_TEXT (name, doc)
 *     OPT_I64S(name, doc)   a list that may be null, which its `data` then is; an empty one has data
 *     SINGLE_PARAMSS(name, doc)   a list that old files write as its only item
 *     ALIAS(key)  WAS(name, old name)  CHECK(function)  INFER(function)  INFER_ON(target, function)
 *     INFER_FOR(key, function)   for a target of a program or plug-in, which must be registered before the class
 *     INFER_TILED(function)   for every target that takes tiled layouts and has no INFER_ON or INFER_FOR
 *     INFER_ALONE(function)  INFER_ALONE_ON(target, function)  INFER_ALONE_TILED(function)   inference that refuses by
 *         itself all that CHECK refuses: CHECK is not run before it
 *     WORK(function)   how much an op computes, see work.h; without it an op takes an element operation for each element of its
 *         outputs
 *     FORM(form)
 *     FORMULA(text) GIVES(text) UNLIKE(text)   for the reference: what it computes, how the output's type follows, where it
 *         differs from PyTorch or ONNX; any number of each, a sentence a row
 *     LAYOUT(kind, flags…, form, attributes…)   what the op does when its inputs come with their axes in another order, for the pass
 *         `layout`; at most one, without it the op works in its own order only. The kind says how orders are related:
 *             ANCHOR    works in its own order, and its neighbours should: it finds axes by their letters, channels last
 *             FIXED     works in its own order, and finds axes by their letters
 *             EACH      element by element: all inputs broadcast to the outputs, in one order
 *             SAME      the first input and the outputs are in one order; other inputs stay as they are
 *             JOIN      all inputs, of one rank, and the outputs are in one order
 *             LOSE      the output lacks the axes that are named; a bool after the form's attribute: true keeps them as dims of 1
 *             GAIN      inputs of one rank, the output has one axis more, which is named as the output counts
 *             GATHER    the named axis of the first input becomes those of the second
 *             RESHAPE   the same elements in row-major order, in other dims
 *             SHAPE     gives the dims of the input
 *             MATMUL    [..., m] times [m, p] (+ [p]): rows and columns of a constant follow axes merged into the last one
 *         the form what attributes say of axes, which are rewritten with the order:
 *             AXIS      an I64, from the end if negative          AXIS_REF  an integer or null, all axes (xir_int_imm)
 *             AXES      an I64S; empty: all axes                  TYPE      the output's tensor type
 *             ITEMS     one to three I64S with an item an axis, the last for the last axis; missing ones are 1
 *             PAIRS     an I64S with two items an axis
 *             FACTORS   one to three lists or Params; if one has several numbers they lie along the channels, as with CHANNELS
 *             DIMS      of RESHAPE: the dims (I64S) and the layout of the output
 *             RANGE     of SHAPE: the first dim (I64) and the one after the last (an integer or null)
 *         and flags when it can:
 *             CHANNELS  works along the axis C, else the last one: that has to be the last one then
 *             BATCH     the same of the axis N, else the first one; with CHANNELS
 *             IN_TURN   the axes that are named have to stay in their order
 *             NAMED     only if an axis is named: all axes are something else
 *             ONES      where no axis is named, all dims of 1 are
 *     NORMALISED(kind, names…)   what the op computes where a map, an input or output, is in normalised numbers, x / ratio; see
 *         docs/executor.md. At most one; without it the op is not computed there. The names are those of inputs and attributes whose
 *         constants the row speaks of; other numbers among the attributes have to be their defaults. The kinds:
 *             REAL      from what its maps stand for; the constants that are named are real numbers too
 *             EVEN      the same, as long as no named constant is there; with one, the ratios of all maps have to be the same
 *             SCALED    each map is multiplied by a constant, and constants are added: they hold the ratios
 *             PRODUCT   the first input times the second: a constant among them, and what is added, hold the ratios; of two maps
 *                       the scales that are named do (an attribute of xir_scales)
 *
 * The functions are hidden outside of the program or shared object that has the list, so that two plug-ins may call an
 * op by the same id, or as one of the library's. A shared library that offers its classes defines XIR_DECLARED as
 * XIR_API first.
 */
#include <xir/op.h>

#ifndef XIR_DECLARED
#define XIR_DECLARED XIR_HIDDEN
#endif

#include <xir/decl_off.h>

XIR_BEGIN

/* Enums. */
#define ENUM_OF(id, prefix)       typedef enum xir_##id {
#define MEMBER(prefix, name)      XIR_##prefix##_##name,
#define END_ENUM(id)              } xir_##id; XIR_DECLARED const xir_enum *xir_##id##_enum(void);
#define OP(id, tag, key, traits, doc)
#define OBJ(id, key, base, traits, doc)
#define END(id)
#define END_OBJ(id)
#include <xir/decl_none.h>
#include XIR_DEFS
#include <xir/decl_off.h>

/* Attribute structs. The last member is there for classes without attributes. */
#define ENUM_OF(id, prefix)
#define MEMBER(prefix, name)
#define END_ENUM(id)
#define OP(id, tag, key, traits, doc)   typedef struct xir_##id##_attrs {
#define OBJ(id, key, base, traits, doc) typedef struct xir_##id { xir_object head;
#define END(id)                         char xir_end_; } xir_##id##_attrs;
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

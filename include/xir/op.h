/* Operations and values: what a network consists of. An op and its values belong to their network and keep their
 * address until it is freed (but see xir_op_set_outputs). One thread changes a network at a time; many may read it. */
#ifndef XIR_OP_H
#define XIR_OP_H

#include <xir/class.h>

XIR_BEGIN

typedef struct xir_network xir_network;
typedef struct xir_mtype   xir_mtype;

#define XIR_NO_ID INT64_MIN  /* "number it for me" */

/* A cursor: where and how the next op is added. Set once, passed by value; zero but for `net` is the end of the
 * network. */
typedef struct xir_at {
    xir_network           *net;
    const xir_target      *target;   /* NULL: host                                              */
    xir_str                scope;    /* put before every name, "stem/"                          */
    xir_str                name;     /* of the one op that is added next                        */
    const xir_type *const *types;    /* of its outputs; NULL: infer them                        */
    size_t                 n_types;
    xir_op                *before;   /* the op to insert before; NULL: at the end               */
    const char            *file;     /* the caller's place, for diagnostics; may be NULL        */
    int                    line;
} xir_at;

/* An attribute by its name, as xir_op_set takes it. */
typedef struct xir_named_attr {
    xir_str  name;
    xir_attr value;
} xir_named_attr;

/* Everything about a new op: XIR_INIT(xir_op_desc, .cls = cls, .id = XIR_NO_ID, …). All is copied. */
typedef struct xir_op_desc {
    uint32_t               size;
    const xir_class       *cls;
    const void            *attrs;     /* the class's attribute struct; NULL: all defaults          */
    xir_value *const      *inputs;    /* NULL items: absent optional inputs                        */
    size_t                 n_inputs;
    const xir_type *const *types;     /* of the outputs; NULL: infer them                          */
    size_t                 n_types;
    const xir_target      *target;    /* NULL: host                                                */
    xir_str                name;
    int64_t                id;        /* XIR_NO_ID: one more than the highest                      */
    xir_op                *before;    /* NULL: at the end                                          */
    const xir_named_attr  *named;     /* attributes that replace those of `attrs`: for a class whose struct the
                                         program does not have, as one of a plug-in                        */
    size_t                 n_named;
} xir_op_desc;

/* Makes an op and places it: the way under all sugar. Attributes are checked (bounds, words, references),
 * reals rounded to float32, equal ones shared. Without `types`, inference makes the outputs. Then ids are given to
 * Params inputs, Params attributes and outputs, in this order, and the op enters the execution order.
 * Refused (NULL, a finding in the network, which is otherwise as before): a struct without its size; a taken id; an
 * Input in a network that is not empty, another op in an empty one; no inputs where the class needs some; inputs of
 * another network; whatever inference and checks refuse. After a failure the network's status is the first failure's
 * and stays so. */
XIR_API xir_op *xir_network_add(xir_network *net, const xir_op_desc *desc);

/* The same in two steps, for ops that are made before it is known where they go. A new op has negative ids,
 * counts as a user of its inputs, and is in no order until placed. Placing refuses what xir_network_add refuses;
 * an op that is never placed dies with its network or by xir_op_erase. */
XIR_API xir_op    *xir_op_new(xir_network *net, const xir_op_desc *desc);
XIR_API xir_status xir_op_place(xir_op *op, xir_op *before);

/* What the constructors that declare.h makes call. `in` is the class's struct of inputs. A NULL input that is not
 * optional, as a failed call before gives, is a failure that adds no finding if there is one already. */
XIR_API xir_op *xir_op_build(xir_at at, const xir_class_decl *decl, const void *in, const void *attrs);

/* ---- asking an op: none of these fails ------------------------------------------------------------------- */

/* What an op is. Texts and pointers live until they are set anew, at most as long as the network. */
XIR_API xir_network      *xir_op_network(const xir_op *op);
XIR_API const xir_class  *xir_op_class(const xir_op *op);
XIR_API bool              xir_op_is(const xir_op *op, const xir_class_decl *decl);
XIR_API bool              xir_op_is_activation(const xir_op *op);
XIR_API int64_t           xir_op_id(const xir_op *op);          /* negative: not placed            */
XIR_API xir_str           xir_op_name(const xir_op *op);
XIR_API const xir_target *xir_op_target(const xir_op *op);
/* The op that has it among its sub ops; NULL for the others. */
XIR_API xir_op           *xir_op_parent(const xir_op *op);
XIR_API bool              xir_op_is_placed(const xir_op *op);
/* Returns true if the op has been erased: by xir_op_erase, with its parent, or because a failed call took it back. Its
 * address stays valid until the network is freed, so a list of ops that a program keeps may be asked. An erased op
 * answers nothing else. NULL is not erased. */
XIR_API bool              xir_op_is_erased(const xir_op *op);

/* Inputs by position; NULL is an absent one, or a position past the end. Negative positions count from the end. */
XIR_API size_t     xir_op_input_count(const xir_op *op);
XIR_API xir_value *xir_op_input(const xir_op *op, int64_t i);
/* The input of a port's name, "weights"; NULL if absent or unknown. */
XIR_API xir_value *xir_op_input_named(const xir_op *op, xir_str port);
/* Writes the positions at which `value` is fed, up to `room`, and returns how many there are. */
XIR_API size_t     xir_op_input_index(const xir_op *op, const xir_value *value, size_t *out, size_t room);

/* Outputs by position, from the end if negative; NULL past the end. */
XIR_API size_t     xir_op_output_count(const xir_op *op);
XIR_API xir_value *xir_op_output(const xir_op *op, int64_t i);

/* Neighbours in execution order, constant time; NULL at the ends. Whether `a` runs before `b` (both placed in
 * one network): constant time. */
XIR_API xir_op *xir_op_next(const xir_op *op);
XIR_API xir_op *xir_op_prev(const xir_op *op);
XIR_API bool    xir_op_before(const xir_op *a, const xir_op *b);

/* A number that no other op of the network has or had, below xir_network_slot_count: an index into the
 * arrays of a pass. */
XIR_API uint32_t xir_op_slot(const xir_op *op);

/* Ops that make this one's inputs, and ops that use its outputs: each once, in execution order if `sorted`,
 * otherwise in order of discovery. Writes up to `room`, returns how many there are. */
XIR_API size_t xir_op_producers(const xir_op *op, bool sorted, xir_op **out, size_t room);
XIR_API size_t xir_op_consumers(const xir_op *op, bool sorted, xir_op **out, size_t room);

/* Params among the inputs, and in the attributes (sub ops' included). Write up to `room`, return the count. */
XIR_API size_t xir_op_params_inputs(const xir_op *op, xir_value **out, size_t room);
XIR_API size_t xir_op_params_attrs(const xir_op *op, xir_value **out, size_t room);

/* ---- attributes ----------------------------------------------------------------------------------------- */

/* The attribute struct if the op is of that class, otherwise NULL. Equal structs are shared between ops: to change
 * one, copy it, change the copy, set it. Valid until the op's attributes are set again. */
XIR_API const void *xir_op_body(const xir_op *op, const xir_class_decl *decl);

/* Replaces all attributes, checked and copied as in xir_network_add. On failure nothing changes. */
XIR_API xir_status xir_op_set_body(xir_op *op, const xir_class_decl *decl, const void *attrs);

/* One attribute by name. Getting an undeclared one that the op carries gives XIR_E_UNKNOWN (see
 * xir_op_extra). Setting an undeclared name is XIR_E_UNKNOWN with a suggestion, a wrong kind XIR_E_TYPE, a
 * number out of bounds XIR_E_BOUNDS; an integer is taken for a real. */
XIR_API xir_status xir_op_get(const xir_op *op, xir_str name, xir_attr *out);
XIR_API xir_status xir_op_set(xir_op *op, xir_str name, const xir_attr *attr);
XIR_API xir_status xir_op_set_i64(xir_op *op, const char *name, int64_t v);
XIR_API xir_status xir_op_set_bool(xir_op *op, const char *name, bool v);
XIR_API xir_status xir_op_set_real(xir_op *op, const char *name, double v);
/* Text, or the word of an enum. */
XIR_API xir_status xir_op_set_text(xir_op *op, const char *name, const char *v);
XIR_API xir_status xir_op_set_i64s(xir_op *op, const char *name, const int64_t *v, size_t n);
/* Whether the op declares or carries an attribute of this name. */
XIR_API bool xir_op_has(const xir_op *op, xir_str name);

/* Undeclared attributes: what a file had and the class does not declare, or what a program adds under a name of its
 * own. Values are copied; NULL removes. XIR_E_EXISTS if the class declares the name. */
XIR_API const xir_map *xir_op_extra(const xir_op *op);
XIR_API xir_status     xir_op_set_extra(xir_op *op, xir_str name, const xir_any *value);

/* ---- tags: notes on ops, values and networks that files carry ------------------------------------------------ */

/* The tags; NULL: none. Valid until one is set. */
XIR_API const xir_map *xir_op_tags(const xir_op *op);
/* Sets, or with NULL removes, a tag. The value is copied. */
XIR_API xir_status     xir_op_set_tag(xir_op *op, xir_str key, const xir_any *value);

/* ---- changing an op ------------------------------------------------------------------------------------------ */

/* The text is copied; two ops may have one name. */
XIR_API xir_status xir_op_set_name(xir_op *op, xir_str name);
/* XIR_E_EXISTS if another op of the network has the id, XIR_E_BOUNDS if it is negative. */
XIR_API xir_status xir_op_set_id(xir_op *op, int64_t id);
XIR_API xir_status xir_op_set_target(xir_op *op, const xir_target *target);

/* Inputs. Positions past the end are XIR_E_BOUNDS; values of another network XIR_E_INVALID. None of them
 * infers anew: see xir_op_infer. */
XIR_API xir_status xir_op_set_input(xir_op *op, size_t i, xir_value *value);     /* NULL: absent */
XIR_API xir_status xir_op_add_input(xir_op *op, xir_value *value);
XIR_API xir_status xir_op_insert_input(xir_op *op, size_t i, xir_value *value);
XIR_API xir_status xir_op_set_inputs(xir_op *op, xir_value *const *values, size_t n);
/* Every position that has `old` gets `now`. */
XIR_API xir_status xir_op_replace_input(xir_op *op, xir_value *old, xir_value *now);
/* Takes a position, or every position of one value, out; the later ones move up. */
XIR_API xir_status xir_op_remove_input(xir_op *op, size_t i);
XIR_API xir_status xir_op_remove_input_id(xir_op *op, int64_t v_id);
XIR_API void       xir_op_clear_inputs(xir_op *op);

/* Makes the outputs have these types: values that are there keep id, name, tags and uses, missing ones are made,
 * surplus ones must be unused (XIR_E_IN_USE). The outputs of an op lie together: if one that has outputs gets more,
 * all of them move, and pointers to them must be asked for anew. */
XIR_API xir_status xir_op_set_outputs(xir_op *op, const xir_type *const *types, size_t n);

/* Whether anything is registered that infers the op's outputs. */
XIR_API bool xir_op_can_infer(const xir_op *op);

/* Infers the output types again. Without `override` only outputs that are missing are made; with it, types that
 * differ are replaced. XIR_E_UNKNOWN if nothing is registered for the class. */
XIR_API xir_status xir_op_infer(xir_op *op, bool override);

/* Checks the op: rows, ports, then the class's own rule; adds every fault to `why` with `path` in front.
 * Returns the first fault's status. */
XIR_API xir_status xir_op_validate(const xir_op *op, xir_diags *why);

/* Equality. Identical: ids, names, tags too. Structural: class, target, attributes, operands by identity, and types of
 * outputs: what a pass may merge. */
XIR_API bool xir_op_identical(const xir_op *a, const xir_op *b);
XIR_API bool xir_op_structural_equal(const xir_op *a, const xir_op *b);
XIR_API uint32_t xir_op_structural_hash(const xir_op *op);

/* A new unplaced op: same class, attributes, operands, name and tags; fresh ids. NULL on failure. */
XIR_API xir_op *xir_op_clone(const xir_op *op);

/* Takes an op out and forgets it. XIR_E_IN_USE, naming a user, while an output is used. */
XIR_API xir_status xir_op_erase(xir_op *op);

/* ---- values -------------------------------------------------------------------------------------------------- */

/* Who it is. None fails; texts live until they are set anew, at most as long as the network. */
XIR_API xir_network     *xir_value_network(const xir_value *value);
XIR_API int64_t          xir_value_id(const xir_value *value);      /* negative: not placed         */
XIR_API xir_str          xir_value_name(const xir_value *value);
/* The type; NULL where a foreign file has none. */
XIR_API const xir_type  *xir_value_type(const xir_value *value);
XIR_API const xir_mtype *xir_value_mtype(const xir_value *value);
/* The op whose output it is, and which one; NULL and 0 for Params and for values whose maker a broken file lacks. */
XIR_API xir_op          *xir_value_op(const xir_value *value);
XIR_API size_t           xir_value_index(const xir_value *value);
XIR_API bool             xir_value_is_params(const xir_value *value);

/* Where it is used: input positions, each a use; in no particular order. Iterate with
 *     for (const xir_use *u = xir_value_uses(v); u; u = xir_use_next(u)) … */
typedef struct xir_use xir_use;
XIR_API const xir_use *xir_value_uses(const xir_value *value);
XIR_API const xir_use *xir_use_next(const xir_use *use);
XIR_API xir_op        *xir_use_op(const xir_use *use);
XIR_API size_t         xir_use_index(const xir_use *use);
XIR_API size_t         xir_value_use_count(const xir_value *value);

/* Name (copied), type and memory type are replaced; the users of the value see the new ones at once, and are not
 * inferred again. An id must be free, XIR_E_EXISTS, and not negative, XIR_E_BOUNDS; all may find no memory. */
XIR_API xir_status     xir_value_set_name(xir_value *value, xir_str name);
XIR_API xir_status     xir_value_set_id(xir_value *value, int64_t id);
XIR_API xir_status     xir_value_set_type(xir_value *value, const xir_type *type);
XIR_API xir_status     xir_value_set_mtype(xir_value *value, const xir_mtype *mtype);
/* As of ops: NULL if there are none; what is set is copied, NULL removes it. */
XIR_API const xir_map *xir_value_tags(const xir_value *value);
XIR_API xir_status     xir_value_set_tag(xir_value *value, xir_str key, const xir_any *tag);
/* Undeclared keys that a file had for the value; NULL: none. */
XIR_API const xir_map *xir_value_extra(const xir_value *value);

/* Every use of `old` becomes a use of `now`: costs the uses. Values of one network. */
XIR_API xir_status xir_value_replace(xir_value *old, xir_value *now);

XIR_END

#endif

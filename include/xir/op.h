/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operations and values: what a network consists of. An op and its values belong to their network, and their addresses
 * stay valid until it is freed (but see xir_op_set_outputs). One thread may change a network at a time; while none
 * does, any number may read it. */
#ifndef XIR_OP_H
#define XIR_OP_H

#include <xir/class.h>

XIR_BEGIN

typedef struct xir_network xir_network;
typedef struct xir_mtype   xir_mtype;

#define XIR_NO_ID INT64_MIN  /* "choose an id" */

/* A cursor: where and how the next op is added. Set it once, pass it by value. With only `net` set, it is the end of
 * the network. */
typedef struct xir_at {
    xir_network           *net;
    const xir_target      *target;   /* NULL: host                                              */
    xir_str                scope;    /* put before every name, "stem/"                          */
    xir_str                name;     /* of the op that is added next, and only of that one      */
    const xir_type *const *types;    /* of its outputs; NULL: infer them                        */
    size_t                 n_types;
    xir_op                *before;   /* the op to insert before; NULL: at the end               */
    const char            *file;     /* the caller's source line, for diagnostics; may be NULL  */
    int                    line;
    bool                   is_fixed; /* the place stays: XIR_OP and the like do not set theirs  */
} xir_at;

/* An attribute and its name, as for xir_op_set. */
typedef struct xir_named_attr {
    xir_str  name;
    xir_attr value;
} xir_named_attr;

/* Everything about a new op: XIR_INIT(xir_op_desc, .cls = cls, .id = XIR_NO_ID, …). Everything is copied. */
typedef struct xir_op_desc {
    uint32_t               size;
    const xir_class       *cls;
    const void            *attrs;     /* the attribute struct, from xir_X_init; NULL: defaults  */
    xir_value *const      *inputs;    /* NULL items are absent optional inputs                     */
    size_t                 n_inputs;
    const xir_type *const *types;     /* of the outputs; NULL: infer them                          */
    size_t                 n_types;
    const xir_target      *target;    /* NULL: host                                                */
    xir_str                name;
    int64_t                id;        /* XIR_NO_ID: the highest id plus one                        */
    xir_op                *before;    /* NULL: at the end                                          */
    const xir_named_attr  *named;     /* attributes that replace those of `attrs`: for a class whose struct the
                                         program does not have, such as one of a plug-in                   */
    size_t                 n_named;
} xir_op_desc;

/* Makes an op of a description and places it. The other doors to an op end here: the macros of sugar.h (XIR_OP,
 * XIR_CONV2D, …) and parsing (xir_op_parse, or a file). Attributes are checked (bounds, words, references), reals
 * rounded to float32 (in a network of a version before 3.30 they stay doubles), and equal attribute structs shared.
 * Without `types`, inference makes the outputs. Then Params inputs, Params attributes and outputs get their ids, in
 * this order, and the op enters the execution order.
 *
 * Returns NULL with a finding in the network, which is otherwise unchanged, for: a struct without its size;
 * attributes from neither xir_X_init nor XIR_ATTRS nor another op (XIR_E_INVALID); a taken id; an Input op in a
 * network that is not empty, or another op in an empty one; an attribute without a default that neither `attrs` nor
 * `named` gives (XIR_E_MISSING); no inputs if the class needs some; inputs of another network; whatever inference and
 * checks refuse. The network's status keeps the first failure. */
XIR_API xir_op *xir_network_add(xir_network *net, const xir_op_desc *desc);

/* A description in two steps, for ops that are made before their place is known. A new op has a negative id, counts as
 * a user of its inputs, and is not in the order until it is placed. Placing refuses what xir_network_add refuses. An op
 * that is never placed lives until xir_op_erase or the end of its network. */
XIR_API xir_op    *xir_op_new(xir_network *net, const xir_op_desc *desc);
XIR_API xir_status xir_op_place(xir_op *op, xir_op *before);

/* Makes an op that has only a class yet, by its key, "icraft::xir::Conv2d": a draft. It has the defaults of its
 * attributes, no inputs and no outputs, and is changed like any unplaced op; an attribute is checked by itself when it
 * is set. xir_op_infer, xir_op_place and whatever else places an op complete a draft first: they check what
 * xir_network_add checks (an attribute that has no default and is not set is XIR_E_MISSING), and infer the outputs
 * unless it has some. If this fails, it is still a draft. Until then xir_op_validate lists what is missing, and
 * xir_op_try, xir_op_work and xir_op_run return XIR_E_MISSING.
 *
 * Returns NULL with a finding: XIR_E_UNKNOWN, with a suggestion, if no class has the key (load its plug-in first);
 * XIR_E_TYPE if it is not a class of operations, or an abstract one; XIR_E_MEMORY. */
XIR_API xir_op    *xir_op_create(xir_network *net, xir_str key);
XIR_API bool       xir_op_is_draft(const xir_op *op);

/* Called by what declare.h makes, and by xir.hpp: a program has XIR_OP. `in` is the class's struct of inputs. A NULL
 * for an input that is not optional, such as the result of an earlier failed call, is a failure. It adds a finding only
 * if there is none yet. */
XIR_API xir_op *xir_op_build(xir_at at, const xir_class_decl *decl, const void *in, const void *attrs);
/* The same; gives the op's first output, NULL if there is none. A `name` other than NULL is that of the op, in place
 * of the cursor's, and of its output if it has one only; the cursor's scope is put before it. */
XIR_API xir_value *xir_op_build_value(xir_at at, const xir_class_decl *decl, const void *in, const void *attrs,
                                      const char *name);

/* ---- asking an op: none of these fails ------------------------------------------------------------------- */

/* The properties of an op. Texts and pointers live until the property is set again, at most as long as the network. */
XIR_API xir_network      *xir_op_network(const xir_op *op);
XIR_API const xir_class  *xir_op_class(const xir_op *op);
XIR_API bool              xir_op_is(const xir_op *op, const xir_class_decl *decl);
XIR_API bool              xir_op_is_activation(const xir_op *op);
XIR_API bool              xir_op_has_trait(const xir_op *op, xir_trait trait);   /* see xir_class_has_trait */
XIR_API int64_t           xir_op_id(const xir_op *op);          /* negative: not placed            */
XIR_API xir_str           xir_op_name(const xir_op *op);
XIR_API const xir_target *xir_op_target(const xir_op *op);
/* The op that has this one among its sub ops; NULL for other ops. */
XIR_API xir_op           *xir_op_parent(const xir_op *op);
XIR_API bool              xir_op_is_placed(const xir_op *op);
/* Returns true if the op has been erased: by xir_op_erase, with its parent, or because a failed call undid it. The
 * address stays valid until the network is freed, so a program may keep a list of ops and ask this. An erased op
 * answers no other question. NULL is not erased. */
XIR_API bool              xir_op_is_erased(const xir_op *op);

/* Inputs by position, from the end if negative; NULL if the input is absent or the position past the end. */
XIR_API size_t     xir_op_input_count(const xir_op *op);
XIR_API xir_value *xir_op_input(const xir_op *op, int64_t i);
/* The input of a named port, "weights"; NULL if absent or unknown. */
XIR_API xir_value *xir_op_input_named(const xir_op *op, xir_str port);
/* Writes the positions at which `value` is an input, up to `room`, and returns how many there are. */
XIR_API size_t     xir_op_input_index(const xir_op *op, const xir_value *value, size_t *out, size_t room);

/* Outputs by position, from the end if negative; NULL past the end. */
XIR_API size_t     xir_op_output_count(const xir_op *op);
XIR_API xir_value *xir_op_output(const xir_op *op, int64_t i);

/* The neighbours in execution order, NULL at the ends; and whether `a` runs before `b`, both placed in one network. All
 * take constant time. */
XIR_API xir_op *xir_op_next(const xir_op *op);
XIR_API xir_op *xir_op_prev(const xir_op *op);
XIR_API bool    xir_op_before(const xir_op *a, const xir_op *b);

/* A number below xir_network_slot_count that no other op of the network has or ever had: an index for a pass's
 * arrays. */
XIR_API uint32_t xir_op_slot(const xir_op *op);

/* ---- attributes ----------------------------------------------------------------------------------------- */

/* Returns the attribute struct if the op is of that class, otherwise NULL. Ops share equal structs: to change one, copy
 * it, change the copy, and set it. Valid until the op's attributes are set again. */
XIR_API const void *xir_op_body(const xir_op *op, const xir_class_decl *decl);

/* Replaces all attributes, checked and copied as in xir_network_add: they come from xir_X_init, XIR_ATTRS or an op.
 * NULL is all defaults, XIR_E_MISSING if an attribute has none. On failure nothing changes. */
XIR_API xir_status xir_op_set_body(xir_op *op, const xir_class_decl *decl, const void *attrs);

/* One attribute by name. Getting an undeclared one that the op carries fails with XIR_E_UNKNOWN (see xir_op_extra).
 * Setting fails with XIR_E_UNKNOWN and a suggestion for an undeclared name, XIR_E_TYPE for a wrong kind, XIR_E_BOUNDS
 * for a number out of bounds. A real attribute accepts an integer. */
XIR_API xir_status xir_op_get(const xir_op *op, xir_str name, xir_attr *out);
XIR_API xir_status xir_op_set(xir_op *op, xir_str name, const xir_attr *attr);
/* Sets several attributes, all or none. */
XIR_API xir_status xir_op_set_named(xir_op *op, const xir_named_attr *attrs, size_t n);
/* Returns true if the op declares the attribute and it has this value, given as for xir_op_set: a real may be given
 * as an integer, an enum as its word. Reals are compared as the network holds them: rounded to float32, or as doubles
 * in a version before 3.30. */
XIR_API bool       xir_op_attr_is(const xir_op *op, xir_str name, const xir_attr *value);

/* Sets an attribute of one kind to a copy of the value, with the statuses of xir_op_set. An enum is set by its word,
 * and NULL is null if the row allows it. Other kinds are set by xir_op_set. */
XIR_API xir_status xir_op_set_bool(xir_op *op, const char *name, bool v);
XIR_API xir_status xir_op_set_i64(xir_op *op, const char *name, int64_t v);
XIR_API xir_status xir_op_set_real(xir_op *op, const char *name, double v);
XIR_API xir_status xir_op_set_text(xir_op *op, const char *name, const char *v);
XIR_API xir_status xir_op_set_params(xir_op *op, const char *name, xir_value *v);
XIR_API xir_status xir_op_set_i64s(xir_op *op, const char *name, const int64_t *v, size_t n);

/* Gets an attribute of one kind; xir_op_get has the others. An enum is read as its word, and an integer can be read as
 * a real. A failure adds no finding and leaves `out` unchanged: XIR_E_UNKNOWN if the op does not have the attribute,
 * XIR_E_TYPE if it is of another kind, XIR_E_MISSING if it is null. What `out` points to is valid until the op's
 * attributes are set again. */
XIR_API xir_status xir_op_get_bool(const xir_op *op, const char *name, bool *out);
XIR_API xir_status xir_op_get_i64(const xir_op *op, const char *name, int64_t *out);
XIR_API xir_status xir_op_get_real(const xir_op *op, const char *name, double *out);
XIR_API xir_status xir_op_get_text(const xir_op *op, const char *name, xir_str *out);
XIR_API xir_status xir_op_get_params(const xir_op *op, const char *name, xir_value **out);
XIR_API xir_status xir_op_get_i64s(const xir_op *op, const char *name, xir_i64s *out);
/* Returns true if the op declares or carries an attribute of this name. */
XIR_API bool xir_op_has(const xir_op *op, xir_str name);

/* Undeclared attributes: those of a file that the class does not declare, and those that a program adds under a name of
 * its own. Values are copied; NULL removes the attribute. XIR_E_EXISTS if the class declares the name. */
XIR_API const xir_map *xir_op_extra(const xir_op *op);
XIR_API xir_status     xir_op_set_extra(xir_op *op, xir_str name, const xir_any *value);

/* ---- tags: notes on ops, values and networks that files carry ------------------------------------------------ */

/* Returns the tags, NULL if there are none. Valid until a tag is set. */
XIR_API const xir_map *xir_op_tags(const xir_op *op);
/* Sets a tag to a copy of the value; NULL removes the tag. Its Params must be of the same network: XIR_E_INVALID. */
XIR_API xir_status     xir_op_set_tag(xir_op *op, xir_str key, const xir_any *value);

/* ---- changing an op ------------------------------------------------------------------------------------------ */

/* The text is copied. Several ops may have the same name. */
XIR_API xir_status xir_op_set_name(xir_op *op, xir_str name);
/* XIR_E_EXISTS if another op of the network has the id, XIR_E_BOUNDS if it is negative. */
XIR_API xir_status xir_op_set_id(xir_op *op, int64_t id);
XIR_API xir_status xir_op_set_target(xir_op *op, const xir_target *target);

/* Inputs. A position past the end is XIR_E_BOUNDS, a value of another network XIR_E_INVALID. None of these calls infers
 * types again: see xir_op_infer. */
XIR_API xir_status xir_op_set_input(xir_op *op, size_t i, xir_value *value);     /* NULL: absent */
XIR_API xir_status xir_op_add_input(xir_op *op, xir_value *value);
XIR_API xir_status xir_op_insert_input(xir_op *op, size_t i, xir_value *value);
XIR_API xir_status xir_op_set_inputs(xir_op *op, xir_value *const *values, size_t n);
/* Removes a position. Later inputs move up. */
XIR_API xir_status xir_op_remove_input(xir_op *op, size_t i);
XIR_API void       xir_op_clear_inputs(xir_op *op);

/* Gives the outputs these types. Existing values keep id, name, tags and uses; missing ones are made; surplus ones must
 * be unused (XIR_E_IN_USE). The outputs of an op are contiguous in memory: if an op that has outputs gets more, all of
 * them move, and the caller must get pointers to them again. */
XIR_API xir_status xir_op_set_outputs(xir_op *op, const xir_type *const *types, size_t n);

/* Makes a value that no op makes (xir_value_new) an output of the op: output i, or one more if i is their number. The
 * output gets type, memory type, name and tags of the value, its id if it has one, and its uses; those that the output
 * has remain. The value is used up: use the result instead. More outputs move in memory, as above.
 *
 * Returns the output. NULL with a finding, and nothing has changed: XIR_E_MISSING for NULL; XIR_E_INVALID for a value
 * of another network (see xir_value_clone), for Params, an output of an op, a value that is used up or an input of this
 * op, and for an erased op; XIR_E_BOUNDS; XIR_E_EXISTS if another value has the id; XIR_E_LIMIT, XIR_E_MEMORY. */
XIR_API xir_value *xir_op_set_output(xir_op *op, size_t i, xir_value *value);

/* Returns true if an inference function is registered for the op. */
XIR_API bool xir_op_can_infer(const xir_op *op);

/* Infers the output types. Without `override` it only makes missing outputs; with it, it also replaces types that
 * differ. XIR_E_UNKNOWN if nothing is registered for the class. */
XIR_API xir_status xir_op_infer(xir_op *op, bool override);

/* Checks the op: rows, ports, then the class's own rule. Adds every fault to `why` and returns the status of the
 * first. */
XIR_API xir_status xir_op_validate(const xir_op *op, xir_diags *why);

/* A new unplaced op: same class, attributes, operands, name and tags; fresh ids. NULL on failure. */
XIR_API xir_op *xir_op_clone(const xir_op *op);

/* Removes an op and forgets it. XIR_E_IN_USE, naming a user, if an output is used. */
XIR_API xir_status xir_op_erase(xir_op *op);

/* ---- values -------------------------------------------------------------------------------------------------- */

/* Makes a value that no op makes yet: the output of an op that comes later. It may be an input of ops, placed or not,
 * and be named, tagged and typed again. xir_op_set_output makes it an output; otherwise xir_network_validate reports
 * those that use it. A negative id until then; it lives as long as the network. `mtype` may be NULL: host. NULL with a
 * finding: XIR_E_TYPE without a type, XIR_E_MEMORY. */
XIR_API xir_value *xir_value_new(xir_network *net, xir_str name, const xir_type *type, const xir_mtype *mtype);

/* Copies a value into a network of the same context, or again into its own: type, memory type, name, tags and
 * undeclared keys, but no id and no uses. Params give Params, which share the bytes until they are written; every
 * other value gives one that no op makes. NULL with a finding in `to`: XIR_E_INVALID for another context, a value of an
 * erased op and one that is used up, XIR_E_MEMORY. */
XIR_API xir_value *xir_value_clone(const xir_value *value, xir_network *to);

/* The properties of a value. None of these fails. Texts live until they are set again, at most as long as the
 * network. */
XIR_API xir_network     *xir_value_network(const xir_value *value);
XIR_API int64_t          xir_value_id(const xir_value *value);      /* negative: not placed         */
XIR_API xir_str          xir_value_name(const xir_value *value);
/* The type; NULL if a foreign file does not give one. */
XIR_API const xir_type  *xir_value_type(const xir_value *value);
XIR_API const xir_mtype *xir_value_mtype(const xir_value *value);
/* The op whose output it is, and which output; NULL and 0 for Params and for values whose op is missing in a broken
 * file. */
XIR_API xir_op          *xir_value_op(const xir_value *value);
XIR_API size_t           xir_value_index(const xir_value *value);
XIR_API bool             xir_value_is_params(const xir_value *value);

/* The uses of a value: each is one input position of an op, in no particular order. Iterate with
 *     for (const xir_use *u = xir_value_uses(v); u; u = xir_use_next(u)) … */
typedef struct xir_use xir_use;
XIR_API const xir_use *xir_value_uses(const xir_value *value);
XIR_API const xir_use *xir_use_next(const xir_use *use);
XIR_API xir_op        *xir_use_op(const xir_use *use);
XIR_API size_t         xir_use_index(const xir_use *use);
XIR_API size_t         xir_value_use_count(const xir_value *value);

/* A use as data, which may be kept while the network changes: an op and the position of one of its inputs. */
typedef struct xir_user { xir_op *op; size_t index; } xir_user;

/* Writes the uses of a value as data, up to `room`, in no particular order; returns how many there are. */
XIR_API size_t     xir_value_users(const xir_value *value, xir_user *out, size_t room);
/* Makes the value the input of all these users, whatever their inputs are now, or changes nothing: XIR_E_INVALID if the
 * value's op or a user is erased, or a user is of another network; XIR_E_BOUNDS for a position past the inputs of a
 * user; XIR_E_MISSING for a user without an op; XIR_E_MEMORY. Nothing is inferred again, and types are not compared:
 * xir_network_validate reports what does not fit. */
XIR_API xir_status xir_value_connect(xir_value *value, const xir_user *users, size_t n);

/* Set name (copied), type or memory type. Users of the value see the change at once; they are not inferred again. All
 * may fail with XIR_E_MEMORY. */
XIR_API xir_status     xir_value_set_name(xir_value *value, xir_str name);
XIR_API xir_status     xir_value_set_type(xir_value *value, const xir_type *type);
XIR_API xir_status     xir_value_set_mtype(xir_value *value, const xir_mtype *mtype);
/* The tags are NULL if the value has none. Setting copies the tag, and NULL removes it. Its Params must be of the same
 * network. */
XIR_API const xir_map *xir_value_tags(const xir_value *value);
XIR_API xir_status     xir_value_set_tag(xir_value *value, xir_str key, const xir_any *tag);
/* Undeclared keys that a file has for the value; NULL if there are none. */
XIR_API const xir_map *xir_value_extra(const xir_value *value);

/* Turns every use of `old` into a use of `now`, in time linear in the uses. Both must be of one network. */
XIR_API xir_status xir_value_replace(xir_value *old, xir_value *now);

XIR_END

#endif

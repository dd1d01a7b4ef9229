/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the tests of networks: short words for types and networks, a picture of a network as text, and checks of
 * calls that must be refused and change nothing. The context and findings are those of forms.h. */
#ifndef SUPPORT_NET_H
#define SUPPORT_NET_H

#include <string.h>
#include <xir/xir.h>
#include "support/forms.h"
#include "support/invariants.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Tensors of fp32: FP32("NHWC", 1, 8, 8, 3). */
#define FP32(layout, ...) XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), layout, __VA_ARGS__)

/* An empty network. */
xir_network *new_net(void);
/* in(1 8 8 3) -> conv 3x3 of 4 filters, padded -> relu -> pool 2x2 -> add(pool, pool) -> out.
 * Ids of ops 0 to 5; v_ids: 0 the input, 1 the weights, 2 conv, 3 relu, 4 pool, 5 add. */
xir_network *small_net(void);
/* The same in another context. */
xir_network *small_net_in(xir_context *with);
/* The op with an id; it must exist. */
xir_op *op_of(const xir_network *net, int64_t id);
/* The value with an id; it must exist. */
xir_value *value_of(const xir_network *net, int64_t id);
/* A description for xir_network_add. */
#define DESC(id_, ...) \
    { .size = sizeof(xir_op_desc), .cls = xir_class_find_decl(ctx, xir_##id_##_class()), .id = XIR_NO_ID, \
      __VA_ARGS__ }
/* The inputs of a description. */
#define INPUTS(...) \
    .inputs = (xir_value *const[]){ __VA_ARGS__ }, .n_inputs = COUNT(((xir_value *const[]){ __VA_ARGS__ }))
#define TYPES(...) \
    .types = (const xir_type *const[]){ __VA_ARGS__ }, .n_types = COUNT(((const xir_type *const[]){ __VA_ARGS__ }))

/* Everything that can be queried of a network, as text, except its status and findings: fields, ops in order with
 * attributes, values with types, tags and users, Params with a checksum of their bytes, the next ids. Free it. */
char *picture(const xir_network *net);
char *picture_of_object(const xir_object *object);

/* Lists as words: CHECK_INPUTS(op, "2 - 2") expects value 2 at both ends and an absent input between them;
 * CHECK_USES(value, "3:0 4:1") expects input 0 of op 3 and input 1 of op 4, sorted; CHECK_ORDER(net, "0 1 2"). */
void check_inputs(const xir_op *op, const char *expected, const char *file, int line);
void check_uses(const xir_value *value, const char *expected, const char *file, int line);
void check_order(const xir_network *net, const char *expected, const char *file, int line);
#define CHECK_INPUTS(op, expected)  check_inputs(op, expected, __FILE__, __LINE__)
#define CHECK_USES(value, expected) check_uses(value, expected, __FILE__, __LINE__)
#define CHECK_ORDER(net, expected)  check_order(net, expected, __FILE__, __LINE__)

/* The bytes of a text. */
#define CHECK_STR(str, expected) check_str(str, expected, __FILE__, __LINE__)
void check_str(xir_str text, const char *expected, const char *file, int line);

/* A call that must succeed. */
#define DOES(call)                                                                                 \
    do {                                                                                           \
        xir_status status_ = (call);                                                               \
        if (status_ != XIR_OK) fail_msg("line %d: %s: %s", __LINE__, #call, xir_status_name(status_)); \
    } while (0)

/* A call that must be refused. It returns this status (or NULL, and the network has the status), and the network has
 * a finding with this status and `part` in its message and is otherwise unchanged. Clears status and findings before
 * and after. */
typedef struct refusal {
    xir_network *net;
    char        *before;
    const char  *file;
    int          line;
} refusal;
refusal refusal_begin(xir_network *net, const char *file, int line);
void    refusal_end(refusal *r, xir_status found, xir_status code, const char *part);
#define REFUSES(net, call, code, part)                                   \
    do {                                                                 \
        refusal r_ = refusal_begin(net, __FILE__, __LINE__);             \
        xir_status found_ = (call);                                      \
        refusal_end(&r_, found_, code, part);                            \
    } while (0)
#define REFUSES_NULL(net, call, code, part)                              \
    do {                                                                 \
        refusal r_ = refusal_begin(net, __FILE__, __LINE__);             \
        const void *made_ = (call);                                      \
        refusal_end(&r_, made_ ? XIR_OK : xir_network_status(net), code, part); \
    } while (0)

/* A network must have all the properties that invariants.h lists. */
#define CHECK_SOUND(net) check_sound(net, __FILE__, __LINE__)
void check_sound(xir_network *net, const char *file, int line);

#endif

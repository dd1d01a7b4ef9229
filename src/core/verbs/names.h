/* Names that a format can spell: a different one for each op and for each value of a network. A name that the format
 * can spell and that has not been used before is kept. Any other is changed into such a name, with a number if that
 * is taken. The names depend only on the network, so they are the same in every run. Linear in the network, however
 * many ops share a name. */
#ifndef CORE_NAMES_H
#define CORE_NAMES_H

#include <xir/network.h>
#include "memory.h"

/* How a format spells names. '_' must be allowed everywhere, digits after the first character. */
typedef struct name_rules {
    /* Returns true if a character, a Unicode code point, may be in a name, or be its first. NULL: every one may. */
    bool              (*allows)(uint32_t c, bool first);
    size_t              most;       /* the longest name in bytes; 0: no limit                           */
    const char         *op;         /* the stem for an op, and for a value, without a name: "op", "x"   */
    const char         *value;
    const char *const  *reserved;   /* names that must not be used, ended by NULL; NULL: none           */
    bool                one_scope;  /* no op may have the name of a value                               */
} name_rules;

/* The names of a network. Valid until they are freed or the network is changed. */
typedef struct network_names {
    const xir_network   *net;
    const xir_allocator *alloc;
    arena                texts;        /* new names                                             */
    xir_str             *items;        /* ops, each followed by its outputs; then Params        */
    size_t               n, room;
    uint32_t            *first;        /* by slot of the op: its item + 1; 0: not in the network */
    uint32_t            *params;       /* by number of the Params: its item + 1                 */
} network_names;

/* Names all placed ops, their sub ops, the outputs of these, and all Params. XIR_E_MEMORY; XIR_E_BOUNDS if the longest
 * allowed name is too short for all of them to differ. On failure nothing needs to be freed. */
xir_status network_names_make(network_names *out, const xir_network *net, const name_rules *rules);
void       network_names_free(network_names *names);

/* The name of an op; the name of an op's output or of Params. Empty for anything else. */
xir_str    network_names_op(const network_names *names, const xir_op *op);
xir_str    network_names_value(const network_names *names, const xir_value *value);

#endif

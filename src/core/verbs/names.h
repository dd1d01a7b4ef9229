/* Names that a format can spell: one for each op and one for each value of a network, no two alike. A name that the
 * format can spell and that nobody before has is kept; any other becomes one that it can, with a number where that
 * is taken. The names follow from the network alone, so they are the same in every run. Linear in the network,
 * however many ops share a name. */
#ifndef CORE_NAMES_H
#define CORE_NAMES_H

#include <xir/network.h>
#include "memory.h"

/* How a format spells names. '_' has to be allowed everywhere, digits after the first character. */
typedef struct name_rules {
    /* Whether a character, a Unicode code point, may be in a name, or at its start. NULL: each may. */
    bool              (*allows)(uint32_t c, bool first);
    size_t              most;       /* bytes of a name; 0: any number                                   */
    const char         *op;         /* what an op, and a value, is called that has no name: "op", "x"   */
    const char         *value;
    const char *const  *reserved;   /* names that nothing may have, the last one NULL; NULL: none       */
    bool                one_scope;  /* no op may be called as a value is                                */
} name_rules;

/* The names of a network. They are valid until they are freed or the network is changed. */
typedef struct network_names {
    const xir_network   *net;
    const xir_allocator *alloc;
    arena                texts;        /* names that were made                                  */
    xir_str             *items;        /* ops, each followed by its outputs; then Params        */
    size_t               n, room;
    uint32_t            *first;        /* by slot of the op: its item + 1; 0: not in the network */
    uint32_t            *params;       /* by number of the Params: its item + 1                 */
} network_names;

/* Names all placed ops, their sub ops, what these make, and all Params. XIR_E_MEMORY; XIR_E_BOUNDS if the longest
 * name that is allowed is too short for all of them to differ. On failure nothing needs to be freed. */
xir_status network_names_make(network_names *out, const xir_network *net, const name_rules *rules);
void       network_names_free(network_names *names);

/* The name of an op, and of a value that an op makes or of Params; empty for any other. */
xir_str    network_names_op(const network_names *names, const xir_op *op);
xir_str    network_names_value(const network_names *names, const xir_value *value);

#endif

/* Names of operators with weights: each weight is a member of the archive, named by its operator, so an operator
 * without a name gets one, and so does one whose name an earlier operator has. */
#include "convert/pnnx/pnnx.h"
#include "number.h"

static bool has_weights(const xir_op *op) {
    const xir_map *extra = xir_class_is_opaque(xir_op_class(op)) ? xir_op_extra(op) : NULL;
    for (size_t i = 0; extra && i < extra->size; i++)
        if (extra->entries[i].value.kind == XIR_ANY_PARAMS) return true;
    return false;
}

/* A name that no operator has; *next is the number to try first. */
static xir_status give_name(xir_op *op, text_table *names, uint64_t *next, uint32_t position) {
    char text[12 + NUMBER_ROOM] = "pnnx_unique_";
    const xir_status status = xir_op_set_name(op, text_table_unused(names, text, strlen(text), next));
    if (status) return status;
    return text_table_add(names, xir_op_name(op), position) ? XIR_OK : XIR_E_MEMORY;
}

xir_status pnnx_name_weights(xir_network *net, bool *changed) {
    text_table names;
    xir_status status = XIR_OK;
    uint64_t next = 0;
    uint32_t position = 0;
    text_table_init(&names, context_alloc(xir_network_context(net)));
    for (xir_op *op = xir_network_first(net); op && !status; op = xir_op_next(op), position++)
        if (xir_op_name(op).size && !text_table_add(&names, xir_op_name(op), position)) status = XIR_E_MEMORY;
    position = 0;
    for (xir_op *op = xir_network_first(net); op && !status; op = xir_op_next(op), position++) {
        const uint32_t *first = xir_op_name(op).size ? text_table_find(&names, xir_op_name(op)) : NULL;
        if (!has_weights(op) || (first && *first == position)) continue;
        status = give_name(op, &names, &next, position);
        *changed = true;
    }
    text_table_free(&names);
    return status;
}

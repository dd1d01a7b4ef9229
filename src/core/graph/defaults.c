/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Inputs with a default value: Params of a file that declares them as an input, too. Ops compute with them as with any
 * other Params, and no pass computes with their bytes ahead of a run, so that another value can take their place. */
#include "graph.h"

static const xir_str key = { "onnx.input", sizeof "onnx.input" - 1 };

bool value_is_default(const xir_value *v) {
    const value_more *more = v && value_is_params(v) ? value_more_of(v) : NULL;
    return more && more->tags && xir_map_find(more->tags, key);
}

bool value_is_constant(const xir_value *v) { return v && value_is_params(v) && !value_is_default(v); }

bool xir_params_is_default(const xir_value *of) { return value_is_default(of); }

xir_status xir_params_fix_default(xir_value *of) {
    if (!of) return XIR_E_MISSING;
    return value_is_default(of) ? xir_value_set_tag(of, key, NULL) : XIR_OK;
}

/* A value like the Params, without an op and without a use; NULL after a finding. */
static xir_value *input_like(xir_value *of) {
    const xir_map *tags = value_more_of(of)->tags;
    xir_value *v = xir_value_new(value_net(of), xir_value_name(of), of->type, xir_value_mtype(of));
    xir_status status = v ? XIR_OK : XIR_E_MEMORY;
    for (size_t i = 0; i < tags->size && !status; i++)
        if (!xir_str_equal(tags->entries[i].key, key))
            status = xir_value_set_tag(v, tags->entries[i].key, &tags->entries[i].value);
    return status ? NULL : v;
}

xir_value *xir_params_make_input(xir_value *of) {
    if (!of) return NULL;
    xir_network *net = value_net(of);
    xir_op *input = xir_network_input_op(net);
    if (!value_is_default(of) || !of->uses || !input) {
        net_fail(net, XIR_E_INVALID, "'%.*s' cannot become an input: %s", CLIP(xir_value_name(of)),
                 !value_is_default(of) ? "it is not the default of one"
                 : !input ? "the network has no Input op" : "no op takes it as an input");
        return NULL;
    }
    xir_value *v = input_like(of);
    if (v) v = xir_op_set_output(input, input->n_outputs, v);
    if (!v) return NULL;
    uses_move(of, v);
    net->epoch++;
    return v;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts of composed ops on quantised operands. The quantised type of a computed value does not follow from its
 * operands, and a composition does not name one: so values between the parts are real numbers, of the type that the
 * part has for the real numbers that its operands stand for. Moves and maxima, whose types follow, stay quantised. */
#include "compose_walk.h"
#include "types.h"

typedef struct stand_in {
    xir_value  value;
    value_more more;
    params     no_bytes;
} stand_in;

static bool is_quantised(const xir_value *v) { return v && xir_type_is_quantized(xir_type_element(v->type)); }

static xir_status ask(xir_network *net, const part_question *q, xir_value *const *inputs, const xir_type **out,
                      size_t *n) {
    xir_infer at;
    infer_start(&at, net, q->cls, q->attrs, q->target, inputs, q->n_inputs, XIR_STR(""), NULL);
    const xir_status status = infer_run(&at);
    *n = status ? 0 : at.n_out < q->n_results ? at.n_out : q->n_results;
    for (size_t i = 0; i < *n; i++) out[i] = at.out[i];
    infer_end(&at);
    return status;
}

/* A value of the real type, whose bytes nobody knows. */
static bool stand_for(xir_network *net, const xir_value *v, stand_in *s) {
    const xir_tensor_type *t = xir_type_as_tensor(v->type);
    const xir_type *element = xir_type_expressed(v->type);
    *s = (stand_in){ .more = { .net = net, .name = &name_empty } };
    if (value_is_params(v)) s->more.params = &s->no_bytes;
    s->value.type = t && element ? type_tensor(&net->pool, element, t->layout, t->shape, (xir_refs){ 0 }) : NULL;
    s->value.from = value_from(&s->more);
    return s->value.type;
}

xir_status compose_real_types(xir_network *net, const part_question *q, const xir_type **out, size_t *n) {
    bool any = false;
    *n = 0;
    for (size_t i = 0; i < q->n_inputs; i++) any |= is_quantised(q->inputs[i]);
    if (!any) return XIR_OK;
    xir_status status = ask(net, q, q->inputs, out, n);
    *n = 0;                          /* they follow, or the part is not valid */
    if (status != XIR_E_UNSUPPORTED) return status == XIR_E_MEMORY ? status : XIR_OK;
    stand_in *in = mem_new(&net->alloc, q->n_inputs * sizeof *in);
    xir_value **values = mem_new(&net->alloc, q->n_inputs * sizeof *values);
    status = in && values ? XIR_OK : XIR_E_MEMORY;
    for (size_t i = 0; i < q->n_inputs && !status; i++) {
        values[i] = q->inputs[i];
        if (!is_quantised(values[i])) continue;
        if (!stand_for(net, values[i], &in[i])) status = XIR_E_MEMORY;
        values[i] = &in[i].value;
    }
    if (!status) status = ask(net, q, values, out, n);
    if (!status && *n != q->n_results) *n = 0;
    mem_free(&net->alloc, in, q->n_inputs * sizeof *in);
    mem_free(&net->alloc, (void *)values, q->n_inputs * sizeof *values);
    return status == XIR_E_MEMORY ? status : XIR_OK;
}

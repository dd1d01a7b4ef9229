/* A program in the spelling "blocks": a block with all its calls, the tensors of its results, and one call of it.
 *
 *     deepxir program(x: tensor<2x3xf32>) -> (y: tensor<2x3xf32>) {
 *         newtensor([2 3], f32)->(t)
 *         exp(x)->(t)
 *         addscalar(t, 1)->(y)
 *     }
 *     newtensor(vector<int32>:[2 3])->(tensor<float32>:y)
 *     program(x)->(y)
 *
 * The inputs of the network are the block's parameters, the tensors that exist at its end are its return slots. The
 * first newtensor of a result stands before the call, since a block cannot make the tensors of its caller. */
#include "deepx/wrap.h"
#include "deepx/blocks.h"

static bool refuse(deepx_wrap *w, const char *sentence, xir_str name) {
    w->p->status = XIR_E_UNSUPPORTED;
    snprintf(w->p->fault, sizeof w->p->fault, sentence, CLIP(name));
    return false;
}

static bool refuse_parameter(deepx_wrap *w, xir_str name) {
    return refuse(w, "'%.*s' is an input that a line writes: a block cannot write its parameters", name);
}

static bool memory(deepx_wrap *w) {
    w->p->status = XIR_E_MEMORY;
    return false;
}

static bool is_class(const xir_op *op, const char *key) { return xir_str_equal(op->cls->key, xir_str_of(key)); }

/* ---- the parameters and the results ------------------------------------------------------------------------------ */

static const xir_op *inputs_of(const xir_network *net) {
    return net->first && is_class(net->first, "icraft::xir::Input") ? net->first : NULL;
}
static const xir_op *outputs_of(const xir_network *net) {
    return net->last && is_class(net->last, "icraft::xir::Output") ? net->last : NULL;
}

/* The places of the names: an input is 0, result i is i + 1. */
static bool note_names(deepx_wrap *w) {
    const xir_op *in = inputs_of(w->net), *out = outputs_of(w->net);
    w->n = out ? out->n_inputs : 0;
    w->makers = mem_new(w->p->out.alloc, (w->n + 1) * sizeof *w->makers);
    if (!w->makers) return memory(w);
    memset(w->makers, 0, (w->n + 1) * sizeof *w->makers);
    for (uint32_t i = 0; in && i < in->n_outputs; i++)
        if (!text_table_add(&w->names, xir_value_name(&op_outputs(in)[i]), 0)) return memory(w);
    for (uint32_t i = 0; i < w->n; i++) {
        const xir_value *v = op_inputs(out)[i].value;
        const uint32_t *place = v ? text_table_add(&w->names, xir_value_name(v), i + 1) : NULL;
        if (!v) return refuse(w, "a result is absent%.*s", XIR_STR(""));
        if (!place) return memory(w);
        if (!*place) return refuse_parameter(w, xir_value_name(v));
        if (*place != i + 1) return refuse(w, "result '%.*s' appears twice", xir_value_name(v));
    }
    return true;
}

/* What a block cannot do. The first newtensor of each result is found. */
static bool check_op(deepx_wrap *w, const xir_op *op) {
    if (is_class(op, "deepx::load")) return refuse(w, "a block cannot have the function '%.*s'", XIR_STR("load"));
    if (is_class(op, "deepx::renametensor"))
        return refuse(w, "a block cannot have the function '%.*s'", XIR_STR("renametensor"));
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        const xir_str name = xir_value_name(&op_outputs(op)[i]);
        const uint32_t *place = text_table_find(&w->names, name);
        if (!place) continue;
        if (!*place) return refuse_parameter(w, name);
        const xir_op **maker = &w->makers[*place - 1];
        const bool makes = is_class(op, "deepx::newtensor"), deletes = is_class(op, "deepx::deltensor");
        if ((makes && *maker) || deletes)
            return refuse(w, "'%.*s' is a result that is made twice: a block cannot make it again", name);
        if (!makes && !*maker) return refuse(w, "'%.*s' is a result that no newtensor makes", name);
        if (makes) *maker = op;
    }
    return true;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* "tensor<2x3xf32>", or "tensor" if that cannot be said. */
static void put_type(deepx_wrap *w, const xir_type *type) {
    buffer *out = &w->p->out;
    const char *element = xir_type_as_tensor(type) ? deepx_block_word_of(w->net, xir_type_element(type)) : NULL;
    char digits[NUMBER_ROOM];
    buffer_str(out, "tensor");
    if (!element || !xir_type_rank(type) || xir_type_has_unknown_dim(type)) return;
    buffer_char(out, '<');
    for (size_t i = 0; i < xir_type_rank(type); i++) {
        buffer_put(out, digits, number_put_i64(digits, xir_type_dim(type, (int64_t)i, false)));
        buffer_char(out, 'x');
    }
    buffer_str(out, element);
    buffer_char(out, '>');
}

static bool put_formal(deepx_wrap *w, size_t i, const xir_value *v) {
    const xir_str name = xir_value_name(v);
    for (size_t k = 0; k < name.size; k++)
        if (!deepx_is(name.data[k], DEEPX_LETTER | DEEPX_DIGIT) && (name.data[k] != '.' || !k))
            return refuse(w, "'%.*s' cannot be a parameter of a block", name);
    if (i) buffer_str(&w->p->out, ", ");
    buffer_put(&w->p->out, name.data, name.size);
    buffer_str(&w->p->out, ": ");
    put_type(w, xir_value_type(v));
    return true;
}

/* ---- the head and the end ---------------------------------------------------------------------------------------- */

/* "program", or with a number if something has that name. */
static bool choose_name(deepx_wrap *w) {
    const xir_any *defs = xir_map_find(w->net->tags, XIR_STR(DEEPX_TAG_DEFS));
    for (unsigned n = 0;; n++) {
        bool taken = false;
        char key[40];
        snprintf(w->name, sizeof w->name, n ? "program%u" : "program", n);
        snprintf(key, sizeof key, "deepx::%s", w->name);
        for (const xir_op *op = w->net->first; op && !taken; op = op->next) taken = is_class(op, key);
        for (size_t i = 0; defs && defs->kind == XIR_ANY_LIST && i < defs->as.list.size && !taken; i++) {
            const xir_any *one = &defs->as.list.items[i];
            taken = one->kind == XIR_ANY_TEXT && memmem(one->as.text.data, one->as.text.size, w->name, strlen(w->name));
        }
        if (!taken) return true;
    }
}

bool deepx_wrap_begin(deepx_wrap *w, const xir_network *net, deepx_printer *p) {
    *w = (deepx_wrap){ .net = net, .p = p };
    text_table_init(&w->names, p->out.alloc);
    bool ok = choose_name(w) && note_names(w);
    for (const xir_op *op = net->first; op && ok; op = op->next) ok = !deepx_is_op(op) || check_op(w, op);
    for (size_t i = 0; i < w->n && ok; i++)
        if (!w->makers[i]) ok = refuse(w, "'%.*s' is a result that no newtensor makes",
                                       xir_value_name(op_inputs(outputs_of(net))[i].value));
    const xir_op *in = inputs_of(net);
    buffer_str(&p->out, "deepxir ");
    buffer_str(&p->out, w->name);
    buffer_char(&p->out, '(');
    for (uint32_t i = 0; in && i < in->n_outputs && ok; i++) ok = put_formal(w, i, &op_outputs(in)[i]);
    buffer_str(&p->out, ") -> (");
    for (size_t i = 0; i < w->n && ok; i++) ok = put_formal(w, i, &op_outputs(w->makers[i])[0]);
    buffer_str(&p->out, ") {\n");
    return ok && (!p->out.failed || memory(w));
}

bool deepx_wrap_has(const deepx_wrap *w, const xir_op *op) {
    if (!is_class(op, "deepx::newtensor") || op->n_outputs != 1) return true;
    const uint32_t *place = text_table_find(&w->names, xir_value_name(&op_outputs(op)[0]));
    return !place || !*place || w->makers[*place - 1] != op;
}

static void put_names(deepx_wrap *w, const xir_op *op) {
    for (uint32_t i = 0; op && i < op->n_outputs; i++) {
        const xir_str name = xir_value_name(&op_outputs(op)[i]);
        if (i) buffer_str(&w->p->out, ", ");
        buffer_put(&w->p->out, name.data, name.size);
    }
}

bool deepx_wrap_end(deepx_wrap *w) {
    buffer *out = &w->p->out;
    buffer_str(out, "}\n");
    w->p->spelling = DEEPX_LIVE;
    for (size_t i = 0; i < w->n; i++) {
        if (!deepx_print_op(w->p, w->makers[i])) return false;
        buffer_char(out, '\n');
    }
    buffer_str(out, w->name);
    buffer_char(out, '(');
    put_names(w, inputs_of(w->net));
    buffer_str(out, ")->(");
    for (size_t i = 0; i < w->n; i++) {
        if (i) buffer_str(out, ", ");
        put_names(w, w->makers[i]);
    }
    buffer_str(out, ")\n");
    return !out->failed || memory(w);
}

void deepx_wrap_free(deepx_wrap *w) {
    if (!w->net) return;
    text_table_free(&w->names);
    mem_free(w->p->out.alloc, (void *)w->makers, (w->n + 1) * sizeof *w->makers);
}

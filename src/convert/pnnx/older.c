/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators of 2021, when PNNX did not have names of its own for all of them: modules by the path of their class in
 * PyTorch ("__torch__.torch.nn.modules.conv.Conv2d"), and functions of TorchScript ("aten::flatten"), whose numbers are
 * operands that prim::Constant and prim::ListConstruct make, and whose lists may be expressions,
 * "(add(@0,@1,1),@2)". Before a conversion they become operators of today's names. Files of the first weeks have
 * neither weights nor the values of constants: what lacks them is kept. */
#include <stdio.h>
#include <string.h>
#include "graph.h"
#include "rows/row.h"
#include "pnnx/pnnx.h"
#include "number.h"

/* ---- what they are called today --------------------------------------------------------------------------------- */

/* Arguments in order: "+x" a tensor, or numbers that are computed, "*x" a list of tensors, "x" a number or a list of
 * numbers: the parameter x. With a formula they are tensors or numbers: "%0" is the first. The first row that the
 * operands fit is taken. */
typedef struct function { const char *old, *now, *arguments, *formula; } function;
static const function functions[] = {
    { "aten::add",  "pnnx.Expression", NULL, "add(%0,mul(%1,%2))" },
    { "aten::add",  "pnnx.Expression", NULL, "add(%0,%1)" },
    { "aten::sub",  "pnnx.Expression", NULL, "sub(%0,mul(%1,%2))" },
    { "aten::sub",  "pnnx.Expression", NULL, "sub(%0,%1)" },
    { "aten::mul",  "pnnx.Expression", NULL, "mul(%0,%1)" },
    { "aten::div",  "pnnx.Expression", NULL, "div(%0,%1)" },
    { "aten::pow",  "pnnx.Expression", NULL, "pow(%0,%1)" },
    { "aten::exp",  "pnnx.Expression", NULL, "exp(%0)" },
    { "aten::sqrt", "pnnx.Expression", NULL, "sqrt(%0)" },
    { "aten::neg",  "pnnx.Expression", NULL, "neg(%0)" },
    { "aten::size", "pnnx.Expression", NULL, "size(%0,%1)" },
    { "aten::relu",    "F.relu",    "+input", NULL }, { "aten::relu6",     "F.relu6",     "+input", NULL },
    { "aten::sigmoid", "F.sigmoid", "+input", NULL }, { "aten::hardswish", "F.hardswish", "+input", NULL },
    { "aten::silu",    "F.silu",    "+input", NULL }, { "aten::tanh",      "F.tanh",      "+input", NULL },
    { "aten::softmax", "torch.softmax", "+input dim dtype",                                 NULL },
    { "aten::dropout", "F.dropout",     "+input p training",                                NULL },
    { "aten::matmul",  "torch.matmul",  "+input +other",                                    NULL },
    { "aten::adaptive_avg_pool2d", "F.adaptive_avg_pool2d", "+input output_size",           NULL },
    { "aten::max_pool2d", "F.max_pool2d", "+input kernel_size stride padding dilation ceil_mode", NULL },
    { "aten::mean",    "torch.mean",    "+input dim keepdim dtype",                         NULL },
    { "aten::flatten", "torch.flatten", "+input start_dim end_dim",                         NULL },
    { "aten::view",    "Tensor.view",   "+input shape",                                     NULL },
    { "aten::view",    "Tensor.view",   "+input +shape",                                    NULL },
    { "aten::reshape", "Tensor.reshape", "+input shape",                                    NULL },
    { "aten::reshape", "Tensor.reshape", "+input +shape",                                   NULL },
    { "aten::permute", "Tensor.permute", "+input dims",                                     NULL },
    { "aten::transpose", "torch.transpose", "+input dim0 dim1",                             NULL },
    { "aten::squeeze",   "torch.squeeze",   "+input dim",                                   NULL },
    { "aten::unsqueeze", "torch.unsqueeze", "+input dim",                                   NULL },
    { "aten::select",  "Tensor.select", "+input dim index",                                 NULL },
    { "aten::slice",   "Tensor.slice",  "+input dim start end step",                        NULL },
    { "aten::cat",     "torch.cat",     "*tensors dim",                                     NULL },
    { "aten::stack",   "torch.stack",   "*tensors dim",                                     NULL },
    { "aten::chunk",   "torch.chunk",   "+input chunks dim",                                NULL },
    { "aten::split",   "torch.split",   "+tensor split_size_or_sections dim",               NULL },
    { "aten::unbind",  "torch.unbind",  "+input dim",                                       NULL },
};

static const char prefix[] = "pnnx::";

static xir_str key_of(const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    const size_t n = sizeof prefix - 1;
    const bool own = key.size > n && memcmp(key.data, prefix, n) == 0;
    return own ? (xir_str){ key.data + n, key.size - n } : (xir_str){ "", 0 };
}

/* The value of an operand that is a constant of the file; NULL for any other operand. */
static const xir_any *constant_at(const xir_op *op, size_t i) {
    const xir_value *v = xir_op_input(op, (int64_t)i);
    const xir_op *by = v ? xir_value_op(v) : NULL;
    return xir_map_find(op_is_of(by, prefix, "prim::Constant") ? xir_op_extra(by) : NULL, XIR_STR("value"));
}

static const xir_op *list_at(const xir_op *op, size_t i) {
    const xir_value *v = xir_op_input(op, (int64_t)i);
    const xir_op *by = v ? xir_value_op(v) : NULL;
    return op_is_of(by, prefix, "prim::ListConstruct") ? by : NULL;
}

static bool is_expression(const xir_op *op) {
    return op_is_of(op, prefix, "Expression") || op_is_of(op, prefix, "pnnx.Expression");
}

/* The formula of an operand: a text, a number, or a list of either; NULL if it has none. */
static const xir_any *formula_at(const xir_op *op, size_t i) {
    const xir_value *v = xir_op_input(op, (int64_t)i);
    const xir_op *by = v ? xir_value_op(v) : NULL;
    return is_expression(by) && xir_op_extra(by) ? xir_map_find(xir_op_extra(by), XIR_STR("expr")) : NULL;
}

static bool is_number(const xir_any *v) { return v && (v->kind == XIR_ANY_INT || v->kind == XIR_ANY_REAL); }

enum {
    MOST_ARGUMENTS = 8, MOST_INPUTS = 64, MOST_LISTED = 16, MOST_FORMULA = 200, MOST_NUMBER = 40,
    MOST_SPREAD = 512,   /* operands of all formulas of a list */
};

static bool are_numbers(const xir_any *v) {
    if (!v || v->kind != XIR_ANY_LIST || v->as.list.size > MOST_LISTED) return false;
    for (size_t i = 0; i < v->as.list.size; i++) if (!is_number(&v->as.list.items[i])) return false;
    return true;
}

/* ---- an operator of today --------------------------------------------------------------------------------------- */

/* An input with a formula is made by an expression of the operands. */
typedef struct made {
    xir_value *in[MOST_INPUTS], *operands[MOST_INPUTS];
    xir_str    formulas[MOST_INPUTS];
    size_t     n_in, n_operands, n_formulas, n_sets;
    xir_str    names[MOST_ARGUMENTS];
    xir_any    values[MOST_ARGUMENTS], items[MOST_ARGUMENTS][MOST_LISTED];
    char       formula[MOST_FORMULA];
} made;

/* TorchScript has numbers for element types. */
static xir_any element_word(const xir_any *code) {
    static const char *const words[] = {
        "torch.uint8", "torch.int8", "torch.short", "torch.int", "torch.long", "torch.half", "torch.float",
        "torch.double", [11] = "torch.bool", [15] = "torch.bfloat16",
    };
    const bool known = code->kind == XIR_ANY_INT && code->as.integer >= 0 && code->as.integer < (int)COUNT(words) &&
                       words[code->as.integer];
    return known ? xir_any_text(xir_str_of(words[code->as.integer])) : *code;
}

/* A number or a list of numbers, or None, as a parameter. */
static bool put_parameter(made *m, const xir_op *op, size_t i, xir_str name) {
    const xir_any *v = constant_at(op, i), *formula = formula_at(op, i);
    const xir_op *list = list_at(op, i);
    const size_t k = m->n_sets, n = list ? xir_op_input_count(list) : 0;
    if (is_number(formula) || are_numbers(formula)) v = formula;
    if (v ? v->kind == XIR_ANY_TEXT && v->as.text.size > MOST_NUMBER : !list || n > MOST_LISTED) return false;
    for (size_t j = 0; j < n; j++) {
        const xir_any *item = constant_at(list, j);
        if (!is_number(item) && !(item && item->kind == XIR_ANY_NULL)) return false;
        m->items[k][j] = *item;
    }
    m->names[k] = name;
    m->values[k] = !v ? xir_any_list(m->items[k], n) : xir_str_equal(name, XIR_STR("dtype")) ? element_word(v) : *v;
    m->n_sets++;
    return true;
}

/* The operands of an op become those of the formulas. */
static bool put_operands(made *m, const xir_op *by) {
    m->n_operands = xir_op_input_count(by);
    if (m->n_operands > MOST_INPUTS) return false;
    for (size_t i = 0; i < m->n_operands; i++)
        if (!(m->operands[i] = xir_op_input(by, (int64_t)i))) return false;
    return true;
}

/* An item of a list that is an expression: an operand, "@1", or the value of a formula, "add(@0,@1)". */
static bool put_item(made *m, xir_str item) {
    int64_t k;
    if (!item.size || m->n_in == MOST_INPUTS) return false;
    const bool operand = item.data[0] == '@' && pnnx_word_integer((xir_str){ item.data + 1, item.size - 1 }, &k);
    if (operand ? k < 0 || k >= (int64_t)m->n_operands : ++m->n_formulas * m->n_operands > MOST_SPREAD) return false;
    m->formulas[m->n_in] = operand ? (xir_str){ NULL, 0 } : item;
    m->in[m->n_in++] = operand ? m->operands[k] : NULL;
    return true;
}

/* The items of a list that has no other use, so that no item is made twice. */
static bool put_items(made *m, xir_value *v, const xir_any *formula) {
    const xir_op *by = xir_value_op(v);
    const bool list = formula->kind == XIR_ANY_LIST;
    xir_str rest = list || formula->kind != XIR_ANY_TEXT ? (xir_str){ NULL, 0 } : formula->as.text, item;
    if (xir_use_next(xir_value_uses(v)) || !put_operands(m, by)) return false;
    if (!list && (!rest.size || !memchr("([", rest.data[0], 2))) return false;
    while (pnnx_next_word(&rest, &item)) if (!put_item(m, item)) return false;
    for (size_t i = 0; list && i < formula->as.list.size; i++) {
        const xir_any *word = &formula->as.list.items[i];
        if (word->kind != XIR_ANY_TEXT || !put_item(m, word->as.text)) return false;
    }
    return m->n_in;
}

static bool put_tensors(made *m, const xir_op *op, size_t i) {
    const xir_op *list = list_at(op, i);
    const xir_any *formula = formula_at(op, i);
    if (formula) return put_items(m, xir_op_input(op, (int64_t)i), formula);
    const size_t n = list ? xir_op_input_count(list) : 0;
    if (!n || n > MOST_INPUTS) return false;
    for (size_t k = 0; k < n; k++) {
        m->in[m->n_in++] = xir_op_input(list, (int64_t)k);
        if (!m->in[k] || constant_at(list, k)) return false;
    }
    return true;
}

static bool number_text(const xir_any *v, char out[MOST_NUMBER]) {
    if (v->kind == XIR_ANY_INT) return snprintf(out, MOST_NUMBER, "%lld", (long long)v->as.integer) > 0;
    if (v->kind != XIR_ANY_REAL) return false;
    const size_t n = number_put_f32(out, (float)v->as.real);
    out[n] = '\0';
    if (!strpbrk(out, ".e")) memcpy(out + n, ".0", 3);
    return true;
}

/* An operand, or a list of numbers and operands: the formula "[@0,2]". */
static bool put_tensor(made *m, const xir_op *op, size_t i) {
    xir_value *v = xir_op_input(op, (int64_t)i);
    const xir_op *list = list_at(op, i);
    if (!v || constant_at(op, i)) return false;
    m->in[m->n_in++] = list ? NULL : v;
    if (!list) return true;
    size_t n = 0, items = xir_op_input_count(list);
    if (m->n_operands || items > MOST_INPUTS) return false;
    for (size_t k = 0; k < items; k++) {
        char text[MOST_NUMBER];
        const xir_any *item = constant_at(list, k);
        if (item ? !number_text(item, text) : !(m->operands[m->n_operands] = xir_op_input(list, (int64_t)k)))
            return false;
        if (!item) snprintf(text, sizeof text, "@%zu", m->n_operands++);
        if (n + strlen(text) + 3 > sizeof m->formula) return false;
        n += (size_t)snprintf(m->formula + n, sizeof m->formula - n, "%c%s", k ? ',' : '[', text);
    }
    if (!n) return false;
    m->formula[n++] = ']';
    m->formulas[m->n_in - 1] = (xir_str){ m->formula, n };
    return true;
}

static bool put_arguments(made *m, const xir_op *op, const char *arguments) {
    const size_t n = xir_op_input_count(op);
    size_t i = 0;
    for (const char *p = arguments; *p; i++) {
        const size_t size = strcspn(p, " ");
        const bool tensor = *p == '+', list = *p == '*';
        const xir_str name = { p, size };
        p += size + strspn(p + size, " ");
        if (i >= n) {
            if (tensor || list) return false;
            break;   /* the last ones have defaults */
        }
        if (tensor ? !put_tensor(m, op, i) : list ? !put_tensors(m, op, i) : !put_parameter(m, op, i, name))
            return false;
    }
    return i >= n;
}

/* Each %i of a formula as a number, or as an input. */
static bool put_formula(made *m, const xir_op *op, const char *formula) {
    size_t n = 0, used = 0;
    for (const char *p = formula; *p; p++) {
        char text[MOST_NUMBER] = { *p };
        if (*p == '%') {
            const size_t i = (size_t)(*++p - '0');
            xir_value *input = xir_op_input(op, (int64_t)i);
            const xir_any *v = constant_at(op, i);
            used++;
            if (v ? !number_text(v, text) : !input) return false;
            if (!v) snprintf(text, sizeof text, "@%zu", m->n_in), m->in[m->n_in++] = input;
        }
        const size_t size = strlen(text);
        if (n + size >= sizeof m->formula) return false;
        memcpy(m->formula + n, text, size);
        n += size;
    }
    m->names[0] = XIR_STR("expr");
    m->values[0] = xir_any_text((xir_str){ m->formula, n });
    m->n_sets = 1;
    return used == xir_op_input_count(op) && m->n_in;
}

/* Removes what was made for an op that is not replaced, because memory ran out, so that nothing is made twice. */
static xir_status undone(xir_op *now, const made *m, xir_status status) {
    if (now) (void)xir_op_erase(now);
    for (size_t i = 0; i < m->n_in; i++)
        if (m->formulas[i].size && m->in[i]) (void)xir_op_erase(xir_value_op(m->in[i]));
    return status;
}

/* Makes the inputs that have formulas, before the op. */
static xir_status make_inputs(xir_op *op, made *m) {
    xir_network *net = xir_op_network(op);
    const xir_class *cls = xir_class_opaque(xir_network_context(net), XIR_STR("pnnx::pnnx.Expression"));
    const xir_type *types[] = { NULL };
    if (!cls) return XIR_E_MEMORY;
    for (size_t i = 0; i < m->n_in; i++) {
        if (!m->formulas[i].size) continue;
        const xir_any formula = xir_any_text(m->formulas[i]);
        const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = cls, .inputs = m->operands, .n_inputs = m->n_operands,
                                          .types = types, .n_types = 1, .before = op, .id = XIR_NO_ID);
        xir_op *by = xir_network_add(net, &desc);
        m->in[i] = by ? xir_op_output(by, 0) : NULL;
        if (!by || xir_op_set_extra(by, XIR_STR("expr"), &formula)) return XIR_E_MEMORY;
    }
    return XIR_OK;
}

/* The same values by an operator of another type, with parameters of its own and `more`. */
static xir_status replace(xir_op *op, const char *type, made *m, const xir_map *more) {
    enum { MOST_OUTPUTS = 16 };
    char key[120];
    const xir_type *types[MOST_OUTPUTS];
    xir_network *net = xir_op_network(op);
    const size_t n = xir_op_output_count(op);
    const int64_t id = xir_op_id(op);
    if (n > MOST_OUTPUTS) return XIR_OK;
    xir_status status = make_inputs(op, m);
    if (status) return undone(NULL, m, status);
    for (size_t i = 0; i < n; i++) types[i] = xir_value_type(xir_op_output(op, (int64_t)i));
    snprintf(key, sizeof key, "%s%.100s", prefix, type);
    const xir_class *cls = xir_class_opaque(xir_network_context(net), xir_str_of(key));
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = cls, .inputs = m->in, .n_inputs = m->n_in, .types = types,
                                      .n_types = n, .name = xir_op_name(op), .id = XIR_NO_ID);
    xir_op *now = cls ? xir_op_new(net, &desc) : NULL;
    if (!now) return undone(NULL, m, XIR_E_MEMORY);
    for (size_t i = 0; i < m->n_sets && !status; i++) status = xir_op_set_extra(now, m->names[i], &m->values[i]);
    for (size_t i = 0; more && i < more->size && !status; i++)
        status = xir_op_set_extra(now, more->entries[i].key, &more->entries[i].value);
    for (size_t i = 0; i < n && !status; i++)
        status = xir_value_set_name(xir_op_output(now, (int64_t)i), xir_value_name(xir_op_output(op, (int64_t)i)));
    if (!status) status = xir_network_replace_keep_uses(net, op, now);
    return status ? undone(now, m, status) : xir_op_set_id(now, id);
}

/* ---- modules ---------------------------------------------------------------------------------------------------- */

static bool has_weights(const xir_op *op, const xir_convert_row *row) {
    const xir_map *extra = xir_op_extra(op);
    const char *text = row_input_names(row->inputs);
    for (row_input input; row_next_input(&text, &input);)
        if (input.is_attribute && !input.optional && !(extra && xir_map_find(extra, input.name))) return false;
    return true;
}

/* "nn.Conv2d" of a module that PyTorch has; false for any other. */
static bool module_type(const xir_op *op, char out[100]) {
    static const char path[] = "__torch__.torch.nn.modules.";
    const xir_str key = key_of(op);
    char name[120];
    size_t from = key.size;
    if (key.size <= sizeof path || memcmp(key.data, path, sizeof path - 1) != 0) return false;
    while (key.data[from - 1] != '.') from--;
    if (key.size - from > 60) return false;
    snprintf(out, 100, "nn.%.*s", (int)(key.size - from), key.data + from);
    snprintf(name, sizeof name, "%s%s", prefix, out);
    const xir_convert_row *row = xir_convert_find(xir_network_context(xir_op_network(op)), xir_str_of(name));
    return row && has_weights(op, row);
}

static xir_status renamed(xir_op *op, bool *changed) {
    char type[100];
    made m = { .n_in = 0 };
    const size_t n = xir_op_input_count(op);
    if (!module_type(op, type) || n > MOST_INPUTS) return XIR_OK;
    for (size_t i = 0; i < n; i++) m.in[m.n_in++] = xir_op_input(op, (int64_t)i);
    *changed = true;
    return replace(op, type, &m, xir_op_extra(op));
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static xir_status converted(xir_op *op, bool *changed) {
    const xir_str key = key_of(op);
    for (size_t i = 0; i < COUNT(functions); i++) {
        const function *f = &functions[i];
        if (!xir_str_equal(key, xir_str_of(f->old))) continue;
        made m = { .n_in = 0 };
        if (f->formula ? !put_formula(&m, op, f->formula) : !put_arguments(&m, op, f->arguments)) continue;
        *changed = true;
        return replace(op, f->now, &m, NULL);
    }
    return renamed(op, changed);
}

xir_status pnnx_older(xir_network *net, bool *changed) {
    bool any = false;
    xir_status status = XIR_OK;
    for (xir_op *op = xir_network_first(net), *next; op && !status; op = next) {
        next = xir_op_next(op);
        const xir_str key = key_of(op);
        if (key.size > 2 && (memcmp(key.data, "at", 2) == 0 || memcmp(key.data, "__", 2) == 0))
            status = converted(op, &any);
    }
    /* what made the numbers and lists, and nothing uses any more */
    for (xir_op *op = any ? xir_network_output_op(net) : NULL, *before; op && !status; op = before) {
        before = xir_op_prev(op);
        const bool operand = op_is_of(op, prefix, "prim::Constant") || op_is_of(op, prefix, "prim::ListConstruct") ||
                             is_expression(op);
        if (operand && xir_op_output_count(op) == 1 && !xir_value_uses(xir_op_output(op, 0))) status = xir_op_erase(op);
    }
    *changed |= any;
    return status;
}

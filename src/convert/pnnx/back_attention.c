/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of nn.MultiheadAttention. XIR has it as products, and by now they are operators: linear layers of query,
 * key and value, each of whose results is taken apart into heads, softmax(q k^T / sqrt(size) + mask) v, which may be
 * one operator already, and a linear layer of the heads side by side. Where nothing else uses what is in between, all
 * of them become one operator. There may be a mask, and a row of a bias and one of zeros at the end of keys and values;
 * the mean of the weights over the heads is the second output. */
#include <math.h>
#include "node/node.h"
#include "pnnx/pnnx.h"
#include "formula/simpler.h"
#include "number.h"
#include "source_tags.h"

enum { MOST_OPS = 40 };

/* The parts of one attention that were found, and the operators that it replaces, users first. */
typedef struct projection { xir_value *x, *weight, *bias, *rows[2]; size_t n_rows; double factor; } projection;
typedef struct attention {
    xir_network *net;
    int64_t      batch, length, heads, size;
    projection   p[3];          /* of query, key and value */
    xir_value   *mask;
    const xir_op *out, *mean;   /* NULL: without the weights */
    xir_value   *weights;       /* one for each head */
    bool         add_zero;
    double       factor;
    xir_op      *gone[MOST_OPS];
    size_t       n_gone;
    xir_op      *before;        /* the place of the new operator */
} attention;

/* ---- operators -------------------------------------------------------------------------------------------------- */

static bool is_type(const xir_op *op, const char *type) {
    static const char prefix[] = "pnnx::";
    const xir_str key = xir_class_key(xir_op_class(op));
    const size_t n = sizeof prefix - 1;
    return key.size > n && xir_str_equal((xir_str){ key.data + n, key.size - n }, xir_str_of(type));
}

/* The number of uses, at most 3: counting many for each of them would not be linear. */
static size_t few_uses(const xir_value *v) {
    size_t n = 0;
    for (const xir_use *use = xir_value_uses(v); use && n < 3; use = xir_use_next(use)) n++;
    return n;
}

/* The operator of a type that makes a value that nothing else uses. */
static xir_op *maker(const xir_value *v, const char *type) {
    xir_op *op = v && few_uses(v) == 1 ? xir_value_op(v) : NULL;
    return op && is_type(op, type) && xir_op_input_count(op) && xir_op_output_count(op) == 1 ? op : NULL;
}

static bool goes(attention *a, xir_op *op) {
    if (!op || a->n_gone == MOST_OPS) return false;
    a->gone[a->n_gone++] = op;
    return true;
}

static const xir_any *parameter(const xir_op *op, const char *name) {
    return xir_map_find(xir_op_extra(op), xir_str_of(name));
}

static xir_value *weight_of(const xir_op *op, const char *name) {
    const xir_any *a = parameter(op, name);
    return a && a->kind == XIR_ANY_PARAMS ? a->as.params : NULL;
}

static int64_t integer_of(const xir_op *op, const char *name, int64_t otherwise) {
    const xir_any *a = parameter(op, name);
    return a && a->kind == XIR_ANY_INT ? a->as.integer : otherwise;
}

static bool is_list(const xir_op *op, const char *name, const int64_t *v, size_t n) {
    const xir_any *a = parameter(op, name);
    if (!a || a->kind != XIR_ANY_LIST || a->as.list.size != n) return false;
    for (size_t i = 0; i < n; i++)
        if (a->as.list.items[i].kind != XIR_ANY_INT || a->as.list.items[i].as.integer != v[i]) return false;
    return true;
}

/* "add(@0,@1)" */
static bool is_formula(const xir_op *op, const char *text) {
    const xir_any *a = parameter(op, "expr");
    return a && a->kind == XIR_ANY_TEXT && xir_str_equal(a->as.text, xir_str_of(text));
}

static bool has_dims(const xir_value *v, const int64_t *dims, size_t n) {
    return v && xir_type_as_tensor(xir_value_type(v)) && type_has_dims(xir_value_type(v), dims, n);
}

/* The factor of "mul(@0,0.25)" or "div(@0,4.0)"; false for any other formula. */
static bool factor_of(const xir_op *op, double *factor) {
    const xir_any *a = parameter(op, "expr");
    number v;
    if (!a || a->kind != XIR_ANY_TEXT || a->as.text.size < 9 || xir_op_input_count(op) != 1) return false;
    const char *text = a->as.text.data;
    const bool product = memcmp(text, "mul(@0,", 7) == 0, quotient = memcmp(text, "div(@0,", 7) == 0;
    const size_t n = product || quotient ? number_parse(text + 7, a->as.text.size - 8, &v) : 0;
    if (!n || 7 + n + 1 != a->as.text.size || v.kind == NUMBER_OVERFLOW || v.kind == NUMBER_U64) return false;
    const double real = v.kind == NUMBER_I64 ? (double)v.i64 : v.real;
    *factor *= product ? real : 1 / real;
    return true;
}

/* The value before products with numbers. */
static xir_value *unscaled(attention *a, xir_value *v, double *factor) {
    for (xir_op *op; (op = maker(v, "pnnx.Expression")) && factor_of(op, factor); v = xir_op_input(op, 0))
        if (!goes(a, op)) return NULL;
    return v;
}

/* The value before permutations of four axes, which together must be `order`. */
static xir_value *unpermuted(attention *a, xir_value *v, const int64_t order[4], double *factor) {
    int64_t axes[4] = { 0, 1, 2, 3 };
    v = unscaled(a, v, factor);
    for (xir_op *op; (op = maker(v, "Tensor.permute")); v = unscaled(a, xir_op_input(op, 0), factor)) {
        const xir_any *dims = parameter(op, "dims");
        if (!dims || dims->kind != XIR_ANY_LIST || dims->as.list.size != 4 || !goes(a, op)) return NULL;
        for (size_t i = 0; i < 4; i++) {   /* axis i of the result is axis dims[axes[i]] of what is permuted */
            const xir_any *item = &dims->as.list.items[axes[i]];
            if (item->kind != XIR_ANY_INT || item->as.integer < 0 || item->as.integer > 3) return NULL;
            axes[i] = item->as.integer;
        }
    }
    return memcmp(axes, order, sizeof axes) == 0 ? v : NULL;
}

/* ---- its parts -------------------------------------------------------------------------------------------------- */

/* A row at the end of keys or values: a constant, the same for each sequence; *zero: of zeros. */
static xir_value *row_of(const attention *a, xir_value *v, bool *zero) {
    const xir_op *op = v ? xir_value_op(v) : NULL;
    xir_value *data = op && is_type(op, "pnnx.Attribute") ? weight_of(op, "@data") : NULL;
    const int64_t dims[] = { a->batch, 1, a->heads * a->size };
    uint64_t size = 0;
    const char *bytes = data && has_dims(v, dims, 3) && xir_params_has_data(data) ? xir_params_data(data, &size) : NULL;
    if (!bytes || size % (uint64_t)a->batch) return NULL;
    const size_t one = (size_t)(size / (uint64_t)a->batch);
    *zero = true;
    for (size_t i = 0; i < one; i++) *zero = *zero && !bytes[i];
    for (int64_t i = 1; i < a->batch; i++) if (memcmp(bytes + (size_t)i * one, bytes, one) != 0) return NULL;
    return data;
}

/* [batch, length, heads * size] of one input: a linear layer, and rows at the end. */
static bool find_linear(attention *a, xir_value *v, projection *p, bool *zero) {
    *zero = false;
    for (xir_op *op; (op = maker(v, "torch.cat")); v = xir_op_input(op, 0)) {
        const size_t n = xir_op_input_count(op);
        if (integer_of(op, "dim", 0) != 1 || n < 2 || !goes(a, op)) return false;
        for (size_t i = n; i-- > 1;) {   /* from the last row on */
            bool is_zero;
            xir_value *row = row_of(a, xir_op_input(op, (int64_t)i), &is_zero);
            if (!row || p->n_rows == 2 || (p->n_rows == 1 && !*zero)) return false;
            if (!p->n_rows) *zero = is_zero;
            p->rows[p->n_rows++] = row;
        }
    }
    xir_op *op = maker(v, "nn.Linear");
    if (!goes(a, op)) return false;
    p->x = xir_op_input(op, 0);
    p->weight = weight_of(op, "@weight");
    p->bias = weight_of(op, "@bias");
    return p->weight && v_rank(p->weight) == 2 && xir_type_as_tensor(xir_value_type(p->x)) && v_rank(p->x) == 3 &&
           v_dim(p->x, 0) == a->batch;
}

/* One of query, key and value: in heads, in an order of axes. */
static bool find_projection(attention *a, xir_value *v, const int64_t order[4], projection *p, bool *zero) {
    p->factor = 1;
    v = unpermuted(a, v, order, &p->factor);
    xir_op *op = maker(v, "Tensor.reshape");
    if (!op || v_rank(v) != 4 || xir_op_input_count(op) != 1) return false;
    const int64_t flat[] = { a->batch, v_dim(v, 1), a->heads * a->size };
    if (v_dim(v, 2) != a->heads || v_dim(v, 3) != a->size || v_dim(v, 1) < 0) return false;
    v = xir_op_input(op, 0);
    return has_dims(v, flat, 3) && goes(a, op) && (v = unscaled(a, v, &p->factor)) && find_linear(a, v, p, zero);
}

/* The mask as the operator takes it: without the rows at its end, [length, keys], or one for each head of each
 * sequence. Its operators are removed later if nothing else uses them. */
static bool find_mask(attention *a, xir_value *mask) {
    const int64_t length = a->length;
    xir_op *op = mask ? xir_value_op(mask) : NULL;
    if (op && v_rank(mask) == 4) {
        if (!is_type(op, "Tensor.reshape") || v_dim(mask, 0) != a->batch || v_dim(mask, 1) != a->heads) return false;
        mask = xir_op_input(op, 0);
        op = mask ? xir_value_op(mask) : NULL;
        if (!mask || v_rank(mask) != 3 || v_dim(mask, 0) != a->batch * a->heads) return false;
    }
    const int64_t pads[] = { 0, (int64_t)a->p[1].n_rows };
    if (pads[1]) {
        const bool padded = op && is_type(op, "F.pad") && is_list(op, "pad", pads, 2);
        if (!padded) return false;
        mask = xir_op_input(op, 0);
    }
    const size_t rank = mask ? v_rank(mask) : 0;
    a->mask = mask;
    return (rank == 2 || rank == 3) && v_dim(mask, rank - 2) == length &&
           v_dim(mask, rank - 1) == v_dim(a->p[1].x, 1);
}

/* Returns true if a mask may hide all keys from a query: then F.scaled_dot_product_attention gives 0, and
 * nn.MultiheadAttention no number. */
static bool hides_keys(const xir_value *mask) {
    const xir_op *op = xir_value_op(mask);
    const xir_value *data = op && is_type(op, "pnnx.Attribute") ? weight_of(op, "@data") : NULL;
    return !data || attention_hides(data, false);
}

/* The scores: scaled products, and a mask. */
static bool find_scores(attention *a, xir_value *v, xir_value **mask) {
    static const int64_t heads_first[] = { 0, 2, 1, 3 }, turned[] = { 0, 2, 3, 1 };
    bool zero[2] = { false, false }, none;
    xir_op *op = maker(v, "pnnx.Expression");
    *mask = NULL;
    if (op && xir_op_input_count(op) == 2 && is_formula(op, "add(@0,@1)")) {
        xir_value *left = xir_op_input(op, 0), *right = xir_op_input(op, 1);
        const bool first = maker(left, "torch.matmul") || maker(left, "pnnx.Expression");
        v = first ? left : right;
        *mask = first ? right : left;
        if (!goes(a, op)) return false;
    }
    v = unscaled(a, v, &a->factor);
    op = maker(v, "torch.matmul");
    if (!op || xir_op_input_count(op) != 2 || !goes(a, op)) return false;
    if (!find_projection(a, xir_op_input(op, 0), heads_first, &a->p[0], &none) || a->p[0].n_rows) return false;
    if (!find_projection(a, xir_op_input(op, 1), turned, &a->p[1], &zero[0])) return false;
    a->factor *= a->p[0].factor * a->p[1].factor;
    a->add_zero = zero[0];
    return fabs(a->factor * sqrt((double)a->size) - 1) < 1e-6;
}

/* The weights of the heads go into the product with the values, and perhaps into their mean. */
static bool find_weights(attention *a, xir_op *soft) {
    const int64_t one = 1;
    a->weights = xir_op_output(soft, 0);
    const size_t uses = few_uses(a->weights);
    if (!is_type(soft, "nn.Softmax") || v_rank(a->weights) != 4 || integer_of(soft, "dim", 0) != 3) return false;
    for (const xir_use *use = xir_value_uses(a->weights); use && uses == 2; use = xir_use_next(use)) {
        xir_op *user = xir_use_op(use);
        const xir_any *keep = parameter(user, "keepdim");
        const bool kept = keep && keep->kind == XIR_ANY_BOOL && keep->as.boolean;
        const bool over_heads = is_list(user, "dim", &one, 1) || integer_of(user, "dim", 0) == 1;
        if (is_type(user, "torch.mean") && over_heads && !kept) a->mean = user;
    }
    if (uses != 1 + (size_t)(a->mean != NULL)) return false;
    if (a->mean && !goes(a, (xir_op *)(uintptr_t)a->mean)) return false;
    return true;
}

/* Query, key and value in one operator, which has the mask, too. *zero: a row of zeros at the end of the values. */
static bool find_whole(attention *a, xir_op *op, xir_value **mask, bool *zero) {
    static const int64_t heads_first[] = { 0, 2, 1, 3 };
    const xir_any *causal = parameter(op, "is_causal"), *scale = parameter(op, "scale");
    const size_t n = xir_op_input_count(op);
    bool none;
    if (n < 3 || n > 4 || !goes(a, op) || (causal && causal->kind == XIR_ANY_BOOL && causal->as.boolean)) return false;
    *mask = n == 4 ? xir_op_input(op, 3) : NULL;
    a->before = op;
    for (size_t i = 0; i < 3; i++) {
        bool *is_zero = i == 0 ? &none : i == 1 ? &a->add_zero : zero;
        if (!find_projection(a, xir_op_input(op, (int64_t)i), heads_first, &a->p[i], is_zero)) return false;
    }
    const double own = !scale ? 1 / sqrt((double)a->size) : scale->kind == XIR_ANY_REAL ? scale->as.real : 0;
    a->factor = a->p[0].factor * a->p[1].factor * own;
    return a->p[0].n_rows == 0 && fabs(a->factor * sqrt((double)a->size) - 1) < 1e-6;
}

/* Softmax of scores, times values. */
static bool find_weighted(attention *a, xir_op *product, xir_value **mask, bool *zero) {
    static const int64_t heads_first[] = { 0, 2, 1, 3 };
    if (!product || xir_op_input_count(product) != 2 || !goes(a, product)) return false;
    xir_value *weights = xir_op_input(product, 0);
    xir_op *soft = weights ? xir_value_op(weights) : NULL;
    if (!soft || !find_weights(a, soft) || !goes(a, soft)) return false;
    a->before = soft;
    return find_projection(a, xir_op_input(product, 1), heads_first, &a->p[2], zero) &&
           find_scores(a, xir_op_input(soft, 0), mask);
}

/* Returns true if a linear layer is the last one of an attention. */
static bool find(attention *a, xir_op *out) {
    static const int64_t heads_first[] = { 0, 2, 1, 3 };
    xir_value *mask = NULL;
    bool zero = false;
    double factor = 1;
    a->out = out;
    a->factor = 1;
    xir_value *v = xir_op_input_count(out) == 1 && xir_op_output_count(out) == 1 ? xir_op_input(out, 0) : NULL;
    xir_op *joined = maker(v, "Tensor.reshape");
    if (!joined || v_rank(v) != 3 || xir_op_input_count(joined) != 1 || !goes(a, out) || !goes(a, joined)) return false;
    a->batch = v_dim(v, 0), a->length = v_dim(v, 1);
    v = xir_op_input(joined, 0);
    if (v_rank(v) != 4) return false;
    a->heads = v_dim(v, 2), a->size = v_dim(v, 3);
    if (a->batch < 1 || a->length < 1 || a->heads < 1 || a->size < 1 || a->heads > INT32_MAX / a->size) return false;
    const int64_t apart[] = { a->batch, a->length, a->heads, a->size };
    const int64_t flat[] = { a->batch, a->length, a->heads * a->size };
    if (!has_dims(v, apart, 4) || !has_dims(xir_op_input(out, 0), flat, 3)) return false;
    v = unpermuted(a, v, heads_first, &factor);
    xir_op *whole = maker(v, "F.scaled_dot_product_attention");
    if (factor != 1) return false;
    if (whole ? !find_whole(a, whole, &mask, &zero) : !find_weighted(a, maker(v, "torch.matmul"), &mask, &zero))
        return false;
    if (a->p[2].factor != 1 || a->p[2].n_rows != a->p[1].n_rows || zero != a->add_zero) return false;
    const xir_value *weight = weight_of(out, "@weight");
    const int64_t square[] = { flat[2], flat[2] };
    return has_dims(weight, square, 2) && (!mask || (find_mask(a, mask) && (!whole || !hides_keys(a->mask)))) &&
           v_dim(a->p[0].x, 2) == flat[2] && v_dim(a->p[1].x, 1) == v_dim(a->p[2].x, 1);
}

/* ---- one operator ----------------------------------------------------------------------------------------------- */

/* Returns the value from before the batch was put first. */
static xir_value *in_turn(xir_value *v) {
    static const int64_t swap[] = { 1, 0, 2 };
    const xir_op *op = v ? xir_value_op(v) : NULL;
    return op && is_type(op, "Tensor.permute") && is_list(op, "dims", swap, 3) ? xir_op_input(op, 0) : NULL;
}

static xir_op *only_user(const xir_value *v) {
    const xir_use *use = xir_value_uses(v);
    return use && !xir_use_next(use) ? xir_use_op(use) : NULL;
}

/* Three weights or biases as one. *out is NULL if one of them has no bytes. */
static xir_status in_one(attention *a, xir_value *q, xir_value *k, xir_value *v, xir_value **out) {
    xir_value *const parts[] = { q, k, v };
    *out = NULL;
    for (size_t i = 0; i < 3; i++) if (!parts[i] || !xir_params_has_data(parts[i])) return XIR_OK;
    *out = xir_params_concat(a->net, XIR_STR(""), parts, 3);
    const xir_status status = xir_network_status(a->net);
    if (!*out) xir_network_clear_status(a->net);
    return status == XIR_E_MEMORY ? status : XIR_OK;
}

/* A row as a weight [1, 1, e]. */
static xir_status single_row(attention *a, xir_value *row, xir_value **out) {
    uint64_t size;
    const void *bytes = xir_params_data(row, &size);
    const int64_t dims[] = { 1, 1, a->heads * a->size };
    xir_context *ctx = xir_network_context(a->net);
    const xir_type *type = xir_type_tensor(ctx, v_element(row), xir_layout_default(ctx, 3), dims, 3);
    *out = type ? xir_params_copy(a->net, XIR_STR(""), type, bytes, (size_t)(size / (uint64_t)a->batch)) : NULL;
    return *out ? XIR_OK : XIR_E_MEMORY;
}

typedef struct weight { const char *key; xir_value *v; } weight;

/* The weights by their names; *n is 0 if the operator does not have this form. */
static xir_status find_named(attention *a, weight *w, size_t *n) {
    const projection *q = &a->p[0], *k = &a->p[1], *v = &a->p[2];
    const int64_t e = a->heads * a->size;
    const bool same = v_dim(k->x, 2) == e && v_dim(v->x, 2) == e;
    xir_value *bias = weight_of(a->out, "@bias"), *all = NULL;
    xir_status status = XIR_OK;
    *n = 0;
    /* PyTorch has all biases or none */
    if (!q->bias != !bias || !k->bias != !bias || !v->bias != !bias) return XIR_OK;
    size_t count = 0;
    if (bias) {
        status = in_one(a, q->bias, k->bias, v->bias, &all);
        if (status || !all) return status;
        w[count++] = (weight){ "@in_proj_bias", all };
        w[count++] = (weight){ "@out_proj.bias", bias };
    }
    w[count++] = (weight){ "@out_proj.weight", weight_of(a->out, "@weight") };
    if (same) {
        status = in_one(a, q->weight, k->weight, v->weight, &all);
        if (status || !all) return status;
        w[count++] = (weight){ "@in_proj_weight", all };
    } else {
        w[count++] = (weight){ "@q_proj_weight", q->weight };
        w[count++] = (weight){ "@k_proj_weight", k->weight };
        w[count++] = (weight){ "@v_proj_weight", v->weight };
    }
    if (k->n_rows > (size_t)a->add_zero) {
        status = single_row(a, k->rows[k->n_rows - 1], &w[count].v);
        if (!status) w[count++].key = "@bias_k", status = single_row(a, v->rows[v->n_rows - 1], &w[count].v);
        if (!status) w[count++].key = "@bias_v";
    }
    *n = count;
    return status;
}

static xir_status set_parameters(const attention *a, xir_op *op, const weight *w, size_t n, bool batch_first) {
    const struct { const char *name; xir_any value; } list[] = {
        { "add_bias_kv",   xir_any_bool(a->p[1].n_rows > (size_t)a->add_zero) },
        { "add_zero_attn", xir_any_bool(a->add_zero) },
        { "batch_first",   xir_any_bool(true) },
        { "bias",          xir_any_bool(weight_of(a->out, "@bias") != NULL) },
        { "embed_dim",     xir_any_int(a->heads * a->size) },
        { "kdim",          xir_any_int(v_dim(a->p[1].x, 2)) },
        { "num_heads",     xir_any_int(a->heads) },
        { "vdim",          xir_any_int(v_dim(a->p[2].x, 2)) },
    };
    xir_status status = XIR_OK;
    for (size_t i = 0; i < COUNT(list) && !status; i++)
        if (i != 2 || batch_first) status = xir_op_set_extra(op, xir_str_of(list[i].name), &list[i].value);
    for (size_t i = 0; i < n && !status; i++) {
        const xir_any any = { .kind = XIR_ANY_PARAMS, .as.params = w[i].v };
        status = xir_op_set_extra(op, xir_str_of(w[i].key), &any);
    }
    return status;
}

/* Removes an operator if nothing uses it, and then what only it used. */
static xir_status drop(xir_op *op) {
    static const char *const types[] = { "Tensor.permute", "Tensor.reshape", "F.pad", "pnnx.Attribute" };
    for (bool known = true; op && known;) {
        known = false;
        for (size_t i = 0; i < COUNT(types) && !known; i++) known = is_type(op, types[i]);
        if (!known || xir_op_output_count(op) != 1 || xir_value_uses(xir_op_output(op, 0))) break;
        const xir_value *from = xir_op_input_count(op) == 1 ? xir_op_input(op, 0) : NULL;
        const xir_status status = xir_op_erase(op);
        if (status) return status;
        op = from ? xir_value_op(from) : NULL;
    }
    return XIR_OK;
}

/* The values of the attention by the new operator. What needs memory comes first: afterwards nothing fails. */
static xir_status put(attention *a, xir_op *op, xir_value *y) {
    xir_value *const old[] = { y, a->mean ? xir_op_output(a->mean, 0) : NULL };
    xir_op *around[8] = { NULL };
    xir_status status = net_reserve_ids(a->net, 0, 2) ? XIR_OK : XIR_E_MEMORY;
    size_t n = 0;
    for (size_t i = 0; i < 2 && old[i] && !status; i++)
        status = xir_value_set_name(xir_op_output(op, (int64_t)i), xir_value_name(old[i]));
    if (status) return xir_op_erase(op), status;
    for (size_t i = 0; i < 2 && old[i] && !status; i++)
        status = xir_value_replace(old[i], xir_op_output(op, (int64_t)i));
    if (!status && xir_value_op(y) != a->out) status = xir_op_erase(xir_value_op(y));
    for (size_t i = 0; i < a->n_gone && !status; i++) {
        for (size_t k = 0; k < xir_op_input_count(a->gone[i]) && n < COUNT(around); k++) {
            xir_value *v = xir_op_input(a->gone[i], (int64_t)k);
            xir_op *by = v ? xir_value_op(v) : NULL;
            bool known = !by || by == op;
            for (size_t j = 0; j < a->n_gone && !known; j++) known = a->gone[j] == by;
            for (size_t j = 0; j < n && !known; j++) known = around[j] == by;
            if (!known) around[n++] = by;
        }
        status = xir_op_erase(a->gone[i]);
    }
    for (size_t i = 0; i < n && !status; i++) status = drop(around[i]);
    return status;
}

static xir_status become_one(attention *a, bool *changed) {
    weight w[8];
    xir_value *x[3], *y = xir_op_output(a->out, 0), *in[4];
    size_t n_weights, n = 0;
    xir_status status = find_named(a, w, &n_weights);
    if (status || !n_weights) return status;
    xir_op *user = only_user(y);
    bool batch_first = !user || in_turn(xir_op_output(user, 0)) != y;
    for (size_t i = 0; i < 3 && !batch_first; i++) batch_first = !in_turn(a->p[i].x);
    for (size_t i = 0; i < 3; i++) x[i] = batch_first ? a->p[i].x : in_turn(a->p[i].x);
    if (!batch_first) y = xir_op_output(user, 0);
    const bool shared = x[1] == x[2];
    in[n++] = x[0];
    if (!shared || x[1] != x[0]) in[n++] = x[1];
    if (!shared) in[n++] = x[2];
    if (a->mask) in[n++] = a->mask;
    const xir_type *types[] = { xir_value_type(y), a->mean ? xir_value_type(xir_op_output(a->mean, 0)) : NULL };
    const xir_class *cls = xir_class_opaque(xir_network_context(a->net), XIR_STR("pnnx::nn.MultiheadAttention"));
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = cls, .inputs = in, .n_inputs = n, .types = types,
                                      .n_types = a->mean ? 2 : 1, .name = xir_op_name(a->mean ? a->mean : a->out),
                                      .id = XIR_NO_ID, .before = a->before);
    xir_op *op = cls ? xir_network_add(a->net, &desc) : NULL;
    if (!op) return XIR_E_MEMORY;
    *changed = true;
    status = set_parameters(a, op, w, n_weights, batch_first);
    xir_any names[4] = { xir_any_null(), xir_any_null(), xir_any_null(), xir_any_null() };
    if (a->mask) names[n - 1] = xir_any_text(XIR_STR("attn_mask"));
    const xir_any list = xir_any_list(names, n);
    if (!status && a->mask) status = xir_op_set_tag(op, source_tag_key(SOURCE_INPUTS), &list);
    if (status) return xir_op_erase(op), status;
    return put(a, op, y);
}

xir_status pnnx_join_attention(xir_network *net, bool *changed) {
    xir_status status = XIR_OK;
    for (xir_op *op = xir_network_first(net), *next; op && !status; op = next) {
        next = xir_op_next(op);
        if (!is_type(op, "nn.Linear")) continue;
        attention a = { .net = net };
        if (!find(&a, op)) continue;
        xir_op *after = xir_op_next(op);   /* nothing that is removed comes after it but a permutation or a mean */
        while (after && (is_type(after, "Tensor.permute") || is_type(after, "torch.mean"))) after = xir_op_next(after);
        status = become_one(&a, changed);
        next = after;
    }
    return status;
}

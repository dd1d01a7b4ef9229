/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Makes patterns: checks the rows, looks up the classes, and copies everything into one arena. */
#include "pattern/pattern.h"
#include "sized.h"
#include <stdarg.h>
#include <stdio.h>

/* The pattern that is being made; findings name the pattern and the row. */
typedef struct making {
    xir_pattern            *p;
    const xir_pattern_decl *decl;
    xir_diags              *why;
    size_t                  row;
} making;

static XIR_PRINTF(3, 4) xir_status refuse(const making *mk, xir_status code, const char *format, ...) {
    char sentence[SENTENCE_ROOM];
    va_list list;
    va_start(list, format);
    text_vprint(sentence, sizeof sentence, format, list);
    va_end(list);
    return diag_fail(mk->why, code, XIR_STR(""), "pattern '%s', row %zu: %s", mk->decl->name, mk->row, sentence);
}

/* ---- classes ---------------------------------------------------------------------------------------------------- */

static size_t count_classes(const xir_pattern_row *r) {
    size_t n = r->keys && *r->keys;
    for (const char *c = r->keys; c && *c; c++) n += *c == '|';
    for (size_t i = 0; i < XIR_ROW_MAX_CLASSES && r->classes[i]; i++) n++;
    return n;
}

static xir_status take_classes(making *mk, const xir_pattern_row *r, node *n) {
    xir_context *ctx = mk->p->ctx;
    size_t all = count_classes(r);
    if (!all) return XIR_OK;
    n->classes = arena_take(&mk->p->arena, all * sizeof *n->classes);
    if (!n->classes) return diag_memory(mk->why);
    for (size_t i = 0; i < XIR_ROW_MAX_CLASSES && r->classes[i]; i++) {
        const xir_class_decl *decl = r->classes[i]();
        const xir_class *cls = xir_class_find_decl(ctx, decl);
        if (!cls) return refuse(mk, XIR_E_UNKNOWN, "class %s is not registered", decl->rows->name);
        n->classes[n->n_classes++] = cls;
    }
    for (const char *key = r->keys; n->n_classes < all;) {
        xir_str text = { key, strcspn(key, "|") };
        const xir_class *cls = xir_class_find(ctx, text);
        if (!cls) cls = class_opaque(ctx, text, true);
        if (!cls) return diag_memory(mk->why);
        n->classes[n->n_classes++] = cls;
        key += text.size + 1;
    }
    return XIR_OK;
}

/* ---- other parts of a row --------------------------------------------------------------------------------------- */

static xir_status take_attrs(making *mk, const xir_pattern_row *r, node *n) {
    arena *to = &mk->p->arena;
    while (n->n_attrs < XIR_ROW_MAX_ATTRS && r->attrs[n->n_attrs].name) n->n_attrs++;
    if (!n->n_attrs) return XIR_OK;
    node_attr *attrs = arena_take(to, n->n_attrs * sizeof *attrs);
    if (!attrs) return diag_memory(mk->why);
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        attrs[i] = (node_attr){ .is = r->attrs[i] };
        if (!arena_text(to, xir_str_of(r->attrs[i].name), &attrs[i].name) ||
            !arena_text(to, xir_str_of(r->attrs[i].text), &attrs[i].text)) return diag_memory(mk->why);
        if (n->n_classes == 1) attrs[i].field = xir_class_field(n->classes[0], attrs[i].name);
    }
    n->attrs = attrs;
    return XIR_OK;
}

/* A row may name only rows before it; a REST must be the last input of an op. */
static xir_status take_inputs(making *mk, const xir_pattern_row *r, node *n, size_t *edges) {
    if (!r->n_inputs) return XIR_OK;
    if (r->n_inputs > XIR_ROW_MAX_INPUTS) {
        return refuse(mk, XIR_E_LIMIT, "expected at most %d inputs, found %zu", XIR_ROW_MAX_INPUTS, r->n_inputs);
    }
    if ((*edges += r->n_inputs) > XIR_PATTERN_EDGES) {
        return refuse(mk, XIR_E_LIMIT, "expected at most %d inputs in all rows together, found more",
                      XIR_PATTERN_EDGES);
    }
    for (size_t i = 0; i < r->n_inputs; i++) {
        uint8_t row = r->inputs[i];
        if (row >= mk->row) return refuse(mk, XIR_E_INVALID, "it names row %d; expected a row before it", row);
        if (mk->p->nodes[row].kind != XIR_PATTERN_REST) continue;
        bool last = r->kind == XIR_PATTERN_OP && i + 1 == r->n_inputs;
        if (!last) return refuse(mk, XIR_E_INVALID, "a REST must be the last input of an op");
        n->rest = true;
    }
    n->inputs = arena_copy(&mk->p->arena, r->inputs, r->n_inputs);
    if (!n->inputs) return diag_memory(mk->why);
    n->n_inputs = (uint8_t)(r->n_inputs - n->rest);
    n->asks_inputs = true;
    return XIR_OK;
}

static xir_status check_row(const making *mk, const xir_pattern_row *r) {
    const node *nodes = mk->p->nodes;
    bool is_op = r->kind == XIR_PATTERN_OP, is_any = r->kind > XIR_PATTERN_NONE && r->kind <= XIR_PATTERN_REST;
    if (!is_any) return refuse(mk, XIR_E_INVALID, "the row has no kind");
    if (is_op && r->optional && !r->n_inputs) return refuse(mk, XIR_E_INVALID, "an optional op must have an input");
    if (is_op && r->commutes && r->n_inputs < 2)
        return refuse(mk, XIR_E_INVALID, "expected at least two inputs that commute");
    if (r->kind == XIR_PATTERN_EITHER && !r->n_inputs) return refuse(mk, XIR_E_INVALID, "it has no alternatives");
    if (r->kind == XIR_PATTERN_OUTPUT &&
        (r->n_inputs != 1 || nodes[r->inputs[0]].kind != XIR_PATTERN_OP || nodes[r->inputs[0]].optional)) {
        return refuse(mk, XIR_E_INVALID, "expected an output of the row of an op");
    }
    return XIR_OK;
}

static xir_status take_element(making *mk, const xir_pattern_row *r, node *n) {
    form_error e = { 0 };
    if (!r->element) return XIR_OK;
    const xir_object *type = form_parse(&mk->p->ctx->pool, xir_str_of(r->element), &e);
    if (e.status == XIR_E_MEMORY) return diag_memory(mk->why);
    if (!type) return refuse(mk, XIR_E_UNKNOWN, "'%s' is not an element type", r->element);
    n->element = (const xir_type *)type;
    return XIR_OK;
}

/* Copies a row into this library's struct; false if it uses fields that this library does not know. */
static bool read_row(const making *mk, xir_pattern_row *out) {
    const size_t size = mk->decl->row_size;
    const char *row = (const char *)mk->decl->rows + mk->row * size;
    memset(out, 0, sizeof *out);
    memcpy(out, row, size < sizeof *out ? size : sizeof *out);
    return sized_beyond(row, sizeof *out, size) == size || size <= sizeof *out;
}

/* In the context's pool, because a type may be one of a network. */
static xir_status take_type(making *mk, const xir_pattern_row *r, node *n) {
    if (r->type) n->type = (const xir_type *)pool_intern(&mk->p->ctx->pool, (const xir_object *)r->type);
    return r->type && !n->type ? diag_memory(mk->why) : XIR_OK;
}

static xir_status take_row(making *mk, size_t *edges) {
    xir_pattern_row known;
    const xir_pattern_row *r = &known;
    if (!read_row(mk, &known)) return refuse(mk, XIR_E_UNSUPPORTED, "it sets a member that this version does not know");
    node *n = &mk->p->nodes[mk->row];
    *n = (node){ .kind = (uint8_t)r->kind, .output = r->output, .commutes = r->commutes, .optional = r->optional,
                 .tests_value = r->uses || r->element || r->type || r->where_value, .traits = r->traits,
                 .targets = r->targets, .uses = r->uses, .number = r->number,
                 .within = r->within > 0 ? r->within : 1e-6,
                 .where = r->where, .where_value = r->where_value, .user = r->user ? r->user : mk->decl->user };
    xir_status status = take_inputs(mk, r, n, edges);
    if (!status) status = check_row(mk, r);
    if (!status) status = take_classes(mk, r, n);
    if (!status) status = take_attrs(mk, r, n);
    if (!status) status = take_element(mk, r, n);
    if (!status) status = take_type(mk, r, n);
    return status;
}

/* ---- whole pattern ---------------------------------------------------------------------------------------------- */

/* The root must be an op, or alternatives that are all ops. */
static xir_status check_root(making *mk) {
    const node *nodes = mk->p->nodes, *root = &nodes[mk->p->root];
    size_t n = root->kind == XIR_PATTERN_EITHER ? root->n_inputs : 1;
    for (size_t i = 0; i < n; i++) {
        const node *it = root->kind == XIR_PATTERN_EITHER ? &nodes[root->inputs[i]] : root;
        if (it->kind != XIR_PATTERN_OP)
            return refuse(mk, XIR_E_INVALID, "the root must be an op or a choice between ops");
        if (it->optional) return refuse(mk, XIR_E_INVALID, "the root must not be optional");
    }
    return XIR_OK;
}

static xir_status take_root_classes(making *mk) {
    xir_pattern *p = mk->p;
    const node *root = &p->nodes[p->root];
    if (root->kind == XIR_PATTERN_OP) {
        p->root_classes = root->classes;
        p->n_root_classes = root->n_classes;
        return XIR_OK;
    }
    size_t all = 0;
    for (size_t i = 0; i < root->n_inputs; i++) {
        const node *it = &p->nodes[root->inputs[i]];
        if (!it->classes) return XIR_OK;
        all += it->n_classes;
    }
    const xir_class **classes = arena_take(&p->arena, all * sizeof *classes);
    if (!classes) return diag_memory(mk->why);
    for (size_t i = 0; i < root->n_inputs; i++) {
        const node *it = &p->nodes[root->inputs[i]];
        for (uint32_t j = 0; j < it->n_classes; j++) classes[p->n_root_classes++] = it->classes[j];
    }
    p->root_classes = classes;
    return XIR_OK;
}

/* The rows are in an order in which inputs come first. So one walk from the root marks the reachable rows and measures
 * the depth. */
static xir_status measure(making *mk) {
    xir_pattern *p = mk->p;
    uint32_t depth[XIR_PATTERN_ROWS] = { 0 };
    uint64_t reached = (uint64_t)1 << p->root;
    for (size_t i = p->n_nodes; i-- > 0;) {
        const node *n = &p->nodes[i];
        mk->row = i;
        if (!(reached >> i & 1)) return refuse(mk, XIR_E_INVALID, "the root does not reach it");
        for (size_t j = 0; j < (size_t)n->n_inputs + n->rest; j++) reached |= (uint64_t)1 << n->inputs[j];
    }
    for (size_t i = 0; i < p->n_nodes; i++) {
        const node *n = &p->nodes[i];
        for (size_t j = 0; j < n->n_inputs; j++) {
            if (depth[n->inputs[j]] > depth[i]) depth[i] = depth[n->inputs[j]];
        }
        bool leaf = n->kind == XIR_PATTERN_ANY || n->kind == XIR_PATTERN_PARAMS || n->kind == XIR_PATTERN_NUMBER;
        depth[i] += n->kind == XIR_PATTERN_OP;
        if (n->kind == XIR_PATTERN_OP) p->op_rows |= (uint64_t)1 << i;
        if (leaf) p->leaf_rows |= (uint64_t)1 << i;
        p->tests_leaves |= leaf && n->tests_value;
    }
    p->depth = depth[p->root];
    mk->row = p->root;
    return XIR_OK;
}

static xir_status make(making *mk) {
    xir_pattern *p = mk->p;
    xir_str name;
    size_t edges = 0;
    p->nodes = arena_take(&p->arena, p->n_nodes * sizeof *p->nodes);
    bool named = arena_text(&p->arena, (xir_str){ mk->decl->name, strlen(mk->decl->name) + 1 }, &name);
    if (!p->nodes || !named) return diag_memory(mk->why);
    p->name = name.data;
    xir_status status = XIR_OK;
    for (; mk->row < p->n_nodes && !status; mk->row += !status) status = take_row(mk, &edges);
    if (!status) status = measure(mk);
    if (!status) status = check_root(mk);
    if (!status) status = take_root_classes(mk);
    return status;
}

bool pattern_take_decl(xir_pattern_decl *out, const xir_pattern_decl *decl, xir_diags *why) {
    if (decl->abi != XIR_ABI || decl->size < SIZE_TO(xir_pattern_decl, user) ||
        decl->row_size < SIZE_TO(xir_pattern_row, where_value)) {
        diag_fail(why, XIR_E_ABI, XIR_STR(""), "the pattern was declared for another version of the binary interface");
        return false;
    }
    if (sized_beyond(decl, sizeof *decl, decl->size) < decl->size) {
        diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "the pattern sets a member that this version does not know");
        return false;
    }
    memset(out, 0, sizeof *out);
    memcpy(out, decl, decl->size < sizeof *out ? decl->size : sizeof *out);
    out->size = sizeof *out;
    return true;
}

xir_pattern *xir_pattern_new(xir_context *ctx, const xir_pattern_decl *given, xir_diags *why) {
    xir_pattern_decl known;
    const xir_pattern_decl *decl = &known;
    if (!pattern_take_decl(&known, given, why)) return NULL;
    if (!decl->name || !decl->rows || !decl->n_rows || decl->n_rows > XIR_PATTERN_ROWS) {
        diag_fail(why, decl->n_rows > XIR_PATTERN_ROWS ? XIR_E_LIMIT : XIR_E_INVALID, XIR_STR(""),
                  "pattern '%s': expected 1 to %d rows, found %zu", decl->name ? decl->name : "",
                  XIR_PATTERN_ROWS, decl->n_rows);
        return NULL;
    }
    xir_pattern *p = mem_new(&ctx->alloc, sizeof *p);
    if (!p) {
        diag_memory(why);
        return NULL;
    }
    *p = (xir_pattern){ .ctx = ctx, .n_nodes = (uint32_t)decl->n_rows, .root = (uint32_t)decl->n_rows - 1,
                        .closed = decl->closed, .check = decl->check, .user = decl->user };
    context_retain(ctx);
    arena_init(&p->arena, &ctx->alloc);
    making mk = { p, decl, why, 0 };
    if (make(&mk) == XIR_OK) return p;
    xir_pattern_free(p);
    return NULL;
}

void xir_pattern_free(xir_pattern *p) {
    if (!p) return;
    xir_context *ctx = p->ctx;
    arena_free(&p->arena);
    xir_parts_free(p->parts);
    mem_free(&ctx->alloc, p, sizeof *p);
    xir_context_free(ctx);
}

const char *xir_pattern_name(const xir_pattern *p) { return p->name; }

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The whole stream once, before anything is made. What does not let the next field be found (a cut, a count beyond the
 * end, an unknown type) ends the scan; every other fault is a finding with the node's number and name, and the scan
 * goes on, so that one run lists them all. A module with a fault is not read. */
#include <stdarg.h>
#include "task.h"
#include "tsm/tsm.h"

void tsm_fault(tsm_reader *r, xir_status code, const uint8_t *at, size_t node, const char *where, const char *sentence,
               ...) {
    char text[SENTENCE_ROOM], full[SENTENCE_ROOM + 160], path[160];
    va_list args;
    if (!r->status) r->status = code;
    if (diag_is_counted(r->d.how->why, XIR_ERROR, code)) return;
    va_start(args, sentence);
    text_vprint(text, sizeof text, sentence, args);
    va_end(args);
    const tsm_node *n = node < r->n ? &r->nodes[node] : NULL;
    if (n && n->op.size)
        snprintf(full, sizeof full, "%.*s '%.*s' (node %zu): %s", CLIP(n->op), CLIP(n->name), node, text);
    else if (n) snprintf(full, sizeof full, "node %zu: %s", node, text);
    if (n) snprintf(path, sizeof path, "/nodes/%zu%s", node, where);
    else snprintf(path, sizeof path, "%s", where);
    xir_diags_append(r->d.how->why, &(xir_diag){
        .severity = XIR_ERROR, .code = code, .file = r->d.trace.file, .byte = tsm_at(&r->c, at),
        .path = xir_str_of(path), .message = xir_str_of(n ? full : text) });
}

/* ---- header and ends --------------------------------------------------------------------------------------------- */

static bool scan_header(tsm_reader *r) {
    tsm_cursor *c = &r->c;
    const uint64_t at = tsm_at(c, c->p);
    if (tsm_left(c) < TSM_HEADER)
        return trace_fail(c->trace, XIR_E_CORRUPT, at, "expected a header of %d bytes, found %" PRIu64, TSM_HEADER,
                          tsm_left(c));
    const uint32_t code = little_u32(c->p + 4);
    c->p += TSM_HEADER;
    return code == TSM_CODE ||
           trace_fail(c->trace, XIR_E_SYNTAX, at + 4, "expected the code 0x%08x, found 0x%08" PRIx32
                      ", unless it is encrypted", TSM_CODE, code);
}

static bool scan_ends(tsm_reader *r, int which) {
    if (!tsm_take_count(&r->c, 4, &r->n_ends[which], which ? "the number of outputs" : "the number of inputs"))
        return false;
    r->ends[which] = r->c.p;
    r->c.p += 4 * (size_t)r->n_ends[which];
    return true;
}

static void check_ends(tsm_reader *r, int which) {
    char where[40];
    for (uint32_t i = 0; i < r->n_ends[which]; i++) {
        const uint8_t *at = r->ends[which] + 4 * (size_t)i;
        const uint32_t node = little_u32(at);
        snprintf(where, sizeof where, "/%s/%" PRIu32, which ? "outputs" : "inputs", i);
        if (node >= r->n) {
            tsm_fault(r, XIR_E_BOUNDS, at, SIZE_MAX, where, "%s %" PRIu32 " is node %" PRIu32 ", but the graph has %zu",
                      which ? "output" : "input", i, node, r->n);
            continue;
        }
        tsm_node *n = &r->nodes[node];
        if (which) continue;
        if (n->kind != TSM_INPUT)
            tsm_fault(r, XIR_E_INVALID, at, SIZE_MAX, where, "input %" PRIu32 " is node %" PRIu32 " '%.*s': expected a "
                      "<param>, found %.*s", i, node, CLIP(n->name), CLIP(n->op));
        else if (n->listed)
            tsm_fault(r, XIR_E_EXISTS, at, SIZE_MAX, where, "input %" PRIu32 " is node %" PRIu32 " '%.*s', which is "
                      "an input already", i, node, CLIP(n->name));
        n->listed = true;
    }
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* A tensor of a pack becomes Params, and a parameter whose name its node has before a tag: each may be a few bytes of
 * the file. Real modules have few of either. */
static bool count_rare(tsm_reader *r, size_t node, const uint8_t *at, uint64_t *all, uint64_t n, const char *what) {
    enum { LEAST = 65536, BYTES = 64 };
    const uint64_t size = (uint64_t)(r->c.end - r->c.base), most = LEAST + size / BYTES;
    *all += n;
    if (*all <= most) return true;
    tsm_fault(r, XIR_E_LIMIT, at, node, "/params", "up to here the module has %" PRIu64 " %s: the limit for %" PRIu64
              " bytes is %" PRIu64, *all, what, size, most);
    return false;
}

/* Returns true if the node has a parameter of this name before: the first one counts. */
static bool same_name(tsm_reader *r, const uint8_t *at, xir_str name, uint32_t i, const xir_str *names, bool *again) {
    enum { FEW = 16 };
    *again = false;
    if (i < FEW) {
        for (uint32_t k = 0; k < i; k++) *again |= xir_str_equal(names[k], name);
    } else {
        for (uint32_t k = 0; i == FEW && k < FEW; k++)
            if (!text_table_add(&r->names, names[k], k)) return trace_memory(&r->d.trace);
        const uint32_t *known = text_table_add(&r->names, name, i);
        if (!known) return trace_memory(&r->d.trace);
        *again = *known != i;
    }
    if (!*again) return true;
    const uint8_t **kept = dialect_add(&r->d, &r->again, sizeof *kept);
    if (kept) *kept = at;
    return kept;
}

/* `has` is false: the node does not have the parameter, and nothing else is set. */
typedef struct found { const uint8_t *at; tsm_tensor t; uint32_t fields; bool has; } found;

static bool is_text(const found *f) { return f->has && f->fields == 1 && tsm_is_text(&f->t); }

/* Checks a parameter that must be a text. */
static bool check_text(tsm_reader *r, size_t node, const tsm_node *n, const found *f, const char *name, bool filled) {
    const uint8_t *at = f->has ? f->at : n->params;
    char where[40];
    if (is_text(f) && (!filled || f->t.bytes) && tsm_is_utf8(tsm_text(&f->t))) return true;
    snprintf(where, sizeof where, "/params/%s", name);
    if (!f->has)
        tsm_fault(r, XIR_E_MISSING, at, node, "", "the parameter %s is missing: expected a text", name);
    else if (!is_text(f))
        tsm_fault(r, XIR_E_TYPE, at, node, where, "%s: expected a text (one CHAR8 tensor of rank 1), found %s of rank %"
                  PRIu32, name, f->fields == 1 ? element_code_at(&element_codes_tsm, f->t.dtype)->name
                  : f->fields ? "several tensors" : "none", f->fields ? f->t.rank : 0);
    else if (!tsm_is_utf8(tsm_text(&f->t)))
        tsm_fault(r, XIR_E_SYNTAX, f->t.data, node, where, "%s is not a valid text: expected UTF-8", name);
    else tsm_fault(r, XIR_E_INVALID, f->t.data, node, where, "%s is empty: expected the name of an operator", name);
    return false;
}

typedef struct bubble { found op, name, count, value; } bubble;

static bool scan_params(tsm_reader *r, size_t node, tsm_node *n, bubble *b) {
    enum { FEW = 16 };
    tsm_cursor *c = &r->c;
    const uint64_t most = r->d.ctx->limits.max_elements;
    xir_str names[FEW], name, before = { "", 0 };
    if (n->n_params > FEW) {
        text_table_free(&r->names);
        text_table_init(&r->names, r->d.alloc);
    }
    for (uint32_t i = 0; i < n->n_params; i++) {
        const uint8_t *at = c->p;
        bool again = false;
        found f;
        f.at = at;
        f.has = true;
        if (!tsm_take_text(c, &name, "the name of a parameter") ||
            !tsm_take_count(c, 5, &f.fields, "the number of tensors of a parameter")) return false;
        if (f.fields > 1 &&
            !count_rare(r, node, at, &r->packed, f.fields, "tensors in parameters that have several")) return false;
        tsm_tensor other;
        for (uint32_t k = 0; k < f.fields; k++)
            if (!tsm_take_tensor(c, most, k ? &other : &f.t)) return false;
        n->sorted &= !i || str_order(before, name) < 0;   /* then no name appears twice */
        if ((!n->sorted || i >= FEW) && !same_name(r, at, name, i, names, &again)) return false;
        if (again && !count_rare(r, node, at, &r->repeated_names, 1, "parameters whose name their node has before"))
            return false;
        if (i < FEW) names[i] = name;
        if (!tsm_is_utf8(name))
            tsm_fault(r, XIR_E_SYNTAX, at + 4, node, "/params", "the name of parameter %" PRIu32 " is not a valid "
                      "text: expected UTF-8", i);
        found *which = again ? NULL : tsm_is(name, "#op") ? &b->op : tsm_is(name, "#name") ? &b->name
                     : tsm_is(name, "#output_count") ? &b->count : tsm_is(name, "value") ? &b->value : NULL;
        if (which) *which = f;
        if (which == &b->op && is_text(&f)) n->op = tsm_text(&f.t);
        if (which == &b->name && is_text(&f)) n->name = tsm_text(&f.t);
        n->usual |= which == &b->op && i == 1 && tsm_is(names[0], "#name");
        before = name;
        if (i == 1) n->rest = c->p;
    }
    return true;
}

static void check_count(tsm_reader *r, size_t node, const found *f) {
    int64_t n = 0;
    if (!f->has || (f->fields == 1 && f->t.elements == 1 && tsm_integer(&f->t, 0, &n) && n == 1)) return;
    tsm_fault(r, XIR_E_UNSUPPORTED, f->at, node, "/params/#output_count", "#output_count: expected 1, found %" PRId64,
              n);
}

static void check_value(tsm_reader *r, size_t node, const tsm_node *n, const found *f) {
    if (!f->has)
        tsm_fault(r, XIR_E_MISSING, n->params, node, "", "the parameter value is missing: expected the tensor");
    else if (!f->fields)
        tsm_fault(r, XIR_E_INVALID, f->at, node, "/params/value", "value: expected at least one tensor, found none");
    else if (f->t.dtype == TSM_VOID)
        tsm_fault(r, XIR_E_TYPE, f->t.at, node, "/params/value", "value: expected elements, found the type VOID");
}

tsm_kind tsm_kind_of(xir_str op) {
    if (!op.size || op.data[0] != '<') return TSM_OP;
    return tsm_is(op, "<param>") ? TSM_INPUT : tsm_is(op, "<const>") ? TSM_CONST : tsm_is(op, "<var>") ? TSM_VAR
                                                                                                       : TSM_OP;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static bool scan_node(tsm_reader *r, size_t i) {
    bubble b;
    b.op.has = b.name.has = b.count.has = b.value.has = false;   /* all of it would take as long as to read it */
    tsm_cursor *c = &r->c;
    tsm_node *n = &r->nodes[i];
    *n = (tsm_node){ .kind = TSM_OP, .sorted = true };
    /* A parameter takes at least 8 bytes: its name's length, its number of tensors. */
    if (!tsm_take_count(c, 8, &n->n_params, "the number of parameters of a node")) return false;
    n->params = c->p;
    if (!scan_params(r, i, n, &b)) return false;
    check_text(r, i, n, &b.name, "#name", false);
    check_text(r, i, n, &b.op, "#op", true);
    n->kind = (uint8_t)tsm_kind_of(n->op);
    n->made = n->kind == TSM_CONST && b.value.has && b.value.fields > 1;   /* Params are one tensor */
    check_count(r, i, &b.count);
    if (n->kind == TSM_CONST) check_value(r, i, n, &b.value);
    if (n->kind == TSM_VAR)
        tsm_fault(r, XIR_E_UNSUPPORTED, b.op.at, i, "/params/#op", "variables exist in memory only: expected an "
                  "operator, <param> or <const>");
    if (!tsm_take_count(c, 4, &n->n_inputs, "the number of inputs of a node")) return false;
    n->inputs = c->p;
    c->p += 4 * (size_t)n->n_inputs;
    if (n->n_inputs && (n->kind == TSM_INPUT || n->kind == TSM_CONST))
        tsm_fault(r, XIR_E_INVALID, n->inputs - 4, i, "/inputs", "expected no inputs, found %" PRIu32, n->n_inputs);
    return true;
}

/* A number of a node that does not exist becomes a finding; false if there is one. */
static bool check_inputs(tsm_reader *r, size_t i) {
    const tsm_node *n = &r->nodes[i];
    char where[40];
    bool ok = true;
    for (uint32_t k = 0; k < n->n_inputs; k++) {
        const uint32_t from = tsm_input(n, k);
        if (from < r->n) continue;
        ok = false;
        snprintf(where, sizeof where, "/inputs/%" PRIu32, k);
        tsm_fault(r, XIR_E_BOUNDS, n->inputs + 4 * (size_t)k, i, where, "input %" PRIu32 " is node %" PRIu32 ", but "
                  "the graph has %zu", k, from, r->n);
    }
    return ok;
}

static bool scan_graph(tsm_reader *r) {
    uint32_t n;
    const uint8_t *at = r->c.p;
    /* A node takes at least 8 bytes: its numbers of parameters and of inputs. */
    if (!tsm_take_count(&r->c, 8, &n, "the number of nodes")) return false;
    if (n > r->d.ctx->limits.max_ops)
        return trace_fail(&r->d.trace, XIR_E_LIMIT, tsm_at(&r->c, at), "the graph has %" PRIu32 " nodes: the limit is "
                          "%" PRIu64, n, r->d.ctx->limits.max_ops);
    for (uint32_t i = 0; i < n; i++) {
        if (!mem_reserve(r->d.alloc, (void **)&r->nodes, &r->node_room, i + (size_t)1, sizeof *r->nodes))
            return trace_memory(&r->d.trace);
        r->n = i + (size_t)1;
        if (!scan_node(r, i)) return false;
        if (!task_at(r->c.p)) return trace_memory(&r->d.trace);
    }
    return true;
}

bool tsm_scan(tsm_reader *r) {
    bool ok = true;
    if (!scan_header(r) || !scan_ends(r, 0) || !scan_ends(r, 1) || !scan_graph(r)) return false;
    check_ends(r, 0);
    check_ends(r, 1);
    for (size_t i = 0; i < r->n; i++) ok &= check_inputs(r, i);
    for (uint32_t i = 0; i < r->n_ends[1]; i++) ok &= little_u32(r->ends[1] + 4 * (size_t)i) < r->n;
    if (r->c.p < r->c.end)
        tsm_fault(r, XIR_E_CORRUPT, r->c.p, SIZE_MAX, "", "%" PRIu64 " bytes follow the last node: expected the end",
                  tsm_left(&r->c));
    return ok && tsm_order(r) && !r->status;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A module as a network: the scan (scan.c) lists what is wrong, the order (order.c) is that of execution, and nodes
 * become ops, Params and inputs (node.c). */
#include "tsm/tsm.h"

static bool make_inputs(tsm_reader *r) {
    dialect *d = &r->d;
    for (uint32_t i = 0; i < r->n_ends[0]; i++) {
        const uint32_t node = little_u32(r->ends[0] + 4 * (size_t)i);
        dialect_declared declared = { NULL, NULL };
        if (!tsm_declare_input(r, node, &declared) || !dialect_input(d, dialect_number(node), &declared)) return false;
    }
    if (!dialect_make_inputs(d)) return false;
    for (uint32_t i = 0; i < r->n_ends[0]; i++) {
        const tsm_node *n = &r->nodes[little_u32(r->ends[0] + 4 * (size_t)i)];
        if (!dialect_name_value(d, &op_outputs(d->net->first)[i], n->name)) return false;
    }
    return true;
}

static bool make_consts(tsm_reader *r) {
    for (size_t i = 0; i < r->n; i++)
        if (r->nodes[i].kind == TSM_CONST && !tsm_make_const(r, (uint32_t)i)) return false;
    return true;
}

/* A <param> that is not an input, and that no output needs, is an op as well. */
static bool is_op(const tsm_node *n) {
    return n->kind == TSM_OP || n->made || (n->kind == TSM_INPUT && !n->listed);
}

static bool make_ops(tsm_reader *r) {
    for (size_t i = 0; i < r->n; i++)
        if (is_op(&r->nodes[r->order[i]]) && !tsm_make_op(r, r->order[i])) return false;
    r->d.n_nodes = (int64_t)r->n;   /* new ids count on from the last node */
    return true;
}

static bool make_outputs(tsm_reader *r) {
    for (uint32_t i = 0; i < r->n_ends[1]; i++)
        if (!dialect_output(&r->d, dialect_number(little_u32(r->ends[1] + 4 * (size_t)i)), NULL)) return false;
    return dialect_make_outputs(&r->d);
}

/* Params that nothing uses are an attribute of the Input op. */
static bool keep_unused(tsm_reader *r) {
    dialect *d = &r->d;
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        r->nodes[i].unused = r->nodes[i].params_value && r->nodes[i].params_value->id < 0;
        n += r->nodes[i].unused;
    }
    if (!n) return true;
    xir_any *items = arena_take(&d->net->arena, n * sizeof *items);
    op_more *more = items ? op_need_more(d->net->first) : NULL;
    if (!more) return trace_memory(&d->trace);
    n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (r->nodes[i].unused && !dialect_any_params(d, r->nodes[i].params_value, &items[n++])) return false;
    return dialect_tag(d, &more->extra, TSM_ATTR_UNUSED, xir_any_list(items, n));
}

/* ---- tags -------------------------------------------------------------------------------------------------------- */

/* The places of nodes in the usual order: inputs, unused constants, then each op after the constants that it is the
 * first to use. write.c lists them in the same way. */
typedef struct usual_order { uint32_t *places, next; } usual_order;

static void place(usual_order *u, uint32_t i) {
    if (u->places[i] == UINT32_MAX) u->places[i] = u->next++;
}

static bool keep_order(tsm_reader *r) {
    usual_order u = { .places = arena_take(&r->d.scratch, (r->n + 1) * sizeof *u.places) };
    bool same = true;
    if (!u.places) return trace_memory(&r->d.trace);
    memset(u.places, 0xff, (r->n + 1) * sizeof *u.places);
    for (uint32_t i = 0; i < r->n_ends[0]; i++) place(&u, little_u32(r->ends[0] + 4 * (size_t)i));
    for (size_t i = 0; i < r->n; i++)
        if (r->nodes[i].unused) place(&u, (uint32_t)i);
    for (size_t k = 0; k < r->n; k++) {
        const tsm_node *n = &r->nodes[r->order[k]];
        if (!is_op(n)) continue;
        for (uint32_t i = 0; i < n->n_inputs; i++) {
            const uint32_t from = tsm_input(n, i);
            if (r->nodes[from].params_value) place(&u, from);
        }
        place(&u, r->order[k]);
    }
    for (uint32_t i = 0; i < r->n_ends[1]; i++) place(&u, little_u32(r->ends[1] + 4 * (size_t)i));
    for (size_t i = 0; i < r->n; i++) same &= u.places[i] == i;
    if (same) return true;
    xir_any *items = arena_take(&r->d.scratch, r->n * sizeof *items);
    if (!items) return trace_memory(&r->d.trace);
    for (size_t i = 0; i < r->n; i++) items[i] = xir_any_int(u.places[i]);
    return dialect_tag(&r->d, &r->d.net->tags, TSM_TAG_NODES, xir_any_list(items, r->n));
}

static bool keep_header(tsm_reader *r) {
    static const uint8_t zeros[TSM_USER];
    const uint32_t fake = little_u32(r->module);
    const uint8_t *user = r->module + TSM_HEADER - TSM_USER;
    buffer text;
    if (!fake && memcmp(user, zeros, TSM_USER) == 0) return true;
    buffer_init(&text, r->d.alloc);
    tsm_put_digits(&text, user, TSM_USER);
    const xir_entry entries[] = {
        { XIR_STR("data"), xir_any_text((xir_str){ text.data, text.size }) },
        { XIR_STR("fake"), xir_any_int(fake) },
    };
    bool ok = text.failed ? trace_memory(&r->d.trace)
                          : dialect_tag(&r->d, &r->d.net->tags, TSM_TAG_HEADER, xir_any_map(entries, 2));
    buffer_free(&text);
    return ok;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* The framework is a word that the enum does not have. */
static const dialect_about about = { "tsm", XIR_FRAMEWORK_COUNT, &element_codes_tsm, false };

static bool read_module(tsm_reader *r) {
    if (!tsm_scan(r)) return false;
    if (!xir_network_set_text(r->d.net, XIR_TEXT_FRAMEWORK, XIR_STR("TENSORSTACK"))) {
        return dialect_expect_numbers(&r->d, r->n) && make_inputs(r) && make_consts(r) && make_ops(r) &&
               make_outputs(r) && keep_unused(r) && keep_order(r) && keep_header(r);
    }
    return trace_memory(&r->d.trace);
}

static bool keep_container(tsm_reader *r, const tsm_container *c) {
    if (!c) return true;
    xir_entry entries[4];
    size_t n = 0;
    if (c->file.size) entries[n++] = (xir_entry){ XIR_STR("file"), xir_any_text(c->file) };
    entries[n++] = (xir_entry){ XIR_STR("scrambled"), xir_any_bool(c->scrambled) };
    if (c->file.size)
        entries[n++] = (xir_entry){ XIR_STR("sum"), xir_any_int((int64_t)(tsm_sum(0, r->module, (size_t)(r->c.end -
                                                                                  r->module)) >> 2)) };
    entries[n++] = (xir_entry){ XIR_STR("tree"), c->tree };
    return dialect_tag(&r->d, &r->d.net->tags, TSM_TAG_CSTA, xir_any_map(entries, n));
}

/* The bytes of the module, which may be in a file that the container names. */
static bool find_module(tsm_reader *r, blob *whole, const tsm_container *c) {
    const uint64_t at = c ? c->at : 0, size = c ? c->size : whole->size;
    named_fault fault;
    r->c = (tsm_cursor){ whole->bytes, whole->bytes + at, whole->bytes + at + size, &r->d.trace };
    if (c && c->file.size) {
        if (!r->d.how->path)
            return trace_fail(&r->d.trace, XIR_E_MISSING, at, "the module is in the file '%.*s', and what is not read "
                              "from a file has no files next to it", CLIP(c->file));
        r->parts = tsm_is_utf8(c->file) ? dialect_file(&r->d, c->file, &fault) : NULL;
        if (!r->parts && !tsm_is_utf8(c->file))
            return trace_fail(&r->d.trace, XIR_E_SYNTAX, at, "the name of the module's file is not UTF-8");
        if (!r->parts)
            return dialect_no_file(&r->d, at, &fault, "the file of the module, '%.*s'", CLIP(c->file));
        const blob *file = r->parts->whole;
        r->d.trace.file = c->file;
        r->c = (tsm_cursor){ file->bytes, file->bytes, file->bytes + file->size, &r->d.trace };
    }
    r->module = r->c.p;
    return true;
}

static xir_network *read_module_of(const format_reading *how, blob *whole, const tsm_container *container) {
    tsm_reader reader = { .n = 0 }, *r = &reader;
    if (!dialect_begin(&r->d, &about, how, whole)) return NULL;
    const xir_allocator *alloc = r->d.alloc;
    text_table_init(&r->names, alloc);
    text_table_init(&r->node_names, alloc);
    const bool ok = find_module(r, whole, container) && read_module(r) && keep_container(r, container);
    mem_free(alloc, r->nodes, r->node_room * sizeof *r->nodes);
    text_table_free(&r->names);
    text_table_free(&r->node_names);
    dialect_list_free(&r->d, &r->again, sizeof(const uint8_t *));
    dialect_list_free(&r->d, &r->repeats, sizeof(xir_any));
    dialect_list_free(&r->d, &r->repeated, sizeof(xir_any));
    dialect_list_free(&r->d, &r->types, sizeof(xir_entry));
    dialect_list_free(&r->d, &r->more, sizeof(xir_entry));
    dialect_list_free(&r->d, &r->dims, sizeof(int64_t));
    return dialect_finish(&r->d, ok);
}

xir_network *tsm_read(const format_reading *how, blob *whole) {
    const tsm_wrapping wrapping = tsm_wrapping_of(whole->bytes, (size_t)whole->size);
    if (wrapping != TSM_CONTAINER && wrapping != TSM_SCRAMBLED) return read_module_of(how, whole, NULL);
    tsm_container c;
    trace place = { .ctx = how->ctx, .why = how->why, .file = how->name };
    const bool ok = tsm_container_open(&c, how, whole, wrapping == TSM_SCRAMBLED, &place);
    xir_network *net = ok ? read_module_of(how, c.plain ? c.plain : whole, &c) : NULL;
    tsm_container_close(&c);
    return net;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing a module, alone or in a container. Two passes over the nodes: validate, then write. Those of a
 * container are walked once more before, for its size. */
#include <stdarg.h>
#include "tsm/write.h"

bool tsm_refuse(tsm_writer *w, xir_status status, const char *sentence, ...) {
    va_list args;
    if (w->status) return false;
    w->status = status;
    va_start(args, sentence);
    text_vprint(w->fault, sizeof w->fault, sentence, args);
    va_end(args);
    return false;
}

bool tsm_no_memory(tsm_writer *w) {
    if (!w->status) w->status = XIR_E_MEMORY;
    return false;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void put_header(tsm_writer *w) {
    const xir_any *tag = xir_map_find(w->net->tags, XIR_STR(TSM_TAG_HEADER));
    const xir_map *map = tag && tag->kind == XIR_ANY_MAP ? &tag->as.map : NULL;
    const xir_any *fake = xir_map_find(map, XIR_STR("fake")), *data = xir_map_find(map, XIR_STR("data"));
    const bool has_fake = fake && fake->kind == XIR_ANY_INT && fake->as.integer >= 0 && fake->as.integer <= UINT32_MAX;
    tsm_put_word(&w->out, has_fake ? (uint32_t)fake->as.integer : 0);
    tsm_put_word(&w->out, TSM_CODE);
    const size_t at = w->out.size;
    bool ok = data && data->kind == XIR_ANY_TEXT && data->as.text.size == 2 * (size_t)TSM_USER &&
              tsm_take_digits(data->as.text, &w->out);
    if (ok || w->out.failed) return;
    w->out.size = at;
    for (int i = 0; i < TSM_USER; i++) buffer_char(&w->out, 0);
}

static bool put_ends(tsm_writer *w, bool dry) {
    const uint32_t n = w->input ? w->input->n_outputs : 0;
    tsm_put_word(&w->out, n);
    for (uint32_t i = 0; i < n; i++)
        tsm_put_word(&w->out, w->number_of[*pointer_table_find(&w->numbers, &op_outputs(w->input)[i])]);
    return tsm_put_inputs(w, w->output, dry);
}

/* Once dry, for what is refused, then in the order of the file. */
static bool put_module(tsm_writer *w, bool dry) {
    w->next_input = 0;
    put_header(w);
    if (!put_ends(w, dry)) return false;
    tsm_put_word(&w->out, (uint32_t)w->n);
    for (size_t i = 0; i < w->n && !w->stopped; i++) {
        if (!tsm_put_node(w, w->node_at[i], dry)) return false;
        if (w->out.failed) return tsm_no_memory(w);
        if (dry) w->out.size = 0;
        else tsm_flush(w, TSM_FLUSH);
    }
    if (!dry) tsm_flush(w, 1);
    w->out.size = 0;
    return !w->out.failed || tsm_no_memory(w);
}

static xir_status report(const tsm_writer *w) {
    if (w->reported) return w->status;
    if (w->status == XIR_E_MEMORY) return diag_memory(w->how->why);
    return file_fail(w->how->why, w->status, w->how->path, XIR_NO_BYTE, "%s", w->fault);
}

/* ---- the container ----------------------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *suffix) {
    const size_t n = strlen(path), k = strlen(suffix);
    return n >= k && strcmp(path + n - k, suffix) == 0;
}

/* A file "X.tsm" is a module, "X.csta" a container; other outputs are what the network was read from. */
static bool wants_container(const tsm_writer *w, const xir_any *tag) {
    return ends_in(w->how->path, ".csta") || (tag && !ends_in(w->how->path, ".tsm"));
}

static const xir_any *tag_item(const xir_any *tag, const char *name, xir_any_kind kind) {
    const xir_any *found = tag ? xir_map_find(&tag->as.map, xir_str_of(name)) : NULL;
    return found && found->kind == kind ? found : NULL;
}

/* Writes the bytes before and after the module; the module may be in the file that the container names. */
static bool put_container(tsm_writer *w, const xir_any *tag) {
    const xir_any *tree = tag ? xir_map_find(&tag->as.map, XIR_STR("tree")) : NULL;
    const xir_any *file = tag_item(tag, "file", XIR_ANY_TEXT), *sum = tag_item(tag, "sum", XIR_ANY_INT);
    const xir_any *scrambled = tag_item(tag, "scrambled", XIR_ANY_BOOL);
    tsm_tree t = { .module_at = 0 };
    buffer_init(&t.out, w->alloc);
    w->sink = (tsm_sink){ .counts = true, .sums = file && sum && tsm_can_count(file, TSM_DIM_MOST) };
    bool ok = put_module(w, false);
    const bool inside = !(w->sink.sums && (int64_t)(w->sink.sum >> 2) == sum->as.integer);
    const uint64_t size = w->sink.size;
    if (ok && inside && size > UINT32_MAX)
        ok = tsm_refuse(w, XIR_E_LIMIT, "the module has %" PRIu64 " bytes: a container holds less than 2^32", size);
    if (ok && !tsm_tree_make(&t, tree))
        ok = t.out.failed ? tsm_no_memory(w)
                          : tsm_refuse(w, XIR_E_INVALID, "the tag " TSM_TAG_CSTA " is not a container");
    const size_t before = t.module_at, after = t.out.size;
    if (ok) tsm_tree_module(&t.out, inside, size, inside ? XIR_STR("") : file->as.text);
    if (ok && t.out.failed) ok = tsm_no_memory(w);
    const uint64_t all = t.out.size + (inside ? size : 0);
    w->sink = (tsm_sink){ .scrambles = scrambled && scrambled->as.boolean && !w->how->plain && all >= 16,
                          .left = all - all % 16 };
    if (ok && w->sink.scrambles) w->stopped = !w->how->write(w->how->user, "fast", 4);
    if (ok) {
        tsm_put_out(w, t.out.data, before);
        tsm_put_out(w, t.out.data + after, t.out.size - after);
        ok = !inside || put_module(w, false);
        tsm_put_out(w, t.out.data + before, after - before);
    }
    buffer_free(&t.out);
    return ok;
}

static bool put_file(tsm_writer *w) {
    const xir_any *tag = xir_map_find(w->net->tags, XIR_STR(TSM_TAG_CSTA));
    if (tag && tag->kind != XIR_ANY_MAP) tag = NULL;
    if (!put_module(w, true)) return false;
    return wants_container(w, tag) ? put_container(w, tag) : put_module(w, false);
}

xir_status tsm_write(xir_network *net, const format_writing *how) {
    tsm_writer w = { .net = net, .how = how, .alloc = &net->ctx->alloc };
    arena_init(&w.scratch, w.alloc);
    pointer_table_init(&w.numbers, w.alloc);
    text_table_init(&w.names, w.alloc);
    text_table_init(&w.stems, w.alloc);
    buffer_init(&w.out, w.alloc);
    bool ok = tsm_list_nodes(&w) && put_file(&w);
    const xir_status status = !ok ? report(&w) : w.stopped ? XIR_E_IO : XIR_OK;
    mem_free(w.alloc, w.nodes, w.room * sizeof *w.nodes);
    mem_free(w.alloc, w.inputs, w.input_room * sizeof *w.inputs);
    buffer_free(&w.out);
    text_table_free(&w.stems);
    text_table_free(&w.names);
    pointer_table_free(&w.numbers);
    arena_free(&w.scratch);
    return status;
}

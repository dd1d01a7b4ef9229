/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing a text: a call a line. What a tag keeps of the file that the network came from is written again if it still
 * stands for the same. */
#include "deepx/order.h"
#include "task.h"

typedef struct writer {
    xir_network          *net;
    const format_writing *how;
    deepx_printer         p;
    text_table            now;       /* names, and which of `values` a name means so far          */
    const xir_value     **values;
    size_t                room, recent;   /* the one that was looked up last                   */
    const xir_op         *at;        /* whose line is printed: part of the finding            */
    const xir_map        *file;      /* what the file had besides calls; NULL: not as it was  */
    bool                  stopped;
} writer;

static bool memory(writer *w) {
    w->p.status = XIR_E_MEMORY;
    return false;
}

static bool refuse(writer *w, const char *sentence, xir_str name) {
    if (w->p.status) return false;
    w->p.status = XIR_E_UNSUPPORTED;
    snprintf(w->p.fault, sizeof w->p.fault, sentence, CLIP(name));
    return false;
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

/* A line refers to a tensor by its name, which means what the last line before gave it. Lines next to each other often
 * have the same tensor. */
static const xir_value **find_now(writer *w, xir_str name) {
    if (w->now.n && xir_str_equal(value_text(w->values[w->recent]), name)) return &w->values[w->recent];
    const uint32_t *place = text_table_find(&w->now, name);
    if (!place) return NULL;
    w->recent = *place;
    return &w->values[*place];
}

static bool set_now(writer *w, const xir_value *v) {
    const xir_value **now = find_now(w, value_text(v));
    const size_t n = w->now.n;
    if (now) {
        *now = v;
        return true;
    }
    if (!mem_reserve(w->p.out.alloc, (void **)&w->values, &w->room, n + 1, sizeof *w->values) ||
        !text_table_add(&w->now, value_text(v), (uint32_t)n)) return memory(w);
    w->values[w->recent = n] = v;
    return true;
}

static bool check_names(writer *w, const xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v) return refuse(w, "an input is absent%.*s", XIR_STR(""));
        const xir_str name = value_text(v);
        if (value_is_params(v)) return refuse(w, "'%.*s' is a constant, which no line makes", name);
        if (!name.size) return refuse(w, "a tensor has no name%.*s", XIR_STR(""));
        const xir_value **now = find_now(w, name);
        if (now && *now != v) return refuse(w, "'%.*s' has been overwritten when this op uses it", name);
    }
    for (uint32_t i = 0; i < op->n_outputs; i++)
        if (!set_now(w, &op_outputs(op)[i])) return false;
    return true;
}

static bool check_end(writer *w, const xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (v && value_is_params(v))
            return refuse(w, "the result '%.*s' is a constant, which no line makes", value_text(v));
    }
    for (uint32_t i = 0; i < op->n_outputs; i++)
        if (!set_now(w, &op_outputs(op)[i])) return false;
    return true;
}

static bool is_end(const xir_op *op) {
    return xir_str_equal(op->cls->key, XIR_STR("icraft::xir::Input")) ||
           xir_str_equal(op->cls->key, XIR_STR("icraft::xir::Output"));
}

/* If an op is not a call, that is the only finding: what else could be said follows from it. */
static bool are_calls(writer *w) {
    for (const xir_op *op = w->net->first; op; op = op->next) {
        w->at = op;
        if (!deepx_is_op(op) && !is_end(op)) return refuse(w, "DeepX has no function for this class%.*s", XIR_STR(""));
    }
    return true;
}

/* Finds what names mean, line by line. */
static bool check_all(writer *w) {
    if (!are_calls(w)) return false;
    for (const xir_op *op = w->net->first; op; op = op->next) {
        w->at = op;
        if (!(deepx_is_op(op) ? check_names(w, op) : check_end(w, op))) return false;
    }
    w->at = NULL;
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static xir_str text_in(const xir_map *map, const char *key) {
    const xir_any *any = xir_map_find(map, xir_str_of(key));
    return any && any->kind == XIR_ANY_TEXT ? any->as.text : (xir_str){ "", 0 };
}

static xir_list definitions(const writer *w) {
    const xir_any *tag = xir_map_find(w->net->tags, XIR_STR(DEEPX_TAG_DEFS));
    return tag && tag->kind == XIR_ANY_LIST ? tag->as.list : (xir_list){ NULL, 0 };
}

/* The other parts of the file hold while the definitions and the number of calls are the same. All ops but the first
 * and the last are calls, or are refused. */
static const xir_map *file_of(const writer *w) {
    const xir_any *tag = xir_map_find(w->net->tags, XIR_STR(DEEPX_TAG_FILE));
    const xir_list defs = definitions(w);
    uint64_t sum = 0;
    int64_t calls = (int64_t)w->net->n_ops;
    if (!tag || tag->kind != XIR_ANY_MAP) return NULL;
    for (size_t i = 0; i < defs.size; i++) {
        const xir_str text = defs.items[i].kind == XIR_ANY_TEXT ? defs.items[i].as.text : (xir_str){ "", 0 };
        sum = hash_bytes(sum, text.data, text.size);
    }
    if (w->net->first) calls -= is_end(w->net->first) + (w->net->last != w->net->first && is_end(w->net->last));
    const xir_any *count = xir_map_find(&tag->as.map, XIR_STR("calls"));
    const xir_any *of = xir_map_find(&tag->as.map, XIR_STR("for")), now = xir_any_int((int64_t)(sum >> 2));
    const xir_any n = xir_any_int(calls);
    return count && of && xir_any_equal(count, &n) && xir_any_equal(of, &now) ? &tag->as.map : NULL;
}

static void put_definitions(writer *w) {
    const xir_list defs = definitions(w);
    for (size_t i = 0; i < defs.size; i++) {
        if (defs.items[i].kind != XIR_ANY_TEXT) continue;
        buffer_put(&w->p.out, defs.items[i].as.text.data, defs.items[i].as.text.size);
        buffer_char(&w->p.out, '\n');
    }
}

/* The kept line instead of the one printed from `begin` on, if it still stands for it. */
static void put_kept(writer *w, size_t begin, const xir_any *kept) {
    const xir_map *map = kept && kept->kind == XIR_ANY_MAP ? &kept->as.map : NULL;
    const xir_any *sum = xir_map_find(map, XIR_STR("for"));
    const xir_str text = text_in(map, "text");
    if (!sum || !text.size || w->p.out.failed || memchr(text.data, '\n', text.size)) return;
    const xir_any now = deepx_sum((xir_str){ w->p.out.data + begin, w->p.out.size - begin });
    if (!xir_any_equal(sum, &now)) return;
    w->p.out.size = begin;
    buffer_put(&w->p.out, text.data, text.size);
}

/* False with the fault. */
static bool put_op(writer *w, const xir_op *op, bool last) {
    const xir_map *tags = xir_op_tags(op);
    const xir_any *lines = w->file ? DEEPX_TAG_OF(tags, DEEPX_TAG_BEFORE) : NULL;
    const xir_str before = lines && lines->kind == XIR_ANY_TEXT ? lines->as.text : (xir_str){ "", 0 };
    buffer_put(&w->p.out, before.data, before.size);
    const size_t begin = w->p.out.size;
    if (!deepx_print_op(&w->p, op)) return false;
    put_kept(w, begin, DEEPX_TAG_OF(tags, DEEPX_TAG_LINE));
    if (!last) buffer_char(&w->p.out, '\n');
    return true;
}

/* An input that no call uses has no place in a text. */
static bool note_unused(writer *w) {
    const xir_op *first = w->net->first;
    const xir_value *unused = NULL;
    size_t n = 0;
    for (uint32_t i = 0; first && is_end(first) && i < first->n_outputs; i++) {
        const xir_value *v = &op_outputs(first)[i];
        if (v->uses) continue;
        if (!n++) unused = v;
    }
    if (!n) return true;
    const xir_status status = xir_diags_add(
        w->how->why, XIR_NOTE, XIR_OK, XIR_STR(""), "%zu input%s that no call uses %s not in the text, the first is '%.*s': "
        "the places of inputs after %s move up", n, n == 1 ? "" : "s", n == 1 ? "is" : "are",
        CLIP(xir_value_name(unused)), n == 1 ? "it" : "them");
    return status != XIR_E_MEMORY || memory(w);
}

/* The words for the order of inputs and results, in `words`, which outlives the printing. */
static bool put_order(writer *w, buffer *words) {
    bool differs;
    const xir_op *op = w->net->first;
    while (op && !deepx_is_op(op)) op = op->next;
    if (deepx_put_order(w->net, &(deepx_last){ w->values, w->now.n }, words, &differs)) return memory(w);
    w->p.first = op;
    w->p.order = (xir_str){ words->data, words->size };
    if (!differs) return true;
    const xir_status status = xir_diags_add(
        w->how->why, XIR_NOTE, XIR_OK, XIR_STR(""), "inputs come in the order of their first use, results in that of their "
        "calls; words that only XIR reads keep the network's order: %.*s", CLIP(w->p.order));
    return status != XIR_E_MEMORY || memory(w);
}

/* A network of an earlier version may ask for a spelling that is not written any more. */
static bool note_spelling(writer *w) {
    const xir_str word = text_in(w->net->tags, DEEPX_TAG_SPELLING);
    if (!word.size || xir_str_equal(word, xir_str_of(deepx_spelling_words[w->p.spelling]))) return true;
    const xir_status status = xir_diags_add(
        w->how->why, XIR_NOTE, XIR_OK, XIR_STR(""), "calls are written in the spelling live: '%.*s' is not written any more",
        CLIP(word));
    return status != XIR_E_MEMORY || memory(w);
}

/* All lines are made before the first byte is written, since any of them may be refused. */
static bool put_lines(writer *w, buffer *order) {
    const xir_op *last = NULL;
    if (!check_all(w) || !note_spelling(w) || !put_order(w, order) || !note_unused(w)) return false;
    const xir_str tail = text_in(w->file, "tail");
    const xir_any *open = xir_map_find(w->file, XIR_STR("open"));
    for (const xir_op *op = w->net->last; op && !last; op = op->prev)
        if (deepx_is_op(op)) last = op;
    if (!w->file) put_definitions(w);
    for (const xir_op *op = w->net->first; op; op = op->next) {
        w->at = op;
        if (!task_worked(TASK_PER_OBJECT)) return memory(w);
        if (deepx_is_op(op) && !put_op(w, op, op == last && open && !tail.size)) return false;
    }
    w->at = NULL;
    buffer_put(&w->p.out, tail.data, tail.size);
    return !w->p.out.failed;
}

static xir_status finish(writer *w) {
    xir_status status = w->p.out.failed ? XIR_E_MEMORY : w->p.status;
    if (status == XIR_E_MEMORY) diag_memory(w->how->why);
    else if (status && w->at)
        file_fail(w->how->why, status, w->how->path, XIR_NO_BYTE, "op %" PRId64 " (%.*s): %s", w->at->id,
                  CLIP(w->at->cls->key), w->p.fault);
    else if (status) file_fail(w->how->why, status, w->how->path, XIR_NO_BYTE, "%s", w->p.fault);
    else if (w->stopped) status = XIR_E_IO;
    text_table_free(&w->now);
    mem_free(w->p.out.alloc, w->values, w->room * sizeof *w->values);
    buffer_free(&w->p.out);
    return status;
}

/* "X.data/" of a path. */
static xir_str last_part(const char *path) {
    const size_t n = strlen(path);
    size_t from = n;
    while (from > 0 && (path[from - 1] != '/' || from == n)) from--;
    return (xir_str){ path + from, n - from };
}

xir_status deepx_write(xir_network *net, const format_writing *how) {
    writer w = { .net = net, .how = how, .p.spelling = deepx_spelling_of(net) };
    buffer order;
    buffer_init(&order, &net->ctx->alloc);
    buffer_init(&w.p.out, &net->ctx->alloc);
    text_table_init(&w.now, &net->ctx->alloc);
    w.file = file_of(&w);
    if (how->params_path) w.p.folder = last_part(how->params_path);
    if (put_lines(&w, &order) && w.p.out.size)
        w.stopped = !how->write(how->user, w.p.out.data, w.p.out.size);
    buffer_free(&order);
    return finish(&w);
}

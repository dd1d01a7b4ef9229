/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing a network: the header, the aliases, the ops; and parts of networks. */
#include <stdio.h>
#include "raw/payload.h"
#include "symbols.h"
#include "text/text_format.h"
#include "text/writer.h"

enum { PIECE = 1 << 18 };

static void text_writer_init(text_writer *w, xir_context *ctx, const xir_network *net, xir_write_fn *write,
                             void *user) {
    memset((void *)w, 0, sizeof *w);
    w->sink.ops = &text_sink;
    w->ctx = ctx;
    w->net = net;
    w->write = write;
    w->user = user;
    w->deepest = ctx->limits.max_depth < CODEC_DEEPEST ? ctx->limits.max_depth : CODEC_DEEPEST;
    /* as a reader will: without a version it is the newest one */
    const bool newest = net && net->absent >> NETWORK_XIR_VERSION & 1 && !net->text[XIR_TEXT_XIR_VERSION].size;
    w->rounds = w->short_reals = !net || newest || network_since(net, 3, 30);
    const xir_allocator *alloc = context_alloc(ctx);
    buffer_init(&w->out, alloc);
    buffer_init(&w->line, alloc);
    text_table_init(&w->names, alloc);
    text_table_init(&w->params_names, alloc);
    text_table_init(&w->aliases, alloc);
    pointer_table_init(&w->counted_at, alloc);
    pointer_table_init(&w->numbers, alloc);
    pointer_table_init(&w->met, alloc);
    known_init(&w->known, alloc);
    encoder_init(&w->e, ctx, net, &w->sink);
}

static void text_writer_free(text_writer *w) {
    const xir_allocator *alloc = context_alloc(w->ctx);
    encoder_free(&w->e);
    known_free(&w->known);
    pointer_table_free(&w->met);
    pointer_table_free(&w->numbers);
    pointer_table_free(&w->counted_at);
    text_table_free(&w->aliases);
    text_table_free(&w->params_names);
    text_table_free(&w->names);
    mem_free(alloc, w->declared, (w->n_declared + 1) * sizeof *w->declared);
    mem_free(alloc, w->counted, w->counted_room * sizeof *w->counted);
    mem_free(alloc, w->breaks, w->break_room * sizeof *w->breaks);
    buffer_free(&w->line);
    buffer_free(&w->out);
}

static bool flush(text_writer *w, size_t least) {
    if (w->out.failed) text_fail(w, XIR_E_MEMORY);
    if (!w->write || w->sink.status || w->out.size < least || !w->out.size) return !w->sink.status;
    if (!w->write(w->user, w->out.data, w->out.size)) text_fail(w, XIR_E_IO);
    w->out.size = 0;
    return !w->sink.status;
}

/* ---- the header ------------------------------------------------------------------------------------------------ */

/* ORDER: as they are written; the version first, which decides how reals are read. */
static const struct { network_key key; const char *word; } texts[] = {
    { NETWORK_XIR_VERSION, ".xir_version" }, { NETWORK_NAME,    ".name"   },
    { NETWORK_FRAMEWORK,   ".framework"   }, { NETWORK_FRAMEWORK_VERSION, NULL }, { NETWORK_ICRAFT_VERSION, ".icraft" },
};

static void put_entry(text_writer *w, const char *word) {
    if (w->out.size && w->out.data[w->out.size - 1] != '\n') buffer_char(&w->out, ' ');
    text_put(w, word);
    buffer_char(&w->out, ' ');
}

static void put_texts(text_writer *w, const xir_network *net) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const xir_str text = net->text[network_key_text(texts[i].key)];
        if (texts[i].key == NETWORK_FRAMEWORK_VERSION) continue;
        if (texts[i].key == NETWORK_FRAMEWORK) {
            const xir_str version = net->text[XIR_TEXT_FRAMEWORK_VERSION];
            if (!text.size && !version.size) continue;
            put_entry(w, ".framework");
            if (text_is_name(text) && !text_is(*text.data, TEXT_DIGIT)) text_put_str(w, text);
            else text_put_quoted(w, text);
            if (version.size) {
                buffer_char(&w->out, ' ');
                text_put_quoted(w, version);
            }
        } else if (!xir_str_equal(text, text_usual(texts[i].key)) &&
                   (text.size || codec_has_key(net, texts[i].key, 0, text))) {
            put_entry(w, texts[i].word);
            text_put_quoted(w, text);
        }
    }
}

static void put_order(text_writer *w, const char *word, const payload_plan *plan, bool of_table) {
    put_entry(w, word);
    for (size_t i = 0; i < plan->n; i++) {
        const raw_item *it = of_table ? payload_in_table(plan, i) : payload_at(plan, i);
        buffer_char(&w->out, i ? ',' : '[');
        text_put_int(w, it->value->id);
    }
    buffer_char(&w->out, ']');
}

static void put_symbols(text_writer *w) {
    const size_t n = xir_network_symbols(w->net, NULL, 0);
    xir_symbol *symbols = n && n != SIZE_MAX ? arena_take(&w->e.arena, n * sizeof *symbols) : NULL;
    if (!n) return;
    if (!symbols || xir_network_symbols(w->net, symbols, n) != n) {
        text_fail(w, XIR_E_MEMORY);
        return;
    }
    put_entry(w, ".symbols");
    for (size_t i = 0; i < n; i++) {
        char range[64];
        text_put(w, i ? ", " : "{");
        text_put_word(w, symbols[i].name);
        if (symbols[i].least == 0 && symbols[i].most == XIR_SYMBOL_MOST) continue;
        snprintf(range, sizeof range, "=%lld..%lld", (long long)symbols[i].least, (long long)symbols[i].most);
        text_put(w, range);
    }
    buffer_char(&w->out, '}');
}

/* Keys that the file did not have, and that are still empty. */
static void put_absent(text_writer *w, uint64_t bytes, xir_str sum) {
    const char *between = "(";
    for (int key = 0; key < NETWORK_KEYS; key++) {
        if (key == NETWORK_AI_TARGET || codec_has_key(w->net, (network_key)key, bytes, sum)) continue;
        if (*between == '(') put_entry(w, ".absent");
        text_put(w, between);
        text_put(w, network_keys[key]);
        between = ",";
    }
    if (*between == ',') buffer_char(&w->out, ')');
}

/* Returns true if size and digest of the raw file follow from the bytes in the text: no raw file has wide ids. */
static bool is_computed(const text_writer *w, const payload_plan *plan) {
    bool so = w->is_inline && w->has_bytes;
    for (size_t i = 0; i < plan->n && so; i++) so = payload_at(plan, i)->value->id <= INT32_MAX;
    return so;
}

static void put_header(text_writer *w, const payload_plan *plan, uint64_t bytes, xir_str sum) {
    const xir_network *net = w->net;
    text_put(w, "xir 1\n");
    put_texts(w, net);
    if (codec_has_key(net, NETWORK_AI_TARGET, 0, sum)) {
        put_entry(w, ".ai_target");
        text_put_object(w, (const xir_object *)net->ai_target, w->ctx->types[CLASS_target]);
        if (net->ai_target && net->ai_target_new) text_put(w, " (default)");
    }
    const bool computed = is_computed(w, plan);
    put_absent(w, computed ? 1 : bytes, computed ? text_usual(NETWORK_PARAMS_MD5) : sum);
    if (w->is_inline && w->has_bytes) {
        if (!plan->as_walked || plan->table_differs) put_order(w, ".raw_order", plan, false);
        if (plan->table_differs) put_order(w, ".raw_table", plan, true);
    }
    if (!computed) {
        if (bytes || (sum.size && !xir_str_equal(sum, text_usual(NETWORK_PARAMS_MD5)))) {
            char digits[32];
            put_entry(w, ".params");
            snprintf(digits, sizeof digits, "%llu ", (unsigned long long)bytes);
            text_put(w, digits);
            text_put_quoted(w, sum);
        } else if (!sum.size && codec_has_key(net, NETWORK_PARAMS_MD5, bytes, sum)) {
            put_entry(w, ".params");
            text_put(w, "0 \"\"");
        }
    }
    put_symbols(w);
    w->e.plain = true;
    if (net->tags && net->tags->size) {
        put_entry(w, ".tags");
        text_put_map(w, net->tags);
    }
    if (net->extra && net->extra->size) {
        put_entry(w, ".more");
        text_put_map(w, net->extra);
    }
    w->e.plain = false;
    if (w->out.size && w->out.data[w->out.size - 1] != '\n') buffer_char(&w->out, '\n');
}

/* ---- the network ----------------------------------------------------------------------------------------------- */

typedef struct summing { uint64_t bytes; bool any; } summing;

static bool add_bytes(void *user, xir_value *v) {
    summing *s = user;
    const blob *b = value_params(v)->data;
    s->any |= b != NULL;
    if (b && !add_u64(s->bytes, b->size, &s->bytes)) s->bytes = UINT64_MAX;
    return true;
}

bool text_is_inline(const xir_network *net, const format_writing *how) {
    summing s = { 0, false };
    if (how->external || how->flags & XIR_SAVE_RAW) return false;
    if (how->flags & XIR_SAVE_INLINE) return true;
    return net_walk_params(net, add_bytes, &s) && s.bytes <= TEXT_INLINE;
}

static xir_status explain(const text_writer *w, xir_diags *why) {
    switch (w->sink.status) {
    case XIR_E_INVALID: return codec_malformed(why, "", w->sink.malformed);
    case XIR_E_MEMORY:  return diag_memory(why);
    case XIR_E_LIMIT:   return diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "values are nested deeper than %u", w->deepest);
    case XIR_E_UNSUPPORTED: return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "%s", codec_plain_only);
    default: return w->sink.status;   /* XIR_E_IO: the callback's failure has a finding */
    }
}

static void put_network(text_writer *w, const payload_plan *plan, uint64_t bytes, xir_str sum) {
    text_survey(w);
    if (w->sink.status) return;
    put_header(w, plan, bytes, sum);
    text_put_aliases(w);
    for (const xir_op *op = w->net->first; op && flush(w, PIECE); op = op->next) text_put_op(w, op, 0);
    flush(w, 0);
}

/* The bytes of Params, and what the network says of their raw file, which only a text without the bytes repeats. */
static xir_status plan_payload(text_writer *w, xir_network *net, const format_writing *how, payload_plan *plan) {
    xir_status status = how->no_params ? payload_plan_none(plan, net, how->why)
                                       : payload_plan_list(plan, net, how->path, how->why);
    w->has_bytes = !status && plan->n;
    w->is_inline = !how->no_params && !how->digest_set && text_is_inline(net, how);
    return status || how->no_params || is_computed(w, plan) ? status : payload_plan_digest(plan, false);
}

xir_status text_write(xir_network *net, const format_writing *how) {
    text_writer w;
    payload_plan plan;
    text_writer_init(&w, net->ctx, net, how->write, how->user);
    w.no_ids = how->flags & XIR_SAVE_NO_IDS;
    net->raw_known = how->digest_set;
    xir_status status = plan_payload(&w, net, how, &plan);
    net->raw_known = false;
    if (!status) {
        put_network(&w, &plan, plan.params_bytes, plan.params_md5);
        status = w.sink.status ? explain(&w, how->why) : XIR_OK;
    }
    payload_plan_free(&plan);
    text_writer_free(&w);
    return status;
}

xir_status text_write_part(const format_part *part, const format_writing *how) {
    text_writer w;
    text_writer_init(&w, part->ctx, part->net, how->write, how->user);
    w.is_part = true;
    switch (part->kind) {
    case PART_OBJECT: text_put_object(&w, part->it, w.ctx->types[CLASS_type]); break;
    case PART_OP:     text_put_op(&w, part->it, 0); break;
    case PART_VALUE:
        if (value_is_params(part->it)) text_put_params(&w, part->it);
        else text_put_input(&w, part->it);
        break;
    }
    flush(&w, 0);
    const xir_status status = w.sink.status ? explain(&w, how->why) : XIR_OK;
    text_writer_free(&w);
    return status;
}

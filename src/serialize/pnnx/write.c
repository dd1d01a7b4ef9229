/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing a text: byte for byte as PNNX's converter writes it. Types and names take at least 24 columns. What a tag
 * keeps of the file that the network came from is written again if it still stands for the same (keep.c). */
#include "dialect/others.h"
#include "pnnx/pnnx.h"
#include "task.h"

enum { COLUMN = 24, FLUSH = 64 << 10 };

typedef struct pnnx_writer {
    xir_network          *net;
    const format_writing *how;
    pnnx_printer          p;
    text_table            taken;    /* names of values: indexes of their order               */
    text_table            names;    /* of operators, if one has none                         */
    uint64_t              n_ops, n_operands, next_op;
    bool                  stopped, has_input, has_output;
    const xir_op         *at;       /* whose items are printed: part of the finding          */
} pnnx_writer;

/* ---- the network is checked before the first byte -------------------------------------------------------------- */

static xir_str key_of(const xir_op *op) { return op->cls->key; }
static bool is_input(const xir_op *op)  { return xir_str_equal(key_of(op), XIR_STR("icraft::xir::Input")); }
static bool is_output(const xir_op *op) { return xir_str_equal(key_of(op), XIR_STR("icraft::xir::Output")); }

static bool check_word(pnnx_writer *w, const xir_op *op, xir_str text, const char *what) {
    bool plain = pnnx_is_word(text) && !memchr(text.data, '=', text.size) && !memchr("@$#", text.data[0], 3);
    return plain || pnnx_refuse(&w->p, XIR_E_UNSUPPORTED, "op %" PRId64 ": '%.*s' cannot be the name of %s in PNNX",
                                op->id, CLIP(text), what);
}

/* A value without a name gets a number, and so does one whose name refers to another value. */
static bool name_value(pnnx_writer *w, const xir_op *op, const xir_value *v, bool defined) {
    const xir_str name = xir_value_name(v);
    const uint32_t order = (uint32_t)w->n_operands;
    if (name.size) {
        if (!check_word(w, op, name, defined ? "an output" : "an input")) return false;
        const uint32_t *known = text_table_add(&w->taken, name, order);
        if (!known) return !(w->p.status = XIR_E_MEMORY);
        if (*known == order || (!v->uses && source_is_duplicate(v))) return true;
    }
    return made_names_add(&w->p.names, v) || !(w->p.status = XIR_E_MEMORY);
}

static bool check_inputs(pnnx_writer *w, const xir_op *op) {
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const xir_value *v = op_inputs(op)[i].value;
        if (!v)
            return pnnx_refuse(&w->p, XIR_E_UNSUPPORTED, "op %" PRId64 " '%.*s': input %u is absent, which PNNX cannot "
                               "say", op->id, CLIP(xir_op_name(op)), (unsigned)i);
        if (value_is_params(v))
            return pnnx_refuse(&w->p, XIR_E_UNSUPPORTED, "op %" PRId64 " '%.*s': input %u is Params, which PNNX has "
                               "only as weights of operators", op->id, CLIP(xir_op_name(op)), (unsigned)i);
        bool open = !value_op(v) && !text_table_find(&w->taken, xir_value_name(v));
        w->n_operands += open;   /* an undefined name is not counted, but taken */
        bool ok = !open || name_value(w, op, v, false);
        w->n_operands -= open;
        if (!ok) return false;
    }
    return true;
}

/* A network has one Input and one Output. */
static bool check_end(pnnx_writer *w, const xir_op *op) {
    const bool input = is_input(op);
    bool again = input ? w->has_input : w->has_output;
    if (again)
        return pnnx_refuse(&w->p, XIR_E_UNSUPPORTED, "op %" PRId64 " is a second %s", op->id,
                           input ? "Input" : "Output");
    if (input) w->has_input = true;
    else w->has_output = true;
    w->n_ops += input ? op->n_outputs : op->n_inputs;
    return true;
}

static bool check_op(pnnx_writer *w, const xir_op *op) {
    const xir_str name = xir_op_name(op);
    for (uint32_t i = 0; i < op->n_outputs; i++, w->n_operands++)
        if (!name_value(w, op, &op_outputs(op)[i], true)) return false;
    if (is_input(op) || is_output(op)) return check_end(w, op);
    w->n_ops++;
    if (!pnnx_is_word(pnnx_type_of(op)))
        return pnnx_refuse(&w->p, XIR_E_UNSUPPORTED, "op %" PRId64 " '%.*s': PNNX has no operator of the type '%.*s'",
                           op->id, CLIP(name), CLIP(pnnx_type_of(op)));
    if (name.size && !pnnx_is_word(name))
        return pnnx_refuse(&w->p, XIR_E_UNSUPPORTED, "op %" PRId64 ": '%.*s' cannot be the name of an operator in PNNX",
                           op->id, CLIP(name));
    return true;
}

/* Names first, since an operator may use what a later one makes. Then all lines are printed once, for what they
 * refuse. */
static bool check(pnnx_writer *w) {
    char sentence[DIALECT_OTHERS];
    if (!dialect_has_all(w->net, XIR_STR("pnnx::"), "PNNX", "operator",
                         "xir opt converts those that it can, with to-xir and xir-to-pnnx", sentence))
        return pnnx_refuse(&w->p, XIR_E_UNSUPPORTED, "%s", sentence);
    for (const xir_op *op = w->net->first; op; op = op->next)
        if (!check_op(w, op)) return false;
    for (const xir_op *op = w->net->first; op; op = op->next)
        if (!check_inputs(w, op)) return false;
    if (!made_names_make(&w->p.names, &w->taken, "", &w->p.scratch)) return !(w->p.status = XIR_E_MEMORY);
    for (const xir_op *op = w->net->first; op; op = op->next) {
        bool own = !is_input(op) && !is_output(op);
        for (uint32_t i = 0; is_input(op) && i < op->n_outputs; i++)
            if (!pnnx_print_shape(&w->p, &op_outputs(op)[i])) return false;
        w->at = op;
        if (own && !pnnx_print_items(&w->p, op)) return false;
        w->p.out.size = 0;
    }
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static void flush(pnnx_writer *w, size_t least) {
    if (w->stopped || w->p.out.size < least || !w->p.out.size) return;
    w->stopped = !w->how->write(w->how->user, w->p.out.data, w->p.out.size);
    w->p.out.size = 0;
}

static void put_column(pnnx_writer *w, xir_str text) {
    buffer_put(&w->p.out, text.data, text.size);
    for (size_t n = text.size; n < COLUMN; n++) buffer_char(&w->p.out, ' ');
    buffer_char(&w->p.out, ' ');
}

static void put_number(pnnx_writer *w, uint64_t v) {
    char digits[NUMBER_ROOM];
    buffer_put(&w->p.out, digits, number_put_u64(digits, v));
}

static void put_operand(pnnx_writer *w, const xir_value *v) {
    const xir_str name = made_name_of(&w->p.names, v);
    buffer_char(&w->p.out, ' ');
    buffer_put(&w->p.out, name.data, name.size);
}

/* The kept items instead of those printed from `begin` on, if they still stand for them. */
static void put_kept(pnnx_writer *w, size_t begin, const xir_map *kept) {
    const xir_any *sum = xir_map_find(kept, XIR_STR("for")), *text = xir_map_find(kept, XIR_STR("text"));
    const xir_any now = pnnx_sum((xir_str){ w->p.out.data + begin, w->p.out.size - begin });
    if (!sum || !text || text->kind != XIR_ANY_TEXT || w->p.out.failed || !xir_any_equal(sum, &now)) return;
    const xir_str kept_text = text->as.text;
    const char *bytes = kept_text.size ? kept_text.data : "";
    if (memchr(bytes, '\n', kept_text.size) || memchr(bytes, 0, kept_text.size) ||
        !utf8_is_text(bytes, kept_text.size)) return;
    w->p.out.size = begin;
    if (kept_text.size) buffer_char(&w->p.out, ' ');
    buffer_put(&w->p.out, bytes, kept_text.size);
}

static void end_line(pnnx_writer *w) {
    buffer_char(&w->p.out, '\n');
    flush(w, FLUSH);
}

/* The line of input or output `i` in the tag of its op; NULL if nothing differs. */
static const xir_map *kept_end(const xir_op *op, size_t i, size_t n) {
    const xir_any *tag = op_more_of(op) ? xir_map_find(op_more_of(op)->tags, XIR_STR(PNNX_TAG_LINES)) : NULL;
    bool fits = tag && tag->kind == XIR_ANY_LIST && tag->as.list.size == n;
    return fits && tag->as.list.items[i].kind == XIR_ANY_MAP ? &tag->as.list.items[i].as.map : NULL;
}

/* A word of the tag of an end. */
static xir_str end_word(const xir_map *kept, const char *key, xir_str usual) {
    const xir_any *word = xir_map_find(kept, xir_str_of(key));
    return word && word->kind == XIR_ANY_TEXT && pnnx_is_word(word->as.text) ? word->as.text : usual;
}

static void put_end(pnnx_writer *w, const xir_op *op, size_t i) {
    char name[40];
    const bool input = is_input(op);
    const size_t n = input ? op->n_outputs : op->n_inputs;
    const xir_value *v = input ? &op_outputs(op)[i] : op_inputs(op)[i].value;
    const xir_map *kept = kept_end(op, i, n);
    int size = snprintf(name, sizeof name, "pnnx_%s_%zu", input ? "input" : "output", i);
    put_column(w, end_word(kept, "type", input ? XIR_STR("pnnx.Input") : XIR_STR("pnnx.Output")));
    put_column(w, end_word(kept, "name", (xir_str){ name, (size_t)size }));
    buffer_str(&w->p.out, input ? "0 1" : "1 0");
    put_operand(w, v);
    const size_t begin = w->p.out.size;
    pnnx_print_shape(&w->p, v);
    if (kept) put_kept(w, begin, kept);
    end_line(w);
}

/* A name that no operator has; `text` begins with "pnnx_unique_". */
static xir_str fresh_name(pnnx_writer *w, char *text) {
    if (!w->next_op) {
        for (const xir_op *op = w->net->first; op; op = op->next) {
            if (xir_op_name(op).size && !text_table_add(&w->names, xir_op_name(op), 0)) w->p.status = XIR_E_MEMORY;
        }
    }
    return text_table_unused(&w->names, text, strlen(text), &w->next_op);
}

static void put_op(pnnx_writer *w, const xir_op *op) {
    char text[12 + NUMBER_ROOM] = "pnnx_unique_";
    const xir_str name = xir_op_name(op);
    put_column(w, pnnx_type_of(op));
    put_column(w, name.size ? name : fresh_name(w, text));
    put_number(w, op->n_inputs);
    buffer_char(&w->p.out, ' ');
    put_number(w, op->n_outputs);
    for (uint32_t i = 0; i < op->n_inputs; i++) put_operand(w, op_inputs(op)[i].value);
    for (uint32_t i = 0; i < op->n_outputs; i++) put_operand(w, &op_outputs(op)[i]);
    const size_t begin = w->p.out.size;
    pnnx_print_items(&w->p, op);
    const xir_any *kept = op_more_of(op) ? xir_map_find(op_more_of(op)->tags, XIR_STR(PNNX_TAG_ITEMS)) : NULL;
    if (kept && kept->kind == XIR_ANY_MAP) put_kept(w, begin, &kept->as.map);
    end_line(w);
}

/* ---- the order of lines ---------------------------------------------------------------------------------------- */

/* A line: an operator, or input or output `i` of the network. */
typedef struct line { const xir_op *op; size_t i; } line;

typedef struct order {
    const xir_op *input, *output, **ops;
    line         *lines;
    size_t        n_in, n_out, n_ops;
} order;

/* The number of the line of an end, as in the file. */
static uint64_t place_of(const xir_op *end, size_t i, size_t n, uint64_t usual) {
    const xir_any *at = xir_map_find(kept_end(end, i, n), XIR_STR("at"));
    return at && at->kind == XIR_ANY_INT && at->as.integer >= 0 ? (uint64_t)at->as.integer : usual;
}

/* Returns true if one of the lines before uses the value. */
static bool is_used(const order *o, const xir_value *v, size_t next_op, size_t next_out) {
    for (const xir_use *use = v->uses; use; use = use->next) {
        const xir_op *user = use->user;
        bool before = user == o->output ? (size_t)(use - op_inputs(user)) < next_out
                                        : next_op == o->n_ops || user->position < o->ops[next_op]->position;
        if (before) return true;
    }
    return false;
}

/* Returns true if a line may stand here: an input before its uses, an output after what makes it. */
static bool may_stand(const order *o, const line *l, size_t next_op, size_t next_in, size_t next_out) {
    if (l->op == o->input) return !is_used(o, &op_outputs(l->op)[l->i], next_op, next_out);
    const xir_value *v = op_inputs(l->op)[l->i].value;
    const xir_op *maker = value_op(v);
    if (maker && maker == o->input) return (size_t)(v - op_outputs(maker)) < next_in;
    return !maker || next_op == o->n_ops || maker->position < o->ops[next_op]->position;
}

/* Puts the lines in order; `as_read`: ends where the file had them. False if they cannot stand there. */
static bool put_in_order(const order *o, bool as_read) {
    const size_t n = o->n_in + o->n_out + o->n_ops;
    size_t in = 0, out = 0, op = 0;
    for (size_t k = 0; k < n; k++) {
        bool ops_left = op < o->n_ops;
        const uint64_t in_at = as_read && in < o->n_in ? place_of(o->input, in, o->n_in, in) : 0;
        const uint64_t out_at = as_read && out < o->n_out ? place_of(o->output, out, o->n_out, n - o->n_out + out) : n;
        line *l = &o->lines[k];
        if (in < o->n_in && (in_at <= k || (!ops_left && out == o->n_out))) *l = (line){ o->input, in };
        else if (out < o->n_out && (out_at <= k || !ops_left)) *l = (line){ o->output, out };
        else if (ops_left) *l = (line){ o->ops[op], 0 };
        else *l = (line){ o->input, in };
        if (as_read && (l->op == o->input || l->op == o->output) && !may_stand(o, l, op, in, out)) return false;
        in += l->op == o->input;
        out += l->op == o->output;
        op += l->op != o->input && l->op != o->output;
    }
    return true;
}

static bool put_lines(pnnx_writer *w) {
    order o = { NULL, NULL, NULL, NULL, 0, 0, 0 };
    const size_t n = (size_t)w->n_ops;
    o.ops = arena_take(&w->p.scratch, (w->net->n_ops + 1) * sizeof *o.ops);
    o.lines = arena_take(&w->p.scratch, (n + 1) * sizeof *o.lines);
    if (!o.ops || !o.lines) return !(w->p.status = XIR_E_MEMORY);
    for (const xir_op *op = w->net->first; op; op = op->next) {
        if (is_input(op)) o.input = op;
        else if (is_output(op)) o.output = op;
        else o.ops[o.n_ops++] = op;
    }
    o.n_in = o.input ? o.input->n_outputs : 0;
    o.n_out = o.output ? o.output->n_inputs : 0;
    if (!put_in_order(&o, true)) put_in_order(&o, false);
    for (size_t i = 0; i < n && !w->stopped; i++) {
        if (!task_worked(TASK_PER_OBJECT)) return !(w->p.status = XIR_E_MEMORY);
        const line *l = &o.lines[i];
        if (l->op == o.input || l->op == o.output) put_end(w, l->op, l->i);
        else put_op(w, l->op);
    }
    flush(w, 0);
    return true;
}

/* Writes the counts of the file, if these were wrong and the true counts have not changed. */
static void put_counts(pnnx_writer *w) {
    uint64_t counts[2] = { w->n_ops, w->n_operands };
    const xir_any *tag = xir_map_find(w->net->tags, XIR_STR(PNNX_TAG_COUNTS));
    const xir_list list = tag && tag->kind == XIR_ANY_LIST ? tag->as.list : (xir_list){ NULL, 0 };
    bool holds = list.size == 4;
    for (size_t i = 0; i < list.size && holds; i++) {
        holds = list.items[i].kind == XIR_ANY_INT && (uint64_t)list.items[i].as.integer <= INT32_MAX &&
                (i < 2 || (uint64_t)list.items[i].as.integer == counts[i - 2]);
    }
    for (size_t i = 0; holds && i < 2; i++) counts[i] = (uint64_t)list.items[i].as.integer;
    buffer_str(&w->p.out, PNNX_MAGIC "\n");
    put_number(w, counts[0]);
    buffer_char(&w->p.out, ' ');
    put_number(w, counts[1]);
    buffer_char(&w->p.out, '\n');
}

static xir_status finish(pnnx_writer *w) {
    xir_status status = w->p.out.failed ? XIR_E_MEMORY : w->p.status;
    if (status == XIR_E_MEMORY) diag_memory(w->how->why);
    else if (status && w->at)
        file_fail(w->how->why, status, w->how->path, XIR_NO_BYTE, "op %" PRId64 " '%.*s': %s", w->at->id,
                  CLIP(xir_op_name(w->at)), w->p.fault);
    else if (status) file_fail(w->how->why, status, w->how->path, XIR_NO_BYTE, "%s", w->p.fault);
    else if (w->stopped) status = XIR_E_IO;
    text_table_free(&w->taken);
    text_table_free(&w->names);
    pnnx_printer_free(&w->p);
    return status;
}

xir_status pnnx_write(xir_network *net, const format_writing *how) {
    pnnx_writer w = { .net = net, .how = how };
    pnnx_printer_init(&w.p, &net->ctx->alloc);
    text_table_init(&w.taken, &net->ctx->alloc);
    text_table_init(&w.names, &net->ctx->alloc);
    if (check(&w)) {
        put_counts(&w);
        put_lines(&w);
    }
    return finish(&w);
}

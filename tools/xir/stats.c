/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir stats: what the ops of a network cost, by class, by op or by scope; and how much memory their values take. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "stats.h"

static const char *by_word, *depth_word, *sort_word, *top_word, *tiles_word;
static bool        as_json, as_csv, plot, views, in_place, parts;

/* ---- figures of ops ---------------------------------------------------------------------------------- */

void stats_add(stats_row *to, const stats_row *row) {
    to->ops += row->ops;
    for (int i = 0; i < FIGURES; i++) {
        to->known[i] = xir_cost_add(to->known[i], row->known[i]);
        to->unknown[i] += row->unknown[i];
    }
}

static void set_figure(stats_row *row, figure f, uint64_t n) {
    if (n == XIR_COST_UNKNOWN) row->unknown[f] = 1;
    else row->known[f] = n;
}

static stats_row *new_row(stats *s) {
    if (s->n == s->room) {
        s->room = s->room * 2 + 64;
        s->rows = resize(s->rows, s->room * sizeof *s->rows);
    }
    s->rows[s->n] = (stats_row){ 0 };
    return &s->rows[s->n++];
}

static bool is_added(void *user, const xir_op *op) {
    const stats *s = user;
    return s->added && s->added[xir_op_slot(op)];
}

static bool note_op(void *user, const xir_op *op, const xir_cost *cost) {
    stats *s = user;
    const size_t place = s->visited++;
    s->owed[0] = xir_cost_add(s->owed[0], cost->parameters);
    s->owed[1] = xir_cost_add(s->owed[1], cost->parameter_bytes);
    if (is_added(s, op)) return true;
    stats_row *row = new_row(s);
    row->op = op;
    row->cls = xir_op_class(op);
    row->name = s->by == BY_CLASS ? xir_class_key(row->cls) : xir_op_name(op);
    row->place = place;
    row->ops = 1;
    set_figure(row, FIGURE_PARAMETERS, s->owed[0]);
    set_figure(row, FIGURE_PARAMETER_BYTES, s->owed[1]);
    s->owed[0] = s->owed[1] = 0;
    set_figure(row, FIGURE_MULTIPLY_ADDS, cost->multiply_adds);
    set_figure(row, FIGURE_ELEMENT_OPS, cost->element_ops);
    set_figure(row, FIGURE_READ, cost->bytes_read);
    set_figure(row, FIGURE_WRITTEN, cost->bytes_written);
    stats_add(&s->all, row);
    return true;
}

/* ---- groups -------------------------------------------------------------------------------------------- */

/* Names have parts between '/' if they have any, otherwise between '.'. */
xir_str stats_scope(xir_str name, uint64_t depth) {
    const char cut = name.size && memchr(name.data, '/', name.size) ? '/' : '.';
    while (name.size && *name.data == cut) name.data++, name.size--;
    size_t end = 0;
    for (size_t i = 0; i < name.size && depth; i++) {
        if (name.data[i] != cut) continue;
        end = i;
        depth--;
    }
    return (xir_str){ name.data, end };
}

static int by_bytes(xir_str a, xir_str b) {
    const size_t least = a.size < b.size ? a.size : b.size;
    const int order = least ? memcmp(a.data, b.data, least) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int by_place(const stats_row *a, const stats_row *b) { return (a->place > b->place) - (a->place < b->place); }

static int by_name(const void *a, const void *b) {
    const stats_row *x = a, *y = b;
    const int order = by_bytes(x->name, y->name);
    return order ? order : by_place(x, y);
}

/* One row for all of one name. Ops of equal keys have equal classes. */
static void group(stats *s) {
    size_t n = 0;
    if (s->n) qsort(s->rows, s->n, sizeof *s->rows, by_name);
    for (size_t i = 0; i < s->n; i++) {
        if (n && by_bytes(s->rows[n - 1].name, s->rows[i].name) == 0) stats_add(&s->rows[n - 1], &s->rows[i]);
        else s->rows[n++] = s->rows[i];
        s->rows[n - 1].op = NULL;
    }
    s->n = n;
}

/* ---- the order of rows --------------------------------------------------------------------------------- */

static const stats_column *sorted_by;   /* NULL: the execution order */

static uint64_t key_of(const stats_row *row) {
    if (sorted_by->figure < FIGURES) return row->known[sorted_by->figure];
    return strcmp(sorted_by->word, "ops") == 0 ? row->ops : row->live;
}

/* The largest first; texts from a to z. Rows that are equal stay in the order of the network. */
static int by_column(const void *a, const void *b) {
    const stats_row *x = a, *y = b;
    if (sorted_by && sorted_by->is_text) {
        const bool of_class = strcmp(sorted_by->word, "class") == 0;
        const xir_str k = of_class ? xir_class_key(x->cls) : x->name, l = of_class ? xir_class_key(y->cls) : y->name;
        const int order = by_bytes(k, l);
        return order ? order : by_place(x, y);
    }
    const uint64_t k = sorted_by ? key_of(x) : 0, l = sorted_by ? key_of(y) : 0;
    return k != l ? (k < l) - (k > l) : by_place(x, y);
}

static void order(stats *s, uint64_t top) {
    if (s->n) qsort(s->rows, s->n, sizeof *s->rows, by_column);
    for (size_t i = top < s->n ? (size_t)top : s->n; i < s->n; i++) stats_add(&s->others, &s->rows[i]);
    if (top < s->n) s->n = (size_t)top;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

/* The bytes that are alive at each op that counts, and the peak among these. */
static void list_live(stats *s, const xir_liveness *l) {
    int64_t position = 0;
    s->live = take(xir_liveness_op_count(l), sizeof *s->live);
    for (const xir_op *op = xir_network_first(s->l->net); op; op = xir_op_next(op), position++) {
        if (is_added(s, op)) continue;
        if (op == s->peak.op) s->peak.position = (int64_t)s->n_live;
        s->live[s->n_live++] = xir_liveness_bytes_at(l, position);
    }
}

/* Finds the bytes that are alive at each op. They are not known for a network that is not sorted. A move that only the
 * conversion adds takes none: its result is what it moves. */
static xir_status look_at_memory(stats *s, xir_diags *why) {
    const xir_liveness_options options = XIR_INIT(xir_liveness_options, .views = views, .in_place = in_place,
                                                  .parts = parts, .is_view = is_added, .user = s);
    xir_liveness *l = xir_liveness_new(s->l->net, &options, why);
    s->peak = XIR_INIT(xir_live_peak);
    if (!l) {
        const xir_diag *d = xir_diags_at(why, xir_diags_count(why) - 1);
        return d ? d->code : XIR_E_MEMORY;
    }
    xir_status status = xir_liveness_peak(l, &s->peak, why);
    list_live(s, l);
    for (size_t i = 0; i < s->n && s->by == BY_OP; i++) {
        s->rows[i].live = xir_liveness_bytes_at(l, (int64_t)s->rows[i].place);
        s->rows[i].live_unknown = xir_liveness_unknown_at(l, (int64_t)s->rows[i].place);
    }
    xir_liveness_free(l);
    return status;
}

/* ---- the network --------------------------------------------------------------------------------------- */

static int prepare(stats *s, xir_network *net, xir_diags *why) {
    int code = bind_network(net, why);
    if (code || !xir_network_is_dialect(net)) return code;
    s->converted = true;
    xir_provenance *made_of = xir_provenance_new(net, why);
    code = made_of ? convert_network(net, why) : no_memory();
    if (!code) s->added = find_added(made_of, net);
    xir_provenance_free(made_of);
    return code || s->added ? code : no_memory();
}

/* Findings of single ops do not prevent the figures of the others. */
static int collect(stats *s, uint64_t depth, uint64_t top, xir_diags *why) {
    int code = prepare(s, s->l->net, why);
    if (code) return code;
    xir_status status = xir_network_costs(s->l->net, note_op, s, why);
    if (status == XIR_E_MEMORY) return no_memory();
    code = exit_of(status);
    status = look_at_memory(s, why);
    if (status == XIR_E_MEMORY) return no_memory();
    if (status && !code) code = exit_of(status);
    for (size_t i = 0; i < s->n && s->by == BY_SCOPE; i++) s->rows[i].name = stats_scope(s->rows[i].name, depth);
    if (s->by != BY_OP) group(s);
    order(s, top);
    return code;
}

/* Tiles of the scopes; the findings of a scope are printed with it. */
static void print_tiles(stats *s, uint64_t depth, json_out *j) {
    progress_begin("looking for tiles", s->l->name);
    stats_tiles(s, depth, as_json ? j : NULL);
    progress_end();
}

/* ---- the command --------------------------------------------------------------------------------------- */

static const char *const by_words[] = { "class", "op", "scope", NULL };   /* ORDER BY */

static int read_by(stats *s) {
    if (!by_word) return DONE;
    for (int i = 0; by_words[i]; i++) {
        if (strcmp(by_word, by_words[i]) != 0) continue;
        s->by = (stats_by)i;
        return DONE;
    }
    const char *meant = nearest(by_word, by_words);
    return complain(MISUSED, "--by takes class, op or scope, not '%s'%s%s%s", by_word, meant ? "; did you mean '" : "",
                    meant ? meant : "", meant ? "'?" : "");
}

/* A number from 1 on; without the option, the largest one. */
static int read_count(const char *name, const char *word, uint64_t *out) {
    char *end;
    *out = UINT64_MAX;
    if (!word) return DONE;
    errno = 0;
    *out = strtoull(word, &end, 10);
    const bool good = *word >= '0' && *word <= '9' && !*end && !errno && *out;
    return good ? DONE : complain(MISUSED, "--%s takes a number from 1 on, not '%s'", name, word);
}

static int read_line(stats *s, uint64_t *depth, uint64_t *top) {
    int code = read_by(s);
    if (!code) code = read_count("depth", depth_word, depth);
    if (!code) code = read_count("top", top_word, top);
    if (!code) code = check_binds();
    if (!code) code = check_shapes();
    if (!code && tiles_word) code = read_count("tiles", tiles_word, &s->tiles);
    if (code) return code;
    if (tiles_word && (s->by != BY_SCOPE || as_csv || plot))
        return complain(MISUSED, "--tiles is for --by scope, without --csv and --plot");
    if (depth_word && s->by != BY_SCOPE) return complain(MISUSED, "--depth is for --by scope");
    if (as_json + as_csv + plot > 1) return complain(MISUSED, "--json, --csv and --plot exclude each other");
    const bool in_order = sort_word ? strcmp(sort_word, "order") == 0 : s->by == BY_OP;
    if (in_order) return DONE;
    sorted_by = stats_column_named(s, sort_word ? sort_word : "multiply_adds");
    return sorted_by ? DONE : MISUSED;
}

static void print(stats *s, json_out *j) {
    if (as_json) {
        stats_put_json(s, j);
    } else if (as_csv) {
        stats_print_csv(s);
    } else {
        stats_print(s);
        if (plot) stats_plot(s, sorted_by && sorted_by->figure < FIGURES ? sorted_by->figure : FIGURE_MULTIPLY_ADDS);
    }
}

static int run(int n, char **operands) {
    (void)n;
    loaded l = { 0 };
    stats s = { .l = &l };
    json_out j = { 0 };
    uint64_t depth, top;
    int code = check_colour();
    if (!code) code = read_line(&s, &depth, &top);
    if (code) return code;
    code = load(&l, operands[0], LOAD_MAPPED);
    const bool there = l.net && code != MISUSED;
    bool known = false;
    if (there) {
        xir_diags *why = new_diags();
        progress_begin("counting", l.name);
        const int counted = collect(&s, depth, top, why);
        progress_end();
        if (!code) code = counted;
        known = counted <= FAULTY && (s.all.ops || !xir_network_op_count(l.net));   // not if a conversion fails
        say(why);
        xir_diags_free(why);
    }
    if (as_json) {
        json_begun();
        json_open(&j, NULL, '{');
        json_str(&j, "file", xir_str_of(shown_name(operands[0])));
    }
    if (known) print(&s, &j);
    if (known && s.tiles) print_tiles(&s, depth, &j);
    if (as_json) {
        code = json_findings(&j, code);
        json_close(&j, '}');
        json_print(&j);
    }
    free(s.rows);
    free(s.live);
    free(s.added);
    unload(&l);
    return code;
}

static const option options[] = {
    { "by", "WHAT", WORD_TEXT, &by_word, "a row for each class (the default), op or scope" },
    { "depth", "N", WORD_TEXT, &depth_word, "scopes of at most N parts" },
    { "sort", "COLUMN", WORD_TEXT, &sort_word,
      "the rows with the largest numbers first; order: as they are in the network; an unknown word lists all" },
    { "top", "N", WORD_TEXT, &top_word, "the first N rows, and one for all others" },
    { "views", NULL, WORD_NONE, &views, "memory: a view of a value takes no bytes" },
    { "in-place", NULL, WORD_NONE, &in_place, "memory: an op writes its output over an input where it may" },
    { "parts", NULL, WORD_NONE, &parts, "memory: what is joined or divided is in the bytes of the whole" },
    { "tiles", "BYTES", WORD_TEXT, &tiles_word,
      "also the largest tiles of the maps of each scope that fit so many bytes, for --by scope" },
    { "plot", NULL, WORD_NONE, &plot, "also draw a bar for each row, and the bytes that are alive" },
    { "csv", NULL, WORD_NONE, &as_csv, "print the rows as CSV, with whole numbers" },
    { "json", NULL, WORD_NONE, &as_json, "print a JSON object" },
    COLOR_OPTION,
    INPUT_SHAPE_OPTION, BIND_OPTION,
    PARAMS_OPTION, NO_PARAMS_OPTION, MAPPED_OPTIONS, FROM_OPTION, AS_CALLS_OPTION,
    { 0 },
};

const command stats_command = {
    .name = "stats", .operands = "NET", .is = WORD_FILE,
    .doc = "prints what a network costs",
    .details = "Multiply-adds, element operations, bytes that are read and written, and parameters, by class, op or "
               "scope (a name up to its last '/', or '.'); their sums; and the most bytes that values take at once, "
               "with the op that runs then. What is not known, for an open dim or an unknown class, is counted. A "
               "network of another framework's operations is converted first (to-xir); moves that only the conversion "
               "adds are not counted. docs/cost.md defines all "
               "figures.",
    .faulty = "NET is invalid",
    .examples = (const example[]){
        { "xir stats digits.onnx", "See what a network costs, class by class." },
        { "xir stats digits.onnx --by op --sort multiply-adds --top 5", "See the five ops that cost most." },
        { NULL, NULL },
    },
    .related = "info plan view",
    .options = options, .least = 1, .most = 1, .run = run,
};

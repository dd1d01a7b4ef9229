/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The page: src/draw/page with the data of a network in it. The data is one JSON document: a table of strings, and
 * columns of numbers, most of them numbers of strings, types, values or groups. page/data.js reads it, and has the
 * names of the columns. Strings and sets of attributes are written last, when all of them are known.
 *
 * Where ops depend on constants alone, a second document is in it, of the picture that has them, or does not have them:
 * the page changes between both. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "html_out.h"
#include "html_page.h"

typedef struct page {
    const picture    *p;
    html_json         j;
    html_table        strings, classes;    /* classes: the bytes of their pointers            */
    const xir_op    **class_ops;           /* the first op of each                            */
    size_t            n_class_ops;
    html_sets         sets;
    struct { const xir_type *type; uint32_t number; } types[64];   /* the latest, by their addresses */
    const xir_value **others;              /* values that no drawn op makes                   */
    size_t            n_others;
    html_table        pointers;            /* the same, by the bytes of their pointers        */
    uint32_t         *in;                  /* of each input of each node: its value plus one  */
    size_t            n_in, missing;       /* missing: Params without bytes                   */
    bool              no_memory;
} page;

static uint32_t text_number(page *g, xir_str s) { return html_number(&g->strings, s, false); }

/* ---- values ------------------------------------------------------------------------------------------------------ */

static uint32_t other_value(page *g, const xir_value *value) {
    const uint32_t i = html_number(&g->pointers, (xir_str){ (const char *)&value, sizeof value }, true);
    if (i < g->n_others || g->pointers.failed) return g->p->nodes[g->p->n_nodes].value + i;
    const xir_value **others = draw_room(g->p->alloc, g->others, g->n_others + 1, sizeof *others);
    if (!others) {
        g->no_memory = true;
        return 0;
    }
    g->others = others;
    others[g->n_others++] = value;
    return g->p->nodes[g->p->n_nodes].value + i;
}

/* Returns how many inputs a node has: see `lost` in picture.h. */
static size_t input_count(const picture *p, size_t node) {
    return xir_op_input_count(p->nodes[node].op) + (p->lost ? p->lost[node] : 0);
}

/* Numbers the values of all inputs. Those that a drawn op makes have an edge, and so have all inputs that are lost. */
static void find_values(page *g) {
    const picture *p = g->p;
    size_t n = 0, edge = 0, at = 0;
    for (size_t i = 0; i < p->n_nodes; i++) n += input_count(p, i);
    g->n_in = n;
    g->in = draw_new(p->alloc, n, sizeof *g->in);
    if (!g->in) {
        g->no_memory = true;
        return;
    }
    for (size_t i = 0; i < p->n_nodes && !g->no_memory; i++) {
        const size_t inputs = input_count(p, i), own = xir_op_input_count(p->nodes[i].op);
        for (size_t k = 0; k < inputs; k++) {
            const xir_value *value = k < own ? xir_op_input(p->nodes[i].op, (int64_t)k) : NULL;
            const draw_edge *e = edge < p->n_edges ? &p->edges[edge] : NULL;
            if (e && e->to == i && e->input == k) {
                g->in[at++] = e->value + 1;
                edge++;
            } else {
                g->in[at++] = value ? other_value(g, value) + 1 : 0;
            }
        }
    }
}

typedef int64_t value_fn(page *g, const xir_value *value);

static int64_t value_id(page *g, const xir_value *v) { (void)g; return xir_value_id(v); }
static int64_t value_name(page *g, const xir_value *v) { return text_number(g, xir_value_name(v)); }
static int64_t value_type(page *g, const xir_value *v) {
    const xir_type *type = xir_value_type(v);
    const size_t at = (uintptr_t)type / 64 % (sizeof g->types / sizeof *g->types);
    if (!type || g->types[at].type != type) {
        g->types[at].type = type;
        g->types[at].number = html_type(&g->strings, type);
    }
    return g->types[at].number;
}
static int64_t value_tags(page *g, const xir_value *v) {
    return html_map(&g->sets, xir_network_context(g->p->net), xir_value_tags(v));
}

static void value_column(page *g, const char *name, value_fn *fn) {
    html_column(&g->j, name);
    for (size_t i = 0; i < g->p->n_nodes; i++) {
        const size_t n = g->p->nodes[i + 1].value - g->p->nodes[i].value;
        for (size_t k = 0; k < n; k++) html_cell(&g->j, fn(g, draw_output(g->p, i, k)));
    }
    for (size_t i = 0; i < g->n_others; i++) html_cell(&g->j, fn(g, g->others[i]));
    html_close(&g->j, ']');
}

/* Params are numbered from 1: `stats` has an item for each. */
static void params_column(page *g) {
    int64_t n = 0;
    html_column(&g->j, "params");
    for (uint32_t i = 0; i < g->p->nodes[g->p->n_nodes].value; i++) html_cell(&g->j, 0);
    for (size_t i = 0; i < g->n_others; i++) html_cell(&g->j, xir_value_is_params(g->others[i]) ? ++n : 0);
    html_close(&g->j, ']');
}

static void put_values(page *g) {
    html_open(&g->j, "values", '{');
    value_column(g, "id", value_id);
    value_column(g, "name", value_name);
    value_column(g, "type", value_type);
    value_column(g, "tags", value_tags);
    params_column(g);
    html_close(&g->j, '}');
}

static void put_stats(page *g) {
    html_json *j = &g->j;
    html_open(j, "stats", '[');
    for (size_t i = 0; i < g->n_others && !g->p->how.no_values; i++) {
        if (!xir_value_is_params(g->others[i])) continue;
        html_stats s;
        xir_status status = html_statistics(g->others[i], &s);
        g->missing += status == XIR_E_MISSING;
        if (status == XIR_E_MEMORY) g->no_memory = true;
        if (status) {
            html_real(j, NULL, NAN);
            continue;
        }
        html_open(j, NULL, '{');
        html_real(j, "min", s.min);
        html_real(j, "max", s.max);
        html_real(j, "mean", s.mean);
        html_real(j, "dev", s.deviation);
        html_integer(j, "zeros", (int64_t)s.zeros);
        html_integer(j, "nans", (int64_t)s.nans);
        html_integer(j, "infs", (int64_t)s.infinities);
        html_open(j, "bins", '[');
        for (int b = 0; b < HTML_BINS; b++) html_integer(j, NULL, (int64_t)s.bins[b]);
        html_close(j, ']');
        html_close(j, '}');
    }
    html_close(j, ']');
}

/* ---- ops --------------------------------------------------------------------------------------------------------- */

typedef int64_t node_fn(page *g, const draw_node *node);

static int64_t node_id(page *g, const draw_node *n) { (void)g; return xir_op_id(n->op); }
static int64_t node_name(page *g, const draw_node *n) { return text_number(g, xir_op_name(n->op)); }
static int64_t node_inputs(page *g, const draw_node *n) {
    return (int64_t)input_count(g->p, (size_t)(n - g->p->nodes));
}
static int64_t node_outputs(page *g, const draw_node *n) { (void)g; return n[1].value - n->value; }
static int64_t node_width(page *g, const draw_node *n) { (void)g; return n->width; }
static int64_t node_height(page *g, const draw_node *n) { (void)g; return n->height; }
static int64_t node_attrs(page *g, const draw_node *n) { return html_attributes(&g->sets, n->op); }
static int64_t node_tags(page *g, const draw_node *n) {
    return html_map(&g->sets, xir_network_context(g->p->net), xir_op_tags(n->op));
}
static int64_t node_class(page *g, const draw_node *n) {
    const xir_class *cls = xir_op_class(n->op);
    const uint32_t i = html_number(&g->classes, (xir_str){ (const char *)&cls, sizeof cls }, true);
    if (i < g->n_class_ops || g->classes.failed) return i;
    const xir_op **ops = draw_room(g->p->alloc, g->class_ops, g->n_class_ops + 1, sizeof *ops);
    if (!ops) {
        g->no_memory = true;
        return i;
    }
    g->class_ops = ops;
    ops[g->n_class_ops++] = n->op;
    return i;
}

static void node_column(page *g, const char *name, node_fn *fn) {
    html_column(&g->j, name);
    for (size_t i = 0; i < g->p->n_nodes; i++) html_cell(&g->j, fn(g, &g->p->nodes[i]));
    html_close(&g->j, ']');
}

static void put_ops(page *g) {
    html_open(&g->j, "ops", '{');
    node_column(g, "id", node_id);
    node_column(g, "class", node_class);
    node_column(g, "name", node_name);
    node_column(g, "ins", node_inputs);
    html_column(&g->j, "in");
    for (size_t i = 0; i < g->n_in; i++) html_cell(&g->j, g->in[i]);
    html_close(&g->j, ']');
    node_column(g, "outs", node_outputs);
    node_column(g, "width", node_width);
    node_column(g, "height", node_height);
    node_column(g, "attrs", node_attrs);
    node_column(g, "tags", node_tags);
    html_close(&g->j, '}');
}

static void put_note(html_json *j, const xir_class *cls, xir_decl_kind word) {
    xir_str note;
    html_open(j, NULL, '[');
    for (size_t i = 0; (note = xir_class_note(cls, word, i)).size; i++) html_string(j, NULL, note);
    html_close(j, ']');
}

static void put_ports(html_json *j, const xir_class *cls, size_t n,
                      const xir_port *(*at)(const xir_class *, size_t)) {
    html_open(j, NULL, '[');
    for (size_t i = 0; i < n; i++) html_string(j, NULL, at(cls, i)->name);
    html_close(j, ']');
}

/* The classes of the ops, after the ops: one column for each of what the reference says of a class. */
static void put_classes(page *g) {
    html_json *j = &g->j;
    static const char *const columns[] = { "key", "doc", "family", "formula", "ins", "outs" };
    html_open(j, "classes", '{');
    for (size_t column = 0; column < sizeof columns / sizeof *columns; column++) {
        html_open(j, columns[column], '[');
        for (size_t i = 0; i < g->n_class_ops; i++) {
            const xir_op *op = g->class_ops[i];
            const xir_class *cls = xir_op_class(op);
            switch (column) {
            case 0:  html_string(j, NULL, draw_class_word(op)); break;
            case 1:  html_string(j, NULL, xir_class_doc(cls)); break;
            case 2:  html_integer(j, NULL, draw_colour_of(op)); break;
            case 3:  put_note(j, cls, XIR_DECL_FORMULA); break;
            case 4:  put_ports(j, cls, xir_class_input_count(cls), xir_class_input_at); break;
            default: put_ports(j, cls, xir_class_output_count(cls), xir_class_output_at); break;
            }
        }
        html_close(j, ']');
    }
    html_close(j, '}');
}

/* ---- groups and what they show ----------------------------------------------------------------------------------- */

typedef int64_t group_fn(page *g, uint32_t group);

static int64_t group_parent(page *g, uint32_t i) { return i ? (int64_t)g->p->groups[i].parent : -1; }
static int64_t group_begin(page *g, uint32_t i) { return g->p->groups[i].begin; }
static int64_t group_end(page *g, uint32_t i) { return g->p->groups[i].end; }
static int64_t group_vertices(page *g, uint32_t i) { return g->p->groups[i].n_vertices; }
static int64_t group_segments(page *g, uint32_t i) { return g->p->groups[i].n_segments; }
static int64_t group_ranks(page *g, uint32_t i) { return g->p->groups[i].n_ranks; }
static int64_t group_room(page *g, uint32_t i) { return g->p->groups[i].title; }
static int64_t group_width(page *g, uint32_t i) { return g->p->groups[i].width; }
static int64_t group_height(page *g, uint32_t i) { return g->p->groups[i].height; }
static int64_t group_title(page *g, uint32_t i) {
    char title[DRAW_TEXT];
    const size_t n = draw_group_title(g->p, i, title);
    return html_number(&g->strings, (xir_str){ title, n }, true);
}

static int64_t group_named(page *g, uint32_t i) { return g->p->groups[i].named; }

/* Returns the length of the part of `named`'s name that the titles contain. The page stores names in their harmless
 * spelling, and JavaScript counts UTF-16 units: two for a character of four bytes. */
static int64_t group_prefix(page *g, uint32_t i) {
    const draw_group *group = &g->p->groups[i];
    if (!group->prefix) return 0;
    xir_str name = { xir_op_name(g->p->nodes[group->named].op).data, group->prefix };
    int64_t n = 0;
    while (name.size) {
        char text[8];
        const size_t size = draw_harmless(&name, text);
        for (size_t k = 0; k < size; k++) {
            const unsigned char c = (unsigned char)text[k];
            n += c >= 0xF0 ? 2 : (c & 0xC0) != 0x80;
        }
    }
    return n;
}

static void put_groups(page *g) {
    static const struct { const char *name; group_fn *fn; } columns[] = {
        { "parent", group_parent },     { "title", group_title },       { "prefix", group_prefix },
        { "named", group_named },
        { "begin", group_begin },       { "end", group_end },           { "vertices", group_vertices },
        { "segments", group_segments }, { "ranks", group_ranks },       { "room", group_room },
        { "width", group_width },       { "height", group_height },
    };
    html_open(&g->j, "groups", '{');
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        html_column(&g->j, columns[c].name);
        for (uint32_t i = 0; i < g->p->n_groups; i++) html_cell(&g->j, columns[c].fn(g, i));
        html_close(&g->j, ']');
    }
    html_close(&g->j, '}');
}

static void put_interiors(page *g) {
    const picture *p = g->p;
    html_json *j = &g->j;
    html_open(j, "vertices", '{');
    html_column(j, "kind");
    for (size_t i = 0; i < p->n_vertices; i++) html_cell(j, p->vertices[i].kind);
    html_close(j, ']');
    html_column(j, "ref");
    for (size_t i = 0; i < p->n_vertices; i++) html_cell(j, p->vertices[i].ref);
    html_close(j, ']');
    html_close(j, '}');
    html_column(j, "ranks");     /* how many vertices each has */
    for (size_t i = 0; i < p->n_groups; i++) {
        const uint32_t *first = p->ranks + p->groups[i].ranks;
        for (uint32_t r = 0; r < p->groups[i].n_ranks; r++) html_cell(j, first[r + 1] - first[r]);
    }
    html_close(j, ']');
    html_open(j, "segments", '{');
    html_column(j, "from");
    for (size_t i = 0; i < p->n_segments; i++) html_cell(j, p->segments[i].from);
    html_close(j, ']');
    html_column(j, "to");
    for (size_t i = 0; i < p->n_segments; i++) html_cell(j, p->segments[i].to);
    html_close(j, ']');
    html_column(j, "value");
    for (size_t i = 0; i < p->n_segments; i++) html_cell(j, p->segments[i].value);
    html_close(j, ']');
    html_close(j, '}');
}

/* The inputs whose edges are stubs, by their number among all inputs. */
static void put_stubs(page *g) {
    const picture *p = g->p;
    size_t edge = 0, at = 0;
    html_column(&g->j, "stubs");
    for (size_t i = 0; i < p->n_nodes; i++) {
        for (; edge < p->n_edges && p->edges[edge].to == i; edge++) {
            if (p->edges[edge].stub) html_cell(&g->j, (int64_t)(at + p->edges[edge].input));
        }
        at += input_count(p, i);
    }
    html_close(&g->j, ']');
}

/* ---- the document ------------------------------------------------------------------------------------------------ */

static void put_data(page *g) {
    html_open(&g->j, "data", '[');
    for (size_t i = 0; i < g->p->how.n_data; i++) html_verbatim(&g->j, NULL, g->p->how.data[i]);
    html_close(&g->j, ']');
}

static void put_fact(html_json *j, const char *name, xir_str words) {
    if (!words.size) return;
    html_open(j, NULL, '[');
    html_string(j, NULL, xir_str_of(name));
    html_string(j, NULL, words);
    html_close(j, ']');
}

/* The accelerator, "@buyit (default)" if nobody has set it. Most targets are a text, whose quotes are left out. */
static void put_target(page *g) {
    const xir_network *net = g->p->net;
    const xir_target *target = xir_network_ai_target(net);
    xir_text_buffer text = { 0 };
    char words[80];
    if (!target) return;
    if (xir_object_print(xir_network_context(net), (const xir_object *)target, 0, &text) != XIR_OK) {
        g->no_memory = true;
        return;
    }
    const bool is_text = text.size >= 2 && text.data[0] == '"';
    const int n = snprintf(words, sizeof words, "%.*s%s", (int)(is_text ? text.size - 2 : text.size),
                           text.data + (is_text ? 1 : 0), xir_network_has_ai_target(net) ? "" : " (default)");
    put_fact(&g->j, "accelerator", (xir_str){ words, n < (int)sizeof words ? (size_t)n : sizeof words - 1 });
    xir_text_free(&text);
}

static void put_about(page *g) {
    static const struct { const char *name; xir_network_text text; } texts[] = {
        { "framework", XIR_TEXT_FRAMEWORK },       { "framework version", XIR_TEXT_FRAMEWORK_VERSION },
        { "version of XIR", XIR_TEXT_XIR_VERSION },
    };
    html_json *j = &g->j;
    html_open(j, "about", '[');
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_fact(j, texts[i].name, xir_network_text_of(g->p->net, texts[i].text));
    put_target(g);
    html_close(j, ']');
}

static void put_notes(page *g) {
    html_open(&g->j, "notes", '[');
    if (g->missing) {
        char text[80];
        const int n = snprintf(text, sizeof text, "The bytes of %zu Params are missing.", g->missing);
        html_string(&g->j, NULL, (xir_str){ text, (size_t)n });
    }
    html_close(&g->j, ']');
}

/* Each set of rows as its size, and the columns of all rows. */
static void put_sets(page *g) {
    static const char *const columns[] = { "key", "text", "default" };
    const html_table *sets = &g->sets.sets;
    html_open(&g->j, "sets", '{');
    html_column(&g->j, "size");
    for (size_t i = 0; i < sets->n; i++) html_cell(&g->j, (int64_t)(sets->items[i].size / (3 * sizeof(uint32_t))));
    html_close(&g->j, ']');
    for (size_t c = 0; c < 3; c++) {
        html_column(&g->j, columns[c]);
        for (size_t i = 0; i < sets->n; i++) {
            for (size_t at = c * sizeof(uint32_t); at < sets->items[i].size; at += 3 * sizeof(uint32_t)) {
                uint32_t number;
                memcpy(&number, sets->items[i].data + at, sizeof number);
                html_cell(&g->j, number);
            }
        }
        html_close(&g->j, ']');
    }
    html_close(&g->j, '}');
}

/* The parts of a document that depend on its picture. */
static void put_picture(page *g) {
    put_ops(g);
    put_classes(g);
    put_values(g);
    put_groups(g);
    put_interiors(g);
    put_stubs(g);
    if (!html_heats(g->p, &g->j)) g->no_memory = true;
    put_stats(g);
    put_notes(g);
    put_sets(g);
}

static void put_strings(page *g) {
    html_open(&g->j, "strings", '[');
    for (size_t i = 0; i < g->strings.n; i++) html_string(&g->j, NULL, g->strings.items[i]);
    html_close(&g->j, ']');
}

/* The document of the other picture in that of the page. */
static void put_twin(page *g, page *twin) {
    twin->j = g->j;
    html_open(&twin->j, "twin", '{');
    put_picture(twin);
    put_strings(twin);
    html_close(&twin->j, '}');
    g->j = twin->j;
}

static void put_document(page *g, page *twin) {
    html_json *j = &g->j;
    html_open(j, NULL, '{');
    html_integer(j, "format", 1);
    html_string(j, "name", xir_network_name(g->p->net));
    html_integer(j, "depth", g->p->how.depth);
    html_integer(j, "sideways", g->p->how.left_to_right);
    put_about(g);
    put_picture(g);
    put_data(g);
    if (!html_diff(g->p, j, &g->strings)) g->no_memory = true;
    put_strings(g);
    if (twin) {
        html_integer(j, "constants", g->p->how.constants);
        put_twin(g, twin);
    }
    html_close(j, '}');
}

static page *page_new(const picture *p) {
    page *g = draw_new(p->alloc, 1, sizeof *g);
    if (!g) return NULL;
    g->p = p;
    g->strings.alloc = g->classes.alloc = g->pointers.alloc = g->sets.sets.alloc = p->alloc;
    g->sets.strings = &g->strings;
    text_number(g, XIR_STR(""));                                             /* string 0 and set 0 are empty */
    html_map(&g->sets, xir_network_context(p->net), NULL);
    find_values(g);
    return g;
}

static bool is_whole(const page *g) {
    return !g->no_memory && !g->strings.failed && !g->classes.failed && !g->pointers.failed && !g->sets.sets.failed;
}

static void page_free(page *g) {
    if (!g) return;
    const xir_allocator *alloc = g->p->alloc;
    draw_free(alloc, g->in);
    draw_free(alloc, g->others);
    draw_free(alloc, g->class_ops);
    html_sets_free(&g->sets);
    html_table_free(&g->pointers);
    html_table_free(&g->classes);
    html_table_free(&g->strings);
    draw_free(alloc, g);
}

/* The picture with the ops that depend on constants alone, if `p` leaves some out; or without them. *made is set if the
 * two differ; then the caller frees *q. */
static xir_status make_twin(const picture *p, picture *q, bool *made, xir_diags *why) {
    xir_draw_options how = p->how;
    how.constants = !how.constants;
    *made = false;
    if (p->how.diff || (!p->how.constants && !p->n_folded)) return XIR_OK;
    const xir_status status = picture_make(q, p->net, &how, why);
    if (status) return status;
    *made = p->n_folded || q->n_folded;
    if (!*made) picture_free(q);
    return XIR_OK;
}

xir_status draw_html(const picture *p, xir_write_fn *write, void *user, xir_diags *why) {
    picture other;
    bool two;
    xir_status status = make_twin(p, &other, &two, why);
    if (status) return status;
    page *g = page_new(p), *twin = two ? page_new(&other) : NULL;
    bool ok = g && is_whole(g) && (!two || (twin && is_whole(twin)));
    if (ok) {
        g->j.out.write = write;
        g->j.out.user = user;
        draw_put(&g->j.out, (const char *)draw_page_before, draw_page_before_size);
        put_document(g, twin);
        draw_put(&g->j.out, (const char *)draw_page_after, draw_page_after_size);
        ok = is_whole(g) && (!two || is_whole(twin));
    }
    status = ok ? draw_end(&g->j.out, why) : no_memory(why);
    page_free(twin);
    page_free(g);
    if (two) picture_free(&other);
    return status;
}

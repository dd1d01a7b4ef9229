/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A whole foreign format in a plug-in, written with the public headers alone: a text with one op in each line, read and
 * written. Its ops are a dialect of twelve operators, and rows convert them to XIR's and back.
 *
 *     lines 1
 *     input x 1,3,8,8
 *     params w 4,3,1,1 0.5 0.25 -1 …
 *     conv y x w stride=[2,2]
 *     relu z y
 *     output z
 *
 * After its op type a line has the name of its result, then operands and attributes: integers, lists of them, reals and
 * words. Elements are float32; images are NCHW, and kernels OIHW. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/xir.h>

static const char magic[] = "lines 1\n", prefix[] = "lines::";
enum { MAGIC = sizeof magic - 1, PREFIX = sizeof prefix - 1, MOST_WORDS = 16, MOST_ITEMS = 16, MOST_DIMS = 8,
       MOST_DIM = 9999999, MOST_NAME = 200, NUMBER = 40 };

/* ---- words ------------------------------------------------------------------------------------------------------ */

static bool is(xir_str word, const char *text) { return xir_str_equal(word, xir_str_of(text)); }

/* A name, a type or a value that a line can hold. */
static bool is_word(xir_str text) {
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] <= ' ' || text.data[i] == '=') return false;
    return text.size && text.size <= MOST_NAME;
}

static bool read_real(xir_str word, double *out) {
    char text[NUMBER + 1], *after;
    if (!word.size || word.size > NUMBER) return false;
    memcpy(text, word.data, word.size);
    text[word.size] = '\0';
    *out = strtod(text, &after);
    return !*after;
}

static xir_str print_int(char text[NUMBER], int64_t v) {
    return (xir_str){ text, (size_t)snprintf(text, NUMBER, "%lld", (long long)v) };
}

/* "1,3,8,8": at most `most` integers, each as it is printed. */
static bool read_ints(xir_str text, int64_t *v, size_t most, size_t *n) {
    for (*n = 0; *n < most; ++*n) {
        const char *comma = memchr(text.data, ',', text.size);
        const xir_str word = { text.data, comma ? (size_t)(comma - text.data) : text.size };
        char shown[NUMBER];
        double real;
        if (!read_real(word, &real) || !(real > -1e15 && real < 1e15)) return false;
        v[*n] = (int64_t)real;
        if (!xir_str_equal(print_int(shown, v[*n]), word)) return false;
        if (!comma) return ++*n, true;
        text = (xir_str){ comma + 1, text.size - word.size - 1 };
    }
    return false;
}

/* The value of an attribute, whose items are in `list`: "[2,2]", "2", "0.5", or otherwise a word. */
static xir_any read_value(xir_str text, xir_any list[MOST_ITEMS]) {
    int64_t v[MOST_ITEMS];
    double real;
    size_t n;
    const bool brackets = text.size > 2 && text.data[0] == '[' && text.data[text.size - 1] == ']';
    if (brackets && read_ints((xir_str){ text.data + 1, text.size - 2 }, v, MOST_ITEMS, &n)) {
        for (size_t i = 0; i < n; i++) list[i] = xir_any_int(v[i]);
        return xir_any_list(list, n);
    }
    if (read_ints(text, v, 1, &n)) return xir_any_int(v[0]);
    return read_real(text, &real) ? xir_any_real(real) : xir_any_text(text);
}

/* ---- names of values: open addressing --------------------------------------------------------------------------- */

typedef struct names {
    xir_value **slots;
    size_t      room, n;   /* room is a power of two */
} names;

static xir_value **slot_of(const names *t, xir_str name) {
    size_t hash = 5381;
    for (size_t i = 0; i < name.size; i++) hash = hash * 33 + (unsigned char)name.data[i];
    size_t i = hash & (t->room - 1);
    while (t->slots[i] && !xir_str_equal(xir_value_name(t->slots[i]), name)) i = (i + 1) & (t->room - 1);
    return &t->slots[i];
}

static xir_value *named(const names *t, xir_str name) { return t->room ? *slot_of(t, name) : NULL; }

static bool add_name(names *t, xir_value *value) {
    if (t->n * 2 >= t->room) {
        names more = { NULL, t->room ? t->room * 2 : 64, t->n };
        more.slots = calloc(more.room, sizeof *more.slots);
        if (!more.slots) return false;
        for (size_t i = 0; i < t->room; i++)
            if (t->slots[i]) *slot_of(&more, xir_value_name(t->slots[i])) = t->slots[i];
        free(t->slots);
        *t = more;
    }
    *slot_of(t, xir_value_name(value)) = value;
    t->n++;
    return true;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* The state of reading. After a failure `status` is set, and the finding is in how->why. */
typedef struct reader {
    const xir_format_reading *how;
    xir_network *net;
    xir_at       at;
    names        values;
    const char  *p, *end;
    xir_str      words[MOST_WORDS];   /* of the line                          */
    size_t       n;
    xir_str      rest;                /* of a line of Params: its numbers     */
    xir_status   status;
} reader;

static bool fail(reader *r, xir_str where, xir_status status, const char *what) {
    char text[MOST_NAME + 100];
    const int size = (int)(where.size < MOST_NAME ? where.size : MOST_NAME);
    snprintf(text, sizeof text, "%s%s%.*s%s", what, size ? " '" : "", size, where.data, size ? "'" : "");
    const xir_diag d = { .severity = XIR_ERROR, .code = status, .file = r->how->name, .message = xir_str_of(text),
                         .byte = (uint64_t)(where.data - (const char *)r->how->data) };
    r->status = xir_diags_append(r->how->why, &d);
    return false;
}
static bool wrong(reader *r, xir_str where, const char *what) { return fail(r, where, XIR_E_SYNTAX, what); }
static bool no_memory(reader *r) { return fail(r, (xir_str){ r->p, 0 }, XIR_E_MEMORY, "out of memory"); }

/* Takes the next word of [*p, end); empty at the end. */
static xir_str next_word(const char **p, const char *end) {
    while (*p < end && **p == ' ') ++*p;
    const char *from = *p;
    while (*p < end && **p != ' ') ++*p;
    return (xir_str){ from, (size_t)(*p - from) };
}

/* Splits the next line into words; false at the end of the text and after a failure. Empty lines have none. */
static bool next_line(reader *r) {
    const char *p = r->p, *end = p < r->end ? memchr(p, '\n', (size_t)(r->end - p)) : NULL;
    if (p == r->end) return false;
    if (!end) end = r->end;
    for (const char *c = p; c < end; c++)
        if ((unsigned char)*c < ' ') return wrong(r, (xir_str){ c, 0 }, "a control character in a line");
    for (r->n = 0; r->n < 3 || !is(r->words[0], "params"); r->n++) {
        const xir_str word = next_word(&p, end);
        if (!word.size) break;
        if (r->n == MOST_WORDS) return fail(r, (xir_str){ word.data, 0 }, XIR_E_LIMIT, "a line has more than 16 words");
        r->words[r->n] = word;
    }
    r->rest = (xir_str){ p, (size_t)(end - p) };
    r->p = end < r->end ? end + 1 : end;
    return true;
}

static bool is_new(reader *r, xir_str name) {
    if (!is_word(name)) return wrong(r, name, "expected a name of at most 200 bytes, found");
    return !named(&r->values, name) || fail(r, name, XIR_E_EXISTS, "there is already a value");
}

static bool define(reader *r, xir_value *value, xir_str name) {
    return (value && !xir_value_set_name(value, name) && add_name(&r->values, value)) || no_memory(r);
}

static xir_value *use(reader *r, xir_str name) {
    xir_value *value = named(&r->values, name);
    if (!value) fail(r, name, XIR_E_UNKNOWN, "no earlier line makes");
    return value;
}

static const xir_type *read_type(reader *r, xir_str text) {
    int64_t dims[MOST_DIMS];
    size_t rank;
    bool fits = read_ints(text, dims, MOST_DIMS, &rank);
    for (size_t i = 0; i < rank && fits; i++) fits = dims[i] >= 0 && dims[i] <= MOST_DIM;
    if (!fits) return wrong(r, text, "expected up to 8 dims below 10000000 with commas between them, found"), NULL;
    const xir_type *type = xir_type_tensor(r->how->ctx, xir_type_float(r->how->ctx, XIR_FLOAT_FP32), NULL, dims, rank);
    if (!type) fail(r, text, XIR_E_LIMIT, "there is no tensor of the dims");
    return type;
}

static bool read_input(reader *r) {
    if (r->n != 3) return wrong(r, r->words[0], "expected a name and dims after");
    if (r->values.n) return wrong(r, r->words[0], "there is one input, on the first line; found another");
    const xir_type *type = read_type(r, r->words[2]);
    return type && is_new(r, r->words[1]) && define(r, xir_input(r->at, "input", type), r->words[1]);
}

/* Params with as many numbers as the dims say, or with none: then they have no bytes. */
static bool read_params(reader *r) {
    if (r->n != 3) return wrong(r, r->words[0], "expected a name, dims and numbers after");
    const xir_type *type = read_type(r, r->words[2]);
    uint64_t size, n = 0;
    if (!type || !is_new(r, r->words[1])) return false;
    if (!r->rest.size || r->how->flags & XIR_READ_NO_PARAMS)
        return define(r, xir_params_new(r->net, r->words[1], type), r->words[1]);
    /* A number takes two bytes of the text, so a small file cannot ask for much memory. */
    const bool few = xir_type_bytes(type, &size) || size / sizeof(float) > r->rest.size / 2;
    if (few) return wrong(r, r->words[2], "there are fewer numbers than the dims");
    const uint64_t expected = size / sizeof(float);
    float *v = malloc(size + 1);
    const char *p = r->rest.data, *end = p + r->rest.size;
    if (!v) return no_memory(r);
    for (xir_str word; (word = next_word(&p, end)).size && !r->status; n++) {
        double number = 0;
        if (n == expected) wrong(r, word, "there are more numbers than the dims say:");
        else if (!read_real(word, &number)) wrong(r, word, "expected a number, found");
        else v[n] = (float)number;
    }
    if (!r->status && n < expected) wrong(r, r->words[2], "there are fewer numbers than the dims");
    if (!r->status) define(r, xir_params_copy(r->net, r->words[1], type, v, size), r->words[1]);
    free(v);
    return !r->status;
}

static bool read_output(reader *r) {
    xir_value *results[MOST_WORDS];
    for (size_t i = 1; i < r->n; i++)
        if (!(results[i] = use(r, r->words[i]))) return false;
    return xir_output(r->at, (xir_values){ results + 1, r->n - 1 }) || no_memory(r);
}

/* "by=0.5" */
static bool read_attribute(reader *r, xir_op *op, xir_str word, size_t equals) {
    const xir_str key = { word.data, equals }, text = { word.data + equals + 1, word.size - equals - 1 };
    xir_any list[MOST_ITEMS];
    if (!is_word(key) || !is_word(text)) return wrong(r, word, "expected an attribute, found");
    const xir_any value = read_value(text, list);
    return !xir_op_set_extra(op, key, &value) || no_memory(r);
}

static bool read_op(reader *r) {
    char key[MOST_NAME + PREFIX + 1];
    xir_value *inputs[MOST_WORDS];
    size_t n = 0, equals[MOST_WORDS] = { 0 };
    if (r->n < 2) return wrong(r, r->words[0], "expected a name after");
    if (!is_word(r->words[0])) return wrong(r, r->words[0], "expected an op type, found");
    if (!is_new(r, r->words[1])) return false;
    for (size_t i = 2; i < r->n; i++) {
        const char *sign = memchr(r->words[i].data, '=', r->words[i].size);
        if (sign) equals[i] = (size_t)(sign - r->words[i].data);
        if (!sign && !(inputs[n++] = use(r, r->words[i]))) return false;
        if (sign && !equals[i]) return wrong(r, r->words[i], "expected an attribute, found");
    }
    int size = snprintf(key, sizeof key, "%s%.*s", prefix, (int)r->words[0].size, r->words[0].data);
    const xir_class *cls = xir_class_opaque(r->how->ctx, (xir_str){ key, (size_t)size });
    const xir_type *unknown = NULL;
    xir_op *op = xir_network_add(r->net,
                                 &XIR_INIT(xir_op_desc, .cls = cls, .inputs = inputs, .n_inputs = n, .types = &unknown,
                                           .n_types = 1, .name = r->words[1], .id = XIR_NO_ID));
    if (!op) return fail(r, r->words[0], xir_network_status(r->net), "there is no op");
    for (size_t i = 2; i < r->n; i++)
        if (equals[i] && !read_attribute(r, op, r->words[i], equals[i])) return false;
    return define(r, xir_op_output(op, 0), r->words[1]);
}

static bool read_line(reader *r) {
    if (xir_network_output_op(r->net)) return wrong(r, r->words[0], "a line follows the outputs:");
    if (is(r->words[0], "input")) return read_input(r);
    if (!r->values.n) return wrong(r, r->words[0], "expected the input, found");
    if (is(r->words[0], "params")) return read_params(r);
    return is(r->words[0], "output") ? read_output(r) : read_op(r);
}

static xir_network *read_lines(const xir_format_reading *how) {
    reader r = { .how = how, .net = xir_network_new(how->ctx, "", XIR_FRAMEWORK_PYTORCH, ""), .p = how->data };
    const xir_str begin = { r.p, 0 };
    r.end = r.p + how->data_size;
    if (!r.net || xir_network_set_text(r.net, XIR_TEXT_FRAMEWORK, XIR_STR("LINES"))) no_memory(&r);
    else if (how->data_size < MAGIC || memcmp(how->data, magic, MAGIC) != 0)
        wrong(&r, begin, "the first line is not 'lines 1'");
    else {
        r.at = xir_at_end(r.net);
        r.p += MAGIC;
    }
    while (!r.status && next_line(&r))
        if (r.n) read_line(&r);
    if (!r.status && !xir_network_output_op(r.net))
        wrong(&r, (xir_str){ r.end, 0 }, "the line of the outputs is missing");
    free(r.values.slots);
    if (!r.status) return r.net;
    xir_network_free(r.net);
    return NULL;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* After a failure nothing is written, and the finding is in how->why. */
typedef struct writer {
    const xir_format_writing *how;
    const xir_type *fp32;
    names           values;   /* those of the lines so far */
    xir_status      status;
} writer;

static void put(writer *w, xir_str text) {
    if (!w->status && !w->how->write(w->how->user, text.data, text.size)) w->status = XIR_E_IO;
}
static void put_text(writer *w, const char *text) { put(w, xir_str_of(text)); }

static void refuse(writer *w, xir_status status, xir_str name, const char *what) {
    char text[MOST_NAME + 100];
    snprintf(text, sizeof text, "%s: '%.*s'", what, (int)(name.size < MOST_NAME ? name.size : MOST_NAME), name.data);
    const xir_diag d = { .severity = XIR_ERROR, .code = status, .byte = XIR_NO_BYTE, .message = xir_str_of(text),
                         .file = xir_str_of(w->how->path) };
    if (!w->status) w->status = xir_diags_append(w->how->why, &d);
}
static void cannot(writer *w, xir_str name, const char *what) { refuse(w, XIR_E_UNSUPPORTED, name, what); }

/* The name of the value that a line makes. */
static void put_name(writer *w, xir_value *v) {
    const xir_str name = xir_value_name(v);
    if (!is_word(name) || named(&w->values, name)) cannot(w, name, "a value has no unique name for a line");
    else if (!add_name(&w->values, v)) refuse(w, XIR_E_MEMORY, name, "out of memory");
    put_text(w, " ");
    put(w, name);
}

static void put_dims(writer *w, const xir_value *v) {
    const xir_type *type = xir_value_type(v);
    const size_t rank = xir_type_rank(type);
    if (!rank || rank > MOST_DIMS || !xir_type_equal(xir_type_element(type), w->fp32))
        cannot(w, xir_value_name(v), "a tensor is not of float32 with 1 to 8 dims");
    for (size_t i = 0; i < rank; i++) {
        char text[NUMBER];
        const int64_t dim = xir_type_dim(type, (int64_t)i, false);
        if (dim < 0 || dim > MOST_DIM) cannot(w, xir_value_name(v), "a dim is unknown, or 10000000 or more");
        put_text(w, i ? "," : " ");
        put(w, print_int(text, dim));
    }
}

static void put_params(writer *w, xir_value *v) {
    uint64_t size = 0;
    put_text(w, "params");
    put_name(w, v);
    put_dims(w, v);
    const char *data = w->how->flags & XIR_WRITE_NO_PARAMS ? NULL : xir_params_data(v, &size);
    for (uint64_t i = 0; data && i + sizeof(float) <= size && !w->status; i += sizeof(float)) {
        float number;
        char text[NUMBER];
        memcpy(&number, data + i, sizeof number);
        snprintf(text, sizeof text, " %.9g", (double)number);
        put_text(w, text);
    }
    put_text(w, "\n");
}

static void put_attribute(writer *w, xir_str key, const xir_any *value) {
    const bool list = value->kind == XIR_ANY_LIST;
    const size_t n = list ? value->as.list.size : 1;
    bool fits = is_word(key) && n && n <= MOST_ITEMS;
    put_text(w, " ");
    put(w, key);
    for (size_t i = 0; i < n && fits; i++) {
        const xir_any *item = list ? &value->as.list.items[i] : value;
        xir_any items[MOST_ITEMS];
        char number[NUMBER];
        xir_str text = { number, 0 };
        if (item->kind == XIR_ANY_INT) text = print_int(number, item->as.integer);
        else if (item->kind == XIR_ANY_REAL) text.size = (size_t)snprintf(number, NUMBER, "%.17g", item->as.real);
        else if (item->kind == XIR_ANY_TEXT) text = item->as.text;
        const xir_any_kind kind = read_value(text, items).kind;   /* a real that is whole reads as an integer */
        fits = is_word(text) && (kind == item->kind || item->kind == XIR_ANY_REAL) && (!list || kind == XIR_ANY_INT);
        put_text(w, i ? "," : list ? "=[" : "=");
        put(w, text);
    }
    if (list) put_text(w, "]");
    if (!fits) cannot(w, key, "a line cannot hold the attribute");
}

static void put_op(writer *w, xir_op *op) {
    const xir_network *net = xir_op_network(op);
    const xir_str key = xir_class_key(xir_op_class(op));
    const bool input = op == xir_network_input_op(net), output = op == xir_network_output_op(net);
    const bool end = input || output;
    const xir_map *map = end ? NULL : xir_op_extra(op);
    const size_t n = xir_op_input_count(op), n_map = map ? map->size : 0;
    if (!end && (!is_word(key) || key.size <= PREFIX || memcmp(key.data, prefix, PREFIX) != 0))
        cannot(w, xir_op_name(op), "only ops of the dialect can be written");
    if ((!output && xir_op_output_count(op) != 1) || n + n_map + 2 > MOST_WORDS)
        cannot(w, xir_op_name(op), "an op has several results, or more than 16 words");
    for (size_t i = 0; i < n && !w->status; i++) {
        xir_value *v = xir_op_input(op, (int64_t)i);
        const bool made = v && named(&w->values, xir_value_name(v)) == v;
        if (!made && v && xir_value_is_params(v)) put_params(w, v);
        else if (!made) cannot(w, xir_op_name(op), "an operand is absent, or no line makes it");
    }
    put(w, input ? XIR_STR("input") : output ? XIR_STR("output") : (xir_str){ key.data + PREFIX, key.size - PREFIX });
    if (!output && !w->status) put_name(w, xir_op_output(op, 0));
    if (input && !w->status) put_dims(w, xir_op_output(op, 0));
    for (size_t i = 0; i < n && !w->status; i++) {
        put_text(w, " ");
        put(w, xir_value_name(xir_op_input(op, (int64_t)i)));
    }
    for (size_t i = 0; i < n_map && !w->status; i++) put_attribute(w, map->entries[i].key, &map->entries[i].value);
    put_text(w, "\n");
}

static xir_status write_lines(xir_network *net, const xir_format_writing *how) {
    writer w = { .how = how, .fp32 = xir_type_float(xir_network_context(net), XIR_FLOAT_FP32) };
    put(&w, (xir_str){ magic, MAGIC });
    for (xir_op *op = xir_network_first(net); op && !w.status; op = xir_op_next(op)) put_op(&w, op);
    free(w.values.slots);
    return w.status;
}

/* ---- the format ------------------------------------------------------------------------------------------------- */

static xir_probe_grade probe(const xir_probe *file, void *user) {
    (void)user;
    size_t n = file->head_size < MAGIC ? file->head_size : MAGIC;
    if (memcmp(file->head, magic, n) != 0) return XIR_PROBE_NO;
    return n == MAGIC ? XIR_PROBE_YES : XIR_PROBE_MAYBE;
}

static const xir_format_decl format = {
    XIR_FORMAT_HEAD("lines", "an op a line"), .suffixes = "lines", .traits = XIR_FORMAT_TEXT | XIR_FORMAT_DIALECT,
    .probe = probe, .read = read_lines, .write = write_lines,
};

/* ---- the dialect ------------------------------------------------------------------------------------------------ */

static bool scale(xir_node *at) {
    return xir_node_result(at, 0, xir_node_scaled(at, xir_node_input(at, 0), xir_node_real(at, "by", 1)));
}
static bool scale_back(xir_node *at) {
    const double *by;
    size_t n;
    if (!xir_node_is_constant(at, 1)) return xir_node_unsupported(at, "a product of two computed tensors");
    if (!xir_node_reals(at, 1, &by, &n) || n != 1) return xir_node_unsupported(at, "several factors");
    return xir_node_becomes_foreign(at, XIR_VALUES(xir_node_input(at, 0)), XIR_SETS(XIR_SETR("by", *by)));
}

static bool transpose(xir_node *at) {
    xir_ints order;
    xir_value *x = xir_node_input(at, 0);
    const size_t rank = xir_node_dims(at, x).n;
    if (!x || !xir_node_items(at, "order", &order)) return false;
    if (order.n != rank)
        return xir_node_invalid(at, XIR_E_INVALID, "attribute/order", "expected %zu axes, found %zu", rank, order.n);
    return xir_node_result(at, 0, xir_node_transposed(at, x, order.v, rank, NULL));
}
static bool transpose_back(xir_node *at) {
    xir_ints order;
    if (!xir_node_items(at, "dims", &order)) return xir_node_unsupported(at, "an order that is not known");
    return xir_node_becomes_foreign(at, XIR_VALUES(xir_node_input(at, 0)), XIR_SETS(XIR_SETL("order", &order)));
}

/* After the way back each value has a name of its own, since a line needs one. */
static xir_status finish(xir_network *net, bool *changed) {
    names taken = { NULL, 0, 0 };
    size_t next = 0;
    xir_status status = XIR_OK;
    for (xir_op *op = xir_network_first(net); op && !status; op = xir_op_next(op)) {
        const size_t n_in = xir_op_input_count(op), n = n_in + xir_op_output_count(op);
        for (size_t i = 0; i < n && !status; i++) {
            xir_value *v = i < n_in ? xir_op_input(op, (int64_t)i) : xir_op_output(op, (int64_t)(i - n_in));
            char text[NUMBER];
            if (!v || named(&taken, xir_value_name(v)) == v) continue;
            for (xir_str name = xir_value_name(v); !status && (!is_word(name) || named(&taken, name));) {
                name = (xir_str){ text, (size_t)snprintf(text, sizeof text, "v%zu", next++) };
                if (!named(&taken, name)) status = xir_value_set_name(v, name);
                *changed = true;
            }
            if (!status && !add_name(&taken, v)) status = XIR_E_MEMORY;
        }
    }
    free(taken.slots);
    return status;
}

#define STEPS  "stride_height=stride[0] stride_width=stride[1]"
#define PADS   " pad_top=pad[0] pad_left=pad[1] pad_bottom=pad[2] pad_right=pad[3]"
#define SIZE   " pool_height=size[0] pool_width=size[1]"
#define SPREAD " dilation_height=dilation[0] dilation_width=dilation[1]"
#define MODES  " interpolation=mode{nearest:INTER_NEAREST,linear:INTER_LINEAR}"
#define ROW(name_, inputs_, attributes_, cls_, ...) \
    { XIR_CONVERT_HEAD, .name = "lines::" name_, .inputs = inputs_, .outputs = "1", .attributes = attributes_, \
      .cls = cls_, __VA_ARGS__ }
static const xir_convert_row rows[] = {
    ROW("relu",      "1",        "",                        "ReLU",      NULL),
    ROW("sigmoid",   "1",        "",                        "Sigmoid",   NULL),
    ROW("add",       "2",        "",                        "Add",       NULL),
    ROW("concat",    "1-",       "axis:i!",                 "Concat",    "axis=axis"),
    ROW("maxpool",   "1 x:NCHW", "size:I! stride:I pad:I",  "MaxPool2d", STEPS PADS SIZE),
    ROW("avgpool",   "1 x:NCHW", "size:I! stride:I pad:I",  "AvgPool2d", STEPS PADS SIZE),
    ROW("norm",      "1",        "axes:I! eps:fi",          "LayerNorm", "axis=axes eps=eps"),
    ROW("resize",    "1 x:NCHW", "size:I! mode:s",          "Resize",    "dsize=size" MODES),
    ROW("pad",       "1",        "by:I!",                   "Pad",       "padding=by"),
    ROW("scale",     "1",        "by:fi!",                  "Multiply",  NULL, scale, "Multiply", scale_back),
    ROW("transpose", "1",        "order:I!",                "Transpose", NULL, transpose, "Transpose", transpose_back),
    ROW("conv",      "2-3 x:NCHW weight:OIHW bias", "stride:I pad:I dilation:I groups:i", "Conv2d",
        STEPS PADS SPREAD " groups=groups"),
};

static const xir_dialect_decl dialect;
static const xir_pass_decl back = XIR_DIALECT_PASS("xir-to-lines", "ops of XIR become those of lines", &dialect);
static const xir_dialect_decl dialect = {
    XIR_DIALECT_HEAD("lines::", "lines"), .pass = "lines-to-xir", .rows = rows, .n_rows = sizeof rows / sizeof *rows,
    .operators = "set of words", .back = &back, .before_back = "layout{to=nchw}", .finish = finish,
    .lacks = XIR_LACKS_OP_NAMES,
};

static const xir_format_decl *const formats[] = { &format };
static const xir_dialect_decl *const dialects[] = { &dialect };

const xir_plugin *xir_plugin_entry(void) {
    static const xir_plugin plugin = {
        XIR_PLUGIN_HEAD("lines"), .formats = formats, .n_formats = 1, .dialects = dialects, .n_dialects = 1,
    };
    return &plugin;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A foreign format in a plug-in, written with the public headers alone: a text with one op in each line, read and
 * written. Its ops are a dialect, and rows convert them to XIR.
 *
 *     lines 1
 *     input x 1,4,4,3
 *     scale y x by=0.5
 *     relu z y
 *     add w z x
 *     output w
 *
 * After its op type a line has the name of its result, then operands and attributes. Elements are float32. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/xir.h>

static const char magic[] = "lines 1\n";
enum { MAGIC = sizeof magic - 1, MOST_WORDS = 16, MOST_DIMS = 8, MOST_NAME = 200 };

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

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* The state of reading. After a failure `status` is set, and the finding is in how->why. */
typedef struct reader {
    const xir_format_reading *how;
    xir_network *net;
    xir_at       at;
    names        values;
    const char  *p, *end;
    xir_str      words[MOST_WORDS];   /* of the line */
    size_t       n;
    xir_status   status;
} reader;

static bool fail(reader *r, const char *where, xir_status status, const char *what, xir_str shown) {
    char text[MOST_NAME + 100];
    snprintf(text, sizeof text, "%s%s%.*s%s", what, shown.size ? " '" : "",
             (int)(shown.size < MOST_NAME ? shown.size : MOST_NAME),
             shown.size ? shown.data : "", shown.size ? "'" : "");
    const char *data = r->how->data;
    r->status = xir_diags_append(r->how->why, &(xir_diag){ .severity = XIR_ERROR, .code = status, .file = r->how->name,
                                                        .byte = (uint64_t)(where - data),
                                                        .message = xir_str_of(text) });
    return false;
}

/* Splits the next line into words; false at the end of the text and after a failure. Empty lines have none. */
static bool next_line(reader *r) {
    const char *p = r->p;
    if (p == r->end) return false;
    for (r->n = 0; p < r->end && *p != '\n'; ) {
        if (*p == ' ') { p++; continue; }
        xir_str word = { p, 0 };
        while (p < r->end && *p != ' ' && *p != '\n') {
            if ((unsigned char)*p < ' ') return fail(r, p, XIR_E_SYNTAX, "a control character in a line", XIR_STR(""));
            p++;
        }
        word.size = (size_t)(p - word.data);
        if (r->n == MOST_WORDS) return fail(r, word.data, XIR_E_LIMIT, "a line has more than 16 words", XIR_STR(""));
        if (word.size > MOST_NAME)
            return fail(r, word.data, XIR_E_LIMIT, "a word has more than 200 bytes", XIR_STR(""));
        r->words[r->n++] = word;
    }
    r->p = p < r->end ? p + 1 : p;
    return true;
}

static bool is(xir_str word, const char *text) { return xir_str_equal(word, xir_str_of(text)); }

static bool define(reader *r, xir_value *value, xir_str name) {
    if (!value || xir_value_set_name(value, name) || !add_name(&r->values, value)) {
        return fail(r, name.data, XIR_E_MEMORY, "out of memory", XIR_STR(""));
    }
    return true;
}

/* Whether a line may define this name. */
static bool is_new(reader *r, xir_str name) {
    return !r->values.room || !*slot_of(&r->values, name) ||
           fail(r, name.data, XIR_E_EXISTS, "there is already a value", name);
}

static xir_value *use(reader *r, xir_str name) {
    xir_value *value = r->values.room ? *slot_of(&r->values, name) : NULL;
    if (!value) fail(r, name.data, XIR_E_UNKNOWN, "no earlier line makes", name);
    return value;
}

/* "1,4,4,3" */
static bool read_dims(reader *r, xir_str text, int64_t *dims, size_t *rank) {
    size_t i = 0;
    for (*rank = 0; i < text.size; ++*rank) {
        int64_t v = 0;
        size_t digits = i;
        while (i < text.size && text.data[i] >= '0' && text.data[i] <= '9' && v < 1000000)
            v = v * 10 + (text.data[i++] - '0');
        bool ends = i == text.size || (text.data[i] == ',' && i + 1 < text.size);
        if (i == digits || !ends || *rank == MOST_DIMS) {
            return fail(r, text.data + i, XIR_E_SYNTAX,
                        "expected up to 8 dims below 10000000 with commas between them, found", text);
        }
        dims[*rank] = v;
        i++;
    }
    return true;
}

static bool read_input(reader *r) {
    int64_t dims[MOST_DIMS];
    size_t rank;
    if (r->n != 3) return fail(r, r->words[0].data, XIR_E_SYNTAX, "an input has a name and dims", XIR_STR(""));
    if (xir_network_op_count(r->net))
        return fail(r, r->words[0].data, XIR_E_SYNTAX, "there is one input, on the first line", XIR_STR(""));
    if (!read_dims(r, r->words[2], dims, &rank)) return false;
    const xir_type *type = xir_type_tensor(r->how->ctx, xir_type_float(r->how->ctx, XIR_FLOAT_FP32), NULL, dims, rank);
    return define(r, xir_input(r->at, "input", type), r->words[1]);
}

static bool read_output(reader *r) {
    xir_value *results[MOST_WORDS];
    for (size_t i = 1; i < r->n; i++)
        if (!(results[i] = use(r, r->words[i]))) return false;
    return xir_output(r->at, (xir_values){ results + 1, r->n - 1 }) ||
           fail(r, r->words[0].data, XIR_E_MEMORY, "out of memory", XIR_STR(""));
}

/* "by=0.5": a real if the value is a number, otherwise a text. */
static bool read_attribute(reader *r, xir_op *op, xir_str word, size_t equals) {
    char number[MOST_NAME + 1], *after;
    xir_str key = { word.data, equals }, text = { word.data + equals + 1, word.size - equals - 1 };
    memcpy(number, text.data, text.size);
    number[text.size] = '\0';
    double real = strtod(number, &after);
    xir_any value = text.size && !*after ? xir_any_real(real) : xir_any_text(text);
    return !xir_op_set_extra(op, key, &value) || fail(r, word.data, XIR_E_MEMORY, "out of memory", XIR_STR(""));
}

static bool read_op(reader *r) {
    char key[MOST_NAME + 20];
    xir_value *inputs[MOST_WORDS];
    size_t n = 0, equals[MOST_WORDS] = { 0 };
    if (r->n < 2) return fail(r, r->words[0].data, XIR_E_SYNTAX, "expected a name after", r->words[0]);
    if (!is_new(r, r->words[1])) return false;
    for (size_t i = 2; i < r->n; i++) {
        const char *sign = memchr(r->words[i].data, '=', r->words[i].size);
        if (sign) equals[i] = (size_t)(sign - r->words[i].data);
        else if (!(inputs[n++] = use(r, r->words[i]))) return false;
    }
    int size = snprintf(key, sizeof key, "lines::%.*s", (int)r->words[0].size, r->words[0].data);
    const xir_class *cls = xir_class_opaque(r->how->ctx, (xir_str){ key, (size_t)size });
    const xir_type *unknown = NULL;
    xir_op *op = xir_network_add(r->net,
                                 &XIR_INIT(xir_op_desc, .cls = cls, .inputs = inputs, .n_inputs = n, .types = &unknown,
                                           .n_types = 1, .name = r->words[1], .id = XIR_NO_ID));
    if (!op) return fail(r, r->words[0].data, xir_network_status(r->net), "this line makes no op", XIR_STR(""));
    for (size_t i = 2; i < r->n; i++)
        if (equals[i] && !read_attribute(r, op, r->words[i], equals[i])) return false;
    return define(r, xir_op_output(op, 0), r->words[1]);
}

static xir_network *read_lines(const xir_format_reading *how) {
    reader r = { .how = how, .net = xir_network_new(how->ctx, "", XIR_FRAMEWORK_PYTORCH, ""), .p = how->data };
    r.end = r.p + how->data_size;
    if (!r.net || xir_network_set_text(r.net, XIR_TEXT_FRAMEWORK, XIR_STR("LINES"))) {
        fail(&r, r.p, XIR_E_MEMORY, "out of memory", XIR_STR(""));
        xir_network_free(r.net);
        return NULL;
    }
    r.at = xir_at_end(r.net);
    if (how->data_size < MAGIC || memcmp(how->data, magic, MAGIC) != 0)
        fail(&r, r.p, XIR_E_SYNTAX, "the first line is not 'lines 1'", XIR_STR(""));
    else r.p += MAGIC;
    while (!r.status && next_line(&r)) {
        if (!r.n) continue;
        if (xir_network_output_op(r.net))
            fail(&r, r.words[0].data, XIR_E_SYNTAX, "a line follows the outputs", XIR_STR(""));
        else if (is(r.words[0], "input")) read_input(&r);
        else if (!r.values.n) fail(&r, r.words[0].data, XIR_E_SYNTAX, "expected the input, found", r.words[0]);
        else if (is(r.words[0], "output")) read_output(&r);
        else read_op(&r);
    }
    if (!r.status && !xir_network_output_op(r.net))
        fail(&r, r.end, XIR_E_SYNTAX, "the line of the outputs is missing", XIR_STR(""));
    free(r.values.slots);
    if (!r.status) return r.net;
    xir_network_free(r.net);
    return NULL;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

typedef struct writer {
    const xir_format_writing *how;
    xir_status status;
} writer;

static void put(writer *w, xir_str text) {
    if (!w->status && !w->how->write(w->how->user, text.data, text.size)) w->status = XIR_E_IO;
}

static xir_status refuse(writer *w, const xir_op *op, const char *what) {
    char text[300];
    xir_str name = xir_op_name(op);
    snprintf(text, sizeof text, "%s: '%.*s'", what, (int)(name.size < MOST_NAME ? name.size : MOST_NAME), name.data);
    return w->status = xir_diags_append(w->how->why, &(xir_diag){ .severity = XIR_ERROR, .code = XIR_E_UNSUPPORTED,
                                                                  .byte = XIR_NO_BYTE,
                                                               .file = xir_str_of(w->how->path),
                                                               .message = xir_str_of(text) });
}

static void put_operands(writer *w, const xir_op *op) {
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        put(w, XIR_STR(" "));
        put(w, xir_value_name(xir_op_input(op, (int64_t)i)));
    }
}

static void put_attributes(writer *w, const xir_op *op) {
    const xir_map *map = xir_op_extra(op);
    for (size_t i = 0; map && i < map->size; i++) {
        const xir_any *value = &map->entries[i].value;
        char number[40];
        if (value->kind == XIR_ANY_REAL) snprintf(number, sizeof number, "%.17g", value->as.real);
        put(w, XIR_STR(" "));
        put(w, map->entries[i].key);
        put(w, XIR_STR("="));
        if (value->kind == XIR_ANY_REAL) put(w, xir_str_of(number));
        else if (value->kind == XIR_ANY_TEXT) put(w, value->as.text);
        else refuse(w, op, "an attribute is neither a real nor a text");
    }
}

static void put_op(writer *w, const xir_op *op) {
    xir_str key = xir_class_key(xir_op_class(op));
    const xir_value *result = xir_op_output(op, 0);
    if (op == xir_network_input_op(xir_op_network(op))) {
        const xir_type *type = xir_value_type(result);
        put(w, XIR_STR("input "));
        put(w, xir_value_name(result));
        for (size_t i = 0; i < xir_type_rank(type); i++) {
            char dim[40];
            snprintf(dim, sizeof dim, "%s%lld", i ? "," : " ", (long long)xir_type_dim(type, (int64_t)i, false));
            put(w, xir_str_of(dim));
        }
    } else if (op == xir_network_output_op(xir_op_network(op))) {
        put(w, XIR_STR("output"));
        put_operands(w, op);
    } else if (key.size > 7 && memcmp(key.data, "lines::", 7) == 0) {
        put(w, (xir_str){ key.data + 7, key.size - 7 });
        put(w, XIR_STR(" "));
        put(w, xir_value_name(result));
        put_operands(w, op);
        put_attributes(w, op);
    } else {
        refuse(w, op, "only ops of the dialect can be written");
        return;
    }
    put(w, XIR_STR("\n"));
}

static xir_status write_lines(xir_network *net, const xir_format_writing *how) {
    writer w = { how, XIR_OK };
    put(&w, (xir_str){ magic, MAGIC });
    for (const xir_op *op = xir_network_first(net); op && !w.status; op = xir_op_next(op)) put_op(&w, op);
    return w.status;
}

/* ---- the description --------------------------------------------------------------------------------------------- */

static xir_probe_grade probe(const xir_probe *file, void *user) {
    (void)user;
    size_t n = file->head_size < MAGIC ? file->head_size : MAGIC;
    if (memcmp(file->head, magic, n) != 0) return XIR_PROBE_NO;
    return n == MAGIC ? XIR_PROBE_YES : XIR_PROBE_MAYBE;
}

static const xir_format_decl format = {
    XIR_FORMAT_HEAD("lines", "an op a line"), .suffixes = "lines", .traits = XIR_FORMAT_TEXT,
    .probe = probe, .read = read_lines, .write = write_lines,
};

static bool scale(xir_node *at) {
    return xir_node_result(at, 0, xir_node_scaled(at, xir_node_input(at, 0), xir_node_real(at, "by", 1)));
}

static const xir_convert_row rows[] = {
    { XIR_CONVERT_HEAD, .name = "lines::relu",  .inputs = "1", .outputs = "1", .cls = "Relu" },
    { XIR_CONVERT_HEAD, .name = "lines::add",   .inputs = "2", .outputs = "1", .cls = "Add" },
    { XIR_CONVERT_HEAD, .name = "lines::scale", .inputs = "1", .outputs = "1", .attributes = "by:f!", .cls = "Multiply", .hook = scale },
};

static const xir_dialect_decl dialect = {
    XIR_DIALECT_HEAD("lines::", "lines"), .pass = "lines-to-xir", .rows = rows, .n_rows = sizeof rows / sizeof *rows,
    .operators = "set of words",
};

static const xir_format_decl *const formats[] = { &format };
static const xir_dialect_decl *const dialects[] = { &dialect };

const xir_plugin *xir_plugin_entry(void) {
    static const xir_plugin plugin = {
        XIR_PLUGIN_HEAD("lines"), .formats = formats, .n_formats = 1, .dialects = dialects, .n_dialects = 1,
    };
    return &plugin;
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A whole text: two lines of numbers, then a line for each operator. The counts of the second line are not trusted:
 * there are files with wrong ones. Inputs are made first, wherever their lines are, so that the network has one op of
 * all inputs at its beginning. */
#include "pnnx/pnnx.h"
#include "number.h"
#include "task.h"
#include "utf8.h"

/* ---- lines ----------------------------------------------------------------------------------------------------- */

bool pnnx_next_line(pnnx_text *text, xir_str *line) {
    while (text->p < text->end) {
        const char *start = text->p, *feed = memchr(start, '\n', (size_t)(text->end - start));
        const char *end = feed ? feed : text->end;
        text->p = feed ? feed + 1 : end;
        for (const char *p = start; p < end; p++) {
            if (pnnx_is_blank(*p)) continue;
            if (*p == '#') {
                text->comments = true;
                break;
            }
            *line = (xir_str){ start, (size_t)(end - start) };
            return true;
        }
    }
    return false;
}

/* Most numbers of operands are one digit. */
static bool take_digit(pnnx_text *line, int64_t *out) {
    const char *p = pnnx_skip_blanks(line->p, line->end);
    bool digit = line->end - p >= 2 && is_digit(p[0]) && p[1] == ' ';
    if (!digit) return false;
    *out = p[0] - '0';
    line->p = p + 1;
    return true;
}

/* A number of operands; a line cannot have more of them than bytes. */
static bool read_count(pnnx_reader *r, pnnx_text *line, const char *what, int64_t *out) {
    if (take_digit(line, out)) return true;
    xir_str word;
    int32_t v = 0;
    if (!pnnx_next_word(line, &word))
        return PNNX_FAIL(r, line->end, XIR_E_SYNTAX, "expected the number of %s, found the end of the line", what);
    size_t n = pnnx_scalar_kind(word) == XIR_PNNX_INT ? pnnx_take_int(word, &v) : word.size + 1;
    if (!n)
        return PNNX_FAIL(r, word.data, XIR_E_BOUNDS, "the number of %s, '%.*s', does not fit into 32 bits", what,
                         CLIP(word));
    if (n != word.size)
        return PNNX_FAIL(r, word.data, XIR_E_SYNTAX, "expected the number of %s, found '%.*s'", what, CLIP(word));
    if (v < 0) return PNNX_FAIL(r, word.data, XIR_E_BOUNDS, "the number of %s is %d", what, (int)v);
    *out = v;
    return true;
}

static bool is_input(xir_str type) {
    return xir_str_equal(type, XIR_STR("pnnx.Input")) || xir_str_equal(type, XIR_STR("Input"));
}
static bool is_output(xir_str type) {
    return xir_str_equal(type, XIR_STR("pnnx.Output")) || xir_str_equal(type, XIR_STR("Output"));
}

bool pnnx_read_head(pnnx_reader *r, xir_str line, pnnx_head *out) {
    int64_t n_in, n_out;
    *out = (pnnx_head){ .rest = { line.data, line.data + line.size } };
    (void)pnnx_next_word(&out->rest, &out->type);   /* no line is blank */
    if (!pnnx_next_word(&out->rest, &out->name))
        return PNNX_FAIL(r, out->rest.end, XIR_E_SYNTAX, "expected the name of the operator, found the end of the line");
    if (!read_count(r, &out->rest, "inputs", &n_in) || !read_count(r, &out->rest, "outputs", &n_out)) return false;
    out->n_in = (uint32_t)n_in;
    out->n_out = (uint32_t)n_out;
    if (n_in == 0 && n_out == 1 && is_input(out->type)) out->end = PNNX_INPUT;
    if (n_in == 1 && n_out == 0 && is_output(out->type)) out->end = PNNX_OUTPUT;
    return true;
}

bool pnnx_read_operand(pnnx_reader *r, pnnx_head *head, uint32_t i, uint32_t n, const char *what, xir_str *name) {
    if (!pnnx_next_word(&head->rest, name))
        return PNNX_FAIL(r, head->rest.end, XIR_E_SYNTAX, "'%.*s' has %u %s, but the line ends after %u",
                         CLIP(head->name), (unsigned)n, what, (unsigned)i);
    const char first = name->data[0];
    bool item = first == '@' || first == '$' || first == '#' || memchr(name->data, '=', name->size);
    return !item || PNNX_FAIL(r, name->data, XIR_E_SYNTAX, "'%.*s' has %u %s, but '%.*s' is not an operand",
                              CLIP(head->name), (unsigned)n, what, CLIP(*name));
}

/* ---- the first lines ------------------------------------------------------------------------------------------- */

/* Not 0 if one of 8 bytes is 0 or above 127. */
static uint64_t is_strange(uint64_t bytes) { return ((bytes - 0x0101010101010101u) | bytes) & 0x8080808080808080u; }

/* A text is UTF-8 without zero bytes. */
static bool check_text(pnnx_reader *r) {
    const char *p = r->text.data, *end = p + r->text.size, *asked = p;
    while (p < end) {
        if (p - asked >= TASK_EACH) {
            asked = p;
            if (!task_worked(TASK_EACH)) return trace_memory(&r->d.trace);
        }
        if (end - p >= 32 && !(is_strange(load8(p)) | is_strange(load8(p + 8)) | is_strange(load8(p + 16)) |
                               is_strange(load8(p + 24)))) {
            p += 32;
            continue;
        }
        size_t n = (unsigned char)*p < 0x80 ? 1 : utf8_length(p, end);
        if (!n) return PNNX_FAIL(r, p, XIR_E_SYNTAX, "the text is not UTF-8");
        if (!*p) return PNNX_FAIL(r, p, XIR_E_SYNTAX, "the text has a byte 0");
        p += n;
    }
    return true;
}

/* Warns once about comments and a byte order mark, which a network cannot store. */
static bool note_comments(pnnx_reader *r, bool any) {
    return !any || xir_diags_append(r->d.how->why, &(xir_diag){
                      .severity = XIR_WARNING, .file = r->d.how->name, .byte = XIR_NO_BYTE,
                      .message = XIR_STR("comments and a byte order mark are not written again") }) != XIR_E_MEMORY ||
           trace_memory(&r->d.trace);
}

/* The counts end where a comment begins. */
static bool read_counts(pnnx_reader *r, pnnx_text *text) {
    xir_str line = { r->text.data, 0 }, word = line;
    const bool marked = utf8_mark(r->text.data, r->text.size);
    if (pnnx_next_line(text, &line)) {
        pnnx_text words = { line.data, line.data + line.size };
        (void)pnnx_next_word(&words, &word);
    }
    if (marked && word.size >= 3) word = (xir_str){ word.data + 3, word.size - 3 };
    if (!xir_str_equal(word, XIR_STR(PNNX_MAGIC)))
        return PNNX_FAIL(r, word.data, XIR_E_SYNTAX, "expected the number " PNNX_MAGIC ", found '%.*s'", CLIP(word));
    if (!pnnx_next_line(text, &line))
        return PNNX_FAIL(r, text->end, XIR_E_SYNTAX, "expected a line with the numbers of operators and operands");
    const char *hash = memchr(line.data, '#', line.size);
    pnnx_text words = { line.data, hash ? hash : line.data + line.size };
    text->comments |= hash || marked;
    return read_count(r, &words, "operators", &r->declared_ops) &&
           read_count(r, &words, "operands", &r->declared_operands);
}

/* ---- operators ------------------------------------------------------------------------------------------------- */

static bool begins_with_input(xir_str line) {
    pnnx_text words = { pnnx_skip_blanks(line.data, line.data + line.size), line.data + line.size };
    xir_str type;
    return (*words.p == 'p' || *words.p == 'I') && pnnx_next_word(&words, &type) && is_input(type);
}

static bool read_input(pnnx_reader *r, pnnx_head *head, uint64_t at) {
    dialect_declared declared = { NULL, NULL };
    pnnx_shape s;
    xir_str name;
    if (!pnnx_read_operand(r, head, 0, 1, "outputs", &name)) return false;
    const char *first = head->rest.p;
    if (!pnnx_gather_items(r, head)) return false;
    const pnnx_item *items = r->items.data;
    for (size_t i = 0; i < r->items.size; i++) {
        if (items[i].kind != PNNX_SHAPE || !xir_str_equal(items[i].key, name)) continue;
        declared = (dialect_declared){ NULL, NULL };
        bool ok = pnnx_read_shape(r, items[i].value, false, &s) && pnnx_shape_declared(r, &s, &declared);
        if (!ok) return false;
    }
    pnnx_end_line *line = dialect_add(&r->d, &r->ends[0], sizeof *line);
    if (!line) return false;
    *line = (pnnx_end_line){ head->type, head->name, { first, (size_t)(head->rest.end - first) }, at };
    return dialect_input(&r->d, dialect_name(&r->d, name), &declared);
}

static bool read_inputs(pnnx_reader *r, pnnx_text text) {
    pnnx_head head;
    xir_str line;
    uint64_t n = 0;
    for (; pnnx_next_line(&text, &line); n++) {
        if (!begins_with_input(line)) continue;
        if (!pnnx_read_head(r, line, &head) || (head.end == PNNX_INPUT && !read_input(r, &head, n))) return false;
    }
    r->n_ops = n;
    r->n_values = r->ends[0].size;
    const uint64_t declared = (uint64_t)r->declared_operands;
    return note_comments(r, text.comments) && dialect_expect_names(&r->d, (size_t)(n < declared ? n : declared)) &&
           dialect_make_inputs(&r->d);
}

static bool read_ops(pnnx_reader *r, pnnx_text text) {
    pnnx_head head;
    xir_str line;
    for (uint64_t n = 0; pnnx_next_line(&text, &line); n++) {
        r->line = n;
        if (!pnnx_read_head(r, line, &head)) return false;
        r->is_pnnx |= head.end == PNNX_OUTPUT || memchr(head.type.data, '.', head.type.size) ||
                      memchr(head.type.data, ':', head.type.size);
        if (head.end != PNNX_INPUT && !pnnx_read_op(r, &head)) return false;
        if (!task_at(text.p)) return trace_memory(&r->d.trace);
    }
    return r->is_pnnx || !r->n_ops ||
           PNNX_FAIL(r, r->text.data, XIR_E_UNSUPPORTED,
                     "this is a network of ncnn, not of PNNX: no type of an operator is one of PNNX's");
}

static void reader_free(pnnx_reader *r) {
    dialect *d = &r->d;
    for (int i = 0; i < 2; i++) dialect_list_free(d, &r->ends[i], sizeof(pnnx_end_line));
    dialect_list_free(d, &r->items, sizeof(pnnx_item));
    dialect_list_free(d, &r->values, sizeof(xir_any));
    dialect_list_free(d, &r->dims, sizeof(dialect_dim));
    dialect_list_free(d, &r->member, 1);
    dialect_list_free(d, &r->others, sizeof(uint32_t));
    text_table_free(&r->operands);
}

static const dialect_about about = { "pnnx", XIR_FRAMEWORK_PYTORCH, &element_codes_pnnx, false };

xir_network *pnnx_read(const format_reading *how, blob *whole) {
    pnnx_reader r = { .text = { (const char *)whole->bytes, (size_t)whole->size } };
    if (!r.text.size) r.text.data = "";
    if (!dialect_begin(&r.d, &about, how, whole)) return NULL;
    text_table_init(&r.operands, r.d.alloc);
    r.d.trace.text = r.text;
    pnnx_text text = { r.text.data, r.text.data + r.text.size };
    bool ok = check_text(&r) && read_counts(&r, &text) && read_inputs(&r, text) && read_ops(&r, text) && pnnx_keep(&r);
    reader_free(&r);
    return dialect_finish(&r.d, ok);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that read and write PNNX: a text with an operator a line, and next to it an archive of weights
 * (zip/zip.h).
 *
 *     7767517
 *     3 2
 *     pnnx.Input    pnnx_input_0  0 1 0 #0=(1,4)f32
 *     nn.Linear     fc            1 1 0 1 bias=True in_features=4 out_features=2 @bias=(2)f32 @weight=(2,4)f32 …
 *     pnnx.Output   pnnx_output_0 1 0 1 #1=(1,2)f32
 *
 * A line is a type, a name, two counts, so many names of operands, and items: parameters of the operator, its weights
 * (@), names of its inputs ($), shapes of operands (#). Items are written in one order and numbers in one spelling;
 * where a file differs from that, a tag of the op keeps its items (keep.c), so that the file comes back as it was. */
#ifndef SERIALIZE_PNNX_PNNX_H
#define SERIALIZE_PNNX_PNNX_H

#include "dialect/dialect.h"
#include "dialect/made_names.h"
#include "pnnx/value.h"

#define PNNX_MAGIC "7767517"

/* Tags of this format. */
#define PNNX_TAG_TYPE    "pnnx.type"     /* of a value: its shape and type as in the file, if XIR has none for it  */
#define PNNX_TAG_ASSUMED "pnnx.assumed"  /* of Params: the file gives no type, and float32 is assumed              */
#define PNNX_TAG_ITEMS   "pnnx.items"    /* of an op: its items, if they are not written so                        */
#define PNNX_TAG_LINES   "pnnx.lines"    /* of the ops Input and Output: what differs in the lines of the ends     */
#define PNNX_TAG_COUNTS  "pnnx.counts"   /* of the network: the counts of the file, if they are wrong              */
#define PNNX_TAG_ZIP     "pnnx.zip"      /* of the network: "zip32" if its archive has numbers of 32 bits          */

/* ---- words ----------------------------------------------------------------------------------------------------- */

static inline bool pnnx_is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }

/* A text that is read line by line. */
typedef struct pnnx_text { const char *p, *end; bool comments; /* some line was one */ } pnnx_text;
/* The next line that is not blank, nor a comment, without its end; false at the end of the text. */
bool pnnx_next_line(pnnx_text *text, xir_str *line);
static inline const char *pnnx_skip_blanks(const char *p, const char *end) {
    while (p < end && pnnx_is_blank(*p)) p++;
    return p;
}
/* Returns true if one of 8 bytes is at most a blank. */
static inline bool pnnx_may_have_blank(uint64_t bytes) {
    return (bytes - 0x2121212121212121u) & ~bytes & 0x8080808080808080u;
}
/* The next word of a line; false at its end. Nearly all bytes are above the blanks. */
static inline bool pnnx_next_word(pnnx_text *line, xir_str *word) {
    const char *p = pnnx_skip_blanks(line->p, line->end), *end = line->end, *start = p;
    while (end - p >= 8 && !pnnx_may_have_blank(load8(p))) p += 8;
    while (p < end && ((unsigned char)*p > ' ' || !pnnx_is_blank(*p))) p++;
    *word = (xir_str){ start, (size_t)(p - start) };
    line->p = p;
    return p > start;
}

typedef enum pnnx_end { PNNX_OP, PNNX_INPUT, PNNX_OUTPUT } pnnx_end;

/* The beginning of a line. */
typedef struct pnnx_head {
    xir_str   type, name;
    uint32_t  n_in, n_out;
    pnnx_end  end;         /* whether the line is an input or output of the network */
    pnnx_text rest;        /* operands and items                                    */
} pnnx_head;

typedef enum pnnx_item_kind { PNNX_PARAM, PNNX_ATTR, PNNX_SLOT, PNNX_SHAPE } pnnx_item_kind;

/* "key=value"; for the last three kinds without the sign before the key. */
typedef struct pnnx_item {
    xir_str        whole, key, value;
    pnnx_item_kind kind;
} pnnx_item;

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* Texts that were read before, and what they are: layers repeat the parameters and shapes of others. */
typedef struct pnnx_params_memo { xir_str text; const xir_entry *entries; size_t n; bool sorted; } pnnx_params_memo;
typedef struct pnnx_shape_memo { xir_str text; dialect_declared declared; } pnnx_shape_memo;
typedef struct pnnx_weight_memo { xir_str text; const xir_type *type; } pnnx_weight_memo;
enum { PNNX_PARAMS_MEMOS = 64, PNNX_SHAPE_MEMOS = 256, PNNX_WEIGHT_MEMOS = 64 };

typedef struct pnnx_reader {
    dialect      d;
    xir_str      text;
    dialect_list ends[2];      /* pnnx_end_line: inputs, outputs                              */
    dialect_list items;        /* pnnx_item: of the line                                     */
    dialect_list values;       /* xir_any: of a list                                         */
    dialect_list dims;         /* dialect_dim                                                */
    dialect_list member;       /* char: the name of a member of the archive                  */
    text_table   operands;     /* of the op, by name: the number of the first of that name   */
    dialect_list others;       /* uint32_t: after each operand the next of its name, or none */
    int64_t      declared_ops, declared_operands;   /* the counts of the second line        */
    uint64_t     n_ops;        /* all lines of operators                                     */
    uint64_t     line;         /* the number of this one, from 0                             */
    uint64_t     n_values;     /* that inputs and operators make                              */
    const pnnx_params_memo *known;   /* the parameters of the line; NULL: they are in the items */
    bool         sorted;       /* the items are in the order in which they are written       */
    bool         differs;      /* some item is not written so                                */
    bool         is_pnnx;      /* some word cannot be ncnn's                                  */
    bool         has_table;    /* `operands` is of this op                                   */
    bool         has_bare;     /* some operand has no # item in some line                    */
    pnnx_params_memo params[PNNX_PARAMS_MEMOS];        /* by their text                      */
    pnnx_params_memo last_params[PNNX_PARAMS_MEMOS];   /* by the type of their operator      */
    pnnx_shape_memo  shapes[PNNX_SHAPE_MEMOS];
    pnnx_weight_memo weights[PNNX_WEIGHT_MEMOS];
} pnnx_reader;

/* A line of an input or output. */
typedef struct pnnx_end_line { xir_str type, name, items; uint64_t at; /* its number */ } pnnx_end_line;

xir_network *pnnx_read(const format_reading *how, blob *whole);
/* Records a failure at a place in the text. Returns false. */
#define PNNX_FAIL(r, at, code, ...) trace_fail(&(r)->d.trace, (code), (uint64_t)((at) - (r)->text.data), __VA_ARGS__)
/* Reads the beginning of a line. */
bool pnnx_read_head(pnnx_reader *r, xir_str line, pnnx_head *out);
/* Reads the next operand of a line, number `i` of `n`; `what`: "inputs". */
bool pnnx_read_operand(pnnx_reader *r, pnnx_head *head, uint32_t i, uint32_t n, const char *what, xir_str *name);

/* op.c */
bool pnnx_read_op(pnnx_reader *r, pnnx_head *head);
/* Gathers the remaining words of a line as items. */
bool pnnx_gather_items(pnnx_reader *r, pnnx_head *head);

/* params.c */
/* Gathers the items of an operator of the type d.node.type: its parameters are `known`, or they are items. */
bool pnnx_gather_line(pnnx_reader *r, pnnx_head *head);
/* Makes them and its weights attributes. */
bool pnnx_read_attributes(pnnx_reader *r, xir_str op);

/* shape.c */
typedef struct pnnx_shape {
    size_t   rank;          /* the dims are in r->dims                             */
    uint32_t element;       /* its number in element_codes_pnnx                   */
    bool     has_element;   /* the file gives it                                   */
    bool     knows_element; /* and it has a number                                 */
    bool     same;          /* it is written so                                    */
} pnnx_shape;
/* "(1,?,3)f32"; `weight`: all dims must be known. */
bool pnnx_read_shape(pnnx_reader *r, xir_str text, bool weight, pnnx_shape *out);
/* Returns true if a text is a shape, whatever its elements are. */
bool pnnx_is_shape(xir_str text, bool weight);
/* The type of an operand, with the tag that it needs. */
bool pnnx_shape_declared(pnnx_reader *r, const pnnx_shape *s, dialect_declared *out);
/* Params of a weight, as an attribute value. */
bool pnnx_read_weight(pnnx_reader *r, xir_str op, const pnnx_item *item, xir_any *out);

/* keep.c: after all lines. */
bool pnnx_keep(pnnx_reader *r);

/* ---- printing -------------------------------------------------------------------------------------------------- */

/* Prints operators; also used by the reader to compare with its input. */
typedef struct pnnx_printer {
    buffer        out;
    arena         scratch;
    made_names    names;       /* of values without a usable name                          */
    xir_status    status;      /* of the first failure                                     */
    char          fault[240];  /* its sentence; empty: out of memory                        */
} pnnx_printer;

void pnnx_printer_init(pnnx_printer *p, const xir_allocator *alloc);
void pnnx_printer_free(pnnx_printer *p);
bool pnnx_refuse(pnnx_printer *p, xir_status status, const char *sentence, ...) XIR_PRINTF(3, 4);
/* Returns true if a text is one word of a line. */
bool pnnx_is_word(xir_str text);
/* Appends the items of an op as they are written, a blank before each. */
bool pnnx_print_items(pnnx_printer *p, const xir_op *op);
/* Appends " #NAME=(1,3)f32" if the value has a declared shape. */
bool pnnx_print_shape(pnnx_printer *p, const xir_value *v);
bool pnnx_has_shape(const xir_value *v);
/* Appends "(1,?)f32" of a value that has a shape. */
bool pnnx_print_type(pnnx_printer *p, const xir_value *v);
/* The entries of the weights in the attributes of an op. */
static inline bool pnnx_is_weight(const xir_entry *e) { return e->key.size && e->key.data[0] == '@'; }
/* The type of an op as it is written, without "pnnx::"; empty for another class. */
xir_str pnnx_type_of(const xir_op *op);

/* A checksum of items as they are written: what a tag of kept items stands for. */
static inline xir_any pnnx_sum(xir_str items) {
    return xir_any_int((int64_t)(hash_bytes(0, items.data, items.size) >> 2));
}

xir_status pnnx_write(xir_network *net, const format_writing *how);

/* ---- bin.c: the archive ---------------------------------------------------------------------------------------- */

xir_status pnnx_load_params(xir_network *net, const format_reading *how);
xir_status pnnx_read_params(xir_network *net, const format_reading *how, const void *data, size_t size);
xir_status pnnx_write_params(xir_network *net, const format_writing *how);
bool pnnx_params_may_begin(const uint8_t *head, size_t size);

#endif

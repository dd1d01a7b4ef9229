/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading the text. Lines are read here; what is inside of braces goes through the traversal that all formats share,
 * with this source. The reader is at a place in the text; within brackets, line ends are blanks. A line that is wrong
 * is reported, and reading goes on at the next one, so that all faults are found in one run. */
#ifndef SERIALIZE_TEXT_READER_H
#define SERIALIZE_TEXT_READER_H

#include "codec/read.h"
#include "format.h"
#include "hash.h"
#include "text/words.h"

/* A value by its label. There are as many as values: they are small. */
typedef struct text_label {
    const char *at;        /* the sign before it, at the first use or where it is made         */
    xir_value  *value;     /* NULL: not yet                                                    */
    bool        made;      /* an op makes it, or it is declared, even in a line that is wrong  */
} text_label;

/* Labels of one kind: names and ids. Ids are usually dense: `dense` has the labels of those below n_dense, which grows
 * with their number; `ids` has others. */
typedef struct text_labels {
    text_table    names;
    pointer_table ids;
    uint32_t     *dense;
    size_t        n_dense, room, n;
} text_labels;

/* A type as it was written last. */
typedef struct text_memo { const char *at; size_t size; const xir_type *type; } text_memo;
enum { TEXT_MEMOS = 8 };

/* An op class by its word, with the last attributes in its braces. */
typedef struct text_class {
    const char *word;
    size_t      size;
    codec_plan *plan;
    const char *braces;        /* NULL: none yet, or not of a plain class */
    size_t      braces_size;
    uint64_t    seen;          /* the attributes in them, of the first 64 */
    void       *body;
} text_class;
enum { TEXT_CLASSES = 64 };

/* Bytes of Params, in the reader's buffer. */
typedef struct text_payload { xir_value *value; uint64_t offset, size; } text_payload;

typedef struct text_reader {
    decoder      d;
    source       s;
    const format_reading *how;    /* NULL: a part */
    xir_diags   *why, *found;     /* `found`: of the line that is being read */
    const char  *counted;         /* up to here, lines are counted */
    const char  *line_start;
    uint32_t     line;
    bool         failed;
    bool         is_part;
    bool         plain;           /* Params are refused here */
    size_t       n_failed;
    int64_t      next_op, next_value;
    text_labels  values, params;
    text_label  *labels;
    size_t       n_labels, label_room;
    text_table   aliases;
    const xir_object **objects;   /* of aliases */
    size_t       object_room;
    text_memo    types[TEXT_MEMOS];
    uint32_t     next_type;
    text_class   classes[TEXT_CLASSES];
    buffer       bytes;           /* of payloads */
    text_payload *payloads;
    size_t       n_payloads, payload_room;
    const char  *first_raw, *first_inline;
    gathered     raw_order, raw_table;   /* of ids; in `keep` */
    bool         has_ops;         /* an op, an alias or a symbol has been read: the version may not follow */
    uint32_t     given, entries;  /* bits of network_key; of entries of the header */
} text_reader;

static inline text_reader *reader_of(const source *s) { return s->state; }
static inline const char *here(const source *s) { return s->at; }
static inline const char *end_of(const source *s) { return s->end; }

/* ---- read_words.c ---- */
extern const source_ops text_source;
/* The first byte after blanks, comments, and, within brackets, line ends. */
const char *text_blanks(const source *s, const char *p);
static inline void text_skip(source *s) {
    const char *p = here(s);
    if (p == end_of(s) || (unsigned char)*p > '/') return;
    if (*p == ' ' && end_of(s) - p > 1 && (unsigned char)p[1] > '/') s->at = p + 1;   /* nearly always */
    else if (*p == ' ' || *p == '\n' || *p == '/' || *p == '\r' || *p == '\t') s->at = text_blanks(s, p);
}
/* "expected <what>, found <what is here>". False. */
bool text_expected(source *s, const char *at, const char *format, ...) XIR_PRINTF(3, 4);
/* Skips blanks and reads `c` if it is next. */
static inline bool text_take(source *s, char c) {
    text_skip(s);
    if (here(s) >= end_of(s) || *here(s) != c) return false;
    s->at = here(s) + 1;
    return true;
}
bool text_need(source *s, char c);
/* Open and close a bracket: inside, line ends are blanks. */
bool text_open(source *s, char c);
bool text_close(source *s, char c);
/* A NAME, an INT or a STRING. */
typedef enum word_kind { WORD_NONE, WORD_NAME, WORD_INT, WORD_STRING } word_kind;
word_kind text_word(source *s, xir_str *out);
/* Reads the word if it is next, and not a part of a longer one. */
bool text_takes_word(source *s, const char *word);
bool text_int(source *s, int64_t *out);

/* ---- read_object.c ---- */
bool text_object(decoder *d, source *s, const xir_class *of, const xir_object **out);
bool text_type(text_reader *r, source *s, const xir_type **out);
/* The members of braces: rows into `body`, the others into m->extra. *absent: rows that the file lacked. */
bool text_members(text_reader *r, source *s, const xir_class *cls, void *body, members *m, bool of_op,
                  uint64_t *absent);
bool text_absent(text_reader *r, source *s, const xir_class *cls, uint64_t *absent);
/* The class of a word or quoted key. */
xir_str text_class_key(text_reader *r, xir_str word, bool quoted);
bool text_unknown_class(text_reader *r, source *s, const char *at, xir_str key, bool ops);
/* A map of plain data: tags, undeclared keys of values and networks. */
bool text_plain_map(text_reader *r, source *s, xir_map *out);

/* ---- read_value.c ---- */
#define NO_LABEL UINT32_MAX
/* "%x#3 as "y" in @hostm {…}": a value that is made here. */
bool text_result(text_reader *r, source *s, uint32_t *label, value_in *in);
bool text_input(text_reader *r, source *s, uint32_t *label);
bool text_params(text_reader *r, source *s, xir_value **out);
void text_made(text_reader *r, uint32_t label, xir_value *v);
/* The value of a label, made now if no op has made it yet. */
bool text_value_of(text_reader *r, uint32_t label, xir_value **out);
void text_labels_end(text_reader *r);   /* reports labels that nothing makes */

/* ---- read.c ---- */
enum { TEXT_MOST_FAILURES = 1000 };   /* then reading ends */
/* Adds what was found in a line to the caller's findings, with line and column. False: no more are to be found. */
bool text_report(text_reader *r);

/* ---- read_payload.c ---- */
bool text_payload_of(text_reader *r, source *s, xir_value *v);
bool text_attach(text_reader *r);

/* ---- read_op.c ---- */
bool text_op(text_reader *r, source *s, uint32_t level, xir_op **out);

/* ---- read_header.c ---- */
bool text_header(text_reader *r, source *s);
bool text_header_end(text_reader *r);

#endif

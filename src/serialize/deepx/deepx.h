/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that read and write DeepX IR: a text with an instruction a line.
 *
 *     newtensor (vector<int32>:[3 4]) -> (tensor<float32>:a) // created_at=1744724799.06
 *     sum(tensor<float32>:a, vector<int32>:[0], var<bool>:false)->(tensor<float32>:s) // author=miaobyte
 *     sum(a, [0], false)->(s)
 *     sum a,[0],false -> s
 *
 * A line is the name of a function, parameters, an arrow, return slots, and metadata after "//". A parameter is a type
 * and a value ("var<bool>:false"), a type and a name ("Tensor<any> A"), or a value alone. Lines that a file has besides
 * (blank lines, comments, definitions) and lines that are not written as the network would be are kept in tags. */
#ifndef SERIALIZE_DEEPX_DEEPX_H
#define SERIALIZE_DEEPX_DEEPX_H

#include "deepx/chars.h"
#include "deepx/precision.h"
#include "diagnose.h"
#include "dialect/dialect.h"
#include "number.h"

/* Tags of this format. */
#define DEEPX_TAG_SPELLING "deepx.spelling"   /* of the network: "live" or "seed"                                    */
#define DEEPX_TAG_DEFS     "deepx.defs"       /* of the network: its definitions, a list of texts                   */
#define DEEPX_TAG_FILE     "deepx.file"       /* of the network: what the file has besides its calls                */
#define DEEPX_TAG_META     "deepx.meta"       /* of an op: the text after "//"                                      */
#define DEEPX_TAG_LINE     "deepx.line"       /* of an op: its line, if it is not written so                        */
#define DEEPX_TAG_BEFORE   "deepx.before"     /* of an op: the lines before its own that are not calls              */
#define DEEPX_TAG_VERSION  "deepx.version"    /* of a value: how many values of its name there were before          */

/* The attribute of an op that lists the types of its slots: "tensor<float32>, _, listtensor<any>*2 -> tensor<any>". `_`
 * is a slot without a type, `*2` a list of two tensors. A slot that is not a tensor has its text in the attribute
 * "arg1" or "ret0", by its number; the tensors are inputs and outputs in order. */
#define DEEPX_TYPES "types"

static inline const char *deepx_skip_blanks(const char *p, const char *end) {
    while (p < end && deepx_is_blank(*p)) p++;
    return p;
}
xir_str deepx_trim(const char *p, const char *end);

/* The key of such an attribute. The result is in `room`. */
enum { DEEPX_KEY_ROOM = 3 + NUMBER_ROOM };
static inline xir_str deepx_slot_key(char room[DEEPX_KEY_ROOM], bool ret, size_t i) {
    memcpy(room, ret ? "ret" : "arg", 3);
    room[3] = (char)('0' + i);
    return (xir_str){ room, 3 + (i < 10 ? 1 : number_put_u64(room + 3, i)) };
}

/* The text of the attribute "types"; data is NULL if it is missing or not a text. */
xir_str deepx_types_of(const xir_op *op);
/* The text of a slot; data is NULL if the op has none. */
xir_str deepx_slot_text(const xir_op *op, bool ret, size_t i);

/* The next type of such a list, and how many tensors it has (UINT32_MAX: it is not a list); false at the arrow and at
 * the end. And what follows the arrow. */
bool deepx_next_type(const char **types, const char *end, xir_str *type, uint32_t *items);
static inline const char *deepx_skip_arrow(const char *p, const char *end) {
    return (size_t)(end - p) < 2 ? p : p + ((size_t)(end - p) > 2 ? 3 : 2);
}

/* A tag of this format. An op has few. */
static inline const xir_any *deepx_tag_of(const xir_map *tags, const char *key, size_t size) {
    for (size_t i = 0; tags && i < tags->size; i++)
        if (tags->entries[i].key.size == size && memcmp(tags->entries[i].key.data, key, size) == 0)
            return &tags->entries[i].value;
    return NULL;
}
#define DEEPX_TAG_OF(tags, key) deepx_tag_of((tags), (key), sizeof (key) - 1)

/* ---- lines ----------------------------------------------------------------------------------------------------- */

enum { DEEPX_MOST_DIMS = 64 };   /* of a tensor whose type a text gives */

/* The place of findings, and their list. */
typedef struct deepx_place {
    xir_diags  *why;
    xir_str     file;
    const char *text, *line;    /* the beginning of the text, and of the line that is read */
    uint32_t    number;         /* of that line, from 1                                    */
    uint64_t    said;           /* how many findings there were, also those that are quiet  */
    xir_status  status;         /* of the first error                                      */
    bool        quiet;          /* only running out of memory is a finding                 */
} deepx_place;
/* Adds a finding at a place in the line. An error sets the status; false. */
bool deepx_error(deepx_place *w, const char *at, xir_status code, const char *sentence, ...) XIR_PRINTF(4, 5);
/* Adds "out of memory" once; returns false. */
bool deepx_no_memory(deepx_place *w);
void deepx_warn(deepx_place *w, const char *at, const char *sentence, ...) XIR_PRINTF(3, 4);

typedef struct deepx_slot {
    xir_str    whole, type, value;   /* the type is empty if the file gives none           */
    deepx_type is;
    bool       named;                /* "Tensor<any> A": a type, a blank, a name           */
} deepx_slot;

/* A line, or an instruction in the body of a block. */
typedef struct deepx_line {
    xir_str     name;
    deepx_slot *slots;               /* parameters, then return slots                      */
    size_t      n_args, n_rets;
    xir_str     meta;                /* after "//"; data is NULL if the line has no "//"   */
    bool        parens;              /* parentheses around the parameters                  */
    size_t      pattern;             /* lines of one number are alike: see pattern.h; 0: none */
} deepx_line;

/* A type that was read, by its text. */
enum { DEEPX_TYPE_MEMOS = 32, DEEPX_LONGEST_MEMO = 31 };
typedef struct deepx_type_memo { char text[DEEPX_LONGEST_MEMO]; uint8_t size; deepx_type is; } deepx_type_memo;

/* Slots and what was seen of types, reused from line to line. A zeroed one with an allocator is empty. */
typedef struct deepx_slots {
    const xir_allocator *alloc;
    deepx_slot          *data;
    size_t               n, room;
    bool                 odd;        /* the line may have another arrow, or "//" besides that of its metadata */
    deepx_type_memo      types[DEEPX_TYPE_MEMOS];
} deepx_slots;
void deepx_slots_free(deepx_slots *s);

/* Reads an instruction from `text`, which has no line ends; false after an error. Out of memory sets XIR_E_MEMORY. */
bool deepx_read_line(deepx_place *w, deepx_slots *slots, xir_str text, deepx_line *out);
/* Returns true if a line holds no instruction: blank, "# …", "// …", "``` …". */
bool deepx_is_passed_over(xir_str text);

/* Returns true if a text is a value by itself: a number, true or false, a list of numbers, a quoted text. */
bool deepx_is_literal(xir_str value);
/* Returns true if a text can be the name of a tensor. */
bool deepx_is_tensor_name(xir_str value);
/* The next item of a list "[a b, c]" or of its inner text; false at its end. */
bool deepx_next_item(xir_str *list, xir_str *item);
xir_str deepx_inner(xir_str list);
/* Without its quotes. */
xir_str deepx_unquoted(xir_str value);
/* Returns true if a text can be the value of one parameter in parentheses. */
bool deepx_is_value(xir_str text);

/* meta.c */
/* Checks metadata and adds findings. */
bool deepx_check_meta(deepx_place *w, xir_str meta);
/* The next key with a value; false at the end. Other words are passed over. */
typedef enum deepx_meta_kind {
    DEEPX_META_UNKNOWN, DEEPX_META_TEXT, DEEPX_META_INTEGER, DEEPX_META_TIME
} deepx_meta_kind;
bool deepx_next_meta(xir_str *rest, xir_str *value, deepx_meta_kind *kind);
/* The value of a key; the last one if a key appears twice; empty if the key is missing. */
xir_str deepx_meta_value(xir_str meta, const char *key);

/* ---- a whole text ---------------------------------------------------------------------------------------------- */

typedef enum deepx_kind { DEEPX_CALL, DEEPX_DEFINITION, DEEPX_BLOCK } deepx_kind;

/* Calls `visit` for each call, definition and block of a text, in order; `whole` is its text without a line end. After
 * an error it goes on with the next line. False if visit returns false. */
typedef bool deepx_visit(void *user, deepx_kind kind, xir_str whole, const deepx_line *line);
bool deepx_walk(deepx_place *w, const xir_allocator *alloc, xir_str text, bool as_calls, deepx_visit *visit,
                void *user);

/* block.c */
/* Returns true if a text begins with a block: "deepxir name(". */
bool deepx_is_block(xir_str text);
/* Reads a block at p; *end is after it. `out`: see blocks.h; NULL: the block is only checked. */
struct deepx_block;
bool deepx_read_block(deepx_place *w, deepx_slots *slots, const char *p, const char **end, const char *stop,
                      struct deepx_block *out);

/* ---- the functions that the executor has ------------------------------------------------------------------------ */

extern const char *const deepx_known_lines[];
extern const size_t deepx_n_known;
/* The kind of a slot of a line in a network: a text, a tensor, or a list of tensors. */
typedef enum deepx_slot_kind { DEEPX_SLOT_TEXT, DEEPX_SLOT_TENSOR, DEEPX_SLOT_TENSORS } deepx_slot_kind;
deepx_slot_kind deepx_kind_of(const deepx_line *line, const deepx_slot *slot);

/* ---- spelling -------------------------------------------------------------------------------------------------- */

/* The spellings of calls. A line of a file that is spelled otherwise is kept unchanged. */
typedef enum deepx_spelling { DEEPX_LIVE, DEEPX_SEED, DEEPX_SPELLINGS } deepx_spelling;
extern const char *const deepx_spelling_words[DEEPX_SPELLINGS];
deepx_spelling deepx_spelling_of(const xir_network *net);

enum { DEEPX_VALUE_MEMOS = 64 };
typedef struct deepx_printer {
    buffer         out;
    deepx_spelling spelling;
    xir_str        folder;       /* before the names of its files in lines: "X.data/"; may be empty */
    const xir_op  *first;        /* the call whose metadata says the order of inputs and results; NULL: none does */
    xir_str        order;        /* the words that say it (order.h)  */
    const char    *values[DEEPX_VALUE_MEMOS];   /* texts that were found to be values */
    xir_status     status;
    char           fault[240];
} deepx_printer;
/* Appends the line of an op as it is written, without a line end; false with the fault. */
bool deepx_print_op(deepx_printer *p, const xir_op *op);
/* Returns true if the op that is read from a line is written as that line stands. False also if that takes more to find
 * out. */
bool deepx_is_printed_so(deepx_spelling spelling, xir_str whole, const deepx_line *line);
/* Appends a definition. */
void deepx_print_definition(buffer *out, const deepx_line *line);
static inline xir_any deepx_sum(xir_str text) {
    return xir_any_int((int64_t)(hash_bytes(0, text.data ? text.data : "", text.size) >> 2));
}
bool deepx_is_op(const xir_op *op);

/* places.c: where the text has what the paths of findings name. */
xir_status deepx_find_places(xir_context *ctx, xir_str text, xir_format_place *places, size_t n, void *user);

xir_network *deepx_read(const format_reading *how, blob *whole);
xir_status deepx_write(xir_network *net, const format_writing *how);

#endif

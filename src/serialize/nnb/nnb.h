/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that read and write NNB, the file of NNabla's C runtime. A microcontroller casts it in place:
 *
 *     header       56 bytes: version, api level, five lists, number of index entries, size of the data
 *     index        4 bytes each: where a block begins, from the beginning of the data
 *     data         blocks, each padded to 4 bytes
 *
 * A "pointer" is the number of an index entry. A list is a count and such a pointer. No block says how long it is. All
 * numbers are little-endian.
 *
 * A network has the functions as ops, the variables as values. Everything else in a file follows from these, the tags
 * below and the order in which NNabla's exporter lays blocks out (image.c); if a file differs from that, a tag keeps
 * its bytes. So files come back as they were. */
#ifndef SERIALIZE_NNB_NNB_H
#define SERIALIZE_NNB_NNB_H

#include <xir/nnb.h>
#include "dialect/dialect.h"
#include "little.h"

enum { NNB_HEADER = 56, NNB_VARIABLE = 20, NNB_RECORD = 20 };   /* sizes; a record without its arguments */
enum { NNB_OLDEST = 2, NNB_NEWEST = 3, NNB_API_NEWEST = 45 };
enum { NNB_REVISION = 5000 };   /* above it the second word is not an api level, but of before there were any */
enum { NNB_FLOAT32, NNB_INT16, NNB_INT8, NNB_SIGN, NNB_TYPES };   /* types of variables */

/* Tags of this format. */
#define NNB_TAG_VERSION "nnb.version"     /* of the network: 2 or 3                                              */
#define NNB_TAG_API     "nnb.api_level"   /* of the network: the second word                                      */
#define NNB_TAG_FILE    "nnb.file"        /* of the network: buffers, variables, and bytes if they are unusual    */
#define NNB_TAG_ID      "nnb.id"          /* of an op: its number, if its arguments do not say it                 */
#define NNB_TAG_IMPL    "nnb.impl"        /* of an op: the implementation, if it is not 0                         */
#define NNB_TAG_SHAPE   "nnb.shape"       /* of a value: the dims of the file, if its type has others             */
#define NNB_TAG_TYPE    "nnb.type"        /* of a value: the type of the file, if XIR has none for it             */
#define NNB_TAG_FP_POS  "nnb.fp_pos"      /* of a value: the fraction bits of a type that has none                */

/* Undeclared attributes: of the Input op, the parameters that no function uses; of an op, the bytes of the arguments of
 * a function that is not in the table. */
#define NNB_UNKNOWN     "function_"     /* with its number: the class of such a function */
#define NNB_ATTR_UNUSED "nnb.unused"
#define NNB_ATTR_BYTES  "arguments"


/* ---- functions.c ----------------------------------------------------------------------------------------------- */

typedef enum nnb_kind { NNB_INT, NNB_FLOAT, NNB_BYTE, NNB_LIST, NNB_OTHER /* cannot be stored */ } nnb_kind;

typedef struct nnb_argument {
    xir_str  name, words;    /* words: "nearest|linear"; empty: a number   */
    nnb_kind kind;
    uint32_t at, size;       /* in the record                              */
} nnb_argument;

enum { NNB_ARGUMENTS = 20 };

/* A row of the table, taken apart. */
typedef struct nnb_signature {
    const xir_nnb_function *function;
    xir_str                 name;
    size_t                  n, n_lists;
    uint32_t                end;         /* of a record with all arguments     */
    bool                    storable;    /* every argument can be stored       */
    nnb_argument            arguments[NNB_ARGUMENTS];
    struct nnb_family      *family;      /* NULL: not asked for yet            */
    const xir_map          *last;        /* the arguments asked about last,    */
    bool                    asked, says; /* and whether they say the number    */
} nnb_signature;

/* False: some argument cannot be stored. */
bool nnb_signature_make(nnb_signature *out, const xir_nnb_function *f);
/* A word of an argument by its number; empty if the number has no word. And the reverse. */
xir_str nnb_word(const nnb_argument *a, int64_t number);
bool nnb_word_number(const nnb_argument *a, xir_str word, int64_t *out);

/* ---- signatures.c: the rows that one network uses -------------------------------------------------------------- */

enum { NNB_IDS = 512 };
typedef struct nnb_signatures {
    arena         *scratch;
    nnb_signature *by_id[NNB_IDS];    /* made on demand                            */
} nnb_signatures;

/* NULL: there is no such number, or *memory is set. */
nnb_signature *nnb_signature_of(nnb_signatures *s, uint32_t id, bool *memory);
/* An argument of an op; NULL if it does not have it. */
const xir_any *nnb_find(const xir_map *extra, xir_str name);
/* The argument of an op at a position of a signature. */
const xir_any *nnb_argument_at(const nnb_signature *s, size_t i, const xir_map *extra);

/* The numbers of one function. */
enum { NNB_FAMILY = 8, NNB_WHY = 160 };
typedef struct nnb_family {
    nnb_signature *members[NNB_FAMILY];
    size_t         n;             /* 0: there is no such function */
} nnb_family;
/* NULL without memory. */
nnb_family *nnb_family_of(nnb_signatures *s, xir_str name);
/* The number whose arguments are exactly those of an op, if its api level is at most `level`; else the one of such a
 * level with most of the leading arguments, the others being left out. NULL: none, and `why` says why not. */
const nnb_signature *nnb_pick(const nnb_family *f, const xir_map *extra, uint32_t level, char why[NNB_WHY]);

/* ---- model.c: what a file says, whatever its layout ------------------------------------------------------------- */

typedef struct nnb_variable {
    uint32_t     shape, rank;    /* its dims, in `ints`                                          */
    uint8_t      type, fp_pos;
    bool         stored;         /* a parameter                                                   */
    bool         known;          /* something has described it                                    */
    int32_t      buffer;         /* of others                                                     */
    uint64_t     bytes;          /* of its data: of a parameter as stored, of others by its shape  */
    uint64_t     elements;
    xir_value   *params;         /* NULL: not a parameter                                         */
} nnb_variable;

typedef struct nnb_list { uint32_t first, n; } nnb_list;   /* in `ints` */

typedef struct nnb_record {
    uint16_t      id, impl;
    nnb_list      in, out;
    uint32_t      args, args_size;   /* its arguments, in `bytes`, without the pointers of lists */
    uint32_t      lists, n_lists;    /* its lists, in `lists`                                    */
    const xir_op *op;
} nnb_record;

typedef struct nnb_args_list { nnb_list items; uint32_t at; /* its count, in the arguments */ } nnb_args_list;

/* Memos of earlier descriptions: layers repeat the types and arguments of others. */
enum { NNB_MEMOS = 64 };
typedef struct nnb_type_memo { const xir_type *type; nnb_variable v; } nnb_type_memo;
typedef struct nnb_args_memo { const xir_class *cls; const xir_map *extra; nnb_record f; } nnb_args_memo;

typedef struct nnb_model {
    xir_network         *net;
    const xir_allocator *alloc;
    arena                scratch;
    uint32_t             version, api;
    dialect_list         variables;     /* nnb_variable                */
    dialect_list         records;       /* nnb_record                  */
    dialect_list         buffers;       /* uint32_t                    */
    dialect_list         ints;          /* int32_t                     */
    dialect_list         lists;         /* nnb_args_list               */
    buffer               bytes;         /* less than 2^31              */
    nnb_list             inputs, outputs;
    pointer_table        numbers;       /* of values, if they are numbered again              */
    pointer_table        families;      /* of classes: indexes in `family`                    */
    dialect_list         family;        /* nnb_family *                                       */
    nnb_signatures       signatures;
    bool                 has_api;       /* the network says its level                         */
    bool                 opaque;        /* some function's arguments are bytes that may have pointers */
    const xir_op        *at;            /* what is being described, for the finding                    */
    xir_status           status;
    char                 fault[300];    /* empty: out of memory                                        */
    nnb_type_memo        types[NNB_MEMOS];
    nnb_args_memo        args[NNB_MEMOS];
} nnb_model;

/* NULL without memory. */
nnb_model *nnb_model_new(xir_network *net);
void nnb_model_free(nnb_model *m);
/* Describes the network with the numbers that the names of values say, and the buffers that its tag says: of each
 * variable the number of its buffer, null for a parameter, a map for one that nothing refers to. False without a
 * failure if they do not fit the network. */
bool nnb_model_as_read(nnb_model *m, const xir_list *variables, const xir_list *buffers);
/* Numbers the variables in the order of the functions, and gives them buffers. False: a failure. */
bool nnb_model_fresh(nnb_model *m);
/* Records a failure. Returns false. */
bool nnb_refuse(nnb_model *m, xir_status status, const char *sentence, ...) XIR_PRINTF(3, 4);
bool nnb_model_memory(nnb_model *m);
/* `n` more items at the end of a list, which has less than 2^31: so positions fit the numbers of a file. NULL with a
 * failure. */
void *nnb_more(nnb_model *m, dialect_list *list, size_t n, size_t item);
nnb_family *nnb_model_family(nnb_model *m, const xir_class *cls, xir_str name);

/* describe.c: an op's record, a value's variable. */
bool nnb_describe_arguments(nnb_model *m, const xir_op *op, nnb_record *out);
bool nnb_describe_value(nnb_model *m, xir_value *v, nnb_variable *out);
/* The function that an op is, without "nnb::"; empty for another class. */
xir_str nnb_type_of(const xir_op *op);
bool nnb_is_input(const xir_op *op);
bool nnb_is_output(const xir_op *op);
/* Elements and bytes of a shape. XIR_E_BOUNDS: a negative dim; XIR_E_LIMIT: too many. */
xir_status nnb_size(const int32_t *dims, size_t rank, uint8_t type, uint64_t *elements, uint64_t *bytes);
/* The parameters that no function uses. */
xir_list nnb_unused(const xir_network *net);

/* pack.c: gives variables buffers by the functions between which they are needed. */
bool nnb_pack(nnb_model *m);

/* ---- image.c: the layout ----------------------------------------------------------------------------------------- */

/* A file without the data of its parameters, which belong at the holes. Also of a file with another layout. */
typedef struct nnb_hole {
    uint64_t   at;          /* in the file                   */
    uint64_t   size, pad;   /* zeros follow                  */
    xir_value *params;
} nnb_hole;
typedef struct nnb_image {
    buffer       bytes;
    dialect_list holes;     /* nnb_hole, ascending           */
    uint64_t     size;      /* of the file                   */
} nnb_image;

bool nnb_image_make(nnb_model *m, nnb_image *out);
void nnb_image_free(nnb_model *m, nnb_image *image);
/* A sum of the bytes of an image: a tag that keeps something about a file has it. */
int64_t nnb_sum(const void *bytes, size_t size);

/* Passes an image with the data of its parameters on, piece by piece; false if `put` has stopped. */
typedef bool nnb_put_fn(void *user, uint64_t at, const void *data, size_t size, const nnb_hole *hole);
bool nnb_image_each(const nnb_image *image, nnb_put_fn *put, void *user);

/* ---- keep.c: the tag NNB_TAG_FILE ------------------------------------------------------------------------------ */

/* An item of the tag; NULL if it has none of this kind. */
const xir_any *nnb_kept(const xir_network *net, const char *key, xir_any_kind kind);
/* The bytes that the tag keeps, if they are those of this network. False: there are none, or a failure. */
bool nnb_kept_image(nnb_model *m, nnb_image *out);
/* ---- reading --------------------------------------------------------------------------------------------------- */

/* A variable as in the file. */
typedef struct nnb_read_variable {
    uint32_t shape, rank;     /* offset in the data               */
    int32_t  data_index;
    uint8_t  type, fp_pos;
    bool     made;            /* a function makes it, or it is an input of the network */
    bool     one;             /* its file may have one element of it (trap 5)          */
    xir_value *params;
} nnb_read_variable;

typedef struct nnb_block { uint32_t at, n; } nnb_block;   /* a list: its offset in the data, its items */

typedef struct nnb_reader {
    dialect            d;
    const uint8_t     *index, *data;
    uint32_t           version, api, n_index, data_size;
    uint32_t          *sorted;          /* the offsets in ascending order, if the index is not; else NULL */
    uint64_t           listed, spent;   /* bytes of lists and of parameters, each time they are used       */
    nnb_block          buffers, variables, functions, inputs, outputs;
    nnb_read_variable *v;
    dialect_list       ints, holes;     /* of one function; nnb_hole: the data of all parameters           */
    buffer             args;            /* of one function                                                */
    nnb_signatures     signatures;
    const xir_type    *elements[NNB_TYPES][16];
    dialect_list       dims;            /* int64_t                                                        */
} nnb_reader;

xir_network *nnb_read(const format_reading *how, blob *whole);
/* Records a failure at an offset in the data. */
#define NNB_FAIL(r, at, code, ...) \
    trace_fail(&(r)->d.trace, (code), (uint64_t)((r)->data - (r)->d.base) + (at), __VA_ARGS__)
/* Finds the offset of block `k`; `at`: the offset of the pointer. */
bool nnb_resolve(nnb_reader *r, uint32_t k, uint64_t at, const char *what, uint32_t *out);
bool nnb_take_list(nnb_reader *r, uint32_t n, uint32_t k, uint64_t at, const char *what, nnb_block *out);
/* Counts the data of a parameter: blocks may be shared, but not without end. */
bool nnb_spend(nnb_reader *r, uint64_t bytes, uint64_t at);
/* Returns the offset of the next block after an offset; the end of the data after the last block. */
uint32_t nnb_next_block(const nnb_reader *r, uint32_t k, uint32_t at);

/* read_variable.c */
bool nnb_read_variables(nnb_reader *r);
bool nnb_declare(nnb_reader *r, uint32_t i, dialect_declared *out);
bool nnb_make_params(nnb_reader *r);
xir_str nnb_variable_name(uint32_t i, char text[16]);

/* read_function.c */
bool nnb_scan_functions(nnb_reader *r);
bool nnb_read_functions(nnb_reader *r);
/* Returns how many arguments a record of `room` bytes has at most, and where they end. */
size_t nnb_record_arguments(const nnb_signature *s, uint32_t room, uint32_t *end);

/* keep.c: makes the tag. */
bool nnb_keep(nnb_reader *r);
/* usual.c: whether the file is for certain what image.c makes of the network, and the sum of its image. */
bool nnb_is_usual(nnb_reader *r, int64_t *sum, bool *memory);

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* Describes and lays out a network, and checks that no bytes are missing; NULL with a finding, and *status. Free
 * both. */
nnb_model *nnb_prepare(xir_network *net, const format_writing *how, nnb_image *image, xir_status *status);
xir_status nnb_write(xir_network *net, const format_writing *how);
/* source.c: the file as an array in C. */
xir_status nnb_write_source(xir_network *net, const format_writing *how);

#endif

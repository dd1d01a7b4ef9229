/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Malformed NNB: each file is refused with its status, its byte and its message. Every file truncated at every byte,
 * and with every byte changed, is refused or is a network that comes back. Faults that leave a meaning are read:
 * docs/nnb.md lists them. */
#include "support/load_net.h"
#include "support/nnb_make.h"
#include "support/stored.h"
#include "graph.h"

/* A network with a parameter, lists and two functions. */
static const char sound[] =
    "nnb 3 44\ninputs 0\noutputs 4\nbuffers 64 64\n"
    "v f 1,2,2,2 b0\nv i8:3 2,2,1,1 p4\nv sign 8 p1\nv f 1,2,2,2 b1\nv f 1,2,2,2 b0\n"
    "f 1 0,1,2>3 i1 [0,0] [1,1] [1,1] i1\nf 15 3>4 f0.5\n";

/* The place of a word, by its owner. */
typedef enum where { HEAD, INDEX_OF, VARIABLE, FUNCTION, BLOCK_OF } where;

/* The word at `at` of part `i` becomes `word`. INDEX_OF: the entry of the index that the word at `at` of the header
 * names; BLOCK_OF: in the block of that entry. */
typedef struct bad {
    where       where;
    unsigned    i, at;
    uint32_t    word;
    xir_status  status;
    where       found;        /* the byte of the finding, in the same way; `byte` is added */
    unsigned    found_i, byte;
    const char *sentence;     /* the beginning of the message */
} bad;

#define C XIR_E_CORRUPT
#define B XIR_E_BOUNDS
#define L XIR_E_LIMIT
#define U XIR_E_UNSUPPORTED
#define T XIR_E_TYPE

static const bad table[] = {
    /* versions */
    { HEAD, 0, 0, 0, U, HEAD, 0, 0, "expected version 2 or 3, found 0" },
    { HEAD, 0, 0, 1, U, HEAD, 0, 0, "the file has version 1, of before September 2018" },
    { HEAD, 0, 0, 4, U, HEAD, 0, 0, "expected version 2 or 3, found 4" },
    { HEAD, 0, 0, UINT32_MAX, U, HEAD, 0, 0, "expected version 2 or 3, found 4294967295" },
    { HEAD, 0, 0, 0x03000000, U, HEAD, 0, 0, "expected version 2 or 3, found 50331648" },
    /* the length */
    { HEAD, 0, 48, 0x7fffffff, C, HEAD, 0, 48, "2147483647 entries and " },
    { HEAD, 0, 48, UINT32_MAX, C, HEAD, 0, 48, "4294967295 entries and " },
    { HEAD, 0, 48, 1000, C, HEAD, 0, 48, "1000 entries and " },
    { HEAD, 0, 52, UINT32_MAX, C, HEAD, 0, 48, "26 entries and 4294967295 bytes of data" },
    { HEAD, 0, 52, 0x80000000, C, HEAD, 0, 48, "26 entries and 2147483648 bytes of data" },
    { HEAD, 0, 52, 100000, C, HEAD, 0, 48, "26 entries and 100000 bytes of data" },
    /* the data ends before the last blocks */
    { HEAD, 0, 52, 100, B, HEAD, 0, 0, "entry " },
    { HEAD, 0, 52, 0, B, HEAD, 0, 0, "entry " },
    /* lists of the header: their blocks, their sizes */
    { HEAD, 0, 12, 26, B, HEAD, 0, 12, "the block of the buffers is entry 26 of the index, which has 26" },
    { HEAD, 0, 12, UINT32_MAX, B, HEAD, 0, 12, "the block of the buffers is entry 4294967295" },
    { HEAD, 0, 20, 26, B, HEAD, 0, 20, "the block of the variables is entry 26" },
    { HEAD, 0, 20, 0x80000000, B, HEAD, 0, 20, "the block of the variables is entry 2147483648" },
    { HEAD, 0, 28, 26, B, HEAD, 0, 28, "the block of the functions is entry 26" },
    { HEAD, 0, 36, 26, B, HEAD, 0, 36, "the block of the inputs is entry 26" },
    { HEAD, 0, 44, 26, B, HEAD, 0, 44, "the block of the outputs is entry 26" },
    { HEAD, 0, 44, UINT32_MAX, B, HEAD, 0, 44, "the block of the outputs is entry 4294967295" },
    { HEAD, 0, 8, 1000, C, BLOCK_OF, 12, 0, "the buffers has 1000 items, but the data ends after " },
    { HEAD, 0, 8, 0x40000001, C, BLOCK_OF, 12, 0, "the buffers has 1073741825 items" },
    { HEAD, 0, 16, 1000, C, BLOCK_OF, 20, 0, "the variables has 1000 items" },
    { HEAD, 0, 16, UINT32_MAX, C, BLOCK_OF, 20, 0, "the variables has 4294967295 items" },
    { HEAD, 0, 24, 3, C, BLOCK_OF, 28, 0, "the functions has 3 items, but the data ends after 2" },
    { HEAD, 0, 24, 0x80000000, C, BLOCK_OF, 28, 0, "the functions has 2147483648 items" },
    { HEAD, 0, 32, 1000, C, BLOCK_OF, 36, 0, "the inputs has 1000 items" },
    { HEAD, 0, 40, 0x3fffffff, C, BLOCK_OF, 44, 0, "the outputs has 1073741823 items" },
    /* entries of the index */
    { INDEX_OF, 12, 0, 100000, B, INDEX_OF, 12, 0, "entry 2 of the index is 100000, beyond the data" },
    { INDEX_OF, 12, 0, UINT32_MAX, B, INDEX_OF, 12, 0, "entry 2 of the index is -1, beyond the data" },
    { INDEX_OF, 36, 0, 0x80000000, B, INDEX_OF, 36, 0, "entry 0 of the index is -2147483648, beyond the data" },
    /* variables: their entries, shapes, data */
    { BLOCK_OF, 20, 0, 26, B, BLOCK_OF, 20, 0, "the block of a variable is entry 26" },
    { BLOCK_OF, 20, 16, UINT32_MAX, B, BLOCK_OF, 20, 16, "the block of a variable is entry 4294967295" },
    { BLOCK_OF, 20, 4, 25, C, BLOCK_OF, 28, 0, "the record of variable 1 has 20 bytes, but the data ends after " },
    { VARIABLE, 0, 4, 1000, C, VARIABLE, 0, 0, "a shape has 1000 items" },
    { VARIABLE, 0, 4, 0x40000000, C, VARIABLE, 0, 0, "a shape has 1073741824 items" },
    { VARIABLE, 0, 8, 26, B, VARIABLE, 0, 8, "the block of a shape is entry 26" },
    { VARIABLE, 0, 8, UINT32_MAX, B, VARIABLE, 0, 8, "the block of a shape is entry 4294967295" },
    { VARIABLE, 1, 16, 26, B, VARIABLE, 1, 16, "the data of variable 1 is entry 26 of the index, which has 26" },
    { VARIABLE, 1, 16, 0x7fffffff, B, VARIABLE, 1, 16, "the data of variable 1 is entry 2147483647" },
    { VARIABLE, 0, 16, 26, B, VARIABLE, 0, 16, "the data of variable 0 is entry 26" },
    { VARIABLE, 1, 12, 4, T, VARIABLE, 1, 12, "variable 1 has data of type 4, expected less than 4" },
    { VARIABLE, 1, 12, 15, T, VARIABLE, 1, 12, "variable 1 has data of type 15" },
    { VARIABLE, 2, 12, 8, T, VARIABLE, 2, 12, "variable 2 has data of type 8" },
    /* functions: their entries, their lists */
    { BLOCK_OF, 28, 0, 26, B, BLOCK_OF, 28, 0, "the block of a function is entry 26" },
    { BLOCK_OF, 28, 4, UINT32_MAX, B, BLOCK_OF, 28, 4, "the block of a function is entry 4294967295" },
    { BLOCK_OF, 28, 4, 25, C, BLOCK_OF, 28, 0, "the record of function 1 has at least 20 bytes, but the data ends "
     "after " },
    { FUNCTION, 0, 4, 1000, C, FUNCTION, 0, 0, "the inputs of a function has 1000 items" },
    { FUNCTION, 0, 4, 0x80000001, C, FUNCTION, 0, 0, "the inputs of a function has 2147483649 items" },
    { FUNCTION, 0, 8, 26, B, FUNCTION, 0, 8, "the block of the inputs of a function is entry 26" },
    { FUNCTION, 1, 12, 0xffffffff, C, FUNCTION, 0, 0, "the outputs of a function has 4294967295 items" },
    { FUNCTION, 1, 16, 0x80000000, B, FUNCTION, 1, 16, "the block of the outputs of a function is entry 2147483648" },
    { FUNCTION, 0, 24, 1000, C, FUNCTION, 0, 0, "an argument has 1000 items" },
    { FUNCTION, 0, 24, 0x40000002, C, FUNCTION, 0, 0, "an argument has 1073741826 items" },
    { FUNCTION, 0, 28, 26, B, FUNCTION, 0, 28, "the block of an argument is entry 26" },
    { FUNCTION, 0, 44, UINT32_MAX, B, FUNCTION, 0, 44, "the block of an argument is entry 4294967295" },
    /* numbers of variables */
    { BLOCK_OF, 36, 0, 5, B, BLOCK_OF, 36, 0, "input 0 is variable 5, but there are only 5" },
    { BLOCK_OF, 36, 0, UINT32_MAX, B, BLOCK_OF, 36, 0, "input 0 is variable 4294967295" },
    { BLOCK_OF, 44, 0, 5, B, BLOCK_OF, 44, 0, "output 0 is variable 5, but there are only 5" },
    { BLOCK_OF, 44, 0, 0x80000000, B, BLOCK_OF, 44, 0, "output 0 is variable 2147483648" },
};

static size_t place(const nnb_made *f, where w, unsigned i, unsigned at) {
    switch (w) {
    case HEAD:     return at;
    case INDEX_OF: return 56 + 4 * (size_t)nnb_word(f, i) + at;
    case VARIABLE: return f->variables[i] + at;
    case FUNCTION: return f->functions[i] + at;
    default:       return nnb_block_at(f, nnb_word(f, i)) + at;
    }
}

/* The byte is compared unless it follows from a part that the row does not name: `found` is FUNCTION 0 + 0. */
static bool is_refused(const nnb_made *sane, const nnb_made *f, const bad *row) {
    xir_network *net = stored_read("nnb", f->bytes, f->size);
    const xir_diag *d = net ? NULL : xir_diags_at(why, xir_diags_count(why) - 1);
    const bool open = !row->byte &&
        (row->found == VARIABLE || row->found == FUNCTION || strcmp(row->sentence, "entry ") == 0);
    const uint64_t byte = place(sane, row->found, row->found_i, row->byte);
    const bool right = d && d->code == row->status && (open || d->byte == byte) && d->byte != XIR_NO_BYTE &&
                       strncmp(d->message.data, row->sentence, strlen(row->sentence)) == 0;
    if (!right)
        print_error("%s at %#llx: %s\n expected: %#llx: %s\n", d ? xir_status_name(d->code) : "read",
                    d ? (unsigned long long)d->byte : 0, d ? d->message.data : "", (unsigned long long)byte,
                        row->sentence);
    xir_network_free(net);
    xir_diags_clear(why);
    return right;
}

static void files_that_are_refused(void **state) {
    nnb_made f, sane;
    size_t wrong = 0;
    (void)state;
    nnb_make(&sane, sound);
    assert_int_equal(sane.n_index, 26);
    for (size_t i = 0; i < COUNT(table); i++) {
        f = sane;
        nnb_set_word(&f, place(&f, table[i].where, table[i].i, table[i].at), table[i].word);
        if (!is_refused(&sane, &f, &table[i])) {
            print_error("row %zu\n", i);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void numbers_of_functions(void **state) {
    static const struct { const char *line, *sentence; xir_status status; } rows[] = {
        { "f 15 9>4 f0.5\n", "input 0 of function 0 is variable 9, but there are only 2", B },
        { "f 15 -1>1 f0.5\n", "input 0 of function 0 is variable 4294967295", B },
        { "f 15 0>2 f0.5\n", "output 0 of function 0 is variable 2, but there are only 2", B },
        { "f 400 0,1,7>1\n", "input 2 of function 0 is variable 7", B },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[200];
        nnb_made f;
        snprintf(text, sizeof text, "nnb 3 44\ninputs 0\noutputs 1\nbuffers 4\nv f 1 b0\nv f 1 b0\n%s", rows[i].line);
        nnb_make(&f, text);
        assert_null(stored_read("nnb", f.bytes, f.size));
        load_check_finding(rows[i].status, rows[i].sentence, (int)i);
    }
}

static void shapes_of_parameters(void **state) {
    static const struct { const char *shape, *sentence; xir_status status; } rows[] = {
        { "-1", "variable 1 has data, but its shape has a negative dim", B },
        { "2,-2147483648", "variable 1 has data, but its shape has a negative dim", B },
        { "2147483647,2147483647,2147483647", "variable 1 has data, but its shape has too many elements", L },
        { "65536,65536,65536,65536", "variable 1 has data, but its shape has too many elements", L },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[200];
        nnb_made f;
        snprintf(text, sizeof text, "nnb 3 44\ninputs 0\noutputs 2\nbuffers 4\nv f 1 b0\nv f %s p4\nv f 1 b0\nf 31 "
                 "0,1>2 B0\n",
                 rows[i].shape);
        nnb_make(&f, text);
        assert_null(stored_read("nnb", f.bytes, f.size));
        load_check_finding(rows[i].status, rows[i].sentence, (int)i);
    }
}

/* A parameter that is shorter than its shape has the elements before the end. */
static void data_that_ends_early(void **state) {
    nnb_made f;
    (void)state;
    nnb_make(&f, "nnb 3 44\ninputs 0\noutputs 2\nbuffers 4\nv f 1 b0\nv f 2147483647 p4\nv f 1 b0\nf 31 0,1>2 B0\n");
    xir_network *net = stored_read("nnb", f.bytes, f.size);
    const xir_value *w = xir_op_input(xir_network_op_at(net, 1), 1);
    assert_int_equal(value_params(w)->data->size,
                     (f.size - f.data - nnb_word(&f, 56 + 4 * (size_t)nnb_word(&f, f.variables[1] + 16))) / 4 * 4);
    xir_network_free(net);
}

/* ---- size -------------------------------------------------------------------------------------------------------- */

/* `n` functions or variables with one record, whose only list, or whose data, has `items` words. */
typedef enum shared { FUNCTIONS, VARIABLES, PARAMETERS } shared;
static xir_network *read_shared(shared what, uint32_t n, uint32_t items) {
    const uint32_t size = 3 + n + 5 + items, list = what == FUNCTIONS ? 4 + 2 : 4;
    uint32_t *words = calloc(14 + 3 + size, sizeof *words), *data = words + 14 + 3;
    words[0] = 3;
    words[1] = 44;
    words[list] = n;
    words[12] = 3;
    words[13] = 4 * size;
    words[15] = 4 * n;             /* entry 0: the list, entry 1: the record, entry 2: its list or data */
    words[16] = 4 * n + 20;
    for (size_t i = 0; i < n; i++) data[i] = 1;
    const uint32_t records[][5] = { [FUNCTIONS] = { 11, items, 2 }, [VARIABLES] = { 0, items, 2, 0, UINT32_MAX },
                                    [PARAMETERS] = { 0, 1, 2, 0, 2 } };
    memcpy(data + n, records[what], sizeof records[what]);
    if (what == PARAMETERS) data[n + 5] = items;      /* a shape of one dim */
    xir_network *net = stored_read("nnb", words, 4 * (14 + 3 + (size_t)size));
    free(words);
    return net;
}

/* All functions or variables have one record: so many are read as the bytes of the file allow. */
static void blocks_that_are_shared_without_end(void **state) {
    (void)state;
    xir_network_free(read_shared(VARIABLES, 4700, 0));
    assert_int_equal(xir_diags_count(why), 0);
    assert_null(read_shared(VARIABLES, 5000, 0));
    check_finding(L, "the file has 5000 variables, because they share records: the limit for 20100 bytes is 4813");
    assert_null(read_shared(FUNCTIONS, 1000000, 0));
    check_finding(L, "the file has 1000000 functions, because they share records: the limit for 4000100 bytes is "
                  "146956");
    assert_null(read_shared(VARIABLES, 1000, 1000));
    check_finding(L, "the lists up to a shape have 84000 bytes, because they share blocks: the limit is 81736");
    assert_null(read_shared(PARAMETERS, 100, 500));
    check_finding(L, "the parameters up to here have 44000 bytes, because they share data: the limit is 43008");
}

static void bytes_after_the_end(void **state) {
    nnb_made f;
    (void)state;
    nnb_make(&f, sound);
    xir_network *net = stored_read("nnb", f.bytes, f.size + 3);
    assert_int_equal(xir_diags_count(why), 1);
    check_finding(XIR_OK, "3 bytes follow the end of the network");
    xir_network_free(net);
}

/* ---- damaged files ----------------------------------------------------------------------------------------------- */

static void truncated_at_every_byte(void **state) {
    nnb_made f;
    (void)state;
    nnb_make(&f, sound);
    for (size_t size = 0; size < f.size; size++) {
        assert_null(stored_read("nnb", f.bytes, size));
        xir_diags_clear(why);
    }
}

static void changed_at_every_byte(void **state) {
    nnb_made f;
    (void)state;
    nnb_make(&f, sound);
    stored_changed_anywhere("nnb", f.bytes, f.size);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_are_refused),   cmocka_unit_test(numbers_of_functions),
        cmocka_unit_test(shapes_of_parameters),     cmocka_unit_test(data_that_ends_early),
        cmocka_unit_test(blocks_that_are_shared_without_end), cmocka_unit_test(bytes_after_the_end),
        cmocka_unit_test(truncated_at_every_byte),  cmocka_unit_test(changed_at_every_byte),
    };
    scratch_make();
    return cmocka_run_group_tests(tests, group_begin, group_end);
}

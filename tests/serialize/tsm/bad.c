/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Malformed modules of TensorStack: each file is refused with its status, its byte and its message. Faults that let the
 * next field be found are all listed in one run. A file truncated at any byte is refused; one with any byte changed is
 * refused, or is a module that comes back. */
#include "support/load_net.h"
#include "support/stored.h"
#include "support/tsm_make.h"
#include "graph.h"

static const char sound[] =
    "inputs 0\noutputs 4\n"
    "n <param> x - #dtype=5::10 #shape=5:2:-1,4\n"
    "n <const> w - value=10:4,2:1,2\n"
    "n <const> b - device='cpu value=10:2:1\n"
    "n inner_prod p 0,1 transpose=21::1 list=5:3:1,2,3\n"
    "n add_bias q 3,2 dim=5::1\n";

/* The word, or the byte if `wide` is false, at `at` of a part becomes `v`. */
typedef enum where { HEAD, INPUTS, OUTPUTS, GRAPH, NODE, ENDS, PARAM, FIELDS } where;

typedef struct bad {
    where       where;
    unsigned    node, param, at;
    bool        narrow;
    uint32_t    v;
    xir_status  status;
    unsigned    byte;         /* of the finding, counted from the same place */
    const char *sentence;     /* the beginning of the message */
} bad;

#define C XIR_E_CORRUPT
#define B XIR_E_BOUNDS
#define L XIR_E_LIMIT
#define U XIR_E_UNSUPPORTED
#define T XIR_E_TYPE
#define I XIR_E_INVALID
#define M XIR_E_MISSING
#define Y XIR_E_SYNTAX
#define E XIR_E_EXISTS
#define MINUS UINT32_MAX

static const bad table[] = {
    /* the code */
    { HEAD,    0, 0, 4,  false, 0x19910928, Y, 4, "this is not a TensorStack file: expected the code 0x19910929, found "
                                                  "0x19910928" },
    { HEAD,    0, 0, 4,  false, 0,          Y, 4, "this is not a TensorStack file: expected the code 0x19910929, found "
                                                  "0x00000000, unless it is encrypted" },
    { HEAD,    0, 0, 4,  false, 0x29099119, Y, 4, "this is not a TensorStack file: expected the code" },
    /* counts: one too large, 2^31, 2^32 - 1 */
    { INPUTS,  0, 0, 0,  false, 0x80000000, C, 0, "the number of inputs is 2147483648, but the " },
    { INPUTS,  0, 0, 0,  false, MINUS,      C, 0, "the number of inputs is 4294967295" },
    { OUTPUTS, 0, 0, 0,  false, 0x80000000, C, 0, "the number of outputs is 2147483648" },
    { OUTPUTS, 0, 0, 0,  false, MINUS,      C, 0, "the number of outputs is 4294967295" },
    { GRAPH,   0, 0, 0,  false, 0x80000000, C, 0, "the number of nodes is 2147483648" },
    { GRAPH,   0, 0, 0,  false, MINUS,      C, 0, "the number of nodes is 4294967295" },
    { NODE,    2, 0, 0,  false, 0x80000000, C, 0, "the number of parameters of a node is 2147483648" },
    { NODE,    2, 0, 0,  false, MINUS,      C, 0, "the number of parameters of a node is 4294967295" },
    { NODE,    4, 0, 0,  false, 0x7fffffff, C, 0, "the number of parameters of a node is 2147483647" },
    { ENDS,    4, 0, 0,  false, 3,          C, 0, "the number of inputs of a node is 3, but the 8 bytes that follow "
                                                  "hold at most 2" },
    { ENDS,    4, 0, 0,  false, 0x80000000, C, 0, "the number of inputs of a node is 2147483648" },
    { ENDS,    4, 0, 0,  false, MINUS,      C, 0, "the number of inputs of a node is 4294967295" },
    { PARAM,   3, 2, 0,  false, 0x80000000, C, 0, "the name of a parameter is 2147483648, but the " },
    { PARAM,   3, 2, 0,  false, MINUS,      C, 0, "the name of a parameter is 4294967295" },
    { PARAM,   0, 0, 0,  false, MINUS,      C, 0, "the name of a parameter is 4294967295" },
    { FIELDS,  3, 2, 0,  false, 0x80000000, C, 0, "the number of tensors of a parameter is 2147483648" },
    { FIELDS,  3, 2, 0,  false, MINUS,      C, 0, "the number of tensors of a parameter is 4294967295" },
    { FIELDS,  1, 2, 5,  false, 0x80000000, C, 5, "the number of dims of a tensor is 2147483648" },
    { FIELDS,  1, 2, 5,  false, MINUS,      C, 5, "the number of dims of a tensor is 4294967295" },
    { FIELDS,  1, 2, 5,  false, 1000,       C, 5, "the number of dims of a tensor is 1000" },
    /* sizes */
    { FIELDS,  1, 2, 9,  false, MINUS,      B, 9, "dim 0 of a tensor is negative: expected 0 or more, found -1" },
    { FIELDS,  1, 2, 13, false, 0x80000000, B, 13, "dim 1 of a tensor is negative: expected 0 or more, found "
                                                   "-2147483648" },
    { FIELDS,  1, 2, 9,  false, 0x40000000, C, 17, "the file ends in the elements of a tensor: expected 2147483648 of "
                                                   "4 bytes each, found " },
    { FIELDS,  1, 2, 9,  false, 1000,       C, 17, "the file ends in the elements of a tensor: expected 2000" },
    { FIELDS,  0, 1, 9,  false, 0x7fffffff, C, 13, "the file ends in the elements of a tensor: expected 2147483647 of "
                                                   "1 bytes each" },
    /* types */
    { FIELDS,  1, 2, 4,  true,  12,         T, 4, "the type of a tensor is 12 (PTR), which a file cannot hold" },
    { FIELDS,  1, 2, 4,  true,  33,         T, 4, "the type of a tensor is 33: expected 0 to 32 without 12" },
    { FIELDS,  1, 2, 4,  true,  127,        T, 4, "the type of a tensor is 127" },
    { FIELDS,  1, 2, 4,  true,  255,        T, 4, "the type of a tensor is 255" },
    { FIELDS,  3, 3, 4,  true,  12,         T, 4, "the type of a tensor is 12" },
    /* numbers of nodes */
    { INPUTS,  0, 0, 4,  false, 5,          B, 4, "input 0 is node 5, but the graph has 5" },
    { INPUTS,  0, 0, 4,  false, MINUS,      B, 4, "input 0 is node 4294967295" },
    { OUTPUTS, 0, 0, 4,  false, 5,          B, 4, "output 0 is node 5, but the graph has 5" },
    { OUTPUTS, 0, 0, 4,  false, 0x80000000, B, 4, "output 0 is node 2147483648" },
    { ENDS,    3, 0, 4,  false, 5,          B, 4, "inner_prod 'p' (node 3): input 0 is node 5, but the graph has 5" },
    { ENDS,    4, 0, 8,  false, MINUS,      B, 8, "add_bias 'q' (node 4): input 1 is node 4294967295" },
    { ENDS,    4, 0, 4,  false, 4,          I, 4, "add_bias 'q' (node 4): input 0 is the node itself" },
    { INPUTS,  0, 0, 4,  false, 1,          I, 4, "input 0 is node 1 'w': expected a <param>, found <const>" },
    { INPUTS,  0, 0, 4,  false, 3,          I, 4, "input 0 is node 3 'p': expected a <param>, found inner_prod" },
    /* names */
    { PARAM,   3, 2, 4,  true,  0xff,       Y, 4, "inner_prod 'p' (node 3): the name of parameter 2 is not a valid" },
    { FIELDS,  3, 0, 13, true,  0x80,       Y, 13, "inner_prod '\x80' (node 3): #name is not a valid text" },
    { FIELDS,  3, 1, 13, true,  0xc0,       Y, 13, "\xc0nner_prod 'p' (node 3): #op is not a valid text" },
};

static size_t place(const tsm_made *f, const bad *row) {
    switch (row->where) {
    case HEAD:    return 0;
    case INPUTS:  return f->inputs;
    case OUTPUTS: return f->outputs;
    case GRAPH:   return f->graph;
    case NODE:    return f->nodes[row->node];
    case ENDS:    return f->ends[row->node];
    case PARAM:   return f->params[row->node][row->param];
    default:      return f->fields[row->node][row->param];
    }
}

static bool is_found(xir_status status, uint64_t byte, const char *sentence) {
    const xir_diag *d = xir_diags_at(why, 0);
    const bool right = d && d->code == status && d->byte == byte &&
                       strncmp(d->message.data, sentence, strlen(sentence)) == 0;
    if (!right)
        print_error("%s at %#llx: %s\n expected: %#llx: %s\n", d ? xir_status_name(d->code) : "read",
                    d ? (unsigned long long)d->byte : 0, d ? d->message.data : "", (unsigned long long)byte, sentence);
    return right;
}

static void files_that_are_refused(void **state) {
    tsm_made sane;
    size_t wrong = 0;
    (void)state;
    tsm_make(&sane, sound);
    for (size_t i = 0; i < COUNT(table); i++) {
        tsm_made f = sane;
        const size_t at = place(&f, &table[i]);
        if (table[i].narrow) f.bytes[at + table[i].at] = (uint8_t)table[i].v;
        else tsm_set_word(&f, at + table[i].at, table[i].v);
        xir_network *net = stored_read("tsm", f.bytes, f.size);
        if (!is_found(table[i].status, at + table[i].byte, table[i].sentence)) {
            print_error("row %zu\n", i);
            wrong++;
        }
        xir_network_free(net);
        xir_diags_clear(why);
    }
    assert_int_equal(wrong, 0);
}

/* ---- modules that contradict themselves -------------------------------------------------------------------------- */

#define X  "n <param> x - #dtype=5::10 #shape=5:1:4\n"

typedef struct contradiction {
    const char *text;
    xir_status  status;
    where       where;       /* of the byte: */
    unsigned    node, param, at;
    const char *path, *sentence;
} contradiction;

#define OF_PARAM(node, param, at) PARAM, node, param, at
#define OF_ENDS(node, at)         ENDS, node, 0, at
#define OF_NODE(node)             NODE, node, 0, 4

static const contradiction contradictions[] = {
    { "inputs 0\noutputs 1\n" X "n * * 0 #name='y\n", M, OF_NODE(1), "/nodes/1",
      "node 1: the parameter #op is missing" },
    { "inputs 0\noutputs 1\n" X "n * * 0 #op='relu\n", M, OF_NODE(1), "/nodes/1",
      "relu '' (node 1): the parameter #name is missing: expected a text" },
    { "inputs 0\noutputs 1\n" X "n * * 0 #name='y #op=5::1\n", T, OF_PARAM(1, 1, 0), "/nodes/1/params/#op",
      "node 1: #op: expected a text (one CHAR8 tensor of rank 1), found INT32 of rank 0" },
    { "inputs 0\noutputs 1\n" X "n * * 0 #name='y #op=13:1,2:65,66\n", T, OF_PARAM(1, 1, 0), "/nodes/1/params/#op",
      "node 1: #op: expected a text (one CHAR8 tensor of rank 1), found CHAR8 of rank 2" },
    { "inputs 0\noutputs 1\n" X "n * * 0 #name='y #op=13::65\n", T, OF_PARAM(1, 1, 0), "/nodes/1/params/#op",
      "node 1: #op: expected a text (one CHAR8 tensor of rank 1), found CHAR8 of rank 0" },
    { "inputs 0\noutputs 1\n" X "n * * 0 #name='y #op=\n", T, OF_PARAM(1, 1, 0), "/nodes/1/params/#op",
      "node 1: #op: expected a text (one CHAR8 tensor of rank 1), found none" },
    { "inputs 0\noutputs 1\n" X "n * * 0 #name='y #op=13:1:65+13:1:66\n", T, OF_PARAM(1, 1, 0), "/nodes/1/params/#op",
      "node 1: #op: expected a text (one CHAR8 tensor of rank 1), found several tensors" },
    { "inputs 0\noutputs 1\n" X "n * * 0 #name='y #op='\n", I, OF_PARAM(1, 1, 4 + 3 + 4 + 9), "/nodes/1/params/#op",
      "node 1: #op is empty: expected the name of an operator" },
    { "inputs 0\noutputs 1\n" X "n * * 0 #name=5::1 #op='relu\n", T, OF_PARAM(1, 0, 0), "/nodes/1/params/#name",
      "relu '' (node 1): #name: expected a text" },
    { "inputs 0\noutputs 1\n" X "n relu y 0 #output_count=5::2\n", U, OF_PARAM(1, 2, 0),
      "/nodes/1/params/#output_count", "relu 'y' (node 1): #output_count: expected 1, found 2" },
    { "inputs 0\noutputs 1\n" X "n relu y 0 #output_count='1\n", U, OF_PARAM(1, 2, 0), "/nodes/1/params/#output_count",
      "relu 'y' (node 1): #output_count: expected 1, found 0" },
    { "inputs 0\noutputs 2\n" X "n <const> c -\nn add y 0,1\n", M, OF_NODE(1), "/nodes/1",
      "<const> 'c' (node 1): the parameter value is missing: expected the tensor" },
    { "inputs 0\noutputs 2\n" X "n <const> c - value=\nn add y 0,1\n", I, OF_PARAM(1, 2, 0), "/nodes/1/params/value",
      "<const> 'c' (node 1): value: expected at least one tensor, found none" },
    { "inputs 0\noutputs 2\n" X "n <const> c - value=0:2:\nn add y 0,1\n", T, OF_PARAM(1, 2, 4 + 5 + 4),
      "/nodes/1/params/value", "<const> 'c' (node 1): value: expected elements, found the type VOID" },
    { "inputs 0\noutputs 2\n" X "n <const> c 0 value=10::1\nn add y 0,1\n", I, OF_ENDS(1, 0), "/nodes/1/inputs",
      "<const> 'c' (node 1): expected no inputs, found 1" },
    { "inputs 1\noutputs 1\nn abs a 1\nn <param> x 0 #dtype=5::10\n", I, OF_ENDS(1, 0), "/nodes/1/inputs",
      "<param> 'x' (node 1): expected no inputs, found 1" },
    { "inputs 0\noutputs 2\n" X "n <var> v -\nn add y 0,1\n", U, OF_PARAM(1, 1, 0), "/nodes/1/params/#op",
      "<var> 'v' (node 1): variables exist in memory only" },
    { "inputs 0,0\noutputs 1\n" X "n relu y 0\n", E, INPUTS, 0, 0, 8, "/inputs/1",
      "input 1 is node 0 'x', which is an input already" },
    { "inputs -\noutputs 1\n" X "n relu y 0\n", M, OF_NODE(0), "/nodes/0",
      "<param> 'x' (node 0): an output depends on this <param>, which is not in the list of inputs" },
    { "inputs 0\noutputs 1\n" X "n range y - a=5::1\n", I, OF_NODE(1), "/nodes/1/inputs",
      "range 'y' (node 1): an output depends on this operator, which has no inputs" },
    { "inputs 0\noutputs 3\n" X "n add a 0,3\nn add b 1,0\nn add c 2,0\n", I, OF_ENDS(2, 4), "/nodes/2/inputs/0",
      "add 'b' (node 2): input 0 depends on this node (node 1)" },
    { "inputs 0\noutputs 1\n" X "n big y 0 a=0:2147483647,2147483647,2147483647:\n", L, FIELDS, 1, 2, 9, "",
      "the dims of a tensor have 2^63 elements or more" },
};

static void modules_that_contradict_themselves(void **state) {
    size_t wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(contradictions); i++) {
        const contradiction *row = &contradictions[i];
        tsm_made f;
        const bad at = { .where = row->where, .node = row->node, .param = row->param };
        tsm_make(&f, row->text);
        xir_network *net = stored_read("tsm", f.bytes, f.size);
        const xir_diag *d = xir_diags_at(why, 0);
        const bool right = is_found(row->status, place(&f, &at) + row->at, row->sentence) &&
                           xir_str_equal(d->path, xir_str_of(row->path));
        if (!right) {
            print_error("contradiction %zu: %.*s\n", i, d ? (int)d->path.size : 0, d ? d->path.data : "");
            wrong++;
        }
        xir_network_free(net);
        xir_diags_clear(why);
    }
    assert_int_equal(wrong, 0);
}

/* One run lists them all. */
static void every_fault_is_listed(void **state) {
    tsm_made f;
    (void)state;
    tsm_make(&f, "inputs 1,9\noutputs 7,3\n" X "n <const> c 0 value=0::\nn <var> v -\nn relu y 3 a=5::1\n"
                 "n * * 8 #op=5::1\n");
    f.size += 3;
    assert_null(stored_read("tsm", f.bytes, f.size));
    assert_int_equal(xir_diags_count_of(why, XIR_ERROR), 10);
    xir_diags_clear(why);
}

static void bytes_after_the_end(void **state) {
    tsm_made f;
    (void)state;
    tsm_make(&f, sound);
    assert_null(stored_read("tsm", f.bytes, f.size + 3));
    assert_true(is_found(C, f.size, "3 bytes follow the last node: expected the end"));
    xir_diags_clear(why);
}

static void limits_of_the_context(void **state) {
    xir_limits old = XIR_INIT(xir_limits);
    tsm_made f;
    (void)state;
    tsm_make(&f, sound);
    DOES(xir_context_limits(ctx, &old, why));
    DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_ops = 4), why));
    assert_null(stored_read("tsm", f.bytes, f.size));
    assert_true(is_found(L, f.graph, "the graph has 5 nodes: the limit is 4"));
    xir_diags_clear(why);
    DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_ops = 5, .max_elements = 10), why));
    xir_network_free(stored_read("tsm", f.bytes, f.size));
    DOES(xir_context_set_limits(ctx, &XIR_INIT(xir_limits, .max_elements = 9), why));
    assert_null(stored_read("tsm", f.bytes, f.size));
    assert_true(is_found(L, f.fields[3][1] + 9, "a tensor has 10 elements: the limit is 9"));
    xir_diags_clear(why);
    DOES(xir_context_set_limits(ctx, &old, why));
}

/* Each of them is a few bytes, but becomes Params or a tag. */
static void rare_things_without_end(void **state) {
    enum { MANY = 80000, BEFORE = 128 + 3 * 4 + 4, ITS_NAMES = 22 + 21 };
    (void)state;
    for (int pack = 0; pack < 2; pack++) {
        const size_t one = pack ? 5 : 9, head = BEFORE + ITS_NAMES + (pack ? 9 : 0), size = head + one * MANY + 4;
        uint8_t *bytes = calloc(size, 1), *p = bytes + 128;
        const uint32_t all = pack ? 3 : 2 + MANY;
        memcpy(bytes + 4, "\x29\x09\x91\x19", 4);
        p[8] = 1;                                        /* no inputs and outputs, one node */
        p += 12;
        for (int i = 0; i < 4; i++) p[i] = (uint8_t)(all >> 8 * i);
        memcpy(p += 4, "\5\0\0\0#name\1\0\0\0\x0D\1\0\0\0\0\0\0\0", 22);
        memcpy(p += 22, "\3\0\0\0#op\1\0\0\0\x0D\1\0\0\0\1\0\0\0r", 21);
        p += 21;
        if (pack) memcpy(p, "\1\0\0\0w", 5);
        for (int i = 0; pack && i < 4; i++) p[5 + i] = (uint8_t)(MANY >> 8 * i);
        for (size_t i = 0; !pack && i < MANY; i++) memcpy(p + one * i, "\1\0\0\0w", 5);
        assert_null(stored_read("tsm", bytes, size));
        assert_int_equal(xir_diags_count(why), 1);
        CHECK_STR(xir_diags_at(why, 0)->path, "/nodes/0/params");
        check_finding(L, pack ? "r '' (node 0): up to here the module has 80000 tensors in parameters that have "
                      "several: the limit for 400200 bytes is 71789" : "r '' (node 0): up to here the module has 76789 "
                      "parameters whose name their node has before: the limit for 720191 bytes is 76788");
        free(bytes);
    }
}

/* ---- damaged files ----------------------------------------------------------------------------------------------- */

static void truncated_at_every_byte(void **state) {
    tsm_made f;
    (void)state;
    tsm_make(&f, sound);
    for (size_t size = 0; size < f.size; size++) {
        assert_null(stored_read("tsm", f.bytes, size));
        assert_int_equal(xir_diags_count_of(why, XIR_ERROR), 1);
        xir_diags_clear(why);
    }
}

static void changed_at_every_byte(void **state) {
    tsm_made f;
    (void)state;
    tsm_make(&f, sound);
    stored_changed_anywhere("tsm", f.bytes, f.size);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_are_refused),  cmocka_unit_test(modules_that_contradict_themselves),
        cmocka_unit_test(every_fault_is_listed),   cmocka_unit_test(bytes_after_the_end),
        cmocka_unit_test(limits_of_the_context),   cmocka_unit_test(rare_things_without_end),
        cmocka_unit_test(truncated_at_every_byte),
        cmocka_unit_test(changed_at_every_byte),
    };
    scratch_make();
    return cmocka_run_group_tests(tests, group_begin, group_end);
}

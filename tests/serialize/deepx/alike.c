/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The reading of a line does not depend on lines before it that are alike: each of these lines follows each of them,
 * with other tensors, and has the same findings at the same places and becomes the same op as when it stands alone. */
#include "support/net.h"
#include "support/stored.h"
#include <xir/deepx.h>

/* A '$' begins the name of each tensor. The first of a group is plain; the others differ from it in one thing. */
static const char *const lines[] = {
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) -> (tensor<float32>:$b) // id=1 created_at=1.5 x=y",
    "sum (tensor<float32>:$c, vector<int32>:[0 1], var<bool>:false) -> (tensor<float32>:$d) // id=2 created_at=17 x=z",
    "sum (tensor<float32>:$a, vector<int32>:[], var<bool>:v) "
        "-> (tensor<float32>:$b) // id=123456789 created_at=0 x=a=b",
    "sum (tensor<float32>:$a, vector<int32>:[0,1], var<bool>:false) -> (tensor<float32>:$b) // id=1 created_at=1.5 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[0\t1], var<bool>:false) -> (tensor<float32>:$b) // id=1 created_at=1 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[[0] 1], var<bool>:false) -> (tensor<float32>:$b) // id=1 created_at=1 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[0 1, var<bool>:false) -> (tensor<float32>:$b) // id=1 created_at=1.5 x=y",
    "sum (tensor<float32>:$a, vector<int32>:v, var<bool>:false) -> (tensor<float32>:$b) // id=1 created_at=1.5 x=y",
    "sum (tensor<float32>:[$a], vector<int32>:[0 1], var<bool>:false) -> (tensor<float32>:$b) // id=1 created_at=1 x=y",
    "sum (tensor<float32>:\"$a\", vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=1 created_at=1 x=y",
    "sum (tensor<float32>:, vector<int32>:[0 1], var<bool>:false) -> (tensor<float32>:$b) // id=1 created_at=1.5 x=y",
    "sum (tensor<float32>:$a/b:c, vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=1 created_at=1 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:->) -> (tensor<float32>:$b) // id=1 created_at=1.5 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:a//b) -> (tensor<float32>:$b) // id=1 created_at=1.5 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:'-> // ,') "
        "-> (tensor<float32>:$b) // id=1 created_at=1 x=y",
    "sum (tensor<float32>:$a , vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=1 created_at=1.5 x=y",
    "sum (tensor<float32>: $a, vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=1 created_at=1.5 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=1234567890 created_at=1 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=9999999999 created_at=1 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=-1 created_at=-1e5 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=1. created_at=1.5.2 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) -> (tensor<float32>:$b) // id= created_at=x x=",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=1 created_at=1 x=y id=1",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=1 created_at=1.5 x=y z",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) -> (tensor<float32>:$b) // id=1 created_at=1.5 =y",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=1 created_at=1.5 x=y ",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) -> (tensor<float32>:$b)// id=1 created_at=1.5 x=y",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) -> (tensor<float32>:$b)",
    "sum (tensor<float32>:$a, vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=1 created_at=1.5 x=y\r",
    "sum (tensor<float32>:$\xC3\xA9, vector<int32>:[0 1], var<bool>:false) "
        "-> (tensor<float32>:$b) // id=1 created_at=1 x=\xFF",

    "newtensor(vector<int32>:[3 4])->(tensor<float32>:$a)",
    "newtensor(vector<int32>:[3 5])->(tensor<float32>:$a)",
    "newtensor(vector<int32>:[3 x])->(tensor<float32>:$a)",
    "newtensor(vector<int32>:[3 4])->(tensor<float64>:$a)",
    "newtensor(vector:[3 4])->(tensor<float64>:$a)",
    "newtensor(vector<int32>:[3 4])->(tensor<float32|float64>:$a)",
    "newtensor(vector<int32>:[3 4])->(Tensor<float32>:$a)",
    "newtensor(vector<int32>:[3 4])->(tensor<fp8>:$a)",
    "newtensor(vector<int32>:[3 4])->(tensor<float32> $a)",
    "newtensor(tensor<int32>:3)->(tensor<float32>:$a)",
    "newtensor(tensor<int32>:4)->(tensor<float32>:$a)",
    "newtensor([3 4])->($a)",
    "newtensor(var<string>:3 4)->(tensor<float32>:$a)",
    "newtensor(vector|var<int32>:[3 4])->(tensor<float32>:$a)",
    "concat(listtensor<any>:[$a $b], var<int32>:1)->(tensor<float32>:$c)",
    "concat(listtensor<any>:[$a $b $c], var<int32>:1)->(tensor<float32>:$d)",
    "concat(listtensor<any>:[$a  $b], var<int32>:1)->(tensor<float32>:$c)",
    "concat(listtensor<any>:[], var<int32>:1)->(tensor<float32>:$c)",
    "concat(listtensor<any>:$a, var<int32>:1)->(tensor<float32>:$c)",
    "reshape(tensor<float32>:$a, vector<int32>:[12])->(tensor<float32>:$b)",
    "load(var<string>:$a.data)->()",
    "load(var<string>:x/$a.data)->()",
    "renametensor(var<string>:$b)->(tensor<float32>:$a)",
    "renametensor(var<string>:$c)->(tensor<float32>:$d)",
    "deltensor()->(tensor<float32>:$a)",
    "print(tensor<float32>:$a, var<string>:%.4f)->()",
    "g(var|tensor<any>:$a)->()",
    "g(var|tensor<any>:1)->()",
    "g(var|tensor<any>:true)->()",
    "f()->() // id=5",
    "f()->() // id=6",
    "func (tensor<float32>:$a)->(tensor<float32>:$b)",
    " sum (tensor<float32>:$a) -> (tensor<float32>:$b)",
    "sum tensor<float32>:$a, var<int32>:-1 -> tensor<float32>:$b",
    "sum tensor<float32>:$a, var<int32>:2->tensor<float32>:$b",
};

static void put_named(buffer *out, const char *line, char initial) {
    for (; *line; line++) buffer_char(out, *line == '$' ? initial : *line);
    buffer_char(out, '\n');
}

/* The findings of the second line of a text, and the network. */
typedef struct outcome { buffer text, said; xir_network *net; } outcome;

static void free_outcome(outcome *o) {
    buffer_free(&o->text);
    buffer_free(&o->said);
    xir_network_free(o->net);
}

/* Reads a line after another one; NULL: after a comment. */
static outcome read_after(const char *before, const char *line) {
    outcome out = { .net = NULL };
    buffer_init(&out.text, &memory_default);
    buffer_init(&out.said, &memory_default);
    if (before) put_named(&out.text, before, 'p');
    else buffer_str(&out.text, "# nothing\n");
    put_named(&out.text, line, 'q');
    xir_diags_clear(why);
    out.net = stored_read("deepx", out.text.data, out.text.size);
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        char place[100];
        if (d->line < 2) continue;
        snprintf(place, sizeof place, "%d %d %u:%u ", (int)d->severity, (int)d->code, d->line, d->column);
        buffer_str(&out.said, place);
        buffer_put(&out.said, d->message.data, d->message.size);
        buffer_char(&out.said, '\n');
    }
    return out;
}

/* The way in which a line is kept depends on the spelling of the file, which its first call says, and on the lines
 * before it: the test checks instead that a network comes back. */
static bool is_compared(xir_str key) {
    return !xir_str_equal(key, XIR_STR("deepx.line")) && !xir_str_equal(key, XIR_STR("deepx.before"));
}

/* Returns true if b has the entries of a. */
static bool has_entries(const xir_map *a, const xir_map *b) {
    for (size_t i = 0; a && i < a->size; i++) {
        const xir_any *other = b ? xir_map_find(b, a->entries[i].key) : NULL;
        if (is_compared(a->entries[i].key) && !(other && xir_any_equal(&a->entries[i].value, other))) return false;
    }
    return true;
}

static bool same_map(const xir_map *a, const xir_map *b) { return has_entries(a, b) && has_entries(b, a); }

static bool same_value(const xir_value *a, const xir_value *b) {
    const xir_type *type = xir_value_type(a), *other = xir_value_type(b);
    const bool same_type = type && other ? xir_type_equal(type, other) : type == other;
    return same_type && xir_str_equal(xir_value_name(a), xir_value_name(b)) &&
           same_map(xir_value_tags(a), xir_value_tags(b));
}

static bool same_op(const xir_op *a, const xir_op *b) {
    if (xir_op_class(a) != xir_op_class(b) || xir_op_input_count(a) != xir_op_input_count(b) ||
        xir_op_output_count(a) != xir_op_output_count(b)) return false;
    bool same = same_map(xir_op_extra(a), xir_op_extra(b)) && same_map(xir_op_tags(a), xir_op_tags(b));
    for (size_t i = 0; i < xir_op_input_count(a); i++)
        same = same && same_value(xir_op_input(a, (int64_t)i), xir_op_input(b, (int64_t)i));
    for (size_t i = 0; i < xir_op_output_count(a); i++)
        same = same && same_value(xir_op_output(a, (int64_t)i), xir_op_output(b, (int64_t)i));
    return same;
}

/* Only the first line end with a carriage return is a finding. */
static bool has_carriage(const char *line) { return strchr(line, '\r') != NULL; }

static void check_pair(const char *before, const char *line, const outcome *alone, bool before_is_read) {
    outcome both = read_after(before, line);
    if (both.said.size != alone->said.size || (both.said.size && memcmp(both.said.data, alone->said.data,
                                                                        both.said.size) != 0))
        fail_msg("after %s\n%s\nfindings: %.*s\nalone:    %.*s", before, line, (int)both.said.size, both.said.data,
                 (int)alone->said.size, alone->said.data);
    assert_int_equal(both.net != NULL, alone->net != NULL && before_is_read);
    if (both.net) {
        if (!same_op(xir_network_op_at(both.net, 2), xir_network_op_at(alone->net, 1)))
            fail_msg("after %s\n%s\nis another op than alone", before, line);
        stored_must_be(both.net, "deepx", both.text.data, both.text.size, line);
    }
    free_outcome(&both);
}

static void a_line_after_each_other(void **state) {
    outcome alone[COUNT(lines)];
    (void)state;
    xir_deepx_as_calls(ctx, true);
    for (size_t i = 0; i < COUNT(lines); i++) alone[i] = read_after(NULL, lines[i]);
    for (size_t i = 0; i < COUNT(lines); i++)
        for (size_t k = 0; k < COUNT(lines); k++)
            if (!has_carriage(lines[i]) || !has_carriage(lines[k]))
                check_pair(lines[i], lines[k], &alone[k], alone[i].net != NULL);
    for (size_t i = 0; i < COUNT(lines); i++) free_outcome(&alone[i]);
    xir_deepx_as_calls(ctx, false);
}

/* More forms than are remembered, each twice: all are read, and come back. */
static void many_forms(void **state) {
    enum { FORMS = 600 };
    buffer text;
    (void)state;
    buffer_init(&text, &memory_default);
    for (int i = 0; i < 2 * FORMS; i++) {
        char line[100];
        snprintf(line, sizeof line, "f%d (tensor<float32>:a%d) -> (tensor<float32>:b%d) // k%d=%d\n", i % FORMS, i, i,
                 i % FORMS % 7, i);
        buffer_str(&text, line);
    }
    xir_diags_clear(why);
    xir_network *net = stored_must_read("deepx", text.data, text.size);
    assert_int_equal(xir_network_op_count(net), 2 * FORMS + 2);
    stored_must_be(net, "deepx", text.data, text.size, "many forms");
    xir_network_free(net);
    buffer_free(&text);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_after_each_other),
        cmocka_unit_test(many_forms),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}

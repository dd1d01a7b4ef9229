/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tags, and undeclared keys of values and of networks, are plain data in files. Params there are for programs: no
 * writer accepts them, since a reader would make maps of them. */
#include "support/kept.h"
#include "support/net.h"

static xir_network *net;
static xir_any      word;   /* Params, or a list of plain data that contains them */

typedef xir_status set_fn(xir_str key, const xir_any *any);

static xir_value *made(void)   { return xir_op_output(op_of(net, 2), 0); }
static xir_value *weight(void) { return value_of(net, 1); }

static xir_status tag_network(xir_str key, const xir_any *any)   { return xir_network_set_tag(net, key, any); }
static xir_status tag_op(xir_str key, const xir_any *any)        { return xir_op_set_tag(op_of(net, 2), key, any); }
static xir_status tag_value(xir_str key, const xir_any *any)     { return xir_value_set_tag(made(), key, any); }
static xir_status tag_params(xir_str key, const xir_any *any)    { return xir_value_set_tag(weight(), key, any); }
static xir_status extra_network(xir_str key, const xir_any *any) { return xir_network_set_extra(net, key, any); }
static xir_status extra_op(xir_str key, const xir_any *any)      { return xir_op_set_extra(op_of(net, 2), key, any); }

static const struct { const char *name; set_fn *set; bool written; } places[] = {
    { "a tag of the network", tag_network, false },
    { "a tag of an op", tag_op, false },
    { "a tag of a value", tag_value, false },
    { "a tag of Params", tag_params, false },
    { "an undeclared key of the network", extra_network, false },
    { "an undeclared attribute", extra_op, true },
};

static xir_status write_as(const char *format, buffer *out) {
    xir_diags_clear(why);
    return xir_network_write(net, keep, out, &XIR_INIT(xir_save_options, .format = format, .unchecked = true), why);
}

static void try_place(size_t i, const char *format) {
    buffer out;
    buffer_init(&out, &memory_default);
    DOES(places[i].set(XIR_STR("k"), &word));
    const xir_status status = write_as(format, &out);
    const xir_diag *d = xir_diags_at(why, 0);
    if (status != (places[i].written ? XIR_OK : XIR_E_UNSUPPORTED))
        fail_msg("%s as %s: %s", places[i].name, format, xir_status_name(status));
    if (status && (!d || d->code != status || !strstr(d->message.data, "has Params")))
        fail_msg("%s as %s: the finding is '%s'", places[i].name, format, d ? d->message.data : "");
    DOES(places[i].set(XIR_STR("k"), NULL));
    out.size = 0;
    assert_int_equal(write_as(format, &out), XIR_OK);
    buffer_free(&out);
}

static void params_in_plain_data_are_refused(void **state) {
    (void)state;
    static const char *const formats[] = { "json", "imodel", "fb" };
    net = small_net();
    const xir_any params = { .kind = XIR_ANY_PARAMS, .as.params = weight() };
    const xir_any items[] = { xir_any_int(1), params };
    for (size_t f = 0; f < COUNT(formats); f++) {
        for (size_t i = 0; i < COUNT(places); i++) {
            word = params;
            try_place(i, formats[f]);
            word = xir_any_list(items, 2);
            try_place(i, formats[f]);
        }
    }
    xir_network_free(net);
}

/* Params that refer to others twice: a text of them all would be 2^60 times as long as one. */
static void it_takes_no_time(void **state) {
    (void)state;
    net = small_net();
    xir_value *last = weight();
    for (int i = 0; i < 60; i++) {
        xir_value *next = xir_params_new(net, XIR_STR("p"), FP32("C", 1));
        const xir_any one = { .kind = XIR_ANY_PARAMS, .as.params = last }, two[] = { one, one };
        const xir_any both = xir_any_list(two, 2);
        DOES(xir_value_set_tag(next, XIR_STR("k"), &both));
        last = next;
    }
    word = (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = last };
    for (size_t i = 0; i < COUNT(places); i++) {
        DOES(places[i].set(XIR_STR("k"), &word));
        buffer out;
        buffer_init(&out, &memory_default);
        assert_int_equal(write_as("json", &out), XIR_E_UNSUPPORTED);
        buffer_free(&out);
        DOES(places[i].set(XIR_STR("k"), NULL));
    }
    xir_diags_clear(why);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(params_in_plain_data_are_refused),
        cmocka_unit_test(it_takes_no_time),
    };
    return RUN_GROUP(tests);
}

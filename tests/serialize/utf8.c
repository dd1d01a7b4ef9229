/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Texts in files are UTF-8. A network may have others, as programs make them: no format that holds every network writes
 * such a text, which its reader would refuse. */
#include "support/formats.h"
#include "support/kept.h"
#include "support/net.h"
#include "support/stored.h"

static xir_network *net;

typedef xir_status set_fn(xir_str text);

static xir_op *op(void) { return op_of(net, 2); }

static xir_status network_text(xir_str text) { return xir_network_set_text(net, XIR_TEXT_FRAMEWORK_VERSION, text); }
static xir_status op_name(xir_str text)      { return xir_op_set_name(op(), text); }
static xir_status value_name(xir_str text)   { return xir_value_set_name(xir_op_output(op(), 0), text); }
static xir_status params_name(xir_str text)  { return xir_value_set_name(value_of(net, 1), text); }

static xir_status tag_text(xir_str text) {
    const xir_any item = xir_any_text(text), list = xir_any_list(&item, 1);
    return xir_network_set_tag(net, XIR_STR("k"), &list);
}

static xir_status tag_key(xir_str text) {
    const xir_entry entry = { text, xir_any_int(1) };
    const xir_any map = xir_any_map(&entry, 1);
    return xir_op_set_tag(op(), XIR_STR("k"), &map);
}

static xir_status extra_key(xir_str text) {
    const xir_any one = xir_any_int(1);
    return xir_op_set_extra(op(), text, &one);
}

static xir_status key_of_a_class(xir_str text) {
    const xir_class *cls = xir_class_opaque(ctx, text);
    const xir_type *type = FP32("NC", 1, 2);
    xir_op *made = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = cls, .id = XIR_NO_ID, .types = &type,
                                                  .n_types = 1, .before = xir_network_output_op(net)));
    return made ? XIR_OK : XIR_E_INVALID;
}

static const struct { const char *name; set_fn *set; } places[] = {
    { "a text of the network", network_text }, { "the name of an op", op_name }, { "the name of a value", value_name },
    { "the name of Params", params_name }, { "a text in a tag", tag_text }, { "a key in a tag", tag_key },
    { "an undeclared key", extra_key }, { "the key of a class", key_of_a_class },
};

/* A piece of text that is refused or comes back. */
static const struct { xir_str text; bool good; } texts[] = {
    { { "\xC3\xA4 and \xF4\x8F\xBF\xBF", 11 }, true },
    { { "\xFF", 1 }, false },
    { { "a name of ordinary length\xC3", 26 }, false },
    { { "12345678901234567890123456789012345\xED\xA0\x80 long", 43 }, false },
};

static xir_network *fresh(size_t place, xir_str text) {
    net = small_net();
    DOES(places[place].set(text));
    return net;
}

static void a_text_is_utf8_or_refused(void **state) {
    (void)state;
    xir_format_info f;
    for (size_t i = 0; written_format_at(i, &f); i++) {
        for (size_t p = 0; p < COUNT(places); p++) {
            for (size_t t = 0; t < COUNT(texts); t++) {
                buffer out;
                buffer_init(&out, &memory_default);
                (void)fresh(p, texts[t].text);
                xir_diags_clear(why);
                const xir_save_options options = XIR_INIT(xir_save_options, .format = f.name, .unchecked = true,
                                                          .no_params = true);
                const xir_status status = xir_network_write(net, keep, &out, &options, why);
                const xir_diag *d = xir_diags_at(why, 0);
                if (status != (texts[t].good ? XIR_OK : XIR_E_INVALID) ||
                    (status && !strstr(d->message.data, "is not UTF-8")))
                    fail_msg("%s of text %zu as %s: %s", places[p].name, t, f.name, xir_status_name(status));
                xir_diags_clear(why);
                if (texts[t].good) xir_network_free(stored_must_read(f.name, out.data, out.size));
                buffer_free(&out);
                xir_network_free(net);
            }
        }
    }
    xir_diags_clear(why);
}

static void so_is_a_text_of_a_part(void **state) {
    (void)state;
    static const char *const formats[] = { "json", "imodel", "fb" };
    xir_text_buffer printed;
    (void)fresh(1, XIR_STR("\xFF"));
    for (size_t i = 0; i < COUNT(formats); i++) {
        buffer out;
        buffer_init(&out, &memory_default);
        assert_int_equal(xir_op_write(op(), formats[i], keep, &out, why), XIR_E_INVALID);
        check_finding(XIR_E_INVALID, "is not UTF-8");
        buffer_free(&out);
    }
    assert_int_equal(xir_op_print(op(), 0, &printed), XIR_E_INVALID);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_utf8_or_refused),
        cmocka_unit_test(so_is_a_text_of_a_part),
    };
    return RUN_GROUP(tests);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Classless values as one more format: reading those of a network's text gives the network; an op of an unknown class
 * gets its attributes from them when the class becomes known. */
#include "codec/any_io.h"
#include "json/json.h"
#include <xir/xir.h>

#define XIR_DEFS "support/later.def"
#include <xir/declare.h>
#define XIR_DEFS "support/later.def"
#include <xir/define.h>

#include "support/own.h"

#include "support/json_net.h"   /* last: the rows above also use the names ctx and why */

static any_levels levels;

static void networks_are_read_from_values(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        paper p = random_network(6);
        arena a;
        arena_init(&a, context_alloc(ctx));
        xir_any any;
        assert_int_equal(json_read_any(ctx, &a, (xir_str){ p.data, p.size }, &any, why), XIR_OK);
        xir_network *net = network_new(ctx);
        decoder d;
        source s;
        decoder_init(&d, ctx, net, &any_source, XIR_STR(""), (xir_str){ NULL, 0 }, why);
        any_source_init(&d, &s, &any, &levels);
        bool ok = decode_network(&d, &s);
        if (!ok) show_findings();
        assert_true(ok);
        decoder_free(&d);
        check_prints(net, 0, p.data, p.size);
        xir_network_free(net);
        arena_free(&a);
        free(p.data);
    }
}

static void values_that_are_not_a_network_are_refused(void **state) {
    (void)state;
    static const struct { const char *text, *path, *sentence; xir_status status; } bad[] = {
        { "[]", "", "expected icraft::xir::Network, found a list", XIR_E_TYPE },
        { "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"_type_key\":\"icraft::xir::ReLU\",\"op_id\":1.5}]}",
          "/ops/0/op_id", "expected an integer, found 1.5", XIR_E_TYPE },
        { "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"_type_key\":\"icraft::xir::ReLU\",\"op_id\":18446744073709551615}]}",
          "/ops/0/op_id", "does not fit", XIR_E_BOUNDS },
        { "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"_type_key\":\"icraft::xir::ReLU\",\"compile_target\":\"@nope\",\"op_id\":1}]}",
          "/ops/0/compile_target", "nope", XIR_E_UNKNOWN },
        { "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"op_id\":1}]}", "/ops/0", "an op needs _type_key", XIR_E_MISSING },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        arena a;
        arena_init(&a, context_alloc(ctx));
        xir_any any;
        assert_int_equal(json_read_any(ctx, &a, xir_str_of(bad[i].text), &any, why), XIR_OK);
        xir_network *net = network_new(ctx);
        decoder d;
        source s;
        decoder_init(&d, ctx, net, &any_source, XIR_STR(""), (xir_str){ NULL, 0 }, why);
        any_source_init(&d, &s, &any, &levels);
        assert_false(decode_network(&d, &s));
        const xir_diag *finding = xir_diags_at(why, 0);
        assert_true(xir_str_equal(finding->path, xir_str_of(bad[i].path)));
        assert_true(finding->byte == XIR_NO_BYTE && finding->line == 0);
        decoder_free(&d);
        xir_network_free(net);
        arena_free(&a);
        check_finding(bad[i].status, bad[i].sentence);
    }
}

/* ---- classes that become known ----------------------------------------------------------------------------- */

#define MAYBE(id) "{\"_allow_no_data\":true,\"_type_key\":\"icraft::xir::Params\",\"dtype\":null,\"mtype\":\"@hostm\",\"name\":\"\"," \
                  "\"tags\":{},\"v_id\":" id "}"
#define SOMEONE(attrs, more) NETWORK_OF(                                                                               \
    "3.33.1.0", "{\"_type_key\":\"someone::Op\",\"compile_target\":\"@hostt\"," attrs "\"inputs\":[],\"name\":\"x\","  \
                             "\"op_id\":1,\"outputs\":[]," more "\"tags\":{\"t\":1}}")

/* A context in which someone::Op is not known yet. */
static xir_context *fresh(void) {
    xir_context *with = xir_context_new(NULL);
    assert_non_null(with);
    return with;
}

static void check_resolved(const char *text, const char *after) {
    xir_context *with = fresh();
    xir_network *net = xir_json_read(with, xir_str_of(text), XIR_STR("x"), why);
    if (!net) show_findings();
    assert_non_null(net);
    xir_op *op = xir_network_first(net);
    assert_true(xir_class_is_opaque(xir_op_class(op)));
    assert_int_equal(xir_class_register(with, xir_someone_class(), why), XIR_OK);
    xir_status status = xir_network_resolve(net, why);
    if (status) show_findings();
    assert_int_equal(status, XIR_OK);
    assert_non_null(xir_someone_of(op));
    check_prints(net, 0, after, strlen(after));
    xir_network_free(net);
    /* As if it had been known from the beginning. */
    net = xir_json_read(with, xir_str_of(text), XIR_STR("x"), why);
    assert_non_null(xir_someone_of(xir_network_first(net)));
    check_prints(net, 0, after, strlen(after));
    xir_network_free(net);
    xir_context_free(with);
}

static void unknown_ops_become_known_ones(void **state) {
    (void)state;
    static const char sorted[] = NETWORK_OF("3.33.1.0",
        "{\"_type_key\":\"someone::Op\",\"compile_target\":\"@hostt\",\"count\":-7,\"counts\":[1,2],\"flag\":true,\"flags\":[true,false],\"gamma\":"
        MAYBE("5") ",\"inputs\":[],\"label\":\"l\",\"labels\":[\"a\",\"\"],\"map\":{\"a\":[1,{\"b\":2.5}]},\"mode\":\"FAST\",\"name\":\"x\",\"op_id\":1,"
        "\"outputs\":[],\"parts\":[],\"ratio\":0.25,\"ratios\":[0.5,\"inf\"],\"runs\":[[3,0,0,0.5],[7,1,2,-1.0]],\"size\":18446744073709551615,"
        "\"tags\":{\"t\":1},\"type\":\"@fp(32)\",\"types\":[\"@sint(8)\"],\"weights\":[" MAYBE("5") "," MAYBE("6") "]}");
    check_resolved(sorted, sorted);
    /* Some rows, an undeclared attribute, an old name, a null. */
    check_resolved(SOMEONE("\"number\":3,", "\"ratio\":1,\"type\":null,\"zeta\":" MAYBE("8") ","),
                   NETWORK_OF("3.33.1.0", "{\"_type_key\":\"someone::Op\",\"compile_target\":\"@hostt\",\"count\":3,\"inputs\":[],\"name\":\"x\","
                              "\"op_id\":1,\"outputs\":[],\"ratio\":1.0,\"tags\":{\"t\":1},\"type\":null,\"zeta\":" MAYBE("8") "}"));
    check_resolved(SOMEONE("", ""), SOMEONE("", ""));
}

static void attributes_that_do_not_fit_leave_the_op_unknown(void **state) {
    (void)state;
    static const struct { const char *text, *path; xir_status status; } bad[] = {
        { SOMEONE("\"count\":\"many\",", ""), "/ops/0/count", XIR_E_TYPE },
        { SOMEONE("\"flag\":1,", ""), "/ops/0/flag", XIR_E_TYPE },
        { SOMEONE("\"label\":1,\"mode\":\"QUICK\",", ""), "/ops/0/label", XIR_E_TYPE },
        { SOMEONE("\"mode\":\"QUICK\",", ""), "/ops/0/mode", XIR_E_UNKNOWN },
        { SOMEONE("\"size\":-1,", ""), "/ops/0/size", XIR_E_BOUNDS },
        { SOMEONE("\"runs\":[[1,2]],", ""), "/ops/0/runs/0", XIR_E_TYPE },
        { SOMEONE("\"type\":\"@layout(C)\",", ""), "/ops/0/type", XIR_E_TYPE },
        { SOMEONE("\"gamma\":[" MAYBE("5") "],", ""), "/ops/0/gamma", XIR_E_TYPE },
        { SOMEONE("\"count\":1,\"number\":2,", ""), "/ops/0/number", XIR_E_EXISTS },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        xir_context *with = fresh();
        xir_network *net = xir_json_read(with, xir_str_of(bad[i].text), XIR_STR("x"), why);
        if (!net) show_findings();
        assert_non_null(net);
        xir_op *op = xir_network_first(net);
        assert_int_equal(xir_class_register(with, xir_someone_class(), why), XIR_OK);
        assert_int_equal(xir_network_resolve(net, why), bad[i].status);
        assert_int_equal(xir_diags_count(why), 1);
        if (!xir_str_equal(xir_diags_at(why, 0)->path, xir_str_of(bad[i].path))) show_findings();
        assert_true(xir_str_equal(xir_diags_at(why, 0)->path, xir_str_of(bad[i].path)));
        xir_diags_clear(why);
        assert_true(xir_class_is_opaque(xir_op_class(op)));
        xir_text_buffer out;
        assert_int_equal(xir_json_print(net, 0, &out), XIR_OK);
        xir_text_free(&out);
        xir_network_free(net);
        xir_context_free(with);
    }
}

/* ---- classes unlike the built-in ones --------------------------------------------------------------------------- */

static void wide_classes_are_read_and_written(void **state) {
    (void)state;
    assert_int_equal(xir_class_register(ctx, xir_wide_class(), why), XIR_OK);
    paper p = { 0 };
    put(&p, "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[");
    for (int id = 0; id < 3; id++) {
        put(&p, "%s{\"_type_key\":\"someone::Wide\"", id ? "," : "");
        for (int i = 0; i < 300; i++) {
            /* Absence is remembered for the first 64 attributes. */
            if (i >= 64 || i % 3 != id) put(&p, ",\"%c%02d\":%d", 'a' + i / 100, i % 100, i * (id + 1));
            if (i == 299)
                put(&p, ",\"c995\":null,\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\",\"op_id\":%d,\"outputs\":[],\"tags\":{}}", id);
        }
    }
    put(&p, "],\"tags\":{}}");
    check_round(p.data, p.size);
    free(p.data);
    static const char twice[] =
        "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[{\"_type_key\":\"someone::Wide\",\"op_id\":1,\"c98\":1,\"c98\":2}]}";
    assert_null(read_net(twice, strlen(twice)));
    check_finding(XIR_E_EXISTS, "c98");
}

static void objects_may_have_any_rows(void **state) {
    (void)state;
    assert_int_equal(xir_class_register(ctx, xir_boxed_class(), why), XIR_OK);
    static const char *const good_texts[] = {
        "{\"_type_key\":\"someone::Boxed\",\"anything\":{\"a\":[1,{}]},\"inner\":null,\"size\":18446744073709551615}",
        "{\"_type_key\":\"someone::Boxed\",\"inner\":{\"_type_key\":\"icraft::xir::AlignedUnit\",\"index\":[1]}}",
        "{\"_type_key\":\"someone::Boxed\"}",
    };
    for (size_t i = 0; i < 3; i++) {
        const xir_object *object = xir_object_parse(ctx, xir_str_of(good_texts[i]), why);
        if (!object) show_findings();
        xir_text_buffer out;
        assert_int_equal(xir_object_print(ctx, object, 0, &out), XIR_OK);
        check_same(out.data, out.size, good_texts[i], strlen(good_texts[i]));
        xir_text_free(&out);
    }
    static const struct { const char *text, *path; xir_status status; } bad[] = {
        { "{\"_type_key\":\"someone::Boxed\",\"size\":1.5}", "/size", XIR_E_TYPE },
        { "{\"_type_key\":\"someone::Boxed\",\"size\":-1}", "/size", XIR_E_BOUNDS },
        { "{\"_type_key\":\"someone::Boxed\",\"anything\":[]}", "/anything", XIR_E_TYPE },
        { "{\"_type_key\":\"someone::Boxed\",\"inner\":{\"_type_key\":\"someone::Other\"}}", "/inner", XIR_E_UNKNOWN },
        { "{\"_type_key\":\"someone::Boxed\",\"inner\":{\"_type_key\":\"icraft::xir::AlignedUnit\",\"x\":1,\"x\":1}}", "/inner", XIR_E_EXISTS },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_null(xir_object_parse(ctx, xir_str_of(bad[i].text), why));
        assert_true(xir_str_equal(xir_diags_at(why, 0)->path, xir_str_of(bad[i].path)));
        check_finding(bad[i].status, "");
    }
}

/* ---- keys that only some formats have --------------------------------------------------------------------------- */

static void write_more(encoder *e, void *user) { e->sink->ops->text(e->sink, xir_str_of(user)); }

static bool read_more(decoder *d, source *s, xir_str key, bool *taken, void *user) {
    (void)d;
    *taken = xir_str_equal(key, XIR_STR("params"));
    return !*taken || s->ops->text(s, user);
}

static void a_format_may_have_one_more_key(void **state) {
    (void)state;
    xir_network *net = must_read(SMALL, strlen(SMALL));
    json_sink j;
    encoder e;
    json_sink_init(&j, ctx, 0, NULL, NULL);
    encoder_init(&e, ctx, net, &j.sink);
    char more[] = "the bytes";
    e.more = &(encoder_more){ "params", write_more, more };
    encode_network(&e, 7, XIR_STR("abc"));
    assert_int_equal(json_sink_end(&j), XIR_OK);
    assert_non_null(memmem(j.out.data, j.out.size,
                           "],\"params\":\"the bytes\",\"params_bytes\":7,\"params_md5\":\"abc\",\"tags\":{}}", 67));
    xir_network_free(net);
    net = network_new(ctx);
    decoder d;
    source s;
    xir_str found = { NULL, 0 };
    decoder_init(&d, ctx, net, &json_source, XIR_STR(""), (xir_str){ j.out.data, j.out.size }, why);
    decoder_source(&d, &s, &json_source, j.out.data, j.out.size);
    d.other_key = read_more;
    d.user = &found;
    assert_true(decode_network(&d, &s));
    assert_true(xir_str_equal(found, XIR_STR("the bytes")));
    assert_null(xir_network_extra(net));
    decoder_free(&d);
    xir_network_free(net);
    encoder_free(&e);
    json_sink_free(&j);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static bool resolve(xir_context *with) {
    static const char text[] = SOMEONE("\"count\":3,\"counts\":[1,2,3],\"gamma\":" MAYBE("5") ",",
                                       "\"ratio\":1,\"zeta\":[1],");
    if (xir_class_register(with, xir_wide_class(), NULL)) return false;
    xir_network *net = xir_json_read(with, XIR_STR(text), XIR_STR("x"), NULL);
    bool ok = net && xir_class_register(with, xir_someone_class(), NULL) == XIR_OK;
    xir_op *op = ok ? xir_network_first(net) : NULL;
    if (ok) {
        ok = xir_network_resolve(net, NULL) == XIR_OK;
        assert_true(ok != xir_class_is_opaque(xir_op_class(op)));
    }
    xir_network_free(net);
    return ok;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    check_memory(resolve);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_are_read_from_values),
        cmocka_unit_test(values_that_are_not_a_network_are_refused),
        cmocka_unit_test(unknown_ops_become_known_ones),
        cmocka_unit_test(attributes_that_do_not_fit_leave_the_op_unknown),
        cmocka_unit_test(wide_classes_are_read_and_written),
        cmocka_unit_test(objects_may_have_any_rows),
        cmocka_unit_test(a_format_may_have_one_more_key),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return RUN_GROUP(tests);
}

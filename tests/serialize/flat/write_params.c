/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* FlatBuffers files of networks with parameters: places of payloads, orders, sizes, limits, refused memory, a write
 * callback that stops. And a network made by a program, slot by slot. */
#include <sys/mman.h>
#include <xir/icraft.h>
#include "support/raw_net.h"
#include "support/flat_file.h"
#include "support/scarce.h"

/* ---- slots -------------------------------------------------------------------------------------------------- */

static void slots_of_a_convolution(void **state) {
    (void)state;
    xir_network *net = small_net();
    DOES(xir_value_set_id(value_of(net, 0), 77));
    flat_file f = flat_written(net);
    size_t root = flat_root(&f), conv = flat_op_at(&f, 1), relu = flat_op_at(&f, 2);
    assert_string_equal(flat_slot_text(&f, root, AT_NET_NAME), "small");
    assert_string_equal(flat_slot_text(&f, root, AT_NET_KIND), "PYTORCH");
    assert_string_equal(flat_slot_text(&f, root, AT_NET_XIR_VERSION), "3.33.1.0");
    assert_string_equal(flat_slot_text(&f, root, AT_NET_TAGS), "{}");
    assert_int_equal(flat_slot_number(&f, root, AT_NET_TARGET_TYPE, 1), 4);   /* BuyiTarget */
    assert_int_equal(flat_slot_to(&f, root, AT_NET_EXTRA), 0);
    assert_int_equal(flat_slot_to(&f, root, AT_NET_TABLE), 0);

    assert_int_equal(flat_count(&f, flat_ops(&f)), 6);
    size_t tags = flat_slot_to(&f, root, AT_NET_OPS_TYPE);
    /* Input Conv2d ReLU MaxPool2d Add Output */
    assert_memory_equal(f.data + tags + 4, "\x01\x19\x4C\x3C\x06\x02", 6);

    /* stride, stride, four pads, two dilations, groups, padding_mode, cut_scale (two slots), then the base. */
    static const uint64_t numbers[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    for (unsigned i = 0; i < 9; i++) assert_int_equal(flat_slot_number(&f, conv, i, 8), numbers[i]);
    assert_string_equal(flat_slot_text(&f, conv, 9), "ZEROS");
    assert_int_equal(flat_slot_number(&f, conv, 10, 1), 2);   /* QuantizedScaleArray */
    size_t scale = flat_slot_to(&f, conv, 11);
    assert_int_equal((int64_t)flat_slot_number(&f, scale, 0, 8), -1);
    assert_int_equal(flat_count(&f, flat_slot_to(&f, scale, 1)), 0);
    assert_int_equal(flat_slot_number(&f, conv, 12 + AT_OP_ID, 8), 1);
    assert_string_equal(flat_slot_text(&f, conv, 12 + AT_OP_NAME), "conv");
    assert_int_equal(flat_slot_number(&f, conv, 12 + AT_OP_TARGET_TYPE, 1), 1);   /* HostTarget */
    assert_string_equal(flat_slot_text(&f, conv, 12 + AT_OP_TAGS), "{}");
    assert_int_equal(flat_slot_to(&f, conv, 12 + AT_OP_EXTRA), 0);
    size_t inputs = flat_slot_to(&f, conv, 12 + AT_OP_INPUTS), kinds = flat_slot_to(&f, conv, 12 + AT_OP_INPUTS_TYPE);
    assert_int_equal(flat_count(&f, inputs), 2);
    assert_memory_equal(f.data + kinds + 4, "\x02\x01", 2);   /* Value, Params */

    /* A value is one table, whatever uses it. */
    size_t in = flat_item_at(&f, inputs, 0), weights = flat_item_at(&f, inputs, 1);
    size_t made = flat_item_at(&f, flat_slot_to(&f, flat_op_at(&f, 0), AT_OP_OUTPUTS), 0);
    assert_int_equal(in, made);
    assert_int_equal(flat_slot_number(&f, in, AT_VALUE_ID, 8), 77);
    assert_string_equal(flat_slot_text(&f, in, AT_VALUE_NAME), "in");
    assert_string_equal(flat_slot_text(&f, flat_op_at(&f, 0), AT_OP_NAME), "in");
    assert_int_equal(flat_slot_number(&f, in, AT_VALUE_MTYPE_TYPE, 1), 1);   /* HostMem */
    assert_int_equal(flat_slot_number(&f, in, AT_VALUE_DTYPE_TYPE, 1), 10);  /* TensorType */
    size_t type = flat_slot_to(&f, in, AT_VALUE_DTYPE), extent = flat_slot_to(&f, type, 2);
    assert_int_equal(flat_slot_number(&f, type, 0, 1), 3);                   /* FloatType */
    static const int64_t dims[] = { 1, 8, 8, 3 };
    assert_int_equal(flat_count(&f, extent), 4);
    for (size_t i = 0; i < 4; i++) assert_int_equal(flat_number(&f, extent + 4 + 8 * i, 8), dims[i]);
    size_t layout = flat_slot_to(&f, type, 3), axes = flat_slot_to(&f, layout, 1);
    static const char *const letters[] = { "N", "H", "W", "C" };
    for (size_t i = 0; i < 4; i++) assert_string_equal(flat_slot_text(&f, flat_item_at(&f, axes, i), 0), letters[i]);
    assert_int_equal(flat_slot_to(&f, flat_item_at(&f, flat_slot_to(&f, flat_op_at(&f, 2), 3 + AT_OP_OUTPUTS), 0),
                                  AT_VALUE_DTYPE),
                     flat_slot_to(&f, flat_item_at(&f, flat_slot_to(&f, conv, 12 + AT_OP_OUTPUTS), 0), AT_VALUE_DTYPE));
    assert_string_equal(flat_slot_text(&f, weights, AT_PARAMS_NAME), "w");
    assert_int_equal(flat_slot_number(&f, weights, AT_PARAMS_ID, 8), 1);
    assert_int_equal(flat_slot_at(&f, weights, AT_PARAMS_DATA), 0);

    /* max_value is infinite; 0 is absent. */
    assert_int_equal(flat_slot_at(&f, relu, 0), 0);
    assert_int_equal(flat_slot_number(&f, relu, 1, 4), 0x7F800000);
    free(f.data);
    xir_network_free(net);
}

/* ---- payloads ------------------------------------------------------------------------------------------------ */

static size_t data_of(const flat_file *f, size_t table) { return flat_slot_to(f, table, AT_PARAMS_DATA); }

static void payloads_follow_the_structure(void **state) {
    static const raw_param wanted[] = { { 3, 4 }, { 7, 0 }, { 5, 5000 }, { (int64_t)1 << 40, 1 }, { 9, 0 } };
    static const uint32_t aligns[] = { 1, 4, 16, 4096, 1 << 16 };
    (void)state;
    for (size_t a = 0; a < COUNT(aligns); a++) {
        xir_value *values[COUNT(wanted)];
        xir_network *net = raw_network(ctx, wanted, COUNT(wanted), 3, values);
        for (size_t i = 0; i < COUNT(wanted); i++) raw_fill(values[i]);
        flat_file f = flat_written_aligned(net, aligns[a]);
        uint32_t align = aligns[a] < 4 ? 4 : aligns[a];
        size_t op = flat_op_at(&f, 1), end = 0;
        size_t inputs = flat_slot_to(&f, op, 6 + AT_OP_INPUTS), attrs = flat_slot_to(&f, op, 1);
        for (size_t i = 0; i < COUNT(wanted); i++) {
            size_t table = i < 3 ? flat_item_at(&f, inputs, i + 1) : flat_item_at(&f, attrs, i - 3),
                   data = data_of(&f, table);
            assert_int_equal(flat_slot_number(&f, table, AT_PARAMS_ID, 8), wanted[i].id);
            assert_int_equal(flat_count(&f, data), wanted[i].size);
            if (wanted[i].size) assert_int_equal((data + 4) % align, 0);
            assert_true(data >= end);   /* in payload order, one after the other, zeros between */
            for (size_t k = end; end && k < data; k++) assert_int_equal(f.data[k], 0);
            end = data + 4 + (size_t)wanted[i].size;
            for (size_t k = 0; k < (size_t)wanted[i].size; k++)
                assert_int_equal(f.data[data + 4 + k], raw_byte(wanted[i].id, k));
        }
        assert_int_equal(end, f.size);
        free(f.data);
        xir_network_free(net);
    }
}

/* Small payloads are not aligned to pages, unless that is requested. */
static void small_payloads_take_little_room(void **state) {
    (void)state;
    enum { N = 1000 };
    static raw_param wanted[N + 2];
    xir_value *values[N + 2];
    for (int i = 0; i < N; i++) wanted[i] = (raw_param){ i + 3, 16 };
    wanted[N] = (raw_param){ N + 3, 4096 };
    wanted[N + 1] = (raw_param){ N + 4, 4095 };
    for (size_t more = 0; more <= 2; more += 2) {
        xir_network *net = raw_network(ctx, wanted, N + more, 3, values);
        for (size_t i = 0; i < N + more; i++) raw_fill(values[i]);
        raw_memory usual = { 0 }, paged = { 0 };
        const xir_save_options of_usual = XIR_INIT(xir_save_options, .format = "fb", .unchecked = true),
                               of_paged = XIR_INIT(xir_save_options, .format = "fb", .unchecked = true, .align = 4096);
        DOES(xir_network_write(net, raw_memory_write, &usual, &of_usual, why));
        DOES(xir_network_write(net, raw_memory_write, &paged, &of_paged, why));
        assert_true(usual.size < 250000 + 5 * 4096 * more);
        assert_true(paged.size > N * 4096);
        flat_file f = { .data = usual.data, .size = usual.size };
        size_t op = flat_op_at(&f, 1), attrs = flat_slot_to(&f, op, 1);
        for (size_t i = 3; i < N + more; i++) {
            const size_t data = data_of(&f, flat_item_at(&f, attrs, i - 3));
            assert_int_equal((data + 4) % (wanted[i].size >= 4096 ? 4096 : 64), 0);
        }
        xir_network *again = xir_network_read(ctx, paged.data, paged.size, XIR_STR("old"), NULL, why);
        assert_non_null(again);
        raw_memory same = { 0 };
        DOES(xir_network_write(again, raw_memory_write, &same, &of_usual, why));
        assert_int_equal(same.size, usual.size);
        assert_memory_equal(same.data, usual.data, usual.size);
        xir_network_free(again);
        xir_network_free(net);
        free(usual.data);
        free(paged.data);
        free(same.data);
    }
}

static void orders_are_kept(void **state) {
    (void)state;
    static const raw_param three[] = { { 3, 4 }, { 7, 0 }, { 5, 6 } };
    uint8_t raw[64];
    raw_put_header(raw, 3);   /* payloads 5, 3, 7; table 7, 5, 3 */
    raw_put_entry(raw, 0, 7, 62);
    raw_put_entry(raw, 1, 5, 52);
    raw_put_entry(raw, 2, 3, 58);
    for (size_t i = 0; i < 6; i++) raw[52 + i] = raw_byte(5, i);
    for (size_t i = 0; i < 4; i++) raw[58 + i] = raw_byte(3, i);
    xir_network *net = raw_network(ctx, three, 3, 3, NULL);
    DOES(xir_raw_read(net, raw, 62, XIR_LOAD_NO_MD5, why));
    flat_file f = flat_written_aligned(net, 8);
    size_t inputs = flat_slot_to(&f, flat_op_at(&f, 1), 6 + AT_OP_INPUTS),
           table = flat_slot_to(&f, flat_root(&f), AT_NET_TABLE);
    size_t of3 = data_of(&f, flat_item_at(&f, inputs, 1)), of7 = data_of(&f, flat_item_at(&f, inputs, 2)),
           of5 = data_of(&f, flat_item_at(&f, inputs, 3));
    assert_true(of5 < of3 && of3 < of7);
    assert_int_equal(flat_count(&f, table), 3);
    static const int64_t ids[] = { 7, 5, 3 };
    for (size_t i = 0; i < 3; i++) assert_int_equal(flat_number(&f, table + 4 + 8 * i, 8), ids[i]);
    assert_int_equal(flat_slot_number(&f, flat_root(&f), AT_NET_BYTES, 8), 62);   /* of the raw file */
    free(f.data);
    xir_network_free(net);
}

static void some_without_bytes_are_a_failure(void **state) {
    (void)state;
    static const raw_param two[] = { { 3, 4 }, { 5, 6 } };
    xir_value *values[2];
    xir_network *net = raw_network(ctx, two, 2, 1, values);
    flat_file f = flat_written(net);   /* without any bytes: the structure alone */
    assert_int_equal(data_of(&f, flat_item_at(&f, flat_slot_to(&f, flat_op_at(&f, 1), 6 + AT_OP_INPUTS), 1)), 0);
    free(f.data);
    raw_fill(values[0]);
    f = (flat_file){ 0 };
    assert_int_equal(flat_write_to(net, &f, 4096, why), XIR_E_MISSING);
    check_finding(XIR_E_MISSING, "v_id 5 'p1' has no bytes");
    assert_int_equal(f.calls, 0);
    /* A structure alone has none either. */
    f = (flat_file){ 0 };
    const format_writing alone = { .path = "", .align = 4096, .no_params = true, .write = flat_gather, .user = &f,
                                   .why = why };
    assert_int_equal(flat_write(net, &alone), XIR_OK);
    assert_int_equal(data_of(&f, flat_item_at(&f, flat_slot_to(&f, flat_op_at(&f, 1), 6 + AT_OP_INPUTS), 1)), 0);
    free(f.data);
    /* Params that may lack bytes have no `_data`. */
    xir_params_set_allow_no_data(values[1], true);
    f = flat_written(net);
    size_t op = flat_op_at(&f, 1), other = flat_item_at(&f, flat_slot_to(&f, op, 1), 0);
    assert_int_not_equal(data_of(&f, flat_item_at(&f, flat_slot_to(&f, op, 6 + AT_OP_INPUTS), 1)), 0);
    assert_int_equal(data_of(&f, other), 0);
    assert_int_equal(flat_slot_number(&f, other, AT_PARAMS_ALLOW, 1), 1);
    free(f.data);
    xir_network_free(net);
}

/* ---- sharing ------------------------------------------------------------------------------------------------- */

/* A chain of ReLUs without names: each costs its table, a value, two vectors of one and its entries in the
 * network's. */
static void one_more_op_costs_little(void **state) {
    (void)state;
    size_t sizes[2];
    for (size_t k = 0; k < 2; k++) {
        xir_network *net = new_net();
        xir_at at = xir_at_end(net);
        xir_value *x = xir_input(at, "", FP32("NHWC", 1, 2, 2, 3));
        for (size_t i = 0; i < 100 + 100 * k; i++) x = xir_build_relu(at, x, "");
        xir_output(at, XIR_VALUES(x));
        flat_file f = flat_written(net);
        sizes[k] = f.size;
        free(f.data);
        xir_network_free(net);
    }
    /* 45 and 3 to align, 30 and 2; vectors of 8, with shared tags; 4 + 1. The total is a multiple of 8. */
    assert_in_range(sizes[1] - sizes[0], 100 * (48 + 32 + 2 * 8 + 5) - 7, 100 * (48 + 32 + 2 * 8 + 5) + 7);
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

static xir_status written_nowhere(xir_network *net) {
    flat_file f = { 0 };
    xir_status status = flat_write_to(net, &f, 4096, why);
    assert_int_equal(f.size, 0);
    free(f.data);
    return status;
}

/* Params of so many zeros, none of which takes memory. */
static xir_network *sparse_net(const int64_t *sizes, size_t n, void **zeros) {
    raw_param wanted[8];
    xir_value *values[8];
    *zeros = mmap(NULL, (size_t)1 << 31, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(*zeros, MAP_FAILED);
    for (size_t i = 0; i < n; i++) wanted[i] = (raw_param){ (int64_t)i + 1, sizes[i] };
    xir_network *net = raw_network(ctx, wanted, n, n, values);
    for (size_t i = 0; i < n; i++) DOES(xir_params_set_borrow(values[i], *zeros, (uint64_t)sizes[i], NULL, NULL));
    net->raw_known = true;   /* skips their digest, which takes seconds */
    DOES(xir_network_set_text(net, XIR_TEXT_PARAMS_MD5, XIR_STR("00000000000000000000000000000000")));
    return net;
}

static uint64_t counted;
static bool count_only(void *user, const void *data, size_t size) {
    (void)user;
    (void)data;
    counted += size;
    return true;
}

static void two_gib_are_the_limit(void **state) {
    (void)state;
    void *zeros;
    const int64_t one = (int64_t)1 << 31, other = 0x7FFFFFFF - 4;
    xir_network *net = sparse_net(&one, 1, &zeros);
    assert_int_equal(written_nowhere(net), XIR_E_LIMIT);
    check_finding(
        XIR_E_LIMIT,
        "the parameters take 2147483648 bytes, which a FlatBuffers file cannot hold: save as JSON with a raw "
        "file next to it (.json)");
    xir_network_free(net);
    munmap(zeros, (size_t)1 << 31);
    net = sparse_net(&other, 1, &zeros);
    assert_int_equal(written_nowhere(net), XIR_E_LIMIT);
    check_finding(XIR_E_LIMIT, "structure and parameters take ");
    xir_network_free(net);
    munmap(zeros, (size_t)1 << 31);

    /* The largest allowed: 4096 bytes precede the payload. */
    const int64_t most = 0x7FFFFFFF - 4096;
    net = sparse_net(&most, 1, &zeros);
    format_writing how = { .path = "", .align = 4096, .write = count_only, .why = why };
    counted = 0;
    DOES(flat_write(net, &how));
    assert_int_equal(counted, 0x7FFFFFFF);
    xir_network_free(net);
    munmap(zeros, (size_t)1 << 31);
}

/* A text larger than any network can have replaces one: its contents are not read. */
static void a_structure_that_is_too_large(void **state) {
    (void)state;
    const xir_type *matrix = FP32("**", 2, 2);
    xir_network *net = new_net();
    xir_at at = xir_at_end(net);
    xir_value *x = xir_input(at, "", matrix);
    xir_einsum_attrs attrs = xir_einsum_init();
    attrs.equation = XIR_STR("ab,bc->ac");
    xir_op *op = xir_network_add(net, &(xir_op_desc)DESC(einsum, .attrs = &attrs, INPUTS(x, x), TYPES(matrix)));
    assert_non_null(op);
    free(flat_written(net).data);
    const void *before = op->attrs;
    attrs.equation.size = (size_t)1 << 31;
    op->attrs = &attrs;
    assert_int_equal(written_nowhere(net), XIR_E_LIMIT);
    check_finding(
        XIR_E_LIMIT,
        "the structure takes more than 2147483647 bytes, which a FlatBuffers file cannot hold: save as JSON");
    op->attrs = before;
    xir_network_free(net);
}

/* ---- failures ------------------------------------------------------------------------------------------------ */

static void a_callback_that_stops_is_a_failure(void **state) {
    (void)state;
    static const raw_param wanted[] = { { 3, 4 }, { 7, 0 }, { 5, 9000 } };
    xir_value *values[3];
    xir_network *net = raw_network(ctx, wanted, 3, 2, values);
    for (size_t i = 0; i < 3; i++) raw_fill(values[i]);
    flat_file whole = flat_written(net);
    assert_true(whole.calls >= 1 + 3 + 2);
    for (int stop = 1; stop <= whole.calls; stop++) {
        flat_file f = { .stop = stop };
        assert_int_equal(flat_write_to(net, &f, 4096, why), XIR_E_IO);
        assert_int_equal(f.calls, stop);   /* it is not called again */
        assert_true(f.size < whole.size && memcmp(f.data ? f.data : whole.data, whole.data, f.size) == 0);
        free(f.data);
    }
    assert_int_equal(xir_diags_count(why), 0);   /* the callback knows why it stopped */
    free(whole.data);
    xir_network_free(net);
}

static bool gather_plenty(void *user, const void *data, size_t size) {
    want *w = user;
    bool plenty = w->memory.plenty;
    w->memory.plenty = true;
    size_t had = w->result ? strlen(w->result) / 2 : 0;
    w->result = realloc(w->result, 2 * (had + size) + 1);
    if (!w->result) abort();
    for (size_t i = 0; i < size; i++) snprintf(w->result + 2 * (had + i), 3, "%02x", ((const uint8_t *)data)[i]);
    w->memory.plenty = plenty;
    return true;
}

static xir_status write_scarcely(want *w) {
    free(w->result);
    w->result = NULL;
    format_writing how = { .path = "", .align = 16, .write = gather_plenty, .user = w, .why = w->why };
    return flat_write(w->net, &how);
}

/* A network with everything that takes memory: an op of an unknown class with two outputs and Params in it; sub ops. */
static char *scarce_text(void) {
    static const char value[] =
        "{\"_type_key\":\"icraft::xir::Value\",\"dtype\":\"@fp(32)\",\"mtype\":\"@hostm\",\"name\":\"v\",\"tags\":{},"
                                "\"v_id\":%d}";
    static const char params_[] =
        "{\"_allow_no_data\":false,\"_type_key\":\"icraft::xir::Params\",\"dtype\":\"@sint(8)\",\"mtype\":"
                                  "\"@etm(8)\",\"name\":\"\",\"tags\":{\"a\":[]},\"v_id\":%d}";
    char one[300], two[300], three[300], five[300], *text = malloc(4000);
    if (!text) abort();
    snprintf(one, sizeof one, value, 1);
    snprintf(two, sizeof two, value, 2);
    snprintf(three, sizeof three, value, 3);
    snprintf(five, sizeof five, params_, 5);
    snprintf(text, 4000,
             "{\"_type_key\":\"icraft::xir::Network\",\"icraft_xir_version\":\"3.6.2.82\",\"name\":\"n\",\"ops\":["
             "{\"_type_key\":\"someone::Op\",\"a\":[%s],\"inputs\":[%s,null,%s],\"name\":\"\",\"op_id\":0,\"outputs\":[%s,%s],\"tags\":{\"k\":1}},"
             "{\"_type_key\":\"icraft::xir::HardOp\",\"inputs\":[],\"name\":\"\",\"op_id\":1,\"outputs\":[],\"sub_hard_ops\":["
             "{\"_type_key\":\"icraft::xir::HardOp\",\"inputs\":[%s],\"name\":\"\",\"op_id\":2,\"outputs\":[]}],\"tags\":{}},"
             "{\"_type_key\":\"icraft::xir::ReLU\",\"alpha\":0.1,\"inputs\":[%s],\"name\":\"\",\"op_id\":3,\"outputs\":[],\"tags\":{}}],"
             "\"tags\":{}}", five, one, five, two, three, five, two);
    return text;
}

static void writing(want *w) {
    IN_PLENTY(w, {
        char *text = scarce_text();
        w->net = xir_json_read(w->ctx, xir_str_of(text), XIR_STR(""), w->why);
        if (!w->net) abort();
        free(text);
    });
    TRY(w, write_scarcely(w));
    IN_PLENTY(w, xir_network_free(w->net); w->net = NULL);
}

static void refused_memory_is_a_failure(void **state) {
    (void)state;
    run_scarcely("writing", writing, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_of_a_convolution),
        cmocka_unit_test(payloads_follow_the_structure),
        cmocka_unit_test(small_payloads_take_little_room),
        cmocka_unit_test(orders_are_kept),
        cmocka_unit_test(some_without_bytes_are_a_failure),
        cmocka_unit_test(one_more_op_costs_little),
        cmocka_unit_test(two_gib_are_the_limit),
        cmocka_unit_test(a_structure_that_is_too_large),
        cmocka_unit_test(a_callback_that_stops_is_a_failure),
        cmocka_unit_test(refused_memory_is_a_failure),
    };
    return RUN_GROUP(tests);
}

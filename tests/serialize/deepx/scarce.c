/* Reading and writing DeepX IR while memory is short: every allocation is refused, once and permanently. A failure
 * gives XIR_E_MEMORY and no network, leaks nothing, and the call succeeds when it is repeated. */
#include "support/kept.h"
#include "support/scarce.h"

static const char text[] =
    "# a note\n"
    "matmul(tensor<float64|float32>:A, tensor<any>:B)->(tensor<any>:C) // author=cblas\n"
    "newtensor (vector<int32>:[3 4]) -> (tensor<float32>:a) //  created_at=1\n"
    "concat(listtensor<any>:[a input], var<int32>:1)->(tensor<float32>:a)\n"
    "reshape  (tensor<float32>:a, vector<int32>:[12]) -> (tensor<float32>:a)\n"
    "renametensor(var<string>:b)->(tensor<float32>:a)\n"
    "deepxir f(x: f32) -> (y: f32) {\n    g(x)->(y)\n}\n"
    "f(b)->(c)";

static xir_network *read_once(want *w) {
    return xir_network_read(w->ctx, text, sizeof text - 1, XIR_STR("x.ir"),
                            &XIR_INIT(xir_load_options, .format = "deepx"), w->why);
}

static void reading(want *w) {
    xir_network *net, *expected;
    TRY_MAKE(w, net, read_once(w));
    IN_PLENTY(w, expected = read_once(w));
    IN_PLENTY(w,
        const char *broken = broken_invariant(net, ASK_ALL);
        if (broken) fail_msg("a network that was read: %s", broken);
        assert_true(xir_network_equal(net, expected, true));
        xir_network_free(expected);
        xir_network_free(net));
}

static void writing(want *w) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "deepx", .unchecked = true);
    buffer out;
    xir_network *net;
    buffer_init(&out, &memory_default);
    IN_PLENTY(w, net = read_once(w));
    TRY(w, xir_network_write(net, keep, &out, &options, w->why));
    IN_PLENTY(w, xir_network_free(net));
    buffer_free(&out);
}

#define SCENARIO(name)                                   \
    static void test_##name(void **state) {              \
        (void)state;                                     \
        run_scarcely(#name, name, false);                \
    }
SCENARIO(reading)
SCENARIO(writing)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_writing),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}

/* Reading and writing modules of TensorStack while memory is short: every allocation is refused, once and permanently.
 * A failure gives XIR_E_MEMORY and no network, leaks nothing, and the call succeeds when it is repeated. */
#include "support/scarce.h"
#include "support/tsm_make.h"

static const char usual[] =
    "inputs 0\noutputs 3\nn <param> x - #dtype=5::10 #shape=5:2:1,4\nn <const> w - value=10:4,2:1,2\n"
    "n relu r 0\nn inner_prod p 2,1 format='NCHW list=5:3:1,2,3 transpose=21::1\n";
/* Tags of every kind, Params of attributes, several tensors. */
static const char odd[] =
    "inputs 5\noutputs 0,4\nn add y 1,2\nn * * 5 #op='exp wide=11:2,2:1,2.5 #name='y nan=10::nan u=17:2:1,2\n"
    "n <const> c - device='cpu more=22:2: value=10::1\nn <const> free - value=15:3:\n"
    "n <const> p - value=10:1:1+5:2:3,4\nn <param> x - #shape=7:1:4 extra=10::nan\nn many ' 4,0 a=5::1 b=5::1 c=5::1 "
    "d=5::1 e=5::1 f=5::1 g=5::1 h=5::1 i=5::1 j=5::1 k=5::1 l=5::1 m=5::1 n=5::1 o=5::1 p=5::1 q=5::1 r=5::1\n";

static xir_network *read_once(want *w, const tsm_made *f) {
    return xir_network_read(w->ctx, f->bytes, f->size, XIR_STR("x.tsm"),
                            &XIR_INIT(xir_load_options, .format = "tsm"), w->why);
}

static void read_and_compare(want *w, const char *text) {
    tsm_made f;
    xir_network *net, *expected;
    tsm_make(&f, text);
    f.bytes[0] = 1;
    TRY_MAKE(w, net, read_once(w, &f));
    IN_PLENTY(w, expected = read_once(w, &f));
    IN_PLENTY(w,
        const char *broken = broken_invariant(net, ASK_ALL);
        if (broken) fail_msg("a network that was read: %s", broken);
        assert_true(xir_network_equal(net, expected, true));
        xir_network_free(expected);
        xir_network_free(net));
}

static void reading(want *w) { read_and_compare(w, usual); }
static void reading_an_unusual_file(want *w) { read_and_compare(w, odd); }

static bool keep(void *user, const void *data, size_t size) {
    buffer_put(user, data, size);
    return true;
}

static void write_one(want *w, const char *text) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "tsm", .unchecked = true);
    tsm_made f;
    buffer out;
    xir_network *net;
    tsm_make(&f, text);
    f.bytes[0] = 1;
    buffer_init(&out, &memory_default);
    IN_PLENTY(w, net = read_once(w, &f));
    TRY(w, xir_network_write(net, keep, &out, &options, w->why));
    IN_PLENTY(w, xir_network_free(net));
    buffer_free(&out);
}

static void writing(want *w) { write_one(w, usual); }
static void writing_an_unusual_file(want *w) { write_one(w, odd); }

#define SCENARIO(name)                                   \
    static void test_##name(void **state) {              \
        (void)state;                                     \
        run_scarcely(#name, name, false);                \
    }
SCENARIO(reading)
SCENARIO(reading_an_unusual_file)
SCENARIO(writing)
SCENARIO(writing_an_unusual_file)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading), cmocka_unit_test(test_reading_an_unusual_file), cmocka_unit_test(test_writing),
        cmocka_unit_test(test_writing_an_unusual_file),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}

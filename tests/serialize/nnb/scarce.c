/* Reading and writing NNB while memory is short: every allocation is refused, once and permanently. A failure gives
 * XIR_E_MEMORY and no network, leaks nothing, and the call succeeds when it is repeated. */
#include "support/kept.h"
#include "support/scarce.h"
#include "support/nnb_make.h"

static const char text[] =
    "nnb 3 44\ninputs 0\noutputs 4\nbuffers 64 64\n"
    "v f 1,2,2,2 b0\nv i8:3 2,2,1,1 p4\nv sign 8 p1\nv f 1,2,2,2 b1\nv 9 1,-2 b0\nv f 4 b1\nv f 3 p12\n"
    "f 1 0,1,2>3 i1 [0,0] [1,1] [1,1] i1\nf 15 3>4 fx7f800000\nf 400/7 3>5 i1\nf 68 5>4\n";

static void fill(nnb_made *f, bool odd) {
    nnb_make(f, text);
    if (odd) f->bytes[f->size++] = 1;   /* a file that no exporter writes */
}

static xir_network *read_once(want *w, const nnb_made *f) {
    return xir_network_read(w->ctx, f->bytes, f->size, XIR_STR("x.nnb"),
                            &XIR_INIT(xir_load_options, .format = "nnb"), w->why);
}

static void read_and_compare(want *w, bool odd) {
    nnb_made f;
    xir_network *net, *expected;
    fill(&f, odd);
    TRY_MAKE(w, net, read_once(w, &f));
    IN_PLENTY(w, expected = read_once(w, &f));
    IN_PLENTY(w,
        const char *broken = broken_invariant(net, ASK_ALL);
        if (broken) fail_msg("a network that was read: %s", broken);
        assert_true(xir_network_equal(net, expected, true));
        xir_network_free(expected);
        xir_network_free(net));
}

static void reading(want *w) { read_and_compare(w, false); }
static void reading_an_unusual_file(want *w) { read_and_compare(w, true); }

static void write_one(want *w, bool odd, bool fresh) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "nnb", .unchecked = true);
    nnb_made f;
    buffer out;
    xir_network *net;
    fill(&f, odd);
    if (fresh) nnb_make(&f, "nnb 3 44\ninputs 0\noutputs 2\nbuffers 4\nv f 1 b0\nv f 1 p4\nv f 1 b0\nf 31 0,1>2 B0\n");
    buffer_init(&out, &memory_default);
    IN_PLENTY(w, net = read_once(w, &f));
    if (fresh) IN_PLENTY(w, (void)xir_network_set_tag(net, XIR_STR("nnb.file"), NULL));
    TRY(w, xir_network_write(net, keep, &out, &options, w->why));
    IN_PLENTY(w, xir_network_free(net));
    buffer_free(&out);
}

static void writing(want *w) { write_one(w, false, false); }
static void writing_an_unusual_file(want *w) { write_one(w, true, false); }
static void writing_without_tag(want *w) { write_one(w, false, true); }

SCARCE_TEST(reading)
SCARCE_TEST(reading_an_unusual_file)
SCARCE_TEST(writing)
SCARCE_TEST(writing_an_unusual_file)
SCARCE_TEST(writing_without_tag)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading), cmocka_unit_test(test_reading_an_unusual_file), cmocka_unit_test(test_writing),
        cmocka_unit_test(test_writing_an_unusual_file), cmocka_unit_test(test_writing_without_tag),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}

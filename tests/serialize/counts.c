/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Sizes and counts that the numbers of a format cannot hold are refused. None is cut to its low bits. */
#include <sys/mman.h>
#include "support/load_net.h"
#include "support/nnb_make.h"
#include "support/stored.h"
#include "support/tsm_make.h"
#include "tsm/tsm.h"

#define LARGE ((UINT64_C(1) << 32) + 65536)

static bool swallow(void *user, const void *data, size_t size) {
    (void)user;
    (void)data;
    (void)size;
    return true;
}

static xir_status write_as(xir_network *net, const char *word) {
    return xir_network_write(net, swallow, NULL, &XIR_INIT(xir_save_options, .format = word, .unchecked = true), why);
}

/* ---- NNB -------------------------------------------------------------------------------------------------------- */

/* Arguments that the table cannot store, as bytes; the buffers are larger than they need to be. */
static xir_network *read_nnb(nnb_made *f) {
    nnb_make(f, "nnb 3 44\ninputs 0\noutputs 1\nbuffers 64 64\nv f 1 b0\nv f 1 b1\nf 295 0>1 i1\n");
    return stored_must_read("nnb", f->bytes, f->size);
}

/* 4 GiB and some, of zeros: they take no memory. */
static void arguments_of_4_gib(void **state) {
    (void)state;
    nnb_made f;
    xir_network *net = read_nnb(&f);
    const int64_t dim = (int64_t)LARGE;
    void *zeros = mmap(NULL, LARGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(zeros, MAP_FAILED);
    const xir_type *type = xir_type_tensor(ctx, xir_type_uint(ctx, 8), NULL, &dim, 1);
    xir_value *bytes = xir_params_borrow(net, XIR_STR("bytes"), type, zeros, (size_t)LARGE, NULL, NULL);
    assert_non_null(bytes);
    const xir_any arguments = { .kind = XIR_ANY_PARAMS, .as.params = bytes };
    DOES(xir_op_set_extra(xir_network_op_at(net, 1), XIR_STR("arguments"), &arguments));
    FAILS_TO_SAVE(write_as(net, "nnb"), XIR_E_LIMIT, "its arguments have 4295032832 bytes");
    xir_network_free(net);
    munmap(zeros, LARGE);
}

/* The tag has the sizes of the file's buffers, which then no longer are those of a file. */
static void a_buffer_of_4_gib(void **state) {
    (void)state;
    nnb_made f;
    xir_entry entries[8];
    xir_any sizes[2];
    xir_network *net = read_nnb(&f);
    const xir_map tag = xir_map_find(xir_network_tags(net), XIR_STR("nnb.file"))->as.map;
    stored_must_be(net, "nnb", f.bytes, f.size, "as it was");
    assert_in_range(tag.size, 1, COUNT(entries));
    for (size_t i = 0; i < tag.size; i++) {
        entries[i] = tag.entries[i];
        if (!xir_str_equal(entries[i].key, XIR_STR("buffers"))) continue;
        assert_int_equal(entries[i].value.as.list.size, 2);
        sizes[0] = xir_any_int((INT64_C(1) << 32) + 64);
        sizes[1] = xir_any_int(64);
        entries[i].value = xir_any_list(sizes, 2);
    }
    const xir_any changed = xir_any_map(entries, tag.size);
    DOES(xir_network_set_tag(net, XIR_STR("nnb.file"), &changed));
    FAILS_TO_SAVE(write_as(net, "nnb"), XIR_E_UNSUPPORTED, "the network was changed");
    xir_network_free(net);
}

/* ---- TSM -------------------------------------------------------------------------------------------------------- */

/* A tensor of no elements in a tag: each dim has 32 bits all the same. */
static void a_dim_of_4_gib(void **state) {
    (void)state;
    tsm_made f;
    const xir_any type[] = { xir_any_int(5), xir_any_int(0), xir_any_int((INT64_C(1) << 32) + 1) };
    tsm_make(&f, "inputs 0\noutputs 1\nn <param> x - #dtype=5::10 #shape=5:1:4\nn relu y 0\n");
    xir_network *net = stored_must_read("tsm", f.bytes, f.size);
    for (size_t n = 2; n <= COUNT(type); n++) {
        const xir_entry tensor[] = { { XIR_STR("data"), xir_any_text(XIR_STR("")) },
                                     { XIR_STR("type"), xir_any_list(type, n) } };
        const xir_entry more[] = { { XIR_STR("odd"), xir_any_map(tensor, 2) } };
        const xir_entry tag[] = { { XIR_STR("more"), xir_any_map(more, 1) } };
        const xir_any kept = xir_any_map(tag, 1);
        DOES(xir_value_set_tag(xir_op_output(xir_network_op_at(net, 0), 0), XIR_STR("tsm.params"), &kept));
        if (n == 2) DOES(write_as(net, "tsm"));
        else FAILS_TO_SAVE(write_as(net, "tsm"), XIR_E_INVALID, "the tag tsm.params has a malformed tensor");
    }
    xir_network_free(net);
}

/* The texts do not exist: only their sizes are read. */
static void texts_and_lists_of_2_gib(void **state) {
    (void)state;
    const size_t sizes[] = { (size_t)INT32_MAX + 1, (size_t)UINT32_MAX + 4 };
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const xir_any text = xir_any_text((xir_str){ "x", sizes[i] }), item = xir_any_int(1);
        const xir_any list = xir_any_list(&item, sizes[i]), *values[] = { &text, &list };
        for (size_t k = 0; k < COUNT(values); k++) {
            const xir_entry piece[] = { { XIR_STR("a"), *values[k] } };
            const xir_any tree = xir_any_map(piece, 1);
            buffer out;
            tsm_tree made = { .module_at = 0 };
            buffer_init(&out, &memory_default);
            buffer_init(&made.out, &memory_default);
            assert_false(tsm_put_plain(&out, XIR_STR("a"), values[k], NULL));
            assert_int_equal(out.size, 0);
            if (sizes[i] > UINT32_MAX) assert_false(tsm_tree_make(&made, &tree));
            assert_false(made.out.failed);
            buffer_free(&out);
            buffer_free(&made.out);
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_of_4_gib),
        cmocka_unit_test(a_buffer_of_4_gib),
        cmocka_unit_test(a_dim_of_4_gib),
        cmocka_unit_test(texts_and_lists_of_2_gib),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}

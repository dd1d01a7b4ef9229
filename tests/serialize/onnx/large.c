/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files of more than 2 GiB and 4 GiB, which other readers of protobuf refuse: holes, so that they take no disk. One of
 * 2 GiB is written again: a model that others can read, and its elements in a file next to it. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include "support/net.h"
#include "support/onnx_make.h"
#include "support/scratch.h"
#include "support/skips.h"

enum { GIB = 1 << 30 };

/* Writes a file that ends with `size` zeros, which are a hole, and one more byte. */
static bool put_large(const char *path, const om_bytes *head, uint64_t size, char last) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool ok = fd >= 0 && write(fd, head->data, head->size) == (ssize_t)head->size &&
              pwrite(fd, &last, 1, (off_t)(head->size + size - 1)) == 1;
    if (fd >= 0) close(fd);
    return ok;
}

static const unsigned char *weight(const xir_network *net, uint64_t *size) {
    return xir_params_data(xir_op_input(xir_op_next(xir_network_first(net)), 0), size);
}

static void check_and_free(const char *path, int64_t gib, unsigned char last) {
    xir_network *net = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = true), why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    uint64_t size;
    const unsigned char *data = weight(net, &size);
    assert_int_equal(size, (uint64_t)gib * GIB);
    assert_int_equal(data[0], 0);
    assert_int_equal(data[size - 1], last);
    xir_network_free(net);
}

/* One tensor whose raw_data is the end of the tensor, the graph and the file. */
static void one_tensor_inside(void **state) {
    (void)state;
    if (sizeof(size_t) < 8) SKIP("the address space is too small");
    for (int64_t gib = 3; gib <= 5; gib += 2) {
        uint64_t size = (uint64_t)gib * GIB;
        om_bytes tensor = { 0 }, node = { 0 }, graph = { 0 }, model = { 0 };
        om_put_int(&tensor, 1, gib);
        om_put_int(&tensor, 1, GIB);
        om_put_int(&tensor, 2, ONNX_UINT8);
        om_put_text(&tensor, 8, "w");
        om_put_key(&tensor, 9, PB_BYTES);
        om_put_varint(&tensor, size);
        om_put_text(&node, 1, "w");
        om_put_text(&node, 4, "Op");
        om_put_message(&graph, 1, &node);
        om_put_key(&graph, 5, PB_BYTES);
        om_put_varint(&graph, tensor.size + size);
        om_put_raw(&graph, tensor.data, tensor.size);
        om_put_int(&model, 1, 8);
        om_put_key(&model, 7, PB_BYTES);
        om_put_varint(&model, graph.size + size);
        om_put_raw(&model, graph.data, graph.size);
        bool made = put_large(scratch("large.onnx"), &model, size, 7);
        om_bytes_free(&tensor);
        om_bytes_free(&graph);
        om_bytes_free(&model);
        if (!made) {
            SKIP("no file of %d GiB with a hole can be made", (int)gib);
        }
        check_and_free(scratch("large.onnx"), gib, 7);
    }
}

static void one_external_tensor(void **state) {
    (void)state;
    if (sizeof(size_t) < 8) SKIP("the address space is too small");
    om m = om_begin("external");
    om_external(&m, "w", ONNX_UINT8, OM_DIMS(2, GIB), "w.bin", "1073741824", "2147483648");
    om_node(&m, "Op", "", "w", "y");
    size_t size;
    const void *bytes = om_done(&m, &size);
    scratch_put(scratch("external.onnx"), bytes, size);
    om_free(&m);
    if (put_large(scratch("w.bin"), &(om_bytes){ 0 }, UINT64_C(3) * GIB, 9))
        check_and_free(scratch("external.onnx"), 2, 9);
    else SKIP("no file of 3 GiB with a hole can be made");
}

/* The elements are in a file next to the model, though nobody asked for one. */
static void what_no_message_holds_gets_a_file(void **state) {
    (void)state;
    struct statvfs disk;
    struct stat model, data;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", scratch("external.onnx"));
    if (stat(path, &model) != 0) SKIP("the address space or the file system is too small");
    if (statvfs(path, &disk) != 0 || disk.f_bavail * disk.f_frsize / GIB < 6) {
        SKIP("less than 6 GiB of disk are free");
    }
    xir_network *net = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = true), why);
    assert_non_null(net);
    DOES(xir_network_save(net, scratch("again.onnx"), NULL, why));
    xir_network_free(net);
    assert_int_equal(stat(scratch("again.onnx"), &model) | stat(scratch("again.onnx.data"), &data), 0);
    assert_true(model.st_size < 1000);
    assert_int_equal(data.st_size, INT64_C(2) * GIB);
    check_and_free(scratch("again.onnx"), 2, 9);
    assert_int_equal(unlink(scratch("again.onnx.data")), 0);
}

static int begin(void **state) {
    scratch_make();
    return group_begin(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_tensor_inside),
        cmocka_unit_test(one_external_tensor),
        cmocka_unit_test(what_no_message_holds_gets_a_file),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}

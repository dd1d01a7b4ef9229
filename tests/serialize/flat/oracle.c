/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Debian's flatc reads the files that XIR writes: the JSON that it prints has everything that XIR's has, field by field
 * (oracle.py), and XIR reads the file that flatc makes of its JSON as the same network. The networks are the goldens,
 * random ones, every class of operations, and those of XIR_CORPUS if it is set. Without flatc or python3 the test is
 * skipped. */
#include <dirent.h>
#include <xir/icraft.h>
#include "support/raw_net.h"
#include "support/json_net.h"
#include "support/flat_file.h"
#include "support/scratch.h"
#include "support/skips.h"

static char flatc[PATH_MAX], python[PATH_MAX];
static int  networks;

/* The first existing path of a program. */
static bool find_program(char out[PATH_MAX], const char *name) {
    const char *path = getenv("PATH");
    snprintf(out, PATH_MAX, "/usr/bin/%s", name);
    for (const char *p = path; access(out, X_OK) != 0; p += *p == ':') {
        if (!p || !*p) return false;
        int n = (int)strcspn(p, ":");
        snprintf(out, PATH_MAX, "%.*s/%s", n, p, name);
        p += n;
    }
    return true;
}

static void run(const char *what, ...) XIR_PRINTF(1, 2);
static void run(const char *what, ...) {
    static char command[3 * PATH_MAX];
    va_list args;
    va_start(args, what);
    int n = vsnprintf(command, sizeof command, what, args);
    va_end(args);
    assert_true(n > 0 && (size_t)n < sizeof command);
    int status = system(command);
    if (status) fail_msg("%s: status %d", command, status);
}

/* An absent input before a present one: flatc has no text for it. */
static bool has_gap(void *user, xir_op *op) {
    (void)user;
    size_t n = op->n_inputs;
    while (n && !op_inputs(op)[n - 1].value) n--;
    for (size_t i = 0; i < n; i++)
        if (!op_inputs(op)[i].value) return false;
    return op_each_child(op, has_gap, NULL);
}

static bool has_size(void *user, xir_value *v) {
    (void)user;
    uint64_t size;
    return params_size(v, &size) == XIR_OK && size < 100000;
}

static bool fill(void *user, xir_value *v) {
    (void)user;
    raw_fill(v);
    return true;
}

static void save(xir_network *net, const char *folder, const char *name, const char *suffix, bool raw) {
    char file[64];
    snprintf(file, sizeof file, "%s/%s%s", folder, name, suffix);
    flat_file f = { 0 };
    if (raw) assert_int_equal(xir_raw_write(net, flat_gather, &f, why), XIR_OK);
    else assert_int_equal(xir_json_write(net, 0, flat_gather, &f, why), XIR_OK);
    scratch_put(scratch(file), f.data, f.size);
    free(f.data);
}

/* Reading a file gives the network that was written: its JSON, raw and FlatBuffers are the same bytes. */
static void check_read(xir_network *net, const flat_file *file, uint32_t align, bool with_bytes) {
    const xir_load_options options = XIR_INIT(xir_load_options, .format = "fb");
    xir_network *read = xir_network_read(ctx, file->data, file->size, XIR_STR("net.fb"), &options, why);
    if (!read) show_findings();
    assert_non_null(read);
    flat_file again = flat_written_aligned(read, align), raw = { 0 }, raw_again = { 0 };
    check_same((const char *)again.data, again.size, (const char *)file->data, file->size);
    xir_text_buffer text;
    assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
    check_prints(read, 0, text.data, text.size);
    if (with_bytes) {
        assert_int_equal(xir_raw_write(net, flat_gather, &raw, why), XIR_OK);
        assert_int_equal(xir_raw_write(read, flat_gather, &raw_again, why), XIR_OK);
        check_same((const char *)raw.data, raw.size, (const char *)raw_again.data, raw_again.size);
    }
    xir_text_free(&text);
    xir_network_free(read);
    free(again.data);
    free(raw.data);
    free(raw_again.data);
}

/* Saves a network for all to compare, with parameters if they have sizes. */
static void give(xir_network *net, bool with_bytes) {
    char name[32], path[64];
    for (const xir_op *op = net->first; op; op = op->next)
        if (!has_gap(NULL, (xir_op *)(uintptr_t)op)) return;
    snprintf(name, sizeof name, "%04d", networks++);
    with_bytes = with_bytes && net->n_params && net_walk_params(net, has_size, NULL);
    if (with_bytes) net_walk_params(net, fill, NULL);
    uint32_t align = networks % 2 ? 4096 : 64;
    flat_file f = flat_written_aligned(net, align);
    check_read(net, &f, align, with_bytes);
    snprintf(path, sizeof path, "fb/%s.fb", name);
    scratch_put(scratch(path), f.data, f.size);
    free(f.data);
    save(net, "xir", name, ".json", false);
    if (with_bytes) save(net, "xir", name, ".raw", true);
}

static void give_text(const char *text, size_t size, bool with_bytes) {
    xir_network *net = must_read(text, size);
    give(net, with_bytes);
    xir_network_free(net);
}

static void give_folder(const char *folder, size_t most) {
    DIR *dir = folder ? opendir(folder) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[PATH_MAX];
        struct stat st;
        size_t size, n = strlen(e->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (n < 6 || strcmp(e->d_name + n - 5, ".json") || stat(path, &st) != 0 || (size_t)st.st_size > most) continue;
        char *text = (char *)scratch_get(path, &size);
        xir_network *net = xir_json_read(ctx, (xir_str){ text, size }, xir_str_of(path), NULL);
        if (net) give(net, size < 100000);   /* other goldens are not networks */
        if (net) xir_network_free(net);
        free(text);
    }
    if (dir) closedir(dir);
}

static void give_every_class(void) {
    for (size_t i = 0; xir_context_class_at(ctx, i); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        if (!xir_class_is_op(cls)) continue;
        char text[1000];
        int n = snprintf(text, sizeof text, NETWORK_OF(
            "3.33.1.0", INPUT_OP ",{\"_type_key\":\"%.*s\",\"compile_target\":\"@hostt\",\"inputs\":"
                         "[],\"name\":\"x\",\"op_id\":5,\"outputs\":[],\"tags\":{}}"),
                         (int)cls->key.size, cls->key.data);
        give_text(text, (size_t)n, false);
    }
}

static void flatc_reads_what_xir_writes(void **state) {
    (void)state;
    if (!find_program(flatc, "flatc") || !find_program(python, "python3")) {
        SKIP("flatc or python3 is not installed");
    }
    static const char *const folders[] = { "fb", "xir", "theirs", "back", "again" };
    scratch_make();
    for (size_t i = 0; i < 5; i++) assert_int_equal(mkdir(scratch(folders[i]), 0777), 0);
    char corpus[PATH_MAX];
    give_folder(XIR_TEST_DATA "/golden/json", SIZE_MAX);
    give_folder(XIR_TEST_DATA "/golden/flat", SIZE_MAX);
    give_every_class();
    for (int i = 0; i < 200; i++) {
        paper p = random_network(i < 100 ? 4 : 12);
        give_text(p.data, p.size, i % 2);
        free(p.data);
    }
    if (getenv("XIR_CORPUS")) {
        snprintf(corpus, sizeof corpus, "%s/icraft", getenv("XIR_CORPUS"));
        give_folder(corpus, 4 << 20);
    }
    assert_true(networks > 200);

    const char *top = scratch_folder;
    run("'%s' --schema -b -o '%s' '%s/../docs/xir.fbs'", flatc, top, XIR_TEST_DATA);
    run("'%s' --json --raw-binary --strict-json -o '%s/theirs' '%s/xir.bfbs' -- '%s'/fb/*.fb", flatc, top, top, top);
    run("'%s' -b -o '%s/back' '%s/xir.bfbs' '%s'/theirs/*.json", flatc, top, top, top);
    for (int i = 0; i < networks; i++) {
        char name[32], file[64];
        size_t size;
        snprintf(name, sizeof name, "%04d", i);
        snprintf(file, sizeof file, "back/%s.bin", name);
        uint8_t *data = scratch_get(scratch(file), &size);
        assert_non_null(data);
        const xir_load_options options = XIR_INIT(xir_load_options, .format = "fb", .verify = XIR_VERIFY_NEVER);
        xir_network *net = xir_network_read(ctx, data, size, xir_str_of(file), &options, why);
        if (!net) show_findings();
        assert_non_null(net);
        save(net, "again", name, ".json", false);
        xir_network_free(net);
        free(data);
    }
    run("'%s' '%s/serialize/flat/oracle.py' '%s/../docs/xir.fbs' '%s/xir' '%s/theirs' '%s/again'", python,
        XIR_TEST_DATA, XIR_TEST_DATA, top, top, top);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(flatc_reads_what_xir_writes) };
    return RUN_GROUP(tests);
}

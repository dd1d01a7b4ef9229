/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Weights in files next to the model: which files are read, and attempts of a hostile path to reach other files,
 * none of which succeeds. Each attack is made twice: against the kernel's own rules, and against those that XIR
 * follows folder by folder. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "support/net.h"
#include "support/onnx_make.h"
#include "support/scratch.h"
#include "named_files.h"

static const char secret[] = "abcdefgh";   /* two floats */

/* <scratch>/model/m.onnx with one tensor [2] of float at a location. */
static const char *put_model(const char *location, const char *offset, const char *length) {
    om m = om_begin("external");
    om_external(&m, "w", ONNX_FLOAT, OM_DIMS(2), location, offset, length);
    om_node(&m, "Op", "", "w", "y");
    size_t size;
    const void *bytes = om_done(&m, &size);
    const char *path = scratch("model/m.onnx");
    scratch_put(path, bytes, size);
    om_free(&m);
    return path;
}

static void put_files(void) {
    assert_int_equal(mkdir(scratch("model"), 0700), 0);
    assert_int_equal(mkdir(scratch("model/sub"), 0700), 0);
    assert_int_equal(mkdir(scratch("outside"), 0700), 0);
    scratch_put(scratch("outside/secret"), secret, 8);
    scratch_put(scratch("model/w.bin"), "....ABCDEFGH....", 16);
    scratch_put(scratch("model/sub/v.bin"), "IJKLMNOP", 8);
    scratch_put(scratch("model/empty"), "", 0);
    scratch_put(scratch("model/linked"), secret, 8);
    assert_int_equal(link(scratch("model/linked"), scratch("outside/other")), 0);
    assert_int_equal(symlink("../outside/secret", scratch("model/link")), 0);
    assert_int_equal(symlink("w.bin", scratch("model/inner")), 0);
    assert_int_equal(symlink("../outside", scratch("model/folder")), 0);
    assert_int_equal(symlink("sub", scratch("model/subs")), 0);
    assert_int_equal(symlink(scratch("outside/secret"), scratch("model/absolute")), 0);
    assert_int_equal(symlink("loop", scratch("model/loop")), 0);
    assert_int_equal(symlink("/proc/self/fd", scratch("model/fd")), 0);
    assert_int_equal(mkfifo(scratch("model/fifo"), 0600), 0);
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", scratch("model/socket"));
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0) print_message("no socket: %s\n", strerror(errno));
    close(fd);
}

static xir_network *load(const char *path, bool lazy) {
    return xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = lazy), why);
}

static const void *weight(const xir_network *net, uint64_t *size) {
    return xir_params_data(xir_op_input(xir_op_next(xir_network_first(net)), 0), size);
}

static void reads(const char *location, const char *offset, const char *length, const char *bytes) {
    for (int lazy = 0; lazy < 2; lazy++) {
        xir_network *net = load(put_model(location, offset, length), lazy);
        if (!net) xir_diags_print(why, stderr);
        assert_non_null(net);
        uint64_t size;
        assert_memory_equal(weight(net, &size), bytes, 8);
        assert_int_equal(size, 8);
        assert_int_equal(xir_params_is_lazy(xir_op_input(xir_op_next(xir_network_first(net)), 0)), lazy);
        xir_network_free(net);
    }
}

static void files_next_to_the_model_are_read(void **state) {
    (void)state;
    reads("w.bin", "4", "8", "ABCDEFGH");
    reads("w.bin", "4", NULL, "ABCDEFGH");
    reads("w.bin", "8", "8", "EFGH....");
    reads("./w.bin", "4", NULL, "ABCDEFGH");
    reads("sub/v.bin", NULL, NULL, "IJKLMNOP");
    reads("sub//./v.bin", "0", "8", "IJKLMNOP");
}

/* ---- attacks ---------------------------------------------------------------------------------------------------- */

typedef struct attack { const char *location, *offset, *length; xir_status status; const char *sentence; } attack;
static const attack attacks[] = {
    { "../outside/secret",                  NULL, NULL, XIR_E_INVALID, "\"..\"" },
    { "sub/../../outside/secret",           NULL, NULL, XIR_E_INVALID, "\"..\"" },
    { "sub/..",                             NULL, NULL, XIR_E_INVALID, "\"..\"" },
    { "..",                                 NULL, NULL, XIR_E_INVALID, "\"..\"" },
    { "/etc/passwd",                        NULL, NULL, XIR_E_INVALID, "begins at the root" },
    { "//etc/passwd",                       NULL, NULL, XIR_E_INVALID, "begins at the root" },
    { "",                                   NULL, NULL, XIR_E_INVALID, "empty" },
    { "w.bin/",                             NULL, NULL, XIR_E_INVALID, "ends with a slash" },
    { "link",                               NULL, NULL, XIR_E_INVALID, "symbolic link" },
    { "inner",                              NULL, NULL, XIR_E_INVALID, "symbolic link" },
    { "folder/secret",                      NULL, NULL, XIR_E_INVALID, NULL },
    { "subs/v.bin",                         NULL, NULL, XIR_E_INVALID, NULL },
    { "absolute",                           NULL, NULL, XIR_E_INVALID, "symbolic link" },
    { "loop",                               NULL, NULL, XIR_E_INVALID, "symbolic link" },
    { "fd/0",                               NULL, NULL, XIR_E_INVALID, NULL },
    { "linked",                             NULL, NULL, XIR_E_INVALID, "hard links" },
    { "fifo",                               NULL, NULL, XIR_E_INVALID, "not a regular file" },
    { "socket",                             NULL, NULL, XIR_E_INVALID, NULL },
    { "sub",                                NULL, NULL, XIR_E_INVALID, "not a regular file" },
    { ".",                                  NULL, NULL, XIR_E_INVALID, "not a regular file" },
    { "missing.bin",                        NULL, NULL, XIR_E_IO,      "\"missing.bin\": No such file" },
    { "w.bin/x",                            NULL, NULL, XIR_E_IO,      "Not a directory" },
    { "w.bin",                              "-4", NULL, XIR_E_BOUNDS,  "the offset \"-4\" is not a number, expected decimal digits" },
    { "w.bin",                              "4", "-8",  XIR_E_BOUNDS,  "the length \"-8\"" },
    { "w.bin",                              "x", NULL,  XIR_E_SYNTAX,  "the offset \"x\"" },
    { "w.bin",                              "0x4", NULL, XIR_E_SYNTAX, "0x4" },
    { "w.bin",                              "", NULL,   XIR_E_SYNTAX,  "the offset is empty" },
    { "w.bin",                              " 4", NULL, XIR_E_SYNTAX,  "\" 4\"" },
    { "w.bin",                              "18446744073709551616", NULL, XIR_E_BOUNDS, "does not fit 64 bits" },
    { "w.bin",                              "18446744073709551612", NULL, XIR_E_CORRUPT, "the file ends at 16" },
    { "w.bin",                              "9", NULL,  XIR_E_CORRUPT,
      "takes 8 bytes of \"w.bin\" from 9 on, but the file ends at 16" },
    { "w.bin",                              "4", "9",   XIR_E_CORRUPT, "has 9 bytes in \"w.bin\", but its type takes 8" },
    { "w.bin",                              "0", "1125899906842624", XIR_E_CORRUPT, "its type takes 8" },
    { "empty",                              NULL, NULL, XIR_E_CORRUPT, "the file ends at 0" },
};

static void no_path_leads_elsewhere(void **state) {
    (void)state;
    assert_true(COUNT(attacks) >= 20);
    for (size_t i = 0; i < COUNT(attacks); i++) {
        const attack *a = &attacks[i];
        for (int lazy = 0; lazy < 2; lazy++) {
            xir_diags_clear(why);
            xir_network *net = load(put_model(a->location, a->offset, a->length), lazy);
            const xir_diag *d = xir_diags_at(why, 0);
            bool good = !net && d && d->code == a->status && xir_diags_count(why) == 1 &&
                        (!a->sentence || memmem(d->message.data, d->message.size, a->sentence, strlen(a->sentence))) &&
                        xir_str_equal(d->path, XIR_STR("/graph/initializer/0/external_data")) && d->byte != XIR_NO_BYTE;
            if (!good) {
                xir_diags_print(why, stderr);
                fail_msg("\"%s\": expected %s", a->location, xir_status_name(a->status));
            }
        }
    }
    xir_diags_clear(why);
}

/* The same paths, opened folder by folder, as on kernels without the system call. */
static void no_step_leads_elsewhere(void **state) {
    (void)state;
    int folder = open(scratch("model"), O_RDONLY | O_DIRECTORY);
    for (size_t i = 0; i < COUNT(attacks); i++) {
        const char *location = attacks[i].location;
        if (named_file_refuses(xir_str_of(location))) continue;
        for (int by_steps = 0; by_steps < 2; by_steps++) {
            int fd = named_file_open(folder, location, by_steps);
            if (fd < 0 && strcmp(location, "folder/secret") == 0) assert_int_equal(errno, ELOOP);
            struct stat st;
            bool opened = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1;
            bool allowed = strcmp(location, "w.bin") == 0 || strcmp(location, "empty") == 0;
            if (opened != allowed) fail_msg("\"%s\" is %s", location, opened ? "opened" : "not opened");
            if (fd >= 0) close(fd);
        }
    }
    for (int by_steps = 0; by_steps < 2; by_steps++) {
        int fd = named_file_open(folder, "sub//./v.bin", by_steps);
        assert_true(fd >= 0);
        close(fd);
    }
    char longest[4200];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_string_equal(named_file_refuses(xir_str_of(longest)), "it is too long");
    longest[300] = '\0';
    assert_int_equal(named_file_open(folder, longest, true), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    assert_string_equal(named_file_refuses(XIR_STR("w.bin\0/etc")), "a byte of it is 0");
    close(folder);
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

static void only_known_keys(void **state) {
    (void)state;
    static const struct { const char *entries[3][2]; xir_status status; const char *path, *sentence; } cases[] = {
        { { { "location", "w.bin" }, { "base_dir", "/etc" } }, XIR_E_UNKNOWN, "/1", "no key \"base_dir\"" },
        { { { "__class__", "x" }, { "location", "w.bin" } },   XIR_E_UNKNOWN, "/0", "no key \"__class__\"" },
        { { { "location", "w.bin" }, { "location", "/etc" } }, XIR_E_EXISTS,  "/1", "location appears twice" },
        { { { "length", "8" }, { "checksum", "00" } },         XIR_E_MISSING, "",   "has no location" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        om m = om_begin("keys");
        om_bytes tensor = { 0 };
        om_put_int(&tensor, 1, 2);
        om_put_int(&tensor, 2, ONNX_FLOAT);
        om_put_int(&tensor, 14, 1);
        for (size_t j = 0; j < 3 && cases[i].entries[j][0]; j++) {
            om_bytes entry = { 0 };
            om_put_text(&entry, 1, cases[i].entries[j][0]);
            om_put_text(&entry, 2, cases[i].entries[j][1]);
            om_put_message(&tensor, 13, &entry);
        }
        om_initializer(&m, &tensor);
        size_t size;
        const void *bytes = om_done(&m, &size);
        scratch_put(scratch("model/m.onnx"), bytes, size);
        om_free(&m);
        xir_diags_clear(why);
        assert_null(load(scratch("model/m.onnx"), true));
        const xir_diag *d = xir_diags_at(why, 0);
        char path[80];
        snprintf(path, sizeof path, "/graph/initializer/0%s%s", *cases[i].path ? "/external_data" : "", cases[i].path);
        assert_int_equal(d->code, cases[i].status);
        assert_true(xir_str_equal(d->path, xir_str_of(path)));
        assert_non_null(memmem(d->message.data, d->message.size, cases[i].sentence, strlen(cases[i].sentence)));
    }
    xir_diags_clear(why);
}

/* ---- one file for many ------------------------------------------------------------------------------------------ */

static void a_file_is_opened_once(void **state) {
    (void)state;
    om m = om_begin("many");
    char name[16], offset[16], names[400] = "";
    for (int i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "w%d", i);
        snprintf(offset, sizeof offset, "%d", i);
        om_external(&m, name, ONNX_UINT8, OM_DIMS(1), "w.bin", offset, "1");
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? "," : "", name);
    }
    om_node(&m, "Op", "", names, "y");
    size_t size;
    const void *bytes = om_done(&m, &size);
    scratch_put(scratch("model/m.onnx"), bytes, size);
    om_free(&m);
    xir_network *net = load(scratch("model/m.onnx"), true);
    assert_non_null(net);
    const xir_op *op = xir_op_next(xir_network_first(net));
    const char *first = xir_params_data(xir_op_input(op, 0), NULL);
    for (int i = 0; i < 16; i++) assert_ptr_equal(xir_params_data(xir_op_input(op, i), NULL), first + i);
    xir_network_free(net);
}

/* The folder is that of the model as the caller names it, whatever the working directory is. */
static void the_folder_is_the_models(void **state) {
    (void)state;
    char was[PATH_MAX];
    put_model("w.bin", "4", NULL);
    assert_non_null(getcwd(was, sizeof was));
    assert_int_equal(chdir(scratch("model")), 0);
    xir_network *net = load("m.onnx", false), *other = load("./m.onnx", true);
    assert_int_equal(chdir(was), 0);
    assert_non_null(net);
    assert_non_null(other);
    xir_network_free(net);
    xir_network_free(other);
}

/* Without a folder, and without a request for weights. */
static void no_folder(void **state) {
    (void)state;
    const char *path = put_model("missing.bin", NULL, NULL);
    size_t size;
    void *bytes = scratch_get(path, &size);
    assert_null(xir_network_read(ctx, bytes, size, XIR_STR("m"), NULL, why));
    const xir_diag *d = xir_diags_at(why, 0);
    assert_int_equal(d->code, XIR_E_MISSING);
    assert_non_null(memmem(d->message.data, d->message.size, "\"missing.bin\"", 13));
    xir_diags_clear(why);
    free(bytes);
    xir_network *net = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .no_params = true), why);
    assert_non_null(net);
    assert_int_equal(xir_diags_count(why), 0);
    xir_network_free(net);
}

/* A watched file that was changed no longer has bytes. */
static void a_changed_file_is_noticed(void **state) {
    (void)state;
    scratch_put(scratch("model/c.bin"), "12345678", 8);
    const xir_load_options options = XIR_INIT(xir_load_options, .lazy = true, .verify = XIR_VERIFY_ON_TOUCH);
    xir_network *net = xir_network_load(ctx, put_model("c.bin", NULL, NULL), &options, why);
    assert_non_null(net);
    FILE *f = fopen(scratch("model/c.bin"), "ab");
    fputs("more", f);
    fclose(f);
    assert_null(weight(net, NULL));
    assert_int_equal(xir_network_status(net), XIR_E_IO);
    xir_network_free(net);
}

static int begin(void **state) {
    scratch_make();
    put_files();
    return group_begin(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_next_to_the_model_are_read),
        cmocka_unit_test(no_path_leads_elsewhere),
        cmocka_unit_test(no_step_leads_elsewhere),
        cmocka_unit_test(only_known_keys),
        cmocka_unit_test(a_file_is_opened_once),
        cmocka_unit_test(the_folder_is_the_models),
        cmocka_unit_test(no_folder),
        cmocka_unit_test(a_changed_file_is_noticed),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}

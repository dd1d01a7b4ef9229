/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The reader and the executor's own parser, which an emulation stands for (support/deepx_head.h): the emulation gives
 * the recorded verdicts, line by line. Where the parser reads a line otherwise than the reader, the reader refuses the
 * line or warns of it, unless the row of docs/deepx.md says that it is silent; where both agree, it says nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "deepx/deepx.h"
#include "support/deepx_head.h"
#include "support/net.h"
#include "support/skips.h"

#define BARE " type=unknown<any> raw=0xffff0000 text="

static const struct { const char *line, *answer; } table[] = {
    { "add(a, b)->(c)", "  name=[add] nargs=2 nret=1 id=0 author=[] created=0 bench=0\n  arg0" BARE "[a]\n  arg1" BARE
      "[b]\n  ret0" BARE "[c]\n  canon add(unknown<any>:a, unknown<any>:b)->(unknown<any>:c)\n" },
    { "a,b", "  ERROR Invalid IR format: missing arrow\n" },
    { "f()->() // id=12x author=me benchmark.repeat=3 id=13",
      "  name=[f] nargs=0 nret=0 id=13 author=[me] created=0 bench=3\n  canon f()->()\n" },
    { "f()->() // created_at=x", "  ERROR stod\n" },
    { "f()->() // id=4294967296", "  ERROR stoi\n" },
    { "f(var<string>:/a//b)->()", "  ERROR Invalid IR format: missing arrow\n" },
    { "\tf->g", "  name=[\tf] nargs=0 nret=1 id=0 author=[] created=0 bench=0\n  ret0" BARE
      "[g]\n  canon \tf()->(unknown<any>:g)\n" },
    { "f(tensor<float32|float64>:x)->(int|tensor<float8>:y)",
      "  name=[f] nargs=1 nret=1 id=0 author=[] created=0 bench=0\n  arg0 type=tensor<any> raw=0xffff0004 text=[x]\n"
      "  ret0 type=tensor<float8e5m2|float8e4m3> raw=0x300004 text=[y]\n"
      "  canon f(tensor<any>:x)->(tensor<float8e5m2|float8e4m3>:y)\n" },
    { "f x y, ->", "  name=[f] nargs=1 nret=0 id=0 author=[] created=0 bench=0\n  arg0" BARE
      "[x y]\n  canon f(unknown<any>:x y)->()\n" },
};

static void lines_with_quirks(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        char out[2000], expected[2000];
        snprintf(expected, sizeof expected, "IR %s\n%s", table[i].line, table[i].answer);
        assert_int_equal(deepx_head_read(xir_str_of(table[i].line), out, sizeof out), strlen(expected));
        assert_string_equal(out, expected);
    }
}

/* ---- both ------------------------------------------------------------------------------------------------------- */

/* Lines that the reader understands without a finding: alternatives, which the executor prints itself, though it does
 * not read them; and the "Tensor<any> A" of the first description, of which docs/deepx.md has a table. */
static bool is_silent(const deepx_line *line) {
    bool silent = false;
    for (size_t i = 0; i < line->n_args + line->n_rets; i++)
        silent |= line->slots[i].is.alternatives || line->slots[i].named;
    return silent;
}

/* The line as the executor's parser prints it; empty if it is refused. */
static xir_str head_canon(const char *answer) {
    const char *canon = NULL;
    for (const char *p = answer; (p = strstr(p, "\n  canon ")); p++) canon = p;   /* the last one is its own */
    return canon ? (xir_str){ canon + 9, strcspn(canon + 9, "\n") } : (xir_str){ NULL, 0 };
}

static void put_slots(buffer *out, const deepx_slot *slots, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i) buffer_str(out, ", ");
        if (slots[i].type.size) deepx_type_print(out, slots[i].is);
        else buffer_str(out, "unknown<any>");
        buffer_char(out, ':');
        buffer_put(out, slots[i].value.data, slots[i].value.size);
    }
}

/* Prints the reader's result for a line, in the same way; empty if it is refused. Returns true if it says something,
 * or need not. */
static bool read_line(xir_str text, buffer *out, size_t *said) {
    deepx_place w = { .why = why, .text = text.data, .line = text.data, .number = 1 };
    deepx_slots slots = { .alloc = context_alloc(ctx) };
    deepx_line line;
    xir_diags_clear(why);
    const bool ok = !deepx_is_passed_over(text) && deepx_read_line(&w, &slots, text, &line) &&
                    (!line.meta.data || deepx_check_meta(&w, line.meta)) && !w.status;
    *said = xir_diags_count(why);
    const bool speaks = *said || (ok && is_silent(&line));
    if (ok) {
        buffer_put(out, line.name.data, line.name.size);
        buffer_char(out, '(');
        put_slots(out, line.slots, line.n_args);
        buffer_str(out, ")->(");
        put_slots(out, line.slots + line.n_args, line.n_rets);
        buffer_char(out, ')');
    }
    deepx_slots_free(&slots);
    xir_diags_clear(why);
    return speaks;
}

/* Returns whether both read the line alike, apart from its metadata. */
static bool check_line(xir_str line, const char *answer) {
    buffer own;
    buffer_init(&own, context_alloc(ctx));
    size_t said;
    const bool speaks = read_line(line, &own, &said);
    const xir_str head = head_canon(answer), read = { own.data, own.size };
    const bool alike = read.size && xir_str_equal(head, read);
    const bool has_meta = line.size && memchr(line.data, '/', line.size);
    if (alike ? said > 0 && !has_meta : read.size && !speaks)
        fail_msg("%.*s\nexecutor: %.*s\nreader:   %.*s, %zu findings", (int)line.size, line.data, (int)head.size,
                 head.data ? head.data : "", (int)read.size, read.data ? read.data : "", said);
    buffer_free(&own);
    return alike;
}

static void the_reader_agrees_or_speaks(void **state) {
    (void)state;
    size_t alike = 0;
    for (size_t i = 0; i < COUNT(table); i++) alike += check_line(xir_str_of(table[i].line), table[i].answer);
    assert_int_equal(alike, 1);
}

static char *read_whole(const char *folder, const char *name) {
    char path[700];
    snprintf(path, sizeof path, "%s/deepx/%s", folder, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

/* A file of lines and the recorded verdicts. */
static void check_recorded(const char *folder, const char *file, size_t alike) {
    char name[40];
    snprintf(name, sizeof name, "%s.ir", file);
    char *text = read_whole(folder, name);
    snprintf(name, sizeof name, "%s.head.txt", file);
    char *expected = read_whole(folder, name), *found = calloc(1, 1 << 20);
    assert_non_null(found);
    size_t n = 0, agree = 0;
    for (const char *p = text; *p;) {
        const xir_str line = { p, strcspn(p, "\n") };
        const size_t answer = n;
        n += deepx_head_read(line, found + n, (1 << 20) - n);
        agree += check_line(line, found + answer);
        p += line.size + (p[line.size] == '\n');
    }
    assert_string_equal(found, expected);
    assert_int_equal(agree, alike);
    free(text);
    free(expected);
    free(found);
}

static void recorded_verdicts(void **state) {
    (void)state;
    const char *folder = CORPUS_OR_SKIP();
    check_recorded(folder, "edge", 9);
    check_recorded(folder, "seed", 5);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_with_quirks),
        cmocka_unit_test(the_reader_agrees_or_speaks),
        cmocka_unit_test(recorded_verdicts),
    };
    return RUN_GROUP(tests);
}

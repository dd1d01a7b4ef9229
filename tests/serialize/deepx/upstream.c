/* What the executor's own parser makes of lines: recorded lines of its dump, line by line, and lines of our own that
 * show each quirk. Room that is too short is never written beyond. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/deepx.h>
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
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char out[2000], expected[2000];
        const xir_str line = xir_str_of(table[i].line);
        snprintf(expected, sizeof expected, "IR %s\n%s", table[i].line, table[i].answer);
        const size_t n = xir_deepx_upstream(line, out, sizeof out);
        assert_string_equal(out, expected);
        assert_int_equal(n, strlen(expected));
        for (size_t room = 0; room <= n; room++) {
            char *small = malloc(room + 1);
            assert_non_null(small);
            small[room] = '!';
            assert_int_equal(xir_deepx_upstream(line, small, room), n);
            assert_int_equal(small[room], '!');
            if (room) assert_int_equal(strlen(small), room - 1);
            free(small);
        }
    }
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

static void recorded_verdicts(void **state) {
    (void)state;
    static const char *const names[] = { "edge", "seed" };
    const char *folder = CORPUS_OR_SKIP();
    for (size_t i = 0; i < 2; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s.ir", names[i]);
        char *text = read_whole(folder, name);
        snprintf(name, sizeof name, "%s.head.txt", names[i]);
        char *expected = read_whole(folder, name), *found = calloc(1, 1 << 20);
        assert_non_null(found);
        size_t n = 0;
        for (const char *p = text; *p;) {
            const size_t length = strcspn(p, "\n");
            n += xir_deepx_upstream((xir_str){ p, length }, found + n, (1 << 20) - n);
            p += length + (p[length] == '\n');
        }
        assert_string_equal(found, expected);
        free(text);
        free(expected);
        free(found);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_with_quirks),
        cmocka_unit_test(recorded_verdicts),
    };
    return RUN_GROUP(tests);
}

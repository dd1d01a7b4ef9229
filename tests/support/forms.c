#include "forms.h"
#include <stdio.h>

xir_context *ctx;
xir_diags   *why;

/* ---- an allocator that counts and refuses ------------------------------------------------------------------ */

typedef struct counts {
    size_t blocks, bytes;
    size_t calls, refuse_from;   /* the call from which on everything is refused */
} counts;

static counts shared = { .refuse_from = SIZE_MAX };

/* Not cmocka's fail: this runs inside of the library, which holds locks. */
static void stop(const char *what) {
    fprintf(stderr, "allocator: %s\n", what);
    abort();
}

enum { HEAD = 16 };

static void *counting(void *user, void *block, size_t old_size, size_t size) {
    counts *c = user;
    char *raw = block ? (char *)block - HEAD : NULL;
    size_t known = 0;
    if (raw) memcpy(&known, raw, sizeof known);
    if (known != old_size) stop("an old size that was never asked for");
    if (size == 0) {
        if (raw) c->blocks--, c->bytes -= known;
        free(raw);
        return NULL;
    }
    if (c->calls++ >= c->refuse_from) return NULL;
    char *now = realloc(raw, HEAD + size);
    if (!now) return NULL;
    memcpy(now, &size, sizeof size);
    c->blocks += !raw;
    c->bytes += size - known;
    return now + HEAD;
}

void check_memory(bool (*work)(xir_context *with)) {
    bool done = false;
    for (size_t n = 0; !done; n++) {
        counts c = { .refuse_from = SIZE_MAX };
        xir_allocator alloc = { counting, &c };
        xir_context *with = xir_context_new(&alloc);
        assert_non_null(with);
        c.refuse_from = c.calls + n;
        done = work(with);
        if (done) c.refuse_from = SIZE_MAX;
        xir_context_free(with);
        assert_int_equal(c.blocks, 0);
        assert_int_equal(c.bytes, 0);
        assert_true(n < 10000);
    }
}

/* ---- the group's context ------------------------------------------------------------------------------------ */

int group_begin(void **state) {
    (void)state;
    xir_allocator alloc = { counting, &shared };
    ctx = xir_context_new(&alloc);
    why = ctx ? xir_diags_new(ctx) : NULL;
    return why ? 0 : -1;
}

int group_end(void **state) {
    (void)state;
    xir_diags_free(why);
    xir_context_free(ctx);
    if (shared.blocks == 0) return 0;
    fprintf(stderr, "%zu blocks of %zu bytes are left\n", shared.blocks, shared.bytes);
    return -1;
}

static size_t refused_from;   /* what refuse_after has said */

void refuse_after(size_t n) { shared.refuse_from = refused_from = shared.calls + n; }

bool refuse_end(void) {
    bool refused = shared.calls > refused_from;
    shared.refuse_from = SIZE_MAX;
    return refused;
}

/* ---- texts --------------------------------------------------------------------------------------------------- */

const char *spelled(const void *object) {
    static char *texts[8];
    static unsigned turn;
    char **text = &texts[turn++ % 8];
    assert_non_null(object);
    buffer b;
    buffer_init(&b, &memory_default);
    ((const xir_object *)object)->cls->form->print(object, &b);
    buffer_char(&b, '\0');
    assert_false(b.failed);
    free(*text);
    *text = b.data;   /* the default allocator is malloc */
    return *text;
}

const void *try_text(const char *text, size_t size, form_error *e) {
    char *block = malloc(size ? size : 1);
    assert_non_null(block);
    memcpy(block, text, size);
    const void *object = form_parse(context_home(ctx), (xir_str){ size ? block : NULL, size }, e);
    free(block);
    return object;
}

const void *read_text(const char *text) {
    form_error e = { 0 };
    const void *object = try_text(text, strlen(text), &e);
    if (!object) fail_msg("%s: %s, at %zu", text, e.message, e.at);
    return object;
}

void check_bad(const bad_text *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        form_error e = { 0 };
        if (try_text(rows[i].text, strlen(rows[i].text), &e)) fail_msg("'%s' was taken", rows[i].text);
        if (e.status != rows[i].status || e.at != rows[i].at || !strstr(e.message, "expected") ||
            !strstr(e.message, "found")) {
            fail_msg("'%s': %s at %zu was expected, found %s at %zu: %s", rows[i].text,
                     xir_status_name(rows[i].status), rows[i].at,
                     xir_status_name(e.status), e.at, e.message);
        }
        /* Whoever does not want to know why need not. */
        assert_null(form_parse(context_home(ctx), xir_str_of(rows[i].text), NULL));
    }
}

static void check_one(const char *text, size_t size) {
    form_error e = { 0 };
    const void *object = try_text(text, size, &e);
    if (!object) {
        assert_true(e.status != XIR_OK && e.at <= size && e.message[0]);
        return;
    }
    buffer once;   /* its text may have any byte, a zero too */
    buffer_init(&once, &memory_default);
    ((const xir_object *)object)->cls->form->print(object, &once);
    assert_ptr_equal(try_text(once.data, once.size, &e), object);
    buffer_free(&once);
}

void check_damaged(const char *text) {
    static const char others[] = "@()[]{}^:*/,- =.0123456789eEinfau+vZNCcwx|\n\x80\xff";
    size_t size = strlen(text);
    for (size_t i = 0; i <= size; i++) check_one(text, i);
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    for (size_t i = 0; i < size; i++) {
        memcpy(copy, text, size);
        for (size_t j = 0; j < sizeof others; j++) {   /* the terminating zero too */
            copy[i] = others[j];
            check_one(copy, size);
        }
        memmove(copy + i, text + i + 1, size - i - 1);
        check_one(copy, size - 1);
        memcpy(copy, text, i + 1);
        memcpy(copy + i + 1, text + i, size - i);
        check_one(copy, size + 1);
    }
    free(copy);
}

void check_finding(xir_status code, const char *part) {
    size_t n = xir_diags_count(why);
    if (n == 0) fail_msg("a finding was expected: %s", part);
    const xir_diag *d = xir_diags_at(why, n - 1);
    char text[600];
    snprintf(text, sizeof text, "%.*s", (int)d->message.size, d->message.data);
    if (d->code != code || !strstr(text, part)) {
        fail_msg("%s with '%s' was expected, found %s: %s", xir_status_name(code), part,
                 xir_status_name(d->code), text);
    }
    xir_diags_clear(why);
}

/* ---- chance: splitmix64 ---------------------------------------------------------------------------------------- */

static uint64_t seed = 20240607;

static uint64_t bits(void) {
    uint64_t z = seed += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t chance(uint64_t n) { return bits() % n; }

int64_t some_number(void) {
    switch (chance(4)) {
    case 0:  return (int64_t)chance(10);
    case 1:  return (int64_t)(((uint64_t)1 << chance(63)) - chance(2));
    case 2:  return -(int64_t)chance(1000);
    default: return (int64_t)bits();
    }
}

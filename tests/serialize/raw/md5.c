/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* libcrypto, which allocates by itself, and MD5: memory that was short for a moment is not a refusal, nor does it
 * prevent MD5 afterwards; a libcrypto that refuses MD5 is reported. The program starts itself again for this, because
 * what libcrypto keeps from one use would hide what happens at the first. */
#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <cmocka.h>
#include "raw/md5.h"
#include "support/often.h"
#include "support/program.h"
#include "support/scratch.h"

enum { MOST_CALLS = 1 << 16, OFTEN_CALLED = 150 };

/* ---- libcrypto's allocator, which can be refused memory ---------------------------------------------------------- */

typedef struct place { const char *file; int line; } place;

/* Shared by the processes. */
typedef struct trace {
    size_t n;
    place  places[MOST_CALLS];   /* of libcrypto that allocate, in order */
} trace;

static size_t calls, refused_from = SIZE_MAX, refused_to;   /* [from, to) are refused */
static trace *recorded;                                     /* NULL: nothing is recorded */

static bool is_refused(const char *file, int line) {
    if (recorded && recorded->n < MOST_CALLS) recorded->places[recorded->n++] = (place){ file, line };
    size_t n = calls++;
    return n >= refused_from && n < refused_to;
}

static void *allocate(size_t size, const char *file, int line) { return is_refused(file, line) ? NULL : malloc(size); }
static void *resize(void *block, size_t size, const char *file, int line) {
    return is_refused(file, line) ? NULL : realloc(block, size);
}
static void release(void *block, const char *file, int line) {
    (void)file, (void)line;
    free(block);
}

/* ---- one use of MD5 ---------------------------------------------------------------------------------------------- */

static xir_status digest(char hex[MD5_DIGITS + 1]) {
    md5 m;
    xir_status status = md5_begin(&m, NULL);
    if (status != XIR_OK) return status;
    md5_add(&m, "abc", 3);
    return md5_end(&m, hex, NULL);
}

static bool works(void) {
    char hex[MD5_DIGITS + 1];
    return digest(hex) == XIR_OK && strcmp(hex, "900150983cd24fb0d6963f7d28e17f72") == 0;
}

/* Returns a sentence about the fault of MD5 while memory is refused or afterwards, or NULL if there is none. */
static const char *fault_of(size_t from, size_t to) {
    char hex[MD5_DIGITS + 1];
    calls = 0;
    refused_from = from, refused_to = to;
    xir_status status = digest(hex);
    refused_from = SIZE_MAX;
    if (ERR_peek_error()) return "an error is left in libcrypto's queue";
    if (status != XIR_OK && status != XIR_E_MEMORY) return "a status that is not about memory";
    return works() ? NULL : "no MD5 once memory is there again";
}

/* ---- every allocation -------------------------------------------------------------------------------------------- */

/* libcrypto fills tables when it starts, by thousands of allocations at few places: some of these are enough. */
static bool is_tried(const trace *t, size_t n) {
    size_t same = 0;
    const place *p = t->places;
    for (size_t i = 0; i < t->n; i++) same += p[i].line == p[n].line && p[i].file == p[n].file;
    return n % (same >= OFTEN_CALLED ? 97 : IS_SANITIZED ? 5 : 1) == 0;
}

/* Some failures make libcrypto leak; that of its first allocation does not. */
static void end(size_t n, bool good) {
    if (IS_SANITIZED && n > 0) _exit(!good);
    exit(!good);
}

/* From each allocation on, `n_refused` are refused, in a process of its own. */
static int try_each(const trace *t, size_t n_refused) {
    int faults = 0;
    for (size_t n = 0; n < t->n; n++) {
        if (!is_tried(t, n)) continue;
        int status;
        pid_t child = fork();
        if (child == 0) {
            const char *fault = fault_of(n, n_refused < SIZE_MAX - n ? n + n_refused : SIZE_MAX);
            if (fault) fprintf(stderr, "allocation %zu of %zu, %zu refused: %s\n", n, t->n, n_refused, fault);
            end(n, !fault);
        }
        if (child < 0 || waitpid(child, &status, 0) != child) abort();
        if (!WIFEXITED(status)) fprintf(stderr, "allocation %zu of %zu, %zu refused: a crash\n", n, t->n, n_refused);
        faults += status != 0;
    }
    return faults;
}

static int every_allocation(void) {
    trace *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    if (t == MAP_FAILED || !CRYPTO_set_mem_functions(allocate, resize, release)) return 2;
    pid_t child = fork();
    if (child == 0) {
        recorded = t;
        exit(!works());
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 3;
    if (t->n < 100 || t->n == MOST_CALLS) return 4;
    return try_each(t, 1) + try_each(t, 40) + try_each(t, SIZE_MAX) ? 1 : 0;
}

/* ---- a refusal --------------------------------------------------------------------------------------------------- */

/* It is repeated, and the error that the program left in libcrypto's queue stays there alone. */
static int is_refused_always(void) {
    char hex[MD5_DIGITS + 1];
    ERR_put_error(ERR_LIB_USER, 0, 7, "program", 1);
    for (int i = 0; i < 40; i++) {
        if (digest(hex) != XIR_E_UNSUPPORTED) return 2;
    }
    return ERR_GET_REASON(ERR_get_error()) == 7 && !ERR_peek_error() ? 0 : 3;
}

/* A provider that has SHA-256 alone, and not even that can be computed. */
static int hash(void *user, const uint8_t *in, size_t size, uint8_t *out, size_t *out_size, size_t room) {
    (void)user, (void)in, (void)size, (void)out, (void)out_size, (void)room;
    return 0;
}
static int hash_params(OSSL_PARAM params[]) {
    OSSL_PARAM *digest_size = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_SIZE),
               *block_size = OSSL_PARAM_locate(params, OSSL_DIGEST_PARAM_BLOCK_SIZE);
    return (!digest_size || OSSL_PARAM_set_size_t(digest_size, 32)) &&
           (!block_size || OSSL_PARAM_set_size_t(block_size, 64));
}
static const OSSL_DISPATCH hash_calls[] = {
    { OSSL_FUNC_DIGEST_DIGEST,     (void (*)(void))hash        },
    { OSSL_FUNC_DIGEST_GET_PARAMS, (void (*)(void))hash_params },
    { 0,                           NULL                        },
};
static const OSSL_ALGORITHM hashes[] = { { "SHA256", "provider=only", hash_calls, NULL }, { NULL, NULL, NULL, NULL } };

static const OSSL_ALGORITHM *offered(void *user, int operation, int *not_kept) {
    (void)user;
    *not_kept = 0;
    return operation == OSSL_OP_DIGEST ? hashes : NULL;
}
static const OSSL_DISPATCH provider_calls[] = {
    { OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))offered },
    { 0,                                  NULL                    },
};
static int provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core, const OSSL_DISPATCH **out,
                         void **user) {
    *out = provider_calls;
    *user = (void *)(uintptr_t)handle;
    (void)core;
    return 1;
}

static int only_approved(void) { return EVP_default_properties_enable_fips(NULL, 1) == 1 ? is_refused_always() : 4; }
static int other_provider(void) {
    bool is_known = OSSL_PROVIDER_add_builtin(NULL, "only", provider_init) == 1;
    OSSL_PROVIDER *loaded = is_known ? OSSL_PROVIDER_load(NULL, "only") : NULL;
    int result = loaded ? is_refused_always() : 4;
    OSSL_PROVIDER_unload(loaded);
    return result;
}

/* ---- the program in itself --------------------------------------------------------------------------------------- */

static const struct { const char *name; int (*run)(void); } parts[] = {
    { "every allocation", every_allocation  },
    { "configuration",    is_refused_always },
    { "only approved",    only_approved     },
    { "other provider",   other_provider    },
};

/* Before main, and before anything else uses libcrypto. */
static __attribute__((constructor)) void begin(void) {
    const char *name = getenv("XIR_TEST_MD5");
    for (size_t i = 0; name && i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(name, parts[i].name) == 0) exit(parts[i].run());
    }
}

/* Runs it with a configuration of libcrypto that ends with this text. */
static int run_part(const char *name, const char *config) {
    static const char begins[] = "openssl_conf = all\n[all]\n";
    char text[200];
    int status, size = snprintf(text, sizeof text, "%s%s", begins, config);
    scratch_put(scratch("openssl.cnf"), text, (size_t)size);
    pid_t child = fork();
    if (child == 0) {
        setenv("XIR_TEST_MD5", name, 1);
        setenv("OPENSSL_CONF", scratch("openssl.cnf"), 1);
        execl("/proc/self/exe", "md5", (char *)NULL);
        _exit(127);
    }
    assert_true(child >= 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void memory_that_libcrypto_lacked_for_a_moment_does_not_end_md5(void **state) {
    (void)state;
    assert_int_equal(run_part("every allocation", ""), 0);
}

static void md5_may_be_refused(void **state) {
    (void)state;
    assert_int_equal(run_part("configuration", "alg_section = some\n[some]\ndefault_properties = fips=yes\n"), 0);
    assert_int_equal(run_part("only approved", ""), 0);
    assert_int_equal(run_part("other provider", ""), 0);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_libcrypto_lacked_for_a_moment_does_not_end_md5),
        cmocka_unit_test(md5_may_be_refused),
    };
    return cmocka_run_group_tests_name("raw_md5", tests, scratch_begin, scratch_end);
}

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* libcrypto may refuse MD5, and it allocates by itself: both are normal results here.
 *
 * The first use starts libcrypto, which takes thousands of allocations, and fetches MD5, which the process then keeps.
 * If one of them fails, libcrypto's default library (OSSL_LIB_CTX) can be damaged for as long as the process lives: it
 * has no MD5, or no algorithm at all. So a new library is asked next, unless the program or its configuration refuse
 * MD5. The process keeps it if it has MD5; otherwise it is freed, and the next call asks another one. */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <pthread.h>
#include "object.h"
#include "raw/md5.h"
#include "task.h"

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#include <openssl/provider.h>

typedef OSSL_LIB_CTX library;

static library *library_new(void)                            { return OSSL_LIB_CTX_new(); }
static void     library_free(library *l)                     { OSSL_LIB_CTX_free(l); }
static EVP_MD  *fetch_from(library *l, const char *name)     { return EVP_MD_fetch(l, name, NULL); }
static void     drop(EVP_MD *algorithm)                      { EVP_MD_free(algorithm); }
static bool     is_fips(library *l)                          { return EVP_default_properties_is_fips_enabled(l) == 1; }
static bool     has_provider(library *l, const char *name)   { return OSSL_PROVIDER_available(l, name) == 1; }

/* NULL if libcrypto could not start; calls that use the default library would then crash. */
static library *library_default(void)                        { return OSSL_LIB_CTX_get0_global_default(); }
#else
/* There is one library only. */
typedef struct library { char unused; } library;

static library *library_new(void)                            { static library only; return &only; }
static void     library_free(library *l)                     { (void)l; }
static EVP_MD  *fetch_from(library *l, const char *name) {
    (void)l;
    return (EVP_MD *)(uintptr_t)EVP_get_digestbyname(name);
}
static void     drop(EVP_MD *algorithm)                      { (void)algorithm; }
static bool     is_fips(library *l)                          { (void)l; return false; }
static bool     has_provider(library *l, const char *name)   { (void)l, (void)name; return true; }
static library *library_default(void)                        { return library_new(); }
#endif

/* No error stays in libcrypto's queue, which has room for 16. */
static EVP_MD *fetch(library *l, const char *name) {
    ERR_set_mark();
    EVP_MD *algorithm = fetch_from(l, name);
    ERR_pop_to_mark();
    return algorithm;
}

static bool has(library *l, const char *name) {
    EVP_MD *algorithm = fetch(l, name);
    drop(algorithm);
    return algorithm != NULL;
}

/* Returns true if the program or its configuration asked for approved algorithms, or for other providers than the one
 * that has MD5. A failed allocation changes neither. */
static bool is_refused(library *l) { return is_fips(l) || (has(l, "SHA256") && !has_provider(l, "default")); }

static EVP_MD *fetch_md5(bool *refused) {
    library *l = library_default();
    EVP_MD *algorithm = l ? fetch(l, "MD5") : NULL;
    *refused = l && !algorithm && is_refused(l);
    for (int tries = 0; !algorithm && !*refused; tries++) {
        l = library_new();
        algorithm = l ? fetch(l, "MD5") : NULL;
        if (algorithm) break;
        bool works = l && has(l, "SHA256");
        if (l) library_free(l);
        if (!works) break;
        *refused = tries == 1;   /* libcrypto was built without MD5 */
    }
    return algorithm;
}

/* The algorithm; the same one from the first success on. NULL: out of memory, or refused. */
static const EVP_MD *md5_algorithm(bool *refused) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static EVP_MD *kept;
    pthread_mutex_lock(&lock);
    if (!kept) kept = fetch_md5(refused);
    const EVP_MD *algorithm = kept;
    pthread_mutex_unlock(&lock);
    return algorithm;
}

xir_status md5_begin(md5 *m, xir_diags *why) {
    bool refused = false;
    ERR_set_mark();   /* the program's error queue is unchanged */
    const EVP_MD *algorithm = md5_algorithm(&refused);
    EVP_MD_CTX *context = algorithm ? EVP_MD_CTX_new() : NULL;
    bool begun = context && EVP_DigestInit_ex(context, algorithm, NULL) == 1;
    if (!begun) EVP_MD_CTX_free(context);
    *m = (md5){ begun ? context : NULL, !begun };
    ERR_pop_to_mark();
    if (begun) return XIR_OK;
    if (!refused) return diag_memory(why);
    return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""),
        "libcrypto refuses MD5 on this machine (FIPS mode?): parameters cannot be compared with params_md5, and raw "
        "files cannot be saved with their MD5");
}

void md5_add(md5 *m, const void *data, size_t size) {
    for (size_t at = 0, n; at < size && !m->failed; at += n) {
        n = size - at < TASK_EACH ? size - at : TASK_EACH;
        m->failed = EVP_DigestUpdate(m->context, (const char *)data + at, n) != 1 || !task_did(n);
    }
}

xir_status md5_end(md5 *m, char hex[MD5_DIGITS + 1], xir_diags *why) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (!m->failed && hex && (EVP_DigestFinal_ex(m->context, digest, &size) != 1 || 2 * size != MD5_DIGITS))
        m->failed = true;
    EVP_MD_CTX_free(m->context);
    if (m->failed) return diag_memory(why);
    for (unsigned i = 0; hex && i < size; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    if (hex) hex[MD5_DIGITS] = '\0';
    return XIR_OK;
}

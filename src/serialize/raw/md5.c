/* libcrypto may refuse MD5, and it allocates by itself: both are normal results here.
 *
 * The first use starts libcrypto, which takes thousands of allocations, and fetches MD5, which the process then keeps.
 * If the start failed because memory ran out, libcrypto's next call would crash: so its default context is requested
 * first. */
#include <openssl/err.h>
#include <openssl/evp.h>
#include <pthread.h>
#include "object.h"
#include "raw/md5.h"

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
static bool    start(void)                                    { return OSSL_LIB_CTX_get0_global_default() != NULL; }
static EVP_MD *fetch(const char *name, const char *properties) { return EVP_MD_fetch(NULL, name, properties); }
static void    drop(EVP_MD *algorithm)                        { EVP_MD_free(algorithm); }
#else
static bool    start(void) { return true; }
static EVP_MD *fetch(const char *name, const char *properties) {
    (void)properties;
    return (EVP_MD *)(uintptr_t)EVP_get_digestbyname(name);
}
static void    drop(EVP_MD *algorithm) { (void)algorithm; }
#endif

/* Whether libcrypto can provide algorithms: SHA-256 if only approved ones exist, MD5 itself if FIPS mode does not
 * apply. */
static bool is_working(void) {
    EVP_MD *other = fetch("SHA256", NULL);
    if (!other) other = fetch("MD5", "-fips");
    bool working = other != NULL;
    drop(other);
    return working;
}

/* A failure means refusal if other algorithms work and a second try fails too: memory may have been short for a
 * moment. */
static EVP_MD *fetch_md5(bool *refused) {
    EVP_MD *algorithm = start() ? fetch("MD5", NULL) : NULL;
    if (algorithm || !start() || !is_working()) return algorithm;
    algorithm = fetch("MD5", NULL);
    *refused = !algorithm;
    return algorithm;
}

/* The algorithm; the same one from the first success on. NULL: out of memory, or refused. */
static const EVP_MD *md5_algorithm(bool *refused) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static EVP_MD *kept;
    pthread_mutex_lock(&lock);
    if (!kept) {
        ERR_set_mark();   /* the program's error queue is unchanged */
        kept = fetch_md5(refused);
        ERR_pop_to_mark();
    }
    const EVP_MD *algorithm = kept;
    pthread_mutex_unlock(&lock);
    return algorithm;
}

xir_status md5_begin(md5 *m, xir_diags *why) {
    bool refused = false;
    const EVP_MD *algorithm = md5_algorithm(&refused);
    EVP_MD_CTX *context = algorithm ? EVP_MD_CTX_new() : NULL;
    *m = (md5){ context, false };
    if (context && EVP_DigestInit_ex(context, algorithm, NULL) == 1) return XIR_OK;
    EVP_MD_CTX_free(context);
    *m = (md5){ NULL, true };
    if (!refused) return diag_memory(why);
    return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""),
        "libcrypto refuses MD5 on this machine (FIPS mode?): parameters cannot be compared with params_md5, and raw "
        "files cannot be saved with their MD5");
}

void md5_add(md5 *m, const void *data, size_t size) {
    if (size && EVP_DigestUpdate(m->context, data, size) != 1) m->failed = true;
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

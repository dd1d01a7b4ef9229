/* libcrypto may have MD5 and refuse it, and allocates by itself; both are answers here, not surprises. */
#include <openssl/evp.h>
#include "object.h"
#include "raw/md5.h"

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
static EVP_MD *fetch(void) { return EVP_MD_fetch(NULL, "MD5", NULL); }
static void    drop(void *algorithm) { EVP_MD_free(algorithm); }
#else
static EVP_MD *fetch(void) { return (EVP_MD *)(uintptr_t)EVP_get_digestbyname("MD5"); }
static void    drop(void *algorithm) { (void)algorithm; }
#endif

xir_status md5_begin(md5 *m, xir_diags *why) {
    EVP_MD *algorithm = fetch();
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (algorithm && context && EVP_DigestInit_ex(context, algorithm, NULL) == 1) {
        *m = (md5){ context, algorithm, false };
        return XIR_OK;
    }
    bool memory = !context;
    EVP_MD_CTX_free(context);
    if (algorithm) drop(algorithm);
    *m = (md5){ NULL, NULL, true };
    if (memory) return diag_memory(why);
    return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""),
        "libcrypto refuses MD5 on this machine (FIPS mode?): parameters cannot be compared with params_md5, and no raw file "
        "can be saved with its own");
}

void md5_add(md5 *m, const void *data, size_t size) {
    if (size && EVP_DigestUpdate(m->context, data, size) != 1) m->failed = true;
}

xir_status md5_end(md5 *m, char hex[MD5_DIGITS + 1], xir_diags *why) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (!m->failed && hex && (EVP_DigestFinal_ex(m->context, digest, &size) != 1 || 2 * size != MD5_DIGITS)) m->failed = true;
    EVP_MD_CTX_free(m->context);
    drop(m->algorithm);
    if (m->failed) return diag_memory(why);
    for (unsigned i = 0; hex && i < size; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    if (hex) hex[MD5_DIGITS] = '\0';
    return XIR_OK;
}

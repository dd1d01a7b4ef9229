/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The libraries that XIR stands on, with their versions: of those that run, where they can be asked. */
#include <libdeflate.h>
#include <msgpack.h>
#include <openssl/crypto.h>
#include <xir/base.h>

static const char *openssl_version(void) {
#ifdef OPENSSL_VERSION_STRING
    return OpenSSL_version(OPENSSL_VERSION_STRING);
#else
    return OPENSSL_VERSION_TEXT;
#endif
}

static const char *deflate_version(void) { return LIBDEFLATE_VERSION_STRING; }

static const struct {
    const char *name;
    const char *(*version)(void);
} dependencies[] = {
    { "OpenSSL",    openssl_version },
    { "msgpack-c",  msgpack_version },
    { "libdeflate", deflate_version },
};
enum { DEPENDENCIES = sizeof dependencies / sizeof dependencies[0] };

const char *xir_dependency_name(size_t i) { return i < DEPENDENCIES ? dependencies[i].name : NULL; }

const char *xir_dependency_version(size_t i) { return i < DEPENDENCIES ? dependencies[i].version() : NULL; }

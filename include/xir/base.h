/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The base of all other headers: export macros, version, text, status, allocator. Nothing here allocates or fails. */
#ifndef XIR_BASE_H
#define XIR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define XIR_BEGIN extern "C" {
#define XIR_END   }
#else
#define XIR_BEGIN
#define XIR_END
#endif

#if defined(__GNUC__)
#define XIR_API          __attribute__((visibility("default")))
#define XIR_HIDDEN       __attribute__((visibility("hidden")))
#define XIR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define XIR_API
#define XIR_HIDDEN
#define XIR_PRINTF(f, a)
#endif

/* The version of the headers; xir_version() is that of the library. */
#define XIR_VERSION_MAJOR 0
#define XIR_VERSION_MINOR 1
#define XIR_VERSION_PATCH 0
#define XIR_VERSION_NUM   (XIR_VERSION_MAJOR * 10000 + XIR_VERSION_MINOR * 100 + XIR_VERSION_PATCH)
/* True for headers of this version or a newer one: #if XIR_VERSION_AT_LEAST(0, 2, 0). */
#define XIR_VERSION_AT_LEAST(major, minor, patch) (XIR_VERSION_NUM >= (major) * 10000 + (minor) * 100 + (patch))

/* Before a declaration that a later version removes: XIR_DEPRECATED("use xir_op_name"). A program that uses it gets the
 * text as a warning. */
#if defined(__GNUC__)
#define XIR_DEPRECATED(instead) __attribute__((deprecated(instead)))
#else
#define XIR_DEPRECATED(instead)
#endif

/* The version of the structs that plug-ins and programs pass to the library, which refuses any other version. Within
 * one version, a struct that begins with its size may grow at its end. So may the rows of an array whose row size is
 * given. */
#define XIR_ABI 3u

/* Initialises a struct that begins with its size. All other members are zero, which is their default. In C, members can
 * be set in place:
 *
 *     xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = true), why);
 *
 * In C++, set them afterwards:
 *
 *     xir_load_options how = XIR_INIT(xir_load_options);
 *     how.lazy = true;
 *
 * A static one gives its size itself: { .size = sizeof(xir_load_options), .lazy = true }.
 *
 * A struct without its size is refused with XIR_E_ABI. The library reads and writes no more bytes than the size says,
 * so the caller may be built with an older or a newer header. A member that the library does not know must be zero,
 * otherwise the struct is refused with XIR_E_UNSUPPORTED. In a struct that the library fills (xir_format_info), members
 * that it does not know become zero. */
#ifdef __cplusplus
#define XIR_ZERO_ = {}   /* of a member that an initialiser leaves out: zero, without a warning */
template <class T> inline T xir_init_()
{
    T made = T();
    made.size = static_cast<uint32_t>(sizeof made);
    return made;
}
#define XIR_INIT(type)           (xir_init_<type>())
#else
#define XIR_ZERO_
#define XIR_INIT(...)            XIR_INIT_(__VA_ARGS__, )
#define XIR_INIT_(type, ...)     ((type){ .size = sizeof(type), __VA_ARGS__ })
#endif

XIR_BEGIN

/* Returns the version of the library at run time, "0.1.0". Static. */
XIR_API const char *xir_version(void);

/* The name and the version of a library that XIR uses, "OpenSSL" and "3.0.17": of the one that runs, for libdeflate of
 * the one of the build. NULL past the last one. Static. */
XIR_API const char *xir_dependency_name(size_t i);
XIR_API const char *xir_dependency_version(size_t i);

/* A piece of text: bytes, UTF-8 unless stated otherwise, not terminated. The function that returns one states how long
 * the bytes live. The empty text may have a null pointer. */
typedef struct xir_str {
    const char *data;
    size_t      size;
} xir_str;
/* The text of a string literal. */
#ifdef __cplusplus
#define XIR_STR(literal) (xir_str{ (literal), sizeof(literal) - 1 })
#else
#define XIR_STR(literal) ((xir_str){ (literal), sizeof(literal) - 1 })
#endif

/* Returns the xir_str of a terminated string; NULL gives the empty text. */
XIR_API xir_str xir_str_of(const char *terminated);

/* A text in a format of printf. XIR_ARG evaluates it several times.
 *     printf("op " XIR_PRI "\n", XIR_ARG(xir_op_name(op))); */
#define XIR_PRI       "%.*s"
#define XIR_ARG(text) xir_str_shown_((text).size), (text).data ? (text).data : ""
static inline int xir_str_shown_(size_t size) { return size < INT32_MAX ? (int)size : INT32_MAX; }

/* Returns true if two texts have the same bytes. */
XIR_API bool xir_str_equal(xir_str a, xir_str b);

/* For "did you mean" suggestions. Returns true if `candidate` is a likely correction of the misspelled `word` and
 * closer to it than `*distance`, and then stores its distance there. The distance counts letters that are changed,
 * inserted, left out or swapped with their neighbour. It may be at most a third of the word's letters (but 1 in any
 * word of two or more), and at most three, in texts of up to 48 bytes. A name of up to 256 bytes that has the word as a
 * part, "/c1/Conv" for "c1", or begins a part with three or more letters of it, "Conv2d" for "conv", is a likely
 * correction too, at a greater distance; case does not matter there. Start with SIZE_MAX and try all candidates: the
 * last one that returned true is the closest, and of two equally close ones the first. */
XIR_API bool xir_str_is_nearer(xir_str word, xir_str candidate, size_t *distance);

/* The result of a call. Zero is success. The others are what a caller can act on; the diagnostics have the sentence
 * that explains what happened. */
typedef enum xir_status {
    XIR_OK = 0,
    XIR_E_MEMORY,      /* the allocator refused; nothing changed                              */
    XIR_E_IO,          /* the operating system refused to read or write                       */
    XIR_E_SYNTAX,      /* text or bytes that break the rules of their format                   */
    XIR_E_TYPE,        /* a value of the wrong kind or class                                  */
    XIR_E_BOUNDS,      /* a number, index or length outside what is allowed                   */
    XIR_E_MISSING,     /* something required is missing                                       */
    XIR_E_EXISTS,      /* an id, a name or a key that is already taken                        */
    XIR_E_UNKNOWN,     /* a class, attribute, enum member or format that is not registered    */
    XIR_E_IN_USE,      /* refused, because something still refers to it                       */
    XIR_E_CORRUPT,     /* a checksum, a size or a layout of a file that contradicts itself    */
    XIR_E_INVALID,     /* well-formed, but breaks a rule of operations or graphs              */
    XIR_E_STALE,       /* a view of a network that has changed since                          */
    XIR_E_LIMIT,       /* more, deeper or larger than the limits allow                        */
    XIR_E_ABI,         /* a struct or a plug-in made for another version                      */
    XIR_E_UNSUPPORTED, /* this build or machine cannot do it (MD5 disabled, for example), or
                          inference has no rule for these types (quantised, tiled)            */
    XIR_E_CANCELLED,   /* the caller's `cancel` callback returned true                        */
    XIR_STATUS_COUNT
} xir_status;

/* Returns the short name of a status: "bounds". Static. */
XIR_API const char *xir_status_name(xir_status status);

/* The one function that provides all memory. With `block` NULL it allocates. With `size` 0 it frees and returns NULL.
 * Otherwise it resizes the block and keeps its first min(old_size, size) bytes. `old_size` is always the size that was
 * requested before. If it fails, it returns NULL and leaves the old block unchanged. Memory is aligned as malloc aligns
 * it. If several threads use the context, several may call this function at once. */
typedef struct xir_allocator {
    void *(*resize)(void *user, void *block, size_t old_size, size_t size);
    void *user;
} xir_allocator;

XIR_END

#include <xir/gone.h>

#endif

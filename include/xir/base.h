/* The words that every other header uses: export, version, text, status, allocator.
 * Nothing here allocates or fails. */
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

#define XIR_VERSION_MAJOR 0
#define XIR_VERSION_MINOR 1
#define XIR_VERSION_PATCH 0
#define XIR_VERSION_NUM   (XIR_VERSION_MAJOR * 10000 + XIR_VERSION_MINOR * 100 + XIR_VERSION_PATCH)

/* The version of the structs that plug-ins and programs hand over: a library refuses any other. Within one version, a
 * struct that begins with its size may grow at its end, and so may the rows of an array whose row size is given. */
#define XIR_ABI 2u

/* A struct that begins with its size, all else zero, which is the default. C may set members:
 *
 *     xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = true), why);
 *
 * C++ sets them afterwards:
 *
 *     xir_load_options how = XIR_INIT(xir_load_options);
 *     how.lazy = true;
 *
 * A static one says its size: { .size = sizeof(xir_load_options), .lazy = true }.
 *
 * Without its size such a struct is refused with XIR_E_ABI. A library reads and writes only so many bytes, so that the
 * caller may have been built with an older or a newer header. A member that the library does not know is refused with
 * XIR_E_UNSUPPORTED, unless it is zero. A struct that is filled (xir_format_info) gets zeros there. */
#ifdef __cplusplus
template <class T> inline T xir_init_()
{
    T made = T();
    made.size = static_cast<uint32_t>(sizeof made);
    return made;
}
#define XIR_INIT(type)           (xir_init_<type>())
#else
#define XIR_INIT(...)            XIR_INIT_(__VA_ARGS__, )
#define XIR_INIT_(type, ...)     ((type){ .size = sizeof(type), __VA_ARGS__ })
#endif

XIR_BEGIN

/* Returns the version of the library at run time, "0.1.0". Static. */
XIR_API const char *xir_version(void);

/* A piece of text: bytes, UTF-8 unless said otherwise, not terminated. Whoever hands one out says how
 * long the bytes live. The empty text may have a null pointer. */
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

/* Returns the text of a terminated string; NULL gives the empty text. */
XIR_API xir_str xir_str_of(const char *terminated);

/* Whether two texts have the same bytes. */
XIR_API bool xir_str_equal(xir_str a, xir_str b);

/* For "did you mean": true if `candidate` may be what a misspelled `word` means, and is nearer to it than
 * `*distance`, which then becomes its distance: letters changed, put in, left out or exchanged with their neighbour.
 * At most a third of the word's letters and one more may differ, never more than three, and not all; texts of more
 * than 48 bytes are far from everything. Begin with SIZE_MAX and try all candidates; the last for which it was true
 * is the nearest, the first of two that are alike. */
XIR_API bool xir_str_is_nearer(xir_str word, xir_str candidate, size_t *distance);

/* What became of a call. Zero is success; the others are what a caller can act on, the sentence that
 * says what happened is in the diagnostics. */
typedef enum xir_status {
    XIR_OK = 0,
    XIR_E_MEMORY,      /* the allocator refused; nothing changed                              */
    XIR_E_IO,          /* the operating system refused to read or write                       */
    XIR_E_SYNTAX,      /* text or bytes that break the rules of their format                   */
    XIR_E_TYPE,        /* a value of the wrong kind or class                                  */
    XIR_E_BOUNDS,      /* a number, index or length outside what is allowed                   */
    XIR_E_MISSING,     /* something required is not there                                     */
    XIR_E_EXISTS,      /* an id, a name or a key that is already taken                        */
    XIR_E_UNKNOWN,     /* a class, attribute, enum member or format that nobody knows         */
    XIR_E_IN_USE,      /* refused, because others still refer to it                           */
    XIR_E_CORRUPT,     /* a checksum, a size or a layout of a file that contradicts itself    */
    XIR_E_INVALID,     /* decodes, but breaks a rule of operations or graphs                  */
    XIR_E_STALE,       /* a view whose network has changed since                              */
    XIR_E_LIMIT,       /* more, deeper or larger than the limits allow                        */
    XIR_E_ABI,         /* a struct or a plug-in made for another version                      */
    XIR_E_UNSUPPORTED, /* this build or machine cannot do it (MD5 refused, for example), or
                          inference has no rule for what it is given (quantised, tiled)       */
    XIR_E_CANCELLED,   /* the caller's `cancel` has said so                                   */
    XIR_STATUS_COUNT
} xir_status;

/* Returns a short name of a status, "bounds". Static. */
XIR_API const char *xir_status_name(xir_status status);

/* The one function through which all memory comes. `block` NULL allocates, `size` 0 frees (and returns
 * NULL), otherwise the block is resized, its first min(old_size, size) bytes kept. `old_size` is always
 * the size asked for before. Returns NULL when it cannot, the old block untouched. Memory is aligned as
 * malloc aligns. May be called from several threads at once if the context is used from several. */
typedef struct xir_allocator {
    void *(*resize)(void *user, void *block, size_t old_size, size_t size);
    void *user;
} xir_allocator;

XIR_END

#endif

/* File formats of programs and plug-ins: what a format is, and how a context gets one more. A format that is registered
 * here is read, written, detected and listed like those of the library. docs/writing-a-format.md is a walk through
 * one. */
#ifndef XIR_FORMAT_H
#define XIR_FORMAT_H

#include <xir/params.h>
#include <xir/serialize.h>

XIR_BEGIN

typedef struct xir_format_decl xir_format_decl;

/* ---- detection ------------------------------------------------------------------------------------------------- */

/* How well the first bytes of a file fit a format. The best grade wins; between equal ones the name's suffix decides,
 * then the order of registration. If no format says more than NO, the suffix alone decides. */
typedef enum xir_probe_grade {
    XIR_PROBE_NO,       /* the bytes are of another format                                                     */
    XIR_PROBE_MAYBE,    /* nothing contradicts, as in "begins with a bracket"                                  */
    XIR_PROBE_LIKELY,   /* the structure fits as far as it can be seen, or a magic that other formats share    */
    XIR_PROBE_YES       /* a magic or a key that no other format has in this place                             */
} xir_probe_grade;

enum { XIR_PROBE_HEAD = 256 };

/* What is known of a file whose format is asked for. Grows at its end. */
typedef struct xir_probe {
    uint32_t    size;         /* sizeof(xir_probe), of the library                                             */
    uint32_t    head_size;    /* at least 1, at most XIR_PROBE_HEAD; less only if the file has no more, or if the
                                 caller has no more of it: a format whose signs come later says MAYBE then     */
    const void *head;         /* the first bytes                                                               */
    uint64_t    total;        /* how many bytes the file has; XIR_NO_BYTE: unknown, as of a stream that is still
                                 coming. A format that needs it says MAYBE then                                */
    xir_str     name;         /* of the file; may be empty. Its suffix is compared by the library              */
} xir_probe;

/* ---- reading --------------------------------------------------------------------------------------------------- */

enum {
    XIR_READ_NO_PARAMS = 1,   /* the structure alone is wanted: Params stay without bytes                      */
    XIR_READ_LAZY      = 2,   /* other files that are read are mapped, as `data` is                            */
    XIR_READ_COMPARE   = 4,   /* checksums of parameters are compared, which reads them all                    */
    XIR_READ_SILENT    = 8    /* what the structure claims of the parameters is not looked at                  */
};

/* A file that is read. Grows at its end. */
typedef struct xir_format_reading {
    uint32_t               size;        /* sizeof(xir_format_reading), of the library                         */
    uint32_t               flags;       /* XIR_READ_…                                                         */
    const xir_format_decl *format;
    xir_context           *ctx;
    const void            *data;        /* all bytes of the file; valid until the function returns            */
    uint64_t               data_size;
    xir_str                name;        /* for findings; may be empty                                         */
    const char            *path;        /* of a regular file; NULL: memory or a stream                        */
    xir_diags             *why;         /* findings of a text format that have a byte and no line get line and
                                           column from it                                                     */
    void                  *bytes;       /* the library's own                                                  */
} xir_format_reading;

/* Gives Params `size` bytes of `data` from `offset` on. They are shared, not copied: the library keeps the memory or
 * the mapping as long as they are in use. XIR_E_BOUNDS outside of `data`, XIR_E_TYPE if the type of the Params takes
 * another number of bytes, XIR_E_MEMORY; without a finding. On failure the old bytes stay. */
XIR_API xir_status xir_format_set_params(const xir_format_reading *how, xir_value *params, uint64_t offset,
                                         uint64_t size);

/* ---- writing --------------------------------------------------------------------------------------------------- */

enum {
    XIR_WRITE_INDENT    = 1,   /* for people; only asked of formats with XIR_FORMAT_INDENTS                    */
    XIR_WRITE_NO_PARAMS = 2    /* the structure alone                                                          */
};

/* A file that is written. Grows at its end. */
typedef struct xir_format_writing {
    uint32_t               size;        /* sizeof(xir_format_writing), of the library                         */
    uint32_t               flags;       /* XIR_WRITE_…                                                        */
    const xir_format_decl *format;
    const char            *path;        /* for findings; may be ""                                            */
    uint32_t               align;       /* of parameters, a power of two; of formats with XIR_FORMAT_ALIGNS   */
    xir_write_fn          *write;       /* false: stop and return XIR_E_IO. The library adds the finding      */
    void                  *user;        /* of `write`                                                         */
    xir_diags             *why;
} xir_format_writing;

/* ---- places ---------------------------------------------------------------------------------------------------- */

/* Where in a text the part of a network is that a finding is about. */
typedef struct xir_format_place {
    xir_str path;    /* "/ops/3/stride_width", as findings about networks have them; "": the whole            */
    size_t  byte;    /* SIZE_MAX: not found                                                                   */
} xir_format_place;

/* ---- a format -------------------------------------------------------------------------------------------------- */

enum {
    XIR_FORMAT_TEXT    = 1,   /* findings have lines and columns                                               */
    XIR_FORMAT_INDENTS = 2,   /* can be written for people: xir_save_options.indent                            */
    XIR_FORMAT_ALIGNS  = 4    /* aligns parameters in the file: xir_save_options.align                         */
};

/* Constant, and there as long as the context is. Grows at its end. What a format does not have is NULL: one that
 * neither reads nor writes is only known by sight, and its files are refused by its name. Functions may be called from
 * several threads at once. */
struct xir_format_decl {
    uint32_t    abi, size;      /* XIR_ABI, sizeof(xir_format_decl)                                            */
    const char *name;           /* lower case, as options spell it: "pnnx"                                     */
    const char *doc;            /* a few words: "PNNX graph"                                                   */
    const char *suffixes;       /* of file names, separated by blanks: "pnnx.param param". The longest that a name
                                   ends with counts; what stands before it is the stem                         */
    unsigned    traits;         /* XIR_FORMAT_…                                                                */
    void       *user;
    xir_probe_grade (*probe)(const xir_probe *file, void *user);   /* NULL: only the suffix tells              */

    /* The network of a file; NULL with a finding. */
    xir_network *(*read)(const xir_format_reading *how);
    /* Writes the network, which has been validated unless the caller did not want that. */
    xir_status   (*write)(xir_network *net, const xir_format_writing *how);

    /* Parameters in a file of their own, next to that of the structure. `params_found` has the suffixes that are tried
     * after the stem when reading, in this order: "pnnx.bin bin"; NULL: parameters are inside. `params_written` has one
     * for each of `suffixes`, in their order, the last of which serves the others: "pnnx.bin bin" writes X.pnnx.bin for
     * X.pnnx.param and X.bin for X.param. The parameters are written first, then the structure, which is all that
     * `write` of such a format writes; both files are complete before either takes its name. */
    const char  *params_found, *params_written;
    xir_status (*read_params)(xir_network *net, const xir_format_reading *how);
    xir_status (*write_params)(xir_network *net, const xir_format_writing *how);

    /* Finds places in a text that `read` accepted: sets the bytes of those that it can find, which are sorted by their
     * paths ('/' before every other byte) and SIZE_MAX before. NULL: findings have no lines. XIR_OK or XIR_E_MEMORY. */
    xir_status (*find_places)(xir_context *ctx, xir_str text, xir_format_place *places, size_t n, void *user);
};

#define XIR_FORMAT_HEAD(name_, doc_) .abi = XIR_ABI, .size = sizeof(xir_format_decl), .name = (name_), .doc = (doc_)

/* Registers a format. Registering the same declaration again is XIR_OK; XIR_E_EXISTS for a name that another one has,
 * XIR_E_INVALID for a declaration that contradicts itself (no name, no suffix, one half of a pair), XIR_E_ABI for one
 * of another version. On failure the context is as before. */
XIR_API xir_status xir_format_register(xir_context *ctx, const xir_format_decl *decl, xir_diags *why);

XIR_END

#endif

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* File formats of programs and plug-ins: the description of a format, and how to register one with a context. A
 * registered format is read, written, detected and listed like those of the library. docs/writing-a-format.md shows how
 * to write one. */
#ifndef XIR_FORMAT_H
#define XIR_FORMAT_H

#include <xir/params.h>
#include <xir/serialize.h>

XIR_BEGIN

typedef struct xir_format_decl xir_format_decl;

/* ---- detection ------------------------------------------------------------------------------------------------- */

/* The grades by which the first bytes of a file fit a format. The best grade wins. Between equal grades the suffix of
 * the name decides, then the order of registration. If no format grades above NO, only the suffix decides. */
typedef enum xir_probe_grade {
    XIR_PROBE_NO,       /* the bytes are of another format                                                     */
    XIR_PROBE_MAYBE,    /* nothing contradicts the format, as in "begins with a bracket"                       */
    XIR_PROBE_LIKELY,   /* the structure fits as far as it is visible, or a magic that other formats share     */
    XIR_PROBE_YES       /* a magic or a key that no other format has in this place                             */
} xir_probe_grade;

enum { XIR_PROBE_HEAD = 256 };

/* A file whose format is to be detected. May grow at its end. */
typedef struct xir_probe {
    uint32_t    size;         /* sizeof(xir_probe) in the library                                              */
    uint32_t    head_size;    /* from 1 to XIR_PROBE_HEAD; less than that only if the file ends there or the caller
                                 has no more of it. A format whose signature comes later then answers MAYBE    */
    const void *head;         /* the first bytes                                                               */
    uint64_t    total;        /* the size of the file in bytes; XIR_NO_BYTE: unknown, as for an unfinished stream.
                                 A format that needs the size then answers MAYBE                               */
    xir_str     name;         /* of the file; may be empty. The library itself compares its suffix             */
} xir_probe;

/* ---- reading --------------------------------------------------------------------------------------------------- */

enum {
    XIR_READ_NO_PARAMS = 1,   /* only the structure is wanted: Params get no bytes                             */
    XIR_READ_LAZY      = 2,   /* map other files that are read, as `data` is mapped                            */
    XIR_READ_COMPARE   = 4,   /* compare checksums of parameters, which reads them all                         */
    XIR_READ_SILENT    = 8    /* ignore what the structure states about the parameters                         */
};

/* A file that is being read. May grow at its end. */
typedef struct xir_format_reading {
    uint32_t               size;        /* sizeof(xir_format_reading) in the library                          */
    uint32_t               flags;       /* XIR_READ_…                                                         */
    const xir_format_decl *format;
    xir_context           *ctx;
    const void            *data;        /* all bytes of the file; valid until the function returns            */
    uint64_t               data_size;
    xir_str                name;        /* for findings; may be empty                                         */
    const char            *path;        /* of a regular file; NULL: memory or a stream                        */
    xir_diags             *why;         /* in a text format, findings with a byte but without a line get line and
                                           column from the library                                            */
    void                  *bytes;       /* for the library                                                    */
} xir_format_reading;

/* Gives Params the `size` bytes of `data` that start at `offset`. They are shared, not copied: the library keeps the
 * memory or the mapping while they are in use. XIR_E_BOUNDS outside of `data`, XIR_E_TYPE if the type of the Params
 * takes another number of bytes, XIR_E_MEMORY; all without a finding. On failure the old bytes remain. */
XIR_API xir_status xir_format_set_params(const xir_format_reading *how, xir_value *params, uint64_t offset,
                                         uint64_t size);

/* ---- writing --------------------------------------------------------------------------------------------------- */

enum {
    XIR_WRITE_INDENT    = 1,   /* for human readers; only passed to formats with XIR_FORMAT_INDENTS            */
    XIR_WRITE_NO_PARAMS = 2,   /* only the structure                                                           */
    XIR_WRITE_PLAIN     = 4    /* not scrambled; only passed to formats with XIR_FORMAT_PLAINS                  */
};

/* A file that is being written. May grow at its end. */
typedef struct xir_format_writing {
    uint32_t               size;        /* sizeof(xir_format_writing) in the library                          */
    uint32_t               flags;       /* XIR_WRITE_…                                                        */
    const xir_format_decl *format;
    const char            *path;        /* for findings; may be ""                                            */
    uint32_t               align;       /* of parameters, a power of two; for formats with XIR_FORMAT_ALIGNS  */
    xir_write_fn          *write;       /* false: stop and return XIR_E_IO. The library adds the finding      */
    void                  *user;        /* for `write`                                                        */
    xir_diags             *why;
} xir_format_writing;

/* ---- places ---------------------------------------------------------------------------------------------------- */

/* The place in a text where the part of a network is that a finding refers to. */
typedef struct xir_format_place {
    xir_str path;    /* "/ops/3/stride_width", as in findings about networks; "": the whole                   */
    size_t  byte;    /* SIZE_MAX: not found                                                                   */
} xir_format_place;

/* ---- a format -------------------------------------------------------------------------------------------------- */

enum {
    XIR_FORMAT_TEXT    = 1,   /* findings have lines and columns                                               */
    XIR_FORMAT_INDENTS = 2,   /* can be indented for human readers: xir_save_options.indent                    */
    XIR_FORMAT_ALIGNS  = 4,   /* aligns parameters in the file: xir_save_options.align                         */
    XIR_FORMAT_DIALECT = 8,   /* holds only operators of a dialect of its own: writing refuses others          */
    XIR_FORMAT_PLAINS  = 16,  /* may be scrambled: xir_save_options.plain                                      */
    XIR_FORMAT_SPLITS  = 32   /* for the library: XIR_SAVE_EXTERNAL applies to it                              */
};

/* The description of a format. It must be constant and live as long as the context. It may grow at its end. A function
 * that a format does not have is NULL. A format that neither reads nor writes is only detected, so that its files are
 * refused by its name. Several threads may call the functions at once. */
struct xir_format_decl {
    uint32_t    abi, size;      /* XIR_ABI, sizeof(xir_format_decl)                                            */
    const char *name;           /* lower case, as in options: "pnnx"                                           */
    const char *doc;            /* a few words: "PNNX graph"                                                   */
    const char *suffixes;       /* of file names, separated by blanks: "pnnx.param param". The longest that a name
                                   ends with counts; the part before it is the stem                            */
    unsigned    traits;         /* XIR_FORMAT_…                                                                */
    void       *user;
    xir_probe_grade (*probe)(const xir_probe *file, void *user);   /* NULL: only the suffix decides            */

    /* Returns the network of a file, or NULL with a finding. */
    xir_network *(*read)(const xir_format_reading *how);
    /* Writes the network. It has been validated unless the caller asked not to. */
    xir_status   (*write)(xir_network *net, const xir_format_writing *how);

    /* Parameters in a separate file next to the structure file. When reading, the suffixes of `params_found` are
     * tried after the stem, in order: "pnnx.bin bin"; NULL: parameters are inside. `params_written` has one suffix
     * for each of `suffixes`, in their order, and its last one serves the rest: "pnnx.bin bin" writes X.pnnx.bin for
     * X.pnnx.param and X.bin for X.param. The parameters are written first, then the structure, which is all that
     * `write` of such a format writes. Both files are complete before either gets its name. */
    const char  *params_found, *params_written;
    xir_status (*read_params)(xir_network *net, const xir_format_reading *how);
    xir_status (*write_params)(xir_network *net, const xir_format_writing *how);

    /* Finds places in a text that `read` accepted. `places` are sorted by path ('/' before every other byte), with
     * their bytes SIZE_MAX; the function sets the bytes that it can find. NULL: findings get no lines. Returns
     * XIR_OK or XIR_E_MEMORY. */
    xir_status (*find_places)(xir_context *ctx, xir_str text, xir_format_place *places, size_t n, void *user);
};

#define XIR_FORMAT_HEAD(name_, doc_) .abi = XIR_ABI, .size = sizeof(xir_format_decl), .name = (name_), .doc = (doc_)

/* Registers a format. Registering the same declaration again is XIR_OK. XIR_E_EXISTS if another format has the name,
 * XIR_E_INVALID if the declaration contradicts itself (no name, no suffix, one half of a pair), XIR_E_ABI for one of
 * another version. On failure the context is unchanged. */
XIR_API xir_status xir_format_register(xir_context *ctx, const xir_format_decl *decl, xir_diags *why);

XIR_END

#endif

/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A format: how a whole network is read from bytes and written as bytes, and which files lie next to its file. Files,
 * streams, detection and all options are the business of load.c and save.c, which know no format. A new format is one
 * more folder and one row in src/core/object/formats.def. */
#ifndef SERIALIZE_FORMAT_H
#define SERIALIZE_FORMAT_H

#include <xir/format.h>
#include "folder.h"
#include "graph.h"

typedef struct format format;

typedef struct format_reading {
    xir_context  *ctx;
    const format *format;
    xir_str       name;      /* of the file, for findings; may be empty                                         */
    const char   *path;      /* of a regular file, which may have other files next to it; NULL: memory or a stream */
    bool          lazy;      /* map such files instead of reading them,                                           */
    bool          watch;     /* and watch them from then on                                                     */
    bool          no_params; /* the structure alone                                                             */
    bool          compare;   /* compare the digest of the parameters, which reads them all                       */
    bool          meanwhile; /* compare it by a thread of its own (check_meanwhile.h); never with `compare`       */
    bool          silent;    /* ignore what the structure says of the parameters                                 */
    xir_diags    *why;
} format_reading;

/* Payloads below this size are usually not aligned to pages. */
enum { FORMAT_SMALL = 4096 };

typedef struct format_writing {
    const format *format;
    const char   *path;      /* for findings; may be ""                                                       */
    const char   *params_path;     /* of the structure's folder or file of parameters; NULL: it has none      */
    unsigned      flags;     /* XIR_SAVE_INDENT, _INLINE, _RAW, _NO_IDS                                       */
    uint32_t      align;     /* of payloads, in formats that align them: a power of two                        */
    uint32_t      small_align;     /* of payloads below FORMAT_SMALL bytes; 0: the same                       */
    bool          plain;     /* not scrambled, in formats that may be                                          */
    bool          external;  /* parameters go to a file of their own, in formats with `splits`                 */
    bool         *too_large; /* set, and nothing written, if they must go to one, in formats with `splits`; NULL: that
                              * is refused                                                                    */
    bool          no_params; /* the structure alone; params_bytes and params_md5 are as if with parameters     */
    bool          digest_set;      /* params_bytes and params_md5 of the network describe the file just written */
    xir_write_fn *write;     /* if it stops, the result is XIR_E_IO; the caller adds the finding              */
    xir_write_fn *write_lasting;   /* the same for bytes that stay as they are, as those of parameters; or NULL */
    bool        (*patch)(void *user, uint64_t at, const void *data, size_t size);   /* replaces bytes that were written;
                              * NULL: they cannot be replaced                                                 */
    void         *user;
    xir_diags    *why;
} format_writing;

/* An object, an op or a value alone. */
typedef enum part_kind { PART_OBJECT, PART_OP, PART_VALUE } part_kind;
typedef struct format_part {
    part_kind    kind;
    xir_context *ctx;
    xir_network *net;        /* of an op or a value; NULL: of an object                                       */
    const void  *it;         /* the part to write, or the one that was read                                   */
} format_part;

/* Members without a comment are as in xir_format_decl. */
struct format {
    const char *name;        /* in options and on the command line: "fb"                                      */
    const char *meaning;     /* "FlatBuffers network"                                                         */
    const char *suffixes;    /* of file names, separated by blanks: "imodel msg"                              */
    unsigned    traits;      /* XIR_FORMAT_…                                                                  */
    const char *operators;   /* of a dialect: the format that they are of; NULL: this one                     */
    const xir_format_decl *decl;   /* of a registered format; NULL: one of the library                        */
    xir_probe_grade (*probe)(const xir_probe *file, void *user);
    /* False: `read` refuses what begins with these bytes, whatever follows them. There are a few thousand at least, and
     * more follow. NULL: the format cannot say. */
    bool (*may_begin)(const uint8_t *head, size_t size);
    /* The same for the separate parameter file. */
    bool (*params_may_begin)(const uint8_t *head, size_t size);
    /* NULL with a finding. Params keep parts of `whole` (blob_part_in), which may be a mapping or memory; nothing else
     * of it is kept. The caller keeps `whole`. */
    xir_network *(*read)(const format_reading *how, blob *whole);
    /* Compares what the structure says of the parameters inside with what was read, and warns. XIR_OK or XIR_E_MEMORY.
     * NULL: the structure says nothing. */
    xir_status (*compare_claims)(xir_network *net, const format_reading *how);
    xir_status (*write)(xir_network *net, const format_writing *how);
    /* Separate parameter files: their suffixes, "data/" of a folder; NULL: the parameters are inside. Loading and
     * reading give a network its parameters, all or none: from the file how->path, which may be a pipe, or from memory,
     * which is copied, or with how->lazy borrowed. Writing refuses whatever it can before the first byte. */
    const char *params_found, *params_written;
    bool        makes_params;     /* loading makes Params of what it finds: the file is always looked for     */
    bool        params_always;    /* the file is written for a network without parameters too                  */
    /* The most bytes of all parameters together, and of one; 0: no limit that sizes alone show. */
    uint64_t    most_params, most_param;
    xir_status (*load_params)(xir_network *net, const format_reading *how);
    xir_status (*read_params)(xir_network *net, const format_reading *how, const void *data, size_t size);
    xir_status (*write_params)(xir_network *net, const format_writing *how);
    /* Returns true if writing this network needs the separate file; NULL: it does if there are parameters. Such a file
     * is read by name, so there is no params_found. */
    xir_status (*splits)(xir_network *net, const format_writing *how, bool *out);
    /* Returns true if the parameters of a network are in the file itself after all; NULL: never.                   */
    bool       (*has_inside)(const xir_network *net, const format_writing *how);
    bool        spells_dims;      /* symbolic dims are in its types: it needs no keys for them               */
    /* Parameters in a folder, instead of write_params: whether a network has any, which files of an old folder may be
     * replaced, and the writing of all files, after the structure. Whatever can be refused is before the first file. */
    bool       (*has_files)(const xir_network *net);
    bool       (*is_own_file)(xir_str name);
    xir_status (*write_folder)(xir_network *net, const format_writing *how, folder_writer *to);
    xir_status (*find_places)(xir_context *ctx, xir_str text, xir_format_place *places, size_t n, void *user);
    /* The same for parts; NULL: the format has none. */
    bool       (*read_part)(format_part *part, const void *data, size_t size, xir_diags *why);
    xir_status (*write_part)(const format_part *part, const format_writing *how);
};

/* The order of the paths of places: '/' sorts before every other byte. */
static inline int place_order(xir_str a, xir_str b) {
    for (size_t i = 0; i < a.size && i < b.size; i++) {
        if (a.data[i] == b.data[i]) continue;
        if (a.data[i] == '/' || b.data[i] == '/') return a.data[i] == '/' ? -1 : 1;
        return (unsigned char)a.data[i] - (unsigned char)b.data[i];
    }
    return (a.size > b.size) - (a.size < b.size);
}

#define FORMAT(id, page, fuzz)  extern const format format_##id;
#define DIALECT FORMAT
#include "formats.def"
#undef DIALECT
#undef FORMAT

#endif

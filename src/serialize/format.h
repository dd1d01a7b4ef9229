/* A format: how a whole network is read from bytes and written as bytes, and what lies next to the file. Files,
 * streams, detection and all options are the business of the front door (load.c, save.c), which knows no format; a new
 * format is one more folder and one row in formats.c. */
#ifndef SERIALIZE_FORMAT_H
#define SERIALIZE_FORMAT_H

#include <xir/format.h>
#include "graph.h"

typedef struct format format;

typedef struct format_reading {
    xir_context  *ctx;
    const format *format;
    xir_str       name;      /* of the file, for findings; may be empty                                         */
    const char   *path;      /* of a regular file, next to which others may lie; NULL: bytes of memory or a stream */
    bool          lazy;      /* such files are mapped, not read,                                                */
    bool          watch;     /* and watched from then on                                                        */
    bool          no_params; /* the structure alone                                                             */
    bool          compare;   /* the digest of the parameters is compared, which reads them all                   */
    bool          silent;    /* what the structure claims of the parameters is not looked at                     */
    xir_diags    *why;
} format_reading;

typedef struct format_writing {
    const format *format;
    const char   *path;      /* for findings; may be ""                                                       */
    unsigned      flags;     /* XIR_SAVE_INDENT                                                               */
    uint32_t      align;     /* of payloads, where the format has such a thing: a power of two                 */
    bool          no_params; /* the structure alone, with params_bytes and params_md5 as if this were not said */
    bool          told;      /* params_bytes and params_md5 of the network are those of the file written just before */
    xir_write_fn *write;     /* if it stops, the result is XIR_E_IO, and the finding is the caller's           */
    void         *user;
    xir_diags    *why;
} format_writing;

/* An object, an op or a value alone. */
typedef enum part_kind { PART_OBJECT, PART_OP, PART_VALUE } part_kind;
typedef struct format_part {
    part_kind    kind;
    xir_context *ctx;
    xir_network *net;        /* of an op or a value; NULL: of an object                                       */
    const void  *it;         /* what is written, or what was read                                             */
} format_part;

/* What is not said of a member is as in xir_format_decl. */
struct format {
    const char *name;        /* as options and the program spell it: "fb"                                     */
    const char *meaning;     /* "FlatBuffers network"                                                         */
    const char *suffixes;    /* of file names, separated by blanks: "imodel msg"                              */
    unsigned    traits;      /* XIR_FORMAT_…                                                                  */
    const xir_format_decl *decl;   /* of a registered format; NULL: one of the library                        */
    xir_probe_grade (*probe)(const xir_probe *file, void *user);
    /* False: `read` refuses what begins with these bytes, whatever follows them. There are a few thousand at least, and
     * more follow. NULL: the format cannot say. */
    bool (*may_begin)(const uint8_t *head, size_t size);
    /* NULL with a finding. Params keep parts of `whole` (blob_part_in), which may be a mapping or memory; nothing else
     * of it is kept. `whole` stays the caller's. */
    xir_network *(*read)(const format_reading *how, blob *whole);
    /* Compares what the structure claims of the parameters inside with what was read: warnings. XIR_OK or XIR_E_MEMORY;
     * NULL: there are no claims. */
    xir_status (*compare_claims)(xir_network *net, const format_reading *how);
    xir_status (*write)(xir_network *net, const format_writing *how);
    /* Parameters in a file of their own: its suffixes, NULL: they are inside. Loading and reading give a network its
     * parameters, all or none: from the file how->path, which may be a pipe, or from memory, which is copied, or with
     * how->lazy borrowed. Writing refuses what may be refused before the first byte. */
    const char *params_found, *params_written;
    xir_status (*load_params)(xir_network *net, const format_reading *how);
    xir_status (*read_params)(xir_network *net, const format_reading *how, const void *data, size_t size);
    xir_status (*write_params)(xir_network *net, const format_writing *how);
    xir_status (*find_places)(xir_context *ctx, xir_str text, xir_format_place *places, size_t n, void *user);
    /* The same for parts; NULL: the format has none. */
    bool       (*read_part)(format_part *part, const void *data, size_t size, xir_diags *why);
    xir_status (*write_part)(const format_part *part, const format_writing *how);
};

/* How the paths of places are sorted: '/' before every other byte. */
static inline int place_order(xir_str a, xir_str b) {
    for (size_t i = 0; i < a.size && i < b.size; i++) {
        if (a.data[i] == b.data[i]) continue;
        if (a.data[i] == '/' || b.data[i] == '/') return a.data[i] == '/' ? -1 : 1;
        return (unsigned char)a.data[i] - (unsigned char)b.data[i];
    }
    return (a.size > b.size) - (a.size < b.size);
}

extern const format format_json, format_flat, format_msgpack, format_onnx;
/* Known by sight alone (sight.c). */
extern const format format_pnnx, format_nnb, format_tsm, format_deepx;

#endif

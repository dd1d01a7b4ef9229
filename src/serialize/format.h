/* A format: how a whole network is read from bytes and written as bytes. Files, streams, formats by content and all options are
 * the business of who calls (formats.c, load.c, save.c); a new format is one more folder and one row in formats.c. */
#ifndef SERIALIZE_FORMAT_H
#define SERIALIZE_FORMAT_H

#include <xir/serialize.h>
#include "graph.h"

typedef struct format_reading {
    xir_context *ctx;
    xir_str      name;       /* of the file, for findings; may be empty                                       */
    const char  *path;       /* of a regular file, beside which its parts may lie; NULL: bytes of memory or a stream */
    bool         lazy;       /* such parts are mapped, not read,                                              */
    bool         watch;      /* and watched from then on                                                      */
    bool         no_params;  /* the structure alone                                                           */
    bool         compare;    /* the digest of the parameters is compared, which reads them all                 */
    xir_diags   *why;
} format_reading;

typedef struct format_writing {
    const char   *path;      /* for findings; may be ""                                                       */
    unsigned      flags;     /* XIR_SAVE_INDENT                                                               */
    uint32_t      align;     /* of payloads, where the format has such a thing: a power of two                 */
    bool          no_params; /* the structure alone, with params_bytes and params_md5 as if this were not said */
    xir_write_fn *write;
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

typedef struct format {
    const char *word;        /* as options and the program spell it: "fb"                                     */
    const char *meaning;     /* "FlatBuffers network"                                                         */
    const char *suffixes;    /* of file names, apart by blanks: "imodel msg"                                  */
    bool        pair;        /* parameters are in a raw file beside it                                        */
    bool        text;        /* findings have lines                                                           */
    /* Whether the first bytes of a file (at most 256) are of this format. */
    bool (*looks)(const uint8_t *head, size_t size);
    /* NULL with a finding. Params keep parts of `whole` (blob_part_in), which may be a mapping or memory; nothing else of it is
     * kept. `whole` stays the caller's. */
    xir_network *(*read)(const format_reading *how, blob *whole);
    xir_status (*write)(xir_network *net, const format_writing *how);
    /* The same for parts; NULL: the format has none. */
    bool       (*read_part)(format_part *part, const void *data, size_t size, xir_diags *why);
    xir_status (*write_part)(const format_part *part, const format_writing *how);
} format;

extern const format format_json, format_flat, format_msgpack, format_onnx;

#endif

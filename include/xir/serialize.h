/* Files. Reading either gives a whole network or none; writing either replaces the file or leaves the old one.
 * Formats are described byte by byte in docs/formats.md. */
#ifndef XIR_SERIALIZE_H
#define XIR_SERIALIZE_H

#include <xir/network.h>

XIR_BEGIN

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* A piece of text or bytes that the callee allocated with the context's allocator; free with xir_text_free. */
typedef struct xir_text_buffer {
    char        *data;   /* not terminated */
    size_t       size;
    size_t       room;
    xir_context *ctx;
} xir_text_buffer;
XIR_API void xir_text_free(xir_text_buffer *text);

/* What a writer calls with one piece after the other; false stops it with XIR_E_IO. */
typedef bool xir_write_fn(void *user, const void *data, size_t size);

/* Objects as JSON, compact (indent 0) or indented by `indent` blanks, as the original prints them: keys sorted,
 * scalars bare, one-string classes as "@…". Ops and values print alone as they do inside a network; the newest
 * spelling for what is in none. */
XIR_API xir_status xir_object_print(xir_context *ctx, const xir_object *object, int indent, xir_text_buffer *out);
XIR_API xir_status xir_op_print(const xir_op *op, int indent, xir_text_buffer *out);
XIR_API xir_status xir_value_print(const xir_value *value, int indent, xir_text_buffer *out);
XIR_API xir_status xir_any_print(xir_context *ctx, const xir_any *any, int indent, xir_text_buffer *out);

/* An object from its JSON text; it belongs to the context. NULL with a finding that has the byte and the pointer. */
XIR_API const xir_object *xir_object_parse(xir_context *ctx, xir_str json, xir_diags *why);
/* An op (not placed; ids as in the text are kept for placing) from its JSON text. Values that the network has are
 * found by v_id, others are made. NULL with a finding. */
XIR_API xir_op *xir_op_parse(xir_network *net, xir_str json, xir_diags *why);

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

/* Writes the structure. Computes params_bytes and params_md5 of the raw that the network would write now, if it has all
 * its bytes (otherwise they stay as they are). Does not validate. */
XIR_API xir_status xir_json_write(xir_network *net, int indent, xir_write_fn *write, void *user, xir_diags *why);
XIR_API xir_status xir_json_print(xir_network *net, int indent, xir_text_buffer *out);
/* Reads a structure: no parameter bytes. `name` is put into findings as the file's name; may be empty. */
XIR_API xir_network *xir_json_read(xir_context *ctx, xir_str json, xir_str name, xir_diags *why);

/* The same with files. Saving validates first unless XIR_SAVE_UNCHECKED is given, and replaces the file atomically. */
enum { XIR_SAVE_UNCHECKED = 1, XIR_SAVE_INDENT = 2 /* by four blanks */ };
XIR_API xir_network *xir_json_load(xir_context *ctx, const char *path, xir_diags *why);
XIR_API xir_status   xir_json_save(xir_network *net, const char *path, unsigned flags, xir_diags *why);

/* ---- raw ------------------------------------------------------------------------------------------------------- */

enum {
    XIR_LOAD_LAZY     = 1,  /* map the file, copy nothing                                               */
    XIR_LOAD_NO_MD5   = 2,  /* eager: do not compare with params_md5                                     */
    XIR_LOAD_MD5      = 4   /* lazy: compare, which reads the whole file                                  */
};

/* Gives the network's Params their bytes from a raw file. All or nothing. Eager loading compares params_md5 unless told
 * not to. XIR_E_CORRUPT where the file contradicts the network or itself. */
XIR_API xir_status xir_raw_load(xir_network *net, const char *path, unsigned flags, xir_diags *why);
/* The same from memory that the caller keeps as long as the network has the Params (lazily), or that is copied. */
XIR_API xir_status xir_raw_read(xir_network *net, const void *data, size_t size, unsigned flags, xir_diags *why);
/* Writes all Params. XIR_E_MISSING names one without bytes. Updates params_bytes and params_md5 of the network. */
XIR_API xir_status xir_raw_write(xir_network *net, xir_write_fn *write, void *user, xir_diags *why);
XIR_API xir_status xir_raw_save(xir_network *net, const char *path, xir_diags *why);

/* The raw file that loading takes beside a JSON file: X.raw or X.params beside X.json, the first that is there.
 * xir_params_file_find of "json". */
XIR_API xir_status xir_raw_find(const char *json_path, char *out, size_t room, size_t *size, xir_diags *why);

/* Both files, params first, so that a torn pair is noticed by params_md5. Both are complete and flushed before
 * either takes its name. `raw_path` NULL is `X.raw` beside `X.json`. */
XIR_API xir_status xir_json_raw_save(xir_network *net, const char *json_path, const char *raw_path, unsigned flags,
                                     xir_diags *why);

/* ---- any format -------------------------------------------------------------------------------------------------- */

/* Formats by their words: "json" (with a raw file beside it), "imodel" (MessagePack), "fb" (FlatBuffers), "onnx" (read
 * only: docs/onnx.md). */

/* How far the bytes of parameters are looked at. The structure is always checked whole, whatever this says. */
typedef enum xir_verify {
    XIR_VERIFY_DEFAULT,   /* FULL when loading eagerly, HEADER when lazily                                          */
    XIR_VERIFY_NEVER,     /* sizes, ids and places, without which nobody knows whose bytes they are: each parameter's
                             lie in the file, once. What the structure claims of them is not even read              */
    XIR_VERIFY_HEADER,    /* and a warning if the structure's params_bytes contradicts what is there                */
    XIR_VERIFY_ON_TOUCH,  /* HEADER, and with a mapped file, before a parameter is first touched, that the file is still as
                             it was opened (device, inode, size, time of change): if not, the parameter has no bytes:
                             NULL or XIR_E_IO, with a finding in the network. The network keeps the file open       */
    XIR_VERIFY_FULL       /* the MD5 of the parameters is compared with the structure's, which reads them all       */
} xir_verify;

/* The defaults: the format is detected from the content, parameters are read into memory and compared with their
 * MD5. */
typedef struct xir_load_options {
    uint32_t    size;        /* XIR_INIT(xir_load_options)                                                          */
    const char *format;      /* its word; NULL: told by content, then by the name's suffix                          */
    const char *params;      /* of json: the raw file; NULL: X.raw or X.params beside X.json, if there is one       */
    bool        no_params;   /* the structure alone; with `lazy` nothing else of the file is read                   */
    bool        lazy;        /* map the file: parameters are read when they are touched, and none is copied         */
    xir_verify  verify;
} xir_load_options;

/* The front door: a network from a file. `options` may be NULL. What is no regular file (a pipe, a device) is read,
 * lazy or not. The context's limits are about what is read into memory; a lazily loaded file may be larger. Who
 * shortens such a file raises SIGBUS at the next access of what is gone (docs/formats.md says what helps). NULL with
 * findings: XIR_E_IO what the system refused, XIR_E_UNKNOWN no format that is known, XIR_E_UNSUPPORTED a format that
 * cannot be read, XIR_E_INVALID options that contradict each other or the format, others what the file is guilty of. */
XIR_API xir_network *xir_network_load(xir_context *ctx, const char *path, const xir_load_options *options,
                                      xir_diags *why);
/* The same from memory: copied, or with `lazy` borrowed, which the caller then keeps as long as the network, or a
 * clone of it, has the parameters. `name` stands for the file in findings. */
XIR_API xir_network *xir_network_read(xir_context *ctx, const void *data, size_t size, xir_str name,
                                      const xir_load_options *options, xir_diags *why);
/* The same from a stream that is read to its end. `read` returns how many bytes it put into `out` (0: the end), or
 * SIZE_MAX after a failure, which is XIR_E_IO. */
typedef size_t xir_read_fn(void *user, void *out, size_t room);
XIR_API xir_network *xir_network_read_stream(xir_context *ctx, xir_read_fn *read, void *user, xir_str name,
                                             const xir_load_options *options, xir_diags *why);

typedef struct xir_save_options {
    uint32_t    size;        /* XIR_INIT(xir_save_options)                                                          */
    const char *format;      /* NULL: told by the name's suffix                                                     */
    const char *params;      /* of json: the raw file; NULL: X.raw beside X.json, if there are bytes                */
    bool        no_params;   /* the structure alone; params_bytes and params_md5 are as if it had not been said     */
    bool        unchecked;   /* save what validation refuses                                                        */
    bool        indent;      /* json: by four blanks                                                                */
    uint32_t    align;       /* fb: of each parameter's bytes in the file, a power of two; 0: 4096                  */
} xir_save_options;

/* A network into a file, which is flushed and then replaced at once, or is as before if anything fails. The same
 * network gives the same bytes. Validates first unless told not to. XIR_E_MISSING if some parameters have bytes and
 * others lack them; XIR_E_LIMIT if the format cannot hold so much, naming one that can. */
XIR_API xir_status xir_network_save(xir_network *net, const char *path, const xir_save_options *options,
                                    xir_diags *why);
/* Removes the temporary files of all saves that are at work in this process, eight at most: for a handler of signals
 * that ends the program, which may call it, before _exit. The files that were to be replaced are as they were. */
XIR_API void xir_abandon_saves(void);
/* The same to a writer; options->format is needed. Of json the structure alone: xir_raw_write writes its parameters. */
XIR_API xir_status xir_network_write(xir_network *net, xir_write_fn *write, void *user, const xir_save_options *options,
                                     xir_diags *why);

/* What content alone tells: the word of the library's format that fits these first bytes (256 are enough) best, NULL
 * if none. */
XIR_API const char *xir_format_of(const void *head, size_t size);
/* A format: word, meaning and suffixes. Texts live as long as the context. One that neither reads nor writes is
 * known by sight, so that its files are refused by its name. */
typedef struct xir_format_info {
    uint32_t    size;                        /* XIR_INIT(xir_format_info)                                           */
    bool        reads, writes;
    bool        pair;                        /* parameters are in a file of their own, not inside                   */
    bool        text;                        /* findings have lines and columns                                     */
    bool        indents, aligns;             /* what xir_save_options asks of it                                    */
    const char *name, *meaning, *suffixes;   /* suffixes separated by blanks                                        */
} xir_format_info;
/* Fills `out` with the format of the library at a position. XIR_E_BOUNDS from the last on; XIR_E_ABI. */
XIR_API xir_status xir_format_at(size_t i, xir_format_info *out, xir_diags *why);
/* The same of a context: those of the library, then those that were registered (format.h). */
XIR_API xir_status xir_context_format_at(xir_context *ctx, size_t i, xir_format_info *out, xir_diags *why);
/* What content and name tell, as loading finds it: the word of the format that fits the first bytes best, between
 * equal ones the one that the name's suffix is of, and by the suffix alone if nothing fits or there are no bytes.
 * `total` is the size of the file, XIR_NO_BYTE if it is unknown, as of a stream that has not ended. NULL: neither
 * tells. `ctx` NULL: the library's formats. */
XIR_API const char *xir_format_detect(xir_context *ctx, const void *head, size_t size, uint64_t total, xir_str name);
/* Whether a file of this format may begin with these bytes, a few thousand at least, if more follow: for callers that
 * read what has no size and may never end. False, with a finding (XIR_E_SYNTAX): its reader would refuse it, whatever
 * follows. True of a format that cannot say, such as a registered one, and of an unknown one. `name` is the file's in
 * the finding. Loading and reading ask by themselves. */
XIR_API bool xir_format_may_begin(xir_context *ctx, const char *format, const void *head, size_t size, xir_str name,
                                  xir_diags *why);

/* ---- parameters in a file of their own -------------------------------------------------------------------------- */

/* Of a format that keeps parameters in a file next to that of the structure (xir_format_info.pair): the file that is
 * there, or the one that saving writes. *size is the length of its name, which is written, terminated, to `out` if
 * `room` is larger than that; 0: there is none, or the format has none. `ctx` NULL: a format of the library.
 * XIR_E_UNKNOWN for a word that is no format; XIR_E_MEMORY: nobody knows whether there is one. */
XIR_API xir_status xir_params_file_find(xir_context *ctx, const char *format, const char *path, char *out, size_t room,
                                        size_t *size, xir_diags *why);
XIR_API xir_status xir_params_file_name(xir_context *ctx, const char *format, const char *path, char *out, size_t room,
                                        size_t *size, xir_diags *why);

/* Gives a network its parameters alone: from a file, which may be a pipe, or from memory, which is copied or with
 * `lazy` borrowed as by xir_network_read. All or nothing. Writes them alone: to a file, which is replaced at once,
 * or to a function. The options name the format; what they say of the structure is not looked at. */
XIR_API xir_status xir_network_load_params(xir_network *net, const char *path, const xir_load_options *options,
                                           xir_diags *why);
XIR_API xir_status xir_network_read_params(xir_network *net, const void *data, size_t size, xir_str name,
                                           const xir_load_options *options, xir_diags *why);
XIR_API xir_status xir_network_save_params(xir_network *net, const char *path, const xir_save_options *options,
                                           xir_diags *why);
XIR_API xir_status xir_network_write_params(xir_network *net, xir_write_fn *write, void *user,
                                            const xir_save_options *options, xir_diags *why);

/* ---- places in a text ------------------------------------------------------------------------------------------- */

/* Copies findings about a network that was read from a text, first those whose place the format finds: by a path
 * like "/ops/3/stride_width", or by a byte. They get file, byte, line and column, and come in the order of the text.
 * The others follow as they are, with the file. XIR_E_MEMORY, or XIR_E_UNKNOWN for a word that is no format: then
 * nothing is copied, and `out` says why. */
XIR_API xir_status xir_format_place_findings(xir_context *ctx, const char *format, xir_str text, xir_str file,
                                             const xir_diags *from, xir_diags *out);

/* ---- parts of networks ------------------------------------------------------------------------------------------ */

/* A type or any other object, an op, a value alone, in any format: as they stand inside a network, without bytes of
 * parameters. The word of the format must be given, since so little does not tell it. Objects print in the newest
 * spelling, ops and values in that of their network. */
XIR_API xir_status xir_object_write(xir_context *ctx, const xir_object *object, const char *format, xir_write_fn *write,
                                    void *user, xir_diags *why);
XIR_API xir_status xir_op_write(const xir_op *op, const char *format, xir_write_fn *write, void *user, xir_diags *why);
XIR_API xir_status xir_value_write(const xir_value *value, const char *format, xir_write_fn *write, void *user,
                                   xir_diags *why);

/* The same back; NULL with a finding. An object belongs to the context. An op is not placed; ids as in the file are
 * kept for placing; values that the network has are found by v_id, others are made. A value is the network's one of
 * that v_id, or a new one that nothing makes. */
XIR_API const xir_object *xir_object_read(xir_context *ctx, const void *data, size_t size, const char *format,
                                          xir_diags *why);
XIR_API xir_op           *xir_op_read(xir_network *net, const void *data, size_t size, const char *format,
                                      xir_diags *why);
XIR_API xir_value        *xir_value_read(xir_network *net, const void *data, size_t size, const char *format,
                                         xir_diags *why);

/* ---- one format ------------------------------------------------------------------------------------------------- */

/* The original's CreateFromMSGFile and dumpMSGToFile, CreateFromFlatFile and dumpFlatToFile; flags as for raw and
 * JSON files (XIR_LOAD_…, XIR_SAVE_…). Its lazyLoadParams(ptr, size) is xir_raw_read with XIR_LOAD_LAZY. */
XIR_API xir_network *xir_msg_load(xir_context *ctx, const char *path, unsigned flags, xir_diags *why);
XIR_API xir_status   xir_msg_save(xir_network *net, const char *path, unsigned flags, xir_diags *why);
XIR_API xir_network *xir_flat_load(xir_context *ctx, const char *path, unsigned flags, xir_diags *why);
XIR_API xir_status   xir_flat_save(xir_network *net, const char *path, unsigned flags, xir_diags *why);

/* Whether a buffer is a FlatBuffers network that may be read: every offset, length, text, tag, alignment and depth.
 * XIR_OK, or a finding with the byte and the path. Reading does this itself. Time and memory are linear in what is
 * not parameters. */
XIR_API xir_status xir_flat_verify(xir_context *ctx, const void *data, size_t size, xir_str name, xir_diags *why);

/* The schema of FlatBuffers files as flatc reads it, and a JSON Schema (draft 2020-12) of JSON files, both from the
 * classes of the context. */
XIR_API xir_status xir_flat_schema(xir_context *ctx, xir_write_fn *write, void *user, xir_diags *why);
XIR_API xir_status xir_json_schema(xir_context *ctx, xir_write_fn *write, void *user, xir_diags *why);

XIR_END

#endif

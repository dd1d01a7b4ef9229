/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files. Reading returns a whole network or nothing. Writing replaces the file or leaves the old one. docs/formats.md
 * describes the formats byte by byte. */
#ifndef XIR_SERIALIZE_H
#define XIR_SERIALIZE_H

#include <xir/network.h>

XIR_BEGIN

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* A piece of text or bytes, allocated by the callee with the context's allocator. Free with xir_text_free. */
typedef struct xir_text_buffer {
    char        *data;   /* not terminated */
    size_t       size;
    size_t       room;
    xir_context *ctx;
} xir_text_buffer;
XIR_API void xir_text_free(xir_text_buffer *text);

/* A writer calls this with one piece after another. If it returns false, the writer stops with XIR_E_IO. */
typedef bool xir_write_fn(void *user, const void *data, size_t size);

/* Print as JSON, compact (indent 0) or indented by `indent` blanks, like the original: keys sorted, scalars bare,
 * one-string classes as "@…". An op or value prints as it does inside its network. Whatever is in no network is printed
 * in the newest spelling. */
XIR_API xir_status xir_object_print(xir_context *ctx, const xir_object *object, int indent, xir_text_buffer *out);
XIR_API xir_status xir_op_print(const xir_op *op, int indent, xir_text_buffer *out);
/* One attribute of an op, declared or not, as the op prints it: 2, 0.5, "REFLECT", "@layout(NHWC)", [1,2], null.
 * XIR_E_UNKNOWN if the op has none of the name. */
XIR_API xir_status xir_op_attr_print(const xir_op *op, xir_str name, int indent, xir_text_buffer *out);
XIR_API xir_status xir_value_print(const xir_value *value, int indent, xir_text_buffer *out);
XIR_API xir_status xir_any_print(xir_context *ctx, const xir_any *any, int indent, xir_text_buffer *out);

/* One line for an op or a value, for logs and debuggers: results, class, inputs, attributes that are not the default,
 * name, id, types.
 *     %sum = Add(%x, @bias) {alpha=[2.0]} "sum" #7 : @fp(32) NHWC [1,8,8,16]
 * `@` marks Params, `_` an absent input. Other texts than simple names are quoted and escaped, as in JSON. A line that
 * does not fit into `room` bytes is cut before a character; a zero ends it. Returns its whole length. Anything that
 * memory is too short for is left out. The line of NULL is empty. Neither is meant to be parsed. */
XIR_API size_t xir_op_line(const xir_op *op, char *out, size_t room);
XIR_API size_t xir_value_line(const xir_value *value, char *out, size_t room);

/* Parses an object from its JSON text. The object belongs to the context. NULL with a finding that has the byte and the
 * pointer. */
XIR_API const xir_object *xir_object_parse(xir_context *ctx, xir_str json, xir_diags *why);
/* Parses a value without a class from its JSON text: what xir_any_print prints, without Params. It lives as long as the
 * network. NULL with a finding that has the byte and the pointer. */
XIR_API const xir_any *xir_any_parse(xir_network *net, xir_str json, xir_diags *why);
/* Parses an op from its JSON text. The op is not placed; its ids are kept for placing. Values of the network are
 * found by v_id, others are made. NULL with a finding. */
XIR_API xir_op *xir_op_parse(xir_network *net, xir_str json, xir_diags *why);

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

/* Writes the structure. If the network has all its bytes, params_bytes and params_md5 are computed for the raw file
 * that it would write now; otherwise they remain unchanged. Does not validate. */
XIR_API xir_status xir_json_write(xir_network *net, int indent, xir_write_fn *write, void *user, xir_diags *why);
XIR_API xir_status xir_json_print(xir_network *net, int indent, xir_text_buffer *out);
/* Reads a structure without parameter bytes. Findings use `name` as the name of the file; it may be empty. */
XIR_API xir_network *xir_json_read(xir_context *ctx, xir_str json, xir_str name, xir_diags *why);

/* Flags of saving. */
enum {
    XIR_SAVE_UNCHECKED = 1,
    XIR_SAVE_INDENT    = 2,  /* by four blanks                                                                       */
    XIR_SAVE_NO_MD5    = 4,  /* do not compute the MD5 of the parameters, which takes most of the time of saving large
                                ones: params_md5 is then empty, and readers note that they cannot compare            */
    XIR_SAVE_EXTERNAL  = 8,  /* onnx: constants of 1024 bytes and more go to a file next to the model, X.onnx.data or
                                xir_save_options.params; both are replaced together. Without it they do if the model
                                would have 2 GiB or more                                                             */
    XIR_SAVE_INLINE    = 16, /* text: the bytes of all parameters are in the text. Without this and the next, they are
                                if they take at most 16 KiB together                                                 */
    XIR_SAVE_RAW       = 32, /* text: they are in a raw file next to it, X.raw                                       */
    XIR_SAVE_NO_IDS    = 64  /* text: without ids, which a reader then gives in the order of the text: for files that
                                people write                                                                         */
};
/* Saves the structure alone, as JSON. Validates first unless XIR_SAVE_UNCHECKED is set, and replaces the file
 * atomically. */
XIR_API xir_status xir_json_save(xir_network *net, const char *path, unsigned flags, xir_diags *why);

/* ---- raw ------------------------------------------------------------------------------------------------------- */

enum {
    XIR_LOAD_LAZY     = 1,  /* map the file, copy nothing                                               */
    XIR_LOAD_NO_MD5   = 2,  /* eager: do not compare with params_md5                                     */
    XIR_LOAD_MD5      = 4   /* lazy: compare with it, which reads the whole file                          */
};

/* Gives the network's Params their bytes from a raw file, all or none. Eager loading compares params_md5 unless
 * XIR_LOAD_NO_MD5 is set. XIR_E_CORRUPT if the file contradicts the network or itself. */
XIR_API xir_status xir_raw_load(xir_network *net, const char *path, unsigned flags, xir_diags *why);

/* ---- any format -------------------------------------------------------------------------------------------------- */

/* Formats are named by words: "json" (with a raw file next to it), "imodel" (MessagePack), "fb" (FlatBuffers), "onnx"
 * (reading only: docs/onnx.md). */

/* The ways to check the bytes of parameters. The structure is always checked completely. */
typedef enum xir_verify {
    XIR_VERIFY_DEFAULT,   /* FULL when loading eagerly, HEADER when lazily                                          */
    XIR_VERIFY_NEVER,     /* only sizes, ids and places, which assign the bytes: each parameter's lie in the file,
                             once. What the structure states about them is not even read                            */
    XIR_VERIFY_HEADER,    /* also warn if the structure's params_bytes contradicts the file                         */
    XIR_VERIFY_ON_TOUCH,  /* HEADER, and whenever the bytes of a parameter of a mapped file are asked for, check that
                             the file has not changed since it was opened (device, inode, size, change time). If it
                             has, the parameter has no bytes from then on: NULL or XIR_E_IO, with a finding in the
                             network; during a pass it keeps them, and the run ends with XIR_E_IO. The network keeps
                             the file open                                                                          */
    XIR_VERIFY_FULL,      /* also compare the MD5 of the parameters with the structure's, which reads them all      */
    XIR_VERIFY_MEANWHILE  /* lazily: HEADER, and compare the MD5 by a thread of the library, while the network is used.
                             xir_network_verified waits for the outcome, and so does a save, in any format, before a
                             file gets its name; a save also makes sure that the mapped files have not changed. Files
                             with other sums, and what cannot be mapped, are compared as with FULL while they are
                             loaded. Eagerly: FULL. The network keeps the file open                                 */
} xir_verify;

/* By default, the format is detected from the content, and parameters are read into memory and compared with their
 * MD5. */
typedef struct xir_load_options {
    uint32_t    size;        /* XIR_INIT(xir_load_options)                                                          */
    const char *format;      /* its word; NULL: detected by content, then by the suffix of the name                 */
    const char *params;      /* json: the raw file; NULL: X.raw or X.params next to X.json, if one exists           */
    bool        no_params;   /* only the structure; with `lazy` nothing else of the file is read                    */
    bool        lazy;        /* map the file: parameters are read on access and never copied                        */
    xir_verify  verify;
    /* Called while bytes are read, decoded, copied and compared, about every 256 KiB or thousand objects, on the thread
     * that loads, unless NULL. If it returns true, loading ends with XIR_E_CANCELLED. */
    bool      (*cancel)(void *user);
    /* Called as often, unless NULL: `done` of `total` bytes are done. A byte of a file counts for each step that it
     * takes, such as reading and decoding. `done` never falls. `total` is 0 while it is unknown, and may grow when
     * another file is found. After success both are equal in the last call. Both functions may use other networks. */
    void      (*progress)(void *user, uint64_t done, uint64_t total);
    void       *user;
} xir_load_options;

/* Waits until the parameters of a network that was loaded with XIR_VERIFY_MEANWHILE, or of a clone of one, are compared
 * with their MD5. XIR_OK, also for any other network; XIR_E_CORRUPT if it differs, and XIR_E_IO if the file was changed
 * while it was mapped, with a finding that names it. They are compared once, however often it is called. Any number of
 * threads may ask. A network that is freed does not wait. */
XIR_API xir_status xir_network_verified(const xir_network *net, xir_diags *why);

/* Loads a network from a file: the main entry point. `options` may be NULL. If `path` is not a regular file (a pipe, a
 * device), it is always read into memory. The context's limits apply to what is read into memory; a lazily loaded file
 * may be larger. If another program shortens such a file, the next access to the lost bytes raises SIGBUS
 * (docs/formats.md says what helps). Returns NULL with findings:
 *   XIR_E_IO           the system refused to read
 *   XIR_E_UNKNOWN      the format is not known
 *   XIR_E_UNSUPPORTED  the format cannot be read
 *   XIR_E_INVALID      the options contradict each other or the format
 *   XIR_E_CANCELLED    `cancel` returned true
 *   any other          what is wrong with the file */
XIR_API xir_network *xir_network_load(xir_context *ctx, const char *path, const xir_load_options *options,
                                      xir_diags *why);
/* The same from memory, which is copied. With `lazy` it is borrowed instead, and the caller keeps it as long as the
 * network, or a clone of it, has the parameters. `name` stands for the file in findings. */
XIR_API xir_network *xir_network_read(xir_context *ctx, const void *data, size_t size, xir_str name,
                                      const xir_load_options *options, xir_diags *why);
/* The same from a stream, which is read to its end. `read` returns how many bytes it put into `out`, 0 at the end, or
 * SIZE_MAX after a failure, which becomes XIR_E_IO. */
typedef size_t xir_read_fn(void *user, void *out, size_t room);
XIR_API xir_network *xir_network_read_stream(xir_context *ctx, xir_read_fn *read, void *user, xir_str name,
                                             const xir_load_options *options, xir_diags *why);

typedef struct xir_save_options {
    uint32_t    size;        /* XIR_INIT(xir_save_options)                                                          */
    const char *format;      /* NULL: detected by the suffix of the name                                            */
    const char *params;      /* json: the raw file; NULL: X.raw next to X.json, if there are bytes. onnx: the file of
                                XIR_SAVE_EXTERNAL, in the folder of the model                                      */
    bool        no_params;   /* only the structure; params_bytes and params_md5 are the same as without this        */
    bool        unchecked;   /* save what validation refuses                                                        */
    bool        indent;      /* json: by four blanks                                                                */
    bool        plain;       /* tsm: a container that was scrambled is written plain                                */
    uint32_t    align;       /* fb: alignment of each parameter in the file, a power of two; 0: 4096, and 64 for
                                those of less than 4096 bytes                                                      */
    uint64_t    flags;       /* any of XIR_SAVE_…; XIR_E_INVALID for others                                         */
    /* As in xir_load_options. The size of the structure is estimated for `total`. While the system flushes a file, and
     * once files are replaced, `cancel` is not called. */
    bool      (*cancel)(void *user);
    void      (*progress)(void *user, uint64_t done, uint64_t total);
    void       *user;
} xir_save_options;

/* Saves a network to a file. The new file is flushed, then replaces the old one atomically; if anything fails, the old
 * file is unchanged. The same network gives the same bytes. Validates first unless told not to. XIR_E_MISSING if some
 * parameters have bytes and others do not; XIR_E_LIMIT if the network is too large for the format, naming a format that
 * can hold it; XIR_E_UNSUPPORTED if Params are in tags, or in undeclared keys of the network or of a value;
 * XIR_E_INVALID if a text is not UTF-8; XIR_E_CANCELLED if `cancel` returned true. */
XIR_API xir_status xir_network_save(xir_network *net, const char *path, const xir_save_options *options,
                                    xir_diags *why);
/* Returns true if saving with these options puts the parameters into the file itself: in every format without a file of
 * its own for them, and in a text if they are few, or the flags say so. False if there is no such format. */
XIR_API bool xir_save_keeps_inside(const xir_network *net, const xir_save_options *options);
/* Removes the temporary files of all saves in progress in this process, at most eight: for a signal handler that ends
 * the program, which may call it before _exit. The files that would have been replaced are unchanged. Returns true if a
 * save is just replacing two files: it is then unfinished, and xir_save_finish ends it. */
XIR_API bool xir_abandon_saves(void);

/* A structure and its parameters in a file or folder of their own are replaced together. While their names change, the
 * file "X.xir-save" next to the structure X names both, and temporary files have what was saved. If the process is
 * killed then, or the system stops, loading X fails with XIR_E_CORRUPT until the save has been finished. */

/* Returns XIR_OK if no save of this structure is unfinished. XIR_E_CORRUPT, with a finding that has the command of the
 * program xir which finishes it; XIR_E_IO, also if another process is saving it and does not end. Loading asks by
 * itself. A NULL `ctx` means the library's formats. */
XIR_API xir_status xir_save_check(xir_context *ctx, const char *path, xir_diags *why);
/* Puts in place what an unfinished save of this structure has saved; XIR_OK too if there is none. `params` names the
 * parameter file if that save gave it another name than its format does; otherwise NULL. Only these two files are
 * touched, whatever X.xir-save says. *finished, unless NULL: there was something to do. On failure the finding says why
 * and what can be done: XIR_E_MISSING if the parameter file must be named, XIR_E_CORRUPT if what was saved is lost,
 * XIR_E_EXISTS if something else has the name of one of the files, XIR_E_IO. The next save over X does this first. */
XIR_API xir_status xir_save_finish(xir_context *ctx, const char *path, const char *params, bool *finished,
                                   xir_diags *why);
/* Saves to a writer; options->format is required. For json, this is only the structure: xir_network_write_params writes
 * the parameters. */
XIR_API xir_status xir_network_write(xir_network *net, xir_write_fn *write, void *user, const xir_save_options *options,
                                     xir_diags *why);

/* Detects the format by content alone: returns the word of the library's format that fits these first bytes (256 are
 * enough) best, NULL if none does. */
XIR_API const char *xir_format_of(const void *head, size_t size);
/* A format: word, meaning and suffixes. Texts live as long as the context. A format that neither reads nor writes is
 * only detected, so that its files are refused by its name. */
typedef struct xir_format_info {
    uint32_t    size;                        /* XIR_INIT(xir_format_info)                                           */
    bool        reads, writes;
    bool        pair;                        /* parameters are in a separate file, not inside                       */
    bool        text;                        /* findings have lines and columns                                     */
    bool        indents, aligns, plains;     /* the members of xir_save_options that apply to it                    */
    bool        dialect;                     /* holds only operators of a dialect of its own                        */
    bool        splits;                      /* XIR_SAVE_EXTERNAL applies to it                                     */
    bool        pair_always;                 /* both files are written for a network without parameters too         */
    const char *name, *meaning, *suffixes;   /* suffixes separated by blanks                                        */
    const char *operators;                   /* the format that has its operators, "nnb" of "c"; NULL: XIR has them   */
} xir_format_info;
/* Fills `out` with the i-th format of the library. XIR_E_BOUNDS past the last one, XIR_E_ABI. */
XIR_API xir_status xir_format_at(size_t i, xir_format_info *out, xir_diags *why);
/* The same for a context: the formats of the library, then the registered ones (format.h). */
XIR_API xir_status xir_context_format_at(xir_context *ctx, size_t i, xir_format_info *out, xir_diags *why);
/* Detects the format by content and name, as loading does: returns the word of the format that fits the first bytes
 * best. Between equal grades the suffix of the name decides, and it alone decides if nothing fits or there are no
 * bytes. `total` is the size of the file, XIR_NO_BYTE if unknown, as for a stream that has not ended. NULL if no
 * format is found. A NULL `ctx` means the library's formats. */
XIR_API const char *xir_format_detect(xir_context *ctx, const void *head, size_t size, uint64_t total, xir_str name);
/* Returns true if a file of this format may begin with these bytes, a few thousand at least, if more follow: for
 * callers that read what has no size and may never end. False, with a finding (XIR_E_SYNTAX): its reader would refuse
 * it, whatever follows. True of a format that cannot say, such as a registered one, and of an unknown one. `name` is
 * the file's in the finding. Loading and reading ask by themselves. */
XIR_API bool xir_format_may_begin(xir_context *ctx, const char *format, const void *head, size_t size, xir_str name,
                                  xir_diags *why);
/* The same for the separate parameter file of a format. True of a format that has none. */
XIR_API bool xir_params_may_begin(xir_context *ctx, const char *format, const void *head, size_t size, xir_str name,
                                  xir_diags *why);

/* ---- parameters in a file of their own -------------------------------------------------------------------------- */

/* For a format that keeps parameters in a separate file next to the structure (xir_format_info.pair): the file that
 * exists, or the one that saving writes. *size receives the length of its name, 0 if there is none or the format has
 * none. The name is written to `out`, terminated, if `room` is larger than its length. A NULL `ctx` means the library's
 * formats. XIR_E_UNKNOWN for a word that is not a format; XIR_E_MEMORY: it is unknown whether there is a file. */
XIR_API xir_status xir_params_file_find(xir_context *ctx, const char *format, const char *path, char *out, size_t room,
                                        size_t *size, xir_diags *why);
XIR_API xir_status xir_params_file_name(xir_context *ctx, const char *format, const char *path, char *out, size_t room,
                                        size_t *size, xir_diags *why);
/* The same for a network whose structure was read from `path` without its parameters: the file that loading it takes
 * them from. There is none if all its Params have bytes, or need none, and the structure does not state that the file
 * has some: then a file of that name belongs to something else. XIR_E_MISSING if `net` is NULL. */
XIR_API xir_status xir_network_params_file(const xir_network *net, const char *format, const char *path, char *out,
                                           size_t room, size_t *size, xir_diags *why);
/* Compares the sizes of a network's parameters with what a file of the format holds, without reading them: XIR_OK, or
 * XIR_E_LIMIT with a finding. Params without bytes count as their types say, unless they may stay without. So a program
 * knows before it reads or computes anything. Saving asks by itself, and may still find that the structure is too
 * large. XIR_E_UNKNOWN for a word that is not a format, XIR_E_MEMORY. */
XIR_API xir_status xir_network_check_sizes(const xir_network *net, const char *format, xir_diags *why);

/* Parameters alone. Reading gives a network its parameters, all or none: from a file, which may be a pipe, or from
 * memory, which is copied, or with `lazy` borrowed as by xir_network_read. Writing goes to a file, which is replaced
 * atomically, or to a function. The options name the format; those about the structure are ignored. */
XIR_API xir_status xir_network_load_params(xir_network *net, const char *path, const xir_load_options *options,
                                           xir_diags *why);
XIR_API xir_status xir_network_read_params(xir_network *net, const void *data, size_t size, xir_str name,
                                           const xir_load_options *options, xir_diags *why);
XIR_API xir_status xir_network_save_params(xir_network *net, const char *path, const xir_save_options *options,
                                           xir_diags *why);
XIR_API xir_status xir_network_write_params(xir_network *net, xir_write_fn *write, void *user,
                                            const xir_save_options *options, xir_diags *why);

/* ---- places in a text ------------------------------------------------------------------------------------------- */

/* Copies findings about a network that was read from a text. First come those whose place the format finds, by a path
 * like "/ops/3/stride_width" or by a byte: they get file, byte, line and column, in the order of the text. The others
 * follow unchanged, with the file. On XIR_E_MEMORY, or XIR_E_UNKNOWN for a word that is not a format, nothing is
 * copied, and `out` has the reason. */
XIR_API xir_status xir_format_place_findings(xir_context *ctx, const char *format, xir_str text, xir_str file,
                                             const xir_diags *from, xir_diags *out);

/* ---- parts of networks ------------------------------------------------------------------------------------------ */

/* Write a single object (such as a type), op or value in any format, as inside a network, without parameter bytes. The
 * format must be given, since so little content does not identify it. Objects use the newest spelling, ops and values
 * that of their network. */
XIR_API xir_status xir_object_write(xir_context *ctx, const xir_object *object, const char *format, xir_write_fn *write,
                                    void *user, xir_diags *why);
XIR_API xir_status xir_op_write(const xir_op *op, const char *format, xir_write_fn *write, void *user, xir_diags *why);
XIR_API xir_status xir_value_write(const xir_value *value, const char *format, xir_write_fn *write, void *user,
                                   xir_diags *why);

/* Read them back; NULL with a finding. An object belongs to the context. An op is not placed; ids of the file are kept
 * for placing; values of the network are found by v_id, others are made. A value is the network's value with that v_id,
 * or a new one that no op makes. */
XIR_API const xir_object *xir_object_read(xir_context *ctx, const void *data, size_t size, const char *format,
                                          xir_diags *why);
XIR_API xir_op           *xir_op_read(xir_network *net, const void *data, size_t size, const char *format,
                                      xir_diags *why);
XIR_API xir_value        *xir_value_read(xir_network *net, const void *data, size_t size, const char *format,
                                         xir_diags *why);

/* ---- one format ------------------------------------------------------------------------------------------------- */

/* Checks that a buffer is a FlatBuffers network that is safe to read: every offset, length, text, tag, alignment and
 * depth. Returns XIR_OK, or fails with a finding that has the byte and the path. Reading does this itself. Time and
 * memory are linear in everything except parameters. */
XIR_API xir_status xir_flat_verify(xir_context *ctx, const void *data, size_t size, xir_str name, xir_diags *why);

/* Write the schema of FlatBuffers files, as flatc reads it, and a JSON Schema (draft 2020-12) of JSON files. Both are
 * made from the classes of the context. */
XIR_API xir_status xir_flat_schema(xir_context *ctx, xir_write_fn *write, void *user, xir_diags *why);
XIR_API xir_status xir_json_schema(xir_context *ctx, xir_write_fn *write, void *user, xir_diags *why);

XIR_END

#endif

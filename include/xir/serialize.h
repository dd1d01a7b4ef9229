/* Files. Reading either gives a whole network or none; writing either replaces the file or leaves the old one. Formats are
 * described byte by byte in docs/formats.md. */
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

/* Objects as JSON, compact (indent 0) or indented by `indent` blanks, as the original prints them: keys sorted, scalars
 * bare, one-string classes as "@…". Ops and values print alone as they do inside a network; the newest spelling for what is
 * in none. */
XIR_API xir_status xir_print_object(xir_context *ctx, const xir_object *object, int indent, xir_text_buffer *out);
XIR_API xir_status xir_print_op(const xir_op *op, int indent, xir_text_buffer *out);
XIR_API xir_status xir_print_value(const xir_value *value, int indent, xir_text_buffer *out);
XIR_API xir_status xir_print_any(xir_context *ctx, const xir_any *any, int indent, xir_text_buffer *out);

/* An object from its JSON text; it belongs to the context. NULL with a finding that has the byte and the pointer. */
XIR_API const xir_object *xir_parse_object(xir_context *ctx, xir_str json, xir_diags *why);
/* An op (not placed; ids as in the text are kept for placing) from its JSON text. Values that the network has are found by
 * v_id, others are made. NULL with a finding. */
XIR_API xir_op *xir_parse_op(xir_network *net, xir_str json, xir_diags *why);

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

/* Both files, params first, so that a torn pair is noticed by params_md5. Both are complete and flushed before either takes its
 * name. `raw_path` NULL is `X.raw` beside `X.json`. */
XIR_API xir_status xir_json_raw_save(xir_network *net, const char *json_path, const char *raw_path, unsigned flags, xir_diags *why);

XIR_END

#endif

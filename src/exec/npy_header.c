/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Headers of .npy files. The dict is a Python literal with exactly three keys, in any order:
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 * Only numbers of 1 to 8 bytes are accepted. Python objects, which are pickles, are refused. */
#include "npy.h"
#include "number.h"

typedef struct npy_reader {
    const uint8_t *bytes;
    size_t         at, end;     /* position in the dict, and its end */
    npy_fault     *fault;
} npy_reader;

static XIR_PRINTF(3, 4) bool fail(npy_reader *r, xir_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vprint(r->fault->sentence, sizeof r->fault->sentence, format, args);
    va_end(args);
    r->fault->status = status;
    r->fault->at = r->at;
    return false;
}

/* ---- the literal ------------------------------------------------------------------------------------------------ */

/* Skips blanks and returns the next byte; 0 at the end. */
static char next(npy_reader *r) {
    while (r->at < r->end && r->bytes[r->at] && strchr(" \t\r\n", r->bytes[r->at])) r->at++;
    return r->at < r->end ? (char)r->bytes[r->at] : '\0';
}

static bool skip(npy_reader *r, char c) {
    if (next(r) != c) return false;
    r->at++;
    return true;
}

static bool expect(npy_reader *r, char c) {
    return skip(r, c) || fail(r, XIR_E_SYNTAX, "expected '%c' in the header", c);
}

/* A text in quotes of either kind, without escapes. */
static bool read_text(npy_reader *r, xir_str *out) {
    char quote = next(r);
    if (quote != '\'' && quote != '"') return fail(r, XIR_E_SYNTAX, "expected a text in quotes in the header");
    size_t start = ++r->at;
    while (r->at < r->end && r->bytes[r->at] != (uint8_t)quote && r->bytes[r->at] != '\\') r->at++;
    if (r->at == r->end || r->bytes[r->at] == '\\')
        return fail(r, XIR_E_SYNTAX, "a text is unterminated or has an escape");
    *out = (xir_str){ (const char *)r->bytes + start, r->at - start };
    r->at++;
    return true;
}

static bool is(xir_str text, const char *word) { return xir_str_equal(text, xir_str_of(word)); }

static bool read_bool(npy_reader *r, bool *out) {
    static const struct {
        const char *word;
        size_t size;
        bool value;
    } words[] = { { "True", 4, true }, { "False", 5, false } };
    (void)next(r);
    for (size_t i = 0; i < 2; i++) {
        if (r->end - r->at < words[i].size || memcmp(r->bytes + r->at, words[i].word, words[i].size) != 0) continue;
        *out = words[i].value;
        r->at += words[i].size;
        return true;
    }
    return fail(r, XIR_E_SYNTAX, "expected True or False in the header");
}

/* Python 2 may write an L after a number. */
static bool read_dim(npy_reader *r, int64_t *out) {
    char c = next(r);
    if (c < '0' || c > '9') return fail(r, XIR_E_SYNTAX, "expected a dim in the header");
    for (*out = 0; r->at < r->end && is_digit(r->bytes[r->at]); r->at++) {
        if (!mul_i64(*out, 10, out) || !add_i64(*out, r->bytes[r->at] - '0', out))
            return fail(r, XIR_E_LIMIT, "a dim exceeds 64 bits");
    }
    if (r->at < r->end && r->bytes[r->at] == 'L') r->at++;
    return true;
}

/* A tuple: (), (3,), (3, 4). */
static bool read_shape(npy_reader *r, npy_header *out) {
    if (!expect(r, '(')) return false;
    for (out->rank = 0; !skip(r, ')');) {
        if (out->rank == NPY_MOST_DIMS) return fail(r, XIR_E_LIMIT, "there are more than %d dims", NPY_MOST_DIMS);
        if (!read_dim(r, &out->dims[out->rank++])) return false;
        if (skip(r, ',')) continue;
        return expect(r, ')');
    }
    return true;
}

static bool read_descr(npy_reader *r, npy_header *out) {
    xir_str text;
    size_t start = r->at;
    if (next(r) == '[') return fail(r, XIR_E_UNSUPPORTED, "records are not supported: expected numbers of one type");
    if (!read_text(r, &text)) return false;
    size_t i = 0;
    bool order = text.size && strchr("<>|=", text.data[0]) != NULL && text.data[0];
    if (order) i++;
    out->big_endian = order && text.data[0] == '>';
    bool good = text.size == i + 2 && strchr("biuf", text.data[i]) && text.data[i] &&
        strchr("1248", text.data[i + 1]) && text.data[i + 1];
    if (good) {
        out->kind = text.data[i];
        out->bytes = (unsigned)(text.data[i + 1] - '0');
        good = !(out->kind == 'b' && out->bytes != 1) && !(out->kind == 'f' && out->bytes == 1) &&
               !(order && text.data[0] == '|' && out->bytes > 1);
    }
    if (good) return true;
    r->at = start;
    if (text.size > i && text.data[i] == 'O')
        return fail(r, XIR_E_UNSUPPORTED, "Python objects are not supported, because they are pickles");
    return fail(r, XIR_E_UNSUPPORTED,
                "elements of type '%.*s' are not supported: expected bool, integers or floats of up to 8 bytes",
                CLIP_TO(text, 20));
}

static bool read_dict(npy_reader *r, npy_header *out) {
    enum { DESCR = 1, FORTRAN = 2, SHAPE = 4, ALL = 7 };
    int seen = 0;
    if (!expect(r, '{')) return false;
    while (!skip(r, '}')) {
        xir_str key;
        if (!read_text(r, &key)) return false;
        int which = is(key, "descr") ? DESCR : is(key, "fortran_order") ? FORTRAN : is(key, "shape") ? SHAPE : 0;
        if (!which || seen & which) return fail(r, XIR_E_SYNTAX, "the header has an unknown or duplicate key");
        seen |= which;
        if (!expect(r, ':')) return false;
        if (which == DESCR ? !read_descr(r, out) : which == FORTRAN ? !read_bool(r, &out->fortran)
            : !read_shape(r, out)) return false;
        if (skip(r, ',')) continue;
        if (!expect(r, '}')) return false;
        break;
    }
    if (seen != ALL) return fail(r, XIR_E_SYNTAX, "the header lacks descr, fortran_order or shape");
    return !next(r) || fail(r, XIR_E_SYNTAX, "there is text after the dict of the header");
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

/* Checks that the elements fill the rest of the file. */
static bool check_size(npy_reader *r, const npy_header *h, size_t size) {
    uint64_t bytes = h->bytes, rest = size - h->data;
    bool zero = false, over = false;
    for (size_t k = 0; k < h->rank; k++) {
        zero = zero || h->dims[k] == 0;
        over = over || !mul_u64(bytes, (uint64_t)h->dims[k], &bytes);
    }
    if (zero) bytes = 0, over = false;
    r->at = h->data;
    if (over) return fail(r, XIR_E_LIMIT, "the elements take more than 2^64 bytes");
    if (bytes == rest) return true;
    return fail(r, XIR_E_CORRUPT, "wrong size: expected %llu bytes of elements, found %llu", (unsigned long long)bytes,
                (unsigned long long)rest);
}

bool npy_read_header(const uint8_t *bytes, size_t size, npy_header *out, npy_fault *fault) {
    npy_reader r = { .bytes = bytes, .fault = fault };
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0) return fail(&r, XIR_E_SYNTAX, "this is not an .npy file");
    unsigned version = bytes[6];
    r.at = 6;
    if (version < 1 || version > 3) {
        return fail(&r, XIR_E_UNSUPPORTED, "version %u of .npy is unknown: expected 1 to 3", version);
    }
    size_t head = version == 1 ? 10 : 12, length = 0;
    r.at = 8;
    if (size < head) return fail(&r, XIR_E_SYNTAX, "the file ends in its header");
    for (size_t k = head - 8; k-- > 0;) length = length << 8 | bytes[8 + k];
    if (length > size - head)
        return fail(&r, XIR_E_SYNTAX, "the header has %zu bytes, but the file has only %zu more", length, size - head);
    if (length > NPY_MOST_HEADER) return fail(&r, XIR_E_LIMIT, "the header has %zu bytes, which is too long", length);
    r.at = head;
    r.end = out->data = head + length;
    return read_dict(&r, out) && check_size(&r, out, size);
}

#include "support/onnx_text.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void wrong(const char *at) {
    fprintf(stderr, "onnx_text: what is \"%.30s\"?\n", at);
    abort();
}

static void put_hex(om_bytes *to, const char **at) {
    while (isxdigit((unsigned char)(*at)[0]) && isxdigit((unsigned char)(*at)[1])) {
        char digits[3] = { (*at)[0], (*at)[1], 0 };
        unsigned char byte = (unsigned char)strtoul(digits, NULL, 16);
        om_put_raw(to, &byte, 1);
        *at += 2;
    }
}

static om_bytes message(const char **at, char end, size_t *mark);

/* What stands behind a field's number. */
static void put_field(om_bytes *to, uint32_t field, const char **at, size_t *mark) {
    char kind = *(*at)++, *behind = NULL;
    om_bytes inner = { 0 };
    if (kind == ':') {
        int64_t v = **at == '-' ? strtoll(*at, &behind, 10) : (int64_t)strtoull(*at, &behind, 10);
        om_put_int(to, field, v);
        *at = behind;
    } else if (kind == '=') {
        om_put_float(to, field, strtof(*at, &behind));
        *at = behind;
    } else if (kind == '\'') {
        size_t n = strcspn(*at, "'");
        om_put_bytes(to, field, *at, n);
        *at += n + ((*at)[n] == '\'');
    } else if (kind == '#') {
        put_hex(&inner, at);
        om_put_message(to, field, &inner);
    } else if (kind == '{') {
        size_t below = SIZE_MAX;
        inner = message(at, '}', &below);
        size_t size = inner.size;
        om_put_message(to, field, &inner);
        if (below != SIZE_MAX) *mark = to->size - size + below;
    } else {
        wrong(*at - 1);
    }
}

static om_bytes message(const char **at, char end, size_t *mark) {
    om_bytes out = { 0 };
    for (;;) {
        while (**at == ' ') (*at)++;
        if (**at == '`') {
            *mark = out.size;
            (*at)++;
        } else if (**at == end) {
            *at += end != '\0';
            return out;
        } else if (**at == '#') {
            (*at)++;
            put_hex(&out, at);
        } else if (isdigit((unsigned char)**at)) {
            char *behind;
            uint32_t field = (uint32_t)strtoul(*at, &behind, 10);
            *at = behind;
            put_field(&out, field, at, mark);
        } else {
            wrong(*at);
        }
    }
}

om_bytes onnx_bytes_of(const char *text, size_t *mark) {
    *mark = SIZE_MAX;
    return message(&text, '\0', mark);
}

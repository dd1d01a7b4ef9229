/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A whole file: header, index, lists, then variables and functions. Refused is what has no meaning: lengths that do not
 * add up, pointers beyond the index, blocks beyond the data. Everything else is read, for a check to find.
 *
 * Blocks may be shared, so a small file could name one list or one record many times. Exporters share none. So what is
 * made of a block counts each time, against the bytes of the file and an allowance: the lists, and the records of
 * functions and variables. The data of parameters, of which nothing is copied, may be shared more often. */
#include "nnb/nnb.h"

enum { LISTS = 2, LISTS_LEAST = 65536, DATA = 16, DATA_LEAST = 4096 };
/* Of a function or a variable: its item in the list, its entry of the index, its record. */
enum { RECORD_LEAST = 4 + 4 + NNB_RECORD, RECORDS_LEAST = 4096 };

/* ---- the index ------------------------------------------------------------------------------------------------- */

bool nnb_resolve(nnb_reader *r, uint32_t k, uint64_t at, const char *what, uint32_t *out) {
    if (k >= r->n_index)
        return NNB_FAIL(r, at, XIR_E_BOUNDS, "the block of %s is entry %" PRIu32 " of the index, which has %" PRIu32,
                        what, k, r->n_index);
    *out = little_u32(r->index + 4 * (size_t)k);
    return true;
}

bool nnb_spend(nnb_reader *r, uint64_t bytes, uint64_t at) {
    const uint64_t most = DATA * (uint64_t)r->data_size + DATA_LEAST;
    r->spent += bytes;
    return r->spent <= most ||
           NNB_FAIL(r, at, XIR_E_LIMIT, "the parameters up to here have %" PRIu64 " bytes, because they share data: "
                    "the limit is %" PRIu64, r->spent, most);
}

bool nnb_take_list(nnb_reader *r, uint32_t n, uint32_t k, uint64_t at, const char *what, nnb_block *out) {
    out->n = n;
    if (!nnb_resolve(r, k, at, what, &out->at)) return false;
    if (n > (r->data_size - out->at) / 4)
        return NNB_FAIL(r, out->at, XIR_E_CORRUPT, "%s has %" PRIu32 " items, but the data ends after %" PRIu32,
                        what, n,
                        (r->data_size - out->at) / 4);
    const uint64_t most = LISTS * r->d.whole->size + LISTS_LEAST;
    r->listed += 4 * (uint64_t)n;
    return r->listed <= most ||
           NNB_FAIL(r, out->at, XIR_E_LIMIT, "the lists up to %s have %" PRIu64 " bytes, because they share blocks: "
                    "the limit is %" PRIu64, what, r->listed, most);
}

/* Sorts offsets, 11 bits at a time. */
static void sort_offsets(uint32_t *v, uint32_t *other, size_t n) {
    enum { BITS = 11, WAYS = 1 << BITS };
    for (unsigned shift = 0; shift < 32; shift += BITS) {
        size_t counts[WAYS] = { 0 }, sum = 0;
        for (size_t i = 0; i < n; i++) counts[v[i] >> shift & (WAYS - 1)]++;
        for (size_t i = 0; i < WAYS; i++) {
            size_t c = counts[i];
            counts[i] = sum;
            sum += c;
        }
        for (size_t i = 0; i < n; i++) other[counts[v[i] >> shift & (WAYS - 1)]++] = v[i];
        uint32_t *swap = v;
        v = other;
        other = swap;
    }
    memcpy(other, v, n * sizeof *v);   /* three rounds: the result is in the other array */
}

static bool check_index(nnb_reader *r) {
    const size_t n = r->n_index;
    bool ascends = true;
    uint32_t before = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t at = little_u32(r->index + 4 * k);
        if (at > r->data_size)
            return trace_fail(&r->d.trace, XIR_E_BOUNDS, NNB_HEADER + 4 * k, "entry %zu of the index is %" PRId32
                              ", beyond the data, which has %" PRIu32 " bytes", k, (int32_t)at, r->data_size);
        ascends &= at >= before;
        before = at;
    }
    if (ascends) return true;
    r->sorted = arena_take(&r->d.scratch, n * sizeof *r->sorted);
    uint32_t *other = mem_new(r->d.alloc, n * sizeof *other);
    for (size_t k = 0; r->sorted && k < n; k++) r->sorted[k] = little_u32(r->index + 4 * k);
    if (r->sorted && other) sort_offsets(r->sorted, other, n);
    bool ok = r->sorted && other;
    mem_free(r->d.alloc, other, n * sizeof *other);
    return ok || trace_memory(&r->d.trace);
}

uint32_t nnb_next_block(const nnb_reader *r, uint32_t k, uint32_t at) {
    size_t low = r->sorted ? 0 : (size_t)k + 1, high = r->n_index;
    if (!r->sorted && low < high && little_u32(r->index + 4 * low) > at) return little_u32(r->index + 4 * low);
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const uint32_t v = r->sorted ? r->sorted[middle] : little_u32(r->index + 4 * middle);
        if (v <= at) low = middle + 1;
        else high = middle;
    }
    if (low == r->n_index) return r->data_size;
    return r->sorted ? r->sorted[low] : little_u32(r->index + 4 * low);
}

/* ---- the header ------------------------------------------------------------------------------------------------ */

static bool check_version(nnb_reader *r) {
    if (r->version == 1)
        return trace_fail(&r->d.trace, XIR_E_UNSUPPORTED, 0, "the file has version 1, of before September 2018: "
                          "expected %d or %d", NNB_OLDEST, NNB_NEWEST);
    return (r->version >= NNB_OLDEST && r->version <= NNB_NEWEST) ||
           trace_fail(&r->d.trace, XIR_E_UNSUPPORTED, 0, "expected version %d or %d, found %" PRIu32, NNB_OLDEST,
                      NNB_NEWEST, r->version);
}

static void warn_trailing(nnb_reader *r, uint64_t beyond) {
    char text[80];
    snprintf(text, sizeof text, "%" PRIu64 " bytes follow the end of the network", beyond);
    xir_diags_append(r->d.how->why, &(xir_diag){ .severity = XIR_WARNING, .file = r->d.how->name,
                                                 .byte = r->d.whole->size - beyond, .message = xir_str_of(text) });
}

static bool read_header(nnb_reader *r) {
    const uint8_t *head = r->d.base;
    const uint64_t size = r->d.whole->size;
    if (size < NNB_HEADER)
        return trace_fail(&r->d.trace, XIR_E_CORRUPT, size, "expected a header of %d bytes, found %" PRIu64, NNB_HEADER,
                          size);
    r->version = little_u32(head);
    r->api = little_u32(head + 4);
    r->n_index = little_u32(head + 48);
    r->data_size = little_u32(head + 52);
    const uint64_t data_at = NNB_HEADER + 4 * (uint64_t)r->n_index, whole = data_at + r->data_size;
    if (!check_version(r)) return false;
    if (whole > size)
        return trace_fail(&r->d.trace, XIR_E_CORRUPT, 48, "%" PRIu32 " entries and %" PRIu32 " bytes of data make a "
                          "file of %" PRIu64 " bytes, but it has %" PRIu64, r->n_index, r->data_size, whole, size);
    if (r->data_size > INT32_MAX)
        return trace_fail(&r->d.trace, XIR_E_LIMIT, 52, "the data has %" PRIu32 " bytes, expected less than 2^31",
                          r->data_size);
    if (whole < size) warn_trailing(r, size - whole);
    r->index = head + NNB_HEADER;
    r->data = head + data_at;
    return check_index(r);
}

static bool check_count(nnb_reader *r, uint64_t at, const nnb_block *list, const char *what) {
    const uint64_t most = r->d.whole->size / RECORD_LEAST + RECORDS_LEAST;
    return list->n <= most ||
           trace_fail(&r->d.trace, XIR_E_LIMIT, at, "the file has %" PRIu32 " %s, because they share records: the "
                      "limit for %" PRIu64 " bytes is %" PRIu64, list->n, what, r->d.whole->size, most);
}

/* The five lists: a count, then a pointer. */
static bool read_lists(nnb_reader *r) {
    const struct { size_t at; const char *what; nnb_block *out; } lists[] = {
        { 8,  "the buffers",   &r->buffers   },
        { 16, "the variables", &r->variables },
        { 24, "the functions", &r->functions },
        { 32, "the inputs",    &r->inputs    },
        { 40, "the outputs",   &r->outputs   },
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const uint8_t *p = r->d.base + lists[i].at;
        const uint64_t place = lists[i].at + 4 - (uint64_t)(r->data - r->d.base);   /* before the data: it wraps */
        if (!nnb_take_list(r, little_u32(p), little_u32(p + 4), place, lists[i].what, lists[i].out)) return false;
    }
    return check_count(r, 16, &r->variables, "variables") && check_count(r, 24, &r->functions, "functions");
}

/* ---- the ends -------------------------------------------------------------------------------------------------- */

static bool read_inputs(nnb_reader *r) {
    const uint8_t *p = r->data + r->inputs.at;
    char text[16];
    for (uint32_t i = 0; i < r->inputs.n; i++) {
        const uint32_t v = little_u32(p + 4 * (size_t)i);
        dialect_declared declared = { NULL, NULL };
        if (v >= r->variables.n)
            return NNB_FAIL(r, r->inputs.at + 4 * (uint64_t)i, XIR_E_BOUNDS,
                            "input %" PRIu32 " is variable %" PRIu32 ", but there are only %" PRIu32, i, v,
                                r->variables.n);
        r->v[v].made = true;
        if (!nnb_declare(r, v, &declared) || !dialect_input(&r->d, dialect_number(v), &declared)) return false;
    }
    if (!dialect_make_inputs(&r->d)) return false;
    for (uint32_t i = 0; i < r->inputs.n; i++) {
        xir_value *v = &op_outputs(r->d.net->first)[i];
        if (!dialect_name_value(&r->d, v, nnb_variable_name(little_u32(p + 4 * (size_t)i), text))) return false;
    }
    return true;
}

static bool read_outputs(nnb_reader *r) {
    const uint8_t *p = r->data + r->outputs.at;
    for (uint32_t i = 0; i < r->outputs.n; i++) {
        const uint32_t v = little_u32(p + 4 * (size_t)i);
        if (v >= r->variables.n)
            return NNB_FAIL(r, r->outputs.at + 4 * (uint64_t)i, XIR_E_BOUNDS,
                            "output %" PRIu32 " is variable %" PRIu32 ", but there are only %" PRIu32, i, v,
                                r->variables.n);
        if (!dialect_output(&r->d, dialect_number(v), NULL)) return false;
    }
    return dialect_make_outputs(&r->d);
}

/* Values that something uses, but nothing makes: they have a type all the same. */
static bool declare_open(nnb_reader *r) {
    char text[16];
    for (uint32_t i = 0; i < r->variables.n; i++) {
        xir_value *v = dialect_find(&r->d, dialect_number(i));
        dialect_declared declared = { NULL, NULL };
        if (!v || value_op(v) || value_is_params(v)) continue;
        bool ok = nnb_declare(r, i, &declared) && dialect_declare(&r->d, v, &declared) &&
                  dialect_name_value(&r->d, v, nnb_variable_name(i, text));
        if (!ok) return false;
    }
    return true;
}

/* Parameters that no function uses are an attribute of the Input op. */
static bool keep_unused(nnb_reader *r) {
    dialect *d = &r->d;
    d->values.size = 0;
    for (uint32_t i = 0; i < r->variables.n; i++) {
        xir_value *v = r->v[i].params;
        if (!v || v->id >= 0) continue;
        xir_value **out = dialect_add(d, &d->values, sizeof *out);
        if (!out) return false;
        *out = v;
    }
    const size_t n = d->values.size;
    if (!n) return true;
    xir_any *items = arena_take(&d->net->arena, n * sizeof *items);
    for (size_t i = 0; items && i < n; i++)
        if (!dialect_any_params(d, ((xir_value **)d->values.data)[i], &items[i])) return false;
    op_more *more = items ? op_need_more(d->net->first) : NULL;
    return more ? dialect_tag(d, &more->extra, NNB_ATTR_UNUSED, xir_any_list(items, n)) : trace_memory(&d->trace);
}

static bool tag_network(nnb_reader *r) {
    if (xir_network_set_text(r->d.net, XIR_TEXT_FRAMEWORK, XIR_STR("NNABLA"))) return trace_memory(&r->d.trace);
    return dialect_tag(&r->d, &r->d.net->tags, NNB_TAG_VERSION, xir_any_int(r->version)) &&
           dialect_tag(&r->d, &r->d.net->tags, NNB_TAG_API, xir_any_int(r->api));
}

/* The framework is a word that the enum does not have. */
static const dialect_about about = { "nnb", XIR_FRAMEWORK_COUNT, NULL, false };

xir_network *nnb_read(const format_reading *how, blob *whole) {
    nnb_reader reader = { .version = 0 }, *r = &reader;
    if (!dialect_begin(&r->d, &about, how, whole)) return NULL;
    r->signatures.scratch = &r->d.scratch;
    buffer_init(&r->args, r->d.alloc);
    bool ok = read_header(r) && read_lists(r) && dialect_expect_numbers(&r->d, r->variables.n) && tag_network(r) &&
              nnb_read_variables(r) && read_inputs(r) && nnb_scan_functions(r) && nnb_make_params(r) &&
              nnb_read_functions(r) && read_outputs(r) && declare_open(r) && keep_unused(r) && nnb_keep(r);
    dialect_list_free(&r->d, &r->ints, sizeof(int32_t));
    dialect_list_free(&r->d, &r->dims, sizeof(int64_t));
    dialect_list_free(&r->d, &r->holes, sizeof(nnb_hole));
    buffer_free(&r->args);
    return dialect_finish(&r->d, ok);
}

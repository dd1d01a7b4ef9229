/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks of variables: their types and shapes, their data, and the buffers that they share. The runtime checks none of
 * this: it reads and writes whatever memory the numbers lead to. */
#include <stdarg.h>
#include "nnb/check.h"

void nnb_say(nnb_checking *c, xir_severity severity, xir_status code, const char *place, const char *sentence, ...) {
    va_list args;
    va_start(args, sentence);
    if (severity == XIR_ERROR && !c->status) c->status = code;
    diag_failv(c->why, &(xir_diag){ .severity = severity, .code = code, .byte = XIR_NO_BYTE,
                                    .path = xir_str_of(place) }, sentence, args);
    va_end(args);
}

#define PLACE_ROOM 80

/* ---- types and data -------------------------------------------------------------------------------------------- */

static void check_type(nnb_checking *c, const nnb_variable *v, const char *place) {
    if (v->type >= NNB_TYPES)
        nnb_say(c, XIR_ERROR, XIR_E_TYPE, place, "unknown type: expected less than %d, found %d", NNB_TYPES, v->type);
    else if (v->type == NNB_INT8 && v->fp_pos > 7)
        nnb_say(c, XIR_ERROR, XIR_E_BOUNDS, place, "an int8 has too many fraction bits: expected 0 to 7, found %d",
                v->fp_pos);
    else if (v->fp_pos && (v->type == NNB_FLOAT32 || v->type == NNB_SIGN))
        nnb_say(c, XIR_ERROR, XIR_E_BOUNDS, place, "a %s has fraction bits: expected 0, found %d",
                v->type == NNB_SIGN ? "sign" : "float", v->fp_pos);
    if (v->type == NNB_SIGN && !v->stored)
        nnb_say(c, XIR_ERROR, XIR_E_TYPE, place, "only parameters may be signs: expected another type");
}

static void check_shape(nnb_checking *c, const nnb_variable *v, const char *place) {
    for (uint32_t i = 0; i < v->rank; i++) {
        const int32_t dim = nnb_int_at(c->m, v->shape + i);
        if (dim >= 0) continue;
        nnb_say(c, XIR_ERROR, XIR_E_BOUNDS, place, "dim %u is negative: expected 0 or more, found %d", (unsigned)i,
                (int)dim);
        return;
    }
    if (!v->stored && v->elements == UINT64_MAX)
        nnb_say(c, XIR_ERROR, XIR_E_LIMIT, place, "the shape has 2^31 elements or more");
}

/* Returns true if a variable is input 1 of functions alone that compute with the binary weight instead. */
static bool is_unused_weight(const nnb_model *m, size_t variable) {
    bool any = false;
    for (size_t i = 0; i < m->records.size; i++) {
        const nnb_record *f = nnb_record_at(m, i);
        for (uint32_t k = 0; k < f->in.n; k++) {
            if ((size_t)nnb_int_at(m, f->in.first + k) != variable) continue;
            const bool binary = f->id == 108 || f->id == 110 || f->id == 232 || f->id == 233;
            if (!binary || k != 1) return false;
            any = true;
        }
    }
    return any;
}

/* Only a few parameters are shorter than their shape, so that each may look for its functions. */
static void check_data(nnb_checking *c, size_t i, const nnb_variable *v, const char *place, size_t *short_ones) {
    enum { MOST = 64 };
    uint64_t elements, bytes;
    const int32_t *ints = c->m->ints.data;
    const int32_t *dims = v->rank ? ints + v->shape : NULL;
    if (!v->stored || nnb_size(dims, v->rank, v->type, &elements, &bytes) || bytes <= v->bytes) return;
    if (++*short_ones <= MOST && is_unused_weight(c->m, i)) return;
    nnb_say(c, XIR_ERROR, XIR_E_CORRUPT, place, "the data is shorter than the shape: expected %" PRIu64 " bytes, "
            "found %" PRIu64, bytes, v->bytes);
}

/* ---- buffers --------------------------------------------------------------------------------------------------- */

/* `in_use`: a function refers to it. Others have buffer 0, whatever their size. */
static void check_buffer(nnb_checking *c, const nnb_variable *v, bool in_use, const char *place) {
    const nnb_model *m = c->m;
    const uint32_t *sizes = m->buffers.data;
    if (v->stored) return;
    if ((uint32_t)v->buffer >= m->buffers.size) {
        if (in_use || v->buffer)
            nnb_say(c, XIR_ERROR, XIR_E_BOUNDS, place, "buffer %d does not exist: the file has %zu", (int)v->buffer,
                    m->buffers.size);
        return;
    }
    const uint64_t size = m->version == 2 ? v->elements : v->bytes;
    if (in_use && size != UINT64_MAX && size > sizes[v->buffer])
        nnb_say(c, XIR_ERROR, XIR_E_BOUNDS, place, "buffer %d is too small: expected %" PRIu64 " %s, found %" PRIu32,
                (int)v->buffer, size, m->version == 2 ? "elements" : "bytes", sizes[v->buffer]);
}

enum { NOBODY = -1, START = -1 };

/* `last`: the last function that needs it. `maker`: the first that makes it. */
typedef struct use { int32_t last, maker; bool in_use, made, reported; } use;

static void find_uses(const nnb_model *m, use *uses) {
    for (size_t i = 0; i < m->variables.size; i++) uses[i] = (use){ .last = START, .maker = START };
    for (size_t i = 0; i < m->records.size; i++) {
        const nnb_record *f = nnb_record_at(m, i);
        for (uint32_t k = 0; k < f->in.n; k++) {
            use *u = &uses[nnb_int_at(m, f->in.first + k)];
            u->last = (int32_t)i;
            u->in_use = true;
        }
        for (uint32_t k = 0; k < f->out.n; k++) uses[nnb_int_at(m, f->out.first + k)].in_use = true;
    }
    for (uint32_t k = 0; k < m->inputs.n; k++) uses[nnb_int_at(m, m->inputs.first + k)].in_use = true;
    for (uint32_t k = 0; k < m->outputs.n; k++) {
        use *u = &uses[nnb_int_at(m, m->outputs.first + k)];
        u->last = (int32_t)m->records.size;
        u->in_use = true;
    }
}

/* The content of a buffer is lost when another variable is written into it. `step`: the function; START: the
 * inputs. */
static void write_variable(nnb_checking *c, const use *uses, int32_t *holds, int32_t v, int32_t step,
                           const char *place) {
    const nnb_variable *var = nnb_variable_at(c->m, (size_t)v);
    if (var->stored) {
        nnb_say(c, XIR_ERROR, XIR_E_INVALID, place, "variable %d is a parameter, which lies in the file: "
                "expected one with a buffer", (int)v);
        return;
    }
    if ((uint32_t)var->buffer >= c->m->buffers.size) return;
    const int32_t held = holds[var->buffer];
    if (held != NOBODY && held != v && uses[held].last > step) {
        char reader[40] = "the network returns";
        if ((size_t)uses[held].last < c->m->records.size)
            snprintf(reader, sizeof reader, "function %d needs later", (int)uses[held].last);
        nnb_say(c, XIR_ERROR, XIR_E_INVALID, place, "variable %d overwrites variable %d in buffer %d, which %s", (int)v,
                (int)held, (int)var->buffer, reader);
    }
    holds[var->buffer] = v;
}

static void check_sharing(nnb_checking *c, const use *uses, int32_t *holds) {
    const nnb_model *m = c->m;
    char place[PLACE_ROOM];
    for (size_t i = 0; i < m->buffers.size; i++) holds[i] = NOBODY;
    for (uint32_t k = 0; k < m->inputs.n; k++) {
        const int32_t v = nnb_int_at(m, m->inputs.first + k);
        snprintf(place, sizeof place, "/inputs/%u", (unsigned)k);
        if (!nnb_variable_at(m, (size_t)v)->stored) write_variable(c, uses, holds, v, START, place);
    }
    for (size_t i = 0; i < m->records.size; i++) {
        const nnb_record *f = nnb_record_at(m, i);
        for (uint32_t k = 0; k < f->out.n; k++) {
            snprintf(place, sizeof place, "/functions/%zu/output/%u", i, (unsigned)k);
            write_variable(c, uses, holds, nnb_int_at(m, f->out.first + k), (int32_t)i, place);
        }
    }
}

/* ---- producers ------------------------------------------------------------------------------------------------ */

static void find_makers(nnb_checking *c, use *uses) {
    const nnb_model *m = c->m;
    char place[PLACE_ROOM];
    for (uint32_t k = 0; k < m->inputs.n; k++) uses[nnb_int_at(m, m->inputs.first + k)].made = true;
    for (size_t i = 0; i < m->records.size; i++) {
        const nnb_record *f = nnb_record_at(m, i);
        for (uint32_t k = 0; k < f->out.n; k++) {
            const int32_t v = nnb_int_at(m, f->out.first + k);
            snprintf(place, sizeof place, "/functions/%zu/output/%u", i, (unsigned)k);
            if (uses[v].made)
                nnb_say(c, XIR_ERROR, XIR_E_EXISTS, place, "variable %d is made twice: expected one function or input",
                        (int)v);
            else uses[v].maker = (int32_t)i;
            uses[v].made = true;
        }
    }
}

/* A variable that nothing makes holds zeros. */
static void check_made(nnb_checking *c, use *uses, int32_t v, int32_t step, const char *place) {
    use *u = &uses[v];
    if (nnb_variable_at(c->m, (size_t)v)->stored || u->reported) return;
    u->reported = !u->made || u->maker >= step;
    if (!u->made && (size_t)step == c->m->records.size)
        nnb_say(c, XIR_ERROR, XIR_E_MISSING, place, "no function makes variable %d, an output of the network", (int)v);
    else if (!u->made)
        nnb_say(c, XIR_WARNING, XIR_E_MISSING, place, "no function makes variable %d, and it is not an input: it holds "
                "zeros", (int)v);
    else if (u->maker >= step)
        nnb_say(c, XIR_ERROR, XIR_E_INVALID, place, "variable %d is used before it is made: "
                "expected function %d earlier", (int)v, (int)u->maker);
}

static void check_makers(nnb_checking *c, use *uses) {
    const nnb_model *m = c->m;
    char place[PLACE_ROOM];
    find_makers(c, uses);
    for (size_t i = 0; i < m->records.size; i++) {
        const nnb_record *f = nnb_record_at(m, i);
        for (uint32_t k = 0; k < f->in.n; k++) {
            snprintf(place, sizeof place, "/functions/%zu/input/%u", i, (unsigned)k);
            check_made(c, uses, nnb_int_at(m, f->in.first + k), (int32_t)i, place);
        }
    }
    for (uint32_t k = 0; k < m->outputs.n; k++) {
        snprintf(place, sizeof place, "/outputs/%u", (unsigned)k);
        check_made(c, uses, nnb_int_at(m, m->outputs.first + k), (int32_t)m->records.size, place);
    }
}

static void check_variables(nnb_checking *c, const use *uses, bool buffers) {
    char place[PLACE_ROOM];
    size_t short_ones = 0;
    for (size_t i = 0; i < c->m->variables.size; i++) {
        const nnb_variable *v = nnb_variable_at(c->m, i);
        snprintf(place, sizeof place, "/variables/%zu", i);
        check_type(c, v, place);
        check_shape(c, v, place);
        check_data(c, i, v, place, &short_ones);
        if (buffers) check_buffer(c, v, uses[i].in_use, place);
    }
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

static void check_head(nnb_checking *c) {
    if (c->m->has_api && c->m->api == 0)
        nnb_say(c, XIR_WARNING, XIR_E_BOUNDS, "/api_level", "the api level is 0: expected 1 to %d", NNB_API_NEWEST);
    else if (c->m->api > NNB_API_NEWEST && c->m->api <= NNB_REVISION)
        nnb_say(c, XIR_NOTE, XIR_OK, "/api_level", "the api level is %" PRIu32 ", later than the newest known here, %d",
                c->m->api, NNB_API_NEWEST);
}

/* Networks that were read have buffers; others get them when they are written. */
static bool describe(nnb_model *m, bool *buffers) {
    const xir_any *variables = nnb_kept(m->net, "variables", XIR_ANY_LIST);
    const xir_any *sizes = nnb_kept(m->net, "buffers", XIR_ANY_LIST);
    *buffers = variables && sizes && nnb_model_as_read(m, &variables->as.list, &sizes->as.list);
    return *buffers || (!m->status && nnb_model_fresh(m));
}

/* A file without functions is one, too; a file that was converted to other operations is not. */
static bool is_nnb(const xir_network *net) {
    bool others = false;
    for (const xir_op *op = net->first; op; op = op->next) {
        if (nnb_type_of(op).size) return true;
        others = others || (!nnb_is_input(op) && !nnb_is_output(op));
    }
    return !others && xir_map_find(net->tags, XIR_STR(NNB_TAG_FILE));
}

static bool check(nnb_checking *c, bool buffers) {
    const size_t n = c->m->variables.size;
    use *uses = arena_take(&c->m->scratch, n * sizeof *uses);
    int32_t *holds = arena_take(&c->m->scratch, c->m->buffers.size * sizeof *holds);
    if (!uses || !holds) return false;
    find_uses(c->m, uses);
    check_head(c);
    check_variables(c, uses, buffers);
    nnb_check_functions(c);
    check_makers(c, uses);
    if (buffers) check_sharing(c, uses, holds);
    return nnb_check_overlaps(c) && c->m->status != XIR_E_MEMORY;
}

xir_status xir_nnb_check(const xir_network *net, xir_diags *why) {
    bool buffers;
    char place[PLACE_ROOM] = "";
    if (!net) return diag_null(why, "network");
    if (!is_nnb(net)) return XIR_OK;
    nnb_checking c = { .m = nnb_model_new((xir_network *)(uintptr_t)net), .why = why };   /* only read */
    if (!c.m) return diag_memory(why);
    if (describe(c.m, &buffers)) {
        if (!check(&c, buffers)) c.status = diag_memory(why);
    } else if (c.m->status == XIR_E_MEMORY) {
        c.status = diag_memory(why);
    } else {
        if (c.m->at) snprintf(place, sizeof place, "/ops/%" PRId64, c.m->at->id);
        nnb_say(&c, XIR_ERROR, c.m->status, place, "%s", c.m->fault);
    }
    nnb_model_free(c.m);
    return c.status;
}

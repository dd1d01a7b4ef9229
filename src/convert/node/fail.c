/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Why a node stays, and findings about it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "node/origins.h"

bool xir_node_failed(const xir_node *at) { return at->fate != NODE_GOES; }

/* Hooks write "input/1" for a position of the row; finds its place in the file. */
static void place_in_file(const xir_node *at, const char *where, char out[200]) {
    char *end = NULL;
    const bool input = at->in && strncmp(where, "input/", 6) == 0;
    const unsigned long i = input ? strtoul(where + 6, &end, 10) : 0;
    snprintf(out, 200, "%s", where);
    if (!input || i >= at->n_in || !at->in[i].value) return;
    if (at->in[i].from != FROM_ATTRIBUTE) {
        snprintf(out, 200, "input/%u%s", at->in[i].from, end);
        return;
    }
    const xir_str name = at->cls->slots[i].name;
    snprintf(out, 200, "attribute/%.*s%s", CLIP_TO(name, 100), end);
}

bool node_is_silent(const xir_node *at, xir_severity severity, xir_status code) {
    conversion *c = at->c;
    if (c->mute || c->in.trials) return true;
    if (severity == XIR_ERROR && !c->status) c->status = code;
    return diag_is_counted(c->why, severity, code);
}

static XIR_PRINTF(5, 0) xir_status say(const xir_node *at, xir_severity severity, xir_status code, const char *where,
                                       const char *format, va_list list) {
    char sentence[SENTENCE_ROOM], path[600], place[200] = "";
    const xir_dialect_decl *dialect = at->cls->dialect;
    int64_t number;
    if (node_is_silent(at, severity, code)) return code;
    const body_frame *in = origin_of(at->c, at->op, &number);
    const char *nodes = in ? in->place : convert_nodes(dialect);
    text_vprint(sentence, sizeof sentence, format, list);
    if (where) place_in_file(at, where, place);
    snprintf(path, sizeof path, "%.300s%lld%s%s", nodes, (long long)number, where ? "/" : "", place);
    xir_str name = xir_op_name(at->op), type = at->cls->type;
    return xir_diags_add(at->c->why, severity, code, xir_str_of(path), "%s%.*s '%.*s' (%s %lld%s): %s", at->c->prefix,
                         CLIP_TO(type, 60), CLIP_TO(name, 200), convert_node(dialect), (long long)number,
                         in ? " of a body" : "", sentence);
}

xir_status node_say(const xir_node *at, xir_severity severity, xir_status code, const char *where,
                    const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(at, severity, code, where, format, list);
    va_end(list);
    return code;
}

xir_status node_contradicts(const xir_node *at, xir_status code, const char *where, const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(at, at->c->checking ? XIR_ERROR : XIR_WARNING, code, where, format, list);
    va_end(list);
    return code;
}

bool xir_node_unsupported(xir_node *at, const char *format, ...) {
    va_list list;
    if (xir_node_failed(at)) return false;   /* the first reason counts */
    va_start(list, format);
    text_vprint(at->reason, sizeof at->reason, format, list);
    va_end(list);
    at->fate = NODE_STAYS;
    return false;
}

bool xir_node_invalid(xir_node *at, xir_status code, const char *where, const char *format, ...) {
    va_list list;
    if (xir_node_failed(at)) return false;
    va_start(list, format);
    /* on the way back it is a row that is wrong, not the network */
    if (at->c->back.to) text_vprint(at->reason, sizeof at->reason, format, list);
    else say(at, XIR_ERROR, code, where, format, list);
    va_end(list);
    at->fate = at->c->back.to ? NODE_STAYS : NODE_WRONG;
    return false;
}

bool node_declines(xir_node *at) {
    if (!xir_node_failed(at)) at->fate = NODE_STAYS;
    return false;
}

bool node_no_memory(xir_node *at) {
    if (!xir_node_failed(at)) at->fate = NODE_NO_MEMORY;
    return false;
}

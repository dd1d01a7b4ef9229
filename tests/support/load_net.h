/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the tests of loading and saving: a network with Params, in a file of every format. */
#ifndef TESTS_LOAD_NET_H
#define TESTS_LOAD_NET_H

#include "support/formats.h"
#include "support/net.h"
#include "support/raw_net.h"
#include "support/scratch.h"

/* The inputs of an op, and its attributes, one of which has no bytes; walks visit them in this order. */
static const raw_param load_params[] = { { 3, 4 }, { 7, 0 }, { 5, 6000 }, { 11, 9000 } };
enum { LOAD_PARAMS = COUNT(load_params) };

/* A network with these Params, all of which have bytes (raw_byte). */
static inline xir_network *load_net(xir_context *with) {
    xir_value *values[LOAD_PARAMS];
    xir_network *net = raw_network(with, load_params, LOAD_PARAMS, 2, values);
    for (size_t i = 0; i < LOAD_PARAMS; i++) raw_fill(values[i]);
    return net;
}

static inline bool load_is_filled(const xir_network *net) {
    for (size_t i = 0; i < LOAD_PARAMS; i++)
        if (!raw_is_filled(xir_network_value_by_id(net, load_params[i].id))) return false;
    return true;
}

/* Every format: for (size_t i = 0; written_format_at(i, &f); i++). */
static inline bool load_is_pair(const xir_format_info *f) { return f->pair; }
/* "name.fb": the first suffix of the format. */
static inline const char *load_path(const char *name, const xir_format_info *f) {
    char file[200];
    snprintf(file, sizeof file, "%s.%.*s", name, (int)strcspn(f->suffixes, " "), f->suffixes);
    return scratch(file);
}

/* A text has few parameters inside of it; these tests are about those in a file of their own. */
static inline uint64_t load_flags(const xir_format_info *f) { return strcmp(f->name, "text") == 0 ? XIR_SAVE_RAW : 0; }

static inline void load_save(xir_network *net, const char *path, const xir_format_info *f) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = f->name, .unchecked = true,
                                              .flags = load_flags(f));
    xir_status status = xir_network_save(net, path, &options, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
}

/* Loads a network; it must succeed without a finding. */
static inline xir_network *load_must(const char *path, const xir_load_options *options) {
    xir_network *net = xir_network_load(ctx, path, options, why);
    if (!net || xir_diags_count(why)) xir_diags_print(why, stderr);
    assert_non_null(net);
    assert_int_equal(xir_diags_count(why), 0);
    return net;
}

/* A call that must have failed with this status and a finding whose message contains `part`. Clears the findings. */
static inline void load_check_finding(xir_status code, const char *part, int line) {
    const xir_diag *d = xir_diags_at(why, xir_diags_count(why) ? xir_diags_count(why) - 1 : 0);
    if (!d) fail_msg("line %d: expected a finding, found none", line);
    if (d->code != code || !memmem(d->message.data, d->message.size, part, strlen(part))) {
        xir_diags_print(why, stderr);
        fail_msg("line %d: expected %s with '%s'", line, xir_status_name(code), part);
    }
    xir_diags_clear(why);
}
#define FAILS_TO_LOAD(call, code, part)                    \
    do {                                                   \
        assert_null(call);                                 \
        load_check_finding(code, part, __LINE__);          \
    } while (0)
#define FAILS_TO_SAVE(call, code, part)                    \
    do {                                                   \
        assert_int_equal(call, code);                      \
        load_check_finding(code, part, __LINE__);          \
    } while (0)

#endif

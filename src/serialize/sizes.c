/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks that a format cannot hold are refused from the sizes of the parameters, before any of their bytes is read.
 * A writer compares again what it lays out: the structure and gaps take bytes too. */
#include "file.h"
#include "formats.h"

typedef struct summing {
    const format    *f;
    bool             by_type;
    uint64_t         all;
    const xir_value *large;      /* one that is too large */
    uint64_t         large_size;
} summing;

static bool add_one(void *user, xir_value *v) {
    summing *s = user;
    const blob *data = value_params(v)->data;
    uint64_t size = data ? data->size : 0;
    if (!data && s->by_type && !xir_params_allow_no_data(v) && params_size(v, &size) != XIR_OK) size = 0;
    if (s->f->most_param && size > s->f->most_param && !s->large) {
        s->large = v;
        s->large_size = size;
    }
    if (!add_u64(s->all, size, &s->all)) s->all = UINT64_MAX;
    return true;
}

#define INSTEAD "JSON with a raw file next to it (.json) holds them"

xir_status format_check_sizes(const format *f, const xir_network *net, bool by_type, const char *path, xir_diags *why) {
    summing s = { .f = f, .by_type = by_type };
    if (!f->most_params && !f->most_param) return XIR_OK;
    if (!net_walk_params(net, add_one, &s)) return diag_memory(why);
    if (f->most_params && s.all > f->most_params)
        return file_fail(why, XIR_E_LIMIT, path, XIR_NO_BYTE, "the parameters take %llu bytes, and a file of format %s "
                         "holds at most %llu: " INSTEAD, (unsigned long long)s.all, f->name,
                         (unsigned long long)f->most_params);
    if (!s.large) return XIR_OK;
    return file_fail(why, XIR_E_LIMIT, path, XIR_NO_BYTE, "the parameter '%.*s' (v_id %lld) takes %llu bytes, and one in "
                     "a file of format %s at most %llu: " INSTEAD, CLIP(xir_value_name(s.large)),
                     (long long)xir_value_id(s.large), (unsigned long long)s.large_size, f->name,
                     (unsigned long long)f->most_param);
}

xir_status xir_network_check_sizes(const xir_network *net, const char *format_name, xir_diags *why) {
    format f;
    if (!net) return diag_null(why, "network");
    if (!format_named(net->ctx, format_name, &f, why)) return XIR_E_UNKNOWN;
    return format_check_sizes(&f, net, true, "", why);
}

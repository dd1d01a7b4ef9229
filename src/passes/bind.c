/* bind: gives symbolic dims numbers, or fewer of them.
 *
 *     x:fp32[batch,length,64] = input()                        x:fp32[4,length,64] = input()
 *     y:fp32[batch,floor((length + 1)/2),64] = pool(x)   ->    y:fp32[4,floor((length + 1)/2),64] = pool(x)
 *
 * `dims` lists symbols of the network: NAME=N, or NAME=A..B for an interval, separated by ';'. A name may contain '=':
 * the last one counts. All types follow; no op is inferred again, because what inference would find is what the
 * expressions say. */
#include <xir/symbols.h>
#include "diagnose.h"
#include "forms.h"
#include "manager/pass.h"

/* Takes the next item off the list. */
static xir_str next_item(xir_str *rest) {
    size_t n = 0;
    while (n < rest->size && rest->data[n] != ';') n++;
    xir_str item = { rest->data, n };
    size_t used = n < rest->size ? n + 1 : n;
    *rest = (xir_str){ rest->data + used, rest->size - used };
    return item;
}

/* "batch=4", "length=8..512". */
static xir_status read_item(xir_pass *at, xir_str item, xir_symbol *out) {
    size_t eq = item.size;
    while (eq > 0 && item.data[eq - 1] != '=') eq--;
    form_text t;
    form_error e = { .status = XIR_E_SYNTAX, .message = "expected NAME=N or NAME=A..B, found no '='" };
    form_begin(&t, (xir_str){ item.data + eq, item.size - eq }, &e);
    bool ok = eq > 1 && form_i64(&t, "a number", &out->least);
    out->most = out->least;
    if (ok && t.at < t.size) ok = form_literal(&t, "..") && form_i64(&t, "a number", &out->most);
    if (ok && t.at < t.size) form_expected(&t, XIR_E_SYNTAX, t.at, "the end");
    out->name = (xir_str){ item.data, eq ? eq - 1 : 0 };
    if (ok && t.at == t.size) return XIR_OK;
    return diag_fail(at->why, e.status, XIR_STR(""), "dims, '%.*s', character %zu: %s", CLIP(item), eq + e.at + 1,
                     e.message);
}

static xir_status run(xir_pass *at) {
    xir_network *net = at->net;
    xir_str rest = xir_pass_text(at, "dims");
    size_t n = 0, room = 1;
    for (size_t i = 0; i < rest.size; i++) room += rest.data[i] == ';';
    xir_symbol *bindings = mem_new(&net->alloc, room * sizeof *bindings);
    if (!bindings) return diag_memory(at->why);
    xir_status status = XIR_OK;
    while (rest.size && !status) {
        xir_str item = next_item(&rest);
        if (item.size) status = read_item(at, item, &bindings[n++]);
    }
    uint64_t epoch = net->epoch;   /* grows if anything is bound */
    if (!status && n) status = xir_network_bind(net, bindings, n, at->why);
    xir_pass_changed(at, net->epoch != epoch);
    mem_free(&net->alloc, bindings, room * sizeof *bindings);
    return status;
}

static const xir_pass_option options[] = {
    { "dims", XIR_PASS_TEXT, "", "symbols and their values: \"batch=4;length=8..512\"" },
};

const xir_pass_decl pass_bind = {
    XIR_PASS_HEAD("bind", "gives symbolic dims numbers or narrower intervals"),
    .level = XIR_LEVEL_NEEDED,
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .run = run,
};

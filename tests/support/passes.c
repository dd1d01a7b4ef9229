/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/passes.h"
#include <stdlib.h>
#include <string.h>

passes_seen_s passes_seen;

#define COUNT(array) (sizeof(array) / sizeof *(array))

static xir_status run_options(xir_pass *at) {
    xir_str word = xir_pass_text(at, "word");
    passes_seen.n = xir_pass_int(at, "n");
    passes_seen.x = xir_pass_real(at, "x");
    passes_seen.flag = xir_pass_bool(at, "flag");
    passes_seen.has_config = xir_pass_config(at, "seen") != NULL;
    passes_seen.runs++;
    size_t size = word.size < sizeof passes_seen.word ? word.size : sizeof passes_seen.word - 1;
    if (size) memcpy(passes_seen.word, word.data, size);
    passes_seen.word[size] = '\0';
    return XIR_OK;
}

static const xir_pass_option options[] = {
    { "n",    XIR_PASS_INT,  "1M",    "an integer" },
    { "x",    XIR_PASS_REAL, "1e-5",  "a number"   },
    { "flag", XIR_PASS_BOOL, "false", "a bool"     },
    { "word", XIR_PASS_TEXT, NULL,    "a text"     },
};

/* ---- tags ----------------------------------------------------------------------------------------- */

static int64_t tag_of(const xir_network *net, xir_str key) {
    const xir_map *tags = xir_network_tags(net);
    const xir_any *any = tags ? xir_map_find(tags, key) : NULL;
    return any && any->kind == XIR_ANY_INT ? any->as.integer : 0;
}

static xir_status set_tag(xir_pass *at, xir_str key, int64_t v) {
    const xir_any any = xir_any_int(v);
    return xir_network_set_tag(xir_pass_network(at), key, &any);
}

static xir_status run_tag(xir_pass *at) {
    xir_str key = xir_pass_text(at, "key");
    int64_t v = xir_pass_int(at, "value");
    if (tag_of(xir_pass_network(at), key) == v) return XIR_OK;
    xir_pass_changed(at, 1);
    return set_tag(at, key, v);
}

static xir_status run_count_down(xir_pass *at) {
    xir_str key = xir_pass_text(at, "key");
    int64_t v = tag_of(xir_pass_network(at), key);
    if (v <= 0) return XIR_OK;
    xir_pass_changed(at, 1);
    return set_tag(at, key, v - 1);
}

static xir_status swing(xir_pass *at, int64_t from, int64_t to) {
    if (tag_of(xir_pass_network(at), XIR_STR("ball")) != from) return XIR_OK;
    xir_pass_changed(at, 1);
    return set_tag(at, XIR_STR("ball"), to);
}
static xir_status run_ping(xir_pass *at) { return swing(at, 0, 1); }
static xir_status run_pong(xir_pass *at) { return swing(at, 1, 0); }

static const xir_pass_option tag_options[] = {
    { "key",   XIR_PASS_TEXT, "tag", "which tag"          },
    { "value", XIR_PASS_INT,  "1",   "what it becomes"    },
};
static const xir_pass_option count_options[] = { { "key", XIR_PASS_TEXT, "tag", "which tag" } };

/* ---- what is wrong -------------------------------------------------------------------------------- */

static xir_status run_liar(xir_pass *at) {
    return set_tag(at, XIR_STR("lie"), tag_of(xir_pass_network(at), XIR_STR("lie")) + 1);
}

static xir_status run_boaster(xir_pass *at) {
    xir_pass_changed(at, 3);
    return XIR_OK;
}

static xir_status run_broken(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    xir_pass_changed(at, 1);
    return xir_network_remove(net, xir_network_op_at(net, 1));
}

static xir_status run_fails(xir_pass *at) {
    return xir_pass_fail(at, XIR_E_UNSUPPORTED, xir_network_first(xir_pass_network(at)), "%d is too much", 7);
}

static xir_status run_mute(xir_pass *at) {
    (void)at;
    return XIR_E_BOUNDS;
}

static xir_status run_careless(xir_pass *at) {
    (void)xir_op_erase(xir_network_first(xir_pass_network(at)));   /* its output is used */
    (void)xir_op_build(xir_at_end(xir_pass_network(at)), xir_relu_class(), &(xir_relu_in){ NULL }, NULL);
    return XIR_OK;
}

static xir_status run_clumsy(xir_pass *at) {
    xir_network *net = xir_pass_network(at);
    return xir_op_build(xir_at_end(net), xir_relu_class(), &(xir_relu_in){ NULL }, NULL) ? XIR_OK
           : xir_network_status(net);
}

static xir_status run_nothing(xir_pass *at) {
    (void)at;
    return XIR_OK;
}

/* ---- all of them ---------------------------------------------------------------------------------- */

static const char *const needs_options[] = { "options", NULL };
static const char *const needs_both[]    = { "needs-options", "tag", NULL };

#define OPTIONS(list) .options = (list), .n_options = COUNT(list)
static const xir_pass_decl passes[] = {
    { XIR_PASS_HEAD("options",       "changes nothing, remembers its settings"),     XIR_LEVEL_EXACT,  NULL, OPTIONS(options),       run_options    },
    { XIR_PASS_HEAD("tag",           "sets a tag"),                                  XIR_LEVEL_EXACT,  NULL, OPTIONS(tag_options),   run_tag        },
    { XIR_PASS_HEAD("count-down",    "makes a tag less"),                            XIR_LEVEL_EXACT,  NULL, OPTIONS(count_options), run_count_down },
    { XIR_PASS_HEAD("ping",          "undoes pong"),                                 XIR_LEVEL_EXACT,  NULL, .run = run_ping     },
    { XIR_PASS_HEAD("pong",          "undoes ping"),                                 XIR_LEVEL_EXACT,  NULL, .run = run_pong     },
    { XIR_PASS_HEAD("needs-options", "needs one"),                                   XIR_LEVEL_EXACT,  needs_options, .run = run_nothing },
    { XIR_PASS_HEAD("needs-both",    "needs two"),                                   XIR_LEVEL_NEEDED, needs_both,    .run = run_nothing },
    { XIR_PASS_HEAD("liar",          "changes, and does not say so"),                XIR_LEVEL_EXACT,  NULL, .run = run_liar     },
    { XIR_PASS_HEAD("boaster",       "says so, and does not change"),                XIR_LEVEL_EXACT,  NULL, .run = run_boaster  },
    { XIR_PASS_HEAD("broken",        "breaks the network"),                          XIR_LEVEL_EXACT,  NULL, .run = run_broken   },
    { XIR_PASS_HEAD("fails",         "fails"),                                       XIR_LEVEL_EXACT,  NULL, .run = run_fails    },
    { XIR_PASS_HEAD("mute",          "fails and does not say why"),                  XIR_LEVEL_EXACT,  NULL, .run = run_mute     },
    { XIR_PASS_HEAD("careless",      "does not look at what calls give"),            XIR_LEVEL_EXACT,  NULL, .run = run_careless },
    { XIR_PASS_HEAD("clumsy",        "a call of it fails"),                          XIR_LEVEL_EXACT,  NULL, .run = run_clumsy   },
    { XIR_PASS_HEAD("fast",          "does nothing, fast"),                          XIR_LEVEL_FAST,   NULL, .run = run_nothing  },
    { XIR_PASS_HEAD("max",           "does nothing, as much as possible"),           XIR_LEVEL_MAX,    NULL, .run = run_nothing  },
};

void passes_for_tests(xir_context *ctx) {
    for (size_t i = 0; i < COUNT(passes); i++)
        if (xir_pass_register(ctx, &passes[i], NULL) != XIR_OK) abort();
}

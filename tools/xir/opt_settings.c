/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The settings of a run that the command line of xir opt gives. */
#include <stdlib.h>
#include <string.h>
#include "opt.h"

settings_options settings_args;

/* ---- configuration ------------------------------------------------------------------------------- */

/* Sorted by key; the texts are malloc's. */
typedef struct config {
    xir_entry *entries;
    xir_map    map;
} config;

static config made;

static int by_key(const void *a, const void *b) {
    xir_str x = ((const xir_entry *)a)->key, y = ((const xir_entry *)b)->key;
    return strcmp(x.data, y.data);
}

/* "to-xir.strict" for "onnx-to-xir.strict": a pass of several names is set under its first. */
static char *plain_key(const char *key, size_t size) {
    const char *dot = memchr(key, '.', size);
    const xir_pass_decl *pass = dot ? xir_pass_find(context, (xir_str){ key, (size_t)(dot - key) }) : NULL;
    text t = { 0 };
    if (pass) text_put(&t, pass->name);
    const size_t skipped = pass ? (size_t)(dot - key) : 0;
    text_add(&t, key + skipped, size - skipped);
    text_add(&t, "", 1);
    return t.data;
}

/* The last value of a key counts. */
static void set(const char *key, size_t size, const char *value) {
    char *copy = plain_key(key, size);
    size = strlen(copy);
    for (size_t i = 0; i < made.map.size; i++) {
        if (strcmp(made.entries[i].key.data, copy) != 0) continue;
        free((void *)(uintptr_t)made.entries[i].value.as.text.data);
        made.entries[i].value = xir_any_text(xir_str_of(join(value, "")));
        free(copy);
        return;
    }
    made.entries = resize(made.entries, (made.map.size + 1) * sizeof *made.entries);
    made.entries[made.map.size++] = (xir_entry){ { copy, size }, xir_any_text(xir_str_of(join(value, ""))) };
}

static bool set_words(void) {
    for (size_t i = 0; i < settings_args.set.n; i++) {
        const char *word = settings_args.set.items[i], *equals = strchr(word, '=');
        if (!equals || equals == word) {
            complain(MISUSED, "--set takes KEY=VALUE, not '%s'", word);
            return false;
        }
        set(word, (size_t)(equals - word), equals + 1);
    }
    return true;
}

/* ---- lists of names ------------------------------------------------------------------------------ */

static const char *const *ended(word_list *words) {
    if (!words->n) return NULL;
    words_add(words, NULL);
    words->n--;
    return words->items;
}

bool settings_of_line(xir_pass_settings *out) {
    settings_options *a = &settings_args;
    *out = XIR_INIT(xir_pass_settings, .verify = a->verify, .no_needs = a->no_needs, .dump_dir = a->dump_dir,
                                .disabled = ended(&a->disabled), .required = ended(&a->required));
    if (a->level && !(out->level = level_of(a->level))) {
        complain(MISUSED, "--level takes needed, exact, fast, max, or 1 to 4, not '%s'", a->level);
        return false;
    }
    text binds = { 0 }, shapes = { 0 };
    const bool good_words = set_words() && shapes_of_line(&shapes) && binds_of_line(&binds) &&
                            !check_consts();
    if (good_words && *binds.data) set("bind.dims", strlen("bind.dims"), binds.data);
    if (good_words && a->strict) set("to-xir.strict", strlen("to-xir.strict"), "true");
    if (good_words && *shapes.data) set("to-xir.input-shape", strlen("to-xir.input-shape"), shapes.data);
    text_free(&binds);
    text_free(&shapes);
    if (!good_words) return false;
    if (made.map.size) qsort(made.entries, made.map.size, sizeof *made.entries, by_key);
    made.map.entries = made.entries;
    out->config = made.map.size ? &made.map : NULL;
    xir_diags *why = new_diags();
    bool good = xir_pass_settings_check(context, out, why) == XIR_OK;
    say(why);
    xir_diags_free(why);
    return good;
}

void settings_free(xir_pass_settings *settings) {
    for (size_t i = 0; i < made.map.size; i++) {
        free((void *)(uintptr_t)made.entries[i].key.data);
        free((void *)(uintptr_t)made.entries[i].value.as.text.data);
    }
    free(made.entries);
    made = (config){ 0 };
    free((void *)settings_args.disabled.items);
    free((void *)settings_args.required.items);
    free((void *)settings_args.set.items);
    free((void *)shape_words.items);
    free((void *)bind_words.items);
    free((void *)const_words.items);
    *settings = XIR_INIT(xir_pass_settings);
}

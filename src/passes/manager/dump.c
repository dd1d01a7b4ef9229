/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The files that a run writes for people: the network after each pass, and, if a pass fails, the network before it and
 * the command that repeats the failure. The files are JSON with the parameters' bytes in a file next to them: they may
 * have any size and are readable without a tool. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <xir/plugin.h>
#include "manager/manager.h"
#include "number.h"

static const xir_save_options as_it_is = { .size = sizeof(xir_save_options), .unchecked = true };

/* ---- dumps --------------------------------------------------------------------------------------------------- */

xir_status manager_dump(const manager *m, const char *name) {
    const xir_allocator *alloc = &m->net->ctx->alloc;
    const char *folder = m->set->dump_dir;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return diag_fail(m->why, XIR_E_IO, XIR_STR(""),
                         "can't make the folder %s for dumps: %s", folder, strerror(errno));
    }
    size_t room = strlen(folder) + strlen(name) + 32;
    char *path = mem_new(alloc, room);
    if (!path) return diag_memory(m->why);
    snprintf(path, room, "%s/%02zu-%s.json", folder, m->runs, name);
    xir_status status = xir_network_save(m->net, path, &as_it_is, m->why);
    mem_free(alloc, path, room);
    return status;
}

/* ---- reproducers --------------------------------------------------------------------------------------------- */

/* Appends a word, quoted for the shell. */
static void put_word(buffer *out, xir_str word) {
    bool plain = word.size > 0;
    for (size_t i = 0; i < word.size && plain; i++) {
        char c = word.data[i];
        plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
            (c && strchr("-_./=:,+@%", c));
    }
    if (plain) {
        buffer_put(out, word.data, word.size);
        return;
    }
    buffer_char(out, '\'');
    for (size_t i = 0; i < word.size; i++) {
        if (word.data[i] == '\'') buffer_str(out, "'\\''");
        else buffer_char(out, word.data[i]);
    }
    buffer_char(out, '\'');
}

static void put_config(buffer *out, xir_context *ctx, const xir_map *config) {
    for (size_t i = 0; config && i < config->size; i++) {
        const xir_entry *entry = &config->entries[i];
        buffer setting;
        buffer_init(&setting, out->alloc);
        buffer_put(&setting, entry->key.data, entry->key.size);
        buffer_char(&setting, '=');
        xir_text_buffer json = { 0 };
        if (entry->value.kind == XIR_ANY_TEXT)
            buffer_put(&setting, entry->value.as.text.data, entry->value.as.text.size);
        else if (xir_any_print(ctx, &entry->value, 0, &json) == XIR_OK) buffer_put(&setting, json.data, json.size);
        else setting.failed = true;
        xir_text_free(&json);
        buffer_str(out, " --set ");
        put_word(out, (xir_str){ setting.data, setting.size });
        out->failed |= setting.failed;
        buffer_free(&setting);
    }
}

/* "xir opt before.json --passes fold --verify" */
static void put_command(buffer *out, const manager *m, const pipeline_step *s) {
    xir_context *ctx = m->net->ctx;
    xir_str name, path;
    buffer_str(out, "xir opt ");
    put_word(out, xir_str_of(m->set->reproduce));
    buffer_str(out, " --passes ");
    put_word(out, s->text);
    if (s->pass->needs && *s->pass->needs) buffer_str(out, " --no-needs");
    if (m->set->verify) buffer_str(out, " --verify");
    put_config(out, ctx, m->set->config);
    for (size_t i = 0; i < m->set->n_watches; i++) {
        if (!m->set->watches[i].options) continue;
        buffer_char(out, ' ');
        buffer_str(out, m->set->watches[i].options);
    }
    for (size_t i = 0; xir_context_plugin_at(ctx, i, &name, &path); i++) {
        buffer_str(out, " --plugin ");
        put_word(out, path);
    }
}

void manager_reproduce(const manager *m, const pipeline_step *s, xir_network *before) {
    xir_status status = xir_network_save(before, m->set->reproduce, &as_it_is, m->why);
    buffer command;
    buffer_init(&command, &m->net->ctx->alloc);
    if (!status) put_command(&command, m, s);
    if (status || command.failed) {
        xir_diags_add(m->why, XIR_NOTE, XIR_OK, XIR_STR(""), "the network before %s could not be kept in %s",
                      s->pass->name, m->set->reproduce);
    } else {
        xir_diags_add(m->why, XIR_NOTE, XIR_OK, XIR_STR(""),
                      "the network before %s is kept; this repeats the failure: %.*s",
                      s->pass->name, (int)command.size, command.data);
    }
    buffer_free(&command);
}

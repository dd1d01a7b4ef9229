/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* --dump-text: the network after each pass that changed it, as a text whose second line names the pass. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "opt.h"

bool dump_as_text;

/* Puts "// TEXT" after the first line of a file. */
static bool put_second_line(const char *path, xir_str words) {
    text t = { 0 };
    char piece[4096];
    FILE *f = fopen(path, "rb");
    bool begun = false;
    for (size_t n; f && (n = fread(piece, 1, sizeof piece, f)) > 0;) {
        const char *end = begun ? NULL : memchr(piece, '\n', n);
        const size_t head = end ? (size_t)(end + 1 - piece) : 0;
        text_add(&t, piece, head);
        if (end) text_put(&t, "// ");
        if (end) text_shown(&t, words);
        if (end) text_put(&t, "\n");
        text_add(&t, piece + head, n - head);
        begun |= end != NULL;
    }
    bool done = f && !ferror(f);
    if (f) fclose(f);
    f = done ? fopen(path, "wb") : NULL;
    done = f && fwrite(t.data, 1, t.size, f) == t.size;
    if (f && fclose(f)) done = false;
    text_free(&t);
    return done;
}

static xir_status dump(const char *folder, const xir_network *net, size_t run, const char *name, xir_str words,
                       xir_diags *why) {
    const xir_save_options how = XIR_INIT(xir_save_options, .format = "text", .unchecked = true);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return xir_diags_add(why, XIR_ERROR, XIR_E_IO, XIR_STR(""), "can't make the folder %s for dumps: %s", folder,
                             strerror(errno));
    }
    text path = { 0 };
    text_printf(&path, "%s/%02zu-%s.xir", folder, run, name);
    text_add(&path, "", 1);
    /* saving remembers checksums, and changes nothing */
    xir_status status = xir_network_save((xir_network *)(uintptr_t)net, path.data, &how, why);
    if (!status && words.size && !put_second_line(path.data, words)) {
        status = xir_diags_add(why, XIR_ERROR, XIR_E_IO, XIR_STR(""), "can't write %s: %s", path.data,
                               strerror(errno));
    }
    text_free(&path);
    return status;
}

static xir_status after(void *user, const xir_pass_event *e) {
    return e->changes ? dump(user, e->net, e->run, e->pass->name, e->text, e->why) : XIR_OK;
}

bool dump_of_line(xir_pass_settings *settings, xir_pass_watch *watch) {
    if (!dump_as_text || !settings->dump_dir) return false;
    char *folder = (char *)(uintptr_t)settings->dump_dir;
    settings->dump_dir = NULL;   /* else there would be JSON, too */
    *watch = XIR_INIT(xir_pass_watch, .after = after, .user = folder);
    return true;
}

int dump_start(const xir_network *net, const xir_pass_watch *watch) {
    xir_diags *why = new_diags();
    const xir_status status = dump(watch->user, net, 0, "start", XIR_STR(""), why);
    say(why);
    xir_diags_free(why);
    return exit_of_writing(status);
}

int dump_check_line(void) {
    if (!dump_as_text || settings_args.dump_dir) return DONE;
    return complain(MISUSED, "--dump-text is of --dump-dir, which names the folder");
}

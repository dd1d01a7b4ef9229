/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir opt --split DIR: each part of a divided network as a network of its own, "part0.fb" and so on, and index.json,
 * which says in which order they run and which values link them. A folder that holds other files is refused. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xir/cost.h>
#include <xir/division.h>
#include "opt.h"

/* "part12.fb", as this command writes it. */
static bool is_part(const char *name) {
    if (strncmp(name, "part", 4) != 0) return false;
    const size_t digits = strspn(name + 4, "0123456789");
    return digits && strcmp(name + 4 + digits, ".fb") == 0;
}

/* The folder exists afterwards, and holds nothing but files of an earlier split. */
static int check_folder(const char *dir) {
    if (mkdir(dir, 0777) == 0) return DONE;
    DIR *folder = errno == EEXIST ? opendir(dir) : NULL;
    if (!folder) return complain_of(REFUSED, dir, "cannot be made a folder: %s", strerror(errno));
    char other[256] = "";
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        const bool known = strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "index.json") == 0;
        if (!known && !is_part(name)) snprintf(other, sizeof other, "%s", name);
    }
    closedir(folder);
    return *other ? complain_of(REFUSED, dir, "the folder holds another file, %s: --split takes an empty one", other)
                  : DONE;
}

static void remove_old(const char *dir, size_t from) {
    for (;; from++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/part%zu.fb", dir, from);
        if (remove(path) != 0) return;
    }
}

/* ---- the index ----------------------------------------------------------------------------------- */

static uint64_t put_ports(json_out *j, const char *name, const xir_network *net,
                          size_t (*list)(const xir_network *, xir_value **, size_t)) {
    const size_t n = list(net, NULL, 0);
    xir_value **values = take(n + 1, sizeof *values);
    uint64_t sum = 0;
    list(net, values, n);
    json_open(j, name, '[');
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes = 0;
        json_open(j, NULL, '{');
        json_int(j, "value", xir_value_id(values[i]));
        json_str(j, "name", xir_value_name(values[i]));
        if (xir_value_type(values[i]) && xir_type_bytes(xir_value_type(values[i]), &bytes) == XIR_OK)
            json_uint(j, "bytes", bytes);
        else json_null(j, "bytes");
        json_close(j, '}');
        sum += bytes;
    }
    json_close(j, ']');
    free((void *)values);
    return sum;
}

static void put_part(json_out *j, size_t i, const xir_division_part *part) {
    char file[32];
    xir_cost known = XIR_INIT(xir_cost);
    snprintf(file, sizeof file, "part%zu.fb", i);
    json_open(j, NULL, '{');
    json_str(j, "file", xir_str_of(file));
    json_str(j, "target", xir_str_of(xir_target_row_of(part->target)->name));
    if (part->group < 0) json_null(j, "group");
    else json_int(j, "group", part->group);
    json_uint(j, "ops", part->ops);
    if (xir_network_cost(part->net, &known, NULL, NULL) == XIR_OK) json_uint(j, "multiply_adds", known.multiply_adds);
    else json_null(j, "multiply_adds");
    put_ports(j, "inputs", part->net, xir_network_inputs);
    put_ports(j, "outputs", part->net, xir_network_outputs);
    json_close(j, '}');
}

static int write_index(const char *dir, const xir_division *parts) {
    json_out j = { 0 };
    const xir_network *whole = xir_division_whole(parts);
    xir_division_part part = XIR_INIT(xir_division_part);
    json_open(&j, NULL, '{');
    json_str(&j, "name", xir_network_name(whole));
    put_ports(&j, "inputs", whole, xir_network_inputs);
    put_ports(&j, "outputs", whole, xir_network_outputs);
    json_open(&j, "parts", '[');
    for (size_t i = 0; xir_division_at(parts, i, &part) == XIR_OK; i++) put_part(&j, i, &part);
    json_close(&j, ']');
    json_close(&j, '}');
    text_put(&j.t, "\n");
    char *path = join(dir, "/index.json");
    const int code = write_whole(path, write_bytes, &j.t);
    text_free(&j.t);
    free(path);
    return code;
}

/* ---- the command --------------------------------------------------------------------------------- */

int split_network(const xir_network *net, const char *dir) {
    int code = check_folder(dir);
    if (code) return code;
    xir_diags *why = new_diags();
    xir_division *parts = xir_division_new(net, why);
    xir_division_part part = XIR_INIT(xir_division_part);
    xir_status status = parts ? XIR_OK : XIR_E_INVALID;
    size_t n = 0;
    for (; !status && xir_division_at(parts, n, &part) == XIR_OK; n++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/part%zu.fb", dir, n);
        status = xir_network_save(part.net, path, &XIR_INIT(xir_save_options, .format = "fb"), why);
    }
    say(why);
    xir_diags_free(why);
    code = exit_of(status);
    if (!code) code = write_index(dir, parts);
    if (!code) remove_old(dir, n);
    xir_division_free(parts);
    return code;
}

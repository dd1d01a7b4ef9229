#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "file.h"
#include "onnx/external.h"

/* ---- opening --------------------------------------------------------------------------------------------------- */

/* The kernel's struct open_how: kept here, since the header is younger than the call. */
typedef struct open_how_ { uint64_t flags, mode, resolve; } open_how_;
enum { NO_MAGIC_LINKS = 0x02, NO_SYMLINKS = 0x04, BENEATH = 0x08 };
/* Opening must not wait for the other end of a pipe. */
enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW };

const char *proto_external_refuses(xir_str location) {
    if (!location.size) return "it is empty";
    if (location.size >= 4096) return "it is too long";
    if (memchr(location.data, '\0', location.size)) return "a byte of it is 0";
    if (location.data[0] == '/') return "it begins at the root";
    for (size_t i = 0, n; i <= location.size; i += n + 1) {
        const char *part = location.data + i, *slash = i < location.size ? memchr(part, '/', location.size - i) : NULL;
        n = slash ? (size_t)(slash - part) : location.size - i;
        if (n == 2 && part[0] == '.' && part[1] == '.') return "it has a \"..\"";
    }
    return location.data[location.size - 1] == '/' ? "it ends with a slash" : NULL;
}

/* One folder after the other, none through a link. The file that was opened must be the one that has the name. */
static int open_by_steps(int folder, const char *location) {
    int at = folder;
    char part[256];
    for (;;) {
        const char *slash = strchr(location, '/');
        size_t n = slash ? (size_t)(slash - location) : strlen(location);
        int flags = slash ? O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW : FLAGS, next = -1, error = ENAMETOOLONG;
        if (n < sizeof part) {
            memcpy(part, location, n);
            part[n] = '\0';
            next = openat(at, n ? part : ".", flags);
            error = errno;
        }
        struct stat named, opened;
        if (next >= 0 && !slash && (fstatat(at, part, &named, AT_SYMLINK_NOFOLLOW) != 0 || fstat(next, &opened) != 0 ||
                                    named.st_dev != opened.st_dev || named.st_ino != opened.st_ino)) {
            (void)close(next);
            next = -1;
            error = ELOOP;
        }
        if (at != folder) (void)close(at);
        if (next < 0 || !slash) {
            errno = error;
            return next;
        }
        at = next;
        location = slash + 1;
    }
}

int proto_external_open(int folder, const char *location, bool by_steps) {
#ifdef SYS_openat2
    if (!by_steps) {
        open_how_ how = { .flags = FLAGS, .resolve = NO_MAGIC_LINKS | NO_SYMLINKS | BENEATH };
        int fd;
        do fd = (int)syscall(SYS_openat2, folder, location, &how, sizeof how);
        while (fd < 0 && (errno == EINTR || errno == EAGAIN));
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != E2BIG)) return fd;
    }
#else
    (void)by_steps;
#endif
    return open_by_steps(folder, location);
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

typedef struct external_file { xir_str location; proto_parts parts; } external_file;

struct proto_external {
    const xir_allocator *alloc;
    int            folder;
    external_file *files;
    size_t         n, room;
    uint32_t      *slots;       /* by location: a file's number + 1 */
    size_t         slot_room;
    uint64_t       seed;
};

/* The folder of the model, as the caller named it. */
static int open_folder(proto_reader *r) {
    const char *path = r->how->path, *slash = strrchr(path, '/');
    size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 1;
    char *folder = mem_new(r->alloc, n + 1);
    if (!folder) {
        trace_memory(&r->trace);
        return -1;
    }
    memcpy(folder, slash ? path : ".", n);
    folder[n] = '\0';
    int fd;
    do fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        trace_fail(&r->trace, XIR_E_IO, XIR_NO_BYTE, "cannot open the folder of the model, %s: %s", folder, strerror(errno));
    }
    mem_free(r->alloc, folder, n + 1);
    return fd;
}

static proto_external *open_external(proto_reader *r) {
    if (r->external) return r->external;
    int folder = open_folder(r);
    proto_external *e = folder >= 0 ? mem_new(r->alloc, sizeof *e) : NULL;
    if (!e) {
        if (folder >= 0) (void)close(folder);
        trace_memory(&r->trace);
        return NULL;
    }
    *e = (proto_external){ .alloc = r->alloc, .folder = folder, .seed = r->names.seed };
    return r->external = e;
}

void proto_external_free(proto_external *e) {
    if (!e) return;
    for (size_t i = 0; i < e->n; i++) {
        proto_parts_free(&e->files[i].parts);
        blob_release(e->files[i].parts.whole);
    }
    (void)close(e->folder);
    mem_free(e->alloc, e->files, e->room * sizeof *e->files);
    mem_free(e->alloc, e->slots, e->slot_room * sizeof *e->slots);
    mem_free(e->alloc, e, sizeof *e);
}

static uint32_t *slot_of(const proto_external *e, xir_str location) {
    uint64_t hash = name_hash(e->seed, location.data, location.size);
    size_t at = (size_t)(hash ^ hash >> 32) & (e->slot_room - 1);
    while (e->slots[at] && !xir_str_equal(e->files[e->slots[at] - 1].location, location)) at = (at + 1) & (e->slot_room - 1);
    return &e->slots[at];
}

static bool reserve(proto_external *e) {
    if (!mem_reserve(e->alloc, (void **)&e->files, &e->room, e->n + 1, sizeof *e->files)) return false;
    if (2 * (e->n + 1) <= e->slot_room) return true;
    size_t room = e->slot_room ? 2 * e->slot_room : 16;
    uint32_t *slots = mem_new(e->alloc, room * sizeof *slots);
    if (!slots) return false;
    memset(slots, 0, room * sizeof *slots);
    mem_free(e->alloc, e->slots, e->slot_room * sizeof *slots);
    e->slots = slots;
    e->slot_room = room;
    for (size_t i = 0; i < e->n; i++) *slot_of(e, e->files[i].location) = (uint32_t)i + 1;
    return true;
}

/* ---- what the model says --------------------------------------------------------------------------------------- */

typedef struct place {
    wire_bytes     location, offset, length, checksum;
    const uint8_t *at;
} place;

static bool refuse(proto_reader *r, const place *p, const proto_tensor *t, xir_status code, const char *why) {
    return PROTO_FAIL(r, p->at, code, "the external data of tensor '%.*s' in \"%.*s\": %s", CLIP(proto_str(t->name)),
                     CLIP(proto_str(p->location)), why);
}

/* What the kernel's answer means to who named the path: a rule was broken, or there is no such file. */
static bool refuse_open(proto_reader *r, const place *p, const proto_tensor *t, int error) {
    switch (error) {
    case ELOOP: return refuse(r, p, t, XIR_E_INVALID, "a part of the path is a symbolic link");
    case EXDEV: return refuse(r, p, t, XIR_E_INVALID, "the path leaves the model's folder");
    case ENXIO: return refuse(r, p, t, XIR_E_INVALID, "it is no regular file");
    default:    return refuse(r, p, t, XIR_E_IO, strerror(error));
    }
}

static bool check_file(proto_reader *r, const place *p, const proto_tensor *t, int fd) {
    struct stat st;
    if (fstat(fd, &st) != 0) return refuse(r, p, t, XIR_E_IO, strerror(errno));
    if (!S_ISREG(st.st_mode)) return refuse(r, p, t, XIR_E_INVALID, "it is no regular file");
    if (st.st_nlink > 1) return refuse(r, p, t, XIR_E_INVALID, "the file has other names (hard links)");
    return true;
}

/* All of the file, read or mapped. */
static blob *take_file(proto_reader *r, const char *location, int fd) {
    file_reader f;
    buffer path;
    blob *whole = NULL;
    const char *model = r->how->path, *slash = strrchr(model, '/');
    buffer_init(&path, r->alloc);
    if (slash) buffer_put(&path, model, (size_t)(slash - model) + 1);
    buffer_put(&path, location, strlen(location) + 1);
    if (path.failed) {
        (void)close(fd);
        trace_memory(&r->trace);
    } else if ((r->trace.status = file_reader_take(&f, r->ctx, fd, path.data, r->how->why)) == XIR_OK) {
        whole = !r->how->lazy ? file_reader_all(&f, r->ctx->limits.max_bytes) : r->how->watch ? file_reader_map_watched(&f)
                                                                                             : file_reader_map(&f);
        r->trace.status = f.status;
        file_reader_close(&f);
    }
    buffer_free(&path);
    return whole;
}

static blob *open_file(proto_reader *r, proto_external *e, const place *p, const proto_tensor *t) {
    xir_str location = proto_str(p->location);
    char text[4096];
    const char *why = proto_external_refuses(location);
    if (why) {
        refuse(r, p, t, XIR_E_INVALID, why);
        return NULL;
    }
    memcpy(text, location.data, location.size);
    text[location.size] = '\0';
    int fd = proto_external_open(e->folder, text, false);
    if (fd < 0) {
        refuse_open(r, p, t, errno);
        return NULL;
    }
    if (check_file(r, p, t, fd)) return take_file(r, text, fd);
    (void)close(fd);
    return NULL;
}

static external_file *find_file(proto_reader *r, const place *p, const proto_tensor *t) {
    proto_external *e = open_external(r);
    if (!e) return NULL;
    if (!reserve(e)) {
        trace_memory(&r->trace);
        return NULL;
    }
    uint32_t *slot = slot_of(e, proto_str(p->location));
    if (*slot) return &e->files[*slot - 1];
    blob *whole = open_file(r, e, p, t);
    if (!whole) return NULL;
    e->files[e->n] = (external_file){ proto_str(p->location), { .whole = whole } };
    *slot = (uint32_t)++e->n;
    return &e->files[e->n - 1];
}

static bool read_entry(proto_reader *r, wire_bytes message, place *p) {
    wire_bytes key = { 0 }, value = { 0 };
    wire_field f;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.number == 1) ok = PROTO_TEXT(r, &f, &key, "key");
        else if (f.number == 2) ok = PROTO_TEXT(r, &f, &value, "value");
    }
    if (!ok || !proto_end(r, &w)) return false;
    const struct { const char *key; wire_bytes *out; } known[] = {
        { "location", &p->location }, { "offset", &p->offset }, { "length", &p->length }, { "checksum", &p->checksum } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!xir_str_equal(proto_str(key), xir_str_of(known[i].key))) continue;
        if (known[i].out->at) return PROTO_FAIL(r, message.at, XIR_E_EXISTS, "%s is there twice", known[i].key);
        *known[i].out = value.at ? value : (wire_bytes){ message.at, 0 };
        return true;
    }
    return PROTO_FAIL(r, message.at, XIR_E_UNKNOWN,
                      "external data has no key \"%.*s\", but location, offset, length, checksum",
                     CLIP(proto_str(key)));
}

static bool read_place(proto_reader *r, const proto_tensor *t, place *p) {
    enum { EXTERNAL_DATA = 13 };
    *p = (place){ .at = t->whole.at };
    frame list = proto_enter(r, XIR_STR("external_data")), item = { .up = &list, .index = 0 };
    wire_field f;
    bool ok = true;
    for (wire w = wire_of(t->whole); ok && wire_next(&w, &f);) {
        if (f.number != EXTERNAL_DATA) continue;
        if (!PROTO_WANT(r, &f, WIRE_BYTES, "external_data")) return false;
        if (!item.index) p->at = f.at;
        r->trace.top = &item;
        ok = read_entry(r, f.bytes, p);
        r->trace.top = list.up;
        item.index++;
    }
    return ok && (p->location.at || PROTO_FAIL(r, p->at, XIR_E_MISSING, "the external data of tensor '%.*s' has no location",
                                              CLIP(proto_str(t->name))));
}

/* Digits and nothing else. */
static bool read_number(proto_reader *r, wire_bytes text, const char *what, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t digit = (uint8_t)(text.at[i] - '0');
        if (digit > 9) {
            return PROTO_FAIL(r, text.at, text.at[0] == '-' ? XIR_E_BOUNDS : XIR_E_SYNTAX,
                              "the %s \"%.*s\" is no number from 0 on", what,
                             CLIP(proto_str(text)));
        }
        if (!mul_u64(*out, 10, out) || !add_u64(*out, digit, out)) {
            return PROTO_FAIL(r, text.at, XIR_E_BOUNDS, "the %s \"%.*s\" is more than 2^64", what, CLIP(proto_str(text)));
        }
    }
    return text.size || PROTO_FAIL(r, text.at, XIR_E_SYNTAX, "the %s is empty", what);
}

static bool read_data(proto_reader *r, const proto_tensor *t, const place *p, const uint64_t *bytes, blob **out) {
    uint64_t offset = 0, length = 0;
    if (p->offset.at && !read_number(r, p->offset, "offset", &offset)) return false;
    if (p->length.at && !read_number(r, p->length, "length", &length)) return false;
    if (p->length.at && bytes && length != *bytes) {
        return PROTO_FAIL(r, p->length.at, XIR_E_CORRUPT,
                          "tensor '%.*s' has %" PRIu64 " bytes in \"%.*s\", its type takes %" PRIu64,
                         CLIP(proto_str(t->name)), length, CLIP(proto_str(p->location)), *bytes);
    }
    external_file *file = find_file(r, p, t);
    if (!file) return false;
    uint64_t size = file->parts.whole->size;
    if (!p->length.at) length = bytes ? *bytes : offset < size ? size - offset : 0;
    if (offset > size || length > size - offset) {
        return PROTO_FAIL(r, p->at, XIR_E_CORRUPT, "tensor '%.*s' takes %" PRIu64 " bytes of \"%.*s\" from %" PRIu64
                         " on, but the file ends at %" PRIu64, CLIP(proto_str(t->name)), length,
                         CLIP(proto_str(p->location)), offset, size);
    }
    return !length || (*out = proto_part(r, &file->parts, offset, length)) != NULL;
}

bool proto_external_data(proto_reader *r, const proto_tensor *t, const uint64_t *bytes, blob **out) {
    place p;
    if (!read_place(r, t, &p)) return false;
    PROTO_ENTER(r, at, "external_data");
    bool ok = false;
    if (t->has_raw || t->data) {
        PROTO_FAIL(r, p.at, XIR_E_EXISTS, "tensor '%.*s' has elements here and in another file", CLIP(proto_str(t->name)));
    } else if (t->element == 8) {
        PROTO_FAIL(r, p.at, XIR_E_TYPE, "tensor '%.*s' is of texts, which cannot be in another file",
                   CLIP(proto_str(t->name)));
    } else if (!r->how->path) {
        PROTO_FAIL(r, p.at, XIR_E_MISSING,
                   "tensor '%.*s' is in \"%.*s\", but there is no folder to look in: the model did not "
                  "come from a file", CLIP(proto_str(t->name)), CLIP(proto_str(p.location)));
    } else {
        ok = read_data(r, t, &p, bytes, out);
    }
    PROTO_LEAVE(r, at);
    return ok;
}

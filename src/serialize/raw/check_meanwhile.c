/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The thread hashes the header and the table of the raw file, which are in memory, and reads the payloads from the
 * file: what it reads is what is mapped. The first call that awaits the end of a comparison without a thread hashes by
 * itself, and may be cancelled; then the next one begins again. */
#include <time.h>
#include <xir/serialize.h>
#include "format.h"
#include "raw/check_meanwhile.h"
#include "task.h"

enum { BLOCK = 256 << 10, A_WHILE = 20 * 1000000 };    /* bytes; nanoseconds */

typedef struct checking {
    net_check       head;
    xir_allocator   alloc;
    blob           *whole, *keeper;   /* the mapping; the origin of its parts, or NULL: the file is hashed as a whole */
    buffer          start;            /* header and table of the raw file, if there is a keeper                       */
    char            said[MD5_DIGITS + 1], found[MD5_DIGITS + 1];
    uint8_t        *block;
    uint64_t        from, to;         /* of the file, in the block                                                    */
    pthread_t       thread;
    bool            threaded;
    pthread_mutex_t lock;
    pthread_cond_t  ended;
    bool            runs, done;       /* under the lock                                                               */
    atomic_bool     stops;
    xir_status      status;           /* once it is done: XIR_OK, XIR_E_MEMORY; XIR_E_IO: bytes are lost              */
} checking;

bool check_meanwhile_can(const blob *whole) { return whole->mapped && whole->watch && whole->size; }

/* ---- hashing ----------------------------------------------------------------------------------------------------- */

/* Hashes bytes of the file. Small parts that lie together are read together. */
static bool hash_range(checking *c, md5 *sum, uint64_t at, uint64_t size) {
    while (size && !atomic_load_explicit(&c->stops, memory_order_relaxed)) {
        if (at < c->from || at >= c->to) {
            const uint64_t left = c->whole->size - at, n = left < BLOCK ? left : BLOCK;
            c->from = c->to = 0;
            if (!blob_read(c->whole, at, c->block, (size_t)n)) return false;
            c->from = at;
            c->to = at + n;
        }
        const uint64_t n = c->to - at < size ? c->to - at : size;
        md5_add(sum, c->block + (at - c->from), (size_t)n);
        if (sum->failed) return true;    /* md5_end says why */
        at += n;
        size -= n;
    }
    return true;
}

static bool hash_all(checking *c, md5 *sum) {
    if (!c->keeper) return hash_range(c, sum, 0, c->whole->size);
    const raw_origin *from = (const raw_origin *)(const void *)c->keeper->bytes;
    const blob *parts = raw_origin_parts(c->keeper);
    bool on = true;
    md5_add(sum, c->start.data, c->start.size);
    for (size_t i = 0; i < from->n && on; i++)
        on = hash_range(c, sum, (uint64_t)(parts[i].bytes - c->whole->bytes), parts[i].size);
    return on;
}

static xir_status hash(checking *c, xir_diags *why) {
    md5 sum;
    xir_status status = md5_begin(&sum, why);
    if (status) return status;
    c->from = c->to = 0;
    const bool read = hash_all(c, &sum);
    status = md5_end(&sum, read ? c->found : NULL, why);
    return status ? status : read ? XIR_OK : XIR_E_IO;
}

static void *work(void *user) {
    checking *c = user;
    const xir_status status = hash(c, NULL);
    pthread_mutex_lock(&c->lock);
    c->status = status;
    c->done = true;
    pthread_cond_broadcast(&c->ended);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- the outcome ------------------------------------------------------------------------------------------------- */

static xir_status outcome(const checking *c, xir_diags *why) {
    const char *path = blob_path(c->whole);
    if (c->status == XIR_E_MEMORY) return diag_memory(why);
    if (c->status || !blob_is_there(c->whole))
        return file_fail(why, XIR_E_IO, path, XIR_NO_BYTE, "the file was changed while it was mapped");
    if (raw_digest_is(xir_str_of(c->said), c->found)) return XIR_OK;
    return file_fail(why, XIR_E_CORRUPT, path, XIR_NO_BYTE,
                     "the MD5 of the parameters is %s, but params_md5 of the network is %s", c->found, c->said);
}

/* Hashes on this thread. The lock is held at both ends, not meanwhile. */
static xir_status hash_here(checking *c, xir_diags *why) {
    c->runs = true;
    pthread_mutex_unlock(&c->lock);
    const xir_status status = hash(c, why);
    const bool cancelled = task_is_cancelled();
    pthread_mutex_lock(&c->lock);
    c->runs = false;
    c->done = !cancelled && status != XIR_E_MEMORY;
    c->status = status;
    pthread_cond_broadcast(&c->ended);
    return c->done ? XIR_OK : status;
}

/* Waits a while for another thread. The lock is held at both ends, and not while the caller is asked. */
static xir_status wait_a_while(checking *c, xir_diags *why) {
    struct timespec until;
    if (clock_gettime(CLOCK_REALTIME, &until)) until = (struct timespec){ 0 };
    until.tv_nsec += A_WHILE;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
    (void)pthread_cond_timedwait(&c->ended, &c->lock, &until);
    pthread_mutex_unlock(&c->lock);
    const bool on = task_worked(TASK_EACH);
    pthread_mutex_lock(&c->lock);
    return on ? XIR_OK : task_fail(why);
}

static xir_status await(net_check *head, xir_diags *why) {
    checking *c = (checking *)head;
    xir_status status = XIR_OK;
    pthread_mutex_lock(&c->lock);
    while (!c->done && !status) status = c->threaded || c->runs ? wait_a_while(c, why) : hash_here(c, why);
    pthread_mutex_unlock(&c->lock);
    return status ? status : outcome(c, why);
}

/* ---- beginning and ending ---------------------------------------------------------------------------------------- */

static void drop(net_check *head) {
    checking *c = (checking *)head;
    const xir_allocator alloc = c->alloc;
    atomic_store(&c->stops, true);
    if (c->threaded) pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->ended);
    pthread_mutex_destroy(&c->lock);
    buffer_free(&c->start);
    mem_free(&alloc, c->block, BLOCK);
    blob_release(c->keeper);
    blob_release(c->whole);
    mem_free(&alloc, c, sizeof *c);
}

static bool gather(void *user, const void *data, size_t size) {
    buffer_put(user, data, size);
    return !((const buffer *)user)->failed;
}

static checking *prepare(xir_network *net, blob *whole) {
    checking *c = mem_new(&net->alloc, sizeof *c);
    if (!c) return NULL;
    memset((void *)c, 0, sizeof *c);
    c->head = (net_check){ .await = await, .drop = drop };
    atomic_init(&c->head.references, 1);
    atomic_init(&c->stops, false);
    c->alloc = net->alloc;
    c->whole = whole;
    blob_retain(whole);
    buffer_init(&c->start, &c->alloc);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->ended, NULL);
    memcpy(c->said, net->text[XIR_TEXT_PARAMS_MD5].data, MD5_DIGITS);
    c->block = mem_new(&c->alloc, BLOCK);
    return c;
}

/* Starts the thread, and gives the comparison to the network. If there is no MD5, that is known at once. */
static xir_status begin(xir_network *net, checking *c, xir_diags *why) {
    md5 any;
    const bool made = c && c->block && !c->start.failed;
    xir_status status = made ? md5_begin(&any, why) : diag_memory(why);
    if (made && !status) status = md5_end(&any, NULL, why);
    if (status) {
        if (c) drop(&c->head);
        return status;
    }
    c->threaded = c->whole->size >= meanwhile_least && meanwhile_make_thread(&c->thread, work, c);
    net_check_release(net->check);
    net->check = &c->head;
    return XIR_OK;
}

xir_status check_meanwhile_file(xir_network *net, blob *whole, xir_diags *why) {
    return begin(net, prepare(net, whole), why);
}

xir_status check_meanwhile_parts(xir_network *net, blob *whole, blob *keeper, xir_diags *why) {
    raw_listing l = { 0 };
    const xir_status planned = raw_plan(&l, net, "", NULL);
    checking *c = planned ? NULL : prepare(net, whole);
    if (c) (void)raw_put_table(&l, gather, &c->start);
    if (c) blob_retain(keeper);
    if (c) c->keeper = keeper;
    raw_list_free(&l);
    if (planned && planned != XIR_E_MEMORY) return XIR_OK;    /* no raw file can hold them, so it has no MD5 */
    return begin(net, c, why);
}

xir_status xir_network_verified(const xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    return net->check ? net->check->await(net->check, why) : XIR_OK;
}

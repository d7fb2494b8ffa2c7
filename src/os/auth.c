/* SPDX-License-Identifier: Apache-2.0 */
/* MUNGE credentials by libmunge; see auth.h. */
#include "os/auth.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <munge.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/proc.h"

void auth_info_done(struct auth_info *info) {
    free(info->payload);
    *info = (struct auth_info) {0};
}

static void context_cleanup(munge_ctx_t *ctx) {
    if (*ctx)
        munge_ctx_destroy(*ctx);
}

static munge_ctx_t context_new(const char *socket) {
    munge_ctx_t ctx = munge_ctx_create();
    if (!ctx)
        abort(); /* out of memory, as xmalloc */
    if (socket)
        munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket);
    return ctx;
}

/* libmunge's own text is more exact than that of the code. Its memory goes with the next call for
 * the same context, hence the copy. */
static char *context_detail(munge_ctx_t ctx, munge_err_t r) {
    const char *detail = munge_ctx_strerror(ctx);
    return xstrdup(detail ? detail : munge_strerror(r));
}

/* The default path is known only to libmunge. */
static const char *context_socket(munge_ctx_t ctx) {
    const char *path = NULL;
    if (munge_ctx_get(ctx, MUNGE_OPT_SOCKET, &path) != EMUNGE_SUCCESS || !path)
        path = "its default socket";
    return path;
}

static void time_text(int64_t seconds, char *ret, size_t size) {
    time_t when = (time_t) seconds;
    struct tm parts;
    if (!localtime_r(&when, &parts) || !strftime(ret, size, "%Y-%m-%dT%H:%M:%S", &parts))
        *ret = '\0';
}

static int socket_error(munge_ctx_t ctx, munge_err_t r, const char *what, struct error *err) {
    cleanup_free char *detail = context_detail(ctx, r);
    return error_set(err, ERR_AUTH,
                     "%s: munged does not answer at %s (%s); start it with `systemctl start munge` "
                     "or set AuthInfo=socket= to the path it uses",
                     what, context_socket(ctx), detail);
}

/* ---- making one ----
 *
 * libmunge waits for a munged that is gone for two seconds and for one that hangs for ten, and its
 * patience cannot be set. So it is called in a thread, and when no answer comes soon we look what
 * munged does; the thread is then left to end by itself. */

#define LOOK_MSEC 300 /* without an answer: look */
#define LOOKS_GONE 3  /* in a row: it is not just being restarted */

struct encode {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_finished, is_abandoned;
    char *socket, *payload; /* the caller may be gone when the thread needs them */
    size_t size;
    uid_t restrict_uid;
    unsigned ttl_sec;
    char *cred;
    int result;
    struct error err;
};

static void encode_free(struct encode *encode) {
    pthread_mutex_destroy(&encode->lock);
    pthread_cond_destroy(&encode->changed);
    free(encode->socket);
    free(encode->payload);
    free(encode->cred);
    free(encode);
}

static void encode_call(struct encode *encode) {
    struct error *err = &encode->err;
    cleanup(context_cleanup) munge_ctx_t ctx = context_new(encode->socket);
    munge_ctx_set(ctx, MUNGE_OPT_ZIP_TYPE, (int) MUNGE_ZIP_NONE); /* keys do not compress */
    if (encode->restrict_uid != AUTH_ANY_UID)
        munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, encode->restrict_uid);
    if (encode->ttl_sec)
        munge_ctx_set(ctx, MUNGE_OPT_TTL, (int) encode->ttl_sec);
    munge_err_t r = munge_encode(&encode->cred, ctx, encode->payload, (int) encode->size);
    if (r == EMUNGE_SOCKET || r == EMUNGE_TIMEOUT) {
        encode->result = socket_error(ctx, r, "Munge encode failed", err);
    } else if (r != EMUNGE_SUCCESS) {
        cleanup_free char *detail = context_detail(ctx, r);
        encode->result = error_set(err, ERR_AUTH, "Munge encode failed: %s (munged at %s)", detail,
                                   context_socket(ctx));
    }
}

static void *encode_thread(void *context) {
    struct encode *encode = context;
    encode_call(encode);
    pthread_mutex_lock(&encode->lock);
    encode->is_finished = true;
    bool is_ours = encode->is_abandoned;
    pthread_cond_signal(&encode->changed);
    pthread_mutex_unlock(&encode->lock);
    if (is_ours)
        encode_free(encode);
    return NULL;
}

/* What munged does: the process that listens at the socket, 0 when nobody does, -1 unknown. */
static pid_t munged_pid(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer;
    socklen_t size = sizeof(peer);
    cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
        return -1;
    strcpy(address.sun_path, path);
    if (connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0)
        return errno == ENOENT || errno == ECONNREFUSED ? 0 : -1;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : -1;
}

static bool process_is_stopped(pid_t pid) {
    struct proc_stat stat;
    return proc_stat_read(pid, &stat) && (stat.state == 'T' || stat.state == 't');
}

/* No answer for a while: is there a reason to give up? */
static int encode_look(const struct encode *encode, pid_t *pid, unsigned *gone, struct error *err) {
    cleanup(context_cleanup) munge_ctx_t ctx = context_new(encode->socket);
    const char *path = context_socket(ctx);
    if (*pid <= 0) /* once: every look is a connection to munged */
        *pid = munged_pid(path);
    *gone = *pid == 0 ? *gone + 1 : 0;
    if (*gone >= LOOKS_GONE)
        return error_set(err, ERR_AUTH,
                         "Munge encode failed: munged does not answer at %s (nobody listens "
                         "there); start it with `systemctl start munge` or set AuthInfo=socket= to "
                         "the path it uses",
                         path);
    if (*pid > 0 && process_is_stopped(*pid))
        return error_set(err, ERR_AUTH,
                         "Munge encode failed: munged does not answer at %s (process %d is "
                         "stopped); let it go on with `kill -CONT %d`, or start it anew with "
                         "`systemctl restart munge`",
                         path, (int) *pid, (int) *pid);
    return 0;
}

/* True when the thread is done within the time. Called with the lock. */
static bool encode_wait(struct encode *encode, unsigned msec) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long) msec * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!encode->is_finished)
        if (pthread_cond_timedwait(&encode->changed, &encode->lock, &until) == ETIMEDOUT)
            break;
    return encode->is_finished;
}

static int encode_watch(struct encode *encode, char **ret_cred, struct error *err) {
    pid_t pid = -1;
    unsigned gone = 0;
    int r = 0;
    pthread_mutex_lock(&encode->lock);
    while (r == 0 && !encode_wait(encode, LOOK_MSEC))
        r = encode_look(encode, &pid, &gone, err);
    bool is_finished = encode->is_finished;
    encode->is_abandoned = !is_finished;
    pthread_mutex_unlock(&encode->lock);
    if (!is_finished)
        return r; /* the thread frees it */
    r = encode->result;
    if (r == 0)
        *ret_cred = take(encode->cred);
    else if (err)
        *err = encode->err;
    encode_free(encode);
    return r;
}

int auth_encode(const char *socket, struct bytes payload, uid_t restrict_uid, unsigned ttl_sec,
                char **ret_cred, struct error *err) {
    assert(ret_cred && payload.size <= INT32_MAX);
    struct encode *encode = zalloc(struct encode);
    pthread_mutex_init(&encode->lock, NULL);
    pthread_cond_init(&encode->changed, NULL);
    encode->socket = xstrdup_null(socket);
    encode->payload = payload.size ? xmemdup(payload.data, payload.size) : NULL;
    encode->size = payload.size;
    encode->restrict_uid = restrict_uid;
    encode->ttl_sec = ttl_sec;
    pthread_t thread;
    if (pthread_create(&thread, NULL, encode_thread, encode) == 0)
        pthread_detach(thread);
    else
        encode_thread(encode); /* out of threads: with libmunge's own patience */
    return encode_watch(encode, ret_cred, err);
}

/* ---- reading one ---- */

/* Expired and rewound: two clocks disagree, or the credential really is old. */
static int clock_error(munge_ctx_t ctx, munge_err_t r, struct error *err) {
    time_t encoded = 0, decoded = 0;
    int ttl = 0;
    munge_ctx_get(ctx, MUNGE_OPT_ENCODE_TIME, &encoded);
    munge_ctx_get(ctx, MUNGE_OPT_DECODE_TIME, &decoded);
    munge_ctx_get(ctx, MUNGE_OPT_TTL, &ttl);
    char encoded_text[64], decoded_text[64];
    time_text(encoded, encoded_text, sizeof(encoded_text));
    time_text(decoded, decoded_text, sizeof(decoded_text));
    int64_t skew = (int64_t) decoded - (int64_t) encoded;
    return error_set(err, ERR_AUTH,
                     "Munge decode failed: %s: made at %s by the sender's clock, read at %s by "
                     "ours, %" PRId64 " s %s, and %d s are allowed; set both clocks by NTP (see "
                     "`chronyc tracking` or `timedatectl` on both hosts)",
                     munge_strerror(r), encoded_text, decoded_text, skew < 0 ? -skew : skew,
                     skew < 0 ? "ahead" : "ago", ttl);
}

static int decode_error(munge_ctx_t ctx, munge_err_t r, struct error *err) {
    switch (r) {
    case EMUNGE_SOCKET:
    case EMUNGE_TIMEOUT:
        return socket_error(ctx, r, "Munge decode failed", err);
    case EMUNGE_CRED_EXPIRED:
    case EMUNGE_CRED_REWOUND:
        return clock_error(ctx, r, err);
    case EMUNGE_CRED_INVALID:
        return error_set(err, ERR_AUTH,
                         "Munge decode failed: Invalid credential: it was made with another key; "
                         "copy the same munge.key to both hosts (compare `sha256sum "
                         "/etc/munge/munge.key`) and restart munged");
    case EMUNGE_CRED_UNAUTHORIZED:
        return error_set(err, ERR_AUTH,
                         "Munge decode failed: Unauthorized credential decode: it was made for "
                         "another user than the one that runs this process; check that SlurmUser "
                         "and SlurmdUser are the same in slurm.conf on both hosts");
    default: {
        cleanup_free char *detail = context_detail(ctx, r);
        return error_set(err, ERR_AUTH, "Munge decode failed: %s (munged at %s)", detail,
                         context_socket(ctx));
    }
    }
}

int auth_decode(const char *socket, const char *cred, struct auth_info *ret, struct error *err) {
    assert(cred && ret);
    cleanup(context_cleanup) munge_ctx_t ctx = context_new(socket);
    void *payload = NULL;
    int size = 0;
    uid_t uid = AUTH_ANY_UID;
    gid_t gid = (gid_t) -1;
    munge_err_t r = munge_decode(cred, ctx, &payload, &size, &uid, &gid);
    if (r != EMUNGE_SUCCESS && r != EMUNGE_CRED_REPLAYED) {
        free(payload);
        return decode_error(ctx, r, err);
    }
    time_t encoded = 0, decoded = 0;
    struct in_addr addr = {0};
    munge_ctx_get(ctx, MUNGE_OPT_ENCODE_TIME, &encoded);
    munge_ctx_get(ctx, MUNGE_OPT_DECODE_TIME, &decoded);
    munge_ctx_get(ctx, MUNGE_OPT_ADDR4, &addr);
    *ret = (struct auth_info) {
        .uid = uid,
        .gid = gid,
        .encode_time = encoded,
        .decode_time = decoded,
        .addr = addr.s_addr,
        .is_replayed = r == EMUNGE_CRED_REPLAYED,
        .payload = payload,
        .payload_size = size > 0 ? (size_t) size : 0,
    };
    return 0;
}

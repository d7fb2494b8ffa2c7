/* SPDX-License-Identifier: Apache-2.0 */
/* MUNGE credentials by libmunge; see auth.h. */
#include "os/auth.h"

#include <assert.h>
#include <inttypes.h>
#include <munge.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"

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

int auth_encode(const char *socket, struct bytes payload, uid_t restrict_uid, unsigned ttl_sec,
                char **ret_cred, struct error *err) {
    assert(ret_cred && payload.size <= INT32_MAX);
    cleanup(context_cleanup) munge_ctx_t ctx = context_new(socket);
    munge_ctx_set(ctx, MUNGE_OPT_ZIP_TYPE, (int) MUNGE_ZIP_NONE); /* keys do not compress */
    if (restrict_uid != AUTH_ANY_UID)
        munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, restrict_uid);
    if (ttl_sec)
        munge_ctx_set(ctx, MUNGE_OPT_TTL, (int) ttl_sec);
    char *cred = NULL;
    munge_err_t r = munge_encode(&cred, ctx, payload.data, (int) payload.size);
    if (r == EMUNGE_SOCKET || r == EMUNGE_TIMEOUT)
        return socket_error(ctx, r, "Munge encode failed", err);
    if (r != EMUNGE_SUCCESS) {
        cleanup_free char *detail = context_detail(ctx, r);
        return error_set(err, ERR_AUTH, "Munge encode failed: %s (munged at %s)", detail,
                         context_socket(ctx));
    }
    *ret_cred = cred;
    return 0;
}

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

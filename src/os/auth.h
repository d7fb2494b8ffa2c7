/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUNGE credentials: who made these bytes, on which host, when. Both calls talk to munged and block
 * (0.1 ms, seconds when munged hangs): a daemon makes them by loop_work(). Every failure names the
 * cause and the cure; a decoding failure begins with "Munge decode failed".
 */
#ifndef SLUICE_OS_AUTH_H
#define SLUICE_OS_AUTH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

#define AUTH_ANY_UID ((uid_t) -1)

struct auth_info {
    uid_t uid;
    gid_t gid;
    int64_t encode_time; /* seconds, by the clock of the host that made it */
    int64_t decode_time; /* seconds, by our clock */
    uint32_t addr;       /* IPv4 address of that host, network order, as munged there knows it */
    bool is_replayed;    /* decoded here before: the caller decides whether that matters */
    uint8_t *payload;    /* NUL-terminated behind payload_size bytes; NULL when empty */
    size_t payload_size;
};
void auth_info_done(struct auth_info *info);

/* socket: path of munged's socket, NULL = libmunge's default. restrict_uid: the only user, besides
 * nobody, whose processes may decode it (AUTH_ANY_UID = all). ttl_sec 0 = munged's default (300).
 * *ret_cred is text, freed by the caller. ERR_AUTH. */
must_check int auth_encode(const char *socket, struct bytes payload, uid_t restrict_uid,
                           unsigned ttl_sec, char **ret_cred, struct error *err);
/* A replayed credential is a success with is_replayed set. ERR_AUTH. */
must_check int auth_decode(const char *socket, const char *cred, struct auth_info *ret,
                           struct error *err);

#endif

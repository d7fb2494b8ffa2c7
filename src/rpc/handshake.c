/* SPDX-License-Identifier: Apache-2.0 */
/* Key agreement over MUNGE credentials; see handshake.h. */
#include "rpc/handshake.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "os/auth.h"

#define HELLO_MAGIC "SLUICE"
#define HELLO_MAGIC_SIZE 6
#define HELLO_VERSION 1
#define HELLO_HEADER (HELLO_MAGIC_SIZE + 2) /* magic, version, role */
#define HELLO_PURPOSE "sluice channel 1"
#define PURPOSE_SIZE 16
#define PAYLOAD_SIZE (PURPOSE_SIZE + 1 + crypto_kx_PUBLICKEYBYTES)

int handshake_make(const char *munge_socket, enum handshake_role role,
                   struct handshake_key *ret_key, char **ret_cred, struct error *err) {
    if (sodium_init() < 0)
        return error_set(err, ERR_SYSTEM, "libsodium finds no source of randomness");
    struct handshake_key key;
    crypto_kx_keypair(key.public_key, key.secret_key);
    uint8_t payload[PAYLOAD_SIZE];
    memcpy(payload, HELLO_PURPOSE, PURPOSE_SIZE);
    payload[PURPOSE_SIZE] = (uint8_t) role;
    memcpy(payload + PURPOSE_SIZE + 1, key.public_key, sizeof(key.public_key));
    int r = auth_encode(munge_socket, (struct bytes) {payload, sizeof(payload)}, AUTH_ANY_UID, 0,
                        ret_cred, err);
    if (r == 0)
        *ret_key = key;
    sodium_memzero(&key, sizeof(key));
    return r;
}

int handshake_check(const char *munge_socket, enum handshake_role role, const char *cred,
                    struct handshake_claim *ret, struct error *err) {
    cleanup(auth_info_done) struct auth_info info = {0};
    int r = auth_decode(munge_socket, cred, &info, err);
    if (r < 0)
        return r;
    /* A server's credential serves many connections, a client's only one. */
    if (info.is_replayed && role == ROLE_CLIENT)
        return error_set(err, ERR_AUTH,
                         "Munge decode failed: Replayed credential: somebody sent "
                         "a recorded one again");
    if (info.payload_size != PAYLOAD_SIZE || memcmp(info.payload, HELLO_PURPOSE, PURPOSE_SIZE) ||
        info.payload[PURPOSE_SIZE] != (uint8_t) role)
        return error_set(err, ERR_AUTH, "the credential was made for another purpose");
    ret->uid = info.uid;
    ret->gid = info.gid;
    memcpy(ret->public_key, info.payload + PURPOSE_SIZE + 1, sizeof(ret->public_key));
    return 0;
}

void handshake_hello(struct frame_out *out, enum handshake_role role, const char *cred) {
    size_t size = strlen(cred);
    uint8_t *at = frame_out_add(out, HELLO_HEADER + size);
    memcpy(at, HELLO_MAGIC, HELLO_MAGIC_SIZE);
    at[HELLO_MAGIC_SIZE] = HELLO_VERSION;
    at[HELLO_MAGIC_SIZE + 1] = (uint8_t) role;
    memcpy(at + HELLO_HEADER, cred, size);
}

int handshake_read_hello(struct bytes frame, enum handshake_role role, char **ret_cred,
                         struct error *err) {
    if (frame.size <= HELLO_HEADER || memcmp(frame.data, HELLO_MAGIC, HELLO_MAGIC_SIZE) != 0)
        return error_set(err, ERR_PROTOCOL,
                         "the other end does not speak this protocol: host and port belong to "
                         "another program, or to a daemon of Slurm itself");
    uint8_t version = frame.data[HELLO_MAGIC_SIZE];
    if (version != HELLO_VERSION)
        return error_set(err, ERR_VERSION,
                         "the other end speaks version %u of the protocol and this program version "
                         "%u: upgrade the older of the two",
                         version, HELLO_VERSION);
    if (frame.data[HELLO_MAGIC_SIZE + 1] != (uint8_t) role)
        return error_set(err, ERR_PROTOCOL, "the other end has the wrong role");
    struct bytes cred = {frame.data + HELLO_HEADER, frame.size - HELLO_HEADER};
    if (memchr(cred.data, '\0', cred.size))
        return error_set(err, ERR_PROTOCOL, "the credential contains a NUL byte");
    *ret_cred = xstrndup((const char *) cred.data, cred.size);
    return 0;
}

int handshake_accept(enum handshake_role own_role, const struct handshake_key *own,
                     const struct handshake_claim *peer, struct channel *channel,
                     struct frame_out *out, struct error *err) {
    static_assert(crypto_kx_SESSIONKEYBYTES == CHANNEL_KEY_BYTES, "one key serves both");
    uint8_t receive_key[CHANNEL_KEY_BYTES], send_key[CHANNEL_KEY_BYTES];
    int r = own_role == ROLE_CLIENT
                ? crypto_kx_client_session_keys(receive_key, send_key, own->public_key,
                                                own->secret_key, peer->public_key)
                : crypto_kx_server_session_keys(receive_key, send_key, own->public_key,
                                                own->secret_key, peer->public_key);
    if (r != 0)
        return error_set(err, ERR_AUTH, "the peer's public key is not acceptable");
    uint8_t *at = frame_out_add(out, 1 + CHANNEL_HEADER_BYTES);
    at[0] = 'A';
    channel_send_start(channel, send_key, receive_key, at + 1);
    sodium_memzero(receive_key, sizeof(receive_key));
    sodium_memzero(send_key, sizeof(send_key));
    return 0;
}

void handshake_refuse(struct frame_out *out, const char *why) {
    size_t size = min_of(strlen(why), (size_t) HANDSHAKE_REFUSAL_MAX);
    uint8_t *at = frame_out_add(out, 1 + size);
    at[0] = 'R';
    memcpy(at + 1, why, size);
}

int handshake_read_verdict(struct bytes frame, struct channel *channel, struct error *err) {
    if (frame.size == 1 + CHANNEL_HEADER_BYTES && frame.data[0] == 'A')
        return channel_receive_start(channel, frame.data + 1, err);
    if (frame.size < 1 || frame.size > 1 + HANDSHAKE_REFUSAL_MAX || frame.data[0] != 'R')
        return error_set(err, ERR_PROTOCOL, "the other end answered the handshake with nonsense");
    /* Not authenticated: it is shown, nothing else, and only if it is text. */
    cleanup_free char *text = xstrndup((const char *) frame.data + 1, frame.size - 1);
    return error_set(err, ERR_AUTH, "the other end refused the connection: %s",
                     str_is_printable_utf8(text) ? text : "(unreadable reason)");
}

int handshake_check_server(const struct handshake_claim *claim, uid_t server_uid, const char *peer,
                           struct error *err) {
    if (claim->uid == 0 || claim->uid == server_uid)
        return 0;
    return error_set(err, ERR_AUTH,
                     "the program at %s runs as uid %u, but root or uid %u was expected there: "
                     "another user listens on that port, or SlurmUser differs between the hosts",
                     peer, (unsigned) claim->uid, (unsigned) server_uid);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How two processes come to share keys. Each sends one hello and one verdict:
 *
 *   hello    "SLUICE" version role credential      role: 'C' dials, 'S' answers
 *   verdict  'A' header of its secretstream        accepted; encrypted frames follow
 *            'R' text                              refused, and why (the peer prints it)
 *
 * A credential's payload is HELLO_PURPOSE, the role and the sender's ephemeral public key: whoever
 * copies it can do nothing without the secret key, and a client's cannot pass for a server's.
 * Everything here works on bytes; the two calls that talk to munged block and say so.
 */
#ifndef SLUICE_RPC_HANDSHAKE_H
#define SLUICE_RPC_HANDSHAKE_H

#include <sodium.h>
#include <stdint.h>

#include "os/frame.h"
#include "rpc/channel.h"
#include "rpc/rpc.h"

#define HANDSHAKE_FRAME_MAX (8u << 10) /* all that an unauthenticated peer can send at once */
#define HANDSHAKE_USEC 10000000u       /* from connect or accept to the last verdict */
#define HANDSHAKE_REFUSAL_MAX 900      /* bytes of text */

enum handshake_role { ROLE_CLIENT = 'C', ROLE_SERVER = 'S' };

struct handshake_key {
    uint8_t public_key[crypto_kx_PUBLICKEYBYTES];
    uint8_t secret_key[crypto_kx_SECRETKEYBYTES];
};

/* What the other side has proved. */
struct handshake_claim {
    uid_t uid;
    gid_t gid;
    uint8_t public_key[crypto_kx_PUBLICKEYBYTES];
};

/* Blocks. Makes a new key and a credential for it. */
must_check int handshake_make(const char *munge_socket, enum handshake_role role,
                              struct handshake_key *ret_key, char **ret_cred, struct error *err);
/* Blocks. Checks a credential from a hello; `role` is the one that the peer must have. */
must_check int handshake_check(const char *munge_socket, enum handshake_role role, const char *cred,
                               struct handshake_claim *ret, struct error *err);

void handshake_hello(struct frame_out *out, enum handshake_role role, const char *cred);
/* *ret_cred is the caller's (free). */
must_check int handshake_read_hello(struct bytes frame, enum handshake_role role, char **ret_cred,
                                    struct error *err);
/* Derives both keys and queues the accepting verdict; the channel can send from now on. */
must_check int handshake_accept(enum handshake_role own_role, const struct handshake_key *own,
                                const struct handshake_claim *peer, struct channel *channel,
                                struct frame_out *out, struct error *err);
void handshake_refuse(struct frame_out *out, const char *why);
/* The channel can receive from now on; ERR_AUTH when the peer refused. */
must_check int handshake_read_verdict(struct bytes frame, struct channel *channel,
                                      struct error *err);

/* The answering side must run as root or as server_uid. */
must_check int handshake_check_server(const struct handshake_claim *claim, uid_t server_uid,
                                      const char *peer, struct error *err);

#endif

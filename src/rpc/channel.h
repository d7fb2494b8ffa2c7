/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encrypted half of a connection: messages in, secretstream frames out, and back. Knows no
 * sockets. A message is cut in chunks of CHUNK_MAX bytes so that a large one is encrypted, sent and
 * checked piece by piece; its first chunk starts with a header of 12 bytes: type (16 bits), flags
 * (16), sequence number (32), length of the body (32), all big endian.
 */
#ifndef SLUICE_RPC_CHANNEL_H
#define SLUICE_RPC_CHANNEL_H

#include <sodium.h>
#include <stdbool.h>

#include "base/str.h"
#include "os/frame.h"
#include "rpc/rpc.h"

#define CHUNK_MAX (64u << 10)
#define CHANNEL_FRAME_MAX (CHUNK_MAX + crypto_secretstream_xchacha20poly1305_ABYTES)
#define CHANNEL_HEADER_BYTES crypto_secretstream_xchacha20poly1305_HEADERBYTES
#define CHANNEL_KEY_BYTES crypto_secretstream_xchacha20poly1305_KEYBYTES

struct channel {
    bool can_send;    /* keys are there and our stream header has been made */
    bool can_receive; /* the peer's stream header has come */
    uint8_t receive_key[CHANNEL_KEY_BYTES];
    crypto_secretstream_xchacha20poly1305_state send, receive;
    struct str message; /* header and body of the message being received */
    size_t expected;    /* its whole size, 0 before its first chunk */
};

void channel_done(struct channel *channel); /* wipes the keys */
/* Starts sending with send_key; ret_header goes to the peer before any frame. receive_key waits
 * for channel_receive_start(). */
void channel_send_start(struct channel *channel, const uint8_t send_key[CHANNEL_KEY_BYTES],
                        const uint8_t receive_key[CHANNEL_KEY_BYTES],
                        uint8_t ret_header[CHANNEL_HEADER_BYTES]);
must_check int channel_receive_start(struct channel *channel,
                                     const uint8_t header[CHANNEL_HEADER_BYTES], struct error *err);
/* Encrypts one message into the queue. body.size <= RPC_FRAME_MAX. */
void channel_seal(struct channel *channel, struct frame_out *out, uint16_t type, uint16_t flags,
                  uint32_t seq, struct bytes body);
/* Takes one frame. 1 = *ret is a complete message (body valid until the next call), 0 = it goes on
 * in the next frame; ERR_PROTOCOL. */
must_check int channel_open(struct channel *channel, struct bytes frame, struct rpc_message *ret,
                            struct error *err);
/* Gives the memory of the last message back; call when idle. */
void channel_trim(struct channel *channel);

#endif

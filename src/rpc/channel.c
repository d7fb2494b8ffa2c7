/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to secretstream frames and back; see channel.h. */
#include "rpc/channel.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

#define MESSAGE_HEADER 12
#define SEAL_BYTES crypto_secretstream_xchacha20poly1305_ABYTES
#define KEEP_BYTES 4096 /* a receive buffer up to this stays between messages */

void channel_done(struct channel *channel) {
    str_done(&channel->message);
    sodium_memzero(channel, sizeof(*channel));
}

void channel_send_start(struct channel *channel, const uint8_t send_key[CHANNEL_KEY_BYTES],
                        const uint8_t receive_key[CHANNEL_KEY_BYTES],
                        uint8_t ret_header[CHANNEL_HEADER_BYTES]) {
    crypto_secretstream_xchacha20poly1305_init_push(&channel->send, ret_header, send_key);
    memcpy(channel->receive_key, receive_key, CHANNEL_KEY_BYTES);
    channel->can_send = true;
}

int channel_receive_start(struct channel *channel, const uint8_t header[CHANNEL_HEADER_BYTES],
                          struct error *err) {
    int r = crypto_secretstream_xchacha20poly1305_init_pull(&channel->receive, header,
                                                            channel->receive_key);
    sodium_memzero(channel->receive_key, sizeof(channel->receive_key));
    if (r != 0)
        return error_set(err, ERR_PROTOCOL, "the peer's stream header is not valid");
    channel->can_receive = true;
    return 0;
}

/* ---- sending ---- */

static void seal_chunk(struct channel *channel, struct frame_out *out, const uint8_t *plain,
                       size_t size) {
    uint8_t *sealed = frame_out_add(out, size + SEAL_BYTES);
    crypto_secretstream_xchacha20poly1305_push(&channel->send, sealed, NULL, plain, size, NULL, 0,
                                               crypto_secretstream_xchacha20poly1305_TAG_MESSAGE);
}

void channel_seal(struct channel *channel, struct frame_out *out, uint16_t type, uint16_t flags,
                  uint32_t seq, struct bytes body) {
    assert(channel->can_send && body.size <= RPC_FRAME_MAX);
    /* Only the first chunk is put together; the others are encrypted where they lie. */
    uint8_t small[1024];
    size_t first = min_of(body.size, (size_t) CHUNK_MAX - MESSAGE_HEADER);
    uint8_t *plain =
        MESSAGE_HEADER + first <= sizeof(small) ? small : xmalloc(MESSAGE_HEADER + first);
    put_u16(plain, type);
    put_u16(plain + 2, flags);
    put_u32(plain + 4, seq);
    put_u32(plain + 8, (uint32_t) body.size);
    if (first > 0)
        memcpy(plain + MESSAGE_HEADER, body.data, first);
    seal_chunk(channel, out, plain, MESSAGE_HEADER + first);
    if (plain != small)
        free(plain);
    for (size_t at = first; at < body.size; at += CHUNK_MAX)
        seal_chunk(channel, out, body.data + at, min_of(body.size - at, (size_t) CHUNK_MAX));
}

/* ---- receiving ---- */

void channel_trim(struct channel *channel) {
    if (channel->expected == 0 && channel->message.capacity > KEEP_BYTES)
        str_done(&channel->message);
}

/* Decrypts to the end of the message buffer. */
static int open_chunk(struct channel *channel, struct bytes frame, struct error *err) {
    if (frame.size < SEAL_BYTES)
        return error_set(err, ERR_PROTOCOL, "a frame is shorter than its seal");
    size_t size = frame.size - SEAL_BYTES;
    struct str *message = &channel->message;
    str_reserve(message, size);
    unsigned char tag;
    if (crypto_secretstream_xchacha20poly1305_pull(
            &channel->receive, (unsigned char *) message->data + message->length, NULL, &tag,
            frame.data, frame.size, NULL, 0) != 0)
        return error_set(err, ERR_PROTOCOL,
                         "a frame fails its integrity check: it was changed on the way");
    message->length += size;
    return 0;
}

static int start_message(struct channel *channel, struct error *err) {
    const struct str *message = &channel->message;
    if (message->length < MESSAGE_HEADER)
        return error_set(err, ERR_PROTOCOL, "a message is shorter than its header");
    uint32_t body = get_u32((const uint8_t *) message->data + 8);
    if (body > RPC_FRAME_MAX)
        return error_set(err, ERR_LIMIT, "a message of %u bytes is above the limit of %u", body,
                         RPC_FRAME_MAX);
    channel->expected = MESSAGE_HEADER + (size_t) body;
    return 0;
}

int channel_open(struct channel *channel, struct bytes frame, struct rpc_message *ret,
                 struct error *err) {
    assert(channel->can_receive);
    struct str *message = &channel->message;
    bool is_first = channel->expected == 0;
    if (is_first)
        str_reset(message);
    size_t before = message->length;
    int r = open_chunk(channel, frame, err);
    if (r == 0 && is_first)
        r = start_message(channel, err);
    if (r < 0)
        return r;
    /* Chunks are full but for the last: no peer can make us work on crumbs. */
    size_t chunk = message->length - before;
    if (chunk != min_of(channel->expected - before, (size_t) CHUNK_MAX))
        return error_set(err, ERR_PROTOCOL, "a chunk has %zu bytes, not what its message announced",
                         chunk);
    if (message->length < channel->expected)
        return 0;
    const uint8_t *data = (const uint8_t *) message->data;
    *ret = (struct rpc_message) {
        .type = get_u16(data),
        .flags = get_u16(data + 2),
        .seq = get_u32(data + 4),
        .body = {.data = data + MESSAGE_HEADER, .size = channel->expected - MESSAGE_HEADER},
    };
    channel->expected = 0;
    return 1;
}

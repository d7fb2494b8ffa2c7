/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an unauthenticated peer, and then an authenticated one, can send: cut frames, hellos,
 * verdicts, sealed chunks, a handed-over state. The first byte of the input chooses the parser, the
 * second how the stream is cut.
 */
#include <sodium.h>

#include "base/alloc.h"
#include "fuzz.h"
#include "os/frame.h"
#include "rpc/channel.h"
#include "rpc/handshake.h"

static void fuzz_frames(const uint8_t *data, size_t size, size_t step) {
    struct frame_in in;
    frame_in_init(&in, 4096);
    for (size_t at = 0; at < size;) {
        size_t n = min_of(step, size - at);
        frame_in_feed(&in, (struct bytes) {data + at, n});
        at += n;
        struct error err = ERROR_INIT;
        struct bytes frame;
        int r;
        while ((r = frame_in_next(&in, &frame, &err)) == 1)
            require(frame.size <= 4096);
        if (r < 0)
            break;
        require(frame_in_rest(&in).size <= 4096 + FRAME_HEADER + n);
    }
    frame_in_done(&in);
}

static void fuzz_hello(const uint8_t *data, size_t size) {
    struct error err = ERROR_INIT;
    char *cred = NULL;
    if (handshake_read_hello((struct bytes) {data, size}, ROLE_CLIENT, &cred, &err) == 0)
        require(strlen(cred) + 8 == size);
    free(cred);
}

static void fuzz_verdict(const uint8_t *data, size_t size) {
    struct channel channel = {0};
    struct error err = ERROR_INIT;
    int r = handshake_read_verdict((struct bytes) {data, size}, &channel, &err);
    require((r == 0) == channel.can_receive);
    channel_done(&channel);
}

/* A sender with the right key and a will of its own: each chunk is a length and plain bytes. */
static void fuzz_chunks(const uint8_t *data, size_t size) {
    static const uint8_t key[CHANNEL_KEY_BYTES] = {1};
    crypto_secretstream_xchacha20poly1305_state sender;
    uint8_t header[CHANNEL_HEADER_BYTES];
    struct channel channel = {0};
    struct error err = ERROR_INIT;
    crypto_secretstream_xchacha20poly1305_init_push(&sender, header, key);
    memcpy(channel.receive_key, key, sizeof(key));
    require(channel_receive_start(&channel, header, &err) == 0);
    int r = 0;
    while (r >= 0 && size >= 2) {
        size_t n = (size_t) (data[0] << 8 | data[1]);
        data += 2;
        size -= 2;
        n = min_of(n, size);
        uint8_t *sealed = xmalloc(n + crypto_secretstream_xchacha20poly1305_ABYTES);
        crypto_secretstream_xchacha20poly1305_push(&sender, sealed, NULL, data, n, NULL, 0, 0);
        struct rpc_message message;
        r = channel_open(&channel,
                         (struct bytes) {sealed, n + crypto_secretstream_xchacha20poly1305_ABYTES},
                         &message, &err);
        require(r != 1 || message.body.size + 12 <= channel.message.length);
        /* Memory follows what was sent, not what was announced. */
        require(channel.message.capacity <= 4u << 20);
        free(sealed);
        data += n;
        size -= n;
    }
    channel_done(&channel);
}

static void fuzz_sealed(const uint8_t *data, size_t size) {
    struct channel channel = {0};
    struct rpc_message message;
    struct error err = ERROR_INIT;
    static const uint8_t header[CHANNEL_HEADER_BYTES];
    require(channel_receive_start(&channel, header, &err) == 0);
    /* Nobody guesses a seal. */
    require(channel_open(&channel, (struct bytes) {data, size}, &message, &err) < 0);
    channel_done(&channel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    require(sodium_init() >= 0);
    if (size < 2)
        return 0;
    uint8_t which = data[0], step = data[1];
    data += 2;
    size -= 2;
    switch (which % 5) {
    case 0:
        fuzz_frames(data, size, (size_t) step + 1);
        break;
    case 1:
        fuzz_hello(data, size);
        break;
    case 2:
        fuzz_verdict(data, size);
        break;
    case 3:
        fuzz_chunks(data, size);
        break;
    default:
        fuzz_sealed(data, size);
    }
    return 0;
}

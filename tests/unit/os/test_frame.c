/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/str.h"
#include "os/frame.h"

static void pair(int fds[2]) {
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
}

static void flush_all(struct frame_out *out, int fd) {
    struct error err = ERROR_INIT;
    assert_int_equal(frame_out_flush(out, fd, &err), 0);
}

TEST(frames_arrive_whole_however_the_stream_is_cut) {
    struct frame_out out;
    struct frame_in in;
    frame_out_init(&out);
    frame_in_init(&in, 1000);
    frame_out_append(&out, (struct bytes) {(const uint8_t *) "first", 5});
    frame_out_append(&out, (struct bytes) {NULL, 0});
    frame_out_append(&out, (struct bytes) {(const uint8_t *) "third frame", 11});
    cleanup_str struct str stream = STR_INIT, got = STR_INIT;
    frame_out_copy(&out, &stream);
    struct error err = ERROR_INIT;
    for (size_t i = 0; i < stream.length; i++) {
        frame_in_feed(&in, (struct bytes) {(const uint8_t *) stream.data + i, 1});
        struct bytes frame;
        int r;
        while ((r = frame_in_next(&in, &frame, &err)) == 1) {
            str_append_bytes(&got, frame.data, frame.size);
            str_append(&got, "|");
        }
        assert_int_equal(r, 0);
    }
    assert_string_equal(str_cstr(&got), "first||third frame|");
    assert_int_equal(frame_in_rest(&in).size, 0);
    frame_in_done(&in);
    frame_out_done(&out);
}

TEST(a_frame_above_the_limit_is_refused_before_it_is_read) {
    struct frame_in in;
    frame_in_init(&in, 1000);
    frame_in_feed(&in, (struct bytes) {(const uint8_t *) "\0\0\x03\xe9", 4}); /* 1001 */
    struct error err = ERROR_INIT;
    struct bytes frame;
    assert_int_equal(frame_in_next(&in, &frame, &err), -ERR_PROTOCOL);
    assert_non_null(strstr(err.text, "1001 bytes"));
    frame_in_done(&in);
}

TEST(a_reader_never_holds_more_than_one_small_frame_when_its_limit_is_small) {
    int fds[2];
    pair(fds);
    struct frame_in in;
    frame_in_init(&in, 100);
    uint8_t junk[4000];
    memset(junk, 0, sizeof(junk));
    junk[3] = 100;
    assert_int_equal(write(fds[0], junk, sizeof(junk)), sizeof(junk));
    struct error err = ERROR_INIT;
    assert_int_equal(frame_in_read(&in, fds[1], &err), 1);
    assert_true(in.capacity <= 104);
    frame_in_done(&in);
    close(fds[0]);
    close(fds[1]);
}

TEST(many_frames_pass_a_socket_with_a_small_buffer_in_order) {
    int fds[2];
    pair(fds);
    int small = 4096;
    setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    struct frame_out out;
    struct frame_in in;
    frame_out_init(&out);
    frame_in_init(&in, 300000);
    struct rng rng;
    rng_seed(&rng, 1);
    size_t sent_bytes = 0;
    for (uint32_t i = 0; i < 300; i++) {
        size_t size = 4 + rng_below(&rng, i % 50 == 0 ? 200000 : 300);
        uint8_t *at = frame_out_add(&out, size);
        memset(at, (int) (i & 0xff), size);
        memcpy(at, &i, 4);
        sent_bytes += size + FRAME_HEADER;
    }
    assert_int_equal(out.queued, sent_bytes);
    uint32_t expected = 0;
    struct error err = ERROR_INIT;
    int w = 1;
    while (expected < 300) {
        if (w == 1)
            w = frame_out_flush(&out, fds[0], &err);
        assert_true(w >= 0);
        assert_true(frame_in_read(&in, fds[1], &err) >= 0);
        struct bytes frame;
        int r;
        while ((r = frame_in_next(&in, &frame, &err)) == 1) {
            uint32_t number;
            memcpy(&number, frame.data, 4);
            assert_int_equal(number, expected++);
            assert_int_equal(frame.size > 4 ? frame.data[frame.size - 1] : number & 0xff,
                             number & 0xff);
        }
        assert_int_equal(r, 0);
    }
    assert_int_equal(out.queued, 0);
    frame_in_done(&in);
    frame_out_done(&out);
    close(fds[0]);
    close(fds[1]);
}

TEST(the_end_of_the_stream_within_a_frame_is_told_apart) {
    int fds[2];
    pair(fds);
    struct frame_in in;
    frame_in_init(&in, 100);
    assert_int_equal(write(fds[0], "\0\0\0\x09half", 8), 8);
    close(fds[0]);
    struct error err = ERROR_INIT;
    assert_int_equal(frame_in_read(&in, fds[1], &err), 1);
    assert_int_equal(frame_in_read(&in, fds[1], &err), -ERR_CLOSED);
    assert_non_null(strstr(err.text, "within a message"));
    frame_in_done(&in);
    close(fds[1]);
}

TEST(writing_to_a_closed_peer_is_an_error_and_not_a_signal) {
    int fds[2];
    pair(fds);
    close(fds[1]);
    struct frame_out out;
    frame_out_init(&out);
    frame_out_append(&out, (struct bytes) {(const uint8_t *) "x", 1});
    struct error err = ERROR_INIT;
    assert_int_equal(frame_out_flush(&out, fds[0], &err), -ERR_CLOSED);
    frame_out_done(&out);
    close(fds[0]);
}

TEST(descriptors_arrive_with_their_frames_in_order) {
    int fds[2], a[2], b[2];
    pair(fds);
    assert_int_equal(pipe(a), 0);
    assert_int_equal(pipe(b), 0);
    struct frame_out out;
    struct frame_in in;
    frame_out_init(&out);
    frame_in_init(&in, 100);
    in.takes_fds = true;
    frame_out_append(&out, (struct bytes) {(const uint8_t *) "plain", 5});
    frame_out_append_fds(&out, (struct bytes) {(const uint8_t *) "a", 1}, &a[1], 1);
    frame_out_append_fds(&out, (struct bytes) {(const uint8_t *) "b", 1}, &b[1], 1);
    flush_all(&out, fds[0]);
    cleanup_str struct str got = STR_INIT;
    struct error err = ERROR_INIT;
    struct bytes frame;
    while (frame_in_read(&in, fds[1], &err) == 1)
        while (frame_in_next(&in, &frame, &err) == 1)
            str_append_bytes(&got, frame.data, frame.size);
    assert_string_equal(str_cstr(&got), "plainab");
    for (int i = 0; i < 2; i++) {
        int fd = frame_in_take_fd(&in);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, i == 0 ? "A" : "B", 1), 1);
        close(fd);
    }
    char c[2];
    assert_int_equal(read(a[0], &c[0], 1), 1);
    assert_int_equal(read(b[0], &c[1], 1), 1);
    assert_memory_equal(c, "AB", 2);
    assert_int_equal(frame_in_take_fd(&in), -1);
    /* Ours were closed after sending: the read end sees the end now. */
    assert_int_equal(read(a[0], &c[0], 1), 0);
    frame_in_done(&in);
    frame_out_done(&out);
    int rest[] = {fds[0], fds[1], a[0], b[0]};
    for (size_t i = 0; i < countof(rest); i++)
        close(rest[i]);
}

TEST(an_idle_pair_holds_no_memory) {
    int fds[2];
    pair(fds);
    struct frame_out out;
    struct frame_in in;
    frame_out_init(&out);
    frame_in_init(&in, 1000);
    struct error err = ERROR_INIT;
    frame_out_append(&out, (struct bytes) {(const uint8_t *) "x", 1});
    flush_all(&out, fds[0]);
    assert_int_equal(frame_in_read(&in, fds[1], &err), 1);
    struct bytes frame;
    assert_int_equal(frame_in_next(&in, &frame, &err), 1);
    assert_int_equal(frame_in_next(&in, &frame, &err), 0);
    assert_null(in.data);
    assert_true(list_is_empty(&out.blocks));
    close(fds[0]);
    close(fds[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_arrive_whole_however_the_stream_is_cut),
        cmocka_unit_test(a_frame_above_the_limit_is_refused_before_it_is_read),
        cmocka_unit_test(a_reader_never_holds_more_than_one_small_frame_when_its_limit_is_small),
        cmocka_unit_test(many_frames_pass_a_socket_with_a_small_buffer_in_order),
        cmocka_unit_test(the_end_of_the_stream_within_a_frame_is_told_apart),
        cmocka_unit_test(writing_to_a_closed_peer_is_an_error_and_not_a_signal),
        cmocka_unit_test(descriptors_arrive_with_their_frames_in_order),
        cmocka_unit_test(an_idle_pair_holds_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

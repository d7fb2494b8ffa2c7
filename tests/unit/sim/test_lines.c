/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of plain and packed text, whole and damaged. */
#include "sim/lines.h"

#include <fcntl.h>
#include <lzma.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/str.h"
#include "unit.h"

static void pack_gzip(const char *text, struct str *out) {
    z_stream stream = {0};
    uint8_t packed[200000];
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (uint8_t *) (uintptr_t) text;
    stream.avail_in = (uInt) strlen(text);
    stream.next_out = packed;
    stream.avail_out = sizeof(packed);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    str_append_bytes(out, packed, sizeof(packed) - stream.avail_out);
    deflateEnd(&stream);
}

static void pack_xz(const char *text, struct str *out) {
    uint8_t packed[200000];
    size_t size = 0;
    assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (const uint8_t *) text,
                                             strlen(text), packed, &size, sizeof(packed)),
                     LZMA_OK);
    str_append_bytes(out, packed, size);
}

/* All lines with a '/' behind each; -code of an error. */
static int read_all(struct bytes bytes, struct str *out, struct error *err) {
    struct lines *lines = lines_of_bytes(bytes, "sample");
    char *line;
    int r;
    while ((r = lines_next(lines, &line, err)) > 0)
        str_printf(out, "%s/", line);
    lines_close(lines);
    return r;
}

static void reads_as(const struct str *text, const char *expected) {
    cleanup_str struct str out = STR_INIT;
    struct error err = ERROR_INIT;
    if (read_all(str_bytes(text), &out, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(str_cstr(&out), expected);
}

static void fails_with(struct bytes bytes, const char *words) {
    cleanup_str struct str out = STR_INIT;
    struct error err = ERROR_INIT;
    assert_true(read_all(bytes, &out, &err) < 0);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" has no \"%s\"", err.text, words);
}

TEST(plain_lines_lose_their_breaks_of_either_kind) {
    cleanup_str struct str text = STR_INIT;
    str_append(&text, "one\ntwo\r\n\nlast");
    reads_as(&text, "one/two//last/");
}

TEST(nothing_has_no_lines) {
    struct str text = STR_INIT;
    reads_as(&text, "");
}

TEST(gzip_and_xz_are_known_by_their_first_bytes) {
    cleanup_str struct str gzip = STR_INIT, xz = STR_INIT;
    pack_gzip("one\ntwo\n", &gzip);
    pack_xz("one\ntwo\n", &xz);
    reads_as(&gzip, "one/two/");
    reads_as(&xz, "one/two/");
}

TEST(packed_members_in_one_file_follow_each_other) {
    cleanup_str struct str gzip = STR_INIT, xz = STR_INIT;
    pack_gzip("one\ntw", &gzip);
    pack_gzip("o\n", &gzip);
    pack_xz("one\ntw", &xz);
    pack_xz("o\n", &xz);
    reads_as(&gzip, "one/two/");
    reads_as(&xz, "one/two/");
}

TEST(packed_data_that_is_cut_off_or_damaged_is_said_so) {
    cleanup_str struct str gzip = STR_INIT, xz = STR_INIT;
    const char *text = "a line that is packed\nand another one, longer than it\n";
    pack_gzip(text, &gzip);
    pack_xz(text, &xz);
    for (size_t size = 12; size < gzip.length; size++)
        fails_with((struct bytes) {(const uint8_t *) gzip.data, size}, "the gzip data behind line");
    for (size_t size = 12; size < xz.length; size++)
        fails_with((struct bytes) {(const uint8_t *) xz.data, size}, "is cut off");
    gzip.data[gzip.length / 2] ^= 0x55;
    xz.data[xz.length / 2] ^= 0x55;
    fails_with(str_bytes(&gzip), "is damaged");
    fails_with(str_bytes(&xz), "is damaged");
    str_append(&gzip, "junk behind it");
    fails_with(str_bytes(&gzip), "is damaged");
}

TEST(a_line_without_end_is_refused_before_it_fills_the_memory) {
    cleanup_str struct str text = STR_INIT, packed = STR_INIT;
    str_append(&text, "short\n");
    str_append_fill(&text, 'x', LINES_LENGTH_MAX);
    reads_as(&(struct str) {text.data, 20, 0}, "short/xxxxxxxxxxxxxx/");
    str_append(&text, "x\n");
    fails_with(str_bytes(&text), "sample:2: the line is longer than");
    pack_gzip(text.data, &packed);
    fails_with(str_bytes(&packed), "sample:2: the line is longer than");
}

TEST(bytes_that_are_no_text_are_refused_with_their_line) {
    fails_with((struct bytes) {(const uint8_t *) "a\nb\0c\n", 6}, "sample:2: the line is no text");
}

TEST(a_file_that_is_not_there_is_named) {
    struct lines *lines;
    struct error err = ERROR_INIT;
    assert_int_equal(lines_open("/nonexistent/trace", &lines, &err), -ERR_SYSTEM);
    assert_non_null(strstr(err.text, "/nonexistent/trace"));
}

TEST(a_directory_cannot_be_read) {
    struct lines *lines;
    struct error err = ERROR_INIT;
    char *line;
    assert_int_equal(lines_open("/", &lines, &err), 0);
    assert_true(lines_next(lines, &line, &err) < 0);
    assert_non_null(strstr(err.text, "cannot read /"));
    lines_close(lines);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lines_lose_their_breaks_of_either_kind),
        cmocka_unit_test(nothing_has_no_lines),
        cmocka_unit_test(gzip_and_xz_are_known_by_their_first_bytes),
        cmocka_unit_test(packed_members_in_one_file_follow_each_other),
        cmocka_unit_test(packed_data_that_is_cut_off_or_damaged_is_said_so),
        cmocka_unit_test(a_line_without_end_is_refused_before_it_fills_the_memory),
        cmocka_unit_test(bytes_that_are_no_text_are_refused_with_their_line),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
        cmocka_unit_test(a_directory_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Displays, authority files and greetings of X11. */
#include "cli/x11.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "unit.h"

/* "path" or "host:port" and the number; "no" for what cannot be read. */
static const char *display(const char *text) {
    static struct str out;
    struct x11_display display;

    str_reset(&out);
    if (!x11_display_parse(text, &display))
        return "no";
    if (display.path)
        str_printf(&out, "%s %u", display.path, display.number);
    else
        str_printf(&out, "%s:%u %u", display.host, display.port, display.number);
    free(display.path);
    free(display.host);
    return out.data;
}

TEST(displays_are_sockets_or_ports) {
    assert_string_equal(display(":0"), "/tmp/.X11-unix/X0 0");
    assert_string_equal(display(":12.1"), "/tmp/.X11-unix/X12 12");
    assert_string_equal(display("unix:3"), "/tmp/.X11-unix/X3 3");
    assert_string_equal(display("localhost:10.0"), "localhost:6010 10");
    assert_string_equal(display("::1:2"), "::1:6002 2");
    assert_string_equal(display(""), "no");
    assert_string_equal(display("host"), "no");
    assert_string_equal(display(":x"), "no");
    assert_string_equal(display(":60000"), "no");
}

static void put(struct str *file, unsigned family, const char *address, const char *number,
                const char *name, char fill) {
    char cookie[X11_COOKIE_BYTES];
    const char *texts[] = {address, number, name};

    memset(cookie, fill, sizeof(cookie));
    str_append_char(file, (char) (family >> 8));
    str_append_char(file, (char) family);
    for (int i = 0; i < 3; i++) {
        str_append_char(file, 0);
        str_append_char(file, (char) strlen(texts[i]));
        str_append(file, texts[i]);
    }
    str_append_char(file, 0);
    str_append_char(file, X11_COOKIE_BYTES);
    str_append_bytes(file, cookie, sizeof(cookie));
}

/* The first byte of the cookie that is found; 0 = none. */
static char found(const struct str *file, unsigned number) {
    uint8_t cookie[X11_COOKIE_BYTES] = {0};
    return x11_cookie_find(file, "here", number, cookie) ? (char) cookie[15] : 0;
}

TEST(the_cookie_of_this_host_comes_before_others_of_the_same_number) {
    cleanup_str struct str file = STR_INIT;
    put(&file, 256, "here", "1", "XDM-AUTHORIZATION-1", 'x');
    put(&file, 0, "abcd", "1", X11_COOKIE_NAME, 'a');
    put(&file, 256, "here", "2", X11_COOKIE_NAME, 'b');
    put(&file, 256, "here", "1", X11_COOKIE_NAME, 'c');
    assert_int_equal(found(&file, 1), 'c');
    assert_int_equal(found(&file, 2), 'b');
    assert_int_equal(found(&file, 3), 0);
    put(&file, 65535, "", "", X11_COOKIE_NAME, 'd');
    assert_int_equal(found(&file, 3), 'd');
}

TEST(an_authority_file_that_is_cut_off_gives_what_stands_before) {
    cleanup_str struct str file = STR_INIT;
    put(&file, 256, "here", "1", X11_COOKIE_NAME, 'c');
    for (size_t length = 0; length < file.length; length++) {
        struct str part = {file.data, length, 0};
        assert_int_equal(found(&part, 1), 0);
    }
    str_append(&file, "\1\1\1");
    assert_int_equal(found(&file, 1), 'c');
}

static void greet(struct str *text, char order, char fill) {
    static const char little[] = "l\0\0\0\0\0\22\0\20\0\0\0", big[] = "B\0\0\0\0\0\0\22\0\20\0\0";
    char cookie[X11_COOKIE_BYTES];

    memset(cookie, fill, sizeof(cookie));
    str_reset(text);
    str_append_bytes(text, order == 'l' ? little : big, 12);
    str_append_bytes(text, X11_COOKIE_NAME "\0\0", 20);
    str_append_bytes(text, cookie, sizeof(cookie));
}

TEST(a_greeting_that_shows_the_cookie_gets_the_true_one_in_its_place) {
    cleanup_str struct str text = STR_INIT;
    uint8_t shown[X11_COOKIE_BYTES], ours[X11_COOKIE_BYTES];
    memset(shown, 's', sizeof(shown));
    memset(ours, 'o', sizeof(ours));
    for (const char *order = "lB"; *order; order++) {
        greet(&text, *order, 's');
        str_append(&text, "more");
        assert_int_equal(x11_greeting_translate(&text, shown, ours), 1);
        assert_memory_equal(text.data + 32, "oooooooooooooooomore", 20);
        greet(&text, *order, 't');
        assert_int_equal(x11_greeting_translate(&text, shown, ours), -ERR_AUTH);
        greet(&text, *order, 's');
        for (text.length = 0; text.length < 48; text.length++)
            assert_int_equal(x11_greeting_translate(&text, shown, ours), 0);
    }
    str_reset(&text);
    str_append(&text, "GET / HTTP/1.0");
    assert_int_equal(x11_greeting_translate(&text, shown, ours), -ERR_PROTOCOL);
    greet(&text, 'l', 's');
    text.data[6] = 0; /* without a cookie */
    assert_int_equal(x11_greeting_translate(&text, shown, ours), -ERR_AUTH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(displays_are_sockets_or_ports),
        cmocka_unit_test(the_cookie_of_this_host_comes_before_others_of_the_same_number),
        cmocka_unit_test(an_authority_file_that_is_cut_off_gives_what_stands_before),
        cmocka_unit_test(a_greeting_that_shows_the_cookie_gets_the_true_one_in_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

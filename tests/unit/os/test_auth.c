/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "munged.h"
#include "os/auth.h"

static struct munged ours, theirs;
static bool is_there;

static int start(void **state) {
    is_there = munged_start(&ours) == 0 && munged_start(&theirs) == 0;
    return 0;
}

static int stop(void **state) {
    munged_stop(&ours);
    munged_stop(&theirs);
    return 0;
}

static char *encode(const struct munged *munged, const char *text, unsigned ttl_sec) {
    char *cred = NULL;
    struct error err = ERROR_INIT;
    struct bytes payload = {(const uint8_t *) text, strlen(text)};
    assert_int_equal(auth_encode(munged->socket, payload, AUTH_ANY_UID, ttl_sec, &cred, &err), 0);
    return cred;
}

TEST(a_credential_tells_who_made_it_and_carries_its_payload) {
    NEED(is_there);
    cleanup_free char *cred = encode(&ours, "hello", 0);
    cleanup(auth_info_done) struct auth_info info = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(auth_decode(ours.socket, cred, &info, &err), 0);
    assert_int_equal(info.uid, geteuid());
    assert_int_equal(info.gid, getegid());
    assert_int_equal(info.payload_size, 5);
    assert_memory_equal(info.payload, "hello", 5);
    assert_false(info.is_replayed);
    assert_true(info.decode_time - info.encode_time <= 1);
}

TEST(a_credential_decoded_twice_is_marked_as_replayed) {
    NEED(is_there);
    cleanup_free char *cred = encode(&ours, "x", 0);
    for (int i = 0; i < 2; i++) {
        cleanup(auth_info_done) struct auth_info info = {0};
        struct error err = ERROR_INIT;
        assert_int_equal(auth_decode(ours.socket, cred, &info, &err), 0);
        assert_int_equal(info.is_replayed, i == 1);
        assert_int_equal(info.uid, geteuid());
    }
}

static void assert_fails(const struct munged *munged, const char *cred, const char *cause,
                         const char *cure) {
    struct auth_info info = {0};
    struct error err = ERROR_INIT;
    assert_int_equal(auth_decode(munged->socket, cred, &info, &err), -ERR_AUTH);
    assert_memory_equal(err.text, "Munge decode failed: ", 21);
    if (!strstr(err.text, cause) || !strstr(err.text, cure))
        fail_msg("unexpected text: %s", err.text);
}

TEST(a_credential_of_another_key_is_named_as_such) {
    NEED(is_there);
    cleanup_free char *cred = encode(&theirs, "x", 0);
    assert_fails(&ours, cred, "Invalid credential", "munge.key");
}

TEST(an_expired_credential_shows_both_clocks_and_the_skew) {
    NEED(is_there);
    cleanup_free char *cred = encode(&ours, "x", 1);
    usleep(2600000);
    assert_fails(&ours, cred, "Expired credential: made at 20", "1 s are allowed; set both clocks");
}

TEST(a_text_that_is_no_credential_is_refused) {
    NEED(is_there);
    assert_fails(&ours, "MUNGE:nonsense:", "nvalid credential", "");
}

TEST(a_munged_that_does_not_run_is_named_with_its_socket_and_the_cure) {
    char *cred = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(
        auth_encode("/nonexistent/munge.socket", (struct bytes) {0}, AUTH_ANY_UID, 0, &cred, &err),
        -ERR_AUTH);
    assert_null(cred);
    assert_non_null(strstr(err.text, "/nonexistent/munge.socket"));
    assert_non_null(strstr(err.text, "systemctl start munge"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_credential_tells_who_made_it_and_carries_its_payload),
        cmocka_unit_test(a_credential_decoded_twice_is_marked_as_replayed),
        cmocka_unit_test(a_credential_of_another_key_is_named_as_such),
        cmocka_unit_test(an_expired_credential_shows_both_clocks_and_the_skew),
        cmocka_unit_test(a_text_that_is_no_credential_is_refused),
        cmocka_unit_test(a_munged_that_does_not_run_is_named_with_its_socket_and_the_cure),
    };
    return cmocka_run_group_tests(tests, start, stop);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "acct/location.h"

#include "base/alloc.h"
#include "unit.h"

static const char *printed(const char *text) {
    static struct str out;
    struct acct_location at cleanup_location = {0};
    struct error err = ERROR_INIT;
    str_reset(&out);
    if (acct_location_parse(text, &at, &err) < 0)
        return "refused";
    str_printf(&out, "%d %s %s %u %s %s %s", (int) at.backend, at.path ? at.path : "-",
               at.host ? at.host : "-", at.port, at.user ? at.user : "-",
               at.password ? at.password : "-", at.database ? at.database : "-");
    return str_cstr(&out);
}

TEST(a_location_is_a_file_or_a_database_of_a_server) {
    static const char *const cases[][2] = {
        {"/var/lib/acct.db", "1 /var/lib/acct.db - 0 - - -"},
        {"sqlite:/var/lib/acct.db", "1 /var/lib/acct.db - 0 - - -"},
        {"sqlite:///var/lib/acct.db", "1 /var/lib/acct.db - 0 - - -"},
        {"a:b.db", "1 a:b.db - 0 - - -"},
        {"mysql://host/acct", "2 - host 0 - - acct"},
        {"mariadb://slurm:p%40ss%2f@host:3307/acct", "2 - host 3307 slurm p@ss/ acct"},
        {"mysql://slurm:a@b@host/acct", "2 - host 0 slurm a@b acct"},
        {"mysql://slurm@/acct?socket=/run/x.sock", "2 - /run/x.sock 0 slurm - acct"},
        {"postgresql:///acct", "3 - - 0 - - acct"},
        {"postgresql://host:0/acct", "refused"},
        {"postgresql://host:99999/acct", "refused"},
        {"mysql://host", "refused"},
        {"mysql:host/acct", "refused"},
        {"mysql://host/acct?ssl=1", "refused"},
        {"", "refused"},
    };
    for (size_t i = 0; i < countof(cases); i++)
        assert_string_equal(printed(cases[i][0]), cases[i][1]);
}

TEST(storage_types_name_backends) {
    enum acct_backend backend = 0;
    struct error err = ERROR_INIT;
    assert_int_equal(acct_backend_parse("accounting_storage/mysql", &backend, &err), 0);
    assert_int_equal(backend, ACCT_MARIADB);
    assert_int_equal(acct_backend_parse("SQLite", &backend, &err), 0);
    assert_int_equal(backend, ACCT_SQLITE);
    assert_int_equal(acct_backend_parse("accounting_storage/oracle", &backend, &err), -ERR_CONFIG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_location_is_a_file_or_a_database_of_a_server),
        cmocka_unit_test(storage_types_name_backends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

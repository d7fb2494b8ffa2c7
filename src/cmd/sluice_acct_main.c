/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sluice-acct: accounting databases as a whole. A program of its own, so that `sluice` does not
 * load the clients of database servers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "acct/acct.h"
#include "base/alloc.h"

static const char help[] =
    "Usage: sluice acct export DATABASE FILE\n"
    "       sluice acct import FILE DATABASE\n"
    "       sluice acct load ARCHIVE DATABASE\n\n"
    "export   write all of an accounting database to a new file\n"
    "import   bring such a file into an empty database, of whatever kind\n"
    "load     take back what slurmdbd has purged to an archive file (ArchiveDir)\n\n"
    "A DATABASE is a SQLite file, mysql://USER:PASSWORD@HOST:PORT/NAME or\n"
    "postgresql://USER:PASSWORD@HOST:PORT/NAME; behind NAME ?socket=PATH names a socket.\n"
    "SLUICE_ACCT_PASSWORD in the environment stands for a password that is not in it.\n";

static int failed(const struct error *err) {
    fprintf(stderr, "sluice acct: error: %s\n", err->text);
    return 1;
}

/* A file that is not there is made only where it is written to. */
static int database_open(const char *text, bool make, struct acct **ret, struct error *err) {
    struct acct_location location cleanup_location = {0};
    int r = acct_location_parse(text, &location, err);
    if (r < 0)
        return r;
    if (!make && location.backend == ACCT_SQLITE && access(location.path, F_OK) < 0)
        return error_errno(err, errno, "cannot open the accounting database %s", location.path);
    const char *password = getenv("SLUICE_ACCT_PASSWORD");
    if (!location.password && password)
        location.password = xstrdup(password);
    return acct_open(&location, ret, err);
}

static int file_open(const char *path, struct acct **ret, struct error *err) {
    struct acct_location location = {.backend = ACCT_SQLITE, .path = (char *) (uintptr_t) path};
    return acct_open(&location, ret, err);
}

static void told(uint64_t n, const char *from, const char *to) {
    printf("%llu rows from %s to %s\n", (unsigned long long) n, from, to);
}

static int run_export(const char *database, const char *path, struct error *err) {
    struct acct *from = NULL, *to = NULL;
    int r = database_open(database, false, &from, err);
    if (r == 0)
        r = acct_file_make(path, err);
    bool made = r == 0;
    if (r == 0)
        r = file_open(path, &to, err);
    uint64_t n = 0;
    if (r == 0)
        r = acct_copy(from, to, &n, err);
    acct_close(to);
    if (r == 0)
        r = acct_file_check(path, err);
    if (r == 0)
        told(n, acct_name(from), path);
    else if (made)
        acct_file_unlink(path);
    acct_close(from);
    return r;
}

static int run_import(const char *path, const char *database, struct error *err) {
    struct acct *from = NULL, *to = NULL;
    uint64_t n = 0;
    if (access(path, R_OK) < 0)
        return error_errno(err, errno, "cannot read %s", path);
    int r = file_open(path, &from, err);
    if (r == 0)
        r = database_open(database, true, &to, err);
    if (r == 0)
        r = acct_copy(from, to, &n, err);
    if (r == 0)
        told(n, path, acct_name(to));
    acct_close(to);
    acct_close(from);
    return r;
}

static int run_load(const char *path, const char *database, struct error *err) {
    struct acct *to = NULL;
    uint64_t n = 0;
    int r = database_open(database, false, &to, err);
    if (r == 0)
        r = acct_archive_load(to, path, &n, err);
    if (r == 0)
        told(n, path, acct_name(to));
    acct_close(to);
    return r;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(const char *from, const char *to, struct error *err);
    } verbs[] = {{"export", run_export}, {"import", run_import}, {"load", run_load}};
    struct error err = ERROR_INIT;
    if (argc >= 2 && (str_equal(argv[1], "--help") || str_equal(argv[1], "-h")))
        return fputs(help, stdout) < 0;
    for (size_t i = 0; argc == 4 && i < countof(verbs); i++)
        if (str_equal(argv[1], verbs[i].name))
            return verbs[i].run(argv[2], argv[3], &err) < 0 ? failed(&err) : 0;
    fputs(help, stderr);
    return 1;
}

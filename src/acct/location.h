/* SPDX-License-Identifier: Apache-2.0 */
/* Where an accounting database is, in the words of slurmdbd.conf. */
#ifndef SLUICE_ACCT_LOCATION_H
#define SLUICE_ACCT_LOCATION_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

enum acct_backend { ACCT_SQLITE = 1, ACCT_MARIADB, ACCT_POSTGRESQL };
#define ACCT_BACKENDS 3

struct acct_location {
    enum acct_backend backend;
    char *path;     /* SQLite: the file */
    char *host;     /* or a socket, with '/' first (PostgreSQL: its directory); NULL: localhost */
    uint32_t port;  /* 0: the usual one */
    char *user;     /* NULL: the process's */
    char *password; /* NULL: none */
    char *database;
};
void acct_location_done(struct acct_location *location);
#define cleanup_location __attribute__((__cleanup__(acct_location_done)))

/* StorageType: accounting_storage/mysql; as extensions …/sqlite and …/postgresql. The part before
 * the slash may be left out. */
must_check int acct_backend_parse(const char *storage_type, enum acct_backend *ret,
                                  struct error *err);
/* A location in one word: sqlite:/path, mysql://user:password@host:port/database,
 * postgresql://…; of a socket: mysql://user@/database?socket=/run/mysqld/mysqld.sock. Also a file's
 * path alone. */
must_check int acct_location_parse(const char *text, struct acct_location *ret, struct error *err);

#endif

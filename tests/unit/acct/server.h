/* SPDX-License-Identifier: Apache-2.0 */
/* A database server of a test's own, on a socket in a directory. */
#ifndef SLUICE_UNIT_ACCT_SERVER_H
#define SLUICE_UNIT_ACCT_SERVER_H

#include "acct/location.h"

struct server;
/* NULL: it is not installed, or SQLite, which needs none. Fails where it does not start. */
struct server *server_start(enum acct_backend backend, const char *dir);
void server_stop(struct server *server);   /* NULL is ignored */
void server_crash(struct server *server);  /* kill -9 */
void server_resume(struct server *server); /* behind server_crash() */
/* Where the n-th database of it is. */
void server_location(struct server *server, unsigned n, struct acct_location *ret);
void tree_remove(const char *dir);

#endif

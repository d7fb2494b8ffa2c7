/* SPDX-License-Identifier: Apache-2.0 */
/* Locations of databases as they are written; see location.h. */
#include "acct/location.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"

static const struct {
    const char *name;
    enum acct_backend backend;
} names[] = {
    {"mysql", ACCT_MARIADB},       {"mariadb", ACCT_MARIADB}, {"postgresql", ACCT_POSTGRESQL},
    {"postgres", ACCT_POSTGRESQL}, {"sqlite", ACCT_SQLITE},
};

void acct_location_done(struct acct_location *location) {
    free(location->path);
    free(location->host);
    free(location->user);
    free(location->password);
    free(location->database);
    *location = (struct acct_location) {0};
}

static bool backend_find(const char *name, size_t length, enum acct_backend *ret) {
    for (size_t i = 0; i < countof(names); i++) {
        if (strlen(names[i].name) == length && strncasecmp(names[i].name, name, length) == 0) {
            *ret = names[i].backend;
            return true;
        }
    }
    return false;
}

int acct_backend_parse(const char *storage_type, enum acct_backend *ret, struct error *err) {
    const char *name = strchr(storage_type, '/');
    name = name ? name + 1 : storage_type;
    if (backend_find(name, strlen(name), ret))
        return 0;
    return error_set(err, ERR_CONFIG,
                     "StorageType=%s is not known; accounting_storage/mysql (MariaDB), "
                     "accounting_storage/postgresql and accounting_storage/sqlite are",
                     storage_type);
}

/* %41 stands for A, so that a password may have every character. */
static char *part_decoded(const char *text, size_t length) {
    struct str out = STR_INIT;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '%' && i + 2 < length && isxdigit((unsigned char) text[i + 1]) &&
            isxdigit((unsigned char) text[i + 2])) {
            char digits[3] = {text[i + 1], text[i + 2], '\0'};
            c = (char) strtoul(digits, NULL, 16);
            i += 2;
        }
        str_append_char(&out, c);
    }
    return str_take(&out);
}

static char *part(const char *text, size_t length) {
    return length > 0 ? part_decoded(text, length) : NULL;
}

/* [user[:password]@][host[:port]]/database[?socket=PATH] */
static int server_parse(const char *text, struct acct_location *location, struct error *err) {
    size_t authority = strcspn(text, "/");
    const char *host = text;
    for (const char *at = text; at < text + authority; at++)
        if (*at == '@')
            host = at + 1;
    if (host > text) {
        size_t user = strcspn(text, ":@");
        location->user = part(text, user);
        if (text[user] == ':')
            location->password = part(text + user + 1, (size_t) (host - text) - user - 2);
    }
    size_t host_length = (size_t) (text + authority - host);
    const char *colon = memchr(host, ':', host_length);
    uint64_t port = 0;
    if (colon) {
        cleanup_free char *digits = xstrndup(colon + 1, (size_t) (text + authority - colon) - 1);
        if (!str_to_u64(digits, &port) || port == 0 || port > 65535)
            return error_set(err, ERR_INVALID, "%s is no port; a number up to 65535 is", digits);
        host_length = (size_t) (colon - host);
    }
    location->port = (uint32_t) port;
    location->host = part(host, host_length);
    const char *database = text[authority] ? text + authority + 1 : "";
    size_t length = strcspn(database, "?");
    const char *option = database[length] ? database + length + 1 : NULL;
    if (length == 0)
        return error_set(err, ERR_INVALID,
                         "the database's name is missing behind the host: "
                         "mysql://user@host/slurm_acct_db");
    location->database = part(database, length);
    if (option && str_starts(option, "socket=/")) {
        free(location->host);
        location->host = part(option + 7, strlen(option + 7));
    } else if (option) {
        return error_set(err, ERR_INVALID,
                         "%s is not known behind a database's name; "
                         "socket=/path is",
                         option);
    }
    return 0;
}

int acct_location_parse(const char *text, struct acct_location *ret, struct error *err) {
    struct acct_location location cleanup_location = {.backend = ACCT_SQLITE};
    size_t scheme = strcspn(text, ":");
    const char *rest = text + scheme + (text[scheme] == ':');
    int r = 0;
    if (*text == '\0')
        return error_set(err, ERR_INVALID,
                         "no database is named; a file's path is one, or "
                         "mysql://user@host/database");
    if (text[scheme] != ':' || !backend_find(text, scheme, &location.backend))
        location.path = xstrdup(text);
    else if (location.backend == ACCT_SQLITE)
        location.path = xstrdup(str_starts(rest, "//") ? rest + 2 : rest);
    else if (str_starts(rest, "//"))
        r = server_parse(rest + 2, &location, err);
    else
        r = error_set(err, ERR_INVALID, "%s lacks the two slashes: mysql://user@host/database",
                      text);
    if (r < 0)
        return r;
    *ret = location;
    location = (struct acct_location) {0};
    return 0;
}

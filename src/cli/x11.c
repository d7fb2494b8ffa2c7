/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/x11.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

#define DISPLAY_PORT 6000
#define AUTHORITY_MAX (1u << 20)
#define FAMILY_LOCAL 256
#define GREETING_BYTES 12 /* before names: the X protocol's connection setup */
#define NAME_MAX_BYTES 256

bool x11_display_parse(const char *text, struct x11_display *ret) {
    const char *colon = strrchr(text, ':');
    uint64_t number;

    if (!colon)
        return false;
    cleanup_free char *digits = xstrndup(colon + 1, strcspn(colon + 1, "."));
    if (!str_to_u64(digits, &number) || number > 65535 - DISPLAY_PORT)
        return false;
    size_t length = (size_t) (colon - text);
    *ret = (struct x11_display) {.number = (unsigned) number};
    if (length == 0 || (length == 4 && strncmp(text, "unix", 4) == 0)) {
        ret->path = xasprintf("/tmp/.X11-unix/X%u", ret->number);
    } else {
        ret->host = xstrndup(text, length);
        ret->port = (uint16_t) (DISPLAY_PORT + number);
    }
    return true;
}

/* ---- the authority file: u16 family, then address, number, name, data, each with a u16 length;
 * all big-endian ---- */

struct reader {
    const uint8_t *at, *end;
    bool failed;
};

static size_t read16(struct reader *reader) {
    if (reader->end - reader->at < 2) {
        reader->failed = true;
        return 0;
    }
    size_t value = (size_t) reader->at[0] << 8 | reader->at[1];
    reader->at += 2;
    return value;
}

static struct bytes read_counted(struct reader *reader) {
    size_t size = read16(reader);

    if (reader->failed || (size_t) (reader->end - reader->at) < size) {
        reader->failed = true;
        return (struct bytes) {reader->at, 0};
    }
    struct bytes bytes = {reader->at, size};
    reader->at += size;
    return bytes;
}

static bool bytes_are(struct bytes bytes, const char *text) {
    return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

bool x11_cookie_find(const struct str *file, const char *hostname, unsigned number,
                     uint8_t ret[X11_COOKIE_BYTES]) {
    const uint8_t *data = (const uint8_t *) file->data;
    struct reader reader = {data, data + file->length, false};
    cleanup_free char *digits = xasprintf("%u", number);
    bool found = false;

    while (reader.at < reader.end && !reader.failed) {
        size_t family = read16(&reader);
        struct bytes address = read_counted(&reader), display = read_counted(&reader);
        struct bytes name = read_counted(&reader), cookie = read_counted(&reader);
        bool here = family == FAMILY_LOCAL && bytes_are(address, hostname);
        if (reader.failed || cookie.size != X11_COOKIE_BYTES || !bytes_are(name, X11_COOKIE_NAME) ||
            (display.size > 0 && !bytes_are(display, digits)) || (found && !here))
            continue;
        memcpy(ret, cookie.data, X11_COOKIE_BYTES);
        found = true;
        if (here)
            break;
    }
    return found;
}

static bool read_authority(struct str *out) {
    const char *path = getenv("XAUTHORITY"), *home = getenv("HOME");
    cleanup_free char *usual = xasprintf("%s/.Xauthority", home ? home : "");
    cleanup_fd int fd = open(path && *path ? path : usual, O_RDONLY | O_CLOEXEC);
    char buffer[4096];
    ssize_t n;

    while (fd >= 0 && out->length < AUTHORITY_MAX && (n = read(fd, buffer, sizeof(buffer))) > 0)
        str_append_bytes(out, buffer, (size_t) n);
    return out->length > 0;
}

bool x11_display_read(const struct cli *cli, struct x11_display *ret) {
    cleanup_str struct str file = STR_INIT;
    const char *text = getenv("DISPLAY");
    char hostname[256] = "";
    struct stat found;

    if (!text || !*text) {
        cli_error(cli, "No DISPLAY variable set, cannot setup x11 forwarding.");
        return false;
    }
    if (!x11_display_parse(text, ret)) {
        cli_error(cli, "DISPLAY=%s cannot be read: it looks like :0 or host:10.0", text);
        return false;
    }
    if (ret->path && stat(ret->path, &found) < 0) {
        cli_error(cli, "Cannot stat() local X11 socket `%s`", ret->path);
        return false;
    }
    (void) gethostname(hostname, sizeof(hostname) - 1);
    if (read_authority(&file) && x11_cookie_find(&file, hostname, ret->number, ret->cookie))
        return true;
    cli_error(cli, "Could not retrieve magic cookie. Cannot use X11 forwarding.");
    return false;
}

/* ---- the greeting ---- */

static size_t padded(size_t size) {
    return (size + 3) & ~(size_t) 3;
}

int x11_greeting_translate(struct str *text, const uint8_t shown[X11_COOKIE_BYTES],
                           const uint8_t ours[X11_COOKIE_BYTES]) {
    const uint8_t *data = (const uint8_t *) text->data;

    if (text->length < GREETING_BYTES)
        return 0;
    if (data[0] != 'B' && data[0] != 'l')
        return -ERR_PROTOCOL;
    bool big = data[0] == 'B';
    size_t name = big ? (size_t) data[6] << 8 | data[7] : (size_t) data[7] << 8 | data[6];
    size_t cookie = big ? (size_t) data[8] << 8 | data[9] : (size_t) data[9] << 8 | data[8];
    if (name != strlen(X11_COOKIE_NAME) || cookie != X11_COOKIE_BYTES)
        return -ERR_AUTH;
    size_t at = GREETING_BYTES + padded(name);
    if (text->length < at + padded(cookie))
        return 0;
    if (memcmp(data + GREETING_BYTES, X11_COOKIE_NAME, name) != 0 ||
        memcmp(data + at, shown, X11_COOKIE_BYTES) != 0)
        return -ERR_AUTH;
    memcpy(text->data + at, ours, X11_COOKIE_BYTES);
    return 1;
}

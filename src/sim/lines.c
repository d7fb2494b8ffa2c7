/* SPDX-License-Identifier: Apache-2.0 */
/* Plain, gzip and xz text, line by line. One buffer of packed bytes, one of plain ones. */
#include "sim/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/str.h"

#define PIECE (64 * 1024) /* bytes read or unpacked at once */

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_XZ };

struct lines {
    const char *name;
    int fd;              /* -1: from memory */
    struct bytes memory; /* what is left of it */
    enum packing packing;
    z_stream gzip;
    lzma_stream xz;
    bool input_ended;  /* nothing more can be read */
    bool member_ended; /* a packed member is complete: the file may end here */
    uint8_t *input, *plain;
    size_t input_at, input_n; /* unread part of input */
    size_t plain_at, plain_n;
    struct str line;
    uint64_t number;
};

static struct lines *lines_new(const char *name) {
    struct lines *lines = zalloc(struct lines);
    lines->name = name;
    lines->fd = -1;
    lines->input = xmalloc(PIECE);
    lines->plain = xmalloc(PIECE);
    lines->xz = (lzma_stream) LZMA_STREAM_INIT;
    return lines;
}

int lines_open(const char *path, struct lines **ret, struct error *err) {
    cleanup_fd int fd =
        str_equal(path, "-") ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return error_errno(err, errno, "cannot open %s", path);
    *ret = lines_new(str_equal(path, "-") ? "standard input" : path);
    (*ret)->fd = take_fd(&fd);
    return 0;
}

struct lines *lines_of_bytes(struct bytes text, const char *name) {
    struct lines *lines = lines_new(name);
    lines->memory = text;
    return lines;
}

void lines_close(struct lines *lines) {
    if (!lines)
        return;
    if (lines->packing == PACKING_GZIP)
        inflateEnd(&lines->gzip);
    lzma_end(&lines->xz);
    if (lines->fd >= 0)
        close(lines->fd);
    str_done(&lines->line);
    free(lines->input);
    free(lines->plain);
    free(lines);
}

uint64_t lines_number(const struct lines *lines) {
    return lines->number;
}

const char *lines_name(const struct lines *lines) {
    return lines->name;
}

/* ---- bytes as they lie in the file ---- */

/* Fills the input buffer when it is empty. */
static int read_input(struct lines *lines, struct error *err) {
    if (lines->input_at < lines->input_n || lines->input_ended)
        return 0;
    lines->input_at = lines->input_n = 0;
    if (lines->fd < 0) {
        lines->input_n = min_of(lines->memory.size, (size_t) PIECE);
        if (lines->input_n)
            memcpy(lines->input, lines->memory.data, lines->input_n);
        lines->memory.data += lines->input_n;
        lines->memory.size -= lines->input_n;
    } else {
        ssize_t n;
        do
            n = read(lines->fd, lines->input, PIECE);
        while (n < 0 && errno == EINTR);
        if (n < 0)
            return error_errno(err, errno, "cannot read %s", lines->name);
        lines->input_n = (size_t) n;
    }
    lines->input_ended = lines->input_n == 0;
    return 0;
}

static int choose_packing(struct lines *lines, struct error *err) {
    static const uint8_t gzip_mark[] = {0x1f, 0x8b}, xz_mark[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    int r = read_input(lines, err);
    if (r < 0)
        return r;
    if (lines->input_n >= sizeof(gzip_mark) &&
        memcmp(lines->input, gzip_mark, sizeof(gzip_mark)) == 0) {
        if (inflateInit2(&lines->gzip, 15 + 16) != Z_OK)
            return error_set(err, ERR_SYSTEM, "cannot prepare to unpack %s", lines->name);
        lines->packing = PACKING_GZIP;
    } else if (lines->input_n >= sizeof(xz_mark) &&
               memcmp(lines->input, xz_mark, sizeof(xz_mark)) == 0) {
        if (lzma_stream_decoder(&lines->xz, LINES_UNPACK_MEMORY_MAX, LZMA_CONCATENATED) != LZMA_OK)
            return error_set(err, ERR_SYSTEM, "cannot prepare to unpack %s", lines->name);
        lines->packing = PACKING_XZ;
    }
    return 0;
}

/* ---- plain bytes ---- */

static int damaged(const struct lines *lines, const char *kind, const char *what,
                   struct error *err) {
    return error_set(err, ERR_CORRUPT, "%s: the %s data behind line %llu %s", lines->name, kind,
                     (unsigned long long) lines->number, what);
}

static int unpack_gzip(struct lines *lines, struct error *err) {
    if (lines->member_ended && lines->input_at < lines->input_n) {
        if (inflateReset(&lines->gzip) != Z_OK)
            return damaged(lines, "gzip", "cannot be unpacked", err);
        lines->member_ended = false;
    }
    if (lines->input_ended)
        return lines->member_ended ? 0 : damaged(lines, "gzip", "is cut off", err);
    lines->gzip.next_in = lines->input + lines->input_at;
    lines->gzip.avail_in = (uInt) (lines->input_n - lines->input_at);
    lines->gzip.next_out = lines->plain;
    lines->gzip.avail_out = PIECE;
    int result = inflate(&lines->gzip, Z_NO_FLUSH);
    lines->input_at = lines->input_n - lines->gzip.avail_in;
    lines->plain_n = PIECE - lines->gzip.avail_out;
    lines->member_ended = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return damaged(lines, "gzip", "is damaged", err);
    return 0;
}

static int unpack_xz(struct lines *lines, struct error *err) {
    if (lines->member_ended)
        return 0;
    lines->xz.next_in = lines->input + lines->input_at;
    lines->xz.avail_in = lines->input_n - lines->input_at;
    lines->xz.next_out = lines->plain;
    lines->xz.avail_out = PIECE;
    lzma_ret result = lzma_code(&lines->xz, lines->input_ended ? LZMA_FINISH : LZMA_RUN);
    lines->input_at = lines->input_n - lines->xz.avail_in;
    lines->plain_n = PIECE - lines->xz.avail_out;
    lines->member_ended = result == LZMA_STREAM_END;
    if (result == LZMA_MEMLIMIT_ERROR)
        return damaged(lines, "xz", "needs too much memory to unpack", err);
    if (lines->input_ended && result == LZMA_BUF_ERROR)
        return damaged(lines, "xz", "is cut off", err);
    if (result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR)
        return damaged(lines, "xz", "is damaged", err);
    return 0;
}

/* Makes plain bytes available; plain_n stays 0 at the end. */
static int read_plain(struct lines *lines, struct error *err) {
    int r = 0;
    lines->plain_at = lines->plain_n = 0;
    while (r == 0 && lines->plain_n == 0) {
        r = read_input(lines, err);
        if (r < 0)
            return r;
        if (lines->packing == PACKING_NONE) {
            lines->plain_n = lines->input_n;
            memcpy(lines->plain, lines->input, lines->input_n);
            lines->input_at = lines->input_n;
        } else if (lines->packing == PACKING_GZIP) {
            r = unpack_gzip(lines, err);
        } else {
            r = unpack_xz(lines, err);
        }
        bool ended = lines->packing == PACKING_XZ ? lines->member_ended : lines->input_ended;
        if (ended && lines->plain_n == 0)
            break;
    }
    return r;
}

int lines_next(struct lines *lines, char **ret_line, struct error *err) {
    bool any = false;
    int r;
    if (lines->number == 0 && (r = choose_packing(lines, err)) < 0)
        return r;
    str_reset(&lines->line);
    for (;;) {
        if (lines->plain_at == lines->plain_n && (r = read_plain(lines, err)) < 0)
            return r;
        if (lines->plain_n == 0)
            break;
        const uint8_t *from = lines->plain + lines->plain_at;
        size_t left = lines->plain_n - lines->plain_at;
        const uint8_t *end = memchr(from, '\n', left);
        size_t length = end ? (size_t) (end - from) : left;
        if (lines->line.length + length > LINES_LENGTH_MAX)
            return error_set(err, ERR_LIMIT, "%s:%llu: the line is longer than %d bytes",
                             lines->name, (unsigned long long) lines->number + 1, LINES_LENGTH_MAX);
        str_append_bytes(&lines->line, from, length);
        lines->plain_at += length + (end != NULL);
        any = true;
        if (end)
            break;
    }
    if (!any)
        return 0;
    lines->number++;
    if (lines->line.length && lines->line.data[lines->line.length - 1] == '\r')
        lines->line.data[--lines->line.length] = '\0';
    if (lines->line.length && memchr(lines->line.data, 0, lines->line.length))
        return error_set(err, ERR_CORRUPT, "%s:%llu: the line is no text: it has NUL bytes",
                         lines->name, (unsigned long long) lines->number);
    if (!lines->line.data)
        str_append(&lines->line, "");
    *ret_line = lines->line.data;
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills struct error. A sentence is formatted aside first, so that the old text of the same error
 * may be an argument of the new one; one that does not fit ends with "...".
 */
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Here the functions themselves are meant. */
#undef error_set
#undef error_errno

static void text_mark_cut(char *text, int length) {
    if (length >= ERROR_TEXT_MAX)
        memcpy(text + ERROR_TEXT_MAX - 4, "...", 4);
}

int error_set(struct error *err, enum err code, const char *fmt, ...) {
    if (!err)
        return -(int) code;
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    text_mark_cut(text, length);
    err->code = -(int) code;
    memcpy(err->text, text, sizeof(text));
    return err->code;
}

int error_errno(struct error *err, int errnum, const char *fmt, ...) {
    if (!err)
        return -ERR_SYSTEM;
    char text[ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    char reason[128];
    /* The GNU form: may return a constant instead of filling the buffer. */
    return error_set(err, ERR_SYSTEM, "%s: %s", text, strerror_r(errnum, reason, sizeof(reason)));
}

int error_prefix(struct error *err, const char *fmt, ...) {
    if (!err)
        return -ERR_GENERIC;
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (length >= 0 && length < ERROR_TEXT_MAX)
        length += snprintf(text + length, sizeof(text) - (size_t) length, "%s", err->text);
    text_mark_cut(text, length);
    memcpy(err->text, text, sizeof(text));
    return err->code;
}

const char *error_text(int code) {
    switch (code < 0 ? -(unsigned) code : (unsigned) code) {
#define X(name, number, text)                                                                      \
    case number:                                                                                   \
        return text;
        ERR_TABLE(X)
#undef X
    }
    return error_text(ERR_GENERIC);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The X display that the user sits at: where it is, and its cookie (Xauthority's MIT-MAGIC-COOKIE-1
 * entries; their file's form is that of libXau). */
#ifndef SLUICE_CLI_X11_H
#define SLUICE_CLI_X11_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "cli/messages.h"

#define X11_COOKIE_BYTES 16
#define X11_COOKIE_NAME "MIT-MAGIC-COOKIE-1"
/* Set by salloc --x11 for the sruns of its allocation: what --x11 was given. */
#define X11_VARIABLE "SLUICE_X11"

struct x11_display {
    char *path; /* Unix socket; NULL: host and port */
    char *host;
    uint16_t port;
    unsigned number;
    uint8_t cookie[X11_COOKIE_BYTES];
};

/* Takes DISPLAY apart: ":1", ":1.0", "unix:1", "host:10.0". */
bool x11_display_parse(const char *text, struct x11_display *ret);
/* The cookie of a display in the contents of an authority file: that of this host first, else
 * whichever has the number. */
bool x11_cookie_find(const struct str *file, const char *hostname, unsigned number,
                     uint8_t ret[X11_COOKIE_BYTES]);
/* Both, from the environment. False after an error message; the command's status is 255. */
bool x11_display_read(const struct cli *cli, struct x11_display *ret);
/* A client's first words, with our cookie put in the place of the one that it must show. 1 = done,
 * 0 = the rest has not come yet, negative: it shows another cookie. */
int x11_greeting_translate(struct str *text, const uint8_t shown[X11_COOKIE_BYTES],
                           const uint8_t ours[X11_COOKIE_BYTES]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The readiness protocol of service managers: one datagram to the socket named in NOTIFY_SOCKET. */
#ifndef SLUICE_OS_NOTIFY_H
#define SLUICE_OS_NOTIFY_H

#include "base/error.h"

/* Sends e.g. "READY=1", "RELOADING=1", "STOPPING=1", "STATUS=…" (several lines allowed). Returns 1
 * when sent, 0 when nobody asked for it (no NOTIFY_SOCKET), or a negative error. */
int notify_send(const char *state, struct error *err);

#endif

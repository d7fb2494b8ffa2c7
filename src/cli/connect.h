/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a command to the controller and back: find the configuration, dial, send one record, read
 * the replies. Blocking; a command has one connection at a time.
 *
 *     struct cli_link link;
 *     if (cli_link_open(&cli, false, &link, &err) < 0) …
 *     if (cli_request(&link, MSG_LIST_JOBS, &request, &reply, &err) < 0) …
 *     cli_link_close(&link);
 *
 * A controller that is not there is an answer, given at once: ERR_CONNECT, and err.text names host
 * and port. Nothing here waits without a bound unless the caller asks for it.
 */
#ifndef SLUICE_CLI_CONNECT_H
#define SLUICE_CLI_CONNECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "cli/messages.h"
#include "model/conf.h"
#include "model/messages.h"
#include "rpc/rpc.h"

/* Where the configuration is: SLURM_CONF, else slurm/slurm.conf of the built-in directory, else
 * /etc/slurm/slurm.conf. */
const char *cli_conf_path(void);
/* Reads it as a client: what only daemons need is not looked at. Once a process; later calls give
 * the same. NULL after printing "<cmd>: error: …" lines with file, line and cure. */
const struct conf *cli_conf(const struct cli *cli);

/* "root" and numbers need no look-up, which costs a millisecond; false for other names. */
bool cli_uid_is_plain(const char *name, uid_t *ret);

struct cli_link {
    const struct cli *cli;
    const struct conf *conf;
    struct rpc_client *client;
    struct arena arena; /* replies live here until the link is closed or the arena reset */
};

/* Dials the controllers in the order of the configuration. Commands whose request must not get lost
 * (`patient`) try again for up to two seconds while a controller starts. */
must_check int cli_link_open(const struct cli *cli, bool patient, struct cli_link *link,
                             struct error *err);
/* Likewise to slurmdbd, its backup after it. ERR_ACCOUNTING_DISABLED where none is configured. */
must_check int cli_link_open_dbd(const struct cli *cli, struct cli_link *link, struct error *err);
bool cli_has_dbd(const struct conf *conf);
void cli_link_close(struct cli_link *link);

struct cli_reply {
    uint16_t type;
    bool last;        /* no more replies to this request */
    const void *body; /* struct of message_record(type), in the arena */
};
/* Encodes body by message_record(type) and sends it. */
must_check int cli_send(struct cli_link *link, uint16_t type, const void *body, struct error *err);
/* Next reply or notice. MSG_ERROR becomes the error: its `before` lines and informations have been
 * printed, err->code is the controller's code and err->text its detail (or ""). UINT64_MAX waits
 * for ever; ERR_TIMEOUT, ERR_CLOSED. */
must_check int cli_receive(struct cli_link *link, uint64_t timeout_usec, struct cli_reply *ret,
                           struct error *err);
/* Send and receive the first reply. */
must_check int cli_request(struct cli_link *link, uint16_t type, const void *body,
                           struct cli_reply *ret, struct error *err);
/* Open, request, for commands that ask one thing. On failure nothing stays open. */
must_check int cli_ask(const struct cli *cli, uint16_t type, const void *body,
                       struct cli_link *link, struct cli_reply *ret, struct error *err);

/* "<cmd>: error: PREFIX: Invalid partition name specified"; what else is known stands in a line
 * "<cmd>: note: …" before it (a missing controller's address: after it). PREFIX "" leaves out the
 * colon. Returns the exit status of a failure. */
int cli_failure(const struct cli *cli, const char *prefix, const struct error *err);

#endif

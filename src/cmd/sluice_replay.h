/* SPDX-License-Identifier: Apache-2.0 */
/* What sluice sim and sluice whatif share: the configuration to replay under, and the bar. */
#ifndef SLUICE_CMD_SLUICE_REPLAY_H
#define SLUICE_CMD_SLUICE_REPLAY_H

#include "cli/messages.h"
#include "model/conf.h"
#include "sim/result.h"

/* sim_conf_read(); every problem is told with its line, and of a foreign file what of it has no
 * effect. CLI_GO_ON or an exit status. */
int replay_conf_read(const struct cli *cli, const char *path, bool foreign, struct conf **ret);

/* A progress bar on standard error, when that is a terminal and -Q is not given. Short runs show
 * none. */
struct replay_bar {
    const char *what;               /* is replayed: "present: "; borrowed */
    int64_t begun_msec, drawn_msec; /* drawn: the last picture, 0 = never */
    struct sim_watch watch;
};
/* What to watch the replay with, or NULL. `bar` must stay where it is until it is cleared. */
const struct sim_watch *replay_bar_init(struct replay_bar *bar, const struct cli *cli,
                                        const char *what);
void replay_bar_clear(const struct replay_bar *bar);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* sluice sim: replays a workload trace under a policy or a configuration. */
#include "cmd/sluice.h"
#include "sim/result.h"

int sluice_sim(struct cli *cli, int argc, char **argv) {
    return cli_print(cli, "sluice sim: not built yet\n");
}

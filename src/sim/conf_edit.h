/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations for a replay: read with a forgiving eye, or with other nodes than the file says.
 */
#ifndef SLUICE_SIM_CONF_EDIT_H
#define SLUICE_SIM_CONF_EDIT_H

#include "base/arena.h"
#include "model/conf.h"

/*
 * Reads a slurm.conf with gres.conf and what else lies beside it, as a controller would. On an
 * error the report holds every problem with its line. AllowGroups and RootOnly of partitions are
 * taken out: the users of a replay have no groups.
 *
 * `foreign`: it need not be one that a controller here would start with. Lines whose errors have no
 * meaning in a replay (how to authenticate, where to log, ...) are passed over; the report has them
 * as notices.
 */
must_check int sim_conf_read(const char *path, bool foreign, struct conf **ret,
                             struct conf_report *report, struct error *err);

/*
 * "+8*n1": eight more nodes like n1, in the same partitions; they are called n1-new followed by
 * their number in the configuration.
 * "-n[3-4]": no partition has these nodes any more. An error names what is wrong and what would be
 * right; the configuration is unchanged then.
 * New names lie in `memory`, which must outlive the configuration.
 */
must_check int sim_conf_edit_nodes(struct conf *conf, const char *change, struct arena *memory,
                                   struct error *err);

#endif

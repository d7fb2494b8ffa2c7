/* SPDX-License-Identifier: Apache-2.0 */
/* The manual pages slurm.conf(5), gres.conf(5), cgroup.conf(5) … made of the tables, as scdoc text.
 */
#ifndef SLUICE_MODEL_CONF_MANUAL_H
#define SLUICE_MODEL_CONF_MANUAL_H

#include "base/str.h"

/* Appends the whole page of slurm.conf(5), which also covers the files beside it. */
void conf_manual_print(struct str *out);
/* Likewise slurmdbd.conf(5). */
void conf_manual_dbd_print(struct str *out);

#endif

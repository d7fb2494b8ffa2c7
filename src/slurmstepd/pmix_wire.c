/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/pmix_wire.h"

#define RECORD_ROW_pmix_setup(...) RECORD_ROW(pmix_setup, __VA_ARGS__)
RECORD_DEFINE(pmix_setup, PMIX_SETUP_FIELDS)
#define RECORD_ROW_pmix_task(...) RECORD_ROW(pmix_task, __VA_ARGS__)
RECORD_DEFINE(pmix_task, PMIX_TASK_FIELDS)
#define RECORD_ROW_pmix_ready(...) RECORD_ROW(pmix_ready, __VA_ARGS__)
RECORD_DEFINE(pmix_ready, PMIX_READY_FIELDS)

/* SPDX-License-Identifier: Apache-2.0 */
/* Record table of qos.h. */
#include "model/qos.h"

#define RECORD_ROW_qos(...) RECORD_ROW(qos, __VA_ARGS__)
RECORD_DEFINE(qos, QOS_FIELDS)

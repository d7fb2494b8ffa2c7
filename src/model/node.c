/* SPDX-License-Identifier: Apache-2.0 */
/* Record tables of node.h. */
#include "model/node.h"

#define RECORD_ROW_node(...) RECORD_ROW(node, __VA_ARGS__)
RECORD_DEFINE(node, NODE_FIELDS)
#define RECORD_ROW_partition(...) RECORD_ROW(partition, __VA_ARGS__)
RECORD_DEFINE(partition, PARTITION_FIELDS)
#define RECORD_ROW_key_value(...) RECORD_ROW(key_value, __VA_ARGS__)
RECORD_DEFINE(key_value, KEY_VALUE_FIELDS)

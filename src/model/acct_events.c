/* SPDX-License-Identifier: Apache-2.0 */
/* Record tables of acct_events.h. */
#include "model/acct_events.h"

#define RECORD_ROW_acct_event(...) RECORD_ROW(acct_event, __VA_ARGS__)
RECORD_DEFINE(acct_event, ACCT_EVENT_FIELDS)
#define RECORD_ROW_acct_outage(...) RECORD_ROW(acct_outage, __VA_ARGS__)
RECORD_DEFINE(acct_outage, ACCT_OUTAGE_FIELDS)
#define RECORD_ROW_acct_capacity(...) RECORD_ROW(acct_capacity, __VA_ARGS__)
RECORD_DEFINE(acct_capacity, ACCT_CAPACITY_FIELDS)
#define RECORD_ROW_acct_transaction(...) RECORD_ROW(acct_transaction, __VA_ARGS__)
RECORD_DEFINE(acct_transaction, ACCT_TRANSACTION_FIELDS)
#define RECORD_ROW_acct_reservation(...) RECORD_ROW(acct_reservation, __VA_ARGS__)
RECORD_DEFINE(acct_reservation, ACCT_RESERVATION_FIELDS)
#define RECORD_ROW_acct_cluster(...) RECORD_ROW(acct_cluster, __VA_ARGS__)
RECORD_DEFINE(acct_cluster, ACCT_CLUSTER_FIELDS)

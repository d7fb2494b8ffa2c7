/* SPDX-License-Identifier: Apache-2.0 */
/* Record tables of account.h. */
#include "model/account.h"

#define RECORD_ROW_account(...) RECORD_ROW(account, __VA_ARGS__)
RECORD_DEFINE(account, ACCOUNT_FIELDS)
#define RECORD_ROW_user_wckey(...) RECORD_ROW(user_wckey, __VA_ARGS__)
RECORD_DEFINE(user_wckey, USER_WCKEY_FIELDS)

#define RECORD_ROW_acct_user(...) RECORD_ROW(acct_user, __VA_ARGS__)
RECORD_DEFINE(acct_user, ACCT_USER_FIELDS)
#define RECORD_ROW_assoc(...) RECORD_ROW(assoc, __VA_ARGS__)
RECORD_DEFINE(assoc, ASSOC_FIELDS)
#define RECORD_ROW_usage_tres(...) RECORD_ROW(usage_tres, __VA_ARGS__)
RECORD_DEFINE(usage_tres, USAGE_TRES_FIELDS)
#define RECORD_ROW_assoc_usage(...) RECORD_ROW(assoc_usage, __VA_ARGS__)
RECORD_DEFINE(assoc_usage, ASSOC_USAGE_FIELDS)

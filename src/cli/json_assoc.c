/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sacctmgr show --json: accounts, users, associations, QOS, clusters and TRES. A row says under
 * which path a member of a record stands; rows of one object follow each other.
 */
#include "cli/json_assoc.h"

#include <stdlib.h>
#include <string.h>

#include "assoc/assoc.h"
#include "base/alloc.h"

enum kind { NUMBER, PLAIN, TRES, TEXT, WORDS, FACTOR, FLAGS, MODE };

struct path_row {
    const char *path; /* "max/tres/per/job" */
    enum kind kind;
    const char *member;
};

/* clang-format off */
static const struct path_row assoc_rows[] = {
    {"account", TEXT, "account"},
    {"comment", TEXT, "comment"},
    {"default/qos", TEXT, "default_qos"},
    {"max/jobs/per/count", NUMBER, "grp_jobs"},
    {"max/jobs/per/accruing", NUMBER, "grp_jobs_accrue"},
    {"max/jobs/per/submitted", NUMBER, "grp_submit_jobs"},
    {"max/jobs/per/wall_clock", NUMBER, "max_wall"},
    {"max/jobs/active", NUMBER, "max_jobs"},
    {"max/jobs/accruing", NUMBER, "max_jobs_accrue"},
    {"max/jobs/total", NUMBER, "max_submit_jobs"},
    {"max/tres/total", TRES, "grp_tres"},
    {"max/tres/group/minutes", TRES, "grp_tres_mins"},
    {"max/tres/group/active", TRES, "grp_tres_run_mins"},
    {"max/tres/minutes/total", TRES, "max_tres_run_mins"},
    {"max/tres/minutes/per/job", TRES, "max_tres_mins"},
    {"max/tres/per/job", TRES, "max_tres"},
    {"max/tres/per/node", TRES, "max_tres_per_node"},
    {"max/per/account/wall_clock", NUMBER, "grp_wall"},
    {"id", PLAIN, "id"},
    {"min/priority_threshold", NUMBER, "min_prio_threshold"},
    {"parent_account", TEXT, "parent"},
    {"partition", TEXT, "partition"},
    {"priority", NUMBER, "priority"},
};
static const struct path_row qos_rows[] = {
    {"description", TEXT, "description"},
    {"flags", FLAGS, "flags"},
    {"id", PLAIN, "id"},
    {"limits/grace_time", PLAIN, "grace_time"},
    {"limits/max/active_jobs/accruing", NUMBER, "grp_jobs_accrue"},
    {"limits/max/active_jobs/count", NUMBER, "grp_jobs"},
    {"limits/max/jobs/count", NUMBER, "grp_submit_jobs"},
    {"limits/max/jobs/active_jobs/per/account", NUMBER, "max_jobs_pa"},
    {"limits/max/jobs/active_jobs/per/user", NUMBER, "max_jobs_pu"},
    {"limits/max/jobs/per/account", NUMBER, "max_submit_jobs_pa"},
    {"limits/max/jobs/per/user", NUMBER, "max_submit_jobs_pu"},
    {"limits/max/accruing/per/account", NUMBER, "max_jobs_accrue_pa"},
    {"limits/max/accruing/per/user", NUMBER, "max_jobs_accrue_pu"},
    {"limits/max/tres/total", TRES, "grp_tres"},
    {"limits/max/tres/minutes/total", TRES, "grp_tres_run_mins"},
    {"limits/max/tres/minutes/per/qos", TRES, "grp_tres_mins"},
    {"limits/max/tres/minutes/per/job", TRES, "max_tres_mins"},
    {"limits/max/tres/minutes/per/account", TRES, "max_tres_run_mins_pa"},
    {"limits/max/tres/minutes/per/user", TRES, "max_tres_run_mins_pu"},
    {"limits/max/tres/per/account", TRES, "max_tres_pa"},
    {"limits/max/tres/per/job", TRES, "max_tres"},
    {"limits/max/tres/per/node", TRES, "max_tres_per_node"},
    {"limits/max/tres/per/user", TRES, "max_tres_pu"},
    {"limits/max/wall_clock/per/qos", NUMBER, "grp_wall"},
    {"limits/max/wall_clock/per/job", NUMBER, "max_wall"},
    {"limits/factor", FACTOR, "limit_factor"},
    {"limits/min/priority_threshold", NUMBER, "min_prio_threshold"},
    {"limits/min/tres/per/job", TRES, "min_tres"},
    {"name", TEXT, "name"},
    {"preempt/list", WORDS, "preempt"},
    {"preempt/mode", MODE, "preempt_mode"},
    {"preempt/exempt_time", NUMBER, "exempt_time"},
    {"usage_factor", FACTOR, "usage_factor"},
    {"usage_threshold", FACTOR, "usage_threshold"},
};
/* clang-format on */

/* ---- paths ---- */

/* How many whole names two paths begin with in common, the last of either not counted. */
static unsigned names_common(const char *a, const char *b, size_t *ret_length) {
    unsigned n = 0;
    *ret_length = 0;
    for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++) {
        if (a[i] == '/') {
            n++;
            *ret_length = i + 1;
        }
    }
    return n;
}

static unsigned depth_of(const char *path) {
    unsigned n = 0;
    for (; *path != '\0'; path++)
        n += *path == '/';
    return n;
}

/* Ends the objects that only `from` is in, and begins those of `to`. Returns the last name. */
static const char *path_go(struct json *json, const char *from, const char *to) {
    size_t at;
    unsigned common = names_common(from, to, &at);
    for (unsigned n = depth_of(from); n > common; n--)
        json_end(json);
    const char *name = to + at;
    for (const char *slash; (slash = strchr(name, '/')) != NULL; name = slash + 1) {
        cleanup_free char *key = xstrndup(name, (size_t) (slash - name));
        json_object(json, key);
    }
    return name;
}

static void factor_write(struct json *json, const char *key, const char *text) {
    json_object(json, key);
    json_bool(json, "set", text != NULL);
    json_bool(json, "infinite", false);
    json_double(json, "number", text != NULL ? strtod(text, NULL) : 0);
    json_end(json);
}

static void member_write(struct json *json, const char *key, enum kind kind, const void *member) {
    const char *text = *(char *const *) member;
    switch (kind) {
    case NUMBER:
        json_number32(json, key, *(const uint32_t *) member);
        break;
    case PLAIN: {
        uint32_t number = *(const uint32_t *) member;
        json_unsigned(json, key, number != UNSET32 ? number : 0);
        break;
    }
    case TRES:
        json_tres_counts(json, key, text);
        break;
    case TEXT:
        json_text(json, key, text);
        break;
    case WORDS:
        json_words(json, key, text);
        break;
    case FACTOR:
        factor_write(json, key, text);
        break;
    case FLAGS:
        json_array(json, key);
        json_flag_names(json, &names_qos_flag, *(const uint32_t *) member);
        json_end(json);
        break;
    case MODE:
        json_array(json, key);
        json_text(json, NULL, names_text(&names_preempt_mode, *(const uint32_t *) member));
        json_end(json);
        break;
    }
}

/* The members of a record, in an object that is open. */
static void record_write(struct json *json, const struct record *record, const void *object,
                         const struct path_row *rows, size_t n) {
    const char *at = "";
    for (size_t i = 0; i < n; i++) {
        const struct field *field = record_field(record, rows[i].member);
        const char *key = path_go(json, at, rows[i].path);
        member_write(json, key, rows[i].kind, (const char *) object + field->offset);
        at = rows[i].path;
    }
    (void) path_go(json, at, "");
}

/* ---- entities ---- */

static void assoc_short(struct json *json, const char *key, const struct assoc_list *list,
                        const struct assoc *assoc) {
    json_object(json, key);
    json_text(json, "account", assoc->account);
    json_text(json, "cluster", list->cluster);
    json_text(json, "partition", assoc->partition);
    json_text(json, "user", assoc->user);
    json_unsigned(json, "id", assoc->id);
    json_end(json);
}

static bool is_default(const struct assoc_index *index, const struct assoc *assoc) {
    const struct acct_user *user = assoc_index_user(index, assoc->user);
    return user != NULL && str_equal(user->default_account, assoc->account);
}

void json_assoc(struct json *json, const struct rows *books, const void *data) {
    const struct assoc_row *row = data;
    const struct assoc *assoc = row->assoc;
    json_object(json, NULL);
    json_none(json, "accounting");
    json_text(json, "cluster", row->index->list->cluster);
    json_array(json, "flags");
    json_end(json);
    json_bool(json, "is_default", is_default(row->index, assoc));
    json_text(json, "user", assoc->user);
    json_unsigned(json, "shares_raw", assoc->shares != UNSET32 ? assoc->shares : 1);
    json_words(json, "qos", qos_of_row(row));
    record_write(json, &record_assoc, assoc, assoc_rows, countof(assoc_rows));
    json_end(json);
}

void json_qos(struct json *json, const struct rows *books, const void *data) {
    const struct qos *qos = data;
    json_object(json, NULL);
    json_number(json, "priority", true, false, qos->priority);
    record_write(json, &record_qos, qos, qos_rows, countof(qos_rows));
    json_end(json);
}

/* The associations of an account (its own and its users'), or of a user, in all clusters. */
static void assocs_of(struct json *json, const struct rows *books, const char *account,
                      const char *user) {
    json_array(json, "associations");
    for (size_t b = 0; b < books->n; b++) {
        const struct assoc_index *index = books->items[b];
        const struct assoc_link *link = account != NULL ? assoc_index_of_account(index, account)
                                                        : assoc_index_of_user(index, user);
        for (; link != NULL; link = link->next)
            assoc_short(json, NULL, index->list, link->assoc);
    }
    json_end(json);
}

static void coordinator(struct json *json, const char *name) {
    json_object(json, NULL);
    json_text(json, "name", name);
    json_bool(json, "direct", true);
    json_end(json);
}

void json_account(struct json *json, const struct rows *books, const void *data) {
    const struct account *account = ((const struct assoc_row *) data)->account;
    json_object(json, NULL);
    assocs_of(json, books, account->name, NULL);
    json_array(json, "coordinators");
    for (uint32_t i = 0; i < account->coordinators.n; i++)
        coordinator(json, account->coordinators.items[i]);
    json_end(json);
    json_text(json, "description", account->description);
    json_text(json, "name", account->name);
    json_text(json, "organization", account->organization);
    json_none(json, "flags");
    json_end(json);
}

void json_acct_user(struct json *json, const struct rows *books, const void *data) {
    const struct assoc_row *row = data;
    const struct acct_user *user = row->user;
    json_object(json, NULL);
    json_array(json, "administrator_level");
    json_text(json, NULL, names_text(&names_admin_level, user->admin_level));
    json_end(json);
    assocs_of(json, books, NULL, user->name);
    json_array(json, "coordinators");
    const struct assoc_link *link = assoc_index_coordinated(row->index, user->name);
    for (; link != NULL; link = link->next)
        coordinator(json, link->account->name);
    json_end(json);
    json_object(json, "default");
    json_text(json, "account", user->default_account);
    json_text(json, "wckey", user->default_wckey);
    json_end(json);
    json_none(json, "flags");
    json_text(json, "name", user->name);
    json_text(json, "old_name", NULL);
    json_array(json, "wckeys");
    for (uint32_t i = 0; i < user->wckeys.n; i++) {
        struct assoc_row key = *row;
        key.wckey = &user->wckeys.items[i];
        json_wckey(json, books, &key);
    }
    json_end(json);
    json_end(json);
}

void json_wckey(struct json *json, const struct rows *books, const void *data) {
    const struct assoc_row *row = data;
    json_object(json, NULL);
    json_none(json, "accounting");
    json_text(json, "cluster", row->index->list->cluster);
    json_unsigned(json, "id", row->wckey->id);
    json_text(json, "name", row->wckey->name);
    json_text(json, "user", row->user->name);
    json_none(json, "flags");
    json_end(json);
}

void json_cluster(struct json *json, const struct rows *books, const void *data) {
    const struct assoc_row *row = data;
    json_object(json, NULL);
    json_object(json, "controller");
    json_text(json, "host", row->index->list->control_host);
    json_unsigned(json, "port", row->index->list->control_port);
    json_end(json);
    json_none(json, "flags");
    json_text(json, "name", row->index->list->cluster);
    json_text(json, "nodes", NULL);
    json_text(json, "select_plugin", NULL);
    json_object(json, "associations");
    if (row->assoc != NULL)
        assoc_short(json, "root", row->index->list, row->assoc);
    json_end(json);
    json_unsigned(json, "rpc_version", 0);
    json_none(json, "tres");
    json_end(json);
}

void json_tres_kind(struct json *json, const struct rows *books, const void *data) {
    const struct assoc_row *row = data;
    json_object(json, NULL);
    json_text(json, "type", row->tres_type);
    json_text(json, "name", row->tres_name);
    json_unsigned(json, "id", row->tres_id);
    json_unsigned(json, "count", 0);
    json_end(json);
}

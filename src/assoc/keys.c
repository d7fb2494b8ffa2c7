/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of sacctmgr and how their values are read and told. */
#include "assoc/keys.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "assoc/tres_list.h"
#include "text/duration.h"

#define NUMBER_MAX 0x7fffffffu

bool condition_is(const char *word, size_t length, const char *name, size_t least) {
    bool is_plural = length == strlen(name) + 1 && tolower((unsigned char) word[length - 1]) == 's';
    return str_abbreviates(word, length - is_plural, name, least);
}

void *assoc_key_member(const struct assoc_key *key, void *record) {
    return (char *) record + record_field(assoc_record(key->kind), key->member)->offset;
}

static bool clears(const char *value) {
    return value[0] == '\0' || str_equal(value, "-1");
}

#define SET(name)                                                                                  \
    static int name(const struct assoc_book *book, const struct assoc_key *key, void *record,      \
                    char sign, const char *value, struct error *err)
#define PRINT(name) static void name(const void *record, const void *member, struct str *out)

/* ---- plain values ---- */
SET(set_text) {
    if (!str_is_printable_utf8(value))
        return error_set(err, ERR_INVALID, "%s is to be text that can be printed", key->name);
    string_set(assoc_key_member(key, record), value[0] != '\0' ? value : NULL);
    return 0;
}
PRINT(print_text) {
    const char *text = *(char *const *) member;
    str_append(out, text != NULL ? text : "");
}

static int read_number(const struct assoc_key *key, const char *value, uint32_t unset,
                       uint32_t *ret, struct error *err) {
    uint64_t number;
    if (clears(value)) {
        *ret = unset;
        return 0;
    }
    if (!str_to_u64(value, &number) || number > NUMBER_MAX)
        return error_set(err, ERR_INVALID,
                         "Invalid value for %s (%s): a number from 0 to %u, or -1 to clear it",
                         key->name, value, NUMBER_MAX);
    *ret = (uint32_t) number;
    return 0;
}
SET(set_limit) {
    return read_number(key, value, UNSET32, assoc_key_member(key, record), err);
}
SET(set_number) {
    return read_number(key, value, 0, assoc_key_member(key, record), err);
}
PRINT(print_number) {
    str_append_u64(out, *(const uint32_t *) member);
}
SET(set_minutes) {
    uint32_t minutes = UNSET32;
    if (!clears(value) && (minutes_parse(value, &minutes, NULL) < 0 || minutes > NUMBER_MAX))
        return error_set(err, ERR_INVALID,
                         "Bad %s time format: %s: minutes, H:M:S or D-H:M:S, or -1 to clear it",
                         key->name, value);
    *(uint32_t *) assoc_key_member(key, record) = minutes;
    return 0;
}
PRINT(print_minutes) {
    duration_print_long((int64_t) * (const uint32_t *) member * 60, out);
}
SET(set_seconds) {
    uint64_t seconds;
    uint32_t *at = assoc_key_member(key, record);
    if (clears(value)) {
        *at = UNSET32;
        return 0;
    }
    if (duration_parse(value, &seconds, NULL) < 0 || seconds > NUMBER_MAX)
        return error_set(err, ERR_INVALID, "Bad %s time format: %s: minutes, H:M:S or D-H:M:S",
                         key->name, value);
    *at = (uint32_t) seconds;
    return 0;
}
PRINT(print_seconds) {
    duration_print_long((int64_t) * (const uint32_t *) member, out);
}
SET(set_factor) {
    char *end;
    char **at = assoc_key_member(key, record);
    double factor = strtod(value, &end);
    if (clears(value)) {
        string_set(at, NULL);
        return 0;
    }
    if (end == value || *end != '\0' || !(factor >= 0 && factor < 1e9))
        return error_set(err, ERR_INVALID,
                         "Invalid value for %s (%s): a decimal number, or -1 to clear it",
                         key->name, value);
    free(*at);
    *at = xasprintf("%.6f", factor);
    return 0;
}
PRINT(print_factor) {
    const char *text = *(char *const *) member;
    str_printf(out, "%.4f", text != NULL ? strtod(text, NULL) : 0.0);
}
/* Usage is no part of the book: whoever keeps it sees that the number is another one. */
SET(set_raw_usage) {
    if (!str_equal(value, "0"))
        return error_set(err, ERR_INVALID,
                         "Invalid value for %s (%s): it can be set to 0, which forgets what has "
                         "been used",
                         key->name, value);
    (*(uint32_t *) assoc_key_member(key, record))++;
    return 0;
}
SET(set_shares) {
    if (str_equal_nocase(value, "parent")) {
        *(uint32_t *) assoc_key_member(key, record) = SHARES_PARENT;
        return 0;
    }
    return read_number(key, value, UNSET32, assoc_key_member(key, record), err);
}
PRINT(print_shares) {
    uint32_t shares = *(const uint32_t *) member;
    if (shares == SHARES_PARENT)
        str_append(out, "parent");
    else
        str_append_u64(out, shares);
}

SET(set_idle_action) {
    const char *action = str_equal_nocase(value, "CANCEL")    ? "CANCEL"
                         : str_equal_nocase(value, "REQUEUE") ? "REQUEUE"
                                                              : NULL;
    if (action == NULL && !clears(value))
        return error_set(err, ERR_INVALID,
                         "Invalid value for %s (%s): REQUEUE, CANCEL, or -1 to clear it", key->name,
                         value);
    string_set(assoc_key_member(key, record), action);
    return 0;
}

/* ---- TRES ---- */
/* Minutes of memory are a plain number. */
SET(set_tres) {
    bool has_memory = strstr(key->member, "mins") == NULL;
    return tres_list_change(assoc_key_member(key, record), clears(value) ? "" : value, has_memory,
                            key->name, err);
}

/* "GrpCPUMins=100" is "GrpTRESMins=cpu=100". */
static int set_one_tres(const struct assoc_book *book, const struct assoc_key *key,
                        const char *tres, void *record, const char *value, struct error *err) {
    cleanup_free char *item = xasprintf("%s=%s", tres, clears(value) ? "-1" : value);
    return set_tres(book, key, record, '=', item, err);
}
SET(set_cpu) {
    return set_one_tres(book, key, "cpu", record, value, err);
}
SET(set_node) {
    return set_one_tres(book, key, "node", record, value, err);
}
SET(set_mem) {
    return set_one_tres(book, key, "mem", record, value, err);
}
PRINT(print_tres) {
    tres_list_print(*(char *const *) member, out);
}
PRINT(print_tres_mins) {
    print_text(record, member, out);
}

/* ---- lists of QOS ---- */
static int qos_named(const struct assoc_book *book, const char *name, struct error *err) {
    if (book_qos_find(book, name) != NULL)
        return 0;
    struct str names cleanup_str = STR_INIT;
    for (size_t i = 0; i < book->entries[ASSOC_QOS].n; i++)
        str_join(&names, ",", ((const struct qos *) book->entries[ASSOC_QOS].items[i])->name);
    return error_set(err, ERR_INVALID, "You gave a bad qos '%s'. Valid QOS's are %s", name,
                     str_cstr(&names));
}

static void list_change(const char *old, const char *word, char sign, struct str *out) {
    bool found = false;
    words_each (old, ",", name) {
        bool same = str_equal_nocase(name, word);
        found |= same;
        if (!same || sign != '-')
            str_join(out, ",", name);
    }
    if (!found && sign != '-')
        str_join(out, ",", word);
}

static int qos_compare(const void *a, const void *b) {
    uint32_t x = (*(const struct qos *const *) a)->id, y = (*(const struct qos *const *) b)->id;
    return x < y ? -1 : x > y;
}

/* In the order in which the QOS were made, as ever. */
static void list_sort(const struct assoc_book *book, const char *list, struct str *out) {
    vec(const struct qos *) all = {0};
    words_each (list, ",", word)
        vec_push(&all, book_qos_find(book, word));
    if (all.n > 0)
        qsort(all.items, all.n, sizeof(*all.items), qos_compare);
    vec_each (&all, qos)
        str_join(out, ",", (*qos)->name);
    vec_done(&all);
}

/* A word may have a sign of its own: "+a,-b". What is added to, or taken from, is what holds now:
 * the list of the account above, where an association has none of its own. */
SET(set_qos_list) {
    char **at = assoc_key_member(key, record);
    bool keeps = sign != 0 || value[0] == '+' || value[0] == '-';
    if (str_equal(value, "-1"))
        value = "", keeps = false;
    bool inherits = sign != 0 && *at == NULL && key->kind == ASSOC_ASSOC;
    const char *old = inherits ? assoc_qos(book, record) : *at;
    cleanup_free char *list = keeps && old != NULL ? xstrdup(old) : NULL;
    words_each (value, ",", word) {
        char own = word[0] == '+' || word[0] == '-' ? word[0] : sign;
        const char *name = word + (word[0] == '+' || word[0] == '-');
        int r = qos_named(book, name, err);
        if (r < 0)
            return r;
        struct str next = STR_INIT;
        list_change(list, book_qos_find(book, name)->name, own, &next);
        free(list);
        list = str_take(&next);
    }
    struct str sorted cleanup_str = STR_INIT;
    list_sort(book, list != NULL ? list : "", &sorted);
    string_set(at, sorted.length > 0 ? sorted.data : NULL);
    return 0;
}
SET(set_one_qos) {
    char **at = assoc_key_member(key, record);
    if (clears(value)) {
        string_set(at, NULL);
        return 0;
    }
    int r = qos_named(book, value, err);
    if (r == 0)
        string_set(at, book_qos_find(book, value)->name);
    return r;
}

/* ---- of QOS ---- */
SET(set_mode) {
    struct qos *qos = record;
    uint32_t mode = PREEMPT_CLUSTER;
    bool within = false;
    words_each (clears(value) ? "cluster" : value, ",", word) {
        if (str_equal_nocase(word, "within")) {
            within = true;
        } else if (!names_value(&names_preempt_mode, word, &mode)) {
            struct str names cleanup_str = STR_INIT;
            names_list(&names_preempt_mode, ", ", &names);
            return error_set(err, ERR_INVALID,
                             " Bad Preempt Mode given: %s: it is one of %s, perhaps with "
                             "\"within,\" before it",
                             word, str_cstr(&names));
        }
    }
    qos->preempt_mode = mode;
    qos->within = within;
    return 0;
}
void qos_mode_print(const struct qos *qos, bool upper, struct str *out) {
    str_append(out, qos->within ? (upper ? "WITHIN," : "within,") : "");
    size_t start = out->length;
    str_append(out, names_text(&names_preempt_mode, qos->preempt_mode));
    for (size_t i = start; i < out->length; i++)
        out->data[i] = (char) (upper ? toupper((unsigned char) out->data[i])
                                     : tolower((unsigned char) out->data[i]));
}
PRINT(print_mode) {
    qos_mode_print(record, true, out);
}
SET(set_flags) {
    struct qos *qos = record;
    uint32_t flags = 0, flag;
    words_each (clears(value) ? "" : value, ",", word) {
        if (!names_value(&names_qos_flag, word, &flag)) {
            struct str names cleanup_str = STR_INIT;
            names_list(&names_qos_flag, ",", &names);
            return error_set(err, ERR_INVALID,
                             " Unknown QOS flag used in:\n  '%s'\n Valid QOS flags are\n  '%s'",
                             value, str_cstr(&names));
        }
        flags |= flag;
    }
    qos->flags = sign == '+' ? qos->flags | flags : sign == '-' ? qos->flags & ~flags : flags;
    return 0;
}
void qos_flags_print(uint32_t flags, struct str *out) {
    const char *between = "";
    for (size_t i = 0; i < names_qos_flag.n; i++) {
        if (!(flags & names_qos_flag.rows[i].value))
            continue;
        str_printf(out, "%s%s", between, names_qos_flag.rows[i].name);
        between = ",";
    }
}
PRINT(print_flags) {
    qos_flags_print(*(const uint32_t *) member, out);
}

/* ---- of users and accounts ---- */
SET(set_admin_level) {
    static const struct {
        const char *name;
        uint32_t level;
    } rows[] = {{"None", ADMIN_NONE},
                {"Operator", ADMIN_OPERATOR},
                {"Administrator", ADMIN_ADMINISTRATOR},
                {"SuperUser", ADMIN_ADMINISTRATOR}};
    for (size_t i = 0; i < countof(rows); i++) {
        if (str_abbreviates(value, strlen(value), rows[i].name, 1)) {
            ((struct acct_user *) record)->admin_level = rows[i].level;
            return 0;
        }
    }
    return error_set(err, ERR_INVALID,
                     " Bad Admin Level given: %s: it is None, Operator or Administrator", value);
}
PRINT(print_admin_level) {
    str_append(out, names_text(&names_admin_level, *(const uint32_t *) member));
}
SET(set_account) {
    const struct account *account = account_find(book, value);
    if (account == NULL)
        return error_set(err, ERR_INVALID,
                         " This account '%s' doesn't exist.\n        Contact your admin to add "
                         "this account.",
                         value);
    string_set(assoc_key_member(key, record), account->name);
    return 0;
}
SET(set_parent) {
    struct assoc *assoc = record;
    const struct account *account = account_find(book, value);
    if (account == NULL)
        return error_set(err, ERR_INVALID,
                         " Parent account '%s' doesn't exist on cluster %s\n        Contact your "
                         "admin to add this account.",
                         value, book->cluster);
    if (assoc->account != NULL && account_is_below(book, account->name, assoc->account))
        return error_set(err, ERR_INVALID,
                         " Account '%s' lies below '%s' (or is it): an account cannot be its own "
                         "parent.",
                         account->name, assoc->account);
    string_set(&assoc->parent, account->name);
    return 0;
}

/* ---- wckeys: kept in lower case ---- */
static int wckey_check(const struct assoc_key *key, const char *name, struct error *err) {
    if (name[0] != '\0' && name[0] != '*' && strlen(name) <= WCKEY_NAME_MAX &&
        str_is_printable_utf8(name) && strpbrk(name, ",|'\"\\= ") == NULL)
        return 0;
    return error_set(err, ERR_INVALID,
                     " Bad %s '%s': a wckey has up to %d bytes, no * before it, and no blanks, "
                     "commas, quotes and |",
                     key->name, name, WCKEY_NAME_MAX);
}

SET(set_default_wckey) {
    char **at = assoc_key_member(key, record);
    cleanup_free char *name = xstrdup(value);
    text_lower(name);
    if (str_equal(value, "-1")) {
        string_set(at, NULL);
        return 0;
    }
    int r = wckey_check(key, name, err);
    if (r == 0)
        string_set(at, name);
    return r;
}
SET(set_wckeys) {
    struct acct_user *user = record;
    bool clear = str_equal(value, "-1");
    struct acct_user next = {.wckeys = {NULL, 0}};
    int r = 0;
    cleanup_free char *names = xstrdup(clear ? "" : value);
    text_lower(names);
    words_each (names, ",", name) {
        if (r == 0)
            r = wckey_check(key, name, err);
        if (r == 0)
            user_wckey_add(&next, name);
    }
    /* those that stay keep their numbers */
    for (uint32_t i = user->wckeys.n; r == 0 && sign != '+' && i-- > 0;) {
        bool named = user_wckey_find(&next, user->wckeys.items[i].name) != NULL;
        if (named == (sign == '-')) {
            cleanup_free char *gone = xstrdup(user->wckeys.items[i].name);
            (void) user_wckey_drop(user, gone);
        }
    }
    for (uint32_t i = 0; r == 0 && sign != '-' && i < next.wckeys.n; i++)
        user_wckey_add(user, next.wckeys.items[i].name);
    record_done(&record_acct_user, &next);
    return r;
}
PRINT(print_wckeys) {
    const struct acct_user *user = record;
    for (uint32_t i = 0; i < user->wckeys.n; i++)
        str_printf(out, "%s%s", i > 0 ? "," : "", user->wckeys.items[i].name);
}

/* ---- the table ---- */
#define MORE (KEY_ACCOUNT | KEY_USER | KEY_CLUSTER)
#define Q(name, least, member, set, print)                                                         \
    { name, least, KEY_QOS, ASSOC_QOS, #member, set, print, false, false }
#define Q_LATER(name, least, member, set, print)                                                   \
    { name, least, KEY_QOS, ASSOC_QOS, #member, set, print, false, true }
#define Q_OLD(name, least, member, set, print)                                                     \
    { name, least, KEY_QOS, ASSOC_QOS, #member, set, print, true, false }
#define A(name, least, member, set, print)                                                         \
    { name, least, MORE, ASSOC_ASSOC, #member, set, print, false, false }
#define A_LATER(name, least, member, set, print)                                                   \
    { name, least, MORE, ASSOC_ASSOC, #member, set, print, false, true }
#define A_OLD(name, least, member, set, print)                                                     \
    { name, least, MORE, ASSOC_ASSOC, #member, set, print, true, false }

/* clang-format off */
const struct assoc_key assoc_keys[] = {
    Q("Description", 1, description, set_text, print_text),
    Q("Flags", 2, flags, set_flags, print_flags),
    Q("GpuIdleAction", 8, gpu_idle_action, set_idle_action, print_text),
    Q("GpuIdleTime", 8, gpu_idle_time, set_limit, print_number),
    Q("GpuIdleWarn", 8, gpu_idle_warn, set_limit, print_number),
    Q("GraceTime", 3, grace_time, set_limit, print_number),
    Q("GrpJobs", 4, grp_jobs, set_limit, print_number),
    Q("GrpJobsAccrue", 8, grp_jobs_accrue, set_limit, print_number),
    Q_OLD("GrpCPUs", 7, grp_tres, set_cpu, print_tres),
    Q_OLD("GrpNodes", 8, grp_tres, set_node, print_tres),
    Q_OLD("GrpMemory", 6, grp_tres, set_mem, print_tres),
    Q_OLD("GrpCPUMins", 8, grp_tres_mins, set_cpu, print_tres_mins),
    Q_OLD("GrpCPURunMins", 7, grp_tres_run_mins, set_cpu, print_tres_mins),
    Q_OLD("MaxCPUsPerJob", 7, max_tres, set_cpu, print_tres),
    Q_OLD("MaxNodesPerJob", 4, max_tres, set_node, print_tres),
    Q_OLD("MaxCPUMinsPerJob", 8, max_tres_mins, set_cpu, print_tres_mins),
    Q("GrpSubmitJobs", 4, grp_submit_jobs, set_limit, print_number),
    Q("GrpTRES", 7, grp_tres, set_tres, print_tres),
    Q("GrpTRESMins", 8, grp_tres_mins, set_tres, print_tres_mins),
    Q("GrpTRESRunMins", 8, grp_tres_run_mins, set_tres, print_tres_mins),
    Q("GrpWall", 4, grp_wall, set_minutes, print_minutes),
    Q_LATER("LimitFactor", 6, limit_factor, set_factor, print_factor),
    Q("MaxJobsAccruePerAccount", 17, max_jobs_accrue_pa, set_limit, print_number),
    Q_OLD("MaxJobsAccruePA", 15, max_jobs_accrue_pa, set_limit, print_number),
    Q("MaxJobsAccruePerUser", 14, max_jobs_accrue_pu, set_limit, print_number),
    Q_OLD("MaxJobsAccruePU", 15, max_jobs_accrue_pu, set_limit, print_number),
    Q("MaxJobsPerAccount", 11, max_jobs_pa, set_limit, print_number),
    Q_OLD("MaxJobsPA", 9, max_jobs_pa, set_limit, print_number),
    Q("MaxJobsPerUser", 7, max_jobs_pu, set_limit, print_number),
    Q_OLD("MaxJobsPU", 9, max_jobs_pu, set_limit, print_number),
    Q("MaxSubmitJobsPerAccount", 17, max_submit_jobs_pa, set_limit, print_number),
    Q_OLD("MaxSubmitPA", 11, max_submit_jobs_pa, set_limit, print_number),
    Q_OLD("MaxSubmitJobsPA", 15, max_submit_jobs_pa, set_limit, print_number),
    Q("MaxSubmitJobsPerUser", 6, max_submit_jobs_pu, set_limit, print_number),
    Q_OLD("MaxSubmitPU", 11, max_submit_jobs_pu, set_limit, print_number),
    Q_OLD("MaxSubmitJobsPU", 15, max_submit_jobs_pu, set_limit, print_number),
    Q("MaxTRESPerAccount", 11, max_tres_pa, set_tres, print_tres),
    Q_OLD("MaxTRESPA", 9, max_tres_pa, set_tres, print_tres),
    Q("MaxTRESPerJob", 7, max_tres, set_tres, print_tres),
    Q("MaxTRESPerNode", 11, max_tres_per_node, set_tres, print_tres),
    Q("MaxTRESPerUser", 11, max_tres_pu, set_tres, print_tres),
    Q_OLD("MaxTRESPU", 9, max_tres_pu, set_tres, print_tres),
    Q("MaxTRESRunMinsPerAccount", 18, max_tres_run_mins_pa, set_tres, print_tres_mins),
    Q_OLD("MaxTRESRunMinsPA", 16, max_tres_run_mins_pa, set_tres, print_tres_mins),
    Q("MaxTRESRunMinsPerUser", 18, max_tres_run_mins_pu, set_tres, print_tres_mins),
    Q_OLD("MaxTRESRunMinsPU", 16, max_tres_run_mins_pu, set_tres, print_tres_mins),
    Q("MinPrioThresh", 4, min_prio_threshold, set_limit, print_number),
    Q_OLD("MinPrioThreshold", 14, min_prio_threshold, set_limit, print_number),
    Q("MinTRESPerJob", 7, min_tres, set_tres, print_tres),
    Q("MaxTRESMins", 8, max_tres_mins, set_tres, print_tres_mins),
    Q_OLD("MaxTRESMinsPerJob", 12, max_tres_mins, set_tres, print_tres_mins),
    Q("MaxWall", 4, max_wall, set_minutes, print_minutes),
    Q_OLD("MaxWallDurationPerJob", 8, max_wall, set_minutes, print_minutes),
    Q("Preempt", 7, preempt, set_qos_list, print_text),
    Q("PreemptMode", 8, preempt_mode, set_mode, print_mode),
    Q("PreemptExemptTime", 8, exempt_time, set_seconds, print_seconds),
    Q("Priority", 3, priority, set_number, print_number),
    {"RawUsage", 3, KEY_QOS, ASSOC_QOS, "usage_resets", set_raw_usage, print_number, true, false},
    Q("UsageFactor", 6, usage_factor, set_factor, print_factor),
    Q_LATER("UsageThreshold", 6, usage_threshold, set_factor, print_factor),

    {"Description", 1, KEY_ACCOUNT, ASSOC_ACCOUNT, "description", set_text, print_text, false, false},
    {"Organization", 1, KEY_ACCOUNT, ASSOC_ACCOUNT, "organization", set_text, print_text, false, false},
    {"Default Account", 8, KEY_USER, ASSOC_USER, "default_account", set_account, print_text, false, false},
    {"DefaultAccount", 8, KEY_USER, ASSOC_USER, "default_account", set_account, print_text, true, false},
    {"Default WCKey", 8, KEY_USER, ASSOC_USER, "default_wckey", set_default_wckey, print_text, false, false},
    {"DefaultWCKey", 8, KEY_USER, ASSOC_USER, "default_wckey", set_default_wckey, print_text, true, false},
    {"WCKeys", 2, KEY_USER, ASSOC_USER, "wckeys", set_wckeys, print_wckeys, false, false},
    {"Admin Level", 2, KEY_USER, ASSOC_USER, "admin_level", set_admin_level, print_admin_level, false, false},
    {"AdminLevel", 2, KEY_USER, ASSOC_USER, "admin_level", set_admin_level, print_admin_level, true, false},

    A("Comment", 3, comment, set_text, print_text),
    A("DefaultQOS", 8, default_qos, set_one_qos, print_text),
    A("Fairshare", 1, shares, set_shares, print_shares),
    A_OLD("Shares", 1, shares, set_shares, print_shares),
    A("GrpJobs", 4, grp_jobs, set_limit, print_number),
    A("GrpJobsAccrue", 8, grp_jobs_accrue, set_limit, print_number),
    A("GrpSubmitJobs", 4, grp_submit_jobs, set_limit, print_number),
    A("GrpTRES", 7, grp_tres, set_tres, print_tres),
    A("GrpTRESMins", 8, grp_tres_mins, set_tres, print_tres_mins),
    A("GrpTRESRunMins", 8, grp_tres_run_mins, set_tres, print_tres_mins),
    A("GrpWall", 4, grp_wall, set_minutes, print_minutes),
    A_OLD("GrpCPUs", 7, grp_tres, set_cpu, print_tres),
    A_OLD("GrpNodes", 8, grp_tres, set_node, print_tres),
    A_OLD("GrpMemory", 6, grp_tres, set_mem, print_tres),
    A_OLD("GrpCPUMins", 8, grp_tres_mins, set_cpu, print_tres_mins),
    A_OLD("GrpCPURunMins", 7, grp_tres_run_mins, set_cpu, print_tres_mins),
    A_OLD("MaxCPUsPerJob", 7, max_tres, set_cpu, print_tres),
    A_OLD("MaxNodesPerJob", 4, max_tres, set_node, print_tres),
    A_OLD("MaxCPUMinsPerJob", 8, max_tres_mins, set_cpu, print_tres_mins),
    A("MaxJobs", 4, max_jobs, set_limit, print_number),
    A("MaxJobsAccrue", 8, max_jobs_accrue, set_limit, print_number),
    A("MaxSubmitJobs", 4, max_submit_jobs, set_limit, print_number),
    A("MaxTRES", 7, max_tres, set_tres, print_tres),
    A_OLD("MaxTRESPerJob", 10, max_tres, set_tres, print_tres),
    A("MaxTRESPerNode", 11, max_tres_per_node, set_tres, print_tres),
    A("MaxTRESMins", 8, max_tres_mins, set_tres, print_tres_mins),
    A_OLD("MaxTRESMinsPerJob", 12, max_tres_mins, set_tres, print_tres_mins),
    A_LATER("MaxTRESRunMins", 8, max_tres_run_mins, set_tres, print_tres_mins),
    A("MaxWall", 4, max_wall, set_minutes, print_minutes),
    A_OLD("MaxWallDurationPerJob", 8, max_wall, set_minutes, print_minutes),
    A("MinPrioThresh", 4, min_prio_threshold, set_limit, print_number),
    {"Parent", 4, KEY_ACCOUNT, ASSOC_ASSOC, "parent", set_parent, print_text, false, false},
    A("Priority", 3, priority, set_limit, print_number),
    A("QOS", 1, qos, set_qos_list, print_text),
    {"RawUsage", 3, MORE, ASSOC_ASSOC, "usage_resets", set_raw_usage, print_number, true, false},
    A_OLD("QosLevel", 4, qos, set_qos_list, print_text),
    {NULL, 0, 0, 0, NULL, NULL, NULL, false, false},
};
/* clang-format on */

void assoc_quote(const char *text, struct str *out) {
    str_append_char(out, '\'');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'')
            str_append_char(out, '\'');
        str_append_char(out, *c);
    }
    str_append_char(out, '\'');
}

/* Whether there is something to write; shares always are. */
static bool is_set(const struct assoc_key *key, const void *record, const void *member) {
    const struct field *field = record_field(assoc_record(key->kind), key->member);
    if (field->type == FIELD_STR)
        return *(char *const *) member != NULL;
    if (key->print == print_wckeys)
        return ((const struct acct_user *) record)->wckeys.n > 0;
    uint32_t number = *(const uint32_t *) member;
    return number != (field->type == FIELD_OPT32 ? UNSET32 : 0) || key->print == print_shares;
}

bool assoc_key_in_file(const struct assoc_key *key, const void *record, struct str *out) {
    const void *member = assoc_key_member(key, (void *) (uintptr_t) record);
    struct str text cleanup_str = STR_INIT;
    if (key->print == print_mode ? !((const struct qos *) record)->within &&
                                       ((const struct qos *) record)->preempt_mode == 0
                                 : !is_set(key, record, member))
        return false;
    if (key->print == print_minutes) {
        print_number(record, member, out);
    } else if (key->print == print_factor) { /* all its digits */
        str_append(out, *(char *const *) member);
    } else if (key->print == print_tres) {
        tres_list_write(*(char *const *) member, out);
    } else if (key->print == print_shares && *(const uint32_t *) member == UNSET32) {
        str_append_char(out, '1'); /* what that counts as */
    } else if (key->print == print_text || key->print == print_admin_level ||
               key->print == print_mode || key->print == print_flags ||
               key->print == print_wckeys) {
        key->print(record, member, &text);
        assoc_quote(str_cstr(&text), out);
    } else {
        key->print(record, member, out);
    }
    return true;
}

/* QOS flags, and TRES of whose use nothing is known, that are kept only. */
#define FLAGS_IN_EFFECT                                                                            \
    (QOS_FLAG_DENY_ON_LIMIT | QOS_FLAG_OVER_PART_QOS | QOS_FLAG_PART_MAX_NODES |                   \
     QOS_FLAG_PART_MIN_NODES | QOS_FLAG_PART_TIME_LIMIT | QOS_FLAG_NO_DECAY |                      \
     QOS_FLAG_USAGE_FACTOR_SAFE | QOS_FLAG_REQ_RESV)
static const char *const idle_tres[] = {"energy", "fs/", "vmem", "pages", "bb/"};

static bool is_idle(const struct assoc_key *key, const char *word) {
    uint32_t flag;
    if (key->set == set_flags)
        return names_value(&names_qos_flag, word, &flag) && !(flag & FLAGS_IN_EFFECT);
    for (size_t i = 0; key->set == set_tres && i < countof(idle_tres); i++) {
        if (str_starts_nocase(word, idle_tres[i]))
            return true;
    }
    return false;
}

void assoc_key_idle(const struct assoc_key *key, const char *value, struct str *out) {
    words_each (value, ",", word) {
        if (is_idle(key, word))
            str_join(out, ",", word);
    }
}

const struct assoc_key *assoc_key_find(const char *name, uint8_t of) {
    size_t length = strlen(name);
    for (int pass = 0; pass < 2; pass++) { /* the full name first: MaxTRES begins MaxTRESMins */
        for (const struct assoc_key *key = assoc_keys; key->name != NULL; key++) {
            if ((key->of & of) &&
                (pass == 0 ? str_equal_nocase(name, key->name)
                           : str_abbreviates(name, length, key->name, key->least)))
                return key;
        }
    }
    return NULL;
}

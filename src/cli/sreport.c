/* SPDX-License-Identifier: Apache-2.0 */
/* The use of jobs within a window of time. */
#include "cli/sreport_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/columns_acct.h"
#include "cli/columns_job.h"
#include "model/account.h"
#include "text/calendar.h"
#include "text/size.h"

/* ---- times ---- */

void sreport_window(int64_t *start, int64_t *end) {
    *start = calendar_span_start(CALENDAR_HOUR, *start + 1800);
    *end = calendar_span_start(CALENDAR_HOUR, *end + 1800);
    if (*end <= *start)
        *end = *start + 3600;
}

static const char *copied(struct sreport *report, const char *text) {
    return text ? arena_strdup(&report->memory, text) : NULL;
}

/* ---- TRES ---- */

size_t tres_at(struct sreport *report, const char *name) {
    for (size_t i = 0; i < report->n_tres; i++) {
        if (strcmp(report->tres[i], name) == 0)
            return i;
    }
    if (report->n_tres == SREPORT_TRES_MAX)
        return SREPORT_TRES_MAX;
    report->tres[report->n_tres] = arena_strdup(&report->memory, name);
    return report->n_tres++;
}

static bool tres_is_asked(const struct sreport_question *question, const char *name) {
    return question->all_tres || strs_has_nocase(&question->tres, name);
}

void tres_each(struct sreport *report, const char *list,
               void (*fn)(struct sreport *report, size_t at, uint64_t count, void *context),
               void *context) {
    words_each (list, ",", item) {
        char *value = strchr(item, '=');
        uint64_t count = 0;
        if (!value)
            continue;
        *value++ = '\0';
        if (!tres_is_asked(report->question, item))
            continue;
        if (strcmp(item, "mem") == 0)
            count = acct_mib(value);
        else if (count_parse(value, &count, NULL) < 0)
            continue;
        size_t at = tres_at(report, item);
        if (at < SREPORT_TRES_MAX)
            fn(report, at, count, context);
    }
}

/* ---- accounts ---- */

/* "cluster\taccount" -> the account above it */
static void account_key(const char *cluster, const char *account, struct str *out) {
    str_printf(out, "%s\t%s", cluster ? cluster : "", account);
}

void sreport_accounts(struct sreport *report, const struct assoc_list *accounts) {
    const char *cluster = accounts->cluster ? accounts->cluster : report->question->cluster;
    for (uint32_t i = 0; i < accounts->assocs.n; i++) {
        const struct assoc *assoc = &accounts->assocs.items[i];
        struct str key cleanup_str = STR_INIT;
        if (assoc->user || !assoc->parent)
            continue;
        account_key(cluster, assoc->account, &key);
        smap_put(&report->parents, copied(report, str_cstr(&key)),
                 (char *) (uintptr_t) copied(report, assoc->parent));
    }
}

/* Cycles do not come; what is deeper than this is not a tree of people. */
#define DEPTH_MAX 64

static const char *parent_of(const struct sreport *report, const char *cluster,
                             const char *account) {
    struct str key cleanup_str = STR_INIT;
    if (!account)
        return NULL;
    account_key(cluster, account, &key);
    return smap_get(&report->parents, str_cstr(&key));
}

static unsigned depth_of(const struct sreport *report, const char *cluster, const char *account) {
    unsigned depth = 0;
    while (depth < DEPTH_MAX && (account = parent_of(report, cluster, account)) != NULL)
        depth++;
    return depth;
}

/* The account above this one that stands right below root, or below one that was asked for. */
static const char *top_account(const struct sreport *report, const char *cluster,
                               const char *account) {
    for (unsigned i = 0; i < DEPTH_MAX; i++) {
        const char *parent = parent_of(report, cluster, account);
        if (!parent || strcmp(parent, ROOT_ACCOUNT) == 0 ||
            strs_has_nocase(&report->question->accounts, account))
            break;
        account = parent;
    }
    return account;
}

static bool is_below_any(const struct sreport *report, const char *cluster, const char *account,
                         const struct strs *wanted) {
    for (unsigned i = 0; account && i < DEPTH_MAX; i++) {
        if (strs_has_nocase(wanted, account))
            return true;
        account = parent_of(report, cluster, account);
    }
    return false;
}

/* ---- rows ---- */

/* What tells a row apart. */
static void key_print(const struct sreport_who *who, const char *tres, struct str *out) {
    const char *const texts[] = {who->cluster, who->account, who->login, who->wckey, tres};
    for (size_t i = 0; i < countof(texts); i++)
        str_printf(out, "%s\t", texts[i] ? texts[i] : "\n");
}

static struct sreport_row *row_find(const struct sreport *report, const struct sreport_who *who,
                                    const char *tres) {
    struct str key cleanup_str = STR_INIT;
    key_print(who, tres, &key);
    return smap_get(&report->index, str_cstr(&key));
}

static struct sreport_row *row_get(struct sreport *report, const struct sreport_who *who,
                                   const char *tres) {
    struct sreport_row *row = row_find(report, who, tres);
    struct str key cleanup_str = STR_INIT;
    if (row)
        return row;
    key_print(who, tres, &key);
    row = arena_alloc(&report->memory, sizeof(*row));
    *row = (struct sreport_row) {
        .cluster = copied(report, who->cluster),
        .account = copied(report, who->account),
        .login = copied(report, who->login),
        .wckey = copied(report, who->wckey),
        .tres = copied(report, tres),
    };
    smap_put(&report->index, copied(report, str_cstr(&key)), row);
    vec_push(&report->rows, row);
    return row;
}

/* Somebody's use, on the lines that it is part of. */
static void use_add(struct sreport *report, const struct sreport_who *use, const char *tres,
                    double used) {
    const struct sreport_question *q = report->question;
    struct sreport_who who = {.cluster = use->cluster, .login = use->login};
    switch (q->kind) {
    case SREPORT_ACCOUNT_BY_USER:
        who.account = use->account;
        row_get(report, &who, tres)->used += used;
        who.login = NULL;
        for (; who.account; who.account = parent_of(report, who.cluster, who.account))
            row_get(report, &who, tres)->used += used;
        break;
    case SREPORT_USER_BY_ACCOUNT:
        who.account = use->account;
        row_get(report, &who, tres)->used += used;
        break;
    case SREPORT_TOP:
        who.account = q->group ? NULL : use->account;
        row_get(report, &who, tres)->used += used;
        break;
    case SREPORT_WCKEY_BY_USER:
        who.wckey = use->wckey;
        row_get(report, &who, tres)->used += used;
        who.login = NULL;
        row_get(report, &who, tres)->used += used;
        break;
    case SREPORT_USER_BY_WCKEY:
        who.wckey = use->wckey;
        row_get(report, &who, tres)->used += used;
        break;
    default:
        break;
    }
}

static bool is_asked(const struct sreport *report, const struct sreport_who *who) {
    const struct sreport_question *q = report->question;
    return (q->accounts.n == 0 || is_below_any(report, who->cluster, who->account, &q->accounts)) &&
           strs_pass(&q->users, who->login) && strs_pass(&q->wckeys, who->wckey);
}

/* ---- sums of slurmdbd ---- */

void sreport_usage(struct sreport *report, const struct usage_row *row) {
    const struct sreport_who who = {row->cluster, row->account ? row->account : "", row->user,
                                    row->wckey ? row->wckey : ""};
    if (row->seconds > 0 && tres_is_asked(report->question, row->tres) && is_asked(report, &who))
        use_add(report, &who, row->tres, (double) row->seconds);
}

/* ---- jobs ---- */

struct use {
    const struct job *job;
    const struct sreport_who *who;
    double ran; /* seconds in the window */
};

static void add_use(struct sreport *report, size_t at, uint64_t count, void *context) {
    const struct use *use = context;
    double used = use->ran * (double) count;
    if (used > 0)
        use_add(report, use->who, report->tres[at], used);
}

static size_t size_group(const struct sreport_question *q, uint32_t cpus) {
    size_t group = 0;
    while (group < q->n_groups && cpus >= q->groups[group])
        group++;
    return group;
}

static void add_size(struct sreport *report, const struct use *use) {
    const struct sreport_question *q = report->question;
    const struct job *job = use->job;
    const char *account = use->who->account, *wckey = use->who->wckey;
    struct sreport_who who = {.cluster = use->who->cluster};
    struct str both cleanup_str = STR_INIT;
    if (use->ran <= 0)
        return;
    if (!q->flat)
        account = top_account(report, who.cluster, account);
    str_printf(&both, "%s:%s", account, wckey);
    if (q->kind == SREPORT_SIZES_BY_WCKEY)
        who.wckey = wckey;
    else
        who.account = q->kind == SREPORT_SIZES_BY_ACCOUNT ? account : str_cstr(&both);
    struct sreport_row *row = row_get(report, &who, NULL);
    double one = job->flags & JOB_FLAG_RESIZING ? 0 : 1; /* a part of a run, whose end counts */
    row->sizes[size_group(q, job->num_cpus)] += q->count_jobs ? one : use->ran * job->num_cpus;
    row->used += use->ran * job->num_cpus;
}

void sreport_job(struct sreport *report, const struct acct_job *acct) {
    const struct sreport_question *q = report->question;
    const struct job *job = acct->job;
    int64_t until = min_of(q->end, q->now);
    const struct sreport_who who = {job->cluster ? job->cluster : q->cluster,
                                    job->account ? job->account : "", job->user_name,
                                    job->wckey ? job->wckey : ""};
    struct job_course course = job_course_of(job, acct->superseded);
    if (q->kind == SREPORT_UTILIZATION) {
        hours_job(report, job, &course);
        return;
    }
    if (!is_asked(report, &who) ||
        (q->partitions.n > 0 && !strs_has_word(&q->partitions, job->partition)))
        return;
    struct use use = {job, &who, (double) course_seconds(&course, q->start, until)};
    if (q->kind >= SREPORT_SIZES_BY_ACCOUNT)
        add_size(report, &use);
    else if (use.ran > 0)
        tres_each(report, job->tres_alloc, add_use, &use);
}

/* ---- lines ---- */

static void utilization_add(struct sreport *report, const struct cluster_use *use) {
    const struct sreport_question *q = report->question;
    double seconds = (double) max_of(min_of(q->end, q->now) - q->start, (int64_t) 1);
    const struct sreport_who who = {.cluster = use->cluster};
    struct sreport_row *row = row_get(report, &who, use->tres);
    row->tres_count = (uint64_t) ((double) use->reported / seconds + 0.5);
    row->reported = (double) use->reported;
    row->allocated = (double) use->allocated;
    row->down = (double) use->down;
    row->planned_down = (double) use->planned_down;
    row->planned = (double) use->planned;
    row->idle = (double) use->idle;
    row->over = (double) use->over;
}

/* Nothing is told of times of which nothing is known. */
static void utilization_rows(struct sreport *report) {
    hours_sum(report);
    vec_each (&report->clusters, use) {
        if (use->reported > 0 && strcmp(use->tres, "node") != 0 &&
            tres_is_asked(report->question, use->tres))
            utilization_add(report, use);
    }
}

static double total_of(const struct sreport *report, const char *cluster, const char *tres) {
    vec_each (&report->clusters, use) {
        if (str_equal(use->tres, tres ? tres : "cpu") && str_equal(use->cluster, cluster))
            return (double) use->reported;
    }
    return 0;
}

static int by_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/* "root/physics/atoms" of an account: the order of the tree. */
static void path_print(const struct sreport *report, const struct sreport_row *row,
                       struct str *out) {
    const char *chain[DEPTH_MAX], *account = row->account;
    size_t n = 0;
    for (; account && n < DEPTH_MAX; account = parent_of(report, row->cluster, account))
        chain[n++] = account;
    while (n > 0)
        str_printf(out, "%s\t", chain[--n]);
}

static double first_use(struct sreport *report, const struct sreport_row *row) {
    const char *first = report->question->tres.n ? report->question->tres.items[0] : "cpu";
    const struct sreport_who who = {row->cluster, row->account, row->login, row->wckey};
    const struct sreport_row *same = row_find(report, &who, first);
    return same ? same->used : 0;
}

static int row_order(const void *a, const void *b, void *context) {
    const struct sreport_row *x = *(struct sreport_row *const *) a;
    const struct sreport_row *y = *(struct sreport_row *const *) b;
    struct sreport *report = context;
    enum sreport_kind kind = report->question->kind;
    int order = by_text(x->cluster, y->cluster);
    if (order != 0)
        return order;
    if (kind == SREPORT_TOP || kind == SREPORT_USER_BY_ACCOUNT) {
        double ux = first_use(report, x), uy = first_use(report, y);
        order = (ux < uy) - (ux > uy);
    } else if (kind == SREPORT_ACCOUNT_BY_USER) {
        struct str px cleanup_str = STR_INIT, py cleanup_str = STR_INIT;
        path_print(report, x, &px);
        path_print(report, y, &py);
        order = strcmp(str_cstr(&px), str_cstr(&py));
    } else if (kind == SREPORT_USER_BY_WCKEY) {
        order = by_text(x->login, y->login);
    }
    order = order ? order : by_text(x->wckey, y->wckey);
    order = order ? order : by_text(x->account, y->account);
    order = order ? order : by_text(x->login, y->login);
    return order ? order : by_text(x->tres, y->tres);
}

/* The first ones of each cluster, each with all of its TRES. */
static void rows_cut(struct sreport *report) {
    uint32_t n = 0;
    size_t kept = 0;
    for (size_t i = 0; i < report->rows.n; i++) {
        const struct sreport_row *row = report->rows.items[i];
        const struct sreport_row *before = i > 0 ? report->rows.items[i - 1] : NULL;
        bool is_first = !before || by_text(row->cluster, before->cluster);
        n = is_first ? 1
                     : n + (by_text(row->login, before->login) ||
                            by_text(row->account, before->account));
        if (n <= report->question->top)
            report->rows.items[kept++] = report->rows.items[i];
    }
    report->rows.n = kept;
}

struct sreport_row *const *sreport_rows(struct sreport *report, size_t *ret_n) {
    const struct sreport_question *q = report->question;
    if (q->kind == SREPORT_UTILIZATION)
        utilization_rows(report);
    if (report->rows.n > 1)
        qsort_r(report->rows.items, report->rows.n, sizeof(*report->rows.items), row_order, report);
    if (q->kind == SREPORT_TOP)
        rows_cut(report);
    vec_each (&report->rows, at) {
        struct sreport_row *row = *at;
        row->total = total_of(report, row->cluster, row->tres);
        if (q->tree && row->account) {
            char *indented = arena_alloc(&report->memory, DEPTH_MAX + strlen(row->account) + 1);
            unsigned depth = depth_of(report, row->cluster, row->account);
            memset(indented, ' ', depth);
            strcpy(indented + depth, row->account);
            row->account = indented;
        }
    }
    *ret_n = report->rows.n;
    return report->rows.items;
}

struct sreport *sreport_new(const struct sreport_question *question) {
    struct sreport *report = zalloc(struct sreport);
    arena_init(&report->memory, 0);
    report->question = question;
    return report;
}

void sreport_free(struct sreport *report) {
    smap_done(&report->index);
    smap_done(&report->parents);
    map_done(&report->hours);
    vec_done(&report->clusters);
    vec_done(&report->rows);
    arena_done(&report->memory);
    free(report);
}

/* ---- columns ---- */

#define PRINT(name)                                                                                \
    static void name(const void *data, const void *member, struct column_env *env, struct str *out)
#define ROW ((const struct sreport_row *) data)

void sreport_time_print(double seconds, double total, uint32_t unit, struct str *out) {
    double share = total > 0 ? 100 * seconds / total : 0;
    uint32_t time = unit & ~(uint32_t) SREPORT_PERCENT;
    if (time)
        str_printf(out, "%.0f",
                   time == SREPORT_HOURS     ? seconds / 3600
                   : time == SREPORT_MINUTES ? seconds / 60
                                             : seconds);
    if (unit & SREPORT_PERCENT)
        str_printf(out, time ? "(%.2f%%)" : "%.2f%%", share);
}

static void time_print(double seconds, double total, const struct column_env *env,
                       struct str *out) {
    sreport_time_print(seconds, total, ((const struct sreport_look *) env->data)->unit, out);
}

#define TEXT(member_)                                                                              \
    PRINT(print_##member_) {                                                                       \
        str_append(out, ROW->member_ ? ROW->member_ : "");                                         \
    }
#define TIME(member_, total_)                                                                      \
    PRINT(print_##member_) {                                                                       \
        time_print(ROW->member_, ROW->total_, env, out);                                           \
    }
TEXT(cluster)
TEXT(account)
TEXT(login)
TEXT(proper)
TEXT(wckey)
TEXT(tres)
TIME(used, total)
TIME(allocated, reported)
TIME(down, reported)
TIME(planned_down, reported)
TIME(idle, reported)
TIME(planned, reported)
TIME(over, reported)
TIME(reported, reported)
PRINT(print_energy) {
    time_print(0, ROW->total, env, out); /* nobody measures it */
}
PRINT(print_tres_count) {
    str_append_u64(out, ROW->tres_count);
}

#define C(name, header, width, print)                                                              \
    { 0, name, header, NULL, print, NULL, width, 0 }
static const struct column sreport_columns[] = {
    C("Accounts", "Account", 15, print_account),
    C("Allocated", "Allocated", 8, print_allocated),
    C("Cluster", "Cluster", 9, print_cluster),
    C("Down", "Down", 8, print_down),
    C("Energy", "Energy", 8, print_energy),
    C("Idle", "Idle", 8, print_idle),
    C("Login", "Login", 9, print_login),
    C("OverCommitted", "Over Comm", 8, print_over),
    C("PlannedDown", "PLND Down", 8, print_planned_down),
    C("Planned", "Planned", 8, print_planned),
    C("Proper", "Proper Name", 15, print_proper),
    C("Reported", "Reported", 8, print_reported),
    C("TresCount", "TRES Count", 10, print_tres_count),
    C("TresName", "TRES Name", 14, print_tres),
    C("Used", "Used", 8, print_used),
    C("Wckey", "WCKey", 15, print_wckey),
};
const struct column_table columns_sreport = {NULL, sreport_columns, countof(sreport_columns),
                                             false};

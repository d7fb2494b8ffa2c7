/* SPDX-License-Identifier: Apache-2.0 */
/* The use of jobs within a window of time. */
#include "cli/sreport.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/columns_acct.h"
#include "cli/columns_job.h"
#include "model/account.h"
#include "text/calendar.h"
#include "text/size.h"

struct sreport {
    const struct sreport_question *question;
    struct arena memory;
    char *tres[SREPORT_TRES_MAX]; /* names, as they come up */
    uint64_t capacity[SREPORT_TRES_MAX];
    double allocated[SREPORT_TRES_MAX], planned[SREPORT_TRES_MAX], down[SREPORT_TRES_MAX];
    size_t n_tres;
    struct smap index;   /* what tells a row apart -> struct sreport_row */
    struct smap parents; /* account -> the one above it */
    vec(struct sreport_row *) rows;
    bool any_job;
};

/* ---- times ---- */

void sreport_window(int64_t *start, int64_t *end) {
    *start = calendar_span_start(CALENDAR_HOUR, *start + 1800);
    *end = calendar_span_start(CALENDAR_HOUR, *end + 1800);
    if (*end <= *start)
        *end = *start + 3600;
}

static int64_t run_by(const struct job *job, int64_t time, int64_t now) {
    bool ended = job_state_is_final(job->state) || job->end_time < now;
    int64_t end = ended && job->end_time > 0 ? min_of(job->end_time, now) : now;
    int64_t whole = end - job->start_time, present = min_of(time, end) - job->start_time;
    int64_t run = max_of(job_run_seconds(job, now), (int64_t) 0);
    if (present <= 0 || whole <= 0)
        return 0;
    return (int64_t) ((__int128) min_of(run, whole) * present / whole);
}

int64_t sreport_seconds(const struct job *job, int64_t from, int64_t to, int64_t now) {
    if (job->start_time == 0 || !job->nodes || !*job->nodes || job->state == JOB_PENDING ||
        from >= to)
        return 0;
    return run_by(job, to, now) - run_by(job, from, now);
}

/* ---- TRES ---- */

static size_t tres_at(struct sreport *report, const char *name) {
    for (size_t i = 0; i < report->n_tres; i++) {
        if (strcmp(report->tres[i], name) == 0)
            return i;
    }
    if (report->n_tres == SREPORT_TRES_MAX)
        return SREPORT_TRES_MAX;
    report->tres[report->n_tres] = arena_strndup(&report->memory, name, strlen(name));
    return report->n_tres++;
}

static bool tres_is_asked(const struct sreport_question *question, const char *name) {
    return question->all_tres || strs_has_nocase(&question->tres, name);
}

/* Calls fn for each item of a list that the report is about. */
static void tres_each(struct sreport *report, const char *list,
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

static void add_capacity(struct sreport *report, size_t at, uint64_t count, void *context) {
    report->capacity[at] += count;
    report->down[at] += (double) count * *(const double *) context;
}

void sreport_node(struct sreport *report, const struct node *node) {
    const struct sreport_question *q = report->question;
    bool is_down = node->state == NODE_DOWN || (node->flags & NODE_FLAG_DRAIN);
    int64_t since = max_of(node->reason_time, q->start), until = min_of(q->end, q->now);
    double seconds = is_down && since < until ? (double) (until - since) : 0;
    tres_each(report, node->cfg_tres, add_capacity, &seconds);
}

/* ---- accounts ---- */

void sreport_accounts(struct sreport *report, const struct assoc_list *accounts) {
    for (uint32_t i = 0; i < accounts->assocs.n; i++) {
        const struct assoc *assoc = &accounts->assocs.items[i];
        if (assoc->user || !assoc->parent)
            continue;
        char *account = arena_strndup(&report->memory, assoc->account, strlen(assoc->account));
        char *parent = arena_strndup(&report->memory, assoc->parent, strlen(assoc->parent));
        smap_put(&report->parents, account, parent);
    }
}

/* Cycles do not come; what is deeper than this is not a tree of people. */
#define DEPTH_MAX 64

static const char *parent_of(const struct sreport *report, const char *account) {
    return account ? smap_get(&report->parents, account) : NULL;
}

static unsigned depth_of(const struct sreport *report, const char *account) {
    unsigned depth = 0;
    while (depth < DEPTH_MAX && (account = parent_of(report, account)) != NULL)
        depth++;
    return depth;
}

/* The account above this one that stands right below root, or below one that was asked for. */
static const char *top_account(const struct sreport *report, const char *account) {
    for (unsigned i = 0; i < DEPTH_MAX; i++) {
        const char *parent = parent_of(report, account);
        if (!parent || strcmp(parent, ROOT_ACCOUNT) == 0 ||
            strs_has_nocase(&report->question->accounts, account))
            break;
        account = parent;
    }
    return account;
}

static bool is_below_any(const struct sreport *report, const char *account,
                         const struct strs *wanted) {
    for (unsigned i = 0; account && i < DEPTH_MAX; i++) {
        if (strs_has_nocase(wanted, account))
            return true;
        account = parent_of(report, account);
    }
    return false;
}

/* ---- rows ---- */

static const char *copied(struct sreport *report, const char *text) {
    return text ? arena_strndup(&report->memory, text, strlen(text)) : NULL;
}

/* What tells a row apart. */
static void key_print(const char *account, const char *login, const char *wckey, const char *tres,
                      struct str *out) {
    str_printf(out, "%s\t%s\t%s\t%s", account ? account : "\n", login ? login : "\n",
               wckey ? wckey : "\n", tres ? tres : "");
}

static struct sreport_row *row_get(struct sreport *report, const char *account, const char *login,
                                   const char *wckey, const char *tres) {
    struct str key cleanup_str = STR_INIT;
    key_print(account, login, wckey, tres, &key);
    struct sreport_row *row = smap_get(&report->index, str_cstr(&key));
    if (row)
        return row;
    row = arena_alloc(&report->memory, sizeof(*row));
    *row = (struct sreport_row) {
        .cluster = report->question->cluster,
        .account = copied(report, account),
        .login = copied(report, login),
        .wckey = copied(report, wckey),
        .tres = copied(report, tres),
    };
    smap_put(&report->index, copied(report, str_cstr(&key)), row);
    vec_push(&report->rows, row);
    return row;
}

struct use {
    const struct job *job;
    double ran, waited; /* seconds in the window */
};

static void add_use(struct sreport *report, size_t at, uint64_t count, void *context) {
    const struct use *use = context;
    const struct sreport_question *q = report->question;
    const struct job *job = use->job;
    const char *account = job->account ? job->account : "", *tres = report->tres[at];
    const char *wckey = job->wckey ? job->wckey : "";
    double used = use->ran * (double) count;
    report->allocated[at] += used;
    if (used <= 0)
        return;
    switch (q->kind) {
    case SREPORT_ACCOUNT_BY_USER:
        row_get(report, account, job->user_name, NULL, tres)->used += used;
        for (const char *above = account; above; above = parent_of(report, above))
            row_get(report, above, NULL, NULL, tres)->used += used;
        break;
    case SREPORT_USER_BY_ACCOUNT:
        row_get(report, account, job->user_name, NULL, tres)->used += used;
        break;
    case SREPORT_TOP:
        row_get(report, q->group ? NULL : account, job->user_name, NULL, tres)->used += used;
        break;
    case SREPORT_USER_BY_WCKEY:
        row_get(report, NULL, job->user_name, wckey, tres)->used += used;
        break;
    case SREPORT_WCKEY_BY_USER:
        row_get(report, NULL, job->user_name, wckey, tres)->used += used;
        row_get(report, NULL, NULL, wckey, tres)->used += used;
        break;
    default:
        break;
    }
}

static void add_wait(struct sreport *report, size_t at, uint64_t count, void *context) {
    report->planned[at] += ((const struct use *) context)->waited * (double) count;
}

static size_t size_group(const struct sreport_question *q, uint32_t cpus) {
    size_t group = 0;
    while (group < q->n_groups && cpus >= q->groups[group])
        group++;
    return group;
}

static void add_size(struct sreport *report, const struct job *job, double ran) {
    const struct sreport_question *q = report->question;
    const char *account = job->account ? job->account : "", *wckey = job->wckey ? job->wckey : "";
    if (ran <= 0)
        return;
    if (!q->flat)
        account = top_account(report, account);
    struct str both cleanup_str = STR_INIT;
    str_printf(&both, "%s:%s", account, wckey);
    struct sreport_row *row =
        q->kind == SREPORT_SIZES_BY_ACCOUNT ? row_get(report, account, NULL, NULL, NULL)
        : q->kind == SREPORT_SIZES_BY_BOTH  ? row_get(report, str_cstr(&both), NULL, NULL, NULL)
                                            : row_get(report, NULL, NULL, wckey, NULL);
    row->sizes[size_group(q, job->num_cpus)] += q->count_jobs ? 1 : ran * job->num_cpus;
    row->used += ran * job->num_cpus;
}

static bool is_asked(const struct sreport *report, const struct job *job) {
    const struct sreport_question *q = report->question;
    return (q->accounts.n == 0 || is_below_any(report, job->account, &q->accounts)) &&
           strs_pass(&q->users, job->user_name) && strs_pass(&q->wckeys, job->wckey) &&
           (q->partitions.n == 0 || strs_has_word(&q->partitions, job->partition));
}

void sreport_job(struct sreport *report, const struct job *job) {
    const struct sreport_question *q = report->question;
    int64_t until = min_of(q->end, q->now);
    if (!is_asked(report, job))
        return;
    struct use use = {.job = job};
    use.ran = (double) sreport_seconds(job, q->start, until, q->now);
    if (job->eligible_time > 0) {
        int64_t started = job->state == JOB_PENDING ? until
                          : job->start_time > 0     ? job->start_time
                                                    : job->end_time;
        int64_t from = max_of(job->eligible_time, q->start), to = min_of(started, until);
        use.waited = from < to ? (double) (to - from) : 0;
    }
    report->any_job |= use.ran > 0 || use.waited > 0;
    if (q->kind >= SREPORT_SIZES_BY_ACCOUNT) {
        add_size(report, job, use.ran);
        return;
    }
    if (use.ran > 0)
        tres_each(report, job->tres_alloc, add_use, &use);
    if (use.waited > 0)
        tres_each(report, job->tres_req, add_wait, &use);
}

/* ---- lines ---- */

static void utilization_add(struct sreport *report, size_t at) {
    const struct sreport_question *q = report->question;
    double seconds = (double) max_of(min_of(q->end, q->now) - q->start, (int64_t) 0);
    double left = (double) report->capacity[at] * seconds;
    struct sreport_row *row = row_get(report, NULL, NULL, NULL, report->tres[at]);
    row->tres_count = report->capacity[at];
    row->reported = left;
    row->allocated = min_of(report->allocated[at], left);
    row->over = report->allocated[at] - row->allocated;
    left -= row->allocated;
    row->down = min_of(report->down[at], left);
    left -= row->down;
    row->planned = min_of(report->planned[at], left);
    row->over += report->planned[at] - row->planned;
    row->idle = left - row->planned;
}

/* Nothing is told of times of which nothing is known. */
static void utilization_rows(struct sreport *report) {
    if (!report->any_job)
        return;
    for (size_t i = 0; i < report->n_tres; i++) {
        bool is_counted = strcmp(report->tres[i], "node") != 0;
        if (report->capacity[i] > 0 && is_counted)
            utilization_add(report, i);
    }
}

static double total_of(const struct sreport *report, const char *tres) {
    const struct sreport_question *q = report->question;
    for (size_t i = 0; i < report->n_tres; i++) {
        if (strcmp(report->tres[i], tres ? tres : "cpu") == 0)
            return (double) report->capacity[i] * (double) (q->end - q->start);
    }
    return 0;
}

static int by_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/* "root/physics/atoms" of an account: the order of the tree. */
static void path_print(const struct sreport *report, const char *account, struct str *out) {
    const char *chain[DEPTH_MAX];
    size_t n = 0;
    for (; account && n < DEPTH_MAX; account = parent_of(report, account))
        chain[n++] = account;
    while (n > 0)
        str_printf(out, "%s\t", chain[--n]);
}

static double first_use(struct sreport *report, const struct sreport_row *row) {
    const char *first = report->question->tres.n ? report->question->tres.items[0] : "cpu";
    struct str key cleanup_str = STR_INIT;
    key_print(row->account, row->login, row->wckey, first, &key);
    const struct sreport_row *same = smap_get(&report->index, str_cstr(&key));
    return same ? same->used : 0;
}

static int row_order(const void *a, const void *b, void *context) {
    const struct sreport_row *x = *(struct sreport_row *const *) a;
    const struct sreport_row *y = *(struct sreport_row *const *) b;
    struct sreport *report = context;
    enum sreport_kind kind = report->question->kind;
    int order = 0;
    if (kind == SREPORT_TOP || kind == SREPORT_USER_BY_ACCOUNT) {
        double ux = first_use(report, x), uy = first_use(report, y);
        order = (ux < uy) - (ux > uy);
    } else if (kind == SREPORT_ACCOUNT_BY_USER) {
        struct str px cleanup_str = STR_INIT, py cleanup_str = STR_INIT;
        path_print(report, x->account, &px);
        path_print(report, y->account, &py);
        order = strcmp(str_cstr(&px), str_cstr(&py));
    } else if (kind == SREPORT_USER_BY_WCKEY) {
        order = by_text(x->login, y->login);
    }
    order = order ? order : by_text(x->wckey, y->wckey);
    order = order ? order : by_text(x->account, y->account);
    order = order ? order : by_text(x->login, y->login);
    return order ? order : by_text(x->tres, y->tres);
}

/* The first ones, each with all of its TRES. */
static void rows_cut(struct sreport *report) {
    uint32_t n = 0;
    for (size_t i = 0; i < report->rows.n; i++) {
        const struct sreport_row *row = report->rows.items[i];
        const struct sreport_row *before = i > 0 ? report->rows.items[i - 1] : NULL;
        n +=
            !before || by_text(row->login, before->login) || by_text(row->account, before->account);
        if (n > report->question->top) {
            report->rows.n = i;
            return;
        }
    }
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
        row->total = total_of(report, row->tres);
        if (q->tree && row->account) {
            char *indented = arena_alloc(&report->memory, DEPTH_MAX + strlen(row->account) + 1);
            unsigned depth = depth_of(report, row->account);
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
